"""`dpproxy policy report`: who may learn how much about whom, in one document for those who sign."""

from __future__ import annotations

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
    state: State = None,
    ledger: LedgerDsn = None,
) -> None:
    """Who may learn how much about whom: a report for privacy officers, from policy, ledger and version alone.

    Opens no connection to the protected database, and needs no value of a variable in the policy. Without
    --ledger and --state, what was spent is left out.
    """
    from importlib.metadata import version

    from proxy.cli.diff_command import AnyVariable
    from proxy.cli.loading import read_policy_file
    from proxy.engine.policy_report import policy_report
    from proxy.engine.report_formats import report_html, report_json, report_markdown
    from proxy.policy_file.policy_errors import PolicyErrors

    try:
        policy, _ = read_policy_file(file, AnyVariable())
    except PolicyErrors as error:
        raise CliError(str(error)) from None
    facts = None
    if ledger is not None or state is not None:
        facts = _ledger_facts(policy.database, source, state, ledger)
    elif source is not None:
        raise CliError("--source names a source of a ledger: give --ledger or --state, too")
    printers = {
        ReportFormat.MARKDOWN: report_markdown,
        ReportFormat.HTML: report_html,
        ReportFormat.JSON: report_json,
    }
    typer.echo(printers[format](policy_report(policy, facts, version("dpproxy"))))


def _ledger_facts(
    database: str, source: str | None, state: Path | None, ledger: str | None
) -> LedgerFacts:
    from proxy.cli.adjust_command import source_named
    from proxy.cli.proxy_servers import ledger_only
    from proxy.engine.policy_report import LedgerFacts
    from proxy.ledger.ledger_reports import given_back, spending
    from proxy.ledger.ledger_sources import known_sources

    with ledger_only(state, ledger) as dsn:
        known = known_sources(dsn)
        is_known = any(one.name == database for one in known)
        name = source_named(known, source or (database if is_known else None)).name
        return LedgerFacts(
            source=name,
            spent=tuple(row[1:] for row in spending(dsn) if row[0] == name),
            given_back=tuple(given_back(dsn, name)),
        )
