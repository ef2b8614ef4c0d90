"""How exact a median with PolyPlace noise can be, and its best number of partitions: of public numbers."""

from __future__ import annotations

import math
from fractions import Fraction

from proxy.mechanisms.polyplace import (
    DEFAULT_SHAPE,
    KAPPA_OF_MEANS,
    constants,
    core_mass,
    smoothness,
    tail_factor,
)
from proxy.mechanisms.smoothed_median import FEWEST_PARTITIONS, MOST_PARTITIONS, UNITS_PER_PARTITION


def partitions(
    epsilon: Fraction, steps: int, kappa: int = KAPPA_OF_MEANS, shape: int = DEFAULT_SHAPE
) -> int:
    """The adopted number of partitions, from public numbers only.

    Given    steps = (high - low) / grid >= 0; kappa: 1 for MIN and MAX, 2 for AVG
    Gives    the least odd m >= kappa (2c/epsilon) ln(steps), within 17 .. 65537
    Refuses  what smoothness refuses, kappa < 1 and steps < 0
    Source   docs/design/mechanisms.md 5.2

    >>> partitions(Fraction(1), 12500)
    77
    """
    if steps < 0:
        raise ValueError("the lower bound is above the upper bound")
    if kappa < 1:
        raise ValueError("kappa is at least 1: with fewer partitions the noise cannot get small")
    wanted = math.ceil(kappa * 2 / float(smoothness(epsilon, shape)) * math.log(max(1, steps)))
    return min(max(wanted | 1, FEWEST_PARTITIONS), MOST_PARTITIONS)


def quantile(level: Fraction | float, shape: int = DEFAULT_SHAPE) -> float:
    """The t with P(|Z| <= t) = level: a float, for display.

    >>> round(quantile(0.5), 12), round(2 * quantile(0.95), 2)
    (0.5, 7.49)
    """
    if not 0 <= level < 1:
        raise ValueError("a quantile needs 0 <= level < 1")
    normaliser, _, _ = constants(shape)
    u = float(level)
    if u <= float(core_mass(shape)):
        return 1 - math.pow(1 - u * float(normaliser) * shape, 1 / shape)
    return math.pow(tail_factor(shape) / (1 - Fraction(level)), 1 / shape) - 1


def noise_floor(steps: int, m: int, epsilon: Fraction, shape: int = DEFAULT_SHAPE) -> float:
    """The least noise scale S/gamma, in grid steps, that any data can reach. Public.

    Given    steps = (high - low) / grid >= 1, m odd
    Source   as for Laplace noise: S >= max(1, (steps/2) e^(-gamma (m-1)/2)) on all data

    >>> noise_floor(12500, 77, Fraction(1))
    2.0
    """
    if steps < 1 or m < 1 or m % 2 == 0:
        raise ValueError("a noise floor needs steps >= 1 and an odd number of partitions")
    gamma = float(smoothness(epsilon, shape))
    return max(1.0, steps / 2 * math.exp(-gamma * (m - 1) / 2)) / gamma


def expected_floor(
    steps: int,
    m: int,
    epsilon: Fraction,
    shape: int = DEFAULT_SHAPE,
    level: Fraction | float = 0.95,
) -> int:
    """The least half width of the noise, in grid steps: what `policy check` may print.

    The error on real data is larger, as for Laplace noise: the true scale is private.
    """
    return min(steps, math.ceil(noise_floor(steps, m, epsilon, shape) * quantile(level, shape)))


def feasible(
    steps: int,
    m: int,
    epsilon: Fraction,
    shape: int = DEFAULT_SHAPE,
    units: int | None = None,
) -> bool:
    """Whether an answer can be more than one end of the bounds, judged by public numbers only.

    Given    units: the publicly expected number of privacy units, or None when unknown
    """
    drowned = expected_floor(steps, m, epsilon, shape) >= steps
    starved = units is not None and units < UNITS_PER_PARTITION * m
    return not drowned and not starved
