"""E / n, reported in advance, holds what means and variances are off by: at the worst data, in draws."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

import pytest

from proxy.estimates import (
    ratio_mean_estimate,
    recentred_mean_estimate,
    sampling_accuracy,
    sum_over_count,
    variance,
)
from proxy.mechanisms import order_statistic, ratio_mean
from tests.seeded_bits import SeededBits

_LOW, _HIGH, _ROWS, _DRAWS = -20, 100, 200_000, 200
_WIDTH = _HIGH - _LOW
_ONE = Fraction(1)
# 10 misses of 200 are expected at the very most; 21 have probability 1e-3.
_MISSES = 20


def _ratio(total: int, squares: int, bits: SeededBits) -> Fraction:
    noise = ratio_mean.scales(_LOW, _HIGH, _ONE, 2)
    centred = ratio_mean_estimate.centred(total, _ROWS, _LOW, _HIGH)
    return ratio_mean_estimate.mean(ratio_mean.noisy(centred, _ROWS, noise, bits), _LOW, _HIGH)


def _plain(total: int, squares: int, bits: SeededBits) -> Fraction:
    return sum_over_count.release(total, _ROWS, _LOW, _HIGH, _ONE, bits, 2)


def _recentred(total: int, squares: int, bits: SeededBits) -> Fraction:
    centred = ratio_mean_estimate.centred(total, _ROWS, _LOW, _HIGH)
    return recentred_mean_estimate.release(centred, _ROWS, _LOW, _HIGH, _ONE, bits, 2).value


def _spread(total: int, squares: int, bits: SeededBits) -> Fraction:
    moments = variance.release(squares, total, _ROWS, _LOW, _HIGH, _ONE, bits, 2)
    return variance.population(moments, _LOW, _HIGH)


_ERRORS: dict[Callable[[int, int, SeededBits], Fraction], Fraction] = {
    _ratio: ratio_mean_estimate.error_times_rows(
        ratio_mean.scales(_LOW, _HIGH, _ONE, 2), _LOW, _HIGH
    ),
    _plain: sum_over_count.error_times_rows(
        sum_over_count.scales(_LOW, _HIGH, _ONE, 2), _LOW, _HIGH
    ),
    _recentred: recentred_mean_estimate.error_times_rows(_LOW, _HIGH, _ONE, 2),
    _spread: variance.error_times_rows(variance.scales(_LOW, _HIGH, _ONE, 2), _LOW, _HIGH),
}


@pytest.mark.parametrize("share", [Fraction(0), Fraction(1, 10), Fraction(1, 2), Fraction(1)])
@pytest.mark.parametrize("released", _ERRORS, ids=lambda released: released.__name__)
def test_it_holds(released: Callable[[int, int, SeededBits], Fraction], share: Fraction) -> None:
    """Values at the ends of the bounds only, which have the farthest means and the largest variances."""
    tops = int(share * _ROWS)
    total = tops * _HIGH + (_ROWS - tops) * _LOW
    squares = tops * _HIGH**2 + (_ROWS - tops) * _LOW**2
    mean = Fraction(total, _ROWS)
    exact = Fraction(squares, _ROWS) - mean**2 if released is _spread else mean
    allowed = Fraction(101, 100) * _ERRORS[released] / _ROWS  # first order
    bits = SeededBits(7)
    misses = sum(abs(released(total, squares, bits) - exact) > allowed for _ in range(_DRAWS))
    assert misses <= _MISSES


def test_it_is_no_looser_than_needed() -> None:
    """In the middle of the bounds the noise is half as large: e^-0.75 of the draws are beyond an eighth."""
    allowed = _ERRORS[_recentred] / _ROWS / 8
    bits = SeededBits(8)
    total = (_ROWS // 2) * (_HIGH + _LOW)
    beyond = sum(
        abs(_recentred(total, 0, bits) - Fraction(_HIGH + _LOW, 2)) > allowed for _ in range(_DRAWS)
    )
    assert beyond > _DRAWS // 3


def test_an_error_in_rank_holds() -> None:
    """Quantiles of one row per grid step: values are ranks."""
    steps, epsilon = 1000, Fraction(1)
    values = [order_statistic.ValueCount(value, 1) for value in range(steps + 1)]
    allowed = sampling_accuracy.error_in_rank(steps, epsilon)
    bits = SeededBits(9)
    half = Fraction(1, 2)
    found = [order_statistic.quantile(values, half, 0, steps, epsilon, bits) for _ in range(_DRAWS)]
    assert sum(abs(value - steps // 2) > allowed for value in found) <= _MISSES
