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
from proxy.base.sql_types import SqlType
from proxy.base.written_times import seconds_since_midnight
from proxy.query.ir import expressions as ir
from proxy.query.ir.time_differences import quotient
from proxy.query.ir.typing_rules import constant

_LOOKS = {
    "hour": ir.InsideLook.HOUR,
    "minute": ir.InsideLook.MINUTE,
    "second": ir.InsideLook.SECOND,
    "epoch": ir.InsideLook.EPOCH,
}
INSTEAD = (
    "Write extract(hour FROM column), or extract(epoch FROM column), its seconds since midnight."
)


CLOCKS = (SqlType.TIMESTAMP, SqlType.TIMESTAMPTZ)
_HOUR, _MINUTE = 3600, 60


def is_time_of_day(part: ir.Expression) -> bool:
    return part.type is not None and part.type.is_time_of_day


def clock_time(time: ir.Expression) -> ir.Expression:
    """time::time, of a timestamp: what the session's clock shows, if it has a zone.

    Given    time: which stands there three times
    """
    hours = _times(ir.Extract("hour", time), _HOUR)
    minutes = _times(ir.Extract("minute", time), _MINUTE)
    whole = ir.Arithmetic(ir.Operator.ADD, hours, minutes, SqlType.NUMERIC)
    return ir.Arithmetic(ir.Operator.ADD, whole, ir.Extract("second", time), SqlType.CLOCK_TIME)


def _times(part: ir.Expression, size: int) -> ir.Arithmetic:
    factor = ir.Constant(Fraction(size), SqlType.NUMERIC)
    return ir.Arithmetic(ir.Operator.MULTIPLY, part, factor, SqlType.NUMERIC)


def part_of_day(field: str, operand: ir.Expression, position: int | None) -> ir.Expression | None:
    """extract(field FROM a time of day); None where that is not available."""
    if field not in _LOOKS:
        return None
    if operand.type is SqlType.CLOCK_TIME:
        return _part_of_clock(field, operand)
    if not isinstance(operand, ir.ColumnRef):
        return None
    return ir.Inside(_LOOKS[field], operand, (), (), SqlType.NUMERIC, position)


def _part_of_clock(field: str, operand: ir.Expression) -> ir.Expression:
    """Of the timestamp itself, where it is at hand; of a column of a subquery, of its seconds."""
    seconds, of = as_seconds_of_day(operand), operand
    while isinstance(of, ir.Arithmetic):
        of = of.left
    if field == "epoch":
        return seconds
    if isinstance(of, ir.Extract):
        return replace(of, field=field)
    minutes = quotient(seconds, _MINUTE)
    if field == "second":
        return quotient(seconds, _MINUTE, SqlType.NUMERIC, remainder=True)
    if field == "hour":
        return ir.Cast(quotient(seconds, _HOUR), SqlType.NUMERIC)
    return ir.Cast(quotient(minutes, _MINUTE, remainder=True), SqlType.NUMERIC)


def as_seconds_of_day(part: ir.Expression) -> ir.Expression:
    """
    Given    a column, what a clock shows, or a constant that meets one
    Refuses  SYNTAX: a text that is no time; Fault: anything computed
    """
    match part:
        case ir.Arithmetic() | ir.ColumnRef() if part.type is SqlType.CLOCK_TIME:
            return replace(part, type=SqlType.NUMERIC)
        case ir.ColumnRef():
            return ir.Inside(ir.InsideLook.EPOCH, part, (), (), SqlType.NUMERIC, part.position)
        case ir.Parameter():  # whose value becomes its seconds when it is bound
            return replace(part, type=SqlType.NUMERIC)
        case ir.Constant(value=None):
            return replace(part, type=SqlType.NUMERIC)
        case ir.Constant():
            return ir.Constant(_seconds(part), SqlType.NUMERIC, part.position)
        case _:
            raise Fault  # no other form is of this type (typing_rules.common)


def difference_of_day(left: ir.Expression, right: ir.Expression) -> ir.Expression:
    """An interval without days and months (date.c, time_mi_time)."""
    one, other = as_seconds_of_day(left), as_seconds_of_day(right)
    return ir.Arithmetic(ir.Operator.SUBTRACT, one, other, SqlType.INTERVAL)


def _seconds(part: ir.Constant) -> Fraction:
    found = seconds_since_midnight(str(part.value).strip(" \t\n\r\f\v"))
    if found is None:
        constant(str(part.value), SqlType.TIME_OF_DAY, part.position)
        raise Fault  # it is refused
    return found
