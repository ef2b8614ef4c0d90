"""Whether what a bound cuts would make an answer larger, smaller, or one of both. By the statement alone."""

from __future__ import annotations

from collections.abc import Collection

from proxy.kernel.plan import Answer, BlockPlan, DistinctCount, NoisyStatistic
from proxy.policy.policy_model import Bounds
from proxy.query.ir.expressions import ColumnRef
from proxy.query.ir.query_aggregates import SPREADS, Aggregate, AggregateKind

_COUNTS = (AggregateKind.COUNT_ROWS, AggregateKind.COUNT)
GROWING = {
    *(AggregateKind.SUM, AggregateKind.AVG),
    *(AggregateKind.QUANTILE_CONT, AggregateKind.QUANTILE_DISC),
}
_RANKED = {AggregateKind.MIN, AggregateKind.MAX}


def only_grow(block: BlockPlan, cut: Collection[int]) -> bool:
    """Say whether no answer grows where rows or sums of a unit are cut.

    Numbers of rows or values do not, nor sums of what is not below 0.

    Args:
        cut: The releases of which they are cut.
    """
    kinds = {one.aggregate.kind for one in block.answers if not {*one.releases}.isdisjoint(cut)}
    releases = [block.releases[number] for number in cut]
    return kinds <= {*_COUNTS, AggregateKind.COUNT_DISTINCT, AggregateKind.SUM} and all(
        isinstance(one, DistinctCount) or (isinstance(one, NoisyStatistic) and not one.is_signed)
        for one in releases
    )


def grows_where_cut(block: BlockPlan, answer: Answer, choice: int | None) -> bool:
    """Say whether what a bound that was chosen cuts would only make an answer larger.

    Args:
        choice: The bound, as `BlockPlan.choices` names it.
    """
    if block.bounded_by(choice).isdisjoint(answer.releases):
        return False
    kind = answer.aggregate.kind
    of_values = block.value_choice(choice)
    if of_values is not None:
        return kind in SPREADS or (kind in GROWING and of_values.measured.low >= 0)
    if kind is AggregateKind.SUM and answer.calculated is not None:
        return answer.calculated.measured[0].low >= 0
    return kind in {*_COUNTS, AggregateKind.COUNT_DISTINCT, AggregateKind.SUM} and all(
        isinstance(one, DistinctCount) or (isinstance(one, NoisyStatistic) and not one.is_signed)
        for one in (block.releases[number] for number in answer.releases)
    )


def is_cut_below(aggregate: Aggregate, kept: Bounds) -> bool:
    """Say whether the policy's bounds on a total of a unit only make an answer smaller.

    A total within bounds is nearer to each other one, so that spreads shrink.
    """
    is_plain = isinstance(aggregate.operand, ColumnRef) and aggregate.second is None
    only_above = kept.low >= 0 and aggregate.kind in GROWING | _RANKED
    return is_plain and (only_above or aggregate.kind in SPREADS)


def are_cut_below(block: BlockPlan) -> bool:
    """Say whether the policy's bounds on values only make answers smaller: spreads of plain columns."""
    named = {column for column, _ in block.clamped}
    found = [one.aggregate for one in block.answers if _is_of(one.aggregate, named)]
    is_plain = all(isinstance(one.operand, ColumnRef) and one.second is None for one in found)
    return is_plain and {one.kind for one in found} <= SPREADS


def _is_of(aggregate: Aggregate, named: Collection[str]) -> bool:
    """Whether it may be of one of the columns. Counts are not cut by bounds on values."""
    if aggregate.kind in (*_COUNTS, AggregateKind.COUNT_DISTINCT):
        return False
    operand = aggregate.operand
    return not isinstance(operand, ColumnRef) or operand.column in named
