"""Joins on the privacy unit multiply the rows of a unit: each side is clamped to its bound below the join.

What is kept of a unit depends on its own rows and the seed only, so that the work one unit can cause is at
most the product of public bounds, and no bound on its rows changes. Proof: PROOFS.md, "Rows of a
unit below a join".
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from typing_extensions import assert_never

from proxy.base import limits
from proxy.base.errors import Code, Refusal
from proxy.base.sql_types import SqlType
from proxy.kernel.column_types import conjuncts, tells_forms_apart
from proxy.planner.facts import Facts, PlanningContext, RelationWithUnit, UnitRows, Untruncated
from proxy.planner.truncation import column_of, columns_of
from proxy.query.ir.expression_walk import columns
from proxy.query.ir.expressions import ColumnRef, Expression
from proxy.query.ir.rebuilding import conjunction
from proxy.query.ir.relations import GroupByUnit, Join, Relation, Scan, Subquery, Truncate, UnionAll

UNIT = "dp_unit"
_PLACE = "dp_place_of_unit"


def multiplied(left: int, right: int) -> int:
    """How many rows of a unit a join forms at most, each row of one side with each of the other.

    Refuses  TOO_COMPLEX: more than a limit, where both sides have several

    >>> multiplied(20_000, 1), multiplied(40, 40)
    (20000, 1600)
    """
    product = left * right
    if min(left, right) > 1 and product > limits.JOINED_ROWS_PER_UNIT:
        raise Refusal(
            Code.TOO_COMPLEX,
            f"this join can form {product} rows of one privacy unit, more than {limits.JOINED_ROWS_PER_UNIT}",
            "Join fewer tables, or count the rows of each unit in a subquery and join that: GROUP BY the unit.",
        )
    return product


def truncate_side(side: RelationWithUnit, known: PlanningContext) -> RelationWithUnit:
    """The side with at most so many rows of each unit as its bounds say; those of no unit are out."""
    ownership = side.ownership
    assert isinstance(ownership, UnitRows)
    relation, facts, column = side.relation, side.facts, ownership.column
    for part in ownership.untruncated:
        relation, unit = _truncate_source(relation, part, facts, known)
        if unit != part.column:
            known_unit = facts[part.column.relation, part.column.column]
            facts = facts | {(unit.relation, unit.column): known_unit}
            column = unit if column == part.column else column
    truncated = replace(ownership, column=column, rows=ownership.joined, untruncated=())
    return RelationWithUnit(relation, facts, truncated)


def truncate_stored(table: RelationWithUnit, most: int, known: PlanningContext) -> RelationWithUnit:
    """A table with at most so many rows of each unit, and no fewer than may count or be joined. Everything that
    a question computes is computed above, conditions too."""
    ownership = table.ownership
    assert isinstance(ownership, UnitRows)
    (whole,) = ownership.untruncated
    read = replace(whole, rows=max(most, whole.rows))
    cut = truncate_side(replace(table, ownership=replace(ownership, untruncated=(read,))), known)
    assert isinstance(cut.ownership, UnitRows)
    column = cut.ownership.column
    still = (replace(whole, column=column),)
    return replace(
        cut,
        relation=_above_conditions(cut.relation),
        ownership=replace(ownership, column=column, untruncated=still),
    )


def most_read(relation: Relation, most: int | None) -> int | None:
    """How many rows of a unit are read of a table at most; None: all of them."""
    if most is None:
        return None
    read = [one.most for one in _truncates(relation) if not one.below_join and one.most]
    return max(read, default=None)


def _truncates(relation: Relation) -> Iterator[Truncate]:
    match relation:
        case Truncate():
            yield relation
            yield from _truncates(relation.source)
        case Join():
            yield from _truncates(relation.left)
            yield from _truncates(relation.right)
        case Subquery() | GroupByUnit():
            yield from _truncates(relation.source)
        case UnionAll():
            for part in relation.parts:
                yield from _truncates(part)
        case Scan():
            return
        case _:
            assert_never(relation)


def _above_conditions(relation: Relation) -> Relation:
    """So that no condition of WHERE or ON is put below the cut."""
    assert isinstance(relation, Truncate)
    return replace(relation, below_join=False)


def with_condition(
    relation: Relation, where: Expression | None
) -> tuple[Relation, Expression | None]:
    """A condition of WHERE, with what it says of one cut side alone put below the cut, so that rows it drops
    do not take the places of others. Not below the outer side of a LEFT JOIN, where it would make rows."""
    left: list[Expression] = []
    for part in conjuncts(where):
        aliases = {alias for alias, _ in columns(part)}
        below = _narrowed(relation, aliases.pop(), part) if len(aliases) == 1 else None
        if below is None:
            left.append(part)
        else:
            relation = below
    return relation, conjunction(left)


def with_join_condition(joined: Join) -> Join:
    """The same for what ON says; of a LEFT JOIN only what it says of the right side."""
    left: list[Expression] = []
    for part in conjuncts(joined.rest):
        aliases = {alias for alias, _ in columns(part)}
        alias = aliases.pop() if len(aliases) == 1 else None
        below = None if alias is None else _narrowed(joined.right, alias, part)
        if below is not None:
            joined = replace(joined, right=below)
            continue
        if alias is not None and not joined.left_outer:
            below = _narrowed(joined.left, alias, part)
        if below is None:
            left.append(part)
        else:
            joined = replace(joined, left=below)
    return replace(joined, rest=conjunction(left))


def _narrowed(relation: Relation, alias: str, condition: Expression) -> Relation | None:
    """The relation with a condition below the cut of this alias; None where there is none."""
    match relation:
        case Truncate(below_join=True) if relation.alias == alias:
            parts = [*conjuncts(relation.where), condition]
            return replace(relation, where=conjunction(parts))
        case Join():
            left = _narrowed(relation.left, alias, condition)
            if left is not None:
                return replace(relation, left=left)
            right = None
            if not relation.left_outer:
                right = _narrowed(relation.right, alias, condition)
            return None if right is None else replace(relation, right=right)
        case _:
            return None


def _truncate_source(
    relation: Relation, part: Untruncated, facts: Facts, known: PlanningContext
) -> tuple[Relation, ColumnRef]:
    """The relation with one of its tables or subqueries cut, and the column that holds the unit since."""
    match relation:
        case Join(left=Scan() as table, right=Scan() as holder) if (
            table.alias == part.alias and holder.alias == part.column.relation
        ):
            found = _with_unit(relation, table, part.column, known)
            unit = ColumnRef(found.outputs[-1][0], part.column.type, None, part.alias)
            key = known.catalog.tables[table.table].primary_key
            return _truncate(found, part, unit, facts, known, key), unit
        case Join():
            left, unit = _truncate_source(relation.left, part, facts, known)
            if left is not relation.left:
                return replace(relation, left=left), unit
            right, unit = _truncate_source(relation.right, part, facts, known)
            return replace(relation, right=right), unit
        case Scan() | Subquery() | UnionAll() | Truncate() if relation.alias == part.alias:
            return _truncate(relation, part, part.column, facts, known), part.column
        case _:
            return relation, part.column


def _with_unit(joined: Join, table: Scan, unit: ColumnRef, known: PlanningContext) -> Subquery:
    """A table and the row through which its unit is found, as one relation under the table's alias."""
    names = columns_of(table, known)
    outputs = [(c.column, c) for c in (column_of(table, name, known) for name in names)]
    wanted = UNIT
    while wanted in names:
        wanted += "_"
    return Subquery(table.alias, joined, None, (*outputs, (wanted, unit)))


def _truncate(
    source: Scan | Subquery | UnionAll | Truncate,
    part: Untruncated,
    unit: ColumnRef,
    facts: Facts,
    known: PlanningContext,
    key: tuple[str, ...] = (),
) -> Truncate:
    """In keyed-hash order of what names a row: its key, or else all that can be read of it. Rows that are equal
    in all of that are the same to everything above, whichever of them is kept."""
    if isinstance(source, Scan):
        names = columns_of(source, known)
        ordered_by = [column_of(source, name, known) for name in names]
        described = known.catalog.tables[source.table]
        if described.primary_key or not all(tells_forms_apart(c.type) for c in ordered_by):
            named_by = key_of(source, known) or _place_of(source, known)
            key = tuple(column.column for column in named_by)
            ordered_by = [*named_by] or ordered_by
    elif isinstance(source, Truncate):
        names, ordered_by = source.columns, list(source.ordered_by)
        if any(column.is_place for column in ordered_by):  # which the cut below does not hand on
            assert source.most is not None
            return replace(source, most=min(source.most, part.rows))
    else:  # key: columns of a subquery of ours, where they name its rows
        outputs = (source.parts[0] if isinstance(source, UnionAll) else source).outputs
        names = tuple(name for name, _ in outputs)
        ordered_by = []
        for name, expression in outputs:
            fact = facts.get((source.alias, name))
            kind = fact.type if fact is not None else expression.type or SqlType.TEXT
            if name in (key or names):
                ordered_by.append(ColumnRef(name, kind, None, source.alias))
    if not isinstance(source, Truncate) and not key:
        for column in ordered_by:
            check_forms(column, None)
    place = _PLACE
    while place in names:
        place += "_"
    return Truncate(
        source, unit, part.rows, tuple(ordered_by), (unit,), names, place, below_join=True
    )


def key_of(table: Scan, known: PlanningContext) -> tuple[ColumnRef, ...]:
    """The columns of its primary key, which name a row of a table; none without one."""
    described = known.catalog.tables[table.table]
    return tuple(column_of(table, name, known) for name in described.primary_key)


def _place_of(table: Scan, known: PlanningContext) -> tuple[ColumnRef, ...]:
    """Where a row is stored, of which a seeded hash may be taken; nothing of a view."""
    described = known.catalog.tables[table.table]
    return (ColumnRef("ctid", SqlType.TID, None, table.alias),) if described.has_ctid else ()


def check_forms(column: ColumnRef, position: int | None) -> None:
    """Refuse a column by which rows without a key cannot be put in order.

    Raises:
        Refusal: A jsonb, of which equal values can be told apart. Rows of other units would decide which of two
            such rows is first.
    """
    if not tells_forms_apart(column.type):
        raise Refusal(
            Code.UNSUPPORTED,
            f"rows without a key cannot be put in order by {column.column}, of type {column.type.sql}",
            "Give the table a primary key, or let a subquery take what you need out of the column first.",
            position,
        )
