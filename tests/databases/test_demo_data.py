"""The demo's data: right in number and shape, the same everywhere, behind a role that only reads."""

from __future__ import annotations

import psycopg
import pytest

from proxy.cli.demo.demo_databases import make_demo_data
from tests.servers_fixture import Servers


def one(dsn: str, query: str) -> tuple[object, ...]:
    with psycopg.connect(dsn) as connection:
        row = connection.execute(query.encode()).fetchone()
        assert row is not None
        return row


def test_numbers_of_rows(pair: Servers) -> None:
    assert one(pair.source_dsns["census"], "SELECT count(*) FROM census.adult") == (50_000,)
    for table, rows in (("customers", 5_000), ("products", 200), ("orders", 60_000)):
        assert one(pair.source_dsns["shop"], f"SELECT count(*) FROM shop.{table}") == (rows,)


def test_the_same_in_every_run(pair: Servers) -> None:
    """Hashes of the row's number, not a generator: no plan and no version changes a row. (A platform's
    last bit of a logarithm may, hence the tolerance where one is taken.)"""
    women, ages, hours = one(
        pair.source_dsns["census"],
        "SELECT count(*) FILTER (WHERE sex = 'Female'), sum(age), sum(hours_per_week) FROM census.adult",
    )
    assert women == 24331
    assert ages == pytest.approx(1950624, rel=1e-5)
    assert hours == pytest.approx(1926492, rel=1e-5)
    paid, customers, total = one(
        pair.source_dsns["shop"],
        "SELECT count(*) FILTER (WHERE status = 'paid'), count(DISTINCT customer_id), sum(total)::float8"
        " FROM shop.orders",
    )
    assert (paid, customers) == (13292, 5000)
    assert total == pytest.approx(3550632.83, rel=1e-5)


def test_shapes(pair: Servers) -> None:
    doctorate, school, missing = one(
        pair.source_dsns["census"],
        "SELECT avg(income) FILTER (WHERE education = 'Doctorate'),"
        " avg(income) FILTER (WHERE education = '11th'), count(*) - count(income) FROM census.adult",
    )
    assert float(str(doctorate)) > 1.5 * float(str(school))
    assert 3000 < int(str(missing)) < 4000
    most, median, before = one(
        pair.source_dsns["shop"],
        "WITH o AS (SELECT customer_id, count(*) AS n, bool_or(created_at < signed_up) AS early"
        " FROM shop.orders o JOIN shop.customers c ON c.id = customer_id GROUP BY 1)"
        " SELECT max(n), percentile_disc(0.5) WITHIN GROUP (ORDER BY n), bool_or(early) FROM o",
    )
    assert int(str(most)) > 10 * int(str(median))
    assert before is False


def test_per_person_aggregates_use_the_covering_index(pair: Servers) -> None:
    with psycopg.connect(pair.source_dsns["shop"]) as connection:
        connection.execute("SET max_parallel_workers_per_gather = 0")
        connection.execute("SET enable_hashagg = off")
        plan = connection.execute(
            "EXPLAIN SELECT customer_id, sum(total) FROM shop.orders GROUP BY customer_id"
        ).fetchall()
    assert any("Index Only Scan using orders_by_customer" in row[0] for row in plan)


def test_the_reader_only_reads(pair: Servers) -> None:
    for statement in (
        "CREATE TABLE public.x (a integer)",
        "CREATE TEMP TABLE x (a integer)",
        "DELETE FROM shop.orders",
        "SET default_transaction_read_only = off; DELETE FROM shop.orders",
        "CREATE SCHEMA x",
    ):
        with (
            psycopg.connect(pair.source_dsns["shop"], autocommit=True) as connection,
            pytest.raises(psycopg.Error) as caught,
        ):
            connection.execute(statement.encode())
        assert caught.value.sqlstate in ("42501", "25006")


def test_made_again_it_is_left_as_it_is(pair: Servers) -> None:
    oid = "SELECT 'shop.orders'::regclass::oid::bigint"
    before = one(pair.source_dsns["shop"], oid)
    try:
        again = make_demo_data(pair.protected.dsn())
        assert one(again["shop"], oid) == before
    finally:
        # The reader's password is new with every call: the shared fixture's must stay valid.
        _restore(pair)


def _restore(pair: Servers) -> None:
    old = psycopg.conninfo.conninfo_to_dict(pair.source_dsns["shop"])["password"]
    with psycopg.connect(pair.protected.dsn(), autocommit=True) as connection:
        verifier = connection.pgconn.encrypt_password(str(old).encode(), b"dp_reader").decode()
        connection.execute(
            psycopg.sql.SQL("ALTER ROLE dp_reader PASSWORD {}").format(
                psycopg.sql.Literal(verifier)
            )
        )
