"""Templates of to_char() for times: a part of PostgreSQL's, which prints the same in every locale.

Source: PostgreSQL 17 documentation, table 9.31; formatting.c (DCH_to_char).
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime

_MONTHS = (
    *("January", "February", "March", "April", "May", "June"),
    *("July", "August", "September", "October", "November", "December"),
)
_DAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
_MOST_CHARACTERS = 64
UNITS = ("year", "quarter", "month", "week", "day", "hour", "minute", "second")


@dataclass(frozen=True, slots=True, kw_only=True)
class _TemplateField:
    """unit: in which its text is the same. width: with zeros before it; 0: a word, padded to `padded`."""

    unit: str
    of: Callable[[datetime], int | str]
    width: int = 0
    padded: int = 0


def _number(unit: str, width: int, of: Callable[[datetime], int]) -> _TemplateField:
    return _TemplateField(unit=unit, of=of, width=width)


def _hour_of_12(at: datetime) -> int:
    return (at.hour + 11) % 12 + 1


_NUMBERS = {
    "YYYY": _number("year", 4, lambda at: at.year),
    "YY": _number("year", 2, lambda at: at.year % 100),
    "IYYY": _number("week", 4, lambda at: at.isocalendar()[0]),
    "Q": _number("quarter", 1, lambda at: (at.month + 2) // 3),
    "MM": _number("month", 2, lambda at: at.month),
    "IW": _number("week", 2, lambda at: at.isocalendar()[1]),
    "WW": _number("day", 2, lambda at: (at.timetuple().tm_yday + 6) // 7),
    "DDD": _number("day", 3, lambda at: at.timetuple().tm_yday),
    "DD": _number("day", 2, lambda at: at.day),
    "ID": _number("day", 1, lambda at: at.isoweekday()),
    "D": _number("day", 1, lambda at: at.isoweekday() % 7 + 1),
    "HH24": _number("hour", 2, lambda at: at.hour),
    "HH12": _number("hour", 2, _hour_of_12),
    "HH": _number("hour", 2, _hour_of_12),
    "MI": _number("minute", 2, lambda at: at.minute),
    "SS": _number("second", 2, lambda at: at.second),
}


def _words() -> dict[str, _TemplateField]:
    """Whose case is that of the template."""
    found = {}
    for change in (str.upper, str.capitalize, str.lower):
        found[change("month")] = _word("month", 9, change, lambda at: _MONTHS[at.month - 1])
        found[change("mon")] = _word("month", 0, change, lambda at: _MONTHS[at.month - 1][:3])
        found[change("day")] = _word("day", 9, change, lambda at: _DAYS[at.weekday()])
        found[change("dy")] = _word("day", 0, change, lambda at: _DAYS[at.weekday()][:3])
    for change in (str.upper, str.lower):
        found[change("am")] = _word("hour", 0, change, lambda at: "am" if at.hour < 12 else "pm")
        found[change("pm")] = found[change("am")]
    return found


def _word(
    unit: str, padded: int, change: Callable[[str], str], of: Callable[[datetime], str]
) -> _TemplateField:
    return _TemplateField(unit=unit, of=lambda at: change(of(at)), padded=padded)


_WORDS = _words()
# Others of PostgreSQL's, which a template must not hold even where a part of one is known here.
_OTHERS = frozenset(
    {
        *("A.D.", "A.M.", "AD", "B.C.", "BC", "CC", "FF1", "FF2", "FF3", "FF4", "FF5", "FF6", "FX", "IDDD"),
        *("IYY", "IY", "I", "J", "MS", "OF", "P.M.", "RM", "SSSSS", "SSSS", "TM", "TZH", "TZM", "TZ", "US"),
        *("W", "Y,YYY", "YYY", "Y"),
    }
)  # fmt: skip
_LONGEST = max(map(len, (*_NUMBERS, *_WORDS, *_OTHERS)))


@dataclass(frozen=True, slots=True, kw_only=True)
class TimeTemplate:
    """parts: texts as they are, and fields, with whether zeros and blanks are left out (FM)."""

    parts: tuple[str | tuple[_TemplateField, bool], ...]

    @property
    def unit(self) -> str:
        """The longest unit in which the text is the same throughout."""
        units = [part[0].unit for part in self.parts if not isinstance(part, str)]
        finest = max(units, key=UNITS.index, default="year")
        # A week is in two months and two years: where weeks meet these, days tell.
        return "day" if "week" in units and finest == "week" and set(units) != {"week"} else finest

    @property
    def is_clock(self) -> bool:
        """Whether each day shows the same texts."""
        units = {part[0].unit for part in self.parts if not isinstance(part, str)}
        return units <= {"hour", "minute", "second"}

    @property
    def year_place(self) -> int | None:
        """Where the four digits of the year stand, in whatever text; None: not in one place, or nowhere."""
        place = 0
        for part in self.parts:
            if isinstance(part, str):
                place += len(part)
                continue
            field, is_filled = part
            if field is _NUMBERS["YYYY"]:
                return place if is_filled else None
            if not is_filled or not field.width:
                return None
            place += field.width
        return None

    def text(self, at: datetime) -> str:
        return "".join(
            part if isinstance(part, str) else _printed(*part, at) for part in self.parts
        )


@functools.lru_cache(maxsize=256)
def template(text: str) -> TimeTemplate | None:
    """
    Gives    None for what is not known to print here as it does in PostgreSQL

    >>> from datetime import datetime
    >>> template('FMDay, DD "of" Mon').text(datetime(2026, 3, 1)), template("YYYY-MM TZ")
    ('Sunday, 01 of Mar', None)
    """
    if len(text) > _MOST_CHARACTERS or not text.isascii() or "\\" in text:
        return None
    parts: list[str | tuple[_TemplateField, bool]] = []
    place = 0
    while place < len(text):
        if text[place] == '"':
            end = text.find('"', place + 1)
            if end < 0:
                return None
            parts.append(text[place + 1 : end])
            place = end + 1
            continue
        is_filled = text[place : place + 2] not in ("FM", "fm")
        start = place if is_filled else place + 2
        found = _field(text, start)
        if found is None:
            if not is_filled or text[place].isalpha():
                return None
            parts.append(text[place])
            place += 1
            continue
        field, place = found
        if text[place : place + 2].upper() in ("TH", "SP"):
            return None
        parts.append((field, is_filled))
    return TimeTemplate(parts=tuple(parts))


def _field(text: str, start: int) -> tuple[_TemplateField, int] | None:
    for length in range(_LONGEST, 0, -1):
        written = text[start : start + length]
        if len(written) < length:
            continue
        # Keywords are known in capitals and in small letters.
        of_one_case = written.upper() if written.islower() else written
        if of_one_case in _OTHERS:
            return None
        field = _NUMBERS.get(of_one_case) or _WORDS.get(written)
        if field is not None:
            return field, start + length
    return None


def _printed(field: _TemplateField, is_filled: bool, at: datetime) -> str:
    value = str(field.of(at))
    if not is_filled:
        return value
    return value.zfill(field.width) if field.width else value.ljust(field.padded)
