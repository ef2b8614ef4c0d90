"""What a build of a shadow does in its transaction: schemas, tables, public rows; and what it has made."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from contextlib import suppress

import psycopg
from psycopg import sql

from proxy.catalog.catalog_model import Catalog, TableName
from proxy.policy.policy_model import Policy
from proxy.protected.judged_rows import JudgedRows
from proxy.query.rewrite.empty_twins import TWIN_SCHEMA
from proxy.shadow import shadow_statements as statements
from proxy.shadow.shadow_tables import (
    ROWS_SCHEMA,
    ShadowError,
    ShadowTable,
    enumerations_of,
    types_of,
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
        connection.execute(statements.create_enumeration(one))
    for table in tables:
        connection.execute(statements.create(table))
        if table.is_view:
            connection.execute(statements.create_view(table))
    if rows is not None:
        copy_public_rows(connection, tables, rows, _copy_rows)
    for table in tables:
        for statement in statements.keys(table):
            connection.execute(statement)
        for statement in statements.copied_clauses(table):
            # Rows that are not as the constraint says, or a constant that this server reads otherwise.
            with suppress(psycopg.Error), connection.transaction():
                connection.execute(statement)
        if table.protected:
            connection.execute(statements.twin(table))
    for table in tables:
        for key in table.foreign_keys:
            try:
                with connection.transaction():
                    connection.execute(statements.foreign_key(table, key, valid=True))
            except psycopg.errors.ForeignKeyViolation:
                connection.execute(statements.foreign_key(table, key, valid=False))
        connection.execute(sql.SQL("ANALYZE {}").format(statements.identifier(table.stored_in)))


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
    for dropped in ((), statements.drop_checks(table)):
        try:
            with connection.transaction():
                for statement in dropped:
                    connection.execute(statement)
                connection.execute(
                    sql.SQL("DELETE FROM {}").format(statements.identifier(table.stored_in))
                )
                _copy_rows(connection, table, public)
        except ShadowError as error:
            if dropped or not isinstance(error.__cause__, psycopg.errors.CheckViolation):
                raise
        else:
            return


def _copy_rows(connection: psycopg.Connection, table: ShadowTable, public: JudgedRows) -> None:
    """In text, so that a type the shadow lacks arrives as the text it has become."""
    columns = [column.name for column in table.columns]
    write = sql.SQL("COPY {} ({}) FROM STDIN").format(
        statements.identifier(table.stored_in), statements.names(columns)
    )
    try:
        with (
            public.copied(table.name, columns) as blocks,
            connection.cursor().copy(write) as copy,
        ):
            for block in blocks:
                copy.write(block)
    except psycopg.Error as error:
        raise ShadowError(f"the rows of public table {table.name} cannot be copied") from error
