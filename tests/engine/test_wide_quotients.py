"""AVG of a quotient whose range is far wider than what it is: the NOTICE says what to write."""

from __future__ import annotations

from fractions import Fraction

import pytest

from proxy.engine.answer_notices import answer_notices
from proxy.kernel.plan import BlockPlan, DeviationMean
from proxy.mechanisms.deviation_mean import PARTS, NoisyDeviations
from proxy.release.drawn_values import DrawnBlock, DrawnGroup
from proxy.release.noisy_relation import NoisyTable
from proxy.release.presenting import presented
from tests.release.released_world import block_of

_QUOTIENT = "n2 / nullif(n2, 0)"  # up to 17,500, as n2 has steps of 0.01 up to 175


def _told(operand: str, value: Fraction, bound: Fraction) -> list[str]:
    """value: of the mean. bound: on what a unit deviates, in widths of the range."""
    block = block_of(f"SELECT avg({operand}) AS a FROM orders", epsilon="1")
    (release,) = block.releases
    assert isinstance(release, DeviationMean)
    rows, measured = 40_000, release.measured
    width = 2 * measured.width
    mean = NoisyDeviations(
        units=10_000,
        is_few=False,
        is_single=False,
        centre=round(2 * value / measured.grid) - measured.low - measured.high,
        count=rows * PARTS,
        total=0,
        rows=1,
        bound=round(bound * width),
        lost_rows=0,
        lost=0,
    )
    return list(answer_notices(*_presented(block, mean)))


def _presented(block: BlockPlan, mean: NoisyDeviations) -> tuple[BlockPlan, NoisyTable]:
    return block, presented(block, DrawnBlock((DrawnGroup((), (mean,)),)))


@pytest.mark.parametrize(
    ("operand", "value", "bound", "is_told"),
    [
        (_QUOTIENT, 1, Fraction(50), True),
        (_QUOTIENT, 1, Fraction(1, 1000), False),  # exact enough
        (_QUOTIENT, 9_000, Fraction(50), False),  # as large as its range
        (f"least({_QUOTIENT}, 900)", 1, Fraction(50), False),
        ("n2", 1, Fraction(50), False),
        ("n2 / 2", 1, Fraction(50), False),
    ],
)
def test_it_is_told_where_the_range_makes_it_inexact(
    operand: str, value: int, bound: Fraction, is_told: bool
) -> None:
    told = [line for line in _told(operand, Fraction(value), bound) if "quotient" in line]
    assert len(told) == is_told
    if is_told:
        assert "the quotient can be 17,500. Bounded as in avg(least(a / b, 100))" in told[0]
