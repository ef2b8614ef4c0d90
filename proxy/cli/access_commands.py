"""`dpproxy access`: who may query which database, where not everybody may."""

from __future__ import annotations

from typing import Annotated, Optional

import typer

from proxy.cli.command_options import LedgerDsn, State
from proxy.cli.proxy_servers import ledger_only, warn_of_demo
from proxy.cli.text_table import text_table
from proxy.ledger.data_access import allow, data_access, open_to_all, restrict, withdraw

access = typer.Typer(
    no_args_is_help=True,
    help="Who may query which database. Everybody may query every database until one is restricted.",
)
User = Annotated[
    Optional[str],  # noqa: UP045
    typer.Option("--user", help="An analyst.", metavar="NAME"),
]
Group = Annotated[
    Optional[str],  # noqa: UP045
    typer.Option("--group", help="A group of analysts.", metavar="NAME"),
]


@access.command("list")
def access_list(state: State = None, ledger: LedgerDsn = None) -> None:
    """Each database of the ledger, and who may query it."""
    with ledger_only(state, ledger) as dsn:
        lines = [
            [one.source, _who(one.analysts, one.groups, one.is_restricted)]
            for one in data_access(dsn)
        ]
    for line in text_table(["database", "may query"], lines):
        typer.echo(line)


@access.command("allow")
def access_allow(
    database: str,
    user: User = None,
    group: Group = None,
    state: State = None,
    ledger: LedgerDsn = None,
) -> None:
    """Allow an analyst or a group to query a database. The first one restricts it to them."""
    with ledger_only(state, ledger) as dsn:
        was_open = not any(one.is_restricted for one in data_access(dsn) if one.source == database)
        allow(dsn, database, analyst=user, group=group)
    warn_of_demo(state, ledger)
    typer.echo(f"allowed {user or f'the group {group}'} to query {database}")
    if was_open:
        typer.echo(f"nobody else may query {database} any more", err=True)


@access.command("withdraw")
def access_withdraw(
    database: str,
    user: User = None,
    group: Group = None,
    state: State = None,
    ledger: LedgerDsn = None,
) -> None:
    """Take back what `allow` gave; sessions that lose it end within seconds."""
    with ledger_only(state, ledger) as dsn:
        withdraw(dsn, database, analyst=user, group=group)
    warn_of_demo(state, ledger)
    typer.echo(f"{user or f'the group {group}'} may not query {database} any more")


@access.command("restrict")
def access_restrict(database: str, state: State = None, ledger: LedgerDsn = None) -> None:
    """Nobody may query a database until `allow` says who."""
    with ledger_only(state, ledger) as dsn:
        restrict(dsn, database)
    warn_of_demo(state, ledger)
    typer.echo(f"nobody may query {database} until `dpproxy access allow` says who")


@access.command("open")
def access_open(database: str, state: State = None, ledger: LedgerDsn = None) -> None:
    """Everybody may query a database again; the list of who could is forgotten."""
    with ledger_only(state, ledger) as dsn:
        open_to_all(dsn, database)
    warn_of_demo(state, ledger)
    typer.echo(f"everybody may query {database}")


def _who(analysts: tuple[str, ...], groups: tuple[str, ...], is_restricted: bool) -> str:
    if not is_restricted:
        return "everybody"
    return ", ".join((*analysts, *(f"group {one}" for one in groups))) or "nobody"
