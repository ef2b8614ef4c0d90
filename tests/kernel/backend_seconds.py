"""How long PostgreSQL's processor works on a statement, by the time of the backend's own."""

from __future__ import annotations

from pathlib import Path

import psycopg

from proxy.protected import reading_settings
from tests.audit.two_states import TwoStates


def backend_seconds(states: TwoStates, statement: str, dsn: str) -> float:
    """Of the backend's processor, the least of three."""
    with psycopg.connect(dsn, autocommit=True) as connection:
        for setting in reading_settings.SESSION:
            connection.execute(setting.encode())
        connection.execute("SET max_parallel_workers_per_gather = 0")
        process = Path(f"/proc/{connection.info.backend_pid}/schedstat")
        taken = []
        for _ in range(3):
            before = int(process.read_text().split()[0])
            run_all(states, statement, connection)
            taken.append((int(process.read_text().split()[0]) - before) / 1e9)
    return min(taken)


def run_all(states: TwoStates, statement: str, connection: psycopg.Connection) -> None:
    for query in states.queries(statement):
        values = {**query.parameters, **{name: 5 + n for n, name in enumerate(query.seeds)}}
        connection.execute(query.sql.encode(), values).fetchall()
