"""Query + policy -> private plan: units, groups, sensitivities, split of epsilon and delta."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import islice

from proxy.base import limits
from proxy.base.errors import Code, Refusal
from proxy.base.result_columns import IntervalEnd
from proxy.catalog.catalog_model import TableName
from proxy.kernel.checked_plan import (
    CheckedBlock,
    CheckedPlan,
    check_bounded,
    check_plan,
    together,
)
from proxy.kernel.key_plans import KeyPlan
from proxy.kernel.neighbour_kinds import UnitNeighbours
from proxy.kernel.plan import BlockPlan, PrivatePlan, Release, SampleAggregate
from proxy.kernel.refusals import NotPrivate
from proxy.kernel.shape import Shape
from proxy.kernel.statistics import Measured
from proxy.kernel.work import TooManyNodes, TooMuchWork
from proxy.mechanisms import split
from proxy.mechanisms.loss import Loss
from proxy.planner.blocks_with_units import BlockWithUnit, blocks_with_units
from proxy.planner.bounds import condition
from proxy.planner.budget_allocation import BudgetAllocation
from proxy.planner.facts import PlanningContext, RowOwnership, UnitRows, Values, typed
from proxy.planner.group_count import (
    GroupCount,
    allocated,
    fewest_units,
    select_groups,
    with_group_count,
)
from proxy.planner.label_evaluation import LabelWork
from proxy.planner.later_rows import present_of, without_later_rows
from proxy.planner.left_out_rows import clamped_operands, computed_beyond
from proxy.planner.long_texts import BEGINNINGS, Beginning, with_beginnings
from proxy.planner.measuring import (
    MeasureContext,
    Priced,
    check_has_bounds,
    chooses_total,
    is_of_deviations,
    needs_rows,
)
from proxy.planner.narrowed_operands import has_fixed_bounds, operand_facts
from proxy.planner.neighbours import (
    check_private_keys,
    choice_of,
    columns_without_unit,
    given_bound,
    most_rows,
    neighbours_of,
    report_weight,
    rows_weight,
)
from proxy.planner.open_operands import (
    kept_totals,
    value_choices,
    weights_on,
    with_bounds,
    with_open_values,
)
from proxy.planner.order_statistics import weight_choice
from proxy.planner.planned_keys import listed_groups, most_values
from proxy.planner.reading_copies import on_copies
from proxy.planner.rows_per_unit import reach_of
from proxy.planner.sample_aggregate import NeedsEpsilon
from proxy.planner.series import in_order, refuse_no_series
from proxy.planner.shared_releases import Spent, block_releases
from proxy.planner.text_lengths import check_sizes
from proxy.planner.time_blocks import with_blocks
from proxy.planner.unit_truncation import most_read, with_condition
from proxy.policy.policy_model import Privacy, Weighed
from proxy.query.ir.expressions import Expression
from proxy.query.ir.query import AggregateBlock, Query, compared_answers
from proxy.query.ir.query_aggregates import Aggregate
from proxy.query.ir.rebuilding import changed_aggregate
from proxy.query.ir.relations import Relation, tables_of_rows

_TRIED = 8  # larger epsilons; more than two are rare
_NONE: Mapping[int, Mapping[int | None, int]] = {}

# Bounds that were chosen privately, by block, and in it by release; None: the bound on rows.
ChosenBounds = Mapping[int, Mapping[int | None, int]]


def plan(
    query: Query, known: PlanningContext, wanted: Loss, chosen: ChosenBounds = _NONE
) -> PrivatePlan:
    """As `planned`, with bounds of the blocks that are in `chosen`."""
    return planned(query, known, wanted).with_bounds(chosen).private


def planned(query: Query, known: PlanningContext, wanted: Loss) -> Planned:
    """The private plan of a statement whose parameters are known (answers of earlier blocks excepted).

    Given    wanted: epsilon and delta of the statement as a whole
    Gives    a plan that is (plan.loss)-DP for the policy's units, plan.loss <= wanted
    Refuses  NO_BOUNDS, NO_VALUES, UNSUPPORTED, TOO_COMPLEX, INFEASIBLE; NotPrivate: a plan that the kernel does
             not let through, which would be a fault of ours
    Source   basic composition over distinct releases, by the policy's weights (docs/design/mechanisms.md 8)
    """
    query = with_blocks(without_later_rows(query, known), known)
    labels = LabelWork.of_statement(known.evaluating)
    known = replace(known, labels=labels)
    try:
        return _plan(query, known, wanted)
    except NeedsEpsilon as refused:
        hint = _hint_for_all(refused, query, known, wanted)
        raise Refusal(refused.code, refused.message, hint, refused.position) from None
    finally:
        labels.end()


def planned_on_copies(
    query: Query, known: PlanningContext, wanted: Loss, as_of: Mapping[TableName, str]
) -> Planned | None:
    """As `planned`, on prepared copies.

    Args:
        query: As of `planned`.
        known: What is known of the tables themselves.
        wanted: As of `planned`.
        as_of: The copies that can be read now, by the protected table.

    Returns:
        None: The tables themselves are to be read. The copies do not have what it needs, or groups are private:
        of these a choice by rows takes one person for as many as a copy has rows of them.
    """
    on = on_copies(query, known, as_of) if as_of else None
    if on is None:
        return None
    try:
        found = planned(query, on, wanted)
    except (Refusal, NotPrivate):
        return None
    has_selection = any(block.selection is not None for block in found.private.blocks)
    return None if has_selection else found


def _as_it_is(block: BlockPlan) -> BlockPlan:
    return block


@dataclass(frozen=True, slots=True, kw_only=True)
class Planned:
    """checked: the plan before any bound is chosen, as it is charged; beginning: of long texts, if they are
    cut."""

    checked: CheckedPlan
    known: PlanningContext
    drafts: tuple[_Draft, ...]
    spent: tuple[tuple[Loss, ...], ...]  # of each block, for each of its weights
    beginning: Beginning | None = None

    @property
    def private(self) -> PrivatePlan:
        return self.checked.private

    def bounded(
        self,
        number: int,
        chosen: Mapping[int | None, int],
        told: Callable[[BlockPlan], BlockPlan] = _as_it_is,
    ) -> CheckedBlock:
        """One block with bounds that were chosen, by release, None being that on rows. They change
        sensitivities and scales, never what is paid. The other blocks, which may be many, are left alone.

        Given    told: puts what else is known of the choice
        Refuses  NotPrivate: the kernel does not let it through
        """
        of = self.private.blocks[number]
        values = {one.measured: chosen[one.number] for one in of.value_choices}
        named = {one.number for one in of.value_choices}
        weights = None
        if of.weight_choice is not None:
            weights = chosen[of.weight_choice.number]
            named.add(of.weight_choice.number)
        others = {choice: bound for choice, bound in chosen.items() if choice not in named}
        draft = self.drafts[number].with_bounds(others, values, weights)
        block = _planned(draft, iter(self.spent[number]))
        if self.beginning is not None:
            block = with_beginnings(block, self.beginning, self.known.world)
        return check_bounded(told(block), self.checked.blocks[number])

    def with_bounds(self, chosen: ChosenBounds) -> CheckedPlan:
        """The plan with bounds of the blocks that are in `chosen`."""
        blocks = self.checked.blocks
        return together(
            [self.bounded(n, chosen[n]) if n in chosen else one for n, one in enumerate(blocks)]
        )


def _hint_for_all(refused: NeedsEpsilon, query: Query, known: PlanningContext, wanted: Loss) -> str:
    """Of the aggregates that epsilon is too small for, the first is refused: the others may need more."""
    needed = refused
    for _ in range(_TRIED):
        try:
            _plan(query, known, Loss(needed.epsilon, wanted.delta))
            break
        except NeedsEpsilon as further:
            needed = further
        except Refusal as other:
            return other.hint
    return needed.hint


def _plan(query: Query, known: PlanningContext, wanted: Loss) -> Planned:
    """The plan, if what rows of one unit cost is within the limits; where each row is dear, of fewer rows."""
    check_sizes(query)
    most: int | None = None
    while True:
        draft = _drafted(query, replace(known, most_stored=most) if most else known, wanted)
        if known.series is not None:
            refuse_no_series(draft.blocks, known.policy, known.series)
        try:
            return draft.checked(wanted)
        except TooMuchWork as refused:
            fewer = _fewer(refused, most)
            if fewer is None:
                raise
            most = fewer


@dataclass(frozen=True, slots=True, kw_only=True)
class _Unchecked:
    """All blocks as they are planned."""

    blocks: tuple[BlockPlan, ...]
    known: PlanningContext
    drafts: tuple[_Draft, ...]
    spent: tuple[tuple[Loss, ...], ...]

    def checked(self, wanted: Loss) -> Planned:
        """The plan, with texts cut to their beginnings where whole ones would take too long.

        Refuses  TooMuchWork: so would the beginnings, or shorter texts are no help
        """
        world = self.known.world
        try:
            return self._planned(check_plan(self.blocks, wanted, world), None)
        except TooManyNodes:
            raise
        except TooMuchWork as refusal:
            refused = refusal
        for beginning in BEGINNINGS:
            blocks = tuple(with_beginnings(one, beginning, world) for one in self.blocks)
            if blocks == self.blocks:
                continue
            try:
                return self._planned(check_plan(blocks, wanted, world), beginning)
            except TooMuchWork as further:
                refused = further
        raise refused

    def _planned(self, checked: CheckedPlan, beginning: Beginning | None) -> Planned:
        return Planned(
            checked=checked,
            known=self.known,
            drafts=self.drafts,
            spent=self.spent,
            beginning=beginning,
        )


def _fewer(refused: TooMuchWork, most: int | None) -> int | None:
    """How many rows of each unit may be read at most; None: reading fewer would not help."""
    work = refused.work
    if work is None:
        return None
    if most is None:
        return work.most_stored or None if work.is_dear_for_each else None
    by_time = limits.UNIT_NANOSECONDS / max(1.0, work.nanoseconds)
    share = min(by_time, limits.UNIT_CARRIED_BYTES / max(1.0, work.octets))
    fewer = int(most * min(Fraction(share), Fraction(9, 10)))
    return fewer if fewer > 0 and not work.is_dear_for_each and most > 1 else None


def _drafted(query: Query, known: PlanningContext, wanted: Loss) -> _Unchecked:
    with_unit = tuple(blocks_with_units(query, known))
    releases = sum(len(block.aggregates) for block in query.blocks)
    # The choice of private groups is a release of its own.
    releases += sum(any(key.values is None for key in one.keys) for one in with_unit)
    if releases > limits.RELEASES_PER_STATEMENT:
        raise Refusal(
            Code.TOO_COMPLEX,
            f"more than {limits.RELEASES_PER_STATEMENT} different aggregates in one statement",
            "Ask several questions.",
        )
    drafts = tuple(_draft(one, known, wanted) for one in with_unit)
    weights = [tuple(draft.weights(known.policy.privacy)) for draft in drafts]
    flat = [weight for of_block in weights for weight in of_block]
    losses = iter(split.split_weighted(wanted, flat) if flat else ())
    spent = tuple(tuple(islice(losses, len(of_block))) for of_block in weights)
    blocks = tuple(
        _planned(draft, iter(of_block)) for draft, of_block in zip(drafts, spent, strict=True)
    )
    return _Unchecked(blocks=blocks, known=known, drafts=drafts, spent=spent)


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
    ownership: RowOwnership
    group_bound: int | None
    reach: int | None
    unowned: tuple[str, ...]
    beyond: tuple[str, ...]
    most_stored: int | None
    present: str | None
    is_rounded: bool
    most_values: tuple[tuple[int, int], ...]
    count: GroupCount | None
    least_units: int

    def with_bounds(
        self, chosen: Mapping[int | None, int], values: Mapping[Measured, int], weights: int | None
    ) -> _Draft:
        """With what follows from bounds; the rest, of which keys and conditions take long, stays.

        Given    values: bounds on values, by the values; weights: bound on rows that quantiles weigh
        """
        neighbours = neighbours_of(self.ownership, self.group_bound, chosen.get(None), self.reach)
        shape = replace(self.context.shape, neighbours=neighbours)
        context = replace(self.context, shape=shape, chosen=chosen, weight_bound=weights)
        context = with_bounds(context, values)
        return replace(
            self, context=context, allocation=allocated(self.aggregates, context, self.count)
        )

    @property
    def is_private(self) -> bool:
        """Whether its groups have to be chosen: a release of its own."""
        return any(key.values is None for key in self.keys)

    def weights(self, privacy: Privacy) -> Iterator[Fraction]:
        """Of everything that gets noise, in the order in which `_planned` takes it."""
        yield from self.allocation.weights
        if self.is_private:
            yield privacy.weight(Weighed.GROUPS)
        bounded = self.bounded_weights()
        if bounded:
            yield rows_weight(bounded)
        elif self.reports_clipped:
            yield report_weight(self.allocation.weights)
        for one in self.context.open_values.values():
            used = weights_on(one, self.aggregates, self.allocation, self.context)
            yield rows_weight(used)

    @property
    def reports_clipped(self) -> bool:
        """Whether it is asked how many units the policy's own bounds cut, and nothing else is to be chosen.

        They do not cut means of deviations.
        """
        answered = len(self.block.aggregates)
        return (
            any(column.end is IntervalEnd.CLIPPED for column in self.block.intervals)
            and not all(is_of_deviations(a, self.context) for a in self.aggregates[:answered])
            and isinstance(self.context.neighbours, UnitNeighbours)
            and self.context.most_rows is None
            and not self.context.open_values
            and not any(chooses_total(one, self.context) for one in self.aggregates)
        )

    def bounded_weights(self) -> list[Fraction]:
        """Of the releases for which a bound on rows is chosen."""
        if self.context.most_rows is None:
            return []
        own = self.allocation.independent.items()
        return [
            *(weight for n, weight in own if needs_rows(self.aggregates[n], self.context)),
            *self.allocation.statistics.values(),
        ]


def _draft(of: BlockWithUnit, known: PlanningContext, wanted: Loss) -> _Draft:
    block, with_unit, keys = of.block, of.with_unit, of.keys
    facts = with_unit.facts
    count, listed = None, None
    if not any(key.values is None for key in keys):
        keys, listed = listed_groups(block, keys, of.public, of.where)
        count = math.prod(len(key.values or ()) for key in keys) if listed is None else len(listed)
    # Conditions may leave no group at all: then nothing is answered, and planned as for one.
    group_bound = None if count is None else max(1, count)
    ownership = with_unit.ownership
    reach = reach_of(with_unit, keys, listed, known)
    check_private_keys(
        ownership, [(key.position, plan) for key, plan in zip(block.keys, keys, strict=True)], reach
    )
    neighbours = neighbours_of(ownership, group_bound, None, reach)
    if known.series is not None:
        neighbours = in_order(neighbours, known.series)
    is_spread = bool(keys) and count != 1
    shape = Shape(neighbours=neighbours, count=count, is_spread=is_spread, reach=reach)
    aggregates = tuple(
        changed_aggregate(aggregate, lambda part: typed(part, facts))
        for aggregate in block.aggregates
    )
    largest = most_rows(ownership, neighbours)
    is_lifted = known.policy.reuse is not None and known.policy.reuse.is_lifted
    can_be_lifted = is_lifted and has_fixed_bounds(neighbours, largest, facts)
    context = MeasureContext(
        facts=facts,
        shape=shape,
        privacy=known.policy.privacy,
        mechanism=known.mechanism,
        wanted=wanted,
        has_private_keys=any(key.values is None for key in keys),
        most_rows=largest,
        operands=operand_facts(block, aggregates, facts, can_be_lifted),
        series=known.series,
    )
    where = None if block.where is None else condition(typed(block.where, facts), facts)
    relation, where = with_condition(with_unit.relation, where)
    for aggregate in aggregates:
        check_has_bounds(aggregate, context)
    context = with_open_values(aggregates, context)
    least_units = known.policy.fewest_units(tables_of_rows(relation))
    aggregates, group_count, context = with_group_count(aggregates, least_units, context)
    return _Draft(
        block=block,
        relation=relation,
        where=where,
        keys=keys,
        combinations=listed,
        aggregates=aggregates,
        context=context,
        allocation=allocated(aggregates, context, group_count),
        count=group_count,
        least_units=least_units,
        ownership=ownership,
        group_bound=group_bound,
        reach=reach,
        unowned=columns_without_unit(with_unit.relation, known),
        beyond=computed_beyond(block.where, facts),
        most_stored=most_read(with_unit.relation, known.most_stored),
        present=present_of(block, known),
        is_rounded=known.is_rounded,
        most_values=tuple(most_values(aggregates, context.facts, of.where)),
    )


def _planned(draft: _Draft, spent: Iterator[Loss]) -> BlockPlan:
    """spent: the loss of each weight of the statement, in order."""
    of_each = Spent(
        independent={number: next(spent) for number in draft.allocation.independent},
        statistics={part: next(spent) for part in draft.allocation.statistics},
        units={rows: next(spent) for rows in draft.allocation.units},
    )
    of_weights = next(spent) if draft.allocation.choice else None
    selection = None
    if draft.is_private:
        secret = [
            key.position
            for key, plan in zip(draft.block.keys, draft.keys, strict=True)
            if plan.values is None
        ]
        selection = select_groups(
            Priced(context=draft.context, loss=next(spent)), secret[0], draft.least_units
        )
    rows_choice = None
    if draft.bounded_weights():
        assert draft.context.most_rows is not None
        rows_choice = choice_of(next(spent), draft.context.most_rows)
    elif draft.reports_clipped:
        assert isinstance(draft.context.neighbours, UnitNeighbours)
        rows_choice = given_bound(next(spent), draft.context.neighbours.rows)
    releases, answers = block_releases(draft.aggregates, draft.context, draft.allocation, of_each)
    weighing = None
    if of_weights is not None:
        weighing = weight_choice(releases, draft.context, of_weights)
    return BlockPlan(
        source=draft.relation,
        neighbours=draft.context.neighbours,
        where=draft.where,
        keys=draft.keys,
        combinations=draft.combinations,
        grouped=draft.block.grouped,
        releases=releases,
        answers=answers[: len(draft.block.aggregates)],
        fewest=fewest_units(draft.count, releases, answers, draft.context),
        sub_partitions=_sub_partitions(releases),
        intervals=draft.block.intervals,
        expressions=draft.block.expressions,
        outputs=draft.block.outputs,
        compared=compared_answers(draft.block),
        is_summed=draft.block.is_summed,
        has_truths=draft.block.has_truths,
        selection=selection,
        rows_choice=rows_choice,
        value_choices=tuple(value_choices(draft.context, releases, spent)),
        weight_choice=weighing,
        unowned=draft.unowned,
        beyond=draft.beyond,
        clamped=clamped_operands(draft.aggregates, draft.context.facts_of),
        kept_totals=tuple(kept_totals(draft.aggregates, draft.context)),
        top=draft.block.top,
        row_choices=draft.block.row_choices,
        reach=draft.reach,
        unit_name=draft.ownership.identifier if isinstance(draft.ownership, UnitRows) else "",
        most_stored=draft.most_stored,
        present=draft.present,
        is_rounded=draft.is_rounded,
        most_values=draft.most_values,
    )


def _sub_partitions(releases: tuple[Release, ...]) -> int:
    """The number of partitions that the database forms: the most that any median has.

    A median of fewer has one or two of them in each partition. So partitions differ in size, by which its
    sampling error grows by a twentieth at most (simulated for 205, 285 and 395 of 401), while twice the
    cells would cost the scan a quarter more (tests/bench). Which cell goes to which partition is public and
    fixed, so that a unit is still in exactly one partition.
    """
    sizes = {release.partitions for release in releases if isinstance(release, SampleAggregate)}
    return max(sizes, default=0)
