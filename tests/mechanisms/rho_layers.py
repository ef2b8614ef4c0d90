"""Layers of verification of what mechanisms cost under zCDP: see layers.py for the idea."""

from __future__ import annotations

import math
from decimal import Decimal, localcontext
from fractions import Fraction

import numpy as np

from proxy.mechanisms import discrete_gaussian, rho_of_noise
from tests.mechanisms.loss_of_rho import loss_of_rho

STEP = Fraction(1, 10**30)
_DELTA = Fraction(1, 10**6)
_ORDERS = 1 + np.logspace(-4, 2, 60)
_LAPLACE = (
    *((1, Fraction(1)), (1, Fraction(1, 2)), (1, Fraction(10)), (2, Fraction(3)), (5, Fraction(1))),
    *((40, Fraction(40)), (40, Fraction(80)), (7, Fraction(2, 3)), (500, Fraction(500))),
)
_EPSILONS = (Fraction(1, 100), Fraction(1, 3), Fraction(1), Fraction(4), Fraction(20))


def _divergence(p: np.ndarray, q: np.ndarray, order: float) -> float:
    """Of order `order`, from logarithms of probabilities."""
    terms = order * p - (order - 1) * q
    top = terms.max()
    return float((top + math.log(np.exp(terms - top).sum())) / (order - 1))


def _holds(p: np.ndarray, q: np.ndarray, rho: Fraction, what: str) -> None:
    ratios = [_divergence(p, q, order) / order for order in _ORDERS]
    assert max(ratios) <= float(rho) * (1 + 1e-6) + 1e-11, (
        f"{what}: rho {float(rho)}, {max(ratios)}"
    )
    assert max(ratios) >= float(rho) * 0.999, f"{what}: rho {float(rho)} is never reached"


def rho_is_the_largest_divergence() -> None:
    """Of the laws themselves, at 60 orders: never above, and reached."""
    for steps, scale in _LAPLACE:
        reach = math.ceil(60 * scale) + 2 * steps
        k = np.arange(-reach, reach + 1)
        zero = math.log(math.tanh(1 / (2 * scale)))
        p, q = zero - np.abs(k) / float(scale), zero - np.abs(k - steps) / float(scale)
        _holds(p, q, rho_of_noise.rho_of_laplace(steps, scale), f"{steps} steps, scale {scale}")
    for epsilon in _EPSILONS:
        often = -math.log1p(math.exp(-epsilon))
        p, q = np.array([often, often - float(epsilon)]), np.array([often - float(epsilon), often])
        _holds(p, q, rho_of_noise.rho_of_pure(epsilon), f"pure, epsilon {epsilon}")
    for shift, sigma2 in ((1, Fraction(1)), (3, Fraction(40)), (10, Fraction(200))):
        # At orders where the law is moved beyond where floats have it the divergence is not seen.
        reach = 40 * math.ceil(math.sqrt(sigma2)) + 110 * shift
        k = np.arange(-reach, reach + 1)
        p, q = -(k**2) / (2 * float(sigma2)), -((k - shift) ** 2) / (2 * float(sigma2))
        top = math.log(np.exp(p).sum())
        rho = rho_of_noise.rho_of_gaussian(Fraction(shift**2), sigma2)
        assert discrete_gaussian.sigma2_for(shift**2, rho) <= sigma2
        _holds(p - top, q - top, rho, f"Gaussian, shift {shift}")


def rho_is_never_below() -> None:
    """The sums of the divergence itself in 120 digits: below by nothing, above by a step."""
    with localcontext() as context:
        context.prec = 120
        for steps, scale in (*_LAPLACE, (10**6, Fraction(10**9)), (3, Fraction(10**15, 7))):
            s = Decimal(scale.numerator) / Decimal(scale.denominator)
            p = (-1 / s).exp()
            far = steps > 1000
            # P(k <= 0) = 1/(1+p), P(k >= D) = p^D/(1+p), and what is between, of which a long sum is closed.
            between = (
                _closed(steps, p)
                if far
                else sum(((steps - 2 * k) * p**k for k in range(1, steps)), Decimal(0))
            )
            exact = (steps * (1 - p**steps) / (1 + p) + between * (1 - p) / (1 + p)) / s
            _just_above(rho_of_noise.rho_of_laplace(steps, scale), exact, f"{steps}, {scale}")
        for epsilon in (*_EPSILONS, Fraction(1, 10**9), Fraction(700)):
            e = Decimal(epsilon.numerator) / Decimal(epsilon.denominator)
            power = e.exp()
            exact = e * (power - 1) / (power + 1)
            _just_above(rho_of_noise.rho_of_pure(epsilon), exact, f"pure, {epsilon}")
    thirds = rho_of_noise.rho_of_gaussian(Fraction(1), Fraction(3, 2))
    assert Fraction(1, 3) <= thirds < Fraction(1, 3) + STEP


def _closed(steps: int, p: Decimal) -> Decimal:
    """The sum over k = 1 .. D-1 of (D - 2k) p^k."""
    plain = p * (1 - p ** (steps - 1)) / (1 - p)
    weighted = p * (1 - steps * p ** (steps - 1) + (steps - 1) * p**steps) / (1 - p) ** 2
    return steps * plain - 2 * weighted


def _just_above(rho: Fraction, exact: Decimal, what: str) -> None:
    bound = Fraction(exact)
    slack = Fraction(1, 10**60)  # of 120 digits
    assert bound - slack <= rho <= bound + STEP + slack, f"{what}: {float(rho)}, {exact}"


def a_vector_costs_what_one_cell_does() -> None:
    """Cells that one unit moves by D_1, .., D_n cost no more than one that it moves by their sum; and noise of
    more steps no more than any pure mechanism."""
    for scale in (Fraction(1, 2), Fraction(3), Fraction(100)):
        for steps in range(2, 40):
            whole = rho_of_noise.rho_of_laplace(steps, scale)
            for part in range(1, steps):
                parts = (part, steps - part)
                assert sum(rho_of_noise.rho_of_laplace(one, scale) - STEP for one in parts) <= whole
            assert whole <= rho_of_noise.rho_of_pure(steps / scale) + STEP


def rho_bounds_many_answers() -> None:
    """Of k answers of one unit's rows, by convolution of the law of the loss: what rho says is never below the
    exact epsilon, and a tenth above at most where there are many."""
    for steps, epsilon, count in ((1, 1, 1000), (1, Fraction(1, 4), 300), (10, 1, 300)):
        rho = count * rho_of_noise.rho_of_laplace(steps, Fraction(steps) / Fraction(epsilon))
        told = float(loss_of_rho(rho, _DELTA).epsilon)
        exact = exact_epsilon(steps, float(epsilon), count, float(_DELTA))
        assert exact <= told, f"{steps} steps, {count} times {epsilon}: {told}, and exactly {exact}"
        assert told <= exact * 1.12 + 0.1


def exact_epsilon(steps: int, epsilon: float, count: int, delta: float) -> float:
    """Of `count` answers with discrete Laplace noise, each moved by `steps`: the epsilon that delta leaves.

    The loss of one is (D - 2j) epsilon/D with j = 0 .. D, on a lattice, so that powers of its law are exact up
    to the floats of an FFT, which are far below delta.
    """
    rate = epsilon / steps
    often = 1 / (1 + math.exp(-rate))
    inner = often * -math.expm1(-rate)
    law = [
        often,
        *(inner * math.exp(-j * rate) for j in range(1, steps)),
        often * math.exp(-epsilon),
    ]
    length = steps * count + 1
    size = 1 << length.bit_length()
    power = np.fft.irfft(np.fft.rfft(np.array(law), size) ** count, size)[:length].clip(0)
    losses = (steps * count - 2 * np.arange(length)) * rate
    low, high = 0.0, epsilon * count
    for _ in range(60):
        middle = (low + high) / 2
        beyond = losses > middle
        found = float((power[beyond] * -np.expm1(middle - losses[beyond])).sum())
        low, high = (middle, high) if found > delta else (low, middle)
    return high


LAYERS = (
    rho_bounds_many_answers,
    rho_is_the_largest_divergence,
    rho_is_never_below,
    a_vector_costs_what_one_cell_does,
)
