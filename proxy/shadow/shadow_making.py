"""What a build of a shadow does in its transaction: schemas, tables, public rows; and what it has made."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from typing import Any, cast

import psycopg
from psycopg import sql
from typing_extensions import LiteralString

from proxy.base.errors import Code
from proxy.catalog.catalog_model import Catalog, Enumeration, ForeignKey, TableName
from proxy.policy.policy_model import Policy
from proxy.protected.judged_rows import JudgedRows
from proxy.query.rewrite.empty_twins import TWIN_SCHEMA, twin_of
from proxy.shadow.shadow_tables import (
    ROWS_SCHEMA,
    ShadowColumn,
    ShadowError,
    ShadowTable,
    enumerations_of,
    types_of,
)

# The SQL that makes one shadow table: create, keys, and the twin of a protected one.

_IDENTITIES: Mapping[str, LiteralString] = {"a": "ALWAYS", "d": "BY DEFAULT"}
# Of tables that never have a row: else each has a TOAST table with an index, and the session that builds the
# shadow holds what it knows of them, twice the memory.
_STORED_PLAIN: LiteralString = " STORAGE PLAIN"
_SAYS_STORAGE = 160_000  # the first version whose CREATE TABLE does


def identifier(name: TableName) -> sql.Identifier:
    return sql.Identifier(name.schema, name.name)


def names(columns: Iterable[str]) -> sql.Composed:
    return sql.SQL(", ").join(map(sql.Identifier, columns))


def create(table: ShadowTable, version: int) -> sql.Composed:
    """Write CREATE TABLE for a server of this version (PQserverVersion)."""
    stored = _STORED_PLAIN if table.protected and version >= _SAYS_STORAGE else ""
    return sql.SQL("CREATE TABLE {} ({})").format(
        identifier(table.stored_in),
        sql.SQL(", ").join(_definition(column, stored) for column in table.columns),
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


def _definition(column: ShadowColumn, stored: LiteralString) -> sql.Composed:
    return sql.SQL("{} {}{}{}").format(
        sql.Identifier(column.name),
        _type(column),
        sql.SQL(stored),
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
    return sql.SQL("CREATE TABLE {} (LIKE {} INCLUDING INDEXES INCLUDING STORAGE)").format(
        identifier(twin_of(table.name)), identifier(table.name)
    )


def relation_oids(connection: psycopg.Connection) -> dict[TableName, int]:
    return {
        TableName(schema, name): oid
        for schema, name, oid in connection.execute(
            "SELECT n.nspname, c.relname, c.oid::bigint FROM pg_class c"
            " JOIN pg_namespace n ON n.oid = c.relnamespace"
            " WHERE (c.relkind IN ('r', 'v') AND n.nspname !~ '^pg_'"
            " AND n.nspname NOT IN ('dp', 'information_schema'))"
            " OR (n.nspname = 'dp' AND c.relkind = 'v' AND c.relname IN ('budget', 'history', 'status'))"
        )
    }


def label_oids(connection: psycopg.Connection) -> dict[int, int]:
    rows = connection.execute(
        "SELECT t.oid::bigint, t.typarray::bigint FROM pg_type t"
        " JOIN pg_namespace n ON n.oid = t.typnamespace"
        " WHERE t.typtype = 'e' AND n.nspname !~ '^pg_'"
    ).fetchall()
    text, texts = 25, 1009  # pg_type.dat, stable
    return {one: text for one, _ in rows} | {many: texts for _, many in rows}


def known_types(connection: psycopg.Connection, policy: Policy, catalog: Catalog) -> frozenset[str]:
    """Those of the system itself: nobody else's type has a place in the shadow."""
    rows = connection.execute(
        "SELECT name FROM unnest(%s::text[]) AS name JOIN pg_type t ON t.oid = to_regtype(name)"
        " WHERE t.typnamespace = 'pg_catalog'::regnamespace",
        (sorted(types_of(policy, catalog)),),
    )
    return frozenset(row[0] for row in rows)


def drop_schemas(connection: psycopg.Connection) -> None:
    """Drop the schemas of the policy with all that is in them.

    Raises:
        psycopg.errors.LockNotAvailable: An open transaction holds a table.
    """
    rows = connection.execute(
        "SELECT nspname FROM pg_namespace"
        " WHERE nspname = ANY (%s) OR"
        " (nspname !~ '^pg_' AND nspname NOT IN ('dp', 'information_schema'))",
        ([TWIN_SCHEMA, ROWS_SCHEMA],),
    ).fetchall()
    schemas = [schema for (schema,) in rows]
    _lock_tables(connection, schemas)
    for schema in schemas:
        connection.execute(sql.SQL("DROP SCHEMA {} CASCADE").format(sql.Identifier(schema)))


def _lock_tables(connection: psycopg.Connection, schemas: list[str]) -> None:
    """All of them within the time for one lock: else statements of others would wait for as many times that."""
    rows = connection.execute(
        "SELECT n.nspname, c.relname FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace"
        " WHERE c.relkind IN ('r', 'v') AND n.nspname = ANY (%s) ORDER BY c.oid",
        (schemas,),
    ).fetchall()
    if not rows:
        return
    tables = sql.SQL(", ").join(sql.Identifier(*row) for row in rows)
    connection.execute(
        "SELECT set_config('statement_timeout', current_setting('lock_timeout'), true)"
    )
    try:
        connection.execute(sql.SQL("LOCK TABLE {} IN ACCESS EXCLUSIVE MODE").format(tables))
    except psycopg.errors.QueryCanceled:
        raise psycopg.errors.LockNotAvailable from None
    connection.execute("SET LOCAL statement_timeout = 0")


def make_tables(
    connection: psycopg.Connection, tables: tuple[ShadowTable, ...], rows: JudgedRows | None
) -> None:
    """Make tables with their keys, public rows and empty twins. Nobody has a right on them yet (shadow_guard).

    Args:
        connection: Of the transaction that makes the shadow.
        tables: All of the policy.
        rows: None leaves the public tables empty.

    Raises:
        ShadowError: Rows cannot be copied.
        CatalogueMoved: As JudgedRows.confirm.
    """
    enumerations = enumerations_of(tables)
    schemas = {table.name.schema for table in tables} | {"public", TWIN_SCHEMA, ROWS_SCHEMA}
    for schema in sorted(schemas | {one.schema for one in enumerations}):
        connection.execute(sql.SQL("CREATE SCHEMA {}").format(sql.Identifier(schema)))
    for one in enumerations:
        connection.execute(create_enumeration(one))
    for table in tables:
        connection.execute(create(table, connection.info.server_version))
        if table.is_view:
            connection.execute(create_view(table))
    if rows is not None:
        copy_public_rows(connection, tables, rows, _copy_rows)
    for table in tables:
        for statement in keys(table):
            connection.execute(statement)
        for statement in copied_clauses(table):
            # Rows that are not as the constraint says, or a constant that this server reads otherwise.
            with suppress(psycopg.Error), connection.transaction():
                connection.execute(statement)
        if table.protected:
            connection.execute(twin(table))
    for table in tables:
        for key in table.foreign_keys:
            try:
                with connection.transaction():
                    connection.execute(foreign_key(table, key, valid=True))
            except psycopg.errors.ForeignKeyViolation:
                connection.execute(foreign_key(table, key, valid=False))
        if not table.protected:  # one has no rows, and no plan reads it
            connection.execute(sql.SQL("ANALYZE {}").format(identifier(table.stored_in)))


def copy_public_rows(
    connection: psycopg.Connection,
    tables: Iterable[ShadowTable],
    rows: JudgedRows,
    copy: Callable[[psycopg.Connection, ShadowTable, JudgedRows], None],
) -> None:
    """Copy the rows of the public tables. No other function brings rows of the source into a shadow.

    Args:
        connection: Of a transaction of the shadow that nobody sees yet.
        tables: Those that are protected, or closed by a finding, are passed over.
        rows: The right to read them.
        copy: `_copy_rows`, or what replaces the rows of before.

    Raises:
        ShadowError: Rows cannot be copied.
        CatalogueMoved: The verdict was about another state of the source.
    """
    for table in tables:
        if not table.protected and table.name not in rows.closed:
            copy(connection, table, rows)
    rows.confirm()


def replace_public_rows(
    connection: psycopg.Connection, tables: Iterable[ShadowTable], rows: JudgedRows
) -> None:
    """Copy the rows of public tables that are there again. Raises: as `copy_public_rows`."""
    copy_public_rows(connection, tables, rows, _copy_again)


def _copy_again(connection: psycopg.Connection, table: ShadowTable, public: JudgedRows) -> None:
    """The source may have dropped a CHECK since; then the shadow has none of them any more."""
    for dropped in ((), drop_checks(table)):
        try:
            with connection.transaction():
                for statement in dropped:
                    connection.execute(statement)
                connection.execute(sql.SQL("DELETE FROM {}").format(identifier(table.stored_in)))
                _copy_rows(connection, table, public)
        except ShadowError as error:
            if dropped or not isinstance(error.__cause__, psycopg.errors.CheckViolation):
                raise
        else:
            return


def _copy_rows(connection: psycopg.Connection, table: ShadowTable, public: JudgedRows) -> None:
    """In text, so that a type the shadow lacks arrives as the text it has become."""
    columns = [column.name for column in table.columns]
    write = sql.SQL("COPY {} ({}) FROM STDIN").format(identifier(table.stored_in), names(columns))
    try:
        with (
            public.copied(table.name, columns) as blocks,
            connection.cursor().copy(write) as copy,
        ):
            for block in blocks:
                copy.write(block)
    except psycopg.Error as error:
        raise ShadowError(f"the rows of public table {table.name} cannot be copied") from error


# How much of a public table has been copied so far, as the shadow's server counts it.
_COPIED = "SELECT coalesce(sum(bytes_processed), 0)::bigint FROM pg_catalog.pg_stat_progress_copy"


def bytes_being_copied(server_dsn: str) -> int:
    """Of the tables that are being copied now, in any shadow. 0: none is, or the server does not answer."""
    try:
        with psycopg.connect(server_dsn, autocommit=True, connect_timeout=2) as connection:
            row = connection.execute(_COPIED).fetchone()
    except psycopg.Error:
        return 0
    return 0 if row is None else int(row[0])
