"""Differences of times, and the seconds by which PostgreSQL compares intervals.

A difference is the numbers of seconds of both sides, one taken from the other, of type interval until it is
compared or taken apart: it never reaches the database as an interval. PostgreSQL's own is exact in microseconds
and has no months (timestamp.c, timestamp_mi), so that nothing is lost.
"""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

from proxy.base.errors import Code, Fault, Refusal
from proxy.base.sql_types import SqlType
from proxy.base.time_spans import MOST_DAYS, TimeSpan
from proxy.base.times_of_day import seconds_since_midnight
from proxy.base.written_spans import span_of
from proxy.query.ir import expressions as ir
from proxy.query.ir.typing_rules import constant

_DAY = 86_400


def checked_span(span: TimeSpan, position: int | None) -> TimeSpan:
    """
    Refuses  UNSUPPORTED: an interval of more than a thousand years
    """
    if span.days_at_most > MOST_DAYS:
        raise Refusal(
            Code.UNSUPPORTED,
            "an interval on protected columns may have a thousand years at most",
            "Use a shorter one.",
            position,
        )
    return span


def difference(left: ir.Expression, right: ir.Expression, meeting: SqlType) -> ir.Expression:
    """Of two times in the type in which they meet: of dates the days, else an interval."""
    one, other = (_seconds(side, meeting) for side in (left, right))
    between = ir.Arithmetic(ir.Operator.SUBTRACT, one, other, SqlType.NUMERIC)
    if meeting is SqlType.DATE:
        return quotient(between, _DAY, SqlType.INT4)
    return replace(between, type=SqlType.INTERVAL)


def _seconds(side: ir.Expression, meeting: SqlType) -> ir.Expression:
    return ir.Extract("epoch", side if side.type is meeting else ir.Cast(side, meeting))


def quotient(
    operand: ir.Expression, divisor: int, kind: SqlType = SqlType.INT8, *, remainder: bool = False
) -> ir.Quotient:
    """In whole numbers, cut towards zero, as PostgreSQL cuts the fields of an interval."""
    return ir.Quotient(operand, ir.Constant(Fraction(divisor), kind), remainder, kind)


def as_seconds(part: ir.Expression) -> ir.Expression:
    """An interval as the number of seconds by which it is compared.

    Refuses  SYNTAX: a text that is no interval
    """
    if isinstance(part, ir.ColumnRef) and part.type is SqlType.INTERVAL:  # a difference below
        return replace(part, type=SqlType.NUMERIC)
    if isinstance(part, ir.ColumnRef):
        return ir.Inside(ir.InsideLook.COMPARED, part, (), (), SqlType.NUMERIC, part.position)
    if isinstance(part, ir.Parameter):  # whose value becomes its seconds when it is bound
        return replace(part, type=SqlType.NUMERIC)
    if not isinstance(part, ir.Constant):
        return replace(part, type=SqlType.NUMERIC) if isinstance(part, ir.Arithmetic) else part
    if part.value is None:
        return replace(part, type=SqlType.NUMERIC)
    span = span_of(str(part.value))
    if span is None:
        raise Refusal(
            Code.SYNTAX,
            "a constant of type interval cannot be read",
            "Write one number of one unit: interval '90 minutes'.",
            part.position,
        )
    return ir.Constant(span.compared, SqlType.NUMERIC, part.position)


def interval_field(field: str, operand: ir.Expression) -> ir.Expression | None:
    """extract(field FROM a difference); None where that is not available."""
    seconds = as_seconds(operand)
    match field:
        case "epoch":
            return seconds
        case "day":
            found = quotient(seconds, _DAY)
        case "hour":
            found = quotient(quotient(seconds, 3600), 24, remainder=True)
        case "minute":
            found = quotient(quotient(seconds, 60), 60, remainder=True)
        case _:
            return None
    return ir.Cast(found, SqlType.NUMERIC)


def age_field(field: str, later: ir.Expression, earlier: ir.Expression) -> ir.Expression | None:
    """extract(field FROM age(later, earlier)): of the whole months between them, which are cut towards zero, as
    age() changes its signs where the first is the earlier (timestamp.c, timestamp_age)."""
    months = quotient(
        ir.Arithmetic(ir.Operator.SUBTRACT, _months(later), _months(earlier), SqlType.NUMERIC),
        32 * _DAY,
    )
    match field:
        case "year":
            return ir.Cast(quotient(months, 12), SqlType.NUMERIC)
        case "month":
            return ir.Cast(quotient(months, 12, remainder=True), SqlType.NUMERIC)
        case _:
            return None


def _months(time: ir.Expression) -> ir.Expression:
    """Months, of which each has as many seconds as 32 days, and the seconds since the month began."""
    found: ir.Expression = ir.Extract("year", time)
    for field, size in (("month", 12), ("day", 32)):
        found = _and(found, size, ir.Extract(field, time))
    if time.type is SqlType.DATE:
        return _times(found, _DAY)
    for field, size in (("hour", 24), ("minute", 60), ("second", 60)):
        found = _and(found, size, ir.Extract(field, time))
    return found


def _and(found: ir.Expression, size: int, part: ir.Expression) -> ir.Expression:
    return ir.Arithmetic(ir.Operator.ADD, _times(found, size), part, SqlType.NUMERIC)


def _times(found: ir.Expression, size: int) -> ir.Arithmetic:
    factor = ir.Constant(Fraction(size), SqlType.NUMERIC)
    return ir.Arithmetic(ir.Operator.MULTIPLY, found, factor, SqlType.NUMERIC)


# Times of day, as the seconds since midnight by which PostgreSQL compares them (date.c, time_cmp): each is a
# number of microseconds, so that equal times have equal seconds, and the other way round.
#
# What is stored as such is a column (TIME_OF_DAY). What a clock shows at a timestamp, column::time, is the
# sum of its hours, minutes and seconds from the start (CLOCK_TIME): no value of type time is made of it.
# extract() of these fails on no row, and they have bounds by themselves; timestamp.c, timestamp_time takes
# the same ones.


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
            return ir.Constant(_since_midnight(part), SqlType.NUMERIC, part.position)
        case _:
            raise Fault  # no other form is of this type (typing_rules.common)


def difference_of_day(left: ir.Expression, right: ir.Expression) -> ir.Expression:
    """An interval without days and months (date.c, time_mi_time)."""
    one, other = as_seconds_of_day(left), as_seconds_of_day(right)
    return ir.Arithmetic(ir.Operator.SUBTRACT, one, other, SqlType.INTERVAL)


def _since_midnight(part: ir.Constant) -> Fraction:
    found = seconds_since_midnight(str(part.value).strip(" \t\n\r\f\v"))
    if found is None:
        constant(str(part.value), SqlType.TIME_OF_DAY, part.position)
        raise Fault  # it is refused
    return found
