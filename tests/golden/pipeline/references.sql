-- case: rows of a reference
SELECT count(*), sum(i4), avg(i4) FROM lines
-- => plan
-- w.lines, w.orders, unit r1u."uid": rows 7, groups None, per group None; keys none; cells 137
--   count(*): sensitivity 7, scale 21/8, epsilon 8/3 delta 0
--   sum: clamp 0 .. 100, grid 1, sensitivity 700 steps, scale 525/2, epsilon 8/3 delta 0
--   avg: 0 .. 10000 steps of 0.01, fill 5000, 137 partitions, gate 1118 units, scale 15/2, epsilon 8/3 delta 1/3000, each epsilon 38/15 delta 0.0003333
-- => backend
SELECT cell, pg_catalog.sum(least(v0, %(p1)s::bigint)), pg_catalog.sum(CASE WHEN v1 IS NOT NULL THEN least(greatest(v1, %(p1)s::bigint * %(p4)s::bigint), %(p1)s::bigint * %(p5)s::bigint) END), pg_catalog.sum(v2), pg_catalog.sum(v1), pg_catalog.count(v1) FROM (SELECT r1u."uid" AS unit, pg_catalog.mod(((pg_catalog.hashint4extended(r1u."uid"::integer, %(p6)s::bigint)) & %(p7)s::bigint)::integer, %(p8)s::integer) AS cell, pg_catalog.count(*) AS v0, pg_catalog.sum((pg_catalog.int4larger(pg_catalog.int4smaller(r1."i4", %(p3)s::integer), %(p2)s::integer))::integer) AS v1, pg_catalog.count(r1."i4") AS v2 FROM ((SELECT r1."i4" AS c1, r1."order_id" AS c2, r1u."id" AS c3, r1u."uid" AS c4 FROM ("w"."lines" AS r1 FULL JOIN (SELECT r1u."id", r1u."uid" FROM "w"."orders" AS r1u WHERE r1u."uid" IS NOT NULL) AS r1u ON (r1."order_id" = r1u."id") AND (pg_catalog.hashint4extended((r1."order_id")::integer, %(p9)s::bigint) = pg_catalog.hashint4extended((r1u."id")::integer, %(p9)s::bigint))) WHERE CASE WHEN r1."order_id" IS NOT NULL AND r1u."id" IS NOT NULL THEN TRUE ELSE FALSE END LIMIT ALL) AS j1 CROSS JOIN LATERAL (SELECT j1.c1 AS "i4", j1.c2 AS "order_id") AS r1 CROSS JOIN LATERAL (SELECT j1.c3 AS "id", j1.c4 AS "uid") AS r1u) GROUP BY r1u."uid") u GROUP BY 1
--   p1 = 7
--   p2 = 0
--   p3 = 100
--   p4 = 0
--   p5 = 100
--   p6 = random
--   p7 = 2147483647
--   p8 = 137
--   p9 = random
-- => loss
-- epsilon 8 delta 1/3000
-- => residual
SELECT dp_b1.a1 AS "count", dp_b1.a2 AS "sum", dp_b1.a3 AS "avg" FROM pg_catalog.jsonb_to_recordset(($1)::pg_catalog.jsonb->'b1') AS dp_b1(a1 bigint, a2 bigint, a3 numeric)

-- case: rows of a reference by groups
SELECT t, count(*), min(i2) FROM lines GROUP BY t
-- => plan
-- w.lines, w.orders, unit r1u."uid": rows 7, groups None, per group None; keys t of 4; cells 115
--   count(*): sensitivity 7, scale 7/4, epsilon 4 delta 0
--   min: -5 .. 10 steps of 1, fill 10, 115 partitions, gate 980 units, scale 20, epsilon 4 delta 1/2000, each epsilon 19/20 delta 0.000125
-- => backend
SELECT k1, cell, pg_catalog.sum(CASE WHEN total0 <= %(p1)s::bigint THEN v0 ELSE pg_catalog.div(v0::numeric * %(p1)s::bigint, total0)::bigint END), pg_catalog.min(v1), pg_catalog.count(v1) FROM (SELECT *, (pg_catalog.sum((v0)::float8) OVER (PARTITION BY unit))::bigint AS total0 FROM (SELECT r1u."uid" AS unit, (r1."t")::text AS k1, pg_catalog.mod(((pg_catalog.hashint4extended(r1u."uid"::integer, %(p4)s::bigint)) & %(p5)s::bigint)::integer, %(p6)s::integer) AS cell, pg_catalog.count(*) AS v0, pg_catalog.int4larger(pg_catalog.int4smaller(pg_catalog.min(r1."i2"), %(p3)s::integer), %(p2)s::integer) AS v1 FROM ((SELECT r1."i2" AS c1, r1."order_id" AS c2, r1."t" AS c3, r1u."id" AS c4, r1u."uid" AS c5 FROM ((SELECT r1."i2", r1."order_id", r1."t" FROM "w"."lines" AS r1 WHERE (r1."t" = ANY(%(p7)s::text[]::text[]) OR r1."t" IS NULL)) AS r1 FULL JOIN (SELECT r1u."id", r1u."uid" FROM "w"."orders" AS r1u WHERE r1u."uid" IS NOT NULL) AS r1u ON (r1."order_id" = r1u."id") AND (pg_catalog.hashint4extended((r1."order_id")::integer, %(p8)s::bigint) = pg_catalog.hashint4extended((r1u."id")::integer, %(p8)s::bigint))) WHERE CASE WHEN r1."order_id" IS NOT NULL AND r1u."id" IS NOT NULL THEN TRUE ELSE FALSE END LIMIT ALL) AS j1 CROSS JOIN LATERAL (SELECT j1.c1 AS "i2", j1.c2 AS "order_id", j1.c3 AS "t") AS r1 CROSS JOIN LATERAL (SELECT j1.c4 AS "id", j1.c5 AS "uid") AS r1u) GROUP BY r1u."uid", 2) g) u GROUP BY 1, 2
--   p1 = 7
--   p2 = -5
--   p3 = 10
--   p4 = random
--   p5 = 2147483647
--   p6 = 115
--   p7 = ['x', 'y', 'z']
--   p8 = random
-- => loss
-- epsilon 8 delta 1/2000
-- => residual
SELECT dp_b1.k1 AS "t", dp_b1.a1 AS "count", dp_b1.a2 AS "min" FROM pg_catalog.jsonb_to_recordset(($1)::pg_catalog.jsonb->'b1') AS dp_b1(k1 pg_catalog.text, a1 bigint, a2 smallint)

-- case: join along the reference
SELECT count(*), sum(l.i4 * o.i2) FROM lines l JOIN orders o ON l.order_id = o.id
-- => plan
-- w.lines, w.orders, unit r1u."uid": rows 7, groups None, per group None; keys none; cells 0
--   count(*): sensitivity 7, scale 7/4, epsilon 4 delta 0
--   sum: clamp -500 .. 1000, grid 1, sensitivity 7000 steps, scale 1750, epsilon 4 delta 0
-- => backend
SELECT pg_catalog.sum(least(v0, %(p1)s::bigint)), pg_catalog.sum(CASE WHEN v1 IS NOT NULL THEN least(greatest(v1, %(p1)s::bigint * %(p6)s::bigint), %(p1)s::bigint * %(p7)s::bigint) END) FROM (SELECT x3 AS unit, pg_catalog.count(*) AS v0, pg_catalog.sum(pg_catalog.int8larger(pg_catalog.int8smaller((((pg_catalog.int4larger(pg_catalog.int4smaller(x2, %(p5)s::integer), %(p4)s::integer))::integer)::bigint * ((pg_catalog.int4larger(pg_catalog.int4smaller(x1, %(p3)s::integer), %(p2)s::integer))::integer)::bigint), %(p7)s::bigint), %(p6)s::bigint)) AS v1 FROM (SELECT r2."i2" AS x1, r1."i4" AS x2, r1u."uid" AS x3 FROM ((SELECT r1."i4" AS c1, r1."order_id" AS c2, r1u."id" AS c3, r1u."uid" AS c4, r2."i2" AS c5, r2."id" AS c6 FROM (((SELECT r1."i4" AS c1, r1."order_id" AS c2, r1u."id" AS c3, r1u."uid" AS c4 FROM ("w"."lines" AS r1 FULL JOIN (SELECT r1u."id", r1u."uid" FROM "w"."orders" AS r1u WHERE r1u."uid" IS NOT NULL) AS r1u ON (r1."order_id" = r1u."id") AND (pg_catalog.hashint4extended((r1."order_id")::integer, %(p8)s::bigint) = pg_catalog.hashint4extended((r1u."id")::integer, %(p8)s::bigint))) WHERE CASE WHEN r1."order_id" IS NOT NULL AND r1u."id" IS NOT NULL THEN TRUE ELSE FALSE END LIMIT ALL) AS j1 CROSS JOIN LATERAL (SELECT j1.c1 AS "i4", j1.c2 AS "order_id") AS r1 CROSS JOIN LATERAL (SELECT j1.c3 AS "id", j1.c4 AS "uid") AS r1u) FULL JOIN "w"."orders" AS r2 ON (r1."order_id" = r2."id") AND (pg_catalog.hashint4extended((r1."order_id")::integer, %(p8)s::bigint) = pg_catalog.hashint4extended((r2."id")::integer, %(p8)s::bigint))) WHERE CASE WHEN r1."order_id" IS NOT NULL AND r2."id" IS NOT NULL THEN TRUE ELSE FALSE END LIMIT ALL) AS j2 CROSS JOIN LATERAL (SELECT j2.c1 AS "i4", j2.c2 AS "order_id") AS r1 CROSS JOIN LATERAL (SELECT j2.c3 AS "id", j2.c4 AS "uid") AS r1u CROSS JOIN LATERAL (SELECT j2.c5 AS "i2", j2.c6 AS "id") AS r2) LIMIT ALL) r GROUP BY x3) u
--   p1 = 7
--   p2 = -5
--   p3 = 10
--   p4 = 0
--   p5 = 100
--   p6 = -500
--   p7 = 1000
--   p8 = random
-- => loss
-- epsilon 8 delta 0
-- => residual
SELECT dp_b1.a1 AS "count", dp_b1.a2 AS "sum" FROM pg_catalog.jsonb_to_recordset(($1)::pg_catalog.jsonb->'b1') AS dp_b1(a1 bigint, a2 bigint)

-- case: left join along the reference
SELECT o.t, count(*) FROM lines l LEFT JOIN orders o ON l.order_id = o.id GROUP BY o.t
-- => plan
-- w.lines, w.orders, unit r1u."uid": rows 7, groups None, per group None; keys expression of 4; cells 0
--   count(*): sensitivity 7, scale 7/8, epsilon 8 delta 0
-- => backend
SELECT k1, pg_catalog.sum(CASE WHEN total0 <= %(p1)s::bigint THEN v0 ELSE pg_catalog.div(v0::numeric * %(p1)s::bigint, total0)::bigint END) FROM (SELECT *, (pg_catalog.sum((v0)::float8) OVER (PARTITION BY unit))::bigint AS total0 FROM (SELECT r1u."uid" AS unit, (pg_catalog.left(r2."t"::text, %(p2)s::integer))::text AS k1, pg_catalog.count(*) AS v0 FROM ((SELECT r1."order_id" AS c1, r1u."id" AS c2, r1u."uid" AS c3, r2."id" AS c4, r2."t" AS c5 FROM ((((SELECT r1."order_id" AS c1, r1u."id" AS c2, r1u."uid" AS c3 FROM ("w"."lines" AS r1 FULL JOIN (SELECT r1u."id", r1u."uid" FROM "w"."orders" AS r1u WHERE r1u."uid" IS NOT NULL) AS r1u ON (r1."order_id" = r1u."id") AND (pg_catalog.hashint4extended((r1."order_id")::integer, %(p4)s::bigint) = pg_catalog.hashint4extended((r1u."id")::integer, %(p4)s::bigint))) WHERE CASE WHEN r1."order_id" IS NOT NULL AND r1u."id" IS NOT NULL THEN TRUE ELSE FALSE END LIMIT ALL) AS j1 CROSS JOIN LATERAL (SELECT j1.c1 AS "order_id") AS r1 CROSS JOIN LATERAL (SELECT j1.c2 AS "id", j1.c3 AS "uid") AS r1u) CROSS JOIN (SELECT TRUE AS here) AS m2) FULL JOIN "w"."orders" AS r2 ON (r1."order_id" = r2."id") AND (pg_catalog.hashint4extended((r1."order_id")::integer, %(p4)s::bigint) = pg_catalog.hashint4extended((r2."id")::integer, %(p4)s::bigint))) WHERE CASE WHEN m2.here THEN ((pg_catalog.left(r2."t"::text, %(p2)s::integer))::text = ANY(%(p3)s::text[]) OR pg_catalog.left(r2."t"::text, %(p2)s::integer) IS NULL) ELSE FALSE END LIMIT ALL) AS j3 CROSS JOIN LATERAL (SELECT j3.c1 AS "order_id") AS r1 CROSS JOIN LATERAL (SELECT j3.c2 AS "id", j3.c3 AS "uid") AS r1u CROSS JOIN LATERAL (SELECT j3.c4 AS "id", j3.c5 AS "t") AS r2) GROUP BY r1u."uid", 2) g) u GROUP BY 1
--   p1 = 7
--   p2 = 2
--   p3 = ['x', 'y', 'z']
--   p4 = random
-- => loss
-- epsilon 8 delta 0
-- => residual
SELECT dp_b1.k1 AS "t", dp_b1.a1 AS "count" FROM pg_catalog.jsonb_to_recordset(($1)::pg_catalog.jsonb->'b1') AS dp_b1(k1 pg_catalog.text, a1 bigint)

-- case: join against the reference
SELECT count(l.i4), max(l.i4) FROM orders o LEFT JOIN lines l ON l.order_id = o.id
-- => plan
-- w.orders, w.lines, unit r1."uid": rows 12, groups None, per group None; keys none; cells 45
--   count: sensitivity 12, scale 3, epsilon 4 delta 0
--   max: 0 .. 100 steps of 1, fill 0, 45 partitions, gate 375 units, scale 5, epsilon 4 delta 1/2000, each epsilon 19/5 delta 0.0005
-- => backend
SELECT cell, pg_catalog.sum(least(v0, %(p1)s::bigint)), pg_catalog.max(v1), pg_catalog.count(v1) FROM (SELECT r1."uid" AS unit, pg_catalog.mod(((pg_catalog.hashint4extended(r1."uid"::integer, %(p4)s::bigint)) & %(p5)s::bigint)::integer, %(p6)s::integer) AS cell, pg_catalog.count(r2."i4") AS v0, pg_catalog.int4larger(pg_catalog.int4smaller(pg_catalog.max(r2."i4"), %(p3)s::integer), %(p2)s::integer) AS v1 FROM ((SELECT r1."id" AS c1, r1."uid" AS c2, r2."i4" AS c3, r2."order_id" AS c4, r2u."id" AS c5 FROM (((SELECT r1."id", r1."uid" FROM "w"."orders" AS r1 WHERE r1."uid" IS NOT NULL) AS r1 CROSS JOIN (SELECT TRUE AS here) AS m2) FULL JOIN ((SELECT r2."i4" AS c1, r2."order_id" AS c2, r2u."id" AS c3 FROM ("w"."lines" AS r2 FULL JOIN "w"."orders" AS r2u ON (r2."order_id" = r2u."id") AND (pg_catalog.hashint4extended((r2."order_id")::integer, %(p7)s::bigint) = pg_catalog.hashint4extended((r2u."id")::integer, %(p7)s::bigint))) WHERE CASE WHEN r2."order_id" IS NOT NULL AND r2u."id" IS NOT NULL THEN TRUE ELSE FALSE END LIMIT ALL) AS j1 CROSS JOIN LATERAL (SELECT j1.c1 AS "i4", j1.c2 AS "order_id") AS r2 CROSS JOIN LATERAL (SELECT j1.c3 AS "id") AS r2u) ON (r1."id" = r2."order_id") AND (pg_catalog.hashint4extended((r1."id")::integer, %(p7)s::bigint) = pg_catalog.hashint4extended((r2."order_id")::integer, %(p7)s::bigint))) WHERE CASE WHEN m2.here THEN TRUE ELSE FALSE END LIMIT ALL) AS j3 CROSS JOIN LATERAL (SELECT j3.c1 AS "id", j3.c2 AS "uid") AS r1 CROSS JOIN LATERAL (SELECT j3.c3 AS "i4", j3.c4 AS "order_id") AS r2 CROSS JOIN LATERAL (SELECT j3.c5 AS "id") AS r2u) GROUP BY r1."uid") u GROUP BY 1
--   p1 = 12
--   p2 = 0
--   p3 = 100
--   p4 = random
--   p5 = 2147483647
--   p6 = 45
--   p7 = random
-- => loss
-- epsilon 8 delta 1/2000
-- => residual
SELECT dp_b1.a1 AS "count", dp_b1.a2 AS "max" FROM pg_catalog.jsonb_to_recordset(($1)::pg_catalog.jsonb->'b1') AS dp_b1(a1 bigint, a2 integer)

-- case: referenced rows counted
SELECT count(DISTINCT order_id) FROM lines
-- => plan
-- w.lines, w.orders, unit r1u."uid": rows 7, groups None, per group None; keys none; cells 0
--   count(distinct): sensitivity 7, scale 7/8, epsilon 8 delta 0
-- => backend
SELECT pg_catalog.count(DISTINCT v) FROM (SELECT v, pg_catalog.row_number() OVER (PARTITION BY unit ORDER BY pg_catalog.hashint8extended(pg_catalog.hash_record_extended(ROW(d."unit", v), %(p2)s::bigint), %(p2)s::bigint), v) AS rank FROM (SELECT unit, v FROM (SELECT r1u."uid" AS unit, (r1."order_id") AS v FROM ((SELECT r1."order_id" AS c1, r1u."id" AS c2, r1u."uid" AS c3 FROM ((SELECT r1."order_id" FROM "w"."lines" AS r1 WHERE (r1."order_id") IS NOT NULL) AS r1 FULL JOIN (SELECT r1u."id", r1u."uid" FROM "w"."orders" AS r1u WHERE r1u."uid" IS NOT NULL) AS r1u ON (r1."order_id" = r1u."id") AND (pg_catalog.hashint4extended((r1."order_id")::integer, %(p1)s::bigint) = pg_catalog.hashint4extended((r1u."id")::integer, %(p1)s::bigint))) WHERE CASE WHEN r1."order_id" IS NOT NULL AND r1u."id" IS NOT NULL THEN TRUE ELSE FALSE END LIMIT ALL) AS j1 CROSS JOIN LATERAL (SELECT j1.c1 AS "order_id") AS r1 CROSS JOIN LATERAL (SELECT j1.c2 AS "id", j1.c3 AS "uid") AS r1u)) s GROUP BY unit, v, coalesce(pg_catalog.hash_numeric_extended((v)::numeric, %(p1)s::bigint), %(p1)s::bigint)) d) u WHERE rank <= %(p3)s::bigint
--   p1 = random
--   p2 = random
--   p3 = 7
-- => loss
-- epsilon 8 delta 0
-- => residual
SELECT dp_b1.a1 AS "count" FROM pg_catalog.jsonb_to_recordset(($1)::pg_catalog.jsonb->'b1') AS dp_b1(a1 bigint)

-- case: a reference, its target and more of the unit
SELECT count(*) FROM lines l JOIN orders o ON l.order_id = o.id JOIN calls c ON c.uid = o.uid
-- => plan
-- w.lines, w.orders, w.calls, unit r1."dp_unit": rows 14, groups None, per group None; keys none; cells 0
--   count(*): sensitivity 14, scale 7/4, epsilon 8 delta 0
-- => backend
SELECT pg_catalog.sum(least(v0, %(p1)s::bigint)) FROM (SELECT r1."dp_unit" AS unit, pg_catalog.count(*) AS v0 FROM ((SELECT r1."dp_unit" AS c1, r1."order_id" AS c2, r2."id" AS c3, r2."uid" AS c4, r3."uid" AS c5 FROM (((SELECT r1."dp_unit" AS c1, r1."order_id" AS c2, r2."id" AS c3, r2."uid" AS c4 FROM ((SELECT r1."dp_unit", r1."order_id" FROM (SELECT * FROM (SELECT r1."id", r1."order_id", r1."i2", r1."i4", r1."i8", r1."n2", r1."n", r1."f4", r1."f8", r1."t", r1."c", r1."s", r1."b", r1."d", r1."ts", r1."tz", r1."free", r1."e", r1."j", r1."ta", r1."ia", r1."iv", r1."tod", r1."dp_unit", pg_catalog.row_number() OVER (PARTITION BY r1."dp_unit" ORDER BY pg_catalog.hashint4extended(r1."id"::integer, %(p3)s::bigint), r1."id") AS "dp_place_of_unit" FROM (SELECT r1."id" AS "id", r1."order_id" AS "order_id", r1."i2" AS "i2", r1."i4" AS "i4", r1."i8" AS "i8", r1."n2" AS "n2", r1."n" AS "n", r1."f4" AS "f4", r1."f8" AS "f8", r1."t" AS "t", r1."c" AS "c", r1."s" AS "s", r1."b" AS "b", r1."d" AS "d", r1."ts" AS "ts", r1."tz" AS "tz", r1."free" AS "free", r1."e"::text AS "e", r1."j" AS "j", r1."ta" AS "ta", r1."ia" AS "ia", r1."iv" AS "iv", r1."tod" AS "tod", r1u."uid" AS "dp_unit" FROM ((SELECT r1."b" AS c1, r1."c" AS c2, r1."d" AS c3, r1."e" AS c4, r1."f4" AS c5, r1."f8" AS c6, r1."free" AS c7, r1."i2" AS c8, r1."i4" AS c9, r1."i8" AS c10, r1."ia" AS c11, r1."id" AS c12, r1."iv" AS c13, r1."j" AS c14, r1."n" AS c15, r1."n2" AS c16, r1."order_id" AS c17, r1."s" AS c18, r1."t" AS c19, r1."ta" AS c20, r1."tod" AS c21, r1."ts" AS c22, r1."tz" AS c23, r1u."id" AS c24, r1u."uid" AS c25 FROM ("w"."lines" AS r1 FULL JOIN "w"."orders" AS r1u ON (r1."order_id" = r1u."id") AND (pg_catalog.hashint4extended((r1."order_id")::integer, %(p2)s::bigint) = pg_catalog.hashint4extended((r1u."id")::integer, %(p2)s::bigint))) WHERE CASE WHEN r1."order_id" IS NOT NULL AND r1u."id" IS NOT NULL THEN TRUE ELSE FALSE END LIMIT ALL) AS j1 CROSS JOIN LATERAL (SELECT j1.c1 AS "b", j1.c2 AS "c", j1.c3 AS "d", j1.c4 AS "e", j1.c5 AS "f4", j1.c6 AS "f8", j1.c7 AS "free", j1.c8 AS "i2", j1.c9 AS "i4", j1.c10 AS "i8", j1.c11 AS "ia", j1.c12 AS "id", j1.c13 AS "iv", j1.c14 AS "j", j1.c15 AS "n", j1.c16 AS "n2", j1.c17 AS "order_id", j1.c18 AS "s", j1.c19 AS "t", j1.c20 AS "ta", j1.c21 AS "tod", j1.c22 AS "ts", j1.c23 AS "tz") AS r1 CROSS JOIN LATERAL (SELECT j1.c24 AS "id", j1.c25 AS "uid") AS r1u)) AS r1 WHERE r1."dp_unit" IS NOT NULL) AS r1 WHERE "dp_place_of_unit" <= %(p4)s::bigint) AS r1 WHERE r1."dp_unit" IS NOT NULL) AS r1 FULL JOIN (SELECT * FROM (SELECT r2."id", r2."uid", r2."i2", r2."i4", r2."i8", r2."n2", r2."n", r2."f4", r2."f8", r2."t", r2."c", r2."s", r2."b", r2."d", r2."ts", r2."tz", r2."free", r2."e", r2."j", r2."ta", r2."ia", r2."iv", r2."tod", pg_catalog.row_number() OVER (PARTITION BY r2."uid" ORDER BY pg_catalog.hashint4extended(r2."id"::integer, %(p3)s::bigint), r2."id") AS "dp_place_of_unit" FROM "w"."orders" AS r2 WHERE r2."uid" IS NOT NULL) AS r2 WHERE "dp_place_of_unit" <= %(p5)s::bigint) AS r2 ON (r1."order_id" = r2."id") AND (pg_catalog.hashint4extended((r1."order_id")::integer, %(p2)s::bigint) = pg_catalog.hashint4extended((r2."id")::integer, %(p2)s::bigint))) WHERE CASE WHEN r1."order_id" IS NOT NULL AND r2."id" IS NOT NULL THEN TRUE ELSE FALSE END LIMIT ALL) AS j2 CROSS JOIN LATERAL (SELECT j2.c1 AS "dp_unit", j2.c2 AS "order_id") AS r1 CROSS JOIN LATERAL (SELECT j2.c3 AS "id", j2.c4 AS "uid") AS r2) FULL JOIN (SELECT * FROM (SELECT r3."id", r3."uid", r3."i2", r3."i4", r3."i8", r3."n2", r3."n", r3."f4", r3."f8", r3."t", r3."c", r3."s", r3."b", r3."d", r3."ts", r3."tz", r3."free", r3."e", r3."j", r3."ta", r3."ia", r3."iv", r3."tod", pg_catalog.row_number() OVER (PARTITION BY r3."uid" ORDER BY pg_catalog.hashint4extended(r3."id"::integer, %(p3)s::bigint), r3."id") AS "dp_place_of_unit" FROM "w"."calls" AS r3 WHERE r3."uid" IS NOT NULL) AS r3 WHERE "dp_place_of_unit" <= %(p6)s::bigint) AS r3 ON (r2."uid" = r3."uid")) WHERE CASE WHEN r2."uid" IS NOT NULL AND r3."uid" IS NOT NULL THEN TRUE ELSE FALSE END LIMIT ALL) AS j3 CROSS JOIN LATERAL (SELECT j3.c1 AS "dp_unit", j3.c2 AS "order_id") AS r1 CROSS JOIN LATERAL (SELECT j3.c3 AS "id", j3.c4 AS "uid") AS r2 CROSS JOIN LATERAL (SELECT j3.c5 AS "uid") AS r3) GROUP BY r1."dp_unit") u
--   p1 = 14
--   p2 = random
--   p3 = random
--   p4 = 7
--   p5 = 6
--   p6 = 2
-- => loss
-- epsilon 8 delta 0
-- => residual
SELECT dp_b1.a1 AS "count" FROM pg_catalog.jsonb_to_recordset(($1)::pg_catalog.jsonb->'b1') AS dp_b1(a1 bigint)

-- case: private keys of a reference
SELECT order_id, count(*) FROM lines GROUP BY order_id
-- => plan
-- w.lines, w.orders, unit r1u."uid": rows 7, groups 7, per group None; keys order_id of private; cells 0
--   selection: epsilon 4 delta 1/2000, each epsilon 0.571429 delta 7.144e-05
--   count(*): sensitivity 7, scale 7/4, epsilon 4 delta 0
-- => backend
SELECT k1, pg_catalog.sum(CASE WHEN total0 <= %(p1)s::bigint THEN v0 ELSE pg_catalog.div(v0::numeric * %(p1)s::bigint, total0)::bigint END), pg_catalog.count(*) FROM (SELECT *, (pg_catalog.sum((v0)::float8) OVER (PARTITION BY unit))::bigint AS total0 FROM (SELECT * FROM (SELECT *, pg_catalog.row_number() OVER (PARTITION BY unit ORDER BY pg_catalog.hashint8extended(pg_catalog.hash_record_extended(ROW(g."unit", k1), %(p3)s::bigint), %(p3)s::bigint), k1) AS rank FROM (SELECT r1u."uid" AS unit, (r1."order_id")::text AS k1, pg_catalog.count(*) AS v0 FROM ((SELECT r1."order_id" AS c1, r1u."id" AS c2, r1u."uid" AS c3 FROM ("w"."lines" AS r1 FULL JOIN (SELECT r1u."id", r1u."uid" FROM "w"."orders" AS r1u WHERE r1u."uid" IS NOT NULL) AS r1u ON (r1."order_id" = r1u."id") AND (pg_catalog.hashint4extended((r1."order_id")::integer, %(p2)s::bigint) = pg_catalog.hashint4extended((r1u."id")::integer, %(p2)s::bigint))) WHERE CASE WHEN r1."order_id" IS NOT NULL AND r1u."id" IS NOT NULL THEN TRUE ELSE FALSE END LIMIT ALL) AS j1 CROSS JOIN LATERAL (SELECT j1.c1 AS "order_id") AS r1 CROSS JOIN LATERAL (SELECT j1.c2 AS "id", j1.c3 AS "uid") AS r1u) GROUP BY r1u."uid", 2, coalesce(pg_catalog.hashtextextended(((r1."order_id")::text)::text, %(p2)s::bigint), %(p2)s::bigint)) g) c WHERE rank <= %(p1)s::bigint) g) u GROUP BY 1, coalesce(pg_catalog.hashtextextended((k1)::text, %(p2)s::bigint), %(p2)s::bigint)
--   p1 = 7
--   p2 = random
--   p3 = random
-- => loss
-- epsilon 8 delta 1/2000
-- => residual
SELECT dp_b1.k1 AS "order_id", dp_b1.a1 AS "count" FROM pg_catalog.jsonb_to_recordset(($1)::pg_catalog.jsonb->'b1') AS dp_b1(k1 integer, a1 bigint)

-- case: along a foreign key to rows that an earlier join repeats
SELECT count(*) FROM visits v JOIN orders o ON o.uid = v.uid JOIN calls c ON c.i2 = o.id
-- => plan
-- w.visits, w.orders, w.calls, unit r1."uid": rows 60, groups None, per group None; keys none; cells 0
--   count(*): sensitivity 60, scale 15/2, epsilon 8 delta 0
-- => backend
SELECT pg_catalog.sum(least(v0, %(p1)s::bigint)) FROM (SELECT r1."uid" AS unit, pg_catalog.count(*) AS v0 FROM ((SELECT r1."uid" AS c1, r2."id" AS c2, r2."uid" AS c3, r3."i2" AS c4, r3."uid" AS c5 FROM (((SELECT r1."uid" AS c1, r2."id" AS c2, r2."uid" AS c3 FROM ((SELECT r1."uid" FROM (SELECT * FROM (SELECT r1."id", r1."uid", r1."i2", r1."i4", r1."i8", r1."n2", r1."n", r1."f4", r1."f8", r1."t", r1."c", r1."s", r1."b", r1."d", r1."ts", r1."tz", r1."free", r1."e", r1."j", r1."ta", r1."ia", r1."iv", r1."tod", pg_catalog.row_number() OVER (PARTITION BY r1."uid" ORDER BY pg_catalog.hashint4extended(r1."id"::integer, %(p2)s::bigint), r1."id") AS "dp_place_of_unit" FROM "w"."visits" AS r1 WHERE r1."uid" IS NOT NULL) AS r1 WHERE "dp_place_of_unit" <= %(p3)s::bigint) AS r1 WHERE r1."uid" IS NOT NULL) AS r1 FULL JOIN (SELECT * FROM (SELECT r2."id", r2."uid", r2."i2", r2."i4", r2."i8", r2."n2", r2."n", r2."f4", r2."f8", r2."t", r2."c", r2."s", r2."b", r2."d", r2."ts", r2."tz", r2."free", r2."e", r2."j", r2."ta", r2."ia", r2."iv", r2."tod", pg_catalog.row_number() OVER (PARTITION BY r2."uid" ORDER BY pg_catalog.hashint4extended(r2."id"::integer, %(p2)s::bigint), r2."id") AS "dp_place_of_unit" FROM "w"."orders" AS r2 WHERE r2."uid" IS NOT NULL) AS r2 WHERE "dp_place_of_unit" <= %(p4)s::bigint) AS r2 ON (r1."uid" = r2."uid")) WHERE CASE WHEN r1."uid" IS NOT NULL AND r2."uid" IS NOT NULL THEN TRUE ELSE FALSE END LIMIT ALL) AS j1 CROSS JOIN LATERAL (SELECT j1.c1 AS "uid") AS r1 CROSS JOIN LATERAL (SELECT j1.c2 AS "id", j1.c3 AS "uid") AS r2) FULL JOIN (SELECT * FROM (SELECT r3."id", r3."uid", r3."i2", r3."i4", r3."i8", r3."n2", r3."n", r3."f4", r3."f8", r3."t", r3."c", r3."s", r3."b", r3."d", r3."ts", r3."tz", r3."free", r3."e", r3."j", r3."ta", r3."ia", r3."iv", r3."tod", pg_catalog.row_number() OVER (PARTITION BY r3."uid" ORDER BY pg_catalog.hashint4extended(r3."id"::integer, %(p2)s::bigint), r3."id") AS "dp_place_of_unit" FROM "w"."calls" AS r3 WHERE r3."uid" IS NOT NULL) AS r3 WHERE "dp_place_of_unit" <= %(p5)s::bigint) AS r3 ON (r2."id" = r3."i2") AND (r1."uid" = r3."uid") AND (pg_catalog.hash_numeric_extended((r2."id")::numeric, %(p6)s::bigint) = pg_catalog.hash_numeric_extended((r3."i2")::numeric, %(p6)s::bigint)) AND (pg_catalog.hash_numeric_extended((r1."uid")::numeric, %(p6)s::bigint) = pg_catalog.hash_numeric_extended((r3."uid")::numeric, %(p6)s::bigint))) WHERE CASE WHEN r2."id" IS NOT NULL AND r3."i2" IS NOT NULL THEN TRUE ELSE FALSE END LIMIT ALL) AS j2 CROSS JOIN LATERAL (SELECT j2.c1 AS "uid") AS r1 CROSS JOIN LATERAL (SELECT j2.c2 AS "id", j2.c3 AS "uid") AS r2 CROSS JOIN LATERAL (SELECT j2.c4 AS "i2", j2.c5 AS "uid") AS r3) GROUP BY r1."uid") u
--   p1 = 60
--   p2 = random
--   p3 = 5
--   p4 = 6
--   p5 = 2
--   p6 = random
-- => loss
-- epsilon 8 delta 0
-- => residual
SELECT dp_b1.a1 AS "count" FROM pg_catalog.jsonb_to_recordset(($1)::pg_catalog.jsonb->'b1') AS dp_b1(a1 bigint)
