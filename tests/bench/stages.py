"""Where the time of a statement goes in the proxy, by stage; and what one durable commit costs by itself."""

from __future__ import annotations

import functools
import json
import statistics
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import psycopg

from proxy.engine.query_pipeline import Engine
from proxy.ledger.ledger_tables import LedgerTables
from proxy.protected.protected_connections import ProtectedConnections
from proxy.protected.protected_database import DatabaseSession
from proxy.servers.wire.connection import ClientConnection

_ASKED, _TOLD = "asked", "told"
_AWAITED = {
    "plan": (Engine, "_prepared"),
    "BEGIN": (ProtectedConnections, "begun"),
    "charge": (LedgerTables, "reserve"),
    "data": (DatabaseSession, "run"),
    "all of the engine": (Engine, "run"),
}
Stages = dict[str, float]


class StageRecorder:
    """In the proxy's process: when a client's message came, each stage, and each answer of the shadow."""

    def __init__(self) -> None:
        self._stages: list[Stages] = []
        for name, (kind, method) in _AWAITED.items():
            setattr(kind, method, self._timed(name, getattr(kind, method)))
        self._mark(_ASKED, "data_received", is_end=False)
        self._mark(_TOLD, "from_shadow", is_end=True)

    def write(self, to: Path) -> None:
        to.write_text(json.dumps([one for one in self._stages if "data" in one]), encoding="utf-8")

    def _timed(self, name: str, method: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(method)
        async def timed(*given: Any, **named: Any) -> Any:
            begin = time.perf_counter()
            try:
                return await method(*given, **named)
            finally:
                took = time.perf_counter() - begin
                self._stages[-1][name] = self._stages[-1].get(name, 0) + took

        return timed

    def _mark(self, name: str, method: str, *, is_end: bool) -> None:
        real = getattr(ClientConnection, method)

        @functools.wraps(real)
        def marked(*given: Any) -> None:
            if not is_end:
                self._stages.append({name: time.perf_counter()})
            real(*given)
            if is_end and self._stages:
                self._stages[-1][name] = time.perf_counter()

        setattr(ClientConnection, method, marked)


def stages_table(path: Path, names: Sequence[str], rounds: int) -> str:
    """Medians and least of the last `rounds` of each statement; they were run one after the other."""
    found: list[Stages] = json.loads(path.read_text(encoding="utf-8"))
    each = len(found) // len(names)
    lines = []
    for number, name in enumerate(names):
        last = [_split(one) for one in found[number * each : (number + 1) * each][-rounds:]]
        lines.append(f"{name}: milliseconds, medians and least")
        for stage in last[0]:
            times = [one[stage] * 1000 for one in last]
            lines.append(f"    {stage:40}{statistics.median(times):8.2f}{min(times):8.2f}")
    return "\n".join(lines)


def _split(found: Stages) -> Stages:
    parts = ("plan", "BEGIN", "charge", "data")
    whole = found[_TOLD] - found[_ASKED]
    inside = sum(found[part] for part in parts)
    return {
        "asking the shadow, and its answer": whole - found["all of the engine"],
        **{part: found[part] for part in parts},
        "the rest of the engine": found["all of the engine"] - inside,
        "all": whole,
    }


def commit_times(ledger: str, rounds: int) -> list[float]:
    """Milliseconds of one row in a table of its own, on the ledger's server."""
    with psycopg.connect(ledger, autocommit=True, prepare_threshold=0) as connection:
        connection.execute("CREATE TABLE IF NOT EXISTS public.durable (of text)")
        times = []
        for _ in range(rounds):
            begin = time.perf_counter()
            connection.execute("INSERT INTO public.durable VALUES ('a row')")
            times.append((time.perf_counter() - begin) * 1000)
        connection.execute("DROP TABLE public.durable")
    return times


def durable_commit(ledger: str, rounds: int) -> str:
    times = commit_times(ledger, rounds)
    return (
        f"A durable commit of one row on the ledger's server, by itself:"
        f" median {statistics.median(times):.2f} ms, least {min(times):.2f} ms"
    )
