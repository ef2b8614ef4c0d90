"""No group is left out that PostgreSQL finds: narrowed keys beside its own evaluation of random conditions."""

from __future__ import annotations

import random  # noqa: TID251  the same statements in every run
import re
from collections.abc import Callable
from dataclasses import replace
from functools import cache

import psycopg
import pytest

from proxy.base.errors import Refusal
from tests.pipeline_world import walk
from tests.unchecked_blocks import compile_block

_CONSTANTS = {
    "t": ("'x'", "'y'", "'unlisted'", "''", "NULL"),
    "c": ("'a'", "'a '", "'bb'", "'zz'"),
    "s": ("'x'", "'abc'", "'ab%'"),
    "e": ("'low'", "'high'", "'a '"),
    "i2": ("1", "2", "1.5", "-5", "NULL"),
    "i4": ("0", "42", "41.5", "100", "2147483647", "-1"),
    "n2": ("0", "174.99", "175", "0.01", "0.015"),
    "n": ("7.5", "-2.5", "0.12345678901234567890", "1", "1.00"),
    "f8": ("99.995", "-100", "0.285", "0.1", "0.3", "0"),
    "d": ("'2010-07-08'", "'2000-01-01'", "timestamp '2010-07-08 12:00'", "'2020-01-01'"),
    "ts": (
        "'2010-07-08 09:10:11.5'",
        "'2000-01-01'",
        "date '2010-07-08'",
        "'2010-07-08 09:10:11.500001'",
    ),
    "tz": ("'2010-07-08 06:10:11.5+00'", "'2019-12-31 00:00:00+00'", "'2010-07-08 09:10:11.5+03'"),
}
_KEYS = (
    *("t", "c", "e", "b", "i2", "t = 'x'", "i4 > 5", "s = 'x'", "b IS NULL"),
    *("date_trunc('month', d)", "date_trunc('day', ts)", "date_trunc('year', tz)"),
    *(
        "extract(year FROM d)",
        "extract(month FROM ts)",
        "extract(hour FROM tz)",
        "extract(dow FROM d)",
    ),
    *("floor(n)", "ceil(n2)", "round(n)", "trunc(n)", "floor(f8 / 10)", "floor(i4 / 10.0) * 10"),
    *("width_bucket(n2, 0, 100, 7)", "width_bucket(i4, 100, 0, 4)"),
    *(
        "CASE WHEN i4 < 30 THEN 'a' WHEN i4 >= 42 THEN 'b' END",
        "CASE WHEN t = 'x' AND b THEN 1 ELSE 2 END",
    ),
    *("CASE WHEN d < '2010-07-08' OR d IS NULL THEN 'a' WHEN c = 'a' THEN 'b' ELSE 'c' END",),
)
_COMPARATORS = ("=", "<>", "<", "<=", ">", ">=", "IS DISTINCT FROM", "IS NOT DISTINCT FROM")
_STATEMENTS = [(7, 40), pytest.param(8, 3_000, marks=pytest.mark.long)]


def random_condition(draw: random.Random, key: str, depth: int) -> str:
    own = [name for name in _CONSTANTS if re.search(rf"\b{name}\b", key)]
    column = draw.choice(own if own and draw.random() < 0.8 else list(_CONSTANTS))
    constants = _CONSTANTS[column]
    one = draw.choice
    if depth > 0 and draw.random() < 0.6:
        word = one((" AND ", " OR "))
        parts = [random_condition(draw, key, depth - 1) for _ in range(draw.randint(2, 3))]
        inside = f"({word.join(parts)})"
        return one((inside, inside, f"(NOT {inside})", f"({inside} IS NOT TRUE)"))
    makes: tuple[Callable[[], str], ...] = (
        *(lambda: f"({column} {one(_COMPARATORS)} {one(constants)})",) * 4,
        lambda: f"({one(constants[:-1])} {one(_COMPARATORS[:6])} {column})",
        lambda: f"({column} {one(('IN', 'NOT IN'))} ({', '.join(draw.sample(constants, 2))}))",
        lambda: f"({column} BETWEEN {one(constants)} AND {one(constants)})",
        lambda: f"({column} IS {one(('', 'NOT '))}NULL)",
        lambda: f"(b{one(('', ' IS TRUE', ' IS NOT FALSE', ' IS NULL'))})",
        lambda: (
            f"(CASE WHEN {column} = {one(constants)} THEN b ELSE {column} < {one(constants)} END)"
        ),
    )
    return one(makes)()


def _about(draw: random.Random, key: str) -> str:
    """A condition on the key itself too, sometimes."""
    if draw.random() < 0.8 or (
        "date_trunc" not in key and "floor(n)" not in key and "extract" not in key
    ):
        return ""
    constant = "'2010-07-01'" if "date_trunc" in key else draw.choice(("7", "2010", "6"))
    return f" AND {key} {draw.choice(_COMPARATORS)} {constant}"


@cache
def _of_all(key: str) -> tuple[str | None, ...]:
    pipeline = walk(f"SELECT {key}, count(*) FROM people GROUP BY 1")
    assert pipeline is not None
    values = pipeline.plan.blocks[0].keys[0].values
    assert values is not None
    return values


@pytest.mark.parametrize("seed, statements", _STATEMENTS)
def test_no_group_is_lost(hostile: psycopg.Connection, seed: int, statements: int) -> None:
    draw = random.Random(seed)
    narrower = tried = 0
    for _ in range(statements):
        key = draw.choice(_KEYS)
        where = random_condition(draw, key, 2) + _about(draw, key)
        if draw.random() < 0.3:
            below = random_condition(draw, key, 1)
            source = f"(SELECT * FROM people WHERE {below}) q"
        else:
            source = "people"
        try:
            pipeline = walk(f"SELECT {key}, count(*) FROM {source} WHERE {where} GROUP BY 1")
        except Refusal as refusal:
            assert "NO_" not in str(refusal.code), (key, where)
            continue
        assert pipeline is not None
        of_all, (plan,) = _of_all(key), pipeline.plan.blocks[0].keys
        assert plan.values is not None, (key, where)
        assert set(plan.values) <= set(of_all), (key, where)
        assert list(plan.values) == [v for v in of_all if v in plan.values], (key, where)
        block = replace(pipeline.plan.blocks[0], keys=(replace(plan, values=of_all),))
        (query,) = compile_block(block)
        found = hostile.execute(
            query.sql.encode(), {**query.parameters, **dict.fromkeys(query.seeds, 42)}
        )
        lost = {row[0] for row in found} & set(of_all) - set(plan.values)
        assert not lost, (key, source, where, lost)
        tried += 1
        narrower += len(plan.values) < len(of_all)
    assert tried > statements * 0.8
    assert narrower > tried / 4
