"""How many prepared `SELECT 1` in a second pass the relay, beside pgbouncer in front of the same server.

pgbench and pgbouncer are the machine's own; where one is missing, this part says so and is left out.
"""

from __future__ import annotations

import os
import re
import shutil
import statistics
import subprocess
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psycopg
from psycopg.conninfo import conninfo_to_dict, make_conninfo

from proxy.postgres.embedded import free_port
from tests.bench.servers import ANALYSTS, Servers

GOAL = 0.9  # of what pgbouncer passes
_CONNECTIONS = (1, 8, 32, 64)
_CLOSING_SECONDS = 0.5  # until the server has counted the sessions before as closed
_DATABASE = "people"
_NOBODY = "nobody"  # pgbouncer refuses to run as root


@dataclass(frozen=True)
class Way:
    """How analysts come to the server. pid: of the process in between."""

    dsns: list[str]
    pid: int | None = None


@dataclass(frozen=True)
class Passed:
    """statements: in a second; own, kernel: processor time of the process in between, us for each of them."""

    statements: float
    own: float
    kernel: float


@dataclass(frozen=True)
class Throughput:
    """Medians. share: of what pgbouncer passes, round by round"""

    connections: int
    share: float
    direct: Passed
    pooler: Passed
    relay: Passed


def missing() -> str | None:
    """The program that is not here."""
    return next((name for name in ("pgbench", "pgbouncer") if shutil.which(name) is None), None)


def relaying(servers: Servers, rounds: int, seconds: int) -> list[Throughput]:
    """With as many connections of each of some analysts: one may have 24."""
    with tempfile.TemporaryDirectory(prefix="dpproxy-relaying-") as folder:
        script = Path(folder, "one.sql")
        script.write_text("SELECT 1;\n")
        direct, proxied = (
            [servers.analyst_dsn(address, _DATABASE, analyst) for analyst in ANALYSTS]
            for address in (servers.shadow_address, servers.proxy_address)
        )
        with _pgbouncer(Path(folder), direct) as pooler:
            ways = (Way(direct), pooler, Way(proxied, servers.proxy_pid))
            return [_measured(script, ways, count, rounds, seconds) for count in _CONNECTIONS]


def throughput_table(found: list[Throughput]) -> str:
    lines = ["connections    direct  pgbouncer     relay  relay/pgbouncer  bound"]
    for m in found:
        verdict = "holds" if m.share >= GOAL else "MISSED"
        lines.append(
            f"{m.connections:11}  {m.direct.statements:8.0f}  {m.pooler.statements:9.0f}"
            f"  {m.relay.statements:8.0f}  {m.share:15.2f}  >= {GOAL}  {verdict}"
        )
        for name, of in (("pgbouncer", m.pooler), ("the proxy", m.relay)):
            lines.append(
                f"{'':11}  {name}: {of.own:.1f} us of its own and {of.kernel:.1f} us of the kernel"
                " for each statement"
            )
    return "\n".join(lines)


def _measured(
    script: Path, ways: tuple[Way, ...], connections: int, rounds: int, seconds: int
) -> Throughput:
    found = [[_passed(way, script, connections, seconds) for way in ways] for _ in range(rounds)]
    share = statistics.median(relay.statements / pooler.statements for _, pooler, relay in found)
    return Throughput(connections, share, *(_median(column) for column in zip(*found, strict=True)))


def _median(found: Sequence[Passed]) -> Passed:
    return Passed(
        statistics.median(one.statements for one in found),
        statistics.median(one.own for one in found),
        statistics.median(one.kernel for one in found),
    )


def _passed(way: Way, script: Path, connections: int, seconds: int) -> Passed:
    before = _processor_time(way.pid)
    statements = _pgbench(way.dsns, script, connections, seconds)
    after = _processor_time(way.pid)
    own, kernel = (
        (end - start) * 1e6 / (statements * seconds)
        for start, end in zip(before, after, strict=True)
    )
    return Passed(statements, own, kernel)


def _processor_time(pid: int | None) -> tuple[float, float]:
    """Seconds so far, its own and the kernel's (proc(5)); none where the system does not tell."""
    status = Path(f"/proc/{pid}/stat")
    if pid is None or not status.is_file():
        return 0.0, 0.0
    fields = status.read_text().rpartition(")")[2].split()
    ticks = os.sysconf("SC_CLK_TCK")
    return int(fields[11]) / ticks, int(fields[12]) / ticks


def _pgbench(dsns: list[str], script: Path, connections: int, seconds: int) -> float:
    """A process for each of some analysts, all at once."""
    time.sleep(_CLOSING_SECONDS)
    dsns = dsns[: max(min(connections, 2), connections // 16)]
    each = connections // len(dsns)
    options = ["-n", "-M", "prepared", f"-c{each}", "-j1", f"-T{seconds}", "-f", str(script)]
    running = [
        subprocess.Popen(
            ["pgbench", *options, dsn],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env=dict(os.environ),
        )
        for dsn in dsns
    ]
    total = 0.0
    for process in running:
        out, trouble = process.communicate()
        if process.returncode != 0:
            raise RuntimeError(f"pgbench: {trouble[-500:]}")
        found = re.search(r"^tps = ([0-9.]+)", out, re.MULTILINE)
        if found is None:
            raise RuntimeError(f"pgbench: {out}{trouble[-500:]}")
        total += float(found[1])
    return total


@contextmanager
def _pgbouncer(folder: Path, dsns: list[str]) -> Iterator[Way]:
    """In session mode, in front of a server; without TLS or a password of its own."""
    port = free_port()
    found = [conninfo_to_dict(dsn) for dsn in dsns]
    databases = "".join(f"{of['user']} = {_target(of)}\n" for of in found)
    config = folder / "pgbouncer.ini"
    config.write_text(
        f"[databases]\n{databases}"
        f"[pgbouncer]\nlisten_addr = 127.0.0.1\nlisten_port = {port}\nauth_type = any\nunix_socket_dir =\n"
        "pool_mode = session\nserver_login_retry = 0.1\nserver_lifetime = 0\nmax_client_conn = 200\n"
        "default_pool_size = 100\nlog_connections = 0\nlog_disconnections = 0\n"
        "ignore_startup_parameters = extra_float_digits\n"
    )
    folder.chmod(0o755)
    as_user = ["-u", _NOBODY] if os.geteuid() == 0 else []
    process = subprocess.Popen(
        ["pgbouncer", "-q", *as_user, str(config)],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        env=dict(os.environ),
    )
    pooled = [
        make_conninfo(host="127.0.0.1", port=port, dbname=of["user"], user=of["user"])
        for of in found
    ]
    try:
        for _ in range(100):
            try:
                psycopg.connect(pooled[0]).close()
                break
            except psycopg.OperationalError:
                time.sleep(0.05)
        yield Way(pooled, process.pid)
    finally:
        process.terminate()
        process.wait(60)


def _target(of: Mapping[str, Any]) -> str:
    password = str(of["password"]).replace("'", "''")
    where = " ".join(f"{key}={of[key]}" for key in ("host", "port", "dbname", "user"))
    return f"{where} password='{password}'"
