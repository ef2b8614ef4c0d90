"""`dpproxy doctor`: advice on a live protected database."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from proxy.cli.loading import read_policy_file
from proxy.cli.stopped import Stopped
from proxy.databases.diagnosing import diagnose
from proxy.databases.diagnosis import Finding, Severity
from proxy.databases.given_server import Unreachable, reachable_catalog
from proxy.policy.check import check


def findings_of(path: Path, environment: Mapping[str, str]) -> tuple[Finding, ...]:
    """
    Gives    the findings; a policy that does not fit the database is one of them, not the end
    Refuses  PolicyErrors where the file itself is wrong; Stopped
    """
    policy, _ = read_policy_file(path, environment)
    try:
        catalog = reachable_catalog(policy.source)
        found = diagnose(policy, catalog)
    except Unreachable as error:
        raise Stopped(f"{path}: the protected database cannot be reached: {error}") from None
    if check(policy, catalog):
        misfit = (
            "the policy does not fit the database as the role sees it: see dpproxy policy check"
        )
        found = (*found, Finding(Severity.NOTE, misfit))
    return found


def is_unsafe(findings: Sequence[Finding]) -> bool:
    return any(finding.severity is Severity.UNSAFE for finding in findings)


def doctor_report(findings: Sequence[Finding]) -> Iterator[str]:
    for finding in findings:
        yield f"{finding.severity.value.upper():6}  {finding.what}"
        if finding.fix:
            yield f"        {finding.fix}"
    counts = ", ".join(
        f"{sum(f.severity is severity for f in findings)} {severity.value}" for severity in Severity
    )
    yield counts


def doctor_json(findings: Sequence[Finding]) -> str:
    return json.dumps(
        [{"severity": f.severity.value, "what": f.what, "fix": f.fix or None} for f in findings],
        indent=2,
    )
