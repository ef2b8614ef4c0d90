"""How this process is, gathered when somebody asks, and for metrics each period."""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timezone
from importlib.metadata import version
from typing import Literal

import structlog

from proxy.accounting.budget_lines import LineKind
from proxy.base.errors import Fault
from proxy.cli.assembly import Database
from proxy.cli.proxy_servers import ProxyServers
from proxy.ledger.ledger_reports import SpentBudgets, known_budgets, known_state, spent_budgets
from proxy.postgres.failure_reason import reason_of
from proxy.servers.draining import Draining
from proxy.servers.http.json_models import (
    DatabaseStatus,
    LedgerStatus,
    PoolStatus,
    PublicationStatus,
    ShadowStatus,
    StatusReport,
    WorkerStatus,
)
from proxy.servers.login_gate import LoginGate
from proxy.servers.metrics import PERIOD_SECONDS, Labels, Metrics, Rows
from proxy.servers.statement_reports import QueryReport
from proxy.servers.wire.wire_server import WireServer
from proxy.shadow.analyst_sessions import ShadowSessions

# What metrics show beside statements: looked at each period, in the state that it is in then.

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


class StatementCount:
    """Of statements on protected tables that ended. An observer of statements."""

    def __init__(self) -> None:
        self.ended_ones = 0

    def ended(self, report: QueryReport) -> None:
        self.ended_ones += 1


@dataclass(frozen=True, slots=True, kw_only=True)
class StatusSource:
    """What a report is made of.

    Attributes:
        checks: Whether the parts of each database answer.
        stuck_sessions: How many sessions of the shadow do not end.
        worker: The number of this process.
    """

    servers: ProxyServers
    databases: Sequence[Database]
    wire: WireServer
    sessions: ShadowSessions
    checks: Checks
    draining: Draining
    count: StatementCount
    stuck_sessions: Callable[[], int]
    worker: int = 1
    started_at: datetime = field(default_factory=lambda: datetime.now(timezone.utc))

    async def report(self) -> StatusReport:
        checks = await self.checks()
        ledger_version, last_receipt = await asyncio.to_thread(known_state, self.servers.ledger_dsn)
        databases = [
            await _database(one, checks.get(one.policy.database, {})) for one in self.databases
        ]
        parts = [answers for one in checks.values() for answers in one.values()]
        medians = [
            one.ledger.charge_times.median
            for one in self.databases
            if one.ledger.charge_times.median is not None
        ]
        states = self.wire.states
        state = self._state(all(parts))
        return StatusReport(
            state=state,
            version=version("dpproxy"),
            started_at=self.started_at,
            up_seconds=round((datetime.now(timezone.utc) - self.started_at).total_seconds()),
            sessions={
                "wire": {state: states[state] for state in WIRE_STATES},
                "http": {"idle": self.sessions.idle, "active": self.sessions.in_use},
            },
            stuck_sessions=self.stuck_sessions(),
            workers=[
                WorkerStatus(
                    worker=self.worker,
                    pid=os.getpid(),
                    sessions=len(self.wire.sessions),
                    active=states["active"],
                    statements=self.count.ended_ones,
                    restarts=0,
                    state=state,
                )
            ],
            databases=databases,
            ledger=LedgerStatus(
                answers=ledger_version is not None,
                postgresql=ledger_version,
                last_receipt=last_receipt,
                charge_milliseconds=round(max(medians) * 1000, 1) if medians else None,
            ),
            shadow=ShadowStatus(postgresql=self.servers.shadow.version),
        )

    async def as_json(self) -> bytes:
        return (await self.report()).model_dump_json().encode()

    def _state(self, are_answering: bool) -> Literal["ready", "not ready", "draining"]:
        if self.draining.is_begun:
            return "draining"
        return "ready" if are_answering else "not ready"


async def _database(one: Database, parts: Mapping[str, bool]) -> DatabaseStatus:
    lease = one.lease
    budgets = await asyncio.to_thread(known_budgets, lease.ledger_dsn, lease.source)
    return DatabaseStatus(
        database=one.policy.database,
        protected=parts.get("protected", False),
        ledger=parts.get("ledger", False),
        shadow=parts.get("shadow", False),
        postgresql=one.protected.server_version,
        policy=one.policy.digest,
        policy_since=one.policy_since,
        is_policy_taken=not one.is_newer_there,
        protected_pool=PoolStatus.of(one.protected.pool_use),
        ledger_pool=PoolStatus.of(one.ledger.pool_use),
        catalogue_age_seconds=round(time.monotonic() - one.looked_at),
        tables_changed=sorted(one.engine.drawer.changed),
        budgets_nearly_spent=[name for name, b in budgets.lines.items() if b.is_nearly_spent],
        analysts_nearly_spent=budgets.nearly_spent[LineKind.ANALYST],
        groups_nearly_spent=budgets.nearly_spent[LineKind.GROUP],
        publications=await _publications(one),
    )


async def _publications(one: Database) -> list[PublicationStatus]:
    try:
        states = () if one.publishing is None else await one.publishing.states()
    except Fault:
        return []
    return [
        PublicationStatus(
            table=state.name,
            released_at=state.released_at,
            next_due=state.next_due,
            is_due=state.is_due,
            is_stopped=state.stale is not None or state.failure is not None,
        )
        for state in states
    ]


def tell_own_status(database: Database, wire: WireServer, draining: Draining) -> None:
    """To analysts, by dp.status, from now on."""
    serving, in_force = database.serving, database.in_force
    serving.version = version("dpproxy")
    serving.session_limit = wire.session_limit
    serving.is_draining = lambda: draining.is_begun
    serving.sessions_of = wire.sessions_of
    serving.waiting_of = lambda analyst: sum(
        shared.waiting(analyst)
        for shared in (database.protected, in_force.reading, in_force.answering)
    )
