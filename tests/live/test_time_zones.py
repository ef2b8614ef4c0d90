"""Sessions in other time zones: groups, labels, types and counts as PostgreSQL gives them in that zone."""

from __future__ import annotations

from collections.abc import Iterator

import psycopg
import pytest

from tests.live.served_database import served_database
from tests.live.time_statements import SHIFTED
from tests.live_proxy import LiveProxy, start_proxy
from tests.servers_fixture import servers

ZONES = ("America/New_York", "Asia/Kolkata", "Pacific/Kiritimati", "UTC")

# A row of each person, each 53 minutes, so that every hour has one: through two springs and an autumn.
_ROWS = 13_000
_FIRST, _LAST = "2023-03-01 00:00:00", "2024-06-21 11:27:00"
_SCRIPT = f"""\
CREATE SCHEMA w;
CREATE TABLE w.calls
(person int PRIMARY KEY, at timestamptz NOT NULL, shown timestamp NOT NULL, day date NOT NULL,
kind text NOT NULL, ended timestamptz NOT NULL, due date NOT NULL);
INSERT INTO w.calls
SELECT n, (t || '+00')::timestamptz, t, t::date, (ARRAY['a','b'])[1 + n % 2],
(t || '+00')::timestamptz + n % 61 * interval '59 minutes', t::date + n % 7 - 1
FROM generate_series(0, {_ROWS - 1}) n, LATERAL (SELECT timestamp '{_FIRST}' + n * interval '53 minutes') g(t);
"""
_TABLES = f"""\
tables:
  w.calls:
    unit: {{person: person}}
    columns:
      at: {{bounds: ["{_FIRST}+00", "{_LAST}+00"]}}
      shown: {{bounds: ["{_FIRST}", "{_LAST}"]}}
      day: {{bounds: [2023-03-01, 2024-06-21]}}
      kind: {{values: [a, b]}}
      ended: {{bounds: ["{_FIRST}+00", "2024-06-25 00:00:00+00"]}}
      due: {{bounds: [2023-02-28, 2024-06-27]}}
"""
_COUNT = "SELECT count(*) FROM w.calls"
_DAYS = "at >= '2023-11-03' AND at < '2023-11-08'"

STATEMENTS = (
    # date_trunc, and what tools write around it
    "SELECT date_trunc('day', at) AS d, count(*) FROM w.calls GROUP BY 1",
    "SELECT date_trunc('week', at) AS d, count(*) FROM w.calls GROUP BY 1",
    "SELECT date_trunc('month', at) AS d, count(*) FROM w.calls GROUP BY 1",
    "SELECT date_trunc('quarter', at) AS d, count(*) FROM w.calls GROUP BY 1",
    "SELECT date_trunc('year', at) AS d, count(*) FROM w.calls GROUP BY 1",
    f"SELECT date_trunc('hour', at) AS d, count(*) FROM w.calls WHERE {_DAYS} GROUP BY 1",
    "SELECT date_trunc('hour', at) AS d, count(*) FROM w.calls WHERE at >= '2024-03-09' AND at < '2024-03-12'"
    " GROUP BY 1",
    "SELECT date_trunc('month', day) AS d, count(*) FROM w.calls GROUP BY 1",
    "SELECT date_trunc('month', shown) AS d, count(*) FROM w.calls GROUP BY 1",
    "SELECT CAST(date_trunc('month', at) AS date) AS d, count(*) FROM w.calls GROUP BY 1",
    "SELECT date_trunc('month', at)::timestamp AS d, count(*) FROM w.calls GROUP BY 1",
    "SELECT date_trunc('day', at, 'Australia/Lord_Howe') AS d, count(*) FROM w.calls GROUP BY 1",
    "SELECT date_trunc('day', at AT TIME ZONE 'America/Sao_Paulo') AS d, count(*) FROM w.calls GROUP BY 1",
    "SELECT date_trunc('day', timezone('America/New_York', at)) AS d, count(*) FROM w.calls GROUP BY 1",
    "SELECT date_trunc('month', at AT TIME ZONE 'UTC') AT TIME ZONE 'UTC' AS d, count(*) FROM w.calls"
    " GROUP BY 1",
    "SELECT date_trunc('month', at) AS d, kind, count(*) FROM w.calls WHERE at >= '2024-01-01' GROUP BY 1, 2",
    # dates
    "SELECT at::date AS d, count(*) FROM w.calls GROUP BY 1",
    "SELECT date(at) AS d, count(*) FROM w.calls WHERE at < '2023-05-01' GROUP BY 1",
    "SELECT shown::date AS d, count(*) FROM w.calls GROUP BY 1",
    "SELECT (at AT TIME ZONE 'Asia/Kolkata')::date AS d, count(*) FROM w.calls GROUP BY 1",
    # extract
    "SELECT extract(hour FROM at) AS h, count(*) FROM w.calls GROUP BY 1",
    "SELECT extract(dow FROM at) AS h, count(*) FROM w.calls GROUP BY 1",
    "SELECT extract(isodow FROM at) AS h, extract(hour FROM at) AS g, count(*) FROM w.calls GROUP BY 1, 2",
    "SELECT date_part('month', at) AS h, count(*) FROM w.calls WHERE at < '2023-06-10'"
    " AND at >= '2023-03-01' GROUP BY 1",
    "SELECT extract(year FROM at) AS y, extract(month FROM at) AS m, count(*) FROM w.calls GROUP BY 1, 2",
    "SELECT extract(year FROM at AT TIME ZONE 'Pacific/Auckland') AS y, count(*) FROM w.calls GROUP BY 1",
    # to_char
    "SELECT to_char(at, 'YYYY-MM') AS m, count(*) FROM w.calls GROUP BY 1",
    "SELECT to_char(at, 'YYYY-MM-DD HH24:00') AS m, count(*) FROM w.calls"
    f" WHERE {_DAYS} GROUP BY 1",
    "SELECT to_char(at, 'Dy') AS m, count(*) FROM w.calls GROUP BY to_char(at, 'Dy')",
    "SELECT to_char(at, 'HH24') AS m, count(*) FROM w.calls GROUP BY 1",
    "SELECT to_char(at, 'FMMonth YYYY') AS m, count(*) FROM w.calls GROUP BY 1",
    "SELECT to_char(day, 'IYYY-\"W\"IW') AS m, count(*) FROM w.calls GROUP BY 1",
    "SELECT to_char(date_trunc('month', at), 'YYYY-MM') AS m, count(*) FROM w.calls"
    " GROUP BY date_trunc('month', at)",
    "SELECT to_char(date_trunc('month', at), 'Mon YY') AS m, count(*) FROM w.calls GROUP BY 1",
    # literals and conditions
    f"{_COUNT} WHERE at >= '2023-11-05 01:30' AND at < '2023-11-05 02:30'",
    f"{_COUNT} WHERE at < '2024-03-10 02:30'",
    f"{_COUNT} WHERE at BETWEEN '2023-06-01' AND '2023-06-30 23:59:59'",
    f"{_COUNT} WHERE at >= timestamptz '2023-07-01 00:00'",
    f"{_COUNT} WHERE at >= timestamp '2023-07-01 00:00'",
    f"{_COUNT} WHERE at >= date '2023-07-01'",
    f"{_COUNT} WHERE at >= timestamp '2023-11-05 01:30' AT TIME ZONE 'America/New_York'",
    f"{_COUNT} WHERE shown >= timestamptz '2023-11-05 05:30+00' AT TIME ZONE 'America/New_York'",
    f"{_COUNT} WHERE at >= timestamp '2024-03-10 02:30' AT TIME ZONE 'America/New_York'",
    "SELECT date(at AT TIME ZONE 'America/New_York') AS d, count(*) FROM w.calls"
    " WHERE at >= timestamp '2023-11-03' AT TIME ZONE 'America/New_York'"
    " AND at < timestamp '2023-11-08' AT TIME ZONE 'America/New_York' GROUP BY 1",
    f"{_COUNT} WHERE at::date = '2023-11-05'",
    f"{_COUNT} WHERE at::date IN ('2023-11-05', '2023-11-06')",
    f"{_COUNT} WHERE date_trunc('month', at) = '2023-11-01'",
    f"{_COUNT} WHERE extract(hour FROM at) BETWEEN 9 AND 17",
    f"{_COUNT} WHERE at::time BETWEEN '01:00' AND '02:30'",
    f"{_COUNT} WHERE shown::time < at::time",
    f"{_COUNT} WHERE to_char(at, 'YYYY-MM') = '2023-11'",
    f"{_COUNT} WHERE at > shown",
    f"{_COUNT} WHERE at < day",
    f"{_COUNT} WHERE coalesce(at, day) >= '2023-11-05'",
    f"{_COUNT} WHERE at::timestamp >= '2023-11-05 00:00' AND shown::timestamptz < '2023-11-06 00:00'",
    f"{_COUNT} WHERE at >= '2023-11-05 00:00:00+02'",
    "SELECT kind, count(*) FILTER (WHERE at >= '2024-01-01') FROM w.calls GROUP BY kind",
    "SELECT count(*) FROM w.calls WHERE extract(hour FROM at) + extract(dow FROM at) * 24 >= 150",
    "SELECT CASE WHEN at >= '2023-11-05' THEN 'later' ELSE 'before' END AS c, count(*) FROM w.calls GROUP BY 1",
)


# With arguments of the client's, which PostgreSQL reads in the session's zone where it reads them as times.
WITH_ARGUMENTS = (
    (f"{_COUNT} WHERE at >= %s::timestamptz", "2023-11-05 01:30"),
    (f"{_COUNT} WHERE at >= %s::timestamp", "2023-11-05 01:30"),
    (f"{_COUNT} WHERE at::date = %s::date", "2024-03-10"),
    (f"{_COUNT} WHERE at < %s::timestamptz", "2024-03-10 02:30"),
)


@pytest.fixture(scope="module")
def clocks() -> Iterator[LiveProxy]:
    database = served_database(servers(), "clocks", _SCRIPT, _TABLES, "auto", most="100")
    proxy = start_proxy(servers(), [database])
    yield proxy
    proxy.stop()


def test_there_are_forty() -> None:
    assert len(STATEMENTS) >= 40


@pytest.mark.long
@pytest.mark.every(8)
@pytest.mark.parametrize("zone", ZONES)
def test_as_in_postgresql(clocks: LiveProxy, zone: str) -> None:
    analyst = clocks.servers.new_analyst()
    with (
        psycopg.connect(clocks.servers.protected.dsn("clocks")) as direct,
        clocks.connect("clocks", analyst=analyst) as connection,
    ):
        connection.execute("SET dp.epsilon = 100")
        for each in (direct, connection):
            each.execute(f"SET TimeZone = '{zone}'".encode())
        differ = []
        for sql in (*STATEMENTS, *SHIFTED):
            exact = direct.execute(sql.encode())
            wanted = exact.fetchall()
            kinds = [column.type_code for column in exact.description or ()]
            try:
                answered = connection.execute(sql.encode())
            except psycopg.Error as error:
                differ.append((sql, str(error)))
                continue
            found = answered.fetchall()
            if sorted(found) != sorted(wanted):
                some = sorted(set(found) ^ set(wanted))[:4]
                differ.append((sql, f"{len(found)} rows for {len(wanted)}: {some}"))
            elif [column.type_code for column in answered.description or ()] != kinds:
                differ.append((sql, "types"))
        for sql, text in WITH_ARGUMENTS:
            same = [each.execute(sql.encode(), (text,)).fetchall() for each in (direct, connection)]
            if same[0] != same[1]:
                differ.append((sql, str(same)))
        assert differ == [], "\n".join(map(str, differ))
