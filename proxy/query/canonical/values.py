"""An expression beside the type with which PostgreSQL computes.

Canonical text writes every implicit cast. A cast to a wider number changes no value, so it changes the type
alone: `(i4)::numeric / 4.0` is a quotient of the column itself, of type numeric. Bounds, divisors and digits
are proved of the column.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction

from proxy.base.sql_types import SqlType
from proxy.query.canonical.canonical_tokens import unread
from proxy.query.ir import expressions as ir

_WIDTH = (
    *(SqlType.INT2, SqlType.INT4, SqlType.INT8, SqlType.NUMERIC, SqlType.FLOAT4, SqlType.FLOAT8),
)
_TIMES = (SqlType.DATE, SqlType.TIMESTAMP, SqlType.TIMESTAMPTZ)


@dataclass(frozen=True, slots=True)
class TypedValue:
    """type: PostgreSQL's. name: Of the type, with its modifier. labels: Of an enumeration, where they are
    public; a text that is compared with it is one of them."""

    expression: ir.Expression
    type: SqlType
    name: str
    labels: tuple[str, ...] = ()

    @property
    def kind(self) -> str:
        """The type's name in signatures of functions."""
        return "enum" if self.labels else self.type.sql

    def exact(self) -> ir.Expression:
        """The expression as one of this type: where the type itself matters, as in a key."""
        part = self.expression
        if part.type is self.type or part.type is None:
            return part
        if isinstance(part, ir.Constant) and part.type.is_number and self.type.is_number:
            return replace(part, type=self.type)
        if is_widening(part.type, self.type) or (part.type.is_time and self.type.is_time):
            return ir.Cast(part, self.type)
        return part

    def constant(self) -> ir.Constant | ir.Parameter:
        """
        Raises:
            Refusal: UNSUPPORTED: it is computed of a row.
        """
        part = self.expression
        if isinstance(part, ir.NumericCall) and part.function is ir.NumericFunction.NEGATE:
            inner = part.operand
            if isinstance(inner, ir.Constant) and isinstance(inner.value, Fraction):
                return ir.Constant(-inner.value, inner.type)
        if not isinstance(part, ir.Constant | ir.Parameter):
            raise unread("an expression where a constant is needed")
        return part


def value_of(expression: ir.Expression, kind: SqlType | None = None) -> TypedValue:
    found = kind or expression.type or SqlType.TEXT
    return TypedValue(expression, found, found.sql)


def is_widening(source: SqlType, target: SqlType) -> bool:
    """Whether PostgreSQL casts so by itself, where a wider number is needed.

    >>> is_widening(SqlType.INT4, SqlType.NUMERIC), is_widening(SqlType.FLOAT8, SqlType.NUMERIC)
    (True, False)
    """
    if not (source.is_number and target.is_number) or target is SqlType.FLOAT4:
        return False
    return _WIDTH.index(source) < _WIDTH.index(target)


def is_promotion(source: SqlType, target: SqlType) -> bool:
    """The same of times: a date is its midnight.

    >>> is_promotion(SqlType.DATE, SqlType.TIMESTAMPTZ), is_promotion(SqlType.TIMESTAMP, SqlType.DATE)
    (True, False)
    """
    if not (source.is_time and target.is_time):
        return False
    return _TIMES.index(source) < _TIMES.index(target)
