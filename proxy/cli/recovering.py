"""A serving process outlives its servers: it starts those of its own again, builds the shadows anew, and takes
the leases on the budgets again.

Statements fail meanwhile. Nobody can log in until a shadow is back and has the analysts' roles. While a lease
is lost, nothing is charged and nothing is read. The process ends where it cannot go on: the ledger is older
than it was, others serve the same data with other budgets, or a server of its own does not start any more.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

import structlog

from proxy.cli.assembly import Database
from proxy.cli.cli_error import CliError
from proxy.cli.keeping_servers import (
    AGAIN_SECONDS,
    ALIVE_SECONDS,
    start_again,
    tell_failure,
)
from proxy.cli.proxy_servers import ProxyServers
from proxy.engine.role_readiness import RoleReadiness
from proxy.ledger.ledger_sources import SourceError
from proxy.ledger.ledger_tables import LedgerNotDurable
from proxy.postgres.postgres_error import EmbeddedPostgresError
from proxy.shadow.shadow_roles import RolesNotMatched

_log = structlog.get_logger("dpproxy.recovering")


async def keep_shadows(
    servers: ProxyServers,
    databases: Sequence[Database],
    matching: asyncio.Lock,
    readiness: RoleReadiness,
    every_seconds: float = ALIVE_SECONDS,
) -> str:
    """Build the shadows anew when their server has ended, and make the analysts' roles there.

    Args:
        matching: held while a shadow is not built, so that no analyst gets a role there
        readiness: logins wait for it

    Returns:
        As `keep_servers`.
    """
    server = servers.shadow
    while True:
        await asyncio.sleep(every_seconds)
        if server.is_running() or server not in servers.embedded:
            continue
        readiness.lose()  # before another one runs
        async with matching:
            while not readiness.has_roles:
                try:
                    await _rebuild_shadows(servers, databases)
                except EmbeddedPostgresError as error:
                    return str(error)
                except Exception as error:  # the protected server or the ledger may be away, too
                    tell_failure("shadows_not_rebuilt", error)
                    await asyncio.sleep(AGAIN_SECONDS)
                else:
                    readiness.regain()
        _log.warning("shadows_rebuilt", databases=[one.policy.database for one in databases])


async def _rebuild_shadows(servers: ProxyServers, databases: Sequence[Database]) -> None:
    """Do what is left to do. Raises whatever is in the way; a role that cannot be made is in nobody else's."""
    if not servers.shadow.is_running():
        for database in databases:
            await asyncio.to_thread(database.shadow.forget)
        await start_again(servers.shadow)
    for database in databases:
        if not database.shadow.is_built:
            await asyncio.to_thread(database.rebuild_shadow)
    names = tuple(database.policy.database for database in databases)
    try:
        await asyncio.to_thread(servers.match_roles, names)
    except RolesNotMatched as error:
        _log.error("analysts_not_matched", changed=error.changed, failed=dict(error.failed))


async def keep_lease(
    servers: ProxyServers, database: Database, every_seconds: float = ALIVE_SECONDS
) -> str:
    """Take the lease on a database's budgets again when it is lost. The ledger is closed until then.

    Returns:
        As `keep_servers`.
    """
    name, is_open = database.policy.database, True
    while True:
        await asyncio.sleep(every_seconds)
        if is_open and await asyncio.to_thread(database.lease.holds):
            continue
        if is_open:
            _log.error("lease_lost", database=name)
        is_open = False
        await database.ledger.suspend()
        try:
            await _reopen_ledger(servers, database)
        except (CliError, SourceError, LedgerNotDurable) as error:
            return f"database {name}: {error}"
        except Exception as error:  # its server is away still
            tell_failure("lease_not_taken", error, name)
            await asyncio.sleep(AGAIN_SECONDS)
        else:
            is_open = True
            _log.warning("lease_taken_again", database=name)


async def _reopen_ledger(servers: ProxyServers, database: Database) -> None:
    """Check the ledger, take the lease, and check the ledger again: under the lease it is the same one.

    Connections that are opened then are refused unless they are beside this lease (LedgerTables).
    """
    last = database.ledger.last_receipt
    await asyncio.to_thread(servers.check_ledger, last)
    await asyncio.to_thread(database.retake_lease)
    await asyncio.to_thread(servers.check_ledger, last)
    await database.ledger.open()
