"""How much of a public table has been copied so far, as the shadow's server counts it."""

from __future__ import annotations

import psycopg

_COPIED = "SELECT coalesce(sum(bytes_processed), 0)::bigint FROM pg_catalog.pg_stat_progress_copy"


def bytes_being_copied(server_dsn: str) -> int:
    """Of the tables that are being copied now, in any shadow. 0: none is, or the server does not answer."""
    try:
        with psycopg.connect(server_dsn, autocommit=True, connect_timeout=2) as connection:
            row = connection.execute(_COPIED).fetchone()
    except psycopg.Error:
        return 0
    return 0 if row is None else int(row[0])
