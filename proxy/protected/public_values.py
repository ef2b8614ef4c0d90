"""Distinct values of the columns of public tables, and rows of small ones: public GROUP BY keys."""

from __future__ import annotations

from collections.abc import Iterator

import psycopg
from psycopg import sql

from proxy.base import limits
from proxy.catalog.catalog_model import Catalog, TableName
from proxy.policy.key_texts import has_keys
from proxy.policy.policy_model import Policy, PublicTable

_MOST = limits.GROUPS_PER_STATEMENT


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


def _public_tables(
    policy: Policy, catalog: Catalog
) -> Iterator[tuple[TableName, tuple[str, ...], psycopg.Connection]]:
    """With their columns that can be keys."""
    public = [table for table in policy.tables.values() if isinstance(table, PublicTable)]
    if not public:
        return
    with psycopg.connect(policy.source, autocommit=True) as connection:
        connection.execute("SET DateStyle = 'ISO, YMD'")  # as in the sessions that answer
        for table in public:
            columns = catalog.tables[table.name].columns
            keys = tuple(c.name for c in columns if has_keys(c) and table.has(c.name))
            yield table.name, keys, connection


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
