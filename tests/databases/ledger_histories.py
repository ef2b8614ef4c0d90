"""Histories of charges against budgets that are fitted in two ways: what is charged, SQL beside the model."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import datetime, timezone
from fractions import Fraction
from typing import Any

import psycopg

from proxy.accounting.amounts import Amount, charge, decimal, limit, rho_limit
from proxy.accounting.events import Event, gaussian, mechanism
from proxy.mechanisms.loss import Loss
from proxy.mechanisms.zcdp import rho_of_loss
from tests.ledger_model.two_ways import Cost, Most, drawn, fits, priced

UTC = timezone.utc
MILLIONTH = Fraction(1, 10**6)


def pure(epsilon: Fraction) -> tuple[Loss, list[Event]]:
    loss = Loss(epsilon, Fraction(0))
    return loss, [mechanism(loss)]


def approx_of(epsilon: Fraction) -> tuple[Loss, list[Event]]:
    loss = Loss(epsilon, MILLIONTH)
    return loss, [mechanism(loss)]


def gaussian_of(epsilon: Fraction) -> tuple[Loss, list[Event]]:
    loss = Loss(epsilon, MILLIONTH)
    return loss, [gaussian(loss, Fraction(4), 2 / rho_of_loss(epsilon, MILLIONTH))]


def mixed(epsilon: Fraction) -> tuple[Loss, list[Event]]:
    """Thirds, which are rounded up one by one."""
    loss = Loss(epsilon, MILLIONTH)
    third = Loss(epsilon / 3, MILLIONTH / 3)
    sigma2 = 1 / rho_of_loss(epsilon / 3, MILLIONTH / 3)
    return loss, [mechanism(third), mechanism(third), gaussian(third, Fraction(2), sigma2)]


def untold(epsilon: Fraction) -> tuple[Loss, list[Event]]:
    """Events that do not cover the charge."""
    return Loss(epsilon, MILLIONTH), [mechanism(Loss(epsilon, Fraction(0)))]


def half_told(epsilon: Fraction) -> tuple[Loss, list[Event]]:
    loss = Loss(epsilon, Fraction(0))
    return loss, [mechanism(Loss(epsilon / 2, Fraction(0)))]


def mostly_pure(epsilon: Fraction) -> tuple[Loss, list[Event]]:
    """Half of its epsilon may have less rho than a Gaussian part that was drawn."""
    small = epsilon / 10
    sigma2 = 1 / rho_of_loss(small, MILLIONTH)
    noisy = gaussian(Loss(small, MILLIONTH), Fraction(2), sigma2)
    return Loss(epsilon, MILLIONTH), [mechanism(Loss(epsilon - small, Fraction(0))), noisy]


Kind = Callable[[Fraction], tuple[Loss, list[Event]]]
Asked = tuple[Kind, int, int]


def asked(kind: Kind, tenths: int, times: int = 1, share: int = 2) -> list[Asked]:
    """
    Args:
        kind: Of the charge.
        tenths: Of epsilon.
        times: How often it is asked.
        share: How many halves of it are drawn, which the shared budget pays.
    """
    return [(kind, tenths, share)] * times


class _Model:
    def __init__(self) -> None:
        self.receipts: list[tuple[Cost, Cost]] = []
        self.own, self.total = (
            Most(epsilon=of.epsilon, delta=of.delta, rho=rho_limit(of))
            for of in (limit(Loss(Fraction(2) * n, 8 * MILLIONTH * n)) for n in (1, 2))
        )

    def spent(self) -> tuple[Cost, Cost]:
        own, total = zip(*self.receipts, strict=True) if self.receipts else ((), ())
        return sum(own, Cost()), sum(total, Cost())

    def charge(self, cost: Cost, of_total: Cost) -> bool:
        own, total = self.spent()
        is_admitted = fits(own + cost, self.own) and fits(total + of_total, self.total)
        if is_admitted:
            self.receipts.append((cost, of_total))
        return is_admitted


def compare(ledger_dsn: str, steps: list[Asked]) -> str:
    """Which were admitted, y or n each."""
    model = _Model()
    decisions = ""
    now = datetime(2026, 11, 20, 13, 30, tzinfo=UTC)
    with psycopg.connect(ledger_dsn) as connection:
        write_limits(connection, model.own, model.total)
        for kind, tenths, share in steps:
            loss, events = kind(Fraction(tenths, 10))
            amount = charge(loss)
            cost = priced(events, *amount)
            paid = Amount(amount.epsilon * share / 2, amount.delta * share / 2)
            of_total = drawn(cost, *paid)
            before = model.spent()
            is_admitted = model.charge(cost, of_total)
            row = connection.execute(
                "SELECT receipt IS NOT NULL, own_epsilon, own_delta, total_epsilon, total_delta"
                " FROM ledger.charge_at(1, %s, %s, %s, %s, %s, %s::jsonb, 'f', 'p', %s)",
                (
                    "a",
                    *map(decimal, (*amount, *paid)),
                    json.dumps(events),
                    now,
                ),
            ).fetchone()
            assert row is not None
            assert row[0] is is_admitted
            decisions += "y" if is_admitted else "n"
            own, total = model.spent()
            left = [Fraction(number) for number in row[1:]]
            if not is_admitted:
                _is_told_truly(model, before, (cost, of_total), left)
            shown = connection.execute(
                "SELECT epsilon_spent, delta_spent, rho_spent FROM ledger.lines_at(1, %s, '{}', %s)"
                " ORDER BY kind",
                ("a", now),
            ).fetchall()
            assert [tuple(map(Fraction, line)) for line in shown] == [
                (one.epsilon, one.delta, one.rho) for one in (own, total)
            ]
        connection.rollback()
    return decisions


def _is_told_truly(
    model: _Model, spent: tuple[Cost, Cost], cost: tuple[Cost, Cost], left: list[Fraction]
) -> None:
    """A budget that falls short says less than the cost; one that does not, no less."""
    for most, before, asked, epsilon, delta in zip(
        (model.own, model.total), spent, cost, left[::2], left[1::2], strict=True
    ):
        if fits(before + asked, most):
            assert epsilon >= asked.epsilon and delta >= asked.delta
        else:
            is_over_already = not fits(before, most)
            assert is_over_already or epsilon < asked.epsilon or delta < asked.delta


def write_limits(connection: psycopg.Connection[Any], own: Most, total: Most) -> None:
    connection.execute("DELETE FROM ledger.allowance")
    for kind, most, period in (("default", own, "month"), ("total", total, "none")):
        rho = None if most.rho is None else decimal(most.rho)
        connection.execute(
            "INSERT INTO ledger.allowance VALUES (1, %s, '', %s, %s, %s, %s)",
            (kind, decimal(most.epsilon), decimal(most.delta), period, rho),
        )
