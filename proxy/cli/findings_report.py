"""What `policy check`, `serve` and `doctor` print of findings."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from proxy.databases.policy_yaml import locate
from proxy.policy.finding_names import FindingName, Severity
from proxy.policy.findings import Finding, Verdict
from proxy.policy.problem import Problem

_MOST_UNNAMED = 50


def findings_lines(verdict: Verdict) -> Iterator[str]:
    """Every finding with its fix, the worst first; then how many there are of each severity."""
    unnamed = 0
    for finding in verdict.open:
        if finding.name is FindingName.NOT_IN_THE_POLICY:
            unnamed += 1
            if unnamed > _MOST_UNNAMED:
                continue
        yield f"{finding.severity.value.upper():8} {finding.name.name}: {finding.what}"
        if finding.fix:
            yield f"         {finding.fix}"
    if unnamed > _MOST_UNNAMED:
        name = FindingName.NOT_IN_THE_POLICY
        more = unnamed - _MOST_UNNAMED
        yield f"{name.severity.value.upper():8} {name.name}: and {more} more tables"
    for one in verdict.accepted:
        yield f"ACCEPTED {one.finding.name.name}: {one.finding.what}"
        yield f"         because: {one.reason}"
    counts = [f"{len(verdict.of(severity))} {severity.value}" for severity in Severity]
    yield ", ".join([*counts, f"{len(verdict.accepted)} accepted"])


def findings_json(verdict: Verdict) -> list[dict[str, Any]]:
    return [
        *(_described(finding, None) for finding in verdict.open),
        *(_described(one.finding, one.reason) for one in verdict.accepted),
    ]


def refusal_text(verdict: Verdict, text: str, file: str) -> str:
    """The severe findings that nobody accepts, each at its place in the policy, and what can be done."""
    severe = verdict.of(Severity.SEVERE)
    problems = [
        Problem(finding.path, f"{finding.name.name}: {finding.what}", finding.fix, at_key=True)
        for finding in severe
    ]
    names = ", ".join(dict.fromkeys(finding.name.name for finding in severe))
    return (
        f"{locate(problems, text, file)}\n{file}: nothing is served while a severe finding stands. Do what its "
        "hint says; or, if you take the responsibility, write into the policy\n"
        f'    accept: {{{severe[0].name.name}: {{{severe[0].where}: "the reason"}}}}\n'
        f"(found: {names}; policies/README.md explains them)"
    )


def _described(finding: Finding, reason: str | None) -> dict[str, Any]:
    return {
        "name": finding.name.name,
        "severity": finding.severity.value,
        "where": finding.where,
        "what": finding.what,
        "fix": finding.fix or None,
        "accepted": reason,
    }
