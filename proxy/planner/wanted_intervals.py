"""Which answers of a statement need an interval that has to be paid for, and how sure it has to be."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from functools import lru_cache

from proxy.base.result_columns import IntervalEnd
from proxy.mechanisms.estimate import LEVEL
from proxy.query.ir.noisy_expressions import NoisyExpression, answers_in, noisy_leaves
from proxy.query.ir.query import AggregateBlock


def wanted_levels(block: AggregateBlock) -> Mapping[int, Fraction]:
    """Of the aggregates whose interval dp.low, dp.high or dp.error asks for, by number from 0: with which
    probability it must hold, so that whatever the statement makes of it holds with 95 %.

    What a notice or HTTP reports of other columns asks for none, as it must cost nothing; it may need a higher
    probability of those that are asked for.
    """
    wanted: set[int] = set()
    for column in block.intervals:
        if column.end is IntervalEnd.CLIPPED:
            continue
        expression = column.number - len(block.aggregates)
        if expression <= 0:
            wanted.add(column.number)
        else:
            wanted |= answers_in(block.expressions[expression - 1])
    outputs = (one.expression for one in block.outputs if one.expression is not None)
    found = dict.fromkeys(wanted, LEVEL)
    for made in (*block.expressions, *outputs):
        for number in answers_in(made) & wanted:
            found[number] = max(found[number], level_of(made))
    return {number - 1: level for number, level in found.items()}


@lru_cache(maxsize=256)
def level_of(expression: NoisyExpression) -> Fraction:
    """With which each of the answers in it has to be in its interval, so that all hold together with 95 %."""
    return 1 - (1 - LEVEL) / max(1, len(noisy_leaves(expression)))
