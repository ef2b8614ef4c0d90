"""How long `serve` and `policy check` take with many tables: `python -m tests.bench.starts --tables 100`.

Processor time is of the command's own process, until it prints that it serves or ends. Its modules are compiled
before, as pip has done with those of an installed dpproxy."""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from pathlib import Path

import psycopg

from proxy.postgres.embedded import EmbeddedPostgres, start_together

_COLUMNS = 20
COMMAND = (sys.executable, "-c", "from proxy.cli.main import main; main()")
_TICKS = os.sysconf("SC_CLK_TCK")
_SERVES = "/docs"


@dataclass(frozen=True, slots=True)
class _Column:
    type_name: str
    policy: str


def columns(table: int, shapes: int) -> list[_Column]:
    """`shapes`: how many columns differ in what the planner knows of them, over all tables."""
    return [_column((table * _COLUMNS + place) % shapes) for place in range(_COLUMNS - 2)]


def _column(shape: int) -> _Column:
    """The kinds of a warehouse; the bounds of each shape are its own."""
    high = 100 + shape
    days = f"{{bounds: [2022-01-01, {date(2026, 1, 1) + timedelta(shape)}]}}"
    match shape % 6:
        case 0:
            return _Column("integer", f"{{bounds: [0, {high}]}}")
        case 1:
            return _Column("numeric(12,2)", f"{{bounds: [0, {high}], grid: 0.01}}")
        case 2:
            return _Column("text", f"{{values: [a, b, c{shape}]}}")
        case 3:
            return _Column("date", days)
        case 4:
            return _Column("timestamptz", days)
        case _:
            return _Column("double precision", f"{{bounds: [0, {high}], grid: 0.5}}")


def tables_sql(tables: int, shapes: int) -> str:
    made = ["DROP SCHEMA IF EXISTS wide CASCADE; CREATE SCHEMA wide;"]
    for table in range(tables):
        listed = ", ".join(
            f"c{place} {one.type_name}" for place, one in enumerate(columns(table, shapes))
        )
        made.append(
            f"CREATE TABLE wide.t{table} (id bigint PRIMARY KEY, person bigint NOT NULL, {listed});"
            f"CREATE INDEX ON wide.t{table} (person);"
        )
    made.append("GRANT USAGE ON SCHEMA wide TO reader;")
    made.append("GRANT SELECT ON ALL TABLES IN SCHEMA wide TO reader;")
    return "".join(made)


def policy_text(source: str, tables: int, shapes: int) -> str:
    lines = [
        "dpproxy: 1",
        "database: wide",
        f'source: "{source}"',
        "privacy: {epsilon: 1, delta: 1e-8}",
        "budgets: {total: {epsilon: 20, delta: 1e-5}, default: {epsilon: 4, delta: 1e-6}}",
        "tables:",
    ]
    for table in range(tables):
        lines += [
            f"  wide.t{table}:",
            "    unit: {person: person}",
            "    max_rows_per_unit: 10",
            "    columns:",
            *(f"      c{place}: {one.policy}" for place, one in enumerate(columns(table, shapes))),
        ]
    return "\n".join(lines) + "\n"


@dataclass(frozen=True, slots=True)
class Took:
    seconds: float
    processor: float
    memory: int  # megabytes at most

    def __str__(self) -> str:
        return f"{self.processor:6.2f} s of processor, {self.seconds:6.2f} s, {self.memory:,} MB"


def until_it_serves(arguments: Sequence[str], out: Path) -> Took:
    began = time.monotonic()
    with out.open("w") as to, (out.parent / "err.txt").open("w") as errors:
        process = subprocess.Popen([*COMMAND, *arguments], stdout=to, stderr=errors)
        try:
            while _SERVES not in out.read_text():
                if process.poll() is not None:
                    sys.exit((out.parent / "err.txt").read_text()[-2000:])
                time.sleep(0.02)
            return Took(time.monotonic() - began, *_used(process.pid))
        finally:
            process.terminate()
            process.wait(60)


def _used(process: int) -> tuple[float, int]:
    fields = Path(f"/proc/{process}/stat").read_text().rsplit(")", 1)[1].split()
    (peak,) = re.findall(r"^VmHWM:\s+(\d+) kB$", Path(f"/proc/{process}/status").read_text(), re.M)
    return (int(fields[11]) + int(fields[12])) / _TICKS, int(peak) // 1024


def whole(arguments: Sequence[str]) -> Took:
    began = time.monotonic()
    process = subprocess.Popen([*COMMAND, *arguments], stdout=subprocess.DEVNULL)
    _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        print(f"    ended with {process.returncode}", file=sys.stderr)
    processor = used.ru_utime + used.ru_stime
    return Took(time.monotonic() - began, processor, used.ru_maxrss // 1024)


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.bench.starts", description=__doc__)
    parser.add_argument("--tables", type=int, default=100)
    parser.add_argument("--shapes", type=int, nargs="*", default=[18, 380])
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--check", action="store_true", help="only policy check")
    parser.add_argument("--keep", type=Path, help="a folder for policy and state that stays")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="dpproxy-starts-") as temporary:
        folder = options.keep or Path(temporary)
        folder.mkdir(exist_ok=True)
        os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
        os.environ["PYTHONPYCACHEPREFIX"] = str(folder / "compiled")
        server = EmbeddedPostgres(folder / "source", "protected", durable=False)
        start_together([server])
        try:
            for shapes in options.shapes:
                _measure(folder, server, shapes, options)
        finally:
            server.stop()


def _measure(
    folder: Path, server: EmbeddedPostgres, shapes: int, options: argparse.Namespace
) -> None:
    tables = options.tables
    print(f"{tables} tables of {_COLUMNS} columns, {shapes} shapes", flush=True)
    policy = prepared(folder, server, tables, shapes)
    for number in range(options.rounds + 1):
        took = whole(["policy", "check", str(policy)])
        if number:  # the first one compiles
            print(f"  policy check {took}", flush=True)
    if options.check:
        return
    for number in range(options.rounds + 1):
        took = served(policy)
        if number:
            print(f"  serve        {took}", flush=True)


def prepared(folder: Path, server: EmbeddedPostgres, tables: int, shapes: int) -> Path:
    """A policy, beside which its ledger and state are."""
    host, port = server.address
    source = f"host={host} port={port} user=reader password=reader dbname=postgres"
    with psycopg.connect(server.dsn(), autocommit=True) as connection:
        connection.execute(
            "DO $$BEGIN CREATE ROLE reader LOGIN PASSWORD 'reader';"
            " EXCEPTION WHEN duplicate_object THEN NULL; END$$"
        )
        connection.execute("ALTER ROLE reader SET temp_file_limit = '1GB'")
        connection.execute(tables_sql(tables, shapes).encode())
    policy = folder / f"wide{tables}-{shapes}.yaml"
    policy.write_text(policy_text(source, tables, shapes))
    if not policy.with_suffix(".state").exists():
        adopting = [*COMMAND, "ledger", "adopt", "--new", *_with_state(policy)]
        subprocess.run(adopting, check=True, stdout=subprocess.DEVNULL)
    return policy


def served(policy: Path) -> Took:
    free = ["--listen", "127.0.0.1:0", "--http", "127.0.0.1:0"]
    return until_it_serves(["serve", *_with_state(policy), *free], policy.parent / "out.txt")


def _with_state(policy: Path) -> list[str]:
    return ["--policy", str(policy), "--state", str(policy.with_suffix(".state"))]


if __name__ == "__main__":
    main()
