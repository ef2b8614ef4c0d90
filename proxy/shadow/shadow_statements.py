"""The SQL that makes one shadow table: create, keys, and the twin of a protected one."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, cast

from psycopg import sql
from typing_extensions import LiteralString

from proxy.base.errors import Code
from proxy.catalog.catalog_model import Enumeration, ForeignKey, TableName
from proxy.query.rewrite.empty_twins import twin_of
from proxy.shadow.shadow_tables import ShadowColumn, ShadowTable

_IDENTITIES: Mapping[str, LiteralString] = {"a": "ALWAYS", "d": "BY DEFAULT"}


def identifier(name: TableName) -> sql.Identifier:
    return sql.Identifier(name.schema, name.name)


def names(columns: Iterable[str]) -> sql.Composed:
    return sql.SQL(", ").join(map(sql.Identifier, columns))


def create(table: ShadowTable) -> sql.Composed:
    return sql.SQL("CREATE TABLE {} ({})").format(
        identifier(table.stored_in), sql.SQL(", ").join(map(_definition, table.columns))
    )


def create_view(table: ShadowTable) -> sql.Composed:
    """It is read with the rights of its owner, as views are."""
    if table.is_withheld:
        return _refusing_view(table)
    return sql.SQL("CREATE VIEW {} AS SELECT {} FROM {}").format(
        identifier(table.name),
        names(column.name for column in table.columns),
        identifier(table.stored_in),
    )


def _refusing_view(table: ShadowTable) -> sql.Composed:
    """Its columns are there for tools. Reading it raises what the engine says of such a table."""
    columns = (
        sql.SQL("NULL::{} AS {}").format(_type(column), sql.Identifier(column.name))
        for column in table.columns
    )
    message = f"the table {table.name} is not what the policy was checked against"
    return sql.SQL("CREATE VIEW {} AS SELECT {} FROM dp.refuse({}, {}, {}) AS refused").format(
        identifier(table.name),
        sql.SQL(", ").join(columns),
        sql.Literal(Code.UNAVAILABLE.sqlstate),
        sql.Literal(message),
        sql.Literal(
            "Ask the operator: what does not fit is in the log (public_tables_not_copied)."
        ),
    )


def create_enumeration(one: Enumeration) -> sql.Composed:
    return sql.SQL("CREATE TYPE {} AS ENUM ({})").format(
        sql.Identifier(one.schema, one.name), sql.SQL(", ").join(map(sql.Literal, one.labels))
    )


def _definition(column: ShadowColumn) -> sql.Composed:
    return sql.SQL("{} {}{}").format(
        sql.Identifier(column.name),
        _type(column),
        sql.SQL("" if column.nullable else " NOT NULL"),
    )


def _type(column: ShadowColumn) -> sql.SQL:
    # Of the fixed shape that shadow_tables lets through, and a type that the shadow server knows; or the
    # quoted name of an enumeration.
    return sql.SQL(cast(Any, column.type_name))


def keys(table: ShadowTable) -> Iterable[sql.Composed]:
    if table.primary_key:
        yield sql.SQL("ALTER TABLE {} ADD PRIMARY KEY ({})").format(
            identifier(table.name), names(table.primary_key)
        )
    for key in table.unique:
        yield sql.SQL("ALTER TABLE {} ADD UNIQUE ({})").format(identifier(table.name), names(key))
    for indexed in table.indexes:
        yield sql.SQL("CREATE INDEX ON {} ({})").format(identifier(table.name), names(indexed))


def copied_clauses(table: ShadowTable) -> Iterable[sql.Composed]:
    """What is of the source's words: each for itself, so that one which fails is left out alone."""
    name = identifier(table.stored_in)
    for column in table.columns:
        change = sql.SQL("ALTER TABLE {} ALTER COLUMN {} ").format(
            name, sql.Identifier(column.name)
        )
        if column.default is not None:
            yield change + sql.SQL("SET DEFAULT {}").format(_printed(column.default))
        if column.identity in _IDENTITIES:
            yield change + sql.SQL("ADD GENERATED {} AS IDENTITY").format(
                sql.SQL(_IDENTITIES[column.identity])
            )
    for constraint, condition in table.checks:
        yield sql.SQL("ALTER TABLE {} ADD CONSTRAINT {} CHECK ({})").format(
            name, sql.Identifier(constraint), _printed(condition)
        )


def _printed(expression: str) -> sql.SQL:
    # In words of our own (query.copied_expressions).
    return sql.SQL(cast(Any, expression))


def drop_checks(table: ShadowTable) -> Iterable[sql.Composed]:
    for constraint, _ in table.checks:
        yield sql.SQL("ALTER TABLE {} DROP CONSTRAINT IF EXISTS {}").format(
            identifier(table.name), sql.Identifier(constraint)
        )


def foreign_key(table: ShadowTable, key: ForeignKey, *, valid: bool) -> sql.Composed:
    """NOT VALID where the rows of a public table do not fit: shown and used by tools all the same."""
    return sql.SQL("ALTER TABLE {} ADD FOREIGN KEY ({}) REFERENCES {} ({}){}").format(
        identifier(table.name),
        names(key.columns),
        identifier(key.target),
        names(key.target_columns),
        sql.SQL("" if valid else " NOT VALID"),
    )


def twin(table: ShadowTable) -> sql.Composed:
    """The same columns and keys, so that what is analysed on the one is valid on the other."""
    return sql.SQL("CREATE TABLE {} (LIKE {} INCLUDING INDEXES)").format(
        identifier(twin_of(table.name)), identifier(table.name)
    )
