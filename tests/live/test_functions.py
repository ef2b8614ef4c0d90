"""Functions and operators over protected columns: groups, labels, types and values as PostgreSQL has them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from datetime import date, time
from decimal import Decimal

import psycopg
import pytest

from tests.live.day_statements import ANSWERS_OF_DAY, GROUPED_OF_DAY, REFUSED_OF_DAY
from tests.live.inside_statements import ANSWERS_INSIDE, GROUPED_INSIDE, REFUSED_INSIDE
from tests.live.served_database import served_database
from tests.live_proxy import LiveProxy, start_proxy
from tests.servers_fixture import servers

_ROWS = 6_000
_SCRIPT = f"""\
CREATE SCHEMA w;
CREATE TYPE w.size AS ENUM ('small', 'large');
CREATE TABLE w.kinds (id int PRIMARY KEY, title text NOT NULL, price numeric(6,2) NOT NULL,
 pounds real, since date, code char(4) DEFAULT 'bc', opens time);
INSERT INTO w.kinds (id, title, price, pounds, since, opens) VALUES
(1, 'tea', 1.50, 0.1, '2020-02-29', '08:00'), (2, 'salt', 0.25, 'NaN', '2021-05-31', '12:30'),
(3, 'rye bread', 3.00, 2.7, NULL, '24:00');
UPDATE w.kinds SET pounds = NULL WHERE id = 2;
CREATE TABLE w.sales
(person int PRIMARY KEY, age int NOT NULL, spent numeric(8,2) NOT NULL, parts int NOT NULL,
weight float8 NOT NULL, state text NOT NULL, word varchar(12), note text,
is_new boolean NOT NULL, is_paid boolean, day date NOT NULL,
at timestamptz NOT NULL, size w.size NOT NULL, kind int NOT NULL REFERENCES w.kinds,
attrs jsonb, tags text[], scores int[], lasted interval, came time, went time(3));
INSERT INTO w.sales
SELECT n, 18 + n % 60, (n % 200) * 1.25, n % 7, 1 + (n % 90) / 8.0,
 (ARRAY['north-east','south','west'])[1 + n % 3],
 (ARRAY['Ab-cd', ' xy ', 'a', NULL, 'Äpfel'])[1 + n % 5], CASE WHEN n % 4 > 0 THEN 'note ' || n % 11 END,
 n % 2 = 0, CASE WHEN n % 3 > 0 THEN n % 5 = 0 END, date '2023-01-10' + n % 700,
 timestamptz '2023-01-10 12:00+00' + (n % 700) * interval '1 day',
 (ARRAY['small','large']::w.size[])[1 + n % 2],
 1 + (n / 7) % 3,
 (ARRAY['{{"plan": "pro", "n": 3, "addr": {{"city": "Ulm"}}, "list": ["one", "two"]}}',
  '{{"plan": "free", "nil": null}}',
  NULL, '{{"plan": "x", "n": "3", "": "empty", "$.a": "dollar", "it''s": "quoted", "*": "star"}}',
  '[{{"plan": "x"}}]',
  '"pro"', '{{"plan": "south", "city": "Ulm"}}'])[1 + n % 7]::jsonb,
 (ARRAY['{{a,b}}', '{{b}}', NULL, '{{}}', '{{a,NULL}}', '{{{{a,c}},{{b,b}}}}'])[1 + n % 6]::text[],
 (ARRAY['{{1,2}}', '{{3,3,NULL}}', '{{}}', NULL])[1 + n % 4]::int[],
 (ARRAY['1 day', '24 hours', '1 month', '30 days', '-5 minutes 3 seconds', NULL, '1 year 2 days'])
  [1 + n % 7]::interval,
 CASE WHEN n % 26 < 24 THEN (n % 26 || ':' || n * 7 % 60 || ':30.25')::time
  WHEN n % 26 = 24 THEN '24:00' END,
 (ARRAY['00:00', '24:00', '12:00', NULL, '09:30:59.999'])[1 + n % 5]::time
FROM generate_series(0, {_ROWS - 1}) n;
"""
_TABLES = """\
tables:
  w.kinds: public
  w.sales:
    unit: {person: person}
    columns:
      age: {bounds: [18, 77]}
      spent: {bounds: [0, 248.75]}
      parts: {bounds: [0, 6]}
      weight: {bounds: [1, 12.125]}
      state: {values: [north-east, south, west]}
      word: {}
      note: {}
      is_new: {}
      is_paid: {}
      day: {bounds: [2023-01-10, 2024-12-09]}
      at: {bounds: ["2023-01-10 12:00:00+00", "2024-12-09 12:00:00+00"]}
      size: {values: [small, large]}
      kind: {references: w.kinds.id}
      attrs: {}
      tags: {}
      scores: {}
      lasted: {}
      came: {}
      went: {}
"""
_COUNT = "SELECT count(*) FROM w.sales"

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
    f"{_COUNT} WHERE word || note = 'anote 2'",
    f"{_COUNT} WHERE concat(word, note) = 'note 8' OR concat_ws('-', word, note, parts) = 'a-3'",
    f"{_COUNT} WHERE state || '/' || age = 'south/30'",
    f"{_COUNT} WHERE spent::text = '12.50' OR age::text LIKE '4%'",
    f"{_COUNT} WHERE lower(trim(word)) = 'xy' AND reverse(trim(word)) = 'yx'",
    f"{_COUNT} WHERE initcap(state) = 'North-East' OR replace(note, 'note ', '') = '7'",
    f"{_COUNT} WHERE lpad(age::text, 3, '0') > '050' AND rpad(word, 3, '*') = 'a**'",
    f"{_COUNT} WHERE split_part(state, '-', -1) = 'east' AND split_part(note, ' ', 3) = ''",
    f"{_COUNT} WHERE CASE WHEN strpos(substring(state, 1), 'th') > 0 THEN strpos(substring(state,"
    " 1), 'th') + 1 - 1"
    " ELSE 0 END > 3",
    f"{_COUNT} WHERE length(note) * 2 = 12 AND char_length(word) < 5",
    f"{_COUNT} WHERE ((word IS NOT NULL) = true) AND ((age > 30) <> false)",
    f"{_COUNT} WHERE (age > 30) = is_new AND (is_paid OR is_new) IS DISTINCT FROM true",
    f"{_COUNT} WHERE (age > 40 AND is_new) IS NOT TRUE AND (CASE WHEN age > 50 THEN is_new END) = false",
    f"{_COUNT} WHERE day::text LIKE '2023-0%' AND is_paid::text = 'true'",
    f"{_COUNT} WHERE spent / nullif(parts, 0) > 30 AND age % nullif(parts, 0) = 1",
    f"{_COUNT} WHERE sqrt(age) > 6 AND ln(weight) < 2 AND power(parts, 2) > 8 AND log(weight) > 0.5",
    f"{_COUNT} FILTER (WHERE ('x' || size) = 'xlarge') FROM w.sales".replace(
        "SELECT count(*) FROM w.sales FILTER", "SELECT count(*) FILTER"
    ),
    f"{_COUNT} WHERE note::varchar(4) = 'note' AND mod(spent, 2.5) = 0",
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
    "SELECT sum(length(word)), avg(length(state)), max(length(left(note, 6))), sum(strpos(word,"
    " '-')) FROM w.sales",
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
_KINDS = "FROM w.sales s JOIN w.kinds k ON k.id = s.kind"
# Columns of a public table, whose bounds are what it holds, alone and beside protected ones.
PUBLIC_SUMS = (
    f"SELECT sum(k.price), avg(k.price), min(price), max(price), sum(price * 2 + 1) {_KINDS}",
    f"SELECT sum(s.parts * k.price), avg(s.spent / k.price), sum(k.price) FILTER (WHERE s.is_new) {_KINDS}",
    f"SELECT sum(pounds), avg(pounds * parts), count(pounds), max(pounds), stddev(price) {_KINDS}",
    f"SELECT corr(price, parts), covar_pop(k.price, s.age), variance(k.id * price) {_KINDS}",
    f"SELECT sum(price), sum(parts * price) {_KINDS} WHERE k.price * 2 > 1 AND k.title <> 'tea'",
    "SELECT sum(k.price) FROM w.kinds k LEFT JOIN w.sales s ON k.id = s.kind AND s.age > 0"
    " WHERE s.person IS NOT NULL",
    f"SELECT sum(v) FROM (SELECT s.person, sum(k.price * s.parts) AS v {_KINDS} GROUP BY s.person) q",
    f"SELECT sum(v), avg(w) FROM (SELECT k.price + 1 AS v, s.spent * k.price AS w {_KINDS}) q",
    "SELECT sum(q.p * s.parts) FROM w.sales s JOIN (SELECT id, price * 3 AS p FROM w.kinds WHERE id < 3) q"
    " ON q.id = s.kind",
    f"SELECT sum(extract(year FROM k.since)), count(k.since) {_KINDS}",
    f"SELECT sum(CASE WHEN k.title = 'tea' THEN k.price ELSE s.spent END),"
    f" sum(greatest(price, parts)) {_KINDS}",
)
_OF_KINDS = f"SELECT count(*) {_KINDS} WHERE"
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
# Of noise: a few rows of the 6,000.
_TOLERANCE = 4e-4


@pytest.fixture(scope="module")
def sales() -> Iterator[LiveProxy]:
    database = served_database(servers(), "sales", _SCRIPT, _TABLES, "best", most="100")
    proxy = start_proxy(servers(), [database])
    yield proxy
    proxy.stop()


_Rows = list[tuple[object, ...]]


def _compared(
    sales: LiveProxy, statements: Sequence[str], differ: Callable[[_Rows, _Rows], str]
) -> None:
    analyst, found = sales.servers.new_analyst(), []
    with (
        psycopg.connect(sales.servers.protected.dsn("sales")) as direct,
        sales.connect("sales", analyst=analyst) as connection,
    ):
        connection.execute("SET dp.epsilon = 100")
        for sql in statements:
            exact = direct.execute(sql.encode())
            wanted, kinds = exact.fetchall(), _kinds(exact)
            try:
                answered = connection.execute(sql.encode())
            except psycopg.Error as error:
                found.append(f"{sql}: {error.diag.message_primary} / {error.diag.message_hint}")
                continue
            trouble = differ(answered.fetchall(), wanted)
            if _kinds(answered) != kinds:
                trouble += f" types {_kinds(answered)} for {kinds}"
            found += [f"{sql}: {trouble}"] if trouble else []
    assert found == [], "\n".join(found)


def _kinds(cursor: psycopg.Cursor[tuple[object, ...]]) -> list[tuple[str, int]]:
    return [(column.name, column.type_code) for column in cursor.description or ()]


def _in_groups(answered: _Rows, wanted: _Rows) -> str:
    some = set(map(str, answered)) ^ set(map(str, wanted))
    return f"{len(answered)} rows for {len(wanted)}: {sorted(some)[:6]}" if some else ""


def _in_values(answered: _Rows, wanted: _Rows) -> str:
    pairs = [(float(str(a)), float(str(b))) for a, b in zip(answered[0], wanted[0], strict=True)]
    far = [(a, b) for a, b in pairs if abs(a - b) > max(0.6, _TOLERANCE * abs(b))]
    return str(far) if far else ""


def _in_arrays(answered: _Rows, wanted: _Rows) -> str:
    pairs = zip(_flat(answered), _flat(wanted), strict=True)
    far = [pair for pair in pairs if pair[0] != pair[1] and not _is_near(*pair)]
    return str(far) if far else ""


def _flat(rows: _Rows) -> Iterator[object]:
    for row in rows:
        for value in row:
            yield from value if isinstance(value, list) else (value,)


def _is_near(one: object, other: object) -> bool:
    numbers = (int, float, Decimal)
    if not isinstance(one, numbers) or not isinstance(other, numbers):
        return False
    return abs(float(one) - float(other)) < 2.6


def test_groups_are_those_of_postgresql(sales: LiveProxy) -> None:
    _compared(sales, GROUPED, _in_groups)


def test_answers_are_those_of_postgresql(sales: LiveProxy) -> None:
    _compared(sales, ANSWERS, _in_values)


def test_groups_by_what_is_in_a_column_are_those_of_postgresql(sales: LiveProxy) -> None:
    _compared(sales, GROUPED_INSIDE, _in_groups)


def test_answers_about_what_is_in_a_column_are_those_of_postgresql(sales: LiveProxy) -> None:
    _compared(sales, ANSWERS_INSIDE, _in_values)


def test_what_could_fail_or_is_never_looked_at_is_refused_before_the_charge(
    sales: LiveProxy,
) -> None:
    analyst = sales.servers.new_analyst()
    with sales.connect("sales", analyst=analyst) as connection:
        connection.autocommit = True
        for condition in (*REFUSED_INSIDE, *REFUSED_OF_DAY):
            with pytest.raises(psycopg.errors.DatabaseError) as refused:
                connection.execute(f"{_COUNT} WHERE {condition}".encode())
            assert refused.value.diag.sqlstate in ("0A000", "42501", "22023"), str(refused.value)
            assert refused.value.diag.message_hint, condition
        for text in ("now", "12:00+02", "12:00 PM"):  # as the session would read them
            with pytest.raises(psycopg.errors.SyntaxError, match="of type time"):
                connection.execute(f"{_COUNT} WHERE came > '{text}'".encode())
        uses = connection.execute(
            "SELECT column_name, usable_for FROM dp.columns"
            " WHERE column_name IN ('attrs', 'tags', 'scores', 'came')"
        ).fetchall()
    assert dict(uses) == {
        **dict.fromkeys(("attrs", "tags", "scores"), "WHERE, COUNT"),
        "came": "WHERE, COUNT, COUNT(DISTINCT)",
    }


def test_groups_by_parts_of_times_of_day_are_those_of_postgresql(sales: LiveProxy) -> None:
    _compared(sales, GROUPED_OF_DAY, _in_groups)


def test_answers_about_times_of_day_are_those_of_postgresql(sales: LiveProxy) -> None:
    _compared(sales, ANSWERS_OF_DAY, _in_values)


def test_times_of_day_are_given_as_parameters(sales: LiveProxy) -> None:
    given: list[object] = [time(9, 30, 0, 250_000), "24:00", "\t9:30 ", None]
    statements: list[tuple[str, list[object]]] = [
        *((f"{_COUNT} WHERE came >= %s", [one]) for one in given),
        (f"{_COUNT} WHERE came < %s::time AND went <= %b", ["13:00", time(12)]),
        (f"{_COUNT} WHERE came = ANY(%s::time[])", [["1:07:30.25", "24:00"]]),
        (f"{_COUNT} WHERE came <> ALL(%b)", [[time(1, 7, 30, 250_000), time(0)]]),
    ]
    with (
        psycopg.connect(sales.servers.protected.dsn("sales")) as direct,
        sales.connect("sales", analyst=sales.servers.new_analyst()) as connection,
    ):
        connection.execute("SET dp.epsilon = 100")
        for sql, values in statements:
            wanted = direct.execute(sql.encode(), values).fetchall()
            answered = connection.execute(sql.encode(), values).fetchall()
            assert _in_values(answered, wanted) == "", sql


def test_sums_over_public_columns_are_those_of_postgresql(sales: LiveProxy) -> None:
    _compared(sales, PUBLIC_SUMS, _in_values)


def test_constants_meet_columns_as_in_postgresql(sales: LiveProxy) -> None:
    _compared(sales, COMPARED, _in_values)


def test_times_of_public_tables_have_extremes(sales: LiveProxy) -> None:
    statement = f"SELECT min(since), max(since), sum(price * parts) {_KINDS} WHERE parts < 0"
    sql = f"SELECT min(since), max(since) {_KINDS}"
    with sales.connect("sales", analyst=sales.servers.new_analyst()) as connection:
        connection.execute("SET dp.epsilon = 100")
        [row] = connection.execute(sql.encode()).fetchall()
        [empty] = connection.execute(statement.encode()).fetchall()
    assert row == (date(2020, 2, 29), date(2021, 5, 31))
    assert date(2020, 2, 29) <= empty[0] <= date(2021, 5, 31)
    assert abs(empty[2]) < 10


def test_a_public_table_that_has_changed_is_clamped_to_what_was_read(sales: LiveProxy) -> None:
    """So that no row of it moves an answer by more than the noise is for."""
    sql = f"SELECT sum(price), sum(price) FILTER (WHERE price * 2 > 7) {_KINDS}"
    with (
        psycopg.connect(sales.servers.protected.dsn("sales"), autocommit=True) as direct,
        sales.connect("sales", analyst=sales.servers.new_analyst()) as connection,
    ):
        connection.execute("SET dp.epsilon = 100")
        direct.execute("UPDATE w.kinds SET price = 9999 WHERE id = 2")
        try:
            [(answered, above)] = connection.execute(sql.encode()).fetchall()
        finally:
            direct.execute("UPDATE w.kinds SET price = 0.25 WHERE id = 2")
        [(exact,)] = direct.execute(
            "SELECT sum(CASE k.id WHEN 2 THEN 3 ELSE k.price END)"
            " FROM w.sales s JOIN w.kinds k ON k.id = s.kind"
        ).fetchall()
    assert (
        abs(answered - exact) < 5
    )  # each of the 2,000 rows counts as 3.00, the most that was there
    assert abs(above) < 5


def test_arrays_of_percentiles_are_those_of_postgresql(sales: LiveProxy) -> None:
    _compared(sales, ARRAYS, _in_arrays)


def test_errors_of_percentiles_are_arrays_too(sales: LiveProxy) -> None:
    percentiles = "percentile_cont(ARRAY[0.25, 0.75]) WITHIN GROUP (ORDER BY age)"
    with sales.connect("sales", analyst=sales.servers.new_analyst()) as connection:
        connection.execute("SET dp.epsilon = 50")
        [(low, found, error)] = connection.execute(
            f"SELECT dp.low({percentiles}), {percentiles}, dp.error({percentiles}) FROM w.sales"
        ).fetchall()
        plan = "\n".join(
            line for (line,) in connection.execute(f"EXPLAIN SELECT {percentiles} FROM w.sales")
        )
    assert len(low) == len(found) == len(error) == 2
    assert all(a <= b < a + 9 and e > 0 for a, b, e in zip(low, found, error, strict=True))
    assert plan.count("percentile_cont: exponential mechanism") == 2
