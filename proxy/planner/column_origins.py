"""Columns of row-wise subqueries followed to the table that holds them."""

from __future__ import annotations

from typing_extensions import assert_never

from proxy.query.ir.expressions import ColumnRef
from proxy.query.ir.relations import GroupByUnit, Join, Relation, Scan, Subquery, Truncate, UnionAll


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


def part_of_table(relation: Relation) -> Scan | None:
    """The table of which a relation has no row twice."""
    while isinstance(relation, Subquery):
        relation = relation.source
    return relation if isinstance(relation, Scan) else None
