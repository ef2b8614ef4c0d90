"""Compiled SQL is shard-local when tables are distributed by the privacy unit: rows of different units never
meet before they are added up. It is the condition under which Citus pushes a subquery down to its shards.

Checked on the compiled text of every plan with UnitNeighbours: each relation below the outermost grouping is
joined on the unit, along a reference or with a public table; each inner GROUP BY holds the unit; each window
is within a unit.
"""

from __future__ import annotations

import re
from fractions import Fraction

import pytest
import sqlglot
from sqlglot import expressions as exp

from proxy.base.sql_types import SqlType
from proxy.catalog.catalog_model import Catalog, Column, ForeignKey, Table, TableName
from proxy.cli.explain_command import NoData, NoLedger, resolved
from proxy.drawing.drawer import Drawer
from proxy.engine.query_pipeline import Engine
from proxy.kernel.neighbour_kinds import UnitNeighbours
from proxy.planner.facts import PublicContents
from proxy.policy.policy_model import (
    Bounds,
    ColumnPolicy,
    IdentifierUnit,
    Policy,
    ProtectedTable,
    PublicTable,
    UnitPath,
)
from proxy.query.syntax.statements import Statement
from tests.seeded_bits import SeededBits
from tests.servers_fixture import PRIVACY, budgets
from tests.unchecked_blocks import compile_block

PEOPLE, ORDERS, LINES, PRODUCTS = (
    TableName("s", name) for name in ("people", "orders", "lines", "products")
)


def _column(name: str, kind: SqlType = SqlType.INT4) -> Column:
    return Column(name, kind, kind.sql, name != "id")


CATALOG = Catalog(
    {
        PEOPLE: Table(
            PEOPLE, (_column("id"), _column("state", SqlType.TEXT), _column("age")), ("id",)
        ),
        ORDERS: Table(
            ORDERS,
            (
                _column("id"),
                _column("person"),
                _column("product"),
                _column("total"),
                _column("status", SqlType.TEXT),
            ),
            ("id",),
        ),
        LINES: Table(
            LINES,
            (_column("id"), _column("order_id"), _column("amount")),
            ("id",),
            foreign_keys=(ForeignKey(("order_id",), ORDERS, ("id",)),),
        ),
        PRODUCTS: Table(PRODUCTS, (_column("id"), _column("category", SqlType.TEXT)), ("id",)),
    }
)


def _bounded(name: str) -> ColumnPolicy:
    return ColumnPolicy(name, Bounds(Fraction(0), Fraction(100)))


POLICY = Policy(
    "s",
    "",
    PRIVACY,
    {
        PEOPLE: ProtectedTable(
            PEOPLE,
            IdentifierUnit("person", "id"),
            {"state": ColumnPolicy("state", values=("CA", "NY")), "age": _bounded("age")},
            1,
        ),
        ORDERS: ProtectedTable(
            ORDERS,
            IdentifierUnit("person", "person"),
            {
                "id": ColumnPolicy("id"),
                "product": ColumnPolicy("product", references=(PRODUCTS, "id")),
                "total": _bounded("total"),
                "status": ColumnPolicy("status", values=("a", "b", "c")),
            },
            6,
            2,
            3,
        ),
        LINES: ProtectedTable(
            LINES,
            IdentifierUnit("person", "order_id", UnitPath(ORDERS, "person")),
            {"amount": _bounded("amount")},
            6,
        ),
        PRODUCTS: PublicTable(PRODUCTS),
    },
    budgets(),
    "s",
)

QUESTIONS = (
    "SELECT count(*), sum(total) FROM s.orders",
    "SELECT avg(total), min(total), max(total) FROM s.orders",
    "SELECT variance(total), percentile_cont(0.5) WITHIN GROUP (ORDER BY total) FROM s.orders",
    "SELECT count(DISTINCT person), count(DISTINCT status) FROM s.orders",
    "SELECT status, count(*), sum(total), avg(total) FROM s.orders GROUP BY status",
    "SELECT status, count(DISTINCT product) FROM s.orders GROUP BY status",
    "SELECT state, sum(total) FROM s.people p JOIN s.orders o ON p.id = o.person GROUP BY state",
    "SELECT count(*) FROM s.people p LEFT JOIN s.orders o ON p.id = o.person",
    "SELECT category, count(*) FROM s.orders o JOIN s.products p ON o.product = p.id GROUP BY category",
    "SELECT avg(n) FROM (SELECT person, count(*) AS n FROM s.orders GROUP BY person) x",
    "SELECT count(*) FROM (SELECT total FROM s.orders UNION ALL SELECT total FROM s.orders) x",
    "SELECT sum(amount) FROM s.lines",
    "SELECT count(*) FROM s.lines l JOIN s.orders o ON l.order_id = o.id",
    "SELECT count(*) FROM s.orders a JOIN s.orders b ON a.person = b.person WHERE b.total > 5",
    "SELECT sum(l.amount) FROM s.lines l JOIN s.orders o ON l.order_id = o.id"
    " JOIN (SELECT person FROM s.orders) q ON q.person = o.person",
    "WITH big AS (SELECT person, total FROM s.orders WHERE total > 5) SELECT sum(total) FROM big",
)


def _compiled(text: str) -> list[str]:
    oids = dict(enumerate(sorted(POLICY.tables), start=1))
    values = {(PRODUCTS, "category"): ("x", "y"), (PRODUCTS, "id"): ("1", "2")}
    public = PublicContents(values=values)
    engine = Engine(Drawer(POLICY, CATALOG, NoData(), SeededBits(1)), oids, NoLedger(), public)
    found = engine.statements.look(text)
    assert isinstance(found, Statement)
    question = engine.statements.read(found, resolved(found, oids), ())
    assert question is not None
    plan = engine.planned(question, {})
    for block in plan.blocks:
        neighbours = block.neighbours  # rows that are units by a subquery are gathered already
        assert isinstance(neighbours, UnitNeighbours) or neighbours.not_null is not None
    return [query.sql for block in plan.blocks for query in compile_block(block)]


def moved(sql: str) -> list[str]:
    """What would move rows between shards."""
    # A placeholder is a constant here.
    tree = _adding_up(sqlglot.parse_one(_constants(sql), dialect="postgres"))
    wrong = [
        f"window of several units: {w.sql()}" for w in tree.find_all(exp.Window) if not _by_unit(w)
    ]
    outermost = tree
    for select in tree.find_all(exp.Select):
        below_is_table = any(
            isinstance(source, exp.Table) and _select_of(source) is select
            for source in select.find_all(exp.Table)
        )
        group = select.args.get("group")
        if select is not outermost and group is not None and not _holds_unit(select, group):
            wrong.append(f"grouped by something else: {group.sql()}")
        if select is outermost and below_is_table:
            wrong.append("rows are added up without being gathered per unit")
    for join in tree.find_all(exp.Join):
        if not _on_unit(join):
            wrong.append(f"joined on something else: {join.sql()}")
    return wrong


def _adding_up(tree: exp.Expr) -> exp.Expr:
    """The innermost SELECT over gathered units that groups by something else: above it are sums of all."""
    found = select = tree
    while isinstance(source := select.args["from_"].this, exp.Subquery):
        if not isinstance(source.this, exp.Select):
            break
        select = source.this
        group = select.args.get("group")
        over_units = isinstance(select.args["from_"].this, exp.Subquery)
        if over_units and group is not None and not _holds_unit(select, group):
            found = select
    return found


def _constants(sql: str) -> str:
    return re.sub(r"%\(\w+\)s", "1", sql)


def _select_of(node: exp.Expression) -> exp.Expression | None:
    return node.find_ancestor(exp.Select)


def _by_unit(window: exp.Window) -> bool:
    if isinstance(window.parent, exp.WithinGroup):
        return True
    return any(_is_unit(part) for part in window.args.get("partition_by") or [])


def _is_unit(node: exp.Expression | None) -> bool:
    """`unit` and `dp_unit` of our own subqueries; of a table, the column that holds the unit."""
    if not isinstance(node, exp.Column):
        return False
    if node.name == "dp_unit":  # no table has it, whatever alias stands before it
        return True
    root = node.root()
    tables = {table.alias: table.name for table in root.find_all(exp.Table)}
    if not tables.get(node.table):
        return node.name in ("unit", "dp_unit", "person")
    return node.name == {"people": "id", "orders": "person"}.get(tables[node.table])


def _holds_unit(select: exp.Select, group: exp.Group) -> bool:
    for part in group.expressions:
        if isinstance(part, exp.Literal) and not part.is_string:
            part = select.expressions[int(part.this) - 1].unalias()
        if _is_unit(part):
            return True
    return False


def _on_unit(join: exp.Join) -> bool:
    """One equality on the unit, on a reference that leads to it, or on a key of a public table; or a subquery
    without a table, which names columns anew."""
    if not join.this.find(exp.Table):
        return True
    on = join.args.get("on")
    if on is None:
        return False
    keys = {"unit", "dp_unit", "id", "person", "order_id", "product"}
    for equal in on.find_all(exp.EQ):
        left, right = _stored(equal.this), equal.expression
        columns = isinstance(left, exp.Column) and isinstance(right, exp.Column)
        if columns and left.name in keys and right.name in keys:
            return True
    return False


def _stored(node: exp.Expression) -> exp.Expression:
    """The column in coalesce(column, column)."""
    is_same = isinstance(node, exp.Coalesce) and node.expressions == [node.this]
    return node.this if is_same else node


@pytest.mark.parametrize("text", QUESTIONS)
def test_units_never_meet_before_they_are_added_up(text: str) -> None:
    for sql in _compiled(text):
        assert moved(sql) == [], sql


def test_the_check_finds_what_moves() -> None:
    for sql, word in (
        (
            "SELECT sum(v) FROM (SELECT sum(total) AS v FROM s.orders AS r1 GROUP BY r1.status) u",
            "grouped",
        ),
        (
            "SELECT sum(v) FROM (SELECT r1.person AS unit, row_number() OVER (PARTITION BY r1.status) AS v"
            " FROM s.orders AS r1) u",
            "window",
        ),
        (
            "SELECT sum(v) FROM (SELECT r1.person AS unit, count(*) AS v FROM (s.orders AS r1"
            " JOIN s.people AS r2 ON r1.total = r2.age) GROUP BY r1.person) u",
            "joined",
        ),
        ("SELECT count(*) FROM s.orders AS r1", "gathered"),
    ):
        assert any(word in line for line in moved(sql)), sql
