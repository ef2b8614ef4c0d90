"""Every hint of the product that shows a statement or a part of one, as its source has it.

A hint is known by its form: a sentence, with a capital or a full stop, as against a message or SQL of ours.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

_ROOT = Path(__file__).parents[1] / "proxy"
# Of those that speak to analysts.
_PACKAGES = (
    *("accounting", "base", "compiler", "engine", "pgwire", "planner", "query", "release"),
    *("servers", "shadow"),
)
_WORDS = (
    *(
        "SELECT",
        "WHERE",
        "JOIN",
        "UNION",
        "GROUP BY",
        "IN",
        "FILTER",
        "LIKE",
        "OVER",
        "SET",
        "WITH",
        "CASE",
    ),
    *(
        "COALESCE",
        "LIMIT",
        "EXTRACT",
        "DISTINCT",
        "INTERVAL",
        "BETWEEN",
        "IS NULL",
        "AT TIME ZONE",
        "USING",
    ),
    *("AND", "OR", "NOT", "ON", "OFF", "EXPLAIN", "TABLE", "WITHIN", "EXISTS", "ROLLUP", "OUTER"),
)
_SQL = re.compile(rf"\b(?:{'|'.join(_WORDS)})\b|::|\w\(|'[^' ]+'|\$1|\w = \w")
_SENTENCE = re.compile(r"(?:[A-Z][a-z]|A ).* |.*\.\s*\Z", re.DOTALL)
_ENGLISH = re.compile(r"[a-z]+ [a-z]+")


def shown() -> dict[str, str]:
    """The text of each, with {} for what is put in -> where it stands."""
    found: dict[str, str] = {}
    for package in _PACKAGES:
        for path in sorted((_ROOT / package).rglob("*.py")):
            for line, text in _texts(ast.parse(path.read_text(encoding="utf-8"))):
                if _SQL.search(text) and _ENGLISH.search(text) and _SENTENCE.match(text):
                    found.setdefault(text, f"{path.relative_to(_ROOT)}:{line}")
    return found


def _texts(tree: ast.Module) -> Iterator[tuple[int, str]]:
    """Literals and f-strings as wholes, but for docstrings."""
    skipped: set[int] = set()
    for node in ast.walk(tree):  # what holds a text comes before it
        body = getattr(node, "body", None)
        if isinstance(body, list) and body and isinstance(body[0], ast.Expr):
            skipped.add(id(body[0].value))
        if id(node) in skipped:
            continue
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield node.lineno, node.value
        elif isinstance(node, ast.JoinedStr):
            skipped |= {id(part) for part in ast.walk(node) if part is not node}
            yield (
                node.lineno,
                "".join(
                    str(part.value) if isinstance(part, ast.Constant) else "{}"
                    for part in node.values
                ),
            )
