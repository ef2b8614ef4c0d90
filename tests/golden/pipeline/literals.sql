-- case: an E string
SELECT count(*) FROM w.orders WHERE s = E'a\' or 1=1 --'
-- => plan
-- w.orders, unit r1."uid": rows 6, groups None, per group None; keys none; cells 0
--   count(*): sensitivity 6, scale 3/4, epsilon 8 delta 0
-- => backend
SELECT pg_catalog.sum(least(v0, %(p1)s::bigint)) FROM (SELECT r1."uid" AS unit, pg_catalog.count(*) AS v0 FROM "w"."orders" AS r1 WHERE r1."uid" IS NOT NULL AND (r1."s" = %(p2)s::character varying) GROUP BY r1."uid") u
--   p1 = 6
--   p2 = a' or 1=1 --
-- => loss
-- epsilon 8 delta 0
-- => residual
SELECT dp_b1.a1 AS "count" FROM pg_catalog.jsonb_to_recordset(($1)::pg_catalog.jsonb->'b1') AS dp_b1(a1 bigint)

-- case: a string that goes on
SELECT count(*) FROM w.orders WHERE s = 'a' -- c
'b' AND t IN ('x'
   'y', 'z')
-- => plan
-- w.orders, unit r1."uid": rows 6, groups None, per group None; keys none; cells 0
--   count(*): sensitivity 6, scale 3/4, epsilon 8 delta 0
-- => backend
SELECT pg_catalog.sum(least(v0, %(p1)s::bigint)) FROM (SELECT r1."uid" AS unit, pg_catalog.count(*) AS v0 FROM "w"."orders" AS r1 WHERE r1."uid" IS NOT NULL AND (r1."s" = %(p2)s::character varying) AND (r1."t" IN (%(p3)s::text, %(p4)s::text)) GROUP BY r1."uid") u
--   p1 = 6
--   p2 = ab
--   p3 = xy
--   p4 = z
-- => loss
-- epsilon 8 delta 0
-- => residual
SELECT dp_b1.a1 AS "count" FROM pg_catalog.jsonb_to_recordset(($1)::pg_catalog.jsonb->'b1') AS dp_b1(a1 bigint)

-- case: a lateral question
SELECT x.n FROM w.regions r, LATERAL (SELECT count(*) AS n FROM w.orders) x
-- => plan
-- w.orders, unit r1."uid": rows 6, groups None, per group None; keys none; cells 0
--   count(*): sensitivity 6, scale 3/4, epsilon 8 delta 0
-- => backend
SELECT pg_catalog.sum(least(v0, %(p1)s::bigint)) FROM (SELECT r1."uid" AS unit, pg_catalog.count(*) AS v0 FROM "w"."orders" AS r1 WHERE r1."uid" IS NOT NULL GROUP BY r1."uid") u
--   p1 = 6
-- => loss
-- epsilon 8 delta 0
-- => residual
SELECT x.n FROM w.regions r, LATERAL (SELECT dp_b1.a1 AS n FROM pg_catalog.jsonb_to_recordset(($1)::pg_catalog.jsonb->'b1') AS dp_b1(a1 bigint)) x

-- case: arithmetic in a type that holds it
SELECT count(*) FROM w.orders WHERE i4::numeric * 100000000 > 0
-- => plan
-- w.orders, unit r1."uid": rows 6, groups None, per group None; keys none; cells 0
--   count(*): sensitivity 6, scale 3/4, epsilon 8 delta 0
-- => backend
SELECT pg_catalog.sum(least(v0, %(p1)s::bigint)) FROM (SELECT r1."uid" AS unit, pg_catalog.count(*) AS v0 FROM "w"."orders" AS r1 WHERE r1."uid" IS NOT NULL AND (((pg_catalog.int4larger(pg_catalog.int4smaller(r1."i4", %(p3)s::integer), %(p2)s::integer))::numeric * %(p4)s::numeric) > %(p5)s::numeric) GROUP BY r1."uid") u
--   p1 = 6
--   p2 = 0
--   p3 = 100
--   p4 = 100000000
--   p5 = 0
-- => loss
-- epsilon 8 delta 0
-- => residual
SELECT dp_b1.a1 AS "count" FROM pg_catalog.jsonb_to_recordset(($1)::pg_catalog.jsonb->'b1') AS dp_b1(a1 bigint)

-- case: a text parameter cast to a date
-- parameters: text "2026-01-31", text "7"
SELECT count(*) FROM w.orders WHERE d >= $1::date AND i4 IN ($2::int, 8)
-- => plan
-- w.orders, unit r1."uid": rows 6, groups None, per group None; keys none; cells 0
--   count(*): sensitivity 6, scale 3/4, epsilon 8 delta 0
-- => backend
SELECT pg_catalog.sum(least(v0, %(p1)s::bigint)) FROM (SELECT r1."uid" AS unit, pg_catalog.count(*) AS v0 FROM "w"."orders" AS r1 WHERE r1."uid" IS NOT NULL AND (r1."d" >= %(p2)s::date) AND (r1."i4" IN (%(p3)s::bigint, %(p4)s::bigint)) GROUP BY r1."uid") u
--   p1 = 6
--   p2 = 2026-01-31
--   p3 = 7
--   p4 = 8
-- => loss
-- epsilon 8 delta 0
-- => residual
SELECT dp_b1.a1 AS "count" FROM pg_catalog.jsonb_to_recordset(($3)::pg_catalog.jsonb->'b1') AS dp_b1(a1 bigint)

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
