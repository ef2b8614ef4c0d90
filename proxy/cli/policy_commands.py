"""`dpproxy policy`, `explain`, `audit` and `doctor`: commands about policies, which open no listener."""

from __future__ import annotations

import json
import logging
import re
import shlex
from collections.abc import Mapping
from dataclasses import asdict
from datetime import datetime, timezone
from enum import Enum
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from proxy.base.errors import Refusal
from proxy.cli.cli_error import CliError
from proxy.cli.command_options import LedgerDsn, PolicyFile, State
from proxy.cli.diff_command import policy_diff
from proxy.cli.running import end_on_sigterm, log_to_stderr, run
from proxy.cli.source_variables import SourceVariables
from proxy.engine.machine_clock import day_of_machine
from proxy.policy_file.policy_errors import PolicyErrors

if TYPE_CHECKING:
    from proxy.engine.policy_report import LedgerFacts

_PROPOSED_EPSILON = "0.5"
_LEAST_EPSILON, _MOST_EPSILON = Fraction(1, 1000), Fraction(100)


def policy_check(
    file: Path,
    as_json: Annotated[bool, typer.Option("--json", help="As JSON.")] = False,
    state: State = None,
    ledger: LedgerDsn = None,
) -> None:
    """Hold a policy against the live database; print how exact answers will be, and what was found.

    Names of analysts and groups are looked up with --ledger or --state only.
    """
    from proxy.cli.accuracy_report import (
        accuracy_json,
        accuracy_report,
        noise_proposals,
        odds_report,
        policy_accuracy,
        said_report,
        smallest_groups,
        unbounded_report,
    )
    from proxy.cli.findings_report import findings_json, findings_lines
    from proxy.cli.loading import load_policy, readable_contents, verdict_of
    from proxy.cli.progress import working
    from proxy.cli.proxy_servers import ledger_only
    from proxy.cli.publication_checks import check_publications
    from proxy.doctor.installed_postgres import read_installation
    from proxy.ledger.users import groups, list_analysts
    from proxy.planner.bound_proposals import unbounded
    from proxy.planner.facts import planning_context
    from proxy.policy.finding_names import FindingName
    from proxy.policy.people import people_verdict
    from proxy.policy_file.policy_yaml import locate

    try:
        checked = load_policy(file, SourceVariables())
    except PolicyErrors as error:
        typer.echo(
            json.dumps(_problems(error), indent=2) if as_json else str(error), err=not as_json
        )
        raise typer.Exit(1) from None
    with working("looking at the database"):
        verdict = verdict_of(checked, read_installation())
        large = [one.where for one in verdict.open if one.name is FindingName.PUBLIC_IS_LARGE]
        public, unreadable = readable_contents(checked, without=large)
    if ledger is not None or state is not None:
        with ledger_only(state, ledger) as dsn:
            people = people_verdict(checked.policy, list_analysts(dsn), groups(dsn))
        verdict = verdict.with_more(people)
    wrong = locate(unreadable, checked.text, checked.file) if unreadable else None
    series: tuple[str, ...] = ()
    if wrong is None and not large:
        try:
            series = check_publications(checked, public)
        except PolicyErrors as error:
            wrong = error
    lines = policy_accuracy(checked.policy, checked.catalog, public)
    smallest = list(smallest_groups(checked.policy, checked.catalog, public))
    proposals = noise_proposals(
        planning_context(checked.policy, checked.catalog, public, day_of_machine())
    )
    if as_json:
        reported = accuracy_json(checked.policy, lines, proposals)
        reported["smallest_groups"] = [asdict(one) for one in smallest]
        more = {} if wrong is None else _problems(wrong)
        typer.echo(json.dumps({**reported, "findings": findings_json(verdict), **more}, indent=2))
    else:
        for line in (*accuracy_report(checked.policy, lines, proposals), ""):
            typer.echo(line)
        for line in (
            *odds_report(checked.policy),
            *(one.text() for one in smallest),
            *series,
            *said_report(checked.policy),
            "",
        ):
            typer.echo(line)
        for line in unbounded_report(unbounded(checked.policy, checked.catalog), file):
            typer.echo(line)
        for line in findings_lines(verdict):
            typer.echo(line)
        if wrong is not None:
            typer.echo(str(wrong), err=True)
    if verdict.refuses or wrong is not None:
        raise typer.Exit(1)


def _problems(error: PolicyErrors) -> Mapping[str, object]:
    listed = [
        {"line": p.line, "column": p.column, "message": p.message, "hint": p.hint or None}
        for p in error.problems
    ]
    return {"problems": listed}


def policy_bounds(
    file: Path,
    table: Annotated[
        str | None, typer.Option(help="This table alone.", metavar="SCHEMA.TABLE")
    ] = None,
    column: Annotated[
        list[str] | None,
        typer.Option(
            help="With --table: this column; may be repeated. Left out: every column without bounds."
        ),
    ] = None,
    epsilon: Annotated[
        str,
        typer.Option(
            help="What it may cost, of the shared budget (total), from 0.001 to 100. Each run is charged."
        ),
    ] = _PROPOSED_EPSILON,
    state: State = None,
    ledger: LedgerDsn = None,
) -> None:
    """Propose bounds of columns, and of the rows and groups of a unit, privately: it reads the data, and is
    charged to the shared budget (total). Prints a piece of the policy."""
    from proxy.cli.bounds_command import Wanted, proposed
    from proxy.cli.loading import load_policy

    end_on_sigterm()
    log_to_stderr(logging.ERROR)
    try:
        spent = Fraction(epsilon)
    except (ValueError, ZeroDivisionError):
        spent = Fraction(0)
    if not _LEAST_EPSILON <= spent <= _MOST_EPSILON:
        raise CliError(
            f"--epsilon is a number from {_LEAST_EPSILON} to {_MOST_EPSILON}, not {epsilon!r}"
        )
    try:
        checked = load_policy(file, SourceVariables())
    except PolicyErrors as error:
        raise CliError(str(error)) from None
    wanted = Wanted(table=table, columns=column or (), epsilon=spent)
    for line in proposed(checked, wanted, state, ledger):
        typer.echo(line)


def policy_manual() -> None:
    """Print the reference of policies: every key, every finding, how exact answers are."""
    from proxy.policy_file.policy_schema import MANUAL

    typer.echo(MANUAL.read_text(encoding="utf-8"), nl=False)


def policy_role() -> None:
    """Print the SQL that makes the role with which dpproxy reads your database; its head says how to run it."""
    from proxy.protected.reading_settings import SCRIPT

    typer.echo(SCRIPT.read_text(encoding="utf-8"), nl=False)


def explain(
    sql: str,
    policy: PolicyFile,
    as_json: Annotated[bool, typer.Option("--json", help="As JSON.")] = False,
) -> None:
    """The privacy plan of a statement.

    Reads the catalogue of the protected database and public tables, charges nothing, and knows no ledger: what
    remains of a budget is in dp.budget.
    """
    from proxy.cli.explain_command import explanation, refusal_text
    from proxy.cli.loading import contents_of, load_policy

    try:
        checked = load_policy(policy, SourceVariables())
        plan = run(explanation(checked, contents_of(checked), sql, as_json=as_json))
    except PolicyErrors as error:
        raise CliError(str(error)) from None
    except Refusal as refusal:
        raise CliError(refusal_text(refusal, sql)) from None
    typer.echo(plan)


def audit(
    policy: PolicyFile,
    questions: Annotated[
        Path | None,
        typer.Option(help="Statements to audit; left out: every aggregate of every column."),
    ] = None,
    rows: Annotated[
        int, typer.Option(min=1, max=2000, help="Invented rows per table, 1 to 2000.")
    ] = 40,
    seed: Annotated[int, typer.Option(help="Seed of the invented data.")] = 1,
    distance: Annotated[
        int,
        typer.Option(min=1, max=50, help="Remove or add at most this many units at once, 1 to 50."),
    ] = 1,
    plot: Annotated[
        Path | None,
        typer.Option(help="Write sensitivity against distance as SVG.", metavar="FILE.svg"),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="As JSON.")] = False,
) -> None:
    """Compare planned and largest observed sensitivity on invented data shaped by a policy."""
    from proxy.audit.sensitivity_plot import sensitivity_plot
    from proxy.cli.audit import Size, audited
    from proxy.cli.audit_report import audit_json, audit_report
    from proxy.cli.loading import load_policy

    end_on_sigterm()
    log_to_stderr(logging.CRITICAL)  # statements that fail are in the report
    try:
        texts = None if questions is None else questions.read_text(encoding="utf-8")
        checked = load_policy(policy, SourceVariables())
    except PolicyErrors as error:
        raise CliError(str(error)) from None
    except (OSError, UnicodeError) as error:
        raise CliError(f"{questions}: {error}") from None
    found = run(audited(checked, texts, Size(rows, seed, distance)))
    for line in (json.dumps(audit_json(found)),) if as_json else audit_report(found):
        typer.echo(line)
    if plot is not None:
        title = f"{checked.policy.database}: empirical sensitivity"
        plot.write_text(sensitivity_plot(found.audit.findings, title), encoding="utf-8")
        typer.echo(f"wrote {plot}", err=as_json)
    if not found.audit.compared:
        raise CliError("nothing could be compared")
    if found.audit.violations:
        raise typer.Exit(1)


def doctor(
    policy: PolicyFile, as_json: Annotated[bool, typer.Option("--json", help="As JSON.")] = False
) -> None:
    """Unsafe settings and rights, missing indexes and keys of a protected database, each with its fix."""
    from proxy.cli.doctor import doctor_verdict
    from proxy.cli.findings_report import findings_json, findings_lines

    try:
        verdict = doctor_verdict(policy, SourceVariables())
    except PolicyErrors as error:
        raise CliError(str(error)) from None
    if as_json:
        typer.echo(json.dumps(findings_json(verdict), indent=2))
    else:
        typer.echo("\n".join(findings_lines(verdict)))
    if verdict.refuses:
        raise typer.Exit(1)


# `dpproxy policy samples`: sample policies to start from.


def policy_samples(
    name: Annotated[
        str | None, typer.Argument(help="The sample to print. Without a name: list all samples.")
    ] = None,
    to: Annotated[
        Path | None,
        typer.Option(
            help="Write its files into this folder. Existing files are kept.", metavar="DIR"
        ),
    ] = None,
) -> None:
    """List the sample policies; print one with its schema and rows, or copy it into a folder."""
    from proxy.cli.sample_policies import copy_sample, sample_policies, sample_policy
    from proxy.cli.text_table import text_table
    from proxy.policy_file.policy_schema import SCHEMA_FILE

    if name is None:
        if to is not None:
            raise CliError("--to needs the name of a sample: dpproxy policy samples NAME --to DIR")
        rows = [[sample.name, sample.summary] for sample in sample_policies()]
        typer.echo("\n".join(text_table(["sample", "what it shows"], rows)))
        typer.echo("\nCopy one: dpproxy policy samples NAME --to DIR")
        return
    sample = sample_policy(name)
    if to is None:
        for file, text in sample.files().items():
            if file != SCHEMA_FILE:
                typer.echo(f"{'--' if file.endswith('.sql') else '#'} === {file}\n{text}")
        return
    copy_sample(sample, to)
    typer.echo(f"copied the sample {sample.name} to {to}: {', '.join(sample.files())}")


# `dpproxy policy init` and `dpproxy policy schema`: a first policy, and what an editor knows of policies.


def policy_init(
    dsn: Annotated[
        str,
        typer.Argument(
            help="libpq connection string of the database; passwords better in PGPASSWORD or a passfile.",
            metavar="DSN",
        ),
    ],
    to: Annotated[
        Path | None,
        typer.Option(help="Write it into this file, which must not exist.", metavar="FILE"),
    ] = None,
) -> None:
    """Write a first policy for a database, from what is declared in it: no row is read, and no right to
    read tables is needed. What you have to decide is marked DECIDE."""
    from proxy.doctor.declared_database import declared_database
    from proxy.drafting.drafted_policy import NothingToDraft, drafted_policy
    from proxy.policy_file.policy_schema import SCHEMA_FILE

    if to is not None and to.exists():
        raise CliError(f"{to} is there already: choose another name, or compare with `policy diff`")
    found = declared_database(dsn)
    variable = variable_of(found.name)
    try:
        draft = drafted_policy(found, variable)
    except NothingToDraft as reason:
        why = str(reason) or "it has no table of its own"
        raise CliError(f"database {found.name}: nothing to write a policy for: {why}") from None
    if to is None:
        typer.echo(draft.text, nl=False)
    else:
        try:
            to.write_text(draft.text, encoding="utf-8")
        except OSError as error:
            raise CliError(f"{to}: {error.strerror}") from None
    file = shlex.quote(str(to or f"{found.name}.yaml"))
    typer.echo(
        f"{len(draft.decisions)} decisions are yours, each marked DECIDE in the file:", err=True
    )
    for number, decision in enumerate(draft.decisions, start=1):
        typer.echo(f"  {number}. {decision}", err=True)
    typer.echo(
        f"Then: export {variable}='the connection string'; dpproxy policy check {file}\n"
        f"Your editor explains keys with: dpproxy policy schema > {SCHEMA_FILE}",
        err=True,
    )


def policy_schema() -> None:
    """Print the JSON Schema of policies, for editors: a policy's first line names the file that it is in."""
    from proxy.policy_file import policy_schema as schemas

    typer.echo(json.dumps(schemas.policy_schema(), indent=2))


def variable_of(database: str) -> str:
    """
    >>> variable_of("shop"), variable_of("3 shops")
    ('SHOP_DSN', 'DB_3_SHOPS_DSN')
    """
    name = re.sub(r"[^A-Z0-9]+", "_", database.upper()).strip("_") or "DATABASE"
    return f"DB_{name}_DSN" if name[0].isdigit() else f"{name}_DSN"


# `dpproxy policy report`: who may learn how much about whom, in one document for those who sign.


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
        str | None, typer.Option(help="Where the ledger has several sources.", metavar="NAME")
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

    from proxy.cli.diff_command import AnyVariable
    from proxy.cli.ledger_commands import source_named
    from proxy.cli.loading import read_policy_file
    from proxy.cli.proxy_servers import ledger_only
    from proxy.engine.policy_report import policy_report
    from proxy.engine.report_formats import report_html, report_json, report_markdown
    from proxy.ledger.ledger_sources import known_sources
    from proxy.ledger.report_facts import ledger_facts, note_report
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


# The group `dpproxy policy`.

policy = typer.Typer(no_args_is_help=True, help="Policies.")
policy.command("init")(policy_init)
policy.command("samples")(policy_samples)
policy.command("check")(policy_check)
policy.command("diff")(policy_diff)
policy.command("report")(policy_report_command)
policy.command("bounds")(policy_bounds)
policy.command("manual")(policy_manual)
policy.command("schema")(policy_schema)
policy.command("role")(policy_role)
