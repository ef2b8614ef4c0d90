"""The SELECT that fills a prepared copy: of each unit at most so many rows, as `dpproxy prepare` prints it.

The data owner runs it, never the proxy. The same text says whether a view is what was printed.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, replace

from proxy.base.decimals import decimal_text
from proxy.base.sql_types import SqlType
from proxy.base.written_names import written_name
from proxy.catalog.catalog_model import Catalog, Column, RowBound, Table, TableName
from proxy.policy.grid import index_name, index_steps
from proxy.policy.policy_model import (
    SEEDS_OF_COPIES,
    TIMES_OF_COPIES,
    Bounds,
    IdentifierUnit,
    Policy,
    ProtectedTable,
)

SLOT = "slot"
_MADE = "dpproxy prepare"  # how the comments begin of what it makes
_UNWRITABLE = frozenset("'$%\\")  # of names, in the literals of the script
_FIXED_WIDTH = frozenset(
    {
        *(SqlType.BOOL, SqlType.INT2, SqlType.INT4, SqlType.INT8, SqlType.FLOAT4, SqlType.FLOAT8),
        *(SqlType.DATE, SqlType.TIMESTAMP, SqlType.TIMESTAMPTZ, SqlType.TIME_OF_DAY),
        *(SqlType.DURATION, SqlType.UUID, SqlType.ENUM),
    }
)


@dataclass(frozen=True, slots=True, kw_only=True)
class FoundCopy:
    """A prepared copy as the transaction sees it, to its end.

    Attributes:
        bound: That the server keeps to.
        as_of: The time that its owner states, in UTC.
        age: In seconds.
        is_as_printed: Whether its view is what `dpproxy prepare` prints.
        locked: The oid of the table, if the transaction has locked it. None: it has not.
    """

    bound: RowBound
    as_of: str
    age: float
    is_as_printed: bool
    locked: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class WantedCopy:
    """A prepared copy that the policy names.

    Attributes:
        table: Its name.
        view: That of the view that says what is in it.
        printed: The digest of the view that `dpproxy prepare` prints for it; empty: it prints none.
        holder: The table that holds the units: that of the rows, or where their references lead.
        held: The column there.
    """

    table: TableName
    view: TableName
    printed: str
    holder: TableName
    held: str


@dataclass(frozen=True, slots=True, kw_only=True)
class _FoundUnit:
    """How a copy finds the unit of each row, the table being `t`.

    Attributes:
        column: That of the copy, as the catalogue has it where the unit stands.
        sql: The unit, in SQL.
        join: What joins the table that holds it; empty: the table itself does.
    """

    column: Column
    sql: str
    join: str


def _found_unit(policy: ProtectedTable, catalog: Catalog) -> _FoundUnit | None:
    """None: a copy holds no such units, the column or what it refers to is not there, or the table has a column
    of the name that the copy needs."""
    table, unit = catalog.tables.get(policy.name), policy.unit
    if table is None or not isinstance(unit, IdentifierUnit) or unit.blocks is not None:
        return None
    refers = table.column(unit.column)
    if refers is None:
        return None
    if unit.path is None:
        return _FoundUnit(column=refers, sql=f"t.{written_name(refers.name)}", join="")
    holder = catalog.tables.get(unit.path.table)
    held = None if holder is None else holder.column(unit.path.column)
    if holder is None or held is None or len(holder.primary_key) != 1:
        return None
    if table.column(unit.column_in_copy) is not None:
        return None
    key, name = written_name(*holder.primary_key), written_name(*holder.name)
    return _FoundUnit(
        column=replace(held, name=unit.column_in_copy),
        sql=f"u.{written_name(held.name)}",
        join=f" JOIN {name} u ON u.{key} = t.{written_name(refers.name)}",
    )


def copied_columns(policy: ProtectedTable, catalog: Catalog) -> tuple[Column, ...]:
    """The columns of a copy but its slot: that of the unit, and those that the policy shows, in their order. A
    reference is shown. None at all: no copy can be made."""
    found, unit = _found_unit(policy, catalog), policy.unit
    if found is None or not isinstance(unit, IdentifierUnit):
        return ()
    shown = {*policy.columns, unit.column} - {found.column.name}
    others = (c for c in catalog.tables[policy.name].columns if c.name in shown)
    return found.column, *others


def index_columns(policy: ProtectedTable, catalog: Catalog) -> Mapping[str, str]:
    """Names and SQL of the columns that hold a value in grid steps, as `aggregate_sql.index_sql` has it."""
    found = {}
    for column in copied_columns(policy, catalog):
        own = policy.columns.get(column.name)
        steps = None if own is None else index_steps(column, own)
        if own is not None and steps is not None and isinstance(own.bounds, Bounds):
            low, high = (
                f"{decimal_text(end)}::numeric" for end in (own.bounds.low, own.bounds.high)
            )
            value = f"r.{written_name(column.name)}"
            clamped = f"numeric_larger(numeric_smaller({value}, {high}), {low})"
            found[index_name(column.name)] = f"({clamped} * {steps})::integer"
    return found


def made_copy(policy: ProtectedTable, catalog: Catalog, rows: int) -> Table | None:
    """The copy as the catalogue has it once the owner has run what is printed. None: as of `copy_select`."""
    select, copy, unit = copy_select(policy, catalog, rows), policy.prepared, policy.unit
    if select is None or copy is None or not isinstance(unit, IdentifierUnit):
        return None
    person = unit.column_in_copy
    return Table(
        copy.table,
        _columns_of_copy(policy, catalog),
        primary_key=(person, SLOT),
        row_bound=RowBound(column=person, rows=rows),
    )


def _columns_of_copy(policy: ProtectedTable, catalog: Catalog) -> tuple[Column, ...]:
    """The columns of a copy, in their order: those of fixed width first, of these those without NULL.

    PostgreSQL finds a column at a known offset only if no column before it is of variable width or NULL.
    """
    person, *others = copied_columns(policy, catalog)
    copied = (replace(person, nullable=False), *others)
    names = index_columns(policy, catalog)
    indices = (
        Column(index_name(column.name), SqlType.INT4, "integer", column.nullable)
        for column in copied
        if index_name(column.name) in names
    )
    columns = (copied[0], Column(SLOT, SqlType.INT4, "integer", False), *indices, *copied[1:])
    return tuple(sorted(columns, key=lambda c: (c.type not in _FIXED_WIDTH, c.nullable)))


def indexed_columns(policy: ProtectedTable, catalog: Catalog) -> tuple[str, ...]:
    """The columns of a copy that have an index each: whole numbers with bounds, which are listed in its order
    (compiler/value_counts.py)."""
    bounded = {name for name, own in policy.columns.items() if own.bounds is not None}
    indices = index_columns(policy, catalog)
    return tuple(
        column.name
        for column in _columns_of_copy(policy, catalog)
        if column.name in indices or (column.type.is_integer and column.name in bounded)
    )


def copy_select(policy: ProtectedTable, catalog: Catalog, rows: int) -> str | None:
    """Print what a copy holds.

    Claim: What a unit has in it is a function of the rows of this unit and of the seed, and these are `rows`
        rows at most. Rows of nobody are left out.
    Argument: The window's partition is the unit, by its own equality. In a partition rows are in the order of a
        hash of their primary key, and of the key where hashes are equal, so that no two rows are tied.
        (PROOFS.md 35 P2) A reference meets one row at most, by its primary key, so that no row is there twice;
        one that is NULL or meets none is of nobody. (P8)

    Args:
        policy: Of the table; it names the copy.
        catalog: With the table, and the one that its references lead to.
        rows: Of each unit.

    Returns:
        None: it has no primary key, a column of the name that the copy needs, or a name with a quote in it; or
        there is no copy of such units.

    >>> from tests.compiler.copied_tables import LINES_POLICY, SALES_POLICY, SHOP
    >>> print(copy_select(SALES_POLICY, SHOP, 3))
    SELECT r.buyer,
        r.slot,
        r.price
    FROM (SELECT t.buyer, t.price, row_number() OVER (PARTITION BY t.buyer
            ORDER BY hash_record_extended(ROW(t.id), s.seed), t.id)::integer AS slot
        FROM shop.sales t CROSS JOIN dp.prepared_seeds s
        WHERE s.name = 'shop.sales' AND t.buyer IS NOT NULL) r
    WHERE r.slot <= 3
    >>> print(copy_select(LINES_POLICY, SHOP, 3))
    SELECT r.dp_unit,
        r.slot,
        r.sale,
        r.amount
    FROM (SELECT u.buyer AS dp_unit, t.sale, t.amount, row_number() OVER (PARTITION BY u.buyer
            ORDER BY hash_record_extended(ROW(t.id), s.seed), t.id)::integer AS slot
        FROM shop.lines t JOIN shop.sales u ON u.id = t.sale CROSS JOIN dp.prepared_seeds s
        WHERE s.name = 'shop.lines' AND u.buyer IS NOT NULL) r
    WHERE r.slot <= 3
    """
    unit, copy = _found_unit(policy, catalog), policy.prepared
    if copy is None or unit is None:
        return None
    table, columns = catalog.tables[policy.name], copied_columns(policy, catalog)
    names = [written_name(column.name) for column in columns]
    if not table.primary_key or SLOT in names:
        return None
    if any(set(name) & _UNWRITABLE for name in (*policy.name, *copy.table, *names)):
        return None
    indices = index_columns(policy, catalog)
    if not indices.keys().isdisjoint(column.name for column in columns):
        return None
    key = ", ".join(f"t.{written_name(name)}" for name in table.primary_key)
    shown = ",\n    ".join(
        f"{indices[column.name]} AS {written_name(column.name)}"
        if column.name in indices
        else f"r.{written_name(column.name)}"
        for column in _columns_of_copy(policy, catalog)
    )
    person = unit.sql if not unit.join else f"{unit.sql} AS {names[0]}"
    inner = ", ".join((person, *(f"t.{name}" for name in names[1:])))
    return "\n".join(
        (
            f"SELECT {shown}",
            f"FROM (SELECT {inner}, row_number() OVER (PARTITION BY {unit.sql}",
            f"        ORDER BY hash_record_extended(ROW({key}), s.seed), {key})::integer AS slot",
            f"    FROM {written_name(*policy.name)} t{unit.join}"
            f" CROSS JOIN {written_name(copy.table.schema, SEEDS_OF_COPIES)} s",
            f"    WHERE s.name = '{policy.name}' AND {unit.sql} IS NOT NULL) r",
            f"WHERE r.slot <= {rows}",
        )
    )


def printed_digest(select: str) -> str:
    """By which the comment of a view says of which text it was made."""
    return hashlib.sha256(select.encode()).hexdigest()[:32]


def wanted_copies(policy: Policy, catalog: Catalog) -> Mapping[TableName, WantedCopy]:
    """The copies that a policy names, each by the table of which it is one, with the bound that it has."""
    found = {}
    for table in policy.protected():
        copy, unit = table.prepared, table.unit
        if copy is None:
            continue
        assert isinstance(unit, IdentifierUnit)
        made = catalog.tables.get(copy.table)
        bound = None if made is None else made.row_bound
        select = None if bound is None else copy_select(table, catalog, bound.rows)
        path = unit.path
        found[table.name] = WantedCopy(
            table=copy.table,
            view=copy.view,
            printed="" if select is None else printed_digest(select),
            holder=table.name if path is None else path.table,
            held=unit.column if path is None else path.column,
        )
    return found


def copy_script(policy: ProtectedTable, catalog: Catalog, rows: int, reader: str) -> str | None:
    """Print the SQL by which the owner makes a copy, and makes it anew.

    All is one transaction, of which the time is stated: rows that come meanwhile are younger than that. It ends
    before anything is dropped that no such script has made.

    Args:
        policy: Of the table; it names the copy.
        catalog: As of `copy_select`.
        rows: Of each unit.
        reader: The role of the policy's source.

    Returns:
        None: as of `copy_select`.
    """
    select, unit = copy_select(policy, catalog, rows), _found_unit(policy, catalog)
    if select is None or unit is None or policy.prepared is None:
        return None
    copy = policy.prepared.table
    schema, place = written_name(copy.schema), written_name(*copy)
    new = written_name(*policy.prepared.refreshed)
    view, role = written_name(*policy.prepared.view), written_name(reader)
    seeds, times = (written_name(copy.schema, name) for name in (SEEDS_OF_COPIES, TIMES_OF_COPIES))
    label = f"'{policy.name}'"
    person = written_name(unit.column.name)
    assert isinstance(policy.unit, IdentifierUnit)
    filled = "".join(
        f"    ALTER {written_name(column.name)} SET NOT NULL,\n"
        for column in _columns_of_copy(policy, catalog)
        if not column.nullable
    )
    indexed = "".join(
        f"CREATE INDEX ON {new} ({written_name(name)});\n"
        for name in indexed_columns(policy, catalog)
    )
    return f"""\
-- A copy of {policy.name} with at most {rows} rows of each {policy.unit.kind}, printed by `dpproxy prepare`.
-- Run it with psql as the owner of the table, not as {reader}. Run it again for each refresh, and after a
-- deletion that has to count at once.
BEGIN;
SET LOCAL search_path = '';
SET LOCAL client_min_messages = warning;
DO $$ BEGIN
    IF EXISTS (SELECT FROM pg_catalog.pg_class c
            WHERE c.oid IN (pg_catalog.to_regclass('{place}'), pg_catalog.to_regclass('{view}'))
            AND coalesce(pg_catalog.obj_description(c.oid, 'pg_class'), '') NOT LIKE '{_MADE}%') THEN
        RAISE EXCEPTION '{place} or {view} was not made by dpproxy prepare, and would be dropped'
            USING HINT = 'Name another table under prepared in the policy, or drop these yourself.';
    END IF;
END $$;
CREATE SCHEMA IF NOT EXISTS {schema};
CREATE TABLE IF NOT EXISTS {times} (name text PRIMARY KEY, as_of timestamptz NOT NULL);
CREATE TABLE IF NOT EXISTS {seeds} (name text PRIMARY KEY, seed bigint NOT NULL);
INSERT INTO {seeds} SELECT {label}, pg_catalog.hashtextextended(pg_catalog.gen_random_uuid()::text, 0)
    ON CONFLICT (name) DO NOTHING;
DROP VIEW IF EXISTS {view};
CREATE VIEW {view} AS
{select};
DO $$ BEGIN EXECUTE pg_catalog.format('COMMENT ON VIEW {view} IS %L',
    '{_MADE} {printed_digest(select)} '
    || pg_catalog.hashtextextended(pg_catalog.pg_get_viewdef('{view}'::pg_catalog.regclass), 0)); END $$;
CREATE TABLE {new} AS SELECT * FROM {view};
COMMENT ON TABLE {new} IS '{_MADE}';
ALTER TABLE {new}
{filled}    ADD CONSTRAINT slot_is_bounded CHECK (slot >= 1 AND slot <= {rows}),
    ADD PRIMARY KEY ({person}, slot);
{indexed}GRANT USAGE ON SCHEMA {schema} TO {role};
GRANT SELECT ON {new}, {times} TO {role};
DROP TABLE IF EXISTS {place};
ALTER TABLE {new} RENAME TO {written_name(copy.name)};
INSERT INTO {times} VALUES ({label}, pg_catalog.transaction_timestamp())
    ON CONFLICT (name) DO UPDATE SET as_of = excluded.as_of;
COMMIT;
VACUUM ANALYZE {place};
-- Which share of rows is kept, for several bounds (for you alone: this reads rows):
-- SELECT bound, sum(least(n, bound)) / sum(n) AS kept
--     FROM (SELECT count(*) AS n FROM {written_name(*policy.name)} t{unit.join}
--         WHERE {unit.sql} IS NOT NULL GROUP BY {unit.sql}) n,
--     unnest(ARRAY[{max(1, rows // 4)}, {max(1, rows // 2)}, {rows}, {rows * 2}, {rows * 4}]) AS bound
--     GROUP BY bound ORDER BY bound;
"""
