"""`dpproxy policy report`: who may learn how much about whom, in one document for those who sign."""

from __future__ import annotations

from datetime import datetime, timezone
from enum import Enum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Optional

import typer

from proxy.cli.cli_error import CliError
from proxy.cli.command_options import LedgerDsn, State

if TYPE_CHECKING:
    from proxy.engine.policy_report import LedgerFacts


class ReportFormat(str, Enum):
    MARKDOWN = "markdown"
    HTML = "html"
    JSON = "json"


def policy_report_command(
    file: Path,
    format: Annotated[
        ReportFormat, typer.Option("--format", help="markdown, html or json.", metavar="FORMAT")
    ] = ReportFormat.MARKDOWN,
    source: Annotated[
        Optional[str],  # noqa: UP045
        typer.Option(help="Where the ledger has several sources.", metavar="NAME"),
    ] = None,
    record: Annotated[
        bool,
        typer.Option(
            "--record",
            help="Note it in the ledger: the next report says what the policy has changed since this one.",
        ),
    ] = False,
    state: State = None,
    ledger: LedgerDsn = None,
) -> None:
    """Who may learn how much about whom: a report for privacy officers, from policy, ledger and version alone.

    Opens no connection to the protected database, and needs no value of a variable in the policy. Without
    --ledger and --state, what was spent and what has changed are left out. Writes nothing without --record.
    """
    from importlib.metadata import version

    from proxy.cli.adjust_command import source_named
    from proxy.cli.diff_command import AnyVariable
    from proxy.cli.loading import read_policy_file
    from proxy.cli.proxy_servers import ledger_only
    from proxy.engine.policy_report import policy_report
    from proxy.engine.report_formats import report_html, report_json, report_markdown
    from proxy.ledger.ledger_sources import known_sources
    from proxy.ledger.noted_reports import note_report
    from proxy.ledger.report_facts import ledger_facts
    from proxy.policy_file.policy_errors import PolicyErrors

    try:
        policy, _ = read_policy_file(file, AnyVariable())
    except PolicyErrors as error:
        raise CliError(str(error)) from None
    printers = {
        ReportFormat.MARKDOWN: report_markdown,
        ReportFormat.HTML: report_html,
        ReportFormat.JSON: report_json,
    }

    def echo(facts: LedgerFacts | None) -> None:
        now = datetime.now(timezone.utc)
        typer.echo(printers[format](policy_report(policy, facts, version("dpproxy"), now)))

    if ledger is None and state is None:
        for option, is_given in (("--source", source is not None), ("--record", record)):
            if is_given:
                raise CliError(f"{option} is about a ledger: give --ledger or --state, too")
        echo(None)
        return
    with ledger_only(state, ledger) as dsn:
        known = known_sources(dsn)
        is_known = any(one.name == policy.database for one in known)
        found = source_named(known, source or (policy.database if is_known else None))
        facts = ledger_facts(dsn, found, policy)
        if record:
            note_report(dsn, found.id, policy)
        echo(facts)
