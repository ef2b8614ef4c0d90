-- case: extremes and mean of i2
SELECT min(i2), max(i2), avg(i2), sum(i2) FROM people
-- => plan
-- w.people, unit 1 row(s), partitions by hash of r1."id"; keys none; cells 193
--   min: -5 .. 10 steps of 1, fill 10, 55 partitions, gate 470 units, scale 10, epsilon 2 delta 1/4000, each epsilon 19/10 delta 0.00025
--   max: -5 .. 10 steps of 1, fill -5, 55 partitions, gate 470 units, scale 10, epsilon 2 delta 1/4000, each epsilon 19/10 delta 0.00025
--   avg: -5000 .. 10000 steps of 0.001, fill 2500, 193 partitions, gate 1574 units, scale 10, epsilon 2 delta 1/4000, each epsilon 19/10 delta 0.00025
--   sum: clamp -5 .. 10, grid 1, sensitivity 10 steps, scale 5, epsilon 2 delta 0
-- => backend
SELECT x2, pg_catalog.int4larger(pg_catalog.int4smaller(pg_catalog.min(x1), %(p2)s::integer), %(p1)s::integer), pg_catalog.count(x1), pg_catalog.int4larger(pg_catalog.int4smaller(pg_catalog.max(x1), %(p2)s::integer), %(p1)s::integer), pg_catalog.sum((pg_catalog.int4larger(pg_catalog.int4smaller(x1, %(p2)s::integer), %(p1)s::integer))::integer) FROM (SELECT r1."i2" AS x1, pg_catalog.mod(((pg_catalog.hashint4extended(r1."id"::integer, %(p3)s::bigint)) & %(p4)s::bigint)::integer, %(p5)s::integer) AS x2 FROM "w"."people" AS r1 LIMIT ALL) r GROUP BY 1
--   p1 = -5
--   p2 = 10
--   p3 = random
--   p4 = 2147483647
--   p5 = 193
-- => loss
-- epsilon 8 delta 3/4000
-- => residual
SELECT dp_b1.a1 AS "min", dp_b1.a2 AS "max", dp_b1.a3 AS "avg", dp_b1.a4 AS "sum" FROM pg_catalog.jsonb_to_recordset(($1)::pg_catalog.jsonb->'b1') AS dp_b1(a1 smallint, a2 smallint, a3 numeric, a4 bigint)

-- case: extremes and mean of i4
SELECT min(i4), max(i4), avg(i4), sum(i4) FROM people
-- => plan
-- w.people, unit 1 row(s), partitions by hash of r1."id"; keys none; cells 185
--   min: 0 .. 100 steps of 1, fill 100, 93 partitions, gate 774 units, scale 10, epsilon 2 delta 1/4000, each epsilon 19/10 delta 0.00025
--   max: 0 .. 100 steps of 1, fill 0, 93 partitions, gate 774 units, scale 10, epsilon 2 delta 1/4000, each epsilon 19/10 delta 0.00025
--   avg: 0 .. 10000 steps of 0.01, fill 5000, 185 partitions, gate 1510 units, scale 10, epsilon 2 delta 1/4000, each epsilon 19/10 delta 0.00025
--   sum: clamp 0 .. 100, grid 1, sensitivity 100 steps, scale 50, epsilon 2 delta 0
-- => backend
SELECT x2, pg_catalog.int4larger(pg_catalog.int4smaller(pg_catalog.min(x1), %(p2)s::integer), %(p1)s::integer), pg_catalog.count(x1), pg_catalog.int4larger(pg_catalog.int4smaller(pg_catalog.max(x1), %(p2)s::integer), %(p1)s::integer), pg_catalog.sum((pg_catalog.int4larger(pg_catalog.int4smaller(x1, %(p2)s::integer), %(p1)s::integer))::integer) FROM (SELECT r1."i4" AS x1, pg_catalog.mod(((pg_catalog.hashint4extended(r1."id"::integer, %(p3)s::bigint)) & %(p4)s::bigint)::integer, %(p5)s::integer) AS x2 FROM "w"."people" AS r1 LIMIT ALL) r GROUP BY 1
--   p1 = 0
--   p2 = 100
--   p3 = random
--   p4 = 2147483647
--   p5 = 185
-- => loss
-- epsilon 8 delta 3/4000
-- => residual
SELECT dp_b1.a1 AS "min", dp_b1.a2 AS "max", dp_b1.a3 AS "avg", dp_b1.a4 AS "sum" FROM pg_catalog.jsonb_to_recordset(($1)::pg_catalog.jsonb->'b1') AS dp_b1(a1 integer, a2 integer, a3 numeric, a4 bigint)

-- case: extremes and mean of i8
SELECT min(i8), max(i8), avg(i8), sum(i8) FROM people
-- => plan
-- w.people, unit 1 row(s), partitions by hash of r1."id"; keys none; cells 219
--   min: -100 .. 500 steps of 10, fill 500, 129 partitions, gate 1062 units, scale 10, epsilon 2 delta 1/4000, each epsilon 19/10 delta 0.00025
--   max: -100 .. 500 steps of 10, fill -100, 129 partitions, gate 1062 units, scale 10, epsilon 2 delta 1/4000, each epsilon 19/10 delta 0.00025
--   avg: -10000 .. 50000 steps of 0.1, fill 20000, 219 partitions, gate 1782 units, scale 10, epsilon 2 delta 1/4000, each epsilon 19/10 delta 0.00025
--   sum: clamp -1000 .. 5000, grid 10, sensitivity 500 steps, scale 250, epsilon 2 delta 0
-- => backend
SELECT x3, pg_catalog.round((pg_catalog.int8larger(pg_catalog.int8smaller(pg_catalog.min(x1), %(p2)s::bigint), %(p1)s::bigint))::numeric / %(p3)s::numeric)::bigint, pg_catalog.count(x1), pg_catalog.round((pg_catalog.int8larger(pg_catalog.int8smaller(pg_catalog.max(x1), %(p2)s::bigint), %(p1)s::bigint))::numeric / %(p3)s::numeric)::bigint, pg_catalog.sum(x2) FROM (SELECT r1."i8" AS x1, pg_catalog.round((pg_catalog.int8larger(pg_catalog.int8smaller(r1."i8", %(p2)s::bigint), %(p1)s::bigint))::numeric / %(p3)s::numeric)::bigint AS x2, pg_catalog.mod(((pg_catalog.hashint4extended(r1."id"::integer, %(p4)s::bigint)) & %(p5)s::bigint)::integer, %(p6)s::integer) AS x3 FROM "w"."people" AS r1 LIMIT ALL) r GROUP BY 1
--   p1 = -1000
--   p2 = 5000
--   p3 = 10
--   p4 = random
--   p5 = 2147483647
--   p6 = 219
-- => loss
-- epsilon 8 delta 3/4000
-- => residual
SELECT dp_b1.a1 AS "min", dp_b1.a2 AS "max", dp_b1.a3 AS "avg", dp_b1.a4 AS "sum" FROM pg_catalog.jsonb_to_recordset(($1)::pg_catalog.jsonb->'b1') AS dp_b1(a1 bigint, a2 bigint, a3 numeric, a4 numeric)

-- case: extremes and mean of n2
SELECT min(n2), max(n2), avg(n2), sum(n2) FROM people
-- => plan
-- w.people, unit 1 row(s), partitions by hash of r1."id"; keys none; cells 195
--   min: 0 .. 17500 steps of 0.01, fill 17500, 195 partitions, gate 1590 units, scale 10, epsilon 2 delta 1/4000, each epsilon 19/10 delta 0.00025
--   max: 0 .. 17500 steps of 0.01, fill 0, 195 partitions, gate 1590 units, scale 10, epsilon 2 delta 1/4000, each epsilon 19/10 delta 0.00025
--   avg: 0 .. 17500 steps of 0.01, fill 8750, 195 partitions, gate 1590 units, scale 10, epsilon 2 delta 1/4000, each epsilon 19/10 delta 0.00025
--   sum: clamp 0 .. 175, grid 0.01, sensitivity 17500 steps, scale 8750, epsilon 2 delta 0
-- => backend
SELECT x2, pg_catalog.min(x1), pg_catalog.count(x1), pg_catalog.max(x1), pg_catalog.sum(x1) FROM (SELECT pg_catalog.int4larger((pg_catalog.numeric_smaller(r1."n2" * %(p1)s::numeric, %(p2)s::numeric))::integer, %(p3)s::integer) AS x1, pg_catalog.mod(((pg_catalog.hashint4extended(r1."id"::integer, %(p4)s::bigint)) & %(p5)s::bigint)::integer, %(p6)s::integer) AS x2 FROM "w"."people" AS r1 LIMIT ALL) r GROUP BY 1
--   p1 = 100
--   p2 = 17500
--   p3 = 0
--   p4 = random
--   p5 = 2147483647
--   p6 = 195
-- => loss
-- epsilon 8 delta 3/4000
-- => residual
SELECT dp_b1.a1 AS "min", dp_b1.a2 AS "max", dp_b1.a3 AS "avg", dp_b1.a4 AS "sum" FROM pg_catalog.jsonb_to_recordset(($1)::pg_catalog.jsonb->'b1') AS dp_b1(a1 numeric, a2 numeric, a3 numeric, a4 numeric)

-- case: extremes and mean of n
SELECT min(n), max(n), avg(n), sum(n) FROM people
-- => plan
-- w.people, unit 1 row(s), partitions by hash of r1."id"; keys none; cells 275
--   min: -250000 .. 750000 steps of 0.00001, fill 750000, 275 partitions, gate 2230 units, scale 10, epsilon 2 delta 1/4000, each epsilon 19/10 delta 0.00025
--   max: -250000 .. 750000 steps of 0.00001, fill -250000, 275 partitions, gate 2230 units, scale 10, epsilon 2 delta 1/4000, each epsilon 19/10 delta 0.00025
--   avg: -250000 .. 750000 steps of 0.00001, fill 250000, 275 partitions, gate 2230 units, scale 10, epsilon 2 delta 1/4000, each epsilon 19/10 delta 0.00025
--   sum: clamp -2.5 .. 7.5, grid 0.00001, sensitivity 750000 steps, scale 375000, epsilon 2 delta 0
-- => backend
SELECT x2, pg_catalog.min(x1), pg_catalog.count(x1), pg_catalog.max(x1), pg_catalog.sum(x1) FROM (SELECT (pg_catalog.numeric_larger(pg_catalog.numeric_smaller(r1."n", %(p3)s::numeric), %(p2)s::numeric) * %(p1)s::numeric)::integer AS x1, pg_catalog.mod(((pg_catalog.hashint4extended(r1."id"::integer, %(p4)s::bigint)) & %(p5)s::bigint)::integer, %(p6)s::integer) AS x2 FROM "w"."people" AS r1 LIMIT ALL) r GROUP BY 1
--   p1 = 100000
--   p2 = -2.5
--   p3 = 7.5
--   p4 = random
--   p5 = 2147483647
--   p6 = 275
-- => loss
-- epsilon 8 delta 3/4000
-- => residual
SELECT dp_b1.a1 AS "min", dp_b1.a2 AS "max", dp_b1.a3 AS "avg", dp_b1.a4 AS "sum" FROM pg_catalog.jsonb_to_recordset(($1)::pg_catalog.jsonb->'b1') AS dp_b1(a1 numeric, a2 numeric, a3 numeric, a4 numeric)

-- case: extremes and mean of f4
SELECT min(f4), max(f4), avg(f4), sum(f4) FROM people
-- => plan
-- w.people, unit 1 row(s), partitions by hash of r1."id"; keys none; cells 275
--   min: 0 .. 1000000 steps of 0.000001, fill 1000000, 275 partitions, gate 2230 units, scale 10, epsilon 2 delta 1/4000, each epsilon 19/10 delta 0.00025
--   max: 0 .. 1000000 steps of 0.000001, fill 0, 275 partitions, gate 2230 units, scale 10, epsilon 2 delta 1/4000, each epsilon 19/10 delta 0.00025
--   avg: 0 .. 1000000 steps of 0.000001, fill 500000, 275 partitions, gate 2230 units, scale 10, epsilon 2 delta 1/4000, each epsilon 19/10 delta 0.00025
--   sum: clamp 0 .. 1, grid 0.000001, sensitivity 1000000 steps, scale 500000, epsilon 2 delta 0
-- => backend
SELECT x2, pg_catalog.round((pg_catalog.float8larger(pg_catalog.float8smaller(pg_catalog.min(x1), %(p2)s::double precision), %(p1)s::double precision))::numeric * %(p3)s::numeric)::bigint, pg_catalog.count(x1), pg_catalog.round((pg_catalog.float8larger(pg_catalog.float8smaller(pg_catalog.max(x1), %(p2)s::double precision), %(p1)s::double precision))::numeric * %(p3)s::numeric)::bigint, pg_catalog.sum(((pg_catalog.float8larger(pg_catalog.float8smaller(x1, %(p2)s::double precision), %(p1)s::double precision))::double precision * %(p4)s::double precision)::integer) FROM (SELECT r1."f4" AS x1, pg_catalog.mod(((pg_catalog.hashint4extended(r1."id"::integer, %(p5)s::bigint)) & %(p6)s::bigint)::integer, %(p7)s::integer) AS x2 FROM "w"."people" AS r1 LIMIT ALL) r GROUP BY 1
--   p1 = 0
--   p2 = 1
--   p3 = 1000000
--   p4 = 1000000
--   p5 = random
--   p6 = 2147483647
--   p7 = 275
-- => loss
-- epsilon 8 delta 3/4000
-- => residual
SELECT dp_b1.a1 AS "min", dp_b1.a2 AS "max", dp_b1.a3 AS "avg", dp_b1.a4 AS "sum" FROM pg_catalog.jsonb_to_recordset(($1)::pg_catalog.jsonb->'b1') AS dp_b1(a1 real, a2 real, a3 double precision, a4 real)

-- case: extremes and mean of f8
SELECT min(f8), max(f8), avg(f8), sum(f8) FROM people
-- => plan
-- w.people, unit 1 row(s), partitions by hash of r1."id"; keys none; cells 199
--   min: -10000 .. 10000 steps of 0.01, fill 10000, 199 partitions, gate 1622 units, scale 10, epsilon 2 delta 1/4000, each epsilon 19/10 delta 0.00025
--   max: -10000 .. 10000 steps of 0.01, fill -10000, 199 partitions, gate 1622 units, scale 10, epsilon 2 delta 1/4000, each epsilon 19/10 delta 0.00025
--   avg: -10000 .. 10000 steps of 0.01, fill 0, 199 partitions, gate 1622 units, scale 10, epsilon 2 delta 1/4000, each epsilon 19/10 delta 0.00025
--   sum: clamp -100 .. 100, grid 0.01, sensitivity 10000 steps, scale 5000, epsilon 2 delta 0
-- => backend
SELECT x2, pg_catalog.round((pg_catalog.float8larger(pg_catalog.float8smaller(pg_catalog.min(x1), %(p2)s::double precision), %(p1)s::double precision))::numeric * %(p3)s::numeric)::bigint, pg_catalog.count(x1), pg_catalog.round((pg_catalog.float8larger(pg_catalog.float8smaller(pg_catalog.max(x1), %(p2)s::double precision), %(p1)s::double precision))::numeric * %(p3)s::numeric)::bigint, pg_catalog.sum(((pg_catalog.float8larger(pg_catalog.float8smaller(x1, %(p2)s::double precision), %(p1)s::double precision))::double precision * %(p2)s::double precision)::integer) FROM (SELECT r1."f8" AS x1, pg_catalog.mod(((pg_catalog.hashint4extended(r1."id"::integer, %(p4)s::bigint)) & %(p5)s::bigint)::integer, %(p6)s::integer) AS x2 FROM "w"."people" AS r1 LIMIT ALL) r GROUP BY 1
--   p1 = -100
--   p2 = 100
--   p3 = 100
--   p4 = random
--   p5 = 2147483647
--   p6 = 199
-- => loss
-- epsilon 8 delta 3/4000
-- => residual
SELECT dp_b1.a1 AS "min", dp_b1.a2 AS "max", dp_b1.a3 AS "avg", dp_b1.a4 AS "sum" FROM pg_catalog.jsonb_to_recordset(($1)::pg_catalog.jsonb->'b1') AS dp_b1(a1 double precision, a2 double precision, a3 double precision, a4 double precision)

-- case: extremes of d
SELECT min(d), max(d) FROM orders
-- => plan
-- w.orders, unit r1."uid": rows 6, groups None, per group None; keys none; cells 87
--   min: 10957 .. 18262 steps of 1, fill 18262, 87 partitions, gate 711 units, scale 5, epsilon 4 delta 1/2000, each epsilon 19/5 delta 0.0005
--   max: 10957 .. 18262 steps of 1, fill 10957, 87 partitions, gate 711 units, scale 5, epsilon 4 delta 1/2000, each epsilon 19/5 delta 0.0005
-- => backend
SELECT cell, pg_catalog.min(v0), pg_catalog.count(v0), pg_catalog.max(v1), pg_catalog.count(v1) FROM (SELECT r1."uid" AS unit, pg_catalog.mod(((pg_catalog.hashint4extended(r1."uid"::integer, %(p4)s::bigint)) & %(p5)s::bigint)::integer, %(p6)s::integer) AS cell, pg_catalog.round(((pg_catalog.date_larger(pg_catalog.date_smaller(pg_catalog.min(r1."d"), %(p2)s::date), %(p1)s::date)) - %(p3)s::date)::numeric)::bigint AS v0, pg_catalog.round(((pg_catalog.date_larger(pg_catalog.date_smaller(pg_catalog.max(r1."d"), %(p2)s::date), %(p1)s::date)) - %(p3)s::date)::numeric)::bigint AS v1 FROM "w"."orders" AS r1 WHERE r1."uid" IS NOT NULL GROUP BY r1."uid") u GROUP BY 1
--   p1 = 2000-01-01
--   p2 = 2020-01-01
--   p3 = 1970-01-01
--   p4 = random
--   p5 = 2147483647
--   p6 = 87
-- => loss
-- epsilon 8 delta 1/1000
-- => residual
SELECT dp_b1.a1 AS "min", dp_b1.a2 AS "max" FROM pg_catalog.jsonb_to_recordset(($1)::pg_catalog.jsonb->'b1') AS dp_b1(a1 pg_catalog.date, a2 pg_catalog.date)

-- case: extremes of ts
SELECT min(ts), max(ts) FROM orders
-- => plan
-- w.orders, unit r1."uid": rows 6, groups None, per group None; keys none; cells 197
--   min: 946684800 .. 1577836800 steps of 1, fill 1577836800, 197 partitions, gate 1591 units, scale 5, epsilon 4 delta 1/2000, each epsilon 19/5 delta 0.0005
--   max: 946684800 .. 1577836800 steps of 1, fill 946684800, 197 partitions, gate 1591 units, scale 5, epsilon 4 delta 1/2000, each epsilon 19/5 delta 0.0005
-- => backend
SELECT cell, pg_catalog.min(v0), pg_catalog.count(v0), pg_catalog.max(v1), pg_catalog.count(v1) FROM (SELECT r1."uid" AS unit, pg_catalog.mod(((pg_catalog.hashint4extended(r1."uid"::integer, %(p3)s::bigint)) & %(p4)s::bigint)::integer, %(p5)s::integer) AS cell, pg_catalog.round((extract(epoch FROM pg_catalog.timestamp_larger(pg_catalog.timestamp_smaller(pg_catalog.min(r1."ts"), %(p2)s::timestamp without time zone), %(p1)s::timestamp without time zone)))::numeric)::bigint AS v0, pg_catalog.round((extract(epoch FROM pg_catalog.timestamp_larger(pg_catalog.timestamp_smaller(pg_catalog.max(r1."ts"), %(p2)s::timestamp without time zone), %(p1)s::timestamp without time zone)))::numeric)::bigint AS v1 FROM "w"."orders" AS r1 WHERE r1."uid" IS NOT NULL GROUP BY r1."uid") u GROUP BY 1
--   p1 = 2000-01-01 00:00:00.000000
--   p2 = 2020-01-01 00:00:00.000000
--   p3 = random
--   p4 = 2147483647
--   p5 = 197
-- => loss
-- epsilon 8 delta 1/1000
-- => residual
SELECT dp_b1.a1 AS "min", dp_b1.a2 AS "max" FROM pg_catalog.jsonb_to_recordset(($1)::pg_catalog.jsonb->'b1') AS dp_b1(a1 timestamp without time zone, a2 timestamp without time zone)

-- case: extremes of tz
SELECT min(tz), max(tz) FROM orders
-- => plan
-- w.orders, unit r1."uid": rows 6, groups None, per group None; keys none; cells 197
--   min: 946684800 .. 1577836800 steps of 1, fill 1577836800, 197 partitions, gate 1591 units, scale 5, epsilon 4 delta 1/2000, each epsilon 19/5 delta 0.0005
--   max: 946684800 .. 1577836800 steps of 1, fill 946684800, 197 partitions, gate 1591 units, scale 5, epsilon 4 delta 1/2000, each epsilon 19/5 delta 0.0005
-- => backend
SELECT cell, pg_catalog.min(v0), pg_catalog.count(v0), pg_catalog.max(v1), pg_catalog.count(v1) FROM (SELECT r1."uid" AS unit, pg_catalog.mod(((pg_catalog.hashint4extended(r1."uid"::integer, %(p3)s::bigint)) & %(p4)s::bigint)::integer, %(p5)s::integer) AS cell, pg_catalog.round((extract(epoch FROM pg_catalog.timestamptz_larger(pg_catalog.timestamptz_smaller(pg_catalog.min(r1."tz"), %(p2)s::timestamp with time zone), %(p1)s::timestamp with time zone)))::numeric)::bigint AS v0, pg_catalog.round((extract(epoch FROM pg_catalog.timestamptz_larger(pg_catalog.timestamptz_smaller(pg_catalog.max(r1."tz"), %(p2)s::timestamp with time zone), %(p1)s::timestamp with time zone)))::numeric)::bigint AS v1 FROM "w"."orders" AS r1 WHERE r1."uid" IS NOT NULL GROUP BY r1."uid") u GROUP BY 1
--   p1 = 2000-01-01 00:00:00.000000+00
--   p2 = 2020-01-01 00:00:00.000000+00
--   p3 = random
--   p4 = 2147483647
--   p5 = 197
-- => loss
-- epsilon 8 delta 1/1000
-- => residual
SELECT dp_b1.a1 AS "min", dp_b1.a2 AS "max" FROM pg_catalog.jsonb_to_recordset(($1)::pg_catalog.jsonb->'b1') AS dp_b1(a1 timestamp with time zone, a2 timestamp with time zone)

-- case: count of t
SELECT count(t) FROM notes
-- => plan
-- w.notes, unit r1."uid": rows 4, groups None, per group None; keys none; cells 0
--   count: sensitivity 4, scale 1/2, epsilon 8 delta 0
-- => backend
SELECT pg_catalog.sum(least(v0, %(p1)s::bigint)) FROM (SELECT r1."uid" AS unit, pg_catalog.count(r1."t") AS v0 FROM "w"."notes" AS r1 WHERE pg_catalog.octet_length(r1."uid") <= %(p2)s::integer GROUP BY r1."uid") u
--   p1 = 4
--   p2 = 4096
-- => loss
-- epsilon 8 delta 0
-- => residual
SELECT dp_b1.a1 AS "count" FROM pg_catalog.jsonb_to_recordset(($1)::pg_catalog.jsonb->'b1') AS dp_b1(a1 bigint)

-- case: count of c
SELECT count(c) FROM notes
-- => plan
-- w.notes, unit r1."uid": rows 4, groups None, per group None; keys none; cells 0
--   count: sensitivity 4, scale 1/2, epsilon 8 delta 0
-- => backend
SELECT pg_catalog.sum(least(v0, %(p1)s::bigint)) FROM (SELECT r1."uid" AS unit, pg_catalog.count(r1."c") AS v0 FROM "w"."notes" AS r1 WHERE pg_catalog.octet_length(r1."uid") <= %(p2)s::integer GROUP BY r1."uid") u
--   p1 = 4
--   p2 = 4096
-- => loss
-- epsilon 8 delta 0
-- => residual
SELECT dp_b1.a1 AS "count" FROM pg_catalog.jsonb_to_recordset(($1)::pg_catalog.jsonb->'b1') AS dp_b1(a1 bigint)

-- case: count of s
SELECT count(s) FROM notes
-- => plan
-- w.notes, unit r1."uid": rows 4, groups None, per group None; keys none; cells 0
--   count: sensitivity 4, scale 1/2, epsilon 8 delta 0
-- => backend
SELECT pg_catalog.sum(least(v0, %(p1)s::bigint)) FROM (SELECT r1."uid" AS unit, pg_catalog.count(r1."s") AS v0 FROM "w"."notes" AS r1 WHERE pg_catalog.octet_length(r1."uid") <= %(p2)s::integer GROUP BY r1."uid") u
--   p1 = 4
--   p2 = 4096
-- => loss
-- epsilon 8 delta 0
-- => residual
SELECT dp_b1.a1 AS "count" FROM pg_catalog.jsonb_to_recordset(($1)::pg_catalog.jsonb->'b1') AS dp_b1(a1 bigint)

-- case: count of b
SELECT count(b) FROM notes
-- => plan
-- w.notes, unit r1."uid": rows 4, groups None, per group None; keys none; cells 0
--   count: sensitivity 4, scale 1/2, epsilon 8 delta 0
-- => backend
SELECT pg_catalog.sum(least(v0, %(p1)s::bigint)) FROM (SELECT r1."uid" AS unit, pg_catalog.count(r1."b") AS v0 FROM "w"."notes" AS r1 WHERE pg_catalog.octet_length(r1."uid") <= %(p2)s::integer GROUP BY r1."uid") u
--   p1 = 4
--   p2 = 4096
-- => loss
-- epsilon 8 delta 0
-- => residual
SELECT dp_b1.a1 AS "count" FROM pg_catalog.jsonb_to_recordset(($1)::pg_catalog.jsonb->'b1') AS dp_b1(a1 bigint)

-- case: count of free
SELECT count(free) FROM notes
-- => plan
-- w.notes, unit r1."uid": rows 4, groups None, per group None; keys none; cells 0
--   count: sensitivity 4, scale 1/2, epsilon 8 delta 0
-- => backend
SELECT pg_catalog.sum(least(v0, %(p1)s::bigint)) FROM (SELECT r1."uid" AS unit, pg_catalog.count(r1."free") AS v0 FROM "w"."notes" AS r1 WHERE pg_catalog.octet_length(r1."uid") <= %(p2)s::integer GROUP BY r1."uid") u
--   p1 = 4
--   p2 = 4096
-- => loss
-- epsilon 8 delta 0
-- => residual
SELECT dp_b1.a1 AS "count" FROM pg_catalog.jsonb_to_recordset(($1)::pg_catalog.jsonb->'b1') AS dp_b1(a1 bigint)

-- case: count of uid
SELECT count(uid) FROM notes
-- => plan
-- w.notes, unit r1."uid": rows 4, groups None, per group None; keys none; cells 0
--   count: sensitivity 4, scale 1/2, epsilon 8 delta 0
-- => backend
SELECT pg_catalog.sum(least(v0, %(p1)s::bigint)) FROM (SELECT r1."uid" AS unit, pg_catalog.count(r1."uid") AS v0 FROM "w"."notes" AS r1 WHERE pg_catalog.octet_length(r1."uid") <= %(p2)s::integer GROUP BY r1."uid") u
--   p1 = 4
--   p2 = 4096
-- => loss
-- epsilon 8 delta 0
-- => residual
SELECT dp_b1.a1 AS "count" FROM pg_catalog.jsonb_to_recordset(($1)::pg_catalog.jsonb->'b1') AS dp_b1(a1 bigint)
