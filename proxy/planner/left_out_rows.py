"""Rules that say which rows are in no group of public keys, or in another group than PostgreSQL has them in.

Of the statement, the catalogue and the policy alone: whether there are such rows is not looked at.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import product

from proxy.base.result_columns import is_aggregate_column
from proxy.planner.bounds import bounded
from proxy.planner.calendar_clamps import OF_CLAMPED, is_of_clamped, parts_of
from proxy.planner.facts import ColumnFacts, Facts, Values, typed
from proxy.planner.narrowing import narrowed
from proxy.planner.public_keys import key_parts, label_values
from proxy.policy.policy_model import Bounds
from proxy.query.ir.expression_walk import children, columns
from proxy.query.ir.expressions import (
    Case,
    Choose,
    ColumnRef,
    Comparison,
    Connective,
    Constant,
    Expression,
    Extract,
    In,
    InPublic,
    Inside,
    Is,
    Like,
    Not,
    NullIf,
)
from proxy.query.ir.query_aggregates import Aggregate, AggregateKind

Name = tuple[str, str]
# Whose values hang on their form alone, whatever bounds a column has.
_BY_FORM = (Case, Comparison, Connective, Not, Is, In, InPublic, Like, Inside, Constant)
_COUNTS = (AggregateKind.COUNT_ROWS, AggregateKind.COUNT, AggregateKind.COUNT_DISTINCT)


def left_out_rules(expression: Expression, values: Values | None, facts: Facts) -> Iterator[str]:
    """
    Given    values: of the key, None where they are private; facts: as far as conditions leave them
    Gives    one rule for rows without a value, one for each column with rows beyond its bounds
    """
    if values is None:
        return
    if None not in values:
        lacking = sorted({column for _, column in null_columns(expression, facts)})
        if any(
            map(is_aggregate_column, lacking)
        ):  # of a subquery, which has no name of the client's
            yield "rows for which a key is null are in no group"
        elif lacking:
            yield f"rows whose {' or '.join(lacking)} is null are in no group"
    yield from _beyond(expression, values, facts)


def computed_beyond(where: Expression | None, facts: Facts) -> tuple[str, ...]:
    """Columns that a condition computes with, of which it takes values beyond the bounds for the bounds."""
    if where is None:
        return ()
    where = typed(where, facts)
    named = frozenset(
        name
        for part in parts_of(where)
        if isinstance(part, OF_CLAMPED)
        for name in columns(part)
        if name in facts and _can_be_beyond(facts[name])
    )
    if not named:
        return ()
    left = narrowed(facts, where, named)
    return tuple(sorted({name[1] for name in named if _can_be_beyond(left[name])}))


def clamped_operands(
    aggregates: Sequence[Aggregate], facts_of: Callable[[Aggregate], Facts]
) -> tuple[tuple[str, Bounds], ...]:
    """Columns whose values beyond the policy's bounds are aggregated as the nearest bound: of one name in two
    tables both.

    Args:
        facts_of: The facts of an aggregate's columns, as far as WHERE and FILTER leave them.
    """
    found: dict[Name, Bounds] = {}
    for aggregate in aggregates:
        if aggregate.kind in _COUNTS:
            continue
        facts = facts_of(aggregate)
        for operand in aggregate.operands:
            for name in _valued(operand):
                known = facts.get(name)
                if known is not None and known.bounds is not None and _can_be_beyond(known):
                    found[name] = known.bounds
    told = {(column, bounds) for (_, column), bounds in found.items()}
    return tuple(sorted(told, key=lambda one: (one[0], one[1].low, one[1].high)))


def _valued(expression: Expression) -> frozenset[Name]:
    """Columns whose values are part of what an expression gives, and not only decide it."""
    match expression:
        case Case():
            parts = (*(result for _, result in expression.whens), expression.otherwise)
        case ColumnRef():
            return frozenset({(expression.relation, expression.column)})
        case Comparison() | Connective() | Not() | Is() | In() | InPublic() | Like() | Inside():
            return frozenset()
        case _:
            parts = children(expression)
    return frozenset[Name]().union(*map(_valued, parts))


def null_columns(expression: Expression, facts: Facts) -> frozenset[Name]:
    """Columns by whose NULL an expression can be NULL. Empty: it never is, but for a constant."""
    match expression:
        case Constant() | Is():
            return frozenset()
        case ColumnRef():
            return _of_column((expression.relation, expression.column), facts)
        case Case():
            results = (*(result for _, result in expression.whens), expression.otherwise)
            if any(isinstance(one, Constant) and one.value is None for one in results):
                # As the planner writes upper(column), where NULL is what is left.
                return frozenset().union(*(_of_column(one, facts) for one in columns(expression)))
            return _union(results, facts)
        case Choose():  # each of them ignores NULL
            if any(_is_never_null(operand, facts) for operand in expression.operands):
                return frozenset()
            return _union(expression.operands, facts)
        case NullIf() | InPublic():
            return null_columns(expression.operand, facts)
        case _:
            return _union(children(expression), facts)


def _of_column(name: Name, facts: Facts) -> frozenset[Name]:
    known = facts[name]
    if not known.nullable:
        return frozenset()
    if known.computed_of is None:
        return frozenset({name})
    return null_columns(known.computed_of.expression, facts | known.computed_of.facts)


def _is_never_null(operand: Expression, facts: Facts) -> bool:
    if isinstance(operand, Constant):
        return operand.value is not None
    if isinstance(operand, Case | NullIf):
        return False
    return not null_columns(operand, facts)


def _union(parts: tuple[Expression, ...], facts: Facts) -> frozenset[Name]:
    return frozenset[Name]().union(*(null_columns(part, facts) for part in parts))


def _beyond(expression: Expression, values: Values, facts: Facts) -> Iterator[str]:
    if isinstance(expression, ColumnRef):
        computed = facts[expression.relation, expression.column].computed_of
        if computed is not None:
            yield from _beyond(computed.expression, values, facts | computed.facts)
        return
    if isinstance(expression, _BY_FORM):
        return
    named = [name for name in sorted(columns(expression)) if _can_be_beyond(facts[name])]
    if not named or _is_any(expression, values, facts, named):
        return
    for name in named:
        side = "beyond" if _can_be_above(facts[name]) else "below"
        place = _where(expression, values, facts, name)
        yield f"rows whose {_stored_names(name, facts)} is {side} its bounds in the policy {place}"


def _stored_names(name: Name, facts: Facts) -> str:
    """What the policy's bounds are of: of a column that a subquery computes, the columns in it."""
    computed = facts[name].computed_of
    if computed is None:
        return name[1]
    every = facts | computed.facts
    stored = {_stored_names(one, every) for one in columns(computed.expression)}
    return " or ".join(sorted(stored)) or name[1]


_NONE = "are in no group"
_OTHER = "count in a wrong group, as their year is cut to one near the bounds"


def _where(expression: Expression, values: Values, facts: Facts, name: Name) -> str:
    """Which group has rows that are beyond a column's bounds."""
    if not is_of_clamped(expression):
        return _NONE
    is_above = _can_be_above(facts[name])
    cut = cut_years(expression, facts, list(_stored_years(expression, name)))
    if cut is None:
        return f"count in the {'first or last' if is_above else 'first'} group"
    below, above = (_place(held, nearest, values) for held, nearest in cut)
    if not is_above:
        return below if below != _END else "count in the first group"
    if _OTHER in (below, above):
        return _OTHER
    if below == above:
        return _NONE if below == _NONE else "count in the first or last group"
    if below == _NONE:
        return f"count in the last group where they are above, and {_NONE} where they are below"
    return f"count in the first group where they are below, and {_NONE} where they are above"


def _stored_years(expression: Expression, name: Name) -> Iterator[Extract]:
    for part in parts_of(expression):
        if not isinstance(part, Extract) or part.field not in ("year", "isoyear"):
            continue
        if name in columns(part) and not is_of_clamped(part):
            yield part


_END = "count in the nearest group"


def _place(texts: frozenset[str | None], nearest: frozenset[str | None], values: Values) -> str:
    if texts.isdisjoint(values):
        return _NONE
    return _END if texts == nearest and len(texts) == 1 else _OTHER


def _can_be_beyond(known: ColumnFacts) -> bool:
    """Unless the statement's conditions leave values within the bounds only."""
    bounds = known.bounds
    if not known.is_clamped or bounds is None:
        return False
    return known.ranges is None or any(
        one.low is None or one.high is None or one.low < bounds.low or one.high > bounds.high
        for one in known.ranges
    )


def _can_be_above(known: ColumnFacts) -> bool:
    """Whether the statement's conditions leave values above the bounds."""
    bounds = known.bounds
    if bounds is None or known.ranges is None:
        return True
    return any(one.high is None or one.high > bounds.high for one in known.ranges)


def _is_any(expression: Expression, values: Values, facts: Facts, named: list[Name]) -> bool:
    """Whether the key has no other values without bounds: the hour of a time."""
    free = {name: replace(facts[name], bounds=None, ranges=None) for name in named}
    without = label_values(expression, facts | free)
    return without is not None and set(without) <= set(values)


# --- What a key becomes of years beyond a column's bounds.
#
# For a number that is computed, the year of a stored time is cut some years beyond the bounds, not at
# them.


Texts = frozenset[str | None]


def cut_years(
    key: Expression, facts: Facts, cut: Collection[Extract]
) -> tuple[tuple[Texts, Texts], tuple[Texts, Texts]] | None:
    """Give what a key becomes of years below and above the bounds, each beside what the nearest year becomes.

    Args:
        cut: The years of stored times in it.

    Returns:
        None if there are none, or if it is not known.
    """
    parts = key_parts(key, facts)
    if not parts or parts == (key,):
        return None
    found: list[Texts] = []
    listed = [label_values(part, facts) or () for part in parts]
    years = [place for place, part in enumerate(parts) if part in cut]
    if not years or not all(listed):
        return None
    for is_above in (False, True):
        for is_beyond in (True, False):
            each: list[Iterable[str | None]] = [
                _years(part, values, facts, is_above, is_beyond) if place in years else values
                for place, (part, values) in enumerate(zip(parts, listed, strict=True))
            ]
            texts = facts.labels.evaluated([key], parts, list(product(*each)))
            if texts is None:
                return None
            found.append(frozenset(text for (text,) in texts))
    below, first, above, last = found
    return (below, first), (above, last)


def _years(
    part: Expression, values: Sequence[str | None], facts: Facts, is_above: bool, is_beyond: bool
) -> Iterable[str]:
    known = sorted(int(text) for text in values if text is not None)
    interval = bounded(part, facts).interval
    if not is_beyond or interval is None:
        return [str(known[-1 if is_above else 0])]
    if is_above:
        return map(str, range(known[-1] + 1, math.ceil(interval.high) + 1))
    return map(str, range(math.floor(interval.low), known[0]))
