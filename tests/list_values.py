"""What lists of public tables hold, for tests that run a compiled statement by themselves."""

from __future__ import annotations

from typing import Any

import psycopg

from proxy.compiler.backend_query import BackendQuery


def list_values(connection: psycopg.Connection[Any], query: BackendQuery) -> dict[str, str]:
    found: dict[str, str] = {}
    for wanted in query.lists:
        row = connection.execute(wanted.sql.encode(), dict(wanted.parameters)).fetchone()
        assert row is not None and row[2] is not None
        found[wanted.name] = row[2]
    return found
