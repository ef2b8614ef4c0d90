"""The verdict on public rows of the policy in force, asked of the database as it is now."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

from proxy.catalog.catalog_model import Catalog
from proxy.doctor.all_findings import diagnose
from proxy.policy.check import check
from proxy.policy.finding_names import Severity
from proxy.policy.policy_model import Policy
from proxy.policy.problem import Problem
from proxy.protected.judged_rows import CatalogueMoved, JudgedRows, OpenFinding, RowsWithheld
from proxy.protected.labels_in_rows import with_public_labels
from proxy.protected.reachable_catalog import reachable_catalog

Memory = Callable[[Policy, Catalog], Sequence[Problem]]


def judged_rows(policy: Policy, memory: Memory | None = None) -> JudgedRows:
    """Judge the policy as a start of `serve` does, and give the right to read its public rows.

    Args:
        policy: In force, or about to be.
        memory: Find public columns that analysts were not shown before.

    Raises:
        RowsWithheld: With each open severe finding.
        Unreachable, psycopg.Error: The database or the ledger cannot be asked.
    """
    return JudgedRows.judge(policy.source, lambda: tuple(open_findings(policy, memory)))


def open_findings(policy: Policy, memory: Memory | None = None) -> Iterator[OpenFinding]:
    """Find what would refuse a start of `serve` with this policy now."""
    catalog = reachable_catalog(policy.source)
    problems = check(policy, catalog)
    if problems:  # the findings are about tables and columns that are there
        yield from _told(problems, "it does not fit the database")
        return
    catalog = with_public_labels(policy, catalog)
    for finding in diagnose(policy, catalog).of(Severity.SEVERE):
        yield OpenFinding(where=finding.where, name=finding.name.name)
    if memory is not None:
        yield from _told(memory(policy, catalog), "it has columns that came later")


def withheld_because(error: RowsWithheld | CatalogueMoved) -> Mapping[str, object]:
    """For the log: each place with the names of its findings."""
    findings = [str(one) for one in error.findings] if isinstance(error, RowsWithheld) else []
    reason = "severe findings" if findings else str(error)
    return {"reason": reason, "findings": findings}


def _told(problems: Sequence[Problem], why: str) -> Iterator[OpenFinding]:
    """Name the table of each problem. Its message may quote the policy, so that it is left out."""
    for where in dict.fromkeys(
        str(one.path[1]) if len(one.path) > 1 else ".".join(map(str, one.path)) for one in problems
    ):
        yield OpenFinding(where=where, name=why)
