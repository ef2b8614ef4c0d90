"""Times in ISO form, and the units to which they are cut."""

from __future__ import annotations

import re
from datetime import date

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
