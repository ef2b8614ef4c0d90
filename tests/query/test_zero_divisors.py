"""Divisors that can be a noisy 0 are wrapped in nullif(..., 0), and nothing else is changed."""

from __future__ import annotations

import re
from contextlib import suppress

import pytest

from proxy.base.errors import Refusal
from tests.pipeline_world import read

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
