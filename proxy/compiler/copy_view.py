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
from proxy.policy.policy_model import Bounds, IdentifierUnit, Policy, ProtectedTable

SLOT = "slot"
_UNWRITABLE = frozenset("'$%\\")  # of names, in the literals of the script
SEEDS, TIMES = "prepared_seeds", "prepared"  # tables beside the copy


@dataclass(frozen=True, slots=True, kw_only=True)
class FoundCopy:
    """A prepared copy as the transaction sees it, to its end.

    Attributes:
        bound: That the server keeps to.
        as_of: The time that its owner states, in UTC.
        age: In seconds.
        is_as_printed: Whether its view is what `dpproxy prepare` prints.
    """

    bound: RowBound
    as_of: str
    age: float
    is_as_printed: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class WantedCopy:
    """A prepared copy that the policy names. printed: the digest of its view's text (compiler/copy_view.py)."""

    table: TableName
    printed: str


def view_of(copy: TableName) -> TableName:
    """The name of the view that says what is in a copy.

    >>> str(view_of(TableName("dp", "events")))
    'dp.events_source'
    """
    return TableName(copy.schema, f"{copy.name}_source")


def copied_columns(policy: ProtectedTable, table: Table) -> tuple[Column, ...]:
    """The columns of a copy but its slot: that of the unit, and those that the policy shows, in their order."""
    assert isinstance(policy.unit, IdentifierUnit)
    shown = policy.columns.keys() - {policy.unit.column}
    unit = table.column(policy.unit.column)
    others = tuple(column for column in table.columns if column.name in shown)
    return others if unit is None else (unit, *others)


def index_columns(policy: ProtectedTable, table: Table) -> Mapping[str, str]:
    """Names and SQL of the columns that hold a value in grid steps, as `aggregate_sql.index_sql` has it."""
    found = {}
    for column in copied_columns(policy, table):
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


def made_copy(policy: ProtectedTable, table: Table, rows: int) -> Table | None:
    """The copy as the catalogue has it once the owner has run what is printed. None: as of `copy_select`."""
    select, copy, unit = copy_select(policy, table, rows), policy.prepared, policy.unit
    if select is None or copy is None or not isinstance(unit, IdentifierUnit):
        return None
    person, *others = copied_columns(policy, table)
    columns = (
        replace(person, nullable=False),
        Column(SLOT, SqlType.INT4, "integer", False),
        *others,
        *(Column(name, SqlType.INT4, "integer", True) for name in index_columns(policy, table)),
    )
    return Table(
        copy.table,
        columns,
        primary_key=(person.name, SLOT),
        row_bound=RowBound(column=person.name, rows=rows),
    )


def copy_select(policy: ProtectedTable, table: Table, rows: int) -> str | None:
    """Print what a copy holds.

    Claim: What a unit has in it is a function of the rows of this unit and of the seed, and these are `rows`
        rows at most. Rows of nobody are left out.
    Argument: The window's partition is the unit, by its own equality. In a partition rows are in the order of a
        hash of their primary key, and of the key where hashes are equal, so that no two rows are tied.
        (PROOFS.md 35 P2)

    Args:
        policy: Of the table; it names the copy.
        table: As the catalogue has it.
        rows: Of each unit.

    Returns:
        None: it has no primary key, a column of the name that the copy needs, or a name with a quote in it.

    >>> from tests.compiler.copied_tables import SALES, SALES_POLICY
    >>> print(copy_select(SALES_POLICY, SALES, 3))
    SELECT r.buyer, r.slot, r.price
    FROM (SELECT t.buyer, t.price, row_number() OVER (PARTITION BY t.buyer
            ORDER BY hash_record_extended(ROW(t.id), s.seed), t.id)::integer AS slot
        FROM shop.sales t CROSS JOIN dp.prepared_seeds s
        WHERE s.name = 'shop.sales' AND t.buyer IS NOT NULL) r
    WHERE r.slot <= 3
    """
    unit, copy = policy.unit, policy.prepared
    if copy is None or not isinstance(unit, IdentifierUnit) or not unit.is_in_column:
        return None
    columns = copied_columns(policy, table)
    names = [written_name(column.name) for column in columns]
    if not table.primary_key or SLOT in names or unit.column not in {c.name for c in columns}:
        return None
    if any(set(name) & _UNWRITABLE for name in (*policy.name, *copy.table, *names)):
        return None
    indices = index_columns(policy, table)
    if not indices.keys().isdisjoint(column.name for column in columns):
        return None
    person, *others = names
    key = ", ".join(f"t.{written_name(name)}" for name in table.primary_key)
    shown = ", ".join(f"r.{name}" for name in (person, SLOT, *others))
    shown += "".join(f",\n    {sql} AS {written_name(name)}" for name, sql in indices.items())
    inner = ", ".join(f"t.{name}" for name in names)
    return "\n".join(
        (
            f"SELECT {shown}",
            f"FROM (SELECT {inner}, row_number() OVER (PARTITION BY t.{person}",
            f"        ORDER BY hash_record_extended(ROW({key}), s.seed), {key})::integer AS slot",
            f"    FROM {written_name(*policy.name)} t"
            f" CROSS JOIN {written_name(copy.table.schema, SEEDS)} s",
            f"    WHERE s.name = '{policy.name}' AND t.{person} IS NOT NULL) r",
            f"WHERE r.slot <= {rows}",
        )
    )


def printed_digest(select: str) -> str:
    """By which the comment of a view says of which text it was made."""
    return hashlib.sha256(select.encode()).hexdigest()[:32]


def printed_of(policy: Policy, catalog: Catalog, name: TableName) -> str:
    """The digest of the view that `dpproxy prepare` prints for a copy with this bound; else empty."""
    table, stored = policy.tables.get(name), catalog.tables.get(name)
    if not isinstance(table, ProtectedTable) or table.prepared is None or stored is None:
        return ""
    made = catalog.tables.get(table.prepared.table)
    bound = None if made is None else made.row_bound
    select = None if bound is None else copy_select(table, stored, bound.rows)
    return "" if select is None else printed_digest(select)


def copy_script(policy: ProtectedTable, table: Table, rows: int, reader: str) -> str | None:
    """Print the SQL by which the owner makes a copy, and makes it anew.

    All is one transaction, of which the time is stated: rows that come meanwhile are younger than that.

    Args:
        policy: Of the table; it names the copy.
        table: As the catalogue has it.
        rows: Of each unit.
        reader: The role of the policy's source.

    Returns:
        None: as of `copy_select`.
    """
    select = copy_select(policy, table, rows)
    if select is None or policy.prepared is None:
        return None
    copy = policy.prepared.table
    schema, place = written_name(copy.schema), written_name(*copy)
    new = written_name(copy.schema, f"{copy.name}_new")
    view, role = written_name(*view_of(copy)), written_name(reader)
    seeds, times = (written_name(copy.schema, name) for name in (SEEDS, TIMES))
    label = f"'{policy.name}'"
    person, *others = copied_columns(policy, table)
    filled = "".join(
        f"    ALTER {written_name(column.name)} SET NOT NULL,\n"
        for column in others
        if not column.nullable
    )
    return f"""\
-- A copy of {policy.name} with at most {rows} rows of each {person.name}, printed by `dpproxy prepare`.
-- Run it with psql as the owner of the table, not as {reader}. Run it again for each refresh, and after a
-- deletion that has to count at once.
BEGIN;
SET LOCAL search_path = '';
CREATE SCHEMA IF NOT EXISTS {schema};
CREATE TABLE IF NOT EXISTS {times} (name text PRIMARY KEY, as_of timestamptz NOT NULL);
CREATE TABLE IF NOT EXISTS {seeds} (name text PRIMARY KEY, seed bigint NOT NULL);
INSERT INTO {seeds} SELECT {label}, pg_catalog.hashtextextended(pg_catalog.gen_random_uuid()::text, 0)
    ON CONFLICT (name) DO NOTHING;
DROP VIEW IF EXISTS {view};
CREATE VIEW {view} AS
{select};
DO $$ BEGIN EXECUTE pg_catalog.format('COMMENT ON VIEW {view} IS %L',
    'dpproxy prepare {printed_digest(select)} '
    || pg_catalog.hashtextextended(pg_catalog.pg_get_viewdef('{view}'::pg_catalog.regclass), 0)); END $$;
DROP TABLE IF EXISTS {new};
CREATE TABLE {new} AS SELECT * FROM {view};
ALTER TABLE {new}
{filled}    ALTER slot SET NOT NULL,
    ADD CONSTRAINT slot_is_bounded CHECK (slot >= 1 AND slot <= {rows}),
    ADD PRIMARY KEY ({written_name(person.name)}, slot);
GRANT USAGE ON SCHEMA {schema} TO {role};
GRANT SELECT ON {new}, {times} TO {role};
DROP TABLE IF EXISTS {place};
ALTER TABLE {new} RENAME TO {written_name(copy.name)};
INSERT INTO {times} VALUES ({label}, pg_catalog.transaction_timestamp())
    ON CONFLICT (name) DO UPDATE SET as_of = excluded.as_of;
COMMIT;
VACUUM ANALYZE {place};
-- Which share of rows is kept, for several bounds (for you alone: this reads rows):
-- SELECT bound, sum(least(n, bound)) / sum(n) AS kept
--     FROM (SELECT count(*) AS n FROM {written_name(*policy.name)} t
--         WHERE t.{written_name(person.name)} IS NOT NULL GROUP BY t.{written_name(person.name)}) u,
--     unnest(ARRAY[{max(1, rows // 4)}, {max(1, rows // 2)}, {rows}, {rows * 2}, {rows * 4}]) AS bound
--     GROUP BY bound ORDER BY bound;
"""
