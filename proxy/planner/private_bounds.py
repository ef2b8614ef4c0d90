"""Bounds on what a unit adds: given by the policy, or chosen privately when the statement runs.

A COUNT or a SUM by itself has a bound of its own on what a unit adds in all groups together. Everything else of
a block (shared sums, means, order statistics, distinct values) has one bound on the rows of a unit. A chosen
bound is a part of the release that it is for, or a release of its own (proxy/mechanisms/PROOFS.md 23).
"""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction

from proxy.kernel.bound_choices import BoundChoice, UnitTotal
from proxy.kernel.sensitivities import OF_REPORT, laplace
from proxy.mechanisms import private_bound
from proxy.mechanisms.loss import NOTHING, Loss

_WALK, _REPORT = Fraction(35, 100), Fraction(5, 100)  # of what is spent on a release with its bound
# Shares of a unit's groups are rounded down to so many parts of a row or grid step.
PARTS = 1024


def noise_loss(loss: Loss) -> Loss:
    """What is left for the noise of a release that pays for its bound."""
    return Loss(loss.epsilon * (1 - _WALK - _REPORT), loss.delta)


def rows_weight(weights: Iterable[Fraction]) -> Fraction:
    """Of the bound on rows, beside the weights of the releases that it is for: as much as one of them would
    spend if it paid for a bound of its own."""
    found = list(weights)
    return sum(found, Fraction(0)) / len(found) * (_WALK + _REPORT) / (1 - _WALK - _REPORT)


def choice_of(loss: Loss, most: int) -> BoundChoice:
    """
    Given    loss: of the bound alone; most: of a unit's total, public
    """
    epsilon = loss.epsilon / (_WALK + _REPORT)
    report = Loss(epsilon * _REPORT, Fraction(0))
    return BoundChoice(
        bounds=private_bound.bounds_up_to(most),
        walk=Loss(epsilon * _WALK, Fraction(0)),
        report=report,
        report_scale=laplace(OF_REPORT, report.epsilon).scale,
    )


def report_weight(weights: Iterable[Fraction]) -> Fraction:
    """Of the report on what given bounds cut, beside all other weights of its block."""
    return sum(weights, Fraction(0)) * _REPORT / (1 - _REPORT)


def given_bound(loss: Loss, rows: int) -> BoundChoice:
    """What given bounds on a unit cut is counted, which is all that is spent.

    Given    rows: of a unit, by the policy
    """
    return BoundChoice(
        bounds=(rows,),
        walk=NOTHING,
        report=Loss(loss.epsilon, Fraction(0)),
        report_scale=laplace(OF_REPORT, loss.epsilon).scale,
        is_given=True,
    )


def chosen_total(
    loss: Loss,
    each: tuple[int, int],
    rows: int,
    parts: int,
    bound: int | None,
    given: int | None = None,
) -> UnitTotal:
    """A total that is bounded by choice.

    Given    loss: of the release with its bound; each: the least and the most that one row adds; rows: of a
             unit, at most; bound: the one that was chosen; None: none yet; given: by the policy, which no
             bound is above
    """
    least, most = min(0, each[0]), max(0, each[1])
    largest = max(1, rows * max(-least, most))
    if given is not None:
        largest = min(largest, given)
    high = largest if bound is None else bound
    return UnitTotal(
        low=-high if least < 0 else 0,
        high=high if most > 0 else 0,
        parts=parts,
        choice=choice_of(Loss(loss.epsilon * (_WALK + _REPORT), Fraction(0)), largest),
    )
