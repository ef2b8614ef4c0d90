-- case: a function in FROM
SELECT * FROM generate_series(1, (SELECT count(*) FROM w.orders))
-- => refused
-- UNSUPPORTED at 35: SELECT
-- a question cannot be an argument of a function in FROM
-- Run the subquery by itself and write its result as a constant.

-- case: a function with a schema in FROM
SELECT * FROM w.orders o, pg_catalog.generate_series(1, abs((SELECT count(*)::int FROM w.orders))) g
-- => refused
-- UNSUPPORTED at 53: (1,
-- a function in FROM beside a protected table is not available
-- Group the table in a subquery, and join its answers to the series: SELECT g.m, q.n FROM generate_series(timestamptz '2024-01-01', timestamptz '2024-12-01', interval '1 month') g(m) LEFT JOIN (SELECT date_trunc('month', column) AS m, count(*) AS n FROM table GROUP BY 1) q ON q.m = g.m.

-- case: ROWS FROM
SELECT * FROM ROWS FROM (generate_series(1, (SELECT count(*) FROM w.orders)))
-- => refused
-- UNSUPPORTED at 46: SELECT
-- a question cannot be an argument of a function in FROM
-- Run the subquery by itself and write its result as a constant.

-- case: an aggregate with a schema
SELECT pg_catalog.sum(i4) FROM w.orders
-- => refused
-- FUNCTION at 8: pg_catalog.sum(i4)
-- sum with a schema is not available on a protected table
-- Write sum(...) alone.

-- case: a huge whole number
SELECT count(*) FROM w.orders WHERE i4 = 99999999999999999999999999
-- => refused
-- UNSUPPORTED at 42: 999999999999999999999999
-- a whole number this large is not available in a question on a protected table
-- Write it with a decimal point, if it is meant as a numeric.

-- case: arithmetic beyond its type
SELECT count(*) FROM w.orders WHERE i4 * 100000000 > 0
-- => refused
-- UNSUPPORTED at 37: i4
-- the result of this arithmetic can be out of range for type integer
-- Cast one operand to numeric first: column::numeric * ...

-- case: bytes in an E string
SELECT count(*) FROM w.orders WHERE s = E'\xc3\xa9'
-- => refused
-- UNSUPPORTED at 41: E'\xc3\xa9'
-- a byte string is not allowed in a query on a protected table
-- Use plain comparisons, arithmetic and CASE on the columns of the table.

-- case: a string that goes on after an E string
SELECT count(*) FROM w.orders WHERE s = E'a'
'b'
-- => refused
-- FUNCTION at 41: E'a'
-- function concat is not allowed with these arguments on protected columns
-- Write concat(column, '-', column), of texts, whole numbers and dates.

-- case: a text parameter that is no date
-- parameters: text "2026-02-31"
SELECT count(*) FROM w.orders WHERE d >= $1::date
-- => refused
-- SYNTAX
-- a constant of type date cannot be read
-- Write numbers in digits, dates as '2026-01-31', times as '2026-01-31 12:00:00+00'.

-- case: a text parameter that is no integer
-- parameters: text "99999999999"
SELECT count(*) FROM w.orders WHERE i4 = $1::integer
-- => refused
-- SYNTAX
-- a constant of type integer cannot be read
-- Write numbers in digits, dates as '2026-01-31', times as '2026-01-31 12:00:00+00'.

-- case: a text column cast to a date
SELECT count(*) FROM w.orders WHERE s::date > '2026-01-01'
-- => refused
-- UNSUPPORTED at 37: s::date
-- a cast from text to date may fail on some rows: it is allowed in GROUP BY, of a text whose values are public
-- Compare the column as a text: column = '7'.
