-- case: series limit
SELECT date_trunc('year', d) AS y, t, count(*), avg(i4) FROM people JOIN (SELECT t AS t__, count(*) AS mme_inner__ FROM people WHERE b GROUP BY t ORDER BY mme_inner__ DESC LIMIT 2) AS series_limit ON t = t__ WHERE b GROUP BY date_trunc('year', d), t HAVING count(*) > 3 ORDER BY count(*) DESC LIMIT 10
-- => plan
-- w.people, unit 1 row(s), partitions by hash of r1."id"; keys expression of 21, t of 4; cells 137
--   count(*): sensitivity 1, scale 3/8, epsilon 8/3 delta 0
--   avg: 0 .. 10000 steps of 0.01, fill 5000, 137 partitions, gate 1118 units, scale 15/2, epsilon 8/3 delta 1/3000, each epsilon 38/15 delta 0.0003333
-- w.people, unit 1 row(s), partitions by hash of r2."id"; keys t of 4; cells 0
--   count(*): sensitivity 1, scale 3/8, epsilon 8/3 delta 0
-- => backend
SELECT x2, x3, x4, pg_catalog.count(*), pg_catalog.count(x1), pg_catalog.sum((pg_catalog.int4larger(pg_catalog.int4smaller(x1, %(p2)s::integer), %(p1)s::integer))::integer) FROM (SELECT r1."i4" AS x1, (pg_catalog.date_trunc('year', (pg_catalog.date_larger(pg_catalog.date_smaller(r1."d", %(p4)s::date), %(p3)s::date))::timestamp AT TIME ZONE 'UTC'))::text AS x2, (r1."t")::text AS x3, pg_catalog.mod(((pg_catalog.hashint4extended(r1."id"::integer, %(p7)s::bigint)) & %(p8)s::bigint)::integer, %(p9)s::integer) AS x4 FROM "w"."people" AS r1 WHERE ((pg_catalog.date_trunc('year', (pg_catalog.date_larger(pg_catalog.date_smaller(r1."d", %(p4)s::date), %(p3)s::date))::timestamp AT TIME ZONE 'UTC'))::text = ANY(%(p5)s::text[])) AND (r1."t" = ANY(%(p6)s::text[]::text[]) OR r1."t" IS NULL) AND r1."b" LIMIT ALL) r GROUP BY 1, 2, 3
--   p1 = 0
--   p2 = 100
--   p3 = 2000-01-01
--   p4 = 2020-01-01
--   p5 = ['2000-01-01 00:00:00+00', '2001-01-01 00:00:00+00', '2002-01-01 00:00:00+00', '2003-01-01 00:00:00+00', '2004-01-01 00:00:00+00', '2005-01-01 00:00:00+00', '2006-01-01 00:00:00+00', '2007-01-01 00:00:00+00', '2008-01-01 00:00:00+00', '2009-01-01 00:00:00+00', '2010-01-01 00:00:00+00', '2011-01-01 00:00:00+00', '2012-01-01 00:00:00+00', '2013-01-01 00:00:00+00', '2014-01-01 00:00:00+00', '2015-01-01 00:00:00+00', '2016-01-01 00:00:00+00', '2017-01-01 00:00:00+00', '2018-01-01 00:00:00+00', '2019-01-01 00:00:00+00', '2020-01-01 00:00:00+00']
--   p6 = ['x', 'y', 'z']
--   p7 = random
--   p8 = 2147483647
--   p9 = 137
SELECT * FROM (SELECT (CASE WHEN pg_catalog.octet_length((r2."t")::text) <= 1024 THEN (r2."t")::text ELSE pg_catalog.left((r2."t")::text, 1024) END)::text AS k1, pg_catalog.count(*) FROM "w"."people" AS r2 WHERE r2."b" GROUP BY 1 LIMIT ALL) g WHERE (k1 = ANY(%(p1)s::text[]) OR k1 IS NULL)
--   p1 = ['x', 'y', 'z']
-- => loss
-- epsilon 8 delta 1/3000
-- => residual
SELECT dp_b1.k1 AS y, dp_b1.k2 AS "t", dp_b1.a1 AS "count", dp_b1.a2 AS "avg" FROM pg_catalog.jsonb_to_recordset(($1)::pg_catalog.jsonb->'b1') AS dp_b1(k1 timestamp with time zone, k2 pg_catalog.text, a1 bigint, a2 numeric) JOIN (SELECT dp_b2.k1 AS t__, dp_b2.a1 AS mme_inner__ FROM pg_catalog.jsonb_to_recordset(($1)::pg_catalog.jsonb->'b2') AS dp_b2(k1 pg_catalog.text, a1 bigint) ORDER BY mme_inner__ DESC LIMIT 2) AS series_limit ON dp_b1.k2 = t__ WHERE (true)  AND (dp_b1.a1 > 3) ORDER BY dp_b1.a1 DESC LIMIT 10

-- case: others are added up
SELECT CASE WHEN (s.t__ IS NOT NULL) THEN t ELSE 'Others' END AS t, count(*), sum(n2) FROM people LEFT OUTER JOIN (SELECT t AS t__, count(*) AS n FROM people GROUP BY t ORDER BY n DESC LIMIT 2) AS s ON t = t__ GROUP BY CASE WHEN (s.t__ IS NOT NULL) THEN t ELSE 'Others' END
-- => plan
-- w.people, unit 1 row(s), partitions by hash of r1."id"; keys t of 4; cells 0
--   count(*): sensitivity 1, scale 3/8, epsilon 8/3 delta 0
--   sum: clamp 0 .. 175, grid 0.01, sensitivity 17500 steps, scale 13125/2, epsilon 8/3 delta 0
-- w.people, unit 1 row(s), partitions by hash of r2."id"; keys t of 4; cells 0
--   count(*): sensitivity 1, scale 3/8, epsilon 8/3 delta 0
-- => backend
SELECT * FROM (SELECT (CASE WHEN pg_catalog.octet_length((r1."t")::text) <= 1024 THEN (r1."t")::text ELSE pg_catalog.left((r1."t")::text, 1024) END)::text AS k1, pg_catalog.count(*), pg_catalog.floor(pg_catalog.sum(pg_catalog.numeric_larger(pg_catalog.numeric_smaller(r1."n2", %(p2)s::numeric), %(p1)s::numeric)) * %(p3)s::numeric) FROM "w"."people" AS r1 GROUP BY 1 LIMIT ALL) g WHERE (k1 = ANY(%(p4)s::text[]) OR k1 IS NULL)
--   p1 = 0
--   p2 = 175
--   p3 = 100
--   p4 = ['x', 'y', 'z']
SELECT * FROM (SELECT (CASE WHEN pg_catalog.octet_length((r2."t")::text) <= 1024 THEN (r2."t")::text ELSE pg_catalog.left((r2."t")::text, 1024) END)::text AS k1, pg_catalog.count(*) FROM "w"."people" AS r2 GROUP BY 1 LIMIT ALL) g WHERE (k1 = ANY(%(p1)s::text[]) OR k1 IS NULL)
--   p1 = ['x', 'y', 'z']
-- => loss
-- epsilon 8 delta 0
-- => residual
SELECT CASE WHEN (s.t__ IS NOT NULL) THEN dp_b1.k1 ELSE 'Others' END AS t, CASE WHEN pg_catalog.count(*) = pg_catalog.count(dp_b1.a1) THEN LEAST(GREATEST(COALESCE(pg_catalog.sum(dp_b1.a1), 0), -9223372036854775808), 9223372036854775807)::bigint END AS "count", CASE WHEN NULLIF(pg_catalog.count(*), 0) = pg_catalog.count(dp_b1.a2) THEN pg_catalog.sum(dp_b1.a2) END AS "sum" FROM pg_catalog.jsonb_to_recordset(($1)::pg_catalog.jsonb->'b1') AS dp_b1(k1 pg_catalog.text, a1 bigint, a2 numeric) LEFT OUTER JOIN (SELECT dp_b2.k1 AS t__, dp_b2.a1 AS n FROM pg_catalog.jsonb_to_recordset(($1)::pg_catalog.jsonb->'b2') AS dp_b2(k1 pg_catalog.text, a1 bigint) ORDER BY n DESC LIMIT 2) AS s ON dp_b1.k1 = t__ GROUP BY CASE WHEN (s.t__ IS NOT NULL) THEN dp_b1.k1 ELSE 'Others' END

-- case: a list of answers, of which the key is shown
SELECT t, max(i4) FROM people WHERE b AND t IN (SELECT t FROM people GROUP BY 1 ORDER BY count(*) DESC LIMIT 2) GROUP BY 1
-- => plan
-- w.people, unit 1 row(s), partitions by hash of r2."id"; keys t of 4; cells 45
--   max: 0 .. 100 steps of 1, fill 0, 45 partitions, gate 375 units, scale 5, epsilon 4 delta 1/2000, each epsilon 19/5 delta 0.0005
-- w.people, unit 1 row(s), partitions by hash of r1."id"; keys t of 4; cells 0
--   count(*): sensitivity 1, scale 1/4, epsilon 4 delta 0
-- => backend
SELECT x2, x3, pg_catalog.int4larger(pg_catalog.int4smaller(pg_catalog.max(x1), %(p2)s::integer), %(p1)s::integer), pg_catalog.count(x1) FROM (SELECT r2."i4" AS x1, (r2."t")::text AS x2, pg_catalog.mod(((pg_catalog.hashint4extended(r2."id"::integer, %(p4)s::bigint)) & %(p5)s::bigint)::integer, %(p6)s::integer) AS x3 FROM "w"."people" AS r2 WHERE (r2."t" = ANY(%(p3)s::text[]::text[]) OR r2."t" IS NULL) AND r2."b" LIMIT ALL) r GROUP BY 1, 2
--   p1 = 0
--   p2 = 100
--   p3 = ['x', 'y', 'z']
--   p4 = random
--   p5 = 2147483647
--   p6 = 45
SELECT * FROM (SELECT (CASE WHEN pg_catalog.octet_length((r1."t")::text) <= 1024 THEN (r1."t")::text ELSE pg_catalog.left((r1."t")::text, 1024) END)::text AS k1, pg_catalog.count(*) FROM "w"."people" AS r1 GROUP BY 1 LIMIT ALL) g WHERE (k1 = ANY(%(p1)s::text[]) OR k1 IS NULL)
--   p1 = ['x', 'y', 'z']
-- => loss
-- epsilon 8 delta 1/2000
-- => residual
SELECT dp_b1.k1 AS "t", dp_b1.a1 AS "max" FROM pg_catalog.jsonb_to_recordset(($1)::pg_catalog.jsonb->'b1') AS dp_b1(k1 pg_catalog.text, a1 integer) WHERE true AND dp_b1.k1 IN (SELECT dp_b2.k1 AS "t" FROM pg_catalog.jsonb_to_recordset(($1)::pg_catalog.jsonb->'b2') AS dp_b2(k1 pg_catalog.text, a1 bigint) ORDER BY dp_b2.a1 DESC LIMIT 2) 

-- case: a list of answers, of which the key is not shown
SELECT count(*), sum(i4) FROM people WHERE b AND t NOT IN (SELECT q.t FROM (SELECT t, count(*) AS n FROM people GROUP BY t) q WHERE q.n > 10 AND q.t IS NOT NULL)
-- => plan
-- w.people, unit 1 row(s), partitions by hash of r2."id"; keys t of 4; cells 0
--   count(*): sensitivity 1, scale 3/8, epsilon 8/3 delta 0
--   sum: clamp 0 .. 100, grid 1, sensitivity 100 steps, scale 75/2, epsilon 8/3 delta 0
-- w.people, unit 1 row(s), partitions by hash of r1."id"; keys t of 4; cells 0
--   count(*): sensitivity 1, scale 3/8, epsilon 8/3 delta 0
-- => backend
SELECT * FROM (SELECT (CASE WHEN pg_catalog.octet_length((r2."t")::text) <= 1024 THEN (r2."t")::text ELSE pg_catalog.left((r2."t")::text, 1024) END)::text AS k1, pg_catalog.count(*), pg_catalog.sum((pg_catalog.int4larger(pg_catalog.int4smaller(r2."i4", %(p2)s::integer), %(p1)s::integer))::integer) FROM "w"."people" AS r2 WHERE r2."b" GROUP BY 1 LIMIT ALL) g WHERE (k1 = ANY(%(p3)s::text[]) OR k1 IS NULL)
--   p1 = 0
--   p2 = 100
--   p3 = ['x', 'y', 'z']
SELECT * FROM (SELECT (CASE WHEN pg_catalog.octet_length((r1."t")::text) <= 1024 THEN (r1."t")::text ELSE pg_catalog.left((r1."t")::text, 1024) END)::text AS k1, pg_catalog.count(*) FROM "w"."people" AS r1 GROUP BY 1 LIMIT ALL) g WHERE (k1 = ANY(%(p1)s::text[]) OR k1 IS NULL)
--   p1 = ['x', 'y', 'z']
-- => loss
-- epsilon 8 delta 0
-- => residual
SELECT CASE WHEN pg_catalog.count(*) = pg_catalog.count(dp_b1.a1) THEN LEAST(GREATEST(COALESCE(pg_catalog.sum(dp_b1.a1), 0), -9223372036854775808), 9223372036854775807)::bigint END AS "count", CASE WHEN NULLIF(pg_catalog.count(*), 0) = pg_catalog.count(dp_b1.a2) THEN LEAST(GREATEST(pg_catalog.sum(dp_b1.a2), -9223372036854775808), 9223372036854775807)::bigint END AS "sum" FROM pg_catalog.jsonb_to_recordset(($1)::pg_catalog.jsonb->'b1') AS dp_b1(k1 pg_catalog.text, a1 bigint, a2 bigint) WHERE true AND dp_b1.k1 NOT IN (SELECT q.t FROM (SELECT dp_b2.k1 AS "t", dp_b2.a1 AS n FROM pg_catalog.jsonb_to_recordset(($1)::pg_catalog.jsonb->'b2') AS dp_b2(k1 pg_catalog.text, a1 bigint)) q WHERE q.n > 10 AND q.t IS NOT NULL)

-- case: bins between noisy ends
WITH r AS (SELECT min(i4) AS lo, max(i4) AS hi FROM people) SELECT CASE WHEN i4 < lo + (hi - lo) / 2 THEN 'low' ELSE 'high' END AS half, count(i4) FROM people CROSS JOIN r GROUP BY 1
-- => plan
-- w.people, unit 1 row(s), partitions by hash of r1."id"; keys none; cells 69
--   min: 0 .. 100 steps of 1, fill 100, 69 partitions, gate 574 units, scale 15/2, epsilon 8/3 delta 1/3000, each epsilon 38/15 delta 0.0003333
--   max: 0 .. 100 steps of 1, fill 0, 69 partitions, gate 574 units, scale 15/2, epsilon 8/3 delta 1/3000, each epsilon 38/15 delta 0.0003333
-- w.people, unit 1 row(s), partitions by hash of r2."id"; keys expression of 101; cells 0
--   count: sensitivity 1, scale 3/8, epsilon 8/3 delta 0
-- => backend
SELECT x2, pg_catalog.int4larger(pg_catalog.int4smaller(pg_catalog.min(x1), %(p2)s::integer), %(p1)s::integer), pg_catalog.count(x1), pg_catalog.int4larger(pg_catalog.int4smaller(pg_catalog.max(x1), %(p2)s::integer), %(p1)s::integer) FROM (SELECT r1."i4" AS x1, pg_catalog.mod(((pg_catalog.hashint4extended(r1."id"::integer, %(p3)s::bigint)) & %(p4)s::bigint)::integer, %(p5)s::integer) AS x2 FROM "w"."people" AS r1 LIMIT ALL) r GROUP BY 1
--   p1 = 0
--   p2 = 100
--   p3 = random
--   p4 = 2147483647
--   p5 = 69
SELECT * FROM (SELECT (pg_catalog.div((pg_catalog.int4larger(pg_catalog.int4smaller(r2."i4", %(p2)s::integer), %(p1)s::integer))::numeric, %(p3)s::numeric))::text AS k1, pg_catalog.count(r2."i4") FROM "w"."people" AS r2 GROUP BY 1 LIMIT ALL) g WHERE (k1 = ANY(%(p4)s::text[]))
--   p1 = 0
--   p2 = 100
--   p3 = 1
--   p4 = ['0', '1', '2', '3', '4', '5', '6', '7', '8', '9', '10', '11', '12', '13', '14', '15', '16', '17', '18', '19', '20', '21', '22', '23', '24', '25', '26', '27', '28', '29', '30', '31', '32', '33', '34', '35', '36', '37', '38', '39', '40', '41', '42', '43', '44', '45', '46', '47', '48', '49', '50', '51', '52', '53', '54', '55', '56', '57', '58', '59', '60', '61', '62', '63', '64', '65', '66', '67', '68', '69', '70', '71', '72', '73', '74', '75', '76', '77', '78', '79', '80', '81', '82', '83', '84', '85', '86', '87', '88', '89', '90', '91', '92', '93', '94', '95', '96', '97', '98', '99', '100']
-- => loss
-- epsilon 8 delta 1/1500
-- => residual
WITH r AS (SELECT dp_b1.a1 AS lo, dp_b1.a2 AS hi FROM pg_catalog.jsonb_to_recordset(($1)::pg_catalog.jsonb->'b1') AS dp_b1(a1 integer, a2 integer)) SELECT CASE WHEN dp_b2.k1 < lo + (hi - lo) / 2 THEN 'low' ELSE 'high' END AS half, CASE WHEN pg_catalog.count(*) = pg_catalog.count(dp_b2.a1) THEN LEAST(GREATEST(COALESCE(pg_catalog.sum(dp_b2.a1), 0), -9223372036854775808), 9223372036854775807)::bigint END AS "count" FROM pg_catalog.jsonb_to_recordset(($1)::pg_catalog.jsonb->'b2') AS dp_b2(k1 integer, a1 bigint) CROSS JOIN r GROUP BY 1

-- case: rolling sums
SELECT q.at, sum(x.v) FROM (SELECT g AS at FROM generate_series('2020-01-01'::timestamp, '2020-03-01', '1 month') g) q JOIN (SELECT date_trunc('month', ts) AS at, i4 AS v FROM people) x ON x.at <= q.at AND x.at > q.at - interval '3 months' WHERE q.at > '2020-01-03' GROUP BY q.at
-- => plan
-- w.people, unit 1 row(s), partitions by hash of r2."dp_key1"; keys at of 241; cells 0
--   sum: clamp 0 .. 100, grid 1, sensitivity 100 steps, scale 25/2, epsilon 8 delta 0
-- => backend
SELECT * FROM (SELECT (r2."at")::text AS k1, pg_catalog.sum((pg_catalog.int4larger(pg_catalog.int4smaller(r2."v", %(p2)s::integer), %(p1)s::integer))::integer) FROM (SELECT pg_catalog.date_trunc('month', pg_catalog.timestamp_larger(pg_catalog.timestamp_smaller(r1."ts", %(p4)s::timestamp without time zone), %(p3)s::timestamp without time zone)) AS "at", r1."i4" AS "v", r1."id" AS "dp_key1" FROM "w"."people" AS r1) AS r2 GROUP BY 1 LIMIT ALL) g WHERE (k1 = ANY(%(p5)s::text[]))
--   p1 = 0
--   p2 = 100
--   p3 = 2000-01-01 00:00:00.000000
--   p4 = 2020-01-01 00:00:00.000000
--   p5 = ['2000-01-01 00:00:00', '2000-02-01 00:00:00', '2000-03-01 00:00:00', '2000-04-01 00:00:00', '2000-05-01 00:00:00', '2000-06-01 00:00:00', '2000-07-01 00:00:00', '2000-08-01 00:00:00', '2000-09-01 00:00:00', '2000-10-01 00:00:00', '2000-11-01 00:00:00', '2000-12-01 00:00:00', '2001-01-01 00:00:00', '2001-02-01 00:00:00', '2001-03-01 00:00:00', '2001-04-01 00:00:00', '2001-05-01 00:00:00', '2001-06-01 00:00:00', '2001-07-01 00:00:00', '2001-08-01 00:00:00', '2001-09-01 00:00:00', '2001-10-01 00:00:00', '2001-11-01 00:00:00', '2001-12-01 00:00:00', '2002-01-01 00:00:00', '2002-02-01 00:00:00', '2002-03-01 00:00:00', '2002-04-01 00:00:00', '2002-05-01 00:00:00', '2002-06-01 00:00:00', '2002-07-01 00:00:00', '2002-08-01 00:00:00', '2002-09-01 00:00:00', '2002-10-01 00:00:00', '2002-11-01 00:00:00', '2002-12-01 00:00:00', '2003-01-01 00:00:00', '2003-02-01 00:00:00', '2003-03-01 00:00:00', '2003-04-01 00:00:00', '2003-05-01 00:00:00', '2003-06-01 00:00:00', '2003-07-01 00:00:00', '2003-08-01 00:00:00', '2003-09-01 00:00:00', '2003-10-01 00:00:00', '2003-11-01 00:00:00', '2003-12-01 00:00:00', '2004-01-01 00:00:00', '2004-02-01 00:00:00', '2004-03-01 00:00:00', '2004-04-01 00:00:00', '2004-05-01 00:00:00', '2004-06-01 00:00:00', '2004-07-01 00:00:00', '2004-08-01 00:00:00', '2004-09-01 00:00:00', '2004-10-01 00:00:00', '2004-11-01 00:00:00', '2004-12-01 00:00:00', '2005-01-01 00:00:00', '2005-02-01 00:00:00', '2005-03-01 00:00:00', '2005-04-01 00:00:00', '2005-05-01 00:00:00', '2005-06-01 00:00:00', '2005-07-01 00:00:00', '2005-08-01 00:00:00', '2005-09-01 00:00:00', '2005-10-01 00:00:00', '2005-11-01 00:00:00', '2005-12-01 00:00:00', '2006-01-01 00:00:00', '2006-02-01 00:00:00', '2006-03-01 00:00:00', '2006-04-01 00:00:00', '2006-05-01 00:00:00', '2006-06-01 00:00:00', '2006-07-01 00:00:00', '2006-08-01 00:00:00', '2006-09-01 00:00:00', '2006-10-01 00:00:00', '2006-11-01 00:00:00', '2006-12-01 00:00:00', '2007-01-01 00:00:00', '2007-02-01 00:00:00', '2007-03-01 00:00:00', '2007-04-01 00:00:00', '2007-05-01 00:00:00', '2007-06-01 00:00:00', '2007-07-01 00:00:00', '2007-08-01 00:00:00', '2007-09-01 00:00:00', '2007-10-01 00:00:00', '2007-11-01 00:00:00', '2007-12-01 00:00:00', '2008-01-01 00:00:00', '2008-02-01 00:00:00', '2008-03-01 00:00:00', '2008-04-01 00:00:00', '2008-05-01 00:00:00', '2008-06-01 00:00:00', '2008-07-01 00:00:00', '2008-08-01 00:00:00', '2008-09-01 00:00:00', '2008-10-01 00:00:00', '2008-11-01 00:00:00', '2008-12-01 00:00:00', '2009-01-01 00:00:00', '2009-02-01 00:00:00', '2009-03-01 00:00:00', '2009-04-01 00:00:00', '2009-05-01 00:00:00', '2009-06-01 00:00:00', '2009-07-01 00:00:00', '2009-08-01 00:00:00', '2009-09-01 00:00:00', '2009-10-01 00:00:00', '2009-11-01 00:00:00', '2009-12-01 00:00:00', '2010-01-01 00:00:00', '2010-02-01 00:00:00', '2010-03-01 00:00:00', '2010-04-01 00:00:00', '2010-05-01 00:00:00', '2010-06-01 00:00:00', '2010-07-01 00:00:00', '2010-08-01 00:00:00', '2010-09-01 00:00:00', '2010-10-01 00:00:00', '2010-11-01 00:00:00', '2010-12-01 00:00:00', '2011-01-01 00:00:00', '2011-02-01 00:00:00', '2011-03-01 00:00:00', '2011-04-01 00:00:00', '2011-05-01 00:00:00', '2011-06-01 00:00:00', '2011-07-01 00:00:00', '2011-08-01 00:00:00', '2011-09-01 00:00:00', '2011-10-01 00:00:00', '2011-11-01 00:00:00', '2011-12-01 00:00:00', '2012-01-01 00:00:00', '2012-02-01 00:00:00', '2012-03-01 00:00:00', '2012-04-01 00:00:00', '2012-05-01 00:00:00', '2012-06-01 00:00:00', '2012-07-01 00:00:00', '2012-08-01 00:00:00', '2012-09-01 00:00:00', '2012-10-01 00:00:00', '2012-11-01 00:00:00', '2012-12-01 00:00:00', '2013-01-01 00:00:00', '2013-02-01 00:00:00', '2013-03-01 00:00:00', '2013-04-01 00:00:00', '2013-05-01 00:00:00', '2013-06-01 00:00:00', '2013-07-01 00:00:00', '2013-08-01 00:00:00', '2013-09-01 00:00:00', '2013-10-01 00:00:00', '2013-11-01 00:00:00', '2013-12-01 00:00:00', '2014-01-01 00:00:00', '2014-02-01 00:00:00', '2014-03-01 00:00:00', '2014-04-01 00:00:00', '2014-05-01 00:00:00', '2014-06-01 00:00:00', '2014-07-01 00:00:00', '2014-08-01 00:00:00', '2014-09-01 00:00:00', '2014-10-01 00:00:00', '2014-11-01 00:00:00', '2014-12-01 00:00:00', '2015-01-01 00:00:00', '2015-02-01 00:00:00', '2015-03-01 00:00:00', '2015-04-01 00:00:00', '2015-05-01 00:00:00', '2015-06-01 00:00:00', '2015-07-01 00:00:00', '2015-08-01 00:00:00', '2015-09-01 00:00:00', '2015-10-01 00:00:00', '2015-11-01 00:00:00', '2015-12-01 00:00:00', '2016-01-01 00:00:00', '2016-02-01 00:00:00', '2016-03-01 00:00:00', '2016-04-01 00:00:00', '2016-05-01 00:00:00', '2016-06-01 00:00:00', '2016-07-01 00:00:00', '2016-08-01 00:00:00', '2016-09-01 00:00:00', '2016-10-01 00:00:00', '2016-11-01 00:00:00', '2016-12-01 00:00:00', '2017-01-01 00:00:00', '2017-02-01 00:00:00', '2017-03-01 00:00:00', '2017-04-01 00:00:00', '2017-05-01 00:00:00', '2017-06-01 00:00:00', '2017-07-01 00:00:00', '2017-08-01 00:00:00', '2017-09-01 00:00:00', '2017-10-01 00:00:00', '2017-11-01 00:00:00', '2017-12-01 00:00:00', '2018-01-01 00:00:00', '2018-02-01 00:00:00', '2018-03-01 00:00:00', '2018-04-01 00:00:00', '2018-05-01 00:00:00', '2018-06-01 00:00:00', '2018-07-01 00:00:00', '2018-08-01 00:00:00', '2018-09-01 00:00:00', '2018-10-01 00:00:00', '2018-11-01 00:00:00', '2018-12-01 00:00:00', '2019-01-01 00:00:00', '2019-02-01 00:00:00', '2019-03-01 00:00:00', '2019-04-01 00:00:00', '2019-05-01 00:00:00', '2019-06-01 00:00:00', '2019-07-01 00:00:00', '2019-08-01 00:00:00', '2019-09-01 00:00:00', '2019-10-01 00:00:00', '2019-11-01 00:00:00', '2019-12-01 00:00:00', '2020-01-01 00:00:00']
-- => loss
-- epsilon 8 delta 0
-- => residual
SELECT q.at, CASE WHEN NULLIF(pg_catalog.count(*), 0) = pg_catalog.count(dp_b1.a1) THEN LEAST(GREATEST(pg_catalog.sum(dp_b1.a1), -9223372036854775808), 9223372036854775807)::bigint END AS "sum" FROM (SELECT g AS at FROM generate_series('2020-01-01'::timestamp, '2020-03-01', '1 month') g) q JOIN pg_catalog.jsonb_to_recordset(($1)::pg_catalog.jsonb->'b1') AS dp_b1(k1 timestamp without time zone, a1 bigint) ON dp_b1.k1 <= q.at AND dp_b1.k1 > q.at - interval '3 months' WHERE q.at > '2020-01-03' GROUP BY q.at

-- case: USING
SELECT t, q.total, count(*) FROM people JOIN (SELECT t, count(*) AS total FROM people GROUP BY t) q USING (t) GROUP BY t, q.total
-- => plan
-- w.people, unit 1 row(s), partitions by hash of r1."id"; keys t of 4; cells 0
--   count(*): sensitivity 1, scale 1/4, epsilon 4 delta 0
-- w.people, unit 1 row(s), partitions by hash of r2."id"; keys t of 4; cells 0
--   count(*): sensitivity 1, scale 1/4, epsilon 4 delta 0
-- => backend
SELECT * FROM (SELECT (CASE WHEN pg_catalog.octet_length((r1."t")::text) <= 1024 THEN (r1."t")::text ELSE pg_catalog.left((r1."t")::text, 1024) END)::text AS k1, pg_catalog.count(*) FROM "w"."people" AS r1 GROUP BY 1 LIMIT ALL) g WHERE (k1 = ANY(%(p1)s::text[]) OR k1 IS NULL)
--   p1 = ['x', 'y', 'z']
SELECT * FROM (SELECT (CASE WHEN pg_catalog.octet_length((r2."t")::text) <= 1024 THEN (r2."t")::text ELSE pg_catalog.left((r2."t")::text, 1024) END)::text AS k1, pg_catalog.count(*) FROM "w"."people" AS r2 GROUP BY 1 LIMIT ALL) g WHERE (k1 = ANY(%(p1)s::text[]) OR k1 IS NULL)
--   p1 = ['x', 'y', 'z']
-- => loss
-- epsilon 8 delta 0
-- => residual
SELECT dp_b1.k1 AS "t", q.total, dp_b1.a1 AS "count" FROM pg_catalog.jsonb_to_recordset(($1)::pg_catalog.jsonb->'b1') AS dp_b1(k1 pg_catalog.text, a1 bigint) JOIN (SELECT dp_b2.k1 AS "t", dp_b2.a1 AS total FROM pg_catalog.jsonb_to_recordset(($1)::pg_catalog.jsonb->'b2') AS dp_b2(k1 pg_catalog.text, a1 bigint)) q ON dp_b1.k1 = "q"."t" WHERE (true OR (q.total) IS NULL)

-- case: a condition of rows in ON
SELECT people.t, count(*) FROM people JOIN (SELECT t, count(*) AS total FROM people GROUP BY t) q ON people.t = q.t AND people.b GROUP BY people.t
-- => plan
-- w.people, unit 1 row(s), partitions by hash of r1."id"; keys t of 4; cells 0
--   count(*): sensitivity 1, scale 1/4, epsilon 4 delta 0
-- w.people, unit 1 row(s), partitions by hash of r2."id"; keys t of 4; cells 0
--   count(*): sensitivity 1, scale 1/4, epsilon 4 delta 0
-- => backend
SELECT * FROM (SELECT (CASE WHEN pg_catalog.octet_length((r1."t")::text) <= 1024 THEN (r1."t")::text ELSE pg_catalog.left((r1."t")::text, 1024) END)::text AS k1, pg_catalog.count(*) FROM "w"."people" AS r1 WHERE r1."b" GROUP BY 1 LIMIT ALL) g WHERE (k1 = ANY(%(p1)s::text[]) OR k1 IS NULL)
--   p1 = ['x', 'y', 'z']
SELECT * FROM (SELECT (CASE WHEN pg_catalog.octet_length((r2."t")::text) <= 1024 THEN (r2."t")::text ELSE pg_catalog.left((r2."t")::text, 1024) END)::text AS k1, pg_catalog.count(*) FROM "w"."people" AS r2 GROUP BY 1 LIMIT ALL) g WHERE (k1 = ANY(%(p1)s::text[]) OR k1 IS NULL)
--   p1 = ['x', 'y', 'z']
-- => loss
-- epsilon 8 delta 0
-- => residual
SELECT dp_b1.k1 AS "t", dp_b1.a1 AS "count" FROM pg_catalog.jsonb_to_recordset(($1)::pg_catalog.jsonb->'b1') AS dp_b1(k1 pg_catalog.text, a1 bigint) JOIN (SELECT dp_b2.k1 AS "t", dp_b2.a1 AS total FROM pg_catalog.jsonb_to_recordset(($1)::pg_catalog.jsonb->'b2') AS dp_b2(k1 pg_catalog.text, a1 bigint)) q ON dp_b1.k1 = q.t AND true 

-- case: a period before
SELECT date_trunc('year', ts) AS y, avg(i4) FROM people LEFT JOIN (SELECT min(q.y) AS low, max(q.y) AS high FROM (SELECT date_trunc('year', ts) AS y, count(*) FROM people WHERE b GROUP BY 1) q) ends ON TRUE WHERE ((b IS NOT NULL) = true) AND date_trunc('year', ts) >= ends.low - INTERVAL '1 year' GROUP BY 1
-- => plan
-- w.people, unit 1 row(s), partitions by hash of r1."id"; keys expression of 21; cells 91
--   avg: 0 .. 10000 steps of 0.01, fill 5000, 91 partitions, gate 743 units, scale 5, epsilon 4 delta 1/2000, each epsilon 19/5 delta 0.0005
-- w.people, unit 1 row(s), partitions by hash of r2."id"; keys expression of 21; cells 0
--   count(*): sensitivity 1, scale 1/4, epsilon 4 delta 0
-- => backend
SELECT x2, x3, pg_catalog.count(x1), pg_catalog.sum((pg_catalog.int4larger(pg_catalog.int4smaller(x1, %(p2)s::integer), %(p1)s::integer))::integer) FROM (SELECT r1."i4" AS x1, (pg_catalog.date_trunc('year', pg_catalog.timestamp_larger(pg_catalog.timestamp_smaller(r1."ts", %(p4)s::timestamp without time zone), %(p3)s::timestamp without time zone)))::text AS x2, pg_catalog.mod(((pg_catalog.hashint4extended(r1."id"::integer, %(p6)s::bigint)) & %(p7)s::bigint)::integer, %(p8)s::integer) AS x3 FROM "w"."people" AS r1 WHERE ((pg_catalog.date_trunc('year', pg_catalog.timestamp_larger(pg_catalog.timestamp_smaller(r1."ts", %(p4)s::timestamp without time zone), %(p3)s::timestamp without time zone)))::text = ANY(%(p5)s::text[])) AND (NOT (r1."b" IS NULL)) LIMIT ALL) r GROUP BY 1, 2
--   p1 = 0
--   p2 = 100
--   p3 = 2000-01-01 00:00:00.000000
--   p4 = 2020-01-01 00:00:00.000000
--   p5 = ['2000-01-01 00:00:00', '2001-01-01 00:00:00', '2002-01-01 00:00:00', '2003-01-01 00:00:00', '2004-01-01 00:00:00', '2005-01-01 00:00:00', '2006-01-01 00:00:00', '2007-01-01 00:00:00', '2008-01-01 00:00:00', '2009-01-01 00:00:00', '2010-01-01 00:00:00', '2011-01-01 00:00:00', '2012-01-01 00:00:00', '2013-01-01 00:00:00', '2014-01-01 00:00:00', '2015-01-01 00:00:00', '2016-01-01 00:00:00', '2017-01-01 00:00:00', '2018-01-01 00:00:00', '2019-01-01 00:00:00', '2020-01-01 00:00:00']
--   p6 = random
--   p7 = 2147483647
--   p8 = 91
SELECT * FROM (SELECT (pg_catalog.date_trunc('year', pg_catalog.timestamp_larger(pg_catalog.timestamp_smaller(r2."ts", %(p2)s::timestamp without time zone), %(p1)s::timestamp without time zone)))::text AS k1, pg_catalog.count(*) FROM "w"."people" AS r2 WHERE r2."b" GROUP BY 1 LIMIT ALL) g WHERE (k1 = ANY(%(p3)s::text[]))
--   p1 = 2000-01-01 00:00:00.000000
--   p2 = 2020-01-01 00:00:00.000000
--   p3 = ['2000-01-01 00:00:00', '2001-01-01 00:00:00', '2002-01-01 00:00:00', '2003-01-01 00:00:00', '2004-01-01 00:00:00', '2005-01-01 00:00:00', '2006-01-01 00:00:00', '2007-01-01 00:00:00', '2008-01-01 00:00:00', '2009-01-01 00:00:00', '2010-01-01 00:00:00', '2011-01-01 00:00:00', '2012-01-01 00:00:00', '2013-01-01 00:00:00', '2014-01-01 00:00:00', '2015-01-01 00:00:00', '2016-01-01 00:00:00', '2017-01-01 00:00:00', '2018-01-01 00:00:00', '2019-01-01 00:00:00', '2020-01-01 00:00:00']
-- => loss
-- epsilon 8 delta 1/2000
-- => residual
SELECT dp_b1.k1 AS y, dp_b1.a1 AS "avg" FROM pg_catalog.jsonb_to_recordset(($1)::pg_catalog.jsonb->'b1') AS dp_b1(k1 timestamp without time zone, a1 numeric) LEFT JOIN (SELECT min(q.y) AS low, max(q.y) AS high FROM (SELECT dp_b2.k1 AS y, dp_b2.a1 AS "count" FROM pg_catalog.jsonb_to_recordset(($1)::pg_catalog.jsonb->'b2') AS dp_b2(k1 timestamp without time zone, a1 bigint)) q) ends ON TRUE WHERE (true) AND dp_b1.k1 >= ends.low - INTERVAL '1 year' 

-- case: a subquery of a public table on its key
SELECT p.z, count(*) FROM orders o LEFT JOIN (SELECT code AS c, zone AS z FROM places) p ON o.t = p.c GROUP BY 1
-- => plan
-- w.orders, w.places, unit r1."uid": rows 6, groups 2, per group 2; keys z of 3; cells 0
--   count(*): sensitivity 4, scale 1/2, epsilon 8 delta 0
-- => backend
SELECT k1, pg_catalog.sum(least(v0, %(p2)s::bigint)) FROM (SELECT * FROM (SELECT *, pg_catalog.row_number() OVER (PARTITION BY unit ORDER BY pg_catalog.hashint8extended(pg_catalog.hash_record_extended(ROW(g."unit", k1), %(p5)s::bigint), %(p5)s::bigint), k1) AS rank FROM (SELECT r1."uid" AS unit, (r3."z")::text AS k1, pg_catalog.count(*) AS v0 FROM ((SELECT r1."t" AS c1, r1."uid" AS c2, r3."c" AS c3, r3."z" AS c4 FROM (((SELECT r1."t", r1."uid" FROM "w"."orders" AS r1 WHERE r1."uid" IS NOT NULL) AS r1 CROSS JOIN (SELECT TRUE AS here) AS m1) FULL JOIN (SELECT r2."code" AS "c", r2."zone" AS "z" FROM "w"."places" AS r2) AS r3 ON (CASE WHEN pg_catalog.octet_length(r1."t") <= %(p4)s::integer THEN r1."t" END = CASE WHEN pg_catalog.octet_length(r3."c") <= %(p4)s::integer THEN r3."c" END)) WHERE CASE WHEN m1.here THEN (r3."z" = ANY(%(p3)s::text[]::text[]) OR r3."z" IS NULL) ELSE FALSE END LIMIT ALL) AS j2 CROSS JOIN LATERAL (SELECT j2.c1 AS "t", j2.c2 AS "uid") AS r1 CROSS JOIN LATERAL (SELECT j2.c3 AS "c", j2.c4 AS "z") AS r3) GROUP BY r1."uid", 2) g) c WHERE rank <= %(p2)s::bigint) u GROUP BY 1
--   p1 = 6
--   p2 = 2
--   p3 = ['north', 'south']
--   p4 = 4096
--   p5 = random
-- => loss
-- epsilon 8 delta 0
-- => residual
SELECT dp_b1.k1 AS "z", dp_b1.a1 AS "count" FROM pg_catalog.jsonb_to_recordset(($1)::pg_catalog.jsonb->'b1') AS dp_b1(k1 pg_catalog.text, a1 bigint)

-- case: names like those of a noisy relation's columns
SELECT t, count(*) AS a1 FROM people JOIN (SELECT t AS k2, count(*) AS c1 FROM people GROUP BY t) x1 ON t = k2 GROUP BY t, c1 HAVING count(*) > 3 ORDER BY a1
-- => plan
-- w.people, unit 1 row(s), partitions by hash of r1."id"; keys t of 4; cells 0
--   count(*): sensitivity 1, scale 1/4, epsilon 4 delta 0
-- w.people, unit 1 row(s), partitions by hash of r2."id"; keys t of 4; cells 0
--   count(*): sensitivity 1, scale 1/4, epsilon 4 delta 0
-- => backend
SELECT * FROM (SELECT (CASE WHEN pg_catalog.octet_length((r1."t")::text) <= 1024 THEN (r1."t")::text ELSE pg_catalog.left((r1."t")::text, 1024) END)::text AS k1, pg_catalog.count(*) FROM "w"."people" AS r1 GROUP BY 1 LIMIT ALL) g WHERE (k1 = ANY(%(p1)s::text[]) OR k1 IS NULL)
--   p1 = ['x', 'y', 'z']
SELECT * FROM (SELECT (CASE WHEN pg_catalog.octet_length((r2."t")::text) <= 1024 THEN (r2."t")::text ELSE pg_catalog.left((r2."t")::text, 1024) END)::text AS k1, pg_catalog.count(*) FROM "w"."people" AS r2 GROUP BY 1 LIMIT ALL) g WHERE (k1 = ANY(%(p1)s::text[]) OR k1 IS NULL)
--   p1 = ['x', 'y', 'z']
-- => loss
-- epsilon 8 delta 0
-- => residual
SELECT dp_b1.dp_k1 AS "t", dp_b1.dp_a1 AS a1 FROM (SELECT k1 AS dp_k1, a1 AS dp_a1 FROM pg_catalog.jsonb_to_recordset(($1)::pg_catalog.jsonb->'b1') AS dp_b1(k1 pg_catalog.text, a1 bigint)) AS dp_b1 JOIN (SELECT dp_b2.k1 AS k2, dp_b2.a1 AS c1 FROM pg_catalog.jsonb_to_recordset(($1)::pg_catalog.jsonb->'b2') AS dp_b2(k1 pg_catalog.text, a1 bigint)) x1 ON dp_b1.dp_k1 = k2 WHERE (true OR (c1) IS NULL) AND (dp_b1.dp_a1 > 3) ORDER BY a1

-- case: names like those that take their place
SELECT dp_k1, sum(i4) AS k1 FROM people JOIN (SELECT t AS dp_k1, count(*) AS c1 FROM people GROUP BY t) dp__q ON t <> dp_k1 GROUP BY dp_k1
-- => plan
-- w.people, unit 1 row(s), partitions by hash of r1."id"; keys t of 4; cells 0
--   sum: clamp 0 .. 100, grid 1, sensitivity 100 steps, scale 25, epsilon 4 delta 0
-- w.people, unit 1 row(s), partitions by hash of r2."id"; keys t of 4; cells 0
--   count(*): sensitivity 1, scale 1/4, epsilon 4 delta 0
-- => backend
SELECT * FROM (SELECT (CASE WHEN pg_catalog.octet_length((r1."t")::text) <= 1024 THEN (r1."t")::text ELSE pg_catalog.left((r1."t")::text, 1024) END)::text AS k1, pg_catalog.sum((pg_catalog.int4larger(pg_catalog.int4smaller(r1."i4", %(p2)s::integer), %(p1)s::integer))::integer) FROM "w"."people" AS r1 GROUP BY 1 LIMIT ALL) g WHERE (k1 = ANY(%(p3)s::text[]) OR k1 IS NULL)
--   p1 = 0
--   p2 = 100
--   p3 = ['x', 'y', 'z']
SELECT * FROM (SELECT (CASE WHEN pg_catalog.octet_length((r2."t")::text) <= 1024 THEN (r2."t")::text ELSE pg_catalog.left((r2."t")::text, 1024) END)::text AS k1, pg_catalog.count(*) FROM "w"."people" AS r2 GROUP BY 1 LIMIT ALL) g WHERE (k1 = ANY(%(p1)s::text[]) OR k1 IS NULL)
--   p1 = ['x', 'y', 'z']
-- => loss
-- epsilon 8 delta 0
-- => residual
SELECT dp_k1, CASE WHEN NULLIF(pg_catalog.count(*), 0) = pg_catalog.count(dp_b1.dp___a1) THEN LEAST(GREATEST(pg_catalog.sum(dp_b1.dp___a1), -9223372036854775808), 9223372036854775807)::bigint END AS k1 FROM (SELECT k1 AS dp___k1, a1 AS dp___a1 FROM pg_catalog.jsonb_to_recordset(($1)::pg_catalog.jsonb->'b1') AS dp_b1(k1 pg_catalog.text, a1 bigint)) AS dp_b1 JOIN (SELECT dp_b2.k1 AS dp_k1, dp_b2.a1 AS c1 FROM pg_catalog.jsonb_to_recordset(($1)::pg_catalog.jsonb->'b2') AS dp_b2(k1 pg_catalog.text, a1 bigint)) dp__q ON dp_b1.dp___k1 <> dp_k1 GROUP BY dp_k1

-- case: subqueries about each row beside answers
SELECT o.t, count(*) FROM orders o JOIN (SELECT t AS t__, count(*) AS n FROM people GROUP BY t) q ON o.t = t__ AND EXISTS (SELECT 1 FROM places p WHERE p.code = o.t) WHERE NOT EXISTS (SELECT 1 FROM calls c WHERE c.uid = o.uid) AND q.n > 4 AND (SELECT max(i4) FROM calls c WHERE c.uid = o.uid) > o.i4 AND EXISTS (SELECT 1 FROM places p WHERE p.zone = q.t__) GROUP BY o.t
-- => plan
-- w.orders, w.calls, unit r1."uid": rows 6, groups 2, per group 2; keys t of 4; cells 0
--   count(*): sensitivity 4, scale 1, epsilon 4 delta 0
-- w.people, unit 1 row(s), partitions by hash of r2."id"; keys t of 4; cells 0
--   count(*): sensitivity 1, scale 1/4, epsilon 4 delta 0
-- => backend
SELECT k1, pg_catalog.sum(least(v0, %(p2)s::bigint)) FROM (SELECT * FROM (SELECT *, pg_catalog.row_number() OVER (PARTITION BY unit ORDER BY pg_catalog.hashint8extended(pg_catalog.hash_record_extended(ROW(g."unit", k1), %(p8)s::bigint), %(p8)s::bigint), k1) AS rank FROM (SELECT r1."uid" AS unit, (r1."t")::text AS k1, pg_catalog.count(*) AS v0 FROM ((SELECT r1."i4" AS c1, r1."t" AS c2, r1."uid" AS c3, r5."dp_unit" AS c4, r5."k1" AS c5, r5."unit" AS c6, r9."a1" AS c7, r9."dp_unit" AS c8, r9."k1" AS c9 FROM ((((SELECT r1."i4" AS c1, r1."t" AS c2, r1."uid" AS c3, r5."dp_unit" AS c4, r5."k1" AS c5, r5."unit" AS c6 FROM (((SELECT r1."i4", r1."t", r1."uid" FROM "w"."orders" AS r1 WHERE r1."uid" IS NOT NULL AND (r1."t" = ANY(%(p3)s::text[]::text[]) OR r1."t" IS NULL) AND (((CASE WHEN pg_catalog.octet_length(r1."t") <= %(p4)s::integer THEN r1."t" ELSE pg_catalog.left(r1."t"::text, %(p4)s::integer) END) = ANY(%(l1)s::text[])) IS TRUE)) AS r1 CROSS JOIN (SELECT TRUE AS here) AS m1) FULL JOIN (SELECT r4."unit" AS "unit", r4."k1" AS "k1", r4."unit" AS "dp_unit" FROM (SELECT r3."uid" AS unit, r3."uid" AS k1 FROM "w"."calls" AS r3 WHERE r3."uid" IS NOT NULL GROUP BY r3."uid") AS r4) AS r5 ON (r1."uid" = r5."dp_unit") AND (r1."uid" = r5."k1")) WHERE CASE WHEN m1.here THEN (NOT (NOT (r5."unit" IS NULL))) ELSE FALSE END LIMIT ALL) AS j2 CROSS JOIN LATERAL (SELECT j2.c1 AS "i4", j2.c2 AS "t", j2.c3 AS "uid") AS r1 CROSS JOIN LATERAL (SELECT j2.c4 AS "dp_unit", j2.c5 AS "k1", j2.c6 AS "unit") AS r5) CROSS JOIN (SELECT TRUE AS here) AS m3) FULL JOIN (SELECT r8."unit" AS "unit", r8."k1" AS "k1", r8."a1" AS "a1", r8."unit" AS "dp_unit" FROM (SELECT r6."uid" AS unit, r6."uid" AS k1, pg_catalog.trim_scale(pg_catalog.max((pg_catalog.int4larger(pg_catalog.int4smaller(r6."i4", %(p7)s::integer), %(p6)s::integer))::numeric)) AS a1 FROM "w"."calls" AS r6 WHERE r6."uid" IS NOT NULL GROUP BY r6."uid") AS r8) AS r9 ON (r1."uid" = r9."dp_unit") AND (r1."uid" = r9."k1")) WHERE CASE WHEN m3.here THEN ((r9."a1")::numeric > (r1."i4")::numeric) ELSE FALSE END LIMIT ALL) AS j4 CROSS JOIN LATERAL (SELECT j4.c1 AS "i4", j4.c2 AS "t", j4.c3 AS "uid") AS r1 CROSS JOIN LATERAL (SELECT j4.c4 AS "dp_unit", j4.c5 AS "k1", j4.c6 AS "unit") AS r5 CROSS JOIN LATERAL (SELECT j4.c7 AS "a1", j4.c8 AS "dp_unit", j4.c9 AS "k1") AS r9) GROUP BY r1."uid", 2) g) c WHERE rank <= %(p2)s::bigint) u GROUP BY 1
--   p1 = 6
--   p2 = 2
--   p3 = ['x', 'y', 'z']
--   p4 = 1048576
--   p6 = 0
--   p7 = 100
--   p8 = random
--   l1 = SELECT n, o::bigint, CASE WHEN n <= 50000 AND o <= 1048576 THEN coalesce(a::text, '{}') END FROM (SELECT pg_catalog.count(*) AS n, coalesce(pg_catalog.sum(pg_catalog.octet_length(v::text)), 0) AS o, pg_catalog.array_agg(v) AS a FROM (SELECT DISTINCT (r10."code")::text AS v FROM "w"."places" AS r10 LIMIT 50001) AS f) AS g
SELECT * FROM (SELECT (CASE WHEN pg_catalog.octet_length((r2."t")::text) <= 1024 THEN (r2."t")::text ELSE pg_catalog.left((r2."t")::text, 1024) END)::text AS k1, pg_catalog.count(*) FROM "w"."people" AS r2 GROUP BY 1 LIMIT ALL) g WHERE (k1 = ANY(%(p1)s::text[]) OR k1 IS NULL)
--   p1 = ['x', 'y', 'z']
-- => loss
-- epsilon 8 delta 0
-- => residual
SELECT dp_b1.k1 AS "t", dp_b1.a1 AS "count" FROM pg_catalog.jsonb_to_recordset(($1)::pg_catalog.jsonb->'b1') AS dp_b1(k1 pg_catalog.text, a1 bigint) JOIN (SELECT dp_b2.k1 AS t__, dp_b2.a1 AS n FROM pg_catalog.jsonb_to_recordset(($1)::pg_catalog.jsonb->'b2') AS dp_b2(k1 pg_catalog.text, a1 bigint)) q ON dp_b1.k1 = t__ AND true WHERE true AND q.n > 4 AND true AND EXISTS (SELECT 1 FROM places p WHERE p.zone = q.t__) 
