"""The answer of one aggregate subquery in every place of another: used, or refused, never a crash."""

from __future__ import annotations

import pytest

from proxy.base.errors import Refusal
from tests.pipeline_world import walk

_AGGREGATES = (
    *("count(*)", "sum(i4)", "avg(f8)", "min(d)", "max(ts)", "max(tz)", "max(f4)", "sum(n2)"),
    *("max(i2)", "stddev(i4)"),
)
_CONDITIONS = (
    *("i4 IN ({0}, 3)", "{0} IN (1, 2)", "i4 IN ({0})", "i4 NOT IN (3, {0})", "n IN ({0}, 1)"),
    *("d IN ({0}, '2020-01-01')", "ts IN ({0})", "tz IN ({0}, {0})", "s IN ({0})", "b IN ({0})"),
    *("left(s, {0}) = 'x'", "substr(s, {0}, 2) = 'x'", "substr(s, 2, {0}) = 'x'", "s LIKE {0}"),
    *("strpos(s, {0}) = 1", "btrim(s, {0}) = 'x'", "starts_with(s, {0})", "{0} LIKE 'x'"),
    *("i4 BETWEEN {0} AND {0}", "i4 / {0} = 1", "i4 % {0} = 1", "round(n, {0}) = 1", "-{0} = i4"),
    *("width_bucket(i4, {0}, 10, 3) = 1", "width_bucket({0}, 0, 10, 3) = 1", "abs({0}) = 1"),
    *("extract(year FROM {0}) = 2000", "date_trunc('day', {0}) = ts", "({0})::int = i4"),
    *("({0})::text = s", "({0})::date = d", "{0} IS NULL", "{0} IS TRUE", "NOT {0}", "{0}"),
    *("CASE WHEN b THEN {0} ELSE 1 END = 1", "CASE {0} WHEN 1 THEN b END", "{0} = {0}"),
    *("coalesce(i4, {0}) = 1", "coalesce(d, {0}) = d", "nullif(i4, {0}) = 1", "length({0}) = 1"),
    *("greatest(ts, {0}) = ts", "upper({0}) = 'x'", "{0} AT TIME ZONE 'UTC' = ts", "f8 * {0} > 1"),
    *("i4 IN (SELECT k FROM rates WHERE k > {0})", "i4 + {0} > 1", "i4 IS DISTINCT FROM {0}"),
)
_PLACES = (
    "SELECT count(*) FROM people WHERE {0}",
    "SELECT count(*) FILTER (WHERE {0}) FROM people",
    "SELECT sum(CASE WHEN {0} THEN i4 END) FROM people",
    "SELECT count(*) FROM (SELECT i4 FROM people WHERE {0}) q",
    "SELECT count(*) FROM people GROUP BY ({0})",
    "SELECT sum(n) FROM (SELECT uid, count(*) n FROM orders GROUP BY uid HAVING {0}) q",
)


@pytest.mark.every(6)
@pytest.mark.parametrize("part", [0, pytest.param(1, marks=pytest.mark.long)])
@pytest.mark.parametrize("condition", _CONDITIONS)
def test_an_answer_in_another_block(condition: str, part: int) -> None:
    """Every other aggregate in every run, the rest at night; of the next condition the other way round."""
    for aggregate in _AGGREGATES[(_CONDITIONS.index(condition) + part) % 2 :: 2]:
        for place in _PLACES:
            try:
                walk(place.format(condition.format(f"(SELECT {aggregate} FROM orders)")))
            except Refusal as refusal:
                assert refusal.hint


def test_an_answer_in_a_list_is_compared_like_the_others() -> None:
    pipeline = walk("SELECT count(*) FROM people WHERE i4 IN ((SELECT count(*) FROM orders), 3)")
    assert pipeline is not None
    sql = pipeline.queries[1][0].sql
    assert "::numeric IN (%(s" in sql and ")s::numeric, %(p" in sql
