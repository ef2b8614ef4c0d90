-- EXISTS, IN, scalar subqueries and keys beside the unit, windows over the rows of each unit. Beside schema w, which has
-- rows of nobody, schema whole has the same without them: its answers are right. Counts are of hundreds, sums of
-- tens of thousands.
-- mechanism: auto
-- => schema
CREATE SCHEMA w;
CREATE SCHEMA whole;
CREATE TABLE w.customers (id int PRIMARY KEY, region varchar(20), joined date NOT NULL);
CREATE TABLE w.orders (id int PRIMARY KEY, customer_id int, product int, status varchar(10), total numeric,
    placed timestamp NOT NULL);
CREATE TABLE w.lines (id int PRIMARY KEY, order_id int, price int NOT NULL);
CREATE TABLE w.products (id int PRIMARY KEY, kind text);
CREATE TABLE whole.customers (id int PRIMARY KEY, region varchar(20), joined date NOT NULL);
CREATE TABLE whole.orders (id int PRIMARY KEY, customer_id int, product int, status varchar(10), total numeric,
    placed timestamp NOT NULL);
CREATE TABLE whole.lines (id int PRIMARY KEY, order_id int, price int NOT NULL);
CREATE TABLE whole.products (id int PRIMARY KEY, kind text);

INSERT INTO w.customers SELECT n, (ARRAY['north','south','west'])[1 + n % 3], date '2024-01-01' + n % 300
    FROM generate_series(1, 400) n;
INSERT INTO w.orders SELECT n, nullif(n % 450, 0), n % 7, (ARRAY['open','paid','sent',NULL])[1 + n % 11 % 4],
    (n * 37 % 200)::numeric / 1, timestamp '2024-01-15' + n % 97 * interval '5 days 3 hours'
    FROM generate_series(1, 1500) n WHERE n % 450 % 5 > 0 OR n % 450 = 0;
INSERT INTO w.lines SELECT n, nullif(n % 1600, 0), n % 50 FROM generate_series(1, 2500) n WHERE n % 3 > 0;
INSERT INTO w.products VALUES (0, 'a'), (1, 'b'), (2, NULL), (3, 'a'), (9, 'b');
INSERT INTO whole.customers SELECT * FROM w.customers;
INSERT INTO whole.orders SELECT * FROM w.orders WHERE customer_id IS NOT NULL;
INSERT INTO whole.lines SELECT l.* FROM w.lines l JOIN whole.orders o ON o.id = l.order_id;
INSERT INTO whole.products SELECT * FROM w.products;
-- => policy
tables:
  w.customers:
    unit: {customer: id}
    columns:
      region: {values: [north, south, west]}
      joined: {bounds: [2024-01-01, 2024-12-31]}
  w.orders:
    unit: {customer: customer_id}
    max_rows_per_unit: 5
    columns:
      id: {}
      product: {values: [0, 1, 2, 3, 4, 5, 6], bounds: [0, 6]}
      status: {values: [open, paid, sent]}
      total: {bounds: [0, 200], grid: 1}
      placed: {bounds: ["2024-01-01 00:00:00", "2025-12-31 00:00:00"]}
  w.lines:
    unit: {customer: order_id -> w.orders.customer_id}
    max_rows_per_unit: 20
    columns:
      price: {bounds: [0, 50]}
  w.products: public
-- => as PostgreSQL: semi-joins
-- every: 2
-- long: all
-- beside: w. = whole.
-- near: 8 800 0
-- groups: some empty
-- noisy: count sum avg bool_or bool_and later none every small
SELECT count(*) FROM w.customers c WHERE EXISTS (SELECT 1 FROM w.orders o WHERE o.customer_id = c.id
    AND o.total > 100);
SELECT count(*) FROM w.customers c WHERE NOT EXISTS (SELECT * FROM w.orders o WHERE o.customer_id = c.id
    AND o.total > 100);
SELECT count(*) FROM w.customers c WHERE NOT (EXISTS(SELECT 1 AS a FROM w.orders v0
    WHERE v0.customer_id = (c.id) LIMIT 1));
SELECT count(*) FROM w.customers c LEFT JOIN w.orders o ON o.customer_id = c.id AND o.total > 100
    WHERE o.customer_id IS NULL;
SELECT region, count(*) FROM w.customers c LEFT JOIN w.orders o ON c.id = o.customer_id WHERE o.id IS NULL
    AND c.joined < '2024-08-01' GROUP BY region;
SELECT count(*) FROM w.customers c WHERE id IN (SELECT customer_id FROM w.orders WHERE status = 'paid');
SELECT count(*) FROM w.customers c WHERE id NOT IN (SELECT customer_id FROM w.orders WHERE status = 'paid');
SELECT count(*) FROM w.customers c WHERE c.id NOT IN (SELECT customer_id FROM w.orders
    WHERE status <> 'paid' OR total > 190);
SELECT count(*) FROM w.customers c WHERE id IN (SELECT DISTINCT customer_id FROM w.orders
    WHERE total > 150);
SELECT count(*) FROM w.customers c WHERE id IN (SELECT customer_id FROM w.orders GROUP BY customer_id
    HAVING count(*) >= 3);
SELECT count(*) FROM w.customers c WHERE id NOT IN (SELECT customer_id FROM w.orders GROUP BY 1
    HAVING sum(total) > 250);
SELECT count(*) FROM w.customers c WHERE EXISTS (SELECT FROM w.orders o WHERE o.customer_id = c.id
    AND total > 180) OR region = 'west';
SELECT count(*) FROM w.customers c WHERE EXISTS (SELECT FROM w.orders o WHERE o.customer_id = c.id
    AND status = 'open') AND NOT EXISTS (SELECT FROM w.orders o WHERE o.customer_id = c.id
    AND status = 'sent');
SELECT count(*) FROM w.customers c WHERE EXISTS (SELECT 1 FROM w.orders JOIN w.lines ON order_id = orders.id
    WHERE customer_id = c.id AND price > 45);
SELECT count(*) FROM w.customers c WHERE id IN (SELECT customer_id FROM w.orders o WHERE EXISTS (SELECT 1
    FROM w.lines l WHERE l.order_id = o.id AND price > 45));
SELECT count(*) FROM w.customers c WHERE EXISTS (SELECT 1 FROM w.orders o WHERE o.customer_id = c.id
    AND o.total > (SELECT avg(total) FROM w.orders));
SELECT count(*), sum(total) FROM w.orders o WHERE EXISTS (SELECT 1 FROM w.lines l WHERE l.order_id = o.id
    AND l.price > 20);
SELECT count(*), sum(total) FROM w.orders o WHERE id NOT IN (SELECT order_id FROM w.lines WHERE price > 20);
SELECT count(*), sum(total) FROM w.orders o WHERE EXISTS (SELECT 1 FROM w.orders p
    WHERE p.customer_id = o.customer_id AND p.product = o.product AND p.total > 150);
SELECT count(*), sum(total) FROM w.orders o WHERE EXISTS (SELECT 1 FROM w.orders p
    WHERE p.customer_id = o.customer_id AND p.status = o.status AND p.total < 50);
SELECT count(*), sum(total) FROM w.orders o WHERE customer_id IN (SELECT id FROM w.customers
    WHERE region = 'south');
SELECT count(*), sum(total) FROM w.orders o WHERE customer_id NOT IN (SELECT id FROM w.customers
    WHERE region = 'south');
SELECT count(*) FROM w.lines l WHERE order_id IN (SELECT id FROM w.orders WHERE total > 50);
SELECT count(*) FROM w.lines l WHERE NOT EXISTS (SELECT 1 FROM w.orders o WHERE o.id = order_id
    AND total > 50);
SELECT region, count(*) FROM w.customers c WHERE EXISTS (SELECT 1 FROM w.orders o
    WHERE o.customer_id = c.id) GROUP BY region;
SELECT CASE WHEN n > 300 THEN 'low' ELSE 'high' END, CASE WHEN (n > 300) = true THEN 'low' ELSE 'high' END,
    count(*) FROM (SELECT sum(total) AS n, customer_id FROM w.orders o WHERE NOT EXISTS (SELECT *
    FROM w.orders p WHERE o.customer_id = p.customer_id AND p.total = 0) AND NOT (status = 'open'
    AND total = 0) GROUP BY customer_id) q GROUP BY 1, 2;
SELECT EXISTS (SELECT 1 FROM w.orders o WHERE o.customer_id = c.id) AS buys, count(*) FROM w.customers c
    GROUP BY 1;
SELECT CASE WHEN id IN (SELECT customer_id FROM w.orders) THEN 'yes' ELSE 'no' END AS buys, count(*)
    FROM w.customers GROUP BY buys;
SELECT region, count(*) FILTER (WHERE NOT EXISTS (SELECT 1 FROM w.orders o
    WHERE o.customer_id = c.id)), count(*) FROM w.customers c GROUP BY region;
WITH buyers AS (SELECT * FROM w.customers c WHERE EXISTS (SELECT 1 FROM w.orders o
    WHERE o.customer_id = c.id)) SELECT region, count(*) FROM buyers GROUP BY region;
SELECT count(*) FROM (SELECT customer_id, count(*) AS n FROM w.orders o WHERE EXISTS (SELECT 1
    FROM w.lines l WHERE l.order_id = o.id) GROUP BY customer_id) q WHERE n > 1;
SELECT count(*), sum(total) FROM w.orders o WHERE EXISTS (SELECT 1 FROM w.products p WHERE p.id = o.product
    AND p.kind = 'a');
SELECT count(*), sum(total) FROM w.orders o WHERE NOT EXISTS (SELECT 1 FROM w.products p
    WHERE p.id = product);
-- => as PostgreSQL: earlier and later rows
-- long: all
-- beside: w. = whole.
-- near: 8 800 0
-- groups: some empty
-- noisy: count sum avg bool_or bool_and later none every small
SELECT count(*), sum(total) FROM w.orders o WHERE EXISTS (SELECT 1 FROM w.orders p
    WHERE p.customer_id = o.customer_id AND p.placed < o.placed);
SELECT count(*), sum(total) FROM w.orders o WHERE NOT EXISTS (SELECT 1 FROM w.orders p
    WHERE p.customer_id = o.customer_id AND o.placed < p.placed AND p.total > 20);
SELECT count(*), sum(total) FROM w.orders o WHERE EXISTS (SELECT 1 FROM w.orders p
    WHERE p.customer_id = o.customer_id AND p.id <> o.id);
SELECT count(*), sum(total) FROM w.orders o WHERE EXISTS (SELECT 1 FROM w.orders p
    WHERE p.customer_id = o.customer_id AND p.status = o.status AND p.total >= o.total
    AND p.placed > '2024-06-01');
-- => as PostgreSQL: scalar subqueries
-- long: all
-- beside: w. = whole.
-- near: 8 800 0
-- groups: some empty
-- noisy: count sum avg bool_or bool_and later none every small
SELECT count(*) FROM w.customers c WHERE (SELECT count(*) FROM w.orders o WHERE o.customer_id = c.id) = 2;
SELECT count(*) FROM w.customers c WHERE 0 = (SELECT count(*) FROM w.orders o WHERE o.customer_id = c.id);
SELECT count(*) FROM w.customers c WHERE (SELECT max(total) FROM w.orders o WHERE o.customer_id = c.id
    AND status = 'sent') > 120;
SELECT count(*) FROM w.customers c WHERE (SELECT max(total) FROM w.orders o WHERE o.customer_id = c.id
    AND status = 'sent') IS NULL;
SELECT (SELECT count(*) FROM w.orders o WHERE o.customer_id = c.id) AS n, count(*) FROM w.customers c
    GROUP BY 1;
SELECT sum((SELECT count(*) FROM w.orders o WHERE o.customer_id = c.id)) FROM w.customers c;
SELECT sum((SELECT coalesce(sum(total), 0) + count(*) FROM w.orders o WHERE o.customer_id = c.id))
    FROM w.customers c;
SELECT n, count(*) FROM (SELECT c.id, (SELECT count(DISTINCT product) FROM w.orders o
    WHERE o.customer_id = c.id) AS n FROM w.customers c) q GROUP BY n;
-- => as PostgreSQL: rows of each unit
-- every: 2
-- long: all
-- beside: w. = whole.
-- near: 8 800 0
-- groups: some empty
-- noisy: count sum avg bool_or bool_and later none every small
SELECT count(*) FROM (SELECT DISTINCT customer_id AS u FROM w.orders) subquery;
SELECT count(*) FROM (SELECT DISTINCT customer_id FROM w.orders WHERE total > 100) q;
SELECT status, count(*) FROM (SELECT DISTINCT customer_id, status FROM w.orders WHERE status IS NOT NULL) q
    GROUP BY status;
SELECT count(*), sum(total) FROM (SELECT total FROM w.orders ORDER BY placed DESC NULLS LAST, id) q;
WITH a AS (SELECT * FROM w.orders ORDER BY placed, total * 2) SELECT count(*) FROM a WHERE total > 20;
SELECT avg(n) FROM (SELECT customer_id, count(*) AS n FROM w.orders GROUP BY customer_id
    ORDER BY count(*) DESC, sum(total)) q;
SELECT count(*) FROM (SELECT DISTINCT customer_id, status FROM w.orders ORDER BY 1, status) q;
SELECT count(*) FROM w.orders o JOIN (SELECT id FROM w.products ORDER BY kind) p ON p.id = o.product;
SELECT m, count(*) FROM (SELECT DISTINCT customer_id, date_trunc('month', placed) AS m FROM w.orders) q
    GROUP BY m;
SELECT count(*) FROM (SELECT customer_id FROM w.orders GROUP BY customer_id HAVING count(*) > 2) q;
SELECT count(*), sum(n), sum(s) FROM (SELECT customer_id, status, count(*) AS n, sum(total) AS s
    FROM w.orders GROUP BY customer_id, status) q;
SELECT product, count(*), sum(n) FROM (SELECT customer_id, product, count(*) AS n FROM w.orders
    GROUP BY 1, product HAVING max(total) > 20) q GROUP BY product;
SELECT n, count(*) FROM (SELECT customer_id, product % 3 AS k, count(*) AS n FROM w.orders
    GROUP BY customer_id, product % 3) q GROUP BY n;
SELECT first, count(*) FROM (SELECT customer_id, min(date_trunc('month', placed)) AS first FROM w.orders
    GROUP BY customer_id) q GROUP BY first;
SELECT count(*) FROM w.orders o JOIN (SELECT customer_id, max(date_trunc('day', placed)) AS last
    FROM w.orders GROUP BY customer_id) q ON q.customer_id = o.customer_id
    AND date_trunc('day', o.placed) = q.last;
SELECT q.first, date_trunc('quarter', o.placed), count(DISTINCT o.customer_id) FROM w.orders o
    JOIN (SELECT customer_id, date_trunc('quarter', min(placed)) AS first FROM w.orders
    GROUP BY customer_id) q ON q.customer_id = o.customer_id GROUP BY 1, 2;
-- => as PostgreSQL: truths
-- long: all
-- beside: w. = whole.
-- near: 8 800 0
-- groups: some empty
-- noisy: count sum avg bool_or bool_and later none every small
SELECT bool_or(total > 100) FROM w.orders;
SELECT bool_or(total > 500) FROM w.orders;
SELECT bool_and(total >= 0) FROM w.orders;
SELECT bool_or(total > 100), every(total > 100) AS none FROM w.orders WHERE total < 0;
SELECT region, bool_or(joined > '2024-06-01'), bool_and(joined > '2024-06-01') AS later, every(id > 0)
    FROM w.customers GROUP BY region HAVING NOT bool_and(joined > '2024-06-01');
SELECT product, bool_and(total < 500) FILTER (WHERE status = 'paid') AS small FROM w.orders
    GROUP BY product;
SELECT bool_or(total > (SELECT avg(total) FROM w.orders)) FROM w.orders;
SELECT count(*) FILTER (WHERE paid), count(*) FILTER (WHERE whole), count(*) FILTER (WHERE dear IS NULL)
    FROM (SELECT customer_id, bool_or(status = 'paid') AS paid, every(total > 50) AS whole, bool_and(total >
    50) FILTER (WHERE status = 'sent') AS dear FROM w.orders GROUP BY customer_id) q;
SELECT count(*) FROM (SELECT customer_id FROM w.orders GROUP BY 1 HAVING bool_or(total > 150)) q;
-- => as PostgreSQL: beside answers
-- long: all
-- beside: w. = whole.
-- near: 8 800 0
-- groups: some empty
-- noisy: count sum avg bool_or bool_and later none every small
SELECT region, count(*) FROM w.customers c JOIN (SELECT region AS r, count(*) AS n FROM w.customers
    GROUP BY region) q ON c.region = r WHERE EXISTS (SELECT 1 FROM w.orders o WHERE o.customer_id = c.id
    AND o.total > 100) GROUP BY region;
SELECT region, count(*) FROM w.customers c LEFT JOIN (SELECT region AS r, count(*) AS n FROM w.customers
    GROUP BY region) q ON c.region = r WHERE NOT EXISTS (SELECT 1 FROM w.orders o WHERE o.customer_id = c.id
    AND o.total > 100) GROUP BY region;
SELECT region, count(*) FROM w.customers c JOIN (SELECT region AS r, count(*) AS n FROM w.customers
    GROUP BY region) q ON c.region = r AND NOT EXISTS (SELECT 1 FROM w.orders o WHERE o.customer_id = c.id
    AND o.total > 100) WHERE q.n > 50 GROUP BY region;
SELECT region, count(*) FROM w.customers c JOIN (SELECT region AS r, count(*) AS n FROM w.customers
    GROUP BY region) q ON c.region = r WHERE (SELECT count(*) FROM w.orders o
    WHERE o.customer_id = c.id) > 1 GROUP BY region;
SELECT status, count(*) FROM w.orders c JOIN (SELECT status AS s, count(*) AS n FROM w.orders
    WHERE status IS NOT NULL GROUP BY status ORDER BY n DESC LIMIT 3) q ON status = s WHERE EXISTS (SELECT 1
    FROM w.products p WHERE p.id = c.product AND p.kind = 'a') GROUP BY status;
SELECT region, count(*) FROM (SELECT *, EXISTS (SELECT 1 FROM w.orders o WHERE o.customer_id = c.id
    AND o.total > 100) AS found FROM w.customers c) c JOIN (SELECT region AS r, count(*) AS n
    FROM w.customers GROUP BY region) q ON c.region = r WHERE found OR q.n > 1000 GROUP BY region;
-- => as PostgreSQL: windows
-- long: all
-- beside: w. = whole.
-- near: 8 800 0
-- groups: some empty
-- noisy: count sum avg bool_or bool_and later none every small
SELECT count(*), sum(total) FROM (SELECT total, row_number() OVER (PARTITION BY customer_id
    ORDER BY placed DESC, id) AS rn FROM w.orders) q WHERE rn = 1;
SELECT count(*), sum(total) FROM (SELECT *, row_number() OVER (PARTITION BY customer_id
    ORDER BY placed DESC, id) AS rn FROM w.orders WHERE status = 'paid') q WHERE rn <= 2 AND product > 1;
WITH ranked AS (SELECT o.*, row_number() OVER (PARTITION BY customer_id ORDER BY placed DESC, id) AS rn
    FROM w.orders o) SELECT status, count(*) FROM ranked WHERE rn = 1 AND status IS NOT NULL
    GROUP BY status;
SELECT rn, count(*) FROM (SELECT row_number() OVER (PARTITION BY customer_id ORDER BY placed DESC, id) AS rn
    FROM w.orders) q GROUP BY rn;
SELECT count(*), sum(before) FROM (SELECT lag(p.id) OVER (PARTITION BY customer_id
    ORDER BY placed) AS before, customer_id FROM w.orders o JOIN w.products p ON p.id = o.product) q;
SELECT count(*), sum(total) FROM (SELECT total, lag(total) OVER (PARTITION BY customer_id
    ORDER BY placed, id) AS before FROM w.orders) q WHERE total > before;
SELECT count(*), sum(total - before) FROM (SELECT total, lag(total, 2) OVER (PARTITION BY customer_id
    ORDER BY placed, id) AS before FROM w.orders) q;
SELECT count(*), count(later) FROM (SELECT lead(placed) OVER (PARTITION BY customer_id
    ORDER BY placed) AS later FROM w.orders) q;
SELECT count(*), avg(days) FROM (SELECT extract(epoch FROM placed - lag(placed) OVER (PARTITION BY
    customer_id ORDER BY placed)) / 86400 AS days FROM w.orders) q WHERE days > 30;
SELECT first, count(*) FROM (SELECT first_value(product) OVER (PARTITION BY customer_id
    ORDER BY placed, id) AS first FROM w.orders) q GROUP BY first;
SELECT last, count(*), count(DISTINCT u) FROM (SELECT customer_id AS u, last_value(product) OVER (PARTITION
    BY customer_id ORDER BY placed, id ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING) AS last
    FROM w.orders) q GROUP BY last;
SELECT n, count(*) FROM (SELECT count(*) OVER (PARTITION BY customer_id) AS n FROM w.orders) q GROUP BY n;
SELECT count(*), sum(total) FROM (SELECT total, sum(total) OVER (PARTITION BY customer_id
    ORDER BY placed, id) AS so_far FROM w.orders) q WHERE so_far <= 200;
SELECT count(*), sum(total) FROM (SELECT total, sum(total) OVER (PARTITION BY customer_id
    ORDER BY product ROWS UNBOUNDED PRECEDING) AS s, max(total) OVER (PARTITION BY customer_id) AS most,
    min(placed) OVER (PARTITION BY customer_id) AS first FROM w.orders) q WHERE total = most
    AND first < '2024-06-01';
SELECT count(*), sum(total) FROM (SELECT total, rank() OVER (PARTITION BY customer_id
    ORDER BY total DESC) AS r, dense_rank() OVER (PARTITION BY customer_id, status ORDER BY product) AS d
    FROM w.orders) q WHERE r = 1 OR d = 2;
SELECT count(*), sum(total) FROM (SELECT total, row_number() OVER (PARTITION BY customer_id
    ORDER BY placed, id) AS up, row_number() OVER (PARTITION BY customer_id
    ORDER BY placed DESC, id DESC) AS down FROM w.orders) q WHERE up = 1 OR down = 1;
SELECT count(*), sum(total) FROM (SELECT total, avg(total) OVER (PARTITION BY customer_id) AS mean, count(*)
    FILTER (WHERE status = 'paid') OVER (PARTITION BY customer_id) AS paid FROM w.orders) q
    WHERE total > mean AND paid > 0;
SELECT region, count(*), sum(total) FROM w.customers c JOIN (SELECT *, row_number() OVER (PARTITION BY
    customer_id ORDER BY placed, id) AS rn FROM w.orders) o ON o.customer_id = c.id AND o.rn = 1
    GROUP BY region;
SELECT p.kind, count(*), sum(total) FROM (SELECT *, row_number() OVER (PARTITION BY customer_id
    ORDER BY placed, id) AS rn FROM w.orders) o JOIN w.products p ON p.id = o.product WHERE rn = 1
    AND p.kind IS NOT NULL GROUP BY p.kind;
SELECT region, count(*), count(o.id), sum(total) FROM w.customers c LEFT
    JOIN (SELECT *, row_number() OVER (PARTITION BY customer_id ORDER BY placed, id) AS rn FROM w.orders) o
    ON o.customer_id = c.id AND o.rn <= 2 GROUP BY region;
SELECT region, count(*), sum(total) FROM w.customers c LEFT JOIN (SELECT *, row_number() OVER (PARTITION BY
    customer_id ORDER BY placed, id) AS rn FROM w.orders) o ON o.customer_id = c.id WHERE o.rn = 2
    GROUP BY region;
SELECT count(*), count(c.region) FROM (SELECT *, row_number() OVER (PARTITION BY customer_id
    ORDER BY placed, id) AS rn FROM w.orders) o LEFT JOIN w.customers c ON o.customer_id = c.id
    AND o.rn = 1;
SELECT count(*), sum(x.total) FROM (SELECT o.total, o.rn, q.n
    FROM (SELECT *, row_number() OVER (PARTITION BY customer_id ORDER BY placed, id) AS rn FROM w.orders) o
    JOIN (SELECT customer_id, count(*) AS n FROM w.orders GROUP BY customer_id) q
    ON q.customer_id = o.customer_id) x WHERE rn = 1 AND n > 2;
SELECT sum(CASE WHEN rn = 1 THEN v END) FROM (SELECT o.total AS v, row_number() OVER (PARTITION BY o.id
    ORDER BY o.total) AS rn FROM w.customers c LEFT JOIN w.orders o ON c.id = o.customer_id) q;
SELECT count(*) FILTER (WHERE rn = 1) FROM (SELECT row_number() OVER (PARTITION BY o.id
    ORDER BY price) AS rn FROM w.lines l JOIN w.orders o ON o.id = l.order_id) q;
SELECT count(*), sum(price::numeric) FROM (SELECT price, row_number() OVER (PARTITION BY customer_id
    ORDER BY price DESC) AS rn FROM w.lines l JOIN w.orders o ON o.id = l.order_id) q WHERE rn = 1;
SELECT count(*) FROM (SELECT customer_id, max(rn) AS n FROM (SELECT customer_id, row_number() OVER
    (PARTITION BY customer_id) AS rn FROM w.orders) q GROUP BY customer_id) p WHERE n > 3;
SELECT count(*), sum(total) FROM (SELECT total, row_number() OVER (PARTITION BY customer_id,
    date_trunc('quarter', placed) ORDER BY status NULLS FIRST, id) AS rn FROM w.orders) q WHERE rn = 1;
SELECT count(*), sum(total) FROM (SELECT customer_id, total, row_number() OVER (PARTITION BY customer_id
    ORDER BY placed DESC, id) AS rn FROM w.orders) q WHERE rn = 1 AND EXISTS (SELECT 1 FROM w.customers c
    WHERE c.id = q.customer_id AND region = 'west');
SELECT region, sum(n) FROM (SELECT DISTINCT first_value(c.region) OVER (PARTITION BY o.u, o.k
    ORDER BY c.joined DESC ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING) AS region, o.k, o.n
    FROM w.customers c JOIN (SELECT customer_id AS u, placed, 1 AS n, gen_random_uuid() AS k
    FROM w.orders) o ON c.id = o.u AND c.joined <= o.placed AND c.joined > o.placed - make_interval(days =>
    90)) q GROUP BY region;
SELECT count(*), sum(total) FROM (SELECT DISTINCT ON (customer_id) customer_id, total FROM w.orders
    ORDER BY customer_id, placed, id) q;
SELECT status, count(*), sum(total) FROM (SELECT DISTINCT ON (customer_id) * FROM w.orders WHERE total > 20
    ORDER BY customer_id, placed DESC, id) q WHERE status IS NOT NULL GROUP BY status;
SELECT count(*), sum(t) FROM (SELECT DISTINCT ON (u, 3) customer_id AS u, total AS t, product FROM w.orders
    ORDER BY 3, u, t DESC NULLS LAST, id) q WHERE t < 90;
WITH f AS (SELECT DISTINCT ON (customer_id) customer_id AS u, placed FROM w.orders
    ORDER BY u, placed, id) SELECT region, count(*) FROM w.customers c JOIN f ON f.u = c.id
    WHERE placed > '2024-02-01' GROUP BY region;
SELECT kind, count(*), sum(total) FROM (SELECT DISTINCT ON (o.customer_id) o.customer_id, kind, total
    FROM w.orders o JOIN w.products p ON p.id = o.product ORDER BY o.customer_id, o.placed, o.id) q
    GROUP BY kind;
SELECT count(DISTINCT k), count(*) FROM (SELECT customer_id, gen_random_uuid() AS k FROM w.orders) q;
SELECT count(*) FROM (SELECT DISTINCT customer_id, count(*) OVER (PARTITION BY customer_id, status)
    FROM w.orders) q;
-- => refused: what depends on other units
-- sqlstate: 0A000
SELECT count(*) FROM w.customers c WHERE EXISTS (SELECT 1 FROM w.orders o
    WHERE o.product = length(c.region));
-- hint: equalities
SELECT count(*), sum(total) FROM w.orders o WHERE EXISTS (SELECT 1 FROM w.orders p
    WHERE p.product = o.product AND p.total > 190);
-- hint: AND p.customer_id = o.customer_id)
SELECT region, count(*) FROM w.customers c JOIN (SELECT region AS r, count(*) AS n FROM w.customers
    GROUP BY region) q ON c.region = r WHERE EXISTS (SELECT 1 FROM w.orders o WHERE o.customer_id = c.id
    AND o.total > 100) OR n > 9 GROUP BY region;
-- hint: AS found
SELECT count(*), sum(total) FROM w.orders o WHERE product IN (SELECT product FROM w.orders
    WHERE total > 190);
-- hint: o.customer_id IN (SELECT
SELECT count(*) FROM (SELECT DISTINCT ON (customer_id) total FROM w.orders ORDER BY customer_id LIMIT 3) q;
-- hint: LIMIT is not available below an aggregate
WITH o AS (SELECT gen_random_uuid() AS k, customer_id FROM w.orders) SELECT count(*) FROM o a JOIN o b
    ON a.customer_id = b.customer_id AND a.k = b.k;
-- hint: gen_random_uuid() in WITH
SELECT count(*), sum(total) FROM (SELECT total, row_number() OVER (ORDER BY placed) AS rn FROM w.orders) q
    WHERE rn = 1;
-- hint: customer_id
SELECT count(*), sum(total) FROM (SELECT total, row_number() OVER (PARTITION BY product
    ORDER BY placed) AS rn FROM w.orders) q;
-- hint: PARTITION BY customer_id
SELECT count(*), sum(total) FROM (SELECT o.total, row_number() OVER (PARTITION BY p.id
    ORDER BY placed) AS rn FROM w.orders o JOIN w.products p ON p.id = product) q;
-- hint: PARTITION BY customer_id
SELECT count(*), sum(total) FROM (SELECT total, sum(total) OVER (PARTITION BY customer_id
    ORDER BY id ROWS 3 PRECEDING) AS s FROM w.orders) q WHERE s > 3;
-- hint: UNBOUNDED PRECEDING
SELECT count(*), sum(total) FROM (SELECT total, ntile(4) OVER (PARTITION BY customer_id) AS t
    FROM w.orders) q;
-- hint: width_bucket
