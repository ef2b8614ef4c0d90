"""A process starts its own PostgreSQL servers again when they end."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import replace

import structlog

from proxy.cli.proxy_servers import ServedLedger
from proxy.ledger.ledger_mark import LedgerWentBack, Mark, mark_of
from proxy.postgres.embedded import EmbeddedPostgres
from proxy.postgres.failure_reason import reason_of
from proxy.postgres.postgres_error import EmbeddedPostgresError

ALIVE_SECONDS = 0.25
AGAIN_SECONDS = 1.0  # after an attempt that failed
_STARTS = 5  # of a server of our own, one after another, before the process gives up

_log = structlog.get_logger("dpproxy.recovering")


async def keep_servers(
    others: Sequence[EmbeddedPostgres], every_seconds: float = ALIVE_SECONDS
) -> str:
    """Start the process's own servers again when they end, but the shadows' (`keep_shadows`).

    Returns:
        The reason why the process cannot go on. It returns only then.
    """
    while True:
        await asyncio.sleep(every_seconds)
        for server in others:
            if not server.is_running():
                try:
                    await start_again(server)
                except EmbeddedPostgresError as error:
                    return str(error)


async def start_again(server: EmbeddedPostgres) -> None:
    """Refuses  EmbeddedPostgresError where it does not start, several times in a row"""
    _log.error("server_ended", server=server.name)
    for attempt in range(1, _STARTS + 1):
        try:
            await asyncio.to_thread(server.prepare_again)
            server.launch_again()  # on this thread, which lives as long as the process
            await asyncio.to_thread(server.await_again)
        except EmbeddedPostgresError as error:
            if attempt == _STARTS:
                raise
            tell_failure("server_not_started", error)
            await asyncio.sleep(AGAIN_SECONDS)
        else:
            _log.warning("server_started_again", server=server.name)
            return


def tell_failure(event: str, error: Exception, database: str | None = None) -> None:
    named = {} if database is None else {"database": database}
    _log.warning(event, kind=type(error).__name__, reason=reason_of(error), **named)


# The ledger's high-water mark follows the receipts, so that a ledger that was put back is found.

MARK_SECONDS = 0.5


async def write_marks(
    servers: ServedLedger, last_receipt: Callable[[], int], every_seconds: float = MARK_SECONDS
) -> None:
    """Until it is cancelled: the mark follows the receipts within a second.

    Args:
        servers: The ledger that is served from the folder.
        last_receipt: Give the highest number that was seen committed.
        every_seconds: Between two looks.
    """
    mark: Mark | None = None
    while mark is None:
        try:
            mark = await asyncio.to_thread(mark_of, servers.ledger_dsn)
        except Exception as error:  # its server is being started again
            _log.warning("mark_not_read", kind=type(error).__name__, reason=reason_of(error))
            await asyncio.sleep(every_seconds)
    while True:
        await asyncio.to_thread(_follow, servers, mark)
        highest = mark.receipt
        while highest <= mark.receipt:
            await asyncio.sleep(every_seconds)
            highest = last_receipt()
        mark = replace(mark, receipt=highest)


async def write_last_mark(servers: ServedLedger) -> None:
    """When the listeners are closed: what was charged since `write_marks` wrote last."""
    try:
        mark = await asyncio.to_thread(mark_of, servers.ledger_dsn)
    except Exception as error:  # the ledger may be what has ended the process
        _log.error("mark_not_written", kind=type(error).__name__)
    else:
        _follow(servers, mark)


def _follow(servers: ServedLedger, mark: Mark) -> None:
    try:
        servers.mark.follow(mark)
    except (OSError, LedgerWentBack) as error:
        _log.error("mark_not_written", kind=type(error).__name__)
