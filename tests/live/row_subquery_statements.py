"""Statements with subqueries about each row, the tables that they ask of, and some that are refused.

Beside schema w, which has rows of nobody, schema whole has the same without them: its answers are right.
"""

from __future__ import annotations

_TABLES = """\
CREATE TABLE {0}.customers (id int PRIMARY KEY, region varchar(20), joined date NOT NULL);
CREATE TABLE {0}.orders (id int PRIMARY KEY, customer_id int, product int, status varchar(10), total numeric,
    placed timestamp NOT NULL);
CREATE TABLE {0}.lines (id int PRIMARY KEY, order_id int, price int NOT NULL);
CREATE TABLE {0}.products (id int PRIMARY KEY, kind text);
"""
SCRIPT = f"""\
CREATE SCHEMA w;
CREATE SCHEMA whole;
{_TABLES.format("w")}{_TABLES.format("whole")}
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
"""
POLICY = """\
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
"""

_CUSTOMERS = "SELECT count(*) FROM w.customers c WHERE"
_ORDERS = "SELECT count(*), sum(total) FROM w.orders o WHERE"
SEMI_JOINS = (
    f"{_CUSTOMERS} EXISTS (SELECT 1 FROM w.orders o WHERE o.customer_id = c.id AND o.total > 100)",
    f"{_CUSTOMERS} NOT EXISTS (SELECT * FROM w.orders o WHERE o.customer_id = c.id AND o.total > 100)",
    f"{_CUSTOMERS} NOT (EXISTS(SELECT 1 AS a FROM w.orders v0 WHERE v0.customer_id = (c.id) LIMIT 1))",
    "SELECT count(*) FROM w.customers c LEFT JOIN w.orders o ON o.customer_id = c.id AND o.total > 100"
    " WHERE o.customer_id IS NULL",
    "SELECT region, count(*) FROM w.customers c LEFT JOIN w.orders o ON c.id = o.customer_id"
    " WHERE o.id IS NULL AND c.joined < '2024-08-01' GROUP BY region",
    f"{_CUSTOMERS} id IN (SELECT customer_id FROM w.orders WHERE status = 'paid')",
    f"{_CUSTOMERS} id NOT IN (SELECT customer_id FROM w.orders WHERE status = 'paid')",
    f"{_CUSTOMERS} c.id NOT IN (SELECT customer_id FROM w.orders WHERE status <> 'paid' OR total > 190)",
    f"{_CUSTOMERS} id IN (SELECT DISTINCT customer_id FROM w.orders WHERE total > 150)",
    f"{_CUSTOMERS} id IN (SELECT customer_id FROM w.orders GROUP BY customer_id HAVING count(*) >= 3)",
    f"{_CUSTOMERS} id NOT IN (SELECT customer_id FROM w.orders GROUP BY 1 HAVING sum(total) > 250)",
    f"{_CUSTOMERS} EXISTS (SELECT FROM w.orders o WHERE o.customer_id = c.id AND total > 180)"
    " OR region = 'west'",
    f"{_CUSTOMERS} EXISTS (SELECT FROM w.orders o WHERE o.customer_id = c.id AND status = 'open')"
    " AND NOT EXISTS (SELECT FROM w.orders o WHERE o.customer_id = c.id AND status = 'sent')",
    f"{_CUSTOMERS} EXISTS (SELECT 1 FROM w.orders JOIN w.lines ON order_id = orders.id"
    " WHERE customer_id = c.id AND price > 45)",
    f"{_CUSTOMERS} id IN (SELECT customer_id FROM w.orders o WHERE EXISTS (SELECT 1 FROM w.lines l"
    " WHERE l.order_id = o.id AND price > 45))",
    f"{_CUSTOMERS} EXISTS (SELECT 1 FROM w.orders o WHERE o.customer_id = c.id"
    " AND o.total > (SELECT avg(total) FROM w.orders))",
    f"{_ORDERS} EXISTS (SELECT 1 FROM w.lines l WHERE l.order_id = o.id AND l.price > 20)",
    f"{_ORDERS} id NOT IN (SELECT order_id FROM w.lines WHERE price > 20)",
    f"{_ORDERS} EXISTS (SELECT 1 FROM w.orders p WHERE p.customer_id = o.customer_id AND"
    " p.product = o.product"
    " AND p.total > 150)",
    f"{_ORDERS} EXISTS (SELECT 1 FROM w.orders p WHERE p.customer_id = o.customer_id AND p.status = o.status"
    " AND p.total < 50)",
    f"{_ORDERS} customer_id IN (SELECT id FROM w.customers WHERE region = 'south')",
    f"{_ORDERS} customer_id NOT IN (SELECT id FROM w.customers WHERE region = 'south')",
    "SELECT count(*) FROM w.lines l WHERE order_id IN (SELECT id FROM w.orders WHERE total > 50)",
    "SELECT count(*) FROM w.lines l WHERE NOT EXISTS (SELECT 1 FROM w.orders o WHERE o.id ="
    " order_id AND total > 50)",
    "SELECT region, count(*) FROM w.customers c WHERE EXISTS (SELECT 1 FROM w.orders o"
    " WHERE o.customer_id = c.id) GROUP BY region",
    # Two keys that are one.
    "SELECT CASE WHEN n > 300 THEN 'low' ELSE 'high' END,"
    " CASE WHEN (n > 300) = true THEN 'low' ELSE 'high' END, count(*)"
    " FROM (SELECT sum(total) AS n, customer_id FROM w.orders o WHERE NOT EXISTS (SELECT * FROM w.orders p"
    " WHERE o.customer_id = p.customer_id AND p.total = 0) AND NOT (status = 'open' AND total = 0)"
    " GROUP BY customer_id) q GROUP BY 1, 2",
    "SELECT EXISTS (SELECT 1 FROM w.orders o WHERE o.customer_id = c.id) AS buys, count(*) FROM w.customers c"
    " GROUP BY 1",
    "SELECT CASE WHEN id IN (SELECT customer_id FROM w.orders) THEN 'yes' ELSE 'no' END AS buys, count(*)"
    " FROM w.customers GROUP BY buys",
    "SELECT region, count(*) FILTER (WHERE NOT EXISTS (SELECT 1 FROM w.orders o WHERE o.customer_id = c.id)),"
    " count(*) FROM w.customers c GROUP BY region",
    "WITH buyers AS (SELECT * FROM w.customers c WHERE EXISTS (SELECT 1 FROM w.orders o"
    " WHERE o.customer_id = c.id)) SELECT region, count(*) FROM buyers GROUP BY region",
    "SELECT count(*) FROM (SELECT customer_id, count(*) AS n FROM w.orders o WHERE EXISTS (SELECT 1"
    " FROM w.lines l WHERE l.order_id = o.id) GROUP BY customer_id) q WHERE n > 1",
    f"{_ORDERS} EXISTS (SELECT 1 FROM w.products p WHERE p.id = o.product AND p.kind = 'a')",
    f"{_ORDERS} NOT EXISTS (SELECT 1 FROM w.products p WHERE p.id = product)",
)
ORDERED = (
    f"{_ORDERS} EXISTS (SELECT 1 FROM w.orders p WHERE p.customer_id = o.customer_id AND p.placed < o.placed)",
    f"{_ORDERS} NOT EXISTS (SELECT 1 FROM w.orders p WHERE p.customer_id = o.customer_id"
    " AND o.placed < p.placed AND p.total > 20)",
    f"{_ORDERS} EXISTS (SELECT 1 FROM w.orders p WHERE p.customer_id = o.customer_id AND p.id <> o.id)",
    f"{_ORDERS} EXISTS (SELECT 1 FROM w.orders p WHERE p.customer_id = o.customer_id"
    " AND p.status = o.status AND p.total >= o.total AND p.placed > '2024-06-01')",
)
SCALARS = (
    f"{_CUSTOMERS} (SELECT count(*) FROM w.orders o WHERE o.customer_id = c.id) = 2",
    f"{_CUSTOMERS} 0 = (SELECT count(*) FROM w.orders o WHERE o.customer_id = c.id)",
    f"{_CUSTOMERS} (SELECT max(total) FROM w.orders o WHERE o.customer_id = c.id AND status = 'sent') > 120",
    f"{_CUSTOMERS} (SELECT max(total) FROM w.orders o WHERE o.customer_id = c.id AND status ="
    " 'sent') IS NULL",
    "SELECT (SELECT count(*) FROM w.orders o WHERE o.customer_id = c.id) AS n, count(*) FROM w.customers c"
    " GROUP BY 1",
    "SELECT sum((SELECT count(*) FROM w.orders o WHERE o.customer_id = c.id)) FROM w.customers c",
    "SELECT sum((SELECT coalesce(sum(total), 0) + count(*) FROM w.orders o WHERE o.customer_id = c.id))"
    " FROM w.customers c",
    "SELECT n, count(*) FROM (SELECT c.id, (SELECT count(DISTINCT product) FROM w.orders o"
    " WHERE o.customer_id = c.id) AS n FROM w.customers c) q GROUP BY n",
)
PER_UNIT = (
    "SELECT count(*) FROM (SELECT DISTINCT customer_id AS u FROM w.orders) subquery",
    "SELECT count(*) FROM (SELECT DISTINCT customer_id FROM w.orders WHERE total > 100) q",
    "SELECT status, count(*) FROM (SELECT DISTINCT customer_id, status FROM w.orders WHERE"
    " status IS NOT NULL) q"
    " GROUP BY status",
    "SELECT count(*), sum(total) FROM (SELECT total FROM w.orders ORDER BY placed DESC NULLS LAST, id) q",
    "WITH a AS (SELECT * FROM w.orders ORDER BY placed, total * 2) SELECT count(*) FROM a WHERE total > 20",
    "SELECT avg(n) FROM (SELECT customer_id, count(*) AS n FROM w.orders GROUP BY customer_id"
    " ORDER BY count(*) DESC, sum(total)) q",
    "SELECT count(*) FROM (SELECT DISTINCT customer_id, status FROM w.orders ORDER BY 1, status) q",
    "SELECT count(*) FROM w.orders o JOIN (SELECT id FROM w.products ORDER BY kind) p ON p.id = o.product",
    "SELECT m, count(*) FROM (SELECT DISTINCT customer_id, date_trunc('month', placed) AS m"
    " FROM w.orders) q GROUP BY m",
    "SELECT count(*) FROM (SELECT customer_id FROM w.orders GROUP BY customer_id HAVING count(*) > 2) q",
    "SELECT count(*), sum(n), sum(s) FROM (SELECT customer_id, status, count(*) AS n,"
    " sum(total) AS s FROM w.orders"
    " GROUP BY customer_id, status) q",
    "SELECT product, count(*), sum(n) FROM (SELECT customer_id, product, count(*) AS n FROM w.orders"
    " GROUP BY 1, product HAVING max(total) > 20) q GROUP BY product",
    "SELECT n, count(*) FROM (SELECT customer_id, product % 3 AS k, count(*) AS n FROM w.orders"
    " GROUP BY customer_id, product % 3) q GROUP BY n",
    "SELECT first, count(*) FROM (SELECT customer_id, min(date_trunc('month', placed)) AS first FROM w.orders"
    " GROUP BY customer_id) q GROUP BY first",
    "SELECT count(*) FROM w.orders o JOIN (SELECT customer_id, max(date_trunc('day', placed))"
    " AS last FROM w.orders"
    " GROUP BY customer_id) q ON q.customer_id = o.customer_id AND date_trunc('day', o.placed) = q.last",
    "SELECT q.first, date_trunc('quarter', o.placed), count(DISTINCT o.customer_id) FROM w.orders o"
    " JOIN (SELECT customer_id, date_trunc('quarter', min(placed)) AS first FROM w.orders GROUP"
    " BY customer_id) q"
    " ON q.customer_id = o.customer_id GROUP BY 1, 2",
)
# At epsilon 50 and five rows of a unit a noisy 0 is hardly ever above 0: true and false are PostgreSQL's.
TRUTHS = (
    "SELECT bool_or(total > 100) FROM w.orders",
    "SELECT bool_or(total > 500) FROM w.orders",
    "SELECT bool_and(total >= 0) FROM w.orders",
    "SELECT bool_or(total > 100), every(total > 100) AS none FROM w.orders WHERE total < 0",
    "SELECT region, bool_or(joined > '2024-06-01'), bool_and(joined > '2024-06-01') AS later, every(id > 0)"
    " FROM w.customers GROUP BY region HAVING NOT bool_and(joined > '2024-06-01')",
    "SELECT product, bool_and(total < 500) FILTER (WHERE status = 'paid') AS small FROM w.orders"
    " GROUP BY product",
    "SELECT bool_or(total > (SELECT avg(total) FROM w.orders)) FROM w.orders",
    "SELECT count(*) FILTER (WHERE paid), count(*) FILTER (WHERE whole), count(*) FILTER (WHERE dear IS NULL)"
    " FROM (SELECT customer_id, bool_or(status = 'paid') AS paid, every(total > 50) AS whole,"
    " bool_and(total > 50) FILTER (WHERE status = 'sent') AS dear FROM w.orders GROUP BY customer_id) q",
    "SELECT count(*) FROM (SELECT customer_id FROM w.orders GROUP BY 1 HAVING bool_or(total > 150)) q",
)
_REGIONS = "(SELECT region AS r, count(*) AS n FROM w.customers GROUP BY region) q ON c.region = r"
_BUYS = "EXISTS (SELECT 1 FROM w.orders o WHERE o.customer_id = c.id AND o.total > 100)"
BESIDE_ANSWERS = (
    f"SELECT region, count(*) FROM w.customers c JOIN {_REGIONS} WHERE {_BUYS} GROUP BY region",
    f"SELECT region, count(*) FROM w.customers c LEFT JOIN {_REGIONS} WHERE NOT {_BUYS} GROUP BY region",
    f"SELECT region, count(*) FROM w.customers c JOIN {_REGIONS} AND NOT {_BUYS} WHERE q.n > 50"
    " GROUP BY region",
    f"SELECT region, count(*) FROM w.customers c JOIN {_REGIONS} WHERE (SELECT count(*) FROM w.orders o"
    " WHERE o.customer_id = c.id) > 1 GROUP BY region",
    "SELECT status, count(*) FROM w.orders c JOIN (SELECT status AS s, count(*) AS n FROM w.orders WHERE"
    " status IS NOT NULL GROUP BY status ORDER BY n DESC LIMIT 3) q ON status = s WHERE EXISTS (SELECT 1 FROM"
    " w.products p WHERE p.id = c.product AND p.kind = 'a') GROUP BY status",
    # named in a subquery where one condition has both
    f"SELECT region, count(*) FROM (SELECT *, {_BUYS} AS found FROM w.customers c) c JOIN {_REGIONS}"
    " WHERE found OR q.n > 1000 GROUP BY region",
)
ALL = (*SEMI_JOINS, *ORDERED, *SCALARS, *PER_UNIT, *TRUTHS, *BESIDE_ANSWERS)
REFUSED = (
    (
        f"{_CUSTOMERS} EXISTS (SELECT 1 FROM w.orders o WHERE o.product = length(c.region))",
        "equalities",
    ),
    (
        f"{_ORDERS} EXISTS (SELECT 1 FROM w.orders p WHERE p.product = o.product AND p.total > 190)",
        "AND p.customer_id = o.customer_id)",
    ),
    (
        f"SELECT region, count(*) FROM w.customers c JOIN {_REGIONS} WHERE {_BUYS} OR n > 9 GROUP BY region",
        "AS found",
    ),
    (
        f"{_ORDERS} product IN (SELECT product FROM w.orders WHERE total > 190)",
        "o.customer_id IN (SELECT",
    ),
)
