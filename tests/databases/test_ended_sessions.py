"""Which sessions the monitor of a shadow ends, and the share of its catalogues."""

from __future__ import annotations

import time
from dataclasses import replace
from pathlib import Path

import psycopg
import pytest

from proxy.postgres.analyst_limits import AnalystLimits
from proxy.postgres.embedded import EmbeddedPostgres
from proxy.shadow.analyst_usage import ServerUsage, SessionUsage, UsageReader
from proxy.shadow.shadow_monitor import Ended, ShadowMonitor, to_end
from proxy.shadow.shadow_tables import ShadowError
from tests.databases.small_shadow import MIB, is_alive, started


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


@pytest.mark.every(2)
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
            deadline = time.monotonic() + 30
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
                for _ in range(100):
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
