"""No hint is false: each that shows a statement or an expression is filled in with real names, and runs.

`HINTS` and `HINTED` have what each hint shows, in statements on the demo's databases, and `HINTED` a statement
that gets the hint. A hint that is in neither, or that the product has no more, fails; one that shows nothing
which could be run says so in words.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

import psycopg
import pytest
from psycopg.pq import DiagnosticField

from proxy.pgwire.wording import POSTGRES_HINTS
from proxy.query.bind.function_forms import FORMS, SUBSTITUTES, FunctionForm
from tests.live.hinted_statements import HINTED
from tests.live_proxy import LiveProxy
from tests.shown_sql import shown

_ORDERS = "FROM shop.orders"
_COUNT = f"SELECT count(*) {_ORDERS}"
_THINGS = "SELECT count(*) FROM kinds.things"
_PER_UNIT = (
    "SELECT avg(n) FROM (SELECT customer_id, count(*) AS n FROM shop.orders GROUP BY customer_id) q"
)
_ALIKE = "shows a form that no statement is made of"
_RUN_AS_IT_IS = "says that the same statement is to be run elsewhere"

_TO_OWNERS = "speaks to who writes a policy: tests/planner/test_series.py"
_OF_BLOCKS = "is of tables with a budget for each month: tests/live/test_month_budgets.py runs it"
HINTS: dict[str, str | tuple[str, ...]] = {
    "Add GROUP BY date_trunc('{}', {}), or a condition that leaves one {} of {}.": _OF_BLOCKS,
    "Ask COUNT(DISTINCT {}) of one {}, or COUNT(*) of rows.": _OF_BLOCKS,
    "Use the plain aggregate of {}, with FILTER (WHERE ...) if need be.": (
        f"SELECT count(*) FILTER (WHERE status = 'paid'), sum(total) FILTER (WHERE quantity > 1) {_ORDERS}",
    ),
    "Use count(*).": (_COUNT,),
    "Keep the answers, CREATE TEMPORARY TABLE t AS SELECT count(*) FROM ..., or write the query into WITH where"
    " it is used.": (
        f"CREATE TEMPORARY TABLE of_a_view AS SELECT count(*) {_ORDERS}",
        f"WITH v AS (SELECT status, count(*) AS n {_ORDERS} GROUP BY 1) SELECT max(n) FROM v",
    ),
    "If dp.low(count(*)) is above 0, there are some.": (f"SELECT count(*), dp.low(count(*)) {_ORDERS}",),
    "Group by the day alone, such as created_at::date AS day, and give WHERE the first day and the last one.": (
        _TO_OWNERS
    ),
    "Group by the day alone, such as created_at::date AS day, and give WHERE the first day and the last one;"
    " continual is the number of these days.": _TO_OWNERS,
    "Count rows, or COUNT(DISTINCT) the privacy unit.": _TO_OWNERS,
    "Give the table max_rows_per_unit, and max_rows_per_group_per_unit for the rows of one day, or count"
    " people: COUNT(DISTINCT) of the privacy unit.": _TO_OWNERS,
    "Leave dp.clipped(...) out.": _TO_OWNERS,
    "Publish SUM and COUNT as the series. Averages follow from them: sum(s) / sum(n) of the days.": _TO_OWNERS,
    "Read protected tables with plain conditions and inner joins: no window, GROUP BY in a subquery, EXISTS,"
    " OUTER JOIN or public table, and no row that is cut.": _TO_OWNERS,
    "Publish the SELECT itself.": "speaks to who writes a policy",
    "The policy does not offer the column for this use. `SELECT * FROM dp.columns` says what each is for.": (
        "SELECT * FROM dp.columns",
    ),
    "SUM, AVG, MIN and MAX need bounds. Take a column that has them, or write `greatest(least(x, 100), 0)`.": (
        f"SELECT sum(greatest(least(total, 100), 0)) {_ORDERS}",
    ),
    "The key of GROUP BY has no public values. Take a coarser one, or a column that has `values`.": (
        f"SELECT status, count(*) {_ORDERS} GROUP BY status",
    ),
    "What a preview of protected rows (`SELECT * ... LIMIT 10`) gets: `empty`, no rows, or `refuse`. Default:"
    " the policy's `previews`.": "describes a setting, in the reference",
    "One SELECT, in the SQL of PostgreSQL.": "describes an argument, to agents",
    "Join its answers: ... FROM (aggregates by k) a JOIN {} p ON p.k = a.k, where the protected table is"
    " aggregated inside.": "the demo publishes nothing: tests/live/test_published.py runs it",
    "Use count(column).": (f"SELECT count(product_id) {_ORDERS}",),
    "Write (SELECT avg(column) FROM table), or run it by itself and write its result as a constant.": (
        f"{_COUNT} WHERE total > (SELECT avg(total) FROM shop.orders)",
        f"SELECT avg(total) {_ORDERS}",
        f"{_COUNT} WHERE total > 42.5",
    ),
    "Name one column inside an aggregate, e.g. count(*) or avg(column).": (
        _COUNT,
        f"SELECT avg(total) {_ORDERS}",
    ),
    "SELECT * FROM dp.columns lists the columns that can be asked about.": ("SELECT * FROM dp.columns",),
    "Combine conditions with AND, OR and NOT.": (
        f"{_COUNT} WHERE quantity > 1 AND NOT (total > 5 OR status = 'paid')",
    ),
    "Dates and times can be compared with constants, or taken apart by extract().": (
        f"{_COUNT} WHERE created_at < '2026-01-31' AND extract(year FROM created_at) = 2025",
    ),
    "Write 'UTC', or a name with a region and a city: column AT TIME ZONE 'Europe/Berlin'.": (
        f"{_COUNT} WHERE created_at AT TIME ZONE 'UTC' < '2026-01-31'",
        f"{_COUNT} WHERE created_at AT TIME ZONE 'Europe/Berlin' < '2026-01-31'",
    ),
    "round and trunc take a constant number of digits there, from 0 to 20: round(avg(column), 2).": (
        f"SELECT dp.error(round(avg(total), 2)), dp.error(trunc(avg(total), 20)) {_ORDERS}",
    ),
    "ORDER BY {} LIMIT {}: {}{} of the {} clearly belong to the list. Noise has a part in which others"
    " are in it, and their numbers are too {} on average.": (
        f"SELECT status, count(*) AS n {_ORDERS} GROUP BY status ORDER BY n LIMIT 2",
    ),
    "ORDER BY with LIMIT: noise has a part in which rows are in the list, and the numbers by which they were"
    " chosen are too {} on average.": (
        f"SELECT status, count(*) AS n {_ORDERS} GROUP BY status ORDER BY n LIMIT 2 OFFSET 1",
    ),
    "{}: by the bounds of its columns the quotient can be {}. Bounded as in avg(least(a / b, 100)) it has less"
    " noise.": (f"SELECT avg(least(total / quantity, 100)) {_ORDERS}",),
    "Without it the NOTICE, or `errors` over HTTP, says what is known of a column with a window function. Of"
    " each group's own number: dp.error(count(*)).": (
        f"SELECT status, sum(count(*)) OVER (), dp.error(count(*)) {_ORDERS} GROUP BY status",
    ),
    "It takes aggregates that are numbers, e.g. dp.error(max(column)) of a column of numbers.": (
        f"SELECT dp.error(max(total)) {_ORDERS}",
    ),
    "dp.error({}) is a number of {}.": ("SELECT dp.error(min(at)) FROM kinds.things",),
    "nullif takes a constant number there: nullif(sum(column), 0).": (
        f"SELECT dp.error(nullif(sum(total), 0)) {_ORDERS}",
    ),
    "Casts there are to integer, bigint, numeric, real and double precision: avg(column)::numeric.": tuple(
        f"SELECT dp.error(avg(total)::{kind}) {_ORDERS}"
        for kind in ("integer", "bigint", "numeric", "real", "double precision")
    ),
    "Write the list after IN: column IN (1, 2), column NOT IN (1, 2), or column IN ($1, $2).": (
        f"{_COUNT} WHERE quantity IN (1, 2)",
        f"{_COUNT} WHERE quantity NOT IN (1, 2)",
        f"PREPARE two (integer, integer) AS {_COUNT} WHERE quantity IN ($1, $2); EXECUTE two (1, 2)",
    ),
    "Write column LIKE 'a%' or column ILIKE 'a%', in which % is any text and _ any character.": (
        f"{_COUNT} WHERE status LIKE 'a%'",
        f"{_COUNT} WHERE status ILIKE 'a%' OR status LIKE 'p_id'",
    ),
    "Write them as a constant, e.g. column >= '2026-01-31'.": (
        f"{_COUNT} WHERE created_at >= '2026-01-31'",
    ),
    "Write an argument, e.g. count(*) or sum(column).": (f"SELECT count(*), sum(total) {_ORDERS}",),
    "Write WITH name AS (SELECT ...) without a reference to itself.": (
        "WITH name AS (SELECT total FROM shop.orders) SELECT avg(total) FROM name",
    ),
    "Write dp.{}(count(*)) or the like.": tuple(
        f"SELECT dp.{name}(count(*)) {_ORDERS}" for name in ("low", "high", "error", "clipped")
    ),
    "Use aggregates, e.g. SELECT count(*) FROM {}. SELECT * FROM dp.columns says what each column can be used"
    " for.": (_COUNT, "SELECT * FROM dp.columns"),
    "GROUP BY it in a subquery and aggregate that: {}.": (_PER_UNIT,),
    "Take dp.{}(count(*)) there, with a name, and use the name.": (
        f"SELECT e FROM (SELECT dp.error(count(*)) AS e {_ORDERS}) q",
    ),
    "A subquery in a condition is one aggregate, (SELECT avg(column) FROM table), or after IN a column of a"
    " public table. Values of a table of your own are a list: column IN (1, 2), column = ANY ($1).{}": (
        f"{_COUNT} WHERE total > (SELECT avg(total) FROM shop.orders)",
        f"{_COUNT} WHERE quantity IN (1, 2)",
        f"{_COUNT} WHERE quantity = ANY ('{{1,2}}')",
        f"{_COUNT} WHERE product_id IN (SELECT id FROM shop.products)",
    ),
    " Where people are to have a row there, join it: SELECT count(DISTINCT a.{}) FROM {} a JOIN {} b ON"
    " b.{} = a.{}.": (
        "SELECT count(DISTINCT a.id) FROM shop.customers a JOIN shop.orders b ON b.customer_id = a.id",
    ),
    "Join columns of one type, or SET TimeZone = 'UTC'.": ("SET TimeZone = 'UTC'",),
    "Write a template, e.g. 'YYYY-MM'.": (
        f"SELECT to_char(created_at, 'YYYY-MM') AS month, count(*) {_ORDERS}"
        " WHERE created_at >= '2025-01-01' AND created_at < '2025-04-01' GROUP BY 1",
    ),
    "Use IS NULL, or a column of another type.": (f"{_COUNT} WHERE status IS NULL",),
    "Write numbers in digits, dates as '2026-01-31', times as '2026-01-31 12:00:00+00'.": (
        f"{_COUNT} WHERE quantity < 12 AND created_at < '2026-01-31 12:00:00+00'",
        "SELECT count(*) FROM shop.customers WHERE birth_date < '2026-01-31'",
    ),
    "Read it in the FROM of a SELECT with aggregates, without TABLE, LATERAL or a function.": (
        "WITH w AS (SELECT total FROM shop.orders) SELECT sum(total) FROM w",
    ),
    "Bound the total in the subquery that computes it, as in least(sum(x), 1000).": (
        "SELECT avg(t) FROM (SELECT customer_id, least(sum(total), 1000) AS t FROM shop.orders"
        " GROUP BY customer_id) q",
    ),
    "Nothing was read or charged. EXPLAIN (VERBOSE) shows mechanisms and SQL.": (
        f"EXPLAIN (VERBOSE) {_COUNT}",
    ),
    "EXPLAIN SELECT ... alone shows what the statement would cost.": (f"EXPLAIN {_COUNT}",),
    "Use tables, subqueries in brackets, JOIN ... ON and LEFT JOIN ... ON.": (
        "SELECT count(*) FROM (SELECT customer_id FROM shop.orders) o JOIN shop.customers c"
        " ON c.id = o.customer_id",
        "SELECT count(*) FROM shop.customers c LEFT JOIN shop.orders o ON o.customer_id = c.id",
    ),
    "Write it as an escape string: E'...' with every backslash doubled.": (
        f"PREPARE escaped AS {_COUNT} WHERE status = E'a\\\\b'; EXECUTE escaped",
    ),
    "Use aggregates, e.g. SELECT count(*), avg(column) FROM table WHERE ... GROUP BY column.": (
        f"SELECT count(*), avg(total) {_ORDERS} WHERE quantity > 1 GROUP BY status",
    ),
    "Use plain comparisons, arithmetic and CASE on the columns of the table.": (
        f"SELECT sum(CASE WHEN total > 5 THEN quantity + 1 ELSE 0 END) {_ORDERS}",
    ),
    "Write abs(x).": (f"SELECT sum(abs(total)) {_ORDERS}",),
    "Write WITH name AS (SELECT ...), with plain names.": (
        "WITH name AS (SELECT total FROM shop.orders) SELECT avg(total) FROM name",
    ),
    "Cast one operand to numeric first: column::numeric * ...": (
        f"SELECT sum(quantity::numeric * 2000000000) {_ORDERS}",
    ),
    "Write them of the plain column; put CASE and COALESCE around them.": (
        f"SELECT count(CASE WHEN total > 5 THEN date_trunc('month', created_at) END) {_ORDERS}",
        f"{_COUNT} WHERE coalesce(extract(year FROM created_at), 0) > 2024",
    ),
    "Key {} has the most values, {}: narrow it in WHERE (=, IN, BETWEEN), {}.": (
        f"SELECT created_at::date AS day, count(*) {_ORDERS}"
        " WHERE created_at::date BETWEEN '2025-01-01' AND '2025-01-31' GROUP BY 1",
    ),
    "Ask for avg, min or max by smooth_median, or count(DISTINCT unit), or ask the data owner for"
    " max_rows_per_unit: auto.": (f"SELECT count(DISTINCT customer_id) {_ORDERS}",),
    "Aggregate one row of each unit: SELECT avg(total) FROM (SELECT DISTINCT ON (unit) unit, total FROM table"
    " ORDER BY unit, time DESC) q. For one row of each group write GROUP BY with aggregates.": (
        f"SELECT avg(total) FROM (SELECT DISTINCT ON (customer_id) customer_id, total {_ORDERS} ORDER BY"
        " customer_id, created_at DESC) q",
        f"SELECT status, max(total) {_ORDERS} GROUP BY status",
    ),
    "Group the table in a subquery, and join its answers to the series: SELECT g.m, q.n FROM"
    " generate_series(timestamptz '2024-01-01', timestamptz '2024-12-01', interval '1 month') g(m) LEFT JOIN"
    " (SELECT date_trunc('month', column) AS m, count(*) AS n FROM table GROUP BY 1) q ON q.m = g.m.": (
        "SELECT g.m, q.n FROM generate_series(timestamptz '2024-01-01', timestamptz '2024-12-01', interval"
        f" '1 month') g(m) LEFT JOIN (SELECT date_trunc('month', created_at) AS m, count(*) AS n {_ORDERS}"
        " GROUP BY 1) q ON q.m = g.m",
    ),
    "Rows without a partner are those WHERE {} IS NULL; count({}) counts the others.": (
        "SELECT count(*) FROM shop.customers c LEFT JOIN shop.orders o ON o.customer_id = c.id"
        " WHERE o.customer_id IS NULL",
        "SELECT count(o.customer_id) FROM shop.customers c LEFT JOIN shop.orders o ON o.customer_id = c.id",
    ),
    "SELECT * FROM dp.columns lists what each can be used for.": ("SELECT * FROM dp.columns",),
    "Name it in a subquery: SELECT max(t) FROM (SELECT created::date AS t FROM table) q.": (
        "SELECT max(t) FROM (SELECT (birth_date + 7)::timestamp AS t FROM shop.customers) q",
    ),
    "Group by date_trunc('day', {}), or 'week' or 'month', or leave at most {} groups in WHERE. Of a column"
    " without bounds in the policy ask the data owner for max_groups_per_unit.": (
        "SELECT date_trunc('day', at), count(*) FROM kinds.things GROUP BY 1",
        "SELECT date_trunc('month', at), count(*) FROM kinds.things GROUP BY 1",
        f"SELECT date_trunc('hour', created_at), count(*) {_ORDERS}"
        " WHERE created_at >= '2026-01-01' AND created_at < '2026-02-01' GROUP BY 1",
    ),
    "Write a text in single quotes: '{}'.": (f"{_COUNT} WHERE status = 'paid'",),
    "Ask the data owner for `values` of {}{}; or ask the data owner for max_groups_per_unit. Of a time or"
    " number with bounds WHERE has to leave at most {} groups.": (
        f"SELECT created_at::date, count(*) {_ORDERS}"
        " WHERE created_at >= '2026-01-01' AND created_at < '2026-02-01' GROUP BY 1",
        "SELECT CASE status WHEN 'paid' THEN 'paid' WHEN 'shipped' THEN 'shipped' END, count(*)"
        f" {_ORDERS} GROUP BY 1",
        f"SELECT CASE quantity WHEN 1 THEN 1 WHEN 2 THEN 2 END, count(*) {_ORDERS} GROUP BY 1",
        f"SELECT status, count(*) {_ORDERS} GROUP BY status",
    ),
    "GROUP BY it in a subquery and aggregate that: SELECT avg(n) FROM (SELECT unit, count(*) AS n FROM table"
    " GROUP BY unit) q; after a LEFT JOIN it is the left table's.": (
        _PER_UNIT,
        "SELECT avg(n) FROM (SELECT c.id, count(o.id) AS n FROM shop.customers c LEFT JOIN shop.orders o"
        " ON o.customer_id = c.id GROUP BY c.id) q",
    ),
    "Round it, round((...)::numeric, 2), or group by a column with `values` in the policy.": (
        "SELECT round((single)::numeric, 2), count(*) FROM kinds.things WHERE single < 3 GROUP BY 1",
        f"SELECT status, count(*) {_ORDERS} GROUP BY status",
    ),
    "Run it without dp.low(), dp.high() and dp.error().": ("SELECT count(*) FROM shop.products",),
    "Rows that are units by themselves need no GROUP BY: aggregate them directly.": (
        "SELECT avg(income) FROM census.adult",
    ),
    "Join fewer tables, or count the rows of each unit in a subquery and join that: GROUP BY the unit.": (
        "SELECT sum(n) FROM shop.orders o JOIN (SELECT customer_id, count(*) AS n FROM shop.orders"
        " GROUP BY customer_id) q USING (customer_id)",
    ),
    "Pass one value for each of $1, $2, ...": (
        f"PREPARE one (integer) AS {_COUNT} WHERE quantity > $1; EXECUTE one (2)",
    ),
    "GROUP BY gives no group: its keys are private, and a key needs {} {} to appear half of the time, {} to"
    " appear in 95 of 100 answers. {} or ask the data owner for `values` of the key, which are all answered.": (
        "SET dp.epsilon = 2",
        "SET dp.delta = 1e-6",
    ),
    "Narrow IN (SELECT ... WHERE ...), or join the public table on its key.": (
        f"{_COUNT} WHERE product_id IN (SELECT id FROM shop.products WHERE price > 10)",
        "SELECT count(*) FROM shop.orders a JOIN shop.products b ON a.product_id = b.id",
    ),
    ", for example, or 'UTC'.": ("SET TimeZone = 'Europe/Berlin'", "SET TimeZone = 'UTC'"),
    "Call the function in a SELECT.": ("SELECT lower('A')",),
    "SET client_encoding = 'UTF8', or write the statement in ASCII.": ("SET client_encoding = 'UTF8'",),
    "Send the SELECT itself, or connect with a PostgreSQL client.": _RUN_AS_IT_IS,
    "Send the SELECT itself, with the header Accept: text/csv.": _RUN_AS_IT_IS,
    "Of at most {} values, for $1, $2, ...": _ALIKE,
    'For example {"database": "shop", "sql": "SELECT 1"}.': ("SELECT 1",),
    "A statement about protected data has at most {} bytes beside its parameters. Send long lists as one"
    " array: column = ANY($1).": (
        f"PREPARE lists (integer[]) AS {_COUNT} WHERE quantity = ANY($1); EXECUTE lists ('{{1,2}}')",
    ),
    "A statement costs epsilon {} at most, unless dp.epsilon is set; EXPLAIN shows its price and its error for"
    " nothing.": (f"EXPLAIN {_COUNT}",),
    "Protected: aggregates are answered with noise that hides {}. SELECT * FROM dp.columns.": (
        "SELECT * FROM dp.columns",
    ),
    " With dp.low(...) > (or dp.high(...) <) in each condition only clear ones are shown: {}.": (
        f"SELECT status, count(*) {_ORDERS} GROUP BY status HAVING dp.low(count(*)) > 9000",
        f"SELECT status, count(*) {_ORDERS} GROUP BY status HAVING dp.high(count(*)) < 9000",
    ),
    "Each row is paired with all others of its unit, whatever else ON says.": (
        f"SELECT status, count(*) {_ORDERS} GROUP BY status",
    ),
    "Join a public table on its key{}; or join counts of each side: SELECT a.{}, a.n, b.n FROM (SELECT {},"
    " count(*) AS n FROM {} GROUP BY {}) a JOIN (SELECT {}, count(*) AS n FROM {} GROUP BY {}) b ON b.{} ="
    " a.{}": (
        "SELECT a.age, a.n, b.n FROM (SELECT age, count(*) AS n FROM census.adult GROUP BY age) a"
        " JOIN (SELECT age, count(*) AS n FROM census.adult GROUP BY age) b ON b.age = a.age",
    ),
    "Join a table with a primary key, or ask IN (SELECT ...) of this one": (
        f"{_COUNT} WHERE product_id IN (SELECT id FROM shop.products WHERE price > 20)",
    ),
    "{} If one other row is enough, take the next one's, lead({}) OVER (PARTITION BY {} ORDER BY {}) in a"
    " subquery, or one of each unit, JOIN {} q USING ({}).": (
        "SELECT status, next, count(*) FROM (SELECT status, lead(status) OVER (PARTITION BY customer_id"
        f" ORDER BY created_at) AS next {_ORDERS}) q GROUP BY status, next",
        "SELECT o.status, count(*) FROM shop.orders o JOIN (SELECT customer_id, max(total) AS most"
        f" {_ORDERS} GROUP BY customer_id) q USING (customer_id) WHERE o.total < q.most GROUP BY 1",
    ),
    "dp.error(...) around the expression of {} shows the error of each group.": (
        f"SELECT status, avg(total), dp.error(avg(total)) AS error {_ORDERS} GROUP BY status",
    ),
    " HAVING dp.low({}) > 0 leaves out all but about 1 in 40 of the empty ones, and small groups with them.": (
        f"SELECT status, count(*) {_ORDERS} GROUP BY status HAVING dp.low(count(*)) > 0",
        f"SELECT quantity, count(total) {_ORDERS} GROUP BY quantity HAVING dp.low(count(total)) > 0",
        f"SELECT status, count(DISTINCT quantity) {_ORDERS} GROUP BY status"
        " HAVING dp.low(count(DISTINCT quantity)) > 0",
        f"SELECT status, quantity, count(*) {_ORDERS} GROUP BY ROLLUP (status, quantity)"
        " HAVING dp.low(count(*)) > 0",
    ),
    "ORDER BY {} LIMIT {}: NULL comes first, in {} of the {}. Write NULLS LAST to have it behind all"
    " numbers.": (
        f"SELECT status, avg(total) AS a {_ORDERS} GROUP BY status ORDER BY a DESC NULLS LAST LIMIT 2",
    ),
    "Ask for edges, percentiles of the totals: SELECT percentile_cont(ARRAY[0.25, 0.5, 0.75]) WITHIN GROUP"
    " (ORDER BY s) FROM (SELECT unit, sum(column) AS s FROM table GROUP BY unit) q. Then group by them: CASE"
    " WHEN s < edge THEN 1 ELSE 2 END.": (
        "SELECT percentile_cont(ARRAY[0.25, 0.5, 0.75]) WITHIN GROUP (ORDER BY s) FROM (SELECT customer_id,"
        f" sum(total) AS s {_ORDERS} GROUP BY customer_id) q",
        "SELECT CASE WHEN s < 300 THEN 1 ELSE 2 END AS bin, count(*) FROM (SELECT customer_id, sum(total) AS s"
        f" {_ORDERS} GROUP BY customer_id) q GROUP BY 1",
    ),
    "Aggregate the totals in the query around: SELECT sum(s) FROM (SELECT unit, sum(column) AS s FROM table"
    " GROUP BY unit) q.": (
        f"SELECT sum(s) FROM (SELECT customer_id, sum(total) AS s {_ORDERS} GROUP BY customer_id) q",
    ),
    "GROUP BY the column that is compared with it instead: one query has all groups. Or JOIN that relation"
    " here,"
    " and GROUP BY {}.": (
        "SELECT state, count(*) FROM shop.customers GROUP BY state",
        "SELECT c.title, count(*) FROM shop.orders k JOIN shop.products c ON k.product_id = c.id GROUP BY"
        " c.title",
    ),
    "JOIN what is asked of each unit, ON l.{} = the unit of the other table: {}.": (
        "SELECT l.status, count(*) FROM shop.customers c JOIN (SELECT * FROM (SELECT customer_id, status,"
        f" row_number() OVER (PARTITION BY customer_id ORDER BY created_at DESC) AS rn {_ORDERS}) q WHERE rn ="
        " 1)"
        " l ON l.customer_id = c.id GROUP BY 1",
        f"SELECT avg(l.n) FROM shop.customers c JOIN (SELECT customer_id, count(*) AS n {_ORDERS} GROUP BY"
        " customer_id) l ON l.customer_id = c.id",
    ),
    "{}: count(*) FILTER (WHERE {} IS NULL) has less noise.": (
        f"SELECT status, count(*) FILTER (WHERE total IS NULL) {_ORDERS} GROUP BY status",
    ),
    "Use LIMIT, or connect with a PostgreSQL client.": ("SELECT * FROM generate_series(1, 9) LIMIT 3",),
    "differential privacy: rows of the protected table {table} are not shown, so this preview is empty"
    " whatever the table holds. Use aggregates, e.g. SELECT count(*) FROM {table}; SELECT * FROM dp.columns"
    " says what each column can be used for.": (_COUNT, "SELECT * FROM dp.columns"),
    "SELECT * FROM dp.columns lists what can be queried.": ("SELECT * FROM dp.columns",),
    "SELECT * FROM dp.columns has the type of each column: write the constant in it.": (
        *("SELECT * FROM dp.columns", f"{_COUNT} WHERE quantity = 1"),
    ),
    "Write the type of each parameter into the statement: CAST($1 AS integer).": (
        *("PREPARE typed AS SELECT count(*) FROM shop.orders WHERE quantity = CAST($1 AS integer)",),
    ),
    "Give each table in FROM a name of its own: orders a JOIN orders b.": (
        "SELECT count(*) FROM shop.orders a JOIN shop.orders b ON a.customer_id = b.customer_id",
    ),
    "Put the column into GROUP BY, or take it out of the statement.": (
        *("SELECT status, count(*) FROM shop.orders GROUP BY status", _COUNT),
    ),
    "Bring both sides to one type: CAST(total AS integer).": (
        f"{_COUNT} WHERE CAST(total AS integer) > 1",
    ),
    "Write a date as '2026-11-27', a time as '2026-11-27 18:00'.": (
        f"{_COUNT} WHERE created_at > '2026-11-27 18:00'",
    ),
}  # fmt: skip


def test_every_hint_that_shows_sql_has_its_case() -> None:
    found = shown()
    assert len(found) > 50
    known = HINTS.keys() | HINTED.keys()
    assert HINTS.keys() & HINTED.keys() == set()
    assert {text: place for text, place in found.items() if text not in known} == {}
    assert known - found.keys() == set()


def _database(statement: str) -> str:
    named = re.search(r"\b(shop|kinds|census)\.", statement)
    return named[1] if named else "shop"


_CASES = [
    *(each for shows in HINTS.values() if isinstance(shows, tuple) for each in shows),
    *(each for case in HINTED.values() for each in case.shows),
]


@pytest.fixture(scope="module")
def sessions(live: LiveProxy) -> Iterator[dict[str, psycopg.Connection]]:
    found = {
        name: live.connect(name, analyst=live.servers.new_analyst())
        for name in ("shop", "kinds", "census")
    }
    yield found
    for session in found.values():
        session.close()


@pytest.mark.every(24)
@pytest.mark.parametrize("statement", dict.fromkeys(_CASES))
def test_what_a_hint_shows_runs(statement: str, sessions: dict[str, psycopg.Connection]) -> None:
    session = sessions[_database(statement)]
    for part in statement.split("; "):
        session.execute(part.encode())


@pytest.mark.every(3)
@pytest.mark.parametrize(
    ("hint", "refused"), [(text, case.refused) for text, case in HINTED.items()]
)
def test_a_statement_gets_its_hint(
    hint: str, refused: str, sessions: dict[str, psycopg.Connection]
) -> None:
    with pytest.raises(psycopg.Error) as caught:
        sessions[_database(refused)].execute(refused.encode())
    written = ".*".join(map(re.escape, hint.split("{}")))
    assert re.fullmatch(written, caught.value.diag.message_hint or "", re.DOTALL)


@pytest.mark.every(6)
@pytest.mark.parametrize("form", FORMS.values(), ids=lambda form: form.name)
def test_every_form_of_a_function_runs(
    form: FunctionForm, sessions: dict[str, psycopg.Connection]
) -> None:
    """`Write name(column) of ...`: of some column of the table with all types."""
    for written in form.written:
        answered = 0
        for column in ("int", "txt", "at", "att", "day", "tags"):
            expression = re.sub(r"\bcolumn\b", column, written)
            try:
                sessions["kinds"].execute(f"SELECT count({expression}) FROM kinds.things".encode())
                answered += 1
            except psycopg.Error:
                continue
        assert answered, written


@pytest.mark.every(12)
@pytest.mark.parametrize("name", SUBSTITUTES)
def test_what_stands_instead_of_a_function_runs(
    name: str, sessions: dict[str, psycopg.Connection]
) -> None:
    names = {"later": "now()", "earlier": "at", "other": "big"}
    for written in SUBSTITUTES[name].written:
        answered = 0
        for column in ("int", "txt", "at"):
            expression = written
            for word, instead in {**names, "column": column}.items():
                expression = re.sub(rf"(?<!')\b{word}\b", instead, expression)
            of = expression if _AGGREGATE.match(written) else f"count({expression})"
            if written == "now()":
                of = "count(*) FILTER (WHERE at < now())"
            try:
                sessions["kinds"].execute(f"SELECT {of} FROM kinds.things".encode())
                answered += 1
            except psycopg.Error:
                continue
        assert answered, written


_AGGREGATE = re.compile(r"(count|min|max|avg|percentile_cont)\(")


@pytest.mark.parametrize(
    ("refused", "database"),
    [
        (f"SELECT * {_ORDERS}", "shop"),
        ("SELECT c.id, count(*) FROM shop.customers c GROUP BY c.id", "shop"),
        (
            "SELECT count(*) FROM shop.customers c WHERE c.id > ALL"
            " (SELECT o.customer_id FROM shop.orders o)",
            "shop",
        ),
    ],
)
def test_a_hint_has_the_names_of_the_statement(
    refused: str, database: str, sessions: dict[str, psycopg.Connection]
) -> None:
    """What it shows runs as it stands."""
    with pytest.raises(psycopg.Error) as caught:
        sessions[database].execute(refused.encode())
    hint = caught.value.diag.message_hint or ""
    named = re.findall(r"SELECT (?:[^.]|\.(?! |\Z))*?shop\.(?:[^.]|\.(?! |\Z))*", hint)
    assert named, hint
    for statement in named:
        sessions[database].execute(statement.encode())


_UNTYPED = f"SELECT count(*) {_ORDERS} WHERE $1 IS NULL"
# Of PostgreSQL's own errors: each with a statement that gets it, and one that does what the hint says.
_OF_POSTGRES = {
    "42601": (f"SELECT count(*) {_ORDERS} WHERE GROUP BY status", f"SELECT count(*) {_ORDERS}"),
    "42704": (
        f"SELECT count(*) {_ORDERS} WHERE CAST(total AS nosuch) = 1",
        "SELECT * FROM dp.columns",
    ),
    "42P01": (f"SELECT count(*) {_ORDERS} o, nowhere n", "SELECT * FROM dp.columns"),
    "42702": (
        f"SELECT count(*) {_ORDERS} o JOIN shop.products p ON p.id = o.product_id WHERE id = 1",
        f"SELECT count(*) {_ORDERS} o JOIN shop.products p ON p.id = o.product_id WHERE p.id = 1",
    ),
    "42712": (
        "SELECT count(*) FROM shop.orders, shop.orders",
        "SELECT count(*) FROM shop.orders a JOIN shop.orders b ON a.customer_id = b.customer_id",
    ),
    "42803": (
        f"SELECT status, count(*) {_ORDERS}",
        f"SELECT status, count(*) {_ORDERS} GROUP BY status",
    ),
    "42804": (
        f"SELECT count(*) {_ORDERS} WHERE CASE WHEN true THEN total END",
        f"SELECT count(*) {_ORDERS} WHERE CAST(total AS integer) > 1",
    ),
    "22P02": (
        f"SELECT count(*) {_ORDERS} WHERE quantity = 'x'",
        f"SELECT count(*) {_ORDERS} WHERE quantity = 1",
    ),
    "22007": (
        f"SELECT count(*) {_ORDERS} WHERE created_at > 'x'",
        f"SELECT count(*) {_ORDERS} WHERE created_at > '2026-11-27'",
    ),
}


@pytest.mark.parametrize("sqlstate", _OF_POSTGRES)
def test_an_error_of_postgresql_says_what_to_do(
    sqlstate: str, sessions: dict[str, psycopg.Connection]
) -> None:
    wrong, right = _OF_POSTGRES[sqlstate]
    session = sessions["shop"]
    with pytest.raises(psycopg.Error) as caught:
        session.execute(wrong.encode())
    assert caught.value.sqlstate == sqlstate
    assert caught.value.diag.message_hint == POSTGRES_HINTS[sqlstate]
    session.execute(f"EXPLAIN {right}".encode() if "dp.columns" not in right else right.encode())


@pytest.mark.parametrize(
    ("wrong", "hint", "right"),
    [
        ("SELECT count(*) FROM shop.order", "The nearest is shop.orders. ", _COUNT),
        ("SELECT count(*) FROM shop.Custmers", "The nearest is shop.customers. ", _COUNT),
        (f"SELECT cuont(*) {_ORDERS}", "The nearest is count().", _COUNT),
        (
            f"SELECT median(total) {_ORDERS}",
            "Write percentile_cont(0.5) WITHIN GROUP (ORDER BY column).",
            f"SELECT percentile_cont(0.5) WITHIN GROUP (ORDER BY total) {_ORDERS}",
        ),
        (
            f'SELECT count(*) {_ORDERS} WHERE status = "paid"',
            "Write a text in single quotes: 'paid'. ",
            f"SELECT count(*) {_ORDERS} WHERE status = 'paid'",
        ),
    ],
)
@pytest.mark.parametrize("has_parameter", [False, True], ids=["simple", "extended"])
def test_a_name_that_is_not_there_gets_the_nearest(
    wrong: str,
    hint: str,
    right: str,
    has_parameter: bool,
    sessions: dict[str, psycopg.Connection],
) -> None:
    session = sessions["shop"]
    with pytest.raises(psycopg.Error) as caught:
        session.execute(f"EXPLAIN {wrong}".encode(), [] if has_parameter else None)
    assert (caught.value.diag.message_hint or "").startswith(hint)
    session.execute(f"EXPLAIN {right}".encode())


def test_a_parameter_without_a_type_gets_a_cast(sessions: dict[str, psycopg.Connection]) -> None:
    server = sessions["shop"].pgconn
    result = server.exec_params(_UNTYPED.encode(), [None])
    assert result.error_field(DiagnosticField.SQLSTATE) == b"42P18"
    hint = result.error_field(DiagnosticField.MESSAGE_HINT)
    assert hint == POSTGRES_HINTS["42P18"].encode()
    typed = f"EXPLAIN {_UNTYPED.replace('$1', 'CAST($1 AS integer)')}"
    assert server.exec_params(typed.encode(), [b"1"]).error_message == b""
    result = server.exec_(f"SELECT count(*) {_ORDERS} WHERE quantity = $1".encode())
    assert result.error_field(DiagnosticField.SQLSTATE) == b"42P02"
    assert result.error_field(DiagnosticField.MESSAGE_HINT) == POSTGRES_HINTS["42P02"].encode()
