-- case: exists on the unit
SELECT count(*), avg(m.i4) FROM members m WHERE EXISTS (SELECT 1 FROM orders o WHERE o.uid = m.uid AND o.i4 > 50)
-- => plan
-- w.members, w.orders, unit 1 row(s), partitions by hash of r1."uid", r1."uid" not null; keys none; cells 91
--   count(*): sensitivity 1, scale 1/4, epsilon 4 delta 0
--   avg: 0 .. 10000 steps of 0.01, fill 5000, 91 partitions, gate 743 units, scale 5, epsilon 4 delta 1/2000, each epsilon 19/5 delta 0.0005
-- => backend
SELECT x2, pg_catalog.count(*), pg_catalog.count(x1), pg_catalog.sum((pg_catalog.int4larger(pg_catalog.int4smaller(x1, %(p2)s::integer), %(p1)s::integer))::integer) FROM (SELECT r1."i4" AS x1, pg_catalog.mod(((pg_catalog.hashint4extended(r1."uid"::integer, %(p4)s::bigint)) & %(p5)s::bigint)::integer, %(p6)s::integer) AS x2 FROM ((SELECT r1."i4" AS c1, r1."uid" AS c2, r4."dp_unit" AS c3, r4."k1" AS c4, r4."unit" AS c5 FROM (((SELECT r1."i4", r1."uid" FROM "w"."members" AS r1 WHERE r1."uid" IS NOT NULL) AS r1 CROSS JOIN (SELECT TRUE AS here) AS m1) FULL JOIN (SELECT r3."unit" AS "unit", r3."k1" AS "k1", r3."unit" AS "dp_unit" FROM (SELECT r2."uid" AS unit, r2."uid" AS k1 FROM "w"."orders" AS r2 WHERE r2."uid" IS NOT NULL AND (r2."i4" > %(p3)s::bigint) GROUP BY r2."uid") AS r3) AS r4 ON (r1."uid" = r4."dp_unit") AND (r1."uid" = r4."k1")) WHERE CASE WHEN m1.here THEN (NOT (r4."unit" IS NULL)) ELSE FALSE END LIMIT ALL) AS j2 CROSS JOIN LATERAL (SELECT j2.c1 AS "i4", j2.c2 AS "uid") AS r1 CROSS JOIN LATERAL (SELECT j2.c3 AS "dp_unit", j2.c4 AS "k1", j2.c5 AS "unit") AS r4) LIMIT ALL) r GROUP BY 1
--   p1 = 0
--   p2 = 100
--   p3 = 50
--   p4 = random
--   p5 = 2147483647
--   p6 = 91
-- => loss
-- epsilon 8 delta 1/2000
-- => residual
SELECT dp_b1.a1 AS "count", dp_b1.a2 AS "avg" FROM pg_catalog.jsonb_to_recordset(($1)::pg_catalog.jsonb->'b1') AS dp_b1(a1 bigint, a2 numeric)

-- case: not exists, as Django writes it
SELECT count(*) FROM orders u0 WHERE NOT EXISTS(SELECT 1 AS "a" FROM calls v0 WHERE (v0.b AND v0.uid = (u0.uid)) LIMIT 1)
-- => plan
-- w.orders, w.calls, unit r1."uid": rows 6, groups None, per group None; keys none; cells 0
--   count(*): sensitivity 6, scale 3/4, epsilon 8 delta 0
-- => backend
SELECT pg_catalog.sum(least(v0, %(p1)s::bigint)) FROM (SELECT r1."uid" AS unit, pg_catalog.count(*) AS v0 FROM ((SELECT r1."uid" AS c1, r4."dp_unit" AS c2, r4."k1" AS c3, r4."unit" AS c4 FROM (((SELECT r1."uid" FROM "w"."orders" AS r1 WHERE r1."uid" IS NOT NULL) AS r1 CROSS JOIN (SELECT TRUE AS here) AS m1) FULL JOIN (SELECT r3."unit" AS "unit", r3."k1" AS "k1", r3."unit" AS "dp_unit" FROM (SELECT r2."uid" AS unit, r2."uid" AS k1 FROM "w"."calls" AS r2 WHERE r2."uid" IS NOT NULL AND r2."b" GROUP BY r2."uid") AS r3) AS r4 ON (r1."uid" = r4."dp_unit") AND (r1."uid" = r4."k1")) WHERE CASE WHEN m1.here THEN (NOT (NOT (r4."unit" IS NULL))) ELSE FALSE END LIMIT ALL) AS j2 CROSS JOIN LATERAL (SELECT j2.c1 AS "uid") AS r1 CROSS JOIN LATERAL (SELECT j2.c2 AS "dp_unit", j2.c3 AS "k1", j2.c4 AS "unit") AS r4) GROUP BY r1."uid") u
--   p1 = 6
-- => loss
-- epsilon 8 delta 0
-- => residual
SELECT dp_b1.a1 AS "count" FROM pg_catalog.jsonb_to_recordset(($1)::pg_catalog.jsonb->'b1') AS dp_b1(a1 bigint)

-- case: the unit in a list of units
SELECT t, count(*) FROM members WHERE uid IN (SELECT uid FROM orders WHERE i4 > 50) GROUP BY t
-- => plan
-- w.members, w.orders, unit 1 row(s), partitions by hash of r1."uid", r1."uid" not null; keys t of 4; cells 0
--   count(*): sensitivity 1, scale 1/8, epsilon 8 delta 0
-- => backend
SELECT * FROM (SELECT (CASE WHEN pg_catalog.octet_length((r1."t")::text) <= 1024 THEN (r1."t")::text ELSE pg_catalog.left((r1."t")::text, 1024) END)::text AS k1, pg_catalog.count(*) FROM ((SELECT r1."t" AS c1, r1."uid" AS c2, r4."dp_unit" AS c3, r4."k1" AS c4, r4."unit" AS c5 FROM (((SELECT r1."t", r1."uid" FROM "w"."members" AS r1 WHERE r1."uid" IS NOT NULL) AS r1 CROSS JOIN (SELECT TRUE AS here) AS m1) FULL JOIN (SELECT r3."unit" AS "unit", r3."k1" AS "k1", r3."unit" AS "dp_unit" FROM (SELECT r2."uid" AS unit, r2."uid" AS k1 FROM "w"."orders" AS r2 WHERE r2."uid" IS NOT NULL AND (r2."i4" > %(p1)s::bigint) GROUP BY r2."uid") AS r3) AS r4 ON (r1."uid" = r4."dp_unit") AND (r1."uid" = r4."k1")) WHERE CASE WHEN m1.here THEN (NOT (r4."unit" IS NULL)) ELSE FALSE END LIMIT ALL) AS j2 CROSS JOIN LATERAL (SELECT j2.c1 AS "t", j2.c2 AS "uid") AS r1 CROSS JOIN LATERAL (SELECT j2.c3 AS "dp_unit", j2.c4 AS "k1", j2.c5 AS "unit") AS r4) GROUP BY 1 LIMIT ALL) g WHERE (k1 = ANY(%(p2)s::text[]) OR k1 IS NULL)
--   p1 = 50
--   p2 = ['x', 'y', 'z']
-- => loss
-- epsilon 8 delta 0
-- => residual
SELECT dp_b1.k1 AS "t", dp_b1.a1 AS "count" FROM pg_catalog.jsonb_to_recordset(($1)::pg_catalog.jsonb->'b1') AS dp_b1(k1 pg_catalog.text, a1 bigint)

-- case: the unit in none of a list of units by their number of rows
SELECT count(*) FROM members WHERE uid NOT IN (SELECT uid FROM orders GROUP BY uid HAVING count(*) > 3)
-- => plan
-- w.members, w.orders, unit 1 row(s), partitions by hash of r2."uid", r2."uid" not null; keys none; cells 0
--   count(*): sensitivity 1, scale 1/8, epsilon 8 delta 0
-- => backend
SELECT pg_catalog.count(*) FROM ((SELECT r2."uid" AS c1, r6."dp_unit" AS c2, r6."k1" AS c3, r6."unit" AS c4 FROM (((SELECT r2."uid" FROM "w"."members" AS r2 WHERE r2."uid" IS NOT NULL) AS r2 CROSS JOIN (SELECT TRUE AS here) AS m1) FULL JOIN (SELECT r5."unit" AS "unit", r5."k1" AS "k1", r5."unit" AS "dp_unit" FROM (SELECT r4."dp_unit" AS unit, r4."uid" AS k1 FROM (SELECT r3."unit" AS "uid", r3."unit" AS "dp_unit" FROM (SELECT r1."uid" AS unit, least(pg_catalog.count(*), %(p2)s::bigint) AS a1 FROM "w"."orders" AS r1 WHERE r1."uid" IS NOT NULL GROUP BY r1."uid") AS r3 WHERE (r3."a1" > %(p1)s::bigint)) AS r4 WHERE r4."dp_unit" IS NOT NULL GROUP BY r4."dp_unit", 2, coalesce(pg_catalog.hash_numeric_extended((r4."uid")::numeric, %(p3)s::bigint), %(p3)s::bigint)) AS r5) AS r6 ON (r2."uid" = r6."dp_unit") AND (r2."uid" = r6."k1")) WHERE CASE WHEN m1.here THEN (NOT (NOT (r6."unit" IS NULL))) ELSE FALSE END LIMIT ALL) AS j2 CROSS JOIN LATERAL (SELECT j2.c1 AS "uid") AS r2 CROSS JOIN LATERAL (SELECT j2.c2 AS "dp_unit", j2.c3 AS "k1", j2.c4 AS "unit") AS r6)
--   p1 = 3
--   p2 = 6
--   p3 = random
-- => loss
-- epsilon 8 delta 0
-- => residual
SELECT dp_b1.a1 AS "count" FROM pg_catalog.jsonb_to_recordset(($1)::pg_catalog.jsonb->'b1') AS dp_b1(a1 bigint)

-- case: exists as a key and in a filter
SELECT EXISTS (SELECT FROM orders o WHERE o.uid = m.uid) AS has, count(*) FILTER (WHERE NOT EXISTS (SELECT FROM calls c WHERE c.uid = m.uid)) FROM members m GROUP BY 1
-- => plan
-- w.members, w.orders, w.calls, unit 1 row(s), partitions by hash of r1."uid", r1."uid" not null; keys expression of 2; cells 0
--   count(*): sensitivity 1, scale 1/8, epsilon 8 delta 0
-- => backend
SELECT * FROM (SELECT ((NOT (r4."unit" IS NULL)))::text AS k1, pg_catalog.count(*) FILTER (WHERE (NOT (NOT (r7."unit" IS NULL)))) FROM ((SELECT r1."uid" AS c1, r4."dp_unit" AS c2, r4."k1" AS c3, r4."unit" AS c4, r7."dp_unit" AS c5, r7."k1" AS c6, r7."unit" AS c7 FROM ((((SELECT r1."uid" AS c1, r4."dp_unit" AS c2, r4."k1" AS c3, r4."unit" AS c4 FROM (((SELECT r1."uid" FROM "w"."members" AS r1 WHERE r1."uid" IS NOT NULL) AS r1 CROSS JOIN (SELECT TRUE AS here) AS m1) FULL JOIN (SELECT r3."unit" AS "unit", r3."k1" AS "k1", r3."unit" AS "dp_unit" FROM (SELECT r2."uid" AS unit, r2."uid" AS k1 FROM "w"."orders" AS r2 WHERE r2."uid" IS NOT NULL GROUP BY r2."uid") AS r3) AS r4 ON (r1."uid" = r4."dp_unit") AND (r1."uid" = r4."k1")) WHERE CASE WHEN m1.here THEN TRUE ELSE FALSE END LIMIT ALL) AS j2 CROSS JOIN LATERAL (SELECT j2.c1 AS "uid") AS r1 CROSS JOIN LATERAL (SELECT j2.c2 AS "dp_unit", j2.c3 AS "k1", j2.c4 AS "unit") AS r4) CROSS JOIN (SELECT TRUE AS here) AS m3) FULL JOIN (SELECT r6."unit" AS "unit", r6."k1" AS "k1", r6."unit" AS "dp_unit" FROM (SELECT r5."uid" AS unit, r5."uid" AS k1 FROM "w"."calls" AS r5 WHERE r5."uid" IS NOT NULL GROUP BY r5."uid") AS r6) AS r7 ON (r1."uid" = r7."dp_unit") AND (r1."uid" = r7."k1")) WHERE CASE WHEN m3.here THEN TRUE ELSE FALSE END LIMIT ALL) AS j4 CROSS JOIN LATERAL (SELECT j4.c1 AS "uid") AS r1 CROSS JOIN LATERAL (SELECT j4.c2 AS "dp_unit", j4.c3 AS "k1", j4.c4 AS "unit") AS r4 CROSS JOIN LATERAL (SELECT j4.c5 AS "dp_unit", j4.c6 AS "k1", j4.c7 AS "unit") AS r7) GROUP BY 1 LIMIT ALL) g WHERE (k1 = ANY(%(p1)s::text[]))
--   p1 = ['true', 'false']
-- => loss
-- epsilon 8 delta 0
-- => residual
SELECT dp_b1.k1 AS has, dp_b1.a1 AS "count" FROM pg_catalog.jsonb_to_recordset(($1)::pg_catalog.jsonb->'b1') AS dp_b1(k1 boolean, a1 bigint)

-- case: the same subquery twice is one join
SELECT count(*) FILTER (WHERE EXISTS (SELECT 1 FROM calls c WHERE c.uid = o.uid)) AS n FROM orders o HAVING count(*) FILTER (WHERE EXISTS (SELECT 1 FROM calls c WHERE c.uid = o.uid)) > 5
-- => plan
-- w.orders, w.calls, unit r1."uid": rows 6, groups None, per group None; keys none; cells 0
--   count(*): sensitivity 6, scale 3/4, epsilon 8 delta 0
-- => backend
SELECT pg_catalog.sum(least(v0, %(p1)s::bigint)) FROM (SELECT r1."uid" AS unit, pg_catalog.count(*) FILTER (WHERE (NOT (r4."unit" IS NULL))) AS v0 FROM ((SELECT r1."uid" AS c1, r4."dp_unit" AS c2, r4."k1" AS c3, r4."unit" AS c4 FROM (((SELECT r1."uid" FROM "w"."orders" AS r1 WHERE r1."uid" IS NOT NULL) AS r1 CROSS JOIN (SELECT TRUE AS here) AS m1) FULL JOIN (SELECT r3."unit" AS "unit", r3."k1" AS "k1", r3."unit" AS "dp_unit" FROM (SELECT r2."uid" AS unit, r2."uid" AS k1 FROM "w"."calls" AS r2 WHERE r2."uid" IS NOT NULL GROUP BY r2."uid") AS r3) AS r4 ON (r1."uid" = r4."dp_unit") AND (r1."uid" = r4."k1")) WHERE CASE WHEN m1.here THEN TRUE ELSE FALSE END LIMIT ALL) AS j2 CROSS JOIN LATERAL (SELECT j2.c1 AS "uid") AS r1 CROSS JOIN LATERAL (SELECT j2.c2 AS "dp_unit", j2.c3 AS "k1", j2.c4 AS "unit") AS r4) GROUP BY r1."uid") u
--   p1 = 6
-- => loss
-- epsilon 8 delta 0
-- => residual
SELECT dp_b1.a1 AS n FROM pg_catalog.jsonb_to_recordset(($1)::pg_catalog.jsonb->'b1') AS dp_b1(a1 bigint) WHERE dp_b1.a1 > 5

-- case: how many rows of another table each unit has
SELECT (SELECT count(*) FROM calls c WHERE c.uid = m.uid) AS n, count(*) FROM members m GROUP BY 1
-- => plan
-- w.members, w.calls, unit 1 row(s), partitions by hash of r1."uid", r1."uid" not null; keys expression of 3; cells 0
--   count(*): sensitivity 1, scale 1/8, epsilon 8 delta 0
-- => backend
SELECT * FROM (SELECT (coalesce((r5."a1")::numeric, %(p1)s::numeric))::text AS k1, pg_catalog.count(*) FROM ((SELECT r1."uid" AS c1, r5."a1" AS c2, r5."dp_unit" AS c3, r5."k1" AS c4 FROM (((SELECT r1."uid" FROM "w"."members" AS r1 WHERE r1."uid" IS NOT NULL) AS r1 CROSS JOIN (SELECT TRUE AS here) AS m1) FULL JOIN (SELECT r4."unit" AS "unit", r4."k1" AS "k1", r4."a1" AS "a1", r4."unit" AS "dp_unit" FROM (SELECT r2."uid" AS unit, r2."uid" AS k1, least(pg_catalog.count(*), %(p2)s::bigint) AS a1 FROM "w"."calls" AS r2 WHERE r2."uid" IS NOT NULL GROUP BY r2."uid") AS r4) AS r5 ON (r1."uid" = r5."dp_unit") AND (r1."uid" = r5."k1")) WHERE CASE WHEN m1.here THEN TRUE ELSE FALSE END LIMIT ALL) AS j2 CROSS JOIN LATERAL (SELECT j2.c1 AS "uid") AS r1 CROSS JOIN LATERAL (SELECT j2.c2 AS "a1", j2.c3 AS "dp_unit", j2.c4 AS "k1") AS r5) GROUP BY 1 LIMIT ALL) g WHERE (k1 = ANY(%(p3)s::text[]))
--   p1 = 0
--   p2 = 2
--   p3 = ['1', '2', '0']
-- => loss
-- epsilon 8 delta 0
-- => residual
SELECT dp_b1.k1 AS n, dp_b1.a1 AS "count" FROM pg_catalog.jsonb_to_recordset(($1)::pg_catalog.jsonb->'b1') AS dp_b1(k1 bigint, a1 bigint)

-- case: aggregates of another table, for each row
SELECT avg((SELECT coalesce(sum(c.i4), 0) + count(*) FROM calls c WHERE c.uid = o.uid)) FROM orders o WHERE (SELECT max(d) FROM calls c WHERE c.uid = o.uid) > o.d
-- => plan
-- w.orders, w.calls, unit r1."uid": rows 6, groups None, per group None; keys none; cells 49
--   avg: 0 .. 20200 steps of 0.01, fill 10100, 49 partitions, gate 399 units, scale 5/2, epsilon 8 delta 1/1000, each epsilon 38/5 delta 0.001
-- => backend
SELECT cell, pg_catalog.sum(v0), pg_catalog.sum(v1), pg_catalog.count(v1) FROM (SELECT x2 AS unit, pg_catalog.mod(((pg_catalog.hashint4extended(x2::integer, %(p6)s::bigint)) & %(p7)s::bigint)::integer, %(p8)s::integer) AS cell, pg_catalog.count(x1) AS v0, pg_catalog.sum(x1) AS v1 FROM (SELECT pg_catalog.round(pg_catalog.numeric_larger(pg_catalog.numeric_smaller((coalesce((pg_catalog.numeric_larger(pg_catalog.numeric_smaller(r9."a1", %(p2)s::numeric), %(p1)s::numeric))::numeric, %(p1)s::numeric) + coalesce((pg_catalog.int8larger(pg_catalog.int8smaller(r9."a2", %(p4)s::bigint), %(p3)s::bigint))::numeric, %(p1)s::numeric)), %(p5)s::numeric), %(p1)s::numeric))::bigint AS x1, r1."uid" AS x2 FROM ((SELECT r1."d" AS c1, r1."uid" AS c2, r5."a1" AS c3, r5."dp_unit" AS c4, r5."k1" AS c5, r9."a1" AS c6, r9."a2" AS c7, r9."dp_unit" AS c8, r9."k1" AS c9 FROM ((((SELECT r1."d" AS c1, r1."uid" AS c2, r5."a1" AS c3, r5."dp_unit" AS c4, r5."k1" AS c5 FROM (((SELECT r1."d", r1."uid" FROM "w"."orders" AS r1 WHERE r1."uid" IS NOT NULL) AS r1 CROSS JOIN (SELECT TRUE AS here) AS m1) FULL JOIN (SELECT r4."unit" AS "unit", r4."k1" AS "k1", r4."a1" AS "a1", r4."unit" AS "dp_unit" FROM (SELECT r2."uid" AS unit, r2."uid" AS k1, pg_catalog.max(pg_catalog.date_larger(pg_catalog.date_smaller(r2."d", %(p10)s::date), %(p9)s::date)) AS a1 FROM "w"."calls" AS r2 WHERE r2."uid" IS NOT NULL GROUP BY r2."uid") AS r4) AS r5 ON (r1."uid" = r5."dp_unit") AND (r1."uid" = r5."k1")) WHERE CASE WHEN m1.here THEN (r5."a1" > r1."d") ELSE FALSE END LIMIT ALL) AS j2 CROSS JOIN LATERAL (SELECT j2.c1 AS "d", j2.c2 AS "uid") AS r1 CROSS JOIN LATERAL (SELECT j2.c3 AS "a1", j2.c4 AS "dp_unit", j2.c5 AS "k1") AS r5) CROSS JOIN (SELECT TRUE AS here) AS m3) FULL JOIN (SELECT r8."unit" AS "unit", r8."k1" AS "k1", r8."a1" AS "a1", r8."a2" AS "a2", r8."unit" AS "dp_unit" FROM (SELECT r6."uid" AS unit, r6."uid" AS k1, pg_catalog.sum((pg_catalog.int4larger(pg_catalog.int4smaller(r6."i4", %(p12)s::integer), %(p11)s::integer))::numeric) AS a1, least(pg_catalog.count(*), %(p4)s::bigint) AS a2 FROM "w"."calls" AS r6 WHERE r6."uid" IS NOT NULL GROUP BY r6."uid") AS r8) AS r9 ON (r1."uid" = r9."dp_unit") AND (r1."uid" = r9."k1")) WHERE CASE WHEN m3.here THEN TRUE ELSE FALSE END LIMIT ALL) AS j4 CROSS JOIN LATERAL (SELECT j4.c1 AS "d", j4.c2 AS "uid") AS r1 CROSS JOIN LATERAL (SELECT j4.c3 AS "a1", j4.c4 AS "dp_unit", j4.c5 AS "k1") AS r5 CROSS JOIN LATERAL (SELECT j4.c6 AS "a1", j4.c7 AS "a2", j4.c8 AS "dp_unit", j4.c9 AS "k1") AS r9) LIMIT ALL) r GROUP BY x2) u GROUP BY 1
--   p1 = 0
--   p2 = 200
--   p3 = 0
--   p4 = 2
--   p5 = 202
--   p6 = random
--   p7 = 2147483647
--   p8 = 49
--   p9 = 2000-01-01
--   p10 = 2020-01-01
--   p11 = 0
--   p12 = 100
-- => loss
-- epsilon 8 delta 1/1000
-- => residual
SELECT dp_b1.a1 AS "avg" FROM pg_catalog.jsonb_to_recordset(($1)::pg_catalog.jsonb->'b1') AS dp_b1(a1 numeric)

-- case: rows that refer to a row
SELECT count(*), sum(i4) FROM orders o WHERE EXISTS (SELECT 1 FROM lines l WHERE l.order_id = o.id AND l.i4 > 3)
-- => plan
-- w.orders, w.lines, unit r1."uid": rows 6, groups None, per group None; keys none; cells 0
--   count(*): sensitivity 6, scale 3/2, epsilon 4 delta 0
--   sum: clamp 0 .. 100, grid 1, sensitivity 600 steps, scale 150, epsilon 4 delta 0
-- => backend
SELECT pg_catalog.sum(least(v0, %(p1)s::bigint)), pg_catalog.sum(CASE WHEN v1 IS NOT NULL THEN least(greatest(v1, %(p1)s::bigint * %(p4)s::bigint), %(p1)s::bigint * %(p5)s::bigint) END) FROM (SELECT r1."uid" AS unit, pg_catalog.count(*) AS v0, pg_catalog.sum((pg_catalog.int4larger(pg_catalog.int4smaller(r1."i4", %(p3)s::integer), %(p2)s::integer))::integer) AS v1 FROM ((SELECT r1."i4" AS c1, r1."id" AS c2, r1."uid" AS c3, r4."dp_unit" AS c4, r4."k1" AS c5, r4."unit" AS c6 FROM (((SELECT r1."i4", r1."id", r1."uid" FROM "w"."orders" AS r1 WHERE r1."uid" IS NOT NULL) AS r1 CROSS JOIN (SELECT TRUE AS here) AS m2) FULL JOIN (SELECT r3."unit" AS "unit", r3."k1" AS "k1", r3."unit" AS "dp_unit" FROM (SELECT r2u."uid" AS unit, r2."order_id" AS k1 FROM ((SELECT r2."i4" AS c1, r2."order_id" AS c2, r2u."id" AS c3, r2u."uid" AS c4 FROM ((SELECT r2."i4", r2."order_id" FROM "w"."lines" AS r2 WHERE (r2."i4" > %(p6)s::bigint)) AS r2 FULL JOIN (SELECT r2u."id", r2u."uid" FROM "w"."orders" AS r2u WHERE r2u."uid" IS NOT NULL) AS r2u ON (r2."order_id" = r2u."id") AND (pg_catalog.hashint4extended((r2."order_id")::integer, %(p7)s::bigint) = pg_catalog.hashint4extended((r2u."id")::integer, %(p7)s::bigint))) WHERE CASE WHEN r2."order_id" IS NOT NULL AND r2u."id" IS NOT NULL THEN TRUE ELSE FALSE END LIMIT ALL) AS j1 CROSS JOIN LATERAL (SELECT j1.c1 AS "i4", j1.c2 AS "order_id") AS r2 CROSS JOIN LATERAL (SELECT j1.c3 AS "id", j1.c4 AS "uid") AS r2u) GROUP BY r2u."uid", 2, coalesce(pg_catalog.hash_numeric_extended((r2."order_id")::numeric, %(p7)s::bigint), %(p7)s::bigint)) AS r3) AS r4 ON (r1."uid" = r4."dp_unit") AND (r1."id" = r4."k1") AND (pg_catalog.hashint4extended((r1."uid")::integer, %(p7)s::bigint) = pg_catalog.hashint4extended((r4."dp_unit")::integer, %(p7)s::bigint)) AND (pg_catalog.hashint4extended((r1."id")::integer, %(p7)s::bigint) = pg_catalog.hashint4extended((r4."k1")::integer, %(p7)s::bigint))) WHERE CASE WHEN m2.here THEN (NOT (r4."unit" IS NULL)) ELSE FALSE END LIMIT ALL) AS j3 CROSS JOIN LATERAL (SELECT j3.c1 AS "i4", j3.c2 AS "id", j3.c3 AS "uid") AS r1 CROSS JOIN LATERAL (SELECT j3.c4 AS "dp_unit", j3.c5 AS "k1", j3.c6 AS "unit") AS r4) GROUP BY r1."uid") u
--   p1 = 6
--   p2 = 0
--   p3 = 100
--   p4 = 0
--   p5 = 100
--   p6 = 3
--   p7 = random
-- => loss
-- epsilon 8 delta 0
-- => residual
SELECT dp_b1.a1 AS "count", dp_b1.a2 AS "sum" FROM pg_catalog.jsonb_to_recordset(($1)::pg_catalog.jsonb->'b1') AS dp_b1(a1 bigint, a2 bigint)

-- case: the row that a row refers to
SELECT count(*) FROM lines WHERE order_id IN (SELECT id FROM orders WHERE b)
-- => plan
-- w.lines, w.orders, unit r1u."uid": rows 7, groups None, per group None; keys none; cells 0
--   count(*): sensitivity 7, scale 7/8, epsilon 8 delta 0
-- => backend
SELECT pg_catalog.sum(least(v0, %(p1)s::bigint)) FROM (SELECT r1u."uid" AS unit, pg_catalog.count(*) AS v0 FROM ((SELECT r1."order_id" AS c1, r1u."id" AS c2, r1u."uid" AS c3, r4."dp_unit" AS c4, r4."k1" AS c5, r4."unit" AS c6 FROM ((((SELECT r1."order_id" AS c1, r1u."id" AS c2, r1u."uid" AS c3 FROM ("w"."lines" AS r1 FULL JOIN (SELECT r1u."id", r1u."uid" FROM "w"."orders" AS r1u WHERE r1u."uid" IS NOT NULL) AS r1u ON (r1."order_id" = r1u."id") AND (pg_catalog.hashint4extended((r1."order_id")::integer, %(p2)s::bigint) = pg_catalog.hashint4extended((r1u."id")::integer, %(p2)s::bigint))) WHERE CASE WHEN r1."order_id" IS NOT NULL AND r1u."id" IS NOT NULL THEN TRUE ELSE FALSE END LIMIT ALL) AS j1 CROSS JOIN LATERAL (SELECT j1.c1 AS "order_id") AS r1 CROSS JOIN LATERAL (SELECT j1.c2 AS "id", j1.c3 AS "uid") AS r1u) CROSS JOIN (SELECT TRUE AS here) AS m2) FULL JOIN (SELECT r3."unit" AS "unit", r3."k1" AS "k1", r3."unit" AS "dp_unit" FROM (SELECT r2."uid" AS unit, r2."id" AS k1 FROM "w"."orders" AS r2 WHERE r2."uid" IS NOT NULL AND r2."b" GROUP BY r2."uid", 2, coalesce(pg_catalog.hash_numeric_extended((r2."id")::numeric, %(p2)s::bigint), %(p2)s::bigint)) AS r3) AS r4 ON (r1u."uid" = r4."dp_unit") AND (r1."order_id" = r4."k1") AND (pg_catalog.hashint4extended((r1u."uid")::integer, %(p2)s::bigint) = pg_catalog.hashint4extended((r4."dp_unit")::integer, %(p2)s::bigint)) AND (pg_catalog.hashint4extended((r1."order_id")::integer, %(p2)s::bigint) = pg_catalog.hashint4extended((r4."k1")::integer, %(p2)s::bigint))) WHERE CASE WHEN m2.here THEN (NOT (r4."unit" IS NULL)) ELSE FALSE END LIMIT ALL) AS j3 CROSS JOIN LATERAL (SELECT j3.c1 AS "order_id") AS r1 CROSS JOIN LATERAL (SELECT j3.c2 AS "id", j3.c3 AS "uid") AS r1u CROSS JOIN LATERAL (SELECT j3.c4 AS "dp_unit", j3.c5 AS "k1", j3.c6 AS "unit") AS r4) GROUP BY r1u."uid") u
--   p1 = 7
--   p2 = random
-- => loss
-- epsilon 8 delta 0
-- => residual
SELECT dp_b1.a1 AS "count" FROM pg_catalog.jsonb_to_recordset(($1)::pg_catalog.jsonb->'b1') AS dp_b1(a1 bigint)

-- case: a second column is compared, a long text by its beginning
SELECT count(*) FROM orders o WHERE EXISTS (SELECT 1 FROM calls c WHERE c.uid = o.uid AND c.i8 = o.i4 AND c.t = o.t)
-- => plan
-- w.orders, w.calls, unit r1."uid": rows 6, groups None, per group None; keys none; cells 0
--   count(*): sensitivity 6, scale 3/4, epsilon 8 delta 0
-- => backend
SELECT pg_catalog.sum(least(v0, %(p1)s::bigint)) FROM (SELECT r1."uid" AS unit, pg_catalog.count(*) AS v0 FROM ((SELECT r1."i4" AS c1, r1."t" AS c2, r1."uid" AS c3, r4."dp_unit" AS c4, r4."k1" AS c5, r4."k2" AS c6, r4."k3" AS c7, r4."unit" AS c8 FROM (((SELECT r1."i4", r1."t", r1."uid" FROM "w"."orders" AS r1 WHERE r1."uid" IS NOT NULL) AS r1 CROSS JOIN (SELECT TRUE AS here) AS m1) FULL JOIN (SELECT r3."unit" AS "unit", r3."k1" AS "k1", r3."k2" AS "k2", r3."k3" AS "k3", r3."unit" AS "dp_unit" FROM (SELECT r2."uid" AS unit, r2."uid" AS k1, r2."i8" AS k2, (CASE WHEN pg_catalog.octet_length(r2."t") <= 1024 THEN r2."t" ELSE pg_catalog.left(r2."t", 1024) END)::text AS k3 FROM "w"."calls" AS r2 WHERE r2."uid" IS NOT NULL GROUP BY r2."uid", 3, 4, coalesce(pg_catalog.hashtextextended(((CASE WHEN pg_catalog.octet_length(r2."t") <= 1024 THEN r2."t" ELSE pg_catalog.left(r2."t", 1024) END)::text)::text, coalesce(pg_catalog.hash_numeric_extended((r2."i8")::numeric, %(p3)s::bigint), %(p3)s::bigint)), %(p3)s::bigint)) AS r3) AS r4 ON (r1."uid" = r4."dp_unit") AND (r1."uid" = r4."k1") AND (r1."i4" = r4."k2") AND (pg_catalog.hashint4extended((r1."uid")::integer, %(p3)s::bigint) = pg_catalog.hashint4extended((r4."dp_unit")::integer, %(p3)s::bigint)) AND (pg_catalog.hashint4extended((r1."uid")::integer, %(p3)s::bigint) = pg_catalog.hashint4extended((r4."k1")::integer, %(p3)s::bigint)) AND (pg_catalog.hash_numeric_extended((r1."i4")::numeric, %(p3)s::bigint) = pg_catalog.hash_numeric_extended((r4."k2")::numeric, %(p3)s::bigint)) AND (pg_catalog.hashtextextended(((CASE WHEN pg_catalog.octet_length(r1."t") <= %(p2)s::integer THEN r1."t" ELSE pg_catalog.left(r1."t"::text, %(p2)s::integer) END))::text, %(p3)s::bigint) = pg_catalog.hashtextextended((CASE WHEN pg_catalog.octet_length(r4."k3") <= %(p4)s::integer THEN r4."k3" END)::text, %(p3)s::bigint)) AND ((CASE WHEN pg_catalog.octet_length(r1."t") <= %(p2)s::integer THEN r1."t" ELSE pg_catalog.left(r1."t"::text, %(p2)s::integer) END) = r4."k3")) WHERE CASE WHEN m1.here THEN (NOT (r4."unit" IS NULL)) ELSE FALSE END LIMIT ALL) AS j2 CROSS JOIN LATERAL (SELECT j2.c1 AS "i4", j2.c2 AS "t", j2.c3 AS "uid") AS r1 CROSS JOIN LATERAL (SELECT j2.c4 AS "dp_unit", j2.c5 AS "k1", j2.c6 AS "k2", j2.c7 AS "k3", j2.c8 AS "unit") AS r4) GROUP BY r1."uid") u
--   p1 = 6
--   p2 = 1024
--   p3 = random
--   p4 = 4096
-- => loss
-- epsilon 8 delta 0
-- => residual
SELECT dp_b1.a1 AS "count" FROM pg_catalog.jsonb_to_recordset(($1)::pg_catalog.jsonb->'b1') AS dp_b1(a1 bigint)

-- case: exists in exists, in a subquery with rows
SELECT sum(x) FROM (SELECT i4 AS x FROM members m WHERE EXISTS (SELECT 1 FROM orders o WHERE o.uid = m.uid AND o.id IN (SELECT order_id FROM lines))) q
-- => plan
-- w.members, w.orders, w.lines, unit 1 row(s), partitions by hash of r8."dp_unit", r8."dp_unit" not null; keys none; cells 0
--   sum: clamp 0 .. 100, grid 1, sensitivity 100 steps, scale 25/2, epsilon 8 delta 0
-- => backend
SELECT pg_catalog.sum((pg_catalog.int4larger(pg_catalog.int4smaller(r8."x", %(p2)s::integer), %(p1)s::integer))::integer) FROM (SELECT r1."i4" AS "x", r1."uid" AS "dp_unit" FROM ((SELECT r1."i4" AS c1, r1."uid" AS c2, r7."dp_unit" AS c3, r7."k1" AS c4, r7."unit" AS c5 FROM (("w"."members" AS r1 CROSS JOIN (SELECT TRUE AS here) AS m4) FULL JOIN (SELECT r6."unit" AS "unit", r6."k1" AS "k1", r6."unit" AS "dp_unit" FROM (SELECT r2."uid" AS unit, r2."uid" AS k1 FROM ((SELECT r2."id" AS c1, r2."uid" AS c2, r5."dp_unit" AS c3, r5."k1" AS c4, r5."unit" AS c5 FROM (((SELECT r2."id", r2."uid" FROM "w"."orders" AS r2 WHERE r2."uid" IS NOT NULL) AS r2 CROSS JOIN (SELECT TRUE AS here) AS m2) FULL JOIN (SELECT r4."unit" AS "unit", r4."k1" AS "k1", r4."unit" AS "dp_unit" FROM (SELECT r3u."uid" AS unit, r3."order_id" AS k1 FROM ((SELECT r3."order_id" AS c1, r3u."id" AS c2, r3u."uid" AS c3 FROM ("w"."lines" AS r3 FULL JOIN (SELECT r3u."id", r3u."uid" FROM "w"."orders" AS r3u WHERE r3u."uid" IS NOT NULL) AS r3u ON (r3."order_id" = r3u."id") AND (pg_catalog.hashint4extended((r3."order_id")::integer, %(p3)s::bigint) = pg_catalog.hashint4extended((r3u."id")::integer, %(p3)s::bigint))) WHERE CASE WHEN r3."order_id" IS NOT NULL AND r3u."id" IS NOT NULL THEN TRUE ELSE FALSE END LIMIT ALL) AS j1 CROSS JOIN LATERAL (SELECT j1.c1 AS "order_id") AS r3 CROSS JOIN LATERAL (SELECT j1.c2 AS "id", j1.c3 AS "uid") AS r3u) GROUP BY r3u."uid", 2, coalesce(pg_catalog.hash_numeric_extended((r3."order_id")::numeric, %(p3)s::bigint), %(p3)s::bigint)) AS r4) AS r5 ON (r2."uid" = r5."dp_unit") AND (r2."id" = r5."k1") AND (pg_catalog.hashint4extended((r2."uid")::integer, %(p3)s::bigint) = pg_catalog.hashint4extended((r5."dp_unit")::integer, %(p3)s::bigint)) AND (pg_catalog.hashint4extended((r2."id")::integer, %(p3)s::bigint) = pg_catalog.hashint4extended((r5."k1")::integer, %(p3)s::bigint))) WHERE CASE WHEN m2.here THEN (NOT (r5."unit" IS NULL)) ELSE FALSE END LIMIT ALL) AS j3 CROSS JOIN LATERAL (SELECT j3.c1 AS "id", j3.c2 AS "uid") AS r2 CROSS JOIN LATERAL (SELECT j3.c3 AS "dp_unit", j3.c4 AS "k1", j3.c5 AS "unit") AS r5) GROUP BY r2."uid") AS r6) AS r7 ON (r1."uid" = r7."dp_unit") AND (r1."uid" = r7."k1")) WHERE CASE WHEN m4.here THEN (NOT (r7."unit" IS NULL)) ELSE FALSE END LIMIT ALL) AS j5 CROSS JOIN LATERAL (SELECT j5.c1 AS "i4", j5.c2 AS "uid") AS r1 CROSS JOIN LATERAL (SELECT j5.c3 AS "dp_unit", j5.c4 AS "k1", j5.c5 AS "unit") AS r7)) AS r8 WHERE r8."dp_unit" IS NOT NULL
--   p1 = 0
--   p2 = 100
--   p3 = random
-- => loss
-- epsilon 8 delta 0
-- => residual
SELECT dp_b1.a1 AS "sum" FROM pg_catalog.jsonb_to_recordset(($1)::pg_catalog.jsonb->'b1') AS dp_b1(a1 bigint)

-- case: exists in a subquery per unit
SELECT avg(n) FROM (SELECT uid, count(*) FILTER (WHERE EXISTS (SELECT 1 FROM lines l WHERE l.order_id = o.id)) AS n FROM orders o GROUP BY uid) q
-- => plan
-- w.orders, w.lines, unit 1 row(s), partitions by hash of r6."dp_unit", r6."dp_unit" not null; keys none; cells 55
--   avg: 0 .. 60000 steps of 0.0001, fill 30000, 55 partitions, gate 447 units, scale 5/2, epsilon 8 delta 1/1000, each epsilon 38/5 delta 0.001
-- => backend
SELECT x2, pg_catalog.count(x1), pg_catalog.sum((pg_catalog.int8larger(pg_catalog.int8smaller(x1, %(p2)s::bigint), %(p1)s::bigint))::integer) FROM (SELECT r6."n" AS x1, pg_catalog.mod(((pg_catalog.hashint4extended(r6."dp_unit"::integer, %(p4)s::bigint)) & %(p5)s::bigint)::integer, %(p6)s::integer) AS x2 FROM (SELECT r2."unit" AS "uid", r2."a1" AS "n", r2."unit" AS "dp_unit" FROM (SELECT r1."uid" AS unit, least(pg_catalog.count(*) FILTER (WHERE (NOT (r5."unit" IS NULL))), %(p2)s::bigint) AS a1 FROM ((SELECT r1."id" AS c1, r1."uid" AS c2, r5."dp_unit" AS c3, r5."k1" AS c4, r5."unit" AS c5 FROM (((SELECT r1."id", r1."uid" FROM "w"."orders" AS r1 WHERE r1."uid" IS NOT NULL) AS r1 CROSS JOIN (SELECT TRUE AS here) AS m2) FULL JOIN (SELECT r4."unit" AS "unit", r4."k1" AS "k1", r4."unit" AS "dp_unit" FROM (SELECT r3u."uid" AS unit, r3."order_id" AS k1 FROM ((SELECT r3."order_id" AS c1, r3u."id" AS c2, r3u."uid" AS c3 FROM ("w"."lines" AS r3 FULL JOIN (SELECT r3u."id", r3u."uid" FROM "w"."orders" AS r3u WHERE r3u."uid" IS NOT NULL) AS r3u ON (r3."order_id" = r3u."id") AND (pg_catalog.hashint4extended((r3."order_id")::integer, %(p3)s::bigint) = pg_catalog.hashint4extended((r3u."id")::integer, %(p3)s::bigint))) WHERE CASE WHEN r3."order_id" IS NOT NULL AND r3u."id" IS NOT NULL THEN TRUE ELSE FALSE END LIMIT ALL) AS j1 CROSS JOIN LATERAL (SELECT j1.c1 AS "order_id") AS r3 CROSS JOIN LATERAL (SELECT j1.c2 AS "id", j1.c3 AS "uid") AS r3u) GROUP BY r3u."uid", 2, coalesce(pg_catalog.hash_numeric_extended((r3."order_id")::numeric, %(p3)s::bigint), %(p3)s::bigint)) AS r4) AS r5 ON (r1."uid" = r5."dp_unit") AND (r1."id" = r5."k1") AND (pg_catalog.hashint4extended((r1."uid")::integer, %(p3)s::bigint) = pg_catalog.hashint4extended((r5."dp_unit")::integer, %(p3)s::bigint)) AND (pg_catalog.hashint4extended((r1."id")::integer, %(p3)s::bigint) = pg_catalog.hashint4extended((r5."k1")::integer, %(p3)s::bigint))) WHERE CASE WHEN m2.here THEN TRUE ELSE FALSE END LIMIT ALL) AS j3 CROSS JOIN LATERAL (SELECT j3.c1 AS "id", j3.c2 AS "uid") AS r1 CROSS JOIN LATERAL (SELECT j3.c3 AS "dp_unit", j3.c4 AS "k1", j3.c5 AS "unit") AS r5) GROUP BY r1."uid") AS r2) AS r6 WHERE r6."dp_unit" IS NOT NULL LIMIT ALL) r GROUP BY 1
--   p1 = 0
--   p2 = 6
--   p3 = random
--   p4 = random
--   p5 = 2147483647
--   p6 = 55
-- => loss
-- epsilon 8 delta 1/1000
-- => residual
SELECT dp_b1.a1 AS "avg" FROM pg_catalog.jsonb_to_recordset(($1)::pg_catalog.jsonb->'b1') AS dp_b1(a1 numeric)

-- case: distinct units
SELECT count(*) FROM (SELECT DISTINCT uid AS user_id FROM orders) subquery
-- => plan
-- w.orders, unit 1 row(s), partitions by hash of r3."dp_unit", r3."dp_unit" not null; keys none; cells 0
--   count(*): sensitivity 1, scale 1/8, epsilon 8 delta 0
-- => backend
SELECT pg_catalog.count(*) FROM (SELECT r2."unit" AS "user_id", r2."unit" AS "dp_unit" FROM (SELECT r1."uid" AS unit FROM "w"."orders" AS r1 WHERE r1."uid" IS NOT NULL GROUP BY r1."uid") AS r2) AS r3 WHERE r3."dp_unit" IS NOT NULL
-- => loss
-- epsilon 8 delta 0
-- => residual
SELECT dp_b1.a1 AS "count" FROM pg_catalog.jsonb_to_recordset(($1)::pg_catalog.jsonb->'b1') AS dp_b1(a1 bigint)

-- case: distinct units and months
SELECT m, count(*) FROM (SELECT DISTINCT uid, date_trunc('year', d) AS m FROM orders WHERE d >= '2018-01-01') q GROUP BY m
-- => plan
-- w.orders, unit r3."dp_unit": rows 6, groups 2, per group 2; keys m of 3; cells 0
--   count(*): sensitivity 4, scale 1/2, epsilon 8 delta 0
-- => backend
SELECT k1, pg_catalog.sum(least(v0, %(p2)s::bigint)) FROM (SELECT * FROM (SELECT *, pg_catalog.row_number() OVER (PARTITION BY unit ORDER BY pg_catalog.hashint8extended(pg_catalog.hash_record_extended(ROW(g."unit", k1), %(p8)s::bigint), %(p8)s::bigint), k1) AS rank FROM (SELECT r3."dp_unit" AS unit, (r3."m")::text AS k1, pg_catalog.count(*) AS v0 FROM (SELECT r2."unit" AS "uid", r2."k1" AS "m", r2."unit" AS "dp_unit" FROM (SELECT r1."uid" AS unit, pg_catalog.date_trunc('year', (pg_catalog.date_larger(pg_catalog.date_smaller(r1."d", %(p5)s::date), %(p4)s::date))::timestamp AT TIME ZONE 'UTC') AS k1 FROM "w"."orders" AS r1 WHERE r1."uid" IS NOT NULL AND (r1."d" >= %(p6)s::date) GROUP BY r1."uid", 2, coalesce(pg_catalog.hashtextextended((pg_catalog.date_trunc('year', (pg_catalog.date_larger(pg_catalog.date_smaller(r1."d", %(p5)s::date), %(p4)s::date))::timestamp AT TIME ZONE 'UTC'))::text, %(p7)s::bigint), %(p7)s::bigint)) AS r2) AS r3 WHERE r3."dp_unit" IS NOT NULL AND ((r3."m")::text = ANY(%(p3)s::text[])) GROUP BY r3."dp_unit", 2) g) c WHERE rank <= %(p2)s::bigint) u GROUP BY 1
--   p1 = 6
--   p2 = 2
--   p3 = ['2018-01-01 00:00:00+00', '2019-01-01 00:00:00+00', '2020-01-01 00:00:00+00']
--   p4 = 2000-01-01
--   p5 = 2020-01-01
--   p6 = 2018-01-01
--   p7 = random
--   p8 = random
-- => loss
-- epsilon 8 delta 0
-- => residual
SELECT dp_b1.k1 AS "m", dp_b1.a1 AS "count" FROM pg_catalog.jsonb_to_recordset(($1)::pg_catalog.jsonb->'b1') AS dp_b1(k1 timestamp with time zone, a1 bigint)

-- case: per unit and more keys
SELECT avg(n), sum(n) FROM (SELECT uid, t, count(*) AS n FROM orders GROUP BY uid, t) q
-- => plan
-- w.orders, unit r3."dp_unit": rows 6, groups None, per group None; keys none; cells 107
--   avg: 0 .. 60000 steps of 0.0001, fill 30000, 107 partitions, gate 871 units, scale 5, epsilon 4 delta 1/2000, each epsilon 19/5 delta 0.0005
--   sum: clamp 0 .. 6, grid 1, sensitivity 6 steps, scale 3/2, epsilon 4 delta 0
-- => backend
SELECT cell, pg_catalog.sum(v0), pg_catalog.sum(v1), pg_catalog.count(v1), pg_catalog.sum(CASE WHEN v1 IS NOT NULL THEN least(greatest(v1::numeric, %(p3)s::numeric), %(p4)s::numeric) END) FROM (SELECT r3."dp_unit" AS unit, pg_catalog.mod(((pg_catalog.hashint4extended(r3."dp_unit"::integer, %(p5)s::bigint)) & %(p6)s::bigint)::integer, %(p7)s::integer) AS cell, pg_catalog.count(r3."n") AS v0, pg_catalog.sum((pg_catalog.int8larger(pg_catalog.int8smaller(r3."n", %(p2)s::bigint), %(p1)s::bigint))::integer) AS v1 FROM (SELECT r2."unit" AS "uid", r2."k1" AS "t", r2."a1" AS "n", r2."unit" AS "dp_unit" FROM (SELECT r1."uid" AS unit, (CASE WHEN pg_catalog.octet_length(r1."t") <= 1024 THEN r1."t" ELSE pg_catalog.left(r1."t", 1024) END)::text AS k1, least(pg_catalog.count(*), %(p2)s::bigint) AS a1 FROM "w"."orders" AS r1 WHERE r1."uid" IS NOT NULL GROUP BY r1."uid", 2, coalesce(pg_catalog.hashtextextended(((CASE WHEN pg_catalog.octet_length(r1."t") <= 1024 THEN r1."t" ELSE pg_catalog.left(r1."t", 1024) END)::text)::text, %(p8)s::bigint), %(p8)s::bigint)) AS r2) AS r3 WHERE r3."dp_unit" IS NOT NULL GROUP BY r3."dp_unit") u GROUP BY 1
--   p1 = 0
--   p2 = 6
--   p3 = 0
--   p4 = 6
--   p5 = random
--   p6 = 2147483647
--   p7 = 107
--   p8 = random
-- => loss
-- epsilon 8 delta 1/2000
-- => residual
SELECT dp_b1.a1 AS "avg", dp_b1.a2 AS "sum" FROM pg_catalog.jsonb_to_recordset(($1)::pg_catalog.jsonb->'b1') AS dp_b1(a1 numeric, a2 numeric)

-- case: per unit and an expression, written again
SELECT g, sum(s) FROM (SELECT uid, upper(t) AS g, left(upper(t), 1) AS l, sum(i4) AS s FROM orders GROUP BY 1, upper(t) HAVING upper(t) <> 'Z') q GROUP BY g
-- => plan
-- w.orders, unit r3."dp_unit": rows 6, groups 2, per group 2; keys g of private; cells 0
--   selection: epsilon 4 delta 1/2000, each epsilon 2 delta 0.00025
--   sum: clamp 0 .. 600, grid 1, sensitivity 614400 steps, scale 153600, epsilon 4 delta 0
-- => backend
SELECT k1, pg_catalog.sum(CASE WHEN size0 <= %(p2)s::numeric THEN v0::bigint * %(p3)s::bigint ELSE pg_catalog.div(v0::numeric * %(p4)s::numeric, size0)::bigint END), pg_catalog.count(*) FROM (SELECT *, pg_catalog.sum(v0) OVER (PARTITION BY unit) AS size0 FROM (SELECT * FROM (SELECT *, pg_catalog.row_number() OVER (PARTITION BY unit ORDER BY pg_catalog.hashint8extended(pg_catalog.hash_record_extended(ROW(g."unit", k1), %(p14)s::bigint), %(p14)s::bigint), k1) AS rank FROM (SELECT r3."dp_unit" AS unit, (CASE WHEN pg_catalog.octet_length((r3."g")::text) <= 1024 THEN (r3."g")::text ELSE pg_catalog.left((r3."g")::text, 1024) END)::text AS k1, pg_catalog.sum((pg_catalog.numeric_larger(pg_catalog.numeric_smaller(r3."s", %(p2)s::numeric), %(p1)s::numeric))::integer) AS v0 FROM (SELECT r2."unit" AS "uid", r2."k1" AS "g", (pg_catalog.left(r2."k1"::text, %(p6)s::integer))::varchar(1024)::text AS "l", r2."a1" AS "s", r2."unit" AS "dp_unit" FROM (SELECT r1."uid" AS unit, ((pg_catalog.upper(((CASE WHEN pg_catalog.octet_length(r1."t") <= %(p8)s::integer THEN r1."t" ELSE pg_catalog.left(r1."t"::text, %(p8)s::integer) END))::varchar(1048576)::text))::varchar(1024)::text)::varchar(1024)::text AS k1, pg_catalog.sum((pg_catalog.int4larger(pg_catalog.int4smaller(r1."i4", %(p11)s::integer), %(p10)s::integer))::numeric) AS a1 FROM (SELECT * FROM (SELECT r1."id", r1."uid", r1."i2", r1."i4", r1."i8", r1."n2", r1."n", r1."f4", r1."f8", r1."t", r1."c", r1."s", r1."b", r1."d", r1."ts", r1."tz", r1."free", r1."e", r1."j", r1."ta", r1."ia", r1."iv", r1."tod", pg_catalog.row_number() OVER (PARTITION BY r1."uid" ORDER BY pg_catalog.hashint4extended(r1."id"::integer, %(p12)s::bigint), r1."id") AS "dp_place_of_unit" FROM "w"."orders" AS r1 WHERE r1."uid" IS NOT NULL) AS r1 WHERE "dp_place_of_unit" <= %(p13)s::bigint) AS r1 WHERE r1."uid" IS NOT NULL GROUP BY r1."uid", 2, coalesce(pg_catalog.hashtextextended((((pg_catalog.upper(((CASE WHEN pg_catalog.octet_length(r1."t") <= %(p8)s::integer THEN r1."t" ELSE pg_catalog.left(r1."t"::text, %(p8)s::integer) END))::varchar(1048576)::text))::varchar(1024)::text)::varchar(1024)::text)::text, %(p5)s::bigint), %(p5)s::bigint)) AS r2 WHERE (r2."k1" <> %(p7)s::text)) AS r3 WHERE r3."dp_unit" IS NOT NULL GROUP BY r3."dp_unit", 2, coalesce(pg_catalog.hashtextextended(((CASE WHEN pg_catalog.octet_length((r3."g")::text) <= 1024 THEN (r3."g")::text ELSE pg_catalog.left((r3."g")::text, 1024) END)::text)::text, %(p5)s::bigint), %(p5)s::bigint)) g) c WHERE rank <= %(p15)s::bigint) g) u GROUP BY 1, coalesce(pg_catalog.hashtextextended((k1)::text, %(p5)s::bigint), %(p5)s::bigint)
--   p1 = 0
--   p2 = 600
--   p3 = 1024
--   p4 = 614400
--   p5 = random
--   p6 = 1
--   p7 = Z
--   p8 = 1048576
--   p9 = 6
--   p10 = 0
--   p11 = 100
--   p12 = random
--   p13 = 7112
--   p14 = random
--   p15 = 2
-- => loss
-- epsilon 8 delta 1/2000
-- => residual
SELECT dp_b1.k1 AS "g", dp_b1.a1 AS "sum" FROM pg_catalog.jsonb_to_recordset(($1)::pg_catalog.jsonb->'b1') AS dp_b1(k1 pg_catalog.text, a1 numeric)

-- case: rows per unit and key, joined
SELECT count(*) FROM (SELECT uid, b, count(*) AS n FROM orders GROUP BY uid, b) q JOIN calls c ON c.uid = q.uid WHERE q.n > 1
-- => plan
-- w.orders, w.calls, unit r3."dp_unit": rows 12, groups None, per group None; keys none; cells 0
--   count(*): sensitivity 12, scale 3/2, epsilon 8 delta 0
-- => backend
SELECT pg_catalog.sum(least(v0, %(p1)s::bigint)) FROM (SELECT r3."dp_unit" AS unit, pg_catalog.count(*) AS v0 FROM ((SELECT r3."dp_unit" AS c1, r3."uid" AS c2, r4."uid" AS c3 FROM ((SELECT r3."dp_unit", r3."uid" FROM (SELECT * FROM (SELECT r3."uid", r3."b", r3."n", r3."dp_unit", pg_catalog.row_number() OVER (PARTITION BY r3."dp_unit" ORDER BY pg_catalog.hashint8extended(pg_catalog.hash_record_extended(ROW(r3."uid", r3."b", (r3."n" # ((r3."n" >> 32) * (%(p4)s::bigint >> 33))), r3."dp_unit"), %(p4)s::bigint), %(p4)s::bigint), r3."uid", r3."b", r3."n", r3."dp_unit") AS "dp_place_of_unit" FROM (SELECT r2."unit" AS "uid", r2."k1" AS "b", r2."a1" AS "n", r2."unit" AS "dp_unit" FROM (SELECT r1."uid" AS unit, r1."b" AS k1, least(pg_catalog.count(*), %(p3)s::bigint) AS a1 FROM "w"."orders" AS r1 WHERE r1."uid" IS NOT NULL GROUP BY r1."uid", 2) AS r2) AS r3 WHERE r3."dp_unit" IS NOT NULL AND (r3."n" > %(p2)s::bigint)) AS r3 WHERE "dp_place_of_unit" <= %(p3)s::bigint) AS r3 WHERE r3."dp_unit" IS NOT NULL) AS r3 FULL JOIN (SELECT * FROM (SELECT r4."id", r4."uid", r4."i2", r4."i4", r4."i8", r4."n2", r4."n", r4."f4", r4."f8", r4."t", r4."c", r4."s", r4."b", r4."d", r4."ts", r4."tz", r4."free", r4."e", r4."j", r4."ta", r4."ia", r4."iv", r4."tod", pg_catalog.row_number() OVER (PARTITION BY r4."uid" ORDER BY pg_catalog.hashint4extended(r4."id"::integer, %(p4)s::bigint), r4."id") AS "dp_place_of_unit" FROM "w"."calls" AS r4 WHERE r4."uid" IS NOT NULL) AS r4 WHERE "dp_place_of_unit" <= %(p5)s::bigint) AS r4 ON (r3."uid" = r4."uid")) WHERE CASE WHEN r3."uid" IS NOT NULL AND r4."uid" IS NOT NULL THEN TRUE ELSE FALSE END LIMIT ALL) AS j1 CROSS JOIN LATERAL (SELECT j1.c1 AS "dp_unit", j1.c2 AS "uid") AS r3 CROSS JOIN LATERAL (SELECT j1.c3 AS "uid") AS r4) GROUP BY r3."dp_unit") u
--   p1 = 12
--   p2 = 1
--   p3 = 6
--   p4 = random
--   p5 = 2
-- => loss
-- epsilon 8 delta 0
-- => residual
SELECT dp_b1.a1 AS "count" FROM pg_catalog.jsonb_to_recordset(($1)::pg_catalog.jsonb->'b1') AS dp_b1(a1 bigint)

-- case: exists an earlier row
SELECT count(*) FROM orders o WHERE EXISTS (SELECT 1 FROM calls c WHERE c.uid = o.uid AND c.d < o.d)
-- => plan
-- w.orders, w.calls, unit r1."uid": rows 6, groups None, per group None; keys none; cells 0
--   count(*): sensitivity 6, scale 3/4, epsilon 8 delta 0
-- => backend
SELECT pg_catalog.sum(least(v0, %(p1)s::bigint)) FROM (SELECT r1."uid" AS unit, pg_catalog.count(*) AS v0 FROM ((SELECT r1."d" AS c1, r1."uid" AS c2, r4."a1" AS c3, r4."dp_unit" AS c4, r4."k1" AS c5 FROM (((SELECT r1."d", r1."uid" FROM "w"."orders" AS r1 WHERE r1."uid" IS NOT NULL) AS r1 CROSS JOIN (SELECT TRUE AS here) AS m1) FULL JOIN (SELECT r3."unit" AS "unit", r3."k1" AS "k1", r3."a1" AS "a1", r3."unit" AS "dp_unit" FROM (SELECT r2."uid" AS unit, r2."uid" AS k1, pg_catalog.min(r2."d") AS a1 FROM "w"."calls" AS r2 WHERE r2."uid" IS NOT NULL GROUP BY r2."uid") AS r3) AS r4 ON (r1."uid" = r4."dp_unit") AND (r1."uid" = r4."k1")) WHERE CASE WHEN m1.here THEN ((r4."a1" < r1."d") IS TRUE) ELSE FALSE END LIMIT ALL) AS j2 CROSS JOIN LATERAL (SELECT j2.c1 AS "d", j2.c2 AS "uid") AS r1 CROSS JOIN LATERAL (SELECT j2.c3 AS "a1", j2.c4 AS "dp_unit", j2.c5 AS "k1") AS r4) GROUP BY r1."uid") u
--   p1 = 6
--   p2 = 2
-- => loss
-- epsilon 8 delta 0
-- => residual
SELECT dp_b1.a1 AS "count" FROM pg_catalog.jsonb_to_recordset(($1)::pg_catalog.jsonb->'b1') AS dp_b1(a1 bigint)

-- case: exists another row
SELECT count(*) FROM orders o WHERE EXISTS (SELECT 1 FROM orders p WHERE p.uid = o.uid AND o.id <> p.id)
-- => plan
-- w.orders, unit r1."uid": rows 6, groups None, per group None; keys none; cells 0
--   count(*): sensitivity 6, scale 3/4, epsilon 8 delta 0
-- => backend
SELECT pg_catalog.sum(least(v0, %(p1)s::bigint)) FROM (SELECT r1."uid" AS unit, pg_catalog.count(*) AS v0 FROM ((SELECT r1."id" AS c1, r1."uid" AS c2, r4."a1" AS c3, r4."a2" AS c4, r4."dp_unit" AS c5, r4."k1" AS c6 FROM (((SELECT r1."id", r1."uid" FROM "w"."orders" AS r1 WHERE r1."uid" IS NOT NULL) AS r1 CROSS JOIN (SELECT TRUE AS here) AS m1) FULL JOIN (SELECT r3."unit" AS "unit", r3."k1" AS "k1", r3."a1" AS "a1", r3."a2" AS "a2", r3."unit" AS "dp_unit" FROM (SELECT r2."uid" AS unit, r2."uid" AS k1, pg_catalog.trim_scale(pg_catalog.min((r2."id")::numeric)) AS a1, pg_catalog.trim_scale(pg_catalog.max((r2."id")::numeric)) AS a2 FROM "w"."orders" AS r2 WHERE r2."uid" IS NOT NULL GROUP BY r2."uid") AS r3) AS r4 ON (r1."uid" = r4."dp_unit") AND (r1."uid" = r4."k1")) WHERE CASE WHEN m1.here THEN ((((r4."a1")::numeric <> (r1."id")::numeric) OR ((r4."a2")::numeric <> (r1."id")::numeric)) IS TRUE) ELSE FALSE END LIMIT ALL) AS j2 CROSS JOIN LATERAL (SELECT j2.c1 AS "id", j2.c2 AS "uid") AS r1 CROSS JOIN LATERAL (SELECT j2.c3 AS "a1", j2.c4 AS "a2", j2.c5 AS "dp_unit", j2.c6 AS "k1") AS r4) GROUP BY r1."uid") u
--   p1 = 6
-- => loss
-- epsilon 8 delta 0
-- => residual
SELECT dp_b1.a1 AS "count" FROM pg_catalog.jsonb_to_recordset(($1)::pg_catalog.jsonb->'b1') AS dp_b1(a1 bigint)

-- case: a text and a column of one spelling
SELECT count(*) FILTER (WHERE EXISTS (SELECT 1 FROM calls c WHERE c.uid = o.uid AND c.t = t)), count(*) FILTER (WHERE EXISTS (SELECT 1 FROM calls c WHERE c.uid = o.uid AND c.t = 't')) FROM orders o
-- => plan
-- w.orders, w.calls, unit r1."uid": rows 6, groups None, per group None; keys none; cells 0
--   count(*): sensitivity 6, scale 3/2, epsilon 4 delta 0
--   count(*): sensitivity 6, scale 3/2, epsilon 4 delta 0
-- => backend
SELECT pg_catalog.sum(least(v0, %(p1)s::bigint)), pg_catalog.sum(least(v1, %(p1)s::bigint)) FROM (SELECT r1."uid" AS unit, pg_catalog.count(*) FILTER (WHERE (NOT (r4."unit" IS NULL))) AS v0, pg_catalog.count(*) FILTER (WHERE (NOT (r7."unit" IS NULL))) AS v1 FROM ((SELECT r1."uid" AS c1, r4."dp_unit" AS c2, r4."k1" AS c3, r4."unit" AS c4, r7."dp_unit" AS c5, r7."k1" AS c6, r7."unit" AS c7 FROM ((((SELECT r1."uid" AS c1, r4."dp_unit" AS c2, r4."k1" AS c3, r4."unit" AS c4 FROM (((SELECT r1."uid" FROM "w"."orders" AS r1 WHERE r1."uid" IS NOT NULL) AS r1 CROSS JOIN (SELECT TRUE AS here) AS m1) FULL JOIN (SELECT r3."unit" AS "unit", r3."k1" AS "k1", r3."unit" AS "dp_unit" FROM (SELECT r2."uid" AS unit, r2."uid" AS k1 FROM "w"."calls" AS r2 WHERE r2."uid" IS NOT NULL AND ((CASE WHEN pg_catalog.octet_length(r2."t") <= %(p2)s::integer THEN r2."t" ELSE pg_catalog.left(r2."t"::text, %(p2)s::integer) END) = (CASE WHEN pg_catalog.octet_length(r2."t") <= %(p2)s::integer THEN r2."t" ELSE pg_catalog.left(r2."t"::text, %(p2)s::integer) END)) GROUP BY r2."uid") AS r3) AS r4 ON (r1."uid" = r4."dp_unit") AND (r1."uid" = r4."k1")) WHERE CASE WHEN m1.here THEN TRUE ELSE FALSE END LIMIT ALL) AS j2 CROSS JOIN LATERAL (SELECT j2.c1 AS "uid") AS r1 CROSS JOIN LATERAL (SELECT j2.c2 AS "dp_unit", j2.c3 AS "k1", j2.c4 AS "unit") AS r4) CROSS JOIN (SELECT TRUE AS here) AS m3) FULL JOIN (SELECT r6."unit" AS "unit", r6."k1" AS "k1", r6."unit" AS "dp_unit" FROM (SELECT r5."uid" AS unit, r5."uid" AS k1 FROM "w"."calls" AS r5 WHERE r5."uid" IS NOT NULL AND (r5."t" = %(p3)s::text) GROUP BY r5."uid") AS r6) AS r7 ON (r1."uid" = r7."dp_unit") AND (r1."uid" = r7."k1")) WHERE CASE WHEN m3.here THEN TRUE ELSE FALSE END LIMIT ALL) AS j4 CROSS JOIN LATERAL (SELECT j4.c1 AS "uid") AS r1 CROSS JOIN LATERAL (SELECT j4.c2 AS "dp_unit", j4.c3 AS "k1", j4.c4 AS "unit") AS r4 CROSS JOIN LATERAL (SELECT j4.c5 AS "dp_unit", j4.c6 AS "k1", j4.c7 AS "unit") AS r7) GROUP BY r1."uid") u
--   p1 = 6
--   p2 = 1048576
--   p3 = t
-- => loss
-- epsilon 8 delta 0
-- => residual
SELECT dp_b1.a1 AS "count", dp_b1.a2 AS "count" FROM pg_catalog.jsonb_to_recordset(($1)::pg_catalog.jsonb->'b1') AS dp_b1(a1 bigint, a2 bigint)

-- case: DISTINCT ON the unit
SELECT count(*), sum(i4) FROM (SELECT DISTINCT ON (uid) uid, i4 FROM orders ORDER BY uid, i2 DESC) q
-- => plan
-- w.orders, unit 1 row(s), partitions by hash of r3."dp_unit", r3."dp_unit" not null; keys none; cells 0
--   count(*): sensitivity 1, scale 1/4, epsilon 4 delta 0
--   sum: clamp 0 .. 100, grid 1, sensitivity 100 steps, scale 25, epsilon 4 delta 0
-- => backend
SELECT pg_catalog.count(*), pg_catalog.sum((pg_catalog.int4larger(pg_catalog.int4smaller(r3."i4", %(p2)s::integer), %(p1)s::integer))::integer) FROM (SELECT r2."c1" AS "uid", r2."c2" AS "i4", r2."dp_unit" AS "dp_unit" FROM (SELECT r1."uid" AS "c1", r1."i4" AS "c2", r1."i2" AS "c3", r1."uid" AS "dp_unit", pg_catalog.row_number() OVER (PARTITION BY r1."uid" ORDER BY r1."i2" DESC NULLS FIRST, r1."i4", r1."i2") AS "w1" FROM "w"."orders" AS r1) AS r2 WHERE (r2."w1" = %(p3)s::bigint)) AS r3 WHERE r3."dp_unit" IS NOT NULL
--   p1 = 0
--   p2 = 100
--   p3 = 1
-- => loss
-- epsilon 8 delta 0
-- => residual
SELECT dp_b1.a1 AS "count", dp_b1.a2 AS "sum" FROM pg_catalog.jsonb_to_recordset(($1)::pg_catalog.jsonb->'b1') AS dp_b1(a1 bigint, a2 bigint)

-- case: rows beside a series
SELECT g, t, count(*) FROM people CROSS JOIN generate_series(0, 1, 1) AS g GROUP BY 1, 2
-- => plan
-- w.people, unit 1 row(s), partitions by hash of r1."id"; keys t of 4; cells 0
--   count(*): sensitivity 1, scale 1/8, epsilon 8 delta 0
-- => backend
SELECT * FROM (SELECT (CASE WHEN pg_catalog.octet_length((r1."t")::text) <= 1024 THEN (r1."t")::text ELSE pg_catalog.left((r1."t")::text, 1024) END)::text AS k1, pg_catalog.count(*) FROM "w"."people" AS r1 GROUP BY 1 LIMIT ALL) g WHERE (k1 = ANY(%(p1)s::text[]) OR k1 IS NULL)
--   p1 = ['x', 'y', 'z']
-- => loss
-- epsilon 8 delta 0
-- => residual
SELECT g, dp_b1.k1 AS "t", CASE WHEN pg_catalog.count(*) = pg_catalog.count(dp_b1.a1) THEN LEAST(GREATEST(COALESCE(pg_catalog.sum(dp_b1.a1), 0), -9223372036854775808), 9223372036854775807)::bigint END AS "count" FROM pg_catalog.jsonb_to_recordset(($1)::pg_catalog.jsonb->'b1') AS dp_b1(k1 pg_catalog.text, a1 bigint) CROSS JOIN generate_series(0, 1, 1) AS g GROUP BY 1, 2

-- case: public rows that rows meet by ranges
SELECT z.k, count(*) FROM people JOIN rates z ON people.i2 <= z.k AND people.i2 > z.k - 2 GROUP BY 1
-- => plan
-- w.people, unit 1 row(s), partitions by hash of r1."id"; keys i2 of 2; cells 0
--   count(*): sensitivity 1, scale 1/8, epsilon 8 delta 0
-- => backend
SELECT * FROM (SELECT (r1."i2")::text AS k1, pg_catalog.count(*) FROM "w"."people" AS r1 GROUP BY 1 LIMIT ALL) g WHERE (k1 = ANY(%(p1)s::text[]))
--   p1 = ['1', '2']
-- => loss
-- epsilon 8 delta 0
-- => residual
SELECT z.k, CASE WHEN pg_catalog.count(*) = pg_catalog.count(dp_b1.a1) THEN LEAST(GREATEST(COALESCE(pg_catalog.sum(dp_b1.a1), 0), -9223372036854775808), 9223372036854775807)::bigint END AS "count" FROM pg_catalog.jsonb_to_recordset(($1)::pg_catalog.jsonb->'b1') AS dp_b1(k1 smallint, a1 bigint) JOIN rates z ON dp_b1.k1 <= z.k AND dp_b1.k1 > z.k - 2 GROUP BY 1
