"""Columns that a subquery computes: how they are planned, and what is publicly known of them."""

from __future__ import annotations

from dataclasses import replace

from proxy.base.errors import Code, Refusal
from proxy.base.sql_types import SqlType
from proxy.planner import grids
from proxy.planner.bounds import bounded, condition
from proxy.planner.facts import ColumnFacts, Facts
from proxy.planner.mapped_texts import depends_on_locale
from proxy.planner.narrowing import key_values
from proxy.planner.open_values import grid_of_open, kept_range, open_rows
from proxy.planner.text_lengths import characters
from proxy.query.ir.expressions import Arithmetic, ColumnRef, Expression

_SECONDS = (SqlType.INTERVAL, SqlType.CLOCK_TIME)


def computed_column(
    expression: Expression, facts: Facts, where: Expression | None
) -> tuple[Expression, ColumnFacts]:
    """A column as it is, or a computed one: clamped where it is a number, so that it can be clamped again; what
    stands for an interval or a time of day is its seconds.

    Given    where: what holds of all rows; facts: narrowed by it
    """
    kind = expression.type or SqlType.TEXT
    if isinstance(expression, ColumnRef):
        return expression, facts[expression.relation, expression.column]
    if isinstance(expression, Arithmetic) and kind in _SECONDS:
        kind = SqlType.NUMERIC
        expression = replace(expression, type=kind)
    if kind.is_number:
        try:
            found = bounded(expression, facts)
        except Refusal as refusal:
            if refusal.code is not Code.NO_BOUNDS:
                raise
        else:
            interval = found.interval
            grid, rows = None, open_rows(expression, facts)
            if interval is not None:
                grid = grids.of_expression(found.expression, interval, facts)
                grid = grid_of_open(expression, facts, grid)
            values = key_values(expression, facts, where)
            return found.expression, ColumnFacts(
                SqlType.NUMERIC,
                interval,
                grid,
                values,
                open_rows=rows,
                kept=kept_range(expression, facts),
            )
    planned = condition(expression, facts)
    number = SqlType.NUMERIC if kind.is_number else kind
    most = characters(expression, facts) if kind.is_text else None
    values = None if depends_on_locale(expression) else key_values(expression, facts, where)
    return planned, ColumnFacts(number, values=values, characters=most)
