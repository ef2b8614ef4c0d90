"""The benchmark runs and says what it measured; how long things take is not tested."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest


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
