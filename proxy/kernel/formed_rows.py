"""How many rows of one unit each relation of a plan forms, from the tables up.

Claim: one unit has at most `Formed.rows` rows in the relation, or, where neighbours differ in rows, so many of them change.
Argument: each function is about one kind of relation and says why. Whose a row is was checked before (the attribution of
the plan); here rows are counted only, in one walk, so that a deep plan costs no more than it has parts.

Source: PROOFS.md 17 and 19 (J2).
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from enum import Enum
from itertools import islice, product

from proxy.base.result_columns import UNIT_COLUMN, key_column
from proxy.base.sql_types import SqlType
from proxy.catalog.catalog_model import Catalog, Table, TableName
from proxy.kernel.work_prices import Column
from proxy.policy.policy_model import IdentifierUnit, Policy, ProtectedTable, RowUnit
from proxy.query.ir.expression_walk import columns
from proxy.query.ir.expressions import (
    ColumnRef,
    Comparator,
    Comparison,
    Connective,
    Constant,
    Expression,
)
from proxy.query.ir.relations import GroupByUnit, Join, Scan, Subquery, Truncate, UnionAll
from proxy.query.ir.windows import WindowFunction

_NAMES = 16  # of one key under several names


class UnboundedRows(Exception):
    """Rows of one unit multiply without a bound."""


@dataclass(frozen=True, slots=True)
class RowCount:
    """At most `bounded` rows, and `stored` for each row that the unit stores.

    >>> RowCount(3, 0).times(RowCount(0, 2))
    RowCount(bounded=0, stored=6)
    """

    bounded: int
    stored: int = 0

    def plus(self, other: RowCount) -> RowCount:
        return RowCount(self.bounded + other.bounded, self.stored + other.stored)

    def times(self, other: RowCount) -> RowCount:
        """
        Raises  UnboundedRows: both grow with what is stored
        """
        if self.stored and other.stored:
            raise UnboundedRows
        return RowCount(
            self.bounded * other.bounded,
            self.stored * other.bounded + self.bounded * other.stored,
        )


NO_ROWS, ONE_ROW = RowCount(0), RowCount(1)


class Protection(Enum):
    """Whose rows they are: nobody's, those of units, or rows that are protected by themselves."""

    PUBLIC = "public"
    UNITS = "units"
    ROWS = "rows"


@dataclass(frozen=True, slots=True)
class Formed:
    """rows: of one unit. units: columns that hold the unit of a row; named: a value is the primary key of a row of that
    table, which belongs to the row's unit; keys: columns that name a row; most: so many rows have one value of the column;
    numbered: tell the rows of a unit apart, 1, 2, ..; is_repeated: one stored row may stand in several rows."""

    protection: Protection
    rows: RowCount
    units: frozenset[Column] = frozenset()
    named: frozenset[tuple[Column, TableName]] = frozenset()
    keys: tuple[frozenset[Column], ...] = ()
    most: tuple[tuple[Column, int], ...] = ()
    numbered: frozenset[Column] = frozenset()
    is_repeated: bool = False

    @property
    def is_public(self) -> bool:
        return self.protection is Protection.PUBLIC

    def most_of(self, column: Column) -> int | None:
        """How many rows have one value of a column at most."""
        found = [most for there, most in self.most if there == column]
        if frozenset((column,)) in self.keys:
            found.append(1)
        return min(found, default=None)

    def is_named_by(self, told: Iterable[Column]) -> bool:
        """Whether these columns name a row."""
        there = frozenset(told)
        return any(key <= there for key in self.keys)


def scanned(scan: Scan, policy: Policy, catalog: Catalog) -> Formed:
    """A unit stores any number of rows, but one where the server checks that its column is unique."""
    table, known = catalog.tables[scan.table], policy.tables[scan.table]
    keys = tuple(
        frozenset((scan.alias, name) for name in names)
        for names in (table.primary_key, *table.unique)
        if names
    )
    if not isinstance(known, ProtectedTable):
        return Formed(Protection.PUBLIC, NO_ROWS, keys=keys)
    if isinstance(known.unit, RowUnit):
        if table.has_ctid:
            keys = (*keys, frozenset({(scan.alias, "ctid")}))
        return Formed(Protection.ROWS, RowCount(known.unit.rows), keys=keys)
    return _of_units(scan, table, known.unit, keys)


def _of_units(
    scan: Scan, table: Table, unit: IdentifierUnit, keys: tuple[frozenset[Column], ...]
) -> Formed:
    column = (scan.alias, unit.column)
    own = {((scan.alias, table.primary_key[0]), scan.table)} if len(table.primary_key) == 1 else set()
    if unit.path is not None:
        named = frozenset(own | {(column, unit.path.table)})
        return Formed(Protection.UNITS, RowCount(0, 1), named=named, keys=keys)
    rows = ONE_ROW if table.is_unique(unit.column) else RowCount(0, 1)
    return Formed(Protection.UNITS, rows, frozenset({column}), frozenset(own), keys)


def projected(subquery: Subquery, source: Formed) -> Formed:
    """One row comes of one row; of a unit whose rows are numbered one row has the number 1."""
    names: dict[Column, list[Column]] = {}
    for name, expression in subquery.outputs:
        if isinstance(expression, ColumnRef):
            names.setdefault(_name(expression), []).append((subquery.alias, name))

    def moved(old: Iterable[Column]) -> frozenset[Column]:
        return frozenset(new for column in old for new in names.get(column, ()))

    def keys() -> Iterator[frozenset[Column]]:
        for key in source.keys:
            under = product(*(names.get(column, ()) for column in key))
            yield from (frozenset(one) for one in islice(under, _NAMES))

    numbered = set(moved(source.numbered))
    for window in subquery.windows:
        by = {_name(part) for part in window.partition if isinstance(part, ColumnRef)}
        of_units = len(by) == len(set(window.partition)) and by <= source.units
        if window.function is WindowFunction.ROW_NUMBER and by and of_units:
            numbered.add((subquery.alias, window.name))
    is_one = source.numbered and _is_one_number(subquery.where, source.numbered)
    return replace(
        source,
        rows=ONE_ROW if is_one else source.rows,
        units=moved(source.units),
        named=frozenset((new, table) for old, table in source.named for new in names.get(old, ())),
        keys=tuple(keys()),
        most=tuple((new, most) for old, most in source.most for new in names.get(old, ())),
        numbered=frozenset(numbered),
    )


def is_one_row(where: Expression | None, formed: Formed) -> bool:
    """Whether a condition leaves one row of each unit."""
    return bool(formed.numbered) and _is_one_number(where, formed.numbered)


def _is_one_number(where: Expression | None, numbered: frozenset[Column]) -> bool:
    return any(_asks_for_one(part, numbered) for part in _conjuncts(where))


def _asks_for_one(condition: Expression, numbered: frozenset[Column]) -> bool:
    if not isinstance(condition, Comparison) or not isinstance(condition.left, ColumnRef):
        return False
    value = condition.right.value if isinstance(condition.right, Constant) else None
    if _name(condition.left) not in numbered or value is None or isinstance(value, str | bool):
        return False
    match condition.comparator:
        case Comparator.EQ:
            return True
        case Comparator.LE:
            return math.floor(value) <= 1
        case Comparator.LT:
            return math.ceil(value) <= 2
        case _:
            return False


def grouped(group: GroupByUnit, source: Formed) -> Formed:
    """A unit has no more groups than rows, and one where all keys are the unit."""
    unit = (group.alias, UNIT_COLUMN)
    of_keys = [(group.alias, key_column(n)) for n in range(1, len(group.keys) + 1)]
    is_unit = [isinstance(key, ColumnRef) and _name(key) in source.units for key in group.keys]
    # A text as a key is cut to its first characters, and no unit any more.
    whole = [
        (name, _name(key))
        for name, key in zip(of_keys, group.keys, strict=True)
        if isinstance(key, ColumnRef) and not key.type.is_text
    ]
    units = {unit, *(name for name, column in whole if column in source.units)}
    named = frozenset(
        (name, table) for name, column in whole for old, table in source.named if old == column
    )
    rows = ONE_ROW if all(is_unit) else source.rows
    return Formed(Protection.UNITS, rows, frozenset(units), named, (frozenset({unit, *of_keys}),))


def united(union: UnionAll, parts: tuple[Formed, ...]) -> Formed:
    """Rows of the parts add up."""
    rows = NO_ROWS
    for part in parts:
        rows = rows.plus(part.rows)
    places = range(len(union.parts[0].outputs))

    def at(place: int) -> list[Column]:
        return [(part.alias, part.outputs[place][0]) for part in union.parts]

    def name(place: int) -> Column:
        return (union.alias, union.parts[0].outputs[place][0])

    units = frozenset(
        name(place)
        for place in places
        if all(column in part.units for column, part in zip(at(place), parts, strict=True))
    )
    named = frozenset(
        (name(place), table)
        for place in places
        for column, table in parts[0].named
        if column == at(place)[0]
        and all((there, table) in part.named for there, part in zip(at(place), parts, strict=True))
    )
    repeated = any(part.is_repeated for part in parts)
    return Formed(parts[0].protection, rows, units, named, is_repeated=repeated)


def truncated(truncate: Truncate, source: Formed) -> Formed:
    """By the unit: so many rows of each. By another column: a row that changes may let another one in (17)."""
    there = {(truncate.alias, name) for name in truncate.columns}
    kept = replace(
        source,
        units=source.units & there,
        named=frozenset(one for one in source.named if one[0] in there),
        keys=tuple(key for key in source.keys if key <= there),
        most=tuple(one for one in source.most if one[0] in there),
        numbered=frozenset(),
    )
    if truncate.by is None:
        return kept
    by, most = _name(truncate.by), truncate.most or 1
    kept = replace(kept, most=(*kept.most, (by, most)))
    if source.is_public:
        return kept
    if by in source.units:
        return replace(kept, rows=RowCount(most))
    twice = 1 if truncate.most is None else 2
    return replace(kept, protection=Protection.ROWS, rows=source.rows.times(RowCount(twice)))


def joined(join: Join, left: Formed, right: Formed) -> Formed:
    """
    Raises  UnboundedRows: partners without a bound
    """
    pairs = [(_name(x), _name(y)) for x, y in join.equal if injective(x.type, y.type)]
    once_right = right.is_named_by({*(y for _, y in pairs), *_computed(join)})
    once_left = left.is_named_by({x for x, _ in pairs})
    keys = () if join.left_outer else tuple(a | b for a in left.keys for b in right.keys)[:8]
    keys += left.keys if once_right else ()
    keys += right.keys if once_left and not join.left_outer else ()
    if left.is_public and right.is_public:
        return Formed(Protection.PUBLIC, NO_ROWS, keys=keys)
    if right.is_public or left.is_public:
        own, public = (left, right) if right.is_public else (right, left)
        columns_there = [y if right.is_public else x for x, y in pairs]
        once = once_right if right.is_public else once_left
        return replace(_beside_public(own, public, columns_there, once), keys=keys)
    if _is_on_unit(left, right, pairs):
        return _on_unit(join, left, right, (once_left, once_right), keys)
    return _truncated_join(join, left, right, pairs, keys)


def _beside_public(own: Formed, public: Formed, on: list[Column], once: bool) -> Formed:
    """As many partners as rows of the public side have one value, by a key or a cut."""
    found = [most for column in on if (most := public.most_of(column)) is not None]
    partners = 1 if once else min(found, default=None)
    if partners is None:
        raise UnboundedRows
    return replace(
        own,
        rows=own.rows.times(RowCount(partners)),
        most=tuple((column, most * partners) for column, most in own.most),
        numbered=own.numbered if partners == 1 else frozenset(),
        is_repeated=own.is_repeated or partners > 1,
    )


def _is_on_unit(left: Formed, right: Formed, pairs: list[tuple[Column, Column]]) -> bool:
    return any(
        (x in left.units and y in right.units)
        or any((y, table) in right.named for column, table in left.named if column == x)
        for x, y in pairs
    )


def _on_unit(
    join: Join,
    left: Formed,
    right: Formed,
    once: tuple[bool, bool],
    keys: tuple[frozenset[Column], ...],
) -> Formed:
    """Rows of one unit meet each other only: each with each, or with the one that its key names. A row without partner
    takes the place of a pair."""
    once_left, once_right = once
    counts = []
    if once_right:
        counts.append(left.rows)
    if once_left:
        counts.append(right.rows if not join.left_outer else right.rows.plus(left.rows))
    if not (left.rows.stored and right.rows.stored):
        counts.append(left.rows.times(right.rows))
    if not counts:
        raise UnboundedRows
    units = left.units if join.left_outer else left.units | right.units
    return Formed(
        Protection.UNITS,
        min(counts, key=lambda one: (one.stored, one.bounded)),
        units,
        left.named | right.named,
        keys,
        is_repeated=left.is_repeated
        or right.is_repeated
        or not (once_left and once_right)
        and (left.rows != ONE_ROW or right.rows != ONE_ROW),
    )


def _truncated_join(
    join: Join,
    left: Formed,
    right: Formed,
    pairs: list[tuple[Column, Column]],
    keys: tuple[frozenset[Column], ...],
) -> Formed:
    """Rows of a unit on each side meet at most as many of the other as have one value; of a LEFT JOIN one that goes makes
    a row without partner come."""
    best: Formed | None = None
    for x, y in pairs:
        of_left, of_right = left.most_of(x), right.most_of(y)
        if of_left is None or of_right is None:
            continue
        outer = 2 if join.left_outer else 1
        rows = left.rows.times(RowCount(max(1, of_right)))
        rows = rows.plus(right.rows.times(RowCount(of_left * outer)))
        most = (
            *((column, n * of_right) for column, n in left.most),
            *((column, n * of_left) for column, n in right.most),
        )
        found = Formed(Protection.ROWS, rows, keys=keys, most=most, is_repeated=True)
        if best is None or (rows.stored, rows.bounded) < (best.rows.stored, best.rows.bounded):
            best = found
    if best is None:
        raise UnboundedRows
    return best


def _computed(join: Join) -> Iterator[Column]:
    """Columns of the right side that ON sets equal to a function of the left row: one value each."""
    for part in _conjuncts(join.rest):
        if not isinstance(part, Comparison) or part.comparator is not Comparator.EQ:
            continue
        if not isinstance(part.right, ColumnRef) or part.left.type is None:
            continue
        of_left = {alias for alias, _ in columns(part.left)}
        if part.right.relation not in of_left and injective(part.left.type, part.right.type):
            yield _name(part.right)


def injective(left: SqlType, right: SqlType) -> bool:
    """Whether values of one type that equal one of the other are one value (PROOFS 17, "The join").

    >>> injective(SqlType.INT4, SqlType.NUMERIC), injective(SqlType.FLOAT8, SqlType.NUMERIC)
    (True, False)
    """
    if {left, right} == {SqlType.BPCHAR, SqlType.VARCHAR}:
        return False
    if left.is_text and right.is_text:
        return True
    if left.is_float and right.is_float:
        return True
    exact = [kind.is_integer or kind is SqlType.NUMERIC for kind in (left, right)]
    return all(exact) or left is right


def _conjuncts(condition: Expression | None) -> Iterator[Expression]:
    if isinstance(condition, Connective) and condition.word == "AND":
        for part in condition.operands:
            yield from _conjuncts(part)
    elif condition is not None:
        yield condition


def _name(column: ColumnRef) -> Column:
    return column.relation, column.column
