"""date_trunc('second', ...) as a key and in conditions, beside PostgreSQL (QuickSight and others write it)."""

from __future__ import annotations

from collections.abc import Iterator

import psycopg
import pytest

from tests.live.served_database import served_database
from tests.live_proxy import LiveProxy, start_proxy
from tests.servers_fixture import servers

_SCRIPT = """
CREATE SCHEMA app;
CREATE TABLE app.hit (id int PRIMARY KEY, at timestamp NOT NULL, seen timestamptz NOT NULL);
INSERT INTO app.hit SELECT i, '2023-07-02 00:59:55'::timestamp + i % 40 * interval '250 ms',
    '2023-07-02 00:59:55+00'::timestamptz + i % 40 * interval '250 ms' FROM generate_series(1, 8000) AS i;
"""
_TABLES = """
tables:
  app.hit:
    unit: {visitor: id}
    columns:
      at: {bounds: [2023-07-02 00:59:55, 2023-07-02 01:00:04.999999]}
      seen: {bounds: [2023-07-02 00:59:55, 2023-07-02 01:00:04.999999]}
"""
_STATEMENTS = [
    "SELECT date_trunc('second', at) AS k, count(*) FROM app.hit GROUP BY 1",
    "SELECT date_trunc('SECOND', seen) AS k, count(*) FROM app.hit GROUP BY 1",
    "SELECT date_trunc('second', seen, 'Europe/Berlin') AS k, count(*) FROM app.hit GROUP BY 1",
    "SELECT date_trunc('second', seen AT TIME ZONE 'Europe/Berlin') AS k, count(*) FROM app.hit GROUP BY 1",
    "SELECT date_trunc('minute', date_trunc('second', at)) AS k, count(*) FROM app.hit GROUP BY 1",
    "SELECT extract(second FROM date_trunc('second', at)) AS k, count(*) FROM app.hit GROUP BY 1",
    "SELECT to_char(date_trunc('second', at), 'HH24:MI:SS') AS k, count(*) FROM app.hit GROUP BY 1",
    "SELECT date_trunc('minute', at) AS k, count(*) FROM app.hit"
    " WHERE date_trunc('second', at) >= '2023-07-02 01:00:00' GROUP BY 1",
    "SELECT date_trunc('second', at) AS k, count(*) FROM app.hit"
    " WHERE date_trunc('second', at) BETWEEN '2023-07-02 00:59:58' AND '2023-07-02 01:00:01' GROUP BY 1",
    "SELECT date_trunc('second', at) AS k, count(*) FROM app.hit WHERE at < '2023-07-02 00:59:57.3' GROUP BY 1",
    "SELECT k, count(*) FROM (SELECT date_trunc('second', at) AS k FROM app.hit) q"
    " WHERE k > '2023-07-02 01:00:00' GROUP BY 1",
    "SELECT 1 AS k, count(*) FROM app.hit WHERE date_trunc('second', at) = '2023-07-02 00:59:59'",
]


@pytest.fixture(scope="module")
def hits() -> Iterator[LiveProxy]:
    pair = servers()
    proxy = start_proxy(pair, [served_database(pair, "hits", _SCRIPT, _TABLES, "auto", most="100")])
    yield proxy
    proxy.stop()


@pytest.mark.parametrize("zone", ["UTC", "Europe/Berlin", "America/St_Johns"])
def test_seconds_are_those_of_postgresql(hits: LiveProxy, zone: str) -> None:
    """Across a full hour."""
    with (
        psycopg.connect(hits.servers.protected.dsn("hits"), autocommit=True) as plain,
        hits.connect("hits", analyst=hits.servers.new_analyst()) as proxy,
    ):
        proxy.execute("SET dp.epsilon = 50")
        for one in (plain, proxy):
            one.execute(f"SET TimeZone = '{zone}'".encode())
        for text in _STATEMENTS:
            right = dict[object, int](plain.execute(text.encode()).fetchall())
            ours = dict[object, int](proxy.execute(text.encode()).fetchall())
            assert ours.keys() == right.keys(), text
            assert all(abs(ours[key] - right[key]) < 10 for key in right), text


def test_too_many_seconds_are_no_public_groups(live: LiveProxy, analyst: str) -> None:
    """Of years of a column: groups of few people are left out, and nothing takes long."""
    with live.connect("shop", analyst=analyst) as proxy:
        text = "SELECT date_trunc('second', created_at) AS k, count(*) FROM shop.orders GROUP BY 1"
        assert len(proxy.execute(text.encode()).fetchall()) < 1000
