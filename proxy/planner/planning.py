"""Query + policy -> private plan: units, groups, sensitivities, split of epsilon and delta."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction

from typing_extensions import assert_never

from proxy.base import limits
from proxy.base.errors import Code, Fault, Refusal
from proxy.mechanisms import partition_selection, split
from proxy.mechanisms.loss import NOTHING, Loss
from proxy.planner.bounds import condition
from proxy.planner.budget_allocation import BudgetAllocation, allocation
from proxy.planner.constant_sizes import check_sizes
from proxy.planner.facts import (
    PlanningContext,
    ProtectedRows,
    PublicRows,
    RelationWithUnit,
    RowOwnership,
    UnitRows,
    typed,
)
from proxy.planner.measuring import MeasureContext, Priced
from proxy.planner.narrowing import narrowed
from proxy.planner.plan import (
    BlockPlan,
    KeyPlan,
    Neighbours,
    PrivatePlan,
    Release,
    RowNeighbours,
    SampleAggregate,
    Selection,
    UnitNeighbours,
)
from proxy.planner.plan_types import check_types
from proxy.planner.planned_keys import listed_groups, planned_key
from proxy.planner.public_keys import Values
from proxy.planner.shared_releases import Spent, block_releases
from proxy.planner.tracking import track
from proxy.planner.unit_truncation import with_condition
from proxy.policy.policy_model import Privacy, Weighed
from proxy.query.ir.expressions import Expression
from proxy.query.ir.query import AggregateBlock, Query, uses_answers
from proxy.query.ir.query_aggregates import Aggregate
from proxy.query.ir.relations import Relation


def plan(query: Query, known: PlanningContext, wanted: Loss) -> PrivatePlan:
    """The private plan of a statement whose parameters are known (answers of earlier blocks excepted).

    Given    wanted: epsilon and delta of the statement as a whole
    Gives    a plan that is (plan.loss)-DP for the policy's units, plan.loss <= wanted
    Refuses  NO_BOUNDS, NO_VALUES, UNSUPPORTED, TOO_COMPLEX, INFEASIBLE; with Fault a plan that would cost
             more than wanted, which would be a fault of ours
    Source   basic composition over distinct releases, by the policy's weights (docs/design/mechanisms.md 8)
    """
    check_sizes(query)
    with_unit = tuple(_with_unit(block, known) for block in query.blocks)
    releases = sum(len(block.aggregates) for block in query.blocks)
    # The choice of private groups is a release of its own.
    releases += sum(any(key.values is None for key in keys) for _, keys in with_unit)
    if releases > limits.RELEASES_PER_STATEMENT:
        raise Refusal(
            Code.TOO_COMPLEX,
            f"more than {limits.RELEASES_PER_STATEMENT} different aggregates in one statement",
            "Ask several questions.",
        )
    drafts = [
        _draft(block, found, keys, known, wanted)
        for block, (found, keys) in zip(query.blocks, with_unit, strict=True)
    ]
    weights = [weight for draft in drafts for weight in draft.weights(known.policy.privacy)]
    spent = iter(split.split_weighted(wanted, weights) if weights else ())
    blocks = tuple(_planned(draft, spent) for draft in drafts)
    for block in blocks:
        check_types(block, known.catalog)
    total = NOTHING
    for block in blocks:
        if block.selection is not None:
            total = total + block.selection.loss
        for release in block.releases:
            total = total + release.loss
    if total.epsilon > wanted.epsilon or total.delta > wanted.delta:
        raise Fault
    return PrivatePlan(blocks=blocks, loss=total)


def _with_unit(
    block: AggregateBlock, known: PlanningContext
) -> tuple[RelationWithUnit, tuple[KeyPlan, ...]]:
    with_unit = track(block.source, known)
    if isinstance(with_unit.ownership, PublicRows):
        raise Refusal(
            Code.UNSUPPORTED,
            "the query reads no protected table",
            "Run it without dp.low(), dp.high() and dp.error().",
        )
    facts = with_unit.facts
    where = None if block.where is None else typed(block.where, facts)
    public = narrowed(facts, where)
    return with_unit, tuple(planned_key(key, facts, public, where) for key in block.keys)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Draft:
    """A block as far as it is planned without knowing what its releases may spend."""

    block: AggregateBlock
    relation: Relation
    where: Expression | None
    keys: tuple[KeyPlan, ...]
    combinations: tuple[Values, ...] | None
    aggregates: tuple[Aggregate, ...]
    context: MeasureContext
    allocation: BudgetAllocation

    @property
    def is_private(self) -> bool:
        """Whether its groups have to be chosen: a release of its own."""
        return any(key.values is None for key in self.keys)

    def weights(self, privacy: Privacy) -> Iterator[Fraction]:
        """Of everything that gets noise, in the order in which `_planned` takes it."""
        yield from self.allocation.independent.values()
        yield from self.allocation.statistics.values()
        if self.is_private:
            yield privacy.weight(Weighed.GROUPS)


def _draft(
    block: AggregateBlock,
    with_unit: RelationWithUnit,
    keys: tuple[KeyPlan, ...],
    known: PlanningContext,
    wanted: Loss,
) -> _Draft:
    facts = with_unit.facts
    count, listed = None, None
    if not any(key.values is None for key in keys):
        keys, listed = listed_groups(block, keys, facts)
        count = math.prod(len(key.values or ()) for key in keys) if listed is None else len(listed)
    # Conditions may leave no group at all: then nothing is answered, and planned as for one.
    group_bound = None if count is None else max(1, count)
    neighbours, groups = _neighbours(with_unit.ownership, group_bound)
    context = MeasureContext(
        facts=facts,
        neighbours=neighbours,
        groups=groups,
        privacy=known.policy.privacy,
        wanted=wanted,
    )
    where = None if block.where is None else condition(typed(block.where, facts), facts)
    relation, where = with_condition(with_unit.relation, where)
    aggregates = tuple(
        aggregate.changed(lambda part: typed(part, facts)) for aggregate in block.aggregates
    )
    return _Draft(
        block=block,
        relation=relation,
        where=where,
        keys=keys,
        combinations=listed,
        aggregates=aggregates,
        context=context,
        allocation=allocation(aggregates, context),
    )


def _planned(draft: _Draft, spent: Iterator[Loss]) -> BlockPlan:
    """spent: the loss of each weight of the statement, in order."""
    of_each = Spent(
        independent={number: next(spent) for number in draft.allocation.independent},
        statistics={part: next(spent) for part in draft.allocation.statistics},
    )
    selection = None
    if draft.is_private:
        secret = [
            key.position
            for key, plan in zip(draft.block.keys, draft.keys, strict=True)
            if plan.values is None
        ]
        selection = _selection(Priced(context=draft.context, loss=next(spent)), secret[0])
    releases, answers = block_releases(draft.aggregates, draft.context, draft.allocation, of_each)
    return BlockPlan(
        source=draft.relation,
        neighbours=draft.context.neighbours,
        where=draft.where,
        keys=draft.keys,
        combinations=draft.combinations,
        grouped=draft.block.grouped,
        releases=releases,
        answers=answers,
        sub_partitions=_sub_partitions(releases),
        intervals=draft.block.intervals,
        expressions=draft.block.expressions,
        outputs=draft.block.outputs,
        uses_answers=uses_answers(draft.block),
        selection=selection,
    )


def _neighbours(ownership: RowOwnership, groups: int | None) -> tuple[Neighbours, int]:
    """How neighbours differ, and in how many groups at most one unit can be. groups None: unknown many."""
    match ownership:
        case ProtectedRows():
            group_bound = ownership.rows if groups is None else min(ownership.rows, groups)
            found = RowNeighbours(
                rows=ownership.rows,
                hashed_by=ownership.hashed_by,
                not_null=None,
                partitions=ownership.partitions,
            )
            return found, group_bound
        case UnitRows(unique=True, rows=1):
            # A key checked by the server: a unit is one row, nothing has to be bounded.
            return RowNeighbours(
                rows=1, hashed_by=(ownership.column,), not_null=ownership.column
            ), 1
        case UnitRows():
            group_bound = min(ownership.rows, ownership.groups or ownership.rows)
            bound_groups = group_bound if groups is None or group_bound < groups else None
            # One group alone: the bound of all rows of the unit is the one that counts.
            per_group = ownership.rows_per_group if groups is None or groups > 1 else None
            most = group_bound if groups is None else min(group_bound, groups)
            bounding = UnitNeighbours(
                column=ownership.column,
                rows=ownership.rows,
                groups=bound_groups,
                rows_per_group=per_group,
                is_summed=per_group is None or ownership.rows < most * per_group,
            )
            return bounding, most
        case PublicRows():
            raise AssertionError("rows of a public table have no neighbours")
        case _:
            assert_never(ownership)


def _selection(priced: Priced, position: int | None) -> Selection:
    """
    Given    position: of the first key that is not public
    Refuses  INFEASIBLE without delta: no key could ever appear
    Source   docs/design/mechanisms.md 4.2
    """
    context, loss = priced.context, priced.loss
    if loss.delta <= 0:
        raise Refusal(
            Code.INFEASIBLE,
            "GROUP BY on keys that are not public needs a delta above 0",
            "SET dp.delta to a small positive number, or group by a column with public values.",
            position,
        )
    try:
        match context.neighbours:
            case RowNeighbours():
                each = split.per_unit(loss, context.neighbours.rows)
            case UnitNeighbours():
                each = partition_selection.per_group(loss, context.groups)
            case _:
                assert_never(context.neighbours)
        partition_selection.release_probability(1, each.epsilon, each.delta)
    except ValueError:  # epsilon or delta too small to choose by, told before anything is charged
        raise Refusal(
            Code.INFEASIBLE,
            "epsilon is too small to select groups: a key would need too many units to appear",
            "Use fewer aggregates in one statement, or group by a column with public values.",
            position,
        ) from None
    return Selection(loss=loss, each=each)


def _sub_partitions(releases: tuple[Release, ...]) -> int:
    """The number of partitions that the database forms: the most that any median has.

    A median of fewer has one or two of them in each partition. So partitions differ in size, by which its
    sampling error grows by a twentieth at most (simulated for 205, 285 and 395 of 401), while twice the
    cells would cost the scan a quarter more (tests/bench). Which cell goes to which partition is public and
    fixed, so that a unit is still in exactly one partition.
    """
    sizes = {release.partitions for release in releases if isinstance(release, SampleAggregate)}
    return max(sizes, default=0)
