"""Functions and operators over the columns of sales (sales_data.py), as people and tools write them."""

from __future__ import annotations

COUNT = "SELECT count(*) FROM w.sales"

# The first columns are keys, the last is an answer.
GROUPED = (
    # what tools write: bins, months, parts of dates
    "SELECT (FLOOR(age / 10) * 10 || ' - ' || (FLOOR(age / 10) + 1) * 10 - 1) AS r, FLOOR(age / 10)"
    " * 10 AS o,"
    " count(*) FROM w.sales GROUP BY 1, 2",
    "SELECT extract(year FROM day) || '-' || extract(month FROM day) AS m, count(*) FROM w.sales GROUP BY 1",
    "SELECT extract(year FROM at)::int::text || '-' || lpad(extract(month FROM at)::text, 2, '0')"
    " AS m, count(*)"
    " FROM w.sales WHERE at >= '2023-11-01' AND at < '2024-03-01' GROUP BY 1",
    "SELECT (CASE WHEN left(CAST(extract(year FROM day) AS varchar), 4000) IS NOT NULL THEN"
    " left(CAST(extract(year FROM day) AS varchar), 4000) ELSE '' END) || ('-' || (CASE WHEN"
    " CAST(extract(month FROM day) AS varchar) IS NOT NULL THEN CAST(extract(month FROM day) AS varchar)"
    " ELSE '' END)) AS m, count(*) FROM w.sales GROUP BY 1",
    "SELECT extract(month FROM day) AS m, CAST(CAST(((((extract(year FROM day) * 100) + 1) * 100) +"
    " 1) AS varchar)"
    " AS date) AS y, count(*) FROM w.sales GROUP BY 1, 2",
    "SELECT ((extract(month FROM day) - 1) % 3) + 1 AS q, count(*) FROM w.sales GROUP BY 1",
    "SELECT mod(extract(month FROM day), 4) AS q, extract(quarter FROM day)::text AS k, count(*) FROM w.sales"
    " GROUP BY 1, 2",
    "SELECT to_char(day, 'YYYY')::int AS y, count(*) FROM w.sales GROUP BY 1",
    "SELECT 'Q' || extract(quarter FROM day) || ' ' || extract(year FROM day) AS q, extract(year"
    " FROM day) AS y,"
    " count(*) FROM w.sales GROUP BY 1, 2",
    "SELECT day::text AS d, count(*) FROM w.sales WHERE day < '2023-03-01' GROUP BY 1",
    # texts of times read as numbers, and numbers of subqueries printed
    "SELECT m, count(*) FROM (SELECT to_char(at, 'YYYYMM')::int AS m FROM w.sales) q WHERE m >"
    " 202306 GROUP BY m",
    "WITH q AS (SELECT to_char(day, 'YYYY')::int AS y, age / 10 AS a FROM w.sales)"
    " SELECT y::text || '-' || a AS k, count(*) FROM q GROUP BY 1",
    "SELECT lpad(n::text, 4, '0') AS k, m::varchar AS p, count(*) FROM (SELECT parts * 2 AS n,"
    " date_part('quarter', day) AS m FROM w.sales) q GROUP BY 1, 2",
    "SELECT (k || '-01')::date AS d, count(*) FROM (SELECT to_char(at, 'YYYY-MM') AS k FROM"
    " w.sales) q GROUP BY 1",
    "SELECT d, count(*) FROM (SELECT (to_char(at, 'YYYY-MM') || '-01')::date AS d FROM w.sales) q GROUP BY d",
    "SELECT n, count(*) FROM (SELECT CASE WHEN age > 40 THEN '1' ELSE '-2' END::int AS n FROM"
    " w.sales) q GROUP BY n",
    "SELECT CASE WHEN to_char(at, 'DD')::int < 15 THEN 'a' ELSE 'b' END AS h, count(*) FROM w.sales GROUP BY 1",
    "SELECT date_part('epoch', date_trunc('month', at)) AS e, count(*) FROM w.sales GROUP BY 1",
    "SELECT extract(epoch FROM day) AS e, count(*) FROM w.sales WHERE to_char(day, 'YYYYMM')::int ="
    " 202305 GROUP BY 1",
    # texts
    "SELECT state || '/' || size AS k, count(*) FROM w.sales GROUP BY 1",
    "SELECT concat(state, ' ', kind, ' ', is_new) AS k, count(*) FROM w.sales GROUP BY 1",
    "SELECT concat_ws(', ', state, size::text) AS k, state, count(*) FROM w.sales GROUP BY 1, 2",
    "SELECT initcap(state) AS k, upper(state) || '!' AS u, count(*) FROM w.sales GROUP BY 1, 2",
    "SELECT split_part(state, '-', 1) AS k, count(*) FROM w.sales GROUP BY 1",
    "SELECT replace(state, '-', ' ') AS k, reverse(state) AS r, count(*) FROM w.sales GROUP BY 1, 2",
    "SELECT rpad(state, 7, '.') AS k, lpad(state, 2) AS p, count(*) FROM w.sales GROUP BY 1, 2",
    "SELECT trim(both 'n' from state) AS k, position('t' in state) AS p, count(*) FROM w.sales GROUP BY 1, 2",
    "SELECT is_new::text AS k, count(*) FROM w.sales GROUP BY 1",
    "SELECT k.title || ' ' || k.price AS t, count(*) FROM w.sales s JOIN w.kinds k ON k.id = s.kind"
    " GROUP BY 1",
    "SELECT state::varchar(3) AS k, count(*) FROM w.sales GROUP BY 1",
    # numbers
    "SELECT round(age, -1) AS k, count(*) FROM w.sales GROUP BY 1",
    "SELECT (age / 10)::text AS k, count(*) FROM w.sales GROUP BY 1",
    "SELECT round(spent / 100, 1)::numeric(4, 1) AS k, count(*) FROM w.sales GROUP BY 1",
    "SELECT CASE WHEN age < 30 THEN 'young ' || size ELSE 'old' END AS k, count(*) FROM w.sales GROUP BY 1",
    "SELECT (is_new = true) AS k, count(*) FROM w.sales GROUP BY 1",
    # keys that are not listed
    "SELECT word || '.' AS k, count(*) FROM w.sales WHERE word IS NOT NULL GROUP BY 1",
    "SELECT note || ' ' || parts AS k, count(*) FROM w.sales WHERE note IS NOT NULL GROUP BY 1",
    "SELECT split_part(note, ' ', 2) AS k, count(*) FROM w.sales WHERE note IS NOT NULL GROUP BY 1",
)
ANSWERS = (
    # conditions
    f"{COUNT} WHERE word || note = 'anote 2'",
    f"{COUNT} WHERE concat(word, note) = 'note 8' OR concat_ws('-', word, note, parts) = 'a-3'",
    f"{COUNT} WHERE state || '/' || age = 'south/30'",
    f"{COUNT} WHERE spent::text = '12.50' OR age::text LIKE '4%'",
    f"{COUNT} WHERE lower(trim(word)) = 'xy' AND reverse(trim(word)) = 'yx'",
    f"{COUNT} WHERE initcap(state) = 'North-East' OR replace(note, 'note ', '') = '7'",
    f"{COUNT} WHERE lpad(age::text, 3, '0') > '050' AND rpad(word, 3, '*') = 'a**'",
    f"{COUNT} WHERE split_part(state, '-', -1) = 'east' AND split_part(note, ' ', 3) = ''",
    f"{COUNT} WHERE CASE WHEN strpos(substring(state, 1), 'th') > 0 THEN strpos(substring(state,"
    " 1), 'th') + 1 - 1"
    " ELSE 0 END > 3",
    f"{COUNT} WHERE length(note) * 2 = 12 AND char_length(word) < 5",
    f"{COUNT} WHERE ((word IS NOT NULL) = true) AND ((age > 30) <> false)",
    f"{COUNT} WHERE (age > 30) = is_new AND (is_paid OR is_new) IS DISTINCT FROM true",
    f"{COUNT} WHERE (age > 40 AND is_new) IS NOT TRUE AND (CASE WHEN age > 50 THEN is_new END) = false",
    f"{COUNT} WHERE day::text LIKE '2023-0%' AND is_paid::text = 'true'",
    f"{COUNT} WHERE spent / nullif(parts, 0) > 30 AND age % nullif(parts, 0) = 1",
    f"{COUNT} WHERE sqrt(age) > 6 AND ln(weight) < 2 AND power(parts, 2) > 8 AND log(weight) > 0.5",
    f"{COUNT} FILTER (WHERE ('x' || size) = 'xlarge') FROM w.sales".replace(
        "SELECT count(*) FROM w.sales FILTER", "SELECT count(*) FILTER"
    ),
    f"{COUNT} WHERE to_char(at, 'MM')::int BETWEEN 3 AND 5 OR to_char(day, 'FMDD')::smallint = 7",
    f"{COUNT} WHERE to_char(day, 'YYYY-MM-DD')::date < '2023-03-01' AND age::text::bigint > 40",
    f"{COUNT} WHERE note::varchar(4) = 'note' AND mod(spent, 2.5) = 0",
    "SELECT count(DISTINCT state || size) FROM w.sales",
    # sums and means
    "SELECT sum(spent / weight) FROM w.sales",
    "SELECT sum(age / nullif(parts, 0)), sum(spent / nullif(parts, 0)), sum(age % nullif(parts, 0))"
    " FROM w.sales",
    "SELECT sum(ln(age)), sum(log(spent + 1)), sum(log(2.0, spent + 1)), sum(log10(weight)) FROM w.sales",
    "SELECT sum(sqrt(spent)), sum(|/ weight), sum(exp(-parts)), sum(exp(spent / 100)) FROM w.sales",
    "SELECT sum(power(age, 2)), sum(age ^ 0.5), sum(power(weight, -1)), sum(2 ^ parts), sum(parts ^ 3)"
    " FROM w.sales",
    "SELECT sum(round(spent, -1)), sum(trunc(spent, -2)), sum(spent::numeric(5, 1)),"
    " sum((weight * 3.01)::int) FROM w.sales",
    "SELECT sum((age > 40)::int), avg(is_new::int), avg((is_paid)::int), avg((parts = 3)::int) FROM w.sales",
    "SELECT sum(length(word)), avg(length(state)), max(length(left(note, 6))) FROM w.sales",
    "SELECT sum(strpos(word, '-')), sum(to_char(day, 'MMDD')::int), avg(to_char(day, 'IDQ')::int) FROM w.sales",
    "SELECT sum(mod(spent, 3)), sum((age + parts) % 4), sum(div) FROM (SELECT spent, age, parts,"
    " age / 7 AS div"
    " FROM w.sales) q",
    "SELECT sum(greatest(weight, 2) / least(age, 20)) FROM w.sales",
    "SELECT sum(spent * k) FROM (SELECT spent, char_length(state) AS k FROM w.sales) q",
)
# Arrays of answers, in groups too; each element within some ranks of PostgreSQL's.
ARRAYS = (
    "SELECT percentile_cont(ARRAY[0.25,0.5,0.75]) WITHIN GROUP (ORDER BY age) FROM w.sales",
    "SELECT percentile_disc(ARRAY[0.25, 0.9]::float8[]) WITHIN GROUP (ORDER BY age DESC)"
    " FILTER (WHERE is_new) AS p FROM w.sales",
    "SELECT state, percentile_disc('{0.1,0.5}'::double precision[]) WITHIN GROUP (ORDER BY spent)"
    " FROM w.sales GROUP BY state ORDER BY state",
    "SELECT state, (percentile_cont(ARRAY[0.25,0.5]) WITHIN GROUP (ORDER BY weight))[2] AS m,"
    " avg(age) FROM w.sales GROUP BY 1 HAVING"
    " (percentile_cont(ARRAY[0.25,0.5]) WITHIN GROUP (ORDER BY weight))[1] > 2 ORDER BY 1",
    "SELECT unnest(percentile_disc(ARRAY[0.25,0.5]) WITHIN GROUP (ORDER BY parts)) FROM w.sales",
)
KINDS = "FROM w.sales s JOIN w.kinds k ON k.id = s.kind"
# Columns of a public table, whose bounds are what it holds, alone and beside protected ones.
PUBLIC_SUMS = (
    f"SELECT sum(k.price), avg(k.price), min(price), max(price), sum(price * 2 + 1) {KINDS}",
    f"SELECT sum(s.parts * k.price), avg(s.spent / k.price), sum(k.price) FILTER (WHERE s.is_new) {KINDS}",
    f"SELECT sum(pounds), avg(pounds * parts), count(pounds), max(pounds), stddev(price) {KINDS}",
    f"SELECT corr(price, parts), covar_pop(k.price, s.age), variance(k.id * price) {KINDS}",
    f"SELECT sum(price), sum(parts * price) {KINDS} WHERE k.price * 2 > 1 AND k.title <> 'tea'",
    "SELECT sum(k.price) FROM w.kinds k LEFT JOIN w.sales s ON k.id = s.kind AND s.age > 0"
    " WHERE s.person IS NOT NULL",
    f"SELECT sum(v) FROM (SELECT s.person, sum(k.price * s.parts) AS v {KINDS} GROUP BY s.person) q",
    f"SELECT sum(v), avg(w) FROM (SELECT k.price + 1 AS v, s.spent * k.price AS w {KINDS}) q",
    "SELECT sum(q.p * s.parts) FROM w.sales s JOIN (SELECT id, price * 3 AS p FROM w.kinds WHERE id < 3) q"
    " ON q.id = s.kind",
    f"SELECT sum(extract(year FROM k.since)), count(k.since) {KINDS}",
    f"SELECT sum(CASE WHEN k.title = 'tea' THEN k.price ELSE s.spent END),"
    f" sum(greatest(price, parts)) {KINDS}",
)
_OF_KINDS = f"SELECT count(*) {KINDS} WHERE"
# What PostgreSQL compares as it stands, and what in another type; lists with what is evaluated.
COMPARED = (
    *(
        f"{_OF_KINDS} k.pounds = {n}"
        for n in ("0.1", "0.1::real", "'0.1'", "0.1::float8", "0.1::real::numeric")
    ),
    *(
        f"{_OF_KINDS} k.pounds {c}"
        for c in ("IN (0.1, 2)", "IN (0.1, 2::float8)", "= ANY(ARRAY[0.1]::real[])")
    ),
    f"{_OF_KINDS} k.pounds = ANY('{{0.1,2.7}}') OR k.pounds < 0.1",
    f"{_OF_KINDS} k.pounds::float8 = 0.1::real OR coalesce(k.pounds, 0) IN (2.7::real)",
    f"{_OF_KINDS} k.price = 1.5::real OR s.weight = 1.1::real OR s.spent / 10 = 0.1::real",
    f"{_OF_KINDS} k.code = ANY(ARRAY['bc', 'a']::text[])",
    f"{_OF_KINDS} k.code = ANY(ARRAY['bc  ']::text[])",
    f"{_OF_KINDS} k.code <> ALL(ARRAY['bc  ', 'a']::text[]) AND k.code = ANY(ARRAY['bc  ']::varchar[])",
    "SELECT count(*) FROM w.sales WHERE kind IN (SELECT id FROM w.kinds WHERE since < now() - interval '1 day'"
    " AND title = lower('TEA'))",
    "SELECT count(*) FROM w.sales WHERE kind IN (SELECT id FROM w.kinds WHERE title = ANY(ARRAY['tea', 'x']))",
)
