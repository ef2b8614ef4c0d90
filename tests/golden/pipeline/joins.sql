-- case: join on the unit
SELECT count(*), sum(o.i4) FROM orders o JOIN calls c ON o.uid = c.uid
-- => plan
-- w.orders, w.calls, unit r1."uid": rows 12, groups None, per group None; keys none; cells 0
--   count(*): sensitivity 12, scale 3, epsilon 4 delta 0
--   sum: clamp 0 .. 100, grid 1, sensitivity 1200 steps, scale 300, epsilon 4 delta 0
-- => backend
SELECT pg_catalog.sum(least(v0, %(p1)s::bigint)), pg_catalog.sum(CASE WHEN v1 IS NOT NULL THEN least(greatest(v1, %(p1)s::bigint * %(p4)s::bigint), %(p1)s::bigint * %(p5)s::bigint) END) FROM (SELECT r1."uid" AS unit, pg_catalog.count(*) AS v0, pg_catalog.sum((pg_catalog.int4larger(pg_catalog.int4smaller(r1."i4", %(p3)s::integer), %(p2)s::integer))::integer) AS v1 FROM ((SELECT r1."i4" AS c1, r1."uid" AS c2, r2."uid" AS c3 FROM ((SELECT r1."i4", r1."uid" FROM (SELECT * FROM (SELECT r1."id", r1."uid", r1."i2", r1."i4", r1."i8", r1."n2", r1."n", r1."f4", r1."f8", r1."t", r1."c", r1."s", r1."b", r1."d", r1."ts", r1."tz", r1."free", r1."e", r1."j", r1."ta", r1."ia", r1."iv", r1."tod", pg_catalog.row_number() OVER (PARTITION BY r1."uid" ORDER BY pg_catalog.hashint4extended(r1."id"::integer, %(p6)s::bigint), r1."id") AS "dp_place_of_unit" FROM "w"."orders" AS r1 WHERE r1."uid" IS NOT NULL) AS r1 WHERE "dp_place_of_unit" <= %(p7)s::bigint) AS r1 WHERE r1."uid" IS NOT NULL) AS r1 FULL JOIN (SELECT * FROM (SELECT r2."id", r2."uid", r2."i2", r2."i4", r2."i8", r2."n2", r2."n", r2."f4", r2."f8", r2."t", r2."c", r2."s", r2."b", r2."d", r2."ts", r2."tz", r2."free", r2."e", r2."j", r2."ta", r2."ia", r2."iv", r2."tod", pg_catalog.row_number() OVER (PARTITION BY r2."uid" ORDER BY pg_catalog.hashint4extended(r2."id"::integer, %(p6)s::bigint), r2."id") AS "dp_place_of_unit" FROM "w"."calls" AS r2 WHERE r2."uid" IS NOT NULL) AS r2 WHERE "dp_place_of_unit" <= %(p8)s::bigint) AS r2 ON (r1."uid" = r2."uid")) WHERE CASE WHEN r1."uid" IS NOT NULL AND r2."uid" IS NOT NULL THEN TRUE ELSE FALSE END LIMIT ALL) AS j1 CROSS JOIN LATERAL (SELECT j1.c1 AS "i4", j1.c2 AS "uid") AS r1 CROSS JOIN LATERAL (SELECT j1.c3 AS "uid") AS r2) GROUP BY r1."uid") u
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

-- case: join on the unit by groups
SELECT o.t, count(*), avg(c.i4) FROM orders o JOIN calls c ON o.uid = c.uid GROUP BY o.t
-- => plan
-- w.orders, w.calls, unit r1."uid": rows 12, groups 2, per group 4; keys expression of 4; cells 185
--   count(*): sensitivity 8, scale 2, epsilon 4 delta 0
--   avg: 0 .. 10000 steps of 0.01, fill 5000, 185 partitions, gate 1510 units, scale 10, epsilon 4 delta 1/2000, each epsilon 19/10 delta 0.00025
-- => backend
SELECT k1, cell, pg_catalog.sum(least(v0, %(p2)s::bigint)), pg_catalog.sum(v1), pg_catalog.sum(v2), pg_catalog.count(v2) FROM (SELECT * FROM (SELECT *, pg_catalog.row_number() OVER (PARTITION BY unit ORDER BY pg_catalog.hashint8extended(pg_catalog.hash_record_extended(ROW(g."unit", k1), %(p13)s::bigint), %(p13)s::bigint), k1) AS rank FROM (SELECT r1."uid" AS unit, (pg_catalog.left(r1."t"::text, %(p8)s::integer))::text AS k1, pg_catalog.mod(((pg_catalog.hashint4extended(r1."uid"::integer, %(p5)s::bigint)) & %(p6)s::bigint)::integer, %(p7)s::integer) AS cell, pg_catalog.count(*) AS v0, pg_catalog.count(r2."i4") AS v1, pg_catalog.sum((pg_catalog.int4larger(pg_catalog.int4smaller(r2."i4", %(p4)s::integer), %(p3)s::integer))::integer) AS v2 FROM ((SELECT r1."t" AS c1, r1."uid" AS c2, r2."i4" AS c3, r2."uid" AS c4 FROM ((SELECT r1."t", r1."uid" FROM (SELECT * FROM (SELECT r1."id", r1."uid", r1."i2", r1."i4", r1."i8", r1."n2", r1."n", r1."f4", r1."f8", r1."t", r1."c", r1."s", r1."b", r1."d", r1."ts", r1."tz", r1."free", r1."e", r1."j", r1."ta", r1."ia", r1."iv", r1."tod", pg_catalog.row_number() OVER (PARTITION BY r1."uid" ORDER BY pg_catalog.hashint4extended(r1."id"::integer, %(p10)s::bigint), r1."id") AS "dp_place_of_unit" FROM "w"."orders" AS r1 WHERE r1."uid" IS NOT NULL) AS r1 WHERE "dp_place_of_unit" <= %(p11)s::bigint) AS r1 WHERE r1."uid" IS NOT NULL AND ((pg_catalog.left(r1."t"::text, %(p8)s::integer))::text = ANY(%(p9)s::text[]) OR pg_catalog.left(r1."t"::text, %(p8)s::integer) IS NULL)) AS r1 FULL JOIN (SELECT * FROM (SELECT r2."id", r2."uid", r2."i2", r2."i4", r2."i8", r2."n2", r2."n", r2."f4", r2."f8", r2."t", r2."c", r2."s", r2."b", r2."d", r2."ts", r2."tz", r2."free", r2."e", r2."j", r2."ta", r2."ia", r2."iv", r2."tod", pg_catalog.row_number() OVER (PARTITION BY r2."uid" ORDER BY pg_catalog.hashint4extended(r2."id"::integer, %(p10)s::bigint), r2."id") AS "dp_place_of_unit" FROM "w"."calls" AS r2 WHERE r2."uid" IS NOT NULL) AS r2 WHERE "dp_place_of_unit" <= %(p12)s::bigint) AS r2 ON (r1."uid" = r2."uid")) WHERE CASE WHEN r1."uid" IS NOT NULL AND r2."uid" IS NOT NULL THEN TRUE ELSE FALSE END LIMIT ALL) AS j1 CROSS JOIN LATERAL (SELECT j1.c1 AS "t", j1.c2 AS "uid") AS r1 CROSS JOIN LATERAL (SELECT j1.c3 AS "i4", j1.c4 AS "uid") AS r2) GROUP BY r1."uid", 2) g) c WHERE rank <= %(p12)s::bigint) u GROUP BY 1, 2
--   p1 = 12
--   p2 = 4
--   p3 = 0
--   p4 = 100
--   p5 = random
--   p6 = 2147483647
--   p7 = 185
--   p8 = 2
--   p9 = ['x', 'y', 'z']
--   p10 = random
--   p11 = 6
--   p12 = 2
--   p13 = random
-- => loss
-- epsilon 8 delta 1/2000
-- => residual
SELECT dp_b1.k1 AS "t", dp_b1.a1 AS "count", dp_b1.a2 AS "avg" FROM pg_catalog.jsonb_to_recordset(($1)::pg_catalog.jsonb->'b1') AS dp_b1(k1 pg_catalog.text, a1 bigint, a2 numeric)

-- case: join with a table of one row per unit
SELECT m.t, count(*), max(o.i4) FROM members m JOIN orders o USING (uid) GROUP BY m.t
-- => plan
-- w.members, w.orders, unit r1."uid": rows 6, groups None, per group 2; keys expression of 4; cells 45
--   count(*): sensitivity 2, scale 1/2, epsilon 4 delta 0
--   max: 0 .. 100 steps of 1, fill 0, 45 partitions, gate 375 units, scale 5, epsilon 4 delta 1/2000, each epsilon 19/5 delta 0.0005
-- => backend
SELECT k1, cell, pg_catalog.sum(least(v0, %(p2)s::bigint)), pg_catalog.max(v1), pg_catalog.count(v1) FROM (SELECT r1."uid" AS unit, (pg_catalog.left(r1."t"::text, %(p8)s::integer))::text AS k1, pg_catalog.mod(((pg_catalog.hashint4extended(r1."uid"::integer, %(p5)s::bigint)) & %(p6)s::bigint)::integer, %(p7)s::integer) AS cell, pg_catalog.count(*) AS v0, pg_catalog.int4larger(pg_catalog.int4smaller(pg_catalog.max(r2."i4"), %(p4)s::integer), %(p3)s::integer) AS v1 FROM ((SELECT r1."t" AS c1, r1."uid" AS c2, r2."i4" AS c3, r2."uid" AS c4 FROM ((SELECT r1."t", r1."uid" FROM "w"."members" AS r1 WHERE r1."uid" IS NOT NULL AND ((pg_catalog.left(r1."t"::text, %(p8)s::integer))::text = ANY(%(p9)s::text[]) OR pg_catalog.left(r1."t"::text, %(p8)s::integer) IS NULL)) AS r1 FULL JOIN "w"."orders" AS r2 ON (r1."uid" = r2."uid")) WHERE CASE WHEN r1."uid" IS NOT NULL AND r2."uid" IS NOT NULL THEN TRUE ELSE FALSE END LIMIT ALL) AS j1 CROSS JOIN LATERAL (SELECT j1.c1 AS "t", j1.c2 AS "uid") AS r1 CROSS JOIN LATERAL (SELECT j1.c3 AS "i4", j1.c4 AS "uid") AS r2) GROUP BY r1."uid", 2) u GROUP BY 1, 2
--   p1 = 6
--   p2 = 2
--   p3 = 0
--   p4 = 100
--   p5 = random
--   p6 = 2147483647
--   p7 = 45
--   p8 = 2
--   p9 = ['x', 'y', 'z']
-- => loss
-- epsilon 8 delta 1/2000
-- => residual
SELECT dp_b1.k1 AS "t", dp_b1.a1 AS "count", dp_b1.a2 AS "max" FROM pg_catalog.jsonb_to_recordset(($1)::pg_catalog.jsonb->'b1') AS dp_b1(k1 pg_catalog.text, a1 bigint, a2 integer)

-- case: two tables of one row per unit
SELECT count(*), avg(a.i4 + b.i4) FROM members a JOIN members b ON a.uid = b.uid
-- => plan
-- w.members, unit 1 row(s), partitions by hash of r1."uid", r1."uid" not null; keys none; cells 97
--   count(*): sensitivity 1, scale 1/4, epsilon 4 delta 0
--   avg: 0 .. 20000 steps of 0.01, fill 10000, 97 partitions, gate 791 units, scale 5, epsilon 4 delta 1/2000, each epsilon 19/5 delta 0.0005
-- => backend
SELECT x3, pg_catalog.count(*), pg_catalog.count((pg_catalog.int4larger(pg_catalog.int4smaller(x1, %(p2)s::integer), %(p1)s::integer))::integer + (pg_catalog.int4larger(pg_catalog.int4smaller(x2, %(p2)s::integer), %(p1)s::integer))::integer), pg_catalog.sum(pg_catalog.int8larger(pg_catalog.int8smaller((((pg_catalog.int4larger(pg_catalog.int4smaller(x2, %(p2)s::integer), %(p1)s::integer))::integer)::bigint + ((pg_catalog.int4larger(pg_catalog.int4smaller(x1, %(p2)s::integer), %(p1)s::integer))::integer)::bigint), %(p4)s::bigint), %(p3)s::bigint)) FROM (SELECT r2."i4" AS x1, r1."i4" AS x2, pg_catalog.mod(((pg_catalog.hashint4extended(r1."uid"::integer, %(p5)s::bigint)) & %(p6)s::bigint)::integer, %(p7)s::integer) AS x3 FROM ((SELECT r1."i4" AS c1, r1."uid" AS c2, r2."i4" AS c3, r2."uid" AS c4 FROM ((SELECT r1."i4", r1."uid" FROM "w"."members" AS r1 WHERE r1."uid" IS NOT NULL) AS r1 FULL JOIN "w"."members" AS r2 ON (r1."uid" = r2."uid")) WHERE CASE WHEN r1."uid" IS NOT NULL AND r2."uid" IS NOT NULL THEN TRUE ELSE FALSE END LIMIT ALL) AS j1 CROSS JOIN LATERAL (SELECT j1.c1 AS "i4", j1.c2 AS "uid") AS r1 CROSS JOIN LATERAL (SELECT j1.c3 AS "i4", j1.c4 AS "uid") AS r2) LIMIT ALL) r GROUP BY 1
--   p1 = 0
--   p2 = 100
--   p3 = 0
--   p4 = 200
--   p5 = random
--   p6 = 2147483647
--   p7 = 97
-- => loss
-- epsilon 8 delta 1/2000
-- => residual
SELECT dp_b1.a1 AS "count", dp_b1.a2 AS "avg" FROM pg_catalog.jsonb_to_recordset(($1)::pg_catalog.jsonb->'b1') AS dp_b1(a1 bigint, a2 numeric)

-- case: left join on the unit
SELECT count(*), count(c.i4), sum(c.n2) FROM orders o LEFT JOIN calls c ON o.uid = c.uid AND c.i4 > 5
-- => plan
-- w.orders, w.calls, unit r1."uid": rows 12, groups None, per group None; keys none; cells 0
--   count(*): sensitivity 12, scale 9/2, epsilon 8/3 delta 0
--   count: sensitivity 12, scale 9/2, epsilon 8/3 delta 0
--   sum: clamp 0 .. 175, grid 0.01, sensitivity 210000 steps, scale 78750, epsilon 8/3 delta 0
-- => backend
SELECT pg_catalog.sum(least(v0, %(p1)s::bigint)), pg_catalog.sum(least(v1, %(p1)s::bigint)), pg_catalog.sum(CASE WHEN v2 IS NOT NULL THEN least(greatest(v2, %(p1)s::bigint * %(p5)s::bigint), %(p1)s::bigint * %(p6)s::bigint) END) FROM (SELECT r1."uid" AS unit, pg_catalog.count(*) AS v0, pg_catalog.count(r2."i4") AS v1, pg_catalog.sum(pg_catalog.int4larger((pg_catalog.numeric_smaller(r2."n2" * %(p2)s::numeric, %(p3)s::numeric))::integer, %(p4)s::integer)) AS v2 FROM ((SELECT r1."uid" AS c1, r2."i4" AS c2, r2."n2" AS c3, r2."uid" AS c4 FROM (((SELECT r1."uid" FROM (SELECT * FROM (SELECT r1."id", r1."uid", r1."i2", r1."i4", r1."i8", r1."n2", r1."n", r1."f4", r1."f8", r1."t", r1."c", r1."s", r1."b", r1."d", r1."ts", r1."tz", r1."free", r1."e", r1."j", r1."ta", r1."ia", r1."iv", r1."tod", pg_catalog.row_number() OVER (PARTITION BY r1."uid" ORDER BY pg_catalog.hashint4extended(r1."id"::integer, %(p7)s::bigint), r1."id") AS "dp_place_of_unit" FROM "w"."orders" AS r1 WHERE r1."uid" IS NOT NULL) AS r1 WHERE "dp_place_of_unit" <= %(p8)s::bigint) AS r1 WHERE r1."uid" IS NOT NULL) AS r1 CROSS JOIN (SELECT TRUE AS here) AS m1) FULL JOIN (SELECT * FROM (SELECT r2."id", r2."uid", r2."i2", r2."i4", r2."i8", r2."n2", r2."n", r2."f4", r2."f8", r2."t", r2."c", r2."s", r2."b", r2."d", r2."ts", r2."tz", r2."free", r2."e", r2."j", r2."ta", r2."ia", r2."iv", r2."tod", pg_catalog.row_number() OVER (PARTITION BY r2."uid" ORDER BY pg_catalog.hashint4extended(r2."id"::integer, %(p7)s::bigint), r2."id") AS "dp_place_of_unit" FROM "w"."calls" AS r2 WHERE r2."uid" IS NOT NULL AND (r2."i4" > %(p9)s::bigint)) AS r2 WHERE "dp_place_of_unit" <= %(p10)s::bigint) AS r2 ON (r1."uid" = r2."uid")) WHERE CASE WHEN m1.here THEN TRUE ELSE FALSE END LIMIT ALL) AS j2 CROSS JOIN LATERAL (SELECT j2.c1 AS "uid") AS r1 CROSS JOIN LATERAL (SELECT j2.c2 AS "i4", j2.c3 AS "n2", j2.c4 AS "uid") AS r2) GROUP BY r1."uid") u
--   p1 = 12
--   p2 = 100
--   p3 = 17500
--   p4 = 0
--   p5 = 0
--   p6 = 17500
--   p7 = random
--   p8 = 6
--   p9 = 5
--   p10 = 2
-- => loss
-- epsilon 8 delta 0
-- => residual
SELECT dp_b1.a1 AS "count", dp_b1.a2 AS "count", dp_b1.a3 AS "sum" FROM pg_catalog.jsonb_to_recordset(($1)::pg_catalog.jsonb->'b1') AS dp_b1(a1 bigint, a2 bigint, a3 numeric)

-- case: left join with few
SELECT count(c.id), sum(c.i4) FROM members m LEFT JOIN (SELECT uid, i4, i2 AS id FROM calls) c ON m.uid = c.uid WHERE m.b
-- => plan
-- w.members, w.calls, unit r1."uid": rows 2, groups None, per group None; keys none; cells 0
--   count: sensitivity 2, scale 1/2, epsilon 4 delta 0
--   sum: clamp 0 .. 100, grid 1, sensitivity 200 steps, scale 50, epsilon 4 delta 0
-- => backend
SELECT pg_catalog.sum(least(v0, %(p1)s::bigint)), pg_catalog.sum(CASE WHEN v1 IS NOT NULL THEN least(greatest(v1, %(p1)s::bigint * %(p4)s::bigint), %(p1)s::bigint * %(p5)s::bigint) END) FROM (SELECT r1."uid" AS unit, pg_catalog.count(r3."id") AS v0, pg_catalog.sum((pg_catalog.int4larger(pg_catalog.int4smaller(r3."i4", %(p3)s::integer), %(p2)s::integer))::integer) AS v1 FROM ((SELECT r1."b" AS c1, r1."uid" AS c2, r3."i4" AS c3, r3."id" AS c4, r3."uid" AS c5 FROM (((SELECT r1."b", r1."uid" FROM "w"."members" AS r1 WHERE r1."uid" IS NOT NULL AND r1."b") AS r1 CROSS JOIN (SELECT TRUE AS here) AS m1) FULL JOIN (SELECT r2."uid" AS "uid", r2."i4" AS "i4", r2."i2" AS "id", r2."uid" AS "dp_unit" FROM "w"."calls" AS r2) AS r3 ON (r1."uid" = r3."uid")) WHERE CASE WHEN m1.here THEN TRUE ELSE FALSE END LIMIT ALL) AS j2 CROSS JOIN LATERAL (SELECT j2.c1 AS "b", j2.c2 AS "uid") AS r1 CROSS JOIN LATERAL (SELECT j2.c3 AS "i4", j2.c4 AS "id", j2.c5 AS "uid") AS r3) GROUP BY r1."uid") u
--   p1 = 2
--   p2 = 0
--   p3 = 100
--   p4 = 0
--   p5 = 100
-- => loss
-- epsilon 8 delta 0
-- => residual
SELECT dp_b1.a1 AS "count", dp_b1.a2 AS "sum" FROM pg_catalog.jsonb_to_recordset(($1)::pg_catalog.jsonb->'b1') AS dp_b1(a1 bigint, a2 bigint)

-- case: three tables on the unit
SELECT count(*) FROM members m JOIN orders o ON m.uid = o.uid JOIN calls c ON c.uid = o.uid WHERE m.i4 > c.i4
-- => plan
-- w.members, w.orders, w.calls, unit r1."uid": rows 12, groups None, per group None; keys none; cells 0
--   count(*): sensitivity 12, scale 3/2, epsilon 8 delta 0
-- => backend
SELECT pg_catalog.sum(least(v0, %(p1)s::bigint)) FROM (SELECT r1."uid" AS unit, pg_catalog.count(*) AS v0 FROM ((SELECT r1."i4" AS c1, r1."uid" AS c2, r2."uid" AS c3, r3."i4" AS c4, r3."uid" AS c5 FROM (((SELECT r1."i4" AS c1, r1."uid" AS c2, r2."uid" AS c3 FROM ((SELECT r1."i4", r1."uid" FROM "w"."members" AS r1 WHERE r1."uid" IS NOT NULL) AS r1 FULL JOIN (SELECT * FROM (SELECT r2."id", r2."uid", r2."i2", r2."i4", r2."i8", r2."n2", r2."n", r2."f4", r2."f8", r2."t", r2."c", r2."s", r2."b", r2."d", r2."ts", r2."tz", r2."free", r2."e", r2."j", r2."ta", r2."ia", r2."iv", r2."tod", pg_catalog.row_number() OVER (PARTITION BY r2."uid" ORDER BY pg_catalog.hashint4extended(r2."id"::integer, %(p2)s::bigint), r2."id") AS "dp_place_of_unit" FROM "w"."orders" AS r2 WHERE r2."uid" IS NOT NULL) AS r2 WHERE "dp_place_of_unit" <= %(p3)s::bigint) AS r2 ON (r1."uid" = r2."uid")) WHERE CASE WHEN r1."uid" IS NOT NULL AND r2."uid" IS NOT NULL THEN TRUE ELSE FALSE END LIMIT ALL) AS j1 CROSS JOIN LATERAL (SELECT j1.c1 AS "i4", j1.c2 AS "uid") AS r1 CROSS JOIN LATERAL (SELECT j1.c3 AS "uid") AS r2) FULL JOIN (SELECT * FROM (SELECT r3."id", r3."uid", r3."i2", r3."i4", r3."i8", r3."n2", r3."n", r3."f4", r3."f8", r3."t", r3."c", r3."s", r3."b", r3."d", r3."ts", r3."tz", r3."free", r3."e", r3."j", r3."ta", r3."ia", r3."iv", r3."tod", pg_catalog.row_number() OVER (PARTITION BY r3."uid" ORDER BY pg_catalog.hashint4extended(r3."id"::integer, %(p2)s::bigint), r3."id") AS "dp_place_of_unit" FROM "w"."calls" AS r3 WHERE r3."uid" IS NOT NULL) AS r3 WHERE "dp_place_of_unit" <= %(p4)s::bigint) AS r3 ON (r2."uid" = r3."uid")) WHERE CASE WHEN r2."uid" IS NOT NULL AND r3."uid" IS NOT NULL THEN (r1."i4" > r3."i4") ELSE FALSE END LIMIT ALL) AS j2 CROSS JOIN LATERAL (SELECT j2.c1 AS "i4", j2.c2 AS "uid") AS r1 CROSS JOIN LATERAL (SELECT j2.c3 AS "uid") AS r2 CROSS JOIN LATERAL (SELECT j2.c4 AS "i4", j2.c5 AS "uid") AS r3) GROUP BY r1."uid") u
--   p1 = 12
--   p2 = random
--   p3 = 6
--   p4 = 2
-- => loss
-- epsilon 8 delta 0
-- => residual
SELECT dp_b1.a1 AS "count" FROM pg_catalog.jsonb_to_recordset(($1)::pg_catalog.jsonb->'b1') AS dp_b1(a1 bigint)

-- case: comma join on the unit
SELECT sum(o.n2) FROM orders o, calls c WHERE o.uid = c.uid AND c.b
-- => plan
-- w.orders, w.calls, unit r1."uid": rows 12, groups None, per group None; keys none; cells 0
--   sum: clamp 0 .. 175, grid 0.01, sensitivity 210000 steps, scale 26250, epsilon 8 delta 0
-- => backend
SELECT pg_catalog.sum(CASE WHEN v0 IS NOT NULL THEN least(greatest(v0, %(p4)s::bigint * %(p5)s::bigint), %(p4)s::bigint * %(p6)s::bigint) END) FROM (SELECT r1."uid" AS unit, pg_catalog.sum(pg_catalog.int4larger((pg_catalog.numeric_smaller(r1."n2" * %(p1)s::numeric, %(p2)s::numeric))::integer, %(p3)s::integer)) AS v0 FROM ((SELECT r1."n2" AS c1, r1."uid" AS c2, r2."uid" AS c3 FROM ((SELECT r1."n2", r1."uid" FROM (SELECT * FROM (SELECT r1."id", r1."uid", r1."i2", r1."i4", r1."i8", r1."n2", r1."n", r1."f4", r1."f8", r1."t", r1."c", r1."s", r1."b", r1."d", r1."ts", r1."tz", r1."free", r1."e", r1."j", r1."ta", r1."ia", r1."iv", r1."tod", pg_catalog.row_number() OVER (PARTITION BY r1."uid" ORDER BY pg_catalog.hashint4extended(r1."id"::integer, %(p7)s::bigint), r1."id") AS "dp_place_of_unit" FROM "w"."orders" AS r1 WHERE r1."uid" IS NOT NULL) AS r1 WHERE "dp_place_of_unit" <= %(p8)s::bigint) AS r1 WHERE r1."uid" IS NOT NULL) AS r1 FULL JOIN (SELECT * FROM (SELECT r2."id", r2."uid", r2."i2", r2."i4", r2."i8", r2."n2", r2."n", r2."f4", r2."f8", r2."t", r2."c", r2."s", r2."b", r2."d", r2."ts", r2."tz", r2."free", r2."e", r2."j", r2."ta", r2."ia", r2."iv", r2."tod", pg_catalog.row_number() OVER (PARTITION BY r2."uid" ORDER BY pg_catalog.hashint4extended(r2."id"::integer, %(p7)s::bigint), r2."id") AS "dp_place_of_unit" FROM "w"."calls" AS r2 WHERE r2."uid" IS NOT NULL AND r2."b") AS r2 WHERE "dp_place_of_unit" <= %(p9)s::bigint) AS r2 ON (r1."uid" = r2."uid")) WHERE CASE WHEN r1."uid" IS NOT NULL AND r2."uid" IS NOT NULL THEN (r1."uid" = r2."uid") ELSE FALSE END LIMIT ALL) AS j1 CROSS JOIN LATERAL (SELECT j1.c1 AS "n2", j1.c2 AS "uid") AS r1 CROSS JOIN LATERAL (SELECT j1.c3 AS "uid") AS r2) GROUP BY r1."uid") u
--   p1 = 100
--   p2 = 17500
--   p3 = 0
--   p4 = 12
--   p5 = 0
--   p6 = 17500
--   p7 = random
--   p8 = 6
--   p9 = 2
-- => loss
-- epsilon 8 delta 0
-- => residual
SELECT dp_b1.a1 AS "sum" FROM pg_catalog.jsonb_to_recordset(($1)::pg_catalog.jsonb->'b1') AS dp_b1(a1 numeric)

-- case: join with a public table
SELECT z.zone, count(*), avg(p.i4) FROM people p JOIN places z ON p.t = z.code GROUP BY z.zone
-- => plan
-- w.people, w.places, unit 1 row(s), partitions by hash of r1."id"; keys zone of 2; cells 91
--   count(*): sensitivity 1, scale 1/4, epsilon 4 delta 0
--   avg: 0 .. 10000 steps of 0.01, fill 5000, 91 partitions, gate 743 units, scale 5, epsilon 4 delta 1/2000, each epsilon 19/5 delta 0.0005
-- => backend
SELECT x2, x3, pg_catalog.count(*), pg_catalog.count(x1), pg_catalog.sum((pg_catalog.int4larger(pg_catalog.int4smaller(x1, %(p2)s::integer), %(p1)s::integer))::integer) FROM (SELECT r1."i4" AS x1, (r2."zone")::text AS x2, pg_catalog.mod(((pg_catalog.hashint4extended(r1."id"::integer, %(p5)s::bigint)) & %(p6)s::bigint)::integer, %(p7)s::integer) AS x3 FROM ((SELECT r1."i4" AS c1, r1."id" AS c2, r1."t" AS c3, r2."code" AS c4, r2."zone" AS c5 FROM ("w"."people" AS r1 FULL JOIN (SELECT r2."code", r2."zone" FROM "w"."places" AS r2 WHERE (r2."zone" = ANY(%(p3)s::text[]::text[]))) AS r2 ON (CASE WHEN pg_catalog.octet_length(r1."t") <= %(p4)s::integer THEN r1."t" END = CASE WHEN pg_catalog.octet_length(r2."code") <= %(p4)s::integer THEN r2."code" END)) WHERE CASE WHEN r1."t" IS NOT NULL AND r2."code" IS NOT NULL THEN TRUE ELSE FALSE END LIMIT ALL) AS j1 CROSS JOIN LATERAL (SELECT j1.c1 AS "i4", j1.c2 AS "id", j1.c3 AS "t") AS r1 CROSS JOIN LATERAL (SELECT j1.c4 AS "code", j1.c5 AS "zone") AS r2) LIMIT ALL) r GROUP BY 1, 2
--   p1 = 0
--   p2 = 100
--   p3 = ['north', 'south']
--   p4 = 4096
--   p5 = random
--   p6 = 2147483647
--   p7 = 91
-- => loss
-- epsilon 8 delta 1/2000
-- => residual
SELECT dp_b1.k1 AS "zone", dp_b1.a1 AS "count", dp_b1.a2 AS "avg" FROM pg_catalog.jsonb_to_recordset(($1)::pg_catalog.jsonb->'b1') AS dp_b1(k1 pg_catalog.text, a1 bigint, a2 numeric)

-- case: left join with a public table
SELECT z.zone, count(*), sum(p.i4) FROM people p LEFT JOIN places z ON p.t = z.code GROUP BY z.zone
-- => plan
-- w.people, w.places, unit 1 row(s), partitions by hash of r1."id"; keys zone of 3; cells 0
--   count(*): sensitivity 1, scale 1/4, epsilon 4 delta 0
--   sum: clamp 0 .. 100, grid 1, sensitivity 100 steps, scale 25, epsilon 4 delta 0
-- => backend
SELECT * FROM (SELECT (CASE WHEN pg_catalog.octet_length((r2."zone")::text) <= 1024 THEN (r2."zone")::text ELSE pg_catalog.left((r2."zone")::text, 1024) END)::text AS k1, pg_catalog.count(*), pg_catalog.sum((pg_catalog.int4larger(pg_catalog.int4smaller(r1."i4", %(p2)s::integer), %(p1)s::integer))::integer) FROM ((SELECT r1."i4" AS c1, r1."id" AS c2, r1."t" AS c3, r2."code" AS c4, r2."zone" AS c5 FROM (("w"."people" AS r1 CROSS JOIN (SELECT TRUE AS here) AS m1) FULL JOIN "w"."places" AS r2 ON (CASE WHEN pg_catalog.octet_length(r1."t") <= %(p3)s::integer THEN r1."t" END = CASE WHEN pg_catalog.octet_length(r2."code") <= %(p3)s::integer THEN r2."code" END)) WHERE CASE WHEN m1.here THEN TRUE ELSE FALSE END LIMIT ALL) AS j2 CROSS JOIN LATERAL (SELECT j2.c1 AS "i4", j2.c2 AS "id", j2.c3 AS "t") AS r1 CROSS JOIN LATERAL (SELECT j2.c4 AS "code", j2.c5 AS "zone") AS r2) GROUP BY 1 LIMIT ALL) g WHERE (k1 = ANY(%(p4)s::text[]) OR k1 IS NULL)
--   p1 = 0
--   p2 = 100
--   p3 = 4096
--   p4 = ['north', 'south']
-- => loss
-- epsilon 8 delta 0
-- => residual
SELECT dp_b1.k1 AS "zone", dp_b1.a1 AS "count", dp_b1.a2 AS "sum" FROM pg_catalog.jsonb_to_recordset(($1)::pg_catalog.jsonb->'b1') AS dp_b1(k1 pg_catalog.text, a1 bigint, a2 bigint)

-- case: public table first
SELECT count(*), max(o.i4) FROM places z JOIN orders o ON z.code = o.t WHERE z.zone = 'north'
-- => plan
-- w.places, w.orders, unit r2."uid": rows 6, groups None, per group None; keys none; cells 45
--   count(*): sensitivity 6, scale 3/2, epsilon 4 delta 0
--   max: 0 .. 100 steps of 1, fill 0, 45 partitions, gate 375 units, scale 5, epsilon 4 delta 1/2000, each epsilon 19/5 delta 0.0005
-- => backend
SELECT cell, pg_catalog.sum(least(v0, %(p1)s::bigint)), pg_catalog.max(v1), pg_catalog.count(v1) FROM (SELECT r2."uid" AS unit, pg_catalog.mod(((pg_catalog.hashint4extended(r2."uid"::integer, %(p4)s::bigint)) & %(p5)s::bigint)::integer, %(p6)s::integer) AS cell, pg_catalog.count(*) AS v0, pg_catalog.int4larger(pg_catalog.int4smaller(pg_catalog.max(r2."i4"), %(p3)s::integer), %(p2)s::integer) AS v1 FROM ((SELECT r1."code" AS c1, r1."zone" AS c2, r2."i4" AS c3, r2."t" AS c4, r2."uid" AS c5 FROM ((SELECT r1."code", r1."zone" FROM "w"."places" AS r1 WHERE (r1."zone" = %(p7)s::text)) AS r1 FULL JOIN (SELECT r2."i4", r2."t", r2."uid" FROM "w"."orders" AS r2 WHERE r2."uid" IS NOT NULL) AS r2 ON (CASE WHEN pg_catalog.octet_length(r1."code") <= %(p8)s::integer THEN r1."code" END = CASE WHEN pg_catalog.octet_length(r2."t") <= %(p8)s::integer THEN r2."t" END)) WHERE CASE WHEN r1."code" IS NOT NULL AND r2."t" IS NOT NULL THEN TRUE ELSE FALSE END LIMIT ALL) AS j1 CROSS JOIN LATERAL (SELECT j1.c1 AS "code", j1.c2 AS "zone") AS r1 CROSS JOIN LATERAL (SELECT j1.c3 AS "i4", j1.c4 AS "t", j1.c5 AS "uid") AS r2) GROUP BY r2."uid") u GROUP BY 1
--   p1 = 6
--   p2 = 0
--   p3 = 100
--   p4 = random
--   p5 = 2147483647
--   p6 = 45
--   p7 = north
--   p8 = 4096
-- => loss
-- epsilon 8 delta 1/2000
-- => residual
SELECT dp_b1.a1 AS "count", dp_b1.a2 AS "max" FROM pg_catalog.jsonb_to_recordset(($1)::pg_catalog.jsonb->'b1') AS dp_b1(a1 bigint, a2 integer)

-- case: join on the unit and with a public table
SELECT z.zone, count(*) FROM orders o JOIN calls c ON o.uid = c.uid LEFT JOIN places z ON z.code = c.t GROUP BY z.zone
-- => plan
-- w.orders, w.calls, w.places, unit r1."uid": rows 12, groups 2, per group 4; keys zone of 3; cells 0
--   count(*): sensitivity 8, scale 1, epsilon 8 delta 0
-- => backend
SELECT k1, pg_catalog.sum(least(v0, %(p2)s::bigint)) FROM (SELECT * FROM (SELECT *, pg_catalog.row_number() OVER (PARTITION BY unit ORDER BY pg_catalog.hashint8extended(pg_catalog.hash_record_extended(ROW(g."unit", k1), %(p8)s::bigint), %(p8)s::bigint), k1) AS rank FROM (SELECT r1."uid" AS unit, (r3."zone")::text AS k1, pg_catalog.count(*) AS v0 FROM ((SELECT r1."uid" AS c1, r2."t" AS c2, r2."uid" AS c3, r3."code" AS c4, r3."zone" AS c5 FROM ((((SELECT r1."uid" AS c1, r2."t" AS c2, r2."uid" AS c3 FROM ((SELECT r1."uid" FROM (SELECT * FROM (SELECT r1."id", r1."uid", r1."i2", r1."i4", r1."i8", r1."n2", r1."n", r1."f4", r1."f8", r1."t", r1."c", r1."s", r1."b", r1."d", r1."ts", r1."tz", r1."free", r1."e", r1."j", r1."ta", r1."ia", r1."iv", r1."tod", pg_catalog.row_number() OVER (PARTITION BY r1."uid" ORDER BY pg_catalog.hashint4extended(r1."id"::integer, %(p4)s::bigint), r1."id") AS "dp_place_of_unit" FROM "w"."orders" AS r1 WHERE r1."uid" IS NOT NULL) AS r1 WHERE "dp_place_of_unit" <= %(p5)s::bigint) AS r1 WHERE r1."uid" IS NOT NULL) AS r1 FULL JOIN (SELECT * FROM (SELECT r2."id", r2."uid", r2."i2", r2."i4", r2."i8", r2."n2", r2."n", r2."f4", r2."f8", r2."t", r2."c", r2."s", r2."b", r2."d", r2."ts", r2."tz", r2."free", r2."e", r2."j", r2."ta", r2."ia", r2."iv", r2."tod", pg_catalog.row_number() OVER (PARTITION BY r2."uid" ORDER BY pg_catalog.hashint4extended(r2."id"::integer, %(p4)s::bigint), r2."id") AS "dp_place_of_unit" FROM "w"."calls" AS r2 WHERE r2."uid" IS NOT NULL) AS r2 WHERE "dp_place_of_unit" <= %(p6)s::bigint) AS r2 ON (r1."uid" = r2."uid")) WHERE CASE WHEN r1."uid" IS NOT NULL AND r2."uid" IS NOT NULL THEN TRUE ELSE FALSE END LIMIT ALL) AS j1 CROSS JOIN LATERAL (SELECT j1.c1 AS "uid") AS r1 CROSS JOIN LATERAL (SELECT j1.c2 AS "t", j1.c3 AS "uid") AS r2) CROSS JOIN (SELECT TRUE AS here) AS m2) FULL JOIN "w"."places" AS r3 ON (CASE WHEN pg_catalog.octet_length(r2."t") <= %(p7)s::integer THEN r2."t" END = CASE WHEN pg_catalog.octet_length(r3."code") <= %(p7)s::integer THEN r3."code" END)) WHERE CASE WHEN m2.here THEN (r3."zone" = ANY(%(p3)s::text[]::text[]) OR r3."zone" IS NULL) ELSE FALSE END LIMIT ALL) AS j3 CROSS JOIN LATERAL (SELECT j3.c1 AS "uid") AS r1 CROSS JOIN LATERAL (SELECT j3.c2 AS "t", j3.c3 AS "uid") AS r2 CROSS JOIN LATERAL (SELECT j3.c4 AS "code", j3.c5 AS "zone") AS r3) GROUP BY r1."uid", 2) g) c WHERE rank <= %(p6)s::bigint) u GROUP BY 1
--   p1 = 12
--   p2 = 4
--   p3 = ['north', 'south']
--   p4 = random
--   p5 = 6
--   p6 = 2
--   p7 = 4096
--   p8 = random
-- => loss
-- epsilon 8 delta 0
-- => residual
SELECT dp_b1.k1 AS "zone", dp_b1.a1 AS "count" FROM pg_catalog.jsonb_to_recordset(($1)::pg_catalog.jsonb->'b1') AS dp_b1(k1 pg_catalog.text, a1 bigint)

-- case: units of a join
SELECT count(DISTINCT o.uid) FROM orders o JOIN calls c ON o.uid = c.uid WHERE c.i4 > 3
-- => plan
-- w.orders, w.calls, unit r1."uid": rows 12, groups None, per group None; keys none; cells 0
--   count(distinct) of units: sensitivity 1, scale 1/8, epsilon 8 delta 0
-- => backend
SELECT pg_catalog.sum(least(v0, 1)) FROM (SELECT r1."uid" AS unit, pg_catalog.count(*) AS v0 FROM ((SELECT r1."uid" AS c1, r2."uid" AS c2 FROM ((SELECT r1."uid" FROM (SELECT * FROM (SELECT r1."id", r1."uid", r1."i2", r1."i4", r1."i8", r1."n2", r1."n", r1."f4", r1."f8", r1."t", r1."c", r1."s", r1."b", r1."d", r1."ts", r1."tz", r1."free", r1."e", r1."j", r1."ta", r1."ia", r1."iv", r1."tod", pg_catalog.row_number() OVER (PARTITION BY r1."uid" ORDER BY pg_catalog.hashint4extended(r1."id"::integer, %(p1)s::bigint), r1."id") AS "dp_place_of_unit" FROM "w"."orders" AS r1 WHERE r1."uid" IS NOT NULL) AS r1 WHERE "dp_place_of_unit" <= %(p2)s::bigint) AS r1 WHERE r1."uid" IS NOT NULL) AS r1 FULL JOIN (SELECT * FROM (SELECT r2."id", r2."uid", r2."i2", r2."i4", r2."i8", r2."n2", r2."n", r2."f4", r2."f8", r2."t", r2."c", r2."s", r2."b", r2."d", r2."ts", r2."tz", r2."free", r2."e", r2."j", r2."ta", r2."ia", r2."iv", r2."tod", pg_catalog.row_number() OVER (PARTITION BY r2."uid" ORDER BY pg_catalog.hashint4extended(r2."id"::integer, %(p1)s::bigint), r2."id") AS "dp_place_of_unit" FROM "w"."calls" AS r2 WHERE r2."uid" IS NOT NULL AND (r2."i4" > %(p3)s::bigint)) AS r2 WHERE "dp_place_of_unit" <= %(p4)s::bigint) AS r2 ON (r1."uid" = r2."uid")) WHERE CASE WHEN r1."uid" IS NOT NULL AND r2."uid" IS NOT NULL THEN TRUE ELSE FALSE END LIMIT ALL) AS j1 CROSS JOIN LATERAL (SELECT j1.c1 AS "uid") AS r1 CROSS JOIN LATERAL (SELECT j1.c2 AS "uid") AS r2) GROUP BY r1."uid") u
--   p1 = random
--   p2 = 6
--   p3 = 3
--   p4 = 2
-- => loss
-- epsilon 8 delta 0
-- => residual
SELECT dp_b1.a1 AS "count" FROM pg_catalog.jsonb_to_recordset(($1)::pg_catalog.jsonb->'b1') AS dp_b1(a1 bigint)

-- case: units of the far side of a left join
SELECT count(DISTINCT c.uid) FROM orders o LEFT JOIN calls c ON o.uid = c.uid
-- => plan
-- w.orders, w.calls, unit r1."uid": rows 12, groups None, per group None; keys none; cells 0
--   count(distinct) of units: sensitivity 1, scale 1/8, epsilon 8 delta 0
-- => backend
SELECT pg_catalog.sum(least(v0, 1)) FROM (SELECT r1."uid" AS unit, pg_catalog.count(r2."uid") AS v0 FROM ((SELECT r1."uid" AS c1, r2."uid" AS c2 FROM (((SELECT r1."uid" FROM (SELECT * FROM (SELECT r1."id", r1."uid", r1."i2", r1."i4", r1."i8", r1."n2", r1."n", r1."f4", r1."f8", r1."t", r1."c", r1."s", r1."b", r1."d", r1."ts", r1."tz", r1."free", r1."e", r1."j", r1."ta", r1."ia", r1."iv", r1."tod", pg_catalog.row_number() OVER (PARTITION BY r1."uid" ORDER BY pg_catalog.hashint4extended(r1."id"::integer, %(p1)s::bigint), r1."id") AS "dp_place_of_unit" FROM "w"."orders" AS r1 WHERE r1."uid" IS NOT NULL) AS r1 WHERE "dp_place_of_unit" <= %(p2)s::bigint) AS r1 WHERE r1."uid" IS NOT NULL) AS r1 CROSS JOIN (SELECT TRUE AS here) AS m1) FULL JOIN (SELECT * FROM (SELECT r2."id", r2."uid", r2."i2", r2."i4", r2."i8", r2."n2", r2."n", r2."f4", r2."f8", r2."t", r2."c", r2."s", r2."b", r2."d", r2."ts", r2."tz", r2."free", r2."e", r2."j", r2."ta", r2."ia", r2."iv", r2."tod", pg_catalog.row_number() OVER (PARTITION BY r2."uid" ORDER BY pg_catalog.hashint4extended(r2."id"::integer, %(p1)s::bigint), r2."id") AS "dp_place_of_unit" FROM "w"."calls" AS r2 WHERE r2."uid" IS NOT NULL) AS r2 WHERE "dp_place_of_unit" <= %(p3)s::bigint) AS r2 ON (r1."uid" = r2."uid")) WHERE CASE WHEN m1.here THEN TRUE ELSE FALSE END LIMIT ALL) AS j2 CROSS JOIN LATERAL (SELECT j2.c1 AS "uid") AS r1 CROSS JOIN LATERAL (SELECT j2.c2 AS "uid") AS r2) GROUP BY r1."uid") u
--   p1 = random
--   p2 = 6
--   p3 = 2
-- => loss
-- epsilon 8 delta 0
-- => residual
SELECT dp_b1.a1 AS "count" FROM pg_catalog.jsonb_to_recordset(($1)::pg_catalog.jsonb->'b1') AS dp_b1(a1 bigint)

-- case: self join on the unit
SELECT count(*) FROM orders a JOIN orders b ON a.uid = b.uid AND a.i4 < b.i4
-- => plan
-- w.orders, unit r1."uid": rows 36, groups None, per group None; keys none; cells 0
--   count(*): sensitivity 36, scale 9/2, epsilon 8 delta 0
-- => backend
SELECT pg_catalog.sum(least(v0, %(p1)s::bigint)) FROM (SELECT r1."uid" AS unit, pg_catalog.count(*) AS v0 FROM ((SELECT r1."i4" AS c1, r1."uid" AS c2, r2."i4" AS c3, r2."uid" AS c4 FROM ((SELECT r1."i4", r1."uid" FROM (SELECT * FROM (SELECT r1."id", r1."uid", r1."i2", r1."i4", r1."i8", r1."n2", r1."n", r1."f4", r1."f8", r1."t", r1."c", r1."s", r1."b", r1."d", r1."ts", r1."tz", r1."free", r1."e", r1."j", r1."ta", r1."ia", r1."iv", r1."tod", pg_catalog.row_number() OVER (PARTITION BY r1."uid" ORDER BY pg_catalog.hashint4extended(r1."id"::integer, %(p2)s::bigint), r1."id") AS "dp_place_of_unit" FROM "w"."orders" AS r1 WHERE r1."uid" IS NOT NULL) AS r1 WHERE "dp_place_of_unit" <= %(p3)s::bigint) AS r1 WHERE r1."uid" IS NOT NULL) AS r1 FULL JOIN (SELECT * FROM (SELECT r2."id", r2."uid", r2."i2", r2."i4", r2."i8", r2."n2", r2."n", r2."f4", r2."f8", r2."t", r2."c", r2."s", r2."b", r2."d", r2."ts", r2."tz", r2."free", r2."e", r2."j", r2."ta", r2."ia", r2."iv", r2."tod", pg_catalog.row_number() OVER (PARTITION BY r2."uid" ORDER BY pg_catalog.hashint4extended(r2."id"::integer, %(p2)s::bigint), r2."id") AS "dp_place_of_unit" FROM "w"."orders" AS r2 WHERE r2."uid" IS NOT NULL) AS r2 WHERE "dp_place_of_unit" <= %(p3)s::bigint) AS r2 ON (r1."uid" = r2."uid") AND (r1."i4" < r2."i4")) WHERE CASE WHEN r1."uid" IS NOT NULL AND r2."uid" IS NOT NULL THEN TRUE ELSE FALSE END LIMIT ALL) AS j1 CROSS JOIN LATERAL (SELECT j1.c1 AS "i4", j1.c2 AS "uid") AS r1 CROSS JOIN LATERAL (SELECT j1.c3 AS "i4", j1.c4 AS "uid") AS r2) GROUP BY r1."uid") u
--   p1 = 36
--   p2 = random
--   p3 = 6
-- => loss
-- epsilon 8 delta 0
-- => residual
SELECT dp_b1.a1 AS "count" FROM pg_catalog.jsonb_to_recordset(($1)::pg_catalog.jsonb->'b1') AS dp_b1(a1 bigint)

-- case: whole number key of a public table
SELECT count(*), avg(p.i4) FROM people p JOIN rates r ON p.i4 = r.k
-- => plan
-- w.people, w.rates, unit 1 row(s), partitions by hash of r1."id"; keys none; cells 91
--   count(*): sensitivity 1, scale 1/4, epsilon 4 delta 0
--   avg: 0 .. 10000 steps of 0.01, fill 5000, 91 partitions, gate 743 units, scale 5, epsilon 4 delta 1/2000, each epsilon 19/5 delta 0.0005
-- => backend
SELECT x2, pg_catalog.count(*), pg_catalog.count(x1), pg_catalog.sum((pg_catalog.int4larger(pg_catalog.int4smaller(x1, %(p2)s::integer), %(p1)s::integer))::integer) FROM (SELECT r1."i4" AS x1, pg_catalog.mod(((pg_catalog.hashint4extended(r1."id"::integer, %(p3)s::bigint)) & %(p4)s::bigint)::integer, %(p5)s::integer) AS x2 FROM ((SELECT r1."i4" AS c1, r1."id" AS c2, r2."k" AS c3 FROM ("w"."people" AS r1 FULL JOIN "w"."rates" AS r2 ON (r1."i4" = r2."k")) WHERE CASE WHEN r1."i4" IS NOT NULL AND r2."k" IS NOT NULL THEN TRUE ELSE FALSE END LIMIT ALL) AS j1 CROSS JOIN LATERAL (SELECT j1.c1 AS "i4", j1.c2 AS "id") AS r1 CROSS JOIN LATERAL (SELECT j1.c3 AS "k") AS r2) LIMIT ALL) r GROUP BY 1
--   p1 = 0
--   p2 = 100
--   p3 = random
--   p4 = 2147483647
--   p5 = 91
-- => loss
-- epsilon 8 delta 1/2000
-- => residual
SELECT dp_b1.a1 AS "count", dp_b1.a2 AS "avg" FROM pg_catalog.jsonb_to_recordset(($1)::pg_catalog.jsonb->'b1') AS dp_b1(a1 bigint, a2 numeric)

-- case: right join
SELECT count(*) FROM calls c RIGHT JOIN orders o ON o.uid = c.uid
-- => plan
-- w.orders, w.calls, unit r1."uid": rows 12, groups None, per group None; keys none; cells 0
--   count(*): sensitivity 12, scale 3/2, epsilon 8 delta 0
-- => backend
SELECT pg_catalog.sum(least(v0, %(p1)s::bigint)) FROM (SELECT r1."uid" AS unit, pg_catalog.count(*) AS v0 FROM ((SELECT r1."uid" AS c1, r2."uid" AS c2 FROM (((SELECT r1."uid" FROM (SELECT * FROM (SELECT r1."id", r1."uid", r1."i2", r1."i4", r1."i8", r1."n2", r1."n", r1."f4", r1."f8", r1."t", r1."c", r1."s", r1."b", r1."d", r1."ts", r1."tz", r1."free", r1."e", r1."j", r1."ta", r1."ia", r1."iv", r1."tod", pg_catalog.row_number() OVER (PARTITION BY r1."uid" ORDER BY pg_catalog.hashint4extended(r1."id"::integer, %(p2)s::bigint), r1."id") AS "dp_place_of_unit" FROM "w"."orders" AS r1 WHERE r1."uid" IS NOT NULL) AS r1 WHERE "dp_place_of_unit" <= %(p3)s::bigint) AS r1 WHERE r1."uid" IS NOT NULL) AS r1 CROSS JOIN (SELECT TRUE AS here) AS m1) FULL JOIN (SELECT * FROM (SELECT r2."id", r2."uid", r2."i2", r2."i4", r2."i8", r2."n2", r2."n", r2."f4", r2."f8", r2."t", r2."c", r2."s", r2."b", r2."d", r2."ts", r2."tz", r2."free", r2."e", r2."j", r2."ta", r2."ia", r2."iv", r2."tod", pg_catalog.row_number() OVER (PARTITION BY r2."uid" ORDER BY pg_catalog.hashint4extended(r2."id"::integer, %(p2)s::bigint), r2."id") AS "dp_place_of_unit" FROM "w"."calls" AS r2 WHERE r2."uid" IS NOT NULL) AS r2 WHERE "dp_place_of_unit" <= %(p4)s::bigint) AS r2 ON (r1."uid" = r2."uid")) WHERE CASE WHEN m1.here THEN TRUE ELSE FALSE END LIMIT ALL) AS j2 CROSS JOIN LATERAL (SELECT j2.c1 AS "uid") AS r1 CROSS JOIN LATERAL (SELECT j2.c2 AS "uid") AS r2) GROUP BY r1."uid") u
--   p1 = 12
--   p2 = random
--   p3 = 6
--   p4 = 2
-- => loss
-- epsilon 8 delta 0
-- => residual
SELECT dp_b1.a1 AS "count" FROM pg_catalog.jsonb_to_recordset(($1)::pg_catalog.jsonb->'b1') AS dp_b1(a1 bigint)

-- case: join in brackets that begins with a subquery
SELECT count(*) FROM places z JOIN ((SELECT t, i2 FROM events) e JOIN rates r ON e.i2 = r.k) ON z.code = e.t
-- => plan
-- w.places, w.events, w.rates, unit 1 row(s), partitions by hash of r3."dp_key1"; keys none; cells 0
--   count(*): sensitivity 1, scale 1/8, epsilon 8 delta 0
-- => backend
SELECT pg_catalog.count(*) FROM ((SELECT r1."code" AS c1, r3."dp_key1" AS c2, r3."i2" AS c3, r3."t" AS c4, r4."k" AS c5 FROM ("w"."places" AS r1 FULL JOIN ((SELECT r3."dp_key1" AS c1, r3."i2" AS c2, r3."t" AS c3, r4."k" AS c4 FROM ((SELECT r2."t" AS "t", r2."i2" AS "i2", r2."ctid" AS "dp_key1" FROM "w"."events" AS r2) AS r3 FULL JOIN "w"."rates" AS r4 ON (r3."i2" = r4."k")) WHERE CASE WHEN r3."i2" IS NOT NULL AND r4."k" IS NOT NULL THEN TRUE ELSE FALSE END LIMIT ALL) AS j1 CROSS JOIN LATERAL (SELECT j1.c1 AS "dp_key1", j1.c2 AS "i2", j1.c3 AS "t") AS r3 CROSS JOIN LATERAL (SELECT j1.c4 AS "k") AS r4) ON (CASE WHEN pg_catalog.octet_length(r1."code") <= %(p1)s::integer THEN r1."code" END = CASE WHEN pg_catalog.octet_length(r3."t") <= %(p1)s::integer THEN r3."t" END)) WHERE CASE WHEN r1."code" IS NOT NULL AND r3."t" IS NOT NULL THEN TRUE ELSE FALSE END LIMIT ALL) AS j2 CROSS JOIN LATERAL (SELECT j2.c1 AS "code") AS r1 CROSS JOIN LATERAL (SELECT j2.c2 AS "dp_key1", j2.c3 AS "i2", j2.c4 AS "t") AS r3 CROSS JOIN LATERAL (SELECT j2.c5 AS "k") AS r4)
--   p1 = 4096
-- => loss
-- epsilon 8 delta 0
-- => residual
SELECT dp_b1.a1 AS "count" FROM pg_catalog.jsonb_to_recordset(($1)::pg_catalog.jsonb->'b1') AS dp_b1(a1 bigint)

-- case: join of a union on the unit
SELECT count(*), sum(c.i4) FROM (SELECT uid, t FROM orders UNION ALL SELECT uid, t FROM calls) q JOIN calls c ON q.uid = c.uid WHERE q.t = 'x'
-- => plan
-- w.orders, w.calls, unit r8."dp_unit": rows 16, groups None, per group None; keys none; cells 0
--   count(*): sensitivity 16, scale 4, epsilon 4 delta 0
--   sum: clamp 0 .. 100, grid 1, sensitivity 1600 steps, scale 400, epsilon 4 delta 0
-- => backend
SELECT pg_catalog.sum(least(v0, %(p1)s::bigint)), pg_catalog.sum(CASE WHEN v1 IS NOT NULL THEN least(greatest(v1, %(p1)s::bigint * %(p4)s::bigint), %(p1)s::bigint * %(p5)s::bigint) END) FROM (SELECT r8."dp_unit" AS unit, pg_catalog.count(*) AS v0, pg_catalog.sum((pg_catalog.int4larger(pg_catalog.int4smaller(r9."i4", %(p3)s::integer), %(p2)s::integer))::integer) AS v1 FROM ((SELECT r8."dp_unit" AS c1, r8."uid" AS c2, r9."i4" AS c3, r9."uid" AS c4 FROM ((SELECT r8."dp_unit", r8."uid" FROM (SELECT * FROM (SELECT r8."uid", r8."t", r8."dp_unit", pg_catalog.row_number() OVER (PARTITION BY r8."dp_unit" ORDER BY pg_catalog.hashint8extended(pg_catalog.hash_record_extended(ROW(r8."uid", pg_catalog.hashtextextended(r8."t"::text, %(p7)s::bigint), r8."dp_unit"), %(p7)s::bigint), %(p7)s::bigint), r8."uid", r8."t", r8."dp_unit") AS "dp_place_of_unit" FROM (SELECT r7."c1" AS "uid", r7."c2" AS "t", r7."dp_unit" AS "dp_unit" FROM (SELECT r2."uid" AS "c1", r2."t" AS "c2", r2."dp_unit" AS "dp_unit" FROM (SELECT r1."uid" AS "uid", r1."t" AS "t", r1."uid" AS "dp_unit" FROM "w"."orders" AS r1) AS r2 UNION ALL SELECT r4."uid" AS "c1", r4."t" AS "c2", r4."dp_unit" AS "dp_unit" FROM (SELECT r3."uid" AS "uid", r3."t" AS "t", r3."uid" AS "dp_unit" FROM "w"."calls" AS r3) AS r4) AS r7) AS r8 WHERE r8."dp_unit" IS NOT NULL AND (r8."t" = %(p6)s::text)) AS r8 WHERE "dp_place_of_unit" <= %(p8)s::bigint) AS r8 WHERE r8."dp_unit" IS NOT NULL) AS r8 FULL JOIN (SELECT * FROM (SELECT r9."id", r9."uid", r9."i2", r9."i4", r9."i8", r9."n2", r9."n", r9."f4", r9."f8", r9."t", r9."c", r9."s", r9."b", r9."d", r9."ts", r9."tz", r9."free", r9."e", r9."j", r9."ta", r9."ia", r9."iv", r9."tod", pg_catalog.row_number() OVER (PARTITION BY r9."uid" ORDER BY pg_catalog.hashint4extended(r9."id"::integer, %(p7)s::bigint), r9."id") AS "dp_place_of_unit" FROM "w"."calls" AS r9 WHERE r9."uid" IS NOT NULL) AS r9 WHERE "dp_place_of_unit" <= %(p9)s::bigint) AS r9 ON (r8."uid" = r9."uid")) WHERE CASE WHEN r8."uid" IS NOT NULL AND r9."uid" IS NOT NULL THEN TRUE ELSE FALSE END LIMIT ALL) AS j1 CROSS JOIN LATERAL (SELECT j1.c1 AS "dp_unit", j1.c2 AS "uid") AS r8 CROSS JOIN LATERAL (SELECT j1.c3 AS "i4", j1.c4 AS "uid") AS r9) GROUP BY r8."dp_unit") u
--   p1 = 16
--   p2 = 0
--   p3 = 100
--   p4 = 0
--   p5 = 100
--   p6 = x
--   p7 = random
--   p8 = 8
--   p9 = 2
-- => loss
-- epsilon 8 delta 0
-- => residual
SELECT dp_b1.a1 AS "count", dp_b1.a2 AS "sum" FROM pg_catalog.jsonb_to_recordset(($1)::pg_catalog.jsonb->'b1') AS dp_b1(a1 bigint, a2 bigint)

-- case: along a foreign key, within one unit
SELECT o.t, count(*), sum(c.i4) FROM calls c JOIN orders o ON c.i2 = o.id GROUP BY o.t
-- => plan
-- w.calls, w.orders, unit r1."uid": rows 2, groups 2, per group None; keys expression of 4; cells 0
--   count(*): sensitivity 2, scale 1/2, epsilon 4 delta 0
--   sum: clamp 0 .. 100, grid 1, sensitivity 200 steps, scale 50, epsilon 4 delta 0
-- => backend
SELECT k1, pg_catalog.sum(CASE WHEN total0 <= %(p1)s::bigint THEN v0 ELSE pg_catalog.div(v0::numeric * %(p1)s::bigint, total0)::bigint END), pg_catalog.sum(CASE WHEN v1 IS NOT NULL THEN CASE WHEN total2 <= %(p1)s::bigint THEN v1::bigint ELSE (least(greatest(v1, CASE WHEN total2 <= %(p1)s::bigint THEN v2 ELSE pg_catalog.div(v2::numeric * %(p1)s::bigint, total2)::bigint END * %(p4)s::bigint), CASE WHEN total2 <= %(p1)s::bigint THEN v2 ELSE pg_catalog.div(v2::numeric * %(p1)s::bigint, total2)::bigint END * %(p5)s::bigint))::bigint END END) FROM (SELECT *, (pg_catalog.sum((v0)::float8) OVER (PARTITION BY unit))::bigint AS total0, (pg_catalog.sum((v2)::float8) OVER (PARTITION BY unit))::bigint AS total2 FROM (SELECT * FROM (SELECT *, pg_catalog.row_number() OVER (PARTITION BY unit ORDER BY pg_catalog.hashint8extended(pg_catalog.hash_record_extended(ROW(g."unit", k1), %(p9)s::bigint), %(p9)s::bigint), k1) AS rank FROM (SELECT r1."uid" AS unit, (pg_catalog.left(r2."t"::text, %(p6)s::integer))::text AS k1, pg_catalog.count(*) AS v0, pg_catalog.sum((pg_catalog.int4larger(pg_catalog.int4smaller(r1."i4", %(p3)s::integer), %(p2)s::integer))::integer) AS v1, pg_catalog.count(r1."i4") AS v2 FROM ((SELECT r1."i2" AS c1, r1."i4" AS c2, r1."uid" AS c3, r2."id" AS c4, r2."t" AS c5, r2."uid" AS c6 FROM ((SELECT r1."i2", r1."i4", r1."uid" FROM "w"."calls" AS r1 WHERE r1."uid" IS NOT NULL) AS r1 FULL JOIN (SELECT r2."id", r2."t", r2."uid" FROM "w"."orders" AS r2 WHERE ((pg_catalog.left(r2."t"::text, %(p6)s::integer))::text = ANY(%(p7)s::text[]) OR pg_catalog.left(r2."t"::text, %(p6)s::integer) IS NULL)) AS r2 ON (r1."i2" = r2."id") AND (r1."uid" = r2."uid") AND (pg_catalog.hash_numeric_extended((r1."i2")::numeric, %(p8)s::bigint) = pg_catalog.hash_numeric_extended((r2."id")::numeric, %(p8)s::bigint)) AND (pg_catalog.hashint4extended((r1."uid")::integer, %(p8)s::bigint) = pg_catalog.hashint4extended((r2."uid")::integer, %(p8)s::bigint))) WHERE CASE WHEN r1."i2" IS NOT NULL AND r2."id" IS NOT NULL THEN TRUE ELSE FALSE END LIMIT ALL) AS j1 CROSS JOIN LATERAL (SELECT j1.c1 AS "i2", j1.c2 AS "i4", j1.c3 AS "uid") AS r1 CROSS JOIN LATERAL (SELECT j1.c4 AS "id", j1.c5 AS "t", j1.c6 AS "uid") AS r2) GROUP BY r1."uid", 2) g) c WHERE rank <= %(p1)s::bigint) g) u GROUP BY 1
--   p1 = 2
--   p2 = 0
--   p3 = 100
--   p4 = 0
--   p5 = 100
--   p6 = 2
--   p7 = ['x', 'y', 'z']
--   p8 = random
--   p9 = random
-- => loss
-- epsilon 8 delta 0
-- => residual
SELECT dp_b1.k1 AS "t", dp_b1.a1 AS "count", dp_b1.a2 AS "sum" FROM pg_catalog.jsonb_to_recordset(($1)::pg_catalog.jsonb->'b1') AS dp_b1(k1 pg_catalog.text, a1 bigint, a2 bigint)

-- case: left join along a foreign key
SELECT count(*), count(o.i4) FROM calls c LEFT JOIN orders o ON o.id = c.i2 AND o.b
-- => plan
-- w.calls, w.orders, unit r1."uid": rows 2, groups None, per group None; keys none; cells 0
--   count(*): sensitivity 2, scale 1/2, epsilon 4 delta 0
--   count: sensitivity 2, scale 1/2, epsilon 4 delta 0
-- => backend
SELECT pg_catalog.sum(least(v0, %(p1)s::bigint)), pg_catalog.sum(least(v1, %(p1)s::bigint)) FROM (SELECT r1."uid" AS unit, pg_catalog.count(*) AS v0, pg_catalog.count(r2."i4") AS v1 FROM ((SELECT r1."i2" AS c1, r1."uid" AS c2, r2."b" AS c3, r2."i4" AS c4, r2."id" AS c5, r2."uid" AS c6 FROM (((SELECT r1."i2", r1."uid" FROM "w"."calls" AS r1 WHERE r1."uid" IS NOT NULL) AS r1 CROSS JOIN (SELECT TRUE AS here) AS m1) FULL JOIN (SELECT r2."b", r2."i4", r2."id", r2."uid" FROM "w"."orders" AS r2 WHERE r2."b") AS r2 ON (r1."i2" = r2."id") AND (r1."uid" = r2."uid") AND (pg_catalog.hash_numeric_extended((r1."i2")::numeric, %(p2)s::bigint) = pg_catalog.hash_numeric_extended((r2."id")::numeric, %(p2)s::bigint)) AND (pg_catalog.hashint4extended((r1."uid")::integer, %(p2)s::bigint) = pg_catalog.hashint4extended((r2."uid")::integer, %(p2)s::bigint))) WHERE CASE WHEN m1.here THEN TRUE ELSE FALSE END LIMIT ALL) AS j2 CROSS JOIN LATERAL (SELECT j2.c1 AS "i2", j2.c2 AS "uid") AS r1 CROSS JOIN LATERAL (SELECT j2.c3 AS "b", j2.c4 AS "i4", j2.c5 AS "id", j2.c6 AS "uid") AS r2) GROUP BY r1."uid") u
--   p1 = 2
--   p2 = random
-- => loss
-- epsilon 8 delta 0
-- => residual
SELECT dp_b1.a1 AS "count", dp_b1.a2 AS "count" FROM pg_catalog.jsonb_to_recordset(($1)::pg_catalog.jsonb->'b1') AS dp_b1(a1 bigint, a2 bigint)

-- case: left join to what refers
SELECT count(*), count(c.i4) FROM orders o LEFT JOIN calls c ON c.i2 = o.id
-- => plan
-- w.orders, w.calls, unit r1."uid": rows 7, groups None, per group None; keys none; cells 0
--   count(*): sensitivity 7, scale 7/4, epsilon 4 delta 0
--   count: sensitivity 7, scale 7/4, epsilon 4 delta 0
-- => backend
SELECT pg_catalog.sum(least(v0, %(p1)s::bigint)), pg_catalog.sum(least(v1, %(p1)s::bigint)) FROM (SELECT r1."uid" AS unit, pg_catalog.count(*) AS v0, pg_catalog.count(r2."i4") AS v1 FROM ((SELECT r1."id" AS c1, r1."uid" AS c2, r2."i2" AS c3, r2."i4" AS c4, r2."uid" AS c5 FROM (((SELECT r1."id", r1."uid" FROM "w"."orders" AS r1 WHERE r1."uid" IS NOT NULL) AS r1 CROSS JOIN (SELECT TRUE AS here) AS m1) FULL JOIN "w"."calls" AS r2 ON (r1."id" = r2."i2") AND (r1."uid" = r2."uid") AND (pg_catalog.hash_numeric_extended((r1."id")::numeric, %(p2)s::bigint) = pg_catalog.hash_numeric_extended((r2."i2")::numeric, %(p2)s::bigint)) AND (pg_catalog.hashint4extended((r1."uid")::integer, %(p2)s::bigint) = pg_catalog.hashint4extended((r2."uid")::integer, %(p2)s::bigint))) WHERE CASE WHEN m1.here THEN TRUE ELSE FALSE END LIMIT ALL) AS j2 CROSS JOIN LATERAL (SELECT j2.c1 AS "id", j2.c2 AS "uid") AS r1 CROSS JOIN LATERAL (SELECT j2.c3 AS "i2", j2.c4 AS "i4", j2.c5 AS "uid") AS r2) GROUP BY r1."uid") u
--   p1 = 7
--   p2 = random
-- => loss
-- epsilon 8 delta 0
-- => residual
SELECT dp_b1.a1 AS "count", dp_b1.a2 AS "count" FROM pg_catalog.jsonb_to_recordset(($1)::pg_catalog.jsonb->'b1') AS dp_b1(a1 bigint, a2 bigint)

-- case: along a foreign key between subqueries, with a public table
SELECT z.zone, count(*) FROM (SELECT i2 AS k, uid, t FROM calls WHERE b) q JOIN (SELECT id, i2 FROM orders) o ON q.k = o.id JOIN places z ON z.code = q.t GROUP BY z.zone
-- => plan
-- w.calls, w.orders, w.places, unit r2."dp_unit": rows 2, groups None, per group None; keys zone of 2; cells 0
--   count(*): sensitivity 2, scale 1/4, epsilon 8 delta 0
-- => backend
SELECT k1, pg_catalog.sum(CASE WHEN total0 <= %(p1)s::bigint THEN v0 ELSE pg_catalog.div(v0::numeric * %(p1)s::bigint, total0)::bigint END) FROM (SELECT *, (pg_catalog.sum((v0)::float8) OVER (PARTITION BY unit))::bigint AS total0 FROM (SELECT r2."dp_unit" AS unit, (r5."zone")::text AS k1, pg_catalog.count(*) AS v0 FROM ((SELECT r2."dp_unit" AS c1, r2."k" AS c2, r2."t" AS c3, r4."dp_unit" AS c4, r4."id" AS c5, r5."code" AS c6, r5."zone" AS c7 FROM (((SELECT r2."dp_unit" AS c1, r2."k" AS c2, r2."t" AS c3, r4."dp_unit" AS c4, r4."id" AS c5 FROM ((SELECT r2."dp_unit", r2."k", r2."t" FROM (SELECT r1."i2" AS "k", r1."uid" AS "uid", r1."t" AS "t", r1."uid" AS "dp_unit" FROM "w"."calls" AS r1 WHERE r1."b") AS r2 WHERE r2."dp_unit" IS NOT NULL) AS r2 FULL JOIN (SELECT r3."id" AS "id", r3."i2" AS "i2", r3."uid" AS "dp_unit" FROM "w"."orders" AS r3) AS r4 ON (r2."k" = r4."id") AND (r2."dp_unit" = r4."dp_unit") AND (pg_catalog.hash_numeric_extended((r2."k")::numeric, %(p3)s::bigint) = pg_catalog.hash_numeric_extended((r4."id")::numeric, %(p3)s::bigint)) AND (pg_catalog.hashint4extended((r2."dp_unit")::integer, %(p3)s::bigint) = pg_catalog.hashint4extended((r4."dp_unit")::integer, %(p3)s::bigint))) WHERE CASE WHEN r2."k" IS NOT NULL AND r4."id" IS NOT NULL THEN TRUE ELSE FALSE END LIMIT ALL) AS j1 CROSS JOIN LATERAL (SELECT j1.c1 AS "dp_unit", j1.c2 AS "k", j1.c3 AS "t") AS r2 CROSS JOIN LATERAL (SELECT j1.c4 AS "dp_unit", j1.c5 AS "id") AS r4) FULL JOIN (SELECT r5."code", r5."zone" FROM "w"."places" AS r5 WHERE (r5."zone" = ANY(%(p2)s::text[]::text[]))) AS r5 ON (CASE WHEN pg_catalog.octet_length(r2."t") <= %(p4)s::integer THEN r2."t" END = CASE WHEN pg_catalog.octet_length(r5."code") <= %(p4)s::integer THEN r5."code" END)) WHERE CASE WHEN r2."t" IS NOT NULL AND r5."code" IS NOT NULL THEN TRUE ELSE FALSE END LIMIT ALL) AS j2 CROSS JOIN LATERAL (SELECT j2.c1 AS "dp_unit", j2.c2 AS "k", j2.c3 AS "t") AS r2 CROSS JOIN LATERAL (SELECT j2.c4 AS "dp_unit", j2.c5 AS "id") AS r4 CROSS JOIN LATERAL (SELECT j2.c6 AS "code", j2.c7 AS "zone") AS r5) GROUP BY r2."dp_unit", 2) g) u GROUP BY 1
--   p1 = 2
--   p2 = ['north', 'south']
--   p3 = random
--   p4 = 4096
-- => loss
-- epsilon 8 delta 0
-- => residual
SELECT dp_b1.k1 AS "zone", dp_b1.a1 AS "count" FROM pg_catalog.jsonb_to_recordset(($1)::pg_catalog.jsonb->'b1') AS dp_b1(k1 pg_catalog.text, a1 bigint)

-- case: along a foreign key to rows that are repeated, of a unit with one row
SELECT count(*) FROM (SELECT uid, max(i2) AS i2 FROM calls GROUP BY uid) c JOIN visits v ON v.uid = c.uid JOIN orders o ON o.uid = c.uid
-- => plan
-- w.calls, w.visits, w.orders, unit r3."dp_unit": rows 30, groups None, per group None; keys none; cells 0
--   count(*): sensitivity 30, scale 15/4, epsilon 8 delta 0
-- => backend
SELECT pg_catalog.sum(least(v0, %(p1)s::bigint)) FROM (SELECT r3."dp_unit" AS unit, pg_catalog.count(*) AS v0 FROM ((SELECT r3."dp_unit" AS c1, r3."uid" AS c2, r4."uid" AS c3, r5."uid" AS c4 FROM (((SELECT r3."dp_unit" AS c1, r3."uid" AS c2, r4."uid" AS c3 FROM ((SELECT r3."dp_unit", r3."uid" FROM (SELECT r2."unit" AS "uid", r2."a1" AS "i2", r2."unit" AS "dp_unit" FROM (SELECT r1."uid" AS unit, pg_catalog.trim_scale(pg_catalog.max((pg_catalog.int4larger(pg_catalog.int4smaller(r1."i2", %(p4)s::integer), %(p3)s::integer))::numeric)) AS a1 FROM "w"."calls" AS r1 WHERE r1."uid" IS NOT NULL GROUP BY r1."uid") AS r2) AS r3 WHERE r3."dp_unit" IS NOT NULL) AS r3 FULL JOIN (SELECT * FROM (SELECT r4."id", r4."uid", r4."i2", r4."i4", r4."i8", r4."n2", r4."n", r4."f4", r4."f8", r4."t", r4."c", r4."s", r4."b", r4."d", r4."ts", r4."tz", r4."free", r4."e", r4."j", r4."ta", r4."ia", r4."iv", r4."tod", pg_catalog.row_number() OVER (PARTITION BY r4."uid" ORDER BY pg_catalog.hashint4extended(r4."id"::integer, %(p5)s::bigint), r4."id") AS "dp_place_of_unit" FROM "w"."visits" AS r4 WHERE r4."uid" IS NOT NULL) AS r4 WHERE "dp_place_of_unit" <= %(p6)s::bigint) AS r4 ON (r3."uid" = r4."uid")) WHERE CASE WHEN r3."uid" IS NOT NULL AND r4."uid" IS NOT NULL THEN TRUE ELSE FALSE END LIMIT ALL) AS j1 CROSS JOIN LATERAL (SELECT j1.c1 AS "dp_unit", j1.c2 AS "uid") AS r3 CROSS JOIN LATERAL (SELECT j1.c3 AS "uid") AS r4) FULL JOIN (SELECT * FROM (SELECT r5."id", r5."uid", r5."i2", r5."i4", r5."i8", r5."n2", r5."n", r5."f4", r5."f8", r5."t", r5."c", r5."s", r5."b", r5."d", r5."ts", r5."tz", r5."free", r5."e", r5."j", r5."ta", r5."ia", r5."iv", r5."tod", pg_catalog.row_number() OVER (PARTITION BY r5."uid" ORDER BY pg_catalog.hashint4extended(r5."id"::integer, %(p5)s::bigint), r5."id") AS "dp_place_of_unit" FROM "w"."orders" AS r5 WHERE r5."uid" IS NOT NULL) AS r5 WHERE "dp_place_of_unit" <= %(p7)s::bigint) AS r5 ON (r3."uid" = r5."uid")) WHERE CASE WHEN r3."uid" IS NOT NULL AND r5."uid" IS NOT NULL THEN TRUE ELSE FALSE END LIMIT ALL) AS j2 CROSS JOIN LATERAL (SELECT j2.c1 AS "dp_unit", j2.c2 AS "uid") AS r3 CROSS JOIN LATERAL (SELECT j2.c3 AS "uid") AS r4 CROSS JOIN LATERAL (SELECT j2.c4 AS "uid") AS r5) GROUP BY r3."dp_unit") u
--   p1 = 30
--   p2 = 2
--   p3 = -5
--   p4 = 10
--   p5 = random
--   p6 = 5
--   p7 = 6
-- => loss
-- epsilon 8 delta 0
-- => residual
SELECT dp_b1.a1 AS "count" FROM pg_catalog.jsonb_to_recordset(($1)::pg_catalog.jsonb->'b1') AS dp_b1(a1 bigint)

-- case: sums over a public table
SELECT sum(r.fee), avg(r.fee * o.i4), max(r.fee) FROM orders o JOIN rates r ON o.i4 = r.k
-- => plan
-- w.orders, w.rates, unit r1."uid": rows 6, groups None, per group None; keys none; cells 195
--   sum: clamp 0 .. 50, grid 0.01, sensitivity 30000 steps, scale 11250, epsilon 8/3 delta 0
--   avg: 0 .. 500000 steps of 0.01, fill 250000, 195 partitions, gate 1582 units, scale 15/2, epsilon 8/3 delta 1/3000, each epsilon 38/15 delta 0.0003333
--   max: 0 .. 5000 steps of 0.01, fill 0, 127 partitions, gate 1038 units, scale 15/2, epsilon 8/3 delta 1/3000, each epsilon 38/15 delta 0.0003333
-- => backend
SELECT cell, pg_catalog.sum(CASE WHEN v0 IS NOT NULL THEN least(greatest(v0, %(p4)s::bigint * %(p5)s::bigint), %(p4)s::bigint * %(p6)s::bigint) END), pg_catalog.sum(v1), pg_catalog.sum(v2), pg_catalog.count(v2), pg_catalog.max(v3), pg_catalog.count(v3) FROM (SELECT x3 AS unit, pg_catalog.mod(((pg_catalog.hashint4extended(x3::integer, %(p9)s::bigint)) & %(p10)s::bigint)::integer, %(p11)s::integer) AS cell, pg_catalog.sum(x1) AS v0, pg_catalog.count((pg_catalog.int4larger(pg_catalog.int4smaller(x2, %(p7)s::integer), %(p3)s::integer))::integer + x1) AS v1, pg_catalog.sum(pg_catalog.int8larger(pg_catalog.int8smaller(((x1)::bigint * ((pg_catalog.int4larger(pg_catalog.int4smaller(x2, %(p7)s::integer), %(p3)s::integer))::integer)::bigint), %(p8)s::bigint), %(p5)s::bigint)) AS v2, pg_catalog.max(x1) AS v3 FROM (SELECT pg_catalog.int4larger((pg_catalog.numeric_smaller(r2."fee" * %(p1)s::numeric, %(p2)s::numeric))::integer, %(p3)s::integer) AS x1, r1."i4" AS x2, r1."uid" AS x3 FROM ((SELECT r1."i4" AS c1, r1."uid" AS c2, r2."fee" AS c3, r2."k" AS c4 FROM ((SELECT r1."i4", r1."uid" FROM "w"."orders" AS r1 WHERE r1."uid" IS NOT NULL) AS r1 FULL JOIN "w"."rates" AS r2 ON (r1."i4" = r2."k")) WHERE CASE WHEN r1."i4" IS NOT NULL AND r2."k" IS NOT NULL THEN TRUE ELSE FALSE END LIMIT ALL) AS j1 CROSS JOIN LATERAL (SELECT j1.c1 AS "i4", j1.c2 AS "uid") AS r1 CROSS JOIN LATERAL (SELECT j1.c3 AS "fee", j1.c4 AS "k") AS r2) LIMIT ALL) r GROUP BY x3) u GROUP BY 1
--   p1 = 100
--   p2 = 5000
--   p3 = 0
--   p4 = 6
--   p5 = 0
--   p6 = 5000
--   p7 = 100
--   p8 = 500000
--   p9 = random
--   p10 = 2147483647
--   p11 = 195
-- => loss
-- epsilon 8 delta 1/1500
-- => residual
SELECT dp_b1.a1 AS "sum", dp_b1.a2 AS "avg", dp_b1.a3 AS "max" FROM pg_catalog.jsonb_to_recordset(($1)::pg_catalog.jsonb->'b1') AS dp_b1(a1 numeric, a2 numeric, a3 numeric)

-- case: groups of sums of products with a public table
SELECT t, sum(n2 * fee) FILTER (WHERE r.fee * 2 > 10) FROM visits v LEFT JOIN rates r ON v.i4 = r.k GROUP BY t
-- => plan
-- w.visits, w.rates, unit r1."uid": rows 5, groups None, per group None; keys t of 4; cells 0
--   sum: clamp 0 .. 8750, grid 0.0001, sensitivity 437500000 steps, scale 54687500, epsilon 8 delta 0
-- => backend
SELECT k1, pg_catalog.sum(CASE WHEN v0 IS NOT NULL THEN CASE WHEN total1 <= %(p11)s::bigint THEN v0::bigint ELSE (least(greatest(v0, CASE WHEN total1 <= %(p11)s::bigint THEN v1 ELSE pg_catalog.div(v1::numeric * %(p11)s::bigint, total1)::bigint END * %(p9)s::bigint), CASE WHEN total1 <= %(p11)s::bigint THEN v1 ELSE pg_catalog.div(v1::numeric * %(p11)s::bigint, total1)::bigint END * %(p10)s::bigint))::bigint END END) FROM (SELECT *, (pg_catalog.sum((v1)::float8) OVER (PARTITION BY unit))::bigint AS total1 FROM (SELECT x5 AS unit, x4 AS k1, pg_catalog.sum(pg_catalog.int8larger(pg_catalog.int8smaller(((x3)::bigint * (x2)::bigint), %(p10)s::bigint), %(p9)s::bigint)) FILTER (WHERE x1) AS v0, pg_catalog.count(x2 + x3) FILTER (WHERE x1) AS v1 FROM (SELECT (((pg_catalog.numeric_larger(pg_catalog.numeric_smaller(r2."fee", %(p2)s::numeric), %(p1)s::numeric))::numeric * %(p3)s::numeric) > %(p4)s::numeric) AS x1, pg_catalog.int4larger((pg_catalog.numeric_smaller(r2."fee" * %(p5)s::numeric, %(p6)s::numeric))::integer, %(p7)s::integer) AS x2, pg_catalog.int4larger((pg_catalog.numeric_smaller(r1."n2" * %(p5)s::numeric, %(p8)s::numeric))::integer, %(p7)s::integer) AS x3, (r1."t")::text AS x4, r1."uid" AS x5 FROM ((SELECT r1."i4" AS c1, r1."n2" AS c2, r1."t" AS c3, r1."uid" AS c4, r2."fee" AS c5, r2."k" AS c6 FROM (((SELECT r1."i4", r1."n2", r1."t", r1."uid" FROM "w"."visits" AS r1 WHERE r1."uid" IS NOT NULL AND (r1."t" = ANY(%(p12)s::text[]::text[]) OR r1."t" IS NULL)) AS r1 CROSS JOIN (SELECT TRUE AS here) AS m1) FULL JOIN "w"."rates" AS r2 ON (r1."i4" = r2."k")) WHERE CASE WHEN m1.here THEN TRUE ELSE FALSE END LIMIT ALL) AS j2 CROSS JOIN LATERAL (SELECT j2.c1 AS "i4", j2.c2 AS "n2", j2.c3 AS "t", j2.c4 AS "uid") AS r1 CROSS JOIN LATERAL (SELECT j2.c5 AS "fee", j2.c6 AS "k") AS r2) LIMIT ALL) r GROUP BY x5, 2) g) u GROUP BY 1
--   p1 = 0
--   p2 = 50
--   p3 = 2
--   p4 = 10
--   p5 = 100
--   p6 = 5000
--   p7 = 0
--   p8 = 17500
--   p9 = 0
--   p10 = 87500000
--   p11 = 5
--   p12 = ['x', 'y', 'z']
-- => loss
-- epsilon 8 delta 0
-- => residual
SELECT dp_b1.k1 AS "t", dp_b1.a1 AS "sum" FROM pg_catalog.jsonb_to_recordset(($1)::pg_catalog.jsonb->'b1') AS dp_b1(k1 pg_catalog.text, a1 numeric)

-- case: sums over a public table per unit
SELECT sum(s) FROM (SELECT uid, sum(fee) AS s FROM visits JOIN (SELECT k, fee + 1 AS fee FROM rates) r ON i4 = k GROUP BY uid) q
-- => plan
-- w.visits, w.rates, unit 1 row(s), partitions by hash of r5."dp_unit", r5."dp_unit" not null; keys none; cells 0
--   sum: clamp 0 .. 255, grid 0.01, sensitivity 25500 steps, scale 6375/2, epsilon 8 delta 0
-- => backend
SELECT pg_catalog.sum((pg_catalog.numeric_larger(pg_catalog.numeric_smaller(r5."s", %(p3)s::numeric), %(p2)s::numeric) * %(p1)s::numeric)::integer) FROM (SELECT r4."unit" AS "uid", r4."a1" AS "s", r4."unit" AS "dp_unit" FROM (SELECT r1."uid" AS unit, pg_catalog.sum((pg_catalog.numeric_larger(pg_catalog.numeric_smaller(r3."fee", %(p6)s::numeric), %(p5)s::numeric))::numeric) AS a1 FROM ((SELECT r1."i4" AS c1, r1."uid" AS c2, r3."fee" AS c3, r3."k" AS c4 FROM ((SELECT r1."i4", r1."uid" FROM "w"."visits" AS r1 WHERE r1."uid" IS NOT NULL) AS r1 FULL JOIN (SELECT r2."k" AS "k", ((pg_catalog.numeric_larger(pg_catalog.numeric_smaller(r2."fee", %(p7)s::numeric), %(p2)s::numeric))::numeric + %(p5)s::numeric) AS "fee" FROM "w"."rates" AS r2) AS r3 ON (r1."i4" = r3."k")) WHERE CASE WHEN r1."i4" IS NOT NULL AND r3."k" IS NOT NULL THEN TRUE ELSE FALSE END LIMIT ALL) AS j1 CROSS JOIN LATERAL (SELECT j1.c1 AS "i4", j1.c2 AS "uid") AS r1 CROSS JOIN LATERAL (SELECT j1.c3 AS "fee", j1.c4 AS "k") AS r3) GROUP BY r1."uid") AS r4) AS r5 WHERE r5."dp_unit" IS NOT NULL
--   p1 = 100
--   p2 = 0
--   p3 = 255
--   p4 = 5
--   p5 = 1
--   p6 = 51
--   p7 = 50
-- => loss
-- epsilon 8 delta 0
-- => residual
SELECT dp_b1.a1 AS "sum" FROM pg_catalog.jsonb_to_recordset(($1)::pg_catalog.jsonb->'b1') AS dp_b1(a1 numeric)
