-- case: a window over rows of several units
SELECT count(*) FROM (SELECT row_number() OVER (PARTITION BY t ORDER BY d) AS rn FROM orders) q WHERE rn = 1
-- => refused
-- UNSUPPORTED at 30: row_number()
-- a window over rows of a protected table must be partitioned by the privacy unit
-- Write OVER (PARTITION BY uid ...), also with further keys; or group first, and use the window over the answers.

-- case: a window over the key of a public table
SELECT count(*) FROM (SELECT row_number() OVER (PARTITION BY p.code) AS rn FROM orders o JOIN places p ON p.code = o.t) q
-- => refused
-- UNSUPPORTED at 30: row_number()
-- a window over rows of a protected table must be partitioned by the privacy unit
-- Write OVER (PARTITION BY uid ...), also with further keys; or group first, and use the window over the answers.

-- case: a window over rows that are units
SELECT count(*) FROM (SELECT row_number() OVER (PARTITION BY i4) AS rn FROM people) q
-- => refused
-- UNSUPPORTED at 30: row_number()
-- window functions are not available over rows that are privacy units by themselves
-- Each row is alone in its partition there: leave the window out, or use it over answers of a subquery with GROUP BY.

-- case: a frame that moves
SELECT count(*) FROM (SELECT sum(i4) OVER (PARTITION BY uid ROWS 3 PRECEDING) AS s FROM orders) q
-- => refused
-- UNSUPPORTED at 66: 3
-- this frame of a window is not available over rows of a protected table
-- Leave the frame out, or write ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW, or ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING.

-- case: the default of lag
SELECT count(*) FROM (SELECT lag(i4, 1, 0) OVER (PARTITION BY uid ORDER BY d) AS x FROM orders) q
-- => refused
-- UNSUPPORTED at 30: lag(i4,
-- lag() and lead() have no third argument there
-- Write coalesce(lag(column), 0) for another value than NULL.

-- case: lag by a column
SELECT count(*) FROM (SELECT lag(i4, i2) OVER (PARTITION BY uid ORDER BY d) AS x FROM orders) q
-- => refused
-- UNSUPPORTED at 38: i2)
-- only a constant can stand here
-- Write a literal or a parameter, not an expression on columns.

-- case: WINDOW below an aggregate
SELECT count(*) FROM (SELECT row_number() OVER w AS rn FROM orders WINDOW w AS (PARTITION BY uid)) q
-- => refused
-- UNSUPPORTED at 68: WINDOW
-- WINDOW is not available below an aggregate on a protected table
-- Use aggregates, e.g. SELECT count(*), avg(column) FROM table WHERE ... GROUP BY column.

-- case: bins of as many rows
SELECT x, count(*) FROM (SELECT ntile(4) OVER (ORDER BY i4) AS x FROM people) q GROUP BY x
-- => refused
-- UNSUPPORTED at 33: ntile(4)
-- window function ntile is not available over rows of a protected table
-- For bins of one width write width_bucket(column, 0, 100, 4); for those of as many rows ask for edges, percentile_disc(0.25) WITHIN GROUP (ORDER BY column).

-- case: DISTINCT of windows without the unit
SELECT count(*) FROM (SELECT DISTINCT t, row_number() OVER (PARTITION BY uid) AS rn FROM orders) q
-- => refused
-- UNSUPPORTED at 42: row_number()
-- this form of expression is not allowed in a query on a protected table
-- Use plain comparisons, arithmetic and CASE on the columns of the table.
