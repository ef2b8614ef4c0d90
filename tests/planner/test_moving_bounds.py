"""Bounds that end with the present: a constant of the day in the plan, and no group of later rows."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

import psycopg
import pytest

from proxy.base.errors import Fault
from proxy.kernel.plan import BlockPlan, SampleAggregate
from proxy.planner import planning
from proxy.planner.facts import PlanningContext
from proxy.planner.later_rows import present_lines
from proxy.query.ir.query import Query
from proxy.reuse.block_question import question_of
from tests.moving_world import day_number, moving_policy, planned_on
from tests.pipeline_world import CATALOG, read
from tests.postgres_labels import POSTGRES_LABELS
from tests.servers_fixture import servers
from tests.unchecked_blocks import compile_block

_TODAY, _TOMORROW = "2026-11-26", "2026-11-27"


def _groups(text: str, day: str = _TODAY) -> tuple[str | None, ...]:
    (key,) = planned_on(day, text).keys
    assert key.values is not None
    return key.values


def test_groups_end_with_the_present() -> None:
    months = _groups("SELECT date_trunc('month', ts), count(*) FROM people GROUP BY 1")
    assert (months[0], months[-1]) == ("2018-01-01 00:00:00", "2026-11-01 00:00:00")
    assert len(months) == 8 * 12 + 11


def test_a_day_that_has_just_begun_is_no_group_of_a_timestamp_column() -> None:
    """Of it, and of its month, there would be rows of one microsecond: noise."""
    days = "SELECT date_trunc('day', tz), count(*) FROM people WHERE tz >= '2026-11-20' GROUP BY 1"
    assert _groups(days)[-1] == "2026-11-25 00:00:00+00"
    months = "SELECT date_trunc('month', ts), count(*) FROM people GROUP BY 1"
    assert _groups(months, "2026-12-01")[-1] == "2026-11-01 00:00:00"
    assert _groups(months, "2026-12-02")[-1] == "2026-12-01 00:00:00"


def test_today_is_a_group_of_a_date_column() -> None:
    days = "SELECT date_trunc('day', d), count(*) FROM people WHERE d >= '2026-11-20' GROUP BY 1"
    assert _groups(days)[-1] == "2026-11-26 00:00:00+00"


def test_without_the_day_there_is_no_plan() -> None:
    with pytest.raises(Fault):
        planned_on(None, "SELECT date_trunc('month', ts), count(*) FROM people GROUP BY 1")
    with pytest.raises(Fault):
        planned_on(None, "SELECT max(d) FROM people")


def test_least_and_largest_are_within_the_constant() -> None:
    (release,) = planned_on(_TODAY, "SELECT max(d) FROM people").releases
    assert isinstance(release, SampleAggregate)
    assert release.measured.clamp.high == day_number(_TODAY)
    (later,) = planned_on(_TOMORROW, "SELECT max(d) FROM people").releases
    assert isinstance(later, SampleAggregate)
    assert later.measured.clamp.high == day_number(_TOMORROW)


# Of which the plan has the constant, and of which it has not.
_CONCERNED = (
    "SELECT date_trunc('day', d), count(*) FROM people WHERE d >= '2026-01-01' GROUP BY 1",
    "SELECT date_trunc('year', ts), count(*) FROM people GROUP BY 1",
    "SELECT d, count(*) FROM people GROUP BY 1",
    "SELECT max(ts) FROM people",
)
_UNCONCERNED = (
    "SELECT count(*) FROM people",
    "SELECT t, avg(i4) FROM people GROUP BY 1",
    "SELECT count(*) FROM people WHERE d >= '2026-11-20'",
)


@pytest.mark.parametrize("text", [*_CONCERNED, *_UNCONCERNED])
def test_the_question_of_a_day_is_one(text: str) -> None:
    today, again, tomorrow = (
        question_of(planned_on(day, text)) for day in (_TODAY, _TODAY, _TOMORROW)
    )
    assert today == again
    assert (today == tomorrow) is (text in _UNCONCERNED)


# What a key is computed of, whatever stands between.
_KEYED = (
    "SELECT date_trunc('year', ts), count(*) FROM people GROUP BY 1",
    "SELECT d, count(*) FROM people GROUP BY 1",
    "SELECT extract(hour FROM ts), count(*) FROM people GROUP BY 1",
    "SELECT CASE WHEN ts > '2030-01-01' THEN 'later' ELSE 'now' END, count(*) FROM people GROUP BY 1",
    "SELECT m, count(*) FROM (SELECT date_trunc('year', ts) AS m FROM people) s GROUP BY 1",
    "SELECT date_trunc('year', at), count(*) FROM (SELECT ts AS at FROM people) s GROUP BY 1",
    "SELECT at, count(*) FROM (SELECT date_trunc('year', ts) AS at FROM people"
    " UNION ALL SELECT date_trunc('year', tz::timestamp) FROM people) s GROUP BY 1",
    "SELECT date_trunc('year', f), count(*) FROM"
    " (SELECT uid, min(ts) AS f FROM orders GROUP BY uid) s GROUP BY 1",
    "SELECT date_trunc('year', o.ts), count(*) FROM members m JOIN orders o ON o.uid = m.uid GROUP BY 1",
    "WITH s AS (SELECT uid, date_trunc('month', d) AS m FROM orders) SELECT m, count(*) FROM s GROUP BY 1",
    "SELECT DISTINCT d FROM people",
)


def _sql(block: BlockPlan) -> str:
    return "\n".join(query.sql for query in compile_block(block))


@pytest.mark.parametrize("text", _KEYED)
def test_later_rows_are_left_out_wherever_a_key_comes_from(text: str) -> None:
    sql = _sql(planned_on(_TODAY, text))
    column = "d" if '"d"' in sql else "ts"
    assert f'."{column}" IS NULL) OR (r1."{column}" <= ' in sql.replace("r2", "r1"), sql
    assert sql.count(" IS NULL) OR ") == (2 if "UNION" in text else 1)


def test_what_is_no_key_is_not_cut() -> None:
    """Of a count of all rows later ones are a part."""
    for text in (*_UNCONCERNED, "SELECT max(ts), count(*) FROM people"):
        assert " IS NULL) OR " not in _sql(planned_on(_TODAY, text)), text


def test_the_constant_is_told() -> None:
    def told(text: str) -> tuple[str, ...]:
        found = read(text)
        assert found is not None
        known = PlanningContext(
            moving_policy(), CATALOG, {}, day=day_number(_TODAY), evaluating=POSTGRES_LABELS
        )
        return present_lines(Query(found[1].query.blocks), known)

    assert told("SELECT count(*) FROM people") == ()
    assert told(_KEYED[1]) == (
        '"d" ends with 2026-11-26, which is now: later rows are in no group',
    )
    (line,) = told("SELECT max(ts) FROM people")
    assert line.startswith('"ts" ends with 2026-11-25 23:59:59.999999, which is now: later values')
    assert len(told("SELECT extract(year FROM d), max(ts) FROM people GROUP BY 1")) == 2


def test_a_rule_does_not_say_that_later_rows_are_in_the_last_group() -> None:
    (key,) = planned_on(
        _TODAY, "SELECT date_trunc('year', ts), count(*) FROM people GROUP BY 1"
    ).keys
    assert key.left_out == (
        "rows whose ts is null are in no group",
        "rows whose ts is below its bounds in the policy count in the first group",
    )


@pytest.fixture(scope="module")
def rows() -> Iterator[psycopg.Connection]:
    """On PostgreSQL: a row each month from 2017 to 2036, one without a time, and one at infinity."""
    with psycopg.connect(servers().protected.dsn("postgres"), autocommit=True) as connection:
        connection.execute("CREATE SCHEMA IF NOT EXISTS w")
        connection.execute(
            "CREATE TABLE w.people AS SELECT n::int AS id, (date '2017-01-01' + make_interval(months => n))"
            " AS ts, (date '2017-01-01' + make_interval(months => n))::date AS d"
            " FROM generate_series(0, 239) n"
        )
        connection.execute(
            "INSERT INTO w.people VALUES (-1, NULL, NULL), (-2, 'infinity', 'infinity')"
        )
        yield connection
        connection.execute("DROP SCHEMA w CASCADE")


def test_postgresql_has_later_rows_in_no_group(rows: psycopg.Connection) -> None:
    text = "SELECT date_trunc('year', ts), count(*) FROM people GROUP BY 1"
    (query,) = compile_block(planned_on(_TODAY, text))
    found: dict[str, int] = dict(
        rows.execute(query.sql.encode(), dict(query.parameters)).fetchall()
    )
    # 2017 counts in the first group, as with every bound; 2027 to 2036 and infinity nowhere.
    assert found["2018-01-01 00:00:00"] == 24
    assert found["2025-01-01 00:00:00"] == 12
    assert found["2026-01-01 00:00:00"] == 11
    assert sum(found.values()) == 24 + 7 * 12 + 11 and len(found) == 9


def test_the_guard_is_what_leaves_them_out(
    rows: psycopg.Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without it the last group has all of them."""
    monkeypatch.setattr(planning, "without_later_rows", lambda query, known: query)
    text = "SELECT date_trunc('year', ts), count(*) FROM people GROUP BY 1"
    (query,) = compile_block(planned_on(_TODAY, text))
    found: dict[str, int] = dict(
        rows.execute(query.sql.encode(), dict(query.parameters)).fetchall()
    )
    assert found["2026-01-01 00:00:00"] == 12 * 11 + 1


def test_a_coarse_grid_keeps_the_constant_for_as_long() -> None:
    policy = moving_policy(grids={"d": Fraction(7)})
    ends = [
        planned_on(day, "SELECT max(d) FROM people", policy).releases[0]
        for day in ("2026-11-26", "2026-12-02", "2026-12-03")
    ]
    assert ends[0] == ends[1] != ends[2]
