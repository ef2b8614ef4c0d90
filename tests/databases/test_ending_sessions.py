"""Sessions that were told to end: which are stuck, and when one is killed; sessions that have ended."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import psycopg
import pytest

from proxy.postgres.analyst_limits import AnalystLimits
from proxy.postgres.embedded import EmbeddedPostgres
from proxy.shadow import ending_sessions, shadow_monitor
from proxy.shadow.analyst_usage import ServerUsage, SessionUsage, UsageReader
from proxy.shadow.ending_sessions import MANY, PAUSE_SECONDS, EndingSessions, Harm
from proxy.shadow.shadow_monitor import Ended, ShadowMonitor, to_end
from proxy.shadow.shadow_tables import ShadowError
from tests.cli.stuck_sessions import WEDGE, cpu_seconds
from tests.databases.small_shadow import MIB, SmallShadow, is_alive, started
from tests.waiting import until


class _Clock:
    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> _Clock:
    return _Clock()


def test_a_session_is_stuck_after_seconds_and_reported_once(clock: _Clock) -> None:
    ending = EndingSessions(clock)
    assert ending.tell(7, "mallory", Harm.NONE)
    clock.now += 4.9
    ending.look({7: 50.0})
    assert not ending.unreported()
    assert not ending.tell(7, "mallory", Harm.NONE), (
        "it is told again; the time counts from the first"
    )
    clock.now += 0.2
    ending.look({7: 50.2})
    (stuck,) = ending.unreported()
    assert (stuck.analyst, stuck.process) == ("mallory", 7)
    assert stuck.seconds == pytest.approx(5.1)
    ending.look({7: 50.2})
    assert not ending.unreported()
    assert len(ending.stuck) == 1
    assert ending.to_kill() is None, "it harms nobody"
    ending.tell(7, "mallory", Harm.OPERATOR)
    assert ending.to_kill() is not None
    ending.look({})
    assert ending.to_kill() is None
    assert ending.processes == ()


def test_a_number_that_is_another_process_by_now_is_not_killed(clock: _Clock) -> None:
    ending = EndingSessions(clock)
    ending.tell(7, "mallory", Harm.OPERATOR)
    clock.now += 10
    ending.look({7: 3.0})
    assert ending.to_kill() is None and ending.processes == ()


def test_many_are_killed_but_not_again_and_again(clock: _Clock) -> None:
    """Else an analyst could end the sessions of all others every few seconds."""
    ending = EndingSessions(clock)

    def stick(processes: range) -> None:
        for process in processes:
            ending.tell(process, "mallory", Harm.NONE)
        clock.now += 6
        ending.look(dict.fromkeys(processes, 1000.0))

    stick(range(1, MANY))
    assert ending.to_kill() is None
    stick(range(1, MANY + 1))
    assert ending.to_kill() is not None
    ending.look({})
    stick(range(100, 100 + MANY))
    assert ending.to_kill() is None
    clock.now += PAUSE_SECONDS
    assert ending.to_kill() is not None


def test_what_harms_others_is_killed_but_not_again_and_again(clock: _Clock) -> None:
    ending = EndingSessions(clock)
    for process, harm in ((1, Harm.NONE), (2, Harm.OTHERS)):
        ending.tell(process, "mallory", harm)
    clock.now += 6
    ending.look({1: 60.0, 2: 60.0})
    killed = ending.to_kill()
    assert killed is not None and killed.process == 2
    assert ending.to_kill() is None
    ending.tell(1, "mallory", Harm.OPERATOR)
    killed = ending.to_kill()
    assert killed is not None and killed.process == 1, "what the operator decides does not wait"


@contextlib.contextmanager
def _watched(shadow: SmallShadow) -> Iterator[tuple[ShadowMonitor, EndingSessions]]:
    process = shadow.server.process_id
    assert process is not None
    ending = EndingSessions()
    monitor = ShadowMonitor(shadow.server.dsn(), ending=ending, server=lambda: process)
    with contextlib.closing(monitor):
        yield monitor, ending


def test_a_session_without_a_client_is_told_to_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(shadow_monitor, "_LEFT_SECONDS", 0.2)
    with (
        started(tmp_path) as shadow,
        _watched(shadow) as (monitor, _),
        shadow.connect("mallory") as mallory,
        shadow.connect("bob") as bob,
    ):
        served = {bob.info.backend_pid}
        for before in (set[int](), {*served, mallory.info.backend_pid}, served):
            time.sleep(0.3)  # for a login that is under way this is too soon
            assert monitor.look(before) == ()
        time.sleep(0.3)
        (ended,) = monitor.look(served)
        assert (ended.process, ended.passed) == (mallory.info.backend_pid, "no client")
        until(lambda: not is_alive(mallory))
        assert is_alive(bob)
        mallory.close()


@pytest.mark.long
def test_a_kill_ends_stuck_sessions_and_the_server_comes_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ending_sessions, "STUCK_SECONDS", 0.5)
    monkeypatch.setattr(ending_sessions, "MANY", 2)
    with started(tmp_path) as shadow, _watched(shadow) as (monitor, ending):
        stuck = [shadow.connect("mallory") for _ in range(2)]
        for one in stuck:
            one.pgconn.send_query(WEDGE.encode())
        until(lambda: all(cpu_seconds(one.info.backend_pid) > 0.2 for one in stuck))
        with psycopg.connect(shadow.server.dsn(), autocommit=True) as superuser:
            for one in stuck:
                process = one.info.backend_pid
                superuser.execute("SELECT pg_terminate_backend(%s)", (process,))
                ending.tell(process, "mallory", Harm.NONE)
        time.sleep(0.7)
        monitor.look()
        assert {one.process for one in ending.unreported()} == {o.info.backend_pid for o in stuck}
        assert monitor.killed is not None

        def is_back() -> bool:
            with contextlib.suppress(psycopg.OperationalError), shadow.connect("bob") as bob:
                return is_alive(bob)
            return False

        until(lambda: "was terminated by signal 9" in shadow.server.log.read_text())
        until(is_back)
        for one in stuck:
            one.close()
        assert "repeat" not in shadow.server.log.read_text(), "it quotes no statement"


@pytest.mark.long
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


@pytest.mark.long
@pytest.mark.parametrize("way", ["columns", "comments"])
def test_what_is_written_into_catalogues_is_bounded(tmp_path: Path, way: str) -> None:
    """N6: a held snapshot and temporary tables made and dropped; long comments."""
    share = 24 * MIB
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
            deadline = time.monotonic() + 60
            while not found and time.monotonic() < deadline:
                writing.execute(statement)
                found = monitor.look()
            assert {(e.process, e.passed) for e in found} == {
                (writing.info.backend_pid, "catalogues")
            }
            assert is_alive(bob)
            with psycopg.connect(server.server.dsn(), autocommit=True) as superuser:
                reader = UsageReader(server.server.dsn(), superuser)
                monitor.close()
                # Made small again: a session that begins now has the whole share.
                for _ in range(1_000):
                    reader.catalogues.shrink()
                    row = superuser.execute(_TOTAL.encode()).fetchone()
                    assert row is not None
                    if row[0] < 40 * MIB:
                        break
                    time.sleep(0.05)
                assert row is not None and row[0] < 40 * MIB
                assert 0 < reader.catalogues.size() < 150 * MIB


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
