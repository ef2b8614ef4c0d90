"""A prepared copy of rows whose unit is behind a reference, as the owner makes it, beside its tables."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Mapping
from dataclasses import replace

import psycopg
import pytest

from proxy.catalog.catalog_model import Catalog, TableName
from proxy.compiler.copy_view import FoundCopy, WantedCopy, copy_script, made_copy, wanted_copies
from proxy.drawing.charges import PaidQuery
from proxy.drawing.drawer import Drawer
from proxy.engine.query_pipeline import Engine
from proxy.exact.table import ExactTable, added_up
from proxy.policy.check import check, fitted
from proxy.policy.policy_model import Policy, ProtectedTable
from proxy.policy_file.policy_yaml import locate, read_policy
from proxy.protected.catalog_reader import read_catalog
from proxy.protected.protected_database import ProtectedDatabase
from proxy.query.syntax.statements import Statement
from tests.asked_by import run_of
from tests.engine.test_unit_through_reference import Ports
from tests.policy.postgres import server
from tests.seeded_bits import SeededBits

pytestmark = pytest.mark.postgres

# No foreign key: references are NULL, empty, of no order, or equal to an order but for case or a blank.
# Customers are NULL, the empty text, or texts that some collations hold for equal. Some orders have no lines.
SOURCE = """
CREATE SCHEMA sales;
CREATE TABLE sales.orders (id text PRIMARY KEY, customer_id text);
CREATE TABLE sales.lines (
    id text, part int, order_id text, price int, kind text, amount numeric(8,2), PRIMARY KEY (part, id));
SELECT setseed(0.5);
INSERT INTO sales.orders
SELECT CASE n % 3 WHEN 0 THEN 'o' WHEN 1 THEN 'O' ELSE ' o' END || n / 3,
    (ARRAY[NULL, '', ' ', 'x', 'X', 'x ', 'é', e'e\\u0301', '''', 'o1', '''; --', 'c' || n % 17])
        [1 + floor(12 * random())::int]
FROM generate_series(1, 240) n;
INSERT INTO sales.orders VALUES ('', 'of the empty order'), ('of nobody', NULL);
INSERT INTO sales.lines
SELECT 'l' || n, n % 4,
    (ARRAY[NULL, '', 'none', 'O1 ', 'of nobody', 'o1', 'o1', 'o' || n % 100, 'O' || n % 100, ' o' || n % 100])
        [1 + floor(10 * random())::int],
    (ARRAY[NULL, -5, 0, 3, 7, 10, 4000])[1 + floor(7 * random())::int],
    (ARRAY[NULL, 'a', 'a', 'b', 'unlisted'])[1 + floor(5 * random())::int],
    (ARRAY[NULL, 'NaN', -1, 0.01, 2.5, 9.99, 100000])[1 + floor(7 * random())::int]::numeric
FROM generate_series(1, 3000) n;
"""
POLICY = """
dpproxy: 1
database: referring
source: host=nowhere
privacy: {epsilon: 1, delta: 1e-6, mechanism: best}
tables:
  sales.orders: {unit: {customer: customer_id}, max_rows_per_unit: ROWS, columns: {id: {}}}
  sales.lines:
    unit: {customer: order_id -> sales.orders.customer_id}
    max_rows_per_unit: ROWS
    prepared: {table: dp.lines, max_age: 1h}
    columns:
      price: {bounds: [0, 10]}
      kind: {values: [a, b, null]}
      amount: {bounds: [0, 10]}
budgets: {total: {epsilon: 100, delta: 1e-3}, default: {epsilon: 10, delta: 1e-4}}
"""
LINES = TableName("sales", "lines")
_OIDS = {"orders": 1, "lines": 2}
_ALL_ROWS, _FEW_ROWS = 3_000, 3
_JOINED = (
    "FROM sales.lines l JOIN sales.orders o ON l.order_id = o.id WHERE o.customer_id IS NOT NULL"
)


def known(dsn: str, rows: int) -> tuple[Policy, Catalog]:
    """With the copy as a reader without rights to write sees it."""
    catalog, text = read_catalog(dsn), POLICY.replace("ROWS", str(rows))
    policy = read_policy(text, "sales.yaml", {})
    assert not locate(check(policy, catalog), text, "sales.yaml").problems
    policy = fitted(policy, catalog)
    made = made_copy(lines_of(policy), catalog, rows)
    assert made is not None
    return policy, replace(catalog, tables={**catalog.tables, made.name: made})


def lines_of(policy: Policy) -> ProtectedTable:
    table = policy.tables[LINES]
    assert isinstance(table, ProtectedTable)
    return table


def fill(dsn: str, rows: int) -> None:
    policy, catalog = known(dsn, rows)
    script = copy_script(lines_of(policy), catalog, rows, "referring_reader")
    assert script is not None
    with psycopg.connect(dsn, autocommit=True) as owner:
        owner.execute(script.partition("VACUUM")[0].encode())


@pytest.fixture(scope="module")
def dsn() -> Iterator[str]:
    with psycopg.connect(server().dsn(), autocommit=True) as connection:
        connection.execute("CREATE ROLE referring_reader")
        connection.execute("CREATE DATABASE exact_copies TEMPLATE template0 ENCODING 'UTF8'")
        with psycopg.connect(server().dsn("exact_copies")) as own:
            own.execute(SOURCE.encode())
        yield server().dsn("exact_copies")
        connection.execute("DROP DATABASE exact_copies WITH (FORCE)")
        connection.execute("DROP ROLE referring_reader")


class _OfCopies(Ports):
    """Every copy that is wanted can be read, or none."""

    def __init__(self, data: ProtectedDatabase, catalog: Catalog, *, has_copies: bool) -> None:
        super().__init__(data)
        self._catalog, self._has_copies = catalog, has_copies

    async def run(
        self,
        paid: PaidQuery,
        values: Mapping[str, int | str | None],
        is_selected: object = None,
    ) -> ExactTable:
        assert ('"dp"."lines"' in paid.query.sql) is self._has_copies
        assert ('"orders"' in paid.query.sql) is not self._has_copies
        return await super().run(paid, values, is_selected)

    async def copies(self, wanted: Mapping[TableName, WantedCopy]) -> Mapping[TableName, FoundCopy]:
        found: dict[TableName, FoundCopy] = {}
        if not self._has_copies:
            return found
        for name, one in wanted.items():
            bound = self._catalog.tables[one.table].row_bound
            assert bound is not None and one.printed
            found[name] = FoundCopy(bound=bound, as_of="now", age=1, is_as_printed=True, locked=1)
        return found


def exact(dsn: str, text: str, rows: int, *, of_copy: bool) -> list[ExactTable]:
    policy, catalog = known(dsn, rows)

    async def asked() -> list[ExactTable]:
        data = ProtectedDatabase(dsn)
        await data.open()
        try:
            ports = _OfCopies(data, catalog, has_copies=of_copy)
            names = {oid: TableName("sales", name) for name, oid in _OIDS.items()}
            engine = Engine(Drawer(policy, catalog, ports, SeededBits(3)), names, ports)
            statement = engine.statements.look(text)
            assert isinstance(statement, Statement)
            oids = tuple(_OIDS.get(name.rpartition(".")[2]) for name in statement.relations)
            question = engine.statements.read(statement, oids, ())
            assert question is not None
            await engine.run(question, (), {}, run_of("alice"))
            return ports.exact
        finally:
            await data.close()

    return asyncio.run(asked())


def totals(tables: list[ExactTable]) -> dict[tuple[object, ...], int]:
    """By keys and release."""
    found: dict[tuple[object, ...], int] = {}
    for table in tables:
        for row in table.rows:
            for release, slots in zip(table.releases, table.slots, strict=True):
                slot = slots.count if slots.total is None else slots.total
                key = (*row.keys, release)
                found[key] = found.get(key, 0) + added_up([row], slot)
    return {key: total for key, total in found.items() if total}


def test_a_copy_has_the_rows_of_the_join(dsn: str) -> None:
    """Each row once; none whose reference or customer is NULL, or leads nowhere."""
    fill(dsn, _ALL_ROWS)
    with psycopg.connect(dsn) as owner:
        read = "order_id, price, kind, amount"
        copied = owner.execute(
            f"SELECT dp_unit, {read} FROM dp.lines ORDER BY (dp_unit, {read})::text".encode()
        ).fetchall()
        joined = owner.execute(
            f"SELECT customer_id, {read} {_JOINED} ORDER BY (customer_id, {read})::text".encode()
        ).fetchall()
        row = owner.execute("SELECT count(*) FROM sales.lines").fetchone()
    assert row is not None and 1_000 < len(joined) < row[0]
    assert repr(copied) == repr(joined)  # NaN is not equal to itself


def test_a_copy_has_so_many_rows_of_each_customer(dsn: str) -> None:
    fill(dsn, _FEW_ROWS)
    with psycopg.connect(dsn) as owner:
        copied = owner.execute(
            "SELECT dp_unit, count(*), max(slot) FROM dp.lines GROUP BY 1 ORDER BY 1"
        ).fetchall()
        joined = owner.execute(
            f"SELECT customer_id, least(count(*), {_FEW_ROWS}) {_JOINED} GROUP BY 1 ORDER BY 1".encode()
        ).fetchall()
    assert [(customer, rows) for customer, rows, _ in copied] == joined
    assert all(rows == most for _, rows, most in copied)


@pytest.mark.parametrize(
    "text",
    [
        "SELECT count(*) FROM lines",
        "SELECT count(price), sum(price), sum(amount) FROM lines",
        "SELECT count(*), sum(amount) FILTER (WHERE price > 2) FROM lines WHERE order_id = 'o1'",
        "SELECT count(*) FROM lines WHERE order_id IS NULL",
        "SELECT count(*) FROM lines WHERE order_id <> '' AND kind = 'unlisted'",
        "SELECT kind, count(*), sum(price), sum(amount) FROM lines GROUP BY kind",
        "SELECT count(DISTINCT order_id) FROM lines WHERE price > 0",
        "SELECT sum(price * 2) FROM lines WHERE amount < 9",
    ],
)
def test_exact_results_are_those_of_the_tables(dsn: str, text: str) -> None:
    fill(dsn, _ALL_ROWS)
    of_copy, of_table = (exact(dsn, text, _ALL_ROWS, of_copy=choice) for choice in (True, False))
    assert totals(of_copy) == totals(of_table)
    assert ("IS NULL" in text) != bool(totals(of_table))


def test_few_rows_of_each_customer_count(dsn: str) -> None:
    fill(dsn, _FEW_ROWS)
    text = "SELECT count(*) FROM lines"
    of_copy, of_table = (exact(dsn, text, _FEW_ROWS, of_copy=choice) for choice in (True, False))
    assert totals(of_copy) == totals(of_table)
    assert all(total < 3 * 100 for total in totals(of_copy).values())


def test_the_unit_is_looked_for_where_the_reference_leads(dsn: str) -> None:
    policy, catalog = known(dsn, _FEW_ROWS)
    wanted = wanted_copies(policy, catalog)[LINES]
    assert (wanted.holder, wanted.held) == (TableName("sales", "orders"), "customer_id")
