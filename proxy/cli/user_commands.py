"""`dpproxy user`: analysts, who are roles of the shadow."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from proxy.cli.command_options import ShadowDsn, State
from proxy.cli.shadow_server import shadow_server
from proxy.databases.users import add_analyst, list_analysts, remove_analyst

user = typer.Typer(no_args_is_help=True, help="Analysts: roles of the shadow.")


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
