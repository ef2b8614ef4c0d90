-- case: both sides are cut by keyed hash
-- policy: joins
SELECT count(*), sum(a.i4) FROM people a JOIN trips b ON a.t = b.t
-- => plan
-- w.people, w.trips, unit 22 row(s), partitions by hash of r1."t", at most 4 partitions; keys none; cells 0
--   count(*): sensitivity 22, scale 11/2, epsilon 4 delta 0
--   sum: clamp 0 .. 100, grid 1, sensitivity 2200 steps, scale 550, epsilon 4 delta 0
-- => backend
SELECT pg_catalog.count(*), pg_catalog.sum((pg_catalog.int4larger(pg_catalog.int4smaller(r1."i4", %(p2)s::integer), %(p1)s::integer))::integer) FROM ((SELECT r1."i4" AS c1, r1."t" AS c2, r2."t" AS c3 FROM ((SELECT * FROM (SELECT r1."id", r1."i2", r1."i4", r1."i8", r1."n2", r1."n", r1."f4", r1."f8", r1."t", r1."c", r1."s", r1."b", r1."d", r1."ts", r1."tz", r1."free", r1."e", r1."j", r1."ta", r1."ia", r1."iv", r1."tod", pg_catalog.row_number() OVER (PARTITION BY r1."t" ORDER BY pg_catalog.hashint4extended(r1."id"::integer, %(p4)s::bigint), r1."id") AS "dp_place" FROM "w"."people" AS r1 WHERE pg_catalog.octet_length(r1."t") <= %(p3)s::integer) AS r1 WHERE "dp_place" <= %(p5)s::bigint) AS r1 FULL JOIN (SELECT * FROM (SELECT r2."id", r2."leg", r2."i2", r2."i4", r2."i8", r2."n2", r2."n", r2."f4", r2."f8", r2."t", r2."c", r2."s", r2."b", r2."d", r2."ts", r2."tz", r2."free", r2."e", r2."j", r2."ta", r2."ia", r2."iv", r2."tod", pg_catalog.row_number() OVER (PARTITION BY r2."t" ORDER BY pg_catalog.hashint8extended(pg_catalog.hash_record_extended(ROW(r2."id", pg_catalog.hashtextextended(r2."leg"::text, %(p4)s::bigint)), %(p4)s::bigint), %(p4)s::bigint), r2."id", r2."leg") AS "dp_place" FROM "w"."trips" AS r2 WHERE pg_catalog.octet_length(r2."t") <= %(p3)s::integer) AS r2 WHERE "dp_place" <= %(p6)s::bigint) AS r2 ON (CASE WHEN pg_catalog.octet_length(r1."t") <= %(p3)s::integer THEN r1."t" END = CASE WHEN pg_catalog.octet_length(r2."t") <= %(p3)s::integer THEN r2."t" END) AND (pg_catalog.hashtextextended((CASE WHEN pg_catalog.octet_length(r1."t") <= %(p3)s::integer THEN r1."t" END)::text, %(p7)s::bigint) = pg_catalog.hashtextextended((CASE WHEN pg_catalog.octet_length(r2."t") <= %(p3)s::integer THEN r2."t" END)::text, %(p7)s::bigint))) WHERE CASE WHEN r1."t" IS NOT NULL AND r2."t" IS NOT NULL THEN TRUE ELSE FALSE END LIMIT ALL) AS j1 CROSS JOIN LATERAL (SELECT j1.c1 AS "i4", j1.c2 AS "t") AS r1 CROSS JOIN LATERAL (SELECT j1.c3 AS "t") AS r2)
--   p1 = 0
--   p2 = 100
--   p3 = 4096
--   p4 = random
--   p5 = 3
--   p6 = 2
--   p7 = random
-- => loss
-- epsilon 8 delta 0
-- => residual
SELECT dp_b1.a1 AS "count", dp_b1.a2 AS "sum" FROM pg_catalog.jsonb_to_recordset(($1)::pg_catalog.jsonb->'b1') AS dp_b1(a1 bigint, a2 bigint)

-- case: only rows that are alone with their key
-- policy: joins
SELECT count(*), sum(b.n2) FROM people a JOIN events b ON a.i4 = b.i4
-- => plan
-- w.people, w.events, unit 2 row(s), partitions by hash of r1."i4", at most 2 partitions; keys none; cells 0
--   count(*): sensitivity 2, scale 1/2, epsilon 4 delta 0
--   sum: clamp 0 .. 175, grid 0.01, sensitivity 35000 steps, scale 8750, epsilon 4 delta 0
-- => backend
SELECT pg_catalog.count(*), pg_catalog.floor(pg_catalog.sum(pg_catalog.numeric_larger(pg_catalog.numeric_smaller(r2."n2", %(p2)s::numeric), %(p1)s::numeric)) * %(p3)s::numeric) FROM ((SELECT r1."i4" AS c1, r2."i4" AS c2, r2."n2" AS c3 FROM ((SELECT * FROM (SELECT r1."id", r1."i2", r1."i4", r1."i8", r1."n2", r1."n", r1."f4", r1."f8", r1."t", r1."c", r1."s", r1."b", r1."d", r1."ts", r1."tz", r1."free", r1."e", r1."j", r1."ta", r1."ia", r1."iv", r1."tod", pg_catalog.count(*) OVER (PARTITION BY r1."i4") AS "dp_place" FROM "w"."people" AS r1 WHERE r1."i4" IS NOT NULL) AS r1 WHERE "dp_place" = 1) AS r1 FULL JOIN (SELECT * FROM (SELECT r2."i2", r2."i4", r2."i8", r2."n2", r2."n", r2."f4", r2."f8", r2."t", r2."c", r2."s", r2."b", r2."d", r2."ts", r2."tz", r2."free", r2."e", r2."j", r2."ta", r2."ia", r2."iv", r2."tod", pg_catalog.count(*) OVER (PARTITION BY r2."i4") AS "dp_place" FROM "w"."events" AS r2 WHERE r2."i4" IS NOT NULL) AS r2 WHERE "dp_place" = 1) AS r2 ON (r1."i4" = r2."i4") AND (pg_catalog.hashint4extended((r1."i4")::integer, %(p4)s::bigint) = pg_catalog.hashint4extended((r2."i4")::integer, %(p4)s::bigint))) WHERE CASE WHEN r1."i4" IS NOT NULL AND r2."i4" IS NOT NULL THEN TRUE ELSE FALSE END LIMIT ALL) AS j1 CROSS JOIN LATERAL (SELECT j1.c1 AS "i4") AS r1 CROSS JOIN LATERAL (SELECT j1.c2 AS "i4", j1.c3 AS "n2") AS r2)
--   p1 = 0
--   p2 = 175
--   p3 = 100
--   p4 = random
-- => loss
-- epsilon 8 delta 0
-- => residual
SELECT dp_b1.a1 AS "count", dp_b1.a2 AS "sum" FROM pg_catalog.jsonb_to_recordset(($1)::pg_catalog.jsonb->'b1') AS dp_b1(a1 bigint, a2 numeric)

-- case: one side alone, one side by keyed hash
-- policy: joins
SELECT count(DISTINCT a.s), count(b.i4) FROM notes a JOIN events b ON a.i2 = b.i2 WHERE a.b
-- => plan
-- w.notes, w.events, unit 10 row(s), partitions by hash of r1."i2", at most 5 partitions; keys none; cells 0
--   count(distinct): sensitivity 10, scale 5/2, epsilon 4 delta 0
--   count: sensitivity 10, scale 5/2, epsilon 4 delta 0
-- => backend
SELECT pg_catalog.count(DISTINCT r1."s"), pg_catalog.count(r2."i4") FROM ((SELECT r1."b" AS c1, r1."i2" AS c2, r1."s" AS c3, r2."i2" AS c4, r2."i4" AS c5 FROM ((SELECT r1."b", r1."i2", r1."s" FROM (SELECT * FROM (SELECT r1."id", r1."uid", r1."i2", r1."i4", r1."i8", r1."n2", r1."n", r1."f4", r1."f8", r1."t", r1."c", r1."s", r1."b", r1."d", r1."ts", r1."tz", r1."free", r1."e", r1."j", r1."ta", r1."ia", r1."iv", r1."tod", pg_catalog.row_number() OVER (PARTITION BY r1."i2" ORDER BY pg_catalog.hashint4extended(r1."id"::integer, %(p2)s::bigint), r1."id") AS "dp_place" FROM (SELECT * FROM (SELECT r1."id", r1."uid", r1."i2", r1."i4", r1."i8", r1."n2", r1."n", r1."f4", r1."f8", r1."t", r1."c", r1."s", r1."b", r1."d", r1."ts", r1."tz", r1."free", r1."e", r1."j", r1."ta", r1."ia", r1."iv", r1."tod", pg_catalog.row_number() OVER (PARTITION BY r1."uid" ORDER BY pg_catalog.hashint4extended(r1."id"::integer, %(p2)s::bigint), r1."id") AS "dp_place_of_unit" FROM "w"."notes" AS r1 WHERE pg_catalog.octet_length(r1."uid") <= %(p1)s::integer) AS r1 WHERE "dp_place_of_unit" <= %(p3)s::bigint) AS r1 WHERE r1."i2" IS NOT NULL) AS r1 WHERE "dp_place" <= %(p4)s::bigint) AS r1 WHERE r1."b") AS r1 FULL JOIN (SELECT * FROM (SELECT r2."i2", r2."i4", r2."i8", r2."n2", r2."n", r2."f4", r2."f8", r2."t", r2."c", r2."s", r2."b", r2."d", r2."ts", r2."tz", r2."free", r2."e", r2."j", r2."ta", r2."ia", r2."iv", r2."tod", pg_catalog.count(*) OVER (PARTITION BY r2."i2") AS "dp_place" FROM "w"."events" AS r2 WHERE r2."i2" IS NOT NULL) AS r2 WHERE "dp_place" = 1) AS r2 ON (r1."i2" = r2."i2") AND (pg_catalog.hashint4extended((r1."i2")::integer, %(p5)s::bigint) = pg_catalog.hashint4extended((r2."i2")::integer, %(p5)s::bigint))) WHERE CASE WHEN r1."i2" IS NOT NULL AND r2."i2" IS NOT NULL THEN TRUE ELSE FALSE END LIMIT ALL) AS j1 CROSS JOIN LATERAL (SELECT j1.c1 AS "b", j1.c2 AS "i2", j1.c3 AS "s") AS r1 CROSS JOIN LATERAL (SELECT j1.c4 AS "i2", j1.c5 AS "i4") AS r2)
--   p1 = 4096
--   p2 = random
--   p3 = 4
--   p4 = 2
--   p5 = random
-- => loss
-- epsilon 8 delta 0
-- => residual
SELECT dp_b1.a1 AS "count", dp_b1.a2 AS "count" FROM pg_catalog.jsonb_to_recordset(($1)::pg_catalog.jsonb->'b1') AS dp_b1(a1 bigint, a2 bigint)

-- case: a key that the server checks needs no cut
-- policy: joins
SELECT count(*), sum(a.i4) FROM trips a JOIN members b ON a.i4 = b.uid
-- => plan
-- w.trips, w.members, unit 4 row(s), partitions by hash of r1."i4", at most 4 partitions; keys none; cells 0
--   count(*): sensitivity 4, scale 1, epsilon 4 delta 0
--   sum: clamp 0 .. 100, grid 1, sensitivity 400 steps, scale 100, epsilon 4 delta 0
-- => backend
SELECT pg_catalog.count(*), pg_catalog.sum((pg_catalog.int4larger(pg_catalog.int4smaller(r1."i4", %(p2)s::integer), %(p1)s::integer))::integer) FROM ((SELECT r1."i4" AS c1, r2."uid" AS c2 FROM ((SELECT * FROM (SELECT r1."id", r1."leg", r1."i2", r1."i4", r1."i8", r1."n2", r1."n", r1."f4", r1."f8", r1."t", r1."c", r1."s", r1."b", r1."d", r1."ts", r1."tz", r1."free", r1."e", r1."j", r1."ta", r1."ia", r1."iv", r1."tod", pg_catalog.count(*) OVER (PARTITION BY r1."i4") AS "dp_place" FROM "w"."trips" AS r1 WHERE r1."i4" IS NOT NULL) AS r1 WHERE "dp_place" = 1) AS r1 FULL JOIN (SELECT r2."id", r2."uid", r2."i2", r2."i4", r2."i8", r2."n2", r2."n", r2."f4", r2."f8", r2."t", r2."c", r2."s", r2."b", r2."d", r2."ts", r2."tz", r2."free", r2."e", r2."j", r2."ta", r2."ia", r2."iv", r2."tod" FROM "w"."members" AS r2 WHERE r2."uid" IS NOT NULL) AS r2 ON (r1."i4" = r2."uid") AND (pg_catalog.hashint4extended((r1."i4")::integer, %(p3)s::bigint) = pg_catalog.hashint4extended((r2."uid")::integer, %(p3)s::bigint))) WHERE CASE WHEN r1."i4" IS NOT NULL AND r2."uid" IS NOT NULL THEN TRUE ELSE FALSE END LIMIT ALL) AS j1 CROSS JOIN LATERAL (SELECT j1.c1 AS "i4") AS r1 CROSS JOIN LATERAL (SELECT j1.c2 AS "uid") AS r2)
--   p1 = 0
--   p2 = 100
--   p3 = random
-- => loss
-- epsilon 8 delta 0
-- => residual
SELECT dp_b1.a1 AS "count", dp_b1.a2 AS "sum" FROM pg_catalog.jsonb_to_recordset(($1)::pg_catalog.jsonb->'b1') AS dp_b1(a1 bigint, a2 bigint)

-- case: medians are by the key, whose rows stay together
-- policy: joins
SELECT avg(a.i4), max(b.i4) FROM people a JOIN trips b ON a.t = b.t
-- => plan
-- w.people, w.trips, unit 22 row(s), partitions by hash of r1."t", at most 4 partitions; keys none; cells 497
--   avg: 0 .. 10000 steps of 0.01, fill 5000, 497 partitions, gate 4306 units, scale 110, epsilon 4 delta 1/2000, each epsilon 19/20 delta 7.231e-06
--   max: 0 .. 100 steps of 1, fill 0, 249 partitions, gate 2322 units, scale 110, epsilon 4 delta 1/2000, each epsilon 19/20 delta 7.231e-06
-- => backend
SELECT x3, pg_catalog.count(x1), pg_catalog.sum((pg_catalog.int4larger(pg_catalog.int4smaller(x1, %(p2)s::integer), %(p1)s::integer))::integer), pg_catalog.int4larger(pg_catalog.int4smaller(pg_catalog.max(x2), %(p2)s::integer), %(p1)s::integer), pg_catalog.count(x2) FROM (SELECT r1."i4" AS x1, r2."i4" AS x2, pg_catalog.mod(((pg_catalog.hashtextextended(r1."t"::text, %(p8)s::bigint)) & %(p9)s::bigint)::integer, %(p10)s::integer) AS x3 FROM ((SELECT r1."i4" AS c1, r1."t" AS c2, r2."i4" AS c3, r2."t" AS c4 FROM ((SELECT * FROM (SELECT r1."id", r1."i2", r1."i4", r1."i8", r1."n2", r1."n", r1."f4", r1."f8", r1."t", r1."c", r1."s", r1."b", r1."d", r1."ts", r1."tz", r1."free", r1."e", r1."j", r1."ta", r1."ia", r1."iv", r1."tod", pg_catalog.row_number() OVER (PARTITION BY r1."t" ORDER BY pg_catalog.hashint4extended(r1."id"::integer, %(p4)s::bigint), r1."id") AS "dp_place" FROM "w"."people" AS r1 WHERE pg_catalog.octet_length(r1."t") <= %(p3)s::integer) AS r1 WHERE "dp_place" <= %(p5)s::bigint) AS r1 FULL JOIN (SELECT * FROM (SELECT r2."id", r2."leg", r2."i2", r2."i4", r2."i8", r2."n2", r2."n", r2."f4", r2."f8", r2."t", r2."c", r2."s", r2."b", r2."d", r2."ts", r2."tz", r2."free", r2."e", r2."j", r2."ta", r2."ia", r2."iv", r2."tod", pg_catalog.row_number() OVER (PARTITION BY r2."t" ORDER BY pg_catalog.hashint8extended(pg_catalog.hash_record_extended(ROW(r2."id", pg_catalog.hashtextextended(r2."leg"::text, %(p4)s::bigint)), %(p4)s::bigint), %(p4)s::bigint), r2."id", r2."leg") AS "dp_place" FROM "w"."trips" AS r2 WHERE pg_catalog.octet_length(r2."t") <= %(p3)s::integer) AS r2 WHERE "dp_place" <= %(p6)s::bigint) AS r2 ON (CASE WHEN pg_catalog.octet_length(r1."t") <= %(p3)s::integer THEN r1."t" END = CASE WHEN pg_catalog.octet_length(r2."t") <= %(p3)s::integer THEN r2."t" END) AND (pg_catalog.hashtextextended((CASE WHEN pg_catalog.octet_length(r1."t") <= %(p3)s::integer THEN r1."t" END)::text, %(p7)s::bigint) = pg_catalog.hashtextextended((CASE WHEN pg_catalog.octet_length(r2."t") <= %(p3)s::integer THEN r2."t" END)::text, %(p7)s::bigint))) WHERE CASE WHEN r1."t" IS NOT NULL AND r2."t" IS NOT NULL THEN TRUE ELSE FALSE END LIMIT ALL) AS j1 CROSS JOIN LATERAL (SELECT j1.c1 AS "i4", j1.c2 AS "t") AS r1 CROSS JOIN LATERAL (SELECT j1.c3 AS "i4", j1.c4 AS "t") AS r2) LIMIT ALL) r GROUP BY 1
--   p1 = 0
--   p2 = 100
--   p3 = 4096
--   p4 = random
--   p5 = 3
--   p6 = 2
--   p7 = random
--   p8 = random
--   p9 = 2147483647
--   p10 = 497
-- => loss
-- epsilon 8 delta 1/1000
-- => residual
SELECT dp_b1.a1 AS "avg", dp_b1.a2 AS "max" FROM pg_catalog.jsonb_to_recordset(($1)::pg_catalog.jsonb->'b1') AS dp_b1(a1 numeric, a2 integer)

-- case: medians by groups
-- policy: joins
SELECT a.b, avg(b.i4), count(*) FROM people a JOIN trips b ON a.t = b.t GROUP BY a.b
-- => plan
-- w.people, w.trips, unit 22 row(s), partitions by hash of r1."t", at most 4 partitions; keys b of 2; cells 1073
--   avg: 0 .. 10000 steps of 0.01, fill 5000, 1073 partitions, gate 8914 units, scale 110, epsilon 4 delta 1/2000, each epsilon 19/40 delta 2.248e-06
--   count(*): sensitivity 22, scale 11/2, epsilon 4 delta 0
-- => backend
SELECT x2, x3, pg_catalog.count(x1), pg_catalog.sum((pg_catalog.int4larger(pg_catalog.int4smaller(x1, %(p2)s::integer), %(p1)s::integer))::integer), pg_catalog.count(*) FROM (SELECT r2."i4" AS x1, (r1."b")::text AS x2, pg_catalog.mod(((pg_catalog.hashtextextended(r1."t"::text, %(p9)s::bigint)) & %(p10)s::bigint)::integer, %(p11)s::integer) AS x3 FROM ((SELECT r1."b" AS c1, r1."t" AS c2, r2."i4" AS c3, r2."t" AS c4 FROM ((SELECT r1."b", r1."t" FROM (SELECT * FROM (SELECT r1."id", r1."i2", r1."i4", r1."i8", r1."n2", r1."n", r1."f4", r1."f8", r1."t", r1."c", r1."s", r1."b", r1."d", r1."ts", r1."tz", r1."free", r1."e", r1."j", r1."ta", r1."ia", r1."iv", r1."tod", pg_catalog.row_number() OVER (PARTITION BY r1."t" ORDER BY pg_catalog.hashint4extended(r1."id"::integer, %(p5)s::bigint), r1."id") AS "dp_place" FROM "w"."people" AS r1 WHERE pg_catalog.octet_length(r1."t") <= %(p4)s::integer) AS r1 WHERE "dp_place" <= %(p6)s::bigint) AS r1 WHERE (r1."b" = ANY(%(p3)s::text[]::boolean[]))) AS r1 FULL JOIN (SELECT * FROM (SELECT r2."id", r2."leg", r2."i2", r2."i4", r2."i8", r2."n2", r2."n", r2."f4", r2."f8", r2."t", r2."c", r2."s", r2."b", r2."d", r2."ts", r2."tz", r2."free", r2."e", r2."j", r2."ta", r2."ia", r2."iv", r2."tod", pg_catalog.row_number() OVER (PARTITION BY r2."t" ORDER BY pg_catalog.hashint8extended(pg_catalog.hash_record_extended(ROW(r2."id", pg_catalog.hashtextextended(r2."leg"::text, %(p5)s::bigint)), %(p5)s::bigint), %(p5)s::bigint), r2."id", r2."leg") AS "dp_place" FROM "w"."trips" AS r2 WHERE pg_catalog.octet_length(r2."t") <= %(p4)s::integer) AS r2 WHERE "dp_place" <= %(p7)s::bigint) AS r2 ON (CASE WHEN pg_catalog.octet_length(r1."t") <= %(p4)s::integer THEN r1."t" END = CASE WHEN pg_catalog.octet_length(r2."t") <= %(p4)s::integer THEN r2."t" END) AND (pg_catalog.hashtextextended((CASE WHEN pg_catalog.octet_length(r1."t") <= %(p4)s::integer THEN r1."t" END)::text, %(p8)s::bigint) = pg_catalog.hashtextextended((CASE WHEN pg_catalog.octet_length(r2."t") <= %(p4)s::integer THEN r2."t" END)::text, %(p8)s::bigint))) WHERE CASE WHEN r1."t" IS NOT NULL AND r2."t" IS NOT NULL THEN TRUE ELSE FALSE END LIMIT ALL) AS j1 CROSS JOIN LATERAL (SELECT j1.c1 AS "b", j1.c2 AS "t") AS r1 CROSS JOIN LATERAL (SELECT j1.c3 AS "i4", j1.c4 AS "t") AS r2) LIMIT ALL) r GROUP BY 1, 2
--   p1 = 0
--   p2 = 100
--   p3 = ['true', 'false']
--   p4 = 4096
--   p5 = random
--   p6 = 3
--   p7 = 2
--   p8 = random
--   p9 = random
--   p10 = 2147483647
--   p11 = 1073
-- => loss
-- epsilon 8 delta 1/2000
-- => residual
SELECT dp_b1.k1 AS "b", dp_b1.a1 AS "avg", dp_b1.a2 AS "count" FROM pg_catalog.jsonb_to_recordset(($1)::pg_catalog.jsonb->'b1') AS dp_b1(k1 boolean, a1 numeric, a2 bigint)

-- case: quantiles and variance of a cut join
-- policy: joins best
SELECT avg(a.i4), min(b.i4), percentile_cont(0.5) WITHIN GROUP (ORDER BY a.i4), variance(b.i4) FROM people a JOIN trips b ON a.t = b.t
-- => plan
-- w.people, w.trips, unit 22 row(s), partitions by hash of r1."t", at most 4 partitions; keys none; cells 0
--   avg from moments: clamp 0 .. 100, grid 1, rows 22, output grid 0.00001, epsilon 2 delta 0
--   min of order: clamp 0 .. 100, grid 1, rows 22, needed 3476, epsilon 2 delta 0, size for 3/25
--   percentile_cont of order: clamp 0 .. 100, grid 1, rows 22, needed 522, epsilon 2 delta 0, size for 3/25
--   var_samp made of releases 5, 6, 7: clamp 0 .. 100, grid 1, output grid 0.00001
--     rows for var_samp: clamp 0 .. 100, grid 1, sensitivity 22, scale 33, epsilon 2/3 delta 0
--     centred sum for var_samp: clamp 0 .. 100, grid 1, sensitivity 2200, scale 3300, epsilon 2/3 delta 0
--     centred squares for var_samp: clamp 0 .. 100, grid 1, sensitivity 220000, scale 330000, epsilon 2/3 delta 0
-- => backend
SELECT pg_catalog.count(r1."i4"), (2 * pg_catalog.sum((pg_catalog.int4larger(pg_catalog.int4smaller(r1."i4", %(p3)s::integer), %(p2)s::integer))::integer) - %(p1)s::bigint * pg_catalog.count(r1."i4"))::bigint, pg_catalog.count(r2."i4"), (2 * pg_catalog.sum((pg_catalog.int4larger(pg_catalog.int4smaller(r2."i4", %(p3)s::integer), %(p2)s::integer))::integer) - %(p1)s::bigint * pg_catalog.count(r2."i4"))::bigint, pg_catalog.sum((2 * ((2 * ((pg_catalog.int4larger(pg_catalog.int4smaller(r2."i4", %(p3)s::integer), %(p2)s::integer))::integer)::bigint - %(p1)s::bigint)::bigint) * ((2 * ((pg_catalog.int4larger(pg_catalog.int4smaller(r2."i4", %(p3)s::integer), %(p2)s::integer))::integer)::bigint - %(p1)s::bigint)::bigint) - %(p4)s::bigint)) FROM ((SELECT r1."i4" AS c1, r1."t" AS c2, r2."i4" AS c3, r2."t" AS c4 FROM ((SELECT * FROM (SELECT r1."id", r1."i2", r1."i4", r1."i8", r1."n2", r1."n", r1."f4", r1."f8", r1."t", r1."c", r1."s", r1."b", r1."d", r1."ts", r1."tz", r1."free", r1."e", r1."j", r1."ta", r1."ia", r1."iv", r1."tod", pg_catalog.row_number() OVER (PARTITION BY r1."t" ORDER BY pg_catalog.hashint4extended(r1."id"::integer, %(p6)s::bigint), r1."id") AS "dp_place" FROM "w"."people" AS r1 WHERE pg_catalog.octet_length(r1."t") <= %(p5)s::integer) AS r1 WHERE "dp_place" <= %(p7)s::bigint) AS r1 FULL JOIN (SELECT * FROM (SELECT r2."id", r2."leg", r2."i2", r2."i4", r2."i8", r2."n2", r2."n", r2."f4", r2."f8", r2."t", r2."c", r2."s", r2."b", r2."d", r2."ts", r2."tz", r2."free", r2."e", r2."j", r2."ta", r2."ia", r2."iv", r2."tod", pg_catalog.row_number() OVER (PARTITION BY r2."t" ORDER BY pg_catalog.hashint8extended(pg_catalog.hash_record_extended(ROW(r2."id", pg_catalog.hashtextextended(r2."leg"::text, %(p6)s::bigint)), %(p6)s::bigint), %(p6)s::bigint), r2."id", r2."leg") AS "dp_place" FROM "w"."trips" AS r2 WHERE pg_catalog.octet_length(r2."t") <= %(p5)s::integer) AS r2 WHERE "dp_place" <= %(p8)s::bigint) AS r2 ON (CASE WHEN pg_catalog.octet_length(r1."t") <= %(p5)s::integer THEN r1."t" END = CASE WHEN pg_catalog.octet_length(r2."t") <= %(p5)s::integer THEN r2."t" END) AND (pg_catalog.hashtextextended((CASE WHEN pg_catalog.octet_length(r1."t") <= %(p5)s::integer THEN r1."t" END)::text, %(p9)s::bigint) = pg_catalog.hashtextextended((CASE WHEN pg_catalog.octet_length(r2."t") <= %(p5)s::integer THEN r2."t" END)::text, %(p9)s::bigint))) WHERE CASE WHEN r1."t" IS NOT NULL AND r2."t" IS NOT NULL THEN TRUE ELSE FALSE END LIMIT ALL) AS j1 CROSS JOIN LATERAL (SELECT j1.c1 AS "i4", j1.c2 AS "t") AS r1 CROSS JOIN LATERAL (SELECT j1.c3 AS "i4", j1.c4 AS "t") AS r2)
--   p1 = 100
--   p2 = 0
--   p3 = 100
--   p4 = 10000
--   p5 = 4096
--   p6 = random
--   p7 = 3
--   p8 = 2
--   p9 = random
SELECT pg_catalog.min(v), pg_catalog.sum(n) FROM (SELECT *, CASE WHEN (upto - n) >= %(p8)s::numeric THEN 1 ELSE 0 END AS side1 FROM (SELECT *, pg_catalog.sum(n) OVER ( ORDER BY v) AS upto, pg_catalog.sum(n) OVER () AS whole FROM (SELECT v, pg_catalog.count(*) AS n FROM (SELECT ((pg_catalog.int4larger(pg_catalog.int4smaller(r2."i4", %(p2)s::integer), %(p1)s::integer))::integer) AS v FROM ((SELECT r1."i4" AS c1, r1."t" AS c2, r2."i4" AS c3, r2."t" AS c4 FROM ((SELECT * FROM (SELECT r1."id", r1."i2", r1."i4", r1."i8", r1."n2", r1."n", r1."f4", r1."f8", r1."t", r1."c", r1."s", r1."b", r1."d", r1."ts", r1."tz", r1."free", r1."e", r1."j", r1."ta", r1."ia", r1."iv", r1."tod", pg_catalog.row_number() OVER (PARTITION BY r1."t" ORDER BY pg_catalog.hashint4extended(r1."id"::integer, %(p4)s::bigint), r1."id") AS "dp_place" FROM "w"."people" AS r1 WHERE pg_catalog.octet_length(r1."t") <= %(p3)s::integer) AS r1 WHERE "dp_place" <= %(p5)s::bigint) AS r1 FULL JOIN (SELECT r2."i4", r2."t" FROM (SELECT * FROM (SELECT r2."id", r2."leg", r2."i2", r2."i4", r2."i8", r2."n2", r2."n", r2."f4", r2."f8", r2."t", r2."c", r2."s", r2."b", r2."d", r2."ts", r2."tz", r2."free", r2."e", r2."j", r2."ta", r2."ia", r2."iv", r2."tod", pg_catalog.row_number() OVER (PARTITION BY r2."t" ORDER BY pg_catalog.hashint8extended(pg_catalog.hash_record_extended(ROW(r2."id", pg_catalog.hashtextextended(r2."leg"::text, %(p4)s::bigint)), %(p4)s::bigint), %(p4)s::bigint), r2."id", r2."leg") AS "dp_place" FROM "w"."trips" AS r2 WHERE pg_catalog.octet_length(r2."t") <= %(p3)s::integer) AS r2 WHERE "dp_place" <= %(p6)s::bigint) AS r2 WHERE ((pg_catalog.int4larger(pg_catalog.int4smaller(r2."i4", %(p2)s::integer), %(p1)s::integer))::integer) IS NOT NULL) AS r2 ON (CASE WHEN pg_catalog.octet_length(r1."t") <= %(p3)s::integer THEN r1."t" END = CASE WHEN pg_catalog.octet_length(r2."t") <= %(p3)s::integer THEN r2."t" END) AND (pg_catalog.hashtextextended((CASE WHEN pg_catalog.octet_length(r1."t") <= %(p3)s::integer THEN r1."t" END)::text, %(p7)s::bigint) = pg_catalog.hashtextextended((CASE WHEN pg_catalog.octet_length(r2."t") <= %(p3)s::integer THEN r2."t" END)::text, %(p7)s::bigint))) WHERE CASE WHEN r1."t" IS NOT NULL AND r2."t" IS NOT NULL THEN TRUE ELSE FALSE END LIMIT ALL) AS j1 CROSS JOIN LATERAL (SELECT j1.c1 AS "i4", j1.c2 AS "t") AS r1 CROSS JOIN LATERAL (SELECT j1.c3 AS "i4", j1.c4 AS "t") AS r2)) u GROUP BY v) c) p) s GROUP BY side1, CASE WHEN 0 IN (side1) THEN v END
--   p1 = 0
--   p2 = 100
--   p3 = 4096
--   p4 = random
--   p5 = 3
--   p6 = 2
--   p7 = random
--   p8 = 3476
--   p9 = 0
SELECT pg_catalog.min(v), pg_catalog.sum(n) FROM (SELECT *, CASE WHEN whole - upto * %(p9)s::numeric >= %(p8)s::numeric THEN -1 WHEN (upto - n) * %(p9)s::numeric - whole >= %(p8)s::numeric THEN 1 ELSE 0 END AS side1 FROM (SELECT *, pg_catalog.sum(n) OVER ( ORDER BY v) AS upto, pg_catalog.sum(n) OVER () AS whole FROM (SELECT v, pg_catalog.count(*) AS n FROM (SELECT ((pg_catalog.int4larger(pg_catalog.int4smaller(r1."i4", %(p2)s::integer), %(p1)s::integer))::integer) AS v FROM ((SELECT r1."i4" AS c1, r1."t" AS c2, r2."i4" AS c3, r2."t" AS c4 FROM ((SELECT r1."i4", r1."t" FROM (SELECT * FROM (SELECT r1."id", r1."i2", r1."i4", r1."i8", r1."n2", r1."n", r1."f4", r1."f8", r1."t", r1."c", r1."s", r1."b", r1."d", r1."ts", r1."tz", r1."free", r1."e", r1."j", r1."ta", r1."ia", r1."iv", r1."tod", pg_catalog.row_number() OVER (PARTITION BY r1."t" ORDER BY pg_catalog.hashint4extended(r1."id"::integer, %(p4)s::bigint), r1."id") AS "dp_place" FROM "w"."people" AS r1 WHERE pg_catalog.octet_length(r1."t") <= %(p3)s::integer) AS r1 WHERE "dp_place" <= %(p5)s::bigint) AS r1 WHERE ((pg_catalog.int4larger(pg_catalog.int4smaller(r1."i4", %(p2)s::integer), %(p1)s::integer))::integer) IS NOT NULL) AS r1 FULL JOIN (SELECT * FROM (SELECT r2."id", r2."leg", r2."i2", r2."i4", r2."i8", r2."n2", r2."n", r2."f4", r2."f8", r2."t", r2."c", r2."s", r2."b", r2."d", r2."ts", r2."tz", r2."free", r2."e", r2."j", r2."ta", r2."ia", r2."iv", r2."tod", pg_catalog.row_number() OVER (PARTITION BY r2."t" ORDER BY pg_catalog.hashint8extended(pg_catalog.hash_record_extended(ROW(r2."id", pg_catalog.hashtextextended(r2."leg"::text, %(p4)s::bigint)), %(p4)s::bigint), %(p4)s::bigint), r2."id", r2."leg") AS "dp_place" FROM "w"."trips" AS r2 WHERE pg_catalog.octet_length(r2."t") <= %(p3)s::integer) AS r2 WHERE "dp_place" <= %(p6)s::bigint) AS r2 ON (CASE WHEN pg_catalog.octet_length(r1."t") <= %(p3)s::integer THEN r1."t" END = CASE WHEN pg_catalog.octet_length(r2."t") <= %(p3)s::integer THEN r2."t" END) AND (pg_catalog.hashtextextended((CASE WHEN pg_catalog.octet_length(r1."t") <= %(p3)s::integer THEN r1."t" END)::text, %(p7)s::bigint) = pg_catalog.hashtextextended((CASE WHEN pg_catalog.octet_length(r2."t") <= %(p3)s::integer THEN r2."t" END)::text, %(p7)s::bigint))) WHERE CASE WHEN r1."t" IS NOT NULL AND r2."t" IS NOT NULL THEN TRUE ELSE FALSE END LIMIT ALL) AS j1 CROSS JOIN LATERAL (SELECT j1.c1 AS "i4", j1.c2 AS "t") AS r1 CROSS JOIN LATERAL (SELECT j1.c3 AS "i4", j1.c4 AS "t") AS r2)) u GROUP BY v) c) p) s GROUP BY side1, CASE WHEN 0 IN (side1) THEN v END
--   p1 = 0
--   p2 = 100
--   p3 = 4096
--   p4 = random
--   p5 = 3
--   p6 = 2
--   p7 = random
--   p8 = 1044
--   p9 = 2
-- => loss
-- epsilon 8 delta 0
-- => residual
SELECT dp_b1.a1 AS "avg", dp_b1.a2 AS "min", dp_b1.a3 AS "percentile_cont", dp_b1.a4 AS "variance" FROM pg_catalog.jsonb_to_recordset(($1)::pg_catalog.jsonb->'b1') AS dp_b1(a1 numeric, a2 integer, a3 double precision, a4 numeric)

-- case: gaussian noise on a cut join
-- policy: joins gaussian
SELECT a.t, count(*), sum(a.i4) FROM people a JOIN trips b ON a.t = b.t GROUP BY a.t
-- => plan
-- w.people, w.trips, unit 22 row(s), partitions by hash of r1."t", at most 4 partitions; keys expression of 4; cells 0
--   count(*): sensitivity 22, sigma 20.8078, epsilon 4 delta 1/2000
--   sum: clamp 0 .. 100, grid 1, sensitivity 2200 steps, sigma 2080.78, epsilon 4 delta 1/2000
-- => backend
SELECT * FROM (SELECT ((pg_catalog.left(r1."t"::text, %(p3)s::integer))::text)::varchar(1024)::text AS k1, pg_catalog.count(*), pg_catalog.sum((pg_catalog.int4larger(pg_catalog.int4smaller(r1."i4", %(p2)s::integer), %(p1)s::integer))::integer) FROM ((SELECT r1."i4" AS c1, r1."t" AS c2, r2."t" AS c3 FROM ((SELECT * FROM (SELECT r1."id", r1."i2", r1."i4", r1."i8", r1."n2", r1."n", r1."f4", r1."f8", r1."t", r1."c", r1."s", r1."b", r1."d", r1."ts", r1."tz", r1."free", r1."e", r1."j", r1."ta", r1."ia", r1."iv", r1."tod", pg_catalog.row_number() OVER (PARTITION BY r1."t" ORDER BY pg_catalog.hashint4extended(r1."id"::integer, %(p5)s::bigint), r1."id") AS "dp_place" FROM "w"."people" AS r1 WHERE pg_catalog.octet_length(r1."t") <= %(p4)s::integer) AS r1 WHERE "dp_place" <= %(p6)s::bigint) AS r1 FULL JOIN (SELECT * FROM (SELECT r2."id", r2."leg", r2."i2", r2."i4", r2."i8", r2."n2", r2."n", r2."f4", r2."f8", r2."t", r2."c", r2."s", r2."b", r2."d", r2."ts", r2."tz", r2."free", r2."e", r2."j", r2."ta", r2."ia", r2."iv", r2."tod", pg_catalog.row_number() OVER (PARTITION BY r2."t" ORDER BY pg_catalog.hashint8extended(pg_catalog.hash_record_extended(ROW(r2."id", pg_catalog.hashtextextended(r2."leg"::text, %(p5)s::bigint)), %(p5)s::bigint), %(p5)s::bigint), r2."id", r2."leg") AS "dp_place" FROM "w"."trips" AS r2 WHERE pg_catalog.octet_length(r2."t") <= %(p4)s::integer) AS r2 WHERE "dp_place" <= %(p7)s::bigint) AS r2 ON (CASE WHEN pg_catalog.octet_length(r1."t") <= %(p4)s::integer THEN r1."t" END = CASE WHEN pg_catalog.octet_length(r2."t") <= %(p4)s::integer THEN r2."t" END) AND (pg_catalog.hashtextextended((CASE WHEN pg_catalog.octet_length(r1."t") <= %(p4)s::integer THEN r1."t" END)::text, %(p8)s::bigint) = pg_catalog.hashtextextended((CASE WHEN pg_catalog.octet_length(r2."t") <= %(p4)s::integer THEN r2."t" END)::text, %(p8)s::bigint))) WHERE CASE WHEN r1."t" IS NOT NULL AND r2."t" IS NOT NULL THEN TRUE ELSE FALSE END LIMIT ALL) AS j1 CROSS JOIN LATERAL (SELECT j1.c1 AS "i4", j1.c2 AS "t") AS r1 CROSS JOIN LATERAL (SELECT j1.c3 AS "t") AS r2) GROUP BY 1 LIMIT ALL) g WHERE (k1 = ANY(%(p9)s::text[]) OR k1 IS NULL)
--   p1 = 0
--   p2 = 100
--   p3 = 2
--   p4 = 4096
--   p5 = random
--   p6 = 3
--   p7 = 2
--   p8 = random
--   p9 = ['x', 'y', 'z']
-- => loss
-- epsilon 8 delta 1/1000
-- => residual
SELECT dp_b1.k1 AS "t", dp_b1.a1 AS "count", dp_b1.a2 AS "sum" FROM pg_catalog.jsonb_to_recordset(($1)::pg_catalog.jsonb->'b1') AS dp_b1(k1 pg_catalog.text, a1 bigint, a2 bigint)

-- case: units of different kinds
-- policy: joins
SELECT count(*), sum(v.i4), avg(n.i4) FROM visits v JOIN notes n ON v.t = n.t
-- => plan
-- w.visits, w.notes, unit 46 row(s), partitions by hash of r1."t", at most 9 partitions; keys none; cells 1731
--   count(*): sensitivity 46, scale 69/4, epsilon 8/3 delta 0
--   sum: clamp 0 .. 100, grid 1, sensitivity 4600 steps, scale 1725, epsilon 8/3 delta 0
--   avg: 0 .. 10000 steps of 0.01, fill 5000, 1731 partitions, gate 14882 units, scale 345, epsilon 8/3 delta 1/3000, each epsilon 38/135 delta 3.896e-06
-- => backend
SELECT x3, pg_catalog.count(*), pg_catalog.sum((pg_catalog.int4larger(pg_catalog.int4smaller(x1, %(p2)s::integer), %(p1)s::integer))::integer), pg_catalog.count(x2), pg_catalog.sum((pg_catalog.int4larger(pg_catalog.int4smaller(x2, %(p2)s::integer), %(p1)s::integer))::integer) FROM (SELECT r1."i4" AS x1, r2."i4" AS x2, pg_catalog.mod(((pg_catalog.hashtextextended(r1."t"::text, %(p10)s::bigint)) & %(p11)s::bigint)::integer, %(p12)s::integer) AS x3 FROM ((SELECT r1."i4" AS c1, r1."t" AS c2, r2."i4" AS c3, r2."t" AS c4 FROM ((SELECT * FROM (SELECT r1."id", r1."uid", r1."i2", r1."i4", r1."i8", r1."n2", r1."n", r1."f4", r1."f8", r1."t", r1."c", r1."s", r1."b", r1."d", r1."ts", r1."tz", r1."free", r1."e", r1."j", r1."ta", r1."ia", r1."iv", r1."tod", pg_catalog.row_number() OVER (PARTITION BY r1."t" ORDER BY pg_catalog.hashint4extended(r1."id"::integer, %(p4)s::bigint), r1."id") AS "dp_place" FROM (SELECT * FROM (SELECT r1."id", r1."uid", r1."i2", r1."i4", r1."i8", r1."n2", r1."n", r1."f4", r1."f8", r1."t", r1."c", r1."s", r1."b", r1."d", r1."ts", r1."tz", r1."free", r1."e", r1."j", r1."ta", r1."ia", r1."iv", r1."tod", pg_catalog.row_number() OVER (PARTITION BY r1."uid" ORDER BY pg_catalog.hashint4extended(r1."id"::integer, %(p4)s::bigint), r1."id") AS "dp_place_of_unit" FROM "w"."visits" AS r1 WHERE r1."uid" IS NOT NULL) AS r1 WHERE "dp_place_of_unit" <= %(p5)s::bigint) AS r1 WHERE pg_catalog.octet_length(r1."t") <= %(p3)s::integer) AS r1 WHERE "dp_place" <= %(p6)s::bigint) AS r1 FULL JOIN (SELECT * FROM (SELECT r2."id", r2."uid", r2."i2", r2."i4", r2."i8", r2."n2", r2."n", r2."f4", r2."f8", r2."t", r2."c", r2."s", r2."b", r2."d", r2."ts", r2."tz", r2."free", r2."e", r2."j", r2."ta", r2."ia", r2."iv", r2."tod", pg_catalog.row_number() OVER (PARTITION BY r2."t" ORDER BY pg_catalog.hashint4extended(r2."id"::integer, %(p4)s::bigint), r2."id") AS "dp_place" FROM (SELECT * FROM (SELECT r2."id", r2."uid", r2."i2", r2."i4", r2."i8", r2."n2", r2."n", r2."f4", r2."f8", r2."t", r2."c", r2."s", r2."b", r2."d", r2."ts", r2."tz", r2."free", r2."e", r2."j", r2."ta", r2."ia", r2."iv", r2."tod", pg_catalog.row_number() OVER (PARTITION BY r2."uid" ORDER BY pg_catalog.hashint4extended(r2."id"::integer, %(p4)s::bigint), r2."id") AS "dp_place_of_unit" FROM "w"."notes" AS r2 WHERE pg_catalog.octet_length(r2."uid") <= %(p3)s::integer) AS r2 WHERE "dp_place_of_unit" <= %(p7)s::bigint) AS r2 WHERE pg_catalog.octet_length(r2."t") <= %(p3)s::integer) AS r2 WHERE "dp_place" <= %(p8)s::bigint) AS r2 ON (CASE WHEN pg_catalog.octet_length(r1."t") <= %(p3)s::integer THEN r1."t" END = CASE WHEN pg_catalog.octet_length(r2."t") <= %(p3)s::integer THEN r2."t" END) AND (pg_catalog.hashtextextended((CASE WHEN pg_catalog.octet_length(r1."t") <= %(p3)s::integer THEN r1."t" END)::text, %(p9)s::bigint) = pg_catalog.hashtextextended((CASE WHEN pg_catalog.octet_length(r2."t") <= %(p3)s::integer THEN r2."t" END)::text, %(p9)s::bigint))) WHERE CASE WHEN r1."t" IS NOT NULL AND r2."t" IS NOT NULL THEN TRUE ELSE FALSE END LIMIT ALL) AS j1 CROSS JOIN LATERAL (SELECT j1.c1 AS "i4", j1.c2 AS "t") AS r1 CROSS JOIN LATERAL (SELECT j1.c3 AS "i4", j1.c4 AS "t") AS r2) LIMIT ALL) r GROUP BY 1
--   p1 = 0
--   p2 = 100
--   p3 = 4096
--   p4 = random
--   p5 = 5
--   p6 = 2
--   p7 = 4
--   p8 = 3
--   p9 = random
--   p10 = random
--   p11 = 2147483647
--   p12 = 1731
-- => loss
-- epsilon 8 delta 1/3000
-- => residual
SELECT dp_b1.a1 AS "count", dp_b1.a2 AS "sum", dp_b1.a3 AS "avg" FROM pg_catalog.jsonb_to_recordset(($1)::pg_catalog.jsonb->'b1') AS dp_b1(a1 bigint, a2 bigint, a3 numeric)

-- case: rows with the rows of units
-- policy: joins
SELECT count(*), sum(v.i4) FROM people p JOIN visits v ON p.t = v.t WHERE p.b AND v.i4 > 3
-- => plan
-- w.people, w.visits, unit 34 row(s), partitions by hash of r1."t", at most 6 partitions; keys none; cells 0
--   count(*): sensitivity 34, scale 17/2, epsilon 4 delta 0
--   sum: clamp 4 .. 100, grid 1, sensitivity 3400 steps, scale 850, epsilon 4 delta 0
-- => backend
SELECT pg_catalog.count(*), pg_catalog.sum((pg_catalog.int4larger(pg_catalog.int4smaller(r2."i4", %(p2)s::integer), %(p1)s::integer))::integer) FROM ((SELECT r1."b" AS c1, r1."t" AS c2, r2."i4" AS c3, r2."t" AS c4 FROM ((SELECT r1."b", r1."t" FROM (SELECT * FROM (SELECT r1."id", r1."i2", r1."i4", r1."i8", r1."n2", r1."n", r1."f4", r1."f8", r1."t", r1."c", r1."s", r1."b", r1."d", r1."ts", r1."tz", r1."free", r1."e", r1."j", r1."ta", r1."ia", r1."iv", r1."tod", pg_catalog.row_number() OVER (PARTITION BY r1."t" ORDER BY pg_catalog.hashint4extended(r1."id"::integer, %(p5)s::bigint), r1."id") AS "dp_place" FROM "w"."people" AS r1 WHERE pg_catalog.octet_length(r1."t") <= %(p4)s::integer) AS r1 WHERE "dp_place" <= %(p3)s::bigint) AS r1 WHERE r1."b") AS r1 FULL JOIN (SELECT r2."i4", r2."t" FROM (SELECT * FROM (SELECT r2."id", r2."uid", r2."i2", r2."i4", r2."i8", r2."n2", r2."n", r2."f4", r2."f8", r2."t", r2."c", r2."s", r2."b", r2."d", r2."ts", r2."tz", r2."free", r2."e", r2."j", r2."ta", r2."ia", r2."iv", r2."tod", pg_catalog.row_number() OVER (PARTITION BY r2."t" ORDER BY pg_catalog.hashint4extended(r2."id"::integer, %(p5)s::bigint), r2."id") AS "dp_place" FROM (SELECT * FROM (SELECT r2."id", r2."uid", r2."i2", r2."i4", r2."i8", r2."n2", r2."n", r2."f4", r2."f8", r2."t", r2."c", r2."s", r2."b", r2."d", r2."ts", r2."tz", r2."free", r2."e", r2."j", r2."ta", r2."ia", r2."iv", r2."tod", pg_catalog.row_number() OVER (PARTITION BY r2."uid" ORDER BY pg_catalog.hashint4extended(r2."id"::integer, %(p5)s::bigint), r2."id") AS "dp_place_of_unit" FROM "w"."visits" AS r2 WHERE r2."uid" IS NOT NULL) AS r2 WHERE "dp_place_of_unit" <= %(p6)s::bigint) AS r2 WHERE pg_catalog.octet_length(r2."t") <= %(p4)s::integer) AS r2 WHERE "dp_place" <= %(p7)s::bigint) AS r2 WHERE (r2."i4" > %(p3)s::bigint)) AS r2 ON (CASE WHEN pg_catalog.octet_length(r1."t") <= %(p4)s::integer THEN r1."t" END = CASE WHEN pg_catalog.octet_length(r2."t") <= %(p4)s::integer THEN r2."t" END) AND (pg_catalog.hashtextextended((CASE WHEN pg_catalog.octet_length(r1."t") <= %(p4)s::integer THEN r1."t" END)::text, %(p8)s::bigint) = pg_catalog.hashtextextended((CASE WHEN pg_catalog.octet_length(r2."t") <= %(p4)s::integer THEN r2."t" END)::text, %(p8)s::bigint))) WHERE CASE WHEN r1."t" IS NOT NULL AND r2."t" IS NOT NULL THEN TRUE ELSE FALSE END LIMIT ALL) AS j1 CROSS JOIN LATERAL (SELECT j1.c1 AS "b", j1.c2 AS "t") AS r1 CROSS JOIN LATERAL (SELECT j1.c3 AS "i4", j1.c4 AS "t") AS r2)
--   p1 = 4
--   p2 = 100
--   p3 = 3
--   p4 = 4096
--   p5 = random
--   p6 = 5
--   p7 = 2
--   p8 = random
-- => loss
-- epsilon 8 delta 0
-- => residual
SELECT dp_b1.a1 AS "count", dp_b1.a2 AS "sum" FROM pg_catalog.jsonb_to_recordset(($1)::pg_catalog.jsonb->'b1') AS dp_b1(a1 bigint, a2 bigint)

-- case: units of one identifier, not on it
-- policy: joins
SELECT count(*), sum(v.i4) FROM visits v JOIN members m ON v.t = m.t
-- => plan
-- w.visits, w.members, unit 24 row(s), partitions by hash of r1."t", at most 6 partitions; keys none; cells 0
--   count(*): sensitivity 24, scale 6, epsilon 4 delta 0
--   sum: clamp 0 .. 100, grid 1, sensitivity 2400 steps, scale 600, epsilon 4 delta 0
-- => backend
SELECT pg_catalog.count(*), pg_catalog.sum((pg_catalog.int4larger(pg_catalog.int4smaller(r1."i4", %(p2)s::integer), %(p1)s::integer))::integer) FROM ((SELECT r1."i4" AS c1, r1."t" AS c2, r2."t" AS c3 FROM ((SELECT * FROM (SELECT r1."id", r1."uid", r1."i2", r1."i4", r1."i8", r1."n2", r1."n", r1."f4", r1."f8", r1."t", r1."c", r1."s", r1."b", r1."d", r1."ts", r1."tz", r1."free", r1."e", r1."j", r1."ta", r1."ia", r1."iv", r1."tod", pg_catalog.row_number() OVER (PARTITION BY r1."t" ORDER BY pg_catalog.hashint4extended(r1."id"::integer, %(p4)s::bigint), r1."id") AS "dp_place" FROM (SELECT * FROM (SELECT r1."id", r1."uid", r1."i2", r1."i4", r1."i8", r1."n2", r1."n", r1."f4", r1."f8", r1."t", r1."c", r1."s", r1."b", r1."d", r1."ts", r1."tz", r1."free", r1."e", r1."j", r1."ta", r1."ia", r1."iv", r1."tod", pg_catalog.row_number() OVER (PARTITION BY r1."uid" ORDER BY pg_catalog.hashint4extended(r1."id"::integer, %(p4)s::bigint), r1."id") AS "dp_place_of_unit" FROM "w"."visits" AS r1 WHERE r1."uid" IS NOT NULL) AS r1 WHERE "dp_place_of_unit" <= %(p5)s::bigint) AS r1 WHERE pg_catalog.octet_length(r1."t") <= %(p3)s::integer) AS r1 WHERE "dp_place" <= %(p6)s::bigint) AS r1 FULL JOIN (SELECT * FROM (SELECT r2."id", r2."uid", r2."i2", r2."i4", r2."i8", r2."n2", r2."n", r2."f4", r2."f8", r2."t", r2."c", r2."s", r2."b", r2."d", r2."ts", r2."tz", r2."free", r2."e", r2."j", r2."ta", r2."ia", r2."iv", r2."tod", pg_catalog.row_number() OVER (PARTITION BY r2."t" ORDER BY pg_catalog.hashint4extended(r2."uid"::integer, %(p4)s::bigint), r2."uid") AS "dp_place" FROM (SELECT r2."id", r2."uid", r2."i2", r2."i4", r2."i8", r2."n2", r2."n", r2."f4", r2."f8", r2."t", r2."c", r2."s", r2."b", r2."d", r2."ts", r2."tz", r2."free", r2."e", r2."j", r2."ta", r2."ia", r2."iv", r2."tod" FROM "w"."members" AS r2 WHERE r2."uid" IS NOT NULL) AS r2 WHERE pg_catalog.octet_length(r2."t") <= %(p3)s::integer) AS r2 WHERE "dp_place" <= %(p6)s::bigint) AS r2 ON (CASE WHEN pg_catalog.octet_length(r1."t") <= %(p3)s::integer THEN r1."t" END = CASE WHEN pg_catalog.octet_length(r2."t") <= %(p3)s::integer THEN r2."t" END) AND (pg_catalog.hashtextextended((CASE WHEN pg_catalog.octet_length(r1."t") <= %(p3)s::integer THEN r1."t" END)::text, %(p7)s::bigint) = pg_catalog.hashtextextended((CASE WHEN pg_catalog.octet_length(r2."t") <= %(p3)s::integer THEN r2."t" END)::text, %(p7)s::bigint))) WHERE CASE WHEN r1."t" IS NOT NULL AND r2."t" IS NOT NULL THEN TRUE ELSE FALSE END LIMIT ALL) AS j1 CROSS JOIN LATERAL (SELECT j1.c1 AS "i4", j1.c2 AS "t") AS r1 CROSS JOIN LATERAL (SELECT j1.c3 AS "t") AS r2)
--   p1 = 0
--   p2 = 100
--   p3 = 4096
--   p4 = random
--   p5 = 5
--   p6 = 2
--   p7 = random
-- => loss
-- epsilon 8 delta 0
-- => residual
SELECT dp_b1.a1 AS "count", dp_b1.a2 AS "sum" FROM pg_catalog.jsonb_to_recordset(($1)::pg_catalog.jsonb->'b1') AS dp_b1(a1 bigint, a2 bigint)

-- case: a subquery is cut with its own conditions
-- policy: joins
SELECT count(*), sum(q.x) FROM (SELECT t AS k, i4 AS x FROM people WHERE i4 > 5) q JOIN (SELECT t, i4 FROM visits WHERE b) v ON q.k = v.t
-- => plan
-- w.people, w.visits, unit 34 row(s), partitions by hash of r2."k", at most 6 partitions; keys none; cells 0
--   count(*): sensitivity 34, scale 17/2, epsilon 4 delta 0
--   sum: clamp 6 .. 100, grid 1, sensitivity 3400 steps, scale 850, epsilon 4 delta 0
-- => backend
SELECT pg_catalog.count(*), pg_catalog.sum((pg_catalog.int4larger(pg_catalog.int4smaller(r2."x", %(p2)s::integer), %(p1)s::integer))::integer) FROM ((SELECT r2."k" AS c1, r2."x" AS c2, r4."t" AS c3 FROM ((SELECT * FROM (SELECT r2."k", r2."x", r2."dp_key1", pg_catalog.row_number() OVER (PARTITION BY r2."k" ORDER BY pg_catalog.hashint4extended(r2."dp_key1"::integer, %(p5)s::bigint), r2."dp_key1") AS "dp_place" FROM (SELECT r1."t" AS "k", r1."i4" AS "x", r1."id" AS "dp_key1" FROM "w"."people" AS r1 WHERE (r1."i4" > %(p4)s::bigint)) AS r2 WHERE pg_catalog.octet_length(r2."k") <= %(p3)s::integer) AS r2 WHERE "dp_place" <= %(p6)s::bigint) AS r2 FULL JOIN (SELECT * FROM (SELECT r4."t", r4."i4", r4."dp_unit", r4."dp_key1", pg_catalog.row_number() OVER (PARTITION BY r4."t" ORDER BY pg_catalog.hashint4extended(r4."dp_key1"::integer, %(p5)s::bigint), r4."dp_key1") AS "dp_place" FROM (SELECT * FROM (SELECT r4."t", r4."i4", r4."dp_unit", r4."dp_key1", pg_catalog.row_number() OVER (PARTITION BY r4."dp_unit" ORDER BY pg_catalog.hashint4extended(r4."dp_key1"::integer, %(p5)s::bigint), r4."dp_key1") AS "dp_place_of_unit" FROM (SELECT r3."t" AS "t", r3."i4" AS "i4", r3."uid" AS "dp_unit", r3."id" AS "dp_key1" FROM "w"."visits" AS r3 WHERE r3."b") AS r4 WHERE r4."dp_unit" IS NOT NULL) AS r4 WHERE "dp_place_of_unit" <= %(p4)s::bigint) AS r4 WHERE pg_catalog.octet_length(r4."t") <= %(p3)s::integer) AS r4 WHERE "dp_place" <= %(p7)s::bigint) AS r4 ON (CASE WHEN pg_catalog.octet_length(r2."k") <= %(p3)s::integer THEN r2."k" END = CASE WHEN pg_catalog.octet_length(r4."t") <= %(p3)s::integer THEN r4."t" END) AND (pg_catalog.hashtextextended((CASE WHEN pg_catalog.octet_length(r2."k") <= %(p3)s::integer THEN r2."k" END)::text, %(p8)s::bigint) = pg_catalog.hashtextextended((CASE WHEN pg_catalog.octet_length(r4."t") <= %(p3)s::integer THEN r4."t" END)::text, %(p8)s::bigint))) WHERE CASE WHEN r2."k" IS NOT NULL AND r4."t" IS NOT NULL THEN TRUE ELSE FALSE END LIMIT ALL) AS j1 CROSS JOIN LATERAL (SELECT j1.c1 AS "k", j1.c2 AS "x") AS r2 CROSS JOIN LATERAL (SELECT j1.c3 AS "t") AS r4)
--   p1 = 6
--   p2 = 100
--   p3 = 4096
--   p4 = 5
--   p5 = random
--   p6 = 3
--   p7 = 2
--   p8 = random
-- => loss
-- epsilon 8 delta 0
-- => residual
SELECT dp_b1.a1 AS "count", dp_b1.a2 AS "sum" FROM pg_catalog.jsonb_to_recordset(($1)::pg_catalog.jsonb->'b1') AS dp_b1(a1 bigint, a2 bigint)

-- case: the strongest of several equalities, and a condition beside it
-- policy: joins
SELECT count(*) FROM people a JOIN visits b ON a.t = b.t AND a.i4 = b.i4 AND a.i2 < b.i2
-- => plan
-- w.people, w.visits, unit 6 row(s), partitions by hash of r1."i4", at most 6 partitions; keys none; cells 0
--   count(*): sensitivity 6, scale 3/4, epsilon 8 delta 0
-- => backend
SELECT pg_catalog.count(*) FROM ((SELECT r1."i2" AS c1, r1."i4" AS c2, r1."t" AS c3, r2."i2" AS c4, r2."i4" AS c5, r2."t" AS c6 FROM ((SELECT * FROM (SELECT r1."id", r1."i2", r1."i4", r1."i8", r1."n2", r1."n", r1."f4", r1."f8", r1."t", r1."c", r1."s", r1."b", r1."d", r1."ts", r1."tz", r1."free", r1."e", r1."j", r1."ta", r1."ia", r1."iv", r1."tod", pg_catalog.count(*) OVER (PARTITION BY r1."i4") AS "dp_place" FROM "w"."people" AS r1 WHERE r1."i4" IS NOT NULL) AS r1 WHERE "dp_place" = 1) AS r1 FULL JOIN (SELECT * FROM (SELECT r2."id", r2."uid", r2."i2", r2."i4", r2."i8", r2."n2", r2."n", r2."f4", r2."f8", r2."t", r2."c", r2."s", r2."b", r2."d", r2."ts", r2."tz", r2."free", r2."e", r2."j", r2."ta", r2."ia", r2."iv", r2."tod", pg_catalog.count(*) OVER (PARTITION BY r2."i4") AS "dp_place" FROM (SELECT * FROM (SELECT r2."id", r2."uid", r2."i2", r2."i4", r2."i8", r2."n2", r2."n", r2."f4", r2."f8", r2."t", r2."c", r2."s", r2."b", r2."d", r2."ts", r2."tz", r2."free", r2."e", r2."j", r2."ta", r2."ia", r2."iv", r2."tod", pg_catalog.row_number() OVER (PARTITION BY r2."uid" ORDER BY pg_catalog.hashint4extended(r2."id"::integer, %(p1)s::bigint), r2."id") AS "dp_place_of_unit" FROM "w"."visits" AS r2 WHERE r2."uid" IS NOT NULL) AS r2 WHERE "dp_place_of_unit" <= %(p2)s::bigint) AS r2 WHERE r2."i4" IS NOT NULL) AS r2 WHERE "dp_place" = 1) AS r2 ON (CASE WHEN pg_catalog.octet_length(r1."t") <= %(p3)s::integer THEN r1."t" END = CASE WHEN pg_catalog.octet_length(r2."t") <= %(p3)s::integer THEN r2."t" END) AND (r1."i4" = r2."i4") AND (pg_catalog.hashtextextended((CASE WHEN pg_catalog.octet_length(r1."t") <= %(p3)s::integer THEN r1."t" END)::text, %(p4)s::bigint) = pg_catalog.hashtextextended((CASE WHEN pg_catalog.octet_length(r2."t") <= %(p3)s::integer THEN r2."t" END)::text, %(p4)s::bigint)) AND (pg_catalog.hashint4extended((r1."i4")::integer, %(p4)s::bigint) = pg_catalog.hashint4extended((r2."i4")::integer, %(p4)s::bigint)) AND (r1."i2" < r2."i2")) WHERE CASE WHEN r1."t" IS NOT NULL AND r2."t" IS NOT NULL THEN TRUE ELSE FALSE END LIMIT ALL) AS j1 CROSS JOIN LATERAL (SELECT j1.c1 AS "i2", j1.c2 AS "i4", j1.c3 AS "t") AS r1 CROSS JOIN LATERAL (SELECT j1.c4 AS "i2", j1.c5 AS "i4", j1.c6 AS "t") AS r2)
--   p1 = random
--   p2 = 5
--   p3 = 4096
--   p4 = random
-- => loss
-- epsilon 8 delta 0
-- => residual
SELECT dp_b1.a1 AS "count" FROM pg_catalog.jsonb_to_recordset(($1)::pg_catalog.jsonb->'b1') AS dp_b1(a1 bigint)

-- case: a cut join under a subquery
-- policy: joins
SELECT sum(x), avg(x) FROM (SELECT a.i4 AS x FROM people a JOIN trips b USING (t)) q
-- => plan
-- w.people, w.trips, unit 22 row(s), partitions by hash of r3."dp_key1", at most 4 partitions; keys none; cells 497
--   sum: clamp 0 .. 100, grid 1, sensitivity 2200 steps, scale 550, epsilon 4 delta 0
--   avg: 0 .. 10000 steps of 0.01, fill 5000, 497 partitions, gate 4306 units, scale 110, epsilon 4 delta 1/2000, each epsilon 19/20 delta 7.231e-06
-- => backend
SELECT x2, pg_catalog.sum((pg_catalog.int4larger(pg_catalog.int4smaller(x1, %(p2)s::integer), %(p1)s::integer))::integer), pg_catalog.count(x1) FROM (SELECT r3."x" AS x1, pg_catalog.mod(((pg_catalog.hashtextextended(r3."dp_key1"::text, %(p8)s::bigint)) & %(p9)s::bigint)::integer, %(p10)s::integer) AS x2 FROM (SELECT r1."i4" AS "x", r1."t" AS "dp_key1" FROM ((SELECT r1."i4" AS c1, r1."t" AS c2, r2."t" AS c3 FROM ((SELECT * FROM (SELECT r1."id", r1."i2", r1."i4", r1."i8", r1."n2", r1."n", r1."f4", r1."f8", r1."t", r1."c", r1."s", r1."b", r1."d", r1."ts", r1."tz", r1."free", r1."e", r1."j", r1."ta", r1."ia", r1."iv", r1."tod", pg_catalog.row_number() OVER (PARTITION BY r1."t" ORDER BY pg_catalog.hashint4extended(r1."id"::integer, %(p4)s::bigint), r1."id") AS "dp_place" FROM "w"."people" AS r1 WHERE pg_catalog.octet_length(r1."t") <= %(p3)s::integer) AS r1 WHERE "dp_place" <= %(p5)s::bigint) AS r1 FULL JOIN (SELECT * FROM (SELECT r2."id", r2."leg", r2."i2", r2."i4", r2."i8", r2."n2", r2."n", r2."f4", r2."f8", r2."t", r2."c", r2."s", r2."b", r2."d", r2."ts", r2."tz", r2."free", r2."e", r2."j", r2."ta", r2."ia", r2."iv", r2."tod", pg_catalog.row_number() OVER (PARTITION BY r2."t" ORDER BY pg_catalog.hashint8extended(pg_catalog.hash_record_extended(ROW(r2."id", pg_catalog.hashtextextended(r2."leg"::text, %(p4)s::bigint)), %(p4)s::bigint), %(p4)s::bigint), r2."id", r2."leg") AS "dp_place" FROM "w"."trips" AS r2 WHERE pg_catalog.octet_length(r2."t") <= %(p3)s::integer) AS r2 WHERE "dp_place" <= %(p6)s::bigint) AS r2 ON (CASE WHEN pg_catalog.octet_length(r1."t") <= %(p3)s::integer THEN r1."t" END = CASE WHEN pg_catalog.octet_length(r2."t") <= %(p3)s::integer THEN r2."t" END) AND (pg_catalog.hashtextextended((CASE WHEN pg_catalog.octet_length(r1."t") <= %(p3)s::integer THEN r1."t" END)::text, %(p7)s::bigint) = pg_catalog.hashtextextended((CASE WHEN pg_catalog.octet_length(r2."t") <= %(p3)s::integer THEN r2."t" END)::text, %(p7)s::bigint))) WHERE CASE WHEN r1."t" IS NOT NULL AND r2."t" IS NOT NULL THEN TRUE ELSE FALSE END LIMIT ALL) AS j1 CROSS JOIN LATERAL (SELECT j1.c1 AS "i4", j1.c2 AS "t") AS r1 CROSS JOIN LATERAL (SELECT j1.c3 AS "t") AS r2)) AS r3 LIMIT ALL) r GROUP BY 1
--   p1 = 0
--   p2 = 100
--   p3 = 4096
--   p4 = random
--   p5 = 3
--   p6 = 2
--   p7 = random
--   p8 = random
--   p9 = 2147483647
--   p10 = 497
-- => loss
-- epsilon 8 delta 1/2000
-- => residual
SELECT dp_b1.a1 AS "sum", dp_b1.a2 AS "avg" FROM pg_catalog.jsonb_to_recordset(($1)::pg_catalog.jsonb->'b1') AS dp_b1(a1 bigint, a2 numeric)

-- case: written with a comma
-- policy: joins
SELECT count(*) FROM people a, trips b WHERE a.t = b.t AND a.i4 > 5
-- => plan
-- w.people, w.trips, unit 22 row(s), partitions by hash of r1."t", at most 4 partitions; keys none; cells 0
--   count(*): sensitivity 22, scale 11/4, epsilon 8 delta 0
-- => backend
SELECT pg_catalog.count(*) FROM ((SELECT r1."i4" AS c1, r1."t" AS c2, r2."t" AS c3 FROM ((SELECT r1."i4", r1."t" FROM (SELECT * FROM (SELECT r1."id", r1."i2", r1."i4", r1."i8", r1."n2", r1."n", r1."f4", r1."f8", r1."t", r1."c", r1."s", r1."b", r1."d", r1."ts", r1."tz", r1."free", r1."e", r1."j", r1."ta", r1."ia", r1."iv", r1."tod", pg_catalog.row_number() OVER (PARTITION BY r1."t" ORDER BY pg_catalog.hashint4extended(r1."id"::integer, %(p4)s::bigint), r1."id") AS "dp_place" FROM "w"."people" AS r1 WHERE pg_catalog.octet_length(r1."t") <= %(p3)s::integer) AS r1 WHERE "dp_place" <= %(p5)s::bigint) AS r1 WHERE (r1."i4" > %(p2)s::bigint)) AS r1 FULL JOIN (SELECT * FROM (SELECT r2."id", r2."leg", r2."i2", r2."i4", r2."i8", r2."n2", r2."n", r2."f4", r2."f8", r2."t", r2."c", r2."s", r2."b", r2."d", r2."ts", r2."tz", r2."free", r2."e", r2."j", r2."ta", r2."ia", r2."iv", r2."tod", pg_catalog.row_number() OVER (PARTITION BY r2."t" ORDER BY pg_catalog.hashint8extended(pg_catalog.hash_record_extended(ROW(r2."id", pg_catalog.hashtextextended(r2."leg"::text, %(p4)s::bigint)), %(p4)s::bigint), %(p4)s::bigint), r2."id", r2."leg") AS "dp_place" FROM "w"."trips" AS r2 WHERE pg_catalog.octet_length(r2."t") <= %(p3)s::integer) AS r2 WHERE "dp_place" <= %(p6)s::bigint) AS r2 ON (CASE WHEN pg_catalog.octet_length(r1."t") <= %(p3)s::integer THEN r1."t" END = CASE WHEN pg_catalog.octet_length(r2."t") <= %(p3)s::integer THEN r2."t" END) AND (pg_catalog.hashtextextended((CASE WHEN pg_catalog.octet_length(r1."t") <= %(p3)s::integer THEN r1."t" END)::text, %(p7)s::bigint) = pg_catalog.hashtextextended((CASE WHEN pg_catalog.octet_length(r2."t") <= %(p3)s::integer THEN r2."t" END)::text, %(p7)s::bigint))) WHERE CASE WHEN r1."t" IS NOT NULL AND r2."t" IS NOT NULL THEN ((CASE WHEN pg_catalog.octet_length(r1."t") <= %(p1)s::integer THEN r1."t" ELSE pg_catalog.left(r1."t"::text, %(p1)s::integer) END) = (CASE WHEN pg_catalog.octet_length(r2."t") <= %(p1)s::integer THEN r2."t" ELSE pg_catalog.left(r2."t"::text, %(p1)s::integer) END)) ELSE FALSE END LIMIT ALL) AS j1 CROSS JOIN LATERAL (SELECT j1.c1 AS "i4", j1.c2 AS "t") AS r1 CROSS JOIN LATERAL (SELECT j1.c3 AS "t") AS r2)
--   p1 = 65536
--   p2 = 5
--   p3 = 4096
--   p4 = random
--   p5 = 3
--   p6 = 2
--   p7 = random
-- => loss
-- epsilon 8 delta 0
-- => residual
SELECT dp_b1.a1 AS "count" FROM pg_catalog.jsonb_to_recordset(($1)::pg_catalog.jsonb->'b1') AS dp_b1(a1 bigint)

-- case: private keys of a cut join
-- policy: joins
SELECT a.s, count(*) FROM people a JOIN trips b ON a.t = b.t GROUP BY a.s
-- => plan
-- w.people, w.trips, unit 22 row(s), partitions by hash of r1."t", at most 4 partitions; keys s of private; cells 0
--   selection: epsilon 4 delta 1/2000, each epsilon 0.181818 delta 4.993e-07
--   count(*): sensitivity 22, scale 11/2, epsilon 4 delta 0
-- => backend
SELECT (r1."s")::text, pg_catalog.count(*) FROM ((SELECT r1."s" AS c1, r1."t" AS c2, r2."t" AS c3 FROM ((SELECT * FROM (SELECT r1."id", r1."i2", r1."i4", r1."i8", r1."n2", r1."n", r1."f4", r1."f8", r1."t", r1."c", r1."s", r1."b", r1."d", r1."ts", r1."tz", r1."free", r1."e", r1."j", r1."ta", r1."ia", r1."iv", r1."tod", pg_catalog.row_number() OVER (PARTITION BY r1."t" ORDER BY pg_catalog.hashint4extended(r1."id"::integer, %(p2)s::bigint), r1."id") AS "dp_place" FROM "w"."people" AS r1 WHERE pg_catalog.octet_length(r1."t") <= %(p1)s::integer) AS r1 WHERE "dp_place" <= %(p3)s::bigint) AS r1 FULL JOIN (SELECT * FROM (SELECT r2."id", r2."leg", r2."i2", r2."i4", r2."i8", r2."n2", r2."n", r2."f4", r2."f8", r2."t", r2."c", r2."s", r2."b", r2."d", r2."ts", r2."tz", r2."free", r2."e", r2."j", r2."ta", r2."ia", r2."iv", r2."tod", pg_catalog.row_number() OVER (PARTITION BY r2."t" ORDER BY pg_catalog.hashint8extended(pg_catalog.hash_record_extended(ROW(r2."id", pg_catalog.hashtextextended(r2."leg"::text, %(p2)s::bigint)), %(p2)s::bigint), %(p2)s::bigint), r2."id", r2."leg") AS "dp_place" FROM "w"."trips" AS r2 WHERE pg_catalog.octet_length(r2."t") <= %(p1)s::integer) AS r2 WHERE "dp_place" <= %(p4)s::bigint) AS r2 ON (CASE WHEN pg_catalog.octet_length(r1."t") <= %(p1)s::integer THEN r1."t" END = CASE WHEN pg_catalog.octet_length(r2."t") <= %(p1)s::integer THEN r2."t" END) AND (pg_catalog.hashtextextended((CASE WHEN pg_catalog.octet_length(r1."t") <= %(p1)s::integer THEN r1."t" END)::text, %(p5)s::bigint) = pg_catalog.hashtextextended((CASE WHEN pg_catalog.octet_length(r2."t") <= %(p1)s::integer THEN r2."t" END)::text, %(p5)s::bigint))) WHERE CASE WHEN r1."t" IS NOT NULL AND r2."t" IS NOT NULL THEN TRUE ELSE FALSE END LIMIT ALL) AS j1 CROSS JOIN LATERAL (SELECT j1.c1 AS "s", j1.c2 AS "t") AS r1 CROSS JOIN LATERAL (SELECT j1.c3 AS "t") AS r2) GROUP BY 1, coalesce(pg_catalog.hashtextextended(((r1."s")::text)::text, %(p5)s::bigint), %(p5)s::bigint)
--   p1 = 4096
--   p2 = random
--   p3 = 3
--   p4 = 2
--   p5 = random
-- => loss
-- epsilon 8 delta 1/2000
-- => residual
SELECT dp_b1.k1 AS "s", dp_b1.a1 AS "count" FROM pg_catalog.jsonb_to_recordset(($1)::pg_catalog.jsonb->'b1') AS dp_b1(k1 character varying(20), a1 bigint)

-- case: a cut join with public tables on both sides of it
-- policy: joins
SELECT q.zone, count(*) FROM people a JOIN places p ON a.t = p.code JOIN trips b ON a.t = b.t JOIN places q ON q.code = b.t GROUP BY q.zone
-- => plan
-- w.people, w.places, w.trips, unit 22 row(s), partitions by hash of r1."t", at most 4 partitions; keys zone of 2; cells 0
--   count(*): sensitivity 22, scale 11/4, epsilon 8 delta 0
-- => backend
SELECT * FROM (SELECT (CASE WHEN pg_catalog.octet_length((r4."zone")::text) <= 1024 THEN (r4."zone")::text ELSE pg_catalog.left((r4."zone")::text, 1024) END)::text AS k1, pg_catalog.count(*) FROM ((SELECT r1."t" AS c1, r2."code" AS c2, r3."t" AS c3, r4."code" AS c4, r4."zone" AS c5 FROM (((SELECT r1."t" AS c1, r2."code" AS c2, r3."t" AS c3 FROM (((SELECT r1."t" AS c1, r2."code" AS c2 FROM ((SELECT * FROM (SELECT r1."id", r1."i2", r1."i4", r1."i8", r1."n2", r1."n", r1."f4", r1."f8", r1."t", r1."c", r1."s", r1."b", r1."d", r1."ts", r1."tz", r1."free", r1."e", r1."j", r1."ta", r1."ia", r1."iv", r1."tod", pg_catalog.row_number() OVER (PARTITION BY r1."t" ORDER BY pg_catalog.hashint4extended(r1."id"::integer, %(p2)s::bigint), r1."id") AS "dp_place" FROM "w"."people" AS r1 WHERE pg_catalog.octet_length(r1."t") <= %(p1)s::integer) AS r1 WHERE "dp_place" <= %(p3)s::bigint) AS r1 FULL JOIN "w"."places" AS r2 ON (CASE WHEN pg_catalog.octet_length(r1."t") <= %(p1)s::integer THEN r1."t" END = CASE WHEN pg_catalog.octet_length(r2."code") <= %(p1)s::integer THEN r2."code" END)) WHERE CASE WHEN r1."t" IS NOT NULL AND r2."code" IS NOT NULL THEN TRUE ELSE FALSE END LIMIT ALL) AS j1 CROSS JOIN LATERAL (SELECT j1.c1 AS "t") AS r1 CROSS JOIN LATERAL (SELECT j1.c2 AS "code") AS r2) FULL JOIN (SELECT * FROM (SELECT r3."id", r3."leg", r3."i2", r3."i4", r3."i8", r3."n2", r3."n", r3."f4", r3."f8", r3."t", r3."c", r3."s", r3."b", r3."d", r3."ts", r3."tz", r3."free", r3."e", r3."j", r3."ta", r3."ia", r3."iv", r3."tod", pg_catalog.row_number() OVER (PARTITION BY r3."t" ORDER BY pg_catalog.hashint8extended(pg_catalog.hash_record_extended(ROW(r3."id", pg_catalog.hashtextextended(r3."leg"::text, %(p2)s::bigint)), %(p2)s::bigint), %(p2)s::bigint), r3."id", r3."leg") AS "dp_place" FROM "w"."trips" AS r3 WHERE pg_catalog.octet_length(r3."t") <= %(p1)s::integer) AS r3 WHERE "dp_place" <= %(p4)s::bigint) AS r3 ON (CASE WHEN pg_catalog.octet_length(r1."t") <= %(p1)s::integer THEN r1."t" END = CASE WHEN pg_catalog.octet_length(r3."t") <= %(p1)s::integer THEN r3."t" END) AND (pg_catalog.hashtextextended((CASE WHEN pg_catalog.octet_length(r1."t") <= %(p1)s::integer THEN r1."t" END)::text, %(p5)s::bigint) = pg_catalog.hashtextextended((CASE WHEN pg_catalog.octet_length(r3."t") <= %(p1)s::integer THEN r3."t" END)::text, %(p5)s::bigint))) WHERE CASE WHEN r1."t" IS NOT NULL AND r3."t" IS NOT NULL THEN TRUE ELSE FALSE END LIMIT ALL) AS j2 CROSS JOIN LATERAL (SELECT j2.c1 AS "t") AS r1 CROSS JOIN LATERAL (SELECT j2.c2 AS "code") AS r2 CROSS JOIN LATERAL (SELECT j2.c3 AS "t") AS r3) FULL JOIN "w"."places" AS r4 ON (CASE WHEN pg_catalog.octet_length(r3."t") <= %(p1)s::integer THEN r3."t" END = CASE WHEN pg_catalog.octet_length(r4."code") <= %(p1)s::integer THEN r4."code" END)) WHERE CASE WHEN r3."t" IS NOT NULL AND r4."code" IS NOT NULL THEN TRUE ELSE FALSE END LIMIT ALL) AS j3 CROSS JOIN LATERAL (SELECT j3.c1 AS "t") AS r1 CROSS JOIN LATERAL (SELECT j3.c2 AS "code") AS r2 CROSS JOIN LATERAL (SELECT j3.c3 AS "t") AS r3 CROSS JOIN LATERAL (SELECT j3.c4 AS "code", j3.c5 AS "zone") AS r4) GROUP BY 1 LIMIT ALL) g WHERE (k1 = ANY(%(p6)s::text[]))
--   p1 = 4096
--   p2 = random
--   p3 = 3
--   p4 = 2
--   p5 = random
--   p6 = ['north', 'south']
-- => loss
-- epsilon 8 delta 0
-- => residual
SELECT dp_b1.k1 AS "zone", dp_b1.a1 AS "count" FROM pg_catalog.jsonb_to_recordset(($1)::pg_catalog.jsonb->'b1') AS dp_b1(k1 pg_catalog.text, a1 bigint)

-- case: a public table with several rows of a key
-- policy: joins
SELECT count(*), sum(a.i4), avg(a.i4) FROM (SELECT CASE WHEN b THEN 'south' ELSE 'north' END AS z, i4 FROM trips) a JOIN places q ON a.z = q.zone
-- => plan
-- w.trips, w.places, unit 6 row(s), partitions by hash of r2."dp_key1", r2."dp_key2", at most 3 partitions; keys none; cells 511
--   count(*): sensitivity 6, scale 9/4, epsilon 8/3 delta 0
--   sum: clamp 0 .. 100, grid 1, sensitivity 600 steps, scale 225, epsilon 8/3 delta 0
--   avg: 0 .. 10000 steps of 0.01, fill 5000, 511 partitions, gate 4223 units, scale 45, epsilon 8/3 delta 1/3000, each epsilon 38/45 delta 2.052e-05
-- => backend
SELECT x2, pg_catalog.count(*), pg_catalog.sum((pg_catalog.int4larger(pg_catalog.int4smaller(x1, %(p2)s::integer), %(p1)s::integer))::integer), pg_catalog.count(x1) FROM (SELECT r2."i4" AS x1, pg_catalog.mod(((pg_catalog.hash_record_extended(ROW(r2."dp_key1", pg_catalog.hashtextextended(r2."dp_key2"::text, %(p8)s::bigint)), %(p8)s::bigint)) & %(p9)s::bigint)::integer, %(p10)s::integer) AS x2 FROM ((SELECT r2."dp_key1" AS c1, r2."dp_key2" AS c2, r2."i4" AS c3, r2."z" AS c4, r3."zone" AS c5 FROM ((SELECT (CASE WHEN r1."b" THEN %(p3)s::text ELSE %(p4)s::text END)::text AS "z", r1."i4" AS "i4", r1."id" AS "dp_key1", r1."leg" AS "dp_key2" FROM "w"."trips" AS r1) AS r2 FULL JOIN (SELECT * FROM (SELECT r3."code", r3."zone", pg_catalog.row_number() OVER (PARTITION BY r3."zone" ORDER BY pg_catalog.hashtextextended(r3."code"::text, %(p6)s::bigint), r3."code") AS "dp_place" FROM "w"."places" AS r3 WHERE pg_catalog.octet_length(r3."zone") <= %(p5)s::integer) AS r3 WHERE "dp_place" <= %(p7)s::bigint) AS r3 ON (CASE WHEN pg_catalog.octet_length(r2."z") <= %(p5)s::integer THEN r2."z" END = CASE WHEN pg_catalog.octet_length(r3."zone") <= %(p5)s::integer THEN r3."zone" END)) WHERE CASE WHEN r2."z" IS NOT NULL AND r3."zone" IS NOT NULL THEN TRUE ELSE FALSE END LIMIT ALL) AS j1 CROSS JOIN LATERAL (SELECT j1.c1 AS "dp_key1", j1.c2 AS "dp_key2", j1.c3 AS "i4", j1.c4 AS "z") AS r2 CROSS JOIN LATERAL (SELECT j1.c5 AS "zone") AS r3) LIMIT ALL) r GROUP BY 1
--   p1 = 0
--   p2 = 100
--   p3 = south
--   p4 = north
--   p5 = 4096
--   p6 = random
--   p7 = 2
--   p8 = random
--   p9 = 2147483647
--   p10 = 511
-- => loss
-- epsilon 8 delta 1/3000
-- => residual
SELECT dp_b1.a1 AS "count", dp_b1.a2 AS "sum", dp_b1.a3 AS "avg" FROM pg_catalog.jsonb_to_recordset(($1)::pg_catalog.jsonb->'b1') AS dp_b1(a1 bigint, a2 bigint, a3 numeric)

-- case: a public table with several rows of a key beside units
-- policy: joins
SELECT count(*), avg(a.i4) FROM (SELECT CASE WHEN b THEN 'south' ELSE 'north' END AS z, i4 FROM visits) a JOIN places q ON a.z = q.zone
-- => plan
-- w.visits, w.places, unit r2."dp_unit": rows 10, groups None, per group None; keys none; cells 91
--   count(*): sensitivity 10, scale 5/2, epsilon 4 delta 0
--   avg: 0 .. 10000 steps of 0.01, fill 5000, 91 partitions, gate 743 units, scale 5, epsilon 4 delta 1/2000, each epsilon 19/5 delta 0.0005
-- => backend
SELECT cell, pg_catalog.sum(least(v0, %(p1)s::bigint)), pg_catalog.sum(v1), pg_catalog.sum(v2), pg_catalog.count(v2) FROM (SELECT r2."dp_unit" AS unit, pg_catalog.mod(((pg_catalog.hashint8extended((r2."dp_unit" # ((r2."dp_unit" >> 32) * (%(p4)s::bigint >> 33))), %(p4)s::bigint)) & %(p5)s::bigint)::integer, %(p6)s::integer) AS cell, pg_catalog.count(*) AS v0, pg_catalog.count(r2."i4") AS v1, pg_catalog.sum((pg_catalog.int4larger(pg_catalog.int4smaller(r2."i4", %(p3)s::integer), %(p2)s::integer))::integer) AS v2 FROM ((SELECT r2."dp_unit" AS c1, r2."i4" AS c2, r2."z" AS c3, r3."zone" AS c4 FROM ((SELECT r2."dp_unit", r2."i4", r2."z" FROM (SELECT (CASE WHEN r1."b" THEN %(p7)s::text ELSE %(p8)s::text END)::text AS "z", r1."i4" AS "i4", r1."uid" AS "dp_unit", r1."id" AS "dp_key1" FROM "w"."visits" AS r1) AS r2 WHERE r2."dp_unit" IS NOT NULL) AS r2 FULL JOIN (SELECT * FROM (SELECT r3."code", r3."zone", pg_catalog.row_number() OVER (PARTITION BY r3."zone" ORDER BY pg_catalog.hashtextextended(r3."code"::text, %(p10)s::bigint), r3."code") AS "dp_place" FROM "w"."places" AS r3 WHERE pg_catalog.octet_length(r3."zone") <= %(p9)s::integer) AS r3 WHERE "dp_place" <= %(p11)s::bigint) AS r3 ON (CASE WHEN pg_catalog.octet_length(r2."z") <= %(p9)s::integer THEN r2."z" END = CASE WHEN pg_catalog.octet_length(r3."zone") <= %(p9)s::integer THEN r3."zone" END)) WHERE CASE WHEN r2."z" IS NOT NULL AND r3."zone" IS NOT NULL THEN TRUE ELSE FALSE END LIMIT ALL) AS j1 CROSS JOIN LATERAL (SELECT j1.c1 AS "dp_unit", j1.c2 AS "i4", j1.c3 AS "z") AS r2 CROSS JOIN LATERAL (SELECT j1.c4 AS "zone") AS r3) GROUP BY r2."dp_unit") u GROUP BY 1
--   p1 = 10
--   p2 = 0
--   p3 = 100
--   p4 = random
--   p5 = 2147483647
--   p6 = 91
--   p7 = south
--   p8 = north
--   p9 = 4096
--   p10 = random
--   p11 = 2
-- => loss
-- epsilon 8 delta 1/2000
-- => residual
SELECT dp_b1.a1 AS "count", dp_b1.a2 AS "avg" FROM pg_catalog.jsonb_to_recordset(($1)::pg_catalog.jsonb->'b1') AS dp_b1(a1 bigint, a2 numeric)

-- case: columns of one name in a subquery that is cut
-- policy: joins
SELECT count(*) FROM (SELECT t, i4 AS x, i2 AS x FROM people) a JOIN trips b ON a.t = b.t
-- => plan
-- w.people, w.trips, unit 22 row(s), partitions by hash of r2."t", at most 4 partitions; keys none; cells 0
--   count(*): sensitivity 22, scale 11/4, epsilon 8 delta 0
-- => backend
SELECT pg_catalog.count(*) FROM ((SELECT r2."t" AS c1, r3."t" AS c2 FROM ((SELECT * FROM (SELECT r2."t", r2."x", r2."dp_same_1", r2."dp_key1", pg_catalog.row_number() OVER (PARTITION BY r2."t" ORDER BY pg_catalog.hashint4extended(r2."dp_key1"::integer, %(p2)s::bigint), r2."dp_key1") AS "dp_place" FROM (SELECT r1."t" AS "t", r1."i4" AS "x", r1."i2" AS "dp_same_1", r1."id" AS "dp_key1" FROM "w"."people" AS r1) AS r2 WHERE pg_catalog.octet_length(r2."t") <= %(p1)s::integer) AS r2 WHERE "dp_place" <= %(p3)s::bigint) AS r2 FULL JOIN (SELECT * FROM (SELECT r3."id", r3."leg", r3."i2", r3."i4", r3."i8", r3."n2", r3."n", r3."f4", r3."f8", r3."t", r3."c", r3."s", r3."b", r3."d", r3."ts", r3."tz", r3."free", r3."e", r3."j", r3."ta", r3."ia", r3."iv", r3."tod", pg_catalog.row_number() OVER (PARTITION BY r3."t" ORDER BY pg_catalog.hashint8extended(pg_catalog.hash_record_extended(ROW(r3."id", pg_catalog.hashtextextended(r3."leg"::text, %(p2)s::bigint)), %(p2)s::bigint), %(p2)s::bigint), r3."id", r3."leg") AS "dp_place" FROM "w"."trips" AS r3 WHERE pg_catalog.octet_length(r3."t") <= %(p1)s::integer) AS r3 WHERE "dp_place" <= %(p4)s::bigint) AS r3 ON (CASE WHEN pg_catalog.octet_length(r2."t") <= %(p1)s::integer THEN r2."t" END = CASE WHEN pg_catalog.octet_length(r3."t") <= %(p1)s::integer THEN r3."t" END) AND (pg_catalog.hashtextextended((CASE WHEN pg_catalog.octet_length(r2."t") <= %(p1)s::integer THEN r2."t" END)::text, %(p5)s::bigint) = pg_catalog.hashtextextended((CASE WHEN pg_catalog.octet_length(r3."t") <= %(p1)s::integer THEN r3."t" END)::text, %(p5)s::bigint))) WHERE CASE WHEN r2."t" IS NOT NULL AND r3."t" IS NOT NULL THEN TRUE ELSE FALSE END LIMIT ALL) AS j1 CROSS JOIN LATERAL (SELECT j1.c1 AS "t") AS r2 CROSS JOIN LATERAL (SELECT j1.c2 AS "t") AS r3)
--   p1 = 4096
--   p2 = random
--   p3 = 3
--   p4 = 2
--   p5 = random
-- => loss
-- epsilon 8 delta 0
-- => residual
SELECT dp_b1.a1 AS "count" FROM pg_catalog.jsonb_to_recordset(($1)::pg_catalog.jsonb->'b1') AS dp_b1(a1 bigint)

-- case: left join by truncation
-- policy: joins
SELECT count(*), count(b.i4) FROM people a LEFT JOIN trips b ON a.t = b.t
-- => plan
-- w.people, w.trips, unit 22 row(s), partitions by random, at most 22 partitions; keys none; cells 0
--   count(*): sensitivity 22, scale 11/2, epsilon 4 delta 0
--   count: sensitivity 22, scale 11/2, epsilon 4 delta 0
-- => backend
SELECT pg_catalog.count(*), pg_catalog.count(r2."i4") FROM ((SELECT r1."t" AS c1, r2."i4" AS c2, r2."t" AS c3 FROM (((SELECT * FROM (SELECT r1."id", r1."i2", r1."i4", r1."i8", r1."n2", r1."n", r1."f4", r1."f8", r1."t", r1."c", r1."s", r1."b", r1."d", r1."ts", r1."tz", r1."free", r1."e", r1."j", r1."ta", r1."ia", r1."iv", r1."tod", pg_catalog.row_number() OVER (PARTITION BY r1."t" ORDER BY pg_catalog.hashint4extended(r1."id"::integer, %(p1)s::bigint), r1."id") AS "dp_place" FROM "w"."people" AS r1) AS r1 WHERE "dp_place" <= %(p2)s::bigint OR r1."t" IS NULL) AS r1 CROSS JOIN (SELECT TRUE AS here) AS m1) FULL JOIN (SELECT * FROM (SELECT r2."id", r2."leg", r2."i2", r2."i4", r2."i8", r2."n2", r2."n", r2."f4", r2."f8", r2."t", r2."c", r2."s", r2."b", r2."d", r2."ts", r2."tz", r2."free", r2."e", r2."j", r2."ta", r2."ia", r2."iv", r2."tod", pg_catalog.row_number() OVER (PARTITION BY r2."t" ORDER BY pg_catalog.hashint8extended(pg_catalog.hash_record_extended(ROW(r2."id", pg_catalog.hashtextextended(r2."leg"::text, %(p1)s::bigint)), %(p1)s::bigint), %(p1)s::bigint), r2."id", r2."leg") AS "dp_place" FROM "w"."trips" AS r2 WHERE pg_catalog.octet_length(r2."t") <= %(p3)s::integer) AS r2 WHERE "dp_place" <= %(p4)s::bigint) AS r2 ON (CASE WHEN pg_catalog.octet_length(r1."t") <= %(p3)s::integer THEN r1."t" END = CASE WHEN pg_catalog.octet_length(r2."t") <= %(p3)s::integer THEN r2."t" END) AND (pg_catalog.hashtextextended((CASE WHEN pg_catalog.octet_length(r1."t") <= %(p3)s::integer THEN r1."t" END)::text, %(p5)s::bigint) = pg_catalog.hashtextextended((CASE WHEN pg_catalog.octet_length(r2."t") <= %(p3)s::integer THEN r2."t" END)::text, %(p5)s::bigint))) WHERE CASE WHEN m1.here THEN TRUE ELSE FALSE END LIMIT ALL) AS j2 CROSS JOIN LATERAL (SELECT j2.c1 AS "t") AS r1 CROSS JOIN LATERAL (SELECT j2.c2 AS "i4", j2.c3 AS "t") AS r2)
--   p1 = random
--   p2 = 3
--   p3 = 4096
--   p4 = 2
--   p5 = random
-- => loss
-- epsilon 8 delta 0
-- => residual
SELECT dp_b1.a1 AS "count", dp_b1.a2 AS "count" FROM pg_catalog.jsonb_to_recordset(($1)::pg_catalog.jsonb->'b1') AS dp_b1(a1 bigint, a2 bigint)

-- case: left join to a key that is unique
-- policy: joins
SELECT b.b, count(*) FROM visits a LEFT JOIN members b ON a.i2 = b.uid AND b.i4 > 3 GROUP BY 1
-- => plan
-- w.visits, w.members, unit 16 row(s), partitions by random, at most 16 partitions; keys b of 3; cells 0
--   count(*): sensitivity 16, scale 2, epsilon 8 delta 0
-- => backend
SELECT * FROM (SELECT (r2."b")::text AS k1, pg_catalog.count(*) FROM ((SELECT r1."i2" AS c1, r2."b" AS c2, r2."i4" AS c3, r2."uid" AS c4 FROM (((SELECT * FROM (SELECT r1."id", r1."uid", r1."i2", r1."i4", r1."i8", r1."n2", r1."n", r1."f4", r1."f8", r1."t", r1."c", r1."s", r1."b", r1."d", r1."ts", r1."tz", r1."free", r1."e", r1."j", r1."ta", r1."ia", r1."iv", r1."tod", pg_catalog.row_number() OVER (PARTITION BY r1."i2" ORDER BY pg_catalog.hashint4extended(r1."id"::integer, %(p2)s::bigint), r1."id") AS "dp_place" FROM (SELECT * FROM (SELECT r1."id", r1."uid", r1."i2", r1."i4", r1."i8", r1."n2", r1."n", r1."f4", r1."f8", r1."t", r1."c", r1."s", r1."b", r1."d", r1."ts", r1."tz", r1."free", r1."e", r1."j", r1."ta", r1."ia", r1."iv", r1."tod", pg_catalog.row_number() OVER (PARTITION BY r1."uid" ORDER BY pg_catalog.hashint4extended(r1."id"::integer, %(p2)s::bigint), r1."id") AS "dp_place_of_unit" FROM "w"."visits" AS r1 WHERE r1."uid" IS NOT NULL) AS r1 WHERE "dp_place_of_unit" <= %(p3)s::bigint) AS r1) AS r1 WHERE "dp_place" <= %(p1)s::bigint OR r1."i2" IS NULL) AS r1 CROSS JOIN (SELECT TRUE AS here) AS m1) FULL JOIN (SELECT r2."b", r2."i4", r2."uid" FROM (SELECT r2."id", r2."uid", r2."i2", r2."i4", r2."i8", r2."n2", r2."n", r2."f4", r2."f8", r2."t", r2."c", r2."s", r2."b", r2."d", r2."ts", r2."tz", r2."free", r2."e", r2."j", r2."ta", r2."ia", r2."iv", r2."tod" FROM "w"."members" AS r2 WHERE r2."uid" IS NOT NULL) AS r2 WHERE (r2."i4" > %(p1)s::bigint)) AS r2 ON (r1."i2" = r2."uid") AND (pg_catalog.hash_numeric_extended((r1."i2")::numeric, %(p4)s::bigint) = pg_catalog.hash_numeric_extended((r2."uid")::numeric, %(p4)s::bigint))) WHERE CASE WHEN m1.here THEN TRUE ELSE FALSE END LIMIT ALL) AS j2 CROSS JOIN LATERAL (SELECT j2.c1 AS "i2") AS r1 CROSS JOIN LATERAL (SELECT j2.c2 AS "b", j2.c3 AS "i4", j2.c4 AS "uid") AS r2) GROUP BY 1 LIMIT ALL) g WHERE (k1 = ANY(%(p5)s::text[]) OR k1 IS NULL)
--   p1 = 3
--   p2 = random
--   p3 = 5
--   p4 = random
--   p5 = ['true', 'false']
-- => loss
-- epsilon 8 delta 0
-- => residual
SELECT dp_b1.k1 AS "b", dp_b1.a1 AS "count" FROM pg_catalog.jsonb_to_recordset(($1)::pg_catalog.jsonb->'b1') AS dp_b1(k1 boolean, a1 bigint)

-- case: three tables by truncation on one key
-- policy: joins
SELECT count(*) FROM people a JOIN trips b ON a.t = b.t JOIN visits c ON c.t = b.t
-- => plan
-- w.people, w.trips, w.visits, unit 104 row(s), partitions by random, at most 104 partitions; keys none; cells 0
--   count(*): sensitivity 104, scale 13, epsilon 8 delta 0
-- => backend
SELECT pg_catalog.count(*) FROM ((SELECT r1."t" AS c1, r2."t" AS c2, r3."t" AS c3 FROM (((SELECT r1."t" AS c1, r2."t" AS c2 FROM ((SELECT * FROM (SELECT r1."id", r1."i2", r1."i4", r1."i8", r1."n2", r1."n", r1."f4", r1."f8", r1."t", r1."c", r1."s", r1."b", r1."d", r1."ts", r1."tz", r1."free", r1."e", r1."j", r1."ta", r1."ia", r1."iv", r1."tod", pg_catalog.row_number() OVER (PARTITION BY r1."t" ORDER BY pg_catalog.hashint4extended(r1."id"::integer, %(p2)s::bigint), r1."id") AS "dp_place" FROM "w"."people" AS r1 WHERE pg_catalog.octet_length(r1."t") <= %(p1)s::integer) AS r1 WHERE "dp_place" <= %(p3)s::bigint) AS r1 FULL JOIN (SELECT * FROM (SELECT r2."id", r2."leg", r2."i2", r2."i4", r2."i8", r2."n2", r2."n", r2."f4", r2."f8", r2."t", r2."c", r2."s", r2."b", r2."d", r2."ts", r2."tz", r2."free", r2."e", r2."j", r2."ta", r2."ia", r2."iv", r2."tod", pg_catalog.row_number() OVER (PARTITION BY r2."t" ORDER BY pg_catalog.hashint8extended(pg_catalog.hash_record_extended(ROW(r2."id", pg_catalog.hashtextextended(r2."leg"::text, %(p2)s::bigint)), %(p2)s::bigint), %(p2)s::bigint), r2."id", r2."leg") AS "dp_place" FROM "w"."trips" AS r2 WHERE pg_catalog.octet_length(r2."t") <= %(p1)s::integer) AS r2 WHERE "dp_place" <= %(p4)s::bigint) AS r2 ON (CASE WHEN pg_catalog.octet_length(r1."t") <= %(p1)s::integer THEN r1."t" END = CASE WHEN pg_catalog.octet_length(r2."t") <= %(p1)s::integer THEN r2."t" END) AND (pg_catalog.hashtextextended((CASE WHEN pg_catalog.octet_length(r1."t") <= %(p1)s::integer THEN r1."t" END)::text, %(p5)s::bigint) = pg_catalog.hashtextextended((CASE WHEN pg_catalog.octet_length(r2."t") <= %(p1)s::integer THEN r2."t" END)::text, %(p5)s::bigint))) WHERE CASE WHEN r1."t" IS NOT NULL AND r2."t" IS NOT NULL THEN TRUE ELSE FALSE END LIMIT ALL) AS j1 CROSS JOIN LATERAL (SELECT j1.c1 AS "t") AS r1 CROSS JOIN LATERAL (SELECT j1.c2 AS "t") AS r2) FULL JOIN (SELECT * FROM (SELECT r3."id", r3."uid", r3."i2", r3."i4", r3."i8", r3."n2", r3."n", r3."f4", r3."f8", r3."t", r3."c", r3."s", r3."b", r3."d", r3."ts", r3."tz", r3."free", r3."e", r3."j", r3."ta", r3."ia", r3."iv", r3."tod", pg_catalog.row_number() OVER (PARTITION BY r3."t" ORDER BY pg_catalog.hashint4extended(r3."id"::integer, %(p2)s::bigint), r3."id") AS "dp_place" FROM (SELECT * FROM (SELECT r3."id", r3."uid", r3."i2", r3."i4", r3."i8", r3."n2", r3."n", r3."f4", r3."f8", r3."t", r3."c", r3."s", r3."b", r3."d", r3."ts", r3."tz", r3."free", r3."e", r3."j", r3."ta", r3."ia", r3."iv", r3."tod", pg_catalog.row_number() OVER (PARTITION BY r3."uid" ORDER BY pg_catalog.hashint4extended(r3."id"::integer, %(p2)s::bigint), r3."id") AS "dp_place_of_unit" FROM "w"."visits" AS r3 WHERE r3."uid" IS NOT NULL) AS r3 WHERE "dp_place_of_unit" <= %(p6)s::bigint) AS r3 WHERE pg_catalog.octet_length(r3."t") <= %(p1)s::integer) AS r3 WHERE "dp_place" <= %(p4)s::bigint) AS r3 ON (CASE WHEN pg_catalog.octet_length(r2."t") <= %(p1)s::integer THEN r2."t" END = CASE WHEN pg_catalog.octet_length(r3."t") <= %(p1)s::integer THEN r3."t" END) AND (pg_catalog.hashtextextended((CASE WHEN pg_catalog.octet_length(r2."t") <= %(p1)s::integer THEN r2."t" END)::text, %(p5)s::bigint) = pg_catalog.hashtextextended((CASE WHEN pg_catalog.octet_length(r3."t") <= %(p1)s::integer THEN r3."t" END)::text, %(p5)s::bigint))) WHERE CASE WHEN r2."t" IS NOT NULL AND r3."t" IS NOT NULL THEN TRUE ELSE FALSE END LIMIT ALL) AS j2 CROSS JOIN LATERAL (SELECT j2.c1 AS "t") AS r1 CROSS JOIN LATERAL (SELECT j2.c2 AS "t") AS r2 CROSS JOIN LATERAL (SELECT j2.c3 AS "t") AS r3)
--   p1 = 4096
--   p2 = random
--   p3 = 3
--   p4 = 2
--   p5 = random
--   p6 = 5
-- => loss
-- epsilon 8 delta 0
-- => residual
SELECT dp_b1.a1 AS "count" FROM pg_catalog.jsonb_to_recordset(($1)::pg_catalog.jsonb->'b1') AS dp_b1(a1 bigint)

-- case: three tables by truncation on two keys
-- policy: joins
SELECT count(*), avg(c.i4) FROM people a JOIN trips b ON a.t = b.t LEFT JOIN notes c ON c.i2 = a.i2
-- => plan
-- w.people, w.trips, w.notes, unit 84 row(s), partitions by random, at most 84 partitions; keys none; cells 13431
--   count(*): sensitivity 84, scale 21, epsilon 4 delta 0
--   avg: 0 .. 10000 steps of 0.01, fill 5000, 13431 partitions, gate 108706 units, scale 420, epsilon 4 delta 1/2000, each epsilon 19/420 delta 1.393e-07
-- => backend
SELECT x2, pg_catalog.count(*), pg_catalog.count(x1), pg_catalog.sum((pg_catalog.int4larger(pg_catalog.int4smaller(x1, %(p2)s::integer), %(p1)s::integer))::integer) FROM (SELECT r3."i4" AS x1, pg_catalog.floor(pg_catalog.random() * %(p9)s::double precision)::bigint AS x2 FROM ((SELECT r1."i2" AS c1, r1."t" AS c2, r2."t" AS c3, r3."i2" AS c4, r3."i4" AS c5 FROM ((((SELECT r1."i2" AS c1, r1."t" AS c2, r2."t" AS c3 FROM ((SELECT * FROM (SELECT r1."id", r1."i2", r1."i4", r1."i8", r1."n2", r1."n", r1."f4", r1."f8", r1."t", r1."c", r1."s", r1."b", r1."d", r1."ts", r1."tz", r1."free", r1."e", r1."j", r1."ta", r1."ia", r1."iv", r1."tod", pg_catalog.row_number() OVER (PARTITION BY r1."i2" ORDER BY pg_catalog.hashint4extended(r1."id"::integer, %(p4)s::bigint), r1."id") AS "dp_place" FROM (SELECT * FROM (SELECT r1."id", r1."i2", r1."i4", r1."i8", r1."n2", r1."n", r1."f4", r1."f8", r1."t", r1."c", r1."s", r1."b", r1."d", r1."ts", r1."tz", r1."free", r1."e", r1."j", r1."ta", r1."ia", r1."iv", r1."tod", pg_catalog.row_number() OVER (PARTITION BY r1."t" ORDER BY pg_catalog.hashint4extended(r1."id"::integer, %(p4)s::bigint), r1."id") AS "dp_place" FROM "w"."people" AS r1 WHERE pg_catalog.octet_length(r1."t") <= %(p3)s::integer) AS r1 WHERE "dp_place" <= %(p5)s::bigint) AS r1) AS r1 WHERE "dp_place" <= %(p6)s::bigint OR r1."i2" IS NULL) AS r1 FULL JOIN (SELECT * FROM (SELECT r2."id", r2."leg", r2."i2", r2."i4", r2."i8", r2."n2", r2."n", r2."f4", r2."f8", r2."t", r2."c", r2."s", r2."b", r2."d", r2."ts", r2."tz", r2."free", r2."e", r2."j", r2."ta", r2."ia", r2."iv", r2."tod", pg_catalog.row_number() OVER (PARTITION BY r2."t" ORDER BY pg_catalog.hashint8extended(pg_catalog.hash_record_extended(ROW(r2."id", pg_catalog.hashtextextended(r2."leg"::text, %(p4)s::bigint)), %(p4)s::bigint), %(p4)s::bigint), r2."id", r2."leg") AS "dp_place" FROM "w"."trips" AS r2 WHERE pg_catalog.octet_length(r2."t") <= %(p3)s::integer) AS r2 WHERE "dp_place" <= %(p6)s::bigint) AS r2 ON (CASE WHEN pg_catalog.octet_length(r1."t") <= %(p3)s::integer THEN r1."t" END = CASE WHEN pg_catalog.octet_length(r2."t") <= %(p3)s::integer THEN r2."t" END) AND (pg_catalog.hashtextextended((CASE WHEN pg_catalog.octet_length(r1."t") <= %(p3)s::integer THEN r1."t" END)::text, %(p7)s::bigint) = pg_catalog.hashtextextended((CASE WHEN pg_catalog.octet_length(r2."t") <= %(p3)s::integer THEN r2."t" END)::text, %(p7)s::bigint))) WHERE CASE WHEN r1."t" IS NOT NULL AND r2."t" IS NOT NULL THEN TRUE ELSE FALSE END LIMIT ALL) AS j1 CROSS JOIN LATERAL (SELECT j1.c1 AS "i2", j1.c2 AS "t") AS r1 CROSS JOIN LATERAL (SELECT j1.c3 AS "t") AS r2) CROSS JOIN (SELECT TRUE AS here) AS m2) FULL JOIN (SELECT * FROM (SELECT r3."id", r3."uid", r3."i2", r3."i4", r3."i8", r3."n2", r3."n", r3."f4", r3."f8", r3."t", r3."c", r3."s", r3."b", r3."d", r3."ts", r3."tz", r3."free", r3."e", r3."j", r3."ta", r3."ia", r3."iv", r3."tod", pg_catalog.row_number() OVER (PARTITION BY r3."i2" ORDER BY pg_catalog.hashint4extended(r3."id"::integer, %(p4)s::bigint), r3."id") AS "dp_place" FROM (SELECT * FROM (SELECT r3."id", r3."uid", r3."i2", r3."i4", r3."i8", r3."n2", r3."n", r3."f4", r3."f8", r3."t", r3."c", r3."s", r3."b", r3."d", r3."ts", r3."tz", r3."free", r3."e", r3."j", r3."ta", r3."ia", r3."iv", r3."tod", pg_catalog.row_number() OVER (PARTITION BY r3."uid" ORDER BY pg_catalog.hashint4extended(r3."id"::integer, %(p4)s::bigint), r3."id") AS "dp_place_of_unit" FROM "w"."notes" AS r3 WHERE pg_catalog.octet_length(r3."uid") <= %(p3)s::integer) AS r3 WHERE "dp_place_of_unit" <= %(p8)s::bigint) AS r3 WHERE r3."i2" IS NOT NULL) AS r3 WHERE "dp_place" <= %(p6)s::bigint) AS r3 ON (r1."i2" = r3."i2") AND (pg_catalog.hashint4extended((r1."i2")::integer, %(p7)s::bigint) = pg_catalog.hashint4extended((r3."i2")::integer, %(p7)s::bigint))) WHERE CASE WHEN m2.here THEN TRUE ELSE FALSE END LIMIT ALL) AS j3 CROSS JOIN LATERAL (SELECT j3.c1 AS "i2", j3.c2 AS "t") AS r1 CROSS JOIN LATERAL (SELECT j3.c3 AS "t") AS r2 CROSS JOIN LATERAL (SELECT j3.c4 AS "i2", j3.c5 AS "i4") AS r3) LIMIT ALL) r GROUP BY 1
--   p1 = 0
--   p2 = 100
--   p3 = 4096
--   p4 = random
--   p5 = 3
--   p6 = 2
--   p7 = random
--   p8 = 4
--   p9 = 13431
-- => loss
-- epsilon 8 delta 1/2000
-- => residual
SELECT dp_b1.a1 AS "count", dp_b1.a2 AS "avg" FROM pg_catalog.jsonb_to_recordset(($1)::pg_catalog.jsonb->'b1') AS dp_b1(a1 bigint, a2 numeric)

-- case: a left join to two tables by truncation
-- policy: joins
SELECT count(*) FROM people a LEFT JOIN (trips b JOIN notes c ON c.t = b.t) ON a.t = b.t
-- => plan
-- w.people, w.trips, w.notes, unit 216 row(s), partitions by random, at most 216 partitions; keys none; cells 0
--   count(*): sensitivity 216, scale 27, epsilon 8 delta 0
-- => backend
SELECT pg_catalog.count(*) FROM ((SELECT r1."t" AS c1, r2."t" AS c2, r3."t" AS c3 FROM (((SELECT * FROM (SELECT r1."id", r1."i2", r1."i4", r1."i8", r1."n2", r1."n", r1."f4", r1."f8", r1."t", r1."c", r1."s", r1."b", r1."d", r1."ts", r1."tz", r1."free", r1."e", r1."j", r1."ta", r1."ia", r1."iv", r1."tod", pg_catalog.row_number() OVER (PARTITION BY r1."t" ORDER BY pg_catalog.hashint4extended(r1."id"::integer, %(p1)s::bigint), r1."id") AS "dp_place" FROM "w"."people" AS r1) AS r1 WHERE "dp_place" <= %(p2)s::bigint OR r1."t" IS NULL) AS r1 CROSS JOIN (SELECT TRUE AS here) AS m2) FULL JOIN ((SELECT r2."t" AS c1, r3."t" AS c2 FROM ((SELECT * FROM (SELECT r2."id", r2."leg", r2."i2", r2."i4", r2."i8", r2."n2", r2."n", r2."f4", r2."f8", r2."t", r2."c", r2."s", r2."b", r2."d", r2."ts", r2."tz", r2."free", r2."e", r2."j", r2."ta", r2."ia", r2."iv", r2."tod", pg_catalog.row_number() OVER (PARTITION BY r2."t" ORDER BY pg_catalog.hashint8extended(pg_catalog.hash_record_extended(ROW(r2."id", pg_catalog.hashtextextended(r2."leg"::text, %(p1)s::bigint)), %(p1)s::bigint), %(p1)s::bigint), r2."id", r2."leg") AS "dp_place" FROM "w"."trips" AS r2 WHERE pg_catalog.octet_length(r2."t") <= %(p3)s::integer) AS r2 WHERE "dp_place" <= %(p4)s::bigint) AS r2 FULL JOIN (SELECT * FROM (SELECT r3."id", r3."uid", r3."i2", r3."i4", r3."i8", r3."n2", r3."n", r3."f4", r3."f8", r3."t", r3."c", r3."s", r3."b", r3."d", r3."ts", r3."tz", r3."free", r3."e", r3."j", r3."ta", r3."ia", r3."iv", r3."tod", pg_catalog.row_number() OVER (PARTITION BY r3."t" ORDER BY pg_catalog.hashint4extended(r3."id"::integer, %(p1)s::bigint), r3."id") AS "dp_place" FROM (SELECT * FROM (SELECT r3."id", r3."uid", r3."i2", r3."i4", r3."i8", r3."n2", r3."n", r3."f4", r3."f8", r3."t", r3."c", r3."s", r3."b", r3."d", r3."ts", r3."tz", r3."free", r3."e", r3."j", r3."ta", r3."ia", r3."iv", r3."tod", pg_catalog.row_number() OVER (PARTITION BY r3."uid" ORDER BY pg_catalog.hashint4extended(r3."id"::integer, %(p1)s::bigint), r3."id") AS "dp_place_of_unit" FROM "w"."notes" AS r3 WHERE pg_catalog.octet_length(r3."uid") <= %(p3)s::integer) AS r3 WHERE "dp_place_of_unit" <= %(p5)s::bigint) AS r3 WHERE pg_catalog.octet_length(r3."t") <= %(p3)s::integer) AS r3 WHERE "dp_place" <= %(p2)s::bigint) AS r3 ON (CASE WHEN pg_catalog.octet_length(r2."t") <= %(p3)s::integer THEN r2."t" END = CASE WHEN pg_catalog.octet_length(r3."t") <= %(p3)s::integer THEN r3."t" END) AND (pg_catalog.hashtextextended((CASE WHEN pg_catalog.octet_length(r2."t") <= %(p3)s::integer THEN r2."t" END)::text, %(p6)s::bigint) = pg_catalog.hashtextextended((CASE WHEN pg_catalog.octet_length(r3."t") <= %(p3)s::integer THEN r3."t" END)::text, %(p6)s::bigint))) WHERE CASE WHEN r2."t" IS NOT NULL AND r3."t" IS NOT NULL THEN TRUE ELSE FALSE END LIMIT ALL) AS j1 CROSS JOIN LATERAL (SELECT j1.c1 AS "t") AS r2 CROSS JOIN LATERAL (SELECT j1.c2 AS "t") AS r3) ON (CASE WHEN pg_catalog.octet_length(r1."t") <= %(p3)s::integer THEN r1."t" END = CASE WHEN pg_catalog.octet_length(r2."t") <= %(p3)s::integer THEN r2."t" END) AND (pg_catalog.hashtextextended((CASE WHEN pg_catalog.octet_length(r1."t") <= %(p3)s::integer THEN r1."t" END)::text, %(p6)s::bigint) = pg_catalog.hashtextextended((CASE WHEN pg_catalog.octet_length(r2."t") <= %(p3)s::integer THEN r2."t" END)::text, %(p6)s::bigint))) WHERE CASE WHEN m2.here THEN TRUE ELSE FALSE END LIMIT ALL) AS j3 CROSS JOIN LATERAL (SELECT j3.c1 AS "t") AS r1 CROSS JOIN LATERAL (SELECT j3.c2 AS "t") AS r2 CROSS JOIN LATERAL (SELECT j3.c3 AS "t") AS r3)
--   p1 = random
--   p2 = 3
--   p3 = 4096
--   p4 = 2
--   p5 = 4
--   p6 = random
-- => loss
-- epsilon 8 delta 0
-- => residual
SELECT dp_b1.a1 AS "count" FROM pg_catalog.jsonb_to_recordset(($1)::pg_catalog.jsonb->'b1') AS dp_b1(a1 bigint)

-- case: one row of each unit, chosen by a window, meets rows of others
-- policy: joins
SELECT count(*) FROM (SELECT uid, i2 FROM (SELECT uid, i2, row_number() OVER (PARTITION BY uid ORDER BY i4) AS rn FROM visits) a WHERE rn = 1) b JOIN people p ON p.i2 = b.i2
-- => plan
-- w.visits, w.people, unit 10 row(s), partitions by hash of r4."i2", at most 2 partitions; keys none; cells 0
--   count(*): sensitivity 10, scale 5/4, epsilon 8 delta 0
-- => backend
SELECT pg_catalog.count(*) FROM ((SELECT r4."i2" AS c1, r5."i2" AS c2 FROM ((SELECT * FROM (SELECT r4."uid", r4."i2", r4."dp_unit", pg_catalog.row_number() OVER (PARTITION BY r4."i2" ORDER BY pg_catalog.hashtextextended(r4."dp_unit"::text, %(p2)s::bigint), r4."dp_unit") AS "dp_place" FROM (SELECT r4."uid", r4."i2", r4."dp_unit" FROM (SELECT r3."uid" AS "uid", r3."i2" AS "i2", r3."dp_unit" AS "dp_unit" FROM (SELECT r2."c1" AS "uid", r2."c2" AS "i2", r2."w1" AS "rn", r2."dp_unit" AS "dp_unit", r2."dp_key1" AS "dp_key1" FROM (SELECT r1."uid" AS "c1", r1."i2" AS "c2", r1."i4" AS "c3", r1."uid" AS "dp_unit", r1."id" AS "dp_key1", pg_catalog.row_number() OVER (PARTITION BY r1."uid" ORDER BY r1."i4" ASC NULLS LAST, r1."i2", r1."i4", r1."id") AS "w1" FROM "w"."visits" AS r1) AS r2) AS r3 WHERE (r3."rn" = %(p1)s::bigint)) AS r4 WHERE r4."dp_unit" IS NOT NULL) AS r4 WHERE r4."i2" IS NOT NULL) AS r4 WHERE "dp_place" <= %(p3)s::bigint) AS r4 FULL JOIN (SELECT * FROM (SELECT r5."id", r5."i2", r5."i4", r5."i8", r5."n2", r5."n", r5."f4", r5."f8", r5."t", r5."c", r5."s", r5."b", r5."d", r5."ts", r5."tz", r5."free", r5."e", r5."j", r5."ta", r5."ia", r5."iv", r5."tod", pg_catalog.row_number() OVER (PARTITION BY r5."i2" ORDER BY pg_catalog.hashint4extended(r5."id"::integer, %(p2)s::bigint), r5."id") AS "dp_place" FROM "w"."people" AS r5 WHERE r5."i2" IS NOT NULL) AS r5 WHERE "dp_place" <= %(p4)s::bigint) AS r5 ON (r4."i2" = r5."i2") AND (pg_catalog.hashint4extended((r4."i2")::integer, %(p5)s::bigint) = pg_catalog.hashint4extended((r5."i2")::integer, %(p5)s::bigint))) WHERE CASE WHEN r4."i2" IS NOT NULL AND r5."i2" IS NOT NULL THEN TRUE ELSE FALSE END LIMIT ALL) AS j1 CROSS JOIN LATERAL (SELECT j1.c1 AS "i2") AS r4 CROSS JOIN LATERAL (SELECT j1.c2 AS "i2") AS r5)
--   p1 = 1
--   p2 = random
--   p3 = 3
--   p4 = 2
--   p5 = random
-- => loss
-- epsilon 8 delta 0
-- => residual
SELECT dp_b1.a1 AS "count" FROM pg_catalog.jsonb_to_recordset(($1)::pg_catalog.jsonb->'b1') AS dp_b1(a1 bigint)
