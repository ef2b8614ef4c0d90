-- case: a mean cannot be added up
SELECT avg(i4) FROM people JOIN (SELECT t AS t__, count(*) AS n FROM people GROUP BY t ORDER BY n DESC LIMIT 2) q ON t = t__
-- => refused
-- UNSUPPORTED at 8: avg(i4)
-- avg cannot be added up over groups that are joined with answers
-- Use count and sum, or GROUP BY all that is joined or compared with the answers.

-- case: several answers for one group
SELECT t, avg(i4) FROM people JOIN (SELECT t AS t__, b AS b__, count(*) AS n FROM people GROUP BY t, b) q ON t = t__ GROUP BY t
-- => refused
-- UNSUPPORTED at 11: avg(i4)
-- avg cannot be added up over groups that are joined with answers
-- Use count and sum, or GROUP BY all that is joined or compared with the answers.

-- case: several answers of a function that gives rows
SELECT t, avg(i4) FROM people JOIN (SELECT t AS t__, generate_series(1, 2) AS n FROM people GROUP BY t) q ON t = t__ GROUP BY t
-- => refused
-- UNSUPPORTED at 11: avg(i4)
-- avg cannot be added up over groups that are joined with answers
-- Use count and sum, or GROUP BY all that is joined or compared with the answers.

-- case: the error of a sum of answers
SELECT dp.error(count(*)) FROM people JOIN (SELECT t AS t__, count(*) AS n FROM people GROUP BY t) q ON t = t__
-- => refused
-- UNSUPPORTED at 8: dp.error(count(*))
-- the error of answers that are added up is not known
-- Take dp.error(...) in a SELECT that groups by what is joined or compared.

-- case: private keys are not added up
SELECT count(*) FROM people JOIN (SELECT s AS s__, count(*) AS n FROM people GROUP BY s) q ON s = s__
-- => refused
-- NO_VALUES at 95: s
-- column "s" has no public values, and is joined or compared with answers whose groups are added up
-- GROUP BY it, or ask for a column with `values` in the policy.

-- case: the privacy unit as a key
SELECT count(*) FROM orders JOIN (SELECT max(i4) AS most FROM people) q ON uid = most
-- => refused
-- RAW_ROWS at 76: uid
-- the privacy unit cannot be a GROUP BY key of the result
-- GROUP BY it in a subquery and aggregate that: SELECT avg(n) FROM (SELECT unit, count(*) AS n FROM table GROUP BY unit) q; after a LEFT JOIN it is the left table's.

-- case: rows without a group beside answers
SELECT t, i4 FROM people JOIN (SELECT t AS t__, count(*) AS n FROM people GROUP BY t) q ON t = t__
-- => refused
-- RAW_ROWS at 19: people
-- rows of the protected table w.people cannot be returned, only aggregates of them, e.g. SELECT count(*) FROM w.people
-- Use aggregates, e.g. SELECT count(*) FROM w.people. SELECT * FROM dp.columns says what each column can be used for.

-- case: a column that is no key
SELECT t, i4, count(*) FROM people JOIN (SELECT t AS t__, count(*) AS n FROM people GROUP BY t) q ON t = t__ GROUP BY t, n
-- => refused
-- RAW_ROWS at 11: i4,
-- "i4" of a protected table can only be read inside an aggregate or as a GROUP BY key
-- Use aggregates, e.g. SELECT count(*), avg(column) FROM table WHERE ... GROUP BY column.

-- case: all columns
SELECT people.*, count(*) FROM people JOIN (SELECT t AS t__, count(*) AS n FROM people GROUP BY t) q ON t = t__ GROUP BY t
-- => refused
-- RAW_ROWS at 8: people.*,
-- rows of a protected table cannot be read
-- Write the columns of the key's table by their names.

-- case: rows filled by an outer join
SELECT q.t, count(*) FROM (SELECT t, count(*) AS n FROM people GROUP BY t) q LEFT JOIN people p ON p.t = q.t GROUP BY 1
-- => refused
-- UNSUPPORTED at 78: LEFT
-- an outer join that keeps answers without rows of a protected table is not available
-- Group the table in a subquery, and join its answers to the series: SELECT g.m, q.n FROM generate_series(timestamptz '2024-01-01', timestamptz '2024-12-01', interval '1 month') g(m) LEFT JOIN (SELECT date_trunc('month', column) AS m, count(*) AS n FROM table GROUP BY 1) q ON q.m = g.m. Or write JOIN, or begin with the protected table: FROM table LEFT JOIN (SELECT ...) q ON ...

-- case: rows on both sides of answers
SELECT count(*) FROM orders o JOIN (SELECT t AS t__, count(*) AS n FROM people GROUP BY t) q ON o.t = t__ JOIN calls c ON c.uid = o.uid
-- => refused
-- UNSUPPORTED at 107: JOIN
-- rows of protected tables cannot be joined with what is joined with answers
-- Join the tables first and the other query last: FROM table JOIN table2 ON ... JOIN (SELECT ...) q ON ...

-- case: answers below an aggregate
SELECT count(*) FROM (SELECT t, n FROM people JOIN (SELECT t AS t__, count(*) AS n FROM people GROUP BY t) q ON t = t__) x
-- => refused
-- UNSUPPORTED at 47: JOIN
-- rows of protected tables cannot be combined with other queries in a subquery
-- Join the other query in the SELECT that aggregates: SELECT k, count(*) FROM table JOIN (SELECT ...) q ON k = q.k GROUP BY k.

-- case: answers beside one row per unit
SELECT avg(c) FROM (SELECT uid, count(*) AS c FROM orders JOIN (SELECT t AS t__, count(*) AS n FROM people GROUP BY t) q ON t = t__ GROUP BY uid) x
-- => refused
-- UNSUPPORTED at 59: JOIN
-- rows of protected tables cannot be combined with other queries in a subquery
-- Join the other query in the SELECT that aggregates: SELECT k, count(*) FROM table JOIN (SELECT ...) q ON k = q.k GROUP BY k.

-- case: answers in a constant
SELECT count(*) FROM people WHERE i4 > (SELECT avg(i4) FROM people WHERE t IN (SELECT t FROM people GROUP BY t ORDER BY count(*) LIMIT 1))
-- => refused
-- UNSUPPORTED at 74: t
-- rows of protected tables cannot be combined with other queries in a subquery
-- Run the inner query by itself and write its result as a constant.

-- case: a name of the noisy relation
SELECT t, count(*) AS dp_b1 FROM people JOIN (SELECT t AS t__, count(*) AS n FROM people GROUP BY t) q ON t = t__ GROUP BY t
-- => refused
-- UNSUPPORTED at 23: dp_b1
-- the name "dp_b1" cannot be used where a protected table is joined with answers
-- Use names that do not begin with dp_b: SELECT sum(x) AS total ...

-- case: an aggregate of answers among rows
SELECT t, max(q.n) FROM people JOIN (SELECT t AS t__, count(*) AS n FROM people GROUP BY t) q ON t = t__ GROUP BY t
-- => refused
-- COLUMN_NOT_USABLE at 17: n)
-- "n" is of answers, which cannot be aggregated with the rows that meet them
-- GROUP BY it beside what is joined: SELECT t.k, q.n, count(*) FROM table t JOIN (SELECT ...) q ON q.k = t.k GROUP BY t.k, q.n; or aggregate the table in a subquery, too, and join the two.

-- case: a function of rows that is not available
SELECT count(*) FROM people JOIN (SELECT t AS t__, count(*) AS n FROM people GROUP BY t) q ON md5(t) = t__
-- => refused
-- FUNCTION at 95: md5(t)
-- function md5 is not allowed on protected columns
-- Write mod(column, 10), bins of a whole number; of texts group by the column, or by left(column, 1).

-- case: a subquery about each row in one condition with answers
SELECT o.t, count(*) FROM orders o JOIN (SELECT t AS t__, count(*) AS n FROM people GROUP BY t) q ON o.t = t__ WHERE EXISTS (SELECT 1 FROM calls c WHERE c.uid = o.uid) OR q.n > 3 GROUP BY o.t
-- => refused
-- UNSUPPORTED at 118: EXISTS
-- a subquery about each row cannot be in one condition with the answers of another query
-- Name what it says in a subquery of the table, and compare the name: FROM (SELECT *, EXISTS (SELECT 1 FROM ...) AS found FROM table) t JOIN (SELECT ...) q ON ... WHERE found OR q.n > 3.

-- case: a subquery about each row that names answers
SELECT o.t, count(*) FROM orders o JOIN (SELECT t AS t__, count(*) AS n FROM people GROUP BY t) q ON o.t = t__ WHERE EXISTS (SELECT 1 FROM calls c WHERE c.uid = o.uid AND c.i4 > q.n) GROUP BY o.t
-- => refused
-- UNSUPPORTED at 118: EXISTS
-- a subquery about each row cannot be in one condition with the answers of another query
-- Name what it says in a subquery of the table, and compare the name: FROM (SELECT *, EXISTS (SELECT 1 FROM ...) AS found FROM table) t JOIN (SELECT ...) q ON ... WHERE found OR q.n > 3.

-- case: a subquery about each row in ON of an outer join with answers
SELECT o.t, count(*) FROM orders o LEFT JOIN (SELECT t AS t__, count(*) AS n FROM people GROUP BY t) q ON o.t = t__ AND EXISTS (SELECT 1 FROM calls c WHERE c.uid = o.uid) GROUP BY o.t
-- => refused
-- UNSUPPORTED at 121: EXISTS
-- a subquery about each row cannot be in one condition with the answers of another query
-- Name what it says in a subquery of the table, and compare the name: FROM (SELECT *, EXISTS (SELECT 1 FROM ...) AS found FROM table) t JOIN (SELECT ...) q ON ... WHERE found OR q.n > 3.

-- case: a public subquery that names rows and answers
SELECT o.t, count(*) FROM orders o JOIN (SELECT t AS t__, count(*) AS n FROM people GROUP BY t) q ON o.t = t__ WHERE EXISTS (SELECT 1 FROM places p WHERE p.code = o.t AND p.zone = q.t__) GROUP BY o.t
-- => refused
-- UNSUPPORTED at 118: EXISTS
-- a subquery about each row cannot be in one condition with the answers of another query
-- Name what it says in a subquery of the table, and compare the name: FROM (SELECT *, EXISTS (SELECT 1 FROM ...) AS found FROM table) t JOIN (SELECT ...) q ON ... WHERE found OR q.n > 3.
