-- case: exists on no unit
SELECT count(*) FROM orders o WHERE EXISTS (SELECT 1 FROM calls c WHERE c.t = o.t)
-- => refused
-- UNSUPPORTED at 44: (SELECT
-- a subquery about each row must compare the privacy unit that both tables share
-- Compare the units of both tables in it: EXISTS (... AND c.uid = o.uid); or write o.uid IN (SELECT uid FROM w.calls WHERE ...).

-- case: exists of other units
SELECT count(*) FROM orders o WHERE EXISTS (SELECT 1 FROM notes n WHERE n.t = o.t)
-- => refused
-- UNSUPPORTED at 44: (SELECT
-- a subquery about each row must be of a table with the same privacy unit
-- Ask each table by itself, or look a value up in a public table: column IN (SELECT column FROM public_table).

-- case: exists of rows that are units
SELECT count(*) FROM people p WHERE EXISTS (SELECT 1 FROM calls c WHERE c.i4 = p.i4)
-- => refused
-- UNSUPPORTED at 44: (SELECT
-- a subquery about each row must be of a table with the same privacy unit
-- Ask each table by itself, or look a value up in a public table: column IN (SELECT column FROM public_table).

-- case: exists that names no row around it
SELECT count(*) FROM orders o WHERE EXISTS (SELECT 1 FROM calls c WHERE c.b)
-- => refused
-- UNSUPPORTED at 44: (SELECT
-- a subquery of a protected table must name the row around it
-- Compare the privacy unit of both by =: EXISTS (SELECT 1 FROM orders o WHERE o.unit = c.unit AND o.total > 100). Beside it other columns can be equal, and in EXISTS one can be compared otherwise.

-- case: exists that compares texts otherwise
SELECT count(*) FROM orders o WHERE EXISTS (SELECT 1 FROM calls c WHERE c.uid = o.uid AND c.t < o.t)
-- => refused
-- UNSUPPORTED at 44: (SELECT
-- text is compared with the row around EXISTS by = only
-- Compare the privacy unit of both by =: EXISTS (SELECT 1 FROM orders o WHERE o.unit = c.unit AND o.total > 100). Beside it other columns can be equal, and in EXISTS one can be compared otherwise.

-- case: exists that compares several columns otherwise
SELECT count(*) FROM orders o WHERE EXISTS (SELECT 1 FROM calls c WHERE c.uid = o.uid AND c.d < o.d AND c.i4 > o.i4)
-- => refused
-- UNSUPPORTED at 44: (SELECT
-- only one column of the row around EXISTS can be compared by anything but =
-- Compare the privacy unit of both by =: EXISTS (SELECT 1 FROM orders o WHERE o.unit = c.unit AND o.total > 100). Beside it other columns can be equal, and in EXISTS one can be compared otherwise.

-- case: exists that compares floats otherwise
SELECT count(*) FROM orders o WHERE EXISTS (SELECT 1 FROM calls c WHERE c.uid = o.uid AND c.f8 < o.f8)
-- => refused
-- UNSUPPORTED at 44: (SELECT
-- double precision is compared with the row around EXISTS by = only
-- Compare the privacy unit of both by =: EXISTS (SELECT 1 FROM orders o WHERE o.unit = c.unit AND o.total > 100). Beside it other columns can be equal, and in EXISTS one can be compared otherwise.

-- case: exists that compares only otherwise
SELECT count(*) FROM orders o WHERE EXISTS (SELECT 1 FROM calls c WHERE c.d < o.d)
-- => refused
-- UNSUPPORTED at 44: (SELECT
-- a subquery of a protected table must name the row around it
-- Compare the privacy unit of both by =: EXISTS (SELECT 1 FROM orders o WHERE o.unit = c.unit AND o.total > 100). Beside it other columns can be equal, and in EXISTS one can be compared otherwise.

-- case: exists that compares otherwise, in or
SELECT count(*) FROM orders o WHERE EXISTS (SELECT 1 FROM calls c WHERE c.uid = o.uid OR c.b)
-- => refused
-- UNSUPPORTED at 44: (SELECT
-- only equalities of two columns can name the row around a subquery of a protected table
-- Compare the privacy unit of both by =: EXISTS (SELECT 1 FROM orders o WHERE o.unit = c.unit AND o.total > 100). Beside it other columns can be equal, and in EXISTS one can be compared otherwise.

-- case: exists on floats
SELECT count(*) FROM orders o WHERE EXISTS (SELECT 1 FROM calls c WHERE c.uid = o.uid AND c.f8 = o.f8)
-- => refused
-- UNSUPPORTED at 44: (SELECT
-- double precision and double precision cannot be compared in a subquery about each row
-- Compare columns of one type, which is not a float.

-- case: exists on numbers and floats
SELECT count(*) FROM orders o WHERE EXISTS (SELECT 1 FROM calls c WHERE c.uid = o.uid AND c.f8 = o.n)
-- => refused
-- UNSUPPORTED at 44: (SELECT
-- numeric and double precision cannot be compared in a subquery about each row
-- Compare columns of one type, which is not a float.

-- case: exists of an aggregate
SELECT count(*) FROM orders o WHERE EXISTS (SELECT count(*) FROM calls c WHERE c.uid = o.uid)
-- => refused
-- COLUMN_NOT_USABLE at 90: uid)
-- o.uid is of the query around, and a query on a protected table is answered once, not for each row around it
-- GROUP BY the column that is compared with it instead: one query has all groups. Or JOIN that relation here, and GROUP BY o.uid.

-- case: exists with offset
SELECT count(*) FROM orders o WHERE EXISTS (SELECT 1 FROM calls c WHERE c.uid = o.uid OFFSET 1)
-- => refused
-- UNSUPPORTED at 44: (SELECT
-- OFFSET is not available in a subquery about each row of a protected table
-- Compare the privacy unit of both by =: EXISTS (SELECT 1 FROM orders o WHERE o.unit = c.unit AND o.total > 100). Beside it other columns can be equal, and in EXISTS one can be compared otherwise.

-- case: exists with no rows
SELECT count(*) FROM orders o WHERE EXISTS (SELECT 1 FROM calls c WHERE c.uid = o.uid LIMIT 0)
-- => refused
-- UNSUPPORTED at 44: (SELECT
-- this LIMIT in EXISTS is not available on a protected table
-- Compare the privacy unit of both by =: EXISTS (SELECT 1 FROM orders o WHERE o.unit = c.unit AND o.total > 100). Beside it other columns can be equal, and in EXISTS one can be compared otherwise.

-- case: exists among answers
SELECT count(*), EXISTS (SELECT 1 FROM calls c WHERE c.b) FROM orders
-- => refused
-- RAW_ROWS at 40: calls
-- rows of the protected table w.calls cannot be returned, only aggregates of them, e.g. SELECT count(*) FROM w.calls
-- Use aggregates, e.g. SELECT count(*) FROM w.calls. SELECT * FROM dp.columns says what each column can be used for.

-- case: exists in on
SELECT count(*) FROM orders o JOIN calls d ON d.uid = o.uid AND EXISTS (SELECT 1 FROM calls c WHERE c.uid = o.uid)
-- => refused
-- UNSUPPORTED at 47: d.uid
-- a subquery about each row is not available in ON
-- Write it in WHERE, or join a subquery that groups by the privacy unit.

-- case: exists two levels out
SELECT count(*) FROM members m WHERE EXISTS (SELECT 1 FROM orders o WHERE o.uid = m.uid AND EXISTS (SELECT 1 FROM calls c WHERE c.uid = m.uid))
-- => refused
-- UNSUPPORTED at 100: (SELECT
-- only equalities of two columns can name the row around a subquery of a protected table
-- Compare the privacy unit of both by =: EXISTS (SELECT 1 FROM orders o WHERE o.unit = c.unit AND o.total > 100). Beside it other columns can be equal, and in EXISTS one can be compared otherwise.

-- case: values of a row's own unit
SELECT count(*) FROM orders o WHERE t IN (SELECT c.t FROM calls c WHERE c.uid = o.uid)
-- => refused
-- UNSUPPORTED at 42: (SELECT
-- IN with a subquery that names columns of the row around it is not available
-- Compare the privacy unit of both by =: EXISTS (SELECT 1 FROM orders o WHERE o.unit = c.unit AND o.total > 100). Beside it other columns can be equal, and in EXISTS one can be compared otherwise.

-- case: values that are no units
SELECT count(*) FROM orders WHERE t IN (SELECT t FROM calls)
-- => refused
-- UNSUPPORTED at 40: (SELECT
-- a subquery about each row must compare the privacy unit that both tables share
-- Compare the units of both tables in it: EXISTS (... AND calls.uid = orders.uid); or write orders.uid IN (SELECT uid FROM w.calls WHERE ...).

-- case: units of the far side of an outer join
SELECT count(*) FROM members m LEFT JOIN orders o ON o.uid = m.uid WHERE o.uid NOT IN (SELECT uid FROM calls)
-- => refused
-- UNSUPPORTED at 87: (SELECT
-- IN on a column of an outer join's other side is not available
-- Compare the privacy unit of both by =: EXISTS (SELECT 1 FROM orders o WHERE o.unit = c.unit AND o.total > 100). Beside it other columns can be equal, and in EXISTS one can be compared otherwise.

-- case: a list with units of the far side of an outer join
SELECT count(*) FROM members WHERE uid NOT IN (SELECT c.uid FROM orders o LEFT JOIN calls c ON c.uid = o.uid)
-- => refused
-- UNSUPPORTED at 47: (SELECT
-- IN on a column of an outer join's other side is not available
-- Compare the privacy unit of both by =: EXISTS (SELECT 1 FROM orders o WHERE o.unit = c.unit AND o.total > 100). Beside it other columns can be equal, and in EXISTS one can be compared otherwise.

-- case: an expression in a list of units
SELECT count(*) FROM members WHERE uid + 1 IN (SELECT uid FROM orders)
-- => refused
-- UNSUPPORTED at 47: (SELECT
-- IN (SELECT ...) of a protected table takes the privacy unit before it
-- Compare the privacy unit of both by =: EXISTS (SELECT 1 FROM orders o WHERE o.unit = c.unit AND o.total > 100). Beside it other columns can be equal, and in EXISTS one can be compared otherwise.

-- case: two columns in a list
SELECT count(*) FROM members WHERE (uid, t) IN (SELECT uid, t FROM orders)
-- => refused
-- UNSUPPORTED at 37: uid,
-- a list in brackets is not allowed in a query on a protected table
-- Use plain comparisons, arithmetic and CASE on the columns of the table.

-- case: a scalar subquery on no unit
SELECT avg((SELECT count(*) FROM calls c WHERE c.t = m.t)) FROM members m
-- => refused
-- UNSUPPORTED at 12: (SELECT
-- a subquery about each row must compare the privacy unit that both tables share
-- Compare the units of both tables in it: EXISTS (... AND c.uid = m.uid); or write m.uid IN (SELECT uid FROM w.calls WHERE ...).

-- case: a scalar subquery of a row
SELECT max((SELECT c.i4 FROM calls c WHERE c.uid = m.uid ORDER BY c.d LIMIT 1)) FROM members m
-- => refused
-- UNSUPPORTED at 12: (SELECT
-- this subquery inside a condition on a protected table is not available
-- A subquery in a condition is one aggregate, (SELECT avg(column) FROM table), or after IN a column of a public table. Values of a table of your own are a list: column IN (1, 2), column = ANY ($1).

-- case: a scalar subquery with a column of the row around it
SELECT max((SELECT m.i4 + count(*) FROM calls c WHERE c.uid = m.uid)) FROM members m
-- => refused
-- COLUMN_NOT_USABLE at 22: i4
-- m.i4 is of the query around, and a query on a protected table is answered once, not for each row around it
-- GROUP BY the column that is compared with it instead: one query has all groups. Or JOIN that relation here, and GROUP BY m.i4.

-- case: a scalar subquery of groups
SELECT max((SELECT count(*) FROM calls c WHERE c.uid = m.uid GROUP BY c.t)) FROM members m
-- => refused
-- UNSUPPORTED at 12: (SELECT
-- GROUP is not available in a subquery about each row of a protected table
-- Compare the privacy unit of both by =: EXISTS (SELECT 1 FROM orders o WHERE o.unit = c.unit AND o.total > 100). Beside it other columns can be equal, and in EXISTS one can be compared otherwise.

-- case: a deviation for each row
SELECT max((SELECT stddev(i4) FROM calls c WHERE c.uid = m.uid)) FROM members m
-- => refused
-- UNSUPPORTED at 12: (SELECT
-- stddev_samp per unit is not available
-- Use count, sum, avg, min or max.

-- case: units themselves
SELECT DISTINCT uid FROM orders
-- => refused
-- RAW_ROWS at 17: uid
-- the privacy unit cannot be a GROUP BY key of the result, but of a subquery: SELECT avg(n) FROM (SELECT uid, count(*) AS n FROM w.orders GROUP BY uid) q
-- GROUP BY it in a subquery and aggregate that: SELECT avg(n) FROM (SELECT uid, count(*) AS n FROM w.orders GROUP BY uid) q.

-- case: units themselves, with groups
SELECT DISTINCT uid, t FROM orders
-- => refused
-- RAW_ROWS at 17: uid,
-- the privacy unit cannot be a GROUP BY key of the result, but of a subquery: SELECT avg(n) FROM (SELECT uid, count(*) AS n FROM w.orders GROUP BY uid) q
-- GROUP BY it in a subquery and aggregate that: SELECT avg(n) FROM (SELECT uid, count(*) AS n FROM w.orders GROUP BY uid) q.

-- case: distinct on another column
SELECT count(*) FROM (SELECT DISTINCT ON (t) uid, t FROM orders) q
-- => refused
-- RAW_ROWS at 23: SELECT
-- DISTINCT ON reads rows: ask for aggregates, e.g. SELECT column, count(*) FROM table GROUP BY column
-- Aggregate one row of each unit: SELECT avg(total) FROM (SELECT DISTINCT ON (unit) unit, total FROM table ORDER BY unit, time DESC) q. For one row of each group write GROUP BY with aggregates.

-- case: per unit without all keys
SELECT avg(n) FROM (SELECT uid, t, b, count(*) AS n FROM orders GROUP BY uid, t) q
-- => refused
-- UNSUPPORTED at 36: b,
-- "b" is neither the privacy unit nor inside an aggregate
-- Aggregate the column in the subquery, or group by it there.

-- case: per something that is no unit
SELECT avg(n) FROM (SELECT t, count(*) AS n FROM orders GROUP BY t) q, orders o WHERE o.t = q.t
-- => refused
-- UNSUPPORTED at 8: avg(n)
-- avg cannot be added up over groups that are joined with answers
-- Use count and sum, or GROUP BY all that is joined or compared with the answers.
