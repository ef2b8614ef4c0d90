"""What variances and standard deviations are, of the numbers that `mechanisms.deviation_variance` has released:
post-processing."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

from proxy.estimates import deviation_mean_estimate
from proxy.estimates.deviation_mean_estimate import NoisyRows
from proxy.mechanisms.deviation_mean import PARTS, fine_step, fineness
from proxy.mechanisms.deviation_variance import NoisySquares, shares
from proxy.mechanisms.estimate import LEVEL, Estimate
from proxy.mechanisms.real_bounds import root_bounds

_ENOUGH = 120  # units times the epsilon of the mean: with fewer a variance is mostly NULL
_OF_MEAN = 0.2  # of what an interval may miss
_DIGITS = 30  # of a root: more than any type of PostgreSQL's shows


@dataclass(frozen=True, slots=True, kw_only=True)
class SpreadRange:
    """How a variance was released: public. low, high: grid indices; epsilons, declared: as of `noisy`; rows: a
    better number of the rows of the group, which is released; None: that of the mean."""

    low: int
    high: int
    epsilons: tuple[Fraction, Fraction]
    declared: int | None
    rows: NoisyRows | None = None

    def rows_of(self, noisy: NoisySquares) -> NoisyRows:
        """Give the number of rows that counts."""
        return self.rows or deviation_mean_estimate.own_rows(
            noisy.mean, self.epsilons[0], self.declared
        )


def exists(noisy: NoisySquares, of: SpreadRange) -> bool:
    """Whether the released numbers show rows. Post-processing."""
    return deviation_mean_estimate.exists(noisy.mean, of.epsilons[0], of.declared, of.rows)


def units_needed(epsilon_of_mean: Fraction) -> int:
    """How many units a variance takes, over all groups, about.

    >>> units_needed(Fraction(3, 5))
    200
    """
    return math.ceil(_ENOUGH / epsilon_of_mean)


def is_too_inexact(noisy: NoisySquares, of: SpreadRange) -> bool:
    """Whether a deviation says nothing: its interval is as wide as its range, half of the width."""
    found = deviation(noisy, of)
    half_width = max(found.value - found.least, found.most - found.value)
    return 4 * half_width >= of.high - of.low


def population(noisy: NoisySquares, of: SpreadRange, level: Fraction | float = LEVEL) -> Estimate:
    """Estimate the variance of all rows in squared grid steps, within 0 .. ((high - low)/2)^2. Post-processing.

    What the interval claims is the part of the noise; what bounds cut is estimated, as of a mean.
    """
    assert noisy.bound is not None and noisy.mean.bound is not None, "nothing was released"
    missed = max(1.0 - float(level), 1e-12)
    rows = max(of.rows_of(noisy).likely, 1.0)
    step = fine_step(noisy.mean, of.low, of.high) / fineness(of.low, of.high)
    square = max(0.0, noisy.total / PARTS * step / rows)
    mean, off = _mean(noisy, of, missed * _OF_MEAN)
    largest = float(of.high - of.low) ** 2
    value = min(max(square - mean**2, 0.0), largest)
    below, above = _mean_square(noisy, of, square, step, missed * (1 - _OF_MEAN))
    most = min(max(above - max(0.0, mean - off) ** 2, value), largest)
    least = min(max(below - (mean + off) ** 2, 0.0), value)
    return Estimate(value=Fraction(value) / 4, least=Fraction(least) / 4, most=Fraction(most) / 4)


def _mean_square(
    noisy: NoisySquares, of: SpreadRange, found: float, step: float, missed: float
) -> tuple[float, float]:
    """The ends of an interval for the mean square of all rows about the centre, in squared half steps.

    With noise in both numbers the quotient of the exact ones solves (x - found)^2 <= (a x)^2 + b^2, where a and
    b are the noises of rows and squares, divided by the noisy number of rows (Fieller 1954).
    """
    assert noisy.bound is not None
    counted = of.rows_of(noisy)
    reach, rows = -math.log(missed), max(counted.likely, 1.0)
    of_rows = reach * counted.scale / rows
    spent = shares(of.epsilons[1])
    of_squares = reach * noisy.bound * step / float(spent.squares) / rows
    if of_rows >= 1:
        return 0.0, math.inf
    left = 1 - of_rows**2
    apart = math.sqrt((of_rows * found) ** 2 + left * of_squares**2)
    # Squares that are cut only raise the variance, and rows that are cut only lower it.
    fewest = rows * (1 - of_rows)
    above = (found + apart) / left + noisy.lost * step / fewest
    below = max(0.0, (found - apart) / left) / (1 + noisy.mean.lost_rows / fewest)
    return below, above


def _mean(noisy: NoisySquares, of: SpreadRange, missed: float) -> tuple[float, float]:
    """How far the mean is from the centre, and how far from that it may be, in half steps."""
    given = (noisy.mean, of.low, of.high, of.epsilons[0], of.declared)
    mean = deviation_mean_estimate.mean(*given, of.rows)
    found = mean - deviation_mean_estimate.centre(noisy.mean, of.low, of.high)
    return abs(2 * float(found)), 2 * deviation_mean_estimate.half_width(
        *given, 1 - missed, of.rows
    )


def sample_variance(
    noisy: NoisySquares, of: SpreadRange, level: Fraction | float = LEVEL
) -> Estimate:
    """VAR_SAMP: VAR_POP n/(n-1), with at least two rows."""
    rows = max(Fraction(of.rows_of(noisy).likely), Fraction(2))
    return population(noisy, of, level).times(rows / (rows - 1))


def deviation(
    noisy: NoisySquares,
    of: SpreadRange,
    level: Fraction | float = LEVEL,
    *,
    of_sample: bool = False,
) -> Estimate:
    """The root of a variance, to 30 digits after the point."""
    found = (sample_variance if of_sample else population)(noisy, of, level)
    value, least, most = (
        root_bounds(one, _DIGITS)[0] for one in (found.value, found.least, found.most)
    )
    return Estimate(value=value, least=least, most=most)
