"""synthetic tables as analysts see them, for PostgreSQL's own answers: of an enumeration the label's text."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager

import psycopg

from proxy.catalog.catalog_model import TableName
from tests.pipeline_world import CATALOG, PROTECTED, PUBLIC, SCHEMA

TABLES = tuple(name.name for name in (*PROTECTED, *PUBLIC))


def shown(schema: str) -> str:
    """The schema of the views on the tables of a schema."""
    return f"{schema}_shown"


@contextmanager
def among_shown(connection: psycopg.Connection[tuple[object, ...]], schema: str) -> Iterator[None]:
    """Bare names are those of the views meanwhile."""
    connection.execute(f"SET search_path = {shown(schema)}".encode())
    try:
        yield
    finally:
        connection.execute(b"RESET search_path")


def show(
    connection: psycopg.Connection[tuple[object, ...]],
    schema: str,
    tables: Iterable[str] = TABLES,
) -> None:
    statements = [f"CREATE SCHEMA {shown(schema)}"]
    for table in tables:
        columns = ", ".join(
            f"{column.name}::{column.display_type_name} AS {column.name}"
            for column in CATALOG.tables[TableName(SCHEMA, table)].columns
        )
        source = f"SELECT {columns} FROM {schema}.{table}"
        statements.append(f"CREATE VIEW {shown(schema)}.{table} AS {source}")
    connection.execute(";\n".join(statements).encode())
