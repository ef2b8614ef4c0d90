-- case: a count of rows serves
-- policy: smallest
SELECT t, count(*), sum(i4) FROM people GROUP BY t
-- => plan
-- w.people, unit 1 row(s), partitions by hash of r1."id"; keys t of 4; cells 0
--   count(*): sensitivity 1, scale 1/4, epsilon 4 delta 0
--   sum: clamp 0 .. 100, grid 1, sensitivity 100 steps, scale 25, epsilon 4 delta 0
-- => backend
SELECT * FROM (SELECT (CASE WHEN pg_catalog.octet_length((r1."t")::text) <= 1024 THEN (r1."t")::text ELSE pg_catalog.left((r1."t")::text, 1024) END)::text AS k1, pg_catalog.count(*), pg_catalog.sum((pg_catalog.int4larger(pg_catalog.int4smaller(r1."i4", %(p2)s::integer), %(p1)s::integer))::integer) FROM "w"."people" AS r1 GROUP BY 1 LIMIT ALL) g WHERE (k1 = ANY(%(p3)s::text[]) OR k1 IS NULL)
--   p1 = 0
--   p2 = 100
--   p3 = ['x', 'y', 'z']
-- => loss
-- epsilon 8 delta 0
-- => residual
SELECT dp_b1.k1 AS "t", dp_b1.a1 AS "count", dp_b1.a2 AS "sum" FROM pg_catalog.jsonb_to_recordset(($1)::pg_catalog.jsonb->'b1') AS dp_b1(k1 pg_catalog.text, a1 bigint, a2 bigint)

-- case: a count of units is added
-- policy: smallest
SELECT t, sum(i4), avg(i4) FROM orders GROUP BY t
-- => plan
-- w.orders, unit r1."uid": rows 6, groups 2, per group 2; keys t of 4; cells 0
--   sum: clamp 0 .. 100, grid 1, sensitivity 400 steps, scale 125, epsilon 16/5 delta 0
--   avg from deviations: clamp 0 .. 100, grid 1, rows by choice, output grid 0.00001, epsilon 16/5 delta 0
--     count(distinct) of units: sensitivity 2, scale 5/4, epsilon 8/5 delta 0
-- => backend
SELECT k1, pg_catalog.sum(CASE WHEN v0 IS NOT NULL THEN least(greatest(v0, least(v1, %(p4)s::bigint) * %(p5)s::bigint), least(v1, %(p4)s::bigint) * %(p6)s::bigint) END), pg_catalog.sum(least(v2, 1)) FROM (SELECT * FROM (SELECT *, pg_catalog.row_number() OVER (PARTITION BY unit ORDER BY pg_catalog.hashint8extended(pg_catalog.hash_record_extended(ROW(g."unit", k1), %(p8)s::bigint), %(p8)s::bigint), k1) AS rank FROM (SELECT r1."uid" AS unit, (r1."t")::text AS k1, pg_catalog.sum((pg_catalog.int4larger(pg_catalog.int4smaller(r1."i4", %(p2)s::integer), %(p1)s::integer))::integer) AS v0, pg_catalog.count(r1."i4") AS v1, pg_catalog.count(*) AS v2 FROM "w"."orders" AS r1 WHERE r1."uid" IS NOT NULL AND (r1."t" = ANY(%(p7)s::text[]::text[]) OR r1."t" IS NULL) GROUP BY r1."uid", 2) g) c WHERE rank <= %(p4)s::bigint) u GROUP BY 1
--   p1 = 0
--   p2 = 100
--   p3 = 6
--   p4 = 2
--   p5 = 0
--   p6 = 100
--   p7 = ['x', 'y', 'z']
--   p8 = random
WITH g AS MATERIALIZED (SELECT *, pg_catalog.row_number() OVER (PARTITION BY unit) = 1 AS one, (pg_catalog.sum((v0)::float8) OVER (PARTITION BY unit))::bigint AS all_v0 FROM (SELECT g.unit, c.place::integer AS place, g.v0, g.v1 FROM (SELECT r1."uid" AS unit, (r1."t")::text AS k1, pg_catalog.count(r1."i4") AS v0, (2 * pg_catalog.sum((pg_catalog.int4larger(pg_catalog.int4smaller(r1."i4", %(p4)s::integer), %(p3)s::integer))::integer) - %(p2)s::bigint * pg_catalog.count(r1."i4"))::bigint AS v1 FROM "w"."orders" AS r1 WHERE r1."uid" IS NOT NULL AND (r1."t" = ANY(%(p13)s::text[]::text[]) OR r1."t" IS NULL) GROUP BY r1."uid", 2) g JOIN ROWS FROM (pg_catalog.unnest(%(p14)s::text[])) WITH ORDINALITY AS c(k1, place) ON (CASE WHEN g.k1 IS NULL THEN '' ELSE 'v' || g.k1 END) COLLATE pg_catalog."C" = c.k1 LIMIT ALL) t), h AS (SELECT *, (pg_catalog.sum(pg_catalog.abs(d0)) OVER (PARTITION BY unit))::bigint AS size0 FROM (SELECT g.unit, g.place, g.one, (CASE WHEN (SELECT (%(p1)s::text::text[])[%(p16)s::integer]::boolean) THEN (CASE WHEN (g.v1 * %(p15)s::bigint - ((SELECT (%(p1)s::text::text[])[%(p12)s::integer]::bigint[]))[g.place] * g.v0) BETWEEN %(p8)s::bigint AND %(p9)s::bigint THEN (g.v1 * %(p15)s::bigint - ((SELECT (%(p1)s::text::text[])[%(p12)s::integer]::bigint[]))[g.place] * g.v0) * %(p5)s::bigint / g.all_v0 ELSE pg_catalog.div((g.v1 * %(p15)s::bigint - ((SELECT (%(p1)s::text::text[])[%(p12)s::integer]::bigint[]))[g.place] * g.v0) * %(p7)s::numeric, g.all_v0)::bigint END) ELSE (g.v1 * %(p15)s::bigint - ((SELECT (%(p1)s::text::text[])[%(p12)s::integer]::bigint[]))[g.place] * g.v0) END) AS d0 FROM g ORDER BY g.unit LIMIT ALL) t LIMIT ALL) SELECT %(p10)s::jsonb ->> (g.place - 1) AS k1, %(p3)s::integer AS place, pg_catalog.width_bucket(g.all_v0, %(p6)s::bigint[]) AS band, pg_catalog.sum(g.v0)::numeric, pg_catalog.sum(%(p5)s::bigint * g.v0 / g.all_v0)::numeric, pg_catalog.sum((CASE WHEN g.v1 BETWEEN %(p8)s::bigint AND %(p9)s::bigint THEN g.v1 * %(p5)s::bigint / g.all_v0 ELSE pg_catalog.div(g.v1 * %(p7)s::numeric, g.all_v0)::bigint END))::numeric, pg_catalog.count(*) FILTER (WHERE g.one) FROM g g WHERE g.all_v0 > 0 GROUP BY g.place, 3 UNION ALL SELECT %(p10)s::jsonb ->> (g.place - 1) AS k1, %(p12)s::integer AS place, pg_catalog.width_bucket(g.size0, (SELECT (%(p1)s::text::text[])[%(p11)s::integer]::bigint[])) AS band, pg_catalog.sum(g.d0)::numeric, pg_catalog.sum((CASE WHEN g.d0 BETWEEN %(p8)s::bigint AND %(p9)s::bigint THEN g.d0 * %(p5)s::bigint / nullif(g.size0, 0) ELSE pg_catalog.div(g.d0 * %(p7)s::numeric, nullif(g.size0, 0))::bigint END))::numeric, NULL::numeric, pg_catalog.count(*) FILTER (WHERE g.one) FROM h g WHERE g.size0 IS NOT NULL GROUP BY g.place, 3
--   p1 = {"{0,0,0,0}","false","{26,30,36,43,51,60,71,85,101,119,142,169,201,238,283,337,401,476,566,673,801,952,1132,1346,1601,1903,2263,2691,3201,3806,4526,5382,6401,7611,9051,10764,12801,15222,18102,21527,25601,30444,36204,43054,51201,60888,72408,86108,102401,121775,144816,172216,204801,243550,289631,344432,409601,487100,579262,688863,819201,974199,1158524,1377725,1638401,1948397,2317048,2755450,3276801,3896794,4634096,5510899,6553601,7793588,9268191,11021798,13107201,15587176,18536381,22043595,26214401,31174351,37072761,44087190,52428801}"}
--   p2 = 100
--   p3 = 0
--   p4 = 100
--   p5 = 1048576
--   p6 = ['2', '2', '2', '2', '3', '3', '3', '4', '5', '5', '6', '7', '9', '10', '12', '14', '17', '20', '23', '27', '33', '39', '46', '54', '65', '77', '91', '108', '129', '153', '182', '216', '257', '305', '363', '431', '513', '609', '725', '862', '1025', '1218', '1449', '1723', '2049', '2436', '2897', '3445', '4097', '4871', '5793', '6889', '8193', '9742', '11586', '13778', '16385', '19484', '23171', '27555', '32769', '38968', '46341', '55109', '65537', '77936', '92682', '110218', '131073', '155872', '185364', '220436', '262145', '311744', '370728', '440872', '524289', '623488', '741456', '881744', '1048577']
--   p7 = 1048576
--   p8 = -4398046511104
--   p9 = 4398046511104
--   p10 = ["x", "y", "z", null]
--   p11 = 3
--   p12 = 1
--   p13 = ['x', 'y', 'z']
--   p14 = ['vx', 'vy', 'vz', '']
--   p15 = 8
--   p16 = 2
-- => loss
-- epsilon 8 delta 0
-- => residual
SELECT dp_b1.k1 AS "t", dp_b1.a1 AS "sum", dp_b1.a2 AS "avg" FROM pg_catalog.jsonb_to_recordset(($1)::pg_catalog.jsonb->'b1') AS dp_b1(k1 pg_catalog.text, a1 bigint, a2 numeric)

-- case: a count of units serves
-- policy: smallest
SELECT t, count(DISTINCT uid), count(*) FROM orders GROUP BY t
-- => plan
-- w.orders, unit r1."uid": rows 6, groups 2, per group 2; keys t of 4; cells 0
--   count(distinct) of units: sensitivity 2, scale 1/2, epsilon 4 delta 0
--   count(*): sensitivity 4, scale 1, epsilon 4 delta 0
-- => backend
SELECT k1, pg_catalog.sum(least(v0, 1)), pg_catalog.sum(least(v0, %(p2)s::bigint)) FROM (SELECT * FROM (SELECT *, pg_catalog.row_number() OVER (PARTITION BY unit ORDER BY pg_catalog.hashint8extended(pg_catalog.hash_record_extended(ROW(g."unit", k1), %(p4)s::bigint), %(p4)s::bigint), k1) AS rank FROM (SELECT r1."uid" AS unit, (r1."t")::text AS k1, pg_catalog.count(*) AS v0 FROM "w"."orders" AS r1 WHERE r1."uid" IS NOT NULL AND (r1."t" = ANY(%(p3)s::text[]::text[]) OR r1."t" IS NULL) GROUP BY r1."uid", 2) g) c WHERE rank <= %(p2)s::bigint) u GROUP BY 1
--   p1 = 6
--   p2 = 2
--   p3 = ['x', 'y', 'z']
--   p4 = random
-- => loss
-- epsilon 8 delta 0
-- => residual
SELECT dp_b1.k1 AS "t", dp_b1.a1 AS "count", dp_b1.a2 AS "count" FROM pg_catalog.jsonb_to_recordset(($1)::pg_catalog.jsonb->'b1') AS dp_b1(k1 pg_catalog.text, a1 bigint, a2 bigint)

-- case: a count of some rows does not serve
-- policy: smallest
SELECT count(*) FILTER (WHERE b) FROM people
-- => plan
-- w.people, unit 1 row(s), partitions by hash of r1."id"; keys none; cells 0
--   count(*): sensitivity 1, scale 5/32, epsilon 32/5 delta 0
--     count(*): sensitivity 1, scale 5/8, epsilon 8/5 delta 0
-- => backend
SELECT pg_catalog.count(*) FILTER (WHERE r1."b"), pg_catalog.count(*) FROM "w"."people" AS r1
-- => loss
-- epsilon 8 delta 0
-- => residual
SELECT dp_b1.a1 AS "count" FROM pg_catalog.jsonb_to_recordset(($1)::pg_catalog.jsonb->'b1') AS dp_b1(a1 bigint)

-- case: private keys of rows
-- policy: smallest
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

-- case: private keys of units
-- policy: smallest
SELECT s, sum(i4) FROM orders GROUP BY s
-- => plan
-- w.orders, unit r1."uid": rows 6, groups 2, per group 2; keys s of private; cells 0
--   selection: epsilon 4 delta 1/2000, each epsilon 2 delta 0.00025
--   sum: clamp 0 .. 100, grid 1, sensitivity 400 steps, scale 100, epsilon 4 delta 0
-- => backend
SELECT k1, pg_catalog.sum(CASE WHEN v0 IS NOT NULL THEN least(greatest(v0, least(v1, %(p4)s::bigint) * %(p5)s::bigint), least(v1, %(p4)s::bigint) * %(p6)s::bigint) END), pg_catalog.count(*) FROM (SELECT * FROM (SELECT *, pg_catalog.row_number() OVER (PARTITION BY unit ORDER BY pg_catalog.hashint8extended(pg_catalog.hash_record_extended(ROW(g."unit", k1), %(p8)s::bigint), %(p8)s::bigint), k1) AS rank FROM (SELECT r1."uid" AS unit, (r1."s")::text AS k1, pg_catalog.sum((pg_catalog.int4larger(pg_catalog.int4smaller(r1."i4", %(p2)s::integer), %(p1)s::integer))::integer) AS v0, pg_catalog.count(r1."i4") AS v1 FROM "w"."orders" AS r1 WHERE r1."uid" IS NOT NULL GROUP BY r1."uid", 2, coalesce(pg_catalog.hashtextextended(((r1."s")::text)::text, %(p7)s::bigint), %(p7)s::bigint)) g) c WHERE rank <= %(p4)s::bigint) u GROUP BY 1, coalesce(pg_catalog.hashtextextended((k1)::text, %(p7)s::bigint), %(p7)s::bigint)
--   p1 = 0
--   p2 = 100
--   p3 = 6
--   p4 = 2
--   p5 = 0
--   p6 = 100
--   p7 = random
--   p8 = random
-- => loss
-- epsilon 8 delta 1/2000
-- => residual
SELECT dp_b1.k1 AS "s", dp_b1.a1 AS "sum" FROM pg_catalog.jsonb_to_recordset(($1)::pg_catalog.jsonb->'b1') AS dp_b1(k1 character varying(20), a1 bigint)

-- case: keys alone
-- policy: smallest
SELECT DISTINCT t FROM people
-- => plan
-- w.people, unit 1 row(s), partitions by hash of r1."id"; keys t of 4; cells 0
-- => backend

-- => loss
-- epsilon 0 delta 0
-- => residual
SELECT DISTINCT dp_b1.k1 AS "t" FROM pg_catalog.jsonb_to_recordset(($1)::pg_catalog.jsonb->'b1') AS dp_b1(k1 pg_catalog.text)

-- case: each level by itself
-- policy: smallest
SELECT t, sum(i4) FROM people GROUP BY ROLLUP (t)
-- => plan
-- w.people, unit 1 row(s), partitions by hash of r1."id"; keys t of 4; cells 0
--   sum: clamp 0 .. 100, grid 1, sensitivity 100 steps, scale 125/4, epsilon 16/5 delta 0
--     count(*): sensitivity 1, scale 5/4, epsilon 4/5 delta 0
-- w.people, unit 1 row(s), partitions by hash of r1."id"; keys none; cells 0
--   sum: clamp 0 .. 100, grid 1, sensitivity 100 steps, scale 125/4, epsilon 16/5 delta 0
--     count(*): sensitivity 1, scale 5/4, epsilon 4/5 delta 0
-- => backend
SELECT * FROM (SELECT (CASE WHEN pg_catalog.octet_length((r1."t")::text) <= 1024 THEN (r1."t")::text ELSE pg_catalog.left((r1."t")::text, 1024) END)::text AS k1, pg_catalog.sum((pg_catalog.int4larger(pg_catalog.int4smaller(r1."i4", %(p2)s::integer), %(p1)s::integer))::integer), pg_catalog.count(*) FROM "w"."people" AS r1 GROUP BY 1 LIMIT ALL) g WHERE (k1 = ANY(%(p3)s::text[]) OR k1 IS NULL)
--   p1 = 0
--   p2 = 100
--   p3 = ['x', 'y', 'z']
SELECT pg_catalog.sum((pg_catalog.int4larger(pg_catalog.int4smaller(r1."i4", %(p2)s::integer), %(p1)s::integer))::integer), pg_catalog.count(*) FROM "w"."people" AS r1
--   p1 = 0
--   p2 = 100
-- => loss
-- epsilon 8 delta 0
-- => residual
SELECT dp_b1.k1 AS "t", dp_b1.a1 AS "sum" FROM (SELECT dp_l.* FROM (SELECT ($1)::pg_catalog.jsonb AS d) AS dp_r, LATERAL (SELECT k1 AS k1, a1 FROM pg_catalog.jsonb_to_recordset(dp_r.d->'b1') AS dp_b1(k1 pg_catalog.text, a1 bigint) UNION ALL SELECT NULL::pg_catalog.text AS k1, a1 FROM pg_catalog.jsonb_to_recordset(dp_r.d->'b2') AS dp_b2(a1 bigint)) AS dp_l) AS dp_b1

-- case: several rows of a unit in a join
-- policy: smallest joins
SELECT p.t, count(*) FROM people p JOIN events e ON p.i4 = e.i4 GROUP BY p.t
-- => plan
-- w.people, w.events, unit 2 row(s), partitions by hash of r1."i4", at most 2 partitions; keys t of 4; cells 0
--   count(*): sensitivity 2, scale 1/4, epsilon 8 delta 0
-- => backend
SELECT * FROM (SELECT (CASE WHEN pg_catalog.octet_length((r1."t")::text) <= 1024 THEN (r1."t")::text ELSE pg_catalog.left((r1."t")::text, 1024) END)::text AS k1, pg_catalog.count(*) FROM ((SELECT r1."i4" AS c1, r1."t" AS c2, r2."i4" AS c3 FROM ((SELECT * FROM (SELECT r1."id", r1."i2", r1."i4", r1."i8", r1."n2", r1."n", r1."f4", r1."f8", r1."t", r1."c", r1."s", r1."b", r1."d", r1."ts", r1."tz", r1."free", r1."e", r1."j", r1."ta", r1."ia", r1."iv", r1."tod", pg_catalog.count(*) OVER (PARTITION BY r1."i4") AS "dp_place" FROM "w"."people" AS r1 WHERE r1."i4" IS NOT NULL) AS r1 WHERE "dp_place" = 1) AS r1 FULL JOIN (SELECT * FROM (SELECT r2."i2", r2."i4", r2."i8", r2."n2", r2."n", r2."f4", r2."f8", r2."t", r2."c", r2."s", r2."b", r2."d", r2."ts", r2."tz", r2."free", r2."e", r2."j", r2."ta", r2."ia", r2."iv", r2."tod", pg_catalog.count(*) OVER (PARTITION BY r2."i4") AS "dp_place" FROM "w"."events" AS r2 WHERE r2."i4" IS NOT NULL) AS r2 WHERE "dp_place" = 1) AS r2 ON (r1."i4" = r2."i4") AND (pg_catalog.hashint4extended((r1."i4")::integer, %(p1)s::bigint) = pg_catalog.hashint4extended((r2."i4")::integer, %(p1)s::bigint))) WHERE CASE WHEN r1."i4" IS NOT NULL AND r2."i4" IS NOT NULL THEN TRUE ELSE FALSE END LIMIT ALL) AS j1 CROSS JOIN LATERAL (SELECT j1.c1 AS "i4", j1.c2 AS "t") AS r1 CROSS JOIN LATERAL (SELECT j1.c3 AS "i4") AS r2) GROUP BY 1 LIMIT ALL) g WHERE (k1 = ANY(%(p2)s::text[]) OR k1 IS NULL)
--   p1 = random
--   p2 = ['x', 'y', 'z']
-- => loss
-- epsilon 8 delta 0
-- => residual
SELECT dp_b1.k1 AS "t", dp_b1.a1 AS "count" FROM pg_catalog.jsonb_to_recordset(($1)::pg_catalog.jsonb->'b1') AS dp_b1(k1 pg_catalog.text, a1 bigint)

-- case: private keys of a join
-- policy: smallest joins
SELECT p.s, count(*) FROM people p JOIN events e ON p.i4 = e.i4 GROUP BY p.s
-- => plan
-- w.people, w.events, unit 2 row(s), partitions by hash of r1."i4", at most 2 partitions; keys s of private; cells 0
--   selection: epsilon 4 delta 1/2000, each epsilon 2 delta 3.383e-05
--   count(*): sensitivity 2, scale 1/2, epsilon 4 delta 0
-- => backend
SELECT (r1."s")::text, pg_catalog.count(*) FROM ((SELECT r1."i4" AS c1, r1."s" AS c2, r2."i4" AS c3 FROM ((SELECT * FROM (SELECT r1."id", r1."i2", r1."i4", r1."i8", r1."n2", r1."n", r1."f4", r1."f8", r1."t", r1."c", r1."s", r1."b", r1."d", r1."ts", r1."tz", r1."free", r1."e", r1."j", r1."ta", r1."ia", r1."iv", r1."tod", pg_catalog.count(*) OVER (PARTITION BY r1."i4") AS "dp_place" FROM "w"."people" AS r1 WHERE r1."i4" IS NOT NULL) AS r1 WHERE "dp_place" = 1) AS r1 FULL JOIN (SELECT * FROM (SELECT r2."i2", r2."i4", r2."i8", r2."n2", r2."n", r2."f4", r2."f8", r2."t", r2."c", r2."s", r2."b", r2."d", r2."ts", r2."tz", r2."free", r2."e", r2."j", r2."ta", r2."ia", r2."iv", r2."tod", pg_catalog.count(*) OVER (PARTITION BY r2."i4") AS "dp_place" FROM "w"."events" AS r2 WHERE r2."i4" IS NOT NULL) AS r2 WHERE "dp_place" = 1) AS r2 ON (r1."i4" = r2."i4") AND (pg_catalog.hashint4extended((r1."i4")::integer, %(p1)s::bigint) = pg_catalog.hashint4extended((r2."i4")::integer, %(p1)s::bigint))) WHERE CASE WHEN r1."i4" IS NOT NULL AND r2."i4" IS NOT NULL THEN TRUE ELSE FALSE END LIMIT ALL) AS j1 CROSS JOIN LATERAL (SELECT j1.c1 AS "i4", j1.c2 AS "s") AS r1 CROSS JOIN LATERAL (SELECT j1.c3 AS "i4") AS r2) GROUP BY 1, coalesce(pg_catalog.hashtextextended(((r1."s")::text)::text, %(p1)s::bigint), %(p1)s::bigint)
--   p1 = random
-- => loss
-- epsilon 8 delta 1/2000
-- => residual
SELECT dp_b1.k1 AS "s", dp_b1.a1 AS "count" FROM pg_catalog.jsonb_to_recordset(($1)::pg_catalog.jsonb->'b1') AS dp_b1(k1 character varying(20), a1 bigint)

-- case: a count of units that a subquery carries
-- policy: smallest
SELECT sum(m) FROM (SELECT uid, t, max(i4) AS m FROM calls GROUP BY uid, t) q
-- => plan
-- w.calls, unit r3."dp_unit": rows 2, groups None, per group None; keys none; cells 0
--   sum: clamp 0 .. 100, grid 1, sensitivity 200 steps, scale 125/4, epsilon 32/5 delta 0
--     count(distinct) of units: sensitivity 1, scale 5/8, epsilon 8/5 delta 0
-- => backend
SELECT pg_catalog.sum(CASE WHEN v0 IS NOT NULL THEN least(greatest(v0, %(p3)s::bigint * %(p4)s::bigint), %(p3)s::bigint * %(p5)s::bigint) END), pg_catalog.sum(least(v1, 1)) FROM (SELECT r3."dp_unit" AS unit, pg_catalog.sum((pg_catalog.numeric_larger(pg_catalog.numeric_smaller(r3."m", %(p2)s::numeric), %(p1)s::numeric))::integer) AS v0, pg_catalog.count(*) AS v1 FROM (SELECT r2."unit" AS "uid", r2."k1" AS "t", r2."a1" AS "m", r2."unit" AS "dp_unit" FROM (SELECT r1."uid" AS unit, (CASE WHEN pg_catalog.octet_length(r1."t") <= 1024 THEN r1."t" ELSE pg_catalog.left(r1."t", 1024) END)::text AS k1, pg_catalog.trim_scale(pg_catalog.max((pg_catalog.int4larger(pg_catalog.int4smaller(r1."i4", %(p7)s::integer), %(p6)s::integer))::numeric)) AS a1 FROM "w"."calls" AS r1 WHERE r1."uid" IS NOT NULL GROUP BY r1."uid", 2, coalesce(pg_catalog.hashtextextended(((CASE WHEN pg_catalog.octet_length(r1."t") <= 1024 THEN r1."t" ELSE pg_catalog.left(r1."t", 1024) END)::text)::text, %(p8)s::bigint), %(p8)s::bigint)) AS r2) AS r3 WHERE r3."dp_unit" IS NOT NULL GROUP BY r3."dp_unit") u
--   p1 = 0
--   p2 = 100
--   p3 = 2
--   p4 = 0
--   p5 = 100
--   p6 = 0
--   p7 = 100
--   p8 = random
-- => loss
-- epsilon 8 delta 0
-- => residual
SELECT dp_b1.a1 AS "sum" FROM pg_catalog.jsonb_to_recordset(($1)::pg_catalog.jsonb->'b1') AS dp_b1(a1 bigint)
