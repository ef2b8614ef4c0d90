"""The product's tables of a ledger over one connection, whose statements wait for nothing but the server."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Coroutine, Sequence
from contextlib import AbstractContextManager, asynccontextmanager
from typing import Any, TypeVar, cast

import psycopg
from psycopg.abc import PQGen

from proxy.ledger.ledger_tables import LedgerTables
from tests.ledger_key import LEDGER_CIPHER

T = TypeVar("T")
SOURCE = 1


class AwaitedRows:
    def __init__(self, rows: psycopg.Cursor[Any]) -> None:
        self._rows = rows

    async def execute(self, statement: bytes, parameters: Any = None) -> AwaitedRows:
        self._rows.execute(statement, parameters)
        return self

    async def fetchone(self) -> Any:
        return self._rows.fetchone()

    async def fetchall(self) -> Any:
        return self._rows.fetchall()


class AwaitedConnection:
    """Each await ends at once. prepared: of the connection itself, as of prepared_calls.LedgerConnection."""

    def __init__(self, connection: psycopg.Connection[Any]) -> None:
        self._connection = connection
        self.connection = connection
        self.adapters = connection.adapters
        self.pgconn = connection.pgconn
        self.prepared = vars(connection).setdefault("prepared", {})

    async def wait(self, waiting: PQGen[T]) -> T:
        return self._connection.wait(waiting)

    def cursor(self, **given: Any) -> AwaitedRows:
        return AwaitedRows(self._connection.cursor(**given))

    async def execute(self, statement: Any, parameters: Any = None) -> AwaitedRows:
        return await self.cursor().execute(statement, parameters)


class PoolOfOne:
    """is_awaited: the others get their turn before a connection is there. guard: around each transaction, where
    what fails must not end more; ended: after each."""

    def __init__(self, session: psycopg.Connection[Any]) -> None:
        self.session = session
        self.is_awaited = False
        self.guard: Callable[[], AbstractContextManager[Any]] | None = None
        self.ended: Callable[[], None] = _nothing

    @asynccontextmanager
    async def connection(self) -> AsyncIterator[AwaitedConnection]:
        if self.is_awaited:
            await asyncio.sleep(0)
        if self.guard is None:
            yield AwaitedConnection(self.session)
        else:
            try:
                with self.guard():
                    yield AwaitedConnection(self.session)
            except psycopg.Error:
                self.ended()
                raise
        self.ended()


def _nothing() -> None:
    """Commits are commits."""


class TablesOfOne(LedgerTables):
    """Of one process, with a loop of its own."""

    def __init__(self, session: psycopg.Connection[Any]) -> None:
        super().__init__("", SOURCE, LEDGER_CIPHER)
        self.pool = PoolOfOne(session)
        self._pool = cast(Any, self.pool)
        self.loop = asyncio.new_event_loop()

    @property
    def session(self) -> psycopg.Connection[Any]:
        return self.pool.session

    @session.setter
    def session(self, session: psycopg.Connection[Any]) -> None:
        self.pool.session = session

    def together(self, works: Sequence[tuple[Coroutine[Any, Any, T], bool]]) -> list[T | None]:
        """
        Given    what is begun in one turn of the loop, so that the first of those that charge goes alone, and
                 the others then go together; whether each is cancelled before it is sent
        Gives    what each gives, in their order; None where it was cancelled
        """
        self.pool.is_awaited = True
        try:
            return self.loop.run_until_complete(_together(works))
        finally:
            self.pool.is_awaited = False


async def _together(works: Sequence[tuple[Coroutine[Any, Any, T], bool]]) -> list[T | None]:
    tasks = [asyncio.create_task(work) for work, _ in works]
    await asyncio.sleep(0)  # each has come to where it waits, and nothing was sent
    for task, (_, is_withdrawn) in zip(tasks, works, strict=True):
        if is_withdrawn:
            task.cancel()
    found: list[T | None] = []
    for given in await asyncio.gather(*tasks, return_exceptions=True):
        if isinstance(given, BaseException) and not isinstance(given, asyncio.CancelledError):
            raise given
        found.append(None if isinstance(given, BaseException) else given)
    return found


def at_once(work: Coroutine[Any, Any, T]) -> T:
    """Of what waits for no other."""
    try:
        work.send(None)
    except StopIteration as ended:
        return cast(T, ended.value)
    raise AssertionError("it waits")
