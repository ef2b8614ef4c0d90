"""The tables and subqueries that a FROM clause joins, and the columns of tables that theirs are."""

from __future__ import annotations

from dataclasses import replace

from proxy.catalog.model import TableName
from proxy.planner.facts import Surroundings
from proxy.query.ir.expressions import ColumnRef
from proxy.query.ir.relations import Derived, Joined, Kept, Relation, Scan


def leaf(relation: Relation, alias: str) -> Scan | Derived | None:
    """The table or subquery of this alias among those that are joined."""
    match relation:
        case Scan() | Derived():
            return relation if relation.alias == alias else None
        case Joined():
            return leaf(relation.left, alias) or leaf(relation.right, alias)
        case Kept():
            return leaf(relation.source, alias)
        case _:
            return None


def replaced(relation: Relation, kept: Scan | Derived | Kept) -> Relation:
    """The join with the table or subquery of the same alias exchanged."""
    match relation:
        case Scan() | Derived():
            return kept if relation.alias == kept.alias else relation
        case Joined():
            left, right = replaced(relation.left, kept), replaced(relation.right, kept)
            return replace(relation, left=left, right=right)
        case _:
            return relation


def origin(place: Scan | Derived, name: str) -> tuple[TableName, str] | None:
    """The table's column that a column is, through subqueries that leave it as it is."""
    if isinstance(place, Scan):
        return place.table, name
    expression = dict(place.outputs).get(name)
    if not isinstance(expression, ColumnRef):
        return None
    below = leaf(place.source, expression.relation)
    return None if below is None else origin(below, expression.column)


def is_unique(place: Scan | Derived, name: str, known: Surroundings) -> bool:
    """By a key that the server checks, where no join in between repeats rows."""
    if isinstance(place, Scan):
        return known.catalog.tables[place.table].is_unique(name)
    expression, below = dict(place.outputs).get(name), place.source
    if not isinstance(expression, ColumnRef) or not isinstance(below, Scan | Derived):
        return False
    return is_unique(below, expression.column, known)
