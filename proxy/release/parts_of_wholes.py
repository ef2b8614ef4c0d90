"""Which answers are of a part of what other answers are of: a narrower FILTER, `count(x)` beside `count(*)`.

By the statement alone. Each answer has noise of its own, so a part can be larger than its whole. It is not
moved: that would bias sums over groups (ADR 0101).
"""

from __future__ import annotations

from proxy.query.ir.expressions import Connective, Expression
from proxy.query.ir.query_aggregates import Aggregate, AggregateKind

_FROM_DISTINCT = (AggregateKind.COUNT_DISTINCT, AggregateKind.COUNT, AggregateKind.COUNT_ROWS)


def is_part(one: Aggregate, other: Aggregate, *, is_not_negative: bool) -> bool:
    """Say whether an aggregate cannot be larger than another, as it is of a part of the same rows.

    Args:
        is_not_negative: Of the first aggregate, whether nothing that it adds up is below 0.
    """
    if not _conjuncts(other.condition) <= _conjuncts(one.condition):
        return False
    is_same = one.operand == other.operand
    if one.kind is AggregateKind.SUM:
        return other.kind is one.kind and is_same and is_not_negative
    if one.kind not in _FROM_DISTINCT or other.kind not in _FROM_DISTINCT:
        return False
    if _FROM_DISTINCT.index(other.kind) < _FROM_DISTINCT.index(one.kind):
        return False
    return is_same or other.kind is AggregateKind.COUNT_ROWS


def _conjuncts(condition: Expression | None) -> frozenset[Expression]:
    """Conditions that all hold: the more there are, the fewer rows."""
    if condition is None:
        return frozenset()
    if isinstance(condition, Connective) and condition.word.upper() == "AND":
        return frozenset[Expression]().union(*map(_conjuncts, condition.operands))
    return frozenset({condition})
