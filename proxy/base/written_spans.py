"""Intervals as texts, in two forms.

One number of one unit ('1 day') means the same in every IntervalStyle; in our own form the shadow is asked for
what it evaluates.
"""

from __future__ import annotations

import re
from fractions import Fraction

from proxy.base.time_spans import TimeSpan

_SECOND = 10**6
_SIMPLE = re.compile(r"\s*([+-]?[0-9]{1,7})\s+([a-z]+)\s*", re.IGNORECASE | re.ASCII)
_OWN = re.compile(r"P(-?[0-9]{1,12})M(-?[0-9]{1,12})DT(-?[0-9]{1,15}(?:\.[0-9]{1,9})?)S", re.ASCII)
_MONTHS = {"month": 1, "year": 12}
_DAYS = {"day": 1, "week": 7}
_MICROSECONDS = {
    "microsecond": 1,
    "millisecond": 1000,
    "second": _SECOND,
    "minute": 60 * _SECOND,
    "hour": 3600 * _SECOND,
}
_SHORT = {"mon": "month", "sec": "second", "min": "minute", "hr": "hour", "yr": "year"}


def span_of(text: str) -> TimeSpan | None:
    """None: it is of neither form.

    >>> span_of("3 HOURS").microseconds, span_of("P-1M2DT0.5S"), span_of("1 day 02:00")
    (10800000000, TimeSpan(months=-1, days=2, microseconds=500000), None)
    """
    own = _OWN.fullmatch(text)
    if own is not None:
        seconds = Fraction(own[3]) * _SECOND
        if seconds.denominator != 1:
            return None
        return TimeSpan(months=int(own[1]), days=int(own[2]), microseconds=int(seconds))
    found = _SIMPLE.fullmatch(text)
    if found is None:
        return None
    number, unit = int(found[1]), found[2].lower().removesuffix("s")
    unit = _SHORT.get(unit, unit)
    if unit in _MONTHS:
        return TimeSpan(months=number * _MONTHS[unit])
    if unit in _DAYS:
        return TimeSpan(days=number * _DAYS[unit])
    if unit in _MICROSECONDS:
        return TimeSpan(microseconds=number * _MICROSECONDS[unit])
    return None


def is_simple(text: str) -> bool:
    """Whether it is one number of one unit."""
    return _OWN.fullmatch(text) is None and span_of(text) is not None
