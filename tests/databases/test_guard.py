"""What an analyst meets who goes to the shadow directly, past the proxy: nothing to take, and loudly."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterator

import psycopg
import pytest

from tests.servers_fixture import PASSWORD, Servers


@pytest.fixture
def alice(pair: Servers) -> Iterator[psycopg.Connection]:
    with psycopg.connect(pair.analyst_dsn("shop", "alice"), autocommit=True) as connection:
        yield connection


@pytest.mark.parametrize(
    "statement",
    [
        "SELECT * FROM shop.orders",
        "TABLE shop.orders",
        "SELECT count(*) FROM shop.orders",
        "SELECT * FROM shop.orders LIMIT 1",
        "SELECT 1 FROM shop.orders WHERE id = 12345",
        "SELECT 1 FROM shop.orders WHERE id = 12345 AND total > 20",
        "SELECT 1 FROM shop.orders WHERE id IN (1, 2, 3) AND customer_id = 7",
        "SELECT 1 FROM shop.orders WHERE status = 'paid' OR id = 0",
        "SELECT * FROM shop.orders LIMIT 0",  # the proxy puts the twin there, nobody else does
        "SELECT * FROM shop.orders WHERE false",
        "EXPLAIN SELECT * FROM shop.orders",
        "SET enable_seqscan = off; SELECT 1 FROM shop.orders WHERE id = 12345",
        "SELECT 1 FROM shop.orders TABLESAMPLE SYSTEM (0)",
        "SELECT 1 WHERE false UNION ALL SELECT 1 FROM shop.orders WHERE id > 5",
        "SELECT o FROM shop.orders o",
        "SELECT c.* FROM shop.products p JOIN shop.customers c ON c.id = p.id",
        "SELECT * FROM shop.products p LEFT JOIN shop.orders o ON o.product_id = p.id",
        "SELECT (SELECT state FROM shop.customers WHERE id = 1)",
        "SELECT EXISTS (SELECT FROM shop.customers)",
        "COPY shop.orders TO STDOUT",
        "COPY (SELECT * FROM shop.orders) TO STDOUT",
        "CREATE TEMP TABLE stolen AS SELECT * FROM shop.orders",
        "EXPLAIN ANALYZE SELECT * FROM shop.orders",
        "DO $$ BEGIN PERFORM * FROM shop.orders; END $$",
        "SELECT query_to_xml('SELECT * FROM shop.orders', true, true, '')",
        "PREPARE p AS SELECT * FROM shop.orders; EXECUTE p",
        "BEGIN; DECLARE c CURSOR FOR SELECT * FROM shop.orders; FETCH 1 FROM c",
        "SET row_security = off; SELECT * FROM shop.orders",
        "SET ROLE dp_analyst; SELECT * FROM shop.orders",
    ],
)
def test_reading_protected_rows_is_loud(alice: psycopg.Connection, statement: str) -> None:
    with pytest.raises(psycopg.errors.InsufficientPrivilege) as caught:
        if statement.startswith("COPY"):
            with alice.cursor().copy(statement.encode()) as copy:
                list(copy)
        else:
            alice.execute(statement.encode())
    assert caught.value.sqlstate == "42501"
    assert "permission denied for table" in str(caught.value.diag.message_primary)


@pytest.mark.parametrize("table", ["orders", "customers"])
def test_the_twin_of_a_table_has_its_columns_and_no_row(
    alice: psycopg.Connection, pair: Servers, table: str
) -> None:
    twin = f'SELECT * FROM pg_dp_empty."shop.{table}"'
    found = alice.execute(twin.encode())
    assert found.fetchall() == []
    with psycopg.connect(pair.shadows["shop"].superuser_dsn) as superuser:
        original = superuser.execute(f"SELECT * FROM shop.{table}".encode())
        assert original.fetchall() == []
        shapes = [
            [(c.name, c.type_code, c.precision, c.scale) for c in each.description or ()]
            for each in (found, original)
        ]
        assert shapes[0] == shapes[1]
    with pytest.raises(psycopg.errors.InsufficientPrivilege):
        alice.execute(f'DELETE FROM pg_dp_empty."shop.{table}"'.encode())


@pytest.mark.parametrize(
    "statement",
    [
        "INSERT INTO shop.orders VALUES (1)",
        "UPDATE shop.orders SET total = 0",
        "DELETE FROM shop.orders",
        "TRUNCATE shop.orders",
        "INSERT INTO shop.products VALUES (1000)",
        "CREATE TABLE mine (a integer)",
        "CREATE TABLE shop.mine (a integer)",
        "CREATE TABLE dp.mine (a integer)",
        "CREATE SCHEMA mine",
        "CREATE FUNCTION public.f() RETURNS integer LANGUAGE sql AS 'SELECT 1'",
        "CREATE EXTENSION plpgsql SCHEMA shop",
        "ALTER TABLE shop.orders DISABLE ROW LEVEL SECURITY",
        "ALTER TABLE shop.orders OWNER TO alice",
        "CREATE TABLE pg_dp_empty.mine (a integer)",
        'INSERT INTO pg_dp_empty."shop.orders" (id) VALUES (1)',
        "SELECT pg_advisory_lock(1)",
        "SELECT pg_try_advisory_xact_lock_shared(1, 2)",
        "SELECT pg_export_snapshot()",
        "SELECT pg_stat_get_backend_activity(1)",
        "SELECT pg_catalog.dp_pg_stat_get_activity(NULL)",
        "SELECT * FROM pg_catalog.dp_auth_members",
        "SELECT * FROM pg_catalog.dp_db_role_setting",
        "DROP TABLE shop.orders",
        "ALTER ROLE alice BYPASSRLS",
        "CREATE ROLE mallory",
        "SET SESSION AUTHORIZATION postgres",
        "SET ROLE postgres",
        "UPDATE dp.columns SET high = 1000",
        "CREATE OR REPLACE FUNCTION dp.misplaced(name text) RETURNS void LANGUAGE sql AS 'SELECT 1'",
        "SELECT lo_create(0)",
        "SELECT pg_logical_emit_message(false, 'a', 'b')",
        "SELECT pg_read_file('postgresql.conf')",
        "COPY shop.products TO PROGRAM 'cat'",
        "SELECT rolpassword FROM pg_authid",
    ],
)
def test_analysts_change_nothing_and_see_no_ledger(
    alice: psycopg.Connection, statement: str
) -> None:
    with pytest.raises(psycopg.Error) as caught:
        alice.execute(statement.encode())
    assert caught.value.sqlstate in ("42501", "42710"), statement
    assert caught.value.sqlstate == "42501" or "EXTENSION" in statement


def test_analysts_get_into_shadows_only(pair: Servers) -> None:
    kept_out = "permission denied for database|not currently accepting connections|does not exist"
    for database in ("postgres", "template0", "template1"):
        with pytest.raises(psycopg.OperationalError, match=kept_out):
            psycopg.connect(pair.analyst_dsn(database, "alice"))


def test_temporary_tables_work(alice: psycopg.Connection) -> None:
    alice.execute("CREATE TEMP TABLE mine AS SELECT * FROM shop.products")
    assert alice.execute("SELECT count(*) FROM mine").fetchone() == (200,)


def test_refuse_raises_exactly_what_it_is_reported(alice: psycopg.Connection) -> None:
    for hint in ("wait", None, ""):
        with pytest.raises(psycopg.errors.ConfigurationLimitExceeded) as caught:
            alice.execute("SELECT dp.refuse(%s, %s, %s)", ("53400", "no budget; 100 %", hint))
        diag = caught.value.diag
        assert (diag.sqlstate, diag.message_primary) == ("53400", "no budget; 100 %")
        assert diag.message_hint == (hint or None)


def test_interval_functions_analyse_but_do_not_run(alice: psycopg.Connection) -> None:
    statement = "SELECT dp.low(sum(id)), dp.high(avg(price)), dp.error(count(*)) FROM shop.products"
    alice.execute(f"PREPARE q AS {statement}".encode())
    row = alice.execute(
        "SELECT result_types::text FROM pg_prepared_statements WHERE name = 'q'"
        if alice.info.server_version >= 160000
        else "SELECT '{bigint,numeric,\"double precision\"}'"
    ).fetchone()
    assert row == ('{bigint,numeric,"double precision"}',)
    with pytest.raises(psycopg.errors.FeatureNotSupported, match="applies to an aggregate"):
        alice.execute(statement.encode())


def test_columns_say_what_the_policy_exposes(alice: psycopg.Connection) -> None:
    rows = alice.execute(
        'SELECT column_name, data_type, low, high, "values"[1:2], usable_for FROM dp.columns'
        " WHERE table_name IN ('shop.customers', 'shop.orders')"
    ).fetchall()
    assert (
        "state",
        "text",
        None,
        None,
        ["CA", "TX"],
        "WHERE, GROUP BY, COUNT, COUNT(DISTINCT)",
    ) in rows
    assert (
        *("birth_date", "date", "1900-01-01", "2025-12-31", None),
        "WHERE, GROUP BY (values that many have), GROUP BY its month (date_trunc), COUNT, COUNT(DISTINCT), MIN,"
        " MAX",
    ) in rows
    assert (
        *("total", "numeric(8,2)", "0", "175", None),
        "WHERE, GROUP BY (values that many have), COUNT, COUNT(DISTINCT), SUM, AVG, MIN, MAX, variance,"
        " percentiles",
    ) in rows
    assert {"name", "email", "signed_up"}.isdisjoint(row[0] for row in rows)


@pytest.mark.skipif(shutil.which("psql") is None, reason="no psql on this machine")
def test_psql_describes_the_shadow(pair: Servers) -> None:
    host, port = pair.shadow_server.address

    def psql(command: str) -> str:
        done = subprocess.run(
            ["psql", "-X", "-h", host, "-p", str(port), "-U", "alice", "-d", "shop", "-c", command],
            env={**os.environ, "PGPASSWORD": PASSWORD, "LC_ALL": "C.UTF-8", "PAGER": "cat"},
            capture_output=True,
            text=True,
            check=False,
        )
        assert (done.stderr, done.returncode) in (("", 0), ("Did not find any relations.\n", 0))
        return done.stdout

    described = psql(r"\d+ shop.orders")
    for piece in (
        '"orders_pkey" PRIMARY KEY, btree (id)',
        "FOREIGN KEY (customer_id) REFERENCES customers(id)\n",
        "FOREIGN KEY (product_id) REFERENCES products(id)\n",
        "numeric(8,2)",
    ):
        assert piece in described
    assert "products" in psql(r"\dt shop.*")
    psql(r"\d")
    psql(r"\dt")
