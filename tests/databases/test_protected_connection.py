"""A connection that is read below psycopg's cursors: nothing is lost, and nothing waits for ever."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from typing import Any

import psycopg
import pytest

from proxy.protected.protected_connection import ROWS_AT_ONCE, ProtectedConnection
from proxy.protected.protected_database import numbered
from tests.servers_fixture import Servers

Work = Callable[[ProtectedConnection], Awaitable[None]]


@pytest.fixture
def connected(pair: Servers) -> Callable[[Work], None]:
    async def run(work: Work) -> None:
        connection = await ProtectedConnection.connect(pair.protected.dsn("shop"), autocommit=True)
        try:
            await asyncio.wait_for(work(connection), 20)
        finally:
            connection.finish()

    return lambda work: asyncio.run(run(work))


async def _rows(connection: ProtectedConnection, sql: str, **values: object) -> list[Any]:
    text, names = numbered(sql)
    connection.send(text, [values[name] for name in names])
    found = []
    while (rows := await connection.next_rows()) is not None:
        found += rows
    return found


def test_values_go_and_come_as_with_a_cursor(connected: Callable[[Work], None]) -> None:
    sql = (
        "SELECT %(a)s::bigint, %(b)s::text, %(c)s::text[], %(d)s::text, %(a)s::numeric, 7 %% 4"
        " WHERE %(e)s::bigint > 0"
    )
    values = {"a": 5, "b": "ü'", "c": ["x", None], "d": None, "e": 2**40}

    async def work(connection: ProtectedConnection) -> None:
        cursor = connection.cursor(binary=True)
        await cursor.execute(sql.encode(), values)
        expected = await cursor.fetchall()
        for _ in range(2):
            assert await _rows(connection, sql, **values) == expected
        assert await _rows(connection, sql, **{**values, "e": -1}) == []

    connected(work)


@pytest.mark.parametrize("number", [0, 1, ROWS_AT_ONCE, ROWS_AT_ONCE + 1, 30 * ROWS_AT_ONCE])
def test_all_rows_in_their_order(connected: Callable[[Work], None], number: int) -> None:
    """With cursors of psycopg's in between, which watch the socket by themselves."""

    async def work(connection: ProtectedConnection) -> None:
        sql = "SELECT g FROM generate_series(1, %(number)s::int) AS g"
        for _ in range(2):
            await connection.command(b"BEGIN")
            assert await _rows(connection, sql, number=number) == [
                (row,) for row in range(1, number + 1)
            ]
            cursor = await connection.execute("SELECT 1")
            assert await cursor.fetchone() == (1,)
            await connection.command(b"ROLLBACK")

    connected(work)


def test_a_parameter_larger_than_what_the_socket_takes(connected: Callable[[Work], None]) -> None:
    async def work(connection: ProtectedConnection) -> None:
        large = "x" * 20_000_000
        assert await _rows(connection, "SELECT length(%(p)s::text)", p=large) == [(len(large),)]

    connected(work)


def test_an_error_of_the_server(connected: Callable[[Work], None]) -> None:
    async def work(connection: ProtectedConnection) -> None:
        connection.replied = False
        with pytest.raises(psycopg.errors.DivisionByZero):
            await _rows(connection, "SELECT 1 / %(p)s::int", p=0)
        assert connection.replied

    connected(work)


def test_silence(connected: Callable[[Work], None]) -> None:
    async def work(connection: ProtectedConnection) -> None:
        with pytest.raises(TimeoutError):
            await connection.command(b"DO $$BEGIN PERFORM pg_sleep(60); END$$", 0.2)

    connected(work)


@pytest.mark.timed
def test_a_statement_is_left_and_interrupted(
    connected: Callable[[Work], None], pair: Servers
) -> None:
    """Who is cancelled goes at once; the server lets go, too."""

    async def left(connection: ProtectedConnection) -> None:
        reading = asyncio.ensure_future(_rows(connection, "SELECT pg_sleep(60)::text"))
        await asyncio.sleep(0.2)
        begun = time.monotonic()
        reading.cancel()
        with pytest.raises(asyncio.CancelledError):
            await reading
        assert time.monotonic() - begun < 1
        await connection.interrupt()
        with psycopg.connect(pair.protected.dsn("shop")) as other:
            found = other.execute(
                "SELECT state FROM pg_stat_activity WHERE pid = %s", (connection.info.backend_pid,)
            )
            assert found.fetchone() == ("idle",)

    connected(left)


@pytest.mark.timed
def test_a_connection_that_is_ended_while_nobody_waits(
    connected: Callable[[Work], None], pair: Servers
) -> None:
    async def ended(connection: ProtectedConnection) -> None:
        await connection.command(b"BEGIN")
        with psycopg.connect(pair.protected.dsn("shop"), autocommit=True) as other:
            other.execute("SELECT pg_terminate_backend(%s)", (connection.info.backend_pid,))
        before = time.process_time()
        await asyncio.sleep(0.5)
        assert time.process_time() - before < 0.3  # the loop is not kept busy by the end of it
        connection.replied = False
        with pytest.raises(psycopg.OperationalError):
            await _rows(connection, "SELECT 1")
        assert connection.replied  # why it was ended

    connected(ended)
