"""`dpproxy doctor`: everything that can be found about a live protected database and a policy for it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from proxy.catalog.catalog_model import Catalog
from proxy.cli.cli_error import CliError
from proxy.cli.loading import CheckedPolicy, read_policy_file, readable_contents
from proxy.cli.publication_checks import check_publications
from proxy.doctor.all_findings import diagnose
from proxy.doctor.installed_postgres import read_installation
from proxy.engine.machine_clock import day_of_machine
from proxy.policy.check import check, fitted
from proxy.policy.finding_names import FindingName
from proxy.policy.findings import Finding, Verdict
from proxy.policy.policy_model import Policy
from proxy.policy_file.policy_errors import PolicyErrors
from proxy.protected.catalog_reader import Unreachable, reachable_catalog
from proxy.protected.public_values import with_public_labels
from proxy.shadow.shadow_tables import ShadowError


def doctor_verdict(path: Path, environment: Mapping[str, str]) -> Verdict:
    """
    Gives    the findings; a policy that does not fit the database is one of them, not the end
    Refuses  PolicyErrors where the file itself is wrong; Stopped
    """
    policy, text = read_policy_file(path, environment)
    try:
        catalog = reachable_catalog(policy.source)
        verdict = diagnose(policy, catalog, read_installation())
    except Unreachable as error:
        raise CliError(f"{path}: the protected database cannot be reached: {error}") from None
    if check(policy, catalog, day=day_of_machine()):
        what = "the policy does not fit the database as the role sees it: see dpproxy policy check"
    elif not _can_publish(policy, catalog, text, path, verdict):
        what = "something that the policy publishes cannot be released: see dpproxy policy check"
    else:
        return verdict
    misfit = Finding(name=FindingName.POLICY_DOES_NOT_FIT, where=policy.database, what=what)
    return replace(verdict, open=(*verdict.open, misfit))


def _can_publish(policy: Policy, catalog: Catalog, text: str, path: Path, verdict: Verdict) -> bool:
    """Check what is published as `policy check` does: not if a public table is too large or not readable."""
    is_large = any(one.name is FindingName.PUBLIC_IS_LARGE for one in verdict.open)
    if is_large or not policy.publish:
        return True
    policy = fitted(policy, catalog)
    checked = CheckedPolicy(policy, with_public_labels(policy, catalog), text, str(path))
    public, unreadable = readable_contents(checked)
    if unreadable:
        return True
    try:
        check_publications(checked, public)
    except PolicyErrors:
        return False
    except ShadowError as error:
        raise CliError(f"{path}: what it publishes cannot be checked: {error}") from None
    return True
