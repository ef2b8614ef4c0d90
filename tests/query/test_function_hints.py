"""The functions and aggregates that a hint lists are those that are read: no more, no fewer."""

from __future__ import annotations

import itertools
import re

import pytest
from sqlglot import exp

from proxy.base.errors import Refusal
from proxy.query.bind.expression_reading import READERS
from proxy.query.bind.function_forms import FORMS, FUNCTIONS, SUBSTITUTES, FunctionForm
from proxy.query.syntax.selects import ANSWERED, AVAILABLE, OTHER_AGGREGATES, TRUTHS
from tests.pipeline_world import read, walk

# Which the parser counts among functions, or all that it has no name for.
_NO_FUNCTIONS = {exp.And, exp.Or, exp.Case, exp.Cast, exp.Anonymous, exp.RegexpILike, exp.Collate}
_NO_FUNCTIONS |= {
    *(exp.JSONExtract, exp.JSONExtractScalar, exp.JSONBExtract, exp.JSONBExtractScalar),
    *(exp.JSONBContainsTopKey, exp.JSONBContainsAnyTopKeys, exp.JSONBContainsAllTopKeys),
    *(exp.ArrayContainsAll, exp.ArrayContainedBy, exp.ArrayOverlaps),
}
_CALLS = {
    "array_length": "array_length(ta, 1) = 1",
    "round": "round(i4) > 1",
    "mod": "mod(i4, 3) = 1",
    "width_bucket": "width_bucket(i4, 0, 10, 5) = 1",
    "nullif": "nullif(i4, 3) = 1",
    "greatest": "greatest(i4, 3) = 3",
    "least": "least(i4, 3) = 3",
    "coalesce": "coalesce(i4, 3) = 3",
    "extract": "extract(year FROM d) = 2020",
    "date_trunc": "date_trunc('month', ts) = '2020-01-01'",
    "date": "date(ts) = '2020-01-01'",
    "date_bin": "date_bin('15 minutes', ts, timestamp '2001-01-01') > '2020-01-01'",
    "to_timestamp": "to_timestamp(floor(extract(epoch FROM tz) / 300) * 300) > '2020-01-01'",
    "regexp_like": "regexp_like(t, '^a')",
    "to_char": "to_char(ts, 'YYYY-MM') = '2020-01'",
    "length": "length(t) = 2",
    "left": "left(t, 1) = 'a'",
    "right": "right(t, 1) = 'a'",
    "substr": "substr(t, 1, 2) = 'a'",
    "strpos": "strpos(t, 'a') = 1",
    "starts_with": "starts_with(t, 'a')",
    **{name: f"{name}(i4) = 1" for name in ("abs", "floor", "ceil", "trunc", "sign")},
    **{name: f"{name}(t) = 'a'" for name in ("lower", "upper", "btrim", "initcap", "reverse")},
    **{name: f"{name}(greatest(i4, 1)) > 1" for name in ("ln", "log", "sqrt", "exp")},
    "power": "power(i4, 2) > 1",
    "split_part": "split_part(t, '-', 1) = 'a'",
    "replace": "replace(t, 'a', 'b') = 'b'",
    "lpad": "lpad(t, 3, '0') = '00a'",
    "concat": "concat(t, '-', i4) = 'a-1'",
    "concat_ws": "concat_ws('-', t, i4) = 'a-1'",
}
_ARGUMENTS = (
    *("i4", "f8", "t", "d", "b", "'x'", "NULL", "5", "-1", "1.5", "i4 = 1", "date '2020-01-01'"),
)
_COLUMNS = ("i4", "t", "ts", "tz", "ta")  # of a number, a text, times, an array
_OF_TWO = re.compile("corr|covar_|regr_|jsonb?_object_agg")


def _hint_of(statement: str) -> str:
    with pytest.raises(Refusal) as caught:
        read(statement)
    assert caught.value.hint is not None
    return caught.value.hint


def test_every_function_that_is_read_is_listed() -> None:
    read_types = {kind for kind in READERS if issubclass(kind, exp.Func)} - _NO_FUNCTIONS
    assert read_types <= FUNCTIONS.keys()
    assert FUNCTIONS.keys() <= READERS.keys()


@pytest.mark.parametrize("name", FUNCTIONS.values())
def test_every_function_that_is_listed_is_read(name: str) -> None:
    hint = _hint_of("SELECT count(*) FROM people WHERE random() < 1")
    assert re.search(rf"\b{name}\b", hint)
    assert read(f"SELECT count(*) FROM people WHERE {_CALLS[name]}") is not None


def test_aggregates_that_are_listed_are_read() -> None:
    names = re.findall(r"[a-z_0-9]+", AVAILABLE.removeprefix("Available are").replace(" and ", " "))
    assert set(names) <= ANSWERED
    assert not ANSWERED & OTHER_AGGREGATES
    for name in ANSWERED:
        call = f"{name}(b)" if name in TRUTHS else f"{name}(i4)"
        if name.startswith("percentile"):
            call = f"{name}(0.5) WITHIN GROUP (ORDER BY i4)"
        elif _OF_TWO.match(name):
            call = f"{name}(i4, i2)"
        assert read(f"SELECT {call} FROM people") is not None, name
    assert "GROUP BY x ORDER BY count(*) DESC LIMIT 1" in _hint_of("SELECT mode(i4) FROM people")
    for name in OTHER_AGGREGATES - {"grouping", "mode"}:
        arguments = "i4, i2" if _OF_TWO.match(name) else "i4"
        hint = _hint_of(f"SELECT {name}({arguments}) FROM people")
        assert hint == (SUBSTITUTES[name].hint if name in SUBSTITUTES else AVAILABLE), name


@pytest.mark.parametrize("form", FORMS.values(), ids=lambda form: form.name)
def test_what_a_hint_shows_of_a_function_is_read(form: FunctionForm) -> None:
    for written in form.written:
        answered = 0
        for column in _COLUMNS:
            expression = written.replace("column", column)
            try:
                assert read(f"SELECT count({expression}) FROM people") is not None
                answered += 1
            except Refusal:
                continue
        assert answered, written


@pytest.mark.every(6)
@pytest.mark.parametrize(
    "name", (*FUNCTIONS.values(), "ltrim", "rtrim", "substring", "char_length")
)
def test_a_function_that_is_listed_is_not_refused_by_the_list(name: str) -> None:
    """Of no to three odd arguments: what is wrong are these, and the hint says how it is written."""
    forms = 0
    for count in range(4):
        for given in itertools.product(_ARGUMENTS, repeat=min(count, 2)):
            arguments = (*given, "5") if count == 3 else given
            try:
                read(f"SELECT count(*) FROM people WHERE {name}({', '.join(arguments)}) IS NULL")
            except Refusal as refusal:
                assert not refusal.hint.startswith("Allowed are"), arguments
                forms += refusal.hint.startswith("Write ")
    assert forms or name in _REFUSED_OTHERWISE


# By what their operands are: of different kinds, no number, no constant.
_REFUSED_OTHERWISE = {
    *("abs", "sign", "coalesce", "nullif", "greatest", "least"),
    *("sqrt", "ln", "exp", "concat"),
}

_EXTRACTED = "count(*) FROM people WHERE extract(timezone FROM ts) = 1"


def test_a_refused_use_says_how_the_function_is_written() -> None:
    cases = {
        "count(*) FROM people WHERE round(f8, -21) = 0": "Write round(column) or round(column, 2)",
        "count(*) FROM people WHERE width_bucket(i4, 10, 0, 5) = 1": "high above it",
        "count(*) FROM people WHERE substring(t FROM '%a') = 'a'": "constant whole numbers",
        "count(*) FROM people WHERE date_trunc('decade', ts) = '2020-01-01'": "to the year, quarter",
        "count(*) FROM people WHERE date(t) = '2020-01-01'": "Write date(column)",
        "count(*) FROM people WHERE to_char(i4, '999') = ' 1'": "Write to_char(column, 'YYYY-MM')",
        "count(*) FROM people WHERE lower(i4) = '1'": "of a text",
        _EXTRACTED: "hour, minute or second",
    }
    for rest, part in cases.items():
        assert part in _hint_of(f"SELECT {rest}"), rest


@pytest.mark.parametrize(
    "fraction",
    [
        *("2", "NULL", "i4", "'x'", "ARRAY[0.5, NULL]", "ARRAY[[0.5]]", "ARRAY[2]", "ARRAY[i4]"),
        *("'{}'::float8[]", "'{x}'::float8[]", "'0.5'::float8[]", "ARRAY[0.5]::int[]"),
    ],
)
@pytest.mark.parametrize("name", ["percentile_cont", "percentile_disc"])
def test_a_percentile_takes_fractions(name: str, fraction: str) -> None:
    hint = _hint_of(f"SELECT {name}({fraction}) WITHIN GROUP (ORDER BY i4) FROM people")
    assert f"Write {name}(0.5) WITHIN GROUP (ORDER BY column), with ARRAY[0.25, 0.5]" in hint
    for one in ("0.5", "ARRAY[0.25, 0.5]", "'{0.5}'::float8[]", "CAST(ARRAY[0, 1] AS numeric[])"):
        assert walk(f"SELECT {name}({one}) WITHIN GROUP (ORDER BY i4) FROM people") is not None


@pytest.mark.parametrize(
    ("refused", "shown", "instead"),
    [
        ("round(avg(i4), 30)", "round(avg(column), 2)", "round(avg(i4), 2)"),
        ("trunc(avg(i4), -1)", "round(avg(column), 2)", "trunc(avg(i4), 2)"),
        ("nullif(sum(i4), count(*))", "nullif(sum(column), 0)", "nullif(sum(i4), 0)"),
        ("sum(i4)::text", "avg(column)::numeric", "avg(i4)::numeric"),
        ("max(d) + 1", "dp.error(max(column))", "max(i4)"),
    ],
)
def test_what_an_error_is_known_of(refused: str, shown: str, instead: str) -> None:
    """Functions that the general hint lists: refused for their arguments."""
    assert shown in _hint_of(f"SELECT dp.error({refused}) FROM people")
    assert read(f"SELECT dp.error({instead}) FROM people") is not None
