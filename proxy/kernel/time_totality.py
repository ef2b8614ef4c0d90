"""Rules of times: PostgreSQL computes a node on every row, as its operand is within the calendar.

It raises 22008 where a time leaves the calendar of its type: timestamps go from 4713 BC to 294276, dates to
5874897. What is stored may lie at either end, or be infinite. So an operand has to be cut, to the policy's
bounds or to the years 1 to 9999, and what moves it is added up. Sources are in TOTALITY.md 2.
"""

from __future__ import annotations

from fractions import Fraction

from proxy.base.instants import DAY_SECONDS, is_in_calendar
from proxy.base.sql_types import SqlType
from proxy.base.time_spans import MOST_DAYS, TimeSpan
from proxy.base.time_templates import template
from proxy.base.written_times import TRUNCATIONS
from proxy.base.zones import Zone, zone_named
from proxy.kernel.known_values import (
    FIRST_SECOND,
    LAST_SECOND,
    Value,
    refused,
    within,
)
from proxy.query.ir.expressions import (
    Cast,
    Clamped,
    DateTrunc,
    Extract,
    FormattedTime,
    Shift,
    TimeBin,
)

_DAY = Fraction(DAY_SECONDS)
# Of a timestamp, with a year left at both ends.
_FIRST_OF_ALL, _LAST_OF_ALL = Fraction(-210_835_000_000), Fraction(9_224_286_000_000)
_YEAR = 367 * _DAY
_MICROSECONDS = 10**6
_MOST_WIDTH = 31 * DAY_SECONDS * _MICROSECONDS
# date_bin() counts from an origin before all of these, and its microseconds have to fit in a bigint.
_FIRST_BINNED = FIRST_SECOND - MOST_DAYS * _DAY
_LAST_BINNED = LAST_SECOND + MOST_DAYS * _DAY
_CLOCK_FIELDS = frozenset(["hour", "minute", "second"])
_FIELDS = _CLOCK_FIELDS | {
    *("epoch", "year", "isoyear", "month", "day"),
    *("quarter", "dow", "isodow", "doy", "week"),
}


def check_printed_time(kind: SqlType, *ends: Fraction) -> None:
    """Let days, or seconds, pass that a statement has as the plan has them.

    Totality: they are whole days of a date, whole microseconds of others, within the years 1 to 9999. Others
    are printed as a moment beside them (base.instants), so that a value lies outside of its bounds.

    >>> check_printed_time(SqlType.DATE, Fraction(1))
    >>> check_printed_time(SqlType.DATE, Fraction(1, 2))
    Traceback (most recent call last):
    proxy.kernel.refusals.NotPrivate: the statement could not be run
    """
    steps, seconds = (1, DAY_SECONDS) if kind is SqlType.DATE else (_MICROSECONDS, 1)
    for end in ends:
        if (end * steps).denominator != 1 or not is_in_calendar(end * seconds):
            raise refused("a bound of times that is printed as another one")


def _moved(operand: Value, down: Fraction, up: Fraction) -> Value:
    """A time that is moved by so much at most, if it stays in the calendar of timestamps."""
    if operand.is_null:
        return operand
    if operand.low is None or operand.high is None:
        raise refused("a time that is moved and may be at the end of the calendar")
    low, high = operand.low - down, operand.high + up
    if low < _FIRST_OF_ALL or high > _LAST_OF_ALL:
        raise refused("a time that is moved out of the calendar")
    return within(low, high)


def _check_zone(zone: Zone | None) -> None:
    """Refuse a clock of no zone: its name is looked up when the first row comes (22023).

    That the server knows it by this name it has been asked before the charge (engine.session_zone).
    """
    if zone is not None and zone_named(zone.name) != zone:
        raise refused("a zone that is not known")


def time_clamp_rule(clamped: Clamped, operand: Value) -> Value:
    """Bound a time by the clamp that is printed: days of a date, seconds of others.

    Totality: the earlier and the later of two times raise for none, if both are of one type. A date among
    timestamps would be cast to one first.

    >>> from tests.kernel.examples import column
    >>> day = Clamped(column("r1", "d", SqlType.DATE), Fraction(0), Fraction(1), SqlType.DATE)
    >>> time_clamp_rule(day, Value()).high
    Fraction(86400, 1)
    """
    if clamped.operand.type is not clamped.type:
        raise refused("a time that is cast where it is clamped")
    if operand.is_null:
        return operand
    if clamped.low > clamped.high:
        raise refused("a clamp that is none")
    scale = _DAY if clamped.type is SqlType.DATE else Fraction(1)
    # Ends beyond the years 1 to 9999 are printed as these (base.instants).
    low = min(max(clamped.low * scale, FIRST_SECOND), LAST_SECOND)
    high = max(min(clamped.high * scale, LAST_SECOND), FIRST_SECOND)
    return within(low, high)


def truncation_rule_of_time(date_trunc: DateTrunc, operand: Value) -> Value:
    """Bound date_trunc(): a year before its operand at most, by a clock that is a day away.

    Totality: it raises at the beginning of the calendar, and for a unit that it does not know (22023).

    >>> from tests.kernel.examples import column
    >>> cut = DateTrunc("year", column("r1", "d", SqlType.DATE), SqlType.TIMESTAMPTZ)
    >>> truncation_rule_of_time(cut, within(Fraction(0), Fraction(0))).high
    Fraction(86400, 1)
    >>> truncation_rule_of_time(cut, Value())
    Traceback (most recent call last):
    proxy.kernel.refusals.NotPrivate: the statement could not be run
    """
    if date_trunc.unit not in TRUNCATIONS:
        raise refused("a time that is cut to no unit")
    _check_zone(date_trunc.zone)
    return _moved(operand, _YEAR, _DAY)


def shift_rule(shift: Shift, operand: Value) -> Value:
    """Bound a time that is moved: whatever order its parts are added in, it stays within their sum.

    Totality: months, days and seconds are added one after the other, each with its sign
    (compiler.expression_sql).

    >>> from tests.kernel.examples import column
    >>> later = Shift(column("r1", "d", SqlType.DATE), 0, 3, 0, SqlType.DATE)
    >>> shift_rule(later, within(Fraction(0), Fraction(0))).high / 86_400
    Fraction(4, 1)
    """
    span = TimeSpan(months=shift.months, days=shift.days, microseconds=shift.microseconds)
    most = span.days_at_most * _DAY
    return _moved(operand, most, most)


def bin_rule(time_bin: TimeBin, operand: Value) -> Value:
    """Bound date_bin(): a width before its operand at most.

    Totality: it raises for a width of 0 or less, where the distance from the origin is no bigint of
    microseconds, and at the end of the calendar. The origin is printed before all of the operand
    (compiler.expression_sql).

    >>> from tests.kernel.examples import column
    >>> width = TimeBin(column("r1", "ts", SqlType.TIMESTAMP), 10**6, 0, SqlType.TIMESTAMP)
    >>> bin_rule(width, within(Fraction(0), Fraction(9))).low
    Fraction(-1, 1)
    """
    if not 0 < time_bin.width <= _MOST_WIDTH:
        raise refused("bins of no width, or too large a one")
    if not operand.is_null:
        low, high = operand.low, operand.high
        if low is None or high is None or low < _FIRST_BINNED or high > _LAST_BINNED:
            raise refused("a time before the origin of bins")
    return _moved(operand, Fraction(time_bin.width, _MICROSECONDS), Fraction(0))


def template_rule(formatted: FormattedTime, operand: Value) -> Value:
    """Let to_char() pass of a timestamp that has ends, by a template of base.time_templates.

    Totality: its fields print numbers and English names. A date would be cast to a timestamp first, which is
    total where it has ends. Of a number the template would be another one, which may raise.

    >>> from tests.kernel.examples import column
    >>> month = FormattedTime(column("r1", "ts", SqlType.TIMESTAMP), "YYYY-MM")
    >>> template_rule(month, within(Fraction(0), Fraction(9))) == Value()
    True
    >>> template_rule(month, Value())
    Traceback (most recent call last):
    proxy.kernel.refusals.NotPrivate: the statement could not be run
    """
    found, kind = template(formatted.template), formatted.operand.type
    if found is None or kind is None or not kind.is_time:
        raise refused("a template that is not known")
    _moved(operand, Fraction(0), Fraction(0))
    return Value()


def extract_rule(extract: Extract) -> Value:
    """Let a field of a time pass that its type has. It has no ends: of infinity a year is infinite.

    Totality: a date has no hour (0A000), and no field is asked for that PostgreSQL does not know (22023).

    >>> from tests.kernel.examples import column
    >>> extract_rule(Extract("year", column("r1", "d", SqlType.DATE))) == Value()
    True
    >>> extract_rule(Extract("hour", column("r1", "d", SqlType.DATE)))
    Traceback (most recent call last):
    proxy.kernel.refusals.NotPrivate: the statement could not be run
    """
    kind = extract.operand.type
    if kind is None or not kind.is_time or extract.field not in _FIELDS:
        raise refused("a field that is not known")
    if kind is SqlType.DATE and extract.field in _CLOCK_FIELDS:
        raise refused("a field of a clock, of a date")
    return Value()


def cast_time_rule(cast: Cast, operand: Value) -> Value:
    """Bound a time that is cast to another type of time, by a clock that is a day away at most.

    Totality: a timestamp has a date. A date becomes a timestamp, and a time is read on another clock, where it
    has ends. Of what is no time nothing is known.

    >>> from tests.kernel.examples import column
    >>> cast = Cast(column("r1", "d", SqlType.DATE), SqlType.TIMESTAMP)
    >>> cast_time_rule(cast, within(Fraction(0), Fraction(9))).high
    Fraction(86409, 1)
    >>> cast_time_rule(cast, Value())
    Traceback (most recent call last):
    proxy.kernel.refusals.NotPrivate: the statement could not be run
    """
    below = cast.operand.type
    if below is None or not below.is_time:
        raise refused("a cast of what is no time")
    _check_zone(cast.zone)
    is_by_clock = cast.zone is not None and not cast.zone.is_utc
    if is_by_clock or (below is SqlType.DATE and cast.type is not SqlType.DATE):
        return _moved(operand, _DAY, _DAY)
    return Value() if operand.low is None else _moved(operand, _DAY, _DAY)
