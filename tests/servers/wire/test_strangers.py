"""What clients without a password can do to the others: nothing that takes longer than a second (F5, F11)."""

from __future__ import annotations

import concurrent.futures
import contextlib
import socket
import time
from collections.abc import Iterator
from functools import partial

import psycopg
import pytest

from proxy.pgwire.authentication import ScramClient
from proxy.pgwire.frames import query
from proxy.pgwire.relay import Effects, Relay
from proxy.servers.login_gate import GateLimits, LoginGate
from proxy.servers.wire.shared_server_state import Limits
from tests.machine_speed import allowed_wait
from tests.raw_client import RawClient
from tests.servers.address_hop import AddressHop
from tests.servers.wire.bare_connection import answer, dial, startup
from tests.servers.wire.conftest import Running, serve
from tests.waiting import until
from tests.wire_shadow import PASSWORD, wire_shadow


@contextlib.contextmanager
def _half_open(relay: Running, count: int, address: str = "127.0.0.1") -> Iterator[None]:
    """Logins that never answer the challenge."""
    with contextlib.ExitStack() as stack:
        for _ in range(count):
            connection = socket.create_connection(
                ("127.0.0.1", relay.port), 60, source_address=(address, 0)
            )
            stack.enter_context(connection)
            with contextlib.suppress(OSError):
                connection.sendall(startup(user="nobody", database="shop"))
        yield


def _logs_in(port: int, relay: Running, user: str = "bob") -> float:
    began = time.monotonic()
    with psycopg.connect(relay.shadow.conninfo(port), user=user) as connection:
        assert connection.execute("SELECT 1").fetchone() == (1,)
    return time.monotonic() - began


def _are_connected(relay: Running, count: int) -> bool:
    return relay.server.connections == count


def _backends(relay: Running) -> int:
    """Of the shadow, without our own."""
    with psycopg.connect(relay.shadow.postgres.dsn(), autocommit=True) as connection:
        row = connection.execute(
            "SELECT count(*) FROM pg_stat_activity"
            " WHERE backend_type = 'client backend' AND pid <> pg_backend_pid()"
        ).fetchone()
    assert row is not None
    return int(row[0])


@pytest.mark.every(2)
@pytest.mark.timed
@pytest.mark.parametrize("count", [195, 260])
def test_half_open_logins_do_not_keep_others_out(count: int, relay: Running) -> None:
    with AddressHop(relay.port, "127.0.0.2") as hop, _half_open(relay, count):
        until(partial(_are_connected, relay, 100))  # the others had to make room
        until(lambda: relay.server._state.gate.backends >= 8)
        for _ in range(5):
            assert 0 < _backends(relay) <= 8
        assert _logs_in(hop.port, relay) < _SOON
        # From the same address, where names take turns and silent clients lose theirs.
        assert _logs_in(relay.port, relay) < allowed_wait(5)


@pytest.mark.timed
def test_half_open_logins_from_many_addresses(relay: Running) -> None:
    with contextlib.ExitStack() as stack:
        for number in range(3, 11):
            stack.enter_context(_half_open(relay, 40, f"127.0.0.{number}"))
        until(lambda: relay.server._state.gate.backends == 32)
        assert _backends(relay) <= 32
        hop = stack.enter_context(AddressHop(relay.port, "127.0.0.2"))
        assert _logs_in(hop.port, relay) < allowed_wait(2.5, below=9)


@pytest.mark.timed
def test_waiting_sockets_are_bounded_per_address() -> None:
    for relay in serve(Limits(unauthenticated_per_address=5, unauthenticated_connections=8)):
        with contextlib.ExitStack() as stack:
            held = [stack.enter_context(dial(relay)) for _ in range(5)]
            until(partial(_are_connected, relay, 5))
            # The oldest makes room.
            stack.enter_context(dial(relay))
            assert answer(held[0]) == b""
            assert relay.server.connections <= 5
            with AddressHop(relay.port, "127.0.0.2") as hop:
                assert _logs_in(hop.port, relay) < _SOON


@pytest.mark.long
def test_a_slow_shadow_is_no_clients_silence() -> None:
    """Many log in at once, so that all are waited for; each of the shadow's words takes three silences."""
    limits = Limits(silence_seconds=0.2, authentication_seconds=60)
    with AddressHop(wire_shadow().port, "127.0.0.1", late_seconds=0.6) as slow:
        for relay in serve(limits, slow.port):
            log_in = partial(_logs_in, relay.port, relay)
            with concurrent.futures.ThreadPoolExecutor(12) as pool:
                for login in [pool.submit(log_in) for _ in range(12)]:
                    assert login.result() > 0


_SOON = allowed_wait(1, below=3.5)  # before a login has waited too long
_FEW_GUESSES = GateLimits(guesses=10, guess_seconds=10)


@pytest.fixture
def impatient() -> Iterator[Running]:
    """A login that has to wait longer is over soon, so that the tests are."""
    yield from serve(Limits(authentication_seconds=4), gate=LoginGate(_FEW_GUESSES))


def _guess(relay: Running, user: str, ends: float) -> int:
    checked = 0
    while time.monotonic() < ends:
        try:
            psycopg.connect(relay.conninfo(), user=user, password="wrong")
        except psycopg.OperationalError as error:
            checked += "password authentication failed" in str(error)
    return checked


@pytest.mark.long
@pytest.mark.timed
def test_guesses_are_few_a_second_however_many_connections(impatient: Running) -> None:
    """From one address, 40 connections at once."""
    began = time.monotonic()
    with (
        AddressHop(impatient.port, "127.0.0.2") as hop,
        concurrent.futures.ThreadPoolExecutor(40) as pool,
    ):
        guessing = [pool.submit(_guess, impatient, "bob", began + 4) for _ in range(40)]
        time.sleep(2)
        # Another address is not slowed down, for the very name that is guessed.
        assert _logs_in(hop.port, impatient, "bob") < _SOON
        checked = sum(one.result() for one in guessing)
    assert 0 < checked <= 10 + 8  # 4 seconds, and what was under way at their end


@pytest.mark.long
def test_leaving_early_does_not_make_guesses_quicker() -> None:
    """A right password is answered at once, so no answer for a moment is an answer, too. The guess counts."""
    gate, tried, full = LoginGate(GateLimits(guesses=10, guess_seconds=900)), 0, 0
    for relay in serve(gate=gate):
        while full < 3:  # times in a row: who leaves before the challenges has made no guess
            tried += 1
            assert tried < 200, "a guess does not count once its client has left"
            with dial(relay) as client, contextlib.suppress(TimeoutError):
                client.settimeout(0.3)
                client.sendall(startup(user="alice", database="shop"))
                scram = ScramClient("wrong", f"nonce{tried}")
                for _ in range(2):  # the challenges
                    client.sendall(scram.answer(client.recv(1 << 10)[5:]))
                client.recv(1)
            assert gate._guesses.used <= 8  # one name takes four fifths
            full = full + 1 if gate._guesses.used == 8 else 0


@pytest.mark.long
@pytest.mark.timed
def test_a_right_password_beside_guesses_of_its_own_address(impatient: Running) -> None:
    assert _logs_in(impatient.port, impatient) < _SOON
    ends = time.monotonic() + 2
    with concurrent.futures.ThreadPoolExecutor(20) as pool:
        guessing = [pool.submit(_guess, impatient, "alice", ends) for _ in range(20)]
        time.sleep(1)
        assert _logs_in(impatient.port, impatient) < _SOON
        for one in guessing:
            one.result()


@pytest.mark.every(3)
@pytest.mark.parametrize(
    "name", ["postgres", "pg_monitor", "monitor", "another_superuser", "dp_analyst"]
)
def test_who_is_no_analyst_is_refused_like_anybody(name: str, relay: Running) -> None:
    told = []
    for user in (name, "nobody"):
        with pytest.raises(psycopg.OperationalError) as caught:
            psycopg.connect(relay.conninfo(), user=user, password=PASSWORD)
        told.append(str(caught.value).replace(user, "NAME"))
    assert told[0] == told[1]


def test_the_superuser_is_not_even_tried(relay: Running) -> None:
    """Byte for byte the exchange of an unknown name, so that no guess can be right."""
    heard = []
    for user in ("postgres", "nobody"):
        with dial(relay) as connection:
            connection.sendall(startup(user=user, database="shop"))
            heard.append(connection.recv(1 << 16))
    assert heard[0] == heard[1]
    with psycopg.connect(relay.shadow.postgres.dsn(), autocommit=True) as superuser:
        row = superuser.execute("SELECT rolname FROM pg_roles WHERE rolname LIKE 'no role%'")
        assert row.fetchall() == []


@pytest.mark.timed
def test_connections_of_an_analyst_are_limited_as_postgres_says_it() -> None:
    for relay in serve(Limits(connections_per_analyst=3)):
        with contextlib.ExitStack() as stack:
            for _ in range(3):
                stack.enter_context(relay.connect())
            with pytest.raises(psycopg.OperationalError) as caught:
                relay.connect()
            assert 'FATAL:  too many connections for role "alice"' in str(caught.value)
            assert _logs_in(relay.port, relay) < _SOON
        until(partial(_are_connected, relay, 0))
        assert _logs_in(relay.port, relay, "alice") < _SOON


def test_a_statement_ends_when_its_client_is_gone(relay: Running) -> None:
    with RawClient(relay.conninfo()) as client:
        client.send(query(b"SET client_connection_check_interval = 0"))
        client.until_ready()
        client.send(query(b"SELECT pg_sleep(60)"))
        until(lambda: _sleeping(relay) == 1)
        client.socket.shutdown(socket.SHUT_RDWR)
    until(lambda: _sleeping(relay) == 0)


def _sleeping(relay: Running) -> int:
    with psycopg.connect(relay.shadow.postgres.dsn(), autocommit=True) as connection:
        row = connection.execute(
            "SELECT count(*) FROM pg_stat_activity WHERE wait_event = 'PgSleep'"
        ).fetchone()
    assert row is not None
    return int(row[0])


@pytest.mark.timed
def test_logins_are_logged_and_lines_cannot_be_forged(
    relay: Running, capfd: pytest.CaptureFixture[str]
) -> None:
    forged = "eve\n2026-01-01 [info] login analyst=eve" + "x" * 20
    with contextlib.suppress(psycopg.OperationalError):
        psycopg.connect(relay.conninfo(), user=forged, password="secret-of-eve")
    assert _logs_in(relay.port, relay) < _SOON
    out, err = capfd.readouterr()
    lines = (out + err).splitlines()
    assert [
        line for line in lines if "login_failed" in line and "127.0.0.1" in line and "eve" in line
    ]
    assert not [line for line in lines if line.startswith("2026-01-01")]
    assert [line for line in lines if "login " in line and "bob" in line and "127.0.0.1" in line]
    assert "secret-of-eve" not in out + err


def test_an_error_of_the_relay_ends_its_session_only(
    relay: Running, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    from_client = Relay.from_client

    def breaks(machine: Relay, data: bytes) -> Effects:
        if b"breaks" in data:
            raise ValueError("marked7c1f")
        return from_client(machine, data)

    monkeypatch.setattr(Relay, "from_client", breaks)
    with relay.connect() as bystander:
        with relay.connect() as connection, pytest.raises(psycopg.OperationalError) as caught:
            connection.execute("SELECT 'breaks'")
        assert caught.value.sqlstate == "58000"
        assert bystander.execute("SELECT 1").fetchone() == (1,)
    out, err = capfd.readouterr()
    assert "unexpected_error" in out + err
    assert "Traceback" not in out + err
    assert "marked7c1f" not in out + err
