"""`dpproxy doctor`: everything that can be found about a live protected database and a policy for it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from proxy.cli.cli_error import CliError
from proxy.cli.loading import read_policy_file
from proxy.doctor.all_findings import diagnose
from proxy.doctor.installed_postgres import read_installation
from proxy.policy.check import check
from proxy.policy.finding_names import FindingName
from proxy.policy.findings import Finding, Verdict
from proxy.protected.reachable_catalog import Unreachable, reachable_catalog


def doctor_verdict(path: Path, environment: Mapping[str, str]) -> Verdict:
    """
    Gives    the findings; a policy that does not fit the database is one of them, not the end
    Refuses  PolicyErrors where the file itself is wrong; Stopped
    """
    policy, _ = read_policy_file(path, environment)
    try:
        catalog = reachable_catalog(policy.source)
        verdict = diagnose(policy, catalog, read_installation())
    except Unreachable as error:
        raise CliError(f"{path}: the protected database cannot be reached: {error}") from None
    if not check(policy, catalog):
        return verdict
    misfit = Finding(
        name=FindingName.POLICY_DOES_NOT_FIT,
        where=policy.database,
        what="the policy does not fit the database as the role sees it: see dpproxy policy check",
    )
    return replace(verdict, open=(*verdict.open, misfit))
