"""What k typical statements cost in all, as docs/explanation/budgets.md says.

`python -m tests.docs.budget_costs` prints it. PLD columns need dp-accounting, which the others do without.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Iterator
from fractions import Fraction

from proxy.accounting.events import Event, dlaplace, mechanism
from proxy.ledger.pld_report import pld_epsilon
from proxy.mechanisms.loss import Loss
from proxy.mechanisms.rho_of_noise import rho_of_gaussian, rho_of_laplace, rho_of_pure
from tests.mechanisms.loss_of_rho import loss_of_rho

DELTA = Fraction(1, 10**6)
COUNTS = (10, 100, 1000, 10_000)
EPSILONS = (Fraction(1), Fraction(1, 10), Fraction(1, 100))
MANY = 1000  # steps
HEADS = (
    *("epsilon each", "statements", "basic", "zCDP, COUNT or any pure", "zCDP, SUM of 1,000 steps"),
    *("zCDP, Gaussian of equal sd", "PLD, COUNT or any pure", "PLD, SUM of 1,000 steps"),
)


def _by_rho(rho: Callable[[Fraction], Fraction]) -> Callable[[Fraction, int], float]:
    return lambda epsilon, count: float(loss_of_rho(count * rho(epsilon), DELTA).epsilon)


def _by_pld(event: Callable[[Fraction], Event]) -> Callable[[Fraction, int], float]:
    def total(epsilon: Fraction, count: int) -> float:
        found = pld_epsilon([(event(epsilon), count)], DELTA)
        assert found is not None
        return found

    return total


def _of_gaussian(epsilon: Fraction) -> Fraction:
    """Of the standard deviation that a COUNT has with Laplace noise."""
    sigma2 = Fraction(1 / (2 * math.sinh(epsilon / 2) ** 2))
    return rho_of_gaussian(Fraction(1), sigma2)


WITHOUT_PLD: tuple[Callable[[Fraction, int], float], ...] = (
    lambda epsilon, count: float(epsilon * count),
    _by_rho(rho_of_pure),
    _by_rho(lambda epsilon: rho_of_laplace(MANY, MANY / epsilon)),
    _by_rho(_of_gaussian),
)
WITH_PLD = (
    _by_pld(lambda epsilon: mechanism(Loss(epsilon, Fraction(0)))),
    _by_pld(lambda epsilon: dlaplace(Loss(epsilon, Fraction(0)), MANY, MANY / epsilon)),
)


def row(
    epsilon: Fraction, count: int, columns: tuple[Callable[[Fraction, int], float], ...]
) -> str:
    figures = [f"{column(epsilon, count):,.3g}" for column in columns]
    return " | ".join((f"{float(epsilon):g}", f"{count:,}", *map(_plain, figures)))


def _plain(figure: str) -> str:
    """1.23e+03 as 1,230."""
    return f"{float(figure):,.0f}" if "e+" in figure else figure


def lines() -> Iterator[str]:
    yield f"| {' | '.join(HEADS)} |"
    yield f"|{'---|' * len(HEADS)}"
    for epsilon in EPSILONS:
        for count in COUNTS:
            yield f"| {row(epsilon, count, (*WITHOUT_PLD, *WITH_PLD))} |"


if __name__ == "__main__":
    sys.stdout.write("\n".join(lines()) + "\n")
