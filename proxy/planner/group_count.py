"""By which number of units a group is shown: public keys under a smallest group, private ones as selected.

A COUNT of the statement serves where it counts units. Else one more is drawn, for a fifth of what the block
spends, and is no answer.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

from proxy.base.errors import Code, Refusal
from proxy.base.sql_types import SqlType
from proxy.kernel.fewest_units import counted_by, counted_of
from proxy.kernel.key_plans import FewestUnits, Selection
from proxy.kernel.neighbour_kinds import UnitNeighbours
from proxy.kernel.plan import Answer, Release
from proxy.kernel.sensitivities import each_selected
from proxy.mechanisms import partition_selection
from proxy.planner.budget_allocation import BudgetAllocation, allocation
from proxy.planner.facts import ColumnFacts
from proxy.planner.measuring import MeasureContext, Priced
from proxy.planner.sample_aggregate import needs_delta
from proxy.query.ir.expressions import ColumnRef
from proxy.query.ir.query_aggregates import Aggregate, AggregateKind

SHARE = Fraction(1, 5)  # of what the block spends, where no answer counts units


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupCount:
    """units: of the policy; number: of the aggregate that counts; is_added: it is none of the statement's."""

    units: int
    number: int
    is_added: bool


def with_group_count(
    aggregates: tuple[Aggregate, ...], units: int, context: MeasureContext
) -> tuple[tuple[Aggregate, ...], GroupCount | None, MeasureContext]:
    """Find the aggregate that counts the units of a group, or add one.

    Args:
        aggregates: Of the block, with their columns in backend types.
        units: Of the policy.
        context: Of the block. Groups of private keys are selected instead.

    Returns:
        The aggregates, the count, and the context in which the column of the unit is known, too: a subquery
        carries it under a name of its own.
    """
    if units <= 1 or not aggregates or context.has_private_keys:
        return aggregates, None, context
    for number, one in enumerate(aggregates):
        if _counts_units(one, context):
            return aggregates, GroupCount(units=units, number=number, is_added=False), context
    count = GroupCount(units=units, number=len(aggregates), is_added=True)
    return (*aggregates, _count_of(context)), count, _with_unit(context)


def _with_unit(context: MeasureContext) -> MeasureContext:
    if not isinstance(context.neighbours, UnitNeighbours):
        return context
    column = context.neighbours.column
    unit = ColumnFacts(column.type, is_unit=True)
    facts = context.facts.instead({(column.relation, column.column): unit, **context.facts})
    return replace(context, facts=facts)


def allocated(
    aggregates: Sequence[Aggregate], context: MeasureContext, count: GroupCount | None
) -> BudgetAllocation:
    """As `allocation`, with its share for a count that was added."""
    found = allocation(aggregates, context)
    if count is None or not count.is_added or count.number not in found.independent:
        return found
    others = sum(found.weights, Fraction(0)) - found.independent[count.number]
    weight = others * SHARE / (1 - SHARE)
    return replace(found, independent={**found.independent, count.number: weight})


def fewest_units(
    count: GroupCount | None,
    releases: Sequence[Release],
    answers: Sequence[Answer],
    context: MeasureContext,
) -> FewestUnits | None:
    """What the plan says of it."""
    if count is None:
        return None
    release = answers[count.number].releases[0]
    counted = counted_by(releases[release], count.units, context.neighbours)
    if counted is None:  # the kernel refuses it
        counted = counted_of(count.units, context.neighbours)
    return FewestUnits(units=count.units, counted=counted, release=release)


def _counts_units(one: Aggregate, context: MeasureContext) -> bool:
    if one.condition is not None:
        return False
    if one.kind is AggregateKind.COUNT_ROWS:
        return not isinstance(context.neighbours, UnitNeighbours)
    operand = one.operand
    if one.kind is not AggregateKind.COUNT_DISTINCT or not isinstance(operand, ColumnRef):
        return False
    return context.has_units and context.facts[operand.relation, operand.column].is_unit


def _count_of(context: MeasureContext) -> Aggregate:
    neighbours = context.neighbours
    if isinstance(neighbours, UnitNeighbours):
        return Aggregate(AggregateKind.COUNT_DISTINCT, neighbours.column, None, SqlType.INT8)
    return Aggregate(AggregateKind.COUNT_ROWS, None, None, SqlType.INT8)


# --- How groups whose keys are private are selected, and when they cannot be.


def select_groups(priced: Priced, position: int | None, units: int = 1) -> Selection:
    """
    Given    position: of the first key that is not public; units: so many a group has at least, by the policy
    Refuses  INFEASIBLE without delta: no key could ever appear
    Source   docs/design/mechanisms.md 4.2
    """
    context, loss = priced.context, priced.loss
    if loss.delta <= 0:
        raise needs_delta(
            "GROUP BY on keys that are not public needs a delta above 0",
            context.privacy,
            "group by a column with public values",
            position,
        )
    try:
        each = each_selected(context.shape, loss)
        partition_selection.release_probability(1, each.epsilon, each.delta)
    except ValueError:  # epsilon or delta too small to choose by, told before anything is charged
        raise Refusal(
            Code.INFEASIBLE,
            "epsilon is too small to select groups: a key would need too many units to appear",
            "Use fewer aggregates in one statement, or group by a column with public values.",
            position,
        ) from None
    return Selection(loss=loss, each=each, fewest=counted_of(units, context.neighbours))
