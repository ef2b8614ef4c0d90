"""A budget that is fitted in two ways holds against analysts whose next question hangs on every answer."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from itertools import pairwise
from statistics import NormalDist

import pytest

from proxy.mechanisms import zcdp
from proxy.mechanisms.rho_of_noise import rho_of_pure

_DIGITS = 9
_TINY = 1e-12  # of sums of floats
_NORMAL = NormalDist()


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """outcomes: their probabilities on both neighbours."""

    kind: str
    outcomes: tuple[tuple[float, float], ...]
    epsilon: float
    delta: float
    rho: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Spent:
    """Sums along a history; approx and gaussian are those of the deltas of such mechanisms."""

    epsilon: float
    approx: float
    gaussian: float
    rho: float


Rule = Callable[[Spent], bool]


def randomised_response(epsilon: float) -> Question:
    often = math.exp(epsilon) / (1 + math.exp(epsilon))
    rho = float(rho_of_pure(Fraction(epsilon)))
    outcomes = ((often, 1 - often), (1 - often, often))
    return Question(kind="pure", outcomes=outcomes, epsilon=epsilon, delta=0, rho=rho)


def may_fail(delta: float) -> Question:
    """Tells all with probability delta, else nothing."""
    outcomes = ((delta, 0.0), (0.0, delta), (1 - delta, 1 - delta))
    return Question(kind="approx", outcomes=outcomes, epsilon=0, delta=delta, rho=0)


def gaussian(rho: float, epsilon: float) -> Question:
    """Gaussian noise, of which is told between which multiples of epsilon/2 the log ratio is."""
    shift = math.sqrt(2 * rho)
    steps = (-2, -1, -0.5, 0, 0.5, 1, 2)
    ends = [-math.inf, *((s * epsilon + shift**2 / 2) / shift for s in steps), math.inf]
    outcomes = tuple(
        (_NORMAL.cdf(high - shift) - _NORMAL.cdf(low - shift), _NORMAL.cdf(high) - _NORMAL.cdf(low))
        for low, high in pairwise(ends)
    )
    delta = sum(max(p - math.exp(epsilon) * q, 0) for p, q in outcomes)
    return Question(kind="gaussian", outcomes=outcomes, epsilon=epsilon, delta=delta, rho=rho)


def gaussian_of(epsilon: float, delta: float) -> Question:
    """Of the largest rho at which its delta at epsilon is not above this one."""
    low, high = 1e-6, 50.0
    for _ in range(60):
        middle = math.sqrt(low * high)
        low, high = (middle, high) if gaussian(middle, epsilon).delta < delta else (low, middle)
    return gaussian(low, epsilon)


def worst_delta(menu: tuple[Question, ...], epsilon: float, rule: Rule, most: int) -> float:
    """Of all strategies of at most so many questions."""

    @cache
    def leaked(counts: tuple[int, ...], log_ratio: float) -> float:
        """Of a history of mass 1 on the first neighbour and e^log_ratio on the second."""
        best = max(1 - math.exp(epsilon + log_ratio), 0.0)
        if sum(counts) == most:
            return best
        for number, question in enumerate(menu):
            after = tuple(n + (i == number) for i, n in enumerate(counts))
            if not admitted(after):
                continue
            found = 0.0
            for p, q in question.outcomes:
                if q == 0:
                    found += p
                elif p > 0:
                    found += p * leaked(after, round(log_ratio + math.log(q / p), _DIGITS))
            best = max(best, found)
        return best

    @cache
    def admitted(counts: tuple[int, ...]) -> bool:
        return rule(_spent(menu, counts))

    return leaked(tuple(0 for _ in menu), 0.0)


def _spent(menu: tuple[Question, ...], counts: tuple[int, ...]) -> Spent:
    def total(of: Callable[[Question], float], kind: str = "") -> float:
        pairs = zip(counts, menu, strict=True)
        return sum(n * of(one) for n, one in pairs if kind in ("", one.kind))

    return Spent(
        epsilon=total(lambda one: one.epsilon),
        approx=total(lambda one: one.delta, "approx"),
        gaussian=total(lambda one: one.delta, "gaussian"),
        rho=total(lambda one: one.rho),
    )


def two_ways(epsilon: float, delta: float) -> Rule:
    """PROOFS.md 25."""
    most = rho_limit(epsilon, delta / 2)

    def rule(spent: Spent) -> bool:
        failures = spent.approx + min(spent.gaussian, delta / 4)
        is_basic = spent.epsilon <= epsilon + _TINY and spent.gaussian <= delta / 4 + _TINY
        return failures <= delta / 2 + _TINY and (spent.rho <= most or is_basic)

    return rule


def delta_counted_once(epsilon: float, delta: float) -> Rule:
    """A fault: all of delta for failures, and all of it for the conversion."""
    most = rho_limit(epsilon, delta)

    def rule(spent: Spent) -> bool:
        failures = spent.approx + spent.gaussian
        is_basic = spent.epsilon <= epsilon + _TINY and failures <= delta + _TINY
        return is_basic or (spent.rho <= most and spent.approx <= delta + _TINY)

    return rule


def moving_split(epsilon: float, delta: float) -> Rule:
    """A fault: the conversion has whatever the failures have left."""

    def rule(spent: Spent) -> bool:
        failures = spent.approx + spent.gaussian
        if spent.epsilon <= epsilon + _TINY and failures <= delta + _TINY:
            return True
        left = delta - spent.approx
        return left > _TINY and spent.rho <= rho_limit(epsilon, left)

    return rule


@cache
def rho_limit(epsilon: float, delta: float) -> float:
    return float(zcdp.rho_of_loss(Fraction(epsilon), Fraction(delta)))


def menu_for(epsilon: float, delta: float) -> tuple[Question, ...]:
    most = rho_limit(epsilon, delta / 2)
    return (
        randomised_response(epsilon / 4),
        may_fail(delta / 4),
        gaussian_of(epsilon / 2, delta / 4),
        gaussian(most / 3, epsilon / 3),
    )


def rho_is_a_quarter(epsilon: float, delta: float) -> Rule:
    """A fault: what is charged is a quarter of rho."""
    sound = two_ways(epsilon, delta)

    def rule(spent: Spent) -> bool:
        return sound(
            Spent(
                epsilon=spent.epsilon,
                approx=spent.approx,
                gaussian=spent.gaussian,
                rho=spent.rho / 4,
            )
        )

    return rule


_BUDGETS = [(1.0, 0.1), (2.0, 0.2), (0.5, 0.05), (1.0, 0.02), (1.0, 0.3), (4.0, 0.1)]


@pytest.mark.parametrize(("epsilon", "delta"), _BUDGETS)
def test_no_strategy_gets_more_than_delta(epsilon: float, delta: float) -> None:
    found = worst_delta(menu_for(epsilon, delta), epsilon, two_ways(epsilon, delta), 8)
    assert delta / 4 < found <= delta


@pytest.mark.every(3)
@pytest.mark.parametrize(
    ("fault", "epsilon", "delta"),
    [
        (delta_counted_once, 1.0, 0.1),
        (moving_split, 0.5, 0.05),
        (rho_is_a_quarter, 1.0, 0.1),
    ],
)
def test_a_rule_with_a_fault_is_found(
    fault: Callable[[float, float], Rule], epsilon: float, delta: float
) -> None:
    assert worst_delta(menu_for(epsilon, delta), epsilon, fault(epsilon, delta), 6) > delta
