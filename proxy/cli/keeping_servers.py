"""A process starts its own PostgreSQL servers again when they end."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

import structlog

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
