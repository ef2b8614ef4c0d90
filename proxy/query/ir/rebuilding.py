"""Expressions rebuilt with some parts replaced: parameters by their values, columns by clamped ones."""

from __future__ import annotations

from collections.abc import Callable

from typing_extensions import assert_never

from proxy.base.node_parts import each_changed, with_parts
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

_LEAVES = frozenset({ColumnRef, Constant, Parameter})


def rebuild(expression: Expression, change: Callable[[Expression], Expression]) -> Expression:
    """The expression with `change` applied to each node, children first. What does not change stays the object
    that it was."""
    if expression.__class__ in _LEAVES:  # before all that only others need
        return change(expression)

    def again(part: Expression) -> Expression:
        return rebuild(part, change)

    def constant(part: Constant | Parameter) -> Constant | Parameter:
        changed = change(part)
        assert isinstance(changed, Constant | Parameter)
        return changed

    def parameters(part: Expression) -> Expression:
        """Where rows of the question are not meant: its columns are others."""
        return change(part) if isinstance(part, Parameter) else part

    def when(one: tuple[Expression, Expression]) -> tuple[Expression, Expression]:
        test, result = again(one[0]), again(one[1])
        return one if test is one[0] and result is one[1] else (test, result)

    match expression:
        case Comparison() | Arithmetic():
            left, right = rebuild(expression.left, change), rebuild(expression.right, change)
            return change(with_parts(expression, left=left, right=right))
        case Connective() | Choose() | Concat():
            operands = each_changed(expression.operands, again)
            return change(with_parts(expression, operands=operands))
        case Not() | Is() | NumericCall() | Extract() | Cast() | Clamped() | Bucket():
            return change(with_parts(expression, operand=again(expression.operand)))
        case DateTrunc() | FormattedTime() | RealCall() | Shift() | TimeBin():
            return change(with_parts(expression, operand=again(expression.operand)))
        case In():
            items = each_changed(expression.items, constant)
            operand = again(expression.operand)
            return change(with_parts(expression, operand=operand, items=items))
        case InPublic():
            inner = expression.condition
            if inner is not None:
                inner = rebuild(inner, parameters)
            operand = again(expression.operand)
            return change(with_parts(expression, operand=operand, condition=inner))
        case Like():
            pattern = constant(expression.pattern)
            operand = again(expression.operand)
            return change(with_parts(expression, operand=operand, pattern=pattern))
        case Quotient():
            divisor = again(expression.divisor)
            operand = again(expression.operand)
            return change(with_parts(expression, operand=operand, divisor=divisor))
        case TextCall():
            given = each_changed(expression.arguments, constant)
            operand = again(expression.operand)
            return change(with_parts(expression, operand=operand, arguments=given))
        case Inside():
            path = each_changed(expression.path, constant)
            given = each_changed(expression.arguments, constant)
            operand = again(expression.operand)
            return change(with_parts(expression, operand=operand, path=path, arguments=given))
        case Case():
            whens = each_changed(expression.whens, when)
            otherwise = again(expression.otherwise)
            return change(with_parts(expression, whens=whens, otherwise=otherwise))
        case NullIf():
            other = again(expression.other)
            operand = again(expression.operand)
            return change(with_parts(expression, operand=operand, other=other))
        case ColumnRef() | Constant() | Parameter():
            return change(expression)
        case _:
            assert_never(expression)
