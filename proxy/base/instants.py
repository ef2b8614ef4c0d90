"""Dates as days, timestamps as seconds since 1970-01-01 (UTC), and back to ISO text."""

from __future__ import annotations

from datetime import date, datetime, timedelta, timezone
from fractions import Fraction

from proxy.base.sql_types import SqlType

_EPOCH = datetime(1970, 1, 1, tzinfo=timezone.utc)


def iso_text(value: Fraction, kind: SqlType) -> str:
    """The text PostgreSQL reads for a day or second number.

    >>> iso_text(Fraction(365), SqlType.DATE)
    '1971-01-01'
    >>> iso_text(Fraction(1, 2), SqlType.TIMESTAMPTZ)
    '1970-01-01 00:00:00.500000+00'
    """
    if kind is SqlType.DATE:
        return (date(1970, 1, 1) + timedelta(days=int(value))).isoformat()
    text = moment(value).strftime("%Y-%m-%d %H:%M:%S.%f")
    return text + "+00" if kind is SqlType.TIMESTAMPTZ else text


def moment(seconds: Fraction) -> datetime:
    """The instant of a second number, in UTC."""
    return _EPOCH + timedelta(microseconds=int(seconds * 10**6))
