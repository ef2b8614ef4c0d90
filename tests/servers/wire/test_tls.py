"""TLS of the wire's listener."""

from __future__ import annotations

import contextlib
import ssl
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest

from proxy.pgwire.frames import U32
from proxy.servers.certificate import ALPN, server_context
from proxy.servers.wire.shared_server_state import Limits
from tests.machine_speed import allowed_wait
from tests.servers.wire.bare_connection import SSL_REQUEST, answer, dial, startup
from tests.servers.wire.conftest import Running, serve
from tests.waiting import until
from tests.wire_shadow import PASSWORD

COUNT = "SELECT count(*) FROM shop.orders"


@pytest.fixture
def encrypted(certificate: tuple[Path, Path]) -> Iterator[Running]:
    yield from serve(tls=server_context(*certificate, ALPN))


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


@pytest.fixture
def required(certificate: tuple[Path, Path]) -> Iterator[Running]:
    yield from serve(tls=server_context(*certificate, ALPN), requires_tls=True)


def test_required_tls_refuses_plain_text(required: Running) -> None:
    """F20. In PostgreSQL's words, before any password; right and wrong ones alike."""
    for password in (PASSWORD, "wrong"):
        with pytest.raises(psycopg.OperationalError) as caught:
            psycopg.connect(required.conninfo(sslmode="disable"), password=password)
        assert (
            'FATAL:  no pg_hba.conf entry for host "127.0.0.1", user "alice", database "shop",'
            " no encryption" in str(caught.value)
        )
    with dial(required) as connection:
        connection.sendall(startup(user="alice", database="shop"))
        heard = answer(connection)
        assert heard[:1] == b"E"  # no challenge
        assert b"C28000\0" in heard
    for mode in ("allow", "prefer", "require"):
        with psycopg.connect(required.conninfo(sslmode=mode)) as connected:
            assert connected.pgconn.ssl_in_use
            assert connected.execute(COUNT).fetchone() == (42,)


def test_a_cancel_request_may_be_plain_as_in_postgres(required: Running) -> None:
    with psycopg.connect(required.conninfo(sslmode="require"), autocommit=True) as connection:
        sleeping = threading.Thread(target=_cancelled, args=(connection,))
        sleeping.start()
        until(lambda: _is_sleeping(required))
        (key,) = required.server._state.cancels._sessions
        with dial(required) as plain:  # libpq's PQcancel never encrypts
            plain.sendall(U32.pack(8 + len(key)) + U32.pack(80877102) + key)
            assert answer(plain) == b""
        sleeping.join(60)
        assert not sleeping.is_alive()


def _cancelled(connection: psycopg.Connection) -> None:
    with pytest.raises(psycopg.errors.QueryCanceled):
        connection.execute("SELECT pg_sleep(30)")


def _is_sleeping(relay: Running) -> bool:
    with psycopg.connect(relay.shadow.postgres.dsn(), autocommit=True) as connection:
        found = connection.execute("SELECT FROM pg_stat_activity WHERE wait_event = 'PgSleep'")
        return found.fetchone() is not None


@pytest.mark.timed
def test_a_stalled_handshake_is_ended(certificate: tuple[Path, Path]) -> None:
    context = server_context(*certificate, ALPN)
    for relay in serve(Limits(authentication_seconds=2), tls=context, requires_tls=True):
        with dial(relay) as connection:
            connection.sendall(SSL_REQUEST)
            assert connection.recv(1) == b"S"
            connection.sendall(b"\x16\x03\x01\x40\x00")
            began = time.monotonic()
            answer(connection)
            assert time.monotonic() - began < allowed_wait(8)


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
        connection.sendall(SSL_REQUEST + startup(user="alice", database="shop"))
        heard = answer(connection)
    assert heard[:1] != b"S"
    assert b"unencrypted" in heard
