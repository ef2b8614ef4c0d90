"""Functions and operators of dates, timestamps, intervals and times of day, by the types of their arguments."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from proxy.base.instants import is_in_calendar, iso_text, seconds_of
from proxy.base.sql_types import SqlType
from proxy.base.time_spans import TimeSpan, span_of
from proxy.base.zones import UTC, Zone
from proxy.query.bind.nodes.written_bins import week_of_day
from proxy.query.canonical.canonical_tokens import unread
from proxy.query.canonical.signatures import Signatures, overloads
from proxy.query.canonical.values import TypedValue, value_of
from proxy.query.ir import expressions as ir
from proxy.query.ir.expression_walk import columns
from proxy.query.ir.given_fields import (
    CLOCK_FIELDS,
    FIELDS,
    MOST_BIN_WIDTH,
    bin_origin,
    bin_width,
    constant_zone,
)
from proxy.query.ir.time_differences import (
    checked_span,
    difference,
    interval_field,
)
from proxy.query.ir.times_of_day import difference_of_day, is_time_of_day, part_of_day
from proxy.query.ir.typing_rules import TRUNCATIONS, check_template, names_its_zone
from proxy.query.syntax.placeholders import ClientParameter, WrittenText

_DATE, _LOCAL, _INSTANT = (*("date", "timestamp without time zone", "timestamp with time zone"),)
_SECOND = 10**6
_INTERVALS = (SqlType.INTERVAL, SqlType.DURATION)


def _text_or_given(value: TypedValue) -> str | ClientParameter:
    part = value.expression
    if isinstance(part, ir.Parameter) and isinstance(part.source, ClientParameter):
        return part.source
    text = part.value if isinstance(part, ir.Constant) else None
    if not isinstance(text, str):
        raise unread("an expression where a constant text is needed")
    return text


def _operand(value: TypedValue) -> ir.Expression:
    """Of a function for timestamps with time zone a date itself: PostgreSQL casts it to that type alone. Any
    other cast is the client's own."""
    part = value.expression
    is_implied = part.type is SqlType.DATE and value.type is SqlType.TIMESTAMPTZ
    return part if is_implied else value.exact()


def _extract(result: SqlType) -> object:
    def made(arguments: Sequence[TypedValue]) -> TypedValue:
        field, operand = _text_or_given(arguments[0]), arguments[1]
        if isinstance(field, ClientParameter):
            if not operand.type.is_time:
                raise unread("a field that is no constant")
            given: ir.Given = (("field", field),)
            return _typed(ir.Extract("", _field_operand(operand), given=given), result)
        return _typed(_field(field.lower(), operand), result)

    return made


def _field_operand(operand: TypedValue) -> ir.Expression:
    """date_part() of a date is that of a timestamp to some versions of PostgreSQL."""
    part = operand.expression
    is_local = part.type is SqlType.DATE and operand.type is SqlType.TIMESTAMP
    return part if is_local else operand.exact()


def _typed(part: ir.Expression, result: SqlType) -> TypedValue:
    """date_part() is extract(), in double precision."""
    is_same = part.type is result or isinstance(part, ir.Constant)
    return value_of(part if is_same else ir.Cast(part, result), result)


def _field(name: str, operand: TypedValue) -> ir.Expression:
    part = operand.expression
    if operand.type in _INTERVALS:
        return _of_interval(name, operand)
    if is_time_of_day(part) or operand.type is SqlType.TIME_OF_DAY:
        of_day = part_of_day(name, part, None)
        if of_day is None:
            raise unread(f"{name} of a time of day")
        return of_day
    of = _field_operand(operand)
    on_clock = name in CLOCK_FIELDS and of.type is SqlType.DATE
    if name not in FIELDS or on_clock:
        raise unread(f"the field {name}")
    return ir.Extract(name, of)


def _of_interval(name: str, operand: TypedValue) -> ir.Expression:
    part = operand.expression
    if part.type is SqlType.DURATION and isinstance(part, ir.ColumnRef) and name == "epoch":
        return ir.Inside(ir.InsideLook.EPOCH, part, (), (), SqlType.NUMERIC)
    span = _constant_span(part)
    if span is not None and not span.months and name == "epoch":
        return ir.Constant(span.compared, SqlType.NUMERIC)
    # What is stored has months and days of its own; a difference has not.
    is_difference = isinstance(part, ir.Arithmetic) or part.type is SqlType.INTERVAL
    is_known = not isinstance(part, ir.Constant | ir.Parameter) and is_difference
    found = interval_field(name, part) if is_known else None
    if found is None:
        raise unread(f"{name} of this interval")
    return found


def _truncated(arguments: Sequence[TypedValue]) -> TypedValue:
    unit, operand = _text_or_given(arguments[0]), arguments[1]
    held: ir.Given = (("unit", unit),) if isinstance(unit, ClientParameter) else ()
    written = "" if isinstance(unit, ClientParameter) else unit.lower()
    if not held and written not in TRUNCATIONS:
        raise unread(f"date_trunc() to {written}")
    if len(arguments) == 3:
        zone, of_zone = _zone(arguments[2])
        part = operand.exact()
        return value_of(ir.DateTrunc(written, part, SqlType.TIMESTAMPTZ, zone, (*held, *of_zone)))
    part = _operand(operand)
    return value_of(ir.DateTrunc(written, part, operand.type, None, held), operand.type)


def _zone(value: TypedValue) -> tuple[Zone | None, ir.Given]:
    name = _text_or_given(value)
    if isinstance(name, ClientParameter):
        return None, (("zone", name),)
    return constant_zone(name, None), ()


def _in_zone(arguments: Sequence[TypedValue]) -> TypedValue:
    """AT TIME ZONE: between an instant and what a clock shows."""
    zone, given = _zone(arguments[0])
    operand = arguments[1].exact()
    if operand.type is SqlType.DATE:
        operand = ir.Cast(operand, SqlType.TIMESTAMPTZ)
    kind = SqlType.TIMESTAMP if operand.type is SqlType.TIMESTAMPTZ else SqlType.TIMESTAMPTZ
    known = None if zone is None else _known_in_zone(operand, zone)
    return value_of(ir.Cast(operand, kind, zone, given) if known is None else known, kind)


def _known_in_zone(operand: ir.Expression, zone: Zone) -> ir.Expression | None:
    """A constant in a zone, as a constant, so that conditions narrow keys by it; None where it depends on the
    session, or lies beyond the years in which the clock is known."""
    text = operand.value if isinstance(operand, ir.Constant) else None
    if not isinstance(operand, ir.Constant) or not isinstance(text, str):
        return None
    is_local = operand.type is SqlType.TIMESTAMP
    if not is_local and not (operand.type is SqlType.TIMESTAMPTZ and names_its_zone(text)):
        return None
    given = seconds_of(text, is_local=is_local)
    if given is None:
        return None
    at = zone.instant(given) if is_local else given
    meant = at if is_local else zone.local(at)
    if not zone.covers(at, at) or not is_in_calendar(meant):
        return None
    kind = SqlType.TIMESTAMPTZ if is_local else SqlType.TIMESTAMP
    return ir.Constant(iso_text(meant, kind), kind)


def _formatted(arguments: Sequence[TypedValue]) -> TypedValue:
    """to_char() of a time, which prints what the session's clock shows."""
    operand, template = _operand(arguments[0]), _text_or_given(arguments[1])
    if operand.type is not SqlType.TIMESTAMP:
        operand = ir.Cast(operand, SqlType.TIMESTAMP)
    if isinstance(template, ClientParameter):
        return value_of(ir.FormattedTime(operand, "", given=(("template", template),)))
    check_template(template, None)
    return value_of(ir.FormattedTime(operand, template))


def _date(arguments: Sequence[TypedValue]) -> TypedValue:
    """date(x), which is x::date."""
    return value_of(ir.Cast(arguments[0].exact(), SqlType.DATE), SqlType.DATE)


def _bin(arguments: Sequence[TypedValue]) -> TypedValue:
    """date_bin('15 minutes', column, timestamp '2001-01-01')"""
    stride, operand, origin = arguments[0].constant(), arguments[1].exact(), arguments[2].constant()
    kind = arguments[1].type
    given: ir.Given = ()
    width = start = 0
    if isinstance(stride, ir.Constant):
        width = bin_width(_constant_span(stride), None)
    else:
        given = (("width", _source(stride)),)
    if isinstance(origin, ir.Constant):
        start = bin_origin(origin.value if origin.type is kind else None, kind, None)
    else:
        given = (*given, ("origin", _source(origin)))
    return value_of(ir.TimeBin(operand, width, start, kind, given), kind)


def _source(part: ir.Parameter) -> ClientParameter | WrittenText:
    if not isinstance(part.source, ClientParameter | WrittenText):
        raise unread("the answer of a subquery in this place")
    return part.source


def _epoch_bin(arguments: Sequence[TypedValue]) -> TypedValue:
    """to_timestamp(floor(extract(epoch FROM column) / 300) * 300): the instant that begins a bin of seconds
    since 1970. A local time is counted as if it were one of UTC."""
    match arguments[0].expression:
        case ir.Arithmetic(
            operator=ir.Operator.MULTIPLY,
            left=ir.NumericCall(
                function=ir.NumericFunction.FLOOR,
                digits=0,
                operand=ir.Quotient(
                    operand=ir.Extract(field="epoch", operand=operand),
                    divisor=ir.Constant(value=Fraction() as divisor),
                    remainder=False,
                ),
            ),
            right=ir.Constant(value=Fraction() as factor),
        ) if divisor == factor and divisor.denominator == 1 and 0 < divisor <= MOST_BIN_WIDTH:
            if operand.type is not SqlType.TIMESTAMPTZ:
                operand = ir.Cast(operand, SqlType.TIMESTAMPTZ, UTC)
            found = ir.TimeBin(operand, int(divisor * _SECOND), 0, SqlType.TIMESTAMPTZ)
            return value_of(found, SqlType.TIMESTAMPTZ)
        case _:
            raise unread("to_timestamp() of this expression")


def _difference(arguments: Sequence[TypedValue]) -> TypedValue:
    """Of two times: of dates the days, else an interval."""
    left, right = (one.expression for one in arguments)
    meeting = arguments[0].type
    if not (columns(left) or columns(right)):
        raise unread("a difference of constants")
    kind = SqlType.INT4 if meeting is SqlType.DATE else SqlType.INTERVAL
    return value_of(difference(left, right, meeting), kind)


def _difference_of_day(arguments: Sequence[TypedValue]) -> TypedValue:
    left, right = (one.expression for one in arguments)
    return value_of(difference_of_day(left, right), SqlType.INTERVAL)


def _later(arguments: Sequence[TypedValue]) -> TypedValue:
    if not arguments[0].type.is_time:
        arguments = arguments[::-1]
    return _moved(arguments, is_back=False)


def _earlier(arguments: Sequence[TypedValue]) -> TypedValue:
    return _moved(arguments, is_back=True)


def _moved(arguments: Sequence[TypedValue], *, is_back: bool) -> TypedValue:
    operand, by = arguments
    part = operand.exact()
    is_days = operand.type is SqlType.DATE and by.type.is_integer
    kind = SqlType.TIMESTAMP if operand.type is SqlType.DATE and not is_days else operand.type
    if is_back and is_days:
        week = week_of_day(part, by.expression)
        if week is not None:
            return value_of(week, SqlType.DATE)
    if isinstance(by.expression, ir.Parameter):
        source = _source(by.expression)
        return value_of(ir.Shift(part, 0, 0, 0, kind, (("by", source),), is_back), kind)
    span = _constant_span(by.expression)
    if span is None:
        raise unread("an interval that is no constant")
    if not columns(part):
        raise unread("a time moved that is a constant")
    span = checked_span(-span if is_back else span, None)
    return value_of(ir.Shift(part, span.months, span.days, span.microseconds, kind), kind)


def _constant_span(part: ir.Expression) -> TimeSpan | None:
    value = part.value if isinstance(part, ir.Constant) else None
    if isinstance(value, Fraction) and abs(value) < 10**9 and value.denominator == 1:
        return TimeSpan(days=int(value))
    return span_of(value) if isinstance(value, str) else None


_TIMES = ((_DATE,), (_LOCAL,), (_INSTANT,))
_TAKEN_APART = tuple(
    ("text", kind) for kind in (_DATE, _LOCAL, _INSTANT, "interval", "time without time zone")
)
_MOVED = (
    *((_DATE, kind) for kind in ("integer", "interval")),
    *((kind, "interval") for kind in (_LOCAL, _INSTANT)),
)
_TRUNCATED = (("text", _LOCAL), ("text", _INSTANT), ("text", _INSTANT, "text"))
TIMES: Signatures = {
    **overloads("extract", _TAKEN_APART, _extract(SqlType.NUMERIC)),  # type: ignore[arg-type]
    **overloads("date_part", _TAKEN_APART, _extract(SqlType.FLOAT8)),  # type: ignore[arg-type]
    **overloads("date_trunc", _TRUNCATED, _truncated),
    # AT TIME ZONE hides implicit casts, of which that of a date is to timestamp with time zone.
    **overloads("timezone", (("text", _DATE), ("text", _LOCAL), ("text", _INSTANT)), _in_zone),
    **overloads("to_char", ((_LOCAL, "text"), (_INSTANT, "text")), _formatted),
    **overloads("date_bin", (("interval", _LOCAL, _LOCAL), ("interval", _INSTANT, _INSTANT)), _bin),
    "to_timestamp(double precision)": _epoch_bin,
    **overloads("date", ((_LOCAL,), (_INSTANT,)), _date),
    **overloads("-", ((_DATE, _DATE), (_LOCAL, _LOCAL), (_INSTANT, _INSTANT)), _difference),
    "-(time without time zone,time without time zone)": _difference_of_day,
    **overloads("+", (*_MOVED, *(one[::-1] for one in _MOVED)), _later),
    **overloads("-", _MOVED, _earlier),
}
