"""How this process is, gathered when somebody asks."""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timezone
from importlib.metadata import version
from typing import Literal

from proxy.accounting.budget_lines import LineKind
from proxy.base.errors import Fault
from proxy.cli.assembly import Database
from proxy.cli.metrics_task import WIRE_STATES, Checks
from proxy.cli.proxy_servers import ProxyServers
from proxy.ledger.spent_budgets import known_budgets, known_state
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
from proxy.servers.statement_reports import QueryReport
from proxy.servers.wire.wire_server import WireServer
from proxy.shadow.analyst_sessions import ShadowSessions


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
