-- Grouping sets, and joins of two kinds. Of 600 customers each has 0 to 3 rentals, a third of which are paid once, a
-- third twice. Some things have no product, some products no thing. A count at an epsilon of 100, shared by 8 levels,
-- misses 12 once in 10^17 times.
-- mechanism: auto
-- => schema
CREATE SCHEMA r;
CREATE TYPE r.size AS ENUM ('s', 'm', 'l');
CREATE TABLE r.products (id int PRIMARY KEY, category text NOT NULL, price numeric(6,2), maker int);
INSERT INTO r.products
SELECT n, (ARRAY['Gizmo', 'Widget', 'Gadget'])[1 + n % 3], n * 1.25, n % 4 FROM generate_series(1, 8) n;
CREATE TABLE r.makers (id int PRIMARY KEY, country varchar(20));
INSERT INTO r.makers VALUES (0, 'no'), (1, 'se'), (2, NULL), (9, 'dk');
CREATE TABLE r.rentals (id int PRIMARY KEY, customer int NOT NULL, product int, day date NOT NULL,
    kind text NOT NULL, size r.size, paid boolean NOT NULL, amount numeric(8,2) NOT NULL);
INSERT INTO r.rentals
SELECT n, n % 601, nullif(n % 11, 0), date '2024-01-01' + n % 700, (ARRAY['a', 'b', 'c'])[1 + n % 3],
       (ARRAY['s', 'm', NULL])[1 + n % 3]::r.size, n % 2 = 0, (n % 100) + 0.25
FROM generate_series(1, 1100) n;
CREATE TABLE r.payments (id int PRIMARY KEY, customer int NOT NULL, rental int REFERENCES r.rentals,
    cents int NOT NULL);
CREATE TABLE r.returns (id int PRIMARY KEY, customer int NOT NULL, rental int NOT NULL REFERENCES r.rentals,
    late boolean NOT NULL);
INSERT INTO r.payments
SELECT n, g.customer, CASE WHEN n % 9 = 0 THEN NULL ELSE g.id END, n % 200
FROM generate_series(1, 900) n JOIN r.rentals g ON g.id = 1 + n % 700;
INSERT INTO r.returns SELECT g.id, g.customer, g.id, g.id % 7 = 0 FROM r.rentals g WHERE g.id % 2 = 0;
-- => policy
tables:
  r.rentals:
    unit: {customer: customer}
    max_rows_per_unit: 3
    columns:
      id: {}
      product: {bounds: [0, 20], values: [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, null]}
      day: {bounds: [2024-01-01, 2025-12-31]}
      kind: {values: [a, b, c]}
      size: {values: [s, m, l, null]}
      paid: {values: [true, false]}
      amount: {bounds: [0, 100]}
  r.payments:
    unit: {customer: customer}
    max_rows_per_unit: 3
    columns:
      id: {}
      rental: {}
      cents: {bounds: [0, 200]}
  r.returns:
    unit: {customer: customer}
    max_rows_per_unit: 3
    columns:
      id: {}
      rental: {}
      late: {}
  r.products: public
  r.makers: public
-- => as PostgreSQL: grouping sets
-- nulls: nothing
-- near: 12 12 0
-- noisy: count sum n max avg
-- groups: some empty
-- every: 2
SELECT kind AS kind, paid AS paid, COUNT(*) AS count, grouping(kind) AS kind__superset_grouping,
    grouping(paid) AS g FROM r.rentals GROUP BY GROUPING SETS((kind, paid), (kind), ()) ORDER BY count DESC;
SELECT r.rentals.kind, r.rentals.paid, count(*) AS n FROM r.rentals
    GROUP BY ROLLUP(r.rentals.kind, r.rentals.paid);
SELECT kind, size, paid, grouping(size), count(*) FROM r.rentals GROUP BY CUBE (kind, size, paid);
SELECT coalesce(kind, 'Total') AS k, GROUPING(paid, kind), count(*) FROM r.rentals
    GROUP BY GROUPING SETS (kind, (kind, paid), ()) HAVING grouping(kind, paid) < 2 ORDER BY 1, 2;
SELECT date_trunc('year', day) AS y, extract(quarter FROM day) q, count(*) FROM r.rentals
    GROUP BY 1, ROLLUP (2);
SELECT date_part('quarter', day) q, upper(kind) u, count(*), count(*) FILTER (WHERE paid) FROM r.rentals
    WHERE kind <> 'b' GROUP BY GROUPING SETS ((1), (2), (1, 2));
SELECT kind, paid, count(*) FROM r.rentals GROUP BY DISTINCT ROLLUP (kind), ROLLUP (kind, paid);
SELECT kind, count(*) FROM r.rentals GROUP BY ROLLUP (kind), ROLLUP (kind);
SELECT size, grouping(size), count(*) FROM r.rentals GROUP BY ROLLUP (size) ORDER BY size NULLS FIRST;
SELECT kind, grouping(kind) FROM r.rentals GROUP BY CUBE (kind);
SELECT paid IS NULL AS a, (paid IS NULL) = true AS b, grouping((paid IS NULL) = true) AS g, count(*)
    FROM r.rentals GROUP BY ROLLUP ((1, 2));
SELECT kind, rentals.kind, grouping(kind), count(*) FROM r.rentals GROUP BY ROLLUP (kind, r.rentals.kind);
SELECT kind AS k, kind AS l, grouping(kind), count(*) FROM r.rentals GROUP BY ROLLUP ((k, 2));
SELECT kind, count(*) FROM r.rentals WHERE false GROUP BY ROLLUP (kind);
SELECT count(*) FROM r.rentals GROUP BY ();
SELECT kind, grouping(r.rentals.kind) AS g, count(*) FROM r.rentals GROUP BY (kind);
SELECT category, paid, count(*) FROM r.rentals JOIN r.products p ON p.id = product
    GROUP BY ROLLUP ((p.category, paid));
SELECT k, p, sum(n) FROM (SELECT kind AS k, paid AS p, 1 AS n FROM r.rentals) q GROUP BY CUBE (k, p);
SELECT m, m > 0, floor(m) f, count(*) FROM (SELECT customer, count(*) AS m FROM r.rentals
    GROUP BY customer) q WHERE m BETWEEN 1 AND 3 GROUP BY ROLLUP (floor(m)), (m > 0), m;
WITH t AS (SELECT kind, paid, count(*) AS n, grouping(kind) AS g FROM r.rentals
    GROUP BY CUBE (1, 2)) SELECT paid, sum(g) AS g, max(n) FROM t GROUP BY 1;
SELECT kind, rank() OVER (PARTITION BY grouping(kind) ORDER BY kind), count(*) FROM r.rentals
    GROUP BY ROLLUP (kind);
SELECT ((floor(amount / 20))) * 20, count(*) FROM r.rentals WHERE amount < 60
    GROUP BY ROLLUP (floor(r.rentals.amount / 20) * 20) HAVING count(*) > 50;
SELECT grouping(kind, product * 2) AS g, product * 2 AS twice, kind, count(*) FROM r.rentals
    GROUP BY CUBE (product * 2, kind) HAVING grouping(product * 2) + grouping(kind) < 2;
SELECT kind, paid, sum(m) AS sum FROM (SELECT kind, paid, count(*) AS m FROM r.rentals GROUP BY 1, 2) q
    GROUP BY ROLLUP (kind, paid);
SELECT amount, paid, count(*) FROM r.rentals WHERE amount < 3 GROUP BY ROLLUP (amount, paid);
-- => as PostgreSQL: outer joins, and joins along a foreign key
-- nulls: nothing
-- near: 12 12 0
-- noisy: count sum n max avg
-- groups: some empty
-- every: 2
SELECT count(*) FROM r.payments JOIN r.rentals ON r.payments.rental = r.rentals.id;
SELECT kind, count(*) FROM r.payments p INNER JOIN r.rentals q ON q.id = p.rental GROUP BY kind;
SELECT kind, count(*) FROM r.rentals q LEFT JOIN r.payments p ON q.id = p.rental GROUP BY kind;
SELECT paid, count(kind) FROM r.payments p LEFT OUTER JOIN r.rentals q ON q.id = p.rental WHERE paid
    GROUP BY paid;
SELECT kind, count(*) FROM r.rentals q RIGHT JOIN r.payments p ON q.id = p.rental WHERE q.paid
    GROUP BY kind;
SELECT q.kind, count(*) FROM r.returns e LEFT JOIN r.rentals q ON e.rental = q.id GROUP BY 1;
SELECT q.paid, count(*) AS count, count(q.kind) AS n FROM r.rentals q RIGHT JOIN r.returns e
    ON e.rental = q.id WHERE late GROUP BY q.paid;
SELECT category, count(*) FROM r.payments p, r.rentals q, r.products s WHERE p.rental = q.id
    AND q.product = s.id GROUP BY category;
SELECT q.kind, count(*) FROM r.payments p JOIN r.rentals q USING (customer) JOIN (r.returns e
    JOIN r.rentals f USING (customer)) ON e.customer = p.customer AND e.rental = f.id WHERE p.rental = q.id
    GROUP BY 1;
SELECT q.kind, count(*) FROM (r.payments p JOIN r.returns e USING (customer, rental)) JOIN (r.products s
    JOIN r.rentals q ON q.product = s.id) USING (customer) WHERE rental = q.id GROUP BY 1;
SELECT e.late, count(*) FROM r.returns e JOIN (r.payments p LEFT
    JOIN r.rentals q USING (customer)) USING (customer) WHERE customer > 20 AND q.id = e.rental
    AND p.rental = q.id GROUP BY 1;
SELECT category, maker, count(q.id) FROM r.products s LEFT JOIN r.rentals q ON q.product = s.id
    GROUP BY 1, 2;
SELECT category, count(q.kind) FROM r.rentals q RIGHT OUTER JOIN r.products s ON q.product = s.id
    WHERE maker > 1 GROUP BY 1;
SELECT s.id, coalesce(count(q.amount) FILTER (WHERE q.paid), 0) AS n FROM r.products s LEFT JOIN (SELECT *
    FROM r.rentals WHERE kind <> 'c') q ON q.product = s.id GROUP BY s.id;
SELECT kind, count(*) FROM r.products s LEFT JOIN r.rentals q ON q.product = s.id WHERE q.paid
    GROUP BY kind;
SELECT s.id, s.category, count(q.kind) FROM r.rentals q FULL JOIN r.products s ON q.product = s.id
    GROUP BY 1, 2;
SELECT category, sum(x) AS n FROM (SELECT s.category, CASE WHEN q.paid THEN 1 ELSE 0 END AS x
    FROM r.products s FULL OUTER JOIN r.rentals q ON s.id = q.product) y GROUP BY 1;
-- => as PostgreSQL: what names mean
-- nulls: nothing
-- near: 12 12 0
-- noisy: count sum n max avg
-- groups: some empty
-- every: 4
SELECT payments.kind, count("Payments".cents) FROM r.rentals payments JOIN r.payments "Payments"
    ON "Payments".customer = payments.customer GROUP BY payments.kind;
SELECT kind.kind, count(*) FROM r.rentals kind JOIN r.returns customer USING (customer)
    WHERE customer.customer > 100 AND customer > 50 GROUP BY 1;
SELECT "KIND", count(*) FILTER (WHERE kind) FROM (SELECT kind AS "KIND", paid AS kind FROM r.rentals) q
    GROUP BY "KIND";
SELECT count(*) FILTER (WHERE id > 300), count(*) FILTER (WHERE product > 300) FROM (SELECT id, product
    FROM r.rentals) q(product, id);
WITH w(id, customer) AS (SELECT customer, id FROM r.rentals) SELECT count(*) FROM w JOIN r.payments p
    ON p.customer = w.id WHERE w.customer > 500;
WITH w AS (SELECT customer, id, product FROM r.rentals) SELECT count(*) FILTER (WHERE b > 300)
    FROM w v(b, c) WHERE c > 200 AND product > 2;
SELECT paid AS kind, kind AS paid, count(*) FROM r.rentals GROUP BY rentals.kind, rentals.paid
    ORDER BY kind;
SELECT upper(kind) AS size, count(*) FROM r.rentals q GROUP BY q.size, upper(kind), 1 HAVING q.size = 's';
SELECT q.from, q.group AS order, count(*) AS n FROM (SELECT kind AS from, paid AS group FROM r.rentals) q
    WHERE q.from <> 'b' GROUP BY q.from, q.group;
SELECT count(*) FROM r.rentals "left" JOIN r.payments "on" ON "left".customer = "on".customer
    JOIN r.returns "using" ON "using".customer = "left".customer;
SELECT date, count(*) FROM (SELECT customer AS year, kind AS date, id AS timestamp FROM r.rentals) q
    JOIN r.payments p ON p.customer = year WHERE timestamp > 300 GROUP BY date;
WITH rentals AS (SELECT * FROM r.rentals WHERE kind = 'a'), payments AS (SELECT customer, kind
    FROM rentals) SELECT kind, count(*) FROM payments JOIN r.rentals q USING (customer, kind) GROUP BY kind;
WITH q AS (SELECT customer FROM r.rentals WHERE paid) SELECT count(*)
    FROM (WITH q AS (SELECT customer, cents FROM r.payments) SELECT count(*) AS n FROM q
    WHERE cents > 100) p;
SELECT count(*) FROM (SELECT * FROM r.rentals JOIN r.payments USING (customer)) q WHERE customer > 300;
SELECT kind, count(*) FROM (SELECT * FROM r.rentals JOIN r.payments USING (customer)) q
    JOIN r.returns e USING (customer) GROUP BY kind;
SELECT id, count(*) FROM (SELECT * FROM r.rentals JOIN r.products USING (id)) AS q GROUP BY 1;
WITH j AS (SELECT a.*, b.* FROM r.rentals a JOIN r.payments b ON a.customer = b.customer), k AS (SELECT *
    FROM j) SELECT count(*) FROM k WHERE kind = 'a';
SELECT count(*) FROM (SELECT customer, customer, id FROM r.rentals UNION ALL SELECT customer, id, id
    FROM r.returns) q WHERE id > 300;
SELECT count(*) FILTER (WHERE c2 > 300), count(*) FILTER (WHERE c4 > 300) FROM (SELECT *
    FROM (SELECT customer, product FROM r.rentals) a RIGHT JOIN (SELECT customer AS u, rental
    FROM r.payments) b ON a.customer = b.u) q(c1, c2, c3, c4);
SELECT count(*) FROM (SELECT * FROM r.payments b RIGHT JOIN r.rentals a USING (customer)) q(c1, c2)
    WHERE c1 > 300 AND c2 > 100;
SELECT count(*) FROM (SELECT r.rentals.* FROM r.rentals JOIN r.payments r
    ON r.customer = rentals.customer) q WHERE id > 500;
WITH w(a, b) AS (SELECT product, id FROM r.rentals) SELECT count(*) FILTER (WHERE a > 100) FROM w v(b, a);
SELECT sum(n) FROM (SELECT customer AS u, date_trunc('month', day) AS m, count(*) AS n FROM r.rentals
    GROUP BY u, m) q WHERE u > 300;
SELECT id, count(*) FROM r.products JOIN (SELECT product::bigint AS id FROM r.rentals) q USING (id)
    GROUP BY id;
SELECT sum(product) FROM r.rentals WHERE kind IN (SELECT kind FROM r.rentals GROUP BY kind
    HAVING count(*) > 100000);
WITH w AS (WITH y AS (SELECT late FROM r.returns) SELECT late, count(*) FROM y GROUP BY 1) SELECT * FROM w;
WITH w AS (WITH x AS MATERIALIZED (SELECT late, customer FROM r.returns), y AS (SELECT a.late FROM x a
    JOIN x b ON a.customer = b.customer) SELECT late, count(*) FROM y GROUP BY 1) SELECT a.late, b.count
    FROM w a JOIN w b ON a.late = b.late;
SELECT count(*) FROM (WITH y AS (SELECT customer, product FROM r.rentals
    WHERE product > (SELECT avg(product) FROM r.rentals)) SELECT * FROM y) q;
WITH q AS MATERIALIZED (WITH y AS (SELECT customer, id FROM r.rentals), z AS (SELECT * FROM y) SELECT a.*
    FROM z a JOIN y b ON a.customer = b.customer AND a.id = b.id) SELECT count(*) FROM q;
SELECT kind, sum(n) AS n FROM (WITH y AS (SELECT kind, count(*) AS n FROM r.rentals GROUP BY kind) SELECT *
    FROM y) q GROUP BY kind;
SELECT count(*) FROM r.rentals WHERE product > (WITH y AS (SELECT product
    FROM r.rentals) SELECT avg(product) FROM y);
SELECT count(*) FROM r.rentals p LEFT JOIN (SELECT customer AS "full" FROM r.payments) q
    ON p.customer = q.full RIGHT JOIN (SELECT customer AS "using", late AS "on" FROM r.returns) s
    ON s.using = p.customer AND s.on JOIN (SELECT customer AS "natural" FROM r.returns) t
    ON t.natural = s.using;
SELECT p.kind, count(*) FROM r.rentals p JOIN (SELECT customer AS "join", customer AS "left"
    FROM r.payments) q ON q.left = p.customer AND q . join > 5 WHERE q.join > 10 GROUP BY p.kind;
SELECT count(*) FROM r.rentals q WHERE EXISTS (SELECT 1 FROM r.payments p WHERE p.customer = q.customer
    AND id < 200);
SELECT count(*) FROM r.rentals payments WHERE EXISTS (SELECT 1 FROM r.payments p
    JOIN r.returns rentals USING (customer) WHERE customer = payments.customer AND rentals.late);
SELECT count(*) FROM r.rentals q WHERE customer IN (SELECT customer FROM r.returns e RIGHT
    JOIN r.payments p USING (customer) WHERE e.late);
SELECT o.category, (SELECT sum(n) FROM (SELECT category AS k, count(*) AS n FROM r.rentals q
    JOIN r.products p ON p.id = q.product GROUP BY category HAVING EXISTS (SELECT 1 FROM r.makers m
    WHERE category = 'Gizmo')) z) AS sum FROM r.products o;
SELECT o.id, o.product, z.* FROM (SELECT id, 2 AS product FROM r.makers) o, LATERAL (SELECT (SELECT
    m.country FROM r.makers m WHERE m.id = product), count(*) AS n FROM r.rentals GROUP BY product) z;
SELECT product, (SELECT min(m.country) FROM r.makers m JOIN r.products p ON m.id = p.maker
    AND p.id <= rentals.product), count(*) AS n FROM r.rentals GROUP BY ROLLUP (product);
SELECT category, count(*) AS n FROM r.rentals q JOIN r.products p ON p.id = q.product GROUP BY category
    HAVING count(*) > (SELECT 20 * max(price) FROM r.products WHERE category = 'Gizmo')
    ORDER BY (SELECT min(id) FROM r.products i WHERE i.category = p.category);
SELECT rentals.kind, (SELECT max(x) FROM (SELECT rentals.id AS x, 'kind' AS kind FROM r.products rentals) q
    WHERE kind = 'kind' AND rentals.kind <> 'a'), count(*) AS n FROM r.rentals GROUP BY 1;
SELECT (SELECT kind), (SELECT max(category) FROM (SELECT DISTINCT category, rentals.kind FROM r.products) q
    WHERE kind = 'a') AS best, count(*) AS n FROM r.rentals GROUP BY kind;
SELECT kind, count(*) AS n FROM r.rentals GROUP BY kind HAVING kind IN (WITH kind(x) AS (VALUES ('a'),
    (kind)) SELECT max(x) FROM kind);
-- => refused: names that the shadow would mistake
-- sqlstate: 0A000 42501
SELECT kind, (SELECT count(*) FROM r.payments p WHERE p.customer > 7 AND rentals.kind = 'a') FROM r.rentals
    GROUP BY kind;
SELECT kind, (SELECT sum(amount)) FROM r.rentals GROUP BY kind;
SELECT o.k1, z.n FROM (SELECT 'a' AS k1) o, LATERAL (SELECT count(*) AS n FROM r.rentals GROUP BY kind
    HAVING kind = k1) z;
SELECT kind, count(*) FROM r.rentals GROUP BY kind HAVING EXISTS (SELECT 1 FROM pg_class WHERE kind = 'a');
