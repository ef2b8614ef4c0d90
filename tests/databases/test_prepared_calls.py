"""Statements below psycopg's cursors: prepared once, values and rows as psycopg has them, errors as its own."""

from __future__ import annotations

import asyncio
import json
from decimal import Decimal

import psycopg
import pytest

from proxy.ledger.prepared_calls import LedgerConnection, rows_of_call

_PREPARED = "SELECT count(*) AS n FROM pg_catalog.pg_prepared_statements"


async def _connected(dsn: str) -> LedgerConnection:
    return await LedgerConnection.connect(dsn, autocommit=True)


def test_values_and_rows(ledger_dsn: str) -> None:
    async def talk() -> None:
        connection = await _connected(ledger_dsn)
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
        await connection.close()

    asyncio.run(talk())


def test_it_is_prepared_once(ledger_dsn: str) -> None:
    async def talk() -> None:
        connection = await _connected(ledger_dsn)
        for number in range(5):
            await rows_of_call(connection, "SELECT %s + 1 AS n", (number,))
        assert await rows_of_call(connection, _PREPARED, ()) == [{"n": 2}]
        await connection.close()

    asyncio.run(talk())


def test_an_error_leaves_the_connection_as_it_was(ledger_dsn: str) -> None:
    """One of preparing and one of running; what failed to be prepared is prepared anew."""

    async def talk() -> None:
        connection = await _connected(ledger_dsn)
        with pytest.raises(psycopg.errors.UndefinedTable):
            await rows_of_call(connection, "SELECT * FROM made", ())
        with pytest.raises(psycopg.errors.DivisionByZero):
            await rows_of_call(connection, "SELECT 1 / %s AS n", (0,))
        await rows_of_call(connection, "CREATE TABLE made (n integer)", ())
        assert await rows_of_call(connection, "SELECT * FROM made", ()) == []
        assert await rows_of_call(connection, "SELECT 1 / %s AS n", (1,)) == [{"n": 1}]
        await connection.close()

    asyncio.run(talk())


def test_who_is_cancelled_cancels_the_statement(ledger_dsn: str) -> None:
    async def talk() -> None:
        connection = await _connected(ledger_dsn)
        asking = asyncio.create_task(
            rows_of_call(connection, "SELECT pg_catalog.pg_sleep(%s) AS n", (60,))
        )
        await asyncio.sleep(0.2)
        asking.cancel()
        with pytest.raises(asyncio.CancelledError):
            await asyncio.wait_for(asking, 10)
        assert await rows_of_call(connection, "SELECT 1 AS n", ()) == [{"n": 1}]
        await connection.close()

    asyncio.run(talk())


def test_who_is_cancelled_while_it_is_prepared(ledger_dsn: str) -> None:
    async def talk() -> None:
        connection = await _connected(ledger_dsn)
        for number in range(5):
            asking = asyncio.create_task(rows_of_call(connection, "SELECT %s AS n", (number,)))
            await asyncio.sleep(0)
            asking.cancel()
            with pytest.raises(asyncio.CancelledError):
                await asking
        assert await rows_of_call(connection, "SELECT %s AS n", (7,)) == [{"n": 7}]
        await connection.close()

    asyncio.run(talk())


def test_a_lost_connection_is_an_error(ledger_dsn: str) -> None:
    async def talk() -> None:
        connection = await _connected(ledger_dsn)
        with pytest.raises(psycopg.OperationalError):
            await rows_of_call(
                connection,
                "SELECT pg_catalog.pg_terminate_backend(pg_catalog.pg_backend_pid()) AS n",
                (),
            )
        assert connection.closed
        await connection.close()

    asyncio.run(talk())
