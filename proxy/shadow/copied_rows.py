"""The rows of public tables, from the protected database into a shadow."""

from __future__ import annotations

import psycopg
from psycopg import sql

from proxy.shadow import shadow_statements as statements
from proxy.shadow.shadow_tables import ShadowError, ShadowTable


def copy_again(connection: psycopg.Connection, table: ShadowTable, source_dsn: str) -> None:
    """The source may have dropped a CHECK since; then the shadow has none of them any more."""
    for dropped in ((), statements.drop_checks(table)):
        try:
            with connection.transaction():
                for statement in dropped:
                    connection.execute(statement)
                connection.execute(
                    sql.SQL("DELETE FROM {}").format(statements.identifier(table.stored_in))
                )
                copy_rows(connection, table, source_dsn)
        except ShadowError as error:
            if dropped or not isinstance(error.__cause__, psycopg.errors.CheckViolation):
                raise
        else:
            return


def copy_rows(connection: psycopg.Connection, table: ShadowTable, source_dsn: str) -> None:
    """In text, so that a type the shadow lacks arrives as the text it has become."""
    columns = statements.names(column.name for column in table.columns)
    name = statements.identifier(table.name)
    read = sql.SQL("COPY (SELECT {} FROM {}) TO STDOUT").format(columns, name)
    written = statements.identifier(table.stored_in)
    write = sql.SQL("COPY {} ({}) FROM STDIN").format(written, columns)
    try:
        # Settings are SET: as `options` they would take the place of those that the source names.
        with psycopg.connect(source_dsn, client_encoding="utf8") as source:
            source.read_only = True
            source.execute("SET datestyle = 'ISO'")
            with source.cursor().copy(read) as rows, connection.cursor().copy(write) as copy:
                for block in rows:
                    copy.write(block)
    except psycopg.Error as error:
        raise ShadowError(f"the rows of public table {table.name} cannot be copied") from error
