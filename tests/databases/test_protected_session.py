"""A session on the protected database takes four kinds of requests, and looks at each before it is sent; the
connection beneath it."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from types import SimpleNamespace
from typing import Any, TypeVar

import psycopg
import pytest

from proxy.base.errors import Fault
from proxy.compiler.backend_query import BackendQuery
from proxy.exact.table import ExactTable
from proxy.protected.protected_connection import ROWS_AT_ONCE, ProtectedConnection
from proxy.protected.protected_database import DatabaseSession, ProtectedDatabase, numbered
from proxy.turns.threads import Turn
from tests.machine_speed import allowed_wait, allowed_work
from tests.servers_fixture import Servers
from tests.uncharged_statements import compiled_anyhow, unpaid

T = TypeVar("T")
_SECRET = BackendQuery(
    sql="SELECT count(*) FROM shop.orders",
    parameters={},
    seeds=(),
    keys=0,
    has_sub_partition=False,
    slots=(),
    releases=(),
    scalars=(),
    units=None,
)
# As the real ones look.
_LIKE_PAID = SimpleNamespace(query=_SECRET)
_LIKE_COMPILED = compiled_anyhow(_SECRET)
_LIKE_LIST = SimpleNamespace(
    sql="SELECT 1::int8, 1::int8, max(id)::text FROM shop.orders", parameters=()
)


async def _nothing(_: ExactTable) -> str:
    return ""


def _in_session(pair: Servers, ask: Callable[[DatabaseSession], Awaitable[T]]) -> T:
    async def run() -> T:
        data = ProtectedDatabase(pair.protected.dsn("shop"), sessions_max=1)
        await data.open()
        try:
            async with data.session(Turn("")) as session:
                found = await ask(session)
                await asyncio.wait({session.end()})
                return found
        finally:
            await data.close()

    return asyncio.run(run())


@pytest.fixture
def sent(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What is sent in the session."""
    found: list[str] = []
    send, cursor = ProtectedConnection.send, ProtectedConnection.cursor

    def noted(self: ProtectedConnection, text: bytes, values: Any) -> None:
        found.append(text.decode())
        send(self, text, values)

    def opened(self: ProtectedConnection, *given: Any, **named: Any) -> Any:
        found.append("a cursor")
        return cursor(self, *given, **named)

    monkeypatch.setattr(ProtectedConnection, "send", noted)
    monkeypatch.setattr(ProtectedConnection, "cursor", opened)
    return found


@pytest.mark.parametrize("asked", [_LIKE_PAID, _SECRET, _LIKE_COMPILED, _SECRET.sql])
def test_what_is_not_charged_is_not_run(pair: Servers, sent: list[str], asked: Any) -> None:
    async def run(session: DatabaseSession) -> None:
        before = len(sent)
        with pytest.raises(Fault, match="not charged"):
            await session.run(asked, {})
        with pytest.raises(Fault, match="not charged"):
            await session.run_in_two_parts(asked, {}, _nothing)
        assert len(sent) == before

    _in_session(pair, run)


@pytest.mark.parametrize("asked", [_LIKE_LIST, _SECRET, _SECRET.sql])
def test_what_is_no_list_of_a_public_table_is_not_read(
    pair: Servers, sent: list[str], asked: Any
) -> None:
    async def run(session: DatabaseSession) -> None:
        before = len(sent)
        with pytest.raises(Fault, match="not compiled"):
            await session.public_list(asked)
        assert len(sent) == before

    _in_session(pair, run)


@pytest.mark.parametrize("asked", [_SECRET, _LIKE_PAID, _SECRET.sql])
def test_what_was_not_compiled_is_not_analysed(pair: Servers, sent: list[str], asked: Any) -> None:
    async def run(session: DatabaseSession) -> None:
        before = len(sent)
        with pytest.raises(Fault, match="not compiled"):
            await session.understand([asked])
        assert len(sent) == before

    _in_session(pair, run)


def test_what_is_charged_is_run(pair: Servers, sent: list[str]) -> None:
    """So the others would be, if nobody looked."""

    async def run(session: DatabaseSession) -> ExactTable:
        await session.understand([compiled_anyhow(_SECRET)])
        return await session.run(unpaid(_SECRET), {})

    (row,) = _in_session(pair, run).rows
    assert row.values[0] and sent[-1] == _SECRET.sql


Work = Callable[[ProtectedConnection], Awaitable[None]]


@pytest.fixture
def connected(pair: Servers) -> Callable[[Work], None]:
    async def run(work: Work) -> None:
        connection = await ProtectedConnection.connect(pair.protected.dsn("shop"), autocommit=True)
        try:
            await asyncio.wait_for(work(connection), 60)
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
        assert time.monotonic() - begun < allowed_wait(1, below=50)
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
        assert time.process_time() - before < allowed_work(
            0.05, below=0.3
        )  # the loop is not kept busy by the end of it
        connection.replied = False
        with pytest.raises(psycopg.OperationalError):
            await _rows(connection, "SELECT 1")
        assert connection.replied  # why it was ended

    connected(ended)
