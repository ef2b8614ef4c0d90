-- case: public rows on the left
SELECT z.zone, count(p.i4), sum(p.n2), sum(CASE WHEN p.b THEN 1 ELSE 0 END) FROM places z LEFT JOIN people p ON p.t = z.code GROUP BY z.zone
-- => plan
-- w.places, w.people, unit 1 row(s), partitions by hash of r2."id"; keys zone of 2; cells 0
--   count: sensitivity 1, scale 3/8, epsilon 8/3 delta 0
--   sum: clamp 0 .. 175, grid 0.01, sensitivity 17500 steps, scale 13125/2, epsilon 8/3 delta 0
--   sum: clamp 0 .. 1, grid 1, sensitivity 1 steps, scale 3/8, epsilon 8/3 delta 0
-- => backend
SELECT * FROM (SELECT x4 AS k1, pg_catalog.count(x1), pg_catalog.sum(x2), pg_catalog.sum(x3) FROM (SELECT r2."i4" AS x1, pg_catalog.int4larger((pg_catalog.numeric_smaller(r2."n2" * %(p1)s::numeric, %(p2)s::numeric))::integer, %(p3)s::integer) AS x2, pg_catalog.round(pg_catalog.numeric_larger(pg_catalog.numeric_smaller(CASE WHEN r2."b" THEN %(p4)s::numeric ELSE %(p5)s::numeric END, %(p4)s::numeric), %(p5)s::numeric))::bigint AS x3, (CASE WHEN pg_catalog.octet_length((r1."zone")::text) <= 1024 THEN (r1."zone")::text ELSE pg_catalog.left((r1."zone")::text, 1024) END)::text AS x4 FROM ((SELECT r1."code" AS c1, r1."zone" AS c2, r2."b" AS c3, r2."i4" AS c4, r2."id" AS c5, r2."n2" AS c6, r2."t" AS c7 FROM ("w"."places" AS r1 FULL JOIN "w"."people" AS r2 ON (CASE WHEN pg_catalog.octet_length(r1."code") <= %(p6)s::integer THEN r1."code" END = CASE WHEN pg_catalog.octet_length(r2."t") <= %(p6)s::integer THEN r2."t" END)) WHERE CASE WHEN r1."code" IS NOT NULL AND r2."t" IS NOT NULL THEN TRUE ELSE FALSE END LIMIT ALL) AS j1 CROSS JOIN LATERAL (SELECT j1.c1 AS "code", j1.c2 AS "zone") AS r1 CROSS JOIN LATERAL (SELECT j1.c3 AS "b", j1.c4 AS "i4", j1.c5 AS "id", j1.c6 AS "n2", j1.c7 AS "t") AS r2) LIMIT ALL) r GROUP BY 1 LIMIT ALL) g WHERE (k1 = ANY(%(p7)s::text[]))
--   p1 = 100
--   p2 = 17500
--   p3 = 0
--   p4 = 1
--   p5 = 0
--   p6 = 4096
--   p7 = ['north', 'south']
-- => loss
-- epsilon 8 delta 0
-- => residual
SELECT dp_b1.k1 AS "zone", dp_b1.a1 AS "count", dp_b1.a2 AS "sum", dp_b1.a3 AS "sum" FROM pg_catalog.jsonb_to_recordset(($1)::pg_catalog.jsonb->'b1') AS dp_b1(k1 pg_catalog.text, a1 bigint, a2 numeric, a3 bigint)

-- case: a condition that no row without partner meets
SELECT p.b, count(*) FROM places z LEFT JOIN people p ON p.t = z.code WHERE p.i4 > 5 GROUP BY p.b
-- => plan
-- w.places, w.people, unit 1 row(s), partitions by hash of r2."id"; keys b of 2; cells 0
--   count(*): sensitivity 1, scale 1/8, epsilon 8 delta 0
-- => backend
SELECT * FROM (SELECT (r2."b")::text AS k1, pg_catalog.count(*) FROM ((SELECT r1."code" AS c1, r2."b" AS c2, r2."i4" AS c3, r2."id" AS c4, r2."t" AS c5 FROM ("w"."places" AS r1 FULL JOIN (SELECT r2."b", r2."i4", r2."id", r2."t" FROM "w"."people" AS r2 WHERE (r2."i4" > %(p1)s::bigint)) AS r2 ON (CASE WHEN pg_catalog.octet_length(r1."code") <= %(p2)s::integer THEN r1."code" END = CASE WHEN pg_catalog.octet_length(r2."t") <= %(p2)s::integer THEN r2."t" END)) WHERE CASE WHEN r1."code" IS NOT NULL AND r2."t" IS NOT NULL THEN TRUE ELSE FALSE END LIMIT ALL) AS j1 CROSS JOIN LATERAL (SELECT j1.c1 AS "code") AS r1 CROSS JOIN LATERAL (SELECT j1.c2 AS "b", j1.c3 AS "i4", j1.c4 AS "id", j1.c5 AS "t") AS r2) GROUP BY 1 LIMIT ALL) g WHERE (k1 = ANY(%(p3)s::text[]))
--   p1 = 5
--   p2 = 4096
--   p3 = ['true', 'false']
-- => loss
-- epsilon 8 delta 0
-- => residual
SELECT dp_b1.k1 AS "b", dp_b1.a1 AS "count" FROM pg_catalog.jsonb_to_recordset(($1)::pg_catalog.jsonb->'b1') AS dp_b1(k1 boolean, a1 bigint)

-- case: filters pass over rows without partner
SELECT count(*) FILTER (WHERE p.b), count(DISTINCT p.s) FROM people p RIGHT JOIN places z ON p.t = z.code AND p.i2 > 1
-- => plan
-- w.places, w.people, unit 1 row(s), partitions by hash of r2."id"; keys none; cells 0
--   count(*): sensitivity 1, scale 1/4, epsilon 4 delta 0
--   count(distinct): sensitivity 1, scale 1/4, epsilon 4 delta 0
-- => backend
SELECT pg_catalog.count(*) FILTER (WHERE r2."b"), pg_catalog.count(DISTINCT r2."s") FROM ((SELECT r1."code" AS c1, r2."b" AS c2, r2."i2" AS c3, r2."id" AS c4, r2."s" AS c5, r2."t" AS c6 FROM ("w"."places" AS r1 FULL JOIN (SELECT r2."b", r2."i2", r2."id", r2."s", r2."t" FROM "w"."people" AS r2 WHERE (r2."i2" > %(p1)s::bigint)) AS r2 ON (CASE WHEN pg_catalog.octet_length(r1."code") <= %(p2)s::integer THEN r1."code" END = CASE WHEN pg_catalog.octet_length(r2."t") <= %(p2)s::integer THEN r2."t" END)) WHERE CASE WHEN r1."code" IS NOT NULL AND r2."t" IS NOT NULL THEN TRUE ELSE FALSE END LIMIT ALL) AS j1 CROSS JOIN LATERAL (SELECT j1.c1 AS "code") AS r1 CROSS JOIN LATERAL (SELECT j1.c2 AS "b", j1.c3 AS "i2", j1.c4 AS "id", j1.c5 AS "s", j1.c6 AS "t") AS r2)
--   p1 = 1
--   p2 = 4096
-- => loss
-- epsilon 8 delta 0
-- => residual
SELECT dp_b1.a1 AS "count", dp_b1.a2 AS "count" FROM pg_catalog.jsonb_to_recordset(($1)::pg_catalog.jsonb->'b1') AS dp_b1(a1 bigint, a2 bigint)

-- case: full join with a public table
SELECT z.zone, count(p.i4), count(p.i4 + 1) FROM people p FULL JOIN places z ON p.t = z.code GROUP BY z.zone
-- => plan
-- w.people, w.places, unit 1 row(s), partitions by hash of r1."id"; keys zone of 3; cells 0
--   count: sensitivity 1, scale 1/4, epsilon 4 delta 0
--   count: sensitivity 1, scale 1/4, epsilon 4 delta 0
-- => backend
SELECT * FROM (SELECT (CASE WHEN pg_catalog.octet_length((r2."zone")::text) <= 1024 THEN (r2."zone")::text ELSE pg_catalog.left((r2."zone")::text, 1024) END)::text AS k1, pg_catalog.count(r1."i4"), pg_catalog.count(((pg_catalog.int4larger(pg_catalog.int4smaller(r1."i4", %(p2)s::integer), %(p1)s::integer))::numeric + %(p3)s::numeric)) FROM ((SELECT r1."i4" AS c1, r1."id" AS c2, r1."t" AS c3, r2."code" AS c4, r2."zone" AS c5 FROM (("w"."people" AS r1 CROSS JOIN (SELECT TRUE AS here) AS m1) FULL JOIN "w"."places" AS r2 ON (CASE WHEN pg_catalog.octet_length(r1."t") <= %(p4)s::integer THEN r1."t" END = CASE WHEN pg_catalog.octet_length(r2."code") <= %(p4)s::integer THEN r2."code" END)) WHERE CASE WHEN m1.here THEN TRUE ELSE FALSE END LIMIT ALL) AS j2 CROSS JOIN LATERAL (SELECT j2.c1 AS "i4", j2.c2 AS "id", j2.c3 AS "t") AS r1 CROSS JOIN LATERAL (SELECT j2.c4 AS "code", j2.c5 AS "zone") AS r2) GROUP BY 1 LIMIT ALL) g WHERE (k1 = ANY(%(p5)s::text[]) OR k1 IS NULL)
--   p1 = 0
--   p2 = 100
--   p3 = 1
--   p4 = 4096
--   p5 = ['north', 'south']
-- => loss
-- epsilon 8 delta 0
-- => residual
SELECT dp_b1.k1 AS "zone", dp_b1.a1 AS "count", dp_b1.a2 AS "count" FROM pg_catalog.jsonb_to_recordset(($1)::pg_catalog.jsonb->'b1') AS dp_b1(k1 pg_catalog.text, a1 bigint, a2 bigint)

-- case: full join from a public table
SELECT z.zone, avg(p.i4) FROM places z FULL OUTER JOIN people p ON p.t = z.code GROUP BY z.zone
-- => plan
-- w.people, w.places, unit 1 row(s), partitions by hash of r2."id"; keys zone of 3; cells 47
--   avg: 0 .. 10000 steps of 0.01, fill 5000, 47 partitions, gate 383 units, scale 5/2, epsilon 8 delta 1/1000, each epsilon 38/5 delta 0.001
-- => backend
SELECT x2, x3, pg_catalog.count(x1), pg_catalog.sum((pg_catalog.int4larger(pg_catalog.int4smaller(x1, %(p2)s::integer), %(p1)s::integer))::integer) FROM (SELECT r2."i4" AS x1, (r1."zone")::text AS x2, pg_catalog.mod(((pg_catalog.hashint4extended(r2."id"::integer, %(p5)s::bigint)) & %(p6)s::bigint)::integer, %(p7)s::integer) AS x3 FROM ((SELECT r1."code" AS c1, r1."zone" AS c2, r2."i4" AS c3, r2."id" AS c4, r2."t" AS c5 FROM (("w"."people" AS r2 CROSS JOIN (SELECT TRUE AS here) AS m1) FULL JOIN "w"."places" AS r1 ON (CASE WHEN pg_catalog.octet_length(r2."t") <= %(p4)s::integer THEN r2."t" END = CASE WHEN pg_catalog.octet_length(r1."code") <= %(p4)s::integer THEN r1."code" END)) WHERE CASE WHEN m1.here THEN (r1."zone" = ANY(%(p3)s::text[]::text[]) OR r1."zone" IS NULL) ELSE FALSE END LIMIT ALL) AS j2 CROSS JOIN LATERAL (SELECT j2.c1 AS "code", j2.c2 AS "zone") AS r1 CROSS JOIN LATERAL (SELECT j2.c3 AS "i4", j2.c4 AS "id", j2.c5 AS "t") AS r2) LIMIT ALL) r GROUP BY 1, 2
--   p1 = 0
--   p2 = 100
--   p3 = ['north', 'south']
--   p4 = 4096
--   p5 = random
--   p6 = 2147483647
--   p7 = 47
-- => loss
-- epsilon 8 delta 1/1000
-- => residual
SELECT dp_b1.k1 AS "zone", dp_b1.a1 AS "avg" FROM pg_catalog.jsonb_to_recordset(($1)::pg_catalog.jsonb->'b1') AS dp_b1(k1 pg_catalog.text, a1 numeric)

-- case: in a subquery
SELECT zone, sum(x) FROM (SELECT z.zone, p.i4 + 1 AS x, coalesce(p.i2, 0) AS y FROM places z LEFT JOIN people p ON p.t = z.code) q GROUP BY zone
-- => plan
-- w.places, w.people, unit 1 row(s), partitions by hash of r3."dp_key1"; keys zone of 2; cells 0
--   sum: clamp 1 .. 101, grid 1, sensitivity 101 steps, scale 101/8, epsilon 8 delta 0
-- => backend
SELECT * FROM (SELECT (CASE WHEN pg_catalog.octet_length((r3."zone")::text) <= 1024 THEN (r3."zone")::text ELSE pg_catalog.left((r3."zone")::text, 1024) END)::text AS k1, pg_catalog.sum((pg_catalog.numeric_larger(pg_catalog.numeric_smaller(r3."x", %(p2)s::numeric), %(p1)s::numeric))::integer) FROM (SELECT r1."zone" AS "zone", ((pg_catalog.int4larger(pg_catalog.int4smaller(r2."i4", %(p4)s::integer), %(p3)s::integer))::numeric + %(p1)s::numeric) AS "x", coalesce((pg_catalog.int4larger(pg_catalog.int4smaller(r2."i2", %(p6)s::integer), %(p5)s::integer))::numeric, %(p7)s::numeric) AS "y", r2."id" AS "dp_key1" FROM ((SELECT r1."code" AS c1, r1."zone" AS c2, r2."i2" AS c3, r2."i4" AS c4, r2."id" AS c5, r2."t" AS c6 FROM ("w"."places" AS r1 FULL JOIN "w"."people" AS r2 ON (CASE WHEN pg_catalog.octet_length(r1."code") <= %(p8)s::integer THEN r1."code" END = CASE WHEN pg_catalog.octet_length(r2."t") <= %(p8)s::integer THEN r2."t" END)) WHERE CASE WHEN r1."code" IS NOT NULL AND r2."t" IS NOT NULL THEN TRUE ELSE FALSE END LIMIT ALL) AS j1 CROSS JOIN LATERAL (SELECT j1.c1 AS "code", j1.c2 AS "zone") AS r1 CROSS JOIN LATERAL (SELECT j1.c3 AS "i2", j1.c4 AS "i4", j1.c5 AS "id", j1.c6 AS "t") AS r2)) AS r3 GROUP BY 1 LIMIT ALL) g WHERE (k1 = ANY(%(p9)s::text[]))
--   p1 = 1
--   p2 = 101
--   p3 = 0
--   p4 = 100
--   p5 = -5
--   p6 = 10
--   p7 = 0
--   p8 = 4096
--   p9 = ['north', 'south']
-- => loss
-- epsilon 8 delta 0
-- => residual
SELECT dp_b1.k1 AS "zone", dp_b1.a1 AS "sum" FROM pg_catalog.jsonb_to_recordset(($1)::pg_catalog.jsonb->'b1') AS dp_b1(k1 pg_catalog.text, a1 bigint)

-- case: further tables behind it
SELECT z.zone, count(v.i4) FROM places z LEFT JOIN orders o ON o.t = z.code LEFT JOIN visits v ON v.uid = o.uid GROUP BY z.zone
-- => plan
-- w.places, w.orders, w.visits, unit r2."uid": rows 30, groups None, per group 10; keys zone of 2; cells 0
--   count: sensitivity 20, scale 5/2, epsilon 8 delta 0
-- => backend
SELECT k1, pg_catalog.sum(least(v0, %(p2)s::bigint)) FROM (SELECT r2."uid" AS unit, (r1."zone")::text AS k1, pg_catalog.count(r3."i4") AS v0 FROM ((SELECT r1."code" AS c1, r1."zone" AS c2, r2."t" AS c3, r2."uid" AS c4, r3."i4" AS c5, r3."uid" AS c6 FROM ((((SELECT r1."code" AS c1, r1."zone" AS c2, r2."t" AS c3, r2."uid" AS c4 FROM ((SELECT r1."code", r1."zone" FROM "w"."places" AS r1 WHERE (r1."zone" = ANY(%(p3)s::text[]::text[]))) AS r1 FULL JOIN (SELECT r2."t", r2."uid" FROM (SELECT * FROM (SELECT r2."id", r2."uid", r2."i2", r2."i4", r2."i8", r2."n2", r2."n", r2."f4", r2."f8", r2."t", r2."c", r2."s", r2."b", r2."d", r2."ts", r2."tz", r2."free", r2."e", r2."j", r2."ta", r2."ia", r2."iv", r2."tod", pg_catalog.row_number() OVER (PARTITION BY r2."uid" ORDER BY pg_catalog.hashint4extended(r2."id"::integer, %(p4)s::bigint), r2."id") AS "dp_place_of_unit" FROM "w"."orders" AS r2 WHERE r2."uid" IS NOT NULL) AS r2 WHERE "dp_place_of_unit" <= %(p5)s::bigint) AS r2 WHERE r2."uid" IS NOT NULL) AS r2 ON (CASE WHEN pg_catalog.octet_length(r1."code") <= %(p6)s::integer THEN r1."code" END = CASE WHEN pg_catalog.octet_length(r2."t") <= %(p6)s::integer THEN r2."t" END)) WHERE CASE WHEN r1."code" IS NOT NULL AND r2."t" IS NOT NULL THEN TRUE ELSE FALSE END LIMIT ALL) AS j1 CROSS JOIN LATERAL (SELECT j1.c1 AS "code", j1.c2 AS "zone") AS r1 CROSS JOIN LATERAL (SELECT j1.c3 AS "t", j1.c4 AS "uid") AS r2) CROSS JOIN (SELECT TRUE AS here) AS m2) FULL JOIN (SELECT * FROM (SELECT r3."id", r3."uid", r3."i2", r3."i4", r3."i8", r3."n2", r3."n", r3."f4", r3."f8", r3."t", r3."c", r3."s", r3."b", r3."d", r3."ts", r3."tz", r3."free", r3."e", r3."j", r3."ta", r3."ia", r3."iv", r3."tod", pg_catalog.row_number() OVER (PARTITION BY r3."uid" ORDER BY pg_catalog.hashint4extended(r3."id"::integer, %(p4)s::bigint), r3."id") AS "dp_place_of_unit" FROM "w"."visits" AS r3 WHERE r3."uid" IS NOT NULL) AS r3 WHERE "dp_place_of_unit" <= %(p7)s::bigint) AS r3 ON (r2."uid" = r3."uid")) WHERE CASE WHEN m2.here THEN TRUE ELSE FALSE END LIMIT ALL) AS j3 CROSS JOIN LATERAL (SELECT j3.c1 AS "code", j3.c2 AS "zone") AS r1 CROSS JOIN LATERAL (SELECT j3.c3 AS "t", j3.c4 AS "uid") AS r2 CROSS JOIN LATERAL (SELECT j3.c5 AS "i4", j3.c6 AS "uid") AS r3) GROUP BY r2."uid", 2) u GROUP BY 1
--   p1 = 30
--   p2 = 10
--   p3 = ['north', 'south']
--   p4 = random
--   p5 = 6
--   p6 = 4096
--   p7 = 5
-- => loss
-- epsilon 8 delta 0
-- => residual
SELECT dp_b1.k1 AS "zone", dp_b1.a1 AS "count" FROM pg_catalog.jsonb_to_recordset(($1)::pg_catalog.jsonb->'b1') AS dp_b1(k1 pg_catalog.text, a1 bigint)
