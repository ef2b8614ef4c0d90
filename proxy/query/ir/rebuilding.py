"""Expressions rebuilt with some parts replaced: parameters by their values, columns by clamped ones."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from typing_extensions import assert_never

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


def rebuild(expression: Expression, change: Callable[[Expression], Expression]) -> Expression:
    """The expression with `change` applied to each node, children first."""

    def again(part: Expression) -> Expression:
        return rebuild(part, change)

    def constant(part: Constant | Parameter) -> Constant | Parameter:
        changed = change(part)
        assert isinstance(changed, Constant | Parameter)
        return changed

    def parameters(part: Expression) -> Expression:
        """Where rows of the question are not meant: its columns are others."""
        return change(part) if isinstance(part, Parameter) else part

    match expression:
        case Constant() | Parameter() | ColumnRef():
            return change(expression)
        case Comparison() | Arithmetic():
            left, right = again(expression.left), again(expression.right)
            return change(replace(expression, left=left, right=right))
        case Connective() | Choose() | Concat():
            return change(replace(expression, operands=tuple(map(again, expression.operands))))
        case Not() | Is() | NumericCall() | Extract() | Cast() | Clamped() | Bucket():
            return change(replace(expression, operand=again(expression.operand)))
        case DateTrunc() | FormattedTime() | RealCall() | Shift() | TimeBin():
            return change(replace(expression, operand=again(expression.operand)))
        case In():
            items = tuple(map(constant, expression.items))
            return change(replace(expression, operand=again(expression.operand), items=items))
        case InPublic():
            inner = expression.condition
            if inner is not None:
                inner = rebuild(inner, parameters)
            return change(replace(expression, operand=again(expression.operand), condition=inner))
        case Like():
            pattern = constant(expression.pattern)
            return change(replace(expression, operand=again(expression.operand), pattern=pattern))
        case Quotient():
            divisor = again(expression.divisor)
            return change(replace(expression, operand=again(expression.operand), divisor=divisor))
        case TextCall():
            given = tuple(map(constant, expression.arguments))
            return change(replace(expression, operand=again(expression.operand), arguments=given))
        case Inside():
            path = tuple(map(constant, expression.path))
            given = tuple(map(constant, expression.arguments))
            operand = again(expression.operand)
            return change(replace(expression, operand=operand, path=path, arguments=given))
        case Case():
            whens = tuple((again(a), again(b)) for a, b in expression.whens)
            return change(replace(expression, whens=whens, otherwise=again(expression.otherwise)))
        case NullIf():
            other = again(expression.other)
            return change(replace(expression, operand=again(expression.operand), other=other))
        case _:
            assert_never(expression)
