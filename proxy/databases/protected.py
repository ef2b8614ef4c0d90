"""The protected database: runs compiled statements, and nothing else, in read-only sessions."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from decimal import Decimal
from typing import Any

import psycopg
import structlog
from psycopg_pool import AsyncConnectionPool, PoolTimeout

from proxy.base.errors import Fault
from proxy.compiler.backend_query import BackendQuery
from proxy.exact.table import ExactRow, ExactTable

_LOG = structlog.get_logger()

# Read-only is the second wall: only compiled statements come here. UTC and ISO fix what text constants and
# timestamps mean; search_path is empty so that no function can be shadowed (design/SQL.md 4).
_SESSION = (
    "SET default_transaction_read_only = on",
    "SET search_path = ''",
    "SET TimeZone = 'UTC'",
    "SET DateStyle = 'ISO, YMD'",
    "SET standard_conforming_strings = on",
    "SET jit = off",  # ENGINES B: no gain, less even latency
    "SET random_page_cost = 1.1",  # or the covering index is not used
    "SET work_mem = '64MB'",
    "SET parallel_tuple_cost = 0.005",  # or grouping by unit and key is left to one process
    # The leader only gathers: with as many workers as cores, one hash table less in the caches (tests/bench).
    "SET parallel_leader_participation = off",
    # psycopg prepares what it runs often; a plan for any values would look parameters up in each row.
    "SET plan_cache_mode = force_custom_plan",
    "SET application_name = 'dpproxy'",
)

# So many rows are read into an exact table in some 20 ms; more take a thread, so that other sessions go on.
_AT_ONCE = 20_000
# libpq before 17 cannot take several rows at once.
_ROWS_AT_ONCE = 1000 if psycopg.pq.version() >= 170_000 else 1


class ProtectedDatabase:
    """A pool of sessions on one protected database.

    Given    source: libpq connection string; timeout_ms: of one statement
    """

    def __init__(self, source: str, *, sessions_max: int = 8, timeout_ms: int = 120_000) -> None:
        self._timeout_ms = timeout_ms
        self._pool = AsyncConnectionPool(
            source,
            min_size=1,
            max_size=sessions_max,
            open=False,
            configure=self._configure,
            kwargs={"autocommit": True, "client_encoding": "utf8"},
            timeout=30.0,
        )

    async def open(self) -> None:
        await self._pool.open(wait=True, timeout=30.0)

    async def close(self) -> None:
        await self._pool.close()

    async def is_ready(self) -> bool:
        try:
            async with self._pool.connection(timeout=2.0) as connection:
                await connection.execute("SELECT 1")
        except (psycopg.Error, PoolTimeout):
            return False
        return True

    async def run(
        self,
        query: BackendQuery,
        values: Mapping[str, int | str],
        keep: Callable[[int], bool] | None = None,
    ) -> ExactTable:
        """The exact results of one compiled statement; with keep, only rows of a number of units that it keeps.

        Refuses  Fault, the same for whatever went wrong: an error's text or SQLSTATE could depend on rows
        """
        try:
            async with self._pool.connection() as connection:
                cursor = connection.cursor(binary=True)
                parameters = {**query.parameters, **values}
                if keep is not None:
                    return await _kept(cursor, query, parameters, keep)
                await cursor.execute(query.sql.encode(), parameters)
                rows = await cursor.fetchall()
        except (psycopg.Error, PoolTimeout) as error:
            _LOG.error("protected_statement_failed", kind=type(error).__name__)
            raise Fault from None
        if len(rows) <= _AT_ONCE:
            return _table(rows, query)
        return await asyncio.to_thread(_table, rows, query)

    async def _configure(self, connection: psycopg.AsyncConnection[Any]) -> None:
        for statement in (*_SESSION, f"SET statement_timeout = {self._timeout_ms}"):
            await connection.execute(statement.encode())


async def _kept(
    cursor: psycopg.AsyncCursor[Any],
    query: BackendQuery,
    parameters: Mapping[str, object],
    keep: Callable[[int], bool],
) -> ExactTable:
    rows = []
    async for row in cursor.stream(query.sql.encode(), parameters, size=_ROWS_AT_ONCE):
        exact = _row(row, query)
        if keep(exact.units):
            rows.append(exact)
    return ExactTable(tuple(rows), query.slots, query.releases, selected=True)


def _table(rows: list[tuple[Any, ...]], query: BackendQuery) -> ExactTable:
    exact = tuple([_row(row, query) for row in rows])
    return ExactTable(exact, query.slots, query.releases)


def _row(row: tuple[Any, ...], query: BackendQuery) -> ExactRow:
    keys, cell = row[: query.keys], 0
    values = row[query.keys :]
    if query.has_cell:
        cell, values = int(values[0]), values[1:]
    if Decimal in map(type, values):  # a sum in numeric, which is a whole number all the same
        values = tuple(None if value is None else int(value) for value in values)
    units = 0 if query.units is None else values[query.units]
    return ExactRow(keys, cell, values, units)
