-- case: rollup
SELECT t, b, count(*) FROM people GROUP BY ROLLUP (t, b)
-- => plan
-- w.people, unit 1 row(s), partitions by hash of r1."id"; keys t of 4, b of 2; cells 0
--   count(*): sensitivity 1, scale 3/8, epsilon 8/3 delta 0
-- w.people, unit 1 row(s), partitions by hash of r1."id"; keys t of 4; cells 0
--   count(*): sensitivity 1, scale 3/8, epsilon 8/3 delta 0
-- w.people, unit 1 row(s), partitions by hash of r1."id"; keys none; cells 0
--   count(*): sensitivity 1, scale 3/8, epsilon 8/3 delta 0
-- => backend
SELECT * FROM (SELECT (CASE WHEN pg_catalog.octet_length((r1."t")::text) <= 1024 THEN (r1."t")::text ELSE pg_catalog.left((r1."t")::text, 1024) END)::text AS k1, (r1."b")::text AS k2, pg_catalog.count(*) FROM "w"."people" AS r1 GROUP BY 1, 2 LIMIT ALL) g WHERE (k1 = ANY(%(p1)s::text[]) OR k1 IS NULL) AND (k2 = ANY(%(p2)s::text[]))
--   p1 = ['x', 'y', 'z']
--   p2 = ['true', 'false']
SELECT * FROM (SELECT (CASE WHEN pg_catalog.octet_length((r1."t")::text) <= 1024 THEN (r1."t")::text ELSE pg_catalog.left((r1."t")::text, 1024) END)::text AS k1, pg_catalog.count(*) FROM "w"."people" AS r1 GROUP BY 1 LIMIT ALL) g WHERE (k1 = ANY(%(p1)s::text[]) OR k1 IS NULL)
--   p1 = ['x', 'y', 'z']
SELECT pg_catalog.count(*) FROM "w"."people" AS r1
-- => loss
-- epsilon 8 delta 0
-- => residual
SELECT dp_b1.k1 AS "t", dp_b1.k2 AS "b", dp_b1.a1 AS "count" FROM (SELECT dp_l.* FROM (SELECT ($1)::pg_catalog.jsonb AS d) AS dp_r, LATERAL (SELECT k1 AS k1, k2 AS k2, a1 FROM pg_catalog.jsonb_to_recordset(dp_r.d->'b1') AS dp_b1(k1 pg_catalog.text, k2 boolean, a1 bigint) UNION ALL SELECT k1 AS k1, NULL::boolean AS k2, a1 FROM pg_catalog.jsonb_to_recordset(dp_r.d->'b2') AS dp_b2(k1 pg_catalog.text, a1 bigint) UNION ALL SELECT NULL::pg_catalog.text AS k1, NULL::boolean AS k2, a1 FROM pg_catalog.jsonb_to_recordset(dp_r.d->'b3') AS dp_b3(a1 bigint)) AS dp_l) AS dp_b1

-- case: grouping sets with what they group by
SELECT t, b, count(*), grouping(t), grouping(b, t) AS both_of FROM people GROUP BY GROUPING SETS ((t, b), (t), ()) HAVING grouping(t) = 0 ORDER BY count(*)
-- => plan
-- w.people, unit 1 row(s), partitions by hash of r1."id"; keys t of 4, b of 2; cells 0
--   count(*): sensitivity 1, scale 3/8, epsilon 8/3 delta 0
-- w.people, unit 1 row(s), partitions by hash of r1."id"; keys t of 4; cells 0
--   count(*): sensitivity 1, scale 3/8, epsilon 8/3 delta 0
-- w.people, unit 1 row(s), partitions by hash of r1."id"; keys none; cells 0
--   count(*): sensitivity 1, scale 3/8, epsilon 8/3 delta 0
-- => backend
SELECT * FROM (SELECT (CASE WHEN pg_catalog.octet_length((r1."t")::text) <= 1024 THEN (r1."t")::text ELSE pg_catalog.left((r1."t")::text, 1024) END)::text AS k1, (r1."b")::text AS k2, pg_catalog.count(*) FROM "w"."people" AS r1 GROUP BY 1, 2 LIMIT ALL) g WHERE (k1 = ANY(%(p1)s::text[]) OR k1 IS NULL) AND (k2 = ANY(%(p2)s::text[]))
--   p1 = ['x', 'y', 'z']
--   p2 = ['true', 'false']
SELECT * FROM (SELECT (CASE WHEN pg_catalog.octet_length((r1."t")::text) <= 1024 THEN (r1."t")::text ELSE pg_catalog.left((r1."t")::text, 1024) END)::text AS k1, pg_catalog.count(*) FROM "w"."people" AS r1 GROUP BY 1 LIMIT ALL) g WHERE (k1 = ANY(%(p1)s::text[]) OR k1 IS NULL)
--   p1 = ['x', 'y', 'z']
SELECT pg_catalog.count(*) FROM "w"."people" AS r1
-- => loss
-- epsilon 8 delta 0
-- => residual
SELECT dp_b1.k1 AS "t", dp_b1.k2 AS "b", dp_b1.a1 AS "count", dp_b1.g1 AS "grouping", dp_b1.g2 AS both_of FROM (SELECT dp_l.* FROM (SELECT ($1)::pg_catalog.jsonb AS d) AS dp_r, LATERAL (SELECT k1 AS k1, k2 AS k2, a1, 0::integer AS g1, 0::integer AS g2 FROM pg_catalog.jsonb_to_recordset(dp_r.d->'b1') AS dp_b1(k1 pg_catalog.text, k2 boolean, a1 bigint) UNION ALL SELECT k1 AS k1, NULL::boolean AS k2, a1, 0::integer AS g1, 2::integer AS g2 FROM pg_catalog.jsonb_to_recordset(dp_r.d->'b2') AS dp_b2(k1 pg_catalog.text, a1 bigint) UNION ALL SELECT NULL::pg_catalog.text AS k1, NULL::boolean AS k2, a1, 1::integer AS g1, 3::integer AS g2 FROM pg_catalog.jsonb_to_recordset(dp_r.d->'b3') AS dp_b3(a1 bigint)) AS dp_l) AS dp_b1 WHERE dp_b1.g1 = 0 ORDER BY dp_b1.a1

-- case: a cube of private and public keys
SELECT s, b, sum(i4) FROM visits GROUP BY CUBE (s, b)
-- => plan
-- w.visits, unit r1."uid": rows 5, groups 5, per group None; keys s of private, b of 2; cells 0
--   selection: epsilon 4/3 delta 1/6000, each epsilon 0.266667 delta 3.334e-05
--   sum: clamp 0 .. 100, grid 1, sensitivity 500 steps, scale 375, epsilon 4/3 delta 0
-- w.visits, unit r1."uid": rows 5, groups 5, per group None; keys s of private; cells 0
--   selection: epsilon 4/3 delta 1/6000, each epsilon 0.266667 delta 3.334e-05
--   sum: clamp 0 .. 100, grid 1, sensitivity 500 steps, scale 375, epsilon 4/3 delta 0
-- w.visits, unit r1."uid": rows 5, groups None, per group None; keys b of 2; cells 0
--   sum: clamp 0 .. 100, grid 1, sensitivity 500 steps, scale 375, epsilon 4/3 delta 0
-- w.visits, unit r1."uid": rows 5, groups None, per group None; keys none; cells 0
--   sum: clamp 0 .. 100, grid 1, sensitivity 500 steps, scale 375, epsilon 4/3 delta 0
-- => backend
SELECT k1, k2, pg_catalog.sum(CASE WHEN v0 IS NOT NULL THEN CASE WHEN total1 <= %(p3)s::bigint THEN v0::bigint ELSE (least(greatest(v0, CASE WHEN total1 <= %(p3)s::bigint THEN v1 ELSE pg_catalog.div(v1::numeric * %(p3)s::bigint, total1)::bigint END * %(p4)s::bigint), CASE WHEN total1 <= %(p3)s::bigint THEN v1 ELSE pg_catalog.div(v1::numeric * %(p3)s::bigint, total1)::bigint END * %(p5)s::bigint))::bigint END END), pg_catalog.count(*) FROM (SELECT *, (pg_catalog.sum((v1)::float8) OVER (PARTITION BY unit))::bigint AS total1 FROM (SELECT * FROM (SELECT *, pg_catalog.row_number() OVER (PARTITION BY unit ORDER BY pg_catalog.hashint8extended(pg_catalog.hash_record_extended(ROW((g."unit" # ((g."unit" >> 32) * (%(p8)s::bigint >> 33))), k1, k2), %(p8)s::bigint), %(p8)s::bigint), k1, k2) AS rank FROM (SELECT r1."uid" AS unit, (r1."s")::text AS k1, (r1."b")::text AS k2, pg_catalog.sum((pg_catalog.int4larger(pg_catalog.int4smaller(r1."i4", %(p2)s::integer), %(p1)s::integer))::integer) AS v0, pg_catalog.count(r1."i4") AS v1 FROM "w"."visits" AS r1 WHERE r1."uid" IS NOT NULL AND (r1."b" = ANY(%(p7)s::text[]::boolean[])) GROUP BY r1."uid", 2, 3, coalesce(pg_catalog.hashtextextended(((r1."s")::text)::text, %(p6)s::bigint), %(p6)s::bigint)) g) c WHERE rank <= %(p3)s::bigint) g) u GROUP BY 1, 2, coalesce(pg_catalog.hashtextextended((k1)::text, %(p6)s::bigint), %(p6)s::bigint)
--   p1 = 0
--   p2 = 100
--   p3 = 5
--   p4 = 0
--   p5 = 100
--   p6 = random
--   p7 = ['true', 'false']
--   p8 = random
SELECT k1, pg_catalog.sum(CASE WHEN v0 IS NOT NULL THEN CASE WHEN total1 <= %(p3)s::bigint THEN v0::bigint ELSE (least(greatest(v0, CASE WHEN total1 <= %(p3)s::bigint THEN v1 ELSE pg_catalog.div(v1::numeric * %(p3)s::bigint, total1)::bigint END * %(p4)s::bigint), CASE WHEN total1 <= %(p3)s::bigint THEN v1 ELSE pg_catalog.div(v1::numeric * %(p3)s::bigint, total1)::bigint END * %(p5)s::bigint))::bigint END END), pg_catalog.count(*) FROM (SELECT *, (pg_catalog.sum((v1)::float8) OVER (PARTITION BY unit))::bigint AS total1 FROM (SELECT * FROM (SELECT *, pg_catalog.row_number() OVER (PARTITION BY unit ORDER BY pg_catalog.hashint8extended(pg_catalog.hash_record_extended(ROW((g."unit" # ((g."unit" >> 32) * (%(p7)s::bigint >> 33))), k1), %(p7)s::bigint), %(p7)s::bigint), k1) AS rank FROM (SELECT r1."uid" AS unit, (r1."s")::text AS k1, pg_catalog.sum((pg_catalog.int4larger(pg_catalog.int4smaller(r1."i4", %(p2)s::integer), %(p1)s::integer))::integer) AS v0, pg_catalog.count(r1."i4") AS v1 FROM "w"."visits" AS r1 WHERE r1."uid" IS NOT NULL GROUP BY r1."uid", 2, coalesce(pg_catalog.hashtextextended(((r1."s")::text)::text, %(p6)s::bigint), %(p6)s::bigint)) g) c WHERE rank <= %(p3)s::bigint) g) u GROUP BY 1, coalesce(pg_catalog.hashtextextended((k1)::text, %(p6)s::bigint), %(p6)s::bigint)
--   p1 = 0
--   p2 = 100
--   p3 = 5
--   p4 = 0
--   p5 = 100
--   p6 = random
--   p7 = random
SELECT k1, pg_catalog.sum(CASE WHEN v0 IS NOT NULL THEN CASE WHEN total1 <= %(p3)s::bigint THEN v0::bigint ELSE (least(greatest(v0, CASE WHEN total1 <= %(p3)s::bigint THEN v1 ELSE pg_catalog.div(v1::numeric * %(p3)s::bigint, total1)::bigint END * %(p4)s::bigint), CASE WHEN total1 <= %(p3)s::bigint THEN v1 ELSE pg_catalog.div(v1::numeric * %(p3)s::bigint, total1)::bigint END * %(p5)s::bigint))::bigint END END) FROM (SELECT *, (pg_catalog.sum((v1)::float8) OVER (PARTITION BY unit))::bigint AS total1 FROM (SELECT r1."uid" AS unit, (r1."b")::text AS k1, pg_catalog.sum((pg_catalog.int4larger(pg_catalog.int4smaller(r1."i4", %(p2)s::integer), %(p1)s::integer))::integer) AS v0, pg_catalog.count(r1."i4") AS v1 FROM "w"."visits" AS r1 WHERE r1."uid" IS NOT NULL AND (r1."b" = ANY(%(p6)s::text[]::boolean[])) GROUP BY r1."uid", 2) g) u GROUP BY 1
--   p1 = 0
--   p2 = 100
--   p3 = 5
--   p4 = 0
--   p5 = 100
--   p6 = ['true', 'false']
SELECT pg_catalog.sum(CASE WHEN v0 IS NOT NULL THEN least(greatest(v0, %(p3)s::bigint * %(p4)s::bigint), %(p3)s::bigint * %(p5)s::bigint) END) FROM (SELECT r1."uid" AS unit, pg_catalog.sum((pg_catalog.int4larger(pg_catalog.int4smaller(r1."i4", %(p2)s::integer), %(p1)s::integer))::integer) AS v0 FROM "w"."visits" AS r1 WHERE r1."uid" IS NOT NULL GROUP BY r1."uid") u
--   p1 = 0
--   p2 = 100
--   p3 = 5
--   p4 = 0
--   p5 = 100
-- => loss
-- epsilon 8 delta 1/3000
-- => residual
SELECT dp_b1.k1 AS "s", dp_b1.k2 AS "b", dp_b1.a1 AS "sum" FROM (SELECT dp_l.* FROM (SELECT ($1)::pg_catalog.jsonb AS d) AS dp_r, LATERAL (SELECT k1 AS k1, k2 AS k2, a1 FROM pg_catalog.jsonb_to_recordset(dp_r.d->'b1') AS dp_b1(k1 character varying(20), k2 boolean, a1 bigint) UNION ALL SELECT k1 AS k1, NULL::boolean AS k2, a1 FROM pg_catalog.jsonb_to_recordset(dp_r.d->'b2') AS dp_b2(k1 character varying(20), a1 bigint) UNION ALL SELECT NULL::character varying(20) AS k1, k1 AS k2, a1 FROM pg_catalog.jsonb_to_recordset(dp_r.d->'b3') AS dp_b3(k1 boolean, a1 bigint) UNION ALL SELECT NULL::character varying(20) AS k1, NULL::boolean AS k2, a1 FROM pg_catalog.jsonb_to_recordset(dp_r.d->'b4') AS dp_b4(a1 bigint)) AS dp_l) AS dp_b1

-- case: ordinals, rows and items that are multiplied out
SELECT date_trunc('year', d) AS y, t, b, avg(i4) FROM people WHERE d < '2025-06-01' GROUP BY 1, ROLLUP ((2, 3))
-- => plan
-- w.people, unit 1 row(s), partitions by hash of r1."id"; keys expression of 21, t of 4, b of 2; cells 91
--   avg: 0 .. 10000 steps of 0.01, fill 5000, 91 partitions, gate 743 units, scale 5, epsilon 4 delta 1/2000, each epsilon 19/5 delta 0.0005
-- w.people, unit 1 row(s), partitions by hash of r1."id"; keys expression of 21; cells 91
--   avg: 0 .. 10000 steps of 0.01, fill 5000, 91 partitions, gate 743 units, scale 5, epsilon 4 delta 1/2000, each epsilon 19/5 delta 0.0005
-- => backend
SELECT x2, x3, x4, x5, pg_catalog.count(x1), pg_catalog.sum((pg_catalog.int4larger(pg_catalog.int4smaller(x1, %(p2)s::integer), %(p1)s::integer))::integer) FROM (SELECT r1."i4" AS x1, (pg_catalog.date_trunc('year', (pg_catalog.date_larger(pg_catalog.date_smaller(r1."d", %(p4)s::date), %(p3)s::date))::timestamp AT TIME ZONE 'UTC'))::text AS x2, (r1."t")::text AS x3, (r1."b")::text AS x4, pg_catalog.mod(((pg_catalog.hashint4extended(r1."id"::integer, %(p9)s::bigint)) & %(p10)s::bigint)::integer, %(p11)s::integer) AS x5 FROM "w"."people" AS r1 WHERE ((pg_catalog.date_trunc('year', (pg_catalog.date_larger(pg_catalog.date_smaller(r1."d", %(p4)s::date), %(p3)s::date))::timestamp AT TIME ZONE 'UTC'))::text = ANY(%(p5)s::text[])) AND (r1."t" = ANY(%(p6)s::text[]::text[]) OR r1."t" IS NULL) AND (r1."b" = ANY(%(p7)s::text[]::boolean[])) AND (r1."d" < %(p8)s::date) LIMIT ALL) r GROUP BY 1, 2, 3, 4
--   p1 = 0
--   p2 = 100
--   p3 = 2000-01-01
--   p4 = 2020-01-01
--   p5 = ['2000-01-01 00:00:00+00', '2001-01-01 00:00:00+00', '2002-01-01 00:00:00+00', '2003-01-01 00:00:00+00', '2004-01-01 00:00:00+00', '2005-01-01 00:00:00+00', '2006-01-01 00:00:00+00', '2007-01-01 00:00:00+00', '2008-01-01 00:00:00+00', '2009-01-01 00:00:00+00', '2010-01-01 00:00:00+00', '2011-01-01 00:00:00+00', '2012-01-01 00:00:00+00', '2013-01-01 00:00:00+00', '2014-01-01 00:00:00+00', '2015-01-01 00:00:00+00', '2016-01-01 00:00:00+00', '2017-01-01 00:00:00+00', '2018-01-01 00:00:00+00', '2019-01-01 00:00:00+00', '2020-01-01 00:00:00+00']
--   p6 = ['x', 'y', 'z']
--   p7 = ['true', 'false']
--   p8 = 2025-06-01
--   p9 = random
--   p10 = 2147483647
--   p11 = 91
SELECT x2, x3, pg_catalog.count(x1), pg_catalog.sum((pg_catalog.int4larger(pg_catalog.int4smaller(x1, %(p2)s::integer), %(p1)s::integer))::integer) FROM (SELECT r1."i4" AS x1, (pg_catalog.date_trunc('year', (pg_catalog.date_larger(pg_catalog.date_smaller(r1."d", %(p4)s::date), %(p3)s::date))::timestamp AT TIME ZONE 'UTC'))::text AS x2, pg_catalog.mod(((pg_catalog.hashint4extended(r1."id"::integer, %(p7)s::bigint)) & %(p8)s::bigint)::integer, %(p9)s::integer) AS x3 FROM "w"."people" AS r1 WHERE ((pg_catalog.date_trunc('year', (pg_catalog.date_larger(pg_catalog.date_smaller(r1."d", %(p4)s::date), %(p3)s::date))::timestamp AT TIME ZONE 'UTC'))::text = ANY(%(p5)s::text[])) AND (r1."d" < %(p6)s::date) LIMIT ALL) r GROUP BY 1, 2
--   p1 = 0
--   p2 = 100
--   p3 = 2000-01-01
--   p4 = 2020-01-01
--   p5 = ['2000-01-01 00:00:00+00', '2001-01-01 00:00:00+00', '2002-01-01 00:00:00+00', '2003-01-01 00:00:00+00', '2004-01-01 00:00:00+00', '2005-01-01 00:00:00+00', '2006-01-01 00:00:00+00', '2007-01-01 00:00:00+00', '2008-01-01 00:00:00+00', '2009-01-01 00:00:00+00', '2010-01-01 00:00:00+00', '2011-01-01 00:00:00+00', '2012-01-01 00:00:00+00', '2013-01-01 00:00:00+00', '2014-01-01 00:00:00+00', '2015-01-01 00:00:00+00', '2016-01-01 00:00:00+00', '2017-01-01 00:00:00+00', '2018-01-01 00:00:00+00', '2019-01-01 00:00:00+00', '2020-01-01 00:00:00+00']
--   p6 = 2025-06-01
--   p7 = random
--   p8 = 2147483647
--   p9 = 91
-- => loss
-- epsilon 8 delta 1/1000
-- => residual
SELECT dp_b1.k1 AS y, dp_b1.k2 AS "t", dp_b1.k3 AS "b", dp_b1.a1 AS "avg" FROM (SELECT dp_l.* FROM (SELECT ($1)::pg_catalog.jsonb AS d) AS dp_r, LATERAL (SELECT k1 AS k1, k2 AS k2, k3 AS k3, a1 FROM pg_catalog.jsonb_to_recordset(dp_r.d->'b1') AS dp_b1(k1 timestamp with time zone, k2 pg_catalog.text, k3 boolean, a1 numeric) UNION ALL SELECT k1 AS k1, NULL::pg_catalog.text AS k2, NULL::boolean AS k3, a1 FROM pg_catalog.jsonb_to_recordset(dp_r.d->'b2') AS dp_b2(k1 timestamp with time zone, a1 numeric)) AS dp_l) AS dp_b1

-- case: equal levels are one release
SELECT t, count(*) FROM people GROUP BY GROUPING SETS ((t), (t), ROLLUP (t))
-- => plan
-- w.people, unit 1 row(s), partitions by hash of r1."id"; keys t of 4; cells 0
--   count(*): sensitivity 1, scale 1/4, epsilon 4 delta 0
-- w.people, unit 1 row(s), partitions by hash of r1."id"; keys none; cells 0
--   count(*): sensitivity 1, scale 1/4, epsilon 4 delta 0
-- => backend
SELECT * FROM (SELECT (CASE WHEN pg_catalog.octet_length((r1."t")::text) <= 1024 THEN (r1."t")::text ELSE pg_catalog.left((r1."t")::text, 1024) END)::text AS k1, pg_catalog.count(*) FROM "w"."people" AS r1 GROUP BY 1 LIMIT ALL) g WHERE (k1 = ANY(%(p1)s::text[]) OR k1 IS NULL)
--   p1 = ['x', 'y', 'z']
SELECT pg_catalog.count(*) FROM "w"."people" AS r1
-- => loss
-- epsilon 8 delta 0
-- => residual
SELECT dp_b1.k1 AS "t", dp_b1.a1 AS "count" FROM (SELECT dp_l.* FROM (SELECT ($1)::pg_catalog.jsonb AS d) AS dp_r, LATERAL (SELECT k1 AS k1, a1 FROM pg_catalog.jsonb_to_recordset(dp_r.d->'b1') AS dp_b1(k1 pg_catalog.text, a1 bigint) UNION ALL SELECT k1 AS k1, a1 FROM pg_catalog.jsonb_to_recordset(dp_r.d->'b1') AS dp_b1(k1 pg_catalog.text, a1 bigint) UNION ALL SELECT k1 AS k1, a1 FROM pg_catalog.jsonb_to_recordset(dp_r.d->'b1') AS dp_b1(k1 pg_catalog.text, a1 bigint) UNION ALL SELECT NULL::pg_catalog.text AS k1, a1 FROM pg_catalog.jsonb_to_recordset(dp_r.d->'b2') AS dp_b2(a1 bigint)) AS dp_l) AS dp_b1

-- case: distinct levels
SELECT t, count(*) FROM people GROUP BY DISTINCT ROLLUP (t), ROLLUP (t)
-- => plan
-- w.people, unit 1 row(s), partitions by hash of r1."id"; keys t of 4; cells 0
--   count(*): sensitivity 1, scale 1/4, epsilon 4 delta 0
-- w.people, unit 1 row(s), partitions by hash of r1."id"; keys none; cells 0
--   count(*): sensitivity 1, scale 1/4, epsilon 4 delta 0
-- => backend
SELECT * FROM (SELECT (CASE WHEN pg_catalog.octet_length((r1."t")::text) <= 1024 THEN (r1."t")::text ELSE pg_catalog.left((r1."t")::text, 1024) END)::text AS k1, pg_catalog.count(*) FROM "w"."people" AS r1 GROUP BY 1 LIMIT ALL) g WHERE (k1 = ANY(%(p1)s::text[]) OR k1 IS NULL)
--   p1 = ['x', 'y', 'z']
SELECT pg_catalog.count(*) FROM "w"."people" AS r1
-- => loss
-- epsilon 8 delta 0
-- => residual
SELECT dp_b1.k1 AS "t", dp_b1.a1 AS "count" FROM (SELECT dp_l.* FROM (SELECT ($1)::pg_catalog.jsonb AS d) AS dp_r, LATERAL (SELECT k1 AS k1, a1 FROM pg_catalog.jsonb_to_recordset(dp_r.d->'b1') AS dp_b1(k1 pg_catalog.text, a1 bigint) UNION ALL SELECT NULL::pg_catalog.text AS k1, a1 FROM pg_catalog.jsonb_to_recordset(dp_r.d->'b2') AS dp_b2(a1 bigint)) AS dp_l) AS dp_b1

-- case: levels without an aggregate
SELECT t FROM people GROUP BY ROLLUP (t)
-- => plan
-- w.people, unit 1 row(s), partitions by hash of r1."id"; keys t of 4; cells 0
-- w.people, unit 1 row(s), partitions by hash of r1."id"; keys none; cells 0
-- => backend

-- => loss
-- epsilon 0 delta 0
-- => residual
SELECT dp_b1.k1 AS "t" FROM (SELECT dp_l.* FROM (SELECT ($1)::pg_catalog.jsonb AS d) AS dp_r, LATERAL (SELECT k1 AS k1 FROM pg_catalog.jsonb_to_recordset(dp_r.d->'b1') AS dp_b1(k1 pg_catalog.text) UNION ALL SELECT NULL::pg_catalog.text AS k1 FROM pg_catalog.jsonb_to_recordset(dp_r.d->'b2') AS dp_b2(none integer)) AS dp_l) AS dp_b1

-- case: grouping of one level
SELECT t, grouping(t), dp.error(count(*)) FROM people GROUP BY t
-- => plan
-- w.people, unit 1 row(s), partitions by hash of r1."id"; keys t of 4; cells 0
--   count(*): sensitivity 1, scale 1/8, epsilon 8 delta 0
-- => backend
SELECT * FROM (SELECT (CASE WHEN pg_catalog.octet_length((r1."t")::text) <= 1024 THEN (r1."t")::text ELSE pg_catalog.left((r1."t")::text, 1024) END)::text AS k1, pg_catalog.count(*) FROM "w"."people" AS r1 GROUP BY 1 LIMIT ALL) g WHERE (k1 = ANY(%(p1)s::text[]) OR k1 IS NULL)
--   p1 = ['x', 'y', 'z']
-- => loss
-- epsilon 8 delta 0
-- => residual
SELECT dp_b1.k1 AS "t", dp_b1.g1 AS "grouping", dp_b1.e1 AS "error" FROM (SELECT dp_l.* FROM (SELECT ($1)::pg_catalog.jsonb AS d) AS dp_r, LATERAL (SELECT k1 AS k1, a1, e1, 0::integer AS g1 FROM pg_catalog.jsonb_to_recordset(dp_r.d->'b1') AS dp_b1(k1 pg_catalog.text, a1 bigint, e1 double precision)) AS dp_l) AS dp_b1

-- case: a row in brackets
SELECT t, b, count(*) FROM people GROUP BY ((t), (b))
-- => plan
-- w.people, unit 1 row(s), partitions by hash of r1."id"; keys t of 4, b of 2; cells 0
--   count(*): sensitivity 1, scale 1/8, epsilon 8 delta 0
-- => backend
SELECT * FROM (SELECT (CASE WHEN pg_catalog.octet_length((r1."t")::text) <= 1024 THEN (r1."t")::text ELSE pg_catalog.left((r1."t")::text, 1024) END)::text AS k1, (r1."b")::text AS k2, pg_catalog.count(*) FROM "w"."people" AS r1 GROUP BY 1, 2 LIMIT ALL) g WHERE (k1 = ANY(%(p1)s::text[]) OR k1 IS NULL) AND (k2 = ANY(%(p2)s::text[]))
--   p1 = ['x', 'y', 'z']
--   p2 = ['true', 'false']
-- => loss
-- epsilon 8 delta 0
-- => residual
SELECT dp_b1.k1 AS "t", dp_b1.k2 AS "b", dp_b1.a1 AS "count" FROM pg_catalog.jsonb_to_recordset(($1)::pg_catalog.jsonb->'b1') AS dp_b1(k1 pg_catalog.text, k2 boolean, a1 bigint)

-- case: nothing to group by
SELECT count(*) FROM people GROUP BY ()
-- => plan
-- w.people, unit 1 row(s), partitions by hash of r1."id"; keys none; cells 0
--   count(*): sensitivity 1, scale 1/8, epsilon 8 delta 0
-- => backend
SELECT pg_catalog.count(*) FROM "w"."people" AS r1
-- => loss
-- epsilon 8 delta 0
-- => residual
SELECT dp_b1.a1 AS "count" FROM pg_catalog.jsonb_to_recordset(($1)::pg_catalog.jsonb->'b1') AS dp_b1(a1 bigint)

-- case: all of them, a word
SELECT t, count(*) FROM people GROUP BY ALL t
-- => plan
-- w.people, unit 1 row(s), partitions by hash of r1."id"; keys t of 4; cells 0
--   count(*): sensitivity 1, scale 1/8, epsilon 8 delta 0
-- => backend
SELECT * FROM (SELECT (CASE WHEN pg_catalog.octet_length((r1."t")::text) <= 1024 THEN (r1."t")::text ELSE pg_catalog.left((r1."t")::text, 1024) END)::text AS k1, pg_catalog.count(*) FROM "w"."people" AS r1 GROUP BY 1 LIMIT ALL) g WHERE (k1 = ANY(%(p1)s::text[]) OR k1 IS NULL)
--   p1 = ['x', 'y', 'z']
-- => loss
-- epsilon 8 delta 0
-- => residual
SELECT dp_b1.k1 AS "t", dp_b1.a1 AS "count" FROM pg_catalog.jsonb_to_recordset(($1)::pg_catalog.jsonb->'b1') AS dp_b1(k1 pg_catalog.text, a1 bigint)

-- case: between scalar answers
SELECT t, count(*), (SELECT count(*) FROM visits) FROM people WHERE i4 > (SELECT avg(i4) FROM people) GROUP BY ROLLUP (t)
-- => plan
-- w.people, unit 1 row(s), partitions by hash of r2."id"; keys none; cells 185
--   avg: 0 .. 10000 steps of 0.01, fill 5000, 185 partitions, gate 1510 units, scale 10, epsilon 2 delta 1/4000, each epsilon 19/10 delta 0.00025
-- w.people, unit 1 row(s), partitions by hash of r1."id"; keys t of 4; cells 0
--   count(*): sensitivity 1, scale 1/2, epsilon 2 delta 0
-- w.people, unit 1 row(s), partitions by hash of r1."id"; keys none; cells 0
--   count(*): sensitivity 1, scale 1/2, epsilon 2 delta 0
-- w.visits, unit r3."uid": rows 5, groups None, per group None; keys none; cells 0
--   count(*): sensitivity 5, scale 5/2, epsilon 2 delta 0
-- => backend
SELECT x2, pg_catalog.count(x1), pg_catalog.sum((pg_catalog.int4larger(pg_catalog.int4smaller(x1, %(p2)s::integer), %(p1)s::integer))::integer) FROM (SELECT r2."i4" AS x1, pg_catalog.mod(((pg_catalog.hashint4extended(r2."id"::integer, %(p3)s::bigint)) & %(p4)s::bigint)::integer, %(p5)s::integer) AS x2 FROM "w"."people" AS r2 LIMIT ALL) r GROUP BY 1
--   p1 = 0
--   p2 = 100
--   p3 = random
--   p4 = 2147483647
--   p5 = 185
SELECT * FROM (SELECT (CASE WHEN pg_catalog.octet_length((r1."t")::text) <= 1024 THEN (r1."t")::text ELSE pg_catalog.left((r1."t")::text, 1024) END)::text AS k1, pg_catalog.count(*) FROM "w"."people" AS r1 WHERE ((r1."i4")::numeric > %(s1)s::numeric) GROUP BY 1 LIMIT ALL) g WHERE (k1 = ANY(%(p2)s::text[]) OR k1 IS NULL)
--   s1 = None
--   p2 = ['x', 'y', 'z']
SELECT pg_catalog.count(*) FROM "w"."people" AS r1 WHERE ((r1."i4")::numeric > %(s1)s::numeric)
--   s1 = None
SELECT pg_catalog.sum(least(v0, %(p1)s::bigint)) FROM (SELECT r3."uid" AS unit, pg_catalog.count(*) AS v0 FROM "w"."visits" AS r3 WHERE r3."uid" IS NOT NULL GROUP BY r3."uid") u
--   p1 = 5
-- => loss
-- epsilon 8 delta 1/4000
-- => residual
SELECT dp_b2.k1 AS "t", dp_b2.a1 AS "count", (SELECT dp_b4.a1 AS "count" FROM pg_catalog.jsonb_to_recordset(($1)::pg_catalog.jsonb->'b4') AS dp_b4(a1 bigint)) FROM (SELECT dp_l.* FROM (SELECT ($1)::pg_catalog.jsonb AS d) AS dp_r, LATERAL (SELECT k1 AS k1, a1 FROM pg_catalog.jsonb_to_recordset(dp_r.d->'b2') AS dp_b2(k1 pg_catalog.text, a1 bigint) UNION ALL SELECT NULL::pg_catalog.text AS k1, a1 FROM pg_catalog.jsonb_to_recordset(dp_r.d->'b3') AS dp_b3(a1 bigint)) AS dp_l) AS dp_b2

-- case: keys in other words
SELECT ((i4+1))/10, grouping(((i4+1))/10), count(*) FROM people GROUP BY GROUPING SETS ((i4), ((i4 + 1)/10)) ORDER BY (people.i4 + 1)/10 DESC NULLS LAST
-- => plan
-- w.people, unit 1 row(s), partitions by hash of r1."id"; keys i4 of private; cells 0
--   selection: epsilon 8/3 delta 1/3000, each epsilon 2.66667 delta 0.0003333
--   count(*): sensitivity 1, scale 3/8, epsilon 8/3 delta 0
-- w.people, unit 1 row(s), partitions by hash of r1."id"; keys expression of 11; cells 0
--   count(*): sensitivity 1, scale 3/8, epsilon 8/3 delta 0
-- => backend
SELECT (r1."i4")::text, pg_catalog.count(*) FROM "w"."people" AS r1 GROUP BY 1, coalesce(pg_catalog.hashtextextended(((r1."i4")::text)::text, %(p1)s::bigint), %(p1)s::bigint)
--   p1 = random
SELECT * FROM (SELECT (pg_catalog.div(((pg_catalog.int4larger(pg_catalog.int4smaller(r1."i4", %(p2)s::integer), %(p1)s::integer))::numeric + %(p3)s::numeric), %(p4)s::numeric))::text AS k1, pg_catalog.count(*) FROM "w"."people" AS r1 GROUP BY 1 LIMIT ALL) g WHERE (k1 = ANY(%(p5)s::text[]))
--   p1 = 0
--   p2 = 100
--   p3 = 1
--   p4 = 10
--   p5 = ['0', '1', '2', '3', '4', '5', '6', '7', '8', '9', '10']
-- => loss
-- epsilon 8 delta 1/3000
-- => residual
SELECT dp_b1.k2 AS "?column?", dp_b1.g1 AS "grouping", dp_b1.a1 AS "count" FROM (SELECT dp_l.* FROM (SELECT ($1)::pg_catalog.jsonb AS d) AS dp_r, LATERAL (SELECT k1 AS k1, NULL::integer AS k2, a1, 1::integer AS g1 FROM pg_catalog.jsonb_to_recordset(dp_r.d->'b1') AS dp_b1(k1 integer, a1 bigint) UNION ALL SELECT NULL::integer AS k1, k1 AS k2, a1, 0::integer AS g1 FROM pg_catalog.jsonb_to_recordset(dp_r.d->'b2') AS dp_b2(k1 integer, a1 bigint)) AS dp_l) AS dp_b1 ORDER BY dp_b1.k2 DESC NULLS LAST
