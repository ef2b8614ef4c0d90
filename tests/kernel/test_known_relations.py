"""What the rules say of a relation: each part of it that one condition alone decides."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction

import pytest

from proxy.base.sql_types import SqlType
from proxy.catalog.catalog_model import Catalog, TableName
from proxy.kernel.attribution import relation_of
from proxy.kernel.owners import ColumnNames, OfUnit, Public, Rows
from proxy.kernel.world import World
from proxy.policy.policy_model import IdentifierUnit, ProtectedTable
from proxy.query.ir.expressions import (
    Arithmetic,
    Comparator,
    Comparison,
    Constant,
    Expression,
    Operator,
)
from proxy.query.ir.query_aggregates import Aggregate, AggregateKind
from proxy.query.ir.relations import (
    GroupByUnit,
    OrderTerm,
    Relation,
    Subquery,
    UnionAll,
    WindowColumn,
    WindowFunction,
)
from tests.kernel.examples import (
    WORLD,
    column,
    columns_of,
    cut_visits,
    numbered_visits,
    of_table,
    scan,
)
from tests.pipeline_world import CATALOG

_VISITS, _CALLS = TableName("w", "visits"), TableName("w", "calls")
_I4, _ID = of_table("r1", "visits", "i4"), of_table("r1", "visits", "id")
_ONE = Constant(Fraction(1), SqlType.INT4)
_NEXT = Arithmetic(Operator.ADD, _I4, _ONE, SqlType.NUMERIC)
_NUMBERS = numbered_visits("uid").windows[0]


def _without_places() -> World:
    """No row of the visits has a place of its own, as of a view."""
    visits = replace(CATALOG.tables[_VISITS], has_ctid=False)
    return World(WORLD.policy, Catalog({**CATALOG.tables, _VISITS: visits}))


def _by_numbers() -> World:
    """The calls are of units that are numerics, of which equal ones may have several forms elsewhere."""
    calls = WORLD.policy.tables[_CALLS]
    assert isinstance(calls, ProtectedTable)
    calls = replace(calls, unit=IdentifierUnit("person", "n2"))
    return World(replace(WORLD.policy, tables={**WORLD.policy.tables, _CALLS: calls}), CATALOG)


def _grouped(table: str, *keys: str, unit: str = "uid") -> GroupByUnit:
    """By the unit and these keys, with the mean of a number."""
    mean = Aggregate(AggregateKind.AVG, of_table("r1", table, "i4"), None, SqlType.NUMERIC)
    by = tuple(of_table("r1", table, key) for key in keys)
    return GroupByUnit("g", scan("r1", table), None, of_table("r1", table, unit), (mean,), keys=by)


def _numbered(*partition: Expression) -> Subquery:
    window = replace(_NUMBERS, partition=(of_table("r1", "visits", "uid"), *partition))
    return _with(window)


def _with(*windows: WindowColumn) -> Subquery:
    return replace(numbered_visits("uid"), windows=windows)


def _first() -> Subquery:
    """The first visit of each person."""
    number = Comparison(Comparator.EQ, column("q", "rn", SqlType.INT8), _ONE)
    shown = (("i4", column("q", "i4", SqlType.INT4)),)
    return Subquery("f", numbered_visits("uid"), number, shown)


def _of_unit(relation: Relation, world: World = WORLD) -> OfUnit:
    owner = relation_of(relation, world).owner
    assert isinstance(owner, OfUnit)
    return owner


def _public(*tables: str) -> UnionAll:
    return UnionAll("u", tuple(columns_of(table, "t") for table in tables))


def test_a_row_without_a_place_has_no_column_of_it() -> None:
    there = ("r1", "ctid")
    assert there in relation_of(scan("r1", "visits"), WORLD).types
    assert there not in relation_of(scan("r1", "visits"), _without_places()).types


def test_one_column_of_a_key_names_no_row() -> None:
    owner = relation_of(scan("r1", "trips"), WORLD).owner
    assert isinstance(owner, Rows)
    assert owner.most == ()
    owner = relation_of(scan("r1", "people"), WORLD).owner
    assert isinstance(owner, Rows)
    assert owner.most == ((("r1", "id"), 1),)


_RANK = replace(
    _NUMBERS, name="ra", function=WindowFunction.RANK, order=(OrderTerm(_I4, False, False),)
)
_PASS: tuple[Callable[[], Relation], ...] = (
    # The place of a row is handed on.
    lambda: Subquery(
        "q", scan("r1", "visits"), None, (("z", column("r1", "ctid", SqlType.TID)), ("i4", _I4))
    ),
    # A name of a row is of no window.
    lambda: _with(replace(_NUMBERS, function=WindowFunction.ROW_NAME, partition=(), order=())),
    # Of two orders one tells no tied rows apart.
    lambda: _with(_NUMBERS, _RANK),
    # An order by a value that is computed.
    lambda: _with(replace(_NUMBERS, order=(OrderTerm(_NEXT, False, False),), ties=(_ID,))),
    lambda: _grouped("visits"),
)


@pytest.mark.parametrize("number", range(len(_PASS)))
def test_it_is_attributed(number: int) -> None:
    _of_unit(_PASS[number]())


def test_numbers_are_those_of_all_rows_of_a_unit() -> None:
    number: ColumnNames = frozenset({("q", "rn")})
    assert _of_unit(_numbered()).numbered == number
    assert _of_unit(_numbered(of_table("r1", "visits", "uid"))).numbered == number
    assert not _of_unit(_numbered(_I4)).numbered
    assert not _of_unit(_numbered(_NEXT)).numbered


def test_one_number_of_each_unit_is_one_row() -> None:
    assert not _of_unit(numbered_visits("uid")).alone
    assert _of_unit(_first()).alone


def test_rows_with_windows_are_not_rows_that_change() -> None:
    below = cut_visits("uid", 3)
    assert _of_unit(below).rows is not None
    shown = replace(numbered_visits("uid"), source=below, windows=())
    assert _of_unit(shown).rows is not None
    assert _of_unit(replace(shown, windows=(_NUMBERS,))).rows is None


def test_a_text_that_is_grouped_holds_no_unit() -> None:
    """It is cut to its first characters, and the unit itself is not."""
    assert _of_unit(_grouped("notes", "uid")).columns == {("g", "unit")}
    assert _of_unit(_grouped("orders", "uid")).columns == {("g", "unit"), ("g", "k1")}


def test_the_key_that_names_a_row_names_it_when_it_is_grouped() -> None:
    assert _of_unit(_grouped("visits", "id", "i4")).named == {(("g", "k1"), _VISITS)}


def test_groups_of_a_unit_are_one() -> None:
    assert not _of_unit(_grouped("orders", "i4")).alone
    assert _of_unit(_grouped("members", "i4")).alone  # it has one row
    assert _of_unit(_grouped("calls", "n2", unit="n2"), _by_numbers()).alone  # all are its own


def test_a_union_of_public_rows_is_public() -> None:
    owner = relation_of(_public("regions", "regions"), WORLD).owner
    assert isinstance(owner, Public)


def test_a_column_of_two_types_holds_no_unit() -> None:
    """A cast could make two of them equal."""
    of_two = UnionAll("u", (columns_of("orders", "uid"), columns_of("visits", "uid")))
    assert not _of_unit(of_two).columns
    assert relation_of(of_two, WORLD).types["u", "uid"] is SqlType.NUMERIC


def test_texts_of_a_union_may_be_character_varying() -> None:
    """Of the first part they are: the type that other texts meet less exactly is taken for it."""
    texts = UnionAll("u", (columns_of("orders", "t"), columns_of("calls", "s")))
    assert relation_of(texts, WORLD).types["u", "t"] is SqlType.VARCHAR
