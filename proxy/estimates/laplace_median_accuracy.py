"""How exact a median with Laplace noise can be, and its best number of partitions: of public numbers."""

from __future__ import annotations

import math
from fractions import Fraction

from proxy.mechanisms import discrete_laplace
from proxy.mechanisms.smoothed_median import (
    FEWEST_PARTITIONS,
    MOST_PARTITIONS,
    UNITS_PER_PARTITION,
    beta,
)


def partitions(epsilon: Fraction, delta: Fraction, steps: int) -> int:
    """The adopted number of partitions, from public numbers only.

    Given    steps = (high - low) / grid >= 0
    Gives    the least odd m >= (2/beta) ln(steps), within 17 .. 65537: with fewer the noise cannot
             get down to one grid step on any data; with more MIN and MAX drift from the ends
    Refuses  what beta refuses, and steps < 0
    Source   docs/design/mechanisms.md 5.2, kappa = 1

    >>> partitions(Fraction(1), Fraction(1, 10**6), 12500)
    557
    """
    if steps < 0:
        raise ValueError("the lower bound is above the upper bound")
    wanted = math.ceil(2 / beta(epsilon, delta) * math.log(max(1, steps)))
    return min(max(wanted | 1, FEWEST_PARTITIONS), MOST_PARTITIONS)


def noise_floor(steps: int, m: int, epsilon: Fraction, delta: Fraction) -> float:
    """The least noise scale, in grid steps, that any data can reach. Public, unlike the true scale.

    Given    steps = (high - low) / grid >= 1, m odd
    Gives    2 max(1, (steps/2) e^(-beta (m-1)/2)) / epsilon: one end of the range is at least
             steps/2 away from the median, and (m-1)/2 changes bring the median there
    Source   docs/design/mechanisms.md 9.2

    >>> round(noise_floor(12500, 557, Fraction(1), Fraction(1, 10**6)), 3)
    2.0
    """
    if steps < 1 or m < 1 or m % 2 == 0:
        raise ValueError("a noise floor needs steps >= 1 and an odd number of partitions")
    least_sensitivity = steps / 2 * math.exp(-beta(epsilon, delta) * (m - 1) / 2)
    return 2 * max(1.0, least_sensitivity) / float(epsilon)


def expected_floor(
    steps: int, m: int, epsilon: Fraction, delta: Fraction, level: Fraction | float = 0.95
) -> int:
    """The least half width of the noise, in grid steps: what `policy check` may print.

    The error on real data is larger: the true scale depends on the data and is private, and the
    median of partition results is itself off by a sampling error.
    """
    floor = Fraction(noise_floor(steps, m, epsilon, delta))
    return min(steps, discrete_laplace.half_width(floor, level))


def feasible(
    steps: int, m: int, epsilon: Fraction, delta: Fraction, units: int | None = None
) -> bool:
    """Whether an answer can be more than one end of the bounds, judged by public numbers only.

    Given    units: the publicly expected number of privacy units, or None when unknown
    Gives    False where even the least noise covers the whole range at 95 %, or where a partition
             has fewer than 4 units on average
    """
    drowned = expected_floor(steps, m, epsilon, delta) >= steps
    starved = units is not None and units < UNITS_PER_PARTITION * m
    return not drowned and not starved
