"""From policy files to policies that fit their databases."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import structlog

from proxy.catalog.catalog_model import Catalog
from proxy.cli.cli_error import CliError
from proxy.cli.findings_report import refusal_text
from proxy.doctor.all_findings import diagnose
from proxy.doctor.installed_postgres import Installation
from proxy.planner.facts import PublicContents
from proxy.policy.check import check, fitted
from proxy.policy.finding_names import Severity
from proxy.policy.findings import Verdict
from proxy.policy.policy_model import Policy
from proxy.policy_file.policy_errors import PolicyErrors
from proxy.policy_file.policy_yaml import locate, policy_text, read_policy
from proxy.protected.labels_in_rows import with_public_labels
from proxy.protected.reachable_catalog import Unreachable, reachable_catalog, reachable_contents


@dataclass(frozen=True, slots=True)
class CheckedPolicy:
    """It fits the catalogue."""

    policy: Policy
    catalog: Catalog
    text: str = ""  # of the file, and its name, for messages
    file: str = ""


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
    try:
        catalog = reachable_catalog(policy.source)
    except Unreachable as error:
        raise CliError(f"{path}: the protected database cannot be reached: {error}") from None
    problems = check(policy, catalog)
    if problems:
        raise locate(problems, text, str(path))
    policy = fitted(policy, catalog)
    return CheckedPolicy(policy, with_public_labels(policy, catalog), text, str(path))


def contents_of(checked: CheckedPolicy) -> PublicContents:
    """Read the public tables, by which `serve` plans. Raises: CliError."""
    try:
        return reachable_contents(checked.policy, checked.catalog)
    except Unreachable as error:
        raise CliError(f"{checked.file}: public tables cannot be read: {error}") from None


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
    for one in loaded:
        verdict = verdict_of(one, installation)
        if verdict.refuses:
            problems.append(refusal_text(verdict, one.text, one.file))
        if not quiet:
            _log_findings(one.policy.database, verdict)
    if problems:
        raise CliError("\n".join(problems))
    return loaded


def _log_findings(database: str, verdict: Verdict) -> None:
    """At every start: what the owner has accepted, with the reason, and what is not severe enough to refuse."""
    log = structlog.get_logger("dpproxy.findings")
    for one in verdict.accepted:
        name, what = one.finding.name.name, one.finding.what
        log.warning("finding_accepted", database=database, name=name, what=what, reason=one.reason)
    for finding in verdict.of(Severity.WARNING):
        log.warning("finding", database=database, name=finding.name.name, what=finding.what)
