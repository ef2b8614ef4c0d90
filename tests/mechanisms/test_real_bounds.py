"""Rational bounds of e^x, ln x and roots hold the number itself, computed in 200 digits."""

from __future__ import annotations

from decimal import Decimal, localcontext
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proxy.mechanisms.real_bounds import exp_bounds, log_bounds, root_bounds, short_below

rationals = st.fractions(-1000, 1000, max_denominator=10**30)
positive = st.fractions(Fraction(1, 10**40), 10**12)


def _within(low: Fraction, exact: Decimal, high: Fraction) -> bool:
    return _decimal(low) <= exact <= _decimal(high)


def _decimal(value: Fraction) -> Decimal:
    return Decimal(value.numerator) / Decimal(value.denominator)


@given(x=rationals, digits=st.sampled_from([20, 60]))
def test_exp_is_enclosed(x: Fraction, digits: int) -> None:
    low, high = exp_bounds(x, digits)
    with localcontext() as context:
        context.prec = 200
        assert _within(low, _decimal(x).exp(), high)
    assert 0 < low <= high <= low * (1 + Fraction(10) ** (4 - digits))


@given(x=positive)
def test_log_is_enclosed(x: Fraction) -> None:
    low, high = log_bounds(x)
    with localcontext() as context:
        context.prec = 200
        assert _within(low, _decimal(x).ln(), high)
    assert high - low <= Fraction(1, 10**50)


@given(x=positive)
def test_root_is_enclosed(x: Fraction) -> None:
    low, high = root_bounds(x)
    assert low * low <= x <= high * high
    assert high - low <= Fraction(1, 10**60)


@given(x=positive)
def test_short_fractions_are_near_and_below(x: Fraction) -> None:
    below = short_below(x)
    assert 0 < below <= x
    assert x - below <= x / 10**14


def test_what_has_no_bound_is_refused() -> None:
    for refused in (
        lambda: exp_bounds(Fraction(10**6 + 1)),
        lambda: log_bounds(Fraction(0)),
        lambda: root_bounds(Fraction(-1)),
        lambda: short_below(Fraction(0)),
    ):
        with pytest.raises(ValueError, match=r"million|> 0|>= 0|positive"):
            refused()


def test_near_one_the_bounds_stay_small() -> None:
    low, high = log_bounds(1 + Fraction(1, 10**100))
    assert low <= 0 < high < Fraction(1, 10**50)
    assert exp_bounds(Fraction(0)) == (Fraction(1), Fraction(1))
