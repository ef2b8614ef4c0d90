"""The server's edges: logging in, TLS, limits, hostile bytes, clients that go away, shutting down."""

from __future__ import annotations

import asyncio
import contextlib
import socket
import ssl
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest
import uvloop

from proxy.pgwire.frames import U32, fatal, query
from proxy.servers.wire.brain import Served, ShadowAddress
from proxy.servers.wire.hub import Limits
from proxy.servers.wire.server import WireServer
from proxy.servers.wire.tls import server_context
from tests.raw_client import RawClient
from tests.scripted_brain import ScriptedBrain
from tests.servers.wire.conftest import Running, serve
from tests.wire_shadow import wire_shadow

COUNT = "SELECT count(*) FROM shop.orders"
_SSL_REQUEST = U32.pack(8) + U32.pack(80877103)
_GSSENC_REQUEST = U32.pack(8) + U32.pack(80877104)


def startup(version: int = 196608, **parameters: str) -> bytes:
    pairs = b"".join(f"{name}\0{value}\0".encode() for name, value in parameters.items())
    body = U32.pack(version) + pairs + b"\0"
    return U32.pack(len(body) + 4) + body


def dial(relay: Running) -> socket.socket:
    return socket.create_connection((relay.shadow.host, relay.port), 10)


def answer(connection: socket.socket) -> bytes:
    """All until the server closes."""
    heard = b""
    with contextlib.suppress(ConnectionResetError):
        while chunk := connection.recv(1 << 16):
            heard += chunk
    return heard


def until(condition: object, seconds: float = 5) -> None:
    deadline = time.monotonic() + seconds
    while not condition():  # type: ignore[operator]
        assert time.monotonic() < deadline, "it did not happen in time"
        time.sleep(0.01)


@pytest.mark.parametrize(
    ("parameters", "text"),
    [
        ({"dbname": "nosuch"}, 'database "nosuch" does not exist'),
        ({"dbname": "postgres"}, 'database "postgres" does not exist'),
        ({"options": "-c wal_level=minimal"}, "unrecognized configuration parameter"),
        ({"options": "-d 5"}, "invalid command-line argument"),
        ({"replication": "database"}, "replication"),
    ],
)
def test_refused_before_a_session(parameters: dict[str, str], text: str, relay: Running) -> None:
    with pytest.raises(psycopg.OperationalError, match=text) as caught:
        psycopg.connect(relay.conninfo(), **parameters)  # type: ignore[arg-type]
    assert "FATAL" in str(caught.value)


def test_wrong_password_and_unknown_user_are_postgres_words(relay: Running) -> None:
    for user in ("alice", "nobody"):
        with pytest.raises(psycopg.OperationalError) as direct:
            psycopg.connect(relay.shadow.conninfo(), user=user, password="wrong")
        with pytest.raises(psycopg.OperationalError) as relayed:
            psycopg.connect(relay.conninfo(), user=user, password="wrong")
        port, own = str(relay.port), str(relay.shadow.port)
        assert str(relayed.value).replace(port, own) == str(direct.value)


def test_which_databases_there_are_is_told_after_the_password(relay: Running) -> None:
    with pytest.raises(psycopg.OperationalError, match="password authentication failed"):
        psycopg.connect(relay.conninfo(), dbname="nosuch", password="wrong")


@pytest.mark.parametrize(
    "packet",
    [
        _SSL_REQUEST + b"Q\0\0\0\x0dSELECT 1\0",
        _SSL_REQUEST + startup(user="alice", database="shop"),
        _GSSENC_REQUEST + startup(user="alice"),
        U32.pack(0) + bytes(8),
        U32.pack(7) + bytes(8),
        U32.pack(0x7FFFFFFF) + bytes(8),
        U32.pack(0x80000001) + bytes(8),
        U32.pack(10_001) + U32.pack(196608) + bytes(9993),
        startup(version=131072, user="alice"),
        startup(version=262144, user="alice"),
        startup(database="shop"),
        startup(user="alice", user2="x"),
        startup(user="alice")[:-1] + b"x",
        startup(user="alice", options="-c="),
        startup(user="alice", options="-c search_path"),
        b"GET / HTTP/1.1\r\nHost: x\r\n\r\n",
        b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03",  # TLS where there is none
        U32.pack(16) + U32.pack(80877102) + bytes(8),  # an unknown cancel key
    ],
)
def test_hostile_startup_is_closed(packet: bytes, relay: Running) -> None:
    with dial(relay) as connection:
        connection.sendall(packet)
        heard = answer(connection)
    assert heard == b"" or heard[:1] == b"E"
    assert b"FATAL" in heard or heard == b""
    with relay.connect() as fine:
        assert fine.execute(COUNT).fetchone() == (42,)


def test_encryption_requests_are_declined_without_tls(relay: Running) -> None:
    with dial(relay) as connection:
        connection.sendall(_GSSENC_REQUEST)
        assert connection.recv(1) == b"N"
        connection.sendall(_SSL_REQUEST)
        assert connection.recv(1) == b"N"
        connection.sendall(_SSL_REQUEST)
        assert b"FATAL" in answer(connection)


def test_only_passwords_before_authentication(relay: Running) -> None:
    with dial(relay) as connection:
        connection.sendall(startup(user="alice", database="shop"))
        assert connection.recv(1) == b"R"
        connection.sendall(query(COUNT.encode()))
        assert b"expected password response" in answer(connection)
    with dial(relay) as connection:
        connection.sendall(startup(user="alice", database="shop"))
        assert connection.recv(1) == b"R"
        connection.sendall(b"p" + U32.pack(0x7FFFFFFF))
        assert b"FATAL" in answer(connection)


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


def test_a_slow_login_is_cut() -> None:
    for relay in serve(Limits(authentication_seconds=0.2)):
        with dial(relay) as connection:
            assert answer(connection) == fatal("57014", "canceling authentication due to timeout")
        with relay.connect() as fine:
            time.sleep(0.3)
            assert fine.execute(COUNT).fetchone() == (42,)


def test_unauthenticated_connections_are_limited() -> None:
    for relay in serve(Limits(unauthenticated_connections=3)):
        with relay.connect() as fine, contextlib.ExitStack() as stack:
            waiting = [stack.enter_context(dial(relay)) for _ in range(3)]
            until(lambda relay=relay: relay.server.connections == 4)
            with dial(relay) as connection:
                assert answer(connection) == b""
            assert fine.execute(COUNT).fetchone() == (42,)
            for connection in waiting:
                connection.close()
            until(lambda relay=relay: relay.server.connections == 1)
            with relay.connect() as another:
                assert another.execute(COUNT).fetchone() == (42,)


def test_asks_are_cancelled_when_the_client_goes_away(relay: Running) -> None:
    with RawClient(relay.conninfo()) as client:
        client.send(query(f"{COUNT} WHERE amount > 777".encode()))
        until(relay.brain.waiting.is_set)
        assert relay.brain.cancelled == 0
        client.socket.shutdown(socket.SHUT_RDWR)
    until(lambda: relay.brain.cancelled == 1)
    until(lambda: relay.server.connections == 0)


def test_memory_is_bounded_behind_a_question(relay: Running) -> None:
    with RawClient(relay.conninfo()) as client:
        client.send(query(f"{COUNT} WHERE amount > 777".encode()))
        until(relay.brain.waiting.is_set)
        client.socket.settimeout(0.5)
        sent = 0
        with pytest.raises(TimeoutError):
            while sent < 64 * 1024 * 1024:
                sent += client.socket.send(query(b"SELECT 1" + b" " * 60_000))
        # What the kernel's buffers of both ends hold, and the server's megabyte.
        assert sent < 24 * 1024 * 1024


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
                cursor.execute(f"{COUNT} -- {'x' * 20_000}")


def test_stop_lets_a_transaction_end() -> None:
    for relay in serve():
        with RawClient(relay.conninfo()) as idle, psycopg.connect(relay.conninfo()) as busy:
            busy.execute("SELECT 1")
            stopping = asyncio.run_coroutine_threadsafe(relay.server.stop(20), relay.loop)
            last = idle.receive()
            assert last is not None
            assert last[0] == b"E"
            assert b"C57P01\0" in last[1]
            assert idle.receive() is None
            assert busy.execute(COUNT).fetchone() == (42,)
            assert relay.server.connections == 1
            busy.commit()
            stopping.result(10)
            assert relay.server.connections == 0
        with pytest.raises(psycopg.OperationalError):
            relay.connect()


def test_a_shadow_that_is_away() -> None:
    shadow = wire_shadow()
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        for relay in serve():
            brain = relay.brain
            away = Served(ShadowAddress("127.0.0.1", unused.getsockname()[1]), brain)
            server = WireServer({"shop": away})
            relay.do(server.start("127.0.0.1", 0))
            with pytest.raises(psycopg.OperationalError, match="is not available"):
                psycopg.connect(shadow.conninfo(server.address[1]))
            relay.do(server.stop(0))


def test_on_uvloop_over_a_unix_socket() -> None:
    shadow = wire_shadow()
    info = psycopg.conninfo.conninfo_to_dict(shadow.postgres.dsn("shop"))

    async def talk() -> None:
        served = Served(
            ShadowAddress(str(info["host"]), int(str(info["port"]))),
            ScriptedBrain(shadow.orders_oid),
        )
        server = WireServer({"shop": served})
        await server.start("127.0.0.1", 0)
        conninfo = psycopg.conninfo.make_conninfo(
            shadow.postgres.dsn("shop"), host="127.0.0.1", port=server.address[1]
        )
        async with await psycopg.AsyncConnection.connect(conninfo) as connection:
            row = await (await connection.execute(COUNT)).fetchone()
            assert row == (42,)
        await server.stop(1)

    uvloop.run(talk())


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    folder = tmp_path_factory.mktemp("tls")
    certificate, key = folder / "cert.pem", folder / "key.pem"
    try:
        subprocess.run(
            [
                "openssl",
                "req",
                "-x509",
                "-newkey",
                "rsa:2048",
                "-nodes",
                "-days",
                "2",
                "-subj",
                "/CN=localhost",
                "-keyout",
                str(key),
                "-out",
                str(certificate),
            ],
            check=True,
            capture_output=True,
        )
    except FileNotFoundError:
        pytest.skip("there is no openssl to make a certificate")
    return certificate, key


@pytest.fixture
def encrypted(certificate: tuple[Path, Path]) -> Iterator[Running]:
    yield from serve(tls=server_context(*certificate))


def test_tls(encrypted: Running, certificate: tuple[Path, Path]) -> None:
    conninfo = encrypted.conninfo(
        sslmode="verify-full", sslrootcert=str(certificate[0]), hostaddr="127.0.0.1"
    )
    conninfo = psycopg.conninfo.make_conninfo(conninfo, host="localhost")
    with psycopg.connect(conninfo, autocommit=True) as connection:
        assert connection.pgconn.ssl_in_use
        assert connection.execute(COUNT).fetchone() == (42,)
        large = "SELECT repeat('x', 1000) FROM generate_series(1, 20000)"
        assert len(connection.execute(large).fetchall()) == 20_000
    with psycopg.connect(encrypted.conninfo(sslmode="disable")) as connection:
        assert connection.execute(COUNT).fetchone() == (42,)


def test_direct_tls_needs_alpn(encrypted: Running) -> None:
    if psycopg.pq.version() >= 170000:
        direct = encrypted.conninfo(sslmode="require", sslnegotiation="direct")
        with psycopg.connect(direct) as connection:
            assert connection.execute(COUNT).fetchone() == (42,)
    context = ssl.create_default_context()
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    with (
        dial(encrypted) as plain,
        contextlib.suppress(ssl.SSLError, ConnectionResetError),
        context.wrap_socket(plain) as connection,
    ):
        connection.sendall(startup(user="alice", database="shop"))
        assert connection.recv(100) == b""


def test_bytes_stuffed_behind_the_tls_request(encrypted: Running) -> None:
    with dial(encrypted) as connection:
        connection.sendall(_SSL_REQUEST + startup(user="alice", database="shop"))
        heard = answer(connection)
    assert heard[:1] != b"S"
    assert b"unencrypted" in heard
