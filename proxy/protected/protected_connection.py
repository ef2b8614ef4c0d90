"""One connection to the protected server, read below psycopg's cursors.

A cursor takes four times as long for a statement of one row: it makes a generator for each step, and asks the
loop anew to watch the socket for each wait.
"""

from __future__ import annotations

import asyncio
import fcntl
import re
import termios
from collections.abc import Coroutine, Sequence
from contextlib import suppress
from functools import cached_property
from typing import Any, TypeVar

import psycopg
from psycopg import abc
from psycopg.adapt import PyFormat, Transformer
from psycopg.pq import ExecStatus, Format, TransactionStatus
from psycopg.pq.abc import PGresult

# libpq before 17 cannot take several rows at once.
ROWS_AT_ONCE = 1000 if psycopg.pq.version() >= 170_000 else 1
_ROWS = (ExecStatus.SINGLE_TUPLE, ExecStatus.TUPLES_CHUNK)
_WAIT_INTERVAL = 0.1  # psycopg's own
_NO_BYTES = bytes(4)
T = TypeVar("T")


class ProtectedConnection(psycopg.AsyncConnection[Any]):
    """replied: whether a byte has come since this was last set to False; is_distributed: whether other nodes
    compute for the server; planned: texts that they can run.

    The socket stays watched from one statement to the next, for as long as nothing comes that no statement
    waits for."""

    replied = False
    is_distributed = False
    _awaited: asyncio.Future[None] | None = None
    _watching: tuple[asyncio.AbstractEventLoop, int] | None = None

    async def command(self, text: bytes, seconds: float | None = None) -> None:
        """A statement without parameters or rows. No longer to be used where this was refused or cancelled.

        Refuses  psycopg.Error; TimeoutError: the server was silent for so long
        """
        self.pgconn.send_query(text)
        while (result := await self._next_result(seconds)) is not None:
            if result.status != ExecStatus.COMMAND_OK:
                raise psycopg.OperationalError

    def send(self, text: bytes, values: Sequence[object]) -> None:
        """A statement whose rows are wanted: for `next_rows`, until that gives None."""
        written = self._values.dump_sequence(values, [PyFormat.AUTO] * len(values))
        types, formats = self._values.types, self._values.formats
        self.pgconn.send_query_params(text, written, types, formats, Format.BINARY)
        if ROWS_AT_ONCE == 1:
            self.pgconn.set_single_row_mode()
        else:
            self.pgconn.set_chunked_rows_mode(ROWS_AT_ONCE)

    async def done(self) -> None:
        """A statement without rows that was sent by `send` has ended.

        Refuses  psycopg.Error
        """
        while (result := await self._next_result()) is not None:
            if result.status == ExecStatus.FATAL_ERROR:
                raise psycopg.errors.error_from_result(result)
            if result.status != ExecStatus.COMMAND_OK:
                raise psycopg.InternalError

    async def next_rows(self) -> list[tuple[Any, ...]] | None:
        """
        Gives    ROWS_AT_ONCE of them, those that are left, or None
        Refuses  psycopg.Error
        """
        while (result := await self._next_result()) is not None:
            if result.status in _ROWS:
                return self._rows_of(result)
            if result.status == ExecStatus.FATAL_ERROR:
                raise psycopg.errors.error_from_result(result)
            if result.status != ExecStatus.TUPLES_OK:
                raise psycopg.InternalError
        return None

    async def first_value(self, text: bytes) -> object:
        """Run a statement without parameters that gives one row of one value.

        Raises:
            psycopg.Error: The server refused it, or the connection is lost.
        """
        ((value,),) = await self.all_rows(text, ())
        return value

    async def all_rows(self, text: bytes, values: Sequence[object]) -> list[tuple[Any, ...]]:
        """Run a statement that gives few rows.

        Raises:
            psycopg.Error: The server refused it, or the connection is lost.
        """
        self.send(text, values)
        found: list[tuple[Any, ...]] = []
        while (rows := await self.next_rows()) is not None:
            found += rows
        return found

    async def interrupt(self) -> None:
        """The server is asked to end its statement, and waited for. The connection is of no use then.

        Refuses  psycopg.Error
        """
        if self.pgconn.transaction_status == TransactionStatus.ACTIVE:
            with suppress(psycopg.Error):
                await self.cancel_safe(timeout=5.0)
            while await self._next_result() is not None:
                pass

    async def wait(
        self, gen: abc.PQGen[T], interval: float = _WAIT_INTERVAL, timeout: float | None = None
    ) -> T:
        self._watch_no_more()  # psycopg watches the socket by itself
        return await super().wait(gen, interval, timeout)

    def finish(self) -> None:
        self._watch_no_more()
        self.pgconn.finish()

    @cached_property
    def planned(self) -> set[str]:
        return set()

    @cached_property
    def _values(self) -> abc.Transformer:
        """Of values to what the server takes, and back."""
        return Transformer(self)

    def _rows_of(self, result: PGresult) -> list[tuple[Any, ...]]:
        values = self._values
        values.set_pgresult(result)
        try:
            return values.load_rows(0, result.ntuples, tuple)
        finally:
            values.set_pgresult(None)  # else it would stay in memory

    async def _next_result(self, seconds: float | None = None) -> PGresult | None:
        """Of what was sent; None: it has ended.

        Refuses  psycopg.Error: the connection is lost; TimeoutError
        """
        pgconn = self.pgconn
        while pgconn.flush():
            await self._until_writable(seconds)
        while pgconn.is_busy():
            await self._arrival(seconds)
        return pgconn.get_result()

    async def _until_writable(self, seconds: float | None) -> None:
        """Or something has come, without which the server may take no more."""
        loop, descriptor = asyncio.get_running_loop(), self.pgconn.socket
        loop.add_writer(descriptor, self._writable)
        try:
            await self._arrival(seconds)
        finally:
            loop.remove_writer(descriptor)

    def _writable(self) -> None:
        if self._awaited is not None and not self._awaited.done():
            self._awaited.set_result(None)

    async def _arrival(self, seconds: float | None) -> None:
        loop = asyncio.get_running_loop()
        if self._watching is None:
            descriptor = self.pgconn.socket
            loop.add_reader(descriptor, self._readable)
            self._watching = loop, descriptor
        self._awaited = awaited = loop.create_future()
        timer = None if seconds is None else loop.call_later(seconds, _too_late, awaited)
        try:
            await awaited
        finally:
            self._awaited = None
            if timer is not None:
                timer.cancel()

    def _readable(self) -> None:
        awaited, watching = self._awaited, self._watching
        if awaited is None or awaited.done() or watching is None:
            self._watch_no_more()  # rows that are read later, or the server has gone
            return
        try:
            if not self.replied:
                self.replied = _has_bytes(watching[1])
            self.pgconn.consume_input()
            if not self.pgconn.is_busy():
                awaited.set_result(None)
        except Exception as error:
            self._watch_no_more()  # libpq may have closed it
            awaited.set_exception(error)

    def _watch_no_more(self) -> None:
        if self._watching is not None:
            loop, descriptor = self._watching
            self._watching = None
            loop.remove_reader(descriptor)


def _too_late(awaited: asyncio.Future[None]) -> None:
    if not awaited.done():
        awaited.set_exception(TimeoutError())


def _has_bytes(descriptor: int) -> bool:
    """Readable is also what has ended."""
    try:
        return fcntl.ioctl(descriptor, termios.FIONREAD, _NO_BYTES) != _NO_BYTES
    except OSError:
        return False


# Two sessions that read one statement at the same time, each of it the half of all units.
#
# PostgreSQL reads a cursor in one process. The second session sees the rows of the first one's snapshot.
# Where the planner's statistics say too little of units, or the server does not let a snapshot be shared, all
# units are read in one session.

_SHARE_SECONDS = 1.5
_EXPORT = b"SELECT pg_catalog.pg_export_snapshot()"
_SNAPSHOT = re.compile(r"[0-9A-F-]+")


async def exported_snapshot(connection: ProtectedConnection) -> str:
    """The name of the snapshot of a transaction, for another one.

    Refuses  psycopg.Error
    """
    ((name,),) = await connection.all_rows(_EXPORT, ())
    if _SNAPSHOT.fullmatch(name) is None:
        raise psycopg.InternalError
    return str(name)


async def takes_snapshot(connection: ProtectedConnection, name: str) -> bool:
    """Whether a transaction that has read nothing sees what another one does. Else it is of no use."""
    try:
        await connection.command(f"SET TRANSACTION SNAPSHOT '{name}'".encode(), _SHARE_SECONDS)
    except (psycopg.Error, TimeoutError):
        return False
    return True


async def together(work: Sequence[Coroutine[Any, Any, T]]) -> list[T]:
    """What each of them finds. All have ended then, and the others are cancelled where one has failed."""
    if len(work) == 1:
        return [await work[0]]
    tasks = [asyncio.ensure_future(one) for one in work]
    try:
        done, _ = await asyncio.wait(tasks, return_when=asyncio.FIRST_EXCEPTION)
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
    for task in done:
        task.result()
    return [task.result() for task in tasks]
