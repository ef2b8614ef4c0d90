"""Which keys of the policy would allow a join that is refused."""

from __future__ import annotations

from collections import Counter

from proxy.catalog.catalog_model import TableName
from proxy.planner.facts import PlanningContext, RelationWithUnit
from proxy.planner.from_leaves import leaf, origin
from proxy.planner.truncation import can_be_truncated_by, holds_the_rows, key_rule, same_table
from proxy.policy.policy_model import IdentifierUnit, ProtectedTable
from proxy.query.ir.expressions import ColumnRef
from proxy.query.ir.relations import Join, Scan

_BY_JOIN_KEYS = "; or ask the data owner for `join_keys` in the policy: "


def hint(
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
            found = None if place is None else origin(place, column.column)
            if found is None or _is_found_through_reference(found[0], known):
                break
            if place is None or not holds_the_rows(side, place):
                break
            if key_rule(side.relation, column, known) is None:
                missing.append(f"{found[1]} of {found[0]}")
        else:
            listed = " and ".join(missing)
            return f"{_BY_JOIN_KEYS}{listed}"
    return ""


def of_public(public: Scan, column: ColumnRef, known: PlanningContext) -> str:
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


def _is_found_through_reference(name: TableName, known: PlanningContext) -> bool:
    table = known.policy.tables[name]
    unit = table.unit if isinstance(table, ProtectedTable) else None
    return isinstance(unit, IdentifierUnit) and unit.path is not None
