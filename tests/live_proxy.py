"""The whole proxy in a thread of its own: real engines, real shadows, the wire listener on a free port."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Coroutine, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

import psycopg
import uvloop

from proxy.cli.assembly import Database, assemble
from proxy.cli.served_databases import Assembly
from proxy.ledger import engine_ledger
from proxy.servers.statement_reports import StatementObserver
from proxy.servers.wire.wire_server import WireServer
from tests.ledger_key import LEDGER_CIPHER
from tests.psql import psql
from tests.servers_fixture import PASSWORD, Servers
from tests.waiting import until

T = TypeVar("T")

# Outcomes of a tenth of a second are written together, and nearly every test waits for those of its own.
engine_ledger._TOGETHER_SECONDS = 0.005


@dataclass(slots=True)
class LiveProxy:
    """`analyst` is one of its own, so that its budget is nobody else's."""

    servers: Servers
    assembly: Assembly
    server: WireServer
    loop: asyncio.AbstractEventLoop
    thread: threading.Thread
    analyst: str
    _ledgers: dict[str, psycopg.Connection] = field(default_factory=dict)

    @property
    def port(self) -> int:
        return self.server.address[1]

    def dsn(self, database: str = "shop", analyst: str | None = None) -> str:
        """Through the proxy."""
        return self.servers.analyst_dsn(database, analyst or self.analyst, self.port)

    def direct_dsn(self, database: str = "shop", analyst: str | None = None) -> str:
        """Past it, to the shadow."""
        return self.servers.analyst_dsn(database, analyst or self.analyst)

    def connect(
        self, database: str = "shop", *, analyst: str | None = None, **more: Any
    ) -> psycopg.Connection:
        more.setdefault("autocommit", True)
        return psycopg.connect(self.dsn(database, analyst), **more)

    def direct(
        self, database: str = "shop", *, analyst: str | None = None, **more: Any
    ) -> psycopg.Connection:
        more.setdefault("autocommit", True)
        return psycopg.connect(self.direct_dsn(database, analyst), **more)

    def spent(self, analyst: str | None = None) -> tuple[int, float, int]:
        """From the ledger itself, over all databases: entries, their epsilon, entries not settled."""
        databases = self.assembly.databases.values()
        until(lambda: not any(one.ledger.is_settling for one in databases))
        entries, epsilon, open_ = 0, 0.0, 0
        sources: dict[str, list[int]] = {}
        for database in databases:
            sources.setdefault(database.lease.ledger_dsn, []).append(database.lease.source)
        for dsn, of_it in sources.items():
            row = self._ledger(dsn).execute(_SPENT, (analyst or self.analyst, of_it)).fetchone()
            assert row is not None
            entries, epsilon, open_ = entries + row[0], epsilon + row[1], open_ + row[2]
        return entries, epsilon, open_

    def _ledger(self, dsn: str) -> psycopg.Connection:
        """A session that is kept: nearly every test looks there, and most of a look is the login."""
        kept = self._ledgers.get(dsn)
        if kept is not None and not kept.closed:
            try:
                kept.execute("SELECT 1")
                return kept
            except psycopg.OperationalError:  # its server was started again
                kept.close()
        self._ledgers[dsn] = psycopg.connect(dsn, autocommit=True)
        return self._ledgers[dsn]

    def set_limit(
        self,
        database: str,
        analyst: str,
        epsilon: str,
        delta: str,
        period: str = "none",
        rho: str | None = None,
    ) -> None:
        """As a policy's line of its own would write it."""
        lease = self.assembly.databases[database].lease
        with psycopg.connect(lease.ledger_dsn) as connection:
            connection.execute(
                "INSERT INTO ledger.allowance VALUES (%s, 'analyst', %s, %s, %s, %s, %s)",
                (lease.source, analyst, epsilon, delta, period, rho),
            )

    def when_settled(self, analyst: str) -> tuple[int, float, int]:
        """Settling follows the answer: wait for it, a minute at most."""
        pause, ends = threading.Event(), time.monotonic() + 60
        while (spent := self.spent(analyst))[2] and time.monotonic() < ends:
            pause.wait(0.05)
        return spent

    def psql(self, text: str, *arguments: str, direct: bool = False, database: str = "shop") -> str:
        """Output and errors in one, as psql prints them; no alignment."""
        dsn = self.direct_dsn(database) if direct else self.dsn(database)
        return psql([*arguments, "-d", dsn], text, PASSWORD)

    def do(self, work: Coroutine[Any, Any, T]) -> T:
        """Run it on the proxy's loop."""
        return asyncio.run_coroutine_threadsafe(work, self.loop).result(60)

    def stop(self) -> None:
        for kept in self._ledgers.values():
            kept.close()
        self.do(self.server.stop(grace_seconds=0.5))
        self.do(self.assembly.close())
        self.loop.call_soon_threadsafe(self.loop.stop)
        self.thread.join(60)
        self.loop.close()


_SPENT = """\
SELECT count(*)::int, coalesce(sum(r.epsilon), 0)::float8,
       (count(*) FILTER (WHERE s.receipt IS NULL))::int
FROM ledger.receipt r LEFT JOIN ledger.settlement s ON s.receipt = r.id
WHERE r.analyst = %s AND r.source = ANY(%s)"""


def sample_databases(servers: Servers) -> list[Database]:
    return [
        assemble(
            policy,
            servers.catalogs[name],
            servers.shadows[name],
            servers.lease(policy),
            LEDGER_CIPHER,
        )
        for name, policy in servers.policies.items()
    ]


def start_proxy(
    servers: Servers,
    databases: Sequence[Database],
    loop: asyncio.AbstractEventLoop | None = None,
    observers: Sequence[StatementObserver] = (),
) -> LiveProxy:
    loop = loop or uvloop.new_event_loop()
    thread = threading.Thread(target=loop.run_forever, daemon=True)
    thread.start()
    assembly = Assembly(databases)

    async def start() -> WireServer:
        await assembly.open()
        server = assembly.wire_server(observers=observers)
        await server.start("127.0.0.1", 0)
        return server

    server = asyncio.run_coroutine_threadsafe(start(), loop).result(60)
    return LiveProxy(servers, assembly, server, loop, thread, servers.new_analyst())
