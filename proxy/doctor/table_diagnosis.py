"""Keys, indexes, visibility and collations of the tables of a policy.

Source   measured: per-unit work is three times faster with an index on the privacy unit first, the keys of
         groups after it, and the measures included (index-only scans, which need the visibility map)
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import psycopg
from psycopg import sql

from proxy.catalog.catalog_model import Catalog, Table, TableName
from proxy.doctor.diagnosis_session import Connection, name_text, table_text
from proxy.policy.finding_names import FindingName
from proxy.policy.findings import Finding
from proxy.policy.policy_model import IdentifierUnit, Policy, ProtectedTable, PublicTable, RowUnit

_MOST_INDEX_COLUMNS = 32  # INDEX_MAX_KEYS, included columns too
_FEW_PAGES = 8  # a table of less needs no index and no visibility map
_MOSTLY = 0.9

_RELATION = """
SELECT c.oid, c.relkind::text, c.relallvisible,
       CASE WHEN c.relkind IN ('r', 'm') THEN pg_catalog.pg_relation_size(c.oid) ELSE 0 END
           / pg_catalog.current_setting('block_size')::integer,
       c.relrowsecurity AND pg_catalog.row_security_active(c.oid)
FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
WHERE n.nspname = %s AND c.relname = %s
"""
_UNREADABLE = """
SELECT a.attname FROM pg_catalog.pg_attribute a
WHERE a.attrelid = %s AND a.attnum > 0 AND NOT a.attisdropped AND a.attname = ANY(%s)
  AND NOT pg_catalog.has_column_privilege(a.attrelid, a.attnum, 'SELECT')
"""
# First column, then all of them, of each usable index; whether it is unique on that one column.
_INDEXES = """
SELECT pg_catalog.array_agg(a.attname::text ORDER BY k.place),
       i.indisunique AND i.indnkeyatts = 1 AND NOT i.indisprimary
FROM pg_catalog.pg_index i
CROSS JOIN LATERAL pg_catalog.unnest(i.indkey::int2[]) WITH ORDINALITY AS k (attnum, place)
LEFT JOIN pg_catalog.pg_attribute a ON a.attrelid = i.indrelid AND a.attnum = k.attnum
WHERE i.indrelid = %s AND i.indisvalid AND i.indpred IS NULL AND i.indexprs IS NULL
GROUP BY i.indexrelid, i.indisunique, i.indnkeyatts, i.indisprimary
"""
_COLLATIONS = """
SELECT a.attname, pg_catalog.format_type(a.atttypid, a.atttypmod)
FROM pg_catalog.pg_attribute a JOIN pg_catalog.pg_collation c ON c.oid = a.attcollation
WHERE a.attrelid = %s AND a.attnum > 0 AND NOT a.attisdropped AND NOT c.collisdeterministic
"""


@dataclass(frozen=True, slots=True)
class _DescribedTable:
    oid: int
    kind: str
    pages_visible: int
    pages: int
    rows_hidden: bool  # by row security

    @property
    def is_stored(self) -> bool:
        return self.kind in ("r", "p", "m")


def table_findings(connection: Connection, policy: Policy, catalog: Catalog) -> Iterator[Finding]:
    for name, table in policy.tables.items():
        row = connection.execute(_RELATION, (name.schema, name.name)).fetchone()
        text = table_text(connection, name)
        if row is None:
            yield _found(
                FindingName.POLICY_DOES_NOT_FIT,
                name,
                f"{text} of the policy is not in the database",
            )
            continue
        relation = _DescribedTable(*row)
        unreadable = list(_unreadable(connection, name, table, relation))
        yield from unreadable
        if relation.rows_hidden:
            yield _found(
                FindingName.ROW_SECURITY_HIDES,
                name,
                f"row security hides rows of {text} from the proxy: answers cover the remaining rows only",
                f"ALTER TABLE {text} DISABLE ROW LEVEL SECURITY; -- if the proxy is to see every row",
            )
        described = catalog.tables.get(name)
        if isinstance(table, ProtectedTable) and described is not None and not unreadable:
            yield from _protected(connection, table, described, relation)


def _unreadable(
    connection: Connection,
    name: TableName,
    table: ProtectedTable | PublicTable,
    relation: _DescribedTable,
) -> Iterator[Finding]:
    user, text = name_text(connection, connection.info.user), table_text(connection, name)
    row = connection.execute(
        "SELECT pg_catalog.has_schema_privilege(%s, 'USAGE'),"
        " pg_catalog.has_table_privilege(%s::oid, 'SELECT')",
        (name.schema, relation.oid),
    ).fetchone()
    assert row is not None
    if not row[0]:
        schema = name_text(connection, name.schema)
        yield _found(
            FindingName.UNREADABLE,
            name,
            f"the role {user} has no USAGE on schema {schema}: {text} cannot be read",
            f"GRANT USAGE ON SCHEMA {schema} TO {user};",
        )
    if row[1]:
        return
    if isinstance(table, ProtectedTable):
        unit = [table.unit.column] if isinstance(table.unit, IdentifierUnit) else []
        wanted = [*table.columns, *unit]
        missing = connection.execute(_UNREADABLE, (relation.oid, wanted)).fetchall()
        if not missing:
            return
    yield _found(
        FindingName.UNREADABLE,
        name,
        f"the role {user} cannot read {text} of the policy",
        f"GRANT SELECT ON {text} TO {user};",
    )


def _protected(
    connection: Connection, table: ProtectedTable, described: Table, relation: _DescribedTable
) -> Iterator[Finding]:
    text = table_text(connection, table.name)
    yield from _visibility(table.name, text, relation)
    if relation.kind == "v":
        yield _found(
            FindingName.VIEW_MAY_RAISE,
            table.name,
            f"{text} is a view: if one of its expressions fails on a row (a division by zero, say), every "
            f"query that scans the row fails, which reveals that it exists",
        )
    match table.unit:
        case RowUnit():
            yield from _row_unit(text, described)
            unit = None
        case IdentifierUnit():
            yield from _identifier_unit(connection, text, table, described, relation)
            unit = table.unit.column
    for column, kind in connection.execute(_COLLATIONS, (relation.oid,)).fetchall():
        quoted = name_text(connection, column)
        if column == unit:
            yield _found(
                FindingName.UNIT_COLLATION,
                table.name,
                f"{text}: the unit column {quoted} has a nondeterministic collation: texts that are equal "
                "are not the same bytes, so one unit could be counted as several",
                f'ALTER TABLE {text} ALTER COLUMN {quoted} TYPE {kind} COLLATE "C";',
            )
        elif column in table.columns:
            yield _found(
                FindingName.COLLATION_OF_KEYS,
                table.name,
                f"{text}: column {quoted} has a nondeterministic collation: equal keys can print differently",
                f'ALTER TABLE {text} ALTER COLUMN {quoted} TYPE {kind} COLLATE "C";',
            )


def _visibility(name: TableName, text: str, relation: _DescribedTable) -> Iterator[Finding]:
    """Of the pages in the file: relpages is -1 or 0 until the first VACUUM or ANALYZE (PostgreSQL 17
    documentation, section 52.11)."""
    if relation.kind not in ("r", "m") or relation.pages < _FEW_PAGES:
        return
    if relation.pages_visible < _MOSTLY * relation.pages:
        never = "was never vacuumed" if relation.pages_visible == 0 else "is not vacuumed enough"
        yield _found(
            FindingName.NOT_VACUUMED,
            name,
            f"{text} {never}: PostgreSQL reads the table itself where an index would be enough",
            f"VACUUM (ANALYZE) {text};",
        )


def _row_unit(text: str, described: Table) -> Iterator[Finding]:
    if described.primary_key or described.has_ctid:
        return
    yield _found(
        FindingName.SLOW_PARTITIONS,
        described.name,
        f"{text} has no primary key and is no ordinary table: AVG, MIN and MAX draw partitions row by row, "
        "which cannot run in parallel",
    )


def _identifier_unit(
    connection: Connection,
    text: str,
    table: ProtectedTable,
    described: Table,
    relation: _DescribedTable,
) -> Iterator[Finding]:
    unit = table.unit
    assert isinstance(unit, IdentifierUnit)
    if unit.path is not None:
        yield _found(
            FindingName.UNIT_THROUGH_REFERENCE,
            table.name,
            f"{text}: the unit is found through {table_text(connection, unit.path.table)}: every query joins "
            f"it; a column of the table itself would be faster",
        )
        return
    quoted = name_text(connection, unit.column)
    held = described.column(unit.column)
    if held is not None and held.nullable:
        yield _found(
            FindingName.UNIT_MAY_BE_NULL,
            table.name,
            f"{text}: {quoted} may be NULL: rows without a unit are left out of every answer",
        )
    if unit.blocks is not None:  # rows are found by their time first, and then gathered
        return
    if described.is_unique(unit.column):
        yield _found(
            FindingName.UNIT_IS_ONE_ROW,
            table.name,
            f"{text}: {quoted} is unique: a unit is one row, no bound is needed",
        )
        return
    if not relation.is_stored:
        return
    indexes = connection.execute(_INDEXES, (relation.oid,)).fetchall()
    if held is not None and held.nullable and ([unit.column], True) in indexes:
        yield _found(
            FindingName.UNIQUE_UNIT_MAY_BE_NULL,
            table.name,
            f"{text}: {quoted} is unique but may be NULL: only NOT NULL proves that a unit is one row",
            f"ALTER TABLE {text} ALTER COLUMN {quoted} SET NOT NULL;",
        )
    leading = [set(columns) for columns, _ in indexes if columns[0] == unit.column]
    keys = [c.name for c in table.columns.values() if c.bounds is None]
    measures = [c.name for c in table.columns.values() if c.bounds is not None]
    create = _create_index(connection, text, relation, (unit.column, *keys), measures)
    if not leading:
        yield _found(
            FindingName.NO_INDEX_ON_UNIT,
            table.name,
            f"{text} has no index that begins with the privacy unit {quoted}: per-unit work sorts or hashes "
            "the whole table",
            create,
        )
        return
    missing = min((set(table.columns) - held for held in leading), key=len)
    if missing:
        listed = ", ".join(name_text(connection, name) for name in sorted(missing))
        yield _found(
            FindingName.INDEX_DOES_NOT_COVER,
            table.name,
            f"{text}: queries of {listed} read the table itself: no index on {quoted} has these columns",
            create,
        )


def _found(name: FindingName, table: TableName, what: str, fix: str = "") -> Finding:
    return Finding(name=name, where=str(table), what=what, fix=fix, path=("tables", str(table)))


def _create_index(
    connection: Connection,
    text: str,
    relation: _DescribedTable,
    keys: tuple[str, ...],
    measures: list[str],
) -> str:
    first = [name_text(connection, name) for name in keys[:_MOST_INDEX_COLUMNS]]
    rest = [name_text(connection, name) for name in measures[: _MOST_INDEX_COLUMNS - len(first)]]
    word = "CREATE INDEX" if relation.kind == "p" else "CREATE INDEX CONCURRENTLY"
    include = f" INCLUDE ({', '.join(rest)})" if rest else ""
    # Two lines: psql -c runs what it is given as one transaction, in which neither may stand.
    return f"{word} ON {text} ({', '.join(first)}){include};\nVACUUM {text};"


# Public tables that are too large to copy, by the planner's estimate: known before a row of them is read.


_MOST_ROWS = 2_000_000
_MOST_BYTES = 1 << 30


def public_size_findings(
    connection: Connection, policy: Policy, catalog: Catalog
) -> Iterator[Finding]:
    """Of views, foreign tables and partitioned tables too, for which the catalogue has no size."""
    for table in policy.tables.values():
        there = catalog.tables.get(table.name)
        if not isinstance(table, PublicTable) or there is None:
            continue
        columns = [column.name for column in there.columns if table.has(column.name)]
        try:
            rows, width = _estimate(connection, (table.name.schema, table.name.name), columns)
        except psycopg.Error:
            continue  # it cannot be read, which `policy check` and `serve` say
        if rows > _MOST_ROWS or rows * width > _MOST_BYTES:
            yield Finding(
                name=FindingName.PUBLIC_IS_LARGE,
                where=str(table.name),
                what=f"{table.name} is public and has about {rows:,} rows in {rows * width >> 20:,} MiB, which "
                "are copied at each start and every hour",
                fix="give analysts a view of what they need of it, or accept this with the reason",
                path=("tables", str(table.name)),
            )


def _estimate(
    connection: Connection, table: tuple[str, str], columns: list[str]
) -> tuple[int, int]:
    """Rows, and bytes of each. Nothing is run."""
    statement = sql.SQL("EXPLAIN (FORMAT JSON) SELECT {} FROM {}").format(
        sql.SQL(", ").join(map(sql.Identifier, columns)), sql.Identifier(*table)
    )
    row = connection.execute(statement).fetchone()
    assert row is not None
    plan = row[0][0]["Plan"]
    return int(plan["Plan Rows"]), int(plan["Plan Width"])
