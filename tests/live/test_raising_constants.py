"""Functions that raise in PostgreSQL for a constant argument, over protected rows: refused before the charge,
or answered. The trial run cannot find them, as it sees no rows; so it must not matter whether it takes place.
"""

from __future__ import annotations

from collections.abc import Iterator

import psycopg
import pytest

from tests.live_proxy import LiveProxy

_NUMBERS = r"""
ntile(0) OVER (ORDER BY id); ntile(-1) OVER (ORDER BY id); nth_value(id, 0) OVER (ORDER BY id);
lag(id, 2147483648) OVER (ORDER BY id); lead(id, -1) OVER (ORDER BY id); lag(id, NULL) OVER (ORDER BY id);
sum(total) OVER (ORDER BY id ROWS BETWEEN -1 PRECEDING AND CURRENT ROW);
sum(total) OVER (ORDER BY id ROWS BETWEEN CURRENT ROW AND -1 FOLLOWING);
sum(total) OVER (ORDER BY total RANGE BETWEEN -1 PRECEDING AND CURRENT ROW); width_bucket(total, 0, 10, 0);
width_bucket(total, 1, 1, 5); width_bucket(total, 'NaN', 10, 5);
width_bucket(total::float8, 0, 'Infinity', 5); width_bucket(total, ARRAY[3, NULL]::numeric[]);
width_bucket(total, '{}'::numeric[]); total / 0; total % 0; mod(id, 0); div(total, 0); id / (1 - 1);
total / 0.0; sqrt(-1.0) + total; sqrt(total - 100000); ln(total - total); ln(-1.0 * total); log(0, total);
log(1, total); log(-2, total); log10(0 * total); power(0, -1) + total; power(total - total, -1);
power(-1 * total, 0.5); exp(total * 1000000); acos(2) + total; asin(total::float8 + 2); acosh(0.5) + id;
atanh(1) + id; cot(0) + id; factorial(-1) + total; factorial(100000) + id; gcd(id, 0); lcm(id, 2147483647);
round(total, 2147483647); round(total, -2147483648); trunc(total, 2147483648); total::int2;
(total * 1e30)::int; 'x'::int + id; status::int; total::numeric(2, 3); bit_count(id::bit(0)); id << -1;
chr(0) || status; chr(-1) || status; ascii(status); random(10, 1) + id; random_normal(0, -1) + id;
extract(fortnight FROM created_at); extract(hour FROM created_at::date); date_part('x', created_at);
extract(epoch FROM 'x'::date); array_length(string_to_array(status, ','), 0); (ARRAY[1, 2])[2147483648] + id;
cardinality(array_fill(1, ARRAY[-1])) + id; array_upper(ARRAY[id], 0); length(repeat(status, -1));
length(repeat(status, 2147483647)); length(repeat(status, 500000000)); length(lpad(status, 2147483647));
length(rpad(status, -5, 'x')); length(lpad(status, 9, '')); length(substring(status, 1, -1));
length(substr(status, -5, 3)); length(substr(status, 1, -1)); length(split_part(status, ',', 0));
length(split_part(status, '', -1)); length(left(status, -2147483648)); length(right(status, -2147483648));
length(overlay(status placing 'x' from 0)); length(overlay(status placing 'x' from -1 for 2));
position('' in status); strpos(status, ''); length(translate(status, 'a', ''));
length(regexp_replace(status, '(', '')); length(regexp_replace(status, 'a', 'b', 'q!'));
regexp_count(status, '['); regexp_count(status, 'a', 0); regexp_instr(status, 'a', 1, 0);
length(regexp_substr(status, 'a', 1, 1, 'i', -1)); length((regexp_match(status, '*'))[1]);
length(to_char(total, 'E')); length(to_char(total, '9V9.9')); length(to_char(created_at, 'QQ'));
to_number(status, '9'); to_number('', '') + id; length(to_char(total, '9,EEEE'));
length(convert_to(status, 'x')); length(encode('a', 'x') || status); length(decode(status, 'hex'));
length(convert_from('\xff', 'UTF8') || status); length(format('%z', status)); length(format('%2$s', status));
length(status::json::text); length((status::jsonb)::text); jsonb_array_length('1'::jsonb) + id;
length(jsonb_set('1', '{a}', '1')::text) + id; get_byte('\x00', 5) + id; get_bit('\x00', 99) + id;
set_bit(B'1', 5, 1)::int + id; length(normalize(status, NFC)); length(unistr('\xyz') || status);
length(status COLLATE "x"); (status::uuid IS NULL)::int; host(status::inet)::int;
(total::text::money)::numeric; nullif(id, 'x'); coalesce(id, 'x'); greatest(id, 'x');
CASE WHEN id > 0 THEN 1/0 ELSE id END; (SELECT id FROM shop.orders); (SELECT 1 / 0) + id; num_nulls() + id;
setseed(2)::text::int + id"""
_TIMES = """\
date_trunc('x', created_at); date_trunc('day', created_at, 'Mars/Phobos'); date_trunc('', created_at);
created_at AT TIME ZONE 'x'; created_at AT TIME ZONE ''; created_at AT TIME ZONE interval '1 month';
date_bin('0 s', created_at, '2020-01-01'); date_bin('1 month', created_at, '2020-01-01');
date_bin('-1 s', created_at, '2020-01-01'); date_bin('1 day', created_at, 'infinity');
date_bin('1 us', created_at, '4713-01-01 BC'); created_at + interval '400000 years';
created_at - interval '9000 years'; created_at + make_interval(years => 2147483647);
created_at + make_interval(secs => 'NaN'); created_at + interval 'x'; created_at + 'infinity'::interval;
created_at::date + 2147483647; created_at::date - 2147483647; created_at::time + interval 'x';
make_date(2026, 13, 1) + (created_at - created_at); make_date(id::int, 0, 0); make_date(0, 1, 1);
make_timestamp(2026, 1, 1, 25, 0, 0); make_time(25, id::int, 0); make_timestamptz(1, 1, 1, 1, 1, 1, 'x');
to_timestamp(total * 1e30); to_timestamp('NaN'::float8 + id); to_timestamp(status, 'YYYY');
to_date(status, 'YYYY'); to_date('x', 'DD'); age(created_at, 'infinity'::timestamp);
justify_days(interval '2147483647 days') + created_at; created_at(99); created_at::timestamp(9);
isfinite(created_at); timezone('x', created_at); date_add(created_at, '1 day', 'x')"""
_CONDITIONS = r"""
status LIKE 'x' ESCAPE 'ab'; status LIKE '\'; status SIMILAR TO '('; status ~ '('; status ~ 'a{5000}';
status ~* '['; id = ANY('{x}'); id = ANY('{1'); id IN (1, 'x'); id BETWEEN 'a' AND 'b'; created_at > 'x';
total = 'NaN'; total > 'Infinity'; id = 99999999999999999999; status = E'\x00'; (status || '')::boolean;
1 / 0 > id; total > 1 / (id - id); regexp_like(status, '('); status ^@ ''; status IS NORMALIZED;
starts_with(status, NULL); row(id, 1) = row(1); (id, total) > ('x', 1);
created_at BETWEEN '2020-13-01' AND now()"""
_AGGREGATES = """\
percentile_cont(-0.1) WITHIN GROUP (ORDER BY total); percentile_cont(1.1) WITHIN GROUP (ORDER BY total);
percentile_disc('NaN') WITHIN GROUP (ORDER BY total); percentile_disc(2) WITHIN GROUP (ORDER BY total);
percentile_cont(ARRAY[0.5, 2]) WITHIN GROUP (ORDER BY total);
percentile_cont(NULL) WITHIN GROUP (ORDER BY total); rank('x') WITHIN GROUP (ORDER BY total);
mode() WITHIN GROUP (ORDER BY status); string_agg(status, 1); json_object_agg(NULL, id);
jsonb_object_agg(NULL, id); bit_and(id::bit(0)); array_agg(ARRAY[id]); corr(total, 0); regr_slope(total, 0);
stddev(total / 0); var_pop('NaN'::float8 + id)"""
_FORMS = {
    "count": "SELECT count({}) FROM shop.orders",
    "distinct": "SELECT count(DISTINCT {}) FROM shop.orders",
    "filter": "SELECT count(*) FILTER (WHERE {} IS NOT NULL) FROM shop.orders",
    "group": "SELECT {}, count(*) FROM shop.orders GROUP BY 1",
    "sum": "SELECT sum({}) FROM shop.orders",
    "below": "SELECT count(x) FROM (SELECT {} AS x FROM shop.orders) q",
    "by person": "SELECT sum(x) FROM (SELECT customer_id, max({}) AS x FROM shop.orders GROUP BY 1) q",
    "case": "SELECT sum(CASE WHEN {} IS NULL THEN 1 ELSE 0 END) FROM shop.orders",
    "order": "SELECT count(*) FROM (SELECT id FROM shop.orders ORDER BY {} LIMIT 5) q",
}
_JOINED = "shop.orders o JOIN shop.customers c ON c.id = o.customer_id AND {}"
_ALL = {
    **{name: (form, f"{_NUMBERS}; {_TIMES}") for name, form in _FORMS.items()},
    "where": ("SELECT count(*) FROM shop.orders WHERE {}", _CONDITIONS),
    "having": (
        "SELECT status FROM shop.orders GROUP BY 1 HAVING count(*) FILTER (WHERE {}) > 5",
        _CONDITIONS,
    ),
    "join": (f"SELECT count(*) FROM {_JOINED}", _CONDITIONS),
    "aggregate": ("SELECT {} FROM shop.orders", _AGGREGATES),
}
_AT_NIGHT = pytest.mark.long  # of 15 s


@pytest.fixture(scope="module")
def connection(live: LiveProxy) -> Iterator[psycopg.Connection]:
    analyst = live.servers.new_analyst()
    with live.connect(analyst=analyst, options="-c dp.trial=off") as connection:
        connection.execute("SET dp.notice = off")
        connection.execute("SET dp.epsilon = 0.01")
        yield connection


@pytest.mark.parametrize(
    "form", [pytest.param(name, marks=_AT_NIGHT if name in _FORMS else ()) for name in _ALL]
)
def test_what_raises_over_protected_rows_is_not_charged(
    form: str, live: LiveProxy, connection: psycopg.Connection
) -> None:
    text, parts = _ALL[form]
    analyst = connection.info.user
    wrong, kinds = [], set[str | None]()
    for part in map(str.strip, parts.split(";")):
        before = live.spent(analyst)[0]
        try:
            connection.execute(text.format(part).encode())
            kinds.add("answered")
        except psycopg.Error as error:
            kinds.add(error.sqlstate)
            if live.spent(analyst)[0] != before:
                wrong.append((part, str(error)))
    assert not wrong
    assert "0A000" in kinds and "53400" not in kinds
