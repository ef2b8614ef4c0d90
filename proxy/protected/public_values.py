"""Distinct values of the columns of public tables, and rows of small ones: public GROUP BY keys; and between
which their numbers and times are, so that they can be added up."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterator
from fractions import Fraction

import psycopg
from psycopg import sql

from proxy.base import limits
from proxy.base.sql_types import SqlType
from proxy.catalog.catalog_model import Catalog, Column, TableName
from proxy.planner.facts import PublicContents
from proxy.policy.grid import fits_bigint, grid_within
from proxy.policy.policy_model import Bounds, BoundsKind, Policy, PublicTable
from proxy.policy.public_labels import labelled, public_label_columns

_MOST = limits.GROUPS_PER_STATEMENT
_CHARACTERS = 400  # of a number as text; a numeric can have more than a hundred thousand
_LARGEST = Fraction(10) ** 18
_CALENDAR = (-719162, 2932896)  # 0001-01-01 .. 9999-12-31, in days from 1970-01-01


def read_public_contents(policy: Policy, catalog: Catalog) -> PublicContents:
    """Read all that plans need of public tables, from the policy's source.

    Args:
        policy: Checked against the catalogue.
        catalog: Of the source.

    Raises:
        psycopg.Error: The source cannot be reached, or the role may not read a table.
    """
    return PublicContents(
        values=read_public_values(policy, catalog),
        rows=read_public_rows(policy, catalog),
        bounds=read_public_bounds(policy, catalog),
    )


def read_public_values(
    policy: Policy, catalog: Catalog
) -> dict[tuple[TableName, str], tuple[str | None, ...]]:
    """
    Given    a checked policy; its source is asked
    Gives    for each column of a public table with few enough distinct values all of them, as PostgreSQL
             prints them, sorted
    """
    found: dict[tuple[TableName, str], tuple[str | None, ...]] = {}
    for name, columns, connection in _public_tables(policy, catalog):
        for column in columns:
            rows = _distinct(connection, name, (column,))
            if len(rows) <= _MOST:
                found[name, column] = tuple(row[0] for row in rows)
    return found


def read_public_rows(
    policy: Policy, catalog: Catalog
) -> dict[TableName, tuple[tuple[str, ...], tuple[tuple[str | None, ...], ...]]]:
    """
    Given    a checked policy; its source is asked
    Gives    for each public table of few and short rows its columns that can be keys, and its different
             rows in them, as PostgreSQL prints them, sorted
    """
    found = {}
    for name, columns, connection in _public_tables(policy, catalog):
        rows = _distinct(connection, name, columns) if columns else []
        octets = sum(len(text) for row in rows for text in row if text is not None)
        if columns and len(rows) <= _MOST and octets <= limits.PUBLIC_LIST_BYTES:
            found[name] = columns, tuple(rows)
    return found


def read_public_bounds(policy: Policy, catalog: Catalog) -> dict[tuple[TableName, str], Bounds]:
    """
    Given    a checked policy; its source is asked
    Gives    for each column of numbers or times of a public table that has any, the least and the largest, on
             the column's grid; none where they are too large to be computed with
    """
    found: dict[tuple[TableName, str], Bounds] = {}
    for table, connection in _public(policy):
        columns = [
            column
            for column in catalog.tables[table.name].columns
            if (column.type.is_number or column.type.is_time) and table.has(column.name)
        ]
        if not columns:
            continue
        ends = (sql.SQL(_ends(column)).format(sql.Identifier(column.name)) for column in columns)
        statement = sql.SQL("SELECT {} FROM {}").format(
            sql.SQL(", ").join(ends), sql.Identifier(*table.name)
        )
        [row] = connection.execute(statement).fetchall()
        for column, low, high in zip(columns, row[::2], row[1::2], strict=True):
            is_short = low is not None and max(len(low), len(high)) <= _CHARACTERS
            bounds = _on_grid(column, Fraction(low), Fraction(high)) if is_short else None
            if bounds is not None:
                found[table.name, column.name] = bounds
    return found


def _ends(column: Column) -> str:
    """Its least and largest value that is finite, as texts; of times, as bounds count them."""
    value, finite = "{0}", "{0}::text NOT IN ('NaN', 'Infinity', '-Infinity')"
    if column.type is SqlType.DATE:
        value, finite = "{0} - date '1970-01-01'", "isfinite({0})"
    elif column.type.is_time:
        value, finite = "extract(epoch FROM {0})", "isfinite({0})"
    return ", ".join(f"({end}({value}) FILTER (WHERE {finite}))::text" for end in ("min", "max"))


def _on_grid(column: Column, low: Fraction, high: Fraction) -> Bounds | None:
    kind = BoundsKind.NUMBER
    if column.type.is_time:
        kind = BoundsKind.DATE if column.type is SqlType.DATE else BoundsKind.TIMESTAMP
        days = 1 if kind is BoundsKind.DATE else 86_400
        if not (_CALENDAR[0] * days <= low and high <= _CALENDAR[1] * days):
            return None
    grid = grid_within(column, Bounds(low, high, kind))
    bounds = Bounds(math.floor(low / grid) * grid, math.ceil(high / grid) * grid, kind)
    is_computed = max(abs(low), abs(high)) < _LARGEST and grid >= 1 / _LARGEST
    return bounds if is_computed and fits_bigint(bounds, grid) else None


def _public_tables(
    policy: Policy, catalog: Catalog
) -> Iterator[tuple[TableName, tuple[str, ...], psycopg.Connection]]:
    """With their columns that can be keys."""
    for table, connection in _public(policy):
        columns = catalog.tables[table.name].columns
        keys = tuple(c.name for c in columns if c.has_keys and table.has(c.name))
        yield table.name, keys, connection


def _public(policy: Policy) -> Iterator[tuple[PublicTable, psycopg.Connection]]:
    public = [table for table in policy.tables.values() if isinstance(table, PublicTable)]
    if not public:
        return
    with psycopg.connect(policy.source, autocommit=True) as connection:
        connection.execute("SET DateStyle = 'ISO, YMD'")  # as in the sessions that answer
        for table in public:
            yield table, connection


def _distinct(
    connection: psycopg.Connection, table: TableName, columns: tuple[str, ...]
) -> list[tuple[str | None, ...]]:
    """One more than are used, where there are more."""
    statement = sql.SQL(
        "SELECT DISTINCT {columns} FROM {table} ORDER BY {order} LIMIT {most}"
    ).format(
        columns=sql.SQL(", ").join(sql.SQL("{}::text").format(sql.Identifier(c)) for c in columns),
        table=sql.Identifier(*table),
        order=sql.SQL(", ").join(sql.SQL(str(n)) for n in range(1, len(columns) + 1)),
        most=sql.Literal(_MOST + 1),
    )
    return connection.execute(statement).fetchall()


# Which labels of enumerations stand in rows of public tables.


def with_public_labels(policy: Policy, catalog: Catalog) -> Catalog:
    """
    Given    a checked policy; its source is asked where public tables have columns of enumerations
    Gives    as proxy.policy.public_labels; where they cannot be read, no label of theirs is public by them
    """
    return labelled(policy, catalog, _in_rows(policy, catalog))


def _in_rows(policy: Policy, catalog: Catalog) -> dict[str, frozenset[str]]:
    columns = list(public_label_columns(policy, catalog))
    found: dict[str, set[str]] = defaultdict(set)
    if not columns:
        return {}
    try:
        with psycopg.connect(policy.source, autocommit=True) as connection:
            connection.read_only = True
            for table, column in columns:
                name = sql.Identifier(column.name)
                statement = sql.SQL("SELECT DISTINCT {}::text FROM {} WHERE {} IS NOT NULL").format(
                    name, sql.Identifier(*table.name), name
                )
                found[column.type_name].update(row[0] for row in connection.execute(statement))
    except psycopg.Error:
        return {}
    return {name: frozenset(labels) for name, labels in found.items()}
