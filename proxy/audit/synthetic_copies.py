"""Prepared copies of the synthetic database: views of what `dpproxy prepare` prints, so always of its rows."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

import psycopg
from psycopg import sql

from proxy.catalog.catalog_model import Catalog, Table, TableName
from proxy.compiler.copy_view import copy_select, made_copy
from proxy.policy.policy_model import SEEDS_OF_COPIES, IdentifierUnit, Policy, ProtectedTable

_SEED = 4_242_424_242

# By unit: its rows in the table, and in the copy.
CopiedRows = Mapping[str, tuple[str, str]]


@dataclass(frozen=True, slots=True, kw_only=True)
class SyntheticCopy:
    """policy: of the table, with the copy's name; rows: of each unit; stored: without copies; made: as the
    catalogue will have it."""

    policy: ProtectedTable
    rows: int
    stored: Catalog
    made: Table


def synthetic_copies(policy: Policy, catalog: Catalog) -> tuple[SyntheticCopy, ...]:
    """The copies that a policy names and that can be made, with the bound that they have or will have."""
    return tuple(_copies(policy, catalog))


def _copies(policy: Policy, catalog: Catalog) -> Iterator[SyntheticCopy]:
    for table in policy.protected():
        if table.prepared is None:
            continue
        there = catalog.tables.get(table.prepared.table)
        bound = None if table.chooses_rows else table.max_rows_per_unit
        if there is not None and there.row_bound is not None:
            bound = there.row_bound.rows
        made = None if bound is None else made_copy(table, catalog, bound)
        if bound is not None and made is not None:
            yield SyntheticCopy(policy=table, rows=bound, stored=catalog, made=made)


def with_copies(catalog: Catalog, copies: tuple[SyntheticCopy, ...]) -> Catalog:
    """The catalogue once the owner has run what is printed."""
    made = {copy.made.name: copy.made for copy in copies}
    return replace(catalog, tables={**catalog.tables, **made})


def create_copies(connection: psycopg.Connection, copies: tuple[SyntheticCopy, ...]) -> None:
    """Make the copies of tables that are there."""
    for copy in copies:
        place = copy.made.name
        seeds = sql.Identifier(place.schema, SEEDS_OF_COPIES)
        select = copy_select(copy.policy, copy.stored, copy.rows)
        assert select is not None, "it was made"
        connection.execute(
            sql.SQL("CREATE SCHEMA IF NOT EXISTS {}").format(sql.Identifier(place.schema))
        )
        connection.execute(
            sql.SQL("CREATE TABLE IF NOT EXISTS {} (name text, seed bigint)").format(seeds)
        )
        connection.execute(
            sql.SQL("INSERT INTO {} VALUES (%s, %s)").format(seeds), (str(copy.policy.name), _SEED)
        )
        view = f"CREATE VIEW {sql.Identifier(*place).as_string(connection)} AS {select}"
        connection.execute(view.encode())


def copied_rows(connection: psycopg.Connection, copy: SyntheticCopy) -> CopiedRows:
    """What each unit has in a table and in its copy, as texts: equal rows, equal texts."""
    unit = copy.policy.unit
    assert isinstance(unit, IdentifierUnit)
    by = sql.SQL(
        "SELECT {unit}::text, string_agg({rows}, ' ' ORDER BY {rows}) FROM {source}"
        " WHERE {unit} IS NOT NULL GROUP BY 1"
    )
    table, made = (sql.Identifier(*name) for name in (copy.policy.name, copy.made.name))
    of_table = {
        "unit": sql.Identifier("t", unit.column),
        "rows": sql.SQL("t::text"),
        "source": sql.SQL("{} t").format(table),
    }
    of_copy = {
        "unit": sql.Identifier("t", unit.column_in_copy),
        "rows": sql.SQL("t::text"),
        "source": sql.SQL("{} t").format(made),
    }
    if unit.path is not None:
        key = copy.stored.tables[unit.path.table].primary_key
        of_table = {
            "unit": sql.Identifier("u", unit.path.column),
            "rows": sql.SQL("t::text || u::text"),
            "source": sql.SQL("{} t JOIN {} u ON {} = {}").format(
                table,
                sql.Identifier(*unit.path.table),
                sql.Identifier("t", unit.column),
                sql.Identifier("u", *key),
            ),
        }
    stored, copied = (
        dict[str, str](connection.execute(by.format(**parts)).fetchall())
        for parts in (of_table, of_copy)
    )
    return {person: (stored.get(person, ""), copied.get(person, "")) for person in stored | copied}


def mixed_units(here: CopiedRows, there: CopiedRows) -> int:
    """How many units have the same rows in both databases, and others in the copies.

    >>> mixed_units({"1": ("a", "a"), "2": ("b", "b")}, {"1": ("a", "")})
    1
    """
    nobody = ("", "")
    units = {*here, *there}
    return sum(
        here.get(unit, nobody)[0] == there.get(unit, nobody)[0]
        and here.get(unit, nobody)[1] != there.get(unit, nobody)[1]
        for unit in units
    )


def copied_names(copies: tuple[SyntheticCopy, ...]) -> Mapping[TableName, str]:
    """The copies, for planning, as if each was filled just now."""
    return {copy.policy.name: "now" for copy in copies}
