"""VAR and STDDEV from three noisy sums about the middle of the bounds.

With y = 2i - (low + high), in half grid steps, and D = high - low: a count, the sum of y, and the
sum of 2 y^2 - D^2, which is within -D^2 .. D^2 for each row: integers, with discrete Laplace noise.
Variance and deviation are post-processing. Proof: PROOFS.md, "Variance".
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from itertools import product

from proxy.estimates.ratio_mean_estimate import centred, ends
from proxy.mechanisms import discrete_laplace
from proxy.mechanisms.bits import RandomBits
from proxy.mechanisms.loss import Loss
from proxy.mechanisms.ratio_mean import total_sensitivity
from proxy.mechanisms.real_bounds import root_bounds
from proxy.mechanisms.split import split

RELEASES = 3
_DIGITS = 30  # of a root: more than any type of PostgreSQL's shows


@dataclass(frozen=True, slots=True, kw_only=True)
class VarianceScales:
    """The scales of discrete Laplace noise: public."""

    squares: Fraction
    total: Fraction
    count: Fraction


@dataclass(frozen=True, slots=True, kw_only=True)
class NoisyMoments:
    """The three noisy results: private already."""

    squares: int
    total: int
    count: int


def centred_squares(squares: int, total: int, count: int, low: int, high: int) -> int:
    """The sum of 2 y^2 - D^2, from the sums of i^2, of i, and the count of the same rows.

    >>> centred_squares(25, 7, 2, 0, 9)  # of 3 and 4: y is -3 and -1
    -142
    """
    both, width = low + high, high - low
    return 2 * (4 * squares - 4 * both * total + count * both * both) - count * width * width


def scales(low: int, high: int, epsilon: Fraction, rows_per_unit: int = 1) -> VarianceScales:
    """The scales with which the three sums together are epsilon-DP: a third of epsilon each.

    Given    low < high, epsilon > 0; one unit has at most rows_per_unit rows
    Refuses  anything else with ValueError
    Source   docs/design/mechanisms.md 7.2; D^2 is the sensitivity of the doubled squares

    >>> scales(0, 10, Fraction(3)).squares
    Fraction(100, 1)
    """
    each = split(Loss(epsilon, Fraction(0)), RELEASES).epsilon
    sensitivity = total_sensitivity(low, high, rows_per_unit)
    return VarianceScales(
        squares=discrete_laplace.scale_for(sensitivity * (high - low), each),
        total=discrete_laplace.scale_for(sensitivity, each),
        count=discrete_laplace.scale_for(rows_per_unit, each),
    )


def release(
    squares: int,
    total: int,
    count: int,
    low: int,
    high: int,
    epsilon: Fraction,
    bits: RandomBits,
    rows_per_unit: int = 1,
) -> NoisyMoments:
    """The epsilon-DP moments of which variance and deviation are made.

    Given    the exact sums of the rows' squared grid indices and grid indices, each index within
             low..high, and their number: non-NULL rows in all three
    Refuses  what scales refuses: with low = high the variance is publicly 0
    """
    noise = scales(low, high, epsilon, rows_per_unit)
    return NoisyMoments(
        squares=centred_squares(squares, total, count, low, high)
        + discrete_laplace.sample(bits, noise.squares),
        total=centred(total, count, low, high) + discrete_laplace.sample(bits, noise.total),
        count=count + discrete_laplace.sample(bits, noise.count),
    )


def population(moments: NoisyMoments, low: int, high: int) -> Fraction:
    """VAR_POP in squared grid steps, within 0 .. ((high-low)/2)^2: post-processing.

    >>> population(NoisyMoments(squares=-142, total=-4, count=2), 0, 9)
    Fraction(1, 4)
    """
    width2, rows = Fraction((high - low) ** 2), max(1, moments.count)
    of_y = (Fraction(moments.squares, rows) + width2) / 2 - Fraction(moments.total, rows) ** 2
    return min(max(of_y, Fraction(0)), width2) / 4


def sample_variance(moments: NoisyMoments, low: int, high: int) -> Fraction:
    """VAR_SAMP: VAR_POP n/(n-1), with at least two rows."""
    rows = max(2, moments.count)
    return population(moments, low, high) * rows / (rows - 1)


def deviation(of_variance: Fraction) -> Fraction:
    """The root of a variance, to 30 digits after the point.

    >>> deviation(Fraction(9, 4))
    Fraction(3, 2)
    """
    return root_bounds(of_variance, _DIGITS)[0]


def population_interval(
    moments: NoisyMoments,
    noise: VarianceScales,
    low: int,
    high: int,
    level: Fraction | float = Fraction(95, 100),
) -> tuple[Fraction, Fraction]:
    """Bounds that hold the exact VAR_POP with at least this probability, if there are rows at all.

    A third of what may be missed for each sum; then the extremes over the box. The variance grows
    with the squares and falls with |total|, and in 1/count it is a parabola with its top at its
    only turning point: the corners, and the total nearest to 0, and that point, are enough.
    """
    each = 1 - (1 - Fraction(level)) / RELEASES
    squares = ends(moments.squares, noise.squares, each)
    totals = ends(moments.total, noise.total, each)
    nearest = min(max(0, totals[0]), totals[1])
    fewest, most = (max(1, rows) for rows in ends(moments.count, noise.count, each))
    found = []
    for sum_of_squares, total in product(squares, {*totals, nearest}):
        counts = {fewest, most}
        if total and sum_of_squares > 0:
            # squares x / 2 - total^2 x^2 is greatest at x = squares / (4 total^2).
            turning = 4 * total * total // sum_of_squares
            counts |= {min(max(turning + step, fewest), most) for step in (0, 1)}
        found += [
            population(NoisyMoments(squares=sum_of_squares, total=total, count=rows), low, high)
            for rows in counts
        ]
    return min(found), max(found)


def error_times_rows(
    noise: VarianceScales, low: int, high: int, level: Fraction | float = Fraction(95, 100)
) -> Fraction:
    """E, where the variance of n rows is off by E / n squared grid steps at most, with this probability: to
    first order in each of the noises, at the worst mean and variance.

    With D steps and n rows, 4 VAR = (S/n + D^2)/2 - (T/n)^2 with |S/n| <= D^2 and |T/n| <= D.

    Source   docs/design/mechanisms.md 9.1, union bound

    >>> error_times_rows(scales(0, 10, Fraction(3)), 0, 10)
    Fraction(4049, 8)
    """
    each, width = 1 - (1 - Fraction(level)) / RELEASES, high - low
    squares, total, count = (
        discrete_laplace.half_width(scale, each)
        for scale in (noise.squares, noise.total, noise.count)
    )
    of_squares = Fraction(squares + width**2 * count, 2)
    return (of_squares + 2 * width * (total + width * count)) / 4
