"""The one place that knows all classes: policies in, engines and listeners out."""

from __future__ import annotations

import gc
import ssl
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import structlog

from proxy.catalog.catalog_model import Catalog
from proxy.catalog.change import still_holds
from proxy.engine.os_random import OsRandom
from proxy.engine.query_pipeline import Engine
from proxy.ledger.engine_ledger import EngineLedger
from proxy.ledger.ledger_lease import BudgetLease
from proxy.ledger.ledger_tables import LedgerTables
from proxy.ledger.text_cipher import TextCipher
from proxy.mechanisms.bits import RandomBits
from proxy.policy.policy_model import Policy
from proxy.policy.public_labels import as_labelled
from proxy.protected.catalog_reader import read_catalog
from proxy.protected.protected_database import ProtectedDatabase
from proxy.protected.public_values import (
    read_public_bounds,
    read_public_rows,
    read_public_values,
)
from proxy.servers.engine_adapter import EngineAdapter
from proxy.servers.login_gate import LoginGate
from proxy.servers.wire.served_database import ServedDatabase, ShadowAddress
from proxy.servers.wire.wire_server import WireServer
from proxy.shadow.shadow_database import Shadow

_log = structlog.get_logger("dpproxy.assembly")


@dataclass(frozen=True, slots=True)
class Database:
    """One database, served: its shadow, its engine, and what they stand on."""

    policy: Policy
    catalog: Catalog
    shadow: Shadow
    engine: Engine
    protected: ProtectedDatabase
    ledger: EngineLedger
    lease: BudgetLease

    async def open(self) -> None:
        await self.protected.open()
        await self.ledger.open()

    async def close(self) -> None:
        await self.protected.close()
        await self.ledger.close()
        self.lease.close()

    def refresh(self) -> None:
        """Copies public tables again, and reads their keys anew. Waits for both databases."""
        self.shadow.refresh_public_tables(self.policy, self.catalog)
        values = read_public_values(self.policy, self.catalog)
        rows = read_public_rows(self.policy, self.catalog)
        self.engine.renew(values, rows, read_public_bounds(self.policy, self.catalog))

    def look_for_changes(self) -> None:
        """Reads the catalogue again; what plans relied on and is gone is not asked any more."""
        now = as_labelled(self.catalog, read_catalog(self.policy.source)).tables
        changed = frozenset(
            str(name)
            for name in self.policy.tables
            if not still_holds(self.catalog.tables[name], now.get(name))
        )
        if changed != self.engine.changed:
            _log.warning("tables_changed", database=self.policy.database, tables=sorted(changed))
        self.engine.changed = changed

    async def is_ready(self) -> bool:
        return await self.protected.is_ready() and await self.ledger.is_ready()


class Assembly:
    """All databases of one proxy. `open` before serving, `close` after."""

    def __init__(self, databases: Sequence[Database]) -> None:
        self.databases: Mapping[str, Database] = {d.policy.database: d for d in databases}

    @property
    def engines(self) -> Mapping[str, Engine]:
        return {name: database.engine for name, database in self.databases.items()}

    async def open(self) -> None:
        for database in self.databases.values():
            await database.open()
        # What is here by now stays. Each full collection would walk it, 35 ms in the middle of an answer.
        gc.collect()
        gc.freeze()

    async def close(self) -> None:
        for database in self.databases.values():
            await database.close()

    def wire_server(
        self,
        tls: ssl.SSLContext | None = None,
        gate: LoginGate | None = None,
        *,
        requires_tls: bool = False,
    ) -> WireServer:
        served = {
            name: ServedDatabase(
                ShadowAddress(*database.shadow.analyst_host_port), EngineAdapter(database.engine)
            )
            for name, database in self.databases.items()
        }
        return WireServer(served, tls, gate=gate, requires_tls=requires_tls)


def assemble(
    policy: Policy,
    catalog: Catalog,
    shadow: Shadow,
    lease: BudgetLease,
    bits: RandomBits | None = None,
    *,
    texts: TextCipher | None = None,
) -> Database:
    """One database. The shadow must have been built from this policy and catalogue, and the lease is on the
    budgets of its data.

    bits: the operating system's unless a test brings its own; texts: where receipts keep statements.
    """
    relations = {oid: name for name, oid in shadow.relation_oids().items()}
    protected = ProtectedDatabase(policy.source)
    is_cached = policy.reuse is not None
    tables = LedgerTables(lease.ledger_dsn, lease.source, texts=texts, is_cached=is_cached)
    ledger = EngineLedger(tables, policy.reuse)
    cached = None if policy.reuse is None else ledger
    public, rows = read_public_values(policy, catalog), read_public_rows(policy, catalog)
    bounds = read_public_bounds(policy, catalog)
    engine = Engine(
        policy,
        catalog,
        relations,
        protected,
        ledger,
        bits or OsRandom(),
        public,
        rows,
        bounds=bounds,
        read_as=shadow.label_oids(),
        cached=cached,
    )
    return Database(policy, catalog, shadow, engine, protected, ledger, lease)
