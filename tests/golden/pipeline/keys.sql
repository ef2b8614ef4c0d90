-- case: group by a column without values
SELECT s, count(*) FROM people GROUP BY s
-- => plan
-- w.people, unit 1 row(s), partitions by hash of r1."id"; keys s of private; cells 0
--   selection: epsilon 4 delta 1/2000, each epsilon 4 delta 0.0005
--   count(*): sensitivity 1, scale 1/4, epsilon 4 delta 0
-- => backend
SELECT (r1."s")::text, pg_catalog.count(*) FROM "w"."people" AS r1 GROUP BY 1, coalesce(pg_catalog.hashtextextended(((r1."s")::text)::text, %(p1)s::bigint), %(p1)s::bigint)
--   p1 = random
-- => loss
-- epsilon 8 delta 1/2000
-- => residual
SELECT dp_b1.k1 AS "s", dp_b1.a1 AS "count" FROM pg_catalog.jsonb_to_recordset(($1)::pg_catalog.jsonb->'b1') AS dp_b1(k1 character varying(20), a1 bigint)

-- case: private keys of many per unit
SELECT s, count(*), sum(i4), avg(i4) FROM visits GROUP BY s
-- => plan
-- w.visits, unit r1."uid": rows 5, groups 5, per group None; keys s of private; cells 1037
--   selection: epsilon 2 delta 1/4000, each epsilon 0.4 delta 5.001e-05
--   count(*): sensitivity 5, scale 5/2, epsilon 2 delta 0
--   sum: clamp 0 .. 100, grid 1, sensitivity 500 steps, scale 250, epsilon 2 delta 0
--   avg: 0 .. 10000 steps of 0.01, fill 5000, 1037 partitions, gate 8446 units, scale 50, epsilon 2 delta 1/4000, each epsilon 19/50 delta 5e-05
-- => backend
SELECT k1, cell, pg_catalog.sum(CASE WHEN total0 <= %(p1)s::bigint THEN v0 ELSE pg_catalog.div(v0::numeric * %(p1)s::bigint, total0)::bigint END), pg_catalog.sum(CASE WHEN v1 IS NOT NULL THEN CASE WHEN total2 <= %(p1)s::bigint THEN v1::bigint ELSE (least(greatest(v1, CASE WHEN total2 <= %(p1)s::bigint THEN v2 ELSE pg_catalog.div(v2::numeric * %(p1)s::bigint, total2)::bigint END * %(p4)s::bigint), CASE WHEN total2 <= %(p1)s::bigint THEN v2 ELSE pg_catalog.div(v2::numeric * %(p1)s::bigint, total2)::bigint END * %(p5)s::bigint))::bigint END END), pg_catalog.sum(v2), pg_catalog.sum(v1), pg_catalog.count(v1), pg_catalog.count(*) FROM (SELECT *, (pg_catalog.sum((v0)::float8) OVER (PARTITION BY unit))::bigint AS total0, (pg_catalog.sum((v2)::float8) OVER (PARTITION BY unit))::bigint AS total2 FROM (SELECT * FROM (SELECT *, pg_catalog.row_number() OVER (PARTITION BY unit ORDER BY pg_catalog.hashint8extended(pg_catalog.hash_record_extended(ROW((g."unit" # ((g."unit" >> 32) * (%(p10)s::bigint >> 33))), k1), %(p10)s::bigint), %(p10)s::bigint), k1) AS rank FROM (SELECT r1."uid" AS unit, (r1."s")::text AS k1, pg_catalog.mod(((pg_catalog.hashint8extended((r1."uid" # ((r1."uid" >> 32) * (%(p6)s::bigint >> 33))), %(p6)s::bigint)) & %(p7)s::bigint)::integer, %(p8)s::integer) AS cell, pg_catalog.count(*) AS v0, pg_catalog.sum((pg_catalog.int4larger(pg_catalog.int4smaller(r1."i4", %(p3)s::integer), %(p2)s::integer))::integer) AS v1, pg_catalog.count(r1."i4") AS v2 FROM "w"."visits" AS r1 WHERE r1."uid" IS NOT NULL GROUP BY r1."uid", 2, coalesce(pg_catalog.hashtextextended(((r1."s")::text)::text, %(p9)s::bigint), %(p9)s::bigint)) g) c WHERE rank <= %(p1)s::bigint) g) u GROUP BY 1, 2, coalesce(pg_catalog.hashtextextended((k1)::text, %(p9)s::bigint), %(p9)s::bigint)
--   p1 = 5
--   p2 = 0
--   p3 = 100
--   p4 = 0
--   p5 = 100
--   p6 = random
--   p7 = 2147483647
--   p8 = 1037
--   p9 = random
--   p10 = random
-- => loss
-- epsilon 8 delta 1/2000
-- => residual
SELECT dp_b1.k1 AS "s", dp_b1.a1 AS "count", dp_b1.a2 AS "sum", dp_b1.a3 AS "avg" FROM pg_catalog.jsonb_to_recordset(($1)::pg_catalog.jsonb->'b1') AS dp_b1(k1 character varying(20), a1 bigint, a2 bigint, a3 numeric)

-- case: private keys with bounds per group
SELECT s, count(*), sum(i4) FROM orders GROUP BY s
-- => plan
-- w.orders, unit r1."uid": rows 6, groups 2, per group 2; keys s of private; cells 0
--   selection: epsilon 8/3 delta 1/3000, each epsilon 1.33333 delta 0.0001667
--   count(*): sensitivity 4, scale 3/2, epsilon 8/3 delta 0
--   sum: clamp 0 .. 100, grid 1, sensitivity 400 steps, scale 150, epsilon 8/3 delta 0
-- => backend
SELECT k1, pg_catalog.sum(least(v0, %(p2)s::bigint)), pg_catalog.sum(CASE WHEN v1 IS NOT NULL THEN least(greatest(v1, least(v2, %(p2)s::bigint) * %(p5)s::bigint), least(v2, %(p2)s::bigint) * %(p6)s::bigint) END), pg_catalog.count(*) FROM (SELECT * FROM (SELECT *, pg_catalog.row_number() OVER (PARTITION BY unit ORDER BY pg_catalog.hashint8extended(pg_catalog.hash_record_extended(ROW(g."unit", k1), %(p8)s::bigint), %(p8)s::bigint), k1) AS rank FROM (SELECT r1."uid" AS unit, (r1."s")::text AS k1, pg_catalog.count(*) AS v0, pg_catalog.sum((pg_catalog.int4larger(pg_catalog.int4smaller(r1."i4", %(p4)s::integer), %(p3)s::integer))::integer) AS v1, pg_catalog.count(r1."i4") AS v2 FROM "w"."orders" AS r1 WHERE r1."uid" IS NOT NULL GROUP BY r1."uid", 2, coalesce(pg_catalog.hashtextextended(((r1."s")::text)::text, %(p7)s::bigint), %(p7)s::bigint)) g) c WHERE rank <= %(p2)s::bigint) u GROUP BY 1, coalesce(pg_catalog.hashtextextended((k1)::text, %(p7)s::bigint), %(p7)s::bigint)
--   p1 = 6
--   p2 = 2
--   p3 = 0
--   p4 = 100
--   p5 = 0
--   p6 = 100
--   p7 = random
--   p8 = random
-- => loss
-- epsilon 8 delta 1/3000
-- => residual
SELECT dp_b1.k1 AS "s", dp_b1.a1 AS "count", dp_b1.a2 AS "sum" FROM pg_catalog.jsonb_to_recordset(($1)::pg_catalog.jsonb->'b1') AS dp_b1(k1 character varying(20), a1 bigint, a2 bigint)

-- case: private and public keys
SELECT s, b, count(*) FROM notes GROUP BY s, b
-- => plan
-- w.notes, unit r1."uid": rows 4, groups 2, per group None; keys s of private, b of 2; cells 0
--   selection: epsilon 4 delta 1/2000, each epsilon 2 delta 0.00025
--   count(*): sensitivity 4, scale 1, epsilon 4 delta 0
-- => backend
SELECT k1, k2, pg_catalog.sum(CASE WHEN total0 <= %(p1)s::bigint THEN v0 ELSE pg_catalog.div(v0::numeric * %(p1)s::bigint, total0)::bigint END), pg_catalog.count(*) FROM (SELECT *, (pg_catalog.sum((v0)::float8) OVER (PARTITION BY unit))::bigint AS total0 FROM (SELECT * FROM (SELECT *, pg_catalog.row_number() OVER (PARTITION BY unit ORDER BY pg_catalog.hashint8extended(pg_catalog.hash_record_extended(ROW(pg_catalog.hashtextextended(g."unit"::text, %(p5)s::bigint), k1, k2), %(p5)s::bigint), %(p5)s::bigint), k1, k2) AS rank FROM (SELECT r1."uid" AS unit, (r1."s")::text AS k1, (r1."b")::text AS k2, pg_catalog.count(*) AS v0 FROM "w"."notes" AS r1 WHERE pg_catalog.octet_length(r1."uid") <= %(p4)s::integer AND (r1."b" = ANY(%(p3)s::text[]::boolean[])) GROUP BY r1."uid", 2, 3, coalesce(pg_catalog.hashtextextended(((r1."s")::text)::text, %(p2)s::bigint), %(p2)s::bigint)) g) c WHERE rank <= %(p6)s::bigint) g) u GROUP BY 1, 2, coalesce(pg_catalog.hashtextextended((k1)::text, %(p2)s::bigint), %(p2)s::bigint)
--   p1 = 4
--   p2 = random
--   p3 = ['true', 'false']
--   p4 = 4096
--   p5 = random
--   p6 = 2
-- => loss
-- epsilon 8 delta 1/2000
-- => residual
SELECT dp_b1.k1 AS "s", dp_b1.k2 AS "b", dp_b1.a1 AS "count" FROM pg_catalog.jsonb_to_recordset(($1)::pg_catalog.jsonb->'b1') AS dp_b1(k1 character varying(20), k2 boolean, a1 bigint)

-- case: private keys of trips
SELECT free, count(*) FROM trips GROUP BY free
-- => plan
-- w.trips, unit 3 row(s), partitions by hash of r1."id", r1."leg"; keys free of private; cells 0
--   selection: epsilon 4 delta 1/2000, each epsilon 1.33333 delta 1.158e-05
--   count(*): sensitivity 3, scale 3/4, epsilon 4 delta 0
-- => backend
SELECT (r1."free")::text, pg_catalog.count(*) FROM "w"."trips" AS r1 GROUP BY 1, coalesce(pg_catalog.hashtextextended(((r1."free")::text)::text, %(p1)s::bigint), %(p1)s::bigint)
--   p1 = random
-- => loss
-- epsilon 8 delta 1/2000
-- => residual
SELECT dp_b1.k1 AS "free", dp_b1.a1 AS "count" FROM pg_catalog.jsonb_to_recordset(($1)::pg_catalog.jsonb->'b1') AS dp_b1(k1 integer, a1 bigint)

-- case: private keys and units
SELECT s, count(DISTINCT uid), count(DISTINCT i4) FROM orders GROUP BY s
-- => plan
-- w.orders, unit r1."uid": rows 6, groups 2, per group 2; keys s of private; cells 0
--   selection: epsilon 8/3 delta 1/3000, each epsilon 1.33333 delta 0.0001667
--   count(distinct) of units: sensitivity 2, scale 3/4, epsilon 8/3 delta 0
--   count(distinct): sensitivity 6, scale 9/4, epsilon 8/3 delta 0
-- => backend
SELECT k1, pg_catalog.sum(least(v0, 1)), pg_catalog.count(*) FROM (SELECT * FROM (SELECT *, pg_catalog.row_number() OVER (PARTITION BY unit ORDER BY pg_catalog.hashint8extended(pg_catalog.hash_record_extended(ROW(g."unit", k1), %(p2)s::bigint), %(p2)s::bigint), k1) AS rank FROM (SELECT r1."uid" AS unit, (r1."s")::text AS k1, pg_catalog.count(*) AS v0 FROM "w"."orders" AS r1 WHERE r1."uid" IS NOT NULL GROUP BY r1."uid", 2, coalesce(pg_catalog.hashtextextended(((r1."s")::text)::text, %(p1)s::bigint), %(p1)s::bigint)) g) c WHERE rank <= %(p3)s::bigint) u GROUP BY 1, coalesce(pg_catalog.hashtextextended((k1)::text, %(p1)s::bigint), %(p1)s::bigint)
--   p1 = random
--   p2 = random
--   p3 = 2
SELECT k1, pg_catalog.count(DISTINCT v) FROM (SELECT k1, v, pg_catalog.row_number() OVER (PARTITION BY unit ORDER BY pg_catalog.hashint8extended(pg_catalog.hash_record_extended(ROW(d."unit", k1, v), %(p2)s::bigint), %(p2)s::bigint), k1, v) AS rank FROM (SELECT unit, k1, v FROM (SELECT r1."uid" AS unit, (r1."s")::text AS k1, (r1."i4") AS v FROM "w"."orders" AS r1 WHERE r1."uid" IS NOT NULL AND (r1."i4") IS NOT NULL) s GROUP BY unit, k1, v, coalesce(pg_catalog.hash_numeric_extended((v)::numeric, coalesce(pg_catalog.hashtextextended((k1)::text, %(p1)s::bigint), %(p1)s::bigint)), %(p1)s::bigint)) d) u WHERE rank <= %(p3)s::bigint GROUP BY k1
--   p1 = random
--   p2 = random
--   p3 = 6
-- => loss
-- epsilon 8 delta 1/3000
-- => residual
SELECT dp_b1.k1 AS "s", dp_b1.a1 AS "count", dp_b1.a2 AS "count" FROM pg_catalog.jsonb_to_recordset(($1)::pg_catalog.jsonb->'b1') AS dp_b1(k1 character varying(20), a1 bigint, a2 bigint)

-- case: private keys and order
-- policy: best
SELECT s, max(i4), avg(i4), variance(i4) FROM visits GROUP BY s
-- => plan
-- w.visits, unit r1."uid": rows 5, groups 5, per group None; keys s of private; cells 0
--   selection: epsilon 2 delta 1/4000, each epsilon 0.4 delta 5.001e-05
--   max of units: clamp 0 .. 100, grid 1, values 1, one group of a unit, 101 places, least 22 units, epsilon 47/25 delta 0, if release 7 is enough
--   avg from moments: clamp 0 .. 100, grid 1, rows 5, output grid 0.00001, epsilon 2 delta 0
--   var_samp made of releases 4, 5, 6: clamp 0 .. 100, grid 1, output grid 0.00001
--     rows for var_samp: clamp 0 .. 100, grid 1, sensitivity 5, scale 15/2, epsilon 2/3 delta 0
--     centred sum for var_samp: clamp 0 .. 100, grid 1, sensitivity 500, scale 750, epsilon 2/3 delta 0
--     centred squares for var_samp: clamp 0 .. 100, grid 1, sensitivity 50000, scale 75000, epsilon 2/3 delta 0
--     units of max: one group of a unit, sensitivity 1, scale 25/3, epsilon 3/25 delta 0
-- => backend
SELECT k1, pg_catalog.sum(CASE WHEN total0 <= %(p1)s::bigint THEN v0 ELSE pg_catalog.div(v0::numeric * %(p1)s::bigint, total0)::bigint END), pg_catalog.sum(CASE WHEN v1 IS NOT NULL THEN CASE WHEN total0 <= %(p1)s::bigint THEN v1::bigint ELSE (least(greatest(CASE WHEN v0 <= CASE WHEN total0 <= %(p1)s::bigint THEN v0 ELSE pg_catalog.div(v0::numeric * %(p1)s::bigint, total0)::bigint END THEN v1 ELSE pg_catalog.round(v1::numeric * CASE WHEN total0 <= %(p1)s::bigint THEN v0 ELSE pg_catalog.div(v0::numeric * %(p1)s::bigint, total0)::bigint END / v0) END, CASE WHEN total0 <= %(p1)s::bigint THEN v0 ELSE pg_catalog.div(v0::numeric * %(p1)s::bigint, total0)::bigint END * %(p5)s::bigint), CASE WHEN total0 <= %(p1)s::bigint THEN v0 ELSE pg_catalog.div(v0::numeric * %(p1)s::bigint, total0)::bigint END * %(p2)s::bigint))::bigint END END), pg_catalog.sum(CASE WHEN v2 IS NOT NULL THEN CASE WHEN total0 <= %(p1)s::bigint THEN v2::bigint ELSE (least(greatest(CASE WHEN v0 <= CASE WHEN total0 <= %(p1)s::bigint THEN v0 ELSE pg_catalog.div(v0::numeric * %(p1)s::bigint, total0)::bigint END THEN v2 ELSE pg_catalog.round(v2::numeric * CASE WHEN total0 <= %(p1)s::bigint THEN v0 ELSE pg_catalog.div(v0::numeric * %(p1)s::bigint, total0)::bigint END / v0) END, CASE WHEN total0 <= %(p1)s::bigint THEN v0 ELSE pg_catalog.div(v0::numeric * %(p1)s::bigint, total0)::bigint END * %(p7)s::bigint), CASE WHEN total0 <= %(p1)s::bigint THEN v0 ELSE pg_catalog.div(v0::numeric * %(p1)s::bigint, total0)::bigint END * %(p6)s::bigint))::bigint END END), pg_catalog.count(*) FROM (SELECT *, (pg_catalog.sum((v0)::float8) OVER (PARTITION BY unit))::bigint AS total0 FROM (SELECT * FROM (SELECT *, pg_catalog.row_number() OVER (PARTITION BY unit ORDER BY pg_catalog.hashint8extended(pg_catalog.hash_record_extended(ROW((g."unit" # ((g."unit" >> 32) * (%(p9)s::bigint >> 33))), k1), %(p9)s::bigint), %(p9)s::bigint), k1) AS rank FROM (SELECT r1."uid" AS unit, (r1."s")::text AS k1, pg_catalog.count(r1."i4") AS v0, (2 * pg_catalog.sum((pg_catalog.int4larger(pg_catalog.int4smaller(r1."i4", %(p4)s::integer), %(p3)s::integer))::integer) - %(p2)s::bigint * pg_catalog.count(r1."i4"))::bigint AS v1, pg_catalog.sum((2 * ((2 * ((pg_catalog.int4larger(pg_catalog.int4smaller(r1."i4", %(p4)s::integer), %(p3)s::integer))::integer)::bigint - %(p2)s::bigint)::bigint) * ((2 * ((pg_catalog.int4larger(pg_catalog.int4smaller(r1."i4", %(p4)s::integer), %(p3)s::integer))::integer)::bigint - %(p2)s::bigint)::bigint) - %(p6)s::bigint)) AS v2 FROM "w"."visits" AS r1 WHERE r1."uid" IS NOT NULL GROUP BY r1."uid", 2, coalesce(pg_catalog.hashtextextended(((r1."s")::text)::text, %(p8)s::bigint), %(p8)s::bigint)) g) c WHERE rank <= %(p1)s::bigint) g) u GROUP BY 1, coalesce(pg_catalog.hashtextextended((k1)::text, %(p8)s::bigint), %(p8)s::bigint)
--   p1 = 5
--   p2 = 100
--   p3 = 0
--   p4 = 100
--   p5 = -100
--   p6 = 10000
--   p7 = -10000
--   p8 = random
--   p9 = random
SELECT k1, p0, pg_catalog.count(*) FROM (SELECT k1, pg_catalog.width_bucket(v0::bigint, %(p3)s::bigint[]) - 1 AS p0 FROM (SELECT * FROM (SELECT *, pg_catalog.row_number() OVER (PARTITION BY unit ORDER BY pg_catalog.hashint8extended(pg_catalog.hash_record_extended(ROW((g."unit" # ((g."unit" >> 32) * (%(p5)s::bigint >> 33))), k1), %(p5)s::bigint), %(p5)s::bigint), k1) AS rank FROM (SELECT r1."uid" AS unit, (r1."s")::text AS k1, pg_catalog.int4larger(pg_catalog.int4smaller(pg_catalog.max(r1."i4"), %(p2)s::integer), %(p1)s::integer) AS v0 FROM "w"."visits" AS r1 WHERE r1."uid" IS NOT NULL GROUP BY r1."uid", 2, coalesce(pg_catalog.hashtextextended(((r1."s")::text)::text, %(p4)s::bigint), %(p4)s::bigint)) g) c WHERE rank <= %(p6)s::bigint) u LIMIT ALL) p GROUP BY GROUPING SETS ((k1, coalesce(pg_catalog.hashtextextended((k1)::text, %(p4)s::bigint), %(p4)s::bigint), p0))
--   p1 = 0
--   p2 = 100
--   p3 = 0, 1, 2 .. 100, 101 in all
--   p4 = random
--   p5 = random
--   p6 = 1
-- => loss
-- epsilon 8 delta 1/4000
-- => residual
SELECT dp_b1.k1 AS "s", dp_b1.a1 AS "max", dp_b1.a2 AS "avg", dp_b1.a3 AS "variance" FROM pg_catalog.jsonb_to_recordset(($1)::pg_catalog.jsonb->'b1') AS dp_b1(k1 character varying(20), a1 integer, a2 numeric, a3 numeric)

-- case: private keys alone
SELECT DISTINCT s FROM orders
-- => plan
-- w.orders, unit r1."uid": rows 6, groups 2, per group 2; keys s of private; cells 0
--   selection: epsilon 8 delta 1/1000, each epsilon 4 delta 0.0005001
-- => backend
SELECT k1, pg_catalog.count(*) FROM (SELECT * FROM (SELECT *, pg_catalog.row_number() OVER (PARTITION BY unit ORDER BY pg_catalog.hashint8extended(pg_catalog.hash_record_extended(ROW(g."unit", k1), %(p2)s::bigint), %(p2)s::bigint), k1) AS rank FROM (SELECT r1."uid" AS unit, (r1."s")::text AS k1 FROM "w"."orders" AS r1 WHERE r1."uid" IS NOT NULL GROUP BY r1."uid", 2, coalesce(pg_catalog.hashtextextended(((r1."s")::text)::text, %(p1)s::bigint), %(p1)s::bigint)) g) c WHERE rank <= %(p3)s::bigint) u GROUP BY 1, coalesce(pg_catalog.hashtextextended((k1)::text, %(p1)s::bigint), %(p1)s::bigint)
--   p1 = random
--   p2 = random
--   p3 = 2
-- => loss
-- epsilon 8 delta 1/1000
-- => residual
SELECT DISTINCT dp_b1.k1 AS "s" FROM pg_catalog.jsonb_to_recordset(($1)::pg_catalog.jsonb->'b1') AS dp_b1(k1 character varying(20))

-- case: private keys of an expression
SELECT lower(s), count(*) FROM orders GROUP BY lower(s)
-- => plan
-- w.orders, unit r1."uid": rows 6, groups 2, per group 2; keys expression of private; cells 0
--   selection: epsilon 4 delta 1/2000, each epsilon 2 delta 0.00025
--   count(*): sensitivity 4, scale 1, epsilon 4 delta 0
-- => backend
SELECT k1, pg_catalog.sum(least(v0, %(p2)s::bigint)), pg_catalog.count(*) FROM (SELECT * FROM (SELECT *, pg_catalog.row_number() OVER (PARTITION BY unit ORDER BY pg_catalog.hashint8extended(pg_catalog.hash_record_extended(ROW(g."unit", k1), %(p4)s::bigint), %(p4)s::bigint), k1) AS rank FROM (SELECT r1."uid" AS unit, ((pg_catalog.lower((r1."s")::varchar(1048576)::text))::text)::varchar(1024)::text AS k1, pg_catalog.count(*) AS v0 FROM "w"."orders" AS r1 WHERE r1."uid" IS NOT NULL GROUP BY r1."uid", 2, coalesce(pg_catalog.hashtextextended((((pg_catalog.lower((r1."s")::varchar(1048576)::text))::text)::varchar(1024)::text)::text, %(p3)s::bigint), %(p3)s::bigint)) g) c WHERE rank <= %(p2)s::bigint) u GROUP BY 1, coalesce(pg_catalog.hashtextextended((k1)::text, %(p3)s::bigint), %(p3)s::bigint)
--   p1 = 6
--   p2 = 2
--   p3 = random
--   p4 = random
-- => loss
-- epsilon 8 delta 1/2000
-- => residual
SELECT dp_b1.k1 AS "lower", dp_b1.a1 AS "count" FROM pg_catalog.jsonb_to_recordset(($1)::pg_catalog.jsonb->'b1') AS dp_b1(k1 pg_catalog.text, a1 bigint)

-- case: private keys of one row per unit
SELECT s, count(*), max(i4) FROM members GROUP BY s
-- => plan
-- w.members, unit 1 row(s), partitions by hash of r1."uid", r1."uid" not null; keys s of private; cells 69
--   selection: epsilon 8/3 delta 1/3000, each epsilon 2.66667 delta 0.0003333
--   count(*): sensitivity 1, scale 3/8, epsilon 8/3 delta 0
--   max: 0 .. 100 steps of 1, fill 0, 69 partitions, gate 574 units, scale 15/2, epsilon 8/3 delta 1/3000, each epsilon 38/15 delta 0.0003333
-- => backend
SELECT x2, x3, pg_catalog.count(*), pg_catalog.int4larger(pg_catalog.int4smaller(pg_catalog.max(x1), %(p2)s::integer), %(p1)s::integer), pg_catalog.count(x1) FROM (SELECT r1."i4" AS x1, (r1."s")::text AS x2, pg_catalog.mod(((pg_catalog.hashint4extended(r1."uid"::integer, %(p3)s::bigint)) & %(p4)s::bigint)::integer, %(p5)s::integer) AS x3 FROM "w"."members" AS r1 WHERE r1."uid" IS NOT NULL LIMIT ALL) r GROUP BY 1, 2, coalesce(pg_catalog.hashtextextended((x2)::text, %(p6)s::bigint), %(p6)s::bigint)
--   p1 = 0
--   p2 = 100
--   p3 = random
--   p4 = 2147483647
--   p5 = 69
--   p6 = random
-- => loss
-- epsilon 8 delta 1/1500
-- => residual
SELECT dp_b1.k1 AS "s", dp_b1.a1 AS "count", dp_b1.a2 AS "max" FROM pg_catalog.jsonb_to_recordset(($1)::pg_catalog.jsonb->'b1') AS dp_b1(k1 character varying(20), a1 bigint, a2 integer)

-- case: private keys of a union
SELECT s, count(*) FROM (SELECT s FROM people UNION ALL SELECT s FROM events) q GROUP BY s
-- => plan
-- w.people, w.events, unit 2 row(s), partitions by random; keys s of private; cells 0
--   selection: epsilon 4 delta 1/2000, each epsilon 2 delta 3.383e-05
--   count(*): sensitivity 2, scale 1/2, epsilon 4 delta 0
-- => backend
SELECT (r8."s")::text, pg_catalog.count(*) FROM (SELECT r7."c1" AS "s" FROM (SELECT r2."s" AS "c1" FROM (SELECT r1."s" AS "s", r1."id" AS "dp_key1" FROM "w"."people" AS r1) AS r2 UNION ALL SELECT r4."s" AS "c1" FROM (SELECT r3."s" AS "s", r3."ctid" AS "dp_key1" FROM "w"."events" AS r3) AS r4) AS r7) AS r8 GROUP BY 1, coalesce(pg_catalog.hashtextextended(((r8."s")::text)::text, %(p1)s::bigint), %(p1)s::bigint)
--   p1 = random
-- => loss
-- epsilon 8 delta 1/2000
-- => residual
SELECT dp_b1.k1 AS "s", dp_b1.a1 AS "count" FROM pg_catalog.jsonb_to_recordset(($1)::pg_catalog.jsonb->'b1') AS dp_b1(k1 character varying(20), a1 bigint)

-- case: group by an expression
SELECT count(*) FROM people GROUP BY i4 / 10
-- => plan
-- w.people, unit 1 row(s), partitions by hash of r1."id"; keys expression of 11; cells 0
--   count(*): sensitivity 1, scale 1/8, epsilon 8 delta 0
-- => backend
SELECT * FROM (SELECT (pg_catalog.div((pg_catalog.int4larger(pg_catalog.int4smaller(r1."i4", %(p2)s::integer), %(p1)s::integer))::numeric, %(p3)s::numeric))::text AS k1, pg_catalog.count(*) FROM "w"."people" AS r1 GROUP BY 1 LIMIT ALL) g WHERE (k1 = ANY(%(p4)s::text[]))
--   p1 = 0
--   p2 = 100
--   p3 = 10
--   p4 = ['0', '1', '2', '3', '4', '5', '6', '7', '8', '9', '10']
-- => loss
-- epsilon 8 delta 0
-- => residual
SELECT dp_b1.a1 AS "count" FROM pg_catalog.jsonb_to_recordset(($1)::pg_catalog.jsonb->'b1') AS dp_b1(k1 integer, a1 bigint)

-- case: labels as keys
SELECT CASE WHEN i4 > 50 THEN 'high' WHEN i4 >= 0 THEN 'low' END AS label, count(*), avg(n2) FROM orders GROUP BY 1
-- => plan
-- w.orders, unit r1."uid": rows 6, groups 2, per group 2; keys expression of 3; cells 195
--   count(*): sensitivity 4, scale 1, epsilon 4 delta 0
--   avg: 0 .. 17500 steps of 0.01, fill 8750, 195 partitions, gate 1590 units, scale 10, epsilon 4 delta 1/2000, each epsilon 19/10 delta 0.00025
-- => backend
SELECT k1, cell, pg_catalog.sum(least(v0, %(p2)s::bigint)), pg_catalog.sum(v1), pg_catalog.sum(v2), pg_catalog.count(v2) FROM (SELECT * FROM (SELECT *, pg_catalog.row_number() OVER (PARTITION BY unit ORDER BY pg_catalog.hashint8extended(pg_catalog.hash_record_extended(ROW(g."unit", k1), %(p14)s::bigint), %(p14)s::bigint), k1) AS rank FROM (SELECT r1."uid" AS unit, (CASE WHEN (r1."i4" > %(p9)s::bigint) THEN %(p10)s::text WHEN (r1."i4" >= %(p11)s::bigint) THEN %(p12)s::text ELSE NULL::text END)::text AS k1, pg_catalog.mod(((pg_catalog.hashint4extended(r1."uid"::integer, %(p6)s::bigint)) & %(p7)s::bigint)::integer, %(p8)s::integer) AS cell, pg_catalog.count(*) AS v0, pg_catalog.count(r1."n2") AS v1, pg_catalog.sum(pg_catalog.int4larger((pg_catalog.numeric_smaller(r1."n2" * %(p3)s::numeric, %(p4)s::numeric))::integer, %(p5)s::integer)) AS v2 FROM "w"."orders" AS r1 WHERE r1."uid" IS NOT NULL AND ((CASE WHEN (r1."i4" > %(p9)s::bigint) THEN %(p10)s::text WHEN (r1."i4" >= %(p11)s::bigint) THEN %(p12)s::text ELSE NULL::text END)::text = ANY(%(p13)s::text[]) OR CASE WHEN (r1."i4" > %(p9)s::bigint) THEN %(p10)s::text WHEN (r1."i4" >= %(p11)s::bigint) THEN %(p12)s::text ELSE NULL::text END IS NULL) GROUP BY r1."uid", 2) g) c WHERE rank <= %(p2)s::bigint) u GROUP BY 1, 2
--   p1 = 6
--   p2 = 2
--   p3 = 100
--   p4 = 17500
--   p5 = 0
--   p6 = random
--   p7 = 2147483647
--   p8 = 195
--   p9 = 50
--   p10 = high
--   p11 = 0
--   p12 = low
--   p13 = ['high', 'low']
--   p14 = random
-- => loss
-- epsilon 8 delta 1/2000
-- => residual
SELECT dp_b1.k1 AS label, dp_b1.a1 AS "count", dp_b1.a2 AS "avg" FROM pg_catalog.jsonb_to_recordset(($1)::pg_catalog.jsonb->'b1') AS dp_b1(k1 pg_catalog.text, a1 bigint, a2 numeric)

-- case: years as keys
SELECT extract(year FROM d) AS y, count(*) FROM visits GROUP BY y
-- => plan
-- w.visits, unit r1."uid": rows 5, groups 5, per group None; keys expression of 21; cells 0
--   count(*): sensitivity 5, scale 5/8, epsilon 8 delta 0
-- => backend
SELECT k1, pg_catalog.sum(CASE WHEN total0 <= %(p1)s::bigint THEN v0 ELSE pg_catalog.div(v0::numeric * %(p1)s::bigint, total0)::bigint END) FROM (SELECT *, (pg_catalog.sum((v0)::float8) OVER (PARTITION BY unit))::bigint AS total0 FROM (SELECT * FROM (SELECT *, pg_catalog.row_number() OVER (PARTITION BY unit ORDER BY pg_catalog.hashint8extended(pg_catalog.hash_record_extended(ROW((g."unit" # ((g."unit" >> 32) * (%(p3)s::bigint >> 33))), k1), %(p3)s::bigint), %(p3)s::bigint), k1) AS rank FROM (SELECT r1."uid" AS unit, (extract(year FROM r1."d"))::text AS k1, pg_catalog.count(*) AS v0 FROM "w"."visits" AS r1 WHERE r1."uid" IS NOT NULL AND ((extract(year FROM r1."d"))::text = ANY(%(p2)s::text[])) GROUP BY r1."uid", 2) g) c WHERE rank <= %(p1)s::bigint) g) u GROUP BY 1
--   p1 = 5
--   p2 = ['2000', '2001', '2002', '2003', '2004', '2005', '2006', '2007', '2008', '2009', '2010', '2011', '2012', '2013', '2014', '2015', '2016', '2017', '2018', '2019', '2020']
--   p3 = random
-- => loss
-- epsilon 8 delta 0
-- => residual
SELECT dp_b1.k1 AS y, dp_b1.a1 AS "count" FROM pg_catalog.jsonb_to_recordset(($1)::pg_catalog.jsonb->'b1') AS dp_b1(k1 numeric, a1 bigint)

-- case: months as keys, narrowed
SELECT date_trunc('month', d) AS m, count(*), sum(i4) FROM visits WHERE d >= '2010-01-01' AND d < '2010-12-31' GROUP BY 1
-- => plan
-- w.visits, unit r1."uid": rows 5, groups 5, per group None; keys expression of 12; cells 0
--   count(*): sensitivity 5, scale 5/4, epsilon 4 delta 0
--   sum: clamp 0 .. 100, grid 1, sensitivity 500 steps, scale 125, epsilon 4 delta 0
-- => backend
SELECT k1, pg_catalog.sum(CASE WHEN total0 <= %(p1)s::bigint THEN v0 ELSE pg_catalog.div(v0::numeric * %(p1)s::bigint, total0)::bigint END), pg_catalog.sum(CASE WHEN v1 IS NOT NULL THEN CASE WHEN total2 <= %(p1)s::bigint THEN v1::bigint ELSE (least(greatest(v1, CASE WHEN total2 <= %(p1)s::bigint THEN v2 ELSE pg_catalog.div(v2::numeric * %(p1)s::bigint, total2)::bigint END * %(p4)s::bigint), CASE WHEN total2 <= %(p1)s::bigint THEN v2 ELSE pg_catalog.div(v2::numeric * %(p1)s::bigint, total2)::bigint END * %(p5)s::bigint))::bigint END END) FROM (SELECT *, (pg_catalog.sum((v0)::float8) OVER (PARTITION BY unit))::bigint AS total0, (pg_catalog.sum((v2)::float8) OVER (PARTITION BY unit))::bigint AS total2 FROM (SELECT * FROM (SELECT *, pg_catalog.row_number() OVER (PARTITION BY unit ORDER BY pg_catalog.hashint8extended(pg_catalog.hash_record_extended(ROW((g."unit" # ((g."unit" >> 32) * (%(p11)s::bigint >> 33))), k1), %(p11)s::bigint), %(p11)s::bigint), k1) AS rank FROM (SELECT r1."uid" AS unit, (pg_catalog.date_trunc('month', (pg_catalog.date_larger(pg_catalog.date_smaller(r1."d", %(p7)s::date), %(p6)s::date))::timestamp AT TIME ZONE 'UTC'))::text AS k1, pg_catalog.count(*) AS v0, pg_catalog.sum((pg_catalog.int4larger(pg_catalog.int4smaller(r1."i4", %(p3)s::integer), %(p2)s::integer))::integer) AS v1, pg_catalog.count(r1."i4") AS v2 FROM "w"."visits" AS r1 WHERE r1."uid" IS NOT NULL AND ((pg_catalog.date_trunc('month', (pg_catalog.date_larger(pg_catalog.date_smaller(r1."d", %(p7)s::date), %(p6)s::date))::timestamp AT TIME ZONE 'UTC'))::text = ANY(%(p8)s::text[])) AND (r1."d" >= %(p9)s::date) AND (r1."d" < %(p10)s::date) GROUP BY r1."uid", 2) g) c WHERE rank <= %(p1)s::bigint) g) u GROUP BY 1
--   p1 = 5
--   p2 = 0
--   p3 = 100
--   p4 = 0
--   p5 = 100
--   p6 = 2000-01-01
--   p7 = 2020-01-01
--   p8 = ['2010-01-01 00:00:00+00', '2010-02-01 00:00:00+00', '2010-03-01 00:00:00+00', '2010-04-01 00:00:00+00', '2010-05-01 00:00:00+00', '2010-06-01 00:00:00+00', '2010-07-01 00:00:00+00', '2010-08-01 00:00:00+00', '2010-09-01 00:00:00+00', '2010-10-01 00:00:00+00', '2010-11-01 00:00:00+00', '2010-12-01 00:00:00+00']
--   p9 = 2010-01-01
--   p10 = 2010-12-31
--   p11 = random
-- => loss
-- epsilon 8 delta 0
-- => residual
SELECT dp_b1.k1 AS m, dp_b1.a1 AS "count", dp_b1.a2 AS "sum" FROM pg_catalog.jsonb_to_recordset(($1)::pg_catalog.jsonb->'b1') AS dp_b1(k1 timestamp with time zone, a1 bigint, a2 bigint)

-- case: whole numbers as keys
SELECT floor(n2 / 50), count(*) FROM trips GROUP BY floor(n2 / 50)
-- => plan
-- w.trips, unit 3 row(s), partitions by hash of r1."id", r1."leg"; keys expression of 4; cells 0
--   count(*): sensitivity 3, scale 3/8, epsilon 8 delta 0
-- => backend
SELECT * FROM (SELECT (pg_catalog.floor(((pg_catalog.numeric_larger(pg_catalog.numeric_smaller(r1."n2", %(p2)s::numeric), %(p1)s::numeric))::numeric / %(p3)s::numeric)))::text AS k1, pg_catalog.count(*) FROM "w"."trips" AS r1 GROUP BY 1 LIMIT ALL) g WHERE (k1 = ANY(%(p4)s::text[]))
--   p1 = 0
--   p2 = 175
--   p3 = 50
--   p4 = ['0', '1', '2', '3']
-- => loss
-- epsilon 8 delta 0
-- => residual
SELECT dp_b1.k1 AS "floor", dp_b1.a1 AS "count" FROM pg_catalog.jsonb_to_recordset(($1)::pg_catalog.jsonb->'b1') AS dp_b1(k1 numeric, a1 bigint)

-- case: a condition as key
SELECT i4 > 50, count(*) FROM people GROUP BY i4 > 50
-- => plan
-- w.people, unit 1 row(s), partitions by hash of r1."id"; keys expression of 2; cells 0
--   count(*): sensitivity 1, scale 1/8, epsilon 8 delta 0
-- => backend
SELECT * FROM (SELECT ((r1."i4" > %(p1)s::bigint))::text AS k1, pg_catalog.count(*) FROM "w"."people" AS r1 GROUP BY 1 LIMIT ALL) g WHERE (k1 = ANY(%(p2)s::text[]))
--   p1 = 50
--   p2 = ['true', 'false']
-- => loss
-- epsilon 8 delta 0
-- => residual
SELECT dp_b1.k1 AS "?column?", dp_b1.a1 AS "count" FROM pg_catalog.jsonb_to_recordset(($1)::pg_catalog.jsonb->'b1') AS dp_b1(k1 boolean, a1 bigint)

-- case: keys narrowed
SELECT t, count(*), avg(i4) FROM orders WHERE t IN ('x', 'y', 'nowhere') GROUP BY t
-- => plan
-- w.orders, unit r1."uid": rows 6, groups None, per group 2; keys t of 2; cells 185
--   count(*): sensitivity 4, scale 1, epsilon 4 delta 0
--   avg: 0 .. 10000 steps of 0.01, fill 5000, 185 partitions, gate 1510 units, scale 10, epsilon 4 delta 1/2000, each epsilon 19/10 delta 0.00025
-- => backend
SELECT k1, cell, pg_catalog.sum(least(v0, %(p2)s::bigint)), pg_catalog.sum(v1), pg_catalog.sum(v2), pg_catalog.count(v2) FROM (SELECT r1."uid" AS unit, (r1."t")::text AS k1, pg_catalog.mod(((pg_catalog.hashint4extended(r1."uid"::integer, %(p5)s::bigint)) & %(p6)s::bigint)::integer, %(p7)s::integer) AS cell, pg_catalog.count(*) AS v0, pg_catalog.count(r1."i4") AS v1, pg_catalog.sum((pg_catalog.int4larger(pg_catalog.int4smaller(r1."i4", %(p4)s::integer), %(p3)s::integer))::integer) AS v2 FROM "w"."orders" AS r1 WHERE r1."uid" IS NOT NULL AND (r1."t" = ANY(%(p8)s::text[]::text[])) AND (r1."t" IN (%(p9)s::text, %(p10)s::text, %(p11)s::text)) GROUP BY r1."uid", 2) u GROUP BY 1, 2
--   p1 = 6
--   p2 = 2
--   p3 = 0
--   p4 = 100
--   p5 = random
--   p6 = 2147483647
--   p7 = 185
--   p8 = ['x', 'y']
--   p9 = x
--   p10 = y
--   p11 = nowhere
-- => loss
-- epsilon 8 delta 1/2000
-- => residual
SELECT dp_b1.k1 AS "t", dp_b1.a1 AS "count", dp_b1.a2 AS "avg" FROM pg_catalog.jsonb_to_recordset(($1)::pg_catalog.jsonb->'b1') AS dp_b1(k1 pg_catalog.text, a1 bigint, a2 numeric)

-- case: keys narrowed to none
SELECT t, count(*), count(DISTINCT uid), max(i4) FROM orders WHERE t = 'nowhere' GROUP BY t
-- => plan
-- w.orders, unit r1."uid": rows 6, groups None, per group None; keys t of 0; cells 69
--   count(*): sensitivity 6, scale 9/4, epsilon 8/3 delta 0
--   count(distinct) of units: sensitivity 1, scale 3/8, epsilon 8/3 delta 0
--   max: 0 .. 100 steps of 1, fill 0, 69 partitions, gate 574 units, scale 15/2, epsilon 8/3 delta 1/3000, each epsilon 38/15 delta 0.0003333
-- => backend
SELECT k1, cell, pg_catalog.sum(CASE WHEN total0 <= %(p1)s::bigint THEN v0 ELSE pg_catalog.div(v0::numeric * %(p1)s::bigint, total0)::bigint END), pg_catalog.sum(least(v0, 1)), pg_catalog.max(v1), pg_catalog.count(v1) FROM (SELECT *, (pg_catalog.sum((v0)::float8) OVER (PARTITION BY unit))::bigint AS total0 FROM (SELECT r1."uid" AS unit, (r1."t")::text AS k1, pg_catalog.mod(((pg_catalog.hashint4extended(r1."uid"::integer, %(p4)s::bigint)) & %(p5)s::bigint)::integer, %(p6)s::integer) AS cell, pg_catalog.count(*) AS v0, pg_catalog.int4larger(pg_catalog.int4smaller(pg_catalog.max(r1."i4"), %(p3)s::integer), %(p2)s::integer) AS v1 FROM "w"."orders" AS r1 WHERE r1."uid" IS NOT NULL AND (r1."t" = ANY(%(p7)s::text[]::text[])) AND (r1."t" = %(p8)s::text) GROUP BY r1."uid", 2) g) u GROUP BY 1, 2
--   p1 = 6
--   p2 = 0
--   p3 = 100
--   p4 = random
--   p5 = 2147483647
--   p6 = 69
--   p7 = []
--   p8 = nowhere
-- => loss
-- epsilon 8 delta 1/3000
-- => residual
SELECT dp_b1.k1 AS "t", dp_b1.a1 AS "count", dp_b1.a2 AS "count", dp_b1.a3 AS "max" FROM pg_catalog.jsonb_to_recordset(($1)::pg_catalog.jsonb->'b1') AS dp_b1(k1 pg_catalog.text, a1 bigint, a2 bigint, a3 integer)

-- case: keys narrowed by padded text
SELECT c, count(*) FROM people WHERE c = 'a ' GROUP BY c
-- => plan
-- w.people, unit 1 row(s), partitions by hash of r1."id"; keys c of 1; cells 0
--   count(*): sensitivity 1, scale 1/8, epsilon 8 delta 0
-- => backend
SELECT * FROM (SELECT (r1."c")::text AS k1, pg_catalog.count(*) FROM "w"."people" AS r1 WHERE (r1."c" = %(p1)s::bpchar) GROUP BY 1 LIMIT ALL) g WHERE (k1 = ANY(%(p2)s::text[]))
--   p1 = a 
--   p2 = ['a']
-- => loss
-- epsilon 8 delta 0
-- => residual
SELECT dp_b1.k1 AS "c", dp_b1.a1 AS "count" FROM pg_catalog.jsonb_to_recordset(($1)::pg_catalog.jsonb->'b1') AS dp_b1(k1 character(2), a1 bigint)

-- case: bins as keys
-- policy: world
SELECT floor(i4 / 25.0) * 25.0 AS bin, count(*) FROM people GROUP BY floor(i4 / 25.0) * 25.0 ORDER BY 1
-- => plan
-- w.people, unit 1 row(s), partitions by hash of r1."id"; keys expression of 5; cells 0
--   count(*): sensitivity 1, scale 1/8, epsilon 8 delta 0
-- => backend
SELECT * FROM (SELECT ((pg_catalog.floor(((pg_catalog.int4larger(pg_catalog.int4smaller(r1."i4", %(p2)s::integer), %(p1)s::integer))::numeric / %(p3)s::numeric)) * %(p3)s::numeric))::text AS k1, pg_catalog.count(*) FROM "w"."people" AS r1 GROUP BY 1 LIMIT ALL) g WHERE (k1 = ANY(%(p4)s::text[]))
--   p1 = 0
--   p2 = 100
--   p3 = 25
--   p4 = ['0', '25', '50', '75', '100']
-- => loss
-- epsilon 8 delta 0
-- => residual
SELECT dp_b1.k1 AS bin, dp_b1.a1 AS "count" FROM pg_catalog.jsonb_to_recordset(($1)::pg_catalog.jsonb->'b1') AS dp_b1(k1 numeric, a1 bigint) ORDER BY 1

-- case: bins of a tool as keys
SELECT floor((n2 - 0.0) / 12.5) * 12.5 + 0.5 AS bin, sum(n2) FROM people GROUP BY 1
-- => plan
-- w.people, unit 1 row(s), partitions by hash of r1."id"; keys expression of 15; cells 0
--   sum: clamp 0 .. 175, grid 0.01, sensitivity 17500 steps, scale 4375/2, epsilon 8 delta 0
-- => backend
SELECT * FROM (SELECT (((pg_catalog.floor((((pg_catalog.numeric_larger(pg_catalog.numeric_smaller(r1."n2", %(p2)s::numeric), %(p1)s::numeric))::numeric - %(p1)s::numeric) / %(p4)s::numeric)) * %(p4)s::numeric) + %(p5)s::numeric))::text AS k1, pg_catalog.floor(pg_catalog.sum(pg_catalog.numeric_larger(pg_catalog.numeric_smaller(r1."n2", %(p2)s::numeric), %(p1)s::numeric)) * %(p3)s::numeric) FROM "w"."people" AS r1 GROUP BY 1 LIMIT ALL) g WHERE (k1 = ANY(%(p6)s::text[]))
--   p1 = 0
--   p2 = 175
--   p3 = 100
--   p4 = 12.5
--   p5 = 0.5
--   p6 = ['0.5', '13.0', '25.5', '38.0', '50.5', '63.0', '75.5', '88.0', '100.5', '113.0', '125.5', '138.0', '150.5', '163.0', '175.5']
-- => loss
-- epsilon 8 delta 0
-- => residual
SELECT dp_b1.k1 AS bin, dp_b1.a1 AS "sum" FROM pg_catalog.jsonb_to_recordset(($1)::pg_catalog.jsonb->'b1') AS dp_b1(k1 numeric, a1 numeric)

-- case: private keys of numbers and times
SELECT n, n2, f8, ts, tz, count(*) FROM people GROUP BY 1, 2, 3, 4, 5
-- => plan
-- w.people, unit 1 row(s), partitions by hash of r1."id"; keys n of private, n2 of private, f8 of private, ts of private, tz of private; cells 0
--   selection: epsilon 4 delta 1/2000, each epsilon 4 delta 0.0005
--   count(*): sensitivity 1, scale 1/4, epsilon 4 delta 0
-- => backend
SELECT CASE WHEN r1."n" >= %(p1)s::numeric AND r1."n" <= %(p2)s::numeric THEN 'Infinity'::text WHEN r1."n" <= - %(p1)s::numeric THEN '-Infinity'::text ELSE pg_catalog.trim_scale(pg_catalog.trunc(r1."n", 500))::text END, pg_catalog.trim_scale(r1."n2")::text, CASE WHEN r1."f8" = 0 THEN '0'::text ELSE (r1."f8")::text END, (r1."ts")::text, (r1."tz")::text, pg_catalog.count(*) FROM "w"."people" AS r1 GROUP BY 1, 2, 3, 4, 5, coalesce(pg_catalog.hashtextextended(((r1."tz")::text)::text, coalesce(pg_catalog.hashtextextended(((r1."ts")::text)::text, coalesce(pg_catalog.hashtextextended((CASE WHEN r1."f8" = 0 THEN '0'::text ELSE (r1."f8")::text END)::text, coalesce(pg_catalog.hashtextextended((pg_catalog.trim_scale(r1."n2")::text)::text, coalesce(pg_catalog.hashtextextended((CASE WHEN r1."n" >= %(p1)s::numeric AND r1."n" <= %(p2)s::numeric THEN 'Infinity'::text WHEN r1."n" <= - %(p1)s::numeric THEN '-Infinity'::text ELSE pg_catalog.trim_scale(pg_catalog.trunc(r1."n", 500))::text END)::text, %(p3)s::bigint), %(p3)s::bigint)), %(p3)s::bigint)), %(p3)s::bigint)), %(p3)s::bigint)), %(p3)s::bigint)
--   p1 = 1e500
--   p2 = Infinity
--   p3 = random
-- => loss
-- epsilon 8 delta 1/2000
-- => residual
SELECT dp_b1.k1 AS "n", dp_b1.k2 AS "n2", dp_b1.k3 AS "f8", dp_b1.k4 AS "ts", dp_b1.k5 AS "tz", dp_b1.a1 AS "count" FROM pg_catalog.jsonb_to_recordset(($1)::pg_catalog.jsonb->'b1') AS dp_b1(k1 numeric, k2 numeric(8,2), k3 double precision, k4 timestamp without time zone, k5 timestamp with time zone, a1 bigint)
