"""Which operands of a block have a range that is chosen privately, and the bounds that their releases share."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction

from proxy.base.errors import Code, Refusal
from proxy.kernel.bound_choices import ValueChoice
from proxy.kernel.neighbour_kinds import RowNeighbours
from proxy.kernel.plan import DistinctCount, NoisyStatistic, Release
from proxy.kernel.statistics import Counted, Measured, Statistic
from proxy.mechanisms.loss import Loss
from proxy.planner import grids
from proxy.planner.bounds import bounded
from proxy.planner.budget_allocation import BudgetAllocation
from proxy.planner.measuring import MeasureContext, has_range
from proxy.planner.neighbours import choice_of
from proxy.planner.open_values import (
    LARGEST_INDEX,
    OpenValue,
    grid_of_open,
    kept_facts,
    kept_range,
    open_rows,
)
from proxy.policy.policy_model import Bounds
from proxy.query.ir.expressions import Expression
from proxy.query.ir.query_aggregates import Aggregate, AggregateKind

_EXTREMES = (AggregateKind.MIN, AggregateKind.MAX)


def with_open_values(aggregates: Sequence[Aggregate], context: MeasureContext) -> MeasureContext:
    """Find the operands for which a bound is chosen. Aggregates of one operand share it.

    Args:
        aggregates: Of one block, with their columns in backend types.
        context: Of the block.

    Raises:
        Refusal: NO_BOUNDS where no bound can be chosen.
    """
    found: dict[Expression, OpenValue] = {}
    for aggregate in aggregates:
        for operand in _open_operands(aggregate, context):
            measured = bounded(operand, context.facts_of(aggregate)).expression
            before = found.get(operand) or _largest(operand, context)
            found[operand] = replace(before, operands=before.operands | {measured})
            _check_units(aggregate, context)
    return replace(context, open_values=found) if found else context


def with_bounds(context: MeasureContext, chosen: Mapping[Measured, int]) -> MeasureContext:
    """Take the bounds that were chosen, by the values that they bound."""
    values = {
        operand: replace(one, bound=chosen[one.measured])
        for operand, one in context.open_values.items()
    }
    return replace(context, open_values=values)


def weights_on(
    open_value: OpenValue,
    aggregates: Sequence[Aggregate],
    allocation: BudgetAllocation,
    context: MeasureContext,
) -> Iterator[Fraction]:
    """Give the weights of the releases for which a bound is chosen."""
    operands = {one for one, value in context.open_values.items() if value is open_value}
    for number, weight in allocation.independent.items():
        if operands & set(_open_operands(aggregates[number], context)):
            yield weight
    for statistic, weight in allocation.statistics.items():
        if any(one.operand in open_value.operands for one in statistic.measured):
            yield weight


def value_choices(
    context: MeasureContext, releases: Sequence[Release], losses: Iterator[Loss]
) -> Iterator[ValueChoice]:
    """Plan the choice of each bound.

    Args:
        context: Of the block.
        releases: All of its releases.
        losses: What each choice may spend, in the order of the open values.
    """
    for one in context.open_values.values():
        choice, used = choice_of(next(losses), one.most), _used_by(one, releases)
        # Every formula over pairs has a sum of each side alone (planner/formulas.py).
        alone = (n for n in sorted(used) if _operands(releases[n]) <= one.operands)
        yield ValueChoice(
            number=next(alone), releases=used, measured=one.measured, choice=choice, bound=one.bound
        )


def kept_totals(
    aggregates: Sequence[Aggregate], context: MeasureContext
) -> Iterator[tuple[Aggregate, Bounds]]:
    """Give the aggregates of totals that the policy's own bounds cut, and these bounds."""
    for aggregate in aggregates:
        if not has_range(aggregate, context) and aggregate.kind not in _EXTREMES:
            continue
        for operand in aggregate.operands:
            kept = kept_range(operand, context.facts)
            if kept is not None and _cuts_its_end(aggregate, operand, kept, context):
                yield aggregate, kept


def _cuts_its_end(
    aggregate: Aggregate, operand: Expression, kept: Bounds, context: MeasureContext
) -> bool:
    """Whether a bound cuts what an aggregate looks for: MIN is not at the upper end, nor MAX at the lower."""
    if aggregate.kind not in _EXTREMES:
        return True
    whole = bounded(operand, context.facts).interval
    if whole is None:
        return False
    return kept.high < whole.high if aggregate.kind is AggregateKind.MAX else whole.low < kept.low


def _open_operands(aggregate: Aggregate, context: MeasureContext) -> Iterator[Expression]:
    if not has_range(aggregate, context):
        return
    facts, unnarrowed = context.facts_of(aggregate), kept_facts(context.facts)
    for operand in aggregate.operands:
        kind = operand.type
        if kind is None or kind.is_time or open_rows(operand, facts) is None:
            continue
        # What conditions leave of the range is the analyst's own bound.
        own, whole = bounded(operand, facts).interval, bounded(operand, unnarrowed).interval
        if own is not None and whole is not None and _size(own) >= _size(whole):
            yield operand


def _size(interval: Bounds) -> Fraction:
    return max(abs(interval.low), abs(interval.high))


def _largest(operand: Expression, context: MeasureContext) -> OpenValue:
    facts = kept_facts(context.facts)
    found = bounded(operand, facts)
    interval = found.interval or Bounds(Fraction(0), Fraction(0))
    grid = grid_of_open(operand, facts, grids.of_expression(found.expression, interval, facts))
    low, high = math.ceil(interval.low / grid), math.floor(interval.high / grid)
    low, high = max(low, -LARGEST_INDEX), min(high, LARGEST_INDEX)
    measured = Measured(
        operand=found.expression,
        condition=None,
        clamp=Bounds(min(low, high) * grid, high * grid),
        grid=grid,
        rows=context.shape.rows,
    )
    return OpenValue(measured=measured, operands=frozenset())


def _check_units(aggregate: Aggregate, context: MeasureContext) -> None:
    """
    Refuses  NO_BOUNDS: several rows by themselves change, so that no unit can be counted once
    """
    neighbours = context.neighbours
    if isinstance(neighbours, RowNeighbours) and neighbours.rows != 1:
        raise Refusal(
            Code.NO_BOUNDS,
            f"{aggregate.kind.value} of a total needs a bound on it, which cannot be chosen here",
            "Bound the total in the subquery that computes it, as in least(sum(x), 1000).",
            aggregate.position,
        )


def _used_by(one: OpenValue, releases: Sequence[Release]) -> frozenset[int]:
    return frozenset(n for n, release in enumerate(releases) if _operands(release) & one.operands)


def _operands(release: Release) -> frozenset[Expression]:
    """What a release measures within a range."""
    match release:
        case DistinctCount():
            return frozenset()
        case _ if release.aggregate.kind in _EXTREMES:
            return frozenset()
        case NoisyStatistic():
            is_of_rows = release.statistic is Statistic.ROWS or release.total is not None
            if isinstance(release.of, Counted) or is_of_rows:
                return frozenset()
            return frozenset(one.operand for one in release.of)
        case _:
            return frozenset({release.measured.operand})
