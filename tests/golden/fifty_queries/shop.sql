-- case: units
-- columns: 1
SELECT count(DISTINCT customer_id)
FROM shop.orders
-- => plan
-- shop.orders, unit r1."customer_id": rows 40, groups None, per group None; keys none; cells 0
--   count(distinct) of units: sensitivity 1, scale 1/8, epsilon 8 delta 0
-- => backend
SELECT pg_catalog.sum(least(v0, 1)) FROM (SELECT r1."customer_id" AS unit, pg_catalog.count(*) AS v0 FROM "shop"."orders" AS r1 WHERE r1."customer_id" IS NOT NULL GROUP BY r1."customer_id") u
-- => loss
-- epsilon 8 delta 0
-- => residual
SELECT dp_b1.a1 AS "count"
FROM pg_catalog.jsonb_to_recordset(($1)::pg_catalog.jsonb->'b1') AS dp_b1(a1 bigint)

-- case: distinct values of several per unit
-- columns: 1
SELECT count(DISTINCT product_id)
FROM shop.orders
-- => plan
-- shop.orders, unit r1."customer_id": rows 40, groups None, per group None; keys none; cells 0
--   count(distinct): sensitivity 40, scale 5, epsilon 8 delta 0
-- => backend
SELECT pg_catalog.count(DISTINCT v) FROM (SELECT v, pg_catalog.row_number() OVER (PARTITION BY unit ORDER BY pg_catalog.hashint8extended(pg_catalog.hash_record_extended(ROW(d."unit", v), %(p2)s::bigint), %(p2)s::bigint), v) AS rank FROM (SELECT unit, v FROM (SELECT r1."customer_id" AS unit, (r1."product_id") AS v FROM "shop"."orders" AS r1 WHERE r1."customer_id" IS NOT NULL AND (r1."product_id") IS NOT NULL) s GROUP BY unit, v, coalesce(pg_catalog.hash_numeric_extended((v)::numeric, %(p1)s::bigint), %(p1)s::bigint)) d) u WHERE rank <= %(p3)s::bigint
--   p1 = random
--   p2 = random
--   p3 = 40
-- => loss
-- epsilon 8 delta 0
-- => residual
SELECT dp_b1.a1 AS "count"
FROM pg_catalog.jsonb_to_recordset(($1)::pg_catalog.jsonb->'b1') AS dp_b1(a1 bigint)

-- case: several rows per unit
-- columns: 1, 2, [avg(total)]
SELECT count(*), sum(quantity), avg(total)
FROM shop.orders
-- => plan
-- shop.orders, unit r1."customer_id": rows 40, groups None, per group None; keys none; cells 0
--   count(*): sensitivity 40, scale 15, epsilon 8/3 delta 0
--   sum: clamp 1 .. 5, grid 1, sensitivity 200 steps, scale 75, epsilon 8/3 delta 0
--   avg from deviations: clamp 0 .. 2000, grid 0.01, rows by choice, output grid 0.00001, epsilon 8/3 delta 0
-- => backend
SELECT pg_catalog.sum(least(v0, %(p1)s::bigint)), pg_catalog.sum(CASE WHEN v1 IS NOT NULL THEN least(greatest(v1, %(p1)s::bigint * %(p4)s::bigint), %(p1)s::bigint * %(p5)s::bigint) END) FROM (SELECT r1."customer_id" AS unit, pg_catalog.count(*) AS v0, pg_catalog.sum((pg_catalog.int4larger(pg_catalog.int4smaller(r1."quantity", %(p3)s::integer), %(p2)s::integer))::integer) AS v1 FROM "shop"."orders" AS r1 WHERE r1."customer_id" IS NOT NULL GROUP BY r1."customer_id") u
--   p1 = 40
--   p2 = 1
--   p3 = 5
--   p4 = 0
--   p5 = 5
WITH g AS MATERIALIZED (SELECT nullif(least(g.v0, %(p13)s::bigint), 0) AS n0, least(greatest(g.v1, -least(g.v0, %(p13)s::bigint) * %(p2)s::bigint), least(g.v0, %(p13)s::bigint) * %(p2)s::bigint)::bigint AS y1 FROM (SELECT r1."customer_id" AS unit, pg_catalog.count(r1."total") AS v0, pg_catalog.sum((2 * (pg_catalog.int4larger((pg_catalog.numeric_smaller(r1."total" * %(p3)s::numeric, %(p4)s::numeric))::integer, %(p5)s::integer))::bigint - %(p2)s::bigint)) AS v1 FROM "shop"."orders" AS r1 WHERE r1."customer_id" IS NOT NULL GROUP BY r1."customer_id") g LIMIT ALL), h AS (SELECT *, pg_catalog.abs(d0) AS size0 FROM (SELECT (CASE WHEN (SELECT (%(p1)s::text::text[])[%(p15)s::integer]::boolean) THEN (CASE WHEN (g.y1 * %(p14)s::bigint - ((SELECT (%(p1)s::text::text[])[%(p12)s::integer]::bigint[]))[%(p12)s::integer] * g.n0) BETWEEN %(p9)s::bigint AND %(p10)s::bigint THEN (g.y1 * %(p14)s::bigint - ((SELECT (%(p1)s::text::text[])[%(p12)s::integer]::bigint[]))[%(p12)s::integer] * g.n0) * %(p6)s::bigint / g.n0 ELSE pg_catalog.div((g.y1 * %(p14)s::bigint - ((SELECT (%(p1)s::text::text[])[%(p12)s::integer]::bigint[]))[%(p12)s::integer] * g.n0) * %(p8)s::numeric, g.n0)::bigint END) ELSE (g.y1 * %(p14)s::bigint - ((SELECT (%(p1)s::text::text[])[%(p12)s::integer]::bigint[]))[%(p12)s::integer] * g.n0) END) AS d0 FROM g LIMIT ALL) t LIMIT ALL) SELECT %(p5)s::integer AS place, pg_catalog.width_bucket(g.n0, %(p7)s::bigint[]) AS band, pg_catalog.sum(g.n0)::numeric, pg_catalog.sum(%(p6)s::bigint * g.n0 / g.n0)::numeric, pg_catalog.sum((CASE WHEN g.y1 BETWEEN %(p9)s::bigint AND %(p10)s::bigint THEN g.y1 * %(p6)s::bigint / g.n0 ELSE pg_catalog.div(g.y1 * %(p8)s::numeric, g.n0)::bigint END))::numeric, pg_catalog.count(*) FROM g g WHERE g.n0 > 0 GROUP BY 2 UNION ALL SELECT %(p12)s::integer AS place, pg_catalog.width_bucket(g.size0, (SELECT (%(p1)s::text::text[])[%(p11)s::integer]::bigint[])) AS band, pg_catalog.sum(g.d0)::numeric, pg_catalog.sum((CASE WHEN g.d0 BETWEEN %(p9)s::bigint AND %(p10)s::bigint THEN g.d0 * %(p6)s::bigint / nullif(g.size0, 0) ELSE pg_catalog.div(g.d0 * %(p8)s::numeric, nullif(g.size0, 0))::bigint END))::numeric, NULL::numeric, pg_catalog.count(*) FROM h g WHERE g.size0 IS NOT NULL GROUP BY 2
--   p1 = {"{0}","false","{6251,7433,8839,10512,12501,14866,17678,21023,25001,29731,35356,42045,50001,59461,70711,84090,100001,118921,141422,168180,200001,237842,282843,336359,400001,475683,565686,672718,800001,951366,1131371,1345435,1600001,1902732,2262742,2690869,3200001,3805463,4525484,5381738,6400001,7610926,9050967,10763475,12800001,15221852,18101934,21526949,25600001,30443703,36203868,43053897,51200001,60887405,72407735,86107793,102400001,121774809,144815469,172215586,204800001,243549618,289630938,344431172,409600001,487099235,579261876,688862344,819200001,974198469,1158523751,1377724687,1638400001,1948396938,2317047501,2755449374,3276800001,3896793875,4634095002,5510898748,6553600001,7793587749,9268190003,11021797495,13107200001}"}
--   p2 = 200000
--   p3 = 100
--   p4 = 200000
--   p5 = 0
--   p6 = 1048576
--   p7 = ['2', '2', '2', '2', '3', '3', '3', '4', '5', '5', '6', '7', '9', '10', '12', '14', '17', '20', '23', '27', '33', '39', '46', '54', '65', '77', '91', '108', '129', '153', '182', '216', '257', '305', '363', '431', '513', '609', '725', '862', '1025', '1218', '1449', '1723', '2049', '2436', '2897', '3445', '4097', '4871', '5793', '6889', '8193', '9742', '11586', '13778', '16385', '19484', '23171', '27555', '32769', '38968', '46341', '55109', '65537', '77936', '92682', '110218', '131073', '155872', '185364', '220436', '262145', '311744', '370728', '440872', '524289', '623488', '741456', '881744', '1048577']
--   p8 = 1048576
--   p9 = -4398046511104
--   p10 = 4398046511104
--   p11 = 3
--   p12 = 1
--   p13 = 1099511627776
--   p14 = 1
--   p15 = 2
-- => loss
-- epsilon 8 delta 0
-- => residual
SELECT dp_b1.a1 AS "count", dp_b1.a2 AS "sum", dp_b1.a3 AS "avg"
FROM pg_catalog.jsonb_to_recordset(($1)::pg_catalog.jsonb->'b1') AS dp_b1(a1 bigint, a2 bigint, a3 numeric)

-- case: dates of one row per unit
-- columns: ~birth_date, ~birth_date
SELECT min(birth_date), max(birth_date)
FROM shop.customers
-- => plan
-- shop.customers, unit 1 row(s), partitions by hash of r1."id", r1."id" not null; keys none; cells 0
--   min of units: clamp -18263 .. 16800, grid 1, values 1, all groups of a unit, 326 places, least 12 units, epsilon 94/25 delta 0, if release 3 is enough
--   max of units: clamp -18263 .. 16800, grid 1, values 1, all groups of a unit, 326 places, least 12 units, epsilon 94/25 delta 0, if release 3 is enough
--     units of min: all groups of a unit, sensitivity 1, scale 25/12, epsilon 12/25 delta 0
-- => backend
SELECT p0, p1, pg_catalog.count(*) FROM (SELECT pg_catalog.width_bucket(v0::bigint - 1, %(p4)s::bigint[]) AS p0, pg_catalog.width_bucket(v0::bigint, %(p5)s::bigint[]) - 1 AS p1 FROM (SELECT pg_catalog.round(((pg_catalog.date_larger(pg_catalog.date_smaller(r1."birth_date", %(p2)s::date), %(p1)s::date)) - %(p3)s::date)::numeric)::bigint AS v0 FROM "shop"."customers" AS r1 WHERE r1."id" IS NOT NULL) u LIMIT ALL) p GROUP BY GROUPING SETS ((p0), (p1))
--   p1 = 1920-01-01
--   p2 = 2015-12-31
--   p3 = 1970-01-01
--   p4 = -18263, -18262, -18261 .. 16800, 326 in all
--   p5 = -18263, -18262, -18261 .. 16800, 326 in all
-- => loss
-- epsilon 8 delta 0
-- => residual
SELECT dp_b1.a1 AS "min", dp_b1.a2 AS "max"
FROM pg_catalog.jsonb_to_recordset(($1)::pg_catalog.jsonb->'b1') AS dp_b1(a1 pg_catalog.date, a2 pg_catalog.date)

-- case: months as key
-- columns: key, 1
SELECT date_trunc('month', created_at) AS month, count(*)
FROM shop.orders WHERE created_at >= '2025-01-01 00:00:00+00' AND created_at < '2026-01-01 00:00:00+00' GROUP BY 1 ORDER BY 1
-- => plan
-- shop.orders, unit r1."customer_id": rows 40, groups None, per group None; keys expression of 12; cells 0
--   count(*): sensitivity 40, scale 5, epsilon 8 delta 0
-- => backend
SELECT k1, pg_catalog.sum(CASE WHEN total0 <= %(p1)s::bigint THEN v0 ELSE pg_catalog.div(v0::numeric * %(p1)s::bigint, total0)::bigint END) FROM (SELECT *, (pg_catalog.sum((v0)::float8) OVER (PARTITION BY unit))::bigint AS total0 FROM (SELECT r1."customer_id" AS unit, (pg_catalog.date_trunc('month', pg_catalog.timestamptz_larger(pg_catalog.timestamptz_smaller(r1."created_at", %(p3)s::timestamp with time zone), %(p2)s::timestamp with time zone)))::text AS k1, pg_catalog.count(*) AS v0 FROM "shop"."orders" AS r1 WHERE r1."customer_id" IS NOT NULL AND ((pg_catalog.date_trunc('month', pg_catalog.timestamptz_larger(pg_catalog.timestamptz_smaller(r1."created_at", %(p3)s::timestamp with time zone), %(p2)s::timestamp with time zone)))::text = ANY(%(p4)s::text[])) AND (r1."created_at" >= %(p5)s::timestamp with time zone) AND (r1."created_at" < %(p6)s::timestamp with time zone) GROUP BY r1."customer_id", 2) g) u GROUP BY 1
--   p1 = 40
--   p2 = 2020-01-01 00:00:00.000000+00
--   p3 = 2027-01-01 00:00:00.000000+00
--   p4 = ['2025-01-01 00:00:00+00', '2025-02-01 00:00:00+00', '2025-03-01 00:00:00+00', '2025-04-01 00:00:00+00', '2025-05-01 00:00:00+00', '2025-06-01 00:00:00+00', '2025-07-01 00:00:00+00', '2025-08-01 00:00:00+00', '2025-09-01 00:00:00+00', '2025-10-01 00:00:00+00', '2025-11-01 00:00:00+00', '2025-12-01 00:00:00+00']
--   p5 = 2025-01-01 00:00:00+00
--   p6 = 2026-01-01 00:00:00+00
-- => loss
-- epsilon 8 delta 0
-- => residual
SELECT dp_b1.k1 AS month, dp_b1.a1 AS "count"
FROM pg_catalog.jsonb_to_recordset(($1)::pg_catalog.jsonb->'b1') AS dp_b1(k1 timestamp with time zone, a1 bigint) ORDER BY 1

-- case: years as key
-- columns: key, 1, 2
SELECT extract(year FROM created_at) AS year, count(*), sum(total)
FROM shop.orders GROUP BY extract(year FROM created_at) HAVING count(*) > 100 ORDER BY year
-- => plan
-- shop.orders, unit r1."customer_id": rows 40, groups None, per group None; keys expression of 8; cells 0
--   count(*): sensitivity 40, scale 10, epsilon 4 delta 0
--   sum: clamp 0 .. 2000, grid 0.01, sensitivity 8000000 steps, scale 2000000, epsilon 4 delta 0
-- => backend
SELECT k1, pg_catalog.sum(CASE WHEN total0 <= %(p1)s::bigint THEN v0 ELSE pg_catalog.div(v0::numeric * %(p1)s::bigint, total0)::bigint END), pg_catalog.sum(CASE WHEN v1 IS NOT NULL THEN CASE WHEN total2 <= %(p1)s::bigint THEN v1::bigint ELSE (least(greatest(v1, CASE WHEN total2 <= %(p1)s::bigint THEN v2 ELSE pg_catalog.div(v2::numeric * %(p1)s::bigint, total2)::bigint END * %(p5)s::bigint), CASE WHEN total2 <= %(p1)s::bigint THEN v2 ELSE pg_catalog.div(v2::numeric * %(p1)s::bigint, total2)::bigint END * %(p6)s::bigint))::bigint END END) FROM (SELECT *, (pg_catalog.sum((v0)::float8) OVER (PARTITION BY unit))::bigint AS total0, (pg_catalog.sum((v2)::float8) OVER (PARTITION BY unit))::bigint AS total2 FROM (SELECT r1."customer_id" AS unit, (extract(year FROM r1."created_at"))::text AS k1, pg_catalog.count(*) AS v0, pg_catalog.sum(pg_catalog.int4larger((pg_catalog.numeric_smaller(r1."total" * %(p2)s::numeric, %(p3)s::numeric))::integer, %(p4)s::integer)) AS v1, pg_catalog.count(r1."total") AS v2 FROM "shop"."orders" AS r1 WHERE r1."customer_id" IS NOT NULL AND ((extract(year FROM r1."created_at"))::text = ANY(%(p7)s::text[])) GROUP BY r1."customer_id", 2) g) u GROUP BY 1
--   p1 = 40
--   p2 = 100
--   p3 = 200000
--   p4 = 0
--   p5 = 0
--   p6 = 200000
--   p7 = ['2020', '2021', '2022', '2023', '2024', '2025', '2026', '2027']
-- => loss
-- epsilon 8 delta 0
-- => residual
SELECT dp_b1.k1 AS year, dp_b1.a1 AS "count", dp_b1.a2 AS "sum"
FROM pg_catalog.jsonb_to_recordset(($1)::pg_catalog.jsonb->'b1') AS dp_b1(k1 numeric, a1 bigint, a2 numeric) WHERE dp_b1.a1 > 100 ORDER BY year

-- case: two keys of several rows per unit
-- columns: key, key, 1
SELECT status, extract(dow FROM created_at) AS day, count(*)
FROM shop.orders GROUP BY status, day
-- => plan
-- shop.orders, unit r1."customer_id": rows 40, groups None, per group None; keys status of 4, expression of 7; cells 0
--   count(*): sensitivity 40, scale 5, epsilon 8 delta 0
-- => backend
SELECT k1, k2, pg_catalog.sum(CASE WHEN total0 <= %(p1)s::bigint THEN v0 ELSE pg_catalog.div(v0::numeric * %(p1)s::bigint, total0)::bigint END) FROM (SELECT *, (pg_catalog.sum((v0)::float8) OVER (PARTITION BY unit))::bigint AS total0 FROM (SELECT r1."customer_id" AS unit, (r1."status")::text AS k1, (extract(dow FROM r1."created_at"))::text AS k2, pg_catalog.count(*) AS v0 FROM "shop"."orders" AS r1 WHERE r1."customer_id" IS NOT NULL AND (r1."status" = ANY(%(p2)s::text[]::text[])) AND ((extract(dow FROM r1."created_at"))::text = ANY(%(p3)s::text[])) GROUP BY r1."customer_id", 2, 3) g) u GROUP BY 1, 2
--   p1 = 40
--   p2 = ['paid', 'shipped', 'returned', 'cancelled']
--   p3 = ['0', '1', '2', '3', '4', '5', '6']
-- => loss
-- epsilon 8 delta 0
-- => residual
SELECT dp_b1.k1 AS "status", dp_b1.k2 AS day, dp_b1.a1 AS "count"
FROM pg_catalog.jsonb_to_recordset(($1)::pg_catalog.jsonb->'b1') AS dp_b1(k1 pg_catalog.text, k2 numeric, a1 bigint)

-- case: join with a public table
-- columns: key, 1, 2
SELECT p.category, count(*), sum(o.quantity)
FROM shop.orders o JOIN shop.products p ON o.product_id = p.id WHERE p.price > 10 GROUP BY p.category
-- => plan
-- shop.orders, shop.products, unit r1."customer_id": rows 40, groups None, per group None; keys category of 7; cells 0
--   count(*): sensitivity 40, scale 10, epsilon 4 delta 0
--   sum: clamp 1 .. 5, grid 1, sensitivity 200 steps, scale 50, epsilon 4 delta 0
-- => backend
SELECT k1, pg_catalog.sum(CASE WHEN total0 <= %(p1)s::bigint THEN v0 ELSE pg_catalog.div(v0::numeric * %(p1)s::bigint, total0)::bigint END), pg_catalog.sum(CASE WHEN v1 IS NOT NULL THEN CASE WHEN total2 <= %(p1)s::bigint THEN v1::bigint ELSE (least(greatest(v1, CASE WHEN total2 <= %(p1)s::bigint THEN v2 ELSE pg_catalog.div(v2::numeric * %(p1)s::bigint, total2)::bigint END * %(p4)s::bigint), CASE WHEN total2 <= %(p1)s::bigint THEN v2 ELSE pg_catalog.div(v2::numeric * %(p1)s::bigint, total2)::bigint END * %(p5)s::bigint))::bigint END END) FROM (SELECT *, (pg_catalog.sum((v0)::float8) OVER (PARTITION BY unit))::bigint AS total0, (pg_catalog.sum((v2)::float8) OVER (PARTITION BY unit))::bigint AS total2 FROM (SELECT r1."customer_id" AS unit, (r2."category")::text AS k1, pg_catalog.count(*) AS v0, pg_catalog.sum((pg_catalog.int4larger(pg_catalog.int4smaller(r1."quantity", %(p3)s::integer), %(p2)s::integer))::integer) AS v1, pg_catalog.count(r1."quantity") AS v2 FROM ((SELECT r1."customer_id" AS c1, r1."product_id" AS c2, r1."quantity" AS c3, r2."category" AS c4, r2."id" AS c5, r2."price" AS c6 FROM ((SELECT r1."customer_id", r1."product_id", r1."quantity" FROM "shop"."orders" AS r1 WHERE r1."customer_id" IS NOT NULL) AS r1 FULL JOIN (SELECT r2."category", r2."id", r2."price" FROM "shop"."products" AS r2 WHERE (r2."category" = ANY(%(p6)s::text[]::text[])) AND (r2."price" > %(p7)s::numeric)) AS r2 ON (r1."product_id" = r2."id")) WHERE CASE WHEN r1."product_id" IS NOT NULL AND r2."id" IS NOT NULL THEN TRUE ELSE FALSE END LIMIT ALL) AS j1 CROSS JOIN LATERAL (SELECT j1.c1 AS "customer_id", j1.c2 AS "product_id", j1.c3 AS "quantity") AS r1 CROSS JOIN LATERAL (SELECT j1.c4 AS "category", j1.c5 AS "id", j1.c6 AS "price") AS r2) GROUP BY r1."customer_id", 2) g) u GROUP BY 1
--   p1 = 40
--   p2 = 1
--   p3 = 5
--   p4 = 0
--   p5 = 5
--   p6 = ['Books', 'Clothing', 'Home', 'Kitchen', 'Outdoor', 'Tools', 'Toys']
--   p7 = 10
-- => loss
-- epsilon 8 delta 0
-- => residual
SELECT dp_b1.k1 AS "category", dp_b1.a1 AS "count", dp_b1.a2 AS "sum"
FROM pg_catalog.jsonb_to_recordset(($1)::pg_catalog.jsonb->'b1') AS dp_b1(k1 pg_catalog.text, a1 bigint, a2 bigint)

-- case: join on the unit
-- columns: key, 1, 2
SELECT c.state, count(*), sum(o.quantity)
FROM shop.customers c JOIN shop.orders o ON o.customer_id = c.id WHERE o.status = 'shipped' GROUP BY c.state
-- => plan
-- shop.customers, shop.orders, unit r1."id": rows 40, groups None, per group None; keys expression of 10; cells 0
--   count(*): sensitivity 40, scale 10, epsilon 4 delta 0
--   sum: clamp 1 .. 5, grid 1, sensitivity 200 steps, scale 50, epsilon 4 delta 0
-- => backend
SELECT k1, pg_catalog.sum(CASE WHEN total0 <= %(p1)s::bigint THEN v0 ELSE pg_catalog.div(v0::numeric * %(p1)s::bigint, total0)::bigint END), pg_catalog.sum(CASE WHEN v1 IS NOT NULL THEN CASE WHEN total2 <= %(p1)s::bigint THEN v1::bigint ELSE (least(greatest(v1, CASE WHEN total2 <= %(p1)s::bigint THEN v2 ELSE pg_catalog.div(v2::numeric * %(p1)s::bigint, total2)::bigint END * %(p4)s::bigint), CASE WHEN total2 <= %(p1)s::bigint THEN v2 ELSE pg_catalog.div(v2::numeric * %(p1)s::bigint, total2)::bigint END * %(p5)s::bigint))::bigint END END) FROM (SELECT *, (pg_catalog.sum((v0)::float8) OVER (PARTITION BY unit))::bigint AS total0, (pg_catalog.sum((v2)::float8) OVER (PARTITION BY unit))::bigint AS total2 FROM (SELECT r1."id" AS unit, (pg_catalog.left(r1."state"::text, %(p6)s::integer))::text AS k1, pg_catalog.count(*) AS v0, pg_catalog.sum((pg_catalog.int4larger(pg_catalog.int4smaller(r2."quantity", %(p3)s::integer), %(p2)s::integer))::integer) AS v1, pg_catalog.count(r2."quantity") AS v2 FROM ((SELECT r1."id" AS c1, r1."state" AS c2, r2."customer_id" AS c3, r2."quantity" AS c4, r2."status" AS c5 FROM ((SELECT r1."id", r1."state" FROM "shop"."customers" AS r1 WHERE r1."id" IS NOT NULL AND ((pg_catalog.left(r1."state"::text, %(p6)s::integer))::text = ANY(%(p7)s::text[]))) AS r1 FULL JOIN (SELECT r2."customer_id", r2."quantity", r2."status" FROM "shop"."orders" AS r2 WHERE (r2."status" = %(p8)s::text)) AS r2 ON (r1."id" = r2."customer_id")) WHERE CASE WHEN r1."id" IS NOT NULL AND r2."customer_id" IS NOT NULL THEN TRUE ELSE FALSE END LIMIT ALL) AS j1 CROSS JOIN LATERAL (SELECT j1.c1 AS "id", j1.c2 AS "state") AS r1 CROSS JOIN LATERAL (SELECT j1.c3 AS "customer_id", j1.c4 AS "quantity", j1.c5 AS "status") AS r2) GROUP BY r1."id", 2) g) u GROUP BY 1
--   p1 = 40
--   p2 = 1
--   p3 = 5
--   p4 = 0
--   p5 = 5
--   p6 = 3
--   p7 = ['CA', 'TX', 'NY', 'FL', 'IL', 'PA', 'OH', 'GA', 'NC', 'MI']
--   p8 = shipped
-- => loss
-- epsilon 8 delta 0
-- => residual
SELECT dp_b1.k1 AS "state", dp_b1.a1 AS "count", dp_b1.a2 AS "sum"
FROM pg_catalog.jsonb_to_recordset(($1)::pg_catalog.jsonb->'b1') AS dp_b1(k1 pg_catalog.text, a1 bigint, a2 bigint)

-- case: left join on the unit
-- columns: 1, 2
SELECT count(*), count(o.id)
FROM shop.customers c LEFT JOIN shop.orders o ON o.customer_id = c.id AND o.status = 'returned'
-- => plan
-- shop.customers, shop.orders, unit r1."id": rows 40, groups None, per group None; keys none; cells 0
--   count(*): sensitivity 40, scale 10, epsilon 4 delta 0
--   count: sensitivity 40, scale 10, epsilon 4 delta 0
-- => backend
SELECT pg_catalog.sum(least(v0, %(p1)s::bigint)), pg_catalog.sum(least(v1, %(p1)s::bigint)) FROM (SELECT r1."id" AS unit, pg_catalog.count(*) AS v0, pg_catalog.count(r2."id") AS v1 FROM ((SELECT r1."id" AS c1, r2."customer_id" AS c2, r2."id" AS c3, r2."status" AS c4 FROM (((SELECT r1."id" FROM "shop"."customers" AS r1 WHERE r1."id" IS NOT NULL) AS r1 CROSS JOIN (SELECT TRUE AS here) AS m1) FULL JOIN (SELECT r2."customer_id", r2."id", r2."status" FROM "shop"."orders" AS r2 WHERE (r2."status" = %(p2)s::text)) AS r2 ON (r1."id" = r2."customer_id")) WHERE CASE WHEN m1.here THEN TRUE ELSE FALSE END LIMIT ALL) AS j2 CROSS JOIN LATERAL (SELECT j2.c1 AS "id") AS r1 CROSS JOIN LATERAL (SELECT j2.c2 AS "customer_id", j2.c3 AS "id", j2.c4 AS "status") AS r2) GROUP BY r1."id") u
--   p1 = 40
--   p2 = returned
-- => loss
-- epsilon 8 delta 0
-- => residual
SELECT dp_b1.a1 AS "count", dp_b1.a2 AS "count"
FROM pg_catalog.jsonb_to_recordset(($1)::pg_catalog.jsonb->'b1') AS dp_b1(a1 bigint, a2 bigint)

-- case: self join on the unit
-- columns: 1
SELECT count(*)
FROM shop.orders a JOIN shop.orders b ON a.customer_id = b.customer_id WHERE a.status = 'returned' AND b.status = 'cancelled'
-- => plan
-- shop.orders, unit r1."customer_id": rows 1600, groups None, per group None; keys none; cells 0
--   count(*): sensitivity 1600, scale 200, epsilon 8 delta 0
-- => backend
SELECT pg_catalog.sum(least(v0, %(p1)s::bigint)) FROM (SELECT r1."customer_id" AS unit, pg_catalog.count(*) AS v0 FROM ((SELECT r1."customer_id" AS c1, r2."customer_id" AS c2 FROM ((SELECT r1."customer_id" FROM (SELECT * FROM (SELECT r1."id", r1."customer_id", r1."product_id", r1."quantity", r1."total", r1."status", r1."created_at", pg_catalog.row_number() OVER (PARTITION BY r1."customer_id" ORDER BY pg_catalog.hashint4extended(r1."id"::integer, %(p3)s::bigint), r1."id") AS "dp_place_of_unit" FROM "shop"."orders" AS r1 WHERE r1."customer_id" IS NOT NULL AND (r1."status" = %(p2)s::text)) AS r1 WHERE "dp_place_of_unit" <= %(p4)s::bigint) AS r1 WHERE r1."customer_id" IS NOT NULL) AS r1 FULL JOIN (SELECT * FROM (SELECT r2."id", r2."customer_id", r2."product_id", r2."quantity", r2."total", r2."status", r2."created_at", pg_catalog.row_number() OVER (PARTITION BY r2."customer_id" ORDER BY pg_catalog.hashint4extended(r2."id"::integer, %(p3)s::bigint), r2."id") AS "dp_place_of_unit" FROM "shop"."orders" AS r2 WHERE r2."customer_id" IS NOT NULL AND (r2."status" = %(p5)s::text)) AS r2 WHERE "dp_place_of_unit" <= %(p4)s::bigint) AS r2 ON (r1."customer_id" = r2."customer_id")) WHERE CASE WHEN r1."customer_id" IS NOT NULL AND r2."customer_id" IS NOT NULL THEN TRUE ELSE FALSE END LIMIT ALL) AS j1 CROSS JOIN LATERAL (SELECT j1.c1 AS "customer_id") AS r1 CROSS JOIN LATERAL (SELECT j1.c2 AS "customer_id") AS r2) GROUP BY r1."customer_id") u
--   p1 = 1600
--   p2 = returned
--   p3 = random
--   p4 = 40
--   p5 = cancelled
-- => loss
-- epsilon 8 delta 0
-- => residual
SELECT dp_b1.a1 AS "count"
FROM pg_catalog.jsonb_to_recordset(($1)::pg_catalog.jsonb->'b1') AS dp_b1(a1 bigint)

-- case: join on the unit and with a public table
-- columns: key, 1
SELECT p.category, count(*)
FROM shop.customers c JOIN shop.orders o ON o.customer_id = c.id JOIN shop.products p ON p.id = o.product_id WHERE c.state IN ('CA', 'TX') GROUP BY p.category
-- => plan
-- shop.customers, shop.orders, shop.products, unit r1."id": rows 40, groups None, per group None; keys category of 7; cells 0
--   count(*): sensitivity 40, scale 5, epsilon 8 delta 0
-- => backend
SELECT k1, pg_catalog.sum(CASE WHEN total0 <= %(p1)s::bigint THEN v0 ELSE pg_catalog.div(v0::numeric * %(p1)s::bigint, total0)::bigint END) FROM (SELECT *, (pg_catalog.sum((v0)::float8) OVER (PARTITION BY unit))::bigint AS total0 FROM (SELECT r1."id" AS unit, (r3."category")::text AS k1, pg_catalog.count(*) AS v0 FROM ((SELECT r1."id" AS c1, r1."state" AS c2, r2."customer_id" AS c3, r2."product_id" AS c4, r3."category" AS c5, r3."id" AS c6 FROM (((SELECT r1."id" AS c1, r1."state" AS c2, r2."customer_id" AS c3, r2."product_id" AS c4 FROM ((SELECT r1."id", r1."state" FROM "shop"."customers" AS r1 WHERE r1."id" IS NOT NULL AND (r1."state" IN (%(p3)s::text, %(p4)s::text))) AS r1 FULL JOIN "shop"."orders" AS r2 ON (r1."id" = r2."customer_id")) WHERE CASE WHEN r1."id" IS NOT NULL AND r2."customer_id" IS NOT NULL THEN TRUE ELSE FALSE END LIMIT ALL) AS j1 CROSS JOIN LATERAL (SELECT j1.c1 AS "id", j1.c2 AS "state") AS r1 CROSS JOIN LATERAL (SELECT j1.c3 AS "customer_id", j1.c4 AS "product_id") AS r2) FULL JOIN (SELECT r3."category", r3."id" FROM "shop"."products" AS r3 WHERE (r3."category" = ANY(%(p2)s::text[]::text[]))) AS r3 ON (r2."product_id" = r3."id")) WHERE CASE WHEN r2."product_id" IS NOT NULL AND r3."id" IS NOT NULL THEN TRUE ELSE FALSE END LIMIT ALL) AS j2 CROSS JOIN LATERAL (SELECT j2.c1 AS "id", j2.c2 AS "state") AS r1 CROSS JOIN LATERAL (SELECT j2.c3 AS "customer_id", j2.c4 AS "product_id") AS r2 CROSS JOIN LATERAL (SELECT j2.c5 AS "category", j2.c6 AS "id") AS r3) GROUP BY r1."id", 2) g) u GROUP BY 1
--   p1 = 40
--   p2 = ['Books', 'Clothing', 'Home', 'Kitchen', 'Outdoor', 'Tools', 'Toys']
--   p3 = CA
--   p4 = TX
-- => loss
-- epsilon 8 delta 0
-- => residual
SELECT dp_b1.k1 AS "category", dp_b1.a1 AS "count"
FROM pg_catalog.jsonb_to_recordset(($1)::pg_catalog.jsonb->'b1') AS dp_b1(k1 pg_catalog.text, a1 bigint)

-- case: mean of a count per unit
-- columns: [avg(n)]
SELECT avg(n)
FROM (SELECT customer_id, count(*) AS n FROM shop.orders GROUP BY customer_id) per_customer
-- => plan
-- shop.orders, unit 1 row(s), partitions by hash of r3."dp_unit", r3."dp_unit" not null; keys none; cells 0
--   avg from moments: clamp 0 .. 40, grid 1, rows 1, output grid 0.000001, epsilon 8 delta 0
-- => backend
SELECT pg_catalog.count(r3."n"), (2 * pg_catalog.sum((pg_catalog.int8larger(pg_catalog.int8smaller(r3."n", %(p1)s::bigint), %(p2)s::bigint))::integer) - %(p1)s::bigint * pg_catalog.count(r3."n"))::bigint FROM (SELECT r2."unit" AS "customer_id", r2."a1" AS "n", r2."unit" AS "dp_unit" FROM (SELECT r1."customer_id" AS unit, least(pg_catalog.count(*), %(p1)s::bigint) AS a1 FROM "shop"."orders" AS r1 WHERE r1."customer_id" IS NOT NULL GROUP BY r1."customer_id") AS r2) AS r3 WHERE r3."dp_unit" IS NOT NULL
--   p1 = 40
--   p2 = 0
-- => loss
-- epsilon 8 delta 0
-- => residual
SELECT dp_b1.a1 AS "avg"
FROM pg_catalog.jsonb_to_recordset(($1)::pg_catalog.jsonb->'b1') AS dp_b1(a1 numeric)

-- case: histogram of a count per unit
-- columns: key, 1
SELECT n, count(*) AS customers
FROM (SELECT customer_id, count(*) AS n FROM shop.orders WHERE status = 'returned' GROUP BY customer_id) per_customer GROUP BY n ORDER BY n
-- => plan
-- shop.orders, unit 1 row(s), partitions by hash of r3."dp_unit", r3."dp_unit" not null; keys n of 40; cells 0
--   count(*): sensitivity 1, scale 1/8, epsilon 8 delta 0
-- => backend
SELECT * FROM (SELECT (r3."n")::text AS k1, pg_catalog.count(*) FROM (SELECT r2."unit" AS "customer_id", r2."a1" AS "n", r2."unit" AS "dp_unit" FROM (SELECT r1."customer_id" AS unit, least(pg_catalog.count(*), %(p1)s::bigint) AS a1 FROM "shop"."orders" AS r1 WHERE r1."customer_id" IS NOT NULL AND (r1."status" = %(p2)s::text) GROUP BY r1."customer_id") AS r2) AS r3 WHERE r3."dp_unit" IS NOT NULL GROUP BY 1 LIMIT ALL) g WHERE (k1 = ANY(%(p3)s::text[]))
--   p1 = 40
--   p2 = returned
--   p3 = ['1', '2', '3', '4', '5', '6', '7', '8', '9', '10', '11', '12', '13', '14', '15', '16', '17', '18', '19', '20', '21', '22', '23', '24', '25', '26', '27', '28', '29', '30', '31', '32', '33', '34', '35', '36', '37', '38', '39', '40']
-- => loss
-- epsilon 8 delta 0
-- => residual
SELECT dp_b1.k1 AS "n", dp_b1.a1 AS customers
FROM pg_catalog.jsonb_to_recordset(($1)::pg_catalog.jsonb->'b1') AS dp_b1(k1 bigint, a1 bigint) ORDER BY n

-- case: sums per unit
-- columns: 1, [avg(spent)]
SELECT count(*), avg(spent)
FROM (SELECT customer_id, sum(quantity) AS spent FROM shop.orders GROUP BY customer_id) x WHERE spent >= 10
-- => plan
-- shop.orders, unit 1 row(s), partitions by hash of r3."dp_unit", r3."dp_unit" not null; keys none; cells 0
--   count(*): sensitivity 1, scale 1/4, epsilon 4 delta 0
--   avg from moments: clamp 10 .. 200, grid 1, rows 1, output grid 0.00001, epsilon 4 delta 0
-- => backend
SELECT pg_catalog.count(*), pg_catalog.count(r3."spent"), (2 * pg_catalog.sum((pg_catalog.numeric_larger(pg_catalog.numeric_smaller(r3."spent", %(p3)s::numeric), %(p2)s::numeric))::integer) - %(p1)s::bigint * pg_catalog.count(r3."spent"))::bigint FROM (SELECT r2."unit" AS "customer_id", r2."a1" AS "spent", r2."unit" AS "dp_unit" FROM (SELECT r1."customer_id" AS unit, pg_catalog.sum((pg_catalog.int4larger(pg_catalog.int4smaller(r1."quantity", %(p6)s::integer), %(p5)s::integer))::numeric) AS a1 FROM "shop"."orders" AS r1 WHERE r1."customer_id" IS NOT NULL GROUP BY r1."customer_id") AS r2) AS r3 WHERE r3."dp_unit" IS NOT NULL AND (r3."spent" >= %(p2)s::numeric)
--   p1 = 210
--   p2 = 10
--   p3 = 200
--   p4 = 40
--   p5 = 1
--   p6 = 5
-- => loss
-- epsilon 8 delta 0
-- => residual
SELECT dp_b1.a1 AS "count", dp_b1.a2 AS "avg"
FROM pg_catalog.jsonb_to_recordset(($1)::pg_catalog.jsonb->'b1') AS dp_b1(a1 bigint, a2 numeric)

-- case: union of rows
-- columns: 1, 2
SELECT count(*), sum(quantity)
FROM (SELECT quantity FROM shop.orders WHERE status = 'returned' UNION ALL SELECT quantity FROM shop.orders WHERE status = 'cancelled') lost
-- => plan
-- shop.orders, unit r8."dp_unit": rows 80, groups None, per group None; keys none; cells 0
--   count(*): sensitivity 80, scale 20, epsilon 4 delta 0
--   sum: clamp 1 .. 5, grid 1, sensitivity 400 steps, scale 100, epsilon 4 delta 0
-- => backend
SELECT pg_catalog.sum(least(v0, %(p1)s::bigint)), pg_catalog.sum(CASE WHEN v1 IS NOT NULL THEN least(greatest(v1, %(p1)s::bigint * %(p4)s::bigint), %(p1)s::bigint * %(p5)s::bigint) END) FROM (SELECT r8."dp_unit" AS unit, pg_catalog.count(*) AS v0, pg_catalog.sum((pg_catalog.int4larger(pg_catalog.int4smaller(r8."quantity", %(p3)s::integer), %(p2)s::integer))::integer) AS v1 FROM (SELECT r7."c1" AS "quantity", r7."dp_unit" AS "dp_unit" FROM (SELECT r2."quantity" AS "c1", r2."dp_unit" AS "dp_unit" FROM (SELECT r1."quantity" AS "quantity", r1."customer_id" AS "dp_unit" FROM "shop"."orders" AS r1 WHERE (r1."status" = %(p6)s::text)) AS r2 UNION ALL SELECT r4."quantity" AS "c1", r4."dp_unit" AS "dp_unit" FROM (SELECT r3."quantity" AS "quantity", r3."customer_id" AS "dp_unit" FROM "shop"."orders" AS r3 WHERE (r3."status" = %(p7)s::text)) AS r4) AS r7) AS r8 WHERE r8."dp_unit" IS NOT NULL GROUP BY r8."dp_unit") u
--   p1 = 80
--   p2 = 1
--   p3 = 5
--   p4 = 0
--   p5 = 5
--   p6 = returned
--   p7 = cancelled
-- => loss
-- epsilon 8 delta 0
-- => residual
SELECT dp_b1.a1 AS "count", dp_b1.a2 AS "sum"
FROM pg_catalog.jsonb_to_recordset(($1)::pg_catalog.jsonb->'b1') AS dp_b1(a1 bigint, a2 bigint)

-- case: running total
-- columns: key, 1, =(SELECT sum(c2) FROM answer b WHERE b.c1 <= a.c1)
SELECT extract(year FROM created_at) AS year, count(*), sum(count(*)) OVER (ORDER BY extract(year FROM created_at))
FROM shop.orders GROUP BY extract(year FROM created_at) ORDER BY 1
-- => plan
-- shop.orders, unit r1."customer_id": rows 40, groups None, per group None; keys expression of 8; cells 0
--   count(*): sensitivity 40, scale 5, epsilon 8 delta 0
-- => backend
SELECT k1, pg_catalog.sum(CASE WHEN total0 <= %(p1)s::bigint THEN v0 ELSE pg_catalog.div(v0::numeric * %(p1)s::bigint, total0)::bigint END) FROM (SELECT *, (pg_catalog.sum((v0)::float8) OVER (PARTITION BY unit))::bigint AS total0 FROM (SELECT r1."customer_id" AS unit, (extract(year FROM r1."created_at"))::text AS k1, pg_catalog.count(*) AS v0 FROM "shop"."orders" AS r1 WHERE r1."customer_id" IS NOT NULL AND ((extract(year FROM r1."created_at"))::text = ANY(%(p2)s::text[])) GROUP BY r1."customer_id", 2) g) u GROUP BY 1
--   p1 = 40
--   p2 = ['2020', '2021', '2022', '2023', '2024', '2025', '2026', '2027']
-- => loss
-- epsilon 8 delta 0
-- => residual
SELECT dp_b1.k1 AS year, dp_b1.a1 AS "count", sum(dp_b1.a1) OVER (ORDER BY dp_b1.k1)
FROM pg_catalog.jsonb_to_recordset(($1)::pg_catalog.jsonb->'b1') AS dp_b1(k1 numeric, a1 bigint) ORDER BY 1

-- case: private tables not joined on the unit
SELECT count(*) FROM shop.customers c JOIN shop.orders o ON c.birth_date = o.created_at
-- => refused
-- UNSUPPORTED at 39
-- a join of protected tables must be on the privacy unit they share
-- Join on the privacy unit (id of shop.customers = customer_id of shop.orders), or a public table on its key.

-- case: private tables beside each other
SELECT count(*) FROM shop.customers c, shop.orders o
-- => refused
-- UNSUPPORTED at 38
-- a join of protected tables must be on the privacy unit they share
-- Join on the privacy unit (id of shop.customers = customer_id of shop.orders), or a public table on its key.

-- case: the unit as key
SELECT customer_id, count(*) FROM shop.orders GROUP BY customer_id
-- => refused
-- RAW_ROWS at 56
-- the privacy unit cannot be a GROUP BY key of the result, but of a subquery: SELECT avg(n) FROM (SELECT customer_id, count(*) AS n FROM shop.orders GROUP BY customer_id) q
-- GROUP BY it in a subquery and aggregate that: SELECT avg(n) FROM (SELECT customer_id, count(*) AS n FROM shop.orders GROUP BY customer_id) q.
