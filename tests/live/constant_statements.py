"""Statements whose constants the shadow evaluates, the table that they ask of, and some that are refused."""

from __future__ import annotations

import datetime as dt
from typing import Any

# A row of each person, each 13 hours, from some weeks ahead of now back through four years.
SCRIPT = """\
CREATE SCHEMA w;
CREATE TABLE w.calls
(person int PRIMARY KEY, at timestamptz NOT NULL, shown timestamp NOT NULL, day date NOT NULL,
kind text NOT NULL, n int NOT NULL, amount numeric NOT NULL);
INSERT INTO w.calls
SELECT n, t, t AT TIME ZONE 'UTC', (t AT TIME ZONE 'UTC')::date, (ARRAY['a','b','c','d'])[1 + n % 4], n % 100,
    (n % 1000) / 10.0
FROM generate_series(0, 2999) n, LATERAL (SELECT now() + interval '20 days 1 hour 7 minutes'
    - n * interval '13 hours') g(t);
CREATE TABLE w.kinds (id int PRIMARY KEY, name text NOT NULL UNIQUE);
INSERT INTO w.kinds VALUES (1, 'a'), (2, 'b'), (30, 'z');
"""
TABLES = """\
tables:
  w.calls:
    unit: {person: person}
    columns:
      at: {bounds: ["2015-01-01 00:00:00+00", "2045-01-01 00:00:00+00"]}
      shown: {bounds: ["2015-01-01 00:00:00", "2045-01-01 00:00:00"]}
      day: {bounds: [2015-01-01, 2045-01-01]}
      kind: {values: [a, b, c, d]}
      n: {bounds: [0, 100]}
      amount: {bounds: [0, 100]}
  w.kinds: public
"""
COUNT = "SELECT count(*) FROM w.calls"

RELATIVE = (
    "at >= now() - interval '30 days'",
    "at >= NOW() - INTERVAL '30' DAY",
    "at > current_timestamp - interval '1 month' AND at <= current_timestamp",
    "at BETWEEN now() - interval '1 year' AND now()",
    "at >= date_trunc('month', now())",
    "at >= date_trunc('month', now()) - interval '1 month' AND at < date_trunc('month', now())",
    "at >= date_trunc('week', current_date)",
    "at >= current_date",
    "at >= current_date - 7",
    "day >= current_date - 7 AND day < current_date",
    "day = current_date",
    "day >= date_trunc('year', current_date)::date",
    "shown >= localtimestamp - interval '2 weeks'",
    "shown >= CAST(NOW() + (-1 * interval '1 month') AS timestamp)",
    "shown >= date_trunc('quarter', LOCALTIMESTAMP + -2 * interval '1 YEAR')",
    "date_trunc('day', shown) <= date_trunc('day', LOCALTIMESTAMP + -5 * interval '1 DAY')",
    "now() - interval '90 days' < at",
    "NOT at < now() - make_interval(months => 2)",
    "at >= now() - make_interval(0, 1, 2, 3)",
    "extract(year FROM at) = extract(year FROM now())",
    "date_part('month', at) = date_part('month', now() - interval '1 month')",
    "to_char(at, 'YYYY-MM') = to_char(now() - interval '1 month', 'YYYY-MM')",
    "at::date = current_date - 1",
    "at >= coalesce(NULL, now() - interval '10 days')",
    "at >= greatest(now() - interval '10 days', timestamptz '2020-01-01')",
    "at < ('today'::date + 1)",
    "at >= TIMESTAMPTZ 'yesterday' - interval '1 week'",
    "day IN (current_date, current_date - 1, current_date - interval '2 days')",
    "CASE WHEN at >= now() - interval '1 month' THEN n ELSE 0 END > 50",
    "at >= now() AT TIME ZONE 'Asia/Tokyo' - interval '3 days'",
)
FORMATS = (
    "at >= TO_TIMESTAMP('2024-01-01 00:00:00.000000', 'YYYY-MM-DD HH24:MI:SS.US')",
    "shown < TO_TIMESTAMP('2025-03-09 02:30', 'YYYY-MM-DD HH24:MI')",
    "day >= TO_DATE('01.02.2024', 'DD.MM.YYYY')",
    "date_trunc('quarter', at) = date_trunc('quarter', TO_TIMESTAMP('2025-08-27 19:43', 'yyyy-MM-dd HH24:mi'))",
    "day >= make_date(2025, 2, 28) + 1",
    "at >= make_timestamptz(2025, 3, 9, 2, 30, 0)",
    "at >= make_timestamptz(2025, 3, 9, 2, 30, 0, 'Europe/Berlin')",
    "day >= date '2025-01-31' + interval '1 month'",
    "at >= timestamptz '2025-06-01 00:00' AT TIME ZONE 'Asia/Tokyo'",
    "at >= to_timestamp(1750000000)",
    "n > to_number('1,2', '9G9')",
    "at < 'infinity'::timestamptz + interval '1 day'",
    "at > make_timestamptz(-5, 1, 1, 0, 0, 0)",
    "kind = ANY('{\"a\"}')",
    "kind = lower('A')",
    "kind = 'A' || 'b' OR kind = left('abc', 1)",
    "kind LIKE lower('A') || '%%'",
    "n * 2 > abs(-10) + 5",
    "amount > '12.5'::numeric(3,1) + 1",
    "amount > round(10.55::numeric, 1)",
    "n > extract(epoch FROM interval '1 minute') - 20",
    "pg_catalog.now() - interval '1 day' /* ) */ < at -- x",
)
LISTS = (
    "n = ANY(ARRAY[1, 2, 3])",
    "n <> ALL(ARRAY[1, 2, 3])",
    "n = ANY('{1,2}'::int[])",
    "n = SOME(ARRAY[1, 2 + 3])",
    "n = ANY('{}'::int[])",
    "n <> ALL('{}'::int[])",
    "n = ANY('{1, 2}')",
    "n <> ALL('{}')",
    "n = SOME('{}')",
    "n <> ALL(' {1,NULL} ')",
    "kind = ANY('{a, b }')",
    "n = ANY(NULL::int[])",
    "n = ANY(ARRAY[1, NULL])",
    "n <> ALL(ARRAY[1, NULL])",
    "kind = ANY(ARRAY['a', 'b'])",
    "kind = ANY(string_to_array('a,c', ','))",
    "NOT kind = ANY(ARRAY['a', 'b']::varchar[])",
    "kind LIKE ANY(ARRAY['a%%', '_'])",
    "kind NOT LIKE ANY(ARRAY['a%%', 'b'])",
    "kind LIKE ANY('{a%%,_}')",
    "kind NOT LIKE ALL ('{a%%,NULL,b}')",
    "kind ILIKE SOME(E'{\"A%%\"}')",
    "kind LIKE ANY('{}')",
    "kind NOT LIKE ALL(ARRAY['a%%', 'b'])",
    "kind ILIKE ALL(ARRAY['A%%', '_'])",
    "kind LIKE ANY(ARRAY['a', NULL])",
    "kind LIKE ALL('{}'::text[])",
    "NOT kind LIKE ANY('{}'::text[])",
    "kind LIKE ANY(NULL::text[])",
    "(kind, n) IN (('a', 4), ('b', 5), ('c', 5))",
    "(n, day) IN ((1, current_date), (2, '2025-01-01')) OR n = 3",
    "(kind, n) NOT IN (('a', 4), ('b', NULL))",
    "(kind, n) = ('a', 2 + 2)",
    "day = ANY(ARRAY[current_date, current_date - 1])",
    "at::date = ANY(ARRAY['2025-11-02', '2025-11-03']::date[])",
)
CLAUSES = (
    "SELECT kind, count(*) FILTER (WHERE at >= now() - interval '1 year') FROM w.calls GROUP BY kind",
    "SELECT at >= now() - interval '1 year' AS recent, count(*) FROM w.calls GROUP BY 1",
    "SELECT kind, sum(CASE WHEN day > current_date - 100 THEN 1 ELSE 0 END) FROM w.calls GROUP BY kind",
    "SELECT count(*) FROM (SELECT person FROM w.calls WHERE at >= now() - interval '1 year') q",
    "WITH q AS (SELECT kind AS k FROM w.calls WHERE day <= current_date) SELECT k, count(*) FROM q GROUP BY k",
    "SELECT current_date AS today, count(*) FROM w.calls WHERE day < current_date",
    "SELECT count(*), now() > '2020-01-01' FROM w.calls WHERE at < now() HAVING count(*) > length('abc')",
)
# As SQLAlchemy writes them: a value that is written twice is one parameter.
BY_TOOLS: tuple[tuple[str, dict[str, Any]], ...] = (
    (
        "SELECT date_trunc(%(u)s::VARCHAR, at) AS m, count(*) AS n FROM w.calls WHERE day >= %(d)s::DATE"
        " GROUP BY date_trunc(%(u)s::VARCHAR, at) ORDER BY m",
        {"u": "month", "d": dt.date(2025, 1, 1)},
    ),
    (
        "SELECT date_trunc(%(u)s::VARCHAR, shown) AS m, kind, count(*) FROM w.calls GROUP BY 1, 2",
        {"u": "YEAR"},
    ),
    (
        "SELECT to_char(at, %(f)s::VARCHAR) AS m, count(*) FROM w.calls"
        " GROUP BY to_char(at, %(f)s::VARCHAR)",
        {"f": "YYYY-MM"},
    ),
    ("SELECT date_trunc(lower('WEEK'), at) AS m, count(*) FROM w.calls GROUP BY 1", {}),
    (
        "SELECT coalesce(kind, %(x)s::VARCHAR) AS k, count(*) FROM w.calls WHERE n IN (%(a)s::INTEGER,"
        " %(b)s::INTEGER) GROUP BY coalesce(kind, %(x)s::VARCHAR)",
        {"x": "none", "a": 3, "b": 40},
    ),
)
PUBLIC = (
    "n = (SELECT id FROM w.kinds WHERE name = 'a')",
    "n > (SELECT max(k.id) FROM w.kinds AS k WHERE k.name IN ('a', 'b')) + 1",
    "kind = (SELECT name FROM w.kinds ORDER BY id LIMIT 1)",
    "n = (SELECT id FROM w.kinds WHERE name = 'nobody')",
    "day > current_date - (SELECT id FROM w.kinds WHERE name = 'z') AND n < 50",
    "n IN (1, (SELECT id FROM w.kinds k WHERE (k.id = 2 OR name = 'b') AND NOT id IN (1)))",
    "kind = 'a' AND n >= coalesce((SELECT min(id) FROM w.kinds WHERE id > 100), 7)",
)
PARAMETERS: tuple[tuple[str, tuple[Any, ...]], ...] = (
    ("n = %s::INTEGER", (7,)),
    ("n IN (%s::INTEGER, %s::INTEGER)", (7, 8)),
    ("kind IN (%s::VARCHAR, %s::VARCHAR)", ("a", "b")),
    ("kind = %s::VARCHAR", ("a",)),
    ("n = ANY(%s)", ([1, 2, 70],)),
    ("n <> ALL(%s)", ([1, 2, 70],)),
    ("n = ANY(%s)", ([],)),
    ("n = ANY(%s)", (None,)),
    ("kind = ANY(%s)", (["a", "d", "it's"],)),
    ("n = ANY(%s::int[])", ([5, 6],)),
    ("(kind, n) IN ((%s, %s), (%s::VARCHAR, %s::INTEGER))", ("a", 4, "b", 5)),
    ("kind LIKE ANY(%s)", (["a%", "c"],)),
    ("at >= now() - %s::interval", ("30 days",)),
    ("at >= now() - %s * interval '1 day'", (30,)),
    ("day >= current_date - %s::int", (30,)),
    ("at >= date_trunc(%s, now())", ("month",)),
    ("day >= %s::date - interval '1 month'", ("2025-03-31",)),
    ("n IN (" + ", ".join(["%s::INTEGER"] * 400) + ")", tuple(range(50, 450))),
    ("n = ANY(%s)", (list(range(-1900, 100)),)),
)
HOSTILE = (
    ("n < ANY('{1,2}')", "ANY"),
    ("n = ALL('{1,2}')", ""),
    ("n = (SELECT id FROM w.kinds)", "more than one row"),
    ("n IN ((SELECT id FROM w.kinds))", "this subquery"),
    ("n = ANY((SELECT array_agg(id) FROM w.kinds)::int[])", "subquery"),
    ("n = (SELECT id FROM w.kinds WHERE name = kind)", "this subquery"),
    ("n = (SELECT id FROM w.kinds WHERE id = calls.n)", "this subquery"),
    ("n = (SELECT k.id FROM w.kinds k, w.calls c LIMIT 1)", "this subquery"),
    ("n = (SELECT id FROM w.kinds WHERE id = (SELECT min(n) FROM w.calls))", ""),
    ("n = (SELECT id FROM w.kinds WHERE random() < 2 LIMIT 1)", "this subquery"),
    ("at > now() - (n * interval '1 day')", "values of this type"),
    ("at > clock_timestamp()", "clock_timestamp"),
    ("n > random()", "random"),
    ("n > nextval('s')", "s"),
    ("at > now() - pg_sleep(1)::text::interval", ""),
    ("kind = repeat('x', 1000000000)", "repeat"),
    ("kind = lower(gen_random_uuid()::text)", ""),
    ("n > pg_temp.abs(-1)", ""),
    ("n = generate_series(1, 3)", ""),
    ("n = abs(count(*))", "aggregate"),
    ("n = (SELECT max(c.n) - 1 FROM w.calls c)", ""),
    ("n = ANY(ARRAY(SELECT c.n FROM w.calls c))", ""),
    ("at > now() - interval '1 day' / 0", "division by zero"),
    ("n > abs(1 / 0)", "rows cannot be divided by 0"),
    ("at > to_timestamp('x', 'YYYY')", "invalid"),
    ("n = ANY(ARRAY[1, 2, n])", "ANY"),
    ("n < ANY(ARRAY[1, 2])", "ANY"),
    ("at > current_setting('x.y')::timestamptz", ""),
)


def statements() -> list[tuple[str, Any]]:
    plain = [
        f"{COUNT} WHERE {each}".replace("%%", "%")
        for each in (*RELATIVE, *FORMATS, *LISTS, *PUBLIC)
    ]
    return [
        *((each, None) for each in (*plain, *CLAUSES)),
        *((f"{COUNT} WHERE {each}", given) for each, given in PARAMETERS),
        *BY_TOOLS,
    ]
