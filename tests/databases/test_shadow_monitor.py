"""Shares of a shadow's server: what passes one is ended or fails alone; the others go on."""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import psycopg
import pytest
from psycopg.conninfo import make_conninfo

from proxy.postgres import embedded
from proxy.postgres.analyst_limits import DATABASE_SETTINGS, AnalystLimits
from proxy.postgres.embedded import EmbeddedPostgres
from proxy.shadow.analyst_usage import ServerUsage, SessionUsage, UsageReader
from proxy.shadow.shadow_monitor import Ended, ShadowMonitor, to_end
from proxy.shadow.shadow_roles import match_roles
from proxy.shadow.shadow_tables import ShadowError

_MIB = 1 << 20
_PASSWORD = "of all of them"
_SMALL = AnalystLimits(temporary_bytes=20 * _MIB, memory_bytes=60 * _MIB, locks=500)


class Small:
    """A server for analysts of its own: mallory takes, bob is there."""

    def __init__(self, server: EmbeddedPostgres) -> None:
        self.server = server

    def connect(self, name: str) -> psycopg.Connection:
        host, port = self.server.address
        return psycopg.connect(
            make_conninfo(host=host, port=port, user=name, password=_PASSWORD, dbname="shared"),
            autocommit=True,
        )

    def monitor(self, limits: AnalystLimits = _SMALL) -> ShadowMonitor:
        return ShadowMonitor(self.server.dsn(), self.server.log, limits)


@contextlib.contextmanager
def started(folder: Path) -> Iterator[Small]:
    server = EmbeddedPostgres(folder, "shadow", durable=False, for_analysts=True)
    server.start()
    try:
        with psycopg.connect(server.dsn(), autocommit=True) as connection:
            encrypt = connection.pgconn.encrypt_password
            verifiers = {
                name: encrypt(_PASSWORD.encode(), name.encode(), b"scram-sha-256").decode()
                for name in ("mallory", "bob")
            }
            match_roles(server.dsn(), [], verifiers)
            connection.execute("CREATE DATABASE shared")
            for setting, value in DATABASE_SETTINGS.items():
                connection.execute(f"ALTER DATABASE shared SET {setting} = '{value}'".encode())
        yield Small(server)
    finally:
        server.stop()


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Small]:
    with started(tmp_path_factory.mktemp("small")) as running:
        yield running


def _when_ended(look: Callable[[], tuple[Ended, ...]]) -> tuple[Ended, ...]:
    deadline = time.monotonic() + 10
    while time.monotonic() < deadline:
        if found := look():
            return found
        time.sleep(0.02)
    raise AssertionError("nothing was ended")


def _is_alive(connection: psycopg.Connection) -> bool:
    try:
        return connection.execute("SELECT 1").fetchone() == (1,)
    except psycopg.OperationalError:
        return False


@pytest.mark.parametrize("is_committed", [True, False])
def test_temporary_tables_are_bounded(small: Small, is_committed: bool) -> None:
    """F7b: temp_file_limit does not count them."""
    with (
        small.connect("mallory") as mallory,
        small.connect("mallory") as idle,
        small.connect("bob") as bob,
    ):
        bob.execute("CREATE TEMP TABLE mine AS SELECT 1 AS a")
        monitor = small.monitor()
        assert monitor.look() == ()
        if not is_committed:
            mallory.execute("BEGIN")
        mallory.execute(
            "CREATE TEMP TABLE big AS SELECT repeat(md5(i::text), 30) x FROM generate_series(1, 40000) i"
        )
        ended = monitor.look()
        assert ended == (
            Ended(analyst="mallory", process=mallory.info.backend_pid, passed="temporary space"),
        )
        assert not _is_alive(mallory)
        assert _is_alive(idle) and _is_alive(bob)
        monitor.close()


def test_temporary_tables_of_several_sessions_are_one_share(small: Small) -> None:
    monitor = small.monitor()
    sessions = [small.connect("mallory") for _ in range(3)]
    for session in sessions:
        session.execute(
            "CREATE TEMP TABLE t AS SELECT repeat(md5(i::text), 30) x FROM generate_series(1, 9000) i"
        )
    ended = monitor.look()
    assert 1 <= len(ended) < 3
    assert sum(map(_is_alive, sessions)) == 3 - len(ended)
    for session in sessions:
        session.close()
    monitor.close()


def test_memory_is_bounded(small: Small) -> None:
    monitor = small.monitor()
    with small.connect("mallory") as mallory, small.connect("bob") as bob:
        mallory.execute("SET work_mem = '1500MB'")
        mallory.pgconn.send_query(
            b"SELECT count(*) FROM (SELECT repeat('x', 100) || i FROM generate_series(1, 4000000) i"
            b" ORDER BY 1) q"
        )
        ended = _when_ended(monitor.look)
        assert {(e.analyst, e.passed) for e in ended} == {("mallory", "memory")}
        assert _is_alive(bob)
        mallory.close()
    monitor.close()


@pytest.mark.long
def test_a_sort_ends_in_an_error_of_its_own_session(small: Small) -> None:
    """F7c: without a limit one backend took what the machine has."""
    with small.connect("mallory") as mallory, small.connect("bob") as bob:
        mallory.execute("SET work_mem = '2000MB'")
        with pytest.raises(psycopg.errors.OutOfMemory):
            mallory.execute(
                "SELECT count(*) FROM (SELECT repeat('x', 100) || i FROM generate_series(1, 20000000) i"
                " ORDER BY 1) q"
            )
        assert _is_alive(mallory) and _is_alive(bob)


def test_one_value_ends_in_an_error_of_its_own_session(small: Small) -> None:
    with small.connect("mallory") as mallory:
        with pytest.raises(psycopg.errors.OutOfMemory):
            mallory.execute(
                "SELECT length(a || b) FROM (SELECT repeat(repeat('x', 1000000), 500) a,"
                " repeat(repeat('y', 1000000), 500) b"
                " OFFSET 0) q"
            )
        assert _is_alive(mallory)


_FILL = """\
DO $$ DECLARE size int := 100000000; n int := 0;
BEGIN
  WHILE size > 30000 LOOP
    BEGIN
      n := n + 1;
      PERFORM set_config('zz.v' || n, repeat('x', size), false);
    EXCEPTION WHEN out_of_memory THEN size := size / 2;
    END;
  END LOOP;
  FOR i IN n - 45 .. n - 38 LOOP PERFORM set_config('zz.v' || i, '', false); END LOOP;
END $$"""


@pytest.mark.long
def test_a_stack_grows_where_memory_is_full(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """N3: the limit counted the stack; that it could not grow was SIGSEGV, the end of all sessions."""
    monkeypatch.setattr(embedded, "PRIVATE_MEMORY", 150 * _MIB)  # is full sooner
    with started(tmp_path) as little:
        with little.connect("bob") as bob:
            bob.execute("CREATE TEMP TABLE mine AS SELECT 1 AS a")
            for deep in (
                "SELECT repeat('[', 100000)::json",
                "SELECT repeat('[', 60000)::jsonb",
                "SELECT length(repeat('x', 100000000) || repeat('y', 100000000))",
            ):
                with little.connect("mallory") as mallory:
                    mallory.execute("SELECT '[[[1]]]'::json, repeat('[', 2)")
                    mallory.execute(_FILL.encode())
                    with pytest.raises(
                        (psycopg.errors.OutOfMemory, psycopg.errors.StatementTooComplex)
                    ):
                        mallory.execute(deep.encode())
                    assert _is_alive(mallory)
            assert bob.execute("SELECT a FROM mine").fetchone() == (1,)
        assert b"signal 11" not in little.server.log.read_bytes()


def test_there_are_no_parallel_workers(small: Small) -> None:
    with small.connect("mallory") as mallory:
        for name, value in (
            ("max_parallel_workers", "64"),
            ("max_parallel_workers_per_gather", "64"),
            ("parallel_setup_cost", "0"),
            ("min_parallel_table_scan_size", "0"),
        ):
            mallory.execute(f"SET {name} = {value}".encode())
        plan = mallory.execute("EXPLAIN ANALYZE SELECT count(*) FROM pg_attribute").fetchall()
        assert not any("Workers Launched: 1" in str(row) for row in plan)


def test_the_table_of_locks_has_room(small: Small) -> None:
    """F6's sibling: temporary tables take a place each, without any advisory lock."""
    monitor = small.monitor()
    with small.connect("mallory") as mallory, small.connect("bob") as bob:
        mallory.execute("BEGIN")
        mallory.execute(
            "DO $$ BEGIN FOR i IN 1..600 LOOP EXECUTE format('CREATE TEMP TABLE l%s ()', i); END LOOP; END $$"
        )
        assert {e.passed for e in _when_ended(monitor.look)} == {"locks"}
        assert not _is_alive(mallory)
        bob.execute("CREATE TEMP TABLE mine ()")
    monitor.close()


def test_times_that_an_analyst_sets_are_bounded(small: Small) -> None:
    monitor = small.monitor(replace(_SMALL, statement_seconds=0.3, transaction_seconds=0.3))
    with small.connect("mallory") as running, small.connect("mallory") as waiting:
        for session in (running, waiting):
            session.execute("SET statement_timeout = 0")
            session.execute("SET idle_in_transaction_session_timeout = 0")
        waiting.execute("BEGIN")
        running.pgconn.send_query(b"SELECT pg_sleep(60)")
        found: set[tuple[int, str]] = set()
        deadline = time.monotonic() + 10
        while len(found) < 2 and time.monotonic() < deadline:
            found |= {(e.process, e.passed) for e in monitor.look()}
            time.sleep(0.02)
        assert found == {
            (running.info.backend_pid, "statement"),
            (waiting.info.backend_pid, "transaction"),
        }
        running.close()
        waiting.close()
    monitor.close()


def test_the_log_is_not_the_analysts_to_write(small: Small) -> None:
    """F7a."""
    with small.connect("mallory") as mallory:
        before = small.server.log.stat().st_size
        for level in ("LOG", "WARNING", "NOTICE"):
            mallory.execute(
                f"DO $$ BEGIN FOR i IN 1..20 LOOP RAISE {level} '%', repeat('forged', 999);"
                " END LOOP; END $$".encode()
            )
        with pytest.raises(psycopg.errors.DivisionByZero):
            mallory.execute("SELECT 1/0")
        for text in (
            "SET log_min_messages = 'log'",
            "ALTER ROLE mallory SET log_min_messages = 'log'",
        ):
            with pytest.raises(psycopg.errors.InsufficientPrivilege):
                mallory.execute(text.encode())
        assert small.server.log.stat().st_size == before


def test_the_log_is_kept_short(small: Small) -> None:
    monitor = small.monitor(replace(_SMALL, log_bytes=1000))
    with small.server.log.open("ab") as log:
        log.write(b"x" * 2000)
    monitor.look()
    assert small.server.log.stat().st_size == 0
    assert small.server.log.with_name("server.log.1").stat().st_size >= 2000
    with pytest.raises(psycopg.OperationalError):  # the server writes on, at the new end
        host, port = small.server.address
        psycopg.connect(host=host, port=port, user="mallory", password="wrong", dbname="shared")
    assert 0 < small.server.log.stat().st_size < 1000
    monitor.close()


def test_a_server_that_is_gone_is_an_error_and_found_again(tmp_path: Path) -> None:
    server = EmbeddedPostgres(tmp_path, "gone", durable=False, for_analysts=True)
    server.start()
    monitor = ShadowMonitor(server.dsn())
    assert monitor.look() == ()
    server.stop()
    with pytest.raises(ShadowError, match="could not be watched"):
        monitor.look()
    server.stop()


_IDLE = SessionUsage(
    process=1,
    analyst="a",
    statement_seconds=0,
    transaction_seconds=0,
    session_seconds=0,
    temporary_bytes=0,
    memory_bytes=0,
    locks=0,
)


def test_what_is_ended_is_the_least_that_is_enough() -> None:
    limits = AnalystLimits(temporary_bytes=100, notification_bytes=10, transaction_ids=10)
    sessions = tuple(replace(_IDLE, process=n, temporary_bytes=n * 20) for n in range(1, 5))

    def ended(usage: ServerUsage) -> dict[int, str]:
        return {e.process: e.passed for e in to_end(usage, limits)}

    calm = ServerUsage(sessions=sessions, notification_bytes=0, oldest_transaction_id=0)
    assert ended(calm) == {4: "temporary space", 3: "temporary space"}
    assert ended(replace(calm, sessions=sessions[:2])) == {}
    holding = (replace(_IDLE, transaction_seconds=60.0), replace(_IDLE, process=2))
    assert ended(replace(calm, sessions=holding)) == {}
    assert ended(replace(calm, sessions=holding, notification_bytes=11)) == {1: "notifications"}
    old = (replace(_IDLE, session_seconds=7200.0), replace(_IDLE, process=2))
    assert ended(replace(calm, sessions=old, oldest_transaction_id=11)) == {1: "transaction ids"}


_TOTAL = "SELECT sum(pg_database_size(oid))::bigint FROM pg_database"


def _churn(columns: int) -> bytes:
    """Ten temporary tables, made and dropped: rows of pg_attribute that a snapshot keeps."""
    names = ", ".join(f"c{n} int" for n in range(columns))
    return (
        f"DO $$ BEGIN FOR i IN 1..10 LOOP EXECUTE 'CREATE TEMP TABLE t ({names})';"
        " EXECUTE 'DROP TABLE t'; END LOOP; END $$"
    ).encode()


_COMMENT = b"""\
DO $$ BEGIN FOR i IN 1..3 LOOP EXECUTE format('COMMENT ON TABLE r IS %L', (SELECT s || i FROM r));
END LOOP; END $$"""


@pytest.mark.parametrize("way", ["columns", "comments"])
def test_what_is_written_into_catalogues_is_bounded(tmp_path: Path, way: str) -> None:
    """N6: a held snapshot and temporary tables made and dropped; long comments."""
    share = 24 * _MIB
    with started(tmp_path) as server:
        limits = AnalystLimits(catalogue_bytes=share)
        monitor = server.monitor(limits)
        with server.connect("mallory") as writing, server.connect("bob") as bob:
            writing.execute("CREATE TEMP TABLE r AS SELECT ''::text s")
            if way == "comments":
                writing.execute(
                    "UPDATE r SET s = (SELECT string_agg(md5(random()::text), '')"
                    " FROM generate_series(1, 60000))"
                )
            assert monitor.look() == ()
            statement = _churn(1000) if way == "columns" else _COMMENT
            found: tuple[Ended, ...] = ()
            deadline = time.monotonic() + 30
            while not found and time.monotonic() < deadline:
                writing.execute(statement)
                found = monitor.look()
            assert {(e.process, e.passed) for e in found} == {
                (writing.info.backend_pid, "catalogues")
            }
            assert _is_alive(bob)
            with psycopg.connect(server.server.dsn(), autocommit=True) as superuser:
                reader = UsageReader(server.server.dsn(), superuser)
                monitor.close()
                # Made small again: a session that begins now has the whole share.
                for _ in range(100):
                    reader.catalogues.shrink()
                    row = superuser.execute(_TOTAL.encode()).fetchone()
                    assert row is not None
                    if row[0] < 40 * _MIB:
                        break
                    time.sleep(0.05)
                assert row is not None and row[0] < 40 * _MIB
                assert 0 < reader.catalogues.size() < 150 * _MIB


def test_who_holds_a_snapshot_or_writes_most_is_ended() -> None:
    limits = AnalystLimits(catalogue_bytes=100)
    sessions = (
        replace(_IDLE, process=1, transaction_seconds=60.0),
        replace(_IDLE, process=2, written_bytes=900),
        replace(_IDLE, process=3, written_bytes=10),
        replace(_IDLE, process=4, transaction_seconds=1.0),
    )
    calm = ServerUsage(
        sessions=sessions, notification_bytes=0, oldest_transaction_id=0, catalogue_bytes=100
    )
    assert to_end(calm, limits) == ()
    ended = to_end(replace(calm, catalogue_bytes=101), limits)
    assert {(e.process, e.passed) for e in ended} == {(1, "catalogues"), (2, "catalogues")}


def test_the_shadow_comes_after_the_others(small: Small) -> None:
    """N7: it is the one server whose load analysts choose."""
    own = os.getpriority(os.PRIO_PROCESS, 0)
    assert small.server.process_id is not None
    assert os.getpriority(os.PRIO_PROCESS, small.server.process_id) == min(19, own + 5)
    with small.connect("bob") as bob:
        backend = bob.info.backend_pid
        assert os.getpriority(os.PRIO_PROCESS, backend) == min(19, own + 5)


def test_who_uses_the_processors_goes_last(small: Small) -> None:
    """N7: 22 loops of one analyst made another's question ten times as long."""
    monitor = small.monitor(replace(_SMALL, cpu_seconds=0.3))
    with (
        small.connect("mallory") as spinning,
        small.connect("mallory") as other,
        small.connect("bob") as bob,
    ):
        spinning.pgconn.send_query(b"DO $$ BEGIN LOOP NULL; END LOOP; END $$")

        def niceness(session: psycopg.Connection) -> int:
            """The group's, where there are groups: PostgreSQL makes each session one."""
            process = session.info.backend_pid
            group = Path(f"/proc/{process}/autogroup")
            if group.exists() and group.read_text().startswith("/autogroup-"):
                return int(group.read_text().split()[-1])
            return os.getpriority(os.PRIO_PROCESS, process)

        deadline = time.monotonic() + 20
        sessions = (spinning, other, bob)
        while [niceness(s) for s in sessions] != [19, 19, 5] and time.monotonic() < deadline:
            assert monitor.look() == ()
            time.sleep(0.05)
        assert [niceness(session) for session in sessions] == [19, 19, 5]
        spinning.cancel_safe()
        spinning.close()
    monitor.close()
