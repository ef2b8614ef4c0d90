"""Means of deviations: what one unit changes, the scales of noise, the branches, and how exact they are."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from random import Random  # noqa: TID251  the same units for the same seed
from statistics import fmean

import numpy as np
import pytest

from proxy.estimates import deviation_mean_estimate
from proxy.mechanisms import deviation_mean, discrete_laplace, octave_bound
from proxy.mechanisms.deviation_mean import (
    PARTS,
    GroupDeviations,
    GroupRows,
    NoisyCentres,
    NoisyDeviations,
    deviation_bounds,
    fineness,
    row_bounds,
    shares,
)
from proxy.mechanisms.octave_bound import OctaveRule, octaves_of, quarter_bounds
from tests.mechanisms.mean_accuracy import accuracy, after, before
from tests.mechanisms.mean_sets import SHAPES, mean_set
from tests.seeded_bits import SeededBits

_EPSILON = Fraction(1)
_RULE = OctaveRule(least=2.5, gap=1.6)
Unit = list[list[int]]  # values y of each group, in half steps about the middle


def _cut(value: int, by: int) -> int:
    """A quotient towards 0, as SQL has it."""
    return value // by if value >= 0 else -(-value // by)


def _band(total: int, bounds: tuple[int, ...]) -> int:
    return sum(bound < total for bound in bounds)


class _Read:
    """What the scans read of some units, by its definition."""

    def __init__(
        self, units: list[Unit], centres: tuple[int, ...], low: int, high: int, is_single: bool
    ) -> None:
        groups, fine = len(centres), fineness(low, high)
        self.rows = [GroupRows(rows={}, shares={}, sums=0) for _ in range(groups)]
        self.deviations = [GroupDeviations(sums={}, shares={}) for _ in range(groups)]
        self.row_units: dict[int, int] = {}
        self.units: dict[int, int] = {}
        bounds = deviation_bounds(low, high, is_single=is_single)
        for unit in units:
            number = sum(map(len, unit))
            found = [fine * sum(y) - c * len(y) for y, c in zip(unit, centres, strict=True)]
            if is_single:
                found = [_cut(PARTS * one, number) for one in found]
            size = sum(map(abs, found))
            row_band, band = _band(number, row_bounds(None)), _band(size, bounds)
            self.row_units[row_band] = self.row_units.get(row_band, 0) + 1
            self.units[band] = self.units.get(band, 0) + 1
            for group, (values, one) in enumerate(zip(unit, found, strict=True)):
                rows, deviations = self.rows[group], self.deviations[group]
                self._add(rows.rows, row_band, len(values))
                self._add(rows.shares, row_band, PARTS * len(values) // number)
                self._add(deviations.sums, band, one)
                self._add(deviations.shares, band, _cut(PARTS * one, size) if size else 0)
                more = rows.sums + _cut(PARTS * sum(values), number)
                self.rows[group] = replace(rows, sums=more)

    @staticmethod
    def _add(into: object, band: int, more: int) -> None:
        assert isinstance(into, dict)
        into[band] = into.get(band, 0) + more


def _units(random: Random, groups: int, width: int) -> list[Unit]:
    found = []
    for _ in range(random.randint(2, 12)):
        most = random.choice((1, 3, 40))
        unit = [
            [random.randrange(-width, width + 1) for _ in range(random.randint(0, most))]
            for _ in range(groups)
        ]
        if random.random() < 0.3:  # as far as can be
            unit = [[random.choice((-width, width))] * len(values) for values in unit]
        found.append(unit if any(unit) else [[0], *unit[1:]])
    return found


@pytest.mark.every(3)
@pytest.mark.parametrize("seed", range(30))
@pytest.mark.parametrize("is_single", [False, True])
def test_one_unit_changes_no_more_than_the_bounds(seed: int, is_single: bool) -> None:
    """The claims of PROOFS.md 28 D1 and D3, for every bound and centre, in whole numbers."""
    random = Random(seed)
    groups, width = random.randint(1, 5), random.choice((1, 10, 3000))
    whole = width * fineness(0, width)
    centres = tuple(random.randint(-whole, whole) for _ in range(groups))
    units = _units(random, groups, width)
    here = _Read(units, centres, 0, width, is_single)
    bounds = deviation_bounds(0, width, is_single=is_single)
    farthest = (whole + max(map(abs, centres))) * PARTS
    for left_out in range(len(units)):
        there = _Read(units[:left_out] + units[left_out + 1 :], centres, 0, width, is_single)
        rows = list(zip(here.rows, there.rows, strict=True))
        deviations = list(zip(here.deviations, there.deviations, strict=True))
        assert _apart(here.row_units, there.row_units) == 1
        assert _apart(here.units, there.units) == 1
        assert sum(abs(one.weight - other.weight) for one, other in rows) <= PARTS
        assert sum(abs(one.sums - other.sums) for one, other in rows) <= PARTS * width
        for place, bound in enumerate(row_bounds(None)):
            moved = [one.bounded(place, bound) - other.bounded(place, bound) for one, other in rows]
            assert sum(map(abs, moved)) <= PARTS * bound
        for place, bound in enumerate(bounds):
            moved = [
                one.bounded(place, bound) - other.bounded(place, bound) for one, other in deviations
            ]
            assert sum(map(abs, moved)) <= PARTS * bound
        if is_single:  # all units are within the farthest that one row can be
            last = len(bounds)
            moved = [one.bounded(last, 1) - other.bounded(last, 1) for one, other in deviations]
            assert sum(map(abs, moved)) <= PARTS * farthest


def _apart(one: dict[int, int], other: dict[int, int]) -> int:
    return sum(abs(one.get(band, 0) - other.get(band, 0)) for band in {**one, **other})


@pytest.mark.parametrize("is_few", [False, True])
@pytest.mark.parametrize("is_declared", [False, True])
@pytest.mark.parametrize("is_single", [False, True])
def test_each_branch_spends_epsilon(is_few: bool, is_declared: bool, is_single: bool) -> None:
    spent = shares(_EPSILON, is_few=is_few, is_declared=is_declared, is_single=is_single)
    assert spent.total == _EPSILON
    assert spent.least > 0
    assert (spent.row_cells == 0) == is_declared


_WIDTH, _GROUPS = 1000, 40


def _fixed() -> tuple[list[GroupRows], list[GroupDeviations], dict[int, int], dict[int, int]]:
    """Many units of four rows, so that histograms are seen; all bands of one kind."""
    band = _band(4, row_bounds(None))
    rows = GroupRows(rows={band: 8000}, shares={band: 2000 * PARTS}, sums=300 * PARTS)
    size_band = _band(700, deviation_bounds(0, _WIDTH, is_single=False))
    deviations = GroupDeviations(sums={size_band: 5000}, shares={size_band: 9 * PARTS})
    units = 2000 * _GROUPS
    return [rows] * _GROUPS, [deviations] * _GROUPS, {band: units}, {size_band: units}


def _draws(times: int) -> list[tuple[NoisyCentres, tuple[NoisyDeviations, ...]]]:
    rows, deviations, row_units, units = _fixed()
    bits, found = SeededBits(23), []
    for _ in range(times):
        given = (0, _WIDTH, _EPSILON, None)
        centres = deviation_mean.centred(rows, row_units, *given, bits)
        found.append(
            (centres, deviation_mean.noisy(rows, deviations, units, centres, *given, bits))
        )
    return found


def _scales() -> dict[str, float]:
    """Mean sizes of noise in the scales that PROOFS.md 28 says, which are about 1."""
    rows, deviations, _, _ = _fixed()
    spent = shares(_EPSILON, is_few=False, is_declared=False, is_single=False)
    drawn = _draws(60)
    found: dict[str, list[float]] = {name: [] for name in ("W", "Y", "N", "D", "U")}
    for centres, means in drawn:
        assert not centres.is_few and not centres.is_single
        found["U"].append(abs(centres.units - 2000 * _GROUPS) * float(spent.units))
        for weight, total in zip(centres.weights, centres.sums, strict=True):
            found["W"].append(abs(weight - rows[0].weight) / PARTS * float(spent.weights))
            size = abs(total - rows[0].sums) / (PARTS * _WIDTH)
            found["Y"].append(size * float(spent.sums))
        for mean in means:
            assert mean.bound is not None
            place = octave_bound_place(mean.bound)
            exact = deviations[0].bounded(place, mean.bound)
            count = rows[0].bounded(_band(mean.rows, row_bounds(None)), mean.rows)
            size = abs(mean.count - count) / (PARTS * mean.rows)
            found["N"].append(size * float(spent.rows))
            size = abs(mean.total - exact) / (PARTS * mean.bound)
            found["D"].append(size * float(spent.deviations))
    return {name: fmean(sizes) for name, sizes in found.items() if name != "U"}


def octave_bound_place(bound: int) -> int:
    return _band(bound, deviation_bounds(0, _WIDTH, is_single=False))


def _are_right(scales: dict[str, float]) -> bool:
    """2,400 draws of each: the mean size of Laplace noise is its scale, within 2 % at one standard error."""
    return all(0.88 < size < 1.12 for size in scales.values())


def test_noise_has_the_scales_that_are_proved() -> None:
    assert _are_right(_scales())


def test_noise_that_is_smaller_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    real = discrete_laplace.scale_for

    def smaller(sensitivity: int | Fraction, epsilon: Fraction) -> Fraction:
        return real(sensitivity, epsilon) * Fraction(7, 10)

    monkeypatch.setattr(discrete_laplace, "scale_for", smaller)
    found = _scales()
    assert all(size < 0.85 for size in found.values()), found


def test_cells_of_histograms_have_noise(monkeypatch: pytest.MonkeyPatch) -> None:
    def size() -> float:
        bits = SeededBits(5)
        cells = [octave_bound.noisy([100] * 20, Fraction(50), bits) for _ in range(150)]
        return fmean(abs(cell - 100) / 50 for row in cells for cell in row)

    assert 0.93 < size() < 1.07
    real = discrete_laplace.sample
    monkeypatch.setattr(discrete_laplace, "sample", lambda b, s: real(b, s * Fraction(7, 10)))
    assert size() < 0.8


def test_a_histogram_that_shows_nothing_gives_rough_means() -> None:
    rows = GroupRows(rows={0: 3}, shares={0: 3 * PARTS}, sums=0)
    given = (0, _WIDTH, _EPSILON, None)
    bits = SeededBits(3)
    centres = deviation_mean.centred([rows], {0: 3}, *given, bits)
    assert centres.rows is None and centres.is_few
    (mean,) = deviation_mean.noisy(
        [rows], [GroupDeviations(sums={}, shares={})], {}, centres, *given, bits
    )
    assert mean.bound is None
    assert not deviation_mean_estimate.exists(replace(mean, units=59), _EPSILON, None)
    assert deviation_mean_estimate.exists(replace(mean, units=60), _EPSILON, None)


def test_a_declared_bound_is_not_chosen() -> None:
    rows = GroupRows(rows={0: 10**6}, shares={0: 10**6 * PARTS}, sums=0)
    given = (0, _WIDTH, _EPSILON, 7)
    centres = deviation_mean.centred([rows], {0: 10**6}, *given, SeededBits(3))
    assert centres.rows == 7 and centres.lost_rows == 0


@pytest.mark.parametrize(
    ("counts", "last"),
    [
        ([0, 100, 0, 0], 1),
        ([0, 100, 3, 0], 2),  # an octave beside the fullest one
        ([0, 100, 0, 3], 1),  # one further away needs more
        ([0, 100, 0, 5], 3),
        ([100, 0, 0, 0], 0),
    ],
)
def test_octaves_that_count(counts: list[int], last: int) -> None:
    bounds = quarter_bounds(Fraction(1), len(counts))
    found = octave_bound.chosen(counts, bounds, 1.0, 1e-9, 1.0, _RULE)
    assert found is not None and found.bound == bounds[4 * last]


def test_units_are_counted_in_their_octave() -> None:
    bounds = quarter_bounds(Fraction(1), 21)
    for total in (1, 2, 3, 4, 5, 8, 9, 1000, 2**20, 2**30):
        counts = octaves_of({_band(total, bounds): 1}, 21)
        octave = min(20, (total - 1).bit_length())
        assert counts[octave] == 1 and sum(counts) == 1


def test_a_range_of_few_steps_has_fine_centres() -> None:
    for width in (1, 2, 100, 511, 512, 10**6):
        assert 2 * width * fineness(0, width) >= 1024
        assert fineness(0, width) == 1 or 2 * width * fineness(0, width) < 2048


@pytest.mark.every(4)
@pytest.mark.parametrize(
    ("name", "times"),
    [
        ("Zipf, heavy half, 20,000", 8),
        ("heavy half by 12", 12),
        ("dates by 10, unit in one", 6),
        ("heavy-tailed by 5", 10),
        ("one row a unit by 12", 2),
        ("signed, units differ, by 4", 2),
        ("60 % at a bound by 8", 1.5),
        ("one row a unit, flag by 4", 1),
    ],
)
def test_it_is_more_exact_than_before(name: str, times: float) -> None:
    (shape,) = (one for one in SHAPES if one.name == name)
    rows, bits = mean_set(shape), SeededBits(2)
    old = accuracy(rows, [before(rows, _EPSILON, bits) for _ in range(12)])
    new = accuracy(rows, [after(rows, _EPSILON, bits) for _ in range(12)])
    assert new.rmse * times < old.rmse, (old, new)
    assert new.covered > 85, new


def test_much_epsilon_gives_the_mean() -> None:
    """Whatever the branch: one row of a unit, several, a flag."""
    for name in ("units differ", "one row a unit, flag by 4", "dates"):
        (shape,) = (one for one in SHAPES if one.name == name)
        rows = mean_set(shape)
        drawn = after(rows, Fraction(10**5), SeededBits(1))
        assert np.all(np.abs(drawn.values - rows.means) < 0.001 * rows.width), name
