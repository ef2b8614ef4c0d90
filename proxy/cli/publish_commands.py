"""`dpproxy publish`: what a policy publishes, and one release more, now."""

from __future__ import annotations

import contextlib
import logging
import shlex
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from proxy.base.shown_numbers import shown_number
from proxy.cli.cli_error import CliError
from proxy.cli.command_options import LedgerDsn, State
from proxy.cli.running import end_on_sigterm, log_to_stderr, run
from proxy.cli.source_variables import SourceVariables
from proxy.policy_file.policy_errors import PolicyErrors

if TYPE_CHECKING:
    from proxy.cli.loading import CheckedPolicy
    from proxy.engine.published_ports import PublishedState
    from proxy.ledger.ledger_sources import Source
    from proxy.policy.publication import Publication

publish = typer.Typer(help="Published tables: what is released, and when.")
Policy = Annotated[Path | None, typer.Option("--policy", help="A policy in YAML.", metavar="FILE")]


@publish.callback(invoke_without_command=True)
def release(
    context: typer.Context,
    now: Annotated[
        str | None,
        typer.Option(
            "--now",
            help="Release this one now, whatever its schedule; charged to the shared budget (total).",
            metavar="NAME",
        ),
    ] = None,
    policy: Policy = None,
    state: State = None,
    ledger: LedgerDsn = None,
) -> None:
    """Published tables: what is released, and when. Beside `serve`, or without it."""
    if context.invoked_subcommand is not None:
        if now is not None:
            raise CliError("--now NAME goes without another command")
        return
    if now is None or policy is None:
        raise CliError(
            "dpproxy publish --policy FILE --now NAME releases one; dpproxy publish list --policy FILE"
            " lists them"
        )
    from proxy.cli.publication_checks import released_now

    end_on_sigterm()
    log_to_stderr(logging.ERROR)
    checked = _loaded(policy)
    of = _publication(checked, now)
    with _source(checked, policy, state, ledger) as (dsn, source):
        for line in released_now(checked, of, dsn, source, state, ledger):
            typer.echo(line)


@publish.command("list")
def list_published(policy: Policy = None, state: State = None, ledger: LedgerDsn = None) -> None:
    """Each published table: when it was released, when it is due, what it costs, and whether it is stale."""
    from proxy.cli.text_table import text_table

    if policy is None:
        raise CliError("dpproxy publish list needs --policy FILE")
    checked = _loaded(policy)
    with _source(checked, policy, state, ledger) as (dsn, source):
        states = run(_states(dsn, source.id, state, checked.policy.publish))
    heads = ["table", "epsilon", "every", "released", "due next", "state"]
    lines = [
        [
            f"published.{of.name}",
            shown_number(float(of.loss.epsilon)),
            _duration(of.seconds),
            _time(one.released_at),
            _time(one.next_due),
            _state(one),
        ]
        for of, one in zip(checked.policy.publish, states, strict=True)
    ]
    for line in text_table(heads, lines):
        typer.echo(line)


async def _states(
    dsn: str, source: int, state: Path | None, publications: tuple[Publication, ...]
) -> tuple[PublishedState, ...]:
    from proxy.cli.state_folder import state_folder
    from proxy.ledger.ledger_tables import LedgerTables
    from proxy.ledger.published_releases import PublishedReleases
    from proxy.ledger.text_keys import TextKeyMissing, reading_cipher

    try:
        texts = reading_cipher(state_folder(state))
    except TextKeyMissing as error:
        raise CliError(str(error)) from None
    tables = LedgerTables(dsn, source, texts, connections=1)
    await tables.open()
    try:
        return await PublishedReleases(tables).states(publications)
    finally:
        await tables.close()


def _loaded(policy: Path) -> CheckedPolicy:
    from proxy.cli.loading import load_policy

    try:
        checked = load_policy(policy, SourceVariables())
    except PolicyErrors as error:
        raise CliError(str(error)) from None
    if not checked.policy.publish:
        raise CliError(f"{policy}: nothing is published: add `publish` (dpproxy policy manual)")
    return checked


def _publication(checked: CheckedPolicy, name: str) -> Publication:
    wanted = name.removeprefix("published.")
    for one in checked.policy.publish:
        if one.name == wanted:
            return one
    names = ", ".join(one.name for one in checked.policy.publish)
    raise CliError(f"{checked.file}: {name!r} is not published; published are {names}")


@contextlib.contextmanager
def _source(
    checked: CheckedPolicy, policy: Path, state: Path | None, ledger: str | None
) -> Iterator[tuple[str, Source]]:
    from proxy.cli.building import known_source
    from proxy.cli.proxy_servers import ledger_only
    from proxy.cli.state_folder import state_folder

    home = state_folder(state)
    options = f"--state {shlex.quote(str(home))}" if ledger is None else "--ledger DSN"
    with ledger_only(state, ledger) as dsn:
        yield dsn, known_source(checked, dsn, policy, options)


def _state(one: PublishedState) -> str:
    if one.stale is not None:
        return f"stale since {_time(one.stale_since)}: {one.stale}"
    if one.failure is not None:
        return f"stale: the latest release is no table: {one.failure}"
    if one.is_due:
        return "due"
    return "released"


def _time(at: datetime | None) -> str:
    return "never" if at is None else f"{at:%Y-%m-%d %H:%M} UTC"


def _duration(seconds: int) -> str:
    for unit, length in (("d", 86_400), ("h", 3600)):
        if seconds % length == 0 and seconds > length:
            return f"{seconds // length}{unit}"
    return "1h" if seconds == 3600 else f"{seconds // 60}min"
