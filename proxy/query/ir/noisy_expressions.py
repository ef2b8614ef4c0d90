"""Expressions over the answers of one aggregate subquery, of which dp.low, dp.high and dp.error are taken.

They are computed twice: their value by the shadow, in the rewritten statement, and their interval by
release/expression_intervals.py from the intervals of the answers in them.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from fractions import Fraction

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
