"""Discrete Gaussian noise on the integers: P(k) proportional to e^(-k^2 / (2 sigma2)).

Everything is rational, as for discrete Laplace: no float takes part in a draw.
Proof: PROOFS.md, "Discrete Gaussian".
"""

from __future__ import annotations

import math
from fractions import Fraction
from statistics import NormalDist

from proxy.mechanisms import discrete_laplace
from proxy.mechanisms.bernoulli import bernoulli_exp
from proxy.mechanisms.bits import RandomBits

# Up to here the tail is summed term by term; beyond, it is the normal tail at half a step.
_SUMMED = 1024


def sigma2_for(l2_sensitivity2: int | Fraction, rho: Fraction) -> Fraction:
    """The sigma^2 that makes a list of integer results of this L2 sensitivity rho-zCDP.

    Given    l2_sensitivity2 > 0: the *square* of the L2 sensitivity of the whole list, in grid
             steps; G cells that each move by up to D give G D^2.  rho > 0
    Gives    l2_sensitivity2 / (2 rho), exact
    Refuses  anything else with ValueError
    Source   Canonne, Kamath, Steinke 2020, theorem 4 and its corollary for lists

    >>> sigma2_for(12, Fraction(1, 50))
    Fraction(300, 1)
    """
    if l2_sensitivity2 <= 0 or rho <= 0:
        raise ValueError("Gaussian noise needs sensitivity > 0 and rho > 0")
    return Fraction(l2_sensitivity2) / (2 * rho)


def sample(bits: RandomBits, sigma2: Fraction) -> int:
    """One draw of discrete Gaussian noise, exact.

    Given    sigma2 > 0
    Gives    an integer k with probability proportional to e^(-k^2 / (2 sigma2))
    Refuses  sigma2 <= 0 with ValueError: no noise is never an answer
    Source   Canonne, Kamath, Steinke 2020, algorithm 3
    """
    if sigma2 <= 0:
        raise ValueError("noise of variance 0 protects no one")
    t = math.isqrt(sigma2.numerator // sigma2.denominator) + 1  # floor(sigma) + 1
    while True:
        candidate = discrete_laplace.sample(bits, Fraction(t))
        excess = abs(candidate) - sigma2 / t
        if bernoulli_exp(bits, excess * excess / (2 * sigma2)):
            return candidate


def half_width(sigma2: Fraction, level: Fraction | float = 0.95) -> int:
    """How far the noise reaches: the least t >= 0 with P(|noise| > t) <= 1 - level.

    A float's work, for display: it may be one too low or high where the two sides are equal to
    within rounding.

    Given    sigma2 > 0, 0 < level < 1
    Refuses  anything else with ValueError
    Source   the sum itself up to sigma 1024, then the midpoint rule for the normal tail

    >>> half_width(Fraction(100))
    20
    """
    if sigma2 <= 0 or not 0 < level < 1:
        raise ValueError("an interval needs sigma2 > 0 and 0 < level < 1")
    miss = float(1 - level)
    sigma = math.sqrt(sigma2)
    if sigma > _SUMMED:
        return max(0, math.ceil(-sigma * NormalDist().inv_cdf(miss / 2) - 0.5))
    return _summed_half_width(float(sigma2), miss)


def variance(sigma2: Fraction) -> float:
    """The noise's variance: below sigma2 for small sigma2, the same for all that matter.

    For display and for choosing between mechanisms, by public numbers only.
    """
    if sigma2 > 16:
        return float(sigma2)  # the difference is below e^(-2 pi^2 16)
    weights = _weights(float(sigma2))
    total = weights[0] + 2 * math.fsum(weights[1:])
    return 2 * math.fsum(k * k * weight for k, weight in enumerate(weights)) / total


def _summed_half_width(sigma2: float, miss: float) -> int:
    weights = _weights(sigma2)
    beyond = miss * (weights[0] + 2 * math.fsum(weights[1:])) / 2
    # Walk inwards while what lies further out is still too little to matter.
    tail = 0.0
    for k in range(len(weights) - 1, 0, -1):
        tail += weights[k]
        if tail > beyond:
            return k
    return 0


def _weights(sigma2: float) -> list[float]:
    """e^(-k^2 / (2 sigma2)) for k = 0, 1, .. until it is 0 as a float."""
    last = math.isqrt(math.ceil(2 * sigma2 * 745)) + 2
    return [math.exp(-k * k / (2 * sigma2)) for k in range(last + 1)]
