-- case: count(*) of people
SELECT count(*) FROM people
-- => plan
-- w.people, unit 1 row(s), partitions by hash of r1."id"; keys none; cells 0
--   count(*): sensitivity 1, scale 1/8, epsilon 8 delta 0
-- => backend
SELECT pg_catalog.count(*) FROM "w"."people" AS r1
-- => loss
-- epsilon 8 delta 0
-- => residual
SELECT dp_b1.a1 AS "count" FROM pg_catalog.jsonb_to_recordset(($1)::pg_catalog.jsonb->'b1') AS dp_b1(a1 bigint)

-- case: sum(i4) of people
SELECT sum(i4) FROM people
-- => plan
-- w.people, unit 1 row(s), partitions by hash of r1."id"; keys none; cells 0
--   sum: clamp 0 .. 100, grid 1, sensitivity 100 steps, scale 25/2, epsilon 8 delta 0
-- => backend
SELECT pg_catalog.sum((pg_catalog.int4larger(pg_catalog.int4smaller(r1."i4", %(p2)s::integer), %(p1)s::integer))::integer) FROM "w"."people" AS r1
--   p1 = 0
--   p2 = 100
-- => loss
-- epsilon 8 delta 0
-- => residual
SELECT dp_b1.a1 AS "sum" FROM pg_catalog.jsonb_to_recordset(($1)::pg_catalog.jsonb->'b1') AS dp_b1(a1 bigint)

-- case: avg(i4) of people
SELECT avg(i4) FROM people
-- => plan
-- w.people, unit 1 row(s), partitions by hash of r1."id"; keys none; cells 47
--   avg: 0 .. 10000 steps of 0.01, fill 5000, 47 partitions, gate 383 units, scale 5/2, epsilon 8 delta 1/1000, each epsilon 38/5 delta 0.001
-- => backend
SELECT x2, pg_catalog.count(x1), pg_catalog.sum((pg_catalog.int4larger(pg_catalog.int4smaller(x1, %(p2)s::integer), %(p1)s::integer))::integer) FROM (SELECT r1."i4" AS x1, pg_catalog.mod(((pg_catalog.hashint4extended(r1."id"::integer, %(p3)s::bigint)) & %(p4)s::bigint)::integer, %(p5)s::integer) AS x2 FROM "w"."people" AS r1 LIMIT ALL) r GROUP BY 1
--   p1 = 0
--   p2 = 100
--   p3 = random
--   p4 = 2147483647
--   p5 = 47
-- => loss
-- epsilon 8 delta 1/1000
-- => residual
SELECT dp_b1.a1 AS "avg" FROM pg_catalog.jsonb_to_recordset(($1)::pg_catalog.jsonb->'b1') AS dp_b1(a1 numeric)

-- case: max(d) of people
SELECT max(d) FROM people
-- => plan
-- w.people, unit 1 row(s), partitions by hash of r1."id"; keys none; cells 45
--   max: 10957 .. 18262 steps of 1, fill 10957, 45 partitions, gate 367 units, scale 5/2, epsilon 8 delta 1/1000, each epsilon 38/5 delta 0.001
-- => backend
SELECT x2, pg_catalog.round(((pg_catalog.date_larger(pg_catalog.date_smaller(pg_catalog.max(x1), %(p2)s::date), %(p1)s::date)) - %(p3)s::date)::numeric)::bigint, pg_catalog.count(x1) FROM (SELECT r1."d" AS x1, pg_catalog.mod(((pg_catalog.hashint4extended(r1."id"::integer, %(p4)s::bigint)) & %(p5)s::bigint)::integer, %(p6)s::integer) AS x2 FROM "w"."people" AS r1 LIMIT ALL) r GROUP BY 1
--   p1 = 2000-01-01
--   p2 = 2020-01-01
--   p3 = 1970-01-01
--   p4 = random
--   p5 = 2147483647
--   p6 = 45
-- => loss
-- epsilon 8 delta 1/1000
-- => residual
SELECT dp_b1.a1 AS "max" FROM pg_catalog.jsonb_to_recordset(($1)::pg_catalog.jsonb->'b1') AS dp_b1(a1 pg_catalog.date)

-- case: count(*) of events
SELECT count(*) FROM events
-- => plan
-- w.events, unit 1 row(s), partitions by hash of r1."ctid"; keys none; cells 0
--   count(*): sensitivity 1, scale 1/8, epsilon 8 delta 0
-- => backend
SELECT pg_catalog.count(*) FROM "w"."events" AS r1
-- => loss
-- epsilon 8 delta 0
-- => residual
SELECT dp_b1.a1 AS "count" FROM pg_catalog.jsonb_to_recordset(($1)::pg_catalog.jsonb->'b1') AS dp_b1(a1 bigint)

-- case: sum(i4) of events
SELECT sum(i4) FROM events
-- => plan
-- w.events, unit 1 row(s), partitions by hash of r1."ctid"; keys none; cells 0
--   sum: clamp 0 .. 100, grid 1, sensitivity 100 steps, scale 25/2, epsilon 8 delta 0
-- => backend
SELECT pg_catalog.sum((pg_catalog.int4larger(pg_catalog.int4smaller(r1."i4", %(p2)s::integer), %(p1)s::integer))::integer) FROM "w"."events" AS r1
--   p1 = 0
--   p2 = 100
-- => loss
-- epsilon 8 delta 0
-- => residual
SELECT dp_b1.a1 AS "sum" FROM pg_catalog.jsonb_to_recordset(($1)::pg_catalog.jsonb->'b1') AS dp_b1(a1 bigint)

-- case: avg(i4) of events
SELECT avg(i4) FROM events
-- => plan
-- w.events, unit 1 row(s), partitions by hash of r1."ctid"; keys none; cells 47
--   avg: 0 .. 10000 steps of 0.01, fill 5000, 47 partitions, gate 383 units, scale 5/2, epsilon 8 delta 1/1000, each epsilon 38/5 delta 0.001
-- => backend
SELECT x2, pg_catalog.count(x1), pg_catalog.sum((pg_catalog.int4larger(pg_catalog.int4smaller(x1, %(p2)s::integer), %(p1)s::integer))::integer) FROM (SELECT r1."i4" AS x1, pg_catalog.mod(((pg_catalog.hashtidextended(r1."ctid", %(p3)s::bigint)) & %(p4)s::bigint)::integer, %(p5)s::integer) AS x2 FROM "w"."events" AS r1 LIMIT ALL) r GROUP BY 1
--   p1 = 0
--   p2 = 100
--   p3 = random
--   p4 = 2147483647
--   p5 = 47
-- => loss
-- epsilon 8 delta 1/1000
-- => residual
SELECT dp_b1.a1 AS "avg" FROM pg_catalog.jsonb_to_recordset(($1)::pg_catalog.jsonb->'b1') AS dp_b1(a1 numeric)

-- case: max(d) of events
SELECT max(d) FROM events
-- => plan
-- w.events, unit 1 row(s), partitions by hash of r1."ctid"; keys none; cells 45
--   max: 10957 .. 18262 steps of 1, fill 10957, 45 partitions, gate 367 units, scale 5/2, epsilon 8 delta 1/1000, each epsilon 38/5 delta 0.001
-- => backend
SELECT x2, pg_catalog.round(((pg_catalog.date_larger(pg_catalog.date_smaller(pg_catalog.max(x1), %(p2)s::date), %(p1)s::date)) - %(p3)s::date)::numeric)::bigint, pg_catalog.count(x1) FROM (SELECT r1."d" AS x1, pg_catalog.mod(((pg_catalog.hashtidextended(r1."ctid", %(p4)s::bigint)) & %(p5)s::bigint)::integer, %(p6)s::integer) AS x2 FROM "w"."events" AS r1 LIMIT ALL) r GROUP BY 1
--   p1 = 2000-01-01
--   p2 = 2020-01-01
--   p3 = 1970-01-01
--   p4 = random
--   p5 = 2147483647
--   p6 = 45
-- => loss
-- epsilon 8 delta 1/1000
-- => residual
SELECT dp_b1.a1 AS "max" FROM pg_catalog.jsonb_to_recordset(($1)::pg_catalog.jsonb->'b1') AS dp_b1(a1 pg_catalog.date)

-- case: count(*) of trips
SELECT count(*) FROM trips
-- => plan
-- w.trips, unit 3 row(s), partitions by hash of r1."id", r1."leg"; keys none; cells 0
--   count(*): sensitivity 3, scale 3/8, epsilon 8 delta 0
-- => backend
SELECT pg_catalog.count(*) FROM "w"."trips" AS r1
-- => loss
-- epsilon 8 delta 0
-- => residual
SELECT dp_b1.a1 AS "count" FROM pg_catalog.jsonb_to_recordset(($1)::pg_catalog.jsonb->'b1') AS dp_b1(a1 bigint)

-- case: sum(i4) of trips
SELECT sum(i4) FROM trips
-- => plan
-- w.trips, unit 3 row(s), partitions by hash of r1."id", r1."leg"; keys none; cells 0
--   sum: clamp 0 .. 100, grid 1, sensitivity 300 steps, scale 75/2, epsilon 8 delta 0
-- => backend
SELECT pg_catalog.sum((pg_catalog.int4larger(pg_catalog.int4smaller(r1."i4", %(p2)s::integer), %(p1)s::integer))::integer) FROM "w"."trips" AS r1
--   p1 = 0
--   p2 = 100
-- => loss
-- epsilon 8 delta 0
-- => residual
SELECT dp_b1.a1 AS "sum" FROM pg_catalog.jsonb_to_recordset(($1)::pg_catalog.jsonb->'b1') AS dp_b1(a1 bigint)

-- case: avg(i4) of trips
SELECT avg(i4) FROM trips
-- => plan
-- w.trips, unit 3 row(s), partitions by hash of r1."id", r1."leg"; keys none; cells 211
--   avg: 0 .. 10000 steps of 0.01, fill 5000, 211 partitions, gate 1710 units, scale 15/2, epsilon 8 delta 1/1000, each epsilon 38/15 delta 2.101e-06
-- => backend
SELECT x2, pg_catalog.count(x1), pg_catalog.sum((pg_catalog.int4larger(pg_catalog.int4smaller(x1, %(p2)s::integer), %(p1)s::integer))::integer) FROM (SELECT r1."i4" AS x1, pg_catalog.mod(((pg_catalog.hash_record_extended(ROW(r1."id", pg_catalog.hashtextextended(r1."leg"::text, %(p3)s::bigint)), %(p3)s::bigint)) & %(p4)s::bigint)::integer, %(p5)s::integer) AS x2 FROM "w"."trips" AS r1 LIMIT ALL) r GROUP BY 1
--   p1 = 0
--   p2 = 100
--   p3 = random
--   p4 = 2147483647
--   p5 = 211
-- => loss
-- epsilon 8 delta 1/1000
-- => residual
SELECT dp_b1.a1 AS "avg" FROM pg_catalog.jsonb_to_recordset(($1)::pg_catalog.jsonb->'b1') AS dp_b1(a1 numeric)

-- case: max(d) of trips
SELECT max(d) FROM trips
-- => plan
-- w.trips, unit 3 row(s), partitions by hash of r1."id", r1."leg"; keys none; cells 203
--   max: 10957 .. 18262 steps of 1, fill 10957, 203 partitions, gate 1646 units, scale 15/2, epsilon 8 delta 1/1000, each epsilon 38/15 delta 2.101e-06
-- => backend
SELECT x2, pg_catalog.round(((pg_catalog.date_larger(pg_catalog.date_smaller(pg_catalog.max(x1), %(p2)s::date), %(p1)s::date)) - %(p3)s::date)::numeric)::bigint, pg_catalog.count(x1) FROM (SELECT r1."d" AS x1, pg_catalog.mod(((pg_catalog.hash_record_extended(ROW(r1."id", pg_catalog.hashtextextended(r1."leg"::text, %(p4)s::bigint)), %(p4)s::bigint)) & %(p5)s::bigint)::integer, %(p6)s::integer) AS x2 FROM "w"."trips" AS r1 LIMIT ALL) r GROUP BY 1
--   p1 = 2000-01-01
--   p2 = 2020-01-01
--   p3 = 1970-01-01
--   p4 = random
--   p5 = 2147483647
--   p6 = 203
-- => loss
-- epsilon 8 delta 1/1000
-- => residual
SELECT dp_b1.a1 AS "max" FROM pg_catalog.jsonb_to_recordset(($1)::pg_catalog.jsonb->'b1') AS dp_b1(a1 pg_catalog.date)

-- case: count(*) of visits
SELECT count(*) FROM visits
-- => plan
-- w.visits, unit r1."uid": rows 5, groups None, per group None; keys none; cells 0
--   count(*): sensitivity 5, scale 5/8, epsilon 8 delta 0
-- => backend
SELECT pg_catalog.sum(least(v0, %(p1)s::bigint)) FROM (SELECT r1."uid" AS unit, pg_catalog.count(*) AS v0 FROM "w"."visits" AS r1 WHERE r1."uid" IS NOT NULL GROUP BY r1."uid") u
--   p1 = 5
-- => loss
-- epsilon 8 delta 0
-- => residual
SELECT dp_b1.a1 AS "count" FROM pg_catalog.jsonb_to_recordset(($1)::pg_catalog.jsonb->'b1') AS dp_b1(a1 bigint)

-- case: sum(i4) of visits
SELECT sum(i4) FROM visits
-- => plan
-- w.visits, unit r1."uid": rows 5, groups None, per group None; keys none; cells 0
--   sum: clamp 0 .. 100, grid 1, sensitivity 500 steps, scale 125/2, epsilon 8 delta 0
-- => backend
SELECT pg_catalog.sum(CASE WHEN v0 IS NOT NULL THEN least(greatest(v0, %(p3)s::bigint * %(p4)s::bigint), %(p3)s::bigint * %(p5)s::bigint) END) FROM (SELECT r1."uid" AS unit, pg_catalog.sum((pg_catalog.int4larger(pg_catalog.int4smaller(r1."i4", %(p2)s::integer), %(p1)s::integer))::integer) AS v0 FROM "w"."visits" AS r1 WHERE r1."uid" IS NOT NULL GROUP BY r1."uid") u
--   p1 = 0
--   p2 = 100
--   p3 = 5
--   p4 = 0
--   p5 = 100
-- => loss
-- epsilon 8 delta 0
-- => residual
SELECT dp_b1.a1 AS "sum" FROM pg_catalog.jsonb_to_recordset(($1)::pg_catalog.jsonb->'b1') AS dp_b1(a1 bigint)

-- case: avg(i4) of visits
SELECT avg(i4) FROM visits
-- => plan
-- w.visits, unit r1."uid": rows 5, groups None, per group None; keys none; cells 47
--   avg: 0 .. 10000 steps of 0.01, fill 5000, 47 partitions, gate 383 units, scale 5/2, epsilon 8 delta 1/1000, each epsilon 38/5 delta 0.001
-- => backend
SELECT cell, pg_catalog.sum(v0), pg_catalog.sum(v1), pg_catalog.count(v1) FROM (SELECT r1."uid" AS unit, pg_catalog.mod(((pg_catalog.hashint8extended((r1."uid" # ((r1."uid" >> 32) * (%(p3)s::bigint >> 33))), %(p3)s::bigint)) & %(p4)s::bigint)::integer, %(p5)s::integer) AS cell, pg_catalog.count(r1."i4") AS v0, pg_catalog.sum((pg_catalog.int4larger(pg_catalog.int4smaller(r1."i4", %(p2)s::integer), %(p1)s::integer))::integer) AS v1 FROM "w"."visits" AS r1 WHERE r1."uid" IS NOT NULL GROUP BY r1."uid") u GROUP BY 1
--   p1 = 0
--   p2 = 100
--   p3 = random
--   p4 = 2147483647
--   p5 = 47
-- => loss
-- epsilon 8 delta 1/1000
-- => residual
SELECT dp_b1.a1 AS "avg" FROM pg_catalog.jsonb_to_recordset(($1)::pg_catalog.jsonb->'b1') AS dp_b1(a1 numeric)

-- case: max(d) of visits
SELECT max(d) FROM visits
-- => plan
-- w.visits, unit r1."uid": rows 5, groups None, per group None; keys none; cells 45
--   max: 10957 .. 18262 steps of 1, fill 10957, 45 partitions, gate 367 units, scale 5/2, epsilon 8 delta 1/1000, each epsilon 38/5 delta 0.001
-- => backend
SELECT cell, pg_catalog.max(v0), pg_catalog.count(v0) FROM (SELECT r1."uid" AS unit, pg_catalog.mod(((pg_catalog.hashint8extended((r1."uid" # ((r1."uid" >> 32) * (%(p4)s::bigint >> 33))), %(p4)s::bigint)) & %(p5)s::bigint)::integer, %(p6)s::integer) AS cell, pg_catalog.round(((pg_catalog.date_larger(pg_catalog.date_smaller(pg_catalog.max(r1."d"), %(p2)s::date), %(p1)s::date)) - %(p3)s::date)::numeric)::bigint AS v0 FROM "w"."visits" AS r1 WHERE r1."uid" IS NOT NULL GROUP BY r1."uid") u GROUP BY 1
--   p1 = 2000-01-01
--   p2 = 2020-01-01
--   p3 = 1970-01-01
--   p4 = random
--   p5 = 2147483647
--   p6 = 45
-- => loss
-- epsilon 8 delta 1/1000
-- => residual
SELECT dp_b1.a1 AS "max" FROM pg_catalog.jsonb_to_recordset(($1)::pg_catalog.jsonb->'b1') AS dp_b1(a1 pg_catalog.date)

-- case: count(*) of orders
SELECT count(*) FROM orders
-- => plan
-- w.orders, unit r1."uid": rows 6, groups None, per group None; keys none; cells 0
--   count(*): sensitivity 6, scale 3/4, epsilon 8 delta 0
-- => backend
SELECT pg_catalog.sum(least(v0, %(p1)s::bigint)) FROM (SELECT r1."uid" AS unit, pg_catalog.count(*) AS v0 FROM "w"."orders" AS r1 WHERE r1."uid" IS NOT NULL GROUP BY r1."uid") u
--   p1 = 6
-- => loss
-- epsilon 8 delta 0
-- => residual
SELECT dp_b1.a1 AS "count" FROM pg_catalog.jsonb_to_recordset(($1)::pg_catalog.jsonb->'b1') AS dp_b1(a1 bigint)

-- case: sum(i4) of orders
SELECT sum(i4) FROM orders
-- => plan
-- w.orders, unit r1."uid": rows 6, groups None, per group None; keys none; cells 0
--   sum: clamp 0 .. 100, grid 1, sensitivity 600 steps, scale 75, epsilon 8 delta 0
-- => backend
SELECT pg_catalog.sum(CASE WHEN v0 IS NOT NULL THEN least(greatest(v0, %(p3)s::bigint * %(p4)s::bigint), %(p3)s::bigint * %(p5)s::bigint) END) FROM (SELECT r1."uid" AS unit, pg_catalog.sum((pg_catalog.int4larger(pg_catalog.int4smaller(r1."i4", %(p2)s::integer), %(p1)s::integer))::integer) AS v0 FROM "w"."orders" AS r1 WHERE r1."uid" IS NOT NULL GROUP BY r1."uid") u
--   p1 = 0
--   p2 = 100
--   p3 = 6
--   p4 = 0
--   p5 = 100
-- => loss
-- epsilon 8 delta 0
-- => residual
SELECT dp_b1.a1 AS "sum" FROM pg_catalog.jsonb_to_recordset(($1)::pg_catalog.jsonb->'b1') AS dp_b1(a1 bigint)

-- case: avg(i4) of orders
SELECT avg(i4) FROM orders
-- => plan
-- w.orders, unit r1."uid": rows 6, groups None, per group None; keys none; cells 47
--   avg: 0 .. 10000 steps of 0.01, fill 5000, 47 partitions, gate 383 units, scale 5/2, epsilon 8 delta 1/1000, each epsilon 38/5 delta 0.001
-- => backend
SELECT cell, pg_catalog.sum(v0), pg_catalog.sum(v1), pg_catalog.count(v1) FROM (SELECT r1."uid" AS unit, pg_catalog.mod(((pg_catalog.hashint4extended(r1."uid"::integer, %(p3)s::bigint)) & %(p4)s::bigint)::integer, %(p5)s::integer) AS cell, pg_catalog.count(r1."i4") AS v0, pg_catalog.sum((pg_catalog.int4larger(pg_catalog.int4smaller(r1."i4", %(p2)s::integer), %(p1)s::integer))::integer) AS v1 FROM "w"."orders" AS r1 WHERE r1."uid" IS NOT NULL GROUP BY r1."uid") u GROUP BY 1
--   p1 = 0
--   p2 = 100
--   p3 = random
--   p4 = 2147483647
--   p5 = 47
-- => loss
-- epsilon 8 delta 1/1000
-- => residual
SELECT dp_b1.a1 AS "avg" FROM pg_catalog.jsonb_to_recordset(($1)::pg_catalog.jsonb->'b1') AS dp_b1(a1 numeric)

-- case: max(d) of orders
SELECT max(d) FROM orders
-- => plan
-- w.orders, unit r1."uid": rows 6, groups None, per group None; keys none; cells 45
--   max: 10957 .. 18262 steps of 1, fill 10957, 45 partitions, gate 367 units, scale 5/2, epsilon 8 delta 1/1000, each epsilon 38/5 delta 0.001
-- => backend
SELECT cell, pg_catalog.max(v0), pg_catalog.count(v0) FROM (SELECT r1."uid" AS unit, pg_catalog.mod(((pg_catalog.hashint4extended(r1."uid"::integer, %(p4)s::bigint)) & %(p5)s::bigint)::integer, %(p6)s::integer) AS cell, pg_catalog.round(((pg_catalog.date_larger(pg_catalog.date_smaller(pg_catalog.max(r1."d"), %(p2)s::date), %(p1)s::date)) - %(p3)s::date)::numeric)::bigint AS v0 FROM "w"."orders" AS r1 WHERE r1."uid" IS NOT NULL GROUP BY r1."uid") u GROUP BY 1
--   p1 = 2000-01-01
--   p2 = 2020-01-01
--   p3 = 1970-01-01
--   p4 = random
--   p5 = 2147483647
--   p6 = 45
-- => loss
-- epsilon 8 delta 1/1000
-- => residual
SELECT dp_b1.a1 AS "max" FROM pg_catalog.jsonb_to_recordset(($1)::pg_catalog.jsonb->'b1') AS dp_b1(a1 pg_catalog.date)

-- case: count(*) of members
SELECT count(*) FROM members
-- => plan
-- w.members, unit 1 row(s), partitions by hash of r1."uid", r1."uid" not null; keys none; cells 0
--   count(*): sensitivity 1, scale 1/8, epsilon 8 delta 0
-- => backend
SELECT pg_catalog.count(*) FROM "w"."members" AS r1 WHERE r1."uid" IS NOT NULL
-- => loss
-- epsilon 8 delta 0
-- => residual
SELECT dp_b1.a1 AS "count" FROM pg_catalog.jsonb_to_recordset(($1)::pg_catalog.jsonb->'b1') AS dp_b1(a1 bigint)

-- case: sum(i4) of members
SELECT sum(i4) FROM members
-- => plan
-- w.members, unit 1 row(s), partitions by hash of r1."uid", r1."uid" not null; keys none; cells 0
--   sum: clamp 0 .. 100, grid 1, sensitivity 100 steps, scale 25/2, epsilon 8 delta 0
-- => backend
SELECT pg_catalog.sum((pg_catalog.int4larger(pg_catalog.int4smaller(r1."i4", %(p2)s::integer), %(p1)s::integer))::integer) FROM "w"."members" AS r1 WHERE r1."uid" IS NOT NULL
--   p1 = 0
--   p2 = 100
-- => loss
-- epsilon 8 delta 0
-- => residual
SELECT dp_b1.a1 AS "sum" FROM pg_catalog.jsonb_to_recordset(($1)::pg_catalog.jsonb->'b1') AS dp_b1(a1 bigint)

-- case: avg(i4) of members
SELECT avg(i4) FROM members
-- => plan
-- w.members, unit 1 row(s), partitions by hash of r1."uid", r1."uid" not null; keys none; cells 47
--   avg: 0 .. 10000 steps of 0.01, fill 5000, 47 partitions, gate 383 units, scale 5/2, epsilon 8 delta 1/1000, each epsilon 38/5 delta 0.001
-- => backend
SELECT x2, pg_catalog.count(x1), pg_catalog.sum((pg_catalog.int4larger(pg_catalog.int4smaller(x1, %(p2)s::integer), %(p1)s::integer))::integer) FROM (SELECT r1."i4" AS x1, pg_catalog.mod(((pg_catalog.hashint4extended(r1."uid"::integer, %(p3)s::bigint)) & %(p4)s::bigint)::integer, %(p5)s::integer) AS x2 FROM "w"."members" AS r1 WHERE r1."uid" IS NOT NULL LIMIT ALL) r GROUP BY 1
--   p1 = 0
--   p2 = 100
--   p3 = random
--   p4 = 2147483647
--   p5 = 47
-- => loss
-- epsilon 8 delta 1/1000
-- => residual
SELECT dp_b1.a1 AS "avg" FROM pg_catalog.jsonb_to_recordset(($1)::pg_catalog.jsonb->'b1') AS dp_b1(a1 numeric)

-- case: max(d) of members
SELECT max(d) FROM members
-- => plan
-- w.members, unit 1 row(s), partitions by hash of r1."uid", r1."uid" not null; keys none; cells 45
--   max: 10957 .. 18262 steps of 1, fill 10957, 45 partitions, gate 367 units, scale 5/2, epsilon 8 delta 1/1000, each epsilon 38/5 delta 0.001
-- => backend
SELECT x2, pg_catalog.round(((pg_catalog.date_larger(pg_catalog.date_smaller(pg_catalog.max(x1), %(p2)s::date), %(p1)s::date)) - %(p3)s::date)::numeric)::bigint, pg_catalog.count(x1) FROM (SELECT r1."d" AS x1, pg_catalog.mod(((pg_catalog.hashint4extended(r1."uid"::integer, %(p4)s::bigint)) & %(p5)s::bigint)::integer, %(p6)s::integer) AS x2 FROM "w"."members" AS r1 WHERE r1."uid" IS NOT NULL LIMIT ALL) r GROUP BY 1
--   p1 = 2000-01-01
--   p2 = 2020-01-01
--   p3 = 1970-01-01
--   p4 = random
--   p5 = 2147483647
--   p6 = 45
-- => loss
-- epsilon 8 delta 1/1000
-- => residual
SELECT dp_b1.a1 AS "max" FROM pg_catalog.jsonb_to_recordset(($1)::pg_catalog.jsonb->'b1') AS dp_b1(a1 pg_catalog.date)

-- case: all aggregates of people by t
SELECT t, count(*), count(f8), sum(n2), avg(i2), min(f4), max(ts) FROM people GROUP BY t
-- => plan
-- w.people, unit 1 row(s), partitions by hash of r1."id"; keys t of 4; cells 623
--   count(*): sensitivity 1, scale 3/4, epsilon 4/3 delta 0
--   count: sensitivity 1, scale 3/4, epsilon 4/3 delta 0
--   sum: clamp 0 .. 175, grid 0.01, sensitivity 17500 steps, scale 13125, epsilon 4/3 delta 0
--   avg: -5000 .. 10000 steps of 0.001, fill 2500, 295 partitions, gate 2405 units, scale 15, epsilon 4/3 delta 1/6000, each epsilon 19/15 delta 0.0001667
--   min: 0 .. 1000000 steps of 0.000001, fill 1000000, 425 partitions, gate 3445 units, scale 15, epsilon 4/3 delta 1/6000, each epsilon 19/15 delta 0.0001667
--   max: 946684800 .. 1577836800 steps of 1, fill 946684800, 623 partitions, gate 5029 units, scale 15, epsilon 4/3 delta 1/6000, each epsilon 19/15 delta 0.0001667
-- => backend
SELECT x6, x7, pg_catalog.count(*), pg_catalog.count(x1), pg_catalog.sum(x2), pg_catalog.count(x3), pg_catalog.sum((pg_catalog.int4larger(pg_catalog.int4smaller(x3, %(p5)s::integer), %(p4)s::integer))::integer), pg_catalog.round((pg_catalog.float8larger(pg_catalog.float8smaller(pg_catalog.min(x4), %(p7)s::double precision), %(p6)s::double precision))::numeric * %(p8)s::numeric)::bigint, pg_catalog.count(x4), pg_catalog.round((extract(epoch FROM pg_catalog.timestamp_larger(pg_catalog.timestamp_smaller(pg_catalog.max(x5), %(p10)s::timestamp without time zone), %(p9)s::timestamp without time zone)))::numeric)::bigint, pg_catalog.count(x5) FROM (SELECT r1."f8" AS x1, pg_catalog.int4larger((pg_catalog.numeric_smaller(r1."n2" * %(p1)s::numeric, %(p2)s::numeric))::integer, %(p3)s::integer) AS x2, r1."i2" AS x3, r1."f4" AS x4, r1."ts" AS x5, (r1."t")::text AS x6, pg_catalog.mod(((pg_catalog.hashint4extended(r1."id"::integer, %(p12)s::bigint)) & %(p13)s::bigint)::integer, %(p14)s::integer) AS x7 FROM "w"."people" AS r1 WHERE (r1."t" = ANY(%(p11)s::text[]::text[]) OR r1."t" IS NULL) LIMIT ALL) r GROUP BY 1, 2
--   p1 = 100
--   p2 = 17500
--   p3 = 0
--   p4 = -5
--   p5 = 10
--   p6 = 0
--   p7 = 1
--   p8 = 1000000
--   p9 = 2000-01-01 00:00:00.000000
--   p10 = 2020-01-01 00:00:00.000000
--   p11 = ['x', 'y', 'z']
--   p12 = random
--   p13 = 2147483647
--   p14 = 623
-- => loss
-- epsilon 8 delta 1/2000
-- => residual
SELECT dp_b1.k1 AS "t", dp_b1.a1 AS "count", dp_b1.a2 AS "count", dp_b1.a3 AS "sum", dp_b1.a4 AS "avg", dp_b1.a5 AS "min", dp_b1.a6 AS "max" FROM pg_catalog.jsonb_to_recordset(($1)::pg_catalog.jsonb->'b1') AS dp_b1(k1 pg_catalog.text, a1 bigint, a2 bigint, a3 numeric, a4 numeric, a5 real, a6 timestamp without time zone)

-- case: all aggregates of events by t
SELECT t, count(*), count(f8), sum(n2), avg(i2), min(f4), max(ts) FROM events GROUP BY t
-- => plan
-- w.events, unit 1 row(s), partitions by hash of r1."ctid"; keys t of 4; cells 623
--   count(*): sensitivity 1, scale 3/4, epsilon 4/3 delta 0
--   count: sensitivity 1, scale 3/4, epsilon 4/3 delta 0
--   sum: clamp 0 .. 175, grid 0.01, sensitivity 17500 steps, scale 13125, epsilon 4/3 delta 0
--   avg: -5000 .. 10000 steps of 0.001, fill 2500, 295 partitions, gate 2405 units, scale 15, epsilon 4/3 delta 1/6000, each epsilon 19/15 delta 0.0001667
--   min: 0 .. 1000000 steps of 0.000001, fill 1000000, 425 partitions, gate 3445 units, scale 15, epsilon 4/3 delta 1/6000, each epsilon 19/15 delta 0.0001667
--   max: 946684800 .. 1577836800 steps of 1, fill 946684800, 623 partitions, gate 5029 units, scale 15, epsilon 4/3 delta 1/6000, each epsilon 19/15 delta 0.0001667
-- => backend
SELECT x6, x7, pg_catalog.count(*), pg_catalog.count(x1), pg_catalog.sum(x2), pg_catalog.count(x3), pg_catalog.sum((pg_catalog.int4larger(pg_catalog.int4smaller(x3, %(p5)s::integer), %(p4)s::integer))::integer), pg_catalog.round((pg_catalog.float8larger(pg_catalog.float8smaller(pg_catalog.min(x4), %(p7)s::double precision), %(p6)s::double precision))::numeric * %(p8)s::numeric)::bigint, pg_catalog.count(x4), pg_catalog.round((extract(epoch FROM pg_catalog.timestamp_larger(pg_catalog.timestamp_smaller(pg_catalog.max(x5), %(p10)s::timestamp without time zone), %(p9)s::timestamp without time zone)))::numeric)::bigint, pg_catalog.count(x5) FROM (SELECT r1."f8" AS x1, pg_catalog.int4larger((pg_catalog.numeric_smaller(r1."n2" * %(p1)s::numeric, %(p2)s::numeric))::integer, %(p3)s::integer) AS x2, r1."i2" AS x3, r1."f4" AS x4, r1."ts" AS x5, (r1."t")::text AS x6, pg_catalog.mod(((pg_catalog.hashtidextended(r1."ctid", %(p12)s::bigint)) & %(p13)s::bigint)::integer, %(p14)s::integer) AS x7 FROM "w"."events" AS r1 WHERE (r1."t" = ANY(%(p11)s::text[]::text[]) OR r1."t" IS NULL) LIMIT ALL) r GROUP BY 1, 2
--   p1 = 100
--   p2 = 17500
--   p3 = 0
--   p4 = -5
--   p5 = 10
--   p6 = 0
--   p7 = 1
--   p8 = 1000000
--   p9 = 2000-01-01 00:00:00.000000
--   p10 = 2020-01-01 00:00:00.000000
--   p11 = ['x', 'y', 'z']
--   p12 = random
--   p13 = 2147483647
--   p14 = 623
-- => loss
-- epsilon 8 delta 1/2000
-- => residual
SELECT dp_b1.k1 AS "t", dp_b1.a1 AS "count", dp_b1.a2 AS "count", dp_b1.a3 AS "sum", dp_b1.a4 AS "avg", dp_b1.a5 AS "min", dp_b1.a6 AS "max" FROM pg_catalog.jsonb_to_recordset(($1)::pg_catalog.jsonb->'b1') AS dp_b1(k1 pg_catalog.text, a1 bigint, a2 bigint, a3 numeric, a4 numeric, a5 real, a6 timestamp without time zone)

-- case: all aggregates of trips by t
SELECT t, count(*), count(f8), sum(n2), avg(i2), min(f4), max(ts) FROM trips GROUP BY t
-- => plan
-- w.trips, unit 3 row(s), partitions by hash of r1."id", r1."leg"; keys t of 4; cells 2197
--   count(*): sensitivity 3, scale 9/4, epsilon 4/3 delta 0
--   count: sensitivity 3, scale 9/4, epsilon 4/3 delta 0
--   sum: clamp 0 .. 175, grid 0.01, sensitivity 52500 steps, scale 39375, epsilon 4/3 delta 0
--   avg: -5000 .. 10000 steps of 0.001, fill 2500, 1043 partitions, gate 8479 units, scale 45, epsilon 4/3 delta 1/6000, each epsilon 19/45 delta 2.388e-05
--   min: 0 .. 1000000 steps of 0.000001, fill 1000000, 1499 partitions, gate 12127 units, scale 45, epsilon 4/3 delta 1/6000, each epsilon 19/45 delta 2.388e-05
--   max: 946684800 .. 1577836800 steps of 1, fill 946684800, 2197 partitions, gate 17711 units, scale 45, epsilon 4/3 delta 1/6000, each epsilon 19/45 delta 2.388e-05
-- => backend
SELECT x6, x7, pg_catalog.count(*), pg_catalog.count(x1), pg_catalog.sum(x2), pg_catalog.count(x3), pg_catalog.sum((pg_catalog.int4larger(pg_catalog.int4smaller(x3, %(p5)s::integer), %(p4)s::integer))::integer), pg_catalog.round((pg_catalog.float8larger(pg_catalog.float8smaller(pg_catalog.min(x4), %(p7)s::double precision), %(p6)s::double precision))::numeric * %(p8)s::numeric)::bigint, pg_catalog.count(x4), pg_catalog.round((extract(epoch FROM pg_catalog.timestamp_larger(pg_catalog.timestamp_smaller(pg_catalog.max(x5), %(p10)s::timestamp without time zone), %(p9)s::timestamp without time zone)))::numeric)::bigint, pg_catalog.count(x5) FROM (SELECT r1."f8" AS x1, pg_catalog.int4larger((pg_catalog.numeric_smaller(r1."n2" * %(p1)s::numeric, %(p2)s::numeric))::integer, %(p3)s::integer) AS x2, r1."i2" AS x3, r1."f4" AS x4, r1."ts" AS x5, (r1."t")::text AS x6, pg_catalog.mod(((pg_catalog.hash_record_extended(ROW(r1."id", pg_catalog.hashtextextended(r1."leg"::text, %(p12)s::bigint)), %(p12)s::bigint)) & %(p13)s::bigint)::integer, %(p14)s::integer) AS x7 FROM "w"."trips" AS r1 WHERE (r1."t" = ANY(%(p11)s::text[]::text[]) OR r1."t" IS NULL) LIMIT ALL) r GROUP BY 1, 2
--   p1 = 100
--   p2 = 17500
--   p3 = 0
--   p4 = -5
--   p5 = 10
--   p6 = 0
--   p7 = 1
--   p8 = 1000000
--   p9 = 2000-01-01 00:00:00.000000
--   p10 = 2020-01-01 00:00:00.000000
--   p11 = ['x', 'y', 'z']
--   p12 = random
--   p13 = 2147483647
--   p14 = 2197
-- => loss
-- epsilon 8 delta 1/2000
-- => residual
SELECT dp_b1.k1 AS "t", dp_b1.a1 AS "count", dp_b1.a2 AS "count", dp_b1.a3 AS "sum", dp_b1.a4 AS "avg", dp_b1.a5 AS "min", dp_b1.a6 AS "max" FROM pg_catalog.jsonb_to_recordset(($1)::pg_catalog.jsonb->'b1') AS dp_b1(k1 pg_catalog.text, a1 bigint, a2 bigint, a3 numeric, a4 numeric, a5 real, a6 timestamp without time zone)

-- case: all aggregates of visits by t
SELECT t, count(*), count(f8), sum(n2), avg(i2), min(f4), max(ts) FROM visits GROUP BY t
-- => plan
-- w.visits, unit r1."uid": rows 5, groups None, per group None; keys t of 4; cells 2781
--   count(*): sensitivity 5, scale 15/4, epsilon 4/3 delta 0
--   count: sensitivity 5, scale 15/4, epsilon 4/3 delta 0
--   sum: clamp 0 .. 175, grid 0.01, sensitivity 87500 steps, scale 65625, epsilon 4/3 delta 0
--   avg: -5000 .. 10000 steps of 0.001, fill 2500, 1319 partitions, gate 10732 units, scale 60, epsilon 4/3 delta 1/6000, each epsilon 19/60 delta 4.167e-05
--   min: 0 .. 1000000 steps of 0.000001, fill 1000000, 1895 partitions, gate 15340 units, scale 60, epsilon 4/3 delta 1/6000, each epsilon 19/60 delta 4.167e-05
--   max: 946684800 .. 1577836800 steps of 1, fill 946684800, 2781 partitions, gate 22428 units, scale 60, epsilon 4/3 delta 1/6000, each epsilon 19/60 delta 4.167e-05
-- => backend
SELECT k1, cell, pg_catalog.sum(CASE WHEN total0 <= %(p1)s::bigint THEN v0 ELSE pg_catalog.div(v0::numeric * %(p1)s::bigint, total0)::bigint END), pg_catalog.sum(CASE WHEN total1 <= %(p1)s::bigint THEN v1 ELSE pg_catalog.div(v1::numeric * %(p1)s::bigint, total1)::bigint END), pg_catalog.sum(CASE WHEN v2 IS NOT NULL THEN CASE WHEN total3 <= %(p1)s::bigint THEN v2::bigint ELSE (least(greatest(v2, CASE WHEN total3 <= %(p1)s::bigint THEN v3 ELSE pg_catalog.div(v3::numeric * %(p1)s::bigint, total3)::bigint END * %(p5)s::bigint), CASE WHEN total3 <= %(p1)s::bigint THEN v3 ELSE pg_catalog.div(v3::numeric * %(p1)s::bigint, total3)::bigint END * %(p6)s::bigint))::bigint END END), pg_catalog.sum(v4), pg_catalog.sum(v5), pg_catalog.count(v5), pg_catalog.min(v6), pg_catalog.count(v6), pg_catalog.max(v7), pg_catalog.count(v7) FROM (SELECT *, (pg_catalog.sum((v0)::float8) OVER (PARTITION BY unit))::bigint AS total0, (pg_catalog.sum((v1)::float8) OVER (PARTITION BY unit))::bigint AS total1, (pg_catalog.sum((v3)::float8) OVER (PARTITION BY unit))::bigint AS total3 FROM (SELECT r1."uid" AS unit, (r1."t")::text AS k1, pg_catalog.mod(((pg_catalog.hashint8extended((r1."uid" # ((r1."uid" >> 32) * (%(p14)s::bigint >> 33))), %(p14)s::bigint)) & %(p15)s::bigint)::integer, %(p16)s::integer) AS cell, pg_catalog.count(*) AS v0, pg_catalog.count(r1."f8") AS v1, pg_catalog.sum(pg_catalog.int4larger((pg_catalog.numeric_smaller(r1."n2" * %(p2)s::numeric, %(p3)s::numeric))::integer, %(p4)s::integer)) AS v2, pg_catalog.count(r1."n2") AS v3, pg_catalog.count(r1."i2") AS v4, pg_catalog.sum((pg_catalog.int4larger(pg_catalog.int4smaller(r1."i2", %(p8)s::integer), %(p7)s::integer))::integer) AS v5, pg_catalog.round((pg_catalog.float8larger(pg_catalog.float8smaller(pg_catalog.min(r1."f4"), %(p10)s::double precision), %(p9)s::double precision))::numeric * %(p11)s::numeric)::bigint AS v6, pg_catalog.round((extract(epoch FROM pg_catalog.timestamp_larger(pg_catalog.timestamp_smaller(pg_catalog.max(r1."ts"), %(p13)s::timestamp without time zone), %(p12)s::timestamp without time zone)))::numeric)::bigint AS v7 FROM "w"."visits" AS r1 WHERE r1."uid" IS NOT NULL AND (r1."t" = ANY(%(p17)s::text[]::text[]) OR r1."t" IS NULL) GROUP BY r1."uid", 2) g) u GROUP BY 1, 2
--   p1 = 5
--   p2 = 100
--   p3 = 17500
--   p4 = 0
--   p5 = 0
--   p6 = 17500
--   p7 = -5
--   p8 = 10
--   p9 = 0
--   p10 = 1
--   p11 = 1000000
--   p12 = 2000-01-01 00:00:00.000000
--   p13 = 2020-01-01 00:00:00.000000
--   p14 = random
--   p15 = 2147483647
--   p16 = 2781
--   p17 = ['x', 'y', 'z']
-- => loss
-- epsilon 8 delta 1/2000
-- => residual
SELECT dp_b1.k1 AS "t", dp_b1.a1 AS "count", dp_b1.a2 AS "count", dp_b1.a3 AS "sum", dp_b1.a4 AS "avg", dp_b1.a5 AS "min", dp_b1.a6 AS "max" FROM pg_catalog.jsonb_to_recordset(($1)::pg_catalog.jsonb->'b1') AS dp_b1(k1 pg_catalog.text, a1 bigint, a2 bigint, a3 numeric, a4 numeric, a5 real, a6 timestamp without time zone)

-- case: all aggregates of orders by t
SELECT t, count(*), count(f8), sum(n2), avg(i2), min(f4), max(ts) FROM orders GROUP BY t
-- => plan
-- w.orders, unit r1."uid": rows 6, groups 2, per group 2; keys t of 4; cells 1311
--   count(*): sensitivity 4, scale 3, epsilon 4/3 delta 0
--   count: sensitivity 4, scale 3, epsilon 4/3 delta 0
--   sum: clamp 0 .. 175, grid 0.01, sensitivity 70000 steps, scale 52500, epsilon 4/3 delta 0
--   avg: -5000 .. 10000 steps of 0.001, fill 2500, 623 partitions, gate 5074 units, scale 30, epsilon 4/3 delta 1/6000, each epsilon 19/30 delta 8.333e-05
--   min: 0 .. 1000000 steps of 0.000001, fill 1000000, 895 partitions, gate 7250 units, scale 30, epsilon 4/3 delta 1/6000, each epsilon 19/30 delta 8.333e-05
--   max: 946684800 .. 1577836800 steps of 1, fill 946684800, 1311 partitions, gate 10578 units, scale 30, epsilon 4/3 delta 1/6000, each epsilon 19/30 delta 8.333e-05
-- => backend
SELECT k1, cell, pg_catalog.sum(least(v0, %(p2)s::bigint)), pg_catalog.sum(least(v1, %(p2)s::bigint)), pg_catalog.sum(CASE WHEN v2 IS NOT NULL THEN least(greatest(v2, least(v3, %(p2)s::bigint) * %(p6)s::bigint), least(v3, %(p2)s::bigint) * %(p7)s::bigint) END), pg_catalog.sum(v4), pg_catalog.sum(v5), pg_catalog.count(v5), pg_catalog.min(v6), pg_catalog.count(v6), pg_catalog.max(v7), pg_catalog.count(v7) FROM (SELECT * FROM (SELECT *, pg_catalog.row_number() OVER (PARTITION BY unit ORDER BY pg_catalog.hashint8extended(pg_catalog.hash_record_extended(ROW(g."unit", k1), %(p19)s::bigint), %(p19)s::bigint), k1) AS rank FROM (SELECT r1."uid" AS unit, (r1."t")::text AS k1, pg_catalog.mod(((pg_catalog.hashint4extended(r1."uid"::integer, %(p15)s::bigint)) & %(p16)s::bigint)::integer, %(p17)s::integer) AS cell, pg_catalog.count(*) AS v0, pg_catalog.count(r1."f8") AS v1, pg_catalog.sum(pg_catalog.int4larger((pg_catalog.numeric_smaller(r1."n2" * %(p3)s::numeric, %(p4)s::numeric))::integer, %(p5)s::integer)) AS v2, pg_catalog.count(r1."n2") AS v3, pg_catalog.count(r1."i2") AS v4, pg_catalog.sum((pg_catalog.int4larger(pg_catalog.int4smaller(r1."i2", %(p9)s::integer), %(p8)s::integer))::integer) AS v5, pg_catalog.round((pg_catalog.float8larger(pg_catalog.float8smaller(pg_catalog.min(r1."f4"), %(p11)s::double precision), %(p10)s::double precision))::numeric * %(p12)s::numeric)::bigint AS v6, pg_catalog.round((extract(epoch FROM pg_catalog.timestamp_larger(pg_catalog.timestamp_smaller(pg_catalog.max(r1."ts"), %(p14)s::timestamp without time zone), %(p13)s::timestamp without time zone)))::numeric)::bigint AS v7 FROM "w"."orders" AS r1 WHERE r1."uid" IS NOT NULL AND (r1."t" = ANY(%(p18)s::text[]::text[]) OR r1."t" IS NULL) GROUP BY r1."uid", 2) g) c WHERE rank <= %(p2)s::bigint) u GROUP BY 1, 2
--   p1 = 6
--   p2 = 2
--   p3 = 100
--   p4 = 17500
--   p5 = 0
--   p6 = 0
--   p7 = 17500
--   p8 = -5
--   p9 = 10
--   p10 = 0
--   p11 = 1
--   p12 = 1000000
--   p13 = 2000-01-01 00:00:00.000000
--   p14 = 2020-01-01 00:00:00.000000
--   p15 = random
--   p16 = 2147483647
--   p17 = 1311
--   p18 = ['x', 'y', 'z']
--   p19 = random
-- => loss
-- epsilon 8 delta 1/2000
-- => residual
SELECT dp_b1.k1 AS "t", dp_b1.a1 AS "count", dp_b1.a2 AS "count", dp_b1.a3 AS "sum", dp_b1.a4 AS "avg", dp_b1.a5 AS "min", dp_b1.a6 AS "max" FROM pg_catalog.jsonb_to_recordset(($1)::pg_catalog.jsonb->'b1') AS dp_b1(k1 pg_catalog.text, a1 bigint, a2 bigint, a3 numeric, a4 numeric, a5 real, a6 timestamp without time zone)

-- case: all aggregates of notes by t
SELECT t, count(*), count(f8), sum(n2), avg(i2), min(f4), max(ts) FROM notes GROUP BY t
-- => plan
-- w.notes, unit r1."uid": rows 4, groups 2, per group None; keys t of 4; cells 1311
--   count(*): sensitivity 4, scale 3, epsilon 4/3 delta 0
--   count: sensitivity 4, scale 3, epsilon 4/3 delta 0
--   sum: clamp 0 .. 175, grid 0.01, sensitivity 70000 steps, scale 52500, epsilon 4/3 delta 0
--   avg: -5000 .. 10000 steps of 0.001, fill 2500, 623 partitions, gate 5074 units, scale 30, epsilon 4/3 delta 1/6000, each epsilon 19/30 delta 8.333e-05
--   min: 0 .. 1000000 steps of 0.000001, fill 1000000, 895 partitions, gate 7250 units, scale 30, epsilon 4/3 delta 1/6000, each epsilon 19/30 delta 8.333e-05
--   max: 946684800 .. 1577836800 steps of 1, fill 946684800, 1311 partitions, gate 10578 units, scale 30, epsilon 4/3 delta 1/6000, each epsilon 19/30 delta 8.333e-05
-- => backend
SELECT k1, cell, pg_catalog.sum(CASE WHEN total0 <= %(p1)s::bigint THEN v0 ELSE pg_catalog.div(v0::numeric * %(p1)s::bigint, total0)::bigint END), pg_catalog.sum(CASE WHEN total1 <= %(p1)s::bigint THEN v1 ELSE pg_catalog.div(v1::numeric * %(p1)s::bigint, total1)::bigint END), pg_catalog.sum(CASE WHEN v2 IS NOT NULL THEN CASE WHEN total3 <= %(p1)s::bigint THEN v2::bigint ELSE (least(greatest(v2, CASE WHEN total3 <= %(p1)s::bigint THEN v3 ELSE pg_catalog.div(v3::numeric * %(p1)s::bigint, total3)::bigint END * %(p5)s::bigint), CASE WHEN total3 <= %(p1)s::bigint THEN v3 ELSE pg_catalog.div(v3::numeric * %(p1)s::bigint, total3)::bigint END * %(p6)s::bigint))::bigint END END), pg_catalog.sum(v4), pg_catalog.sum(v5), pg_catalog.count(v5), pg_catalog.min(v6), pg_catalog.count(v6), pg_catalog.max(v7), pg_catalog.count(v7) FROM (SELECT *, (pg_catalog.sum((v0)::float8) OVER (PARTITION BY unit))::bigint AS total0, (pg_catalog.sum((v1)::float8) OVER (PARTITION BY unit))::bigint AS total1, (pg_catalog.sum((v3)::float8) OVER (PARTITION BY unit))::bigint AS total3 FROM (SELECT * FROM (SELECT *, pg_catalog.row_number() OVER (PARTITION BY unit ORDER BY pg_catalog.hashint8extended(pg_catalog.hash_record_extended(ROW(pg_catalog.hashtextextended(g."unit"::text, %(p19)s::bigint), k1), %(p19)s::bigint), %(p19)s::bigint), k1) AS rank FROM (SELECT r1."uid" AS unit, (r1."t")::text AS k1, pg_catalog.mod(((pg_catalog.hashtextextended(r1."uid"::text, %(p14)s::bigint)) & %(p15)s::bigint)::integer, %(p16)s::integer) AS cell, pg_catalog.count(*) AS v0, pg_catalog.count(r1."f8") AS v1, pg_catalog.sum(pg_catalog.int4larger((pg_catalog.numeric_smaller(r1."n2" * %(p2)s::numeric, %(p3)s::numeric))::integer, %(p4)s::integer)) AS v2, pg_catalog.count(r1."n2") AS v3, pg_catalog.count(r1."i2") AS v4, pg_catalog.sum((pg_catalog.int4larger(pg_catalog.int4smaller(r1."i2", %(p8)s::integer), %(p7)s::integer))::integer) AS v5, pg_catalog.round((pg_catalog.float8larger(pg_catalog.float8smaller(pg_catalog.min(r1."f4"), %(p10)s::double precision), %(p9)s::double precision))::numeric * %(p11)s::numeric)::bigint AS v6, pg_catalog.round((extract(epoch FROM pg_catalog.timestamp_larger(pg_catalog.timestamp_smaller(pg_catalog.max(r1."ts"), %(p13)s::timestamp without time zone), %(p12)s::timestamp without time zone)))::numeric)::bigint AS v7 FROM "w"."notes" AS r1 WHERE pg_catalog.octet_length(r1."uid") <= %(p18)s::integer AND (r1."t" = ANY(%(p17)s::text[]::text[]) OR r1."t" IS NULL) GROUP BY r1."uid", 2) g) c WHERE rank <= %(p20)s::bigint) g) u GROUP BY 1, 2
--   p1 = 4
--   p2 = 100
--   p3 = 17500
--   p4 = 0
--   p5 = 0
--   p6 = 17500
--   p7 = -5
--   p8 = 10
--   p9 = 0
--   p10 = 1
--   p11 = 1000000
--   p12 = 2000-01-01 00:00:00.000000
--   p13 = 2020-01-01 00:00:00.000000
--   p14 = random
--   p15 = 2147483647
--   p16 = 1311
--   p17 = ['x', 'y', 'z']
--   p18 = 4096
--   p19 = random
--   p20 = 2
-- => loss
-- epsilon 8 delta 1/2000
-- => residual
SELECT dp_b1.k1 AS "t", dp_b1.a1 AS "count", dp_b1.a2 AS "count", dp_b1.a3 AS "sum", dp_b1.a4 AS "avg", dp_b1.a5 AS "min", dp_b1.a6 AS "max" FROM pg_catalog.jsonb_to_recordset(($1)::pg_catalog.jsonb->'b1') AS dp_b1(k1 pg_catalog.text, a1 bigint, a2 bigint, a3 numeric, a4 numeric, a5 real, a6 timestamp without time zone)

-- case: all aggregates of members by t
SELECT t, count(*), count(f8), sum(n2), avg(i2), min(f4), max(ts) FROM members GROUP BY t
-- => plan
-- w.members, unit 1 row(s), partitions by hash of r1."uid", r1."uid" not null; keys t of 4; cells 623
--   count(*): sensitivity 1, scale 3/4, epsilon 4/3 delta 0
--   count: sensitivity 1, scale 3/4, epsilon 4/3 delta 0
--   sum: clamp 0 .. 175, grid 0.01, sensitivity 17500 steps, scale 13125, epsilon 4/3 delta 0
--   avg: -5000 .. 10000 steps of 0.001, fill 2500, 295 partitions, gate 2405 units, scale 15, epsilon 4/3 delta 1/6000, each epsilon 19/15 delta 0.0001667
--   min: 0 .. 1000000 steps of 0.000001, fill 1000000, 425 partitions, gate 3445 units, scale 15, epsilon 4/3 delta 1/6000, each epsilon 19/15 delta 0.0001667
--   max: 946684800 .. 1577836800 steps of 1, fill 946684800, 623 partitions, gate 5029 units, scale 15, epsilon 4/3 delta 1/6000, each epsilon 19/15 delta 0.0001667
-- => backend
SELECT x6, x7, pg_catalog.count(*), pg_catalog.count(x1), pg_catalog.sum(x2), pg_catalog.count(x3), pg_catalog.sum((pg_catalog.int4larger(pg_catalog.int4smaller(x3, %(p5)s::integer), %(p4)s::integer))::integer), pg_catalog.round((pg_catalog.float8larger(pg_catalog.float8smaller(pg_catalog.min(x4), %(p7)s::double precision), %(p6)s::double precision))::numeric * %(p8)s::numeric)::bigint, pg_catalog.count(x4), pg_catalog.round((extract(epoch FROM pg_catalog.timestamp_larger(pg_catalog.timestamp_smaller(pg_catalog.max(x5), %(p10)s::timestamp without time zone), %(p9)s::timestamp without time zone)))::numeric)::bigint, pg_catalog.count(x5) FROM (SELECT r1."f8" AS x1, pg_catalog.int4larger((pg_catalog.numeric_smaller(r1."n2" * %(p1)s::numeric, %(p2)s::numeric))::integer, %(p3)s::integer) AS x2, r1."i2" AS x3, r1."f4" AS x4, r1."ts" AS x5, (r1."t")::text AS x6, pg_catalog.mod(((pg_catalog.hashint4extended(r1."uid"::integer, %(p12)s::bigint)) & %(p13)s::bigint)::integer, %(p14)s::integer) AS x7 FROM "w"."members" AS r1 WHERE r1."uid" IS NOT NULL AND (r1."t" = ANY(%(p11)s::text[]::text[]) OR r1."t" IS NULL) LIMIT ALL) r GROUP BY 1, 2
--   p1 = 100
--   p2 = 17500
--   p3 = 0
--   p4 = -5
--   p5 = 10
--   p6 = 0
--   p7 = 1
--   p8 = 1000000
--   p9 = 2000-01-01 00:00:00.000000
--   p10 = 2020-01-01 00:00:00.000000
--   p11 = ['x', 'y', 'z']
--   p12 = random
--   p13 = 2147483647
--   p14 = 623
-- => loss
-- epsilon 8 delta 1/2000
-- => residual
SELECT dp_b1.k1 AS "t", dp_b1.a1 AS "count", dp_b1.a2 AS "count", dp_b1.a3 AS "sum", dp_b1.a4 AS "avg", dp_b1.a5 AS "min", dp_b1.a6 AS "max" FROM pg_catalog.jsonb_to_recordset(($1)::pg_catalog.jsonb->'b1') AS dp_b1(k1 pg_catalog.text, a1 bigint, a2 bigint, a3 numeric, a4 numeric, a5 real, a6 timestamp without time zone)

-- case: counts of people by two keys
SELECT b, i2, count(*) FROM people WHERE i4 > 5 GROUP BY b, i2
-- => plan
-- w.people, unit 1 row(s), partitions by hash of r1."id"; keys b of 2, i2 of 2; cells 0
--   count(*): sensitivity 1, scale 1/8, epsilon 8 delta 0
-- => backend
SELECT * FROM (SELECT (r1."b")::text AS k1, (r1."i2")::text AS k2, pg_catalog.count(*) FROM "w"."people" AS r1 WHERE (r1."i4" > %(p1)s::bigint) GROUP BY 1, 2 LIMIT ALL) g WHERE (k1 = ANY(%(p2)s::text[])) AND (k2 = ANY(%(p3)s::text[]))
--   p1 = 5
--   p2 = ['true', 'false']
--   p3 = ['1', '2']
-- => loss
-- epsilon 8 delta 0
-- => residual
SELECT dp_b1.k1 AS "b", dp_b1.k2 AS "i2", dp_b1.a1 AS "count" FROM pg_catalog.jsonb_to_recordset(($1)::pg_catalog.jsonb->'b1') AS dp_b1(k1 boolean, k2 smallint, a1 bigint)

-- case: counts of trips by two keys
SELECT b, i2, count(*) FROM trips WHERE i4 > 5 GROUP BY b, i2
-- => plan
-- w.trips, unit 3 row(s), partitions by hash of r1."id", r1."leg"; keys b of 2, i2 of 2; cells 0
--   count(*): sensitivity 3, scale 3/8, epsilon 8 delta 0
-- => backend
SELECT * FROM (SELECT (r1."b")::text AS k1, (r1."i2")::text AS k2, pg_catalog.count(*) FROM "w"."trips" AS r1 WHERE (r1."i4" > %(p1)s::bigint) GROUP BY 1, 2 LIMIT ALL) g WHERE (k1 = ANY(%(p2)s::text[])) AND (k2 = ANY(%(p3)s::text[]))
--   p1 = 5
--   p2 = ['true', 'false']
--   p3 = ['1', '2']
-- => loss
-- epsilon 8 delta 0
-- => residual
SELECT dp_b1.k1 AS "b", dp_b1.k2 AS "i2", dp_b1.a1 AS "count" FROM pg_catalog.jsonb_to_recordset(($1)::pg_catalog.jsonb->'b1') AS dp_b1(k1 boolean, k2 smallint, a1 bigint)

-- case: counts of visits by two keys
SELECT b, i2, count(*) FROM visits WHERE i4 > 5 GROUP BY b, i2
-- => plan
-- w.visits, unit r1."uid": rows 5, groups None, per group None; keys b of 2, i2 of 2; cells 0
--   count(*): sensitivity 5, scale 5/8, epsilon 8 delta 0
-- => backend
SELECT k1, k2, pg_catalog.sum(CASE WHEN total0 <= %(p1)s::bigint THEN v0 ELSE pg_catalog.div(v0::numeric * %(p1)s::bigint, total0)::bigint END) FROM (SELECT *, (pg_catalog.sum((v0)::float8) OVER (PARTITION BY unit))::bigint AS total0 FROM (SELECT r1."uid" AS unit, (r1."b")::text AS k1, (r1."i2")::text AS k2, pg_catalog.count(*) AS v0 FROM "w"."visits" AS r1 WHERE r1."uid" IS NOT NULL AND (r1."b" = ANY(%(p2)s::text[]::boolean[])) AND (r1."i2" = ANY(%(p3)s::text[]::smallint[])) AND (r1."i4" > %(p1)s::bigint) GROUP BY r1."uid", 2, 3) g) u GROUP BY 1, 2
--   p1 = 5
--   p2 = ['true', 'false']
--   p3 = ['1', '2']
-- => loss
-- epsilon 8 delta 0
-- => residual
SELECT dp_b1.k1 AS "b", dp_b1.k2 AS "i2", dp_b1.a1 AS "count" FROM pg_catalog.jsonb_to_recordset(($1)::pg_catalog.jsonb->'b1') AS dp_b1(k1 boolean, k2 smallint, a1 bigint)

-- case: counts of orders by two keys
SELECT b, i2, count(*) FROM orders WHERE i4 > 5 GROUP BY b, i2
-- => plan
-- w.orders, unit r1."uid": rows 6, groups 2, per group 2; keys b of 2, i2 of 2; cells 0
--   count(*): sensitivity 4, scale 1/2, epsilon 8 delta 0
-- => backend
SELECT k1, k2, pg_catalog.sum(least(v0, %(p2)s::bigint)) FROM (SELECT * FROM (SELECT *, pg_catalog.row_number() OVER (PARTITION BY unit ORDER BY pg_catalog.hashint8extended(pg_catalog.hash_record_extended(ROW(g."unit", k1, k2), %(p6)s::bigint), %(p6)s::bigint), k1, k2) AS rank FROM (SELECT r1."uid" AS unit, (r1."b")::text AS k1, (r1."i2")::text AS k2, pg_catalog.count(*) AS v0 FROM "w"."orders" AS r1 WHERE r1."uid" IS NOT NULL AND (r1."b" = ANY(%(p3)s::text[]::boolean[])) AND (r1."i2" = ANY(%(p4)s::text[]::smallint[])) AND (r1."i4" > %(p5)s::bigint) GROUP BY r1."uid", 2, 3) g) c WHERE rank <= %(p2)s::bigint) u GROUP BY 1, 2
--   p1 = 6
--   p2 = 2
--   p3 = ['true', 'false']
--   p4 = ['1', '2']
--   p5 = 5
--   p6 = random
-- => loss
-- epsilon 8 delta 0
-- => residual
SELECT dp_b1.k1 AS "b", dp_b1.k2 AS "i2", dp_b1.a1 AS "count" FROM pg_catalog.jsonb_to_recordset(($1)::pg_catalog.jsonb->'b1') AS dp_b1(k1 boolean, k2 smallint, a1 bigint)

-- case: counts of notes by two keys
SELECT b, i2, count(*) FROM notes WHERE i4 > 5 GROUP BY b, i2
-- => plan
-- w.notes, unit r1."uid": rows 4, groups 2, per group None; keys b of 2, i2 of 2; cells 0
--   count(*): sensitivity 4, scale 1/2, epsilon 8 delta 0
-- => backend
SELECT k1, k2, pg_catalog.sum(CASE WHEN total0 <= %(p1)s::bigint THEN v0 ELSE pg_catalog.div(v0::numeric * %(p1)s::bigint, total0)::bigint END) FROM (SELECT *, (pg_catalog.sum((v0)::float8) OVER (PARTITION BY unit))::bigint AS total0 FROM (SELECT * FROM (SELECT *, pg_catalog.row_number() OVER (PARTITION BY unit ORDER BY pg_catalog.hashint8extended(pg_catalog.hash_record_extended(ROW(pg_catalog.hashtextextended(g."unit"::text, %(p6)s::bigint), k1, k2), %(p6)s::bigint), %(p6)s::bigint), k1, k2) AS rank FROM (SELECT r1."uid" AS unit, (r1."b")::text AS k1, (r1."i2")::text AS k2, pg_catalog.count(*) AS v0 FROM "w"."notes" AS r1 WHERE pg_catalog.octet_length(r1."uid") <= %(p4)s::integer AND (r1."b" = ANY(%(p2)s::text[]::boolean[])) AND (r1."i2" = ANY(%(p3)s::text[]::smallint[])) AND (r1."i4" > %(p5)s::bigint) GROUP BY r1."uid", 2, 3) g) c WHERE rank <= %(p7)s::bigint) g) u GROUP BY 1, 2
--   p1 = 4
--   p2 = ['true', 'false']
--   p3 = ['1', '2']
--   p4 = 4096
--   p5 = 5
--   p6 = random
--   p7 = 2
-- => loss
-- epsilon 8 delta 0
-- => residual
SELECT dp_b1.k1 AS "b", dp_b1.k2 AS "i2", dp_b1.a1 AS "count" FROM pg_catalog.jsonb_to_recordset(($1)::pg_catalog.jsonb->'b1') AS dp_b1(k1 boolean, k2 smallint, a1 bigint)

-- case: by one single key of visits
SELECT c, sum(i8) AS total FROM visits GROUP BY 1
-- => plan
-- w.visits, unit r1."uid": rows 5, groups None, per group None; keys c of 2; cells 0
--   sum: clamp -1000 .. 5000, grid 10, sensitivity 2500 steps, scale 625/2, epsilon 8 delta 0
-- => backend
SELECT k1, pg_catalog.sum(CASE WHEN v0 IS NOT NULL THEN CASE WHEN total1 <= %(p4)s::bigint THEN v0::bigint ELSE (least(greatest(v0, CASE WHEN total1 <= %(p4)s::bigint THEN v1 ELSE pg_catalog.div(v1::numeric * %(p4)s::bigint, total1)::bigint END * %(p5)s::bigint), CASE WHEN total1 <= %(p4)s::bigint THEN v1 ELSE pg_catalog.div(v1::numeric * %(p4)s::bigint, total1)::bigint END * %(p6)s::bigint))::bigint END END) FROM (SELECT *, (pg_catalog.sum((v1)::float8) OVER (PARTITION BY unit))::bigint AS total1 FROM (SELECT r1."uid" AS unit, (r1."c")::text AS k1, pg_catalog.sum(pg_catalog.round((pg_catalog.int8larger(pg_catalog.int8smaller(r1."i8", %(p2)s::bigint), %(p1)s::bigint))::numeric / %(p3)s::numeric)::bigint) AS v0, pg_catalog.count(r1."i8") AS v1 FROM "w"."visits" AS r1 WHERE r1."uid" IS NOT NULL AND (r1."c" = ANY(%(p7)s::text[]::bpchar[])) GROUP BY r1."uid", 2) g) u GROUP BY 1
--   p1 = -1000
--   p2 = 5000
--   p3 = 10
--   p4 = 5
--   p5 = -100
--   p6 = 500
--   p7 = ['a', 'bb']
-- => loss
-- epsilon 8 delta 0
-- => residual
SELECT dp_b1.k1 AS "c", dp_b1.a1 AS total FROM pg_catalog.jsonb_to_recordset(($1)::pg_catalog.jsonb->'b1') AS dp_b1(k1 character(2), a1 numeric)

-- case: by one single key of orders
SELECT c, sum(i8) AS total FROM orders GROUP BY 1
-- => plan
-- w.orders, unit r1."uid": rows 6, groups None, per group 2; keys c of 2; cells 0
--   sum: clamp -1000 .. 5000, grid 10, sensitivity 2000 steps, scale 250, epsilon 8 delta 0
-- => backend
SELECT k1, pg_catalog.sum(CASE WHEN v0 IS NOT NULL THEN least(greatest(v0, least(v1, %(p5)s::bigint) * %(p6)s::bigint), least(v1, %(p5)s::bigint) * %(p7)s::bigint) END) FROM (SELECT r1."uid" AS unit, (r1."c")::text AS k1, pg_catalog.sum(pg_catalog.round((pg_catalog.int8larger(pg_catalog.int8smaller(r1."i8", %(p2)s::bigint), %(p1)s::bigint))::numeric / %(p3)s::numeric)::bigint) AS v0, pg_catalog.count(r1."i8") AS v1 FROM "w"."orders" AS r1 WHERE r1."uid" IS NOT NULL AND (r1."c" = ANY(%(p8)s::text[]::bpchar[])) GROUP BY r1."uid", 2) u GROUP BY 1
--   p1 = -1000
--   p2 = 5000
--   p3 = 10
--   p4 = 6
--   p5 = 2
--   p6 = -100
--   p7 = 500
--   p8 = ['a', 'bb']
-- => loss
-- epsilon 8 delta 0
-- => residual
SELECT dp_b1.k1 AS "c", dp_b1.a1 AS total FROM pg_catalog.jsonb_to_recordset(($1)::pg_catalog.jsonb->'b1') AS dp_b1(k1 character(2), a1 numeric)

-- case: by one single key of notes
SELECT c, sum(i8) AS total FROM notes GROUP BY 1
-- => plan
-- w.notes, unit r1."uid": rows 4, groups None, per group None; keys c of 2; cells 0
--   sum: clamp -1000 .. 5000, grid 10, sensitivity 2000 steps, scale 250, epsilon 8 delta 0
-- => backend
SELECT k1, pg_catalog.sum(CASE WHEN v0 IS NOT NULL THEN CASE WHEN total1 <= %(p4)s::bigint THEN v0::bigint ELSE (least(greatest(v0, CASE WHEN total1 <= %(p4)s::bigint THEN v1 ELSE pg_catalog.div(v1::numeric * %(p4)s::bigint, total1)::bigint END * %(p5)s::bigint), CASE WHEN total1 <= %(p4)s::bigint THEN v1 ELSE pg_catalog.div(v1::numeric * %(p4)s::bigint, total1)::bigint END * %(p6)s::bigint))::bigint END END) FROM (SELECT *, (pg_catalog.sum((v1)::float8) OVER (PARTITION BY unit))::bigint AS total1 FROM (SELECT r1."uid" AS unit, (r1."c")::text AS k1, pg_catalog.sum(pg_catalog.round((pg_catalog.int8larger(pg_catalog.int8smaller(r1."i8", %(p2)s::bigint), %(p1)s::bigint))::numeric / %(p3)s::numeric)::bigint) AS v0, pg_catalog.count(r1."i8") AS v1 FROM "w"."notes" AS r1 WHERE pg_catalog.octet_length(r1."uid") <= %(p8)s::integer AND (r1."c" = ANY(%(p7)s::text[]::bpchar[])) GROUP BY r1."uid", 2) g) u GROUP BY 1
--   p1 = -1000
--   p2 = 5000
--   p3 = 10
--   p4 = 4
--   p5 = -100
--   p6 = 500
--   p7 = ['a', 'bb']
--   p8 = 4096
-- => loss
-- epsilon 8 delta 0
-- => residual
SELECT dp_b1.k1 AS "c", dp_b1.a1 AS total FROM pg_catalog.jsonb_to_recordset(($1)::pg_catalog.jsonb->'b1') AS dp_b1(k1 character(2), a1 numeric)
