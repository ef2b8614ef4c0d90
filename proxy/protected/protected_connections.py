"""Connections to the protected server: each is handed out in a transaction whose BEGIN was answered.

So a connection that is dead, refused or too slow is found before anything is charged for the statement
that was to use it.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Coroutine
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, TypeVar

import psycopg
import structlog
from psycopg.conninfo import conninfo_to_dict, make_conninfo

from proxy.postgres.failure_reason import Reason, reason_of
from proxy.protected.protected_connection import ProtectedConnection
from proxy.protected.reading_settings import (
    BEFORE_17,
    IS_DISTRIBUTED,
    NODES_THAT_DIFFER,
    SESSION,
)

_LOG = structlog.get_logger()

# All statements of one answer see the same rows, where the server is one (PROOFS.md A6).
_BEGIN = b"BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"
_ROLLBACK = b"ROLLBACK"

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
T = TypeVar("T")


class NotAvailable(Exception):
    """No connection could be had. Nothing has been sent that reads data."""


def _not_available(what: str, error: BaseException | None) -> NotAvailable:
    """error: None or TimeoutError where nothing came in time"""
    kind, reason = "timeout", Reason.UNREACHABLE.value
    if error is not None and not isinstance(error, TimeoutError):
        kind, reason = type(error).__name__, reason_of(error)
    _LOG.error("protected_server_not_available", what=what, kind=kind, reason=reason)
    return NotAvailable()


async def _agree(connection: ProtectedConnection) -> None:
    """Make sure that the nodes of a distributed server compute as this session does.

    Raises:
        psycopg.Error: One does not, or does not say.
    """
    connection.is_distributed = True
    if await connection.first_value(NODES_THAT_DIFFER.encode()) != 0:
        _LOG.error(
            "nodes_have_other_settings", remedy="run dpproxy doctor: it names settings and nodes"
        )
        raise psycopg.OperationalError


async def _is_rolled_back(connection: ProtectedConnection) -> bool:
    if connection.closed:
        return False
    try:
        await connection.command(_ROLLBACK, _END_SECONDS)
    except (psycopg.Error, TimeoutError):
        return False
    return True


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
        self._network = network
        self.renew(source)
        self._configure = "; ".join((*SESSION, f"SET statement_timeout = {timeout_ms}")).encode()
        self._idle: list[_Idle] = []
        self._born: dict[ProtectedConnection, float] = {}
        self._ending: set[asyncio.Future[Any]] = set()
        self.server_version: str | None = None  # as the newest connection was told

    def renew(self, source: str) -> None:
        """By which connections are made from now on. Those that are there stay."""
        self._source = make_conninfo(source, **self._network)

    @property
    def idle(self) -> int:
        return len(self._idle)

    async def open(self) -> None:
        """Refuses  NotAvailable"""
        self._put_back(await self._connect(30.0))

    async def close(self) -> None:
        while self._ending:
            await asyncio.wait(self._ending)
        while self._idle:
            self._close(self._idle.pop().connection)

    async def answers(self, seconds: float) -> bool:
        """Whether the server takes a new connection now: those that are idle may be dead."""
        try:
            self._close(await self._connect(seconds))
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

    async def begun_anew(self, connection: ProtectedConnection) -> None:
        """A transaction after that which a connection is in.

        Refuses  psycopg.Error, TimeoutError
        """
        for command in (_ROLLBACK, _BEGIN):
            await connection.command(command, _BEGIN_SECONDS)

    def end(
        self,
        connection: ProtectedConnection,
        task: asyncio.Task[Any] | None,
        *,
        is_reading: bool = False,
    ) -> asyncio.Task[None]:
        """The transaction ends and the connection is kept for the next; where it is still being read, or of a
        task that still uses it, the server's statement is cancelled, and the connection closed."""
        return self._beside(self._end(connection, task, is_reading))

    def drop(self, connection: ProtectedConnection) -> None:
        """It is lost."""
        self._close(connection)

    async def _end(
        self, connection: ProtectedConnection, task: asyncio.Task[Any] | None, is_reading: bool
    ) -> None:
        await asyncio.sleep(0)  # an answer that is ready goes out before
        if task is not None and not task.done():
            task.cancel()  # psycopg then sends a CancelRequest and waits for its effect
            await asyncio.wait({task}, timeout=_END_SECONDS)
        elif is_reading:
            with suppress(psycopg.Error, asyncio.TimeoutError):
                await asyncio.wait_for(connection.interrupt(), _END_SECONDS)
        elif task is None and await _is_rolled_back(connection):
            self._put_back(connection)
            return
        self._close(connection)

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
        failed: NotAvailable | None = None
        try:
            await connection.command(_BEGIN, max(seconds, 0.0))
        except (psycopg.Error, TimeoutError) as error:
            failed = _not_available("begin", error)
        except BaseException:
            self.drop(connection)
            raise
        if failed is not None:
            self.drop(connection)
            raise failed
        return connection

    async def _connect(self, seconds: float) -> ProtectedConnection:
        connection = await self._in_time(self._connected(), seconds, "connect")
        self._born[connection] = asyncio.get_running_loop().time()
        said = connection.info.parameter_status("server_version")
        self.server_version = None if said is None else said.split(" ")[0]
        return connection

    async def _connected(self) -> ProtectedConnection:
        connection = await ProtectedConnection.connect(
            self._source, autocommit=True, client_encoding="utf8"
        )
        try:
            await connection.command(self._configure)
            if connection.info.server_version < 170_000:
                await connection.command(BEFORE_17.encode())
            if await connection.first_value(IS_DISTRIBUTED.encode()):
                await _agree(connection)
        except BaseException:
            connection.finish()
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
        raise _not_available(what, task.exception() if task.done() else None)

    def _abandon(self, task: asyncio.Future[Any]) -> None:
        """It may have ended meanwhile, with a connection that nobody waits for any more."""
        task.cancel()
        self._ending.add(task)
        task.add_done_callback(self._forget)

    def _close(self, connection: ProtectedConnection) -> None:
        self._born.pop(connection, None)
        connection.finish()

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
            task.result().finish()
        if error is not None and not isinstance(error, psycopg.Error):
            _LOG.error("protected_connection_not_ended", kind=type(error).__name__)
