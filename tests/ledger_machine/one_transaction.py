"""A ledger in one transaction of one connection: commits are savepoints, and a crash of the server goes back to
the last that was waited for, or to one since. Nothing is written for good, so a history takes milliseconds.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any
from unittest import mock

import psycopg
from psycopg import sql
from typing_extensions import LiteralString

from proxy.ledger.ledger_backup import backup, restore
from proxy.ledger.ledger_schema import bring_to_newest
from proxy.ledger.ledger_sources import Identity, adopt_new
from tests.ledger_machine.driven_ledger import CLOCK, OPTIONS, PATH, DrivenLedger, small_texts

_BOOT = """\
CREATE FUNCTION machine.pg_postmaster_start_time() RETURNS timestamptz STABLE LANGUAGE sql
AS $$ SELECT to_timestamp(current_setting('machine.boot')::integer) $$"""


class Borrowed:
    """The one connection, to who would make another: what they commit is a savepoint's."""

    isolation_level = None
    read_only = None

    def __init__(self, session: psycopg.Connection[Any]) -> None:
        self._session = session
        self._stack = contextlib.ExitStack()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._session, name)

    def execute(self, statement: Any, parameters: Any = None) -> Any:
        if isinstance(statement, str) and statement.startswith("SET search_path = pg_catalog"):
            statement = PATH
        return self._session.execute(statement, parameters)

    def __enter__(self) -> Borrowed:
        self._stack.enter_context(self._session.transaction())
        return self

    def __exit__(self, *error: Any) -> None:
        self._stack.__exit__(*error)


class LedgerInOneTransaction(DrivenLedger):
    """Between `begin` and `end` of each history."""

    is_concurrent = False
    most_crashes = 100

    def __init__(self, dsn: str, folder: Path) -> None:
        """In an empty database."""
        bring_to_newest(dsn)
        adopt_new(dsn, Identity("invented", "data"), "data")
        with psycopg.connect(dsn, autocommit=True) as connection:
            connection.execute(CLOCK)
            connection.execute(_BOOT)
        session = psycopg.connect(dsn, prepare_threshold=None, options=OPTIONS)
        super().__init__(dsn, [session, session], folder)
        self._histories = 0
        self._saved = 0
        self._boot = 0
        self._commits: list[str] = []
        self._each: list[tuple[str, bool]] = []
        self._backup = ""
        self._now: datetime | None = None
        self._is_set = False  # in the transaction, with the settings of its connection

    @contextlib.contextmanager
    def connected(self) -> Iterator[None]:
        with (
            small_texts(),
            mock.patch.object(psycopg, "connect", lambda *_, **__: Borrowed(self.session)),
        ):
            yield

    def begin(self) -> None:
        self._histories += 1
        self._now, self._is_set = None, False
        if self._histories % 25 == 0:  # what was rolled back is read past
            self.session.autocommit = True
            self.session.execute("VACUUM")
            self.session.autocommit = False
        self.session.execute(PATH)
        self._boot = 0
        self._booted()
        self._save("empty")
        self.mark.state.joinpath("ledger.mark").unlink(missing_ok=True)

    def begun(self) -> None:
        self._sure()

    def end(self) -> None:
        self.session.rollback()

    @property
    def has_raw(self) -> bool:
        return self._backup != ""

    def at(self, now: datetime) -> None:
        if not self._is_set or now != self._now:
            super().at(now)
            self._now, self._is_set = now, True

    @contextlib.contextmanager
    def may_fail(self) -> Iterator[None]:
        for one in self.processes:
            one.pool.guard = self.session.transaction
        try:
            yield
        finally:
            for one in self.processes:
                one.pool.guard = None

    @contextlib.contextmanager
    def each_transaction(self, process: int) -> Iterator[None]:
        pool = self.processes[process].pool
        self._each = []
        with mock.patch.object(pool, "ended", lambda: self._each.append(self._committed())):
            yield

    def committed_each(self, expected: Sequence[bool | None]) -> bool:
        waits_more = False
        for (made, waited), is_sure in zip(self._each, expected, strict=True):
            if is_sure is None:
                continue
            waits_more = waited and not is_sure
            assert waited or not is_sure, "it was not waited for"
            self._commits = [made] if waited else [*self._commits, made]
        return waits_more

    def nothing_happened(self) -> None:
        self._is_set = False  # the settings of that step do not last

    def committed(self) -> bool:
        """Whether it was waited for."""
        made, waited = self._committed()
        self._commits = [made] if waited else [*self._commits, made]
        return waited

    def _committed(self) -> tuple[str, bool]:
        made = self._name()
        cursor = self._alone(  # the setting for what comes next, whoever comes back here
            "SELECT current_setting('synchronous_commit'); SET synchronous_commit = on;"
            f" SAVEPOINT {made}"
        )
        row = cursor.fetchone()
        assert row is not None
        return made, row[0] == "on"

    def crash(self, kept: int) -> int:
        self._back_to(self._commits[kept])
        self._boot += 1
        self._booted()
        return kept

    def back_up(self) -> None:
        self.backup_file.unlink(missing_ok=True)
        backup(self.dsn, self.backup_file)
        self._sure()
        self._backup = self._commits[0]

    def restore(self, *, is_raw: bool) -> None:
        if is_raw:
            self._back_to(self._backup)
            self._boot += 1
            self._booted()
            return
        self._back_to("empty")
        if self._now is not None:
            self.at(self._now)
        self.session.execute("DELETE FROM ledger.source_identity")
        self.session.execute("DELETE FROM ledger.source")
        restore(self.dsn, self.backup_file)
        self._sure()
        self._backup = ""

    def close(self) -> None:
        super().close()
        self.session.close()

    def _booted(self) -> None:
        self.session.execute("SELECT set_config('machine.boot', %s, false)", (str(self._boot),))

    def _name(self) -> str:
        self._saved += 1
        return f"s{self._saved}"

    def _save(self, name: str = "") -> str:
        made = name or self._name()
        self._alone(f"SAVEPOINT {made}")
        return made

    def _alone(self, statement: LiteralString) -> psycopg.Cursor[Any]:
        """Which comes once, so that it is not prepared."""
        return self.session.execute(sql.SQL(statement), prepare=False)

    def _sure(self) -> None:
        self._commits = [self._save()]

    def _back_to(self, name: str) -> None:
        self._alone(f"ROLLBACK TO SAVEPOINT {name}")
        self._commits = [name]
        self._is_set = False
