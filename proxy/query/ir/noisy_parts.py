"""What is in an expression over answers."""

from __future__ import annotations

from collections.abc import Iterator

from typing_extensions import assert_never

from proxy.query.ir.expressions import NumericFunction
from proxy.query.ir.noisy_expressions import (
    AnswerOf,
    NoisyArithmetic,
    NoisyCall,
    NoisyCast,
    NoisyChoice,
    NoisyExpression,
    NoisyNullIf,
    NoisyWindow,
    PublicNumber,
)

_ROUNDING = (
    *(NumericFunction.ROUND, NumericFunction.TRUNC),
    *(NumericFunction.FLOOR, NumericFunction.CEIL),
)


def answers_in(expression: NoisyExpression) -> frozenset[int]:
    """The numbers of all aggregates in it.

    >>> from proxy.base.sql_types import SqlType
    >>> from proxy.query.ir.noisy_expressions import NoisyOperator
    >>> one = AnswerOf(1, SqlType.INT8)
    >>> sorted(answers_in(NoisyArithmetic(NoisyOperator.ADD, one, one, SqlType.INT8)))
    [1]
    """
    return frozenset(part.number for part in parts_of(expression) if isinstance(part, AnswerOf))


def is_of_one_row(expression: NoisyExpression) -> bool:
    """Say whether no window is in it. Then dp.error() of it is accepted in the SELECT that aggregates.

    >>> from proxy.base.sql_types import SqlType
    >>> is_of_one_row(AnswerOf(1, SqlType.INT8))
    True
    """
    return not any(isinstance(part, NoisyWindow) for part in parts_of(expression))


def is_rounded_answer(expression: NoisyExpression) -> bool:
    """Say whether it is an answer, perhaps rounded or cast.

    >>> from proxy.base.sql_types import SqlType
    >>> is_rounded_answer(NoisyCast(AnswerOf(1, SqlType.INT8), None, SqlType.FLOAT8))
    True
    """
    while isinstance(expression, NoisyCast) or (
        isinstance(expression, NoisyCall) and expression.function in _ROUNDING
    ):
        expression = expression.operand
    return isinstance(expression, AnswerOf)


def noisy_leaves(expression: NoisyExpression) -> frozenset[AnswerOf | NoisyWindow]:
    """What has an interval of its own in it: answers of the group, and windows over all groups.

    >>> from proxy.base.sql_types import SqlType
    >>> from proxy.query.ir.noisy_expressions import NoisyOperator
    >>> one = AnswerOf(1, SqlType.INT8)
    >>> len(noisy_leaves(NoisyArithmetic(NoisyOperator.ADD, one, one, SqlType.INT8)))
    1
    """
    if isinstance(expression, AnswerOf | NoisyWindow):
        return frozenset({expression})
    found: frozenset[AnswerOf | NoisyWindow] = frozenset()
    return found.union(*map(noisy_leaves, _operands(expression)))


def parts_of(expression: NoisyExpression) -> Iterator[NoisyExpression]:
    """Itself and everything in it."""
    yield expression
    for operand in _operands(expression):
        yield from parts_of(operand)


def count_parts(expression: NoisyExpression) -> int:
    """How many expressions `parts_of` gives."""
    if isinstance(expression, AnswerOf):  # most
        return 1
    return sum(1 for _ in parts_of(expression))


def _operands(expression: NoisyExpression) -> tuple[NoisyExpression, ...]:
    match expression:
        case AnswerOf() | PublicNumber():
            return ()
        case NoisyArithmetic():
            return expression.left, expression.right
        case NoisyCall() | NoisyCast() | NoisyNullIf() | NoisyWindow():
            return (expression.operand,)
        case NoisyChoice():
            return expression.operands
        case _:
            assert_never(expression)
