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
