"""A unit found through a reference, from the policy file to exact results in PostgreSQL."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager
from fractions import Fraction

import psycopg
import pytest

from proxy.base.errors import Refusal
from proxy.catalog.catalog_model import Catalog, ForeignKey, TableName
from proxy.compiler.backend_query import PublicList
from proxy.compiler.compiling import CompiledQuery
from proxy.compiler.copy_view import FoundCopy, WantedCopy
from proxy.drawing.charges import Charge, PaidQuery, Payable
from proxy.drawing.drawer import Drawer
from proxy.drawing.protected_reads import ListValues
from proxy.drawing.statement_run import StatementRun
from proxy.engine.query_pipeline import Engine
from proxy.exact.table import ExactTable, added_up
from proxy.mechanisms.loss import Loss
from proxy.policy.check import check, fitted
from proxy.policy.policy_model import Policy
from proxy.policy_file.policy_yaml import locate, read_policy
from proxy.protected.catalog_reader import read_catalog
from proxy.protected.protected_database import ProtectedDatabase
from proxy.query.syntax.statements import Statement
from proxy.shadow.shadow_tables import exposed_columns, shadow_tables
from proxy.turns.threads import Turn
from tests.asked_by import run_of
from tests.charged_plans import charged
from tests.policy.postgres import server
from tests.seeded_bits import SeededBits
from tests.uncharged_statements import read

pytestmark = pytest.mark.postgres

# Customer 1: three lines in two orders; customer 2: one; nobody: an order without a customer, a line
# without an order.
SOURCE = """
CREATE SCHEMA sales;
CREATE TABLE sales.orders (id int PRIMARY KEY, customer_id int);
CREATE TABLE sales.lines (id int PRIMARY KEY, order_id int REFERENCES sales.orders, price int NOT NULL);
INSERT INTO sales.orders VALUES (10, 1), (11, 1), (12, 2), (13, NULL);
INSERT INTO sales.lines VALUES (1, 10, 5), (2, 10, 6), (3, 11, 7), (4, 12, 8), (5, 13, 9), (6, NULL, 9);
"""
POLICY = """
dpproxy: 1
database: referring
source: host=nowhere
privacy: {epsilon: 1, delta: 1e-6, mechanism: best}
tables:
  sales.orders: {unit: {customer: customer_id}, max_rows_per_unit: 4, columns: {id: {}}}
  sales.lines:
    unit: {customer: order_id -> sales.orders.customer_id}
    max_rows_per_unit: ROWS
    columns: {price: {bounds: [0, 10]}}
budgets: {total: {epsilon: 100, delta: 1e-3}, default: {epsilon: 10, delta: 1e-4}}
"""
_OIDS = {"orders": 1, "lines": 2}


@pytest.fixture(scope="module")
def dsn() -> Iterator[str]:
    with psycopg.connect(server().dsn(), autocommit=True) as connection:
        connection.execute("CREATE DATABASE referring")
        with psycopg.connect(server().dsn("referring")) as own:
            own.execute(SOURCE)
        yield server().dsn("referring")
        connection.execute("DROP DATABASE referring WITH (FORCE)")


def known(dsn: str, rows: int = 50) -> tuple[Policy, Catalog]:
    catalog = read_catalog(dsn)
    text = POLICY.replace("ROWS", str(rows))
    policy = read_policy(text, "sales.yaml", {})
    assert not locate(check(policy, catalog), text, "sales.yaml").problems
    return fitted(policy, catalog), catalog


class Ports:
    """The real database, its exact results kept; a ledger that never ends."""

    def __init__(self, data: ProtectedDatabase) -> None:
        self.exact: list[ExactTable] = []
        self._data = data

    @asynccontextmanager
    async def session(self, turn: Turn) -> AsyncIterator[Ports]:
        yield self

    async def run(
        self,
        paid: PaidQuery,
        values: Mapping[str, int | str | None],
        is_selected: object = None,
    ) -> ExactTable:
        self.exact.append(await read(self._data, paid.query, values))
        return self.exact[-1]

    async def run_in_two_parts(
        self,
        paid: PaidQuery,
        values: Mapping[str, int | str | None],
        between: Callable[[ExactTable], Awaitable[str]],
    ) -> ExactTable:
        raise AssertionError("no question here has a mean of deviations")

    async def understand(self, queries: Sequence[CompiledQuery]) -> None:
        raise AssertionError("no question here joins a public table")

    async def copies(self, wanted: Mapping[TableName, WantedCopy]) -> Mapping[TableName, FoundCopy]:
        return {}

    async def refuse_impossible(self, queries: Sequence[CompiledQuery]) -> None:
        pass  # a single server can

    async def renew(self) -> None:
        raise AssertionError("no series")

    async def zone_offsets(self, zone: str, instants: Sequence[int]) -> tuple[int, ...] | None:
        raise AssertionError("all sessions here are in UTC")

    async def public_list(self, wanted: PublicList) -> ListValues:
        raise AssertionError("no question here has a list")

    async def look(self, analyst: str, plan: Payable) -> None:
        pass

    async def reserve(
        self,
        run: StatementRun,
        plan: Payable,
        fingerprint: str,
        digest: str,
        text: str | None = None,
    ) -> Charge:
        return charged(plan, "receipt", plan.loss)

    async def settle(self, receipt: str, answered: bool) -> None:
        assert answered

    async def remaining(self, analyst: str) -> Loss:
        return Loss(Fraction(10), Fraction(1, 10**4))

    async def admitted(self, analyst: str) -> Loss:
        return Loss(Fraction(10), Fraction(1, 10**4))

    async def day(self) -> int:
        return 0

    async def person(self, analyst: str) -> int | None:
        return None

    async def budget(self, analyst: str) -> str:
        return "[]"

    async def history(
        self,
        turn: Turn,
        *,
        newest_first: bool = False,
        before: int | None = None,
        limit: int = 10_000,
    ) -> str:
        return "[]"


def exact(dsn: str, text: str, rows: int = 50) -> list[ExactTable]:
    policy, catalog = known(dsn, rows)

    async def asked() -> list[ExactTable]:
        data = ProtectedDatabase(dsn)
        await data.open()
        try:
            ports = Ports(data)
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


@pytest.mark.parametrize(
    ("text", "rows", "total"),
    [
        ("SELECT count(*) FROM lines", 50, 4),  # what has no customer counts for nothing
        ("SELECT count(*) FROM lines", 2, 3),  # two of customer 1, one of customer 2
        ("SELECT sum(price) FROM lines", 50, 26),
        ("SELECT count(*) FROM lines WHERE order_id = 10", 50, 2),
        ("SELECT count(*) FROM lines l JOIN orders o ON l.order_id = o.id", 50, 4),
        ("SELECT count(*) FROM lines l JOIN orders o ON o.id = l.order_id WHERE o.id = 11", 50, 1),
        ("SELECT count(DISTINCT order_id) FROM lines", 50, 3),
    ],
)
def test_exact_results_belong_to_the_customer(dsn: str, text: str, rows: int, total: int) -> None:
    (table,) = exact(dsn, text, rows)
    (slots,) = table.slots
    assert added_up(table.rows, slots.count if slots.total is None else slots.total) == total


def test_the_reference_is_not_the_unit(dsn: str) -> None:
    """GROUP BY it is no work per unit but private keys; nothing meets the rows of another order by it."""
    inner = "SELECT order_id, count(*) AS n FROM lines GROUP BY order_id"
    (table,) = exact(dsn, f"SELECT avg(n) FROM ({inner}) q")
    assert sorted((row.keys, row.units) for row in table.rows) == [
        ((order,), 1) for order in ("10", "11", "12")
    ]
    with pytest.raises(Refusal):
        exact(dsn, "SELECT count(*) FROM lines a JOIN lines b ON a.order_id = b.order_id")


def test_the_shadow_has_the_reference_and_says_what_it_is_for(dsn: str) -> None:
    policy, catalog = known(dsn)
    tables = shadow_tables(policy, catalog, {"integer"})
    orders, lines = tables
    assert [column.name for column in orders.columns] == ["id", "customer_id"]
    assert [column.name for column in lines.columns] == ["order_id", "price"]
    assert lines.foreign_keys == (ForeignKey(("order_id",), orders.name, ("id",)),)
    uses = {row.column: row.usable_for for row in exposed_columns(policy, catalog, tables)}
    rare = "GROUP BY (values that many have)"
    assert uses["order_id"] == f"joins, WHERE, {rare}, COUNT, COUNT(DISTINCT)"
    assert uses["customer_id"] == (
        "joins, WHERE, GROUP BY inside a subquery, COUNT, COUNT(DISTINCT)"
    )
    assert uses["price"] == (
        f"WHERE, {rare}, COUNT, COUNT(DISTINCT), SUM, AVG, MIN, MAX (mechanism: best), variance, percentiles"
    )
