"""Conditions that compare two times of which keys are computed leave out the groups that no row can have, and
no other."""

from __future__ import annotations

from collections.abc import Callable
from datetime import date, timedelta
from itertools import product

import pytest

from tests.pipeline_world import POLICIES, walk

_FIRST, _LAST = date(2012, 1, 1), date(2013, 12, 31)
_DAYS = [_FIRST + timedelta(days=n) for n in range(0, (_LAST - _FIRST).days + 1, 7)] + [_LAST]
_WITHIN = "BETWEEN '2012-01-01' AND '2013-12-31'"
_FIRSTS = "(SELECT uid, {} AS first FROM orders GROUP BY uid) f"
_JOINED = f"FROM orders o JOIN {_FIRSTS} USING (uid) WHERE o.d {_WITHIN} AND f.first {_WITHIN}"
_MINIMUM, _TRUNCATED = "min(d)", "date_trunc('month', min(d))::date"
_YEARS = "(extract(year FROM o.d) - extract(year FROM f.first))::int"
_MONTHS = f"({_YEARS} * 12 + extract(month FROM o.d) - extract(month FROM f.first))::int"


def _years(own: date, first: date) -> tuple[str, ...]:
    return (str(own.year - first.year),)


def _months(own: date, first: date) -> tuple[str, ...]:
    return (str(12 * (own.year - first.year) + own.month - first.month),)


def _quarters(own: date, first: date) -> tuple[str, ...]:
    start = date(first.year, first.month - (first.month - 1) % 3, 1)
    return (start.isoformat(), *_years(own, first))


_KEYS: dict[str, Callable[[date, date], tuple[str, ...]]] = {
    _YEARS: _years,
    _MONTHS: _months,
    f"date_trunc('quarter', f.first)::date, {_YEARS}": _quarters,
}


def _listed(keys: str, joined: str) -> set[tuple[str | None, ...]]:
    pipeline = walk(f"SELECT {keys}, count(*) {joined} GROUP BY {keys}", POLICIES["best"])
    assert pipeline is not None
    return set(pipeline.plan.blocks[0].listed_groups)


@pytest.mark.every(3)
@pytest.mark.parametrize("keys", _KEYS)
@pytest.mark.parametrize(
    ("joined", "can_be"),
    [
        # What follows from the join.
        (_JOINED.format(_MINIMUM), lambda own, first: own >= first),
        (_JOINED.format("max(d)"), lambda own, first: own <= first),
        # What the statement says.
        (f"{_JOINED.format('max(d)')} AND o.d >= f.first", lambda own, first: own == first),
        (f"{_JOINED.format(_MINIMUM)} AND f.first < o.d", lambda own, first: own > first),
        (f"{_JOINED.format('min(d) FILTER (WHERE i4 > 3)')}", lambda own, first: True),
        (f"{_JOINED.format('min(d) FILTER (WHERE b)')} AND o.d >= f.first", lambda own, first: own >= first),
    ],
)  # fmt: skip
def test_groups_are_those_that_rows_can_have(
    keys: str, joined: str, can_be: Callable[[date, date], bool]
) -> None:
    expected = {_KEYS[keys](*pair) for pair in product(_DAYS, _DAYS) if can_be(*pair)}
    assert _listed(keys, joined) == expected


def test_truncated_minima() -> None:
    expected = {_months(own, first) for own, first in product(_DAYS, _DAYS) if own >= first}
    assert _listed(_MONTHS, _JOINED.format(_TRUNCATED)) == expected


def test_a_condition_of_the_join() -> None:
    firsts = _FIRSTS.format("min(d) FILTER (WHERE b)")
    joined = f"FROM orders o JOIN {firsts} ON o.uid = f.uid AND o.d >= f.first WHERE o.d {_WITHIN}"
    assert not any(str(years).startswith("-") for (years,) in _listed(_YEARS, joined))


@pytest.mark.parametrize(
    "firsts",
    [
        "(SELECT uid, min(d) AS first FROM orders WHERE b GROUP BY uid) f",
        "(SELECT uid, min(d) AS first FROM calls GROUP BY uid) f",
        "(SELECT uid, max(d) AS first FROM orders GROUP BY uid) f",
    ],
)
def test_nothing_follows_from_other_rows(firsts: str) -> None:
    joined = f"FROM orders o JOIN {firsts} USING (uid) WHERE o.d {_WITHIN} AND f.first {_WITHIN}"
    assert ("-1",) in _listed(_YEARS, joined)


def test_rows_beyond_the_bounds_keep_their_groups() -> None:
    """Both are cut to the last year, whichever is later."""
    firsts = _FIRSTS.format("min(d) FILTER (WHERE b)")
    joined = f"FROM orders o JOIN {firsts} USING (uid) WHERE o.d < f.first"
    assert _listed(_YEARS, f"{joined} AND o.d >= '2020-01-01'") == {("0",)}
    assert ("1",) not in _listed(_YEARS, joined)


def test_numbers() -> None:
    for comparator, none in ((">=", "-1"), ("<=", "1")):
        joined = f"FROM orders o JOIN calls k USING (uid) WHERE o.i2 {comparator} k.i2"
        assert (none,) not in _listed("o.i2 - k.i2", joined)
        assert ("0",) in _listed("o.i2 - k.i2", joined)
