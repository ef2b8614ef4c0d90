"""From the JSON of an answer to Python's own values, by PostgreSQL's types."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import date, datetime, time
from decimal import Decimal
from typing import Any

Read = Callable[[Any], Any]
_WHOLE = ("smallint", "integer", "bigint", "oid")
_FLOATS = ("real", "double precision")
_SHORT_ZONE = re.compile(r"([+-]\d\d)$")
_FRACTION = re.compile(r"\.(\d{1,5})(?!\d)")


def reader_of(type_name: str) -> Read:
    """Choose how values of a type are read. NULL is None; what has no type in Python stays as it came.

    >>> reader_of("numeric(8,2)")(Decimal("1.50")), reader_of("date")("2026-01-31")
    (Decimal('1.50'), datetime.date(2026, 1, 31))
    """
    name = type_name.partition("(")[0].strip()
    if name in _WHOLE:
        return _or_none(int)
    if name in _FLOATS:
        return _or_none(float)
    if name == "numeric":
        return _or_none(lambda value: Decimal(str(value)))
    if name == "date":
        return _or_none(_unless_infinite(date.fromisoformat))
    if name.startswith("timestamp"):
        return _or_none(_unless_infinite(_timestamp))
    if name == "time" or type_name == "time without time zone":
        return _or_none(_unless_infinite(time.fromisoformat))
    return lambda value: value


def _or_none(read: Read) -> Read:
    return lambda value: None if value is None else read(value)


def _unless_infinite(read: Read) -> Read:
    """'infinity', years before Christ and 24:00 have no value in Python: they stay text."""

    def value_of(text: str) -> Any:
        try:
            return read(text)
        except ValueError:
            return text

    return value_of


def _timestamp(text: str) -> datetime:
    """
    >>> _timestamp("2026-01-31 09:30:00.5+00").isoformat()
    '2026-01-31T09:30:00.500000+00:00'
    """
    text = _FRACTION.sub(lambda found: f".{found[1]:0<6}", text)
    return datetime.fromisoformat(_SHORT_ZONE.sub(r"\1:00", text))
