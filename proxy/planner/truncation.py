"""Joins on columns that are neither the privacy unit nor a key: both sides are cut first, so that one row
meets few others.

What is cut is what stands in FROM: a table, or a subquery with its own conditions. The WHERE beside the join
comes after the cut. Proof: PROOFS.md, "Joins by truncation".
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from typing import NoReturn

from typing_extensions import assert_never

from proxy.base import limits
from proxy.base.errors import Code, Refusal
from proxy.catalog.catalog_model import TableName
from proxy.kernel.column_types import injective
from proxy.kernel.join_rules import met_once
from proxy.kernel.owners import Rows, name
from proxy.planner.facts import (
    PlanningContext,
    ProtectedRows,
    PublicRows,
    RelationWithUnit,
    TruncatedPart,
    UnitRows,
)
from proxy.policy.policy_model import IdentifierUnit, JoinKey, ProtectedTable
from proxy.query.ir.expressions import ColumnRef
from proxy.query.ir.relations import Join, Relation, Scan, Subquery, Truncate, scans

_PLACE, _PLACE_OF_UNIT = "dp_place", "dp_place_of_unit"


@dataclass(frozen=True, slots=True)
class KeyRule:
    """Of a side of a join, after its truncation: `most` rows at most have one value of the key (T). truncation:
    None where a key that the server checks does it."""

    most: int
    truncation: JoinKey | None


def key_rule(relation: Relation, column: ColumnRef, known: PlanningContext) -> KeyRule | None:
    """The least that is known of the rows with one value of a column; None where nothing is."""
    place = leaf(relation, column.relation)
    if place is None:
        return None
    if is_unique(place, column, known):
        return KeyRule(1, None)
    table, name = table_column(place, column.column) or (None, "")
    declared = None if table is None else known.policy.tables[table].join_keys.get(name)
    if declared is None:
        return None
    return KeyRule(declared.keep or 1, declared)


def can_be_truncated_by(a: ColumnRef, b: ColumnRef) -> bool:
    """Whether the values of one side that equal one of the other side are one value there, as PARTITION BY
    sees them, which takes no floats."""
    return injective(a.type, b.type) and not (a.type.is_float or a.type.is_compound)


def truncated_join(
    joined: Join, left: RelationWithUnit, right: RelationWithUnit, known: PlanningContext
) -> tuple[Join, ProtectedRows] | None:
    """The join of two protected sides with both cut, and whose rows it has; None: the policy has no keys.

    Given    joined: with the relations of left and right
    Refuses  UNSUPPORTED: a table with itself, sides whose rows cannot be told apart; TOO_COMPLEX: more changed
             rows than a limit
    """
    for ownership in (left.ownership, right.ownership):
        is_whole = isinstance(ownership, ProtectedRows) and not ownership.parts
        if isinstance(ownership, ProtectedRows) and is_whole and ownership.partitions is not None:
            _refuse_unnamed_rows()  # rows that have been joined, and repeated or named anew since
    pairs = [
        (a, b)
        for a, b in joined.equal
        if can_be_truncated_by(a, b)
        and key_rule(left.relation, a, known) is not None
        and key_rule(right.relation, b, known) is not None
    ]
    if not pairs or same_table(left, right, known):
        return None
    sides = [
        (ours, theirs)
        for a, b in pairs
        if (ours := _truncated_side(left, a, known, with_null=joined.left_outer)) is not None
        and (theirs := _truncated_side(right, b, known, with_null=False)) is not None
    ]
    if not sides:
        _refuse_unnamed_rows()

    joins = [(replace(joined, left=a.relation, right=b.relation), a, b) for a, b in sides]
    counted = [(found, *one) for one in joins if (found := _changed(one[0], known)) is not None]
    if not counted:
        _refuse_unnamed_rows()
    rows, truncation, ours, theirs = min(counted, key=lambda one: one[0].changed)
    parts = (*ours.parts, *theirs.parts)
    if len(parts) > 2 and rows.changed > limits.JOINED_ROWS_PER_UNIT:
        raise Refusal(
            Code.TOO_COMPLEX,
            f"one privacy unit can change {rows.changed} rows of this join, more than"
            f" {limits.JOINED_ROWS_PER_UNIT}",
            "Join fewer tables, or ask the data owner for a smaller `keep` of the join keys in the policy.",
        )
    # Rows of one value of the key are in one partition.
    key = frozenset({name(ours.key)})
    touched = min((most for columns, most in rows.touched if columns == key), default=None)
    if len(parts) > 2 or touched is None:
        return truncation, ProtectedRows(rows.changed, (), rows.changed, parts)
    return truncation, ProtectedRows(rows.changed, (ours.key,), touched, parts)


def _changed(join: Join, known: PlanningContext) -> Rows | None:
    """How many joined rows change, as the kernel counts them; None: it knows no bound."""
    found = known.attributed(join)
    return found.owner if found is not None and isinstance(found.owner, Rows) else None


def truncate_public(
    relation: Relation, column: ColumnRef, rule: KeyRule, known: PlanningContext
) -> Relation:
    """A public side, with at most rule.most rows of each value."""
    if rule.truncation is None:
        return relation
    place = leaf(relation, column.relation)
    assert isinstance(place, Scan)
    table = known.catalog.tables[place.table]
    names = tuple(column_of(place, name, known) for name in table.primary_key)
    columns = columns_of(place, known)
    truncated = _truncate(place, column, rule.truncation.keep, names, column, columns, _PLACE)
    return replaced(relation, truncated)


def same_table(left: RelationWithUnit, right: RelationWithUnit, known: PlanningContext) -> bool:
    ours, theirs = (
        {
            scan.table
            for scan in scans(side.relation)
            if isinstance(known.policy.tables[scan.table], ProtectedTable)
        }
        for side in (left, right)
    )
    return bool(ours & theirs)


@dataclass(frozen=True, slots=True, kw_only=True)
class _TruncatedSide:
    """A side of a join, cut by a column of it."""

    relation: Relation
    key: ColumnRef
    parts: tuple[TruncatedPart, ...]


def _truncated_side(
    side: RelationWithUnit, key: ColumnRef, known: PlanningContext, *, with_null: bool
) -> _TruncatedSide | None:
    """None: its rows are not those that the policy's rule counts, or nothing names them."""
    rule, leaf_of_key = key_rule(side.relation, key, known), leaf(side.relation, key.relation)
    if rule is None or leaf_of_key is None:
        return None
    ownership, row_leaf = side.ownership, truncated_leaf(side.relation, key.relation)
    assert row_leaf is not None
    columns = columns_of(leaf_of_key, known)
    parts: tuple[TruncatedPart, ...]
    if isinstance(ownership, ProtectedRows) and ownership.parts:
        parts = ownership.parts
        place = next((n for n, part in enumerate(parts) if part.alias == key.relation), None)
        if place is None or (_needs_order(rule) and not parts[place].names):
            return None
    else:
        names = _names_of_rows(side, key, rule)
        if names is None:
            return None
        place, parts = 0, (TruncatedPart(alias=key.relation, names=names),)
        if isinstance(ownership, UnitRows):
            # The rows of each unit are cut first, whatever their keys are; those of no unit are out.
            by = None if ownership.unique else ownership.column
            row_leaf = _truncate(
                row_leaf, by, ownership.joined, names, ownership.column, columns, _PLACE_OF_UNIT
            )
    part = parts[place]
    if rule.truncation is not None and key.column not in part.cut_by:
        part = replace(part, cut_by=(*part.cut_by, key.column))
        row_leaf = _truncate(row_leaf, key, rule.truncation.keep, part.names, key, columns, _PLACE)
        if with_null:
            row_leaf = replace(row_leaf, present=(), with_null=True)
    return _TruncatedSide(
        relation=replaced(side.relation, row_leaf),
        key=key,
        parts=(*parts[:place], part, *parts[place + 1 :]),
    )


def _needs_order(rule: KeyRule) -> bool:
    return rule.truncation is not None and rule.truncation.keep is not None


def _names_of_rows(
    side: RelationWithUnit, key: ColumnRef, rule: KeyRule
) -> tuple[ColumnRef, ...] | None:
    """What names the rows that a rule for the key counts; none where it needs no order of them. None: the rule
    is not about the rows of this side."""
    place, ownership = leaf(side.relation, key.relation), side.ownership
    if place is None or not holds_the_rows(side, place):
        return None
    match ownership:
        case UnitRows():
            names = (ownership.column,) if ownership.unique else ownership.named_by
            return names if _are_of(names, place.alias) else None
        case ProtectedRows():
            return None if _needs_order(rule) and not ownership.named_by else ownership.named_by
        case _:
            return None


def holds_the_rows(side: RelationWithUnit, place: Scan | Subquery) -> bool:
    """Whether a leaf has the protected rows of the side, each once. A public table beside them has not: any
    number of protected rows may meet its one row of a value; and it may have repeated rows without a name."""
    match side.ownership:
        case UnitRows() as ownership:
            return ownership.column.relation == place.alias
        case ProtectedRows(parts=parts) if parts:
            return any(part.alias == place.alias for part in parts)
        case ProtectedRows() as ownership:
            return place is side.relation or _are_of(ownership.named_by, place.alias)
        case PublicRows():
            return False
        case _:
            assert_never(side.ownership)


def _are_of(names: tuple[ColumnRef, ...], alias: str) -> bool:
    return bool(names) and all(name.relation == alias for name in names)


def _refuse_unnamed_rows() -> NoReturn:
    raise Refusal(
        Code.UNSUPPORTED,
        "the rows of this relation are joined, grouped or united already, so they cannot be truncated for a "
        "join",
        "Join protected tables side by side, as they are or as subqueries that filter and rename rows.",
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


def columns_of(place: Scan | Subquery, known: PlanningContext) -> tuple[str, ...]:
    """All that a question can ask of it, and what names its rows."""
    if isinstance(place, Subquery):
        return tuple(name for name, _ in place.outputs)
    described = known.catalog.tables[place.table]
    policy = known.policy.tables[place.table]
    names = [column.name for column in described.columns]
    if not isinstance(policy, ProtectedTable):
        return tuple(names)
    unit = policy.unit.column if isinstance(policy.unit, IdentifierUnit) else None
    displayed = {*policy.columns, *described.primary_key, unit}
    return tuple(name for name in names if name in displayed)


def column_of(scan: Scan, name: str, known: PlanningContext) -> ColumnRef:
    """The column of this name, with the type that the catalogue knows."""
    column = known.catalog.tables[scan.table].column(name)
    assert column is not None
    return ColumnRef(name, column.type, None, scan.alias)


# Which keys of the policy would allow a join that is refused.


_BY_JOIN_KEYS = "; or ask the data owner for `join_keys` in the policy: "


def truncation_hint(
    joined: Join, left: RelationWithUnit, right: RelationWithUnit, known: PlanningContext
) -> str:
    """Which keys of the policy would allow a join, or nothing."""
    if same_table(left, right, known):
        return ""
    for a, b in joined.equal:
        if not can_be_truncated_by(a, b):
            continue
        missing: list[str] = []
        for side, column in ((left, a), (right, b)):
            place = leaf(side.relation, column.relation)
            found = None if place is None else table_column(place, column.column)
            if found is None or is_found_through_reference(found[0], known):
                break
            if place is None or not holds_the_rows(side, place):
                break
            if key_rule(side.relation, column, known) is None:
                missing.append(f"{found[1]} of {found[0]}")
        else:
            listed = " and ".join(missing)
            return f"{_BY_JOIN_KEYS}{listed}"
    return ""


def public_truncation_hint(public: Scan, column: ColumnRef, known: PlanningContext) -> str:
    """Which declaration would allow a join with a public table on a column that is no key of it: as many rows
    as one value has, where its rows are known. Without a primary key it cannot be said which rows are kept."""
    name = column.column
    keep, more = "unique", ", by which only rows that are alone with their value are joined"
    if known.catalog.tables[public.table].primary_key:
        most = _most_of_one_value(public.table, name, known)
        keep, more = (str(most), "") if most else ("N", ", N being the rows of one value at most")
    return f"{_BY_JOIN_KEYS}{name}: {{keep: {keep}}} of {public.table}{more}"


def _most_of_one_value(table: TableName, column: str, known: PlanningContext) -> int | None:
    """What was read of a public table are its different rows: all of them, where its key is of the columns."""
    columns, rows = known.rows.get(table, ((), ()))
    if column not in columns or not set(known.catalog.tables[table].primary_key) <= set(columns):
        return None
    found = Counter(row[columns.index(column)] for row in rows)
    return max(found.values(), default=None)


def is_found_through_reference(name: TableName, known: PlanningContext) -> bool:
    table = known.policy.tables[name]
    unit = table.unit if isinstance(table, ProtectedTable) else None
    return isinstance(unit, IdentifierUnit) and unit.path is not None


# The tables and subqueries that a FROM clause joins, and the columns of tables that theirs are.


def leaf(relation: Relation, alias: str) -> Scan | Subquery | None:
    """The table or subquery of this alias among those that are joined."""
    match relation:
        case Scan() | Subquery():
            return relation if relation.alias == alias else None
        case Join():
            return leaf(relation.left, alias) or leaf(relation.right, alias)
        case Truncate():
            return leaf(relation.source, alias)
        case _:
            return None


def truncated_leaf(relation: Relation, alias: str) -> Scan | Subquery | Truncate | None:
    """The table or subquery of this alias, with what has been cut of it."""
    match relation:
        case Scan() | Subquery() | Truncate():
            return relation if relation.alias == alias else None
        case Join():
            return truncated_leaf(relation.left, alias) or truncated_leaf(relation.right, alias)
        case _:
            return None


def replaced(relation: Relation, truncated: Scan | Subquery | Truncate) -> Relation:
    """The join with the table or subquery of the same alias exchanged."""
    match relation:
        case Scan() | Subquery() | Truncate():
            return truncated if relation.alias == truncated.alias else relation
        case Join():
            left, right = replaced(relation.left, truncated), replaced(relation.right, truncated)
            return replace(relation, left=left, right=right)
        case _:
            return relation


def table_column(place: Scan | Subquery, name: str) -> tuple[TableName, str] | None:
    """The table's column that a column is, through subqueries that leave it as it is."""
    if isinstance(place, Scan):
        return place.table, name
    expression = dict(place.outputs).get(name)
    if not isinstance(expression, ColumnRef):
        return None
    below = leaf(place.source, expression.relation)
    return None if below is None else table_column(below, expression.column)


def is_unique(place: Scan | Subquery, column: ColumnRef, known: PlanningContext) -> bool:
    """By a key that the server checks, where no join in between repeats rows."""
    found = known.attributed(place)
    return found is not None and met_once(found, {name(column)})
