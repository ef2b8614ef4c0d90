"""The functions that are read, as PostgreSQL calls them, how each is written, and what to write instead of
others: for hints of refusals.

A test holds them against the readers (tests/query/test_function_hints.py), and runs the examples.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from difflib import get_close_matches

from sqlglot import exp

from proxy.query.syntax.selects import ANSWERED


@dataclass(frozen=True, slots=True, kw_only=True)
class FunctionForm:
    """written: examples that are answered; of: what the arguments have to be."""

    name: str
    written: tuple[str, ...]
    of: str

    @property
    def hint(self) -> str:
        return f"Write {' or '.join(self.written)}, of {self.of}."


def _form(name: str, *arguments: str, of: str) -> FunctionForm:
    return FunctionForm(name=name, written=tuple(f"{name}({each})" for each in arguments), of=of)


_NUMBER = "a number"
_MEETING = "values of one kind: numbers, texts or times"
_DIGITS = "a number, to a constant number of digits from -20 to 20"

_BOUNDED = "a number whose bounds keep it from where this would fail"
_PRINTED = "texts, whole numbers and dates"

FORMS: Mapping[type[exp.Expr], FunctionForm] = {
    exp.Abs: _form("abs", "column", of=_NUMBER),
    exp.Round: _form("round", "column", "column, 2", of=_DIGITS),
    exp.Floor: _form("floor", "column", of=_NUMBER),
    exp.Ceil: _form("ceil", "column", of=_NUMBER),
    exp.Trunc: _form("trunc", "column", "column, 2", of=_DIGITS),
    exp.Sign: _form("sign", "column", of=_NUMBER),
    exp.Mod: _form("mod", "column, 10", of="a whole number and a constant"),
    exp.Sqrt: _form("sqrt", "column", of=_BOUNDED),
    exp.Ln: _form("ln", "greatest(column, 1)", of=_BOUNDED),
    exp.Log: _form("log", "greatest(column, 1)", of=_BOUNDED),
    exp.Exp: _form("exp", "least(column, 10)", of=_BOUNDED),
    exp.Pow: _form(
        "power", "column, 2", "2, least(column, 10)", of=_BOUNDED + "; the other is a constant"
    ),
    exp.WidthBucket: _form(
        "width_bucket",
        "column, 0, 100, 10",
        of="a number and three constants: low, high above it, and 1 to 10000 buckets",
    ),
    exp.Coalesce: _form("coalesce", "column, 0", of=_MEETING),
    exp.Nullif: _form("nullif", "column, 0", of=_MEETING),
    exp.Greatest: _form("greatest", "column, 0", of=_MEETING),
    exp.Least: _form("least", "column, 0", of=_MEETING),
    exp.Extract: _form(
        "extract",
        "year FROM column",
        of="a date or timestamp; year, isoyear, quarter, month, week, day, dow, isodow, doy or epoch,"
        " and of a timestamp hour, minute or second",
    ),
    exp.TimestampTrunc: _form(
        "date_trunc",
        "'month', column",
        "'day', column, 'Europe/Berlin'",
        of="a date or timestamp; to the year, quarter, month, week, day, hour, minute or second",
    ),
    exp.DateBin: _form(
        "date_bin",
        "'15 minutes', column, timestamp '2001-01-01'",
        "'15 minutes', column, timestamptz '2001-01-01 00:00:00+00'",
        of="a width of at most 31 days, a timestamp and a constant origin",
    ),
    exp.UnixToTime: _form(
        "to_timestamp",
        "floor(extract(epoch FROM column) / 300) * 300",
        of="a date or timestamp, in bins of a constant number of seconds",
    ),
    exp.Date: _form("date", "column", of="a date or timestamp"),
    exp.TimeToStr: _form(
        "to_char", "column, 'YYYY-MM'", of="a date or timestamp and a constant template"
    ),
    exp.Lower: _form("lower", "column", of="a text"),
    exp.Upper: _form("upper", "column", of="a text"),
    exp.Length: _form("length", "column", of="a text"),
    exp.Left: _form("left", "column, 3", of="a text and a constant whole number"),
    exp.Right: _form("right", "column, 3", of="a text and a constant whole number"),
    exp.Substring: _form(
        "substr", "column, 2", "column, 2, 3", of="a text and constant whole numbers"
    ),
    exp.StrPosition: _form("strpos", "column, 'a'", of="a text and a constant text"),
    exp.StartsWith: _form("starts_with", "column, 'a'", of="a text and a constant text"),
    exp.RegexpLike: _form(
        "regexp_like", "column, '^a'", "column, '^a', 'i'", of="a text and a constant pattern"
    ),
    exp.Initcap: _form("initcap", "column", of="a text"),
    exp.Reverse: _form("reverse", "column", of="a text"),
    exp.SplitPart: _form(
        "split_part", "column, '-', 1", of="a text, a constant text and a constant whole number"
    ),
    exp.Replace: _form("replace", "column, 'a', 'b'", of="a text and two constant texts"),
    exp.Pad: _form(
        "lpad", "column, 5", "column, 5, '0'", of="a text and constants, 1024 characters at most"
    ),
    exp.Concat: _form("concat", "column, '-', column", of=_PRINTED),
    exp.ConcatWs: _form("concat_ws", "'-', column, column", of="a constant text and " + _PRINTED),
    exp.ArraySize: _form("array_length", "column, 1", of="an array"),
    exp.Trim: _form("btrim", "column", "column, 'a'", of="a text and a constant text"),
}
FUNCTIONS: Mapping[type[exp.Expr], str] = {kind: form.name for kind, form in FORMS.items()}
_BY_NAME: Mapping[str, FunctionForm] = {form.name: form for form in FORMS.values()}


def form_of(node: exp.Expr) -> FunctionForm | None:
    """Of a call of a function that is read, whatever its arguments: with too many the parser knows only its
    name."""
    if type(node) is exp.Anonymous:
        return _BY_NAME.get(str(node.name).lower())
    # The parser has a name of its own for to_timestamp() of two arguments.
    return FORMS.get(exp.UnixToTime if type(node) is exp.StrToTime else type(node))


# --- What to write instead of functions that are not read: for hints of refusals.
#
# A test plans each form (tests/query/test_function_substitutes.py), and another one runs it.


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

# Functions of other databases.
FOREIGN: Mapping[str, str] = {
    **{
        name: f"extract({name} FROM column)" for name in ("year", "quarter", "month", "day", "hour")
    },
    **dict.fromkeys(("ifnull", "nvl", "isnull"), "coalesce(column, other)"),
    "len": "length(column)",
    "ucase": "upper(column)",
    "lcase": "lower(column)",
    **dict.fromkeys(("countif", "count_if"), "count(*) FILTER (WHERE column)"),
    **dict.fromkeys(("approx_distinct", "approx_count_distinct"), "count(DISTINCT column)"),
    "datediff": "extract(epoch FROM column - other) / 86400",
}


def forms_instead(name: str) -> tuple[str, ...]:
    """What to write in the place of a function that there is not, or that is not read."""
    found = SUBSTITUTES.get(name)
    return (FOREIGN[name],) if name in FOREIGN else () if found is None else found.written


def functions_alike(name: str) -> list[str]:
    """Names of functions that are answered and spelled like another one, the nearest first."""
    known = ANSWERED | _BY_NAME.keys()
    return [] if name in known else get_close_matches(name, sorted(known), n=1)


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
