"""Statements that are refused with a hint which shows SQL, and what it shows with names of the demo put in."""

from __future__ import annotations

from dataclasses import dataclass

_ORDERS = "FROM shop.orders"
_COUNT = f"SELECT count(*) {_ORDERS}"
_THINGS = "FROM kinds.things"
_HOUR = "date_trunc('hour', at)"
_BY_STATUS = f"(SELECT status, count(*) AS n {_ORDERS} GROUP BY status) q"
_JOINED = f"FROM shop.orders o JOIN {_BY_STATUS} ON q.status = o.status"
_OWNED = "FROM shop.customers c JOIN shop.orders o ON o.customer_id = c.id"
_PER_UNIT = f"(SELECT customer_id, count(*) AS n {_ORDERS} GROUP BY customer_id)"
_WITH_PRODUCTS = "FROM shop.products p LEFT JOIN shop.orders o ON o.product_id = p.id"
_WITH_ORDERS = "FROM shop.customers c LEFT JOIN shop.orders p ON p.customer_id = c.id"
_IN_ORDERS = "EXISTS (SELECT 1 FROM shop.orders o WHERE"

_TEN_DAYS = "generate_series(timestamptz '2024-01-01', timestamptz '2024-01-10', interval '1 day')"
_IN_OTHERS = (
    "EXISTS (SELECT 1 FROM shop.orders p WHERE p.customer_id = o.customer_id AND p.total > 100)"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class HintedStatement:
    """refused: gets the hint; shows: what then runs."""

    refused: str
    shows: tuple[str, ...]


def _case(refused: str, *shows: str) -> HintedStatement:
    return HintedStatement(refused=refused, shows=shows)


def _window(function: str, rest: str) -> str:
    over = f"{function} OVER (PARTITION BY customer_id {rest})"
    return f"SELECT count(x) FROM (SELECT {over} AS x {_ORDERS}) q"


_OF_BOTH = (
    f"SELECT count(DISTINCT c.id) FROM shop.customers c WHERE {_IN_ORDERS} o.customer_id = c.id AND"
    f" o.total > 100) AND {{}}{_IN_ORDERS} o.customer_id = c.id AND o.status = 'paid')"
)

HINTED: dict[str, HintedStatement] = {
    "Count people instead of rows: count(DISTINCT c.id) FROM customers c WHERE EXISTS (SELECT 1 FROM orders o"
    " WHERE o.customer_id = c.id AND ...) for each part; NOT EXISTS in place of EXCEPT.": _case(
        f"SELECT count(*) FROM (SELECT customer_id {_ORDERS} WHERE total > 100 INTERSECT SELECT customer_id"
        f" {_ORDERS} WHERE status = 'paid') q",
        _OF_BOTH.format(""),
        _OF_BOTH.format("NOT "),
    ),
    "Join by a longer unit in place of the column: date_trunc('day', column) <= day.": _case(
        f"SELECT g, count(*) FROM {_TEN_DAYS} g JOIN shop.orders o ON created_at <= g AND created_at >"
        " g - interval '7 days' GROUP BY g",
        # A column with bounds, which the shop's has not here.
        f"SELECT g, count(*) FROM {_TEN_DAYS.replace('2024', '2020')} g JOIN kinds.things o ON"
        " date_trunc('day', att) <= g AND date_trunc('day', att) > g - interval '7 days' GROUP BY g",
    ),
    "Compute on the other side, column / 2 > (SELECT avg(column) FROM table); or run the subquery by itself and"
    " write the number.": _case(
        f"{_COUNT} WHERE total > 2 * (SELECT avg(total) {_ORDERS})",
        f"{_COUNT} WHERE total / 2 > (SELECT avg(total) {_ORDERS})",
        f"{_COUNT} WHERE total > 2 * 60",
    ),
    "Ask several questions, or narrow the keys in WHERE (=, IN, BETWEEN).": _case(
        " UNION ALL ".join(f"SELECT {_HOUR}, count(*) + {n} {_THINGS} GROUP BY 1" for n in range(6)),
        f"SELECT {_HOUR}, count(*) {_THINGS} GROUP BY 1",
        " UNION ALL ".join(
            f"SELECT {_HOUR}, count(*) + {n} {_THINGS} WHERE at < '2020-01-09' GROUP BY 1"
            for n in range(6)
        ),
    ),
    "Group by its hour, extract(hour FROM column), or by bins of its seconds, floor(extract(epoch FROM column)"
    " / 1800).": _case(
        f"SELECT opens, count(*) {_THINGS} GROUP BY opens",
        f"SELECT extract(hour FROM opens), count(*) {_THINGS} GROUP BY 1",
        f"SELECT floor(extract(epoch FROM opens) / 1800), count(*) {_THINGS} GROUP BY 1",
    ),
    "Write {}(extract(epoch FROM later - earlier) / 86400), a number of days.": _case(
        f"SELECT avg(at - timestamptz '2020-01-01') {_THINGS}",
        f"SELECT avg(extract(epoch FROM at - timestamptz '2020-01-01') / 86400) {_THINGS}",
    ),
    "Write extract(hour FROM column), or extract(epoch FROM column), its seconds since midnight.": _case(
        f"SELECT count(*) {_THINGS} WHERE opens::text = '09:30:00'",
        f"SELECT min(extract(hour FROM opens)), max(extract(epoch FROM opens)) {_THINGS}",
    ),
    "Texts are ordered by their bytes; write lower(column) < 'b' without COLLATE.": _case(
        f"SELECT count(*) {_ORDERS} WHERE lower(status COLLATE \"C\") < 'b'",
        f"SELECT count(*) {_ORDERS} WHERE lower(status) < 'b'",
    ),
    "Put each side in brackets: (a || 'x') OPERATOR(pg_catalog.=) (b).": _case(
        f"SELECT count(*) {_ORDERS} WHERE status || 'x' OPERATOR(pg_catalog.=) 'ax'",
        f"SELECT count(*) {_ORDERS} WHERE (status || 'x') OPERATOR(pg_catalog.=) ('ax')",
    ),
    "Write the operator alone: column = 'a', column >= 1.": _case(
        f"SELECT count(*) {_ORDERS} WHERE status OPERATOR(pg_catalog.~<~) 'a'",
        f"SELECT count(*) {_ORDERS} WHERE status = 'a'",
        f"SELECT count(*) {_ORDERS} WHERE quantity >= 1",
    ),
    "Write percentile_cont(0.5) WITHIN GROUP (ORDER BY column).": _case(
        f"SELECT percentile_cont(1 + 0.5) WITHIN GROUP (ORDER BY total) {_ORDERS}",
        f"SELECT percentile_cont(0.5) WITHIN GROUP (ORDER BY total) {_ORDERS}",
    ),
    "Write power(column, 2) or log(2, column).": _case(
        f"SELECT avg(power(1 - 3, quantity)) {_ORDERS}",
        f"SELECT avg(power(quantity, 2)) {_ORDERS}",
        f"SELECT avg(log(2, greatest(quantity, 1))) {_ORDERS}",
    ),
    "Write round(column, 2).": _case(
        f"SELECT sum(round(total, 20 + 20)) {_ORDERS}",
        f"SELECT sum(round(total, 2)) {_ORDERS}",
    ),
    "Write width_bucket(column, 0, 100, 10).": _case(
        f"SELECT width_bucket(total, 100, 50 + 50, 10), count(*) {_ORDERS} GROUP BY 1",
        f"SELECT width_bucket(total, 0, 100, 10), count(*) {_ORDERS} GROUP BY 1",
    ),
    "Write values of a table of your own as a list: column IN (1, 2), column = ANY ($1).": _case(
        "SELECT count(*) FROM shop.orders o JOIN pg_type t ON t.typlen = o.quantity",
        f"SELECT count(*) {_ORDERS} WHERE quantity IN (1, 2)",
        f"SELECT count(*) {_ORDERS} WHERE quantity = ANY ('{{1,2}}')",
    ),
    "Write column < 'Infinity', column = 'NaN', or pass a finite number.": _case(
        f"SELECT sum(total + 'NaN'::numeric) {_ORDERS}",
        f"SELECT count(*) {_ORDERS} WHERE total < 'Infinity'",
        f"SELECT count(*) {_ORDERS} WHERE total = 'NaN'",
    ),
    "Group by what is in it: column ->> 'key', 'a' = ANY(column), cardinality(column), of an interval"
    " extract(epoch FROM column).": _case(
        f"SELECT tags, count(*) {_THINGS} GROUP BY tags",
        f"SELECT attrs ->> 'key', count(*) {_THINGS} GROUP BY 1",
        f"SELECT 'a' = ANY(tags), count(*) {_THINGS} GROUP BY 1",
        f"SELECT cardinality(tags), count(*) {_THINGS} GROUP BY 1",
        f"SELECT extract(epoch FROM lasted), count(*) {_THINGS} GROUP BY 1",
    ),
    "Write a constant, and a column beside it: column ->> 'key', column @> '{\"a\": 1}', 'a' ="
    " ANY(column).": _case(
        f"SELECT count(*) {_THINGS} WHERE attrs ->> txt = 'a'",
        f"SELECT count(*) {_THINGS} WHERE attrs ->> 'key' = 'a' AND attrs @> '{{\"a\": 1}}'"
        " AND 'a' = ANY(tags)",
    ),
    "Write column -> 'a' ->> 'b', and column -> 'a' ->> 0 for what is in an array.": _case(
        f"SELECT count(*) {_THINGS} WHERE attrs #>> '{{a,0}}' = 'x'",
        f"SELECT count(*) {_THINGS} WHERE attrs -> 'a' ->> 'b' = 'x' OR attrs -> 'a' ->> 0 = 'y'",
    ),
    "Count what is in an array one by one: count(*) FILTER (WHERE 'a' = ANY(column)). A list stands after IN:"
    " column IN (1, 2).": _case(
        f"SELECT unnest(tags), count(*) {_THINGS} GROUP BY 1",
        f"SELECT count(*) FILTER (WHERE 'a' = ANY(tags)) {_THINGS} WHERE int IN (1, 2)",
    ),
    """Write it like '{"key": "value"}', '["a"]' or '1', without \\\\u0000.""": _case(
        f"SELECT count(*) {_THINGS} WHERE attrs @> " + r"""'{"a": "\\u0000"}'""",
        f"""SELECT count(*) {_THINGS} WHERE attrs @> '{{"key": "value"}}' OR attrs @> '["a"]'"""
        " OR attrs @> '1'",
    ),
    "Ask for what is in them: column ->> 'key' = 'a', column @> '{\"key\": 1}', 'a' = ANY(column),"
    " cardinality(column) > 1, column IS NULL; an interval column > interval '1 day', a time"
    " column < '12:00'.": _case(
        f"SELECT count(*) {_THINGS} WHERE tags IS DISTINCT FROM tags",
        f"SELECT count(*) {_THINGS} WHERE attrs ->> 'key' = 'a' OR attrs @> '{{\"key\": 1}}' OR 'a' = ANY(tags)"
        " OR cardinality(tags) > 1 OR tags IS NULL OR lasted > interval '1 day'",
    ),
    "Write {}(0.5) WITHIN GROUP (ORDER BY column), with ARRAY[0.25, 0.5] for several.": _case(
        f"SELECT percentile_cont(ARRAY[0.5, NULL]) WITHIN GROUP (ORDER BY total) {_ORDERS}",
        f"SELECT percentile_cont(0.5) WITHIN GROUP (ORDER BY total) {_ORDERS}",
        f"SELECT percentile_disc(ARRAY[0.25, 0.5]) WITHIN GROUP (ORDER BY total) {_ORDERS}",
    ),
    "Take the percentiles one by one: percentile_cont(0.5) WITHIN GROUP (ORDER BY column).": _case(
        f"{_COUNT} WHERE total > (SELECT percentile_cont(ARRAY[0.5]) WITHIN GROUP (ORDER BY total)"
        f" {_ORDERS})[1]",
        f"{_COUNT} WHERE total > (SELECT percentile_cont(0.5) WITHIN GROUP (ORDER BY total) {_ORDERS})",
    ),
    "Divide by another constant, or the results of aggregates by each other, e.g. sum(a) / sum(b).": _case(
        f"SELECT sum(quantity / NULL) {_ORDERS}",
        f"SELECT sum(quantity / 2), sum(total) / sum(quantity) {_ORDERS}",
    ),
    "Divide by a constant, e.g. count(DISTINCT mod(a, 10)), or by nullif(column, 0) of a whole number.": _case(
        f"SELECT count(DISTINCT mod(quantity, quantity - 1)) {_ORDERS}",
        f"SELECT count(DISTINCT mod(quantity, 10)) {_ORDERS}",
        f"SELECT count(DISTINCT mod(quantity, nullif(quantity, 0))) {_ORDERS}",
    ),
    "Divide by a constant, e.g. sum(a / 10), by nullif(column, 0) of a whole number, or aggregates by each"
    " other, e.g. sum(a) / nullif(sum(b), 0).": _case(
        f"SELECT sum(total / (quantity - 1)) {_ORDERS}",
        f"SELECT sum(quantity / 10), sum(total) / nullif(sum(quantity), 0) {_ORDERS}",
        f"SELECT sum(total / nullif(quantity, 0)) {_ORDERS}",
    ),
    "Ask each table by itself, or look a value up in a public table: column IN (SELECT column FROM"
    " public_table).": _case(
        "SELECT count(*) FROM census.adult a WHERE EXISTS (SELECT 1 FROM census.adult b WHERE b.age = a.age)",
        f"{_COUNT} WHERE product_id IN (SELECT id FROM shop.products)",
    ),
    "Write the labels: {} IN ('{}').": _case(
        f"SELECT count(*) {_THINGS} WHERE mood < mood",
        f"SELECT count(*) {_THINGS} WHERE mood IN ('low')",
    ),
    "Cast the column to text: {}::text.": _case(
        f"SELECT coalesce(mood, 'low'), count(*) {_THINGS} GROUP BY 1",
        f"SELECT coalesce(mood::text, 'low'), count(*) {_THINGS} GROUP BY 1",
    ),
    "Compare the column as a text: column = '7'.": _case(
        f"{_COUNT} WHERE status::integer = 7", f"{_COUNT} WHERE status = '7'"
    ),
    "Round it first: round((...)::numeric, 2)::text, or floor(...)::text.": _case(
        f"SELECT count(*) {_THINGS} WHERE (double / 7)::text = '1'",
        f"SELECT count(*) {_THINGS} WHERE round((double / 7)::numeric, 2)::text = '1'",
        f"SELECT count(*) {_THINGS} WHERE floor(double / 7)::text = '1'",
    ),
    "GROUP BY it, or ask for a column with `values` in the policy.": _case(
        f"SELECT count(*) FROM shop.orders o JOIN (SELECT total, count(*) AS n {_ORDERS} GROUP BY total) q"
        " ON q.total = o.total",
        f"SELECT o.total, count(*) FROM shop.orders o JOIN (SELECT total, count(*) AS n {_ORDERS}"
        " GROUP BY total) q ON q.total = o.total GROUP BY o.total",
        f"SELECT count(*) {_JOINED}",
    ),
    "Bound all of the operand: greatest(column, 1) or least(column, 100) in place of a column.": _case(
        f"SELECT sum(ln(quantity - 1)) {_ORDERS}",
        f"SELECT sum(ln(greatest(quantity - 1, 1))), sum(sqrt(greatest(quantity, 1))) {_ORDERS}",
        f"SELECT sum(exp(least(big, 100))), sum(power(2, least(int, 100))) {_THINGS}",
    ),
    "Count or sum columns of the protected table, e.g. count(o.column), and group by those of the public one;"
    " or write JOIN, or LEFT JOIN with the public table on the right.": _case(
        f"SELECT p.category, count(*) {_WITH_PRODUCTS} GROUP BY p.category",
        f"SELECT p.category, count(o.quantity), sum(o.total) {_WITH_PRODUCTS} GROUP BY p.category",
        "SELECT p.category, count(*) FROM shop.products p JOIN shop.orders o ON o.product_id = p.id"
        " GROUP BY p.category",
        "SELECT p.category, count(*) FROM shop.orders o LEFT JOIN shop.products p ON o.product_id = p.id"
        " GROUP BY p.category",
    ),
    "Join the tables first and the other query last: FROM table JOIN table2 ON ... JOIN (SELECT ...) q ON"
    " ...": _case(
        f"SELECT count(*) {_JOINED} JOIN shop.customers c ON c.id = o.customer_id",
        f"SELECT count(*) {_OWNED} JOIN {_BY_STATUS} ON q.status = o.status",
    ),
    "Write count(*), with GROUP BY column, which has a row for each value.": _case(
        f"SELECT min(status) {_ORDERS}",
        f"SELECT status, count(*) {_ORDERS} GROUP BY status",
    ),
    "Write count(DISTINCT concat(a, '-', b)) for pairs of values.": _case(
        f"SELECT count(DISTINCT (status, quantity)) {_ORDERS}",
        f"SELECT count(DISTINCT concat(status, '-', quantity)) {_ORDERS}",
    ),
    "{} Or write JOIN, or begin with the protected table: FROM table LEFT JOIN (SELECT ...) q ON ...": _case(
        f"SELECT count(*) FROM {_BY_STATUS} LEFT JOIN shop.orders o ON q.status = o.status",
        f"SELECT count(*) FROM {_BY_STATUS} JOIN shop.orders o ON q.status = o.status",
        f"SELECT count(*) FROM shop.orders o LEFT JOIN {_BY_STATUS} ON q.status = o.status",
    ),
    "Take dp.error(...) in a SELECT that groups by what is joined or compared.": _case(
        f"SELECT dp.error(count(*)) {_JOINED}",
        f"SELECT o.status, dp.error(count(*)) {_JOINED} GROUP BY o.status",
    ),
    "Name what it says in a subquery of the table, and compare the name: FROM (SELECT *, EXISTS (SELECT 1 FROM"
    " ...) AS found FROM table) t JOIN (SELECT ...) q ON ... WHERE found OR q.n > 3.": _case(
        f"SELECT o.status, count(*) {_JOINED} WHERE {_IN_OTHERS} OR q.n > 3 GROUP BY o.status",
        f"SELECT o.status, count(*) FROM (SELECT *, {_IN_OTHERS} AS found FROM shop.orders o) o"
        f" JOIN {_BY_STATUS} ON q.status = o.status WHERE found OR q.n > 3 GROUP BY o.status",
    ),
    "Compare the units of both tables in it: EXISTS (... AND {}.{} = {}.{}); or write {}.{} IN (SELECT {}"
    " FROM {} WHERE ...).": _case(
        f"{_COUNT} o WHERE EXISTS (SELECT 1 FROM shop.orders p WHERE p.status = o.status)",
        f"{_COUNT} o WHERE EXISTS (SELECT 1 FROM shop.orders p WHERE p.status = o.status"
        " AND p.customer_id = o.customer_id)",
        f"{_COUNT} o WHERE o.customer_id IN (SELECT customer_id FROM shop.orders WHERE status = 'paid')",
    ),
    "Compare the units of both tables in it: table.unit = outer_table.unit, or along the reference.": _case(
        f"SELECT count(*) FROM (SELECT * {_ORDERS}) q WHERE EXISTS"
        " (SELECT 1 FROM shop.orders o WHERE o.status = q.status)",
        f"SELECT count(*) FROM (SELECT * {_ORDERS}) q WHERE EXISTS"
        " (SELECT 1 FROM shop.orders o WHERE o.customer_id = q.customer_id)",
    ),
    "Use names that do not begin with {}: SELECT sum(x) AS total ...": _case(
        f"SELECT sum(o.total) AS dp_b1 {_JOINED}", f"SELECT sum(o.total) AS total {_JOINED}"
    ),
    "Use count and sum, or GROUP BY all that is joined or compared with the answers.": _case(
        f"SELECT avg(o.total) {_JOINED}",
        f"SELECT count(*), sum(o.total) {_JOINED}",
        f"SELECT o.status, avg(o.total) {_JOINED} GROUP BY o.status",
    ),
    "Write to_char(column, 'YYYY-MM-DD HH24:MI:SS').": _case(
        f"SELECT count(at::text) {_THINGS}",
        f"SELECT count(to_char(at, 'YYYY-MM-DD HH24:MI:SS')) {_THINGS}",
        f"SELECT count(to_char(att, 'YYYY-MM-DD HH24:MI:SS')) {_THINGS}",
    ),
    "Use numbers, dates and texts; of a number with digits after its point round(column::numeric, 2).": _case(
        f"SELECT count(uid::text) {_THINGS}",
        f"SELECT count(round(double::numeric, 2)::text), count(round(num::numeric, 2)::text) {_THINGS}",
        f"SELECT count(int::text), count(day::text), count(txt::text) {_THINGS}",
    ),
    "Write the query out: {} SELECT ...; EXECUTE by itself runs it.": _case(
        f"PREPARE own AS {_COUNT}; EXPLAIN EXECUTE own",
        f"EXPLAIN {_COUNT}",
        f"PREPARE shown AS {_COUNT}; EXECUTE shown",
    ),
    "Leave the cast to real out, or round to digits: round(column::numeric, 4).": _case(
        f"SELECT count(*) {_THINGS} WHERE double::real = 1",
        f"SELECT count(*) {_THINGS} WHERE double = 1",
        f"SELECT count(*) {_THINGS} WHERE round(double::numeric, 4) = 1",
    ),
    "Cast to integer, bigint, numeric, numeric(10, 2), double precision, text, varchar(10) or date, or write"
    " date_trunc('second', column) for timestamp(0) and left(column, 10) for char(10).": _case(
        f"SELECT count(int::money) {_THINGS}",
        f"SELECT count(num2::integer), count(int::bigint), count(int::numeric) {_THINGS}",
        f"SELECT count(int::numeric(10, 2)), count(int::double precision), count(int::text) {_THINGS}",
        f"SELECT count(int::varchar(10)), count(at::date), count(date_trunc('second', at)) {_THINGS}",
        f"SELECT left(status, 10), count(*) {_ORDERS} GROUP BY 1",
    ),
    "Cast to numeric(p, s) with p below {}, s from 0 to {} and not above p.": _case(
        f"SELECT count(num2::numeric(5, 7)) {_THINGS}",
        f"SELECT count(num2::numeric(399, 0)), count(num2::numeric(399, 20)) {_THINGS}",
    ),
    "Write it with the operator: coalesce(column, '') || 'a'.": _case(
        f"SELECT concat(ch, 'a'), count(*) {_THINGS} GROUP BY 1",
        f"SELECT coalesce(ch, '') || 'a', count(*) {_THINGS} GROUP BY 1",
    ),
    "To a column of a date or timestamp add a constant, column + interval '1 day'; from one take another,"
    " extract(epoch FROM ended - started), of dates ended - started.": _case(
        f"SELECT count(*) {_THINGS} WHERE day + int > '2020-02-01'",
        f"SELECT count(*) {_THINGS} WHERE day + interval '1 day' > '2020-02-01'",
        f"SELECT count(*) {_THINGS} WHERE at + interval '1 day' > '2020-02-01'",
        f"SELECT sum(extract(epoch FROM at - day)), sum(at::date - day) {_THINGS}",
    ),
    "Write date_bin('15 minutes', column, timestamp '2001-01-01') of a timestamp, timestamptz '2001-01-01"
    " 00:00:00+00' of one with time zone.": _case(
        f"SELECT count(date_bin('15 minutes', att, timestamp '2001-01-01')) {_THINGS}",
        f"SELECT count(date_bin('15 minutes', at, timestamp '2001-01-01')) {_THINGS}",
        f"SELECT count(date_bin('15 minutes', att, timestamptz '2001-01-01 00:00:00+00')) {_THINGS}",
    ),
    "Write extract(year FROM age(current_date, column)), or a difference, extract(day FROM ended - started),"
    " of dates ended - started.": _case(
        "SELECT avg(extract(day FROM age(current_date, birth_date))) FROM shop.customers",
        "SELECT avg(extract(year FROM age(current_date, birth_date))) FROM shop.customers",
        "SELECT avg(current_date - birth_date) FROM shop.customers",
        f"SELECT avg(extract(day FROM at - day)) {_THINGS}",
    ),
    "Cast them to one type: {} UNION ALL {}.": _case(
        f"SELECT sum(x) FROM (SELECT quantity AS x {_ORDERS} UNION ALL SELECT total {_ORDERS}) q",
        f"SELECT sum(x) FROM (SELECT quantity::numeric AS x {_ORDERS} UNION ALL SELECT total {_ORDERS}) q",
        f"SELECT count(*) FROM (SELECT small::bigint AS x {_THINGS} UNION ALL SELECT int::bigint {_THINGS}) q",
        f"SELECT count(*) FROM (SELECT day::timestamp {_THINGS} UNION ALL SELECT at {_THINGS}) q",
    ),
    "Count rows by count(*), and those with a value by count({}).": _case(
        f"SELECT count(p) {_WITH_ORDERS}",
        f"SELECT count(*), count(p.id) {_WITH_ORDERS}",
    ),
    "Join the public table on its key, and compare in WHERE: SELECT count(*) FROM t JOIN public_table p ON"
    " p.id = t.public_id WHERE p.column = t.column.": _case(
        f"{_COUNT} t WHERE product_id IN (SELECT p.id FROM shop.products p WHERE p.price = total)",
        f"{_COUNT} t JOIN shop.products p ON p.id = t.product_id WHERE p.price = t.total",
    ),
    "GROUP BY it beside what is joined: SELECT t.k, q.n, count(*) FROM table t JOIN (SELECT ...) q ON q.k ="
    " t.k GROUP BY t.k, q.n; or aggregate the table in a subquery, too, and join the two.": _case(
        f"SELECT o.status, max(q.n) {_JOINED} GROUP BY 1",
        f"SELECT o.status, q.n, count(*) {_JOINED} GROUP BY o.status, q.n",
        f"SELECT sum(q.n * o.n) FROM (SELECT status, count(*) AS n {_ORDERS} GROUP BY status) o"
        f" JOIN {_BY_STATUS} ON q.status = o.status",
    ),
    "Write it with ON a.key = b.key.": _case(
        "SELECT count(quantity) FROM (SELECT product_id AS id, quantity FROM shop.orders) a"
        " FULL JOIN shop.products b USING (id)",
        "SELECT count(quantity) FROM (SELECT product_id AS id, quantity FROM shop.orders) a"
        " FULL JOIN shop.products b ON a.id = b.id",
    ),
    "Put that condition into WHERE, or into a subquery of the public table.": _case(
        f"SELECT count(o.quantity) {_WITH_PRODUCTS} AND p.price > 5",
        f"SELECT count(o.quantity) {_WITH_PRODUCTS} WHERE p.price > 5",
        "SELECT count(o.quantity) FROM (SELECT id FROM shop.products WHERE price > 5) p"
        " LEFT JOIN shop.orders o ON o.product_id = p.id",
    ),
    "Use LEFT JOIN on the privacy unit, or aggregate their rows together: FROM (SELECT ... FROM a UNION ALL"
    " SELECT ... FROM b) q.": _case(
        "SELECT count(*) FROM shop.orders o FULL JOIN shop.customers c ON c.id = o.customer_id",
        "SELECT count(*) FROM shop.customers c LEFT JOIN shop.orders o ON c.id = o.customer_id",
        f"SELECT count(*) FROM (SELECT customer_id {_ORDERS} UNION ALL SELECT id FROM shop.customers) q",
    ),
    "GROUP BY the unit alone there: SELECT avg(n) FROM (SELECT unit, count(*) AS n FROM table GROUP BY unit)"
    " q.": _case(
        f"SELECT avg(n) FROM (SELECT customer_id, count(*) AS n {_ORDERS} GROUP BY ROLLUP (customer_id)) q",
        f"SELECT avg(n) FROM {_PER_UNIT} q",
    ),
    "Write the key in both places with the same words, e.g. GROUPING(column).": _case(
        "SELECT grouping(state::text), count(*) FROM shop.customers GROUP BY ROLLUP (state)",
        "SELECT grouping(state), count(*) FROM shop.customers GROUP BY ROLLUP (state)",
        f"SELECT grouping(small + 1), count(*) {_THINGS} GROUP BY ROLLUP (small + 1)",
    ),
    "Compare the privacy unit of both by =: EXISTS (SELECT 1 FROM orders o WHERE o.unit = c.unit AND o.total >"
    " 100). Beside it other columns can be equal, and in EXISTS one can be compared otherwise.": _case(
        f"SELECT count(*) FROM shop.customers c WHERE {_IN_ORDERS} o.total > 100)",
        f"SELECT count(*) FROM shop.customers c WHERE {_IN_ORDERS} o.customer_id = c.id AND o.total > 100)",
        f"{_COUNT} c WHERE {_IN_ORDERS} o.customer_id = c.customer_id AND o.status = c.status"
        " AND o.total > c.total)",
    ),
    "Compare one column: EXISTS (SELECT 1 FROM public_table p WHERE p.id = t.public_id AND ...).": _case(
        f"{_COUNT} t WHERE EXISTS (SELECT 1 FROM shop.products p WHERE p.id > t.product_id)",
        f"{_COUNT} t WHERE EXISTS (SELECT 1 FROM shop.products p WHERE p.id = t.product_id AND price > 10)",
    ),
    "Join the other query in the SELECT that aggregates: SELECT k, count(*) FROM table JOIN (SELECT ...) q ON"
    " k = q.k GROUP BY k.": _case(
        f"SELECT count(*) FROM (SELECT o.total {_JOINED}) s",
        f"SELECT o.status, count(*) FROM shop.orders o JOIN {_BY_STATUS} ON o.status = q.status"
        " GROUP BY o.status",
    ),
    "Allowed are comparisons, + - * / and ||, CASE, LIKE, {} and {}.": _case(
        f"SELECT count(repeat(status, 2)) {_ORDERS}",
        f"{_COUNT} WHERE CASE WHEN status || 'x' LIKE 'p%' THEN (quantity + 1 - 2) * 3 / 2 ELSE 0 END > 1",
    ),
    "Write it in WHERE, or join a subquery that groups by the privacy unit.": _case(
        f"SELECT count(*) {_OWNED} AND EXISTS (SELECT 1 FROM shop.orders p WHERE p.customer_id = c.id)",
        f"SELECT count(*) {_OWNED} WHERE EXISTS (SELECT 1 FROM shop.orders p WHERE p.customer_id = c.id)",
        f"SELECT count(*) {_OWNED} JOIN {_PER_UNIT} p ON p.customer_id = c.id",
    ),
    "Use letters, ., .*, ( ), |, ?, ^ and $ at the outside, and a backslash before other marks:"
    " column ~ '^(a|b).*c$'; or LIKE: column LIKE 'a%' OR column LIKE 'b%'.": _case(
        rf"{_COUNT} WHERE status ~ '^\w+$'",
        rf"{_COUNT} WHERE status ~ '^(p|s).h?.*e\.?d$'",
        f"{_COUNT} WHERE status ~ '^(p|s).*d$'",
        f"{_COUNT} WHERE status LIKE 'p%' OR status LIKE 's%'",
    ),
    "Each row is alone in its partition there: leave the window out, or use it over answers of a subquery with"
    " GROUP BY.": _case(
        "SELECT count(*) FROM (SELECT row_number() OVER (PARTITION BY age) AS r FROM census.adult) q",
        "SELECT age, rank() OVER (ORDER BY n) FROM (SELECT age, count(*) AS n FROM census.adult"
        " GROUP BY age) q",
    ),
    "For bins of one width write width_bucket(column, 0, 100, 4); for those of as many rows ask for edges,"
    " percentile_disc(0.25) WITHIN GROUP (ORDER BY column).": _case(
        f"SELECT b, count(*) FROM (SELECT ntile(4) OVER (ORDER BY total) AS b {_ORDERS}) q GROUP BY b",
        f"SELECT width_bucket(total, 0, 100, 4), count(*) {_ORDERS} GROUP BY 1",
        f"SELECT percentile_disc(0.25) WITHIN GROUP (ORDER BY total) {_ORDERS}",
    ),
    "Leave the frame out, or write ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW, or ROWS BETWEEN UNBOUNDED"
    " PRECEDING AND UNBOUNDED FOLLOWING.": _case(
        _window("sum(total)", "ORDER BY total ROWS 3 PRECEDING"),
        _window("sum(total)", "ORDER BY total"),
        _window("sum(total)", "ORDER BY total ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW"),
        _window("sum(total)", "ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING"),
    ),
    "Over the rows of a unit there are row_number, rank, dense_rank, lag, lead, first_value, last_value, count,"
    " sum, avg, min and max: row_number() OVER (PARTITION BY unit ORDER BY column).": _case(
        _window("variance(total)", "ORDER BY total"),
        _window("row_number()", "ORDER BY total"),
        _window("lag(total)", "ORDER BY total"),
        _window("max(total)", ""),
    ),
    "Write OVER (PARTITION BY {} ...), also with further keys; or group first, and use the window over the"
    " answers.": _case(
        f"SELECT count(*) FROM (SELECT row_number() OVER (ORDER BY total) AS r {_ORDERS}) q WHERE r = 1",
        _window("row_number()", "ORDER BY total"),
        _window("row_number()", ", status ORDER BY total"),
        f"SELECT status, rank() OVER (ORDER BY count(*)) {_ORDERS} GROUP BY status",
    ),
    "Write lag(column) or lag(column, 2), of {} at most.": _case(
        _window("lag(total, 5000)", "ORDER BY total"),
        _window("lag(total)", "ORDER BY total"),
        _window("lag(total, 2)", "ORDER BY total"),
    ),
    "Write coalesce(lag(column), 0) for another value than NULL.": _case(
        _window("lag(total, 1, 0)", "ORDER BY total"),
        _window("lag(total)", "ORDER BY total").replace("count(x)", "sum(coalesce(x, 0))"),
    ),
    "Use it of one condition, with FILTER (WHERE ...) if need be: bool_or(column > 5).": _case(
        f"SELECT bool_or(DISTINCT total > 5) {_ORDERS}",
        f"SELECT bool_or(total > 5) {_ORDERS}",
        f"SELECT every(total > 5) FILTER (WHERE quantity > 1) {_ORDERS}",
    ),
    "Ask for its most frequent value as SELECT x FROM table GROUP BY x ORDER BY count(*) DESC LIMIT 1, where x"
    " is the column.": _case(
        f"SELECT mode() WITHIN GROUP (ORDER BY status) {_ORDERS}",
        f"SELECT status {_ORDERS} GROUP BY status ORDER BY count(*) DESC LIMIT 1",
    ),
    "Give the groups' columns other names and compare those: SELECT * FROM (SELECT column AS k, count(*) AS n"
    " FROM table GROUP BY column) q WHERE EXISTS (SELECT 1 FROM other o WHERE o.x = q.k).": _case(
        f"SELECT status, (SELECT count(orders.status)) {_ORDERS} GROUP BY status",
        f"SELECT * FROM (SELECT status AS k, count(*) AS n {_ORDERS} GROUP BY status) q WHERE EXISTS"
        " (SELECT 1 FROM shop.products o WHERE o.title = q.k)",
    ),
    "Answer it for each group and join the answers: FROM (SELECT column AS k, count(*) AS n FROM table GROUP BY"
    " column) q JOIN (SELECT column AS k, count(*) AS m FROM other GROUP BY column) p ON p.k = q.k.": _case(
        f"SELECT status, (SELECT count(*) {_ORDERS} i WHERE i.status = o.status) {_ORDERS} o GROUP BY status",
        f"SELECT * FROM (SELECT status AS k, count(*) AS n {_ORDERS} GROUP BY status) q JOIN"
        f" (SELECT status AS k, count(*) AS m {_ORDERS} WHERE total > 5 GROUP BY status) p ON p.k = q.k",
    ),
    "Write it with the name or the alias of its table: SELECT o.x FROM other o.": _case(
        f"SELECT status, (SELECT max(status) FROM pg_catalog.generate_series(1, 2) status) {_ORDERS}"
        " GROUP BY status",
        f"SELECT status, (SELECT max(status.status) FROM pg_catalog.generate_series(1, 2) status) {_ORDERS}"
        " GROUP BY 1",
    ),
    "Give the table in the subquery an alias that is used nowhere else: SELECT a.x FROM other a.": _case(
        "SELECT status, (SELECT max(x) FROM generate_series(1, 2) o, LATERAL (SELECT o.o AS x) l)"
        f" {_ORDERS} o GROUP BY status",
        "SELECT status, (SELECT max(x) FROM generate_series(1, 2) g, LATERAL (SELECT g.g AS x) l)"
        f" {_ORDERS} o GROUP BY status",
    ),
    "Give the column around it another name, as in (SELECT {} AS other, ...) o, and write o.other.": _case(
        f"SELECT n FROM (SELECT 'paid' AS k1) o, LATERAL (SELECT count(*) AS n {_ORDERS} GROUP BY status HAVING"
        " status = k1) z",
        f"SELECT n FROM (SELECT 'paid' AS other) o, LATERAL (SELECT count(*) AS n {_ORDERS} GROUP BY status"
        " HAVING status = o.other) z",
    ),
    "Write the join as a subquery: FROM (SELECT * FROM a JOIN b ON b.x = a.x) q.": _case(
        "SELECT k, count(*) FROM (shop.orders o JOIN shop.products p ON p.id = o.product_id) q(k) GROUP BY 1",
        f"SELECT q.category, count(*) FROM (SELECT * {_ORDERS} o JOIN shop.products p ON p.id = o.product_id) q"
        " GROUP BY 1",
    ),
}  # fmt: skip
