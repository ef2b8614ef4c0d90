"""The tables and subqueries that a FROM clause joins, and the columns of tables that theirs are."""

from __future__ import annotations

from dataclasses import replace

from proxy.catalog.catalog_model import TableName
from proxy.planner.facts import PlanningContext
from proxy.query.ir.expressions import ColumnRef
from proxy.query.ir.relations import Join, Relation, Scan, Subquery, Truncate


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


def origin(place: Scan | Subquery, name: str) -> tuple[TableName, str] | None:
    """The table's column that a column is, through subqueries that leave it as it is."""
    if isinstance(place, Scan):
        return place.table, name
    expression = dict(place.outputs).get(name)
    if not isinstance(expression, ColumnRef):
        return None
    below = leaf(place.source, expression.relation)
    return None if below is None else origin(below, expression.column)


def is_unique(place: Scan | Subquery, name: str, known: PlanningContext) -> bool:
    """By a key that the server checks, where no join in between repeats rows."""
    if isinstance(place, Scan):
        return known.catalog.tables[place.table].is_unique(name)
    expression, below = dict(place.outputs).get(name), place.source
    if not isinstance(expression, ColumnRef) or not isinstance(below, Scan | Subquery):
        return False
    return is_unique(below, expression.column, known)
