"""`dpproxy policy`, `explain`, `audit` and `doctor`: commands about one policy, which open no listener."""

from __future__ import annotations

import json
import logging
from collections.abc import Mapping
from dataclasses import asdict
from fractions import Fraction
from pathlib import Path
from typing import Annotated, Optional

import typer

from proxy.base.errors import Refusal
from proxy.cli.cli_error import CliError
from proxy.cli.command_options import LedgerDsn, PolicyFile, State
from proxy.cli.logs import log_to_stderr
from proxy.cli.running import end_on_sigterm, run
from proxy.cli.source_variables import SourceVariables
from proxy.engine.machine_clock import day_of_machine
from proxy.policy_file.policy_errors import PolicyErrors

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
        odds_report,
        said_report,
        unbounded_report,
    )
    from proxy.cli.findings_report import findings_json, findings_lines
    from proxy.cli.loading import load_policy, readable_contents, verdict_of
    from proxy.cli.policy_accuracy import policy_accuracy
    from proxy.cli.progress import working
    from proxy.cli.proxy_servers import ledger_only
    from proxy.cli.publication_checks import check_publications
    from proxy.cli.smallest_groups import smallest_groups
    from proxy.doctor.installed_postgres import read_installation
    from proxy.engine.noise_proposal import noise_proposals
    from proxy.ledger.users import groups, list_analysts
    from proxy.planner.bound_proposals import unbounded
    from proxy.planner.facts import planning_context
    from proxy.policy.finding_names import FindingName
    from proxy.policy.unknown_people import people_verdict
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
        Optional[str],  # noqa: UP045
        typer.Option(help="This table alone.", metavar="SCHEMA.TABLE"),
    ] = None,
    column: Annotated[
        Optional[list[str]],  # noqa: UP045
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
    from proxy.policy_file.policy_manual import MANUAL

    typer.echo(MANUAL.read_text(encoding="utf-8"), nl=False)


def policy_role() -> None:
    """Print the SQL that makes the role with which dpproxy reads your database; its head says how to run it."""
    from proxy.protected.protected_role import SCRIPT

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
        Optional[Path],  # noqa: UP045
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
        Optional[Path],  # noqa: UP045
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
    policy: PolicyFile,
    as_json: Annotated[bool, typer.Option("--json", help="As JSON.")] = False,
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
