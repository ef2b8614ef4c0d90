"""What a hint says to write instead can be run: its examples, with the names of a table put in, are planned."""

from __future__ import annotations

import re

import pytest

from proxy.base.errors import Refusal
from proxy.base.sql_types import SqlType
from tests.pipeline_world import walk

_COUNT = "SELECT count(*) FROM people"
_LISTS = ("column IN (1, 2)", "column NOT IN (1, 2)")
_QUOTIENTS = ("sum(a / 10)", "sum(a) / nullif(sum(b), 0)")
_MATCHED = ("column ~ '^(a|b).*c$'", "column LIKE 'a%' OR column LIKE 'b%'")
_ZONED = ("column AT TIME ZONE 'Europe/Berlin'",)
_OF_UNITS = ("SELECT avg(n) FROM (SELECT unit, count(*) AS n FROM table GROUP BY unit) q",)


def _planned(example: str, column: str) -> None:
    """An expression is put where it belongs: a condition behind WHERE, an aggregate behind SELECT."""
    table = "orders" if "unit" in example or "uid" in example else "people"
    names = {"unit": "uid", "table": table, "column": column, "a": "i4", "b": "i2"}
    # A letter in quotes is a constant.
    written = re.sub(r"'[^']*'|\w+", lambda word: names.get(word[0], word[0]), example)
    if not written.startswith("SELECT"):
        if "AT TIME ZONE" in example:
            written += " >= '2026-01-31'"
        is_condition = example.startswith("column")
        if column and example.endswith(")") and not is_condition:
            written = f"sum({written})"
        written = f"{_COUNT} WHERE {written}" if is_condition else f"SELECT {written} FROM people"
    assert walk(written) is not None


@pytest.mark.parametrize(
    ("refused", "examples", "column"),
    [
        (f"{_COUNT} WHERE i4 = ANY (ARRAY[1, 2])", _LISTS, "i4"),
        (f"{_COUNT} WHERE i4 > ANY ('{{1,2}}')", _LISTS, "i4"),
        (f"{_COUNT} WHERE i4 = SOME (ARRAY[1, 2])", _LISTS, "i4"),
        (f"{_COUNT} WHERE i4 <> ALL (ARRAY[1, 2])", _LISTS, "i4"),
        (f"{_COUNT} WHERE ARRAY[i4] = ARRAY[1]", _LISTS, "i4"),
        (f"{_COUNT} WHERE t ~ '(a)\\1'", _MATCHED, "t"),
        (f"{_COUNT} WHERE t ~* '^\\w'", _MATCHED, "t"),
        (f"{_COUNT} WHERE t SIMILAR TO '[[:alpha:]]%'", _MATCHED, "t"),
        (f"{_COUNT} WHERE tz AT TIME ZONE 'Europe/Nowhere' > '2020-01-01'", _ZONED, "tz"),
        (f"{_COUNT} WHERE tz AT TIME ZONE 'CET' > '2020-01-01'", _ZONED, "tz"),
        (f"{_COUNT} WHERE tz AT TIME ZONE INTERVAL '1' > '2020-01-01'", _ZONED, "tz"),
        (f"{_COUNT} WHERE tz AT TIME ZONE t > '2020-01-01'", _ZONED, "tz"),
        (f"{_COUNT} WHERE timezone('Mars', tz) > '2020-01-01'", _ZONED, "tz"),
        ("SELECT sum(i4 / i2) FROM people", _QUOTIENTS, ""),
        ("SELECT avg(f8 / (i4 - 1)) FROM people", _QUOTIENTS, ""),
        ("SELECT sum(1 / i4) FROM people", _QUOTIENTS, ""),
        (f"{_COUNT} WHERE i4 / i2 > 3", _QUOTIENTS, ""),
        ("SELECT sum(i4 % i2) FROM people", ("count(DISTINCT mod(a, 10))",), ""),
        ("SELECT sum(mod(i4, i2)) FROM people", ("count(DISTINCT mod(a, 10))",), ""),
        ("SELECT sum(i4 / i2) FROM people", ("nullif(column, 0)",), "i4"),
        (f"{_COUNT} WHERE ln(i2) > 1", ("greatest(column, 1)", "least(column, 100)"), "i2"),
        (
            "SELECT avg(n) FROM (SELECT uid, count(*) n FROM orders GROUP BY ROLLUP (uid)) q",
            _OF_UNITS,
            "",
        ),
        (
            "SELECT uid, count(*) FROM orders GROUP BY uid",
            ("SELECT avg(n) FROM (SELECT uid, count(*) AS n FROM w.orders GROUP BY uid) q",),
            "",
        ),
        (
            "SELECT o.uid, count(*) FROM visits v LEFT JOIN orders o ON o.uid = v.uid GROUP BY o.uid",
            _OF_UNITS,
            "",
        ),
    ],
)
def test_examples_of_a_hint_are_planned(
    refused: str, examples: tuple[str, ...], column: str
) -> None:
    with pytest.raises(Refusal) as caught:
        walk(refused)
    for example in examples:
        assert example in caught.value.hint
        _planned(example, column)


def test_parameters_after_in_are_read() -> None:
    with pytest.raises(Refusal) as caught:
        walk(f"{_COUNT} WHERE i4 = ANY ($1)", types=(SqlType.OTHER,), arguments=("{1,2}",))
    assert "column IN ($1, $2)" in caught.value.hint
    two = (SqlType.INT4, SqlType.INT4)
    assert walk(f"{_COUNT} WHERE i4 IN ($1, $2)", types=two, arguments=("1", "2")) is not None
