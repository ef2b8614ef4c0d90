"""`dpproxy`: the command line."""

from __future__ import annotations

import sys
from importlib.metadata import version
from typing import Annotated

import typer

from proxy.base.errors import Fault
from proxy.cli.access_commands import access
from proxy.cli.cli_error import CliError
from proxy.cli.diff_command import policy_diff
from proxy.cli.drafting_commands import policy_init, policy_schema
from proxy.cli.ledger_commands import ledger
from proxy.cli.policy_commands import (
    audit,
    doctor,
    explain,
    policy_bounds,
    policy_check,
    policy_manual,
    policy_role,
)
from proxy.cli.publish_commands import publish
from proxy.cli.repeated_options import refuse_repeated_options
from proxy.cli.sample_commands import policy_samples
from proxy.cli.serving_commands import demo, serve
from proxy.cli.token_commands import token
from proxy.cli.user_commands import user
from proxy.ledger.users import UserError
from proxy.postgres.postgres_error import EmbeddedPostgresError
from proxy.protected.reachable_catalog import Unreachable

# What serves and what plans is imported inside the commands that need it: `dpproxy user` loads neither
# a web framework nor numpy, and answers three times as fast.

app = typer.Typer(
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,  # they print local variables, among them passwords
    help="A SQL proxy that answers queries about people with differential privacy.",
)
policy = typer.Typer(no_args_is_help=True, help="Policies.")
for command in (demo, serve, explain, audit, doctor):
    app.command()(command)
policy.command("init")(policy_init)
policy.command("samples")(policy_samples)
policy.command("check")(policy_check)
policy.command("diff")(policy_diff)
policy.command("bounds")(policy_bounds)
policy.command("manual")(policy_manual)
policy.command("schema")(policy_schema)
policy.command("role")(policy_role)
app.add_typer(user, name="user")
app.add_typer(token, name="token")
app.add_typer(access, name="access")
app.add_typer(ledger, name="ledger")
app.add_typer(policy, name="policy")
app.add_typer(publish, name="publish")


def _say_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"dpproxy {version('dpproxy')}")
        raise typer.Exit


@app.callback()
def _options(
    _: Annotated[
        bool,
        typer.Option("--version", callback=_say_version, is_eager=True, help="Print the version."),
    ] = False,
) -> None: ...


def main() -> None:
    if not __debug__:
        sys.exit("dpproxy: assertions guard the privacy of answers: run Python without -O")
    try:
        command = typer.main.get_command(app)
        refuse_repeated_options(command, sys.argv[1:])
        command(prog_name="dpproxy")
    except (
        CliError,
        EmbeddedPostgresError,
        Unreachable,
        UserError,
        Fault,
    ) as error:
        told = error.for_operators if isinstance(error, Fault) else error
        print(f"dpproxy: {told}", file=sys.stderr)  # noqa: T201
        sys.exit(1)
