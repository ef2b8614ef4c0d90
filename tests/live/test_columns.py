"""Column names, types and modifiers through the proxy are those PostgreSQL gives for the same statement."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.live.conversing import described, extended, simple
from tests.live_proxy import LiveProxy
from tests.raw_client import RawClient

_NUMBERS = ("small", "int", "big", "num", "num2", "single", "double")
_TIMES = ("day", "at", "att", "att3")
_ALL = (*_NUMBERS, *_TIMES, "txt", "vc", "ch", "flag", "uid", '"Mixed Case"')
_T = "kinds.things"

AGGREGATES = (
    f"SELECT count(*) FROM {_T}",
    f"SELECT count(1) FROM {_T}",
    *(f"SELECT count({c}) FROM {_T}" for c in _ALL),
    *(f"SELECT {a}({c}) FROM {_T}" for a in ("sum", "avg") for c in _NUMBERS),
    *(f"SELECT {a}({c}) FROM {_T}" for a in ("min", "max") for c in (*_NUMBERS, *_TIMES)),
)

OUTSIDE = (
    f"SELECT sum(int) / count(*) FROM {_T}",
    f"SELECT round(avg(num2), 2), round(sum(double)) FROM {_T}",
    f"SELECT sum(small) + 1 AS plus, -sum(num2) AS minus FROM {_T}",
    f"SELECT avg(int)::int, avg(int)::numeric(6,2), CAST(count(*) AS text), count(*)::varchar(7) FROM {_T}",
    f"SELECT coalesce(sum(int), 0), nullif(count(*), 0), greatest(min(int), 3), least(max(num), 2) FROM {_T}",
    f"SELECT CASE WHEN count(*) > 5 THEN 'many' ELSE 'few' END FROM {_T}",
    f"SELECT CASE WHEN count(*) > 5 THEN count(*) END FROM {_T}",
    f"SELECT CASE WHEN true THEN 1 ELSE count(*) END FROM {_T}",
    f"SELECT count(*) > 5, count(*) IS NULL, NOT count(*) > 5, count(*) BETWEEN 1 AND 9 FROM {_T}",
    f"SELECT max(day) - min(day), max(at) - min(at), age(max(at)), date_trunc('month', max(at)) FROM {_T}",
    f"SELECT extract(year FROM max(day)), date_part('year', max(day)), max(day)::timestamp FROM {_T}",
    f"SELECT to_char(count(*), '999') , format('%s', count(*)), count(*) || '' FROM {_T}",
    f'SELECT count(*) AS "Number of Things", sum(int) total, avg(int) AS "a""b" FROM {_T}',
    f"SELECT 'x', 1, 1.5, NULL, now(), current_date, count(*) FROM {_T}",
    f"SELECT ARRAY[count(*), sum(int)], ROW(count(*), 1), (count(*)) FROM {_T}",
    f"SELECT json_build_object('n', count(*)), jsonb_build_array(count(*), avg(int)) FROM {_T}",
    f"SELECT count(*) FILTER (WHERE int > 3), sum(int) FILTER (WHERE flag) FROM {_T}",
    "SELECT COUNT(*), Sum(INT) FROM KINDS.Things",
    f"SELECT count(*) c1, count(*) c2, count(*) FROM {_T}",
    f"SELECT t.* FROM (SELECT count(*), avg(double) FROM {_T}) t",
    f"SELECT power(count(*), 2), sqrt(avg(double)), ln(sum(int)) FROM {_T}",
    f"SELECT count(*) % 7, count(*) & 1, - count(*), abs(sum(int)), @ sum(int) FROM {_T}",
    f"SELECT dp.low(count(*)), dp.high(count(*)), dp.error(count(*)) FROM {_T}",
    f"SELECT dp.low(sum(int)), dp.high(sum(num2)) AS top, dp.error(sum(double)), dp.low(avg(int)) FROM {_T}",
    f"SELECT dp.low(sum(single)), dp.high(max(at)), dp.high(min(day)) FROM {_T}",
    f"SELECT count(*) FROM {_T} WHERE int > 3 AND txt = 'a' OR vc LIKE 'b%' AND day < '2020-03-01'",
    f"SELECT sum(int * 2), sum(int + small), avg(int / 2.0), sum(num2 * 1.5), avg(-int) FROM {_T}",
    f"SELECT sum(CASE WHEN flag THEN int ELSE 0 END), sum(coalesce(int, 0)), avg(abs(int)) FROM {_T}",
    f"SELECT sum(int::bigint), sum(num2::int), avg(int::double precision) FROM {_T}",
    f"SELECT sum(1), count(NULL), sum(flag::int) FROM {_T}",
    f"SELECT avg(extract(month FROM day)) FROM {_T}",
    f'SELECT avg("Mixed Case"), max("Mixed Case") FROM {_T}',
    f"SELECT greatest(count(*), 0) AS n FROM {_T} HAVING count(*) > 0",
    f"SELECT coalesce(NULL, count(*)) FROM {_T}",
    f"SELECT count(*)::regclass::text IS NULL, count(*)::int8 FROM {_T}",
    f"SELECT (SELECT 1), EXISTS (SELECT 1), count(*) FROM {_T}",
    f"SELECT max(at) AT TIME ZONE 'UTC', max(day) + 1, max(day) + interval '1 day' FROM {_T}",
    f'SELECT (count(*))::text COLLATE "C" FROM {_T}',
)

GROUPED = (
    f"SELECT txt, count(*) FROM {_T} GROUP BY txt",
    f"SELECT vc, ch, flag, sum(int) FROM {_T} GROUP BY vc, ch, flag",
    f"SELECT txt AS kind, count(*) AS n FROM {_T} GROUP BY kind ORDER BY n DESC LIMIT 2",
    f"SELECT txt, count(*) FROM {_T} GROUP BY 1 ORDER BY 2 DESC, 1",
    f"SELECT count(*) FROM {_T} GROUP BY txt",
    f"SELECT upper(txt), txt || '!', count(*) FROM {_T} GROUP BY txt",
    f"SELECT t.txt, count(t.int) FROM {_T} t GROUP BY t.txt HAVING count(*) > 3",
    f"SELECT things.txt, count(*) FROM {_T} GROUP BY things.txt",
    f"SELECT kinds.things.txt, count(*) FROM {_T} GROUP BY kinds.things.txt",
    f'SELECT "Mixed Case", count(*) FROM {_T} GROUP BY "Mixed Case"',
    f'SELECT "Mixed Case" + 1, count(*) FROM {_T} GROUP BY "Mixed Case"',
    f"SELECT DISTINCT txt FROM {_T}",
    f"SELECT DISTINCT txt, vc FROM {_T}",
    f"SELECT txt FROM {_T} GROUP BY txt",
    f"SELECT CASE txt WHEN 'a' THEN 1 ELSE 2 END, count(*) FROM {_T} GROUP BY txt",
    f"SELECT CASE WHEN flag THEN txt ELSE vc END, count(*) FROM {_T} GROUP BY flag, txt, vc",
    f"SELECT coalesce(txt, 'none'), count(*) FROM {_T} GROUP BY txt",
    f"SELECT txt::varchar(2), ch::text, count(*) FROM {_T} GROUP BY txt, ch",
    f"SELECT flag::int, count(*) FROM {_T} GROUP BY flag",
    f"SELECT count(*) FILTER (WHERE flag) AS yes, count(*) FILTER (WHERE NOT flag), txt FROM {_T} GROUP BY txt",
    f"SELECT txt, avg(num2) AS a FROM {_T} WHERE int > 10 GROUP BY txt HAVING avg(num2) > 1 ORDER BY a",
    f"SELECT txt, count(*), rank() OVER (ORDER BY count(*) DESC) FROM {_T} GROUP BY txt",
    f"SELECT sum(count(*)) OVER (), 100.0 * count(*) / sum(count(*)) OVER () AS share FROM {_T} GROUP BY txt",
    f"SELECT vc, first_value(vc) OVER w, lag(vc) OVER w FROM {_T} GROUP BY vc WINDOW w AS (ORDER BY count(*))",
    f"SELECT txt AS int, count(*) FROM {_T} GROUP BY txt",
    f"SELECT ch, min(day), max(att3) FROM {_T} GROUP BY ch",
)

AROUND = (
    f"SELECT date_trunc('year', at), count(*) FROM {_T} GROUP BY date_trunc ORDER BY date_trunc",
    f"SELECT length(txt), \"case\" FROM (SELECT txt, CASE WHEN flag THEN 'a' ELSE 'b' END FROM {_T}) q"
    ' GROUP BY length, "case"',
    f"SELECT n, n * 2 AS twice FROM (SELECT count(*) AS n FROM {_T}) q",
    f"SELECT count(*), sum(n) FROM (SELECT txt, count(*) AS n FROM {_T} GROUP BY txt) q",
    f"SELECT q.* FROM (SELECT txt, count(*) FROM {_T} GROUP BY txt) AS q(a, b)",
    f"SELECT sum(q.mod), count(timezone), count(q.int4) FROM (SELECT mod(int, 2), at AT TIME ZONE 'UTC',"
    f" CAST(num2 / 2 AS int) FROM {_T}) q",
    f"SELECT length, count(*) FROM (SELECT length(txt), int FROM {_T}) q GROUP BY length ORDER BY length",
    f"WITH x AS (SELECT txt, count(*) AS n FROM {_T} GROUP BY txt) SELECT * FROM x WHERE n > 3",
    f"WITH x AS (SELECT count(*) n FROM {_T}), y AS (SELECT avg(int) a FROM {_T}) SELECT n, a, n * a FROM x, y",
    f"WITH x (a, b) AS MATERIALIZED (SELECT vc, sum(num2) FROM {_T} GROUP BY vc) SELECT b, a FROM x",
    f"SELECT 'all', count(*) FROM {_T} UNION ALL SELECT 'some', count(*) FROM {_T} WHERE int > 5",
    f"SELECT count(*) FROM {_T} UNION SELECT 1.5",
    f"SELECT vc FROM {_T} GROUP BY vc UNION SELECT label FROM kinds.codes",
    f"(SELECT count(*) FROM {_T}) INTERSECT (SELECT 3) ORDER BY 1 LIMIT 1",
    f"SELECT (SELECT count(*) FROM {_T}), (SELECT avg(num2) FROM {_T}) AS a",
    f"SELECT 1 + (SELECT count(*) FROM {_T})",
    f"SELECT label, n FROM kinds.codes JOIN (SELECT txt, count(*) n FROM {_T} GROUP BY txt) q ON txt = code",
    f"SELECT * FROM (VALUES (1), (2)) v(i), LATERAL (SELECT count(*) n FROM {_T}) q",
    f"SELECT label, (SELECT count(*) FROM {_T}) FROM kinds.codes",
    f"SELECT vc, n, ntile(2) OVER (ORDER BY n) FROM (SELECT vc, count(*) n FROM {_T} GROUP BY vc) q",
    f"SELECT EXISTS (SELECT count(*) FROM {_T})",
    f"SELECT ARRAY(SELECT count(*) FROM {_T} GROUP BY txt)",
    f"SELECT 3 IN (SELECT count(*) FROM {_T})",
    f"EXPLAIN SELECT count(*) FROM {_T}",
    f"EXPLAIN (FORMAT JSON) SELECT count(*) FROM {_T}",
)

PROBES = (
    f"SELECT * FROM {_T} LIMIT 0",
    f"SELECT int, vc AS v, num2 * 2 FROM {_T} WHERE 1 <> 1",
    f"SELECT * FROM {_T} WHERE false",
    f"SELECT * FROM (SELECT * FROM {_T}) q WHERE 1 = 0",
    f"SELECT count(*) FROM {_T} LIMIT 0",
)

# Keys of which nothing but the words tells the name: an exchanged key has none of its own.
KEYS = (
    "int > 3",
    "NOT int > 3",
    "flag AND int > 3",
    "txt = 'a'",
    "txt IN ('a', 'b')",
    "txt LIKE 'a%'",
    "txt IS NULL",
    "txt IS NOT NULL",
    "int BETWEEN 1 AND 5",
    "int + 1",
    "-int",
    "+int",
    "int * 2",
    "int % 2",
    "mod(int, 2)",
    "floor(num2 / 10) * 10",
    "ceil(num2)",
    "ceiling(num2)",
    "floor(num2)",
    "round(num2)",
    "trunc(num2)",
    "abs(int)",
    "length(txt)",
    "char_length(txt)",
    "upper(txt)",
    "Lower(txt)",
    "left(txt, 1)",
    "right(txt, 1)",
    "substr(txt, 1, 2)",
    "substring(txt FROM 1 FOR 2)",
    "btrim(txt)",
    "trim(txt)",
    "nullif(txt, 'a')",
    "coalesce(txt, 'x')",
    "greatest(int, 3)",
    "least(int, 3)",
    "width_bucket(num2, 0, 100, 5)",
    "date_trunc('year', at)",
    "extract(year FROM at)",
    "Extract(isodow FROM day) IN (6, 7)",
    "(at AT TIME ZONE 'UTC')::date",
    "date_trunc('year', at)::date",
    "at::date",
    "CAST(num2 AS integer)",
    "CASE WHEN int > 3 THEN 'a' ELSE 'b' END",
    "CASE WHEN int > 3 THEN 1 ELSE int END",
    "CASE WHEN int > 3 THEN int ELSE (CASE WHEN flag THEN 1 END) END",
    "CASE flag WHEN true THEN 1 END",
    "txt",
    "things.txt",
    '"txt"',
    "((txt))",
    '"Mixed Case" > 2',
    "date_part('year', at)",
)


def with_key(key: str) -> tuple[str, ...]:
    """A key as it is, in brackets, under a cast, inside a function, in a subquery."""
    return (
        f"SELECT {key}, count(*) FROM {_T} GROUP BY {key}",
        f"SELECT count(*), ({key}) FROM {_T} GROUP BY 2",
        f"SELECT count(*), ({key})::text FROM {_T} GROUP BY {key}",
        f"SELECT coalesce({key}, NULL), count(*) FROM {_T} GROUP BY {key}",
        f"SELECT q.* FROM (SELECT {key}, count(*) FROM {_T} GROUP BY 1) q",
    )


STATEMENTS = (*AGGREGATES, *OUTSIDE, *GROUPED, *AROUND, *PROBES)


Both = tuple[RawClient, RawClient]


@pytest.fixture(scope="module")
def both(live: LiveProxy) -> Iterator[Both]:
    """Through the proxy, and straight to the shadow, which knows the real types."""
    with RawClient(live.dsn("kinds")) as proxied, RawClient(live.direct_dsn("kinds")) as direct:
        simple(proxied, "SET dp.epsilon = 2")  # fewer partitions: faster
        yield proxied, direct


def test_there_are_many() -> None:
    assert len(set(STATEMENTS)) == len(STATEMENTS) >= 140


@pytest.mark.every(12)
@pytest.mark.parametrize("text", STATEMENTS)
def test_columns(text: str, both: Both) -> None:
    proxied, direct = both
    wanted = described(direct, text)
    assert wanted.error is None
    assert described(proxied, text).columns == wanted.columns
    for ask in (simple, extended):
        got = ask(proxied, text)
        assert got.error is None
        assert got.columns == wanted.columns
        assert got.status == b"I"


@pytest.mark.every(6)
@pytest.mark.parametrize("key", KEYS)
def test_names_of_keys(key: str, both: Both) -> None:
    proxied, direct = both
    for number, text in enumerate(with_key(key)):
        wanted = described(direct, text)
        assert wanted.error is None
        assert described(proxied, text).columns == wanted.columns
        if number == 0:  # of what is refused, the description says nothing
            assert simple(proxied, text).columns == wanted.columns


def test_a_wrong_type_would_be_seen(both: Both) -> None:
    """The comparison is not blind: text is not integer, numeric(10,2) is not numeric."""
    proxied, direct = both
    one = described(direct, "SELECT count(*) FROM kinds.things").columns
    assert one != described(proxied, "SELECT count(*)::int FROM kinds.things").columns
    num2 = described(direct, "SELECT num2 FROM kinds.things").columns
    assert num2 != described(proxied, "SELECT num2::numeric FROM kinds.things WHERE false").columns
