"""The table of `dpproxy policy check`: how exact answers will be."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from proxy.base.errors import Refusal
from proxy.catalog.catalog_model import Catalog, TableName
from proxy.cli.explain_command import engine_without_data, protected_query
from proxy.cli.policy_accuracy import PolicyAccuracy
from proxy.cli.progress import text_table
from proxy.engine.accuracy import ReleaseAccuracy, number_of, text_of
from proxy.engine.group_threshold import units_needed
from proxy.engine.machine_clock import day_of_machine
from proxy.engine.noise_proposal import NoiseProposal
from proxy.engine.query_pipeline import Engine
from proxy.engine.unit_words import unit_of_policy, units_word
from proxy.kernel.plan import BlockPlan
from proxy.mechanisms.loss import Loss
from proxy.planner.facts import PublicContents
from proxy.policy.odds_words import odds_json, odds_text
from proxy.policy.policy_model import Accounting, Policy, ProtectedTable, PublicTable
from proxy.release.small_groups import number_needed

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


# From how many units on groups are shown, where a policy has a smallest group. No protected row is read.


@dataclass(frozen=True, slots=True, kw_only=True)
class SmallestGroup:
    """Of a table: the policy's number; with how many units a group of public keys, and one of private keys, is
    shown half of the time. None: no such keys are there, or it cannot be asked. At the policy's epsilon, by a
    statement that asks for COUNT(*) alone."""

    table: str
    units: str
    fewest: int
    public_half: int | None
    private_half: int | None

    def text(self) -> str:
        """As a line of `policy check`."""
        told = [f"{self.table}: no group of fewer than {self.fewest:,} {self.units} is shown"]
        if self.public_half is not None:
            told.append(f"by public keys half of those with {self.public_half:,} are")
        if self.private_half is not None:
            told.append(f"by private keys half of those with {self.private_half:,}")
        return ", ".join(told)


def smallest_groups(
    policy: Policy, catalog: Catalog, public: PublicContents
) -> Iterator[SmallestGroup]:
    """One for each table with a number above 1."""
    engine = engine_without_data(policy, catalog, public)
    for table in policy.protected():
        fewest = policy.fewest_units([table.name])
        if fewest <= 1:
            continue
        whole = _planned(engine, table, "")
        private = next(_private(engine, table), None)
        known = whole or private
        yield SmallestGroup(
            table=str(table.name),
            units="units" if known is None else units_word(known),
            fewest=fewest,
            public_half=None if whole is None else number_needed(whole),
            private_half=None
            if private is None or private.selection is None
            else units_needed(private.selection)["half"],
        )


def _private(engine: Engine, table: ProtectedTable) -> Iterator[BlockPlan]:
    """Plans by one key that is not public."""
    for column in table.columns.values():
        found = None if column.values is not None else _planned(engine, table, column.name)
        if found is not None and found.selection is not None:
            yield found


def _planned(engine: Engine, table: ProtectedTable, key: str) -> BlockPlan | None:
    """COUNT(*), by a key if one is named. None: that is refused."""
    by = f" GROUP BY {_quoted(key)}" if key else ""
    name = f"{_quoted(table.name.schema)}.{_quoted(table.name.name)}"
    try:
        query = protected_query(engine, f"SELECT count(*) FROM {name}{by}")  # noqa: S608
        assert query is not None, "it asks of a protected table"
        (block,) = engine.planned(query, {}, day=day_of_machine()).blocks
    except Refusal:
        return None
    return block


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'
