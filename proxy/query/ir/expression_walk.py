"""How deep and large an expression is, which columns it reads, and where it stands in the text."""

from __future__ import annotations

from collections.abc import Callable

from typing_extensions import assert_never

from proxy.base.node_parts import each_changed, with_parts
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


# --- Expressions rebuilt with some parts replaced: parameters by their values, columns by clamped ones.


_LEAVES = frozenset({ir.ColumnRef, ir.Constant, ir.Parameter})


def rebuild(
    expression: ir.Expression, change: Callable[[ir.Expression], ir.Expression]
) -> ir.Expression:
    """The expression with `change` applied to each node, children first. What does not change stays the object
    that it was."""
    if expression.__class__ in _LEAVES:  # before all that only others need
        return change(expression)

    def again(part: ir.Expression) -> ir.Expression:
        return rebuild(part, change)

    def constant(part: ir.Constant | ir.Parameter) -> ir.Constant | ir.Parameter:
        changed = change(part)
        assert isinstance(changed, ir.Constant | ir.Parameter)
        return changed

    def parameters(part: ir.Expression) -> ir.Expression:
        """Where rows of the question are not meant: its columns are others."""
        return change(part) if isinstance(part, ir.Parameter) else part

    def when(one: tuple[ir.Expression, ir.Expression]) -> tuple[ir.Expression, ir.Expression]:
        test, result = again(one[0]), again(one[1])
        return one if test is one[0] and result is one[1] else (test, result)

    match expression:
        case ir.Comparison() | ir.Arithmetic():
            left, right = rebuild(expression.left, change), rebuild(expression.right, change)
            return change(with_parts(expression, left=left, right=right))
        case ir.Connective() | ir.Choose() | ir.Concat():
            operands = each_changed(expression.operands, again)
            return change(with_parts(expression, operands=operands))
        case (
            ir.Not()
            | ir.Is()
            | ir.NumericCall()
            | ir.Extract()
            | ir.Cast()
            | ir.Clamped()
            | ir.Bucket()
        ):
            return change(with_parts(expression, operand=again(expression.operand)))
        case ir.DateTrunc() | ir.FormattedTime() | ir.RealCall() | ir.Shift() | ir.TimeBin():
            return change(with_parts(expression, operand=again(expression.operand)))
        case ir.In():
            items = each_changed(expression.items, constant)
            operand = again(expression.operand)
            return change(with_parts(expression, operand=operand, items=items))
        case ir.InPublic():
            inner = expression.condition
            if inner is not None:
                inner = rebuild(inner, parameters)
            operand = again(expression.operand)
            return change(with_parts(expression, operand=operand, condition=inner))
        case ir.Like():
            pattern = constant(expression.pattern)
            operand = again(expression.operand)
            return change(with_parts(expression, operand=operand, pattern=pattern))
        case ir.Quotient():
            divisor = again(expression.divisor)
            operand = again(expression.operand)
            return change(with_parts(expression, operand=operand, divisor=divisor))
        case ir.TextCall():
            given = each_changed(expression.arguments, constant)
            operand = again(expression.operand)
            return change(with_parts(expression, operand=operand, arguments=given))
        case ir.Inside():
            path = each_changed(expression.path, constant)
            given = each_changed(expression.arguments, constant)
            operand = again(expression.operand)
            return change(with_parts(expression, operand=operand, path=path, arguments=given))
        case ir.Case():
            whens = each_changed(expression.whens, when)
            otherwise = again(expression.otherwise)
            return change(with_parts(expression, whens=whens, otherwise=otherwise))
        case ir.NullIf():
            other = again(expression.other)
            operand = again(expression.operand)
            return change(with_parts(expression, operand=operand, other=other))
        case ir.ColumnRef() | ir.Constant() | ir.Parameter():
            return change(expression)
        case _:
            assert_never(expression)
