-- case: trailing escape
SELECT count(*) FROM people WHERE s LIKE 'SECRET\'
-- => refused
-- UNSUPPORTED at 42: 'SECRET\'
-- a LIKE pattern cannot end with an escape character
-- Remove the last backslash, or double it.

-- case: trailing escape in a parameter
-- parameters: text "SECRET\\"
SELECT count(*) FROM people WHERE s LIKE $1
-- => refused
-- UNSUPPORTED at 35: s
-- a LIKE pattern cannot end with an escape character
-- Remove the last backslash, or double it.

-- case: trailing escape below extract
SELECT sum(extract(month FROM CASE WHEN s LIKE 'SECRET\' THEN d END)) FROM people
-- => refused
-- UNSUPPORTED at 48: 'SECRET\'
-- a LIKE pattern cannot end with an escape character
-- Remove the last backslash, or double it.

-- case: escape clause
SELECT count(*) FROM people WHERE s LIKE 'a' ESCAPE 'a'
-- => refused
-- UNSUPPORTED at 53: 'a'
-- ESCAPE is not allowed in a query on a protected table
-- Write column LIKE 'a%' or column ILIKE 'a%', in which % is any text and _ any character.

-- case: pattern from the data
SELECT count(*) FROM people WHERE s LIKE t
-- => refused
-- UNSUPPORTED at 42: t
-- only a constant can stand here
-- Write a literal or a parameter, not an expression on columns.

-- case: not in under a comparison
SELECT count(*) FROM people WHERE 1 NOT IN (1) < false
-- => refused
-- UNSUPPORTED at 35: 1
-- a condition cannot be an operand of another comparison
-- Combine conditions with AND, OR and NOT.

-- case: division by zero
SELECT count(*) FROM people WHERE i4 / 0 = 1
-- => refused
-- UNSUPPORTED at 40: 0
-- rows cannot be divided by 0, by NULL or by an answer
-- Divide by another constant, or the results of aggregates by each other, e.g. sum(a) / sum(b).

-- case: division by a column
SELECT sum(i4 / i2) FROM people
-- => refused
-- UNSUPPORTED at 12: i4
-- rows cannot be divided by what may be 0
-- Divide by a constant, e.g. sum(a / 10), by nullif(column, 0) of a whole number, or aggregates by each other, e.g. sum(a) / nullif(sum(b), 0).

-- case: division by a null parameter
-- parameters: integer NULL
SELECT sum(i4 / $1) FROM people
-- => refused
-- UNSUPPORTED at 12: i4
-- rows cannot be divided by 0, by NULL or by an answer
-- Divide by another constant, or the results of aggregates by each other, e.g. sum(a) / sum(b).

-- case: narrowing text cast
SELECT sum(s::int) FROM people
-- => refused
-- UNSUPPORTED at 12: s::int)
-- a cast from text to integer may fail on some rows: it is allowed in GROUP BY, of a text whose values are public
-- Compare the column as a text: column = '7'.

-- case: date arithmetic
SELECT count(*) FROM people WHERE d + i4 > '2010-01-01'
-- => refused
-- UNSUPPORTED at 35: d
-- arithmetic of these operands is not available on a protected table
-- To a column of a date or timestamp add a constant, column + interval '1 day'; from one take another, extract(epoch FROM ended - started), of dates ended - started.

-- case: subquery in an aggregate
SELECT sum((SELECT 1)) FROM people
-- => refused
-- UNSUPPORTED at 12: (SELECT
-- this subquery inside a condition on a protected table is not available
-- A subquery in a condition is one aggregate, (SELECT avg(column) FROM table), or after IN a column of a public table. Values of a table of your own are a list: column IN (1, 2), column = ANY ($1).

-- case: exists
SELECT count(*) FROM people WHERE EXISTS (SELECT 1)
-- => refused
-- UNSUPPORTED at 42: (SELECT
-- this subquery inside a condition on a protected table is not available
-- A subquery in a condition is one aggregate, (SELECT avg(column) FROM table), or after IN a column of a public table. Values of a table of your own are a list: column IN (1, 2), column = ANY ($1).

-- case: kinds that do not meet
SELECT count(*) FROM people WHERE i4 = 'x' OR s = 5
-- => refused
-- UNSUPPORTED at 51: 5
-- operands of different types cannot be compared in a query on a protected table: character varying, integer
-- Write constants in the type of the column they meet.

-- case: text that is no number
SELECT count(*) FROM people WHERE i4 = 'x'
-- => refused
-- SYNTAX at 40: 'x'
-- a constant of type integer cannot be read
-- Write numbers in digits, dates as '2026-01-31', times as '2026-01-31 12:00:00+00'.

-- case: number as a condition
SELECT count(*) FROM people WHERE i4
-- => refused
-- SYNTAX at 35: i4
-- a condition must be true or false
-- Compare the value with something.

-- case: group position
SELECT count(*) FROM people GROUP BY 3
-- => refused
-- SYNTAX at 38: 3
-- GROUP BY position 3 is not in select list
-- Use aggregates, e.g. SELECT count(*), avg(column) FROM table WHERE ... GROUP BY column.

-- case: huge numbers
SELECT sum(i8 * 1e200 * i8 * 1e200) FROM people
-- => refused
-- UNSUPPORTED at 8: sum(i8
-- the result of this arithmetic can become too large
-- Scale the expression down.

-- case: huge indices
SELECT avg(i8 + 1e15) FROM people
-- => refused
-- UNSUPPORTED at 8: avg(i8
-- the values of this expression are too large for its grid
-- Scale the expression down, or ask the data owner for a coarser grid.

-- case: parameter of an unknown type
-- parameters:  NULL
SELECT count(*) FROM people WHERE $1 IS NULL
-- => refused
-- UNSUPPORTED at 36: 1
-- a parameter of unknown type is not allowed in a query on a protected table
-- Use plain comparisons, arithmetic and CASE on the columns of the table.

-- case: nan parameter
-- parameters: double precision "NaN"
SELECT sum(f8 + $1) FROM people
-- => refused
-- UNSUPPORTED
-- NaN and infinity are compared with columns only in a query on a protected table
-- Write column < 'Infinity', column = 'NaN', or pass a finite number.

-- case: a constant outside its type
SELECT count(*) FROM people WHERE i4 < 99999::smallint
-- => refused
-- SYNTAX at 40: 99999::smallint
-- a number as a constant of type smallint cannot be read
-- Write the constant in the type of the column it meets.

-- case: a constant too small for its type
SELECT count(*) FROM people WHERE f4 IS NOT NULL AND (1e-310::real) IS NULL
-- => refused
-- SYNTAX at 55: 1e-310::real)
-- a number as a constant of type real cannot be read
-- Write the constant in the type of the column it meets.

-- case: values of a protected table
SELECT count(*) FROM people WHERE t IN (SELECT t FROM events)
-- => refused
-- UNSUPPORTED at 40: (SELECT
-- a subquery about each row must be of a table with the same privacy unit
-- Ask each table by itself, or look a value up in a public table: column IN (SELECT column FROM public_table).

-- case: values of a public table that depend on the row
SELECT count(*) FROM people p WHERE t IN (SELECT code FROM places WHERE zone = p.s)
-- => refused
-- UNSUPPORTED at 82: s)
-- a list from a public table cannot depend on the row around it, as by "s"
-- Join the public table on its key, and compare in WHERE: SELECT count(*) FROM t JOIN public_table p ON p.id = t.public_id WHERE p.column = t.column.

-- case: some values of a public table
SELECT count(*) FROM people WHERE t IN (SELECT code FROM places ORDER BY 1 LIMIT 1)
-- => refused
-- UNSUPPORTED at 40: (SELECT
-- this subquery inside a condition on a protected table is not available
-- A subquery in a condition is one aggregate, (SELECT avg(column) FROM table), or after IN a column of a public table. Values of a table of your own are a list: column IN (1, 2), column = ANY ($1).

-- case: an aggregate of a public table as a list
SELECT count(*) FROM people WHERE t IN (SELECT max(code) FROM places)
-- => refused
-- FUNCTION at 48: max(code)
-- function max is not allowed on protected columns
-- Allowed are comparisons, + - * / and ||, CASE, LIKE, abs, round, floor, ceil, trunc, sign, mod, sqrt, ln, log, exp, power, width_bucket, coalesce, nullif, greatest, least, extract, date_trunc, date_bin, to_timestamp, date, to_char, lower, upper, length, left, right, substr, strpos, starts_with, regexp_like, initcap, reverse, split_part, replace, lpad, concat, concat_ws, array_length and btrim.

-- case: values of a public table of another type
SELECT count(*) FROM people WHERE i4 IN (SELECT code FROM places)
-- => refused
-- UNSUPPORTED at 35: i4
-- operands of different types cannot be compared in a query on a protected table: integer, text
-- Write constants in the type of the column they meet.

-- case: a sleeping list
SELECT count(*) FROM people WHERE i4 IN (SELECT pg_sleep(5)::int FROM places)
-- => refused
-- FUNCTION at 49: pg_sleep(5)::int
-- function pg_sleep is not allowed on protected columns
-- Allowed are comparisons, + - * / and ||, CASE, LIKE, abs, round, floor, ceil, trunc, sign, mod, sqrt, ln, log, exp, power, width_bucket, coalesce, nullif, greatest, least, extract, date_trunc, date_bin, to_timestamp, date, to_char, lower, upper, length, left, right, substr, strpos, starts_with, regexp_like, initcap, reverse, split_part, replace, lpad, concat, concat_ws, array_length and btrim.

-- case: a list that sleeps in its condition
SELECT count(*) FROM people WHERE t IN (SELECT code FROM places WHERE pg_sleep(5) IS NULL)
-- => refused
-- FUNCTION at 71: pg_sleep(5)
-- function pg_sleep is not allowed on protected columns
-- Allowed are comparisons, + - * / and ||, CASE, LIKE, abs, round, floor, ceil, trunc, sign, mod, sqrt, ln, log, exp, power, width_bucket, coalesce, nullif, greatest, least, extract, date_trunc, date_bin, to_timestamp, date, to_char, lower, upper, length, left, right, substr, strpos, starts_with, regexp_like, initcap, reverse, split_part, replace, lpad, concat, concat_ws, array_length and btrim.

-- case: values of a public table and others
SELECT count(*) FROM people WHERE t IN (SELECT code FROM places UNION VALUES ('x'))
-- => refused
-- UNSUPPORTED at 40: (SELECT
-- this subquery inside a condition on a protected table is not available
-- A subquery in a condition is one aggregate, (SELECT avg(column) FROM table), or after IN a column of a public table. Values of a table of your own are a list: column IN (1, 2), column = ANY ($1).

-- case: values of what only has a public table's name
WITH places(code) AS (VALUES ('x')) SELECT count(*) FROM people WHERE t IN (SELECT code FROM places)
-- => refused
-- UNSUPPORTED at 76: (SELECT
-- this subquery inside a condition on a protected table is not available
-- A subquery in a condition is one aggregate, (SELECT avg(column) FROM table), or after IN a column of a public table. Values of a table of your own are a list: column IN (1, 2), column = ANY ($1).

-- case: values of a public table that depend on their order
SELECT count(*) FROM people WHERE t IN (SELECT DISTINCT ON (zone) code FROM places)
-- => refused
-- UNSUPPORTED at 40: (SELECT
-- this subquery inside a condition on a protected table is not available
-- A subquery in a condition is one aggregate, (SELECT avg(column) FROM table), or after IN a column of a public table. Values of a table of your own are a list: column IN (1, 2), column = ANY ($1).
