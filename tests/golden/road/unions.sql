-- case: union with a constant float
SELECT sum(x) FROM (SELECT 2.5::float8 AS x FROM people UNION ALL SELECT n::float8 + 1 FROM people) q WHERE x < 5
-- => plan
-- w.people, unit 2 row(s), partitions by random; keys none; cells 0
--   sum: clamp -1.5 .. 8.5, grid 0.00001, sensitivity 1700000 steps, scale 212500, epsilon 8 delta 0
-- => backend
SELECT pg_catalog.sum(CASE WHEN r8."x" >= %(p5)s::numeric THEN %(p1)s::integer WHEN r8."x" > %(p4)s::numeric THEN (r8."x" * %(p3)s::numeric)::integer WHEN r8."x" <= %(p4)s::numeric THEN %(p2)s::integer END) FROM (SELECT r7."c1" AS "x" FROM (SELECT r2."x" AS "c1" FROM (SELECT %(p7)s::numeric AS "x", r1."id" AS "dp_key1" FROM "w"."people" AS r1) AS r2 UNION ALL SELECT r4."?column?" AS "c1" FROM (SELECT ((CASE WHEN r3."n" >= %(p9)s::numeric THEN %(p9)s::numeric WHEN r3."n" > %(p8)s::numeric THEN r3."n" WHEN r3."n" <= %(p8)s::numeric THEN %(p8)s::numeric END)::numeric + %(p10)s::numeric) AS "?column?", r3."id" AS "dp_key1" FROM "w"."people" AS r3) AS r4) AS r7) AS r8 WHERE (r8."x" < %(p6)s::numeric)
--   p1 = 850000
--   p2 = -150000
--   p3 = 100000
--   p4 = -1.5
--   p5 = 8.5
--   p6 = 5
--   p7 = 2.5
--   p8 = -2.5
--   p9 = 7.5
--   p10 = 1
-- => loss
-- epsilon 8 delta 0
-- => residual
SELECT dp_b1.a1 AS "sum" FROM pg_catalog.jsonb_to_recordset(($1)::pg_catalog.jsonb->'b1') AS dp_b1(a1 double precision)
