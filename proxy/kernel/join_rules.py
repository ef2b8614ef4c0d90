"""Whose is a joined row: of one unit, of a protected row and public ones, or of rows that change by few."""

from __future__ import annotations

from collections.abc import Iterable, Sequence, Set
from dataclasses import replace
from itertools import islice

from proxy.base.node_parts import nodes
from proxy.base.sql_types import SqlType
from proxy.kernel.column_types import check_expressions, columns_in, conjuncts, injective, is_hashed
from proxy.kernel.fixed_columns import fixed_by_join
from proxy.kernel.owners import (
    NO_COLUMNS,
    ColumnName,
    ColumnNames,
    Known,
    OfUnit,
    Owner,
    Public,
    Rows,
    name,
)
from proxy.kernel.refusals import NotPrivate, Rule
from proxy.kernel.world import World
from proxy.query.ir.expressions import ColumnRef, Comparator, Comparison, Constant, Expression
from proxy.query.ir.relations import Join

Pairs = Sequence[tuple[ColumnName, ColumnName]]
_KEYS = 8  # of one row of each side; further ones are not followed


def join_rule(join: Join, left: Known, right: Known, world: World) -> Known:
    """Attribute the rows of a join.

    Stability: `unit_join`, `public_join`, `truncated_join`. Of ON only pairs are used that compare a column
    of the left side with one of the right side, in types in which what is equal is one value. All else in
    ON takes pairs away.

    Raises:
        NotPrivate: Rows of different units meet, and nothing bounds how many.

    >>> from proxy.kernel.attribution import relation_of
    >>> from tests.kernel.examples import WORLD, joined
    >>> sorted(relation_of(joined("orders", "uid", "calls", "uid"), WORLD).owner.columns)
    [('a', 'uid'), ('b', 'uid')]
    >>> relation_of(joined("orders", "i4", "calls", "i4"), WORLD)
    Traceback (most recent call last):
    proxy.kernel.refusals.NotPrivate: the statement could not be run
    """
    if {alias for alias, _ in left.types} & {alias for alias, _ in right.types}:
        raise NotPrivate(Rule.JOIN, "one alias on both sides")
    types = {**left.types, **right.types}
    check_expressions((join.equal, join.rest), types, world)
    check_work_of_others(join, left, right)
    pairs = equal_pairs(join, left, right)
    once_right = met_once(right, {y for _, y in pairs} | computed_equal(join, left, right))
    once_left = met_once(left, {x for x, _ in pairs})
    owner = _owner_of_join(join, left, right, pairs, once_left, once_right)
    if isinstance(owner, OfUnit):
        owner = replace(owner, fixed=fixed_by_join(join, left, right, pairs))
    keys = _keys(join, left, right, once_left, once_right)
    return Known(owner=owner, types=types, keys=keys)


def check_work_of_others(join: Join, left: Known, right: Known) -> None:
    """Check that no row decides whether PostgreSQL computes other rows.

    An inner or left join leaves one side alone where the other one has no row, and runs a side again for each
    row of the other one where it can drop the equality. A full join on an equality that can be hashed computes
    each side once (compiler/full_joins.py). What a person can choose of a hash is seeded, beside
    pairs too; but of units a person has one, and where one side is public no rows of a person meet.

    Stability: of time. Both sides take as long, whatever rows of one unit are there (PROOFS.md 27 K3a).

    Raises:
        NotPrivate: What is compared is not of both sides or cannot be hashed, or a seed is missing.

    >>> from proxy.kernel.attribution import relation_of
    >>> from tests.kernel.examples import WORLD, joined
    >>> join = joined("orders", "i4", "calls", "i4")
    >>> sides = relation_of(join.left, WORLD), relation_of(join.right, WORLD)
    >>> check_work_of_others(join, *sides)
    >>> check_work_of_others(replace(join, is_seeded=False), *sides)
    Traceback (most recent call last):
    proxy.kernel.refusals.NotPrivate: the statement could not be run
    """
    if not all(name(x) in left.types and name(y) in right.types for x, y in join.equal):
        raise NotPrivate(Rule.JOIN, "a column is compared with one of its own side")
    if not any(is_hashed(x.type, y.type) for x, y in join.equal):
        raise NotPrivate(Rule.JOIN, "no equality can be hashed")
    owners = (left.owner, right.owner)
    if join.is_seeded or any(isinstance(owner, Public) for owner in owners):
        return
    ours, theirs = (
        owner.columns | owner.or_null if isinstance(owner, OfUnit) else NO_COLUMNS
        for owner in owners
    )
    are_units = all(name(x) in ours and name(y) in theirs for x, y in join.equal)
    if not are_units or equal_beside(join):
        raise NotPrivate(Rule.JOIN, "more than units are compared without a seed")


def equal_beside(join: Join) -> list[tuple[Expression, ColumnRef]]:
    """List what the rest of ON sets equal: something of a type, and a column."""
    found = (part for part in conjuncts(join.rest) if isinstance(part, Comparison))
    equal = ((one.left, one.right) for one in found if one.comparator is Comparator.EQ)
    return [(x, y) for x, y in equal if isinstance(y, ColumnRef) and x.type is not None]


def equal_pairs(join: Join, left: Known, right: Known) -> list[tuple[ColumnName, ColumnName]]:
    """What ON sets equal, in types in which what is equal is one value. `check_work_of_others` has seen it."""
    return [
        (name(x), name(y))
        for x, y in join.equal
        if injective(left.types[name(x)], right.types[name(y)])
    ]


def met_once(side: Known, compared: Set[ColumnName]) -> bool:
    """Say whether a row meets at most one row of a side.

    Stability: what is compared names a row there: a key of the server, or unit and keys of a GROUP BY, by
    an equality in which what is equal is one value (PROOFS.md 17 "Asked of each row").

    >>> from proxy.kernel.attribution import relation_of
    >>> from tests.kernel.examples import WORLD, scan
    >>> orders = relation_of(scan("r1", "orders"), WORLD)
    >>> met_once(orders, {("r1", "id")}), met_once(orders, {("r1", "uid")})
    (True, False)
    """
    return any(key <= compared for key in (*side.keys, *side.nullable_keys))


def computed_equal(join: Join, left: Known, right: Known) -> set[ColumnName]:
    """List the columns of the right side that ON sets equal to a function of the left row: one value each.

    So are the beginnings of long texts compared with keys of a GROUP BY, which are cut to as many characters. A
    computed number, a constant and an answer are compared in numeric, into which floats are brought with 15
    digits: many floats equal one number. So a float is compared with a column alone.

    >>> from proxy.kernel.attribution import relation_of
    >>> from tests.kernel.examples import WORLD, joined, of_table
    >>> join, column = joined("orders", "uid", "calls", "uid"), of_table("b", "calls", "i4")
    >>> sides = relation_of(join.left, WORLD), relation_of(join.right, WORLD)
    >>> number = Constant(None, SqlType.INT4)
    >>> rest = [Comparison(one, number, column) for one in (Comparator.EQ, Comparator.LE)]
    >>> [computed_equal(replace(join, rest=one), *sides) for one in rest]
    [{('b', 'i4')}, set()]
    """
    there = set(left.types)
    found = set()
    for value, column in equal_beside(join):
        compared, below = name(column), columns_in(value)
        if compared not in right.types or not below <= there:
            continue
        # PostgreSQL may take for character(n) what is computed of one, or of a constant that is one: of such no
        # more is known.
        is_padded = any(left.types[c] is SqlType.BPCHAR for c in below)
        is_padded = is_padded or any(
            isinstance(node, Constant) and node.type is SqlType.BPCHAR for node in nodes(value)
        )
        is_float = right.types[compared].is_float
        if (is_padded or is_float) and not isinstance(value, ColumnRef):
            continue
        if value.type is not None and injective(value.type, right.types[compared]):
            found.add(compared)
    return found


def _keys(
    join: Join, left: Known, right: Known, once_left: bool, once_right: bool
) -> tuple[ColumnNames, ...]:
    """What names a joined row. A row of a LEFT JOIN without partner is named by its left side alone."""
    found: list[ColumnNames] = []
    if not join.left_outer:
        found += islice((a | b for a in left.keys for b in right.keys), _KEYS)
    if once_right:
        found += left.keys
    if once_left and not join.left_outer:
        found += right.keys
    return tuple(found)


def _owner_of_join(
    join: Join, left: Known, right: Known, pairs: Pairs, once_left: bool, once_right: bool
) -> Owner:
    match left.owner, right.owner:
        case Public(), Public():
            return Public()
        case (Rows() | OfUnit()) as protected, Public() as public:
            return public_join(protected, public, pairs, once_right)
        case Public() as public, (Rows() | OfUnit()) as protected if not join.left_outer:
            return public_join(protected, public, [(y, x) for x, y in pairs], once_left)
        case OfUnit() as a, OfUnit() as b if on_one_unit(a, b, pairs):
            return unit_join(join, a, b, once_right)
        case a, b:
            return truncated_join(join, _as_rows(a), _as_rows(b), pairs)


def on_one_unit(a: OfUnit, b: OfUnit, pairs: Pairs) -> bool:
    """Say whether rows that meet are of one unit.

    Stability: the units of both are equal; or a value of both is the primary key of one row, which belongs
    to the unit of the one and of the other. That is also how the unit of a row is looked up along a
    reference (PROOFS.md 18).

    >>> from proxy.kernel.attribution import relation_of
    >>> from tests.kernel.examples import WORLD, scan
    >>> orders, lines = (relation_of(scan(one, one), WORLD).owner for one in ("orders", "lines"))
    >>> named = [(("orders", "id"), ("lines", other)) for other in ("order_id", "id")]
    >>> [on_one_unit(orders, lines, [pair]) for pair in named]
    [True, False]
    """
    if a.identifier != b.identifier:
        return False
    return any(_is_of_one_unit(a, b, x, y) for x, y in pairs)


def _is_of_one_unit(a: OfUnit, b: OfUnit, x: ColumnName, y: ColumnName) -> bool:
    if x in a.columns | a.or_null and y in b.columns | b.or_null:
        return True
    return any((y, table) in b.named for column, table in a.named if column == x)


def unit_join(join: Join, a: OfUnit, b: OfUnit, is_once: bool) -> OfUnit:
    """Attribute a joined row of one unit to that unit.

    Stability: of units 1. A row without partner stays or goes by rows of its own unit alone. How many rows
    a unit has does not matter: they are bounded on top (PROOFS.md 18), or there is one.

    Raises:
        NotPrivate: Rows without partner stay, and none of their columns holds their unit.

    >>> from tests.kernel.examples import joined
    >>> a, b = (OfUnit(identifier="person", columns=frozenset({(one, "uid")})) for one in "ab")
    >>> inner = joined("orders", "uid", "calls", "uid")
    >>> [sorted(unit_join(one, a, b, False).columns) for one in (inner, replace(inner, left_outer=True))]
    [[('a', 'uid'), ('b', 'uid')], [('a', 'uid')]]
    """
    if join.left_outer and not a.columns:
        raise NotPrivate(Rule.JOIN, "rows stay of which no column holds the unit")
    return OfUnit(
        identifier=a.identifier,
        columns=a.columns if join.left_outer else a.columns | b.columns,
        or_null=a.or_null | b.or_null | (b.columns if join.left_outer else NO_COLUMNS),
        alone=a.alone and (b.alone or is_once),
        named=a.named | b.named,
    )


def public_join(
    protected: Rows | OfUnit, public: Public, pairs: Pairs, is_once: bool
) -> Rows | OfUnit:
    """Attribute a protected row that is repeated by public ones.

    Stability: as many rows change as a row has partners, at most: one by a key of the server, or as many as
    a cut of the public side keeps of one value (PROOFS.md 17 "Repeated by a public table"). Rows of units
    stay of their units.

    Args:
        pairs: What is compared, the protected side first.
        is_once: Whether a protected row meets at most one public row.

    Raises:
        NotPrivate: Rows that change are repeated without a bound.

    >>> public, pairs = Public(most=((("p", "k"), 3),)), [(("r1", "i4"), ("p", "k"))]
    >>> [public_join(Rows(changed=2), public, pairs, is_once).changed for is_once in (True, False)]
    [2, 6]
    >>> public_join(Rows(changed=2), Public(), pairs, False)
    Traceback (most recent call last):
    proxy.kernel.refusals.NotPrivate: the statement could not be run
    """
    compared = {y for _, y in pairs}
    bounds = [most for column, most in public.most if column in compared]
    most = 1 if is_once else min(bounds, default=None)
    match protected:
        case Rows():
            if most is None:
                raise NotPrivate(Rule.JOIN, "rows are repeated without a bound")
            return _repeated(protected, most)
        case OfUnit():
            few = protected.rows
            rows = None if few is None or most is None else _repeated(few, most)
            is_alone = protected.alone and most == 1
            return replace(protected, alone=is_alone, numbered=frozenset(), rows=rows)


def _repeated(rows: Rows, times: int) -> Rows:
    return replace(
        rows,
        changed=rows.changed * times,
        most=tuple((column, most * times) for column, most in rows.most),
    )


def _as_rows(owner: Owner) -> Rows:
    rows = owner.rows if isinstance(owner, OfUnit) else owner
    if not isinstance(rows, Rows):
        raise NotPrivate(Rule.JOIN, "rows of different units meet without a bound")
    return rows


def truncated_join(join: Join, a: Rows, b: Rows, pairs: Pairs) -> Rows:
    """Bound the joined rows that change where both sides have few rows of one value.

    Stability: a.changed T_b + b.changed T_a, T being the most rows of a side with one value of what is
    compared. Of a LEFT JOIN the second term counts twice, as a partner that comes takes away the row
    without one; but once where partners come alone or in the place of others, which the 2 of their cut
    counts already (PROOFS.md 17 "The join", "LEFT JOIN"). First the rows of `a` change, of which each meets
    T_b rows of `b` or stays alone; then those of `b`. The sum covers both at once, so both sides may be of
    one table. Of several pairs the best is taken.

    Raises:
        NotPrivate: No pair has a bound on both sides.

    >>> from proxy.kernel.attribution import relation_of
    >>> from tests.kernel.examples import WORLD, joined_cuts
    >>> relation_of(joined_cuts(left_most=3, right_most=2), WORLD).owner.changed
    10
    """
    found = [_joined_by(join, a, b, x, y) for x, y in pairs]
    bounded = [rows for rows in found if rows is not None]
    if not bounded:
        raise NotPrivate(Rule.JOIN, "rows of different units meet without a bound")
    return min(bounded, key=lambda rows: rows.changed)


def _joined_by(join: Join, a: Rows, b: Rows, x: ColumnName, y: ColumnName) -> Rows | None:
    most_a, most_b = a.most_of(x), b.most_of(y)
    if most_a is None or most_b is None:
        return None
    times = 2 if join.left_outer and b.in_place != y else 1
    filled = a.filled if join.left_outer else a.filled | b.filled | {x, y}
    values = _values_touched(a, x) + _values_touched(b, y)
    told = [x] if join.left_outer else [x, y]
    return Rows(
        changed=a.changed * max(1, most_b) + b.changed * most_a * times,
        most=(*_times(a, most_b), *_times(b, most_a)),
        touched=tuple((frozenset({column}), values) for column in told if column in filled),
        filled=filled,
    )


def _values_touched(side: Rows, column: ColumnName) -> int:
    """So many values of a column do rows of a side have that change."""
    bounds = (most for columns, most in side.touched if columns == {column})
    return min(bounds, default=side.changed)


def _times(side: Rows, times: int) -> Iterable[tuple[ColumnName, int]]:
    return ((column, most * times) for column, most in side.most)
