"""Connections to the protected server: each is handed out in a transaction whose BEGIN was answered.

So a connection that is dead, refused or too slow is found before anything is charged for the statement
that was to use it.
"""

from __future__ import annotations

import asyncio
import fcntl
import termios
from collections.abc import Awaitable, Coroutine
from dataclasses import dataclass
from typing import Any, TypeVar

import psycopg
import structlog
from psycopg import generators
from psycopg.abc import PQGen
from psycopg.conninfo import conninfo_to_dict, make_conninfo
from psycopg.pq import ExecStatus
from psycopg.waiting import Ready

from proxy.postgres.failure_reason import Reason, reason_of

_LOG = structlog.get_logger()

# Read-only is the second wall: only compiled statements come here. UTC and ISO fix what text constants and
# timestamps mean; search_path is empty so that no function can be shadowed (docs/design/sql.md 4).
_SESSION = (
    "SET default_transaction_read_only = on",
    "SET search_path = ''",
    "SET TimeZone = 'UTC'",
    "SET DateStyle = 'ISO, YMD'",
    "SET standard_conforming_strings = on",
    "SET jit = off",  # docs/design/backends.md 6
    "SET random_page_cost = 1.1",  # or the covering index is not used
    "SET work_mem = '64MB'",
    "SET parallel_tuple_cost = 0.005",  # or grouping by unit and key is left to one process
    # The leader only gathers: with as many workers as cores, one hash table less in the caches (tests/bench).
    "SET parallel_leader_participation = off",
    # A plan for any values would look parameters up in each row.
    "SET plan_cache_mode = force_custom_plan",
    "SET extra_float_digits = 1",  # floats of public lists are handed over as text, to the last bit
    # What a hash table may use is ours to say, whatever the server's default is. With 1 grouping two million
    # rows by unit writes ten times as much to temporary files.
    "SET hash_mem_multiplier = 2",
    "SET application_name = 'dpproxy'",
    "SET idle_in_transaction_session_timeout = '5min'",  # of a proxy that hangs: its locks end
)
# All statements of one answer see the same rows.
_BEGIN = b"BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"

# What the operator's connection string says stands above these. A peer that has vanished is noticed in
# 25 s, and in 15 s where something was sent to it.
_NETWORK = {
    "keepalives": "1",
    "keepalives_idle": "10",
    "keepalives_interval": "5",
    "keepalives_count": "3",
    "tcp_user_timeout": "15000",
}
_BEGIN_SECONDS = 1.5  # on an idle connection; a firewall that drops it says nothing at all
_END_SECONDS = 10.0
_AGE_SECONDS = 3600.0
_IDLE_SECONDS = 600.0
_WAIT_INTERVAL = 0.1  # psycopg's own
T = TypeVar("T")


class ProtectedConnection(psycopg.AsyncConnection[Any]):
    """replied: whether a byte has come since this was last set to False."""

    replied = False

    async def wait(
        self, gen: PQGen[T], interval: float = _WAIT_INTERVAL, timeout: float | None = None
    ) -> T:
        return await super().wait(self._watched(gen), interval, timeout)

    def _watched(self, gen: PQGen[T]) -> PQGen[T]:
        try:
            wants = next(gen)
            while True:
                ready = yield wants
                # None where psycopg goes on with what it had interrupted to cancel it.
                if not self.replied and ready and ready & Ready.R:
                    self.replied = _has_bytes(self.pgconn.socket)
                wants = gen.send(ready)
        except StopIteration as end:
            value: T = end.value
            return value


async def _run(connection: ProtectedConnection, text: bytes) -> None:
    """A statement without parameters or rows; below psycopg's cursors, which take five times as long.

    Refuses  psycopg.Error
    """
    connection.pgconn.send_query(text)
    for result in await connection.wait(generators.execute(connection.pgconn)):
        if result.status != ExecStatus.COMMAND_OK:
            raise psycopg.OperationalError


def _has_bytes(descriptor: int) -> bool:
    """Readable is also what has ended."""
    try:
        waiting = fcntl.ioctl(descriptor, termios.FIONREAD, bytes(4))
    except OSError:
        return False
    return any(waiting)


class NotAvailable(Exception):
    """No connection could be had. Nothing has been sent that reads data."""


@dataclass(frozen=True, slots=True)
class _Idle:
    connection: ProtectedConnection
    since: float


class ProtectedConnections:
    """
    Given    source: libpq connection string; timeout_ms: of one statement on the server
    """

    def __init__(self, source: str, timeout_ms: int) -> None:
        given = conninfo_to_dict(source)
        network = {name: value for name, value in _NETWORK.items() if name not in given}
        self._source = make_conninfo(source, **network)
        self._configure = "; ".join((*_SESSION, f"SET statement_timeout = {timeout_ms}")).encode()
        self._idle: list[_Idle] = []
        self._born: dict[ProtectedConnection, float] = {}
        self._ending: set[asyncio.Future[Any]] = set()

    async def open(self) -> None:
        """Refuses  NotAvailable"""
        self._put_back(await self._connect(30.0))

    async def close(self) -> None:
        while self._ending:
            await asyncio.wait(self._ending)
        while self._idle:
            await self._close(self._idle.pop().connection)

    async def answers(self, seconds: float) -> bool:
        """Whether the server takes a new connection now: those that are idle may be dead."""
        try:
            await self._close(await self._connect(seconds))
        except NotAvailable:
            return False
        return True

    async def begun(self, seconds: float) -> ProtectedConnection:
        """
        Gives    a connection in a transaction of its own, read-only and of one snapshot
        Refuses  NotAvailable
        """
        loop = asyncio.get_running_loop()
        until = loop.time() + seconds
        connection = self._take(loop.time())
        if connection is not None:
            try:
                return await self._begin(connection, min(seconds, _BEGIN_SECONDS))
            except NotAvailable:
                self._drop_idle()  # those left have been idle for longer
        return await self._begin(await self._connect(until - loop.time()), until - loop.time())

    def end(
        self, connection: ProtectedConnection, task: asyncio.Task[Any] | None
    ) -> asyncio.Task[None]:
        """The transaction ends and the connection is kept for the next; of a task that still uses it, the
        server's statement is cancelled, and the connection closed."""
        return self._beside(self._end(connection, task))

    def drop(self, connection: ProtectedConnection) -> None:
        """It is lost."""
        self._beside(self._close(connection))

    async def _end(self, connection: ProtectedConnection, task: asyncio.Task[Any] | None) -> None:
        if task is not None and not task.done():
            task.cancel()  # psycopg then sends a CancelRequest and waits for its effect
            await asyncio.wait({task}, timeout=_END_SECONDS)
        elif task is None and not connection.closed:
            rollback = asyncio.ensure_future(_run(connection, b"ROLLBACK"))
            await asyncio.wait({rollback}, timeout=_END_SECONDS)
            if rollback.done() and rollback.exception() is None:
                self._put_back(connection)
                return
            rollback.cancel()
        await self._close(connection)

    def _put_back(self, connection: ProtectedConnection) -> None:
        now = asyncio.get_running_loop().time()
        if now - self._born[connection] > _AGE_SECONDS:
            self.drop(connection)
        else:
            self._idle.append(_Idle(connection, now))

    def _take(self, now: float) -> ProtectedConnection | None:
        """The one that was used last."""
        while self._idle:
            idle = self._idle.pop()
            if now - idle.since < _IDLE_SECONDS and not idle.connection.closed:
                return idle.connection
            self.drop(idle.connection)
        return None

    def _drop_idle(self) -> None:
        while self._idle:
            self.drop(self._idle.pop().connection)

    async def _begin(self, connection: ProtectedConnection, seconds: float) -> ProtectedConnection:
        try:
            await self._in_time(_run(connection, _BEGIN), seconds, "begin")
        except BaseException:
            self.drop(connection)
            raise
        return connection

    async def _connect(self, seconds: float) -> ProtectedConnection:
        connection = await self._in_time(self._connected(), seconds, "connect")
        self._born[connection] = asyncio.get_running_loop().time()
        return connection

    async def _connected(self) -> ProtectedConnection:
        connection = await ProtectedConnection.connect(
            self._source, autocommit=True, client_encoding="utf8"
        )
        try:
            await _run(connection, self._configure)
        except BaseException:
            connection.pgconn.finish()
            raise
        return connection

    async def _in_time(self, work: Awaitable[T], seconds: float, what: str) -> T:
        """Not wait_for: that waits for the end of what it cancels, which a silent peer never answers."""
        task = asyncio.ensure_future(work)
        try:
            await asyncio.wait({task}, timeout=max(seconds, 0.0))
        except asyncio.CancelledError:
            self._abandon(task)
            raise
        if not task.done():
            self._abandon(task)
        if task.done():
            error = task.exception()
            if error is None:
                return task.result()
            if not isinstance(error, psycopg.Error):
                raise error
        error = task.exception() if task.done() else None
        kind = "timeout" if error is None else type(error).__name__
        reason = Reason.UNREACHABLE.value if error is None else reason_of(error)
        _LOG.error("protected_server_not_available", what=what, kind=kind, reason=reason)
        raise NotAvailable

    def _abandon(self, task: asyncio.Future[Any]) -> None:
        """It may have ended meanwhile, with a connection that nobody waits for any more."""
        task.cancel()
        self._ending.add(task)
        task.add_done_callback(self._forget)

    async def _close(self, connection: ProtectedConnection) -> None:
        self._born.pop(connection, None)
        connection.pgconn.finish()

    def _beside(self, work: Coroutine[Any, Any, None]) -> asyncio.Task[None]:
        task = asyncio.get_running_loop().create_task(work)
        self._ending.add(task)
        task.add_done_callback(self._forget)
        return task

    def _forget(self, task: asyncio.Future[Any]) -> None:
        self._ending.discard(task)
        if task.cancelled():
            return
        error = task.exception()
        if error is None and isinstance(task.result(), ProtectedConnection):
            task.result().pgconn.finish()
        if error is not None and not isinstance(error, psycopg.Error):
            _LOG.error("protected_connection_not_ended", kind=type(error).__name__)
