"""Conditions are taken apart at AND, as PostgreSQL reads them, and nowhere else."""

from __future__ import annotations

import pytest

from proxy.query.syntax.conjuncts import conjuncts, equal_sides
from proxy.query.syntax.tokens import lex

PARTED = (
    ("a = 1", ["a = 1"]),
    ("a = 1 AND b = 2", ["a = 1", "b = 2"]),
    ("((a = 1) AND (b = 2 AND (c)))", ["a = 1", "b = 2", "c"]),
    ("a BETWEEN 1 AND 2 AND b", ["a BETWEEN 1 AND 2", "b"]),
    ("a BETWEEN SYMMETRIC 1 AND 2 AND b NOT BETWEEN 3 AND 4", None),
    ("a AND b OR c", ["a AND b OR c"]),
    ("(a OR b) AND c", ["a OR b", "c"]),
    ("NOT a AND b", ["NOT a", "b"]),
    ("NOT (a AND b)", ["NOT (a AND b)"]),
    ("CASE WHEN a AND b THEN c BETWEEN 1 AND 2 ELSE d OR e END AND f", None),
    ("q.and AND b", ["q.and", "b"]),
    ("f(a AND b) AND c", ["f(a AND b)", "c"]),
    ("a IN (SELECT x FROM t WHERE y AND z) AND b", None),
    ("(SELECT true AND false)", ["(SELECT true AND false)"]),
    ("a ~ '\\mAND\\M' AND b", ["a ~ '\\mAND\\M'", "b"]),
)
WHOLE = {
    "a BETWEEN SYMMETRIC 1 AND 2 AND b NOT BETWEEN 3 AND 4": [
        "a BETWEEN SYMMETRIC 1 AND 2",
        "b NOT BETWEEN 3 AND 4",
    ],
    "CASE WHEN a AND b THEN c BETWEEN 1 AND 2 ELSE d OR e END AND f": [
        "CASE WHEN a AND b THEN c BETWEEN 1 AND 2 ELSE d OR e END",
        "f",
    ],
    "a IN (SELECT x FROM t WHERE y AND z) AND b": ["a IN (SELECT x FROM t WHERE y AND z)", "b"],
}


@pytest.mark.parametrize(("text", "parts"), PARTED)
def test_parts(text: str, parts: list[str] | None) -> None:
    lexed = lex(text)
    assert lexed is not None
    found = conjuncts(lexed, (0, len(lexed.lexemes)))
    texts = [text[lexed.lexemes[a].start : lexed.lexemes[b - 1].end] for a, b in found]
    assert texts == (WHOLE[text] if parts is None else parts)


@pytest.mark.parametrize(
    ("text", "sides"),
    [
        ("a = q.b", ("a", "q.b")),
        ("(f(a, 1)) = (b)", ("f(a, 1)", "b")),
        ("a IS NOT DISTINCT FROM b", ("a", "b")),
        ("NOT a = b", None),
        ("a IS DISTINCT FROM b", None),
        ("a <= b", None),
        ("a = b = c", None),
        ("a", None),
    ],
)
def test_sides(text: str, sides: tuple[str, str] | None) -> None:
    lexed = lex(text)
    assert lexed is not None
    found = equal_sides(lexed, (0, len(lexed.lexemes)))
    texts = found and tuple(
        text[lexed.lexemes[a].start : lexed.lexemes[b - 1].end] for a, b in found
    )
    assert texts == sides
