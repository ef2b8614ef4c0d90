"""Several keys of one column: no combination is left out that PostgreSQL finds, few are kept that it cannot."""

from __future__ import annotations

import random  # noqa: TID251  the same statements in every run
from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction

import psycopg
import pytest

from proxy.base.zones import zone_named
from proxy.kernel.plan import BlockPlan
from proxy.mechanisms.loss import Loss
from proxy.planner.facts import PlanningContext
from proxy.planner.planning import plan
from proxy.query.bind.time_zones import in_zone
from proxy.query.ir.query import Query
from tests.pipeline_world import CATALOG, KNOWN_PUBLIC, POLICIES, read, walk
from tests.postgres_labels import POSTGRES_LABELS
from tests.unchecked_blocks import compile_block

_OF_TIMES = (
    *("date_trunc('month', {0})", "date_trunc('year', {0})", "date_trunc('week', {0})"),
    *(
        "date_trunc('quarter', {0})::date",
        "date_trunc('month', {0})::date",
        "extract(year FROM {0})",
    ),
    *("extract(month FROM {0})::int", "extract(quarter FROM {0})", "extract(isodow FROM {0})"),
    *("to_char({0}, 'YYYY-MM')", "extract(week FROM {0})", "extract(isoyear FROM {0})"),
    *("extract(month FROM date_trunc('quarter', {0}))", "'Q' || extract(quarter FROM {0})"),
)
_OF_HOURS = (
    "date_trunc('hour', {0})",
    "extract(hour FROM {0})",
    "({0})::date",
    "date_trunc('day', {0})",
)
_OF_NUMBERS = (
    *("i4 / 10", "i4 / 50", "floor(i4 / 25) * 25", "i4 % 3", "width_bucket(i4, 0, 100, 4)"),
    *(
        "i4 / 20 || '0'",
        "i4 - i4 % 10",
        "floor(i4 / 100.0 * 7)",
        "round(i4, -1)",
        "abs(i4 - 50) / 10",
    ),
)
_ZONES = ("UTC", "America/Sao_Paulo", "Europe/Berlin", "Asia/Kathmandu")
_ROWS = """
INSERT INTO w.people (id, d, ts, tz, i4)
SELECT n, date '2009-12-20' + n % 90, timestamp '2009-12-20' + n * interval '67 minutes 13 seconds',
       timestamptz '2009-12-20 00:00:00+00' + n * interval '61 minutes 7 seconds', n % 101
FROM generate_series(1, 2000) n
"""
_NARROW = (
    "{0} >= '2009-12-25' AND {0} < '2010-02-10'",
    "{0} BETWEEN '2010-01-03 04:00' AND '2010-01-06 01:30'",
)


@pytest.fixture(scope="module")
def within(hostile: psycopg.Connection) -> Iterator[psycopg.Connection]:
    """Rows whose values are within the bounds, and some without any."""
    with hostile.transaction(force_rollback=True):
        hostile.execute("DELETE FROM w.people")
        hostile.execute(_ROWS)
        hostile.execute("INSERT INTO w.people (id) VALUES (0)")
        yield hostile


def _block(sql: str, zone: str) -> BlockPlan:
    found, known_zone = read(sql), zone_named(zone)
    assert found is not None and known_zone is not None
    query = found[1].query
    if not known_zone.is_utc:
        blocks = tuple(in_zone(block, known_zone) for block in query.blocks)
        query = Query(blocks, query.scalars)
    known = PlanningContext(POLICIES["world"], CATALOG, KNOWN_PUBLIC, evaluating=POSTGRES_LABELS)
    return plan(query, known, Loss(Fraction(8), Fraction(1, 1000))).blocks[0]


def _statement(draw: random.Random) -> str:
    column = draw.choice(("d", "ts", "tz", "i4"))
    if column == "i4":
        number = draw.choice((2, 2, 3))
        keys, where = draw.sample(_OF_NUMBERS, number), draw.choice(("true", "i4 BETWEEN 7 AND 61"))
    else:
        is_short = column != "d" and draw.random() < 0.3
        where = _NARROW[is_short].format(column)
        forms = (*_OF_TIMES, *(_OF_HOURS * 3 if is_short else ()))
        keys = [form.format(column) for form in draw.sample(forms, draw.choice((2, 2, 3)))]
    keys = list(dict.fromkeys(keys))
    listed = ", ".join(f"{key} AS x{n}" for n, key in enumerate(keys))
    places = ", ".join(str(n) for n in range(1, len(keys) + 1))
    names = ", ".join(f"x{n}" for n in range(len(keys)))
    sources = (
        f"SELECT {listed}, count(*) FROM people WHERE {where} GROUP BY {places}",
        f"SELECT {names}, count(*) FROM (SELECT {listed} FROM people WHERE {where}) q GROUP BY {places}",
        f"SELECT {names}, count(*) FROM (SELECT {listed}, {column} FROM people) q WHERE {where}"
        f" GROUP BY {places}",
        f"SELECT {names}, count(*) FROM (SELECT *, {keys[0]} AS x0 FROM (SELECT {column}, "
        f"{', '.join(f'{key} AS x{n}' for n, key in enumerate(keys) if n)} FROM people) p) q"
        f" WHERE {where} GROUP BY {places}",
    )
    return draw.choice(sources)


@pytest.mark.parametrize(
    "seed, statements", [(1, 12), pytest.param(2, 600, marks=pytest.mark.long)]
)
def test_no_combination_is_lost(within: psycopg.Connection, seed: int, statements: int) -> None:
    draw = random.Random(seed)
    of_found = of_answered = listed = 0
    for _ in range(statements):
        sql, zone = _statement(draw), draw.choice(_ZONES)
        block = _block(sql, zone)
        if any(key.values is None for key in block.keys):  # too many to list
            continue
        listed += 1
        (query,) = compile_block(replace(block, combinations=None))
        rows = within.execute(
            query.sql.encode(), {**query.parameters, **dict.fromkeys(query.seeds, 42)}
        )
        found = {tuple(row[: len(block.keys)]) for row in rows}
        answered = set(block.combinations or ()) or None
        lost = set() if answered is None else found - answered
        assert not lost, (sql, zone, sorted(map(str, lost))[:5])
        of_found += len(found)
        of_answered += block.groups() or 0
        assert (block.groups() or 0) <= 12 * len(found) + 40 or zone != "UTC", (sql, zone)
    assert listed > statements * 0.7
    assert of_answered < 8 * of_found


@pytest.mark.parametrize("key", ["left(x || x, 2)", "upper(x) || 'a'", "x", "length(x || x)"])
def test_a_key_that_can_have_no_value(hostile: psycopg.Connection, key: str) -> None:
    """No row fulfils the condition, so that there is no group; the statement is one all the same."""
    source = "SELECT CASE WHEN i2 = 0 THEN 'x' ELSE 'y' END AS x FROM people WHERE i2 = NULL"
    pipeline = walk(f"SELECT {key}, count(*) FROM ({source}) q GROUP BY 1")
    assert pipeline is not None
    for query in compile_block(pipeline.plan.blocks[0]):
        assert (
            hostile.execute(
                query.sql.encode(), {**query.parameters, **dict.fromkeys(query.seeds, 42)}
            ).fetchall()
            == []
        )
