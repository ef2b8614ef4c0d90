"""A SELECT that groups by the privacy unit: one row per unit, or per unit and further keys."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from fractions import Fraction

from proxy.base.result_columns import UNIT_COLUMN, aggregate_column, key_column
from proxy.base.sql_types import SqlType
from proxy.query.bind.per_unit_reading import GroupedColumns
from proxy.query.canonical.aggregates import is_truth, read_aggregate, truth_of_unit
from proxy.query.canonical.canonical_tokens import unread
from proxy.query.canonical.context import StatementContext
from proxy.query.canonical.expression_nodes import condition, read
from proxy.query.canonical.grouping import key_sets
from proxy.query.canonical.trees import Call, SelectTree, Tree
from proxy.query.canonical.values import TypedValue, value_of
from proxy.query.canonical.visible_names import VisibleNames
from proxy.query.ir import expressions as ir
from proxy.query.ir.exposed import row_names, unit_columns
from proxy.query.ir.expression_walk import columns
from proxy.query.ir.query_aggregates import Aggregate
from proxy.query.ir.relations import GroupByUnit, Relation, Subquery

Outputs = tuple[tuple[str, TypedValue], ...]


def unit_keys(select: SelectTree) -> Sequence[Tree]:
    """What a SELECT groups by: GROUP BY, what DISTINCT is ON, or all items of DISTINCT."""
    if select.group:
        return [tree for level in key_sets(select) for tree in level]
    if select.distinct_on:
        return select.distinct_on
    return [tree for tree, _ in select.items]


class AggregatesWithin:
    """Aggregates inside expressions become columns a1, a2, ... of one relation."""

    def __init__(self, alias: str) -> None:
        self.alias = alias
        self.found: list[Aggregate] = []

    def read(self, call: Call, scope: VisibleNames) -> TypedValue:
        within = replace(scope, aggregate=None, window=None)
        truth = is_truth(call)
        aggregate = truth_of_unit(call, within) if truth else read_aggregate(call, within)
        if not isinstance(aggregate, Aggregate):
            raise unread("an array of percentiles per unit")
        if aggregate not in self.found:
            self.found.append(aggregate)
        name = aggregate_column(self.found.index(aggregate) + 1)
        column = ir.ColumnRef(name, aggregate.type, None, self.alias)
        if not truth:
            return value_of(column)
        one = ir.Constant(Fraction(1), SqlType.INT4)
        return value_of(ir.Comparison(ir.Comparator.EQ, column, one))


def read_per_unit(
    context: StatementContext,
    select: SelectTree,
    relation: Relation,
    where: ir.Expression | None,
    scope: VisibleNames,
    outputs_of: Callable[[VisibleNames], Sequence[tuple[str, TypedValue]]],
) -> tuple[Subquery, Outputs]:
    """GROUP BY the unit, or DISTINCT: its aggregates become columns of one row per unit and further keys."""
    levels = key_sets(select) if select.group else (tuple(unit_keys(select)),)
    if len(levels) > 1:
        raise unread("ROLLUP, CUBE or GROUPING SETS of a subquery that groups by the privacy unit")
    units = unit_columns(relation, context.tables.values())
    written = [read(tree, scope).exact() for tree in dict.fromkeys(levels[0])]
    held = [key for key in written if isinstance(key, ir.ColumnRef) and _name(key) in units]
    if not held:
        raise unread("GROUP BY of rows without the privacy unit")
    inner = AggregatesWithin(context.alias())
    keys = tuple(dict.fromkeys(key for key in written if columns(key) and key not in held))
    grouped = GroupedColumns(inner.alias, units, keys)
    reading = replace(scope, aggregate=inner.read, window=None)
    outputs = tuple(
        (name, replace(value, expression=grouped.read(value.exact())))
        for name, value in outputs_of(reading)
    )
    having = None
    if select.having is not None:
        having = grouped.read(condition(select.having, reading))
    relation = scope.joined(relation)
    rows = GroupByUnit(inner.alias, relation, where, held[0], tuple(inner.found), keys=keys)
    named = tuple((name, value.expression) for name, value in outputs)
    return Subquery(context.alias(), rows, having, named), outputs


def read_distinct(context: StatementContext, rows: Subquery) -> Subquery:
    """DISTINCT of rows that have their columns already, those of windows among them, as GROUP BY all."""
    names = [name for name, _ in rows.outputs]
    shown = [
        ir.ColumnRef(name, part.type or SqlType.TEXT, None, rows.alias)
        for name, part in rows.outputs
    ]
    units = unit_columns(rows, context.tables.values())
    held = [one for one in shown if _name(one) in units]
    named = [one for one in shown if _name(one) in row_names(rows)]
    if not (held or named) or len(set(names)) < len(names):
        raise unread("DISTINCT without the privacy unit")
    alias = context.alias()
    keys = tuple(one for one in shown if one not in held)
    numbers = {key: key_column(number) for number, key in enumerate(keys, start=1)}
    outputs = tuple(
        (one.column, ir.ColumnRef(numbers.get(one, UNIT_COLUMN), one.type, None, alias))
        for one in shown
    )
    grouped = GroupByUnit(alias, rows, None, (*held, *named)[0], (), keys=keys)
    return Subquery(context.alias(), grouped, None, outputs)


def _name(column: ir.ColumnRef) -> tuple[str, str]:
    return column.relation, column.column
