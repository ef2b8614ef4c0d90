"""An analyst's own types, named like PostgreSQL's, change nothing that the proxy writes by itself.

Data types are looked up in pg_temp first, before pg_catalog; functions and operators never are (manual,
search_path).
"""

from __future__ import annotations

from collections.abc import Iterator

import psycopg
import pytest

from tests.live_proxy import LiveProxy

_NAMES = (
    *("text", "int2", "int4", "int8", "numeric", "float4", "float8", "bool", "date", "uuid"),
    *("varchar", "bpchar", "timestamp", "timestamptz", "json", "jsonb", "oid", "name", "record"),
    *("_text", "regclass", "anyelement", "bigint", "integer", "boolean"),
)
_OTHERS = """
CREATE FUNCTION pg_temp.jsonb_to_recordset(pg_catalog.jsonb, OUT a pg_catalog.int4, OUT b pg_catalog.int4)
    RETURNS SETOF pg_catalog.record LANGUAGE sql AS 'SELECT 1, 1';
CREATE FUNCTION pg_temp.to_jsonb(pg_catalog.text) RETURNS pg_catalog.jsonb LANGUAGE sql
    AS 'SELECT NULL::pg_catalog.jsonb';
CREATE FUNCTION pg_temp.count(pg_catalog.text) RETURNS pg_catalog.int8 LANGUAGE sql AS 'SELECT 1';
"""
_QUESTIONS = (
    "SELECT txt, count(*) FROM kinds.things GROUP BY txt",
    "SELECT vc, ch, flag, mood, letter, count(*), dp.error(count(*)) FROM kinds.things GROUP BY 1, 2, 3, 4, 5",
    "SELECT sum(share), avg(share), dp.low(sum(share)) FROM kinds.things",
    "SELECT upper(txt), count(*) FROM kinds.things GROUP BY 1",
    "SELECT count(*) FROM kinds.things HAVING count(*) > 1",
    "EXPLAIN SELECT count(*) FROM kinds.things",
    "EXPLAIN (FORMAT JSON) SELECT count(*) FROM kinds.things",
    "SELECT * FROM dp.budget",
    "SELECT * FROM dp.history",
    "CREATE TEMP TABLE made AS SELECT txt, count(*) FROM kinds.things GROUP BY txt",
    "COPY (SELECT txt, count(*) FROM kinds.things GROUP BY txt) TO STDOUT",
    "SELECT txt, count(*) FROM kinds.things GROUP BY txt LIMIT 0",
    "SELECT txt FROM kinds.things LIMIT 0",
    "SELECT count(*) FROM kinds.things WHERE txt IN (SELECT code FROM kinds.codes)",
    "PREPARE p (pg_catalog.text, pg_catalog.int4) AS SELECT count(*) FROM kinds.things WHERE txt = $1",
    "EXECUTE p ('a', 1)",
)


@pytest.fixture(
    params=[
        "CREATE DOMAIN pg_temp.{} AS pg_catalog.box",
        "CREATE TYPE pg_temp.{} AS ENUM ('her own')",
    ]
)
def hers(
    request: pytest.FixtureRequest, live: LiveProxy, analyst: str
) -> Iterator[psycopg.Connection]:
    with live.connect("kinds", analyst=analyst) as connection:
        for name in _NAMES:
            connection.execute(request.param.format(f'"{name}"'))
        connection.execute(_OTHERS.encode())
        yield connection


def test_all_is_answered_as_without_them(
    hers: psycopg.Connection, live: LiveProxy, analyst: str
) -> None:
    hers.execute("SET search_path = pg_temp, kinds, pg_catalog")
    failed = {}
    for question in _QUESTIONS:
        before = live.spent(analyst)[0]
        try:
            if question.startswith("COPY"):
                with hers.cursor() as cursor, cursor.copy(question.encode()) as copy:
                    assert list(copy)
            else:
                hers.execute(question.encode())
        except psycopg.Error as error:
            failed[question] = str(error), live.spent(analyst)[0] - before
    assert failed == {}


def test_values_are_those_of_the_types(hers: psycopg.Connection) -> None:
    cursor = hers.execute(
        "SELECT txt, count(*), sum(share) FROM kinds.things GROUP BY txt ORDER BY 1"
    )
    assert [(column.name, column.type_code) for column in cursor.description or ()] == [
        ("txt", 25),
        ("count", 20),
        ("sum", 1700),
    ]
    assert [row[0] for row in cursor] == ["a", "b", "c"]
