"""Processor time of PostgreSQL's backend, in which other load on the machine is not."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import psycopg

from proxy.compiler.backend_query import BackendQuery
from proxy.protected import reading_settings

_TIMES = 3
Written = tuple[bytes, Sequence[object]]


def backend_seconds(
    dsn: str, statements: Sequence[BackendQuery | Written], *, first: bool = False
) -> float:
    """The least of three runs of all statements, in the sessions that answer.

    Args:
        first: each time in a session of its own, in which nothing is compiled yet.
    """
    taken = []
    if first:
        return min(backend_seconds_once(dsn, statements) for _ in range(_TIMES))
    with _session(dsn) as connection:
        for _ in range(_TIMES):
            taken.append(_run(connection, statements))
    return min(taken)


def backend_seconds_once(dsn: str, statements: Sequence[BackendQuery | Written]) -> float:
    with _session(dsn) as connection:
        connection.execute("SELECT 'x' ~ 'y'")
        return _run(connection, statements)


def _session(dsn: str) -> psycopg.Connection:
    connection = psycopg.connect(dsn, autocommit=True)
    for setting in reading_settings.SESSION:
        connection.execute(setting.encode())
    connection.execute("SET max_parallel_workers_per_gather = 0")
    return connection


def _run(connection: psycopg.Connection, statements: Sequence[BackendQuery | Written]) -> float:
    process = Path(f"/proc/{connection.info.backend_pid}/schedstat")
    before = int(process.read_text().split()[0])
    for one in statements:
        given: Mapping[str, object] | Sequence[object]
        if isinstance(one, BackendQuery):
            text = one.sql.encode()
            given = {**one.parameters, **{name: 5 + n for n, name in enumerate(one.seeds)}}
        else:
            text, given = one
        connection.execute(text, given).fetchall()
    return (int(process.read_text().split()[0]) - before) / 1e9
