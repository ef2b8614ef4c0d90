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
--   avg from deviations: clamp 0 .. 1000, grid 1, rows by choice, output grid 0.0001, epsilon 4 delta 0
--   count is release 1
-- => backend
SELECT pg_catalog.sum(least(v0, %(p1)s::bigint)) FROM (SELECT r1."uid" AS unit, pg_catalog.count(*) AS v0 FROM "w"."orders" AS r1 WHERE r1."uid" IS NOT NULL GROUP BY r1."uid") u
--   p1 = 6
WITH g AS MATERIALIZED (SELECT *, TRUE AS one, n0 AS all0 FROM (SELECT g.unit, nullif(least(g.v0, %(p12)s::bigint), 0) AS n0, least(greatest(g.v1, -least(g.v0, %(p12)s::bigint) * %(p2)s::bigint), least(g.v0, %(p12)s::bigint) * %(p2)s::bigint)::bigint AS y0 FROM (SELECT r1."uid" AS unit, pg_catalog.count(r1."id") AS v0, (2 * pg_catalog.sum((pg_catalog.int4larger(pg_catalog.int4smaller(r1."id", %(p4)s::integer), %(p3)s::integer))::integer) - %(p2)s::bigint * pg_catalog.count(r1."id")) AS v1 FROM "w"."orders" AS r1 WHERE r1."uid" IS NOT NULL GROUP BY r1."uid") g LIMIT ALL) t), h AS (SELECT *, pg_catalog.abs(d0) AS size0 FROM (SELECT g.unit, g.one, (CASE WHEN (SELECT (%(p1)s::text::text[])[%(p14)s::integer]::boolean) THEN (CASE WHEN (g.y0 * %(p13)s::bigint - ((SELECT (%(p1)s::text::text[])[%(p11)s::integer]::bigint[]))[%(p11)s::integer] * g.n0) BETWEEN %(p8)s::bigint AND %(p9)s::bigint THEN (g.y0 * %(p13)s::bigint - ((SELECT (%(p1)s::text::text[])[%(p11)s::integer]::bigint[]))[%(p11)s::integer] * g.n0) * %(p5)s::bigint / g.all0 ELSE pg_catalog.div((g.y0 * %(p13)s::bigint - ((SELECT (%(p1)s::text::text[])[%(p11)s::integer]::bigint[]))[%(p11)s::integer] * g.n0) * %(p7)s::numeric, g.all0)::bigint END) ELSE (g.y0 * %(p13)s::bigint - ((SELECT (%(p1)s::text::text[])[%(p11)s::integer]::bigint[]))[%(p11)s::integer] * g.n0) END) AS d0 FROM g LIMIT ALL) t LIMIT ALL) SELECT %(p3)s::integer AS place, pg_catalog.width_bucket(g.all0, %(p6)s::bigint[]) AS band, pg_catalog.sum(g.n0)::numeric, pg_catalog.sum(%(p5)s::bigint * g.n0 / g.all0)::numeric, pg_catalog.sum((CASE WHEN g.y0 BETWEEN %(p8)s::bigint AND %(p9)s::bigint THEN g.y0 * %(p5)s::bigint / g.all0 ELSE pg_catalog.div(g.y0 * %(p7)s::numeric, g.all0)::bigint END))::numeric, pg_catalog.count(*) FILTER (WHERE g.one) FROM g g WHERE g.all0 IS NOT NULL GROUP BY 1, 2 UNION ALL SELECT %(p11)s::integer AS place, pg_catalog.width_bucket(g.size0, (SELECT (%(p1)s::text::text[])[%(p10)s::integer]::bigint[])) AS band, pg_catalog.sum(g.d0)::numeric, pg_catalog.sum((CASE WHEN g.d0 BETWEEN %(p8)s::bigint AND %(p9)s::bigint THEN g.d0 * %(p5)s::bigint / nullif(g.size0, 0) ELSE pg_catalog.div(g.d0 * %(p7)s::numeric, nullif(g.size0, 0))::bigint END))::numeric, NULL::numeric, pg_catalog.count(*) FILTER (WHERE g.one) FROM h g WHERE g.size0 IS NOT NULL GROUP BY 1, 2
--   p1 = {"{0}","false","{32,38,45,53,63,75,89,106,126,149,177,211,251,298,354,421,501,595,708,841,1001,1190,1415,1682,2001,2379,2829,3364,4001,4757,5657,6728,8001,9514,11314,13455,16001,19028,22628,26909,32001,38055,45255,53818,64001,76110,90510,107635,128001,152219,181020,215270,256001,304438,362039,430539,512001,608875,724078,861078,1024001,1217749,1448155,1722156,2048001,2435497,2896310,3444312,4096001,4870993,5792619,6888624,8192001,9741985,11585238,13777247,16384001,19483970,23170476,27554494,32768001,38967939,46340951,55108988,65536001}"}
--   p2 = 1000
--   p3 = 0
--   p4 = 1000
--   p5 = 1048576
--   p6 = ['2', '2', '2', '2', '3', '3', '3', '4', '5', '5', '6', '7', '9', '10', '12', '14', '17', '20', '23', '27', '33', '39', '46', '54', '65', '77', '91', '108', '129', '153', '182', '216', '257', '305', '363', '431', '513', '609', '725', '862', '1025', '1218', '1449', '1723', '2049', '2436', '2897', '3445', '4097', '4871', '5793', '6889', '8193', '9742', '11586', '13778', '16385', '19484', '23171', '27555', '32769', '38968', '46341', '55109', '65537', '77936', '92682', '110218', '131073', '155872', '185364', '220436', '262145', '311744', '370728', '440872', '524289', '623488', '741456', '881744', '1048577']
--   p7 = 1048576
--   p8 = -4398046511104
--   p9 = 4398046511104
--   p10 = 3
--   p11 = 1
--   p12 = 1099511627776
--   p13 = 1
--   p14 = 2
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
--   avg from deviations: clamp 0 .. 1000, grid 1, rows by choice, output grid 0.0001, epsilon 8/3 delta 0
--   count: sensitivity 6, scale 9/4, epsilon 8/3 delta 0
-- => backend
SELECT pg_catalog.sum(least(v0, %(p1)s::bigint)), pg_catalog.sum(least(v1, %(p1)s::bigint)) FROM (SELECT r1."uid" AS unit, pg_catalog.count(*) AS v0, pg_catalog.count(r2."id") AS v1 FROM ((SELECT r1."uid" AS c1, r2."id" AS c2, r2."uid" AS c3 FROM (((SELECT r1."uid" FROM "w"."members" AS r1 WHERE r1."uid" IS NOT NULL) AS r1 CROSS JOIN (SELECT TRUE AS here) AS m1) FULL JOIN "w"."orders" AS r2 ON (r1."uid" = r2."uid")) WHERE CASE WHEN m1.here THEN TRUE ELSE FALSE END LIMIT ALL) AS j2 CROSS JOIN LATERAL (SELECT j2.c1 AS "uid") AS r1 CROSS JOIN LATERAL (SELECT j2.c2 AS "id", j2.c3 AS "uid") AS r2) GROUP BY r1."uid") u
--   p1 = 6
WITH g AS MATERIALIZED (SELECT *, TRUE AS one, n0 AS all0 FROM (SELECT g.unit, nullif(least(g.v0, %(p12)s::bigint), 0) AS n0, least(greatest(g.v1, -least(g.v0, %(p12)s::bigint) * %(p2)s::bigint), least(g.v0, %(p12)s::bigint) * %(p2)s::bigint)::bigint AS y0 FROM (SELECT r1."uid" AS unit, pg_catalog.count(r2."id") AS v0, (2 * pg_catalog.sum((pg_catalog.int4larger(pg_catalog.int4smaller(r2."id", %(p4)s::integer), %(p3)s::integer))::integer) - %(p2)s::bigint * pg_catalog.count(r2."id")) AS v1 FROM ((SELECT r1."uid" AS c1, r2."id" AS c2, r2."uid" AS c3 FROM (((SELECT r1."uid" FROM "w"."members" AS r1 WHERE r1."uid" IS NOT NULL) AS r1 CROSS JOIN (SELECT TRUE AS here) AS m1) FULL JOIN "w"."orders" AS r2 ON (r1."uid" = r2."uid")) WHERE CASE WHEN m1.here THEN TRUE ELSE FALSE END LIMIT ALL) AS j2 CROSS JOIN LATERAL (SELECT j2.c1 AS "uid") AS r1 CROSS JOIN LATERAL (SELECT j2.c2 AS "id", j2.c3 AS "uid") AS r2) GROUP BY r1."uid") g LIMIT ALL) t), h AS (SELECT *, pg_catalog.abs(d0) AS size0 FROM (SELECT g.unit, g.one, (CASE WHEN (SELECT (%(p1)s::text::text[])[%(p14)s::integer]::boolean) THEN (CASE WHEN (g.y0 * %(p13)s::bigint - ((SELECT (%(p1)s::text::text[])[%(p11)s::integer]::bigint[]))[%(p11)s::integer] * g.n0) BETWEEN %(p8)s::bigint AND %(p9)s::bigint THEN (g.y0 * %(p13)s::bigint - ((SELECT (%(p1)s::text::text[])[%(p11)s::integer]::bigint[]))[%(p11)s::integer] * g.n0) * %(p5)s::bigint / g.all0 ELSE pg_catalog.div((g.y0 * %(p13)s::bigint - ((SELECT (%(p1)s::text::text[])[%(p11)s::integer]::bigint[]))[%(p11)s::integer] * g.n0) * %(p7)s::numeric, g.all0)::bigint END) ELSE (g.y0 * %(p13)s::bigint - ((SELECT (%(p1)s::text::text[])[%(p11)s::integer]::bigint[]))[%(p11)s::integer] * g.n0) END) AS d0 FROM g LIMIT ALL) t LIMIT ALL) SELECT %(p3)s::integer AS place, pg_catalog.width_bucket(g.all0, %(p6)s::bigint[]) AS band, pg_catalog.sum(g.n0)::numeric, pg_catalog.sum(%(p5)s::bigint * g.n0 / g.all0)::numeric, pg_catalog.sum((CASE WHEN g.y0 BETWEEN %(p8)s::bigint AND %(p9)s::bigint THEN g.y0 * %(p5)s::bigint / g.all0 ELSE pg_catalog.div(g.y0 * %(p7)s::numeric, g.all0)::bigint END))::numeric, pg_catalog.count(*) FILTER (WHERE g.one) FROM g g WHERE g.all0 IS NOT NULL GROUP BY 1, 2 UNION ALL SELECT %(p11)s::integer AS place, pg_catalog.width_bucket(g.size0, (SELECT (%(p1)s::text::text[])[%(p10)s::integer]::bigint[])) AS band, pg_catalog.sum(g.d0)::numeric, pg_catalog.sum((CASE WHEN g.d0 BETWEEN %(p8)s::bigint AND %(p9)s::bigint THEN g.d0 * %(p5)s::bigint / nullif(g.size0, 0) ELSE pg_catalog.div(g.d0 * %(p7)s::numeric, nullif(g.size0, 0))::bigint END))::numeric, NULL::numeric, pg_catalog.count(*) FILTER (WHERE g.one) FROM h g WHERE g.size0 IS NOT NULL GROUP BY 1, 2
--   p1 = {"{0}","false","{32,38,45,53,63,75,89,106,126,149,177,211,251,298,354,421,501,595,708,841,1001,1190,1415,1682,2001,2379,2829,3364,4001,4757,5657,6728,8001,9514,11314,13455,16001,19028,22628,26909,32001,38055,45255,53818,64001,76110,90510,107635,128001,152219,181020,215270,256001,304438,362039,430539,512001,608875,724078,861078,1024001,1217749,1448155,1722156,2048001,2435497,2896310,3444312,4096001,4870993,5792619,6888624,8192001,9741985,11585238,13777247,16384001,19483970,23170476,27554494,32768001,38967939,46340951,55108988,65536001}"}
--   p2 = 1000
--   p3 = 0
--   p4 = 1000
--   p5 = 1048576
--   p6 = ['2', '2', '2', '2', '3', '3', '3', '4', '5', '5', '6', '7', '9', '10', '12', '14', '17', '20', '23', '27', '33', '39', '46', '54', '65', '77', '91', '108', '129', '153', '182', '216', '257', '305', '363', '431', '513', '609', '725', '862', '1025', '1218', '1449', '1723', '2049', '2436', '2897', '3445', '4097', '4871', '5793', '6889', '8193', '9742', '11586', '13778', '16385', '19484', '23171', '27555', '32769', '38968', '46341', '55109', '65537', '77936', '92682', '110218', '131073', '155872', '185364', '220436', '262145', '311744', '370728', '440872', '524289', '623488', '741456', '881744', '1048577']
--   p7 = 1048576
--   p8 = -4398046511104
--   p9 = 4398046511104
--   p10 = 3
--   p11 = 1
--   p12 = 1099511627776
--   p13 = 1
--   p14 = 2
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
--   avg from deviations: clamp 0 .. 175, grid 0.01, rows by choice, output grid 0.00001, epsilon 8/3 delta 0
--   stddev_samp made of releases 1, 4, 5: clamp 0 .. 175, grid 0.01, output grid 0.00001
--     centred sum for stddev_samp: clamp 0 .. 175, grid 0.01, sensitivity 87500, scale 65625, epsilon 4/3 delta 0
--     centred squares for stddev_samp: clamp 0 .. 175, grid 0.01, sensitivity 1531250000, scale 1148437500, epsilon 4/3 delta 0
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
WITH g AS MATERIALIZED (SELECT *, pg_catalog.row_number() OVER (PARTITION BY unit) = 1 AS one, (pg_catalog.sum(n0) OVER (PARTITION BY unit))::bigint AS all0 FROM (SELECT g.unit, g.k1, nullif(least(g.v0, %(p14)s::bigint), 0) AS n0, least(greatest(g.v1, -least(g.v0, %(p14)s::bigint) * %(p2)s::bigint), least(g.v0, %(p14)s::bigint) * %(p2)s::bigint)::bigint AS y0, c.place::integer AS place FROM (SELECT r1."uid" AS unit, (r1."t")::text AS k1, pg_catalog.count(r1."n2") AS v0, (2 * pg_catalog.sum(pg_catalog.int4larger((pg_catalog.numeric_smaller(r1."n2" * %(p3)s::numeric, %(p4)s::numeric))::integer, %(p5)s::integer)) - %(p2)s::bigint * pg_catalog.count(r1."n2")) AS v1 FROM "w"."visits" AS r1 WHERE r1."uid" IS NOT NULL AND (r1."t" = ANY(%(p13)s::text[]::text[]) OR r1."t" IS NULL) GROUP BY r1."uid", 2) g JOIN ROWS FROM (pg_catalog.unnest(%(p15)s::text[])) WITH ORDINALITY AS c(k1, place) ON (CASE WHEN g.k1 IS NULL THEN '' ELSE 'v' || g.k1 END) COLLATE pg_catalog."C" = c.k1 LIMIT ALL) t), h AS (SELECT *, (pg_catalog.sum(pg_catalog.abs(d0)) OVER (PARTITION BY unit))::bigint AS size0 FROM (SELECT g.unit, g.k1, g.one, (CASE WHEN (SELECT (%(p1)s::text::text[])[%(p17)s::integer]::boolean) THEN (CASE WHEN (g.y0 * %(p16)s::bigint - ((SELECT (%(p1)s::text::text[])[%(p12)s::integer]::bigint[]))[g.place] * g.n0) BETWEEN %(p9)s::bigint AND %(p10)s::bigint THEN (g.y0 * %(p16)s::bigint - ((SELECT (%(p1)s::text::text[])[%(p12)s::integer]::bigint[]))[g.place] * g.n0) * %(p6)s::bigint / g.all0 ELSE pg_catalog.div((g.y0 * %(p16)s::bigint - ((SELECT (%(p1)s::text::text[])[%(p12)s::integer]::bigint[]))[g.place] * g.n0) * %(p8)s::numeric, g.all0)::bigint END) ELSE (g.y0 * %(p16)s::bigint - ((SELECT (%(p1)s::text::text[])[%(p12)s::integer]::bigint[]))[g.place] * g.n0) END) AS d0 FROM g LIMIT ALL) t LIMIT ALL) SELECT g.k1, %(p5)s::integer AS place, pg_catalog.width_bucket(g.all0, %(p7)s::bigint[]) AS band, pg_catalog.sum(g.n0)::numeric, pg_catalog.sum(%(p6)s::bigint * g.n0 / g.all0)::numeric, pg_catalog.sum((CASE WHEN g.y0 BETWEEN %(p9)s::bigint AND %(p10)s::bigint THEN g.y0 * %(p6)s::bigint / g.all0 ELSE pg_catalog.div(g.y0 * %(p8)s::numeric, g.all0)::bigint END))::numeric, pg_catalog.count(*) FILTER (WHERE g.one) FROM g g WHERE g.all0 IS NOT NULL GROUP BY 1, 2, 3 UNION ALL SELECT g.k1, %(p12)s::integer AS place, pg_catalog.width_bucket(g.size0, (SELECT (%(p1)s::text::text[])[%(p11)s::integer]::bigint[])) AS band, pg_catalog.sum(g.d0)::numeric, pg_catalog.sum((CASE WHEN g.d0 BETWEEN %(p9)s::bigint AND %(p10)s::bigint THEN g.d0 * %(p6)s::bigint / nullif(g.size0, 0) ELSE pg_catalog.div(g.d0 * %(p8)s::numeric, nullif(g.size0, 0))::bigint END))::numeric, NULL::numeric, pg_catalog.count(*) FILTER (WHERE g.one) FROM h g WHERE g.size0 IS NOT NULL GROUP BY 1, 2, 3
--   p1 = {"{0,0,0,0}","false","{547,651,774,920,1094,1301,1547,1840,2188,2602,3094,3679,4376,5203,6188,7358,8751,10406,12375,14716,17501,20812,24749,29432,35001,41623,49498,58863,70001,83245,98995,117726,140001,166489,197990,235451,280001,332978,395980,470902,560001,665956,791960,941804,1120001,1331912,1583920,1883608,2240001,2663824,3167839,3767216,4480001,5327648,6335677,7534432,8960001,10655296,12671354,15068864,17920001,21310592,25342708,30137728,35840001,42621184,50685415,60275456,71680001,85242367,101370829,120550911,143360001,170484733,202741657,241101821,286720001,340969465,405483313,482203641,573440001,681938929,810966626,964407281,1146880001}"}
--   p2 = 17500
--   p3 = 100
--   p4 = 17500
--   p5 = 0
--   p6 = 1048576
--   p7 = ['2', '2', '2', '2', '3', '3', '3', '4', '5', '5', '6', '7', '9', '10', '12', '14', '17', '20', '23', '27', '33', '39', '46', '54', '65', '77', '91', '108', '129', '153', '182', '216', '257', '305', '363', '431', '513', '609', '725', '862', '1025', '1218', '1449', '1723', '2049', '2436', '2897', '3445', '4097', '4871', '5793', '6889', '8193', '9742', '11586', '13778', '16385', '19484', '23171', '27555', '32769', '38968', '46341', '55109', '65537', '77936', '92682', '110218', '131073', '155872', '185364', '220436', '262145', '311744', '370728', '440872', '524289', '623488', '741456', '881744', '1048577']
--   p8 = 1048576
--   p9 = -4398046511104
--   p10 = 4398046511104
--   p11 = 3
--   p12 = 1
--   p13 = ['x', 'y', 'z']
--   p14 = 1099511627776
--   p15 = ['vx', 'vy', 'vz', '']
--   p16 = 1
--   p17 = 2
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
--   avg from deviations: clamp 0 .. 1000, grid 1, rows by choice, output grid 0.0001, epsilon 8/3 delta 0
--   avg from deviations: clamp 1 .. 1001, grid 1, rows by choice, output grid 0.0001, epsilon 8/3 delta 0
-- => backend
SELECT pg_catalog.sum(least(v0, %(p1)s::bigint)) FROM (SELECT r1."uid" AS unit, pg_catalog.count(*) AS v0 FROM "w"."orders" AS r1 WHERE r1."uid" IS NOT NULL GROUP BY r1."uid") u
--   p1 = 6
WITH g AS MATERIALIZED (SELECT *, TRUE AS one, n0 AS all0, n1 AS all1 FROM (SELECT g.unit, nullif(least(g.v0, %(p17)s::bigint), 0) AS n0, least(greatest(g.v1, -least(g.v0, %(p17)s::bigint) * %(p2)s::bigint), least(g.v0, %(p17)s::bigint) * %(p2)s::bigint)::bigint AS y0, nullif(least(g.v2, %(p17)s::bigint), 0) AS n1, least(greatest(g.v3, -least(g.v2, %(p17)s::bigint) * %(p2)s::bigint), least(g.v2, %(p17)s::bigint) * %(p2)s::bigint)::bigint AS y1 FROM (SELECT r1."uid" AS unit, pg_catalog.count(r1."id") AS v0, (2 * pg_catalog.sum((pg_catalog.int4larger(pg_catalog.int4smaller(r1."id", %(p4)s::integer), %(p3)s::integer))::integer) - %(p2)s::bigint * pg_catalog.count(r1."id")) AS v1, pg_catalog.count(pg_catalog.round(pg_catalog.numeric_larger(pg_catalog.numeric_smaller(((pg_catalog.int4larger(pg_catalog.int4smaller(r1."id", %(p4)s::integer), %(p3)s::integer))::numeric + %(p5)s::numeric), %(p6)s::numeric), %(p5)s::numeric))::bigint) AS v2, (2 * pg_catalog.sum(pg_catalog.round(pg_catalog.numeric_larger(pg_catalog.numeric_smaller(((pg_catalog.int4larger(pg_catalog.int4smaller(r1."id", %(p4)s::integer), %(p3)s::integer))::numeric + %(p5)s::numeric), %(p6)s::numeric), %(p5)s::numeric))::bigint) - %(p7)s::bigint * pg_catalog.count(pg_catalog.round(pg_catalog.numeric_larger(pg_catalog.numeric_smaller(((pg_catalog.int4larger(pg_catalog.int4smaller(r1."id", %(p4)s::integer), %(p3)s::integer))::numeric + %(p5)s::numeric), %(p6)s::numeric), %(p5)s::numeric))::bigint)) AS v3 FROM "w"."orders" AS r1 WHERE r1."uid" IS NOT NULL GROUP BY r1."uid") g LIMIT ALL) t), h AS (SELECT *, pg_catalog.abs(d0) AS size0, pg_catalog.abs(d1) AS size1 FROM (SELECT g.unit, g.one, (CASE WHEN (SELECT (%(p1)s::text::text[])[%(p13)s::integer]::boolean) THEN (CASE WHEN (g.y0 * %(p18)s::bigint - ((SELECT (%(p1)s::text::text[])[%(p15)s::integer]::bigint[]))[%(p15)s::integer] * g.n0) BETWEEN %(p11)s::bigint AND %(p12)s::bigint THEN (g.y0 * %(p18)s::bigint - ((SELECT (%(p1)s::text::text[])[%(p15)s::integer]::bigint[]))[%(p15)s::integer] * g.n0) * %(p8)s::bigint / g.all0 ELSE pg_catalog.div((g.y0 * %(p18)s::bigint - ((SELECT (%(p1)s::text::text[])[%(p15)s::integer]::bigint[]))[%(p15)s::integer] * g.n0) * %(p10)s::numeric, g.all0)::bigint END) ELSE (g.y0 * %(p18)s::bigint - ((SELECT (%(p1)s::text::text[])[%(p15)s::integer]::bigint[]))[%(p15)s::integer] * g.n0) END) AS d0, (CASE WHEN (SELECT (%(p1)s::text::text[])[%(p20)s::integer]::boolean) THEN (CASE WHEN (g.y1 * %(p18)s::bigint - ((SELECT (%(p1)s::text::text[])[%(p19)s::integer]::bigint[]))[%(p15)s::integer] * g.n1) BETWEEN %(p11)s::bigint AND %(p12)s::bigint THEN (g.y1 * %(p18)s::bigint - ((SELECT (%(p1)s::text::text[])[%(p19)s::integer]::bigint[]))[%(p15)s::integer] * g.n1) * %(p8)s::bigint / g.all1 ELSE pg_catalog.div((g.y1 * %(p18)s::bigint - ((SELECT (%(p1)s::text::text[])[%(p19)s::integer]::bigint[]))[%(p15)s::integer] * g.n1) * %(p10)s::numeric, g.all1)::bigint END) ELSE (g.y1 * %(p18)s::bigint - ((SELECT (%(p1)s::text::text[])[%(p19)s::integer]::bigint[]))[%(p15)s::integer] * g.n1) END) AS d1 FROM g LIMIT ALL) t LIMIT ALL) SELECT %(p3)s::integer AS place, pg_catalog.width_bucket(g.all0, %(p9)s::bigint[]) AS band, pg_catalog.sum(g.n0)::numeric, pg_catalog.sum(%(p8)s::bigint * g.n0 / g.all0)::numeric, pg_catalog.sum((CASE WHEN g.y0 BETWEEN %(p11)s::bigint AND %(p12)s::bigint THEN g.y0 * %(p8)s::bigint / g.all0 ELSE pg_catalog.div(g.y0 * %(p10)s::numeric, g.all0)::bigint END))::numeric, pg_catalog.count(*) FILTER (WHERE g.one) FROM g g WHERE g.all0 IS NOT NULL GROUP BY 1, 2 UNION ALL SELECT %(p13)s::integer AS place, pg_catalog.width_bucket(g.all1, %(p9)s::bigint[]) AS band, pg_catalog.sum(g.n1)::numeric, pg_catalog.sum(%(p8)s::bigint * g.n1 / g.all1)::numeric, pg_catalog.sum((CASE WHEN g.y1 BETWEEN %(p11)s::bigint AND %(p12)s::bigint THEN g.y1 * %(p8)s::bigint / g.all1 ELSE pg_catalog.div(g.y1 * %(p10)s::numeric, g.all1)::bigint END))::numeric, pg_catalog.count(*) FILTER (WHERE g.one) FROM g g WHERE g.all1 IS NOT NULL GROUP BY 1, 2 UNION ALL SELECT %(p15)s::integer AS place, pg_catalog.width_bucket(g.size0, (SELECT (%(p1)s::text::text[])[%(p14)s::integer]::bigint[])) AS band, pg_catalog.sum(g.d0)::numeric, pg_catalog.sum((CASE WHEN g.d0 BETWEEN %(p11)s::bigint AND %(p12)s::bigint THEN g.d0 * %(p8)s::bigint / nullif(g.size0, 0) ELSE pg_catalog.div(g.d0 * %(p10)s::numeric, nullif(g.size0, 0))::bigint END))::numeric, NULL::numeric, pg_catalog.count(*) FILTER (WHERE g.one) FROM h g WHERE g.size0 IS NOT NULL GROUP BY 1, 2 UNION ALL SELECT %(p14)s::integer AS place, pg_catalog.width_bucket(g.size1, (SELECT (%(p1)s::text::text[])[%(p16)s::integer]::bigint[])) AS band, pg_catalog.sum(g.d1)::numeric, pg_catalog.sum((CASE WHEN g.d1 BETWEEN %(p11)s::bigint AND %(p12)s::bigint THEN g.d1 * %(p8)s::bigint / nullif(g.size1, 0) ELSE pg_catalog.div(g.d1 * %(p10)s::numeric, nullif(g.size1, 0))::bigint END))::numeric, NULL::numeric, pg_catalog.count(*) FILTER (WHERE g.one) FROM h g WHERE g.size1 IS NOT NULL GROUP BY 1, 2
--   p1 = {"{0}","false","{32,38,45,53,63,75,89,106,126,149,177,211,251,298,354,421,501,595,708,841,1001,1190,1415,1682,2001,2379,2829,3364,4001,4757,5657,6728,8001,9514,11314,13455,16001,19028,22628,26909,32001,38055,45255,53818,64001,76110,90510,107635,128001,152219,181020,215270,256001,304438,362039,430539,512001,608875,724078,861078,1024001,1217749,1448155,1722156,2048001,2435497,2896310,3444312,4096001,4870993,5792619,6888624,8192001,9741985,11585238,13777247,16384001,19483970,23170476,27554494,32768001,38967939,46340951,55108988,65536001}","{0}","false","{32,38,45,53,63,75,89,106,126,149,177,211,251,298,354,421,501,595,708,841,1001,1190,1415,1682,2001,2379,2829,3364,4001,4757,5657,6728,8001,9514,11314,13455,16001,19028,22628,26909,32001,38055,45255,53818,64001,76110,90510,107635,128001,152219,181020,215270,256001,304438,362039,430539,512001,608875,724078,861078,1024001,1217749,1448155,1722156,2048001,2435497,2896310,3444312,4096001,4870993,5792619,6888624,8192001,9741985,11585238,13777247,16384001,19483970,23170476,27554494,32768001,38967939,46340951,55108988,65536001}"}
--   p2 = 1000
--   p3 = 0
--   p4 = 1000
--   p5 = 1
--   p6 = 1001
--   p7 = 1002
--   p8 = 1048576
--   p9 = ['2', '2', '2', '2', '3', '3', '3', '4', '5', '5', '6', '7', '9', '10', '12', '14', '17', '20', '23', '27', '33', '39', '46', '54', '65', '77', '91', '108', '129', '153', '182', '216', '257', '305', '363', '431', '513', '609', '725', '862', '1025', '1218', '1449', '1723', '2049', '2436', '2897', '3445', '4097', '4871', '5793', '6889', '8193', '9742', '11586', '13778', '16385', '19484', '23171', '27555', '32769', '38968', '46341', '55109', '65537', '77936', '92682', '110218', '131073', '155872', '185364', '220436', '262145', '311744', '370728', '440872', '524289', '623488', '741456', '881744', '1048577']
--   p10 = 1048576
--   p11 = -4398046511104
--   p12 = 4398046511104
--   p13 = 2
--   p14 = 3
--   p15 = 1
--   p16 = 6
--   p17 = 1099511627776
--   p18 = 1
--   p19 = 4
--   p20 = 5
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
--   max of order: clamp 0 .. 100, grid 1, rows 1, needed 305, epsilon 1 delta 0, size for 3/50
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
--   p3 = 305
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
--   avg from deviations: clamp 0 .. 100, grid 1, rows by choice, output grid 0.00001, epsilon 16/3 delta 0
-- w.notes, unit r1."uid": rows 4, groups 2, per group None; keys s of private; cells 0
--   selection: epsilon 4/3 delta 1/6000, each epsilon 0.666667 delta 8.334e-05
--   count(*): sensitivity 4, scale 3, epsilon 4/3 delta 0
-- => backend
WITH g AS MATERIALIZED (SELECT *, TRUE AS one, n0 AS all0 FROM (SELECT g.unit, nullif(least(g.v0, %(p13)s::bigint), 0) AS n0, least(greatest(g.v1, -least(g.v0, %(p13)s::bigint) * %(p2)s::bigint), least(g.v0, %(p13)s::bigint) * %(p2)s::bigint)::bigint AS y0 FROM (SELECT r2."uid" AS unit, pg_catalog.count(r2."i4") AS v0, (2 * pg_catalog.sum((pg_catalog.int4larger(pg_catalog.int4smaller(r2."i4", %(p4)s::integer), %(p3)s::integer))::integer) - %(p2)s::bigint * pg_catalog.count(r2."i4")) AS v1 FROM "w"."notes" AS r2 WHERE pg_catalog.octet_length(r2."uid") <= %(p12)s::integer GROUP BY r2."uid") g LIMIT ALL) t), h AS (SELECT *, pg_catalog.abs(d0) AS size0 FROM (SELECT g.unit, g.one, (CASE WHEN (SELECT (%(p1)s::text::text[])[%(p15)s::integer]::boolean) THEN (CASE WHEN (g.y0 * %(p14)s::bigint - ((SELECT (%(p1)s::text::text[])[%(p11)s::integer]::bigint[]))[%(p11)s::integer] * g.n0) BETWEEN %(p8)s::bigint AND %(p9)s::bigint THEN (g.y0 * %(p14)s::bigint - ((SELECT (%(p1)s::text::text[])[%(p11)s::integer]::bigint[]))[%(p11)s::integer] * g.n0) * %(p5)s::bigint / g.all0 ELSE pg_catalog.div((g.y0 * %(p14)s::bigint - ((SELECT (%(p1)s::text::text[])[%(p11)s::integer]::bigint[]))[%(p11)s::integer] * g.n0) * %(p7)s::numeric, g.all0)::bigint END) ELSE (g.y0 * %(p14)s::bigint - ((SELECT (%(p1)s::text::text[])[%(p11)s::integer]::bigint[]))[%(p11)s::integer] * g.n0) END) AS d0 FROM g LIMIT ALL) t LIMIT ALL) SELECT %(p3)s::integer AS place, pg_catalog.width_bucket(g.all0, %(p6)s::bigint[]) AS band, pg_catalog.sum(g.n0)::numeric, pg_catalog.sum(%(p5)s::bigint * g.n0 / g.all0)::numeric, pg_catalog.sum((CASE WHEN g.y0 BETWEEN %(p8)s::bigint AND %(p9)s::bigint THEN g.y0 * %(p5)s::bigint / g.all0 ELSE pg_catalog.div(g.y0 * %(p7)s::numeric, g.all0)::bigint END))::numeric, pg_catalog.count(*) FILTER (WHERE g.one) FROM g g WHERE g.all0 IS NOT NULL GROUP BY 1, 2 UNION ALL SELECT %(p11)s::integer AS place, pg_catalog.width_bucket(g.size0, (SELECT (%(p1)s::text::text[])[%(p10)s::integer]::bigint[])) AS band, pg_catalog.sum(g.d0)::numeric, pg_catalog.sum((CASE WHEN g.d0 BETWEEN %(p8)s::bigint AND %(p9)s::bigint THEN g.d0 * %(p5)s::bigint / nullif(g.size0, 0) ELSE pg_catalog.div(g.d0 * %(p7)s::numeric, nullif(g.size0, 0))::bigint END))::numeric, NULL::numeric, pg_catalog.count(*) FILTER (WHERE g.one) FROM h g WHERE g.size0 IS NOT NULL GROUP BY 1, 2
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
--   p12 = 4096
--   p13 = 1099511627776
--   p14 = 8
--   p15 = 2
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
