"""Which keys of the policy would allow a join of protected tables that is refused."""

from __future__ import annotations

from proxy.catalog.catalog_model import TableName
from proxy.planner.facts import PlanningContext, RelationWithUnit
from proxy.planner.from_leaves import leaf, origin
from proxy.planner.truncation import can_be_truncated_by, holds_the_rows, key_rule, same_table
from proxy.policy.policy_model import IdentifierUnit, ProtectedTable
from proxy.query.ir.relations import Join


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
            return f"; or ask the data owner for `join_keys` in the policy: {listed}"
    return ""


def _is_found_through_reference(name: TableName, known: PlanningContext) -> bool:
    table = known.policy.tables[name]
    unit = table.unit if isinstance(table, ProtectedTable) else None
    return isinstance(unit, IdentifierUnit) and unit.path is not None
