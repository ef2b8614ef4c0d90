"""A minimum or maximum bounds the exact one to one side; to the other side the policy does."""

from __future__ import annotations

import json
from fractions import Fraction

import pytest

from proxy.base.result_columns import IntervalEnd
from proxy.kernel.plan import OrderStatistic
from proxy.release.presenting import presented
from tests.release.released_world import block_of, drawn

_VALUES = [7, 8, 8, 9, *range(10, 90), 91, 91, 95]
_DRAWS = 400


@pytest.mark.every(2)
@pytest.mark.parametrize("kind", ["min", "max"])
def test_an_end_that_is_certain_holds(kind: str) -> None:
    """In 995 of 1,000 draws: more than 9 of 400 are beyond it in one of 10,000 runs."""
    block, beyond, values = block_of(f"SELECT {kind}(i4) FROM people", epsilon="1"), 0, _VALUES * 2
    (release,) = block.releases
    assert isinstance(release, OrderStatistic)
    bounds = release.measured
    for seed in range(_DRAWS):
        (row,) = presented(block, drawn(block, {(): values}, seed)).rows
        (value,) = row.values
        if value.is_missing:
            continue
        open_end = IntervalEnd.HIGH if kind == "max" else IntervalEnd.LOW
        end = IntervalEnd.LOW if kind == "max" else IntervalEnd.HIGH
        bound = Fraction(json.loads(value.interval(open_end)))
        assert bound == (bounds.high if kind == "max" else bounds.low) * value.grid
        error = Fraction(json.loads(value.interval(IntervalEnd.ERROR)))
        assert error == abs(bound - value.index * value.grid)
        found = Fraction(json.loads(value.interval(end)))
        assert found == value.index * value.grid
        beyond += found > max(values) if kind == "max" else found < min(values)
    assert beyond <= 9


def test_a_quantile_has_no_such_end() -> None:
    sql = "SELECT percentile_disc(0.5) WITHIN GROUP (ORDER BY i4) FROM people"
    block = block_of(sql)
    (row,) = presented(block, drawn(block, {(): _VALUES * 20}, 1)).rows
    assert row.values[0].certain is None
    assert {row.values[0].interval(end) for end in IntervalEnd} == {"null"}


def test_what_is_off_the_grid_may_be_a_step_farther() -> None:
    """Values of n are rounded to its grid."""
    block = block_of("SELECT min(n), max(n) FROM people", epsilon="5")
    (row,) = presented(block, drawn(block, {(): [10 * v for v in _VALUES] * 3}, 1)).rows
    least, most = row.values
    assert least.certain is not None and most.certain is not None
    assert least.certain.high == least.index + 1
    assert most.certain.low == most.index - 1


def test_an_answer_that_is_moved_keeps_its_end() -> None:
    """MAX is moved up to the mean, and the exact one is at least what was drawn, not that."""
    block = block_of("SELECT avg(i4), max(i4) FROM people", epsilon="0.5")
    moved = 0
    for seed in range(200):
        (row,) = presented(block, drawn(block, {(): [50] * 400}, seed)).rows
        most = row.values[1]
        if not most.is_missing and most.is_adjusted:
            assert most.certain is not None and most.certain.low is not None
            assert most.certain.low < most.index
            moved += 1
    assert moved > 0
