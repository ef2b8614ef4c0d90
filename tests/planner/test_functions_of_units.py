"""A function of starts of units has a group for each of them, not for each day between them."""

from __future__ import annotations

import pytest

from tests.pipeline_world import walk

_WEEK = "date_trunc('week', {c} + interval '1 day') - interval '1 day'"


@pytest.mark.every(4)
@pytest.mark.parametrize("column", ["tz", "ts", "d"])
@pytest.mark.parametrize(
    ("key", "groups"),
    [
        (f"to_char({_WEEK}, 'YYYY-MM-DD')", 53),
        ("to_char(date_trunc('month', {c}), 'YYYY-MM-DD HH24:MI:SS')", 12),
        ("to_char(date_trunc('month', {c}) + interval '1 day', 'DD')", 1),
        ("date_trunc('day', date_trunc('month', {c}))", 12),
        ("date_trunc('hour', date_trunc('month', {c}::timestamptz), 'America/New_York')", 12),
        ("date_trunc('month', date_trunc('week', {c}))", 13),
        ("date_bin('1 hour', date_trunc('month', {c}::timestamp), timestamp '2000-01-01')", 12),
        (f"({_WEEK})::date", 53),
    ],
)
def test_each_start_is_a_group(key: str, groups: int, column: str) -> None:
    clock = key.format(c=column)
    where = f"{column} >= '2010-01-01' AND {column} < '2011-01-01'"
    pipeline = walk(f"SELECT {clock}, count(*) FROM people WHERE {where} GROUP BY 1")
    assert pipeline is not None
    assert pipeline.plan.blocks[0].groups() == groups
