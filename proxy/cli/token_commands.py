"""`dpproxy token`: bearer tokens with which programs query over HTTP as an analyst."""

from __future__ import annotations

from decimal import Decimal, InvalidOperation
from typing import Annotated, Optional

import typer

from proxy.cli.cli_error import CliError
from proxy.cli.command_options import LedgerDsn, State
from proxy.cli.proxy_servers import ledger_only, warn_of_demo
from proxy.cli.text_table import text_table
from proxy.ledger.bearer_tokens import create_token, list_tokens, revoke_token

token = typer.Typer(
    no_args_is_help=True, help="Bearer tokens, with which programs query over HTTP as an analyst."
)


@token.command("create")
def token_create(
    name: str,
    days: Annotated[float, typer.Option(help="Days until it expires, at most 366.")],
    database: Annotated[
        Optional[str],  # noqa: UP045
        typer.Option(
            help="For this database only, by its name in `ledger show`. Left out: all that the analyst may"
            " query.",
            metavar="NAME",
        ),
    ] = None,
    epsilon: Annotated[
        Optional[str],  # noqa: UP045
        typer.Option(
            help="What all statements through it may cost together. Left out: the analyst's own budget.",
            metavar="NUMBER",
        ),
    ] = None,
    per: Annotated[
        Optional[str],  # noqa: UP045
        typer.Option(help="The token's epsilon renews each hour or day (UTC).", metavar="hour|day"),
    ] = None,
    note: Annotated[
        Optional[str],  # noqa: UP045
        typer.Option(help="What it is for.", metavar="TEXT"),
    ] = None,
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
