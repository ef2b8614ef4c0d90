"""Results of a statement that was sent, from a proxy of this process."""

from __future__ import annotations

import psycopg
from psycopg import generators, waiting
from psycopg.pq.abc import PGresult


def fetched(connection: psycopg.Connection) -> PGresult | None:
    """The next one. `PGconn.get_result` waits with the interpreter locked, so a proxy in another thread of
    this process never answers."""
    result: PGresult | None = waiting.wait(
        generators.fetch(connection.pgconn), connection.pgconn.socket
    )
    return result
