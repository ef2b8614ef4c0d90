"""Joins on columns that are neither the privacy unit nor a key: both sides are cut first, so that one row
meets few others.

What is cut is what stands in FROM: a table, or a subquery with its own conditions. The WHERE beside the join
comes after the cut. Proof: PROOFS.md, "Joins by truncation".
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import NoReturn

from typing_extensions import assert_never

from proxy.base.errors import Code, Refusal
from proxy.base.sql_types import SqlType
from proxy.catalog.catalog_model import TableName
from proxy.planner.facts import (
    PlanningContext,
    ProtectedRows,
    PublicRows,
    RelationWithUnit,
    UnitRows,
)
from proxy.planner.from_leaves import is_unique, leaf, origin, replaced
from proxy.policy.policy_model import IdentifierUnit, JoinKey, ProtectedTable
from proxy.query.ir.expressions import ColumnRef
from proxy.query.ir.relations import Join, Relation, Scan, Subquery, Truncate, scans

_PLACE, _PLACE_OF_UNIT = "dp_place", "dp_place_of_unit"


@dataclass(frozen=True, slots=True)
class KeyRule:
    """Of a side of a join, after its truncation.

    most: at most so many rows have one value of the key (T); changed: so many rows of the truncated side
    change, at most, when one row of the whole side does (S); truncation: None where a key that the server
    checks does it.
    """

    most: int
    changed: int
    truncation: JoinKey | None


@dataclass(frozen=True, slots=True)
class _Pair:
    """An equality of ON with a rule for both sides."""

    columns: tuple[ColumnRef, ColumnRef]
    rules: tuple[KeyRule, KeyRule]


def stability(left: KeyRule, left_rows: int, right: KeyRule, right_rows: int) -> int:
    """How many joined rows change when left_rows of the left side and right_rows of the right side do.

    Source   T_l S_r M_r + T_r S_l M_l (docs/design/mechanisms.md 3.3; Tumult Analytics,
             "Understanding sensitivity")

    >>> excess, unique = KeyRule(2, 2, JoinKey(2)), KeyRule(1, 1, JoinKey(None))
    >>> stability(excess, 1, excess, 1), stability(unique, 1, excess, 1)
    (8, 4)
    """
    return left.most * right.changed * right_rows + right.most * left.changed * left_rows


def key_rule(relation: Relation, column: ColumnRef, known: PlanningContext) -> KeyRule | None:
    """The least that is known of the rows with one value of a column; None where nothing is."""
    place = leaf(relation, column.relation)
    if place is None:
        return None
    if is_unique(place, column.column, known):
        return KeyRule(1, 1, None)
    table, name = origin(place, column.column) or (None, "")
    declared = None if table is None else known.policy.tables[table].join_keys.get(name)
    if declared is None:
        return None
    # DropExcess: a new row may take the place of another. DropNonUnique: the first row of a value comes, the
    # second makes it go, no further one does anything.
    return KeyRule(declared.keep or 1, 1 if declared.keep is None else 2, declared)


def can_be_truncated_by(a: ColumnRef, b: ColumnRef) -> bool:
    """Whether the values of one side that equal one of the other side are one value there, as PARTITION BY
    sees them: not between floats and other numbers, texts with and without their trailing blanks, nor where a
    conversion depends on a setting."""
    x, y = a.type, b.type
    if x is None or y is None or SqlType.OTHER in (x, y) or x.is_float or y.is_float:
        return False
    if x.is_compound:
        return False
    exact = (*(k for k in SqlType if k.is_integer), SqlType.NUMERIC)
    texts = x.is_text and y.is_text and not x.meets_blank_padded(y)
    return x is y or texts or (x in exact and y in exact)


def truncated_join(
    joined: Join, left: RelationWithUnit, right: RelationWithUnit, known: PlanningContext
) -> tuple[Join, ProtectedRows] | None:
    """The join of two protected sides with both cut, and whose rows it has; None: the policy has no keys.

    Given    joined: with the relations of left and right
    Refuses  UNSUPPORTED: outer joins, a table with itself, sides whose rows cannot be told apart
    """
    for ownership in (left.ownership, right.ownership):
        if isinstance(ownership, ProtectedRows) and ownership.partitions is not None:
            _refuse_unnamed_rows()  # rows of an earlier join, by truncation or with repeated public rows
    pairs = [
        _Pair((a, b), (ours, theirs))
        for a, b in joined.equal
        if can_be_truncated_by(a, b)
        and (ours := key_rule(left.relation, a, known)) is not None
        and (theirs := key_rule(right.relation, b, known)) is not None
    ]
    if not pairs:
        return None
    if joined.left_outer:
        _refuse(
            "a LEFT JOIN of protected tables must be on the privacy unit they share", "Use JOIN."
        )
    if _same_table(left, right):
        _refuse("a table can be joined with itself on its privacy unit only", "Join on the unit.")
    sizes = _rows(left), _rows(right)

    def changed(pair: _Pair) -> int:
        return stability(pair.rules[0], sizes[0], pair.rules[1], sizes[1])

    pairs = [
        pair
        for pair in pairs
        if _names_of_rows(left, pair.columns[0], pair.rules[0]) is not None
        and _names_of_rows(right, pair.columns[1], pair.rules[1]) is not None
    ]
    if not pairs:
        _refuse_unnamed_rows()
    best = min(pairs, key=changed)
    a, b = best.columns
    truncation = replace(
        joined,
        left=_truncate_side(left, a, best.rules[0], known),
        right=_truncate_side(right, b, best.rules[1], known),
    )
    # Rows of one value of the key are in one partition, and so many values are touched.
    return truncation, ProtectedRows(changed(best), (a,), sum(sizes))


def truncate_public(
    relation: Relation, column: ColumnRef, rule: KeyRule, known: PlanningContext
) -> Relation:
    """A public side, with at most rule.most rows of each value."""
    if rule.truncation is None:
        return relation
    place = leaf(relation, column.relation)
    assert isinstance(place, Scan)
    table = known.catalog.tables[place.table]
    names = tuple(_reference(place, name, known) for name in table.primary_key)
    columns = _columns(place, known)
    truncated = _truncate(place, column, rule.truncation.keep, names, column, columns, _PLACE)
    return replaced(relation, truncated)


def hint(
    joined: Join, left: RelationWithUnit, right: RelationWithUnit, known: PlanningContext
) -> str:
    """Which keys of the policy would allow a join, or nothing."""
    if joined.left_outer or _same_table(left, right):
        return ""
    for a, b in joined.equal:
        if not can_be_truncated_by(a, b):
            continue
        missing: list[str] = []
        for side, column in ((left, a), (right, b)):
            place = leaf(side.relation, column.relation)
            found = None if place is None else origin(place, column.column)
            if found is None or _is_found_through_reference(found[0], known):
                break
            if place is None or not _holds_the_rows(side, place):
                break
            if key_rule(side.relation, column, known) is None:
                missing.append(f"{found[1]} of {found[0]}")
        else:
            listed = " and ".join(missing)
            return f"; or ask the data owner for `join_keys` in the policy: {listed}"
    return ""


def _is_found_through_reference(name: TableName, known: PlanningContext) -> bool:
    table = known.policy.tables[name]
    unit = table.unit if isinstance(table, ProtectedTable) else None
    return isinstance(unit, IdentifierUnit) and unit.path is not None


def _refuse(message: str, advice: str) -> NoReturn:
    raise Refusal(Code.UNSUPPORTED, message, advice)


def _same_table(left: RelationWithUnit, right: RelationWithUnit) -> bool:
    ours, theirs = ({s.table for s in scans(side.relation)} for side in (left, right))
    return bool(ours & theirs)


def _rows(side: RelationWithUnit) -> int:
    """How many rows of a side neighbours differ in, once the rows of each unit are bounded."""
    ownership = side.ownership
    match ownership:
        case UnitRows():
            return ownership.joined
        case ProtectedRows():
            return ownership.rows
        case PublicRows():
            raise AssertionError("rows of a public table have no neighbours")
        case _:
            assert_never(ownership)


def _truncate_side(
    side: RelationWithUnit, key: ColumnRef, rule: KeyRule, known: PlanningContext
) -> Relation:
    place, ownership = leaf(side.relation, key.relation), side.ownership
    assert isinstance(place, Scan | Subquery)
    columns = _columns(place, known)
    truncated: Scan | Subquery | Truncate = place
    names = _names_of_rows(side, key, rule)
    assert names is not None
    if isinstance(ownership, UnitRows):
        # The rows of each unit are cut first, whatever their keys are; those of no unit are out.
        by = None if ownership.unique else ownership.column
        truncated = _truncate(
            truncated, by, ownership.joined, names, ownership.column, columns, _PLACE_OF_UNIT
        )
    if rule.truncation is not None:
        truncated = _truncate(truncated, key, rule.truncation.keep, names, key, columns, _PLACE)
    return replaced(side.relation, truncated)


def _names_of_rows(
    side: RelationWithUnit, key: ColumnRef, rule: KeyRule
) -> tuple[ColumnRef, ...] | None:
    """What names the rows that a rule for the key counts; none where it needs no order of them. None: the rule
    is not about the rows of this side."""
    place, ownership = leaf(side.relation, key.relation), side.ownership
    if place is None or not _holds_the_rows(side, place):
        return None
    match ownership:
        case UnitRows():
            names = (ownership.column,) if ownership.unique else ownership.named_by
            return names if _are_of(names, place.alias) else None
        case ProtectedRows():
            ordered = rule.truncation is not None and rule.truncation.keep is not None
            return None if ordered and not ownership.named_by else ownership.named_by
        case _:
            return None


def _holds_the_rows(side: RelationWithUnit, place: Scan | Subquery) -> bool:
    """Whether a leaf has the protected rows of the side, each once. A public table beside them has not: any
    number of protected rows may meet its one row of a value; and it may have repeated rows without a name."""
    match side.ownership:
        case UnitRows() as ownership:
            return ownership.column.relation == place.alias
        case ProtectedRows() as ownership:
            return place is side.relation or _are_of(ownership.named_by, place.alias)
        case PublicRows():
            return False
        case _:
            assert_never(side.ownership)


def _are_of(names: tuple[ColumnRef, ...], alias: str) -> bool:
    return bool(names) and all(name.relation == alias for name in names)


def _refuse_unnamed_rows() -> NoReturn:
    _refuse(
        "the rows of this relation are joined, grouped or united already, so they cannot be truncated for a "
        "join",
        "Join two protected tables at a time, as they are or as subqueries that filter and rename rows.",
    )


def _truncate(
    source: Scan | Subquery | Truncate,
    by: ColumnRef | None,
    most: int | None,
    names: tuple[ColumnRef, ...],
    present: ColumnRef,
    columns: tuple[str, ...],
    wanted: str,
) -> Truncate:
    """wanted: a name for the column that is added, more or less."""
    while wanted in columns:
        wanted += "_"
    return Truncate(source, by, most, names, (present,), columns, wanted)


def _columns(place: Scan | Subquery, known: PlanningContext) -> tuple[str, ...]:
    """All that a question can ask of it, and what names its rows."""
    if isinstance(place, Subquery):
        written = [name for name, _ in place.outputs]
        return tuple(name for name in written if written.count(name) == 1)  # another is ambiguous
    described = known.catalog.tables[place.table]
    policy = known.policy.tables[place.table]
    names = [column.name for column in described.columns]
    if not isinstance(policy, ProtectedTable):
        return tuple(names)
    unit = policy.unit.column if isinstance(policy.unit, IdentifierUnit) else None
    displayed = {*policy.columns, *described.primary_key, unit}
    return tuple(name for name in names if name in displayed)


def _reference(scan: Scan, name: str, known: PlanningContext) -> ColumnRef:
    column = known.catalog.tables[scan.table].column(name)
    assert column is not None
    return ColumnRef(name, column.type, None, scan.alias)
