"""Whether what a bound cuts would make an answer larger, smaller, or one of both. By the statement alone."""

from __future__ import annotations

from collections.abc import Collection

from proxy.kernel.plan import BlockPlan, DistinctCount, NoisyStatistic
from proxy.policy.policy_model import Bounds
from proxy.query.ir.expressions import ColumnRef
from proxy.query.ir.query_aggregates import Aggregate, AggregateKind

_COUNTS = (AggregateKind.COUNT_ROWS, AggregateKind.COUNT)
SPREADS = {
    *(AggregateKind.VAR_POP, AggregateKind.VAR_SAMP),
    *(AggregateKind.STDDEV_POP, AggregateKind.STDDEV_SAMP),
}
GROWING = {
    *(AggregateKind.SUM, AggregateKind.AVG),
    *(AggregateKind.QUANTILE_CONT, AggregateKind.QUANTILE_DISC),
}
_RANKED = {AggregateKind.MIN, AggregateKind.MAX}

_STEM = "The error leaves out what that cuts"
LEFT_OUT = f"{_STEM}, which could make the answer larger or smaller."
LEFT_OUT_BELOW = f"{_STEM}, which would only make the answer larger."
_LEFT_OUT_ON_BOTH_SIDES = (
    f"{_STEM}: what is above would make the answer larger, what is below smaller."
)


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


def left_out_of_total(aggregate: Aggregate, kept: Bounds) -> str:
    """Say what the policy's bounds on a total of a unit leave out.

    A total within bounds is nearer to each other one, so that spreads shrink.
    """
    is_plain = isinstance(aggregate.operand, ColumnRef) and aggregate.second is None
    only_above = kept.low >= 0 and aggregate.kind in GROWING | _RANKED
    is_below = is_plain and (only_above or aggregate.kind in SPREADS)
    return LEFT_OUT_BELOW if is_below else LEFT_OUT


def left_out_of_values(block: BlockPlan) -> str:
    """Say what the policy's bounds on values leave out."""
    named = {column for column, _ in block.clamped}
    found = [one.aggregate for one in block.answers if _is_of(one.aggregate, named)]
    if any(not isinstance(one.operand, ColumnRef) or one.second is not None for one in found):
        return LEFT_OUT
    kinds = {one.kind for one in found}
    if kinds <= SPREADS:
        return LEFT_OUT_BELOW
    return _LEFT_OUT_ON_BOTH_SIDES if kinds <= GROWING | _RANKED else LEFT_OUT


def _is_of(aggregate: Aggregate, named: Collection[str]) -> bool:
    """Whether it may be of one of the columns. Counts are not cut by bounds on values."""
    if aggregate.kind in (*_COUNTS, AggregateKind.COUNT_DISTINCT):
        return False
    operand = aggregate.operand
    return not isinstance(operand, ColumnRef) or operand.column in named
