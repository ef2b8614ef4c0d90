-- case: correlation
SELECT corr(i4, i2) FROM people
-- => plan
-- w.people, unit 1 row(s), partitions by hash of r1."id"; keys none; cells 0
--   corr made of releases 2, 3, 4, 5, 6, 7: clamp 0 .. 100, grid 1, clamp -5 .. 10, grid 1, output grid 0.0000001
--     rows for corr: clamp 0 .. 100, grid 1, clamp -5 .. 10, grid 1, sensitivity 1, scale 3/4, epsilon 4/3 delta 0
--     centred sum for corr: clamp 0 .. 100, grid 1, sensitivity 100, scale 75, epsilon 4/3 delta 0
--     centred sum for corr: clamp -5 .. 10, grid 1, sensitivity 15, scale 45/4, epsilon 4/3 delta 0
--     centred products for corr: clamp -5 .. 10, grid 1, clamp 0 .. 100, grid 1, sensitivity 1500, scale 1125, epsilon 4/3 delta 0
--     centred squares for corr: clamp -5 .. 10, grid 1, sensitivity 225, scale 675/4, epsilon 4/3 delta 0
--     centred squares for corr: clamp 0 .. 100, grid 1, sensitivity 10000, scale 7500, epsilon 4/3 delta 0
-- => backend
SELECT pg_catalog.count(r1."i4") FILTER (WHERE (NOT (r1."i2" IS NULL))), (2 * pg_catalog.sum((pg_catalog.int4larger(pg_catalog.int4smaller(r1."i4", %(p3)s::integer), %(p2)s::integer))::integer) FILTER (WHERE (NOT (r1."i2" IS NULL))) - %(p1)s::bigint * pg_catalog.count(r1."i4") FILTER (WHERE (NOT (r1."i2" IS NULL))))::bigint, (2 * pg_catalog.sum((pg_catalog.int4larger(pg_catalog.int4smaller(r1."i2", %(p6)s::integer), %(p5)s::integer))::integer) FILTER (WHERE (NOT (r1."i4" IS NULL))) - %(p4)s::bigint * pg_catalog.count(r1."i2") FILTER (WHERE (NOT (r1."i4" IS NULL))))::bigint, pg_catalog.sum((2 * ((pg_catalog.int4larger(pg_catalog.int4smaller(r1."i2", %(p6)s::integer), %(p5)s::integer))::integer)::bigint - %(p4)s::bigint)::bigint * (2 * ((pg_catalog.int4larger(pg_catalog.int4smaller(r1."i4", %(p3)s::integer), %(p2)s::integer))::integer)::bigint - %(p1)s::bigint)::bigint) FILTER (WHERE (NOT (r1."i4" IS NULL))), pg_catalog.sum((2 * ((2 * ((pg_catalog.int4larger(pg_catalog.int4smaller(r1."i2", %(p6)s::integer), %(p5)s::integer))::integer)::bigint - %(p4)s::bigint)::bigint) * ((2 * ((pg_catalog.int4larger(pg_catalog.int4smaller(r1."i2", %(p6)s::integer), %(p5)s::integer))::integer)::bigint - %(p4)s::bigint)::bigint) - %(p7)s::bigint)) FILTER (WHERE (NOT (r1."i4" IS NULL))), pg_catalog.sum((2 * ((2 * ((pg_catalog.int4larger(pg_catalog.int4smaller(r1."i4", %(p3)s::integer), %(p2)s::integer))::integer)::bigint - %(p1)s::bigint)::bigint) * ((2 * ((pg_catalog.int4larger(pg_catalog.int4smaller(r1."i4", %(p3)s::integer), %(p2)s::integer))::integer)::bigint - %(p1)s::bigint)::bigint) - %(p8)s::bigint)) FILTER (WHERE (NOT (r1."i2" IS NULL))) FROM "w"."people" AS r1
--   p1 = 100
--   p2 = 0
--   p3 = 100
--   p4 = 5
--   p5 = -5
--   p6 = 10
--   p7 = 225
--   p8 = 10000
-- => loss
-- epsilon 8 delta 0
-- => residual
SELECT dp_b1.a1 AS "corr" FROM pg_catalog.jsonb_to_recordset(($1)::pg_catalog.jsonb->'b1') AS dp_b1(a1 double precision)

-- case: regression shares its sums
SELECT regr_slope(n2, f8), regr_intercept(n2, f8), covar_samp(n2, f8) FROM orders
-- => plan
-- w.orders, unit r1."uid": rows 6, groups None, per group None; keys none; cells 0
--   regr_slope made of releases 4, 5, 6, 7, 8: clamp 0 .. 175, grid 0.01, clamp -100 .. 100, grid 0.01, output grid 0.00000001
--   regr_intercept made of releases 4, 5, 6, 7, 8: clamp 0 .. 175, grid 0.01, clamp -100 .. 100, grid 0.01, output grid 0.00001
--   covar_samp made of releases 4, 5, 6, 7: clamp 0 .. 175, grid 0.01, clamp -100 .. 100, grid 0.01, output grid 0.001
--     rows for regr_slope: clamp 0 .. 175, grid 0.01, clamp -100 .. 100, grid 0.01, sensitivity 6, scale 15/4, epsilon 8/5 delta 0
--     centred sum for regr_slope: clamp 0 .. 175, grid 0.01, sensitivity 105000, scale 65625, epsilon 8/5 delta 0
--     centred sum for regr_slope: clamp -100 .. 100, grid 0.01, sensitivity 120000, scale 75000, epsilon 8/5 delta 0
--     centred products for regr_slope: clamp -100 .. 100, grid 0.01, clamp 0 .. 175, grid 0.01, sensitivity 2100000000, scale 1312500000, epsilon 8/5 delta 0
--     centred squares for regr_slope: clamp -100 .. 100, grid 0.01, sensitivity 2400000000, scale 1500000000, epsilon 8/5 delta 0
-- => backend
SELECT pg_catalog.sum(least(v0, %(p1)s::bigint)), pg_catalog.sum(CASE WHEN v1 IS NOT NULL THEN CASE WHEN v0 <= %(p1)s::bigint THEN v1::bigint ELSE (least(greatest(CASE WHEN v0 <= least(v0, %(p1)s::bigint) THEN v1 ELSE pg_catalog.round(v1::numeric * least(v0, %(p1)s::bigint) / v0) END, least(v0, %(p1)s::bigint) * %(p6)s::bigint), least(v0, %(p1)s::bigint) * %(p2)s::bigint))::bigint END END), pg_catalog.sum(CASE WHEN v2 IS NOT NULL THEN CASE WHEN v3 <= %(p1)s::bigint THEN v2::bigint ELSE (least(greatest(CASE WHEN v3 <= least(v3, %(p1)s::bigint) THEN v2 ELSE pg_catalog.round(v2::numeric * least(v3, %(p1)s::bigint) / v3) END, least(v3, %(p1)s::bigint) * %(p10)s::bigint), least(v3, %(p1)s::bigint) * %(p11)s::bigint))::bigint END END), pg_catalog.sum(CASE WHEN v4 IS NOT NULL THEN CASE WHEN v3 <= %(p1)s::bigint THEN v4::bigint ELSE (least(greatest(CASE WHEN v3 <= least(v3, %(p1)s::bigint) THEN v4 ELSE pg_catalog.round(v4::numeric * least(v3, %(p1)s::bigint) / v3) END, least(v3, %(p1)s::bigint) * %(p12)s::bigint), least(v3, %(p1)s::bigint) * %(p13)s::bigint))::bigint END END), pg_catalog.sum(CASE WHEN v5 IS NOT NULL THEN CASE WHEN v3 <= %(p1)s::bigint THEN v5::bigint ELSE (least(greatest(CASE WHEN v3 <= least(v3, %(p1)s::bigint) THEN v5 ELSE pg_catalog.round(v5::numeric * least(v3, %(p1)s::bigint) / v3) END, least(v3, %(p1)s::bigint) * %(p15)s::bigint), least(v3, %(p1)s::bigint) * %(p14)s::bigint))::bigint END END) FROM (SELECT r1."uid" AS unit, pg_catalog.count(r1."n2") FILTER (WHERE (NOT (r1."f8" IS NULL))) AS v0, (2 * pg_catalog.sum(pg_catalog.int4larger((pg_catalog.numeric_smaller(r1."n2" * %(p3)s::numeric, %(p4)s::numeric))::integer, %(p5)s::integer)) FILTER (WHERE (NOT (r1."f8" IS NULL))) - %(p2)s::bigint * pg_catalog.count(r1."n2") FILTER (WHERE (NOT (r1."f8" IS NULL))))::bigint AS v1, (2 * pg_catalog.sum(((pg_catalog.float8larger(pg_catalog.float8smaller(r1."f8", %(p9)s::double precision), %(p8)s::double precision))::double precision * %(p9)s::double precision)::integer) FILTER (WHERE (NOT (r1."n2" IS NULL))) - %(p7)s::bigint * pg_catalog.count(r1."f8") FILTER (WHERE (NOT (r1."n2" IS NULL))))::bigint AS v2, pg_catalog.count(r1."f8") FILTER (WHERE (NOT (r1."n2" IS NULL))) AS v3, pg_catalog.sum((2 * (((pg_catalog.float8larger(pg_catalog.float8smaller(r1."f8", %(p9)s::double precision), %(p8)s::double precision))::double precision * %(p9)s::double precision)::integer)::bigint - %(p7)s::bigint)::bigint * (2 * (pg_catalog.int4larger((pg_catalog.numeric_smaller(r1."n2" * %(p3)s::numeric, %(p4)s::numeric))::integer, %(p5)s::integer))::bigint - %(p2)s::bigint)::bigint) FILTER (WHERE (NOT (r1."n2" IS NULL))) AS v4, pg_catalog.sum((2 * ((2 * (((pg_catalog.float8larger(pg_catalog.float8smaller(r1."f8", %(p9)s::double precision), %(p8)s::double precision))::double precision * %(p9)s::double precision)::integer)::bigint - %(p7)s::bigint)::bigint) * ((2 * (((pg_catalog.float8larger(pg_catalog.float8smaller(r1."f8", %(p9)s::double precision), %(p8)s::double precision))::double precision * %(p9)s::double precision)::integer)::bigint - %(p7)s::bigint)::bigint) - %(p14)s::bigint)) FILTER (WHERE (NOT (r1."n2" IS NULL))) AS v5 FROM "w"."orders" AS r1 WHERE r1."uid" IS NOT NULL GROUP BY r1."uid") u
--   p1 = 6
--   p2 = 17500
--   p3 = 100
--   p4 = 17500
--   p5 = 0
--   p6 = -17500
--   p7 = 0
--   p8 = -100
--   p9 = 100
--   p10 = -20000
--   p11 = 20000
--   p12 = -350000000
--   p13 = 350000000
--   p14 = 400000000
--   p15 = -400000000
-- => loss
-- epsilon 8 delta 0
-- => residual
SELECT dp_b1.a1 AS "regr_slope", dp_b1.a2 AS "regr_intercept", dp_b1.a3 AS "covar_samp" FROM pg_catalog.jsonb_to_recordset(($1)::pg_catalog.jsonb->'b1') AS dp_b1(a1 double precision, a2 double precision, a3 double precision)

-- case: pairs by a key with filter
SELECT t, covar_pop(i4, n2) FILTER (WHERE b), regr_r2(i4, n2) FILTER (WHERE b) FROM orders GROUP BY t
-- => plan
-- w.orders, unit r1."uid": rows 6, groups 2, per group 2; keys t of 4; cells 0
--   covar_pop made of releases 3, 4, 5, 6: clamp 0 .. 100, grid 1, clamp 0 .. 175, grid 0.01, output grid 0.001
--   regr_r2 made of releases 3, 4, 5, 6, 7, 8: clamp 0 .. 100, grid 1, clamp 0 .. 175, grid 0.01, output grid 0.0000001
--     rows for covar_pop: clamp 0 .. 100, grid 1, clamp 0 .. 175, grid 0.01, sensitivity 4, scale 3, epsilon 4/3 delta 0
--     centred sum for covar_pop: clamp 0 .. 100, grid 1, sensitivity 400, scale 300, epsilon 4/3 delta 0
--     centred sum for covar_pop: clamp 0 .. 175, grid 0.01, sensitivity 70000, scale 52500, epsilon 4/3 delta 0
--     centred products for covar_pop: clamp 0 .. 100, grid 1, clamp 0 .. 175, grid 0.01, sensitivity 7000000, scale 5250000, epsilon 4/3 delta 0
--     centred squares for regr_r2: clamp 0 .. 175, grid 0.01, sensitivity 1225000000, scale 918750000, epsilon 4/3 delta 0
--     centred squares for regr_r2: clamp 0 .. 100, grid 1, sensitivity 40000, scale 30000, epsilon 4/3 delta 0
-- => backend
SELECT k1, pg_catalog.sum(least(v0, %(p2)s::bigint)), pg_catalog.sum(CASE WHEN v1 IS NOT NULL THEN least(greatest(CASE WHEN v0 <= least(v0, %(p2)s::bigint) THEN v1 ELSE pg_catalog.round(v1::numeric * least(v0, %(p2)s::bigint) / v0) END, least(v0, %(p2)s::bigint) * %(p6)s::bigint), least(v0, %(p2)s::bigint) * %(p3)s::bigint) END), pg_catalog.sum(CASE WHEN v2 IS NOT NULL THEN least(greatest(CASE WHEN v3 <= least(v3, %(p2)s::bigint) THEN v2 ELSE pg_catalog.round(v2::numeric * least(v3, %(p2)s::bigint) / v3) END, least(v3, %(p2)s::bigint) * %(p10)s::bigint), least(v3, %(p2)s::bigint) * %(p7)s::bigint) END), pg_catalog.sum(CASE WHEN v4 IS NOT NULL THEN least(greatest(CASE WHEN v0 <= least(v0, %(p2)s::bigint) THEN v4 ELSE pg_catalog.round(v4::numeric * least(v0, %(p2)s::bigint) / v0) END, least(v0, %(p2)s::bigint) * %(p11)s::bigint), least(v0, %(p2)s::bigint) * %(p12)s::bigint) END), pg_catalog.sum(CASE WHEN v5 IS NOT NULL THEN least(greatest(CASE WHEN v3 <= least(v3, %(p2)s::bigint) THEN v5 ELSE pg_catalog.round(v5::numeric * least(v3, %(p2)s::bigint) / v3) END, least(v3, %(p2)s::bigint) * %(p14)s::bigint), least(v3, %(p2)s::bigint) * %(p13)s::bigint) END), pg_catalog.sum(CASE WHEN v6 IS NOT NULL THEN least(greatest(CASE WHEN v0 <= least(v0, %(p2)s::bigint) THEN v6 ELSE pg_catalog.round(v6::numeric * least(v0, %(p2)s::bigint) / v0) END, least(v0, %(p2)s::bigint) * %(p16)s::bigint), least(v0, %(p2)s::bigint) * %(p15)s::bigint) END) FROM (SELECT * FROM (SELECT *, pg_catalog.row_number() OVER (PARTITION BY unit ORDER BY pg_catalog.hashint8extended(pg_catalog.hash_record_extended(ROW(g."unit", k1), %(p18)s::bigint), %(p18)s::bigint), k1) AS rank FROM (SELECT r1."uid" AS unit, (r1."t")::text AS k1, pg_catalog.count(r1."i4") FILTER (WHERE (r1."b" AND (NOT (r1."n2" IS NULL)))) AS v0, (2 * pg_catalog.sum((pg_catalog.int4larger(pg_catalog.int4smaller(r1."i4", %(p5)s::integer), %(p4)s::integer))::integer) FILTER (WHERE (r1."b" AND (NOT (r1."n2" IS NULL)))) - %(p3)s::bigint * pg_catalog.count(r1."i4") FILTER (WHERE (r1."b" AND (NOT (r1."n2" IS NULL)))))::bigint AS v1, (2 * pg_catalog.sum(pg_catalog.int4larger((pg_catalog.numeric_smaller(r1."n2" * %(p8)s::numeric, %(p9)s::numeric))::integer, %(p4)s::integer)) FILTER (WHERE (r1."b" AND (NOT (r1."i4" IS NULL)))) - %(p7)s::bigint * pg_catalog.count(r1."n2") FILTER (WHERE (r1."b" AND (NOT (r1."i4" IS NULL)))))::bigint AS v2, pg_catalog.count(r1."n2") FILTER (WHERE (r1."b" AND (NOT (r1."i4" IS NULL)))) AS v3, pg_catalog.sum((2 * ((pg_catalog.int4larger(pg_catalog.int4smaller(r1."i4", %(p5)s::integer), %(p4)s::integer))::integer)::bigint - %(p3)s::bigint)::bigint * (2 * (pg_catalog.int4larger((pg_catalog.numeric_smaller(r1."n2" * %(p8)s::numeric, %(p9)s::numeric))::integer, %(p4)s::integer))::bigint - %(p7)s::bigint)::bigint) FILTER (WHERE (r1."b" AND (NOT (r1."n2" IS NULL)))) AS v4, pg_catalog.sum((2 * ((2 * (pg_catalog.int4larger((pg_catalog.numeric_smaller(r1."n2" * %(p8)s::numeric, %(p9)s::numeric))::integer, %(p4)s::integer))::bigint - %(p7)s::bigint)::bigint) * ((2 * (pg_catalog.int4larger((pg_catalog.numeric_smaller(r1."n2" * %(p8)s::numeric, %(p9)s::numeric))::integer, %(p4)s::integer))::bigint - %(p7)s::bigint)::bigint) - %(p13)s::bigint)) FILTER (WHERE (r1."b" AND (NOT (r1."i4" IS NULL)))) AS v5, pg_catalog.sum((2 * ((2 * ((pg_catalog.int4larger(pg_catalog.int4smaller(r1."i4", %(p5)s::integer), %(p4)s::integer))::integer)::bigint - %(p3)s::bigint)::bigint) * ((2 * ((pg_catalog.int4larger(pg_catalog.int4smaller(r1."i4", %(p5)s::integer), %(p4)s::integer))::integer)::bigint - %(p3)s::bigint)::bigint) - %(p15)s::bigint)) FILTER (WHERE (r1."b" AND (NOT (r1."n2" IS NULL)))) AS v6 FROM "w"."orders" AS r1 WHERE r1."uid" IS NOT NULL AND (r1."t" = ANY(%(p17)s::text[]::text[]) OR r1."t" IS NULL) GROUP BY r1."uid", 2) g) c WHERE rank <= %(p2)s::bigint) u GROUP BY 1
--   p1 = 6
--   p2 = 2
--   p3 = 100
--   p4 = 0
--   p5 = 100
--   p6 = -100
--   p7 = 17500
--   p8 = 100
--   p9 = 17500
--   p10 = -17500
--   p11 = -1750000
--   p12 = 1750000
--   p13 = 306250000
--   p14 = -306250000
--   p15 = 10000
--   p16 = -10000
--   p17 = ['x', 'y', 'z']
--   p18 = random
-- => loss
-- epsilon 8 delta 0
-- => residual
SELECT dp_b1.k1 AS "t", dp_b1.a1 AS "covar_pop", dp_b1.a2 AS "regr_r2" FROM pg_catalog.jsonb_to_recordset(($1)::pg_catalog.jsonb->'b1') AS dp_b1(k1 pg_catalog.text, a1 double precision, a2 double precision)

-- case: a pair beside aggregates of its columns
-- policy: best
SELECT count(i4), avg(i4), corr(i4, i2) FROM people
-- => plan
-- w.people, unit 1 row(s), partitions by hash of r1."id"; keys none; cells 0
--   count: sensitivity 1, scale 3/8, epsilon 8/3 delta 0
--   avg made of releases 1, 10: clamp 0 .. 100, grid 1, output grid 0.00001
--   corr made of releases 4, 5, 6, 7, 8, 9: clamp 0 .. 100, grid 1, clamp -5 .. 10, grid 1, output grid 0.0000001
--     rows for corr: clamp 0 .. 100, grid 1, clamp -5 .. 10, grid 1, sensitivity 1, scale 9/4, epsilon 4/9 delta 0
--     centred sum for corr: clamp 0 .. 100, grid 1, sensitivity 100, scale 225, epsilon 4/9 delta 0
--     centred sum for corr: clamp -5 .. 10, grid 1, sensitivity 15, scale 135/4, epsilon 4/9 delta 0
--     centred products for corr: clamp -5 .. 10, grid 1, clamp 0 .. 100, grid 1, sensitivity 1500, scale 3375, epsilon 4/9 delta 0
--     centred squares for corr: clamp -5 .. 10, grid 1, sensitivity 225, scale 2025/4, epsilon 4/9 delta 0
--     centred squares for corr: clamp 0 .. 100, grid 1, sensitivity 10000, scale 22500, epsilon 4/9 delta 0
--     centred sum for avg: clamp 0 .. 100, grid 1, sensitivity 100, scale 75/2, epsilon 8/3 delta 0
-- => backend
SELECT pg_catalog.count(r1."i4"), pg_catalog.count(r1."i4") FILTER (WHERE (NOT (r1."i2" IS NULL))), (2 * pg_catalog.sum((pg_catalog.int4larger(pg_catalog.int4smaller(r1."i4", %(p3)s::integer), %(p2)s::integer))::integer) FILTER (WHERE (NOT (r1."i2" IS NULL))) - %(p1)s::bigint * pg_catalog.count(r1."i4") FILTER (WHERE (NOT (r1."i2" IS NULL))))::bigint, (2 * pg_catalog.sum((pg_catalog.int4larger(pg_catalog.int4smaller(r1."i2", %(p6)s::integer), %(p5)s::integer))::integer) FILTER (WHERE (NOT (r1."i4" IS NULL))) - %(p4)s::bigint * pg_catalog.count(r1."i2") FILTER (WHERE (NOT (r1."i4" IS NULL))))::bigint, pg_catalog.sum((2 * ((pg_catalog.int4larger(pg_catalog.int4smaller(r1."i2", %(p6)s::integer), %(p5)s::integer))::integer)::bigint - %(p4)s::bigint)::bigint * (2 * ((pg_catalog.int4larger(pg_catalog.int4smaller(r1."i4", %(p3)s::integer), %(p2)s::integer))::integer)::bigint - %(p1)s::bigint)::bigint) FILTER (WHERE (NOT (r1."i4" IS NULL))), pg_catalog.sum((2 * ((2 * ((pg_catalog.int4larger(pg_catalog.int4smaller(r1."i2", %(p6)s::integer), %(p5)s::integer))::integer)::bigint - %(p4)s::bigint)::bigint) * ((2 * ((pg_catalog.int4larger(pg_catalog.int4smaller(r1."i2", %(p6)s::integer), %(p5)s::integer))::integer)::bigint - %(p4)s::bigint)::bigint) - %(p7)s::bigint)) FILTER (WHERE (NOT (r1."i4" IS NULL))), pg_catalog.sum((2 * ((2 * ((pg_catalog.int4larger(pg_catalog.int4smaller(r1."i4", %(p3)s::integer), %(p2)s::integer))::integer)::bigint - %(p1)s::bigint)::bigint) * ((2 * ((pg_catalog.int4larger(pg_catalog.int4smaller(r1."i4", %(p3)s::integer), %(p2)s::integer))::integer)::bigint - %(p1)s::bigint)::bigint) - %(p8)s::bigint)) FILTER (WHERE (NOT (r1."i2" IS NULL))), (2 * pg_catalog.sum((pg_catalog.int4larger(pg_catalog.int4smaller(r1."i4", %(p3)s::integer), %(p2)s::integer))::integer) - %(p1)s::bigint * pg_catalog.count(r1."i4"))::bigint FROM "w"."people" AS r1
--   p1 = 100
--   p2 = 0
--   p3 = 100
--   p4 = 5
--   p5 = -5
--   p6 = 10
--   p7 = 225
--   p8 = 10000
-- => loss
-- epsilon 8 delta 0
-- => residual
SELECT dp_b1.a1 AS "count", dp_b1.a2 AS "avg", dp_b1.a3 AS "corr" FROM pg_catalog.jsonb_to_recordset(($1)::pg_catalog.jsonb->'b1') AS dp_b1(a1 bigint, a2 numeric, a3 double precision)

-- case: the same pair the other way round
SELECT regr_slope(i4, i2), regr_slope(i2, i4) FROM people
-- => plan
-- w.people, unit 1 row(s), partitions by hash of r1."id"; keys none; cells 0
--   regr_slope made of releases 3, 4, 5, 6, 7: clamp 0 .. 100, grid 1, clamp -5 .. 10, grid 1, output grid 0.0000001
--   regr_slope made of releases 3, 5, 4, 6, 8: clamp -5 .. 10, grid 1, clamp 0 .. 100, grid 1, output grid 0.00000001
--     rows for regr_slope: clamp 0 .. 100, grid 1, clamp -5 .. 10, grid 1, sensitivity 1, scale 3/4, epsilon 4/3 delta 0
--     centred sum for regr_slope: clamp 0 .. 100, grid 1, sensitivity 100, scale 75, epsilon 4/3 delta 0
--     centred sum for regr_slope: clamp -5 .. 10, grid 1, sensitivity 15, scale 45/4, epsilon 4/3 delta 0
--     centred products for regr_slope: clamp -5 .. 10, grid 1, clamp 0 .. 100, grid 1, sensitivity 1500, scale 1125, epsilon 4/3 delta 0
--     centred squares for regr_slope: clamp -5 .. 10, grid 1, sensitivity 225, scale 675/4, epsilon 4/3 delta 0
--     centred squares for regr_slope: clamp 0 .. 100, grid 1, sensitivity 10000, scale 7500, epsilon 4/3 delta 0
-- => backend
SELECT pg_catalog.count(r1."i4") FILTER (WHERE (NOT (r1."i2" IS NULL))), (2 * pg_catalog.sum((pg_catalog.int4larger(pg_catalog.int4smaller(r1."i4", %(p3)s::integer), %(p2)s::integer))::integer) FILTER (WHERE (NOT (r1."i2" IS NULL))) - %(p1)s::bigint * pg_catalog.count(r1."i4") FILTER (WHERE (NOT (r1."i2" IS NULL))))::bigint, (2 * pg_catalog.sum((pg_catalog.int4larger(pg_catalog.int4smaller(r1."i2", %(p6)s::integer), %(p5)s::integer))::integer) FILTER (WHERE (NOT (r1."i4" IS NULL))) - %(p4)s::bigint * pg_catalog.count(r1."i2") FILTER (WHERE (NOT (r1."i4" IS NULL))))::bigint, pg_catalog.sum((2 * ((pg_catalog.int4larger(pg_catalog.int4smaller(r1."i2", %(p6)s::integer), %(p5)s::integer))::integer)::bigint - %(p4)s::bigint)::bigint * (2 * ((pg_catalog.int4larger(pg_catalog.int4smaller(r1."i4", %(p3)s::integer), %(p2)s::integer))::integer)::bigint - %(p1)s::bigint)::bigint) FILTER (WHERE (NOT (r1."i4" IS NULL))), pg_catalog.sum((2 * ((2 * ((pg_catalog.int4larger(pg_catalog.int4smaller(r1."i2", %(p6)s::integer), %(p5)s::integer))::integer)::bigint - %(p4)s::bigint)::bigint) * ((2 * ((pg_catalog.int4larger(pg_catalog.int4smaller(r1."i2", %(p6)s::integer), %(p5)s::integer))::integer)::bigint - %(p4)s::bigint)::bigint) - %(p7)s::bigint)) FILTER (WHERE (NOT (r1."i4" IS NULL))), pg_catalog.sum((2 * ((2 * ((pg_catalog.int4larger(pg_catalog.int4smaller(r1."i4", %(p3)s::integer), %(p2)s::integer))::integer)::bigint - %(p1)s::bigint)::bigint) * ((2 * ((pg_catalog.int4larger(pg_catalog.int4smaller(r1."i4", %(p3)s::integer), %(p2)s::integer))::integer)::bigint - %(p1)s::bigint)::bigint) - %(p8)s::bigint)) FILTER (WHERE (NOT (r1."i2" IS NULL))) FROM "w"."people" AS r1
--   p1 = 100
--   p2 = 0
--   p3 = 100
--   p4 = 5
--   p5 = -5
--   p6 = 10
--   p7 = 225
--   p8 = 10000
-- => loss
-- epsilon 8 delta 0
-- => residual
SELECT dp_b1.a1 AS "regr_slope", dp_b1.a2 AS "regr_slope" FROM pg_catalog.jsonb_to_recordset(($1)::pg_catalog.jsonb->'b1') AS dp_b1(a1 double precision, a2 double precision)

-- case: a pair beside a median
SELECT avg(i4), covar_pop(i4, i4 + i2) FROM people
-- => plan
-- w.people, unit 1 row(s), partitions by hash of r1."id"; keys none; cells 91
--   avg: 0 .. 10000 steps of 0.01, fill 5000, 91 partitions, gate 743 units, scale 5, epsilon 4 delta 1/2000, each epsilon 19/5 delta 0.0005
--   covar_pop made of releases 3, 4, 5, 6: clamp 0 .. 100, grid 1, clamp -5 .. 110, grid 1, output grid 0.001
--     rows for covar_pop: clamp 0 .. 100, grid 1, clamp -5 .. 110, grid 1, sensitivity 1, scale 1, epsilon 1 delta 0
--     centred sum for covar_pop: clamp 0 .. 100, grid 1, sensitivity 100, scale 100, epsilon 1 delta 0
--     centred sum for covar_pop: clamp -5 .. 110, grid 1, sensitivity 115, scale 115, epsilon 1 delta 0
--     centred products for covar_pop: clamp -5 .. 110, grid 1, clamp 0 .. 100, grid 1, sensitivity 11500, scale 11500, epsilon 1 delta 0
-- => backend
SELECT x5, pg_catalog.count(x1), pg_catalog.sum((pg_catalog.int4larger(pg_catalog.int4smaller(x1, %(p2)s::integer), %(p1)s::integer))::integer), pg_catalog.count(x1) FILTER (WHERE x2), (2 * pg_catalog.sum((pg_catalog.int4larger(pg_catalog.int4smaller(x1, %(p2)s::integer), %(p1)s::integer))::integer) FILTER (WHERE x2) - %(p5)s::bigint * pg_catalog.count(x1) FILTER (WHERE x2))::bigint, (2 * pg_catalog.sum(pg_catalog.int8larger(pg_catalog.int8smaller((((pg_catalog.int4larger(pg_catalog.int4smaller(x1, %(p2)s::integer), %(p1)s::integer))::integer)::bigint + ((pg_catalog.int4larger(pg_catalog.int4smaller(x4, %(p4)s::integer), %(p3)s::integer))::integer)::bigint), %(p8)s::bigint), %(p7)s::bigint)) FILTER (WHERE x3) - %(p6)s::bigint * pg_catalog.count((pg_catalog.int4larger(pg_catalog.int4smaller(x4, %(p4)s::integer), %(p3)s::integer))::integer + (pg_catalog.int4larger(pg_catalog.int4smaller(x1, %(p2)s::integer), %(p1)s::integer))::integer) FILTER (WHERE x3))::bigint, pg_catalog.sum((2 * (pg_catalog.int8larger(pg_catalog.int8smaller((((pg_catalog.int4larger(pg_catalog.int4smaller(x1, %(p2)s::integer), %(p1)s::integer))::integer)::bigint + ((pg_catalog.int4larger(pg_catalog.int4smaller(x4, %(p4)s::integer), %(p3)s::integer))::integer)::bigint), %(p8)s::bigint), %(p7)s::bigint))::bigint - %(p6)s::bigint)::bigint * (2 * ((pg_catalog.int4larger(pg_catalog.int4smaller(x1, %(p2)s::integer), %(p1)s::integer))::integer)::bigint - %(p5)s::bigint)::bigint) FILTER (WHERE x3) FROM (SELECT r1."i4" AS x1, (NOT (((pg_catalog.int4larger(pg_catalog.int4smaller(r1."i4", %(p2)s::integer), %(p1)s::integer))::numeric + (pg_catalog.int4larger(pg_catalog.int4smaller(r1."i2", %(p4)s::integer), %(p3)s::integer))::numeric) IS NULL)) AS x2, (NOT (r1."i4" IS NULL)) AS x3, r1."i2" AS x4, pg_catalog.mod(((pg_catalog.hashint4extended(r1."id"::integer, %(p9)s::bigint)) & %(p10)s::bigint)::integer, %(p11)s::integer) AS x5 FROM "w"."people" AS r1 LIMIT ALL) r GROUP BY 1
--   p1 = 0
--   p2 = 100
--   p3 = -5
--   p4 = 10
--   p5 = 100
--   p6 = 105
--   p7 = -5
--   p8 = 110
--   p9 = random
--   p10 = 2147483647
--   p11 = 91
-- => loss
-- epsilon 8 delta 1/2000
-- => residual
SELECT dp_b1.a1 AS "avg", dp_b1.a2 AS "covar_pop" FROM pg_catalog.jsonb_to_recordset(($1)::pg_catalog.jsonb->'b1') AS dp_b1(a1 numeric, a2 double precision)

-- case: a pair with gaussian noise for the count
-- policy: gaussian
SELECT count(*), corr(n2, i4) FROM visits
-- => plan
-- w.visits, unit r1."uid": rows 5, groups None, per group None; keys none; cells 0
--   count(*): sensitivity 5, sigma 4.72905, epsilon 4 delta 1/2000
--   corr made of releases 3, 4, 5, 6, 7, 8: clamp 0 .. 175, grid 0.01, clamp 0 .. 100, grid 1, output grid 0.0000001
--     rows for corr: clamp 0 .. 175, grid 0.01, clamp 0 .. 100, grid 1, sensitivity 5, scale 15/2, epsilon 2/3 delta 0
--     centred sum for corr: clamp 0 .. 175, grid 0.01, sensitivity 87500, scale 131250, epsilon 2/3 delta 0
--     centred sum for corr: clamp 0 .. 100, grid 1, sensitivity 500, scale 750, epsilon 2/3 delta 0
--     centred products for corr: clamp 0 .. 100, grid 1, clamp 0 .. 175, grid 0.01, sensitivity 8750000, scale 13125000, epsilon 2/3 delta 0
--     centred squares for corr: clamp 0 .. 100, grid 1, sensitivity 50000, scale 75000, epsilon 2/3 delta 0
--     centred squares for corr: clamp 0 .. 175, grid 0.01, sensitivity 1531250000, scale 2296875000, epsilon 2/3 delta 0
-- => backend
SELECT pg_catalog.sum(least(v0, %(p1)s::bigint)), pg_catalog.sum(least(v1, %(p1)s::bigint)), pg_catalog.sum(CASE WHEN v2 IS NOT NULL THEN CASE WHEN v1 <= %(p1)s::bigint THEN v2::bigint ELSE (least(greatest(CASE WHEN v1 <= least(v1, %(p1)s::bigint) THEN v2 ELSE pg_catalog.round(v2::numeric * least(v1, %(p1)s::bigint) / v1) END, least(v1, %(p1)s::bigint) * %(p6)s::bigint), least(v1, %(p1)s::bigint) * %(p2)s::bigint))::bigint END END), pg_catalog.sum(CASE WHEN v3 IS NOT NULL THEN CASE WHEN v4 <= %(p1)s::bigint THEN v3::bigint ELSE (least(greatest(CASE WHEN v4 <= least(v4, %(p1)s::bigint) THEN v3 ELSE pg_catalog.round(v3::numeric * least(v4, %(p1)s::bigint) / v4) END, least(v4, %(p1)s::bigint) * %(p9)s::bigint), least(v4, %(p1)s::bigint) * %(p7)s::bigint))::bigint END END), pg_catalog.sum(CASE WHEN v5 IS NOT NULL THEN CASE WHEN v4 <= %(p1)s::bigint THEN v5::bigint ELSE (least(greatest(CASE WHEN v4 <= least(v4, %(p1)s::bigint) THEN v5 ELSE pg_catalog.round(v5::numeric * least(v4, %(p1)s::bigint) / v4) END, least(v4, %(p1)s::bigint) * %(p10)s::bigint), least(v4, %(p1)s::bigint) * %(p11)s::bigint))::bigint END END), pg_catalog.sum(CASE WHEN v6 IS NOT NULL THEN CASE WHEN v4 <= %(p1)s::bigint THEN v6::bigint ELSE (least(greatest(CASE WHEN v4 <= least(v4, %(p1)s::bigint) THEN v6 ELSE pg_catalog.round(v6::numeric * least(v4, %(p1)s::bigint) / v4) END, least(v4, %(p1)s::bigint) * %(p13)s::bigint), least(v4, %(p1)s::bigint) * %(p12)s::bigint))::bigint END END), pg_catalog.sum(CASE WHEN v7 IS NOT NULL THEN CASE WHEN v1 <= %(p1)s::bigint THEN v7::bigint ELSE (least(greatest(CASE WHEN v1 <= least(v1, %(p1)s::bigint) THEN v7 ELSE pg_catalog.round(v7::numeric * least(v1, %(p1)s::bigint) / v1) END, least(v1, %(p1)s::bigint) * %(p15)s::bigint), least(v1, %(p1)s::bigint) * %(p14)s::bigint))::bigint END END) FROM (SELECT r1."uid" AS unit, pg_catalog.count(*) AS v0, pg_catalog.count(r1."n2") FILTER (WHERE (NOT (r1."i4" IS NULL))) AS v1, (2 * pg_catalog.sum(pg_catalog.int4larger((pg_catalog.numeric_smaller(r1."n2" * %(p3)s::numeric, %(p4)s::numeric))::integer, %(p5)s::integer)) FILTER (WHERE (NOT (r1."i4" IS NULL))) - %(p2)s::bigint * pg_catalog.count(r1."n2") FILTER (WHERE (NOT (r1."i4" IS NULL))))::bigint AS v2, (2 * pg_catalog.sum((pg_catalog.int4larger(pg_catalog.int4smaller(r1."i4", %(p8)s::integer), %(p5)s::integer))::integer) FILTER (WHERE (NOT (r1."n2" IS NULL))) - %(p7)s::bigint * pg_catalog.count(r1."i4") FILTER (WHERE (NOT (r1."n2" IS NULL))))::bigint AS v3, pg_catalog.count(r1."i4") FILTER (WHERE (NOT (r1."n2" IS NULL))) AS v4, pg_catalog.sum((2 * ((pg_catalog.int4larger(pg_catalog.int4smaller(r1."i4", %(p8)s::integer), %(p5)s::integer))::integer)::bigint - %(p7)s::bigint)::bigint * (2 * (pg_catalog.int4larger((pg_catalog.numeric_smaller(r1."n2" * %(p3)s::numeric, %(p4)s::numeric))::integer, %(p5)s::integer))::bigint - %(p2)s::bigint)::bigint) FILTER (WHERE (NOT (r1."n2" IS NULL))) AS v5, pg_catalog.sum((2 * ((2 * ((pg_catalog.int4larger(pg_catalog.int4smaller(r1."i4", %(p8)s::integer), %(p5)s::integer))::integer)::bigint - %(p7)s::bigint)::bigint) * ((2 * ((pg_catalog.int4larger(pg_catalog.int4smaller(r1."i4", %(p8)s::integer), %(p5)s::integer))::integer)::bigint - %(p7)s::bigint)::bigint) - %(p12)s::bigint)) FILTER (WHERE (NOT (r1."n2" IS NULL))) AS v6, pg_catalog.sum((2 * ((2 * (pg_catalog.int4larger((pg_catalog.numeric_smaller(r1."n2" * %(p3)s::numeric, %(p4)s::numeric))::integer, %(p5)s::integer))::bigint - %(p2)s::bigint)::bigint) * ((2 * (pg_catalog.int4larger((pg_catalog.numeric_smaller(r1."n2" * %(p3)s::numeric, %(p4)s::numeric))::integer, %(p5)s::integer))::bigint - %(p2)s::bigint)::bigint) - %(p14)s::bigint)) FILTER (WHERE (NOT (r1."i4" IS NULL))) AS v7 FROM "w"."visits" AS r1 WHERE r1."uid" IS NOT NULL GROUP BY r1."uid") u
--   p1 = 5
--   p2 = 17500
--   p3 = 100
--   p4 = 17500
--   p5 = 0
--   p6 = -17500
--   p7 = 100
--   p8 = 100
--   p9 = -100
--   p10 = -1750000
--   p11 = 1750000
--   p12 = 10000
--   p13 = -10000
--   p14 = 306250000
--   p15 = -306250000
-- => loss
-- epsilon 8 delta 1/2000
-- => residual
SELECT dp_b1.a1 AS "count", dp_b1.a2 AS "corr" FROM pg_catalog.jsonb_to_recordset(($1)::pg_catalog.jsonb->'b1') AS dp_b1(a1 bigint, a2 double precision)

-- case: interval of a correlation
SELECT corr(i4, i2), dp.error(corr(i4, i2)) FROM people
-- => plan
-- w.people, unit 1 row(s), partitions by hash of r1."id"; keys none; cells 0
--   corr made of releases 2, 3, 4, 5, 6, 7: clamp 0 .. 100, grid 1, clamp -5 .. 10, grid 1, output grid 0.0000001
--     rows for corr: clamp 0 .. 100, grid 1, clamp -5 .. 10, grid 1, sensitivity 1, scale 3/4, epsilon 4/3 delta 0
--     centred sum for corr: clamp 0 .. 100, grid 1, sensitivity 100, scale 75, epsilon 4/3 delta 0
--     centred sum for corr: clamp -5 .. 10, grid 1, sensitivity 15, scale 45/4, epsilon 4/3 delta 0
--     centred products for corr: clamp -5 .. 10, grid 1, clamp 0 .. 100, grid 1, sensitivity 1500, scale 1125, epsilon 4/3 delta 0
--     centred squares for corr: clamp -5 .. 10, grid 1, sensitivity 225, scale 675/4, epsilon 4/3 delta 0
--     centred squares for corr: clamp 0 .. 100, grid 1, sensitivity 10000, scale 7500, epsilon 4/3 delta 0
-- => backend
SELECT pg_catalog.count(r1."i4") FILTER (WHERE (NOT (r1."i2" IS NULL))), (2 * pg_catalog.sum((pg_catalog.int4larger(pg_catalog.int4smaller(r1."i4", %(p3)s::integer), %(p2)s::integer))::integer) FILTER (WHERE (NOT (r1."i2" IS NULL))) - %(p1)s::bigint * pg_catalog.count(r1."i4") FILTER (WHERE (NOT (r1."i2" IS NULL))))::bigint, (2 * pg_catalog.sum((pg_catalog.int4larger(pg_catalog.int4smaller(r1."i2", %(p6)s::integer), %(p5)s::integer))::integer) FILTER (WHERE (NOT (r1."i4" IS NULL))) - %(p4)s::bigint * pg_catalog.count(r1."i2") FILTER (WHERE (NOT (r1."i4" IS NULL))))::bigint, pg_catalog.sum((2 * ((pg_catalog.int4larger(pg_catalog.int4smaller(r1."i2", %(p6)s::integer), %(p5)s::integer))::integer)::bigint - %(p4)s::bigint)::bigint * (2 * ((pg_catalog.int4larger(pg_catalog.int4smaller(r1."i4", %(p3)s::integer), %(p2)s::integer))::integer)::bigint - %(p1)s::bigint)::bigint) FILTER (WHERE (NOT (r1."i4" IS NULL))), pg_catalog.sum((2 * ((2 * ((pg_catalog.int4larger(pg_catalog.int4smaller(r1."i2", %(p6)s::integer), %(p5)s::integer))::integer)::bigint - %(p4)s::bigint)::bigint) * ((2 * ((pg_catalog.int4larger(pg_catalog.int4smaller(r1."i2", %(p6)s::integer), %(p5)s::integer))::integer)::bigint - %(p4)s::bigint)::bigint) - %(p7)s::bigint)) FILTER (WHERE (NOT (r1."i4" IS NULL))), pg_catalog.sum((2 * ((2 * ((pg_catalog.int4larger(pg_catalog.int4smaller(r1."i4", %(p3)s::integer), %(p2)s::integer))::integer)::bigint - %(p1)s::bigint)::bigint) * ((2 * ((pg_catalog.int4larger(pg_catalog.int4smaller(r1."i4", %(p3)s::integer), %(p2)s::integer))::integer)::bigint - %(p1)s::bigint)::bigint) - %(p8)s::bigint)) FILTER (WHERE (NOT (r1."i2" IS NULL))) FROM "w"."people" AS r1
--   p1 = 100
--   p2 = 0
--   p3 = 100
--   p4 = 5
--   p5 = -5
--   p6 = 10
--   p7 = 225
--   p8 = 10000
-- => loss
-- epsilon 8 delta 0
-- => residual
SELECT dp_b1.a1 AS "corr", dp_b1.e1 AS "error" FROM pg_catalog.jsonb_to_recordset(($1)::pg_catalog.jsonb->'b1') AS dp_b1(a1 double precision, e1 double precision)

-- case: a pair over a join
SELECT covar_pop(m.i4, o.n2) FROM members m JOIN orders o ON m.uid = o.uid
-- => plan
-- w.members, w.orders, unit r1."uid": rows 6, groups None, per group None; keys none; cells 0
--   covar_pop made of releases 2, 3, 4, 5: clamp 0 .. 100, grid 1, clamp 0 .. 175, grid 0.01, output grid 0.001
--     rows for covar_pop: clamp 0 .. 100, grid 1, clamp 0 .. 175, grid 0.01, sensitivity 6, scale 3, epsilon 2 delta 0
--     centred sum for covar_pop: clamp 0 .. 100, grid 1, sensitivity 600, scale 300, epsilon 2 delta 0
--     centred sum for covar_pop: clamp 0 .. 175, grid 0.01, sensitivity 105000, scale 52500, epsilon 2 delta 0
--     centred products for covar_pop: clamp 0 .. 100, grid 1, clamp 0 .. 175, grid 0.01, sensitivity 10500000, scale 5250000, epsilon 2 delta 0
-- => backend
SELECT pg_catalog.sum(least(v0, %(p1)s::bigint)), pg_catalog.sum(CASE WHEN v1 IS NOT NULL THEN CASE WHEN v0 <= %(p1)s::bigint THEN v1::bigint ELSE (least(greatest(CASE WHEN v0 <= least(v0, %(p1)s::bigint) THEN v1 ELSE pg_catalog.round(v1::numeric * least(v0, %(p1)s::bigint) / v0) END, least(v0, %(p1)s::bigint) * %(p5)s::bigint), least(v0, %(p1)s::bigint) * %(p2)s::bigint))::bigint END END), pg_catalog.sum(CASE WHEN v2 IS NOT NULL THEN CASE WHEN v3 <= %(p1)s::bigint THEN v2::bigint ELSE (least(greatest(CASE WHEN v3 <= least(v3, %(p1)s::bigint) THEN v2 ELSE pg_catalog.round(v2::numeric * least(v3, %(p1)s::bigint) / v3) END, least(v3, %(p1)s::bigint) * %(p9)s::bigint), least(v3, %(p1)s::bigint) * %(p6)s::bigint))::bigint END END), pg_catalog.sum(CASE WHEN v4 IS NOT NULL THEN CASE WHEN v0 <= %(p1)s::bigint THEN v4::bigint ELSE (least(greatest(CASE WHEN v0 <= least(v0, %(p1)s::bigint) THEN v4 ELSE pg_catalog.round(v4::numeric * least(v0, %(p1)s::bigint) / v0) END, least(v0, %(p1)s::bigint) * %(p10)s::bigint), least(v0, %(p1)s::bigint) * %(p11)s::bigint))::bigint END END) FROM (SELECT r1."uid" AS unit, pg_catalog.count(r1."i4") FILTER (WHERE (NOT (r2."n2" IS NULL))) AS v0, (2 * pg_catalog.sum((pg_catalog.int4larger(pg_catalog.int4smaller(r1."i4", %(p4)s::integer), %(p3)s::integer))::integer) FILTER (WHERE (NOT (r2."n2" IS NULL))) - %(p2)s::bigint * pg_catalog.count(r1."i4") FILTER (WHERE (NOT (r2."n2" IS NULL))))::bigint AS v1, (2 * pg_catalog.sum(pg_catalog.int4larger((pg_catalog.numeric_smaller(r2."n2" * %(p7)s::numeric, %(p8)s::numeric))::integer, %(p3)s::integer)) FILTER (WHERE (NOT (r1."i4" IS NULL))) - %(p6)s::bigint * pg_catalog.count(r2."n2") FILTER (WHERE (NOT (r1."i4" IS NULL))))::bigint AS v2, pg_catalog.count(r2."n2") FILTER (WHERE (NOT (r1."i4" IS NULL))) AS v3, pg_catalog.sum((2 * ((pg_catalog.int4larger(pg_catalog.int4smaller(r1."i4", %(p4)s::integer), %(p3)s::integer))::integer)::bigint - %(p2)s::bigint)::bigint * (2 * (pg_catalog.int4larger((pg_catalog.numeric_smaller(r2."n2" * %(p7)s::numeric, %(p8)s::numeric))::integer, %(p3)s::integer))::bigint - %(p6)s::bigint)::bigint) FILTER (WHERE (NOT (r2."n2" IS NULL))) AS v4 FROM ((SELECT r1."i4" AS c1, r1."uid" AS c2, r2."n2" AS c3, r2."uid" AS c4 FROM ((SELECT r1."i4", r1."uid" FROM "w"."members" AS r1 WHERE r1."uid" IS NOT NULL) AS r1 FULL JOIN "w"."orders" AS r2 ON (r1."uid" = r2."uid")) WHERE CASE WHEN r1."uid" IS NOT NULL AND r2."uid" IS NOT NULL THEN TRUE ELSE FALSE END LIMIT ALL) AS j1 CROSS JOIN LATERAL (SELECT j1.c1 AS "i4", j1.c2 AS "uid") AS r1 CROSS JOIN LATERAL (SELECT j1.c3 AS "n2", j1.c4 AS "uid") AS r2) GROUP BY r1."uid") u
--   p1 = 6
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
-- => loss
-- epsilon 8 delta 0
-- => residual
SELECT dp_b1.a1 AS "covar_pop" FROM pg_catalog.jsonb_to_recordset(($1)::pg_catalog.jsonb->'b1') AS dp_b1(a1 double precision)

-- case: a pair of one and the same
SELECT corr(i4, i4), covar_pop(i4, i4) FROM people
-- => plan
-- w.people, unit 1 row(s), partitions by hash of r1."id"; keys none; cells 0
--   corr made of releases 3, 4, 4, 5, 6, 6: clamp 0 .. 100, grid 1, clamp 0 .. 100, grid 1, output grid 0.0000001
--   covar_pop made of releases 3, 4, 4, 5: clamp 0 .. 100, grid 1, clamp 0 .. 100, grid 1, output grid 0.001
--     rows for corr: clamp 0 .. 100, grid 1, clamp 0 .. 100, grid 1, sensitivity 1, scale 1/2, epsilon 2 delta 0
--     centred sum for corr: clamp 0 .. 100, grid 1, sensitivity 100, scale 50, epsilon 2 delta 0
--     centred products for corr: clamp 0 .. 100, grid 1, clamp 0 .. 100, grid 1, sensitivity 10000, scale 5000, epsilon 2 delta 0
--     centred squares for corr: clamp 0 .. 100, grid 1, sensitivity 10000, scale 5000, epsilon 2 delta 0
-- => backend
SELECT pg_catalog.count(r1."i4") FILTER (WHERE (NOT (r1."i4" IS NULL))), (2 * pg_catalog.sum((pg_catalog.int4larger(pg_catalog.int4smaller(r1."i4", %(p3)s::integer), %(p2)s::integer))::integer) FILTER (WHERE (NOT (r1."i4" IS NULL))) - %(p1)s::bigint * pg_catalog.count(r1."i4") FILTER (WHERE (NOT (r1."i4" IS NULL))))::bigint, pg_catalog.sum((2 * ((pg_catalog.int4larger(pg_catalog.int4smaller(r1."i4", %(p3)s::integer), %(p2)s::integer))::integer)::bigint - %(p1)s::bigint)::bigint * (2 * ((pg_catalog.int4larger(pg_catalog.int4smaller(r1."i4", %(p3)s::integer), %(p2)s::integer))::integer)::bigint - %(p1)s::bigint)::bigint) FILTER (WHERE (NOT (r1."i4" IS NULL))), pg_catalog.sum((2 * ((2 * ((pg_catalog.int4larger(pg_catalog.int4smaller(r1."i4", %(p3)s::integer), %(p2)s::integer))::integer)::bigint - %(p1)s::bigint)::bigint) * ((2 * ((pg_catalog.int4larger(pg_catalog.int4smaller(r1."i4", %(p3)s::integer), %(p2)s::integer))::integer)::bigint - %(p1)s::bigint)::bigint) - %(p4)s::bigint)) FILTER (WHERE (NOT (r1."i4" IS NULL))) FROM "w"."people" AS r1
--   p1 = 100
--   p2 = 0
--   p3 = 100
--   p4 = 10000
-- => loss
-- epsilon 8 delta 0
-- => residual
SELECT dp_b1.a1 AS "corr", dp_b1.a2 AS "covar_pop" FROM pg_catalog.jsonb_to_recordset(($1)::pg_catalog.jsonb->'b1') AS dp_b1(a1 double precision, a2 double precision)

-- case: a pair of one and the same alone
SELECT corr(i2, i2) FROM orders
-- => plan
-- w.orders, unit r1."uid": rows 6, groups None, per group None; keys none; cells 0
--   corr made of releases 2, 3, 3, 4, 5, 5: clamp -5 .. 10, grid 1, clamp -5 .. 10, grid 1, output grid 0.0000001
--     rows for corr: clamp -5 .. 10, grid 1, clamp -5 .. 10, grid 1, sensitivity 6, scale 3, epsilon 2 delta 0
--     centred sum for corr: clamp -5 .. 10, grid 1, sensitivity 90, scale 45, epsilon 2 delta 0
--     centred products for corr: clamp -5 .. 10, grid 1, clamp -5 .. 10, grid 1, sensitivity 1350, scale 675, epsilon 2 delta 0
--     centred squares for corr: clamp -5 .. 10, grid 1, sensitivity 1350, scale 675, epsilon 2 delta 0
-- => backend
SELECT pg_catalog.sum(least(v0, %(p1)s::bigint)), pg_catalog.sum(CASE WHEN v1 IS NOT NULL THEN CASE WHEN v0 <= %(p1)s::bigint THEN v1::bigint ELSE (least(greatest(CASE WHEN v0 <= least(v0, %(p1)s::bigint) THEN v1 ELSE pg_catalog.round(v1::numeric * least(v0, %(p1)s::bigint) / v0) END, least(v0, %(p1)s::bigint) * %(p5)s::bigint), least(v0, %(p1)s::bigint) * %(p6)s::bigint))::bigint END END), pg_catalog.sum(CASE WHEN v2 IS NOT NULL THEN CASE WHEN v0 <= %(p1)s::bigint THEN v2::bigint ELSE (least(greatest(CASE WHEN v0 <= least(v0, %(p1)s::bigint) THEN v2 ELSE pg_catalog.round(v2::numeric * least(v0, %(p1)s::bigint) / v0) END, least(v0, %(p1)s::bigint) * %(p7)s::bigint), least(v0, %(p1)s::bigint) * %(p8)s::bigint))::bigint END END), pg_catalog.sum(CASE WHEN v3 IS NOT NULL THEN CASE WHEN v0 <= %(p1)s::bigint THEN v3::bigint ELSE (least(greatest(CASE WHEN v0 <= least(v0, %(p1)s::bigint) THEN v3 ELSE pg_catalog.round(v3::numeric * least(v0, %(p1)s::bigint) / v0) END, least(v0, %(p1)s::bigint) * %(p7)s::bigint), least(v0, %(p1)s::bigint) * %(p8)s::bigint))::bigint END END) FROM (SELECT r1."uid" AS unit, pg_catalog.count(r1."i2") FILTER (WHERE (NOT (r1."i2" IS NULL))) AS v0, (2 * pg_catalog.sum((pg_catalog.int4larger(pg_catalog.int4smaller(r1."i2", %(p4)s::integer), %(p3)s::integer))::integer) FILTER (WHERE (NOT (r1."i2" IS NULL))) - %(p2)s::bigint * pg_catalog.count(r1."i2") FILTER (WHERE (NOT (r1."i2" IS NULL))))::bigint AS v1, pg_catalog.sum((2 * ((pg_catalog.int4larger(pg_catalog.int4smaller(r1."i2", %(p4)s::integer), %(p3)s::integer))::integer)::bigint - %(p2)s::bigint)::bigint * (2 * ((pg_catalog.int4larger(pg_catalog.int4smaller(r1."i2", %(p4)s::integer), %(p3)s::integer))::integer)::bigint - %(p2)s::bigint)::bigint) FILTER (WHERE (NOT (r1."i2" IS NULL))) AS v2, pg_catalog.sum((2 * ((2 * ((pg_catalog.int4larger(pg_catalog.int4smaller(r1."i2", %(p4)s::integer), %(p3)s::integer))::integer)::bigint - %(p2)s::bigint)::bigint) * ((2 * ((pg_catalog.int4larger(pg_catalog.int4smaller(r1."i2", %(p4)s::integer), %(p3)s::integer))::integer)::bigint - %(p2)s::bigint)::bigint) - %(p8)s::bigint)) FILTER (WHERE (NOT (r1."i2" IS NULL))) AS v3 FROM "w"."orders" AS r1 WHERE r1."uid" IS NOT NULL GROUP BY r1."uid") u
--   p1 = 6
--   p2 = 5
--   p3 = -5
--   p4 = 10
--   p5 = -15
--   p6 = 15
--   p7 = -225
--   p8 = 225
-- => loss
-- epsilon 8 delta 0
-- => residual
SELECT dp_b1.a1 AS "corr" FROM pg_catalog.jsonb_to_recordset(($1)::pg_catalog.jsonb->'b1') AS dp_b1(a1 double precision)
