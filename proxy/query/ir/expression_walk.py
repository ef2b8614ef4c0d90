"""How deep and large an expression is, which columns it reads, and where it stands in the text."""

from __future__ import annotations

from proxy.query.ir.expressions import ColumnRef, Constant, Expression, Parameter, children


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


def position_in(expression: Expression) -> int | None:
    """Of the first word that has kept its place."""
    if isinstance(expression, ColumnRef | Constant | Parameter):
        return expression.position
    places = (position_in(part) for part in children(expression))
    return next((place for place in places if place is not None), None)
