"""Keys that a privacy unit fixes, as the kernel sees it: the unit has one value of them, in all of its rows."""

from __future__ import annotations

from collections.abc import Sequence

from proxy.kernel.attribution import relation_of
from proxy.kernel.fixed_columns import fixed_columns, is_fixed, most_groups
from proxy.kernel.key_plans import KeyPlan
from proxy.kernel.owners import NO_COLUMNS, ColumnNames
from proxy.kernel.refusals import NotPrivate
from proxy.kernel.world import World
from proxy.planner.facts import PlanningContext, RelationWithUnit, UnitRows, Values
from proxy.query.ir.expressions import Expression
from proxy.query.ir.relations import Relation


def reach_of(
    source: RelationWithUnit,
    keys: Sequence[KeyPlan],
    combinations: Sequence[Values] | None,
    context: PlanningContext,
) -> int | None:
    """Bound the groups in which one unit has rows, by the keys that the unit fixes.

    Args:
        source: Where the rows are from.
        keys: The keys of the block.
        combinations: The groups that are answered; None: all combinations of the values of keys.
        context: Policy and catalogue.

    Returns:
        The bound of the kernel; None where it knows none.
    """
    if not keys or not isinstance(source.ownership, UnitRows):
        return None
    return most_groups(keys, combinations, _fixed(source.relation, context))


def are_fixed(
    keys: Sequence[Expression], source: RelationWithUnit, context: PlanningContext
) -> bool:
    """Say whether a unit has one value of all keys, so that it has one row by unit and keys."""
    fixed = _fixed(source.relation, context)
    return all(is_fixed(key, fixed) for key in keys)


def _fixed(relation: Relation, context: PlanningContext) -> ColumnNames:
    """Nothing of a relation that the kernel refuses: it refuses the plan, too."""
    try:
        return fixed_columns(relation_of(relation, World(context.policy, context.catalog)))
    except NotPrivate:
        return NO_COLUMNS
