"""Which factor makes least noise of a series, and how much noise is in what is shown of it.

Floats, and public numbers alone: whatever they say, the noise is drawn by the factor that the plan has.
Formulas: PROOFS.md 33.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from fractions import Fraction
from functools import lru_cache

from proxy.mechanisms.continual import LARGEST_STEPS, factor_of, squared_sensitivity

_EXPONENTS = range(5)  # in eighths
_NEAR = 1.1  # times the least mean square


@lru_cache(maxsize=64)
def best_factor(steps: int, most_steps: int) -> tuple[int, ...]:
    """The factor whose running totals have the least noise on average, by public numbers.

    Where a unit is in many steps this is independent noise, whose steps are added up.

    >>> best_factor(365, 365) == factor_of(365, 0), best_factor(365, 1) == factor_of(365, 4)
    (True, True)
    """
    losses = _losses(steps, most_steps, lambda factor: math.fsum(_total_variances(factor)))
    return min(losses, key=lambda factor: losses[factor])


@lru_cache(maxsize=64)
def best_range_factor(steps: int, most_steps: int) -> tuple[int, ...]:
    """The factor whose sums of steps in a row have little noise, over all of them, by public numbers.

    Of those whose mean square is near the least, the one with the least noise of a single step.

    >>> best_range_factor(365, 1) == factor_of(365, 3), best_range_factor(365, 7) == factor_of(365, 2)
    (True, True)
    """
    losses = _losses(steps, most_steps, _mean_range_variance)
    most = min(losses.values()) * _NEAR
    return next(factor for factor, loss in losses.items() if loss <= most)


def _losses(
    steps: int, most_steps: int, variance: Callable[[tuple[int, ...]], float]
) -> dict[tuple[int, ...], float]:
    """Of each factor, from independent noise on, what a sum has at the same price."""
    if not 2 <= steps <= LARGEST_STEPS or not 1 <= most_steps <= steps:
        raise ValueError("no series")
    factors = [factor_of(steps, eighths) for eighths in _EXPONENTS]
    return {one: squared_sensitivity(one, most_steps, 1) * variance(one) for one in factors}


def _mean_range_variance(factor: tuple[int, ...]) -> float:
    """Of all sums of steps in a row, for z of variance 1. With W_0 = 0, the squares of W_j - W_i over all i < j
    add up to (steps + 1) times the squares of W_i, without the square of their sum."""
    weights = _summed(_inverse(factor))
    steps = len(weights)
    squares = (steps + 1) * math.fsum(_total_variances(factor))
    return (squares - math.fsum(one**2 for one in _summed(weights))) / (steps * (steps + 1) / 2)


def range_sigma2(factor: tuple[int, ...], sigma2: Fraction, begin: int, end: int) -> Fraction:
    """About the variance of the noise of the sum of the steps from `begin` on, before `end`. For display.

    It is that of W_end - W_begin, whose large parts cancel: less than the steps have together.

    >>> range_sigma2(factor_of(9, 0), Fraction(2**32), 2, 6) - Fraction(1, 6)  # four independent steps
    Fraction(4, 1)
    """
    weights = _summed(_inverse(factor))
    length = end - begin
    own = math.fsum(one**2 for one in weights[:length])
    pairs = zip(weights[:begin], weights[length:], strict=False)
    earlier = math.fsum((late - early) ** 2 for early, late in pairs)
    return _short(float(sigma2) * (own + earlier)) + Fraction(1, 6)


@lru_cache(maxsize=64)
def step_sigma2(factor: tuple[int, ...], sigma2: Fraction) -> Fraction:
    """About the variance of a single step's noise, of the last step, which has most. For display."""
    inverse = _inverse(factor)
    return _short(float(sigma2) * math.fsum(one**2 for one in inverse)) + Fraction(1, 6)


@lru_cache(maxsize=64)
def largest_sum_sigma2(factor: tuple[int, ...], sigma2: Fraction) -> Fraction:
    """About the variance of the noise of any sum of steps in a row: that of the worst one. For display."""
    weights = _summed(_inverse(factor))
    steps = len(weights)
    worst = 0.0
    for length in range(1, steps + 1):
        own = math.fsum(one**2 for one in weights[:length])
        pairs = zip(weights, weights[length:], strict=False)
        worst = max(worst, own + math.fsum((late - early) ** 2 for early, late in pairs))
    return _short(float(sigma2) * worst) + Fraction(1, 6)


@lru_cache(maxsize=64)
def total_sigma2(factor: tuple[int, ...], sigma2: Fraction) -> Fraction:
    """About the variance of the noise of the running total after the last step. For display."""
    return _short(float(sigma2) * _total_variances(factor)[-1]) + Fraction(1, 12)


def _total_variances(factor: tuple[int, ...]) -> list[float]:
    """Of the running total after each step, for z of variance 1."""
    return _summed([one**2 for one in _summed(_inverse(factor))])


def _summed(values: Sequence[float]) -> list[float]:
    total, found = 0.0, []
    for one in values:
        total += one
        found.append(total)
    return found


@lru_cache(maxsize=64)
def _inverse(factor: tuple[int, ...]) -> tuple[float, ...]:
    """The first column of R^-1."""
    found: list[float] = []
    for step in range(len(factor)):
        earlier = math.fsum(factor[step - at] * one for at, one in enumerate(found))
        found.append(((step == 0) - earlier) / factor[0])
    return tuple(found)


def _short(value: float) -> Fraction:
    """A fraction of few digits, rounded up: it stands in plans."""
    return Fraction(math.ceil(value * 1024), 1024)
