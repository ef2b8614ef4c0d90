"""Where references lead, and what numbers rows within a unit: conditions of owners.py and row_numbers.py."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import pytest

from proxy.base.sql_types import SqlType
from proxy.catalog.catalog_model import TableName
from proxy.kernel.owners import holder_of_units, within
from proxy.kernel.refusals import NotPrivate
from proxy.kernel.row_numbers import one_number
from proxy.kernel.world import World
from proxy.policy.policy_model import IdentifierUnit, ProtectedTable, PublicTable, UnitPath
from proxy.query.ir.expressions import Comparator, Comparison, Connective, Constant, Expression
from tests.kernel.examples import WORLD, column

_ORDERS = TableName("w", "orders")
_UNIT = IdentifierUnit("person", "order_id", UnitPath(_ORDERS, "uid"))
_TABLE = WORLD.catalog.tables[_ORDERS]


def _policy_of(unit: IdentifierUnit) -> World:
    there = WORLD.policy.tables[_ORDERS]
    assert isinstance(there, ProtectedTable)
    tables = {**WORLD.policy.tables, _ORDERS: replace(there, unit=unit)}
    return replace(WORLD, policy=replace(WORLD.policy, tables=tables))


def _public() -> World:
    tables = {**WORLD.policy.tables, _ORDERS: PublicTable(_ORDERS)}
    return replace(WORLD, policy=replace(WORLD.policy, tables=tables))


def _keyed_by(*key: str) -> World:
    tables = {**WORLD.catalog.tables, _ORDERS: replace(_TABLE, primary_key=key)}
    return replace(WORLD, catalog=replace(WORLD.catalog, tables=tables))


def _without_table() -> World:
    tables = {name: table for name, table in WORLD.catalog.tables.items() if name != _ORDERS}
    return replace(WORLD, catalog=replace(WORLD.catalog, tables=tables))


_NO_UNIT = "a reference that leads to no unit"
_LEADS_NOWHERE: dict[str, tuple[IdentifierUnit, World, str]] = {
    "no reference": (replace(_UNIT, path=None), WORLD, "a unit without a reference"),
    "no table": (_UNIT, _without_table(), _NO_UNIT),
    "no policy": (replace(_UNIT, path=UnitPath(TableName("w", "x"), "uid")), WORLD, _NO_UNIT),
    "a public table": (_UNIT, _public(), _NO_UNIT),
    "another unit": (_UNIT, _policy_of(IdentifierUnit("caller", "uid")), _NO_UNIT),
    "a unit in another column": (_UNIT, _policy_of(IdentifierUnit("person", "i4")), _NO_UNIT),
    "a reference again": (_UNIT, _policy_of(replace(_UNIT, column="uid")), _NO_UNIT),
    "no key": (_UNIT, _keyed_by(), _NO_UNIT),
    "a key of two columns": (_UNIT, _keyed_by("id", "i4"), _NO_UNIT),
}


@pytest.mark.parametrize("name", _LEADS_NOWHERE)
def test_a_reference_leads_to_the_table_of_units(name: str) -> None:
    assert holder_of_units(_UNIT, WORLD) == _TABLE
    unit, world, where = _LEADS_NOWHERE[name]
    with pytest.raises(NotPrivate) as refused:
        holder_of_units(unit, world)
    assert refused.value.where == where


def test_bounds_are_of_columns_that_are_left() -> None:
    bounds = ((("r1", "i4"), 1), (("r1", "t"), 2))
    assert within(bounds, {("r1", "t"), ("r1", "d")}) == ((("r1", "t"), 2),)


_NUMBER, _OTHER = (column("q", name, SqlType.INT8) for name in ("rn", "i8"))


def _number(value: Fraction | int | str | None) -> Constant:
    of = value if isinstance(value, str | None) else Fraction(value)
    return Constant(of, SqlType.TEXT if isinstance(value, str) else SqlType.NUMERIC)


_FIRST = Comparison(Comparator.EQ, _NUMBER, _number(1))
_LETS_PASS: list[tuple[Expression | None, bool]] = [
    (_FIRST, True),
    (replace(_FIRST, right=_number(7)), True),
    (Comparison(Comparator.LE, _NUMBER, _number(Fraction(3, 2))), True),
    (Comparison(Comparator.LE, _NUMBER, _number(2)), False),
    (Comparison(Comparator.LT, _NUMBER, _number(2)), True),
    (Comparison(Comparator.LT, _NUMBER, _number(Fraction(5, 2))), False),
    (Comparison(Comparator.GE, _NUMBER, _number(1)), False),
    (replace(_FIRST, right=_number("1")), False),
    (replace(_FIRST, right=_number(None)), False),
    (replace(_FIRST, right=Constant(True, SqlType.BOOL)), False),
    (replace(_FIRST, right=_OTHER), False),
    (replace(_FIRST, left=_OTHER), False),
    (replace(_FIRST, left=_number(1)), False),
    (Connective("AND", (replace(_FIRST, left=_OTHER), _FIRST)), True),
    (Connective("OR", (_FIRST, _FIRST)), False),
    (None, False),
]


@pytest.mark.parametrize(("where", "is_one"), _LETS_PASS, ids=map(str, range(len(_LETS_PASS))))
def test_one_row_of_a_unit_passes(where: Expression | None, is_one: bool) -> None:
    assert one_number(where, frozenset({("q", "rn")})) == is_one
