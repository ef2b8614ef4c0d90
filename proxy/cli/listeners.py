"""Both listeners open, until they are to be closed."""

from __future__ import annotations

import asyncio
import contextlib
import socket
from collections.abc import Awaitable, Callable, Mapping, Sequence
from functools import partial
from importlib.metadata import version
from typing import Protocol

from proxy.cli.admission_assembly import opened_admission
from proxy.cli.assembly import Database
from proxy.cli.audit_runs import AuditRuns
from proxy.cli.certificates import CertificateWatch
from proxy.cli.cli_error import CliError
from proxy.cli.command_options import LoggedAnalysts, LoggedQueries, QueryLogging
from proxy.cli.control_socket import open_control
from proxy.cli.following_marks import write_last_mark, write_marks
from proxy.cli.keeping_servers import keep_servers
from proxy.cli.letting_in import LettingIn
from proxy.cli.listen_addresses import Address, ListenAddresses, ListenerPorts, taken, tls_of
from proxy.cli.loading import CheckedPolicy
from proxy.cli.merged_status import MetricsOfAll
from proxy.cli.policy_reports import PolicyReports
from proxy.cli.proxy_servers import ProxyServers
from proxy.cli.recovering import keep_lease, keep_shadows
from proxy.cli.refreshing import copy_public_tables, publishing_tasks, show_first, watch_catalogues
from proxy.cli.reloading import PolicyReloads
from proxy.cli.served_databases import Assembly
from proxy.cli.serving_worker import (
    ReportsOfAll,
    follow_supervisor,
    join,
    share_gate,
    share_metrics,
    share_sessions,
    share_signed_in,
    tell_receipts,
    watch_together,
)
from proxy.cli.source_variables import SourceVariables
from proxy.cli.status_report import StatementCount, StatusSource, observe_metrics, tell_own_status
from proxy.cli.watching import (
    enforce_limits,
    guard_lost,
    match_roles,
    watch_locks,
)
from proxy.cli.worker import Worker
from proxy.doctor.installed_postgres import Installation
from proxy.engine.role_readiness import RoleReadiness
from proxy.ledger.ledger_tables import LedgerNotDurable
from proxy.servers.console.pages import console, signed_in_analysts
from proxy.servers.draining import INTERRUPTED_GRACE, Draining
from proxy.servers.http.admin_access import AnalystAddresses
from proxy.servers.http.admin_models import SessionList
from proxy.servers.http.connections import ADMIN_LIMITS
from proxy.servers.http.http_server import Agents, HttpListener, HttpServer
from proxy.servers.http.instead import correcting_of
from proxy.servers.http.routes import Routes, metrics_app
from proxy.servers.login_gate import LoginGate
from proxy.servers.metrics import Exposition, Metrics
from proxy.servers.statement_reports import QueryLog, StatementObserver
from proxy.servers.tracing import tracing_by_environment
from proxy.servers.wire.wire_server import WireServer
from proxy.shadow.analyst_sessions import ShadowSessions
from proxy.shadow.ending_sessions import EndingSessions

_CONNECT_SECONDS = 2.0


class _Server(Protocol):
    async def start(self, host: str, port: int) -> None: ...
    async def start_on(self, listening: socket.socket) -> None: ...

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
    draining: Draining | None = None,
    logging: QueryLogging | None = None,
    worker: Worker | None = None,
    environment: Mapping[str, str] | None = None,
) -> int:
    """
    Given    databases, assembled on these servers; until: runs while the listeners are open; policies: of the
             databases, in their order, whose files are watched; none are where there are none; installation:
             findings about this installation; draining: how long clients have when `until` has ended;
             logging: of statements, None: none; worker: what this process inherits beside others; None: it
             serves alone; environment: secrets of the policies' sources, None: those of this process
    Gives    what `until` gives, when everything is closed again in good order
    Refuses  Stopped where a port is taken, the ledger's server could lose a charge, or a server has ended
    """
    assembly = Assembly(databases)
    letting_in = letting_in or LettingIn()
    draining = draining or Draining()
    tls = None if where.tls is None else tls_of(*where.tls, where.client_ca)
    tls_contexts = [] if tls is None else [tls]  # of all listeners
    logging = logging or QueryLogging()
    count = StatementCount()
    observers: list[StatementObserver] = [count]
    async with contextlib.AsyncExitStack() as closing:
        ended_log = await closing.enter_async_context(contextlib.AsyncExitStack())
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
        gate, admin_gate = LoginGate(), LoginGate()
        people = signed_in_analysts(admitted.admission)
        if logging.queries is LoggedQueries.PROTECTED:
            is_named = logging.analysts is LoggedAnalysts.NAME
            log = QueryLog(None if is_named else admitted.admission.number_of)
            observers.append(log)
            # Statements end until the ledger is closed.
            ended_log.push_async_callback(log.flush)
            ended_log.callback(asyncio.create_task(log.follow()).cancel)
        if logging.traces:
            tracing = tracing_by_environment()
            observers.append(tracing)
            ended_log.push_async_callback(asyncio.to_thread, tracing.close)
        metrics = None
        if letting_in.admin is not None or where.metrics is not None:
            metrics = Metrics(
                *(tuple(assembly.databases), version("dpproxy"), lambda: draining.is_begun),
                1 if worker is None else worker.number,
            )
            observers.append(metrics)
        count_ended = _uncounted if metrics is None else metrics.session_ended
        wire: WireServer = assembly.wire_server(
            tls,
            gate,
            requires_tls=where.requires_tls,
            let_in=admitted.let_in,
            readiness=readiness,
            observers=observers,
            balancers=where.balancers,
            sessions=where.sessions,
            correcting=correcting_of(assembly.engines, sessions),
        )
        for database in databases:
            tell_own_status(database, wire, draining)
        if worker is None:
            closing.push_async_callback(write_last_mark, servers)
        reloads = None
        if policies:
            certificate = where.tls and CertificateWatch(where.tls, lambda: tls_contexts)
            reloads = PolicyReloads(
                *(databases, policies, SourceVariables() if environment is None else environment),
                *(installation, readiness),
                certificate,
            )
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
            is_draining=lambda: draining.is_begun,
            observers=observers,
            pages=console(admitted.admission, people=people),
            agents=_agents(letting_in, observers),
            proxies=where.proxies,
            sites=where.sites,
        )
        status = StatusSource(
            servers=servers,
            databases=databases,
            wire=wire,
            sessions=sessions,
            checks=http.routes.checks,
            draining=draining,
            count=count,
            stuck_sessions=lambda: len(ending.stuck),
            worker=1 if worker is None else worker.number,
        )
        last_receipt = lambda: max((one.ledger.last_receipt for one in databases), default=0)  # noqa: E731
        of_all, supervised = None, None
        shown: Exposition | None = metrics
        tell_status, again = status.report, None if reloads is None else reloads.reload
        if worker is None:
            await closing.enter_async_context(open_control(servers.mark.state, status.as_json))
        else:
            follow_supervisor(worker, draining)
            share_gate(worker, "analysts", gate)
            share_gate(worker, "tokens", http.logins.bearer_gate)
            share_gate(worker, "administrators", admin_gate)
            share_sessions(worker, wire)
            share_signed_in(worker, people)
            if metrics is not None:
                share_metrics(worker, metrics)
                shown = MetricsOfAll(metrics, worker.channel)
            own_sessions = lambda: SessionList.listing(wire.sessions, ending.stuck)  # noqa: E731
            of_all = ReportsOfAll(worker, wire, own_sessions, status.report, again)
            tell_status, again = of_all.status, None if again is None else of_all.reload
            supervised = asyncio.create_task(worker.channel.follow())
            closing.callback(supervised.cancel)
            await worker.channel.opened()
            await join(worker)
        await show_first(databases)
        start = partial(_start, worker)
        await start("http", http, where.http)
        closing.push_async_callback(http.stop, 0)
        await start("wire", wire, where.wire)
        closing.push_async_callback(wire.stop, 0)
        admin = None
        if letting_in.admin is not None:
            reports = audits = None
            if reloads is not None:
                reports = PolicyReports(reloads)
                files = reloads
                audits = AuditRuns(
                    servers.mark.state,
                    lambda: {name: one.file for name, one in files.watches.items()},
                    environment,
                )
                closing.push_async_callback(audits.close)
            admin = admitted.admin_server(
                *(
                    letting_in.admin.credentials,
                    wire,
                    where.tls,
                    again,
                    lambda: ending.stuck,
                    shown,
                ),
                tell_status,
                where.proxies,
                admin_gate,
                of_all,
                reports,
                audits,
                AnalystAddresses(
                    wire=":".join(map(str, wire.address)),
                    http=f"http{'' if where.tls is None else 's'}://{':'.join(map(str, http.address))}",
                ),
            )
            await start("admin", admin, letting_in.admin.address)
            closing.push_async_callback(admin.stop, INTERRUPTED_GRACE)
        scraped = None
        if metrics is not None:
            looking = observe_metrics(metrics, databases, wire, sessions, gate, http.routes.checks)
            closing.callback(asyncio.create_task(looking).cancel)
        if shown is not None and where.metrics is not None:
            scraped = HttpListener(
                partial(metrics_app, shown, http.routes), where.tls, ADMIN_LIMITS
            )
            await start("metrics", scraped, where.metrics)
            closing.push_async_callback(scraped.stop, INTERRUPTED_GRACE)
        for one in (http, admin, scraped):
            if one is not None and one.tls is not None:
                tls_contexts.append(one.tls)
        releases = (lambda: True) if worker is None else (lambda: worker.leads)
        publishing = [
            asyncio.create_task(one)
            for one in publishing_tasks(databases, draining, releases=releases)
        ]
        matching = asyncio.Lock()
        for lasting in (
            admitted.follow(wire, http.logins),
            copy_public_tables(databases),
            watch_catalogues(databases) if worker is None else watch_together(worker, databases),
            match_roles(
                servers, databases, admitted.inner.verifier, matching=matching, ending=ending
            ),
            write_marks(servers, last_receipt)
            if worker is None
            else tell_receipts(worker, last_receipt),
            enforce_limits(servers, ending, lambda: wire.backends | sessions.backends, count_ended),
            watch_locks(servers, ending, lambda: readiness.is_held, count_ended),
            *(() if reloads is None else (reloads.follow(),)),
        ):
            closing.callback(asyncio.create_task(lasting).cancel)
        for task in publishing:
            closing.callback(task.cancel)
        ports = ListenerPorts(
            wire.address,
            http.address,
            None if admin is None else admin.address,
            None if scraped is None else scraped.address,
        )
        losing: tuple[Awaitable[str], ...] = (
            keep_servers([one for one in servers.embedded if one is not servers.shadow]),
            keep_shadows(servers, databases, matching, readiness),
            *(keep_lease(servers, database) for database in databases),
            guard_lost(databases),
            *(() if supervised is None else (supervised,)),
        )

        async def serve_and_drain() -> int:
            code = await until(ports)
            draining.begun.set()
            await draining.wait(draining.delay)
            grace, hurried = draining.grace, draining.hurried
            await asyncio.gather(http.stop(grace, hurried), wire.stop(grace, hurried))
            return code

        return await _until_lost(losing, serve_and_drain())


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


def _agents(
    letting_in: LettingIn, observers: Sequence[StatementObserver]
) -> Callable[[Routes], Agents] | None:
    """A library that few need."""
    if not letting_in.has_agents:
        return None
    from proxy.servers.mcp.endpoint import agents

    return agents(observers, None if letting_in.oidc is None else letting_in.oidc.issuer)


async def _start(worker: Worker | None, name: str, server: _Server, address: Address) -> None:
    """name: of the listener, whose socket a worker inherits"""
    if worker is not None:
        await server.start_on(worker.sockets[name])
        return
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


def _uncounted(reason: str) -> None:
    """Nobody reads metrics."""
