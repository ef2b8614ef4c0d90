-- case: values of a public table
SELECT count(*), avg(i4) FROM people WHERE t IN (SELECT code FROM places WHERE zone = 'south')
-- => plan
-- w.people, unit 1 row(s), partitions by hash of r2."id"; keys none; cells 91
--   count(*): sensitivity 1, scale 1/4, epsilon 4 delta 0
--   avg: 0 .. 10000 steps of 0.01, fill 5000, 91 partitions, gate 743 units, scale 5, epsilon 4 delta 1/2000, each epsilon 19/5 delta 0.0005
-- => backend
SELECT x2, pg_catalog.count(*), pg_catalog.count(x1), pg_catalog.sum((pg_catalog.int4larger(pg_catalog.int4smaller(x1, %(p2)s::integer), %(p1)s::integer))::integer) FROM (SELECT r2."i4" AS x1, pg_catalog.mod(((pg_catalog.hashint4extended(r2."id"::integer, %(p5)s::bigint)) & %(p6)s::bigint)::integer, %(p7)s::integer) AS x2 FROM "w"."people" AS r2 WHERE ((CASE WHEN pg_catalog.octet_length(r2."t") <= %(p3)s::integer THEN r2."t" ELSE pg_catalog.left(r2."t"::text, %(p3)s::integer) END) = ANY(%(l1)s::text[])) LIMIT ALL) r GROUP BY 1
--   p1 = 0
--   p2 = 100
--   p3 = 1048576
--   p5 = random
--   p6 = 2147483647
--   p7 = 91
--   l1 = SELECT n, o::bigint, CASE WHEN n <= 50000 AND o <= 1048576 THEN coalesce(a::text, '{}') END FROM (SELECT pg_catalog.count(*) AS n, coalesce(pg_catalog.sum(pg_catalog.octet_length(v::text)), 0) AS o, pg_catalog.array_agg(v) AS a FROM (SELECT DISTINCT (r1."code")::text AS v FROM "w"."places" AS r1 WHERE (r1."zone" = %(p1)s::text) LIMIT 50001) AS f) AS g
--     p1 = south
-- => loss
-- epsilon 8 delta 1/2000
-- => residual
SELECT dp_b1.a1 AS "count", dp_b1.a2 AS "avg" FROM pg_catalog.jsonb_to_recordset(($1)::pg_catalog.jsonb->'b1') AS dp_b1(a1 bigint, a2 numeric)

-- case: values of a public table, none of them
-- parameters: integer 7
SELECT t, sum(i4) FROM orders WHERE i8 NOT IN (SELECT k FROM rates WHERE k > $1) AND b GROUP BY t
-- => plan
-- w.orders, unit r1."uid": rows 6, groups 2, per group 2; keys t of 4; cells 0
--   sum: clamp 0 .. 100, grid 1, sensitivity 400 steps, scale 50, epsilon 8 delta 0
-- => backend
SELECT k1, pg_catalog.sum(CASE WHEN v0 IS NOT NULL THEN least(greatest(v0, least(v1, %(p4)s::bigint) * %(p5)s::bigint), least(v1, %(p4)s::bigint) * %(p6)s::bigint) END) FROM (SELECT * FROM (SELECT *, pg_catalog.row_number() OVER (PARTITION BY unit ORDER BY pg_catalog.hashint8extended(pg_catalog.hash_record_extended(ROW(g."unit", k1), %(p9)s::bigint), %(p9)s::bigint), k1) AS rank FROM (SELECT r1."uid" AS unit, (r1."t")::text AS k1, pg_catalog.sum((pg_catalog.int4larger(pg_catalog.int4smaller(r1."i4", %(p2)s::integer), %(p1)s::integer))::integer) AS v0, pg_catalog.count(r1."i4") AS v1 FROM "w"."orders" AS r1 WHERE r1."uid" IS NOT NULL AND (r1."t" = ANY(%(p7)s::text[]::text[]) OR r1."t" IS NULL) AND (NOT (r1."i8" = ANY(%(l1)s::bigint[]))) AND r1."b" GROUP BY r1."uid", 2) g) c WHERE rank <= %(p4)s::bigint) u GROUP BY 1
--   p1 = 0
--   p2 = 100
--   p3 = 6
--   p4 = 2
--   p5 = 0
--   p6 = 100
--   p7 = ['x', 'y', 'z']
--   p9 = random
--   l1 = SELECT n, o::bigint, CASE WHEN n <= 50000 AND o <= 1048576 THEN coalesce(a::text, '{}') END FROM (SELECT pg_catalog.count(*) AS n, coalesce(pg_catalog.sum(pg_catalog.octet_length(v::text)), 0) AS o, pg_catalog.array_agg(v) AS a FROM (SELECT DISTINCT (r2."k")::bigint AS v FROM "w"."rates" AS r2 WHERE (r2."k" > %(p1)s::bigint) LIMIT 50001) AS f) AS g
--     p1 = 7
-- => loss
-- epsilon 8 delta 0
-- => residual
SELECT dp_b1.k1 AS "t", dp_b1.a1 AS "sum" FROM pg_catalog.jsonb_to_recordset(($2)::pg_catalog.jsonb->'b1') AS dp_b1(k1 pg_catalog.text, a1 bigint)

-- case: floats among the numbers of a public table
SELECT count(*) FROM visits WHERE f8 IN (SELECT k FROM rates) OR n IN (SELECT k FROM rates r WHERE r.k < 50)
-- => plan
-- w.visits, unit r3."uid": rows 5, groups None, per group None; keys none; cells 0
--   count(*): sensitivity 5, scale 5/8, epsilon 8 delta 0
-- => backend
SELECT pg_catalog.sum(least(v0, %(p1)s::bigint)) FROM (SELECT r3."uid" AS unit, pg_catalog.count(*) AS v0 FROM "w"."visits" AS r3 WHERE r3."uid" IS NOT NULL AND (((r3."f8")::numeric = ANY(%(l1)s::numeric[])) OR ((r3."n")::numeric = ANY(%(l2)s::numeric[]))) GROUP BY r3."uid") u
--   p1 = 5
--   l1 = SELECT n, o::bigint, CASE WHEN n <= 50000 AND o <= 1048576 THEN coalesce(a::text, '{}') END FROM (SELECT pg_catalog.count(*) AS n, coalesce(pg_catalog.sum(pg_catalog.octet_length(v::text)), 0) AS o, pg_catalog.array_agg(v) AS a FROM (SELECT DISTINCT ((r1."k")::numeric)::numeric AS v FROM "w"."rates" AS r1 LIMIT 50001) AS f) AS g
--   l2 = SELECT n, o::bigint, CASE WHEN n <= 50000 AND o <= 1048576 THEN coalesce(a::text, '{}') END FROM (SELECT pg_catalog.count(*) AS n, coalesce(pg_catalog.sum(pg_catalog.octet_length(v::text)), 0) AS o, pg_catalog.array_agg(v) AS a FROM (SELECT DISTINCT ((r2."k")::numeric)::numeric AS v FROM "w"."rates" AS r2 WHERE (r2."k" < %(p1)s::bigint) LIMIT 50001) AS f) AS g
--     p1 = 50
-- => loss
-- epsilon 8 delta 0
-- => residual
SELECT dp_b1.a1 AS "count" FROM pg_catalog.jsonb_to_recordset(($1)::pg_catalog.jsonb->'b1') AS dp_b1(a1 bigint)

-- case: values of a public table below a relation per unit
SELECT avg(n) FROM (SELECT uid, count(*) AS n FROM orders WHERE t IN (SELECT code FROM places) GROUP BY uid) q
-- => plan
-- w.orders, unit 1 row(s), partitions by hash of r4."dp_unit", r4."dp_unit" not null; keys none; cells 55
--   avg: 0 .. 60000 steps of 0.0001, fill 30000, 55 partitions, gate 447 units, scale 5/2, epsilon 8 delta 1/1000, each epsilon 38/5 delta 0.001
-- => backend
SELECT x2, pg_catalog.count(x1), pg_catalog.sum((pg_catalog.int8larger(pg_catalog.int8smaller(x1, %(p2)s::bigint), %(p1)s::bigint))::integer) FROM (SELECT r4."n" AS x1, pg_catalog.mod(((pg_catalog.hashint4extended(r4."dp_unit"::integer, %(p5)s::bigint)) & %(p6)s::bigint)::integer, %(p7)s::integer) AS x2 FROM (SELECT r3."unit" AS "uid", r3."a1" AS "n", r3."unit" AS "dp_unit" FROM (SELECT r2."uid" AS unit, least(pg_catalog.count(*), %(p2)s::bigint) AS a1 FROM "w"."orders" AS r2 WHERE r2."uid" IS NOT NULL AND ((CASE WHEN pg_catalog.octet_length(r2."t") <= %(p3)s::integer THEN r2."t" ELSE pg_catalog.left(r2."t"::text, %(p3)s::integer) END) = ANY(%(l1)s::text[])) GROUP BY r2."uid") AS r3) AS r4 WHERE r4."dp_unit" IS NOT NULL LIMIT ALL) r GROUP BY 1
--   p1 = 0
--   p2 = 6
--   p3 = 1048576
--   p5 = random
--   p6 = 2147483647
--   p7 = 55
--   l1 = SELECT n, o::bigint, CASE WHEN n <= 50000 AND o <= 1048576 THEN coalesce(a::text, '{}') END FROM (SELECT pg_catalog.count(*) AS n, coalesce(pg_catalog.sum(pg_catalog.octet_length(v::text)), 0) AS o, pg_catalog.array_agg(v) AS a FROM (SELECT DISTINCT (r1."code")::text AS v FROM "w"."places" AS r1 LIMIT 50001) AS f) AS g
-- => loss
-- epsilon 8 delta 1/1000
-- => residual
SELECT dp_b1.a1 AS "avg" FROM pg_catalog.jsonb_to_recordset(($1)::pg_catalog.jsonb->'b1') AS dp_b1(a1 numeric)

-- case: values of a public table in ON
SELECT count(*) FROM people p JOIN places q ON p.t = q.code AND q.zone IN (SELECT t FROM regions)
-- => plan
-- w.people, w.places, unit 1 row(s), partitions by hash of r2."id"; keys none; cells 0
--   count(*): sensitivity 1, scale 1/8, epsilon 8 delta 0
-- => backend
SELECT pg_catalog.count(*) FROM ((SELECT r2."id" AS c1, r2."t" AS c2, r3."code" AS c3, r3."zone" AS c4 FROM ("w"."people" AS r2 FULL JOIN (SELECT r3."code", r3."zone" FROM "w"."places" AS r3 WHERE (r3."zone" = ANY(%(l1)s::text[]))) AS r3 ON (CASE WHEN pg_catalog.octet_length(r2."t") <= %(p2)s::integer THEN r2."t" END = CASE WHEN pg_catalog.octet_length(r3."code") <= %(p2)s::integer THEN r3."code" END)) WHERE CASE WHEN r2."t" IS NOT NULL AND r3."code" IS NOT NULL THEN TRUE ELSE FALSE END LIMIT ALL) AS j1 CROSS JOIN LATERAL (SELECT j1.c1 AS "id", j1.c2 AS "t") AS r2 CROSS JOIN LATERAL (SELECT j1.c3 AS "code", j1.c4 AS "zone") AS r3)
--   p2 = 4096
--   l1 = SELECT n, o::bigint, CASE WHEN n <= 50000 AND o <= 1048576 THEN coalesce(a::text, '{}') END FROM (SELECT pg_catalog.count(*) AS n, coalesce(pg_catalog.sum(pg_catalog.octet_length(v::text)), 0) AS o, pg_catalog.array_agg(v) AS a FROM (SELECT DISTINCT (r1."t")::text AS v FROM "w"."regions" AS r1 LIMIT 50001) AS f) AS g
-- => loss
-- epsilon 8 delta 0
-- => residual
SELECT dp_b1.a1 AS "count" FROM pg_catalog.jsonb_to_recordset(($1)::pg_catalog.jsonb->'b1') AS dp_b1(a1 bigint)

-- case: all columns of a public table of one column
SELECT count(*) FROM trips WHERE t IN (SELECT * FROM regions)
-- => plan
-- w.trips, unit 3 row(s), partitions by hash of r2."id", r2."leg"; keys none; cells 0
--   count(*): sensitivity 3, scale 3/8, epsilon 8 delta 0
-- => backend
SELECT pg_catalog.count(*) FROM "w"."trips" AS r2 WHERE ((CASE WHEN pg_catalog.octet_length(r2."t") <= %(p1)s::integer THEN r2."t" ELSE pg_catalog.left(r2."t"::text, %(p1)s::integer) END) = ANY(%(l1)s::text[]))
--   p1 = 1048576
--   l1 = SELECT n, o::bigint, CASE WHEN n <= 50000 AND o <= 1048576 THEN coalesce(a::text, '{}') END FROM (SELECT pg_catalog.count(*) AS n, coalesce(pg_catalog.sum(pg_catalog.octet_length(v::text)), 0) AS o, pg_catalog.array_agg(v) AS a FROM (SELECT DISTINCT (r1."t")::text AS v FROM "w"."regions" AS r1 LIMIT 50001) AS f) AS g
-- => loss
-- epsilon 8 delta 0
-- => residual
SELECT dp_b1.a1 AS "count" FROM pg_catalog.jsonb_to_recordset(($1)::pg_catalog.jsonb->'b1') AS dp_b1(a1 bigint)

-- case: values of a public table in a CTE
WITH w AS (SELECT t, i4 FROM people WHERE t IN (SELECT code FROM places WHERE zone = 'south')) SELECT t, count(*) FROM w GROUP BY t
-- => plan
-- w.people, unit 1 row(s), partitions by hash of r3."dp_key1"; keys t of 4; cells 0
--   count(*): sensitivity 1, scale 1/8, epsilon 8 delta 0
-- => backend
SELECT * FROM (SELECT (CASE WHEN pg_catalog.octet_length((r3."t")::text) <= 1024 THEN (r3."t")::text ELSE pg_catalog.left((r3."t")::text, 1024) END)::text AS k1, pg_catalog.count(*) FROM (SELECT r2."t" AS "t", r2."i4" AS "i4", r2."id" AS "dp_key1" FROM "w"."people" AS r2 WHERE ((CASE WHEN pg_catalog.octet_length(r2."t") <= %(p1)s::integer THEN r2."t" ELSE pg_catalog.left(r2."t"::text, %(p1)s::integer) END) = ANY(%(l1)s::text[]))) AS r3 GROUP BY 1 LIMIT ALL) g WHERE (k1 = ANY(%(p3)s::text[]) OR k1 IS NULL)
--   p1 = 1048576
--   p3 = ['x', 'y', 'z']
--   l1 = SELECT n, o::bigint, CASE WHEN n <= 50000 AND o <= 1048576 THEN coalesce(a::text, '{}') END FROM (SELECT pg_catalog.count(*) AS n, coalesce(pg_catalog.sum(pg_catalog.octet_length(v::text)), 0) AS o, pg_catalog.array_agg(v) AS a FROM (SELECT DISTINCT (r1."code")::text AS v FROM "w"."places" AS r1 WHERE (r1."zone" = %(p1)s::text) LIMIT 50001) AS f) AS g
--     p1 = south
-- => loss
-- epsilon 8 delta 0
-- => residual
WITH w AS (SELECT t, i4 FROM people WHERE t IN (SELECT code FROM places WHERE zone = 'south')) SELECT dp_b1.k1 AS "t", dp_b1.a1 AS "count" FROM pg_catalog.jsonb_to_recordset(($1)::pg_catalog.jsonb->'b1') AS dp_b1(k1 pg_catalog.text, a1 bigint)

-- case: values of a public table below groups
SELECT k, count(*) FROM (SELECT c IN (SELECT code FROM places) AS k FROM people WHERE t IN (SELECT code FROM places)) q GROUP BY k
-- => plan
-- w.people, unit 1 row(s), partitions by hash of r4."dp_key1"; keys k of 2; cells 0
--   count(*): sensitivity 1, scale 1/8, epsilon 8 delta 0
-- => backend
SELECT * FROM (SELECT (r4."k")::text AS k1, pg_catalog.count(*) FROM (SELECT (r3."c" = ANY(%(l1)s::text[])) AS "k", r3."id" AS "dp_key1" FROM "w"."people" AS r3 WHERE ((CASE WHEN pg_catalog.octet_length(r3."t") <= %(p2)s::integer THEN r3."t" ELSE pg_catalog.left(r3."t"::text, %(p2)s::integer) END) = ANY(%(l2)s::text[]))) AS r4 GROUP BY 1 LIMIT ALL) g WHERE (k1 = ANY(%(p4)s::text[]))
--   p2 = 1048576
--   p4 = ['true', 'false']
--   l1 = SELECT n, o::bigint, CASE WHEN n <= 50000 AND o <= 1048576 THEN coalesce(a::text, '{}') END FROM (SELECT pg_catalog.count(*) AS n, coalesce(pg_catalog.sum(pg_catalog.octet_length(v::text)), 0) AS o, pg_catalog.array_agg(v) AS a FROM (SELECT DISTINCT (r1."code")::text AS v FROM "w"."places" AS r1 LIMIT 50001) AS f) AS g
--   l2 = SELECT n, o::bigint, CASE WHEN n <= 50000 AND o <= 1048576 THEN coalesce(a::text, '{}') END FROM (SELECT pg_catalog.count(*) AS n, coalesce(pg_catalog.sum(pg_catalog.octet_length(v::text)), 0) AS o, pg_catalog.array_agg(v) AS a FROM (SELECT DISTINCT (r2."code")::text AS v FROM "w"."places" AS r2 LIMIT 50001) AS f) AS g
-- => loss
-- epsilon 8 delta 0
-- => residual
SELECT dp_b1.k1 AS "k", dp_b1.a1 AS "count" FROM pg_catalog.jsonb_to_recordset(($1)::pg_catalog.jsonb->'b1') AS dp_b1(k1 boolean, a1 bigint)

-- case: values of a public table in FILTER
SELECT count(*) FILTER (WHERE t IN (SELECT code FROM places)), count(*) FILTER (WHERE i4 > (SELECT avg(i4) FROM calls)) FROM people
-- => plan
-- w.calls, unit r2."uid": rows 2, groups None, per group None; keys none; cells 137
--   avg: 0 .. 10000 steps of 0.01, fill 5000, 137 partitions, gate 1118 units, scale 15/2, epsilon 8/3 delta 1/3000, each epsilon 38/15 delta 0.0003333
-- w.people, unit 1 row(s), partitions by hash of r3."id"; keys none; cells 0
--   count(*): sensitivity 1, scale 3/8, epsilon 8/3 delta 0
--   count(*): sensitivity 1, scale 3/8, epsilon 8/3 delta 0
-- => backend
SELECT cell, pg_catalog.sum(v0), pg_catalog.sum(v1), pg_catalog.count(v1) FROM (SELECT r2."uid" AS unit, pg_catalog.mod(((pg_catalog.hashint4extended(r2."uid"::integer, %(p3)s::bigint)) & %(p4)s::bigint)::integer, %(p5)s::integer) AS cell, pg_catalog.count(r2."i4") AS v0, pg_catalog.sum((pg_catalog.int4larger(pg_catalog.int4smaller(r2."i4", %(p2)s::integer), %(p1)s::integer))::integer) AS v1 FROM "w"."calls" AS r2 WHERE r2."uid" IS NOT NULL GROUP BY r2."uid") u GROUP BY 1
--   p1 = 0
--   p2 = 100
--   p3 = random
--   p4 = 2147483647
--   p5 = 137
SELECT pg_catalog.count(*) FILTER (WHERE ((CASE WHEN pg_catalog.octet_length(r3."t") <= %(p1)s::integer THEN r3."t" ELSE pg_catalog.left(r3."t"::text, %(p1)s::integer) END) = ANY(%(l1)s::text[]))), pg_catalog.count(*) FILTER (WHERE ((r3."i4")::numeric > %(s1)s::numeric)) FROM "w"."people" AS r3
--   p1 = 1048576
--   s1 = None
--   l1 = SELECT n, o::bigint, CASE WHEN n <= 50000 AND o <= 1048576 THEN coalesce(a::text, '{}') END FROM (SELECT pg_catalog.count(*) AS n, coalesce(pg_catalog.sum(pg_catalog.octet_length(v::text)), 0) AS o, pg_catalog.array_agg(v) AS a FROM (SELECT DISTINCT (r1."code")::text AS v FROM "w"."places" AS r1 LIMIT 50001) AS f) AS g
-- => loss
-- epsilon 8 delta 1/3000
-- => residual
SELECT dp_b2.a1 AS "count", dp_b2.a2 AS "count" FROM pg_catalog.jsonb_to_recordset(($1)::pg_catalog.jsonb->'b2') AS dp_b2(a1 bigint, a2 bigint)

-- case: values of a public table around an answer
SELECT * FROM (SELECT count(*) > 3 AND 'x' IN (SELECT code FROM places) AS k FROM people HAVING 'y' IN (SELECT code FROM places)) q
-- => plan
-- w.people, unit 1 row(s), partitions by hash of r3."id"; keys none; cells 0
--   count(*): sensitivity 1, scale 1/8, epsilon 8 delta 0
-- => backend
SELECT pg_catalog.count(*) FROM "w"."people" AS r3
-- => loss
-- epsilon 8 delta 0
-- => residual
SELECT * FROM (SELECT dp_b1.a1 > 3 AND 'x' IN (SELECT code FROM places) AS k FROM pg_catalog.jsonb_to_recordset(($1)::pg_catalog.jsonb->'b1') AS dp_b1(a1 bigint) WHERE 'y' IN (SELECT code FROM places)) q
