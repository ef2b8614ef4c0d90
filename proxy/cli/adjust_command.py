"""`dpproxy ledger adjust`: what was spent elsewhere is added, what was charged wrongly is taken back.

What takes waits for `dpproxy ledger confirm` by another administrator.
"""

from __future__ import annotations

import re
from datetime import datetime, timezone
from fractions import Fraction
from typing import Annotated, Optional

import typer

from proxy.accounting.amounts import Amount, text
from proxy.accounting.budget_lines import LineKind
from proxy.cli.cli_error import CliError
from proxy.cli.command_options import LedgerDsn, State
from proxy.cli.proxy_servers import ledger_only
from proxy.ledger.adjustments import (
    Adjusted,
    Adjustment,
    AdjustmentError,
    WaitingRequest,
    adjust,
    confirm,
    waiting_requests,
)
from proxy.ledger.ledger_sources import Source, known_sources

_NUMBER = re.compile(r"[+-]?[0-9]{1,20}(\.[0-9]{0,30})?([eE][+-]?[0-9]{1,2})?")
Analyst = Annotated[
    Optional[str],  # noqa: UP045
    typer.Option(help="Whose budget: this analyst's.", metavar="NAME"),
]
Group = Annotated[
    Optional[str],  # noqa: UP045
    typer.Option(help="Or this group's.", metavar="NAME"),
]
Table = Annotated[
    Optional[str],  # noqa: UP045
    typer.Option(help="Or this table's.", metavar="SCHEMA.TABLE"),
]


def adjust_command(
    reason: Annotated[str, typer.Option(help="Why; it stays in the ledger.", metavar="TEXT")],
    analyst: Analyst = None,
    group: Group = None,
    table: Table = None,
    total: Annotated[bool, typer.Option("--total", help="Or everybody's together.")] = False,
    epsilon: Annotated[
        str, typer.Option(help="To be added to what is spent; below 0: taken from it.", metavar="E")
    ] = "0",
    delta: Annotated[str, typer.Option(help="The same of delta.", metavar="D")] = "0",
    rho: Annotated[
        Optional[str],  # noqa: UP045
        typer.Option(
            help="The same of rho, with `accounting: zcdp`; left out: what --epsilon adds, and nothing where it"
            " takes.",
            metavar="R",
        ),
    ] = None,
    source: Annotated[
        Optional[str],  # noqa: UP045
        typer.Option(help="Where the ledger has several sources.", metavar="NAME"),
    ] = None,
    state: State = None,
    ledger: LedgerDsn = None,
) -> None:
    """Change what is spent of one budget, in its present window: an event with a reason, that stays.

    An amount below 0 gives budget back. It is a request until another administrator confirms it.
    """
    named = [
        (kind, name)
        for kind, name in (
            (LineKind.ANALYST, analyst),
            (LineKind.GROUP, group),
            (LineKind.TABLE, table),
            (LineKind.TOTAL, "" if total else None),
        )
        if name is not None
    ]
    if len(named) != 1:
        raise CliError("give one of --analyst, --group, --table and --total")
    ((kind, name),) = named
    by = Amount(_number(epsilon, "--epsilon"), _number(delta, "--delta"))
    with ledger_only(state, ledger) as dsn:
        found = source_named(known_sources(dsn), source)
        of_rho = None if rho is None else _number(rho, "--rho")
        wanted = Adjustment(kind=kind, name=name, by=by, reason=reason, rho=of_rho)
        try:
            done = adjust(dsn, found.id, wanted)
        except AdjustmentError as error:
            raise CliError(f"{error}. Nothing was adjusted") from None
    if isinstance(done, WaitingRequest):
        typer.echo(f"nothing is given back yet: {_waits(done)}")
        command = f"`dpproxy ledger confirm {done.number}`"
        typer.echo(
            f"another administrator can until {_minute(done.until)}: {command}, or in the console"
        )
        return
    _echo_adjusted(done, f" of {found.name}")


def confirm_command(
    number: Annotated[
        Optional[int],  # noqa: UP045
        typer.Argument(metavar="[NUMBER]", help="Of the request. Left out: those that wait."),
    ] = None,
    state: State = None,
    ledger: LedgerDsn = None,
) -> None:
    """Give budget back, as another administrator has requested by `ledger adjust`.

    The system's account has to be another one than theirs. Several people on one account confirm in the
    administrators' console.
    """
    with ledger_only(state, ledger) as dsn:
        if number is None:
            waiting = waiting_requests(dsn)
            for one in waiting:
                typer.echo(f"{_waits(one)}; until {_minute(one.until)}")
            if not waiting:
                typer.echo("no request waits")
            return
        try:
            done = confirm(dsn, number)
        except AdjustmentError as error:
            raise CliError(f"{error}. Nothing was adjusted") from None
    _echo_adjusted(done)


def _echo_adjusted(done: Adjusted, of: str = "") -> None:
    spent = f"epsilon {text(done.spent.epsilon)}, delta {text(done.spent.delta)}"
    typer.echo(f"adjustment {done.number}{of}: {spent} is spent now")


def _waits(one: WaitingRequest) -> str:
    return f"request {one.number} of {one.database}: {one.text}"


def _minute(at: datetime) -> str:
    return f"{at.astimezone(timezone.utc):%Y-%m-%d %H:%M} UTC"


def _number(given: str, option: str) -> Fraction:
    if _NUMBER.fullmatch(given.strip()) is None:
        raise CliError(f"{option} must be a number, such as 2.5 or -1e-6")
    return Fraction(given.strip())


def source_named(known: tuple[Source, ...], name: str | None) -> Source:
    names = ", ".join(one.name for one in known) or "none"
    found = [one for one in known if name is None or one.name == name]
    if len(found) == 1:
        return found[0]
    if name is None and found:
        raise CliError(f"the ledger has several sources ({names}): give --source NAME")
    raise CliError(f"the ledger has no such source; it has: {names}")
