"""Time zones: when clocks change, and which instant PostgreSQL means by a local time.

The rules are those of the IANA database as Python's package tzdata holds it. Whether the protected server has
the same is asked before a question is charged (engine.session_zone).
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from fractions import Fraction
from functools import lru_cache
from importlib import resources
from zoneinfo import ZoneInfo

# Before, zones differ between builds of the database; after, rules are a guess.
FIRST, LAST = 0, 4_102_444_800  # 1970-01-01, 2100-01-01
_STEP = 3 * 86_400  # no clock has ever changed twice within 6 days
_FIXED = re.compile(r"<([+-])(\d\d)(?::?(\d\d))?>([+-])(\d\d?)(?::(\d\d))?")


@dataclass(frozen=True, slots=True, kw_only=True)
class Zone:
    """name: as PostgreSQL knows it; one for which `zone_named` gives a zone."""

    name: str

    @property
    def changes(self) -> tuple[tuple[int, int], ...]:
        """Instants from which an offset (seconds east of UTC) holds, in order, the first of them from FIRST."""
        return _rules(self.name).changes

    @property
    def is_utc(self) -> bool:
        rules = _rules(self.name)
        return rules.is_constant and rules.changes[0][1] == 0

    def covers(self, low: Fraction, high: Fraction) -> bool:
        """Whether the changes between two instants are known."""
        return _rules(self.name).is_constant or (low >= FIRST and high < LAST)

    def local(self, instant: Fraction) -> Fraction:
        """What a clock shows, as a second number.

        >>> zone_named("Asia/Kolkata").local(Fraction(0))
        Fraction(19800, 1)
        """
        return instant + self.offset(instant)

    def offset(self, instant: Fraction | int) -> int:
        return self.changes[self._place(instant)][1]

    def local_ends(self, low: Fraction, high: Fraction) -> tuple[Fraction, Fraction]:
        """The earliest and the latest that a clock shows from one instant to another."""
        displayed = [
            (begins + offset, ends + offset) for begins, ends, offset in self.pieces(low, high)
        ]
        return min(begins for begins, _ in displayed), max(ends for _, ends in displayed)

    def instant(self, local: Fraction) -> Fraction:
        """The instant that PostgreSQL takes a local time for: of two the later, and a time that is left out is
        read by the clock before the change (datetime.c, DetermineTimeZoneOffset)."""
        place = self._place(
            local
        )  # or beside it: an offset is less than a day, changes are weeks apart
        near = range(max(0, place - 1), min(len(self.changes), place + 2))
        meant = {number: local - self.changes[number][1] for number in near}
        found = [at for number, at in meant.items() if self._place(at) == number]
        if found:
            return max(found)
        return next(
            at
            for number, at in meant.items()
            if self._place(at) > number and self._place(meant.get(number + 1, at)) <= number
        )

    def pieces(self, low: Fraction, high: Fraction) -> Iterator[tuple[Fraction, Fraction, int]]:
        """From one instant to another, in which an offset holds: first instant, last (which the next one may
        start with) and offset."""
        first, last = self._place(low), self._place(high)
        for number in range(first, last + 1):
            at, offset = self.changes[number]
            end = high if number == last else Fraction(self.changes[number + 1][0])
            yield max(low, Fraction(at)) if number > first else low, end, offset

    def _place(self, instant: Fraction | int) -> int:
        return max(
            bisect_right(self.changes, instant, key=lambda change: Fraction(change[0])) - 1, 0
        )


UTC = Zone(name="UTC")


def zone_named(name: str) -> Zone | None:
    """A zone by the name that SHOW TimeZone prints, or its equal but for case; None: no such zone is known.

    >>> zone_named("Mars/Olympus") is None, zone_named("etc/utc").is_utc, zone_named("<-03:30>+03:30").changes
    (True, True, ((0, -12600),))
    """
    known = name if _fixed(name) is not None else _names().get(name.lower())
    return None if known is None else Zone(name=known)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Rules:
    """is_constant: the one offset holds at all times."""

    changes: tuple[tuple[int, int], ...]
    is_constant: bool


def _fixed(name: str) -> _Rules | None:
    """As SET TIME ZONE with a number or an interval is printed: <east>west."""
    found = _FIXED.fullmatch(name)
    if found is None:
        return None
    sign, hours, minutes, behind_sign, behind_hours, behind_minutes = found.groups(default="0")
    east = int(hours) * 3600 + int(minutes) * 60
    west = int(behind_hours) * 3600 + int(behind_minutes) * 60
    if (sign == behind_sign and east) or east != west or east > 14 * 3600:
        return None
    return _Rules(changes=((FIRST, east if sign == "+" else -east),), is_constant=True)


@lru_cache(maxsize=1)
def _names() -> dict[str, str]:
    listed = resources.files("tzdata").joinpath("zones").read_text("ascii").split()
    return {name.lower(): name for name in listed}


@lru_cache(maxsize=1_000)  # there are some 600
def _rules(name: str) -> _Rules:
    fixed = _fixed(name)
    if fixed is not None:
        return fixed
    file = resources.files("tzdata.zoneinfo").joinpath(*name.split("/"))
    with file.open("rb") as opened:
        rules = ZoneInfo.from_file(opened, key=name)

    def offset(at: int) -> int:
        return _seconds(datetime.fromtimestamp(at, rules).utcoffset())

    changes = [(FIRST, before := offset(FIRST))]
    for at in range(FIRST, LAST, _STEP):
        after = offset(at + _STEP)
        if after != before:
            low, high = at, at + _STEP
            while high - low > 1:
                middle = (low + high) // 2
                low, high = (middle, high) if offset(middle) == before else (low, middle)
            changes.append((high, after))
            before = after
    ever = [datetime(1800, 1, 1, tzinfo=rules), datetime(2200, 7, 1, tzinfo=rules)]
    always = len(changes) == 1 and all(_seconds(at.utcoffset()) == before for at in ever)
    return _Rules(changes=tuple(changes), is_constant=always)


def _seconds(offset: timedelta | None) -> int:
    assert offset is not None, "these times have a zone"
    return offset // timedelta(seconds=1)
