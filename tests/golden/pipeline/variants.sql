-- case: clipped mean of rows
-- policy: clipped
SELECT avg(i4), count(*) FROM people
-- => plan
-- w.people, unit 1 row(s), partitions by hash of r1."id"; keys none; cells 79
--   avg: 0 .. 10000 steps of 0.01, fill 5000, mean of 79 partitions, 1 moved, gate 647 units, scale 5, epsilon 4 delta 0
--   count(*): sensitivity 1, scale 1/4, epsilon 4 delta 0
-- => backend
SELECT x2, pg_catalog.count(x1), pg_catalog.sum((pg_catalog.int4larger(pg_catalog.int4smaller(x1, %(p2)s::integer), %(p1)s::integer))::integer), pg_catalog.count(*) FROM (SELECT r1."i4" AS x1, pg_catalog.mod(((pg_catalog.hashint4extended(r1."id"::integer, %(p3)s::bigint)) & %(p4)s::bigint)::integer, %(p5)s::integer) AS x2 FROM "w"."people" AS r1 LIMIT ALL) r GROUP BY 1
--   p1 = 0
--   p2 = 100
--   p3 = random
--   p4 = 2147483647
--   p5 = 79
-- => loss
-- epsilon 8 delta 0
-- => residual
SELECT dp_b1.a1 AS "avg", dp_b1.a2 AS "count" FROM pg_catalog.jsonb_to_recordset(($1)::pg_catalog.jsonb->'b1') AS dp_b1(a1 numeric, a2 bigint)

-- case: clipped mean of three rows
-- policy: clipped
SELECT t, avg(n2) FROM trips GROUP BY t
-- => plan
-- w.trips, unit 3 row(s), partitions by hash of r1."id", r1."leg"; keys t of 4; cells 119
--   avg: 0 .. 17500 steps of 0.01, fill 8750, mean of 119 partitions, 3 moved, gate 974 units, scale 15/2, epsilon 8 delta 0
-- => backend
SELECT x2, x3, pg_catalog.count(x1), pg_catalog.sum(x1) FROM (SELECT pg_catalog.int4larger((pg_catalog.numeric_smaller(r1."n2" * %(p1)s::numeric, %(p2)s::numeric))::integer, %(p3)s::integer) AS x1, (r1."t")::text AS x2, pg_catalog.mod(((pg_catalog.hash_record_extended(ROW(r1."id", pg_catalog.hashtextextended(r1."leg"::text, %(p5)s::bigint)), %(p5)s::bigint)) & %(p6)s::bigint)::integer, %(p7)s::integer) AS x3 FROM "w"."trips" AS r1 WHERE (r1."t" = ANY(%(p4)s::text[]::text[]) OR r1."t" IS NULL) LIMIT ALL) r GROUP BY 1, 2
--   p1 = 100
--   p2 = 17500
--   p3 = 0
--   p4 = ['x', 'y', 'z']
--   p5 = random
--   p6 = 2147483647
--   p7 = 119
-- => loss
-- epsilon 8 delta 0
-- => residual
SELECT dp_b1.k1 AS "t", dp_b1.a1 AS "avg" FROM pg_catalog.jsonb_to_recordset(($1)::pg_catalog.jsonb->'b1') AS dp_b1(k1 pg_catalog.text, a1 numeric)

-- case: clipped mean of units in groups
-- policy: clipped
SELECT t, avg(f8), count(*) FROM orders GROUP BY t
-- => plan
-- w.orders, unit r1."uid": rows 6, groups 2, per group 2; keys t of 4; cells 159
--   avg: -10000 .. 10000 steps of 0.01, fill 0, mean of 159 partitions, 2 moved, gate 1302 units, scale 10, epsilon 4 delta 0
--   count(*): sensitivity 4, scale 1, epsilon 4 delta 0
-- => backend
SELECT k1, cell, pg_catalog.sum(v0), pg_catalog.sum(v1), pg_catalog.count(v1), pg_catalog.sum(least(v2, %(p4)s::bigint)) FROM (SELECT * FROM (SELECT *, pg_catalog.row_number() OVER (PARTITION BY unit ORDER BY pg_catalog.hashint8extended(pg_catalog.hash_record_extended(ROW(g."unit", k1), %(p9)s::bigint), %(p9)s::bigint), k1) AS rank FROM (SELECT r1."uid" AS unit, (r1."t")::text AS k1, pg_catalog.mod(((pg_catalog.hashint4extended(r1."uid"::integer, %(p5)s::bigint)) & %(p6)s::bigint)::integer, %(p7)s::integer) AS cell, pg_catalog.count(r1."f8") AS v0, pg_catalog.sum(((pg_catalog.float8larger(pg_catalog.float8smaller(r1."f8", %(p2)s::double precision), %(p1)s::double precision))::double precision * %(p2)s::double precision)::integer) AS v1, pg_catalog.count(*) AS v2 FROM "w"."orders" AS r1 WHERE r1."uid" IS NOT NULL AND (r1."t" = ANY(%(p8)s::text[]::text[]) OR r1."t" IS NULL) GROUP BY r1."uid", 2) g) c WHERE rank <= %(p4)s::bigint) u GROUP BY 1, 2
--   p1 = -100
--   p2 = 100
--   p3 = 6
--   p4 = 2
--   p5 = random
--   p6 = 2147483647
--   p7 = 159
--   p8 = ['x', 'y', 'z']
--   p9 = random
-- => loss
-- epsilon 8 delta 0
-- => residual
SELECT dp_b1.k1 AS "t", dp_b1.a1 AS "avg", dp_b1.a2 AS "count" FROM pg_catalog.jsonb_to_recordset(($1)::pg_catalog.jsonb->'b1') AS dp_b1(k1 pg_catalog.text, a1 double precision, a2 bigint)

-- case: clipped mean beside extremes, which are smoothed medians
-- policy: clipped
SELECT avg(i4), min(i4), max(d) FROM visits
-- => plan
-- w.visits, unit r1."uid": rows 5, groups None, per group None; keys none; cells 131
--   avg: 0 .. 10000 steps of 0.01, fill 5000, mean of 119 partitions, 1 moved, gate 974 units, scale 15/2, epsilon 8/3 delta 0
--   min: 0 .. 100 steps of 1, fill 100, 69 partitions, gate 574 units, scale 15/2, epsilon 8/3 delta 1/3000, each epsilon 38/15 delta 0.0003333
--   max: 10957 .. 18262 steps of 1, fill 10957, 131 partitions, gate 1070 units, scale 15/2, epsilon 8/3 delta 1/3000, each epsilon 38/15 delta 0.0003333
-- => backend
SELECT cell, pg_catalog.sum(v0), pg_catalog.sum(v1), pg_catalog.count(v1), pg_catalog.min(v2), pg_catalog.count(v2), pg_catalog.max(v3), pg_catalog.count(v3) FROM (SELECT r1."uid" AS unit, pg_catalog.mod(((pg_catalog.hashint8extended((r1."uid" # ((r1."uid" >> 32) * (%(p6)s::bigint >> 33))), %(p6)s::bigint)) & %(p7)s::bigint)::integer, %(p8)s::integer) AS cell, pg_catalog.count(r1."i4") AS v0, pg_catalog.sum((pg_catalog.int4larger(pg_catalog.int4smaller(r1."i4", %(p2)s::integer), %(p1)s::integer))::integer) AS v1, pg_catalog.int4larger(pg_catalog.int4smaller(pg_catalog.min(r1."i4"), %(p2)s::integer), %(p1)s::integer) AS v2, pg_catalog.round(((pg_catalog.date_larger(pg_catalog.date_smaller(pg_catalog.max(r1."d"), %(p4)s::date), %(p3)s::date)) - %(p5)s::date)::numeric)::bigint AS v3 FROM "w"."visits" AS r1 WHERE r1."uid" IS NOT NULL GROUP BY r1."uid") u GROUP BY 1
--   p1 = 0
--   p2 = 100
--   p3 = 2000-01-01
--   p4 = 2020-01-01
--   p5 = 1970-01-01
--   p6 = random
--   p7 = 2147483647
--   p8 = 131
-- => loss
-- epsilon 8 delta 1/1500
-- => residual
SELECT dp_b1.a1 AS "avg", dp_b1.a2 AS "min", dp_b1.a3 AS "max" FROM pg_catalog.jsonb_to_recordset(($1)::pg_catalog.jsonb->'b1') AS dp_b1(a1 numeric, a2 integer, a3 pg_catalog.date)

-- case: sum over count
-- policy: ratio
SELECT avg(i4) FROM people
-- => plan
-- w.people, unit 1 row(s), partitions by hash of r1."id"; keys none; cells 0
--   avg made of releases 2, 3: clamp 0 .. 100, grid 1, output grid 0.00001
--     rows for avg: clamp 0 .. 100, grid 1, sensitivity 1, scale 1/4, epsilon 4 delta 0
--     sum for avg: clamp 0 .. 100, grid 1, sensitivity 100, scale 25, epsilon 4 delta 0
-- => backend
SELECT pg_catalog.count(r1."i4"), pg_catalog.sum((pg_catalog.int4larger(pg_catalog.int4smaller(r1."i4", %(p2)s::integer), %(p1)s::integer))::integer) FROM "w"."people" AS r1
--   p1 = 0
--   p2 = 100
-- => loss
-- epsilon 8 delta 0
-- => residual
SELECT dp_b1.a1 AS "avg" FROM pg_catalog.jsonb_to_recordset(($1)::pg_catalog.jsonb->'b1') AS dp_b1(a1 numeric)

-- case: sum over count shares with sum and count
-- policy: ratio
SELECT sum(n2), count(n2), avg(n2) FROM visits
-- => plan
-- w.visits, unit r1."uid": rows 5, groups None, per group None; keys none; cells 0
--   sum: clamp 0 .. 175, grid 0.01, sensitivity 87500 steps, scale 21875, epsilon 4 delta 0
--   count: sensitivity 5, scale 5/4, epsilon 4 delta 0
--   avg made of releases 2, 1: clamp 0 .. 175, grid 0.01, output grid 0.00001
-- => backend
SELECT pg_catalog.sum(CASE WHEN v0 IS NOT NULL THEN CASE WHEN v1 <= %(p4)s::bigint THEN v0::bigint ELSE (least(greatest(CASE WHEN v1 <= least(v1, %(p4)s::bigint) THEN v0 ELSE pg_catalog.round(v0::numeric * least(v1, %(p4)s::bigint) / v1) END, least(v1, %(p4)s::bigint) * %(p5)s::bigint), least(v1, %(p4)s::bigint) * %(p6)s::bigint))::bigint END END), pg_catalog.sum(least(v1, %(p4)s::bigint)) FROM (SELECT r1."uid" AS unit, pg_catalog.sum(pg_catalog.int4larger((pg_catalog.numeric_smaller(r1."n2" * %(p1)s::numeric, %(p2)s::numeric))::integer, %(p3)s::integer)) AS v0, pg_catalog.count(r1."n2") AS v1 FROM "w"."visits" AS r1 WHERE r1."uid" IS NOT NULL GROUP BY r1."uid") u
--   p1 = 100
--   p2 = 17500
--   p3 = 0
--   p4 = 5
--   p5 = 0
--   p6 = 17500
-- => loss
-- epsilon 8 delta 0
-- => residual
SELECT dp_b1.a1 AS "sum", dp_b1.a2 AS "count", dp_b1.a3 AS "avg" FROM pg_catalog.jsonb_to_recordset(($1)::pg_catalog.jsonb->'b1') AS dp_b1(a1 numeric, a2 bigint, a3 numeric)

-- case: sum over count in groups beside an extreme
-- policy: ratio
SELECT t, avg(i4), min(i4), stddev(i4) FROM notes GROUP BY t
-- => plan
-- w.notes, unit r1."uid": rows 4, groups 2, per group None; keys t of 4; cells 143
--   avg made of releases 4, 5: clamp 0 .. 100, grid 1, output grid 0.00001
--   min: 0 .. 100 steps of 1, fill 100, 143 partitions, gate 1189 units, scale 15, epsilon 8/3 delta 1/3000, each epsilon 19/15 delta 0.0001667
--   stddev_samp made of releases 4, 6, 7: clamp 0 .. 100, grid 1, output grid 0.00001
--     rows for avg: clamp 0 .. 100, grid 1, sensitivity 4, scale 3, epsilon 4/3 delta 0
--     sum for avg: clamp 0 .. 100, grid 1, sensitivity 400, scale 300, epsilon 4/3 delta 0
--     centred sum for stddev_samp: clamp 0 .. 100, grid 1, sensitivity 400, scale 300, epsilon 4/3 delta 0
--     centred squares for stddev_samp: clamp 0 .. 100, grid 1, sensitivity 40000, scale 30000, epsilon 4/3 delta 0
-- => backend
SELECT k1, cell, pg_catalog.min(v0), pg_catalog.count(v0), pg_catalog.sum(CASE WHEN total1 <= %(p3)s::bigint THEN v1 ELSE pg_catalog.div(v1::numeric * %(p3)s::bigint, total1)::bigint END), pg_catalog.sum(CASE WHEN v2 IS NOT NULL THEN CASE WHEN total1 <= %(p3)s::bigint THEN v2::bigint ELSE (least(greatest(CASE WHEN v1 <= CASE WHEN total1 <= %(p3)s::bigint THEN v1 ELSE pg_catalog.div(v1::numeric * %(p3)s::bigint, total1)::bigint END THEN v2 ELSE pg_catalog.round(v2::numeric * CASE WHEN total1 <= %(p3)s::bigint THEN v1 ELSE pg_catalog.div(v1::numeric * %(p3)s::bigint, total1)::bigint END / v1) END, CASE WHEN total1 <= %(p3)s::bigint THEN v1 ELSE pg_catalog.div(v1::numeric * %(p3)s::bigint, total1)::bigint END * %(p4)s::bigint), CASE WHEN total1 <= %(p3)s::bigint THEN v1 ELSE pg_catalog.div(v1::numeric * %(p3)s::bigint, total1)::bigint END * %(p5)s::bigint))::bigint END END), pg_catalog.sum(CASE WHEN v3 IS NOT NULL THEN CASE WHEN total1 <= %(p3)s::bigint THEN v3::bigint ELSE (least(greatest(CASE WHEN v1 <= CASE WHEN total1 <= %(p3)s::bigint THEN v1 ELSE pg_catalog.div(v1::numeric * %(p3)s::bigint, total1)::bigint END THEN v3 ELSE pg_catalog.round(v3::numeric * CASE WHEN total1 <= %(p3)s::bigint THEN v1 ELSE pg_catalog.div(v1::numeric * %(p3)s::bigint, total1)::bigint END / v1) END, CASE WHEN total1 <= %(p3)s::bigint THEN v1 ELSE pg_catalog.div(v1::numeric * %(p3)s::bigint, total1)::bigint END * %(p6)s::bigint), CASE WHEN total1 <= %(p3)s::bigint THEN v1 ELSE pg_catalog.div(v1::numeric * %(p3)s::bigint, total1)::bigint END * %(p5)s::bigint))::bigint END END), pg_catalog.sum(CASE WHEN v4 IS NOT NULL THEN CASE WHEN total1 <= %(p3)s::bigint THEN v4::bigint ELSE (least(greatest(CASE WHEN v1 <= CASE WHEN total1 <= %(p3)s::bigint THEN v1 ELSE pg_catalog.div(v1::numeric * %(p3)s::bigint, total1)::bigint END THEN v4 ELSE pg_catalog.round(v4::numeric * CASE WHEN total1 <= %(p3)s::bigint THEN v1 ELSE pg_catalog.div(v1::numeric * %(p3)s::bigint, total1)::bigint END / v1) END, CASE WHEN total1 <= %(p3)s::bigint THEN v1 ELSE pg_catalog.div(v1::numeric * %(p3)s::bigint, total1)::bigint END * %(p8)s::bigint), CASE WHEN total1 <= %(p3)s::bigint THEN v1 ELSE pg_catalog.div(v1::numeric * %(p3)s::bigint, total1)::bigint END * %(p7)s::bigint))::bigint END END) FROM (SELECT *, (pg_catalog.sum((v1)::float8) OVER (PARTITION BY unit))::bigint AS total1 FROM (SELECT * FROM (SELECT *, pg_catalog.row_number() OVER (PARTITION BY unit ORDER BY pg_catalog.hashint8extended(pg_catalog.hash_record_extended(ROW(pg_catalog.hashtextextended(g."unit"::text, %(p14)s::bigint), k1), %(p14)s::bigint), %(p14)s::bigint), k1) AS rank FROM (SELECT r1."uid" AS unit, (r1."t")::text AS k1, pg_catalog.mod(((pg_catalog.hashtextextended(r1."uid"::text, %(p9)s::bigint)) & %(p10)s::bigint)::integer, %(p11)s::integer) AS cell, pg_catalog.int4larger(pg_catalog.int4smaller(pg_catalog.min(r1."i4"), %(p2)s::integer), %(p1)s::integer) AS v0, pg_catalog.count(r1."i4") AS v1, pg_catalog.sum((pg_catalog.int4larger(pg_catalog.int4smaller(r1."i4", %(p2)s::integer), %(p1)s::integer))::integer) AS v2, (2 * pg_catalog.sum((pg_catalog.int4larger(pg_catalog.int4smaller(r1."i4", %(p2)s::integer), %(p1)s::integer))::integer) - %(p5)s::bigint * pg_catalog.count(r1."i4"))::bigint AS v3, pg_catalog.sum((2 * ((2 * ((pg_catalog.int4larger(pg_catalog.int4smaller(r1."i4", %(p2)s::integer), %(p1)s::integer))::integer)::bigint - %(p5)s::bigint)::bigint) * ((2 * ((pg_catalog.int4larger(pg_catalog.int4smaller(r1."i4", %(p2)s::integer), %(p1)s::integer))::integer)::bigint - %(p5)s::bigint)::bigint) - %(p7)s::bigint)) AS v4 FROM "w"."notes" AS r1 WHERE pg_catalog.octet_length(r1."uid") <= %(p13)s::integer AND (r1."t" = ANY(%(p12)s::text[]::text[]) OR r1."t" IS NULL) GROUP BY r1."uid", 2) g) c WHERE rank <= %(p15)s::bigint) g) u GROUP BY 1, 2
--   p1 = 0
--   p2 = 100
--   p3 = 4
--   p4 = 0
--   p5 = 100
--   p6 = -100
--   p7 = 10000
--   p8 = -10000
--   p9 = random
--   p10 = 2147483647
--   p11 = 143
--   p12 = ['x', 'y', 'z']
--   p13 = 4096
--   p14 = random
--   p15 = 2
-- => loss
-- epsilon 8 delta 1/3000
-- => residual
SELECT dp_b1.k1 AS "t", dp_b1.a1 AS "avg", dp_b1.a2 AS "min", dp_b1.a3 AS "stddev" FROM pg_catalog.jsonb_to_recordset(($1)::pg_catalog.jsonb->'b1') AS dp_b1(k1 pg_catalog.text, a1 numeric, a2 integer, a3 numeric)

-- case: column list over equal names
SELECT sum(b) FROM (SELECT i4, i4 FROM orders) q(a, b)
-- => plan
-- w.orders, unit r2."dp_unit": rows 6, groups None, per group None; keys none; cells 0
--   sum: clamp 0 .. 100, grid 1, sensitivity 600 steps, scale 75, epsilon 8 delta 0
-- => backend
SELECT pg_catalog.sum(CASE WHEN v0 IS NOT NULL THEN least(greatest(v0, %(p3)s::bigint * %(p4)s::bigint), %(p3)s::bigint * %(p5)s::bigint) END) FROM (SELECT r2."dp_unit" AS unit, pg_catalog.sum((pg_catalog.int4larger(pg_catalog.int4smaller(r2."b", %(p2)s::integer), %(p1)s::integer))::integer) AS v0 FROM (SELECT r1."i4" AS "a", r1."i4" AS "b", r1."uid" AS "dp_unit" FROM "w"."orders" AS r1) AS r2 WHERE r2."dp_unit" IS NOT NULL GROUP BY r2."dp_unit") u
--   p1 = 0
--   p2 = 100
--   p3 = 6
--   p4 = 0
--   p5 = 100
-- => loss
-- epsilon 8 delta 0
-- => residual
SELECT dp_b1.a1 AS "sum" FROM pg_catalog.jsonb_to_recordset(($1)::pg_catalog.jsonb->'b1') AS dp_b1(a1 bigint)
