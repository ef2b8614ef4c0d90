"""The ledger's high-water mark follows the receipts, so that a ledger that was put back is found."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import replace

import structlog

from proxy.cli.proxy_servers import ServedLedger
from proxy.ledger.ledger_mark import LedgerWentBack, Mark, mark_of
from proxy.postgres.failure_reason import reason_of

MARK_SECONDS = 0.5
_log = structlog.get_logger("dpproxy.watching")


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
