"""Means and spreads of quotients, whose range by the bounds of their columns is far wider than they are."""

from __future__ import annotations

from collections.abc import Iterator

from proxy.engine.accuracy import text_of
from proxy.engine.unit_words import answer_name
from proxy.kernel.plan import BlockPlan, DeviationMean, RecentredMean
from proxy.kernel.statistics import Measured
from proxy.query.ir.expression_walk import children, columns
from proxy.query.ir.expressions import Choose, Expression, Quotient
from proxy.query.ir.query_aggregates import SPREADS, AggregateKind
from proxy.release.noisy_relation import NoisyTable, NoisyValue

_FAR = 20  # times the answer: so wide a range
_LARGE = 10  # an error of such a part of the answer


def wide_quotients(block: BlockPlan, noisy: NoisyTable) -> Iterator[str]:
    """Say what makes a mean of quotients inexact, and what to write instead. Bounds of sums are chosen."""
    for number, answer in enumerate(block.answers, start=1):
        measured = _measured(block, number)
        is_mean = answer.aggregate.kind in (AggregateKind.AVG, *SPREADS)
        if measured is None or not is_mean or not _is_open(answer.aggregate.operand):
            continue
        largest = max(abs(measured.clamp.low), abs(measured.clamp.high))
        values = (row.values[number - 1] for row in noisy.rows)
        if any(_is_far_below(value, measured) for value in values):
            yield (
                f"{answer_name(block, number)}: by the bounds of its columns the quotient can be"
                f" {text_of(largest)}. Bounded as in avg(least(a / b, 100)) it has less noise."
            )


def _measured(block: BlockPlan, number: int) -> Measured | None:
    answer = block.answers[number - 1]
    if answer.calculated is not None:
        return answer.calculated.measured[0]
    release = block.releases[answer.releases[0]]
    return release.measured if isinstance(release, DeviationMean | RecentredMean) else None


def _is_open(expression: Expression | None) -> bool:
    """Whether columns are divided by each other, and no least() or greatest() is around."""
    if expression is None or isinstance(expression, Choose):
        return False
    if (
        isinstance(expression, Quotient)
        and not expression.remainder
        and columns(expression.divisor)
    ):
        return True
    return any(map(_is_open, children(expression)))


def _is_far_below(value: NoisyValue, measured: Measured) -> bool:
    """Whether it is NULL, or inexact and far below the range."""
    if value.is_missing or value.half_width is None:
        return value.null_reason is not None
    width = measured.width * measured.grid
    number = abs(value.index * value.grid)
    return _LARGE * value.half_width * value.grid >= number and width >= _FAR * number
