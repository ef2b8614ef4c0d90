"""A protected server that is away, full, silent or cut off, and neighbours that take long: nothing is charged
that could not be answered, and what may have been read stays charged (reviews, F8)."""

from __future__ import annotations

import re
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass, replace

import psycopg
import pytest
from psycopg.conninfo import make_conninfo

from proxy.cli.assembly import assemble
from tests.ledger_key import LEDGER_CIPHER
from tests.live.cutting_hop import CuttingHop, cutting_hop
from tests.live_proxy import LiveProxy, start_proxy
from tests.machine_speed import allowed_wait
from tests.servers_fixture import servers
from tests.waiting import until

pytestmark = pytest.mark.timed  # an error comes soon, whatever it is

COUNT = "SELECT count(*) FROM shop.orders"
_PASSWORD = "once"


@dataclass(slots=True)
class Away:
    """A proxy whose protected server can be taken away, under a reader of its own."""

    proxy: LiveProxy
    hop: CuttingHop
    analyst: str

    def charged(self) -> int:
        return self.proxy.when_settled(self.analyst)[0]

    def ask(self, connection: psycopg.Connection, text: str = COUNT) -> psycopg.Error | None:
        """The error. It comes soon, whatever it is."""
        started = time.monotonic()
        try:
            connection.execute(text.encode())
        except psycopg.Error as error:
            assert time.monotonic() - started < allowed_wait(8)
            return error
        return None

    def is_not_charged(self, connection: psycopg.Connection) -> None:
        before = self.charged()
        error = self.ask(connection)
        assert error is not None
        assert error.sqlstate == "58000"
        assert error.diag.message_primary == "the database is not available"
        assert error.diag.message_hint == "Nothing was charged. Try again later."
        assert self.charged() == before

    def is_answered(self, connection: psycopg.Connection) -> None:
        before = self.charged()
        assert self.ask(connection) is None
        assert self.charged() == before + 1

    def superuser(self) -> psycopg.Connection:
        return psycopg.connect(self.proxy.servers.protected.dsn("shop"), autocommit=True)

    @contextmanager
    def locked(self, table: str) -> Iterator[psycopg.Connection]:
        """Stands for scans that take long. Gives another superuser's connection."""
        with self.superuser() as holder, self.superuser() as watcher, holder.transaction():
            holder.execute(f"LOCK TABLE {table} IN ACCESS EXCLUSIVE MODE".encode())
            yield watcher


@pytest.fixture
def away() -> Iterator[Away]:
    pair = servers()
    with psycopg.connect(pair.protected.dsn("shop"), autocommit=True) as superuser:
        superuser.execute(f"DROP ROLE IF EXISTS {_READER}".encode())
        superuser.execute(f"CREATE ROLE {_READER} LOGIN PASSWORD '{_PASSWORD}'".encode())
        superuser.execute(f"GRANT pg_read_all_data TO {_READER}".encode())
    with cutting_hop(pair.protected.address) as hop:
        source = make_conninfo(
            pair.source_dsns["shop"],
            host="127.0.0.1",
            port=hop.port,
            user=_READER,
            password=_PASSWORD,
        )
        policy = replace(pair.policies["shop"], source=source)
        database = assemble(
            policy, pair.catalogs["shop"], pair.shadows["shop"], pair.lease(policy), LEDGER_CIPHER
        )
        proxy = start_proxy(pair, [database])
        yield Away(proxy, hop, proxy.analyst)
        proxy.stop()


_READER = "outage_reader"


@pytest.mark.parametrize(
    ("cut", "times", "answered", "statements"),
    [
        ("before", 1, True, 2),
        pytest.param("before", 2, False, 2, marks=pytest.mark.long),
        pytest.param("after", 1, True, 2, marks=pytest.mark.long),
        ("after", 2, False, 2),
        ("rows", 1, False, 1),
    ],
)
def test_a_truncated_after_the_charge(
    away: Away, cut: str, times: int, answered: bool, statements: int
) -> None:
    """Tried again once before any reply, under the same receipt; never after one, never twice."""
    with away.proxy.connect() as connection:
        away.hop.cut, away.hop.times = cut, times
        error = away.ask(connection)
        assert away.hop.statements == statements
        assert (error is None) is answered
        if error is not None:
            assert error.sqlstate == "58000"
            assert error.diag.message_primary == "the statement could not be run"
        assert away.charged() == 1
        away.is_answered(connection)


def test_only_the_first_statement_of_an_answer_is_tried_again(away: Away) -> None:
    two = "SELECT count(*), (SELECT sum(quantity) FROM shop.orders) FROM shop.orders"
    with away.proxy.connect() as connection:
        assert away.ask(connection, two) is None
        before, seen = away.charged(), away.hop.statements
        away.hop.cut, away.hop.times, away.hop.passing = "before", 1, seen + 1
        error = away.ask(connection, two)
        assert error is not None
        assert error.diag.message_primary == "the statement could not be run"
        assert away.hop.statements == seen + 2
        assert away.charged() == before + 1


def test_idle_sessions_that_were_ended(away: Away) -> None:
    """A restart, a firewall's idle time: eight dead connections, eight answers."""
    with ExitStack() as stack, ThreadPoolExecutor(8) as pool:
        users = [away.proxy.servers.new_analyst() for _ in range(8)]
        connections = [stack.enter_context(away.proxy.connect(analyst=user)) for user in users]
        with away.locked("shop.orders") as watcher:
            asked = [pool.submit(away.ask, connection) for connection in connections]
            until(lambda: _waiting(watcher) == 8)
        assert [one.result(60) for one in asked] == [None] * 8
        with away.superuser() as superuser:
            ended = superuser.execute(
                "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity WHERE usename = %s",
                (_READER,),
            ).fetchone()
            assert ended == (8,)
        for connection in connections:
            assert away.ask(connection) is None
        spent = [away.proxy.when_settled(user)[0] for user in users]
        assert spent == [2] * 8


def test_a_server_that_is_away_and_comes_back(away: Away) -> None:
    with away.proxy.connect() as connection:
        away.is_answered(connection)
        port = away.hop.port
        away.hop.stop()
        for _ in range(3):
            away.is_not_charged(connection)
        away.hop.start_again(port)
        away.is_answered(connection)


@pytest.mark.long
def test_a_firewall_that_drops(away: Away) -> None:
    with away.proxy.connect() as connection:
        away.is_answered(connection)
        away.hop.silent = True
        away.is_not_charged(connection)
        away.hop.silent = False
        away.is_answered(connection)


def test_a_password_that_was_changed(away: Away) -> None:
    with away.proxy.connect() as connection, away.superuser() as superuser:
        superuser.execute(f"ALTER ROLE {_READER} PASSWORD 'another'".encode())
        away.is_answered(connection)  # by the connection that is there
        away.hop.end_all()
        away.is_not_charged(connection)
        superuser.execute(f"ALTER ROLE {_READER} PASSWORD '{_PASSWORD}'".encode())
        away.is_answered(connection)


def test_a_server_that_is_full(away: Away) -> None:
    """53300 comes from a role's own limit just as from the server's."""
    with away.proxy.connect() as connection, away.superuser() as superuser:
        away.hop.end_all()
        superuser.execute(f"ALTER ROLE {_READER} CONNECTION LIMIT 0".encode())
        away.is_not_charged(connection)
        superuser.execute(f"ALTER ROLE {_READER} CONNECTION LIMIT -1".encode())
        away.is_answered(connection)


@pytest.mark.long
def test_an_honest_analyst_beside_a_hostile_one(away: Away) -> None:
    """One holds as many sessions as are allowed, for long; another gets one at once. What waits in vain is not
    charged."""
    mallory = away.proxy.servers.new_analyst()
    slow = "SELECT count(*) FROM shop.customers"
    with ExitStack() as stack, ThreadPoolExecutor(8) as pool:
        hers = [stack.enter_context(away.proxy.connect(analyst=mallory)) for _ in range(8)]
        mine = stack.enter_context(away.proxy.connect())
        with away.locked("shop.customers") as watcher:
            asked = [pool.submit(away.ask, connection, slow) for connection in hers]
            until(lambda: _waiting(watcher) == 4)
            for _ in range(3):
                started = time.monotonic()
                away.is_answered(mine)
                assert time.monotonic() - started < allowed_wait(2, below=5)
            until(lambda: sum(one.done() for one in asked) == 4)  # after 5 s in the queue
        errors = [one.result(60) for one in asked]
        assert [error.sqlstate for error in errors if error is not None] == ["58000"] * 4
        assert away.proxy.when_settled(mallory)[0] == 4


def test_a_session_of_a_cancelled_statement_is_not_given_away_at_once(away: Away) -> None:
    """Cancelling again and again does not put more statements on the server than the share allows."""
    with ExitStack() as stack:
        mine = [stack.enter_context(closing(away.proxy.connect())) for _ in range(12)]
        with away.locked("shop.orders") as watcher:
            for connection in mine:
                connection.pgconn.send_query(COUNT.encode())
                connection.pgconn.flush()
                threading.Event().wait(0.05)
                connection.cancel_safe(timeout=60)
                assert _waiting(watcher) <= 4
            until(lambda: _waiting(watcher) == 0)


def test_what_the_server_raises_is_one_text(away: Away) -> None:
    """A statement that is ended (as by the server's time limit), a session that is ended: nobody can tell them
    apart."""
    seen = set()
    with away.proxy.connect() as connection, away.locked("shop.orders") as watcher:
        for end in ("pg_cancel_backend", "pg_terminate_backend"):
            thread = threading.Thread(target=_ends, args=(watcher, end))
            thread.start()
            seen.add(_told(away.ask(connection)))
            thread.join(60)
    assert len(seen) == 1, seen
    assert away.charged() == 2


def _told(error: psycopg.Error | None) -> tuple[str | None, ...]:
    assert error is not None
    diag = error.diag
    hint = re.sub(r"receipt \d+", "receipt", diag.message_hint or "")
    return error.sqlstate, diag.message_primary, diag.message_detail, hint


def _ends(superuser: psycopg.Connection, function: str) -> None:
    until(lambda: _waiting(superuser) == 1)
    superuser.execute(
        f"SELECT {function}(pid) FROM pg_stat_activity"
        " WHERE wait_event_type = 'Lock' AND usename = %s".encode(),
        (_READER,),
    )


def _waiting(superuser: psycopg.Connection) -> int:
    row = superuser.execute(
        "SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND usename = %s",
        (_READER,),
    ).fetchone()
    assert row is not None
    return int(row[0])
