"""What the statements of one session are answered, what PostgreSQL answers by itself, and what that has cost.

Where no database is named it is the first that the proxy serves.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import psycopg

from proxy.cli.assembly import Database
from tests.live_proxy import LiveProxy

Rows = list[tuple[Any, ...]]


def _served(proxy: LiveProxy, name: str | None) -> Database:
    databases = proxy.assembly.databases
    return databases[next(iter(databases)) if name is None else name]


def answers_to(
    proxy: LiveProxy, analyst: str, *texts: str, database: str | None = None, **settings: str
) -> list[Rows]:
    """Of each statement its rows. settings: of dp, by their names"""
    name = _served(proxy, database).policy.database
    with proxy.connect(name, analyst=analyst) as connection:
        for setting, value in settings.items():
            connection.execute(f"SET dp.{setting} = {value}".encode())
        return [connection.execute(text.encode()).fetchall() for text in texts]


def exact_answer(proxy: LiveProxy, text: str, database: str | None = None) -> Rows:
    """Of the protected server, past the proxy."""
    name = _served(proxy, database).policy.database
    with psycopg.connect(proxy.servers.protected.dsn(name)) as owner:
        return owner.execute(text.encode()).fetchall()


def assert_near(
    noisy: Sequence[tuple[Any, ...]], exact: Sequence[tuple[Any, ...]], within: float
) -> None:
    """Texts and booleans are the same, and numbers differ by less than `within`."""
    assert len(noisy) == len(exact), (noisy, exact)
    for row, exact_row in zip(noisy, exact, strict=True):
        for one, other in zip(row, exact_row, strict=True):
            if isinstance(other, str | bool):
                assert one == other, (noisy, exact)
            else:
                assert abs(float(one) - float(other)) < within, (noisy, exact)


def total_paid(proxy: LiveProxy, database: str | None = None) -> float:
    """The epsilon that the shared budget has paid, by the receipts."""
    lease = _served(proxy, database).lease
    with psycopg.connect(lease.ledger_dsn) as connection:
        row = connection.execute(
            "SELECT coalesce(sum(coalesce(drawn_epsilon, epsilon)), 0)::float8 FROM ledger.receipt"
            " WHERE source = %s",
            (lease.source,),
        ).fetchone()
    assert row is not None
    return float(row[0])
