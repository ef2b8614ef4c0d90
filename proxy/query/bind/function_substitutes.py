"""What to write instead of functions that are not read: for hints of refusals.

A test plans each form (tests/query/test_function_substitutes.py), and another one runs it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Replacement:
    """written: Expressions that are answered, in the place of the function. of: What they give."""

    written: tuple[str, ...]
    of: str

    @property
    def hint(self) -> str:
        return f"Write {' or '.join(self.written)}, {self.of}."


def _instead(*written: str, of: str) -> Replacement:
    return Replacement(written=written, of=of)


_DAYS = "extract(epoch FROM later - earlier) / 86400"
_AGE = _instead(
    "extract(year FROM age(later, earlier))",
    "earlier <= later - interval '30 years'",
    of="whole years, and whether there are so many between; later or earlier may be now()",
)
_LASTED = _instead(
    _DAYS,
    f"floor({_DAYS} / 365.25)",
    of="days and whole years; later or earlier may be now(), and the difference of two dates is of days",
)
_MATCH = _instead(
    "column ~ '^a'", of="whether the text has the pattern; to count: count(*) FILTER (WHERE ...)"
)
_PART = _instead("split_part(column, '-', 1)", "left(column, 3)", of="a part of the text")
_EACH = _instead(
    "count(*)", of="with GROUP BY column, which has a row for each value instead of a list"
)
_NOW = _instead("now()", of="the time at which the statement begins")
_STARTED = _instead(
    "date_trunc('month', column)", of="the begin of its month, or 'year', 'day' and others"
)
_SPREAD = _instead(
    "mod(column, 10)",
    of="bins of a whole number; of texts group by the column, or by left(column, 1)",
)

SUBSTITUTES: Mapping[str, Replacement] = {
    "age": _AGE,
    **dict.fromkeys(("justify_days", "justify_hours", "justify_interval"), _LASTED),
    **dict.fromkeys(("make_date", "make_timestamp", "make_timestamptz"), _STARTED),
    **dict.fromkeys(
        ("date_add", "dateadd"), _instead("column + interval '1 day'", of="a time that is later")
    ),
    "date_subtract": _instead("column - interval '1 day'", of="a time that is earlier"),
    **dict.fromkeys(
        ("clock_timestamp", "statement_timestamp", "transaction_timestamp", "timeofday"), _NOW
    ),
    "to_date": _instead(
        "left(column, 7) = '2026-01'", of="which compares the column as the text that it is"
    ),
    "to_number": _instead("column = '7'", of="which compares the column as the text that it is"),
    "cbrt": _instead("power(greatest(column, 0), 0.333333)", of="of a number that is not below 0"),
    "degrees": _instead("column * 57.29577951", of="in degrees"),
    "radians": _instead("column * 0.01745329252", of="in radians"),
    **dict.fromkeys(("md5", "sha256", "hashtext"), _SPREAD),
    **dict.fromkeys(
        ("octet_length", "bit_length"), _instead("length(column)", of="the number of characters")
    ),
    "ascii": _instead("left(column, 1)", of="the first character"),
    **dict.fromkeys(("regexp_match", "regexp_matches", "regexp_count", "regexp_instr"), _MATCH),
    "regexp_replace": _instead("replace(column, 'a', 'b')", of="which replaces a constant text"),
    "translate": _instead(
        "replace(replace(column, 'a', 'x'), 'b', 'y')", of="one character after the other"
    ),
    **dict.fromkeys(
        (
            *("regexp_substr", "regexp_split_to_array", "regexp_split_to_table"),
            *("string_to_array", "string_to_table", "overlay"),
        ),
        _PART,
    ),
    "format": _instead("concat(column, '-', column)", of="texts one after the other"),
    **dict.fromkeys(
        ("num_nulls", "num_nonnulls"),
        _instead("(column IS NULL)::int + (other IS NULL)::int", of="their number"),
    ),
    # aggregates
    "median": _instead("percentile_cont(0.5) WITHIN GROUP (ORDER BY column)", of="the median"),
    "any_value": _instead("min(column)", "max(column)", of="or GROUP BY the column as well"),
    **dict.fromkeys(
        (
            *("array_agg", "string_agg", "json_agg", "jsonb_agg"),
            *("json_object_agg", "jsonb_object_agg"),
        ),
        _EACH,
    ),
    "regr_count": _instead("count(column + other)", of="the number of rows that have both"),
    "regr_avgx": _instead("avg(column)", of="of the second argument"),
    "regr_avgy": _instead("avg(column)", of="of the first argument"),
}

# Window functions over the rows of a unit.
_OVER = "OVER (PARTITION BY unit ORDER BY column)"
_NTH = f"row_number() {_OVER}"
_RANKED = _instead(
    f"rank() {_OVER} / nullif(count(*) OVER (PARTITION BY unit), 0)::numeric",
    of="the part of a unit's rows up to it",
)
WINDOW_SUBSTITUTES: Mapping[str, Replacement] = {
    **dict.fromkeys(("percent_rank", "cume_dist"), _RANKED),
    "nth_value": _instead(_NTH, of="and in the query around max(CASE WHEN rn = 2 THEN column END)"),
    **dict.fromkeys(
        ("bool_or", "bool_and", "every"),
        _instead(
            "max((column > 1)::int) OVER (PARTITION BY unit)",
            of="1 if it holds in a row, or min(...) in all",
        ),
    ),
    **dict.fromkeys(
        ("array_agg", "string_agg"),
        _instead("lag(column) " + _OVER, of="or lead(...), a value beside it"),
    ),
    **dict.fromkeys(
        ("stddev", "percentile_cont"),
        _instead(
            "avg(column) OVER (PARTITION BY unit)", of="or min and max, over the rows of a unit"
        ),
    ),
}
