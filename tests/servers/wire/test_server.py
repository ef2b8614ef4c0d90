"""The server's edges: limits, hostile bytes, clients that go away, shutting down."""

from __future__ import annotations

import asyncio
import socket
import time

import psycopg
import pytest
import uvloop

from proxy.pgwire.frames import query
from proxy.servers.wire.shared_server_state import ServedDatabase, ShadowAddress
from proxy.servers.wire.wire_server import WireServer
from tests.raw_client import RawClient
from tests.scripted_engine import ScriptedEngine
from tests.servers.wire.conftest import Running, serve
from tests.waiting import until
from tests.wire_shadow import wire_shadow

COUNT = "SELECT count(*) FROM shop.orders"


@pytest.mark.parametrize(
    "hostile",
    [
        b"Q\0\0\0\0",
        b"Q\xff\xff\xff\xff",
        b"!\0\0\0\x04",
        b"p\0\0\0\x05x",
        b"Q\x05\0\0\0",
        bytes(50),
    ],
)
def test_hostile_frames_end_the_session_only(hostile: bytes, relay: Running) -> None:
    with RawClient(relay.conninfo()) as client:
        client.send(hostile)
        frames = client.until_ready()
        assert frames[-1][0] == b"E"
        assert b"FATAL" in frames[-1][1]
        assert client.receive() is None
    with relay.connect() as fine:
        assert fine.execute(COUNT).fetchone() == (42,)


@pytest.mark.parametrize(
    "malformed",
    [
        b"P\0\0\0\x06a\0",
        b"B\0\0\0\x06a\0",
        b"B\0\0\0\x0c\0\0\xff\xff\0\0\0\0",
        b"D\0\0\0\x05S",
        b"E\0\0\0\x05x",
        b"C\0\0\0\x06Zx",
        b"P\0\0\0\x0e\0SELECT\0\0\0",
        b"P\0\0\0\x0f\0SEL\xff\xfeCT\0\0\0",
    ],
)
def test_malformed_messages_get_postgres_answer(malformed: bytes, relay: Running) -> None:
    heard = []
    for port in (relay.shadow.port, relay.port):
        with RawClient(relay.shadow.conninfo(port)) as client:
            # A remembered statement takes the machine off its quickest path.
            text = COUNT if port == relay.port else "SELECT 1"
            client.send(query(f"SELECT 1; {text}".encode()), malformed, b"S\0\0\0\x04")
            client.until_ready()
            heard.append(client.until_ready())
    assert heard[0] == heard[1]


def test_queries_are_cancelled_when_the_client_goes_away(relay: Running) -> None:
    with RawClient(relay.conninfo()) as client:
        client.send(query(f"{COUNT} WHERE amount > 777".encode()))
        until(relay.engine.waiting.is_set)
        assert relay.engine.cancelled == 0
        client.socket.shutdown(socket.SHUT_RDWR)
    until(lambda: relay.engine.cancelled == 1)
    until(lambda: relay.server.connections == 0)


def test_memory_is_bounded_behind_a_question(relay: Running) -> None:
    with RawClient(relay.conninfo()) as client:
        client.send(query(f"{COUNT} WHERE amount > 777".encode()))
        until(relay.engine.waiting.is_set)
        # A machine may let the buffers of its sockets grow to 32 MiB; these do not grow.
        client.socket.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, _SOCKET_BUFFER)
        relay.do(_receive_buffer_is(_SOCKET_BUFFER, relay))
        client.socket.settimeout(1)
        sent = 0
        with pytest.raises(TimeoutError):
            while sent < 64 * 1024 * 1024:
                sent += client.socket.send(query(b"SELECT 1" + b" " * 60_000))
        # The megabyte that waits, what one turn reads over it, and both buffers, which a kernel may double.
        assert sent < 2 * 1024 * 1024 + 4 * _SOCKET_BUFFER


_SOCKET_BUFFER = 128 * 1024


async def _receive_buffer_is(size: int, relay: Running) -> None:
    (connection,) = relay.server._connections
    assert connection._transport is not None
    connected = connection._transport.get_extra_info("socket")
    connected.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, size)


def test_a_client_that_does_not_read_stops_the_shadow(relay: Running) -> None:
    with RawClient(relay.conninfo()) as client:
        client.send(query(b"SELECT repeat('x', 1000) FROM generate_series(1, 100000)"))
        time.sleep(0.3)
        buffered = relay.do(_written_ahead(relay))
        assert buffered < 2 * 1024 * 1024
        frames = client.until_ready()
        assert sum(tag == b"D" for tag, _ in frames) == 100_000


async def _written_ahead(relay: Running) -> int:
    (connection,) = relay.server._connections
    assert connection._transport is not None
    return connection._transport.get_write_buffer_size()


def test_large_values_both_ways(relay: Running) -> None:
    value = "ä" * 3_000_000
    with relay.connect() as connection:
        assert connection.execute("SELECT %s::text", (value,)).fetchone() == (value,)
        assert connection.execute(f"SELECT length('{value}')").fetchone() == (len(value),)
        with connection.cursor() as cursor:
            cursor.execute("CREATE TEMP TABLE big (v text)")
            with cursor.copy("COPY big FROM STDIN") as copy:
                copy.write_row((value,))
            assert cursor.execute("SELECT v FROM big").fetchone() == (value,)
            with pytest.raises(psycopg.errors.StatementTooComplex):
                cursor.execute(f"{COUNT} -- {'x' * 50_000}")


def test_stop_lets_a_transaction_end() -> None:
    for relay in serve():
        with RawClient(relay.conninfo()) as idle, psycopg.connect(relay.conninfo()) as busy:
            busy.execute("SELECT 1")
            stopping = asyncio.run_coroutine_threadsafe(relay.server.stop(120), relay.loop)
            last = idle.receive()
            assert last is not None
            assert last[0] == b"E"
            assert b"C57P01\0" in last[1]
            assert idle.receive() is None
            assert busy.execute(COUNT).fetchone() == (42,)
            assert relay.server.connections == 1
            busy.commit()
            stopping.result(60)
            assert relay.server.connections == 0
        with pytest.raises(psycopg.OperationalError):
            relay.connect()


def test_a_shadow_that_is_away() -> None:
    shadow = wire_shadow()
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        for relay in serve():
            engine = relay.engine
            away = ServedDatabase(ShadowAddress("127.0.0.1", unused.getsockname()[1]), engine)
            server = WireServer({"shop": away})
            relay.do(server.start("127.0.0.1", 0))
            with pytest.raises(psycopg.OperationalError, match="is not available"):
                psycopg.connect(shadow.conninfo(server.address[1]))
            relay.do(server.stop(0))


def test_on_uvloop_over_a_unix_socket() -> None:
    shadow = wire_shadow()
    info = psycopg.conninfo.conninfo_to_dict(shadow.postgres.dsn("shop"))

    async def talk() -> None:
        served = ServedDatabase(
            ShadowAddress(str(info["host"]), int(str(info["port"]))),
            ScriptedEngine(shadow.orders_oid),
        )
        server = WireServer({"shop": served})
        await server.start("127.0.0.1", 0)
        conninfo = psycopg.conninfo.make_conninfo(
            shadow.conninfo(server.address[1]), host="127.0.0.1"
        )
        try:
            async with await psycopg.AsyncConnection.connect(conninfo) as connection:
                row = await (await connection.execute(COUNT)).fetchone()
                assert row == (42,)
        finally:
            await server.stop(1)

    uvloop.run(talk())
