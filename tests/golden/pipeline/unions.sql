-- case: union with a constant float
SELECT sum(x) FROM (SELECT 2.5::float8 AS x FROM people UNION ALL SELECT n::float8 + 1 FROM people) q WHERE x < 5
-- => plan
-- w.people, unit 2 row(s), partitions by random; keys none; cells 0
--   sum: clamp -1.5 .. 5, grid 0.00001, sensitivity 1000000 steps, scale 125000, epsilon 8 delta 0
-- => backend
SELECT pg_catalog.sum((pg_catalog.numeric_larger(pg_catalog.numeric_smaller(r8."x", %(p3)s::numeric), %(p2)s::numeric) * %(p1)s::numeric)::integer) FROM (SELECT r7."c1" AS "x" FROM (SELECT r2."x" AS "c1" FROM (SELECT %(p4)s::numeric AS "x", r1."id" AS "dp_key1" FROM "w"."people" AS r1) AS r2 UNION ALL SELECT r4."?column?" AS "c1" FROM (SELECT ((pg_catalog.numeric_larger(pg_catalog.numeric_smaller(r3."n", %(p6)s::numeric), %(p5)s::numeric))::numeric + %(p7)s::numeric) AS "?column?", r3."id" AS "dp_key1" FROM "w"."people" AS r3) AS r4) AS r7) AS r8 WHERE (r8."x" < %(p3)s::numeric)
--   p1 = 100000
--   p2 = -1.5
--   p3 = 5
--   p4 = 2.5
--   p5 = -2.5
--   p6 = 7.5
--   p7 = 1
-- => loss
-- epsilon 8 delta 0
-- => residual
SELECT dp_b1.a1 AS "sum" FROM pg_catalog.jsonb_to_recordset(($1)::pg_catalog.jsonb->'b1') AS dp_b1(a1 double precision)
