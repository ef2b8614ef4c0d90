"""Until there is a session: logging in, hostile startup packets, limits of those who have not logged in."""

from __future__ import annotations

import contextlib
import select
import time
from functools import partial

import psycopg
import pytest

from proxy.pgwire.frames import U32, fatal, query
from proxy.servers.wire.shared_server_state import Limits
from tests.servers.wire.bare_connection import GSSENC_REQUEST, SSL_REQUEST, answer, dial, startup
from tests.servers.wire.conftest import Running, serve
from tests.waiting import until

COUNT = "SELECT count(*) FROM shop.orders"


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


@pytest.mark.every(2)
@pytest.mark.parametrize("milliseconds", [1, 2])
def test_a_clients_own_timeout_ends_no_login(milliseconds: int, relay: Running) -> None:
    """It holds for the client's statements: whoever is idle is sent nothing."""
    options = f"-c statement_timeout={milliseconds} -c lock_timeout=1"
    for _ in range(5):
        with relay.connect(options=options) as connection:
            readable, _, _ = select.select([connection.fileno()], [], [], 0.1)
            assert not readable
            assert connection.info.backend_pid
            with pytest.raises(psycopg.errors.QueryCanceled):
                connection.execute("SELECT pg_sleep(5)")


def test_which_databases_there_are_is_reported_after_the_password(relay: Running) -> None:
    with pytest.raises(psycopg.OperationalError, match="password authentication failed"):
        psycopg.connect(relay.conninfo(), dbname="nosuch", password="wrong")


@pytest.mark.parametrize(
    "packet",
    [
        SSL_REQUEST + b"Q\0\0\0\x0dSELECT 1\0",
        SSL_REQUEST + startup(user="alice", database="shop"),
        GSSENC_REQUEST + startup(user="alice"),
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
        connection.sendall(GSSENC_REQUEST)
        assert connection.recv(1) == b"N"
        connection.sendall(SSL_REQUEST)
        assert connection.recv(1) == b"N"
        connection.sendall(SSL_REQUEST)
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


@pytest.mark.long
def test_a_slow_login_is_truncated() -> None:
    seconds = 3.0  # an honest login passes in it on a machine that stalls
    for relay in serve(Limits(authentication_seconds=seconds)):
        with dial(relay) as connection:
            assert answer(connection) == fatal("57014", "canceling authentication due to timeout")
        with relay.connect() as fine:
            time.sleep(seconds + 0.3)  # the limit is the login's, not the session's
            assert fine.execute(COUNT).fetchone() == (42,)


def _are_connected(relay: Running, count: int) -> bool:
    return relay.server.connections == count


def test_unauthenticated_connections_are_limited() -> None:
    for relay in serve(Limits(unauthenticated_connections=3)):
        with relay.connect() as fine, contextlib.ExitStack() as stack:
            waiting = [stack.enter_context(dial(relay)) for _ in range(3)]
            until(partial(_are_connected, relay, 4))
            stack.enter_context(dial(relay))
            assert answer(waiting[0]) == b""
            assert fine.execute(COUNT).fetchone() == (42,)
            with relay.connect() as another:
                assert another.execute(COUNT).fetchone() == (42,)
