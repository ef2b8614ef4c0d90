"""Tables of a policy that show rows of others: views by their definition, parents by their children.

The same row must not be protected in one place and public, or less protected, in another. (What a function
reads that a view calls is in no catalogue.)
"""

from __future__ import annotations

from collections.abc import Iterator

from typing_extensions import assert_never

from proxy.catalog.model import TableName
from proxy.databases.diagnosis import Connection, Finding, Severity, table_text
from proxy.policy.model import IdentifierUnit, Policy, ProtectedTable, PublicTable, RowUnit

# Its own rows only: what is reached through a view may be part of a condition.
_READS = """
WITH RECURSIVE reads AS (
    SELECT c.oid, true AS is_own
    FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
    WHERE n.nspname = %s AND c.relname = %s
    UNION
    SELECT found.oid, reads.is_own AND found.is_own
    FROM reads CROSS JOIN LATERAL (
        SELECT d.refobjid, false
        FROM pg_catalog.pg_rewrite w
        JOIN pg_catalog.pg_depend d ON d.objid = w.oid AND d.classid = 'pg_catalog.pg_rewrite'::regclass
        WHERE w.ev_class = reads.oid AND w.ev_type = '1' AND d.refclassid = 'pg_catalog.pg_class'::regclass
        UNION ALL
        SELECT h.inhrelid, true FROM pg_catalog.pg_inherits h WHERE h.inhparent = reads.oid
    ) found (oid, is_own)
)
SELECT n.nspname, c.relname, pg_catalog.bool_or(reads.is_own)
FROM reads
JOIN pg_catalog.pg_class c ON c.oid = reads.oid
JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
GROUP BY n.nspname, c.relname
"""


def reads_findings(connection: Connection, policy: Policy) -> Iterator[Finding]:
    for name, table in policy.tables.items():
        text = table_text(connection, name)
        for schema, relation, is_own in connection.execute(_READS, tuple(name)).fetchall():
            read = TableName(schema, relation)
            other = policy.tables.get(read)
            if read == name or other is None:
                continue
            there = table_text(connection, read)
            if isinstance(table, PublicTable) and isinstance(other, ProtectedTable):
                what = f"{text} is public and shows rows of {there}, which is protected"
            elif isinstance(table, ProtectedTable) and isinstance(other, PublicTable) and is_own:
                what = f"{text} is protected and its rows in {there} are public"
            elif (
                isinstance(table, ProtectedTable)
                and isinstance(other, ProtectedTable)
                and _unit(table) != _unit(other)
            ):
                what = (
                    f"{text} protects {_unit(table)} and shows rows of {there}, where it is {_unit(other)}: "
                    "those rows are protected as the weaker of both says"
                )
            else:
                continue
            yield Finding(Severity.UNSAFE, what)


def _unit(table: ProtectedTable) -> str:
    match table.unit:
        case RowUnit():
            return f"each {table.unit.rows} rows" if table.unit.rows > 1 else "each row"
        case IdentifierUnit():
            return f"each {table.unit.identifier}"
        case _:
            assert_never(table.unit)
