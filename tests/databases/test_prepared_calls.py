"""Statements below psycopg's cursors: prepared once, values and rows as psycopg has them, errors as its own."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable
from decimal import Decimal

import psycopg
import pytest

from proxy.ledger.ledger_tables import LedgerConnection, rows_of_call

_PREPARED = "SELECT count(*) AS n FROM pg_catalog.pg_prepared_statements"
Work = Callable[[LedgerConnection], Awaitable[None]]


@pytest.fixture
def connected(ledger_dsn: str) -> Callable[[Work], None]:
    async def run(work: Work) -> None:
        connection = await LedgerConnection.connect(ledger_dsn, autocommit=True)
        try:
            await work(connection)
        finally:
            await connection.close()

    return lambda work: asyncio.run(run(work))


def test_values_and_rows(connected: Callable[[Work], None]) -> None:
    async def work(connection: LedgerConnection) -> None:
        values = (
            7,
            "o'r",
            None,
            Decimal("0.50"),
            json.dumps({"a": [1]}),
            b"\x00\xff",
            [b"x", None],
        )
        text = (
            "SELECT %s AS a, %s AS b, %s::text AS c, %s::numeric AS d, %s::jsonb AS e, %s::bytea AS f,"
            " %s::bytea[] AS g"
        )
        assert await rows_of_call(connection, text, values) == [
            dict(zip("abcdefg", (*values[:4], {"a": [1]}, *values[5:]), strict=True))
        ]
        many = await rows_of_call(connection, "SELECT generate_series(1, %s) AS n", (3,))
        assert many == [{"n": 1}, {"n": 2}, {"n": 3}]
        assert await rows_of_call(connection, "SELECT 1 AS n WHERE false", ()) == []

    connected(work)


def test_it_is_prepared_once(connected: Callable[[Work], None]) -> None:
    async def work(connection: LedgerConnection) -> None:
        for number in range(5):
            await rows_of_call(connection, "SELECT %s + 1 AS n", (number,))
        assert await rows_of_call(connection, _PREPARED, ()) == [{"n": 2}]

    connected(work)


def test_an_error_leaves_the_connection_as_it_was(connected: Callable[[Work], None]) -> None:
    """One of preparing and one of running; what failed to be prepared is prepared anew."""

    async def work(connection: LedgerConnection) -> None:
        with pytest.raises(psycopg.errors.UndefinedTable):
            await rows_of_call(connection, "SELECT * FROM made", ())
        with pytest.raises(psycopg.errors.DivisionByZero):
            await rows_of_call(connection, "SELECT 1 / %s AS n", (0,))
        await rows_of_call(connection, "CREATE TABLE made (n integer)", ())
        assert await rows_of_call(connection, "SELECT * FROM made", ()) == []
        assert await rows_of_call(connection, "SELECT 1 / %s AS n", (1,)) == [{"n": 1}]

    connected(work)


def test_who_is_cancelled_cancels_the_statement(connected: Callable[[Work], None]) -> None:
    async def work(connection: LedgerConnection) -> None:
        asking = asyncio.create_task(
            rows_of_call(connection, "SELECT pg_catalog.pg_sleep(%s) AS n", (60,))
        )
        await asyncio.sleep(0.2)
        asking.cancel()
        with pytest.raises(asyncio.CancelledError):
            await asyncio.wait_for(asking, 60)
        assert await rows_of_call(connection, "SELECT 1 AS n", ()) == [{"n": 1}]

    connected(work)


def test_who_is_cancelled_while_it_is_prepared(connected: Callable[[Work], None]) -> None:
    async def work(connection: LedgerConnection) -> None:
        for number in range(5):
            asking = asyncio.create_task(rows_of_call(connection, "SELECT %s AS n", (number,)))
            await asyncio.sleep(0)
            asking.cancel()
            with pytest.raises(asyncio.CancelledError):
                await asking
        assert await rows_of_call(connection, "SELECT %s AS n", (7,)) == [{"n": 7}]

    connected(work)


def test_a_lost_connection_is_an_error(connected: Callable[[Work], None]) -> None:
    async def work(connection: LedgerConnection) -> None:
        with pytest.raises(psycopg.OperationalError):
            await rows_of_call(
                connection,
                "SELECT pg_catalog.pg_terminate_backend(pg_catalog.pg_backend_pid()) AS n",
                (),
            )
        assert connection.closed

    connected(work)
