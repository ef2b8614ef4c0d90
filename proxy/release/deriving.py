"""Answers made of noisy results: post-processing, in which nothing exact takes part."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from fractions import Fraction

from proxy.base.sql_types import SqlType
from proxy.kernel.formula_model import NoisySums
from proxy.kernel.plan import Answer, BlockPlan, UnitExtreme
from proxy.mechanisms.estimate import LEVEL, Estimate
from proxy.planner.shared_releases import scales_of
from proxy.release.noisy_relation import NoisyValue, missing


def answered(answer: Answer, plan: BlockPlan, drawn: Mapping[int, NoisyValue]) -> NoisyValue:
    """
    Given    drawn: the noisy results of this group, by the number of their release
    """
    calculated = answer.calculated
    if calculated is None:
        number, *gates = answer.releases
        release = plan.releases[number]
        if isinstance(release, UnitExtreme) and any(drawn[n].index < release.least for n in gates):
            return missing(release.measured.grid, answer.aggregate.type)
        if isinstance(release, UnitExtreme) and gates:
            return replace(drawn[number], among=drawn[gates[0]].index)
        return drawn[number]
    if any(drawn[number].is_missing for number in answer.releases):
        return missing(calculated.output_grid, answer.aggregate.type)
    of = calculated.formula.of
    assert of is not None, "a formula of one sum is the release itself"
    sums = NoisySums(
        sums=tuple(drawn[number].index for number in answer.releases),
        scales=scales_of(plan, answer),
        measured=calculated.measured,
    )

    def at(level: Fraction | float) -> Estimate:
        return replace(of(replace(sums, level=Fraction(level))), at=at)

    return on_grid(at(LEVEL), calculated.output_grid, answer.aggregate.type)


def on_grid(found: Estimate, output_grid: Fraction, kind: SqlType) -> NoisyValue:
    """A number rounded to a grid; its half width rounded up."""

    def half_width(estimate: Estimate) -> int:
        distance = max(estimate.value - estimate.least, estimate.most - estimate.value)
        return math.ceil(distance / output_grid)

    at = found.at
    return NoisyValue(
        index=round(found.value / output_grid),
        grid=output_grid,
        type=kind,
        half_width=half_width(found),
        at=None if at is None else lambda level: half_width(at(level)),
    )
