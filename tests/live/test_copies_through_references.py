"""Through the whole proxy: answers come from a prepared copy of rows whose unit is behind a reference.

The rows are those of a partitioned table.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest
from psycopg.conninfo import make_conninfo

from proxy.catalog.catalog_model import TableName
from proxy.cli.prepare_command import prepare
from proxy.compiler.copy_view import copy_script
from proxy.policy.policy_model import ProtectedTable
from proxy.policy_file.policy_yaml import read_policy
from proxy.protected.catalog_reader import read_catalog
from tests.live.served_database import READER, READER_PASSWORD, policy_head, served_database
from tests.live.test_answers_of_copies import _Asked, owner_dsn, run_script
from tests.live_proxy import LiveProxy, start_proxy
from tests.servers_fixture import servers

_NAME = "copied_lines"
# 300 customers with three orders of three lines; customer 1 has 1,000 lines more. 100 lines are of an order
# without a customer, 100 of no order, 100 of one that is not there.
_SCRIPT = """\
CREATE SCHEMA c;
CREATE TABLE c.orders (id bigint PRIMARY KEY, customer int);
CREATE TABLE c.lines (
    id bigint, day date NOT NULL, order_id bigint, kind text NOT NULL, paid int NOT NULL, price numeric(8,2),
    PRIMARY KEY (id, day)) PARTITION BY RANGE (day);
CREATE TABLE c.old_lines PARTITION OF c.lines FOR VALUES FROM ('2020-01-01') TO ('2026-01-01');
CREATE TABLE c.new_lines PARTITION OF c.lines FOR VALUES FROM ('2026-01-01') TO ('2027-01-01');
INSERT INTO c.orders SELECT n, 1 + n % 300 FROM generate_series(1, 900) n;
INSERT INTO c.orders VALUES (0, NULL);
CREATE FUNCTION pg_temp.line(id bigint, order_id bigint) RETURNS void LANGUAGE sql AS
    $$ INSERT INTO c.lines VALUES ($1, date '2025-07-01' + ($1 % 365)::int, $2,
        CASE $1 % 2 WHEN 0 THEN 'a' ELSE 'b' END, $1 % 10, $1 % 10) $$;
SELECT pg_temp.line(10 * o + n, o) FROM generate_series(1, 900) o, generate_series(0, 2) n;
SELECT pg_temp.line(100000 + n, 300) FROM generate_series(1, 1000) n;
SELECT pg_temp.line(200000 + n, (ARRAY[0, NULL, -7])[1 + n % 3]) FROM generate_series(1, 300) n;
"""
_TABLES = """\
tables:
  c.orders: {unit: {customer: customer}, max_rows_per_unit: 10, columns: {id: {}}}
  c.lines:
    unit: {customer: order_id -> c.orders.customer}
    max_rows_per_unit: 10
    prepared: {table: dp.lines, max_age: 1h}
    columns:
      kind: {values: [a, b]}
      paid: {bounds: [0, 10]}
      price: {bounds: [0, 10]}
"""
_LINES = TableName("c", "lines")
_COUNT = "SELECT count(*) FROM c.lines"
_COUNTED = 2_701  # nine lines of each customer, and a tenth of the first


def _script(dsn: str) -> str:
    text = policy_head(_NAME, "best", "100") + _TABLES
    table = read_policy(text, "c.yaml", {"DSN": "host=db"}).tables[_LINES]
    assert isinstance(table, ProtectedTable)
    found = copy_script(table, read_catalog(dsn), 10, READER)
    assert found is not None
    return found


def _refresh() -> None:
    dsn = owner_dsn(servers(), _NAME)
    run_script(dsn, _script(dsn))


@pytest.fixture(scope="module")
def proxy() -> Iterator[LiveProxy]:
    pair = servers()
    served = served_database(pair, _NAME, _SCRIPT, _TABLES, "best", _refresh, "100")
    found = start_proxy(pair, [served])
    yield found
    found.stop()


@pytest.fixture
def asked(proxy: LiveProxy) -> Iterator[_Asked]:
    found = _Asked(proxy, _NAME)
    yield found
    found.connection.close()


@pytest.fixture
def owner(proxy: LiveProxy) -> Iterator[psycopg.Connection]:
    """The owner's session; the copy is made anew after the test."""
    with psycopg.connect(owner_dsn(proxy.servers, _NAME), autocommit=True) as connection:
        yield connection
    _refresh()


def _count(asked: _Asked) -> int:
    (count,) = asked.row(_COUNT)
    return int(str(count))


def test_counts_and_sums_are_those_of_customers(asked: _Asked) -> None:
    count, total, amount, orders = asked.row(
        "SELECT count(*), sum(paid), sum(price), count(DISTINCT order_id) FROM c.lines"
    )
    assert asked.is_of_copy()
    assert abs(int(str(count)) - _COUNTED) < 30
    assert 2_400 < float(str(total)) < 3_100 and abs(float(str(amount)) - float(str(total))) < 120
    assert abs(int(str(orders)) - 900) < 30
    explained = asked.connection.execute(f"EXPLAIN VERBOSE {_COUNT}".encode())
    plan = "\n".join(str(row) for row in explained)
    assert '"dp"."lines"' in plan and '"orders"' not in plan
    assert "c.lines, c.orders: one unit has up to 10 rows of the prepared copy" in plan


def test_groups_conditions_and_quantiles_come_from_the_copy(asked: _Asked) -> None:
    rows = asked.connection.execute(
        b"SELECT kind, count(*), sum(paid) FROM c.lines WHERE order_id > 0 GROUP BY kind ORDER BY kind"
    ).fetchall()
    assert [row[0] for row in rows] == ["a", "b"]
    assert abs(sum(row[1] for row in rows) - _COUNTED) < 40
    asked.row("SELECT percentile_disc(0.5) WITHIN GROUP (ORDER BY price) FROM c.lines")
    assert asked.is_of_copy()


@pytest.mark.parametrize(
    "statement",
    [
        "SELECT count(*) FROM c.lines JOIN c.orders ON c.lines.order_id = c.orders.id",
        "SELECT count(*) FROM c.lines l WHERE order_id IN (SELECT id FROM c.orders)",
        "SELECT avg(n) FROM (SELECT order_id, count(*) AS n FROM c.lines GROUP BY order_id) q",
    ],
)
def test_what_the_copy_cannot_serve_comes_from_the_tables(asked: _Asked, statement: str) -> None:
    asked.row(statement)
    assert not asked.is_of_copy()


def test_orders_of_others_are_seen_at_the_next_refresh(
    asked: _Asked, owner: psycopg.Connection
) -> None:
    assert abs(_count(asked) - _COUNTED) < 30
    # All orders of 99 customers.
    owner.execute("UPDATE c.orders SET customer = NULL WHERE id % 3 = 0 AND customer <> 1")
    assert abs(_count(asked) - _COUNTED) < 30 and asked.is_of_copy()
    _refresh()
    assert abs(_count(asked) - (_COUNTED - 99 * 9)) < 30 and asked.is_of_copy()
    owner.execute("UPDATE c.orders SET customer = 1 + id % 300 WHERE id > 0")


_CHANGES: tuple[str, ...] = (
    "ALTER TABLE dp.lines ALTER dp_unit TYPE bigint",
    "ALTER TABLE dp.lines ALTER dp_unit TYPE text",
    "ALTER TABLE dp.lines RENAME dp_unit TO customer",
    "ALTER TABLE dp.lines DROP CONSTRAINT slot_is_bounded",
    "ALTER TABLE dp.lines DROP CONSTRAINT lines_new_pkey",
    "DROP VIEW dp.lines_source",
    "CREATE OR REPLACE VIEW dp.lines_source AS SELECT * FROM dp.lines",
)


@pytest.mark.parametrize("change", _CHANGES)
def test_a_copy_that_is_not_as_it_has_to_be_is_not_read(
    asked: _Asked, owner: psycopg.Connection, change: str
) -> None:
    _count(asked)
    assert asked.is_of_copy()
    owner.execute(change.encode())
    assert abs(_count(asked) - _COUNTED) < 30
    assert not asked.is_of_copy()


def test_the_command_prints_the_join(
    proxy: LiveProxy,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    dsn, file = owner_dsn(proxy.servers, _NAME), tmp_path / "c.yaml"
    file.write_text(policy_head(_NAME, "best", "100") + _TABLES, encoding="utf-8")
    monkeypatch.setenv("DSN", make_conninfo(dsn, user=READER, password=READER_PASSWORD))
    prepare(file, None, None)
    printed = capsys.readouterr().out
    assert printed.strip() == _script(dsn).strip()
    assert "FROM c.lines t JOIN c.orders u ON u.id = t.order_id" in printed
    # What the script says at its end can be run, too.
    query = printed.rpartition("(for you alone: this reads rows):\n")[2].replace("-- ", "")
    with psycopg.connect(dsn) as connection:
        kept: dict[int, float] = dict(connection.execute(query.encode()).fetchall())
    assert 0.7 < kept[10] < kept[40] < 1
