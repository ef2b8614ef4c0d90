"""How neighbours differ: in rows, or in all rows of a unit, within the bounds of a policy or of a choice."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from typing_extensions import assert_never

from proxy.base import limits
from proxy.base.errors import Code, Fault, Refusal
from proxy.kernel.key_plans import KeyPlan
from proxy.kernel.neighbour_kinds import Neighbours, RowNeighbours, UnitNeighbours
from proxy.planner.facts import PlanningContext, ProtectedRows, PublicRows, RowOwnership, UnitRows
from proxy.policy.policy_model import IdentifierUnit, ProtectedTable
from proxy.query.ir.expressions import ColumnRef
from proxy.query.ir.relations import Relation, scans


def most_rows(ownership: RowOwnership, neighbours: Neighbours) -> int | None:
    """The largest bound on the rows of a unit, where one is chosen."""
    match ownership, neighbours:
        case UnitRows(is_chosen=True, is_unbounded=False), UnitNeighbours():
            return ownership.rows
        case _:
            return None


def neighbours_of(
    ownership: RowOwnership, groups: int | None, chosen: int | None, reach: int | None = None
) -> Neighbours:
    """Say how neighbours differ.

    Args:
        ownership: Whose rows they are.
        groups: How many groups are answered; None: unknown many.
        chosen: The bound on the rows of a unit, once it is chosen.
        reach: As `fixed_by_units.reach_of` gives it.
    """
    match ownership:
        case ProtectedRows():
            return RowNeighbours(
                rows=ownership.rows,
                hashed_by=ownership.hashed_by,
                not_null=None,
                partitions=ownership.partitions,
            )
        case UnitRows(unique=True, rows=1):
            # A key checked by the server: a unit is one row, nothing has to be bounded.
            return RowNeighbours(rows=1, hashed_by=(ownership.column,), not_null=ownership.column)
        case UnitRows():
            if groups is None and reach is None and lacks_bound(ownership):
                raise Fault  # check_private_keys comes first
            group_bound = min(ownership.rows, ownership.groups or ownership.rows)
            known = min((bound for bound in (groups, reach) if bound is not None), default=None)
            bound_groups = group_bound if known is None or group_bound < known else None
            # One group alone: the bound of all rows of the unit is the one that counts.
            per_group = ownership.rows_per_group if groups is None or groups > 1 else None
            most = group_bound if known is None else min(group_bound, known)
            rows = ownership.rows if chosen is None else chosen
            return UnitNeighbours(
                column=ownership.column,
                rows=rows,
                groups=bound_groups,
                rows_per_group=per_group,
                is_summed=per_group is None or rows < most * per_group,
                is_unbounded=ownership.is_unbounded,
            )
        case PublicRows():
            raise AssertionError("rows of a public table have no neighbours")
        case _:
            assert_never(ownership)


def check_private_keys(
    ownership: RowOwnership, keys: Sequence[tuple[int | None, KeyPlan]], reach: int | None
) -> None:
    """Private keys need a bound on the groups of a unit that is no choice of the statement's own.

    keys: each with its place in the statement; reach: as of neighbours_of

    Refuses  NO_BOUNDS: the policy has none
    """
    private = [(position, key) for position, key in keys if key.values is None]
    if not private or reach is not None or not lacks_bound(ownership):
        return
    position, key = private[0]
    name = key.expression.column if isinstance(key.expression, ColumnRef) else "column"
    one, other = ("1", "2") if key.type.is_number else ("'a'", "'b'")
    message = "GROUP BY on keys that are not public needs a bound on the groups of a privacy unit"
    if key.type.is_time and isinstance(key.expression, ColumnRef):
        raise Refusal(
            Code.NO_BOUNDS,
            message,
            f"Group by date_trunc('day', {name}), or 'week' or 'month'. Of a column without bounds in the"
            " policy ask the data owner for max_groups_per_unit.",
            position,
        )
    raise Refusal(
        Code.NO_BOUNDS,
        message,
        f"Ask the data owner for `values` of {name}; or name those that you want, CASE {name} WHEN {one} THEN"
        f" {one} WHEN {other} THEN {other} END; or ask the data owner for max_groups_per_unit. Of a time or"
        f" number with bounds WHERE has to leave at most {limits.GROUPS_PER_STATEMENT} groups.",
        position,
    )


def lacks_bound(ownership: RowOwnership) -> bool:
    """Whether private keys would need a bound on the groups of a unit that nobody has given."""
    return isinstance(ownership, UnitRows) and ownership.is_chosen and ownership.groups is None


# Rows that belong to nobody: their privacy unit is null, and no answer counts them (ADR 0012).


def columns_without_unit(source: Relation, known: PlanningContext) -> tuple[str, ...]:
    """Columns that name the unit of a row, or lead to it, and can be null."""
    return tuple(dict.fromkeys(_nullable(source, known)))


def _nullable(source: Relation, known: PlanningContext) -> Iterator[str]:
    for scan in scans(source):
        policy = known.policy.tables[scan.table]
        if isinstance(policy, ProtectedTable) and isinstance(policy.unit, IdentifierUnit):
            column = known.catalog.tables[scan.table].column(policy.unit.column)
            if column is not None and column.nullable:
                yield f"{column.name} of {scan.table}"
