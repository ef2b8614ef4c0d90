-- case: arithmetic
SELECT sum(i4 * n2 - 2.5), avg((i2 + i4) * 3) FROM people
-- => plan
-- w.people, unit 1 row(s), partitions by hash of r1."id"; keys none; cells 103
--   sum: clamp -2.5 .. 17497.5, grid 0.01, sensitivity 1749750 steps, scale 874875/2, epsilon 4 delta 0
--   avg: -1500 .. 33000 steps of 0.01, fill 15750, 103 partitions, gate 839 units, scale 5, epsilon 4 delta 1/2000, each epsilon 19/5 delta 0.0005
-- => backend
SELECT x4, pg_catalog.sum(pg_catalog.int8larger(pg_catalog.int8smaller(((((pg_catalog.int4larger(pg_catalog.int4smaller(x1, %(p4)s::integer), %(p3)s::integer))::integer)::bigint * (x2)::bigint) - (%(p7)s::bigint * %(p8)s::bigint)), %(p2)s::bigint), %(p1)s::bigint)), pg_catalog.count(x3), pg_catalog.sum(x3) FROM (SELECT r1."i4" AS x1, pg_catalog.int4larger((pg_catalog.numeric_smaller(r1."n2" * %(p5)s::numeric, %(p6)s::numeric))::integer, %(p3)s::integer) AS x2, pg_catalog.round(pg_catalog.numeric_larger(pg_catalog.numeric_smaller((((pg_catalog.int4larger(pg_catalog.int4smaller(r1."i2", %(p10)s::integer), %(p9)s::integer))::numeric + (pg_catalog.int4larger(pg_catalog.int4smaller(r1."i4", %(p4)s::integer), %(p3)s::integer))::numeric) * %(p11)s::numeric), %(p13)s::numeric), %(p12)s::numeric) / %(p11)s::numeric)::bigint AS x3, pg_catalog.mod(((pg_catalog.hashint4extended(r1."id"::integer, %(p14)s::bigint)) & %(p15)s::bigint)::integer, %(p16)s::integer) AS x4 FROM "w"."people" AS r1 LIMIT ALL) r GROUP BY 1
--   p1 = -250
--   p2 = 1749750
--   p3 = 0
--   p4 = 100
--   p5 = 100
--   p6 = 17500
--   p7 = 5
--   p8 = 50
--   p9 = -5
--   p10 = 10
--   p11 = 3
--   p12 = -15
--   p13 = 330
--   p14 = random
--   p15 = 2147483647
--   p16 = 103
-- => loss
-- epsilon 8 delta 1/2000
-- => residual
SELECT dp_b1.a1 AS "sum", dp_b1.a2 AS "avg" FROM pg_catalog.jsonb_to_recordset(($1)::pg_catalog.jsonb->'b1') AS dp_b1(a1 numeric, a2 numeric)

-- case: division by constants
SELECT sum(i4 / 7), sum(n2 / 4), sum(i2 % 3), avg(f8 / -3) FROM visits
-- => plan
-- w.visits, unit r1."uid": rows 5, groups None, per group None; keys none; cells 313
--   sum: clamp 0 .. 14, grid 1, sensitivity 70 steps, scale 35, epsilon 2 delta 0
--   sum: clamp 0 .. 43.75, grid 0.00001, sensitivity 21875000 steps, scale 10937500, epsilon 2 delta 0
--   sum: clamp -2 .. 2, grid 1, sensitivity 10 steps, scale 5, epsilon 2 delta 0
--   avg: -3333333 .. 3333333 steps of 0.00001, fill 0, 313 partitions, gate 2534 units, scale 10, epsilon 2 delta 1/4000, each epsilon 19/10 delta 0.00025
-- => backend
SELECT cell, pg_catalog.sum(CASE WHEN v0 IS NOT NULL THEN least(greatest(v0, %(p6)s::bigint * %(p7)s::bigint), %(p6)s::bigint * %(p8)s::bigint) END), pg_catalog.sum(CASE WHEN v1 IS NOT NULL THEN least(greatest(v1, %(p6)s::bigint * %(p7)s::bigint), %(p6)s::bigint * %(p13)s::bigint) END), pg_catalog.sum(CASE WHEN v2 IS NOT NULL THEN least(greatest(v2, %(p6)s::bigint * %(p19)s::bigint), %(p6)s::bigint * %(p20)s::bigint) END), pg_catalog.sum(v3), pg_catalog.sum(v4), pg_catalog.count(v4) FROM (SELECT r1."uid" AS unit, pg_catalog.mod(((pg_catalog.hashint8extended((r1."uid" # ((r1."uid" >> 32) * (%(p26)s::bigint >> 33))), %(p26)s::bigint)) & %(p27)s::bigint)::integer, %(p28)s::integer) AS cell, pg_catalog.sum(pg_catalog.round(pg_catalog.numeric_larger(pg_catalog.numeric_smaller(pg_catalog.div((pg_catalog.int4larger(pg_catalog.int4smaller(r1."i4", %(p2)s::integer), %(p1)s::integer))::numeric, %(p3)s::numeric), %(p5)s::numeric), %(p4)s::numeric))::bigint) AS v0, pg_catalog.sum(pg_catalog.round(pg_catalog.numeric_larger(pg_catalog.numeric_smaller(((pg_catalog.numeric_larger(pg_catalog.numeric_smaller(r1."n2", %(p9)s::numeric), %(p4)s::numeric))::numeric / %(p10)s::numeric), %(p11)s::numeric), %(p4)s::numeric) * %(p12)s::numeric)::bigint) AS v1, pg_catalog.sum(pg_catalog.round(pg_catalog.numeric_larger(pg_catalog.numeric_smaller(pg_catalog.mod((pg_catalog.int4larger(pg_catalog.int4smaller(r1."i2", %(p15)s::integer), %(p14)s::integer))::numeric, %(p16)s::numeric), %(p18)s::numeric), %(p17)s::numeric))::bigint) AS v2, pg_catalog.count(pg_catalog.round(pg_catalog.numeric_larger(pg_catalog.numeric_smaller(((pg_catalog.float8larger(pg_catalog.float8smaller(r1."f8", %(p22)s::double precision), %(p21)s::double precision))::numeric / %(p23)s::numeric), %(p25)s::numeric), %(p24)s::numeric) * %(p12)s::numeric)::bigint) AS v3, pg_catalog.sum(pg_catalog.round(pg_catalog.numeric_larger(pg_catalog.numeric_smaller(((pg_catalog.float8larger(pg_catalog.float8smaller(r1."f8", %(p22)s::double precision), %(p21)s::double precision))::numeric / %(p23)s::numeric), %(p25)s::numeric), %(p24)s::numeric) * %(p12)s::numeric)::bigint) AS v4 FROM "w"."visits" AS r1 WHERE r1."uid" IS NOT NULL GROUP BY r1."uid") u GROUP BY 1
--   p1 = 0
--   p2 = 100
--   p3 = 7
--   p4 = 0
--   p5 = 14
--   p6 = 5
--   p7 = 0
--   p8 = 14
--   p9 = 175
--   p10 = 4
--   p11 = 43.75
--   p12 = 100000
--   p13 = 4375000
--   p14 = -5
--   p15 = 10
--   p16 = 3
--   p17 = -2
--   p18 = 2
--   p19 = -2
--   p20 = 2
--   p21 = -100
--   p22 = 100
--   p23 = -3
--   p24 = -33.33333
--   p25 = 33.33333
--   p26 = random
--   p27 = 2147483647
--   p28 = 313
-- => loss
-- epsilon 8 delta 1/4000
-- => residual
SELECT dp_b1.a1 AS "sum", dp_b1.a2 AS "sum", dp_b1.a3 AS "sum", dp_b1.a4 AS "avg" FROM pg_catalog.jsonb_to_recordset(($1)::pg_catalog.jsonb->'b1') AS dp_b1(a1 bigint, a2 numeric, a3 bigint, a4 double precision)

-- case: rounding
SELECT sum(round(n2, 1)), sum(floor(f8)), sum(ceil(n)), sum(trunc(f4, 2)), sum(abs(i2)), sum(-i2), sum(sign(n)) FROM people
-- => plan
-- w.people, unit 1 row(s), partitions by hash of r1."id"; keys none; cells 0
--   sum: clamp 0 .. 175, grid 0.1, sensitivity 1750 steps, scale 6125/4, epsilon 8/7 delta 0
--   sum: clamp -100 .. 100, grid 1, sensitivity 100 steps, scale 175/2, epsilon 8/7 delta 0
--   sum: clamp -3 .. 8, grid 1, sensitivity 8 steps, scale 7, epsilon 8/7 delta 0
--   sum: clamp 0 .. 1, grid 0.01, sensitivity 100 steps, scale 175/2, epsilon 8/7 delta 0
--   sum: clamp 0 .. 10, grid 1, sensitivity 10 steps, scale 35/4, epsilon 8/7 delta 0
--   sum: clamp -10 .. 5, grid 1, sensitivity 10 steps, scale 35/4, epsilon 8/7 delta 0
--   sum: clamp -1 .. 1, grid 1, sensitivity 1 steps, scale 7/8, epsilon 8/7 delta 0
-- => backend
SELECT pg_catalog.sum(x1), pg_catalog.sum(x2), pg_catalog.sum(x3), pg_catalog.sum(x4), pg_catalog.sum(x5), pg_catalog.sum(x6), pg_catalog.sum(x7) FROM (SELECT pg_catalog.round(pg_catalog.numeric_larger(pg_catalog.numeric_smaller(pg_catalog.round((pg_catalog.numeric_larger(pg_catalog.numeric_smaller(r1."n2", %(p2)s::numeric), %(p1)s::numeric))::numeric, 1), %(p2)s::numeric), %(p1)s::numeric) * %(p3)s::numeric)::bigint AS x1, pg_catalog.round(pg_catalog.numeric_larger(pg_catalog.numeric_smaller(pg_catalog.floor((pg_catalog.float8larger(pg_catalog.float8smaller(r1."f8", %(p5)s::double precision), %(p4)s::double precision))::numeric), %(p7)s::numeric), %(p6)s::numeric))::bigint AS x2, pg_catalog.round(pg_catalog.numeric_larger(pg_catalog.numeric_smaller(pg_catalog.ceil((pg_catalog.numeric_larger(pg_catalog.numeric_smaller(r1."n", %(p9)s::numeric), %(p8)s::numeric))::numeric), %(p11)s::numeric), %(p10)s::numeric))::bigint AS x3, pg_catalog.round(pg_catalog.numeric_larger(pg_catalog.numeric_smaller(pg_catalog.trunc((pg_catalog.float8larger(pg_catalog.float8smaller(r1."f4", %(p13)s::double precision), %(p12)s::double precision))::numeric, 2), %(p14)s::numeric), %(p1)s::numeric) * %(p7)s::numeric)::bigint AS x4, pg_catalog.round(pg_catalog.numeric_larger(pg_catalog.numeric_smaller(pg_catalog.abs((pg_catalog.int4larger(pg_catalog.int4smaller(r1."i2", %(p16)s::integer), %(p15)s::integer))::numeric), %(p3)s::numeric), %(p1)s::numeric))::bigint AS x5, pg_catalog.round(pg_catalog.numeric_larger(pg_catalog.numeric_smaller((- (pg_catalog.int4larger(pg_catalog.int4smaller(r1."i2", %(p16)s::integer), %(p15)s::integer))::numeric), %(p18)s::numeric), %(p17)s::numeric))::bigint AS x6, pg_catalog.round(pg_catalog.numeric_larger(pg_catalog.numeric_smaller(pg_catalog.sign((pg_catalog.numeric_larger(pg_catalog.numeric_smaller(r1."n", %(p9)s::numeric), %(p8)s::numeric))::numeric), %(p14)s::numeric), %(p19)s::numeric))::bigint AS x7 FROM "w"."people" AS r1 LIMIT ALL) r
--   p1 = 0
--   p2 = 175
--   p3 = 10
--   p4 = -100
--   p5 = 100
--   p6 = -100
--   p7 = 100
--   p8 = -2.5
--   p9 = 7.5
--   p10 = -3
--   p11 = 8
--   p12 = 0
--   p13 = 1
--   p14 = 1
--   p15 = -5
--   p16 = 10
--   p17 = -10
--   p18 = 5
--   p19 = -1
-- => loss
-- epsilon 8 delta 0
-- => residual
SELECT dp_b1.a1 AS "sum", dp_b1.a2 AS "sum", dp_b1.a3 AS "sum", dp_b1.a4 AS "sum", dp_b1.a5 AS "sum", dp_b1.a6 AS "sum", dp_b1.a7 AS "sum" FROM pg_catalog.jsonb_to_recordset(($1)::pg_catalog.jsonb->'b1') AS dp_b1(a1 numeric, a2 double precision, a3 numeric, a4 double precision, a5 bigint, a6 bigint, a7 numeric)

-- case: case
SELECT sum(CASE WHEN b THEN n2 WHEN i4 > 50 THEN 5 END), avg(CASE t WHEN 'x' THEN 1 ELSE 0 END) FROM orders
-- => plan
-- w.orders, unit r1."uid": rows 6, groups None, per group None; keys none; cells 91
--   sum: clamp 0 .. 175, grid 0.01, sensitivity 105000 steps, scale 26250, epsilon 4 delta 0
--   avg: 0 .. 10000 steps of 0.0001, fill 5000, 91 partitions, gate 743 units, scale 5, epsilon 4 delta 1/2000, each epsilon 19/5 delta 0.0005
-- => backend
SELECT cell, pg_catalog.sum(CASE WHEN v0 IS NOT NULL THEN least(greatest(v0, %(p6)s::bigint * %(p7)s::bigint), %(p6)s::bigint * %(p8)s::bigint) END), pg_catalog.sum(v1), pg_catalog.sum(v2), pg_catalog.count(v2) FROM (SELECT r1."uid" AS unit, pg_catalog.mod(((pg_catalog.hashint4extended(r1."uid"::integer, %(p11)s::bigint)) & %(p12)s::bigint)::integer, %(p13)s::integer) AS cell, pg_catalog.sum(pg_catalog.round(pg_catalog.numeric_larger(pg_catalog.numeric_smaller(CASE WHEN r1."b" THEN (pg_catalog.numeric_larger(pg_catalog.numeric_smaller(r1."n2", %(p2)s::numeric), %(p1)s::numeric))::numeric WHEN (r1."i4" > %(p3)s::bigint) THEN %(p4)s::numeric ELSE NULL::numeric END, %(p2)s::numeric), %(p1)s::numeric) * %(p5)s::numeric)::bigint) AS v0, pg_catalog.count(pg_catalog.round(pg_catalog.numeric_larger(pg_catalog.numeric_smaller(CASE WHEN (r1."t" = %(p9)s::text) THEN %(p10)s::numeric ELSE %(p1)s::numeric END, %(p10)s::numeric), %(p1)s::numeric))::bigint) AS v1, pg_catalog.sum(pg_catalog.round(pg_catalog.numeric_larger(pg_catalog.numeric_smaller(CASE WHEN (r1."t" = %(p9)s::text) THEN %(p10)s::numeric ELSE %(p1)s::numeric END, %(p10)s::numeric), %(p1)s::numeric))::bigint) AS v2 FROM "w"."orders" AS r1 WHERE r1."uid" IS NOT NULL GROUP BY r1."uid") u GROUP BY 1
--   p1 = 0
--   p2 = 175
--   p3 = 50
--   p4 = 5
--   p5 = 100
--   p6 = 6
--   p7 = 0
--   p8 = 17500
--   p9 = x
--   p10 = 1
--   p11 = random
--   p12 = 2147483647
--   p13 = 91
-- => loss
-- epsilon 8 delta 1/2000
-- => residual
SELECT dp_b1.a1 AS "sum", dp_b1.a2 AS "avg" FROM pg_catalog.jsonb_to_recordset(($1)::pg_catalog.jsonb->'b1') AS dp_b1(a1 numeric, a2 numeric)

-- case: null handling
SELECT sum(coalesce(i4, 7)), sum(nullif(i4, 5)), sum(greatest(i2, 3)), min(least(i2, i4)) FROM people
-- => plan
-- w.people, unit 1 row(s), partitions by hash of r1."id"; keys none; cells 93
--   sum: clamp 0 .. 100, grid 1, sensitivity 100 steps, scale 50, epsilon 2 delta 0
--   sum: clamp 0 .. 100, grid 1, sensitivity 100 steps, scale 50, epsilon 2 delta 0
--   sum: clamp 3 .. 10, grid 1, sensitivity 10 steps, scale 5, epsilon 2 delta 0
--   min: -5 .. 100 steps of 1, fill 100, 93 partitions, gate 774 units, scale 10, epsilon 2 delta 1/4000, each epsilon 19/10 delta 0.00025
-- => backend
SELECT x5, pg_catalog.sum(x1), pg_catalog.sum(x2), pg_catalog.sum(x3), pg_catalog.min(x4), pg_catalog.count(x4) FROM (SELECT pg_catalog.round(pg_catalog.numeric_larger(pg_catalog.numeric_smaller(coalesce((pg_catalog.int4larger(pg_catalog.int4smaller(r1."i4", %(p2)s::integer), %(p1)s::integer))::numeric, %(p3)s::numeric), %(p5)s::numeric), %(p4)s::numeric))::bigint AS x1, pg_catalog.round(pg_catalog.numeric_larger(pg_catalog.numeric_smaller(nullif((pg_catalog.int4larger(pg_catalog.int4smaller(r1."i4", %(p2)s::integer), %(p1)s::integer))::numeric, %(p6)s::numeric), %(p5)s::numeric), %(p4)s::numeric))::bigint AS x2, pg_catalog.round(pg_catalog.numeric_larger(pg_catalog.numeric_smaller(greatest((pg_catalog.int4larger(pg_catalog.int4smaller(r1."i2", %(p8)s::integer), %(p7)s::integer))::numeric, %(p9)s::numeric), %(p10)s::numeric), %(p9)s::numeric))::bigint AS x3, pg_catalog.round(pg_catalog.numeric_larger(pg_catalog.numeric_smaller(least((pg_catalog.int4larger(pg_catalog.int4smaller(r1."i2", %(p8)s::integer), %(p7)s::integer))::numeric, (pg_catalog.int4larger(pg_catalog.int4smaller(r1."i4", %(p2)s::integer), %(p1)s::integer))::numeric), %(p5)s::numeric), %(p11)s::numeric))::bigint AS x4, pg_catalog.mod(((pg_catalog.hashint4extended(r1."id"::integer, %(p12)s::bigint)) & %(p13)s::bigint)::integer, %(p14)s::integer) AS x5 FROM "w"."people" AS r1 LIMIT ALL) r GROUP BY 1
--   p1 = 0
--   p2 = 100
--   p3 = 7
--   p4 = 0
--   p5 = 100
--   p6 = 5
--   p7 = -5
--   p8 = 10
--   p9 = 3
--   p10 = 10
--   p11 = -5
--   p12 = random
--   p13 = 2147483647
--   p14 = 93
-- => loss
-- epsilon 8 delta 1/4000
-- => residual
SELECT dp_b1.a1 AS "sum", dp_b1.a2 AS "sum", dp_b1.a3 AS "sum", dp_b1.a4 AS "min" FROM pg_catalog.jsonb_to_recordset(($1)::pg_catalog.jsonb->'b1') AS dp_b1(a1 bigint, a2 bigint, a3 bigint, a4 integer)

-- case: casts
SELECT sum(b::int), sum(i2::numeric), sum(f8::int), max(n2::float8) FROM people
-- => plan
-- w.people, unit 1 row(s), partitions by hash of r1."id"; keys none; cells 195
--   sum: clamp 0 .. 1, grid 1, sensitivity 1 steps, scale 1/2, epsilon 2 delta 0
--   sum: clamp -5 .. 10, grid 1, sensitivity 10 steps, scale 5, epsilon 2 delta 0
--   sum: clamp -100 .. 100, grid 1, sensitivity 100 steps, scale 50, epsilon 2 delta 0
--   max: 0 .. 17500 steps of 0.01, fill 0, 195 partitions, gate 1590 units, scale 10, epsilon 2 delta 1/4000, each epsilon 19/10 delta 0.00025
-- => backend
SELECT x5, pg_catalog.sum(x1), pg_catalog.sum(x2), pg_catalog.sum(x3), pg_catalog.max(x4), pg_catalog.count(x4) FROM (SELECT pg_catalog.round(pg_catalog.numeric_larger(pg_catalog.numeric_smaller((r1."b")::integer::numeric, %(p2)s::numeric), %(p1)s::numeric))::bigint AS x1, pg_catalog.round(pg_catalog.numeric_larger(pg_catalog.numeric_smaller((pg_catalog.int4larger(pg_catalog.int4smaller(r1."i2", %(p4)s::integer), %(p3)s::integer))::numeric, %(p6)s::numeric), %(p5)s::numeric))::bigint AS x2, pg_catalog.round(pg_catalog.numeric_larger(pg_catalog.numeric_smaller((pg_catalog.round((pg_catalog.float8larger(pg_catalog.float8smaller(r1."f8", %(p8)s::double precision), %(p7)s::double precision))::numeric, 0) - CASE pg_catalog.mod((pg_catalog.float8larger(pg_catalog.float8smaller(r1."f8", %(p8)s::double precision), %(p7)s::double precision))::numeric, 2) WHEN 0.5 THEN 1 WHEN -0.5 THEN -1 ELSE 0 END), %(p10)s::numeric), %(p9)s::numeric))::bigint AS x3, pg_catalog.round(pg_catalog.numeric_larger(pg_catalog.numeric_smaller((pg_catalog.numeric_larger(pg_catalog.numeric_smaller(r1."n2", %(p11)s::numeric), %(p1)s::numeric))::numeric, %(p11)s::numeric), %(p1)s::numeric) * %(p10)s::numeric)::bigint AS x4, pg_catalog.mod(((pg_catalog.hashint4extended(r1."id"::integer, %(p12)s::bigint)) & %(p13)s::bigint)::integer, %(p14)s::integer) AS x5 FROM "w"."people" AS r1 LIMIT ALL) r GROUP BY 1
--   p1 = 0
--   p2 = 1
--   p3 = -5
--   p4 = 10
--   p5 = -5
--   p6 = 10
--   p7 = -100
--   p8 = 100
--   p9 = -100
--   p10 = 100
--   p11 = 175
--   p12 = random
--   p13 = 2147483647
--   p14 = 195
-- => loss
-- epsilon 8 delta 1/4000
-- => residual
SELECT dp_b1.a1 AS "sum", dp_b1.a2 AS "sum", dp_b1.a3 AS "sum", dp_b1.a4 AS "max" FROM pg_catalog.jsonb_to_recordset(($1)::pg_catalog.jsonb->'b1') AS dp_b1(a1 bigint, a2 numeric, a3 bigint, a4 double precision)

-- case: extract
SELECT avg(extract(year FROM d)), sum(extract(month FROM ts)), max(extract(epoch FROM tz)), min(extract(hour FROM ts)) FROM people
-- => plan
-- w.people, unit 1 row(s), partitions by hash of r1."id"; keys none; cells 267
--   avg: 1998000 .. 2021000 steps of 0.001, fill 2009500, 201 partitions, gate 1638 units, scale 10, epsilon 2 delta 1/4000, each epsilon 19/10 delta 0.00025
--   sum: clamp 1 .. 12, grid 1, sensitivity 12 steps, scale 6, epsilon 2 delta 0
--   max: 946685 .. 1577836 steps of 1000, fill 946685, 267 partitions, gate 2166 units, scale 10, epsilon 2 delta 1/4000, each epsilon 19/10 delta 0.00025
--   min: 0 .. 23 steps of 1, fill 23, 63 partitions, gate 534 units, scale 10, epsilon 2 delta 1/4000, each epsilon 19/10 delta 0.00025
-- => backend
SELECT x5, pg_catalog.count(x1), pg_catalog.sum(x1), pg_catalog.sum(x2), pg_catalog.max(x3), pg_catalog.count(x3), pg_catalog.min(x4), pg_catalog.count(x4) FROM (SELECT pg_catalog.round(pg_catalog.numeric_larger(pg_catalog.numeric_smaller((pg_catalog.numeric_larger(pg_catalog.numeric_smaller(extract(year FROM r1."d"), %(p2)s::numeric), %(p1)s::numeric))::numeric, %(p2)s::numeric), %(p1)s::numeric))::bigint AS x1, pg_catalog.round(pg_catalog.numeric_larger(pg_catalog.numeric_smaller((pg_catalog.numeric_larger(pg_catalog.numeric_smaller(extract(month FROM r1."ts"), %(p4)s::numeric), %(p3)s::numeric))::numeric, %(p4)s::numeric), %(p3)s::numeric))::bigint AS x2, pg_catalog.round(pg_catalog.numeric_larger(pg_catalog.numeric_smaller((pg_catalog.numeric_larger(pg_catalog.numeric_smaller(extract(epoch FROM r1."tz"), %(p6)s::numeric), %(p5)s::numeric))::numeric, %(p8)s::numeric), %(p7)s::numeric) / %(p9)s::numeric)::bigint AS x3, pg_catalog.round(pg_catalog.numeric_larger(pg_catalog.numeric_smaller((pg_catalog.numeric_larger(pg_catalog.numeric_smaller(extract(hour FROM r1."ts"), %(p11)s::numeric), %(p10)s::numeric))::numeric, %(p11)s::numeric), %(p10)s::numeric))::bigint AS x4, pg_catalog.mod(((pg_catalog.hashint4extended(r1."id"::integer, %(p12)s::bigint)) & %(p13)s::bigint)::integer, %(p14)s::integer) AS x5 FROM "w"."people" AS r1 LIMIT ALL) r GROUP BY 1
--   p1 = 1998
--   p2 = 2021
--   p3 = 1
--   p4 = 12
--   p5 = 946684800
--   p6 = 1577836800
--   p7 = 946685000
--   p8 = 1577836000
--   p9 = 1000
--   p10 = 0
--   p11 = 23
--   p12 = random
--   p13 = 2147483647
--   p14 = 267
-- => loss
-- epsilon 8 delta 3/4000
-- => residual
SELECT dp_b1.a1 AS "avg", dp_b1.a2 AS "sum", dp_b1.a3 AS "max", dp_b1.a4 AS "min" FROM pg_catalog.jsonb_to_recordset(($1)::pg_catalog.jsonb->'b1') AS dp_b1(a1 numeric, a2 numeric, a3 numeric, a4 numeric)

-- case: constants
SELECT sum(5), avg(0.25), count(1), count(NULL) FROM visits
-- => plan
-- w.visits, unit r1."uid": rows 5, groups None, per group None; keys none; cells 17
--   sum: clamp 5 .. 5, grid 5, sensitivity 5 steps, scale 5/2, epsilon 2 delta 0
--   avg: 1 .. 1 steps of 0.25, fill 1, 17 partitions, gate 166 units, scale 10, epsilon 2 delta 1/4000, each epsilon 19/10 delta 0.00025
--   count(*): sensitivity 5, scale 5/2, epsilon 2 delta 0
--   count: sensitivity 5, scale 5/2, epsilon 2 delta 0
-- => backend
SELECT cell, pg_catalog.sum(CASE WHEN v0 IS NOT NULL THEN least(greatest(v0, %(p2)s::bigint * %(p3)s::bigint), %(p2)s::bigint * %(p4)s::bigint) END), pg_catalog.sum(v1), pg_catalog.sum(v2), pg_catalog.count(v2), pg_catalog.sum(least(v3, %(p2)s::bigint)), pg_catalog.sum(least(v4, %(p2)s::bigint)) FROM (SELECT r1."uid" AS unit, pg_catalog.mod(((pg_catalog.hashint8extended((r1."uid" # ((r1."uid" >> 32) * (%(p7)s::bigint >> 33))), %(p7)s::bigint)) & %(p8)s::bigint)::integer, %(p9)s::integer) AS cell, pg_catalog.sum(pg_catalog.round(pg_catalog.numeric_larger(pg_catalog.numeric_smaller(%(p1)s::numeric, %(p1)s::numeric), %(p1)s::numeric) / %(p1)s::numeric)::bigint) AS v0, pg_catalog.count(pg_catalog.round(pg_catalog.numeric_larger(pg_catalog.numeric_smaller(%(p5)s::numeric, %(p5)s::numeric), %(p5)s::numeric) * %(p6)s::numeric)::bigint) AS v1, pg_catalog.sum(pg_catalog.round(pg_catalog.numeric_larger(pg_catalog.numeric_smaller(%(p5)s::numeric, %(p5)s::numeric), %(p5)s::numeric) * %(p6)s::numeric)::bigint) AS v2, pg_catalog.count(*) AS v3, pg_catalog.count(NULL::text) AS v4 FROM "w"."visits" AS r1 WHERE r1."uid" IS NOT NULL GROUP BY r1."uid") u GROUP BY 1
--   p1 = 5
--   p2 = 5
--   p3 = 0
--   p4 = 1
--   p5 = 0.25
--   p6 = 4
--   p7 = random
--   p8 = 2147483647
--   p9 = 17
-- => loss
-- epsilon 8 delta 1/4000
-- => residual
SELECT dp_b1.a1 AS "sum", dp_b1.a2 AS "avg", dp_b1.a3 AS "count", dp_b1.a4 AS "count" FROM pg_catalog.jsonb_to_recordset(($1)::pg_catalog.jsonb->'b1') AS dp_b1(a1 bigint, a2 numeric, a3 bigint, a4 bigint)

-- case: filter
SELECT count(*) FILTER (WHERE b), sum(n2) FILTER (WHERE t = 'x' OR t IS NULL), avg(n2) FILTER (WHERE NOT b) FROM notes
-- => plan
-- w.notes, unit r1."uid": rows 4, groups None, per group None; keys none; cells 145
--   count(*): sensitivity 4, scale 3/2, epsilon 8/3 delta 0
--   sum: clamp 0 .. 175, grid 0.01, sensitivity 70000 steps, scale 26250, epsilon 8/3 delta 0
--   avg: 0 .. 17500 steps of 0.01, fill 8750, 145 partitions, gate 1182 units, scale 15/2, epsilon 8/3 delta 1/3000, each epsilon 38/15 delta 0.0003333
-- => backend
SELECT cell, pg_catalog.sum(least(v0, %(p1)s::bigint)), pg_catalog.sum(CASE WHEN v1 IS NOT NULL THEN least(greatest(v1, %(p1)s::bigint * %(p6)s::bigint), %(p1)s::bigint * %(p7)s::bigint) END), pg_catalog.sum(v2), pg_catalog.sum(v3), pg_catalog.count(v3) FROM (SELECT r1."uid" AS unit, pg_catalog.mod(((pg_catalog.hashtextextended(r1."uid"::text, %(p8)s::bigint)) & %(p9)s::bigint)::integer, %(p10)s::integer) AS cell, pg_catalog.count(*) FILTER (WHERE r1."b") AS v0, pg_catalog.sum(pg_catalog.int4larger((pg_catalog.numeric_smaller(r1."n2" * %(p3)s::numeric, %(p4)s::numeric))::integer, %(p5)s::integer)) FILTER (WHERE ((r1."t" = %(p2)s::text) OR (r1."t" IS NULL))) AS v1, pg_catalog.count(r1."n2") FILTER (WHERE (NOT r1."b")) AS v2, pg_catalog.sum(pg_catalog.int4larger((pg_catalog.numeric_smaller(r1."n2" * %(p3)s::numeric, %(p4)s::numeric))::integer, %(p5)s::integer)) FILTER (WHERE (NOT r1."b")) AS v3 FROM "w"."notes" AS r1 WHERE pg_catalog.octet_length(r1."uid") <= %(p11)s::integer GROUP BY r1."uid") u GROUP BY 1
--   p1 = 4
--   p2 = x
--   p3 = 100
--   p4 = 17500
--   p5 = 0
--   p6 = 0
--   p7 = 17500
--   p8 = random
--   p9 = 2147483647
--   p10 = 145
--   p11 = 4096
-- => loss
-- epsilon 8 delta 1/3000
-- => residual
SELECT dp_b1.a1 AS "count", dp_b1.a2 AS "sum", dp_b1.a3 AS "avg" FROM pg_catalog.jsonb_to_recordset(($1)::pg_catalog.jsonb->'b1') AS dp_b1(a1 bigint, a2 numeric, a3 numeric)

-- case: text conditions
SELECT count(*) FROM people WHERE s LIKE 'a%' AND lower(s) = 'abc' AND length(s) < 5 AND left(s, 2) <> 'zz' AND substr(s, 1, 2) IN ('a', 'b') AND s NOT ILIKE '_b%' AND starts_with(s, 'q') AND position('x' in s) > 0 AND trim(s) > ''
-- => plan
-- w.people, unit 1 row(s), partitions by hash of r1."id"; keys none; cells 0
--   count(*): sensitivity 1, scale 1/8, epsilon 8 delta 0
-- => backend
SELECT pg_catalog.count(*) FROM "w"."people" AS r1 WHERE (r1."s" LIKE %(p1)s::text) AND (pg_catalog.lower((r1."s")::varchar(1048576)::text) = %(p2)s::text) AND ((pg_catalog.length(r1."s"::text))::numeric < %(p3)s::numeric) AND (pg_catalog.left(r1."s"::text, %(p4)s::integer) <> %(p5)s::text) AND (pg_catalog.substr(r1."s"::text, %(p6)s::integer, %(p4)s::integer) IN (%(p7)s::text, %(p8)s::text)) AND (NOT ((r1."s")::varchar(1048576) ILIKE %(p9)s::text)) AND pg_catalog.starts_with(r1."s"::text, %(p10)s::text) AND ((pg_catalog.strpos(r1."s"::text, %(p11)s::text))::numeric > %(p12)s::numeric) AND ((pg_catalog.btrim((r1."s")::varchar(1048576)::text) COLLATE pg_catalog."C") > (%(p13)s::text COLLATE pg_catalog."C"))
--   p1 = a%
--   p2 = abc
--   p3 = 5
--   p4 = 2
--   p5 = zz
--   p6 = 1
--   p7 = a
--   p8 = b
--   p9 = _b%
--   p10 = q
--   p11 = x
--   p12 = 0
--   p13 = 
-- => loss
-- epsilon 8 delta 0
-- => residual
SELECT dp_b1.a1 AS "count" FROM pg_catalog.jsonb_to_recordset(($1)::pg_catalog.jsonb->'b1') AS dp_b1(a1 bigint)

-- case: number conditions
SELECT count(*) FROM people WHERE i2 BETWEEN 1 AND 3 AND i4 NOT IN (1, 2) AND n2 < 12.5 AND f4 >= 0.5 AND f8 <> 1e-3 AND i8 = 3000000000 AND i4 > 17.5 AND free IS NOT NULL
-- => plan
-- w.people, unit 1 row(s), partitions by hash of r1."id"; keys none; cells 0
--   count(*): sensitivity 1, scale 1/8, epsilon 8 delta 0
-- => backend
SELECT pg_catalog.count(*) FROM "w"."people" AS r1 WHERE (r1."i2" >= %(p1)s::bigint) AND (r1."i2" <= %(p2)s::bigint) AND (NOT (r1."i4" IN (%(p1)s::bigint, %(p3)s::bigint))) AND (r1."n2" < %(p4)s::numeric) AND (r1."f4" >= %(p5)s::double precision) AND (r1."f8" <> %(p6)s::double precision) AND (r1."i8" = %(p7)s::bigint) AND ((r1."i4")::numeric > %(p8)s::numeric) AND (NOT (r1."free" IS NULL))
--   p1 = 1
--   p2 = 3
--   p3 = 2
--   p4 = 12.5
--   p5 = 0.5
--   p6 = 0.001
--   p7 = 3000000000
--   p8 = 17.5
-- => loss
-- epsilon 8 delta 0
-- => residual
SELECT dp_b1.a1 AS "count" FROM pg_catalog.jsonb_to_recordset(($1)::pg_catalog.jsonb->'b1') AS dp_b1(a1 bigint)

-- case: time conditions
SELECT count(*) FROM people WHERE d > '2010-01-01' AND ts < timestamp '2015-01-01 12:00' AND tz >= '2011-02-03 04:05:06+00' AND ts::date = date '2012-01-01' AND extract(dow FROM d) IN (0, 6)
-- => plan
-- w.people, unit 1 row(s), partitions by hash of r1."id"; keys none; cells 0
--   count(*): sensitivity 1, scale 1/8, epsilon 8 delta 0
-- => backend
SELECT pg_catalog.count(*) FROM "w"."people" AS r1 WHERE (r1."d" > %(p1)s::date) AND (r1."ts" < %(p2)s::timestamp without time zone) AND (r1."tz" >= %(p3)s::timestamp with time zone) AND ((r1."ts")::date = %(p4)s::date) AND ((extract(dow FROM r1."d"))::numeric IN (%(p5)s::numeric, %(p6)s::numeric))
--   p1 = 2010-01-01
--   p2 = 2015-01-01 12:00
--   p3 = 2011-02-03 04:05:06+00
--   p4 = 2012-01-01
--   p5 = 0
--   p6 = 6
-- => loss
-- epsilon 8 delta 0
-- => residual
SELECT dp_b1.a1 AS "count" FROM pg_catalog.jsonb_to_recordset(($1)::pg_catalog.jsonb->'b1') AS dp_b1(a1 bigint)

-- case: truth
SELECT count(*) FROM people WHERE b IS TRUE OR b IS NOT FALSE OR b IS NULL OR NOT (b AND i4 = 1) OR b = true
-- => plan
-- w.people, unit 1 row(s), partitions by hash of r1."id"; keys none; cells 0
--   count(*): sensitivity 1, scale 1/8, epsilon 8 delta 0
-- => backend
SELECT pg_catalog.count(*) FROM "w"."people" AS r1 WHERE ((r1."b" IS TRUE) OR (NOT (r1."b" IS FALSE)) OR (r1."b" IS NULL) OR (NOT (r1."b" AND (r1."i4" = %(p1)s::bigint))) OR (r1."b" = %(p2)s::boolean))
--   p1 = 1
--   p2 = true
-- => loss
-- epsilon 8 delta 0
-- => residual
SELECT dp_b1.a1 AS "count" FROM pg_catalog.jsonb_to_recordset(($1)::pg_catalog.jsonb->'b1') AS dp_b1(a1 bigint)

-- case: distinct from
SELECT count(*) FROM people WHERE t IS DISTINCT FROM 'x' AND i4 IS NOT DISTINCT FROM 5
-- => plan
-- w.people, unit 1 row(s), partitions by hash of r1."id"; keys none; cells 0
--   count(*): sensitivity 1, scale 1/8, epsilon 8 delta 0
-- => backend
SELECT pg_catalog.count(*) FROM "w"."people" AS r1 WHERE (r1."t" IS DISTINCT FROM %(p1)s::text) AND (r1."i4" IS NOT DISTINCT FROM %(p2)s::bigint)
--   p1 = x
--   p2 = 5
-- => loss
-- epsilon 8 delta 0
-- => residual
SELECT dp_b1.a1 AS "count" FROM pg_catalog.jsonb_to_recordset(($1)::pg_catalog.jsonb->'b1') AS dp_b1(a1 bigint)

-- case: not in binds tighter
SELECT count(*) FROM people WHERE NOT i4 IN (1) AND i4 NOT IN (2) OR b
-- => plan
-- w.people, unit 1 row(s), partitions by hash of r1."id"; keys none; cells 0
--   count(*): sensitivity 1, scale 1/8, epsilon 8 delta 0
-- => backend
SELECT pg_catalog.count(*) FROM "w"."people" AS r1 WHERE (((NOT (r1."i4" IN (%(p1)s::bigint))) AND (NOT (r1."i4" IN (%(p2)s::bigint)))) OR r1."b")
--   p1 = 1
--   p2 = 2
-- => loss
-- epsilon 8 delta 0
-- => residual
SELECT dp_b1.a1 AS "count" FROM pg_catalog.jsonb_to_recordset(($1)::pg_catalog.jsonb->'b1') AS dp_b1(a1 bigint)

-- case: arithmetic in a condition is clamped
SELECT count(*) FROM people WHERE i4 * 2 + n2 > 30
-- => plan
-- w.people, unit 1 row(s), partitions by hash of r1."id"; keys none; cells 0
--   count(*): sensitivity 1, scale 1/8, epsilon 8 delta 0
-- => backend
SELECT pg_catalog.count(*) FROM "w"."people" AS r1 WHERE ((((pg_catalog.int4larger(pg_catalog.int4smaller(r1."i4", %(p2)s::integer), %(p1)s::integer))::numeric * %(p3)s::numeric) + (pg_catalog.numeric_larger(pg_catalog.numeric_smaller(r1."n2", %(p5)s::numeric), %(p4)s::numeric))::numeric) > %(p6)s::numeric)
--   p1 = 0
--   p2 = 100
--   p3 = 2
--   p4 = 0
--   p5 = 175
--   p6 = 30
-- => loss
-- epsilon 8 delta 0
-- => residual
SELECT dp_b1.a1 AS "count" FROM pg_catalog.jsonb_to_recordset(($1)::pg_catalog.jsonb->'b1') AS dp_b1(a1 bigint)

-- case: unit column in a condition
SELECT count(*) FROM orders WHERE uid = 7
-- => plan
-- w.orders, unit r1."uid": rows 6, groups None, per group None; keys none; cells 0
--   count(*): sensitivity 6, scale 3/4, epsilon 8 delta 0
-- => backend
SELECT pg_catalog.sum(least(v0, %(p1)s::bigint)) FROM (SELECT r1."uid" AS unit, pg_catalog.count(*) AS v0 FROM "w"."orders" AS r1 WHERE r1."uid" IS NOT NULL AND (r1."uid" = %(p2)s::bigint) GROUP BY r1."uid") u
--   p1 = 6
--   p2 = 7
-- => loss
-- epsilon 8 delta 0
-- => residual
SELECT dp_b1.a1 AS "count" FROM pg_catalog.jsonb_to_recordset(($1)::pg_catalog.jsonb->'b1') AS dp_b1(a1 bigint)

-- case: backslash in the middle of LIKE
SELECT count(*) FROM people WHERE s LIKE 'a\%b'
-- => plan
-- w.people, unit 1 row(s), partitions by hash of r1."id"; keys none; cells 0
--   count(*): sensitivity 1, scale 1/8, epsilon 8 delta 0
-- => backend
SELECT pg_catalog.count(*) FROM "w"."people" AS r1 WHERE (r1."s" LIKE %(p1)s::text)
--   p1 = a\%b
-- => loss
-- epsilon 8 delta 0
-- => residual
SELECT dp_b1.a1 AS "count" FROM pg_catalog.jsonb_to_recordset(($1)::pg_catalog.jsonb->'b1') AS dp_b1(a1 bigint)

-- case: doubled backslash at the end of LIKE
SELECT count(*) FROM people WHERE s LIKE 'a\\'
-- => plan
-- w.people, unit 1 row(s), partitions by hash of r1."id"; keys none; cells 0
--   count(*): sensitivity 1, scale 1/8, epsilon 8 delta 0
-- => backend
SELECT pg_catalog.count(*) FROM "w"."people" AS r1 WHERE (r1."s" LIKE %(p1)s::text)
--   p1 = a\\
-- => loss
-- epsilon 8 delta 0
-- => residual
SELECT dp_b1.a1 AS "count" FROM pg_catalog.jsonb_to_recordset(($1)::pg_catalog.jsonb->'b1') AS dp_b1(a1 bigint)

-- case: column against column
SELECT count(*) FROM people WHERE i2 < i4 AND f4 < f8 AND n2 > n AND i4 > f8
-- => plan
-- w.people, unit 1 row(s), partitions by hash of r1."id"; keys none; cells 0
--   count(*): sensitivity 1, scale 1/8, epsilon 8 delta 0
-- => backend
SELECT pg_catalog.count(*) FROM "w"."people" AS r1 WHERE (r1."i2" < r1."i4") AND (r1."f4" < r1."f8") AND (r1."n2" > r1."n") AND ((r1."i4")::numeric > (r1."f8")::numeric)
-- => loss
-- epsilon 8 delta 0
-- => residual
SELECT dp_b1.a1 AS "count" FROM pg_catalog.jsonb_to_recordset(($1)::pg_catalog.jsonb->'b1') AS dp_b1(a1 bigint)

-- case: dates meet timestamps
SELECT count(*) FROM people WHERE coalesce(d, ts) > '2010-01-01' OR CASE WHEN b THEN tz ELSE d END IS NULL
-- => plan
-- w.people, unit 1 row(s), partitions by hash of r1."id"; keys none; cells 0
--   count(*): sensitivity 1, scale 1/8, epsilon 8 delta 0
-- => backend
SELECT pg_catalog.count(*) FROM "w"."people" AS r1 WHERE ((coalesce(CASE WHEN r1."d" > %(p1)s::date THEN %(p2)s::date ELSE r1."d" END, r1."ts") > %(p3)s::timestamp without time zone) OR (CASE WHEN r1."b" THEN r1."tz" ELSE CASE WHEN r1."d" > %(p1)s::date THEN %(p2)s::date ELSE r1."d" END END IS NULL))
--   p1 = 294276-12-31
--   p2 = infinity
--   p3 = 2010-01-01
-- => loss
-- epsilon 8 delta 0
-- => residual
SELECT dp_b1.a1 AS "count" FROM pg_catalog.jsonb_to_recordset(($1)::pg_catalog.jsonb->'b1') AS dp_b1(a1 bigint)

-- case: trims
SELECT count(*) FROM people WHERE ltrim(s) = 'abc' OR trim(trailing 'x' from s) <> '' OR btrim(t, 'xy') = 'z'
-- => plan
-- w.people, unit 1 row(s), partitions by hash of r1."id"; keys none; cells 0
--   count(*): sensitivity 1, scale 1/8, epsilon 8 delta 0
-- => backend
SELECT pg_catalog.count(*) FROM "w"."people" AS r1 WHERE ((pg_catalog.ltrim((r1."s")::varchar(1048576)::text) = %(p1)s::text) OR (pg_catalog.rtrim((r1."s")::varchar(1048576)::text, %(p2)s::text) <> %(p3)s::text) OR (pg_catalog.btrim(((CASE WHEN pg_catalog.octet_length(r1."t") <= %(p4)s::integer THEN r1."t" ELSE pg_catalog.left(r1."t"::text, %(p4)s::integer) END))::varchar(1048576)::text, %(p5)s::text) = %(p6)s::text))
--   p1 = abc
--   p2 = x
--   p3 = 
--   p4 = 1048576
--   p5 = xy
--   p6 = z
-- => loss
-- epsilon 8 delta 0
-- => residual
SELECT dp_b1.a1 AS "count" FROM pg_catalog.jsonb_to_recordset(($1)::pg_catalog.jsonb->'b1') AS dp_b1(a1 bigint)

-- case: condition compared
SELECT count(*) FROM people WHERE (i4 > 1) = b
-- => plan
-- w.people, unit 1 row(s), partitions by hash of r1."id"; keys none; cells 0
--   count(*): sensitivity 1, scale 1/8, epsilon 8 delta 0
-- => backend
SELECT pg_catalog.count(*) FROM "w"."people" AS r1 WHERE ((r1."i4" > %(p1)s::bigint) = r1."b")
--   p1 = 1
-- => loss
-- epsilon 8 delta 0
-- => residual
SELECT dp_b1.a1 AS "count" FROM pg_catalog.jsonb_to_recordset(($1)::pg_catalog.jsonb->'b1') AS dp_b1(a1 bigint)

-- case: concatenation
SELECT count(*) FROM people WHERE s || 'a' = 'ba'
-- => plan
-- w.people, unit 1 row(s), partitions by hash of r1."id"; keys none; cells 0
--   count(*): sensitivity 1, scale 1/8, epsilon 8 delta 0
-- => backend
SELECT pg_catalog.count(*) FROM "w"."people" AS r1 WHERE (((r1."s")::varchar(16384)::text || (%(p1)s::text)::text) = %(p2)s::text)
--   p1 = a
--   p2 = ba
-- => loss
-- epsilon 8 delta 0
-- => residual
SELECT dp_b1.a1 AS "count" FROM pg_catalog.jsonb_to_recordset(($1)::pg_catalog.jsonb->'b1') AS dp_b1(a1 bigint)

-- case: a condition in brackets that is compared with true
SELECT count(*) FROM people WHERE (t IS NOT NULL) = true AND (i4 > 1) <> true AND (b OR i4 = 1) IS NOT DISTINCT FROM false
-- => plan
-- w.people, unit 1 row(s), partitions by hash of r1."id"; keys none; cells 0
--   count(*): sensitivity 1, scale 1/8, epsilon 8 delta 0
-- => backend
SELECT pg_catalog.count(*) FROM "w"."people" AS r1 WHERE (NOT (r1."t" IS NULL)) AND (NOT (r1."i4" > %(p1)s::bigint)) AND ((r1."b" OR (r1."i4" = %(p1)s::bigint)) IS FALSE)
--   p1 = 1
-- => loss
-- epsilon 8 delta 0
-- => residual
SELECT dp_b1.a1 AS "count" FROM pg_catalog.jsonb_to_recordset(($1)::pg_catalog.jsonb->'b1') AS dp_b1(a1 bigint)

-- case: texts of several parts
SELECT count(*) FROM people WHERE concat(t, '-', i4) = 'a-1' OR concat_ws('/', s, b, d) = 'x/t/2020-01-01' OR i4 || '' = '7' OR n2::text = '1.50'
-- => plan
-- w.people, unit 1 row(s), partitions by hash of r1."id"; keys none; cells 0
--   count(*): sensitivity 1, scale 1/8, epsilon 8 delta 0
-- => backend
SELECT pg_catalog.count(*) FROM "w"."people" AS r1 WHERE ((((pg_catalog.left(coalesce(r1."t", %(p1)s::text)::text, %(p2)s::integer))::varchar(16384)::text || (pg_catalog.left(coalesce(%(p3)s::text, %(p1)s::text)::text, %(p2)s::integer))::varchar(16384)::text || (pg_catalog.left(coalesce((r1."i4")::text, %(p1)s::text)::text, %(p2)s::integer))::varchar(16384)::text) = %(p4)s::text) OR (pg_catalog.substr(((pg_catalog.left(coalesce(((%(p5)s::text)::text || (r1."s")::varchar(16384)::text), %(p1)s::text)::text, %(p2)s::integer))::varchar(16384)::text || (pg_catalog.left(coalesce(((%(p5)s::text)::text || (pg_catalog.left(CASE WHEN r1."b" THEN %(p6)s::text WHEN (NOT r1."b") THEN %(p7)s::text ELSE NULL::text END::text, %(p2)s::integer))::varchar(16384)::text), %(p1)s::text)::text, %(p2)s::integer))::varchar(16384)::text || (pg_catalog.left(coalesce(((%(p5)s::text)::text || (pg_catalog.to_char((pg_catalog.date_larger(pg_catalog.date_smaller(r1."d", %(p9)s::date), %(p8)s::date))::timestamp without time zone, %(p10)s::text))::varchar(16384)::text), %(p1)s::text)::text, %(p2)s::integer))::varchar(16384)::text)::text, %(p11)s::integer) = %(p12)s::text) OR ((((r1."i4")::text)::varchar(16384)::text || (%(p1)s::text)::text) = %(p13)s::text) OR ((r1."n2")::text = %(p14)s::text))
--   p1 = 
--   p2 = 1048576
--   p3 = -
--   p4 = a-1
--   p5 = /
--   p6 = t
--   p7 = f
--   p8 = 0001-01-01
--   p9 = 9999-12-31
--   p10 = YYYY-MM-DD
--   p11 = 2
--   p12 = x/t/2020-01-01
--   p13 = 7
--   p14 = 1.50
-- => loss
-- epsilon 8 delta 0
-- => residual
SELECT dp_b1.a1 AS "count" FROM pg_catalog.jsonb_to_recordset(($1)::pg_catalog.jsonb->'b1') AS dp_b1(a1 bigint)

-- case: functions of texts
SELECT count(*) FROM people WHERE split_part(t, '-', 2) = 'b' OR initcap(t) = 'Ab' OR reverse(t) = 'ba' OR replace(t, 'a', '') = 'b' OR lpad(t, 3, '0') = '00a' OR rpad(t, 3) = 'a' OR t::varchar(2) = 'ab' OR position('x' in t) + 1 - 1 > 0
-- => plan
-- w.people, unit 1 row(s), partitions by hash of r1."id"; keys none; cells 0
--   count(*): sensitivity 1, scale 1/8, epsilon 8 delta 0
-- => backend
SELECT pg_catalog.count(*) FROM "w"."people" AS r1 WHERE ((pg_catalog.split_part((CASE WHEN pg_catalog.octet_length(r1."t") <= %(p1)s::integer THEN r1."t" ELSE pg_catalog.left(r1."t"::text, %(p1)s::integer) END)::text, %(p2)s::text, %(p3)s::integer) = %(p4)s::text) OR (pg_catalog.initcap(((CASE WHEN pg_catalog.octet_length(r1."t") <= %(p1)s::integer THEN r1."t" ELSE pg_catalog.left(r1."t"::text, %(p1)s::integer) END))::varchar(1048576)::text) = %(p5)s::text) OR (pg_catalog.reverse((CASE WHEN pg_catalog.octet_length(r1."t") <= %(p1)s::integer THEN r1."t" ELSE pg_catalog.left(r1."t"::text, %(p1)s::integer) END)::text) = %(p6)s::text) OR (pg_catalog.replace(((CASE WHEN pg_catalog.octet_length(r1."t") <= %(p1)s::integer THEN r1."t" ELSE pg_catalog.left(r1."t"::text, %(p1)s::integer) END))::varchar(1048576)::text, %(p7)s::text, %(p8)s::text) = %(p4)s::text) OR (pg_catalog.lpad((CASE WHEN pg_catalog.octet_length(r1."t") <= %(p1)s::integer THEN r1."t" ELSE pg_catalog.left(r1."t"::text, %(p1)s::integer) END)::text, %(p9)s::integer, %(p10)s::text) = %(p11)s::text) OR (pg_catalog.rpad((CASE WHEN pg_catalog.octet_length(r1."t") <= %(p1)s::integer THEN r1."t" ELSE pg_catalog.left(r1."t"::text, %(p1)s::integer) END)::text, %(p9)s::integer) = %(p7)s::text) OR (pg_catalog.left(r1."t"::text, %(p3)s::integer) = %(p12)s::character varying) OR ((((pg_catalog.int4larger(pg_catalog.int4smaller(pg_catalog.strpos((CASE WHEN pg_catalog.octet_length(r1."t") <= %(p1)s::integer THEN r1."t" ELSE pg_catalog.left(r1."t"::text, %(p1)s::integer) END)::text, %(p13)s::text), %(p15)s::integer), %(p14)s::integer))::numeric + %(p16)s::numeric) - %(p16)s::numeric) > %(p17)s::numeric))
--   p1 = 65536
--   p2 = -
--   p3 = 2
--   p4 = b
--   p5 = Ab
--   p6 = ba
--   p7 = a
--   p8 = 
--   p9 = 3
--   p10 = 0
--   p11 = 00a
--   p12 = ab
--   p13 = x
--   p14 = 0
--   p15 = 1073741823
--   p16 = 1
--   p17 = 0
-- => loss
-- epsilon 8 delta 0
-- => residual
SELECT dp_b1.a1 AS "count" FROM pg_catalog.jsonb_to_recordset(($1)::pg_catalog.jsonb->'b1') AS dp_b1(a1 bigint)

-- case: divisions by what is not 0
SELECT sum(f8 / (i4 + 1)), sum(i4 / nullif(i2, 0)), sum(i4 % nullif(i2, 0)), avg(n2 / greatest(i4, 1)) FROM people
-- => plan
-- w.people, unit 1 row(s), partitions by hash of r1."id"; keys none; cells 287
--   sum: clamp -100 .. 100, grid 0.0001, sensitivity 1000000 steps, scale 500000, epsilon 2 delta 0
--   sum: clamp -100 .. 100, grid 1, sensitivity 100 steps, scale 50, epsilon 2 delta 0
--   sum: clamp 0 .. 10, grid 1, sensitivity 10 steps, scale 5, epsilon 2 delta 0
--   avg: 0 .. 1750000 steps of 0.0001, fill 875000, 287 partitions, gate 2326 units, scale 10, epsilon 2 delta 1/4000, each epsilon 19/10 delta 0.00025
-- => backend
SELECT x5, pg_catalog.sum(x1), pg_catalog.sum(x2), pg_catalog.sum(x3), pg_catalog.count(x4), pg_catalog.sum(x4) FROM (SELECT pg_catalog.round(pg_catalog.numeric_larger(pg_catalog.numeric_smaller((pg_catalog.numeric_larger(pg_catalog.numeric_smaller(((pg_catalog.float8larger(pg_catalog.float8smaller(r1."f8", %(p2)s::double precision), %(p1)s::double precision))::numeric / (pg_catalog.numeric_larger(pg_catalog.numeric_smaller(((pg_catalog.int4larger(pg_catalog.int4smaller(r1."i4", %(p4)s::integer), %(p3)s::integer))::numeric + %(p5)s::numeric), %(p6)s::numeric), %(p5)s::numeric))::numeric), %(p8)s::numeric), %(p7)s::numeric))::numeric, %(p8)s::numeric), %(p7)s::numeric) * %(p9)s::numeric)::bigint AS x1, pg_catalog.round(pg_catalog.numeric_larger(pg_catalog.numeric_smaller((pg_catalog.numeric_larger(pg_catalog.numeric_smaller(pg_catalog.div((pg_catalog.int4larger(pg_catalog.int4smaller(r1."i4", %(p4)s::integer), %(p3)s::integer))::numeric, nullif((pg_catalog.int4larger(pg_catalog.int4smaller(r1."i2", %(p11)s::integer), %(p10)s::integer))::numeric, %(p12)s::numeric)), %(p8)s::numeric), %(p7)s::numeric))::numeric, %(p8)s::numeric), %(p7)s::numeric))::bigint AS x2, pg_catalog.round(pg_catalog.numeric_larger(pg_catalog.numeric_smaller((pg_catalog.numeric_larger(pg_catalog.numeric_smaller(pg_catalog.mod((pg_catalog.int4larger(pg_catalog.int4smaller(r1."i4", %(p4)s::integer), %(p3)s::integer))::numeric, nullif((pg_catalog.int4larger(pg_catalog.int4smaller(r1."i2", %(p11)s::integer), %(p10)s::integer))::numeric, %(p12)s::numeric)), %(p13)s::numeric), %(p12)s::numeric))::numeric, %(p13)s::numeric), %(p12)s::numeric))::bigint AS x3, pg_catalog.round(pg_catalog.numeric_larger(pg_catalog.numeric_smaller((pg_catalog.numeric_larger(pg_catalog.numeric_smaller(((pg_catalog.numeric_larger(pg_catalog.numeric_smaller(r1."n2", %(p14)s::numeric), %(p12)s::numeric))::numeric / (pg_catalog.numeric_larger(pg_catalog.numeric_smaller(greatest((pg_catalog.int4larger(pg_catalog.int4smaller(r1."i4", %(p4)s::integer), %(p3)s::integer))::numeric, %(p5)s::numeric), %(p8)s::numeric), %(p5)s::numeric))::numeric), %(p14)s::numeric), %(p12)s::numeric))::numeric, %(p14)s::numeric), %(p12)s::numeric) * %(p9)s::numeric)::bigint AS x4, pg_catalog.mod(((pg_catalog.hashint4extended(r1."id"::integer, %(p15)s::bigint)) & %(p16)s::bigint)::integer, %(p17)s::integer) AS x5 FROM "w"."people" AS r1 LIMIT ALL) r GROUP BY 1
--   p1 = -100
--   p2 = 100
--   p3 = 0
--   p4 = 100
--   p5 = 1
--   p6 = 101
--   p7 = -100
--   p8 = 100
--   p9 = 10000
--   p10 = -5
--   p11 = 10
--   p12 = 0
--   p13 = 10
--   p14 = 175
--   p15 = random
--   p16 = 2147483647
--   p17 = 287
-- => loss
-- epsilon 8 delta 1/4000
-- => residual
SELECT dp_b1.a1 AS "sum", dp_b1.a2 AS "sum", dp_b1.a3 AS "sum", dp_b1.a4 AS "avg" FROM pg_catalog.jsonb_to_recordset(($1)::pg_catalog.jsonb->'b1') AS dp_b1(a1 double precision, a2 bigint, a3 bigint, a4 numeric)

-- case: real functions
SELECT sum(sqrt(i4)), sum(ln(i4 + 1)), avg(log(i4 + 1)), sum(exp(i4 / 10.0)), avg(power(i4, 2)), sum(i4 ^ 0.5), sum(2 ^ i2), sum(log(2, i4 + 1)) FROM people
-- => plan
-- w.people, unit 1 row(s), partitions by hash of r1."id"; keys none; cells 607
--   sum: clamp 0 .. 10, grid 0.00001, sensitivity 1000000 steps, scale 1000000, epsilon 1 delta 0
--   sum: clamp 0 .. 4.61512, grid 0.000001, sensitivity 4615120 steps, scale 4615120, epsilon 1 delta 0
--   avg: 0 .. 2004321 steps of 0.000001, fill 1002160, 607 partitions, gate 4916 units, scale 20, epsilon 1 delta 1/8000, each epsilon 19/20 delta 0.000125
--   sum: clamp 1 .. 22026.46, grid 0.01, sensitivity 2202646 steps, scale 2202646, epsilon 1 delta 0
--   avg: 0 .. 1000000 steps of 0.01, fill 500000, 577 partitions, gate 4676 units, scale 20, epsilon 1 delta 1/8000, each epsilon 19/20 delta 0.000125
--   sum: clamp 0 .. 10, grid 0.00001, sensitivity 1000000 steps, scale 1000000, epsilon 1 delta 0
--   sum: clamp 0.032 .. 1024, grid 0.001, sensitivity 1024000 steps, scale 1024000, epsilon 1 delta 0
--   sum: clamp 0 .. 6.658211, grid 0.000001, sensitivity 6658211 steps, scale 6658211, epsilon 1 delta 0
-- => backend
SELECT x9, pg_catalog.sum(x1), pg_catalog.sum(x2), pg_catalog.count(x3), pg_catalog.sum(x3), pg_catalog.sum(x4), pg_catalog.count(x5), pg_catalog.sum(x5), pg_catalog.sum(x6), pg_catalog.sum(x7), pg_catalog.sum(x8) FROM (SELECT pg_catalog.round(pg_catalog.numeric_larger(pg_catalog.numeric_smaller((pg_catalog.numeric_larger(pg_catalog.numeric_smaller(pg_catalog.sqrt((pg_catalog.int4larger(pg_catalog.int4smaller(r1."i4", %(p2)s::integer), %(p1)s::integer))::numeric), %(p4)s::numeric), %(p3)s::numeric))::numeric, %(p4)s::numeric), %(p3)s::numeric) * %(p5)s::numeric)::bigint AS x1, pg_catalog.round(pg_catalog.numeric_larger(pg_catalog.numeric_smaller((pg_catalog.numeric_larger(pg_catalog.numeric_smaller(pg_catalog.ln((pg_catalog.numeric_larger(pg_catalog.numeric_smaller(((pg_catalog.int4larger(pg_catalog.int4smaller(r1."i4", %(p2)s::integer), %(p1)s::integer))::numeric + %(p6)s::numeric), %(p7)s::numeric), %(p6)s::numeric))::numeric), %(p8)s::numeric), %(p3)s::numeric))::numeric, %(p9)s::numeric), %(p3)s::numeric) * %(p10)s::numeric)::bigint AS x2, pg_catalog.round(pg_catalog.numeric_larger(pg_catalog.numeric_smaller((pg_catalog.numeric_larger(pg_catalog.numeric_smaller(pg_catalog.log(%(p4)s::numeric, (pg_catalog.numeric_larger(pg_catalog.numeric_smaller(((pg_catalog.int4larger(pg_catalog.int4smaller(r1."i4", %(p2)s::integer), %(p1)s::integer))::numeric + %(p6)s::numeric), %(p7)s::numeric), %(p6)s::numeric))::numeric), %(p11)s::numeric), %(p3)s::numeric))::numeric, %(p12)s::numeric), %(p3)s::numeric) * %(p10)s::numeric)::bigint AS x3, pg_catalog.round(pg_catalog.numeric_larger(pg_catalog.numeric_smaller((pg_catalog.numeric_larger(pg_catalog.numeric_smaller(pg_catalog.exp((pg_catalog.numeric_larger(pg_catalog.numeric_smaller(((pg_catalog.int4larger(pg_catalog.int4smaller(r1."i4", %(p2)s::integer), %(p1)s::integer))::numeric / %(p4)s::numeric), %(p4)s::numeric), %(p3)s::numeric))::numeric), %(p13)s::numeric), %(p6)s::numeric))::numeric, %(p14)s::numeric), %(p6)s::numeric) * %(p15)s::numeric)::bigint AS x4, pg_catalog.round(pg_catalog.numeric_larger(pg_catalog.numeric_smaller((pg_catalog.numeric_larger(pg_catalog.numeric_smaller(pg_catalog.power((pg_catalog.int4larger(pg_catalog.int4smaller(r1."i4", %(p2)s::integer), %(p1)s::integer))::numeric, %(p16)s::numeric), %(p17)s::numeric), %(p3)s::numeric))::numeric, %(p18)s::numeric), %(p3)s::numeric) * %(p15)s::numeric)::bigint AS x5, pg_catalog.round(pg_catalog.numeric_larger(pg_catalog.numeric_smaller((pg_catalog.numeric_larger(pg_catalog.numeric_smaller(pg_catalog.power((pg_catalog.int4larger(pg_catalog.int4smaller(r1."i4", %(p2)s::integer), %(p1)s::integer))::numeric, %(p19)s::numeric), %(p4)s::numeric), %(p3)s::numeric))::numeric, %(p4)s::numeric), %(p3)s::numeric) * %(p5)s::numeric)::bigint AS x6, pg_catalog.round(pg_catalog.numeric_larger(pg_catalog.numeric_smaller((pg_catalog.numeric_larger(pg_catalog.numeric_smaller(pg_catalog.power(%(p16)s::numeric, (pg_catalog.int4larger(pg_catalog.int4smaller(r1."i2", %(p21)s::integer), %(p20)s::integer))::numeric), %(p23)s::numeric), %(p22)s::numeric))::numeric, %(p23)s::numeric), %(p24)s::numeric) * %(p25)s::numeric)::bigint AS x7, pg_catalog.round(pg_catalog.numeric_larger(pg_catalog.numeric_smaller((pg_catalog.numeric_larger(pg_catalog.numeric_smaller(pg_catalog.log(%(p16)s::numeric, (pg_catalog.numeric_larger(pg_catalog.numeric_smaller(((pg_catalog.int4larger(pg_catalog.int4smaller(r1."i4", %(p2)s::integer), %(p1)s::integer))::numeric + %(p6)s::numeric), %(p7)s::numeric), %(p6)s::numeric))::numeric), %(p26)s::numeric), %(p3)s::numeric))::numeric, %(p27)s::numeric), %(p3)s::numeric) * %(p10)s::numeric)::bigint AS x8, pg_catalog.mod(((pg_catalog.hashint4extended(r1."id"::integer, %(p28)s::bigint)) & %(p29)s::bigint)::integer, %(p30)s::integer) AS x9 FROM "w"."people" AS r1 LIMIT ALL) r GROUP BY 1
--   p1 = 0
--   p2 = 100
--   p3 = 0
--   p4 = 10
--   p5 = 100000
--   p6 = 1
--   p7 = 101
--   p8 = 4.615120516841259450884198266912989156892
--   p9 = 4.61512
--   p10 = 1000000
--   p11 = 2.00432137378264257427518817822293791322
--   p12 = 2.004321
--   p13 = 22026.46579480671651695790064528424436636
--   p14 = 22026.46
--   p15 = 100
--   p16 = 2
--   p17 = 10000.00000000000000000000000000000000001
--   p18 = 10000
--   p19 = 0.5
--   p20 = -5
--   p21 = 10
--   p22 = 0.03125
--   p23 = 1024
--   p24 = 0.032
--   p25 = 1000
--   p26 = 6.658211482751794737171659113490309499796
--   p27 = 6.658211
--   p28 = random
--   p29 = 2147483647
--   p30 = 607
-- => loss
-- epsilon 8 delta 1/4000
-- => residual
SELECT dp_b1.a1 AS "sum", dp_b1.a2 AS "sum", dp_b1.a3 AS "avg", dp_b1.a4 AS "sum", dp_b1.a5 AS "avg", dp_b1.a6 AS "sum", dp_b1.a7 AS "sum", dp_b1.a8 AS "sum" FROM pg_catalog.jsonb_to_recordset(($1)::pg_catalog.jsonb->'b1') AS dp_b1(a1 double precision, a2 double precision, a3 double precision, a4 numeric, a5 double precision, a6 numeric, a7 double precision, a8 numeric)

-- case: rounded to tens and to a numeric of few digits
SELECT sum(round(n2, -1)), sum(i4::numeric(5, 2)), sum((i4 > 1)::int), avg((b)::int) FROM people
-- => plan
-- w.people, unit 1 row(s), partitions by hash of r1."id"; keys none; cells 185
--   sum: clamp 0 .. 180, grid 10, sensitivity 18 steps, scale 9, epsilon 2 delta 0
--   sum: clamp 0 .. 100, grid 0.01, sensitivity 10000 steps, scale 5000, epsilon 2 delta 0
--   sum: clamp 0 .. 1, grid 1, sensitivity 1 steps, scale 1/2, epsilon 2 delta 0
--   avg: 0 .. 10000 steps of 0.0001, fill 5000, 185 partitions, gate 1510 units, scale 10, epsilon 2 delta 1/4000, each epsilon 19/10 delta 0.00025
-- => backend
SELECT x5, pg_catalog.sum(x1), pg_catalog.sum(x2), pg_catalog.sum(x3), pg_catalog.count(x4), pg_catalog.sum(x4) FROM (SELECT pg_catalog.round(pg_catalog.numeric_larger(pg_catalog.numeric_smaller(pg_catalog.round((pg_catalog.numeric_larger(pg_catalog.numeric_smaller(r1."n2", %(p2)s::numeric), %(p1)s::numeric))::numeric, -1), %(p3)s::numeric), %(p1)s::numeric) / %(p4)s::numeric)::bigint AS x1, pg_catalog.round(pg_catalog.numeric_larger(pg_catalog.numeric_smaller(pg_catalog.round((pg_catalog.int4larger(pg_catalog.int4smaller(r1."i4", %(p6)s::integer), %(p5)s::integer))::numeric, 2), %(p7)s::numeric), %(p1)s::numeric) * %(p7)s::numeric)::bigint AS x2, pg_catalog.round(pg_catalog.numeric_larger(pg_catalog.numeric_smaller(((r1."i4" > %(p8)s::bigint))::integer::numeric, %(p9)s::numeric), %(p1)s::numeric))::bigint AS x3, pg_catalog.round(pg_catalog.numeric_larger(pg_catalog.numeric_smaller((r1."b")::integer::numeric, %(p9)s::numeric), %(p1)s::numeric))::bigint AS x4, pg_catalog.mod(((pg_catalog.hashint4extended(r1."id"::integer, %(p10)s::bigint)) & %(p11)s::bigint)::integer, %(p12)s::integer) AS x5 FROM "w"."people" AS r1 LIMIT ALL) r GROUP BY 1
--   p1 = 0
--   p2 = 175
--   p3 = 180
--   p4 = 10
--   p5 = 0
--   p6 = 100
--   p7 = 100
--   p8 = 1
--   p9 = 1
--   p10 = random
--   p11 = 2147483647
--   p12 = 185
-- => loss
-- epsilon 8 delta 1/4000
-- => residual
SELECT dp_b1.a1 AS "sum", dp_b1.a2 AS "sum", dp_b1.a3 AS "sum", dp_b1.a4 AS "avg" FROM pg_catalog.jsonb_to_recordset(($1)::pg_catalog.jsonb->'b1') AS dp_b1(a1 numeric, a2 numeric, a3 bigint, a4 numeric)

-- case: a key of a year and a month
SELECT extract(year FROM d) || '-' || lpad(extract(month FROM d)::text, 2, '0'), count(*) FROM people WHERE d >= '2010-06-01' AND d < '2011-02-01' GROUP BY 1
-- => plan
-- w.people, unit 1 row(s), partitions by hash of r1."id"; keys expression of 8; cells 0
--   count(*): sensitivity 1, scale 1/8, epsilon 8 delta 0
-- => backend
SELECT * FROM (SELECT (((((extract(year FROM r1."d"))::numeric)::text)::varchar(16384)::text || (%(p1)s::text)::text || (pg_catalog.lpad(((extract(month FROM r1."d"))::numeric)::text::text, %(p2)s::integer, %(p3)s::text))::varchar(16384)::text))::text AS k1, pg_catalog.count(*) FROM "w"."people" AS r1 WHERE (r1."d" >= %(p4)s::date) AND (r1."d" < %(p5)s::date) GROUP BY 1 LIMIT ALL) g WHERE (k1 = ANY(%(p6)s::text[]))
--   p1 = -
--   p2 = 2
--   p3 = 0
--   p4 = 2010-06-01
--   p5 = 2011-02-01
--   p6 = ['2010-06', '2010-07', '2010-08', '2010-09', '2010-10', '2010-11', '2010-12', '2011-01']
-- => loss
-- epsilon 8 delta 0
-- => residual
SELECT dp_b1.k1 AS "?column?", dp_b1.a1 AS "count" FROM pg_catalog.jsonb_to_recordset(($1)::pg_catalog.jsonb->'b1') AS dp_b1(k1 pg_catalog.text, a1 bigint)

-- case: a key and what it is made of
SELECT floor(i4 / 10) * 10 || ' - ' || (floor(i4 / 10) + 1) * 10 - 1 AS r, floor(i4 / 10) * 10 AS o, count(*) FROM people GROUP BY 1, 2
-- => plan
-- w.people, unit 1 row(s), partitions by hash of r1."id"; keys expression of 11, expression of 11; cells 0
--   count(*): sensitivity 1, scale 1/8, epsilon 8 delta 0
-- => backend
SELECT * FROM (SELECT (((((pg_catalog.round((pg_catalog.floor(pg_catalog.div((pg_catalog.int4larger(pg_catalog.int4smaller(r1."i4", %(p2)s::integer), %(p1)s::integer))::numeric, %(p3)s::numeric)) * %(p3)s::numeric), 0))::text)::varchar(16384)::text || (%(p4)s::text)::text || ((pg_catalog.round((((pg_catalog.floor(pg_catalog.div((pg_catalog.int4larger(pg_catalog.int4smaller(r1."i4", %(p2)s::integer), %(p1)s::integer))::numeric, %(p3)s::numeric)) + %(p5)s::numeric) * %(p3)s::numeric) - %(p5)s::numeric), 0))::text)::varchar(16384)::text))::text)::varchar(1024)::text AS k1, ((pg_catalog.floor(pg_catalog.div((pg_catalog.int4larger(pg_catalog.int4smaller(r1."i4", %(p2)s::integer), %(p1)s::integer))::numeric, %(p3)s::numeric)) * %(p3)s::numeric))::text AS k2, pg_catalog.count(*) FROM "w"."people" AS r1 GROUP BY 1, 2 LIMIT ALL) g WHERE (k1 = ANY(%(p6)s::text[])) AND (k2 = ANY(%(p7)s::text[]))
--   p1 = 0
--   p2 = 100
--   p3 = 10
--   p4 =  - 
--   p5 = 1
--   p6 = ['0 - 9', '10 - 19', '20 - 29', '30 - 39', '40 - 49', '50 - 59', '60 - 69', '70 - 79', '80 - 89', '90 - 99', '100 - 109']
--   p7 = ['0', '10', '20', '30', '40', '50', '60', '70', '80', '90', '100']
-- => loss
-- epsilon 8 delta 0
-- => residual
SELECT dp_b1.k1 AS r, dp_b1.k2 AS o, dp_b1.a1 AS "count" FROM pg_catalog.jsonb_to_recordset(($1)::pg_catalog.jsonb->'b1') AS dp_b1(k1 pg_catalog.text, k2 double precision, a1 bigint)

-- case: a key that is a date of a text
SELECT extract(month FROM d), CAST(CAST((extract(year FROM d) * 100 + 1) * 100 + 1 AS varchar) AS date), count(*) FROM people GROUP BY 1, 2
-- => plan
-- w.people, unit 1 row(s), partitions by hash of r1."id"; keys expression of 12, expression of 21; cells 0
--   count(*): sensitivity 1, scale 1/8, epsilon 8 delta 0
-- => backend
SELECT * FROM (SELECT (extract(month FROM r1."d"))::text AS k1, (CASE WHEN ((extract(year FROM r1."d"))::numeric = %(p1)s::numeric) THEN %(p2)s::date WHEN ((extract(year FROM r1."d"))::numeric = %(p3)s::numeric) THEN %(p4)s::date WHEN ((extract(year FROM r1."d"))::numeric = %(p5)s::numeric) THEN %(p6)s::date WHEN ((extract(year FROM r1."d"))::numeric = %(p7)s::numeric) THEN %(p8)s::date WHEN ((extract(year FROM r1."d"))::numeric = %(p9)s::numeric) THEN %(p10)s::date WHEN ((extract(year FROM r1."d"))::numeric = %(p11)s::numeric) THEN %(p12)s::date WHEN ((extract(year FROM r1."d"))::numeric = %(p13)s::numeric) THEN %(p14)s::date WHEN ((extract(year FROM r1."d"))::numeric = %(p15)s::numeric) THEN %(p16)s::date WHEN ((extract(year FROM r1."d"))::numeric = %(p17)s::numeric) THEN %(p18)s::date WHEN ((extract(year FROM r1."d"))::numeric = %(p19)s::numeric) THEN %(p20)s::date WHEN ((extract(year FROM r1."d"))::numeric = %(p21)s::numeric) THEN %(p22)s::date WHEN ((extract(year FROM r1."d"))::numeric = %(p23)s::numeric) THEN %(p24)s::date WHEN ((extract(year FROM r1."d"))::numeric = %(p25)s::numeric) THEN %(p26)s::date WHEN ((extract(year FROM r1."d"))::numeric = %(p27)s::numeric) THEN %(p28)s::date WHEN ((extract(year FROM r1."d"))::numeric = %(p29)s::numeric) THEN %(p30)s::date WHEN ((extract(year FROM r1."d"))::numeric = %(p31)s::numeric) THEN %(p32)s::date WHEN ((extract(year FROM r1."d"))::numeric = %(p33)s::numeric) THEN %(p34)s::date WHEN ((extract(year FROM r1."d"))::numeric = %(p35)s::numeric) THEN %(p36)s::date WHEN ((extract(year FROM r1."d"))::numeric = %(p37)s::numeric) THEN %(p38)s::date WHEN ((extract(year FROM r1."d"))::numeric = %(p39)s::numeric) THEN %(p40)s::date WHEN ((extract(year FROM r1."d"))::numeric = %(p41)s::numeric) THEN %(p42)s::date ELSE %(p43)s::date END)::text AS k2, pg_catalog.count(*) FROM "w"."people" AS r1 GROUP BY 1, 2 LIMIT ALL) g WHERE (k1 = ANY(%(p44)s::text[])) AND (k2 = ANY(%(p45)s::text[]))
--   p1 = 2000
--   p2 = 2000-01-01
--   p3 = 2001
--   p4 = 2001-01-01
--   p5 = 2002
--   p6 = 2002-01-01
--   p7 = 2003
--   p8 = 2003-01-01
--   p9 = 2004
--   p10 = 2004-01-01
--   p11 = 2005
--   p12 = 2005-01-01
--   p13 = 2006
--   p14 = 2006-01-01
--   p15 = 2007
--   p16 = 2007-01-01
--   p17 = 2008
--   p18 = 2008-01-01
--   p19 = 2009
--   p20 = 2009-01-01
--   p21 = 2010
--   p22 = 2010-01-01
--   p23 = 2011
--   p24 = 2011-01-01
--   p25 = 2012
--   p26 = 2012-01-01
--   p27 = 2013
--   p28 = 2013-01-01
--   p29 = 2014
--   p30 = 2014-01-01
--   p31 = 2015
--   p32 = 2015-01-01
--   p33 = 2016
--   p34 = 2016-01-01
--   p35 = 2017
--   p36 = 2017-01-01
--   p37 = 2018
--   p38 = 2018-01-01
--   p39 = 2019
--   p40 = 2019-01-01
--   p41 = 2020
--   p42 = 2020-01-01
--   p43 = 0001-01-01
--   p44 = ['1', '2', '3', '4', '5', '6', '7', '8', '9', '10', '11', '12']
--   p45 = ['2000-01-01', '2001-01-01', '2002-01-01', '2003-01-01', '2004-01-01', '2005-01-01', '2006-01-01', '2007-01-01', '2008-01-01', '2009-01-01', '2010-01-01', '2011-01-01', '2012-01-01', '2013-01-01', '2014-01-01', '2015-01-01', '2016-01-01', '2017-01-01', '2018-01-01', '2019-01-01', '2020-01-01']
-- => loss
-- epsilon 8 delta 0
-- => residual
SELECT dp_b1.k1 AS "extract", dp_b1.k2 AS "date", dp_b1.a1 AS "count" FROM pg_catalog.jsonb_to_recordset(($1)::pg_catalog.jsonb->'b1') AS dp_b1(k1 numeric, k2 pg_catalog.date, a1 bigint)

-- case: a key of two columns with values
SELECT c || '/' || e, upper(c) || initcap(e), count(*) FROM people GROUP BY 1, 2
-- => plan
-- w.people, unit 1 row(s), partitions by hash of r1."id"; keys expression of 5, expression of private; cells 0
--   selection: epsilon 4 delta 1/2000, each epsilon 4 delta 0.0005
--   count(*): sensitivity 1, scale 1/4, epsilon 4 delta 0
-- => backend
SELECT (((r1."c")::varchar(16384)::text || (%(p1)s::text)::text || (r1."e"::text)::varchar(16384)::text))::text, ((((pg_catalog.upper(r1."c"::text))::varchar(16384)::text || (pg_catalog.initcap(r1."e"::text::text))::varchar(16384)::text))::text)::varchar(1024)::text, pg_catalog.count(*) FROM "w"."people" AS r1 WHERE ((((r1."c")::varchar(16384)::text || (%(p1)s::text)::text || (r1."e"::text)::varchar(16384)::text))::text = ANY(%(p2)s::text[]) OR ((r1."c")::varchar(16384)::text || (%(p1)s::text)::text || (r1."e"::text)::varchar(16384)::text) IS NULL) GROUP BY 1, 2, coalesce(pg_catalog.hashtextextended((((((pg_catalog.upper(r1."c"::text))::varchar(16384)::text || (pg_catalog.initcap(r1."e"::text::text))::varchar(16384)::text))::text)::varchar(1024)::text)::text, %(p3)s::bigint), %(p3)s::bigint)
--   p1 = /
--   p2 = ['a/low', 'a/high', 'bb/low', 'bb/high']
--   p3 = random
-- => loss
-- epsilon 8 delta 1/2000
-- => residual
SELECT dp_b1.k1 AS "?column?", dp_b1.k2 AS "?column?", dp_b1.a1 AS "count" FROM pg_catalog.jsonb_to_recordset(($1)::pg_catalog.jsonb->'b1') AS dp_b1(k1 pg_catalog.text, k2 pg_catalog.text, a1 bigint)

-- case: a month of its quarter
SELECT (extract(month FROM d) - 1) % 3 + 1, count(*) FROM people GROUP BY 1
-- => plan
-- w.people, unit 1 row(s), partitions by hash of r1."id"; keys expression of 3; cells 0
--   count(*): sensitivity 1, scale 1/8, epsilon 8 delta 0
-- => backend
SELECT * FROM (SELECT ((pg_catalog.mod(((pg_catalog.numeric_larger(pg_catalog.numeric_smaller(extract(month FROM r1."d"), %(p2)s::numeric), %(p1)s::numeric))::numeric - %(p1)s::numeric), %(p3)s::numeric) + %(p1)s::numeric))::text AS k1, pg_catalog.count(*) FROM "w"."people" AS r1 GROUP BY 1 LIMIT ALL) g WHERE (k1 = ANY(%(p4)s::text[]))
--   p1 = 1
--   p2 = 12
--   p3 = 3
--   p4 = ['1', '2', '3']
-- => loss
-- epsilon 8 delta 0
-- => residual
SELECT dp_b1.k1 AS "?column?", dp_b1.a1 AS "count" FROM pg_catalog.jsonb_to_recordset(($1)::pg_catalog.jsonb->'b1') AS dp_b1(k1 numeric, a1 bigint)

-- case: a condition on the case of texts is a key by its two values
SELECT (lower(t) = 'a' OR lower(t) = 'b') AS ca, count(*) FROM people WHERE (lower(t) = 'a' OR lower(t) = 'b') IN (true, false) GROUP BY ca
-- => plan
-- w.people, unit 1 row(s), partitions by hash of r1."id"; keys expression of 2; cells 0
--   count(*): sensitivity 1, scale 1/8, epsilon 8 delta 0
-- => backend
SELECT * FROM (SELECT (((pg_catalog.lower(((CASE WHEN pg_catalog.octet_length(r1."t") <= %(p1)s::integer THEN r1."t" ELSE pg_catalog.left(r1."t"::text, %(p1)s::integer) END))::varchar(1048576)::text) = %(p2)s::text) OR (pg_catalog.lower(((CASE WHEN pg_catalog.octet_length(r1."t") <= %(p1)s::integer THEN r1."t" ELSE pg_catalog.left(r1."t"::text, %(p1)s::integer) END))::varchar(1048576)::text) = %(p3)s::text)))::text AS k1, pg_catalog.count(*) FROM "w"."people" AS r1 WHERE (((pg_catalog.lower(((CASE WHEN pg_catalog.octet_length(r1."t") <= %(p1)s::integer THEN r1."t" ELSE pg_catalog.left(r1."t"::text, %(p1)s::integer) END))::varchar(1048576)::text) = %(p2)s::text) OR (pg_catalog.lower(((CASE WHEN pg_catalog.octet_length(r1."t") <= %(p1)s::integer THEN r1."t" ELSE pg_catalog.left(r1."t"::text, %(p1)s::integer) END))::varchar(1048576)::text) = %(p3)s::text)) IN (%(p4)s::boolean, %(p5)s::boolean)) GROUP BY 1 LIMIT ALL) g WHERE (k1 = ANY(%(p6)s::text[]))
--   p1 = 65536
--   p2 = a
--   p3 = b
--   p4 = true
--   p5 = false
--   p6 = ['true', 'false']
-- => loss
-- epsilon 8 delta 0
-- => residual
SELECT dp_b1.k1 AS ca, dp_b1.a1 AS "count" FROM pg_catalog.jsonb_to_recordset(($1)::pg_catalog.jsonb->'b1') AS dp_b1(k1 boolean, a1 bigint)

-- case: labels by the case of texts
SELECT CASE WHEN lower(t) = 'a' THEN 'x' ELSE 'y' END AS ca, count(*) FROM people GROUP BY ca
-- => plan
-- w.people, unit 1 row(s), partitions by hash of r1."id"; keys expression of 2; cells 0
--   count(*): sensitivity 1, scale 1/8, epsilon 8 delta 0
-- => backend
SELECT * FROM (SELECT (CASE WHEN (pg_catalog.lower(((CASE WHEN pg_catalog.octet_length(r1."t") <= %(p1)s::integer THEN r1."t" ELSE pg_catalog.left(r1."t"::text, %(p1)s::integer) END))::varchar(1048576)::text) = %(p2)s::text) THEN %(p3)s::text ELSE %(p4)s::text END)::text AS k1, pg_catalog.count(*) FROM "w"."people" AS r1 GROUP BY 1 LIMIT ALL) g WHERE (k1 = ANY(%(p5)s::text[]))
--   p1 = 1048576
--   p2 = a
--   p3 = x
--   p4 = y
--   p5 = ['x', 'y']
-- => loss
-- epsilon 8 delta 0
-- => residual
SELECT dp_b1.k1 AS ca, dp_b1.a1 AS "count" FROM pg_catalog.jsonb_to_recordset(($1)::pg_catalog.jsonb->'b1') AS dp_b1(k1 pg_catalog.text, a1 bigint)

-- case: what a clock shows
SELECT count(*) FILTER (WHERE tz::time >= '09:30' AND ts::time < tod), sum(extract(hour FROM ts::time)) FROM people
-- => plan
-- w.people, unit 1 row(s), partitions by hash of r1."id"; keys none; cells 0
--   count(*): sensitivity 1, scale 1/4, epsilon 4 delta 0
--   sum: clamp 0 .. 23, grid 1, sensitivity 23 steps, scale 23/4, epsilon 4 delta 0
-- => backend
SELECT pg_catalog.count(*) FILTER (WHERE x1), pg_catalog.sum(x2) FROM (SELECT ((((((pg_catalog.numeric_larger(pg_catalog.numeric_smaller(extract(hour FROM r1."tz"), %(p2)s::numeric), %(p1)s::numeric))::numeric * %(p3)s::numeric) + ((pg_catalog.numeric_larger(pg_catalog.numeric_smaller(extract(minute FROM r1."tz"), %(p4)s::numeric), %(p1)s::numeric))::numeric * %(p5)s::numeric)) + (pg_catalog.numeric_larger(pg_catalog.numeric_smaller(extract(second FROM r1."tz"), %(p5)s::numeric), %(p1)s::numeric))::numeric) >= %(p6)s::numeric) AND (((((pg_catalog.numeric_larger(pg_catalog.numeric_smaller(extract(hour FROM r1."ts"), %(p2)s::numeric), %(p1)s::numeric))::numeric * %(p3)s::numeric) + ((pg_catalog.numeric_larger(pg_catalog.numeric_smaller(extract(minute FROM r1."ts"), %(p4)s::numeric), %(p1)s::numeric))::numeric * %(p5)s::numeric)) + (pg_catalog.numeric_larger(pg_catalog.numeric_smaller(extract(second FROM r1."ts"), %(p5)s::numeric), %(p1)s::numeric))::numeric) < (extract(epoch FROM r1."tod"))::numeric)) AS x1, pg_catalog.round(pg_catalog.numeric_larger(pg_catalog.numeric_smaller((pg_catalog.numeric_larger(pg_catalog.numeric_smaller(extract(hour FROM r1."ts"), %(p2)s::numeric), %(p1)s::numeric))::numeric, %(p2)s::numeric), %(p1)s::numeric))::bigint AS x2 FROM "w"."people" AS r1 LIMIT ALL) r
--   p1 = 0
--   p2 = 23
--   p3 = 3600
--   p4 = 59
--   p5 = 60
--   p6 = 34200
-- => loss
-- epsilon 8 delta 0
-- => residual
SELECT dp_b1.a1 AS "count", dp_b1.a2 AS "sum" FROM pg_catalog.jsonb_to_recordset(($1)::pg_catalog.jsonb->'b1') AS dp_b1(a1 bigint, a2 numeric)

-- case: what a clock shows, in a subquery
SELECT count(*) FROM (SELECT ts::time AS t, tz - ts AS d FROM people) q WHERE t < '12:00' AND d > interval '1 hour'
-- => plan
-- w.people, unit 1 row(s), partitions by hash of r2."dp_key1"; keys none; cells 0
--   count(*): sensitivity 1, scale 1/8, epsilon 8 delta 0
-- => backend
SELECT pg_catalog.count(*) FROM (SELECT ((((pg_catalog.numeric_larger(pg_catalog.numeric_smaller(extract(hour FROM r1."ts"), %(p4)s::numeric), %(p3)s::numeric))::numeric * %(p2)s::numeric) + ((pg_catalog.numeric_larger(pg_catalog.numeric_smaller(extract(minute FROM r1."ts"), %(p5)s::numeric), %(p3)s::numeric))::numeric * %(p6)s::numeric)) + (pg_catalog.numeric_larger(pg_catalog.numeric_smaller(extract(second FROM r1."ts"), %(p6)s::numeric), %(p3)s::numeric))::numeric) AS "t", ((pg_catalog.numeric_larger(pg_catalog.numeric_smaller(extract(epoch FROM r1."tz"), %(p8)s::numeric), %(p7)s::numeric))::numeric - (pg_catalog.numeric_larger(pg_catalog.numeric_smaller(extract(epoch FROM (r1."ts")::timestamp with time zone), %(p10)s::numeric), %(p9)s::numeric))::numeric) AS "d", r1."id" AS "dp_key1" FROM "w"."people" AS r1) AS r2 WHERE (r2."t" < %(p1)s::numeric) AND (r2."d" > %(p2)s::numeric)
--   p1 = 43200
--   p2 = 3600
--   p3 = 0
--   p4 = 23
--   p5 = 59
--   p6 = 60
--   p7 = 946684800
--   p8 = 1577836800
--   p9 = 946598400
--   p10 = 1577923200
-- => loss
-- epsilon 8 delta 0
-- => residual
SELECT dp_b1.a1 AS "count" FROM pg_catalog.jsonb_to_recordset(($1)::pg_catalog.jsonb->'b1') AS dp_b1(a1 bigint)
