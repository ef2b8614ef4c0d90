"""What was drawn + plan -> the noisy relation: post-processing, in which nothing exact takes part."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction

from proxy.base.limits import NOISY_PARTS_PER_BLOCK
from proxy.estimates.deviation_mean_estimate import NoisyRows
from proxy.kernel.plan import Answer, BlockPlan, OrderStatistic
from proxy.query.ir.noisy_expressions import NoisyExpression, count_parts
from proxy.release.agreement import agreed, operand_answers
from proxy.release.counted_rows import better_rows, counts_of_means
from proxy.release.drawn_values import DrawnBlock, DrawnGroup, Keys
from proxy.release.expression_intervals import BlockIntervals
from proxy.release.noisy_relation import (
    NoInterval,
    NoisyInterval,
    NoisyRow,
    NoisyTable,
    NoisyValue,
    capped,
)
from proxy.release.noisy_values import answered, noisy_value
from proxy.release.null_answers import answer_rules, with_nulls
from proxy.release.small_groups import hidden, is_shown
from proxy.release.spread_values import spread_release, spread_value
from proxy.release.value_ranges import value_ranges
from proxy.release.window_intervals import WindowGroups

# An expression over the answers, and the number of the row.
_NO_ROWS: Mapping[int, NoisyRows] = {}
_IntervalOf = Callable[[NoisyExpression, int], NoisyInterval | NoInterval]


def presented(plan: BlockPlan, drawn: DrawnBlock) -> NoisyTable:
    """
    Given    drawn: for this plan, its bounds chosen
    """
    rules = answer_rules(plan, len(drawn.groups))
    operands = operand_answers(plan.answers)
    values, counts = [], counts_of_means(plan)
    for group in drawn.groups:
        if not is_shown(plan, group):
            values.append(tuple(map(hidden, group_values(plan, group))))
            continue
        better = better_rows(plan, counts, group)
        # What says nothing is NULL by the error of its noise, also where that is not stated.
        shown = with_nulls(plan, rules, group, tuple(group_values(plan, group, better)))
        shown = tuple(_without_untrue_error(plan, *one) for one in enumerate(shown, start=1))
        found = agreed(operands, shown)
        values.append(
            tuple(
                _unstated(one) if number in plan.uncertain_answers else one
                for number, one in enumerate(found, start=1)
            )
        )
    interval: _IntervalOf = _too_many
    if _are_few(plan, len(drawn.groups)):
        keys = [group.keys for group in drawn.groups]
        groups = WindowGroups(keys, [key.type for key in plan.keys])
        interval = BlockIntervals(values, groups).interval
    rows = tuple(
        _row(plan, number, group.keys, values[number], interval)
        for number, group in enumerate(drawn.groups)
    )
    has_least = any(one.is_least for group in values for one in group)
    return NoisyTable(
        with_one_side(rows) if has_least else rows, value_ranges(plan) if plan.intervals else ()
    )


def group_values(
    plan: BlockPlan, group: DrawnGroup, rows: Mapping[int, NoisyRows] = _NO_ROWS
) -> Iterator[NoisyValue]:
    """Write the answers of one group, in the order of the plan's, each by itself.

    Args:
        plan: The block.
        group: What was drawn.
        rows: Better numbers of the rows of means, by release.
    """
    by_release = {
        number: noisy_value(drawn, release, rows.get(number))
        for number, (drawn, release) in enumerate(zip(group.values, plan.releases, strict=True))
    }
    clipped, most = dict(plan.clipped), dict(plan.most_values)
    for number, answer in enumerate(plan.answers, start=1):
        value = _own_value(answer, plan, group, rows) or answered(answer, plan, by_release)
        if plan.is_rounded:
            value = rounded(value)
        if number in most:
            value = capped(value, most[number])
        if number in plan.least_answers:
            value = replace(value, is_least=True)
        if clipped:
            value = replace(value, clipped=_clipped(answer, clipped))
        yield value


def _own_value(
    answer: Answer, plan: BlockPlan, group: DrawnGroup, rows: Mapping[int, NoisyRows]
) -> NoisyValue | None:
    """Of a variance or a deviation that shares a release with a mean."""
    release = spread_release(answer, plan)
    if release is None:
        return None
    number = answer.releases[0]
    return spread_value(group.values[number], release, answer.aggregate, rows.get(number))


def _row(
    plan: BlockPlan, row: int, keys: Keys, values: tuple[NoisyValue, ...], interval: _IntervalOf
) -> NoisyRow:
    return NoisyRow(
        keys=keys,
        values=values,
        intervals=tuple(interval(one, row) for one in plan.expressions),
        errors=tuple(
            None if one.expression is None else interval(one.expression, row)
            for one in plan.outputs
        ),
    )


def _without_untrue_error(plan: BlockPlan, number: int, value: NoisyValue) -> NoisyValue:
    """Of an answer whose bound was chosen from few units: it may cut far more than its error tells."""
    if number in plan.least_answers or plan.unstated.isdisjoint(plan.answers[number - 1].releases):
        return value
    return _unstated(value)


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
    parts = sum(map(count_parts, (*plan.expressions, *outputs)))
    return groups * parts <= NOISY_PARTS_PER_BLOCK


def _too_many(expression: NoisyExpression, row: int) -> NoInterval:
    return NoInterval.TOO_MANY


_Found = NoisyInterval | NoInterval | None


def with_one_side(rows: Sequence[NoisyRow]) -> tuple[NoisyRow, ...]:
    """The rows, each column open to the sides to which it is open in any group.

    A reader is told once for a column which way its numbers may be beyond their intervals.
    """
    if not rows:
        return ()
    intervals = list(map(_sides, zip(*(row.intervals for row in rows), strict=True)))
    errors = list(map(_sides, zip(*(row.errors for row in rows), strict=True)))
    return tuple(
        replace(
            row,
            intervals=tuple(
                one if isinstance(one, NoInterval) else _opened(one, *sides)
                for one, sides in zip(row.intervals, intervals, strict=True)
            ),
            errors=tuple(
                _opened(one, *sides) if isinstance(one, NoisyInterval) else one
                for one, sides in zip(row.errors, errors, strict=True)
            ),
        )
        for row in rows
    )


def _sides(column: Sequence[_Found]) -> tuple[bool, bool]:
    """Whether any number may be above its interval, and below."""
    known = [one for one in column if isinstance(one, NoisyInterval)]
    return any(one.is_least for one in known), any(one.is_most for one in known)


def _opened(found: NoisyInterval, is_least: bool, is_most: bool) -> NoisyInterval:
    return replace(found, is_least=is_least, is_most=is_most)


# Answers printed to the digits that mean something: rounded to a step far below their error. Post-processing.
#
# Only where the scale of the noise is public, or itself released, as the interval shows it: a step that
# followed from a private scale would tell of it.


# 95 % of discrete Laplace noise is within 2.12 standard deviations, of which the step is a twentieth.
_STEPS_IN_HALF_WIDTH = 42
_NICE = (5, 2, 1)


def rounded(value: NoisyValue) -> NoisyValue:
    """The value at the nearest multiple of its step, its interval wider by half a step.

    A quantile stays as it was drawn: as a rule it is a value that rows have.
    """
    if value.half_width is None or value.is_missing:
        return value
    step = step_of(value.half_width)
    if step == 1:
        return value
    at = value.at
    return replace(
        value,
        index=step * ((2 * value.index + step) // (2 * step)),
        half_width=_widened(value.half_width, step),
        at=None if at is None else _wider(at, step),
    )


def step_of(half_width: int) -> int:
    """In grid steps, 1, 2 or 5 times a power of ten, within a 42nd of the half width; 1 where that is less.

    >>> [step_of(half_width) for half_width in (0, 83, 84, 300, 4200)]
    [1, 1, 2, 5, 100]
    """
    most = Fraction(half_width, _STEPS_IN_HALF_WIDTH)
    power = 1
    while 10 * power <= most:
        power *= 10
    return next((nice * power for nice in _NICE if nice * power <= most), 1)


def _wider(at: Callable[[Fraction], int], step: int) -> Callable[[Fraction], int]:
    return lambda level: _widened(at(level), step)


def _widened(half_width: int, step: int) -> int:
    return half_width + -(-step // 2)


# Quantiles of which only a step of the grid is known: an error in ranks would promise more.


def with_coarse(block: BlockPlan, noisy: NoisyTable) -> BlockPlan:
    """Note quantiles whose answers are below one step of their grid, in some group. Post-processing.

    A column that holds nothing between its steps has no coarse answers.
    """
    found = set()
    for place, answer in enumerate(block.answers):
        number, *_ = answer.releases
        release = block.releases[number]
        if not isinstance(release, OrderStatistic) or release.measured.on_grid:
            continue
        shown = [one for one in (row.values[place] for row in noisy.rows) if not one.is_missing]
        step = release.measured.grid
        if any(abs(one.index) * one.grid < step for one in shown if not one.type.is_time):
            found.add(number)
    return replace(block, coarse=frozenset(found)) if found else block
