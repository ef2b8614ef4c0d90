"""`dpproxy user`, `access` and `token`: analysts and their groups, what they may query, and their tokens.

All of it stands in the ledger; every process that serves it follows within seconds.
"""

from __future__ import annotations

import os
import sys
from decimal import Decimal, InvalidOperation
from typing import Annotated

import typer

from proxy.cli.cli_error import CliError
from proxy.cli.command_options import LedgerDsn, State
from proxy.cli.proxy_servers import ledger_only, warn_of_demo
from proxy.cli.text_table import text_table
from proxy.ledger.bearer_tokens import create_token, list_tokens, revoke_token
from proxy.ledger.users import (
    LEAST_CHARACTERS,
    add_analyst,
    add_to_group,
    allow,
    data_access,
    groups,
    list_analysts,
    open_to_all,
    remove_analyst,
    remove_from_group,
    restrict,
    set_password,
    withdraw,
)

# `dpproxy user group`: groups of analysts, to which access and budgets can be given.

group = typer.Typer(
    no_args_is_help=True, help="Groups of analysts. A group is there while somebody is in it."
)


@group.command("add")
def group_add(group: str, name: str, state: State = None, ledger: LedgerDsn = None) -> None:
    """Put an analyst into a group."""
    with ledger_only(state, ledger) as dsn:
        add_to_group(dsn, group, name)
    warn_of_demo(state, ledger)
    typer.echo(f"added {name} to {group}")


@group.command("remove")
def group_remove(group: str, name: str, state: State = None, ledger: LedgerDsn = None) -> None:
    """Take an analyst out of a group; sessions that only the group allowed end within seconds."""
    with ledger_only(state, ledger) as dsn:
        remove_from_group(dsn, group, name)
    warn_of_demo(state, ledger)
    typer.echo(f"removed {name} from {group}")


@group.command("list")
def group_list(state: State = None, ledger: LedgerDsn = None) -> None:
    """The groups and who is in them."""
    with ledger_only(state, ledger) as dsn:
        for name, analysts in groups(dsn).items():
            typer.echo(f"{name}: {', '.join(analysts)}")


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


# `dpproxy access`: who may query which database, where not everybody may.

access = typer.Typer(
    no_args_is_help=True,
    help="Who may query which database. Everybody may query every database until one is restricted.",
)
User = Annotated[str | None, typer.Option("--user", help="An analyst.", metavar="NAME")]
Group = Annotated[str | None, typer.Option("--group", help="A group of analysts.", metavar="NAME")]


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


# `dpproxy token`: bearer tokens with which programs query over HTTP as an analyst.

token = typer.Typer(
    no_args_is_help=True, help="Bearer tokens, with which programs query over HTTP as an analyst."
)


@token.command("create")
def token_create(
    name: str,
    days: Annotated[float, typer.Option(help="Days until it expires, at most 366.")],
    database: Annotated[
        str | None,
        typer.Option(
            help="For this database only, by its name in `ledger show`. Left out: all that the analyst may"
            " query.",
            metavar="NAME",
        ),
    ] = None,
    epsilon: Annotated[
        str | None,
        typer.Option(
            help="What all statements through it may cost together. Left out: the analyst's own budget.",
            metavar="NUMBER",
        ),
    ] = None,
    per: Annotated[
        str | None,
        typer.Option(help="The token's epsilon renews each hour or day (UTC).", metavar="hour|day"),
    ] = None,
    note: Annotated[str | None, typer.Option(help="What it is for.", metavar="TEXT")] = None,
    state: State = None,
    ledger: LedgerDsn = None,
) -> None:
    """Make a token of an analyst. It is printed once, alone on standard output, and kept nowhere."""
    with ledger_only(state, ledger) as dsn:
        made = create_token(
            *(dsn, name),
            days=days,
            source=database,
            epsilon=_number(epsilon),
            per=per,
            note=note or "",
        )
    warn_of_demo(state, ledger)
    typer.echo(
        f"token {made.number} of {name}, until {made.expires_at:%Y-%m-%d %H:%M} UTC:", err=True
    )
    typer.echo(made.text)


@token.command("list")
def token_list(state: State = None, ledger: LedgerDsn = None) -> None:
    """The tokens, and what was spent through each: in this hour or day where its epsilon renews."""
    with ledger_only(state, ledger) as dsn:
        found = list_tokens(dsn)
    lines = [
        [
            *(str(one.number), one.analyst, one.source or "all", f"{one.spent.normalize():f}"),
            "" if one.epsilon is None else _limit(one.epsilon, one.per),
            *(f"{one.expires_at:%Y-%m-%d %H:%M}", one.state, one.note),
        ]
        for one in found
    ]
    heads = ["token", "analyst", "database", "epsilon", "of", "until (UTC)", "state", "note"]
    for line in text_table(heads, lines):
        typer.echo(line)


@token.command("revoke")
def token_revoke(number: int, state: State = None, ledger: LedgerDsn = None) -> None:
    """Nothing is charged through a token from now on."""
    with ledger_only(state, ledger) as dsn:
        revoke_token(dsn, number)
    warn_of_demo(state, ledger)
    typer.echo(f"revoked token {number}")


def _limit(epsilon: Decimal, per: str | None) -> str:
    """
    >>> _limit(Decimal("0.20"), "day"), _limit(Decimal(10), None)
    ('0.2 per day', '10')
    """
    return f"{epsilon.normalize():f}{'' if per is None else f' per {per}'}"


def _number(text: str | None) -> Decimal | None:
    try:
        return None if text is None else Decimal(text)
    except InvalidOperation:
        raise CliError("--epsilon is no number") from None
