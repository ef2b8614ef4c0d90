"""`dpproxy demo` and `dpproxy serve`: commands that open the listeners."""

from __future__ import annotations

import importlib
import logging
import shlex
import tempfile
import threading
from collections.abc import Sequence
from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from proxy.cli.certificates import (
    check_is_private,
    check_metrics_are_private,
    chosen_certificate,
)
from proxy.cli.cli_error import CliError
from proxy.cli.command_options import (
    Admin,
    AdminSecrets,
    ClientCa,
    ClientRules,
    CorsOrigin,
    DemoState,
    DrainDelay,
    Grace,
    Http,
    LedgerDsn,
    Listen,
    LogAnalysts,
    LoggedAnalysts,
    LoggedQueries,
    LogQueries,
    Mcp,
    Metrics,
    OidcAudience,
    OidcCa,
    OidcClaim,
    OidcIssuer,
    OidcKeys,
    OidcLifetime,
    PgBin,
    PolicyFiles,
    ProxyProtocolFrom,
    QueryLogging,
    Sessions,
    ShadowUser,
    State,
    Tls,
    TlsCert,
    TlsKey,
    TlsUse,
    Traces,
    TrustedProxy,
    Workers,
)
from proxy.cli.letting_in import (
    LettingIn,
    admin_listener,
    certificate_rules,
    check_agents,
    oidc_settings,
)
from proxy.cli.listen_addresses import Address, networks_of, origins_of, read_address
from proxy.cli.progress import copied_into, working
from proxy.cli.proxy_servers import servers_being_prepared
from proxy.cli.running import end_on_sigterm, log_to_stderr, outlive_hang_ups, run, tell_ready
from proxy.cli.source_variables import SourceVariables
from proxy.cli.state import demo_state
from proxy.cli.state_folder import state_folder
from proxy.cli.worker import inherited_worker
from proxy.postgres.analyst_limits import WIRE_SESSIONS
from proxy.servers.client_address import is_loopback
from proxy.servers.draining import Draining

if TYPE_CHECKING:
    from proxy.cli.listen_addresses import ListenAddresses, ListenerPorts

_DEMO_DATABASES = 2
_DRAIN_DELAY = 5.0
_WIRE, _HTTP, _ADMIN = "127.0.0.1:6432", "127.0.0.1:8432", "127.0.0.1:8433"


def demo(
    state: DemoState = None,
    listen: Listen = _WIRE,
    http: Http = _HTTP,
    admin: Admin = _ADMIN,
    mcp: Mcp = False,
    check: Annotated[
        bool, typer.Option(help="Run a few queries through both interfaces, print a table, stop.")
    ] = False,
) -> None:
    """Serve invented data: a census and a shop."""
    from proxy.cli.demo.demo_databases import (
        ANALYST,
        budget_line,
        demo_databases,
        lines_to_copy,
    )
    from proxy.cli.listen_addresses import ListenAddresses, check_can_open
    from proxy.cli.listeners import serve_until_stopped
    from proxy.cli.open_files import raise_open_files
    from proxy.cli.running import drain_on_signals
    from proxy.ledger.bearer_tokens import create_token

    end_on_sigterm()
    log_to_stderr(logging.WARNING)
    has_agents = check_agents(is_wanted=mcp)
    if (too_few := raise_open_files(_DEMO_DATABASES)) is not None:
        typer.echo(too_few, err=True)
    if check:
        with tempfile.TemporaryDirectory(prefix="dpproxy-check-") as folder:
            raise typer.Exit(_check_demo(state or Path(folder)))
    administrators = _address(admin or _ADMIN, _ADMIN)
    where = ListenAddresses(_address(listen, _WIRE), _address(http, _HTTP), admin=administrators)
    check_can_open(where)
    with demo_databases(state or demo_state(), typer.echo) as prepared:
        draining = Draining()

        async def announce(ports: ListenerPorts) -> int:
            drain_on_signals(draining)
            for name, wanted, got in (
                ("PostgreSQL clients", where.wire, ports.wire),
                ("HTTP", where.http, ports.http),
                ("administrators", administrators, ports.admin or ("", administrators.port)),
            ):
                if wanted.or_free and wanted.port != got[1]:
                    typer.echo(f"port {wanted.port} is taken: {name} on {got[1]} instead")
            typer.echo(
                f"\nServing. Analyst {ANALYST}, password {prepared.password}. Copy a line:\n"
            )
            for line in lines_to_copy(ports, prepared.password).values():
                typer.echo(f"    {line}\n")
            typer.echo(budget_line([one.policy for one in prepared.databases]))
            typer.echo(f"In a browser: http://{ports.http[0]}:{ports.http[1]}/")
            if ports.admin is not None:
                typer.echo(f"For administrators: http://{ports.admin[0]}:{ports.admin[1]}/")
                typer.echo(f"    with the secret {prepared.secret}")
                typer.echo(f"    policies to change: {prepared.policies[0].file} and beside it")
            if has_agents:
                made = create_token(prepared.servers.ledger_dsn, ANALYST, days=1, note="demo --mcp")
                typer.echo(f"For agents: http://{ports.http[0]}:{ports.http[1]}/mcp")
                typer.echo(f"    with the bearer token {made.text}")
            typer.echo(f"What HTTP offers: http://{ports.http[0]}:{ports.http[1]}/docs")
            typer.echo("Ctrl-C stops everything.")
            await draining.begun.wait()
            typer.echo("\nclosing the listeners ...")
            return 0

        serving = serve_until_stopped(
            *(prepared.servers, prepared.databases, where, announce),
            LettingIn(
                admin=admin_listener(administrators, prepared.secrets), has_agents=has_agents
            ),
            prepared.policies,
            draining=draining,
            environment=prepared.environment,
        )
        raise typer.Exit(run(serving))


def _check_demo(state: Path) -> int:
    import asyncio

    from proxy.cli.demo.demo_check import check_demo
    from proxy.cli.demo.demo_databases import demo_databases
    from proxy.cli.listen_addresses import ListenAddresses
    from proxy.cli.listeners import serve_until_stopped

    where = ListenAddresses(Address("127.0.0.1", 0), Address("127.0.0.1", 0))
    with demo_databases(state, typer.echo) as prepared:

        async def run_check(ports: ListenerPorts) -> int:
            lines, is_good = await asyncio.to_thread(check_demo, ports, prepared.password)
            typer.echo("\n" + "\n".join(lines) + "\n")
            return 0 if is_good else 1

        return run(serve_until_stopped(prepared.servers, prepared.databases, where, run_check))


def serve(
    policy: PolicyFiles,
    listen: Listen = _WIRE,
    http: Http = _HTTP,
    state: State = None,
    ledger: LedgerDsn = None,
    pg_bin: PgBin = None,
    shadow_user: ShadowUser = None,
    tls_cert: TlsCert = None,
    tls_key: TlsKey = None,
    tls: Tls = None,
    client_ca: ClientCa = None,
    client_rules: ClientRules = None,
    oidc_issuer: OidcIssuer = None,
    oidc_audience: OidcAudience = None,
    oidc_claim: OidcClaim = "preferred_username",
    oidc_keys: OidcKeys = None,
    oidc_ca: OidcCa = None,
    oidc_lifetime: OidcLifetime = 86400,
    admin: Admin = None,
    admin_secrets: AdminSecrets = None,
    drain_delay: DrainDelay = None,
    grace: Grace = 60,
    metrics: Metrics = None,
    mcp: Mcp = False,
    cors_origin: CorsOrigin = None,
    proxy_protocol_from: ProxyProtocolFrom = None,
    trusted_proxy: TrustedProxy = None,
    log_queries: LogQueries = LoggedQueries.PROTECTED,
    log_analysts: LogAnalysts = LoggedAnalysts.NAME,
    workers: Workers = 1,
    sessions: Sessions = WIRE_SESSIONS,
    traces: Traces = False,
) -> None:
    """Serve the databases of the given policies."""
    from proxy.cli.listen_addresses import ListenAddresses, check_can_open
    from proxy.cli.open_files import raise_open_files

    end_on_sigterm()
    outlive_hang_ups()
    worker = inherited_worker()
    log_to_stderr(worker=None if worker is None else worker.number)
    if (too_few := raise_open_files(len(policy), sessions)) is not None:
        raise CliError(too_few)
    if traces:
        _check_traces()
    certificate = chosen_certificate(tls_cert, tls_key, tls)
    letting_in = LettingIn(
        rules=certificate_rules(client_ca, client_rules, certificate),
        oidc=oidc_settings(
            oidc_issuer, oidc_audience, oidc_claim, oidc_keys, oidc_ca, oidc_lifetime
        ),
        admin=admin_listener(None if admin is None else _address(admin), admin_secrets),
        has_agents=check_agents(is_wanted=mcp),
    )
    where = ListenAddresses(
        _address(listen),
        _address(http),
        certificate,
        requires_tls=certificate is not None and tls is not TlsUse.OPTIONAL,
        client_ca=client_ca,
        admin=None if letting_in.admin is None else letting_in.admin.address,
        metrics=None if metrics is None else _address(metrics),
        balancers=networks_of("--proxy-protocol-from", proxy_protocol_from),
        proxies=networks_of("--trusted-proxy", trusted_proxy),
        sites=origins_of(cors_origin),
        sessions=sessions,
    )
    check_metrics_are_private(where.metrics, certificate)
    check_is_private(where.every, certificate, tls)
    is_local = all(is_loopback(one.host) for one in where.every)
    delay = drain_delay if drain_delay is not None else 0.0 if is_local else _DRAIN_DELAY
    draining = Draining(delay=delay, grace=grace)
    scheme = "http" if certificate is None else "https"
    if workers > 1 and worker is None:
        _supervise(policy, where, workers, state, ledger, draining, scheme)
        raise typer.Exit
    with servers_being_prepared(
        state,
        ledger if worker is None else worker.ledger_dsn,
        pg_bin=pg_bin,
        shadow_user=shadow_user,
        policies=policy,
        worker=1 if worker is None else worker.number,
        sessions=sessions,
        accept=None if worker is None else worker.accept,
    ) as prepared:
        from proxy.cli.loading import load_policies
        from proxy.doctor.installed_postgres import read_installation

        installation = read_installation(pg_bin, shadow_user, ledger)
        is_told = worker is None or worker.number == 1 or not worker.is_first_start
        checked = load_policies(
            policy, SourceVariables(), installation=installation, quiet=not is_told
        )
        if worker is None:
            check_can_open(where)
        # While the servers start, which is waiting: planner and web framework are a second of importing.
        importing = threading.Thread(target=importlib.import_module, args=("proxy.cli.listeners",))
        importing.start()
        shadow_server = prepared.launch()
        from proxy.cli.building import shadows_being_built

        shadows = shadows_being_built(checked, shadow_server)
        servers = prepared.check_ledger()
        importing.join()
        from proxy.cli.building import (
            build,
            known_source,
            refuse_new_columns,
            refuse_unpublishable,
        )
        from proxy.cli.listeners import serve_until_stopped
        from proxy.cli.running import drain_on_signals
        from proxy.cli.serving_worker import worker_serves

        options = f"--state {shlex.quote(str(state_folder(state)))}"
        options += "" if ledger is None else " --ledger DSN"
        sources = [
            known_source(one, servers.ledger_dsn, file, options)
            for one, file in zip(checked, policy, strict=True)
        ]
        for one, source in zip(checked, sources, strict=True):
            refuse_new_columns(one, servers.ledger_dsn, source)
        with (
            working("building the shadow", copied_into(shadow_server)) if is_told else nullcontext()
        ):
            databases = [
                build(one, servers, source, built, workers)
                for one, source, built in zip(checked, sources, shadows, strict=True)
            ]
        for one, database in zip(checked, databases, strict=True):
            refuse_unpublishable(one, database)
            database.note_columns(one.catalog)
        names = tuple(one.policy.database for one in databases)
        servers.match_roles(names)

        async def announce(ports: ListenerPorts) -> int:
            if worker is not None:
                return await worker_serves(worker, names, draining)
            drain_on_signals(draining)
            _say_where(names, ports, scheme)
            await draining.begun.wait()
            _say_end(draining)
            return 0

        serving = serve_until_stopped(
            servers,
            databases,
            where,
            announce,
            letting_in,
            checked,
            installation,
            draining,
            QueryLogging(queries=log_queries, analysts=log_analysts, traces=traces),
            worker,
        )
        raise typer.Exit(run(serving))


def _say_where(names: Sequence[str], ports: ListenerPorts, scheme: str) -> None:
    typer.echo(f"serving {', '.join(names)}")
    typer.echo(f"PostgreSQL clients: {ports.wire[0]}:{ports.wire[1]}")
    typer.echo(f"HTTP: {scheme}://{ports.http[0]}:{ports.http[1]}/docs")
    if ports.admin is not None:
        typer.echo(f"administrators: {scheme}://{ports.admin[0]}:{ports.admin[1]}")
    if ports.metrics is not None:
        typer.echo(f"metrics: {scheme}://{ports.metrics[0]}:{ports.metrics[1]}/metrics")
    tell_ready()


def _say_end(draining: Draining) -> None:
    typer.echo(
        f"closing the listeners in {draining.delay:g} s; statements have {draining.grace:g} s more"
        " (a second signal ends them) ..."
    )


def _supervise(
    policies: Sequence[Path],
    where: ListenAddresses,
    workers: int,
    state: Path | None,
    ledger: str | None,
    draining: Draining,
    scheme: str,
) -> None:
    """Run so many workers, each of which is this command again. Refuses  Stopped"""
    from proxy.cli.listen_addresses import ListenerPorts, check_can_open, sockets_of_workers
    from proxy.cli.proxy_servers import ledger_of_workers
    from proxy.cli.running import drain_on_signals
    from proxy.cli.supervisor import Supervisor

    check_can_open(where)
    with ledger_of_workers(
        state, ledger, policies, _ledger_connections(workers, len(policies))
    ) as served:
        sockets = sockets_of_workers(where, workers)
        ports = ListenerPorts(**{name: one.getsockname()[:2] for name, one in sockets[0].items()})

        def announce(databases: Sequence[str]) -> None:
            _say_where(databases, ports, scheme)

        async def supervise() -> None:
            drain_on_signals(draining, lambda: _say_end(draining))
            await Supervisor(served, sockets, draining).run(announce)

        run(supervise())


def _ledger_connections(workers: int, databases: int) -> int:
    """Of its own server: for each worker a pool, a lease and a few more, and for commands beside them."""
    return 50 + workers * (10 + 6 * databases)


def _check_traces() -> None:
    """Before anything is started."""
    from proxy.servers.tracing import NoTracing, check_has_packages

    try:
        check_has_packages()
    except NoTracing:
        raise CliError("--traces needs more packages: pip install 'dpproxy[otel]'") from None


def _address(text: str, default: str | None = None) -> Address:
    try:
        address = read_address(text)
    except ValueError as error:
        raise CliError(str(error)) from None
    # Whoever asks for a port wants that one.
    return Address(address.host, address.port, or_free=text == default)
