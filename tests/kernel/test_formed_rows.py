"""How many rows of a unit a relation forms: each condition of proxy/kernel/formed_rows.py."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import pytest

from proxy.base.sql_types import SqlType
from proxy.kernel.attribution import relation_of
from proxy.kernel.formed_rows import (
    AS_STORED,
    NO_ROWS,
    ONE_ROW,
    Formed,
    RowCount,
    UnboundedRows,
    bounded_by,
    joined,
    kept,
    passing,
    repeated,
)
from proxy.kernel.owners import Known, OfUnit, Owner, Public, Rows
from proxy.query.ir.expressions import Comparator, Comparison, Constant
from proxy.query.ir.relations import Join
from tests.kernel import examples
from tests.kernel.examples import WORLD, column

_UNIT = OfUnit(identifier="person", columns=frozenset({("a", "uid")}))
_TYPES = {(alias, name): SqlType.INT4 for alias in "ab" for name in ("uid", "id", "i4")}


def _known(alias: str, owner: Owner, *keys: str) -> Known:
    types = {name: kind for name, kind in _TYPES.items() if name[0] == alias}
    return Known(owner=owner, types=types, keys=tuple(frozenset({(alias, key)}) for key in keys))


def _unit(alias: str, *keys: str, rows: RowCount = AS_STORED) -> Formed:
    owner = replace(_UNIT, columns=frozenset({(alias, "uid")}))
    return Formed(_known(alias, owner, *keys), rows)


def _public(alias: str, *keys: str, most: int | None = None) -> Formed:
    bounds = () if most is None else (((alias, "i4"), most), ((alias, "i4"), most + 9))
    return Formed(_known(alias, Public(most=bounds), *keys), NO_ROWS)


def _join(name: str, left_outer: bool = False, right: str | None = None) -> Join:
    pair = (column("a", name, SqlType.INT4), column("b", right or name, SqlType.INT4))
    return Join(
        examples.scan("a", "orders"), examples.scan("b", "calls"), left_outer, (pair,), None
    )


def _rows(join: Join, left: Formed, right: Formed, owner: Owner = _UNIT) -> RowCount:
    known = Known(owner=owner, types=_TYPES)
    return joined(join, known, left, right).rows


def test_counts_add_and_multiply() -> None:
    assert RowCount(1, 2).plus(RowCount(3, 4)) == RowCount(4, 6)
    assert RowCount(1, 2).times(RowCount(3)) == RowCount(3, 6)
    assert RowCount(3).times(RowCount(1, 2)) == RowCount(3, 6)
    with pytest.raises(UnboundedRows):
        AS_STORED.times(AS_STORED)


@pytest.mark.parametrize(
    ("owner", "rows"),
    [
        (Public(), NO_ROWS),
        (Rows(changed=3), RowCount(3)),
        (replace(_UNIT, alone=True), ONE_ROW),
        (replace(_UNIT, rows=Rows(changed=4)), RowCount(4)),
        (_UNIT, AS_STORED),
    ],
)
def test_an_owner_bounds_its_rows(owner: Owner, rows: RowCount) -> None:
    assert bounded_by(owner, AS_STORED) == rows


def test_a_number_leaves_one_row() -> None:
    first = Comparison(
        Comparator.EQ, column("a", "i4", SqlType.INT8), Constant(Fraction(1), SqlType.INT4)
    )
    numbered = replace(_UNIT, numbered=frozenset({("a", "i4")}))
    assert passing(first, Formed(_known("a", numbered), AS_STORED)) == ONE_ROW
    assert passing(first, Formed(_known("a", _UNIT), AS_STORED)) == AS_STORED
    of_rows = Formed(_known("a", Rows(changed=7)), RowCount(7))
    assert passing(first, of_rows) == RowCount(7)
    assert passing(None, Formed(_known("a", numbered), AS_STORED)) == AS_STORED


def test_a_cut_keeps_so_many_of_its_unit() -> None:
    source = Formed(relation_of(examples.scan("r1", "visits"), WORLD), AS_STORED)
    known = replace(source.known, owner=replace(_UNIT, columns=frozenset({("r1", "uid")})))
    assert kept(examples.cut_visits("uid", 3), known, source) == RowCount(3)
    assert kept(examples.cut_visits("uid", None), known, source) == ONE_ROW
    assert kept(examples.cut_visits("i4", 3), known, source) == AS_STORED
    assert kept(replace(examples.cut_visits("uid", 3), by=None), known, source) == AS_STORED
    of_rows = Formed(replace(source.known, owner=Rows(changed=7)), RowCount(7))
    assert kept(examples.cut_people("i4", 3), known, of_rows) == RowCount(7)


def test_rows_of_one_unit_meet_each_other() -> None:
    two, three = RowCount(2), RowCount(3)
    on_unit = _join("uid")
    assert _rows(on_unit, _unit("a", rows=two), _unit("b", rows=three)) == RowCount(6)
    assert _rows(on_unit, _unit("a"), _unit("b", rows=three)) == RowCount(0, 3)
    assert _rows(on_unit, _unit("a", rows=two), _unit("b")) == RowCount(0, 2)
    with pytest.raises(UnboundedRows):
        _rows(on_unit, _unit("a"), _unit("b"))


def test_a_key_lets_a_row_meet_one() -> None:
    both = replace(_join("uid"), equal=_join("uid").equal + _join("id").equal)
    assert _rows(both, _unit("a"), _unit("b", "id")) == AS_STORED
    assert _rows(both, _unit("a", "id"), _unit("b")) == AS_STORED
    outer = replace(both, left_outer=True)
    assert _rows(outer, _unit("a", "id"), _unit("b")) == RowCount(0, 2)
    assert _rows(outer, _unit("a", "id", rows=RowCount(2)), _unit("b")) == RowCount(2, 1)
    # The lesser of what holds: as stored are more than any number.
    assert _rows(both, _unit("a", rows=RowCount(5)), _unit("b", "id")) == RowCount(5)
    assert _rows(both, _unit("a", "id"), _unit("b", "id", rows=RowCount(2))) == RowCount(2)


def test_what_is_computed_may_be_the_key() -> None:
    on_unit, x, y = _join("uid"), column("a", "i4", SqlType.INT4), column("b", "id", SqlType.INT4)
    computed = replace(on_unit, rest=Comparison(Comparator.EQ, x, y))
    assert _rows(computed, _unit("a"), _unit("b", "id")) == AS_STORED


@pytest.mark.parametrize("left_outer", [False, True])
def test_partners_of_a_public_table_are_few(left_outer: bool) -> None:
    on_column = _join("i4", left_outer)
    assert _rows(on_column, _unit("a"), _public("b", "i4")) == AS_STORED
    assert _rows(on_column, _unit("a"), _public("b", most=4)) == RowCount(0, 4)
    assert _rows(on_column, _public("a", "i4"), _unit("b")) == AS_STORED
    assert _rows(on_column, _public("a", most=4), _unit("b")) == RowCount(0, 4)
    for left, right in ((_unit("a"), _public("b")), (_public("a"), _unit("b"))):
        with pytest.raises(UnboundedRows):
            _rows(on_column, left, right)
        with pytest.raises(UnboundedRows):  # of another column
            _rows(_join("id"), left, _public("b", most=4) if left.rows.stored else right)


def test_owners_of_other_kinds() -> None:
    on_column = _join("i4")
    assert _rows(on_column, _public("a"), _public("b"), Public()) == NO_ROWS
    assert _rows(on_column, _unit("a"), _unit("b"), Rows(changed=8)) == RowCount(8)
    with pytest.raises(UnboundedRows):  # no rule gives this owner; if one does, nothing is known
        _rows(on_column, _unit("a"), _unit("b"))


def test_an_equality_of_two_types_is_no_key() -> None:
    """Many numbers are one float."""
    left = _unit("a", rows=RowCount(2))
    right = replace(_unit("b", "i4"), known=replace(_unit("b", "i4").known, types={}))
    of_floats = Known(
        owner=right.known.owner, types={("b", "i4"): SqlType.FLOAT8, ("b", "uid"): SqlType.INT4}
    )
    both = replace(_join("uid"), equal=_join("uid").equal + _join("i4").equal)
    found = _rows(both, left, Formed(replace(of_floats, keys=right.known.keys), AS_STORED))
    assert found == RowCount(0, 2)


def test_which_rows_stand_in_several_pairs() -> None:
    on_unit, many = _join("uid"), RowCount(5)
    assert repeated(on_unit, _unit("a"), _unit("b")) == (True, True)
    assert repeated(on_unit, _unit("a", rows=ONE_ROW), _unit("b", rows=many)) == (True, False)
    assert repeated(on_unit, _unit("a", rows=many), _unit("b", rows=ONE_ROW)) == (False, True)
    both = replace(on_unit, equal=on_unit.equal + _join("id").equal)
    assert repeated(both, _unit("a", "id"), _unit("b")) == (True, False)
    assert repeated(both, _unit("a"), _unit("b", "id")) == (False, True)
    assert repeated(_join("i4"), _unit("a"), _public("b")) == (True, False)
