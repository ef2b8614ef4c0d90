-- case: count of units by a column of the table that holds them
-- policy: best
SELECT m.t, count(DISTINCT m.uid), count(*), max(o.i4) FROM members m JOIN orders o ON o.uid = m.uid GROUP BY m.t
-- => plan
-- w.members, w.orders, unit r1."uid": rows 6, groups None, per group 2; keys expression of 4; cells 0
--   count(distinct) of units: sensitivity 1, scale 3/8, epsilon 8/3 delta 0
--   count(*): sensitivity 2, scale 3/4, epsilon 8/3 delta 0
--   max of units: clamp 0 .. 100, grid 1, values 1, all groups of a unit, 101 places, least 16 units, epsilon 188/75 delta 0, if release 4 is enough
--     units of max: all groups of a unit, sensitivity 1, scale 25/4, epsilon 4/25 delta 0
-- => backend
SELECT k1, pg_catalog.sum(least(v0, 1)), pg_catalog.sum(least(v0, %(p2)s::bigint)) FROM (SELECT r1."uid" AS unit, (pg_catalog.left(r1."t"::text, %(p3)s::integer))::text AS k1, pg_catalog.count(*) AS v0 FROM ((SELECT r1."t" AS c1, r1."uid" AS c2, r2."i4" AS c3, r2."uid" AS c4 FROM ((SELECT r1."t", r1."uid" FROM "w"."members" AS r1 WHERE r1."uid" IS NOT NULL AND ((pg_catalog.left(r1."t"::text, %(p3)s::integer))::text = ANY(%(p4)s::text[]) OR pg_catalog.left(r1."t"::text, %(p3)s::integer) IS NULL)) AS r1 FULL JOIN "w"."orders" AS r2 ON (r1."uid" = r2."uid")) WHERE CASE WHEN r1."uid" IS NOT NULL AND r2."uid" IS NOT NULL THEN TRUE ELSE FALSE END LIMIT ALL) AS j1 CROSS JOIN LATERAL (SELECT j1.c1 AS "t", j1.c2 AS "uid") AS r1 CROSS JOIN LATERAL (SELECT j1.c3 AS "i4", j1.c4 AS "uid") AS r2) GROUP BY r1."uid", 2) u GROUP BY 1
--   p1 = 6
--   p2 = 2
--   p3 = 2
--   p4 = ['x', 'y', 'z']
SELECT k1, p0, pg_catalog.count(*) FROM (SELECT k1, pg_catalog.width_bucket(v0::bigint, %(p3)s::bigint[]) - 1 AS p0 FROM (SELECT r1."uid" AS unit, (pg_catalog.left(r1."t"::text, %(p4)s::integer))::text AS k1, pg_catalog.int4larger(pg_catalog.int4smaller(pg_catalog.max(r2."i4"), %(p2)s::integer), %(p1)s::integer) AS v0 FROM ((SELECT r1."t" AS c1, r1."uid" AS c2, r2."i4" AS c3, r2."uid" AS c4 FROM ((SELECT r1."t", r1."uid" FROM "w"."members" AS r1 WHERE r1."uid" IS NOT NULL AND ((pg_catalog.left(r1."t"::text, %(p4)s::integer))::text = ANY(%(p5)s::text[]) OR pg_catalog.left(r1."t"::text, %(p4)s::integer) IS NULL)) AS r1 FULL JOIN "w"."orders" AS r2 ON (r1."uid" = r2."uid")) WHERE CASE WHEN r1."uid" IS NOT NULL AND r2."uid" IS NOT NULL THEN TRUE ELSE FALSE END LIMIT ALL) AS j1 CROSS JOIN LATERAL (SELECT j1.c1 AS "t", j1.c2 AS "uid") AS r1 CROSS JOIN LATERAL (SELECT j1.c3 AS "i4", j1.c4 AS "uid") AS r2) GROUP BY r1."uid", 2) u LIMIT ALL) p GROUP BY GROUPING SETS ((k1, p0))
--   p1 = 0
--   p2 = 100
--   p3 = 0, 1, 2 .. 100, 101 in all
--   p4 = 2
--   p5 = ['x', 'y', 'z']
-- => loss
-- epsilon 8 delta 0
-- => residual
SELECT dp_b1.k1 AS "t", dp_b1.a1 AS "count", dp_b1.a2 AS "count", dp_b1.a3 AS "max" FROM pg_catalog.jsonb_to_recordset(($1)::pg_catalog.jsonb->'b1') AS dp_b1(k1 pg_catalog.text, a1 bigint, a2 bigint, a3 integer)

-- case: median by a column of the table that holds units
SELECT m.i2, count(DISTINCT v.uid), avg(v.i4) FROM visits v LEFT JOIN members m ON m.uid = v.uid GROUP BY m.i2
-- => plan
-- w.visits, w.members, unit r1."uid": rows 5, groups None, per group None; keys i2 of 3; cells 91
--   count(distinct) of units: sensitivity 1, scale 1/4, epsilon 4 delta 0
--   avg: 0 .. 10000 steps of 0.01, fill 5000, 91 partitions, gate 743 units, scale 5, epsilon 4 delta 1/2000, each epsilon 19/5 delta 0.0005
-- => backend
SELECT k1, cell, pg_catalog.sum(least(v0, 1)), pg_catalog.sum(v1), pg_catalog.sum(v2), pg_catalog.count(v2) FROM (SELECT r1."uid" AS unit, (r2."i2")::text AS k1, pg_catalog.mod(((pg_catalog.hashint8extended((r1."uid" # ((r1."uid" >> 32) * (%(p3)s::bigint >> 33))), %(p3)s::bigint)) & %(p4)s::bigint)::integer, %(p5)s::integer) AS cell, pg_catalog.count(*) AS v0, pg_catalog.count(r1."i4") AS v1, pg_catalog.sum((pg_catalog.int4larger(pg_catalog.int4smaller(r1."i4", %(p2)s::integer), %(p1)s::integer))::integer) AS v2 FROM ((SELECT r1."i4" AS c1, r1."uid" AS c2, r2."i2" AS c3, r2."uid" AS c4 FROM (((SELECT r1."i4", r1."uid" FROM "w"."visits" AS r1 WHERE r1."uid" IS NOT NULL) AS r1 CROSS JOIN (SELECT TRUE AS here) AS m1) FULL JOIN "w"."members" AS r2 ON (r1."uid" = r2."uid")) WHERE CASE WHEN m1.here THEN (r2."i2" = ANY(%(p6)s::text[]::smallint[]) OR r2."i2" IS NULL) ELSE FALSE END LIMIT ALL) AS j2 CROSS JOIN LATERAL (SELECT j2.c1 AS "i4", j2.c2 AS "uid") AS r1 CROSS JOIN LATERAL (SELECT j2.c3 AS "i2", j2.c4 AS "uid") AS r2) GROUP BY r1."uid", 2) u GROUP BY 1, 2
--   p1 = 0
--   p2 = 100
--   p3 = random
--   p4 = 2147483647
--   p5 = 91
--   p6 = ['1', '2']
-- => loss
-- epsilon 8 delta 1/2000
-- => residual
SELECT dp_b1.k1 AS "i2", dp_b1.a1 AS "count", dp_b1.a2 AS "avg" FROM pg_catalog.jsonb_to_recordset(($1)::pg_catalog.jsonb->'b1') AS dp_b1(k1 smallint, a1 bigint, a2 numeric)

-- case: count of units by a partner of some rows
-- policy: best
SELECT m.t, count(DISTINCT v.uid) FROM visits v LEFT JOIN members m ON m.uid = v.uid AND v.i4 > 3 GROUP BY m.t
-- => plan
-- w.visits, w.members, unit r1."uid": rows 5, groups None, per group None; keys expression of 4; cells 0
--   count(distinct) of units: sensitivity 4, scale 1/2, epsilon 8 delta 0
-- => backend
SELECT k1, pg_catalog.sum(least(v0, 1)) FROM (SELECT r1."uid" AS unit, (pg_catalog.left(r2."t"::text, %(p1)s::integer))::text AS k1, pg_catalog.count(*) AS v0 FROM ((SELECT r1."i4" AS c1, r1."uid" AS c2, r2."t" AS c3, r2."uid" AS c4 FROM (((SELECT r1."i4", r1."uid" FROM "w"."visits" AS r1 WHERE r1."uid" IS NOT NULL) AS r1 CROSS JOIN (SELECT TRUE AS here) AS m1) FULL JOIN "w"."members" AS r2 ON (r1."uid" = r2."uid") AND (r1."i4" > %(p3)s::bigint)) WHERE CASE WHEN m1.here THEN ((pg_catalog.left(r2."t"::text, %(p1)s::integer))::text = ANY(%(p2)s::text[]) OR pg_catalog.left(r2."t"::text, %(p1)s::integer) IS NULL) ELSE FALSE END LIMIT ALL) AS j2 CROSS JOIN LATERAL (SELECT j2.c1 AS "i4", j2.c2 AS "uid") AS r1 CROSS JOIN LATERAL (SELECT j2.c3 AS "t", j2.c4 AS "uid") AS r2) GROUP BY r1."uid", 2) u GROUP BY 1
--   p1 = 2
--   p2 = ['x', 'y', 'z']
--   p3 = 3
-- => loss
-- epsilon 8 delta 0
-- => residual
SELECT dp_b1.k1 AS "t", dp_b1.a1 AS "count" FROM pg_catalog.jsonb_to_recordset(($1)::pg_catalog.jsonb->'b1') AS dp_b1(k1 pg_catalog.text, a1 bigint)

-- case: count of units by cohort and later value
-- policy: best
SELECT f.y, v.i2, count(DISTINCT v.uid) FROM visits v JOIN (SELECT uid, date_trunc('year', min(d)) AS y FROM visits GROUP BY uid) f ON f.uid = v.uid WHERE f.y >= '2018-01-01' GROUP BY f.y, v.i2
-- => plan
-- w.visits, unit r1."uid": rows 5, groups None, per group None; keys y of 3, i2 of 2; cells 0
--   count(distinct) of units: sensitivity 2, scale 1/4, epsilon 8 delta 0
-- => backend
SELECT k1, k2, pg_catalog.sum(least(v0, 1)) FROM (SELECT r1."uid" AS unit, (r4."y")::text AS k1, (r1."i2")::text AS k2, pg_catalog.count(*) AS v0 FROM ((SELECT r1."i2" AS c1, r1."uid" AS c2, r4."uid" AS c3, r4."y" AS c4 FROM ((SELECT r1."i2", r1."uid" FROM "w"."visits" AS r1 WHERE r1."uid" IS NOT NULL AND (r1."i2" = ANY(%(p2)s::text[]::smallint[]))) AS r1 FULL JOIN (SELECT r4."uid", r4."y" FROM (SELECT r3."unit" AS "uid", pg_catalog.date_trunc('year', (pg_catalog.date_larger(pg_catalog.date_smaller(r3."a1", %(p5)s::date), %(p4)s::date))::timestamp AT TIME ZONE 'UTC') AS "y", r3."unit" AS "dp_unit" FROM (SELECT r2."uid" AS unit, pg_catalog.min(pg_catalog.date_larger(pg_catalog.date_smaller(r2."d", %(p5)s::date), %(p4)s::date)) AS a1 FROM "w"."visits" AS r2 WHERE r2."uid" IS NOT NULL GROUP BY r2."uid") AS r3) AS r4 WHERE ((r4."y")::text = ANY(%(p1)s::text[])) AND (r4."y" >= %(p3)s::timestamp with time zone)) AS r4 ON (r1."uid" = r4."uid")) WHERE CASE WHEN r1."uid" IS NOT NULL AND r4."uid" IS NOT NULL THEN TRUE ELSE FALSE END LIMIT ALL) AS j1 CROSS JOIN LATERAL (SELECT j1.c1 AS "i2", j1.c2 AS "uid") AS r1 CROSS JOIN LATERAL (SELECT j1.c3 AS "uid", j1.c4 AS "y") AS r4) GROUP BY r1."uid", 2, 3) u GROUP BY 1, 2
--   p1 = ['2018-01-01 00:00:00+00', '2019-01-01 00:00:00+00', '2020-01-01 00:00:00+00']
--   p2 = ['1', '2']
--   p3 = 2018-01-01
--   p4 = 2000-01-01
--   p5 = 2020-01-01
--   p6 = 5
-- => loss
-- epsilon 8 delta 0
-- => residual
SELECT dp_b1.k1 AS "y", dp_b1.k2 AS "i2", dp_b1.a1 AS "count" FROM pg_catalog.jsonb_to_recordset(($1)::pg_catalog.jsonb->'b1') AS dp_b1(k1 timestamp with time zone, k2 smallint, a1 bigint)

-- case: private key of the table that holds units, rows without a bound
-- policy: chosen
SELECT m.s, count(*) FROM visits v JOIN members m ON m.uid = v.uid GROUP BY m.s
-- => plan
-- w.visits, w.members, unit r1."uid": rows 10000, groups None, per group None; keys s of private; cells 0
--   selection: epsilon 4 delta 1/2000, each epsilon 4 delta 0.0005
--   count(*): sensitivity 10240000, scale 12800000/3, epsilon 4 delta 0
-- => backend
SELECT k1, pg_catalog.sum(CASE WHEN size0 <= %(p3)s::numeric THEN v0::bigint * %(p1)s::bigint ELSE pg_catalog.div(v0::numeric * %(p2)s::numeric, size0)::bigint END), pg_catalog.count(*) FROM (SELECT *, pg_catalog.sum(v0) OVER (PARTITION BY unit) AS size0 FROM (SELECT r1."uid" AS unit, (r2."s")::text AS k1, pg_catalog.count(*) AS v0 FROM ((SELECT r1."uid" AS c1, r2."s" AS c2, r2."uid" AS c3 FROM ((SELECT r1."uid" FROM "w"."visits" AS r1 WHERE r1."uid" IS NOT NULL) AS r1 FULL JOIN "w"."members" AS r2 ON (r1."uid" = r2."uid")) WHERE CASE WHEN r1."uid" IS NOT NULL AND r2."uid" IS NOT NULL THEN TRUE ELSE FALSE END LIMIT ALL) AS j1 CROSS JOIN LATERAL (SELECT j1.c1 AS "uid") AS r1 CROSS JOIN LATERAL (SELECT j1.c2 AS "s", j1.c3 AS "uid") AS r2) GROUP BY r1."uid", 2, coalesce(pg_catalog.hashtextextended(((r2."s")::text)::text, %(p4)s::bigint), %(p4)s::bigint)) g) u GROUP BY 1, coalesce(pg_catalog.hashtextextended((k1)::text, %(p4)s::bigint), %(p4)s::bigint)
--   p1 = 1024
--   p2 = 10240000
--   p3 = 10000
--   p4 = random
-- => loss
-- epsilon 8 delta 1/2000
-- => residual
SELECT dp_b1.k1 AS "s", dp_b1.a1 AS "count" FROM pg_catalog.jsonb_to_recordset(($1)::pg_catalog.jsonb->'b1') AS dp_b1(k1 character varying(20), a1 bigint)

-- case: grouped by unit and a column that it fixes
-- policy: chosen
SELECT q.t, avg(q.n) FROM (SELECT v.uid, m.t, count(*) AS n FROM visits v JOIN members m ON m.uid = v.uid GROUP BY v.uid, m.t) q GROUP BY q.t
-- => plan
-- w.visits, w.members, unit 1 row(s), partitions by hash of r4."dp_unit", r4."dp_unit" not null; keys t of 4; cells 0
--   avg from moments: clamp 0 .. 10000, grid 1, rows 1, output grid 0.001, epsilon 24/5 delta 0
-- => backend
SELECT * FROM (SELECT (CASE WHEN pg_catalog.octet_length((r4."t")::text) <= 1024 THEN (r4."t")::text ELSE pg_catalog.left((r4."t")::text, 1024) END)::text AS k1, pg_catalog.count(r4."n"), (2 * pg_catalog.sum((pg_catalog.int8larger(pg_catalog.int8smaller(r4."n", %(p1)s::bigint), %(p2)s::bigint))::integer) - %(p1)s::bigint * pg_catalog.count(r4."n"))::bigint FROM (SELECT r3."unit" AS "uid", r3."k1" AS "t", r3."a1" AS "n", r3."unit" AS "dp_unit" FROM (SELECT r1."uid" AS unit, (((CASE WHEN pg_catalog.octet_length(r2."t") <= %(p3)s::integer THEN r2."t" ELSE pg_catalog.left(r2."t"::text, %(p3)s::integer) END))::varchar(1024)::text)::varchar(1024)::text AS k1, least(pg_catalog.count(*), %(p1)s::bigint) AS a1 FROM ((SELECT r1."uid" AS c1, r2."t" AS c2, r2."uid" AS c3 FROM ((SELECT r1."uid" FROM (SELECT * FROM (SELECT r1."id", r1."uid", r1."i2", r1."i4", r1."i8", r1."n2", r1."n", r1."f4", r1."f8", r1."t", r1."c", r1."s", r1."b", r1."d", r1."ts", r1."tz", r1."free", r1."e", r1."j", r1."ta", r1."ia", r1."iv", r1."tod", pg_catalog.row_number() OVER (PARTITION BY r1."uid" ORDER BY pg_catalog.hashint4extended(r1."id"::integer, %(p4)s::bigint), r1."id") AS "dp_place_of_unit" FROM "w"."visits" AS r1 WHERE r1."uid" IS NOT NULL) AS r1 WHERE "dp_place_of_unit" <= %(p5)s::bigint) AS r1 WHERE r1."uid" IS NOT NULL) AS r1 FULL JOIN "w"."members" AS r2 ON (r1."uid" = r2."uid")) WHERE CASE WHEN r1."uid" IS NOT NULL AND r2."uid" IS NOT NULL THEN TRUE ELSE FALSE END LIMIT ALL) AS j1 CROSS JOIN LATERAL (SELECT j1.c1 AS "uid") AS r1 CROSS JOIN LATERAL (SELECT j1.c2 AS "t", j1.c3 AS "uid") AS r2) GROUP BY r1."uid", 2, coalesce(pg_catalog.hashtextextended(((((CASE WHEN pg_catalog.octet_length(r2."t") <= %(p3)s::integer THEN r2."t" ELSE pg_catalog.left(r2."t"::text, %(p3)s::integer) END))::varchar(1024)::text)::varchar(1024)::text)::text, %(p6)s::bigint), %(p6)s::bigint)) AS r3) AS r4 WHERE r4."dp_unit" IS NOT NULL GROUP BY 1 LIMIT ALL) g WHERE (k1 = ANY(%(p7)s::text[]) OR k1 IS NULL)
--   p1 = 10000
--   p2 = 0
--   p3 = 256
--   p4 = random
--   p5 = 8272
--   p6 = random
--   p7 = ['x', 'y', 'z']
-- => loss
-- epsilon 8 delta 0
-- => residual
SELECT dp_b1.k1 AS "t", dp_b1.a1 AS "avg" FROM pg_catalog.jsonb_to_recordset(($1)::pg_catalog.jsonb->'b1') AS dp_b1(k1 pg_catalog.text, a1 numeric)
