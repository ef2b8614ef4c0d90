"""Columns of type time: seconds since midnight, and what is never done with such a value as a whole; instants,
and now() as it is rounded."""

from __future__ import annotations

import re
from collections.abc import Mapping

import pytest

from proxy.base.errors import Code, Refusal
from proxy.base.sql_types import SqlType
from proxy.base.written_times import is_instant, names_its_zone
from proxy.query.bind.evaluated_constants import (
    NOTHING_EVALUATED,
    EvaluatedText,
    evaluated_texts,
    with_written_texts,
)
from proxy.query.ir.binding import parameters_of
from proxy.query.ir.typing_rules import constant, literal_type
from proxy.query.syntax.constant_spans import PresentRule, constant_spans
from proxy.query.syntax.tokens import lex
from tests.pipeline_world import read, walk

_TIME = SqlType.TIME_OF_DAY
_COUNT = "SELECT count(*) FROM people WHERE"


def _compiled(sql: str, *given: str) -> tuple[str, Mapping[str, object]]:
    kinds = tuple(SqlType.TIME_OF_DAY for _ in given)
    found = walk(sql, types=kinds, arguments=given)
    assert found is not None
    ((query,),) = found.queries
    return query.sql, query.parameters


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("0:00", "0"),
        ("09:30", "34200"),
        ("24:00:00", "86400"),
        (" 23:59:59.999999", "86399.999999"),
    ],
)
def test_a_constant_reaches_the_server_as_its_seconds(text: str, seconds: str) -> None:
    sql, parameters = _compiled(f"{_COUNT} tod < '{text}'")
    assert 'extract(epoch FROM r1."tod")' in sql
    assert seconds in list(map(str, parameters.values()))
    assert text.strip() not in sql


@pytest.mark.parametrize(
    "text",
    ["24:00:00.000001", "25:00", "12:60", "12:00:60", "noon", "now", "12", "12:00+02", "-1:00"],
)
@pytest.mark.parametrize("form", ["tod = '{}'", "tod IN ('{}')", "tod BETWEEN '0:00' AND '{}'"])
def test_another_text_is_left_to_the_shadow(form: str, text: str) -> None:
    """Where there is none, it is refused."""
    found = read(f"{_COUNT} {form.format(text)}")
    assert found is not None
    (block,), evaluated = with_written_texts(found[1].query.blocks, NOTHING_EVALUATED, 0)
    assert parameters_of(block) == {1}
    assert evaluated_texts(evaluated, frozenset({1})) == (
        EvaluatedText(f"pg_catalog.to_jsonb(('{text}')::pg_catalog.time)::pg_catalog.text", _TIME),
    )
    with pytest.raises(Refusal) as caught:
        walk(f"{_COUNT} {form.format(text)}")
    assert caught.value.code is Code.SYNTAX
    assert "of type time" in caught.value.message


@pytest.mark.parametrize(
    ("key", "keys"),
    [
        ("extract(hour FROM tod)", [str(n) for n in range(25)]),
        ("extract(minute FROM tod)", [str(n) for n in range(60)]),
        ("floor(extract(epoch FROM tod) / 21600)", [str(n) for n in range(5)]),
        ("floor(extract(second FROM tod) / 30)", ["0", "1", "2"]),
    ],
)
def test_keys_are_public_by_the_type(key: str, keys: list[str]) -> None:
    """And stay so whatever is stored: no row can have another, not even one of 24:00."""
    found = walk(f"SELECT {key}, count(*) FROM people GROUP BY 1")
    assert found is not None
    ((plan,),) = [block.keys for block in found.plan.blocks]
    assert plan.values is not None
    assert list(plan.values) == keys


def test_a_condition_narrows_the_hours() -> None:
    hour = "extract(hour FROM tod)"
    found = walk(f"SELECT {hour}, count(*) FROM people WHERE {hour} >= 22 GROUP BY 1")
    assert found is not None
    assert found.plan.blocks[0].keys[0].values == ("22", "23", "24")


@pytest.mark.parametrize(
    ("field", "most"), [("hour", 24), ("minute", 59), ("second", 60), ("epoch", 86_400)]
)
def test_parts_are_clamped_to_what_the_type_allows(field: str, most: int) -> None:
    """Below arithmetic, too: without it a product would rest on the server's checks of what is stored."""
    sql, parameters = _compiled(f"SELECT sum(extract({field} FROM tod) * 2) FROM people")
    clamp = re.search(rf'smaller\(extract\({field} FROM r1."tod"\), %\((p\d+)\)s', sql)
    assert clamp is not None, sql
    assert str(parameters[clamp[1]]) == str(most)


@pytest.mark.parametrize(
    ("expression", "example"),
    [
        ("min(tod)", "min(extract(epoch FROM column))"),
        ("max(tod)", "max(extract(epoch FROM column))"),
        ("avg(tod)", "avg(extract(epoch FROM column))"),
        ("sum(tod)", "sum(extract(epoch FROM column))"),
        ("count(*) FILTER (WHERE tod::text = 'a')", "extract(hour FROM column)"),
        ("count(*) FILTER (WHERE to_char(tod, 'HH24') = 'a')", "extract(hour FROM column)"),
        ("count(*) FILTER (WHERE extract(day FROM tod) = 1)", "extract(epoch FROM column)"),
        ("count(*) FILTER (WHERE date_trunc('hour', tod) > '1:00')", "extract(hour FROM column)"),
        ("count(*) FILTER (WHERE coalesce(tod, '1:00') > '1:00')", "column < '12:00'"),
    ],
)
def test_what_is_refused_says_what_can_be_written(expression: str, example: str) -> None:
    with pytest.raises(Refusal) as caught:
        walk(f"SELECT {expression} FROM people")
    assert example in caught.value.hint
    written = example.replace("column", "tod")
    if example.startswith("column"):
        written = f"count(*) FILTER (WHERE {written})"
    elif example.startswith("extract"):
        written = f"sum({written})"
    assert walk(f"SELECT {written} FROM people") is not None


def test_a_time_is_no_key_and_its_hour_is() -> None:
    with pytest.raises(Refusal) as caught:
        walk("SELECT tod, count(*) FROM people GROUP BY 1")
    assert caught.value.code is Code.NO_VALUES
    for example in ("extract(hour FROM column)", "floor(extract(epoch FROM column) / 1800)"):
        assert example in caught.value.hint
        key = example.replace("column", "tod")
        assert walk(f"SELECT {key}, count(*) FROM people GROUP BY 1") is not None


@pytest.mark.parametrize(
    "condition",
    [
        "tod > interval '1 hour'",
        "tod > ts",
        "tod > 5",
        "tod > t",
        "tod IN (1)",
        "tod + tod > '1:00'",
    ],
)
def test_nothing_else_meets_a_time_of_day(condition: str) -> None:
    with pytest.raises(Refusal):
        walk(f"{_COUNT} {condition}")


def test_a_parameter_is_read_as_a_time() -> None:
    kinds = (SqlType.TIME_OF_DAY,)
    assert "86400" in map(str, _compiled(f"{_COUNT} tod < $1", '"24:00"')[1].values())
    assert walk(f"{_COUNT} tod < $1", types=kinds, arguments=(None,)) is not None
    with pytest.raises(Refusal) as caught:
        walk(f"{_COUNT} tod < $1", types=kinds, arguments=('"24:01"',))
    assert caught.value.code is Code.SYNTAX


_ARABIC = "".join(chr(0x660 + n) for n in range(10))


@pytest.mark.parametrize(
    "text",
    [
        f"2024-01-01 {_ARABIC[1]}2:00:00",
        f"2024-01-01 12:0{_ARABIC[0]}",
        f"2024-01-01 12:00:00.{_ARABIC[5]}",
        f"2024-01-01 12:00+0{_ARABIC[1]}",
        f"{_ARABIC[2]}024-01-01",
        "2024-01-01 12:00:00\n",
    ],
)
def test_other_digits_are_no_instant(text: str) -> None:
    assert not is_instant(text)


@pytest.mark.parametrize("kind", [SqlType.DATE, SqlType.TIMESTAMPTZ, SqlType.INT4, SqlType.BOOL])
def test_other_white_space_is_no_part_of_a_constant(kind: SqlType) -> None:
    text = {SqlType.INT4: "7", SqlType.BOOL: "true"}.get(kind, "2024-01-01")
    assert constant(f" {text}\n", kind, None).value is not None
    with pytest.raises(Refusal):
        constant(f"\u00a0{text}", kind, None)


def test_other_digits_are_no_number() -> None:
    assert literal_type(_ARABIC[1]) is SqlType.NUMERIC
    with pytest.raises(Refusal):
        constant(_ARABIC[1:3], SqlType.INT4, None)


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("2024-01-01", False),
        ("2024-01-01 12:00", False),
        ("2024-01-01T12:00:00.5", False),
        ("2024-01-01 12:00Z", True),
        ("2024-01-01 12:00:00.5+00", True),
        ("2024-01-01 12:00:00-05:30", True),
    ],
)
def test_a_zone_is_named_or_not(text: str, named: bool) -> None:
    assert is_instant(text) and names_its_zone(text) is named


_HOUR = "(pg_catalog.to_timestamp(pg_catalog.floor(extract(epoch FROM pg_catalog.now()) / 3600) * 3600))"


@pytest.mark.parametrize(
    ("written", "evaluated"),
    [
        ("now()", f"{_HOUR}::pg_catalog.timestamptz"),
        ("now() - interval '30 days'", f"{_HOUR}::pg_catalog.timestamptz - interval '30 days'"),
        ("pg_catalog.now()", f"{_HOUR}::pg_catalog.timestamptz"),
        ("CURRENT_DATE - 7", f"{_HOUR}::pg_catalog.date - 7"),
        ("current_timestamp(3)", f"{_HOUR}::pg_catalog.timestamptz"),
        (
            "date_trunc('day', localtimestamp)",
            f"date_trunc ( 'day' , {_HOUR}::pg_catalog.timestamp )",
        ),
        ("upper('now()')", "upper ( 'now()' )"),
        ("to_timestamp($1)", "to_timestamp ( $1 )"),
    ],
)
def test_words_of_the_present(written: str, evaluated: str) -> None:
    lexed = lex(written)
    assert lexed is not None
    (span,) = constant_spans(lexed, 0, len(lexed.lexemes), present=PresentRule(step=3600))
    assert span.text == evaluated


def test_each_slot_has_a_text_where_the_present_is_named() -> None:
    lexed = lex("now()::date - 7 = '2026-01-01'::date - 1")
    assert lexed is not None
    rule = PresentRule(slots=(3600, 60))
    moving, fixed = constant_spans(lexed, 0, len(lexed.lexemes), present=rule)
    assert moving.text == "now ( ) :: date - 7" and fixed.slots == ()
    assert [seconds for seconds, _ in moving.slots] == [3600, 60]
    assert all(text.endswith("::pg_catalog.timestamptz :: date - 7") for _, text in moving.slots)
    assert "/ 3600) * 3600" in moving.slots[0][1] and "/ 60) * 60" in moving.slots[1][1]
