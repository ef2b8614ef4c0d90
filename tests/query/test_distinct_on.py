"""DISTINCT and DISTINCT ON of a SELECT with GROUP BY: they choose among groups, which come first."""

from __future__ import annotations

import re

import pytest

from proxy.base.errors import Code, Refusal
from proxy.kernel.neighbour_kinds import RowNeighbours
from proxy.query.ir.query import RowChoice
from tests.pipeline_world import walk

_ORDERS = {
    # order: whether noise has a part in which row is kept
    "": False,
    "ORDER BY t": False,
    "ORDER BY t, b": False,
    "ORDER BY t, n DESC": True,
    "ORDER BY t, 3 DESC": True,
    "ORDER BY t, count(*) DESC": True,
    "ORDER BY 1, sum(i4) / count(*) DESC NULLS LAST": True,
    "ORDER BY t, n DESC LIMIT 3": True,
    "ORDER BY t, n DESC, b OFFSET 1": True,
}
_ONS = ("DISTINCT ON (t)", "DISTINCT ON (1)", "DISTINCT ON ((t))")


@pytest.mark.every(4)
@pytest.mark.parametrize("on", _ONS)
@pytest.mark.parametrize(("order", "is_noisy"), _ORDERS.items())
@pytest.mark.parametrize("group", ["t, b", "1, 2", "GROUPING SETS ((t, b), (t))"])
def test_of_groups(on: str, order: str, is_noisy: bool, group: str) -> None:
    found = walk(f"SELECT {on} t, b, count(*) AS n FROM orders GROUP BY {group} {order}")
    assert found is not None
    for block in found.plan.blocks:
        own = [one for one in block.row_choices if one.clause == "DISTINCT ON"]
        assert own == [RowChoice(clause="DISTINCT ON", is_noisy=is_noisy)]


@pytest.mark.parametrize(
    ("on", "is_noisy"),
    [
        ("(n)", True),
        ("(count(*) > 5)", True),
        ("(date_trunc('month', d))", False),
        ("(month, b)", False),
    ],
)
def test_what_tells_rows_apart(on: str, is_noisy: bool) -> None:
    found = walk(
        f"SELECT DISTINCT ON {on} date_trunc('month', d) AS month, b, count(*) AS n FROM orders"
        " WHERE d >= '2019-01-01' GROUP BY date_trunc('month', d), b"
    )
    assert found is not None
    assert RowChoice(clause="DISTINCT ON", is_noisy=is_noisy) in found.plan.blocks[0].row_choices


def test_keys_and_aggregates_give_way_to_the_answers() -> None:
    found = walk(
        "SELECT DISTINCT ON (t, count(*) > 5) t, count(*) AS n FROM people GROUP BY t, b"
        " ORDER BY t, count(*) > 5, sum(i4) DESC"
    )
    assert found is not None
    text = found.reading.text
    assert "DISTINCT ON (t, dp_b1.a1 > 5) dp_b1.k1 AS" in text
    assert "ORDER BY t, dp_b1.a1 > 5, dp_b1.a2 DESC" in text
    assert "GROUP BY" not in text and "people" not in text


def test_a_key_in_other_words_is_found() -> None:
    found = walk(
        "SELECT DISTINCT ON (o.t) o.t AS kind, count(*) FROM orders o GROUP BY 1, b ORDER BY o.t"
    )
    assert found is not None
    assert "DISTINCT ON (dp_b1.k1) dp_b1.k1 AS kind" in found.reading.text


@pytest.mark.parametrize(
    "order", ["", "ORDER BY t", "ORDER BY 2 DESC", "ORDER BY count(*) DESC LIMIT 2"]
)
def test_distinct_alone(order: str) -> None:
    found = walk(f"SELECT DISTINCT t, count(*) FROM orders GROUP BY t, b {order}")
    assert found is not None and "SELECT DISTINCT dp_b1.k1 AS" in found.reading.text


@pytest.mark.parametrize(
    "first",
    [
        "SELECT DISTINCT ON (uid) uid, i4 FROM orders ORDER BY uid, i2 DESC",
        "SELECT DISTINCT ON (uid) uid, i4, i2 AS n FROM orders ORDER BY uid, n DESC NULLS FIRST",
        "SELECT DISTINCT ON (1) uid, i4, i2 FROM orders ORDER BY 1, 3 DESC",
        "SELECT DISTINCT ON (u) uid AS u, i4 FROM orders ORDER BY u, (i2) DESC",
    ],
)
def test_first_rows_of_units_are_those_of_row_number(first: str) -> None:
    numbered = (
        "SELECT uid, i4, row_number() OVER (PARTITION BY uid ORDER BY i2 DESC) AS rn FROM orders"
    )
    for inner, where in ((first, ""), (numbered, "WHERE rn = 1")):
        found = walk(f"SELECT count(*), sum(i4) FROM ({inner}) q {where}")
        assert found is not None
        (block,), ((query, *_),) = found.plan.blocks, found.queries
        assert isinstance(block.neighbours, RowNeighbours)  # one row of each
        ordered = re.search(r"PARTITION BY r\d+.\"uid\" ORDER BY (.*?), ", query.sql)
        assert ordered is not None and ordered[1].endswith('"i2" DESC NULLS FIRST'), query.sql


@pytest.mark.parametrize(
    "statement",
    [
        "SELECT DISTINCT ON (t) t, i4 FROM people ORDER BY t, i4",
        "SELECT DISTINCT ON (t) * FROM people",
        "SELECT DISTINCT ON (t) t FROM people",
        "SELECT DISTINCT ON (t) t, i4 FROM people GROUP BY t",
        "SELECT DISTINCT ON (i4) t, count(*) FROM people GROUP BY t",
        "SELECT DISTINCT ON (uid) uid, i4 FROM orders ORDER BY uid, i4",
        "SELECT count(*) FROM (SELECT DISTINCT ON (t) uid, i4 FROM orders ORDER BY t, i4) q",
        "SELECT avg(n) FROM (SELECT DISTINCT ON (uid) uid, count(*) AS n FROM orders GROUP BY uid, t) q",
    ],
)
def test_of_rows_it_is_refused(statement: str) -> None:
    """Which row of a group stays would be data's."""
    with pytest.raises(Refusal) as refused:
        walk(statement)
    assert refused.value.code in (Code.RAW_ROWS, Code.UNSUPPORTED)
