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
    clamped = sorted(outputs)
    if clamped[0] < low or clamped[-1] > high:
        clamped = [min(max(output, low), high) for output in clamped]
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
