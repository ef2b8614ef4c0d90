"""What SQL does beside expressions has a price: parts that are said often, units in groups, lists of keys."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction

import pytest

from proxy.base import limits
from proxy.kernel.bound_choices import UnitTotal
from proxy.kernel.neighbour_kinds import RowNeighbours
from proxy.kernel.plan import BlockPlan, DeviationMean, NoisyStatistic
from proxy.kernel.work import UnitWork, block_work
from proxy.query.ir.relations import Truncate
from tests.kernel.examples import (
    WORLD,
    block_of,
    counted,
    cut_visits,
    deviation_mean,
    key_plan,
    scan,
)
from tests.pipeline_world import walk

_OFTEN = 3_000


def _hashed(times: int) -> BlockPlan:
    found = walk("SELECT percentile_disc(0.5) WITHIN GROUP (ORDER BY i4) FROM trips")
    assert found is not None
    (block,) = found.plan.blocks
    rows = block.neighbours
    assert isinstance(rows, RowNeighbours) and rows.hashed_by
    return replace(
        block, sub_partitions=3, neighbours=replace(rows, hashed_by=rows.hashed_by * times)
    )


def _present(times: int) -> BlockPlan:
    cut = cut_visits("uid", 3)
    assert isinstance(cut, Truncate)
    return block_of(replace(cut, present=cut.present * times))


def _time(work: UnitWork) -> float:
    return work.nanoseconds + work.stored_nanoseconds


@pytest.mark.parametrize("made", [_hashed, _present])
def test_what_is_said_often_is_dear(made: Callable[[int], BlockPlan]) -> None:
    once, often = (_time(block_work(made(times), WORLD)) for times in (1, _OFTEN))
    assert often - once >= 20 * _OFTEN


def _grouped(groups: int, *releases: NoisyStatistic | DeviationMean) -> BlockPlan:
    key = key_plan("i4", tuple(map(str, range(groups))))
    return replace(block_of(scan("r1", "visits"), keys=(key,)), releases=releases)


def _total(parts: int) -> NoisyStatistic:
    total = UnitTotal(low=0, high=3, parts=parts, choice=None)
    return replace(counted(Fraction(1)), total=total)


@pytest.mark.parametrize(
    (
        "release",
        "least",
    ),  # with what is priced of each row: as measured, of a unit in 10,000 groups
    [
        (counted(Fraction(1)), 400),
        (_total(1_000), 500),
        (_total(2**200), 900),
        (deviation_mean(0, 10, Fraction(1)), 2_500),
        (replace(deviation_mean(0, 2**40, Fraction(1)), square_share=Fraction(2, 5)), 10_000),
    ],
)
def test_a_unit_in_each_group(release: NoisyStatistic | DeviationMean, least: int) -> None:
    """Of many groups it is in as many as it has rows; of few in all."""
    one, few, many = (block_work(_grouped(n, release), WORLD) for n in (1, 20, 100_000))
    assert many.stored_nanoseconds - one.stored_nanoseconds >= 0.9 * least
    assert few.stored_nanoseconds == one.stored_nanoseconds
    assert few.nanoseconds - one.nanoseconds >= 0.9 * 19 * least


@pytest.mark.parametrize("release", [counted(Fraction(1)), deviation_mean(0, 10, Fraction(1))])
def test_lists_of_keys_are_hashed(release: NoisyStatistic | DeviationMean) -> None:
    """As many as a statement may have groups are no matter; millions are refused."""
    few, many = (
        block_work(_grouped(groups, release), WORLD).nanoseconds
        for groups in (limits.GROUPS_PER_STATEMENT, 3_000_000)
    )
    assert few < limits.UNIT_NANOSECONDS / 10
    assert many > limits.UNIT_NANOSECONDS
