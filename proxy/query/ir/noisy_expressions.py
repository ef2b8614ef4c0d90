"""Expressions over the answers of one aggregate subquery, of which dp.low, dp.high and dp.error are taken.

They are computed twice: their value by the shadow, in the rewritten statement, and their interval by
release/expression_intervals.py from the intervals of the answers in them.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum
from fractions import Fraction

from typing_extensions import assert_never

from proxy.base.sql_types import SqlType
from proxy.query.ir.expressions import NumericFunction


class NoisyOperator(Enum):
    ADD = "+"
    SUBTRACT = "-"
    MULTIPLY = "*"
    DIVIDE = "/"


@dataclass(frozen=True, slots=True)
class AnswerOf:
    """number: of the aggregate in its block, from 1."""

    number: int
    type: SqlType


@dataclass(frozen=True, slots=True)
class PublicNumber:
    value: Fraction
    type: SqlType


@dataclass(frozen=True, slots=True)
class NoisyArithmetic:
    """Two integers are divided as PostgreSQL does it: what is after the point is cut off."""

    operator: NoisyOperator
    left: NoisyExpression
    right: NoisyExpression
    type: SqlType


@dataclass(frozen=True, slots=True)
class NoisyCall:
    """digits: after the point, of ROUND and TRUNC."""

    function: NumericFunction
    operand: NoisyExpression
    digits: int
    type: SqlType


@dataclass(frozen=True, slots=True)
class NoisyCast:
    """digits: after the point, where the type is numeric(precision, digits)."""

    operand: NoisyExpression
    digits: int | None
    type: SqlType


@dataclass(frozen=True, slots=True)
class NoisyNullIf:
    """NULL where the operand is that number."""

    operand: NoisyExpression
    equal: PublicNumber
    type: SqlType


@dataclass(frozen=True, slots=True)
class NoisyChoice:
    """GREATEST or LEAST of all operands."""

    is_greatest: bool
    operands: tuple[NoisyExpression, ...]
    type: SqlType


class WindowSum(Enum):
    """What a window makes of the answers in its frame. SHIFT: LAG and LEAD, whose frame is one row."""

    SUM = "sum"
    AVG = "avg"
    SHIFT = "shift"


@dataclass(frozen=True, slots=True)
class WindowOrder:
    """key: of the block, from 0."""

    key: int
    is_descending: bool
    nulls_first: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class NoisyWindow:
    """A window function over an answer of all groups.

    partition: Keys of the block, from 0.
    start, end: Of the frame, in rows after the current one; None is unbounded.
    """

    function: WindowSum
    operand: NoisyExpression
    partition: tuple[int, ...]
    order: tuple[WindowOrder, ...]
    start: int | None
    end: int | None
    type: SqlType


NoisyExpression = (
    AnswerOf
    | PublicNumber
    | NoisyArithmetic
    | NoisyCall
    | NoisyCast
    | NoisyNullIf
    | NoisyChoice
    | NoisyWindow
)


# --- What is in an expression over answers.


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
