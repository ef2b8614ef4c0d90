"""A client of dpproxy's own PostgreSQL listener: what `dpproxy demo --check` asks with."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from typing import Any

import psycopg


@dataclass(frozen=True, slots=True)
class StatementReport:
    """remaining: epsilon that is left; refusal: SQLSTATE and message, if it was one."""

    rows: tuple[tuple[Any, ...], ...]
    charged: Decimal
    remaining: Decimal
    refusal: tuple[str, str] | None = None


def query_over_the_wire(
    address: tuple[str, int], database: str, user: str, password: str, sql: str
) -> StatementReport:
    """One question in a session of its own, and what the ledger says of it."""
    host, port = address
    with psycopg.connect(
        host=host, port=port, user=user, password=password, dbname=database, autocommit=True
    ) as connection:
        before = _spent(connection)
        rows: tuple[tuple[Any, ...], ...] = ()
        refusal = None
        try:
            rows = tuple(connection.execute(sql.encode()).fetchall())
        except psycopg.Error as error:
            refusal = (error.sqlstate or "", error.diag.message_primary or "")
        left = connection.execute("SELECT min(epsilon_remaining) FROM dp.budget").fetchone()
        assert left is not None
        return StatementReport(rows, _spent(connection) - before, left[0], refusal)


def _spent(connection: psycopg.Connection) -> Decimal:
    row = connection.execute("SELECT coalesce(sum(epsilon), 0) FROM dp.history").fetchone()
    assert row is not None
    return Decimal(row[0])
