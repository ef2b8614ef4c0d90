"""What the operator's log says of a server that cannot be asked: why, and nothing that a server has said."""

from __future__ import annotations

import asyncio
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager

import psycopg
import pytest
import structlog
from psycopg.conninfo import make_conninfo

from proxy.ledger.ledger_sources import SourceError, read_identity
from proxy.postgres.failure_reason import reason_of
from proxy.protected.catalog_reader import Unreachable, reachable_catalog
from proxy.protected.protected_connections import NotAvailable, ProtectedConnections
from tests.servers_fixture import Servers

_ROLE = "refused login"  # as a reason reads


@pytest.fixture
def source(pair: Servers) -> Iterator[str]:
    """Over TCP, as a reader whose password is known."""
    with psycopg.connect(pair.protected.dsn("shop"), autocommit=True) as superuser:
        superuser.execute(f"CREATE ROLE \"{_ROLE}\" LOGIN PASSWORD 'right'".encode())
        host, port = pair.protected.address
        yield make_conninfo(host=host, port=port, dbname="shop", user=_ROLE, password="right")
        superuser.execute(f'DROP ROLE "{_ROLE}"'.encode())


def _free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as server:
        return int(server.getsockname()[1])


@contextmanager
def _answering(fatal: bytes) -> Iterator[int]:
    """A server that says one thing to whoever comes: the port. No bytes: it closes at once."""
    with socket.create_server(("127.0.0.1", 0)) as server:

        def serve() -> None:
            while True:
                try:
                    client, _ = server.accept()
                except OSError:
                    return
                with client:
                    client.recv(8)  # SSLRequest
                    if fatal:
                        client.sendall(b"N")
                        client.recv(1024)
                        client.sendall(b"E" + (len(fatal) + 4).to_bytes(4, "big") + fatal)

        serving = threading.Thread(target=serve)
        serving.start()
        yield int(server.getsockname()[1])
        server.shutdown(socket.SHUT_RDWR)
        serving.join(60)


def _logged(dsn: str) -> structlog.typing.EventDict:
    async def open_() -> None:
        connections = ProtectedConnections(dsn, 1000)
        try:
            with pytest.raises(NotAvailable):
                await connections.open()
        finally:
            await connections.close()

    with structlog.testing.capture_logs() as lines:
        asyncio.run(open_())
    (line,) = lines
    return line


def _said(code: str, text: str) -> bytes:
    fields = [f"S{'FATAL'}", "VFATAL", f"C{code}", f"M{text}"]
    return b"".join(field.encode() + b"\0" for field in fields) + b"\0"


def test_a_changed_password(source: str) -> None:
    line = _logged(make_conninfo(source, password="wrong"))
    assert line["reason"] == "password refused"
    assert line["event"] == "protected_server_not_available"


def test_a_server_that_is_down(source: str) -> None:
    assert _logged(make_conninfo(source, port=_free_port()))["reason"] == "server unreachable"


def test_a_role_with_too_many_connections(pair: Servers, source: str) -> None:
    with psycopg.connect(pair.protected.dsn("shop"), autocommit=True) as superuser:
        superuser.execute(f'ALTER ROLE "{_ROLE}" CONNECTION LIMIT 1'.encode())
        with psycopg.connect(source):
            assert _logged(source)["reason"] == "too many connections"


def test_a_role_that_may_not_log_in(pair: Servers, source: str) -> None:
    with psycopg.connect(pair.protected.dsn("shop"), autocommit=True) as superuser:
        superuser.execute(f'ALTER ROLE "{_ROLE}" NOLOGIN'.encode())
        assert _logged(source)["reason"] == "login refused"


@pytest.mark.parametrize(
    ("code", "text", "reason"),
    [
        ("57P03", "the database system is starting up", "server shut down"),
        ("57P03", "the database system is shutting down", "server shut down"),
        ("53300", "sorry, too many clients already", "too many connections"),
        ("3D000", 'database "too many clients" does not exist', "other"),
        ("XX000", "Ann Smith, born 1970, is in row 7", "other"),
    ],
)
def test_what_a_server_says_is_not_repeated(source: str, code: str, text: str, reason: str) -> None:
    with _answering(_said(code, text)) as port:
        line = _logged(make_conninfo(source, port=port))
    assert line["reason"] == reason
    assert text not in str(line)


@pytest.mark.parametrize("method", ["Peer", "Ident"])
def test_a_server_that_asks_for_the_user_of_the_system(source: str, method: str) -> None:
    """Debian's does, of whoever comes over its socket: as the first page of an operator did."""
    with _answering(_said("28000", f'{method} authentication failed for user "a"')) as port:
        with pytest.raises(Unreachable, match=r"such as host=127\.0\.0\.1"):
            reachable_catalog(make_conninfo(source, port=port))
        assert _logged(make_conninfo(source, port=port))["reason"] == "login refused"


@pytest.mark.parametrize(
    "text", ["SSL connection has been closed unexpectedly", "SSL SYSCALL error: Connection reset"]
)
def test_a_connection_with_tls_that_ends(text: str) -> None:
    """libpq's texts (fe-secure-openssl.c); a server that ends a session says no more there."""
    failed = psycopg.OperationalError(f"consuming input failed: {text}")
    assert reason_of(failed) == "connection lost"


def test_a_server_that_hangs_up(source: str) -> None:
    with _answering(b"") as port:
        assert _logged(make_conninfo(source, port=port))["reason"] == "connection lost"


def test_a_session_that_an_administrator_ends(pair: Servers, source: str) -> None:
    with (
        psycopg.connect(source) as connection,
        psycopg.connect(pair.protected.dsn("shop"), autocommit=True) as superuser,
    ):
        superuser.execute("SELECT pg_terminate_backend(%s, 5000)", (connection.info.backend_pid,))
        with pytest.raises(psycopg.OperationalError) as caught:
            connection.execute("SELECT 1")
        assert reason_of(caught.value) == "server shut down"
        with pytest.raises(psycopg.OperationalError) as caught:
            connection.execute("SELECT 1")
        assert reason_of(caught.value) == "connection lost"


def test_what_was_raised_for_it_counts(source: str) -> None:
    """`from None` hides it from a traceback, not from here."""
    wrong = make_conninfo(source, password="wrong")
    with pytest.raises(Unreachable) as unreachable:
        reachable_catalog(wrong)
    assert reason_of(unreachable.value) == "password refused"
    with pytest.raises(SourceError, match="password refused"):
        read_identity(wrong)


def test_an_error_of_a_statement_is_other(source: str) -> None:
    with psycopg.connect(source) as connection, pytest.raises(psycopg.Error) as caught:
        connection.execute("SELECT 'connection refused'::int")
    assert reason_of(caught.value) == "other"
