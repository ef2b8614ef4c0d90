"""Many sessions for minutes: `python -m tests.bench.load --idle 86 --active 64 --minutes 10`.

Prints the memory of all processes over time, and of a session. It ends with 1 where a statement fails or memory
grows. What stands after `--` are options of serve.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import re
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

import psycopg

from proxy.postgres.embedded import EmbeddedPostgres, start_together
from tests.bench.starts import COMMAND, policy_text, tables_sql

_EACH = 24  # sessions of an analyst
_PASSWORD = "analyst's password"
_MINUTE, _PAUSE = 60.0, 10.0
# What may come beside in that time: caches that fill, and what Python keeps.
_GROWTH, _SLACK = 1.1, 32


@dataclass(frozen=True, slots=True)
class Memory:
    """In MiB. Pages that processes share count once (Pss). each: by dpproxy's processes and its servers."""

    each: Mapping[str, float]

    @property
    def proxy(self) -> float:
        return sum(size for name, size in self.each.items() if name.startswith("dpproxy"))

    @property
    def all(self) -> float:
        return sum(self.each.values())

    def __str__(self) -> str:
        return f"proxy {self.proxy:6.0f} MiB, its servers {self.all - self.proxy:6.0f} MiB"

    @property
    def listed(self) -> str:
        return ", ".join(f"{name} {size:.0f}" for name, size in sorted(self.each.items()))


@dataclass(slots=True)
class Load:
    dsn: str
    pause: float
    ended: asyncio.Event = field(default_factory=asyncio.Event)
    done: Counter[str] = field(default_factory=Counter)
    errors: list[str] = field(default_factory=list)
    held: list[psycopg.AsyncConnection] = field(default_factory=list)

    async def connect(self, number: int) -> psycopg.AsyncConnection:
        return await psycopg.AsyncConnection.connect(
            self.dsn, user=f"analyst{number // _EACH}", password=_PASSWORD, autocommit=True
        )

    async def idle(self, number: int) -> None:
        """Once a minute it is asked whether it is still there."""
        connection = await self.connect(number)
        self.held.append(connection)

    async def look(self) -> None:
        for one in self.held:
            await self._run(one, "idle", "SELECT 1")

    async def active(self, number: int, begin: asyncio.Event) -> None:
        connection, asked = await self.connect(number), 0
        self.held.append(connection)
        await begin.wait()
        while not self.ended.is_set():
            asked += 1
            is_counted = asked % 10 == number % 10
            kind = "count" if is_counted else "relayed"
            sql = f"SELECT count(*) FROM wide.t0 WHERE c0 > {asked % 90}"
            await self._run(connection, kind, sql if is_counted else "SELECT 1")
            await asyncio.sleep(self.pause)

    async def _run(self, connection: psycopg.AsyncConnection, kind: str, sql: str) -> None:
        try:
            await (await connection.execute(sql.encode())).fetchall()
            self.done[kind] += 1
        except psycopg.Error as error:
            self.errors.append(f"{kind}: {error.sqlstate} {error}")
            self.ended.set()


def memory_of(process: int) -> Memory:
    """Of a process and all below it. A server counts with all its sessions."""
    children: dict[int, list[int]] = {}
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            parent = int(stat.read_text().rsplit(")", 1)[1].split()[1])
        except OSError:
            continue
        children.setdefault(parent, []).append(int(stat.parent.name))
    sizes: dict[str, float] = {}
    below = [(process, "dpproxy")]
    while below:
        pid, name = below.pop()
        sizes[name] = sizes.get(name, 0.0) + _pss(pid)
        for child in sorted(children.get(pid, ()), reverse=True):
            if name.startswith("dpproxy"):
                words = _words(child)
                if "-D" in words:
                    data = Path(words[words.index("-D") + 1])
                    below.append((child, f"{data.parent.parent.name} {data.parent.name}"))
                    continue
                if any("run_worker" in one for one in words):
                    below.append((child, f"dpproxy worker {child}"))
                    continue
            below.append((child, name))
    return Memory(sizes)


def _pss(process: int) -> float:
    try:
        text = Path(f"/proc/{process}/smaps_rollup").read_text()
    except OSError:
        return 0.0
    found = re.search(r"^Pss:\s+(\d+) kB$", text, re.M)
    return 0.0 if found is None else int(found[1]) / 1024


def _words(process: int) -> list[str]:
    try:
        return Path(f"/proc/{process}/cmdline").read_text().split("\0")
    except OSError:
        return []


async def under_load(dsn: str, process: int, options: argparse.Namespace) -> bool:
    """Whether no statement failed and memory stayed in bounds."""
    load, begin = Load(dsn, options.pause), asyncio.Event()
    empty = memory_of(process)
    print(f"no session:       {empty}", flush=True)
    for number in range(options.idle):
        await load.idle(number)
    await load.look()
    await asyncio.sleep(2)
    idle = memory_of(process)
    each = (idle.all - empty.all) / max(1, options.idle)
    print(f"{options.idle:3} idle:         {idle}; each {each:.2f} MiB", flush=True)
    tasks = [
        asyncio.create_task(load.active(options.idle + number, begin))
        for number in range(options.active)
    ]
    while len(load.held) < options.idle + options.active and not any(one.done() for one in tasks):
        await asyncio.sleep(0.1)
    begin.set()
    began, samples = time.monotonic(), list[Memory]()
    while time.monotonic() < began + options.minutes * _MINUTE and not load.ended.is_set():
        await asyncio.sleep(_PAUSE)
        samples.append(memory_of(process))
        if len(samples) % 6 == 0:
            await load.look()
        seconds = time.monotonic() - began
        busy = f"load average {os.getloadavg()[0]:.1f}"
        print(f"{seconds:5.0f} s: {samples[-1]}; {dict(load.done)}; {busy}", flush=True)
    load.ended.set()
    await asyncio.gather(*tasks)
    for connection in load.held:
        await connection.close()
    for when, one in (("start", empty), ("idle", idle), ("middle", samples[len(samples) // 2])):
        print(f"{when}: {one.listed}")
    print(f"end: {samples[-1].listed}; load average {os.getloadavg()[0]:.1f}")
    middle = samples[len(samples) // 4]
    each = (samples[-1].all - idle.all) / max(1, options.active)
    print(f"each active session {each:.2f} MiB more; errors: {load.errors[:3] or 'none'}")
    is_bounded = samples[-1].all <= middle.all * _GROWTH + _SLACK
    print(f"memory from a quarter of the time on: {middle.all:.0f} to {samples[-1].all:.0f} MiB")
    return is_bounded and not load.errors


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.bench.load", description=__doc__)
    parser.add_argument("--idle", type=int, default=86)
    parser.add_argument("--active", type=int, default=64, help="with idle ones all of --sessions")
    parser.add_argument("--minutes", type=float, default=10)
    parser.add_argument("--pause", type=float, default=0.2, help="between statements of a session")
    parser.add_argument("options", nargs="*", help="of serve, after --")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="dpproxy-load-") as temporary:
        folder = Path(temporary)
        server = EmbeddedPostgres(folder / "source", "protected", durable=False)
        start_together([server])
        try:
            sys.exit(0 if _served(folder, server, options) else 1)
        finally:
            server.stop()


def _served(folder: Path, server: EmbeddedPostgres, options: argparse.Namespace) -> bool:
    host, port = server.address
    with psycopg.connect(server.dsn(), autocommit=True) as connection:
        connection.execute("CREATE ROLE reader LOGIN PASSWORD 'reader'")
        connection.execute("ALTER ROLE reader SET temp_file_limit = '1GB'")
        connection.execute(tables_sql(1, 18).encode())
        connection.execute(
            "INSERT INTO wide.t0 (id, person, c0) SELECT i, i % 1000, i % 100 FROM generate_series(1, 5000) i"
        )
    source = f"host={host} port={port} user=reader password=reader dbname=postgres"
    policy, of = folder / "wide.yaml", ["--state", str(folder / "state")]
    text = policy_text(source, 1, 18)
    text = re.sub(r"epsilon: (20|4), delta: 1e-[56]", "epsilon: 1e9, delta: 0.9", text)
    policy.write_text(
        f"{text}accept: {{TOTAL_IS_LARGE: {{budgets.total: its rows are invented}}}}\n"
    )
    adopt = ["ledger", "adopt", "--new", "--policy", str(policy), *of]
    subprocess.run([*COMMAND, *adopt], check=True, stdout=subprocess.DEVNULL)
    for number in range((options.idle + options.active - 1) // _EACH + 1):
        add = ["user", "add", f"analyst{number}", "--password-stdin", *of]
        subprocess.run([*COMMAND, *add], check=True, input=_PASSWORD.encode(), capture_output=True)
    free = ["--listen", "127.0.0.1:0", "--http", "127.0.0.1:0", "--log-queries", "none"]
    out = folder / "out.txt"
    with out.open("w") as to, (folder / "err.txt").open("w") as errors:
        serve = ["serve", "--policy", str(policy), *of, *free, *options.options]
        process = subprocess.Popen([*COMMAND, *serve], stdout=to, stderr=errors)
        try:
            while (found := re.search(r"clients: (\S+):(\d+)\n.*/docs", out.read_text())) is None:
                if process.poll() is not None:
                    sys.exit((folder / "err.txt").read_text()[-2000:])
                time.sleep(0.05)
            dsn = f"host={found[1]} port={found[2]} dbname=wide"
            is_good = asyncio.run(under_load(dsn, process.pid, options))
            if not is_good:
                print("".join((folder / "err.txt").read_text().splitlines(True)[-20:]))
            return is_good
        finally:
            process.terminate()
            process.wait(90)


if __name__ == "__main__":
    main()
