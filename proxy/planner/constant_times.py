"""Fields of constant times: what extract() gives of them by the clock that they are read by."""

from __future__ import annotations

from calendar import monthrange
from collections.abc import Iterator
from datetime import datetime, timedelta
from fractions import Fraction

from proxy.base.instants import is_in_calendar, moment, seconds_of
from proxy.base.sql_types import SqlType
from proxy.base.zones import UTC
from proxy.query.ir.expressions import Cast, Constant, Expression, Extract, Shift, TimeBin

_DAY = 86_400


def constant_field(extract: Extract) -> Fraction | None:
    """None where the operand is no constant, or beyond the years that are known here."""
    at = _seconds(extract.operand)
    if at is None or not is_in_calendar(at):
        return None
    match extract.field:
        case "epoch":
            return at
        case "second":
            return at % 60
        case field:
            return Fraction(extracted_field(moment(at), field))


def _seconds(time: Expression) -> Fraction | None:
    """Since 1970-01-01: of an instant, or of what a clock shows."""
    match time:
        case Constant(value=str() as text, type=kind) if kind is not None and kind.is_time:
            return seconds_of(text, is_local=kind is not SqlType.TIMESTAMPTZ)
        case Cast(operand=operand, type=kind) if kind.is_time:
            at, zone = _seconds(operand), time.zone or UTC
            if at is None or kind is operand.type:
                return at
            if operand.type is SqlType.TIMESTAMPTZ:
                at = zone.local(at) if zone.covers(at, at) else None
            elif kind is SqlType.TIMESTAMPTZ:
                instant = zone.instant(at)
                at = instant if zone.covers(instant, instant) else None
            return Fraction(at // _DAY * _DAY) if at is not None and kind is SqlType.DATE else at
        case _:
            return None


def extracted_field(at: datetime, field: str) -> int:
    """A field of extract() of what a clock shows."""
    match field:
        case "minute":
            return at.minute
        case "hour":
            return at.hour
        case "day":
            return at.day
        case "dow":
            return at.isoweekday() % 7
        case "isodow":
            return at.isoweekday()
        case "doy":
            return at.timetuple().tm_yday
        case "week":
            return at.isocalendar()[1]
        case "month":
            return at.month
        case "quarter":
            return (at.month + 2) // 3
        case "isoyear":
            return at.isocalendar()[0]
        case _:
            return at.year


# --- Where times lie that are moved by an interval, and the bins that begin between two of them. In seconds.


_SECOND = 10**6


def shifted_time(seconds: Fraction, shift: Shift) -> Fraction | None:
    """A time as PostgreSQL moves it: of a month without the day, its last one (timestamp.c,
    timestamp_pl_interval). None: beyond the years 1 to 9999."""
    if not is_in_calendar(seconds):
        return None
    if shift.months:
        at = moment(seconds)
        months = at.year * 12 + at.month - 1 + shift.months
        year, month = months // 12, months % 12 + 1
        if not 1 <= year <= 9999:
            return None
        day = min(at.day, monthrange(year, month)[1])
        seconds += (at.replace(year=year, month=month, day=day) - at) // timedelta(days=1) * _DAY
    seconds += shift.days * _DAY + Fraction(shift.microseconds, _SECOND)
    return seconds if is_in_calendar(seconds) else None


def shifted_ends(low: Fraction, high: Fraction, shift: Shift) -> tuple[Fraction, Fraction] | None:
    """Between which two times lies what lay between two. Months keep the order of days only: the last of
    January at one o'clock comes before the 30th at two, once both are the last of February."""
    if shift.months:
        low, high = low // _DAY * Fraction(_DAY), (high // _DAY + 1) * _DAY - Fraction(1, _SECOND)
    ends = shifted_time(low, shift), shifted_time(high, shift)
    return None if ends[0] is None or ends[1] is None else (ends[0], ends[1])


def bin_starts(low: Fraction, high: Fraction, bins: TimeBin) -> Iterator[Fraction]:
    """Of all bins that hold some time from one to another."""
    width, origin = Fraction(bins.width, _SECOND), Fraction(bins.origin, _SECOND)
    start = origin + (low - origin) // width * width
    while start <= high:
        yield start
        start += width
