"""Statements that join public tables by an expression, or rename an alias's columns, and their database."""

from __future__ import annotations

SCRIPT = """\
CREATE SCHEMA j;
CREATE TABLE j.country (code text PRIMARY KEY, region text NOT NULL);
INSERT INTO j.country VALUES ('DE', 'west'), ('FR', 'west'), ('IT', 'south');
CREATE TABLE j.calendar (day date PRIMARY KEY, week integer NOT NULL, is_off boolean NOT NULL);
INSERT INTO j.calendar SELECT d::date, extract(week FROM d), extract(dow FROM d) = 0
FROM generate_series('2023-01-01'::date, '2023-03-31', '1 day') d;
CREATE TABLE j.grade (low integer PRIMARY KEY, name text NOT NULL);
INSERT INTO j.grade VALUES (0, 'small'), (10, 'middle'), (20, 'large');
CREATE TABLE j.people (id integer PRIMARY KEY, age integer NOT NULL);
INSERT INTO j.people SELECT i, 20 + i % 50 FROM generate_series(1, 900) i;
CREATE TABLE j.events (id integer PRIMARY KEY, person integer NOT NULL REFERENCES j.people,
                       at timestamptz NOT NULL, land text, n integer NOT NULL);
INSERT INTO j.events SELECT i, 1 + i % 900,
    '2023-01-01'::timestamptz + i % 100 * interval '1 day' + interval '7 hours',
    (ARRAY['de', 'fr', 'it', 'mt', NULL])[1 + i % 5], i % 30 FROM generate_series(1, 3600) i;
"""
TABLES = """\
tables:
  j.people: {unit: {person: id}, columns: {age: {bounds: [20, 69]}}}
  j.events:
    unit: {person: person}
    max_rows_per_unit: 4
    columns:
      id: {}
      at: {bounds: [2023-01-01, 2023-04-30 23:59:59]}
      land: {values: [de, fr, it, mt, null]}
      n: {bounds: [0, 29]}
  j.country: public
  j.calendar: public
  j.grade: public
"""
_BY_DAY = (
    "d.day = e.at::date",
    "e.at::date = d.day",
    "d.day = date_trunc('day', e.at)::date",
    "date(e.at) = d.day",
)
_BY_LAND = ("c.code = upper(e.land)", "upper(coalesce(e.land, 'it')) = c.code")
_BY_GRADE = ("g.low = e.n / 10 * 10", "e.n - e.n % 10 = g.low", "g.low = floor(e.n / 10)::int * 10")
JOINS = (
    *(
        form.format("j.calendar d", on, "d.is_off")
        for on in _BY_DAY
        for form in (
            "SELECT {2} AS k, count(*) AS n FROM j.events e JOIN {0} ON {1} GROUP BY 1",
            "SELECT {2} AS k, count(*) AS n FROM j.events e LEFT JOIN {0} ON {1} GROUP BY 1",
            "SELECT {2} AS k, count(*) AS n FROM j.events e, {0} WHERE {1} GROUP BY 1",
            "SELECT {2} AS k, count(*) AS n FROM {0} JOIN j.events e ON {1} AND d.week > 3 GROUP BY 1",
            "SELECT {2} AS k, sum(e.n) AS n FROM (SELECT * FROM j.events WHERE n > 3) e"
            " JOIN {0} ON {1} GROUP BY 1",
        )
    ),
    *(
        form.format("j.country c", on)
        for on in _BY_LAND
        for form in (
            "SELECT c.region AS k, count(*) AS n FROM j.events e JOIN {0} ON {1} GROUP BY 1",
            "SELECT c.code AS k, c.region AS k2, count(*) AS n FROM j.events e JOIN {0} ON {1} GROUP BY 1, 2",
            "SELECT count(*) AS n FROM j.events e JOIN {0} ON {1} WHERE c.region = 'west'",
            "SELECT c.region AS k, count(*) AS n FROM j.people p JOIN j.events e ON e.person = p.id"
            " JOIN {0} ON {1} GROUP BY 1",
            "SELECT c.region AS k, d.is_off AS k2, count(*) AS n FROM j.events e JOIN {0} ON {1}"
            " JOIN j.calendar d ON d.day = e.at::date GROUP BY 1, 2",
            "WITH e AS (SELECT person, land, n FROM j.events) SELECT c.region AS k, count(*) AS n"
            " FROM e JOIN {0} ON {1} GROUP BY 1",
        )
    ),
    *(
        f"SELECT g.name AS k, count(*) AS n FROM j.events e JOIN j.grade g ON {on} GROUP BY 1"
        for on in _BY_GRADE
    ),
)
ALIASES = (
    "SELECT count(*) AS n FROM j.people AS p (a, b) WHERE b < 40",
    "SELECT count(*) AS n FROM j.people p (a) WHERE age < 40",
    "SELECT avg(b) AS n FROM j.people AS p (a, b)",
    "SELECT x.l AS k, sum(x.m) AS n FROM j.events AS x (i, u, t, l, m) GROUP BY 1",
    "SELECT c.r AS k, count(*) AS n FROM j.events e JOIN j.country AS c (k, r)"
    " ON c.k = upper(e.land) GROUP BY 1",
    "SELECT p.b < 40 AS k, count(*) AS n FROM j.people p (a, b) JOIN j.events e (i, a) USING (a) GROUP BY 1",
    "SELECT count(*) AS n FROM j.people p (a, b)"
    " WHERE EXISTS (SELECT 1 FROM j.events q (i, u) WHERE q.u = p.a)",
    "SELECT max(q.c) AS n FROM (SELECT u, count(*) AS c FROM j.events q (i, u) GROUP BY u) q",
)
