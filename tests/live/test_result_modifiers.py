"""Modifiers of types (varchar(10), numeric(12, 2)) in descriptions of results, beside PostgreSQL."""

from __future__ import annotations

import itertools
from collections.abc import Iterator

import psycopg
import pytest

from tests.live.conversing import Column, described, extended, simple
from tests.live.served_alone import served_alone
from tests.live_proxy import LiveProxy
from tests.raw_client import RawClient

_SCRIPT = """
CREATE SCHEMA app;
CREATE TYPE app.mood AS ENUM ('sad', 'happy');
CREATE DOMAIN app.code AS varchar(3);
CREATE TABLE app.item (
    id int PRIMARY KEY, name varchar(10) NOT NULL, kind char(2) NOT NULL, price numeric(12,2) NOT NULL,
    whole numeric NOT NULL, at timestamp(3) NOT NULL, seen timestamptz(0), day date NOT NULL, note text,
    size smallint NOT NULL, other varchar(10), longer varchar(20), opens time(1), mood app.mood,
    lasted interval day to second(2), code app.code, free varchar);
INSERT INTO app.item SELECT i, 'n' || i % 3, 'k', i % 4, i % 4,
    '2023-01-01'::timestamp + i % 4 * interval '1 day', '2023-01-01'::timestamptz + i % 4 * interval '1 day',
    '2023-01-01'::date + i % 4, 'x', i % 4, 'n0', 'n1', '08:00', 'sad', interval '1 day', 'abc', 'n1'
    FROM generate_series(1, 400) AS i;
"""
_TABLES = """
tables:
  app.item:
    unit: {item: id}
    columns:
      name: {values: [n0, n1, n2]}
      kind: {values: [k]}
      price: {values: ["0.00", "1.00", "2.00", "3.00"], bounds: [0, 3]}
      whole: {bounds: [0, 3]}
      at: {bounds: [2023-01-01, 2023-01-05]}
      seen: {bounds: [2023-01-01, 2023-01-05]}
      day: {bounds: [2023-01-01, 2023-01-05]}
      note: {values: [x]}
      size: {values: [0, 1, 2, 3]}
      other: {values: [n0, n1]}
      longer: {values: [n0, n1]}
      lasted: {}
      opens: {}
      mood: {values: [sad, happy]}
      code: {values: [abc, abd]}
      free: {values: [n0, n1]}
"""

_COLUMNS = [
    "name",
    "kind",
    "price",
    "whole",
    "day",
    "note",
    "size",
    "other",
    "longer",
    "mood",
    "code",
    "free",
]
_EXPRESSIONS = [
    *_COLUMNS,
    "name::varchar(2)",
    "name::varchar(10)",
    "name::varchar",
    "name::text",
    "note::varchar(3)",
    "note::varchar(3)::text",
    "note::varchar(3)::varchar",
    "note::varchar(3)::varchar(5)",
    "kind::text",
    "kind::varchar(5)",
    "kind::varchar",
    "size::text",
    "size::varchar(4)",
    "price::numeric(10,1)",
    "price::numeric",
    "size::numeric(5,2)",
    "whole::numeric(5)",
    "price::int",
    "name || 'x'",
    "name || kind",
    "upper(name)",
    "substr(name, 1, 2)",
    "left(name, 2)",
    "left(name, 2)::varchar(2)",
    "trim(name)",
    "coalesce(name, other)",
    "coalesce(other, 'none')",
    "coalesce(other, longer)",
    "coalesce(other, note)",
    "coalesce(price, 0)",
    "nullif(name, 'n0')",
    "nullif(price, 0)",
    "nullif(kind, 'x')",
    "greatest(name, other)",
    "least(price, whole)",
    "least(price, price)",
    "greatest(name, longer)",
    "CASE WHEN size > 1 THEN name ELSE other END",
    "CASE WHEN size > 1 THEN name ELSE longer END",
    "CASE WHEN size > 1 THEN name END",
    "CASE WHEN size > 1 THEN name ELSE 'x' END",
    "CASE size WHEN 1 THEN price ELSE price END",
    "CASE size WHEN 1 THEN price ELSE 0 END",
    "CASE WHEN size > 1 THEN note::varchar(3) ELSE name::varchar(3) END",
    "CASE WHEN size > 1 THEN kind ELSE kind END",
    "coalesce(name::varchar(4), other::varchar(4))",
    "price + 1",
    "price * 2",
    "abs(price)",
    "-price",
    "round(price)",
    "round(price, 1)",
    "date_trunc('day', at)",
    "date_trunc('day', seen)",
    "at::date",
    "at::timestamp",
    "at::timestamptz",
    "seen::timestamp",
    "seen AT TIME ZONE 'UTC'",
    "mood::text",
    "mood::varchar(5)",
    "code::text",
    "code::varchar",
    "coalesce(code, 'abc')",
    "(name)",
    "size = 1",
]
_AROUND = {
    "plain": "SELECT {e} AS k, count(*) FROM app.item GROUP BY {e}",
    "place": "SELECT {e} AS k, count(*) FROM app.item GROUP BY 1",
    "table": "SELECT k, count(*) FROM (SELECT {e} AS k FROM app.item) AS q GROUP BY k",
    "with": "WITH q AS (SELECT {e} AS k, count(*) AS n FROM app.item GROUP BY 1)"
    " SELECT k, n FROM q ORDER BY 1",
    "around": "SELECT q.*, k || 'x' AS z FROM (SELECT {e} AS k, count(*) AS n FROM app.item GROUP BY 1)"
    " AS q",
    "kept": "SELECT coalesce(k, k) AS c, nullif(k, k) AS d, CASE WHEN n > 1 THEN k ELSE k END AS e,"
    " lag(k) OVER (ORDER BY n) AS f, max(k) OVER () AS g"
    " FROM (SELECT {e} AS k, count(*) AS n FROM app.item GROUP BY 1) AS q",
    "union": "SELECT {e} AS k, count(*) FROM app.item GROUP BY 1"
    " UNION ALL SELECT {e}, 1 FROM app.item GROUP BY 1",
    "mixed": "SELECT {e} AS k, count(*) FROM app.item GROUP BY 1 UNION ALL SELECT NULL, 1",
    "rollup": "SELECT {e} AS k, count(*) FROM app.item GROUP BY ROLLUP ({e})",
    "cast": "SELECT ({e})::varchar(7) AS k, ({e})::text::char(3) AS c, count(*)::numeric(10,2) AS n"
    " FROM app.item GROUP BY {e}",
    "distinct": "SELECT DISTINCT {e} AS k FROM app.item",
}
_OTHERS = [
    "SELECT min(price), max(price), sum(price), avg(price), sum(size), min(whole) FROM app.item",
    "SELECT min(day), max(at), min(seen) FROM app.item",
    "SELECT count(*)::numeric(10,2) AS a, sum(price)::numeric(9,1) AS b, avg(price)::varchar(9) AS c"
    " FROM app.item",
    "SELECT percentile_disc(0.5) WITHIN GROUP (ORDER BY price) FROM app.item",
    "SELECT percentile_cont(0.5) WITHIN GROUP (ORDER BY price) FROM app.item",
    "SELECT mode() WITHIN GROUP (ORDER BY name) FROM app.item",
    "SELECT (SELECT max(price) FROM app.item) AS a, (SELECT count(*)::numeric(5) FROM app.item) AS b",
    "SELECT name, kind, price, count(*) FROM app.item GROUP BY GROUPING SETS ((name, kind), (price), ())",
    "SELECT a.name, b.name, count(*) FROM app.item a JOIN app.item b USING (id) GROUP BY 1, 2",
    "SELECT k, sum(n) FROM (SELECT name AS k, count(*) AS n FROM app.item GROUP BY 1) AS q GROUP BY k",
    "SELECT case when count(*) > 1 then min(price) else 0 end FROM app.item",
]


described_items = served_alone("described", _SCRIPT, _TABLES)


def _columns(client: RawClient, text: str) -> tuple[Column, ...] | tuple[bytes, bytes]:
    found = described(client, text)
    return found.columns or found.error or ()


# The shadow has an enumeration of its own, and shows a domain as what it is made of.
_NOT_THE_SAME = {("mood", around) for around in _AROUND if around != "cast"} | {("code", "kept")}
_EVERY = 4


def _statements() -> Iterator[str]:
    pairs = itertools.product(_AROUND.items(), _EXPRESSIONS)
    for number, ((name, around), expression) in enumerate(pairs):
        if (expression, name) not in _NOT_THE_SAME and (number % _EVERY == 0 or name == "plain"):
            yield around.format(e=expression)
    yield from _OTHERS


@pytest.mark.long
def test_columns_are_described_as_by_postgresql(described_items: LiveProxy) -> None:
    analyst = described_items.servers.new_analyst()
    wrong = list[str]()
    with (
        RawClient(described_items.servers.protected.dsn("described")) as plain,
        RawClient(described_items.dsn("described", analyst)) as ours,
    ):
        for text in _statements():
            right, found = _columns(plain, text), _columns(ours, text)
            if found != right:
                wrong.append(f"{text}: {found} instead of {right}")
    assert wrong == []


_RUN = [
    "SELECT kind::text AS k, kind::text || '|' AS z, count(*) FROM app.item GROUP BY kind::text",
    "SELECT kind::varchar AS k, length(kind::varchar), count(*) FROM app.item GROUP BY kind::varchar",
    "SELECT kind::varchar(5) || '|' AS k, count(*) FROM app.item GROUP BY 1",
    "SELECT k || '|' AS k, n FROM (SELECT coalesce(kind, 'zz') AS k, count(*) AS n FROM app.item"
    " GROUP BY 1) AS q",
    "SELECT name AS a, name::text AS b, name::varchar(1) AS c, count(*) FROM app.item"
    " GROUP BY name::text, name, name::varchar(1)",
    "SELECT (note::varchar(3))::text AS a, note::varchar(3) AS b, count(*) FROM app.item"
    " GROUP BY note::varchar(3), (note::varchar(3))::text",
    "SELECT price::numeric AS a, price::numeric(5,1) AS b, price AS c, count(*) FROM app.item"
    " GROUP BY price::numeric, price::numeric(5,1), price",
    "SELECT name::text AS a, count(*) FROM app.item GROUP BY ROLLUP (name::text, kind)",
    "SELECT k, count(*) FROM (SELECT name::varchar(3) AS k FROM app.item UNION ALL"
    " SELECT other::varchar(3) FROM app.item) AS q GROUP BY k",
    "SELECT k, count(*) FROM (SELECT name::text AS k FROM app.item UNION ALL SELECT other FROM app.item) AS q"
    " GROUP BY k",
]


@pytest.mark.parametrize("text", _RUN)
def test_rows_have_the_texts_of_their_types(text: str, described_items: LiveProxy) -> None:
    """Columns as they come with rows, and all that is no count: the padding of character(n) is in no text."""
    analyst = described_items.servers.new_analyst()
    with (
        RawClient(described_items.servers.protected.dsn("described")) as plain,
        RawClient(described_items.dsn("described", analyst)) as ours,
    ):
        simple(ours, "SET dp.epsilon = 50")
        for way in (simple, extended):
            right, found = way(plain, text), way(ours, text)
            assert (found.columns, found.error) == (right.columns, None)
            assert sorted(map(_labels, found.rows)) == sorted(map(_labels, right.rows))


def _labels(row: tuple[bytes | None, ...]) -> list[bytes]:
    return [b"" if value is None else value for value in row[:-1]]


@pytest.mark.parametrize(
    "expression",
    ["name", "name::varchar(2)", "name::text", "kind", "price::numeric(6,1)", "at::timestamp"],
)
def test_a_table_made_of_answers_has_their_types(
    expression: str, described_items: LiveProxy
) -> None:
    text = f"CREATE TEMP TABLE made AS SELECT {expression} AS k, count(*) AS n FROM app.item GROUP BY 1"
    of_table = (
        "SELECT format_type(atttypid, atttypmod) FROM pg_attribute WHERE attrelid = 'made'::regclass"
        " AND attnum > 0 ORDER BY attnum"
    )
    found = []
    analyst = described_items.servers.new_analyst()
    for dsn in (
        described_items.servers.protected.dsn("described"),
        described_items.dsn("described", analyst),
    ):
        with psycopg.connect(dsn, autocommit=True) as session:
            session.execute(text.encode())
            found.append(session.execute(of_table.encode()).fetchall())
    assert found[0] == found[1]
