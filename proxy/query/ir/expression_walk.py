"""How deep and large an expression is, which columns it reads, and where it stands in the text."""

from __future__ import annotations

from proxy.query.ir.expressions import (
    Arithmetic,
    Bucket,
    Case,
    Cast,
    Choose,
    Clamped,
    ColumnRef,
    Comparison,
    Concat,
    Connective,
    Constant,
    DateTrunc,
    Expression,
    Extract,
    FormattedTime,
    In,
    InPublic,
    Inside,
    Is,
    Like,
    Not,
    NullIf,
    NumericCall,
    Parameter,
    Quotient,
    RealCall,
    Shift,
    TextCall,
    TimeBin,
)


def children(expression: Expression) -> tuple[Expression, ...]:
    """The direct operands of an expression, in order."""
    match expression:
        case Constant() | Parameter() | ColumnRef():
            return ()
        case Comparison() | Arithmetic():
            return (expression.left, expression.right)
        case Connective() | Choose() | Concat():
            return expression.operands
        case Not() | Is() | NumericCall() | Extract() | Cast() | Clamped() | Bucket():
            return (expression.operand,)
        case DateTrunc() | FormattedTime() | RealCall() | Shift() | TimeBin():
            return (expression.operand,)
        case InPublic():
            return (expression.operand,)  # the rest is of no row of the question
        case In():
            return (expression.operand, *expression.items)
        case Like():
            return (expression.operand, expression.pattern)
        case Quotient():
            return (expression.operand, expression.divisor)
        case Inside():
            return (expression.operand, *expression.path, *expression.arguments)
        case TextCall():
            return (expression.operand, *expression.arguments)
        case Case():
            flat = [part for when in expression.whens for part in when]
            return (*flat, expression.otherwise)
        case NullIf():
            return (expression.operand, expression.other)


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
