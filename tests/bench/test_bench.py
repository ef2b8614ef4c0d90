"""The benchmark runs and says what it measured; how long things take is not tested."""

from __future__ import annotations

import multiprocessing
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.bench.awake import awake, is_changed
from tests.bench.goals import goals_table, outcome
from tests.bench.measuring import Bound, Measured


def test_goals_are_met_or_missed_by_their_bounds() -> None:
    found = [
        Measured("count", 100.0, 190.0, Bound(ratio=2)),
        Measured("count, prepared", 2.0, 5.5, Bound(added_ms=3)),
    ]
    lines = goals_table([outcome(one) for one in found]).splitlines()
    assert [line.split()[-4:] for line in lines[1:]] == [
        ["1.90x", "<=", "2x", "met"],
        ["<", "+3", "ms", "MISSED"],
    ]


@pytest.mark.parametrize(("asleep", "beside", "changed"), [(0.2, 0.29, False), (0.16, 4.0, True)])
def test_loops_that_change_a_commit_are_refused(
    asleep: float, beside: float, changed: bool
) -> None:
    assert is_changed(asleep, beside) is changed is is_changed(beside, asleep)


@pytest.mark.skipif(not hasattr(os, "sched_setaffinity"), reason="loops are for Linux")
@pytest.mark.parametrize(("beside", "runs"), [(0.25, True), (4.0, False)])
def test_no_loop_is_left_where_a_commit_changes(beside: float, runs: bool) -> None:
    commits = iter((0.2, beside))
    with awake(lambda: next(commits)) as told:
        assert bool(multiprocessing.active_children()) is runs
        assert told.endswith("no loops.") is not runs
    assert not multiprocessing.active_children()


@pytest.mark.long
def test_quick_run_prints_its_table(tmp_path: Path) -> None:
    options = [
        "--quick",
        "--small-rows=500",
        "--rounds=2",
        "--warm=1",
        "--relay-rounds=1",
        "--relay-seconds=1",
        f"--state={tmp_path}",
    ]
    done = subprocess.run(
        [sys.executable, "-m", "tests.bench", *options],
        capture_output=True,
        text=True,
        timeout=180,
        cwd=Path(__file__).parents[2],
        check=False,
    )
    assert done.returncode == 0, done.stderr
    lines = [line for line in done.stdout.splitlines() if "x  " in line or line.endswith("x")]
    assert [line.split("  ")[0] for line in lines] == [
        "select 1, direct and relayed",
        "count(*)",
        "count(*) where, new text",
        "count(*) where, parameter, prepared",
        "count(*) where, prepared",
        "count(*) since now() - interval",
        "count(*) since now() - interval, prepared",
        "avg(age)",
        "count(*) by region",
        "count(*) where",
        "count(*) where, prepared",
        *(
            f"{asked}{by}"
            for asked in (
                "count(*)",
                "sum(amount)",
                "avg(amount)",
                "count(*), sum(amount), avg(amount)",
            )
            for by in ("", " by 20 keys")
        ),
        "mean: avg(amount) by 20 keys",
        "mean: count(*), sum(amount), avg(amount) by 20 keys",
    ]
    assert "PostgreSQL" in done.stdout and "quoted" in done.stdout and "chosen ms" in done.stdout
    assert "relay/pgbouncer" in done.stdout or "Throughput of the relay: left out" in done.stdout


@pytest.mark.long
def test_sessions_under_load_are_served_and_their_memory_is_printed() -> None:
    given = ["--idle=4", "--active=4", "--minutes=0.4", "--pause=0.1"]
    done = subprocess.run(
        [sys.executable, "-m", "tests.bench.load", *given],
        capture_output=True,
        text=True,
        timeout=300,
        cwd=Path(__file__).parents[2],
        check=False,
    )
    assert done.returncode == 0, (done.stdout, done.stderr)
    assert "  4 idle:" in done.stdout and "errors: none" in done.stdout
    assert "'count': " in done.stdout


@pytest.mark.long
def test_starts_with_many_tables_are_measured() -> None:
    given = ["--tables=3", "--shapes", "5", "--rounds=1"]
    done = subprocess.run(
        [sys.executable, "-m", "tests.bench.starts", *given],
        capture_output=True,
        text=True,
        timeout=300,
        cwd=Path(__file__).parents[2],
        check=False,
    )
    assert done.returncode == 0, (done.stdout, done.stderr)
    assert done.stdout.count("s of processor") == 2
    assert "ended with" not in done.stderr
