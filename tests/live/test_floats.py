"""Real and double precision are rounded, cast and named as PostgreSQL does it.

Halves go to the even number, date_part() is double precision, and no cast to real has no effect.
"""

from __future__ import annotations

import psycopg
import pytest

from tests.live.served_alone import served_alone
from tests.live_proxy import LiveProxy

# Each half from -3.5 to 3.5, twenty times, and what lies between.
_SCRIPT = """\
CREATE SCHEMA f;
CREATE TABLE f.things (id integer PRIMARY KEY, small real, wide double precision, exact numeric(6, 2),
                       n integer, short smallint, at timestamptz NOT NULL);
INSERT INTO f.things SELECT i, (i % 29 - 14) / 4.0, (i % 29 - 14) / 4.0, (i % 29 - 14) / 4.0, i % 29 - 14,
    i % 29 - 14, '2023-01-01'::timestamptz + i * interval '1 hour' FROM generate_series(1, 2900) i;
"""
_TABLES = """\
tables:
  f.things:
    unit: row
    columns:
      small: {bounds: [-4, 4], grid: 0.25}
      wide: {bounds: [-4, 4], grid: 0.25}
      exact: {bounds: [-4, 4]}
      n: {bounds: [-14, 14]}
      short: {bounds: [-14, 14]}
      at: {bounds: [2023-01-01, 2023-05-31 23:59:59]}
"""
_COLUMNS = (
    "small",
    "wide",
    "exact",
    "n",
    "small::float8",
    "n / 4.0::float8",
    "wide * 1",
    "short / 2.0",
)
_ROUNDED = (
    "round({})",
    "({})::int",
    "({})::bigint",
    "({})::smallint",
    "round(({})::numeric)",
    "- round(-({}))",
)
_PLACES = (
    "SELECT {} AS k, count(*) AS n FROM f.things GROUP BY 1",
    "SELECT count(*) AS n FROM f.things WHERE {} = 2",
    "SELECT count(*) FILTER (WHERE {} IN (0, -2)) AS n FROM f.things",
    "SELECT CASE WHEN {} > 1 THEN 'a' ELSE 'b' END AS k, count(*) AS n FROM f.things GROUP BY 1",
    "SELECT sum({}) AS n FROM f.things",
)
_CROSSED = [
    place.format(rounded.format(column))
    for column in _COLUMNS
    for rounded in _ROUNDED
    for place in _PLACES
]
_PARTS = (
    "date_part('hour', at)",
    "date_part('hour', at) + 1",
    "date_part('dow', at)",
    "floor(date_part('hour', at) / 4)",
    "round(date_part('hour', at) / 4)",
    "extract(hour FROM at) / 2",
    "coalesce(date_part('month', at), 0)",
    "date_part('hour', at)::int % 4",
    "extract(hour FROM at)::real",
    "date_part('dow', at)::float4",
)
_OF_PARTS = [
    place.format(part)
    for part in _PARTS
    for place in (
        "SELECT {} AS k, count(*) AS n FROM f.things GROUP BY 1",
        "SELECT avg({0}) AS n, max({0}) AS m FROM f.things",
        "SELECT k, sum(c) AS n FROM (SELECT {} AS k, count(*) AS c FROM f.things GROUP BY 1) q GROUP BY 1",
    )
]


floats = served_alone("floats", _SCRIPT, _TABLES)


def _asked(connection: psycopg.Connection, sql: str) -> tuple[list[int], dict[object, float]]:
    cursor = connection.execute(sql.encode())
    assert cursor.description is not None
    kinds = [column.type_code for column in cursor.description]
    names = [column.name for column in cursor.description]
    return kinds, {
        tuple(v for n, v in zip(names, row, strict=True) if n == "k"): float(row[names.index("n")])
        for row in cursor.fetchall()
    }


def _is_postgresqls(floats: LiveProxy, sql: str) -> None:
    with (
        psycopg.connect(floats.servers.protected.dsn("floats"), autocommit=True) as plain,
        floats.connect("floats", analyst=floats.servers.new_analyst()) as proxy,
    ):
        proxy.execute("SET dp.epsilon = 100")
        (kinds, right), (found_kinds, found) = _asked(plain, sql), _asked(proxy, sql)
    assert found_kinds == kinds
    for key in {*right, *found}:
        assert abs(found.get(key, 0) - right.get(key, 0)) <= 8, (key, found, right)


@pytest.mark.every(20)
@pytest.mark.parametrize("sql", _CROSSED)
def test_halves_are_rounded_as_postgresql_does(floats: LiveProxy, sql: str) -> None:
    _is_postgresqls(floats, sql)


@pytest.mark.every(6)
@pytest.mark.parametrize("sql", _OF_PARTS)
def test_date_part_is_double_precision(floats: LiveProxy, sql: str) -> None:
    _is_postgresqls(floats, sql)


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT count(*) FROM f.things WHERE wide::real = 0.25::real",
        "SELECT count(*) FROM f.things WHERE CAST(exact AS real) > 1",
        "SELECT count(*) FILTER (WHERE n::float4 IN (1, 2)) FROM f.things",
        "SELECT wide::real, count(*) FROM f.things GROUP BY 1",
        "SELECT count(DISTINCT wide::real) FROM f.things",
        "SELECT sum(CASE WHEN wide::real > 1 THEN 1 END) FROM f.things",
        "SELECT sum(round(wide::real)) FROM f.things",
        "SELECT count(*) FROM (SELECT wide::real AS r FROM f.things) q WHERE r = 1",
    ],
)
def test_a_cast_to_real_is_refused_where_it_would_matter(floats: LiveProxy, sql: str) -> None:
    analyst = floats.servers.new_analyst()
    with (
        floats.connect("floats", analyst=analyst) as proxy,
        pytest.raises(psycopg.errors.FeatureNotSupported, match="a cast to real") as caught,
    ):
        proxy.execute(sql.encode())
    assert "round(column::numeric, 4)" in (caught.value.diag.message_hint or "")
    assert floats.spent(analyst)[0] == 0


@pytest.mark.parametrize(
    "value",
    ["wide::real", "small::real", "(wide * 2)::real", "CASE WHEN n > 0 THEN wide::real END"],
)
def test_a_cast_to_real_may_be_added_up(floats: LiveProxy, value: str) -> None:
    _is_postgresqls(floats, f"SELECT sum({value}) AS n, avg({value}) AS m FROM f.things")
    _is_postgresqls(
        floats, "SELECT count(*) AS n FROM f.things WHERE small::real > 1 OR short::real > 1"
    )
