"""What `dpproxy policy check` says of answers: how exact they will be, from how many units on groups are shown,
and which noise would be smaller. No protected row is read."""

from __future__ import annotations

import shlex
from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from proxy.base.errors import Refusal
from proxy.base.sql_types import SqlType
from proxy.base.written_names import quoted
from proxy.catalog.catalog_model import Catalog, TableName
from proxy.cli.explain_command import engine_without_data, protected_query
from proxy.cli.progress import counted
from proxy.cli.text_table import text_table
from proxy.engine.accuracy import Accuracy, ReleaseAccuracy, number_of, text_of
from proxy.engine.answer_accuracy import accuracies
from proxy.engine.machine_clock import day_of_machine
from proxy.engine.policy_limits import units_needed
from proxy.engine.query_pipeline import Engine
from proxy.engine.unit_words import unit_of_policy, units_word
from proxy.kernel.neighbour_kinds import UnitNeighbours
from proxy.kernel.plan import BlockPlan, LaplaceNoise, NoisyStatistic
from proxy.kernel.shape import Shape
from proxy.mechanisms import discrete_gaussian
from proxy.mechanisms.loss import Loss
from proxy.planner.facts import Facts, PlanningContext, PublicContents, UnitRows
from proxy.planner.measuring import MeasureContext, Priced
from proxy.planner.release_choice import plan_release
from proxy.planner.tracking import track
from proxy.policy.column_shapes import column_shape
from proxy.policy.odds_words import odds_json, odds_text
from proxy.policy.policy_model import (
    Accounting,
    BoundsKind,
    ColumnPolicy,
    Noise,
    Policy,
    Privacy,
    ProtectedTable,
    PublicTable,
)
from proxy.query.ir.query_aggregates import Aggregate, AggregateKind
from proxy.query.ir.relations import Scan
from proxy.release.noisy_values import (
    noise_half_width,
)
from proxy.release.small_groups import number_needed

# Where the other noise would be smaller: for queries whose groups one unit can be in several of.

_COUNT = Aggregate(AggregateKind.COUNT_ROWS, None, None, SqlType.INT8)


@dataclass(frozen=True, slots=True, kw_only=True)
class NoiseProposal:
    """With `noise: gaussian` a COUNT by keys of `groups` groups or more is within gaussian_95 in 95 of 100
    answers, with Laplace noise within laplace_95; a SUM in the same proportion. One group alone gets alone_95
    instead of alone_now_95: what the choice costs other statements."""

    table: str
    groups: int
    laplace_95: int
    gaussian_95: int
    alone_95: int
    alone_now_95: int


def noise_proposals(known: PlanningContext) -> list[NoiseProposal]:
    """One for each table whose counts by many groups Gaussian noise would make more exact.

    Given    a policy for which `check` finds nothing, fitted
    Source   docs/design/mechanisms.md 3.2: L1 grows with the number of groups, L2 with its root, if
             max_rows_per_group_per_unit bounds the rows within each
    """
    if known.policy.privacy.noise is not Noise.LAPLACE:
        return []
    found = (_proposal(table, known) for table in known.policy.protected())
    return [proposal for proposal in found if proposal is not None]


def _proposal(table: ProtectedTable, known: PlanningContext) -> NoiseProposal | None:
    """By a count that is planned as if its groups were as many as a unit can be in."""
    rows = track(Scan("t", table.name), known)
    unit = rows.ownership
    if not isinstance(unit, UnitRows) or unit.rows_per_group is None:
        return None  # all rows of a unit may be in one group
    if unit.is_chosen:
        return (
            None  # its bound is chosen when a statement runs: the largest says nothing of the noise
        )
    groups = min(unit.rows, unit.groups or unit.rows)
    release = _count(unit, rows.facts, known.policy.privacy, groups)
    if not isinstance(release.noise, LaplaceNoise) or release.noise.gaussian is None:
        return None
    other = replace(known.policy.privacy, noise=Noise.GAUSSIAN)
    return NoiseProposal(
        table=str(table.name),
        groups=groups,
        laplace_95=noise_half_width(release.noise),
        gaussian_95=discrete_gaussian.half_width(release.noise.gaussian),
        alone_95=noise_half_width(_count(unit, rows.facts, other, 1).noise),
        alone_now_95=noise_half_width(_count(unit, rows.facts, known.policy.privacy, 1).noise),
    )


def _count(unit: UnitRows, facts: Facts, privacy: Privacy, groups: int) -> NoisyStatistic:
    """A COUNT whose groups one unit is in so many of."""
    assert unit.rows_per_group is not None
    neighbours = UnitNeighbours(
        column=unit.column,
        rows=unit.rows,
        groups=groups,
        rows_per_group=unit.rows_per_group,
        is_summed=unit.rows < groups * unit.rows_per_group,
    )
    context = MeasureContext(
        facts=facts,
        shape=Shape(neighbours=neighbours, count=None, is_spread=True),
        privacy=privacy,
        wanted=Loss(privacy.epsilon, privacy.delta),
    )
    release = plan_release(_COUNT, Priced(context=context, loss=context.wanted))
    assert isinstance(release, NoisyStatistic)
    return release


# How exact answers will be under a policy: what EXPLAIN says of each column and aggregate.
#
# No protected row is read.

ALL_ROWS = "*"


@dataclass(frozen=True, slots=True, kw_only=True)
class PolicyAccuracy:
    """One line of `dpproxy policy check`: of a statement that is this one aggregate, ungrouped, at the policy's
    epsilon and delta. column: ALL_ROWS of COUNT(*); planned: the refusal, where it cannot be answered."""

    table: str
    column: str
    aggregate: str
    planned: Accuracy | Refusal


def policy_accuracy(
    policy: Policy, catalog: Catalog, public: PublicContents
) -> list[PolicyAccuracy]:
    """A line per protected table, column and aggregate that the policy allows. Aggregates over pairs of columns
    (corr, covar_*, regr_*) need a partner column and are left out; EXPLAIN says how exact they are.

    Given    a policy that fits the catalogue (policy.check.fitted); public: as `serve` reads public tables
    """
    engine = engine_without_data(policy, catalog, public)
    day = day_of_machine()
    lines = []
    remembered: dict[Hashable, Accuracy] = {}  # of columns of which the planner knows the same
    for table in counted(policy.protected(), "planning tables"):
        for column, aggregate, call in _calls(table):
            shape = column_shape(
                policy, catalog, table.name, None if column == ALL_ROWS else column
            )
            sql = f"SELECT {call} FROM {quoted(table.name.schema)}.{quoted(table.name.name)}"  # noqa: S608
            planned: Accuracy | Refusal | None = remembered.get((shape, aggregate))
            if planned is None:
                try:
                    query = protected_query(engine, sql)
                    assert query is not None, "it asks of a protected table"
                    (planned,) = accuracies(engine.planned(query, {}, day=day))
                except Refusal as refusal:  # it may name the column
                    planned = refusal
                else:
                    if shape is not None:
                        remembered[shape, aggregate] = planned
            line = PolicyAccuracy(
                table=str(table.name), column=column, aggregate=aggregate, planned=planned
            )
            lines.append(line)
    return lines


def _calls(table: ProtectedTable) -> Iterator[tuple[str, str, str]]:
    """Column, aggregate, and how it is written."""
    yield ALL_ROWS, "count(*)", "count(*)"
    for column in table.columns.values():
        name = quoted(column.name)
        for aggregate in _plain_aggregates(column):
            yield column.name, aggregate, f"{aggregate}({name})"
        if column.bounds is not None:
            quantile = "percentile_disc"
            yield column.name, quantile, f"{quantile}(0.5) WITHIN GROUP (ORDER BY {name})"


def _plain_aggregates(column: ColumnPolicy) -> tuple[str, ...]:
    if column.bounds is None:
        return ("count",)
    if column.bounds.kind is BoundsKind.NUMBER:
        return ("count", "sum", "avg", "min", "max", "var_pop")
    return ("count", "min", "max")


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
    by = f" GROUP BY {quoted(key)}" if key else ""
    name = f"{quoted(table.name.schema)}.{quoted(table.name.name)}"
    try:
        query = protected_query(engine, f"SELECT count(*) FROM {name}{by}")  # noqa: S608
        assert query is not None, "it asks of a protected table"
        (block,) = engine.planned(query, {}, day=day_of_machine()).blocks
    except Refusal:
        return None
    return block
