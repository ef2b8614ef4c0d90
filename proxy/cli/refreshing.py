"""Public tables, copied again while the proxy serves: their rows on the shadow, their values as keys."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

import structlog

from proxy.cli.assembly import Database

EVERY_SECONDS = 3600.0

_log = structlog.get_logger("dpproxy.refreshing")


async def keep_fresh(databases: Sequence[Database], every_seconds: float = EVERY_SECONDS) -> None:
    """Until it is cancelled. What cannot be copied stays as it was, until the next time."""
    while True:
        await asyncio.sleep(every_seconds)
        for database in databases:
            try:
                await asyncio.to_thread(database.refresh)
            except Exception as error:  # a source that is down for a while must not end this
                _log.warning(
                    "public_tables_not_copied",
                    database=database.policy.database,
                    kind=type(error).__name__,
                )
