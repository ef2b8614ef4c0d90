"""How many groups a condition on a function of a time leaves: as many as the condition on the time does."""

from __future__ import annotations

import time

import pytest

from tests.machine_speed import allowed_work
from tests.pipeline_world import walk

# Each of them leaves the three months from January to March 2010.
_THREE_MONTHS = (
    "{c} >= '2010-01-01' AND {c} < '2010-04-01'",
    "date_trunc('month', {c}) BETWEEN '2010-01-01' AND '2010-03-01'",
    "date_trunc('day', {c}) BETWEEN '2010-01-01' AND '2010-03-31'",
    "date_trunc('quarter', {c}) = '2010-01-01'",
    "{c}::date BETWEEN '2010-01-01' AND '2010-03-31'",
    "date({c}) >= '2010-01-01' AND date({c}) <= '2010-03-31'",
    "({c} AT TIME ZONE 'UTC')::date >= '2010-01-01' AND ({c} AT TIME ZONE 'UTC')::date < '2010-04-01'",
    "{c}::timestamp >= '2010-01-01' AND {c}::timestamp < '2010-04-01'",
    "extract(year FROM {c}) = 2010 AND extract(quarter FROM {c}) = 1",
    "extract(year FROM {c})::int = 2010 AND extract(month FROM {c}) <= 3",
    "date_part('year', {c}) = 2010 AND date_part('month', {c}) IN (1, 2, 3)",
    "to_char({c}, 'YYYY-MM') IN ('2010-01', '2010-02', '2010-03')",
    "to_char({c}, 'YYYY') = '2010' AND extract(doy FROM {c}) <= 90",
    "extract(epoch FROM {c}) >= 1262304000 AND extract(epoch FROM {c}) < 1270080000",
    "{c} + interval '1 month' >= '2010-02-01' AND {c} + interval '1 month' < '2010-05-01'",
    "date_trunc('month', {c})::date >= '2010-01-01' AND date_trunc('month', {c})::date <= '2010-03-01'",
    "date '2010-03-31' - {c}::date BETWEEN 0 AND 89",
    "timestamp '2010-04-01' - {c}::timestamp <= interval '90 days' AND {c} < '2010-04-01'",
    "greatest({c}, '2009-12-31') >= '2010-01-01' AND coalesce({c} < '2010-04-01', false)",
    "extract(year FROM {c}) * 10 + extract(quarter FROM {c}) = 20101",
    "extract(year FROM {c})::text = '2010' AND -extract(quarter FROM {c}) >= -1",
    "{c}::date::text LIKE '2010-0%' AND {c}::date::text <= '2010-03-31'",
    "to_char({c}, 'Mon YYYY') IN ('Jan 2010', 'Feb 2010', 'Mar 2010')",
)
_MONTHS = {
    "date_trunc('month', {c})": 3,
    "date_trunc('month', {c})::date": 3,
    "to_char({c}, 'YYYY-MM')": 3,
    "extract(month FROM {c})": 3,
    "date_trunc('year', {c})": 1,
    "extract(year FROM {c})": 1,
    "date_trunc('day', {c})": 90,
    "{c}::date": 90,
}


def _groups(text: str) -> int:
    pipeline = walk(text)
    assert pipeline is not None
    block = pipeline.plan.blocks[0]
    groups = block.groups()
    assert groups is not None
    return groups


@pytest.mark.every(24)
@pytest.mark.parametrize("column", ["tz", "ts", "d"])
@pytest.mark.parametrize("condition", _THREE_MONTHS)
def test_each_key_with_each_condition(condition: str, column: str) -> None:
    where = condition.format(c=column)
    for key, groups in _MONTHS.items():
        if column == "d" and key == "{c}::date":
            continue  # the column itself is a private key
        text = f"SELECT {key.format(c=column)}, count(*) FROM people WHERE {where} GROUP BY 1"
        assert _groups(text) == groups, text


@pytest.mark.parametrize(
    "text, groups",
    [
        (
            "SELECT date_trunc('month', day), count(*) FROM (SELECT date_trunc('day', tz) AS day FROM people)"
            " q WHERE day BETWEEN '2010-01-01' AND '2010-03-31' GROUP BY 1",
            3,
        ),
        (
            "SELECT date_trunc('month', tz), count(*) FROM (SELECT tz, extract(year FROM tz) AS y FROM people)"
            " q WHERE y = 2010 GROUP BY 1",
            12,
        ),
        (
            "WITH q AS (SELECT tz::date AS day, n2 FROM people)"
            " SELECT date_trunc('month', day), sum(n2) FROM q WHERE day >= '2010-01-01'"
            " AND day < '2010-03-01' GROUP BY 1",
            2,
        ),
        (
            "SELECT m, count(*) FROM (SELECT date_trunc('month', tz) AS m, tz FROM people) q"
            " WHERE tz::date BETWEEN '2010-01-01' AND '2010-03-31' GROUP BY 1",
            3,
        ),
        (
            "SELECT extract(year FROM tz), extract(month FROM tz), count(*) FROM people"
            " WHERE to_char(tz, 'YYYY-MM') IN ('2010-01', '2012-03') GROUP BY 1, 2",
            2,
        ),
        (
            "SELECT extract(year FROM tz), extract(month FROM tz), count(*) FROM people"
            " WHERE tz >= '2010-01-01' AND tz < '2012-03-01' AND extract(dow FROM tz) IN (0, 6)"
            " GROUP BY 1, 2",
            26,
        ),
        (
            "SELECT tz::date, count(*) FROM people WHERE extract(dow FROM tz) IN (0, 6)"
            " AND extract(year FROM tz) = 2010 GROUP BY 1",
            104,
        ),
        (
            "SELECT date_trunc('hour', tz), count(*) FROM people WHERE tz::date = '2010-01-01'"
            " AND extract(hour FROM tz) < 12 GROUP BY 1",
            12,
        ),
        (
            "SELECT date_trunc('month', tz AT TIME ZONE 'Europe/Berlin'), count(*) FROM people"
            " WHERE (tz AT TIME ZONE 'Europe/Berlin')::date BETWEEN '2010-01-01' AND '2010-03-31'"
            " GROUP BY 1",
            3,
        ),
        (
            "SELECT date_trunc('month', tz, 'Europe/Berlin'), count(*) FROM people"
            " WHERE (tz AT TIME ZONE 'Europe/Berlin')::date BETWEEN '2010-10-01' AND '2010-10-31'"
            " GROUP BY 1",
            1,
        ),
    ],
)
def test_through_subqueries_and_zones(text: str, groups: int) -> None:
    assert _groups(text) == groups


def test_rows_beyond_the_bounds_are_in_the_last_group() -> None:
    """Of later years they are: what is truncated is cut to the bounds first."""
    text = "SELECT date_trunc('year', tz), count(*) FROM people WHERE extract(month FROM tz) = 12 GROUP BY 1"
    pipeline = walk(text)
    assert pipeline is not None
    values = pipeline.plan.blocks[0].keys[0].values
    assert values is not None and "2020-01-01 00:00:00+00" in values


@pytest.mark.timed
def test_many_functions_are_planned_in_bounded_time() -> None:
    """What is too much to look at narrows nothing, and is not an error."""
    fields = ("dow", "doy", "day", "week", "isodow", "month", "quarter")
    parts = [
        f"extract({field} FROM tz + interval '{number} days') <> 1"
        for number in range(1, 40)
        for field in fields
    ]
    text = f"SELECT tz::date, count(*) FROM people WHERE {' AND '.join(parts[:200])} GROUP BY 1"
    started = time.process_time()
    assert _groups(text) > 7_000
    assert time.process_time() - started < allowed_work(20)
