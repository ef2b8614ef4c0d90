"""How deep and large an expression is, and which columns it reads."""

from __future__ import annotations

from proxy.query.ir.expressions import ColumnRef, Expression, children


def depth(expression: Expression) -> int:
    """How many operations stand inside one another; 1 for a leaf."""
    return 1 + max(map(depth, children(expression)), default=0)


def size(expression: Expression) -> int:
    """How many nodes an expression has."""
    return 1 + sum(map(size, children(expression)))


def columns(expression: Expression) -> frozenset[tuple[str, str]]:
    """(relation, name) of all columns that an expression reads."""
    if isinstance(expression, ColumnRef):
        return frozenset({(expression.relation, expression.column)})
    return frozenset().union(*(columns(child) for child in children(expression)))
