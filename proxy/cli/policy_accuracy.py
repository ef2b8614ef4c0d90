"""How exact answers will be under a policy: what EXPLAIN says of each column and aggregate.

No protected row is read."""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from dataclasses import dataclass

from proxy.base.errors import Refusal
from proxy.catalog.catalog_model import Catalog
from proxy.cli.explain_command import engine_without_data, protected_query
from proxy.cli.progress import counted
from proxy.engine.accuracy import Accuracy
from proxy.engine.answer_accuracy import accuracies
from proxy.engine.machine_clock import day_of_machine
from proxy.planner.facts import PublicContents
from proxy.policy.column_shapes import column_shape
from proxy.policy.policy_model import BoundsKind, ColumnPolicy, Policy, ProtectedTable

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
            sql = f"SELECT {call} FROM {_quoted(table.name.schema)}.{_quoted(table.name.name)}"  # noqa: S608
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
        name = _quoted(column.name)
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


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'
