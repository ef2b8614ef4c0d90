"""What was drawn + plan -> the noisy relation: post-processing, in which nothing exact takes part."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction

from proxy.base.limits import NOISY_PARTS_PER_BLOCK
from proxy.kernel.plan import Answer, BlockPlan
from proxy.query.ir.noisy_expressions import NoisyExpression, parts_of
from proxy.release.agreement import agreed, operand_answers
from proxy.release.deriving import answered
from proxy.release.drawn_values import DrawnBlock, DrawnGroup, Keys, noisy_value
from proxy.release.expression_intervals import interval_of
from proxy.release.noisy_interval import NoInterval, NoisyInterval
from proxy.release.noisy_relation import NoisyRow, NoisyTable, NoisyValue
from proxy.release.null_answers import answer_rules, with_nulls
from proxy.release.rounding import rounded

_IntervalOf = Callable[[NoisyExpression, Sequence[NoisyValue]], NoisyInterval | NoInterval]


def presented(plan: BlockPlan, drawn: DrawnBlock) -> NoisyTable:
    """
    Given    drawn: for this plan, its bounds chosen
    """
    interval = interval_of if _are_few(plan, len(drawn.groups)) else _too_many
    rules, operands = answer_rules(plan), operand_answers(plan.answers)
    rows = []
    for group in drawn.groups:
        stated = with_nulls(plan, rules, group, tuple(group_values(plan, group)))
        rows.append(_row(plan, group.keys, agreed(operands, stated), interval))
    return NoisyTable(tuple(rows))


def group_values(plan: BlockPlan, group: DrawnGroup) -> Iterator[NoisyValue]:
    """The noisy answers of one group, in the order of the plan's, each by itself."""
    by_release = {
        number: noisy_value(drawn, release)
        for number, (drawn, release) in enumerate(zip(group.values, plan.releases, strict=True))
    }
    clipped = dict(plan.clipped)
    for answer in plan.answers:
        value = answered(answer, plan, by_release)
        if plan.is_rounded:
            value = rounded(value)
        if not plan.unstated.isdisjoint(answer.releases):
            value = _unstated(value)
        if clipped:
            value = replace(value, clipped=_clipped(answer, clipped))
        yield value


def _row(
    plan: BlockPlan, keys: Keys, values: tuple[NoisyValue, ...], interval: _IntervalOf
) -> NoisyRow:
    return NoisyRow(
        keys=keys,
        values=values,
        intervals=tuple(interval(one, values) for one in plan.expressions),
        errors=tuple(
            None if one.expression is None else interval(one.expression, values)
            for one in plan.outputs
        ),
    )


def _unstated(value: NoisyValue) -> NoisyValue:
    """Without its error, which would be that of the noise alone."""
    return replace(value, half_width=None, at=None)


def _clipped(answer: Answer, of_releases: Mapping[int, Fraction]) -> Fraction | None:
    """The largest share of units that what an answer is made of has clamped."""
    return max((of_releases[n] for n in answer.releases if n in of_releases), default=None)


def _are_few(plan: BlockPlan, groups: int) -> bool:
    """Whether the intervals of all groups take seconds at most: what a statement lists is bounded by its text
    alone, and 1,400 columns of 10,000 groups would take minutes. By public numbers."""
    outputs = (one.expression for one in plan.outputs if one.expression is not None)
    parts = sum(1 for one in (*plan.expressions, *outputs) for _ in parts_of(one))
    return groups * parts <= NOISY_PARTS_PER_BLOCK


def _too_many(expression: NoisyExpression, values: Sequence[NoisyValue]) -> NoInterval:
    return NoInterval.TOO_MANY
