"""The mean that a noisy sum and a noisy count say, and how far it is off: post-processing."""

from __future__ import annotations

from fractions import Fraction
from itertools import product

from proxy.mechanisms import discrete_laplace
from proxy.mechanisms.ratio_mean import RELEASES, NoisySumAndCount, RatioScales


def centred(total: int, count: int, low: int, high: int) -> int:
    """The sum of y = 2i - (low + high), from the sum of i and the count of the same rows.

    >>> centred(7, 2, 0, 9)  # of 3 and 4: (6 - 9) + (8 - 9)
    -4
    """
    return 2 * total - count * (low + high)


def mean(moments: NoisySumAndCount, low: int, high: int) -> Fraction:
    """The mean in grid steps from noisy moments: post-processing.

    >>> mean(NoisySumAndCount(total=-4, count=2), 0, 9)
    Fraction(7, 2)
    """
    middle = Fraction(low + high, 2)
    ratio = Fraction(moments.total, 2 * max(1, moments.count))
    return min(max(middle + ratio, Fraction(low)), Fraction(high))


def interval(
    moments: NoisySumAndCount,
    noise: RatioScales,
    low: int,
    high: int,
    level: Fraction | float = Fraction(95, 100),
) -> tuple[Fraction, Fraction]:
    """Bounds that hold the exact mean with at least this probability, if there are rows at all.

    Half of what may be missed for the sum, half for the count; then the extremes of the quotient.

    Source   docs/design/mechanisms.md 9.1, union bound
    """
    each = 1 - (1 - Fraction(level)) / RELEASES
    means = [
        mean(NoisySumAndCount(total=total, count=count), low, high)
        for total, count in product(
            ends(moments.total, noise.total, each), ends(moments.count, noise.count, each)
        )
    ]
    return min(means), max(means)


def error_times_rows(
    noise: RatioScales, low: int, high: int, level: Fraction | float = Fraction(95, 100)
) -> Fraction:
    """E, where the mean of n rows is off by E / n grid steps at most, with this probability: to first order in
    both noises, for the farthest mean.

    Source   docs/design/mechanisms.md 9.1, union bound

    >>> from proxy.mechanisms.ratio_mean import scales
    >>> error_times_rows(scales(0, 100, Fraction(1)), 0, 100)
    Fraction(719, 1)
    """
    each = 1 - (1 - Fraction(level)) / RELEASES
    total, count = (discrete_laplace.half_width(s, each) for s in (noise.total, noise.count))
    return Fraction(total + (high - low) * count, 2)


def ends(result: int, scale: Fraction, level: Fraction) -> tuple[int, int]:
    """The interval of one noisy integer."""
    half_width = discrete_laplace.half_width(scale, level)
    return result - half_width, result + half_width
