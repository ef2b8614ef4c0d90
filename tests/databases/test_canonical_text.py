"""Canonical text of statements, asked of a real shadow in a session of an analyst."""

from __future__ import annotations

from collections.abc import Iterator

import psycopg
import pytest
from psycopg.pq import TransactionStatus

from proxy.base.errors import Code, Refusal
from proxy.engine.sessions import PostgresError
from proxy.shadow.canonical_text import canonical_statement
from tests.servers_fixture import Servers

_INT4, _TEXT, _DATE, _INT4_ARRAY = 23, 25, 1082, 1007


@pytest.fixture
def analyst(pair: Servers) -> Iterator[psycopg.Connection]:
    dsn = pair.analyst_dsn("shop", pair.new_analyst())
    with psycopg.connect(dsn, autocommit=True) as connection:
        yield connection


def _text(connection: psycopg.Connection, statement: str, *types: int) -> str:
    return " ".join(canonical_statement(connection, statement, types).text.split())


def _functions(connection: psycopg.Connection) -> int:
    row = connection.execute(
        "SELECT count(*) FROM pg_proc WHERE pronamespace = pg_my_temp_schema()"
    ).fetchone()
    assert row is not None
    return int(row[0])


def test_names_casts_and_types_are_written_out(analyst: psycopg.Connection) -> None:
    found = canonical_statement(
        analyst, "SELECT 'x', o.total * 2 AS twice FROM orders o WHERE o.id BETWEEN 1 AND 5 ;;"
    )
    assert "FROM shop.orders o" in found.text
    assert "((o.id >= 1) AND (o.id <= 5))" in found.text
    assert "'x'::text" in found.text
    # The client's own names, which PostgreSQL does not write.
    assert [column.name for column in found.columns] == ["?column?", "twice"]
    assert found.columns[0].type_oid == _TEXT
    assert _functions(analyst) == 0


def test_parameters_have_the_types_given(analyst: psycopg.Connection) -> None:
    text = "SELECT count(*) FROM orders WHERE id = ANY($1) AND status = $2"
    found = _text(analyst, text, _INT4_ARRAY, _TEXT)
    assert "(orders.id = ANY ($1))" in found
    assert "(orders.status = $2)" in found


def test_types_of_the_session_s_own_have_qualified_names(analyst: psycopg.Connection) -> None:
    analyst.execute("CREATE TYPE pg_temp.\"odd one\" AS ENUM ('a')")
    row = analyst.execute("SELECT 'pg_temp.\"odd one\"'::regtype::oid").fetchone()
    assert row is not None
    assert _text(analyst, "SELECT $1 AS one", row[0]) == "SELECT $1 AS one"


@pytest.mark.parametrize(
    "statement",
    [
        "select 1; end; drop table kept",
        "select 1; end; drop table kept; --",
        "select 1; select 2",
        "select 1 /* /* */ ; end; drop table kept /* */ ; */; drop table kept",
        "select $a$ $b$ $a$; end; drop table kept",
        "select U&'\\0027'; end; drop table kept",
    ],
)
@pytest.mark.parametrize("conforming", ["on", "off"])
def test_a_text_cannot_end_the_function(
    analyst: psycopg.Connection, statement: str, conforming: str
) -> None:
    analyst.execute("CREATE TEMPORARY TABLE kept (a int)")
    analyst.execute(f"SET standard_conforming_strings = {conforming}".encode())
    with pytest.raises(PostgresError) as raised:
        canonical_statement(analyst, statement)
    assert raised.value.sqlstate in ("42601", "0A000")
    assert analyst.execute("SELECT to_regclass('kept') IS NOT NULL").fetchone() == (True,)
    assert _functions(analyst) == 0
    assert analyst.info.transaction_status is TransactionStatus.IDLE


@pytest.mark.parametrize(
    "statement",
    [
        "COMMIT",
        "ROLLBACK",
        "BEGIN",
        "SET search_path = public",
        "DROP TABLE kept",
        "EXPLAIN SELECT 1",
        "CREATE TABLE pg_temp.made AS SELECT 1",
        "DECLARE c CURSOR FOR SELECT 1",
        "SELECT 1 INTO TEMPORARY made",
    ],
)
def test_only_queries_have_one(analyst: psycopg.Connection, statement: str) -> None:
    analyst.execute("CREATE TEMPORARY TABLE kept (a int)")
    with pytest.raises(PostgresError):
        canonical_statement(analyst, statement)
    assert analyst.execute("SELECT to_regclass('kept') IS NOT NULL").fetchone() == (True,)
    assert analyst.execute("SELECT to_regclass('made')").fetchone() == (None,)
    assert analyst.info.transaction_status is TransactionStatus.IDLE


def _nested(operator: str, levels: int) -> str:
    operand = "id"
    for _ in range(levels):
        operand = f"(CASE WHEN {operand} {operator} 1 AND 5 THEN 1 ELSE 2 END)"
    return f"SELECT count(*) FROM orders WHERE {operand} = 1"


@pytest.mark.parametrize(
    "statement",
    [
        _nested("BETWEEN SYMMETRIC", 8),
        _nested("BETWEEN", 16),
        f"SELECT 1 WHERE 1 IN ({', '.join(map(str, range(20_000)))})",
        f"SELECT 1 WHERE {' OR '.join(['true'] * 20_000)}",
        f"SELECT {'(' * 60}1{')' * 60}",
    ],
    ids=["symmetric", "between", "elements", "connectives", "brackets"],
)
def test_what_would_be_too_much_is_not_sent(analyst: psycopg.Connection, statement: str) -> None:
    with pytest.raises(Refusal) as refused:
        canonical_statement(analyst, statement)
    assert refused.value.code is Code.TOO_COMPLEX


def test_a_text_that_grows_beyond_its_limit_is_refused(analyst: psycopg.Connection) -> None:
    """By the limit on its length, or before that by the server's limit on memory."""
    columns = ", ".join(f"{'c' * 50}{n}" for n in range(100))
    analyst.execute(f"CREATE TEMPORARY TABLE wide ({columns.replace(',', ' int,')} int)".encode())
    inner = " UNION ALL ".join(["SELECT * FROM wide"] * 250)
    with pytest.raises((Refusal, PostgresError)) as raised:
        canonical_statement(analyst, inner)
    error = raised.value
    if isinstance(error, Refusal):
        assert error.code is Code.TOO_COMPLEX
    else:
        assert isinstance(error, PostgresError) and error.sqlstate == "53200"
    assert _functions(analyst) == 0


def test_a_transaction_goes_on_as_it_was(analyst: psycopg.Connection) -> None:
    with analyst.transaction():
        analyst.execute("CREATE TEMPORARY TABLE made (a int)")
        assert _text(analyst, "SELECT a FROM made") == "SELECT made.a FROM made"
        with pytest.raises(PostgresError):
            canonical_statement(analyst, "SELECT nothing")
        assert analyst.info.transaction_status is TransactionStatus.INTRANS
        assert _functions(analyst) == 0
    assert analyst.execute("SELECT count(*) FROM made").fetchone() == (0,)


def test_a_read_only_transaction_has_none(analyst: psycopg.Connection) -> None:
    analyst.execute("BEGIN READ ONLY")
    with pytest.raises(PostgresError) as raised:
        canonical_statement(analyst, "SELECT 1")
    assert raised.value.sqlstate == "25006"
    assert analyst.info.transaction_status is TransactionStatus.INTRANS
    analyst.execute("ROLLBACK")
    analyst.execute("SET default_transaction_read_only = on")
    assert _text(analyst, "SELECT 1") == "SELECT 1"


def test_a_failed_transaction_has_none(analyst: psycopg.Connection) -> None:
    analyst.execute("BEGIN")
    with pytest.raises(psycopg.Error):
        analyst.execute("SELECT 1 / 0")
    with pytest.raises(PostgresError) as raised:
        canonical_statement(analyst, "SELECT 1")
    assert raised.value.sqlstate == "25P02"
    assert analyst.info.transaction_status is TransactionStatus.INERROR


def test_a_function_of_the_client_s_is_not_in_the_way(analyst: psycopg.Connection) -> None:
    analyst.execute(
        "CREATE FUNCTION pg_temp.x() RETURNS int BEGIN ATOMIC SELECT 1; END; SELECT pg_temp.x()"
    )
    found = _text(analyst, "SELECT pg_temp.x() AS a, count(*) FROM orders")
    assert found.startswith("SELECT pg_temp.x()")
    # One of our name gets its owner an error, and nobody a wrong text.
    analyst.execute(
        "CREATE FUNCTION pg_temp._dpproxy_canonical(int) RETURNS int BEGIN ATOMIC SELECT 1; END"
    )
    with pytest.raises(PostgresError):
        canonical_statement(analyst, "SELECT 1")


def test_a_type_of_the_client_s_is_told_from_the_built_in_one(analyst: psycopg.Connection) -> None:
    text = (
        "SELECT '2020-01-02'::pg_catalog.date AS a, count(*) FROM orders WHERE NULL::date IS NULL"
    )
    assert "'2020-01-02'::date" in _text(analyst, text)
    analyst.execute("CREATE TYPE pg_temp.date AS ENUM ('2020-01-02')")
    found = _text(analyst, text)
    assert "'2020-01-02'::date AS a" in found
    assert "NULL::pg_temp" in found  # the client's own


def test_a_parameter_has_the_built_in_type_beside_one_of_its_name(
    analyst: psycopg.Connection,
) -> None:
    analyst.execute("CREATE TYPE pg_temp.date AS ENUM ('a')")
    found = canonical_statement(analyst, "SELECT $1 AS a", (_DATE,))
    assert found.columns[0].type_oid == _DATE


def test_functions_and_operators_before_pg_catalog_are_qualified(
    analyst: psycopg.Connection,
) -> None:
    analyst.execute("SET search_path = dp, pg_temp, pg_catalog, shop")
    assert "dp.low(count(*))" in _text(analyst, "SELECT low(count(*)) FROM orders")


def test_the_search_path_of_the_session_holds(analyst: psycopg.Connection) -> None:
    analyst.execute("CREATE TEMPORARY TABLE orders (id int)")
    assert "shop.orders" not in _text(analyst, "SELECT count(*) FROM orders")
    analyst.execute("SET search_path = shop, pg_temp")
    assert "FROM shop.orders" in _text(analyst, "SELECT count(*) FROM orders")
    analyst.execute("SET search_path = pg_catalog")
    with pytest.raises(PostgresError) as raised:
        canonical_statement(analyst, "SELECT count(*) FROM customers")
    assert (raised.value.sqlstate, raised.value.position) == ("42P01", 22)
    assert analyst.execute("SHOW search_path").fetchone() == ("pg_catalog",)


@pytest.mark.parametrize(
    ("style", "month"), [("SQL, DMY", "02"), ("German", "02"), ("SQL, MDY", "01")]
)
def test_literals_are_read_by_the_session_and_written_in_iso(
    analyst: psycopg.Connection, style: str, month: str
) -> None:
    analyst.execute(f"SET datestyle = '{style}'; SET intervalstyle = 'iso_8601'".encode())
    analyst.execute("SET timezone = 'Asia/Tokyo'; SET quote_all_identifiers = on")
    day = "01" if month == "02" else "02"
    found = _text(
        analyst,
        "SELECT '01/02/2020'::date AS a, 'P1DT1H'::interval AS b, '2020-01-01'::timestamptz AS c",
    )
    assert f"'2020-{month}-{day}'::date AS a" in found
    assert "'1 day 01:00:00'::interval AS b" in found
    assert "'2019-12-31 15:00:00+00'::timestamp with time zone AS c" in found


@pytest.mark.parametrize("conforming", ["on", "off"])
def test_texts_that_look_like_commands_are_texts(
    analyst: psycopg.Connection, conforming: str
) -> None:
    analyst.execute(f"SET standard_conforming_strings = {conforming}".encode())
    found = _text(analyst, "SELECT E'\\'; end; drop table kept; select ' AS a")
    assert found == "SELECT '''; end; drop table kept; select '::text AS a"
    assert _text(analyst, "SELECT E'a\\\\b' AS a") == "SELECT 'a\\b'::text AS a"


def test_another_analyst_is_untouched(pair: Servers, analyst: psycopg.Connection) -> None:
    with psycopg.connect(pair.analyst_dsn("shop", pair.new_analyst()), autocommit=True) as other:
        other.execute("CREATE TEMPORARY TABLE theirs (a int)")
        with pytest.raises(PostgresError):
            canonical_statement(analyst, "SELECT a FROM theirs")
