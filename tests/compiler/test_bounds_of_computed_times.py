"""Bounds of computed times are known through subqueries and windows: crosswise, type x function x nesting.

PostgreSQL computes each value of rows within the policy's bounds, the ends among them. All are within the
bounds that the plan has, so that nothing is cut. These are as narrow as the bounds of the columns make them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from fractions import Fraction

import psycopg
import pytest

from proxy.base.errors import Code, Refusal
from proxy.kernel.statistics import Measured
from tests.pipeline_world import POLICIES, walk
from tests.servers_fixture import servers

_POLICY = POLICIES["best"]
_YEARS = 20  # of the bounds of d, ts and tz
# What a function of a time moves it by at most, on both sides, and a day for other clocks.
_SLACK_DAYS = 2 * 400

_DATES = {
    "stored": "d",
    "cast": "tz::date",
    "local": "(tz AT TIME ZONE 'Asia/Kathmandu')::date",
    "days": "(d + 40)",
    "month": "date_trunc('month', ts)::date",
    "least": "least(d, date '2015-03-01')",
    "greatest": "greatest(tz::date, date '2003-03-01')",
    "case": "CASE WHEN i4 > 50 THEN d ELSE date '2010-01-01' END",
    "coalesce": "coalesce(d, ts::date)",
}
_INSTANTS = {
    "stored": "tz",
    "local": "(tz AT TIME ZONE 'America/New_York')",
    "cast": "tz::timestamp",
    "of a date": "d::timestamp",
    "moved": "(ts + interval '1 month')",
    "truncated": "date_trunc('week', tz)",
    "bin": "date_bin('15 minutes', tz, timestamptz '2001-01-01 00:00+00')",
    "least": "least(ts, timestamp '2015-03-01')",
    "case": "CASE WHEN i4 <> 50 THEN tz END",
    "nullif": "nullif(ts, timestamp '2010-01-01')",
}
_WINDOWS = ("lag", "lead", "first_value", "min", "max")
_NESTED = (
    # a difference with another time, in the same and in an outer query
    "SELECT {outer} FROM (SELECT uid, {time} AS a, {time} AS b FROM orders) q",
    "SELECT x FROM (SELECT {outer} AS x FROM (SELECT {time} AS a, {time} AS b FROM orders) q) r",
    # of each person's first and last
    "SELECT {outer} FROM (SELECT uid, max({time}) AS a, min({time}) AS b FROM orders GROUP BY uid) q",
    "SELECT {outer} FROM (SELECT uid, max(t) AS a, min(t) AS b FROM (SELECT uid, {time} AS t FROM orders) p"
    " GROUP BY uid) q",
    *(
        f"SELECT {{outer}} FROM (SELECT {{time}} AS a, {window}({{time}}) OVER (PARTITION BY uid ORDER BY id)"
        " AS b FROM orders) q"
        for window in _WINDOWS
    ),
    *(
        f"SELECT x FROM (SELECT {{inner}} - {window}({{time}}) OVER (PARTITION BY uid ORDER BY id){{end}} AS x"
        " FROM orders) q"
        for window in _WINDOWS
    ),
)
_STATEMENTS = [
    pytest.param(
        nested.format(
            time=time,
            outer="a - b" if is_date else "extract(epoch FROM a - b)",
            inner=time if is_date else f"extract(epoch FROM {time}",
            end="" if is_date else ")",
        ),
        is_date,
        id=f"{'date' if is_date else 'time'}-{name}-{number}",
    )
    for times, is_date in ((_DATES, True), (_INSTANTS, False))
    for name, time in times.items()
    for number, nested in enumerate(_NESTED)
]


@pytest.fixture(scope="module")
def rows() -> Iterator[psycopg.Connection]:
    """Orders at the ends of the bounds and in between, in the tables' own types."""
    with psycopg.connect(servers().protected.dsn("postgres"), autocommit=True) as connection:
        connection.execute(
            "CREATE TEMP TABLE orders (id int, uid int, i4 int, d date, ts timestamp, tz timestamptz)"
        )
        connection.execute("SET TimeZone = 'UTC'")
        connection.execute(
            "INSERT INTO orders SELECT n, n % 5, n % 101, t::date, t, t AT TIME ZONE 'UTC' FROM (SELECT n,"
            " timestamp '2000-01-01' + n * interval '71 days 5 hours 7 minutes' FROM generate_series(0, 102) n"
            " UNION ALL VALUES (103, timestamp '2020-01-01'), (104, timestamp '2020-01-01')) v (n, t)"
        )
        yield connection


def _measured(text: str) -> Measured:
    pipeline = walk(text, _POLICY)
    assert pipeline is not None
    for release in pipeline.plan.blocks[0].releases:
        found = getattr(release, "measured", None) or getattr(release, "of", None)
        if isinstance(found, tuple):
            found = found[0]
        if isinstance(found, Measured):
            return found
    raise AssertionError(f"{text} measures nothing")


@pytest.mark.every(15)
@pytest.mark.parametrize(("inner", "is_date"), _STATEMENTS)
def test_no_value_within_the_bounds_is_cut(
    inner: str, is_date: bool, rows: psycopg.Connection
) -> None:
    values = re.sub(
        r"^SELECT (a - b|extract\(epoch FROM a - b\)) FROM", r"SELECT \1 AS x FROM", inner
    )
    clamp = _measured(f"SELECT avg(x) FROM ({values}) z").clamp
    found = rows.execute(f"SELECT min(x)::numeric, max(x)::numeric FROM ({values}) z".encode())
    low, high = found.fetchone() or (None, None)
    assert clamp.low <= Fraction(low) <= Fraction(high) <= clamp.high
    width = (_YEARS * 366 + _SLACK_DAYS) * (1 if is_date else 86_400)
    assert -width <= clamp.low and clamp.high <= width


_GAPS = "(SELECT tz::date - lag(tz::date) OVER (PARTITION BY uid ORDER BY id) AS gap FROM orders) g"


@pytest.mark.parametrize(
    "aggregate",
    [
        *("count(gap)", "sum(gap)", "avg(gap)", "min(gap)", "max(gap)", "stddev(gap)"),
        *("percentile_cont(0.5) WITHIN GROUP (ORDER BY gap)", "corr(gap, gap)"),
        *("avg(least(gap, 730))", "avg(greatest(gap, 0))", "avg(greatest(least(gap, 730), 0))"),
        *("avg(abs(gap))", "avg(gap / 7.0)", "max(CASE WHEN gap > 0 THEN gap ELSE 0 END)"),
    ],
)
@pytest.mark.every(8)
@pytest.mark.parametrize("where", ["", "WHERE gap IS NOT NULL", "WHERE gap BETWEEN 0 AND 730"])
def test_every_aggregate_of_a_gap(aggregate: str, where: str) -> None:
    assert walk(f"SELECT {aggregate} FROM {_GAPS} {where}", _POLICY) is not None


def test_bounds_of_the_statement_are_those_of_the_noise() -> None:
    clamp = _measured(f"SELECT avg(gap) FROM {_GAPS} WHERE gap BETWEEN 0 AND 730").clamp
    assert [clamp.low, clamp.high] == [Fraction(0), Fraction(730)]
    clamp = _measured(f"SELECT avg(greatest(least(gap, 730), 0)) FROM {_GAPS}").clamp
    assert [clamp.low, clamp.high] == [Fraction(0), Fraction(730)]


@pytest.mark.parametrize("aggregate", ["min", "max"])
@pytest.mark.parametrize(
    "time",
    ["tz::date", "ts + interval '3 days'", "date_trunc('month', d)", "least(d, '2010-01-01')"],
)
def test_extremes_of_named_times(aggregate: str, time: str) -> None:
    """As the hint says of extremes of an expression."""
    with pytest.raises(Refusal) as refused:
        walk(f"SELECT {aggregate}({time}) FROM orders", _POLICY)
    assert refused.value.code is Code.UNSUPPORTED
    assert "in a subquery" in refused.value.hint
    assert (
        walk(f"SELECT {aggregate}(t) FROM (SELECT {time} AS t FROM orders) q", _POLICY) is not None
    )


@pytest.mark.parametrize(
    ("inner", "source"),
    [
        ("free * 2", 'column "free" has no bounds'),
        ("lag(free) OVER (PARTITION BY uid ORDER BY id)", 'column "free"'),
        ("extract(epoch FROM iv) / 60", "the seconds of an interval"),
    ],
)
def test_a_computed_column_without_bounds_says_of_what_it_is(inner: str, source: str) -> None:
    """No owner can give bounds to what a subquery computes."""
    with pytest.raises(Refusal) as refused:
        walk(f"SELECT avg(y) FROM (SELECT {inner} AS y FROM orders) q", _POLICY)
    assert refused.value.code is Code.NO_BOUNDS
    assert source in refused.value.message
    assert 'column "y" has no bounds' not in refused.value.message


@pytest.mark.parametrize("inner", ["extract(epoch FROM iv)", "cardinality(ta)"])
def test_its_hint_works(inner: str) -> None:
    with pytest.raises(Refusal) as refused:
        walk(f"SELECT avg(y) FROM (SELECT {inner} AS y FROM orders) q", _POLICY)
    hint = refused.value.hint
    assert hint.endswith("in the subquery that computes it.")
    form = hint.removeprefix("Write ").partition(", in the subquery")[0]
    form = form.replace("extract(epoch FROM column)", inner).replace("cardinality(...)", inner)
    assert walk(f"SELECT avg(y) FROM (SELECT {form} AS y FROM orders) q", _POLICY) is not None


def test_groups_are_narrowed_by_conditions_below() -> None:
    pipeline = walk(
        "SELECT date_trunc('month', t), count(*) FROM (SELECT tz::date AS t FROM people"
        " WHERE tz > '2019-08-01') q GROUP BY 1"
    )
    assert pipeline is not None
    (key,) = pipeline.plan.blocks[0].keys
    assert key.values is not None and len(key.values) == 6
