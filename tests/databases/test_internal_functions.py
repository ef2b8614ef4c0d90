"""Analysts execute no function that trusts its caller; PostgreSQL itself goes on to use such functions."""

from __future__ import annotations

from collections.abc import Iterator

import psycopg
import pytest

from tests.servers_fixture import Servers

_EXECUTABLE = """
SELECT p.oid::regprocedure::text FROM pg_catalog.pg_proc p
WHERE has_function_privilege(current_user, p.oid, 'EXECUTE') AND ({kind}) ORDER BY 1
"""
# Each needs functions of PostgreSQL's whose arguments are `internal`, or a type's.
_NEED_THEM = [
    "SELECT sum(g::int8), avg(g::int8), stddev(g::numeric), avg('1 day'::interval), corr(g, g) FROM {numbers}",
    "SELECT string_agg(g::text, ','), array_agg(g), jsonb_agg(g), json_object_agg(g, g) FROM {numbers}",
    "SELECT string_agg('x'::bytea, ''), range_agg(int4range(g, g)) FROM {numbers}",
    "SELECT percentile_cont(0.5) WITHIN GROUP (ORDER BY g), mode() WITHIN GROUP (ORDER BY g) FROM {numbers}",
    "SELECT rank(3) WITHIN GROUP (ORDER BY g), cume_dist(3) WITHIN GROUP (ORDER BY g) FROM {numbers}",
    "SELECT sum(g) OVER (ORDER BY g ROWS 2 PRECEDING), ntile(2) OVER (ORDER BY g) FROM {numbers}",
    "SELECT g FROM {numbers} WHERE g::text LIKE '1%' AND '1' ~ g::text ORDER BY g::text DESC",
    "SELECT to_tsvector('english', 'cats') @@ to_tsquery('cat'), ts_headline('a cat', 'cat'::tsquery)",
    "SELECT * FROM generate_series(1, 3) g, unnest(ARRAY[1, 2]) u, regexp_matches('aa', 'a', 'g') m",
    "CREATE TEMP TABLE sampled AS SELECT * FROM {numbers}; SELECT * FROM sampled TABLESAMPLE BERNOULLI (50)",
    "CREATE TEMP TABLE keyed (r int4range, j jsonb, t tsvector, EXCLUDE USING gist (r WITH &&));"
    "CREATE INDEX ON keyed USING gin (j); CREATE INDEX ON keyed USING brin (r);"
    "CREATE INDEX ON keyed USING gist (t); CREATE INDEX ON keyed USING hash (j);"
    "INSERT INTO keyed VALUES ('[1,2)', '{{}}', 'a'); ANALYZE keyed; SELECT * FROM keyed WHERE j @> '{{}}'",
    "CREATE TYPE pg_temp.mood AS ENUM ('a'); CREATE TYPE pg_temp.span AS RANGE (subtype = int8);"
    "CREATE DOMAIN pg_temp.small AS int CHECK (VALUE < 9); CREATE TYPE pg_temp.pair AS (a int, b text);"
    "SELECT 'a'::pg_temp.mood, '[1,2)'::pg_temp.span, 3::pg_temp.small, '(1,x)'::pg_temp.pair",
    "CREATE AGGREGATE pg_temp.total(int) (SFUNC = int4pl, STYPE = int, INITCOND = '0');"
    "SELECT pg_temp.total(g) FROM {numbers}",
    "CREATE FUNCTION pg_temp.f() RETURNS int LANGUAGE plpgsql AS $$BEGIN RETURN 1; END$$; SELECT pg_temp.f()",
    "DO $$ BEGIN PERFORM 1; END $$",
]


@pytest.fixture
def analyst(pair: Servers) -> Iterator[psycopg.Connection]:
    dsn = pair.analyst_dsn("shop", pair.new_analyst())
    with psycopg.connect(dsn, autocommit=True) as connection:
        yield connection


@pytest.mark.parametrize(
    "kind",
    [
        "'internal'::regtype = ANY (p.proargtypes)",
        "p.prorettype = 'internal'::regtype",
        "p.proname ~ '^pg_(restore|clear)_' AND p.proname ~ 'stats'",
    ],
)
def test_an_analyst_can_execute_none(analyst: psycopg.Connection, kind: str) -> None:
    assert analyst.execute(_EXECUTABLE.format(kind=kind).encode()).fetchall() == []


def test_restoring_statistics_of_a_table_of_one_s_own_is_refused(
    analyst: psycopg.Connection,
) -> None:
    if analyst.info.server_version < 180000:
        pytest.skip("comes with PostgreSQL 18")
    analyst.execute("CREATE TEMP TABLE mine (a int)")
    with pytest.raises(
        psycopg.errors.InsufficientPrivilege, match="permission denied for function"
    ):
        analyst.execute(
            "SELECT pg_restore_attribute_stats('schemaname', 'pg_temp', 'relname', 'mine', 'attname',"
            " 'a', 'inherited', false, 'null_frac', 0.5::real)"
        )


@pytest.mark.parametrize("statement", _NEED_THEM)
def test_what_postgresql_does_with_them_works(analyst: psycopg.Connection, statement: str) -> None:
    analyst.execute(statement.format(numbers="generate_series(1, 20) AS g").encode())


def test_parameters_and_results_in_binary_work(analyst: psycopg.Connection) -> None:
    values = (1, 2.5, "x", True, b"y", [1, 2])
    row = analyst.execute("SELECT %b, %b, %b, %b, %b, %b", values, binary=True).fetchone()
    assert row is not None and row[2] == "x" and row[5] == [1, 2]
