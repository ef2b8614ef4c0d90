"""`dpproxy`: the command line."""

from __future__ import annotations

import json
import logging
import os
import sys
import tempfile
from pathlib import Path
from typing import Annotated, Optional

import typer

from proxy.base.errors import Fault, Refusal
from proxy.cli.addresses import Address, read_address
from proxy.cli.logs import log_to_stderr
from proxy.cli.running import end_on_sigterm, run
from proxy.cli.shadow_server import shadow_server
from proxy.cli.state import demo_state
from proxy.cli.stopped import Stopped
from proxy.databases.embedded import EmbeddedPostgresError
from proxy.databases.given_server import Unreachable
from proxy.databases.policy_errors import PolicyErrors
from proxy.databases.users import UserError, add_analyst, list_analysts, remove_analyst

# What serves and what plans is imported by the commands that need it: `dpproxy user` loads neither
# a web framework nor numpy, and answers three times as fast.

app = typer.Typer(
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,  # they print local variables, among them passwords
    help="A SQL proxy that answers questions about people with differential privacy.",
)
user = typer.Typer(no_args_is_help=True, help="Analysts: roles of the shadow.")
policy = typer.Typer(no_args_is_help=True, help="Policies.")
app.add_typer(user, name="user")
app.add_typer(policy, name="policy")

_WIRE, _HTTP = "127.0.0.1:6432", "127.0.0.1:8432"

Listen = Annotated[str, typer.Option(help="HOST:PORT for PostgreSQL clients.", metavar="HOST:PORT")]
Http = Annotated[str, typer.Option(help="HOST:PORT for HTTP.", metavar="HOST:PORT")]
State = Annotated[
    Path | None,
    typer.Option(help="Folder of the embedded PostgreSQL servers.", metavar="DIR"),
]
ShadowDsn = Annotated[
    Optional[str],  # noqa: UP045
    typer.Option(
        help="Superuser's connection string of a PostgreSQL server to hold the shadows.",
        metavar="DSN",
        envvar="DPPROXY_SHADOW",
    ),
]
PolicyFile = Annotated[Path, typer.Option("--policy", help="A policy in YAML.", metavar="FILE")]
PolicyFiles = Annotated[
    list[Path],
    typer.Option("--policy", help="A policy in YAML; once per database.", metavar="FILE"),
]


@app.command()
def demo(
    state: State = None,
    listen: Listen = _WIRE,
    http: Http = _HTTP,
    check: Annotated[
        bool, typer.Option(help="Ask six questions through both doors, print a table, stop.")
    ] = False,
) -> None:
    """Serve invented data: a census and a shop."""
    from proxy.cli.demo import ANALYST, demo_databases, lines_to_copy
    from proxy.cli.doors import Doors, Where, check_free, keep_open, signalled

    end_on_sigterm()
    log_to_stderr(logging.WARNING)
    if check:
        with tempfile.TemporaryDirectory(prefix="dpproxy-check-") as folder:
            raise typer.Exit(_check_demo(state or Path(folder)))
    where = Where(_address(listen, _WIRE), _address(http, _HTTP))
    check_free(where.wire, where.http)
    with demo_databases(state or demo_state(), typer.echo) as prepared:

        async def announce(doors: Doors) -> int:
            for name, wanted, got in (
                ("PostgreSQL clients", where.wire, doors.wire),
                ("HTTP", where.http, doors.http),
            ):
                if wanted.or_free and wanted.port != got[1]:
                    typer.echo(f"port {wanted.port} is taken: {name} on {got[1]} instead")
            typer.echo(
                f"\nServing. Analyst {ANALYST}, password {prepared.password}. Copy a line:\n"
            )
            for line in lines_to_copy(doors, prepared.password).values():
                typer.echo(f"    {line}\n")
            typer.echo(f"What HTTP offers: http://{doors.http[0]}:{doors.http[1]}/docs")
            typer.echo("Ctrl-C stops everything.")
            await signalled()
            typer.echo("\nclosing the doors ...")
            return 0

        raise typer.Exit(run(keep_open(prepared.databases, where, announce)))


def _check_demo(state: Path) -> int:
    import asyncio

    from proxy.cli.demo import demo_databases
    from proxy.cli.demo_check import check_demo
    from proxy.cli.doors import Doors, Where, keep_open

    where = Where(Address("127.0.0.1", 0), Address("127.0.0.1", 0))
    with demo_databases(state, typer.echo) as prepared:

        async def ask(doors: Doors) -> int:
            lines, is_good = await asyncio.to_thread(check_demo, doors, prepared.password)
            typer.echo("\n" + "\n".join(lines) + "\n")
            return 0 if is_good else 1

        return run(keep_open(prepared.databases, where, ask))


@app.command()
def serve(
    policy: PolicyFiles,
    listen: Listen = _WIRE,
    http: Http = _HTTP,
    state: State = None,
    shadow: ShadowDsn = None,
    tls_cert: Annotated[Optional[Path], typer.Option(help="PEM, for both doors.")] = None,  # noqa: UP045
    tls_key: Annotated[Optional[Path], typer.Option(help="PEM.")] = None,  # noqa: UP045
) -> None:
    """Serve the databases of the given policies."""
    from proxy.cli.building import build
    from proxy.cli.doors import Doors, Where, check_free, keep_open, signalled
    from proxy.cli.loading import load_policies

    end_on_sigterm()
    log_to_stderr()
    if (tls_cert is None) != (tls_key is None):
        raise Stopped("--tls-cert and --tls-key go together")
    tls = None if tls_cert is None or tls_key is None else (tls_cert, tls_key)
    where = Where(_address(listen), _address(http), tls)
    check_free(where.wire, where.http)
    checked = load_policies(policy, os.environ)
    with shadow_server(state, shadow, may_attach=False) as server:
        databases = [build(one, server) for one in checked]

        async def announce(doors: Doors) -> int:
            names = ", ".join(one.policy.database for one in databases)
            typer.echo(f"serving {names}")
            typer.echo(f"PostgreSQL clients: {doors.wire[0]}:{doors.wire[1]}")
            scheme = "http" if tls is None else "https"
            typer.echo(f"HTTP: {scheme}://{doors.http[0]}:{doors.http[1]}/docs")
            await signalled()
            typer.echo("closing the doors ...")
            return 0

        raise typer.Exit(run(keep_open(databases, where, announce)))


@user.command("add")
def user_add(
    name: str,
    password_stdin: Annotated[bool, typer.Option(help="Read it from standard input.")] = False,
    state: State = None,
    shadow: ShadowDsn = None,
) -> None:
    """Add an analyst, who may ask of every database served from this shadow."""
    if password_stdin:
        password = sys.stdin.readline().rstrip("\r\n")
    else:
        password = typer.prompt("Password", hide_input=True, confirmation_prompt=True)
    with shadow_server(state, shadow, may_attach=True) as server:
        add_analyst(server.dsn(), name, password)
    typer.echo(f"added {name}")


@user.command("list")
def user_list(state: State = None, shadow: ShadowDsn = None) -> None:
    """The analysts' names."""
    with shadow_server(state, shadow, may_attach=True) as server:
        for name in list_analysts(server.dsn()):
            typer.echo(name)


@user.command("remove")
def user_remove(name: str, state: State = None, shadow: ShadowDsn = None) -> None:
    """End an analyst's sessions and remove the role. What was spent stays in the ledger."""
    with shadow_server(state, shadow, may_attach=True) as server:
        remove_analyst(server.dsn(), name)
    typer.echo(f"removed {name}")


@policy.command("check")
def policy_check(
    file: Path, as_json: Annotated[bool, typer.Option("--json", help="As JSON.")] = False
) -> None:
    """Hold a policy against the live database, and print how exact answers will be."""
    from proxy.cli.accuracy_report import accuracy_json, accuracy_report
    from proxy.cli.loading import load_policy
    from proxy.policy.accuracy import accuracy_table
    from proxy.policy.noise_proposal import noise_proposals

    try:
        checked = load_policy(file, os.environ)
    except PolicyErrors as error:
        if as_json:
            problems = [
                {"line": p.line, "column": p.column, "message": p.message, "hint": p.hint or None}
                for p in error.problems
            ]
            typer.echo(json.dumps({"problems": problems}, indent=2))
        else:
            typer.echo(str(error), err=True)
        raise typer.Exit(1) from None
    lines = accuracy_table(checked.policy, checked.catalog)
    proposals = noise_proposals(checked.policy, checked.catalog)
    if as_json:
        typer.echo(json.dumps(accuracy_json(checked.policy, lines, proposals), indent=2))
        return
    for line in accuracy_report(checked.policy, lines, proposals):
        typer.echo(line)


@app.command()
def explain(
    sql: str,
    policy: PolicyFile,
    as_json: Annotated[bool, typer.Option("--json", help="As JSON.")] = False,
) -> None:
    """The privacy plan of a statement. Nothing is read, nothing is charged, no server is needed."""
    from proxy.cli.explanation import explanation, refusal_text
    from proxy.cli.loading import load_policy

    try:
        checked = load_policy(policy, os.environ)
        plan = run(explanation(checked, sql, as_json=as_json))
    except PolicyErrors as error:
        raise Stopped(str(error)) from None
    except Refusal as refusal:
        raise Stopped(refusal_text(refusal, sql)) from None
    if plan is None:
        raise Stopped("this asks nothing of a protected table: it costs nothing")
    typer.echo(plan)


@app.command()
def audit(
    policy: PolicyFile,
    questions: Annotated[
        Optional[Path],  # noqa: UP045
        typer.Option(help="Statements to audit; left out: every aggregate of every column."),
    ] = None,
    rows: Annotated[int, typer.Option(min=1, max=2000, help="Invented rows per table.")] = 40,
    seed: Annotated[int, typer.Option(help="Of the invented data.")] = 1,
    distance: Annotated[
        int, typer.Option(min=1, max=50, help="Take out up to so many units together.")
    ] = 1,
    plot: Annotated[
        Optional[Path],  # noqa: UP045
        typer.Option(help="Write sensitivity against distance as SVG.", metavar="FILE.svg"),
    ] = None,
) -> None:
    """Compare planned and largest observed sensitivity on invented data shaped by a policy."""
    from proxy.cli.audit import Size, audited
    from proxy.cli.audit_report import audit_report
    from proxy.cli.loading import load_policy
    from proxy.cli.sensitivity_plot import sensitivity_plot

    end_on_sigterm()
    log_to_stderr(logging.CRITICAL)  # statements that fail are in the report
    try:
        texts = None if questions is None else questions.read_text(encoding="utf-8")
        checked = load_policy(policy, os.environ)
    except PolicyErrors as error:
        raise Stopped(str(error)) from None
    except (OSError, UnicodeError) as error:
        raise Stopped(f"{questions}: {error}") from None
    found = run(audited(checked, texts, Size(rows, seed, distance)))
    for line in audit_report(found):
        typer.echo(line)
    if plot is not None:
        title = f"{checked.policy.database}: empirical sensitivity"
        plot.write_text(sensitivity_plot(found.audit.findings, title), encoding="utf-8")
        typer.echo(f"wrote {plot}")
    if not found.audit.compared:
        raise Stopped("nothing could be compared")
    if found.audit.violations:
        raise typer.Exit(1)


@app.command()
def doctor(
    policy: PolicyFile,
    as_json: Annotated[bool, typer.Option("--json", help="As JSON.")] = False,
) -> None:
    """Unsafe settings and rights, missing indexes and keys of a protected database, each with its fix."""
    from proxy.cli.doctor import doctor_json, doctor_report, findings_of, is_unsafe

    try:
        findings = findings_of(policy, os.environ)
    except PolicyErrors as error:
        raise Stopped(str(error)) from None
    typer.echo(doctor_json(findings) if as_json else "\n".join(doctor_report(findings)))
    if is_unsafe(findings):
        raise typer.Exit(1)


def _address(text: str, default: str | None = None) -> Address:
    try:
        address = read_address(text)
    except ValueError as error:
        raise Stopped(str(error)) from None
    # Whoever asks for a port wants that one.
    return Address(address.host, address.port, or_free=text == default)


def main() -> None:
    if not __debug__:
        sys.exit("dpproxy: assertions guard the privacy of answers: run Python without -O")
    try:
        app(prog_name="dpproxy")
    except (
        Stopped,
        EmbeddedPostgresError,
        Unreachable,
        UserError,
        Fault,
    ) as error:
        print(f"dpproxy: {error}", file=sys.stderr)  # noqa: T201
        sys.exit(1)
