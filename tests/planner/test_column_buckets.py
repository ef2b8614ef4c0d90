"""Which values of a column are in a group of a key, and which keys have a group that is exactly a range."""

from __future__ import annotations

from fractions import Fraction

import pytest

from proxy.base.instants import seconds_of
from proxy.base.sql_types import SqlType
from proxy.planner.column_buckets import Stretch, buckets, keys_of, stretch_of
from proxy.planner.facts import ColumnFacts, Facts
from proxy.policy.policy_model import Bounds, BoundsKind
from proxy.query.ir.expressions import ColumnRef, Comparison, Constant, DateTrunc, Quotient
from proxy.query.ir.function_names import Comparator

_AGE = ColumnRef("age", SqlType.INT4, None, "t")
_AT = ColumnRef("at", SqlType.TIMESTAMPTZ, None, "t")


def _seconds(day: str) -> Fraction:
    found = seconds_of(day)
    assert found is not None
    return found


def _facts(low: int, high: int) -> Facts:
    times = Bounds(_seconds("2024-01-10"), _seconds("2024-12-31"), BoundsKind.NUMBER)
    age = Bounds(Fraction(low), Fraction(high))
    return Facts(
        {
            ("t", "age"): ColumnFacts(SqlType.INT4, bounds=age),
            ("t", "at"): ColumnFacts(SqlType.TIMESTAMPTZ, bounds=times),
        }
    )


def _stretch(low: object, high: object) -> Stretch:
    ends = [
        None if end is None else _seconds(end) if isinstance(end, str) else Fraction(str(end))
        for end in (low, high)
    ]
    return Stretch(low=ends[0], high=ends[1])


def test_whole_numbers_are_truncated_towards_zero() -> None:
    """-19 / 10 is -1, and 19 / 10 is 1: the group of 0 has 19 values. Clamped ones are in the outer groups."""
    ten = Quotient(_AGE, Constant(Fraction(10), SqlType.INT4), False, SqlType.INT4)
    assert buckets(ten, _AGE, _facts(-25, 24)) == {
        "-2": _stretch(None, -19),
        "-1": _stretch(-19, -9),
        "0": _stretch(-9, 10),
        "1": _stretch(10, 20),
        "2": _stretch(20, None),
    }


def test_months_of_utc() -> None:
    month = DateTrunc("month", _AT, SqlType.TIMESTAMPTZ)
    found = buckets(month, _AT, _facts(0, 1))
    assert len(found) == 12
    assert found["2024-01-01 00:00:00+00"] == _stretch(None, "2024-02-01")
    assert found["2024-02-01 00:00:00+00"] == _stretch("2024-02-01", "2024-03-01")
    assert found["2024-12-01 00:00:00+00"] == _stretch("2024-12-01", None)


@pytest.mark.parametrize(
    ("low", "high", "unit"),
    [
        ("2024-02-01", "2024-03-01", "month"),
        ("2024-04-01", "2024-07-01", "quarter"),
        ("2024-05-06", "2024-05-13", "week"),
        ("2024-05-07", "2024-05-08", "day"),
        ("2024-05-07", "2024-05-14", None),
        ("2024-02-01", "2024-04-01", None),
        ("2024-01-01", "2024-02-01", None),  # of which the group has earlier rows, too
        ("2024-12-01", "2025-01-01", None),
        ("2024-01-01", "2025-01-01", None),
        ("2024-02-01", None, None),
        ("9999-12-01", "9999-12-31", None),
    ],
)
def test_times_that_are_one_group(low: str, high: str | None, unit: str | None) -> None:
    found = [key for key, _ in keys_of(_AT, _stretch(low, high), _facts(0, 1))]
    assert [key.unit for key in found if isinstance(key, DateTrunc)] == ([unit] if unit else [])


@pytest.mark.parametrize(
    ("low", "high", "text"),
    [
        (30, 40, "3"),
        (30, 60, "1"),
        (None, 10, "0"),
        (0, 10, None),
        (35, 45, None),
        (110, 120, "11"),
        (120, 130, None),
        (30, 31, None),
        (30, None, None),
        (40, 30, None),
        (-20, -10, None),
    ],
)
def test_numbers_that_are_one_group(low: int | None, high: int | None, text: str | None) -> None:
    found = [text for _, text in keys_of(_AGE, _stretch(low, high), _facts(0, 120))]
    assert found == ([text] if text is not None else [])


def test_what_conditions_leave() -> None:
    def left(comparator: Comparator, value: object, kind: SqlType | None) -> Stretch | None:
        column = _AT if isinstance(value, str) else _AGE
        constant = Constant(Fraction(value) if isinstance(value, int) else str(value), kind)
        found = stretch_of(Comparison(comparator, column, constant))
        turned = {"<": ">", ">": "<", "<=": ">=", ">=": "<="}.get(comparator.value)
        if turned is not None:
            assert stretch_of(Comparison(Comparator(turned), constant, column)) == found
        return None if found is None else found[1]

    assert left(Comparator.GE, 30, SqlType.INT4) == _stretch(30, None)
    assert left(Comparator.GT, 30, SqlType.INT8) == _stretch(31, None)
    assert left(Comparator.LE, 30, None) == _stretch(None, 31)
    assert left(Comparator.LT, 30, SqlType.INT2) == _stretch(None, 30)
    assert left(Comparator.LT, 30, SqlType.FLOAT8) is None
    assert left(Comparator.EQ, 30, SqlType.INT4) is None
    assert left(Comparator.LT, "2024-03-01", SqlType.TIMESTAMPTZ) == _stretch(None, "2024-03-01")
    # A date beside an instant is one of the session's clock.
    assert left(Comparator.LT, "2024-03-01", SqlType.DATE) is None
    assert left(Comparator.LT, "infinity", SqlType.TIMESTAMPTZ) is None
