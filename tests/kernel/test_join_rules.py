"""Whose is a joined row: each condition of proxy/kernel/join_rules.py, by the least that breaks it alone."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import pytest

from proxy.base.sql_types import SqlType
from proxy.base.zones import Zone
from proxy.kernel.attribution import relation_of
from proxy.kernel.join_rules import (
    _joined_by,
    _keys,
    computed_equal,
    on_one_unit,
    public_join,
    truncated_join,
    unit_join,
)
from proxy.kernel.owners import Known, OfUnit, Public, Rows
from proxy.kernel.refusals import NotPrivate, Rule
from proxy.query.ir.expressions import (
    Arithmetic,
    Cast,
    ColumnRef,
    Comparator,
    Comparison,
    Connective,
    Constant,
    DateTrunc,
    Expression,
    Is,
    Operator,
    TextCall,
    TextFunction,
)
from proxy.query.ir.relations import Join
from tests.kernel.examples import WORLD, column, cut, joined, of_table, scan

_KINDS = {
    "i4": SqlType.INT4,
    "f8": SqlType.FLOAT8,
    "n": SqlType.NUMERIC,
    "t": SqlType.TEXT,
    "c": SqlType.BPCHAR,
    "tz": SqlType.TIMESTAMPTZ,
}
_UID_A, _UID_B, _ID_A, _ID_B = ("a", "uid"), ("b", "uid"), ("a", "id"), ("b", "id")
_I4_A, _I4_B = ("a", "i4"), ("b", "i4")
_A = OfUnit(identifier="person", columns=frozenset({_UID_A}))
_B = OfUnit(identifier="person", columns=frozenset({_UID_B}))
_ON_UNIT = joined("orders", "uid", "calls", "uid")
_OUTER = replace(_ON_UNIT, left_outer=True)


def _of(name: str) -> ColumnRef:
    """A column of either side: `a_i4`."""
    alias, column_name = name.split("_")
    return column(alias, column_name, _KINDS[column_name])


def _side(alias: str) -> Known:
    types = {(alias, name): kind for name, kind in _KINDS.items()}
    return Known(owner=Public(), types=types)


_ONE = Constant(Fraction(1), SqlType.INT4)
_MORE = Arithmetic(Operator.ADD, _of("a_i4"), _ONE, SqlType.INT4)
_MONTH = DateTrunc("month", _of("a_tz"), SqlType.TIMESTAMPTZ, Zone(name="Europe/Berlin"))
_LOWER = TextCall(TextFunction.LOWER, _of("a_c"), (), SqlType.TEXT)
_PADDED, _TEXT = Constant("x", SqlType.BPCHAR), Constant("x", SqlType.TEXT)


@pytest.mark.parametrize(
    ("left", "right", "is_one_value"),
    [
        (_of("a_i4"), _of("b_i4"), True),
        (_MORE, _of("b_i4"), True),
        (_MONTH, _of("b_tz"), True),
        (_TEXT, _of("b_t"), True),
        (_of("a_c"), _of("b_c"), True),
        (_of("a_f8"), _of("b_f8"), True),
        (Cast(_of("a_i4"), SqlType.FLOAT8), _of("b_f8"), False),
        (_of("a_f8"), _of("b_n"), False),
        (_LOWER, _of("b_t"), False),
        (_PADDED, _of("b_c"), False),
        (Constant("x", None), _of("b_t"), False),
        (_of("a_i4"), _ONE, False),
        (_ONE, _of("a_i4"), False),
        (_of("b_i4"), _of("b_n"), False),
    ],
)
def test_a_column_equals_one_value_of_the_left_row(
    left: Expression, right: Expression, is_one_value: bool
) -> None:
    found = {("b", right.column)} if isinstance(right, ColumnRef) and is_one_value else set()
    for comparator in (Comparator.EQ, Comparator.LE):
        join = replace(_ON_UNIT, rest=Comparison(comparator, left, right))
        expected = found if comparator is Comparator.EQ else set()
        assert computed_equal(join, _side("a"), _side("b")) == expected


def test_only_what_has_to_hold_is_an_equality() -> None:
    alike = Comparison(Comparator.EQ, _MORE, _of("b_i4"))
    for word, found in (("AND", {_I4_B}), ("OR", set())):
        join = replace(_ON_UNIT, rest=Connective(word, (alike, Is(_of("b_t"), None))))
        assert computed_equal(join, _side("a"), _side("b")) == found


def test_what_names_a_joined_row() -> None:
    left, right = frozenset({_ID_A}), frozenset({_ID_B})
    sides = (replace(_side("a"), keys=(left,)), replace(_side("b"), keys=(right,)))
    for join, both, once_left in ((_ON_UNIT, (left | right,), (right,)), (_OUTER, (), ())):
        assert _keys(join, *sides, once_left=False, once_right=False) == both
        assert _keys(join, *sides, once_left=False, once_right=True) == (*both, left)
        assert _keys(join, *sides, once_left=True, once_right=False) == (*both, *once_left)


def test_rows_of_one_unit_meet_by_columns_that_hold_it() -> None:
    def either(one: OfUnit) -> OfUnit:
        return replace(one, columns=frozenset(), or_null=one.columns)

    for a, b in ((_A, _B), (either(_A), _B), (_A, either(_B))):
        assert on_one_unit(a, b, [(_UID_A, _UID_B)])
        assert not on_one_unit(a, b, [(_I4_A, _UID_B)])
        assert not on_one_unit(a, b, [(_UID_A, _I4_B)])
        assert not on_one_unit(a, replace(b, identifier="caller"), [(_UID_A, _UID_B)])


@pytest.mark.parametrize("is_once", [False, True])
@pytest.mark.parametrize("of_left", [False, True])
@pytest.mark.parametrize("of_right", [False, True])
def test_a_joined_row_is_alone(of_left: bool, of_right: bool, is_once: bool) -> None:
    sides = (replace(_A, alone=of_left), replace(_B, alone=of_right))
    assert unit_join(_ON_UNIT, *sides, is_once).alone == (of_left and (of_right or is_once))


def test_a_row_without_partner_has_its_unit_in_a_column() -> None:
    without = replace(_A, columns=frozenset(), or_null=_A.columns)
    unit_join(_ON_UNIT, without, _B, False)
    with pytest.raises(NotPrivate) as refused:
        unit_join(_OUTER, without, _B, False)
    assert refused.value.where == "rows stay of which no column holds the unit"


_PAIRS = [(_I4_A, _I4_B)]
_CHANGED = Rows(changed=2, most=((_I4_A, 5),))
_BOUNDED = Public(most=((_I4_B, 3), (_ID_B, 1)))


def test_public_rows_repeat_rows_that_change() -> None:
    assert public_join(_CHANGED, _BOUNDED, _PAIRS, False) == Rows(changed=6, most=((_I4_A, 15),))
    assert public_join(_CHANGED, _BOUNDED, _PAIRS, True) == _CHANGED
    with pytest.raises(NotPrivate) as refused:
        public_join(_CHANGED, Public(), _PAIRS, False)
    assert refused.value.where == "rows are repeated without a bound"


@pytest.mark.parametrize(
    ("public", "is_once", "most"),
    [(_BOUNDED, False, 3), (_BOUNDED, True, 1), (Public(), False, None)],
)
def test_public_rows_repeat_rows_of_units(public: Public, is_once: bool, most: int | None) -> None:
    of_unit = replace(_A, alone=True, rows=_CHANGED, numbered=frozenset({_I4_A}))
    found = public_join(of_unit, public, _PAIRS, is_once)
    assert isinstance(found, OfUnit) and not found.numbered
    assert found.alone == (most == 1)
    assert (found.rows and found.rows.changed) == (None if most is None else 2 * most)
    few = public_join(replace(of_unit, alone=False, rows=None), public, _PAIRS, is_once)
    assert isinstance(few, OfUnit) and not few.alone and few.rows is None


def _side_of_a_cut(alias: str, most: int, **other: object) -> Rows:
    return replace(Rows(changed=2, most=(((alias, "i4"), most),)), **other)  # type: ignore[arg-type]


def test_a_partner_that_takes_the_place_of_another_counts_once() -> None:
    a, b = _side_of_a_cut("a", 3), _side_of_a_cut("b", 5)
    inner = joined("people", "i4", "people", "i4")
    of_cut = replace(inner, right=cut("people", "i4", 5, alias="b"))
    in_place = replace(b, in_place=_I4_B)

    def changed(join: Join, left_outer: bool, right: Rows) -> int:
        return truncated_join(replace(join, left_outer=left_outer), a, right, _PAIRS).changed

    for join in (inner, of_cut):
        assert changed(join, False, b) == changed(join, False, in_place) == 2 * 5 + 2 * 3
        assert changed(join, True, b) == 2 * 5 + 2 * 3 * 2
        assert changed(join, True, in_place) == 2 * 5 + 2 * 3


def test_a_row_without_partner_counts_once() -> None:
    a, none = _side_of_a_cut("a", 3), _side_of_a_cut("b", 0, changed=0)
    assert truncated_join(_OUTER, a, none, _PAIRS).changed == a.changed


def test_values_of_what_is_compared_are_touched() -> None:
    touched = ((frozenset({_ID_A}), 1), (frozenset({_I4_A}), 2))
    a = _side_of_a_cut("a", 3, changed=9, touched=touched)
    found = _joined_by(_ON_UNIT, a, _side_of_a_cut("b", 5, changed=4), _I4_A, _I4_B)
    assert found is not None
    assert found.touched == ((frozenset({_I4_A}), 2 + 4), (frozenset({_I4_B}), 2 + 4))


def _own_side(*sides: str) -> Join:
    x, y = (of_table(alias, "orders", "uid") for alias in sides)
    return replace(joined("orders", "uid", "orders", "uid"), equal=((x, y),))


_X, _Y = _ON_UNIT.equal[0]
_NOTHING = Is(column("a", "nothing", SqlType.INT4), None)
_BESIDE = Comparison(Comparator.EQ, replace(_X, column="id"), replace(_Y, column="id"))
_WITHOUT_A_SEED = "more than units are compared without a seed"
_REFUSED: dict[str, tuple[Join, str]] = {
    "the left side with itself": (
        _own_side("a", "a"),
        "a column is compared with one of its own side",
    ),
    "the right side with itself": (
        _own_side("b", "b"),
        "a column is compared with one of its own side",
    ),
    "nothing": (replace(_ON_UNIT, equal=()), "no equality can be hashed"),
    "a date with a time": (
        joined("orders", "d", "calls", "ts"),
        "no equality can be hashed",
    ),
    "another column on the left": (
        replace(_ON_UNIT, is_seeded=False, equal=((_X, _Y), (replace(_X, column="id"), _Y))),
        _WITHOUT_A_SEED,
    ),
    "another column on the right": (
        replace(_ON_UNIT, is_seeded=False, equal=((_X, _Y), (_X, replace(_Y, column="id")))),
        _WITHOUT_A_SEED,
    ),
    "another column beside the unit": (
        replace(_ON_UNIT, is_seeded=False, rest=_BESIDE),
        _WITHOUT_A_SEED,
    ),
    "a column that is not there": (
        replace(_ON_UNIT, rest=_NOTHING),
        "a column that is not there",
    ),
}


@pytest.mark.parametrize("name", _REFUSED)
def test_a_comparison_is_refused(name: str) -> None:
    join, where = _REFUSED[name]
    with pytest.raises(NotPrivate) as refused:
        relation_of(join, WORLD)
    assert refused.value.where == where


def test_a_public_row_may_stand_on_the_left() -> None:
    """Of rows without partner no column would hold a unit."""
    pair = (column("b", "k", SqlType.INT8), of_table("a", "orders", "i8"))
    join = Join(scan("b", "rates"), scan("a", "orders"), False, (pair,), None)
    owner = relation_of(join, WORLD).owner
    assert isinstance(owner, OfUnit) and owner.columns == {_UID_A}
    with pytest.raises(NotPrivate) as refused:
        relation_of(replace(join, left_outer=True), WORLD)
    assert refused.value.rule is Rule.JOIN
