"""Conditions taken apart: which of them are equalities between the two sides of a join."""

from __future__ import annotations

from dataclasses import replace

from proxy.base.sql_types import SqlType
from proxy.query.ir.expressions import ColumnRef, Comparator, Comparison, Connective, Expression
from proxy.query.ir.relations import Join, Relation


def conjuncts(expression: Expression) -> tuple[Expression, ...]:
    if isinstance(expression, Connective) and expression.word == "AND":
        return tuple(part for operand in expression.operands for part in conjuncts(operand))
    return (expression,)


_INTEGERS = (SqlType.INT2, SqlType.INT4, SqlType.INT8)


def of_both(left: ColumnRef, right: ColumnRef, left_outer: bool) -> ColumnRef:
    """What USING makes of two columns that are equal: of two types of integers the larger, as in PostgreSQL. Of
    a LEFT JOIN it is the left one's, as the other may be NULL."""
    types = left.type, right.type
    if left_outer or not all(kind in _INTEGERS for kind in types):
        return left
    return max(left, right, key=lambda column: _INTEGERS.index(column.type))


def equalities(
    condition: Expression, left: set[str], right: set[str]
) -> tuple[list[tuple[ColumnRef, ColumnRef]], list[Expression]]:
    """Equalities between a column of each side, left first; and everything else."""
    equal: list[tuple[ColumnRef, ColumnRef]] = []
    others: list[Expression] = []
    for part in conjuncts(condition):
        match part:
            case Comparison(
                comparator=Comparator.EQ, left=ColumnRef() as a, right=ColumnRef() as b
            ):
                if a.relation in left and b.relation in right:
                    equal.append((a, b))
                    continue
                if b.relation in left and a.relation in right:
                    equal.append((b, a))
                    continue
        others.append(part)
    return equal, others


def with_equalities(relation: Relation, condition: Expression) -> Relation:
    """Joins written with commas, completed by the equalities of WHERE (which stays as it is)."""
    if not isinstance(relation, Join):
        return relation
    left = with_equalities(relation.left, condition)
    right = with_equalities(relation.right, condition)
    if relation.left_outer:
        return replace(relation, left=left, right=right)
    found, _ = equalities(condition, aliases(left), aliases(right))
    return replace(relation, left=left, right=right, equal=(*relation.equal, *found))


def aliases(relation: Relation) -> set[str]:
    if isinstance(relation, Join):
        return aliases(relation.left) | aliases(relation.right)
    return {relation.alias}
