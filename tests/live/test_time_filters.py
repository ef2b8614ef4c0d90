"""Every form of a time filter crossed with every form of a time key answers exactly PostgreSQL's groups."""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal

import psycopg
import pytest

from tests.live.served_alone import served_alone
from tests.live_proxy import LiveProxy

# A row each hour from the first to the last bound, so that each group that a filter allows has rows.
_SCRIPT = """\
CREATE SCHEMA t;
CREATE TABLE t.visits (id integer PRIMARY KEY, at timestamptz NOT NULL, local timestamp NOT NULL,
                       day date NOT NULL);
INSERT INTO t.visits SELECT i, a, a::timestamp, a::date
FROM (SELECT i, '2022-11-01'::timestamptz + i * interval '1 hour' AS a FROM generate_series(0, 12024) i) x;
"""
_TABLES = """\
tables:
  t.visits:
    unit: row
    columns:
      at: {bounds: [2022-11-01, "2024-03-16 00:00:00"]}
      local: {bounds: [2022-11-01, "2024-03-16 00:00:00"]}
      day: {bounds: [2022-11-01, 2024-03-16]}
"""
_KEYS = (
    *(
        "date_trunc('month', {c})",
        "date_trunc('week', {c})",
        "date_trunc('quarter', {c}::timestamp)",
    ),
    *("{c}::timestamp::date", "date({c}::timestamp)", "date_trunc('day', {c})::date"),
    *(
        "extract(year FROM {c})",
        "extract(month FROM {c})",
        "date_part('year', {c})",
        "extract(isodow FROM {c})",
    ),
    *(
        "extract(year FROM {c})::int * 100 + extract(month FROM {c})::int",
        "to_char({c}, 'YYYY-MM')",
    ),
    *(
        "to_char({c}, 'IYYY-IW')",
        "to_char({c}, 'Day')",
        "date_trunc('month', {c} + interval '10 days')",
    ),
    *("extract(epoch FROM date_trunc('month', {c}))", "{c}::date - date '2023-01-01'"),
    *("to_char({c}, 'HH24')", "extract(hour FROM {c}::timestamp) * 60"),
)
_ZONED = (
    "date_trunc('month', at AT TIME ZONE 'America/New_York')",
    "date_trunc('month', at, 'Asia/Tokyo')",
    "to_char(at AT TIME ZONE 'Europe/Berlin', 'YYYY-MM')",
    "extract(hour FROM at AT TIME ZONE 'Asia/Kolkata')",
)
_FILTERS = (
    *("{c} >= '2023-03-10' AND {c} < '2023-06-05'", "{c} BETWEEN '2023-03-10' AND '2023-06-05'"),
    *(
        "{c}::date BETWEEN '2023-03-10' AND '2023-06-05'",
        "date({c}) >= '2023-03-10' AND date({c}) < '2023-06-05'",
    ),
    *("cast({c} AS date) = '2023-05-05'", "{c}::date IN ('2023-05-05', '2023-07-01')"),
    *(
        "date_trunc('month', {c}) = '2023-05-01'",
        "date_trunc('month', {c}) IN ('2023-05-01', '2023-07-01')",
    ),
    *("date_trunc('day', {c}) >= '2023-05-05' AND date_trunc('week', {c}) <= '2023-06-05'",),
    *(
        "extract(year FROM {c}) = 2023",
        "extract(year FROM {c}) = 2023 AND extract(month FROM {c}) BETWEEN 3 AND 5",
    ),
    *(
        "date_part('year', {c}) = 2023 AND date_part('quarter', {c}) = 2",
        "extract(year FROM {c}) IN (2022, 2024)",
    ),
    *(
        "to_char({c}, 'YYYY-MM') = '2023-05'",
        "to_char({c}, 'YYYY-MM') BETWEEN '2023-03' AND '2023-05'",
    ),
    *("to_char({c}, 'YYYY') = '2023'", "extract(epoch FROM {c}) BETWEEN 1680000000 AND 1690000000"),
    *("{c} >= date '2023-06-05' - interval '3 months' AND {c} < date '2023-06-05'",),
    *(
        "NOT ({c} < '2023-03-10' OR {c} >= '2023-06-05')",
        "{c} > '2023-11-20'",
        "{c} <= '2023-01-15'",
    ),
    *("{c} >= '2023-03-10' AND {c}::date <> '2023-03-11' AND {c} < '2023-03-14'",),
    *(
        "make_date(2023, 3, 10) <= {c} AND {c} < to_timestamp(1690000000)",
        "({c} - interval '1 day') < '2022-12-05'",
    ),
    *("date '2024-03-16' - {c}::date < 20", "least({c}, '2024-01-01') < '2022-12-01'"),
    *("extract(epoch FROM timestamp '2024-03-16' - {c}::timestamp) / 86400 <= 30",),
    *(
        "timestamp '2024-03-16' - {c}::timestamp < interval '20 days'",
        "greatest({c}::date, '2023-12-01') > '2024-02-01'",
    ),
    *("extract(epoch FROM {c}) >= extract(epoch FROM timestamp '2024-02-01')",),
    *("coalesce({c} >= '2024-01-01', false)", "extract(year FROM {c})::text = '2023'"),
    *("extract(year FROM {c}) * 100 + extract(month FROM {c}) = 202305",),
    *("{c}::date::text LIKE '2023-05%'", "{c}::date::text >= '2024-02'"),
    "to_char({c}, 'Mon YYYY') IN ('May 2023', 'Jul 2023')",
)
_OF_ZONES = (
    "at AT TIME ZONE 'America/New_York' >= '2023-03-01' AND at AT TIME ZONE 'America/New_York' < '2023-05-01'",
    "(at AT TIME ZONE 'Europe/Berlin')::date BETWEEN '2023-03-01' AND '2023-04-30'",
    "date_trunc('month', at AT TIME ZONE 'Asia/Tokyo') = '2023-05-01'",
)
_PLACES = (
    "SELECT {k} AS k, count(*) AS n FROM t.visits WHERE {f} GROUP BY 1",
    "SELECT k, count(*) AS n FROM (SELECT {k} AS k FROM t.visits WHERE {f}) q GROUP BY k",
    "WITH v AS (SELECT * FROM t.visits) SELECT {k} AS k, count(*) AS n FROM v WHERE {f} GROUP BY {k}",
)


def _crossed() -> Iterator[str]:
    number = 0
    for column in ("at", "local", "day"):
        keys = [*_KEYS, *(_ZONED if column == "at" else ()), *(("day",) if column == "day" else ())]
        filters = [*_FILTERS, *(_OF_ZONES if column == "at" else ())]
        for key in keys:
            for condition in filters:
                number += 1
                place = _PLACES[number % len(_PLACES)]
                yield place.format(k=key.format(c=column), f=condition.format(c=column))
            outer = f"SELECT * FROM (SELECT {key} AS k, count(*) AS n FROM t.visits GROUP BY 1) q WHERE k"
            yield f"{outer} IS NOT NULL".format(c=column)


visits = served_alone("time_filters", _SCRIPT, _TABLES)


_STATEMENTS = list(_crossed())
_AT_ONCE = 40  # an analyst's budget, and a part of a minute


def _key(value: object) -> object:
    """Numbers by what they are: with digits after the point or without."""
    return float(value) if isinstance(value, Decimal | int) else value


@pytest.mark.every(60)
@pytest.mark.parametrize("first", range(0, len(_STATEMENTS), _AT_ONCE))
def test_the_groups_are_those_of_postgresql(visits: LiveProxy, first: int) -> None:
    wrong = []
    with (
        psycopg.connect(visits.servers.protected.dsn("time_filters"), autocommit=True) as plain,
        visits.connect("time_filters", analyst=visits.servers.new_analyst()) as proxy,
    ):
        proxy.execute("SET dp.epsilon = 100")
        for sql in _STATEMENTS[first : first + _AT_ONCE]:
            right = {_key(row[0]): row[1] for row in plain.execute(sql.encode())}
            found = {_key(row[0]): row[1] for row in proxy.execute(sql.encode())}
            far = [key for key in right if abs(found.get(key, 0) - right[key]) > 3]
            if far or found.keys() - right.keys():
                wrong.append((sql, sorted(map(str, found.keys() ^ right.keys()))[:4], far[:4]))
    assert wrong == []
