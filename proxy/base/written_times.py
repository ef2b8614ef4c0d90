"""Times in ISO form, and the units to which they are cut."""

from __future__ import annotations

import re
from datetime import date
from fractions import Fraction

# The units of date_trunc().
TRUNCATIONS = frozenset(["second", "minute", "hour", "day", "week", "month", "quarter", "year"])
# Digits are those of ASCII: PostgreSQL knows no others.
_ISO_TIMESTAMP = re.compile(
    r"([0-9]{4}-[0-9]{2}-[0-9]{2})"
    r"(?:[ T]([0-9]{2}):([0-9]{2})(?::([0-9]{2})(?:\.[0-9]{1,6})?)?"
    r"(?:(?P<utc>Z)|[+-](?P<zone>[0-9]{2})(?::?([0-9]{2}))?)?)?"
)
# Numbers of hours, minutes, seconds; PostgreSQL's time zones are within 15:59 of UTC.
_CLOCK = (24, 60, 60, 16, 60)


def is_instant(text: str) -> bool:
    """Whether this is a date or time in ISO form, with the numbers of a calendar and a clock.

    >>> is_instant("2026-02-28 23:59:59.5+14"), is_instant("2026-02-29"), is_instant("2026-01-01 24:00")
    (True, False, False)
    """
    found = _ISO_TIMESTAMP.fullmatch(text)
    if found is None:
        return False
    day, hours, minutes, seconds, _, *zone = found.groups()
    clock = (hours, minutes, seconds, *zone)
    try:
        date.fromisoformat(day)
    except ValueError:
        return False
    return all(int(n) < most for n, most in zip(clock, _CLOCK, strict=True) if n is not None)


def names_its_zone(text: str) -> bool:
    """Whether a time in ISO form says how far it is from UTC.

    >>> names_its_zone("2026-01-01 00:00+14"), names_its_zone("2026-01-01 00:00:00")
    (True, False)
    """
    found = _ISO_TIMESTAMP.fullmatch(text)
    return found is not None and (found["utc"] or found["zone"]) is not None


# Times of day without a zone, from 00:00:00 to 24:00:00, as seconds since midnight.


_TEXT = re.compile(r"([0-9]{1,2}):([0-9]{2})(?::([0-9]{2}(?:\.[0-9]{1,6})?))?", re.ASCII)
_DAY = 86_400


def seconds_since_midnight(text: str) -> Fraction | None:
    """Given a text in ISO form, which means the same in every session; None: it is none.

    >>> seconds_since_midnight("9:30"), seconds_since_midnight("24:00:00.000001")
    (Fraction(34200, 1), None)
    """
    found = _TEXT.fullmatch(text)
    if found is None:
        return None
    hours, minutes, seconds = int(found[1]), int(found[2]), Fraction(found[3] or 0)
    since = hours * 3600 + minutes * 60 + seconds
    return since if minutes < 60 and seconds < 60 and since <= _DAY else None
