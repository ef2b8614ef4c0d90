"""Zero-concentrated differential privacy: rho adds up, and (epsilon, delta) converts to it.

rho is a Fraction everywhere. Where a conversion meets a logarithm it takes the rational bound on
the side of more privacy; the order alpha of a conversion may be any number, so a float's choice of
it costs a little accuracy and never privacy. Proofs: PROOFS.md, "zCDP".
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction

from proxy.mechanisms import discrete_gaussian
from proxy.mechanisms.real_bounds import log_bounds, root_bounds, short_below

_LEAST_DELTA = Fraction(1, 10**300)


def rho_of_loss(epsilon: Fraction, delta: Fraction) -> Fraction:
    """What rho may be spent where (epsilon, delta) is allowed, rounded down to 15 digits.

    Given    epsilon > 0, 10^-300 <= delta < 1
    Gives    the largest rho of the conversions below: Renyi orders, or the textbook's formula
    Refuses  anything else with ValueError: delta = 0 allows no Gaussian noise at all
    Source   Canonne, Kamath, Steinke 2020, corollary 13, solved for rho at each order alpha

    >>> float(rho_of_loss(Fraction(1), Fraction(1, 10**6)))  # doctest: +ELLIPSIS
    0.02435...
    """
    _check(epsilon, delta)
    textbook = textbook_rho_of_loss(epsilon, delta)

    def negated(log_excess: float) -> float:
        alpha = 1 + math.exp(log_excess)
        return -_float_slack(float(epsilon), float(delta), alpha) / alpha

    above_one = _rational(math.exp(_minimised(negated)))
    log_delta, _ = log_bounds(delta)
    spent = -log_delta - _order_gain_below(above_one)
    tight = (epsilon - spent / above_one) / (1 + above_one)
    return max(textbook, short_below(tight)) if tight > 0 else textbook


def textbook_rho_of_loss(epsilon: Fraction, delta: Fraction) -> Fraction:
    """The rho with rho + 2 sqrt(rho ln(1/delta)) <= epsilon, rounded down.

    Source   Bun, Steinke 2016, proposition 1.3, solved: (sqrt(epsilon + L) - sqrt(L))^2

    >>> float(textbook_rho_of_loss(Fraction(1), Fraction(1, 10**6)))  # doctest: +ELLIPSIS
    0.01746...
    """
    _check(epsilon, delta)
    # epsilon / (sqrt(epsilon + L) + sqrt(L)) is the same root without a difference of equals.
    largest_log = -log_bounds(delta)[0]
    root = epsilon / (root_bounds(epsilon + largest_log)[1] + root_bounds(largest_log)[1])
    return short_below(root * root)


def gaussian_pays(
    groups: int, epsilon: Fraction, delta: Fraction, group_sensitivity: int | Fraction = 1
) -> bool:
    """Whether Gaussian noise is smaller than Laplace noise when a unit is in up to G groups.

    A choice between two mechanisms that are both private, by public numbers: floats will do.

    Given    groups = G >= 1, each of them moved by up to group_sensitivity by one unit
    Gives    whether sd of sigma2 = G D^2 / (2 rho) is below that of scale G D / epsilon
    Source   docs/design/mechanisms.md 3.2. With the textbook's conversion G >= 15 at epsilon 1 and delta 1e-6;
             with the tight one that is used here G >= 11

    >>> [gaussian_pays(g, Fraction(1), Fraction(1, 10**6)) for g in (1, 10, 11)]
    [False, False, True]
    """
    if groups < 1 or group_sensitivity <= 0:
        raise ValueError("a unit is in at least one group and changes it")
    if delta == 0:
        return False
    rho = rho_of_loss(epsilon, delta)
    sigma2 = discrete_gaussian.sigma2_for(groups * Fraction(group_sensitivity) ** 2, rho)
    half_rate = float(epsilon / (2 * groups * group_sensitivity))  # 1 / (2 scale)
    if half_rate > 300:
        return False  # Laplace noise is 0 but for one draw in e^600
    laplace = 1 / (2 * math.sinh(half_rate) ** 2)
    return discrete_gaussian.variance(sigma2) < laplace


def _check(epsilon: Fraction, delta: Fraction) -> None:
    if epsilon <= 0:
        raise ValueError("epsilon must be above 0")
    if not _LEAST_DELTA <= delta < 1:
        raise ValueError("zCDP converts to a delta of 10^-300 .. 1 only; delta 0 needs Laplace")


def _order_gain_below(above_one: Fraction) -> Fraction:
    """A lower bound of ln(alpha-1) + alpha ln(alpha/(alpha-1)), alpha = 1 + above_one."""
    return log_bounds(above_one)[0] + (1 + above_one) * log_bounds(1 + 1 / above_one)[0]


def _float_slack(epsilon: float, delta: float, alpha: float) -> float:
    gain = math.log(alpha - 1) + alpha * math.log1p(1 / (alpha - 1))
    return epsilon + (math.log(delta) + gain) / (alpha - 1)


def _minimised(function: Callable[[float], float]) -> float:
    """Golden-section search over ln(alpha - 1): whatever it finds, the bounds stay true."""
    low, high = -20.0, 30.0
    ratio = (math.sqrt(5) - 1) / 2
    for _ in range(100):
        left, right = high - ratio * (high - low), low + ratio * (high - low)
        if function(left) <= function(right):
            high = right
        else:
            low = left
    return (low + high) / 2


def _rational(value: float) -> Fraction:
    """A nearby fraction with a short denominator."""
    exponent = math.frexp(value)[1]
    unit = Fraction(2) ** (exponent - 30)
    return round(Fraction(value) / unit) * unit
