-- case: a mean shares its count with COUNT
-- policy: best
SELECT count(i4), avg(i4) FROM people
-- => plan
-- w.people, unit 1 row(s), partitions by hash of r1."id"; keys none; cells 0
--   count: sensitivity 1, scale 1/4, epsilon 4 delta 0
--   avg made of releases 1, 3: clamp 0 .. 100, grid 1, output grid 0.00001
--     centred sum for avg: clamp 0 .. 100, grid 1, sensitivity 100, scale 25, epsilon 4 delta 0
-- => backend
SELECT pg_catalog.count(r1."i4"), (2 * pg_catalog.sum((pg_catalog.int4larger(pg_catalog.int4smaller(r1."i4", %(p3)s::integer), %(p2)s::integer))::integer) - %(p1)s::bigint * pg_catalog.count(r1."i4"))::bigint FROM "w"."people" AS r1
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
SELECT pg_catalog.count(r1."i4"), (2 * pg_catalog.sum((pg_catalog.int4larger(pg_catalog.int4smaller(r1."i4", %(p3)s::integer), %(p2)s::integer))::integer) - %(p1)s::bigint * pg_catalog.count(r1."i4"))::bigint FROM "w"."people" AS r1
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
WITH g AS MATERIALIZED (SELECT g.v0, g.v1 FROM (SELECT r1."uid" AS unit, pg_catalog.count(r1."id") AS v0, (2 * pg_catalog.sum((pg_catalog.int4larger(pg_catalog.int4smaller(r1."id", %(p4)s::integer), %(p3)s::integer))::integer) - %(p2)s::bigint * pg_catalog.count(r1."id"))::bigint AS v1 FROM "w"."orders" AS r1 WHERE r1."uid" IS NOT NULL GROUP BY r1."uid") g LIMIT ALL), h AS (SELECT *, pg_catalog.abs(d0) AS size0 FROM (SELECT (CASE WHEN (SELECT (%(p1)s::text::text[])[%(p13)s::integer]::boolean) THEN (CASE WHEN (g.v1 * %(p12)s::bigint - ((SELECT (%(p1)s::text::text[])[%(p11)s::integer]::bigint[]))[%(p11)s::integer] * g.v0) BETWEEN %(p8)s::bigint AND %(p9)s::bigint THEN (g.v1 * %(p12)s::bigint - ((SELECT (%(p1)s::text::text[])[%(p11)s::integer]::bigint[]))[%(p11)s::integer] * g.v0) * %(p5)s::bigint / g.v0 ELSE pg_catalog.div((g.v1 * %(p12)s::bigint - ((SELECT (%(p1)s::text::text[])[%(p11)s::integer]::bigint[]))[%(p11)s::integer] * g.v0) * %(p7)s::numeric, g.v0)::bigint END) ELSE (g.v1 * %(p12)s::bigint - ((SELECT (%(p1)s::text::text[])[%(p11)s::integer]::bigint[]))[%(p11)s::integer] * g.v0) END) AS d0 FROM g LIMIT ALL) t LIMIT ALL) SELECT %(p3)s::integer AS place, pg_catalog.width_bucket(g.v0, %(p6)s::bigint[]) AS band, pg_catalog.sum(g.v0)::numeric, pg_catalog.sum(%(p5)s::bigint * g.v0 / g.v0)::numeric, pg_catalog.sum((CASE WHEN g.v1 BETWEEN %(p8)s::bigint AND %(p9)s::bigint THEN g.v1 * %(p5)s::bigint / g.v0 ELSE pg_catalog.div(g.v1 * %(p7)s::numeric, g.v0)::bigint END))::numeric, pg_catalog.count(*) FROM g g WHERE g.v0 > 0 GROUP BY 2 UNION ALL SELECT %(p11)s::integer AS place, pg_catalog.width_bucket(g.size0, (SELECT (%(p1)s::text::text[])[%(p10)s::integer]::bigint[])) AS band, pg_catalog.sum(g.d0)::numeric, pg_catalog.sum((CASE WHEN g.d0 BETWEEN %(p8)s::bigint AND %(p9)s::bigint THEN g.d0 * %(p5)s::bigint / nullif(g.size0, 0) ELSE pg_catalog.div(g.d0 * %(p7)s::numeric, nullif(g.size0, 0))::bigint END))::numeric, NULL::numeric, pg_catalog.count(*) FROM h g WHERE g.size0 IS NOT NULL GROUP BY 2
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
--   p12 = 1
--   p13 = 2
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
SELECT pg_catalog.count(*), pg_catalog.count(r1."i4"), (2 * pg_catalog.sum((pg_catalog.int4larger(pg_catalog.int4smaller(r1."i4", %(p3)s::integer), %(p2)s::integer))::integer) - %(p1)s::bigint * pg_catalog.count(r1."i4"))::bigint FROM "w"."people" AS r1
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
WITH g AS MATERIALIZED (SELECT g.v0, g.v1 FROM (SELECT r1."uid" AS unit, pg_catalog.count(r2."id") AS v0, (2 * pg_catalog.sum((pg_catalog.int4larger(pg_catalog.int4smaller(r2."id", %(p4)s::integer), %(p3)s::integer))::integer) - %(p2)s::bigint * pg_catalog.count(r2."id"))::bigint AS v1 FROM ((SELECT r1."uid" AS c1, r2."id" AS c2, r2."uid" AS c3 FROM (((SELECT r1."uid" FROM "w"."members" AS r1 WHERE r1."uid" IS NOT NULL) AS r1 CROSS JOIN (SELECT TRUE AS here) AS m1) FULL JOIN "w"."orders" AS r2 ON (r1."uid" = r2."uid")) WHERE CASE WHEN m1.here THEN TRUE ELSE FALSE END LIMIT ALL) AS j2 CROSS JOIN LATERAL (SELECT j2.c1 AS "uid") AS r1 CROSS JOIN LATERAL (SELECT j2.c2 AS "id", j2.c3 AS "uid") AS r2) GROUP BY r1."uid") g LIMIT ALL), h AS (SELECT *, pg_catalog.abs(d0) AS size0 FROM (SELECT (CASE WHEN (SELECT (%(p1)s::text::text[])[%(p13)s::integer]::boolean) THEN (CASE WHEN (g.v1 * %(p12)s::bigint - ((SELECT (%(p1)s::text::text[])[%(p11)s::integer]::bigint[]))[%(p11)s::integer] * g.v0) BETWEEN %(p8)s::bigint AND %(p9)s::bigint THEN (g.v1 * %(p12)s::bigint - ((SELECT (%(p1)s::text::text[])[%(p11)s::integer]::bigint[]))[%(p11)s::integer] * g.v0) * %(p5)s::bigint / g.v0 ELSE pg_catalog.div((g.v1 * %(p12)s::bigint - ((SELECT (%(p1)s::text::text[])[%(p11)s::integer]::bigint[]))[%(p11)s::integer] * g.v0) * %(p7)s::numeric, g.v0)::bigint END) ELSE (g.v1 * %(p12)s::bigint - ((SELECT (%(p1)s::text::text[])[%(p11)s::integer]::bigint[]))[%(p11)s::integer] * g.v0) END) AS d0 FROM g LIMIT ALL) t LIMIT ALL) SELECT %(p3)s::integer AS place, pg_catalog.width_bucket(g.v0, %(p6)s::bigint[]) AS band, pg_catalog.sum(g.v0)::numeric, pg_catalog.sum(%(p5)s::bigint * g.v0 / g.v0)::numeric, pg_catalog.sum((CASE WHEN g.v1 BETWEEN %(p8)s::bigint AND %(p9)s::bigint THEN g.v1 * %(p5)s::bigint / g.v0 ELSE pg_catalog.div(g.v1 * %(p7)s::numeric, g.v0)::bigint END))::numeric, pg_catalog.count(*) FROM g g WHERE g.v0 > 0 GROUP BY 2 UNION ALL SELECT %(p11)s::integer AS place, pg_catalog.width_bucket(g.size0, (SELECT (%(p1)s::text::text[])[%(p10)s::integer]::bigint[])) AS band, pg_catalog.sum(g.d0)::numeric, pg_catalog.sum((CASE WHEN g.d0 BETWEEN %(p8)s::bigint AND %(p9)s::bigint THEN g.d0 * %(p5)s::bigint / nullif(g.size0, 0) ELSE pg_catalog.div(g.d0 * %(p7)s::numeric, nullif(g.size0, 0))::bigint END))::numeric, NULL::numeric, pg_catalog.count(*) FROM h g WHERE g.size0 IS NOT NULL GROUP BY 2
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
--   p12 = 1
--   p13 = 2
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
SELECT pg_catalog.count(r1."i4") FILTER (WHERE r1."b"), pg_catalog.count(r1."i4"), (2 * pg_catalog.sum((pg_catalog.int4larger(pg_catalog.int4smaller(r1."i4", %(p3)s::integer), %(p2)s::integer))::integer) - %(p1)s::bigint * pg_catalog.count(r1."i4"))::bigint, (2 * pg_catalog.sum((pg_catalog.int4larger(pg_catalog.int4smaller(r1."i4", %(p3)s::integer), %(p2)s::integer))::integer) FILTER (WHERE r1."b") - %(p1)s::bigint * pg_catalog.count(r1."i4") FILTER (WHERE r1."b"))::bigint FROM "w"."people" AS r1
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
SELECT pg_catalog.count(r1."i4"), (2 * pg_catalog.sum((pg_catalog.int4larger(pg_catalog.int4smaller(r1."i4", %(p3)s::integer), %(p2)s::integer))::integer) - %(p1)s::bigint * pg_catalog.count(r1."i4"))::bigint, pg_catalog.sum((2 * ((2 * ((pg_catalog.int4larger(pg_catalog.int4smaller(r1."i4", %(p3)s::integer), %(p2)s::integer))::integer)::bigint - %(p1)s::bigint)::bigint) * ((2 * ((pg_catalog.int4larger(pg_catalog.int4smaller(r1."i4", %(p3)s::integer), %(p2)s::integer))::integer)::bigint - %(p1)s::bigint)::bigint) - %(p4)s::bigint)) FROM "w"."people" AS r1
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
--   avg from deviations: clamp 0 .. 175, grid 0.01, rows by choice, squares 2/5, output grid 0.00001, epsilon 16/3 delta 0
--   stddev_samp is release 2
-- => backend
SELECT k1, pg_catalog.sum(CASE WHEN total0 <= %(p1)s::bigint THEN v0 ELSE pg_catalog.div(v0::numeric * %(p1)s::bigint, total0)::bigint END) FROM (SELECT *, (pg_catalog.sum((v0)::float8) OVER (PARTITION BY unit))::bigint AS total0 FROM (SELECT r1."uid" AS unit, (r1."t")::text AS k1, pg_catalog.count(r1."n2") AS v0 FROM "w"."visits" AS r1 WHERE r1."uid" IS NOT NULL AND (r1."t" = ANY(%(p2)s::text[]::text[]) OR r1."t" IS NULL) GROUP BY r1."uid", 2) g) u GROUP BY 1
--   p1 = 5
--   p2 = ['x', 'y', 'z']
WITH g AS MATERIALIZED (SELECT *, pg_catalog.row_number() OVER (PARTITION BY unit) = 1 AS one, (pg_catalog.sum((v0)::float8) OVER (PARTITION BY unit))::bigint AS all_v0 FROM (SELECT g.unit, c.place::integer AS place, g.v0, g.v1, g.v2 FROM (SELECT r1."uid" AS unit, (r1."t")::text AS k1, pg_catalog.count(r1."n2") AS v0, (2 * pg_catalog.sum(pg_catalog.int4larger((pg_catalog.numeric_smaller(r1."n2" * %(p3)s::numeric, %(p4)s::numeric))::integer, %(p5)s::integer)) - %(p2)s::bigint * pg_catalog.count(r1."n2"))::bigint AS v1, pg_catalog.sum(((2 * (pg_catalog.int4larger((pg_catalog.numeric_smaller(r1."n2" * %(p3)s::numeric, %(p4)s::numeric))::integer, %(p5)s::integer))::bigint - %(p2)s::bigint)::bigint) * ((2 * (pg_catalog.int4larger((pg_catalog.numeric_smaller(r1."n2" * %(p3)s::numeric, %(p4)s::numeric))::integer, %(p5)s::integer))::bigint - %(p2)s::bigint)::bigint)) AS v2 FROM "w"."visits" AS r1 WHERE r1."uid" IS NOT NULL AND (r1."t" = ANY(%(p16)s::text[]::text[]) OR r1."t" IS NULL) GROUP BY r1."uid", 2) g JOIN ROWS FROM (pg_catalog.unnest(%(p17)s::text[])) WITH ORDINALITY AS c(k1, place) ON (CASE WHEN g.k1 IS NULL THEN '' ELSE 'v' || g.k1 END) COLLATE pg_catalog."C" = c.k1 LIMIT ALL) t), h AS (SELECT *, (pg_catalog.sum(pg_catalog.abs(d0)) OVER (PARTITION BY unit))::bigint AS size0, (pg_catalog.sum(pg_catalog.abs(q0)) OVER (PARTITION BY unit))::bigint AS extent0 FROM (SELECT g.unit, g.place, g.one, (CASE WHEN (SELECT (%(p1)s::text::text[])[%(p15)s::integer]::boolean) THEN (CASE WHEN (g.v1 * %(p18)s::bigint - ((SELECT (%(p1)s::text::text[])[%(p13)s::integer]::bigint[]))[g.place] * g.v0) BETWEEN %(p9)s::bigint AND %(p10)s::bigint THEN (g.v1 * %(p18)s::bigint - ((SELECT (%(p1)s::text::text[])[%(p13)s::integer]::bigint[]))[g.place] * g.v0) * %(p6)s::bigint / g.all_v0 ELSE pg_catalog.div((g.v1 * %(p18)s::bigint - ((SELECT (%(p1)s::text::text[])[%(p13)s::integer]::bigint[]))[g.place] * g.v0) * %(p8)s::numeric, g.all_v0)::bigint END) ELSE (g.v1 * %(p18)s::bigint - ((SELECT (%(p1)s::text::text[])[%(p13)s::integer]::bigint[]))[g.place] * g.v0) END) AS d0, (CASE WHEN (SELECT (%(p1)s::text::text[])[%(p15)s::integer]::boolean) THEN (CASE WHEN (CASE WHEN g.v0 <= %(p20)s::bigint THEN (%(p18)s::bigint * %(p18)s::bigint * g.v2::bigint - ((SELECT (%(p1)s::text::text[])[%(p13)s::integer]::bigint[]))[g.place] * (2 * %(p18)s::bigint * g.v1 - ((SELECT (%(p1)s::text::text[])[%(p13)s::integer]::bigint[]))[g.place] * g.v0)) ELSE (pg_catalog.numeric_smaller((%(p19)s::numeric * %(p19)s::numeric * g.v2::numeric - ((SELECT (%(p1)s::text::text[])[%(p13)s::integer]::bigint[]))[g.place]::numeric * (2 * %(p19)s::numeric * g.v1 - ((SELECT (%(p1)s::text::text[])[%(p13)s::integer]::bigint[]))[g.place]::numeric * g.v0)), %(p21)s::numeric))::bigint END) BETWEEN %(p9)s::bigint AND %(p10)s::bigint THEN (CASE WHEN g.v0 <= %(p20)s::bigint THEN (%(p18)s::bigint * %(p18)s::bigint * g.v2::bigint - ((SELECT (%(p1)s::text::text[])[%(p13)s::integer]::bigint[]))[g.place] * (2 * %(p18)s::bigint * g.v1 - ((SELECT (%(p1)s::text::text[])[%(p13)s::integer]::bigint[]))[g.place] * g.v0)) ELSE (pg_catalog.numeric_smaller((%(p19)s::numeric * %(p19)s::numeric * g.v2::numeric - ((SELECT (%(p1)s::text::text[])[%(p13)s::integer]::bigint[]))[g.place]::numeric * (2 * %(p19)s::numeric * g.v1 - ((SELECT (%(p1)s::text::text[])[%(p13)s::integer]::bigint[]))[g.place]::numeric * g.v0)), %(p21)s::numeric))::bigint END) * %(p6)s::bigint / g.all_v0 ELSE pg_catalog.div((CASE WHEN g.v0 <= %(p20)s::bigint THEN (%(p18)s::bigint * %(p18)s::bigint * g.v2::bigint - ((SELECT (%(p1)s::text::text[])[%(p13)s::integer]::bigint[]))[g.place] * (2 * %(p18)s::bigint * g.v1 - ((SELECT (%(p1)s::text::text[])[%(p13)s::integer]::bigint[]))[g.place] * g.v0)) ELSE (pg_catalog.numeric_smaller((%(p19)s::numeric * %(p19)s::numeric * g.v2::numeric - ((SELECT (%(p1)s::text::text[])[%(p13)s::integer]::bigint[]))[g.place]::numeric * (2 * %(p19)s::numeric * g.v1 - ((SELECT (%(p1)s::text::text[])[%(p13)s::integer]::bigint[]))[g.place]::numeric * g.v0)), %(p21)s::numeric))::bigint END) * %(p8)s::numeric, g.all_v0)::bigint END) ELSE (CASE WHEN g.v0 <= %(p20)s::bigint THEN (%(p18)s::bigint * %(p18)s::bigint * g.v2::bigint - ((SELECT (%(p1)s::text::text[])[%(p13)s::integer]::bigint[]))[g.place] * (2 * %(p18)s::bigint * g.v1 - ((SELECT (%(p1)s::text::text[])[%(p13)s::integer]::bigint[]))[g.place] * g.v0)) ELSE (pg_catalog.numeric_smaller((%(p19)s::numeric * %(p19)s::numeric * g.v2::numeric - ((SELECT (%(p1)s::text::text[])[%(p13)s::integer]::bigint[]))[g.place]::numeric * (2 * %(p19)s::numeric * g.v1 - ((SELECT (%(p1)s::text::text[])[%(p13)s::integer]::bigint[]))[g.place]::numeric * g.v0)), %(p21)s::numeric))::bigint END) END) AS q0 FROM g ORDER BY g.unit LIMIT ALL) t LIMIT ALL) SELECT %(p11)s::jsonb ->> (g.place - 1) AS k1, %(p5)s::integer AS place, pg_catalog.width_bucket(g.all_v0, %(p7)s::bigint[]) AS band, pg_catalog.sum(g.v0)::numeric, pg_catalog.sum(%(p6)s::bigint * g.v0 / g.all_v0)::numeric, pg_catalog.sum((CASE WHEN g.v1 BETWEEN %(p9)s::bigint AND %(p10)s::bigint THEN g.v1 * %(p6)s::bigint / g.all_v0 ELSE pg_catalog.div(g.v1 * %(p8)s::numeric, g.all_v0)::bigint END))::numeric, pg_catalog.count(*) FILTER (WHERE g.one) FROM g g WHERE g.all_v0 > 0 GROUP BY g.place, 3 UNION ALL SELECT %(p11)s::jsonb ->> (g.place - 1) AS k1, %(p13)s::integer AS place, pg_catalog.width_bucket(g.size0, (SELECT (%(p1)s::text::text[])[%(p12)s::integer]::bigint[])) AS band, pg_catalog.sum(g.d0)::numeric, pg_catalog.sum((CASE WHEN g.d0 BETWEEN %(p9)s::bigint AND %(p10)s::bigint THEN g.d0 * %(p6)s::bigint / nullif(g.size0, 0) ELSE pg_catalog.div(g.d0 * %(p8)s::numeric, nullif(g.size0, 0))::bigint END))::numeric, NULL::numeric, pg_catalog.count(*) FILTER (WHERE g.one) FROM h g WHERE g.size0 IS NOT NULL GROUP BY g.place, 3 UNION ALL SELECT %(p11)s::jsonb ->> (g.place - 1) AS k1, %(p15)s::integer AS place, pg_catalog.width_bucket(g.extent0, (SELECT (%(p1)s::text::text[])[%(p14)s::integer]::bigint[])) AS band, pg_catalog.sum(g.q0)::numeric, pg_catalog.sum((CASE WHEN g.q0 BETWEEN %(p9)s::bigint AND %(p10)s::bigint THEN g.q0 * %(p6)s::bigint / nullif(g.extent0, 0) ELSE pg_catalog.div(g.q0 * %(p8)s::numeric, nullif(g.extent0, 0))::bigint END))::numeric, NULL::numeric, pg_catalog.count(*) FILTER (WHERE g.one) FROM h g WHERE g.extent0 IS NOT NULL GROUP BY g.place, 3
--   p1 = {"{0,0,0,0}","false","{547,651,774,920,1094,1301,1547,1840,2188,2602,3094,3679,4376,5203,6188,7358,8751,10406,12375,14716,17501,20812,24749,29432,35001,41623,49498,58863,70001,83245,98995,117726,140001,166489,197990,235451,280001,332978,395980,470902,560001,665956,791960,941804,1120001,1331912,1583920,1883608,2240001,2663824,3167839,3767216,4480001,5327648,6335677,7534432,8960001,10655296,12671354,15068864,17920001,21310592,25342708,30137728,35840001,42621184,50685415,60275456,71680001,85242367,101370829,120550911,143360001,170484733,202741657,241101821,286720001,340969465,405483313,482203641,573440001,681938929,810966626,964407281,1146880001}","{74769,88915,105739,125745,149537,177830,211477,251489,299073,355659,422953,502978,598145,711318,845905,1005956,1196290,1422636,1691809,2011911,2392579,2845271,3383617,4023821,4785157,5690542,6767233,8047642,9570313,11381084,13534466,16095283,19140626,22762168,27068932,32190566,38281251,45524335,54137863,64381132,76562501,91048670,108275726,128762264,153125001,182097340,216551452,257524528,306250001,364194679,433102904,515049055,612500001,728389358,866205807,1030098109,1225000001,1456778716,1732411614,2060196218,2450000001,2913557432,3464823228,4120392435,4900000001,5827114864,6929646456,8240784870,9800000001,11654229728,13859292912,16481569739,19600000001,23308459455,27718585823,32963139478,39200000001,46616918909,55437171646,65926278956,78400000001,93233837817,110874343291,131852557912,156800000001,186467675633,221748686581,263705115824,313600000001,372935351265,443497373161,527410231648,627200000001,745870702530,886994746321,1054820463295,1254400000001,1491741405060,1773989492641,2109640926589,2508800000001,2983482810119,3547978985282,4219281853178,5017600000001,5966965620238,7095957970564,8438563706355,10035200000001,11933931240476,14191915941127,16877127412709,20070400000001,23867862480951,28383831882253,33754254825417,40140800000001,47735724961902,56767663764506,67508509650833,80281600000001,95471449923803,113535327529012,135017019301666,160563200000001,190942899847605,227070655058024,270034038603331,321126400000001,381885799695210,454141310116048,540068077206661,642252800000001,763771599390420,908282620232095,1080136154413322,1284505600000001,1527543198780840,1816565240464190,2160272308826644,2569011200000001}"}
--   p2 = 17500
--   p3 = 100
--   p4 = 17500
--   p5 = 0
--   p6 = 1048576
--   p7 = ['2', '2', '2', '2', '3', '3', '3', '4', '5', '5', '6', '7', '9', '10', '12', '14', '17', '20', '23', '27', '33', '39', '46', '54', '65', '77', '91', '108', '129', '153', '182', '216', '257', '305', '363', '431', '513', '609', '725', '862', '1025', '1218', '1449', '1723', '2049', '2436', '2897', '3445', '4097', '4871', '5793', '6889', '8193', '9742', '11586', '13778', '16385', '19484', '23171', '27555', '32769', '38968', '46341', '55109', '65537', '77936', '92682', '110218', '131073', '155872', '185364', '220436', '262145', '311744', '370728', '440872', '524289', '623488', '741456', '881744', '1048577']
--   p8 = 1048576
--   p9 = -4398046511104
--   p10 = 4398046511104
--   p11 = ["x", "y", "z", null]
--   p12 = 3
--   p13 = 1
--   p14 = 4
--   p15 = 2
--   p16 = ['x', 'y', 'z']
--   p17 = ['vx', 'vy', 'vz', '']
--   p18 = 1
--   p19 = 1
--   p20 = 941160411
--   p21 = 1152921504606846976
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
SELECT k1, pg_catalog.sum(least(v0, %(p2)s::bigint)), pg_catalog.sum(CASE WHEN v1 IS NOT NULL THEN least(greatest(CASE WHEN v0 <= least(v0, %(p2)s::bigint) THEN v1 ELSE pg_catalog.round(v1::numeric * least(v0, %(p2)s::bigint) / v0) END, least(v0, %(p2)s::bigint) * %(p6)s::bigint), least(v0, %(p2)s::bigint) * %(p3)s::bigint) END), pg_catalog.sum(CASE WHEN v2 IS NOT NULL THEN least(greatest(CASE WHEN v0 <= least(v0, %(p2)s::bigint) THEN v2 ELSE pg_catalog.round(v2::numeric * least(v0, %(p2)s::bigint) / v0) END, least(v0, %(p2)s::bigint) * %(p8)s::bigint), least(v0, %(p2)s::bigint) * %(p7)s::bigint) END), pg_catalog.count(*) FROM (SELECT * FROM (SELECT *, pg_catalog.row_number() OVER (PARTITION BY unit ORDER BY pg_catalog.hashint8extended(pg_catalog.hash_record_extended(ROW(g."unit", k1), %(p10)s::bigint), %(p10)s::bigint), k1) AS rank FROM (SELECT r1."uid" AS unit, (r1."s")::text AS k1, pg_catalog.count(r1."i4") AS v0, (2 * pg_catalog.sum((pg_catalog.int4larger(pg_catalog.int4smaller(r1."i4", %(p5)s::integer), %(p4)s::integer))::integer) - %(p3)s::bigint * pg_catalog.count(r1."i4"))::bigint AS v1, pg_catalog.sum((2 * ((2 * ((pg_catalog.int4larger(pg_catalog.int4smaller(r1."i4", %(p5)s::integer), %(p4)s::integer))::integer)::bigint - %(p3)s::bigint)::bigint) * ((2 * ((pg_catalog.int4larger(pg_catalog.int4smaller(r1."i4", %(p5)s::integer), %(p4)s::integer))::integer)::bigint - %(p3)s::bigint)::bigint) - %(p7)s::bigint)) AS v2 FROM "w"."orders" AS r1 WHERE r1."uid" IS NOT NULL GROUP BY r1."uid", 2, coalesce(pg_catalog.hashtextextended(((r1."s")::text)::text, %(p9)s::bigint), %(p9)s::bigint)) g) c WHERE rank <= %(p2)s::bigint) u GROUP BY 1, coalesce(pg_catalog.hashtextextended((k1)::text, %(p9)s::bigint), %(p9)s::bigint)
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
WITH g AS MATERIALIZED (SELECT g.v0, g.v1, g.v2, g.v3 FROM (SELECT r1."uid" AS unit, pg_catalog.count(r1."id") AS v0, (2 * pg_catalog.sum((pg_catalog.int4larger(pg_catalog.int4smaller(r1."id", %(p4)s::integer), %(p3)s::integer))::integer) - %(p2)s::bigint * pg_catalog.count(r1."id"))::bigint AS v1, pg_catalog.count((pg_catalog.int4larger(pg_catalog.int4smaller(r1."id", %(p4)s::integer), %(p3)s::integer))::integer) AS v2, (2 * pg_catalog.sum(pg_catalog.int8larger(pg_catalog.int8smaller((((pg_catalog.int4larger(pg_catalog.int4smaller(r1."id", %(p4)s::integer), %(p3)s::integer))::integer)::bigint + %(p6)s::bigint), %(p7)s::bigint), %(p6)s::bigint)) - %(p5)s::bigint * pg_catalog.count((pg_catalog.int4larger(pg_catalog.int4smaller(r1."id", %(p4)s::integer), %(p3)s::integer))::integer))::bigint AS v3 FROM "w"."orders" AS r1 WHERE r1."uid" IS NOT NULL GROUP BY r1."uid") g LIMIT ALL), h AS (SELECT *, pg_catalog.abs(d0) AS size0, pg_catalog.abs(d1) AS size1 FROM (SELECT (CASE WHEN (SELECT (%(p1)s::text::text[])[%(p13)s::integer]::boolean) THEN (CASE WHEN (g.v1 * %(p6)s::bigint - ((SELECT (%(p1)s::text::text[])[%(p15)s::integer]::bigint[]))[%(p15)s::integer] * g.v0) BETWEEN %(p11)s::bigint AND %(p12)s::bigint THEN (g.v1 * %(p6)s::bigint - ((SELECT (%(p1)s::text::text[])[%(p15)s::integer]::bigint[]))[%(p15)s::integer] * g.v0) * %(p8)s::bigint / g.v0 ELSE pg_catalog.div((g.v1 * %(p6)s::bigint - ((SELECT (%(p1)s::text::text[])[%(p15)s::integer]::bigint[]))[%(p15)s::integer] * g.v0) * %(p10)s::numeric, g.v0)::bigint END) ELSE (g.v1 * %(p6)s::bigint - ((SELECT (%(p1)s::text::text[])[%(p15)s::integer]::bigint[]))[%(p15)s::integer] * g.v0) END) AS d0, (CASE WHEN (SELECT (%(p1)s::text::text[])[%(p18)s::integer]::boolean) THEN (CASE WHEN (g.v3 * %(p6)s::bigint - ((SELECT (%(p1)s::text::text[])[%(p17)s::integer]::bigint[]))[%(p15)s::integer] * g.v2) BETWEEN %(p11)s::bigint AND %(p12)s::bigint THEN (g.v3 * %(p6)s::bigint - ((SELECT (%(p1)s::text::text[])[%(p17)s::integer]::bigint[]))[%(p15)s::integer] * g.v2) * %(p8)s::bigint / g.v2 ELSE pg_catalog.div((g.v3 * %(p6)s::bigint - ((SELECT (%(p1)s::text::text[])[%(p17)s::integer]::bigint[]))[%(p15)s::integer] * g.v2) * %(p10)s::numeric, g.v2)::bigint END) ELSE (g.v3 * %(p6)s::bigint - ((SELECT (%(p1)s::text::text[])[%(p17)s::integer]::bigint[]))[%(p15)s::integer] * g.v2) END) AS d1 FROM g LIMIT ALL) t LIMIT ALL) SELECT %(p3)s::integer AS place, pg_catalog.width_bucket(g.v0, %(p9)s::bigint[]) AS band, pg_catalog.sum(g.v0)::numeric, pg_catalog.sum(%(p8)s::bigint * g.v0 / g.v0)::numeric, pg_catalog.sum((CASE WHEN g.v1 BETWEEN %(p11)s::bigint AND %(p12)s::bigint THEN g.v1 * %(p8)s::bigint / g.v0 ELSE pg_catalog.div(g.v1 * %(p10)s::numeric, g.v0)::bigint END))::numeric, pg_catalog.count(*) FROM g g WHERE g.v0 > 0 GROUP BY 2 UNION ALL SELECT %(p13)s::integer AS place, pg_catalog.width_bucket(g.v2, %(p9)s::bigint[]) AS band, pg_catalog.sum(g.v2)::numeric, pg_catalog.sum(%(p8)s::bigint * g.v2 / g.v2)::numeric, pg_catalog.sum((CASE WHEN g.v3 BETWEEN %(p11)s::bigint AND %(p12)s::bigint THEN g.v3 * %(p8)s::bigint / g.v2 ELSE pg_catalog.div(g.v3 * %(p10)s::numeric, g.v2)::bigint END))::numeric, pg_catalog.count(*) FROM g g WHERE g.v2 > 0 GROUP BY 2 UNION ALL SELECT %(p15)s::integer AS place, pg_catalog.width_bucket(g.size0, (SELECT (%(p1)s::text::text[])[%(p14)s::integer]::bigint[])) AS band, pg_catalog.sum(g.d0)::numeric, pg_catalog.sum((CASE WHEN g.d0 BETWEEN %(p11)s::bigint AND %(p12)s::bigint THEN g.d0 * %(p8)s::bigint / nullif(g.size0, 0) ELSE pg_catalog.div(g.d0 * %(p10)s::numeric, nullif(g.size0, 0))::bigint END))::numeric, NULL::numeric, pg_catalog.count(*) FROM h g WHERE g.size0 IS NOT NULL GROUP BY 2 UNION ALL SELECT %(p14)s::integer AS place, pg_catalog.width_bucket(g.size1, (SELECT (%(p1)s::text::text[])[%(p16)s::integer]::bigint[])) AS band, pg_catalog.sum(g.d1)::numeric, pg_catalog.sum((CASE WHEN g.d1 BETWEEN %(p11)s::bigint AND %(p12)s::bigint THEN g.d1 * %(p8)s::bigint / nullif(g.size1, 0) ELSE pg_catalog.div(g.d1 * %(p10)s::numeric, nullif(g.size1, 0))::bigint END))::numeric, NULL::numeric, pg_catalog.count(*) FROM h g WHERE g.size1 IS NOT NULL GROUP BY 2
--   p1 = {"{0}","false","{32,38,45,53,63,75,89,106,126,149,177,211,251,298,354,421,501,595,708,841,1001,1190,1415,1682,2001,2379,2829,3364,4001,4757,5657,6728,8001,9514,11314,13455,16001,19028,22628,26909,32001,38055,45255,53818,64001,76110,90510,107635,128001,152219,181020,215270,256001,304438,362039,430539,512001,608875,724078,861078,1024001,1217749,1448155,1722156,2048001,2435497,2896310,3444312,4096001,4870993,5792619,6888624,8192001,9741985,11585238,13777247,16384001,19483970,23170476,27554494,32768001,38967939,46340951,55108988,65536001}","{0}","false","{32,38,45,53,63,75,89,106,126,149,177,211,251,298,354,421,501,595,708,841,1001,1190,1415,1682,2001,2379,2829,3364,4001,4757,5657,6728,8001,9514,11314,13455,16001,19028,22628,26909,32001,38055,45255,53818,64001,76110,90510,107635,128001,152219,181020,215270,256001,304438,362039,430539,512001,608875,724078,861078,1024001,1217749,1448155,1722156,2048001,2435497,2896310,3444312,4096001,4870993,5792619,6888624,8192001,9741985,11585238,13777247,16384001,19483970,23170476,27554494,32768001,38967939,46340951,55108988,65536001}"}
--   p2 = 1000
--   p3 = 0
--   p4 = 1000
--   p5 = 1002
--   p6 = 1
--   p7 = 1001
--   p8 = 1048576
--   p9 = ['2', '2', '2', '2', '3', '3', '3', '4', '5', '5', '6', '7', '9', '10', '12', '14', '17', '20', '23', '27', '33', '39', '46', '54', '65', '77', '91', '108', '129', '153', '182', '216', '257', '305', '363', '431', '513', '609', '725', '862', '1025', '1218', '1449', '1723', '2049', '2436', '2897', '3445', '4097', '4871', '5793', '6889', '8193', '9742', '11586', '13778', '16385', '19484', '23171', '27555', '32769', '38968', '46341', '55109', '65537', '77936', '92682', '110218', '131073', '155872', '185364', '220436', '262145', '311744', '370728', '440872', '524289', '623488', '741456', '881744', '1048577']
--   p10 = 1048576
--   p11 = -4398046511104
--   p12 = 4398046511104
--   p13 = 2
--   p14 = 3
--   p15 = 1
--   p16 = 6
--   p17 = 4
--   p18 = 5
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
SELECT x2, pg_catalog.count(x1), pg_catalog.sum((pg_catalog.int4larger(pg_catalog.int4smaller(x1, %(p2)s::integer), %(p1)s::integer))::integer) FROM (SELECT r1."i4" AS x1, pg_catalog.mod(((pg_catalog.hashint4extended(r1."id"::integer, %(p3)s::bigint)) & %(p4)s::bigint)::integer, %(p5)s::integer) AS x2 FROM "w"."people" AS r1 LIMIT ALL) r GROUP BY 1
--   p1 = 0
--   p2 = 100
--   p3 = random
--   p4 = 2147483647
--   p5 = 137
-- => loss
-- epsilon 8 delta 1/3000
-- => residual
SELECT dp_b1.a1 AS "count", dp_b1.a2 AS "sum", dp_b1.a3 AS "avg" FROM pg_catalog.jsonb_to_recordset(($1)::pg_catalog.jsonb->'b1') AS dp_b1(a1 bigint, a2 bigint, a3 numeric)

-- case: spellings of variance of a user's rows share one release about centres
-- policy: best
SELECT variance(n2), stddev_pop(n2) FROM visits
-- => plan
-- w.visits, unit r1."uid": rows 5, groups None, per group None; keys none; cells 0
--   var_samp from deviations: clamp 0 .. 175, grid 0.01, rows by choice, squares 2/5, output grid 0.00001, epsilon 8 delta 0
--   stddev_pop is release 1
-- => backend
WITH g AS MATERIALIZED (SELECT g.v0, g.v1, g.v2 FROM (SELECT r1."uid" AS unit, pg_catalog.count(r1."n2") AS v0, (2 * pg_catalog.sum(pg_catalog.int4larger((pg_catalog.numeric_smaller(r1."n2" * %(p3)s::numeric, %(p4)s::numeric))::integer, %(p5)s::integer)) - %(p2)s::bigint * pg_catalog.count(r1."n2"))::bigint AS v1, pg_catalog.sum(((2 * (pg_catalog.int4larger((pg_catalog.numeric_smaller(r1."n2" * %(p3)s::numeric, %(p4)s::numeric))::integer, %(p5)s::integer))::bigint - %(p2)s::bigint)::bigint) * ((2 * (pg_catalog.int4larger((pg_catalog.numeric_smaller(r1."n2" * %(p3)s::numeric, %(p4)s::numeric))::integer, %(p5)s::integer))::bigint - %(p2)s::bigint)::bigint)) AS v2 FROM "w"."visits" AS r1 WHERE r1."uid" IS NOT NULL GROUP BY r1."uid") g LIMIT ALL), h AS (SELECT *, pg_catalog.abs(d0) AS size0, pg_catalog.abs(q0) AS extent0 FROM (SELECT (CASE WHEN (SELECT (%(p1)s::text::text[])[%(p14)s::integer]::boolean) THEN (CASE WHEN (g.v1 * %(p15)s::bigint - ((SELECT (%(p1)s::text::text[])[%(p12)s::integer]::bigint[]))[%(p12)s::integer] * g.v0) BETWEEN %(p9)s::bigint AND %(p10)s::bigint THEN (g.v1 * %(p15)s::bigint - ((SELECT (%(p1)s::text::text[])[%(p12)s::integer]::bigint[]))[%(p12)s::integer] * g.v0) * %(p6)s::bigint / g.v0 ELSE pg_catalog.div((g.v1 * %(p15)s::bigint - ((SELECT (%(p1)s::text::text[])[%(p12)s::integer]::bigint[]))[%(p12)s::integer] * g.v0) * %(p8)s::numeric, g.v0)::bigint END) ELSE (g.v1 * %(p15)s::bigint - ((SELECT (%(p1)s::text::text[])[%(p12)s::integer]::bigint[]))[%(p12)s::integer] * g.v0) END) AS d0, (CASE WHEN (SELECT (%(p1)s::text::text[])[%(p14)s::integer]::boolean) THEN (CASE WHEN (CASE WHEN g.v0 <= %(p17)s::bigint THEN (%(p15)s::bigint * %(p15)s::bigint * g.v2::bigint - ((SELECT (%(p1)s::text::text[])[%(p12)s::integer]::bigint[]))[%(p12)s::integer] * (2 * %(p15)s::bigint * g.v1 - ((SELECT (%(p1)s::text::text[])[%(p12)s::integer]::bigint[]))[%(p12)s::integer] * g.v0)) ELSE (pg_catalog.numeric_smaller((%(p16)s::numeric * %(p16)s::numeric * g.v2::numeric - ((SELECT (%(p1)s::text::text[])[%(p12)s::integer]::bigint[]))[%(p12)s::integer]::numeric * (2 * %(p16)s::numeric * g.v1 - ((SELECT (%(p1)s::text::text[])[%(p12)s::integer]::bigint[]))[%(p12)s::integer]::numeric * g.v0)), %(p18)s::numeric))::bigint END) BETWEEN %(p9)s::bigint AND %(p10)s::bigint THEN (CASE WHEN g.v0 <= %(p17)s::bigint THEN (%(p15)s::bigint * %(p15)s::bigint * g.v2::bigint - ((SELECT (%(p1)s::text::text[])[%(p12)s::integer]::bigint[]))[%(p12)s::integer] * (2 * %(p15)s::bigint * g.v1 - ((SELECT (%(p1)s::text::text[])[%(p12)s::integer]::bigint[]))[%(p12)s::integer] * g.v0)) ELSE (pg_catalog.numeric_smaller((%(p16)s::numeric * %(p16)s::numeric * g.v2::numeric - ((SELECT (%(p1)s::text::text[])[%(p12)s::integer]::bigint[]))[%(p12)s::integer]::numeric * (2 * %(p16)s::numeric * g.v1 - ((SELECT (%(p1)s::text::text[])[%(p12)s::integer]::bigint[]))[%(p12)s::integer]::numeric * g.v0)), %(p18)s::numeric))::bigint END) * %(p6)s::bigint / g.v0 ELSE pg_catalog.div((CASE WHEN g.v0 <= %(p17)s::bigint THEN (%(p15)s::bigint * %(p15)s::bigint * g.v2::bigint - ((SELECT (%(p1)s::text::text[])[%(p12)s::integer]::bigint[]))[%(p12)s::integer] * (2 * %(p15)s::bigint * g.v1 - ((SELECT (%(p1)s::text::text[])[%(p12)s::integer]::bigint[]))[%(p12)s::integer] * g.v0)) ELSE (pg_catalog.numeric_smaller((%(p16)s::numeric * %(p16)s::numeric * g.v2::numeric - ((SELECT (%(p1)s::text::text[])[%(p12)s::integer]::bigint[]))[%(p12)s::integer]::numeric * (2 * %(p16)s::numeric * g.v1 - ((SELECT (%(p1)s::text::text[])[%(p12)s::integer]::bigint[]))[%(p12)s::integer]::numeric * g.v0)), %(p18)s::numeric))::bigint END) * %(p8)s::numeric, g.v0)::bigint END) ELSE (CASE WHEN g.v0 <= %(p17)s::bigint THEN (%(p15)s::bigint * %(p15)s::bigint * g.v2::bigint - ((SELECT (%(p1)s::text::text[])[%(p12)s::integer]::bigint[]))[%(p12)s::integer] * (2 * %(p15)s::bigint * g.v1 - ((SELECT (%(p1)s::text::text[])[%(p12)s::integer]::bigint[]))[%(p12)s::integer] * g.v0)) ELSE (pg_catalog.numeric_smaller((%(p16)s::numeric * %(p16)s::numeric * g.v2::numeric - ((SELECT (%(p1)s::text::text[])[%(p12)s::integer]::bigint[]))[%(p12)s::integer]::numeric * (2 * %(p16)s::numeric * g.v1 - ((SELECT (%(p1)s::text::text[])[%(p12)s::integer]::bigint[]))[%(p12)s::integer]::numeric * g.v0)), %(p18)s::numeric))::bigint END) END) AS q0 FROM g LIMIT ALL) t LIMIT ALL) SELECT %(p5)s::integer AS place, pg_catalog.width_bucket(g.v0, %(p7)s::bigint[]) AS band, pg_catalog.sum(g.v0)::numeric, pg_catalog.sum(%(p6)s::bigint * g.v0 / g.v0)::numeric, pg_catalog.sum((CASE WHEN g.v1 BETWEEN %(p9)s::bigint AND %(p10)s::bigint THEN g.v1 * %(p6)s::bigint / g.v0 ELSE pg_catalog.div(g.v1 * %(p8)s::numeric, g.v0)::bigint END))::numeric, pg_catalog.count(*) FROM g g WHERE g.v0 > 0 GROUP BY 2 UNION ALL SELECT %(p12)s::integer AS place, pg_catalog.width_bucket(g.size0, (SELECT (%(p1)s::text::text[])[%(p11)s::integer]::bigint[])) AS band, pg_catalog.sum(g.d0)::numeric, pg_catalog.sum((CASE WHEN g.d0 BETWEEN %(p9)s::bigint AND %(p10)s::bigint THEN g.d0 * %(p6)s::bigint / nullif(g.size0, 0) ELSE pg_catalog.div(g.d0 * %(p8)s::numeric, nullif(g.size0, 0))::bigint END))::numeric, NULL::numeric, pg_catalog.count(*) FROM h g WHERE g.size0 IS NOT NULL GROUP BY 2 UNION ALL SELECT %(p14)s::integer AS place, pg_catalog.width_bucket(g.extent0, (SELECT (%(p1)s::text::text[])[%(p13)s::integer]::bigint[])) AS band, pg_catalog.sum(g.q0)::numeric, pg_catalog.sum((CASE WHEN g.q0 BETWEEN %(p9)s::bigint AND %(p10)s::bigint THEN g.q0 * %(p6)s::bigint / nullif(g.extent0, 0) ELSE pg_catalog.div(g.q0 * %(p8)s::numeric, nullif(g.extent0, 0))::bigint END))::numeric, NULL::numeric, pg_catalog.count(*) FROM h g WHERE g.extent0 IS NOT NULL GROUP BY 2
--   p1 = {"{0}","false","{547,651,774,920,1094,1301,1547,1840,2188,2602,3094,3679,4376,5203,6188,7358,8751,10406,12375,14716,17501,20812,24749,29432,35001,41623,49498,58863,70001,83245,98995,117726,140001,166489,197990,235451,280001,332978,395980,470902,560001,665956,791960,941804,1120001,1331912,1583920,1883608,2240001,2663824,3167839,3767216,4480001,5327648,6335677,7534432,8960001,10655296,12671354,15068864,17920001,21310592,25342708,30137728,35840001,42621184,50685415,60275456,71680001,85242367,101370829,120550911,143360001,170484733,202741657,241101821,286720001,340969465,405483313,482203641,573440001,681938929,810966626,964407281,1146880001}","{74769,88915,105739,125745,149537,177830,211477,251489,299073,355659,422953,502978,598145,711318,845905,1005956,1196290,1422636,1691809,2011911,2392579,2845271,3383617,4023821,4785157,5690542,6767233,8047642,9570313,11381084,13534466,16095283,19140626,22762168,27068932,32190566,38281251,45524335,54137863,64381132,76562501,91048670,108275726,128762264,153125001,182097340,216551452,257524528,306250001,364194679,433102904,515049055,612500001,728389358,866205807,1030098109,1225000001,1456778716,1732411614,2060196218,2450000001,2913557432,3464823228,4120392435,4900000001,5827114864,6929646456,8240784870,9800000001,11654229728,13859292912,16481569739,19600000001,23308459455,27718585823,32963139478,39200000001,46616918909,55437171646,65926278956,78400000001,93233837817,110874343291,131852557912,156800000001,186467675633,221748686581,263705115824,313600000001,372935351265,443497373161,527410231648,627200000001,745870702530,886994746321,1054820463295,1254400000001,1491741405060,1773989492641,2109640926589,2508800000001,2983482810119,3547978985282,4219281853178,5017600000001,5966965620238,7095957970564,8438563706355,10035200000001,11933931240476,14191915941127,16877127412709,20070400000001,23867862480951,28383831882253,33754254825417,40140800000001,47735724961902,56767663764506,67508509650833,80281600000001,95471449923803,113535327529012,135017019301666,160563200000001,190942899847605,227070655058024,270034038603331,321126400000001,381885799695210,454141310116048,540068077206661,642252800000001,763771599390420,908282620232095,1080136154413322,1284505600000001,1527543198780840,1816565240464190,2160272308826644,2569011200000001}"}
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
--   p13 = 4
--   p14 = 2
--   p15 = 1
--   p16 = 1
--   p17 = 3764641647
--   p18 = 4611686018427387904
-- => loss
-- epsilon 8 delta 0
-- => residual
SELECT dp_b1.a1 AS "variance", dp_b1.a2 AS "stddev_pop" FROM pg_catalog.jsonb_to_recordset(($1)::pg_catalog.jsonb->'b1') AS dp_b1(a1 numeric, a2 numeric)

-- case: a variance of a user's rows beside a sum and a count, and another of its own
-- policy: best
SELECT t, sum(i4), count(i4), stddev(i4), variance(n2) FROM orders GROUP BY t
-- => plan
-- w.orders, unit r1."uid": rows 6, groups 2, per group 2; keys t of 4; cells 0
--   sum made of releases 2, 5: clamp 0 .. 100, grid 1, output grid 1
--   count: sensitivity 4, scale 2, epsilon 2 delta 0
--   stddev_samp from deviations: clamp 0 .. 100, grid 1, rows by choice, squares 2/5, output grid 0.00001, epsilon 2 delta 0
--   var_samp from deviations: clamp 0 .. 175, grid 0.01, rows by choice, squares 2/5, output grid 0.00001, epsilon 2 delta 0
--     centred sum for sum: clamp 0 .. 100, grid 1, sensitivity 400, scale 200, epsilon 2 delta 0
-- => backend
SELECT k1, pg_catalog.sum(least(v0, %(p2)s::bigint)), pg_catalog.sum(CASE WHEN v1 IS NOT NULL THEN least(greatest(CASE WHEN v0 <= least(v0, %(p2)s::bigint) THEN v1 ELSE pg_catalog.round(v1::numeric * least(v0, %(p2)s::bigint) / v0) END, least(v0, %(p2)s::bigint) * %(p6)s::bigint), least(v0, %(p2)s::bigint) * %(p3)s::bigint) END) FROM (SELECT * FROM (SELECT *, pg_catalog.row_number() OVER (PARTITION BY unit ORDER BY pg_catalog.hashint8extended(pg_catalog.hash_record_extended(ROW(g."unit", k1), %(p8)s::bigint), %(p8)s::bigint), k1) AS rank FROM (SELECT r1."uid" AS unit, (r1."t")::text AS k1, pg_catalog.count(r1."i4") AS v0, (2 * pg_catalog.sum((pg_catalog.int4larger(pg_catalog.int4smaller(r1."i4", %(p5)s::integer), %(p4)s::integer))::integer) - %(p3)s::bigint * pg_catalog.count(r1."i4"))::bigint AS v1 FROM "w"."orders" AS r1 WHERE r1."uid" IS NOT NULL AND (r1."t" = ANY(%(p7)s::text[]::text[]) OR r1."t" IS NULL) GROUP BY r1."uid", 2) g) c WHERE rank <= %(p2)s::bigint) u GROUP BY 1
--   p1 = 6
--   p2 = 2
--   p3 = 100
--   p4 = 0
--   p5 = 100
--   p6 = -100
--   p7 = ['x', 'y', 'z']
--   p8 = random
WITH g AS MATERIALIZED (SELECT *, pg_catalog.row_number() OVER (PARTITION BY unit) = 1 AS one, (pg_catalog.sum((v0)::float8) OVER (PARTITION BY unit))::bigint AS all_v0, (pg_catalog.sum((v3)::float8) OVER (PARTITION BY unit))::bigint AS all_v3 FROM (SELECT g.unit, c.place::integer AS place, g.v0, g.v1, g.v2, g.v3, g.v4, g.v5 FROM (SELECT r1."uid" AS unit, (r1."t")::text AS k1, pg_catalog.count(r1."i4") AS v0, (2 * pg_catalog.sum((pg_catalog.int4larger(pg_catalog.int4smaller(r1."i4", %(p4)s::integer), %(p3)s::integer))::integer) - %(p2)s::bigint * pg_catalog.count(r1."i4"))::bigint AS v1, pg_catalog.sum(((2 * ((pg_catalog.int4larger(pg_catalog.int4smaller(r1."i4", %(p4)s::integer), %(p3)s::integer))::integer)::bigint - %(p2)s::bigint)::bigint) * ((2 * ((pg_catalog.int4larger(pg_catalog.int4smaller(r1."i4", %(p4)s::integer), %(p3)s::integer))::integer)::bigint - %(p2)s::bigint)::bigint)) AS v2, pg_catalog.count(r1."n2") AS v3, (2 * pg_catalog.sum(pg_catalog.int4larger((pg_catalog.numeric_smaller(r1."n2" * %(p6)s::numeric, %(p7)s::numeric))::integer, %(p3)s::integer)) - %(p5)s::bigint * pg_catalog.count(r1."n2"))::bigint AS v4, pg_catalog.sum(((2 * (pg_catalog.int4larger((pg_catalog.numeric_smaller(r1."n2" * %(p6)s::numeric, %(p7)s::numeric))::integer, %(p3)s::integer))::bigint - %(p5)s::bigint)::bigint) * ((2 * (pg_catalog.int4larger((pg_catalog.numeric_smaller(r1."n2" * %(p6)s::numeric, %(p7)s::numeric))::integer, %(p3)s::integer))::bigint - %(p5)s::bigint)::bigint)) AS v5 FROM "w"."orders" AS r1 WHERE r1."uid" IS NOT NULL AND (r1."t" = ANY(%(p22)s::text[]::text[]) OR r1."t" IS NULL) GROUP BY r1."uid", 2) g JOIN ROWS FROM (pg_catalog.unnest(%(p23)s::text[])) WITH ORDINALITY AS c(k1, place) ON (CASE WHEN g.k1 IS NULL THEN '' ELSE 'v' || g.k1 END) COLLATE pg_catalog."C" = c.k1 LIMIT ALL) t), h AS (SELECT *, (pg_catalog.sum(pg_catalog.abs(d0)) OVER (PARTITION BY unit))::bigint AS size0, (pg_catalog.sum(pg_catalog.abs(q0)) OVER (PARTITION BY unit))::bigint AS extent0, (pg_catalog.sum(pg_catalog.abs(d1)) OVER (PARTITION BY unit))::bigint AS size1, (pg_catalog.sum(pg_catalog.abs(q1)) OVER (PARTITION BY unit))::bigint AS extent1 FROM (SELECT g.unit, g.place, g.one, (CASE WHEN (SELECT (%(p1)s::text::text[])[%(p14)s::integer]::boolean) THEN (CASE WHEN (g.v1 * %(p24)s::bigint - ((SELECT (%(p1)s::text::text[])[%(p16)s::integer]::bigint[]))[g.place] * g.v0) BETWEEN %(p11)s::bigint AND %(p12)s::bigint THEN (g.v1 * %(p24)s::bigint - ((SELECT (%(p1)s::text::text[])[%(p16)s::integer]::bigint[]))[g.place] * g.v0) * %(p8)s::bigint / g.all_v0 ELSE pg_catalog.div((g.v1 * %(p24)s::bigint - ((SELECT (%(p1)s::text::text[])[%(p16)s::integer]::bigint[]))[g.place] * g.v0) * %(p10)s::numeric, g.all_v0)::bigint END) ELSE (g.v1 * %(p24)s::bigint - ((SELECT (%(p1)s::text::text[])[%(p16)s::integer]::bigint[]))[g.place] * g.v0) END) AS d0, (CASE WHEN (SELECT (%(p1)s::text::text[])[%(p14)s::integer]::boolean) THEN (CASE WHEN (CASE WHEN g.v0 <= %(p26)s::bigint THEN (%(p24)s::bigint * %(p24)s::bigint * g.v2::bigint - ((SELECT (%(p1)s::text::text[])[%(p16)s::integer]::bigint[]))[g.place] * (2 * %(p24)s::bigint * g.v1 - ((SELECT (%(p1)s::text::text[])[%(p16)s::integer]::bigint[]))[g.place] * g.v0)) ELSE (pg_catalog.numeric_smaller((%(p25)s::numeric * %(p25)s::numeric * g.v2::numeric - ((SELECT (%(p1)s::text::text[])[%(p16)s::integer]::bigint[]))[g.place]::numeric * (2 * %(p25)s::numeric * g.v1 - ((SELECT (%(p1)s::text::text[])[%(p16)s::integer]::bigint[]))[g.place]::numeric * g.v0)), %(p27)s::numeric))::bigint END) BETWEEN %(p11)s::bigint AND %(p12)s::bigint THEN (CASE WHEN g.v0 <= %(p26)s::bigint THEN (%(p24)s::bigint * %(p24)s::bigint * g.v2::bigint - ((SELECT (%(p1)s::text::text[])[%(p16)s::integer]::bigint[]))[g.place] * (2 * %(p24)s::bigint * g.v1 - ((SELECT (%(p1)s::text::text[])[%(p16)s::integer]::bigint[]))[g.place] * g.v0)) ELSE (pg_catalog.numeric_smaller((%(p25)s::numeric * %(p25)s::numeric * g.v2::numeric - ((SELECT (%(p1)s::text::text[])[%(p16)s::integer]::bigint[]))[g.place]::numeric * (2 * %(p25)s::numeric * g.v1 - ((SELECT (%(p1)s::text::text[])[%(p16)s::integer]::bigint[]))[g.place]::numeric * g.v0)), %(p27)s::numeric))::bigint END) * %(p8)s::bigint / g.all_v0 ELSE pg_catalog.div((CASE WHEN g.v0 <= %(p26)s::bigint THEN (%(p24)s::bigint * %(p24)s::bigint * g.v2::bigint - ((SELECT (%(p1)s::text::text[])[%(p16)s::integer]::bigint[]))[g.place] * (2 * %(p24)s::bigint * g.v1 - ((SELECT (%(p1)s::text::text[])[%(p16)s::integer]::bigint[]))[g.place] * g.v0)) ELSE (pg_catalog.numeric_smaller((%(p25)s::numeric * %(p25)s::numeric * g.v2::numeric - ((SELECT (%(p1)s::text::text[])[%(p16)s::integer]::bigint[]))[g.place]::numeric * (2 * %(p25)s::numeric * g.v1 - ((SELECT (%(p1)s::text::text[])[%(p16)s::integer]::bigint[]))[g.place]::numeric * g.v0)), %(p27)s::numeric))::bigint END) * %(p10)s::numeric, g.all_v0)::bigint END) ELSE (CASE WHEN g.v0 <= %(p26)s::bigint THEN (%(p24)s::bigint * %(p24)s::bigint * g.v2::bigint - ((SELECT (%(p1)s::text::text[])[%(p16)s::integer]::bigint[]))[g.place] * (2 * %(p24)s::bigint * g.v1 - ((SELECT (%(p1)s::text::text[])[%(p16)s::integer]::bigint[]))[g.place] * g.v0)) ELSE (pg_catalog.numeric_smaller((%(p25)s::numeric * %(p25)s::numeric * g.v2::numeric - ((SELECT (%(p1)s::text::text[])[%(p16)s::integer]::bigint[]))[g.place]::numeric * (2 * %(p25)s::numeric * g.v1 - ((SELECT (%(p1)s::text::text[])[%(p16)s::integer]::bigint[]))[g.place]::numeric * g.v0)), %(p27)s::numeric))::bigint END) END) AS q0, (CASE WHEN (SELECT (%(p1)s::text::text[])[%(p21)s::integer]::boolean) THEN (CASE WHEN (g.v4 * %(p28)s::bigint - ((SELECT (%(p1)s::text::text[])[%(p19)s::integer]::bigint[]))[g.place] * g.v3) BETWEEN %(p11)s::bigint AND %(p12)s::bigint THEN (g.v4 * %(p28)s::bigint - ((SELECT (%(p1)s::text::text[])[%(p19)s::integer]::bigint[]))[g.place] * g.v3) * %(p8)s::bigint / g.all_v3 ELSE pg_catalog.div((g.v4 * %(p28)s::bigint - ((SELECT (%(p1)s::text::text[])[%(p19)s::integer]::bigint[]))[g.place] * g.v3) * %(p10)s::numeric, g.all_v3)::bigint END) ELSE (g.v4 * %(p28)s::bigint - ((SELECT (%(p1)s::text::text[])[%(p19)s::integer]::bigint[]))[g.place] * g.v3) END) AS d1, (CASE WHEN (SELECT (%(p1)s::text::text[])[%(p21)s::integer]::boolean) THEN (CASE WHEN (CASE WHEN g.v3 <= %(p30)s::bigint THEN (%(p28)s::bigint * %(p28)s::bigint * g.v5::bigint - ((SELECT (%(p1)s::text::text[])[%(p19)s::integer]::bigint[]))[g.place] * (2 * %(p28)s::bigint * g.v4 - ((SELECT (%(p1)s::text::text[])[%(p19)s::integer]::bigint[]))[g.place] * g.v3)) ELSE (pg_catalog.numeric_smaller((%(p29)s::numeric * %(p29)s::numeric * g.v5::numeric - ((SELECT (%(p1)s::text::text[])[%(p19)s::integer]::bigint[]))[g.place]::numeric * (2 * %(p29)s::numeric * g.v4 - ((SELECT (%(p1)s::text::text[])[%(p19)s::integer]::bigint[]))[g.place]::numeric * g.v3)), %(p27)s::numeric))::bigint END) BETWEEN %(p11)s::bigint AND %(p12)s::bigint THEN (CASE WHEN g.v3 <= %(p30)s::bigint THEN (%(p28)s::bigint * %(p28)s::bigint * g.v5::bigint - ((SELECT (%(p1)s::text::text[])[%(p19)s::integer]::bigint[]))[g.place] * (2 * %(p28)s::bigint * g.v4 - ((SELECT (%(p1)s::text::text[])[%(p19)s::integer]::bigint[]))[g.place] * g.v3)) ELSE (pg_catalog.numeric_smaller((%(p29)s::numeric * %(p29)s::numeric * g.v5::numeric - ((SELECT (%(p1)s::text::text[])[%(p19)s::integer]::bigint[]))[g.place]::numeric * (2 * %(p29)s::numeric * g.v4 - ((SELECT (%(p1)s::text::text[])[%(p19)s::integer]::bigint[]))[g.place]::numeric * g.v3)), %(p27)s::numeric))::bigint END) * %(p8)s::bigint / g.all_v3 ELSE pg_catalog.div((CASE WHEN g.v3 <= %(p30)s::bigint THEN (%(p28)s::bigint * %(p28)s::bigint * g.v5::bigint - ((SELECT (%(p1)s::text::text[])[%(p19)s::integer]::bigint[]))[g.place] * (2 * %(p28)s::bigint * g.v4 - ((SELECT (%(p1)s::text::text[])[%(p19)s::integer]::bigint[]))[g.place] * g.v3)) ELSE (pg_catalog.numeric_smaller((%(p29)s::numeric * %(p29)s::numeric * g.v5::numeric - ((SELECT (%(p1)s::text::text[])[%(p19)s::integer]::bigint[]))[g.place]::numeric * (2 * %(p29)s::numeric * g.v4 - ((SELECT (%(p1)s::text::text[])[%(p19)s::integer]::bigint[]))[g.place]::numeric * g.v3)), %(p27)s::numeric))::bigint END) * %(p10)s::numeric, g.all_v3)::bigint END) ELSE (CASE WHEN g.v3 <= %(p30)s::bigint THEN (%(p28)s::bigint * %(p28)s::bigint * g.v5::bigint - ((SELECT (%(p1)s::text::text[])[%(p19)s::integer]::bigint[]))[g.place] * (2 * %(p28)s::bigint * g.v4 - ((SELECT (%(p1)s::text::text[])[%(p19)s::integer]::bigint[]))[g.place] * g.v3)) ELSE (pg_catalog.numeric_smaller((%(p29)s::numeric * %(p29)s::numeric * g.v5::numeric - ((SELECT (%(p1)s::text::text[])[%(p19)s::integer]::bigint[]))[g.place]::numeric * (2 * %(p29)s::numeric * g.v4 - ((SELECT (%(p1)s::text::text[])[%(p19)s::integer]::bigint[]))[g.place]::numeric * g.v3)), %(p27)s::numeric))::bigint END) END) AS q1 FROM g ORDER BY g.unit LIMIT ALL) t LIMIT ALL) SELECT %(p13)s::jsonb ->> (g.place - 1) AS k1, %(p3)s::integer AS place, pg_catalog.width_bucket(g.all_v0, %(p9)s::bigint[]) AS band, pg_catalog.sum(g.v0)::numeric, pg_catalog.sum(%(p8)s::bigint * g.v0 / g.all_v0)::numeric, pg_catalog.sum((CASE WHEN g.v1 BETWEEN %(p11)s::bigint AND %(p12)s::bigint THEN g.v1 * %(p8)s::bigint / g.all_v0 ELSE pg_catalog.div(g.v1 * %(p10)s::numeric, g.all_v0)::bigint END))::numeric, pg_catalog.count(*) FILTER (WHERE g.one) FROM g g WHERE g.all_v0 > 0 GROUP BY g.place, 3 UNION ALL SELECT %(p13)s::jsonb ->> (g.place - 1) AS k1, %(p14)s::integer AS place, pg_catalog.width_bucket(g.all_v3, %(p9)s::bigint[]) AS band, pg_catalog.sum(g.v3)::numeric, pg_catalog.sum(%(p8)s::bigint * g.v3 / g.all_v3)::numeric, pg_catalog.sum((CASE WHEN g.v4 BETWEEN %(p11)s::bigint AND %(p12)s::bigint THEN g.v4 * %(p8)s::bigint / g.all_v3 ELSE pg_catalog.div(g.v4 * %(p10)s::numeric, g.all_v3)::bigint END))::numeric, pg_catalog.count(*) FILTER (WHERE g.one) FROM g g WHERE g.all_v3 > 0 GROUP BY g.place, 3 UNION ALL SELECT %(p13)s::jsonb ->> (g.place - 1) AS k1, %(p16)s::integer AS place, pg_catalog.width_bucket(g.size0, (SELECT (%(p1)s::text::text[])[%(p15)s::integer]::bigint[])) AS band, pg_catalog.sum(g.d0)::numeric, pg_catalog.sum((CASE WHEN g.d0 BETWEEN %(p11)s::bigint AND %(p12)s::bigint THEN g.d0 * %(p8)s::bigint / nullif(g.size0, 0) ELSE pg_catalog.div(g.d0 * %(p10)s::numeric, nullif(g.size0, 0))::bigint END))::numeric, NULL::numeric, pg_catalog.count(*) FILTER (WHERE g.one) FROM h g WHERE g.size0 IS NOT NULL GROUP BY g.place, 3 UNION ALL SELECT %(p13)s::jsonb ->> (g.place - 1) AS k1, %(p15)s::integer AS place, pg_catalog.width_bucket(g.size1, (SELECT (%(p1)s::text::text[])[%(p17)s::integer]::bigint[])) AS band, pg_catalog.sum(g.d1)::numeric, pg_catalog.sum((CASE WHEN g.d1 BETWEEN %(p11)s::bigint AND %(p12)s::bigint THEN g.d1 * %(p8)s::bigint / nullif(g.size1, 0) ELSE pg_catalog.div(g.d1 * %(p10)s::numeric, nullif(g.size1, 0))::bigint END))::numeric, NULL::numeric, pg_catalog.count(*) FILTER (WHERE g.one) FROM h g WHERE g.size1 IS NOT NULL GROUP BY g.place, 3 UNION ALL SELECT %(p13)s::jsonb ->> (g.place - 1) AS k1, %(p19)s::integer AS place, pg_catalog.width_bucket(g.extent0, (SELECT (%(p1)s::text::text[])[%(p18)s::integer]::bigint[])) AS band, pg_catalog.sum(g.q0)::numeric, pg_catalog.sum((CASE WHEN g.q0 BETWEEN %(p11)s::bigint AND %(p12)s::bigint THEN g.q0 * %(p8)s::bigint / nullif(g.extent0, 0) ELSE pg_catalog.div(g.q0 * %(p10)s::numeric, nullif(g.extent0, 0))::bigint END))::numeric, NULL::numeric, pg_catalog.count(*) FILTER (WHERE g.one) FROM h g WHERE g.extent0 IS NOT NULL GROUP BY g.place, 3 UNION ALL SELECT %(p13)s::jsonb ->> (g.place - 1) AS k1, %(p21)s::integer AS place, pg_catalog.width_bucket(g.extent1, (SELECT (%(p1)s::text::text[])[%(p20)s::integer]::bigint[])) AS band, pg_catalog.sum(g.q1)::numeric, pg_catalog.sum((CASE WHEN g.q1 BETWEEN %(p11)s::bigint AND %(p12)s::bigint THEN g.q1 * %(p8)s::bigint / nullif(g.extent1, 0) ELSE pg_catalog.div(g.q1 * %(p10)s::numeric, nullif(g.extent1, 0))::bigint END))::numeric, NULL::numeric, pg_catalog.count(*) FILTER (WHERE g.one) FROM h g WHERE g.extent1 IS NOT NULL GROUP BY g.place, 3
--   p1 = {"{0,0,0,0}","false","{26,30,36,43,51,60,71,85,101,119,142,169,201,238,283,337,401,476,566,673,801,952,1132,1346,1601,1903,2263,2691,3201,3806,4526,5382,6401,7611,9051,10764,12801,15222,18102,21527,25601,30444,36204,43054,51201,60888,72408,86108,102401,121775,144816,172216,204801,243550,289631,344432,409601,487100,579262,688863,819201,974199,1158524,1377725,1638401,1948397,2317048,2755450,3276801,3896794,4634096,5510899,6553601,7793588,9268191,11021798,13107201,15587176,18536381,22043595,26214401,31174351,37072761,44087190,52428801}","{0,0,0,0}","false","{547,651,774,920,1094,1301,1547,1840,2188,2602,3094,3679,4376,5203,6188,7358,8751,10406,12375,14716,17501,20812,24749,29432,35001,41623,49498,58863,70001,83245,98995,117726,140001,166489,197990,235451,280001,332978,395980,470902,560001,665956,791960,941804,1120001,1331912,1583920,1883608,2240001,2663824,3167839,3767216,4480001,5327648,6335677,7534432,8960001,10655296,12671354,15068864,17920001,21310592,25342708,30137728,35840001,42621184,50685415,60275456,71680001,85242367,101370829,120550911,143360001,170484733,202741657,241101821,286720001,340969465,405483313,482203641,573440001,681938929,810966626,964407281,1146880001}","{157,186,221,263,313,372,442,526,626,744,884,1052,1251,1487,1768,2103,2501,2974,3536,4205,5001,5947,7072,8409,10001,11893,14143,16818,20001,23785,28285,33636,40001,47569,56569,67272,80001,95137,113138,134544,160001,190274,226275,269087,320001,380547,452549,538174,640001,761093,905097,1076348,1280001,1522186,1810194,2152695,2560001,3044371,3620387,4305390,5120001,6088741,7240774,8610780,10240001,12177481,14481547,17221559,20480001,24354962,28963094,34443118,40960001,48709924,57926188,68886235,81920001,97419847,115852376,137772469,163840001,194839694,231704751,275544938,327680001,389679388,463409501,551089875,655360001,779358775,926819001,1102179750,1310720001,1558717550,1853638001,2204359499,2621440001,3117435100,3707276001,4408718998,5242880001,6234870200,7414552002,8817437996,10485760001,12469740399,14829104004,17634875991,20971520001,24939480797,29658208008,35269751981,41943040001,49878961593,59316416016,70539503962,83886080001,99757923186,118632832031,141079007924,167772160001,199515846372,237265664061,282158015847,335544320001,399031692743,474531328122,564316031694,671088640001,798063385486,949062656243,1128632063387,1342177280001,1596126770971,1898125312486,2257264126774,2684354560001,3192253541942,3796250624971,4514528253548,5368709120001}","{74769,88915,105739,125745,149537,177830,211477,251489,299073,355659,422953,502978,598145,711318,845905,1005956,1196290,1422636,1691809,2011911,2392579,2845271,3383617,4023821,4785157,5690542,6767233,8047642,9570313,11381084,13534466,16095283,19140626,22762168,27068932,32190566,38281251,45524335,54137863,64381132,76562501,91048670,108275726,128762264,153125001,182097340,216551452,257524528,306250001,364194679,433102904,515049055,612500001,728389358,866205807,1030098109,1225000001,1456778716,1732411614,2060196218,2450000001,2913557432,3464823228,4120392435,4900000001,5827114864,6929646456,8240784870,9800000001,11654229728,13859292912,16481569739,19600000001,23308459455,27718585823,32963139478,39200000001,46616918909,55437171646,65926278956,78400000001,93233837817,110874343291,131852557912,156800000001,186467675633,221748686581,263705115824,313600000001,372935351265,443497373161,527410231648,627200000001,745870702530,886994746321,1054820463295,1254400000001,1491741405060,1773989492641,2109640926589,2508800000001,2983482810119,3547978985282,4219281853178,5017600000001,5966965620238,7095957970564,8438563706355,10035200000001,11933931240476,14191915941127,16877127412709,20070400000001,23867862480951,28383831882253,33754254825417,40140800000001,47735724961902,56767663764506,67508509650833,80281600000001,95471449923803,113535327529012,135017019301666,160563200000001,190942899847605,227070655058024,270034038603331,321126400000001,381885799695210,454141310116048,540068077206661,642252800000001,763771599390420,908282620232095,1080136154413322,1284505600000001,1527543198780840,1816565240464190,2160272308826644,2569011200000001}"}
--   p2 = 100
--   p3 = 0
--   p4 = 100
--   p5 = 17500
--   p6 = 100
--   p7 = 17500
--   p8 = 1048576
--   p9 = ['2', '2', '2', '2', '3', '3', '3', '4', '5', '5', '6', '7', '9', '10', '12', '14', '17', '20', '23', '27', '33', '39', '46', '54', '65', '77', '91', '108', '129', '153', '182', '216', '257', '305', '363', '431', '513', '609', '725', '862', '1025', '1218', '1449', '1723', '2049', '2436', '2897', '3445', '4097', '4871', '5793', '6889', '8193', '9742', '11586', '13778', '16385', '19484', '23171', '27555', '32769', '38968', '46341', '55109', '65537', '77936', '92682', '110218', '131073', '155872', '185364', '220436', '262145', '311744', '370728', '440872', '524289', '623488', '741456', '881744', '1048577']
--   p10 = 1048576
--   p11 = -4398046511104
--   p12 = 4398046511104
--   p13 = ["x", "y", "z", null]
--   p14 = 2
--   p15 = 3
--   p16 = 1
--   p17 = 6
--   p18 = 7
--   p19 = 4
--   p20 = 8
--   p21 = 5
--   p22 = ['x', 'y', 'z']
--   p23 = ['vx', 'vy', 'vz', '']
--   p24 = 8
--   p25 = 8
--   p26 = 450359962737
--   p27 = 1152921504606846976
--   p28 = 1
--   p29 = 1
--   p30 = 941160411
-- => loss
-- epsilon 8 delta 0
-- => residual
SELECT dp_b1.k1 AS "t", dp_b1.a1 AS "sum", dp_b1.a2 AS "count", dp_b1.a3 AS "stddev", dp_b1.a4 AS "variance" FROM pg_catalog.jsonb_to_recordset(($1)::pg_catalog.jsonb->'b1') AS dp_b1(k1 pg_catalog.text, a1 bigint, a2 bigint, a3 numeric, a4 numeric)

-- case: a mean and a variance of a user's rows, one with a condition, share nothing
-- policy: best
SELECT avg(n2), variance(n2) FILTER (WHERE i4 > 0) FROM visits
-- => plan
-- w.visits, unit r1."uid": rows 5, groups None, per group None; keys none; cells 0
--   avg from deviations: clamp 0 .. 175, grid 0.01, rows by choice, output grid 0.00001, epsilon 4 delta 0
--   var_samp from deviations: clamp 0 .. 175, grid 0.01, rows by choice, squares 2/5, output grid 0.00001, epsilon 4 delta 0
-- => backend
WITH g AS MATERIALIZED (SELECT g.v0, g.v1, g.v2, g.v3, g.v4 FROM (SELECT r1."uid" AS unit, pg_catalog.count(r1."n2") AS v0, (2 * pg_catalog.sum(pg_catalog.int4larger((pg_catalog.numeric_smaller(r1."n2" * %(p3)s::numeric, %(p4)s::numeric))::integer, %(p5)s::integer)) - %(p2)s::bigint * pg_catalog.count(r1."n2"))::bigint AS v1, pg_catalog.count(r1."n2") FILTER (WHERE (r1."i4" > %(p6)s::bigint)) AS v2, (2 * pg_catalog.sum(pg_catalog.int4larger((pg_catalog.numeric_smaller(r1."n2" * %(p3)s::numeric, %(p4)s::numeric))::integer, %(p5)s::integer)) FILTER (WHERE (r1."i4" > %(p6)s::bigint)) - %(p2)s::bigint * pg_catalog.count(r1."n2") FILTER (WHERE (r1."i4" > %(p6)s::bigint)))::bigint AS v3, pg_catalog.sum(((2 * (pg_catalog.int4larger((pg_catalog.numeric_smaller(r1."n2" * %(p3)s::numeric, %(p4)s::numeric))::integer, %(p5)s::integer))::bigint - %(p2)s::bigint)::bigint) * ((2 * (pg_catalog.int4larger((pg_catalog.numeric_smaller(r1."n2" * %(p3)s::numeric, %(p4)s::numeric))::integer, %(p5)s::integer))::bigint - %(p2)s::bigint)::bigint)) FILTER (WHERE (r1."i4" > %(p6)s::bigint)) AS v4 FROM "w"."visits" AS r1 WHERE r1."uid" IS NOT NULL GROUP BY r1."uid") g LIMIT ALL), h AS (SELECT *, pg_catalog.abs(d0) AS size0, pg_catalog.abs(d1) AS size1, pg_catalog.abs(q1) AS extent1 FROM (SELECT (CASE WHEN (SELECT (%(p1)s::text::text[])[%(p12)s::integer]::boolean) THEN (CASE WHEN (g.v1 * %(p18)s::bigint - ((SELECT (%(p1)s::text::text[])[%(p14)s::integer]::bigint[]))[%(p14)s::integer] * g.v0) BETWEEN %(p10)s::bigint AND %(p11)s::bigint THEN (g.v1 * %(p18)s::bigint - ((SELECT (%(p1)s::text::text[])[%(p14)s::integer]::bigint[]))[%(p14)s::integer] * g.v0) * %(p7)s::bigint / g.v0 ELSE pg_catalog.div((g.v1 * %(p18)s::bigint - ((SELECT (%(p1)s::text::text[])[%(p14)s::integer]::bigint[]))[%(p14)s::integer] * g.v0) * %(p9)s::numeric, g.v0)::bigint END) ELSE (g.v1 * %(p18)s::bigint - ((SELECT (%(p1)s::text::text[])[%(p14)s::integer]::bigint[]))[%(p14)s::integer] * g.v0) END) AS d0, (CASE WHEN (SELECT (%(p1)s::text::text[])[%(p17)s::integer]::boolean) THEN (CASE WHEN (g.v3 * %(p18)s::bigint - ((SELECT (%(p1)s::text::text[])[%(p19)s::integer]::bigint[]))[%(p14)s::integer] * g.v2) BETWEEN %(p10)s::bigint AND %(p11)s::bigint THEN (g.v3 * %(p18)s::bigint - ((SELECT (%(p1)s::text::text[])[%(p19)s::integer]::bigint[]))[%(p14)s::integer] * g.v2) * %(p7)s::bigint / g.v2 ELSE pg_catalog.div((g.v3 * %(p18)s::bigint - ((SELECT (%(p1)s::text::text[])[%(p19)s::integer]::bigint[]))[%(p14)s::integer] * g.v2) * %(p9)s::numeric, g.v2)::bigint END) ELSE (g.v3 * %(p18)s::bigint - ((SELECT (%(p1)s::text::text[])[%(p19)s::integer]::bigint[]))[%(p14)s::integer] * g.v2) END) AS d1, (CASE WHEN (SELECT (%(p1)s::text::text[])[%(p17)s::integer]::boolean) THEN (CASE WHEN (CASE WHEN g.v2 <= %(p21)s::bigint THEN (%(p18)s::bigint * %(p18)s::bigint * g.v4::bigint - ((SELECT (%(p1)s::text::text[])[%(p19)s::integer]::bigint[]))[%(p14)s::integer] * (2 * %(p18)s::bigint * g.v3 - ((SELECT (%(p1)s::text::text[])[%(p19)s::integer]::bigint[]))[%(p14)s::integer] * g.v2)) ELSE (pg_catalog.numeric_smaller((%(p20)s::numeric * %(p20)s::numeric * g.v4::numeric - ((SELECT (%(p1)s::text::text[])[%(p19)s::integer]::bigint[]))[%(p14)s::integer]::numeric * (2 * %(p20)s::numeric * g.v3 - ((SELECT (%(p1)s::text::text[])[%(p19)s::integer]::bigint[]))[%(p14)s::integer]::numeric * g.v2)), %(p22)s::numeric))::bigint END) BETWEEN %(p10)s::bigint AND %(p11)s::bigint THEN (CASE WHEN g.v2 <= %(p21)s::bigint THEN (%(p18)s::bigint * %(p18)s::bigint * g.v4::bigint - ((SELECT (%(p1)s::text::text[])[%(p19)s::integer]::bigint[]))[%(p14)s::integer] * (2 * %(p18)s::bigint * g.v3 - ((SELECT (%(p1)s::text::text[])[%(p19)s::integer]::bigint[]))[%(p14)s::integer] * g.v2)) ELSE (pg_catalog.numeric_smaller((%(p20)s::numeric * %(p20)s::numeric * g.v4::numeric - ((SELECT (%(p1)s::text::text[])[%(p19)s::integer]::bigint[]))[%(p14)s::integer]::numeric * (2 * %(p20)s::numeric * g.v3 - ((SELECT (%(p1)s::text::text[])[%(p19)s::integer]::bigint[]))[%(p14)s::integer]::numeric * g.v2)), %(p22)s::numeric))::bigint END) * %(p7)s::bigint / g.v2 ELSE pg_catalog.div((CASE WHEN g.v2 <= %(p21)s::bigint THEN (%(p18)s::bigint * %(p18)s::bigint * g.v4::bigint - ((SELECT (%(p1)s::text::text[])[%(p19)s::integer]::bigint[]))[%(p14)s::integer] * (2 * %(p18)s::bigint * g.v3 - ((SELECT (%(p1)s::text::text[])[%(p19)s::integer]::bigint[]))[%(p14)s::integer] * g.v2)) ELSE (pg_catalog.numeric_smaller((%(p20)s::numeric * %(p20)s::numeric * g.v4::numeric - ((SELECT (%(p1)s::text::text[])[%(p19)s::integer]::bigint[]))[%(p14)s::integer]::numeric * (2 * %(p20)s::numeric * g.v3 - ((SELECT (%(p1)s::text::text[])[%(p19)s::integer]::bigint[]))[%(p14)s::integer]::numeric * g.v2)), %(p22)s::numeric))::bigint END) * %(p9)s::numeric, g.v2)::bigint END) ELSE (CASE WHEN g.v2 <= %(p21)s::bigint THEN (%(p18)s::bigint * %(p18)s::bigint * g.v4::bigint - ((SELECT (%(p1)s::text::text[])[%(p19)s::integer]::bigint[]))[%(p14)s::integer] * (2 * %(p18)s::bigint * g.v3 - ((SELECT (%(p1)s::text::text[])[%(p19)s::integer]::bigint[]))[%(p14)s::integer] * g.v2)) ELSE (pg_catalog.numeric_smaller((%(p20)s::numeric * %(p20)s::numeric * g.v4::numeric - ((SELECT (%(p1)s::text::text[])[%(p19)s::integer]::bigint[]))[%(p14)s::integer]::numeric * (2 * %(p20)s::numeric * g.v3 - ((SELECT (%(p1)s::text::text[])[%(p19)s::integer]::bigint[]))[%(p14)s::integer]::numeric * g.v2)), %(p22)s::numeric))::bigint END) END) AS q1 FROM g LIMIT ALL) t LIMIT ALL) SELECT %(p5)s::integer AS place, pg_catalog.width_bucket(g.v0, %(p8)s::bigint[]) AS band, pg_catalog.sum(g.v0)::numeric, pg_catalog.sum(%(p7)s::bigint * g.v0 / g.v0)::numeric, pg_catalog.sum((CASE WHEN g.v1 BETWEEN %(p10)s::bigint AND %(p11)s::bigint THEN g.v1 * %(p7)s::bigint / g.v0 ELSE pg_catalog.div(g.v1 * %(p9)s::numeric, g.v0)::bigint END))::numeric, pg_catalog.count(*) FROM g g WHERE g.v0 > 0 GROUP BY 2 UNION ALL SELECT %(p12)s::integer AS place, pg_catalog.width_bucket(g.v2, %(p8)s::bigint[]) AS band, pg_catalog.sum(g.v2)::numeric, pg_catalog.sum(%(p7)s::bigint * g.v2 / g.v2)::numeric, pg_catalog.sum((CASE WHEN g.v3 BETWEEN %(p10)s::bigint AND %(p11)s::bigint THEN g.v3 * %(p7)s::bigint / g.v2 ELSE pg_catalog.div(g.v3 * %(p9)s::numeric, g.v2)::bigint END))::numeric, pg_catalog.count(*) FROM g g WHERE g.v2 > 0 GROUP BY 2 UNION ALL SELECT %(p14)s::integer AS place, pg_catalog.width_bucket(g.size0, (SELECT (%(p1)s::text::text[])[%(p13)s::integer]::bigint[])) AS band, pg_catalog.sum(g.d0)::numeric, pg_catalog.sum((CASE WHEN g.d0 BETWEEN %(p10)s::bigint AND %(p11)s::bigint THEN g.d0 * %(p7)s::bigint / nullif(g.size0, 0) ELSE pg_catalog.div(g.d0 * %(p9)s::numeric, nullif(g.size0, 0))::bigint END))::numeric, NULL::numeric, pg_catalog.count(*) FROM h g WHERE g.size0 IS NOT NULL GROUP BY 2 UNION ALL SELECT %(p13)s::integer AS place, pg_catalog.width_bucket(g.size1, (SELECT (%(p1)s::text::text[])[%(p15)s::integer]::bigint[])) AS band, pg_catalog.sum(g.d1)::numeric, pg_catalog.sum((CASE WHEN g.d1 BETWEEN %(p10)s::bigint AND %(p11)s::bigint THEN g.d1 * %(p7)s::bigint / nullif(g.size1, 0) ELSE pg_catalog.div(g.d1 * %(p9)s::numeric, nullif(g.size1, 0))::bigint END))::numeric, NULL::numeric, pg_catalog.count(*) FROM h g WHERE g.size1 IS NOT NULL GROUP BY 2 UNION ALL SELECT %(p17)s::integer AS place, pg_catalog.width_bucket(g.extent1, (SELECT (%(p1)s::text::text[])[%(p16)s::integer]::bigint[])) AS band, pg_catalog.sum(g.q1)::numeric, pg_catalog.sum((CASE WHEN g.q1 BETWEEN %(p10)s::bigint AND %(p11)s::bigint THEN g.q1 * %(p7)s::bigint / nullif(g.extent1, 0) ELSE pg_catalog.div(g.q1 * %(p9)s::numeric, nullif(g.extent1, 0))::bigint END))::numeric, NULL::numeric, pg_catalog.count(*) FROM h g WHERE g.extent1 IS NOT NULL GROUP BY 2
--   p1 = {"{0}","false","{547,651,774,920,1094,1301,1547,1840,2188,2602,3094,3679,4376,5203,6188,7358,8751,10406,12375,14716,17501,20812,24749,29432,35001,41623,49498,58863,70001,83245,98995,117726,140001,166489,197990,235451,280001,332978,395980,470902,560001,665956,791960,941804,1120001,1331912,1583920,1883608,2240001,2663824,3167839,3767216,4480001,5327648,6335677,7534432,8960001,10655296,12671354,15068864,17920001,21310592,25342708,30137728,35840001,42621184,50685415,60275456,71680001,85242367,101370829,120550911,143360001,170484733,202741657,241101821,286720001,340969465,405483313,482203641,573440001,681938929,810966626,964407281,1146880001}","{0}","false","{547,651,774,920,1094,1301,1547,1840,2188,2602,3094,3679,4376,5203,6188,7358,8751,10406,12375,14716,17501,20812,24749,29432,35001,41623,49498,58863,70001,83245,98995,117726,140001,166489,197990,235451,280001,332978,395980,470902,560001,665956,791960,941804,1120001,1331912,1583920,1883608,2240001,2663824,3167839,3767216,4480001,5327648,6335677,7534432,8960001,10655296,12671354,15068864,17920001,21310592,25342708,30137728,35840001,42621184,50685415,60275456,71680001,85242367,101370829,120550911,143360001,170484733,202741657,241101821,286720001,340969465,405483313,482203641,573440001,681938929,810966626,964407281,1146880001}","{}","{74769,88915,105739,125745,149537,177830,211477,251489,299073,355659,422953,502978,598145,711318,845905,1005956,1196290,1422636,1691809,2011911,2392579,2845271,3383617,4023821,4785157,5690542,6767233,8047642,9570313,11381084,13534466,16095283,19140626,22762168,27068932,32190566,38281251,45524335,54137863,64381132,76562501,91048670,108275726,128762264,153125001,182097340,216551452,257524528,306250001,364194679,433102904,515049055,612500001,728389358,866205807,1030098109,1225000001,1456778716,1732411614,2060196218,2450000001,2913557432,3464823228,4120392435,4900000001,5827114864,6929646456,8240784870,9800000001,11654229728,13859292912,16481569739,19600000001,23308459455,27718585823,32963139478,39200000001,46616918909,55437171646,65926278956,78400000001,93233837817,110874343291,131852557912,156800000001,186467675633,221748686581,263705115824,313600000001,372935351265,443497373161,527410231648,627200000001,745870702530,886994746321,1054820463295,1254400000001,1491741405060,1773989492641,2109640926589,2508800000001,2983482810119,3547978985282,4219281853178,5017600000001,5966965620238,7095957970564,8438563706355,10035200000001,11933931240476,14191915941127,16877127412709,20070400000001,23867862480951,28383831882253,33754254825417,40140800000001,47735724961902,56767663764506,67508509650833,80281600000001,95471449923803,113535327529012,135017019301666,160563200000001,190942899847605,227070655058024,270034038603331,321126400000001,381885799695210,454141310116048,540068077206661,642252800000001,763771599390420,908282620232095,1080136154413322,1284505600000001,1527543198780840,1816565240464190,2160272308826644,2569011200000001}"}
--   p2 = 17500
--   p3 = 100
--   p4 = 17500
--   p5 = 0
--   p6 = 0
--   p7 = 1048576
--   p8 = ['2', '2', '2', '2', '3', '3', '3', '4', '5', '5', '6', '7', '9', '10', '12', '14', '17', '20', '23', '27', '33', '39', '46', '54', '65', '77', '91', '108', '129', '153', '182', '216', '257', '305', '363', '431', '513', '609', '725', '862', '1025', '1218', '1449', '1723', '2049', '2436', '2897', '3445', '4097', '4871', '5793', '6889', '8193', '9742', '11586', '13778', '16385', '19484', '23171', '27555', '32769', '38968', '46341', '55109', '65537', '77936', '92682', '110218', '131073', '155872', '185364', '220436', '262145', '311744', '370728', '440872', '524289', '623488', '741456', '881744', '1048577']
--   p9 = 1048576
--   p10 = -4398046511104
--   p11 = 4398046511104
--   p12 = 2
--   p13 = 3
--   p14 = 1
--   p15 = 6
--   p16 = 8
--   p17 = 5
--   p18 = 1
--   p19 = 4
--   p20 = 1
--   p21 = 3764641647
--   p22 = 4611686018427387904
-- => loss
-- epsilon 8 delta 0
-- => residual
SELECT dp_b1.a1 AS "avg", dp_b1.a2 AS "variance" FROM pg_catalog.jsonb_to_recordset(($1)::pg_catalog.jsonb->'b1') AS dp_b1(a1 numeric, a2 numeric)

-- case: a variance of a user's rows in private groups is of three sums
-- policy: best
SELECT s, variance(i4) FROM orders GROUP BY s
-- => plan
-- w.orders, unit r1."uid": rows 6, groups 2, per group 2; keys s of private; cells 0
--   selection: epsilon 4 delta 1/2000, each epsilon 2 delta 0.00025
--   var_samp made of releases 2, 3, 4: clamp 0 .. 100, grid 1, output grid 0.00001
--     rows for var_samp: clamp 0 .. 100, grid 1, sensitivity 4, scale 3, epsilon 4/3 delta 0
--     centred sum for var_samp: clamp 0 .. 100, grid 1, sensitivity 400, scale 300, epsilon 4/3 delta 0
--     centred squares for var_samp: clamp 0 .. 100, grid 1, sensitivity 40000, scale 30000, epsilon 4/3 delta 0
-- => backend
SELECT k1, pg_catalog.sum(least(v0, %(p2)s::bigint)), pg_catalog.sum(CASE WHEN v1 IS NOT NULL THEN least(greatest(CASE WHEN v0 <= least(v0, %(p2)s::bigint) THEN v1 ELSE pg_catalog.round(v1::numeric * least(v0, %(p2)s::bigint) / v0) END, least(v0, %(p2)s::bigint) * %(p6)s::bigint), least(v0, %(p2)s::bigint) * %(p3)s::bigint) END), pg_catalog.sum(CASE WHEN v2 IS NOT NULL THEN least(greatest(CASE WHEN v0 <= least(v0, %(p2)s::bigint) THEN v2 ELSE pg_catalog.round(v2::numeric * least(v0, %(p2)s::bigint) / v0) END, least(v0, %(p2)s::bigint) * %(p8)s::bigint), least(v0, %(p2)s::bigint) * %(p7)s::bigint) END), pg_catalog.count(*) FROM (SELECT * FROM (SELECT *, pg_catalog.row_number() OVER (PARTITION BY unit ORDER BY pg_catalog.hashint8extended(pg_catalog.hash_record_extended(ROW(g."unit", k1), %(p10)s::bigint), %(p10)s::bigint), k1) AS rank FROM (SELECT r1."uid" AS unit, (r1."s")::text AS k1, pg_catalog.count(r1."i4") AS v0, (2 * pg_catalog.sum((pg_catalog.int4larger(pg_catalog.int4smaller(r1."i4", %(p5)s::integer), %(p4)s::integer))::integer) - %(p3)s::bigint * pg_catalog.count(r1."i4"))::bigint AS v1, pg_catalog.sum((2 * ((2 * ((pg_catalog.int4larger(pg_catalog.int4smaller(r1."i4", %(p5)s::integer), %(p4)s::integer))::integer)::bigint - %(p3)s::bigint)::bigint) * ((2 * ((pg_catalog.int4larger(pg_catalog.int4smaller(r1."i4", %(p5)s::integer), %(p4)s::integer))::integer)::bigint - %(p3)s::bigint)::bigint) - %(p7)s::bigint)) AS v2 FROM "w"."orders" AS r1 WHERE r1."uid" IS NOT NULL GROUP BY r1."uid", 2, coalesce(pg_catalog.hashtextextended(((r1."s")::text)::text, %(p9)s::bigint), %(p9)s::bigint)) g) c WHERE rank <= %(p2)s::bigint) u GROUP BY 1, coalesce(pg_catalog.hashtextextended((k1)::text, %(p9)s::bigint), %(p9)s::bigint)
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
-- epsilon 8 delta 1/2000
-- => residual
SELECT dp_b1.k1 AS "s", dp_b1.a1 AS "variance" FROM pg_catalog.jsonb_to_recordset(($1)::pg_catalog.jsonb->'b1') AS dp_b1(k1 character varying(20), a1 numeric)

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
SELECT pg_catalog.count(r1."i4"), (2 * pg_catalog.sum((pg_catalog.int4larger(pg_catalog.int4smaller(r1."i4", %(p3)s::integer), %(p2)s::integer))::integer) - %(p1)s::bigint * pg_catalog.count(r1."i4"))::bigint, pg_catalog.sum((2 * ((2 * ((pg_catalog.int4larger(pg_catalog.int4smaller(r1."i4", %(p3)s::integer), %(p2)s::integer))::integer)::bigint - %(p1)s::bigint)::bigint) * ((2 * ((pg_catalog.int4larger(pg_catalog.int4smaller(r1."i4", %(p3)s::integer), %(p2)s::integer))::integer)::bigint - %(p1)s::bigint)::bigint) - %(p4)s::bigint)) FROM "w"."people" AS r1
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
SELECT pg_catalog.count((pg_catalog.int4larger(pg_catalog.int4smaller(x1, %(p2)s::integer), %(p1)s::integer))::integer + (pg_catalog.int4larger(pg_catalog.int4smaller(x2, %(p4)s::integer), %(p3)s::integer))::integer), (2 * pg_catalog.sum(pg_catalog.int8larger(pg_catalog.int8smaller((((pg_catalog.int4larger(pg_catalog.int4smaller(x2, %(p4)s::integer), %(p3)s::integer))::integer)::bigint + ((pg_catalog.int4larger(pg_catalog.int4smaller(x1, %(p2)s::integer), %(p1)s::integer))::integer)::bigint), %(p7)s::bigint), %(p6)s::bigint)) - %(p5)s::bigint * pg_catalog.count((pg_catalog.int4larger(pg_catalog.int4smaller(x1, %(p2)s::integer), %(p1)s::integer))::integer + (pg_catalog.int4larger(pg_catalog.int4smaller(x2, %(p4)s::integer), %(p3)s::integer))::integer))::bigint FROM (SELECT r1."i2" AS x1, r1."i4" AS x2 FROM "w"."trips" AS r1 LIMIT ALL) r
--   p1 = -5
--   p2 = 10
--   p3 = 0
--   p4 = 100
--   p5 = 105
--   p6 = -5
--   p7 = 110
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
SELECT pg_catalog.count(r1."i4"), pg_catalog.sum((pg_catalog.int4larger(pg_catalog.int4smaller(r1."i4", %(p2)s::integer), %(p1)s::integer))::integer), (2 * pg_catalog.sum((pg_catalog.int4larger(pg_catalog.int4smaller(r1."i4", %(p2)s::integer), %(p1)s::integer))::integer) - %(p3)s::bigint * pg_catalog.count(r1."i4"))::bigint, pg_catalog.sum((2 * ((2 * ((pg_catalog.int4larger(pg_catalog.int4smaller(r1."i4", %(p2)s::integer), %(p1)s::integer))::integer)::bigint - %(p3)s::bigint)::bigint) * ((2 * ((pg_catalog.int4larger(pg_catalog.int4smaller(r1."i4", %(p2)s::integer), %(p1)s::integer))::integer)::bigint - %(p3)s::bigint)::bigint) - %(p4)s::bigint)) FROM "w"."people" AS r1
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
--   max of order: clamp 0 .. 100, grid 1, rows 1, needed 317, epsilon 1 delta 0, size for 3/50
-- => backend
SELECT pg_catalog.count(*), pg_catalog.sum((pg_catalog.int4larger(pg_catalog.int4smaller(r1."i4", %(p2)s::integer), %(p1)s::integer))::integer), pg_catalog.count(r1."n2"), (2 * pg_catalog.floor(pg_catalog.sum(pg_catalog.numeric_larger(pg_catalog.numeric_smaller(r1."n2", %(p4)s::numeric), %(p3)s::numeric)) * %(p5)s::numeric) - %(p6)s::numeric * pg_catalog.count(r1."n2")) FROM "w"."people" AS r1
--   p1 = 0
--   p2 = 100
--   p3 = 0
--   p4 = 175
--   p5 = 100
--   p6 = 17500
SELECT pg_catalog.min(v), pg_catalog.sum(n) FROM (SELECT *, CASE WHEN whole - upto >= %(p5)s::numeric THEN -1 ELSE 0 END AS side1 FROM (SELECT *, pg_catalog.sum(n) OVER ( ORDER BY v) AS upto, pg_catalog.sum(n) OVER () AS whole, pg_catalog.sum(n) FILTER (WHERE v >= (SELECT (pg_catalog.int4larger(pg_catalog.int4smaller(x, %(p2)s::integer), %(p1)s::integer))::integer FROM (SELECT %(high_end)s::integer AS x) e)) OVER () AS at_high_end FROM (SELECT v, pg_catalog.count(*) AS n FROM (SELECT ((pg_catalog.int4larger(pg_catalog.int4smaller(r1."i4", %(p2)s::integer), %(p1)s::integer))::integer) AS v FROM "w"."people" AS r1 WHERE ((pg_catalog.int4larger(pg_catalog.int4smaller(r1."i4", %(p2)s::integer), %(p1)s::integer))::integer) IS NOT NULL AND (r1."i4" >= %(high_end)s::integer OR %(end_rows)s::bigint IS NULL)) u GROUP BY v) c) p WHERE (%(end_rows)s::bigint IS NULL OR (at_high_end >= %(end_rows)s::bigint))) s GROUP BY side1, CASE WHEN 0 IN (side1) THEN v END
--   p1 = 0
--   p2 = 100
--   end_rows = None
--   high_end = None
--   p5 = 317
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
SELECT pg_catalog.count(r1."i4"), (2 * pg_catalog.sum((pg_catalog.int4larger(pg_catalog.int4smaller(r1."i4", %(p3)s::integer), %(p2)s::integer))::integer) - %(p1)s::bigint * pg_catalog.count(r1."i4"))::bigint FROM "w"."people" AS r1
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
WITH g AS MATERIALIZED (SELECT g.v0, g.v1 FROM (SELECT r2."uid" AS unit, pg_catalog.count(r2."i4") AS v0, (2 * pg_catalog.sum((pg_catalog.int4larger(pg_catalog.int4smaller(r2."i4", %(p4)s::integer), %(p3)s::integer))::integer) - %(p2)s::bigint * pg_catalog.count(r2."i4"))::bigint AS v1 FROM "w"."notes" AS r2 WHERE pg_catalog.octet_length(r2."uid") <= %(p12)s::integer GROUP BY r2."uid") g LIMIT ALL), h AS (SELECT *, pg_catalog.abs(d0) AS size0 FROM (SELECT (CASE WHEN (SELECT (%(p1)s::text::text[])[%(p14)s::integer]::boolean) THEN (CASE WHEN (g.v1 * %(p13)s::bigint - ((SELECT (%(p1)s::text::text[])[%(p11)s::integer]::bigint[]))[%(p11)s::integer] * g.v0) BETWEEN %(p8)s::bigint AND %(p9)s::bigint THEN (g.v1 * %(p13)s::bigint - ((SELECT (%(p1)s::text::text[])[%(p11)s::integer]::bigint[]))[%(p11)s::integer] * g.v0) * %(p5)s::bigint / g.v0 ELSE pg_catalog.div((g.v1 * %(p13)s::bigint - ((SELECT (%(p1)s::text::text[])[%(p11)s::integer]::bigint[]))[%(p11)s::integer] * g.v0) * %(p7)s::numeric, g.v0)::bigint END) ELSE (g.v1 * %(p13)s::bigint - ((SELECT (%(p1)s::text::text[])[%(p11)s::integer]::bigint[]))[%(p11)s::integer] * g.v0) END) AS d0 FROM g LIMIT ALL) t LIMIT ALL) SELECT %(p3)s::integer AS place, pg_catalog.width_bucket(g.v0, %(p6)s::bigint[]) AS band, pg_catalog.sum(g.v0)::numeric, pg_catalog.sum(%(p5)s::bigint * g.v0 / g.v0)::numeric, pg_catalog.sum((CASE WHEN g.v1 BETWEEN %(p8)s::bigint AND %(p9)s::bigint THEN g.v1 * %(p5)s::bigint / g.v0 ELSE pg_catalog.div(g.v1 * %(p7)s::numeric, g.v0)::bigint END))::numeric, pg_catalog.count(*) FROM g g WHERE g.v0 > 0 GROUP BY 2 UNION ALL SELECT %(p11)s::integer AS place, pg_catalog.width_bucket(g.size0, (SELECT (%(p1)s::text::text[])[%(p10)s::integer]::bigint[])) AS band, pg_catalog.sum(g.d0)::numeric, pg_catalog.sum((CASE WHEN g.d0 BETWEEN %(p8)s::bigint AND %(p9)s::bigint THEN g.d0 * %(p5)s::bigint / nullif(g.size0, 0) ELSE pg_catalog.div(g.d0 * %(p7)s::numeric, nullif(g.size0, 0))::bigint END))::numeric, NULL::numeric, pg_catalog.count(*) FROM h g WHERE g.size0 IS NOT NULL GROUP BY 2
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
--   p13 = 8
--   p14 = 2
SELECT k1, pg_catalog.sum(CASE WHEN total0 <= %(p1)s::bigint THEN v0 ELSE pg_catalog.div(v0::numeric * %(p1)s::bigint, total0)::bigint END), pg_catalog.count(*) FROM (SELECT *, (pg_catalog.sum((v0)::float8) OVER (PARTITION BY unit))::bigint AS total0 FROM (SELECT * FROM (SELECT *, pg_catalog.row_number() OVER (PARTITION BY unit ORDER BY pg_catalog.hashint8extended(pg_catalog.hash_record_extended(ROW(pg_catalog.hashtextextended(g."unit"::text, %(p5)s::bigint), k1), %(p5)s::bigint), %(p5)s::bigint), k1) AS rank FROM (SELECT r1."uid" AS unit, (r1."s")::text AS k1, pg_catalog.count(*) AS v0 FROM "w"."notes" AS r1 WHERE pg_catalog.octet_length(r1."uid") <= %(p3)s::integer AND ((r1."i4")::numeric > %(s1)s::numeric) GROUP BY r1."uid", 2, coalesce(pg_catalog.hashtextextended(((r1."s")::text)::text, %(p2)s::bigint), %(p2)s::bigint)) g) c WHERE rank <= %(p6)s::bigint) g) u GROUP BY 1, coalesce(pg_catalog.hashtextextended((k1)::text, %(p2)s::bigint), %(p2)s::bigint)
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
