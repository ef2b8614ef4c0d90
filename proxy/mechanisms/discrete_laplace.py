"""Discrete Laplace noise on the integers: P(k) = (1-p)/(1+p) p^|k|, p = e^(-1/scale).

Everything is rational: no float takes part in a draw, so the law is exactly the one of the proof
(Mironov 2012 shows what floats do to the continuous one). Proof: PROOFS.md, "Discrete Laplace".
"""

from __future__ import annotations

import math
from fractions import Fraction

from proxy.mechanisms.bernoulli import bernoulli_exp_ratio
from proxy.mechanisms.bits import RandomBits


def scale_for(sensitivity: int | Fraction, epsilon: Fraction) -> Fraction:
    """The scale that makes integer results of this L1 sensitivity epsilon-DP.

    Given    sensitivity > 0 in grid steps, epsilon > 0
    Gives    sensitivity / epsilon, exact
    Refuses  anything else with ValueError: sensitivity 0 means that the result is public
    Source   Ghosh, Roughgarden, Sundararajan 2009; PROOFS.md

    >>> scale_for(3, Fraction(1, 2))
    Fraction(6, 1)
    """
    if sensitivity <= 0 or epsilon <= 0:
        raise ValueError("a noise scale needs sensitivity > 0 and epsilon > 0")
    return Fraction(sensitivity) / epsilon


def sample(bits: RandomBits, scale: Fraction) -> int:
    """One draw of discrete Laplace noise, exact.

    Given    scale > 0
    Gives    an integer k with probability proportional to e^(-|k|/scale)
    Refuses  scale <= 0 with ValueError: no noise is never an answer
    Source   Canonne, Kamath, Steinke 2020, algorithm 2
    """
    numerator, denominator = scale.numerator, scale.denominator
    if numerator <= 0:
        raise ValueError("noise of scale 0 protects no one")
    while True:
        # magnitude * denominator + remainder is geometric with ratio e^(-1/numerator), drawn as a
        # remainder below the numerator and a number of whole numerators.
        remainder = bits.below(numerator)
        if not bernoulli_exp_ratio(bits, remainder, numerator):
            continue
        wholes = 0
        while bernoulli_exp_ratio(bits, 1, 1):
            wholes += 1
        magnitude = (remainder + numerator * wholes) // denominator
        negative = bits.below(2) == 1
        if negative and magnitude == 0:
            continue  # else zero would count twice
        return -magnitude if negative else magnitude


def half_width(scale: Fraction, level: Fraction | float = 0.95) -> int:
    """How far the noise reaches: the least t >= 0 with P(|noise| > t) <= 1 - level.

    Given    scale > 0, 0 < level < 1
    Refuses  anything else with ValueError
    Source   P(|noise| > t) = 2 p^(t+1)/(1+p), solved for t; docs/design/mechanisms.md 9.1

    >>> half_width(Fraction(10))
    30
    """
    if scale.numerator <= 0 or not 0 < level < 1:
        raise ValueError("an interval needs scale > 0 and 0 < level < 1")
    b = scale.numerator / scale.denominator
    miss = float(1 - level)
    p = math.exp(-1 / b)
    return max(0, math.ceil(-b * math.log(miss * (1 + p) / 2)) - 1)
