"""Rounded answers: to a step far below their error, never by a private scale, their intervals still hold."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import pytest

from proxy.base.slots import Slots
from proxy.base.sql_types import SqlType
from proxy.exact.table import ExactRow, ExactTable
from proxy.kernel.plan import BlockPlan, LaplaceNoise, NoisyStatistic
from proxy.mechanisms import discrete_laplace
from proxy.release.noisy_relation import NoisyValue, missing
from proxy.release.presenting import rounded, step_of
from tests.pipeline_world import walk
from tests.seeded_bits import SeededBits
from tests.unchecked_blocks import release_block


def _sum(scale: int) -> BlockPlan:
    pipeline = walk("SELECT sum(n2) FROM people")
    assert pipeline is not None
    (block,) = pipeline.plan.blocks
    (release,) = block.releases
    assert isinstance(release, NoisyStatistic)
    noisy = replace(release, noise=LaplaceNoise(scale=Fraction(scale)))
    return replace(block, releases=(noisy,), is_rounded=True)


def _table(total: int) -> ExactTable:
    return ExactTable((ExactRow((), 0, (total,)),), (Slots(total=0),), (0,))


def test_intervals_hold_and_are_hardly_wider() -> None:
    block, scale, runs = _sum(1000), Fraction(1000), 4000
    held, bits = 0, SeededBits(2)
    plain = discrete_laplace.half_width(scale)
    for run in range(runs):
        exact = 123_456 + run
        (row,) = release_block(block, [_table(exact)], bits).rows
        (value,) = row.values
        assert value.half_width is not None and value.at is not None
        assert value.index % step_of(plain) == 0 and step_of(plain) == 50
        assert plain <= value.half_width <= plain + 25 + 1
        assert value.at(Fraction(95, 100)) == value.half_width
        held += abs(value.index - exact) <= value.half_width
    assert 0.94 < held / runs < 0.965


def test_the_error_of_rounding_is_small_beside_the_noise() -> None:
    """A step is within a twentieth of the standard deviation: it adds less than 1 in 2,000 to the variance."""
    for scale in (10, 1000, 123_456):
        step = step_of(discrete_laplace.half_width(Fraction(scale)))
        deviation = 2**0.5 * scale
        assert step <= max(1, deviation / 19)
        assert step**2 / 12 < max(1, deviation**2 / 2000)
        assert scale < 20 or step >= deviation / 60


def test_a_private_scale_is_not_used() -> None:
    median = NoisyValue(index=123_457, grid=Fraction(1), type=SqlType.INT8, half_width=None)
    assert rounded(median) is median
    nothing = missing(Fraction(1), SqlType.INT8)
    assert rounded(nothing) is nothing


@pytest.mark.parametrize("index", [0, 1, -1, 49, 50, 74, 75, -75, 10**30 + 7])
def test_to_the_nearest_multiple(index: int) -> None:
    value = NoisyValue(index=index, grid=Fraction(1, 100), type=SqlType.NUMERIC, half_width=2100)
    found = rounded(value)
    assert found.index % 50 == 0 and abs(found.index - index) <= 25
    assert found.half_width == 2125
