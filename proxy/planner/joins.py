"""Joins: on the privacy unit, along references, with public tables, and by truncation."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import NoReturn

from typing_extensions import assert_never

from proxy.base.errors import Code, Refusal
from proxy.base.sql_types import SqlType
from proxy.kernel.column_types import injective, is_hashed
from proxy.kernel.join_rules import met_once
from proxy.kernel.owners import name
from proxy.planner import truncation, unit_truncation
from proxy.planner.bounds import condition
from proxy.planner.facts import (
    ColumnFacts,
    Facts,
    PlanningContext,
    ProtectedRows,
    PublicRows,
    RelationWithUnit,
    RowOwnership,
    UnitRows,
    typed,
)
from proxy.planner.lookups import (
    along_the_reference,
    looked_up,
    on_the_unit,
    unit_names,
)
from proxy.planner.narrowing import narrowed
from proxy.planner.truncation import (
    can_be_truncated_by,
    is_unique,
    leaf,
    table_column,
    truncate_public,
    truncated_join,
)
from proxy.planner.unit_truncation import with_join_condition
from proxy.policy.policy_model import ProtectedTable
from proxy.query.ir.expressions import ColumnRef
from proxy.query.ir.relations import (
    GroupByUnit,
    Join,
    Relation,
    Scan,
    Subquery,
    Truncate,
    UnionAll,
    scans,
)

_Sides = tuple[RelationWithUnit, RelationWithUnit]


def joined_rows(
    joined: Join, left: RelationWithUnit, right: RelationWithUnit, known: PlanningContext
) -> RelationWithUnit:
    """
    Given    left, right: the sides of the join
    Refuses  UNSUPPORTED: what is not on the privacy unit, and neither a key nor a join key of the policy;
             values that PostgreSQL cannot hash together
    """
    found = _joined_rows(joined, left, right, known)
    relation = found.relation
    assert isinstance(relation, Join)
    if any(is_hashed(x.type, y.type) for x, y in relation.equal):
        return found
    x, y = relation.equal[0]
    raise Refusal(
        Code.UNSUPPORTED,
        f"tables are not joined where {x.type.sql} equals {y.type.sql}",
        "Join on columns of one type.",
        joined.position,
    )


def _joined_rows(
    joined: Join, left: RelationWithUnit, right: RelationWithUnit, known: PlanningContext
) -> RelationWithUnit:
    facts = _facts(joined, left, right, known)
    rest = None if joined.rest is None else condition(typed(joined.rest, facts), facts)
    joined = replace(
        joined, equal=tuple((_typed(a, facts), _typed(b, facts)) for a, b in joined.equal)
    )
    relation = replace(
        joined,
        left=left.relation,
        right=right.relation,
        rest=rest,
        is_seeded=_needs_seed(joined, left, right),
    )
    if joined.is_lookup:
        return looked_up(
            relation, facts, replace(left, facts=facts), replace(right, facts=facts), known
        )
    match left.ownership, right.ownership:
        case PublicRows(), PublicRows():
            return RelationWithUnit(relation, facts, PublicRows())
        case _, PublicRows():
            bounded, most = _partners(joined, right.relation, [b for _, b in joined.equal], known)
            return RelationWithUnit(
                replace(relation, right=bounded), facts, _repeated(left.ownership, most)
            )
        case PublicRows(), _ if not joined.left_outer:
            bounded, most = _partners(joined, left.relation, [a for a, _ in joined.equal], known)
            return RelationWithUnit(
                replace(relation, left=bounded), facts, _repeated(right.ownership, most)
            )
        case UnitRows() as a, UnitRows() as b if a.identifier == b.identifier:
            if on_the_unit(joined, left, right, a, b):
                return _multiplied(relation, facts, left, right, known)
            referred = along_the_reference(joined, left, right, known)
            if referred is not None:
                return _referred(relation, facts, left, right, referred, known)
            along = along_a_foreign_key(joined, left, right, known)
            if along is not None:
                relation = replace(relation, equal=(*relation.equal, along.units))
                if not _is_repeated(_target(left, right, along.key), along.key):
                    return _referred(relation, facts, left, right, along.key, known)
                if _is_one_row(left) or _is_one_row(right):
                    return _multiplied(relation, facts, left, right, known)
            refused = "a join of protected tables must be on the privacy unit they share"
        case _:
            refused = "protected tables with different privacy units cannot be joined"
    found = None
    if not isinstance(left.ownership, PublicRows):
        found = truncated_join(relation, left, right, known)
    if found is None:
        _refuse(refused, truncation.truncation_hint(relation, left, right, known))
    return RelationWithUnit(found[0], facts, found[1])


def _needs_seed(joined: Join, left: RelationWithUnit, right: RelationWithUnit) -> bool:
    """Whether a person can have rows of many keys on both sides."""
    a, b = left.ownership, right.ownership
    if isinstance(a, PublicRows) or isinstance(b, PublicRows):
        return False
    if not isinstance(a, UnitRows) or not isinstance(b, UnitRows):
        return True
    ours, theirs = unit_names(left, a), unit_names(right, b)
    return not all(
        (x.relation, x.column) in ours and (y.relation, y.column) in theirs for x, y in joined.equal
    )


def _facts(
    joined: Join, left: RelationWithUnit, right: RelationWithUnit, known: PlanningContext
) -> Facts:
    """Of both sides, as far as rows that ON takes are concerned; of an outer join's right side also NULL, but
    where each row of the left one has a partner."""
    both = left.facts | right.facts
    on = None if joined.rest is None else typed(joined.rest, both)
    taken = narrowed(both, on)
    if not joined.left_outer:
        return _with_equal(joined, taken)
    if _has_partners(joined, (left, right), known):
        return _with_equal(joined, left.facts | {key: taken[key] for key in right.facts})
    facts = dict[tuple[str, str], ColumnFacts]()
    for key in right.facts:
        column = taken[key]
        values = column.values
        if values is not None and None not in values:
            values = (*values, None)
        of_row = None if column.of_row is None else replace(column.of_row, is_outer=True)
        facts[key] = replace(column, values=values, nullable=True, of_row=of_row, computed_of=None)
    return left.facts | facts


def _with_equal(joined: Join, facts: Facts) -> Facts:
    """A column that equals one of a public row is of that row, with its values, where equals print equally."""
    changed = dict(facts)
    for pair in joined.equal:
        for x, y in (pair, pair[::-1]):
            of, public = changed[x.relation, x.column], changed[y.relation, y.column]
            if of.of_row is not None or public.of_row is None or public.of_row.is_outer:
                continue
            if not _prints_equally(of.type, public.type):
                continue
            values = public.values
            if of.values is not None and values is not None:
                there = set(values)
                values = tuple(value for value in of.values if value in there)
            if values is not None:
                values = tuple(value for value in values if value is not None)
            changed[x.relation, x.column] = replace(of, of_row=public.of_row, values=values)
    return facts.instead(changed)


def _prints_equally(one: SqlType, other: SqlType) -> bool:
    if one.is_integer and other.is_integer:
        return True
    return one is other and not (one.is_float or one in (SqlType.NUMERIC, SqlType.BPCHAR))


def _has_partners(joined: Join, sides: _Sides, known: PlanningContext) -> bool:
    """Whether each row of the left side meets one of the right, by a reference that the server enforces for all
    rows and that is never NULL. Of the right table no row may be left out; of a protected one those that belong
    to another unit than the row that refers to them are, which the data should not have."""
    table = whole_table(joined.right)
    if joined.rest is not None or table is None:
        return False
    policy = known.policy.tables[table.table]
    if isinstance(policy, ProtectedTable):
        if _is_truncated(joined, sides, known):
            return False
    elif policy.join_keys:
        return False
    target = known.catalog.tables[table.table]
    found = [
        (origin(joined.left, a, or_null=True), origin(joined.right, b))
        for a, b in joined.equal
        if not sides[0].facts[a.relation, a.column].nullable
    ]
    for scan in scans(joined.left):
        pairs = {
            (a.column, b.column)
            for a, b in found
            if a is not None and b is not None and a.relation == scan.alias
        }
        if len(pairs) != len(joined.equal):
            continue
        for key in known.catalog.tables[scan.table].foreign_keys:
            if (
                key.target == target.name
                and set(zip(key.columns, key.target_columns, strict=True)) == pairs
            ):
                return True
    return False


def _is_truncated(joined: Join, sides: _Sides, known: PlanningContext) -> bool:
    """Whether the join can leave out rows of its right side, a table of protected rows."""
    left, right = sides
    a, b = left.ownership, right.ownership
    if not isinstance(a, UnitRows) or not isinstance(b, UnitRows) or a.identifier != b.identifier:
        return True
    if on_the_unit(joined, left, right, a, b):
        return not _is_one_row(left) and not _is_one_row(right)
    return along_the_reference(joined, left, right, known) is None and (
        along_a_foreign_key(joined, left, right, known) is None
    )


def _typed(column: ColumnRef, facts: Facts) -> ColumnRef:
    found = typed(column, facts)
    assert isinstance(found, ColumnRef)
    return found


def _refuse(message: str, more: str = "") -> NoReturn:
    advice = "Join on the privacy unit (a.unit = b.unit), or a public table on its key"
    raise Refusal(Code.UNSUPPORTED, message, f"{advice}{more}.")


def _partners(
    joined: Join, public: Relation, columns: list[ColumnRef], known: PlanningContext
) -> tuple[Relation, int]:
    """A public side, and how many of its rows one row can meet: one by a key that the server checks, or as
    many as a join key of the policy leaves of each value."""
    pairs = zip(joined.equal, columns, strict=True)
    compared = {name(column) for (a, b), column in pairs if injective(a.type, b.type)}
    found = known.attributed(public)
    if found is not None and met_once(found, compared):
        return public, 1
    if isinstance(public, Scan):
        for (a, b), column in zip(joined.equal, columns, strict=True):
            rule = truncation.key_rule(public, column, known)
            if rule is not None and truncation.can_be_truncated_by(a, b):
                return truncate_public(public, column, rule, known), rule.most
    declared = [
        truncation.public_truncation_hint(public, column, known)
        for (a, b), column in zip(joined.equal, columns, strict=True)
        if isinstance(public, Scan) and truncation.can_be_truncated_by(a, b)
    ]
    _refuse(
        "a public table can be joined on a key that is unique in it, so that no row is multiplied",
        declared[0] if declared else "",
    )


def _repeated(ownership: RowOwnership, most: int) -> RowOwnership:
    """Each row up to `most` times. All of them stay in the partition of the one row that they were."""
    match ownership:
        case ProtectedRows() if most > 1:
            partitions = (ownership.partitions or ownership.rows) if ownership.hashed_by else None
            rows = ownership.rows * most
            return replace(ownership, rows=rows, partitions=partitions, parts=())
        case UnitRows() if most > 1:
            formed = unit_truncation.multiplied(ownership.formed, most)
            rows = ownership.rows * most
            return replace(ownership, rows=rows, unique=False, named_by=(), formed=formed)
        case _:
            return ownership


def _multiplied(
    relation: Join,
    facts: Facts,
    left: RelationWithUnit,
    right: RelationWithUnit,
    known: PlanningContext,
) -> RelationWithUnit:
    """Rows of one unit meet rows of the same unit. Where both sides may have several, both are cut first."""
    if not _is_one_row(left) and not _is_one_row(right):
        left, right = (
            unit_truncation.truncate_side(left, known),
            unit_truncation.truncate_side(right, known),
        )
        relation = replace(relation, left=left.relation, right=right.relation)
        relation = with_join_condition(relation)
        facts = left.facts | right.facts | facts
    a, b = left.ownership, right.ownership
    assert isinstance(a, UnitRows) and isinstance(b, UnitRows)
    formed = unit_truncation.multiplied(a.formed, b.formed)
    ownership = replace(_both(a, b), untruncated=(*a.untruncated, *b.untruncated), formed=formed)
    return RelationWithUnit(relation, facts, ownership)


def _is_one_row(side: RelationWithUnit) -> bool:
    """Whether a unit has one row at most in it, so that the other side's are not multiplied."""
    ownership = side.ownership
    return isinstance(ownership, UnitRows) and ownership.formed == 1 and not ownership.untruncated


def _referred(
    relation: Join,
    facts: Facts,
    left: RelationWithUnit,
    right: RelationWithUnit,
    referred: ColumnRef,
    known: PlanningContext,
) -> RelationWithUnit:
    """Each row meets the one row that it refers to, the one with the key `referred`: nothing is multiplied, but
    where an earlier join has repeated that row. So a unit has as many joined rows as rows that refer; and where
    rows of the left side stay to which none does, these as well: all but one, if there is one that does."""
    a, b = left.ownership, right.ownership
    assert isinstance(a, UnitRows) and isinstance(b, UnitRows)
    target = _target(left, right, referred)
    if _is_repeated(target, referred):
        found = _multiplied(relation, facts, left, right, known)
        assert isinstance(found.ownership, UnitRows)
        return replace(found, ownership=replace(found.ownership, unique=False))
    referring = a if target is b else b
    rows, formed = referring.rows, max(a.formed, b.formed)
    groups, rows_per_group = referring.groups, referring.rows_per_group
    if relation.left_outer:
        formed = a.formed + b.formed
        if target is a:
            rows = a.rows + b.rows - 1
            groups = _together(a.groups, b.groups)
            rows_per_group = _together(a.rows_per_group, b.rows_per_group)
    ownership = replace(
        a,
        rows=rows,
        unique=False,
        groups=groups,
        rows_per_group=rows_per_group,
        named_by=(),
        untruncated=(*a.untruncated, *b.untruncated),
        formed=formed,
        is_chosen=a.is_chosen or b.is_chosen,
        is_unbounded=a.is_unbounded or b.is_unbounded,
    )
    return RelationWithUnit(relation, facts, ownership)


def _together(one: int | None, other: int | None) -> int | None:
    return None if one is None or other is None else one + other


def _target(left: RelationWithUnit, right: RelationWithUnit, referred: ColumnRef) -> UnitRows:
    """Of the side that is referred to."""
    is_left = any(scan.alias == referred.relation for scan in scans(left.relation))
    found = (left if is_left else right).ownership
    assert isinstance(found, UnitRows)
    return found


def _is_repeated(target: UnitRows, referred: ColumnRef) -> bool:
    """Whether an earlier join can have repeated the row that is referred to."""
    once = [part.rows for part in target.untruncated if part.alias == referred.relation]
    return target.formed > 1 and [target.formed] != once


def _both(a: UnitRows, b: UnitRows) -> UnitRows:
    """Rows of one unit meet rows of the same unit: at most the product of their numbers counts, also within
    one group, where all rows of a side may be that has no bound on these."""
    groups = [side.groups for side in (a, b) if side.groups is not None]
    per_group = None
    if a.rows_per_group is not None or b.rows_per_group is not None:
        per_group = (a.rows_per_group or a.rows) * (b.rows_per_group or b.rows)
    return replace(
        a,
        rows=a.rows * b.rows,
        unique=a.unique and b.unique,
        groups=min(groups, default=None),
        rows_per_group=per_group,
        named_by=(),
        is_chosen=a.is_chosen or b.is_chosen,
        is_unbounded=a.is_unbounded or b.is_unbounded,
    )


# --- Joins of two tables of one privacy unit along a foreign key: `payments.rental_id = rentals.rental_id`.


@dataclass(frozen=True, slots=True, kw_only=True)
class AlongForeignKey:
    """units: the columns of the units, which ON has to set equal as well; key: that is referred to."""

    units: tuple[ColumnRef, ColumnRef]
    key: ColumnRef


def along_a_foreign_key(
    joined: Join, left: RelationWithUnit, right: RelationWithUnit, known: PlanningContext
) -> AlongForeignKey | None:
    """
    Given    sides whose rows have the same kind of unit, each in a column of its own
    Gives    None where no equality of ON is that of a declared foreign key

    With the units equal, all rows that a joined row is made of belong to one unit, whatever the data is; by the
    key, which the server checks, a row meets one row at most, so that a unit has as many joined rows as it has
    rows that refer (with those that have no partner, if they stay). Where the data is as it should be, the row
    that is referred to is of the same unit anyway, and nothing is left out.
    """
    a, b = left.ownership, right.ownership
    assert isinstance(a, UnitRows) and isinstance(b, UnitRows)
    if not can_be_truncated_by(a.column, b.column):
        return None
    for x, y in joined.equal:
        if not can_be_truncated_by(x, y):
            continue
        if _refers(joined, x, y, known):
            return AlongForeignKey(units=(a.column, b.column), key=y)
        if _refers(joined, y, x, known):
            return AlongForeignKey(units=(a.column, b.column), key=x)
    return None


def _refers(joined: Join, here: ColumnRef, there: ColumnRef, known: PlanningContext) -> bool:
    """Whether a column is declared to refer to another, which names a row of its side."""
    source, target = leaf(joined, here.relation), leaf(joined, there.relation)
    if source is None or target is None or not is_unique(target, there, known):
        return False
    of, to = table_column(source, here.column), table_column(target, there.column)
    return (
        of is not None
        and to is not None
        and any(
            (key.columns, key.target, key.target_columns) == ((of[1],), to[0], (to[1],))
            for key in known.catalog.tables[of[0]].foreign_keys
        )
    )


# --- Columns of row-wise subqueries followed to the table that holds them.


def origin(relation: Relation, column: ColumnRef, *, or_null: bool = False) -> ColumnRef | None:
    """
    Given    column: of a relation, or of a part of it; or_null: it may be NULL in rows of an outer join
    Gives    the column of a table that it is in every row; None where it is computed, or NULL in some rows
    """
    match relation:
        case Scan():
            return column if column.relation == relation.alias else None
        case Join():
            left = origin(relation.left, column, or_null=or_null)
            if left is not None or (relation.left_outer and not or_null):
                return left
            return origin(relation.right, column, or_null=or_null)
        case Subquery():
            if column.relation != relation.alias:
                return None
            found = dict(relation.outputs).get(column.column)
            if not isinstance(found, ColumnRef):
                return None
            return origin(relation.source, found, or_null=or_null)
        case Truncate() | GroupByUnit() | UnionAll():
            return None
        case _:
            assert_never(relation)


def whole_table(relation: Relation) -> Scan | None:
    """The table of which a relation has every row once, under names of its own perhaps."""
    while isinstance(relation, Subquery) and relation.where is None:
        relation = relation.source
    return relation if isinstance(relation, Scan) else None
