"""From policy files to policies that fit their databases."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import structlog

from proxy.catalog.catalog_model import Catalog
from proxy.cli.cli_error import CliError
from proxy.cli.findings_report import refusal_text
from proxy.doctor.all_findings import diagnose
from proxy.doctor.installed_postgres import Installation
from proxy.engine.machine_clock import day_of_machine
from proxy.planner.facts import PublicContents
from proxy.policy.check import check, fitted
from proxy.policy.finding_names import Severity
from proxy.policy.findings import Problem, Verdict
from proxy.policy.policy_model import Policy, ProtectedTable, PublicTable
from proxy.policy_file.policy_errors import PolicyErrors
from proxy.policy_file.policy_yaml import locate, policy_text, read_policy
from proxy.protected.catalog_reader import (
    Unreachable,
    missing_grants,
    reachable_catalog,
    reachable_contents,
)
from proxy.protected.public_values import with_public_labels


@dataclass(frozen=True, slots=True)
class CheckedPolicy:
    """It fits the catalogue. verdict: None where nobody has looked for findings yet."""

    policy: Policy
    catalog: Catalog
    text: str = ""  # of the file, and its name, for messages
    file: str = ""
    verdict: Verdict | None = None


def read_policy_file(path: Path, environment: Mapping[str, str]) -> tuple[Policy, str]:
    """The policy and the text that states it, not yet held against a database.

    Refuses  PolicyErrors where the file is wrong; Stopped where it cannot be read
    """
    try:
        text = policy_text(path)
    except OSError as error:
        raise CliError(f"{path}: {error.strerror}") from None
    return read_policy(text, str(path), environment), text


def load_policy(path: Path, environment: Mapping[str, str]) -> CheckedPolicy:
    """
    Refuses  PolicyErrors with everything that is wrong with the file; Stopped where file or database
             cannot be reached
    """
    policy, text = read_policy_file(path, environment)
    return held_policy(policy, text, str(path))


def held_policy(policy: Policy, text: str, file: str) -> CheckedPolicy:
    """Hold a policy against its database. As `load_policy`; text, file: what it was read of, for messages."""
    try:
        catalog = reachable_catalog(policy.source)
        day = day_of_machine()
        if check(policy, catalog, day=day):
            problems = check(policy, catalog, missing_grants(policy.source), day)
            raise locate(problems, text, file)
    except Unreachable as error:
        raise CliError(f"{file}: the protected database cannot be reached: {error}") from None
    policy = with_columns_of(policy, fitted(policy, catalog))
    return CheckedPolicy(policy, with_public_labels(policy, catalog), text, file)


def with_columns_of(policy: Policy, fitting: Policy) -> Policy:
    """The policy as its owner wrote it, with what is said of columns in the terms of their types.

    So what holds a policy against its database decides nothing else of the policy in force: neither which
    tables are protected, nor whose rows are in them, nor budgets.
    """
    tables = {
        name: replace(table, columns=fits.columns)
        if isinstance(table, ProtectedTable) and isinstance(fits, ProtectedTable)
        else table
        for name, table in policy.tables.items()
        for fits in [fitting.tables.get(name)]
    }
    return replace(policy, tables=tables)


def contents_of(checked: CheckedPolicy) -> PublicContents:
    """Read the public tables, by which `serve` plans. Raises: CliError."""
    contents, problems = readable_contents(checked)
    if problems:
        raise CliError(str(locate(problems, checked.text, checked.file)))
    return contents


def readable_contents(
    checked: CheckedPolicy, *, without: Collection[str] = ()
) -> tuple[PublicContents, list[Problem]]:
    """Read each public table by itself.

    Args:
        checked: Policy and catalogue.
        without: Names of tables that are not read.

    Returns:
        What was read, and the tables that cannot be read.
    """
    read: list[PublicContents] = []
    problems: list[Problem] = []
    for name, table in checked.policy.tables.items():
        if not isinstance(table, PublicTable) or str(name) in without:
            continue
        alone = replace(checked.policy, tables={name: table})
        try:
            read.append(reachable_contents(alone, checked.catalog))
        except Unreachable as error:
            what = f"public table '{name}' cannot be read ({error})"
            hint = "mend it: the role of source must be able to read all its rows; or take it out of the policy"
            problems.append(Problem(("tables", str(name)), what, hint, at_key=True))
    contents = PublicContents(
        values={key: value for one in read for key, value in one.values.items()},
        rows={key: value for one in read for key, value in one.rows.items()},
        bounds={key: value for one in read for key, value in one.bounds.items()},
    )
    return contents, problems


def verdict_of(checked: CheckedPolicy, installation: Installation | None = None) -> Verdict:
    """What is found about the policy, its database and, if given, this installation. Refuses  Stopped"""
    try:
        return diagnose(checked.policy, checked.catalog, installation)
    except Unreachable as error:
        reason = f"the protected database cannot be reached: {error}"
        raise CliError(f"{checked.file}: {reason}") from None


def load_policies(
    paths: Sequence[Path],
    environment: Mapping[str, str],
    *,
    installation: Installation | None = None,
    quiet: bool = False,
) -> list[CheckedPolicy]:
    """All of them, one per database, to be served.

    Given    installation: what this machine has; quiet: warnings, and findings that are accepted, are
             not logged
    Refuses  Stopped, with the problems of every file, or with the severe findings that nobody accepts
    """
    loaded: list[CheckedPolicy] = []
    problems: list[str] = []
    for path in paths:
        try:
            loaded.append(load_policy(path, environment))
        except PolicyErrors as error:
            problems.append(str(error))
    if problems:
        raise CliError("\n".join(problems))
    names = [one.policy.database for one in loaded]
    if len(set(names)) != len(names):
        raise CliError("two policies are for the same database")
    found: list[CheckedPolicy] = []
    for one in loaded:
        verdict = verdict_of(one, installation)
        if verdict.refuses:
            problems.append(refusal_text(verdict, one.text, one.file))
        if not quiet:
            log_findings(one.policy.database, verdict)
        found.append(replace(one, verdict=verdict))
    if problems:
        raise CliError("\n".join(problems))
    return found


def log_findings(database: str, verdict: Verdict, before: Verdict | None = None) -> None:
    """Log what the owner has accepted, with the reason, and what is not severe enough to refuse.

    Args:
        database: Its name.
        verdict: What was found.
        before: What was logged last, and is not logged again.
    """
    log = structlog.get_logger("dpproxy.findings")
    for one in verdict.accepted:
        if before is None or one not in before.accepted:
            name, what = one.finding.name.name, one.finding.what
            log.warning(
                "finding_accepted", database=database, name=name, what=what, reason=one.reason
            )
    for finding in verdict.of(Severity.WARNING):
        if before is None or finding not in before.open:
            log.warning("finding", database=database, name=finding.name.name, what=finding.what)
