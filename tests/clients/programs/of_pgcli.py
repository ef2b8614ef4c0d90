"""pgcli, by its commands."""

from __future__ import annotations

import csv
import io
import os
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path

from each_feature import CERTIFICATE, GIVEN, SQL, TLS_PORT, absent, run

PGCLI = [str(Path(sys.executable).with_name("pgcli")), "--less-chatty", "--yes"]
SETTINGS = "[main]\ntable_format = csv\ntiming = False\npager = cat\non_error = RESUME\n"


def told(*commands: str, **environment: str) -> str:
    settings = Path(os.environ["DP_FOLDER"]) / "pgclirc"
    settings.write_text(SETTINGS, encoding="utf-8")
    flags = [flag for command in commands for flag in ("-c", command)]
    done = subprocess.run(
        [*PGCLI, "--pgclirc", str(settings), *flags],
        env={**os.environ, "PGSSLMODE": "disable", "HOME": str(settings.parent), **environment},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )
    return done.stdout + done.stderr


def tables(*commands: str, **environment: str) -> list[list[str]]:
    """Rows, without the lines that say how many, and without a notice, which pgcli prints as a title."""
    lines = told(*commands, **environment).splitlines(keepends=True)
    title = ("None", "differential privacy:", "  ")
    answer = "".join(line for line in lines if not line.startswith(title))
    rows = csv.reader(io.StringIO(answer))
    return [row for row in rows if row and not row[0].startswith("SELECT ")]


def one(name: str) -> object:
    return tables(SQL[name])[1][0]


def tls() -> object:
    way = {"PGSSLMODE": "verify-full", "PGSSLROOTCERT": CERTIFICATE}
    return tables(SQL["one"], PGHOST="localhost", PGPORT=str(TLS_PORT), **way)[1][0]


def reflection() -> object:
    described = tables("\\d shop.orders")
    return {
        "schemas": [row[0] for row in tables("\\dn")[1:]],
        "tables": [row[1] for row in tables("\\dt shop.*")[1:]],
        "columns": [row[0] for row in described[1:] if len(row) > 2],
    }


def refusal() -> object:
    message, _, hint = told(SQL["refused"]).partition("HINT:")
    return [None, message, hint]


if __name__ == "__main__":
    run(
        f"pgcli {version('pgcli')}",
        {
            "connect": lambda: one("one"),
            "tls": tls,
            "reflection": reflection,
            "count": lambda: one("count"),
            "grouped_sum": lambda: dict(tables(SQL["grouped_sum"])[1:]),
            **{f"{name}_parameter": absent("pgcli has no parameters") for name in GIVEN},
            "prepared": lambda: [
                row[0]
                for row in tables(
                    f"PREPARE many(int) AS {SQL['int'].replace('?', '$1')}",
                    "EXECUTE many(2)",
                    "EXECUTE many(4)",
                )
                if row[0].isdigit()
            ],
            "time_range": lambda: one("time_range"),
            "transaction": lambda: [
                row[0]
                for row in tables(
                    "BEGIN", SQL["count"], SQL["temporary"], "ROLLBACK", SQL["is_there"]
                )
                if row[0].isdigit()
            ],
            "cancel": absent("Ctrl-C needs its terminal"),
            "refusal": refusal,
            "after_error": lambda: tables(f"{SQL['refused']}; {SQL['count']}")[-1][0],
            "temporary_table": lambda: tables(SQL["temporary"], SQL["read_temporary"])[-1][0],
            "batches": absent("pgcli reads a result whole"),
            "copy": absent("pgcli's \\copy writes files of its own; that of psycopg works"),
        },
    )
