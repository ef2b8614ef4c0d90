-- case: unknown function
SELECT sum(cosd(i4)) FROM people
-- => refused
-- FUNCTION at 12: cosd(i4))
-- function cosd is not allowed on protected columns
-- Allowed are comparisons, + - * / and ||, CASE, LIKE, abs, round, floor, ceil, trunc, sign, mod, sqrt, ln, log, exp, power, width_bucket, coalesce, nullif, greatest, least, extract, date_trunc, date_bin, to_timestamp, date, to_char, lower, upper, length, left, right, substr, strpos, starts_with, regexp_like, initcap, reverse, split_part, replace, lpad, concat, concat_ws, array_length and btrim.

-- case: own function
SELECT count(*) FROM people WHERE evil(s)
-- => refused
-- FUNCTION at 35: evil(s)
-- function evil is not allowed on protected columns
-- Allowed are comparisons, + - * / and ||, CASE, LIKE, abs, round, floor, ceil, trunc, sign, mod, sqrt, ln, log, exp, power, width_bucket, coalesce, nullif, greatest, least, extract, date_trunc, date_bin, to_timestamp, date, to_char, lower, upper, length, left, right, substr, strpos, starts_with, regexp_like, initcap, reverse, split_part, replace, lpad, concat, concat_ws, array_length and btrim.

-- case: array_agg
SELECT array_agg(i4) FROM people
-- => refused
-- FUNCTION at 8: array_agg(i4)
-- aggregate array_agg is not available on a protected table, as count(*), sum(column) and avg(column) are
-- Write count(*), with GROUP BY column, which has a row for each value instead of a list.

-- case: mode
SELECT mode() WITHIN GROUP (ORDER BY i4) FROM people
-- => refused
-- FUNCTION at 8: mode()
-- aggregate mode is not available on a protected table, as count(*), sum(column) and avg(column) are
-- Ask for its most frequent value as SELECT x FROM table GROUP BY x ORDER BY count(*) DESC LIMIT 1, where x is the column.

-- case: string_agg
SELECT string_agg(s, ',') FROM people
-- => refused
-- FUNCTION at 8: string_agg(s,
-- aggregate string_agg is not available on a protected table, as count(*), sum(column) and avg(column) are
-- Write count(*), with GROUP BY column, which has a row for each value instead of a list.

-- case: a fraction of more digits than any percentile has
SELECT percentile_cont(1e-16) WITHIN GROUP (ORDER BY i4) FROM people
-- => refused
-- TOO_COMPLEX at 8: percentile_cont(1e-16)
-- the fraction of a percentile has more than 15 digits
-- Round it, e.g. 0.95.

-- case: aggregate of text
SELECT max(s) FROM people
-- => refused
-- UNSUPPORTED at 8: max(s)
-- max of character varying is not available on a protected table
-- Write count(*), with GROUP BY column, which has a row for each value.

-- case: sum of a date
SELECT sum(d) FROM people
-- => refused
-- UNSUPPORTED at 8: sum(d)
-- sum of date is not available on a protected table
-- It takes a number.

-- case: sum distinct
SELECT sum(DISTINCT i4) FROM people
-- => refused
-- UNSUPPORTED at 8: sum(DISTINCT
-- this form of sum is not available on a protected table
-- Use the plain aggregate of one expression, with FILTER (WHERE ...) if need be.

-- case: ordered aggregate
SELECT sum(i4 ORDER BY s) FROM people
-- => refused
-- UNSUPPORTED at 8: sum(i4
-- this form of sum is not available on a protected table
-- Use the plain aggregate of one expression, with FILTER (WHERE ...) if need be.

-- case: nested aggregate
SELECT sum(count(*)) FROM people
-- => refused
-- FUNCTION at 12: count(*))
-- function count is not allowed on protected columns
-- Allowed are comparisons, + - * / and ||, CASE, LIKE, abs, round, floor, ceil, trunc, sign, mod, sqrt, ln, log, exp, power, width_bucket, coalesce, nullif, greatest, least, extract, date_trunc, date_bin, to_timestamp, date, to_char, lower, upper, length, left, right, substr, strpos, starts_with, regexp_like, initcap, reverse, split_part, replace, lpad, concat, concat_ws, array_length and btrim.

-- case: interval of no aggregate
SELECT dp.low(5), count(*) FROM people
-- => refused
-- UNSUPPORTED at 8: dp.low(5),
-- dp.low() takes one aggregate over a protected table
-- Write dp.low(count(*)) or the like.

-- case: pg_sleep
SELECT count(*) FROM people WHERE pg_sleep(1) IS NULL
-- => refused
-- FUNCTION at 35: pg_sleep(1)
-- function pg_sleep is not allowed on protected columns
-- Allowed are comparisons, + - * / and ||, CASE, LIKE, abs, round, floor, ceil, trunc, sign, mod, sqrt, ln, log, exp, power, width_bucket, coalesce, nullif, greatest, least, extract, date_trunc, date_bin, to_timestamp, date, to_char, lower, upper, length, left, right, substr, strpos, starts_with, regexp_like, initcap, reverse, split_part, replace, lpad, concat, concat_ws, array_length and btrim.

-- case: query inside a string
SELECT count(query_to_xml('select 1', true, true, '')) FROM people
-- => refused
-- FUNCTION at 14: query_to_xml('select
-- function query_to_xml is not allowed on protected columns
-- Allowed are comparisons, + - * / and ||, CASE, LIKE, abs, round, floor, ceil, trunc, sign, mod, sqrt, ln, log, exp, power, width_bucket, coalesce, nullif, greatest, least, extract, date_trunc, date_bin, to_timestamp, date, to_char, lower, upper, length, left, right, substr, strpos, starts_with, regexp_like, initcap, reverse, split_part, replace, lpad, concat, concat_ws, array_length and btrim.

-- case: pattern of a regular expression
SELECT count(*) FROM people WHERE substring(s from 'a(') = 'a'
-- => refused
-- FUNCTION at 52: 'a(')
-- function substr is not allowed with these arguments on protected columns
-- Write substr(column, 2) or substr(column, 2, 3), of a text and constant whole numbers.

-- case: operator of a regular expression
SELECT count(*) FROM people WHERE s ~ '(a)\1'
-- => refused
-- UNSUPPORTED at 39: '(a)\1'
-- this regular expression is not available on a protected table
-- Use letters, ., .*, ( ), |, ?, ^ and $ at the outside, and a backslash before other marks: column ~ '^(a|b).*c$'; or LIKE: column LIKE 'a%' OR column LIKE 'b%'.

-- case: max of an expression of dates
SELECT max(greatest(d, ts)) FROM people
-- => refused
-- UNSUPPORTED at 8: max(greatest(d,
-- max of an expression of timestamp without time zone is not available
-- Name it in a subquery: SELECT max(t) FROM (SELECT created::date AS t FROM table) q.

-- case: extremes of an enumeration
SELECT max(e) FROM people
-- => refused
-- UNSUPPORTED at 8: max(e)
-- max of text is not available on a protected table
-- Write count(*), with GROUP BY column, which has a row for each value.

-- case: average of an enumeration
SELECT avg(e) FROM people
-- => refused
-- UNSUPPORTED at 8: avg(e)
-- avg of text is not available on a protected table
-- It takes a number.

-- case: an enumeration beside a number
SELECT count(*) FROM people WHERE e = 3
-- => refused
-- UNSUPPORTED at 39: 3
-- operands of different types cannot be compared in a query on a protected table: integer, text
-- Write constants in the type of the column they meet.

-- case: a cast to an enumeration
SELECT count(*) FROM people WHERE 'low'::mood = e
-- => refused
-- UNSUPPORTED at 35: 'low'::mood
-- a cast to this type is not allowed on protected columns
-- Cast to integer, bigint, numeric, numeric(10, 2), double precision, text, varchar(10) or date, or write date_trunc('second', column) for timestamp(0) and left(column, 10) for char(10).

-- case: correlation of distinct pairs
SELECT regr_r2(DISTINCT i4, i2) FROM people
-- => refused
-- UNSUPPORTED at 8: regr_r2(DISTINCT
-- this form of regr_r2 is not available on a protected table
-- Use the plain aggregate of two expressions, with FILTER (WHERE ...) if need be.

-- case: a pair of one
SELECT covar_pop(i4) FROM people
-- => refused
-- UNSUPPORTED at 8: covar_pop(i4)
-- an output column of this query on a protected table is not supported
-- Use aggregates, e.g. SELECT count(*), avg(column) FROM table WHERE ... GROUP BY column.

-- case: correlation with a text
SELECT corr(i4, s) FROM people
-- => refused
-- UNSUPPORTED at 8: corr(i4,
-- corr of character varying is not available on a protected table
-- It takes a number.

-- case: correlation without bounds
SELECT corr(i4, free) FROM people
-- => refused
-- NO_BOUNDS at 17: free)
-- column "free" has no bounds in the policy, so nothing can be computed from its values
-- Ask the data owner for `bounds` on this column, count its rows, or compare it as it is.

-- case: correlation per unit
SELECT avg(c) FROM (SELECT uid, corr(i4, n2) AS c FROM orders GROUP BY uid) q
-- => refused
-- UNSUPPORTED at 72: uid)
-- corr per unit is not available
-- Use count, sum, avg, min or max.

-- case: another aggregate of pairs
SELECT regr_sxx(i4, i2) FROM people
-- => refused
-- FUNCTION at 8: regr_sxx(i4,
-- aggregate regr_sxx is not available on a protected table, as count(*), sum(column) and avg(column) are
-- Available are count, sum, avg, min, max, variance, stddev, percentile_cont, percentile_disc, corr, covar_pop, covar_samp, regr_slope, regr_intercept, regr_r2, bool_or, bool_and and every.

-- case: interval of a root
SELECT dp.error(sqrt(count(*))) FROM people
-- => refused
-- UNSUPPORTED at 17: sqrt(count(*)))
-- the error of this form of expression is not known
-- It takes aggregates, numbers, + - * /, round, floor, ceil, trunc, abs, greatest, least, coalesce, nullif with a number, and casts to numbers.

-- case: interval of a key
SELECT t, dp.error(count(*) + i4) FROM people GROUP BY t
-- => refused
-- UNSUPPORTED at 31: i4)
-- the error of this form of expression is not known
-- It takes aggregates, numbers, + - * /, round, floor, ceil, trunc, abs, greatest, least, coalesce, nullif with a number, and casts to numbers.

-- case: interval of a window function
SELECT t, dp.error(count(*) / sum(count(*)) OVER ()) FROM people GROUP BY t
-- => refused
-- UNSUPPORTED at 31: sum(count(*))
-- the error of this form of expression is not known
-- Without it the NOTICE, or `errors` over HTTP, says what is known of a column with a window function. Of each group's own number: dp.error(count(*)).

-- case: interval of a date
SELECT dp.low(max(d) + 1) FROM people
-- => refused
-- UNSUPPORTED at 15: max(d)
-- the error of this form of expression is not known
-- It takes aggregates that are numbers, e.g. dp.error(max(column)) of a column of numbers.

-- case: interval of an expression with a subquery
SELECT dp.low(count(*) / (SELECT count(*) FROM events)) FROM people
-- => refused
-- UNSUPPORTED at 34: count(*)
-- the error of this form of expression is not known
-- It takes aggregates, numbers, + - * /, round, floor, ceil, trunc, abs, greatest, least, coalesce, nullif with a number, and casts to numbers.

-- case: interval of dp.low
SELECT dp.low(dp.low(count(*)) + 1) FROM people
-- => refused
-- UNSUPPORTED at 15: dp.low(count(*))
-- the error of this form of expression is not known
-- It takes aggregates, numbers, + - * /, round, floor, ceil, trunc, abs, greatest, least, coalesce, nullif with a number, and casts to numbers.

-- case: interval of nullif with an aggregate
SELECT dp.low(nullif(count(*), count(i4))) FROM people
-- => refused
-- UNSUPPORTED at 15: nullif(count(*),
-- the error of this form of expression is not known
-- nullif takes a constant number there: nullif(sum(column), 0).

-- case: interval of a text
SELECT dp.low(count(*)::text) FROM people
-- => refused
-- UNSUPPORTED at 15: count(*)::text)
-- the error of this form of expression is not known
-- Casts there are to integer, bigint, numeric, real and double precision: avg(column)::numeric.

-- case: interval of an expression of many parts
SELECT dp.low(count(*)+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1) FROM people
-- => refused
-- TOO_COMPLEX at 15: count(*)+1+1+1+1+1+1+1+1
-- a statement on protected tables may not be of an expression of more than 200 parts
-- Use a shorter statement, or several.

-- case: interval of a column of a subquery
SELECT n, dp.error(n) FROM (SELECT count(*) AS n FROM people) q
-- => refused
-- UNSUPPORTED at 11: dp.error(n)
-- dp.error() applies to aggregates in the SELECT that makes them of a protected table
-- Take dp.error(count(*)) there, with a name, and use the name.

-- case: interval around a window function of a subquery
WITH q AS (SELECT t, count(*) AS n FROM people GROUP BY t) SELECT dp.low(sum(n)) FROM q
-- => refused
-- UNSUPPORTED at 67: dp.low(sum(n))
-- dp.low() applies to aggregates in the SELECT that makes them of a protected table
-- Take dp.low(count(*)) there, with a name, and use the name.

-- case: a root of what may be negative
SELECT sum(sqrt(i2)) FROM people
-- => refused
-- UNSUPPORTED at 12: sqrt(i2))
-- sqrt() could fail, or become too large, on some rows: its operand has to be not below 0
-- Bound all of the operand: greatest(column, 1) or least(column, 100) in place of a column.

-- case: a logarithm of what may be 0
SELECT sum(ln(i4)) FROM people
-- => refused
-- UNSUPPORTED at 12: ln(i4))
-- ln() could fail, or become too large, on some rows: its operand has to be above 0
-- Bound all of the operand: greatest(column, 1) or least(column, 100) in place of a column.

-- case: a power too large
SELECT sum(exp(i4 * 10)) FROM people
-- => refused
-- UNSUPPORTED at 12: exp(i4
-- exp() could fail, or become too large, on some rows: its operand has to be within 690
-- Bound all of the operand: greatest(column, 1) or least(column, 100) in place of a column.

-- case: a quotient by what may be 0
SELECT avg(i4 / (i4 - 5)) FROM people
-- => refused
-- UNSUPPORTED at 12: i4
-- rows cannot be divided by what may be 0
-- Divide by a constant, e.g. sum(a / 10), by nullif(column, 0) of a whole number, or aggregates by each other, e.g. sum(a) / nullif(sum(b), 0).

-- case: a numeric too small
SELECT sum(i4::numeric(3, 2)) FROM people
-- => refused
-- NO_BOUNDS at 8: sum(i4::numeric(3,
-- a cast to a numeric of fewer digits than the values have has no public bounds, so its sum or average cannot be protected
-- Aggregate a column that has bounds in the policy.

-- case: a float as a text
SELECT count(*) FROM people WHERE f8::text = '1'
-- => refused
-- UNSUPPORTED at 35: f8::text
-- it is not known with how many digits this number is printed
-- Round it first: round((...)::numeric, 2)::text, or floor(...)::text.

-- case: a quotient as a text
SELECT count(*) FROM people WHERE (i4 / 3.0)::text = '1'
-- => refused
-- UNSUPPORTED at 36: i4
-- it is not known with how many digits this number is printed
-- Round it first: round((...)::numeric, 2)::text, or floor(...)::text.

-- case: a time as a text
SELECT count(*) FROM people WHERE ts::text = '2020'
-- => refused
-- UNSUPPORTED at 35: ts::text
-- a value of type timestamp without time zone cannot become a text on a protected table
-- Write to_char(column, 'YYYY-MM-DD HH24:MI:SS').

-- case: the first part is 1
SELECT count(*) FROM people WHERE split_part(t, '-', 0) = 'a'
-- => refused
-- UNSUPPORTED at 35: split_part(t,
-- split_part with this argument could fail
-- Use a small number above 0.

-- case: padded too far
SELECT count(*) FROM people WHERE lpad(t, 100000) = 'a'
-- => refused
-- TOO_COMPLEX at 35: lpad(t,
-- lpad may not make a text of more than 1024 characters
-- Use a shorter one.

-- case: replaced by a long text
SELECT count(*) FROM people WHERE replace(t, 'a', '12345678901234567') = 'a'
-- => refused
-- TOO_COMPLEX at 35: replace(t,
-- what replace() puts in may not have more than 16 bytes
-- Use a shorter one.

-- case: a text column cast to an integer as a key
SELECT t::int, count(*) FROM people GROUP BY 1
-- => refused
-- UNSUPPORTED at 8: t::int,
-- a cast from text to integer may fail on some rows: it is allowed in GROUP BY, of a text whose values are public
-- Compare the column as a text: column = '7'.

-- case: concat of a padded text
SELECT count(*) FROM people WHERE concat(c, 'x') = 'x'
-- => refused
-- UNSUPPORTED at 35: concat(c,
-- concat() of a character(n) is not available on a protected table
-- Write it with the operator: coalesce(column, '') || 'a'.

-- case: an array of percentiles as a constant
SELECT count(*) FROM people WHERE i4 > (SELECT percentile_cont(ARRAY[0.5]) WITHIN GROUP (ORDER BY i4) FROM people)[1]
-- => refused
-- UNSUPPORTED at 48: percentile_cont(ARRAY[0.
-- an array of percentiles cannot stand here
-- Take the percentiles one by one: percentile_cont(0.5) WITHIN GROUP (ORDER BY column).

-- case: percentiles by an array of arrays
SELECT percentile_cont(ARRAY[[0.5], [0.75]]) WITHIN GROUP (ORDER BY i4) FROM people
-- => refused
-- UNSUPPORTED at 8: percentile_cont(ARRAY[[0
-- percentile_cont on a protected table takes one constant fraction from 0 to 1, or an array of them
-- Write percentile_cont(0.5) WITHIN GROUP (ORDER BY column), with ARRAY[0.25, 0.5] for several.

-- case: percentiles by an array with null
SELECT percentile_cont(ARRAY[0.5, NULL]) WITHIN GROUP (ORDER BY i4) FROM people
-- => refused
-- UNSUPPORTED at 8: percentile_cont(ARRAY[0.
-- percentile_cont on a protected table takes one constant fraction from 0 to 1, or an array of them
-- Write percentile_cont(0.5) WITHIN GROUP (ORDER BY column), with ARRAY[0.25, 0.5] for several.

-- case: percentiles by an array of rounded numbers
SELECT percentile_cont(ARRAY[0.5, 1]::int[]) WITHIN GROUP (ORDER BY i4) FROM people
-- => refused
-- UNSUPPORTED at 8: percentile_cont(ARRAY[0.
-- percentile_cont on a protected table takes one constant fraction from 0 to 1, or an array of them
-- Write percentile_cont(0.5) WITHIN GROUP (ORDER BY column), with ARRAY[0.25, 0.5] for several.

-- case: percentiles by no fraction
SELECT percentile_cont('{}'::float8[]) WITHIN GROUP (ORDER BY i4) FROM people
-- => refused
-- UNSUPPORTED at 8: percentile_cont('{}'::fl
-- percentile_cont on a protected table takes one constant fraction from 0 to 1, or an array of them
-- Write percentile_cont(0.5) WITHIN GROUP (ORDER BY column), with ARRAY[0.25, 0.5] for several.

-- case: an array of percentiles per unit
SELECT count(*) FROM (SELECT uid, percentile_cont(ARRAY[0.5]) WITHIN GROUP (ORDER BY i4) AS p FROM visits GROUP BY uid) q
-- => refused
-- UNSUPPORTED at 35: percentile_cont(ARRAY[0.
-- percentiles per unit are not available
-- Use count, sum, avg, min or max.
