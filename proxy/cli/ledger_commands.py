"""`dpproxy ledger`: the only thing to back up, what an operator does with it, and adjustments."""

from __future__ import annotations

import csv
import json
import re
import sys
from collections.abc import Mapping
from datetime import datetime, timezone
from fractions import Fraction
from pathlib import Path
from typing import Annotated

import typer

from proxy.accounting.amounts import Amount, text
from proxy.accounting.budget_lines import WARNED_FROM, LineKind
from proxy.cli.cli_error import CliError
from proxy.cli.command_options import LedgerDsn, PolicyFiles, State
from proxy.cli.proxy_servers import accept_command, ledger_only
from proxy.cli.source_variables import SourceVariables
from proxy.cli.state_folder import state_folder
from proxy.cli.text_table import text_table
from proxy.ledger import ledger_backup
from proxy.ledger.adjustments import (
    Adjusted,
    Adjustment,
    AdjustmentError,
    WaitingRequest,
    adjust,
    confirm,
    waiting_requests,
)
from proxy.ledger.admin_log import admin_events
from proxy.ledger.ledger_mark import (
    LedgerWentBack,
    MarkFile,
    accept_restored,
    check_mark,
    mark_of,
    restored_as_of,
    restored_text,
    series_forgotten,
)
from proxy.ledger.ledger_reports import (
    NEARLY_SPENT,
    ledger_problems,
    published_lines,
    receipts,
    spending,
)
from proxy.ledger.ledger_sources import (
    Source,
    SourceError,
    adopt_as,
    adopt_new,
    known_sources,
    read_identity,
    refuse_own_source,
)
from proxy.ledger.text_keys import KEY_FILE, KeyFile, TextKeyMissing, known_keys, new_key

# `dpproxy ledger adjust`: what was spent elsewhere is added, what was charged wrongly is taken back.
#
# What takes waits for `dpproxy ledger confirm` by another administrator.

_NUMBER = re.compile(r"[+-]?[0-9]{1,20}(\.[0-9]{0,30})?([eE][+-]?[0-9]{1,2})?")
Analyst = Annotated[str | None, typer.Option(help="Whose budget: this analyst's.", metavar="NAME")]
Group = Annotated[str | None, typer.Option(help="Or this group's.", metavar="NAME")]
Table = Annotated[str | None, typer.Option(help="Or this table's.", metavar="SCHEMA.TABLE")]


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
        str | None,
        typer.Option(
            help="The same of rho, with `accounting: zcdp`; left out: what --epsilon adds, and nothing where it"
            " takes.",
            metavar="R",
        ),
    ] = None,
    source: Annotated[
        str | None, typer.Option(help="Where the ledger has several sources.", metavar="NAME")
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
        int | None,
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


ledger = typer.Typer(
    no_args_is_help=True, help="The ledger: budgets, receipts, analysts. Back it up."
)
ledger.command("adjust")(adjust_command)
ledger.command("confirm")(confirm_command)
File = Annotated[Path, typer.Argument(metavar="FILE")]


@ledger.command("show")
def show(
    state: State = None,
    ledger: LedgerDsn = None,
    pld: Annotated[
        bool, typer.Option("--pld", help="Also by privacy loss distributions; needs dpproxy[pld].")
    ] = False,
) -> None:
    """What is spent of each budget: of all together, tables, groups and analysts, per data source."""
    with ledger_only(state, ledger) as dsn:
        where = "" if ledger else f", in {state_folder(state)}"
        typer.echo(f"ledger {mark_of(dsn).ledger}{where}")
        for source in known_sources(dsn):
            typer.echo(
                f"{source.name}: {'; '.join(map(str, source.identities)) or 'not bound yet'}"
            )
        heads = [
            *("source", "budget", "per", "epsilon", "of", "delta", "of", "rho", "of", "used"),
            "receipts",
        ]
        rows = [list(row) for row in spending(dsn)]
        published = list(published_lines(dsn))
        if pld:
            heads.append("epsilon by PLD")
            found = _pld_epsilons(dsn)
            for row in rows:
                epsilon = found.get((row[0], row[1]), 0.0)
                row.append("beyond delta" if epsilon is None else f"{epsilon:.4g}")
    for line in text_table(heads, rows):
        typer.echo(line)
    for line in published:
        typer.echo(line)
    if any(cell.endswith(NEARLY_SPENT) for row in rows for cell in row):
        typer.echo(f"{NEARLY_SPENT.strip()} is where {int(WARNED_FROM * 100)} % or more is spent")


def _pld_epsilons(dsn: str) -> Mapping[tuple[str, str], float | None]:
    from proxy.ledger.pld_report import NoPld, pld_epsilons

    try:
        return pld_epsilons(dsn)
    except NoPld as error:
        raise CliError(str(error)) from None


@ledger.command("export")
def export(state: State = None, ledger: LedgerDsn = None) -> None:
    """All receipts and adjustments, as CSV on standard output."""
    with ledger_only(state, ledger) as dsn:
        writer = csv.writer(sys.stdout)
        writer.writerows(receipts(dsn))


@ledger.command("log")
def log(state: State = None, ledger: LedgerDsn = None) -> None:
    """What administrators did, the oldest first: when, who, what."""
    with ledger_only(state, ledger) as dsn:
        for one in admin_events(dsn):
            detail = json.dumps(one.detail, ensure_ascii=True)
            typer.echo(
                f"{one.at.astimezone(timezone.utc):%Y-%m-%d %H:%M:%S} UTC  {one.who}  {one.what}  {detail}"
            )


@ledger.command("verify")
def verify(state: State = None, ledger: LedgerDsn = None) -> None:
    """Find what was edited, removed or inserted: balances, the chain of receipts, the mark beside it."""
    with ledger_only(state, ledger) as dsn:
        problems = list(ledger_problems(dsn))
        try:
            check_mark(dsn, MarkFile(state_folder(state)))
        except LedgerWentBack as error:
            problems.append(str(error))
        if (as_of := restored_as_of(dsn)) is not None:
            problems.append(restored_text(as_of))
    for problem in problems:
        typer.echo(problem)
    if problems:
        raise typer.Exit(1)
    typer.echo("all checks passed")


@ledger.command("backup")
def backup(file: File, state: State = None, ledger: LedgerDsn = None) -> None:
    """Copy the whole ledger into a new file, also while dpproxy serves."""
    with ledger_only(state, ledger) as dsn:
        count = _reported(lambda: ledger_backup.backup(dsn, file))
        keys = known_keys(dsn, state_folder(state))
    typer.echo(f"wrote {file}: {count} receipts")
    if keys:
        names = ", ".join(key.name for key in keys)
        typer.echo(
            f"statements in it are encrypted with the keys {names}, which are not in it: keep a copy of"
            f" {KEY_FILE} apart from it"
        )


@ledger.command("restore")
def restore(file: File, state: State = None, ledger: LedgerDsn = None) -> None:
    """Fill an empty ledger from a backup; it is served once that is accepted."""
    with ledger_only(state, ledger, may_make=True, for_people=True) as dsn:
        count = _reported(lambda: ledger_backup.restore(dsn, file))
        as_of = restored_as_of(dsn)
        missing = [key.name for key in known_keys(dsn, state_folder(state)) if not key.is_here]
    assert as_of is not None
    typer.echo(f"restored {count} receipts; {restored_text(as_of)}")
    if missing:
        typer.echo(
            f"statements are encrypted with the keys {', '.join(missing)}: put {KEY_FILE} of the former state"
            f" folder into {state_folder(state)}"
        )
    typer.echo(f"`serve` refuses it until: {accept_command(state_folder(state), ledger)}")


@ledger.command("key")
def key(
    new: Annotated[
        bool, typer.Option("--new", help="Make a key, which is used from now on.")
    ] = False,
    state: State = None,
    ledger: LedgerDsn = None,
) -> None:
    """The keys that hide what the ledger keeps of statements, and whether they are in the state folder."""
    home = state_folder(state)
    with ledger_only(state, ledger) as dsn:
        try:
            made = new_key(dsn, home) if new else None
            keys = known_keys(dsn, home)
        except TextKeyMissing as error:
            raise CliError(str(error)) from None
    for one in keys:
        where = f"in {KeyFile(home).path}" if one.is_here else "not here"
        typer.echo(f"{one.name}  since {one.since.astimezone(timezone.utc):%Y-%m-%d}  {where}")
    if made is not None:
        typer.echo(
            f"{made} is used once every `serve` is started again; copy {KEY_FILE} to each --state that serves"
            " this ledger first. Answers that are cached now are drawn and paid again then"
        )


@ledger.command("adopt")
def adopt(
    policy: PolicyFiles,
    new: Annotated[
        bool,
        typer.Option(
            "--new", help="No query has ever been run about these people: budgets begin at zero."
        ),
    ] = False,
    as_name: Annotated[
        str | None,
        typer.Option(
            "--as",
            help="The data is that of a source that the ledger knows, moved or restored: budgets go on."
            " Of one policy.",
            metavar="NAME",
        ),
    ] = None,
    name: Annotated[
        str | None,
        typer.Option(
            help="With --new: another name than the policy's database. Of one policy.",
            metavar="NAME",
        ),
    ] = None,
    state: State = None,
    ledger: LedgerDsn = None,
) -> None:
    """Tell the ledger which data policies are about: before they are first served, or after they moved."""
    from proxy.cli.loading import read_policy_file
    from proxy.policy_file.policy_errors import PolicyErrors

    if new == (as_name is not None):
        raise CliError("give either --new or --as NAME")
    if len(policy) > 1 and (as_name or name):
        raise CliError("--as and --name are for one policy: give the others by themselves")
    try:
        variables = SourceVariables()
        read = [read_policy_file(file, variables)[0] for file in policy]
        identities = [read_identity(one.source) for one in read]
        with ledger_only(state, ledger, may_make=new, for_people=True) as dsn:
            for one in read:
                refuse_own_source(dsn, one.source)
            for one, identity in zip(read, identities, strict=True):
                if as_name is None:
                    found = adopt_new(dsn, identity, name or one.database)
                else:
                    found = adopt_as(dsn, identity, as_name)
                typer.echo(f"{identity} is the source {found.name}")
    except PolicyErrors as error:
        raise CliError(str(error)) from None
    except SourceError as error:
        raise CliError(str(error)) from None


@ledger.command("accept")
def accept(state: State = None, ledger: LedgerDsn = None) -> None:
    """Accept a ledger that was rolled back or restored: what was spent since is forgotten."""
    with ledger_only(state, ledger) as dsn:
        now, mark = mark_of(dsn), MarkFile(state_folder(state))
        try:
            before = mark.read()
        except LedgerWentBack:
            before = None
        mark.write(now)
        if restored_as_of(dsn) is not None:
            accept_restored(dsn)
        else:
            series_forgotten(dsn)
    if before is not None and before.ledger != now.ledger:
        typer.echo(f"another ledger, {now.ledger}, instead of {before.ledger}", err=True)
    typer.echo(f"accepted: the ledger's last receipt is {now.receipt}")


def _reported(work: ledger_backup.Work) -> int:
    try:
        return work()
    except ledger_backup.BackupError as error:
        raise CliError(str(error)) from None
