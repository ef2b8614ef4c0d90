"""Where times lie that are moved by an interval, and the bins that begin between two of them. In seconds."""

from __future__ import annotations

from calendar import monthrange
from collections.abc import Iterator
from datetime import timedelta
from fractions import Fraction

from proxy.base.instants import is_in_calendar, moment
from proxy.query.ir.expressions import Shift, TimeBin

_DAY = 86_400
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
