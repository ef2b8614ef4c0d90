"""Variances about noisy centres: what one unit changes, noise, what is spent, and how exact they are."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from random import Random  # noqa: TID251  the same units for the same seed
from statistics import fmean

import numpy as np
import pytest

from proxy.estimates import deviation_variance_estimate
from proxy.estimates.deviation_variance_estimate import (
    SpreadRange,
    deviation,
    population,
    sample_variance,
)
from proxy.mechanisms import deviation_variance, discrete_laplace
from proxy.mechanisms.deviation_mean import (
    PARTS,
    GroupDeviations,
    NoisyCentres,
    NoisyDeviations,
    fineness,
)
from proxy.mechanisms.deviation_variance import (
    NoisySquares,
    share_of_squares,
    shares,
    square_bounds,
)
from tests.mechanisms.mean_accuracy import accuracy
from tests.mechanisms.mean_sets import SHAPES, mean_set
from tests.mechanisms.variance_accuracy import after, before
from tests.seeded_bits import SeededBits

_EPSILON = Fraction(1)
Unit = list[list[int]]  # values y of each group, in half steps about the middle


def _band(total: int, bounds: tuple[int, ...]) -> int:
    return sum(bound < total for bound in bounds)


def _read(
    units: list[Unit], centres: tuple[int, ...], width: int, is_single: bool
) -> tuple[list[GroupDeviations], dict[int, int]]:
    """What the scan reads of some units, by its definition."""
    fine, bounds = fineness(0, width), square_bounds(0, width, is_single=is_single)
    found: list[tuple[dict[int, int], dict[int, int]]] = [({}, {}) for _ in centres]
    by_band: dict[int, int] = {}
    for unit in units:
        number = sum(map(len, unit))
        squares = [
            sum((fine * y - centre) ** 2 for y in values)
            for values, centre in zip(unit, centres, strict=True)
        ]
        if is_single:
            squares = [PARTS * one // number for one in squares]
        extent = sum(squares)
        band = _band(extent, bounds)
        by_band[band] = by_band.get(band, 0) + 1
        for (sums, parts), one in zip(found, squares, strict=True):
            sums[band] = sums.get(band, 0) + one
            parts[band] = parts.get(band, 0) + (PARTS * one // extent if extent else 0)
    return [GroupDeviations(sums=sums, shares=parts) for sums, parts in found], by_band


@pytest.mark.every(3)
@pytest.mark.parametrize("seed", range(24))
@pytest.mark.parametrize("is_single", [False, True])
def test_one_unit_changes_no_more_than_the_bounds(seed: int, is_single: bool) -> None:
    """The claims of PROOFS.md 28 D8, for every bound and centre, in whole numbers."""
    random = Random(seed)
    groups, width = random.randint(1, 5), random.choice((1, 10, 3000))
    whole = width * fineness(0, width)
    centres = tuple(random.randint(-whole, whole) for _ in range(groups))
    units = []
    for _ in range(random.randint(2, 10)):
        ends = random.random() < 0.3  # as far as can be
        values = (-width, width) if ends else range(-width, width + 1)
        unit = [random.choices(values, k=random.randint(0, 20)) for _ in range(groups)]
        units.append(unit if any(unit) else [[0], *unit[1:]])
    here, mine = _read(units, centres, width, is_single)
    bounds = square_bounds(0, width, is_single=is_single)
    farthest = (whole + max(map(abs, centres))) ** 2 * PARTS
    for left_out in range(len(units)):
        there, theirs = _read(units[:left_out] + units[left_out + 1 :], centres, width, is_single)
        assert sum(abs(mine.get(b, 0) - theirs.get(b, 0)) for b in {**mine, **theirs}) == 1
        pairs = list(zip(here, there, strict=True))
        for place, bound in enumerate(bounds):
            moved = [
                one.bounded(place, bound) - other.bounded(place, bound) for one, other in pairs
            ]
            assert sum(map(abs, moved)) <= PARTS * bound
        if is_single:  # all units are within the farthest that one row can be
            last = len(bounds)
            moved = [one.bounded(last, 1) - other.bounded(last, 1) for one, other in pairs]
            assert sum(map(abs, moved)) <= PARTS * farthest


def test_all_of_epsilon_is_spent() -> None:
    spent = shares(_EPSILON)
    assert spent.cells + spent.squares == _EPSILON
    assert min(spent.cells, spent.squares) > 0


@pytest.mark.parametrize("mean", [0, 1, 3, 10])
@pytest.mark.parametrize("spread", [1, 2, 5])
def test_a_mean_that_shares_is_no_less_exact_than_alone(mean: int, spread: int) -> None:
    share = share_of_squares(Fraction(mean), Fraction(spread))
    assert 0 < share < 1
    assert (1 - share) * (mean + spread) >= mean
    assert share_of_squares(Fraction(mean or 1), Fraction(0)) == 0


_WIDTH, _GROUPS = 1000, 40


def _scale() -> float:
    """The mean size of noise in the scale that PROOFS.md 28 D8 says: about 1."""
    bounds = square_bounds(0, _WIDTH, is_single=False)
    band = _band(10**6, bounds)
    squares = GroupDeviations(sums={band: 5000}, shares={band: 9 * PARTS})
    centres = NoisyCentres(
        units=80_000,
        is_few=False,
        is_single=False,
        rows=4,
        lost_rows=0,
        weights=(2000 * PARTS,) * _GROUPS,
        sums=(0,) * _GROUPS,
        centres=(0,) * _GROUPS,
    )
    epsilons, bits, found = (Fraction(3, 5), Fraction(2, 5)), SeededBits(23), []
    means = [_mean_of(rows=8000, total=0)] * _GROUPS
    for _ in range(60):
        drawn = deviation_variance.noisy(
            means, [squares] * _GROUPS, {band: 80_000}, centres, 0, _WIDTH, epsilons, None, bits
        )
        spent = shares(epsilons[1])
        for one in drawn:
            assert one.bound is not None
            exact = squares.bounded(_band(one.bound, bounds), one.bound)
            size = abs(one.total - exact) / (PARTS * one.bound)
            found.append(size * float(spent.squares))
    return fmean(found)


def test_noise_has_the_scale_that_is_proved() -> None:
    """2,400 draws: the mean size of Laplace noise is its scale, within 2 % at one standard error."""
    assert 0.88 < _scale() < 1.12


def test_noise_that_is_smaller_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    real = discrete_laplace.scale_for

    def smaller(sensitivity: int | Fraction, epsilon: Fraction) -> Fraction:
        return real(sensitivity, epsilon) * Fraction(7, 10)

    monkeypatch.setattr(discrete_laplace, "scale_for", smaller)
    assert _scale() < 0.85


def _mean_of(rows: int, total: int, bound: int | None = 1) -> NoisyDeviations:
    return NoisyDeviations(
        units=rows,
        is_few=False,
        is_single=False,
        centre=0,
        count=rows * PARTS,
        total=total * PARTS,
        rows=1,
        bound=bound,
        lost_rows=0,
        lost=0,
    )


_OF = SpreadRange(low=0, high=_WIDTH, epsilons=(Fraction(10**6), Fraction(10**6)), declared=None)


def test_a_variance_is_that_of_the_rows_whatever_the_centre() -> None:
    """Two rows 10 and 30 half steps from the centre, of which the variance is 100 squared half steps."""
    noisy = NoisySquares(mean=_mean_of(2, 40), total=1000 * PARTS, bound=1, lost=0)
    found = population(noisy, _OF)
    assert abs(float(found.value) - 25) < 1e-6  # in squared steps
    assert found.least < 25 < found.most and found.most - found.least < 1
    assert abs(float(sample_variance(noisy, _OF).value) - 50) < 1e-6
    assert abs(float(deviation(noisy, _OF).value) - 5) < 1e-6
    assert abs(float(deviation(noisy, _OF, of_sample=True).value) - 50**0.5) < 1e-6


@pytest.mark.parametrize("total", [-(10**12), 0, 10**12])
def test_a_variance_is_within_what_is_possible(total: int) -> None:
    noisy = NoisySquares(mean=_mean_of(2, 40), total=total * PARTS, bound=1, lost=0)
    found = population(noisy, _OF)
    assert 0 <= found.least <= found.value <= found.most <= Fraction(_WIDTH**2, 4)


def test_nothing_is_released_without_a_bound() -> None:
    """Neither if the histogram of squares shows nothing, nor beside rough means."""
    centres = NoisyCentres(
        units=3,
        is_few=True,
        is_single=False,
        rows=4,
        lost_rows=0,
        weights=(PARTS,),
        sums=(0,),
        centres=(0,),
    )
    squares, epsilons = GroupDeviations(sums={0: 10**9}, shares={}), (_EPSILON, _EPSILON)
    seen = {_band(10**5, square_bounds(0, _WIDTH, is_single=False)): 10**6}
    for units, mean in (({}, _mean_of(3, 1)), (seen, _mean_of(3, 1, None))):
        (found,) = deviation_variance.noisy(
            [mean], [squares], units, centres, 0, _WIDTH, epsilons, None, SeededBits(3)
        )
        assert (found.bound, found.total, found.lost) == (None, 0, 0)


def test_an_interval_that_says_nothing_is_seen() -> None:
    wide = NoisySquares(mean=_mean_of(2, 40), total=1000 * PARTS, bound=10**12, lost=0)
    assert deviation_variance_estimate.is_too_inexact(
        wide, replace(_OF, epsilons=(_EPSILON, _EPSILON))
    )
    narrow = NoisySquares(mean=_mean_of(2, 40), total=1000 * PARTS, bound=1, lost=0)
    assert not deviation_variance_estimate.is_too_inexact(narrow, _OF)


@pytest.mark.every(3)
@pytest.mark.parametrize(
    ("name", "times"),
    [
        ("Zipf, heavy half, 20,000", 3),
        ("heavy half by 12", 15),
        ("dates by 10, unit in one", 4),
        ("heavy-tailed by 5", 5),
        ("one row a unit by 12", 2),
        ("signed, units differ, by 4", 1.5),
    ],
)
def test_it_is_more_exact_than_before(name: str, times: float) -> None:
    (shape,) = (one for one in SHAPES if one.name == name)
    rows, bits = mean_set(shape), SeededBits(2)
    truth = rows.deviations
    old = accuracy(rows, [before(rows, _EPSILON, bits) for _ in range(12)], truth)
    new = accuracy(rows, [after(rows, _EPSILON, bits) for _ in range(12)], truth)
    assert new.rmse * times < old.rmse, (old, new)
    assert new.covered > 85, new


def test_much_epsilon_gives_the_deviation() -> None:
    """Whatever the branch: one row of a unit, several, a flag."""
    for name in ("units differ", "one row a unit, flag by 4", "dates"):
        (shape,) = (one for one in SHAPES if one.name == name)
        rows = mean_set(shape)
        drawn = after(rows, Fraction(10**5), SeededBits(1))
        assert np.all(np.abs(drawn.values - rows.deviations) < 0.002 * rows.width), name
