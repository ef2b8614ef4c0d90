"""Answers made of noisy results: post-processing, in which nothing exact takes part."""

from __future__ import annotations

import math
from collections.abc import Mapping
from fractions import Fraction

from proxy.base.sql_types import SqlType
from proxy.planner.formulas import NoisySums
from proxy.planner.plan import Answer, BlockPlan, scales_of
from proxy.release.noisy_relation import NoisyValue


def answered(answer: Answer, plan: BlockPlan, drawn: Mapping[int, NoisyValue]) -> NoisyValue:
    """
    Given    drawn: the noisy results of this group, by the number of their release
    """
    calculated = answer.calculated
    if calculated is None:
        (number,) = answer.releases
        return drawn[number]
    of = calculated.formula.of
    assert of is not None, "a formula of one sum is the release itself"
    found = of(
        NoisySums(
            sums=tuple(drawn[number].index for number in answer.releases),
            scales=scales_of(plan, answer),
            measured=calculated.measured,
        )
    )
    half_width = max(found.value - found.least, found.most - found.value)
    return on_grid(found.value, calculated.output_grid, answer.aggregate.type, half_width)


def on_grid(
    value: Fraction, output_grid: Fraction, kind: SqlType, half_width: Fraction | None
) -> NoisyValue:
    """A number rounded to a grid; its reach rounded up."""
    width = None if half_width is None else math.ceil(half_width / output_grid)
    return NoisyValue(
        index=round(value / output_grid), grid=output_grid, type=kind, half_width=width
    )
