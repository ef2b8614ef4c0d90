"""What `policy check`, `serve` and `doctor` print of findings."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from typing import Any

from proxy.doctor.role_diagnosis import OWN_ROLE
from proxy.policy.finding_names import FindingName, Severity
from proxy.policy.findings import Finding, Problem, Verdict
from proxy.policy_file.policy_accept import PLACEHOLDER
from proxy.policy_file.policy_errors import PolicyErrors
from proxy.policy_file.policy_yaml import locate

_MOST_UNNAMED = 50
_MOST_TOGETHER = 8
_NOT_TEXTS = ("null", "true", "false", "yes", "no", "on", "off")
_RESPONSIBILITY = (
    "Do what the findings say; or, if you take the responsibility, write into the policy, with your own "
    "reasons"
)
_PLAIN = re.compile("[A-Za-z_][A-Za-z0-9_.]*")  # in YAML as it is


def findings_lines(verdict: Verdict) -> Iterator[str]:
    """Every finding, the worst first, and its fix where that is first needed; then how many there are of each
    severity."""
    unnamed = 0
    firsts = {finding: first for first, more in _together(verdict.open) for finding in more}
    for finding in verdict.open:
        if finding.name is FindingName.NOT_IN_THE_POLICY:
            unnamed += 1
            if unnamed > _MOST_UNNAMED:
                continue
        yield f"{finding.severity.value.upper():8} {finding.name.name}: {finding.what}"
        if finding in firsts:
            yield f"         (what fixes {firsts[finding].name.name} fixes it, too)"
            continue
        for line in finding.fix.splitlines():
            yield f"         {line}"
    if unnamed > _MOST_UNNAMED:
        name = FindingName.NOT_IN_THE_POLICY
        left = unnamed - _MOST_UNNAMED
        yield f"{name.severity.value.upper():8} {name.name}: and {left} more tables"
    for one in verdict.accepted:
        yield f"ACCEPTED {one.finding.name.name}: {one.finding.what}"
        yield f"         because: {one.reason}"
    counts = [f"{len(verdict.of(severity))} {severity.value}" for severity in Severity]
    yield ", ".join([*counts, f"{len(verdict.accepted)} accepted"])
    if verdict.refuses:
        yield _RESPONSIBILITY
        yield f"    {_acceptance(verdict.of(Severity.SEVERE))}"


def findings_json(verdict: Verdict) -> list[dict[str, Any]]:
    return [
        *(_described(finding, None) for finding in verdict.open),
        *(_described(one.finding, one.reason) for one in verdict.accepted),
    ]


def refusal_text(verdict: Verdict, text: str, file: str) -> str:
    """The severe findings that nobody accepts, each at its place in the policy, and what can be done."""
    severe = verdict.of(Severity.SEVERE)
    return (
        f"{located_findings(verdict, text, file)}\n{file}: nothing is served while a severe finding stands. "
        f"{_RESPONSIBILITY}\n"
        f"    {_acceptance(severe)}\n"
        "(dpproxy policy manual explains them)"
    )


def located_findings(verdict: Verdict, text: str, file: str) -> PolicyErrors:
    """The severe findings that nobody accepts, each at its place in the policy."""
    problems = [
        Problem(
            finding.path,
            f"{finding.name.name}: {finding.what}{_more(more)}",
            finding.fix,
            at_key=True,
        )
        for finding, more in _together(verdict.of(Severity.SEVERE))
    ]
    return locate(problems, text, file)


def _acceptance(severe: Sequence[Finding]) -> str:
    """A line of the policy that accepts them all, one by one."""
    places: dict[str, dict[str, list[str]]] = {}
    for finding in severe:
        subjects = places.setdefault(finding.name.name, {}).setdefault(finding.where, [])
        subjects += [one for one in finding.subjects if one not in subjects]
    listed = (
        f"{name}: {{{', '.join(_entry(where, subjects) for where, subjects in reported.items())}}}"
        for name, reported in places.items()
    )
    return f"accept: {{{', '.join(listed)}}}"


def _entry(where: str, subjects: Sequence[str]) -> str:
    reason = json.dumps(PLACEHOLDER)
    if subjects:
        reason = f"{{covers: [{', '.join(map(_in_yaml, subjects))}], because: {reason}}}"
    return f"{_in_yaml(where)}: {reason}"


def _in_yaml(name: str) -> str:
    is_plain = _PLAIN.fullmatch(name) and name.lower() not in _NOT_TEXTS
    return name if is_plain else json.dumps(name)


def _together(findings: Sequence[Finding]) -> Iterator[tuple[Finding, Sequence[Finding]]]:
    """Each with those further down that the same change of the role fixes."""
    groups: dict[object, list[Finding]] = {}
    for finding in findings:
        of_role = finding.fix.startswith(OWN_ROLE)
        groups.setdefault(finding.fix if of_role else finding, []).append(finding)
    for first, *more in groups.values():
        yield first, more


def _more(findings: Sequence[Finding]) -> str:
    if not findings:
        return ""
    names = [f"{one.name.name} {one.where}" for one in findings]
    left = len(names) - _MOST_TOGETHER
    return f" (with it go: {', '.join(names[:_MOST_TOGETHER])}{f', and {left} more' if left > 0 else ''})"


def _described(finding: Finding, reason: str | None) -> dict[str, Any]:
    return {
        "name": finding.name.name,
        "meaning": finding.name.meaning,
        "severity": finding.severity.value,
        "where": finding.where,
        "subjects": list(finding.subjects),
        "what": finding.what,
        "fix": finding.fix or None,
        "to_do": finding.fix or finding.name.to_do,
        "accepted": reason,
    }
