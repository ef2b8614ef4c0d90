-- case: aliases and arithmetic outside
SELECT round(100.0 * sum(n2) / count(*), 1) AS "Share", count(*) n FROM people p WHERE p.b
-- => plan
-- w.people, unit 1 row(s), partitions by hash of r1."id"; keys none; cells 0
--   sum: clamp 0 .. 175, grid 0.01, sensitivity 17500 steps, scale 4375, epsilon 4 delta 0
--   count(*): sensitivity 1, scale 1/4, epsilon 4 delta 0
-- => backend
SELECT pg_catalog.floor(pg_catalog.sum(pg_catalog.numeric_larger(pg_catalog.numeric_smaller(r1."n2", %(p2)s::numeric), %(p1)s::numeric)) * %(p3)s::numeric), pg_catalog.count(*) FROM "w"."people" AS r1 WHERE r1."b"
--   p1 = 0
--   p2 = 175
--   p3 = 100
-- => loss
-- epsilon 8 delta 0
-- => residual
SELECT round(100.0 * dp_b1.a1 / nullif(dp_b1.a2, 0), 1) AS "Share", dp_b1.a2 n FROM pg_catalog.jsonb_to_recordset(($1)::pg_catalog.jsonb->'b1') AS dp_b1(a1 numeric, a2 bigint)

-- case: having, order, limit
SELECT t, count(*) AS n FROM people GROUP BY t HAVING count(*) > 5 AND t <> 'x' ORDER BY count(*) DESC, t LIMIT 2 OFFSET 1
-- => plan
-- w.people, unit 1 row(s), partitions by hash of r1."id"; keys t of 4; cells 0
--   count(*): sensitivity 1, scale 1/8, epsilon 8 delta 0
-- => backend
SELECT * FROM (SELECT (CASE WHEN pg_catalog.octet_length((r1."t")::text) <= 1024 THEN (r1."t")::text ELSE pg_catalog.left((r1."t")::text, 1024) END)::text AS k1, pg_catalog.count(*) FROM "w"."people" AS r1 GROUP BY 1 LIMIT ALL) g WHERE (k1 = ANY(%(p1)s::text[]) OR k1 IS NULL)
--   p1 = ['x', 'y', 'z']
-- => loss
-- epsilon 8 delta 0
-- => residual
SELECT dp_b1.k1 AS "t", dp_b1.a1 AS n FROM pg_catalog.jsonb_to_recordset(($1)::pg_catalog.jsonb->'b1') AS dp_b1(k1 pg_catalog.text, a1 bigint) WHERE dp_b1.a1 > 5 AND dp_b1.k1 <> 'x' ORDER BY dp_b1.a1 DESC, t LIMIT 2 OFFSET 1

-- case: order by an alias that is a column
SELECT count(*) AS free, t FROM people GROUP BY t ORDER BY free
-- => plan
-- w.people, unit 1 row(s), partitions by hash of r1."id"; keys t of 4; cells 0
--   count(*): sensitivity 1, scale 1/8, epsilon 8 delta 0
-- => backend
SELECT * FROM (SELECT (CASE WHEN pg_catalog.octet_length((r1."t")::text) <= 1024 THEN (r1."t")::text ELSE pg_catalog.left((r1."t")::text, 1024) END)::text AS k1, pg_catalog.count(*) FROM "w"."people" AS r1 GROUP BY 1 LIMIT ALL) g WHERE (k1 = ANY(%(p1)s::text[]) OR k1 IS NULL)
--   p1 = ['x', 'y', 'z']
-- => loss
-- epsilon 8 delta 0
-- => residual
SELECT dp_b1.a1 AS free, dp_b1.k1 AS "t" FROM pg_catalog.jsonb_to_recordset(($1)::pg_catalog.jsonb->'b1') AS dp_b1(k1 pg_catalog.text, a1 bigint) ORDER BY free

-- case: equal aggregates are one release
SELECT sum(n2), sum(n2) / count(*), SUM ( n2 ) FROM people HAVING sum(n2) > 0
-- => plan
-- w.people, unit 1 row(s), partitions by hash of r1."id"; keys none; cells 0
--   sum: clamp 0 .. 175, grid 0.01, sensitivity 17500 steps, scale 4375, epsilon 4 delta 0
--   count(*): sensitivity 1, scale 1/4, epsilon 4 delta 0
-- => backend
SELECT pg_catalog.floor(pg_catalog.sum(pg_catalog.numeric_larger(pg_catalog.numeric_smaller(r1."n2", %(p2)s::numeric), %(p1)s::numeric)) * %(p3)s::numeric), pg_catalog.count(*) FROM "w"."people" AS r1
--   p1 = 0
--   p2 = 175
--   p3 = 100
-- => loss
-- epsilon 8 delta 0
-- => residual
SELECT dp_b1.a1 AS "sum", dp_b1.a1 / nullif(dp_b1.a2, 0), dp_b1.a1 AS "sum" FROM pg_catalog.jsonb_to_recordset(($1)::pg_catalog.jsonb->'b1') AS dp_b1(a1 numeric, a2 bigint) WHERE dp_b1.a1 > 0

-- case: window over results
SELECT t, count(*), rank() OVER (ORDER BY count(*) DESC), sum(count(*)) OVER () FROM people GROUP BY t
-- => plan
-- w.people, unit 1 row(s), partitions by hash of r1."id"; keys t of 4; cells 0
--   count(*): sensitivity 1, scale 1/8, epsilon 8 delta 0
-- => backend
SELECT * FROM (SELECT (CASE WHEN pg_catalog.octet_length((r1."t")::text) <= 1024 THEN (r1."t")::text ELSE pg_catalog.left((r1."t")::text, 1024) END)::text AS k1, pg_catalog.count(*) FROM "w"."people" AS r1 GROUP BY 1 LIMIT ALL) g WHERE (k1 = ANY(%(p1)s::text[]) OR k1 IS NULL)
--   p1 = ['x', 'y', 'z']
-- => loss
-- epsilon 8 delta 0
-- => residual
SELECT dp_b1.k1 AS "t", dp_b1.a1 AS "count", rank() OVER (ORDER BY dp_b1.a1 DESC), sum(dp_b1.a1) OVER () FROM pg_catalog.jsonb_to_recordset(($1)::pg_catalog.jsonb->'b1') AS dp_b1(k1 pg_catalog.text, a1 bigint)

-- case: cte over results
WITH q AS (SELECT t, avg(n2) AS a FROM people GROUP BY t) SELECT t, a * 2 FROM q WHERE a > 5
-- => plan
-- w.people, unit 1 row(s), partitions by hash of r1."id"; keys t of 4; cells 49
--   avg: 0 .. 17500 steps of 0.01, fill 8750, 49 partitions, gate 399 units, scale 5/2, epsilon 8 delta 1/1000, each epsilon 38/5 delta 0.001
-- => backend
SELECT x2, x3, pg_catalog.count(x1), pg_catalog.sum(x1) FROM (SELECT pg_catalog.int4larger((pg_catalog.numeric_smaller(r1."n2" * %(p1)s::numeric, %(p2)s::numeric))::integer, %(p3)s::integer) AS x1, (r1."t")::text AS x2, pg_catalog.mod(((pg_catalog.hashint4extended(r1."id"::integer, %(p5)s::bigint)) & %(p6)s::bigint)::integer, %(p7)s::integer) AS x3 FROM "w"."people" AS r1 WHERE (r1."t" = ANY(%(p4)s::text[]::text[]) OR r1."t" IS NULL) LIMIT ALL) r GROUP BY 1, 2
--   p1 = 100
--   p2 = 17500
--   p3 = 0
--   p4 = ['x', 'y', 'z']
--   p5 = random
--   p6 = 2147483647
--   p7 = 49
-- => loss
-- epsilon 8 delta 1/1000
-- => residual
WITH q AS (SELECT dp_b1.k1 AS "t", dp_b1.a1 AS a FROM pg_catalog.jsonb_to_recordset(($1)::pg_catalog.jsonb->'b1') AS dp_b1(k1 pg_catalog.text, a1 numeric)) SELECT t, a * 2 FROM q WHERE a > 5

-- case: union of results
SELECT 'p' AS k, count(*) FROM people UNION ALL SELECT 'o', count(*) FROM orders ORDER BY 1
-- => plan
-- w.people, unit 1 row(s), partitions by hash of r1."id"; keys none; cells 0
--   count(*): sensitivity 1, scale 1/4, epsilon 4 delta 0
-- w.orders, unit r2."uid": rows 6, groups None, per group None; keys none; cells 0
--   count(*): sensitivity 6, scale 3/2, epsilon 4 delta 0
-- => backend
SELECT pg_catalog.count(*) FROM "w"."people" AS r1
SELECT pg_catalog.sum(least(v0, %(p1)s::bigint)) FROM (SELECT r2."uid" AS unit, pg_catalog.count(*) AS v0 FROM "w"."orders" AS r2 WHERE r2."uid" IS NOT NULL GROUP BY r2."uid") u
--   p1 = 6
-- => loss
-- epsilon 8 delta 0
-- => residual
SELECT 'p' AS k, dp_b1.a1 AS "count" FROM pg_catalog.jsonb_to_recordset(($1)::pg_catalog.jsonb->'b1') AS dp_b1(a1 bigint) UNION ALL SELECT 'o', dp_b2.a1 AS "count" FROM pg_catalog.jsonb_to_recordset(($1)::pg_catalog.jsonb->'b2') AS dp_b2(a1 bigint) ORDER BY 1

-- case: scalar subqueries
SELECT count(*), (SELECT avg(n2) FROM orders) FROM people
-- => plan
-- w.people, unit 1 row(s), partitions by hash of r1."id"; keys none; cells 0
--   count(*): sensitivity 1, scale 1/4, epsilon 4 delta 0
-- w.orders, unit r2."uid": rows 6, groups None, per group None; keys none; cells 95
--   avg: 0 .. 17500 steps of 0.01, fill 8750, 95 partitions, gate 775 units, scale 5, epsilon 4 delta 1/2000, each epsilon 19/5 delta 0.0005
-- => backend
SELECT pg_catalog.count(*) FROM "w"."people" AS r1
SELECT cell, pg_catalog.sum(v0), pg_catalog.sum(v1), pg_catalog.count(v1) FROM (SELECT r2."uid" AS unit, pg_catalog.mod(((pg_catalog.hashint4extended(r2."uid"::integer, %(p4)s::bigint)) & %(p5)s::bigint)::integer, %(p6)s::integer) AS cell, pg_catalog.count(r2."n2") AS v0, pg_catalog.sum(pg_catalog.int4larger((pg_catalog.numeric_smaller(r2."n2" * %(p1)s::numeric, %(p2)s::numeric))::integer, %(p3)s::integer)) AS v1 FROM "w"."orders" AS r2 WHERE r2."uid" IS NOT NULL GROUP BY r2."uid") u GROUP BY 1
--   p1 = 100
--   p2 = 17500
--   p3 = 0
--   p4 = random
--   p5 = 2147483647
--   p6 = 95
-- => loss
-- epsilon 8 delta 1/2000
-- => residual
SELECT dp_b1.a1 AS "count", (SELECT dp_b2.a1 AS "avg" FROM pg_catalog.jsonb_to_recordset(($1)::pg_catalog.jsonb->'b2') AS dp_b2(a1 numeric)) FROM pg_catalog.jsonb_to_recordset(($1)::pg_catalog.jsonb->'b1') AS dp_b1(a1 bigint)

-- case: subquery in from
SELECT max(n) FROM (SELECT count(*) AS n FROM people GROUP BY t) q
-- => plan
-- w.people, unit 1 row(s), partitions by hash of r1."id"; keys t of 4; cells 0
--   count(*): sensitivity 1, scale 1/8, epsilon 8 delta 0
-- => backend
SELECT * FROM (SELECT (CASE WHEN pg_catalog.octet_length((r1."t")::text) <= 1024 THEN (r1."t")::text ELSE pg_catalog.left((r1."t")::text, 1024) END)::text AS k1, pg_catalog.count(*) FROM "w"."people" AS r1 GROUP BY 1 LIMIT ALL) g WHERE (k1 = ANY(%(p1)s::text[]) OR k1 IS NULL)
--   p1 = ['x', 'y', 'z']
-- => loss
-- epsilon 8 delta 0
-- => residual
SELECT max(n) FROM (SELECT dp_b1.a1 AS n FROM pg_catalog.jsonb_to_recordset(($1)::pg_catalog.jsonb->'b1') AS dp_b1(k1 pg_catalog.text, a1 bigint)) q

-- case: cte hides nothing else
WITH other AS (SELECT 1) SELECT count(*) FROM people
-- => plan
-- w.people, unit 1 row(s), partitions by hash of r1."id"; keys none; cells 0
--   count(*): sensitivity 1, scale 1/8, epsilon 8 delta 0
-- => backend
SELECT pg_catalog.count(*) FROM "w"."people" AS r1
-- => loss
-- epsilon 8 delta 0
-- => residual
WITH other AS (SELECT 1) SELECT dp_b1.a1 AS "count" FROM pg_catalog.jsonb_to_recordset(($1)::pg_catalog.jsonb->'b1') AS dp_b1(a1 bigint)

-- case: declare
DECLARE k CURSOR FOR SELECT count(*) FROM people
-- => plan
-- w.people, unit 1 row(s), partitions by hash of r1."id"; keys none; cells 0
--   count(*): sensitivity 1, scale 1/8, epsilon 8 delta 0
-- => backend
SELECT pg_catalog.count(*) FROM "w"."people" AS r1
-- => loss
-- epsilon 8 delta 0
-- => residual
DECLARE k CURSOR FOR SELECT dp_b1.a1 AS "count" FROM pg_catalog.jsonb_to_recordset(($1)::pg_catalog.jsonb->'b1') AS dp_b1(a1 bigint)

-- case: create table as
CREATE TEMP TABLE x AS SELECT t, count(*) FROM people GROUP BY t WITH DATA
-- => plan
-- w.people, unit 1 row(s), partitions by hash of r1."id"; keys t of 4; cells 0
--   count(*): sensitivity 1, scale 1/8, epsilon 8 delta 0
-- => backend
SELECT * FROM (SELECT (CASE WHEN pg_catalog.octet_length((r1."t")::text) <= 1024 THEN (r1."t")::text ELSE pg_catalog.left((r1."t")::text, 1024) END)::text AS k1, pg_catalog.count(*) FROM "w"."people" AS r1 GROUP BY 1 LIMIT ALL) g WHERE (k1 = ANY(%(p1)s::text[]) OR k1 IS NULL)
--   p1 = ['x', 'y', 'z']
-- => loss
-- epsilon 8 delta 0
-- => residual
CREATE TEMP TABLE x AS SELECT dp_b1.k1 AS "t", dp_b1.a1 AS "count" FROM pg_catalog.jsonb_to_recordset(($1)::pg_catalog.jsonb->'b1') AS dp_b1(k1 pg_catalog.text, a1 bigint) WITH DATA

-- case: copy
COPY (SELECT count(*) FROM people) TO STDOUT (FORMAT csv)
-- => plan
-- w.people, unit 1 row(s), partitions by hash of r1."id"; keys none; cells 0
--   count(*): sensitivity 1, scale 1/8, epsilon 8 delta 0
-- => backend
SELECT pg_catalog.count(*) FROM "w"."people" AS r1
-- => loss
-- epsilon 8 delta 0
-- => residual
COPY (SELECT dp_b1.a1 AS "count" FROM pg_catalog.jsonb_to_recordset(($1)::pg_catalog.jsonb->'b1') AS dp_b1(a1 bigint)) TO STDOUT (FORMAT csv)

-- case: insert
INSERT INTO mine SELECT t, sum(i4) FROM people GROUP BY t
-- => plan
-- w.people, unit 1 row(s), partitions by hash of r1."id"; keys t of 4; cells 0
--   sum: clamp 0 .. 100, grid 1, sensitivity 100 steps, scale 25/2, epsilon 8 delta 0
-- => backend
SELECT * FROM (SELECT (CASE WHEN pg_catalog.octet_length((r1."t")::text) <= 1024 THEN (r1."t")::text ELSE pg_catalog.left((r1."t")::text, 1024) END)::text AS k1, pg_catalog.sum((pg_catalog.int4larger(pg_catalog.int4smaller(r1."i4", %(p2)s::integer), %(p1)s::integer))::integer) FROM "w"."people" AS r1 GROUP BY 1 LIMIT ALL) g WHERE (k1 = ANY(%(p3)s::text[]) OR k1 IS NULL)
--   p1 = 0
--   p2 = 100
--   p3 = ['x', 'y', 'z']
-- => loss
-- epsilon 8 delta 0
-- => residual
INSERT INTO mine SELECT dp_b1.k1 AS "t", dp_b1.a1 AS "sum" FROM pg_catalog.jsonb_to_recordset(($1)::pg_catalog.jsonb->'b1') AS dp_b1(k1 pg_catalog.text, a1 bigint)

-- case: explain
EXPLAIN (FORMAT JSON) SELECT count(*) FROM people
-- => plan
-- w.people, unit 1 row(s), partitions by hash of r1."id"; keys none; cells 0
--   count(*): sensitivity 1, scale 1/8, epsilon 8 delta 0
-- => backend
SELECT pg_catalog.count(*) FROM "w"."people" AS r1
-- => loss
-- epsilon 8 delta 0
-- => residual
EXPLAIN (FORMAT JSON) SELECT count(*) FROM people

-- case: intervals
SELECT count(*), dp.low(count(*)), dp.high(count(*)), dp.error(sum(n2)), dp.low(avg(n2)) FROM people
-- => plan
-- w.people, unit 1 row(s), partitions by hash of r1."id"; keys none; cells 145
--   count(*): sensitivity 1, scale 3/8, epsilon 8/3 delta 0
--   sum: clamp 0 .. 175, grid 0.01, sensitivity 17500 steps, scale 13125/2, epsilon 8/3 delta 0
--   avg: 0 .. 17500 steps of 0.01, fill 8750, 145 partitions, gate 1182 units, scale 15/2, epsilon 8/3 delta 1/3000, each epsilon 38/15 delta 0.0003333
-- => backend
SELECT x2, pg_catalog.count(*), pg_catalog.sum(x1), pg_catalog.count(x1) FROM (SELECT pg_catalog.int4larger((pg_catalog.numeric_smaller(r1."n2" * %(p1)s::numeric, %(p2)s::numeric))::integer, %(p3)s::integer) AS x1, pg_catalog.mod(((pg_catalog.hashint4extended(r1."id"::integer, %(p4)s::bigint)) & %(p5)s::bigint)::integer, %(p6)s::integer) AS x2 FROM "w"."people" AS r1 LIMIT ALL) r GROUP BY 1
--   p1 = 100
--   p2 = 17500
--   p3 = 0
--   p4 = random
--   p5 = 2147483647
--   p6 = 145
-- => loss
-- epsilon 8 delta 1/3000
-- => residual
SELECT dp_b1.a1 AS "count", dp_b1.l1 AS "low", dp_b1.h1 AS "high", dp_b1.e2 AS "error", dp_b1.l3 AS "low" FROM pg_catalog.jsonb_to_recordset(($1)::pg_catalog.jsonb->'b1') AS dp_b1(a1 bigint, l1 bigint, h1 bigint, a2 numeric, e2 double precision, a3 numeric, l3 numeric)

-- case: parameters
-- parameters: integer 5, numeric 2.5, text "a%"
SELECT count(*), sum(i4 + $2) FROM people WHERE i4 > $1 AND s LIKE $3
-- => plan
-- w.people, unit 1 row(s), partitions by hash of r1."id"; keys none; cells 0
--   count(*): sensitivity 1, scale 1/4, epsilon 4 delta 0
--   sum: clamp 8.5 .. 102.5, grid 0.5, sensitivity 205 steps, scale 205/4, epsilon 4 delta 0
-- => backend
SELECT pg_catalog.count(*), pg_catalog.sum(pg_catalog.int8larger(pg_catalog.int8smaller(((((pg_catalog.int4larger(pg_catalog.int4smaller(x1, %(p4)s::integer), %(p3)s::integer))::integer)::bigint * %(p5)s::bigint) + %(p6)s::bigint), %(p2)s::bigint), %(p1)s::bigint)) FROM (SELECT r1."i4" AS x1 FROM "w"."people" AS r1 WHERE (r1."i4" > %(p6)s::bigint) AND (r1."s" LIKE %(p7)s::text) LIMIT ALL) r
--   p1 = 17
--   p2 = 205
--   p3 = 6
--   p4 = 100
--   p5 = 2
--   p6 = 5
--   p7 = a%
-- => loss
-- epsilon 8 delta 0
-- => residual
SELECT dp_b1.a1 AS "count", dp_b1.a2 AS "sum" FROM pg_catalog.jsonb_to_recordset(($4)::pg_catalog.jsonb->'b1') AS dp_b1(a1 bigint, a2 numeric)

-- case: null parameter
-- parameters: integer NULL
SELECT count(*) FROM people WHERE i4 = $1
-- => plan
-- w.people, unit 1 row(s), partitions by hash of r1."id"; keys none; cells 0
--   count(*): sensitivity 1, scale 1/8, epsilon 8 delta 0
-- => backend
SELECT pg_catalog.count(*) FROM "w"."people" AS r1 WHERE (r1."i4" = NULL::bigint)
-- => loss
-- epsilon 8 delta 0
-- => residual
SELECT dp_b1.a1 AS "count" FROM pg_catalog.jsonb_to_recordset(($2)::pg_catalog.jsonb->'b1') AS dp_b1(a1 bigint)

-- case: date parameter
-- parameters: date "2010-01-01", timestamp without time zone "2010-01-01T10:00:00"
SELECT count(*) FROM people WHERE d = $1 AND ts > $2
-- => plan
-- w.people, unit 1 row(s), partitions by hash of r1."id"; keys none; cells 0
--   count(*): sensitivity 1, scale 1/8, epsilon 8 delta 0
-- => backend
SELECT pg_catalog.count(*) FROM "w"."people" AS r1 WHERE (r1."d" = %(p1)s::date) AND (r1."ts" > %(p2)s::timestamp without time zone)
--   p1 = 2010-01-01
--   p2 = 2010-01-01T10:00:00
-- => loss
-- epsilon 8 delta 0
-- => residual
SELECT dp_b1.a1 AS "count" FROM pg_catalog.jsonb_to_recordset(($3)::pg_catalog.jsonb->'b1') AS dp_b1(a1 bigint)

-- case: only public keys
SELECT DISTINCT b FROM people
-- => plan
-- w.people, unit 1 row(s), partitions by hash of r1."id"; keys b of 2; cells 0
-- => backend

-- => loss
-- epsilon 0 delta 0
-- => residual
SELECT DISTINCT dp_b1.k1 AS "b" FROM pg_catalog.jsonb_to_recordset(($1)::pg_catalog.jsonb->'b1') AS dp_b1(k1 boolean)

-- case: distinct results
SELECT DISTINCT t, count(*) FROM people GROUP BY t
-- => plan
-- w.people, unit 1 row(s), partitions by hash of r1."id"; keys t of 4; cells 0
--   count(*): sensitivity 1, scale 1/8, epsilon 8 delta 0
-- => backend
SELECT * FROM (SELECT (CASE WHEN pg_catalog.octet_length((r1."t")::text) <= 1024 THEN (r1."t")::text ELSE pg_catalog.left((r1."t")::text, 1024) END)::text AS k1, pg_catalog.count(*) FROM "w"."people" AS r1 GROUP BY 1 LIMIT ALL) g WHERE (k1 = ANY(%(p1)s::text[]) OR k1 IS NULL)
--   p1 = ['x', 'y', 'z']
-- => loss
-- epsilon 8 delta 0
-- => residual
SELECT DISTINCT dp_b1.k1 AS "t", dp_b1.a1 AS "count" FROM pg_catalog.jsonb_to_recordset(($1)::pg_catalog.jsonb->'b1') AS dp_b1(k1 pg_catalog.text, a1 bigint)

-- case: group by alias
SELECT t AS kind, count(*) FROM people GROUP BY kind
-- => plan
-- w.people, unit 1 row(s), partitions by hash of r1."id"; keys t of 4; cells 0
--   count(*): sensitivity 1, scale 1/8, epsilon 8 delta 0
-- => backend
SELECT * FROM (SELECT (CASE WHEN pg_catalog.octet_length((r1."t")::text) <= 1024 THEN (r1."t")::text ELSE pg_catalog.left((r1."t")::text, 1024) END)::text AS k1, pg_catalog.count(*) FROM "w"."people" AS r1 GROUP BY 1 LIMIT ALL) g WHERE (k1 = ANY(%(p1)s::text[]) OR k1 IS NULL)
--   p1 = ['x', 'y', 'z']
-- => loss
-- epsilon 8 delta 0
-- => residual
SELECT dp_b1.k1 AS kind, dp_b1.a1 AS "count" FROM pg_catalog.jsonb_to_recordset(($1)::pg_catalog.jsonb->'b1') AS dp_b1(k1 pg_catalog.text, a1 bigint)

-- case: group by in brackets
SELECT count(*) FROM people GROUP BY (t), b
-- => plan
-- w.people, unit 1 row(s), partitions by hash of r1."id"; keys t of 4, b of 2; cells 0
--   count(*): sensitivity 1, scale 1/8, epsilon 8 delta 0
-- => backend
SELECT * FROM (SELECT (CASE WHEN pg_catalog.octet_length((r1."t")::text) <= 1024 THEN (r1."t")::text ELSE pg_catalog.left((r1."t")::text, 1024) END)::text AS k1, (r1."b")::text AS k2, pg_catalog.count(*) FROM "w"."people" AS r1 GROUP BY 1, 2 LIMIT ALL) g WHERE (k1 = ANY(%(p1)s::text[]) OR k1 IS NULL) AND (k2 = ANY(%(p2)s::text[]))
--   p1 = ['x', 'y', 'z']
--   p2 = ['true', 'false']
-- => loss
-- epsilon 8 delta 0
-- => residual
SELECT dp_b1.a1 AS "count" FROM pg_catalog.jsonb_to_recordset(($1)::pg_catalog.jsonb->'b1') AS dp_b1(k1 pg_catalog.text, k2 boolean, a1 bigint)

-- case: qualified and quoted
SELECT "people"."t", count(*) FROM w."people" GROUP BY w.people.t
-- => plan
-- w.people, unit 1 row(s), partitions by hash of r1."id"; keys t of 4; cells 0
--   count(*): sensitivity 1, scale 1/8, epsilon 8 delta 0
-- => backend
SELECT * FROM (SELECT (CASE WHEN pg_catalog.octet_length((r1."t")::text) <= 1024 THEN (r1."t")::text ELSE pg_catalog.left((r1."t")::text, 1024) END)::text AS k1, pg_catalog.count(*) FROM "w"."people" AS r1 GROUP BY 1 LIMIT ALL) g WHERE (k1 = ANY(%(p1)s::text[]) OR k1 IS NULL)
--   p1 = ['x', 'y', 'z']
-- => loss
-- epsilon 8 delta 0
-- => residual
SELECT dp_b1.k1 AS "t", dp_b1.a1 AS "count" FROM pg_catalog.jsonb_to_recordset(($1)::pg_catalog.jsonb->'b1') AS dp_b1(k1 pg_catalog.text, a1 bigint)

-- case: folded names
SELECT COUNT(*) FROM W.People WHERE I4 > 1
-- => plan
-- w.people, unit 1 row(s), partitions by hash of r1."id"; keys none; cells 0
--   count(*): sensitivity 1, scale 1/8, epsilon 8 delta 0
-- => backend
SELECT pg_catalog.count(*) FROM "w"."people" AS r1 WHERE (r1."i4" > %(p1)s::bigint)
--   p1 = 1
-- => loss
-- epsilon 8 delta 0
-- => residual
SELECT dp_b1.a1 AS "count" FROM pg_catalog.jsonb_to_recordset(($1)::pg_catalog.jsonb->'b1') AS dp_b1(a1 bigint)

-- case: smaller epsilon
-- set: dp.epsilon=0.5
SELECT count(*) FROM people
-- => plan
-- w.people, unit 1 row(s), partitions by hash of r1."id"; keys none; cells 0
--   count(*): sensitivity 1, scale 2, epsilon 1/2 delta 0
-- => backend
SELECT pg_catalog.count(*) FROM "w"."people" AS r1
-- => loss
-- epsilon 1/2 delta 0
-- => residual
SELECT dp_b1.a1 AS "count" FROM pg_catalog.jsonb_to_recordset(($1)::pg_catalog.jsonb->'b1') AS dp_b1(a1 bigint)

-- case: within the budget
-- left: 8
SELECT count(*) FROM people
-- => plan
-- w.people, unit 1 row(s), partitions by hash of r1."id"; keys none; cells 0
--   count(*): sensitivity 1, scale 1/8, epsilon 8 delta 0
-- => backend
SELECT pg_catalog.count(*) FROM "w"."people" AS r1
-- => loss
-- epsilon 8 delta 0
-- => residual
SELECT dp_b1.a1 AS "count" FROM pg_catalog.jsonb_to_recordset(($1)::pg_catalog.jsonb->'b1') AS dp_b1(a1 bigint)

-- case: comment between words
SELECT /* t */ count(*) -- x
FROM people WHERE b GROUP BY t
-- => plan
-- w.people, unit 1 row(s), partitions by hash of r1."id"; keys t of 4; cells 0
--   count(*): sensitivity 1, scale 1/8, epsilon 8 delta 0
-- => backend
SELECT * FROM (SELECT (CASE WHEN pg_catalog.octet_length((r1."t")::text) <= 1024 THEN (r1."t")::text ELSE pg_catalog.left((r1."t")::text, 1024) END)::text AS k1, pg_catalog.count(*) FROM "w"."people" AS r1 WHERE r1."b" GROUP BY 1 LIMIT ALL) g WHERE (k1 = ANY(%(p1)s::text[]) OR k1 IS NULL)
--   p1 = ['x', 'y', 'z']
-- => loss
-- epsilon 8 delta 0
-- => residual
SELECT /* t */ dp_b1.a1 AS "count" -- x
FROM pg_catalog.jsonb_to_recordset(($1)::pg_catalog.jsonb->'b1') AS dp_b1(k1 pg_catalog.text, a1 bigint)

-- case: key named twice in the output
SELECT t, t AS u, upper(t), count(*) FROM people GROUP BY t
-- => plan
-- w.people, unit 1 row(s), partitions by hash of r1."id"; keys t of 4; cells 0
--   count(*): sensitivity 1, scale 1/8, epsilon 8 delta 0
-- => backend
SELECT * FROM (SELECT (CASE WHEN pg_catalog.octet_length((r1."t")::text) <= 1024 THEN (r1."t")::text ELSE pg_catalog.left((r1."t")::text, 1024) END)::text AS k1, pg_catalog.count(*) FROM "w"."people" AS r1 GROUP BY 1 LIMIT ALL) g WHERE (k1 = ANY(%(p1)s::text[]) OR k1 IS NULL)
--   p1 = ['x', 'y', 'z']
-- => loss
-- epsilon 8 delta 0
-- => residual
SELECT dp_b1.k1 AS "t", dp_b1.k1 AS u, upper(dp_b1.k1), dp_b1.a1 AS "count" FROM pg_catalog.jsonb_to_recordset(($1)::pg_catalog.jsonb->'b1') AS dp_b1(k1 pg_catalog.text, a1 bigint)

-- case: intervals of arithmetic over aggregates
SELECT t, sum(n2) / count(*), dp.error(sum(n2) / count(*)), dp.low(round(sum(n2) / nullif(count(*), 0), 2)) AS least, dp.high(100.0 * (count(i4) - count(*))), dp.low(count(*)), dp.high(coalesce(sum(i4) / count(i4), 0)) FROM people GROUP BY t HAVING dp.error(sum(n2) / count(*)) < 5 ORDER BY dp.error(greatest(count(*)::numeric(10,2), 0))
-- => plan
-- w.people, unit 1 row(s), partitions by hash of r1."id"; keys t of 4; cells 0
--   sum: clamp 0 .. 175, grid 0.01, sensitivity 17500 steps, scale 8750, epsilon 2 delta 0
--   count(*): sensitivity 1, scale 1/2, epsilon 2 delta 0
--   count: sensitivity 1, scale 1/2, epsilon 2 delta 0
--   sum: clamp 0 .. 100, grid 1, sensitivity 100 steps, scale 50, epsilon 2 delta 0
-- => backend
SELECT * FROM (SELECT (CASE WHEN pg_catalog.octet_length((r1."t")::text) <= 1024 THEN (r1."t")::text ELSE pg_catalog.left((r1."t")::text, 1024) END)::text AS k1, pg_catalog.floor(pg_catalog.sum(pg_catalog.numeric_larger(pg_catalog.numeric_smaller(r1."n2", %(p2)s::numeric), %(p1)s::numeric)) * %(p3)s::numeric), pg_catalog.count(*), pg_catalog.count(r1."i4"), pg_catalog.sum((pg_catalog.int4larger(pg_catalog.int4smaller(r1."i4", %(p5)s::integer), %(p4)s::integer))::integer) FROM "w"."people" AS r1 GROUP BY 1 LIMIT ALL) g WHERE (k1 = ANY(%(p6)s::text[]) OR k1 IS NULL)
--   p1 = 0
--   p2 = 175
--   p3 = 100
--   p4 = 0
--   p5 = 100
--   p6 = ['x', 'y', 'z']
-- => loss
-- epsilon 8 delta 0
-- => residual
SELECT dp_b1.k1 AS "t", dp_b1.a1 / nullif(dp_b1.a2, 0), dp_b1.e5 AS "error", dp_b1.l6 AS least, dp_b1.h7 AS "high", dp_b1.l2 AS "low", dp_b1.h8 AS "high" FROM pg_catalog.jsonb_to_recordset(($1)::pg_catalog.jsonb->'b1') AS dp_b1(k1 pg_catalog.text, a1 numeric, a2 bigint, l2 bigint, a3 bigint, a4 bigint, e5 double precision, l6 numeric, h7 numeric, h8 bigint, e9 double precision) WHERE dp_b1.e5 < 5 ORDER BY dp_b1.e9

-- case: an interval in a CTE that nobody reads
WITH idle AS (SELECT dp.low(count(*)) AS x FROM people) SELECT count(*), dp.high(count(*) + 1) FROM people
-- => plan
-- w.people, unit 1 row(s), partitions by hash of r1."id"; keys none; cells 0
--   count(*): sensitivity 1, scale 1/8, epsilon 8 delta 0
-- => backend
SELECT pg_catalog.count(*) FROM "w"."people" AS r1
-- => loss
-- epsilon 8 delta 0
-- => residual
WITH idle AS (SELECT dp.low(count(*)) AS x FROM people) SELECT dp_b1.a1 AS "count", dp_b1.h2 AS "high" FROM pg_catalog.jsonb_to_recordset(($1)::pg_catalog.jsonb->'b1') AS dp_b1(a1 bigint, h2 bigint)

-- case: an output column that is called like a protected table
WITH q AS (SELECT t, count(*) AS people FROM people GROUP BY t) SELECT t, people, lag(people) OVER (ORDER BY t) AS prior FROM q ORDER BY t
-- => plan
-- w.people, unit 1 row(s), partitions by hash of r1."id"; keys t of 4; cells 0
--   count(*): sensitivity 1, scale 1/8, epsilon 8 delta 0
-- => backend
SELECT * FROM (SELECT (CASE WHEN pg_catalog.octet_length((r1."t")::text) <= 1024 THEN (r1."t")::text ELSE pg_catalog.left((r1."t")::text, 1024) END)::text AS k1, pg_catalog.count(*) FROM "w"."people" AS r1 GROUP BY 1 LIMIT ALL) g WHERE (k1 = ANY(%(p1)s::text[]) OR k1 IS NULL)
--   p1 = ['x', 'y', 'z']
-- => loss
-- epsilon 8 delta 0
-- => residual
WITH q AS (SELECT dp_b1.k1 AS "t", dp_b1.a1 AS people FROM pg_catalog.jsonb_to_recordset(($1)::pg_catalog.jsonb->'b1') AS dp_b1(k1 pg_catalog.text, a1 bigint)) SELECT t, people, lag(people) OVER (ORDER BY t) AS prior FROM q ORDER BY t
