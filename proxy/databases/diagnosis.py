"""What a live protected database could do better, or must: findings with the SQL that mends them.

Only catalogues, settings and sizes are read, as the role that the proxy uses; never a row.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import Any

import psycopg
from psycopg import sql

from proxy.catalog.model import TableName

Connection = psycopg.Connection[tuple[Any, ...]]


class Severity(Enum):
    UNSAFE = (
        "unsafe"  # people's data, or what was asked about them, can get out or answers be wrong
    )
    SLOW = "slow"
    NOTE = "note"


@dataclass(frozen=True, slots=True)
class Finding:
    """fix: SQL for an administrator of the protected database; empty where there is nothing to do."""

    severity: Severity
    what: str
    fix: str = ""


def ordered(findings: list[Finding]) -> tuple[Finding, ...]:
    """The worst first, each once."""
    rank = list(Severity)
    return tuple(sorted(dict.fromkeys(findings), key=lambda f: rank.index(f.severity)))


def connect(source: str) -> Connection:
    """As the proxy itself; nothing can be written. Refuses  psycopg.Error"""
    connection: Connection = psycopg.connect(source, autocommit=True, connect_timeout=10)
    connection.execute("SET default_transaction_read_only = on")
    connection.execute("SET search_path = ''")
    return connection


def name_text(connection: Connection, *parts: str) -> str:
    """
    Gives    a name as it is written in SQL, quoted
    """
    return sql.Identifier(*parts).as_string(connection)


def table_text(connection: Connection, name: TableName) -> str:
    return name_text(connection, name.schema, name.name)
