"""An analyst's share of memory is a limit, and the shadow is the first to go where memory runs out."""

from __future__ import annotations

import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path

import psycopg
import pytest

from proxy.postgres.analyst_limits import MEMORY_PER_SESSION
from proxy.postgres.embedded import EmbeddedPostgres
from tests.databases.small_shadow import SmallShadow, is_alive, started
from tests.machine_speed import allowed_wait

_SESSIONS = 12
_COPYING_TAKES = allowed_wait(2)  # less than half of one
_FILLING = (
    "SELECT length(string_agg(repeat('x', 1000000), '')) FROM generate_series(1, 1000)",
    "SELECT length(jsonb_agg(g)::text) FROM generate_series(1, 5000000) g",
    "SET work_mem = '1GB'; SELECT count(*) FROM (SELECT md5(g::text) x FROM generate_series(1, 2000000) g"
    " ORDER BY x OFFSET 0) s",
)


def _nested(levels: int, level: str) -> str:
    operand = "relpages"
    for _ in range(levels):
        operand = level.format(operand)
    return f"SELECT 1 FROM pg_class WHERE {operand} = 1"


# PostgreSQL copies operands while it analyses these. Without a limit each took more than 300 MB.
_COPYING = (
    _nested(9, "({} BETWEEN SYMMETRIC 1 AND 2)::int"),
    _nested(200, "({} BETWEEN SYMMETRIC 1 AND 2)::int"),
    _nested(17, "(ARRAY[{} BETWEEN 0 AND 1])[1]::int"),
    _nested(10, "({} IN (relpages, relnatts, relchecks, 3))::int"),
    _nested(17, "((({}), 1) IN ((1, 2), (3, 4)))::int"),
    "PREPARE p AS " + _nested(9, "({} BETWEEN SYMMETRIC 1 AND 2)::int"),
    "DO $f$ BEGIN PERFORM (" + _nested(9, "({} BETWEEN SYMMETRIC 1 AND 2)::int") + "); END $f$",
)
only_linux = pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="needs Linux")


def _children(process: int) -> list[int]:
    return [int(p) for p in Path(f"/proc/{process}/task/{process}/children").read_text().split()]


def _private_bytes(process: int) -> int:
    try:
        lines = Path(f"/proc/{process}/status").read_text().splitlines()
    except OSError:
        return 0
    return sum(int(line.split()[1]) * 1024 for line in lines if line.startswith("RssAnon:"))


@pytest.mark.long
@only_linux
def test_no_moment_is_above_the_limit(tmp_path: Path) -> None:
    """Without a limit of the kernel these took 3.7 GB in the second until the monitor looked."""
    with started(tmp_path) as small:
        postmaster = small.server.process_id
        assert postmaster is not None
        ended, most = threading.Event(), [0]

        def watch() -> None:
            while not ended.is_set():
                most[0] = max(most[0], sum(map(_private_bytes, _children(postmaster))))
                time.sleep(0.005)

        watching = threading.Thread(target=watch)
        watching.start()
        try:
            with ThreadPoolExecutor(_SESSIONS) as pool:
                outcomes = list(pool.map(lambda n: _filled(small, n), range(_SESSIONS)))
        finally:
            ended.set()
            watching.join()
        assert set(outcomes) == {"53200"}
        assert MEMORY_PER_SESSION < most[0] <= _SESSIONS * MEMORY_PER_SESSION
        with small.connect("bob") as bob:
            assert is_alive(bob)


def _filled(small: SmallShadow, number: int) -> str:
    with small.connect("mallory") as mallory:
        try:
            mallory.execute(_FILLING[number % len(_FILLING)].encode())
        except psycopg.Error as error:
            assert is_alive(mallory)
            return error.sqlstate or str(error)
    return "answered"


@only_linux
def test_the_shadow_goes_first_where_memory_runs_out(tmp_path: Path) -> None:
    def score(process: int | str) -> int:
        return int(Path(f"/proc/{process}/oom_score_adj").read_text())

    ledger = EmbeddedPostgres(tmp_path, "ledger", tcp=False)
    ledger.start()
    try:
        with started(tmp_path) as small, small.connect("mallory") as mallory:
            process = small.server.process_id
            assert process is not None and ledger.process_id is not None
            shadow = {score(process)}
            for one in _children(process):
                with suppress(FileNotFoundError):  # a worker that has ended meanwhile
                    shadow.add(score(one))
            assert mallory.info.backend_pid in _children(process)
            assert min(shadow) >= 900
            assert score(ledger.process_id) == score("self") < 900
    finally:
        ledger.stop()


@only_linux
@pytest.mark.timed
def test_what_is_copied_in_analysis_ends_at_the_limit(tmp_path: Path) -> None:
    """So a session and its neighbours go on, and none of it takes long."""
    with started(tmp_path) as small, small.connect("mallory") as mallory:
        for text in _COPYING:
            begun = time.monotonic()
            with pytest.raises(psycopg.errors.OutOfMemory):
                mallory.execute(text.encode())
            assert time.monotonic() - begun < _COPYING_TAKES
            assert is_alive(mallory)
        with small.connect("bob") as bob:
            assert is_alive(bob)
