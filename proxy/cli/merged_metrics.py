"""Metrics of several workers as one."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from proxy.cli.worker_channel import WorkerChannel
from proxy.servers.metrics import FAMILIES, Labels, Metrics, Rows, exposition_of

Told = dict[str, list[tuple[Sequence[str], float]]]  # rows as JSON has them


def told_rows(rows: Mapping[str, Rows]) -> Told:
    return {name: [(labels, value) for labels, value in of.items()] for name, of in rows.items()}


class MetricsOfAll:
    """Metrics of all workers, as each told the supervisor of its last period."""

    def __init__(self, own: Metrics, channel: WorkerChannel) -> None:
        self._own, self._channel = own, channel

    async def exposition(self) -> bytes:
        told = await self._channel.ask_supervisor("metrics")
        if told is None:
            return self._own.text()
        rows = merged_rows(told["of_workers"])
        rows["dpproxy_ready"] = {**rows.get("dpproxy_ready", {}), **self._own.accepting}
        rows["dpproxy_worker_restarts_total"] = {
            (number,): count for number, count in told["restarts"].items()
        }
        return exposition_of(rows)


def merged_rows(of_workers: Iterable[Told]) -> dict[str, Rows]:
    """
    >>> sessions = {"dpproxy_sessions": [(["wire", "idle"], 2)], "dpproxy_ready": [(["ledger"], 1)]}
    >>> others = {"dpproxy_sessions": [(["wire", "idle"], 3)], "dpproxy_ready": [(["ledger"], 0)]}
    >>> merged_rows([sessions, others])
    {'dpproxy_sessions': {('wire', 'idle'): 5}, 'dpproxy_ready': {('ledger',): 0}}
    """
    found: dict[str, dict[Labels, list[float]]] = {}
    for told in of_workers:
        for name, rows in told.items():
            for labels, value in rows:
                found.setdefault(name, {}).setdefault(tuple(labels), []).append(value)
    return {
        name: {labels: FAMILIES[name].of_workers(values) for labels, values in rows.items()}
        for name, rows in found.items()
    }
