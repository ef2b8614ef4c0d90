"""Whose is a row of a truncated relation: cut by the unit, by another column, or by a condition alone."""

from __future__ import annotations

from dataclasses import replace

from typing_extensions import assert_never

from proxy.kernel.column_types import (
    check_column,
    check_expressions,
    has_one_form,
    is_ordered_whole,
    tells_forms_apart,
)
from proxy.kernel.owners import (
    ColumnName,
    ColumnNames,
    Known,
    OfUnit,
    Owner,
    Public,
    Rows,
    name,
    within,
)
from proxy.kernel.refusals import NotPrivate, Rule
from proxy.kernel.world import World
from proxy.query.ir.relations import Scan, Truncate


def truncation_rule(cut: Truncate, inner: Known, world: World) -> Known:
    """Attribute the rows that a cut keeps.

    Stability: `unit_cut`, `key_cut`, `filled_rows`. All need an order that depends on the row alone, so
    that what is kept of a value depends on the rows of that value and on the seed, never on their order of
    arrival.

    Raises:
        NotPrivate: Columns that are not there, an order with ties, or a cut by another column than the unit
            of rows that nothing bounds.

    >>> from proxy.kernel.attribution import relation_of
    >>> from tests.kernel.examples import WORLD, cut_visits
    >>> relation_of(cut_visits(by="uid", most=2), WORLD).owner.rows.changed
    2
    >>> relation_of(cut_visits(by="i4", most=2), WORLD)
    Traceback (most recent call last):
    proxy.kernel.refusals.NotPrivate: the statement could not be run
    """
    is_placed = _is_by_place(cut, inner)
    order = () if is_placed else cut.ordered_by
    check_expressions((cut.by, order, cut.present, cut.where), inner.types, world)
    types = {column: kind for column, kind in inner.types.items() if column[1] in cut.columns}
    _check_columns(cut, len(types))
    there = frozenset(types)
    present = frozenset(map(name, cut.present))
    found = (*inner.keys, *(key for key in inner.nullable_keys if key <= present))
    owner = inner.owner
    if isinstance(owner, OfUnit) and owner.alone:  # a unit has one row, which it names
        found += tuple(frozenset({column}) for column in owner.columns & present)
    if cut.by is None:
        owner = filled_rows(owner, present, there)
    else:
        by = name(cut.by)
        if cut.most is not None and not is_placed:
            _check_order(cut, inner, found, there)
        keys = tuple(key for key in found if key <= there)
        owner = _cut_by(cut, by, owner, present, keys)
    return Known(
        owner=_visible(owner, there),
        types=types,
        keys=tuple(key for key in found if key <= there),
        nullable_keys=tuple(key for key in inner.nullable_keys if key <= there),
    )


def _check_columns(cut: Truncate, found: int) -> None:
    """What is asked for is there once, and the number of a row stands over none of it."""
    if found != len(cut.columns):
        raise NotPrivate(Rule.TRUNCATION, "columns that are not there")
    if cut.place in cut.columns:
        raise NotPrivate(Rule.TRUNCATION, "a number of rows that is called as a column is")
    # `OR by IS NULL` stands above the numbering.
    if cut.with_null and cut.by is not None and cut.by.column not in cut.columns:
        raise NotPrivate(Rule.TRUNCATION, "columns that are not there")


def _is_by_place(cut: Truncate, inner: Known) -> bool:
    """Say whether the rows of each unit are in the order of a hash of their places, with a seed of the table.

    Stability: where a unit never came, other rows have other places. What is kept of each unit is so many of
    its rows, each as likely as any other, wherever they are, if the hash is a random function; of two
    tables it would hang on which places are equal, if their seed were one (PROOFS.md 19 J1, 22 A3).
    """
    by, owner = cut.by, inner.owner
    if by is None or not isinstance(owner, OfUnit) or name(by) not in owner.columns:
        return False
    if not isinstance(cut.source, Scan):
        return False
    if len(cut.ordered_by) != 1 or not cut.ordered_by[0].is_place:
        return False
    check_column(cut.ordered_by[0], inner.types, may_be_place=True)
    _check_keeps(cut)
    return True


def _check_keeps(cut: Truncate) -> None:
    if cut.most is not None and cut.most < 1:
        raise NotPrivate(Rule.TRUNCATION, "a cut that keeps nothing")


def _check_order(
    cut: Truncate, inner: Known, keys: tuple[ColumnNames, ...], seen: ColumnNames
) -> None:
    """The order is by a key, or by all that can be seen of a row (PROOFS.md 17 "One cut", 19 J1).

    Equal values of several forms are told apart where they stand in the order (compiler.relation_sql).
    """
    assert cut.by is not None
    _check_keeps(cut)
    types, by = inner.types, name(cut.by)
    ordered = frozenset(map(name, cut.ordered_by))
    untied = {column for column in ordered if is_ordered_whole(types[column])}
    told = {column for column in ordered if tells_forms_apart(types[column])}
    if has_one_form(types[by]):
        told.add(by)
    if not any(key <= untied for key in keys) and not seen <= told:
        raise NotPrivate(Rule.TRUNCATION, "an order that does not tell rows apart")


def filled_rows(owner: Owner, present: ColumnNames, there: ColumnNames) -> Owner:
    """Keep the rows where certain columns are not NULL.

    Stability: 1, as of any condition on a row. Where a unit has one row and rows of nobody are out,
    neighbours differ in that one row.

    >>> from proxy.kernel.attribution import relation_of
    >>> from tests.kernel.examples import WORLD, scan
    >>> members, uid = relation_of(scan("r1", "members"), WORLD).owner, frozenset({("r1", "uid")})
    >>> members.rows, filled_rows(members, uid, uid).rows.changed
    (None, 1)
    """
    if not isinstance(owner, OfUnit) or not owner.alone:
        return owner
    units = owner.columns & present & there
    if not units:
        return owner
    rows = Rows(
        changed=1,
        most=tuple((column, 1) for column in owner.columns & there),
        touched=((units, 1),),
        filled=present & there,
    )
    return replace(owner, rows=rows)


def _cut_by(
    cut: Truncate,
    by: ColumnName,
    owner: Owner,
    present: ColumnNames,
    keys: tuple[ColumnNames, ...],
) -> Owner:
    most = 1 if cut.most is None else cut.most
    match owner:
        case Public():
            return Public(most=(*owner.most, (by, most)))
        case Rows():
            return key_cut(cut, by, owner, present)
        case OfUnit():
            if by in owner.columns:
                return unit_cut(owner, by, most, present, keys if by in present else None)
            if owner.rows is None:
                raise NotPrivate(Rule.TRUNCATION, "cut by another column than the unit")
            return key_cut(cut, by, owner.rows, present)
        case _:
            assert_never(owner)


def unit_cut(
    owner: OfUnit,
    by: ColumnName,
    most: int,
    present: ColumnNames,
    keys: tuple[ColumnNames, ...] | None,
) -> OfUnit:
    """Cut the rows of each unit to `most`.

    Stability: of units 1: what is kept of a unit depends on its own rows and the seed (PROOFS.md 19 J1). So
    the relation is also one of which neighbours differ in `most` rows, all with one value of the unit, if
    rows of nobody are out.

    Args:
        owner: Of the source.
        by: The column that holds the unit.
        most: So many rows of a unit stay; 1 as well where only a row that is alone with its unit does.
        present: The columns that are not NULL.
        keys: What names a row; None: rows of nobody stay.

    >>> visits = OfUnit(identifier="person", columns=frozenset({("r1", "uid")}))
    >>> kept = unit_cut(visits, ("r1", "uid"), 2, visits.columns, ())
    >>> kept.alone, kept.rows.changed, unit_cut(visits, ("r1", "uid"), 2, frozenset(), None).rows
    (False, 2, None)
    """
    rows = None
    if keys is not None:
        alone = tuple((next(iter(key)), 1) for key in keys if len(key) == 1)
        rows = Rows(
            changed=most,
            most=(*((column, most) for column in owner.columns), *alone),
            touched=((frozenset({by}), 1),),
            filled=present,
        )
    is_alone = owner.alone or most == 1
    return replace(owner, alone=is_alone, rows=rows, numbered=frozenset())


def key_cut(cut: Truncate, by: ColumnName, rows: Rows, present: ColumnNames) -> Rows:
    """Cut the rows of each value of a column that is not the unit.

    Stability: S times as many rows change: 2 where the first `most` of a value stay, as a row that comes
    may push another out; 1 where only rows stay that are alone with their value (PROOFS.md 17 "One cut"). A
    row that is pushed out has the same value of this column, of other columns another one: what was known
    of `touched` there is gone.

    >>> from proxy.kernel.attribution import relation_of
    >>> from tests.kernel.examples import WORLD, cut_people
    >>> relation_of(cut_people(by="i4", most=3), WORLD).owner.changed
    2
    >>> relation_of(cut_people(by="i4", most=None), WORLD).owner.changed
    1
    """
    is_first = cut.most is not None
    most = cut.most if cut.most is not None else 1
    return Rows(
        changed=rows.changed * (2 if is_first else 1),
        most=(*rows.most, (by, most)),
        touched=((frozenset({by}), rows.changed),),
        filled=rows.filled | present,
        in_place=by if is_first else None,
    )


def _visible(owner: Owner, there: ColumnNames) -> Owner:
    """What is known of the columns that are left."""
    match owner:
        case Public():
            return Public(most=within(owner.most, there))
        case Rows():
            return _visible_rows(owner, there)
        case OfUnit():
            return replace(
                owner,
                columns=owner.columns & there,
                or_null=owner.or_null & there,
                fixed=owner.fixed & there,
                named=frozenset((column, t) for column, t in owner.named if column in there),
                numbered=owner.numbered & there,
                rows=None if owner.rows is None else _visible_rows(owner.rows, there),
            )
        case _:
            assert_never(owner)


def _visible_rows(rows: Rows, there: ColumnNames) -> Rows:
    return replace(
        rows,
        most=within(rows.most, there),
        touched=tuple((columns, most) for columns, most in rows.touched if columns <= there),
        filled=rows.filled & there,
    )
