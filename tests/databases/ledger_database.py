"""A ledger in a database of its own, and what tests do with it."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from decimal import Decimal
from fractions import Fraction
from typing import Any, TypeVar

import psycopg

from proxy.ledger.ledger_schema import bring_to_newest
from proxy.ledger.ledger_sources import Identity, adopt_new
from proxy.ledger.ledger_tables import LedgerTables
from proxy.ledger.users import add_analyst, add_to_group
from proxy.mechanisms.loss import Loss
from proxy.policy.policy_model import Period
from tests.ledger_key import LEDGER_CIPHER

_T = TypeVar("_T")
SOURCE = 1
ANALYSTS = ("ann", "bob", "carol", "dan", "eve")
INTO_ALLOWANCE = "INSERT INTO ledger.allowance (source, kind, analyst, epsilon, delta, period)"


def make_ledger(dsn: str) -> None:
    """In an empty database, with one source: number 1."""
    bring_to_newest(dsn)
    adopt_new(dsn, Identity("invented", "data"), "data")


def set_limits(
    dsn: str, own: str, total: str, per: Period = Period.NONE, delta: str = "0.5"
) -> None:
    with psycopg.connect(dsn) as connection:
        connection.execute("DELETE FROM ledger.allowance")
        connection.execute(
            "INSERT INTO ledger.allowance VALUES (1, 'total', '', %s, %s, 'none'),"
            " (1, 'default', '', %s, %s, %s)",
            (Decimal(total), Decimal(delta), Decimal(own), Decimal(delta), per.value),
        )


def add_people(dsn: str) -> None:
    """Five analysts; ann and bob in a group, bob and carol in another."""
    for name in ANALYSTS:
        add_analyst(dsn, name, None)
    for name, group in (("ann", "g"), ("bob", "g"), ("bob", "h"), ("carol", "h")):
        add_to_group(dsn, group, name)


def with_ledger(dsn: str, use: Callable[[LedgerTables], Awaitable[_T]], connections: int = 4) -> _T:
    async def run() -> _T:
        ledger = LedgerTables(dsn, SOURCE, LEDGER_CIPHER, connections)
        await ledger.open()
        try:
            return await use(ledger)
        finally:
            await ledger.close()

    return asyncio.run(run())


def loss(epsilon: str, delta: str = "1e-6") -> Loss:
    return Loss(Fraction(epsilon), Fraction(delta))


def rows(dsn: str, query: str) -> list[tuple[Any, ...]]:
    with psycopg.connect(dsn) as connection:
        return connection.execute(query.encode()).fetchall()
