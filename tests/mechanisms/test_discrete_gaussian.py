"""Discrete Gaussian noise and zCDP: edges and refusals. Their laws are in gaussian_layers.py."""

from __future__ import annotations

import math
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proxy.kernel.price import NOTHING_PAID
from proxy.mechanisms import discrete_gaussian, zcdp
from tests.mechanisms.gaussian_layers import gaussian_law
from tests.mechanisms.loss_of_rho import loss_of_rho
from tests.seeded_bits import SeededBits

MILLIONTH = Fraction(1, 10**6)


@given(
    sigma2=st.fractions(Fraction(1, 20), 3000, max_denominator=50),
    level=st.sampled_from([0.5, 0.9, Fraction(19, 20), 0.999]),
)
def test_half_width_is_the_least_that_covers(sigma2: Fraction, level: Fraction | float) -> None:
    t = discrete_gaussian.half_width(sigma2, level)
    law = gaussian_law(float(sigma2))
    middle = len(law) // 2
    inside = law[middle - t : middle + t + 1].sum()
    less = law[middle - t + 1 : middle + t].sum() if t else 0.0
    assert inside >= float(level) - 1e-9
    assert t == 0 or less <= float(level) + 1e-9


def test_the_two_ways_to_a_half_width_meet() -> None:
    for sigma in (700, 1000, 1024):
        summed = discrete_gaussian.half_width(Fraction(sigma**2))
        assert abs(summed - 1.959964 * sigma) <= 1
    assert discrete_gaussian.half_width(Fraction(1025**2)) == 2009


def test_variance_is_sigma2_but_for_small_ones() -> None:
    for sigma2 in (0.2, 1.0, 3.0, 15.9):
        law = gaussian_law(sigma2)
        k = range(-(len(law) // 2), len(law) // 2 + 1)
        exact = math.fsum(i * i * p for i, p in zip(k, law, strict=True))
        assert discrete_gaussian.variance(Fraction(sigma2)) == pytest.approx(exact, rel=1e-9)
    assert discrete_gaussian.variance(Fraction(1, 10)) < 0.02


def test_a_huge_rational_variance_needs_no_float() -> None:
    sigma2 = Fraction(10**60 + 1, 10**9 + 7)
    bits = SeededBits(2)
    draws = [discrete_gaussian.sample(bits, sigma2) for _ in range(300)]
    mean = Fraction(sum(draw * draw for draw in draws), len(draws))
    assert sigma2 * 2 / 3 < mean < sigma2 * 3 / 2  # the mean of 300 has a deviation of 8 %
    assert len({draw % 1024 for draw in draws}) > 150


def test_no_noise_is_refused() -> None:
    for sigma2 in (Fraction(0), Fraction(-1)):
        with pytest.raises(ValueError, match="variance"):
            discrete_gaussian.sample(SeededBits(0), sigma2)
        with pytest.raises(ValueError, match="sigma2"):
            discrete_gaussian.half_width(sigma2)
    for sensitivity2, rho in ((0, 1), (-1, 1), (1, 0), (1, -1)):
        with pytest.raises(ValueError, match="rho"):
            discrete_gaussian.sigma2_for(sensitivity2, Fraction(rho))
    with pytest.raises(ValueError, match="level"):
        discrete_gaussian.half_width(Fraction(1), 1.0)


@given(
    epsilon=st.fractions(Fraction(1, 1000), 50),
    delta=st.fractions(Fraction(1, 10**15), Fraction(9, 10)),
)
def test_a_loss_survives_the_way_there_and_back(epsilon: Fraction, delta: Fraction) -> None:
    rho = zcdp.rho_of_loss(epsilon, delta)
    assert 0 < zcdp.textbook_rho_of_loss(epsilon, delta) <= rho
    assert rho.denominator < 10**40  # short enough for a ledger
    back = loss_of_rho(rho, delta).epsilon
    assert back <= epsilon * (1 + Fraction(1, 10**9))
    # Conversions never promise less than a smaller rho does.
    assert loss_of_rho(rho / 2, delta).epsilon <= back


@pytest.mark.parametrize("delta", [Fraction(0), Fraction(1), Fraction(1, 10**301)])
def test_zcdp_needs_a_delta(delta: Fraction) -> None:
    for refused in (
        lambda: zcdp.rho_of_loss(Fraction(1), delta),
        lambda: zcdp.textbook_rho_of_loss(Fraction(1), delta),
        lambda: loss_of_rho(Fraction(1), delta),
    ):
        with pytest.raises(ValueError, match="delta"):
            refused()


def test_what_is_no_rho_is_refused() -> None:
    with pytest.raises(ValueError, match="rho"):
        loss_of_rho(Fraction(-1), MILLIONTH)
    with pytest.raises(ValueError, match="epsilon"):
        zcdp.rho_of_loss(Fraction(0), MILLIONTH)
    with pytest.raises(ValueError, match="group"):
        zcdp.gaussian_pays(0, Fraction(1), MILLIONTH)
    assert loss_of_rho(Fraction(0), MILLIONTH).epsilon == 0
    assert NOTHING_PAID.rho == 0
