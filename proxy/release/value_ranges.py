"""The range of each answer, and of expressions over answers: an interval is cut to it, but holds its value.

A count is not below 0, a correlation is between -1 and 1, a share of a whole between 0 and 1. Ranges follow
from the plan alone. To cut an interval to them is post-processing, and leaves out no possible truth.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

from typing_extensions import assert_never

from proxy.kernel.column_types import conjuncts
from proxy.kernel.plan import (
    Answer,
    BlockPlan,
    DeviationMean,
    NoisyStatistic,
    OrderStatistic,
    RecentredMean,
    SampleAggregate,
    UnitExtreme,
)
from proxy.kernel.statistics import Counted, Measured
from proxy.query.ir.expressions import NumericFunction
from proxy.query.ir.noisy_expressions import (
    AnswerOf,
    NoisyArithmetic,
    NoisyCall,
    NoisyCast,
    NoisyChoice,
    NoisyExpression,
    NoisyNullIf,
    NoisyOperator,
    NoisyWindow,
    PublicNumber,
    WindowSum,
)
from proxy.query.ir.query_aggregates import Aggregate, AggregateKind

_ZERO, _ONE = Fraction(0), Fraction(1)
_COUNTS = (AggregateKind.COUNT_ROWS, AggregateKind.COUNT, AggregateKind.COUNT_DISTINCT)
_NOT_NEGATIVE = (
    *_COUNTS,
    *(AggregateKind.VAR_POP, AggregateKind.VAR_SAMP),
    *(AggregateKind.STDDEV_POP, AggregateKind.STDDEV_SAMP),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class ValueRange:
    """The least and the greatest possible number; None: without end."""

    low: Fraction | None = None
    high: Fraction | None = None

    @property
    def is_not_negative(self) -> bool:
        return self.low is not None and self.low >= 0

    def cut(self, value: Fraction, low: Fraction, high: Fraction) -> tuple[Fraction, Fraction]:
        """Cut the ends of an interval to the range.

        If noise took the value out of the range, the interval reaches into it by its half width, and to the
        value: no value is outside of its own interval.

        >>> counts = ValueRange(low=Fraction(0))
        >>> [tuple(map(int, counts.cut(Fraction(n), Fraction(n - 6), Fraction(n + 6)))) for n in (9, 4, -9)]
        [(3, 15), (0, 10), (-9, 6)]
        """
        above = Fraction(0) if self.low is None else max(Fraction(0), self.low - value)
        below = Fraction(0) if self.high is None else max(Fraction(0), value - self.high)
        low, high = low - below, high + above
        if self.low is not None:
            low = max(low, min(self.low, value))
        if self.high is not None:
            high = min(high, max(self.high, value))
        return low, high


ANY_NUMBER = ValueRange()
_FROM_0 = ValueRange(low=_ZERO)
_SHARE = ValueRange(low=_ZERO, high=_ONE)


def value_ranges(plan: BlockPlan) -> tuple[ValueRange, ...]:
    """The ranges of a block's answers, and of the expressions of which intervals are asked, in this order."""
    ranges = ranges_of(plan)
    return (*ranges.of_answers, *map(ranges.of, plan.expressions))


def ranges_of(plan: BlockPlan) -> Ranges:
    """Give what the ranges of expressions over a block's answers follow from."""
    most = dict(plan.most_values)
    return Ranges(
        of_answers=tuple(
            replace(_of_answer(plan, answer), high=Fraction(most[number]))
            if number in most
            else _of_answer(plan, answer)
            for number, answer in enumerate(plan.answers, start=1)
        ),
        aggregates=[answer.aggregate for answer in plan.answers],
    )


def _of_answer(plan: BlockPlan, answer: Answer) -> ValueRange:
    kind = answer.aggregate.kind
    if kind in _NOT_NEGATIVE:
        return _FROM_0
    if kind is AggregateKind.CORR:
        return ValueRange(low=-_ONE, high=_ONE)
    if kind is AggregateKind.REGR_R2:
        return _SHARE
    measured = _measured(plan, answer)
    if measured is None or answer.aggregate.type.is_time:
        return ANY_NUMBER
    if kind is AggregateKind.SUM:
        return _FROM_0 if measured.clamp.low >= 0 else ANY_NUMBER
    if kind is AggregateKind.AVG:
        return ValueRange(low=measured.clamp.low, high=measured.clamp.high)
    return ANY_NUMBER  # those that are picked from the bounds have intervals within them


def _measured(plan: BlockPlan, answer: Answer) -> Measured | None:
    if answer.calculated is not None:
        return answer.calculated.measured[0]
    release = plan.releases[answer.releases[0]]
    match release:
        case NoisyStatistic():
            return None if isinstance(release.of, Counted) else release.of[0]
        case (
            RecentredMean() | DeviationMean() | OrderStatistic() | UnitExtreme() | SampleAggregate()
        ):
            return release.measured
        case _:
            return None


@dataclass(frozen=True, slots=True, kw_only=True)
class Ranges:
    """The ranges of expressions over answers. of_answers, aggregates: by the number of the answer, from 0."""

    of_answers: Sequence[ValueRange]
    aggregates: Sequence[Aggregate]

    def of(self, expression: NoisyExpression) -> ValueRange:
        match expression:
            case AnswerOf():
                return self.of_answers[expression.number - 1]
            case PublicNumber():
                return ValueRange(low=expression.value, high=expression.value)
            case NoisyArithmetic(operator=NoisyOperator.DIVIDE):
                return self._divided(expression)
            case NoisyArithmetic(operator=NoisyOperator.SUBTRACT):
                return self._subtracted(expression)
            case NoisyArithmetic():
                left, right = self.of(expression.left), self.of(expression.right)
                return _arithmetic(expression.operator, left, right)
            case NoisyCall():
                return _called(expression, self.of(expression.operand))
            case NoisyCast():
                return _whole_ends(self.of(expression.operand))
            case NoisyNullIf():
                return self.of(expression.operand)
            case NoisyChoice():
                return _chosen(expression.is_greatest, list(map(self.of, expression.operands)))
            case NoisyWindow():
                operand = self.of(expression.operand)
                return _FROM_0 if operand.is_not_negative else ANY_NUMBER
            case _:
                assert_never(expression)

    def _divided(self, expression: NoisyArithmetic) -> ValueRange:
        """A part of a whole, times a number; or a number that is not negative, by another."""
        factor, part = _without_factor(expression.left)
        divisor, whole = _without_factor(expression.right)
        if self.is_part(part, whole) and factor >= 0 and divisor > 0:
            return _whole_ends(ValueRange(low=_ZERO, high=factor / divisor))
        left, right = self.of(expression.left), self.of(expression.right)
        return _FROM_0 if left.is_not_negative and right.is_not_negative else ANY_NUMBER

    def _subtracted(self, expression: NoisyArithmetic) -> ValueRange:
        """What a whole has beside a part of it is not below 0."""
        if self.is_part(_without_cast(expression.right), _without_cast(expression.left)):
            return _FROM_0
        left, right = self.of(expression.left), self.of(expression.right)
        return _arithmetic(expression.operator, left, right)

    def is_part(self, part: NoisyExpression, whole: NoisyExpression) -> bool:
        """Say whether one is among the things that the other counts or adds up."""
        if isinstance(whole, NoisyWindow):
            return self._is_part_of_window(part, whole)
        if not isinstance(part, AnswerOf) or not isinstance(whole, AnswerOf):
            return False
        one, other = self.aggregates[part.number - 1], self.aggregates[whole.number - 1]
        return is_part(one, other, is_not_negative=self.of(part).is_not_negative)

    def _is_part_of_window(self, part: NoisyExpression, whole: NoisyWindow) -> bool:
        """Of the sum over a partition: some groups of it, or one."""
        is_whole = whole.start is None and whole.end is None
        if whole.function is not WindowSum.SUM or not is_whole:
            return False
        operand = part
        if isinstance(part, NoisyWindow):
            if part.function is not WindowSum.SUM or not {*whole.partition} <= {*part.partition}:
                return False
            operand = part.operand
        operand, of_whole = _without_cast(operand), _without_cast(whole.operand)
        if not self.of(operand).is_not_negative:
            return False
        return operand == of_whole or self.is_part(operand, of_whole)


def _without_cast(expression: NoisyExpression) -> NoisyExpression:
    """What a cast to a type with a point has in it."""
    if isinstance(expression, NoisyCast) and not expression.type.is_integer:
        return _without_cast(expression.operand)
    return expression


def _without_factor(expression: NoisyExpression) -> tuple[Fraction, NoisyExpression]:
    """A public factor, and what it multiplies."""
    match expression:
        case NoisyCast() if not expression.type.is_integer:
            return _without_factor(expression.operand)
        case NoisyNullIf():
            return _without_factor(expression.operand)
        case NoisyArithmetic(
            operator=NoisyOperator.MULTIPLY, left=PublicNumber(value), right=right
        ):
            factor, rest = _without_factor(right)
            return factor * value, rest
        case NoisyArithmetic(operator=NoisyOperator.MULTIPLY, left=left, right=PublicNumber(value)):
            factor, rest = _without_factor(left)
            return factor * value, rest
        case _:
            return _ONE, expression


def _arithmetic(operator: NoisyOperator, left: ValueRange, right: ValueRange) -> ValueRange:
    match operator:
        case NoisyOperator.ADD:
            return ValueRange(low=_plus(left.low, right.low), high=_plus(left.high, right.high))
        case NoisyOperator.SUBTRACT:
            negative = _negated(right)
            return ValueRange(
                low=_plus(left.low, negative.low), high=_plus(left.high, negative.high)
            )
        case NoisyOperator.MULTIPLY if left.is_not_negative and right.is_not_negative:
            assert left.low is not None and right.low is not None
            ends = left.high, right.high
            high = None if ends[0] is None or ends[1] is None else ends[0] * ends[1]
            return ValueRange(low=left.low * right.low, high=high)
        case _:
            return ANY_NUMBER


def _plus(one: Fraction | None, other: Fraction | None) -> Fraction | None:
    return None if one is None or other is None else one + other


def _negated(found: ValueRange) -> ValueRange:
    return ValueRange(
        low=None if found.high is None else -found.high,
        high=None if found.low is None else -found.low,
    )


def _called(expression: NoisyCall, operand: ValueRange) -> ValueRange:
    match expression.function:
        case NumericFunction.NEGATE:
            return _negated(operand)
        case NumericFunction.ABS:
            return _FROM_0
        case _:  # rounding
            return _whole_ends(operand)


def _whole_ends(found: ValueRange) -> ValueRange:
    """Wherever a number is rounded to, it stays between the whole numbers around it."""
    return ValueRange(
        low=None if found.low is None else Fraction(math.floor(found.low)),
        high=None if found.high is None else Fraction(math.ceil(found.high)),
    )


def _chosen(is_greatest: bool, several: Sequence[ValueRange]) -> ValueRange:
    if not is_greatest:
        return _negated(_chosen(True, list(map(_negated, several))))
    lows = [one.low for one in several if one.low is not None]
    highs = [one.high for one in several if one.high is not None]
    return ValueRange(
        low=max(lows, default=None), high=max(highs) if len(highs) == len(several) else None
    )


# Which answers are of a part of what other answers are of: a narrower FILTER, `count(x)` beside `count(*)`.
#
# By the statement alone. Each answer has noise of its own, so a part can be larger than its whole. It is not
# moved: that would bias sums over groups (ADR 0101).


_FROM_DISTINCT = (AggregateKind.COUNT_DISTINCT, AggregateKind.COUNT, AggregateKind.COUNT_ROWS)


def is_part(one: Aggregate, other: Aggregate, *, is_not_negative: bool) -> bool:
    """Say whether an aggregate cannot be larger than another, as it is of a part of the same rows.

    Args:
        is_not_negative: Of the first aggregate, whether nothing that it adds up is below 0.
    """
    if not {*conjuncts(other.condition)} <= {*conjuncts(one.condition)}:
        return False
    is_same = one.operand == other.operand
    if one.kind is AggregateKind.SUM:
        return other.kind is one.kind and is_same and is_not_negative
    if one.kind not in _FROM_DISTINCT or other.kind not in _FROM_DISTINCT:
        return False
    if _FROM_DISTINCT.index(other.kind) < _FROM_DISTINCT.index(one.kind):
        return False
    return is_same or other.kind is AggregateKind.COUNT_ROWS
