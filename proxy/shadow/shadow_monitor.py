"""Ends sessions of an analyst who takes more of the shadow's server than a share, or whose client is gone.
Kills stuck ones that harm others, and keeps the server's log short.

What PostgreSQL and the kernel do not bound by themselves: temporary tables of all sessions, statements and
transactions whose time limits an analyst may SET, places in the table of locks, the queue of notifications
that an open transaction holds, the age of transaction ids that a session holds, what statements write into
catalogues and the log, processor time.
"""

from __future__ import annotations

import errno
import math
import os
import re
import shutil
import signal
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import groupby
from pathlib import Path
from time import monotonic

import psycopg

from proxy.postgres.analyst_limits import AnalystLimits
from proxy.postgres.embedded import SUPERUSER
from proxy.postgres.failure_reason import reason_of
from proxy.postgres.postgres_settings import LIMITS_FOR_ANALYSTS
from proxy.shadow.analyst_usage import ServerUsage, SessionUsage, UsageReader
from proxy.shadow.ending_sessions import EndingSessions, Harm, StuckSession
from proxy.shadow.shadow_roles import analyst_of_role
from proxy.shadow.shadow_tables import ShadowError

_HELD_SECONDS = 10.0  # a transaction that may hold the queue of notifications
_SHRINK_SECONDS = 5.0
_OLD_SECONDS = 3600.0  # a session that may hold the age of transaction ids
_LEFT_SECONDS = 2.0  # a session whose client is gone
_NEW_SECONDS = 15.0  # one that never had a client; a login is under way for 10 s at most
_HARMLESS = ("statement", "transaction", "no client")  # of what is passed: nobody else needs it
_AGES = """\
SELECT a.pid, extract(epoch FROM clock_timestamp() - a.backend_start)::float8
FROM pg_catalog.pg_stat_get_activity(NULL) a WHERE a.pid = ANY (%s)"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Ended:
    """A session that was ended, for the log. passed: the name of the share."""

    analyst: str
    process: int
    passed: str


class ShadowMonitor:
    """
    Given    the superuser's way into the shadow's server (not into a shadow), and its log if there is one;
             ending: sessions that others, too, tell to end; server: gives the process of that server. Without
             it no session is killed
    Gives    `look`, to be called every second or so, from one thread at a time
    """

    def __init__(
        self,
        server_dsn: str,
        log: Path | None = None,
        limits: AnalystLimits | None = None,
        ending: EndingSessions | None = None,
        server: Callable[[], int] | None = None,
    ) -> None:
        self._dsn = server_dsn
        self._log = log
        self._limits = limits or AnalystLimits()
        self._reader: UsageReader | None = None
        self._processors = ProcessorShare(self._limits.cpu_seconds)
        self._shrunk_at = -_SHRINK_SECONDS
        self._ending = ending or EndingSessions()
        self._server = server
        self._known: frozenset[int] = frozenset()  # sessions that have had a client
        self._alone: dict[int, float] = {}  # sessions without a client, and since when
        self.killed: StuckSession | None = None  # by the last look

    def __repr__(self) -> str:  # the DSN holds a password
        return "ShadowMonitor()"

    def look(self, served: AbstractSet[int] | None = None) -> tuple[Ended, ...]:
        """One look at the server: what passed a share is told to end, and what is stuck may be killed.

        Given    served: processes of the sessions that have a client; None: all have one
        Gives    what was told to end, each session once
        Refuses  ShadowError where the server cannot be asked; the next look connects again
        """
        if self._log is not None:
            shorten(self._log, self._limits.log_bytes)
        self.killed = None
        try:
            if self._reader is None:
                self._reader = UsageReader(
                    self._dsn, psycopg.connect(self._dsn, autocommit=True, connect_timeout=10)
                )
            usage = self._reader.read()
            self._processors.share(usage.sessions)
            ended = [*to_end(usage, self._limits), *self._without_client(usage.sessions, served)]
            new = tuple(one for one in ended if self._tell(self._reader.connection, one))
            self._look_for_stuck(self._reader.connection)
            if usage.catalogue_bytes > self._limits.catalogue_bytes:
                self._shrink(self._reader)
            return new
        except psycopg.Error as error:
            self.close()
            kind = error.sqlstate or reason_of(error)
            raise ShadowError(f"the shadow's server could not be watched ({kind})") from None

    def _tell(self, connection: psycopg.Connection, ended: Ended) -> bool:
        """It may be gone by now, and its number another's: only an analyst's is ended."""
        connection.execute(
            "SELECT pg_catalog.pg_terminate_backend(pid) FROM pg_catalog.pg_stat_activity"
            " WHERE pid = %s AND usename = %s",
            (ended.process, ended.analyst),
        )
        harm = Harm.NONE if ended.passed in _HARMLESS else Harm.OTHERS
        return self._ending.tell(ended.process, analyst_of_role(connection, ended.analyst), harm)

    def _without_client(
        self, sessions: Sequence[SessionUsage], served: AbstractSet[int] | None
    ) -> Iterable[Ended]:
        if served is None:
            return
        now = time.monotonic()
        alive = {one.process for one in sessions}
        self._known = frozenset(alive & (self._known | served))
        self._alone = {one: self._alone.get(one, now) for one in alive - served}
        for one in sessions:
            limit = _LEFT_SECONDS if one.process in self._known else _NEW_SECONDS
            if now - self._alone.get(one.process, now) > limit:
                yield Ended(analyst=one.analyst, process=one.process, passed="no client")

    def _look_for_stuck(self, connection: psycopg.Connection) -> None:
        processes = list(self._ending.processes)
        rows = connection.execute(_AGES.encode(), (processes,)).fetchall() if processes else []
        self._ending.look(dict(rows))
        stuck = self._ending.to_kill()
        if stuck is not None and self._server is not None:
            signal_session(stuck.process, self._server(), signal.SIGKILL)
            self.killed = stuck

    def _shrink(self, reader: UsageReader) -> None:
        """What ended sessions held is free by the next look, if not by this one."""
        if time.monotonic() - self._shrunk_at > _SHRINK_SECONDS:
            reader.catalogues.shrink()
            self._shrunk_at = time.monotonic()

    def close(self) -> None:
        if self._reader is not None:
            with suppress(psycopg.Error):
                self._reader.connection.close()
            self._reader = None


def to_end(usage: ServerUsage, limits: AnalystLimits) -> tuple[Ended, ...]:
    """The sessions that pass a share: each alone by its times, and of an analyst's those that take most
    until the rest fits."""
    found: dict[int, Ended] = {}

    def end(sessions: Iterable[SessionUsage], passed: str) -> None:
        for session in sessions:
            ended = Ended(analyst=session.analyst, process=session.process, passed=passed)
            found.setdefault(session.process, ended)

    end((s for s in usage.sessions if s.statement_seconds > limits.statement_seconds), "statement")
    end(
        (s for s in usage.sessions if s.transaction_seconds > limits.transaction_seconds),
        "transaction",
    )
    if usage.notification_bytes > limits.notification_bytes:
        end((s for s in usage.sessions if s.transaction_seconds > _HELD_SECONDS), "notifications")
    if usage.oldest_transaction_id > limits.transaction_ids:
        end((s for s in usage.sessions if s.session_seconds > _OLD_SECONDS), "transaction ids")
    if usage.catalogue_bytes > limits.catalogue_bytes:
        # Who holds a snapshot keeps what is dead from being removed.
        end((s for s in usage.sessions if s.transaction_seconds > _HELD_SECONDS), "catalogues")
        most = max((s.written_bytes for s in usage.sessions), default=0)
        end((s for s in usage.sessions if s.written_bytes > most // 2), "catalogues")
    by_analyst = sorted(usage.sessions, key=lambda session: session.analyst)
    for _, group in groupby(by_analyst, key=lambda session: session.analyst):
        sessions = [session for session in group if session.process not in found]
        end(
            _above(sessions, lambda s: s.temporary_bytes, limits.temporary_bytes), "temporary space"
        )
        end(_above(sessions, lambda s: s.locks, limits.locks), "locks")
    return tuple(found.values())


def _above(
    sessions: Iterable[SessionUsage], amount: Callable[[SessionUsage], int], share: int
) -> Iterable[SessionUsage]:
    rest = sorted(sessions, key=amount, reverse=True)
    total = sum(map(amount, rest))
    for session in rest:
        if total <= share:
            return
        total -= amount(session)
        yield session


def shorten(log: Path, most: int) -> None:
    """Keep one older piece of a log that its writer appends to (O_APPEND): it goes on at the new end."""
    with suppress(FileNotFoundError):
        if log.stat().st_size > most:
            shutil.copyfile(log, log.with_name(log.name + ".1"))
            os.truncate(log, 0)


# An analyst who has used much processor time of late goes behind those who have not (setpriority(2)).


HALF_LIFE_SECONDS = 30.0
LAST = 19  # the least that there is: 1/22 of what a session has that begins, where both want it


class ProcessorShare:
    """
    Given    seconds of processor time that an analyst's sessions may use before they go last; what was used
             counts half after HALF_LIFE_SECONDS
    """

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self._used: dict[str, float] = {}
        self._at = time.monotonic()
        self._niceness: dict[int, int] = {}

    def share(self, sessions: Iterable[SessionUsage]) -> None:
        """To be called every second or so."""
        now = time.monotonic()
        decay = 0.5 ** ((now - self._at) / HALF_LIFE_SECONDS)
        self._at = now
        sessions = tuple(sessions)
        used = {name: seconds * decay for name, seconds in self._used.items() if seconds > 0.01}
        for session in sessions:
            used[session.analyst] = used.get(session.analyst, 0.0) + session.cpu_seconds
        self._used = used
        self._niceness = {s.process: self._niceness.get(s.process, 0) for s in sessions}
        for session in sessions:
            wanted = LAST if used[session.analyst] > self._seconds else LIMITS_FOR_ANALYSTS.nice
            if wanted != self._niceness[session.process] and _put(session.process, wanted):
                self._niceness[session.process] = wanted


def _put(process: int, niceness: int) -> bool:
    """Each backend is a group of its own where the system groups processes (sched(7), autogroup),
    which niceness says nothing about: the group has its own. False: to be tried again."""
    with suppress(OSError):  # gone, or forward again and not root
        os.setpriority(os.PRIO_PROCESS, process, niceness)
    group = Path(f"/proc/{process}/autogroup")
    try:
        group.write_text(str(niceness))
    except OSError as error:
        return error.errno != errno.EAGAIN  # ten in a second are taken, but root's
    return True


# Signals to processes of a server. A process may be gone by then, and its number another's.


def signal_session(process: int, server: int, number: int) -> bool:
    """Send a signal to a child of a server.

    Args:
        process: The child.
        server: The postmaster.
        number: Of the signal.

    Returns:
        Whether it was sent. It is not sent to a process that is no child of the server, as far as the system
        says whose child a process is.
    """
    parent = parent_of(process)
    if parent is not None and parent != server:
        return False
    try:
        os.kill(process, number)
    except ProcessLookupError:
        return False
    return True


def parent_of(process: int) -> int | None:
    """proc(5), stat; 0 where it is gone, None where the system does not say."""
    try:
        text = Path(f"/proc/{process}/stat").read_text()
    except OSError:
        return 0 if Path("/proc/self/stat").exists() else None
    return int(text.rpartition(")")[2].split()[1])


# Ends sessions of an analyst that keep others of a shadow's server waiting for a lock.
#
# Much of PostgreSQL locks first and asks for rights after: CREATE RULE, REFERENCES, ATTACH PARTITION, DROP
# DATABASE. Queued behind a transaction that has merely read, such a statement stops whoever comes after it:
# logins, statements of others, dpproxy's own. No rule for statements can know them all; who waits is plain.
#
# The watch itself asks for nothing that an analyst can lock: functions of a database that analysts cannot
# enter, no table of roles, and the end is a signal of the system (pg_terminate_backend reads the roles).

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
        ended = to_end_of_locks(added, roles, self._patience, self._offenders.keys())
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


def to_end_of_locks(
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
