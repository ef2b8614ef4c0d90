"""both listeners open, until they are to be closed."""

from __future__ import annotations

import asyncio
import contextlib
import signal
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from proxy.cli.addresses import Address
from proxy.cli.admission_assembly import opened_admission
from proxy.cli.assembly import Assembly, Database
from proxy.cli.cli_error import CliError
from proxy.cli.letting_in import LettingIn
from proxy.cli.listen_addresses import ListenAddresses, taken, tls_of
from proxy.cli.loading import CheckedPolicy
from proxy.cli.proxy_servers import ProxyServers
from proxy.cli.publishing_tasks import publishing_tasks, show_first
from proxy.cli.recovering import keep_lease, keep_servers, keep_shadows
from proxy.cli.refreshing import copy_public_tables, watch_catalogues
from proxy.cli.reloading import PolicyReloads
from proxy.cli.source_variables import SourceVariables
from proxy.cli.watching import (
    enforce_limits,
    guard_lost,
    match_roles,
    watch_locks,
    write_last_mark,
    write_marks,
)
from proxy.doctor.installed_postgres import Installation
from proxy.engine.role_readiness import RoleReadiness
from proxy.ledger.ledger_tables import LedgerNotDurable
from proxy.servers.http.http_server import HttpServer
from proxy.servers.login_gate import LoginGate
from proxy.servers.wire.wire_server import WireServer
from proxy.shadow.analyst_sessions import ShadowSessions
from proxy.shadow.ending_sessions import EndingSessions

GRACE_SECONDS = 5.0
_CONNECT_SECONDS = 2.0


@dataclass(frozen=True, slots=True)
class ListenerPorts:
    """Where clients come in, now."""

    wire: tuple[str, int]
    http: tuple[str, int]
    admin: tuple[str, int] | None = None


class _Server(Protocol):
    async def start(self, host: str, port: int) -> None: ...

    @property
    def address(self) -> tuple[str, int]: ...


async def serve_until_stopped(
    servers: ProxyServers,
    databases: Sequence[Database],
    where: ListenAddresses,
    until: Callable[[ListenerPorts], Awaitable[int]],
    letting_in: LettingIn | None = None,
    policies: Sequence[CheckedPolicy] = (),
    installation: Installation | None = None,
) -> int:
    """
    Given    databases, assembled on these servers; until: runs while the listeners are open; policies: of the
             databases, in their order, whose files are watched; none are where there are none; installation:
             findings about this installation
    Gives    what `until` gives, when everything is closed again in good order
    Refuses  Stopped where a port is taken, the ledger's server could lose a charge, or a server has ended
    """
    assembly = Assembly(databases)
    letting_in = letting_in or LettingIn()
    tls = None if where.tls is None else tls_of(*where.tls, where.client_ca)
    async with contextlib.AsyncExitStack() as closing:
        closing.push_async_callback(assembly.close)
        try:
            await assembly.open()
        except LedgerNotDurable as error:
            raise CliError(str(error)) from None
        admitted = await closing.enter_async_context(
            opened_admission(servers, assembly.sources, letting_in)
        )
        addresses = {name: one.shadow.analyst_host_port for name, one in assembly.databases.items()}
        readiness = RoleReadiness()
        sessions = ShadowSessions(addresses, inner=admitted.inner, readiness=readiness)
        closing.callback(sessions.close)
        gate = LoginGate()
        wire: WireServer = assembly.wire_server(
            tls,
            gate,
            requires_tls=where.requires_tls,
            let_in=admitted.let_in,
            readiness=readiness,
        )
        closing.push_async_callback(write_last_mark, servers)
        reloads = None
        if policies:
            reloads = PolicyReloads(databases, policies, SourceVariables(), installation, readiness)
        ending = EndingSessions()
        http = HttpServer(
            assembly.engines,
            sessions,
            lambda: _checks(databases, readiness),
            where.tls,
            health=lambda: dict.fromkeys(servers.dead(), False),
            policies_taken=lambda: reloads is None or reloads.are_taken,
            stuck_sessions=lambda: len(ending.stuck),
            gate=gate,
            bearers=admitted.bearers,
            admission=admitted.admission,
        )
        await show_first(databases)
        await _start(http, where.http)
        closing.push_async_callback(http.stop, GRACE_SECONDS)
        await _start(wire, where.wire)
        closing.push_async_callback(wire.stop, GRACE_SECONDS)
        admin = None
        if letting_in.admin is not None:
            again = None if reloads is None else reloads.reload
            admin = admitted.admin_server(
                letting_in.admin.credentials, wire, where.tls, again, lambda: ending.stuck
            )
            await _start(admin, letting_in.admin.address)
            closing.push_async_callback(admin.stop, GRACE_SECONDS)
        matching = asyncio.Lock()
        for lasting in (
            admitted.follow(wire, http.logins),
            copy_public_tables(databases),
            watch_catalogues(databases),
            match_roles(
                servers, databases, admitted.inner.verifier, matching=matching, ending=ending
            ),
            write_marks(servers, databases),
            enforce_limits(servers, ending, lambda: wire.backends | sessions.backends),
            watch_locks(servers, ending, lambda: readiness.is_held),
            *publishing_tasks(databases),
            *(() if reloads is None else (reloads.follow(),)),
        ):
            closing.callback(asyncio.create_task(lasting).cancel)
        ports = ListenerPorts(wire.address, http.address, None if admin is None else admin.address)
        losing = (
            keep_servers(servers),
            keep_shadows(servers, databases, matching, readiness),
            *(keep_lease(servers, database) for database in databases),
            guard_lost(databases),
        )
        return await _until_lost(losing, until(ports))


async def _until_lost(until_lost: Sequence[Awaitable[str]], work: Awaitable[int]) -> int:
    """Refuses  Stopped where something that the process needs is lost for good while the work goes on"""
    working = asyncio.ensure_future(work)
    losing = {asyncio.ensure_future(lost) for lost in until_lost}
    try:
        await asyncio.wait({working, *losing}, return_when=asyncio.FIRST_COMPLETED)
        if working.done():
            return working.result()
        raise CliError(next(task.result() for task in losing if task.done()))
    finally:
        for task in (working, *losing):
            task.cancel()
            with contextlib.suppress(asyncio.CancelledError, Exception):
                await task


@contextlib.contextmanager
def stop_signals() -> Iterator[asyncio.Event]:
    """Set by Ctrl-C or SIGTERM. To be entered before anybody is told that there is something to stop: a signal
    that comes earlier ends the process without closing anything. A second one interrupts the closing as it
    would any program."""
    stop = asyncio.Event()
    loop = asyncio.get_running_loop()
    signals = (signal.SIGINT, signal.SIGTERM)
    for number in signals:
        loop.add_signal_handler(number, stop.set)
    try:
        yield stop
    finally:
        for number in signals:
            loop.remove_signal_handler(number)


async def _start(server: _Server, address: Address) -> None:
    try:
        await server.start(address.host, address.port)
    except OSError as error:
        if not address.or_free:
            raise taken(address, error) from None
        await server.start(address.host, 0)


async def _checks(
    databases: Sequence[Database], readiness: RoleReadiness
) -> Mapping[str, Mapping[str, bool]]:
    """For /readyz: of each database."""
    return {
        one.policy.database: {
            "protected": await one.protected.is_ready(),
            "ledger": await one.ledger.is_ready(),
            "shadow": readiness.generation is not None
            and one.shadow.is_built
            and await _listens(one.shadow.analyst_host_port),
        }
        for one in databases
    }


async def _listens(address: tuple[str, int]) -> bool:
    host, port = address
    opening = (
        asyncio.open_unix_connection(f"{host}/.s.PGSQL.{port}")
        if host.startswith("/")
        else asyncio.open_connection(host, port)
    )
    try:
        _, writer = await asyncio.wait_for(opening, _CONNECT_SECONDS)
    except (OSError, asyncio.TimeoutError):
        return False
    writer.close()
    with contextlib.suppress(OSError):
        await writer.wait_closed()
    return True
