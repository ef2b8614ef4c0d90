"""The protected database: runs statements that are charged, and nothing else of protected rows, in read-only
transactions."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Awaitable, Callable, Collection, Coroutine, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, AsyncExitStack
from dataclasses import replace
from decimal import Decimal
from functools import lru_cache
from types import TracebackType
from typing import Any, TypeVar

import psycopg
import structlog
from psycopg import sql

from proxy.base.errors import Code, Fault, Refusal
from proxy.base.limits import PROTECTED_SECONDS
from proxy.catalog.catalog_model import TableName
from proxy.compiler.backend_query import (
    BETWEEN_PARTS,
    FIRST_PART,
    BackendQuery,
    PublicList,
)
from proxy.compiler.compiling import CompiledQuery
from proxy.compiler.copy_view import FoundCopy, WantedCopy
from proxy.drawing.charges import PaidQuery
from proxy.drawing.protected_reads import ListValues
from proxy.exact.table import ExactRow, ExactTable
from proxy.postgres.failure_reason import reason_of
from proxy.protected.column_statistics import Cut, LookedUpEnds
from proxy.protected.found_copies import (
    NAMED,
    copy_name,
    copy_statement,
    found_copy,
    times_of_copies,
)
from proxy.protected.protected_connection import (
    ROWS_AT_ONCE,
    ProtectedConnection,
    exported_snapshot,
    takes_snapshot,
    together,
)
from proxy.protected.protected_connections import NotAvailable, ProtectedConnections
from proxy.turns.fair_share import Busy, FairShare
from proxy.turns.pool_use import PoolUse
from proxy.turns.threads import Turn

_REMEMBERED = 64
_REMEMBERED_CHARACTERS = 8_192
_PLANNED = 500  # texts that a connection is known to run
_PLACE = re.compile(r"%\((\w+)\)s|%%")

Numbered = tuple[bytes, tuple[str, ...]]


def numbered(sql: str) -> Numbered:
    """
    Gives    the text, and the names of its parameters in the order of their numbers

    >>> numbered("SELECT %(b)s, 5 %% 3, %(a)s, %(b)s")
    (b'SELECT $1, 5 % 3, $2, $1', ('b', 'a'))
    """
    return _remembered(sql) if len(sql) <= _REMEMBERED_CHARACTERS else _numbered(sql)


def _numbered(sql: str) -> Numbered:
    numbers: dict[str, int] = {}

    def put(found: re.Match[str]) -> str:
        name = found[1]
        return "%" if name is None else f"${numbers.setdefault(name, len(numbers) + 1)}"

    return _PLACE.sub(put, sql).encode(), tuple(numbers)


_remembered = lru_cache(maxsize=_REMEMBERED)(_numbered)


_LOG = structlog.get_logger()

# So many rows are read into an exact table in some 20 ms; more take a thread, so that other sessions go on.
SESSIONS_AT_ONCE = 8
_AT_ONCE = 20_000
_SESSION_SECONDS = 5.0  # for a place, a connection and its BEGIN together

_OFFSETS = (
    "SELECT extract(epoch FROM (at AT TIME ZONE %s::text) - (at AT TIME ZONE 'UTC'))::integer"
    " FROM pg_catalog.unnest(%s::bigint[]) WITH ORDINALITY AS given(seconds, number),"
    " LATERAL pg_catalog.to_timestamp(seconds) AS at ORDER BY number"
)

_LOOK = "dpproxy_look"
_CURSOR = b"dpproxy_parts"
_OPEN = b"DECLARE " + _CURSOR + b" NO SCROLL CURSOR FOR "
_TELL = b"SELECT pg_catalog.set_config($1::text, $2::text, true)"
_CHANGED = Refusal(
    Code.UNAVAILABLE,
    "a public table is not what the policy was checked against",
    "Nothing was charged. Ask the operator to check the policy and to start dpproxy again.",
)

IsSelected = Callable[[int], bool]
T = TypeVar("T")


class _CopyRenamed(Exception):
    """The name of a copy leads to another table than the one that is locked."""


def _not_available() -> Refusal:
    return Refusal(
        Code.UNAVAILABLE,
        "the database is not available",
        "Nothing was charged. Try again later.",
    )


def _impossible(tables: Collection[str]) -> Refusal:
    names = " and ".join(sorted(tables))
    return Refusal(
        Code.UNSUPPORTED,
        f"the protected database computes on several nodes, and cannot run this on {names}: "
        "rows that belong together are on different nodes",
        "Nothing was charged. Ask about one table, or ask the operator to run dpproxy doctor: it says how the "
        "tables are to be distributed.",
    )


class ProtectedDatabase:
    """Sessions on one protected database, shared fairly among analysts.

    Given    source: libpq connection string; sessions_each: the most that one analyst holds, half of all where
             nothing is said; timeout_ms: of one statement
    """

    def __init__(
        self,
        source: str,
        *,
        sessions_max: int = SESSIONS_AT_ONCE,
        sessions_each: int | None = None,
        timeout_ms: int = PROTECTED_SECONDS * 1000,
    ) -> None:
        self._sessions_max = sessions_max
        self._connections = ProtectedConnections(source, timeout_ms)
        self._places = FairShare(
            sessions_max, sessions_each or max(1, sessions_max // 2), last_for_new=True
        )

    async def open(self) -> None:
        """Refuses  Fault where the server cannot be reached"""
        try:
            await self._connections.open()
        except NotAvailable:
            raise Fault("the database is not available") from None

    async def close(self) -> None:
        await self._connections.close()

    async def is_ready(self) -> bool:
        return await self._connections.answers(2.0)

    @property
    def pool_use(self) -> PoolUse:
        return PoolUse(
            idle=self._connections.idle, used=self._places.used, limit=self._sessions_max
        )

    def renew(self, source: str) -> None:
        """The same server and role, by another secret."""
        self._connections.renew(source)

    @property
    def server_version(self) -> str | None:
        """PostgreSQL's, as the server last said it. None: it was never reached."""
        return self._connections.server_version

    @property
    def waits(self) -> int:
        """How often a session was waited for, since the start."""
        return self._places.waits

    def waiting(self, analyst: str) -> int:
        """How many statements of an analyst wait for a session."""
        return self._places.waiting(analyst)

    def session(self, turn: Turn) -> AbstractAsyncContextManager[DatabaseSession]:
        """A session whose BEGIN was answered: it is alive, and nothing has been read.

        Refuses  UNAVAILABLE within some 5 s, whatever the reason
        """
        return _SessionInPlace(self._connections, self._places, self, turn)


class _SessionInPlace(AbstractAsyncContextManager["DatabaseSession"]):
    """As ProtectedDatabase.session. A class: a generator takes three times as long to come and go."""

    __slots__ = ("_connections", "_database", "_places", "_session", "_turn", "_waits")

    def __init__(
        self,
        connections: ProtectedConnections,
        places: FairShare,
        database: ProtectedDatabase,
        turn: Turn,
        *,
        waits: bool = True,
    ) -> None:
        """waits: for a place; else one is free now or there is none"""
        self._connections = connections
        self._places = places
        self._database = database
        self._turn = turn
        self._waits = waits
        self._session: DatabaseSession | None = None

    async def __aenter__(self) -> DatabaseSession:
        loop = asyncio.get_running_loop()
        until = loop.time() + _SESSION_SECONDS
        if not self._waits:
            if not self._places.take_now(self._turn.analyst):
                raise _not_available()
        else:
            try:
                await self._places.take(self._turn.analyst, _SESSION_SECONDS)
            except Busy:
                _LOG.warning("no_protected_session_free")
                raise _not_available() from None
        try:
            connection = await self._connections.begun(until - loop.time())
        except BaseException as error:
            self._places.give_back(self._turn.analyst)
            if isinstance(error, NotAvailable):
                raise _not_available() from None
            raise
        self._session = DatabaseSession(
            self._database,
            self._connections,
            connection,
            self._turn,
            self._another if self._waits else None,
        )
        return self._session

    def _another(self) -> _SessionInPlace:
        return _SessionInPlace(
            self._connections, self._places, self._database, self._turn, waits=False
        )

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """The answer does not wait for its end; the place does, until the server has let go."""
        assert self._session is not None
        self._session.end().add_done_callback(lambda _: self._places.give_back(self._turn.analyst))


class DatabaseSession:
    """One transaction on the protected database.

    Given    turn: in which its long jobs run; another: one more session of the same analyst, if there is a
             place for it
    """

    def __init__(
        self,
        database: ProtectedDatabase,
        connections: ProtectedConnections,
        connection: ProtectedConnection,
        turn: Turn,
        another: Callable[[], _SessionInPlace] | None = None,
    ) -> None:
        self.database = database
        self._connections = connections
        self._connection = connection
        self._turn = turn
        self._another = another
        self._reading: asyncio.Task[Any] | None = None
        self._is_reading = False  # a compiled statement, or one has failed
        self._has_run = False
        self._copies_found: Mapping[str, int] = {}  # by their names, the tables that are locked
        self._ended: asyncio.Task[None] | None = None

    async def renew(self) -> None:
        """Another transaction, whose snapshot is taken by what is read next.

        Refuses  Fault
        """
        await self._fails_alike(self._connections.begun_anew(self._connection))

    async def run(
        self,
        paid: PaidQuery,
        values: Mapping[str, int | str | None],
        is_selected: IsSelected | None = None,
    ) -> ExactTable:
        """The exact results of one statement that is charged; with is_selected, only rows of a number of units
        that it selects.

        A connection that is lost before any reply has come is replaced once, for the first statement alone.
        Cancelled: returns at once, and the statement is cancelled on the server.

        Refuses  Fault, the same for whatever went wrong: an error's text or SQLSTATE could depend on rows
        """
        query = _charged(paid)
        parameters = await self._parameters(query, values)
        rows, ends = _FetchedRows(query, is_selected), await self._ends(query)
        await self._reads(rows.read, {**parameters, **ends})
        if ends and rows.is_empty:  # too few rows are at an end
            await self._reads(rows.read, parameters)
        await self._fails_alike(self._has_same_copies())
        return await self._fails_alike(rows.table(self._turn))

    async def _ends(self, query: BackendQuery) -> Mapping[str, object]:
        """The parameters by which a statement reads the ends of a column alone; none: it reads all rows."""
        if query.ends is None or self._connection.is_distributed:
            return {}
        ends = LookedUpEnds(query.ends)
        await self._reads(ends.read, {})
        return ends.found

    async def run_in_two_parts(
        self,
        paid: PaidQuery,
        values: Mapping[str, int | str | None],
        between: Callable[[ExactTable], Awaitable[str]],
    ) -> ExactTable:
        """The exact results of one statement of two parts that is charged (`backend_query.FIRST_PART`).

        A cursor computes the second part when it is wanted, from what it has gathered for the first. One
        more session reads half of the units at the same time, where that is possible (`halves`).

        Refuses  as run, and what between refuses
        """
        query = _charged(paid)
        parameters = await self._parameters(query, values)
        async with AsyncExitStack() as others:
            parts = [
                (session, given, _FetchedRows(query, None))
                for session, given in await self._halves(query, parameters, others)
            ]
            first = [session._first_part(rows, given) for session, given, rows in parts]
            text = await between(_of_all_units(await together(first)))
            second = [session._second_part(rows, text) for session, _, rows in parts]
            whole = _of_all_units(await together(second))
        await self._fails_alike(self._has_same_copies())
        return whole

    async def _halves(
        self, query: BackendQuery, parameters: Mapping[str, object], others: AsyncExitStack
    ) -> list[tuple[DatabaseSession, Mapping[str, object]]]:
        """Who reads which half of the units, or this session all of them."""
        whole = [(self, parameters)]
        if query.halved_by is None or self._another is None or self._connection.is_distributed:
            return whole  # nodes share no snapshot
        cut = Cut(query.halved_by)
        await self._reads(cut.read, {})
        if cut.at is None:
            return whole
        try:
            other = await others.enter_async_context(self._another())
        except Refusal:
            return whole
        snapshot = await self._fails_alike(exported_snapshot(self._connection))
        other._is_reading = True  # until it has seen the snapshot
        if not await takes_snapshot(other._connection, snapshot):
            return whole
        other._is_reading, other._has_run = False, True
        return list(zip((self, other), cut.halves(parameters), strict=True))

    async def _first_part(self, rows: _FetchedRows, parameters: Mapping[str, object]) -> ExactTable:
        await self._reads(rows.open, parameters)
        await self._fails_alike(rows.fetch_first(self._connection))
        return await self._fails_alike(rows.table(self._turn))

    async def _second_part(self, rows: _FetchedRows, text: str) -> ExactTable:
        await self._fails_alike(rows.fetch_others(self._connection, text))
        return await self._fails_alike(rows.table(self._turn))

    async def _parameters(
        self, query: BackendQuery, values: Mapping[str, int | str | None]
    ) -> Mapping[str, object]:
        parameters = {**query.parameters, **values}
        for wanted in query.lists:
            if wanted.name not in values:
                found = (await self.public_list(wanted)).text
                if (
                    found is None
                ):  # too long: the engine refuses that, and NULL would be another question
                    raise Fault
                parameters[wanted.name] = found
        return parameters

    async def _fails_alike(self, reading: Awaitable[T]) -> T:
        """Refuses  Fault, the same for whatever went wrong"""
        self._is_reading = True
        try:
            found = await reading
        except Exception as error:
            kind, reason = type(error).__name__, reason_of(error)
        else:
            self._is_reading = False
            return found
        # Here, where the error is no part of what is raised.
        _LOG.error("protected_statement_failed", kind=kind, reason=reason)
        raise Fault(is_logged=True)

    async def public_list(self, wanted: PublicList) -> ListValues:
        """The values of a column of a public table.

        Refuses  UNAVAILABLE, the same for whatever went wrong
        """
        if not isinstance(wanted, PublicList):
            raise Fault("a list that was not compiled")
        return await self._public_answer(self._listed(wanted), "public_list_failed")

    async def understand(self, queries: Sequence[CompiledQuery]) -> None:
        """Refuses  UNAVAILABLE: a table is not what they were made for, or whatever else went wrong"""
        if not all(isinstance(query, CompiledQuery) for query in queries):
            raise Fault("a statement that was not compiled")
        await self._public_answer(self._analysed(queries), "statement_not_understood")

    async def _analysed(self, queries: Sequence[CompiledQuery]) -> None:
        """PREPARE plans nothing and reads no row; it locks the tables as reading them will."""
        cursor = self._connection.cursor()
        for query in queries:
            prepared = f"PREPARE {_LOOK} AS {query.without_values()}; DEALLOCATE {_LOOK}"
            await cursor.execute(prepared.encode())

    async def refuse_impossible(self, queries: Sequence[CompiledQuery]) -> None:
        """Refuses  UNSUPPORTED: the nodes of the server cannot run one of them; UNAVAILABLE"""
        if not all(isinstance(query, CompiledQuery) for query in queries):
            raise Fault("a statement that was not compiled")
        if not self._connection.is_distributed:
            return
        for query in queries:
            if query.sql in self._connection.planned:
                continue
            reading = asyncio.ensure_future(self._planned(query))
            self._reading = reading
            await asyncio.wait({reading})
            error = reading.exception()
            if isinstance(error, Refusal | Fault):
                raise error
            if error is not None:
                kind, reason = type(error).__name__, reason_of(error)
                _LOG.error("statement_not_planned", kind=kind, reason=reason)
                if self._connection.broken:
                    raise _not_available() from None
                raise _impossible(query.of.tables) from None
            self._reading = None
            if len(self._connection.planned) >= _PLANNED:
                self._connection.planned.clear()
            self._connection.planned.add(query.sql)

    async def _planned(self, query: CompiledQuery) -> None:
        """EXPLAIN computes nothing, and tells its plan to nobody here. Seeds are numbers: NULL would let the
        server leave out whole joins."""
        drawn: dict[str, int | str | None] = dict.fromkeys(query.seeds, 1)
        drawn.update((name, None) for name, _ in query.scalars)  # answers of earlier blocks
        parameters = await self._parameters(query, drawn)
        text, names = numbered(query.sql)
        self._connection.send(b"EXPLAIN (COSTS OFF) " + text, [parameters[name] for name in names])
        while await self._connection.next_rows() is not None:
            pass

    async def _public_answer(self, question: Coroutine[Any, Any, T], failed: str) -> T:
        """What is read of no person, before the charge. Refuses  UNAVAILABLE"""
        reading = asyncio.ensure_future(question)
        self._reading = reading
        await asyncio.wait({reading})
        error = reading.exception()
        if error is None:
            self._reading = None
            return reading.result()
        _LOG.error(failed, kind=type(error).__name__, reason=reason_of(error))
        raise (
            _CHANGED if isinstance(error, psycopg.ProgrammingError) else _not_available()
        ) from None

    async def _listed(self, wanted: PublicList) -> ListValues:
        cursor = self._connection.cursor(binary=True)
        await cursor.execute(wanted.sql.encode(), dict(wanted.parameters))
        row = await cursor.fetchone()
        assert row is not None
        return ListValues(*row)

    async def zone_offsets(self, zone: str, instants: Sequence[int]) -> tuple[int, ...] | None:
        """How far the clock of a time zone is ahead of UTC then, in seconds; None: no such zone is known.

        Refuses  UNAVAILABLE, the same for whatever went wrong
        """
        return await self._public_answer(self._offsets(zone, instants), "time_zone_failed")

    async def _offsets(self, zone: str, instants: Sequence[int]) -> tuple[int, ...] | None:
        cursor = self._connection.cursor(binary=True)
        try:
            await cursor.execute(_OFFSETS, (zone, list(instants)))
        except psycopg.errors.InvalidParameterValue:
            return None
        return tuple(int(offset) for (offset,) in await cursor.fetchall())

    async def copies(self, wanted: Mapping[TableName, WantedCopy]) -> Mapping[TableName, FoundCopy]:
        """The prepared copies that this transaction can read. Refuses  UNAVAILABLE"""
        if self._connection.is_distributed:  # nodes share no snapshot
            return {}
        # Another connection would have another snapshot.
        self._has_run = True
        return await self._public_answer(self._copies(wanted), "copies_not_found")

    async def _copies(
        self, wanted: Mapping[TableName, WantedCopy]
    ) -> Mapping[TableName, FoundCopy]:
        """LOCK takes no snapshot. So what it locks is what the snapshot sees: an owner who replaces a copy has
        it after this transaction, or had it before."""
        cursor, found, locked = self._connection.cursor(), {}, {}
        # The table of their times, too: who waits for it with a lock on a copy can be in the way of its owner.
        names = {name for one in wanted.values() for name in (one.table, times_of_copies(one))}
        tables = sql.SQL(", ").join(sql.Identifier(*name) for name in sorted(names))
        try:
            await cursor.execute(
                sql.SQL("LOCK TABLE {} IN ACCESS SHARE MODE NOWAIT").format(tables)
            )
            for table, one in wanted.items():
                await cursor.execute(*copy_statement(table, one))
                for row in await cursor.fetchall():
                    copy = found_copy(row)
                    if copy.locked is not None:
                        found[table], locked[copy_name(one)] = copy, copy.locked
        except psycopg.Error:
            if self._connection.broken:
                raise
            await self._connections.begun_anew(self._connection)
            return {}
        self._copies_found = locked
        return found

    async def _has_same_copies(self) -> None:
        """Look up the names of copies again: they were read by name, and a schema can be renamed meanwhile.

        Refuses  _CopyRenamed
        """
        for name, locked in self._copies_found.items():
            cursor = self._connection.cursor()
            await cursor.execute(NAMED, (name,))
            if await cursor.fetchone() != (locked,):
                raise _CopyRenamed

    def end(self) -> asyncio.Task[None]:
        if self._ended is None:
            self._ended = self._connections.end(
                self._connection, self._reading, is_reading=self._is_reading
            )
        return self._ended

    async def _reads(
        self,
        read: Callable[[ProtectedConnection, Mapping[str, object]], Awaitable[None]],
        parameters: Mapping[str, object],
    ) -> None:
        """What is sent first, once more where the connection was lost before."""
        may_try_again, self._has_run = not self._has_run, True
        await self._fails_alike(self._tried(read, parameters, may_try_again))

    async def _tried(
        self,
        read: Callable[[ProtectedConnection, Mapping[str, object]], Awaitable[None]],
        parameters: Mapping[str, object],
        may_try_again: bool,
    ) -> None:
        self._connection.replied = False
        try:
            await read(self._connection, parameters)
        except psycopg.Error as error:
            if not may_try_again or self._connection.replied or not self._connection.broken:
                raise
            _LOG.warning(
                "protected_connection_lost", kind=type(error).__name__, reason=reason_of(error)
            )
            self._connections.drop(self._connection)
            self._connection = await self._connections.begun(_SESSION_SECONDS)
            await read(self._connection, parameters)


def _of_all_units(halves: Sequence[ExactTable]) -> ExactTable:
    """The rows of both halves, one after the other."""
    rows = tuple(row for half in halves for row in half.rows)
    return replace(halves[0], rows=rows)


def _charged(paid: PaidQuery) -> CompiledQuery:
    """What may be run: a text that was not charged is none, whoever asks for it."""
    if not isinstance(paid, PaidQuery):
        raise Fault("a statement that was not charged")
    return paid.query


class _FetchedRows:
    """The rows of one statement, as they come in."""

    def __init__(self, query: BackendQuery, is_selected: IsSelected | None) -> None:
        self._query = query
        self._is_selected = is_selected
        self._came: list[tuple[Any, ...]] = []
        self._selected: list[ExactRow] = []

    async def read(self, connection: ProtectedConnection, parameters: Mapping[str, object]) -> None:
        """Refuses  psycopg.Error"""
        text, names = numbered(self._query.sql)
        connection.send(text, [parameters[name] for name in names])
        await self._take_all(connection)

    @property
    def is_empty(self) -> bool:
        """Whether no row has come."""
        return not (self._came or self._selected)

    async def open(self, connection: ProtectedConnection, parameters: Mapping[str, object]) -> None:
        """A cursor on a statement of two parts: nothing is read yet.

        Refuses  psycopg.Error
        """
        text, names = numbered(self._query.sql)
        connection.send(_OPEN + text, [parameters[name] for name in names])
        await connection.done()

    async def fetch_first(self, connection: ProtectedConnection) -> None:
        """The rows of the first part, and no more of the statement.

        Refuses  psycopg.Error
        """
        connection.send(b"FETCH 1 FROM " + _CURSOR, ())
        await self._take_all(connection)
        ((place, _, number, *_),) = (row[self._query.keys :] for row in self._came)
        if place != FIRST_PART:
            raise psycopg.InternalError
        self._came.clear()
        if number:  # FETCH 0 gives the row before once more
            connection.send(b"FETCH %d FROM %b" % (int(number), _CURSOR), ())
            await self._take_all(connection)

    async def fetch_others(self, connection: ProtectedConnection, text: str) -> None:
        """The rows of the second part, which is told the text.

        Refuses  psycopg.Error
        """
        connection.send(_TELL, [BETWEEN_PARTS, text])
        while await connection.next_rows() is not None:
            pass
        connection.send(b"FETCH ALL FROM " + _CURSOR, ())
        await self._take_all(connection)
        connection.send(b"CLOSE " + _CURSOR, ())
        await connection.done()

    async def _take_all(self, connection: ProtectedConnection) -> None:
        number = 0
        while (rows := await connection.next_rows()) is not None:
            self._take(rows)
            number += len(rows)
            if number % ROWS_AT_ONCE == 0:
                await asyncio.sleep(0)  # what has come already would not let others go on

    def _take(self, rows: list[tuple[Any, ...]]) -> None:
        is_selected = self._is_selected
        if is_selected is None:
            self._came += rows
            return
        exact = (_row(row, self._query) for row in rows)
        self._selected += (row for row in exact if is_selected(row.units))

    async def table(self, turn: Turn) -> ExactTable:
        query = self._query
        if self._is_selected is not None:
            return ExactTable(tuple(self._selected), query.slots, query.releases, selected=True)
        if len(self._came) <= _AT_ONCE:
            return _table(self._came, query)
        return await turn.in_thread(_table, self._came, query)


def _table(rows: list[tuple[Any, ...]], query: BackendQuery) -> ExactTable:
    exact = tuple([_row(row, query) for row in rows])
    return ExactTable(exact, query.slots, query.releases)


def _row(row: tuple[Any, ...], query: BackendQuery) -> ExactRow:
    keys, cell = row[: query.keys], 0
    values = row[query.keys :]
    if query.has_sub_partition:
        cell, values = int(values[0]), values[1:]
    if Decimal in map(type, values):  # a sum in numeric, which is a whole number all the same
        values = tuple(None if value is None else int(value) for value in values)
    units = 0 if query.units is None else values[query.units]
    return ExactRow(keys, cell, values, units)
