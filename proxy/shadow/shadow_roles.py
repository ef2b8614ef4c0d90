"""The roles of a shadow's server are the ledger's analysts, made anew at the start and kept alike after."""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from typing import Any

import psycopg
from psycopg import sql
from psycopg.conninfo import make_conninfo

from proxy.base.role_names import inner_role, is_inner_role
from proxy.ledger.analysts_role import ANALYSTS
from proxy.ledger.charge_queue import connect_lasting
from proxy.ledger.users import read_verifiers
from proxy.postgres.analyst_limits import SESSIONS_PER_ANALYST
from proxy.postgres.failure_reason import reason_of
from proxy.shadow.ending_sessions import EndingSessions, Harm

_REMOVE_SECONDS = 10.0
_LOCK_SECONDS = 2  # longer than lock_watch lets an analyst keep a lock that is waited for
_END_SECONDS = 3.0
_CONNECT_SECONDS = 5
_TRIES = 3
InnerVerifier = Callable[[str], str]  # of an analyst (analyst_sessions.py)


class RolesNotMatched(RuntimeError):
    """changed: names of those that are as they must be; failed: of those that are not, with the SQLSTATE."""

    def __init__(self, changed: tuple[str, ...], failed: Mapping[str, str]) -> None:
        super().__init__(f"{len(failed)} roles could not be matched")
        self.changed = changed
        self.failed = failed


def ensure_group(connection: psycopg.Connection) -> None:
    """The group role that all rights are given to. Safe to run twice, and by two at once."""
    connection.execute(
        sql.SQL(
            "DO $$ BEGIN CREATE ROLE {group} NOLOGIN NOSUPERUSER NOCREATEDB NOCREATEROLE NOBYPASSRLS;"
            " EXCEPTION WHEN duplicate_object OR unique_violation THEN NULL; END $$"
        ).format(group=sql.Identifier(ANALYSTS))
    )


def match_roles(
    superuser_dsn: str, databases: Sequence[str], verifiers: Mapping[str, str]
) -> tuple[str, ...]:
    """
    Given    the shadow superuser's DSN, the databases there, the ledger's analysts with their verifiers
    Gives    the names of those whose role was made, changed or removed; the sessions of who was removed,
             or got another password, are ended
    """
    with psycopg.connect(superuser_dsn, autocommit=True) as connection:
        return match_roles_on(connection, superuser_dsn, databases, verifiers)


def match_roles_on(
    connection: psycopg.Connection[Any],
    superuser_dsn: str,
    databases: Sequence[str],
    verifiers: Mapping[str, str],
    inner: InnerVerifier | None = None,
    settled: dict[str, str] | None = None,
    ending: EndingSessions | None = None,
) -> tuple[str, ...]:
    """As `match_roles`, on a superuser's connection in autocommit that is there.

    Given    inner: what verifier the inner role of an analyst has; it is not made here, but goes with them;
             settled: verifiers of the last calls, kept up here. A role that has another than that was altered
             by its analyst: its own is put back, and no session is ended; ending: notes which sessions were
             told to end

    Whatever an analyst does to their own role, by a lock or otherwise, keeps nobody else's role as it was.

    Refuses  RolesNotMatched, when it has done the others
    """
    # An analyst's statement can hold any of these rows or tables, and lock_watch ends who does.
    connection.execute(f"SET lock_timeout = '{_LOCK_SECONDS}s'")
    ensure_group(connection)
    there = _roles(connection)
    verifiers = {**verifiers, **_inner_verifiers(there, verifiers, inner)}
    changed: list[str] = []
    failed: dict[str, str] = {}
    settled = {} if settled is None else settled
    analysts = {inner_role(name): name for name in there}
    ends = SessionEnds(connection, analysts, ending or EndingSessions())
    for name in settled.keys() - verifiers.keys():
        del settled[name]

    def attempt(name: str, change: Callable[[], None]) -> None:
        try:
            change()
        except psycopg.Error as error:
            if connection.broken:
                raise
            failed[name] = error.sqlstate or reason_of(error)
        else:
            changed.append(name)

    # Who is removed first: what they hold goes with them.
    for name in sorted(there.keys() - verifiers.keys()):
        attempt(name, partial(_remove, ends, superuser_dsn, databases, name))
    for name, verifier in verifiers.items():
        if name not in there:
            attempt(name, partial(create_role, connection, name, verifier))
        elif there[name] != verifier:
            if settled.get(name) == verifier:
                attempt(name, partial(_put_back, connection, name, verifier))
            else:
                attempt(name, partial(_set_verifier, ends, name, verifier))
        if name not in failed:
            settled[name] = verifier
    if failed:
        raise RolesNotMatched(tuple(changed), failed)
    return tuple(changed)


def _inner_verifiers(
    there: Mapping[str, str], analysts: Mapping[str, str], inner: InnerVerifier | None
) -> Mapping[str, str]:
    """Of inner roles that are there and whose analyst is, too."""
    found = {inner_role(name): name for name in analysts}
    return {
        role: verifier if inner is None else inner(found[role])
        for role, verifier in there.items()
        if role in found
    }


def _roles(connection: psycopg.Connection[Any]) -> dict[str, str]:
    return dict(
        connection.execute(
            "SELECT r.rolname, coalesce(r.rolpassword, '') FROM pg_catalog.pg_auth_members m"
            " JOIN pg_catalog.pg_authid r ON r.oid = m.member"
            " JOIN pg_catalog.pg_authid g ON g.oid = m.roleid WHERE g.rolname = %s",
            (ANALYSTS,),
        ).fetchall()
    )


def analyst_of_role(connection: psycopg.Connection[Any], role: str) -> str:
    """Whose role it is; the role itself where its analyst is not there. Raises: psycopg.Error."""
    if not is_inner_role(role):
        return role
    names = connection.execute("SELECT rolname FROM pg_catalog.pg_authid").fetchall()
    return next((name for (name,) in names if inner_role(name) == role), role)


def create_role(connection: psycopg.Connection[Any], name: str, verifier: str) -> None:
    # CREATE ROLE takes a verifier as it is (get_password_type, src/backend/libpq/crypt.c).
    connection.execute(
        sql.SQL(
            "CREATE ROLE {name} LOGIN NOSUPERUSER NOCREATEDB NOCREATEROLE NOREPLICATION"
            " NOBYPASSRLS CONNECTION LIMIT {limit} PASSWORD {verifier} IN ROLE {group}"
        ).format(
            name=sql.Identifier(name),
            limit=sql.Literal(SESSIONS_PER_ANALYST),
            verifier=sql.Literal(verifier),
            group=sql.Identifier(ANALYSTS),
        )
    )


@dataclass(frozen=True, slots=True)
class SessionEnds:
    """Ends all sessions of a role. analysts: whose inner role it is, by its name."""

    connection: psycopg.Connection[Any]
    analysts: Mapping[str, str]
    ending: EndingSessions

    def end(self, name: str) -> None:
        """All are told before any is waited for: one that does not listen at once must not keep the others."""
        deadline = time.monotonic() + _END_SECONDS
        while time.monotonic() < deadline:
            told = self.connection.execute(
                "SELECT pid, pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = %s",
                (name,),
            ).fetchall()
            if not told:
                return
            for process, _ in told:
                self.ending.tell(process, self.analysts.get(name, name), Harm.OPERATOR)
            time.sleep(0.02)


def _set_verifier(ends: SessionEnds, name: str, verifier: str) -> None:
    _alter(ends, name, _login_with(verifier))
    ends.end(name)  # of who logged in with the old one meanwhile


def _put_back(connection: psycopg.Connection[Any], name: str, verifier: str) -> None:
    """Who holds the role's row meanwhile is ended by lock_watch, and the next call comes to it again."""
    connection.execute(
        sql.SQL("ALTER ROLE {} {}").format(sql.Identifier(name), _login_with(verifier))
    )


def _login_with(verifier: str) -> sql.Composed:
    return sql.SQL("LOGIN CONNECTION LIMIT {} PASSWORD {}").format(
        sql.Literal(SESSIONS_PER_ANALYST), sql.Literal(verifier)
    )


def _alter(ends: SessionEnds, name: str, what: sql.Composable) -> None:
    """Their sessions end first: one of them may hold the role's row, and so may one that comes meanwhile."""
    statement = sql.SQL("ALTER ROLE {} {}").format(sql.Identifier(name), what)
    for _ in range(_TRIES):
        ends.end(name)
        with contextlib.suppress(psycopg.errors.LockNotAvailable):
            ends.connection.execute(statement)
            return
    raise psycopg.errors.LockNotAvailable


def _remove(ends: SessionEnds, superuser_dsn: str, databases: Sequence[str], name: str) -> None:
    """A role that cannot be dropped may not log in, and goes with the shadow at the next start."""
    connection, role = ends.connection, sql.Identifier(name)
    _alter(ends, name, sql.SQL("NOLOGIN"))
    deadline = time.monotonic() + _REMOVE_SECONDS
    while time.monotonic() < deadline:
        ends.end(name)
        with contextlib.suppress(
            psycopg.errors.DependentObjectsStillExist, psycopg.errors.LockNotAvailable
        ):
            # What the role owns or was granted, default privileges among it, database by database.
            for database in databases:
                _drop_owned(make_conninfo(superuser_dsn, dbname=database), role)
            connection.execute(sql.SQL("DROP ROLE {}").format(role))
            return
        time.sleep(0.1)
    connection.execute(sql.SQL("REVOKE {} FROM {}").format(sql.Identifier(ANALYSTS), role))


def _drop_owned(dsn: str, role: sql.Identifier) -> None:
    with psycopg.connect(dsn, connect_timeout=_CONNECT_SECONDS) as inside:
        inside.execute(f"SET lock_timeout = '{_LOCK_SECONDS}s'")
        inside.execute(sql.SQL("DROP OWNED BY {}").format(role))


# Keeps the roles of a shadow's server the ledger's analysts, on one connection to each of the two.


class RoleMatcher:
    """
    Given    the ledger's connection string, the superuser's way into the shadow's server, the databases there
    Gives    `match`, to be called every second or so, from one thread at a time; `close` from any
    """

    def __init__(
        self,
        ledger_dsn: str,
        superuser_dsn: str,
        databases: Sequence[str],
        inner: InnerVerifier | None = None,
        ending: EndingSessions | None = None,
    ) -> None:
        self._ledger_dsn = ledger_dsn
        self._superuser_dsn = superuser_dsn
        self._databases = tuple(databases)
        self._inner = inner
        self._ending = ending
        self._settled: dict[str, str] = {}  # verifiers that were set
        self._ledger: psycopg.Connection[Any] | None = None
        self._shadow: psycopg.Connection[Any] | None = None
        self._in_use = threading.Lock()
        self._is_closed = False

    def __repr__(self) -> str:  # the DSNs hold passwords
        return "RoleKeeper()"

    def match(self) -> tuple[str, ...]:
        """
        Gives    the names of those whose role was made, changed or removed
        Refuses  psycopg.Error where a server cannot be asked; the next call connects again
        """
        try:
            with self._in_use:
                return () if self._is_closed else self._matched()
        finally:
            if self._is_closed:  # meanwhile: nobody else closes what was just opened
                self.close()

    def close(self) -> None:
        """Waits for nothing: a `match` under way closes at its end."""
        self._is_closed = True
        if self._in_use.acquire(blocking=False):
            try:
                self._drop()
            finally:
                self._in_use.release()

    def _matched(self) -> tuple[str, ...]:
        try:
            wanted = self._wanted()
            if self._shadow is None:
                self._shadow = connect_lasting(self._superuser_dsn)
            return match_roles_on(
                self._shadow,
                self._superuser_dsn,
                self._databases,
                wanted,
                self._inner,
                self._settled,
                self._ending,
            )
        except BaseException:
            self._drop()
            raise

    def _wanted(self) -> Mapping[str, str]:
        if self._ledger is None:
            self._ledger = connect_lasting(self._ledger_dsn)
            # A ledger's server may end idle sessions; this one would be opened anew every second.
            self._ledger.execute("SET idle_session_timeout = 0")
        return read_verifiers(self._ledger)

    def _drop(self) -> None:
        for connection in (self._ledger, self._shadow):
            if connection is not None:
                with suppress(psycopg.Error):
                    connection.close()
        self._ledger = self._shadow = None
