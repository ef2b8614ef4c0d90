"""Columns that a subquery computes: how they are planned, and what is publicly known of them."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction

from proxy.base.errors import Code, Refusal
from proxy.base.sql_types import SqlType
from proxy.kernel.column_types import conjuncts
from proxy.planner import grids
from proxy.planner.bounds import Bounded, bounded, condition, stored_without_bounds
from proxy.planner.facts import ColumnFacts, ComputedOf, Facts, Values, typed
from proxy.planner.mapped_texts import depends_on_locale
from proxy.planner.narrowing import key_values, narrowed
from proxy.planner.open_values import grid_of_open, kept_range, open_rows
from proxy.planner.text_lengths import characters
from proxy.planner.time_bounds import time_ranges
from proxy.query.ir.expression_walk import children, columns
from proxy.query.ir.expressions import Arithmetic, ColumnRef, Expression
from proxy.query.ir.rebuilding import conjunction, rebuild
from proxy.query.ir.relations import Subquery

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


# --- Keys that a subquery computes, as they are of its own columns: these say which of them come together.


_NODES = 500  # of one key: each subquery of a chain can double it


def with_origins(
    subquery: Subquery, source: Facts, given: Mapping[tuple[str, str], ColumnFacts]
) -> dict[tuple[str, str], ColumnFacts]:
    """
    Given    source: as the subquery's condition leaves it; given: of its outputs
    Gives    facts of the outputs that are computed, with what they are computed of
    """
    names = [name for name, _ in subquery.outputs]
    single = [(name, part) for name, part in subquery.outputs if names.count(name) == 1]
    beside: dict[tuple[str, str], ColumnRef] = {}
    for name, part in single:
        if isinstance(part, ColumnRef) and source[part.relation, part.column].computed_of is None:
            kind = source[part.relation, part.column].type
            beside.setdefault(
                (part.relation, part.column), ColumnRef(name, kind, None, subquery.alias)
            )

    def from_outside(part: Expression) -> Expression:
        if isinstance(part, ColumnRef):
            return beside.get((part.relation, part.column), part)
        return part

    found = {}
    for name, part in single:
        known = given[subquery.alias, name]
        (whole,), every = as_computed([typed(part, source)], source)
        if isinstance(whole, ColumnRef) or _nodes(whole, Facts({})) > _NODES:
            continue
        inside = {key: every[key] for key in columns(whole) if key not in beside}
        origin = ComputedOf(expression=rebuild(whole, from_outside), facts=inside)
        found[subquery.alias, name] = replace(known, computed_of=origin)
    return found


def narrowed_as_computed(
    facts: Facts, where: Expression | None, wanted: Collection[tuple[str, str]]
) -> Facts:
    """
    Given    as of narrowing.narrowed
    Gives    the facts also as far as a condition on a column that a subquery computes leaves those that it is
             computed of
    """
    changed = narrowed(facts, where, wanted)
    parts = list(conjuncts(where))
    opened, every = as_computed(parts, changed)
    if opened == parts:
        return changed
    inner = every.keys() - facts.keys()
    left = narrowed(every, conjunction(opened), {*wanted, *inner})
    return facts.instead({name: _with_inner(left[name], left) for name in facts})


def _with_inner(known: ColumnFacts, left: Facts) -> ColumnFacts:
    origin = known.computed_of
    if origin is None:
        return known
    inside = {name: left.get(name, fact) for name, fact in origin.facts.items()}
    return replace(known, computed_of=replace(origin, facts=inside))


def computed_values(key: Expression, facts: Facts, where: Expression | None) -> Values | None:
    """
    Given    facts: of narrowed_as_computed
    Gives    the public values that a key can have, also where the condition says something of a column that a
             subquery has computed it of
    """
    values = key_values(key, facts, where)
    if where is None:
        return values
    (whole, *parts), every = as_computed([key, *conjuncts(where)], facts)
    opened = conjunction(parts)
    if opened is None or whole == key or not columns(whole) & columns(opened):
        return values
    possible = key_values(whole, every, opened)
    if values is None or possible is None:
        return possible if values is None else values
    there = frozenset(possible)
    return tuple(value for value in values if value in there)


def as_computed(keys: Sequence[Expression], facts: Facts) -> tuple[list[Expression], Facts]:
    """The keys with what subqueries compute in the place of their columns, and the facts of its columns."""
    inside = dict[tuple[str, str], ColumnFacts]()
    for key in keys:
        for name in columns(key):
            origin = facts[name].computed_of
            if origin is not None:
                inside |= {n: fact for n, fact in origin.facts.items() if n not in facts}
    every = facts | inside

    def opened(part: Expression) -> Expression:
        if not isinstance(part, ColumnRef):
            return part
        origin = facts[part.relation, part.column].computed_of
        is_known = origin is not None and columns(origin.expression) <= every.keys()
        return origin.expression if origin is not None and is_known else part

    return [rebuild(key, opened) if _nodes(key, facts) <= _NODES else key for key in keys], every


def _nodes(expression: Expression, facts: Facts) -> int:
    """How many the key has once its columns are replaced; of these each has _NODES at most."""
    if isinstance(expression, ColumnRef):
        known = facts.get((expression.relation, expression.column))
        if known is not None and known.computed_of is not None:
            return _nodes(known.computed_of.expression, Facts({}))
    return 1 + sum(_nodes(part, facts) for part in children(expression))
