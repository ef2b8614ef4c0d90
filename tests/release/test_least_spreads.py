"""VARIANCE and STDDEV of people with several rows are least numbers where a chosen bound may cut squares."""

from __future__ import annotations

from fractions import Fraction

import pytest

from proxy.engine.answer_notices import answer_notices
from proxy.engine.explain_text import answer_expectations
from proxy.kernel.plan import BlockPlan, DeviationMean, NoisyStatistic
from proxy.kernel.statistics import Statistic
from proxy.mechanisms.deviation_mean import PARTS, NoisyDeviations
from proxy.mechanisms.deviation_variance import NoisySquares
from proxy.release.drawn_values import DrawnBlock, DrawnGroup, DrawnNumber
from proxy.release.noisy_relation import NoisyInterval, NoisyTable, NoisyValue, NullReason
from proxy.release.presenting import presented
from tests.pipeline_world import POLICIES, walk
from tests.release.released_world import block_of

_SPREADS = ("stddev(i4)", "variance(i4)", "stddev_pop(i4)", "var_pop(i4)")
_ROWS = 40_000


def _released(select: str, lost: int, sign: int = 1) -> tuple[BlockPlan, NoisyTable]:
    """Rows that are off their mean by 20 half steps, with so much that a bound cuts, as it is estimated. sign:
    of the noisy sum of squares."""
    block = block_of(f"SELECT {select} FROM orders", epsilon="1")
    (release,) = block.releases
    assert isinstance(release, DeviationMean) and release.has_squares
    mean = NoisyDeviations(
        units=10_000,
        is_few=False,
        is_single=lost == 0,
        centre=0,
        count=_ROWS * PARTS,
        total=0,
        rows=1,
        bound=1_000,
        lost_rows=0,
        lost=0,
    )
    square = 400 * 16**2 * _ROWS * (PARTS if lost == 0 else 1)  # fine steps: range 0 to 100
    squares = NoisySquares(mean=mean, total=sign * square * PARTS, bound=square // 10**6, lost=lost)
    return block, presented(block, DrawnBlock((DrawnGroup((), (squares,)),)))


def _value(select: str, lost: int) -> NoisyValue:
    _, noisy = _released(select, lost)
    return noisy.rows[0].values[0]


@pytest.mark.parametrize("select", _SPREADS)
def test_what_may_be_cut_opens_the_interval_above(select: str) -> None:
    """Its error is that to the other side, which what is cut does not widen."""
    few, many = _value(select, 1), _value(select, 10**9)
    assert few.is_least and many.is_least
    assert few.half_width == many.half_width and not few.is_missing
    whole = _value(select, 0)
    assert not whole.is_least and whole.half_width is not None


def test_the_half_width_at_other_levels_is_to_the_same_side() -> None:
    found = _value("stddev(i4)", 10**9)
    assert found.at is not None and found.half_width is not None
    assert found.at(Fraction(975, 1000)) > found.half_width
    assert found.at(Fraction(975, 1000)) < 2 * found.half_width


def test_expressions_over_it_are_open_to_the_side_that_follows() -> None:
    _, noisy = _released("stddev(i4), dp.low(stddev(i4)), -stddev(i4), 3 / stddev(i4)", 1)
    (row,) = noisy.rows
    sides = [
        (one.is_least, one.is_most) if isinstance(one, NoisyInterval) else None
        for one in row.errors
        if one is not None
    ]
    assert (True, False) in sides and (False, True) in sides and (False, False) not in sides


@pytest.mark.parametrize(("lost", "is_told"), [(1, True), (0, False)])
def test_it_is_told_why(lost: int, is_told: bool) -> None:
    block, noisy = _released("stddev(i4)", lost)
    told = "\n".join(answer_notices(block, noisy))
    assert ("far from the mean add is cut at a bound chosen" in told) is is_told
    assert ("would only make it larger" in told) is is_told


def test_explain_says_it_of_spreads_alone() -> None:
    pipeline = walk("SELECT avg(i4), stddev(i4), count(*) FROM orders", POLICIES["best"])
    assert pipeline is not None
    assumed = {
        name.written: found.assumptions for _, name, found in answer_expectations(pipeline.plan)
    }
    no_less = "the truth is at least the answer less this error"
    assert any(no_less in text for text in assumed["stddev_samp(i4)"])
    assert not any(no_less in text for text in assumed["avg(i4)"])


@pytest.mark.parametrize("select", _SPREADS)
@pytest.mark.parametrize("lost", [0, 1])
def test_a_0_that_noise_has_made_is_null(select: str, lost: int) -> None:
    """The noisy squares are below 0: nothing is known of the spread, and 0 would say that all is equal."""
    block, noisy = _released(select, lost, sign=-1)
    (value,) = noisy.rows[0].values
    assert value.is_missing and value.null_reason is NullReason.ALL_NOISE
    (line,) = answer_notices(block, noisy)
    assert (
        "is NULL: all that its values differ is noise, as of few people. Raise dp.epsilon" in line
    )


def _of_people(count: int, squares: int, select: str = "stddev_pop(i4), var_pop(i4)") -> NoisyTable:
    """Of people with one row each, from three noisy sums."""
    block = block_of(f"SELECT {select} FROM people", epsilon="1")
    numbers = {Statistic.ROWS: count, Statistic.CENTRED: 0}
    values = tuple(
        DrawnNumber(numbers.get(one.statistic, squares))
        for one in block.releases
        if isinstance(one, NoisyStatistic)
    )
    assert len(values) == len(block.releases)
    return presented(block, DrawnBlock((DrawnGroup((), values),)))


def test_spreads_of_people_with_one_row_have_the_same_rule() -> None:
    """NULL where the error is half of the range of a deviation, which is half of the bounds' width, or all is
    noise. Deviations and variances of the same sums are NULL together."""
    for count, reason in ((3, NullReason.TOO_WIDE), (10, NullReason.TOO_WIDE), (40_000, None)):
        (row,) = _of_people(count, 0).rows  # squares less half of their range: in the middle of it
        assert {one.null_reason for one in row.values} == {reason}, count
    (row,) = _of_people(40_000, -400_020_000).rows
    assert {one.null_reason for one in row.values} == {NullReason.ALL_NOISE}
