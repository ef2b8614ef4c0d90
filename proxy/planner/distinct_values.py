"""How many different values a column or expression can have, where that is public: COUNT(DISTINCT) is no more.

Of the statement, the catalogue, the policy and public tables alone.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

from proxy.base.errors import Refusal
from proxy.planner.bounds import bounded
from proxy.planner.facts import Facts, typed
from proxy.planner.narrowing import narrowed
from proxy.planner.public_keys import label_values
from proxy.query.ir.expression_walk import columns
from proxy.query.ir.expressions import ColumnRef, Expression
from proxy.query.ir.query_aggregates import Aggregate, AggregateKind


def most_values(
    aggregates: Sequence[Aggregate], facts: Facts, where: Expression | None
) -> Iterator[tuple[int, int]]:
    """Give the number of possible values of each COUNT(DISTINCT), if it is public, by the answer's number.

    Args:
        aggregates: Of the block, with their columns in backend types.
        facts: Of the columns.
        where: The block's condition.
    """
    for number, one in enumerate(aggregates, start=1):
        if one.kind is AggregateKind.COUNT_DISTINCT and one.operand is not None:
            named = columns(one.operand)
            left = narrowed(facts, where, named)
            if one.condition is not None:
                left = narrowed(left, typed(one.condition, facts), named)
            most = _number_of_values(one.operand, left)
            if most is not None:
                yield number, most


def _number_of_values(operand: Expression, facts: Facts) -> int | None:
    """NULL is no value."""
    if any(facts[name].is_unit for name in columns(operand)):
        return None
    labels = label_values(operand, facts)
    if labels is not None:
        return len({*labels} - {None})
    return _within_bounds(operand, facts)


def _within_bounds(operand: Expression, facts: Facts) -> int | None:
    """Of whole numbers: those within the bounds. Other types hold values between the steps of their grid."""
    if not isinstance(operand, ColumnRef) or not operand.type.is_integer:
        return None
    try:
        found = bounded(operand, facts).interval
    except Refusal:
        return None
    return None if found is None else math.floor(found.high) - math.ceil(found.low) + 1
