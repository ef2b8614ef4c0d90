"""Shares of a shadow's server: what passes one is ended or fails alone; the others go on."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import psycopg
import pytest

from proxy.shadow.shadow_monitor import Ended
from tests.databases.small_shadow import SMALL_LIMITS, SmallShadow, is_alive, started


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SmallShadow]:
    with started(tmp_path_factory.mktemp("small")) as running:
        yield running


def _when_ended(look: Callable[[], tuple[Ended, ...]]) -> tuple[Ended, ...]:
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        if found := look():
            return found
        time.sleep(0.02)
    raise AssertionError("nothing was ended")


@pytest.mark.every(2)
@pytest.mark.parametrize("is_committed", [True, False])
def test_temporary_tables_are_bounded(small: SmallShadow, is_committed: bool) -> None:
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
        assert not is_alive(mallory)
        assert is_alive(idle) and is_alive(bob)
        monitor.close()


def test_temporary_tables_of_several_sessions_are_one_share(small: SmallShadow) -> None:
    monitor = small.monitor()
    sessions = [small.connect("mallory") for _ in range(3)]
    for session in sessions:
        session.execute(
            "CREATE TEMP TABLE t AS SELECT repeat(md5(i::text), 30) x FROM generate_series(1, 9000) i"
        )
    ended = monitor.look()
    assert 1 <= len(ended) < 3
    assert sum(map(is_alive, sessions)) == 3 - len(ended)
    for session in sessions:
        session.close()
    monitor.close()


@pytest.mark.long
def test_a_sort_ends_in_an_error_of_its_own_session(small: SmallShadow) -> None:
    """F7c: without a limit one backend took what the machine has."""
    with small.connect("mallory") as mallory, small.connect("bob") as bob:
        mallory.execute("SET work_mem = '2000MB'")
        with pytest.raises(psycopg.errors.OutOfMemory):
            mallory.execute(
                "SELECT count(*) FROM (SELECT repeat('x', 100) || i FROM generate_series(1, 20000000) i"
                " ORDER BY 1) q"
            )
        assert is_alive(mallory) and is_alive(bob)


def test_one_value_ends_in_an_error_of_its_own_session(small: SmallShadow) -> None:
    with small.connect("mallory") as mallory:
        with pytest.raises(psycopg.errors.OutOfMemory):
            mallory.execute(
                "SELECT length(a || b) FROM (SELECT repeat(repeat('x', 1000000), 500) a,"
                " repeat(repeat('y', 1000000), 500) b"
                " OFFSET 0) q"
            )
        assert is_alive(mallory)


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
def test_a_stack_grows_where_memory_is_full(tmp_path: Path) -> None:
    """N3: the limit counted the stack; that it could not grow was SIGSEGV, the end of all sessions."""
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
                    assert is_alive(mallory)
            assert bob.execute("SELECT a FROM mine").fetchone() == (1,)
        assert b"signal 11" not in little.server.log.read_bytes()


def test_there_are_no_parallel_workers(small: SmallShadow) -> None:
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


def test_the_table_of_locks_has_room(small: SmallShadow) -> None:
    """F6's sibling: temporary tables take a place each, without any advisory lock."""
    monitor = small.monitor()
    with small.connect("mallory") as mallory, small.connect("bob") as bob:
        mallory.execute("BEGIN")
        mallory.execute(
            "DO $$ BEGIN FOR i IN 1..600 LOOP EXECUTE format('CREATE TEMP TABLE l%s ()', i); END LOOP; END $$"
        )
        assert {e.passed for e in _when_ended(monitor.look)} == {"locks"}
        assert not is_alive(mallory)
        bob.execute("CREATE TEMP TABLE mine ()")
    monitor.close()


def test_times_that_an_analyst_sets_are_bounded(small: SmallShadow) -> None:
    monitor = small.monitor(replace(SMALL_LIMITS, statement_seconds=0.3, transaction_seconds=0.3))
    with small.connect("mallory") as running, small.connect("mallory") as waiting:
        for session in (running, waiting):
            session.execute("SET statement_timeout = 0")
            session.execute("SET idle_in_transaction_session_timeout = 0")
        waiting.execute("BEGIN")
        running.pgconn.send_query(b"SELECT pg_sleep(60)")
        found: set[tuple[int, str]] = set()
        deadline = time.monotonic() + 60
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


def test_the_log_is_not_the_analysts_to_write(small: SmallShadow) -> None:
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


def test_the_log_is_kept_short(small: SmallShadow) -> None:
    monitor = small.monitor(replace(SMALL_LIMITS, log_bytes=1000))
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


def test_the_shadow_comes_after_the_others(small: SmallShadow) -> None:
    """N7: it is the one server whose load analysts choose."""
    own = os.getpriority(os.PRIO_PROCESS, 0)
    assert small.server.process_id is not None
    assert os.getpriority(os.PRIO_PROCESS, small.server.process_id) == min(19, own + 5)
    with small.connect("bob") as bob:
        backend = bob.info.backend_pid
        assert os.getpriority(os.PRIO_PROCESS, backend) == min(19, own + 5)


def test_who_uses_the_processors_goes_last(small: SmallShadow) -> None:
    """N7: 22 loops of one analyst made another's question ten times as long."""
    monitor = small.monitor(replace(SMALL_LIMITS, cpu_seconds=0.3))
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

        deadline = time.monotonic() + 60
        sessions = (spinning, other, bob)
        while [niceness(s) for s in sessions] != [19, 19, 5] and time.monotonic() < deadline:
            assert monitor.look() == ()
            time.sleep(0.05)
        assert [niceness(session) for session in sessions] == [19, 19, 5]
        spinning.cancel_safe()
        spinning.close()
    monitor.close()
