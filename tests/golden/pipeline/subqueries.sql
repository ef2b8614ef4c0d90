-- case: rows in a cte
WITH q AS (SELECT i4 FROM people) SELECT sum(i4) FROM q
-- => plan
-- w.people, unit 1 row(s), partitions by hash of r2."dp_key1"; keys none; cells 0
--   sum: clamp 0 .. 100, grid 1, sensitivity 100 steps, scale 25/2, epsilon 8 delta 0
-- => backend
SELECT pg_catalog.sum((pg_catalog.int4larger(pg_catalog.int4smaller(r2."i4", %(p2)s::integer), %(p1)s::integer))::integer) FROM (SELECT r1."i4" AS "i4", r1."id" AS "dp_key1" FROM "w"."people" AS r1) AS r2
--   p1 = 0
--   p2 = 100
-- => loss
-- epsilon 8 delta 0
-- => residual
WITH q AS (SELECT i4 FROM people) SELECT dp_b1.a1 AS "sum" FROM pg_catalog.jsonb_to_recordset(($1)::pg_catalog.jsonb->'b1') AS dp_b1(a1 bigint)

-- case: rows in a subquery, computed
SELECT sum(x), avg(x) FROM (SELECT i4 * 2 + i2 AS x, t FROM orders WHERE b) q WHERE t = 'x'
-- => plan
-- w.orders, unit r2."dp_unit": rows 6, groups None, per group None; keys none; cells 97
--   sum: clamp -5 .. 210, grid 1, sensitivity 1260 steps, scale 315, epsilon 4 delta 0
--   avg: -500 .. 21000 steps of 0.01, fill 10250, 97 partitions, gate 791 units, scale 5, epsilon 4 delta 1/2000, each epsilon 19/5 delta 0.0005
-- => backend
SELECT cell, pg_catalog.sum(CASE WHEN v0 IS NOT NULL THEN least(greatest(v0, %(p3)s::bigint * %(p4)s::bigint), %(p3)s::bigint * %(p5)s::bigint) END), pg_catalog.sum(v1), pg_catalog.sum(v0), pg_catalog.count(v0) FROM (SELECT r2."dp_unit" AS unit, pg_catalog.mod(((pg_catalog.hashint4extended(r2."dp_unit"::integer, %(p6)s::bigint)) & %(p7)s::bigint)::integer, %(p8)s::integer) AS cell, pg_catalog.sum((pg_catalog.numeric_larger(pg_catalog.numeric_smaller(r2."x", %(p2)s::numeric), %(p1)s::numeric))::integer) AS v0, pg_catalog.count(r2."x") AS v1 FROM (SELECT (((pg_catalog.int4larger(pg_catalog.int4smaller(r1."i4", %(p11)s::integer), %(p10)s::integer))::numeric * %(p12)s::numeric) + (pg_catalog.int4larger(pg_catalog.int4smaller(r1."i2", %(p14)s::integer), %(p13)s::integer))::numeric) AS "x", r1."t" AS "t", r1."uid" AS "dp_unit" FROM "w"."orders" AS r1 WHERE r1."b") AS r2 WHERE r2."dp_unit" IS NOT NULL AND (r2."t" = %(p9)s::text) GROUP BY r2."dp_unit") u GROUP BY 1
--   p1 = -5
--   p2 = 210
--   p3 = 6
--   p4 = -5
--   p5 = 210
--   p6 = random
--   p7 = 2147483647
--   p8 = 97
--   p9 = x
--   p10 = 0
--   p11 = 100
--   p12 = 2
--   p13 = -5
--   p14 = 10
-- => loss
-- epsilon 8 delta 1/2000
-- => residual
SELECT dp_b1.a1 AS "sum", dp_b1.a2 AS "avg" FROM pg_catalog.jsonb_to_recordset(($1)::pg_catalog.jsonb->'b1') AS dp_b1(a1 bigint, a2 numeric)

-- case: a subquery without its unit
SELECT t, count(*), avg(x) FROM (SELECT t, i4 AS x FROM orders) q GROUP BY t
-- => plan
-- w.orders, unit r2."dp_unit": rows 6, groups 2, per group 2; keys t of 4; cells 185
--   count(*): sensitivity 4, scale 1, epsilon 4 delta 0
--   avg: 0 .. 10000 steps of 0.01, fill 5000, 185 partitions, gate 1510 units, scale 10, epsilon 4 delta 1/2000, each epsilon 19/10 delta 0.00025
-- => backend
SELECT k1, cell, pg_catalog.sum(least(v0, %(p2)s::bigint)), pg_catalog.sum(v1), pg_catalog.sum(v2), pg_catalog.count(v2) FROM (SELECT * FROM (SELECT *, pg_catalog.row_number() OVER (PARTITION BY unit ORDER BY pg_catalog.hashint8extended(pg_catalog.hash_record_extended(ROW(g."unit", k1), %(p9)s::bigint), %(p9)s::bigint), k1) AS rank FROM (SELECT r2."dp_unit" AS unit, (r2."t")::text AS k1, pg_catalog.mod(((pg_catalog.hashint4extended(r2."dp_unit"::integer, %(p5)s::bigint)) & %(p6)s::bigint)::integer, %(p7)s::integer) AS cell, pg_catalog.count(*) AS v0, pg_catalog.count(r2."x") AS v1, pg_catalog.sum((pg_catalog.int4larger(pg_catalog.int4smaller(r2."x", %(p4)s::integer), %(p3)s::integer))::integer) AS v2 FROM (SELECT r1."t" AS "t", r1."i4" AS "x", r1."uid" AS "dp_unit" FROM "w"."orders" AS r1) AS r2 WHERE r2."dp_unit" IS NOT NULL AND (r2."t" = ANY(%(p8)s::text[]::text[]) OR r2."t" IS NULL) GROUP BY r2."dp_unit", 2) g) c WHERE rank <= %(p2)s::bigint) u GROUP BY 1, 2
--   p1 = 6
--   p2 = 2
--   p3 = 0
--   p4 = 100
--   p5 = random
--   p6 = 2147483647
--   p7 = 185
--   p8 = ['x', 'y', 'z']
--   p9 = random
-- => loss
-- epsilon 8 delta 1/2000
-- => residual
SELECT dp_b1.k1 AS "t", dp_b1.a1 AS "count", dp_b1.a2 AS "avg" FROM pg_catalog.jsonb_to_recordset(($1)::pg_catalog.jsonb->'b1') AS dp_b1(k1 pg_catalog.text, a1 bigint, a2 numeric)

-- case: a subquery of a subquery
SELECT max(y) FROM (SELECT x + 1 AS y FROM (SELECT i4 AS x FROM trips) a WHERE x > 3) b
-- => plan
-- w.trips, unit 3 row(s), partitions by hash of r3."dp_key1", r3."dp_key2"; keys none; cells 105
--   max: 1 .. 101 steps of 1, fill 1, 105 partitions, gate 862 units, scale 15/2, epsilon 8 delta 1/1000, each epsilon 38/15 delta 2.101e-06
-- => backend
SELECT x2, pg_catalog.max(x1), pg_catalog.count(x1) FROM (SELECT (pg_catalog.numeric_larger(pg_catalog.numeric_smaller(r3."y", %(p2)s::numeric), %(p1)s::numeric))::integer AS x1, pg_catalog.mod(((pg_catalog.hash_record_extended(ROW(r3."dp_key1", pg_catalog.hashtextextended(r3."dp_key2"::text, %(p6)s::bigint)), %(p6)s::bigint)) & %(p7)s::bigint)::integer, %(p8)s::integer) AS x2 FROM (SELECT ((pg_catalog.int4larger(pg_catalog.int4smaller(r2."x", %(p4)s::integer), %(p3)s::integer))::numeric + %(p1)s::numeric) AS "y", r2."dp_key1" AS "dp_key1", r2."dp_key2" AS "dp_key2" FROM (SELECT r1."i4" AS "x", r1."id" AS "dp_key1", r1."leg" AS "dp_key2" FROM "w"."trips" AS r1) AS r2 WHERE (r2."x" > %(p5)s::bigint)) AS r3 LIMIT ALL) r GROUP BY 1
--   p1 = 1
--   p2 = 101
--   p3 = 0
--   p4 = 100
--   p5 = 3
--   p6 = random
--   p7 = 2147483647
--   p8 = 105
-- => loss
-- epsilon 8 delta 1/1000
-- => residual
SELECT dp_b1.a1 AS "max" FROM pg_catalog.jsonb_to_recordset(($1)::pg_catalog.jsonb->'b1') AS dp_b1(a1 integer)

-- case: a join of subqueries
SELECT count(*), sum(a.x) FROM (SELECT uid, i4 AS x FROM orders) a JOIN (SELECT uid AS who, b FROM calls) c ON a.uid = c.who WHERE c.b
-- => plan
-- w.orders, w.calls, unit r2."dp_unit": rows 12, groups None, per group None; keys none; cells 0
--   count(*): sensitivity 12, scale 3, epsilon 4 delta 0
--   sum: clamp 0 .. 100, grid 1, sensitivity 1200 steps, scale 300, epsilon 4 delta 0
-- => backend
SELECT pg_catalog.sum(least(v0, %(p1)s::bigint)), pg_catalog.sum(CASE WHEN v1 IS NOT NULL THEN least(greatest(v1, %(p1)s::bigint * %(p4)s::bigint), %(p1)s::bigint * %(p5)s::bigint) END) FROM (SELECT r2."dp_unit" AS unit, pg_catalog.count(*) AS v0, pg_catalog.sum((pg_catalog.int4larger(pg_catalog.int4smaller(r2."x", %(p3)s::integer), %(p2)s::integer))::integer) AS v1 FROM ((SELECT r2."dp_unit" AS c1, r2."uid" AS c2, r2."x" AS c3, r4."who" AS c4 FROM ((SELECT r2."dp_unit", r2."uid", r2."x" FROM (SELECT * FROM (SELECT r2."uid", r2."x", r2."dp_unit", pg_catalog.row_number() OVER (PARTITION BY r2."dp_unit" ORDER BY pg_catalog.hashint8extended(pg_catalog.hash_record_extended(ROW(r2."uid", r2."x", r2."dp_unit"), %(p6)s::bigint), %(p6)s::bigint), r2."uid", r2."x", r2."dp_unit") AS "dp_place_of_unit" FROM (SELECT r1."uid" AS "uid", r1."i4" AS "x", r1."uid" AS "dp_unit" FROM "w"."orders" AS r1) AS r2 WHERE r2."dp_unit" IS NOT NULL) AS r2 WHERE "dp_place_of_unit" <= %(p7)s::bigint) AS r2 WHERE r2."dp_unit" IS NOT NULL) AS r2 FULL JOIN (SELECT * FROM (SELECT r4."who", r4."b", r4."dp_unit", pg_catalog.row_number() OVER (PARTITION BY r4."dp_unit" ORDER BY pg_catalog.hashint8extended(pg_catalog.hash_record_extended(ROW(r4."who", r4."b", r4."dp_unit"), %(p6)s::bigint), %(p6)s::bigint), r4."who", r4."b", r4."dp_unit") AS "dp_place_of_unit" FROM (SELECT r3."uid" AS "who", r3."b" AS "b", r3."uid" AS "dp_unit" FROM "w"."calls" AS r3) AS r4 WHERE r4."dp_unit" IS NOT NULL AND r4."b") AS r4 WHERE "dp_place_of_unit" <= %(p8)s::bigint) AS r4 ON (r2."uid" = r4."who")) WHERE CASE WHEN r2."uid" IS NOT NULL AND r4."who" IS NOT NULL THEN TRUE ELSE FALSE END LIMIT ALL) AS j1 CROSS JOIN LATERAL (SELECT j1.c1 AS "dp_unit", j1.c2 AS "uid", j1.c3 AS "x") AS r2 CROSS JOIN LATERAL (SELECT j1.c4 AS "who") AS r4) GROUP BY r2."dp_unit") u
--   p1 = 12
--   p2 = 0
--   p3 = 100
--   p4 = 0
--   p5 = 100
--   p6 = random
--   p7 = 6
--   p8 = 2
-- => loss
-- epsilon 8 delta 0
-- => residual
SELECT dp_b1.a1 AS "count", dp_b1.a2 AS "sum" FROM pg_catalog.jsonb_to_recordset(($1)::pg_catalog.jsonb->'b1') AS dp_b1(a1 bigint, a2 bigint)

-- case: rows per unit
SELECT avg(n), max(n) FROM (SELECT uid, count(*) AS n FROM orders GROUP BY uid) q
-- => plan
-- w.orders, unit 1 row(s), partitions by hash of r3."dp_unit", r3."dp_unit" not null; keys none; cells 107
--   avg: 0 .. 60000 steps of 0.0001, fill 30000, 107 partitions, gate 871 units, scale 5, epsilon 4 delta 1/2000, each epsilon 19/5 delta 0.0005
--   max: 0 .. 6 steps of 1, fill 0, 19 partitions, gate 167 units, scale 5, epsilon 4 delta 1/2000, each epsilon 19/5 delta 0.0005
-- => backend
SELECT x2, pg_catalog.count(x1), pg_catalog.sum((pg_catalog.int8larger(pg_catalog.int8smaller(x1, %(p2)s::bigint), %(p1)s::bigint))::integer), pg_catalog.int8larger(pg_catalog.int8smaller(pg_catalog.max(x1), %(p2)s::bigint), %(p1)s::bigint) FROM (SELECT r3."n" AS x1, pg_catalog.mod(((pg_catalog.hashint4extended(r3."dp_unit"::integer, %(p3)s::bigint)) & %(p4)s::bigint)::integer, %(p5)s::integer) AS x2 FROM (SELECT r2."unit" AS "uid", r2."a1" AS "n", r2."unit" AS "dp_unit" FROM (SELECT r1."uid" AS unit, least(pg_catalog.count(*), %(p2)s::bigint) AS a1 FROM "w"."orders" AS r1 WHERE r1."uid" IS NOT NULL GROUP BY r1."uid") AS r2) AS r3 WHERE r3."dp_unit" IS NOT NULL LIMIT ALL) r GROUP BY 1
--   p1 = 0
--   p2 = 6
--   p3 = random
--   p4 = 2147483647
--   p5 = 107
-- => loss
-- epsilon 8 delta 1/1000
-- => residual
SELECT dp_b1.a1 AS "avg", dp_b1.a2 AS "max" FROM pg_catalog.jsonb_to_recordset(($1)::pg_catalog.jsonb->'b1') AS dp_b1(a1 numeric, a2 bigint)

-- case: groups of rows per unit
SELECT n, count(*) FROM (SELECT uid, count(*) AS n FROM calls GROUP BY uid) q GROUP BY n
-- => plan
-- w.calls, unit 1 row(s), partitions by hash of r3."dp_unit", r3."dp_unit" not null; keys n of 2; cells 0
--   count(*): sensitivity 1, scale 1/8, epsilon 8 delta 0
-- => backend
SELECT * FROM (SELECT (r3."n")::text AS k1, pg_catalog.count(*) FROM (SELECT r2."unit" AS "uid", r2."a1" AS "n", r2."unit" AS "dp_unit" FROM (SELECT r1."uid" AS unit, least(pg_catalog.count(*), %(p1)s::bigint) AS a1 FROM "w"."calls" AS r1 WHERE r1."uid" IS NOT NULL GROUP BY r1."uid") AS r2) AS r3 WHERE r3."dp_unit" IS NOT NULL GROUP BY 1 LIMIT ALL) g WHERE (k1 = ANY(%(p2)s::text[]))
--   p1 = 2
--   p2 = ['1', '2']
-- => loss
-- epsilon 8 delta 0
-- => residual
SELECT dp_b1.k1 AS "n", dp_b1.a1 AS "count" FROM pg_catalog.jsonb_to_recordset(($1)::pg_catalog.jsonb->'b1') AS dp_b1(k1 bigint, a1 bigint)

-- case: sums per unit
SELECT count(*), sum(s), avg(a), max(m), avg(d) FROM (SELECT uid, sum(n2) AS s, avg(i4) AS a, max(i4) AS m, count(DISTINCT t) AS d FROM orders WHERE b GROUP BY uid HAVING count(*) > 1) q
-- => plan
-- w.orders, unit 1 row(s), partitions by hash of r3."dp_unit", r3."dp_unit" not null; keys none; cells 279
--   count(*): sensitivity 1, scale 5/8, epsilon 8/5 delta 0
--   sum: clamp 0 .. 1050, grid 0.01, sensitivity 105000 steps, scale 65625, epsilon 8/5 delta 0
--   avg: 0 .. 10000 steps of 0.01, fill 5000, 233 partitions, gate 1901 units, scale 25/2, epsilon 8/5 delta 1/5000, each epsilon 38/25 delta 0.0002
--   max: 0 .. 100 steps of 1, fill 0, 117 partitions, gate 973 units, scale 25/2, epsilon 8/5 delta 1/5000, each epsilon 38/25 delta 0.0002
--   avg: 0 .. 60000 steps of 0.0001, fill 30000, 279 partitions, gate 2269 units, scale 25/2, epsilon 8/5 delta 1/5000, each epsilon 38/25 delta 0.0002
-- => backend
SELECT x5, pg_catalog.count(*), pg_catalog.sum(x1), pg_catalog.count(x2), pg_catalog.sum(x2), pg_catalog.max(x3), pg_catalog.count(x3), pg_catalog.count(x4), pg_catalog.sum((pg_catalog.int8larger(pg_catalog.int8smaller(x4, %(p5)s::bigint), %(p4)s::bigint))::integer) FROM (SELECT (pg_catalog.numeric_larger(pg_catalog.numeric_smaller(r3."s", %(p3)s::numeric), %(p2)s::numeric) * %(p1)s::numeric)::integer AS x1, (pg_catalog.numeric_larger(pg_catalog.numeric_smaller(r3."a", %(p1)s::numeric), %(p2)s::numeric) * %(p1)s::numeric)::integer AS x2, (pg_catalog.numeric_larger(pg_catalog.numeric_smaller(r3."m", %(p1)s::numeric), %(p2)s::numeric))::integer AS x3, r3."d" AS x4, pg_catalog.mod(((pg_catalog.hashint4extended(r3."dp_unit"::integer, %(p10)s::bigint)) & %(p11)s::bigint)::integer, %(p12)s::integer) AS x5 FROM (SELECT r2."unit" AS "uid", r2."a1" AS "s", r2."a2" AS "a", r2."a3" AS "m", r2."a4" AS "d", r2."unit" AS "dp_unit" FROM (SELECT r1."uid" AS unit, pg_catalog.sum((pg_catalog.numeric_larger(pg_catalog.numeric_smaller(r1."n2", %(p7)s::numeric), %(p2)s::numeric))::numeric) AS a1, pg_catalog.avg((pg_catalog.int4larger(pg_catalog.int4smaller(r1."i4", %(p9)s::integer), %(p8)s::integer))::numeric) AS a2, pg_catalog.trim_scale(pg_catalog.max((pg_catalog.int4larger(pg_catalog.int4smaller(r1."i4", %(p9)s::integer), %(p8)s::integer))::numeric)) AS a3, least(pg_catalog.count(DISTINCT (CASE WHEN pg_catalog.octet_length(r1."t") <= 1024 THEN r1."t" ELSE pg_catalog.left(r1."t", 1024) END)), %(p5)s::bigint) AS a4, least(pg_catalog.count(*), %(p5)s::bigint) AS a5 FROM "w"."orders" AS r1 WHERE r1."uid" IS NOT NULL AND r1."b" GROUP BY r1."uid") AS r2 WHERE (r2."a5" > %(p6)s::bigint)) AS r3 WHERE r3."dp_unit" IS NOT NULL LIMIT ALL) r GROUP BY 1
--   p1 = 100
--   p2 = 0
--   p3 = 1050
--   p4 = 0
--   p5 = 6
--   p6 = 1
--   p7 = 175
--   p8 = 0
--   p9 = 100
--   p10 = random
--   p11 = 2147483647
--   p12 = 279
-- => loss
-- epsilon 8 delta 3/5000
-- => residual
SELECT dp_b1.a1 AS "count", dp_b1.a2 AS "sum", dp_b1.a3 AS "avg", dp_b1.a4 AS "max", dp_b1.a5 AS "avg" FROM pg_catalog.jsonb_to_recordset(($1)::pg_catalog.jsonb->'b1') AS dp_b1(a1 bigint, a2 numeric, a3 numeric, a4 integer, a5 numeric)

-- case: sums per unit of a join
SELECT avg(s) FROM (SELECT o.uid, sum(o.i4 + c.i4) AS s FROM orders o JOIN calls c ON o.uid = c.uid GROUP BY o.uid) q
-- => plan
-- w.orders, w.calls, unit 1 row(s), partitions by hash of r4."dp_unit", r4."dp_unit" not null; keys none; cells 51
--   avg: 0 .. 24000 steps of 0.1, fill 12000, 51 partitions, gate 415 units, scale 5/2, epsilon 8 delta 1/1000, each epsilon 38/5 delta 0.001
-- => backend
SELECT x2, pg_catalog.count(x1), pg_catalog.sum(x1) FROM (SELECT (pg_catalog.numeric_larger(pg_catalog.numeric_smaller(r4."s", %(p2)s::numeric), %(p1)s::numeric))::integer AS x1, pg_catalog.mod(((pg_catalog.hashint4extended(r4."dp_unit"::integer, %(p9)s::bigint)) & %(p10)s::bigint)::integer, %(p11)s::integer) AS x2 FROM (SELECT r3."unit" AS "uid", r3."a1" AS "s", r3."unit" AS "dp_unit" FROM (SELECT r1."uid" AS unit, pg_catalog.sum(((pg_catalog.int4larger(pg_catalog.int4smaller(r1."i4", %(p5)s::integer), %(p4)s::integer))::numeric + (pg_catalog.int4larger(pg_catalog.int4smaller(r2."i4", %(p5)s::integer), %(p4)s::integer))::numeric)) AS a1 FROM ((SELECT r1."i4" AS c1, r1."uid" AS c2, r2."i4" AS c3, r2."uid" AS c4 FROM ((SELECT r1."i4", r1."uid" FROM (SELECT * FROM (SELECT r1."id", r1."uid", r1."i2", r1."i4", r1."i8", r1."n2", r1."n", r1."f4", r1."f8", r1."t", r1."c", r1."s", r1."b", r1."d", r1."ts", r1."tz", r1."free", r1."e", r1."j", r1."ta", r1."ia", r1."iv", r1."tod", pg_catalog.row_number() OVER (PARTITION BY r1."uid" ORDER BY pg_catalog.hashint4extended(r1."id"::integer, %(p6)s::bigint), r1."id") AS "dp_place_of_unit" FROM "w"."orders" AS r1 WHERE r1."uid" IS NOT NULL) AS r1 WHERE "dp_place_of_unit" <= %(p7)s::bigint) AS r1 WHERE r1."uid" IS NOT NULL) AS r1 FULL JOIN (SELECT * FROM (SELECT r2."id", r2."uid", r2."i2", r2."i4", r2."i8", r2."n2", r2."n", r2."f4", r2."f8", r2."t", r2."c", r2."s", r2."b", r2."d", r2."ts", r2."tz", r2."free", r2."e", r2."j", r2."ta", r2."ia", r2."iv", r2."tod", pg_catalog.row_number() OVER (PARTITION BY r2."uid" ORDER BY pg_catalog.hashint4extended(r2."id"::integer, %(p6)s::bigint), r2."id") AS "dp_place_of_unit" FROM "w"."calls" AS r2 WHERE r2."uid" IS NOT NULL) AS r2 WHERE "dp_place_of_unit" <= %(p8)s::bigint) AS r2 ON (r1."uid" = r2."uid")) WHERE CASE WHEN r1."uid" IS NOT NULL AND r2."uid" IS NOT NULL THEN TRUE ELSE FALSE END LIMIT ALL) AS j1 CROSS JOIN LATERAL (SELECT j1.c1 AS "i4", j1.c2 AS "uid") AS r1 CROSS JOIN LATERAL (SELECT j1.c3 AS "i4", j1.c4 AS "uid") AS r2) GROUP BY r1."uid") AS r3) AS r4 WHERE r4."dp_unit" IS NOT NULL LIMIT ALL) r GROUP BY 1
--   p1 = 0
--   p2 = 2400
--   p3 = 12
--   p4 = 0
--   p5 = 100
--   p6 = random
--   p7 = 6
--   p8 = 2
--   p9 = random
--   p10 = 2147483647
--   p11 = 51
-- => loss
-- epsilon 8 delta 1/1000
-- => residual
SELECT dp_b1.a1 AS "avg" FROM pg_catalog.jsonb_to_recordset(($1)::pg_catalog.jsonb->'b1') AS dp_b1(a1 numeric)

-- case: a join with rows per unit
SELECT m.t, avg(q.n) FROM members m LEFT JOIN (SELECT uid, count(*) FILTER (WHERE i4 > 5) AS n FROM orders GROUP BY uid) q ON m.uid = q.uid GROUP BY m.t
-- => plan
-- w.members, w.orders, unit 1 row(s), partitions by hash of r1."uid", r1."uid" not null; keys t of 4; cells 55
--   avg: 0 .. 60000 steps of 0.0001, fill 30000, 55 partitions, gate 447 units, scale 5/2, epsilon 8 delta 1/1000, each epsilon 38/5 delta 0.001
-- => backend
SELECT x2, x3, pg_catalog.count(x1), pg_catalog.sum((pg_catalog.int8larger(pg_catalog.int8smaller(x1, %(p2)s::bigint), %(p1)s::bigint))::integer) FROM (SELECT r4."n" AS x1, (r1."t")::text AS x2, pg_catalog.mod(((pg_catalog.hashint4extended(r1."uid"::integer, %(p5)s::bigint)) & %(p6)s::bigint)::integer, %(p7)s::integer) AS x3 FROM ((SELECT r1."t" AS c1, r1."uid" AS c2, r4."n" AS c3, r4."uid" AS c4 FROM (((SELECT r1."t", r1."uid" FROM "w"."members" AS r1 WHERE r1."uid" IS NOT NULL AND (r1."t" = ANY(%(p3)s::text[]::text[]) OR r1."t" IS NULL)) AS r1 CROSS JOIN (SELECT TRUE AS here) AS m1) FULL JOIN (SELECT r3."unit" AS "uid", r3."a1" AS "n", r3."unit" AS "dp_unit" FROM (SELECT r2."uid" AS unit, least(pg_catalog.count(*) FILTER (WHERE (r2."i4" > %(p4)s::bigint)), %(p2)s::bigint) AS a1 FROM "w"."orders" AS r2 WHERE r2."uid" IS NOT NULL GROUP BY r2."uid") AS r3) AS r4 ON (r1."uid" = r4."uid")) WHERE CASE WHEN m1.here THEN TRUE ELSE FALSE END LIMIT ALL) AS j2 CROSS JOIN LATERAL (SELECT j2.c1 AS "t", j2.c2 AS "uid") AS r1 CROSS JOIN LATERAL (SELECT j2.c3 AS "n", j2.c4 AS "uid") AS r4) LIMIT ALL) r GROUP BY 1, 2
--   p1 = 0
--   p2 = 6
--   p3 = ['x', 'y', 'z']
--   p4 = 5
--   p5 = random
--   p6 = 2147483647
--   p7 = 55
-- => loss
-- epsilon 8 delta 1/1000
-- => residual
SELECT dp_b1.k1 AS "t", dp_b1.a1 AS "avg" FROM pg_catalog.jsonb_to_recordset(($1)::pg_catalog.jsonb->'b1') AS dp_b1(k1 pg_catalog.text, a1 numeric)

-- case: many rows with what their unit has
SELECT sum(o.i4) FROM orders o JOIN (SELECT uid, max(i4) AS most FROM orders GROUP BY uid) q ON o.uid = q.uid WHERE o.i4 = q.most
-- => plan
-- w.orders, unit r1."uid": rows 6, groups None, per group None; keys none; cells 0
--   sum: clamp 0 .. 100, grid 1, sensitivity 600 steps, scale 75, epsilon 8 delta 0
-- => backend
SELECT pg_catalog.sum(CASE WHEN v0 IS NOT NULL THEN least(greatest(v0, %(p3)s::bigint * %(p4)s::bigint), %(p3)s::bigint * %(p5)s::bigint) END) FROM (SELECT r1."uid" AS unit, pg_catalog.sum((pg_catalog.int4larger(pg_catalog.int4smaller(r1."i4", %(p2)s::integer), %(p1)s::integer))::integer) AS v0 FROM ((SELECT r1."i4" AS c1, r1."uid" AS c2, r4."most" AS c3, r4."uid" AS c4 FROM ((SELECT r1."i4", r1."uid" FROM "w"."orders" AS r1 WHERE r1."uid" IS NOT NULL) AS r1 FULL JOIN (SELECT r3."unit" AS "uid", r3."a1" AS "most", r3."unit" AS "dp_unit" FROM (SELECT r2."uid" AS unit, pg_catalog.trim_scale(pg_catalog.max((pg_catalog.int4larger(pg_catalog.int4smaller(r2."i4", %(p2)s::integer), %(p1)s::integer))::numeric)) AS a1 FROM "w"."orders" AS r2 WHERE r2."uid" IS NOT NULL GROUP BY r2."uid") AS r3) AS r4 ON (r1."uid" = r4."uid") AND ((r1."i4")::numeric = (r4."most")::numeric) AND (pg_catalog.hashint4extended((r1."uid")::integer, %(p6)s::bigint) = pg_catalog.hashint4extended((r4."uid")::integer, %(p6)s::bigint)) AND (pg_catalog.hash_numeric_extended((r1."i4")::numeric, %(p6)s::bigint) = pg_catalog.hash_numeric_extended((r4."most")::numeric, %(p6)s::bigint))) WHERE CASE WHEN r1."uid" IS NOT NULL AND r4."uid" IS NOT NULL THEN ((r1."i4")::numeric = (r4."most")::numeric) ELSE FALSE END LIMIT ALL) AS j1 CROSS JOIN LATERAL (SELECT j1.c1 AS "i4", j1.c2 AS "uid") AS r1 CROSS JOIN LATERAL (SELECT j1.c3 AS "most", j1.c4 AS "uid") AS r4) GROUP BY r1."uid") u
--   p1 = 0
--   p2 = 100
--   p3 = 6
--   p4 = 0
--   p5 = 100
--   p6 = random
-- => loss
-- epsilon 8 delta 0
-- => residual
SELECT dp_b1.a1 AS "sum" FROM pg_catalog.jsonb_to_recordset(($1)::pg_catalog.jsonb->'b1') AS dp_b1(a1 bigint)

-- case: per unit through a reference
SELECT avg(n), sum(s) FROM (SELECT o.uid, count(*) AS n, sum(l.i4) AS s FROM lines l JOIN orders o ON l.order_id = o.id GROUP BY o.uid) q
-- => plan
-- w.lines, w.orders, unit 1 row(s), partitions by hash of r4."dp_unit", r4."dp_unit" not null; keys none; cells 109
--   avg: 0 .. 70000 steps of 0.0001, fill 35000, 109 partitions, gate 887 units, scale 5, epsilon 4 delta 1/2000, each epsilon 19/5 delta 0.0005
--   sum: clamp 0 .. 700, grid 1, sensitivity 700 steps, scale 175, epsilon 4 delta 0
-- => backend
SELECT x3, pg_catalog.count(x1), pg_catalog.sum((pg_catalog.int8larger(pg_catalog.int8smaller(x1, %(p2)s::bigint), %(p1)s::bigint))::integer), pg_catalog.sum(x2) FROM (SELECT r4."n" AS x1, (pg_catalog.numeric_larger(pg_catalog.numeric_smaller(r4."s", %(p4)s::numeric), %(p3)s::numeric))::integer AS x2, pg_catalog.mod(((pg_catalog.hashint4extended(r4."dp_unit"::integer, %(p8)s::bigint)) & %(p9)s::bigint)::integer, %(p10)s::integer) AS x3 FROM (SELECT r3."unit" AS "uid", r3."a1" AS "n", r3."a2" AS "s", r3."unit" AS "dp_unit" FROM (SELECT r1u."uid" AS unit, least(pg_catalog.count(*), %(p2)s::bigint) AS a1, pg_catalog.sum((pg_catalog.int4larger(pg_catalog.int4smaller(r1."i4", %(p6)s::integer), %(p5)s::integer))::numeric) AS a2 FROM ((SELECT r1."i4" AS c1, r1."order_id" AS c2, r1u."id" AS c3, r1u."uid" AS c4, r2."id" AS c5 FROM (((SELECT r1."i4" AS c1, r1."order_id" AS c2, r1u."id" AS c3, r1u."uid" AS c4 FROM ("w"."lines" AS r1 FULL JOIN (SELECT r1u."id", r1u."uid" FROM "w"."orders" AS r1u WHERE r1u."uid" IS NOT NULL) AS r1u ON (r1."order_id" = r1u."id") AND (pg_catalog.hashint4extended((r1."order_id")::integer, %(p7)s::bigint) = pg_catalog.hashint4extended((r1u."id")::integer, %(p7)s::bigint))) WHERE CASE WHEN r1."order_id" IS NOT NULL AND r1u."id" IS NOT NULL THEN TRUE ELSE FALSE END LIMIT ALL) AS j1 CROSS JOIN LATERAL (SELECT j1.c1 AS "i4", j1.c2 AS "order_id") AS r1 CROSS JOIN LATERAL (SELECT j1.c3 AS "id", j1.c4 AS "uid") AS r1u) FULL JOIN "w"."orders" AS r2 ON (r1."order_id" = r2."id") AND (pg_catalog.hashint4extended((r1."order_id")::integer, %(p7)s::bigint) = pg_catalog.hashint4extended((r2."id")::integer, %(p7)s::bigint))) WHERE CASE WHEN r1."order_id" IS NOT NULL AND r2."id" IS NOT NULL THEN TRUE ELSE FALSE END LIMIT ALL) AS j2 CROSS JOIN LATERAL (SELECT j2.c1 AS "i4", j2.c2 AS "order_id") AS r1 CROSS JOIN LATERAL (SELECT j2.c3 AS "id", j2.c4 AS "uid") AS r1u CROSS JOIN LATERAL (SELECT j2.c5 AS "id") AS r2) GROUP BY r1u."uid") AS r3) AS r4 WHERE r4."dp_unit" IS NOT NULL LIMIT ALL) r GROUP BY 1
--   p1 = 0
--   p2 = 7
--   p3 = 0
--   p4 = 700
--   p5 = 0
--   p6 = 100
--   p7 = random
--   p8 = random
--   p9 = 2147483647
--   p10 = 109
-- => loss
-- epsilon 8 delta 1/2000
-- => residual
SELECT dp_b1.a1 AS "avg", dp_b1.a2 AS "sum" FROM pg_catalog.jsonb_to_recordset(($1)::pg_catalog.jsonb->'b1') AS dp_b1(a1 numeric, a2 numeric)

-- case: dates per unit
SELECT max(last), count(*) FROM (SELECT uid, max(d) AS last FROM orders GROUP BY uid) q
-- => plan
-- w.orders, unit 1 row(s), partitions by hash of r3."dp_unit", r3."dp_unit" not null; keys none; cells 87
--   max: 10957 .. 18262 steps of 1, fill 10957, 87 partitions, gate 711 units, scale 5, epsilon 4 delta 1/2000, each epsilon 19/5 delta 0.0005
--   count(*): sensitivity 1, scale 1/4, epsilon 4 delta 0
-- => backend
SELECT x2, pg_catalog.round(((pg_catalog.date_larger(pg_catalog.date_smaller(pg_catalog.max(x1), %(p2)s::date), %(p1)s::date)) - %(p3)s::date)::numeric)::bigint, pg_catalog.count(x1), pg_catalog.count(*) FROM (SELECT r3."last" AS x1, pg_catalog.mod(((pg_catalog.hashint4extended(r3."dp_unit"::integer, %(p5)s::bigint)) & %(p6)s::bigint)::integer, %(p7)s::integer) AS x2 FROM (SELECT r2."unit" AS "uid", r2."a1" AS "last", r2."unit" AS "dp_unit" FROM (SELECT r1."uid" AS unit, pg_catalog.max(pg_catalog.date_larger(pg_catalog.date_smaller(r1."d", %(p2)s::date), %(p1)s::date)) AS a1 FROM "w"."orders" AS r1 WHERE r1."uid" IS NOT NULL GROUP BY r1."uid") AS r2) AS r3 WHERE r3."dp_unit" IS NOT NULL LIMIT ALL) r GROUP BY 1
--   p1 = 2000-01-01
--   p2 = 2020-01-01
--   p3 = 1970-01-01
--   p4 = 6
--   p5 = random
--   p6 = 2147483647
--   p7 = 87
-- => loss
-- epsilon 8 delta 1/2000
-- => residual
SELECT dp_b1.a1 AS "max", dp_b1.a2 AS "count" FROM pg_catalog.jsonb_to_recordset(($1)::pg_catalog.jsonb->'b1') AS dp_b1(a1 pg_catalog.date, a2 bigint)

-- case: union of rows
SELECT count(*), sum(i4), avg(i4) FROM (SELECT i4 FROM orders UNION ALL SELECT i4 FROM calls) q
-- => plan
-- w.orders, w.calls, unit r8."dp_unit": rows 8, groups None, per group None; keys none; cells 137
--   count(*): sensitivity 8, scale 3, epsilon 8/3 delta 0
--   sum: clamp 0 .. 100, grid 1, sensitivity 800 steps, scale 300, epsilon 8/3 delta 0
--   avg: 0 .. 10000 steps of 0.01, fill 5000, 137 partitions, gate 1118 units, scale 15/2, epsilon 8/3 delta 1/3000, each epsilon 38/15 delta 0.0003333
-- => backend
SELECT cell, pg_catalog.sum(least(v0, %(p1)s::bigint)), pg_catalog.sum(CASE WHEN v1 IS NOT NULL THEN least(greatest(v1, %(p1)s::bigint * %(p4)s::bigint), %(p1)s::bigint * %(p5)s::bigint) END), pg_catalog.sum(v2), pg_catalog.sum(v1), pg_catalog.count(v1) FROM (SELECT r8."dp_unit" AS unit, pg_catalog.mod(((pg_catalog.hashint4extended(r8."dp_unit"::integer, %(p6)s::bigint)) & %(p7)s::bigint)::integer, %(p8)s::integer) AS cell, pg_catalog.count(*) AS v0, pg_catalog.sum((pg_catalog.int4larger(pg_catalog.int4smaller(r8."i4", %(p3)s::integer), %(p2)s::integer))::integer) AS v1, pg_catalog.count(r8."i4") AS v2 FROM (SELECT r7."c1" AS "i4", r7."dp_unit" AS "dp_unit" FROM (SELECT r2."i4" AS "c1", r2."dp_unit" AS "dp_unit" FROM (SELECT r1."i4" AS "i4", r1."uid" AS "dp_unit" FROM "w"."orders" AS r1) AS r2 UNION ALL SELECT r4."i4" AS "c1", r4."dp_unit" AS "dp_unit" FROM (SELECT r3."i4" AS "i4", r3."uid" AS "dp_unit" FROM "w"."calls" AS r3) AS r4) AS r7) AS r8 WHERE r8."dp_unit" IS NOT NULL GROUP BY r8."dp_unit") u GROUP BY 1
--   p1 = 8
--   p2 = 0
--   p3 = 100
--   p4 = 0
--   p5 = 100
--   p6 = random
--   p7 = 2147483647
--   p8 = 137
-- => loss
-- epsilon 8 delta 1/3000
-- => residual
SELECT dp_b1.a1 AS "count", dp_b1.a2 AS "sum", dp_b1.a3 AS "avg" FROM pg_catalog.jsonb_to_recordset(($1)::pg_catalog.jsonb->'b1') AS dp_b1(a1 bigint, a2 bigint, a3 numeric)

-- case: union of one table twice
SELECT t, count(*), sum(i4) FROM (SELECT t, i4 FROM people WHERE b UNION ALL SELECT t, i4 FROM people) q GROUP BY t
-- => plan
-- w.people, unit 2 row(s), partitions by random; keys t of 4; cells 0
--   count(*): sensitivity 2, scale 1/2, epsilon 4 delta 0
--   sum: clamp 0 .. 100, grid 1, sensitivity 200 steps, scale 50, epsilon 4 delta 0
-- => backend
SELECT * FROM (SELECT (CASE WHEN pg_catalog.octet_length((r8."t")::text) <= 1024 THEN (r8."t")::text ELSE pg_catalog.left((r8."t")::text, 1024) END)::text AS k1, pg_catalog.count(*), pg_catalog.sum((pg_catalog.int4larger(pg_catalog.int4smaller(r8."i4", %(p2)s::integer), %(p1)s::integer))::integer) FROM (SELECT r7."c1" AS "t", r7."c2" AS "i4" FROM (SELECT r2."t" AS "c1", r2."i4" AS "c2" FROM (SELECT r1."t" AS "t", r1."i4" AS "i4", r1."id" AS "dp_key1" FROM "w"."people" AS r1 WHERE r1."b") AS r2 UNION ALL SELECT r4."t" AS "c1", r4."i4" AS "c2" FROM (SELECT r3."t" AS "t", r3."i4" AS "i4", r3."id" AS "dp_key1" FROM "w"."people" AS r3) AS r4) AS r7) AS r8 GROUP BY 1 LIMIT ALL) g WHERE (k1 = ANY(%(p3)s::text[]) OR k1 IS NULL)
--   p1 = 0
--   p2 = 100
--   p3 = ['x', 'y', 'z']
-- => loss
-- epsilon 8 delta 0
-- => residual
SELECT dp_b1.k1 AS "t", dp_b1.a1 AS "count", dp_b1.a2 AS "sum" FROM pg_catalog.jsonb_to_recordset(($1)::pg_catalog.jsonb->'b1') AS dp_b1(k1 pg_catalog.text, a1 bigint, a2 bigint)

-- case: union of two tables of rows
SELECT max(i4), count(*) FROM (SELECT i4 FROM people UNION ALL SELECT i4 FROM events) q
-- => plan
-- w.people, w.events, unit 2 row(s), partitions by random; keys none; cells 111
--   max: 0 .. 100 steps of 1, fill 0, 111 partitions, gate 918 units, scale 10, epsilon 4 delta 1/2000, each epsilon 19/10 delta 3.739e-05
--   count(*): sensitivity 2, scale 1/2, epsilon 4 delta 0
-- => backend
SELECT x2, pg_catalog.int4larger(pg_catalog.int4smaller(pg_catalog.max(x1), %(p2)s::integer), %(p1)s::integer), pg_catalog.count(x1), pg_catalog.count(*) FROM (SELECT r8."i4" AS x1, pg_catalog.floor(pg_catalog.random() * %(p3)s::double precision)::bigint AS x2 FROM (SELECT r7."c1" AS "i4" FROM (SELECT r2."i4" AS "c1" FROM (SELECT r1."i4" AS "i4", r1."id" AS "dp_key1" FROM "w"."people" AS r1) AS r2 UNION ALL SELECT r4."i4" AS "c1" FROM (SELECT r3."i4" AS "i4", r3."ctid" AS "dp_key1" FROM "w"."events" AS r3) AS r4) AS r7) AS r8 LIMIT ALL) r GROUP BY 1
--   p1 = 0
--   p2 = 100
--   p3 = 111
-- => loss
-- epsilon 8 delta 1/2000
-- => residual
SELECT dp_b1.a1 AS "max", dp_b1.a2 AS "count" FROM pg_catalog.jsonb_to_recordset(($1)::pg_catalog.jsonb->'b1') AS dp_b1(a1 integer, a2 bigint)

-- case: union by groups and units
SELECT t, count(*), count(DISTINCT uid) FROM (SELECT uid, t FROM orders UNION ALL SELECT uid, t FROM calls) q GROUP BY t
-- => plan
-- w.orders, w.calls, unit r8."dp_unit": rows 8, groups 2, per group 2; keys t of 4; cells 0
--   count(*): sensitivity 4, scale 1, epsilon 4 delta 0
--   count(distinct) of units: sensitivity 2, scale 1/2, epsilon 4 delta 0
-- => backend
SELECT k1, pg_catalog.sum(least(v0, %(p2)s::bigint)), pg_catalog.sum(least(v1, 1)) FROM (SELECT * FROM (SELECT *, pg_catalog.row_number() OVER (PARTITION BY unit ORDER BY pg_catalog.hashint8extended(pg_catalog.hash_record_extended(ROW(g."unit", k1), %(p4)s::bigint), %(p4)s::bigint), k1) AS rank FROM (SELECT r8."dp_unit" AS unit, (r8."t")::text AS k1, pg_catalog.count(*) AS v0, pg_catalog.count(r8."uid") AS v1 FROM (SELECT r7."c1" AS "uid", r7."c2" AS "t", r7."dp_unit" AS "dp_unit" FROM (SELECT r2."uid" AS "c1", r2."t" AS "c2", r2."dp_unit" AS "dp_unit" FROM (SELECT r1."uid" AS "uid", r1."t" AS "t", r1."uid" AS "dp_unit" FROM "w"."orders" AS r1) AS r2 UNION ALL SELECT r4."uid" AS "c1", r4."t" AS "c2", r4."dp_unit" AS "dp_unit" FROM (SELECT r3."uid" AS "uid", r3."t" AS "t", r3."uid" AS "dp_unit" FROM "w"."calls" AS r3) AS r4) AS r7) AS r8 WHERE r8."dp_unit" IS NOT NULL AND (r8."t" = ANY(%(p3)s::text[]::text[]) OR r8."t" IS NULL) GROUP BY r8."dp_unit", 2) g) c WHERE rank <= %(p2)s::bigint) u GROUP BY 1
--   p1 = 8
--   p2 = 2
--   p3 = ['x', 'y', 'z']
--   p4 = random
-- => loss
-- epsilon 8 delta 0
-- => residual
SELECT dp_b1.k1 AS "t", dp_b1.a1 AS "count", dp_b1.a2 AS "count" FROM pg_catalog.jsonb_to_recordset(($1)::pg_catalog.jsonb->'b1') AS dp_b1(k1 pg_catalog.text, a1 bigint, a2 bigint)

-- case: union per unit
SELECT avg(n) FROM (SELECT uid, count(*) AS n FROM (SELECT uid FROM orders UNION ALL SELECT uid FROM calls) a GROUP BY uid) q
-- => plan
-- w.orders, w.calls, unit 1 row(s), partitions by hash of r10."dp_unit", r10."dp_unit" not null; keys none; cells 57
--   avg: 0 .. 80000 steps of 0.0001, fill 40000, 57 partitions, gate 463 units, scale 5/2, epsilon 8 delta 1/1000, each epsilon 38/5 delta 0.001
-- => backend
SELECT x2, pg_catalog.count(x1), pg_catalog.sum((pg_catalog.int8larger(pg_catalog.int8smaller(x1, %(p2)s::bigint), %(p1)s::bigint))::integer) FROM (SELECT r10."n" AS x1, pg_catalog.mod(((pg_catalog.hashint4extended(r10."dp_unit"::integer, %(p3)s::bigint)) & %(p4)s::bigint)::integer, %(p5)s::integer) AS x2 FROM (SELECT r9."unit" AS "uid", r9."a1" AS "n", r9."unit" AS "dp_unit" FROM (SELECT r8."dp_unit" AS unit, least(pg_catalog.count(*), %(p2)s::bigint) AS a1 FROM (SELECT r7."c1" AS "uid", r7."dp_unit" AS "dp_unit" FROM (SELECT r2."uid" AS "c1", r2."dp_unit" AS "dp_unit" FROM (SELECT r1."uid" AS "uid", r1."uid" AS "dp_unit" FROM "w"."orders" AS r1) AS r2 UNION ALL SELECT r4."uid" AS "c1", r4."dp_unit" AS "dp_unit" FROM (SELECT r3."uid" AS "uid", r3."uid" AS "dp_unit" FROM "w"."calls" AS r3) AS r4) AS r7) AS r8 WHERE r8."dp_unit" IS NOT NULL GROUP BY r8."dp_unit") AS r9) AS r10 WHERE r10."dp_unit" IS NOT NULL LIMIT ALL) r GROUP BY 1
--   p1 = 0
--   p2 = 8
--   p3 = random
--   p4 = 2147483647
--   p5 = 57
-- => loss
-- epsilon 8 delta 1/1000
-- => residual
SELECT dp_b1.a1 AS "avg" FROM pg_catalog.jsonb_to_recordset(($1)::pg_catalog.jsonb->'b1') AS dp_b1(a1 numeric)

-- case: subquery in where
SELECT count(*) FROM people WHERE i4 > (SELECT avg(i4) FROM people)
-- => plan
-- w.people, unit 1 row(s), partitions by hash of r1."id"; keys none; cells 91
--   avg: 0 .. 10000 steps of 0.01, fill 5000, 91 partitions, gate 743 units, scale 5, epsilon 4 delta 1/2000, each epsilon 19/5 delta 0.0005
-- w.people, unit 1 row(s), partitions by hash of r2."id"; keys none; cells 0
--   count(*): sensitivity 1, scale 1/4, epsilon 4 delta 0
-- => backend
SELECT x2, pg_catalog.count(x1), pg_catalog.sum((pg_catalog.int4larger(pg_catalog.int4smaller(x1, %(p2)s::integer), %(p1)s::integer))::integer) FROM (SELECT r1."i4" AS x1, pg_catalog.mod(((pg_catalog.hashint4extended(r1."id"::integer, %(p3)s::bigint)) & %(p4)s::bigint)::integer, %(p5)s::integer) AS x2 FROM "w"."people" AS r1 LIMIT ALL) r GROUP BY 1
--   p1 = 0
--   p2 = 100
--   p3 = random
--   p4 = 2147483647
--   p5 = 91
SELECT pg_catalog.count(*) FROM "w"."people" AS r2 WHERE ((r2."i4")::numeric > %(s1)s::numeric)
--   s1 = None
-- => loss
-- epsilon 8 delta 1/2000
-- => residual
SELECT dp_b2.a1 AS "count" FROM pg_catalog.jsonb_to_recordset(($1)::pg_catalog.jsonb->'b2') AS dp_b2(a1 bigint)

-- case: an answer inside an aggregate
SELECT sum(CASE WHEN i4 > (SELECT avg(i4) FROM orders) THEN 1 ELSE 0 END) FROM orders
-- => plan
-- w.orders, unit r1."uid": rows 6, groups None, per group None; keys none; cells 91
--   avg: 0 .. 10000 steps of 0.01, fill 5000, 91 partitions, gate 743 units, scale 5, epsilon 4 delta 1/2000, each epsilon 19/5 delta 0.0005
-- w.orders, unit r2."uid": rows 6, groups None, per group None; keys none; cells 0
--   sum: clamp 0 .. 1, grid 1, sensitivity 6 steps, scale 3/2, epsilon 4 delta 0
-- => backend
SELECT cell, pg_catalog.sum(v0), pg_catalog.sum(v1), pg_catalog.count(v1) FROM (SELECT r1."uid" AS unit, pg_catalog.mod(((pg_catalog.hashint4extended(r1."uid"::integer, %(p3)s::bigint)) & %(p4)s::bigint)::integer, %(p5)s::integer) AS cell, pg_catalog.count(r1."i4") AS v0, pg_catalog.sum((pg_catalog.int4larger(pg_catalog.int4smaller(r1."i4", %(p2)s::integer), %(p1)s::integer))::integer) AS v1 FROM "w"."orders" AS r1 WHERE r1."uid" IS NOT NULL GROUP BY r1."uid") u GROUP BY 1
--   p1 = 0
--   p2 = 100
--   p3 = random
--   p4 = 2147483647
--   p5 = 91
SELECT pg_catalog.sum(CASE WHEN v0 IS NOT NULL THEN least(greatest(v0, %(p4)s::bigint * %(p5)s::bigint), %(p4)s::bigint * %(p6)s::bigint) END) FROM (SELECT r2."uid" AS unit, pg_catalog.sum(pg_catalog.round(pg_catalog.numeric_larger(pg_catalog.numeric_smaller(CASE WHEN ((r2."i4")::numeric > %(s1)s::numeric) THEN %(p2)s::numeric ELSE %(p3)s::numeric END, %(p2)s::numeric), %(p3)s::numeric))::bigint) AS v0 FROM "w"."orders" AS r2 WHERE r2."uid" IS NOT NULL GROUP BY r2."uid") u
--   s1 = None
--   p2 = 1
--   p3 = 0
--   p4 = 6
--   p5 = 0
--   p6 = 1
-- => loss
-- epsilon 8 delta 1/2000
-- => residual
SELECT dp_b2.a1 AS "sum" FROM pg_catalog.jsonb_to_recordset(($1)::pg_catalog.jsonb->'b2') AS dp_b2(a1 bigint)

-- case: distinct below an aggregate
SELECT count(*) FROM (SELECT DISTINCT i4 FROM orders) q
-- => plan
-- w.orders, unit r1."uid": rows 6, groups 2, per group 2; keys i4 of private; cells 0
--   selection: epsilon 8 delta 1/1000, each epsilon 4 delta 0.0005001
-- => backend
SELECT k1, pg_catalog.count(*) FROM (SELECT * FROM (SELECT *, pg_catalog.row_number() OVER (PARTITION BY unit ORDER BY pg_catalog.hashint8extended(pg_catalog.hash_record_extended(ROW(g."unit", k1), %(p2)s::bigint), %(p2)s::bigint), k1) AS rank FROM (SELECT r1."uid" AS unit, (r1."i4")::text AS k1 FROM "w"."orders" AS r1 WHERE r1."uid" IS NOT NULL GROUP BY r1."uid", 2, coalesce(pg_catalog.hashtextextended(((r1."i4")::text)::text, %(p1)s::bigint), %(p1)s::bigint)) g) c WHERE rank <= %(p3)s::bigint) u GROUP BY 1, coalesce(pg_catalog.hashtextextended((k1)::text, %(p1)s::bigint), %(p1)s::bigint)
--   p1 = random
--   p2 = random
--   p3 = 2
-- => loss
-- epsilon 8 delta 1/1000
-- => residual
SELECT count(*) FROM (SELECT DISTINCT dp_b1.k1 AS "i4" FROM pg_catalog.jsonb_to_recordset(($1)::pg_catalog.jsonb->'b1') AS dp_b1(k1 integer)) q

-- case: the name of a hidden column
SELECT sum(dp_unit) FROM (SELECT i4 AS dp_unit FROM orders) q
-- => plan
-- w.orders, unit r2."dp_unit_": rows 6, groups None, per group None; keys none; cells 0
--   sum: clamp 0 .. 100, grid 1, sensitivity 600 steps, scale 75, epsilon 8 delta 0
-- => backend
SELECT pg_catalog.sum(CASE WHEN v0 IS NOT NULL THEN least(greatest(v0, %(p3)s::bigint * %(p4)s::bigint), %(p3)s::bigint * %(p5)s::bigint) END) FROM (SELECT r2."dp_unit_" AS unit, pg_catalog.sum((pg_catalog.int4larger(pg_catalog.int4smaller(r2."dp_unit", %(p2)s::integer), %(p1)s::integer))::integer) AS v0 FROM (SELECT r1."i4" AS "dp_unit", r1."uid" AS "dp_unit_" FROM "w"."orders" AS r1) AS r2 WHERE r2."dp_unit_" IS NOT NULL GROUP BY r2."dp_unit_") u
--   p1 = 0
--   p2 = 100
--   p3 = 6
--   p4 = 0
--   p5 = 100
-- => loss
-- epsilon 8 delta 0
-- => residual
SELECT dp_b1.a1 AS "sum" FROM pg_catalog.jsonb_to_recordset(($1)::pg_catalog.jsonb->'b1') AS dp_b1(a1 bigint)

-- case: union of a float and a computed one
SELECT sum(x) FROM (SELECT f8 AS x FROM people UNION ALL SELECT n::float8 FROM people) q
-- => plan
-- w.people, unit 2 row(s), partitions by random; keys none; cells 0
--   sum: clamp -100 .. 100, grid 0.00001, sensitivity 20000000 steps, scale 2500000, epsilon 8 delta 0
-- => backend
SELECT pg_catalog.sum((pg_catalog.numeric_larger(pg_catalog.numeric_smaller(r8."x", %(p3)s::numeric), %(p2)s::numeric) * %(p1)s::numeric)::bigint) FROM (SELECT r7."c1" AS "x" FROM (SELECT (r2."x")::numeric AS "c1" FROM (SELECT r1."f8" AS "x", r1."id" AS "dp_key1" FROM "w"."people" AS r1) AS r2 UNION ALL SELECT (r4."n")::numeric AS "c1" FROM (SELECT (pg_catalog.numeric_larger(pg_catalog.numeric_smaller(r3."n", %(p5)s::numeric), %(p4)s::numeric))::numeric AS "n", r3."id" AS "dp_key1" FROM "w"."people" AS r3) AS r4) AS r7) AS r8
--   p1 = 100000
--   p2 = -100
--   p3 = 100
--   p4 = -2.5
--   p5 = 7.5
-- => loss
-- epsilon 8 delta 0
-- => residual
SELECT dp_b1.a1 AS "sum" FROM pg_catalog.jsonb_to_recordset(($1)::pg_catalog.jsonb->'b1') AS dp_b1(a1 double precision)

-- case: rows in an order
SELECT sum(i4) FROM (SELECT i4, t FROM people ORDER BY d DESC NULLS LAST, i4 * 2, random()) q WHERE t = 'a'
-- => plan
-- w.people, unit 1 row(s), partitions by hash of r2."dp_key1"; keys none; cells 0
--   sum: clamp 0 .. 100, grid 1, sensitivity 100 steps, scale 25/2, epsilon 8 delta 0
-- => backend
SELECT pg_catalog.sum((pg_catalog.int4larger(pg_catalog.int4smaller(r2."i4", %(p2)s::integer), %(p1)s::integer))::integer) FROM (SELECT r1."i4" AS "i4", r1."t" AS "t", r1."id" AS "dp_key1" FROM "w"."people" AS r1) AS r2 WHERE (r2."t" = %(p3)s::text)
--   p1 = 0
--   p2 = 100
--   p3 = a
-- => loss
-- epsilon 8 delta 0
-- => residual
SELECT dp_b1.a1 AS "sum" FROM pg_catalog.jsonb_to_recordset(($1)::pg_catalog.jsonb->'b1') AS dp_b1(a1 bigint)

-- case: column aliases of a table
SELECT sum(x) FROM people AS p(x, y)
-- => plan
-- w.people, unit 1 row(s), partitions by hash of r2."dp_key1"; keys none; cells 0
--   sum: clamp -5 .. 10, grid 1, sensitivity 10 steps, scale 5/4, epsilon 8 delta 0
-- => backend
SELECT pg_catalog.sum((pg_catalog.int4larger(pg_catalog.int4smaller(r2."x", %(p2)s::integer), %(p1)s::integer))::integer) FROM (SELECT r1."i2" AS "x", r1."i4" AS "y", r1."i8" AS "i8", r1."n2" AS "n2", r1."n" AS "n", r1."f4" AS "f4", r1."f8" AS "f8", r1."t" AS "t", r1."c" AS "c", r1."s" AS "s", r1."b" AS "b", r1."d" AS "d", r1."ts" AS "ts", r1."tz" AS "tz", r1."free" AS "free", r1."e"::text AS "e", r1."j" AS "j", r1."ta" AS "ta", r1."ia" AS "ia", r1."iv" AS "iv", r1."tod" AS "tod", r1."id" AS "dp_key1" FROM "w"."people" AS r1) AS r2
--   p1 = -5
--   p2 = 10
-- => loss
-- epsilon 8 delta 0
-- => residual
SELECT dp_b1.a1 AS "sum" FROM pg_catalog.jsonb_to_recordset(($1)::pg_catalog.jsonb->'b1') AS dp_b1(a1 bigint)

-- case: groups alone of rows that are compared with an answer
SELECT t FROM people WHERE i4 > (SELECT avg(i4) FROM people) GROUP BY t
-- => plan
-- w.people, unit 1 row(s), partitions by hash of r2."id"; keys none; cells 47
--   avg: 0 .. 10000 steps of 0.01, fill 5000, 47 partitions, gate 383 units, scale 5/2, epsilon 8 delta 1/1000, each epsilon 38/5 delta 0.001
-- w.people, unit 1 row(s), partitions by hash of r1."id"; keys t of 4; cells 0
-- => backend
SELECT x2, pg_catalog.count(x1), pg_catalog.sum((pg_catalog.int4larger(pg_catalog.int4smaller(x1, %(p2)s::integer), %(p1)s::integer))::integer) FROM (SELECT r2."i4" AS x1, pg_catalog.mod(((pg_catalog.hashint4extended(r2."id"::integer, %(p3)s::bigint)) & %(p4)s::bigint)::integer, %(p5)s::integer) AS x2 FROM "w"."people" AS r2 LIMIT ALL) r GROUP BY 1
--   p1 = 0
--   p2 = 100
--   p3 = random
--   p4 = 2147483647
--   p5 = 47
-- => loss
-- epsilon 8 delta 1/1000
-- => residual
SELECT dp_b2.k1 AS "t" FROM pg_catalog.jsonb_to_recordset(($1)::pg_catalog.jsonb->'b2') AS dp_b2(k1 pg_catalog.text)

-- case: private groups alone of rows that are compared with an answer
SELECT s FROM notes WHERE i4 > (SELECT avg(i4) FROM notes) GROUP BY s
-- => plan
-- w.notes, unit r2."uid": rows 4, groups None, per group None; keys none; cells 91
--   avg: 0 .. 10000 steps of 0.01, fill 5000, 91 partitions, gate 743 units, scale 5, epsilon 4 delta 1/2000, each epsilon 19/5 delta 0.0005
-- w.notes, unit r1."uid": rows 4, groups 2, per group None; keys s of private; cells 0
--   selection: epsilon 4 delta 1/2000, each epsilon 2 delta 0.00025
-- => backend
SELECT cell, pg_catalog.sum(v0), pg_catalog.sum(v1), pg_catalog.count(v1) FROM (SELECT r2."uid" AS unit, pg_catalog.mod(((pg_catalog.hashtextextended(r2."uid"::text, %(p3)s::bigint)) & %(p4)s::bigint)::integer, %(p5)s::integer) AS cell, pg_catalog.count(r2."i4") AS v0, pg_catalog.sum((pg_catalog.int4larger(pg_catalog.int4smaller(r2."i4", %(p2)s::integer), %(p1)s::integer))::integer) AS v1 FROM "w"."notes" AS r2 WHERE pg_catalog.octet_length(r2."uid") <= %(p6)s::integer GROUP BY r2."uid") u GROUP BY 1
--   p1 = 0
--   p2 = 100
--   p3 = random
--   p4 = 2147483647
--   p5 = 91
--   p6 = 4096
SELECT k1, pg_catalog.count(*) FROM (SELECT * FROM (SELECT *, pg_catalog.row_number() OVER (PARTITION BY unit ORDER BY pg_catalog.hashint8extended(pg_catalog.hash_record_extended(ROW(pg_catalog.hashtextextended(g."unit"::text, %(p4)s::bigint), k1), %(p4)s::bigint), %(p4)s::bigint), k1) AS rank FROM (SELECT r1."uid" AS unit, (r1."s")::text AS k1 FROM "w"."notes" AS r1 WHERE pg_catalog.octet_length(r1."uid") <= %(p2)s::integer AND ((r1."i4")::numeric > %(s1)s::numeric) GROUP BY r1."uid", 2, coalesce(pg_catalog.hashtextextended(((r1."s")::text)::text, %(p1)s::bigint), %(p1)s::bigint)) g) c WHERE rank <= %(p5)s::bigint) u GROUP BY 1, coalesce(pg_catalog.hashtextextended((k1)::text, %(p1)s::bigint), %(p1)s::bigint)
--   p1 = random
--   p2 = 4096
--   s1 = None
--   p4 = random
--   p5 = 2
-- => loss
-- epsilon 8 delta 1/1000
-- => residual
SELECT dp_b2.k1 AS "s" FROM pg_catalog.jsonb_to_recordset(($1)::pg_catalog.jsonb->'b2') AS dp_b2(k1 character varying(20))
