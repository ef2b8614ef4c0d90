-- case: unlisted column
SELECT sum(secret) FROM people
-- => refused
-- COLUMN_NOT_USABLE at 12: secret)
-- there is no column "secret" in the policy of this table
-- SELECT * FROM dp.columns lists the columns that can be asked about.

-- case: unlisted column in where
SELECT count(*) FROM people WHERE id = 5
-- => refused
-- COLUMN_NOT_USABLE at 35: id
-- there is no column "id" in the policy of this table
-- SELECT * FROM dp.columns lists the columns that can be asked about.

-- case: system column
SELECT min(ctid) FROM people
-- => refused
-- COLUMN_NOT_USABLE at 12: ctid)
-- there is no column "ctid" in the policy of this table
-- SELECT * FROM dp.columns lists the columns that can be asked about.

-- case: foreign qualifier
SELECT sum(orders.i4) FROM people
-- => refused
-- COLUMN_NOT_USABLE at 19: i4)
-- orders.i4 is of the query around, and a query on a protected table is answered once, not for each row around it
-- GROUP BY the column that is compared with it instead: one query has all groups. Or JOIN that relation here, and GROUP BY orders.i4.

-- case: alias hides the table's name
SELECT sum(people.i4) FROM people p
-- => refused
-- COLUMN_NOT_USABLE at 19: i4)
-- people.i4 is of the query around, and a query on a protected table is answered once, not for each row around it
-- GROUP BY the column that is compared with it instead: one query has all groups. Or JOIN that relation here, and GROUP BY people.i4.

-- case: more column aliases than columns
SELECT sum(x) FROM (SELECT i4 FROM people) AS p(x, y)
-- => refused
-- UNSUPPORTED at 21: SELECT
-- a column list has more names than its subquery has columns
-- Leave out what is too many: it has 1.

-- case: quoted name is another
SELECT sum("I4") FROM people
-- => refused
-- COLUMN_NOT_USABLE at 12: "I4")
-- there is no column "I4" in the policy of this table
-- SELECT * FROM dp.columns lists the columns that can be asked about.

-- case: unicode name
SELECT sum(U&"\0069\0034") FROM people
-- => refused
-- UNSUPPORTED at 12: U&"\0069\0034")
-- U&"..." is not available in a statement on protected tables
-- Write the name itself, in double quotes if needed: "name".

-- case: no bounds
SELECT avg(free) FROM people
-- => refused
-- NO_BOUNDS at 12: free)
-- column "free" has no bounds in the policy, so nothing can be computed from its values
-- Ask the data owner for `bounds` on this column, count its rows, or compare it as it is.

-- case: no bounds in an expression
SELECT sum(i4 + free) FROM people
-- => refused
-- NO_BOUNDS at 17: free)
-- column "free" has no bounds in the policy, so nothing can be computed from its values
-- Ask the data owner for `bounds` on this column, count its rows, or compare it as it is.

-- case: no bounds in a condition
SELECT count(*) FROM people WHERE free + 1 > 5
-- => refused
-- NO_BOUNDS at 35: free
-- column "free" has no bounds in the policy, so nothing can be computed from its values
-- Ask the data owner for `bounds` on this column, count its rows, or compare it as it is.

-- case: sum of the unit column
SELECT sum(uid) FROM orders
-- => refused
-- NO_BOUNDS at 12: uid)
-- column "uid" has no bounds in the policy, so nothing can be computed from its values
-- Ask the data owner for `bounds` on this column, count its rows, or compare it as it is.

-- case: group by the unit column
SELECT count(*) FROM orders GROUP BY uid
-- => refused
-- RAW_ROWS at 38: uid
-- the privacy unit cannot be a GROUP BY key of the result, but of a subquery: SELECT avg(n) FROM (SELECT uid, count(*) AS n FROM w.orders GROUP BY uid) q
-- GROUP BY it in a subquery and aggregate that: SELECT avg(n) FROM (SELECT uid, count(*) AS n FROM w.orders GROUP BY uid) q.
