"""psql, by its commands and standard input."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from collections.abc import Callable

from each_feature import CERTIFICATE, NUMBERED, SQL, TLS_PORT, run

PSQL = ["psql", "-X", "-A", "-t", "-q", "-F", "\t"]
VARIABLES = {
    "int": (":n", "3"),
    "text": (":'n'", "paid"),
    "date": (":'n'", "1990-01-01"),
    "timestamp": (":'n'", "2025-01-01 00:00:00+00"),
    "list": (":'n'", "{paid,shipped}"),
    "null": ("nullif(:'n', '')", ""),
}


def told(text: str, *arguments: str, **environment: str) -> str:
    done = subprocess.run(
        [*PSQL, *arguments],
        input=text,
        env={**os.environ, "PGSSLMODE": "disable", **environment},
        capture_output=True,
        text=True,
        check=False,
    )
    # A NOTICE comes on standard error, beside the rows.
    return done.stdout if done.stderr.startswith("NOTICE:") else done.stdout + done.stderr


def lines(text: str, *arguments: str) -> list[str]:
    return told(text, *arguments).strip().splitlines()


def one(name: str) -> Callable[[], object]:
    return lambda: told(SQL[name]).strip()


def pairs(text: str) -> dict[str, str]:
    return dict(line.split("\t") for line in text.strip().splitlines())


def tls() -> object:
    way = {"PGSSLMODE": "verify-full", "PGSSLROOTCERT": CERTIFICATE}
    return told(SQL["one"], PGHOST="localhost", PGPORT=str(TLS_PORT), **way).strip()


def reflection() -> object:
    described = lines("\\d shop.orders\n")
    for command in (
        "\\dn+",
        "\\dt+ shop.*",
        "\\df",
        "\\du",
        "\\dT",
        "\\dp shop.*",
        "\\d+ shop.orders",
    ):
        written = told(command + "\n")
        assert "ERROR" not in written, written
    return {
        "schemas": [line.split("\t")[0] for line in lines("\\dn\n")],
        "tables": [line.split("\t")[1] for line in lines("\\dt shop.*\n")],
        "columns": [line.split("\t")[0] for line in described if "\t" in line],
    }


def with_variable(name: str) -> Callable[[], object]:
    marked, value = VARIABLES[name]
    return lambda: told(SQL[name].replace("?", marked), "-v", f"n={value}").strip()


def cancel() -> object:
    start = time.monotonic()
    running = subprocess.Popen(
        [*PSQL, "-v", "VERBOSITY=sqlstate", "-c", SQL["sleep"]], stderr=subprocess.PIPE, text=True
    )
    time.sleep(1)
    running.send_signal(signal.SIGINT)
    _, errors = running.communicate()
    return [errors.strip().rpartition(" ")[2], time.monotonic() - start]


def refusal() -> object:
    message, _, hint = told(SQL["refused"]).partition("HINT:")
    return [None, message, hint]


def batches() -> object:
    n = len(lines(f"\\set FETCH_COUNT 3\n{SQL['by_status']};\n"))
    return [min(n, 3), n - 3]


def copy() -> object:
    query = SQL["copy"].replace("COPY", "\\copy")
    return pairs(told(query + "\n"))


if __name__ == "__main__":
    version = subprocess.run(["psql", "--version"], capture_output=True, text=True, check=True)
    run(
        f"psql {version.stdout.split()[2]}",
        {
            "connect": one("one"),
            "tls": tls,
            "reflection": reflection,
            "count": one("count"),
            "grouped_sum": lambda: pairs(told(SQL["grouped_sum"])),
            **{f"{name}_parameter": with_variable(name) for name in VARIABLES},
            "prepared": lambda: lines(
                f"PREPARE many(int) AS {NUMBERED['int']};\nEXECUTE many(2);\nEXECUTE many(4);\n"
            ),
            "time_range": one("time_range"),
            "transaction": lambda: lines(
                f"BEGIN;\n{SQL['count']};\n{SQL['temporary']};\nROLLBACK;\n{SQL['is_there']};\n"
            ),
            "cancel": cancel,
            "refusal": refusal,
            "after_error": lambda: lines(f"{SQL['refused']};\n{SQL['count']};\n")[0],
            "temporary_table": lambda: lines(f"{SQL['temporary']};\n{SQL['read_temporary']};\n")[0],
            "batches": batches,
            "copy": copy,
        },
    )
