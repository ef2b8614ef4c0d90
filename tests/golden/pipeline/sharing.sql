-- case: a mean shares its count with COUNT
-- policy: best
SELECT count(i4), avg(i4) FROM people
-- => plan
-- w.people, unit 1 row(s), partitions by hash of r1."id"; keys none; cells 0
--   count: sensitivity 1, scale 1/4, epsilon 4 delta 0
--   avg made of releases 1, 3: clamp 0 .. 100, grid 1, output grid 0.00001
--     centred sum for avg: clamp 0 .. 100, grid 1, sensitivity 100, scale 25, epsilon 4 delta 0
-- => backend
SELECT pg_catalog.count(r1."i4"), (2 * pg_catalog.sum((pg_catalog.int4larger(pg_catalog.int4smaller(r1."i4", %(p3)s::integer), %(p2)s::integer))::integer) - %(p1)s::bigint * pg_catalog.count(r1."i4")) FROM "w"."people" AS r1
--   p1 = 100
--   p2 = 0
--   p3 = 100
-- => loss
-- epsilon 8 delta 0
-- => residual
SELECT dp_b1.a1 AS "count", dp_b1.a2 AS "avg" FROM pg_catalog.jsonb_to_recordset(($1)::pg_catalog.jsonb->'b1') AS dp_b1(a1 bigint, a2 numeric)

-- case: sum, count and mean of one column are two noisy results
-- policy: best
SELECT sum(i4), count(i4), avg(i4) FROM people
-- => plan
-- w.people, unit 1 row(s), partitions by hash of r1."id"; keys none; cells 0
--   sum made of releases 2, 4: clamp 0 .. 100, grid 1, output grid 1
--   count: sensitivity 1, scale 1/4, epsilon 4 delta 0
--   avg made of releases 2, 4: clamp 0 .. 100, grid 1, output grid 0.00001
--     centred sum for sum: clamp 0 .. 100, grid 1, sensitivity 100, scale 25, epsilon 4 delta 0
-- => backend
SELECT pg_catalog.count(r1."i4"), (2 * pg_catalog.sum((pg_catalog.int4larger(pg_catalog.int4smaller(r1."i4", %(p3)s::integer), %(p2)s::integer))::integer) - %(p1)s::bigint * pg_catalog.count(r1."i4")) FROM "w"."people" AS r1
--   p1 = 100
--   p2 = 0
--   p3 = 100
-- => loss
-- epsilon 8 delta 0
-- => residual
SELECT dp_b1.a1 AS "sum", dp_b1.a2 AS "count", dp_b1.a3 AS "avg" FROM pg_catalog.jsonb_to_recordset(($1)::pg_catalog.jsonb->'b1') AS dp_b1(a1 bigint, a2 bigint, a3 numeric)

-- case: count of all rows is that of a column that is never null
-- policy: best
SELECT count(*), avg(id), count(id) FROM orders
-- => plan
-- w.orders, unit r1."uid": rows 6, groups None, per group None; keys none; cells 0
--   count(*): sensitivity 6, scale 3/2, epsilon 4 delta 0
--   avg made of releases 1, 4: clamp 0 .. 1000, grid 1, output grid 0.0001
--   count is release 1
--     centred sum for avg: clamp 0 .. 1000, grid 1, sensitivity 6000, scale 1500, epsilon 4 delta 0
-- => backend
SELECT pg_catalog.sum(least(v0, %(p1)s::bigint)), pg_catalog.sum(CASE WHEN v1 IS NOT NULL THEN least(greatest(CASE WHEN v2 <= least(v2, %(p1)s::bigint) THEN v1 ELSE pg_catalog.round(v1::numeric * least(v2, %(p1)s::bigint) / v2) END, least(v2, %(p1)s::bigint) * %(p5)s::bigint), least(v2, %(p1)s::bigint) * %(p2)s::bigint) END) FROM (SELECT r1."uid" AS unit, pg_catalog.count(*) AS v0, (2 * pg_catalog.sum((pg_catalog.int4larger(pg_catalog.int4smaller(r1."id", %(p4)s::integer), %(p3)s::integer))::integer) - %(p2)s::bigint * pg_catalog.count(r1."id")) AS v1, pg_catalog.count(r1."id") AS v2 FROM "w"."orders" AS r1 WHERE r1."uid" IS NOT NULL GROUP BY r1."uid") u
--   p1 = 6
--   p2 = 1000
--   p3 = 0
--   p4 = 1000
--   p5 = -1000
-- => loss
-- epsilon 8 delta 0
-- => residual
SELECT dp_b1.a1 AS "count", dp_b1.a2 AS "avg", dp_b1.a3 AS "count" FROM pg_catalog.jsonb_to_recordset(($1)::pg_catalog.jsonb->'b1') AS dp_b1(a1 bigint, a2 numeric, a3 bigint)

-- case: equal counts cost once without a mean too
SELECT count(*), count(id), sum(i4) FROM orders
-- => plan
-- w.orders, unit r1."uid": rows 6, groups None, per group None; keys none; cells 0
--   count(*): sensitivity 6, scale 3/2, epsilon 4 delta 0
--   count is release 1
--   sum: clamp 0 .. 100, grid 1, sensitivity 600 steps, scale 150, epsilon 4 delta 0
-- => backend
SELECT pg_catalog.sum(least(v0, %(p1)s::bigint)), pg_catalog.sum(CASE WHEN v1 IS NOT NULL THEN least(greatest(v1, %(p1)s::bigint * %(p4)s::bigint), %(p1)s::bigint * %(p5)s::bigint) END) FROM (SELECT r1."uid" AS unit, pg_catalog.count(*) AS v0, pg_catalog.sum((pg_catalog.int4larger(pg_catalog.int4smaller(r1."i4", %(p3)s::integer), %(p2)s::integer))::integer) AS v1 FROM "w"."orders" AS r1 WHERE r1."uid" IS NOT NULL GROUP BY r1."uid") u
--   p1 = 6
--   p2 = 0
--   p3 = 100
--   p4 = 0
--   p5 = 100
-- => loss
-- epsilon 8 delta 0
-- => residual
SELECT dp_b1.a1 AS "count", dp_b1.a2 AS "count", dp_b1.a3 AS "sum" FROM pg_catalog.jsonb_to_recordset(($1)::pg_catalog.jsonb->'b1') AS dp_b1(a1 bigint, a2 bigint, a3 bigint)

-- case: a column that may be null does not share with count of all rows
-- policy: best
SELECT count(*), avg(i4) FROM people
-- => plan
-- w.people, unit 1 row(s), partitions by hash of r1."id"; keys none; cells 0
--   count(*): sensitivity 1, scale 1/4, epsilon 4 delta 0
--   avg from moments: clamp 0 .. 100, grid 1, rows 1, output grid 0.00001, epsilon 4 delta 0
-- => backend
SELECT pg_catalog.count(*), pg_catalog.count(r1."i4"), (2 * pg_catalog.sum((pg_catalog.int4larger(pg_catalog.int4smaller(r1."i4", %(p3)s::integer), %(p2)s::integer))::integer) - %(p1)s::bigint * pg_catalog.count(r1."i4")) FROM "w"."people" AS r1
--   p1 = 100
--   p2 = 0
--   p3 = 100
-- => loss
-- epsilon 8 delta 0
-- => residual
SELECT dp_b1.a1 AS "count", dp_b1.a2 AS "avg" FROM pg_catalog.jsonb_to_recordset(($1)::pg_catalog.jsonb->'b1') AS dp_b1(a1 bigint, a2 numeric)

-- case: never null only where no outer join makes it null
-- policy: best
SELECT count(*), avg(o.id), count(o.id) FROM members m LEFT JOIN orders o ON m.uid = o.uid
-- => plan
-- w.members, w.orders, unit r1."uid": rows 6, groups None, per group None; keys none; cells 0
--   count(*): sensitivity 6, scale 9/4, epsilon 8/3 delta 0
--   avg made of releases 3, 4: clamp 0 .. 1000, grid 1, output grid 0.0001
--   count: sensitivity 6, scale 9/4, epsilon 8/3 delta 0
--     centred sum for avg: clamp 0 .. 1000, grid 1, sensitivity 6000, scale 2250, epsilon 8/3 delta 0
-- => backend
SELECT pg_catalog.sum(least(v0, %(p1)s::bigint)), pg_catalog.sum(least(v1, %(p1)s::bigint)), pg_catalog.sum(CASE WHEN v2 IS NOT NULL THEN least(greatest(CASE WHEN v1 <= least(v1, %(p1)s::bigint) THEN v2 ELSE pg_catalog.round(v2::numeric * least(v1, %(p1)s::bigint) / v1) END, least(v1, %(p1)s::bigint) * %(p5)s::bigint), least(v1, %(p1)s::bigint) * %(p2)s::bigint) END) FROM (SELECT r1."uid" AS unit, pg_catalog.count(*) AS v0, pg_catalog.count(r2."id") AS v1, (2 * pg_catalog.sum((pg_catalog.int4larger(pg_catalog.int4smaller(r2."id", %(p4)s::integer), %(p3)s::integer))::integer) - %(p2)s::bigint * pg_catalog.count(r2."id")) AS v2 FROM ((SELECT r1."uid" AS c1, r2."id" AS c2, r2."uid" AS c3 FROM (((SELECT r1."uid" FROM "w"."members" AS r1 WHERE r1."uid" IS NOT NULL) AS r1 CROSS JOIN (SELECT TRUE AS here) AS m1) FULL JOIN "w"."orders" AS r2 ON (r1."uid" = r2."uid")) WHERE CASE WHEN m1.here THEN TRUE ELSE FALSE END LIMIT ALL) AS j2 CROSS JOIN LATERAL (SELECT j2.c1 AS "uid") AS r1 CROSS JOIN LATERAL (SELECT j2.c2 AS "id", j2.c3 AS "uid") AS r2) GROUP BY r1."uid") u
--   p1 = 6
--   p2 = 1000
--   p3 = 0
--   p4 = 1000
--   p5 = -1000
-- => loss
-- epsilon 8 delta 0
-- => residual
SELECT dp_b1.a1 AS "count", dp_b1.a2 AS "avg", dp_b1.a3 AS "count" FROM pg_catalog.jsonb_to_recordset(($1)::pg_catalog.jsonb->'b1') AS dp_b1(a1 bigint, a2 numeric, a3 bigint)

-- case: filters must be equal to share
-- policy: best
SELECT count(i4) FILTER (WHERE b), avg(i4), avg(i4) FILTER (WHERE b) FROM people
-- => plan
-- w.people, unit 1 row(s), partitions by hash of r1."id"; keys none; cells 0
--   count: sensitivity 1, scale 3/8, epsilon 8/3 delta 0
--   avg from moments: clamp 0 .. 100, grid 1, rows 1, output grid 0.00001, epsilon 8/3 delta 0
--   avg made of releases 1, 4: clamp 0 .. 100, grid 1, output grid 0.00001
--     centred sum for avg: clamp 0 .. 100, grid 1, sensitivity 100, scale 75/2, epsilon 8/3 delta 0
-- => backend
SELECT pg_catalog.count(r1."i4") FILTER (WHERE r1."b"), pg_catalog.count(r1."i4"), (2 * pg_catalog.sum((pg_catalog.int4larger(pg_catalog.int4smaller(r1."i4", %(p3)s::integer), %(p2)s::integer))::integer) - %(p1)s::bigint * pg_catalog.count(r1."i4")), (2 * pg_catalog.sum((pg_catalog.int4larger(pg_catalog.int4smaller(r1."i4", %(p3)s::integer), %(p2)s::integer))::integer) FILTER (WHERE r1."b") - %(p1)s::bigint * pg_catalog.count(r1."i4") FILTER (WHERE r1."b")) FROM "w"."people" AS r1
--   p1 = 100
--   p2 = 0
--   p3 = 100
-- => loss
-- epsilon 8 delta 0
-- => residual
SELECT dp_b1.a1 AS "count", dp_b1.a2 AS "avg", dp_b1.a3 AS "avg" FROM pg_catalog.jsonb_to_recordset(($1)::pg_catalog.jsonb->'b1') AS dp_b1(a1 bigint, a2 numeric, a3 numeric)

-- case: spellings of variance share three sums
SELECT variance(i4), var_pop(i4), stddev(i4), stddev_pop(i4) FROM people
-- => plan
-- w.people, unit 1 row(s), partitions by hash of r1."id"; keys none; cells 0
--   var_samp made of releases 5, 6, 7: clamp 0 .. 100, grid 1, output grid 0.00001
--   var_pop made of releases 5, 6, 7: clamp 0 .. 100, grid 1, output grid 0.00001
--   stddev_samp made of releases 5, 6, 7: clamp 0 .. 100, grid 1, output grid 0.00001
--   stddev_pop made of releases 5, 6, 7: clamp 0 .. 100, grid 1, output grid 0.00001
--     rows for var_samp: clamp 0 .. 100, grid 1, sensitivity 1, scale 3/8, epsilon 8/3 delta 0
--     centred sum for var_samp: clamp 0 .. 100, grid 1, sensitivity 100, scale 75/2, epsilon 8/3 delta 0
--     centred squares for var_samp: clamp 0 .. 100, grid 1, sensitivity 10000, scale 3750, epsilon 8/3 delta 0
-- => backend
SELECT pg_catalog.count(r1."i4"), (2 * pg_catalog.sum((pg_catalog.int4larger(pg_catalog.int4smaller(r1."i4", %(p3)s::integer), %(p2)s::integer))::integer) - %(p1)s::bigint * pg_catalog.count(r1."i4")), pg_catalog.sum((2 * ((2 * ((pg_catalog.int4larger(pg_catalog.int4smaller(r1."i4", %(p3)s::integer), %(p2)s::integer))::integer)::bigint - %(p1)s::bigint)::bigint) * ((2 * ((pg_catalog.int4larger(pg_catalog.int4smaller(r1."i4", %(p3)s::integer), %(p2)s::integer))::integer)::bigint - %(p1)s::bigint)::bigint) - %(p4)s::bigint)) FROM "w"."people" AS r1
--   p1 = 100
--   p2 = 0
--   p3 = 100
--   p4 = 10000
-- => loss
-- epsilon 8 delta 0
-- => residual
SELECT dp_b1.a1 AS "variance", dp_b1.a2 AS "var_pop", dp_b1.a3 AS "stddev", dp_b1.a4 AS "stddev_pop" FROM pg_catalog.jsonb_to_recordset(($1)::pg_catalog.jsonb->'b1') AS dp_b1(a1 numeric, a2 numeric, a3 numeric, a4 numeric)

-- case: mean, deviation and count of a user's column
-- policy: best
SELECT t, count(n2), avg(n2), stddev(n2) FROM visits GROUP BY t
-- => plan
-- w.visits, unit r1."uid": rows 5, groups None, per group None; keys t of 4; cells 0
--   count: sensitivity 5, scale 15/8, epsilon 8/3 delta 0
--   avg made of releases 1, 4: clamp 0 .. 175, grid 0.01, output grid 0.00001
--   stddev_samp made of releases 1, 4, 5: clamp 0 .. 175, grid 0.01, output grid 0.00001
--     centred sum for avg: clamp 0 .. 175, grid 0.01, sensitivity 87500, scale 65625/2, epsilon 8/3 delta 0
--     centred squares for stddev_samp: clamp 0 .. 175, grid 0.01, sensitivity 1531250000, scale 574218750, epsilon 8/3 delta 0
-- => backend
SELECT k1, pg_catalog.sum(CASE WHEN total0 <= %(p1)s::bigint THEN v0 ELSE pg_catalog.div(v0::numeric * %(p1)s::bigint, total0)::bigint END), pg_catalog.sum(CASE WHEN v1 IS NOT NULL THEN least(greatest(CASE WHEN v0 <= CASE WHEN total0 <= %(p1)s::bigint THEN v0 ELSE pg_catalog.div(v0::numeric * %(p1)s::bigint, total0)::bigint END THEN v1 ELSE pg_catalog.round(v1::numeric * CASE WHEN total0 <= %(p1)s::bigint THEN v0 ELSE pg_catalog.div(v0::numeric * %(p1)s::bigint, total0)::bigint END / v0) END, CASE WHEN total0 <= %(p1)s::bigint THEN v0 ELSE pg_catalog.div(v0::numeric * %(p1)s::bigint, total0)::bigint END * %(p6)s::bigint), CASE WHEN total0 <= %(p1)s::bigint THEN v0 ELSE pg_catalog.div(v0::numeric * %(p1)s::bigint, total0)::bigint END * %(p2)s::bigint) END), pg_catalog.sum(CASE WHEN v2 IS NOT NULL THEN least(greatest(CASE WHEN v0 <= CASE WHEN total0 <= %(p1)s::bigint THEN v0 ELSE pg_catalog.div(v0::numeric * %(p1)s::bigint, total0)::bigint END THEN v2 ELSE pg_catalog.round(v2::numeric * CASE WHEN total0 <= %(p1)s::bigint THEN v0 ELSE pg_catalog.div(v0::numeric * %(p1)s::bigint, total0)::bigint END / v0) END, CASE WHEN total0 <= %(p1)s::bigint THEN v0 ELSE pg_catalog.div(v0::numeric * %(p1)s::bigint, total0)::bigint END * %(p8)s::bigint), CASE WHEN total0 <= %(p1)s::bigint THEN v0 ELSE pg_catalog.div(v0::numeric * %(p1)s::bigint, total0)::bigint END * %(p7)s::bigint) END) FROM (SELECT *, (pg_catalog.sum(v0) OVER (PARTITION BY unit))::bigint AS total0 FROM (SELECT r1."uid" AS unit, (r1."t")::text AS k1, pg_catalog.count(r1."n2") AS v0, (2 * pg_catalog.sum(pg_catalog.int4larger((pg_catalog.numeric_smaller(r1."n2" * %(p3)s::numeric, %(p4)s::numeric))::integer, %(p5)s::integer)) - %(p2)s::bigint * pg_catalog.count(r1."n2")) AS v1, pg_catalog.sum((2 * ((2 * (pg_catalog.int4larger((pg_catalog.numeric_smaller(r1."n2" * %(p3)s::numeric, %(p4)s::numeric))::integer, %(p5)s::integer))::bigint - %(p2)s::bigint)::bigint) * ((2 * (pg_catalog.int4larger((pg_catalog.numeric_smaller(r1."n2" * %(p3)s::numeric, %(p4)s::numeric))::integer, %(p5)s::integer))::bigint - %(p2)s::bigint)::bigint) - %(p7)s::bigint)) AS v2 FROM "w"."visits" AS r1 WHERE r1."uid" IS NOT NULL AND (r1."t" = ANY(%(p9)s::text[]::text[]) OR r1."t" IS NULL) GROUP BY r1."uid", 2) g) u GROUP BY 1
--   p1 = 5
--   p2 = 17500
--   p3 = 100
--   p4 = 17500
--   p5 = 0
--   p6 = -17500
--   p7 = 306250000
--   p8 = -306250000
--   p9 = ['x', 'y', 'z']
-- => loss
-- epsilon 8 delta 0
-- => residual
SELECT dp_b1.k1 AS "t", dp_b1.a1 AS "count", dp_b1.a2 AS "avg", dp_b1.a3 AS "stddev" FROM pg_catalog.jsonb_to_recordset(($1)::pg_catalog.jsonb->'b1') AS dp_b1(k1 pg_catalog.text, a1 bigint, a2 numeric, a3 numeric)

-- case: everything of one column by private keys
-- policy: best
SELECT s, sum(i4), count(i4), avg(i4), variance(i4) FROM orders GROUP BY s
-- => plan
-- w.orders, unit r1."uid": rows 6, groups 2, per group 2; keys s of private; cells 0
--   selection: epsilon 2 delta 1/4000, each epsilon 1 delta 0.000125
--   sum made of releases 2, 5: clamp 0 .. 100, grid 1, output grid 1
--   count: sensitivity 4, scale 2, epsilon 2 delta 0
--   avg made of releases 2, 5: clamp 0 .. 100, grid 1, output grid 0.00001
--   var_samp made of releases 2, 5, 6: clamp 0 .. 100, grid 1, output grid 0.00001
--     centred sum for sum: clamp 0 .. 100, grid 1, sensitivity 400, scale 200, epsilon 2 delta 0
--     centred squares for var_samp: clamp 0 .. 100, grid 1, sensitivity 40000, scale 20000, epsilon 2 delta 0
-- => backend
SELECT k1, pg_catalog.sum(least(v0, %(p2)s::bigint)), pg_catalog.sum(CASE WHEN v1 IS NOT NULL THEN least(greatest(CASE WHEN v0 <= least(v0, %(p2)s::bigint) THEN v1 ELSE pg_catalog.round(v1::numeric * least(v0, %(p2)s::bigint) / v0) END, least(v0, %(p2)s::bigint) * %(p6)s::bigint), least(v0, %(p2)s::bigint) * %(p3)s::bigint) END), pg_catalog.sum(CASE WHEN v2 IS NOT NULL THEN least(greatest(CASE WHEN v0 <= least(v0, %(p2)s::bigint) THEN v2 ELSE pg_catalog.round(v2::numeric * least(v0, %(p2)s::bigint) / v0) END, least(v0, %(p2)s::bigint) * %(p8)s::bigint), least(v0, %(p2)s::bigint) * %(p7)s::bigint) END), pg_catalog.count(*) FROM (SELECT * FROM (SELECT *, pg_catalog.row_number() OVER (PARTITION BY unit ORDER BY pg_catalog.hashint8extended(pg_catalog.hash_record_extended(ROW(g."unit", k1), %(p10)s::bigint), %(p10)s::bigint), k1) AS rank FROM (SELECT r1."uid" AS unit, (r1."s")::text AS k1, pg_catalog.count(r1."i4") AS v0, (2 * pg_catalog.sum((pg_catalog.int4larger(pg_catalog.int4smaller(r1."i4", %(p5)s::integer), %(p4)s::integer))::integer) - %(p3)s::bigint * pg_catalog.count(r1."i4")) AS v1, pg_catalog.sum((2 * ((2 * ((pg_catalog.int4larger(pg_catalog.int4smaller(r1."i4", %(p5)s::integer), %(p4)s::integer))::integer)::bigint - %(p3)s::bigint)::bigint) * ((2 * ((pg_catalog.int4larger(pg_catalog.int4smaller(r1."i4", %(p5)s::integer), %(p4)s::integer))::integer)::bigint - %(p3)s::bigint)::bigint) - %(p7)s::bigint)) AS v2 FROM "w"."orders" AS r1 WHERE r1."uid" IS NOT NULL GROUP BY r1."uid", 2, coalesce(pg_catalog.hashtextextended(((r1."s")::text)::text, %(p9)s::bigint), %(p9)s::bigint)) g) c WHERE rank <= %(p2)s::bigint) u GROUP BY 1, coalesce(pg_catalog.hashtextextended((k1)::text, %(p9)s::bigint), %(p9)s::bigint)
--   p1 = 6
--   p2 = 2
--   p3 = 100
--   p4 = 0
--   p5 = 100
--   p6 = -100
--   p7 = 10000
--   p8 = -10000
--   p9 = random
--   p10 = random
-- => loss
-- epsilon 8 delta 1/4000
-- => residual
SELECT dp_b1.k1 AS "s", dp_b1.a1 AS "sum", dp_b1.a2 AS "count", dp_b1.a3 AS "avg", dp_b1.a4 AS "variance" FROM pg_catalog.jsonb_to_recordset(($1)::pg_catalog.jsonb->'b1') AS dp_b1(k1 character varying(20), a1 bigint, a2 bigint, a3 numeric, a4 numeric)

-- case: two means of columns that are never null and their count
-- policy: best
SELECT count(*), avg(id), avg(id + 1) FROM orders
-- => plan
-- w.orders, unit r1."uid": rows 6, groups None, per group None; keys none; cells 0
--   count(*): sensitivity 6, scale 9/4, epsilon 8/3 delta 0
--   avg made of releases 1, 4: clamp 0 .. 1000, grid 1, output grid 0.0001
--   avg from moments: clamp 1 .. 1001, grid 1, rows 6, output grid 0.0001, epsilon 8/3 delta 0
--     centred sum for avg: clamp 0 .. 1000, grid 1, sensitivity 6000, scale 2250, epsilon 8/3 delta 0
-- => backend
SELECT pg_catalog.sum(least(v0, %(p1)s::bigint)), pg_catalog.sum(least(v1, %(p1)s::bigint)), pg_catalog.sum(CASE WHEN v2 IS NOT NULL THEN least(greatest(CASE WHEN v1 <= least(v1, %(p1)s::bigint) THEN v2 ELSE pg_catalog.round(v2::numeric * least(v1, %(p1)s::bigint) / v1) END, least(v1, %(p1)s::bigint) * %(p7)s::bigint), least(v1, %(p1)s::bigint) * %(p8)s::bigint) END), pg_catalog.sum(CASE WHEN v3 IS NOT NULL THEN least(greatest(CASE WHEN v4 <= least(v4, %(p1)s::bigint) THEN v3 ELSE pg_catalog.round(v3::numeric * least(v4, %(p1)s::bigint) / v4) END, least(v4, %(p1)s::bigint) * %(p7)s::bigint), least(v4, %(p1)s::bigint) * %(p8)s::bigint) END) FROM (SELECT r1."uid" AS unit, pg_catalog.count(*) AS v0, pg_catalog.count(pg_catalog.round(pg_catalog.numeric_larger(pg_catalog.numeric_smaller(((pg_catalog.int4larger(pg_catalog.int4smaller(r1."id", %(p3)s::integer), %(p2)s::integer))::numeric + %(p4)s::numeric), %(p5)s::numeric), %(p4)s::numeric))::bigint) AS v1, (2 * pg_catalog.sum(pg_catalog.round(pg_catalog.numeric_larger(pg_catalog.numeric_smaller(((pg_catalog.int4larger(pg_catalog.int4smaller(r1."id", %(p3)s::integer), %(p2)s::integer))::numeric + %(p4)s::numeric), %(p5)s::numeric), %(p4)s::numeric))::bigint) - %(p6)s::bigint * pg_catalog.count(pg_catalog.round(pg_catalog.numeric_larger(pg_catalog.numeric_smaller(((pg_catalog.int4larger(pg_catalog.int4smaller(r1."id", %(p3)s::integer), %(p2)s::integer))::numeric + %(p4)s::numeric), %(p5)s::numeric), %(p4)s::numeric))::bigint)) AS v2, (2 * pg_catalog.sum((pg_catalog.int4larger(pg_catalog.int4smaller(r1."id", %(p3)s::integer), %(p2)s::integer))::integer) - %(p8)s::bigint * pg_catalog.count(r1."id")) AS v3, pg_catalog.count(r1."id") AS v4 FROM "w"."orders" AS r1 WHERE r1."uid" IS NOT NULL GROUP BY r1."uid") u
--   p1 = 6
--   p2 = 0
--   p3 = 1000
--   p4 = 1
--   p5 = 1001
--   p6 = 1002
--   p7 = -1000
--   p8 = 1000
-- => loss
-- epsilon 8 delta 0
-- => residual
SELECT dp_b1.a1 AS "count", dp_b1.a2 AS "avg", dp_b1.a3 AS "avg" FROM pg_catalog.jsonb_to_recordset(($1)::pg_catalog.jsonb->'b1') AS dp_b1(a1 bigint, a2 numeric, a3 numeric)

-- case: a smoothed median stays on its own
SELECT count(i4), sum(i4), avg(i4) FROM people
-- => plan
-- w.people, unit 1 row(s), partitions by hash of r1."id"; keys none; cells 137
--   count: sensitivity 1, scale 3/8, epsilon 8/3 delta 0
--   sum: clamp 0 .. 100, grid 1, sensitivity 100 steps, scale 75/2, epsilon 8/3 delta 0
--   avg: 0 .. 10000 steps of 0.01, fill 5000, 137 partitions, gate 1118 units, scale 15/2, epsilon 8/3 delta 1/3000, each epsilon 38/15 delta 0.0003333
-- => backend
SELECT cell, pg_catalog.count(x1), pg_catalog.sum((pg_catalog.int4larger(pg_catalog.int4smaller(x1, %(p2)s::integer), %(p1)s::integer))::integer) FROM (SELECT pg_catalog.mod(((pg_catalog.hashint4extended(r1."id"::integer, %(p3)s::bigint)) & %(p4)s::bigint)::integer, %(p5)s::integer) AS cell, r1."i4" AS x1 FROM "w"."people" AS r1 LIMIT ALL) r GROUP BY 1
--   p1 = 0
--   p2 = 100
--   p3 = random
--   p4 = 2147483647
--   p5 = 137
-- => loss
-- epsilon 8 delta 1/3000
-- => residual
SELECT dp_b1.a1 AS "count", dp_b1.a2 AS "sum", dp_b1.a3 AS "avg" FROM pg_catalog.jsonb_to_recordset(($1)::pg_catalog.jsonb->'b1') AS dp_b1(a1 bigint, a2 bigint, a3 numeric)

-- case: a mean and a variance alone do not share, as the mean would lose
-- policy: best
SELECT avg(i4), variance(i4) FROM people
-- => plan
-- w.people, unit 1 row(s), partitions by hash of r1."id"; keys none; cells 0
--   avg from moments: clamp 0 .. 100, grid 1, rows 1, output grid 0.00001, epsilon 4 delta 0
--   var_samp made of releases 3, 4, 5: clamp 0 .. 100, grid 1, output grid 0.00001
--     rows for var_samp: clamp 0 .. 100, grid 1, sensitivity 1, scale 3/4, epsilon 4/3 delta 0
--     centred sum for var_samp: clamp 0 .. 100, grid 1, sensitivity 100, scale 75, epsilon 4/3 delta 0
--     centred squares for var_samp: clamp 0 .. 100, grid 1, sensitivity 10000, scale 7500, epsilon 4/3 delta 0
-- => backend
SELECT pg_catalog.count(r1."i4"), (2 * pg_catalog.sum((pg_catalog.int4larger(pg_catalog.int4smaller(r1."i4", %(p3)s::integer), %(p2)s::integer))::integer) - %(p1)s::bigint * pg_catalog.count(r1."i4")), pg_catalog.sum((2 * ((2 * ((pg_catalog.int4larger(pg_catalog.int4smaller(r1."i4", %(p3)s::integer), %(p2)s::integer))::integer)::bigint - %(p1)s::bigint)::bigint) * ((2 * ((pg_catalog.int4larger(pg_catalog.int4smaller(r1."i4", %(p3)s::integer), %(p2)s::integer))::integer)::bigint - %(p1)s::bigint)::bigint) - %(p4)s::bigint)) FROM "w"."people" AS r1
--   p1 = 100
--   p2 = 0
--   p3 = 100
--   p4 = 10000
-- => loss
-- epsilon 8 delta 0
-- => residual
SELECT dp_b1.a1 AS "avg", dp_b1.a2 AS "variance" FROM pg_catalog.jsonb_to_recordset(($1)::pg_catalog.jsonb->'b1') AS dp_b1(a1 numeric, a2 numeric)

-- case: sum and mean of an expression
-- policy: best
SELECT sum(i4 + i2), avg(i4 + i2) FROM trips
-- => plan
-- w.trips, unit 3 row(s), partitions by hash of r1."id", r1."leg"; keys none; cells 0
--   sum made of releases 3, 4: clamp -5 .. 110, grid 1, output grid 1
--   avg made of releases 3, 4: clamp -5 .. 110, grid 1, output grid 0.00001
--     rows for sum: clamp -5 .. 110, grid 1, sensitivity 3, scale 3/4, epsilon 4 delta 0
--     centred sum for sum: clamp -5 .. 110, grid 1, sensitivity 345, scale 345/4, epsilon 4 delta 0
-- => backend
SELECT pg_catalog.count(pg_catalog.round(pg_catalog.numeric_larger(pg_catalog.numeric_smaller(((pg_catalog.int4larger(pg_catalog.int4smaller(r1."i4", %(p2)s::integer), %(p1)s::integer))::numeric + (pg_catalog.int4larger(pg_catalog.int4smaller(r1."i2", %(p4)s::integer), %(p3)s::integer))::numeric), %(p6)s::numeric), %(p5)s::numeric))::bigint), (2 * pg_catalog.sum(pg_catalog.round(pg_catalog.numeric_larger(pg_catalog.numeric_smaller(((pg_catalog.int4larger(pg_catalog.int4smaller(r1."i4", %(p2)s::integer), %(p1)s::integer))::numeric + (pg_catalog.int4larger(pg_catalog.int4smaller(r1."i2", %(p4)s::integer), %(p3)s::integer))::numeric), %(p6)s::numeric), %(p5)s::numeric))::bigint) - %(p7)s::bigint * pg_catalog.count(pg_catalog.round(pg_catalog.numeric_larger(pg_catalog.numeric_smaller(((pg_catalog.int4larger(pg_catalog.int4smaller(r1."i4", %(p2)s::integer), %(p1)s::integer))::numeric + (pg_catalog.int4larger(pg_catalog.int4smaller(r1."i2", %(p4)s::integer), %(p3)s::integer))::numeric), %(p6)s::numeric), %(p5)s::numeric))::bigint)) FROM "w"."trips" AS r1
--   p1 = 0
--   p2 = 100
--   p3 = -5
--   p4 = 10
--   p5 = -5
--   p6 = 110
--   p7 = 105
-- => loss
-- epsilon 8 delta 0
-- => residual
SELECT dp_b1.a1 AS "sum", dp_b1.a2 AS "avg" FROM pg_catalog.jsonb_to_recordset(($1)::pg_catalog.jsonb->'b1') AS dp_b1(a1 bigint, a2 numeric)

-- case: Gaussian counts and sums are not shared
-- policy: gaussian
SELECT count(i4), sum(i4), variance(i4), stddev(i4) FROM people
-- => plan
-- w.people, unit 1 row(s), partitions by hash of r1."id"; keys none; cells 0
--   count: sensitivity 1, sigma 1.36599, epsilon 8/3 delta 1/3000
--   sum: clamp 0 .. 100, grid 1, sensitivity 100 steps, sigma 136.599, epsilon 8/3 delta 1/3000
--   var_samp made of releases 5, 6, 7: clamp 0 .. 100, grid 1, output grid 0.00001
--   stddev_samp made of releases 5, 6, 7: clamp 0 .. 100, grid 1, output grid 0.00001
--     rows for var_samp: clamp 0 .. 100, grid 1, sensitivity 1, scale 9/8, epsilon 8/9 delta 0
--     centred sum for var_samp: clamp 0 .. 100, grid 1, sensitivity 100, scale 225/2, epsilon 8/9 delta 0
--     centred squares for var_samp: clamp 0 .. 100, grid 1, sensitivity 10000, scale 11250, epsilon 8/9 delta 0
-- => backend
SELECT pg_catalog.count(r1."i4"), pg_catalog.sum((pg_catalog.int4larger(pg_catalog.int4smaller(r1."i4", %(p2)s::integer), %(p1)s::integer))::integer), (2 * pg_catalog.sum((pg_catalog.int4larger(pg_catalog.int4smaller(r1."i4", %(p2)s::integer), %(p1)s::integer))::integer) - %(p3)s::bigint * pg_catalog.count(r1."i4")), pg_catalog.sum((2 * ((2 * ((pg_catalog.int4larger(pg_catalog.int4smaller(r1."i4", %(p2)s::integer), %(p1)s::integer))::integer)::bigint - %(p3)s::bigint)::bigint) * ((2 * ((pg_catalog.int4larger(pg_catalog.int4smaller(r1."i4", %(p2)s::integer), %(p1)s::integer))::integer)::bigint - %(p3)s::bigint)::bigint) - %(p4)s::bigint)) FROM "w"."people" AS r1
--   p1 = 0
--   p2 = 100
--   p3 = 100
--   p4 = 10000
-- => loss
-- epsilon 8 delta 1/1500
-- => residual
SELECT dp_b1.a1 AS "count", dp_b1.a2 AS "sum", dp_b1.a3 AS "variance", dp_b1.a4 AS "stddev" FROM pg_catalog.jsonb_to_recordset(($1)::pg_catalog.jsonb->'b1') AS dp_b1(a1 bigint, a2 bigint, a3 numeric, a4 numeric)

-- case: weights of the policy
-- policy: weighted
SELECT count(*), sum(i4), avg(n2), max(i4) FROM people
-- => plan
-- w.people, unit 1 row(s), partitions by hash of r1."id"; keys none; cells 0
--   count(*): sensitivity 1, scale 1, epsilon 1 delta 0
--   sum: clamp 0 .. 100, grid 1, sensitivity 100 steps, scale 50, epsilon 2 delta 0
--   avg from moments: clamp 0 .. 175, grid 0.01, rows 1, output grid 0.00001, epsilon 4 delta 0
--   max of order: clamp 0 .. 100, grid 1, rows 1, needed 100, epsilon 1 delta 0
-- => backend
SELECT pg_catalog.count(*), pg_catalog.sum((pg_catalog.int4larger(pg_catalog.int4smaller(r1."i4", %(p2)s::integer), %(p1)s::integer))::integer), pg_catalog.count(r1."n2"), (2 * pg_catalog.floor(pg_catalog.sum(pg_catalog.numeric_larger(pg_catalog.numeric_smaller(r1."n2", %(p4)s::numeric), %(p3)s::numeric)) * %(p5)s::numeric) - %(p6)s::numeric * pg_catalog.count(r1."n2")) FROM "w"."people" AS r1
--   p1 = 0
--   p2 = 100
--   p3 = 0
--   p4 = 175
--   p5 = 100
--   p6 = 17500
SELECT v, pg_catalog.count(*) AS n FROM (SELECT ((pg_catalog.int4larger(pg_catalog.int4smaller(r1."i4", %(p2)s::integer), %(p1)s::integer))::integer) AS v FROM "w"."people" AS r1 WHERE ((pg_catalog.int4larger(pg_catalog.int4smaller(r1."i4", %(p2)s::integer), %(p1)s::integer))::integer) IS NOT NULL) u GROUP BY v ORDER BY v DESC LIMIT %(p3)s::bigint
--   p1 = 0
--   p2 = 100
--   p3 = 100
-- => loss
-- epsilon 8 delta 0
-- => residual
SELECT dp_b1.a1 AS "count", dp_b1.a2 AS "sum", dp_b1.a3 AS "avg", dp_b1.a4 AS "max" FROM pg_catalog.jsonb_to_recordset(($1)::pg_catalog.jsonb->'b1') AS dp_b1(a1 bigint, a2 bigint, a3 numeric, a4 integer)

-- case: weights that would take from a mean forbid sharing
-- policy: weighted
SELECT count(i4), avg(i4) FROM people
-- => plan
-- w.people, unit 1 row(s), partitions by hash of r1."id"; keys none; cells 0
--   count: sensitivity 1, scale 5/8, epsilon 8/5 delta 0
--   avg from moments: clamp 0 .. 100, grid 1, rows 1, output grid 0.00001, epsilon 32/5 delta 0
-- => backend
SELECT pg_catalog.count(r1."i4"), (2 * pg_catalog.sum((pg_catalog.int4larger(pg_catalog.int4smaller(r1."i4", %(p3)s::integer), %(p2)s::integer))::integer) - %(p1)s::bigint * pg_catalog.count(r1."i4")) FROM "w"."people" AS r1
--   p1 = 100
--   p2 = 0
--   p3 = 100
-- => loss
-- epsilon 8 delta 0
-- => residual
SELECT dp_b1.a1 AS "count", dp_b1.a2 AS "avg" FROM pg_catalog.jsonb_to_recordset(($1)::pg_catalog.jsonb->'b1') AS dp_b1(a1 bigint, a2 numeric)

-- case: weights of several blocks and of private keys
-- policy: weighted
SELECT s, count(*) FROM notes WHERE i4 > (SELECT avg(i4) FROM notes) GROUP BY s
-- => plan
-- w.notes, unit r2."uid": rows 4, groups None, per group None; keys none; cells 0
--   avg from moments: clamp 0 .. 100, grid 1, rows 4, output grid 0.00001, epsilon 16/3 delta 0
-- w.notes, unit r1."uid": rows 4, groups 2, per group None; keys s of private; cells 0
--   selection: epsilon 4/3 delta 1/6000, each epsilon 0.666667 delta 8.334e-05
--   count(*): sensitivity 4, scale 3, epsilon 4/3 delta 0
-- => backend
SELECT pg_catalog.sum(least(v0, %(p1)s::bigint)), pg_catalog.sum(CASE WHEN v1 IS NOT NULL THEN least(greatest(CASE WHEN v0 <= least(v0, %(p1)s::bigint) THEN v1 ELSE pg_catalog.round(v1::numeric * least(v0, %(p1)s::bigint) / v0) END, least(v0, %(p1)s::bigint) * %(p5)s::bigint), least(v0, %(p1)s::bigint) * %(p2)s::bigint) END) FROM (SELECT r2."uid" AS unit, pg_catalog.count(r2."i4") AS v0, (2 * pg_catalog.sum((pg_catalog.int4larger(pg_catalog.int4smaller(r2."i4", %(p4)s::integer), %(p3)s::integer))::integer) - %(p2)s::bigint * pg_catalog.count(r2."i4")) AS v1 FROM "w"."notes" AS r2 WHERE pg_catalog.octet_length(r2."uid") <= %(p6)s::integer GROUP BY r2."uid") u
--   p1 = 4
--   p2 = 100
--   p3 = 0
--   p4 = 100
--   p5 = -100
--   p6 = 4096
SELECT k1, pg_catalog.sum(CASE WHEN total0 <= %(p1)s::bigint THEN v0 ELSE pg_catalog.div(v0::numeric * %(p1)s::bigint, total0)::bigint END), pg_catalog.count(*) FROM (SELECT *, (pg_catalog.sum(v0) OVER (PARTITION BY unit))::bigint AS total0 FROM (SELECT * FROM (SELECT *, pg_catalog.row_number() OVER (PARTITION BY unit ORDER BY pg_catalog.hashint8extended(pg_catalog.hash_record_extended(ROW(pg_catalog.hashtextextended(g."unit"::text, %(p5)s::bigint), k1), %(p5)s::bigint), %(p5)s::bigint), k1) AS rank FROM (SELECT r1."uid" AS unit, (r1."s")::text AS k1, pg_catalog.count(*) AS v0 FROM "w"."notes" AS r1 WHERE pg_catalog.octet_length(r1."uid") <= %(p3)s::integer AND ((r1."i4")::numeric > %(s1)s::numeric) GROUP BY r1."uid", 2, coalesce(pg_catalog.hashtextextended(((r1."s")::text)::text, %(p2)s::bigint), %(p2)s::bigint)) g) c WHERE rank <= %(p6)s::bigint) g) u GROUP BY 1, coalesce(pg_catalog.hashtextextended((k1)::text, %(p2)s::bigint), %(p2)s::bigint)
--   p1 = 4
--   p2 = random
--   p3 = 4096
--   s1 = None
--   p5 = random
--   p6 = 2
-- => loss
-- epsilon 8 delta 1/6000
-- => residual
SELECT dp_b2.k1 AS "s", dp_b2.a1 AS "count" FROM pg_catalog.jsonb_to_recordset(($1)::pg_catalog.jsonb->'b2') AS dp_b2(k1 character varying(20), a1 bigint)
