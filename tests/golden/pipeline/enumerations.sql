-- case: public keys of an enumeration
SELECT e, count(*), avg(i4) FROM orders GROUP BY e
-- => plan
-- w.orders, unit r1."uid": rows 6, groups 2, per group 2; keys e of 3; cells 185
--   count(*): sensitivity 4, scale 1, epsilon 4 delta 0
--   avg: 0 .. 10000 steps of 0.01, fill 5000, 185 partitions, gate 1510 units, scale 10, epsilon 4 delta 1/2000, each epsilon 19/10 delta 0.00025
-- => backend
SELECT k1, cell, pg_catalog.sum(least(v0, %(p2)s::bigint)), pg_catalog.sum(v1), pg_catalog.sum(v2), pg_catalog.count(v2) FROM (SELECT * FROM (SELECT *, pg_catalog.row_number() OVER (PARTITION BY unit ORDER BY pg_catalog.hashint8extended(pg_catalog.hash_record_extended(ROW(g."unit", k1), %(p9)s::bigint), %(p9)s::bigint), k1) AS rank FROM (SELECT r1."uid" AS unit, (r1."e"::text)::text AS k1, pg_catalog.mod(((pg_catalog.hashint4extended(r1."uid"::integer, %(p5)s::bigint)) & %(p6)s::bigint)::integer, %(p7)s::integer) AS cell, pg_catalog.count(*) AS v0, pg_catalog.count(r1."i4") AS v1, pg_catalog.sum((pg_catalog.int4larger(pg_catalog.int4smaller(r1."i4", %(p4)s::integer), %(p3)s::integer))::integer) AS v2 FROM "w"."orders" AS r1 WHERE r1."uid" IS NOT NULL AND (r1."e"::text = ANY(%(p8)s::text[]::text[]) OR r1."e"::text IS NULL) GROUP BY r1."uid", 2) g) c WHERE rank <= %(p2)s::bigint) u GROUP BY 1, 2
--   p1 = 6
--   p2 = 2
--   p3 = 0
--   p4 = 100
--   p5 = random
--   p6 = 2147483647
--   p7 = 185
--   p8 = ['low', 'high']
--   p9 = random
-- => loss
-- epsilon 8 delta 1/2000
-- => residual
SELECT dp_b1.k1 AS "e", dp_b1.a1 AS "count", dp_b1.a2 AS "avg" FROM pg_catalog.jsonb_to_recordset(($1)::pg_catalog.jsonb->'b1') AS dp_b1(k1 pg_catalog.text, a1 bigint, a2 numeric)

-- case: private keys of an enumeration
SELECT e, count(*), sum(i4) FROM visits GROUP BY e
-- => plan
-- w.visits, unit r1."uid": rows 5, groups 5, per group None; keys e of private; cells 0
--   selection: epsilon 8/3 delta 1/3000, each epsilon 0.533333 delta 6.668e-05
--   count(*): sensitivity 5, scale 15/8, epsilon 8/3 delta 0
--   sum: clamp 0 .. 100, grid 1, sensitivity 500 steps, scale 375/2, epsilon 8/3 delta 0
-- => backend
SELECT k1, pg_catalog.sum(CASE WHEN total0 <= %(p1)s::bigint THEN v0 ELSE pg_catalog.div(v0::numeric * %(p1)s::bigint, total0)::bigint END), pg_catalog.sum(CASE WHEN v1 IS NOT NULL THEN CASE WHEN total2 <= %(p1)s::bigint THEN v1::bigint ELSE (least(greatest(v1, CASE WHEN total2 <= %(p1)s::bigint THEN v2 ELSE pg_catalog.div(v2::numeric * %(p1)s::bigint, total2)::bigint END * %(p4)s::bigint), CASE WHEN total2 <= %(p1)s::bigint THEN v2 ELSE pg_catalog.div(v2::numeric * %(p1)s::bigint, total2)::bigint END * %(p5)s::bigint))::bigint END END), pg_catalog.count(*) FROM (SELECT *, (pg_catalog.sum((v0)::float8) OVER (PARTITION BY unit))::bigint AS total0, (pg_catalog.sum((v2)::float8) OVER (PARTITION BY unit))::bigint AS total2 FROM (SELECT * FROM (SELECT *, pg_catalog.row_number() OVER (PARTITION BY unit ORDER BY pg_catalog.hashint8extended(pg_catalog.hash_record_extended(ROW((g."unit" # ((g."unit" >> 32) * (%(p7)s::bigint >> 33))), k1), %(p7)s::bigint), %(p7)s::bigint), k1) AS rank FROM (SELECT r1."uid" AS unit, (r1."e"::text)::text AS k1, pg_catalog.count(*) AS v0, pg_catalog.sum((pg_catalog.int4larger(pg_catalog.int4smaller(r1."i4", %(p3)s::integer), %(p2)s::integer))::integer) AS v1, pg_catalog.count(r1."i4") AS v2 FROM "w"."visits" AS r1 WHERE r1."uid" IS NOT NULL GROUP BY r1."uid", 2, coalesce(pg_catalog.hashtextextended(((r1."e"::text)::text)::text, %(p6)s::bigint), %(p6)s::bigint)) g) c WHERE rank <= %(p1)s::bigint) g) u GROUP BY 1, coalesce(pg_catalog.hashtextextended((k1)::text, %(p6)s::bigint), %(p6)s::bigint)
--   p1 = 5
--   p2 = 0
--   p3 = 100
--   p4 = 0
--   p5 = 100
--   p6 = random
--   p7 = random
-- => loss
-- epsilon 8 delta 1/3000
-- => residual
SELECT dp_b1.k1 AS "e", dp_b1.a1 AS "count", dp_b1.a2 AS "sum" FROM pg_catalog.jsonb_to_recordset(($1)::pg_catalog.jsonb->'b1') AS dp_b1(k1 pg_catalog.text, a1 bigint, a2 bigint)

-- case: labels narrowed
SELECT e, count(*) FROM people WHERE e IN ('low', 'x') GROUP BY e
-- => plan
-- w.people, unit 1 row(s), partitions by hash of r1."id"; keys e of 1; cells 0
--   count(*): sensitivity 1, scale 1/8, epsilon 8 delta 0
-- => backend
SELECT * FROM (SELECT (r1."e"::text)::text AS k1, pg_catalog.count(*) FROM "w"."people" AS r1 WHERE (r1."e"::text IN (%(p1)s::text, %(p2)s::text)) GROUP BY 1 LIMIT ALL) g WHERE (k1 = ANY(%(p3)s::text[]))
--   p1 = low
--   p2 = x
--   p3 = ['low']
-- => loss
-- epsilon 8 delta 0
-- => residual
SELECT dp_b1.k1 AS "e", dp_b1.a1 AS "count" FROM pg_catalog.jsonb_to_recordset(($1)::pg_catalog.jsonb->'b1') AS dp_b1(k1 pg_catalog.text, a1 bigint)

-- case: conditions on labels
SELECT count(*) FILTER (WHERE e = 'no label'), count(*) FILTER (WHERE e LIKE 'S%\_%'), sum(CASE e WHEN 'low' THEN 1 ELSE 0 END) FROM trips WHERE e <> 'high' OR e > 'a' AND left(e, 1) = 'x'
-- => plan
-- w.trips, unit 3 row(s), partitions by hash of r1."id", r1."leg"; keys none; cells 0
--   count(*): sensitivity 3, scale 9/8, epsilon 8/3 delta 0
--   count(*): sensitivity 3, scale 9/8, epsilon 8/3 delta 0
--   sum: clamp 0 .. 1, grid 1, sensitivity 3 steps, scale 9/8, epsilon 8/3 delta 0
-- => backend
SELECT pg_catalog.count(*) FILTER (WHERE x1), pg_catalog.count(*) FILTER (WHERE x2), pg_catalog.sum(x3) FROM (SELECT (r1."e"::text = %(p1)s::text) AS x1, (r1."e"::text LIKE %(p2)s::text) AS x2, pg_catalog.round(pg_catalog.numeric_larger(pg_catalog.numeric_smaller(CASE WHEN (r1."e"::text = %(p3)s::text) THEN %(p4)s::numeric ELSE %(p5)s::numeric END, %(p4)s::numeric), %(p5)s::numeric))::bigint AS x3 FROM "w"."trips" AS r1 WHERE ((r1."e"::text <> %(p6)s::text) OR (((r1."e"::text COLLATE pg_catalog."C") > (%(p7)s::text COLLATE pg_catalog."C")) AND (pg_catalog.left(r1."e"::text::text, %(p8)s::integer) = %(p9)s::text))) LIMIT ALL) r
--   p1 = no label
--   p2 = S%\_%
--   p3 = low
--   p4 = 1
--   p5 = 0
--   p6 = high
--   p7 = a
--   p8 = 1
--   p9 = x
-- => loss
-- epsilon 8 delta 0
-- => residual
SELECT dp_b1.a1 AS "count", dp_b1.a2 AS "count", dp_b1.a3 AS "sum" FROM pg_catalog.jsonb_to_recordset(($1)::pg_catalog.jsonb->'b1') AS dp_b1(a1 bigint, a2 bigint, a3 bigint)

-- case: a label as a parameter
-- parameters: text "low"
SELECT count(*) FROM people WHERE e = $1 OR e::text IN ($1, 'x')
-- => plan
-- w.people, unit 1 row(s), partitions by hash of r1."id"; keys none; cells 0
--   count(*): sensitivity 1, scale 1/8, epsilon 8 delta 0
-- => backend
SELECT pg_catalog.count(*) FROM "w"."people" AS r1 WHERE ((r1."e"::text = %(p1)s::text) OR (r1."e"::text IN (%(p1)s::text, %(p2)s::text)))
--   p1 = low
--   p2 = x
-- => loss
-- epsilon 8 delta 0
-- => residual
SELECT dp_b1.a1 AS "count" FROM pg_catalog.jsonb_to_recordset(($2)::pg_catalog.jsonb->'b1') AS dp_b1(a1 bigint)

-- case: labels beside texts
SELECT count(*) FROM people WHERE e = t OR e = c OR e = s OR coalesce(e, 'none') = 'none' OR greatest(e, t) = 'x'
-- => plan
-- w.people, unit 1 row(s), partitions by hash of r1."id"; keys none; cells 0
--   count(*): sensitivity 1, scale 1/8, epsilon 8 delta 0
-- => backend
SELECT pg_catalog.count(*) FROM "w"."people" AS r1 WHERE ((r1."e"::text = (CASE WHEN pg_catalog.octet_length(r1."t") <= %(p1)s::integer THEN r1."t" ELSE pg_catalog.left(r1."t"::text, %(p1)s::integer) END)) OR (r1."e"::text = r1."c") OR (r1."e"::text = r1."s") OR (coalesce(r1."e"::text, %(p2)s::text) = %(p2)s::text) OR ((greatest((r1."e"::text COLLATE pg_catalog."C"), ((CASE WHEN pg_catalog.octet_length(r1."t") <= %(p1)s::integer THEN r1."t" ELSE pg_catalog.left(r1."t"::text, %(p1)s::integer) END) COLLATE pg_catalog."C")) COLLATE pg_catalog."default") = %(p3)s::text))
--   p1 = 1048576
--   p2 = none
--   p3 = x
-- => loss
-- epsilon 8 delta 0
-- => residual
SELECT dp_b1.a1 AS "count" FROM pg_catalog.jsonb_to_recordset(($1)::pg_catalog.jsonb->'b1') AS dp_b1(a1 bigint)

-- case: different labels
SELECT count(DISTINCT e), count(DISTINCT coalesce(e, t)), count(e) FROM notes
-- => plan
-- w.notes, unit r1."uid": rows 4, groups None, per group None; keys none; cells 0
--   count(distinct): sensitivity 4, scale 3/2, epsilon 8/3 delta 0
--   count(distinct): sensitivity 4, scale 3/2, epsilon 8/3 delta 0
--   count: sensitivity 4, scale 3/2, epsilon 8/3 delta 0
-- => backend
SELECT pg_catalog.sum(least(v0, %(p1)s::bigint)) FROM (SELECT r1."uid" AS unit, pg_catalog.count(r1."e"::text) AS v0 FROM "w"."notes" AS r1 WHERE pg_catalog.octet_length(r1."uid") <= %(p2)s::integer GROUP BY r1."uid") u
--   p1 = 4
--   p2 = 4096
SELECT pg_catalog.count(DISTINCT v) FROM (SELECT v, pg_catalog.row_number() OVER (PARTITION BY unit ORDER BY pg_catalog.hashint8extended(pg_catalog.hash_record_extended(ROW(pg_catalog.hashtextextended(d."unit"::text, %(p3)s::bigint), v), %(p3)s::bigint), %(p3)s::bigint), v) AS rank FROM (SELECT unit, v FROM (SELECT r1."uid" AS unit, (r1."e"::text) AS v FROM "w"."notes" AS r1 WHERE pg_catalog.octet_length(r1."uid") <= %(p1)s::integer AND (r1."e"::text) IS NOT NULL) s GROUP BY unit, v, coalesce(pg_catalog.hashtextextended((v)::text, %(p2)s::bigint), %(p2)s::bigint)) d) u WHERE rank <= %(p4)s::bigint
--   p1 = 4096
--   p2 = random
--   p3 = random
--   p4 = 4
SELECT pg_catalog.count(DISTINCT v) FROM (SELECT v, pg_catalog.row_number() OVER (PARTITION BY unit ORDER BY pg_catalog.hashint8extended(pg_catalog.hash_record_extended(ROW(pg_catalog.hashtextextended(d."unit"::text, %(p3)s::bigint), v), %(p3)s::bigint), %(p3)s::bigint), v) AS rank FROM (SELECT unit, v FROM (SELECT r1."uid" AS unit, ((coalesce(r1."e"::text, r1."t"))::varchar(1024)) AS v FROM "w"."notes" AS r1 WHERE pg_catalog.octet_length(r1."uid") <= %(p1)s::integer AND ((coalesce(r1."e"::text, r1."t"))::varchar(1024)) IS NOT NULL) s GROUP BY unit, v, coalesce(pg_catalog.hashtextextended((v)::text, %(p2)s::bigint), %(p2)s::bigint)) d) u WHERE rank <= %(p4)s::bigint
--   p1 = 4096
--   p2 = random
--   p3 = random
--   p4 = 4
-- => loss
-- epsilon 8 delta 0
-- => residual
SELECT dp_b1.a1 AS "count", dp_b1.a2 AS "count", dp_b1.a3 AS "count" FROM pg_catalog.jsonb_to_recordset(($1)::pg_catalog.jsonb->'b1') AS dp_b1(a1 bigint, a2 bigint, a3 bigint)

-- case: keys of labels and texts
SELECT nullif(coalesce(e, c), 'x') AS k, count(*) FROM people GROUP BY k
-- => plan
-- w.people, unit 1 row(s), partitions by hash of r1."id"; keys expression of 4; cells 0
--   count(*): sensitivity 1, scale 1/8, epsilon 8 delta 0
-- => backend
SELECT * FROM (SELECT (nullif(coalesce(r1."e"::text, r1."c"), %(p1)s::text))::text AS k1, pg_catalog.count(*) FROM "w"."people" AS r1 GROUP BY 1 LIMIT ALL) g WHERE (k1 = ANY(%(p2)s::text[]))
--   p1 = x
--   p2 = ['low', 'high', 'a', 'bb']
-- => loss
-- epsilon 8 delta 0
-- => residual
SELECT dp_b1.k1 AS k, dp_b1.a1 AS "count" FROM pg_catalog.jsonb_to_recordset(($1)::pg_catalog.jsonb->'b1') AS dp_b1(k1 pg_catalog.text, a1 bigint)

-- case: labels of a public table
SELECT m.e, count(*) FROM people p JOIN moods m ON p.c = m.e WHERE p.t IN (SELECT e FROM moods WHERE e <> 'low') GROUP BY m.e
-- => plan
-- w.people, w.moods, unit 1 row(s), partitions by hash of r1."id"; keys e of 4; cells 0
--   count(*): sensitivity 1, scale 1/8, epsilon 8 delta 0
-- => backend
SELECT * FROM (SELECT (r2."e"::text)::text AS k1, pg_catalog.count(*) FROM ((SELECT r1."c" AS c1, r1."id" AS c2, r1."t" AS c3, r2."e" AS c4 FROM ((SELECT r1."c", r1."id", r1."t" FROM "w"."people" AS r1 WHERE ((CASE WHEN pg_catalog.octet_length(r1."t") <= %(p1)s::integer THEN r1."t" ELSE pg_catalog.left(r1."t"::text, %(p1)s::integer) END) = ANY(%(l1)s::text[]))) AS r1 FULL JOIN "w"."moods" AS r2 ON (CASE WHEN pg_catalog.octet_length(r1."c") <= %(p3)s::integer THEN r1."c" END = CASE WHEN pg_catalog.octet_length(r2."e"::text) <= %(p3)s::integer THEN r2."e"::text END)) WHERE CASE WHEN r1."c" IS NOT NULL AND r2."e"::text IS NOT NULL THEN TRUE ELSE FALSE END LIMIT ALL) AS j1 CROSS JOIN LATERAL (SELECT j1.c1 AS "c", j1.c2 AS "id", j1.c3 AS "t") AS r1 CROSS JOIN LATERAL (SELECT j1.c4 AS "e") AS r2) GROUP BY 1 LIMIT ALL) g WHERE (k1 = ANY(%(p4)s::text[]))
--   p1 = 1048576
--   p3 = 4096
--   p4 = ['a ', 'low', 'unlisted', 'x']
--   l1 = SELECT n, o::bigint, CASE WHEN n <= 50000 AND o <= 1048576 THEN coalesce(a::text, '{}') END FROM (SELECT pg_catalog.count(*) AS n, coalesce(pg_catalog.sum(pg_catalog.octet_length(v::text)), 0) AS o, pg_catalog.array_agg(v) AS a FROM (SELECT DISTINCT (r3."e"::text)::text AS v FROM "w"."moods" AS r3 WHERE (r3."e"::text <> %(p1)s::text) LIMIT 50001) AS f) AS g
--     p1 = low
-- => loss
-- epsilon 8 delta 0
-- => residual
SELECT dp_b1.k1 AS "e", dp_b1.a1 AS "count" FROM pg_catalog.jsonb_to_recordset(($1)::pg_catalog.jsonb->'b1') AS dp_b1(k1 pg_catalog.text, a1 bigint)

-- case: a join on labels by truncation
-- policy: joins
SELECT count(*), max(b.i4) FROM people a JOIN visits b ON a.e = b.e
-- => plan
-- w.people, w.visits, unit 26 row(s), partitions by hash of r1."e"::text, at most 6 partitions; keys none; cells 391
--   count(*): sensitivity 26, scale 13/2, epsilon 4 delta 0
--   max: 0 .. 100 steps of 1, fill 0, 391 partitions, gate 3517 units, scale 130, epsilon 4 delta 1/2000, each epsilon 19/30 delta 3.512e-06
-- => backend
SELECT x2, pg_catalog.count(*), pg_catalog.int4larger(pg_catalog.int4smaller(pg_catalog.max(x1), %(p2)s::integer), %(p1)s::integer), pg_catalog.count(x1) FROM (SELECT r2."i4" AS x1, pg_catalog.mod(((pg_catalog.hashtextextended(r1."e"::text::text, %(p9)s::bigint)) & %(p10)s::bigint)::integer, %(p11)s::integer) AS x2 FROM ((SELECT r1."e" AS c1, r2."e" AS c2, r2."i4" AS c3 FROM ((SELECT * FROM (SELECT r1."id", r1."i2", r1."i4", r1."i8", r1."n2", r1."n", r1."f4", r1."f8", r1."t", r1."c", r1."s", r1."b", r1."d", r1."ts", r1."tz", r1."free", r1."e", r1."j", r1."ta", r1."ia", r1."iv", r1."tod", pg_catalog.row_number() OVER (PARTITION BY r1."e"::text ORDER BY pg_catalog.hashint4extended(r1."id"::integer, %(p3)s::bigint), r1."id") AS "dp_place" FROM "w"."people" AS r1 WHERE r1."e"::text IS NOT NULL) AS r1 WHERE "dp_place" <= %(p4)s::bigint) AS r1 FULL JOIN (SELECT * FROM (SELECT r2."id", r2."uid", r2."i2", r2."i4", r2."i8", r2."n2", r2."n", r2."f4", r2."f8", r2."t", r2."c", r2."s", r2."b", r2."d", r2."ts", r2."tz", r2."free", r2."e", r2."j", r2."ta", r2."ia", r2."iv", r2."tod", pg_catalog.row_number() OVER (PARTITION BY r2."e"::text ORDER BY pg_catalog.hashint4extended(r2."id"::integer, %(p3)s::bigint), r2."id") AS "dp_place" FROM (SELECT * FROM (SELECT r2."id", r2."uid", r2."i2", r2."i4", r2."i8", r2."n2", r2."n", r2."f4", r2."f8", r2."t", r2."c", r2."s", r2."b", r2."d", r2."ts", r2."tz", r2."free", r2."e", r2."j", r2."ta", r2."ia", r2."iv", r2."tod", pg_catalog.row_number() OVER (PARTITION BY r2."uid" ORDER BY pg_catalog.hashint4extended(r2."id"::integer, %(p3)s::bigint), r2."id") AS "dp_place_of_unit" FROM "w"."visits" AS r2 WHERE r2."uid" IS NOT NULL) AS r2 WHERE "dp_place_of_unit" <= %(p5)s::bigint) AS r2 WHERE r2."e"::text IS NOT NULL) AS r2 WHERE "dp_place" <= %(p6)s::bigint) AS r2 ON (CASE WHEN pg_catalog.octet_length(r1."e"::text) <= %(p7)s::integer THEN r1."e"::text END = CASE WHEN pg_catalog.octet_length(r2."e"::text) <= %(p7)s::integer THEN r2."e"::text END) AND (pg_catalog.hashtextextended((CASE WHEN pg_catalog.octet_length(r1."e"::text) <= %(p7)s::integer THEN r1."e"::text END)::text, %(p8)s::bigint) = pg_catalog.hashtextextended((CASE WHEN pg_catalog.octet_length(r2."e"::text) <= %(p7)s::integer THEN r2."e"::text END)::text, %(p8)s::bigint))) WHERE CASE WHEN r1."e"::text IS NOT NULL AND r2."e"::text IS NOT NULL THEN TRUE ELSE FALSE END LIMIT ALL) AS j1 CROSS JOIN LATERAL (SELECT j1.c1 AS "e") AS r1 CROSS JOIN LATERAL (SELECT j1.c2 AS "e", j1.c3 AS "i4") AS r2) LIMIT ALL) r GROUP BY 1
--   p1 = 0
--   p2 = 100
--   p3 = random
--   p4 = 2
--   p5 = 5
--   p6 = 3
--   p7 = 4096
--   p8 = random
--   p9 = random
--   p10 = 2147483647
--   p11 = 391
-- => loss
-- epsilon 8 delta 1/2000
-- => residual
SELECT dp_b1.a1 AS "count", dp_b1.a2 AS "max" FROM pg_catalog.jsonb_to_recordset(($1)::pg_catalog.jsonb->'b1') AS dp_b1(a1 bigint, a2 integer)

-- case: labels above texts
SELECT k, count(*) FROM (SELECT e AS k FROM people UNION ALL SELECT lower(t) FROM people) q GROUP BY k
-- => plan
-- w.people, unit 2 row(s), partitions by random; keys k of private; cells 0
--   selection: epsilon 4 delta 1/2000, each epsilon 2 delta 3.383e-05
--   count(*): sensitivity 2, scale 1/2, epsilon 4 delta 0
-- => backend
SELECT (CASE WHEN pg_catalog.octet_length((r8."k")::text) <= 1024 THEN (r8."k")::text ELSE pg_catalog.left((r8."k")::text, 1024) END)::text, pg_catalog.count(*) FROM (SELECT r7."c1" AS "k" FROM (SELECT r2."k"::text AS "c1" FROM (SELECT r1."e"::text AS "k", r1."id" AS "dp_key1" FROM "w"."people" AS r1) AS r2 UNION ALL SELECT r4."lower" AS "c1" FROM (SELECT (pg_catalog.lower(((CASE WHEN pg_catalog.octet_length(r3."t") <= %(p1)s::integer THEN r3."t" ELSE pg_catalog.left(r3."t"::text, %(p1)s::integer) END))::varchar(1048576)::text))::varchar(1024)::text AS "lower", r3."id" AS "dp_key1" FROM "w"."people" AS r3) AS r4) AS r7) AS r8 GROUP BY 1, coalesce(pg_catalog.hashtextextended(((CASE WHEN pg_catalog.octet_length((r8."k")::text) <= 1024 THEN (r8."k")::text ELSE pg_catalog.left((r8."k")::text, 1024) END)::text)::text, %(p2)s::bigint), %(p2)s::bigint)
--   p1 = 1048576
--   p2 = random
-- => loss
-- epsilon 8 delta 1/2000
-- => residual
SELECT dp_b1.k1 AS "k", dp_b1.a1 AS "count" FROM pg_catalog.jsonb_to_recordset(($1)::pg_catalog.jsonb->'b1') AS dp_b1(k1 pg_catalog.text, a1 bigint)

-- case: texts above labels
SELECT k, count(*) FROM (SELECT t AS k, uid FROM orders UNION ALL SELECT e, uid FROM calls) q GROUP BY k
-- => plan
-- w.orders, w.calls, unit r8."dp_unit": rows 8, groups 2, per group 2; keys k of 6; cells 0
--   count(*): sensitivity 4, scale 1/2, epsilon 8 delta 0
-- => backend
SELECT k1, pg_catalog.sum(least(v0, %(p2)s::bigint)) FROM (SELECT * FROM (SELECT *, pg_catalog.row_number() OVER (PARTITION BY unit ORDER BY pg_catalog.hashint8extended(pg_catalog.hash_record_extended(ROW(g."unit", k1), %(p4)s::bigint), %(p4)s::bigint), k1) AS rank FROM (SELECT r8."dp_unit" AS unit, (r8."k")::text AS k1, pg_catalog.count(*) AS v0 FROM (SELECT r7."c1" AS "k", r7."c2" AS "uid", r7."dp_unit" AS "dp_unit" FROM (SELECT r2."k" AS "c1", r2."uid" AS "c2", r2."dp_unit" AS "dp_unit" FROM (SELECT r1."t" AS "k", r1."uid" AS "uid", r1."uid" AS "dp_unit" FROM "w"."orders" AS r1) AS r2 UNION ALL SELECT r4."e"::text AS "c1", r4."uid" AS "c2", r4."dp_unit" AS "dp_unit" FROM (SELECT r3."e"::text AS "e", r3."uid" AS "uid", r3."uid" AS "dp_unit" FROM "w"."calls" AS r3) AS r4) AS r7) AS r8 WHERE r8."dp_unit" IS NOT NULL AND (r8."k" = ANY(%(p3)s::text[]::text[]) OR r8."k" IS NULL) GROUP BY r8."dp_unit", 2) g) c WHERE rank <= %(p2)s::bigint) u GROUP BY 1
--   p1 = 8
--   p2 = 2
--   p3 = ['x', 'y', 'z', 'low', 'high']
--   p4 = random
-- => loss
-- epsilon 8 delta 0
-- => residual
SELECT dp_b1.k1 AS "k", dp_b1.a1 AS "count" FROM pg_catalog.jsonb_to_recordset(($1)::pg_catalog.jsonb->'b1') AS dp_b1(k1 pg_catalog.text, a1 bigint)

-- case: labels of a unit
SELECT sum(n), count(*) FILTER (WHERE n > 1) FROM (SELECT uid, count(DISTINCT e) AS n FROM orders GROUP BY uid) q
-- => plan
-- w.orders, unit 1 row(s), partitions by hash of r3."dp_unit", r3."dp_unit" not null; keys none; cells 0
--   sum: clamp 0 .. 6, grid 1, sensitivity 6 steps, scale 3/2, epsilon 4 delta 0
--   count(*): sensitivity 1, scale 1/4, epsilon 4 delta 0
-- => backend
SELECT pg_catalog.sum((pg_catalog.int8larger(pg_catalog.int8smaller(r3."n", %(p2)s::bigint), %(p1)s::bigint))::integer), pg_catalog.count(*) FILTER (WHERE (r3."n" > %(p3)s::bigint)) FROM (SELECT r2."unit" AS "uid", r2."a1" AS "n", r2."unit" AS "dp_unit" FROM (SELECT r1."uid" AS unit, least(pg_catalog.count(DISTINCT (r1."e"::text)::varchar(1024)), %(p2)s::bigint) AS a1 FROM "w"."orders" AS r1 WHERE r1."uid" IS NOT NULL GROUP BY r1."uid") AS r2) AS r3 WHERE r3."dp_unit" IS NOT NULL
--   p1 = 0
--   p2 = 6
--   p3 = 1
-- => loss
-- epsilon 8 delta 0
-- => residual
SELECT dp_b1.a1 AS "sum", dp_b1.a2 AS "count" FROM pg_catalog.jsonb_to_recordset(($1)::pg_catalog.jsonb->'b1') AS dp_b1(a1 numeric, a2 bigint)
