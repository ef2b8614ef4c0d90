"""What several workers say of themselves as one: their status, and what became of a reload."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import Any

from proxy.cli.worker_channel import WorkerChannel
from proxy.servers.metrics import FAMILIES, Labels, Metrics, Rows, exposition_of

_OF_WORKER = ("sessions", "active", "statements", "state")  # what it says of itself
_NOTHING = {"sessions": 0, "active": 0, "statements": 0}


def merged_status(
    reports: Sequence[Mapping[str, Any]], workers: Sequence[Mapping[str, Any]]
) -> dict[str, Any]:
    """
    Given    reports: of the workers that answer, at least one, as JSON has them; workers: what the supervisor
             knows of each: number, process, restarts, and what it is while it says nothing
    Gives    one of the same form. A client may come to any worker that serves: ready are all of these, or none
    """
    first = reports[0]
    told = {
        entry["worker"]: {name: entry[name] for name in _OF_WORKER}
        for one in reports
        for entry in one["workers"]
    }
    merged = [{**_NOTHING, **one, **told.get(one["worker"], {})} for one in workers]
    states = {one["state"] for one in merged if one["is_serving"]}
    return {
        **first,
        "state": _state(states),
        "started_at": min(one["started_at"] for one in reports),
        "up_seconds": max(one["up_seconds"] for one in reports),
        "sessions": {
            listener: {
                state: sum(one["sessions"][listener][state] for one in reports) for state in of
            }
            for listener, of in first["sessions"].items()
        },
        "stuck_sessions": sum(one["stuck_sessions"] for one in reports),
        "workers": merged,
        "databases": [
            _database([one["databases"][place] for one in reports])
            for place in range(len(first["databases"]))
        ],
        "ledger": {
            **first["ledger"],
            "answers": all(one["ledger"]["answers"] for one in reports),
            "last_receipt": _largest(one["ledger"]["last_receipt"] for one in reports),
            "charge_milliseconds": _largest(
                one["ledger"]["charge_milliseconds"] for one in reports
            ),
        },
    }


def status_without_reports(
    before: Mapping[str, Any], workers: Sequence[Mapping[str, Any]], *, is_draining: bool
) -> dict[str, Any]:
    """No worker says anything. before: what was told last"""
    state = "draining" if is_draining else "not ready"
    return {**before, "state": state, "workers": [{**_NOTHING, **one} for one in workers]}


def _state(states: Collection[str]) -> str:
    if "draining" in states:
        return "draining"
    return "ready" if set(states) == {"ready"} else "not ready"


def _database(of: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """One database, as each worker sees it."""
    everywhere: dict[str, Callable[[Iterable[Any]], Any]] = {
        **dict.fromkeys(("protected", "ledger", "shadow"), all),
        **dict.fromkeys(("catalogue_age_seconds", "policy_since"), max),
    }
    merged = {name: act(one[name] for one in of) for name, act in everywhere.items()}
    pools = {
        pool: {part: sum(one[pool][part] for one in of) for part in of[0][pool]}
        for pool in ("protected_pool", "ledger_pool")
    }
    is_same = len({one["policy"] for one in of}) == 1
    return {
        **of[0],
        **merged,
        **pools,
        "is_policy_taken": is_same and all(one["is_policy_taken"] for one in of),
        "tables_changed": sorted({name for one in of for name in one["tables_changed"]}),
    }


def merged_reloads(of_workers: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """What each worker says of a reload: a policy is in force where all of them have taken it."""
    merged = [dict(one) for one in of_workers[0]["policies"]]
    for other in of_workers[1:]:
        for policy, of_other in zip(merged, other["policies"], strict=True):
            policy["not_taken"] = policy["not_taken"] or of_other["not_taken"]
    return {"policies": merged}


def _largest(values: Iterable[float | None]) -> float | None:
    return max((one for one in values if one is not None), default=None)


# Metrics of several workers as one.

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
