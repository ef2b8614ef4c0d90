"""What the protected database says of a prepared copy: bound, view, and as of when it is. No row of it."""

from __future__ import annotations

from typing import Any

from psycopg import sql

from proxy.catalog.catalog_model import RowBound, TableName
from proxy.compiler.copy_view import FoundCopy, WantedCopy
from proxy.policy.policy_model import TIMES_OF_COPIES
from proxy.protected.catalog_reader import ROW_BOUNDS

# A lock is on a table, not on its name: ALTER SCHEMA ... RENAME waits for no table. So a copy is found only if
# the table of this name, in this snapshot, is locked. `NAMED` asks which one has it once the rows are read.
_COPY = sql.SQL(
    'SELECT b."column", b.rows, p.as_of::text, extract(epoch FROM statement_timestamp() - p.as_of)::float8,'  # noqa: S608
    " coalesce(pg_catalog.obj_description(v.view, 'pg_class') = 'dpproxy prepare ' || %s || ' ' ||"
    " pg_catalog.hashtextextended(pg_catalog.pg_get_viewdef(v.view), 0), false),"
    " (SELECT k.relation::bigint FROM pg_catalog.pg_locks k JOIN pg_catalog.pg_class r ON r.oid = k.relation"
    " JOIN pg_catalog.pg_namespace n ON n.oid = r.relnamespace WHERE k.pid = pg_catalog.pg_backend_pid()"
    """ AND k.locktype = 'relation' AND k.granted AND (n.nspname, r.relname) = (b.schema, b."table") LIMIT 1)"""
    f" FROM ({ROW_BOUNDS}) b CROSS JOIN (SELECT pg_catalog.to_regclass(%s)::oid AS view) v JOIN "
)
# The bound says of rows that are equal in the copy. It is one of units if they are told apart there as where
# they stand, so types are looked at under the lock, too: an owner can have changed them since the catalogue
# was read. Not those of `slot` and of indices, which a table can have under these names without showing them.
_OTHERWISE = (
    "SELECT c.attname FROM pg_catalog.pg_attribute c LEFT JOIN pg_catalog.pg_attribute t ON t.attnum > 0"
    """ AND t.attrelid = CASE WHEN c.attname = b."column" THEN pg_catalog.to_regclass(%s)"""
    " ELSE pg_catalog.to_regclass(%s) END"
    """ AND t.attname = CASE WHEN c.attname = b."column" THEN %s ELSE c.attname END"""
    " WHERE c.attrelid = pg_catalog.to_regclass(%s) AND c.attnum > 0 AND NOT c.attisdropped"
    " AND (c.atttypid, c.atttypmod, c.attcollation) IS DISTINCT FROM (t.atttypid, t.atttypmod, t.attcollation)"
    """ AND (c.attname = b."column" OR t.attrelid IS NOT NULL AND c.attname <> 'slot' AND NOT ("""
    "c.atttypid = 'integer'::pg_catalog.regtype AND pg_catalog.right(c.attname::text, 2) = '_i'))"
)
_OF_COPY = sql.SQL(
    f' p ON p.name = %s WHERE b.schema = %s AND b."table" = %s AND NOT EXISTS ({_OTHERWISE})'
)
NAMED = "SELECT pg_catalog.to_regclass(%s)::oid::bigint"
_COLUMNS_OTHERWISE = sql.SQL(
    f"SELECT o.attname::text FROM ({ROW_BOUNDS}) b CROSS JOIN LATERAL ({_OTHERWISE}) o"  # noqa: S608
    ' WHERE b.schema = %s AND b."table" = %s ORDER BY 1'
)


def copy_statement(table: TableName, wanted: WantedCopy) -> tuple[sql.Composed, tuple[str, ...]]:
    """Ask for the copy of a table. It gives one row, for `found_copy`, or none.

    Returns:
        The statement and its parameters. It fails where nobody has made any copy.
    """
    copy = wanted.table
    statement = _COPY + sql.Identifier(*times_of_copies(wanted)) + _OF_COPY
    return statement, (
        wanted.printed,
        _written(wanted.view),
        str(table),
        *copy,
        *_compared(table, wanted),
    )


def different_columns(table: TableName, wanted: WantedCopy) -> tuple[sql.SQL, tuple[str, ...]]:
    """Ask for columns that keep a copy from being found: of another type, or collation, than in the table."""
    return _COLUMNS_OTHERWISE, (*_compared(table, wanted), *wanted.table)


def _compared(table: TableName, wanted: WantedCopy) -> tuple[str, ...]:
    return _written(wanted.holder), _written(table), wanted.held, _written(wanted.table)


def times_of_copies(wanted: WantedCopy) -> TableName:
    """Name the table that says as of when a copy is."""
    return TableName(wanted.table.schema, TIMES_OF_COPIES)


def copy_name(wanted: WantedCopy) -> str:
    """Write the name of a copy, for `NAMED`."""
    return _written(wanted.table)


def _written(name: TableName) -> str:
    return sql.Identifier(*name).as_string(None)


def found_copy(row: tuple[Any, ...]) -> FoundCopy:
    """Read a row of `copy_statement`."""
    column, rows, as_of, age, is_as_printed, locked = row
    return FoundCopy(
        bound=RowBound(column=column, rows=rows),
        as_of=as_of,
        age=age,
        is_as_printed=is_as_printed,
        locked=locked,
    )
