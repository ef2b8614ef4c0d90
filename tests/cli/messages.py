"""What the product's texts for people name: files and commands of its own."""

from __future__ import annotations

import ast
import functools
import re
from collections.abc import Iterator
from pathlib import Path

PACKAGE = Path(__file__).parents[2] / "proxy"
_FILE = re.compile(r"[\w./-]*\w\.(?:md|sql|py|sh)\b")
_COMMAND = re.compile(r"\bdpproxy ((?:[a-z]+ ?)+)")
# What follows where dpproxy is the subject of a sentence.
_PROSE = frozenset(
    ("again", "as", "can", "does", "http", "knows", "reads", "runs", "serves", "that")
)
_DOCUMENTED = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)


def named_files() -> Iterator[tuple[str, str]]:
    """Each with the file of the package that names it."""
    for path, text in _texts():
        for found in _FILE.findall(text):
            yield str(path.relative_to(PACKAGE)), found


def named_commands() -> Iterator[tuple[str, str]]:
    """The words that follow `dpproxy`, each with the file that holds them."""
    pages = ((path, path.read_text("utf-8")) for path in _pages())
    for path, text in (*_texts(), *pages):
        for found in _COMMAND.findall(text):
            if found.split()[0] not in _PROSE:
                yield str(path.relative_to(PACKAGE)), found.strip()


def _pages() -> Iterator[Path]:
    """Those that a command prints."""
    yield from (path for path in sorted(PACKAGE.rglob("policy_manual.md")))
    yield from (path for path in sorted(PACKAGE.rglob("protected_role.sql")))


@functools.cache
def _texts() -> tuple[tuple[Path, str], ...]:
    """Strings of the code; the documentation of its own readers is none for people."""
    return tuple(_found_texts())


def _found_texts() -> Iterator[tuple[Path, str]]:
    for path in sorted(PACKAGE.rglob("*.py")):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        documents = {
            id(node.body[0].value)
            for node in ast.walk(tree)
            if isinstance(node, _DOCUMENTED) and node.body and isinstance(node.body[0], ast.Expr)
        }
        for node in ast.walk(tree):
            is_text = isinstance(node, ast.Constant) and isinstance(node.value, str)
            if is_text and id(node) not in documents:
                yield path, str(node.value)  # type: ignore[attr-defined]
