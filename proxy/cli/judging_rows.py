"""The verdict on the policy in force, asked of the database as it is now, and what it closes."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from proxy.catalog.catalog_model import Catalog, TableName
from proxy.doctor.all_findings import concerned_tables, diagnose, sharing_tables
from proxy.doctor.installed_postgres import Installation
from proxy.ledger.noted_columns import OtherColumns
from proxy.policy.check import check
from proxy.policy.finding_names import FindingName, Severity
from proxy.policy.findings import Problem, Verdict
from proxy.policy.policy_model import Policy, PublicTable
from proxy.protected.catalog_reader import reachable_catalog
from proxy.protected.judged_rows import (
    CatalogueMoved,
    JudgedRows,
    OpenFinding,
    RowsWithheld,
    catalogue_state,
)
from proxy.protected.public_values import with_public_labels

Memory = Callable[[Policy, Catalog], Sequence[OtherColumns]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Judgement:
    """What was found about a policy and its database.

    Attributes:
        policy: That was judged.
        state: Of the catalogue, before it was looked at.
        catalog: Of what the role may read, with public labels where the policy fits it.
        problems: In which the policy does not fit the database.
        verdict: All findings, also those that the policy accepts.
    """

    policy: Policy
    state: str
    catalog: Catalog
    problems: tuple[Problem, ...]
    verdict: Verdict


def judge(policy: Policy, installation: Installation | None = None) -> Judgement:
    """Look at the database as a start of `serve` does.

    Raises:
        Unreachable, psycopg.Error: The database cannot be asked.
    """
    state = catalogue_state(policy.source)
    catalog = reachable_catalog(policy.source)
    problems = tuple(check(policy, catalog))
    if not problems:
        catalog = with_public_labels(policy, catalog)
    verdict = diagnose(policy, catalog, installation)
    return Judgement(
        policy=policy, state=state, catalog=catalog, problems=problems, verdict=verdict
    )


def judged_rows(policy: Policy, memory: Memory | None = None) -> JudgedRows:
    """Judge the policy as a start of `serve` does, and give the right to read all its public rows.

    Args:
        policy: In force, or about to be.
        memory: Find public columns that analysts were not shown before.

    Raises:
        RowsWithheld: With each open severe finding.
        Unreachable, psycopg.Error: The database or the ledger cannot be asked.
    """
    judgement = judge(policy)
    findings = tuple(open_findings(judgement, memory))
    return JudgedRows.of_all(policy, judgement.state, findings)


def rows_while_serving(judgement: Judgement, memory: Memory | None = None) -> JudgedRows:
    """Give the right to read those public rows that no open severe finding concerns.

    Raises:
        RowsWithheld: A finding of which nobody can tell what it concerns.
        psycopg.Error: The database or the ledger cannot be asked.
    """
    findings = tuple(open_findings(judgement, memory))
    return JudgedRows.of_some(judgement.policy, judgement.state, findings)


def open_findings(judgement: Judgement, memory: Memory | None = None) -> Iterator[OpenFinding]:
    """Find what would refuse a start of `serve` with this policy now, and the tables that each closes."""
    policy = judgement.policy
    closing: dict[tuple[str, str], frozenset[TableName] | None] = {}  # None: all
    for where, table in _misfits(judgement.problems, policy):
        closing[where, "it does not fit the database"] = table
    if None in closing.values():
        yield from (OpenFinding(where=where, name=name) for where, name in closing)
        return
    for finding in judgement.verdict.of(Severity.SEVERE):
        if finding.name is FindingName.POLICY_DOES_NOT_FIT and judgement.problems:
            continue  # told with its table already
        closing[finding.where, finding.name.name] = concerned_tables(finding, policy)
    later = () if memory is None else memory(policy, judgement.catalog)
    for one in later:
        # What was not shown before is not copied: it closes nothing.
        closed = frozenset({one.table}) if one.are_others else frozenset()
        closing[str(one.table), one.what] = closed
    if not closing:
        return
    shared = sharing_tables(policy)
    for (where, name), tables in closing.items():
        more = None if tables is None else tables.union(*(shared[one] for one in tables))
        yield OpenFinding(where=where, name=name, closes=more)


def _misfits(
    problems: Sequence[Problem], policy: Policy
) -> Iterator[tuple[str, frozenset[TableName] | None]]:
    """Name the table of each problem. Its message may quote the policy, so that it is left out. What does not
    fit of a protected table leaves nobody to judge the public ones by, so that it closes all."""
    named = {str(name): name for name in policy.tables}
    for problem in problems:
        is_of_a_table = len(problem.path) > 1 and problem.path[0] == "tables"
        where = str(problem.path[1]) if is_of_a_table else ".".join(map(str, problem.path))
        name = named.get(where) if is_of_a_table else None
        is_public = name is not None and isinstance(policy.tables[name], PublicTable)
        yield where, frozenset({name}) if name is not None and is_public else None


def withheld_because(error: RowsWithheld | CatalogueMoved) -> Mapping[str, object]:
    """For the log: each place with the names of its findings."""
    findings = [str(one) for one in error.findings] if isinstance(error, RowsWithheld) else []
    reason = "severe findings" if findings else str(error)
    return {"reason": reason, "findings": findings}
