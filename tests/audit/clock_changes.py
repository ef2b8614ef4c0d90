"""Moments around the clock changes of 2010 in four zones, keys and conditions that are computed of them.

In New York and Berlin an hour is left out in spring and comes twice in autumn, on Lord Howe half of one; in
Sao Paulo midnight itself is left out.
"""

from __future__ import annotations

from hypothesis import strategies as st
from hypothesis.strategies import DrawFn

from tests.audit.expressions import Scope

CLOCK_CHANGE = "clock changes"
# By the column's name; beside these stand the other values of tests.audit.synthetic.
MOMENTS: dict[str, tuple[str, ...]] = {
    "tz": (
        *("'2010-11-07 05:30+00'", "'2010-11-07 06:30+00'", "'2010-11-07 04:00+00'"),
        *("'2010-03-14 06:59:59.999999+00'", "'2010-03-14 07:00+00'", "'2010-10-31 00:30+00'"),
        *("'2010-10-31 01:30+00'", "'2010-03-28 01:00+00'", "'2010-04-03 14:45+00'"),
        *("'2010-04-03 15:15+00'", "'2010-10-02 15:30+00'", "'2010-10-17 02:59:59+00'"),
        *("'2010-10-17 03:00+00'", "'2010-11-06 23:30+00'"),
    ),
    "ts": (
        *("'2010-11-07 01:30'", "'2010-11-07 00:00'", "'2010-03-14 02:30'", "'2010-10-31 02:30'"),
        *("'2010-03-28 02:00'", "'2010-04-04 01:45'", "'2010-10-03 02:15'", "'2010-10-17 00:30'"),
        "'2010-11-06 23:59:59.999999'",
    ),
}
_ZONES = ("America/New_York", "Europe/Berlin", "Australia/Lord_Howe", "America/Sao_Paulo")
_COARSE = (
    *("date_trunc('year', {}, '{}')", "date_trunc('month', {} AT TIME ZONE '{}')"),
    *("extract(hour FROM {} AT TIME ZONE '{}')", "to_char({} AT TIME ZONE '{}', 'YYYY-MM')"),
    "to_char({} AT TIME ZONE '{}', 'HH24')",
    "extract(isodow FROM date_trunc('day', {0}, '{1}') AT TIME ZONE '{1}')",
)
_DAYS = (
    *("({} AT TIME ZONE '{}')::date", "date_trunc('day', {}, '{}')"),
    *(
        "date_trunc('day', {0} AT TIME ZONE '{1}') AT TIME ZONE '{1}'",
        "date_trunc('week', {}, '{}')",
    ),
    "date_trunc('day', {} AT TIME ZONE '{}' - interval '90 minutes')",
)
_HOURS = (
    *("date_trunc('hour', {}, '{}')", "date_trunc('hour', {} AT TIME ZONE '{}')"),
    *(
        "to_char({} AT TIME ZONE '{}', 'MM-DD HH24:00')",
        "date_trunc('hour', {}::timestamptz, '{}')",
    ),
    "date_bin('1 hour', ({} AT TIME ZONE '{}')::timestamp, timestamp '2001-01-01')",
)
_SEASONS = (("2010-03-10", "2010-04-06"), ("2010-10-01", "2010-11-09"))
_NIGHTS = (
    *(("2010-11-06 12:00", "2010-11-07 20:00"), ("2010-10-30 22:00", "2010-11-01 01:00")),
    *(("2010-03-13 12:00", "2010-03-14 20:00"), ("2010-10-16 18:00", "2010-10-17 18:00")),
    *(("2010-04-03 06:00", "2010-04-04 06:00"), ("2010-10-02 06:00", "2010-10-03 06:00")),
)


def key_of_a_clock(draw: DrawFn, scope: Scope) -> tuple[str, str]:
    """A key by the clock of a zone, and the condition by which it has few values; "" where it always has."""
    column = draw(st.sampled_from(scope.of(("tz", "tz", "ts"))))
    zone = draw(st.sampled_from(_ZONES))
    forms, spans = draw(st.sampled_from([(_COARSE, ()), (_DAYS, _SEASONS), (_HOURS, _NIGHTS)]))
    key = draw(st.sampled_from(forms)).format(column, zone)
    if not spans:
        return key, ""
    first, last = draw(st.sampled_from(spans))
    return key, f"{column} >= '{first}' AND {column} < '{last}'"
