"""How exact STDDEV of units with several rows is, by squares about noisy centres: a table of accuracy.md.

    python -m tests.mechanisms.variance_accuracy [draws]

Before: three noisy sums about the middle of the bounds, with a bound on rows that a walk chooses
(estimates.variance, mechanisms.private_bound). Both with the own draws of the product. Errors are those of the
standard deviation of all rows, cut ones too.
"""

from __future__ import annotations

import sys
from fractions import Fraction

import numpy as np

from proxy.estimates import deviation_variance_estimate, variance
from proxy.estimates.deviation_variance_estimate import SpreadRange
from proxy.mechanisms import deviation_mean, deviation_variance, private_bound
from proxy.mechanisms.bits import RandomBits
from proxy.mechanisms.deviation_mean import PARTS
from proxy.mechanisms.private_bound import UnitTotals
from tests.mechanisms.mean_accuracy import (
    EPSILONS,
    Drawn,
    MeanAccuracy,
    accuracy,
    bounded_parts,
    lines,
    released,
)
from tests.mechanisms.mean_sets import MeanSet, Numbers, sets
from tests.seeded_bits import SeededBits

_DRAWS = 30
_WALK, _SUMS = Fraction(35, 100), Fraction(60, 100)  # of epsilon, before
_SINGLE_GROUPS = 300_000  # units times groups: of larger sets a third of the draws


def before(rows: MeanSet, epsilon: Fraction, bits: RandomBits) -> Drawn:
    """As STDDEV_POP was drawn before."""
    totals, width = rows.counts.sum(1), rows.width
    bounds = private_bound.bounds_up_to(1_000_000)
    bands = 1 + np.searchsorted(np.array(bounds), totals, side="left")
    units = {int(band): int(number) for band, number in enumerate(np.bincount(bands)) if number}
    walk = private_bound.walk(epsilon * _WALK)
    place = private_bound.choose(UnitTotals(units=units, sums={}), bounds, walk, bits)
    if place is None:
        nothing = np.full(rows.counts.shape[1], np.nan)
        return Drawn(values=nothing, half_widths=nothing)
    weights = np.minimum(1, bounds[place] / totals)[:, None]
    sums = [(one * weights).sum(0) for one in (rows.squares, rows.sums, rows.counts)]
    noise = variance.scales(0, width, epsilon * _SUMS, bounds[place])
    values, half_widths = [], []
    for squares, total, count in zip(*sums, strict=True):
        indices = (total + width * count) / 2, (squares + 2 * width * total + width**2 * count) / 4
        given = (round(indices[1]), round(indices[0]), round(count))
        drawn = variance.release(*given, 0, width, epsilon * _SUMS, bits, bounds[place])
        value = variance.deviation(variance.population(drawn, 0, width))
        least, most = map(variance.deviation, variance.population_interval(drawn, noise, 0, width))
        values.append(float(value))
        half_widths.append(float(max(value - least, most - value)))
    halves = np.array(half_widths)
    return Drawn(values=np.array(values), half_widths=np.where(halves < width / 4, halves, np.nan))


def after(
    rows: MeanSet, epsilon: Fraction, bits: RandomBits, share: Fraction | None = None
) -> Drawn:
    """As STDDEV_POP is drawn about noisy centres, with this share of epsilon for squares."""
    if share is None:
        share = deviation_variance.share_of_squares(Fraction(0), Fraction(1))
    width, epsilons = rows.width, (epsilon * (1 - share), epsilon * share)
    found = released(rows, epsilons[0], bits)
    squares = _squares(rows, found.centres)
    bounds = deviation_variance.square_bounds(0, width, is_single=found.centres.is_single)
    groups, units = bounded_parts(squares, bounds)
    drawn = deviation_variance.noisy(
        found.means, groups, units, found.centres, 0, width, epsilons, None, bits
    )
    of = SpreadRange(low=0, high=width, epsilons=epsilons, declared=None)
    values, half_widths = [], []
    for one in drawn:
        is_shown = one.bound is not None and deviation_variance_estimate.exists(one, of)
        if not is_shown or deviation_variance_estimate.is_too_inexact(one, of):
            values.append(np.nan)
            half_widths.append(np.nan)
            continue
        estimate = deviation_variance_estimate.deviation(one, of)
        values.append(float(estimate.value))
        half_widths.append(
            float(max(estimate.value - estimate.least, estimate.most - estimate.value))
        )
    return Drawn(values=np.array(values), half_widths=np.array(half_widths))


def _squares(rows: MeanSet, centres: deviation_mean.NoisyCentres) -> Numbers:
    """Squared distances from the centres by unit and group, in squared fine steps."""
    fine = deviation_mean.fineness(0, rows.width)
    places = np.array(centres.centres, dtype=float)[None, :]
    found = fine**2 * rows.squares - 2 * fine * places * rows.sums + places**2 * rows.counts
    if centres.is_single:
        found = np.trunc(found * PARTS / rows.counts.sum(1)[:, None])
    return np.asarray(np.maximum(found, 0))


def compared(
    rows: MeanSet, epsilon: Fraction, draws: int, bits: RandomBits
) -> tuple[MeanAccuracy, MeanAccuracy]:
    """Before and after."""
    if rows.counts.size > _SINGLE_GROUPS:
        draws = max(6, draws // 3)
    truth = rows.deviations
    return (
        accuracy(rows, [before(rows, epsilon, bits) for _ in range(draws)], truth, 4),
        accuracy(rows, [after(rows, epsilon, bits) for _ in range(draws)], truth, 4),
    )


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
