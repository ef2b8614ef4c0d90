"""Connections to the ledger's server: a server that is away is reported soon, a slow one is waited for.

A busy machine or disk makes the ledger slow. That is no reason to refuse a statement.
"""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, TypeVar

import psycopg
from psycopg.conninfo import conninfo_to_dict, make_conninfo
from psycopg_pool import AsyncConnectionPool, PoolTimeout

# For a connection of a slow server, for the charges before one's own, and for one statement of the server.
PATIENCE_SECONDS = 60.0

C = TypeVar("C", bound="psycopg.AsyncConnection[Any]")


class LedgerPool(AsyncConnectionPool[C]):
    """A pool whose clients wait longer while the server takes connections."""

    def __init__(
        self,
        dsn: str,
        connection_class: type[C],
        *,
        most: int,
        options: str,
        name: str,
        away_seconds: float,
        reconnect_seconds: float = 300.0,
        check: Callable[[C], Awaitable[None]] | None = None,
        settings: Mapping[str, Any] | None = None,
    ) -> None:
        """
        Args:
            options: of the session, beside its statement_timeout.
            away_seconds: How long a client waits for a server that takes no connection.
            check: Refuses a new connection with psycopg.Error.
            settings: More arguments of `connect`.
        """
        self._check_new = check
        self._refused = 0
        self._failures_before = 0  # the newest connection was made
        super().__init__(
            dsn,
            connection_class=connection_class,
            min_size=1,
            max_size=most,
            open=False,
            timeout=away_seconds,
            reconnect_timeout=reconnect_seconds,
            kwargs={
                "autocommit": True,
                "options": f"-c statement_timeout={PATIENCE_SECONDS:.0f}s {options}",
                **(settings or {}),
            },
            configure=self._admit,
            name=name,
        )

    async def getconn(self, timeout: float | None = None) -> C:
        """Take a connection.

        Raises:
            PoolTimeout: The server takes no connection, or all are in use for longer than the patience.
            PoolClosed: The lease is lost.
        """
        until = time.monotonic() + PATIENCE_SECONDS
        while True:
            try:
                return await super().getconn(timeout)
            except PoolTimeout:
                if self._is_away or time.monotonic() >= until:
                    raise

    @property
    def _failures(self) -> int:
        return self._refused + self.get_stats().get("connections_errors", 0)

    @property
    def _is_away(self) -> bool:
        """Whether the last attempt to connect has failed."""
        return self._failures > self._failures_before

    async def _admit(self, connection: C) -> None:
        try:
            if self._check_new is not None:
                await self._check_new(connection)
        except BaseException:
            self._refused += 1
            raise
        self._failures_before = self._failures


# A connection that is kept for as long as the process serves.

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
