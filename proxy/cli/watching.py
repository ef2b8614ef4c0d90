"""What a serving process does beside answering: it keeps the shadow's roles the ledger's analysts, and notices
when something that it stands on is gone."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from collections.abc import Set as AbstractSet
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict

import structlog

from proxy.cli.assembly import Database
from proxy.cli.proxy_servers import ProxyServers
from proxy.postgres.failure_reason import reason_of
from proxy.shadow.ending_sessions import EndingSessions
from proxy.shadow.shadow_monitor import LockWatch, ShadowMonitor
from proxy.shadow.shadow_roles import InnerVerifier, RoleMatcher, RolesNotMatched
from proxy.shadow.shadow_tables import ShadowBusy, ShadowError

ROLES_SECONDS = 1.0
LIMITS_SECONDS = 1.0
LOCKS_SECONDS = 0.25  # so that it sees each attempt of a change, which waits 0.5 s
INSISTING_SECONDS = 0.02  # below the time after which PostgreSQL looks for deadlocks of a change
GUARD_SECONDS = 60.0
BUSY_SECONDS = 5.0

_log = structlog.get_logger("dpproxy.watching")


async def match_roles(
    servers: ProxyServers,
    databases: Sequence[Database],
    inner: InnerVerifier | None = None,
    every_seconds: float = ROLES_SECONDS,
    matching: asyncio.Lock | None = None,
    ending: EndingSessions | None = None,
) -> None:
    """Until it is cancelled. While the ledger cannot be asked, the roles stay as they were.

    Given    matching: held by others while nobody may get a role; ending: as of `enforce_limits`
    """
    matching = matching or asyncio.Lock()
    names = tuple(database.policy.database for database in databases)
    matcher = RoleMatcher(servers.ledger_dsn, servers.shadow.dsn(), names, inner, ending)
    try:
        while True:
            try:
                # Compared each time: an analyst can give their own role another password, which would hold
                # on this shadow alone, and until its end; the ledger's is put back.
                async with matching:
                    changed = await asyncio.to_thread(matcher.match)
                if changed:
                    _log.info("analysts_changed", names=list(changed))
            except RolesNotMatched as error:
                _log.error("analysts_not_matched", changed=error.changed, failed=dict(error.failed))
            except Exception as error:  # a server that is away for a moment must not end this
                _log.warning(
                    "analysts_not_read", kind=type(error).__name__, reason=reason_of(error)
                )
            await asyncio.sleep(every_seconds)
    finally:
        matcher.close()


async def enforce_limits(
    servers: ProxyServers,
    ending: EndingSessions,
    served: Callable[[], AbstractSet[int]],
    count: Callable[[str], None],
    every_seconds: float = LIMITS_SECONDS,
) -> None:
    """Until it is cancelled: end sessions of the shadow that pass an analyst's share, and report stuck ones.

    Args:
        ending: Sessions that were told to end, by whichever task.
        served: Give the processes of the sessions that have a client.
        count: Is told for what each session is ended.
    """
    monitor = ShadowMonitor(
        servers.shadow.dsn(),
        servers.shadow.log,
        ending=ending,
        server=lambda: servers.shadow.process_id or 0,
    )
    try:
        while True:
            await asyncio.sleep(every_seconds)
            try:
                for ended in await asyncio.to_thread(monitor.look, served()):
                    _log.warning("session_ended_by_share", **asdict(ended))
                    count(ended.passed)
                for stuck in ending.unreported():
                    _log.error("session_does_not_end", **asdict(stuck))
                if monitor.killed is not None:
                    _log.error("shadow_restarts_without_session", **asdict(monitor.killed))
            except Exception as error:  # a look that fails must not be the last
                _log.warning("shares_not_read", kind=type(error).__name__, reason=reason_of(error))
    finally:
        monitor.close()


async def watch_locks(
    servers: ProxyServers,
    ending: EndingSessions,
    insists: Callable[[], bool],
    count: Callable[[str], None],
    every_seconds: float = LOCKS_SECONDS,
) -> None:
    """Until it is cancelled: sessions of the shadow that keep others waiting for a lock are ended.

    Args:
        ending, count: As of `enforce_limits`.
        insists: As of LockWatch.
    """
    watch = LockWatch(
        servers.shadow.dsn(),
        lambda: servers.shadow.process_id or 0,
        ending=ending,
        insists=insists,
    )
    # A thread of its own: those of the loop may all be waiting for such a lock.
    thread = ThreadPoolExecutor(1, "locks")
    loop = asyncio.get_running_loop()
    try:
        while True:
            try:
                for ended in await loop.run_in_executor(thread, watch.look):
                    _log.warning("session_ended_by_share", **asdict(ended))
                    count(ended.passed)
            except Exception as error:  # a look that fails must not be the last
                _log.warning("locks_not_watched", reason=reason_of(error))
            await asyncio.sleep(INSISTING_SECONDS if insists() else every_seconds)
    finally:
        thread.submit(watch.close)
        thread.shutdown(wait=False)


async def guard_lost(databases: Sequence[Database], every_seconds: float = GUARD_SECONDS) -> str:
    """Compares and repairs the shadows' rights. Ends when one could not be verified twice in a row.

    Locks and logins, which analysts have in hand, are no such failure: it looks again soon.
    """
    failed = {database.policy.database: 0 for database in databases}
    busy = False
    while True:
        await asyncio.sleep(min(BUSY_SECONDS, every_seconds) if busy else every_seconds)
        busy = False
        for database in databases:
            name = database.policy.database
            if not database.shadow.is_built:
                continue  # it is being built anew
            try:
                for what in await asyncio.to_thread(database.shadow.verify):
                    _log.error("guard_repaired", database=name, what=what)
                failed[name] = 0
            except ShadowBusy as error:
                busy = True
                _log.error("guard_not_verified", database=name, reason=str(error))
            except ShadowError as error:
                failed[name] += 1
                _log.error("guard_not_verified", database=name, reason=str(error))
                if failed[name] > 1:
                    return f"database {name}: {error}"
