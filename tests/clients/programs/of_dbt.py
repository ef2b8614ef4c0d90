"""dbt: a project over the demo's shop, in a folder of its own, run by dbt's own commands."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path

from each_feature import run

PROJECT = Path(os.environ["DP_FOLDER"]) / "project"
DBT = Path(sys.executable).with_name("dbt")


def dbt(*arguments: str) -> tuple[int, str]:
    done = subprocess.run(
        [str(DBT), *arguments],
        cwd=PROJECT,
        env={**os.environ, "DBT_PROFILES_DIR": str(PROJECT), "HOME": str(PROJECT), "NO_COLOR": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    return done.returncode, done.stdout + done.stderr


def well(*arguments: str) -> object:
    code, written = dbt("--no-use-colors", *arguments)
    assert code == 0, written[-1500:]
    return True


def docs() -> object:
    well("docs", "generate")
    found = json.loads((PROJECT / "target" / "catalog.json").read_text())
    columns = found["sources"]["source.shop.shop.orders"]["columns"]
    assert {"total", "status", "created_at"} <= columns.keys(), columns
    return columns["total"]["type"] == "numeric(8,2)"


def show() -> object:
    query = "select count(*) as n from {{ source('shop', 'orders') }}"
    code, written = dbt("--quiet", "show", "--inline", query, "--output", "json")
    assert code == 0, written[-1500:]
    row = json.loads(written[written.index("{") :])["show"][0]
    return abs(row["n"] - 60_000) < 2_000


def fails(*arguments: str, by: str) -> object:
    code, written = dbt("--no-use-colors", *arguments)
    assert code != 0 and by in written, written[-1500:]
    return True


def main() -> None:
    shutil.copytree(Path(__file__).with_name("dbt"), PROJECT)
    rows = "select total from {{ source('shop', 'orders') }}"
    run(
        f"dbt {version('dbt-core')}, dbt-postgres {version('dbt-postgres')}",
        {
            "debug": lambda: well("debug"),
            "docs": docs,
            "show": show,
            "ephemeral": lambda: well("show", "--inline", "select * from {{ ref('by_status') }}"),
            "temporary": lambda: (
                well("run", "--select", "answers")
                and fails("run", "--select", "wrong_answers", by="division by zero")
            ),
            "column_tests": lambda: well("test", "--select", "test_type:generic"),
            "tolerance": lambda: well("test", "--select", "enough_orders"),
            "failing_test": lambda: fails("test", "--select", "too_few_orders", by="4"),
            "raw_rows": lambda: fails("show", "--inline", rows, by="HINT"),
        },
    )


if __name__ == "__main__":
    main()
