"""A function that is not read has a hint with what to write instead, and that is planned."""

from __future__ import annotations

import re

import pytest

from proxy.base.errors import Refusal
from proxy.query.bind.function_forms import SUBSTITUTES, WINDOW_SUBSTITUTES
from tests.pipeline_world import read, walk

_COLUMNS = ("i4", "t", "ts")  # of a number, a text, a time
_ARGUMENTS = {
    **dict.fromkeys(("age", "isfinite"), "ts"),
    **dict.fromkeys(("justify_days", "justify_hours", "justify_interval"), "ts - ts"),
    "make_date": "2020, 1, i4",
    "make_timestamp": "2020, 1, i4, 0, 0, 0",
    "make_timestamptz": "2020, 1, i4, 0, 0, 0",
    **dict.fromkeys(("date_add", "dateadd", "date_subtract"), "ts, interval '1 day'"),
    **dict.fromkeys(
        ("clock_timestamp", "statement_timestamp", "transaction_timestamp", "timeofday"), ""
    ),
    **dict.fromkeys(("to_date", "to_number"), "t, '9'"),
    **dict.fromkeys(("cbrt", "degrees", "radians"), "i4"),
    **dict.fromkeys(("regexp_replace", "translate"), "t, 'a', 'b'"),
    **dict.fromkeys(("num_nulls", "num_nonnulls"), "i4, i2"),
    "format": "'%s', t",
    "overlay": "t PLACING 'x' FROM 1",
    **dict.fromkeys(("regr_count", "regr_avgx", "regr_avgy"), "i4, i2"),
    "string_agg": "t, ','",
    **dict.fromkeys(("json_object_agg", "jsonb_object_agg"), "t, i4"),
    **dict.fromkeys(("median", "any_value", "array_agg", "json_agg", "jsonb_agg"), "i4"),
}
_OF_THE_TEXT = "t, 'a'"
_ONE_TEXT = ("md5", "sha256", "hashtext", "octet_length", "bit_length", "ascii")
_AGGREGATES = re.compile("median|any_value|.*_agg$|regr_")


def _refusal(statement: str) -> Refusal:
    with pytest.raises(Refusal) as caught:
        walk(statement)
    return caught.value


@pytest.mark.parametrize("name", sorted(SUBSTITUTES.keys() - {"dateadd"}))
def test_a_function_that_is_not_read_has_its_hint(name: str) -> None:
    arguments = _ARGUMENTS.get(name, "t" if name in _ONE_TEXT else _OF_THE_TEXT)
    call = f"{name}({arguments})"
    call = call if _AGGREGATES.match(name) else f"count({call})"
    assert _refusal(f"SELECT {call} FROM people").hint == SUBSTITUTES[name].hint


def _with_columns(written: str, column: str) -> str:
    names = {"column": column, "other": "i2", "later": "ts", "earlier": "d", "unit": "uid"}
    return re.sub(r"'[^']*'|\w+", lambda word: names.get(word[0], word[0]), written)


@pytest.mark.parametrize("name", sorted(SUBSTITUTES))
def test_what_stands_instead_is_planned(name: str) -> None:
    for written in SUBSTITUTES[name].written:
        if written == "now()":  # a constant of the session (docs/design/sql.md)
            continue
        answered = 0
        for column in _COLUMNS:
            expression = _with_columns(written, column)
            of = expression if _is_aggregate(written) else f"count({expression})"
            try:
                answered += walk(f"SELECT {of} FROM people") is not None
            except Refusal:
                continue
        assert answered, written


def _is_aggregate(written: str) -> bool:
    return re.match(r"(count|min|max|avg|percentile_cont)\(", written) is not None


_CALLS = {
    **dict.fromkeys(("percent_rank", "cume_dist"), ""),
    "nth_value": "i4, 2",
    **dict.fromkeys(("bool_or", "bool_and", "every"), "i4 > 1"),
    "string_agg": "t, ','",
}


@pytest.mark.parametrize("name", sorted(WINDOW_SUBSTITUTES.keys() - {"percentile_cont"}))
def test_a_window_function_that_is_not_read_has_its_hint(name: str) -> None:
    over = "OVER (PARTITION BY uid ORDER BY i2)"
    statement = "SELECT count(x) FROM (SELECT {} AS x FROM orders) q"
    refused = _refusal(statement.format(f"{name}({_CALLS.get(name, 'i4')}) {over}"))
    assert refused.hint == WINDOW_SUBSTITUTES[name].hint
    for written in WINDOW_SUBSTITUTES[name].written:
        expression = _with_columns(written, "i4")
        assert read(statement.format(expression)) is not None
        assert walk(statement.format(expression)) is not None


def test_pairs_of_values_are_counted_as_texts() -> None:
    hint = _refusal("SELECT count(DISTINCT (t, i4)) FROM people").hint
    assert hint == "Write count(DISTINCT concat(a, '-', b)) for pairs of values."
    assert walk("SELECT count(DISTINCT concat(t, '-', i4)) FROM people") is not None
