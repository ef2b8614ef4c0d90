"""Joins by truncation through the wire: how many pairs are left is known without knowing which."""

from __future__ import annotations

from collections.abc import Iterator

import psycopg
import pytest
from psycopg import sql
from psycopg.conninfo import make_conninfo

from tests.live.served_database import READER, served_database
from tests.live_proxy import LiveProxy, start_proxy
from tests.servers_fixture import servers

_NAME = "cut_joins"
# 900 cities: of stays with 1 to 50 of each, of reports (two of each person) with 0 to 8, of weather with 4.
_SCRIPT = """
CREATE SCHEMA trip;
CREATE TABLE trip.stays (id int PRIMARY KEY, secret text, city text, nights int);
INSERT INTO trip.stays
    SELECT row_number() OVER (), 'x', 'c' || c, 1 + n % 7
    FROM generate_series(1, 900) c, generate_series(1, 1 + c % 50) n;
CREATE TABLE trip.reports (id int PRIMARY KEY, who int, city text);
INSERT INTO trip.reports
    SELECT row_number() OVER (), row_number() OVER () / 2, 'c' || c
    FROM generate_series(1, 900) c, generate_series(1, c % 9) n;
CREATE TABLE trip.guides AS SELECT id, id AS report FROM trip.reports;
ALTER TABLE trip.guides ADD PRIMARY KEY (id);
CREATE TABLE trip.weather (id int PRIMARY KEY, city text, rain int);
INSERT INTO trip.weather
    SELECT row_number() OVER (), 'c' || c, n FROM generate_series(1, 900) c, generate_series(1, 4) n;
"""
_TABLES = """
tables:
  trip.stays:
    unit: row
    join_keys: {city: {keep: 3}}
    columns: {city: {}, nights: {bounds: [1, 7]}}
  trip.reports:
    unit: {person: who}
    max_rows_per_unit: 2
    join_keys: {city: {keep: unique}}
    columns: {city: {}, id: {}}
  trip.guides:
    unit: row
    join_keys: {report: {keep: unique}}
    columns: {report: {}}
  trip.weather: {unit: public, join_keys: {city: {keep: 2}}}
"""


@pytest.fixture(scope="module")
def joined() -> Iterator[LiveProxy]:
    pair = servers()

    def hide_a_column() -> None:
        source = make_conninfo(pair.protected.dsn(), dbname=_NAME)
        with psycopg.connect(source, autocommit=True) as connection:
            reader = sql.Identifier(READER)
            connection.execute(sql.SQL("REVOKE SELECT ON trip.stays FROM {}").format(reader))
            connection.execute(
                sql.SQL("GRANT SELECT (id, city, nights) ON trip.stays TO {}").format(reader)
            )

    proxy = start_proxy(
        pair,
        [served_database(pair, _NAME, _SCRIPT, _TABLES, fill=hide_a_column)],
    )
    yield proxy
    proxy.stop()


@pytest.mark.parametrize(
    ("question", "pairs", "noise"),
    [
        # Reports alone in their city: c % 9 = 1, 100 cities; each meets up to three stays.
        (
            "count(*), dp.error(count(*)) FROM trip.stays s JOIN trip.reports r ON s.city = r.city",
            "SELECT sum(least(1 + c % 50, 3)) FROM generate_series(1, 900) c WHERE c % 9 = 1",
            3 * (3 * 1 * 2 + 1 * 2 * 1),
        ),
        # The condition of the subquery comes before the cut, the one of WHERE after it.
        (
            "count(*), dp.error(count(*)) FROM (SELECT city FROM trip.stays WHERE nights = 2) s"
            " JOIN trip.reports r ON s.city = r.city WHERE r.city <> 'c1'",
            "SELECT sum(least((1 + c % 50 + 6) / 7, 3)) FROM generate_series(2, 900) c WHERE c % 9 = 1",
            3 * (3 * 1 * 2 + 1 * 2 * 1),
        ),
        # Stays without a report that is alone stay: 3 of each city, 1 of cities with one.
        (
            "count(*), dp.error(count(*)) FROM trip.stays s LEFT JOIN trip.reports r ON s.city = r.city",
            "SELECT sum(least(1 + c % 50, 3)) FROM generate_series(1, 900) c",
            3 * (2 * 3 * 1 * 2 + 1 * 2 * 1),
        ),
        # Of three tables: 100 cities with one report, each with a guide; stays of cities, guides by the report.
        (
            "count(*), dp.error(count(*)) FROM trip.stays s JOIN trip.reports r ON s.city = r.city"
            " JOIN trip.guides g ON g.report = r.id",
            "SELECT sum(least(1 + c % 50, 3)) FROM generate_series(1, 900) c WHERE c % 9 = 1",
            3 * (2 + 3 * 2 + 3),
        ),
        # Every stay meets two of the four rows of its city.
        (
            "count(*), dp.error(count(*)) FROM trip.stays s JOIN trip.weather w ON s.city = w.city",
            "SELECT 2 * sum(1 + c % 50) FROM generate_series(1, 900) c",
            3 * 2,
        ),
    ],
)
def test_a_count_of_pairs(question: str, pairs: str, noise: int, joined: LiveProxy) -> None:
    with psycopg.connect(joined.servers.protected.dsn(), autocommit=True) as connection:
        exact = connection.execute(pairs.encode()).fetchone()
    with joined.connect(_NAME, analyst=joined.servers.new_analyst()) as connection:
        answer = connection.execute(f"SELECT {question}".encode()).fetchone()
    assert exact is not None and answer is not None
    assert abs(float(answer[1]) - noise) <= 2  # 95 %: about three times the rows that change
    assert abs(answer[0] - exact[0]) <= 8 * float(answer[1])


def test_the_refusal_names_the_key(joined: LiveProxy) -> None:
    with (
        joined.connect(_NAME, analyst=joined.servers.new_analyst()) as connection,
        pytest.raises(psycopg.errors.FeatureNotSupported, match="different privacy units") as found,
    ):
        connection.execute(
            "SELECT count(*) FROM trip.stays s JOIN trip.reports r ON s.nights = r.who"
        )
    assert found.value.diag.message_hint is not None
    assert "join_keys" in found.value.diag.message_hint
    assert found.value.diag.statement_position == "35"
