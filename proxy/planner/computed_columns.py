"""Columns that a subquery computes: how they are planned, and what is publicly known of them."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

from proxy.base.errors import Code, Refusal
from proxy.base.sql_types import SqlType
from proxy.planner import grids
from proxy.planner.bounds import Bounded, bounded, condition, stored_without_bounds
from proxy.planner.facts import ColumnFacts, Facts
from proxy.planner.mapped_texts import depends_on_locale
from proxy.planner.narrowing import key_values
from proxy.planner.open_values import grid_of_open, kept_range, open_rows
from proxy.planner.text_lengths import characters
from proxy.planner.time_bounds import time_ranges
from proxy.query.ir.expression_walk import columns
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
        known = facts[expression.relation, expression.column]
        return expression, replace(known, unbounded=_unbounded_column(expression, known))
    if isinstance(expression, Arithmetic) and kind in _SECONDS:
        kind = SqlType.NUMERIC
        expression = replace(expression, type=kind)
    found = _bounded(expression, facts) if kind.is_number or kind.is_time else None
    if kind.is_number and isinstance(found, Bounded):
        return found.expression, _number_facts(expression, found, facts, where)
    unbounded = _from_outside(found, expression, facts) if isinstance(found, Refusal) else None
    planned = condition(expression, facts)
    number = SqlType.NUMERIC if kind.is_number else kind
    most = characters(expression, facts) if kind.is_text else None
    values = None if depends_on_locale(expression) else key_values(expression, facts, where)
    if kind.is_time and isinstance(found, Bounded):
        # Left as it is, like a stored time beyond its bounds: what is made of it clamps it.
        return planned, ColumnFacts(
            kind,
            found.interval,
            Fraction(1),
            values,
            time_ranges(expression, facts),
            is_clamped=any(facts[name].is_clamped for name in columns(expression)),
        )
    return planned, ColumnFacts(number, values=values, characters=most, unbounded=unbounded)


def _bounded(expression: Expression, facts: Facts) -> Bounded | Refusal:
    """The expression with its bounds, or why it has none."""
    try:
        return bounded(expression, facts)
    except Refusal as refusal:
        if refusal.code is not Code.NO_BOUNDS:
            raise
        return refusal


def _unbounded_column(column: ColumnRef, known: ColumnFacts) -> Refusal | None:
    """Why a column has no bounds, as a query around names it otherwise. None: it has some, or needs none."""
    needs_bounds = known.type.is_number or known.type.is_time
    if known.bounds is not None or known.held is not None or not needs_bounds:
        return None
    return known.unbounded or stored_without_bounds(column.column)


def _from_outside(refusal: Refusal, expression: Expression, facts: Facts) -> Refusal:
    """Why a computed column has no bounds: a column in it has none, which is to be said, or its own form."""
    for relation, name in sorted(columns(expression)):
        known = facts[relation, name]
        below = _unbounded_column(ColumnRef(name, known.type, None, relation), known)
        if below is not None:
            return below
    form = refusal.hint.removesuffix(".")
    return Refusal(refusal.code, refusal.message, f"{form}, in the subquery that computes it.")


def _number_facts(
    expression: Expression, found: Bounded, facts: Facts, where: Expression | None
) -> ColumnFacts:
    interval = found.interval
    grid = None
    if interval is not None:
        grid = grids.of_expression(found.expression, interval, facts)
        grid = grid_of_open(expression, facts, grid)
    return ColumnFacts(
        SqlType.NUMERIC,
        interval,
        grid,
        key_values(expression, facts, where),
        open_rows=open_rows(expression, facts),
        kept=kept_range(expression, facts),
    )
