-- case: star
SELECT * FROM people
-- => refused
-- RAW_ROWS at 15: people
-- rows of the protected table w.people cannot be returned, only aggregates of them, e.g. SELECT count(*) FROM w.people
-- Use aggregates, e.g. SELECT count(*) FROM w.people. SELECT * FROM dp.columns says what each column can be used for.

-- case: column
SELECT i4 FROM people
-- => refused
-- RAW_ROWS at 16: people
-- rows of the protected table w.people cannot be returned, only aggregates of them, e.g. SELECT count(*) FROM w.people
-- Use aggregates, e.g. SELECT count(*) FROM w.people. SELECT * FROM dp.columns says what each column can be used for.

-- case: table command
TABLE people
-- => refused
-- RAW_ROWS at 7: people
-- rows of the protected table w.people cannot be returned, only aggregates of them, e.g. SELECT count(*) FROM w.people
-- Use aggregates, e.g. SELECT count(*) FROM w.people. SELECT * FROM dp.columns says what each column can be used for.

-- case: table command inside
SELECT count(*) FROM orders UNION ALL TABLE people
-- => refused
-- RAW_ROWS at 45: people
-- rows of the protected table w.people cannot be returned, only aggregates of them, e.g. SELECT count(*) FROM w.people
-- Use aggregates, e.g. SELECT count(*) FROM w.people. SELECT * FROM dp.columns says what each column can be used for.

-- case: copy out
COPY people TO STDOUT
-- => refused
-- RAW_ROWS at 6: people
-- rows of the protected table w.people cannot be returned, only aggregates of them, e.g. SELECT count(*) FROM w.people
-- Use aggregates, e.g. SELECT count(*) FROM w.people. SELECT * FROM dp.columns says what each column can be used for.

-- case: copy of rows
COPY (SELECT s FROM people) TO STDOUT
-- => refused
-- RAW_ROWS at 21: people)
-- rows of the protected table w.people cannot be returned, only aggregates of them, e.g. SELECT count(*) FROM w.people
-- Use aggregates, e.g. SELECT count(*) FROM w.people. SELECT * FROM dp.columns says what each column can be used for.

-- case: whole row
SELECT people FROM people
-- => refused
-- RAW_ROWS at 8: people
-- rows of the protected table w.people cannot be returned, only aggregates of them, e.g. SELECT count(*) FROM w.people
-- Use aggregates, e.g. SELECT count(*) FROM w.people. SELECT * FROM dp.columns says what each column can be used for.

-- case: whole row of an alias
SELECT count(*), p FROM people p
-- => refused
-- RAW_ROWS at 18: p
-- "p" of a protected table can only be read inside an aggregate or as a GROUP BY key
-- Use aggregates, e.g. SELECT count(*), avg(column) FROM table WHERE ... GROUP BY column.

-- case: whole row as a function
SELECT count(*), s(people) FROM people
-- => refused
-- RAW_ROWS at 20: people)
-- "people" of a protected table can only be read inside an aggregate or as a GROUP BY key
-- Use aggregates, e.g. SELECT count(*), avg(column) FROM table WHERE ... GROUP BY column.

-- case: field of a whole row
SELECT count(*), (p).s FROM people p
-- => refused
-- RAW_ROWS at 19: p).s
-- "p" of a protected table can only be read inside an aggregate or as a GROUP BY key
-- Use aggregates, e.g. SELECT count(*), avg(column) FROM table WHERE ... GROUP BY column.

-- case: whole row inside an aggregate
SELECT max(p) FROM people p
-- => refused
-- COLUMN_NOT_USABLE at 12: p)
-- "p" is a whole row here, and rows are read by their columns only
-- Count rows by count(*), and those with a value by count(p.i2).

-- case: star inside
SELECT count(*), p.* FROM people p
-- => refused
-- RAW_ROWS at 18: p.*
-- rows of a protected table cannot be read
-- Use aggregates, e.g. SELECT count(*), avg(column) FROM table WHERE ... GROUP BY column.

-- case: column beside an aggregate
SELECT s, count(*) FROM people
-- => refused
-- RAW_ROWS at 8: s,
-- "s" of a protected table can only be read inside an aggregate or as a GROUP BY key
-- Use aggregates, e.g. SELECT count(*), avg(column) FROM table WHERE ... GROUP BY column.

-- case: order by a raw column
SELECT t, count(*) FROM people GROUP BY t ORDER BY max(i4), s
-- => refused
-- RAW_ROWS at 61: s
-- "s" of a protected table can only be read inside an aggregate or as a GROUP BY key
-- Use aggregates, e.g. SELECT count(*), avg(column) FROM table WHERE ... GROUP BY column.

-- case: order by an expression on an alias
SELECT count(*) AS s FROM people ORDER BY s || 'x'
-- => refused
-- RAW_ROWS at 43: s
-- "s" of a protected table can only be read inside an aggregate or as a GROUP BY key
-- Use aggregates, e.g. SELECT count(*), avg(column) FROM table WHERE ... GROUP BY column.

-- case: having on a raw column
SELECT count(*) FROM people HAVING i4 > 5
-- => refused
-- RAW_ROWS at 36: i4
-- "i4" of a protected table can only be read inside an aggregate or as a GROUP BY key
-- Use aggregates, e.g. SELECT count(*), avg(column) FROM table WHERE ... GROUP BY column.

-- case: window over raw rows
SELECT sum(i4) OVER () FROM people
-- => refused
-- RAW_ROWS at 29: people
-- rows of the protected table w.people cannot be returned, only aggregates of them, e.g. SELECT count(*) FROM w.people
-- Use aggregates, e.g. SELECT count(*) FROM w.people. SELECT * FROM dp.columns says what each column can be used for.

-- case: window count over raw rows
SELECT count(*) OVER () FROM people
-- => refused
-- RAW_ROWS at 30: people
-- rows of the protected table w.people cannot be returned, only aggregates of them, e.g. SELECT count(*) FROM w.people
-- Use aggregates, e.g. SELECT count(*) FROM w.people. SELECT * FROM dp.columns says what each column can be used for.

-- case: window ordered by a raw column
SELECT count(*), rank() OVER (ORDER BY i4) FROM people
-- => refused
-- RAW_ROWS at 40: i4)
-- "i4" of a protected table can only be read inside an aggregate or as a GROUP BY key
-- Use aggregates, e.g. SELECT count(*), avg(column) FROM table WHERE ... GROUP BY column.

-- case: rows in from
SELECT sum(x) FROM (SELECT uid AS x FROM orders) q
-- => refused
-- NO_BOUNDS at 12: x)
-- column "x" of a subquery cannot be computed with: column "uid" has no bounds in the policy, so nothing can be computed from its values
-- Ask the data owner for `bounds` on column "uid", count its rows, or compare it as it is.

-- case: rows in a union
SELECT count(*) FROM people UNION SELECT i4 FROM people
-- => refused
-- RAW_ROWS at 50: people
-- rows of the protected table w.people cannot be returned, only aggregates of them, e.g. SELECT count(*) FROM w.people
-- Use aggregates, e.g. SELECT count(*) FROM w.people. SELECT * FROM dp.columns says what each column can be used for.

-- case: rows in a condition on public data
SELECT * FROM regions WHERE t IN (SELECT t FROM people)
-- => refused
-- RAW_ROWS at 49: people)
-- rows of the protected table w.people cannot be returned, only aggregates of them, e.g. SELECT count(*) FROM w.people
-- Use aggregates, e.g. SELECT count(*) FROM w.people. SELECT * FROM dp.columns says what each column can be used for.

-- case: distinct on
SELECT DISTINCT ON (t) t FROM people
-- => refused
-- RAW_ROWS at 1: SELECT
-- DISTINCT ON reads rows: ask for aggregates, e.g. SELECT column, count(*) FROM table GROUP BY column
-- Aggregate one row of each unit: SELECT avg(total) FROM (SELECT DISTINCT ON (unit) unit, total FROM table ORDER BY unit, time DESC) q. For one row of each group write GROUP BY with aggregates.

-- case: unit column in the output
SELECT uid, count(*) FROM orders GROUP BY t
-- => refused
-- RAW_ROWS at 8: uid,
-- "uid" of a protected table can only be read inside an aggregate or as a GROUP BY key
-- Use aggregates, e.g. SELECT count(*), avg(column) FROM table WHERE ... GROUP BY column.

-- case: insert of rows
INSERT INTO mine SELECT i4 FROM people
-- => refused
-- RAW_ROWS at 33: people
-- rows of the protected table w.people cannot be returned, only aggregates of them, e.g. SELECT count(*) FROM w.people
-- Use aggregates, e.g. SELECT count(*) FROM w.people. SELECT * FROM dp.columns says what each column can be used for.

-- case: cursor over rows
DECLARE k CURSOR FOR SELECT s FROM people
-- => refused
-- RAW_ROWS at 36: people
-- rows of the protected table w.people cannot be returned, only aggregates of them, e.g. SELECT count(*) FROM w.people
-- Use aggregates, e.g. SELECT count(*) FROM w.people. SELECT * FROM dp.columns says what each column can be used for.

-- case: plan of rows
EXPLAIN SELECT * FROM people
-- => refused
-- RAW_ROWS at 23: people
-- rows of the protected table w.people cannot be returned, only aggregates of them, e.g. SELECT count(*) FROM w.people
-- Use aggregates, e.g. SELECT count(*) FROM w.people. SELECT * FROM dp.columns says what each column can be used for.
