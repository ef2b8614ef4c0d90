"""Names that PostgreSQL has for one unit of date_trunc() and extract().

Source: PostgreSQL 17, datetime.c (deltatktbl).
"""

from __future__ import annotations

_NAMES = {
    **dict.fromkeys(("y", "years", "yr", "yrs"), "year"),
    "qtr": "quarter",
    **dict.fromkeys(("mon", "mons", "months"), "month"),
    **dict.fromkeys(("w", "weeks"), "week"),
    **dict.fromkeys(("d", "days"), "day"),
    **dict.fromkeys(("h", "hours", "hr", "hrs"), "hour"),
    **dict.fromkeys(("m", "min", "mins", "minutes"), "minute"),
    **dict.fromkeys(("s", "sec", "secs", "seconds"), "second"),
}


def unit_name(text: str) -> str:
    """
    >>> unit_name("MONTHS"), unit_name("hour"), unit_name("moon")
    ('month', 'hour', 'moon')
    """
    return _NAMES.get(text.lower(), text.lower())
