"""Times of day without a zone, from 00:00:00 to 24:00:00, as seconds since midnight."""

from __future__ import annotations

import re
from fractions import Fraction

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
