"""What changes in the protected database while the proxy serves: public tables, which are copied again, and the
catalogue, on which every plan relies. And what is published while it serves."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Coroutine, Sequence

import structlog

from proxy.cli.assembly import Database
from proxy.cli.judging_rows import withheld_because
from proxy.engine.publishing import Publishing
from proxy.postgres.failure_reason import reason_of
from proxy.protected.judged_rows import CatalogueMoved, RowsWithheld
from proxy.servers.draining import Draining

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


# What a policy publishes, while the proxy serves: released when it is due, shown when it is there.

LOOK_SECONDS = 1.0


def publishing_tasks(
    databases: Sequence[Database],
    draining: Draining,
    every_seconds: float = LOOK_SECONDS,
    releases: Callable[[], bool] = lambda: True,
) -> list[Coroutine[None, None, None]]:
    """Two for each database, until they are cancelled, or the process is about to end. A draw keeps no table
    from being shown. A policy that is taken up meanwhile may be the first that publishes something.

    Args:
        databases: All of them.
        draining: The end of the process.
        every_seconds: Between two looks.
        releases: Whether this process releases what is due. All show what was released.
    """
    return [
        _repeated(database, act, draining, every_seconds, acts)
        for database in databases
        for act, acts in ((Publishing.show, lambda: True), (Publishing.release_due, releases))
    ]


async def show_first(databases: Sequence[Database]) -> None:
    """Before anybody can log in: what stands in the ledger."""
    for database in databases:
        await _tried(database, Publishing.show)


async def _repeated(
    database: Database,
    act: Callable[[Publishing], Awaitable[None]],
    draining: Draining,
    every_seconds: float,
    acts: Callable[[], bool],
) -> None:
    while not draining.is_begun:
        if acts():
            await _tried(database, act)
        await asyncio.sleep(every_seconds)


async def _tried(database: Database, act: Callable[[Publishing], Awaitable[None]]) -> None:
    publishing = database.publishing
    if publishing is None:
        return
    try:
        await act(publishing)
    except Exception as error:  # a server that is away for a moment must not end this
        kind, reason = type(error).__name__, reason_of(error)
        _log.warning(
            "published_not_looked_at",
            database=database.policy.database,
            kind=kind,
            reason=reason,
        )
