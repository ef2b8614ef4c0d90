"""Noise of a series: its sensitivity by brute force, its noise exactly, and its law by what is shown."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from fractions import Fraction
from itertools import product

import numpy as np
import pytest

from proxy.base.slots import Slots
from proxy.drawing.charges import StepsSoFar, noises_of_steps, steps_with_noise
from proxy.estimates import series_noise
from proxy.exact.table import ExactTable
from proxy.kernel.checked_plan import check_plan
from proxy.kernel.plan import BlockPlan
from proxy.mechanisms import continual, discrete_gaussian
from proxy.release.adding_noise import drawn_block
from proxy.release.drawn_values import DrawnNumber
from tests.kernel.examples import WORLD, series_block
from tests.seeded_bits import SeededBits
from tests.unchecked_blocks import stated_loss

_FALSE_ALARM = 6.0  # standard deviations


def _matrix(factor: Sequence[int]) -> list[list[int]]:
    steps = range(len(factor))
    return [[factor[row - at] if at <= row else 0 for at in steps] for row in steps]


def _length(factor: Sequence[int], change: Sequence[int]) -> int:
    return sum(
        sum(one * by for one, by in zip(row, change, strict=True)) ** 2 for row in _matrix(factor)
    )


@pytest.mark.parametrize("factor", [(3, 2, 2, 1, 0), (1, 0, 0, 0, 0), continual.factor_of(5, 4)])
def test_no_unit_moves_it_further_and_some_as_far(factor: Sequence[int]) -> None:
    """All changes within +-2, wherever the steps of a unit are."""
    changes = list(product((-2, -1, 0, 1, 2), repeat=len(factor)))
    for most in range(1, len(factor) + 1):
        few = [change for change in changes if sum(map(bool, change)) <= most]
        farthest = max(_length(factor, change) for change in few)
        assert continual.squared_sensitivity(factor, most, 2) == farthest


@pytest.mark.parametrize("factor", [(3, 2, 2, 1, 0), continual.factor_of(5, 3)])
@pytest.mark.parametrize(("rows", "each"), [(3, 1), (4, 2), (5, 2), (3, 4)])
def test_rows_of_a_unit_over_all_steps(factor: Sequence[int], rows: int, each: int) -> None:
    """None are further than those that fill the first steps with `each` of their rows."""
    changes = product(range(-each, each + 1), repeat=len(factor))
    farthest = max(_length(factor, one) for one in changes if sum(map(abs, one)) <= rows)
    bound = continual.squared_sensitivity(factor, -(-rows // each), each)
    assert farthest <= bound and (rows % each or farthest == bound)


@pytest.mark.parametrize("eighths", range(5))
def test_the_noise_is_that_of_the_factor(eighths: int) -> None:
    """R w = z exactly, w being what the totals are the rounded sums of."""
    factor, bits = continual.factor_of(40, eighths), SeededBits(eighths)
    drawn = [bits.below(2 * 10**6) - 10**6 for _ in factor]
    noises: list[Fraction] = []
    for step, one in enumerate(drawn):
        earlier = sum((factor[step - at] * w for at, w in enumerate(noises)), Fraction(0))
        noises.append((one - earlier) / factor[0])
    totals = continual.total_noises(factor, drawn)
    for step, total in enumerate(totals):
        assert abs(total - sum(noises[: step + 1], Fraction(0))) <= Fraction(1, 2)
    assert totals[:7] == continual.total_noises(factor, drawn[:7]), "what was shown stays"


@pytest.mark.parametrize("eighths", range(5))
def test_stated_variances(eighths: int) -> None:
    factor = continual.factor_of(30, eighths)
    steps, sums = np.linalg.inv(np.array(_matrix(factor), float)), np.tril(np.ones((30, 30)))
    totals = sums @ steps
    ranges = [*totals, *(totals[i] - totals[j] for i in range(30) for j in range(i))]
    given = factor, Fraction(factor[0] ** 2 * 100)
    scale = float(given[1])
    for begin, end in ((0, 1), (0, 30), (7, 8), (3, 25), (29, 30)):
        exact = ((totals[end - 1] - (totals[begin - 1] if begin else 0)) ** 2).sum()
        stated = series_noise.range_sigma2(*given, begin, end)
        assert scale * exact <= stated <= scale * exact + 0.2
    mean = sum((one**2).sum() for one in ranges) / len(ranges)
    assert series_noise._mean_range_variance(factor) == pytest.approx(mean)
    for stated, exact in (
        (series_noise.step_sigma2(*given), (steps[-1] ** 2).sum()),
        (series_noise.total_sigma2(*given), (totals[-1] ** 2).sum()),
        (series_noise.largest_sum_sigma2(*given), max((one**2).sum() for one in ranges)),
    ):
        assert scale * exact <= stated <= scale * exact + 0.2


class _Kept:
    """The steps of a series, in memory."""

    def __init__(self, due: int) -> None:
        self.due = due
        self.noise: list[Sequence[int]] = []

    async def begun(self) -> StepsSoFar:
        return StepsSoFar(noise=self.noise, drawn=[])

    async def begin(self, first: int, noise: Sequence[Sequence[int]]) -> StepsSoFar:
        self.noise[first:] = noise
        return await self.begun()

    async def store(self, first: int, drawn: Sequence[Sequence[int]]) -> StepsSoFar:
        raise AssertionError("nothing is read")


def _noises(block: BlockPlan, bits: SeededBits) -> Callable[[int], Sequence[float]]:
    """Draws the noise of each step of a release, as it is shown, of rows that are none."""
    if block.is_stepwise:

        def one_by_one(number: int) -> Sequence[float]:
            steps = _Kept(len(block.continual[number].factor))
            return noises_of_steps(block, asyncio.run(steps_with_noise(steps, block, bits)))[number]

        return one_by_one
    slots = tuple(Slots(total=0, count=0) for _ in block.releases)
    table = ExactTable((), slots, tuple(range(len(block.releases))))
    (checked,) = check_plan([block], stated_loss(block), WORLD).blocks

    def at_once(number: int) -> Sequence[float]:
        shown = (group.values[number] for group in drawn_block(checked, [table], bits).groups)
        return [one.index for one in shown if isinstance(one, DrawnNumber)]

    return at_once


def _off(block: BlockPlan, series: int, bits: SeededBits) -> list[float]:
    """By how many standard deviations the squares of y - R x, as they follow from what is shown of many series,
    differ from those of the law; of each release, and of products of neighbouring steps."""
    found, draw = [], _noises(block, bits)
    for number, noise in block.continual.items():
        recovered = [np.array(_matrix(noise.factor), float) @ draw(number) for _ in range(series)]
        z = np.array(recovered) / float(noise.sigma2) ** 0.5
        found.append(((z**2).sum() - z.size) / (2 * z.size) ** 0.5)
        pairs = z[:, 1:] * z[:, :-1]
        found.append(pairs.sum() / pairs.size**0.5)
    return found


@pytest.mark.parametrize("is_at_once", [False, True])
def test_what_is_shown_has_the_noise_that_was_paid(is_at_once: bool) -> None:
    for off in _off(series_block(20, 7, is_at_once=is_at_once), 40, SeededBits(1)):
        assert abs(off) < _FALSE_ALARM


@pytest.mark.parametrize("is_at_once", [False, True])
@pytest.mark.parametrize("fault", ["less noise", "one noise for two steps"])
def test_other_noise_is_found(
    monkeypatch: pytest.MonkeyPatch, fault: str, is_at_once: bool
) -> None:
    """Mutants: noise that is 30 % too small; noise that is drawn for every other step."""
    real, last = discrete_gaussian.sample, [0]

    def broken(bits: SeededBits, sigma2: Fraction) -> int:
        if fault == "less noise":
            return real(bits, sigma2 * Fraction(7, 10) ** 2)
        if bits.below(2):
            last[0] = real(bits, sigma2)
        return last[0]

    monkeypatch.setattr(discrete_gaussian, "sample", broken)
    block = series_block(20, 7, is_at_once=is_at_once)
    assert max(map(abs, _off(block, 40, SeededBits(1)))) > _FALSE_ALARM
