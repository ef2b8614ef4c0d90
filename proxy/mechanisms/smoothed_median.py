"""Sample and aggregate: the median of m partition outputs, with noise to its smooth sensitivity.

One privacy unit changes at most one of the m outputs (the compiler's duty), so neighbouring
databases give lists of m that differ in one place. Everything is in integer grid indices.
Theorem and proof: PROOFS.md, "Smoothed median".
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction

from proxy.mechanisms import discrete_laplace
from proxy.mechanisms.bits import RandomBits
from proxy.mechanisms.smooth_sensitivity import smooth_sensitivity

FEWEST_PARTITIONS = 17
MOST_PARTITIONS = 65537
UNITS_PER_PARTITION = 4  # with fewer, most outputs are the public fill or one person's value

# The theorem needs delta <= 2/e = 0.73575...; below 2^-1000 the logarithm's argument overflows.
LARGEST_DELTA = Fraction(73575, 100000)
SMALLEST_DELTA = Fraction(1, 2**1000)


def beta(epsilon: Fraction, delta: Fraction) -> float:
    """The smoothness that Laplace noise of scale 2 S/epsilon tolerates.

    Given    epsilon > 0, 2^-1000 <= delta <= 2/e
    Gives    ln(1 + epsilon / (2 ln(2/delta))), rounded down
    Refuses  anything else with ValueError: delta = 0 allows no Laplace noise at all
    Source   PROOFS.md; Nissim, Raskhodnikova, Smith 2007, lemma 2.9, without the logarithm, is
             for epsilon < 1 only

    >>> round(beta(Fraction(1), Fraction(1, 10**6)), 4)
    0.0339
    """
    if epsilon <= 0:
        raise ValueError("epsilon must be above 0")
    if not SMALLEST_DELTA <= delta <= LARGEST_DELTA:
        raise ValueError("the smoothed median with Laplace noise needs 2^-1000 <= delta <= 0.73575")
    exact_to_a_few_ulp = math.log1p(float(epsilon) / (2 * math.log(float(2 / delta))))
    return exact_to_a_few_ulp * (1 - 2.0**-48)


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


def noise_scale(sensitivity: float, epsilon: Fraction) -> Fraction:
    """2 S/epsilon: half of epsilon pays for the shift of the median, half for the change of S."""
    return 2 * Fraction(sensitivity) / epsilon


def private_law(
    outputs: Sequence[int], low: int, high: int, epsilon: Fraction, delta: Fraction
) -> tuple[int, Fraction]:
    """The exact median and the scale of its noise. Both are secret: only `release` is private.

    Given    an odd number of outputs, low < high
    Refuses  an even number with ValueError: the lower median has another smooth sensitivity
    """
    m = len(outputs)
    if m % 2 == 0:
        raise ValueError("the smoothed median needs an odd number of partitions")
    clamped = sorted(min(max(output, low), high) for output in outputs)
    rank = (m + 1) // 2
    sensitivity = smooth_sensitivity(clamped, rank, low, high, beta(epsilon, delta))
    return clamped[rank - 1], noise_scale(sensitivity, epsilon)


def release(
    outputs: Sequence[int],
    low: int,
    high: int,
    epsilon: Fraction,
    delta: Fraction,
    bits: RandomBits,
) -> int:
    """The (epsilon, delta)-DP median of partition outputs, in low .. high.

    Given    outputs of a fixed, public, odd number of partitions, as grid indices; empty partitions
             filled with a public constant; neighbours differ in one output
    Gives    median + discrete Laplace noise of scale 2 S/epsilon, clamped (post-processing)
    Refuses  an even number of outputs, low > high, and what beta refuses, with ValueError
    Source   PROOFS.md, "Smoothed median"
    """
    if low == high and len(outputs) % 2 == 1:
        return low  # the bounds are public and leave one answer
    centre, scale = private_law(outputs, low, high, epsilon, delta)
    return min(max(centre + discrete_laplace.sample(bits, scale), low), high)


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
