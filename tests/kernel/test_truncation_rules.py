"""Whose are the rows that a cut keeps: each condition of proxy/kernel/truncation_rules.py, broken alone."""

from __future__ import annotations

from dataclasses import replace

import pytest

from proxy.base.sql_types import SqlType
from proxy.catalog.catalog_model import TableName
from proxy.kernel.owners import Known, OfUnit, Owner, Public, Rows
from proxy.kernel.refusals import NotPrivate
from proxy.kernel.truncation_rules import filled_rows, truncation_rule
from proxy.query.ir.expressions import ColumnRef
from proxy.query.ir.relations import Truncate
from tests.kernel.examples import WORLD, column, scan

_KINDS = {
    **dict.fromkeys(("id", "uid", "i4", "i8"), SqlType.INT4),
    "n": SqlType.NUMERIC,
    "ia": SqlType.INT4_ARRAY,
    "ctid": SqlType.TID,
}
_ID, _UID, _I4, _I8, _N, _IA = (("r1", name) for name in ("id", "uid", "i4", "i8", "n", "ia"))
_TYPES = {("r1", name): kind for name, kind in _KINDS.items()}
_UNIT = OfUnit(identifier="person", columns=frozenset({_UID}))
_ALONE = replace(_UNIT, alone=True)
_PLACE = column("r1", "ctid", SqlType.TID)


def _of(name: str) -> ColumnRef:
    return column("r1", name, _KINDS[name])


def _inner(owner: Owner, *keys: str, nullable: str | None = None) -> Known:
    """Rows that columns name, each by itself; of one of them only where it is not NULL."""
    return Known(
        owner=owner,
        types=_TYPES,
        keys=tuple(frozenset({("r1", key)}) for key in keys),
        nullable_keys=() if nullable is None else (frozenset({("r1", nullable)}),),
    )


def _cut(**other: object) -> Truncate:
    """Two rows of each unit, in the order of their key."""
    cut = Truncate(
        source=scan("r1", "visits"),
        by=_of("uid"),
        most=2,
        ordered_by=(_of("id"),),
        present=(_of("uid"),),
        columns=("id", "uid", "i4"),
        place="place",
    )
    return replace(cut, **other)  # type: ignore[arg-type]


def _rule(cut: Truncate, inner: Known) -> Known:
    return truncation_rule(cut, inner, WORLD)


_OF_UNITS = _inner(_UNIT, "id")
_ABSENT = "columns that are not there"
_TIED = "an order that does not tell rows apart"
_NOTHING = "a cut that keeps nothing"
_BY_ARRAY = {"ordered_by": (_of("ia"),), "columns": ("uid", "i4", "ia")}
_REFUSED: dict[str, tuple[Truncate, Known, str]] = {
    "a column that is not there": (_cut(columns=("id", "uid", "x")), _OF_UNITS, _ABSENT),
    "a column twice": (_cut(columns=("id", "uid", "uid")), _OF_UNITS, _ABSENT),
    "a unit that is left out beside its NULL": (
        _cut(columns=("id", "i4"), with_null=True),
        _OF_UNITS,
        _ABSENT,
    ),
    "a number over a column": (
        _cut(place="i4"),
        _OF_UNITS,
        "a number of rows that is called as a column is",
    ),
    "an order with ties": (_cut(ordered_by=(_of("i4"),)), _OF_UNITS, _TIED),
    "a key that may be NULL": (_cut(), _inner(_UNIT, nullable="id"), _TIED),
    "a key that is too large to be compared": (_cut(**_BY_ARRAY), _inner(_UNIT, "ia"), _TIED),
    "units of several forms": (
        _cut(by=_of("n"), present=(_of("n"),), columns=("n", "i4"), ordered_by=(_of("i4"),)),
        _inner(replace(_UNIT, columns=frozenset({_N}))),
        _TIED,
    ),
    "no row": (_cut(most=0), _OF_UNITS, _NOTHING),
    "no row by place": (_cut(most=0, ordered_by=(_PLACE,)), _OF_UNITS, _NOTHING),
    "a place that is not there": (
        _cut(ordered_by=(replace(_PLACE, column="x"),)),
        _OF_UNITS,
        "a column that is not there",
    ),
    "rows by their places": (
        _cut(by=_of("i4"), present=(), ordered_by=(_PLACE,)),
        _inner(Rows(changed=1), "id"),
        "the place of a row",
    ),
    "another column than the unit": (
        _cut(by=_of("i4"), present=()),
        _OF_UNITS,
        "cut by another column than the unit",
    ),
}


@pytest.mark.parametrize("name", _REFUSED)
def test_a_cut_is_refused(name: str) -> None:
    cut, inner, where = _REFUSED[name]
    with pytest.raises(NotPrivate) as refused:
        _rule(cut, inner)
    assert refused.value.where == where


_PASSES: dict[str, tuple[Truncate, Known]] = {
    "a key": (_cut(), _OF_UNITS),
    "a key that is not NULL": (
        _cut(present=(_of("uid"), _of("id"))),
        _inner(_UNIT, nullable="id"),
    ),
    "a unit that is alone": (_cut(ordered_by=(_of("uid"),)), _inner(_ALONE)),
    "all that is seen, beside the unit": (
        _cut(ordered_by=(_of("i4"),), columns=("uid", "i4")),
        _inner(_UNIT),
    ),
    "no order, where no row is the first": (_cut(most=None, ordered_by=()), _OF_UNITS),
    "places": (_cut(ordered_by=(_PLACE,)), _OF_UNITS),
    "places, where no row is the first": (_cut(most=None, ordered_by=(_PLACE,)), _OF_UNITS),
    "rows of nobody": (_cut(with_null=True), _OF_UNITS),
    "rows of nobody, of a condition": (_cut(by=None, with_null=True), _OF_UNITS),
}


@pytest.mark.parametrize("name", _PASSES)
def test_a_cut_passes(name: str) -> None:
    cut, inner = _PASSES[name]
    assert set(_rule(cut, inner).types) == {("r1", column) for column in cut.columns}


def test_keys_of_what_is_left() -> None:
    by_unit = _inner(_UNIT, "id", nullable="i4")
    assert _rule(_cut(), by_unit).keys == (frozenset({_ID}),)
    assert _rule(_cut(), by_unit).nullable_keys == (frozenset({_I4}),)
    present = _rule(_cut(present=(_of("uid"), _of("i4"))), by_unit)
    assert present.keys == (frozenset({_ID}), frozenset({_I4}))
    without = _rule(_cut(most=None, ordered_by=(), columns=("uid", "i8")), by_unit)
    assert (without.keys, without.nullable_keys) == ((), ())
    alone = _inner(_ALONE, "id")
    assert _rule(_cut(), alone).keys == (frozenset({_ID}), frozenset({_UID}))
    assert _rule(_cut(present=()), alone).keys == (frozenset({_ID}),)


def _of_cut(cut: Truncate, inner: Known) -> OfUnit:
    owner = _rule(cut, inner).owner
    assert isinstance(owner, OfUnit)
    return owner


def test_rows_of_a_unit_that_is_cut() -> None:
    of_two = replace(_OF_UNITS, keys=(frozenset({_ID}), frozenset({_I4, _I8})))
    few = _of_cut(_cut(columns=("id", "uid", "i4", "i8")), of_two).rows
    assert few == Rows(
        changed=2,
        most=((_UID, 2), (_ID, 1)),
        touched=((frozenset({_UID}), 1),),
        filled=frozenset({_UID}),
    )
    assert _of_cut(_cut(present=()), _OF_UNITS).rows is None
    assert _of_cut(_cut(with_null=True), _OF_UNITS).rows is not None  # the unit is in `present`


@pytest.mark.parametrize(
    ("owner", "most", "is_alone"),
    [(_UNIT, 2, False), (_UNIT, 1, True), (_UNIT, None, True), (_ALONE, 2, True)],
)
def test_a_unit_has_one_row(owner: OfUnit, most: int | None, is_alone: bool) -> None:
    assert _of_cut(_cut(most=most), _inner(owner, "id")).alone == is_alone


def test_rows_where_columns_are_not_null() -> None:
    present, there = frozenset({_UID, _N}), frozenset({_UID, _ID})
    filled = filled_rows(_ALONE, present, there)
    assert isinstance(filled, OfUnit) and filled.rows == Rows(
        changed=1,
        most=((_UID, 1),),
        touched=((frozenset({_UID}), 1),),
        filled=frozenset({_UID}),
    )
    for owner in (Public(), Rows(changed=3), _UNIT):
        assert filled_rows(owner, present, there) == owner
    assert filled_rows(_ALONE, frozenset({_N}), there) == _ALONE
    assert filled_rows(_ALONE, present, frozenset({_ID})) == _ALONE


def test_values_of_a_cut_are_touched() -> None:
    by_value = _cut(by=_of("i4"), present=(_of("i4"),))
    inner = _inner(Rows(changed=3, most=((_N, 4),), touched=((frozenset({_ID}), 3),)), "id")
    expected = Rows(
        changed=6,
        most=((_I4, 2),),
        touched=((frozenset({_I4}), 3),),
        filled=frozenset({_I4}),
        in_place=_I4,
    )
    assert _rule(by_value, inner).owner == expected
    nobodys = replace(by_value, with_null=True)
    assert _rule(nobodys, inner).owner == expected
    unknown = replace(by_value, present=())  # NULL is one more of the values
    assert _rule(unknown, inner).owner == replace(expected, filled=frozenset())


def test_what_is_known_of_columns_that_are_left_out_is_gone() -> None:
    table = TableName("w", "visits")
    owner = replace(
        _UNIT,
        or_null=frozenset({_I4, _N}),
        fixed=frozenset({_I8, _N}),
        named=frozenset({(_ID, table), (_N, table)}),
    )
    left = _of_cut(_cut(by=None, columns=("id", "i4", "i8")), _inner(owner))
    assert left == replace(
        owner,
        columns=frozenset(),
        or_null=frozenset({_I4}),
        fixed=frozenset({_I8}),
        named=frozenset({(_ID, table)}),
    )
    rows = Rows(
        changed=2,
        most=((_ID, 1), (_N, 1)),
        touched=((frozenset({_ID}), 1), (frozenset({_ID, _N}), 1)),
        filled=frozenset({_ID, _N}),
    )
    kept = _rule(_cut(by=None), _inner(rows)).owner
    assert kept == Rows(
        changed=2,
        most=((_ID, 1),),
        touched=((frozenset({_ID}), 1),),
        filled=frozenset({_ID}),
    )
