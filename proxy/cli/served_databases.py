"""All databases of one proxy, and the server of PostgreSQL's protocol before them."""

from __future__ import annotations

import gc
import ssl
from collections.abc import Mapping, Sequence

from proxy.cli.assembly import Database
from proxy.engine.query_pipeline import EngineInForce
from proxy.engine.role_readiness import RoleReadiness
from proxy.postgres.analyst_limits import WIRE_SESSIONS
from proxy.servers.client_address import Networks
from proxy.servers.engine_adapter import Correcting, EngineAdapter
from proxy.servers.login_gate import LoginGate
from proxy.servers.statement_reports import Listener, StatementObserver, reporter_of
from proxy.servers.wire.shared_server_state import LetIn, Limits, ServedDatabase, ShadowAddress
from proxy.servers.wire.wire_server import WireServer
from proxy.turns.fair_share import AnalystTurns


class Assembly:
    """All databases of one proxy. `open` before serving, `close` after."""

    def __init__(self, databases: Sequence[Database]) -> None:
        self.databases: Mapping[str, Database] = {d.policy.database: d for d in databases}
        # Shared by all databases.
        reading, answering = AnalystTurns.of_reading(), AnalystTurns.of_answering()
        for database in databases:
            database.in_force.reading = reading
            database.in_force.answering = answering

    @property
    def engines(self) -> Mapping[str, EngineInForce]:
        return {name: database.in_force for name, database in self.databases.items()}

    async def open(self) -> None:
        for database in self.databases.values():
            await database.open()
        # What is here by now stays. Each full collection would walk it, 35 ms in the middle of an answer.
        gc.collect()
        gc.freeze()

    async def close(self) -> None:
        for database in self.databases.values():
            await database.close()

    @property
    def sources(self) -> Mapping[str, int]:
        """By the name of a database, the number of its data in the ledger."""
        return {name: database.lease.source for name, database in self.databases.items()}

    def wire_server(
        self,
        tls: ssl.SSLContext | None = None,
        gate: LoginGate | None = None,
        *,
        requires_tls: bool = False,
        let_in: LetIn | None = None,
        readiness: RoleReadiness | None = None,
        observers: Sequence[StatementObserver] = (),
        balancers: Networks = (),
        sessions: int = WIRE_SESSIONS,
        correcting: Mapping[str, Correcting] | None = None,
    ) -> WireServer:
        """observers: take the reports of statements; balancers: as of WireServer; sessions: at once;
        correcting: of each database, as of EngineAdapter."""
        correcting = correcting or {}
        served = {
            name: ServedDatabase(
                ShadowAddress(*database.shadow.analyst_host_port),
                EngineAdapter(
                    database.in_force,
                    reporter_of(name, Listener.WIRE, observers),
                    correcting.get(name),
                ),
            )
            for name, database in self.databases.items()
        }
        return WireServer(
            served,
            tls,
            Limits(connections=sessions),
            gate,
            requires_tls=requires_tls,
            let_in=let_in,
            readiness=readiness,
            balancers=balancers,
        )
