"""How exact AVG of units with several rows is, by means of deviations: a table of docs/reference/accuracy.md.

    python -m tests.mechanisms.mean_accuracy [draws]

Before: a sum about a noisy centre, with a bound on rows that a walk chooses (mechanisms.recentred_mean,
private_bound). Both with the product's own draws. Errors are those of the mean of all rows, cut ones too.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from proxy.estimates import deviation_mean_estimate, recentred_mean_estimate
from proxy.mechanisms import deviation_mean, private_bound
from proxy.mechanisms.bits import RandomBits
from proxy.mechanisms.deviation_mean import (
    PARTS,
    GroupDeviations,
    GroupRows,
    NoisyCentres,
    NoisyDeviations,
)
from proxy.mechanisms.private_bound import UnitTotals
from tests.mechanisms.mean_sets import MeanSet, Numbers, sets
from tests.seeded_bits import SeededBits

EPSILONS = (Fraction(1), Fraction(1, 4))
_DRAWS = 30
_WALK, _MEAN = Fraction(35, 100), Fraction(60, 100)  # of epsilon, before
_SINGLE_GROUPS = 300_000  # units times groups: of larger sets a third of the draws


@dataclass(frozen=True, slots=True, kw_only=True)
class Drawn:
    """values, half_widths: of each group, in grid steps above the low end; NaN where there is none."""

    values: Numbers
    half_widths: Numbers


def before(rows: MeanSet, epsilon: Fraction, bits: RandomBits) -> Drawn:
    """As AVG was drawn before."""
    totals = rows.counts.sum(1)
    bounds = private_bound.bounds_up_to(1_000_000)
    bands = 1 + np.searchsorted(np.array(bounds), totals, side="left")
    units = {int(band): int(number) for band, number in enumerate(np.bincount(bands)) if number}
    walk = private_bound.walk(epsilon * _WALK)
    place = private_bound.choose(UnitTotals(units=units, sums={}), bounds, walk, bits)
    groups = rows.counts.shape[1]
    if place is None:
        nothing = np.full(groups, np.nan)
        return Drawn(values=nothing, half_widths=nothing)
    bound = bounds[place]
    weights = np.minimum(1, bound / totals)[:, None]
    counts, sums = (rows.counts * weights).sum(0), (rows.sums * weights).sum(0)
    found = [
        recentred_mean_estimate.release(
            *(round(total), round(count), 0, rows.width, epsilon * _MEAN, bits, bound)
        )
        for total, count in zip(sums, counts, strict=True)
    ]
    return Drawn(
        values=np.array([float(one.value) for one in found]),
        half_widths=np.array(
            [float(max(one.value - one.least, one.most - one.value)) for one in found]
        ),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Released:
    """centres, means: as the product draws them."""

    centres: NoisyCentres
    means: tuple[NoisyDeviations, ...]


def released(
    rows: MeanSet, epsilon: Fraction, bits: RandomBits, declared: int | None = None
) -> Released:
    """Draw means of deviations: what SQL reads is computed here, the rest is the product's."""
    counts, totals, width = rows.counts, rows.counts.sum(1)[:, None], rows.width
    bands = _bands(totals[:, 0], deviation_mean.row_bounds(declared))
    shares, means = _cut(counts * PARTS / totals), _cut(rows.sums * PARTS / totals)
    groups = [
        GroupRows(
            rows=_by_band(bands, of_group), shares=_by_band(bands, share), sums=int(mean.sum())
        )
        for of_group, share, mean in zip(counts.T, shares.T, means.T, strict=True)
    ]
    units = _by_band(bands, np.ones(len(bands)))
    given = (0, width, epsilon, declared)
    centres = deviation_mean.centred(groups, units, *given, bits)
    fine = deviation_mean.fineness(0, width)
    deviations = fine * rows.sums - np.array(centres.centres)[None, :] * counts
    if centres.is_single:
        deviations = _cut(deviations * PARTS / totals)
    bounds = deviation_mean.deviation_bounds(0, width, is_single=centres.is_single)
    of_groups, units = bounded_parts(deviations, bounds)
    found = deviation_mean.noisy(groups, of_groups, units, centres, *given, bits)
    return Released(centres=centres, means=found)


def bounded_parts(
    values: Numbers, bounds: tuple[int, ...]
) -> tuple[list[GroupDeviations], dict[int, int]]:
    """What SQL reads of numbers by unit and group: sums and shares by band, and units by band."""
    sizes = np.abs(values).sum(1)[:, None]
    bands = _bands(sizes[:, 0], bounds)
    parts = _cut(values * PARTS / np.maximum(sizes, 1))
    of_groups = [
        GroupDeviations(sums=_by_band(bands, one), shares=_by_band(bands, part))
        for one, part in zip(values.T, parts.T, strict=True)
    ]
    return of_groups, _by_band(bands, np.ones(len(bands)))


def after(rows: MeanSet, epsilon: Fraction, bits: RandomBits, declared: int | None = None) -> Drawn:
    """As a mean of deviations is drawn."""
    given, found = (0, rows.width, epsilon, declared), released(rows, epsilon, bits, declared).means
    exists = np.array([deviation_mean_estimate.exists(one, epsilon, declared) for one in found])
    values = np.array([float(deviation_mean_estimate.mean(one, *given)) for one in found])
    half_widths = np.array(
        [
            np.nan if one.bound is None else deviation_mean_estimate.half_width(one, *given)
            for one in found
        ]
    )
    return Drawn(
        values=values,
        half_widths=np.where(exists & (half_widths < rows.width / 2), half_widths, np.nan),
    )


def _bands(totals: Numbers, bounds: tuple[int, ...]) -> Numbers:
    return np.asarray(np.searchsorted(np.array(bounds, dtype=float), totals, side="left"))


def _cut(values: Numbers) -> Numbers:
    return np.asarray(np.trunc(values))


def _by_band(bands: Numbers, numbers: Numbers) -> dict[int, int]:
    return {int(band): int(found) for band, found in enumerate(np.bincount(bands, weights=numbers))}


@dataclass(frozen=True, slots=True, kw_only=True)
class MeanAccuracy:
    """In per cent. rmse: over groups and draws, of the range; answered: with a stated error that is small
    enough; covered: stated intervals that hold the exact number of all rows; half_width: the median one."""

    rmse: float
    answered: float
    covered: float
    half_width: float


def accuracy(
    rows: MeanSet, drawn: list[Drawn], truth: Numbers | None = None, part: int = 2
) -> MeanAccuracy:
    """Compare answers with the exact ones.

    Args:
        rows: The data.
        drawn: Answers.
        truth: The exact ones; None: means.
        part: An error of this part of the range is too large to be stated.
    """
    truth = rows.means if truth is None else truth
    values = np.array([one.values for one in drawn])
    halves = np.array([one.half_widths for one in drawn])
    errors = np.abs(values - truth[None, :])
    stated = ~np.isnan(halves) & (halves < rows.width / part)
    with np.errstate(invalid="ignore"):
        covered = np.mean((errors <= halves + 1e-9)[stated]) if stated.any() else np.nan
        rmse = np.sqrt(np.nanmean(errors**2)) if not np.isnan(errors).all() else np.nan
        half_width = np.median(halves[stated]) if stated.any() else np.nan
    return MeanAccuracy(
        rmse=float(100 * rmse / rows.width),
        answered=float(100 * stated.mean()),
        covered=float(100 * covered),
        half_width=float(100 * half_width / rows.width),
    )


def compared(
    rows: MeanSet, epsilon: Fraction, draws: int, bits: RandomBits
) -> tuple[MeanAccuracy, MeanAccuracy]:
    """Before and after."""
    if rows.counts.size > _SINGLE_GROUPS:
        draws = max(6, draws // 3)
    return (
        accuracy(rows, [before(rows, epsilon, bits) for _ in range(draws)]),
        accuracy(rows, [after(rows, epsilon, bits) for _ in range(draws)]),
    )


def lines(found: Iterator[tuple[MeanSet, Fraction, MeanAccuracy, MeanAccuracy]]) -> Iterator[str]:
    """The table, and what it comes to."""
    yield (
        "| data | epsilon | RMSE before | after | times better | half width | holds"
        " | answered before | after |"
    )
    yield "|---|---|---|---|---|---|---|---|---|"
    gains: dict[bool, list[float]] = {False: [], True: []}
    covered = []
    for rows, epsilon, old, new in found:
        gain = old.rmse / new.rmse
        gains[rows.shape.is_judge].append(gain)
        covered.append(new.covered)
        mark = " (judged)" if rows.shape.is_judge else ""
        yield (
            f"| {rows.shape.name}{mark} | {float(epsilon):g} | {old.rmse:.2f} | {new.rmse:.2f} |"
            f" {gain:.1f} | {new.half_width:.2f} | {new.covered:.0f} % |"
            f" {old.answered:.0f} % | {new.answered:.0f} % |"
        )
    yield ""
    for is_judge, name in ((False, "fitted"), (True, "judged")):
        times = np.array([gain for gain in gains[is_judge] if not np.isnan(gain)])
        mean = float(np.exp(np.mean(np.log(times))))
        worse = int((times < 1 / 1.2).sum())
        count = f"{worse} of {len(times)} more than 1.2 times worse"
        yield f"{name}: {mean:.1f} times better in the geometric mean; {count}"
    yield f"intervals hold the exact number of all rows in {np.nanmean(covered):.1f} %"


def main(draws: int = _DRAWS) -> None:
    bits = SeededBits(17)
    found = (
        (rows, epsilon, *compared(rows, epsilon, draws, bits))
        for rows in sets()
        for epsilon in EPSILONS
    )
    for line in lines(found):
        print(line, flush=True)


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
