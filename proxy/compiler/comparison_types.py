"""The types in which numbers are compared: those in which no row can make the comparison raise."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

from proxy.base.sql_types import SqlType
from proxy.base.type_ranges import real_as_numeric
from proxy.query.ir.expression_walk import children
from proxy.query.ir.expressions import ColumnRef, Constant, Expression

# float8 keeps 15 decimal digits; constants beyond these are compared in numeric instead.
_FLOAT_LARGEST = Fraction(10) ** 300
_FLOAT_SMALLEST = Fraction(1, 10**300)


def same_family(left: ColumnRef, right: ColumnRef) -> bool:
    """Both integers, both floats or of one type: PostgreSQL compares them as they are."""
    a, b = left.type, right.type
    assert a is not None and b is not None
    return a is b or (a.is_integer and b.is_integer) or (a.is_float and b.is_float)


def constants_type(column: ColumnRef, constants: tuple[Constant, ...]) -> str | None:
    """The type in which a column as it is meets these constants; None: both in numeric."""
    kind = column.type
    assert kind is not None
    values = [c.value for c in constants if c.value is not None]
    numbers = [value for value in values if isinstance(value, Fraction)]
    if kind is SqlType.NUMERIC:
        return "numeric"
    is_finite = len(numbers) == len(values)
    if (
        kind.is_integer
        and is_finite
        and all(n.denominator == 1 and abs(n) < 2**63 for n in numbers)
    ):
        return "bigint"
    if kind.is_float and all(n == 0 or _FLOAT_SMALLEST < abs(n) < _FLOAT_LARGEST for n in numbers):
        return "double precision"
    return None


def real_beside(part: Expression, beside: Expression) -> Expression:
    """A real as a numeric has six digits, of a column and so of a constant beside it."""
    value = part.value if isinstance(part, Constant) and part.type is SqlType.FLOAT4 else None
    if not isinstance(part, Constant) or not isinstance(value, Fraction) or not _has_reals(beside):
        return part
    return replace(part, value=real_as_numeric(value))


def _has_reals(expression: Expression) -> bool:
    if isinstance(expression, ColumnRef):
        return expression.type is SqlType.FLOAT4
    return any(map(_has_reals, children(expression)))
