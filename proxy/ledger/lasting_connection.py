"""A connection that is kept for as long as the process serves."""

from __future__ import annotations

from typing import Any

import psycopg
from psycopg.conninfo import conninfo_to_dict, make_conninfo

# A peer that has vanished is noticed; what the connection string says stands above these.
_NETWORK = {
    "connect_timeout": "10",
    "keepalives": "1",
    "keepalives_idle": "10",
    "keepalives_interval": "5",
    "keepalives_count": "3",
    "tcp_user_timeout": "15000",
}


def connect_lasting(dsn: str) -> psycopg.Connection[Any]:
    """Open a connection in autocommit mode that notices a vanished server within half a minute."""
    given = conninfo_to_dict(dsn)
    network = {name: value for name, value in _NETWORK.items() if name not in given}
    return psycopg.connect(make_conninfo(dsn, **network), autocommit=True)
