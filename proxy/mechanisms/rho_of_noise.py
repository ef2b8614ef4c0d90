"""What a release costs under zCDP: rho of each kind of noise, as a rational that is never below it.

rho follows from the noise alone: steps and scale of discrete Laplace noise, steps and sigma2 of the discrete
Gaussian, epsilon of anything else. Proofs: PROOFS.md 24.
"""

from __future__ import annotations

import math
from fractions import Fraction
from functools import lru_cache

from proxy.mechanisms.real_bounds import DIGITS, exp_bounds

RHO_DECIMALS = 30
_ALL = 1000  # from this epsilon on rho is epsilon, but for one part in e^1000


@lru_cache(maxsize=4096)
def rho_of_pure(epsilon: Fraction) -> Fraction:
    """Of any epsilon-DP mechanism: epsilon tanh(epsilon/2), what randomised response has.

    Given    epsilon >= 0
    Gives    a bound in steps of 10^-30, never below; under epsilon^2/2 and under epsilon but for a step
    Refuses  epsilon < 0 with ValueError

    >>> float(rho_of_pure(Fraction(1))), float(rho_of_pure(Fraction(1, 10)))
    (0.46211715726000974, 0.004995837495787997)
    """
    if epsilon < 0:
        raise ValueError("epsilon is at least 0")
    if epsilon >= _ALL:
        return _up(epsilon)
    highest = exp_bounds(epsilon)[1]
    return _up(epsilon * (highest - 1) / (highest + 1))


@lru_cache(maxsize=4096)
def rho_of_laplace(steps: int, scale: Fraction) -> Fraction:
    """Of discrete Laplace noise on whole numbers that one unit moves by at most `steps` in all.

    It is the law on the integers that is priced, not the continuous one: a count at epsilon 1 has 0.462, where
    epsilon + e^-epsilon - 1 would say 0.368.

    Given    steps >= 1, scale > 0
    Gives    (D - (1 - p^D) / sinh(1/s)) / s for D steps, p = e^(-1/s), in steps of 10^-30, never below
    Refuses  anything else with ValueError
    Source   PROOFS.md 24; Harrison, Manurangsi 2026

    >>> float(rho_of_laplace(1, Fraction(1))), float(rho_of_laplace(40, Fraction(40)))
    (0.46211715726000974, 0.36794528226204043)
    """
    if steps < 1 or scale <= 0:
        raise ValueError("noise has a scale above 0, and somebody moves the result")
    epsilon = steps / scale
    if epsilon >= _ALL or 1 / scale >= _ALL:
        return _up(epsilon)
    # 1 - p^D and sinh are differences: as many more digits as these lose.
    digits = DIGITS + 3 * len(str(math.ceil(scale))) + 2 * len(str(math.ceil(1 / epsilon)))
    lowest_fall = 1 - exp_bounds(-epsilon, digits)[1]
    one_step = 1 / scale
    highest_sinh = (exp_bounds(one_step, digits)[1] - exp_bounds(-one_step, digits)[0]) / 2
    return _up((steps - lowest_fall / highest_sinh) / scale)


def rho_of_gaussian(squared: Fraction, sigma2: Fraction) -> Fraction:
    """Of discrete Gaussian noise on whole numbers that one unit moves by a vector of this squared length.

    Refuses  anything not above 0, with ValueError
    Source   Canonne, Kamath, Steinke 2020, theorem 4

    >>> rho_of_gaussian(Fraction(4), Fraction(8))
    Fraction(1, 4)
    """
    if squared <= 0 or sigma2 <= 0:
        raise ValueError("noise has a variance above 0, and somebody moves the result")
    return _up(squared / (2 * sigma2))


def _up(rho: Fraction) -> Fraction:
    return Fraction(math.ceil(rho * 10**RHO_DECIMALS), 10**RHO_DECIMALS)
