"""What the server's planner knows of a column: its middle, and its ends.

They decide which rows a statement reads first, or in which session, as these statistics decide which plan the
server runs. No exact value hangs on them. They are values of single rows: they are read under a charge, go to
the statement for which they were read, and nowhere else.
"""

from __future__ import annotations

from collections.abc import Mapping

from proxy.compiler.backend_query import (
    BELOW,
    CUT,
    END_ROWS,
    FROM_CUT_ON,
    HALF,
    HIGH_END,
    LOW_END,
    ColumnEnds,
    StoredColumn,
)
from proxy.protected.protected_connection import ProtectedConnection

Parameters = Mapping[str, object]

LEAST_ROWS = 100_000  # of fewer a second session, or a look at the ends, takes as long as it saves
_SHARE = 4  # one of so many rows that the planner counts at an end has to be there: statistics age
_KNOWN = """
FROM pg_catalog.pg_class c
JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
JOIN pg_catalog.pg_stats s ON s.schemaname = n.nspname AND s.tablename = c.relname
CROSS JOIN LATERAL (SELECT s.histogram_bounds::text::text[]) h(bounds)
CROSS JOIN LATERAL (
  SELECT coalesce(pg_catalog.sum(f), 0) FROM pg_catalog.unnest(s.most_common_freqs) f) m(common)
WHERE n.nspname = $1::text AND c.relname = $2::text AND s.attname = $3::text AND c.reltuples >= $4::integer
  AND bounds IS NOT NULL"""
_LAST = " ORDER BY s.inherited DESC LIMIT 1"
_CUT = f"""SELECT bounds[(pg_catalog.cardinality(bounds) + 1) / 2]{_KNOWN}
  AND pg_catalog.current_setting('max_parallel_workers_per_gather')::integer > 0
  AND pg_catalog.has_function_privilege(
    pg_catalog.to_regprocedure('pg_catalog.pg_export_snapshot()'), 'EXECUTE'){_LAST}""".encode()
# Between two bounds of the histogram are equal numbers of rows: of all but the most common values, and NULL.
_ENDS = f"""SELECT bounds[2], bounds[pg_catalog.cardinality(bounds) - 1], pg_catalog.floor(
  c.reltuples * (1 - s.null_frac - common) / ((pg_catalog.cardinality(bounds) - 1) * $5::integer)
  )::bigint{_KNOWN}{_LAST}""".encode()


class Cut:
    """Where the units of a statement are cut in halves.

    Attributes:
        at: The least unit of the second half, as text; None: they are not cut.
    """

    __slots__ = ("_place", "at")

    def __init__(self, place: StoredColumn) -> None:
        self._place = place
        self.at: str | None = None

    def __repr__(self) -> str:
        return "Cut(hidden)"

    async def read(self, connection: ProtectedConnection, _: Parameters) -> None:
        """Refuses  psycopg.Error"""
        place, self.at = self._place, None
        given = (place.schema, place.table, place.column, str(LEAST_ROWS))
        for (at,) in await connection.all_rows(_CUT, given):
            self.at = at

    def halves(self, parameters: Parameters) -> tuple[Parameters, Parameters]:
        """The parameters of each half."""
        below, others = (
            {**parameters, HALF: str(half), CUT: self.at} for half in (BELOW, FROM_CUT_ON)
        )
        return below, others


class LookedUpEnds:
    """Below which value of a column a few rows are, and above which.

    Attributes:
        found: The parameters that say so; empty: the planner does not know.
    """

    __slots__ = ("_of", "found")

    def __init__(self, of: ColumnEnds) -> None:
        self._of = of
        self.found: Parameters = {}

    def __repr__(self) -> str:
        return "LookedUpEnds(hidden)"

    async def read(self, connection: ProtectedConnection, _: Parameters) -> None:
        """Refuses  psycopg.Error"""
        place, self.found = self._of.place, {}
        given = (place.schema, place.table, place.column, str(LEAST_ROWS), str(_SHARE))
        for low, high, rows in await connection.all_rows(_ENDS, given):
            if rows >= self._of.needed:
                self.found = {LOW_END: low, HIGH_END: high, END_ROWS: str(rows)}
