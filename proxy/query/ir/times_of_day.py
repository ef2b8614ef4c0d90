"""Columns of type time, as the seconds since midnight by which PostgreSQL compares them (date.c, time_cmp): a
value is one number of microseconds, so that equal times have equal seconds, and the other way round."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

from proxy.base.errors import Code, Fault, Refusal
from proxy.base.seconds_of_day import seconds_since_midnight
from proxy.base.sql_types import SqlType
from proxy.query.ir.expressions import (
    Arithmetic,
    ColumnRef,
    Constant,
    Expression,
    Inside,
    InsideLook,
    Operator,
    Parameter,
)

_LOOKS = {
    "hour": InsideLook.HOUR,
    "minute": InsideLook.MINUTE,
    "second": InsideLook.SECOND,
    "epoch": InsideLook.EPOCH,
}
INSTEAD = (
    "Write extract(hour FROM column), or extract(epoch FROM column), its seconds since midnight."
)


def part_of_day(field: str, operand: Expression, position: int | None) -> Inside | None:
    """extract(field FROM column); None where that is not available."""
    if field not in _LOOKS or not isinstance(operand, ColumnRef):
        return None
    return Inside(_LOOKS[field], operand, (), (), SqlType.NUMERIC, position)


def as_seconds_of_day(part: Expression) -> Expression:
    """
    Given    a column, or a constant that meets one
    Refuses  SYNTAX: a text that is no time; Fault: anything computed
    """
    match part:
        case ColumnRef():
            return Inside(InsideLook.EPOCH, part, (), (), SqlType.NUMERIC, part.position)
        case Parameter():  # whose value becomes its seconds when it is bound
            return replace(part, type=SqlType.NUMERIC)
        case Constant(value=None):
            return replace(part, type=SqlType.NUMERIC)
        case Constant():
            return Constant(_seconds(part), SqlType.NUMERIC, part.position)
        case _:
            raise Fault  # no other form is of this type (typing_rules.common)


def difference_of_day(left: Expression, right: Expression) -> Expression:
    """An interval without days and months (date.c, time_mi_time)."""
    one, other = as_seconds_of_day(left), as_seconds_of_day(right)
    return Arithmetic(Operator.SUBTRACT, one, other, SqlType.INTERVAL)


def _seconds(part: Constant) -> Fraction:
    found = seconds_since_midnight(str(part.value).strip(" \t\n\r\f\v"))
    if found is None:
        raise Refusal(
            Code.SYNTAX,
            "a constant of type time cannot be read",
            "Write it as '09:30' or '09:30:00.5', at most '24:00'.",
            part.position,
        )
    return found
