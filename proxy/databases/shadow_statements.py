"""The SQL that makes one shadow table: create, sentinel row, keys, guard."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, cast

from psycopg import sql

from proxy.catalog.model import ForeignKey, TableName
from proxy.databases.shadow_tables import ShadowColumn, ShadowTable

ANALYSTS = "dp_analyst"
GUARD = "differential_privacy"


def identifier(name: TableName) -> sql.Identifier:
    return sql.Identifier(name.schema, name.name)


def names(columns: Iterable[str]) -> sql.Composed:
    return sql.SQL(", ").join(map(sql.Identifier, columns))


def create(table: ShadowTable) -> sql.Composed:
    return sql.SQL("CREATE TABLE {} ({})").format(
        identifier(table.name), sql.SQL(", ").join(map(_definition, table.columns))
    )


def _definition(column: ShadowColumn) -> sql.Composed:
    return sql.SQL("{} {}{}").format(
        sql.Identifier(column.name),
        _type(column),
        sql.SQL("" if column.nullable else " NOT NULL"),
    )


def _type(column: ShadowColumn) -> sql.SQL:
    # Of the fixed shape that shadow_tables lets through, and a type that the shadow server knows.
    return sql.SQL(cast(Any, column.type_name))


def sentinel(table: ShadowTable, tables: Mapping[TableName, ShadowTable]) -> sql.Composed:
    """The one row that a slip meets. Where a column refers to a public table, one of its keys is
    taken, so that the foreign key holds."""
    public_targets = {
        key.columns[0]: key
        for key in table.foreign_keys
        if len(key.columns) == 1 and not tables[key.target].protected
    }
    if not table.columns:  # of which rows can be counted all the same
        return sql.SQL("INSERT INTO {} DEFAULT VALUES").format(identifier(table.name))
    values = [_value(column, public_targets.get(column.name)) for column in table.columns]
    return sql.SQL("INSERT INTO {} ({}) VALUES ({})").format(
        identifier(table.name),
        names(column.name for column in table.columns),
        sql.SQL(", ").join(values),
    )


def _value(column: ShadowColumn, public: ForeignKey | None) -> sql.Composable:
    if column.sentinel is None:
        return sql.SQL("NULL")
    literal = sql.SQL("{}::{}").format(sql.Literal(column.sentinel), _type(column))
    if public is None:
        return literal
    return sql.SQL("coalesce((SELECT {key} FROM {table} ORDER BY 1 LIMIT 1), {value})").format(
        key=sql.Identifier(public.target_columns[0]),
        table=identifier(public.target),
        value=literal,
    )


def keys(table: ShadowTable) -> Iterable[sql.Composed]:
    if table.primary_key:
        yield sql.SQL("ALTER TABLE {} ADD PRIMARY KEY ({})").format(
            identifier(table.name), names(table.primary_key)
        )
    for key in table.unique:
        yield sql.SQL("ALTER TABLE {} ADD UNIQUE ({})").format(identifier(table.name), names(key))


def foreign_key(table: ShadowTable, key: ForeignKey, *, valid: bool) -> sql.Composed:
    """NOT VALID where the sentinel row cannot be made to fit: shown and used by tools all the same."""
    return sql.SQL("ALTER TABLE {} ADD FOREIGN KEY ({}) REFERENCES {} ({}){}").format(
        identifier(table.name),
        names(key.columns),
        identifier(key.target),
        names(key.target_columns),
        sql.SQL("" if valid else " NOT VALID"),
    )


def guard(table: ShadowTable) -> Iterable[sql.Composed]:
    """Row security (manual 5.9): the policy's USING is evaluated before the user's conditions."""
    if not table.protected:
        return
    yield sql.SQL("ALTER TABLE {} ENABLE ROW LEVEL SECURITY").format(identifier(table.name))
    yield sql.SQL("CREATE POLICY {} ON {} FOR ALL TO {} USING (dp.guard({}))").format(
        sql.Identifier(GUARD),
        identifier(table.name),
        sql.Identifier(ANALYSTS),
        sql.Literal(str(table.name)),
    )


def grant(table: ShadowTable) -> sql.Composed:
    return sql.SQL("GRANT SELECT ON {} TO {}").format(
        identifier(table.name), sql.Identifier(ANALYSTS)
    )
