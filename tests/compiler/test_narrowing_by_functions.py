"""A condition on a function of a time narrows the groups as the condition on the time does, and loses none."""

from __future__ import annotations

import random  # noqa: TID251  the same statements in every run
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import cache

import psycopg
import pytest

from proxy.base.errors import Code, Refusal
from proxy.kernel.plan import BlockPlan
from tests.pipeline_world import walk
from tests.unchecked_blocks import compile_block

# Not those whose rules have changed in the last years: servers have older ones.
_ZONES = ("UTC", "Europe/Berlin", "America/New_York", "Asia/Kathmandu", "Australia/Lord_Howe")
_UNITS = ("year", "quarter", "month", "week", "day")
_FIELDS = {
    **{"year": (1999, 2021), "isoyear": (1999, 2021), "month": (1, 12), "quarter": (1, 4)},
    **{"week": (1, 53), "day": (1, 31), "dow": (0, 6), "isodow": (1, 7), "doy": (1, 366)},
}
_TEMPLATES = ("YYYY", "YYYY-MM", "YYYY-MM-DD", "MM", "Mon YYYY", "FMMonth", 'IYYY-"W"IW', "Q/YYYY")
_KEYS = (
    *("date_trunc('month', {c})", "date_trunc('year', {c})", "extract(year FROM {c})"),
    *("extract(month FROM {c})", "extract(dow FROM {c})", "to_char({c}, 'YYYY-MM')"),
    *("date_trunc('month', {c} AT TIME ZONE 'Europe/Berlin')", "date_trunc('quarter', {c})::date"),
)
_STATEMENTS = [(3, 45), pytest.param(4, 3_000, marks=pytest.mark.long)]


def _clock(draw: random.Random, column: str) -> str:
    """A time that is computed of a column."""
    zone, unit = draw.choice(_ZONES), draw.choice(_UNITS)
    shift = draw.choice(("1 month", "-3 days", "5 hours", "1 month 30 days", "-1 year"))
    makes = (
        column,
        f"({column} AT TIME ZONE '{zone}')",
        f"({column} + interval '{shift}')",
        f"date_trunc('{unit}', {column})",
        f"date_trunc('{unit}', {column} AT TIME ZONE '{zone}')",
        f"date_trunc('{draw.choice(('hour', 'day', 'month'))}', {column}::timestamptz, '{zone}')",
    )
    return draw.choice(makes)


def _day(draw: random.Random) -> str:
    year, month = draw.choice((1999, 2000, 2003, 2010, 2010, 2019, 2020)), draw.randint(1, 12)
    return (
        f"{year:04}-{month:02}-{draw.choice((1, 1, 15, 28, 31 if month in (1, 3, 12) else 30)):02}"
    )


def _safe(day: str) -> str:
    return day.replace("-02-30", "-02-28")


def _compared(draw: random.Random, left: str, constant: Callable[[], str]) -> str:
    one = draw.choice
    how = one(("=", "<>", "<", "<=", ">", ">=", "between", "in", "range", "null"))
    match how:
        case "between" | "range":
            ends = sorted((constant(), constant()))
            if how == "between":
                return f"({left} BETWEEN {ends[0]} AND {ends[1]})"
            return f"({left} >= {ends[0]} AND {left} < {ends[1]})"
        case "in":
            return f"({left} {one(('IN', 'IN', 'NOT IN'))} ({constant()}, {constant()}))"
        case "null":
            return f"({left} IS {one(('', 'NOT '))}NULL)"
        case _:
            return f"({left} {how} {constant()})"


def _condition(draw: random.Random, column: str, depth: int) -> str:
    if depth > 0 and draw.random() < 0.5:
        word = draw.choice((" AND ", " AND ", " OR "))
        parts = [_condition(draw, column, depth - 1) for _ in range(2)]
        inside = f"({word.join(parts)})"
        return draw.choice((inside, inside, inside, f"(NOT {inside})"))
    clock = _clock(draw, column)

    def day() -> str:
        return f"'{_safe(_day(draw))}'"

    match draw.choice(("time", "time", "date", "date", "field", "field", "text")):
        case "time":
            return _compared(draw, clock, day)
        case "date":
            return _compared(draw, f"{clock}::date", day)
        case "text":
            template = draw.choice(_TEMPLATES)
            return (
                f"(to_char({clock}, '{template}') {draw.choice(('=', '<>', '='))}"
                f" '{_example(draw, template)}')"
            )
        case _:
            field = draw.choice(list(_FIELDS))
            call = draw.choice(
                (f"extract({field} FROM {clock})", f"extract({field} FROM {clock})::int")
            )
            return _compared(draw, call, lambda: str(draw.randint(*_FIELDS[field])))


def _example(draw: random.Random, template: str) -> str:
    year, month, day = _safe(_day(draw)).split("-")
    return {
        **{"YYYY": year, "YYYY-MM": f"{year}-{month}", "YYYY-MM-DD": f"{year}-{month}-{day}"},
        **{"MM": month, "Mon YYYY": f"Mar {year}", "FMMonth": "March", "Q/YYYY": f"1/{year}"},
        'IYYY-"W"IW': f"{year}-W{month}",
    }[template]


@pytest.fixture(scope="module")
def times(hostile: psycopg.Connection) -> Iterator[psycopg.Connection]:
    """Rows at starts of years, months and days by several clocks, within the policy's bounds and beyond."""
    starts = (
        "SELECT (g AT TIME ZONE zone) + beside * interval '1 microsecond' AS at"
        " FROM generate_series(timestamp '1999-06-01', '2021-06-01', '1 month') g,"
        f" unnest(ARRAY{list(_ZONES)}) zone, unnest(ARRAY[-1, 0]) beside"
    )
    drawn = (
        "SELECT timestamptz '1999-01-01' + (n * 7919 % 8100) * interval '1 day'"
        " + (n * 104729 % 86400) * interval '1 second' FROM generate_series(1, 2000) n"
    )
    beyond = (
        "SELECT unnest(ARRAY['infinity', '-infinity', '2035-02-03', '1970-05-06', '4000-01-01',"
        " '0003-04-05 BC']::timestamptz[])"
    )
    with hostile.transaction(force_rollback=True):
        hostile.execute(
            "INSERT INTO w.people (id, tz, ts, d)"
            " SELECT 100000 + row_number() OVER (), at, at::timestamp, at::date"
            f" FROM ({starts} UNION ALL {drawn} UNION ALL {beyond}) x(at)".encode()
        )
        yield hostile


@cache
def _of_all(key: str) -> BlockPlan:
    pipeline = walk(f"SELECT {key}, count(*) FROM people GROUP BY 1")
    assert pipeline is not None
    return pipeline.plan.blocks[0]


@pytest.mark.long
@pytest.mark.parametrize("seed, statements", _STATEMENTS)
def test_no_group_is_lost(times: psycopg.Connection, seed: int, statements: int) -> None:
    draw = random.Random(seed)
    narrower = tried = 0
    for _ in range(statements):
        column = draw.choice(("tz", "tz", "ts", "d"))
        key, where = draw.choice(_KEYS).format(c=column), _condition(draw, column, 2)
        source = "people"
        if draw.random() < 0.3:
            source = f"(SELECT * FROM people WHERE {_condition(draw, column, 1)}) q"
        elif draw.random() < 0.2:
            day = f"{_clock(draw, column)}::date"
            source = f"(SELECT {column}, {day} AS day FROM people) q"
            where = f"{where} AND day >= '{_safe(_day(draw))}'"
        text = f"SELECT {key}, count(*) FROM {source} WHERE {where} GROUP BY 1"
        try:
            pipeline = walk(text)
        except Refusal as refusal:
            assert refusal.code in (Code.UNSUPPORTED, Code.TOO_COMPLEX), (text, refusal)
            continue
        assert pipeline is not None
        (plan,) = pipeline.plan.blocks[0].keys
        of_all = _of_all(key).keys[0].values
        assert plan.values is not None and of_all is not None, text
        assert set(plan.values) <= set(of_all), text
        block = replace(pipeline.plan.blocks[0], keys=(replace(plan, values=of_all),))
        (query,) = compile_block(block)
        found = times.execute(
            query.sql.encode(), {**query.parameters, **dict.fromkeys(query.seeds, 42)}
        )
        lost = {row[0] for row in found} & set(of_all) - set(plan.values)
        assert not lost, (text, sorted(map(str, lost)))
        tried += 1
        narrower += len(plan.values) < len(of_all)
    assert tried > statements * 0.8
    assert narrower > tried / 2
