-- case: rows
-- columns: 1
SELECT count(*)
FROM census.adult
-- => plan
-- census.adult, unit 1 row(s), partitions by hash of r1."id"; keys none; cells 0
--   count(*): sensitivity 1, scale 1/8, epsilon 8 delta 0
-- => backend
SELECT pg_catalog.count(*) FROM "census"."adult" AS r1
-- => loss
-- epsilon 8 delta 0
-- => residual
SELECT dp_b1.a1 AS "count"
FROM pg_catalog.jsonb_to_recordset(($1)::pg_catalog.jsonb->'b1') AS dp_b1(a1 bigint)

-- case: values that are not NULL
-- columns: 1, 2, ={1} - {2}
SELECT count(*), count(income), count(*) - count(income) AS unknown
FROM census.adult
-- => plan
-- census.adult, unit 1 row(s), partitions by hash of r1."id"; keys none; cells 0
--   count(*): sensitivity 1, scale 1/4, epsilon 4 delta 0
--   count: sensitivity 1, scale 1/4, epsilon 4 delta 0
-- => backend
SELECT pg_catalog.count(*), pg_catalog.count(r1."income") FROM "census"."adult" AS r1
-- => loss
-- epsilon 8 delta 0
-- => residual
SELECT dp_b1.a1 AS "count", dp_b1.a2 AS "count", dp_b1.a1 - dp_b1.a2 AS unknown
FROM pg_catalog.jsonb_to_recordset(($1)::pg_catalog.jsonb->'b1') AS dp_b1(a1 bigint, a2 bigint)

-- case: distinct values
-- columns: 1
SELECT count(DISTINCT age)
FROM census.adult
-- => plan
-- census.adult, unit 1 row(s), partitions by hash of r1."id"; keys none; cells 0
--   count(distinct): sensitivity 1, scale 1/8, epsilon 8 delta 0
-- => backend
SELECT pg_catalog.count(DISTINCT r1."age") FROM "census"."adult" AS r1
-- => loss
-- epsilon 8 delta 0
-- => residual
SELECT dp_b1.a1 AS "count"
FROM pg_catalog.jsonb_to_recordset(($1)::pg_catalog.jsonb->'b1') AS dp_b1(a1 bigint)

-- case: sums
-- columns: 1, 2
SELECT sum(age), sum(income)
FROM census.adult
-- => plan
-- census.adult, unit 1 row(s), partitions by hash of r1."id"; keys none; cells 0
--   sum: clamp 0 .. 120, grid 1, sensitivity 120 steps, scale 30, epsilon 4 delta 0
--   sum: clamp 0 .. 1000000, grid 0.01, sensitivity 100000000 steps, scale 25000000, epsilon 4 delta 0
-- => backend
SELECT pg_catalog.sum((pg_catalog.int4larger(pg_catalog.int4smaller(r1."age", %(p2)s::integer), %(p1)s::integer))::integer), pg_catalog.floor(pg_catalog.sum(pg_catalog.numeric_larger(pg_catalog.numeric_smaller(r1."income", %(p4)s::numeric), %(p3)s::numeric)) * %(p5)s::numeric) FROM "census"."adult" AS r1
--   p1 = 0
--   p2 = 120
--   p3 = 0
--   p4 = 1000000
--   p5 = 100
-- => loss
-- epsilon 8 delta 0
-- => residual
SELECT dp_b1.a1 AS "sum", dp_b1.a2 AS "sum"
FROM pg_catalog.jsonb_to_recordset(($1)::pg_catalog.jsonb->'b1') AS dp_b1(a1 bigint, a2 numeric)

-- case: mean
-- columns: [avg(age)]
SELECT avg(age)
FROM census.adult
-- => plan
-- census.adult, unit 1 row(s), partitions by hash of r1."id"; keys none; cells 0
--   avg from moments: clamp 0 .. 120, grid 1, rows 1, output grid 0.00001, epsilon 8 delta 0
-- => backend
SELECT pg_catalog.count(r1."age"), (2 * pg_catalog.sum((pg_catalog.int4larger(pg_catalog.int4smaller(r1."age", %(p3)s::integer), %(p2)s::integer))::integer) - %(p1)s::bigint * pg_catalog.count(r1."age"))::bigint FROM "census"."adult" AS r1
--   p1 = 120
--   p2 = 0
--   p3 = 120
-- => loss
-- epsilon 8 delta 0
-- => residual
SELECT dp_b1.a1 AS "avg"
FROM pg_catalog.jsonb_to_recordset(($1)::pg_catalog.jsonb->'b1') AS dp_b1(a1 numeric)

-- case: mean by sample and aggregate
-- columns: ?1
SELECT avg(hours_per_week)
FROM census.adult
-- => plan
-- census.adult, unit 1 row(s), partitions by hash of r1."id"; keys none; cells 99
--   avg: 0 .. 99000 steps of 0.001, fill 49500, 99 partitions, gate 799 units, scale 5/2, epsilon 8 delta 1/1000000, each epsilon 38/5 delta 1e-06
-- => backend
SELECT x2, pg_catalog.count(x1), pg_catalog.sum((pg_catalog.int4larger(pg_catalog.int4smaller(x1, %(p2)s::integer), %(p1)s::integer))::integer) FROM (SELECT r1."hours_per_week" AS x1, pg_catalog.mod(((pg_catalog.hashint4extended(r1."id"::integer, %(p3)s::bigint)) & %(p4)s::bigint)::integer, %(p2)s::integer) AS x2 FROM "census"."adult" AS r1 LIMIT ALL) r GROUP BY 1
--   p1 = 0
--   p2 = 99
--   p3 = random
--   p4 = 2147483647
-- => loss
-- epsilon 8 delta 1/1000000
-- => residual
SELECT dp_b1.a1 AS "avg"
FROM pg_catalog.jsonb_to_recordset(($1)::pg_catalog.jsonb->'b1') AS dp_b1(a1 numeric)

-- case: extremes
-- columns: ~age, ~age
SELECT min(age), max(age)
FROM census.adult
-- => plan
-- census.adult, unit 1 row(s), partitions by hash of r1."id"; keys none; cells 0
--   min of order: clamp 0 .. 120, grid 1, rows 1, needed 80, epsilon 4 delta 0, size for 6/25
--   max of order: clamp 0 .. 120, grid 1, rows 1, needed 80, epsilon 4 delta 0, size for 6/25
-- => backend
SELECT pg_catalog.min(v), pg_catalog.sum(n) FROM (SELECT *, CASE WHEN (upto - n) >= %(p6)s::numeric THEN 1 ELSE 0 END AS side1, CASE WHEN whole - upto >= %(p6)s::numeric THEN -1 ELSE 0 END AS side2 FROM (SELECT *, pg_catalog.sum(n) OVER ( ORDER BY v) AS upto, pg_catalog.sum(n) OVER () AS whole, pg_catalog.sum(n) FILTER (WHERE v <= (SELECT (pg_catalog.int4larger(pg_catalog.int4smaller(x, %(p2)s::integer), %(p1)s::integer))::integer FROM (SELECT %(low_end)s::integer AS x) e)) OVER () AS at_low_end, pg_catalog.sum(n) FILTER (WHERE v >= (SELECT (pg_catalog.int4larger(pg_catalog.int4smaller(x, %(p2)s::integer), %(p1)s::integer))::integer FROM (SELECT %(high_end)s::integer AS x) e)) OVER () AS at_high_end FROM (SELECT v, pg_catalog.count(*) AS n FROM (SELECT ((pg_catalog.int4larger(pg_catalog.int4smaller(r1."age", %(p2)s::integer), %(p1)s::integer))::integer) AS v FROM "census"."adult" AS r1 WHERE ((pg_catalog.int4larger(pg_catalog.int4smaller(r1."age", %(p2)s::integer), %(p1)s::integer))::integer) IS NOT NULL AND (r1."age" <= %(low_end)s::integer OR r1."age" >= %(high_end)s::integer OR %(end_rows)s::bigint IS NULL)) u GROUP BY v) c) p WHERE (%(end_rows)s::bigint IS NULL OR (at_low_end >= %(end_rows)s::bigint AND at_high_end >= %(end_rows)s::bigint))) s GROUP BY side1, side2, CASE WHEN 0 IN (side1, side2) THEN v END
--   p1 = 0
--   p2 = 120
--   end_rows = None
--   low_end = None
--   high_end = None
--   p6 = 80
--   p7 = 0
-- => loss
-- epsilon 8 delta 0
-- => residual
SELECT dp_b1.a1 AS "min", dp_b1.a2 AS "max"
FROM pg_catalog.jsonb_to_recordset(($1)::pg_catalog.jsonb->'b1') AS dp_b1(a1 integer, a2 integer)

-- case: extremes by sample and aggregate
-- columns: ?1, ?2
SELECT min(hours_per_week), max(hours_per_week)
FROM census.adult
-- => plan
-- census.adult, unit 1 row(s), partitions by hash of r1."id"; keys none; cells 79
--   min: 0 .. 99 steps of 1, fill 99, 79 partitions, gate 647 units, scale 5, epsilon 4 delta 1/2000000, each epsilon 19/5 delta 5e-07
--   max: 0 .. 99 steps of 1, fill 0, 79 partitions, gate 647 units, scale 5, epsilon 4 delta 1/2000000, each epsilon 19/5 delta 5e-07
-- => backend
SELECT x2, pg_catalog.int4larger(pg_catalog.int4smaller(pg_catalog.min(x1), %(p2)s::integer), %(p1)s::integer), pg_catalog.count(x1), pg_catalog.int4larger(pg_catalog.int4smaller(pg_catalog.max(x1), %(p2)s::integer), %(p1)s::integer) FROM (SELECT r1."hours_per_week" AS x1, pg_catalog.mod(((pg_catalog.hashint4extended(r1."id"::integer, %(p3)s::bigint)) & %(p4)s::bigint)::integer, %(p5)s::integer) AS x2 FROM "census"."adult" AS r1 LIMIT ALL) r GROUP BY 1
--   p1 = 0
--   p2 = 99
--   p3 = random
--   p4 = 2147483647
--   p5 = 79
-- => loss
-- epsilon 8 delta 1/1000000
-- => residual
SELECT dp_b1.a1 AS "min", dp_b1.a2 AS "max"
FROM pg_catalog.jsonb_to_recordset(($1)::pg_catalog.jsonb->'b1') AS dp_b1(a1 integer, a2 integer)

-- case: median
-- columns: ~age
SELECT percentile_cont(0.5) WITHIN GROUP (ORDER BY age)
FROM census.adult
-- => plan
-- census.adult, unit 1 row(s), partitions by hash of r1."id"; keys none; cells 0
--   percentile_cont of order: clamp 0 .. 120, grid 1, rows 1, needed 6, epsilon 8 delta 0, size for 12/25
-- => backend
SELECT pg_catalog.min(v), pg_catalog.sum(n) FROM (SELECT *, CASE WHEN whole - upto * %(p4)s::numeric >= %(p3)s::numeric THEN -1 WHEN (upto - n) * %(p4)s::numeric - whole >= %(p3)s::numeric THEN 1 ELSE 0 END AS side1 FROM (SELECT *, pg_catalog.sum(n) OVER ( ORDER BY v) AS upto, pg_catalog.sum(n) OVER () AS whole FROM (SELECT v, pg_catalog.count(*) AS n FROM (SELECT ((pg_catalog.int4larger(pg_catalog.int4smaller(r1."age", %(p2)s::integer), %(p1)s::integer))::integer) AS v FROM "census"."adult" AS r1 WHERE ((pg_catalog.int4larger(pg_catalog.int4smaller(r1."age", %(p2)s::integer), %(p1)s::integer))::integer) IS NOT NULL) u GROUP BY v) c) p) s GROUP BY side1, CASE WHEN 0 IN (side1) THEN v END
--   p1 = 0
--   p2 = 120
--   p3 = 12
--   p4 = 2
-- => loss
-- epsilon 8 delta 0
-- => residual
SELECT dp_b1.a1 AS "percentile_cont"
FROM pg_catalog.jsonb_to_recordset(($1)::pg_catalog.jsonb->'b1') AS dp_b1(a1 double precision)

-- case: quartiles
-- columns: ~income, ~income
SELECT percentile_disc(0.25) WITHIN GROUP (ORDER BY income), percentile_disc(0.75) WITHIN GROUP (ORDER BY income)
FROM census.adult
-- => plan
-- census.adult, unit 1 row(s), partitions by hash of r1."id"; keys none; cells 0
--   percentile_disc of order: clamp 0 .. 1000000, grid 100, rows 1, needed 20, epsilon 4 delta 0, size for 6/25
--   percentile_disc of order: clamp 0 .. 1000000, grid 100, rows 1, needed 20, epsilon 4 delta 0, size for 6/25
-- => backend
SELECT pg_catalog.min(v), pg_catalog.sum(n) FROM (SELECT *, CASE WHEN whole - upto * %(p5)s::numeric >= %(p4)s::numeric THEN -1 WHEN (upto - n) * %(p5)s::numeric - whole >= %(p4)s::numeric THEN 1 ELSE 0 END AS side1, CASE WHEN whole * %(p6)s::numeric - upto * %(p5)s::numeric >= %(p4)s::numeric THEN -1 WHEN (upto - n) * %(p5)s::numeric - whole * %(p6)s::numeric >= %(p4)s::numeric THEN 1 ELSE 0 END AS side2 FROM (SELECT *, pg_catalog.sum(n) OVER ( ORDER BY v) AS upto, pg_catalog.sum(n) OVER () AS whole FROM (SELECT v, pg_catalog.count(*) AS n FROM (SELECT (pg_catalog.int4larger((pg_catalog.numeric_smaller(r1."income" / %(p1)s::numeric, %(p2)s::numeric))::integer, %(p3)s::integer)) AS v FROM "census"."adult" AS r1 WHERE (pg_catalog.int4larger((pg_catalog.numeric_smaller(r1."income" / %(p1)s::numeric, %(p2)s::numeric))::integer, %(p3)s::integer)) IS NOT NULL) u GROUP BY v) c) p) s GROUP BY side1, side2, CASE WHEN 0 IN (side1, side2) THEN v END
--   p1 = 100
--   p2 = 10000
--   p3 = 0
--   p4 = 80
--   p5 = 4
--   p6 = 3
-- => loss
-- epsilon 8 delta 0
-- => residual
SELECT dp_b1.a1 AS "percentile_disc", dp_b1.a2 AS "percentile_disc"
FROM pg_catalog.jsonb_to_recordset(($1)::pg_catalog.jsonb->'b1') AS dp_b1(a1 numeric, a2 numeric)

-- case: variances
-- columns: [var_pop(age)], [variance(age)]
SELECT var_pop(age), variance(age)
FROM census.adult
-- => plan
-- census.adult, unit 1 row(s), partitions by hash of r1."id"; keys none; cells 0
--   var_pop made of releases 3, 4, 5: clamp 0 .. 120, grid 1, output grid 0.00001
--   var_samp made of releases 3, 4, 5: clamp 0 .. 120, grid 1, output grid 0.00001
--     rows for var_pop: clamp 0 .. 120, grid 1, sensitivity 1, scale 3/8, epsilon 8/3 delta 0
--     centred sum for var_pop: clamp 0 .. 120, grid 1, sensitivity 120, scale 45, epsilon 8/3 delta 0
--     centred squares for var_pop: clamp 0 .. 120, grid 1, sensitivity 14400, scale 5400, epsilon 8/3 delta 0
-- => backend
SELECT pg_catalog.count(r1."age"), (2 * pg_catalog.sum((pg_catalog.int4larger(pg_catalog.int4smaller(r1."age", %(p3)s::integer), %(p2)s::integer))::integer) - %(p1)s::bigint * pg_catalog.count(r1."age"))::bigint, pg_catalog.sum((2 * ((2 * ((pg_catalog.int4larger(pg_catalog.int4smaller(r1."age", %(p3)s::integer), %(p2)s::integer))::integer)::bigint - %(p1)s::bigint)::bigint) * ((2 * ((pg_catalog.int4larger(pg_catalog.int4smaller(r1."age", %(p3)s::integer), %(p2)s::integer))::integer)::bigint - %(p1)s::bigint)::bigint) - %(p4)s::bigint)) FROM "census"."adult" AS r1
--   p1 = 120
--   p2 = 0
--   p3 = 120
--   p4 = 14400
-- => loss
-- epsilon 8 delta 0
-- => residual
SELECT dp_b1.a1 AS "var_pop", dp_b1.a2 AS "variance"
FROM pg_catalog.jsonb_to_recordset(($1)::pg_catalog.jsonb->'b1') AS dp_b1(a1 numeric, a2 numeric)

-- case: deviation by a key
-- columns: key, [stddev(age)]
SELECT sex, stddev(age)
FROM census.adult GROUP BY sex
-- => plan
-- census.adult, unit 1 row(s), partitions by hash of r1."id"; keys sex of 2; cells 0
--   stddev_samp made of releases 2, 3, 4: clamp 0 .. 120, grid 1, output grid 0.00001
--     rows for stddev_samp: clamp 0 .. 120, grid 1, sensitivity 1, scale 3/8, epsilon 8/3 delta 0
--     centred sum for stddev_samp: clamp 0 .. 120, grid 1, sensitivity 120, scale 45, epsilon 8/3 delta 0
--     centred squares for stddev_samp: clamp 0 .. 120, grid 1, sensitivity 14400, scale 5400, epsilon 8/3 delta 0
-- => backend
SELECT * FROM (SELECT (CASE WHEN pg_catalog.octet_length((r1."sex")::text) <= 1024 THEN (r1."sex")::text ELSE pg_catalog.left((r1."sex")::text, 1024) END)::text AS k1, pg_catalog.count(r1."age"), (2 * pg_catalog.sum((pg_catalog.int4larger(pg_catalog.int4smaller(r1."age", %(p3)s::integer), %(p2)s::integer))::integer) - %(p1)s::bigint * pg_catalog.count(r1."age"))::bigint, pg_catalog.sum((2 * ((2 * ((pg_catalog.int4larger(pg_catalog.int4smaller(r1."age", %(p3)s::integer), %(p2)s::integer))::integer)::bigint - %(p1)s::bigint)::bigint) * ((2 * ((pg_catalog.int4larger(pg_catalog.int4smaller(r1."age", %(p3)s::integer), %(p2)s::integer))::integer)::bigint - %(p1)s::bigint)::bigint) - %(p4)s::bigint)) FROM "census"."adult" AS r1 GROUP BY 1 LIMIT ALL) g WHERE (k1 = ANY(%(p5)s::text[]))
--   p1 = 120
--   p2 = 0
--   p3 = 120
--   p4 = 14400
--   p5 = ['Female', 'Male']
-- => loss
-- epsilon 8 delta 0
-- => residual
SELECT dp_b1.k1 AS "sex", dp_b1.a1 AS "stddev"
FROM pg_catalog.jsonb_to_recordset(($1)::pg_catalog.jsonb->'b1') AS dp_b1(k1 pg_catalog.text, a1 numeric)

-- case: one key
-- columns: key, 1, 2
SELECT region, count(*), sum(hours_per_week)
FROM census.adult GROUP BY region ORDER BY region
-- => plan
-- census.adult, unit 1 row(s), partitions by hash of r1."id"; keys region of 5; cells 0
--   count(*): sensitivity 1, scale 1/4, epsilon 4 delta 0
--   sum: clamp 0 .. 99, grid 1, sensitivity 99 steps, scale 99/4, epsilon 4 delta 0
-- => backend
SELECT * FROM (SELECT (CASE WHEN pg_catalog.octet_length((r1."region")::text) <= 1024 THEN (r1."region")::text ELSE pg_catalog.left((r1."region")::text, 1024) END)::text AS k1, pg_catalog.count(*), pg_catalog.sum((pg_catalog.int4larger(pg_catalog.int4smaller(r1."hours_per_week", %(p2)s::integer), %(p1)s::integer))::integer) FROM "census"."adult" AS r1 GROUP BY 1 LIMIT ALL) g WHERE (k1 = ANY(%(p3)s::text[]))
--   p1 = 0
--   p2 = 99
--   p3 = ['North', 'South', 'East', 'West', 'Centre']
-- => loss
-- epsilon 8 delta 0
-- => residual
SELECT dp_b1.k1 AS "region", dp_b1.a1 AS "count", dp_b1.a2 AS "sum"
FROM pg_catalog.jsonb_to_recordset(($1)::pg_catalog.jsonb->'b1') AS dp_b1(k1 pg_catalog.text, a1 bigint, a2 bigint) ORDER BY region

-- case: two keys
-- columns: key, key, 1
SELECT sex, education, count(*)
FROM census.adult GROUP BY sex, education
-- => plan
-- census.adult, unit 1 row(s), partitions by hash of r1."id"; keys sex of 2, education of 8; cells 0
--   count(*): sensitivity 1, scale 1/8, epsilon 8 delta 0
-- => backend
SELECT * FROM (SELECT (CASE WHEN pg_catalog.octet_length((r1."sex")::text) <= 1024 THEN (r1."sex")::text ELSE pg_catalog.left((r1."sex")::text, 1024) END)::text AS k1, (CASE WHEN pg_catalog.octet_length((r1."education")::text) <= 1024 THEN (r1."education")::text ELSE pg_catalog.left((r1."education")::text, 1024) END)::text AS k2, pg_catalog.count(*) FROM "census"."adult" AS r1 GROUP BY 1, 2 LIMIT ALL) g WHERE (k1 = ANY(%(p1)s::text[])) AND (k2 = ANY(%(p2)s::text[]))
--   p1 = ['Female', 'Male']
--   p2 = ['HS-grad', 'Some-college', 'Bachelors', 'Masters', 'Assoc', 'Doctorate', '11th', 'Other']
-- => loss
-- epsilon 8 delta 0
-- => residual
SELECT dp_b1.k1 AS "sex", dp_b1.k2 AS "education", dp_b1.a1 AS "count"
FROM pg_catalog.jsonb_to_recordset(($1)::pg_catalog.jsonb->'b1') AS dp_b1(k1 pg_catalog.text, k2 pg_catalog.text, a1 bigint)

-- case: a key that is NULL for some
-- columns: key, 1
SELECT occupation, count(*)
FROM census.adult GROUP BY 1 ORDER BY 1 NULLS FIRST
-- => plan
-- census.adult, unit 1 row(s), partitions by hash of r1."id"; keys occupation of 9; cells 0
--   count(*): sensitivity 1, scale 1/8, epsilon 8 delta 0
-- => backend
SELECT * FROM (SELECT (CASE WHEN pg_catalog.octet_length((r1."occupation")::text) <= 1024 THEN (r1."occupation")::text ELSE pg_catalog.left((r1."occupation")::text, 1024) END)::text AS k1, pg_catalog.count(*) FROM "census"."adult" AS r1 GROUP BY 1 LIMIT ALL) g WHERE (k1 = ANY(%(p1)s::text[]) OR k1 IS NULL)
--   p1 = ['Sales', 'Craft', 'Exec', 'Clerical', 'Service', 'Tech', 'Farming', 'Other']
-- => loss
-- epsilon 8 delta 0
-- => residual
SELECT dp_b1.k1 AS "occupation", dp_b1.a1 AS "count"
FROM pg_catalog.jsonb_to_recordset(($1)::pg_catalog.jsonb->'b1') AS dp_b1(k1 pg_catalog.text, a1 bigint) ORDER BY 1 NULLS FIRST

-- case: a key that is private
-- columns: key, 1
SELECT zip, count(*)
FROM census.adult GROUP BY zip HAVING count(*) > 400 ORDER BY zip
-- => plan
-- census.adult, unit 1 row(s), partitions by hash of r1."id"; keys zip of private; cells 0
--   selection: epsilon 4 delta 1/2000000, each epsilon 4 delta 5e-07
--   count(*): sensitivity 1, scale 1/4, epsilon 4 delta 0
-- => backend
SELECT (CASE WHEN pg_catalog.octet_length((r1."zip")::text) <= 1024 THEN (r1."zip")::text ELSE pg_catalog.left((r1."zip")::text, 1024) END)::text, pg_catalog.count(*) FROM "census"."adult" AS r1 GROUP BY 1, coalesce(pg_catalog.hashtextextended(((CASE WHEN pg_catalog.octet_length((r1."zip")::text) <= 1024 THEN (r1."zip")::text ELSE pg_catalog.left((r1."zip")::text, 1024) END)::text)::text, %(p1)s::bigint), %(p1)s::bigint)
--   p1 = random
-- => loss
-- epsilon 8 delta 1/2000000
-- => residual
SELECT dp_b1.k1 AS "zip", dp_b1.a1 AS "count"
FROM pg_catalog.jsonb_to_recordset(($1)::pg_catalog.jsonb->'b1') AS dp_b1(k1 pg_catalog.text, a1 bigint) WHERE dp_b1.a1 > 400 ORDER BY zip

-- case: labels as key
-- columns: key, 1, [avg(age)]
SELECT CASE WHEN age < 30 THEN 'young' WHEN age < 65 THEN 'middle' ELSE 'old' END AS band, count(*), avg(age)
FROM census.adult GROUP BY band
-- => plan
-- census.adult, unit 1 row(s), partitions by hash of r1."id"; keys expression of 3; cells 0
--   count(*): sensitivity 1, scale 1/4, epsilon 4 delta 0
--   avg made of releases 1, 3: clamp 0 .. 120, grid 1, output grid 0.00001
--     centred sum for avg: clamp 0 .. 120, grid 1, sensitivity 120, scale 30, epsilon 4 delta 0
-- => backend
SELECT * FROM (SELECT (CASE WHEN (r1."age" < %(p4)s::bigint) THEN %(p5)s::text WHEN (r1."age" < %(p6)s::bigint) THEN %(p7)s::text ELSE %(p8)s::text END)::text AS k1, pg_catalog.count(*), (2 * pg_catalog.sum((pg_catalog.int4larger(pg_catalog.int4smaller(r1."age", %(p3)s::integer), %(p2)s::integer))::integer) - %(p1)s::bigint * pg_catalog.count(r1."age"))::bigint FROM "census"."adult" AS r1 GROUP BY 1 LIMIT ALL) g WHERE (k1 = ANY(%(p9)s::text[]))
--   p1 = 120
--   p2 = 0
--   p3 = 120
--   p4 = 30
--   p5 = young
--   p6 = 65
--   p7 = middle
--   p8 = old
--   p9 = ['young', 'middle', 'old']
-- => loss
-- epsilon 8 delta 0
-- => residual
SELECT dp_b1.k1 AS band, dp_b1.a1 AS "count", dp_b1.a2 AS "avg"
FROM pg_catalog.jsonb_to_recordset(($1)::pg_catalog.jsonb->'b1') AS dp_b1(k1 pg_catalog.text, a1 bigint, a2 numeric)

-- case: buckets as key
-- columns: key, 1
SELECT width_bucket(age, 20, 80, 6) AS decade, count(*)
FROM census.adult GROUP BY decade ORDER BY decade
-- => plan
-- census.adult, unit 1 row(s), partitions by hash of r1."id"; keys expression of 8; cells 0
--   count(*): sensitivity 1, scale 1/8, epsilon 8 delta 0
-- => backend
SELECT * FROM (SELECT (pg_catalog.width_bucket((pg_catalog.int4larger(pg_catalog.int4smaller(r1."age", %(p2)s::integer), %(p1)s::integer))::numeric, %(p3)s::numeric, %(p4)s::numeric, %(p5)s::integer))::text AS k1, pg_catalog.count(*) FROM "census"."adult" AS r1 GROUP BY 1 LIMIT ALL) g WHERE (k1 = ANY(%(p6)s::text[]))
--   p1 = 0
--   p2 = 120
--   p3 = 20
--   p4 = 80
--   p5 = 6
--   p6 = ['0', '1', '2', '3', '4', '5', '6', '7']
-- => loss
-- epsilon 8 delta 0
-- => residual
SELECT dp_b1.k1 AS decade, dp_b1.a1 AS "count"
FROM pg_catalog.jsonb_to_recordset(($1)::pg_catalog.jsonb->'b1') AS dp_b1(k1 integer, a1 bigint) ORDER BY decade

-- case: bins as key
-- columns: key, 1
SELECT floor(age / 10.0) * 10 AS decade, count(*)
FROM census.adult GROUP BY 1 HAVING count(*) > 20 ORDER BY decade
-- => plan
-- census.adult, unit 1 row(s), partitions by hash of r1."id"; keys expression of 13; cells 0
--   count(*): sensitivity 1, scale 1/8, epsilon 8 delta 0
-- => backend
SELECT * FROM (SELECT ((pg_catalog.floor(((pg_catalog.int4larger(pg_catalog.int4smaller(r1."age", %(p2)s::integer), %(p1)s::integer))::numeric / %(p3)s::numeric)) * %(p3)s::numeric))::text AS k1, pg_catalog.count(*) FROM "census"."adult" AS r1 GROUP BY 1 LIMIT ALL) g WHERE (k1 = ANY(%(p4)s::text[]))
--   p1 = 0
--   p2 = 120
--   p3 = 10
--   p4 = ['0', '10', '20', '30', '40', '50', '60', '70', '80', '90', '100', '110', '120']
-- => loss
-- epsilon 8 delta 0
-- => residual
SELECT dp_b1.k1 AS decade, dp_b1.a1 AS "count"
FROM pg_catalog.jsonb_to_recordset(($1)::pg_catalog.jsonb->'b1') AS dp_b1(k1 numeric, a1 bigint) WHERE dp_b1.a1 > 20 ORDER BY decade

-- case: HAVING
-- columns: key, 1
SELECT education, count(*) AS n
FROM census.adult GROUP BY education HAVING count(*) > 5000 ORDER BY education
-- => plan
-- census.adult, unit 1 row(s), partitions by hash of r1."id"; keys education of 8; cells 0
--   count(*): sensitivity 1, scale 1/8, epsilon 8 delta 0
-- => backend
SELECT * FROM (SELECT (CASE WHEN pg_catalog.octet_length((r1."education")::text) <= 1024 THEN (r1."education")::text ELSE pg_catalog.left((r1."education")::text, 1024) END)::text AS k1, pg_catalog.count(*) FROM "census"."adult" AS r1 GROUP BY 1 LIMIT ALL) g WHERE (k1 = ANY(%(p1)s::text[]))
--   p1 = ['HS-grad', 'Some-college', 'Bachelors', 'Masters', 'Assoc', 'Doctorate', '11th', 'Other']
-- => loss
-- epsilon 8 delta 0
-- => residual
SELECT dp_b1.k1 AS "education", dp_b1.a1 AS n
FROM pg_catalog.jsonb_to_recordset(($1)::pg_catalog.jsonb->'b1') AS dp_b1(k1 pg_catalog.text, a1 bigint) WHERE dp_b1.a1 > 5000 ORDER BY education

-- case: LIMIT
-- columns: key, 1
SELECT education, count(*) AS n
FROM census.adult GROUP BY education ORDER BY n DESC LIMIT 3
-- => plan
-- census.adult, unit 1 row(s), partitions by hash of r1."id"; keys education of 8; cells 0
--   count(*): sensitivity 1, scale 1/8, epsilon 8 delta 0
-- => backend
SELECT * FROM (SELECT (CASE WHEN pg_catalog.octet_length((r1."education")::text) <= 1024 THEN (r1."education")::text ELSE pg_catalog.left((r1."education")::text, 1024) END)::text AS k1, pg_catalog.count(*) FROM "census"."adult" AS r1 GROUP BY 1 LIMIT ALL) g WHERE (k1 = ANY(%(p1)s::text[]))
--   p1 = ['HS-grad', 'Some-college', 'Bachelors', 'Masters', 'Assoc', 'Doctorate', '11th', 'Other']
-- => loss
-- epsilon 8 delta 0
-- => residual
SELECT dp_b1.k1 AS "education", dp_b1.a1 AS n
FROM pg_catalog.jsonb_to_recordset(($1)::pg_catalog.jsonb->'b1') AS dp_b1(k1 pg_catalog.text, a1 bigint) ORDER BY n DESC LIMIT 3

-- case: SUM of CASE
-- columns: 1, 2
SELECT sum(CASE WHEN age < 30 THEN 1 ELSE 0 END), sum(CASE WHEN sex = 'Female' THEN age END)
FROM census.adult
-- => plan
-- census.adult, unit 1 row(s), partitions by hash of r1."id"; keys none; cells 0
--   sum: clamp 0 .. 1, grid 1, sensitivity 1 steps, scale 1/4, epsilon 4 delta 0
--   sum: clamp 0 .. 120, grid 1, sensitivity 120 steps, scale 30, epsilon 4 delta 0
-- => backend
SELECT pg_catalog.sum(x1), pg_catalog.sum(x2) FROM (SELECT pg_catalog.round(pg_catalog.numeric_larger(pg_catalog.numeric_smaller(CASE WHEN (r1."age" < %(p1)s::bigint) THEN %(p2)s::numeric ELSE %(p3)s::numeric END, %(p2)s::numeric), %(p3)s::numeric))::bigint AS x1, pg_catalog.round(pg_catalog.numeric_larger(pg_catalog.numeric_smaller(CASE WHEN (r1."sex" = %(p4)s::text) THEN (pg_catalog.int4larger(pg_catalog.int4smaller(r1."age", %(p6)s::integer), %(p5)s::integer))::numeric ELSE NULL::numeric END, %(p7)s::numeric), %(p3)s::numeric))::bigint AS x2 FROM "census"."adult" AS r1 LIMIT ALL) r
--   p1 = 30
--   p2 = 1
--   p3 = 0
--   p4 = Female
--   p5 = 0
--   p6 = 120
--   p7 = 120
-- => loss
-- epsilon 8 delta 0
-- => residual
SELECT dp_b1.a1 AS "sum", dp_b1.a2 AS "sum"
FROM pg_catalog.jsonb_to_recordset(($1)::pg_catalog.jsonb->'b1') AS dp_b1(a1 bigint, a2 bigint)

-- case: FILTER
-- columns: 1, [avg(age) FILTER (WHERE NOT married)]
SELECT count(*) FILTER (WHERE married), avg(age) FILTER (WHERE NOT married)
FROM census.adult
-- => plan
-- census.adult, unit 1 row(s), partitions by hash of r1."id"; keys none; cells 0
--   count(*): sensitivity 1, scale 1/4, epsilon 4 delta 0
--   avg from moments: clamp 0 .. 120, grid 1, rows 1, output grid 0.00001, epsilon 4 delta 0
-- => backend
SELECT pg_catalog.count(*) FILTER (WHERE r1."married"), pg_catalog.count(r1."age") FILTER (WHERE (NOT r1."married")), (2 * pg_catalog.sum((pg_catalog.int4larger(pg_catalog.int4smaller(r1."age", %(p3)s::integer), %(p2)s::integer))::integer) FILTER (WHERE (NOT r1."married")) - %(p1)s::bigint * pg_catalog.count(r1."age") FILTER (WHERE (NOT r1."married")))::bigint FROM "census"."adult" AS r1
--   p1 = 120
--   p2 = 0
--   p3 = 120
-- => loss
-- epsilon 8 delta 0
-- => residual
SELECT dp_b1.a1 AS "count", dp_b1.a2 AS "avg"
FROM pg_catalog.jsonb_to_recordset(($1)::pg_catalog.jsonb->'b1') AS dp_b1(a1 bigint, a2 numeric)

-- case: IN and BETWEEN
-- columns: 1
SELECT count(*)
FROM census.adult WHERE region IN ('North', 'South') AND age BETWEEN 30 AND 49 AND education NOT IN ('11th', 'Other')
-- => plan
-- census.adult, unit 1 row(s), partitions by hash of r1."id"; keys none; cells 0
--   count(*): sensitivity 1, scale 1/8, epsilon 8 delta 0
-- => backend
SELECT pg_catalog.count(*) FROM "census"."adult" AS r1 WHERE (r1."region" IN (%(p1)s::text, %(p2)s::text)) AND (r1."age" >= %(p3)s::bigint) AND (r1."age" <= %(p4)s::bigint) AND (NOT (r1."education" IN (%(p5)s::text, %(p6)s::text)))
--   p1 = North
--   p2 = South
--   p3 = 30
--   p4 = 49
--   p5 = 11th
--   p6 = Other
-- => loss
-- epsilon 8 delta 0
-- => residual
SELECT dp_b1.a1 AS "count"
FROM pg_catalog.jsonb_to_recordset(($1)::pg_catalog.jsonb->'b1') AS dp_b1(a1 bigint)

-- case: LIKE
-- columns: 1
SELECT count(*)
FROM census.adult WHERE occupation LIKE 'C%' AND zip NOT LIKE '%7' AND education ILIKE '%COLL%'
-- => plan
-- census.adult, unit 1 row(s), partitions by hash of r1."id"; keys none; cells 0
--   count(*): sensitivity 1, scale 1/8, epsilon 8 delta 0
-- => backend
SELECT pg_catalog.count(*) FROM "census"."adult" AS r1 WHERE ((CASE WHEN pg_catalog.octet_length(r1."occupation") <= %(p2)s::integer THEN r1."occupation" ELSE pg_catalog.left(r1."occupation"::text, %(p2)s::integer) END) LIKE %(p1)s::text) AND (NOT ((CASE WHEN pg_catalog.octet_length(r1."zip") <= %(p2)s::integer THEN r1."zip" ELSE pg_catalog.left(r1."zip"::text, %(p2)s::integer) END) LIKE %(p3)s::text)) AND (((CASE WHEN pg_catalog.octet_length(r1."education") <= %(p2)s::integer THEN r1."education" ELSE pg_catalog.left(r1."education"::text, %(p2)s::integer) END))::varchar(1048576) ILIKE %(p4)s::text)
--   p1 = C%
--   p2 = 1048576
--   p3 = %7
--   p4 = %COLL%
-- => loss
-- epsilon 8 delta 0
-- => residual
SELECT dp_b1.a1 AS "count"
FROM pg_catalog.jsonb_to_recordset(($1)::pg_catalog.jsonb->'b1') AS dp_b1(a1 bigint)

-- case: IS NULL
-- columns: 1, 2
SELECT count(*), sum(age)
FROM census.adult WHERE occupation IS NULL OR hours_per_week IS NULL AND income IS NOT NULL
-- => plan
-- census.adult, unit 1 row(s), partitions by hash of r1."id"; keys none; cells 0
--   count(*): sensitivity 1, scale 1/4, epsilon 4 delta 0
--   sum: clamp 0 .. 120, grid 1, sensitivity 120 steps, scale 30, epsilon 4 delta 0
-- => backend
SELECT pg_catalog.count(*), pg_catalog.sum((pg_catalog.int4larger(pg_catalog.int4smaller(r1."age", %(p2)s::integer), %(p1)s::integer))::integer) FROM "census"."adult" AS r1 WHERE ((r1."occupation" IS NULL) OR ((r1."hours_per_week" IS NULL) AND (NOT (r1."income" IS NULL))))
--   p1 = 0
--   p2 = 120
-- => loss
-- epsilon 8 delta 0
-- => residual
SELECT dp_b1.a1 AS "count", dp_b1.a2 AS "sum"
FROM pg_catalog.jsonb_to_recordset(($1)::pg_catalog.jsonb->'b1') AS dp_b1(a1 bigint, a2 bigint)

-- case: COALESCE and the like
-- columns: 1, 2, 3
SELECT sum(coalesce(hours_per_week, 0)), sum(least(age, 65)), count(nullif(hours_per_week, 40))
FROM census.adult
-- => plan
-- census.adult, unit 1 row(s), partitions by hash of r1."id"; keys none; cells 0
--   sum: clamp 0 .. 99, grid 1, sensitivity 99 steps, scale 297/8, epsilon 8/3 delta 0
--   sum: clamp 0 .. 65, grid 1, sensitivity 65 steps, scale 195/8, epsilon 8/3 delta 0
--   count: sensitivity 1, scale 3/8, epsilon 8/3 delta 0
-- => backend
SELECT pg_catalog.sum(x1), pg_catalog.sum(x2), pg_catalog.count(x3) FROM (SELECT pg_catalog.round(pg_catalog.numeric_larger(pg_catalog.numeric_smaller(coalesce((pg_catalog.int4larger(pg_catalog.int4smaller(r1."hours_per_week", %(p2)s::integer), %(p1)s::integer))::numeric, %(p3)s::numeric), %(p4)s::numeric), %(p3)s::numeric))::bigint AS x1, pg_catalog.round(pg_catalog.numeric_larger(pg_catalog.numeric_smaller(least((pg_catalog.int4larger(pg_catalog.int4smaller(r1."age", %(p5)s::integer), %(p1)s::integer))::numeric, %(p6)s::numeric), %(p6)s::numeric), %(p3)s::numeric))::bigint AS x2, nullif(r1."hours_per_week", %(p7)s::bigint) AS x3 FROM "census"."adult" AS r1 LIMIT ALL) r
--   p1 = 0
--   p2 = 99
--   p3 = 0
--   p4 = 99
--   p5 = 120
--   p6 = 65
--   p7 = 40
-- => loss
-- epsilon 8 delta 0
-- => residual
SELECT dp_b1.a1 AS "sum", dp_b1.a2 AS "sum", dp_b1.a3 AS "count"
FROM pg_catalog.jsonb_to_recordset(($1)::pg_catalog.jsonb->'b1') AS dp_b1(a1 bigint, a2 bigint, a3 bigint)

-- case: CAST
-- columns: 1, 2, 3
SELECT sum(CAST(married AS integer)), sum(income::integer), sum(CAST(age AS numeric) / 2)
FROM census.adult
-- => plan
-- census.adult, unit 1 row(s), partitions by hash of r1."id"; keys none; cells 0
--   sum: clamp 0 .. 1, grid 1, sensitivity 1 steps, scale 3/8, epsilon 8/3 delta 0
--   sum: clamp 0 .. 1000000, grid 1, sensitivity 1000000 steps, scale 375000, epsilon 8/3 delta 0
--   sum: clamp 0 .. 60, grid 0.00001, sensitivity 6000000 steps, scale 2250000, epsilon 8/3 delta 0
-- => backend
SELECT pg_catalog.sum(x1), pg_catalog.sum(x2), pg_catalog.sum(x3) FROM (SELECT pg_catalog.round(pg_catalog.numeric_larger(pg_catalog.numeric_smaller((r1."married")::integer::numeric, %(p2)s::numeric), %(p1)s::numeric))::bigint AS x1, pg_catalog.round(pg_catalog.numeric_larger(pg_catalog.numeric_smaller(pg_catalog.round((pg_catalog.numeric_larger(pg_catalog.numeric_smaller(r1."income", %(p3)s::numeric), %(p1)s::numeric))::numeric, 0), %(p3)s::numeric), %(p1)s::numeric))::bigint AS x2, pg_catalog.round(pg_catalog.numeric_larger(pg_catalog.numeric_smaller(((pg_catalog.int4larger(pg_catalog.int4smaller(r1."age", %(p5)s::integer), %(p4)s::integer))::numeric / %(p6)s::numeric), %(p7)s::numeric), %(p1)s::numeric) * %(p8)s::numeric)::bigint AS x3 FROM "census"."adult" AS r1 LIMIT ALL) r
--   p1 = 0
--   p2 = 1
--   p3 = 1000000
--   p4 = 0
--   p5 = 120
--   p6 = 2
--   p7 = 60
--   p8 = 100000
-- => loss
-- epsilon 8 delta 0
-- => residual
SELECT dp_b1.a1 AS "sum", dp_b1.a2 AS "sum", dp_b1.a3 AS "sum"
FROM pg_catalog.jsonb_to_recordset(($1)::pg_catalog.jsonb->'b1') AS dp_b1(a1 bigint, a2 bigint, a3 numeric)

-- case: parameters
-- parameters: integer 40, text "South"
-- columns: 1, 2
SELECT count(*), sum(age)
FROM census.adult WHERE age > $1 AND region = $2
-- => plan
-- census.adult, unit 1 row(s), partitions by hash of r1."id"; keys none; cells 0
--   count(*): sensitivity 1, scale 1/4, epsilon 4 delta 0
--   sum: clamp 41 .. 120, grid 1, sensitivity 120 steps, scale 30, epsilon 4 delta 0
-- => backend
SELECT pg_catalog.count(*), pg_catalog.sum((pg_catalog.int4larger(pg_catalog.int4smaller(r1."age", %(p2)s::integer), %(p1)s::integer))::integer) FROM "census"."adult" AS r1 WHERE (r1."age" > %(p3)s::bigint) AND (r1."region" = %(p4)s::text)
--   p1 = 41
--   p2 = 120
--   p3 = 40
--   p4 = South
-- => loss
-- epsilon 8 delta 0
-- => residual
SELECT dp_b1.a1 AS "count", dp_b1.a2 AS "sum"
FROM pg_catalog.jsonb_to_recordset(($3)::pg_catalog.jsonb->'b1') AS dp_b1(a1 bigint, a2 bigint)

-- case: rows of a subquery
-- columns: 1, 2
SELECT sum(yearly), count(*)
FROM (SELECT hours_per_week * 50 AS yearly, age FROM census.adult WHERE sex = 'Male') w WHERE age >= 20
-- => plan
-- census.adult, unit 1 row(s), partitions by hash of r2."dp_key1"; keys none; cells 0
--   sum: clamp 0 .. 4950, grid 50, sensitivity 99 steps, scale 99/4, epsilon 4 delta 0
--   count(*): sensitivity 1, scale 1/4, epsilon 4 delta 0
-- => backend
SELECT pg_catalog.sum((pg_catalog.numeric_larger(pg_catalog.numeric_smaller(r2."yearly", %(p3)s::numeric), %(p2)s::numeric) / %(p1)s::numeric)::integer), pg_catalog.count(*) FROM (SELECT ((pg_catalog.int4larger(pg_catalog.int4smaller(r1."hours_per_week", %(p6)s::integer), %(p5)s::integer))::numeric * %(p1)s::numeric) AS "yearly", r1."age" AS "age", r1."id" AS "dp_key1" FROM "census"."adult" AS r1 WHERE (r1."sex" = %(p7)s::text)) AS r2 WHERE (r2."age" >= %(p4)s::bigint)
--   p1 = 50
--   p2 = 0
--   p3 = 4950
--   p4 = 20
--   p5 = 0
--   p6 = 99
--   p7 = Male
-- => loss
-- epsilon 8 delta 0
-- => residual
SELECT dp_b1.a1 AS "sum", dp_b1.a2 AS "count"
FROM pg_catalog.jsonb_to_recordset(($1)::pg_catalog.jsonb->'b1') AS dp_b1(a1 bigint, a2 bigint)

-- case: rows of a WITH query
-- columns: key, 1
WITH working AS (SELECT region, age, hours_per_week AS h FROM census.adult WHERE hours_per_week > 20) SELECT region, count(*)
FROM working WHERE age < 65 GROUP BY region
-- => plan
-- census.adult, unit 1 row(s), partitions by hash of r2."dp_key1"; keys region of 5; cells 0
--   count(*): sensitivity 1, scale 1/8, epsilon 8 delta 0
-- => backend
SELECT * FROM (SELECT (CASE WHEN pg_catalog.octet_length((r2."region")::text) <= 1024 THEN (r2."region")::text ELSE pg_catalog.left((r2."region")::text, 1024) END)::text AS k1, pg_catalog.count(*) FROM (SELECT r1."region" AS "region", r1."age" AS "age", r1."hours_per_week" AS "h", r1."id" AS "dp_key1" FROM "census"."adult" AS r1 WHERE (r1."hours_per_week" > %(p2)s::bigint)) AS r2 WHERE (r2."age" < %(p1)s::bigint) GROUP BY 1 LIMIT ALL) g WHERE (k1 = ANY(%(p3)s::text[]))
--   p1 = 65
--   p2 = 20
--   p3 = ['North', 'South', 'East', 'West', 'Centre']
-- => loss
-- epsilon 8 delta 0
-- => residual
WITH working AS (SELECT region, age, hours_per_week AS h FROM census.adult WHERE hours_per_week > 20) SELECT dp_b1.k1 AS "region", dp_b1.a1 AS "count"
FROM pg_catalog.jsonb_to_recordset(($1)::pg_catalog.jsonb->'b1') AS dp_b1(k1 pg_catalog.text, a1 bigint)

-- case: windows over aggregates
-- columns: key, 1, =(SELECT sum(c2) FROM answer b WHERE b.c1 <= a.c1), =(SELECT 1 + count(*) FROM answer b WHERE b.c2 > a.c2)
SELECT region, count(*), sum(count(*)) OVER (ORDER BY region), rank() OVER (ORDER BY count(*) DESC)
FROM census.adult GROUP BY region ORDER BY region
-- => plan
-- census.adult, unit 1 row(s), partitions by hash of r1."id"; keys region of 5; cells 0
--   count(*): sensitivity 1, scale 1/8, epsilon 8 delta 0
-- => backend
SELECT * FROM (SELECT (CASE WHEN pg_catalog.octet_length((r1."region")::text) <= 1024 THEN (r1."region")::text ELSE pg_catalog.left((r1."region")::text, 1024) END)::text AS k1, pg_catalog.count(*) FROM "census"."adult" AS r1 GROUP BY 1 LIMIT ALL) g WHERE (k1 = ANY(%(p1)s::text[]))
--   p1 = ['North', 'South', 'East', 'West', 'Centre']
-- => loss
-- epsilon 8 delta 0
-- => residual
SELECT dp_b1.k1 AS "region", dp_b1.a1 AS "count", sum(dp_b1.a1) OVER (ORDER BY dp_b1.k1), rank() OVER (ORDER BY dp_b1.a1 DESC)
FROM pg_catalog.jsonb_to_recordset(($1)::pg_catalog.jsonb->'b1') AS dp_b1(k1 pg_catalog.text, a1 bigint) ORDER BY region

-- case: arithmetic on aggregates
-- columns: key, 1, 2, =round(100.0 * {2} / {3}, 1)
SELECT sex, count(*) FILTER (WHERE married), count(*), round(100.0 * count(*) FILTER (WHERE married) / count(*), 1) AS pct
FROM census.adult GROUP BY sex
-- => plan
-- census.adult, unit 1 row(s), partitions by hash of r1."id"; keys sex of 2; cells 0
--   count(*): sensitivity 1, scale 1/4, epsilon 4 delta 0
--   count(*): sensitivity 1, scale 1/4, epsilon 4 delta 0
-- => backend
SELECT * FROM (SELECT (CASE WHEN pg_catalog.octet_length((r1."sex")::text) <= 1024 THEN (r1."sex")::text ELSE pg_catalog.left((r1."sex")::text, 1024) END)::text AS k1, pg_catalog.count(*) FILTER (WHERE r1."married"), pg_catalog.count(*) FROM "census"."adult" AS r1 GROUP BY 1 LIMIT ALL) g WHERE (k1 = ANY(%(p1)s::text[]))
--   p1 = ['Female', 'Male']
-- => loss
-- epsilon 8 delta 0
-- => residual
SELECT dp_b1.k1 AS "sex", dp_b1.a1 AS "count", dp_b1.a2 AS "count", round(100.0 * dp_b1.a1 / nullif(dp_b1.a2, 0), 1) AS pct
FROM pg_catalog.jsonb_to_recordset(($1)::pg_catalog.jsonb->'b1') AS dp_b1(k1 pg_catalog.text, a1 bigint, a2 bigint)

-- case: an answer as a constant
-- columns: 2
SELECT count(*)
FROM census.adult WHERE age > (SELECT avg(age) FROM census.adult)
-- => plan
-- census.adult, unit 1 row(s), partitions by hash of r1."id"; keys none; cells 0
--   avg from moments: clamp 0 .. 120, grid 1, rows 1, output grid 0.00001, epsilon 4 delta 0
-- census.adult, unit 1 row(s), partitions by hash of r2."id"; keys none; cells 0
--   count(*): sensitivity 1, scale 1/4, epsilon 4 delta 0
-- => backend
SELECT pg_catalog.count(r1."age"), (2 * pg_catalog.sum((pg_catalog.int4larger(pg_catalog.int4smaller(r1."age", %(p3)s::integer), %(p2)s::integer))::integer) - %(p1)s::bigint * pg_catalog.count(r1."age"))::bigint FROM "census"."adult" AS r1
--   p1 = 120
--   p2 = 0
--   p3 = 120
SELECT pg_catalog.count(*) FROM "census"."adult" AS r2 WHERE ((r2."age")::numeric > %(s1)s::numeric)
--   s1 = None
-- => loss
-- epsilon 8 delta 0
-- => residual
SELECT dp_b2.a1 AS "count"
FROM pg_catalog.jsonb_to_recordset(($1)::pg_catalog.jsonb->'b2') AS dp_b2(a1 bigint)

-- case: union of answers
-- columns: key, 1, 2
SELECT 'young' AS who, count(*), sum(age) FROM census.adult WHERE age < 30 UNION ALL SELECT 'old', count(*), sum(age) FROM census.adult WHERE age >= 65
-- => plan
-- census.adult, unit 1 row(s), partitions by hash of r1."id"; keys none; cells 0
--   count(*): sensitivity 1, scale 1/2, epsilon 2 delta 0
--   sum: clamp 0 .. 120, grid 1, sensitivity 120 steps, scale 60, epsilon 2 delta 0
-- census.adult, unit 1 row(s), partitions by hash of r2."id"; keys none; cells 0
--   count(*): sensitivity 1, scale 1/2, epsilon 2 delta 0
--   sum: clamp 65 .. 120, grid 1, sensitivity 120 steps, scale 60, epsilon 2 delta 0
-- => backend
SELECT pg_catalog.count(*), pg_catalog.sum((pg_catalog.int4larger(pg_catalog.int4smaller(r1."age", %(p2)s::integer), %(p1)s::integer))::integer) FROM "census"."adult" AS r1 WHERE (r1."age" < %(p3)s::bigint)
--   p1 = 0
--   p2 = 120
--   p3 = 30
SELECT pg_catalog.count(*), pg_catalog.sum((pg_catalog.int4larger(pg_catalog.int4smaller(r2."age", %(p2)s::integer), %(p1)s::integer))::integer) FROM "census"."adult" AS r2 WHERE (r2."age" >= %(p3)s::bigint)
--   p1 = 65
--   p2 = 120
--   p3 = 65
-- => loss
-- epsilon 8 delta 0
-- => residual
SELECT 'young' AS who, dp_b1.a1 AS "count", dp_b1.a2 AS "sum" FROM pg_catalog.jsonb_to_recordset(($1)::pg_catalog.jsonb->'b1') AS dp_b1(a1 bigint, a2 bigint) UNION ALL SELECT 'old', dp_b2.a1 AS "count", dp_b2.a2 AS "sum" FROM pg_catalog.jsonb_to_recordset(($1)::pg_catalog.jsonb->'b2') AS dp_b2(a1 bigint, a2 bigint)

-- case: rows cannot be read
SELECT age, income FROM census.adult WHERE age > 80
-- => refused
-- RAW_ROWS at 25
-- rows of the protected table census.adult cannot be returned, only aggregates of them, e.g. SELECT count(*) FROM census.adult
-- Use aggregates, e.g. SELECT count(*) FROM census.adult. SELECT * FROM dp.columns says what each column can be used for.

-- case: all rows cannot be read
SELECT * FROM census.adult LIMIT 10
-- => refused
-- RAW_ROWS at 15
-- rows of the protected table census.adult cannot be returned, only aggregates of them, e.g. SELECT count(*) FROM census.adult
-- Use aggregates, e.g. SELECT count(*) FROM census.adult. SELECT * FROM dp.columns says what each column can be used for.

-- case: tables of rows cannot be joined
SELECT count(*) FROM census.adult a JOIN census.adult b ON a.age = b.age
-- => refused
-- UNSUPPORTED at 37
-- each row of the table is a privacy unit by itself, so its rows are not joined
-- Join a public table on its key; or join counts of each side: SELECT a.age, a.n, b.n FROM (SELECT age, count(*) AS n FROM census.adult GROUP BY age) a JOIN (SELECT age, count(*) AS n FROM census.adult GROUP BY age) b ON b.age = a.age
