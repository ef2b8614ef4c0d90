"""What metrics show beside statements: looked at each period, in the state that it is in then."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from datetime import datetime, timezone

import structlog

from proxy.cli.assembly import Database
from proxy.ledger.spent_budgets import SpentBudgets, spent_budgets
from proxy.postgres.failure_reason import reason_of
from proxy.servers.login_gate import LoginGate
from proxy.servers.metrics import PERIOD_SECONDS, Labels, Metrics, Rows
from proxy.servers.wire.wire_server import WireServer
from proxy.shadow.analyst_sessions import ShadowSessions

Checks = Callable[[], Awaitable[Mapping[str, Mapping[str, bool]]]]
WIRE_STATES = ("logging_in", "idle", "active", "in_transaction")
_DIGEST_DIGITS = 12
_BATCHES = (1, 2, 4, 8, 16, 32)  # up to MOST_TOGETHER

_log = structlog.get_logger("dpproxy.metrics")


async def observe_metrics(
    metrics: Metrics,
    databases: Sequence[Database],
    wire: WireServer,
    sessions: ShadowSessions,
    gate: LoginGate,
    checks: Checks,
    every_seconds: float = PERIOD_SECONDS,
) -> None:
    """Until it is cancelled. What cannot be asked stays as it was."""
    while True:
        observed: dict[str, Rows] = {
            **_of_clients(wire, sessions, gate),
            **_of_databases(databases),
        }
        ready: Mapping[str, bool] = {}
        try:
            ready = _everywhere(await checks())
            observed |= _of_budgets(
                {
                    one.policy.database: await asyncio.to_thread(
                        spent_budgets, one.lease.ledger_dsn, one.lease.source
                    )
                    for one in databases
                }
            )
            observed |= await _of_publications(databases)
        except Exception as error:  # a ledger that is away for a moment must not end this
            _log.warning("metrics_not_read", kind=type(error).__name__, reason=reason_of(error))
        metrics.observe(observed, ready)
        await asyncio.sleep(every_seconds)


def _everywhere(checks: Mapping[str, Mapping[str, bool]]) -> dict[str, bool]:
    """Of each part, whether it answers in all databases."""
    found: dict[str, bool] = {}
    for parts in checks.values():
        for part, answers in parts.items():
            found[part] = found.get(part, True) and answers
    return found


def _of_clients(wire: WireServer, sessions: ShadowSessions, gate: LoginGate) -> dict[str, Rows]:
    states = wire.states
    return {
        "dpproxy_sessions": {
            **{("wire", state): states[state] for state in WIRE_STATES},
            ("http", "idle"): sessions.idle,
            ("http", "active"): sessions.in_use,
        },
        "dpproxy_logins_total": dict(gate.outcomes.items()),
        "dpproxy_cancels_total": {(known,): count for known, count in wire.cancels.items()},
    }


def _of_databases(databases: Sequence[Database]) -> dict[str, Rows]:
    connections: dict[Labels, float] = {}
    limits: dict[Labels, float] = {}
    waits: dict[Labels, float] = {}
    batches: dict[Labels, float] = {}
    for one in databases:
        for pool, use in (("protected", one.protected.pool_use), ("ledger", one.ledger.pool_use)):
            name = one.policy.database
            connections[name, pool, "idle"], connections[name, pool, "used"] = use.idle, use.used
            limits[name, pool] = use.limit
        waits[name, "protected"] = one.protected.waits
        waits[name, "ledger"] = one.ledger.waits
        for size in _BATCHES:
            batches[name, str(size)] = one.ledger.charge_times.of_size(size // 2 + 1, size)
    named = [(one.policy.database, one) for one in databases]
    return {
        "dpproxy_pool_connections": connections,
        "dpproxy_pool_limit": limits,
        "dpproxy_pool_waits_total": waits,
        "dpproxy_charge_batches_total": batches,
        "dpproxy_policy_info": {(n, one.policy.digest[:_DIGEST_DIGITS]): 1 for n, one in named},
        "dpproxy_policy_not_taken": {(n,): one.is_newer_there for n, one in named},
        "dpproxy_catalogue_age_seconds": {
            (n,): round(time.monotonic() - one.looked_at) for n, one in named
        },
        "dpproxy_tables_changed": {(n,): len(one.engine.drawer.changed) for n, one in named},
    }


def _of_budgets(budgets: Mapping[str, SpentBudgets]) -> dict[str, Rows]:
    lines = {(n, line): b for n, one in budgets.items() for line, b in one.lines.items()}
    limits = {labels: b for labels, b in lines.items() if b.epsilon_limit is not None}
    return {
        "dpproxy_budget_spent_epsilon": {labels: float(b.epsilon) for labels, b in lines.items()},
        "dpproxy_budget_spent_delta": {labels: float(b.delta) for labels, b in lines.items()},
        "dpproxy_budget_spent_rho": {labels: float(b.rho) for labels, b in lines.items()},
        "dpproxy_budget_limit_epsilon": {
            labels: float(b.epsilon_limit or 0) for labels, b in limits.items()
        },
        "dpproxy_budget_limit_delta": {
            labels: float(b.delta_limit or 0) for labels, b in limits.items()
        },
        "dpproxy_budget_lines_nearly_spent": {
            (n, kind.value): count
            for n, one in budgets.items()
            for kind, count in one.nearly_spent.items()
        },
    }


async def _of_publications(databases: Sequence[Database]) -> dict[str, Rows]:
    ages: dict[Labels, float] = {}
    stopped: dict[Labels, float] = {}
    now = datetime.now(timezone.utc)
    for one in databases:
        states = () if one.publishing is None else await one.publishing.states()
        for state in states:
            labels = one.policy.database, state.name
            stopped[labels] = state.stale is not None or state.failure is not None
            if state.released_at is not None:
                ages[labels] = round((now - state.released_at).total_seconds())
    return {"dpproxy_publish_age_seconds": ages, "dpproxy_publish_stopped": stopped}
