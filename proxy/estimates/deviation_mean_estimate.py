"""What a mean of deviations is, of the numbers that `mechanisms.deviation_mean` has released: post-processing.

All constants were fitted on sixteen data sets and judged on others (docs/reference/accuracy.md).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from proxy.mechanisms import discrete_laplace
from proxy.mechanisms.deviation_mean import (
    PARTS,
    DeviationShares,
    NoisyDeviations,
    fine_step,
    fineness,
    shares,
)

_PRIOR = 0.1  # of the range: the error at which deviations count by half
_LEAST_ROWS = 3.0  # scales of noise
_EXISTS = 5.0  # scales of noise: with fewer rows the mean is NULL
# The same where another number of the rows is released: above the error of that.
_EXISTS_BESIDE = 3.0
_ENOUGH = 60  # noisy units times epsilon: with fewer a rough mean is NULL


@dataclass(frozen=True, slots=True, kw_only=True)
class NoisyRows:
    """A released number of the rows of one group.

    Attributes:
        number, scale: The number, and the scale of its noise, as of Laplace noise.
        least: So many rows there are at least, by another number that is released; 0: by none.
    """

    number: float
    scale: float
    least: float = 0.0

    @property
    def likely(self) -> float:
        return max(self.number, self.least)


def own_rows(noisy: NoisyDeviations, epsilon: Fraction, declared: int | None) -> NoisyRows:
    """Give the number of rows that was released with a mean."""
    return NoisyRows(number=noisy.count / PARTS, scale=row_scale(noisy, epsilon, declared))


def averaged(counts: Sequence[NoisyRows]) -> NoisyRows:
    """Average several released numbers of the same rows, each by how exact it is. Post-processing.

    The noise of the average is lighter in its tails than Laplace noise of this scale.

    >>> averaged([NoisyRows(number=90, scale=6), NoisyRows(number=140, scale=8)])
    NoisyRows(number=108.0, scale=4.8, least=0.0)
    """
    weights = [one.scale**-2 for one in counts]
    number = sum(one.number * weight for one, weight in zip(counts, weights, strict=True))
    return NoisyRows(number=number / sum(weights), scale=round(sum(weights) ** -0.5, 9))


def mean(
    noisy: NoisyDeviations,
    low: int,
    high: int,
    epsilon: Fraction,
    declared: int | None,
    rows: NoisyRows | None = None,
) -> Fraction:
    """Estimate the mean in grid steps, within low .. high. Post-processing.

    Args:
        noisy: What was released.
        low, high, epsilon, declared: As it was released.
        rows: A better number of the rows; None: that which was released with it.
    """
    middle = Fraction(low + high, 2)
    if noisy.bound is None:
        found = middle + Fraction(noisy.total, 2 * noisy.count)
    else:
        rows = rows or own_rows(noisy, epsilon, declared)
        deviation, kept = _deviation(noisy, low, high, _spent(noisy, epsilon, declared), rows)
        centre = Fraction(noisy.centre, fineness(low, high))
        found = middle + (centre + Fraction(kept * deviation)) / 2
    return min(max(found, Fraction(low)), Fraction(high))


def half_width(
    noisy: NoisyDeviations,
    low: int,
    high: int,
    epsilon: Fraction,
    declared: int | None,
    level: float = 0.95,
    rows: NoisyRows | None = None,
) -> float:
    """Estimate how far the mean of all rows is from the answer, with this probability, in grid steps.

    Claimed is the part of the noise. What the bounds cut is estimated from histograms, so heavy units that no
    histogram shows are not in it.

    Args:
        noisy: With a bound.
        low, high, epsilon, declared: As it was released.
        level: The probability.
        rows: As of `mean`.
    """
    assert noisy.bound is not None, "of a rough mean no error is known"
    spent, rows = _spent(noisy, epsilon, declared), rows or own_rows(noisy, epsilon, declared)
    step = fine_step(noisy, low, high)
    size, kept = _deviation(noisy, low, high, spent, rows)
    size = abs(size)
    missed = max(1.0 - level, 1e-12)
    reach = -math.log(missed)
    of_total = reach * noisy.bound * step / float(spent.deviations)
    of_rows = reach * rows.scale
    cut = noisy.lost * step + size * noisy.lost_rows
    least = max(rows.least, rows.number + math.log(min(1.0, 2 * missed)) * rows.scale)
    if least <= 0:
        return float(high - low)
    found = (math.hypot(of_total, size * of_rows) + cut) / least + (1 - kept) * size
    return min(found / 2, float(high - low))


def exists(
    noisy: NoisyDeviations, epsilon: Fraction, declared: int | None, rows: NoisyRows | None = None
) -> bool:
    """Whether the released numbers show rows: clearly, or units enough for a rough mean. Post-processing."""
    if noisy.bound is None:
        return noisy.units >= units_needed(epsilon)
    if rows is not None:
        return rows.least > 0 or rows.number > _EXISTS_BESIDE * rows.scale
    own = own_rows(noisy, epsilon, declared)
    return own.number > _EXISTS * own.scale


def units_needed(epsilon: Fraction) -> int:
    """How many units a rough mean takes, over all groups.

    >>> units_needed(Fraction(1)), units_needed(Fraction(1, 4))
    (60, 240)
    """
    return math.ceil(_ENOUGH / epsilon)


def count_half_width(noisy: NoisyDeviations, epsilon: Fraction, declared: int | None) -> int:
    """Compute the half width of the 95 % interval of the noisy number of rows, in rows. Post-processing.

    Args:
        noisy: With a bound: a rough mean counts units, each divided over its groups.
        epsilon, declared: As it was released.
    """
    assert noisy.bound is not None, "a rough mean does not count rows"
    spent = _spent(noisy, epsilon, declared)
    of_rows = discrete_laplace.scale_for(noisy.rows * PARTS, spent.rows)
    return -(-discrete_laplace.half_width(of_rows) // PARTS)


def _spent(noisy: NoisyDeviations, epsilon: Fraction, declared: int | None) -> DeviationShares:
    return shares(
        epsilon, is_few=noisy.is_few, is_declared=declared is not None, is_single=noisy.is_single
    )


def row_scale(noisy: NoisyDeviations, epsilon: Fraction, declared: int | None) -> float:
    """Give the scale of the noise in the number of rows, in rows."""
    return noisy.rows / float(_spent(noisy, epsilon, declared).rows)


def centre(noisy: NoisyDeviations, low: int, high: int) -> Fraction:
    """Give the centre in grid steps."""
    return Fraction(low + high, 2) + Fraction(noisy.centre, 2 * fineness(low, high))


def _deviation(
    noisy: NoisyDeviations, low: int, high: int, spent: DeviationShares, of: NoisyRows
) -> tuple[float, float]:
    """The mean deviation in half steps, and how much of it counts: what is mostly noise counts little."""
    assert noisy.bound is not None
    rows = max(of.likely, _LEAST_ROWS * of.scale)
    step = fine_step(noisy, low, high)
    error = math.sqrt(2) * noisy.bound * step / float(spent.deviations) / rows
    kept = 1 / (1 + (error / (_PRIOR * 2 * (high - low))) ** 2)
    return noisy.total / PARTS * step / rows, kept
