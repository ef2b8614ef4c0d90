"""Two workers beside one: statements in a second of 64 clients, and where the processor time goes.

Clients, PostgreSQL and dpproxy share the cores here: a second worker has only what the others leave.
`python -m tests.bench.workers` measures this alone.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import statistics
import subprocess
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, nullcontext, suppress
from dataclasses import dataclass
from pathlib import Path

import psycopg
from psycopg.conninfo import make_conninfo

from proxy.postgres.embedded import EmbeddedPostgres
from tests.cli.operator_at_work import PASSWORD, QUESTION, Listening, Operator
from tests.live.served_database import READER, made_database

_CLIENTS = 64
_ANALYSTS = tuple(f"analyst{number}" for number in range(4))
_WORKERS = (1, 2)
_SHOP = """\
CREATE SCHEMA shop;
CREATE TABLE shop.customers (id int PRIMARY KEY, state text NOT NULL);
INSERT INTO shop.customers SELECT n, 'CA' FROM generate_series(1, 32000) n;
"""
_GOALS = {"SELECT 1": 1.3, "COUNT": 0.9}
_TICKS = os.sysconf("SC_CLK_TCK")


@dataclass(frozen=True)
class Measured:
    """statements: in a second; busy: cores that each kind of process took"""

    statements: float
    busy: Mapping[str, float]


@dataclass(frozen=True)
class Comparison:
    """The median run, with one worker and with two."""

    what: str
    of_workers: Mapping[int, Measured]

    @property
    def ratio(self) -> float:
        return self.of_workers[2].statements / self.of_workers[1].statements


@dataclass(frozen=True)
class _Served:
    listening: Listening
    protected: int  # process of its server

    @property
    def dsns(self) -> list[str]:
        host, port = self.listening.wire
        shop = make_conninfo(host=host, port=port, password=PASSWORD, dbname="shop")
        return [make_conninfo(shop, user=name) for name in _ANALYSTS]

    @property
    def processes(self) -> list[int]:
        return [*_tree(self.listening.running.process.pid), *_tree(self.protected)]

    def processor_seconds(self, clients: Sequence[int]) -> dict[str, float]:
        """So far, by kind of process, those that have ended among them."""
        found: dict[str, float] = {}
        for pid in (*self.processes, *clients):
            try:
                fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
                kind = _kind(pid)
            except OSError:
                continue
            found[kind] = found.get(kind, 0) + sum(map(int, fields[11:15])) / _TICKS
        return found


def compare_workers(rounds: int, seconds: int, is_first: bool = False) -> list[Comparison]:
    """is_first: whether other programs of the machine wait while it measures"""
    with tempfile.TemporaryDirectory(prefix="dpproxy-workers-") as name, _both(Path(name)) as both:
        found = []
        for what, sql in (("SELECT 1", "SELECT 1"), ("COUNT", QUESTION)):
            script = Path(name, "script.sql")
            script.write_text(f"{sql};\n")
            taken: dict[int, list[Measured]] = {one: [] for one in _WORKERS}
            for number in range(rounds + 1):
                for workers in _WORKERS if number % 2 else reversed(_WORKERS):
                    taking = seconds if number else 1
                    measured = _measured(both[workers], script, taking, is_first)
                    if number:  # the first one is not counted
                        taken[workers].append(measured)
            found.append(Comparison(what, {one: _median(of) for one, of in taken.items()}))
        return found


def workers_table(found: Sequence[Comparison]) -> str:
    lines = [f"{_CLIENTS} clients       one worker  two workers  ratio   goal"]
    for one in found:
        goal = _GOALS[one.what]
        lines.append(
            f"{one.what:14}  {one.of_workers[1].statements:12.0f}  {one.of_workers[2].statements:11.0f}"
            f"  {one.ratio:5.2f}  >= {goal}  {'holds' if one.ratio >= goal else 'MISSED'}"
        )
        for workers, of in one.of_workers.items():
            busy = ", ".join(f"{kind} {cores:.2f}" for kind, cores in sorted(of.busy.items()))
            lines.append(f"    cores taken with {workers}: {busy}; all {sum(of.busy.values()):.2f}")
    return "\n".join(lines)


@contextmanager
def _both(folder: Path) -> Iterator[dict[int, _Served]]:
    """One protected server, and before it dpproxy with one worker, and another with two."""
    protected = EmbeddedPostgres(folder / "beside", "protected", durable=False)
    protected.start()
    with ExitStack() as running:
        running.callback(protected.stop)
        source = made_database(protected, "shop", _SHOP)
        with psycopg.connect(protected.dsn("shop"), autocommit=True) as owner:
            owner.execute(f"ALTER ROLE {READER} SET temp_file_limit = '1GB'".encode())
        process = protected.process_id
        assert process is not None
        found = {}
        for workers in _WORKERS:
            operator = Operator(folder / str(workers), source=source)
            operator.adopt(*_ANALYSTS)
            options = ("--workers", str(workers), "--log-queries", "none")
            serving = operator.serving(is_cold=True, more=options)
            found[workers] = _Served(running.enter_context(serving), process)
        yield found


@contextmanager
def _before_others(pids: Sequence[int]) -> Iterator[None]:
    """As `chrt -r 1`: what else runs on the machine waits meanwhile. Needs root."""
    threads = [int(one.name) for pid in pids for one in Path(f"/proc/{pid}").glob("task/*")]

    def schedule(policy: int, priority: int) -> None:
        for thread in threads:
            with suppress(ProcessLookupError):  # it has ended
                os.sched_setscheduler(thread, policy, os.sched_param(priority))

    schedule(os.SCHED_RR, 1)
    try:
        yield
    finally:
        schedule(os.SCHED_OTHER, 0)


def _measured(served: _Served, script: Path, seconds: int, is_first: bool) -> Measured:
    """Of a time in which all clients are connected and none ends."""
    with ExitStack() as running:
        clients = [running.enter_context(_pgbench(dsn, script)) for dsn in served.dsns]
        for one in clients:
            one.next_rate()  # the first second has its logins
        pids = [one.process.pid for one in clients]
        own = [os.getpid(), *served.processes, *pids]
        with _before_others(own) if is_first else nullcontext():
            for one in clients:
                one.next_rate()
            before, began = served.processor_seconds(pids), time.monotonic()
            rates = [[one.next_rate() for one in clients] for _ in range(seconds)]
            after, taken = served.processor_seconds(pids), time.monotonic() - began
    busy = {kind: (after[kind] - before.get(kind, 0)) / taken for kind in after}
    return Measured(statistics.mean(map(sum, rates)), busy)


@dataclass(frozen=True)
class _Client:
    process: subprocess.Popen[str]

    def next_rate(self) -> float:
        """Statements of the next second."""
        assert self.process.stderr is not None
        for line in self.process.stderr:
            found = re.search(r"^progress: [0-9.]+ s, ([0-9.]+) tps", line)
            if found is not None and float(found[1]) > 0:
                return float(found[1])
        raise RuntimeError("pgbench has ended")


@contextmanager
def _pgbench(dsn: str, script: Path) -> Iterator[_Client]:
    each = _CLIENTS // len(_ANALYSTS)
    options = ["-n", "-M", "prepared", f"-c{each}", "-j1", "-T600", "-P1", "-f", str(script)]
    process = subprocess.Popen(
        ["pgbench", *options, dsn],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "PGOPTIONS": "-c client_min_messages=warning"},
    )
    try:
        yield _Client(process)
    finally:
        process.kill()
        process.communicate()


def _median(of: Sequence[Measured]) -> Measured:
    """The run in the middle, with its processor time."""
    return sorted(of, key=lambda one: one.statements)[len(of) // 2]


def _tree(pid: int) -> Iterator[int]:
    yield pid
    try:
        children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    except OSError:
        return
    for child in children:
        yield from _tree(int(child))


def _kind(pid: int) -> str:
    """postgres sets its title: which server a process is of, its postmaster tells."""
    while True:
        words = Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")
        if b"-D" in words:
            return Path(os.fsdecode(words[words.index(b"-D") + 1])).parent.name
        if words[0].endswith(b"pgbench"):
            return "pgbench"
        if b"python" in words[0]:
            return f"{'worker' if any(b'run_worker' in one for one in words) else 'dpproxy'} {pid}"
        status = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
        pid = int(status[1])


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.bench.workers", description=__doc__)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=int, default=6)
    parser.add_argument(
        "--first", action="store_true", help="other programs wait while it measures (root)"
    )
    options = parser.parse_args()
    if shutil.which("pgbench") is None:
        print("Left out: pgbench is not here.")
        return
    print(workers_table(compare_workers(options.rounds, options.seconds, options.first)))


if __name__ == "__main__":
    main()
