"""From rho to (epsilon, delta): the way back of `zcdp.rho_of_loss`, which is held against it.

The product spends by rho, and converts nothing back. Searched and
bounded here on its own, so that a fault of the product's conversion is not one of this one.
"""

from __future__ import annotations

import math
from fractions import Fraction

from proxy.mechanisms.loss import Loss
from proxy.mechanisms.real_bounds import log_bounds, root_bounds

_UNIT = 10**15
_LEAST_DELTA = Fraction(1, 10**300)
_ORDERS = (-20.0, 30.0)  # ln(alpha - 1)
_RATIO = (math.sqrt(5) - 1) / 2


def loss_of_rho(rho: Fraction, delta: Fraction) -> Loss:
    """An (epsilon, delta) that rho-zCDP implies, epsilon rounded up to 15 places.

    Given    rho >= 0, 10^-300 <= delta < 1
    Gives    the least epsilon of both conversions; 0 for rho 0
    Refuses  anything else with ValueError
    Source   Canonne, Kamath, Steinke 2020, corollary 13; Bun, Steinke 2016, proposition 1.3

    >>> float(loss_of_rho(Fraction(1, 50), Fraction(1, 10**6)).epsilon)  # doctest: +ELLIPSIS
    0.89993...
    """
    if not _LEAST_DELTA <= delta < 1:
        raise ValueError("delta is 10^-300 .. 1")
    if rho < 0:
        raise ValueError("rho is at least 0")
    if rho == 0:
        return Loss(Fraction(0), delta)
    log_delta = log_bounds(delta)[0]
    textbook = rho + 2 * root_bounds(-rho * log_delta)[1]
    order = Fraction(math.exp(_best_order(float(rho), float(delta)))).limit_denominator(2**60)
    # A lower bound of ln(alpha - 1) + alpha ln(alpha / (alpha - 1)), of alpha = 1 + order.
    gain = log_bounds(order)[0] + (1 + order) * log_bounds(1 + 1 / order)[0]
    tight = rho * (1 + order) + (-log_delta - gain) / order
    above = Fraction(math.ceil(max(min(textbook, tight), Fraction(0)) * _UNIT), _UNIT)
    return Loss(above, delta)


def _best_order(rho: float, delta: float) -> float:
    """Golden-section search over ln(alpha - 1): the bounds hold at whatever it finds."""
    low, high = _ORDERS
    for _ in range(100):
        left, right = high - _RATIO * (high - low), low + _RATIO * (high - low)
        if _epsilon_at(left, rho, delta) <= _epsilon_at(right, rho, delta):
            high = right
        else:
            low = left
    return (low + high) / 2


def _epsilon_at(log_excess: float, rho: float, delta: float) -> float:
    order = math.exp(log_excess)
    gain = log_excess + (1 + order) * math.log1p(1 / order)
    return rho * (1 + order) - (math.log(delta) + gain) / order
