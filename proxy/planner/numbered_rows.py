"""The first rows of each unit, chosen by a condition on their number: `row_number() OVER (...) = 1`.

A unit has as many rows as numbers pass. Where numbered rows are joined, the condition stands above the join,
in WHERE or in ON. The join would multiply all rows of a unit, and a bound on them would be chosen. So the
condition is also put right above the numbers, below the join. It stays where it was written: rows of an outer
join that lose their partner by it have NULL in the place of the number, which no comparison lets pass.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction

from proxy.base.sql_types import SqlType
from proxy.kernel.column_types import conjuncts
from proxy.planner.facts import RowOwnership, UnitRows
from proxy.query.ir.expressions import ColumnRef, Comparator, Comparison, Constant, Expression
from proxy.query.ir.rebuilding import conjunction
from proxy.query.ir.relations import Join, Relation, Subquery, WindowFunction


def first_rows(
    relation: Relation, where: Expression | None, ownership: RowOwnership
) -> RowOwnership:
    """Bound the rows of a unit by the numbers that pass a condition.

    Args:
        relation: What the rows are of.
        where: What holds of all rows of the relation that count.
        ownership: Of all its rows.

    Returns:
        The ownership of the rows that count.
    """
    if not isinstance(ownership, UnitRows):
        return ownership
    for part in conjuncts(where):
        if not isinstance(part, Comparison) or not _is_row_number(relation, part.left):
            continue
        rows = _numbers_up_to(part)
        if rows is not None and rows <= ownership.joined:
            ownership = replace(
                ownership,
                rows=rows,
                named_by=(),
                untruncated=(),
                formed=rows,
                is_chosen=False,
                is_unbounded=False,
            )
    return ownership


def with_first_rows(relation: Relation, where: Expression | None) -> Relation:
    """Put conditions on numbers of rows below the joins of numbered rows with others.

    Args:
        relation: As the statement has it.
        where: What holds of all rows of the relation that count.

    Returns:
        A relation of which the same rows fulfil `where`.
    """
    numbers = [
        part
        for part in conjuncts(where)
        if isinstance(part, Comparison) and _numbers_up_to(part) is not None
    ]
    return _narrowed(relation, numbers, is_joined=False) if numbers else relation


def with_first_rows_of_sides(joined: Join) -> Join:
    """The same for what ON says of one side. Of a LEFT JOIN, rows of the left side stay whatever ON says."""
    if joined.rest is None or joined.is_lookup:
        return joined
    sides = Join(joined.left, joined.right, joined.left_outer, joined.equal, None)
    found = with_first_rows(sides, joined.rest)
    assert isinstance(found, Join)
    left = joined.left if joined.left_outer else found.left
    return replace(joined, left=left, right=found.right)


def _narrowed(relation: Relation, numbers: Sequence[Comparison], *, is_joined: bool) -> Relation:
    """is_joined: the relation is a side of a join"""
    match relation:
        case Join():
            left = _narrowed(relation.left, numbers, is_joined=True)
            right = relation.right
            if not relation.is_lookup:
                right = _narrowed(right, numbers, is_joined=True)
            if left is relation.left and right is relation.right:
                return relation
            return replace(relation, left=left, right=right)
        case Subquery():
            own = [part for part in numbers if _column(part).relation == relation.alias]
            numbering = [part for part in own if _is_row_number(relation, part.left)]
            if numbering and is_joined:
                return _filtered(relation, numbering)
            return relation if relation.windows else _narrowed_below(relation, own)
        case _:
            return relation


def _narrowed_below(subquery: Subquery, numbers: Sequence[Comparison]) -> Relation:
    """Conditions on columns that the subquery hands on as they are."""
    outputs = dict(subquery.outputs)
    below = [
        replace(part, left=column)
        for part in numbers
        if isinstance(column := outputs.get(_column(part).column), ColumnRef)
    ]
    source = _narrowed(subquery.source, below, is_joined=False) if below else subquery.source
    return subquery if source is subquery.source else replace(subquery, source=source)


def _filtered(subquery: Subquery, numbers: Sequence[Comparison]) -> Subquery:
    """A subquery around, of the same alias and columns, with the rows whose numbers pass."""
    inner = f"{subquery.alias}_rows"
    names = [
        *((name, part.type or SqlType.OTHER) for name, part in subquery.outputs),
        *((column.name, column.type) for column in subquery.windows),
    ]
    parts: tuple[Expression, ...] = tuple(
        replace(part, left=replace(_column(part), relation=inner)) for part in numbers
    )
    is_one = isinstance(subquery.source, Subquery) and subquery.source.alias == inner
    if is_one:  # by WHERE, and now by ON
        parts = (*conjuncts(subquery.where), *parts)
    where = conjunction(parts)
    if is_one:
        return replace(subquery, where=where)
    return Subquery(
        subquery.alias,
        replace(subquery, alias=inner),
        where,
        tuple((name, ColumnRef(name, kind, None, inner)) for name, kind in names),
        subquery.position,
    )


def _column(compared: Comparison) -> ColumnRef:
    assert isinstance(compared.left, ColumnRef)
    return compared.left


def _numbers_up_to(compared: Comparison) -> int | None:
    """How many row numbers fulfil a comparison with a constant; at least 1; None: any number of them."""
    if not isinstance(compared.left, ColumnRef):
        return None
    value = compared.right.value if isinstance(compared.right, Constant) else None
    if not isinstance(value, Fraction):
        return None
    match compared.comparator:
        case Comparator.EQ:
            return 1
        case Comparator.LE:
            return max(1, math.floor(value))
        case Comparator.LT:
            return max(1, math.ceil(value) - 1)
        case _:
            return None


def _is_row_number(relation: Relation, column: Expression) -> bool:
    """Of the rows of a unit, none of which has been repeated since."""
    if not isinstance(relation, Subquery) or not isinstance(column, ColumnRef):
        return False
    for window in relation.windows:
        if window.name == column.column:
            is_number = window.function is WindowFunction.ROW_NUMBER
            return is_number and len(window.partition) == 1
    below = dict(relation.outputs).get(column.column)
    return below is not None and _is_row_number(relation.source, below)
