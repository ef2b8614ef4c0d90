"""The neighbour audit as lines of text."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from fractions import Fraction
from typing import Any

from proxy.audit.neighbour_audit import AuditFinding
from proxy.audit.sensitivity_plot import share_of_plan
from proxy.base.shown_numbers import shown_number
from proxy.cli.audit import Audited, uncompared
from proxy.cli.text_table import text_table

_HEADS = ("release", "measure", "planned", "largest seen", "of planned", "replaced (2x)", "")


def audit_report(audited: Audited) -> Iterator[str]:
    """Per question and release: planned sensitivity, largest seen, at each distance."""
    audit = audited.audit
    yield (
        f"{audit.neighbours} neighbours of the synthetic database, {audit.compared} comparisons of exact "
        f"results"
    )
    for sql in dict.fromkeys(finding.sql for finding in audit.findings):
        yield ""
        yield sql
        rows = [_row(finding) for finding in audit.findings if finding.sql == sql]
        yield from (f"  {line}" for line in text_table(_HEADS, rows))
        for finding in audit.findings:
            if finding.sql == sql and len(finding.observed) > 1:
                yield f"  {finding.release}, {finding.measure.value}, by distance: {_distances(finding)}"
    yield from _exceptions(audited)
    yield ""
    if audit.violations:
        yield f"{audit.violations} VIOLATIONS: results changed by more than planned."
    else:
        yield "No violation. This is a lower bound: the largest change among the databases tried,"
        yield "on invented data. It can refute a plan; it cannot prove one."


def audit_json(audited: Audited) -> Mapping[str, Any]:
    """shares: the largest change by distance from 1, in units of what is planned for one unit."""
    audit = audited.audit
    return {
        "neighbours": audit.neighbours,
        "compared": audit.compared,
        "violations": audit.violations,
        "releases": [
            {
                "sql": finding.sql,
                "release": finding.release,
                "measure": finding.measure.value,
                "planned": float(finding.planned),
                "observed": float(finding.observed.get(1, Fraction(0))),
                "shares": [share_of_plan(finding, k) for k in _walked(finding)],
                "is_above": bool(finding.violations),
            }
            for finding in audit.findings
        ],
        "failed": dict(audit.failed),
        "mixed": dict(audit.mixed),
        "not_compared": list(uncompared(audited)),
        "refused": [{"sql": sql, "reason": reason} for sql, reason in audited.refused],
    }


def _walked(finding: AuditFinding) -> range:
    """Distances from 1 on that were seen without a gap, if it is planned to move at all."""
    most = 0
    while most + 1 in finding.observed:
        most += 1
    return range(1, most + 1 if finding.planned else 1)


def _exceptions(audited: Audited) -> Iterator[str]:
    lines = [
        f"MIXED {n} times: rows of people in {name}" for name, n in audited.audit.mixed.items()
    ]
    lines += [f"FAILED on {n} databases: {sql}" for sql, n in audited.audit.failed.items()]
    lines += [f"not compared (partitions drawn per row): {sql}" for sql in uncompared(audited)]
    lines += [f"refused: {sql}\n  {reason}" for sql, reason in audited.refused]
    if lines:
        yield ""
        yield from lines


def _row(finding: AuditFinding) -> tuple[str, ...]:
    observed = finding.observed.get(1, Fraction(0))
    share = f"{float(observed / finding.planned):.0%}" if finding.planned else ""
    replaced = "" if finding.replaced is None else _number(finding.replaced)
    return (
        finding.release,
        finding.measure.value,
        _number(finding.planned),
        _number(observed),
        share,
        replaced,
        "VIOLATED" if finding.violations else "ok",
    )


def _distances(finding: AuditFinding) -> str:
    return ", ".join(
        f"{k}: {_number(observed)}" for k, observed in sorted(finding.observed.items())
    )


def _number(value: Fraction) -> str:
    """
    >>> _number(Fraction(5)), _number(Fraction(1, 3))
    ('5', '0.333333')
    """
    return f"{value.numerator:,}" if value.denominator == 1 else shown_number(float(value))
