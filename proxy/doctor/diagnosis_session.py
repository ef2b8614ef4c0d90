"""Looks at a live protected database as the proxy's role: catalogues, settings and sizes, never a row."""

from __future__ import annotations

from typing import Any

import psycopg
from psycopg import sql

from proxy.catalog.catalog_model import TableName

Connection = psycopg.Connection[tuple[Any, ...]]


def connect(source: str) -> Connection:
    """As the proxy itself; nothing can be written. Refuses  psycopg.Error"""
    connection: Connection = psycopg.connect(source, autocommit=True, connect_timeout=10)
    connection.execute("SET default_transaction_read_only = on")
    connection.execute("SET search_path = ''")
    connection.execute("SET statement_timeout = '60s'")
    return connection


def name_text(connection: Connection, *parts: str) -> str:
    """
    Gives    a name as it is written in SQL, quoted
    """
    return sql.Identifier(*parts).as_string(connection)


def table_text(connection: Connection, name: TableName) -> str:
    return name_text(connection, name.schema, name.name)
