"""Modules that comments and documentation strings name by dots, and which of them there are."""

from __future__ import annotations

import ast
import io
import re
import tokenize
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path, PurePosixPath

# A schema of that name is in the ledger's database: ledger.receipt is a table.
_SCHEMAS = frozenset({"ledger"})
_IMPORT = re.compile(r"^(?:from [\w.]+ import .*|import [\w.]+)$", re.MULTILINE)
_WRITTEN = re.compile(
    r'"""(?s:.*?)"""|#.*'
)  # more than comments and documentation strings, and all of them
_DOCUMENTED = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)


@dataclass(frozen=True, kw_only=True)
class Modules:
    """files: paths from the root. A name begins with a package at the top, or with one below it."""

    root: Path
    files: frozenset[str]

    @cached_property
    def _folders(self) -> dict[str, list[str]]:
        """Of the packages with which a name can begin; tests have folders named as what they test."""
        found: dict[str, list[str]] = {}
        for file in sorted(self.files):
            folder = PurePosixPath(file).parent
            if file.endswith("/__init__.py") and len(folder.parts) <= 2:
                found.setdefault(folder.name, []).append(str(folder))
        return found

    @cached_property
    def _names(self) -> re.Pattern[str]:
        first = "|".join(sorted(self._folders.keys() - _SCHEMAS)) or "(?!)"
        return re.compile(
            rf"(?<![\w./\"'-])((?:{first})(?:\.[A-Za-z_]\w*)+)(?!\w|\.\w|\()", re.ASCII
        )

    def missing(self, text: str) -> Iterator[tuple[int, str]]:
        """
        Given    the text of a module
        Gives    lines and names that lead to no module, or to no word in it
        """
        named = {found[1] for found in self._names.finditer(_IMPORT.sub("", text))}
        gone = [name for name in named if not name.endswith(".sql") and not self._is_there(name)]
        written = "\n".join(_WRITTEN.findall(text)) if gone else ""
        if not any(name in written for name in gone):
            return  # and need not be taken apart, which takes longer than all else
        for line, comment in _comments(text):
            for found in self._names.finditer(comment):
                if not found[1].endswith(".sql") and not self._is_there(found[1]):
                    yield line + comment.count("\n", 0, found.start()), found[1]

    def _is_there(self, name: str) -> bool:
        first, *parts = name.split(".")
        return any(self._is_in(folder, parts) for folder in self._folders[first])

    def _is_in(self, folder: str, parts: list[str]) -> bool:
        for number, part in enumerate(parts):
            folder = f"{folder}/{part}"
            if f"{folder}.py" in self.files:
                module = (self.root / f"{folder}.py").read_text(encoding="utf-8")
                words = parts[number + 1 :]
                return all(re.search(rf"\b{word}\b", module) for word in words)
            if not any(file.startswith(f"{folder}/") for file in self.files):
                return False
        return True


def _comments(text: str) -> Iterator[tuple[int, str]]:
    """Comments and documentation strings with their first lines; without the examples in them."""
    try:
        tree = ast.parse(text)
    except SyntaxError:  # no module
        return
    documents = {
        (node.body[0].lineno, node.body[0].col_offset)
        for node in ast.walk(tree)
        if isinstance(node, _DOCUMENTED) and node.body and isinstance(node.body[0], ast.Expr)
    }
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        is_document = token.type == tokenize.STRING and token.start in documents
        if is_document or token.type == tokenize.COMMENT:
            yield token.start[0], re.sub(r">>>.*", "", token.string)
