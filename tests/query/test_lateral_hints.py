"""A hint leads in one step from LATERAL, windows over totals and columns of the query around to
what is answered."""

from __future__ import annotations

import re

import pytest

from proxy.base.errors import Code, Refusal
from tests.pipeline_world import walk

_SHOWN = "SELECT l.t, count(*), avg(l.n2) FROM members c"


@pytest.mark.parametrize(
    "lateral",
    [
        "SELECT * FROM orders o WHERE o.uid = c.uid ORDER BY o.ts LIMIT 1",
        "SELECT o.t, o.n2 FROM orders o WHERE o.uid = c.uid AND o.i4 > c.i4 ORDER BY o.ts LIMIT 1",
        "SELECT k.uid, count(*) AS n FROM calls k WHERE k.uid = c.uid GROUP BY k.uid",
    ],
)
def test_what_stands_instead_of_lateral_runs(lateral: str) -> None:
    with pytest.raises(Refusal) as caught:
        walk(f"{_SHOWN} CROSS JOIN LATERAL ({lateral}) l GROUP BY l.t")
    found = re.findall(r"(\(SELECT (?:uid|\*).*?\)) l[,.]", caught.value.hint)
    assert len(found) == 2
    for subquery in found:
        assert (
            walk(f"SELECT count(*) FROM members c JOIN {subquery} l ON l.uid = c.uid") is not None
        )


@pytest.mark.parametrize(
    "refused",
    [
        "SELECT c.t, l.n FROM (SELECT DISTINCT t FROM members) c, LATERAL (SELECT count(*) AS n FROM members k"
        " WHERE k.t = c.t) l",
        "SELECT c.t, (SELECT count(*) FROM members k WHERE k.t = c.t) FROM regions c",
    ],
)
def test_a_column_of_the_query_around_is_named_as_such(refused: str) -> None:
    with pytest.raises(Refusal) as caught:
        walk(refused)
    assert caught.value.code is Code.COLUMN_NOT_USABLE
    assert caught.value.message.startswith("c.t is of the query around")
    assert "GROUP BY c.t" in caught.value.hint


def test_a_column_without_a_policy_is_not_of_the_query_around() -> None:
    with pytest.raises(Refusal) as caught:
        walk("SELECT count(k.unknown) FROM members k")
    assert caught.value.code is Code.COLUMN_NOT_USABLE


@pytest.mark.parametrize(
    ("window", "told"),
    [
        ("ntile(10) OVER (ORDER BY sum(n2) DESC)", "Ask for edges"),
        ("row_number() OVER (ORDER BY sum(n2) DESC)", "Ask for edges"),
        ("percent_rank() OVER (ORDER BY sum(n2))", "Ask for edges"),
        ("sum(sum(n2)) OVER ()", "Aggregate the totals"),
    ],
)  # fmt: skip
def test_windows_over_totals_have_edges(window: str, told: str) -> None:
    with pytest.raises(Refusal) as caught:
        walk(
            f"SELECT g, count(*) FROM (SELECT uid, {window} AS g FROM orders GROUP BY uid) d GROUP BY g"
        )
    assert "as it reads the rows of others" in caught.value.message
    assert caught.value.hint.startswith(told)
    (example,) = re.findall("(SELECT .*) q\\.", caught.value.hint)
    filled = example.replace("column", "n2").replace("unit", "uid").replace("table", "orders")
    assert walk(f"{filled} q") is not None


@pytest.mark.parametrize("end", ["", " q", " ()", " (SELECT", " )"])
def test_a_statement_that_ends_with_lateral_is_refused(end: str) -> None:
    """PostgreSQL has no answer to it either: nothing but a refusal may come of it."""
    try:
        assert walk(f"SELECT count(*) FROM members c, LATERAL{end}") is None
    except Refusal as refusal:
        assert refusal.code is Code.UNSUPPORTED
