"""Window functions over the rows of each unit, for the tables of row_subquery_statements."""

from __future__ import annotations

_NUMBERED = "(SELECT *, row_number() OVER (PARTITION BY customer_id ORDER BY placed, id) AS rn FROM w.orders)"
WINDOWS = (
    "SELECT count(*), sum(total) FROM (SELECT total, row_number() OVER (PARTITION BY customer_id"
    " ORDER BY placed DESC, id) AS rn FROM w.orders) q WHERE rn = 1",
    "SELECT count(*), sum(total) FROM (SELECT *, row_number() OVER (PARTITION BY customer_id ORDER BY"
    " placed DESC, id) AS rn FROM w.orders WHERE status = 'paid') q WHERE rn <= 2 AND product > 1",
    "WITH ranked AS (SELECT o.*, row_number() OVER (PARTITION BY customer_id ORDER BY placed DESC,"
    " id) AS rn FROM w.orders o) SELECT status, count(*) FROM ranked WHERE rn = 1 AND status IS NOT"
    " NULL GROUP BY status",
    "SELECT rn, count(*) FROM (SELECT row_number() OVER (PARTITION BY customer_id ORDER BY placed"
    " DESC, id) AS rn FROM w.orders) q GROUP BY rn",
    # Of a public column, whose values are clamped to what was read of it.
    "SELECT count(*), sum(before) FROM (SELECT lag(p.id) OVER (PARTITION BY customer_id ORDER BY placed)"
    " AS before, customer_id FROM w.orders o JOIN w.products p ON p.id = o.product) q",
    "SELECT count(*), sum(total) FROM (SELECT total, lag(total) OVER (PARTITION BY customer_id ORDER"
    " BY placed, id) AS before FROM w.orders) q WHERE total > before",
    "SELECT count(*), sum(total - before) FROM (SELECT total, lag(total, 2) OVER (PARTITION BY"
    " customer_id ORDER BY placed, id) AS before FROM w.orders) q",
    "SELECT count(*), count(later) FROM (SELECT lead(placed) OVER (PARTITION BY customer_id ORDER BY"
    " placed) AS later FROM w.orders) q",
    "SELECT count(*), avg(days) FROM (SELECT extract(epoch FROM placed - lag(placed) OVER (PARTITION"
    " BY customer_id ORDER BY placed)) / 86400 AS days FROM w.orders) q WHERE days > 30",
    "SELECT first, count(*) FROM (SELECT first_value(product) OVER (PARTITION BY customer_id ORDER BY"
    " placed, id) AS first FROM w.orders) q GROUP BY first",
    "SELECT last, count(*), count(DISTINCT u) FROM (SELECT customer_id AS u, last_value(product) OVER"
    " (PARTITION BY customer_id ORDER BY placed, id ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED"
    " FOLLOWING) AS last FROM w.orders) q GROUP BY last",
    "SELECT n, count(*) FROM (SELECT count(*) OVER (PARTITION BY customer_id) AS n FROM w.orders) q"
    " GROUP BY n",
    "SELECT count(*), sum(total) FROM (SELECT total, sum(total) OVER (PARTITION BY customer_id ORDER"
    " BY placed, id) AS so_far FROM w.orders) q WHERE so_far <= 200",
    "SELECT count(*), sum(total) FROM (SELECT total, sum(total) OVER (PARTITION BY customer_id ORDER"
    " BY product ROWS UNBOUNDED PRECEDING) AS s, max(total) OVER (PARTITION BY customer_id) AS most,"
    " min(placed) OVER (PARTITION BY customer_id) AS first FROM w.orders) q WHERE total = most AND"
    " first < '2024-06-01'",
    "SELECT count(*), sum(total) FROM (SELECT total, rank() OVER (PARTITION BY customer_id ORDER BY"
    " total DESC) AS r, dense_rank() OVER (PARTITION BY customer_id, status ORDER BY product) AS d"
    " FROM w.orders) q WHERE r = 1 OR d = 2",
    "SELECT count(*), sum(total) FROM (SELECT total, row_number() OVER (PARTITION BY customer_id"
    " ORDER BY placed, id) AS up, row_number() OVER (PARTITION BY customer_id ORDER BY placed DESC,"
    " id DESC) AS down FROM w.orders) q WHERE up = 1 OR down = 1",
    "SELECT count(*), sum(total) FROM (SELECT total, avg(total) OVER (PARTITION BY customer_id) AS"
    " mean, count(*) FILTER (WHERE status = 'paid') OVER (PARTITION BY customer_id) AS paid FROM"
    " w.orders) q WHERE total > mean AND paid > 0",
    "SELECT region, count(*), sum(total) FROM w.customers c JOIN (SELECT *, row_number() OVER"
    " (PARTITION BY customer_id ORDER BY placed, id) AS rn FROM w.orders) o ON o.customer_id = c.id"
    " AND o.rn = 1 GROUP BY region",
    # The number is asked for above a join: of an outer one rows without partner stay, or fall out by WHERE.
    f"SELECT p.kind, count(*), sum(total) FROM {_NUMBERED} o JOIN w.products p ON p.id = o.product WHERE rn = 1"
    " AND p.kind IS NOT NULL GROUP BY p.kind",
    f"SELECT region, count(*), count(o.id), sum(total) FROM w.customers c LEFT JOIN {_NUMBERED} o"
    " ON o.customer_id = c.id AND o.rn <= 2 GROUP BY region",
    f"SELECT region, count(*), sum(total) FROM w.customers c LEFT JOIN {_NUMBERED} o ON o.customer_id = c.id"
    " WHERE o.rn = 2 GROUP BY region",
    f"SELECT count(*), count(c.region) FROM {_NUMBERED} o LEFT JOIN w.customers c"
    " ON o.customer_id = c.id AND o.rn = 1",
    f"SELECT count(*), sum(x.total) FROM (SELECT o.total, o.rn, q.n FROM {_NUMBERED} o JOIN (SELECT customer_id"
    ", count(*) AS n FROM w.orders GROUP BY customer_id) q ON q.customer_id = o.customer_id) x"
    " WHERE rn = 1 AND n > 2",
    "SELECT sum(CASE WHEN rn = 1 THEN v END) FROM (SELECT o.total AS v, row_number() OVER (PARTITION"
    " BY o.id ORDER BY o.total) AS rn FROM w.customers c LEFT JOIN w.orders o ON c.id ="
    " o.customer_id) q",
    "SELECT count(*) FILTER (WHERE rn = 1) FROM (SELECT row_number() OVER (PARTITION BY o.id ORDER BY"
    " price) AS rn FROM w.lines l JOIN w.orders o ON o.id = l.order_id) q",
    "SELECT count(*), sum(price::numeric) FROM (SELECT price, row_number() OVER (PARTITION BY customer_id"
    " ORDER BY price DESC) AS rn FROM w.lines l JOIN w.orders o ON o.id = l.order_id) q WHERE rn = 1",
    "SELECT count(*) FROM (SELECT customer_id, max(rn) AS n FROM (SELECT customer_id, row_number()"
    " OVER (PARTITION BY customer_id) AS rn FROM w.orders) q GROUP BY customer_id) p WHERE n > 3",
    "SELECT count(*), sum(total) FROM (SELECT total, row_number() OVER (PARTITION BY customer_id,"
    " date_trunc('quarter', placed) ORDER BY status NULLS FIRST, id) AS rn FROM w.orders) q WHERE rn"
    " = 1",
    "SELECT count(*), sum(total) FROM (SELECT customer_id, total, row_number() OVER (PARTITION BY"
    " customer_id ORDER BY placed DESC, id) AS rn FROM w.orders) q WHERE rn = 1 AND EXISTS (SELECT 1"
    " FROM w.customers c WHERE c.id = q.customer_id AND region = 'west')",
    "SELECT region, sum(n) FROM (SELECT DISTINCT first_value(c.region) OVER (PARTITION BY o.u, o.k ORDER BY"
    " c.joined DESC ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING) AS region, o.k, o.n FROM"
    " w.customers c JOIN (SELECT customer_id AS u, placed, 1 AS n, gen_random_uuid() AS k FROM w.orders) o"
    " ON c.id = o.u AND c.joined <= o.placed AND c.joined > o.placed - make_interval(days => 90)) q"
    " GROUP BY region",
    # DISTINCT ON is the first row of each unit, or of what else is with it in the brackets.
    "SELECT count(*), sum(total) FROM (SELECT DISTINCT ON (customer_id) customer_id, total FROM w.orders"
    " ORDER BY customer_id, placed, id) q",
    "SELECT status, count(*), sum(total) FROM (SELECT DISTINCT ON (customer_id) * FROM w.orders WHERE total >"
    " 20 ORDER BY customer_id, placed DESC, id) q WHERE status IS NOT NULL GROUP BY status",
    "SELECT count(*), sum(t) FROM (SELECT DISTINCT ON (u, 3) customer_id AS u, total AS t, product FROM"
    " w.orders ORDER BY 3, u, t DESC NULLS LAST, id) q WHERE t < 90",
    "WITH f AS (SELECT DISTINCT ON (customer_id) customer_id AS u, placed FROM w.orders ORDER BY u, placed, id)"
    " SELECT region, count(*) FROM w.customers c JOIN f ON f.u = c.id WHERE placed > '2024-02-01' GROUP BY"
    " region",
    "SELECT kind, count(*), sum(total) FROM (SELECT DISTINCT ON (o.customer_id) o.customer_id, kind, total FROM"
    " w.orders o JOIN w.products p ON p.id = o.product ORDER BY o.customer_id, o.placed, o.id) q GROUP BY kind",
    "SELECT count(DISTINCT k), count(*) FROM (SELECT customer_id, gen_random_uuid() AS k FROM w.orders) q",
    "SELECT count(*) FROM (SELECT DISTINCT customer_id, count(*) OVER (PARTITION BY customer_id, status)"
    " FROM w.orders) q",
)
REFUSED_WINDOWS = (
    (
        "SELECT count(*) FROM (SELECT DISTINCT ON (customer_id) total FROM w.orders ORDER BY customer_id"
        " LIMIT 3) q",
        "LIMIT is not available below an aggregate",
    ),
    (
        "WITH o AS (SELECT gen_random_uuid() AS k, customer_id FROM w.orders) SELECT count(*) FROM o a"
        " JOIN o b ON a.customer_id = b.customer_id AND a.k = b.k",
        "gen_random_uuid() in WITH",
    ),
    (
        "SELECT count(*), sum(total) FROM (SELECT total, row_number() OVER (ORDER BY placed) AS rn FROM"
        " w.orders) q WHERE rn = 1",
        "customer_id",
    ),
    (
        "SELECT count(*), sum(total) FROM (SELECT total, row_number() OVER (PARTITION BY product ORDER BY"
        " placed) AS rn FROM w.orders) q",
        "PARTITION BY customer_id",
    ),
    (
        "SELECT count(*), sum(total) FROM (SELECT o.total, row_number() OVER (PARTITION BY p.id ORDER BY"
        " placed) AS rn FROM w.orders o JOIN w.products p ON p.id = product) q",
        "PARTITION BY customer_id",
    ),
    (
        "SELECT count(*), sum(total) FROM (SELECT total, sum(total) OVER (PARTITION BY customer_id ORDER"
        " BY id ROWS 3 PRECEDING) AS s FROM w.orders) q WHERE s > 3",
        "UNBOUNDED PRECEDING",
    ),
    (
        "SELECT count(*), sum(total) FROM (SELECT total, ntile(4) OVER (PARTITION BY customer_id) AS t"
        " FROM w.orders) q",
        "width_bucket",
    ),
)
