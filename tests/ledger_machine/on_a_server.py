"""A ledger on a server of its own, over two connections: commits are commits, and a crash kills the server."""

from __future__ import annotations

import contextlib
import os
import signal
import threading
import time
from collections.abc import Callable, Iterator
from datetime import datetime
from pathlib import Path
from typing import Any, TypeVar
from unittest import mock

import psycopg
from psycopg import sql

from proxy.ledger.ledger_backup import backup, restore
from proxy.ledger.ledger_lease import BudgetLease
from proxy.ledger.ledger_schema import bring_to_newest
from proxy.ledger.ledger_sources import Identity, SourceError, adopt_new
from proxy.postgres.embedded import EmbeddedPostgres
from tests.ledger_machine.asked import Terms
from tests.ledger_machine.driven_ledger import CLOCK, OPTIONS, PATH, DrivenLedger, small_texts
from tests.ledger_machine.policy_of_terms import policy_of
from tests.ledger_machine.tables_of_one import SOURCE, TablesOfOne

T = TypeVar("T")
R = TypeVar("R")
_BEGIN_SECONDS = 0.05
_TRIES = 200


class ClockedConnection(psycopg.Connection[Any]):
    """Which looks at the clock of the test first."""

    def execute(self, query: Any, *given: Any, **named: Any) -> Any:
        if isinstance(query, str):
            query = query.replace("SET search_path = pg_catalog", PATH)
        return super().execute(query, *given, **named)


class LedgerOnServer(DrivenLedger):
    is_concurrent = True
    most_crashes = 1  # which take a second

    def __init__(self, server: EmbeddedPostgres, folder: Path) -> None:
        super().__init__("", [], folder)
        self._server = server
        self._now = ""
        self._leases: list[BudgetLease] = []
        self._terms: Terms | None = None
        self.has_raw = False
        self._alone("CREATE DATABASE empty")
        bring_to_newest(server.dsn("empty"))
        with psycopg.connect(server.dsn("empty")) as connection:
            connection.execute(CLOCK)

    @contextlib.contextmanager
    def connected(self) -> Iterator[None]:
        with small_texts(), mock.patch.object(psycopg, "connect", self._connect):
            yield

    def begin(self) -> None:
        self.has_raw = False
        self.mark.state.joinpath("ledger.mark").unlink(missing_ok=True)
        self._terms = None
        self._made_of("empty")
        adopt_new(self.dsn, Identity("invented", "data"), "data")
        self._open()

    def begun(self) -> None:
        """Everything here waits for the disk."""

    def end(self) -> None:
        self._close()

    def at(self, now: datetime) -> None:
        self._now = now.isoformat()
        super().at(now)

    def write_terms(self, terms: Terms) -> None:
        """By processes that are started anew."""
        self._end_leases()
        self._terms = terms
        for _ in self.processes:
            self._leases.append(self._lease(terms))
        self.use_slots(terms)

    def _lease(self, terms: Terms) -> BudgetLease:
        """Once the server has seen that the processes before are gone."""
        for _ in range(_TRIES):
            try:
                return BudgetLease(self.dsn, SOURCE, policy_of(terms))
            except SourceError:
                time.sleep(_BEGIN_SECONDS)
        raise AssertionError("a lease outlives its connection")

    def at_once(self, first: Callable[[], T], second: Callable[[], R]) -> tuple[T, R]:
        """Of its two processes."""
        found: list[R] = []
        one, other = (tables.session for tables in self.processes)
        behind = threading.Thread(target=lambda: found.append(second()))
        assert one is not other
        with one.transaction():
            before = first()
            behind.start()
            behind.join(_BEGIN_SECONDS)
        behind.join()
        return before, found[0]

    def committed(self) -> None:
        """What waited for the disk is seen after a crash."""

    def crash(self, kept: int) -> None:
        del kept
        self._kill()
        self._open()

    def back_up(self) -> None:
        self.backup_file.unlink(missing_ok=True)
        backup(self.dsn, self.backup_file)
        self._close()
        self._alone("DROP DATABASE IF EXISTS raw")
        self._alone("CREATE DATABASE raw TEMPLATE history")
        self.has_raw = True
        self._open()

    def restore(self, *, is_raw: bool) -> None:
        self._close()
        self._made_of("raw" if is_raw else "empty")
        if is_raw:
            self._kill()
        else:
            restore(self.dsn, self.backup_file)
            self.has_raw = False
        self._terms = None
        self._open()

    def _made_of(self, template: str) -> None:
        self._alone("DROP DATABASE IF EXISTS history WITH (FORCE)")
        self._alone(f"CREATE DATABASE history TEMPLATE {template}")
        self.dsn = self._server.dsn("history")

    def _open(self) -> None:
        sessions = [self._connect(self.dsn, autocommit=True) for _ in range(2)]
        if self.processes:
            for tables, session in zip(self.processes, sessions, strict=True):
                tables.session.close()  # which may not know yet that its server is gone
                tables.session = session  # of who lives on
        else:
            self.processes = [TablesOfOne(session) for session in sessions]
        if self._terms is not None:
            self.write_terms(self._terms)

    def _close(self) -> None:
        self._end_leases()
        for one in self.processes:
            one.session.close()

    def _end_leases(self) -> None:
        for one in self._leases:
            one.close()
        self._leases = []

    def _kill(self) -> None:
        """All of its processes, at once."""
        postmaster = self._server.process_id
        assert postmaster is not None
        os.kill(postmaster, signal.SIGKILL)
        for process in Path("/proc").glob("[0-9]*"):
            with contextlib.suppress(OSError):
                if (process / "cwd").readlink() == self._server.home / "data":
                    os.kill(int(process.name), signal.SIGKILL)
        self._server.stop()
        self._server.start()
        self.dsn = self._server.dsn("history")

    def _connect(self, dsn: str, **given: Any) -> ClockedConnection:
        options = f"{OPTIONS} -c search_path=machine,pg_catalog"
        if self._now:
            options += f" -c machine.now={self._now}"
        return ClockedConnection.connect(dsn, options=options, **given)

    def _alone(self, statement: str) -> None:
        with ClockedConnection.connect(self._server.dsn("postgres"), autocommit=True) as connection:
            connection.execute(sql.SQL(statement))
