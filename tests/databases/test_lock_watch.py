"""Locks of one analyst keep nobody else waiting for long: not by DDL, not by rows, not behind a queue."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress

import psycopg
import pytest

from proxy.shadow.ending_sessions import EndingSessions, Harm
from proxy.shadow.shadow_database import Shadow
from proxy.shadow.shadow_monitor import Ended, LockWatch, Waiting
from proxy.shadow.shadow_monitor import to_end_of_locks as to_end
from proxy.shadow.shadow_tables import ShadowError
from tests.live.served_database import served_database
from tests.machine_speed import allowed_wait
from tests.servers_fixture import Servers
from tests.waiting import until

_SOON = allowed_wait(3, below=50)
_DATABASE = "locked"


@pytest.fixture(scope="module")
def shadow(pair: Servers) -> Shadow:
    script = "CREATE TABLE public.secret (id integer PRIMARY KEY, x integer NOT NULL)"
    tables = "tables: {public.secret: {unit: row, columns: {x: {bounds: [0, 1]}}}}\n"
    database = served_database(pair, _DATABASE, script, tables)
    database.lease.close()
    return database.shadow


@pytest.fixture
def mallory(pair: Servers) -> str:
    return pair.new_analyst()


@pytest.fixture
def bob(pair: Servers) -> str:
    return pair.new_analyst()


@pytest.fixture
def superuser(pair: Servers) -> Iterator[psycopg.Connection]:
    """Not in the shadow: it could not get in."""
    with psycopg.connect(pair.shadow_server.dsn(), autocommit=True) as connection:
        connection.execute("SET lock_timeout = '30s'")
        yield connection


def _watch(pair: Servers) -> LockWatch:
    server = pair.shadow_server.process_id
    assert server is not None
    return LockWatch(pair.shadow_server.dsn(), lambda: server)


@contextmanager
def watched(pair: Servers) -> Iterator[list[Ended]]:
    """As `serve` does it, in a thread."""
    stop, ended = threading.Event(), list[Ended]()
    with closing(_watch(pair)) as watch:
        watch.look()

        def run() -> None:
            while not stop.wait(0.25):
                with suppress(ShadowError):
                    ended.extend(watch.look())

        thread = threading.Thread(target=run)
        thread.start()
        try:
            yield ended
        finally:
            stop.set()
            thread.join()


def _session(pair: Servers, analyst: str, database: str = _DATABASE) -> psycopg.Connection:
    connection = psycopg.connect(pair.analyst_dsn(database, analyst), autocommit=True)
    for name in ("statement_timeout", "idle_in_transaction_session_timeout"):
        connection.execute(f"SET {name} = 0".encode())
    return connection


def _asks(connection: psycopg.Connection, statement: str, superuser: psycopg.Connection) -> None:
    """Until it waits for a lock."""
    connection.pgconn.send_query(statement.encode())
    waits = "SELECT 1 FROM pg_lock_status() WHERE pid = %s AND NOT granted"
    process = connection.info.backend_pid
    until(lambda: superuser.execute(waits, (process,)).fetchone() is not None)


def _seconds(act: Callable[[], object]) -> float:
    """Given up soon after it was too long."""
    begun = time.monotonic()
    thread = threading.Thread(target=act, daemon=True)
    thread.start()
    thread.join(60)
    return time.monotonic() - begun


def _logs_in(pair: Servers, analyst: str, database: str = _DATABASE) -> Callable[[], object]:
    def log_in() -> None:
        with psycopg.connect(pair.analyst_dsn(database, analyst), autocommit=True) as session:
            session.execute("CREATE TEMP TABLE mine AS SELECT count(*) FROM pg_class")

    return log_in


# What holds, in a transaction; what is asked for beside it, and locks before it is refused.
_QUEUES = {
    "references, roles": (
        "ALTER ROLE CURRENT_USER PASSWORD 'x'",
        "CREATE TEMP TABLE t (x oid REFERENCES pg_catalog.pg_authid)",
    ),
    "partition, shared": (
        "SELECT count(*) FROM pg_catalog.pg_database",
        "CREATE TEMP TABLE part (a oid) PARTITION BY RANGE (a);"
        " ALTER TABLE part ATTACH PARTITION pg_catalog.pg_database FOR VALUES FROM (1) TO (2)",
    ),
    "default partition": (
        "SELECT count(*) FROM pg_catalog.pg_attribute",
        "CREATE TEMP TABLE part PARTITION OF pg_catalog.pg_attribute DEFAULT",
    ),
    "partition, own": (
        "SELECT count(*) FROM pg_catalog.pg_class",
        "CREATE TEMP TABLE part (a oid) PARTITION BY RANGE (a);"
        " ALTER TABLE part ATTACH PARTITION pg_catalog.pg_class FOR VALUES FROM (1) TO (2)",
    ),
}


@pytest.mark.every(4)
@pytest.mark.timed
@pytest.mark.parametrize("holds, asks", _QUEUES.values(), ids=_QUEUES.keys())
def test_a_queue_behind_an_open_transaction_is_ended(
    pair: Servers,
    shadow: Shadow,
    superuser: psycopg.Connection,
    mallory: str,
    bob: str,
    holds: str,
    asks: str,
) -> None:
    """N1: no login, no statement and no repair came through any more."""
    with (
        _session(pair, mallory) as first,
        _session(pair, mallory) as second,
        watched(pair) as ended,
    ):
        first.execute("BEGIN")
        first.execute(holds.encode())
        _asks(second, asks, superuser)
        assert _seconds(_logs_in(pair, bob)) < _SOON
        assert _seconds(shadow.verify) < _SOON
        until(lambda: bool(ended))
        assert {one.analyst for one in ended} == {mallory}
        assert second.info.backend_pid in {one.process for one in ended}
        second.close()


@pytest.mark.timed
def test_a_database_that_is_to_be_dropped_can_be_entered(
    pair: Servers, shadow: Shadow, superuser: psycopg.Connection, mallory: str, bob: str
) -> None:
    """Event triggers are of one database, and say nothing about the shared ones."""
    with (
        _session(pair, mallory) as first,
        _session(pair, mallory, "shop") as second,
        watched(pair) as ended,
    ):
        first.execute("BEGIN")
        first.execute(
            f"ALTER ROLE CURRENT_USER IN DATABASE {_DATABASE} SET work_mem = 100".encode()
        )
        _asks(second, f"DROP DATABASE {_DATABASE}", superuser)
        assert _seconds(_logs_in(pair, bob)) < _SOON
        until(lambda: bool(ended))
        assert second.info.backend_pid in {one.process for one in ended}
        second.close()


def test_who_is_run_to_make_way_is_not_ended(
    pair: Servers, shadow: Shadow, superuser: psycopg.Connection, mallory: str, bob: str
) -> None:
    """Else an analyst could end others' sessions by asking for what they have read."""
    with _session(pair, bob) as reading, _session(pair, mallory) as asking:
        reading.execute("BEGIN")
        reading.execute("SELECT count(*) FROM pg_class")
        _asks(asking, _QUEUES["partition, own"][1], superuser)
        with watched(pair) as ended:
            until(lambda: bool(ended))
        assert [(one.analyst, one.process) for one in ended] == [(mallory, asking.info.backend_pid)]
        assert reading.execute("SELECT count(*) > 0 FROM pg_class").fetchone() == (True,)
        asking.close()


def test_a_row_that_a_repair_waits_for_is_let_go(
    pair: Servers, shadow: Shadow, mallory: str
) -> None:
    """N2: the process ended after two such looks."""
    shadow.verify()
    with _session(pair, mallory) as session:
        session.execute("ALTER ROLE CURRENT_USER SET application_name = 'a'")
        session.execute("BEGIN")
        session.execute("ALTER ROLE CURRENT_USER SET application_name = 'b'")
        with watched(pair) as ended:
            assert shadow.verify() == (f"settings of {mallory}",)
        assert {one.analyst for one in ended} == {mallory}
        session.close()
    assert shadow.verify() == ()


def test_a_watch_that_is_locked_out_finds_who_waits_by_the_system(
    pair: Servers, shadow: Shadow, superuser: psycopg.Connection, mallory: str
) -> None:
    with closing(_watch(pair)) as watch:
        assert watch.look() == ()
        with _session(pair, mallory) as first, _session(pair, mallory) as second:
            first.execute("BEGIN")
            first.execute("SELECT count(*) FROM pg_roles")
            # What the watch knows of its own role is to be read again.
            superuser.execute("ALTER ROLE postgres CONNECTION LIMIT -1")
            superuser.execute("SELECT count(*) FROM pg_lock_status()")  # and of ours, now
            roles = _QUEUES["partition, own"][1].replace("pg_class", "pg_authid")
            _asks(second, roles, superuser)
            with pytest.raises(ShadowError, match="could not be watched"):
                watch.look()
            until(lambda: watch.look() == ())
            with pytest.raises(psycopg.OperationalError):
                second.execute("SELECT 1")
            assert first.execute("SELECT 1").fetchone() == (1,)
            second.close()


@pytest.mark.long
def test_a_watch_that_cannot_get_in_does_so(
    pair: Servers, shadow: Shadow, superuser: psycopg.Connection, mallory: str
) -> None:
    with (
        closing(_watch(pair)) as watch,
        _session(pair, mallory) as first,
        _session(pair, mallory) as second,
    ):
        first.execute("BEGIN")
        first.execute(_QUEUES["partition, shared"][0].encode())
        _asks(second, _QUEUES["partition, shared"][1], superuser)
        with pytest.raises(ShadowError, match="could not be watched"):
            watch.look()
        assert watch.look() == ()
        second.close()


def test_who_is_in_the_way_of_short_attempts_is_ended(
    pair: Servers, shadow: Shadow, mallory: str
) -> None:
    """A change waits less for a lock than an open transaction may keep it, and tries again."""

    def is_taken(own: psycopg.Connection) -> bool:
        with suppress(psycopg.errors.LockNotAvailable):
            own.execute("LOCK TABLE public.secret IN ACCESS EXCLUSIVE MODE")
            return True
        own.rollback()
        time.sleep(0.5)
        return False

    with (
        _session(pair, mallory) as session,
        psycopg.connect(shadow.superuser_dsn, options="-c lock_timeout=600ms") as own,
        watched(pair) as ended,
    ):
        session.execute("BEGIN")
        session.execute("PREPARE q AS SELECT * FROM public.secret")
        until(lambda: is_taken(own))
        until(lambda: bool(ended))
        assert [one.analyst for one in ended] == [mallory]
        session.close()
        own.rollback()


def test_short_transactions_do_not_add_up(pair: Servers, shadow: Shadow, mallory: str) -> None:
    """Nobody is ended for what several transactions of a session kept waiting together."""
    with (
        _session(pair, mallory) as session,
        psycopg.connect(shadow.superuser_dsn, options="-c lock_timeout=600ms") as own,
        watched(pair) as ended,
    ):
        for _ in range(3):
            session.execute("BEGIN")
            session.execute("PREPARE q AS SELECT * FROM public.secret")
            with pytest.raises(psycopg.errors.LockNotAvailable):
                own.execute("LOCK TABLE public.secret IN ACCESS EXCLUSIVE MODE")
            own.rollback()
            session.execute("ROLLBACK")
            session.execute("DEALLOCATE ALL")
        assert ended == []
        assert session.execute("SELECT 1").fetchone() == (1,)


@pytest.mark.every(2)
@pytest.mark.parametrize("insists", [True, False])
def test_what_insists_has_no_patience(
    pair: Servers, shadow: Shadow, mallory: str, insists: bool
) -> None:
    """A session that stands in the way of a change that insists ends at once, or is killed."""
    told = list[tuple[str, Harm]]()

    class Noting(EndingSessions):
        def tell(self, process: int, analyst: str, harm: Harm) -> bool:
            told.append((analyst, harm))
            return super().tell(process, analyst, harm)

    server = pair.shadow_server.process_id
    assert server is not None
    watch = LockWatch(
        pair.shadow_server.dsn(), lambda: server, ending=Noting(), insists=lambda: insists
    )
    with (
        closing(watch),
        _session(pair, mallory) as session,
        psycopg.connect(shadow.superuser_dsn, options="-c lock_timeout=30s") as own,
    ):
        session.execute("BEGIN")
        session.execute("PREPARE q AS SELECT * FROM public.secret")
        begun = time.monotonic()
        waiting = threading.Thread(
            target=own.execute, args=("LOCK TABLE public.secret IN ACCESS EXCLUSIVE MODE",)
        )
        waiting.start()
        while waiting.is_alive():
            watch.look()
            waiting.join(0.05)
        took = time.monotonic() - begun
        session.close()
        own.rollback()
    assert set(told) == {(mallory, Harm.OPERATOR if insists else Harm.OTHERS)}
    assert insists or took > 1, "others may keep dpproxy waiting for a second"


def test_whom_to_end() -> None:
    roles = {1: 10, 2: 10, 3: 30, 4: 40}
    waits = Waiting(process=3, role=30, is_strong=False, seconds=1.5, blockers=(1,))
    assert to_end([waits], roles, 1.0) == ((1, 10),)
    assert to_end([waits], roles, 2.0) == ()
    assert to_end([waits], roles, 2.0, offenders=[10]) == ((1, 10),)
    login = Waiting(process=9, role=None, is_strong=False, seconds=1.5, blockers=(1, 8))
    assert to_end([login], roles, 1.0) == ((1, 10),), "8 is nobody's session"
    own = Waiting(process=2, role=10, is_strong=False, seconds=9, blockers=(1,))
    assert to_end([own], roles, 1.0) == ()
    strong = Waiting(process=4, role=40, is_strong=True, seconds=1.5, blockers=(1, 3))
    assert to_end([strong], roles, 1.0) == ((4, 40),)
    ours = Waiting(process=9, role=None, is_strong=True, seconds=1.5, blockers=(3,))
    assert to_end([ours], roles, 1.0) == ((3, 30),)
