"""The table of `dpproxy policy check`: how exact answers will be."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from proxy.base.errors import Refusal
from proxy.catalog.catalog_model import TableName
from proxy.cli.policy_accuracy import PolicyAccuracy
from proxy.cli.text_table import text_table
from proxy.engine.accuracy import ReleaseAccuracy, number_of, text_of
from proxy.engine.noise_proposal import NoiseProposal
from proxy.engine.unit_words import unit_of_policy
from proxy.mechanisms.loss import Loss
from proxy.policy.odds_words import odds_json, odds_text
from proxy.policy.policy_model import Accounting, Policy, PublicTable

_HEADS = (
    "table",
    "column",
    "aggregate",
    "mechanism",
    "95 % error",
    "partitions",
    "units needed",
    "",
)


def accuracy_report(
    policy: Policy, lines: Sequence[PolicyAccuracy], proposals: Sequence[NoiseProposal]
) -> Iterator[str]:
    epsilon, delta = map(text_of, (policy.privacy.epsilon, policy.privacy.delta))
    yield f"Policy for {policy.database}: a statement with one aggregate, at epsilon {epsilon}, delta {delta}"
    yield ""
    yield from text_table(_HEADS, [_row(line) for line in lines])
    yield ""
    yield "k aggregates in one statement: k times the error. Dates in days, timestamps in seconds."
    yield "At least: the least possible noise of a smoothed median, whose scale depends on the data and is"
    yield "private; the sampling error of the partitions is added to it. n: the number of rows that count."
    yield "Ranks: how many rows the answer is off in the sorted values; MIN and MAX aim some ranks inside."
    yield "STDDEV: the variance's error over twice the deviation. Corr, covar_* and regr_*: see EXPLAIN."
    for proposal in proposals:
        yield ""
        yield f"{proposal.table}: by keys of {proposal.groups} groups or more, `noise: gaussian` would give"
        yield f"COUNT +-{proposal.gaussian_95} instead of +-{proposal.laplace_95}, and SUM in proportion."
        yield f"Without GROUP BY, COUNT gets +-{proposal.alone_95} instead of +-{proposal.alone_now_95} by it."


def odds_report(policy: Policy) -> Iterator[str]:
    """What epsilon and delta of a statement, and of all of them together, mean as odds."""
    one = unit_of_policy(policy)
    total = policy.budgets.total.limit
    yield f"One statement: {odds_text(_statement(policy), one)}."
    if not total.epsilon:
        return
    yield f"All answers together, within budgets.total: {odds_text(total, one)}."
    if policy.accounting is Accounting.ZCDP:
        yield "This holds under `accounting: zcdp`, too: half of that delta is for the conversion of rho."


def said_report(policy: Policy) -> Iterator[str]:
    """Who states what is public, where the policy says so."""
    tables = policy.tables.values()
    said = [(str(one.name), one.said.words) for one in tables if isinstance(one, PublicTable)]
    for table in policy.protected():
        said += ((f"{table.name}.{one.name}", one.said.words) for one in table.columns.values())
    for where, words in said:
        if words:
            yield f"As public: {where}, {words}."


def _statement(policy: Policy) -> Loss:
    return Loss(policy.privacy.epsilon, policy.privacy.delta)


def unbounded_report(found: Mapping[TableName, Sequence[str]], file: Path) -> Iterator[str]:
    """How to choose bounds, where columns have none."""
    if not found:
        return
    named = "; ".join(f"{', '.join(columns)} of {table}" for table, columns in found.items())
    yield f"Without bounds, and so without SUM, AVG, MIN and MAX: {named}."
    yield "Choose bounds by what is known without the data (an age is 0 to 120), or have them proposed"
    yield f"privately, for a part of the shared budget: `dpproxy policy bounds {shlex.quote(str(file))}`"
    yield ""


def accuracy_json(
    policy: Policy, lines: Sequence[PolicyAccuracy], proposals: Sequence[NoiseProposal]
) -> dict[str, Any]:
    return {
        "database": policy.database,
        "epsilon": float(policy.privacy.epsilon),
        "delta": float(policy.privacy.delta),
        "odds": {
            "statement": odds_json(_statement(policy), unit_of_policy(policy)),
            "total": odds_json(policy.budgets.total.limit, unit_of_policy(policy)),
        },
        "problems": [],
        "accuracy": [_as_json(line) for line in lines],
        "proposals": [
            {
                "table": proposal.table,
                "noise": "gaussian",
                "groups": proposal.groups,
                "count_error_95": proposal.gaussian_95,
                "count_error_95_now": proposal.laplace_95,
                "alone_error_95": proposal.alone_95,
                "alone_error_95_now": proposal.alone_now_95,
            }
            for proposal in proposals
        ],
    }


def _as_json(line: PolicyAccuracy) -> dict[str, object]:
    """As EXPLAIN's, but for the sensitivity, which is a number here; feasible: it can be answered at all."""
    where = {"table": line.table, "column": line.column}
    if isinstance(line.planned, Refusal):
        note = f"{line.planned.message}. {line.planned.hint}"
        refused = ReleaseAccuracy(mechanism="", note=note).as_json()
        return {**where, "aggregate": line.aggregate, **refused, "feasible": False}
    change = line.planned.described.change
    number = None if change is None else number_of(change)
    return {**where, **line.planned.as_json(), "sensitivity": number, "feasible": True}


def _row(line: PolicyAccuracy) -> list[str]:
    planned = line.planned
    names = [line.table, line.column, line.aggregate]
    if isinstance(planned, Refusal):
        return [*names, "", "", "", "", planned.message]
    m, needed = planned.described.partitions, planned.described.units_needed
    return [
        *names,
        planned.described.mechanism,
        "" if planned.error is None else planned.error.text(),
        "" if m is None else str(m),
        "" if needed is None else str(needed),
        "",
    ]
