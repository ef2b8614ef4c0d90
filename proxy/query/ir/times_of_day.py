"""Times of day, as the seconds since midnight by which PostgreSQL compares them (date.c, time_cmp): each is a
number of microseconds, so that equal times have equal seconds, and the other way round.

What is stored as such is a column (TIME_OF_DAY). What a clock shows at a timestamp, column::time, is the sum
of its hours, minutes and seconds from the start (CLOCK_TIME): no value of type time is made of it. extract()
of these fails on no row, and they have bounds by themselves; timestamp.c, timestamp_time takes the same ones.
"""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

from proxy.base.errors import Fault
from proxy.base.seconds_of_day import seconds_since_midnight
from proxy.base.sql_types import SqlType
from proxy.query.ir.expressions import (
    Arithmetic,
    Cast,
    ColumnRef,
    Constant,
    Expression,
    Extract,
    Inside,
    InsideLook,
    Operator,
    Parameter,
)
from proxy.query.ir.time_differences import quotient
from proxy.query.ir.typing_rules import constant

_LOOKS = {
    "hour": InsideLook.HOUR,
    "minute": InsideLook.MINUTE,
    "second": InsideLook.SECOND,
    "epoch": InsideLook.EPOCH,
}
INSTEAD = (
    "Write extract(hour FROM column), or extract(epoch FROM column), its seconds since midnight."
)


CLOCKS = (SqlType.TIMESTAMP, SqlType.TIMESTAMPTZ)
_HOUR, _MINUTE = 3600, 60


def is_time_of_day(part: Expression) -> bool:
    return part.type is not None and part.type.is_time_of_day


def clock_time(time: Expression) -> Expression:
    """time::time, of a timestamp: what the session's clock shows, if it has a zone.

    Given    time: which stands there three times
    """
    hours = _times(Extract("hour", time), _HOUR)
    minutes = _times(Extract("minute", time), _MINUTE)
    whole = Arithmetic(Operator.ADD, hours, minutes, SqlType.NUMERIC)
    return Arithmetic(Operator.ADD, whole, Extract("second", time), SqlType.CLOCK_TIME)


def _times(part: Expression, size: int) -> Arithmetic:
    factor = Constant(Fraction(size), SqlType.NUMERIC)
    return Arithmetic(Operator.MULTIPLY, part, factor, SqlType.NUMERIC)


def part_of_day(field: str, operand: Expression, position: int | None) -> Expression | None:
    """extract(field FROM a time of day); None where that is not available."""
    if field not in _LOOKS:
        return None
    if operand.type is SqlType.CLOCK_TIME:
        return _part_of_clock(field, operand)
    if not isinstance(operand, ColumnRef):
        return None
    return Inside(_LOOKS[field], operand, (), (), SqlType.NUMERIC, position)


def _part_of_clock(field: str, operand: Expression) -> Expression:
    """Of the timestamp itself, where it is at hand; of a column of a subquery, of its seconds."""
    seconds, of = as_seconds_of_day(operand), operand
    while isinstance(of, Arithmetic):
        of = of.left
    if field == "epoch":
        return seconds
    if isinstance(of, Extract):
        return replace(of, field=field)
    minutes = quotient(seconds, _MINUTE)
    if field == "second":
        return quotient(seconds, _MINUTE, SqlType.NUMERIC, remainder=True)
    if field == "hour":
        return Cast(quotient(seconds, _HOUR), SqlType.NUMERIC)
    return Cast(quotient(minutes, _MINUTE, remainder=True), SqlType.NUMERIC)


def as_seconds_of_day(part: Expression) -> Expression:
    """
    Given    a column, what a clock shows, or a constant that meets one
    Refuses  SYNTAX: a text that is no time; Fault: anything computed
    """
    match part:
        case Arithmetic() | ColumnRef() if part.type is SqlType.CLOCK_TIME:
            return replace(part, type=SqlType.NUMERIC)
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
        constant(str(part.value), SqlType.TIME_OF_DAY, part.position)
        raise Fault  # it is refused
    return found
