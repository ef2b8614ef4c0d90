-- case: count distinct
SELECT count(DISTINCT s) FROM people
-- => plan
-- w.people, unit 1 row(s), partitions by hash of r1."id"; keys none; cells 0
--   count(distinct): sensitivity 1, scale 1/8, epsilon 8 delta 0
-- => backend
SELECT pg_catalog.count(DISTINCT r1."s") FROM "w"."people" AS r1
-- => loss
-- epsilon 8 delta 0
-- => residual
SELECT dp_b1.a1 AS "count" FROM pg_catalog.jsonb_to_recordset(($1)::pg_catalog.jsonb->'b1') AS dp_b1(a1 bigint)

-- case: count distinct of many per unit
SELECT count(DISTINCT s), count(*) FROM orders
-- => plan
-- w.orders, unit r1."uid": rows 6, groups None, per group None; keys none; cells 0
--   count(distinct): sensitivity 6, scale 3/2, epsilon 4 delta 0
--   count(*): sensitivity 6, scale 3/2, epsilon 4 delta 0
-- => backend
SELECT pg_catalog.sum(least(v0, %(p1)s::bigint)) FROM (SELECT r1."uid" AS unit, pg_catalog.count(*) AS v0 FROM "w"."orders" AS r1 WHERE r1."uid" IS NOT NULL GROUP BY r1."uid") u
--   p1 = 6
SELECT pg_catalog.count(DISTINCT v) FROM (SELECT v, pg_catalog.row_number() OVER (PARTITION BY unit ORDER BY pg_catalog.hashint8extended(pg_catalog.hash_record_extended(ROW(d."unit", v), %(p2)s::bigint), %(p2)s::bigint), v) AS rank FROM (SELECT unit, v FROM (SELECT r1."uid" AS unit, (r1."s") AS v FROM "w"."orders" AS r1 WHERE r1."uid" IS NOT NULL AND (r1."s") IS NOT NULL) s GROUP BY unit, v, coalesce(pg_catalog.hashtextextended((v)::text, %(p1)s::bigint), %(p1)s::bigint)) d) u WHERE rank <= %(p3)s::bigint
--   p1 = random
--   p2 = random
--   p3 = 6
-- => loss
-- epsilon 8 delta 0
-- => residual
SELECT dp_b1.a1 AS "count", dp_b1.a2 AS "count" FROM pg_catalog.jsonb_to_recordset(($1)::pg_catalog.jsonb->'b1') AS dp_b1(a1 bigint, a2 bigint)

-- case: count distinct by groups
SELECT t, count(DISTINCT i4), count(DISTINCT s) FILTER (WHERE b) FROM orders GROUP BY t
-- => plan
-- w.orders, unit r1."uid": rows 6, groups 2, per group 2; keys t of 4; cells 0
--   count(distinct): sensitivity 6, scale 3/2, epsilon 4 delta 0
--   count(distinct): sensitivity 6, scale 3/2, epsilon 4 delta 0
-- => backend
SELECT k1, pg_catalog.count(DISTINCT v) FROM (SELECT k1, v, pg_catalog.row_number() OVER (PARTITION BY unit ORDER BY pg_catalog.hashint8extended(pg_catalog.hash_record_extended(ROW(d."unit", k1, v), %(p3)s::bigint), %(p3)s::bigint), k1, v) AS rank FROM (SELECT unit, k1, v FROM (SELECT r1."uid" AS unit, (r1."t")::text AS k1, (r1."i4") AS v FROM "w"."orders" AS r1 WHERE r1."uid" IS NOT NULL AND (r1."t" = ANY(%(p1)s::text[]::text[]) OR r1."t" IS NULL) AND (r1."i4") IS NOT NULL) s GROUP BY unit, k1, v, coalesce(pg_catalog.hash_numeric_extended((v)::numeric, %(p2)s::bigint), %(p2)s::bigint)) d) u WHERE rank <= %(p4)s::bigint GROUP BY k1
--   p1 = ['x', 'y', 'z']
--   p2 = random
--   p3 = random
--   p4 = 6
SELECT k1, pg_catalog.count(DISTINCT v) FROM (SELECT k1, v, pg_catalog.row_number() OVER (PARTITION BY unit ORDER BY pg_catalog.hashint8extended(pg_catalog.hash_record_extended(ROW(d."unit", k1, v), %(p3)s::bigint), %(p3)s::bigint), k1, v) AS rank FROM (SELECT unit, k1, v FROM (SELECT r1."uid" AS unit, (r1."t")::text AS k1, (r1."s") AS v FROM "w"."orders" AS r1 WHERE r1."uid" IS NOT NULL AND (r1."t" = ANY(%(p1)s::text[]::text[]) OR r1."t" IS NULL) AND (r1."s") IS NOT NULL AND r1."b") s GROUP BY unit, k1, v, coalesce(pg_catalog.hashtextextended((v)::text, %(p2)s::bigint), %(p2)s::bigint)) d) u WHERE rank <= %(p4)s::bigint GROUP BY k1
--   p1 = ['x', 'y', 'z']
--   p2 = random
--   p3 = random
--   p4 = 6
-- => loss
-- epsilon 8 delta 0
-- => residual
SELECT dp_b1.k1 AS "t", dp_b1.a1 AS "count", dp_b1.a2 AS "count" FROM pg_catalog.jsonb_to_recordset(($1)::pg_catalog.jsonb->'b1') AS dp_b1(k1 pg_catalog.text, a1 bigint, a2 bigint)

-- case: count distinct beside a median
SELECT count(DISTINCT i4), avg(i4) FROM people
-- => plan
-- w.people, unit 1 row(s), partitions by hash of r1."id"; keys none; cells 91
--   count(distinct): sensitivity 1, scale 1/4, epsilon 4 delta 0
--   avg: 0 .. 10000 steps of 0.01, fill 5000, 91 partitions, gate 743 units, scale 5, epsilon 4 delta 1/2000, each epsilon 19/5 delta 0.0005
-- => backend
SELECT x2, pg_catalog.count(x1), pg_catalog.sum((pg_catalog.int4larger(pg_catalog.int4smaller(x1, %(p2)s::integer), %(p1)s::integer))::integer) FROM (SELECT r1."i4" AS x1, pg_catalog.mod(((pg_catalog.hashint4extended(r1."id"::integer, %(p3)s::bigint)) & %(p4)s::bigint)::integer, %(p5)s::integer) AS x2 FROM "w"."people" AS r1 LIMIT ALL) r GROUP BY 1
--   p1 = 0
--   p2 = 100
--   p3 = random
--   p4 = 2147483647
--   p5 = 91
SELECT pg_catalog.count(DISTINCT v) FROM (SELECT (r1."i4") AS v FROM "w"."people" AS r1 WHERE (r1."i4") IS NOT NULL) u
-- => loss
-- epsilon 8 delta 1/2000
-- => residual
SELECT dp_b1.a1 AS "count", dp_b1.a2 AS "avg" FROM pg_catalog.jsonb_to_recordset(($1)::pg_catalog.jsonb->'b1') AS dp_b1(a1 bigint, a2 numeric)

-- case: count of units
SELECT count(DISTINCT uid) FROM orders
-- => plan
-- w.orders, unit r1."uid": rows 6, groups None, per group None; keys none; cells 0
--   count(distinct) of units: sensitivity 1, scale 1/8, epsilon 8 delta 0
-- => backend
SELECT pg_catalog.sum(least(v0, 1)) FROM (SELECT r1."uid" AS unit, pg_catalog.count(*) AS v0 FROM "w"."orders" AS r1 WHERE r1."uid" IS NOT NULL GROUP BY r1."uid") u
-- => loss
-- epsilon 8 delta 0
-- => residual
SELECT dp_b1.a1 AS "count" FROM pg_catalog.jsonb_to_recordset(($1)::pg_catalog.jsonb->'b1') AS dp_b1(a1 bigint)

-- case: count of units by groups
SELECT t, count(DISTINCT uid), sum(i4) FROM orders GROUP BY t
-- => plan
-- w.orders, unit r1."uid": rows 6, groups 2, per group 2; keys t of 4; cells 0
--   count(distinct) of units: sensitivity 2, scale 1/2, epsilon 4 delta 0
--   sum: clamp 0 .. 100, grid 1, sensitivity 400 steps, scale 100, epsilon 4 delta 0
-- => backend
SELECT k1, pg_catalog.sum(least(v0, 1)), pg_catalog.sum(CASE WHEN v1 IS NOT NULL THEN least(greatest(v1, least(v2, %(p4)s::bigint) * %(p5)s::bigint), least(v2, %(p4)s::bigint) * %(p6)s::bigint) END) FROM (SELECT * FROM (SELECT *, pg_catalog.row_number() OVER (PARTITION BY unit ORDER BY pg_catalog.hashint8extended(pg_catalog.hash_record_extended(ROW(g."unit", k1), %(p8)s::bigint), %(p8)s::bigint), k1) AS rank FROM (SELECT r1."uid" AS unit, (r1."t")::text AS k1, pg_catalog.count(*) AS v0, pg_catalog.sum((pg_catalog.int4larger(pg_catalog.int4smaller(r1."i4", %(p2)s::integer), %(p1)s::integer))::integer) AS v1, pg_catalog.count(r1."i4") AS v2 FROM "w"."orders" AS r1 WHERE r1."uid" IS NOT NULL AND (r1."t" = ANY(%(p7)s::text[]::text[]) OR r1."t" IS NULL) GROUP BY r1."uid", 2) g) c WHERE rank <= %(p4)s::bigint) u GROUP BY 1
--   p1 = 0
--   p2 = 100
--   p3 = 6
--   p4 = 2
--   p5 = 0
--   p6 = 100
--   p7 = ['x', 'y', 'z']
--   p8 = random
-- => loss
-- epsilon 8 delta 0
-- => residual
SELECT dp_b1.k1 AS "t", dp_b1.a1 AS "count", dp_b1.a2 AS "sum" FROM pg_catalog.jsonb_to_recordset(($1)::pg_catalog.jsonb->'b1') AS dp_b1(k1 pg_catalog.text, a1 bigint, a2 bigint)

-- case: count of units by groups of visits
SELECT t, count(DISTINCT uid) FROM visits GROUP BY t
-- => plan
-- w.visits, unit r1."uid": rows 5, groups None, per group None; keys t of 4; cells 0
--   count(distinct) of units: sensitivity 4, scale 1/2, epsilon 8 delta 0
-- => backend
SELECT k1, pg_catalog.sum(least(v0, 1)) FROM (SELECT r1."uid" AS unit, (r1."t")::text AS k1, pg_catalog.count(*) AS v0 FROM "w"."visits" AS r1 WHERE r1."uid" IS NOT NULL AND (r1."t" = ANY(%(p1)s::text[]::text[]) OR r1."t" IS NULL) GROUP BY r1."uid", 2) u GROUP BY 1
--   p1 = ['x', 'y', 'z']
-- => loss
-- epsilon 8 delta 0
-- => residual
SELECT dp_b1.k1 AS "t", dp_b1.a1 AS "count" FROM pg_catalog.jsonb_to_recordset(($1)::pg_catalog.jsonb->'b1') AS dp_b1(k1 pg_catalog.text, a1 bigint)

-- case: count of unique units
SELECT count(DISTINCT uid) FROM members WHERE i4 > 3
-- => plan
-- w.members, unit 1 row(s), partitions by hash of r1."uid", r1."uid" not null; keys none; cells 0
--   count(distinct) of units: sensitivity 1, scale 1/8, epsilon 8 delta 0
-- => backend
SELECT pg_catalog.count(DISTINCT r1."uid") FROM "w"."members" AS r1 WHERE r1."uid" IS NOT NULL AND (r1."i4" > %(p1)s::bigint)
--   p1 = 3
-- => loss
-- epsilon 8 delta 0
-- => residual
SELECT dp_b1.a1 AS "count" FROM pg_catalog.jsonb_to_recordset(($1)::pg_catalog.jsonb->'b1') AS dp_b1(a1 bigint)

-- case: stddev
SELECT stddev(i4) FROM people
-- => plan
-- w.people, unit 1 row(s), partitions by hash of r1."id"; keys none; cells 0
--   stddev_samp made of releases 2, 3, 4: clamp 0 .. 100, grid 1, output grid 0.00001
--     rows for stddev_samp: clamp 0 .. 100, grid 1, sensitivity 1, scale 3/8, epsilon 8/3 delta 0
--     centred sum for stddev_samp: clamp 0 .. 100, grid 1, sensitivity 100, scale 75/2, epsilon 8/3 delta 0
--     centred squares for stddev_samp: clamp 0 .. 100, grid 1, sensitivity 10000, scale 3750, epsilon 8/3 delta 0
-- => backend
SELECT pg_catalog.count(r1."i4"), (2 * pg_catalog.sum((pg_catalog.int4larger(pg_catalog.int4smaller(r1."i4", %(p3)s::integer), %(p2)s::integer))::integer) - %(p1)s::bigint * pg_catalog.count(r1."i4"))::bigint, pg_catalog.sum((2 * ((2 * ((pg_catalog.int4larger(pg_catalog.int4smaller(r1."i4", %(p3)s::integer), %(p2)s::integer))::integer)::bigint - %(p1)s::bigint)::bigint) * ((2 * ((pg_catalog.int4larger(pg_catalog.int4smaller(r1."i4", %(p3)s::integer), %(p2)s::integer))::integer)::bigint - %(p1)s::bigint)::bigint) - %(p4)s::bigint)) FROM "w"."people" AS r1
--   p1 = 100
--   p2 = 0
--   p3 = 100
--   p4 = 10000
-- => loss
-- epsilon 8 delta 0
-- => residual
SELECT dp_b1.a1 AS "stddev" FROM pg_catalog.jsonb_to_recordset(($1)::pg_catalog.jsonb->'b1') AS dp_b1(a1 numeric)

-- case: variances
SELECT variance(i4), var_pop(n2), var_samp(f8), stddev_pop(i2) FROM orders
-- => plan
-- w.orders, unit r1."uid": rows 6, groups None, per group None; keys none; cells 0
--   var_samp made of releases 5, 6, 7: clamp 0 .. 100, grid 1, output grid 0.00001
--   var_pop made of releases 8, 9, 10: clamp 0 .. 175, grid 0.01, output grid 0.00001
--   var_samp made of releases 11, 12, 13: clamp -100 .. 100, grid 0.01, output grid 0.00001
--   stddev_pop made of releases 14, 15, 16: clamp -5 .. 10, grid 1, output grid 0.000001
--     rows for var_samp: clamp 0 .. 100, grid 1, sensitivity 6, scale 9, epsilon 2/3 delta 0
--     centred sum for var_samp: clamp 0 .. 100, grid 1, sensitivity 600, scale 900, epsilon 2/3 delta 0
--     centred squares for var_samp: clamp 0 .. 100, grid 1, sensitivity 60000, scale 90000, epsilon 2/3 delta 0
--     rows for var_pop: clamp 0 .. 175, grid 0.01, sensitivity 6, scale 9, epsilon 2/3 delta 0
--     centred sum for var_pop: clamp 0 .. 175, grid 0.01, sensitivity 105000, scale 157500, epsilon 2/3 delta 0
--     centred squares for var_pop: clamp 0 .. 175, grid 0.01, sensitivity 1837500000, scale 2756250000, epsilon 2/3 delta 0
--     rows for var_samp: clamp -100 .. 100, grid 0.01, sensitivity 6, scale 9, epsilon 2/3 delta 0
--     centred sum for var_samp: clamp -100 .. 100, grid 0.01, sensitivity 120000, scale 180000, epsilon 2/3 delta 0
--     centred squares for var_samp: clamp -100 .. 100, grid 0.01, sensitivity 2400000000, scale 3600000000, epsilon 2/3 delta 0
--     rows for stddev_pop: clamp -5 .. 10, grid 1, sensitivity 6, scale 9, epsilon 2/3 delta 0
--     centred sum for stddev_pop: clamp -5 .. 10, grid 1, sensitivity 90, scale 135, epsilon 2/3 delta 0
--     centred squares for stddev_pop: clamp -5 .. 10, grid 1, sensitivity 1350, scale 2025, epsilon 2/3 delta 0
-- => backend
SELECT pg_catalog.sum(least(v0, %(p1)s::bigint)), pg_catalog.sum(CASE WHEN v1 IS NOT NULL THEN CASE WHEN v0 <= %(p1)s::bigint THEN v1::bigint ELSE (least(greatest(CASE WHEN v0 <= least(v0, %(p1)s::bigint) THEN v1 ELSE pg_catalog.round(v1::numeric * least(v0, %(p1)s::bigint) / v0) END, least(v0, %(p1)s::bigint) * %(p5)s::bigint), least(v0, %(p1)s::bigint) * %(p2)s::bigint))::bigint END END), pg_catalog.sum(CASE WHEN v2 IS NOT NULL THEN CASE WHEN v0 <= %(p1)s::bigint THEN v2::bigint ELSE (least(greatest(CASE WHEN v0 <= least(v0, %(p1)s::bigint) THEN v2 ELSE pg_catalog.round(v2::numeric * least(v0, %(p1)s::bigint) / v0) END, least(v0, %(p1)s::bigint) * %(p7)s::bigint), least(v0, %(p1)s::bigint) * %(p6)s::bigint))::bigint END END), pg_catalog.sum(least(v3, %(p1)s::bigint)), pg_catalog.sum(CASE WHEN v4 IS NOT NULL THEN CASE WHEN v3 <= %(p1)s::bigint THEN v4::bigint ELSE (least(greatest(CASE WHEN v3 <= least(v3, %(p1)s::bigint) THEN v4 ELSE pg_catalog.round(v4::numeric * least(v3, %(p1)s::bigint) / v3) END, least(v3, %(p1)s::bigint) * %(p11)s::bigint), least(v3, %(p1)s::bigint) * %(p8)s::bigint))::bigint END END), pg_catalog.sum(CASE WHEN v5 IS NOT NULL THEN CASE WHEN v3 <= %(p1)s::bigint THEN v5::bigint ELSE (least(greatest(CASE WHEN v3 <= least(v3, %(p1)s::bigint) THEN v5 ELSE pg_catalog.round(v5::numeric * least(v3, %(p1)s::bigint) / v3) END, least(v3, %(p1)s::bigint) * %(p13)s::bigint), least(v3, %(p1)s::bigint) * %(p12)s::bigint))::bigint END END), pg_catalog.sum(least(v6, %(p1)s::bigint)), pg_catalog.sum(CASE WHEN v7 IS NOT NULL THEN CASE WHEN v6 <= %(p1)s::bigint THEN v7::bigint ELSE (least(greatest(CASE WHEN v6 <= least(v6, %(p1)s::bigint) THEN v7 ELSE pg_catalog.round(v7::numeric * least(v6, %(p1)s::bigint) / v6) END, least(v6, %(p1)s::bigint) * %(p17)s::bigint), least(v6, %(p1)s::bigint) * %(p18)s::bigint))::bigint END END), pg_catalog.sum(CASE WHEN v8 IS NOT NULL THEN CASE WHEN v6 <= %(p1)s::bigint THEN v8::bigint ELSE (least(greatest(CASE WHEN v6 <= least(v6, %(p1)s::bigint) THEN v8 ELSE pg_catalog.round(v8::numeric * least(v6, %(p1)s::bigint) / v6) END, least(v6, %(p1)s::bigint) * %(p20)s::bigint), least(v6, %(p1)s::bigint) * %(p19)s::bigint))::bigint END END), pg_catalog.sum(least(v9, %(p1)s::bigint)), pg_catalog.sum(CASE WHEN v10 IS NOT NULL THEN CASE WHEN v9 <= %(p1)s::bigint THEN v10::bigint ELSE (least(greatest(CASE WHEN v9 <= least(v9, %(p1)s::bigint) THEN v10 ELSE pg_catalog.round(v10::numeric * least(v9, %(p1)s::bigint) / v9) END, least(v9, %(p1)s::bigint) * %(p24)s::bigint), least(v9, %(p1)s::bigint) * %(p25)s::bigint))::bigint END END), pg_catalog.sum(CASE WHEN v11 IS NOT NULL THEN CASE WHEN v9 <= %(p1)s::bigint THEN v11::bigint ELSE (least(greatest(CASE WHEN v9 <= least(v9, %(p1)s::bigint) THEN v11 ELSE pg_catalog.round(v11::numeric * least(v9, %(p1)s::bigint) / v9) END, least(v9, %(p1)s::bigint) * %(p27)s::bigint), least(v9, %(p1)s::bigint) * %(p26)s::bigint))::bigint END END) FROM (SELECT r1."uid" AS unit, pg_catalog.count(r1."i4") AS v0, (2 * pg_catalog.sum((pg_catalog.int4larger(pg_catalog.int4smaller(r1."i4", %(p4)s::integer), %(p3)s::integer))::integer) - %(p2)s::bigint * pg_catalog.count(r1."i4"))::bigint AS v1, pg_catalog.sum((2 * ((2 * ((pg_catalog.int4larger(pg_catalog.int4smaller(r1."i4", %(p4)s::integer), %(p3)s::integer))::integer)::bigint - %(p2)s::bigint)::bigint) * ((2 * ((pg_catalog.int4larger(pg_catalog.int4smaller(r1."i4", %(p4)s::integer), %(p3)s::integer))::integer)::bigint - %(p2)s::bigint)::bigint) - %(p6)s::bigint)) AS v2, pg_catalog.count(r1."n2") AS v3, (2 * pg_catalog.sum(pg_catalog.int4larger((pg_catalog.numeric_smaller(r1."n2" * %(p9)s::numeric, %(p10)s::numeric))::integer, %(p3)s::integer)) - %(p8)s::bigint * pg_catalog.count(r1."n2"))::bigint AS v4, pg_catalog.sum((2 * ((2 * (pg_catalog.int4larger((pg_catalog.numeric_smaller(r1."n2" * %(p9)s::numeric, %(p10)s::numeric))::integer, %(p3)s::integer))::bigint - %(p8)s::bigint)::bigint) * ((2 * (pg_catalog.int4larger((pg_catalog.numeric_smaller(r1."n2" * %(p9)s::numeric, %(p10)s::numeric))::integer, %(p3)s::integer))::bigint - %(p8)s::bigint)::bigint) - %(p12)s::bigint)) AS v5, pg_catalog.count(r1."f8") AS v6, (2 * pg_catalog.sum(((pg_catalog.float8larger(pg_catalog.float8smaller(r1."f8", %(p16)s::double precision), %(p15)s::double precision))::double precision * %(p16)s::double precision)::integer) - %(p14)s::bigint * pg_catalog.count(r1."f8"))::bigint AS v7, pg_catalog.sum((2 * ((2 * (((pg_catalog.float8larger(pg_catalog.float8smaller(r1."f8", %(p16)s::double precision), %(p15)s::double precision))::double precision * %(p16)s::double precision)::integer)::bigint - %(p14)s::bigint)::bigint) * ((2 * (((pg_catalog.float8larger(pg_catalog.float8smaller(r1."f8", %(p16)s::double precision), %(p15)s::double precision))::double precision * %(p16)s::double precision)::integer)::bigint - %(p14)s::bigint)::bigint) - %(p19)s::bigint)) AS v8, pg_catalog.count(r1."i2") AS v9, (2 * pg_catalog.sum((pg_catalog.int4larger(pg_catalog.int4smaller(r1."i2", %(p23)s::integer), %(p22)s::integer))::integer) - %(p21)s::bigint * pg_catalog.count(r1."i2"))::bigint AS v10, pg_catalog.sum((2 * ((2 * ((pg_catalog.int4larger(pg_catalog.int4smaller(r1."i2", %(p23)s::integer), %(p22)s::integer))::integer)::bigint - %(p21)s::bigint)::bigint) * ((2 * ((pg_catalog.int4larger(pg_catalog.int4smaller(r1."i2", %(p23)s::integer), %(p22)s::integer))::integer)::bigint - %(p21)s::bigint)::bigint) - %(p26)s::bigint)) AS v11 FROM "w"."orders" AS r1 WHERE r1."uid" IS NOT NULL GROUP BY r1."uid") u
--   p1 = 6
--   p2 = 100
--   p3 = 0
--   p4 = 100
--   p5 = -100
--   p6 = 10000
--   p7 = -10000
--   p8 = 17500
--   p9 = 100
--   p10 = 17500
--   p11 = -17500
--   p12 = 306250000
--   p13 = -306250000
--   p14 = 0
--   p15 = -100
--   p16 = 100
--   p17 = -20000
--   p18 = 20000
--   p19 = 400000000
--   p20 = -400000000
--   p21 = 5
--   p22 = -5
--   p23 = 10
--   p24 = -15
--   p25 = 15
--   p26 = 225
--   p27 = -225
-- => loss
-- epsilon 8 delta 0
-- => residual
SELECT dp_b1.a1 AS "variance", dp_b1.a2 AS "var_pop", dp_b1.a3 AS "var_samp", dp_b1.a4 AS "stddev_pop" FROM pg_catalog.jsonb_to_recordset(($1)::pg_catalog.jsonb->'b1') AS dp_b1(a1 numeric, a2 numeric, a3 double precision, a4 numeric)

-- case: variances by groups
SELECT t, var_pop(i4), stddev(n2) FROM visits GROUP BY t
-- => plan
-- w.visits, unit r1."uid": rows 5, groups None, per group None; keys t of 4; cells 0
--   var_pop made of releases 3, 4, 5: clamp 0 .. 100, grid 1, output grid 0.00001
--   stddev_samp made of releases 6, 7, 8: clamp 0 .. 175, grid 0.01, output grid 0.00001
--     rows for var_pop: clamp 0 .. 100, grid 1, sensitivity 5, scale 15/4, epsilon 4/3 delta 0
--     centred sum for var_pop: clamp 0 .. 100, grid 1, sensitivity 500, scale 375, epsilon 4/3 delta 0
--     centred squares for var_pop: clamp 0 .. 100, grid 1, sensitivity 50000, scale 37500, epsilon 4/3 delta 0
--     rows for stddev_samp: clamp 0 .. 175, grid 0.01, sensitivity 5, scale 15/4, epsilon 4/3 delta 0
--     centred sum for stddev_samp: clamp 0 .. 175, grid 0.01, sensitivity 87500, scale 65625, epsilon 4/3 delta 0
--     centred squares for stddev_samp: clamp 0 .. 175, grid 0.01, sensitivity 1531250000, scale 1148437500, epsilon 4/3 delta 0
-- => backend
SELECT k1, pg_catalog.sum(CASE WHEN total0 <= %(p1)s::bigint THEN v0 ELSE pg_catalog.div(v0::numeric * %(p1)s::bigint, total0)::bigint END), pg_catalog.sum(CASE WHEN v1 IS NOT NULL THEN CASE WHEN total0 <= %(p1)s::bigint THEN v1::bigint ELSE (least(greatest(CASE WHEN v0 <= CASE WHEN total0 <= %(p1)s::bigint THEN v0 ELSE pg_catalog.div(v0::numeric * %(p1)s::bigint, total0)::bigint END THEN v1 ELSE pg_catalog.round(v1::numeric * CASE WHEN total0 <= %(p1)s::bigint THEN v0 ELSE pg_catalog.div(v0::numeric * %(p1)s::bigint, total0)::bigint END / v0) END, CASE WHEN total0 <= %(p1)s::bigint THEN v0 ELSE pg_catalog.div(v0::numeric * %(p1)s::bigint, total0)::bigint END * %(p5)s::bigint), CASE WHEN total0 <= %(p1)s::bigint THEN v0 ELSE pg_catalog.div(v0::numeric * %(p1)s::bigint, total0)::bigint END * %(p2)s::bigint))::bigint END END), pg_catalog.sum(CASE WHEN v2 IS NOT NULL THEN CASE WHEN total0 <= %(p1)s::bigint THEN v2::bigint ELSE (least(greatest(CASE WHEN v0 <= CASE WHEN total0 <= %(p1)s::bigint THEN v0 ELSE pg_catalog.div(v0::numeric * %(p1)s::bigint, total0)::bigint END THEN v2 ELSE pg_catalog.round(v2::numeric * CASE WHEN total0 <= %(p1)s::bigint THEN v0 ELSE pg_catalog.div(v0::numeric * %(p1)s::bigint, total0)::bigint END / v0) END, CASE WHEN total0 <= %(p1)s::bigint THEN v0 ELSE pg_catalog.div(v0::numeric * %(p1)s::bigint, total0)::bigint END * %(p7)s::bigint), CASE WHEN total0 <= %(p1)s::bigint THEN v0 ELSE pg_catalog.div(v0::numeric * %(p1)s::bigint, total0)::bigint END * %(p6)s::bigint))::bigint END END), pg_catalog.sum(CASE WHEN total3 <= %(p1)s::bigint THEN v3 ELSE pg_catalog.div(v3::numeric * %(p1)s::bigint, total3)::bigint END), pg_catalog.sum(CASE WHEN v4 IS NOT NULL THEN CASE WHEN total3 <= %(p1)s::bigint THEN v4::bigint ELSE (least(greatest(CASE WHEN v3 <= CASE WHEN total3 <= %(p1)s::bigint THEN v3 ELSE pg_catalog.div(v3::numeric * %(p1)s::bigint, total3)::bigint END THEN v4 ELSE pg_catalog.round(v4::numeric * CASE WHEN total3 <= %(p1)s::bigint THEN v3 ELSE pg_catalog.div(v3::numeric * %(p1)s::bigint, total3)::bigint END / v3) END, CASE WHEN total3 <= %(p1)s::bigint THEN v3 ELSE pg_catalog.div(v3::numeric * %(p1)s::bigint, total3)::bigint END * %(p11)s::bigint), CASE WHEN total3 <= %(p1)s::bigint THEN v3 ELSE pg_catalog.div(v3::numeric * %(p1)s::bigint, total3)::bigint END * %(p8)s::bigint))::bigint END END), pg_catalog.sum(CASE WHEN v5 IS NOT NULL THEN CASE WHEN total3 <= %(p1)s::bigint THEN v5::bigint ELSE (least(greatest(CASE WHEN v3 <= CASE WHEN total3 <= %(p1)s::bigint THEN v3 ELSE pg_catalog.div(v3::numeric * %(p1)s::bigint, total3)::bigint END THEN v5 ELSE pg_catalog.round(v5::numeric * CASE WHEN total3 <= %(p1)s::bigint THEN v3 ELSE pg_catalog.div(v3::numeric * %(p1)s::bigint, total3)::bigint END / v3) END, CASE WHEN total3 <= %(p1)s::bigint THEN v3 ELSE pg_catalog.div(v3::numeric * %(p1)s::bigint, total3)::bigint END * %(p13)s::bigint), CASE WHEN total3 <= %(p1)s::bigint THEN v3 ELSE pg_catalog.div(v3::numeric * %(p1)s::bigint, total3)::bigint END * %(p12)s::bigint))::bigint END END) FROM (SELECT *, (pg_catalog.sum((v0)::float8) OVER (PARTITION BY unit))::bigint AS total0, (pg_catalog.sum((v3)::float8) OVER (PARTITION BY unit))::bigint AS total3 FROM (SELECT r1."uid" AS unit, (r1."t")::text AS k1, pg_catalog.count(r1."i4") AS v0, (2 * pg_catalog.sum((pg_catalog.int4larger(pg_catalog.int4smaller(r1."i4", %(p4)s::integer), %(p3)s::integer))::integer) - %(p2)s::bigint * pg_catalog.count(r1."i4"))::bigint AS v1, pg_catalog.sum((2 * ((2 * ((pg_catalog.int4larger(pg_catalog.int4smaller(r1."i4", %(p4)s::integer), %(p3)s::integer))::integer)::bigint - %(p2)s::bigint)::bigint) * ((2 * ((pg_catalog.int4larger(pg_catalog.int4smaller(r1."i4", %(p4)s::integer), %(p3)s::integer))::integer)::bigint - %(p2)s::bigint)::bigint) - %(p6)s::bigint)) AS v2, pg_catalog.count(r1."n2") AS v3, (2 * pg_catalog.sum(pg_catalog.int4larger((pg_catalog.numeric_smaller(r1."n2" * %(p9)s::numeric, %(p10)s::numeric))::integer, %(p3)s::integer)) - %(p8)s::bigint * pg_catalog.count(r1."n2"))::bigint AS v4, pg_catalog.sum((2 * ((2 * (pg_catalog.int4larger((pg_catalog.numeric_smaller(r1."n2" * %(p9)s::numeric, %(p10)s::numeric))::integer, %(p3)s::integer))::bigint - %(p8)s::bigint)::bigint) * ((2 * (pg_catalog.int4larger((pg_catalog.numeric_smaller(r1."n2" * %(p9)s::numeric, %(p10)s::numeric))::integer, %(p3)s::integer))::bigint - %(p8)s::bigint)::bigint) - %(p12)s::bigint)) AS v5 FROM "w"."visits" AS r1 WHERE r1."uid" IS NOT NULL AND (r1."t" = ANY(%(p14)s::text[]::text[]) OR r1."t" IS NULL) GROUP BY r1."uid", 2) g) u GROUP BY 1
--   p1 = 5
--   p2 = 100
--   p3 = 0
--   p4 = 100
--   p5 = -100
--   p6 = 10000
--   p7 = -10000
--   p8 = 17500
--   p9 = 100
--   p10 = 17500
--   p11 = -17500
--   p12 = 306250000
--   p13 = -306250000
--   p14 = ['x', 'y', 'z']
-- => loss
-- epsilon 8 delta 0
-- => residual
SELECT dp_b1.k1 AS "t", dp_b1.a1 AS "var_pop", dp_b1.a2 AS "stddev" FROM pg_catalog.jsonb_to_recordset(($1)::pg_catalog.jsonb->'b1') AS dp_b1(k1 pg_catalog.text, a1 numeric, a2 numeric)

-- case: variances with bounds per group
SELECT t, variance(i8) FROM orders GROUP BY t
-- => plan
-- w.orders, unit r1."uid": rows 6, groups 2, per group 2; keys t of 4; cells 0
--   var_samp made of releases 2, 3, 4: clamp -1000 .. 5000, grid 10, output grid 0.0001
--     rows for var_samp: clamp -1000 .. 5000, grid 10, sensitivity 4, scale 3/2, epsilon 8/3 delta 0
--     centred sum for var_samp: clamp -1000 .. 5000, grid 10, sensitivity 2400, scale 900, epsilon 8/3 delta 0
--     centred squares for var_samp: clamp -1000 .. 5000, grid 10, sensitivity 1440000, scale 540000, epsilon 8/3 delta 0
-- => backend
SELECT k1, pg_catalog.sum(least(v0, %(p2)s::bigint)), pg_catalog.sum(CASE WHEN v1 IS NOT NULL THEN least(greatest(CASE WHEN v0 <= least(v0, %(p2)s::bigint) THEN v1 ELSE pg_catalog.round(v1::numeric * least(v0, %(p2)s::bigint) / v0) END, least(v0, %(p2)s::bigint) * %(p7)s::bigint), least(v0, %(p2)s::bigint) * %(p8)s::bigint) END), pg_catalog.sum(CASE WHEN v2 IS NOT NULL THEN least(greatest(CASE WHEN v0 <= least(v0, %(p2)s::bigint) THEN v2 ELSE pg_catalog.round(v2::numeric * least(v0, %(p2)s::bigint) / v0) END, least(v0, %(p2)s::bigint) * %(p10)s::bigint), least(v0, %(p2)s::bigint) * %(p9)s::bigint) END) FROM (SELECT * FROM (SELECT *, pg_catalog.row_number() OVER (PARTITION BY unit ORDER BY pg_catalog.hashint8extended(pg_catalog.hash_record_extended(ROW(g."unit", k1), %(p12)s::bigint), %(p12)s::bigint), k1) AS rank FROM (SELECT r1."uid" AS unit, (r1."t")::text AS k1, pg_catalog.count(r1."i8") AS v0, (2 * pg_catalog.sum(pg_catalog.round((pg_catalog.int8larger(pg_catalog.int8smaller(r1."i8", %(p5)s::bigint), %(p4)s::bigint))::numeric / %(p6)s::numeric)::bigint) - %(p3)s::bigint * pg_catalog.count(r1."i8"))::bigint AS v1, pg_catalog.sum((2 * ((2 * (pg_catalog.round((pg_catalog.int8larger(pg_catalog.int8smaller(r1."i8", %(p5)s::bigint), %(p4)s::bigint))::numeric / %(p6)s::numeric)::bigint)::bigint - %(p3)s::bigint)::bigint) * ((2 * (pg_catalog.round((pg_catalog.int8larger(pg_catalog.int8smaller(r1."i8", %(p5)s::bigint), %(p4)s::bigint))::numeric / %(p6)s::numeric)::bigint)::bigint - %(p3)s::bigint)::bigint) - %(p9)s::bigint)) AS v2 FROM "w"."orders" AS r1 WHERE r1."uid" IS NOT NULL AND (r1."t" = ANY(%(p11)s::text[]::text[]) OR r1."t" IS NULL) GROUP BY r1."uid", 2) g) c WHERE rank <= %(p2)s::bigint) u GROUP BY 1
--   p1 = 6
--   p2 = 2
--   p3 = 400
--   p4 = -1000
--   p5 = 5000
--   p6 = 10
--   p7 = -600
--   p8 = 600
--   p9 = 360000
--   p10 = -360000
--   p11 = ['x', 'y', 'z']
--   p12 = random
-- => loss
-- epsilon 8 delta 0
-- => residual
SELECT dp_b1.k1 AS "t", dp_b1.a1 AS "variance" FROM pg_catalog.jsonb_to_recordset(($1)::pg_catalog.jsonb->'b1') AS dp_b1(k1 pg_catalog.text, a1 numeric)

-- case: variance of rows by groups
SELECT t, stddev(i4 + i2) FROM trips GROUP BY t
-- => plan
-- w.trips, unit 3 row(s), partitions by hash of r1."id", r1."leg"; keys t of 4; cells 0
--   stddev_samp made of releases 2, 3, 4: clamp -5 .. 110, grid 1, output grid 0.00001
--     rows for stddev_samp: clamp -5 .. 110, grid 1, sensitivity 3, scale 9/8, epsilon 8/3 delta 0
--     centred sum for stddev_samp: clamp -5 .. 110, grid 1, sensitivity 345, scale 1035/8, epsilon 8/3 delta 0
--     centred squares for stddev_samp: clamp -5 .. 110, grid 1, sensitivity 39675, scale 119025/8, epsilon 8/3 delta 0
-- => backend
SELECT * FROM (SELECT x3 AS k1, pg_catalog.count((pg_catalog.int4larger(pg_catalog.int4smaller(x1, %(p2)s::integer), %(p1)s::integer))::integer + (pg_catalog.int4larger(pg_catalog.int4smaller(x2, %(p4)s::integer), %(p3)s::integer))::integer), (2 * pg_catalog.sum(pg_catalog.int8larger(pg_catalog.int8smaller((((pg_catalog.int4larger(pg_catalog.int4smaller(x2, %(p4)s::integer), %(p3)s::integer))::integer)::bigint + ((pg_catalog.int4larger(pg_catalog.int4smaller(x1, %(p2)s::integer), %(p1)s::integer))::integer)::bigint), %(p7)s::bigint), %(p6)s::bigint)) - %(p5)s::bigint * pg_catalog.count((pg_catalog.int4larger(pg_catalog.int4smaller(x1, %(p2)s::integer), %(p1)s::integer))::integer + (pg_catalog.int4larger(pg_catalog.int4smaller(x2, %(p4)s::integer), %(p3)s::integer))::integer))::bigint, pg_catalog.sum((2 * ((2 * (pg_catalog.int8larger(pg_catalog.int8smaller((((pg_catalog.int4larger(pg_catalog.int4smaller(x2, %(p4)s::integer), %(p3)s::integer))::integer)::bigint + ((pg_catalog.int4larger(pg_catalog.int4smaller(x1, %(p2)s::integer), %(p1)s::integer))::integer)::bigint), %(p7)s::bigint), %(p6)s::bigint))::bigint - %(p5)s::bigint)::bigint) * ((2 * (pg_catalog.int8larger(pg_catalog.int8smaller((((pg_catalog.int4larger(pg_catalog.int4smaller(x2, %(p4)s::integer), %(p3)s::integer))::integer)::bigint + ((pg_catalog.int4larger(pg_catalog.int4smaller(x1, %(p2)s::integer), %(p1)s::integer))::integer)::bigint), %(p7)s::bigint), %(p6)s::bigint))::bigint - %(p5)s::bigint)::bigint) - %(p8)s::bigint)) FROM (SELECT r1."i2" AS x1, r1."i4" AS x2, (CASE WHEN pg_catalog.octet_length((r1."t")::text) <= 1024 THEN (r1."t")::text ELSE pg_catalog.left((r1."t")::text, 1024) END)::text AS x3 FROM "w"."trips" AS r1 LIMIT ALL) r GROUP BY 1 LIMIT ALL) g WHERE (k1 = ANY(%(p9)s::text[]) OR k1 IS NULL)
--   p1 = -5
--   p2 = 10
--   p3 = 0
--   p4 = 100
--   p5 = 105
--   p6 = -5
--   p7 = 110
--   p8 = 13225
--   p9 = ['x', 'y', 'z']
-- => loss
-- epsilon 8 delta 0
-- => residual
SELECT dp_b1.k1 AS "t", dp_b1.a1 AS "stddev" FROM pg_catalog.jsonb_to_recordset(($1)::pg_catalog.jsonb->'b1') AS dp_b1(k1 pg_catalog.text, a1 numeric)

-- case: median
SELECT percentile_cont(0.5) WITHIN GROUP (ORDER BY i4) FROM people
-- => plan
-- w.people, unit 1 row(s), partitions by hash of r1."id"; keys none; cells 0
--   percentile_cont of order: clamp 0 .. 100, grid 1, rows 1, needed 6, epsilon 8 delta 0, size for 12/25
-- => backend
SELECT pg_catalog.min(v), pg_catalog.sum(n) FROM (SELECT *, CASE WHEN whole - upto * %(p4)s::numeric >= %(p3)s::numeric THEN -1 WHEN (upto - n) * %(p4)s::numeric - whole >= %(p3)s::numeric THEN 1 ELSE 0 END AS side1 FROM (SELECT *, pg_catalog.sum(n) OVER ( ORDER BY v) AS upto, pg_catalog.sum(n) OVER () AS whole FROM (SELECT v, pg_catalog.count(*) AS n FROM (SELECT ((pg_catalog.int4larger(pg_catalog.int4smaller(r1."i4", %(p2)s::integer), %(p1)s::integer))::integer) AS v FROM "w"."people" AS r1 WHERE ((pg_catalog.int4larger(pg_catalog.int4smaller(r1."i4", %(p2)s::integer), %(p1)s::integer))::integer) IS NOT NULL) u GROUP BY v) c) p) s GROUP BY side1, CASE WHEN 0 IN (side1) THEN v END
--   p1 = 0
--   p2 = 100
--   p3 = 12
--   p4 = 2
-- => loss
-- epsilon 8 delta 0
-- => residual
SELECT dp_b1.a1 AS "percentile_cont" FROM pg_catalog.jsonb_to_recordset(($1)::pg_catalog.jsonb->'b1') AS dp_b1(a1 double precision)

-- case: quartiles of many per unit
SELECT percentile_disc(0.25) WITHIN GROUP (ORDER BY n2), percentile_cont(0.75) WITHIN GROUP (ORDER BY i8) FROM orders
-- => plan
-- w.orders, unit r1."uid": rows 6, groups None, per group None; keys none; cells 0
--   percentile_disc of order: clamp 0 .. 175, grid 0.01, rows 6, needed 120, epsilon 4 delta 0, size for 6/25
--   percentile_cont of order: clamp -1000 .. 5000, grid 10, rows 6, needed 112, epsilon 4 delta 0, size for 6/25
-- => backend
SELECT pg_catalog.min(v), pg_catalog.sum(n) FROM (SELECT *, CASE WHEN whole - upto * %(p8)s::numeric >= %(p7)s::numeric THEN -1 WHEN (upto - n) * %(p8)s::numeric - whole >= %(p7)s::numeric THEN 1 ELSE 0 END AS side1 FROM (SELECT *, pg_catalog.sum(n) OVER ( ORDER BY v) AS upto, pg_catalog.sum(n) OVER () AS whole FROM (SELECT v, pg_catalog.count(*) AS n FROM (SELECT v, pg_catalog.row_number() OVER (PARTITION BY unit ORDER BY pg_catalog.hashint8extended(pg_catalog.hash_record_extended(ROW(d."unit", v), %(p5)s::bigint), %(p5)s::bigint), v) AS rank FROM (SELECT r1."uid" AS unit, (pg_catalog.int4larger((pg_catalog.numeric_smaller(r1."n2" * %(p1)s::numeric, %(p2)s::numeric))::integer, %(p3)s::integer)) AS v FROM "w"."orders" AS r1 WHERE r1."uid" IS NOT NULL AND (pg_catalog.int4larger((pg_catalog.numeric_smaller(r1."n2" * %(p1)s::numeric, %(p2)s::numeric))::integer, %(p3)s::integer)) IS NOT NULL) d) u WHERE rank <= %(p6)s::bigint GROUP BY v, coalesce(pg_catalog.hash_numeric_extended((v)::numeric, %(p4)s::bigint), %(p4)s::bigint)) c) p) s GROUP BY side1, CASE WHEN 0 IN (side1) THEN v END
--   p1 = 100
--   p2 = 17500
--   p3 = 0
--   p4 = random
--   p5 = random
--   p6 = 6
--   p7 = 480
--   p8 = 4
SELECT pg_catalog.min(v), pg_catalog.sum(n) FROM (SELECT *, CASE WHEN whole * %(p8)s::numeric - upto * %(p9)s::numeric >= %(p7)s::numeric THEN -1 WHEN (upto - n) * %(p9)s::numeric - whole * %(p8)s::numeric >= %(p7)s::numeric THEN 1 ELSE 0 END AS side1 FROM (SELECT *, pg_catalog.sum(n) OVER ( ORDER BY v) AS upto, pg_catalog.sum(n) OVER () AS whole FROM (SELECT v, pg_catalog.count(*) AS n FROM (SELECT v, pg_catalog.row_number() OVER (PARTITION BY unit ORDER BY pg_catalog.hashint8extended(pg_catalog.hash_record_extended(ROW(d."unit", v), %(p5)s::bigint), %(p5)s::bigint), v) AS rank FROM (SELECT r1."uid" AS unit, (pg_catalog.round((pg_catalog.int8larger(pg_catalog.int8smaller(r1."i8", %(p2)s::bigint), %(p1)s::bigint))::numeric / %(p3)s::numeric)::bigint) AS v FROM "w"."orders" AS r1 WHERE r1."uid" IS NOT NULL AND (pg_catalog.round((pg_catalog.int8larger(pg_catalog.int8smaller(r1."i8", %(p2)s::bigint), %(p1)s::bigint))::numeric / %(p3)s::numeric)::bigint) IS NOT NULL) d) u WHERE rank <= %(p6)s::bigint GROUP BY v, coalesce(pg_catalog.hash_numeric_extended((v)::numeric, %(p4)s::bigint), %(p4)s::bigint)) c) p) s GROUP BY side1, CASE WHEN 0 IN (side1) THEN v END
--   p1 = -1000
--   p2 = 5000
--   p3 = 10
--   p4 = random
--   p5 = random
--   p6 = 6
--   p7 = 448
--   p8 = 3
--   p9 = 4
-- => loss
-- epsilon 8 delta 0
-- => residual
SELECT dp_b1.a1 AS "percentile_disc", dp_b1.a2 AS "percentile_cont" FROM pg_catalog.jsonb_to_recordset(($1)::pg_catalog.jsonb->'b1') AS dp_b1(a1 numeric, a2 double precision)

-- case: median by groups
SELECT t, percentile_cont(0.5) WITHIN GROUP (ORDER BY i4) FROM visits GROUP BY t
-- => plan
-- w.visits, unit r1."uid": rows 5, groups None, per group None; keys t of 4; cells 0
--   percentile_cont of order: clamp 0 .. 100, grid 1, rows 5, needed 30, epsilon 8 delta 0, size for 12/25
-- => backend
SELECT k1, pg_catalog.min(v), pg_catalog.sum(n) FROM (SELECT *, CASE WHEN whole - upto * %(p8)s::numeric >= %(p7)s::numeric THEN -1 WHEN (upto - n) * %(p8)s::numeric - whole >= %(p7)s::numeric THEN 1 ELSE 0 END AS side1 FROM (SELECT *, pg_catalog.sum(n) OVER (PARTITION BY k1 ORDER BY v) AS upto, pg_catalog.sum(n) OVER (PARTITION BY k1) AS whole FROM (SELECT k1, v, pg_catalog.count(*) AS n FROM (SELECT k1, v, pg_catalog.row_number() OVER (PARTITION BY unit ORDER BY pg_catalog.hashint8extended(pg_catalog.hash_record_extended(ROW((d."unit" # ((d."unit" >> 32) * (%(p5)s::bigint >> 33))), k1, v), %(p5)s::bigint), %(p5)s::bigint), k1, v) AS rank FROM (SELECT r1."uid" AS unit, (r1."t")::text AS k1, ((pg_catalog.int4larger(pg_catalog.int4smaller(r1."i4", %(p2)s::integer), %(p1)s::integer))::integer) AS v FROM "w"."visits" AS r1 WHERE r1."uid" IS NOT NULL AND (r1."t" = ANY(%(p3)s::text[]::text[]) OR r1."t" IS NULL) AND ((pg_catalog.int4larger(pg_catalog.int4smaller(r1."i4", %(p2)s::integer), %(p1)s::integer))::integer) IS NOT NULL) d) u WHERE rank <= %(p6)s::bigint GROUP BY k1, v, coalesce(pg_catalog.hash_numeric_extended((v)::numeric, %(p4)s::bigint), %(p4)s::bigint)) c) p) s GROUP BY k1, side1, CASE WHEN 0 IN (side1) THEN v END
--   p1 = 0
--   p2 = 100
--   p3 = ['x', 'y', 'z']
--   p4 = random
--   p5 = random
--   p6 = 5
--   p7 = 60
--   p8 = 2
-- => loss
-- epsilon 8 delta 0
-- => residual
SELECT dp_b1.k1 AS "t", dp_b1.a1 AS "percentile_cont" FROM pg_catalog.jsonb_to_recordset(($1)::pg_catalog.jsonb->'b1') AS dp_b1(k1 pg_catalog.text, a1 double precision)

-- case: best mean and extremes
-- policy: best
SELECT avg(i4), min(i4), max(n2), max(d) FROM people
-- => plan
-- w.people, unit 1 row(s), partitions by hash of r1."id"; keys none; cells 0
--   avg from moments: clamp 0 .. 100, grid 1, rows 1, output grid 0.00001, epsilon 2 delta 0
--   min of order: clamp 0 .. 100, grid 1, rows 1, needed 159, epsilon 2 delta 0, size for 3/25
--   max of order: clamp 0 .. 175, grid 0.01, rows 1, needed 170, epsilon 2 delta 0, size for 3/25
--   max of order: clamp 10957 .. 18262, grid 1, rows 1, needed 169, epsilon 2 delta 0, size for 3/25
-- => backend
SELECT pg_catalog.count(r1."i4"), (2 * pg_catalog.sum((pg_catalog.int4larger(pg_catalog.int4smaller(r1."i4", %(p3)s::integer), %(p2)s::integer))::integer) - %(p1)s::bigint * pg_catalog.count(r1."i4"))::bigint FROM "w"."people" AS r1
--   p1 = 100
--   p2 = 0
--   p3 = 100
SELECT pg_catalog.min(v), pg_catalog.sum(n) FROM (SELECT *, CASE WHEN (upto - n) >= %(p5)s::numeric THEN 1 ELSE 0 END AS side1 FROM (SELECT *, pg_catalog.sum(n) OVER ( ORDER BY v) AS upto, pg_catalog.sum(n) OVER () AS whole, pg_catalog.sum(n) FILTER (WHERE v <= (SELECT (pg_catalog.int4larger(pg_catalog.int4smaller(x, %(p2)s::integer), %(p1)s::integer))::integer FROM (SELECT %(low_end)s::integer AS x) e)) OVER () AS at_low_end FROM (SELECT v, pg_catalog.count(*) AS n FROM (SELECT ((pg_catalog.int4larger(pg_catalog.int4smaller(r1."i4", %(p2)s::integer), %(p1)s::integer))::integer) AS v FROM "w"."people" AS r1 WHERE ((pg_catalog.int4larger(pg_catalog.int4smaller(r1."i4", %(p2)s::integer), %(p1)s::integer))::integer) IS NOT NULL AND (r1."i4" <= %(low_end)s::integer OR %(end_rows)s::bigint IS NULL)) u GROUP BY v) c) p WHERE (%(end_rows)s::bigint IS NULL OR (at_low_end >= %(end_rows)s::bigint))) s GROUP BY side1, CASE WHEN 0 IN (side1) THEN v END
--   p1 = 0
--   p2 = 100
--   end_rows = None
--   low_end = None
--   p5 = 159
--   p6 = 0
SELECT pg_catalog.min(v), pg_catalog.sum(n) FROM (SELECT *, CASE WHEN whole - upto >= %(p6)s::numeric THEN -1 ELSE 0 END AS side1 FROM (SELECT *, pg_catalog.sum(n) OVER ( ORDER BY v) AS upto, pg_catalog.sum(n) OVER () AS whole, pg_catalog.sum(n) FILTER (WHERE v >= (SELECT pg_catalog.int4larger((pg_catalog.numeric_smaller(x * %(p1)s::numeric, %(p2)s::numeric))::integer, %(p3)s::integer) FROM (SELECT %(high_end)s::numeric AS x) e)) OVER () AS at_high_end FROM (SELECT v, pg_catalog.count(*) AS n FROM (SELECT (pg_catalog.int4larger((pg_catalog.numeric_smaller(r1."n2" * %(p1)s::numeric, %(p2)s::numeric))::integer, %(p3)s::integer)) AS v FROM "w"."people" AS r1 WHERE (pg_catalog.int4larger((pg_catalog.numeric_smaller(r1."n2" * %(p1)s::numeric, %(p2)s::numeric))::integer, %(p3)s::integer)) IS NOT NULL AND (r1."n2" >= %(high_end)s::numeric OR %(end_rows)s::bigint IS NULL)) u GROUP BY v) c) p WHERE (%(end_rows)s::bigint IS NULL OR (at_high_end >= %(end_rows)s::bigint))) s GROUP BY side1, CASE WHEN 0 IN (side1) THEN v END
--   p1 = 100
--   p2 = 17500
--   p3 = 0
--   end_rows = None
--   high_end = None
--   p6 = 170
SELECT pg_catalog.min(v), pg_catalog.sum(n) FROM (SELECT *, CASE WHEN whole - upto >= %(p4)s::numeric THEN -1 ELSE 0 END AS side1 FROM (SELECT *, pg_catalog.sum(n) OVER ( ORDER BY v) AS upto, pg_catalog.sum(n) OVER () AS whole FROM (SELECT v, pg_catalog.count(*) AS n FROM (SELECT (pg_catalog.round(((pg_catalog.date_larger(pg_catalog.date_smaller(r1."d", %(p2)s::date), %(p1)s::date)) - %(p3)s::date)::numeric)::bigint) AS v FROM "w"."people" AS r1 WHERE (pg_catalog.round(((pg_catalog.date_larger(pg_catalog.date_smaller(r1."d", %(p2)s::date), %(p1)s::date)) - %(p3)s::date)::numeric)::bigint) IS NOT NULL) u GROUP BY v) c) p) s GROUP BY side1, CASE WHEN 0 IN (side1) THEN v END
--   p1 = 2000-01-01
--   p2 = 2020-01-01
--   p3 = 1970-01-01
--   p4 = 169
-- => loss
-- epsilon 8 delta 0
-- => residual
SELECT dp_b1.a1 AS "avg", dp_b1.a2 AS "min", dp_b1.a3 AS "max", dp_b1.a4 AS "max" FROM pg_catalog.jsonb_to_recordset(($1)::pg_catalog.jsonb->'b1') AS dp_b1(a1 numeric, a2 integer, a3 numeric, a4 pg_catalog.date)

-- case: best mean and extremes of many per unit
-- policy: best
SELECT avg(i4), min(i4), max(n2) FROM orders
-- => plan
-- w.orders, unit r1."uid": rows 6, groups None, per group None; keys none; cells 0
--   avg from deviations: clamp 0 .. 100, grid 1, rows by choice, output grid 0.00001, epsilon 8/3 delta 0
--   min of units: clamp 0 .. 100, grid 1, values 1, all groups of a unit, 101 places, least 16 units, epsilon 188/75 delta 0, if release 4 is enough
--   max of units: clamp 0 .. 175, grid 0.01, values 1, all groups of a unit, 210 places, least 18 units, epsilon 188/75 delta 0, if release 5 is enough
--     units of min: all groups of a unit, sensitivity 1, scale 25/4, epsilon 4/25 delta 0
--     units of max: all groups of a unit, sensitivity 1, scale 25/4, epsilon 4/25 delta 0
-- => backend
SELECT p0, p1, pg_catalog.count(*) FROM (SELECT pg_catalog.width_bucket(v0::bigint - 1, %(p3)s::bigint[]) AS p0, pg_catalog.width_bucket(v1::bigint, %(p7)s::bigint[]) - 1 AS p1 FROM (SELECT r1."uid" AS unit, pg_catalog.int4larger(pg_catalog.int4smaller(pg_catalog.min(r1."i4"), %(p2)s::integer), %(p1)s::integer) AS v0, pg_catalog.round((pg_catalog.numeric_larger(pg_catalog.numeric_smaller(pg_catalog.max(r1."n2"), %(p5)s::numeric), %(p4)s::numeric))::numeric * %(p6)s::numeric)::bigint AS v1 FROM "w"."orders" AS r1 WHERE r1."uid" IS NOT NULL GROUP BY r1."uid") u LIMIT ALL) p GROUP BY GROUPING SETS ((p0), (p1))
--   p1 = 0
--   p2 = 100
--   p3 = 0, 1, 2 .. 100, 101 in all
--   p4 = 0
--   p5 = 175
--   p6 = 100
--   p7 = 0, 1, 2 .. 17500, 210 in all
WITH g AS MATERIALIZED (SELECT g.v0, g.v1 FROM (SELECT r1."uid" AS unit, pg_catalog.count(r1."i4") AS v0, (2 * pg_catalog.sum((pg_catalog.int4larger(pg_catalog.int4smaller(r1."i4", %(p4)s::integer), %(p3)s::integer))::integer) - %(p2)s::bigint * pg_catalog.count(r1."i4"))::bigint AS v1 FROM "w"."orders" AS r1 WHERE r1."uid" IS NOT NULL GROUP BY r1."uid") g LIMIT ALL), h AS (SELECT *, pg_catalog.abs(d0) AS size0 FROM (SELECT (CASE WHEN (SELECT (%(p1)s::text::text[])[%(p13)s::integer]::boolean) THEN (CASE WHEN (g.v1 * %(p12)s::bigint - ((SELECT (%(p1)s::text::text[])[%(p11)s::integer]::bigint[]))[%(p11)s::integer] * g.v0) BETWEEN %(p8)s::bigint AND %(p9)s::bigint THEN (g.v1 * %(p12)s::bigint - ((SELECT (%(p1)s::text::text[])[%(p11)s::integer]::bigint[]))[%(p11)s::integer] * g.v0) * %(p5)s::bigint / g.v0 ELSE pg_catalog.div((g.v1 * %(p12)s::bigint - ((SELECT (%(p1)s::text::text[])[%(p11)s::integer]::bigint[]))[%(p11)s::integer] * g.v0) * %(p7)s::numeric, g.v0)::bigint END) ELSE (g.v1 * %(p12)s::bigint - ((SELECT (%(p1)s::text::text[])[%(p11)s::integer]::bigint[]))[%(p11)s::integer] * g.v0) END) AS d0 FROM g LIMIT ALL) t LIMIT ALL) SELECT %(p3)s::integer AS place, pg_catalog.width_bucket(g.v0, %(p6)s::bigint[]) AS band, pg_catalog.sum(g.v0)::numeric, pg_catalog.sum(%(p5)s::bigint * g.v0 / g.v0)::numeric, pg_catalog.sum((CASE WHEN g.v1 BETWEEN %(p8)s::bigint AND %(p9)s::bigint THEN g.v1 * %(p5)s::bigint / g.v0 ELSE pg_catalog.div(g.v1 * %(p7)s::numeric, g.v0)::bigint END))::numeric, pg_catalog.count(*) FROM g g WHERE g.v0 > 0 GROUP BY 2 UNION ALL SELECT %(p11)s::integer AS place, pg_catalog.width_bucket(g.size0, (SELECT (%(p1)s::text::text[])[%(p10)s::integer]::bigint[])) AS band, pg_catalog.sum(g.d0)::numeric, pg_catalog.sum((CASE WHEN g.d0 BETWEEN %(p8)s::bigint AND %(p9)s::bigint THEN g.d0 * %(p5)s::bigint / nullif(g.size0, 0) ELSE pg_catalog.div(g.d0 * %(p7)s::numeric, nullif(g.size0, 0))::bigint END))::numeric, NULL::numeric, pg_catalog.count(*) FROM h g WHERE g.size0 IS NOT NULL GROUP BY 2
--   p1 = {"{0}","false","{26,30,36,43,51,60,71,85,101,119,142,169,201,238,283,337,401,476,566,673,801,952,1132,1346,1601,1903,2263,2691,3201,3806,4526,5382,6401,7611,9051,10764,12801,15222,18102,21527,25601,30444,36204,43054,51201,60888,72408,86108,102401,121775,144816,172216,204801,243550,289631,344432,409601,487100,579262,688863,819201,974199,1158524,1377725,1638401,1948397,2317048,2755450,3276801,3896794,4634096,5510899,6553601,7793588,9268191,11021798,13107201,15587176,18536381,22043595,26214401,31174351,37072761,44087190,52428801}"}
--   p2 = 100
--   p3 = 0
--   p4 = 100
--   p5 = 1048576
--   p6 = ['2', '2', '2', '2', '3', '3', '3', '4', '5', '5', '6', '7', '9', '10', '12', '14', '17', '20', '23', '27', '33', '39', '46', '54', '65', '77', '91', '108', '129', '153', '182', '216', '257', '305', '363', '431', '513', '609', '725', '862', '1025', '1218', '1449', '1723', '2049', '2436', '2897', '3445', '4097', '4871', '5793', '6889', '8193', '9742', '11586', '13778', '16385', '19484', '23171', '27555', '32769', '38968', '46341', '55109', '65537', '77936', '92682', '110218', '131073', '155872', '185364', '220436', '262145', '311744', '370728', '440872', '524289', '623488', '741456', '881744', '1048577']
--   p7 = 1048576
--   p8 = -4398046511104
--   p9 = 4398046511104
--   p10 = 3
--   p11 = 1
--   p12 = 8
--   p13 = 2
-- => loss
-- epsilon 8 delta 0
-- => residual
SELECT dp_b1.a1 AS "avg", dp_b1.a2 AS "min", dp_b1.a3 AS "max" FROM pg_catalog.jsonb_to_recordset(($1)::pg_catalog.jsonb->'b1') AS dp_b1(a1 numeric, a2 integer, a3 numeric)

-- case: best mean and extremes by groups
-- policy: best
SELECT t, avg(i4), max(i4) FILTER (WHERE b), min(i8) FROM notes GROUP BY t
-- => plan
-- w.notes, unit r1."uid": rows 4, groups 2, per group None; keys t of 4; cells 0
--   avg from deviations: clamp 0 .. 100, grid 1, rows by choice, output grid 0.00001, epsilon 8/3 delta 0
--   max of units: clamp 0 .. 100, grid 1, values 1, one group of a unit, 101 places, least 16 units, epsilon 188/75 delta 0, if release 4 is enough
--   min of units: clamp -1000 .. 5000, grid 10, values 1, one group of a unit, 192 places, least 18 units, epsilon 188/75 delta 0, if release 5 is enough
--     units of max: one group of a unit, sensitivity 1, scale 25/4, epsilon 4/25 delta 0
--     units of min: one group of a unit, sensitivity 1, scale 25/4, epsilon 4/25 delta 0
-- => backend
SELECT k1, p0, p1, pg_catalog.count(*) FROM (SELECT k1, pg_catalog.width_bucket(v0::bigint, %(p3)s::bigint[]) - 1 AS p0, pg_catalog.width_bucket(v1::bigint - 1, %(p7)s::bigint[]) AS p1 FROM (SELECT * FROM (SELECT *, pg_catalog.row_number() OVER (PARTITION BY unit ORDER BY pg_catalog.hashint8extended(pg_catalog.hash_record_extended(ROW(pg_catalog.hashtextextended(g."unit"::text, %(p10)s::bigint), k1), %(p10)s::bigint), %(p10)s::bigint), k1) AS rank FROM (SELECT r1."uid" AS unit, (r1."t")::text AS k1, pg_catalog.int4larger(pg_catalog.int4smaller(pg_catalog.max(r1."i4") FILTER (WHERE r1."b"), %(p2)s::integer), %(p1)s::integer) AS v0, pg_catalog.round((pg_catalog.int8larger(pg_catalog.int8smaller(pg_catalog.min(r1."i8"), %(p5)s::bigint), %(p4)s::bigint))::numeric / %(p6)s::numeric)::bigint AS v1 FROM "w"."notes" AS r1 WHERE pg_catalog.octet_length(r1."uid") <= %(p9)s::integer AND (r1."t" = ANY(%(p8)s::text[]::text[]) OR r1."t" IS NULL) GROUP BY r1."uid", 2) g) c WHERE rank <= %(p11)s::bigint) u LIMIT ALL) p GROUP BY GROUPING SETS ((k1, p0), (k1, p1))
--   p1 = 0
--   p2 = 100
--   p3 = 0, 1, 2 .. 100, 101 in all
--   p4 = -1000
--   p5 = 5000
--   p6 = 10
--   p7 = -100, -99, -98 .. 500, 192 in all
--   p8 = ['x', 'y', 'z']
--   p9 = 4096
--   p10 = random
--   p11 = 1
WITH g AS MATERIALIZED (SELECT *, pg_catalog.row_number() OVER (PARTITION BY unit) = 1 AS one, (pg_catalog.sum((v0)::float8) OVER (PARTITION BY unit))::bigint AS all_v0 FROM (SELECT g.unit, c.place::integer AS place, g.v0, g.v1 FROM (SELECT r1."uid" AS unit, (r1."t")::text AS k1, pg_catalog.count(r1."i4") AS v0, (2 * pg_catalog.sum((pg_catalog.int4larger(pg_catalog.int4smaller(r1."i4", %(p4)s::integer), %(p3)s::integer))::integer) - %(p2)s::bigint * pg_catalog.count(r1."i4"))::bigint AS v1 FROM "w"."notes" AS r1 WHERE pg_catalog.octet_length(r1."uid") <= %(p14)s::integer AND (r1."t" = ANY(%(p13)s::text[]::text[]) OR r1."t" IS NULL) GROUP BY r1."uid", 2) g JOIN ROWS FROM (pg_catalog.unnest(%(p15)s::text[])) WITH ORDINALITY AS c(k1, place) ON (CASE WHEN g.k1 IS NULL THEN '' ELSE 'v' || g.k1 END) COLLATE pg_catalog."C" = c.k1 LIMIT ALL) t), h AS (SELECT *, (pg_catalog.sum(pg_catalog.abs(d0)) OVER (PARTITION BY unit))::bigint AS size0 FROM (SELECT g.unit, g.place, g.one, (CASE WHEN (SELECT (%(p1)s::text::text[])[%(p17)s::integer]::boolean) THEN (CASE WHEN (g.v1 * %(p16)s::bigint - ((SELECT (%(p1)s::text::text[])[%(p12)s::integer]::bigint[]))[g.place] * g.v0) BETWEEN %(p8)s::bigint AND %(p9)s::bigint THEN (g.v1 * %(p16)s::bigint - ((SELECT (%(p1)s::text::text[])[%(p12)s::integer]::bigint[]))[g.place] * g.v0) * %(p5)s::bigint / g.all_v0 ELSE pg_catalog.div((g.v1 * %(p16)s::bigint - ((SELECT (%(p1)s::text::text[])[%(p12)s::integer]::bigint[]))[g.place] * g.v0) * %(p7)s::numeric, g.all_v0)::bigint END) ELSE (g.v1 * %(p16)s::bigint - ((SELECT (%(p1)s::text::text[])[%(p12)s::integer]::bigint[]))[g.place] * g.v0) END) AS d0 FROM g ORDER BY g.unit LIMIT ALL) t LIMIT ALL) SELECT %(p10)s::jsonb ->> (g.place - 1) AS k1, %(p3)s::integer AS place, pg_catalog.width_bucket(g.all_v0, %(p6)s::bigint[]) AS band, pg_catalog.sum(g.v0)::numeric, pg_catalog.sum(%(p5)s::bigint * g.v0 / g.all_v0)::numeric, pg_catalog.sum((CASE WHEN g.v1 BETWEEN %(p8)s::bigint AND %(p9)s::bigint THEN g.v1 * %(p5)s::bigint / g.all_v0 ELSE pg_catalog.div(g.v1 * %(p7)s::numeric, g.all_v0)::bigint END))::numeric, pg_catalog.count(*) FILTER (WHERE g.one) FROM g g WHERE g.all_v0 > 0 GROUP BY g.place, 3 UNION ALL SELECT %(p10)s::jsonb ->> (g.place - 1) AS k1, %(p12)s::integer AS place, pg_catalog.width_bucket(g.size0, (SELECT (%(p1)s::text::text[])[%(p11)s::integer]::bigint[])) AS band, pg_catalog.sum(g.d0)::numeric, pg_catalog.sum((CASE WHEN g.d0 BETWEEN %(p8)s::bigint AND %(p9)s::bigint THEN g.d0 * %(p5)s::bigint / nullif(g.size0, 0) ELSE pg_catalog.div(g.d0 * %(p7)s::numeric, nullif(g.size0, 0))::bigint END))::numeric, NULL::numeric, pg_catalog.count(*) FILTER (WHERE g.one) FROM h g WHERE g.size0 IS NOT NULL GROUP BY g.place, 3
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
--   p14 = 4096
--   p15 = ['vx', 'vy', 'vz', '']
--   p16 = 8
--   p17 = 2
-- => loss
-- epsilon 8 delta 0
-- => residual
SELECT dp_b1.k1 AS "t", dp_b1.a1 AS "avg", dp_b1.a2 AS "max", dp_b1.a3 AS "min" FROM pg_catalog.jsonb_to_recordset(($1)::pg_catalog.jsonb->'b1') AS dp_b1(k1 pg_catalog.text, a1 numeric, a2 integer, a3 bigint)

-- case: best with bounds per group
-- policy: best
SELECT t, avg(f8), min(f8) FROM orders GROUP BY t
-- => plan
-- w.orders, unit r1."uid": rows 6, groups 2, per group 2; keys t of 4; cells 0
--   avg from deviations: clamp -100 .. 100, grid 0.01, rows by choice, output grid 0.00001, epsilon 4 delta 0
--   min of units: clamp -100 .. 100, grid 0.01, values 1, one group of a unit, 310 places, least 12 units, epsilon 94/25 delta 0, if release 3 is enough
--     units of min: one group of a unit, sensitivity 1, scale 25/6, epsilon 6/25 delta 0
-- => backend
SELECT k1, p0, pg_catalog.count(*) FROM (SELECT k1, pg_catalog.width_bucket(v0::bigint - 1, %(p4)s::bigint[]) AS p0 FROM (SELECT * FROM (SELECT *, pg_catalog.row_number() OVER (PARTITION BY unit ORDER BY pg_catalog.hashint8extended(pg_catalog.hash_record_extended(ROW(g."unit", k1), %(p6)s::bigint), %(p6)s::bigint), k1) AS rank FROM (SELECT r1."uid" AS unit, (r1."t")::text AS k1, pg_catalog.round((pg_catalog.float8larger(pg_catalog.float8smaller(pg_catalog.min(r1."f8"), %(p2)s::double precision), %(p1)s::double precision))::numeric * %(p3)s::numeric)::bigint AS v0 FROM "w"."orders" AS r1 WHERE r1."uid" IS NOT NULL AND (r1."t" = ANY(%(p5)s::text[]::text[]) OR r1."t" IS NULL) GROUP BY r1."uid", 2) g) c WHERE rank <= %(p7)s::bigint) u LIMIT ALL) p GROUP BY GROUPING SETS ((k1, p0))
--   p1 = -100
--   p2 = 100
--   p3 = 100
--   p4 = -10000, -9999, -9998 .. 10000, 310 in all
--   p5 = ['x', 'y', 'z']
--   p6 = random
--   p7 = 1
WITH g AS MATERIALIZED (SELECT *, pg_catalog.row_number() OVER (PARTITION BY unit) = 1 AS one, (pg_catalog.sum((v0)::float8) OVER (PARTITION BY unit))::bigint AS all_v0 FROM (SELECT g.unit, c.place::integer AS place, g.v0, g.v1 FROM (SELECT r1."uid" AS unit, (r1."t")::text AS k1, pg_catalog.count(r1."f8") AS v0, (2 * pg_catalog.sum(((pg_catalog.float8larger(pg_catalog.float8smaller(r1."f8", %(p4)s::double precision), %(p3)s::double precision))::double precision * %(p4)s::double precision)::integer) - %(p2)s::bigint * pg_catalog.count(r1."f8"))::bigint AS v1 FROM "w"."orders" AS r1 WHERE r1."uid" IS NOT NULL AND (r1."t" = ANY(%(p14)s::text[]::text[]) OR r1."t" IS NULL) GROUP BY r1."uid", 2) g JOIN ROWS FROM (pg_catalog.unnest(%(p15)s::text[])) WITH ORDINALITY AS c(k1, place) ON (CASE WHEN g.k1 IS NULL THEN '' ELSE 'v' || g.k1 END) COLLATE pg_catalog."C" = c.k1 LIMIT ALL) t), h AS (SELECT *, (pg_catalog.sum(pg_catalog.abs(d0)) OVER (PARTITION BY unit))::bigint AS size0 FROM (SELECT g.unit, g.place, g.one, (CASE WHEN (SELECT (%(p1)s::text::text[])[%(p17)s::integer]::boolean) THEN (CASE WHEN (g.v1 * %(p16)s::bigint - ((SELECT (%(p1)s::text::text[])[%(p13)s::integer]::bigint[]))[g.place] * g.v0) BETWEEN %(p8)s::bigint AND %(p9)s::bigint THEN (g.v1 * %(p16)s::bigint - ((SELECT (%(p1)s::text::text[])[%(p13)s::integer]::bigint[]))[g.place] * g.v0) * %(p5)s::bigint / g.all_v0 ELSE pg_catalog.div((g.v1 * %(p16)s::bigint - ((SELECT (%(p1)s::text::text[])[%(p13)s::integer]::bigint[]))[g.place] * g.v0) * %(p7)s::numeric, g.all_v0)::bigint END) ELSE (g.v1 * %(p16)s::bigint - ((SELECT (%(p1)s::text::text[])[%(p13)s::integer]::bigint[]))[g.place] * g.v0) END) AS d0 FROM g ORDER BY g.unit LIMIT ALL) t LIMIT ALL) SELECT %(p10)s::jsonb ->> (g.place - 1) AS k1, %(p11)s::integer AS place, pg_catalog.width_bucket(g.all_v0, %(p6)s::bigint[]) AS band, pg_catalog.sum(g.v0)::numeric, pg_catalog.sum(%(p5)s::bigint * g.v0 / g.all_v0)::numeric, pg_catalog.sum((CASE WHEN g.v1 BETWEEN %(p8)s::bigint AND %(p9)s::bigint THEN g.v1 * %(p5)s::bigint / g.all_v0 ELSE pg_catalog.div(g.v1 * %(p7)s::numeric, g.all_v0)::bigint END))::numeric, pg_catalog.count(*) FILTER (WHERE g.one) FROM g g WHERE g.all_v0 > 0 GROUP BY g.place, 3 UNION ALL SELECT %(p10)s::jsonb ->> (g.place - 1) AS k1, %(p13)s::integer AS place, pg_catalog.width_bucket(g.size0, (SELECT (%(p1)s::text::text[])[%(p12)s::integer]::bigint[])) AS band, pg_catalog.sum(g.d0)::numeric, pg_catalog.sum((CASE WHEN g.d0 BETWEEN %(p8)s::bigint AND %(p9)s::bigint THEN g.d0 * %(p5)s::bigint / nullif(g.size0, 0) ELSE pg_catalog.div(g.d0 * %(p7)s::numeric, nullif(g.size0, 0))::bigint END))::numeric, NULL::numeric, pg_catalog.count(*) FILTER (WHERE g.one) FROM h g WHERE g.size0 IS NOT NULL GROUP BY g.place, 3
--   p1 = {"{0,0,0,0}","false","{626,744,884,1052,1251,1487,1768,2103,2501,2974,3536,4205,5001,5947,7072,8409,10001,11893,14143,16818,20001,23785,28285,33636,40001,47569,56569,67272,80001,95137,113138,134544,160001,190274,226275,269087,320001,380547,452549,538174,640001,761093,905097,1076348,1280001,1522186,1810194,2152695,2560001,3044371,3620387,4305390,5120001,6088741,7240774,8610780,10240001,12177481,14481547,17221559,20480001,24354962,28963094,34443118,40960001,48709924,57926188,68886235,81920001,97419847,115852376,137772469,163840001,194839694,231704751,275544938,327680001,389679388,463409501,551089875,655360001,779358775,926819001,1102179750,1310720001}"}
--   p2 = 0
--   p3 = -100
--   p4 = 100
--   p5 = 1048576
--   p6 = ['2', '2', '2', '2', '3', '3', '3', '4', '5', '5', '6', '7', '9', '10', '12', '14', '17', '20', '23', '27', '33', '39', '46', '54', '65', '77', '91', '108', '129', '153', '182', '216', '257', '305', '363', '431', '513', '609', '725', '862', '1025', '1218', '1449', '1723', '2049', '2436', '2897', '3445', '4097', '4871', '5793', '6889', '8193', '9742', '11586', '13778', '16385', '19484', '23171', '27555', '32769', '38968', '46341', '55109', '65537', '77936', '92682', '110218', '131073', '155872', '185364', '220436', '262145', '311744', '370728', '440872', '524289', '623488', '741456', '881744', '1048577']
--   p7 = 1048576
--   p8 = -4398046511104
--   p9 = 4398046511104
--   p10 = ["x", "y", "z", null]
--   p11 = 0
--   p12 = 3
--   p13 = 1
--   p14 = ['x', 'y', 'z']
--   p15 = ['vx', 'vy', 'vz', '']
--   p16 = 1
--   p17 = 2
-- => loss
-- epsilon 8 delta 0
-- => residual
SELECT dp_b1.k1 AS "t", dp_b1.a1 AS "avg", dp_b1.a2 AS "min" FROM pg_catalog.jsonb_to_recordset(($1)::pg_catalog.jsonb->'b1') AS dp_b1(k1 pg_catalog.text, a1 double precision, a2 double precision)

-- case: best on trips
-- policy: best
SELECT t, avg(n2), max(i4), variance(i4) FROM trips GROUP BY t
-- => plan
-- w.trips, unit 3 row(s), partitions by hash of r1."id", r1."leg"; keys t of 4; cells 0
--   avg from moments: clamp 0 .. 175, grid 0.01, rows 3, output grid 0.00001, epsilon 8/3 delta 0
--   max of order: clamp 0 .. 100, grid 1, rows 3, needed 356, epsilon 8/3 delta 0, size for 4/25
--   var_samp made of releases 4, 5, 6: clamp 0 .. 100, grid 1, output grid 0.00001
--     rows for var_samp: clamp 0 .. 100, grid 1, sensitivity 3, scale 27/8, epsilon 8/9 delta 0
--     centred sum for var_samp: clamp 0 .. 100, grid 1, sensitivity 300, scale 675/2, epsilon 8/9 delta 0
--     centred squares for var_samp: clamp 0 .. 100, grid 1, sensitivity 30000, scale 33750, epsilon 8/9 delta 0
-- => backend
SELECT * FROM (SELECT (CASE WHEN pg_catalog.octet_length((r1."t")::text) <= 1024 THEN (r1."t")::text ELSE pg_catalog.left((r1."t")::text, 1024) END)::text AS k1, pg_catalog.count(r1."n2"), (2 * pg_catalog.floor(pg_catalog.sum(pg_catalog.numeric_larger(pg_catalog.numeric_smaller(r1."n2", %(p2)s::numeric), %(p1)s::numeric)) * %(p3)s::numeric) - %(p4)s::numeric * pg_catalog.count(r1."n2")), pg_catalog.count(r1."i4"), (2 * pg_catalog.sum((pg_catalog.int4larger(pg_catalog.int4smaller(r1."i4", %(p7)s::integer), %(p6)s::integer))::integer) - %(p5)s::bigint * pg_catalog.count(r1."i4"))::bigint, pg_catalog.sum((2 * ((2 * ((pg_catalog.int4larger(pg_catalog.int4smaller(r1."i4", %(p7)s::integer), %(p6)s::integer))::integer)::bigint - %(p5)s::bigint)::bigint) * ((2 * ((pg_catalog.int4larger(pg_catalog.int4smaller(r1."i4", %(p7)s::integer), %(p6)s::integer))::integer)::bigint - %(p5)s::bigint)::bigint) - %(p8)s::bigint)) FROM "w"."trips" AS r1 GROUP BY 1 LIMIT ALL) g WHERE (k1 = ANY(%(p9)s::text[]) OR k1 IS NULL)
--   p1 = 0
--   p2 = 175
--   p3 = 100
--   p4 = 17500
--   p5 = 100
--   p6 = 0
--   p7 = 100
--   p8 = 10000
--   p9 = ['x', 'y', 'z']
SELECT k1, pg_catalog.min(v), pg_catalog.sum(n) FROM (SELECT *, CASE WHEN whole - upto >= %(p4)s::numeric THEN -1 ELSE 0 END AS side1 FROM (SELECT *, pg_catalog.sum(n) OVER (PARTITION BY k1 ORDER BY v) AS upto, pg_catalog.sum(n) OVER (PARTITION BY k1) AS whole FROM (SELECT k1, v, pg_catalog.count(*) AS n FROM (SELECT (r1."t")::text AS k1, ((pg_catalog.int4larger(pg_catalog.int4smaller(r1."i4", %(p2)s::integer), %(p1)s::integer))::integer) AS v FROM "w"."trips" AS r1 WHERE (r1."t" = ANY(%(p3)s::text[]::text[]) OR r1."t" IS NULL) AND ((pg_catalog.int4larger(pg_catalog.int4smaller(r1."i4", %(p2)s::integer), %(p1)s::integer))::integer) IS NOT NULL) u GROUP BY k1, v) c) p) s GROUP BY k1, side1, CASE WHEN 0 IN (side1) THEN v END
--   p1 = 0
--   p2 = 100
--   p3 = ['x', 'y', 'z']
--   p4 = 356
-- => loss
-- epsilon 8 delta 0
-- => residual
SELECT dp_b1.k1 AS "t", dp_b1.a1 AS "avg", dp_b1.a2 AS "max", dp_b1.a3 AS "variance" FROM pg_catalog.jsonb_to_recordset(($1)::pg_catalog.jsonb->'b1') AS dp_b1(k1 pg_catalog.text, a1 numeric, a2 integer, a3 numeric)

-- case: best of a join
-- policy: best
SELECT o.t, avg(c.i4), max(o.i4 + c.i4) FROM orders o JOIN calls c ON o.uid = c.uid GROUP BY o.t
-- => plan
-- w.orders, w.calls, unit r1."uid": rows 12, groups 2, per group 4; keys expression of 4; cells 0
--   avg from deviations: clamp 0 .. 100, grid 1, rows by choice, output grid 0.00001, epsilon 4 delta 0
--   max of units: clamp 0 .. 200, grid 1, values 1, one group of a unit, 111 places, least 12 units, epsilon 94/25 delta 0, if release 3 is enough
--     units of max: one group of a unit, sensitivity 1, scale 25/6, epsilon 6/25 delta 0
-- => backend
SELECT k1, p0, pg_catalog.count(*) FROM (SELECT k1, pg_catalog.width_bucket(v0::bigint, %(p5)s::bigint[]) - 1 AS p0 FROM (SELECT * FROM (SELECT *, pg_catalog.row_number() OVER (PARTITION BY unit ORDER BY pg_catalog.hashint8extended(pg_catalog.hash_record_extended(ROW(g."unit", k1), %(p11)s::bigint), %(p11)s::bigint), k1) AS rank FROM (SELECT x4 AS unit, x3 AS k1, pg_catalog.max(pg_catalog.int8larger(pg_catalog.int8smaller((((pg_catalog.int4larger(pg_catalog.int4smaller(x1, %(p4)s::integer), %(p3)s::integer))::integer)::bigint + ((pg_catalog.int4larger(pg_catalog.int4smaller(x2, %(p4)s::integer), %(p3)s::integer))::integer)::bigint), %(p2)s::bigint), %(p1)s::bigint)) AS v0 FROM (SELECT r1."i4" AS x1, r2."i4" AS x2, (pg_catalog.left(r1."t"::text, %(p6)s::integer))::text AS x3, r1."uid" AS x4 FROM ((SELECT r1."i4" AS c1, r1."t" AS c2, r1."uid" AS c3, r2."i4" AS c4, r2."uid" AS c5 FROM ((SELECT r1."i4", r1."t", r1."uid" FROM (SELECT * FROM (SELECT r1."id", r1."uid", r1."i2", r1."i4", r1."i8", r1."n2", r1."n", r1."f4", r1."f8", r1."t", r1."c", r1."s", r1."b", r1."d", r1."ts", r1."tz", r1."free", r1."e", r1."j", r1."ta", r1."ia", r1."iv", r1."tod", pg_catalog.row_number() OVER (PARTITION BY r1."uid" ORDER BY pg_catalog.hashint4extended(r1."id"::integer, %(p8)s::bigint), r1."id") AS "dp_place_of_unit" FROM "w"."orders" AS r1 WHERE r1."uid" IS NOT NULL) AS r1 WHERE "dp_place_of_unit" <= %(p9)s::bigint) AS r1 WHERE r1."uid" IS NOT NULL AND ((pg_catalog.left(r1."t"::text, %(p6)s::integer))::text = ANY(%(p7)s::text[]) OR pg_catalog.left(r1."t"::text, %(p6)s::integer) IS NULL)) AS r1 FULL JOIN (SELECT * FROM (SELECT r2."id", r2."uid", r2."i2", r2."i4", r2."i8", r2."n2", r2."n", r2."f4", r2."f8", r2."t", r2."c", r2."s", r2."b", r2."d", r2."ts", r2."tz", r2."free", r2."e", r2."j", r2."ta", r2."ia", r2."iv", r2."tod", pg_catalog.row_number() OVER (PARTITION BY r2."uid" ORDER BY pg_catalog.hashint4extended(r2."id"::integer, %(p8)s::bigint), r2."id") AS "dp_place_of_unit" FROM "w"."calls" AS r2 WHERE r2."uid" IS NOT NULL) AS r2 WHERE "dp_place_of_unit" <= %(p10)s::bigint) AS r2 ON (r1."uid" = r2."uid")) WHERE CASE WHEN r1."uid" IS NOT NULL AND r2."uid" IS NOT NULL THEN TRUE ELSE FALSE END LIMIT ALL) AS j1 CROSS JOIN LATERAL (SELECT j1.c1 AS "i4", j1.c2 AS "t", j1.c3 AS "uid") AS r1 CROSS JOIN LATERAL (SELECT j1.c4 AS "i4", j1.c5 AS "uid") AS r2) LIMIT ALL) r GROUP BY x4, 2) g) c WHERE rank <= %(p12)s::bigint) u LIMIT ALL) p GROUP BY GROUPING SETS ((k1, p0))
--   p1 = 0
--   p2 = 200
--   p3 = 0
--   p4 = 100
--   p5 = 0, 1, 2 .. 200, 111 in all
--   p6 = 2
--   p7 = ['x', 'y', 'z']
--   p8 = random
--   p9 = 6
--   p10 = 2
--   p11 = random
--   p12 = 1
WITH g AS MATERIALIZED (SELECT *, pg_catalog.row_number() OVER (PARTITION BY unit) = 1 AS one, (pg_catalog.sum((v0)::float8) OVER (PARTITION BY unit))::bigint AS all_v0 FROM (SELECT g.unit, c.place::integer AS place, g.v0, g.v1 FROM (SELECT x3 AS unit, x2 AS k1, pg_catalog.count(x1) AS v0, (2 * pg_catalog.sum((pg_catalog.int4larger(pg_catalog.int4smaller(x1, %(p4)s::integer), %(p3)s::integer))::integer) - %(p2)s::bigint * pg_catalog.count(x1))::bigint AS v1 FROM (SELECT r2."i4" AS x1, (pg_catalog.left(r1."t"::text, %(p13)s::integer))::text AS x2, r1."uid" AS x3 FROM ((SELECT r1."i4" AS c1, r1."t" AS c2, r1."uid" AS c3, r2."i4" AS c4, r2."uid" AS c5 FROM ((SELECT r1."i4", r1."t", r1."uid" FROM (SELECT * FROM (SELECT r1."id", r1."uid", r1."i2", r1."i4", r1."i8", r1."n2", r1."n", r1."f4", r1."f8", r1."t", r1."c", r1."s", r1."b", r1."d", r1."ts", r1."tz", r1."free", r1."e", r1."j", r1."ta", r1."ia", r1."iv", r1."tod", pg_catalog.row_number() OVER (PARTITION BY r1."uid" ORDER BY pg_catalog.hashint4extended(r1."id"::integer, %(p15)s::bigint), r1."id") AS "dp_place_of_unit" FROM "w"."orders" AS r1 WHERE r1."uid" IS NOT NULL) AS r1 WHERE "dp_place_of_unit" <= %(p16)s::bigint) AS r1 WHERE r1."uid" IS NOT NULL AND ((pg_catalog.left(r1."t"::text, %(p13)s::integer))::text = ANY(%(p14)s::text[]) OR pg_catalog.left(r1."t"::text, %(p13)s::integer) IS NULL)) AS r1 FULL JOIN (SELECT * FROM (SELECT r2."id", r2."uid", r2."i2", r2."i4", r2."i8", r2."n2", r2."n", r2."f4", r2."f8", r2."t", r2."c", r2."s", r2."b", r2."d", r2."ts", r2."tz", r2."free", r2."e", r2."j", r2."ta", r2."ia", r2."iv", r2."tod", pg_catalog.row_number() OVER (PARTITION BY r2."uid" ORDER BY pg_catalog.hashint4extended(r2."id"::integer, %(p15)s::bigint), r2."id") AS "dp_place_of_unit" FROM "w"."calls" AS r2 WHERE r2."uid" IS NOT NULL) AS r2 WHERE "dp_place_of_unit" <= %(p17)s::bigint) AS r2 ON (r1."uid" = r2."uid")) WHERE CASE WHEN r1."uid" IS NOT NULL AND r2."uid" IS NOT NULL THEN TRUE ELSE FALSE END LIMIT ALL) AS j1 CROSS JOIN LATERAL (SELECT j1.c1 AS "i4", j1.c2 AS "t", j1.c3 AS "uid") AS r1 CROSS JOIN LATERAL (SELECT j1.c4 AS "i4", j1.c5 AS "uid") AS r2) LIMIT ALL) r GROUP BY x3, 2) g JOIN ROWS FROM (pg_catalog.unnest(%(p18)s::text[])) WITH ORDINALITY AS c(k1, place) ON (CASE WHEN g.k1 IS NULL THEN '' ELSE 'v' || g.k1 END) COLLATE pg_catalog."C" = c.k1 LIMIT ALL) t), h AS (SELECT *, (pg_catalog.sum(pg_catalog.abs(d0)) OVER (PARTITION BY unit))::bigint AS size0 FROM (SELECT g.unit, g.place, g.one, (CASE WHEN (SELECT (%(p1)s::text::text[])[%(p13)s::integer]::boolean) THEN (CASE WHEN (g.v1 * %(p19)s::bigint - ((SELECT (%(p1)s::text::text[])[%(p12)s::integer]::bigint[]))[g.place] * g.v0) BETWEEN %(p8)s::bigint AND %(p9)s::bigint THEN (g.v1 * %(p19)s::bigint - ((SELECT (%(p1)s::text::text[])[%(p12)s::integer]::bigint[]))[g.place] * g.v0) * %(p5)s::bigint / g.all_v0 ELSE pg_catalog.div((g.v1 * %(p19)s::bigint - ((SELECT (%(p1)s::text::text[])[%(p12)s::integer]::bigint[]))[g.place] * g.v0) * %(p7)s::numeric, g.all_v0)::bigint END) ELSE (g.v1 * %(p19)s::bigint - ((SELECT (%(p1)s::text::text[])[%(p12)s::integer]::bigint[]))[g.place] * g.v0) END) AS d0 FROM g ORDER BY g.unit LIMIT ALL) t LIMIT ALL) SELECT %(p10)s::jsonb ->> (g.place - 1) AS k1, %(p3)s::integer AS place, pg_catalog.width_bucket(g.all_v0, %(p6)s::bigint[]) AS band, pg_catalog.sum(g.v0)::numeric, pg_catalog.sum(%(p5)s::bigint * g.v0 / g.all_v0)::numeric, pg_catalog.sum((CASE WHEN g.v1 BETWEEN %(p8)s::bigint AND %(p9)s::bigint THEN g.v1 * %(p5)s::bigint / g.all_v0 ELSE pg_catalog.div(g.v1 * %(p7)s::numeric, g.all_v0)::bigint END))::numeric, pg_catalog.count(*) FILTER (WHERE g.one) FROM g g WHERE g.all_v0 > 0 GROUP BY g.place, 3 UNION ALL SELECT %(p10)s::jsonb ->> (g.place - 1) AS k1, %(p12)s::integer AS place, pg_catalog.width_bucket(g.size0, (SELECT (%(p1)s::text::text[])[%(p11)s::integer]::bigint[])) AS band, pg_catalog.sum(g.d0)::numeric, pg_catalog.sum((CASE WHEN g.d0 BETWEEN %(p8)s::bigint AND %(p9)s::bigint THEN g.d0 * %(p5)s::bigint / nullif(g.size0, 0) ELSE pg_catalog.div(g.d0 * %(p7)s::numeric, nullif(g.size0, 0))::bigint END))::numeric, NULL::numeric, pg_catalog.count(*) FILTER (WHERE g.one) FROM h g WHERE g.size0 IS NOT NULL GROUP BY g.place, 3
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
--   p13 = 2
--   p14 = ['x', 'y', 'z']
--   p15 = random
--   p16 = 6
--   p17 = 2
--   p18 = ['vx', 'vy', 'vz', '']
--   p19 = 8
-- => loss
-- epsilon 8 delta 0
-- => residual
SELECT dp_b1.k1 AS "t", dp_b1.a1 AS "avg", dp_b1.a2 AS "max" FROM pg_catalog.jsonb_to_recordset(($1)::pg_catalog.jsonb->'b1') AS dp_b1(k1 pg_catalog.text, a1 numeric, a2 integer)

-- case: gaussian
-- policy: gaussian
SELECT count(*), sum(i4), count(DISTINCT i4) FROM orders
-- => plan
-- w.orders, unit r1."uid": rows 6, groups None, per group None; keys none; cells 0
--   count(*): sensitivity 6, sigma 8.19596, epsilon 8/3 delta 1/3000
--   sum: clamp 0 .. 100, grid 1, sensitivity 600 steps, sigma 819.596, epsilon 8/3 delta 1/3000
--   count(distinct): sensitivity 6, sigma 8.19596, epsilon 8/3 delta 1/3000
-- => backend
SELECT pg_catalog.sum(least(v0, %(p1)s::bigint)), pg_catalog.sum(CASE WHEN v1 IS NOT NULL THEN least(greatest(v1, %(p1)s::bigint * %(p4)s::bigint), %(p1)s::bigint * %(p5)s::bigint) END) FROM (SELECT r1."uid" AS unit, pg_catalog.count(*) AS v0, pg_catalog.sum((pg_catalog.int4larger(pg_catalog.int4smaller(r1."i4", %(p3)s::integer), %(p2)s::integer))::integer) AS v1 FROM "w"."orders" AS r1 WHERE r1."uid" IS NOT NULL GROUP BY r1."uid") u
--   p1 = 6
--   p2 = 0
--   p3 = 100
--   p4 = 0
--   p5 = 100
SELECT pg_catalog.count(DISTINCT v) FROM (SELECT v, pg_catalog.row_number() OVER (PARTITION BY unit ORDER BY pg_catalog.hashint8extended(pg_catalog.hash_record_extended(ROW(d."unit", v), %(p2)s::bigint), %(p2)s::bigint), v) AS rank FROM (SELECT unit, v FROM (SELECT r1."uid" AS unit, (r1."i4") AS v FROM "w"."orders" AS r1 WHERE r1."uid" IS NOT NULL AND (r1."i4") IS NOT NULL) s GROUP BY unit, v, coalesce(pg_catalog.hash_numeric_extended((v)::numeric, %(p1)s::bigint), %(p1)s::bigint)) d) u WHERE rank <= %(p3)s::bigint
--   p1 = random
--   p2 = random
--   p3 = 6
-- => loss
-- epsilon 8 delta 1/1000
-- => residual
SELECT dp_b1.a1 AS "count", dp_b1.a2 AS "sum", dp_b1.a3 AS "count" FROM pg_catalog.jsonb_to_recordset(($1)::pg_catalog.jsonb->'b1') AS dp_b1(a1 bigint, a2 bigint, a3 bigint)

-- case: gaussian by groups
-- policy: gaussian
SELECT t, count(*), sum(n2), count(DISTINCT uid) FROM orders GROUP BY t
-- => plan
-- w.orders, unit r1."uid": rows 6, groups 2, per group 2; keys t of 4; cells 0
--   count(*): sensitivity 4, sigma 3.86361, epsilon 8/3 delta 1/3000
--   sum: clamp 0 .. 175, grid 0.01, sensitivity 70000 steps, sigma 67613.2, epsilon 8/3 delta 1/3000
--   count(distinct) of units: sensitivity 2, sigma 1.93181, epsilon 8/3 delta 1/3000
-- => backend
SELECT k1, pg_catalog.sum(least(v0, %(p2)s::bigint)), pg_catalog.sum(CASE WHEN v1 IS NOT NULL THEN least(greatest(v1, least(v2, %(p2)s::bigint) * %(p6)s::bigint), least(v2, %(p2)s::bigint) * %(p7)s::bigint) END), pg_catalog.sum(least(v0, 1)) FROM (SELECT * FROM (SELECT *, pg_catalog.row_number() OVER (PARTITION BY unit ORDER BY pg_catalog.hashint8extended(pg_catalog.hash_record_extended(ROW(g."unit", k1), %(p9)s::bigint), %(p9)s::bigint), k1) AS rank FROM (SELECT r1."uid" AS unit, (r1."t")::text AS k1, pg_catalog.count(*) AS v0, pg_catalog.sum(pg_catalog.int4larger((pg_catalog.numeric_smaller(r1."n2" * %(p3)s::numeric, %(p4)s::numeric))::integer, %(p5)s::integer)) AS v1, pg_catalog.count(r1."n2") AS v2 FROM "w"."orders" AS r1 WHERE r1."uid" IS NOT NULL AND (r1."t" = ANY(%(p8)s::text[]::text[]) OR r1."t" IS NULL) GROUP BY r1."uid", 2) g) c WHERE rank <= %(p2)s::bigint) u GROUP BY 1
--   p1 = 6
--   p2 = 2
--   p3 = 100
--   p4 = 17500
--   p5 = 0
--   p6 = 0
--   p7 = 17500
--   p8 = ['x', 'y', 'z']
--   p9 = random
-- => loss
-- epsilon 8 delta 1/1000
-- => residual
SELECT dp_b1.k1 AS "t", dp_b1.a1 AS "count", dp_b1.a2 AS "sum", dp_b1.a3 AS "count" FROM pg_catalog.jsonb_to_recordset(($1)::pg_catalog.jsonb->'b1') AS dp_b1(k1 pg_catalog.text, a1 bigint, a2 numeric, a3 bigint)

-- case: gaussian by groups of visits
-- policy: gaussian
SELECT t, count(*), sum(n2), count(DISTINCT uid) FROM visits GROUP BY t
-- => plan
-- w.visits, unit r1."uid": rows 5, groups None, per group None; keys t of 4; cells 0
--   count(*): sensitivity 5, sigma 6.82996, epsilon 8/3 delta 1/3000
--   sum: clamp 0 .. 175, grid 0.01, sensitivity 87500 steps, sigma 119524, epsilon 8/3 delta 1/3000
--   count(distinct) of units: sensitivity 4, sigma 2.73199, epsilon 8/3 delta 1/3000
-- => backend
SELECT k1, pg_catalog.sum(CASE WHEN total0 <= %(p1)s::bigint THEN v0 ELSE pg_catalog.div(v0::numeric * %(p1)s::bigint, total0)::bigint END), pg_catalog.sum(CASE WHEN v1 IS NOT NULL THEN CASE WHEN total2 <= %(p1)s::bigint THEN v1::bigint ELSE (least(greatest(v1, CASE WHEN total2 <= %(p1)s::bigint THEN v2 ELSE pg_catalog.div(v2::numeric * %(p1)s::bigint, total2)::bigint END * %(p5)s::bigint), CASE WHEN total2 <= %(p1)s::bigint THEN v2 ELSE pg_catalog.div(v2::numeric * %(p1)s::bigint, total2)::bigint END * %(p6)s::bigint))::bigint END END), pg_catalog.sum(least(v0, 1)) FROM (SELECT *, (pg_catalog.sum((v0)::float8) OVER (PARTITION BY unit))::bigint AS total0, (pg_catalog.sum((v2)::float8) OVER (PARTITION BY unit))::bigint AS total2 FROM (SELECT r1."uid" AS unit, (r1."t")::text AS k1, pg_catalog.count(*) AS v0, pg_catalog.sum(pg_catalog.int4larger((pg_catalog.numeric_smaller(r1."n2" * %(p2)s::numeric, %(p3)s::numeric))::integer, %(p4)s::integer)) AS v1, pg_catalog.count(r1."n2") AS v2 FROM "w"."visits" AS r1 WHERE r1."uid" IS NOT NULL AND (r1."t" = ANY(%(p7)s::text[]::text[]) OR r1."t" IS NULL) GROUP BY r1."uid", 2) g) u GROUP BY 1
--   p1 = 5
--   p2 = 100
--   p3 = 17500
--   p4 = 0
--   p5 = 0
--   p6 = 17500
--   p7 = ['x', 'y', 'z']
-- => loss
-- epsilon 8 delta 1/1000
-- => residual
SELECT dp_b1.k1 AS "t", dp_b1.a1 AS "count", dp_b1.a2 AS "sum", dp_b1.a3 AS "count" FROM pg_catalog.jsonb_to_recordset(($1)::pg_catalog.jsonb->'b1') AS dp_b1(k1 pg_catalog.text, a1 bigint, a2 numeric, a3 bigint)

-- case: gaussian on trips
-- policy: gaussian
SELECT t, count(*), sum(i4) FROM trips GROUP BY t
-- => plan
-- w.trips, unit 3 row(s), partitions by hash of r1."id", r1."leg"; keys t of 4; cells 0
--   count(*): sensitivity 3, sigma 2.83743, epsilon 4 delta 1/2000
--   sum: clamp 0 .. 100, grid 1, sensitivity 300 steps, sigma 283.743, epsilon 4 delta 1/2000
-- => backend
SELECT * FROM (SELECT (CASE WHEN pg_catalog.octet_length((r1."t")::text) <= 1024 THEN (r1."t")::text ELSE pg_catalog.left((r1."t")::text, 1024) END)::text AS k1, pg_catalog.count(*), pg_catalog.sum((pg_catalog.int4larger(pg_catalog.int4smaller(r1."i4", %(p2)s::integer), %(p1)s::integer))::integer) FROM "w"."trips" AS r1 GROUP BY 1 LIMIT ALL) g WHERE (k1 = ANY(%(p3)s::text[]) OR k1 IS NULL)
--   p1 = 0
--   p2 = 100
--   p3 = ['x', 'y', 'z']
-- => loss
-- epsilon 8 delta 1/1000
-- => residual
SELECT dp_b1.k1 AS "t", dp_b1.a1 AS "count", dp_b1.a2 AS "sum" FROM pg_catalog.jsonb_to_recordset(($1)::pg_catalog.jsonb->'b1') AS dp_b1(k1 pg_catalog.text, a1 bigint, a2 bigint)

-- case: polyplace
-- policy: polyplace
SELECT avg(i4), max(i4) FROM people
-- => plan
-- w.people, unit 1 row(s), partitions by hash of r1."id"; keys none; cells 21
--   avg: 0 .. 10000 steps of 0.01, fill 5000, 21 partitions, gate 183 units, scale 5, epsilon 4 delta 0, each epsilon 19/5 delta 0, polyplace
--   max: 0 .. 100 steps of 1, fill 0, 17 partitions, gate 151 units, scale 5, epsilon 4 delta 0, each epsilon 19/5 delta 0, polyplace
-- => backend
SELECT x2, pg_catalog.count(x1), pg_catalog.sum((pg_catalog.int4larger(pg_catalog.int4smaller(x1, %(p2)s::integer), %(p1)s::integer))::integer), pg_catalog.int4larger(pg_catalog.int4smaller(pg_catalog.max(x1), %(p2)s::integer), %(p1)s::integer) FROM (SELECT r1."i4" AS x1, pg_catalog.mod(((pg_catalog.hashint4extended(r1."id"::integer, %(p3)s::bigint)) & %(p4)s::bigint)::integer, %(p5)s::integer) AS x2 FROM "w"."people" AS r1 LIMIT ALL) r GROUP BY 1
--   p1 = 0
--   p2 = 100
--   p3 = random
--   p4 = 2147483647
--   p5 = 21
-- => loss
-- epsilon 8 delta 0
-- => residual
SELECT dp_b1.a1 AS "avg", dp_b1.a2 AS "max" FROM pg_catalog.jsonb_to_recordset(($1)::pg_catalog.jsonb->'b1') AS dp_b1(a1 numeric, a2 integer)

-- case: polyplace by groups
-- policy: polyplace
SELECT b, max(i2) FROM members GROUP BY b
-- => plan
-- w.members, unit 1 row(s), partitions by hash of r1."uid", r1."uid" not null; keys b of 2; cells 17
--   max: -5 .. 10 steps of 1, fill -5, 17 partitions, gate 143 units, scale 5/2, epsilon 8 delta 0, each epsilon 38/5 delta 0, polyplace
-- => backend
SELECT x2, x3, pg_catalog.int4larger(pg_catalog.int4smaller(pg_catalog.max(x1), %(p2)s::integer), %(p1)s::integer), pg_catalog.count(x1) FROM (SELECT r1."i2" AS x1, (r1."b")::text AS x2, pg_catalog.mod(((pg_catalog.hashint4extended(r1."uid"::integer, %(p4)s::bigint)) & %(p5)s::bigint)::integer, %(p6)s::integer) AS x3 FROM "w"."members" AS r1 WHERE r1."uid" IS NOT NULL AND (r1."b" = ANY(%(p3)s::text[]::boolean[])) LIMIT ALL) r GROUP BY 1, 2
--   p1 = -5
--   p2 = 10
--   p3 = ['true', 'false']
--   p4 = random
--   p5 = 2147483647
--   p6 = 17
-- => loss
-- epsilon 8 delta 0
-- => residual
SELECT dp_b1.k1 AS "b", dp_b1.a1 AS "max" FROM pg_catalog.jsonb_to_recordset(($1)::pg_catalog.jsonb->'b1') AS dp_b1(k1 boolean, a1 smallint)

-- case: percentiles by an array
SELECT percentile_disc(ARRAY[0.25, 0.5]) WITHIN GROUP (ORDER BY i4 DESC), dp.error(percentile_cont('{0.5,1}'::float8[]) WITHIN GROUP (ORDER BY i4)) AS e FROM people HAVING (percentile_disc(ARRAY[0.75]) WITHIN GROUP (ORDER BY i4))[1] > 5
-- => plan
-- w.people, unit 1 row(s), partitions by hash of r1."id"; keys none; cells 0
--   percentile_disc of order: clamp 0 .. 100, grid 1, rows 1, needed 36, epsilon 2 delta 0, size for 3/25
--   percentile_disc of order: clamp 0 .. 100, grid 1, rows 1, needed 24, epsilon 2 delta 0, size for 3/25
--   percentile_cont of order: clamp 0 .. 100, grid 1, rows 1, needed 24, epsilon 2 delta 0, size for 3/25
--   percentile_cont of order: clamp 0 .. 100, grid 1, rows 1, needed 48, epsilon 2 delta 0, size for 3/25
-- => backend
SELECT pg_catalog.min(v), pg_catalog.sum(n) FROM (SELECT *, CASE WHEN whole * %(p4)s::numeric - upto * %(p5)s::numeric >= %(p3)s::numeric THEN -1 WHEN (upto - n) * %(p5)s::numeric - whole * %(p4)s::numeric >= %(p3)s::numeric THEN 1 ELSE 0 END AS side1, CASE WHEN whole - upto * %(p7)s::numeric >= %(p6)s::numeric THEN -1 WHEN (upto - n) * %(p7)s::numeric - whole >= %(p6)s::numeric THEN 1 ELSE 0 END AS side2, CASE WHEN whole - upto >= %(p6)s::numeric THEN -1 ELSE 0 END AS side3 FROM (SELECT *, pg_catalog.sum(n) OVER ( ORDER BY v) AS upto, pg_catalog.sum(n) OVER () AS whole FROM (SELECT v, pg_catalog.count(*) AS n FROM (SELECT ((pg_catalog.int4larger(pg_catalog.int4smaller(r1."i4", %(p2)s::integer), %(p1)s::integer))::integer) AS v FROM "w"."people" AS r1 WHERE ((pg_catalog.int4larger(pg_catalog.int4smaller(r1."i4", %(p2)s::integer), %(p1)s::integer))::integer) IS NOT NULL) u GROUP BY v) c) p) s GROUP BY side1, side2, side3, CASE WHEN 0 IN (side1, side2, side3) THEN v END
--   p1 = 0
--   p2 = 100
--   p3 = 144
--   p4 = 3
--   p5 = 4
--   p6 = 48
--   p7 = 2
-- => loss
-- epsilon 8 delta 0
-- => residual
SELECT (ARRAY[dp_b1.a1, dp_b1.a2]) AS "percentile_disc", (ARRAY[dp_b1.e3, dp_b1.e4]) AS e FROM pg_catalog.jsonb_to_recordset(($1)::pg_catalog.jsonb->'b1') AS dp_b1(a1 integer, a2 integer, a3 double precision, e3 double precision, a4 double precision, e4 double precision) WHERE ((ARRAY[dp_b1.a1]))[1] > 5

-- case: truths over groups
SELECT t, bool_or(i4 > 90), bool_and(i4 > 90) AS all_of_them, every(b) FILTER (WHERE i4 > 3) FROM people GROUP BY t HAVING NOT bool_or(i4 > 90)
-- => plan
-- w.people, unit 1 row(s), partitions by hash of r1."id"; keys t of 4; cells 0
--   count(*): sensitivity 1, scale 1/2, epsilon 2 delta 0
--   count(*): sensitivity 1, scale 1/2, epsilon 2 delta 0
--   count(*): sensitivity 1, scale 1/2, epsilon 2 delta 0
--   count(*): sensitivity 1, scale 1/2, epsilon 2 delta 0
-- => backend
SELECT * FROM (SELECT (CASE WHEN pg_catalog.octet_length((r1."t")::text) <= 1024 THEN (r1."t")::text ELSE pg_catalog.left((r1."t")::text, 1024) END)::text AS k1, pg_catalog.count(*) FILTER (WHERE (r1."i4" > %(p1)s::bigint)), pg_catalog.count(*) FILTER (WHERE (NOT (r1."i4" > %(p1)s::bigint))), pg_catalog.count(*) FILTER (WHERE ((r1."i4" > %(p2)s::bigint) AND r1."b")), pg_catalog.count(*) FILTER (WHERE ((r1."i4" > %(p2)s::bigint) AND (NOT r1."b"))) FROM "w"."people" AS r1 GROUP BY 1 LIMIT ALL) g WHERE (k1 = ANY(%(p3)s::text[]) OR k1 IS NULL)
--   p1 = 90
--   p2 = 3
--   p3 = ['x', 'y', 'z']
-- => loss
-- epsilon 8 delta 0
-- => residual
SELECT dp_b1.k1 AS "t", (CASE WHEN dp_b1.l1 OPERATOR(pg_catalog.>) 0 THEN true WHEN dp_b1.a1 OPERATOR(pg_catalog.*) 2 OPERATOR(pg_catalog.<=) dp_b1.e1 AND dp_b1.l2 OPERATOR(pg_catalog.>) 0 THEN false END) AS "bool_or", (CASE WHEN dp_b1.l2 OPERATOR(pg_catalog.>) 0 THEN false WHEN dp_b1.a2 OPERATOR(pg_catalog.*) 2 OPERATOR(pg_catalog.<=) dp_b1.e2 AND dp_b1.l1 OPERATOR(pg_catalog.>) 0 THEN true END) AS all_of_them, (CASE WHEN dp_b1.l4 OPERATOR(pg_catalog.>) 0 THEN false WHEN dp_b1.a4 OPERATOR(pg_catalog.*) 2 OPERATOR(pg_catalog.<=) dp_b1.e4 AND dp_b1.l3 OPERATOR(pg_catalog.>) 0 THEN true END) AS "every" FROM pg_catalog.jsonb_to_recordset(($1)::pg_catalog.jsonb->'b1') AS dp_b1(k1 pg_catalog.text, a1 bigint, l1 bigint, e1 double precision, a2 bigint, l2 bigint, e2 double precision, a3 bigint, l3 bigint, a4 bigint, l4 bigint, e4 double precision) WHERE NOT (CASE WHEN dp_b1.l1 OPERATOR(pg_catalog.>) 0 THEN true WHEN dp_b1.a1 OPERATOR(pg_catalog.*) 2 OPERATOR(pg_catalog.<=) dp_b1.e1 AND dp_b1.l2 OPERATOR(pg_catalog.>) 0 THEN false END)

-- case: truths of a unit
SELECT count(*) FILTER (WHERE some), count(*) FILTER (WHERE whole) FROM (SELECT uid, bool_or(b) AS some, every(i4 > 3) FILTER (WHERE b) AS whole FROM orders GROUP BY uid) q
-- => plan
-- w.orders, unit 1 row(s), partitions by hash of r3."dp_unit", r3."dp_unit" not null; keys none; cells 0
--   count(*): sensitivity 1, scale 1/4, epsilon 4 delta 0
--   count(*): sensitivity 1, scale 1/4, epsilon 4 delta 0
-- => backend
SELECT pg_catalog.count(*) FILTER (WHERE r3."some"), pg_catalog.count(*) FILTER (WHERE r3."whole") FROM (SELECT r2."unit" AS "uid", (r2."a1" = %(p1)s::numeric) AS "some", (r2."a2" = %(p1)s::numeric) AS "whole", r2."unit" AS "dp_unit" FROM (SELECT r1."uid" AS unit, pg_catalog.trim_scale(pg_catalog.max(CASE WHEN r1."b" THEN %(p1)s::numeric WHEN (NOT r1."b") THEN %(p3)s::numeric ELSE NULL::numeric END)) AS a1, pg_catalog.trim_scale(pg_catalog.min(CASE WHEN (r1."i4" > %(p4)s::bigint) THEN %(p1)s::numeric WHEN (NOT (r1."i4" > %(p4)s::bigint)) THEN %(p3)s::numeric ELSE NULL::numeric END) FILTER (WHERE r1."b")) AS a2 FROM "w"."orders" AS r1 WHERE r1."uid" IS NOT NULL GROUP BY r1."uid") AS r2) AS r3 WHERE r3."dp_unit" IS NOT NULL
--   p1 = 1
--   p2 = 6
--   p3 = 0
--   p4 = 3
-- => loss
-- epsilon 8 delta 0
-- => residual
SELECT dp_b1.a1 AS "count", dp_b1.a2 AS "count" FROM pg_catalog.jsonb_to_recordset(($1)::pg_catalog.jsonb->'b1') AS dp_b1(a1 bigint, a2 bigint)

-- case: quantiles of weighed rows
-- policy: chosen
SELECT t, percentile_cont(0.5) WITHIN GROUP (ORDER BY i4), percentile_disc(0.9) WITHIN GROUP (ORDER BY i4) FILTER (WHERE b), dp.error(percentile_cont(0.5) WITHIN GROUP (ORDER BY i4)) FROM visits GROUP BY t
-- => plan
-- w.visits, unit r1."uid": rows 10000, groups None, per group None; keys t of 4; cells 0
--   percentile_cont of order: clamp 0 .. 100, grid 1, rows weighed to 10000 of a unit, needed 138214866824, epsilon 18/5 delta 0, size for 27/125
--   percentile_disc of order: clamp 0 .. 100, grid 1, rows weighed to 10000 of a unit, needed 248786760282, epsilon 18/5 delta 0, size for 27/125
-- => backend
SELECT k1, pg_catalog.min(v), pg_catalog.sum(n), pg_catalog.sum(sum1) FROM (SELECT *, CASE WHEN whole - upto * %(p9)s::numeric >= %(p8)s::numeric THEN -1 WHEN (upto - n) * %(p9)s::numeric - whole >= %(p8)s::numeric THEN 1 ELSE 0 END AS side1 FROM (SELECT *, pg_catalog.sum(n) OVER (PARTITION BY k1 ORDER BY v) AS upto, pg_catalog.sum(n) OVER (PARTITION BY k1) AS whole FROM (SELECT k1, v, pg_catalog.sum((CASE WHEN of_unit <= %(p5)s::bigint THEN %(p6)s::bigint ELSE %(p7)s::bigint / of_unit END)) AS n, pg_catalog.sum(%(p6)s::bigint / of_unit) AS sum1 FROM (SELECT k1, v, pg_catalog.count(*) OVER (PARTITION BY unit) AS of_unit FROM (SELECT r1."uid" AS unit, (r1."t")::text AS k1, ((pg_catalog.int4larger(pg_catalog.int4smaller(r1."i4", %(p2)s::integer), %(p1)s::integer))::integer) AS v FROM "w"."visits" AS r1 WHERE r1."uid" IS NOT NULL AND (r1."t" = ANY(%(p3)s::text[]::text[]) OR r1."t" IS NULL) AND ((pg_catalog.int4larger(pg_catalog.int4smaller(r1."i4", %(p2)s::integer), %(p1)s::integer))::integer) IS NOT NULL) d) u GROUP BY k1, v, coalesce(pg_catalog.hash_numeric_extended((v)::numeric, %(p4)s::bigint), %(p4)s::bigint)) c) p) s GROUP BY k1, side1, CASE WHEN 0 IN (side1) THEN v END
--   p1 = 0
--   p2 = 100
--   p3 = ['x', 'y', 'z']
--   p4 = random
--   p5 = 10000
--   p6 = 1048576
--   p7 = 10485760000
--   p8 = 276429733648
--   p9 = 2
SELECT k1, pg_catalog.min(v), pg_catalog.sum(n), pg_catalog.sum(sum1) FROM (SELECT *, CASE WHEN whole * %(p9)s::numeric - upto * %(p10)s::numeric >= %(p8)s::numeric THEN -1 WHEN (upto - n) * %(p10)s::numeric - whole * %(p9)s::numeric >= %(p8)s::numeric THEN 1 ELSE 0 END AS side1 FROM (SELECT *, pg_catalog.sum(n) OVER (PARTITION BY k1 ORDER BY v) AS upto, pg_catalog.sum(n) OVER (PARTITION BY k1) AS whole FROM (SELECT k1, v, pg_catalog.sum((CASE WHEN of_unit <= %(p5)s::bigint THEN %(p6)s::bigint ELSE %(p7)s::bigint / of_unit END)) AS n, pg_catalog.sum(%(p6)s::bigint / of_unit) AS sum1 FROM (SELECT k1, v, pg_catalog.count(*) OVER (PARTITION BY unit) AS of_unit FROM (SELECT r1."uid" AS unit, (r1."t")::text AS k1, ((pg_catalog.int4larger(pg_catalog.int4smaller(r1."i4", %(p2)s::integer), %(p1)s::integer))::integer) AS v FROM "w"."visits" AS r1 WHERE r1."uid" IS NOT NULL AND (r1."t" = ANY(%(p3)s::text[]::text[]) OR r1."t" IS NULL) AND ((pg_catalog.int4larger(pg_catalog.int4smaller(r1."i4", %(p2)s::integer), %(p1)s::integer))::integer) IS NOT NULL AND r1."b") d) u GROUP BY k1, v, coalesce(pg_catalog.hash_numeric_extended((v)::numeric, %(p4)s::bigint), %(p4)s::bigint)) c) p) s GROUP BY k1, side1, CASE WHEN 0 IN (side1) THEN v END
--   p1 = 0
--   p2 = 100
--   p3 = ['x', 'y', 'z']
--   p4 = random
--   p5 = 10000
--   p6 = 1048576
--   p7 = 10485760000
--   p8 = 2487867602820
--   p9 = 9
--   p10 = 10
-- => loss
-- epsilon 8 delta 0
-- => residual
SELECT dp_b1.k1 AS "t", dp_b1.a1 AS "percentile_cont", dp_b1.a2 AS "percentile_disc", dp_b1.e1 AS "error" FROM pg_catalog.jsonb_to_recordset(($1)::pg_catalog.jsonb->'b1') AS dp_b1(k1 pg_catalog.text, a1 double precision, e1 double precision, a2 integer)

-- case: quantile of weighed rows beside a covariance of rows that are cut
-- policy: chosen
SELECT percentile_cont(0.9) WITHIN GROUP (ORDER BY n2), covar_pop(i4, n2) FROM orders
-- => plan
-- w.orders, unit r1."uid": rows 10000, groups None, per group None; keys none; cells 0
--   percentile_cont of order: clamp 0 .. 175, grid 0.01, rows weighed to 10000 of a unit, needed 300726312126, epsilon 216/65 delta 0, size for 324/1625
--   covar_pop made of releases 3, 4, 5, 6: clamp 0 .. 100, grid 1, clamp 0 .. 175, grid 0.01, output grid 0.001
--     rows for covar_pop: clamp 0 .. 100, grid 1, clamp 0 .. 175, grid 0.01, sensitivity 10000, scale 32500/3, epsilon 12/13 delta 0
--     centred sum for covar_pop: clamp 0 .. 100, grid 1, sensitivity 1000000, scale 3250000/3, epsilon 12/13 delta 0
--     centred sum for covar_pop: clamp 0 .. 175, grid 0.01, sensitivity 175000000, scale 568750000/3, epsilon 12/13 delta 0
--     centred products for covar_pop: clamp 0 .. 100, grid 1, clamp 0 .. 175, grid 0.01, sensitivity 17500000000, scale 56875000000/3, epsilon 12/13 delta 0
-- => backend
SELECT pg_catalog.sum(least(v0, %(p1)s::bigint)), pg_catalog.sum(CASE WHEN v1 IS NOT NULL THEN CASE WHEN v0 <= %(p1)s::bigint THEN v1::bigint ELSE (least(greatest(CASE WHEN v0 <= least(v0, %(p1)s::bigint) THEN v1 ELSE pg_catalog.round(v1::numeric * least(v0, %(p1)s::bigint) / v0) END, least(v0, %(p1)s::bigint) * %(p5)s::bigint), least(v0, %(p1)s::bigint) * %(p2)s::bigint))::bigint END END), pg_catalog.sum(CASE WHEN v2 IS NOT NULL THEN CASE WHEN v3 <= %(p1)s::bigint THEN v2::bigint ELSE (least(greatest(CASE WHEN v3 <= least(v3, %(p1)s::bigint) THEN v2 ELSE pg_catalog.round(v2::numeric * least(v3, %(p1)s::bigint) / v3) END, least(v3, %(p1)s::bigint) * %(p9)s::bigint), least(v3, %(p1)s::bigint) * %(p6)s::bigint))::bigint END END), pg_catalog.sum(CASE WHEN v4 IS NOT NULL THEN CASE WHEN v0 <= %(p1)s::bigint THEN v4::bigint ELSE (least(greatest(CASE WHEN v0 <= least(v0, %(p1)s::bigint) THEN v4 ELSE pg_catalog.round(v4::numeric * least(v0, %(p1)s::bigint) / v0) END, least(v0, %(p1)s::bigint) * %(p10)s::bigint), least(v0, %(p1)s::bigint) * %(p11)s::bigint))::bigint END END) FROM (SELECT r1."uid" AS unit, pg_catalog.count(r1."i4") FILTER (WHERE (NOT (r1."n2" IS NULL))) AS v0, (2 * pg_catalog.sum((pg_catalog.int4larger(pg_catalog.int4smaller(r1."i4", %(p4)s::integer), %(p3)s::integer))::integer) FILTER (WHERE (NOT (r1."n2" IS NULL))) - %(p2)s::bigint * pg_catalog.count(r1."i4") FILTER (WHERE (NOT (r1."n2" IS NULL))))::bigint AS v1, (2 * pg_catalog.sum(pg_catalog.int4larger((pg_catalog.numeric_smaller(r1."n2" * %(p7)s::numeric, %(p8)s::numeric))::integer, %(p3)s::integer)) FILTER (WHERE (NOT (r1."i4" IS NULL))) - %(p6)s::bigint * pg_catalog.count(r1."n2") FILTER (WHERE (NOT (r1."i4" IS NULL))))::bigint AS v2, pg_catalog.count(r1."n2") FILTER (WHERE (NOT (r1."i4" IS NULL))) AS v3, pg_catalog.sum((2 * ((pg_catalog.int4larger(pg_catalog.int4smaller(r1."i4", %(p4)s::integer), %(p3)s::integer))::integer)::bigint - %(p2)s::bigint)::bigint * (2 * (pg_catalog.int4larger((pg_catalog.numeric_smaller(r1."n2" * %(p7)s::numeric, %(p8)s::numeric))::integer, %(p3)s::integer))::bigint - %(p6)s::bigint)::bigint) FILTER (WHERE (NOT (r1."n2" IS NULL))) AS v4 FROM "w"."orders" AS r1 WHERE r1."uid" IS NOT NULL GROUP BY r1."uid") u
--   p1 = 10000
--   p2 = 100
--   p3 = 0
--   p4 = 100
--   p5 = -100
--   p6 = 17500
--   p7 = 100
--   p8 = 17500
--   p9 = -17500
--   p10 = -1750000
--   p11 = 1750000
SELECT pg_catalog.min(v), pg_catalog.sum(n), pg_catalog.sum(sum1) FROM (SELECT *, CASE WHEN whole * %(p9)s::numeric - upto * %(p10)s::numeric >= %(p8)s::numeric THEN -1 WHEN (upto - n) * %(p10)s::numeric - whole * %(p9)s::numeric >= %(p8)s::numeric THEN 1 ELSE 0 END AS side1 FROM (SELECT *, pg_catalog.sum(n) OVER ( ORDER BY v) AS upto, pg_catalog.sum(n) OVER () AS whole FROM (SELECT v, pg_catalog.sum((CASE WHEN of_unit <= %(p5)s::bigint THEN %(p6)s::bigint ELSE %(p7)s::bigint / of_unit END)) AS n, pg_catalog.sum(%(p6)s::bigint / of_unit) AS sum1 FROM (SELECT v, pg_catalog.count(*) OVER (PARTITION BY unit) AS of_unit FROM (SELECT r1."uid" AS unit, (pg_catalog.int4larger((pg_catalog.numeric_smaller(r1."n2" * %(p1)s::numeric, %(p2)s::numeric))::integer, %(p3)s::integer)) AS v FROM "w"."orders" AS r1 WHERE r1."uid" IS NOT NULL AND (pg_catalog.int4larger((pg_catalog.numeric_smaller(r1."n2" * %(p1)s::numeric, %(p2)s::numeric))::integer, %(p3)s::integer)) IS NOT NULL) d) u GROUP BY v, coalesce(pg_catalog.hash_numeric_extended((v)::numeric, %(p4)s::bigint), %(p4)s::bigint)) c) p) s GROUP BY side1, CASE WHEN 0 IN (side1) THEN v END
--   p1 = 100
--   p2 = 17500
--   p3 = 0
--   p4 = random
--   p5 = 10000
--   p6 = 1048576
--   p7 = 10485760000
--   p8 = 3007263121260
--   p9 = 9
--   p10 = 10
-- => loss
-- epsilon 8 delta 0
-- => residual
SELECT dp_b1.a1 AS "percentile_cont", dp_b1.a2 AS "covar_pop" FROM pg_catalog.jsonb_to_recordset(($1)::pg_catalog.jsonb->'b1') AS dp_b1(a1 double precision, a2 double precision)

-- case: quantile of private groups is of rows that are cut
-- policy: chosen
SELECT s, percentile_cont(0.5) WITHIN GROUP (ORDER BY i4) FROM orders GROUP BY s
-- => plan
-- w.orders, unit r1."uid": rows 10000, groups 2, per group 2; keys s of private; cells 0
--   selection: epsilon 3 delta 3/8000, each epsilon 1.5 delta 0.0001875
--   percentile_cont of order: clamp 0 .. 100, grid 1, rows 10000, needed 158175, epsilon 3 delta 0, size for 9/50
-- => backend
SELECT k1, pg_catalog.count(*) FROM (SELECT * FROM (SELECT *, pg_catalog.row_number() OVER (PARTITION BY unit ORDER BY pg_catalog.hashint8extended(pg_catalog.hash_record_extended(ROW(g."unit", k1), %(p2)s::bigint), %(p2)s::bigint), k1) AS rank FROM (SELECT r1."uid" AS unit, (r1."s")::text AS k1 FROM "w"."orders" AS r1 WHERE r1."uid" IS NOT NULL GROUP BY r1."uid", 2, coalesce(pg_catalog.hashtextextended(((r1."s")::text)::text, %(p1)s::bigint), %(p1)s::bigint)) g) c WHERE rank <= %(p3)s::bigint) u GROUP BY 1, coalesce(pg_catalog.hashtextextended((k1)::text, %(p1)s::bigint), %(p1)s::bigint)
--   p1 = random
--   p2 = random
--   p3 = 2
SELECT k1, pg_catalog.min(v), pg_catalog.sum(n) FROM (SELECT *, CASE WHEN whole - upto * %(p7)s::numeric >= %(p6)s::numeric THEN -1 WHEN (upto - n) * %(p7)s::numeric - whole >= %(p6)s::numeric THEN 1 ELSE 0 END AS side1 FROM (SELECT *, pg_catalog.sum(n) OVER (PARTITION BY k1 ORDER BY v) AS upto, pg_catalog.sum(n) OVER (PARTITION BY k1) AS whole FROM (SELECT k1, v, pg_catalog.count(*) AS n FROM (SELECT k1, v, pg_catalog.row_number() OVER (PARTITION BY unit ORDER BY pg_catalog.hashint8extended(pg_catalog.hash_record_extended(ROW(d."unit", k1, v), %(p4)s::bigint), %(p4)s::bigint), k1, v) AS rank FROM (SELECT r1."uid" AS unit, (r1."s")::text AS k1, ((pg_catalog.int4larger(pg_catalog.int4smaller(r1."i4", %(p2)s::integer), %(p1)s::integer))::integer) AS v FROM "w"."orders" AS r1 WHERE r1."uid" IS NOT NULL AND ((pg_catalog.int4larger(pg_catalog.int4smaller(r1."i4", %(p2)s::integer), %(p1)s::integer))::integer) IS NOT NULL) d) u WHERE rank <= %(p5)s::bigint GROUP BY k1, v, coalesce(pg_catalog.hash_numeric_extended((v)::numeric, coalesce(pg_catalog.hashtextextended((k1)::text, %(p3)s::bigint), %(p3)s::bigint)), %(p3)s::bigint)) c) p) s GROUP BY k1, side1, CASE WHEN 0 IN (side1) THEN v END
--   p1 = 0
--   p2 = 100
--   p3 = random
--   p4 = random
--   p5 = 10000
--   p6 = 316350
--   p7 = 2
-- => loss
-- epsilon 8 delta 3/8000
-- => residual
SELECT dp_b1.k1 AS "s", dp_b1.a1 AS "percentile_cont" FROM pg_catalog.jsonb_to_recordset(($1)::pg_catalog.jsonb->'b1') AS dp_b1(k1 character varying(20), a1 double precision)
