"""What changes in the protected database while the proxy serves: public tables, which are copied again, and the
catalogue, on which every plan relies."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence

import structlog

from proxy.cli.assembly import Database
from proxy.cli.judging_rows import withheld_because
from proxy.postgres.failure_reason import reason_of
from proxy.protected.judged_rows import CatalogueMoved, RowsWithheld

COPY_SECONDS = 3600.0
WATCH_SECONDS = 60.0

_log = structlog.get_logger("dpproxy.refreshing")


async def copy_public_tables(
    databases: Sequence[Database], every_seconds: float = COPY_SECONDS
) -> None:
    """Until it is cancelled. What cannot be copied stays as it was, until the next time."""
    await _repeat(databases, Database.refresh, every_seconds, "public_tables_not_copied")


async def watch_catalogues(
    databases: Sequence[Database],
    every_seconds: float = WATCH_SECONDS,
    look: Callable[[Database], None] = Database.look_for_changes,
) -> None:
    """Until it is cancelled. A table of which something is gone is not asked until it is there again."""
    await _repeat(databases, look, every_seconds, "catalogue_not_read")


async def _repeat(
    databases: Sequence[Database],
    act: Callable[[Database], None],
    every_seconds: float,
    failed: str,
) -> None:
    while True:
        await asyncio.sleep(every_seconds)
        for database in databases:
            try:
                await asyncio.to_thread(act, database)
            except (RowsWithheld, CatalogueMoved) as error:
                told = withheld_because(error)
                _log.error("public_tables_not_copied", database=database.policy.database, **told)
            except Exception as error:  # a source that is down for a while must not end this
                kind, reason = type(error).__name__, reason_of(error)
                _log.warning(failed, database=database.policy.database, kind=kind, reason=reason)
