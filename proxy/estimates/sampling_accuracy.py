"""How exact medians and means of partitions and order statistics can be, and how many partitions are best.

Of public numbers alone.
"""

from __future__ import annotations

import math
from fractions import Fraction

from proxy.mechanisms import discrete_laplace
from proxy.mechanisms.clipped_mean import NOISE_SHARE, scale
from proxy.mechanisms.polyplace import (
    DEFAULT_SHAPE,
    KAPPA_OF_MEANS,
    constants,
    core_mass,
    smoothness,
    tail_factor,
)
from proxy.mechanisms.smoothed_median import (
    FEWEST_PARTITIONS,
    MOST_PARTITIONS,
    beta,
)


def laplace_partitions(epsilon: Fraction, delta: Fraction, steps: int) -> int:
    """The adopted number of partitions, from public numbers only.

    Given    steps = (high - low) / grid >= 0
    Gives    the least odd m >= (2/beta) ln(steps), within 17 .. 65537: with fewer the noise cannot
             get down to one grid step on any data; with more MIN and MAX drift from the ends
    Refuses  what beta refuses, and steps < 0
    Source   docs/design/mechanisms.md 5.2, kappa = 1

    >>> laplace_partitions(Fraction(1), Fraction(1, 10**6), 12500)
    557
    """
    if steps < 0:
        raise ValueError("the lower bound is above the upper bound")
    wanted = math.ceil(2 / beta(epsilon, delta) * math.log(max(1, steps)))
    return min(max(wanted | 1, FEWEST_PARTITIONS), MOST_PARTITIONS)


def laplace_noise_floor(steps: int, m: int, epsilon: Fraction, delta: Fraction) -> float:
    """The least noise scale, in grid steps, that any data can reach. Public, unlike the true scale.

    Given    steps = (high - low) / grid >= 1, m odd
    Gives    2 max(1, (steps/2) e^(-beta (m-1)/2)) / epsilon: one end of the range is at least
             steps/2 away from the median, and (m-1)/2 changes bring the median there
    Source   docs/design/mechanisms.md 9.2

    >>> round(laplace_noise_floor(12500, 557, Fraction(1), Fraction(1, 10**6)), 3)
    2.0
    """
    if steps < 1 or m < 1 or m % 2 == 0:
        raise ValueError("a noise floor needs steps >= 1 and an odd number of partitions")
    least_sensitivity = steps / 2 * math.exp(-beta(epsilon, delta) * (m - 1) / 2)
    return 2 * max(1.0, least_sensitivity) / float(epsilon)


def laplace_expected_floor(steps: int, m: int, epsilon: Fraction, delta: Fraction) -> int:
    """The least half width of the noise, in grid steps: what `policy check` may print.

    The error on real data is larger: the true scale depends on the data and is private, and the
    median of partition results is itself off by a sampling error.
    """
    floor = Fraction(laplace_noise_floor(steps, m, epsilon, delta))
    return min(steps, discrete_laplace.half_width(floor))


def laplace_feasible(steps: int, m: int, epsilon: Fraction, delta: Fraction) -> bool:
    """Whether an answer can be more than one end of the bounds, judged by public numbers only.

    Gives    False where even the least noise covers the whole range at 95 %
    """
    return laplace_expected_floor(steps, m, epsilon, delta) < steps


def polyplace_partitions(epsilon: Fraction, steps: int, kappa: int = KAPPA_OF_MEANS) -> int:
    """The adopted number of partitions, from public numbers only.

    Given    steps = (high - low) / grid >= 0; kappa: 1 for MIN and MAX, 2 for AVG
    Gives    the least odd m >= kappa (2c/epsilon) ln(steps), within 17 .. 65537
    Refuses  what smoothness refuses, kappa < 1 and steps < 0
    Source   docs/design/mechanisms.md 5.2

    >>> polyplace_partitions(Fraction(1), 12500)
    77
    """
    if steps < 0:
        raise ValueError("the lower bound is above the upper bound")
    if kappa < 1:
        raise ValueError("kappa is at least 1: with fewer partitions the noise cannot get small")
    wanted = math.ceil(
        kappa * 2 / float(smoothness(epsilon, DEFAULT_SHAPE)) * math.log(max(1, steps))
    )
    return min(max(wanted | 1, FEWEST_PARTITIONS), MOST_PARTITIONS)


def polyplace_quantile(level: Fraction | float, shape: int = DEFAULT_SHAPE) -> float:
    """The t with P(|Z| <= t) = level: a float, for display.

    >>> round(polyplace_quantile(0.5), 12), round(2 * polyplace_quantile(0.95), 2)
    (0.5, 7.49)
    """
    if not 0 <= level < 1:
        raise ValueError("a quantile needs 0 <= level < 1")
    normaliser, _, _ = constants(shape)
    u = float(level)
    if u <= float(core_mass(shape)):
        return 1 - math.pow(1 - u * float(normaliser) * shape, 1 / shape)
    return math.pow(tail_factor(shape) / (1 - Fraction(level)), 1 / shape) - 1


def polyplace_noise_floor(
    steps: int, m: int, epsilon: Fraction, shape: int = DEFAULT_SHAPE
) -> float:
    """The least noise scale S/gamma, in grid steps, that any data can reach. Public.

    Given    steps = (high - low) / grid >= 1, m odd
    Source   as for Laplace noise: S >= max(1, (steps/2) e^(-gamma (m-1)/2)) on all data

    >>> polyplace_noise_floor(12500, 77, Fraction(1))
    2.0
    """
    if steps < 1 or m < 1 or m % 2 == 0:
        raise ValueError("a noise floor needs steps >= 1 and an odd number of partitions")
    gamma = float(smoothness(epsilon, shape))
    return max(1.0, steps / 2 * math.exp(-gamma * (m - 1) / 2)) / gamma


def polyplace_expected_floor(steps: int, m: int, epsilon: Fraction) -> int:
    """The least half width of the noise, in grid steps: what `policy check` may print.

    The error on real data is larger, as for Laplace noise: the true scale is private.
    """
    floor = polyplace_noise_floor(steps, m, epsilon) * polyplace_quantile(0.95)
    return min(steps, math.ceil(floor))


def polyplace_feasible(steps: int, m: int, epsilon: Fraction) -> bool:
    """As laplace_feasible."""
    return polyplace_expected_floor(steps, m, epsilon) < steps


def clipped_partitions(epsilon: Fraction, changed: int = 1) -> int:
    """The number of partitions, from public numbers only, with which the noise is 1 % of the range.

    Given    epsilon > 0; one unit changes at most `moved` partition means, over all groups
    Gives    the least odd m >= moved ln(20) / (epsilon / 100), within 17 .. 65537
    Refuses  anything else with ValueError
    Source   half width of Laplace noise, docs/design/mechanisms.md 9.1; GUPT (Mohan et al. 2012) has m from
             the number of rows, which is not public here

    >>> clipped_partitions(Fraction(1))
    301
    """
    if epsilon <= 0 or changed < 1:
        raise ValueError("partitions need epsilon > 0 and a unit that changes one at least")
    wanted = math.ceil(changed * math.log(20) / float(epsilon * NOISE_SHARE))
    return min(max(wanted | 1, FEWEST_PARTITIONS), MOST_PARTITIONS)


def clipped_half_width(
    m: int,
    low: int,
    high: int,
    epsilon: Fraction,
    changed: int = 1,
) -> int:
    """How far the noise of the answer reaches, in grid steps: public. The sampling error of the
    partitions, and the constant of the empty ones, come on top."""
    of_noise = discrete_laplace.half_width(scale(low, high, epsilon, changed), Fraction(95, 100))
    return math.ceil(Fraction(of_noise, m) + Fraction(1, 2))


def error_in_rank(
    steps: int,
    epsilon: Fraction,
    rows_per_unit: int = 1,
    level: Fraction | float = 0.95,
    q: Fraction = Fraction(1),
) -> int:
    """How many rows the answer's rank is off at most, with this probability, on a grid of so many steps that
    holds the right value; MIN and MAX aim inside as well (target_rank). q: of a quantile, whose sensitivity is
    max(q, 1-q) of that.

    Source   McSherry, Talwar 2007, theorem 6

    >>> error_in_rank(120, Fraction(1))
    16
    >>> error_in_rank(120, Fraction(1), q=Fraction(1, 2))
    8
    """
    missed = math.log((steps + 1) / float(1 - level))
    return math.ceil(2 * rows_per_unit * float(max(q, 1 - q)) / float(epsilon) * missed)
