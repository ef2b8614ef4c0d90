-- case: unknown function
SELECT sum(sqrt(i4)) FROM people
-- => refused
-- FUNCTION at 12: sqrt(i4))
-- function sqrt is not allowed on protected columns
-- Allowed are comparisons, + - * and division by a constant, CASE, LIKE, abs, round, floor, ceil, trunc, sign, mod, width_bucket, coalesce, nullif, greatest, least, extract, date_trunc, date_bin, to_timestamp, date, to_char, lower, upper, length, left, right, substr, strpos, starts_with, regexp_like and btrim.

-- case: own function
SELECT count(*) FROM people WHERE evil(s)
-- => refused
-- FUNCTION at 35: evil(s)
-- function evil is not allowed on protected columns
-- Allowed are comparisons, + - * and division by a constant, CASE, LIKE, abs, round, floor, ceil, trunc, sign, mod, width_bucket, coalesce, nullif, greatest, least, extract, date_trunc, date_bin, to_timestamp, date, to_char, lower, upper, length, left, right, substr, strpos, starts_with, regexp_like and btrim.

-- case: array_agg
SELECT array_agg(i4) FROM people
-- => refused
-- FUNCTION at 8: array_agg(i4)
-- aggregate array_agg is not available on a protected table
-- Available are count, sum, avg, min, max, variance, stddev, percentile_cont, percentile_disc, corr, covar_pop, covar_samp, regr_slope, regr_intercept and regr_r2.

-- case: string_agg
SELECT string_agg(s, ',') FROM people
-- => refused
-- FUNCTION at 8: string_agg(s,
-- aggregate string_agg is not available on a protected table
-- Available are count, sum, avg, min, max, variance, stddev, percentile_cont, percentile_disc, corr, covar_pop, covar_samp, regr_slope, regr_intercept and regr_r2.

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
-- It takes a number, a date or a timestamp.

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
-- Allowed are comparisons, + - * and division by a constant, CASE, LIKE, abs, round, floor, ceil, trunc, sign, mod, width_bucket, coalesce, nullif, greatest, least, extract, date_trunc, date_bin, to_timestamp, date, to_char, lower, upper, length, left, right, substr, strpos, starts_with, regexp_like and btrim.

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
-- Allowed are comparisons, + - * and division by a constant, CASE, LIKE, abs, round, floor, ceil, trunc, sign, mod, width_bucket, coalesce, nullif, greatest, least, extract, date_trunc, date_bin, to_timestamp, date, to_char, lower, upper, length, left, right, substr, strpos, starts_with, regexp_like and btrim.

-- case: query inside a string
SELECT count(query_to_xml('select 1', true, true, '')) FROM people
-- => refused
-- FUNCTION at 14: query_to_xml('select
-- function query_to_xml is not allowed on protected columns
-- Allowed are comparisons, + - * and division by a constant, CASE, LIKE, abs, round, floor, ceil, trunc, sign, mod, width_bucket, coalesce, nullif, greatest, least, extract, date_trunc, date_bin, to_timestamp, date, to_char, lower, upper, length, left, right, substr, strpos, starts_with, regexp_like and btrim.

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
-- Use letters, ., [a-z], [^0-9], \d, \s, ( ), |, *, +, ?, {1,3}, ^ and $ at the outside, and a backslash before other marks; at most 100 characters once what is repeated is written out, of ASCII where case is ignored. For \w write column ~ '^[A-Za-z0-9_]+$'.

-- case: concatenation
SELECT count(*) FROM people WHERE s || 'a' = 'ba'
-- => refused
-- UNSUPPORTED at 40: 'a'
-- operator || is not allowed in a query on a protected table
-- Use plain comparisons, arithmetic and CASE on the columns of the table.

-- case: max of an expression of dates
SELECT max(greatest(d, ts)) FROM people
-- => refused
-- UNSUPPORTED at 8: max(greatest(d,
-- max of an expression of timestamp without time zone is not available
-- Take the plain column, with the condition in FILTER (WHERE ...).

-- case: extremes of an enumeration
SELECT max(e) FROM people
-- => refused
-- UNSUPPORTED at 8: max(e)
-- max of text is not available on a protected table
-- It takes a number, a date or a timestamp.

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
-- Cast to integer, bigint, numeric, double precision or date, without a precision.

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
-- column "free" has no bounds in the policy, so its values cannot be aggregated
-- Ask the data owner for `bounds` on this column, or count its rows instead.

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
-- aggregate regr_sxx is not available on a protected table
-- Available are count, sum, avg, min, max, variance, stddev, percentile_cont, percentile_disc, corr, covar_pop, covar_samp, regr_slope, regr_intercept and regr_r2.

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
-- It takes aggregates, numbers, + - * /, round, floor, ceil, trunc, abs, greatest, least, coalesce, nullif with a number, and casts to numbers.

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
