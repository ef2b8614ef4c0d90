"""dp.low and dp.high are cut to what an answer can be, but hold what is shown."""

from __future__ import annotations

import json
import math
from fractions import Fraction
from itertools import product

import pytest

from proxy.base.result_columns import IntervalEnd
from proxy.kernel.plan import BlockPlan
from proxy.release.drawn_values import DrawnBlock, DrawnGroup, DrawnNumber
from proxy.release.noisy_relation import NoisyTable
from proxy.release.noisy_values import noise_half_width
from proxy.release.presenting import presented
from proxy.release.value_ranges import ValueRange, value_ranges
from tests.release.released_world import block_of, drawn

_FROM_0 = ValueRange(low=Fraction(0))
_SHARE = ValueRange(low=Fraction(0), high=Fraction(1))
_ANY = ValueRange()
_OF = "count(*) FILTER (WHERE b)"
_RANGES = {
    "count(*)": _FROM_0,
    "count(i4)": _FROM_0,
    "count(DISTINCT i4)": ValueRange(low=Fraction(0), high=Fraction(101)),
    "count(DISTINCT f8)": _FROM_0,
    "2 * count(DISTINCT b)": ValueRange(low=Fraction(0), high=Fraction(4)),
    "sum(i4)": _FROM_0,
    "sum(i4 - 50)": _ANY,
    "sum(i4 - 50) FILTER (WHERE i4 > 50)": _FROM_0,
    "stddev(i4)": _FROM_0,
    "var_pop(i4)": _FROM_0,
    "corr(i4, i2)": ValueRange(low=Fraction(-1), high=Fraction(1)),
    "regr_r2(i4, i2)": _SHARE,
    "regr_slope(i4, i2)": _ANY,
    "covar_pop(i4, i2)": _ANY,
    "avg(b::int)": _SHARE,
    f"{_OF} * 1.0 / count(*)": _SHARE,
    f"{_OF}::numeric / nullif(count(*), 0)": _SHARE,
    f"round(100.0 * {_OF} / count(*), 1)": ValueRange(low=Fraction(0), high=Fraction(100)),
    "count(*) * 1.0 / count(i4)": _FROM_0,
    f"{_OF} * 1.0 / count(*) FILTER (WHERE NOT b)": _FROM_0,
    "avg(b::int) + 1": ValueRange(low=Fraction(1), high=Fraction(2)),
    "1 - avg(b::int)": _SHARE,
    "greatest(count(*), 5)": ValueRange(low=Fraction(5)),
    "least(count(*), 5)": ValueRange(low=Fraction(0), high=Fraction(5)),
    "abs(count(*) - count(i4))": _FROM_0,
    "count(*) - count(i4)": _FROM_0,
    "count(i4) - count(*)": _ANY,
    f"count(*)::numeric - {_OF}": _FROM_0,
    f"count(*) FILTER (WHERE b AND i4 > 5) / {_OF}::numeric": _SHARE,
    f"{_OF}::numeric / count(*) FILTER (WHERE b AND i4 > 5)": _FROM_0,
    "count(*) FILTER (WHERE b OR i4 > 5) * 1.0 / count(*) FILTER (WHERE b)": _FROM_0,
    "count(i4) FILTER (WHERE b AND i4 > 5) * 1.0 / count(*) FILTER (WHERE b)": _SHARE,
    "count(DISTINCT i4) / count(i4)::numeric": _SHARE,
    "count(DISTINCT i4) / count(i2)::numeric": _FROM_0,
    "count(i4) / count(DISTINCT i4)::numeric": _FROM_0,
    "sum(i4) FILTER (WHERE b) * 1.0 / sum(i4)": _SHARE,
    "sum(i8) FILTER (WHERE b) * 1.0 / sum(i8)": _ANY,
    "sum(i4) * 1.0 / sum(i4) FILTER (WHERE b)": _FROM_0,
    "-count(*)": ValueRange(high=Fraction(0)),
    "count(*) * count(i4)": _FROM_0,
}


@pytest.mark.every(2)
@pytest.mark.parametrize("expression", _RANGES)
def test_the_range_of_each_form(expression: str) -> None:
    block = block_of(
        f"SELECT dp.low({expression}) AS low, dp.high({expression}) AS high FROM people"
    )
    (column, *_) = block.intervals
    assert value_ranges(block)[column.number - 1] == _RANGES[expression]


def _ends(block: BlockPlan, *numbers: int) -> tuple[float, float]:
    """Low and high of the only group, of these noisy numbers."""
    noisy = tuple(map(DrawnNumber, numbers))
    return _of_table(block, presented(block, DrawnBlock((DrawnGroup((), noisy),))))


def _of_table(block: BlockPlan, noisy: NoisyTable) -> tuple[float, float]:
    (row,) = json.loads(noisy.json(block.intervals, with_errors=True))
    ends = {one.end: row[one.name] for one in block.intervals}
    return ends[IntervalEnd.LOW], ends[IntervalEnd.HIGH]


def test_ends_of_a_count_are_not_below_0() -> None:
    block = block_of("SELECT count(*), dp.low(count(*)) AS l, dp.high(count(*)) AS h FROM people")
    (release,) = block.releases
    half_width = noise_half_width(release.noise)  # type: ignore[union-attr]
    assert _ends(block, 10 * half_width) == (9 * half_width, 11 * half_width)
    assert _ends(block, half_width // 2) == (0, half_width // 2 + half_width)
    # Far below 0 the interval is that of 0, down to what is shown: noise says nothing more certain.
    assert _ends(block, -3 * half_width) == (-3 * half_width, half_width)


def test_ends_of_an_expression_are_within_its_range() -> None:
    expression = f"{_OF} * 1.0 / count(*)"
    block = block_of(
        f"SELECT {expression} AS s, dp.low({expression}) AS l, dp.high({expression}) AS h FROM people"
    )
    is_whole = block.answers[0].aggregate.condition is None
    numbers = (1_000, 1_003) if is_whole else (1_003, 1_000)
    low, high = _ends(block, *numbers)
    assert high == pytest.approx(1.003) and 0.9 < low < 1
    low, high = _ends(block, *((1_000, 999) if is_whole else (999, 1_000)))
    assert high == 1 and 0.9 < low < 1


def test_no_value_is_outside_of_its_interval() -> None:
    valid = (ValueRange(), _FROM_0, _SHARE, ValueRange(high=Fraction(0)))
    for one in valid:
        for value, width in product(range(-40, 41), range(0, 40, 7)):
            number, half = Fraction(value, 10), Fraction(width, 10)
            low, high = one.cut(number, number - half, number + half)
            assert low <= number <= high
            # Every possible number within the half width of the nearest possible one is still there.
            nearest = max(number, one.low or number) if one.low is not None else number
            nearest = min(nearest, one.high) if one.high is not None else nearest
            assert low <= nearest <= high


def test_cut_intervals_hold_as_often_as_whole_ones() -> None:
    """Of 300 draws of a count of 2 rows, 95 % of the intervals hold 2."""
    block = block_of("SELECT count(*), dp.low(count(*)) AS l, dp.high(count(*)) AS h FROM people")
    held = 0
    for seed in range(300):
        noisy = presented(block, drawn(block, {(): [30, 40]}, seed))
        low, high = _of_table(block, noisy)
        assert low <= high
        held += low <= 2 <= high
    assert held >= 271  # fewer in one of 1,000 runs of 95 %


@pytest.mark.parametrize("digits", [16, 20])
def test_an_interval_holds_the_quotient_as_postgresql_rounds_it(digits: int) -> None:
    expression = f"{_OF} * 1.0 / count(*)"
    block = block_of(
        f"SELECT {expression} AS s, dp.low({expression}) AS l, dp.high({expression}) AS h FROM people"
    )
    is_whole = block.answers[0].aggregate.condition is None
    for part, whole in ((1_003, 977), (2_000, 1_999), (1_001, 999)):
        _, high = _ends(block, *((whole, part) if is_whole else (part, whole)))
        shown = math.ceil(Fraction(part, whole) * 10**digits) / Fraction(10**digits)
        assert Fraction(str(high)) >= shown
