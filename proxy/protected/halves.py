"""Two sessions that read one statement at the same time, each of it the half of all units.

PostgreSQL reads a cursor in one process. The second session sees the rows of the first one's snapshot. Where
the planner's statistics say too little of units, or the server does not let a snapshot be shared, all units are
read in one session.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Coroutine, Mapping, Sequence
from typing import Any, TypeVar

import psycopg

from proxy.compiler.backend_query import BELOW, CUT, FROM_CUT_ON, HALF, UnitPlace
from proxy.protected.protected_connection import ProtectedConnection

LEAST_ROWS = 100_000  # of fewer the second session takes as long as it saves
_SHARE_SECONDS = 1.5
# What the planner takes for the middle of the units of all rows. It is one person's: it goes to the statements
# of the halves, and nowhere else.
_CUT = """
SELECT bounds[(pg_catalog.cardinality(bounds) + 1) / 2]
FROM pg_catalog.pg_class c
JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
JOIN pg_catalog.pg_stats s ON s.schemaname = n.nspname AND s.tablename = c.relname
CROSS JOIN LATERAL (SELECT s.histogram_bounds::text::text[]) h(bounds)
WHERE n.nspname = $1::text AND c.relname = $2::text AND s.attname = $3::text AND c.reltuples >= $4::integer
  AND bounds IS NOT NULL
  AND pg_catalog.current_setting('max_parallel_workers_per_gather')::integer > 0
  AND pg_catalog.has_function_privilege(
    pg_catalog.to_regprocedure('pg_catalog.pg_export_snapshot()'), 'EXECUTE')
ORDER BY s.inherited DESC LIMIT 1"""
_EXPORT = b"SELECT pg_catalog.pg_export_snapshot()"
_SNAPSHOT = re.compile(r"[0-9A-F-]+")

Parameters = Mapping[str, object]
T = TypeVar("T")


class Cut:
    """Where the units of a statement are cut in halves.

    Attributes:
        at: The least unit of the second half, as text; None: they are not cut.
    """

    __slots__ = ("_place", "at")

    def __init__(self, place: UnitPlace) -> None:
        self._place = place
        self.at: str | None = None

    def __repr__(self) -> str:
        return "Cut(hidden)"

    async def read(self, connection: ProtectedConnection, _: Parameters) -> None:
        """Refuses  psycopg.Error"""
        place, self.at = self._place, None
        given = (place.schema, place.table, place.column, str(LEAST_ROWS))
        for (at,) in await _rows(connection, _CUT.encode(), given):
            self.at = at

    def halves(self, parameters: Parameters) -> tuple[Parameters, Parameters]:
        """The parameters of each half."""
        below, others = (
            {**parameters, HALF: str(half), CUT: self.at} for half in (BELOW, FROM_CUT_ON)
        )
        return below, others


async def exported_snapshot(connection: ProtectedConnection) -> str:
    """The name of the snapshot of a transaction, for another one.

    Refuses  psycopg.Error
    """
    ((name,),) = await _rows(connection, _EXPORT, ())
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


async def _rows(
    connection: ProtectedConnection, text: bytes, values: Sequence[object]
) -> list[tuple[Any, ...]]:
    connection.send(text, values)
    found: list[tuple[Any, ...]] = []
    while (rows := await connection.next_rows()) is not None:
        found += rows
    return found
