"""Joins: on the privacy unit, along references, with public tables, and by truncation."""

from __future__ import annotations

from dataclasses import replace

from typing_extensions import assert_never

from proxy.base.errors import Code, Refusal
from proxy.base.sql_types import SqlType
from proxy.base.written_names import written_name
from proxy.catalog.catalog_model import unique_keys
from proxy.kernel.column_types import injective, is_hashed
from proxy.kernel.join_rules import equal_beside, equal_pairs, met_once, on_one_unit
from proxy.kernel.owners import OfUnit, Public, name
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
from proxy.planner.lookups import looked_up
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
        return replace(found, relation=replace(relation, is_seeded=_needs_seed(relation, known)))
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
        is_seeded=True,
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
            met = met_of_one_unit(relation, known)
            if met is None:
                relation = along_a_foreign_key(relation, a, b, known)
                met = met_of_one_unit(relation, known)
            if met is not None:
                return _of_one_unit(relation, facts, (left, right), met, known)
            refused = "a join of protected tables must be on the privacy unit they share"
        case _ if _are_of_one_table(left, right):
            refused = (
                "each row of the table is a privacy unit by itself, so its rows are not joined"
            )
        case _:
            refused = "protected tables with different privacy units cannot be joined"
    found = None
    if not isinstance(left.ownership, PublicRows):
        found = truncated_join(relation, left, right, known)
    if found is None:
        raise Refusal(Code.UNSUPPORTED, refused, _advice(relation, left, right, known))
    return RelationWithUnit(found[0], facts, found[1])


def _needs_seed(relation: Join, known: PlanningContext) -> bool:
    """Whether a person can have rows of many keys on both sides."""
    sides = [known.attributed(side) for side in (relation.left, relation.right)]
    owners = [side.owner for side in sides if side is not None]
    if any(isinstance(owner, Public) for owner in owners):
        return False
    units = [owner.columns | owner.or_null for owner in owners if isinstance(owner, OfUnit)]
    if len(units) < len(sides):
        return True
    are_units = all(name(x) in units[0] and name(y) in units[1] for x, y in relation.equal)
    return not are_units or bool(equal_beside(relation))


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
    relation = replace(joined, left=left.relation, right=right.relation)
    met = met_of_one_unit(relation, known)
    if met is None:
        met = met_of_one_unit(along_a_foreign_key(relation, a, b, known), known)
    return met is None or not any(met)


def _typed(column: ColumnRef, facts: Facts) -> ColumnRef:
    found = typed(column, facts)
    assert isinstance(found, ColumnRef)
    return found


def _advice(
    joined: Join, left: RelationWithUnit, right: RelationWithUnit, known: PlanningContext
) -> str:
    """What to write instead, with the names of the tables: a join on the unit, or of answers of each table."""
    more = truncation.truncation_hint(joined, left, right, known)
    a, b = left.ownership, right.ownership
    meets_itself = isinstance(a, UnitRows) and a.unique and _are_of_one_table(left, right)
    if (
        isinstance(a, UnitRows)
        and isinstance(b, UnitRows)
        and not meets_itself
        and a.identifier == b.identifier
    ):
        units = _named(left, a.column), _named(right, b.column)
        on = " = ".join(f"{column} of {table}" for table, column in filter(None, units))
        if any(truncation.is_found_through_reference(one.table, known) for one in scans(joined)):
            on = a.identifier
        return f"Join on the privacy unit ({on}), or a public table on its key{more}."
    for x, y in joined.equal:
        ours, theirs = _named(left, x), _named(right, y)
        if ours is not None and theirs is not None:
            (one, k), (other, m) = ours, theirs
            return (
                f"Join a public table on its key{more}; or join counts of each side: SELECT a.{k}, a.n, b.n"  # noqa: S608
                f" FROM (SELECT {k}, count(*) AS n FROM {one} GROUP BY {k}) a"
                f" JOIN (SELECT {m}, count(*) AS n FROM {other} GROUP BY {m}) b ON b.{m} = a.{k}"
            )
    tables = (next(iter(scans(side.relation))).table for side in (left, right))
    one, other = (written_name(*table) for table in tables)
    each = f"SELECT (SELECT count(*) FROM {one}), (SELECT count(*) FROM {other})"  # noqa: S608
    return f"Join a public table on its key{more}; or ask each side by itself: {each}"


def _are_of_one_table(left: RelationWithUnit, right: RelationWithUnit) -> bool:
    return len({one.table for side in (left, right) for one in scans(side.relation)}) == 1


def _named(side: RelationWithUnit, column: ColumnRef) -> tuple[str, str] | None:
    """The names of a protected table and its column, as SQL."""
    place = leaf(side.relation, column.relation)
    if place is None or not truncation.holds_the_rows(side, place):
        return None
    found = table_column(place, column.column)
    return None if found is None else (written_name(*found[0]), written_name(found[1]))


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
    raise Refusal(
        Code.UNSUPPORTED,
        "a public table can be joined on a key that is unique in it, so that no row is multiplied",
        f"{_keys_of(public, known)}{declared[0] if declared else ''}.",
    )


def _keys_of(public: Relation, known: PlanningContext) -> str:
    """Which columns of a public side can be joined on."""
    named = []
    for table in dict.fromkeys(scan.table for scan in scans(public)):
        keys = sorted(unique_keys(known.catalog.tables[table]))
        named += [f"{' and '.join(key)} of {table}" for key in keys]
    if not named:
        return "Join a table with a primary key, or ask IN (SELECT ...) of this one"
    return f"Join a public table on its key, equal to a column: {' or '.join(named)}"


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
            return replace(ownership, rows=rows, named_by=(), formed=formed)
        case _:
            return ownership


def met_of_one_unit(relation: Join, known: PlanningContext) -> tuple[bool, bool] | None:
    """Whether a row meets one row at most of the left side, and of the right side, as the kernel sees them.

    None: rows of different units can meet, or several rows of one unit by a reference.
    """
    left, right = known.attributed(relation.left), known.attributed(relation.right)
    if left is None or right is None:
        return None
    a, b, pairs = left.owner, right.owner, equal_pairs(relation, left, right)
    if not isinstance(a, OfUnit) or not isinstance(b, OfUnit) or not on_one_unit(a, b, pairs):
        return None
    met = (
        a.alone or met_once(left, {x for x, _ in pairs}),
        b.alone or met_once(right, {y for _, y in pairs}),
    )
    are_units = any(x in a.columns | a.or_null and y in b.columns | b.or_null for x, y in pairs)
    return met if are_units or any(met) else None


def _of_one_unit(
    relation: Join, facts: Facts, sides: _Sides, met: tuple[bool, bool], known: PlanningContext
) -> RelationWithUnit:
    """Rows of one unit meet rows of the same unit.

    Where a row meets one row at most of a side, a unit has as many joined rows as rows of the other side; and
    where rows of the left side stay that meet none, these as well: all but one, if there is one that does. Else
    both sides are cut first, and at most the product of their numbers counts, also within one group, where all
    rows of a side may be that has no bound on these.
    """
    left, right = sides
    if not any(met):
        left, right = (unit_truncation.truncate_side(side, known) for side in sides)
        relation = with_join_condition(replace(relation, left=left.relation, right=right.relation))
        facts = left.facts | right.facts | facts
    a, b = left.ownership, right.ownership
    assert isinstance(a, UnitRows) and isinstance(b, UnitRows)
    rows, formed, groups, per_group = a.rows, a.formed, a.groups, a.rows_per_group
    if not any(met):
        rows, formed = a.rows * b.rows, unit_truncation.multiplied(a.formed, b.formed)
        groups = min((one for one in (groups, b.groups) if one is not None), default=None)
        if per_group is not None or b.rows_per_group is not None:
            per_group = (per_group or a.rows) * (b.rows_per_group or b.rows)
    elif not met[1]:
        rows, formed, groups, per_group = b.rows, b.formed, b.groups, b.rows_per_group
        if relation.left_outer:
            rows, formed = a.rows + b.rows - 1, a.formed + b.formed
            groups = _together(a.groups, b.groups)
            per_group = _together(a.rows_per_group, b.rows_per_group)
    ownership = replace(
        a,
        rows=rows,
        groups=groups,
        rows_per_group=per_group,
        named_by=(),
        untruncated=(*a.untruncated, *b.untruncated),
        formed=formed,
        is_chosen=a.is_chosen or b.is_chosen,
        is_unbounded=a.is_unbounded or b.is_unbounded,
    )
    return RelationWithUnit(relation, facts, ownership)


def _together(one: int | None, other: int | None) -> int | None:
    return None if one is None or other is None else one + other


def along_a_foreign_key(joined: Join, a: UnitRows, b: UnitRows, known: PlanningContext) -> Join:
    """Where two tables of one privacy unit are joined along a declared foreign key, as in `payments.rental_id =
    rentals.rental_id`, set their units equal as well.

    All rows that a joined row is made of belong to one unit then, whatever the data is. Where the data is as it
    should be, the row that is referred to is of the same unit anyway, and nothing is left out.

    Args:
        joined: With its sides as planned.
        a: Of the left side.
        b: Of the right side.
        known: Policy and catalogue.

    Returns:
        The same join where no equality of ON is that of a foreign key.
    """
    if not can_be_truncated_by(a.column, b.column):
        return joined
    for x, y in joined.equal:
        refers = _refers(joined, x, y, known) or _refers(joined, y, x, known)
        if refers and can_be_truncated_by(x, y):
            return replace(joined, equal=(*joined.equal, (a.column, b.column)))
    return joined


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
