"""`dpproxy user`: analysts, who stand in the ledger; every process that serves it follows within seconds."""

from __future__ import annotations

import os
import sys
from typing import Annotated

import typer

from proxy.cli.cli_error import CliError
from proxy.cli.command_options import LedgerDsn, State
from proxy.cli.group_commands import group
from proxy.cli.proxy_servers import ledger_only, warn_of_demo
from proxy.ledger.users import (
    LEAST_CHARACTERS,
    add_analyst,
    list_analysts,
    remove_analyst,
    set_password,
)

user = typer.Typer(
    no_args_is_help=True, help="Analysts: who may run queries, by name and password."
)
user.add_typer(group, name="group")


@user.command("add")
def user_add(
    name: str,
    password_stdin: Annotated[
        bool, typer.Option(help="Read the password, one line, from standard input.")
    ] = False,
    no_password: Annotated[
        bool,
        typer.Option(
            "--no-password",
            help="Nobody knows a password of theirs: only tokens and certificates let them in.",
        ),
    ] = False,
    state: State = None,
    ledger: LedgerDsn = None,
) -> None:
    """Add an analyst, who may query every database served with this ledger that is not restricted."""
    if no_password and password_stdin:
        raise CliError("--no-password and --password-stdin contradict each other")
    password = None if no_password else _password(password_stdin)
    with ledger_only(state, ledger) as dsn:
        add_analyst(dsn, name, password)
    warn_of_demo(state, ledger)
    typer.echo(f"added {name}")


@user.command("passwd")
@user.command("password")
def user_password(
    name: str,
    password_stdin: Annotated[
        bool, typer.Option(help="Read the password, one line, from standard input.")
    ] = False,
    state: State = None,
    ledger: LedgerDsn = None,
) -> None:
    """Give an analyst another password; sessions of the old one end within seconds."""
    password = _password(password_stdin)
    with ledger_only(state, ledger) as dsn:
        set_password(dsn, name, password)
    warn_of_demo(state, ledger)
    typer.echo(f"changed {name}")


@user.command("list")
def user_list(state: State = None, ledger: LedgerDsn = None) -> None:
    """The analysts' names."""
    with ledger_only(state, ledger) as dsn:
        for name in list_analysts(dsn):
            typer.echo(name)


@user.command("remove")
def user_remove(name: str, state: State = None, ledger: LedgerDsn = None) -> None:
    """Remove an analyst, whose sessions end within seconds. What was spent stays in the ledger."""
    with ledger_only(state, ledger) as dsn:
        remove_analyst(dsn, name)
    warn_of_demo(state, ledger)
    typer.echo(f"removed {name}")


def _password(from_stdin: bool) -> str:
    if from_stdin:
        given = sys.stdin.readline().rstrip("\r\n")
    elif _has_terminal():
        given = str(typer.prompt("Password", hide_input=True, confirmation_prompt=True))
    else:
        raise CliError("there is no terminal to prompt for the password: use --password-stdin")
    if len(given) < LEAST_CHARACTERS:
        raise CliError(f"the password is shorter than {LEAST_CHARACTERS} characters")
    return given


def _has_terminal() -> bool:
    """Where getpass would ask."""
    try:
        os.close(os.open("/dev/tty", os.O_RDWR | os.O_NOCTTY))
    except OSError:
        return sys.stdin is not None and sys.stdin.isatty()
    return True
