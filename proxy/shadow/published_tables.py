"""The tables of schema `published` on a shadow: as the ledger has them, replaced in one transaction.

Rows are deleted and inserted where a table stays what it is: nobody waits for a lock, a statement sees one
release or the next, and an open session the next one in its next statement.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import Any, cast

import psycopg
from psycopg import sql

from proxy.catalog.catalog_model import TableName
from proxy.engine.published_ports import PublishedTable
from proxy.policy.policy_model import Policy
from proxy.policy.publication import PUBLISHED_SCHEMA
from proxy.shadow.shadow_guard import (
    ShadowRights,
    with_published,
)

_TEXT = "text"


def published_names(tables: Sequence[PublishedTable]) -> tuple[TableName, ...]:
    return tuple(TableName(PUBLISHED_SCHEMA, one.name) for one in tables)


def place(connection: psycopg.Connection[Any], tables: Sequence[PublishedTable]) -> None:
    """In the caller's transaction, as a superuser of the shadow. Rights are the guard's (shadow_guard)."""
    there = _there(connection)
    for name in there.keys() - {one.name for one in tables}:
        connection.execute(sql.SQL("DROP TABLE {}").format(_identifier(name)))
    for one in tables:
        document = json.loads(one.text)
        if document["v"] != 1:
            raise ValueError("a table that another version has published")
        columns = tuple(_columns(connection, document["columns"]))
        table = _identifier(one.name)
        if one.name in there and there[one.name] != columns:
            connection.execute(sql.SQL("DROP TABLE {}").format(table))
        if there.get(one.name) != columns:
            made = sql.SQL(", ").join(
                sql.SQL("{} {}").format(sql.Identifier(column), sql.SQL(cast(Any, kind)))
                for column, kind in columns
            )
            connection.execute(sql.SQL("CREATE TABLE {} ({})").format(table, made))
        _fill(connection, one, columns, document["rows"])


def of_policy(
    policy: Policy | None, tables: Sequence[PublishedTable]
) -> tuple[PublishedTable, ...]:
    """Of these the tables that a policy publishes."""
    names = frozenset[str]() if policy is None else {one.name for one in policy.publish}
    return tuple(one for one in tables if one.name in names)


def place_for(
    policy: Policy,
    connection: psycopg.Connection[Any],
    displayed: Sequence[PublishedTable],
    rights: ShadowRights,
) -> ShadowRights:
    """When a shadow is made for a policy: of what is shown by now, what this policy publishes, too.

    Gives    the rights with those on published tables
    """
    schema = sql.Identifier(PUBLISHED_SCHEMA)
    if not policy.publish:
        connection.execute(sql.SQL("DROP SCHEMA IF EXISTS {} CASCADE").format(schema))
        return rights
    tables = of_policy(policy, displayed)
    connection.execute(sql.SQL("CREATE SCHEMA IF NOT EXISTS {}").format(schema))
    place(connection, tables)
    return with_published(rights, published_names(tables))


def _fill(
    connection: psycopg.Connection[Any],
    table: PublishedTable,
    columns: Sequence[tuple[str, str]],
    rows: Sequence[Sequence[str | None]],
) -> None:
    name = _identifier(table.name)
    connection.execute(sql.SQL("DELETE FROM {}").format(name))
    names = sql.SQL(", ").join(sql.Identifier(column) for column, _ in columns)
    statement = sql.SQL("COPY {} ({}) FROM STDIN").format(name, names)
    with connection.cursor().copy(statement) as copy:
        for row in rows:
            copy.write_row(row)
    connection.execute(
        sql.SQL("COMMENT ON TABLE {} IS {}").format(name, sql.Literal(table.comment))
    )
    known = {column for column, _ in columns}
    for column in known:
        of = column.removesuffix("_error")
        if of != column and of in known:
            about = f"Half-width of the 95 % interval of {of}."
            connection.execute(
                sql.SQL("COMMENT ON COLUMN {}.{} IS {}").format(
                    name, sql.Identifier(column), sql.Literal(about)
                )
            )
    connection.execute(sql.SQL("ANALYZE {}").format(name))


def _there(connection: psycopg.Connection[Any]) -> dict[str, tuple[tuple[str, str], ...]]:
    rows = connection.execute(
        "SELECT c.relname, a.attname, format_type(a.atttypid, a.atttypmod) FROM pg_catalog.pg_class c"
        " JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace"
        " JOIN pg_catalog.pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped"
        " WHERE n.nspname = %s AND c.relkind = 'r' ORDER BY c.relname, a.attnum",
        (PUBLISHED_SCHEMA,),
    )
    found: dict[str, tuple[tuple[str, str], ...]] = {}
    for table, column, kind in rows:
        found[table] = (*found.get(table, ()), (column, kind))
    return found


def _columns(
    connection: psycopg.Connection[Any], stored: Sequence[Sequence[str]]
) -> Iterator[tuple[str, str]]:
    """A type that this shadow has not, as of an enumeration that is gone, is text."""
    for name, kind in stored:
        row = connection.execute("SELECT to_regtype(%s) IS NOT NULL", (kind,)).fetchone()
        yield name, kind if row is not None and row[0] else _TEXT


def _identifier(name: str) -> sql.Identifier:
    return sql.Identifier(PUBLISHED_SCHEMA, name)
