"""Two answers weighed by their precision: as exact as was asked for, at what both cost together."""

from __future__ import annotations

import math
from collections.abc import Mapping
from fractions import Fraction

import pytest

from proxy.mechanisms import discrete_gaussian
from proxy.mechanisms.rho_of_noise import rho_of_gaussian
from proxy.mechanisms.topping_up import ROUNDING, missing_sigma2, weighted_mean
from proxy.mechanisms.zcdp import epsilon_of_rho, rho_of_loss
from tests.mechanisms.loss_of_rho import loss_of_rho
from tests.seeded_bits import SeededBits

Law = Mapping[int, float]
_WANTED = [Fraction(n, 20) for n in (10, 14, 20, 25, 37, 60, 200, 800)]
_GIVEN = [
    Fraction(n, 20) for n in (21, 25, 30, 39, 40, 41, 60, 80, 140, 480, 4000)
]  # times as much
_LEVELS = (Fraction(95, 100), Fraction(975, 1000), Fraction(99, 100))
_DELTA = Fraction(1, 10**6)


def _law(sigma2: Fraction) -> Law:
    last = math.isqrt(math.ceil(64 * sigma2)) + 6
    weights = {k: math.exp(-k * k / (2 * float(sigma2))) for k in range(-last, last + 1)}
    total = math.fsum(weights.values())
    return {k: weight / total for k, weight in weights.items()}


class _Coin:
    """Both sides, one after the other."""

    def __init__(self, side: int) -> None:
        self._side = side

    def below(self, n: int) -> int:
        assert n == 2
        return self._side


def _combined(given: Law, given_sigma2: Fraction, bought: Fraction) -> Law:
    """Of the mean as it is drawn, with the noise alone."""
    found: dict[int, float] = {}
    for other, second in _law(bought).items():
        for one, first in given.items():
            for side in (0, 1):
                mean = weighted_mean(_Coin(side), one, given_sigma2, other, bought)
                found[mean] = found.get(mean, 0.0) + first * second / 2
    return found


def _variance(law: Law) -> float:
    return math.fsum(k * k * p for k, p in law.items())


def _is_within(law: Law, wanted: Fraction) -> bool:
    assert math.fsum(k * p for k, p in law.items()) == pytest.approx(0, abs=1e-9)
    if _variance(law) > float(wanted) * (1 + 1e-9):
        return False
    for level in _LEVELS:
        reach = discrete_gaussian.half_width(wanted, level)
        if math.fsum(p for k, p in law.items() if abs(k) <= reach) < float(level) - 1e-9:
            return False
    return True


@pytest.mark.every(4)
@pytest.mark.parametrize("wanted", _WANTED[:6])
@pytest.mark.parametrize("times", _GIVEN[:9])
def test_it_is_as_exact_as_was_wanted(wanted: Fraction, times: Fraction) -> None:
    """By the exact law: not biased, of the variance, and within the intervals that are stated."""
    given = wanted * times
    bought = missing_sigma2(wanted, given)
    if bought is None:  # what is missing would cost what all of it costs, or more
        assert 1 / (wanted - ROUNDING) - 1 / given >= Fraction(999, 1000) / wanted
        return
    assert bought > wanted
    assert _is_within(_combined(_law(given), given, bought), wanted)


@pytest.mark.long
@pytest.mark.parametrize("wanted", _WANTED)
@pytest.mark.parametrize("times", _GIVEN)
def test_it_is_as_exact_as_was_wanted_everywhere(wanted: Fraction, times: Fraction) -> None:
    given = wanted * times
    bought = missing_sigma2(wanted, given)
    if bought is not None:
        assert _is_within(_combined(_law(given), given, bought), wanted)


def test_in_its_turn_and_of_a_sum() -> None:
    """What is topped up is no longer discrete Gaussian, nor is a sum of several."""
    first, second, third = Fraction(12), Fraction(6), Fraction(2)
    bought = missing_sigma2(second, first)
    assert bought is not None
    once = _combined(_law(first), first, bought)
    bought = missing_sigma2(third, second)
    assert bought is not None
    assert _is_within(_combined(once, second, bought), third)
    added: dict[int, float] = {}
    for one, p in _law(Fraction(1)).items():
        for other, q in _law(Fraction(1)).items():
            added[one + other] = added.get(one + other, 0.0) + p * q
    bought = missing_sigma2(Fraction(3, 2), Fraction(2))
    assert bought is not None
    assert _is_within(_combined(added, Fraction(2), bought), Fraction(3, 2))


def _drawn_variance(given: Fraction, bought: Fraction, weighed_as: Fraction) -> float:
    bits, draws = SeededBits(77), 2_000
    total = 0
    for _ in range(draws):
        one = discrete_gaussian.sample(bits, given)
        other = discrete_gaussian.sample(bits, bought)
        total += weighted_mean(bits, one, given, other, weighed_as) ** 2
    return total / draws


def test_what_is_drawn_has_the_variance() -> None:
    """Within 13 %, which is four standard errors; noise that is 30 % off is found, and so are equal weights."""
    wanted, given = Fraction(50), Fraction(300)
    bought = missing_sigma2(wanted, given)
    assert bought is not None
    assert _drawn_variance(given, bought, bought) == pytest.approx(50, rel=0.13)
    for off in (Fraction(7, 10), Fraction(13, 10)):
        assert _drawn_variance(given, bought * off, bought) != pytest.approx(50, rel=0.13)
    assert _drawn_variance(given, bought, given) != pytest.approx(50, rel=0.13)


@pytest.mark.parametrize("wanted", _WANTED)
def test_both_cost_what_one_would(wanted: Fraction) -> None:
    """But for what rounding takes: rho of both is that of noise of a variance less by an eighth."""
    for times in _GIVEN:
        bought = missing_sigma2(wanted, wanted * times)
        if bought is not None:
            for squared in (Fraction(1), Fraction(30_000)):
                both = rho_of_gaussian(squared, wanted * times) + rho_of_gaussian(squared, bought)
                fresh = rho_of_gaussian(squared, wanted)
                assert (
                    fresh <= both <= squared / (2 * (wanted - ROUNDING)) * (1 + Fraction(1, 10**12))
                )
                assert rho_of_gaussian(squared, bought) < fresh


def _divergence(laws: list[Law], moves: int, epsilon: Fraction) -> float:
    """Hockey-stick divergence of all that is drawn, moved by so much against as it is."""
    joint: dict[tuple[int, ...], tuple[float, float]] = {(): (1.0, 1.0)}
    for law in laws:
        joint = {
            (*before, k): (p * law.get(k, 0.0), q * law.get(k - moves, 0.0))
            for before, (p, q) in joint.items()
            for k in range(min(law), max(law) + moves + 1)
        }
    return math.fsum(max(0.0, q - math.exp(epsilon) * p) for p, q in joint.values())


@pytest.mark.parametrize("epsilon", [Fraction(1), Fraction(2), Fraction(4)])
def test_what_is_charged_holds(epsilon: Fraction) -> None:
    """By the exact laws of the two releases: the second alone, and both together at their rho; less would not
    do."""
    first, wanted = (1 / (2 * rho_of_loss(one, _DELTA)) for one in (epsilon / 2, epsilon))
    bought = missing_sigma2(wanted, first)
    assert bought is not None
    rho = rho_of_gaussian(Fraction(1), bought)
    charged = epsilon_of_rho(rho, _DELTA)
    assert charged < epsilon
    assert _divergence([_law(bought)], 1, charged) <= _DELTA
    assert _divergence([_law(bought)], 1, charged * Fraction(4, 5)) > _DELTA
    together = epsilon_of_rho(rho + rho_of_gaussian(Fraction(1), first), _DELTA)
    assert _divergence([_law(first), _law(bought)], 1, together) <= _DELTA


@pytest.mark.parametrize("rho", [Fraction(100, 10**k) for k in (0, 1, 2, 3, 4, 6, 10)])
@pytest.mark.parametrize("delta", [Fraction(1, 10), _DELTA, Fraction(1, 10**12)])
def test_epsilon_of_rho_is_the_way_back(rho: Fraction, delta: Fraction) -> None:
    epsilon = epsilon_of_rho(rho, delta)
    assert float(epsilon) == pytest.approx(float(loss_of_rho(rho, delta).epsilon), rel=1e-6)
    if epsilon:
        assert rho <= rho_of_loss(epsilon * (1 + Fraction(1, 10**6)), delta)
        assert rho_of_loss(epsilon, delta) == pytest.approx(float(rho), rel=1e-6)


@pytest.mark.parametrize("wanted, given", [(0, 1), (1, 0), (-1, 1)])
def test_what_is_no_variance(wanted: int, given: int) -> None:
    with pytest.raises(ValueError, match="above 0"):
        missing_sigma2(Fraction(wanted), Fraction(given))
    with pytest.raises(ValueError, match="above 0"):
        weighted_mean(SeededBits(1), 1, Fraction(wanted), 1, Fraction(given))


def test_hardly_any_noise_is_drawn_afresh() -> None:
    assert missing_sigma2(Fraction(49, 100), Fraction(10)) is None
    assert missing_sigma2(Fraction(2), Fraction(2)) is None
