"""Ends sessions of an analyst that keep others of a shadow's server waiting for a lock.

Much of PostgreSQL locks first and asks for rights after: CREATE RULE, REFERENCES, ATTACH PARTITION, DROP
DATABASE. Queued behind a transaction that has merely read, such a statement stops whoever comes after it:
logins, statements of others, dpproxy's own. No rule for statements can know them all; who waits is plain.

The watch itself asks for nothing that an analyst can lock: functions of a database that analysts cannot
enter, no table of roles, and the end is a signal of the system (pg_terminate_backend reads the roles).
"""

from __future__ import annotations

import math
import re
import signal
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from time import monotonic

import psycopg

from proxy.postgres.embedded import SUPERUSER
from proxy.postgres.failure_reason import reason_of
from proxy.shadow.ending_sessions import EndingSessions, Harm
from proxy.shadow.shadow_monitor import Ended, parent_of, signal_session
from proxy.shadow.shadow_roles import analyst_of_role
from proxy.shadow.shadow_tables import ShadowError

PATIENCE_SECONDS = 1.0
_OFFENDER_SECONDS = 60.0  # for so long whoever was ended has no second more
_CONNECT_SECONDS = 2  # the least that libpq takes
# A row: its holder's transaction is waited for, in modes of PostgreSQL's own choice.
_OF_ROWS = ("transactionid", "virtualxid", "tuple", "spectoken", "applytransaction")
# What statements of analysts ask for on what is not their own, to read and to make temporary things.
_WEAK = ("AccessShareLock", "RowShareLock", "RowExclusiveLock")

_WAITING = """\
SELECT w.pid, a.usesysid::bigint, w.mode, w.locktype,
       coalesce(extract(epoch FROM clock_timestamp() - w.waitstart), 0)::float8,
       pg_catalog.pg_blocking_pids(w.pid)
FROM pg_catalog.pg_lock_status() w LEFT JOIN pg_catalog.pg_stat_get_activity(NULL) a ON a.pid = w.pid
WHERE NOT w.granted"""
_SESSIONS = """\
SELECT a.pid, a.usesysid::bigint, extract(epoch FROM a.xact_start)::float8
FROM pg_catalog.pg_stat_get_activity(NULL) a
WHERE a.backend_type = 'client backend' AND a.usesysid IS NOT NULL AND a.usesysid <> (
    SELECT own.usesysid FROM pg_catalog.pg_stat_get_activity(pg_catalog.pg_backend_pid()) own)"""
_TITLE = re.compile(rb"postgres: (?!" + SUPERUSER.encode() + rb" )(?P<rest>.*) waiting\0*\Z", re.S)


@dataclass(frozen=True, slots=True, kw_only=True)
class Waiting:
    """A session that waits for a lock. role: None where it is no analyst's, as of a login under way."""

    process: int
    role: int | None
    is_strong: bool
    seconds: float
    blockers: tuple[int, ...]


class LockWatch:
    """
    Given    the superuser's way into the shadow's server, not into a shadow; what gives the process of that
             server; ending: notes which sessions were told to end; insists: whether a change of a policy is
             tried that was kept from being taken before, and nobody logs in meanwhile
    Gives    `look`, to be called twice a second or so, from one thread at a time
    """

    def __init__(
        self,
        server_dsn: str,
        server: Callable[[], int],
        patience_seconds: float = PATIENCE_SECONDS,
        ending: EndingSessions | None = None,
        insists: Callable[[], bool] = lambda: False,
    ) -> None:
        self._dsn = server_dsn
        self._patience = patience_seconds
        self._connection: psycopg.Connection | None = None
        self._server = server
        self._ending = ending or EndingSessions()
        self._insists = insists
        self._offenders: dict[int, float] = {}
        # Transactions that dpproxy has waited for, by process and begin, and since when.
        self._in_our_way: dict[tuple[int, float | None], float] = {}
        self._failed = 0

    def __repr__(self) -> str:  # the DSN holds a password
        return "LockWatch()"

    def look(self) -> tuple[Ended, ...]:
        """
        Gives    whose sessions were told to end, each once
        Refuses  ShadowError where the server cannot be asked; sessions of analysts that wait for a lock, as
                 their processes' titles tell, are ended then
        """
        try:
            found = self._found(self._connected())
            self._failed = 0
        except psycopg.Error as error:
            if self._connection is not None and self._connection.broken:
                self.close()
            self._failed += 1
            for process in _waiting_by_title(self._server(), queries=self._failed > 1):
                signal_session(process, self._server(), signal.SIGTERM)
            kind = error.sqlstate or reason_of(error)
            raise ShadowError(f"the shadow's locks could not be watched ({kind})") from None
        ended = [
            (process, role, harm)
            for process, role, harm in found
            if signal_session(process, self._server(), signal.SIGTERM)
        ]
        now = monotonic()
        self._offenders = {role: until for role, until in self._offenders.items() if until > now}
        self._offenders |= {role: now + _OFFENDER_SECONDS for _, role, _ in ended}
        named = [(self._name(role), process, harm) for process, role, harm in ended]
        return tuple(
            Ended(analyst=name, process=process, passed="locks that others wait for")
            for name, process, harm in named
            if self._ending.tell(process, name, harm)
        )

    def close(self) -> None:
        if self._connection is not None:
            with suppress(psycopg.Error):
                self._connection.close()
            self._connection = None

    def _connected(self) -> psycopg.Connection:
        if self._connection is None:
            self._connection = psycopg.connect(
                self._dsn,
                autocommit=True,
                connect_timeout=_CONNECT_SECONDS,
                options="-c lock_timeout=1s -c statement_timeout=5s -c jit=off",
            )
        return self._connection

    def _found(self, connection: psycopg.Connection) -> Sequence[tuple[int, int, Harm]]:
        """Process and role of each session to be ended, and what it does otherwise."""
        rows = connection.execute(_WAITING).fetchall()
        if not rows:
            return ()
        sessions = connection.execute(_SESSIONS).fetchall()
        roles: dict[int, int] = {process: role for process, role, _ in sessions}
        transactions: dict[int, float | None] = {process: begin for process, _, begin in sessions}
        waiting = [
            Waiting(
                process=process,
                role=role if process in roles else None,
                is_strong=mode not in _WEAK and kind not in _OF_ROWS,
                seconds=seconds,
                blockers=tuple(blockers),
            )
            for process, role, mode, kind, seconds, blockers in rows
        ]
        insists = self._insists()
        added = [one for each in waiting for one in self._added_up(each, transactions, insists)]
        ours = {process for one in waiting if one.role is None for process in one.blockers}
        ended = to_end(added, roles, self._patience, self._offenders.keys())
        return [
            (process, role, Harm.OPERATOR if insists and process in ours else Harm.OTHERS)
            for process, role in ended
        ]

    def _added_up(
        self, waiting: Waiting, transactions: Mapping[int, float | None], insists: bool
    ) -> Iterator[Waiting]:
        """With the seconds since dpproxy has first waited for the transaction. It gives up and tries again.
        Transactions that are shorter than its pauses never add up: what insists has no patience."""
        if waiting.role is not None:
            yield waiting
            return
        now = monotonic()
        self._in_our_way = {
            key: since
            for key, since in self._in_our_way.items()
            if transactions.get(key[0]) == key[1]
        }
        for blocker in waiting.blockers:
            key = (blocker, transactions.get(blocker))
            since = self._in_our_way.setdefault(key, now - waiting.seconds)
            seconds = math.inf if insists else now - since
            yield replace(waiting, seconds=seconds, blockers=(blocker,))

    def _name(self, role: int) -> str:
        """For the log; the roles may be locked still."""
        with suppress(psycopg.Error):
            row = self._connected().execute(
                "SELECT rolname FROM pg_catalog.pg_authid WHERE oid = %s", (role,)
            )
            for (name,) in row:
                return analyst_of_role(self._connected(), name)
        return f"role {role}"


def to_end(
    waiting: Iterable[Waiting],
    roles: Mapping[int, int],
    patience: float,
    offenders: Iterable[int] = (),
) -> Sequence[tuple[int, int]]:
    """
    Given    who waits; the role of each analyst's session; how long one may keep others waiting, and who may
             no more
    Gives    process and role of each session to be ended: an analyst's that waits for a lock which stops
             others, whether or not there are any yet; and one that a dpproxy's session, a login or another
             analyst waits for, unless that one asked for such a lock
    """
    found: dict[int, int] = {}
    known = frozenset(offenders)

    def is_over(seconds: float, role: int) -> bool:
        return seconds > (0 if role in known else patience)

    for one in waiting:
        if one.role is not None and one.is_strong:
            if is_over(one.seconds, one.role):
                found[one.process] = one.role
            continue
        for blocker in one.blockers:
            role = roles.get(blocker)
            if role is not None and role != one.role and is_over(one.seconds, role):
                found[blocker] = role
    return tuple(found.items())


def _waiting_by_title(server: int, *, queries: bool) -> Iterable[int]:
    """Sessions of analysts that wait for a lock, without asking the server. Logins are not ended; sessions
    that run a query only where `queries` says so: they are more often those that are kept waiting."""
    for folder in Path("/proc").glob("[0-9]*"):
        process = int(folder.name)
        try:
            title = (folder / "cmdline").read_bytes()
        except OSError:
            continue
        named = _TITLE.match(title)
        if named is None or parent_of(process) != server:
            continue
        if named["rest"].endswith(b" startup") or b" " not in named["rest"]:
            continue
        if queries or not named["rest"].endswith(b" SELECT"):
            yield process
