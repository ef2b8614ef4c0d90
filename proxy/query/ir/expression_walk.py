"""How deep and large an expression is, which columns it reads, and where it stands in the text."""

from __future__ import annotations

from proxy.query.ir import expressions as ir


def children(expression: ir.Expression) -> tuple[ir.Expression, ...]:
    """The direct operands of an expression, in order."""
    match expression:
        case ir.Constant() | ir.Parameter() | ir.ColumnRef():
            return ()
        case ir.Comparison() | ir.Arithmetic():
            return (expression.left, expression.right)
        case ir.Connective() | ir.Choose() | ir.Concat():
            return expression.operands
        case (
            ir.Not()
            | ir.Is()
            | ir.NumericCall()
            | ir.Extract()
            | ir.Cast()
            | ir.Clamped()
            | ir.Bucket()
        ):
            return (expression.operand,)
        case ir.DateTrunc() | ir.FormattedTime() | ir.RealCall() | ir.Shift() | ir.TimeBin():
            return (expression.operand,)
        case ir.InPublic():
            return (expression.operand,)  # the rest is of no row of the question
        case ir.In():
            return (expression.operand, *expression.items)
        case ir.Like():
            return (expression.operand, expression.pattern)
        case ir.Quotient():
            return (expression.operand, expression.divisor)
        case ir.Inside():
            return (expression.operand, *expression.path, *expression.arguments)
        case ir.TextCall():
            return (expression.operand, *expression.arguments)
        case ir.Case():
            flat = [part for when in expression.whens for part in when]
            return (*flat, expression.otherwise)
        case ir.NullIf():
            return (expression.operand, expression.other)


def depth(expression: ir.Expression) -> int:
    """How many operations stand inside one another; 1 for a leaf."""
    return 1 + max(map(depth, children(expression)), default=0)


def size(expression: ir.Expression) -> int:
    """How many nodes an expression has."""
    return 1 + sum(map(size, children(expression)))


def columns(expression: ir.Expression) -> frozenset[tuple[str, str]]:
    """(relation, name) of all columns that an expression reads."""
    if isinstance(expression, ir.ColumnRef):
        return frozenset({(expression.relation, expression.column)})
    return frozenset().union(*(columns(child) for child in children(expression)))


def position_in(expression: ir.Expression) -> int | None:
    """Of the first word that has kept its place."""
    if isinstance(expression, ir.ColumnRef | ir.Constant | ir.Parameter):
        return expression.position
    places = (position_in(part) for part in children(expression))
    return next((place for place in places if place is not None), None)
