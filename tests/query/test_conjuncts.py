"""Conditions are taken apart at AND, as PostgreSQL reads them, and nowhere else; divisors that may be 0."""

from __future__ import annotations

import re
from contextlib import suppress

import pytest

from proxy.base.errors import Refusal
from proxy.query.syntax.selects import conjuncts, equal_sides
from proxy.query.syntax.tokens import lex
from tests.pipeline_world import read

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


_FROM = re.compile(r"\s+FROM pg_catalog\.")


def _rewritten(text: str) -> str:
    found = read(text)
    assert found is not None
    return _FROM.split(found[1].rewritten.text)[0]


@pytest.mark.parametrize(
    ("columns", "expected"),
    [
        ("sum(i4) / count(*)", "dp_b1.a1 / nullif(dp_b1.a2, 0)"),
        ("sum(i4) % count(*)", "dp_b1.a1 % nullif(dp_b1.a2, 0)"),
        ("sum(i4) / -count(*) * 2", "dp_b1.a1 / nullif(-dp_b1.a2, 0) * 2"),
        (
            "sum(i4) / count(*)::numeric(10, 2) + 1",
            "dp_b1.a1 / nullif(dp_b1.a2::numeric(10, 2), 0) + 1",
        ),
        (
            "sum(i4) / count(*)::double precision",
            "dp_b1.a1 / nullif(dp_b1.a2::double precision, 0)",
        ),
        ("1 / (sum(i4) / count(*))", "1 / nullif((dp_b1.a1 / nullif(dp_b1.a2, 0)), 0)"),
        ("sum(i4) / count(*) / 100.0", "dp_b1.a1 / nullif(dp_b1.a2, 0) / 100.0"),
        ("sum(i4) / count(*) ^ 2", "dp_b1.a1 / nullif(dp_b1.a2 ^ 2, 0)"),
        ("sum(i4) / 7, count(*) / -2.5::numeric", "dp_b1.a1 / 7, dp_b1.a2 / -2.5::numeric"),
        ("1 / sum(count(*)) OVER ()", "1 / nullif(sum(dp_b1.a1) OVER (), 0)"),
        (
            "1 / CASE WHEN count(*) > 2 THEN count(*) ELSE 1 END + 1",
            "1 / nullif(CASE WHEN dp_b1.a1 > 2 THEN dp_b1.a1 ELSE 1 END, 0) + 1",
        ),
        ("1 / greatest(count(*), 0)", "1 / nullif(greatest(dp_b1.a1, 0), 0)"),
        ("1 / count(*) FILTER (WHERE i4 / 2 > 3)", "1 / nullif(dp_b1.a1, 0)"),
        ("'a / b' || count(*)", "'a / b' || dp_b1.a1"),
        ("1/count(*)--", "1/nullif(dp_b1.a1, 0)"),
    ],
)
def test_a_select(columns: str, expected: str) -> None:
    shown = _rewritten(f"SELECT {columns}\nFROM people")
    assert shown.removeprefix("SELECT ").split("--")[0].strip() == expected


def test_over_a_subquery_and_in_having() -> None:
    text = (
        "SELECT m, n * 1.0 / lag(n) OVER (ORDER BY m) - 1 FROM (SELECT t AS m, count(*) AS n FROM people GROUP"
        " BY t HAVING sum(i4) / count(*) > 1) AS q ORDER BY n / m.x"
    )
    found = read(text)
    assert found is not None
    shown = found[1].rewritten.text
    assert "n * 1.0 / nullif(lag(n) OVER (ORDER BY m), 0) - 1" in shown
    assert "WHERE dp_b1.a2 / nullif(dp_b1.a1, 0) > 1" in shown
    assert shown.endswith("ORDER BY n / nullif(m.x, 0)")


def test_what_the_rows_are_divided_by_is_left_alone() -> None:
    """In WHERE and in an aggregate, rows are computed on the protected server, under rules of its own."""
    found = read("SELECT sum(i4 / 2), i4 / 10 FROM people WHERE i4 / 4 > 2 GROUP BY i4 / 10")
    assert found is not None
    assert "nullif" not in found[1].rewritten.text


@pytest.mark.parametrize(
    "text", ["SELECT 1 /", "SELECT count(*) / FROM people", "SELECT count(*) / ) FROM people"]
)
def test_texts_that_are_no_statements_raise_nothing_else(text: str) -> None:
    with suppress(Refusal):
        read(text)
