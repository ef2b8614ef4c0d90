"""Dates as days, timestamps as seconds since 1970-01-01 (UTC), and back to ISO text."""

from __future__ import annotations

import re
from datetime import date, datetime, timedelta, timezone
from fractions import Fraction
from typing import Literal

from proxy.base.sql_types import SqlType

_TIME = re.compile(
    r"(\d{4}-\d\d-\d\d)(?:[ T](\d\d):(\d\d)(?::(\d\d)(?:\.(\d{1,6}))?)?"
    r"(?:Z|([+-])(\d\d)(?::?(\d\d))?)?)?"
)
DAY_SECONDS = 86_400
_EPOCH = datetime(1970, 1, 1, tzinfo=timezone.utc)
_MICROSECOND = timedelta(microseconds=1)
_FIRST = (datetime.min.replace(tzinfo=timezone.utc) - _EPOCH) // _MICROSECOND
_LAST = (datetime.max.replace(tzinfo=timezone.utc) - _EPOCH) // _MICROSECOND


def iso_text(value: Fraction, kind: SqlType) -> str:
    """The text PostgreSQL reads for a day or second number.

    >>> iso_text(Fraction(365), SqlType.DATE)
    '1971-01-01'
    >>> iso_text(Fraction(1, 2), SqlType.TIMESTAMPTZ)
    '1970-01-01 00:00:00.500000+00'
    """
    if kind is SqlType.DATE:
        return (date(1970, 1, 1) + timedelta(days=int(value))).isoformat()
    return time_text(moment(value), kind, "microseconds")


def time_text(
    at: datetime, kind: SqlType, digits: Literal["seconds", "microseconds"] = "seconds"
) -> str:
    """What a clock shows, with four digits of the year: of fewer, which strftime() writes on some systems,
    PostgreSQL takes the last two.

    >>> time_text(datetime(1, 2, 3), SqlType.TIMESTAMP)
    '0001-02-03 00:00:00'
    """
    text = at.replace(tzinfo=None).isoformat(sep=" ", timespec=digits)
    return text + "+00" if kind is SqlType.TIMESTAMPTZ else text


def moment(seconds: Fraction) -> datetime:
    """The instant of a second number, in UTC; beyond the years 1 to 9999 the nearest one in them."""
    is_whole = seconds.denominator == 1  # keys of many days or minutes have no fractions
    microseconds = seconds.numerator * 10**6 if is_whole else int(seconds * 10**6)
    return _EPOCH + timedelta(microseconds=min(max(microseconds, _FIRST), _LAST))


def is_in_calendar(seconds: Fraction) -> bool:
    """Whether the instant of a second number is within the years 1 to 9999."""
    scale = seconds.denominator
    return _FIRST * scale <= seconds.numerator * 10**6 <= _LAST * scale


def seconds_of(text: str, *, is_local: bool = False) -> Fraction | None:
    """The second number of a date or time in ISO form; without a zone that of UTC. None: it is none.

    Given    is_local: a zone that it names is not looked at, as PostgreSQL does for a time without one

    >>> seconds_of("1970-01-02"), seconds_of("1970-01-01 01:00:00.5+01"), seconds_of("infinity")
    (Fraction(86400, 1), Fraction(1, 2), None)
    """
    found = _TIME.fullmatch(text)
    if found is None:
        return None
    day, hours, minutes, seconds, part, sign, zone_hours, zone_minutes = found.groups()
    try:
        at = datetime.fromisoformat(day).replace(tzinfo=timezone.utc)
    except ValueError:
        return None
    clock = int(hours or 0) * 3600 + int(minutes or 0) * 60 + int(seconds or 0)
    if sign is not None and not is_local:
        east = int(zone_hours) * 3600 + int(zone_minutes or 0) * 60
        clock += east if sign == "-" else -east
    whole = (at - _EPOCH).days * DAY_SECONDS + clock
    return Fraction(whole if part is None else whole + Fraction(int(part.ljust(6, "0")), 10**6))
