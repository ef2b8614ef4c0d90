-- case: join
SELECT count(*) FROM people p JOIN orders o ON p.i4 = o.i4
-- => refused
-- UNSUPPORTED at 31: JOIN
-- protected tables with different privacy units cannot be joined
-- Join a public table on its key; or ask the data owner for `join_keys` in the policy: i4 of w.people and i4 of w.orders; or join counts of each side: SELECT a.i4, a.n, b.n FROM (SELECT i4, count(*) AS n FROM w.people GROUP BY i4) a JOIN (SELECT i4, count(*) AS n FROM w.orders GROUP BY i4) b ON b.i4 = a.i4

-- case: comma join
SELECT count(*) FROM people, orders
-- => refused
-- UNSUPPORTED at 28: ,
-- protected tables with different privacy units cannot be joined
-- Join a public table on its key; or ask each side by itself: SELECT (SELECT count(*) FROM w.people), (SELECT count(*) FROM w.orders)

-- case: join with public data
SELECT count(*) FROM regions r JOIN people p ON p.t = r.t
-- => refused
-- UNSUPPORTED at 32: JOIN
-- a public table can be joined on a key that is unique in it, so that no row is multiplied
-- Join a table with a primary key, or ask IN (SELECT ...) of this one; or ask the data owner for `join_keys` in the policy: t: {keep: unique} of w.regions, by which only rows that are alone with their value are joined.

-- case: cross join of rows
SELECT count(*) FROM people, generate_series(1, i4)
-- => refused
-- UNSUPPORTED at 45: (1,
-- a function in FROM beside a protected table is not available
-- Group the table in a subquery, and join its answers to the series: SELECT g.m, q.n FROM generate_series(timestamptz '2024-01-01', timestamptz '2024-12-01', interval '1 month') g(m) LEFT JOIN (SELECT date_trunc('month', column) AS m, count(*) AS n FROM table GROUP BY 1) q ON q.m = g.m.

-- case: tablesample
SELECT count(*) FROM people TABLESAMPLE system (50)
-- => refused
-- UNSUPPORTED at 29: TABLESAMPLE
-- TABLESAMPLE is not available on a protected table
-- Use tables, subqueries in brackets, JOIN ... ON and LEFT JOIN ... ON.

-- case: join in brackets
SELECT count(*) FROM (people CROSS JOIN regions)
-- => refused
-- UNSUPPORTED at 30: CROSS
-- a public table can be joined on a key that is unique in it, so that no row is multiplied
-- Join a table with a primary key, or ask IN (SELECT ...) of this one.

-- case: too many grouping sets
SELECT count(*) FROM people GROUP BY CUBE (t, b, c, s, i2, i4, d)
-- => refused
-- TOO_COMPLEX
-- a statement on protected tables may not be grouped by more than 64 grouping sets
-- Use a shorter statement, or several.

-- case: grouping sets multiplied out
SELECT count(*) FROM people GROUP BY ROLLUP (t, b, c), ROLLUP (s, i2, i4), CUBE (d, e, n2)
-- => refused
-- TOO_COMPLEX
-- a statement on protected tables may not be grouped by more than 64 grouping sets
-- Use a shorter statement, or several.

-- case: too many releases of all levels
SELECT count(*), sum(i4), min(i4) FROM people GROUP BY CUBE (t, b, c, e, (i2 > 1))
-- => refused
-- TOO_COMPLEX
-- more than 64 different aggregates in one statement
-- Ask several questions.

-- case: rollup of the unit
SELECT uid, count(*) FROM orders GROUP BY ROLLUP (uid)
-- => refused
-- RAW_ROWS at 43: ROLLUP
-- the privacy unit cannot be a GROUP BY key of the result, but of a subquery: SELECT avg(n) FROM (SELECT uid, count(*) AS n FROM w.orders GROUP BY uid) q
-- GROUP BY it in a subquery and aggregate that: SELECT avg(n) FROM (SELECT uid, count(*) AS n FROM w.orders GROUP BY uid) q.

-- case: rollup by the unit in a subquery
SELECT avg(n) FROM (SELECT uid, count(*) AS n FROM orders GROUP BY ROLLUP (uid)) q
-- => refused
-- UNSUPPORTED at 68: ROLLUP
-- a subquery that groups by the privacy unit has no ROLLUP, CUBE or GROUPING SETS
-- GROUP BY the unit alone there: SELECT avg(n) FROM (SELECT unit, count(*) AS n FROM table GROUP BY unit) q.

-- case: a key of one level read in another's place
SELECT i4, count(*) FROM people GROUP BY GROUPING SETS ((t), (i4 / 10))
-- => refused
-- RAW_ROWS at 8: i4,
-- "i4" of a protected table can only be read inside an aggregate or as a GROUP BY key
-- Use aggregates, e.g. SELECT count(*), avg(column) FROM table WHERE ... GROUP BY column.

-- case: one key in two levels in different words
SELECT b IS NULL, (b IS NULL) = true, count(*) FROM people GROUP BY ROLLUP (b IS NULL, (b IS NULL) = true)
-- => refused
-- UNSUPPORTED at 88: (b
-- a key is written in two ways, of which some grouping sets have only one
-- Write the key once, and with the same words wherever it stands among the keys.

-- case: one key twice in SELECT in two levels
SELECT t AS first, t AS second, count(*) FROM people GROUP BY ROLLUP (1, 2)
-- => refused
-- UNSUPPORTED at 20: t
-- a key is written in two ways, of which some grouping sets have only one
-- Write the key once, and with the same words wherever it stands among the keys.

-- case: a row of a row
SELECT count(*) FROM people GROUP BY ROW(t, b)
-- => refused
-- FUNCTION at 38: ROW(t,
-- function ROW is not allowed on protected columns
-- Allowed are comparisons, + - * / and ||, CASE, LIKE, abs, round, floor, ceil, trunc, sign, mod, sqrt, ln, log, exp, power, width_bucket, coalesce, nullif, greatest, least, extract, date_trunc, date_bin, to_timestamp, date, to_char, lower, upper, length, left, right, substr, strpos, starts_with, regexp_like, initcap, reverse, split_part, replace, lpad, concat, concat_ws, array_length and btrim.

-- case: too deep
SELECT count(*) FROM people WHERE ((((((((((((((((((((((((((((((((((((((((b))))))))))))))))))))))))))))))))))))))))
-- => refused
-- TOO_COMPLEX
-- a statement on protected tables may not be nested deeper than 32 brackets
-- Use a shorter statement, or several.

-- case: too many negations
SELECT count(*) FROM people WHERE NOT NOT NOT NOT NOT NOT NOT NOT NOT NOT NOT NOT NOT NOT NOT NOT NOT NOT NOT NOT b
-- => refused
-- TOO_COMPLEX
-- a statement on protected tables may not be a chain of more than 16 NOT or sign operators
-- Use a shorter statement, or several.

-- case: doubling
SELECT count(*) FROM people WHERE CASE WHEN CASE WHEN CASE WHEN CASE WHEN CASE WHEN CASE WHEN CASE WHEN CASE WHEN CASE WHEN CASE WHEN CASE WHEN CASE WHEN i4 BETWEEN 0 AND 1 THEN 1 ELSE 0 END BETWEEN 0 AND 1 THEN 1 ELSE 0 END BETWEEN 0 AND 1 THEN 1 ELSE 0 END BETWEEN 0 AND 1 THEN 1 ELSE 0 END BETWEEN 0 AND 1 THEN 1 ELSE 0 END BETWEEN 0 AND 1 THEN 1 ELSE 0 END BETWEEN 0 AND 1 THEN 1 ELSE 0 END BETWEEN 0 AND 1 THEN 1 ELSE 0 END BETWEEN 0 AND 1 THEN 1 ELSE 0 END BETWEEN 0 AND 1 THEN 1 ELSE 0 END BETWEEN 0 AND 1 THEN 1 ELSE 0 END BETWEEN 0 AND 1 THEN 1 ELSE 0 END = 1
-- => refused
-- TOO_COMPLEX at 35: CASE
-- a statement on protected tables may not be of a BETWEEN or CASE on an expression of more than 128 parts
-- Use a shorter statement, or several.

-- case: too many aggregates
SELECT sum(i4 + 0), sum(i4 + 1), sum(i4 + 2), sum(i4 + 3), sum(i4 + 4), sum(i4 + 5), sum(i4 + 6), sum(i4 + 7), sum(i4 + 8), sum(i4 + 9), sum(i4 + 10), sum(i4 + 11), sum(i4 + 12), sum(i4 + 13), sum(i4 + 14), sum(i4 + 15), sum(i4 + 16), sum(i4 + 17), sum(i4 + 18), sum(i4 + 19), sum(i4 + 20), sum(i4 + 21), sum(i4 + 22), sum(i4 + 23), sum(i4 + 24), sum(i4 + 25), sum(i4 + 26), sum(i4 + 27), sum(i4 + 28), sum(i4 + 29), sum(i4 + 30), sum(i4 + 31), sum(i4 + 32), sum(i4 + 33), sum(i4 + 34), sum(i4 + 35), sum(i4 + 36), sum(i4 + 37), sum(i4 + 38), sum(i4 + 39), sum(i4 + 40), sum(i4 + 41), sum(i4 + 42), sum(i4 + 43), sum(i4 + 44), sum(i4 + 45), sum(i4 + 46), sum(i4 + 47), sum(i4 + 48), sum(i4 + 49), sum(i4 + 50), sum(i4 + 51), sum(i4 + 52), sum(i4 + 53), sum(i4 + 54), sum(i4 + 55), sum(i4 + 56), sum(i4 + 57), sum(i4 + 58), sum(i4 + 59), sum(i4 + 60), sum(i4 + 61), sum(i4 + 62), sum(i4 + 63), sum(i4 + 64) FROM people
-- => refused
-- TOO_COMPLEX at 1: SELECT
-- more than 64 different aggregates in one statement
-- Ask several questions.

-- case: over budget
-- left: 1.5
SELECT count(*) FROM people
-- => refused
-- OVER_BUDGET
-- the privacy budget of "alice" does not cover this statement: it costs epsilon 8, delta 0, but only epsilon 1.5, delta 0.5 remains
-- The budget renews at 2026-12-01 00:00 UTC. A smaller dp.epsilon costs less.

-- case: infeasible epsilon
-- policy: tight
SELECT avg(i4) FROM people
-- => refused
-- INFEASIBLE at 8: avg(i4)
-- avg(i4) cannot be answered at epsilon 0.001, its share: the noise would cover the whole range; it needs 0.0059
-- SET dp.epsilon = 0.0059 (over HTTP "epsilon": 0.0059); with `mechanism: best`, which the data owner can set, it is answered at any epsilon.

-- case: no delta
-- policy: pure
SELECT max(i4) FROM people
-- => refused
-- INFEASIBLE at 8: max(i4)
-- max needs a delta above 0 and below 0.7
-- The policy allows no delta: use count and sum.

-- case: unknown setting
-- set: dp.magic=1
SELECT count(*) FROM people
-- => refused
-- SETTING
-- setting dp.magic is not known
-- The settings are dp.epsilon, dp.delta, dp.notice, dp.round, dp.fresh, dp.accept_error, dp.published, dp.prepared, dp.trial, dp.mechanism, dp.previews.

-- case: epsilon above the policy
-- set: dp.epsilon=100
SELECT count(*) FROM people
-- => refused
-- SETTING
-- setting dp.epsilon is above the policy's limit of 20
-- SET dp.epsilon = 20 (over HTTP "epsilon": 20), which is the most.

-- case: epsilon that is no number
-- set: dp.epsilon=inf
SELECT count(*) FROM people
-- => refused
-- SETTING
-- setting dp.epsilon must be a number
-- SET dp.epsilon = 8 (over HTTP "epsilon": 8)

-- case: negative delta
-- set: dp.delta=-1
SELECT count(*) FROM people
-- => refused
-- SETTING
-- setting dp.delta must not be negative
-- SET dp.delta = 0.001 (over HTTP "delta": 0.001)

-- case: protected join not on the unit
SELECT count(*) FROM orders o JOIN calls c ON o.i4 = c.i4
-- => refused
-- UNSUPPORTED at 31: JOIN
-- a join of protected tables must be on the privacy unit they share
-- Join on the privacy unit (uid of w.orders = uid of w.calls), or a public table on its key; or ask the data owner for `join_keys` in the policy: i4 of w.orders and i4 of w.calls.

-- case: a foreign key the other way round
SELECT count(*) FROM calls c JOIN orders o ON c.i8 = o.i4
-- => refused
-- UNSUPPORTED at 30: JOIN
-- a join of protected tables must be on the privacy unit they share
-- Join on the privacy unit (uid of w.calls = uid of w.orders), or a public table on its key; or ask the data owner for `join_keys` in the policy: i8 of w.calls and i4 of w.orders.

-- case: a foreign key to a row that is not alone
SELECT count(*) FROM calls c JOIN (SELECT o.id FROM orders o JOIN visits v ON o.uid = v.uid) q ON c.i2 = q.id
-- => refused
-- UNSUPPORTED at 30: JOIN
-- a join of protected tables must be on the privacy unit they share
-- Join on the privacy unit (uid of w.calls = uid of w.orders), or a public table on its key; or ask the data owner for `join_keys` in the policy: i2 of w.calls and id of w.orders.

-- case: a foreign key compared with a float
SELECT count(*) FROM calls c JOIN orders o ON c.i2 = o.f8
-- => refused
-- UNSUPPORTED at 30: JOIN
-- a join of protected tables must be on the privacy unit they share
-- Join on the privacy unit (uid of w.calls = uid of w.orders), or a public table on its key.

-- case: left join from public rows
SELECT count(*) FROM places z LEFT JOIN people p ON p.t = z.code
-- => refused
-- UNSUPPORTED at 31: LEFT
-- count(*) here counts rows of a public table without partner
-- Count or sum columns of the protected table, e.g. count(o.column), and group by those of the public one; or write JOIN, or LEFT JOIN with the public table on the right.

-- case: rows of a public table are counted
SELECT z.zone, count(*) FROM places z LEFT JOIN people p ON p.t = z.code GROUP BY z.zone
-- => refused
-- UNSUPPORTED at 39: LEFT
-- count(*) here counts rows of a public table without partner
-- Count or sum columns of the protected table, e.g. count(o.column), and group by those of the public one; or write JOIN, or LEFT JOIN with the public table on the right.

-- case: a sum of what public rows have without partner
SELECT sum(coalesce(p.i4, 1)) FROM places z LEFT JOIN people p ON p.t = z.code
-- => refused
-- UNSUPPORTED at 45: LEFT
-- sum here counts rows of a public table without partner
-- Count or sum columns of the protected table, e.g. count(o.column), and group by those of the public one; or write JOIN, or LEFT JOIN with the public table on the right.

-- case: a key that is NULL in public rows without partner
SELECT p.b, count(p.i4) FROM places z LEFT JOIN people p ON p.t = z.code GROUP BY p.b
-- => refused
-- UNSUPPORTED at 39: LEFT
-- a key here is NULL in rows of a public table without partner
-- Count or sum columns of the protected table, e.g. count(o.column), and group by those of the public one; or write JOIN, or LEFT JOIN with the public table on the right.

-- case: public rows without partner that a condition wants
SELECT count(*) FROM places z LEFT JOIN people p ON p.t = z.code WHERE p.b IS NULL
-- => refused
-- UNSUPPORTED at 31: LEFT
-- count(*) here counts rows of a public table without partner
-- Count or sum columns of the protected table, e.g. count(o.column), and group by those of the public one; or write JOIN, or LEFT JOIN with the public table on the right.

-- case: an outer join that says more of the public table
SELECT z.zone, count(p.i4) FROM places z LEFT JOIN people p ON p.t = z.code AND z.zone = 'north' GROUP BY z.zone
-- => refused
-- UNSUPPORTED at 42: LEFT
-- ON of an outer join that keeps rows of a public table may say no more of that table
-- Put that condition into WHERE, or into a subquery of the public table.

-- case: public rows without partner in a union
SELECT count(x) FROM (SELECT p.i4 AS x FROM places z LEFT JOIN people p ON p.t = z.code UNION ALL SELECT i4 FROM people) q
-- => refused
-- UNSUPPORTED at 54: LEFT
-- rows of a public table without partner cannot stand here
-- Count or sum columns of the protected table, e.g. count(o.column), and group by those of the public one; or write JOIN, or LEFT JOIN with the public table on the right.

-- case: full join with using
SELECT count(x) FROM (SELECT t AS code, i4 AS x FROM people) p FULL JOIN places z USING (code)
-- => refused
-- UNSUPPORTED at 64: FULL
-- FULL JOIN with USING is not available
-- Write it with ON a.key = b.key.

-- case: full join
SELECT count(*) FROM calls c FULL JOIN orders o ON o.uid = c.uid
-- => refused
-- UNSUPPORTED at 30: FULL
-- FULL JOIN is not available between protected tables
-- Use LEFT JOIN on the privacy unit, or aggregate their rows together: FROM (SELECT ... FROM a UNION ALL SELECT ... FROM b) q.

-- case: join of rows as units
SELECT count(*) FROM people p JOIN people q ON p.i4 = q.i4
-- => refused
-- UNSUPPORTED at 31: JOIN
-- each row of the table is a privacy unit by itself, so its rows are not joined
-- Join a public table on its key; or join counts of each side: SELECT a.i4, a.n, b.n FROM (SELECT i4, count(*) AS n FROM w.people GROUP BY i4) a JOIN (SELECT i4, count(*) AS n FROM w.people GROUP BY i4) b ON b.i4 = a.i4

-- case: join on the reference alone
SELECT count(*) FROM lines a JOIN lines b ON a.order_id = b.order_id
-- => refused
-- UNSUPPORTED at 30: JOIN
-- a join of protected tables must be on the privacy unit they share
-- Join on the privacy unit (person), or a public table on its key.

-- case: join of a reference with a unit
SELECT count(*) FROM lines l JOIN calls c ON l.order_id = c.uid
-- => refused
-- UNSUPPORTED at 30: JOIN
-- a join of protected tables must be on the privacy unit they share
-- Join on the privacy unit (person), or a public table on its key.

-- case: join on a float that rounds many keys
SELECT count(*) FROM people p JOIN rates r ON p.f8 = r.k
-- => refused
-- UNSUPPORTED at 31: JOIN
-- a public table can be joined on a key that is unique in it, so that no row is multiplied
-- Join a public table on its key, equal to a column: k of w.rates.

-- case: different units in a union
SELECT count(*) FROM (SELECT i4 FROM orders UNION ALL SELECT i4 FROM notes) q
-- => refused
-- UNSUPPORTED at 23: SELECT
-- UNION ALL of rows with different privacy units is not available
-- Combine rows of the same privacy unit only, or query each table by itself.

-- case: units of different types in a union
SELECT count(*) FROM (SELECT i4 FROM orders UNION ALL SELECT i4 FROM visits) q
-- => refused
-- UNSUPPORTED at 23: SELECT
-- UNION ALL of rows with privacy units of integer and bigint is not available
-- Ask each table by itself, and add the answers up.

-- case: columns of different types in a union
SELECT count(*) FROM (SELECT i4 AS x FROM orders UNION ALL SELECT i8 FROM calls) q
-- => refused
-- UNSUPPORTED at 23: SELECT
-- the columns of UNION ALL must have the same types
-- Cast them to one type: SELECT i4::bigint AS x FROM w.orders UNION ALL SELECT i8 FROM w.calls.

-- case: columns of different types in a union, one of them computed
SELECT sum(x) FROM (SELECT i4 + 1 AS x, uid FROM orders UNION ALL SELECT i2, uid FROM calls UNION ALL SELECT n2 AS y, uid FROM calls) q
-- => refused
-- UNSUPPORTED at 21: SELECT
-- the columns of UNION ALL must have the same types
-- Cast them to one type: SELECT (...)::numeric AS x FROM w.orders UNION ALL SELECT i2::numeric FROM w.calls.

-- case: units of different types as columns of a union
SELECT count(*) FROM (SELECT uid, i4 FROM orders UNION ALL SELECT uid, i4 FROM visits) q
-- => refused
-- UNSUPPORTED at 23: SELECT
-- the columns of UNION ALL must have the same types
-- Ask each table by itself, and add the answers up.

-- case: union of rows without repeats
SELECT count(*) FROM (SELECT i4 FROM orders UNION SELECT i4 FROM calls) q
-- => refused
-- UNSUPPORTED at 23: SELECT
-- only UNION ALL can combine rows of protected tables
-- Count people instead of rows: count(DISTINCT c.id) FROM customers c WHERE EXISTS (SELECT 1 FROM orders o WHERE o.customer_id = c.id AND ...) for each part; NOT EXISTS in place of EXCEPT.

-- case: limit below an aggregate
SELECT sum(i4) FROM (SELECT i4 FROM people LIMIT 5) q
-- => refused
-- UNSUPPORTED at 44: LIMIT
-- LIMIT is not available below an aggregate on a protected table
-- Leave it out: which rows it would keep is left open.

-- case: limit of rows in an order
SELECT sum(i4) FROM (SELECT i4 FROM people ORDER BY d LIMIT 5) q
-- => refused
-- UNSUPPORTED at 55: LIMIT
-- LIMIT is not available below an aggregate on a protected table
-- Use aggregates, e.g. SELECT count(*), avg(column) FROM table WHERE ... GROUP BY column.

-- case: rows in the order of an answer
SELECT sum(i4) FROM (SELECT i4 FROM people ORDER BY (SELECT count(*) FROM people)) q
-- => refused
-- UNSUPPORTED at 44: ORDER
-- ORDER BY is not available below an aggregate on a protected table
-- Use aggregates, e.g. SELECT count(*), avg(column) FROM table WHERE ... GROUP BY column.

-- case: arithmetic with a float as private key
SELECT f8 * 2, count(*) FROM people GROUP BY f8 * 2
-- => refused
-- NO_VALUES at 46: f8
-- this expression has no public values, and its equal values can print differently
-- Round it, round((...)::numeric, 2), or group by a column with `values` in the policy.

-- case: lateral
SELECT count(*) FROM orders o, LATERAL (SELECT i4 FROM calls c WHERE c.uid = o.uid) q
-- => refused
-- UNSUPPORTED at 32: LATERAL
-- LATERAL is not available on a protected table
-- JOIN what is asked of each unit, ON l.uid = the unit of the other table: of aggregates (SELECT uid, count(*) AS n FROM w.calls GROUP BY uid) l, of one row (SELECT * FROM (SELECT *, row_number() OVER (PARTITION BY uid ORDER BY d DESC) AS rn FROM w.calls) q WHERE rn = 1) l.

-- case: private keys without delta
-- policy: pure
SELECT s, count(*) FROM people GROUP BY s
-- => refused
-- INFEASIBLE at 41: s
-- GROUP BY on keys that are not public needs a delta above 0
-- The policy allows no delta: group by a column with public values.

-- case: column list with one name twice
SELECT count(*) FROM people AS p(a, a)
-- => refused
-- UNSUPPORTED at 22: people
-- a column list gives two columns one name
-- Give each column a name of its own.

-- case: column list of too many names
SELECT sum(b) FROM (SELECT i4, i4 FROM orders) q(a, b, c)
-- => refused
-- UNSUPPORTED at 21: SELECT
-- a column list has more names than its subquery has columns
-- Leave out what is too many: it has 2.

-- case: grouped by the unit of the far side of a left join
SELECT avg(n) FROM (SELECT o.uid, count(*) AS n FROM members m LEFT JOIN orders o ON m.uid = o.uid GROUP BY o.uid) x
-- => refused
-- RAW_ROWS at 109: o.uid)
-- the privacy unit cannot be a GROUP BY key of the result
-- GROUP BY it in a subquery and aggregate that: SELECT avg(n) FROM (SELECT unit, count(*) AS n FROM table GROUP BY unit) q; after a LEFT JOIN it is the left table's.

-- case: join key of one side only
-- policy: joins
SELECT count(*) FROM people a JOIN notes b ON a.i4 = b.i4
-- => refused
-- UNSUPPORTED at 31: JOIN
-- protected tables with different privacy units cannot be joined
-- Join a public table on its key; or ask the data owner for `join_keys` in the policy: i4 of w.notes; or join counts of each side: SELECT a.i4, a.n, b.n FROM (SELECT i4, count(*) AS n FROM w.people GROUP BY i4) a JOIN (SELECT i4, count(*) AS n FROM w.notes GROUP BY i4) b ON b.i4 = a.i4

-- case: a table with itself by truncation
-- policy: joins
SELECT count(*) FROM people a JOIN people b ON a.t = b.t
-- => refused
-- UNSUPPORTED at 31: JOIN
-- each row of the table is a privacy unit by itself, so its rows are not joined
-- Join a public table on its key; or join counts of each side: SELECT a.t, a.n, b.n FROM (SELECT t, count(*) AS n FROM w.people GROUP BY t) a JOIN (SELECT t, count(*) AS n FROM w.people GROUP BY t) b ON b.t = a.t

-- case: a union by truncation
-- policy: joins
SELECT count(*) FROM (SELECT t FROM people UNION ALL SELECT t FROM people) a JOIN trips b ON a.t = b.t
-- => refused
-- UNSUPPORTED at 78: JOIN
-- protected tables with different privacy units cannot be joined
-- Join a public table on its key; or ask each side by itself: SELECT (SELECT count(*) FROM w.people), (SELECT count(*) FROM w.trips)

-- case: joined units by truncation
-- policy: joins
SELECT count(*) FROM visits v JOIN members m ON v.uid = m.uid JOIN people p ON p.t = v.t
-- => refused
-- UNSUPPORTED at 63: JOIN
-- the rows of this relation are joined, grouped or united already, so they cannot be truncated for a join
-- Join protected tables side by side, as they are or as subqueries that filter and rename rows.

-- case: a computed key by truncation
-- policy: joins
SELECT count(*) FROM (SELECT lower(t) AS t FROM people) a JOIN trips b ON a.t = b.t
-- => refused
-- UNSUPPORTED at 59: JOIN
-- protected tables with different privacy units cannot be joined
-- Join a public table on its key; or ask each side by itself: SELECT (SELECT count(*) FROM w.people), (SELECT count(*) FROM w.trips)

-- case: a float of the other side by truncation
-- policy: joins
SELECT count(*) FROM people a JOIN trips b ON a.i4 = b.f8
-- => refused
-- UNSUPPORTED at 31: JOIN
-- protected tables with different privacy units cannot be joined
-- Join a public table on its key; or join counts of each side: SELECT a.i4, a.n, b.n FROM (SELECT i4, count(*) AS n FROM w.people GROUP BY i4) a JOIN (SELECT f8, count(*) AS n FROM w.trips GROUP BY f8) b ON b.f8 = a.i4

-- case: a unit found through a reference by truncation
-- policy: joins
SELECT count(*) FROM lines l JOIN people b ON l.t = b.t
-- => refused
-- UNSUPPORTED at 30: JOIN
-- protected tables with different privacy units cannot be joined
-- Join a public table on its key; or ask each side by itself: SELECT (SELECT count(*) FROM w.lines), (SELECT count(*) FROM w.people)

-- case: public table with repeated rows, then truncation
-- policy: joins
SELECT count(*) FROM (SELECT CASE WHEN b THEN 'south' ELSE 'north' END AS z, t FROM people) a JOIN places q ON a.z = q.zone JOIN trips b ON a.t = b.t
-- => refused
-- UNSUPPORTED at 125: JOIN
-- the rows of this relation are joined, grouped or united already, so they cannot be truncated for a join
-- Join protected tables side by side, as they are or as subqueries that filter and rename rows.

-- case: grouping by the unit of a cut join
-- policy: joins
SELECT avg(n) FROM (SELECT v.uid, count(*) AS n FROM visits v JOIN notes k ON v.t = k.t GROUP BY v.uid) q
-- => refused
-- UNSUPPORTED at 98: v.uid)
-- GROUP BY here can only be on the privacy unit of a table
-- Rows that are units by themselves need no GROUP BY: aggregate them directly.

-- case: two protected sides by the key of a public table between them
-- policy: joins
SELECT count(*) FROM people a JOIN places p ON a.t = p.code JOIN trips b ON p.code = b.t
-- => refused
-- UNSUPPORTED at 61: JOIN
-- the rows of this relation are joined, grouped or united already, so they cannot be truncated for a join
-- Join protected tables side by side, as they are or as subqueries that filter and rename rows.

-- case: a public table within a side, on the other hand
-- policy: joins
SELECT count(*) FROM trips b JOIN (people a JOIN places p ON a.t = p.code) ON b.t = p.code
-- => refused
-- UNSUPPORTED at 30: JOIN
-- the rows of this relation are joined, grouped or united already, so they cannot be truncated for a join
-- Join protected tables side by side, as they are or as subqueries that filter and rename rows.

-- case: a column of a public table that several rows share, by which the policy could cut it
SELECT count(*) FROM people p JOIN places z ON p.t = z.zone
-- => refused
-- UNSUPPORTED at 31: JOIN
-- a public table can be joined on a key that is unique in it, so that no row is multiplied
-- Join a public table on its key, equal to a column: code of w.places; or ask the data owner for `join_keys` in the policy: zone: {keep: N} of w.places, N being the rows of one value at most.
