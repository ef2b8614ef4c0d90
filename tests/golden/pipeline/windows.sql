-- case: the first row of each unit
SELECT count(*), sum(i4) FROM (SELECT i4, row_number() OVER (PARTITION BY uid ORDER BY d DESC, t) AS rn FROM orders WHERE b) q WHERE rn = 1
-- => plan
-- w.orders, unit 1 row(s), partitions by hash of r3."dp_unit", r3."dp_unit" not null; keys none; cells 0
--   count(*): sensitivity 1, scale 1/4, epsilon 4 delta 0
--   sum: clamp 0 .. 100, grid 1, sensitivity 100 steps, scale 25, epsilon 4 delta 0
-- => backend
SELECT pg_catalog.count(*), pg_catalog.sum((pg_catalog.int4larger(pg_catalog.int4smaller(r3."i4", %(p2)s::integer), %(p1)s::integer))::integer) FROM (SELECT r2."c1" AS "i4", r2."w1" AS "rn", r2."dp_unit" AS "dp_unit" FROM (SELECT r1."i4" AS "c1", r1."uid" AS "c2", r1."d" AS "c3", r1."t" AS "c4", r1."uid" AS "dp_unit", pg_catalog.row_number() OVER (PARTITION BY r1."uid" ORDER BY r1."d" DESC NULLS FIRST, (CASE WHEN pg_catalog.octet_length(r1."t") <= 1024 THEN r1."t" ELSE pg_catalog.left(r1."t", 1024) END)::text ASC NULLS LAST, r1."i4", r1."d", r1."t") AS "w1" FROM "w"."orders" AS r1 WHERE r1."b") AS r2) AS r3 WHERE r3."dp_unit" IS NOT NULL AND (r3."rn" = %(p3)s::bigint)
--   p1 = 0
--   p2 = 100
--   p3 = 1
-- => loss
-- epsilon 8 delta 0
-- => residual
SELECT dp_b1.a1 AS "count", dp_b1.a2 AS "sum" FROM pg_catalog.jsonb_to_recordset(($1)::pg_catalog.jsonb->'b1') AS dp_b1(a1 bigint, a2 bigint)

-- case: windows of several orders, and values of other rows
SELECT x, count(*) FROM (SELECT first_value(t) OVER (PARTITION BY uid, i2 ORDER BY d) AS x, lag(i4, 2) OVER (PARTITION BY uid, i2 ORDER BY d) AS before, rank() OVER (PARTITION BY uid ORDER BY i4 NULLS FIRST) AS r, sum(i4) FILTER (WHERE b) OVER (PARTITION BY uid ORDER BY ts ROWS UNBOUNDED PRECEDING) AS s FROM orders) q WHERE s > 10 AND before < 50 GROUP BY x
-- => plan
-- w.orders, unit r5."dp_unit": rows 6, groups 2, per group 2; keys x of 4; cells 0
--   count(*): sensitivity 4, scale 1/2, epsilon 8 delta 0
-- => backend
SELECT k1, pg_catalog.sum(least(v0, %(p2)s::bigint)) FROM (SELECT * FROM (SELECT *, pg_catalog.row_number() OVER (PARTITION BY unit ORDER BY pg_catalog.hashint8extended(pg_catalog.hash_record_extended(ROW(g."unit", k1), %(p9)s::bigint), %(p9)s::bigint), k1) AS rank FROM (SELECT r5."dp_unit" AS unit, (r5."x")::text AS k1, pg_catalog.count(*) AS v0 FROM (SELECT r4."w1" AS "x", r4."w2" AS "before", r4."w3" AS "r", r4."w4" AS "s", r4."dp_unit" AS "dp_unit" FROM (SELECT r3."c1" AS "c1", r3."c2" AS "c2", r3."c3" AS "c3", r3."c4" AS "c4", r3."c5" AS "c5", r3."c6" AS "c6", r3."c7" AS "c7", r3."w1" AS "w1", r3."w2" AS "w2", r3."w3" AS "w3", r3."dp_unit" AS "dp_unit", pg_catalog.sum((pg_catalog.int4larger(pg_catalog.int4smaller(r3."c5", %(p7)s::integer), %(p6)s::integer))::numeric) FILTER (WHERE r3."c7") OVER (PARTITION BY r3."dp_unit", r3."c1" ORDER BY r3."c6" ASC NULLS LAST, r3."c1", r3."c2", r3."c3", r3."c4", r3."c5", r3."c6", r3."c7", r3."w1", r3."w2", r3."w3" ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW) AS "w4" FROM (SELECT r2."c1" AS "c1", r2."c2" AS "c2", r2."c3" AS "c3", r2."c4" AS "c4", r2."c5" AS "c5", r2."c6" AS "c6", r2."c7" AS "c7", r2."w1" AS "w1", r2."w2" AS "w2", r2."dp_unit" AS "dp_unit", pg_catalog.rank() OVER (PARTITION BY r2."dp_unit", r2."c1" ORDER BY r2."c5" ASC NULLS FIRST) AS "w3" FROM (SELECT r1."uid" AS "c1", r1."i2" AS "c2", r1."d" AS "c3", r1."t" AS "c4", r1."i4" AS "c5", r1."ts" AS "c6", r1."b" AS "c7", r1."uid" AS "dp_unit", pg_catalog.first_value(r1."t") OVER (PARTITION BY r1."uid", r1."i2" ORDER BY r1."d" ASC NULLS LAST, r1."i2", r1."d", r1."t", r1."i4", r1."ts", r1."b") AS "w1", pg_catalog.lag(r1."i4", %(p8)s::integer) OVER (PARTITION BY r1."uid", r1."i2" ORDER BY r1."d" ASC NULLS LAST, r1."i2", r1."d", r1."t", r1."i4", r1."ts", r1."b") AS "w2" FROM "w"."orders" AS r1) AS r2) AS r3) AS r4) AS r5 WHERE r5."dp_unit" IS NOT NULL AND (r5."x" = ANY(%(p3)s::text[]::text[]) OR r5."x" IS NULL) AND (r5."s" > %(p4)s::numeric) AND (r5."before" < %(p5)s::bigint) GROUP BY r5."dp_unit", 2) g) c WHERE rank <= %(p2)s::bigint) u GROUP BY 1
--   p1 = 6
--   p2 = 2
--   p3 = ['x', 'y', 'z']
--   p4 = 10
--   p5 = 50
--   p6 = 0
--   p7 = 100
--   p8 = 2
--   p9 = random
-- => loss
-- epsilon 8 delta 0
-- => residual
SELECT dp_b1.k1 AS "x", dp_b1.a1 AS "count" FROM pg_catalog.jsonb_to_recordset(($1)::pg_catalog.jsonb->'b1') AS dp_b1(k1 pg_catalog.text, a1 bigint)

-- case: a key of a table is of one unit
SELECT sum(CASE WHEN rn = 1 THEN v END) FROM (SELECT o.i4 AS v, row_number() OVER (PARTITION BY o.id ORDER BY o.i4) AS rn FROM members m LEFT JOIN orders o ON m.uid = o.uid) q
-- => plan
-- w.members, w.orders, unit r4."dp_unit": rows 6, groups None, per group None; keys none; cells 0
--   sum: clamp 0 .. 100, grid 1, sensitivity 600 steps, scale 75, epsilon 8 delta 0
-- => backend
SELECT pg_catalog.sum(CASE WHEN v0 IS NOT NULL THEN least(greatest(v0, %(p6)s::bigint * %(p7)s::bigint), %(p6)s::bigint * %(p8)s::bigint) END) FROM (SELECT x2 AS unit, pg_catalog.sum(x1) AS v0 FROM (SELECT pg_catalog.round(pg_catalog.numeric_larger(pg_catalog.numeric_smaller(CASE WHEN (r4."rn" = %(p1)s::bigint) THEN (pg_catalog.int4larger(pg_catalog.int4smaller(r4."v", %(p3)s::integer), %(p2)s::integer))::numeric ELSE NULL::numeric END, %(p5)s::numeric), %(p4)s::numeric))::bigint AS x1, r4."dp_unit" AS x2 FROM (SELECT r3."c1" AS "v", r3."w1" AS "rn", r3."dp_unit" AS "dp_unit" FROM (SELECT r2."i4" AS "c1", r2."id" AS "c2", r1."uid" AS "dp_unit", CASE WHEN r2."id" IS NOT NULL THEN pg_catalog.row_number() OVER (PARTITION BY r1."uid", r2."id" ORDER BY r2."i4" ASC NULLS LAST, r2."i4", r2."id") END AS "w1" FROM ((SELECT r1."uid" AS c1, r2."i4" AS c2, r2."id" AS c3, r2."uid" AS c4 FROM (("w"."members" AS r1 CROSS JOIN (SELECT TRUE AS here) AS m1) FULL JOIN "w"."orders" AS r2 ON (r1."uid" = r2."uid")) WHERE CASE WHEN m1.here THEN TRUE ELSE FALSE END LIMIT ALL) AS j2 CROSS JOIN LATERAL (SELECT j2.c1 AS "uid") AS r1 CROSS JOIN LATERAL (SELECT j2.c2 AS "i4", j2.c3 AS "id", j2.c4 AS "uid") AS r2)) AS r3) AS r4 WHERE r4."dp_unit" IS NOT NULL LIMIT ALL) r GROUP BY x2) u
--   p1 = 1
--   p2 = 0
--   p3 = 100
--   p4 = 0
--   p5 = 100
--   p6 = 6
--   p7 = 0
--   p8 = 100
-- => loss
-- epsilon 8 delta 0
-- => residual
SELECT dp_b1.a1 AS "sum" FROM pg_catalog.jsonb_to_recordset(($1)::pg_catalog.jsonb->'b1') AS dp_b1(a1 bigint)

-- case: names of rows, and DISTINCT of windows
SELECT x, count(*) FROM (SELECT DISTINCT max(d) OVER (PARTITION BY o.uid, k) AS x, k FROM (SELECT uid, d, gen_random_uuid() AS k FROM orders) o) q GROUP BY x
-- => plan
-- w.orders, unit r7."dp_unit": rows 6, groups 2, per group 2; keys x of private; cells 0
--   selection: epsilon 4 delta 1/2000, each epsilon 2 delta 0.00025
--   count(*): sensitivity 4, scale 1, epsilon 4 delta 0
-- => backend
SELECT k1, pg_catalog.sum(least(v0, %(p2)s::bigint)), pg_catalog.count(*) FROM (SELECT * FROM (SELECT *, pg_catalog.row_number() OVER (PARTITION BY unit ORDER BY pg_catalog.hashint8extended(pg_catalog.hash_record_extended(ROW(g."unit", k1), %(p6)s::bigint), %(p6)s::bigint), k1) AS rank FROM (SELECT r7."dp_unit" AS unit, (r7."x")::text AS k1, pg_catalog.count(*) AS v0 FROM (SELECT r6."k1" AS "x", r6."k2" AS "k", r6."unit" AS "dp_unit" FROM (SELECT r5."dp_unit" AS unit, r5."x" AS k1, r5."k" AS k2 FROM (SELECT r4."w1" AS "x", r4."c1" AS "k", r4."dp_unit" AS "dp_unit" FROM (SELECT r3."k" AS "c1", r3."uid" AS "c2", r3."d" AS "c3", r3."dp_unit" AS "dp_unit", pg_catalog.max(pg_catalog.date_larger(pg_catalog.date_smaller(r3."d", %(p5)s::date), %(p4)s::date)) OVER (PARTITION BY r3."dp_unit", r3."uid", r3."k") AS "w1" FROM (SELECT r2."c1" AS "uid", r2."c2" AS "d", r2."w1" AS "k", r2."dp_unit" AS "dp_unit" FROM (SELECT r1."uid" AS "c1", r1."d" AS "c2", r1."uid" AS "dp_unit", pg_catalog.gen_random_uuid() AS "w1" FROM "w"."orders" AS r1) AS r2) AS r3) AS r4) AS r5 WHERE r5."dp_unit" IS NOT NULL GROUP BY r5."dp_unit", 2, 3, coalesce(pg_catalog.hashtextextended((r5."k")::text, coalesce(pg_catalog.hashtextextended((r5."x")::text, %(p3)s::bigint), %(p3)s::bigint)), %(p3)s::bigint)) AS r6) AS r7 WHERE r7."dp_unit" IS NOT NULL GROUP BY r7."dp_unit", 2, coalesce(pg_catalog.hashtextextended(((r7."x")::text)::text, %(p3)s::bigint), %(p3)s::bigint)) g) c WHERE rank <= %(p2)s::bigint) u GROUP BY 1, coalesce(pg_catalog.hashtextextended((k1)::text, %(p3)s::bigint), %(p3)s::bigint)
--   p1 = 6
--   p2 = 2
--   p3 = random
--   p4 = 2000-01-01
--   p5 = 2020-01-01
--   p6 = random
-- => loss
-- epsilon 8 delta 1/2000
-- => residual
SELECT dp_b1.k1 AS "x", dp_b1.a1 AS "count" FROM pg_catalog.jsonb_to_recordset(($1)::pg_catalog.jsonb->'b1') AS dp_b1(k1 pg_catalog.date, a1 bigint)

-- case: the number of a row is asked for above a join
SELECT p.zone, count(*) FROM (SELECT uid, t, row_number() OVER (PARTITION BY uid ORDER BY ts) AS rn FROM orders) o LEFT JOIN places p ON p.code = o.t WHERE o.rn = 1 GROUP BY 1
-- => plan
-- w.orders, w.places, unit 1 row(s), partitions by hash of r3."dp_unit", r3."dp_unit" not null; keys zone of 3; cells 0
--   count(*): sensitivity 1, scale 1/8, epsilon 8 delta 0
-- => backend
SELECT * FROM (SELECT (CASE WHEN pg_catalog.octet_length((r4."zone")::text) <= 1024 THEN (r4."zone")::text ELSE pg_catalog.left((r4."zone")::text, 1024) END)::text AS k1, pg_catalog.count(*) FROM ((SELECT r3."dp_unit" AS c1, r3."rn" AS c2, r3."t" AS c3, r4."code" AS c4, r4."zone" AS c5 FROM (((SELECT r3."dp_unit", r3."rn", r3."t" FROM (SELECT r3_rows."uid" AS "uid", r3_rows."t" AS "t", r3_rows."rn" AS "rn", r3_rows."dp_unit" AS "dp_unit" FROM (SELECT r2."c1" AS "uid", r2."c2" AS "t", r2."w1" AS "rn", r2."dp_unit" AS "dp_unit" FROM (SELECT r1."uid" AS "c1", r1."t" AS "c2", r1."ts" AS "c3", r1."uid" AS "dp_unit", pg_catalog.row_number() OVER (PARTITION BY r1."uid" ORDER BY r1."ts" ASC NULLS LAST, r1."t", r1."ts") AS "w1" FROM "w"."orders" AS r1) AS r2) AS r3_rows WHERE (r3_rows."rn" = %(p1)s::bigint)) AS r3 WHERE r3."dp_unit" IS NOT NULL AND (r3."rn" = %(p1)s::bigint)) AS r3 CROSS JOIN (SELECT TRUE AS here) AS m1) FULL JOIN "w"."places" AS r4 ON (CASE WHEN pg_catalog.octet_length(r3."t") <= %(p2)s::integer THEN r3."t" END = CASE WHEN pg_catalog.octet_length(r4."code") <= %(p2)s::integer THEN r4."code" END)) WHERE CASE WHEN m1.here THEN TRUE ELSE FALSE END LIMIT ALL) AS j2 CROSS JOIN LATERAL (SELECT j2.c1 AS "dp_unit", j2.c2 AS "rn", j2.c3 AS "t") AS r3 CROSS JOIN LATERAL (SELECT j2.c4 AS "code", j2.c5 AS "zone") AS r4) GROUP BY 1 LIMIT ALL) g WHERE (k1 = ANY(%(p3)s::text[]) OR k1 IS NULL)
--   p1 = 1
--   p2 = 4096
--   p3 = ['north', 'south']
-- => loss
-- epsilon 8 delta 0
-- => residual
SELECT dp_b1.k1 AS "zone", dp_b1.a1 AS "count" FROM pg_catalog.jsonb_to_recordset(($1)::pg_catalog.jsonb->'b1') AS dp_b1(k1 pg_catalog.text, a1 bigint)

-- case: NaN and infinity compared with columns
-- parameters: double precision "NaN", numeric "Infinity", date "infinity"
SELECT count(*) FROM people WHERE (f8 < $1 OR f4 = $1) AND n >= -5 AND n < $2 AND i4 IN ($2, 7) AND d < $3
-- => plan
-- w.people, unit 1 row(s), partitions by hash of r1."id"; keys none; cells 0
--   count(*): sensitivity 1, scale 1/8, epsilon 8 delta 0
-- => backend
SELECT pg_catalog.count(*) FROM "w"."people" AS r1 WHERE ((r1."f8" < %(p1)s::double precision) OR (r1."f4" = %(p1)s::double precision)) AND ((r1."n")::numeric >= (- %(p2)s::numeric)) AND (r1."n" < %(p3)s::numeric) AND ((r1."i4")::numeric IN (%(p3)s::numeric, %(p4)s::numeric)) AND (r1."d" < %(p5)s::date)
--   p1 = NaN
--   p2 = 5
--   p3 = Infinity
--   p4 = 7
--   p5 = infinity
-- => loss
-- epsilon 8 delta 0
-- => residual
SELECT dp_b1.a1 AS "count" FROM pg_catalog.jsonb_to_recordset(($4)::pg_catalog.jsonb->'b1') AS dp_b1(a1 bigint)

-- case: infinite dates beside a key
SELECT date_trunc('year', ts) AS k, count(*) FROM people WHERE ts < 'infinity' AND d > '-infinity' GROUP BY 1
-- => plan
-- w.people, unit 1 row(s), partitions by hash of r1."id"; keys expression of 21; cells 0
--   count(*): sensitivity 1, scale 1/8, epsilon 8 delta 0
-- => backend
SELECT * FROM (SELECT (pg_catalog.date_trunc('year', pg_catalog.timestamp_larger(pg_catalog.timestamp_smaller(r1."ts", %(p2)s::timestamp without time zone), %(p1)s::timestamp without time zone)))::text AS k1, pg_catalog.count(*) FROM "w"."people" AS r1 WHERE (r1."ts" < %(p3)s::timestamp without time zone) AND (r1."d" > %(p4)s::date) GROUP BY 1 LIMIT ALL) g WHERE (k1 = ANY(%(p5)s::text[]))
--   p1 = 2000-01-01 00:00:00.000000
--   p2 = 2020-01-01 00:00:00.000000
--   p3 = infinity
--   p4 = -infinity
--   p5 = ['2000-01-01 00:00:00', '2001-01-01 00:00:00', '2002-01-01 00:00:00', '2003-01-01 00:00:00', '2004-01-01 00:00:00', '2005-01-01 00:00:00', '2006-01-01 00:00:00', '2007-01-01 00:00:00', '2008-01-01 00:00:00', '2009-01-01 00:00:00', '2010-01-01 00:00:00', '2011-01-01 00:00:00', '2012-01-01 00:00:00', '2013-01-01 00:00:00', '2014-01-01 00:00:00', '2015-01-01 00:00:00', '2016-01-01 00:00:00', '2017-01-01 00:00:00', '2018-01-01 00:00:00', '2019-01-01 00:00:00', '2020-01-01 00:00:00']
-- => loss
-- epsilon 8 delta 0
-- => residual
SELECT dp_b1.k1 AS k, dp_b1.a1 AS "count" FROM pg_catalog.jsonb_to_recordset(($1)::pg_catalog.jsonb->'b1') AS dp_b1(k1 timestamp without time zone, a1 bigint)
