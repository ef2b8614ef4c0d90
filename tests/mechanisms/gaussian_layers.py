"""Layers of verification of discrete Gaussian noise and of zCDP: see layers.py for the idea."""

from __future__ import annotations

import math
from collections.abc import Iterable
from fractions import Fraction
from typing import Any

import numpy as np

from proxy.kernel.price import NOTHING_PAID, Price
from proxy.mechanisms import discrete_gaussian, zcdp
from tests.mechanisms.finite_law import Law, normalised
from tests.mechanisms.loss_of_rho import loss_of_rho

MILLIONTH = Fraction(1, 10**6)
LOSSES = [
    (epsilon, delta)
    for epsilon in (Fraction(1, 10), Fraction(1), Fraction(4))
    for delta in (MILLIONTH, Fraction(1, 1000), Fraction(1, 10))
]
_ROUNDING = 1e-12


def gaussian_law(sigma2: float) -> Law:
    """P(k) for k = -t .. t, with less than e^-300 beyond."""
    t = math.ceil(math.sqrt(600 * sigma2)) + 1
    return normalised(np.exp(-(np.arange(-t, t + 1) ** 2) / (2 * sigma2)))


def exact_delta(cells: int, shift: int, sigma2: float, epsilon: float) -> float:
    """The exact delta at epsilon when each of several noisy results moves by the same shift.

    ln P/Q at results k_1 .. k_G is (G shift^2 - 2 shift sum k_i) / (2 sigma2) with P centred at 0
    and Q at the shift, so the law of the sum is all that is needed: a G-fold convolution.
    """
    one = gaussian_law(sigma2)
    total = one
    for _ in range(cells - 1):
        total = np.convolve(total, one)
    reach = len(total) // 2
    sums = np.arange(-reach, reach + 1)
    loss = (cells * shift**2 - 2 * shift * sums) / (2 * sigma2)
    beyond = loss > epsilon
    return float((total[beyond] * -np.expm1(epsilon - loss[beyond])).sum())


def gaussian_noise_is_private() -> None:
    """Exact auditor: one to twenty results that one unit moves, noise for a given loss."""
    for epsilon, delta in LOSSES:
        rho = zcdp.rho_of_loss(epsilon, delta)
        for cells, shift in ((1, 1), (1, 3), (4, 1), (20, 2)):
            sigma2 = float(discrete_gaussian.sigma2_for(cells * shift**2, rho))
            if cells * sigma2 > 50_000:
                continue  # the same law as a smaller one, finer
            found = exact_delta(cells, shift, sigma2, float(epsilon))
            assert found <= float(delta) + _ROUNDING, (
                f"epsilon {epsilon}, delta {delta}, {cells} cells by {shift}: exact delta {found}"
            )


def rho_of_pure(epsilon: Fraction) -> Fraction:
    """Of an epsilon-DP release: Bun, Steinke 2016, proposition 1.4."""
    return epsilon * epsilon / 2


def rho_of_gaussian(l2_sensitivity2: int, sigma2: Fraction) -> Fraction:
    """Bun, Steinke 2016, proposition 1.6: what sigma2_for must be the inverse of."""
    return Fraction(l2_sensitivity2) / (2 * sigma2)


def composed(rhos: Iterable[Fraction]) -> Fraction:
    """As prices of releases are added up: Bun, Steinke 2016, lemma 2.3."""
    return sum((Price(rho=rho) for rho in rhos), NOTHING_PAID).rho


def rho_adds_up_and_converts() -> None:
    """Accounting: releases composed by rho are private as a whole, conversions round one way."""
    for epsilon, delta in LOSSES:
        rho = zcdp.rho_of_loss(epsilon, delta)
        assert composed([rho / 3] * 3) == rho
        assert zcdp.textbook_rho_of_loss(epsilon, delta) <= rho
        back = loss_of_rho(rho, delta)
        assert back.delta == delta
        assert abs(back.epsilon - epsilon) <= epsilon * Fraction(1, 10**12)
        # Five counts, each noisy with a fifth of rho, move together.
        sigma2 = discrete_gaussian.sigma2_for(1, rho / 5)
        assert composed([rho_of_gaussian(1, sigma2)] * 5) == rho
        if sigma2 < 20_000:
            assert exact_delta(5, 1, float(sigma2), float(epsilon)) <= float(delta) + _ROUNDING
    assert rho_of_pure(Fraction(1, 10)) == Fraction(1, 200)


def gaussian_formulas_are_golden() -> None:
    """docs/design/mechanisms.md 3.2, 8 and 9.1, by hand."""
    one = Fraction(1)
    textbook = zcdp.textbook_rho_of_loss(one, MILLIONTH)
    assert math.isclose(textbook, 0.0175, rel_tol=0.003)
    assert round(math.sqrt(discrete_gaussian.sigma2_for(1, textbook)), 2) == 5.35
    # sigma^2 = G / (2 rho) below 2 G^2, the variance of continuous Laplace noise of scale G
    assert next(g for g in range(1, 40) if g / (2 * textbook) < 2 * g * g) == 15
    # With the tight conversion the crossing is a little earlier.
    pays = [g for g in range(1, 40) if zcdp.gaussian_pays(g, one, MILLIONTH)]
    assert pays == list(range(11, 40))
    assert [zcdp.gaussian_pays(g, one, MILLIONTH, 100) for g in (1, 10, 11)] == [0, 0, 1]
    assert not zcdp.gaussian_pays(10**6, one, Fraction(0))
    # 100 releases of epsilon 0.1 cost 5.76 by the textbook, 10 cost 1.71, 20 of epsilon 1 33.5.
    for count, each, epsilon in ((100, "1/10", 5.76), (10, "1/10", 1.71), (20, "1", 33.5)):
        rho = composed([rho_of_pure(Fraction(each))] * count)
        known = zcdp.textbook_rho_of_loss(Fraction(str(epsilon)), MILLIONTH)
        assert math.isclose(known, rho, rel_tol=0.01), (count, each)
        assert loss_of_rho(rho, MILLIONTH).epsilon < epsilon + 0.005
    # Lists: L2, not L1: 12 counts, each moved by 1.
    assert discrete_gaussian.sigma2_for(12, Fraction(1, 50)) == 300
    for sigma2, half_width in ((1, 2), (100, 20), (10**6, 1960), (10**10, 195_996)):
        assert discrete_gaussian.half_width(Fraction(sigma2)) == half_width


def rho_is_opendps() -> None:
    """An independent library: rho of integer Gaussian noise, and its conversion to epsilon."""
    import opendp.prelude as dp

    dp.enable_features("contrib")
    space = dp.atom_domain(T="i64"), dp.absolute_distance(T="i64")
    for sensitivity in (1, 7):
        for sigma in (0.5, 5.0, 40.0):
            oracle: Any = dp.m.make_gaussian(*space, scale=sigma)
            sigma2 = Fraction(sigma) ** 2
            rho = rho_of_gaussian(sensitivity**2, sigma2)
            assert math.isclose(oracle.map(sensitivity), rho, rel_tol=1e-12)
            assert discrete_gaussian.sigma2_for(sensitivity**2, rho) == sigma2
            converted: Any = dp.c.make_zCDP_to_approxDP(oracle)
            profile: Any = converted.map(sensitivity)
            for delta in (MILLIONTH, Fraction(1, 100)):
                expected = profile.epsilon(float(delta))
                found = float(loss_of_rho(rho, delta).epsilon)
                assert math.isclose(found, expected, rel_tol=1e-6), (sensitivity, sigma, delta)
                back = float(zcdp.rho_of_loss(Fraction(expected), delta))
                assert math.isclose(back, rho, rel_tol=1e-6), (sensitivity, sigma, delta)


LAYERS = [
    gaussian_noise_is_private,
    rho_adds_up_and_converts,
    gaussian_formulas_are_golden,
    rho_is_opendps,
]
