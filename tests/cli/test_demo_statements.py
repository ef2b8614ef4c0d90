"""The rules that answers of the demo must satisfy find each kind of contradiction."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from tests.cli.demo_statements import DemoStatement, contradictions, demo_statements

_ALL = DemoStatement(database="shop", sql="SELECT ...")
_BY_STATUS = DemoStatement(database="shop", sql="SELECT ...", keys=("status",), groups="SELECT ...")
_TOP = replace(_BY_STATUS, is_cut=True, order="count", floor=5)
_ROW = {"count": 100, "count_error": 5}
_MEAN = {
    "total": 5000,
    "total_error": 100,
    "mean": 50,
    "mean_error": 1,
    "known": 100,
    "known_error": 5,
}
_WRITTEN = (
    *("LEFT JOIN", "HAVING", "LIMIT", "OVER (", "FILTER", "PERCENTILE", "GROUP BY", "WHERE"),
    "(SELECT",
)
_PAID, _SHIPPED = {"status": "paid"}, {"status": "shipped"}


@pytest.mark.parametrize(
    ("statement", "rows", "said"),
    [
        (_ALL, [{**_ROW, "least": 5, "most": 4}], "least 5.0 > most 4.0"),
        (_ALL, [{"least": 5, "mean": 4}], "mean 4 beyond least"),
        (_ALL, [{"mean": 9, "most": 8}], "mean 9 beyond most"),
        (_ALL, [{"q25": 3, "median": 2}], "q25 3.0 > median 2.0"),
        (_ALL, [{"count": -50, "count_error": 5}], "below 0"),
        (_ALL, [{"count": None, "count_error": 5}], "count is NULL"),
        (_ALL, [{**_ROW, "share": 1.5}], "a share of 1.5"),
        (_ALL, [{**_ROW, "share": -0.5}], "a share of -0.5"),
        (_ALL, [{**_MEAN, "total": 12_000}], "sum / count 120"),
        (_ALL, [{"spread": -1}], "negative deviation"),
        (_ALL, [{"mean": None}], "NULL without a word"),
        (_ALL, [{**_ROW, "running": 100}, {**_ROW, "running": 300}], "a running sum grows by 200"),
        (_ALL, [{**_ROW, "change": None}, {**_ROW, "change": 70}], "a change of 70"),
        (_BY_STATUS, [{**_PAID, **_ROW}], "groups are missing"),
        (_BY_STATUS, [{**_PAID, **_ROW}, {**_PAID, **_ROW}, {**_SHIPPED, **_ROW}], "a group twice"),
        (
            _BY_STATUS,
            [{**_PAID, **_ROW}, {**_SHIPPED, **_ROW}, {"status": "lost", **_ROW}],
            "rows in a group that there is not",
        ),
        (_TOP, [{**_PAID, **_ROW}, {**_SHIPPED, **_ROW, "count": 200}], "not in order"),
        (_TOP, [{**_PAID, **_ROW, "count": 4}], "in spite of HAVING"),
    ],
)
def test_each_is_found(statement: DemoStatement, rows: list[dict[str, Any]], said: str) -> None:
    found = list(contradictions(statement, rows, {("paid",), ("shipped",)}, []))
    assert any(said in one for one in found), found


def test_an_answer_that_agrees_is_left_alone() -> None:
    rows: list[dict[str, Any]] = [
        {**_PAID, **_ROW, **_MEAN, "least": 2, "most": 500},
        {**_SHIPPED, **_ROW, **_MEAN},
    ]
    assert list(contradictions(_BY_STATUS, rows, {("paid",), ("shipped",)}, [])) == []


def test_statements_have_all_that_an_analyst_writes() -> None:
    texts = [one.sql for one in demo_statements(27, 200)]
    assert texts[:40] == [one.sql for one in demo_statements(27, 40)]
    for words in _WRITTEN:
        assert sum(words in text.upper() for text in texts[:40]) >= 1, words
        assert sum(words in text.upper() for text in texts) >= 5, words
