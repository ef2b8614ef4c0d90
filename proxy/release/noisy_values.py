"""What was drawn, as values with intervals, and answers that are made of it. Post-processing."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from fractions import Fraction
from functools import lru_cache

from typing_extensions import assert_never

from proxy.base.sql_types import SqlType
from proxy.estimates import deviation_mean_estimate, recentred_mean_estimate
from proxy.estimates.deviation_mean_estimate import NoisyRows
from proxy.kernel.formula_model import NoisySums
from proxy.kernel.plan import (
    Answer,
    BlockPlan,
    ContinualNoise,
    DeviationMean,
    DistinctCount,
    GaussianNoise,
    KeptUnits,
    LaplaceNoise,
    Noise,
    NoisyStatistic,
    OrderStatistic,
    RecentredMean,
    Release,
    SampleAggregate,
    UnitExtreme,
)
from proxy.mechanisms import discrete_gaussian, discrete_laplace
from proxy.mechanisms.deviation_mean import NoisyDeviations
from proxy.mechanisms.deviation_variance import NoisySquares
from proxy.mechanisms.estimate import LEVEL, Estimate
from proxy.mechanisms.recentred_mean import NoisyMeanSums
from proxy.planner.series import noise_of_a_step
from proxy.planner.shared_releases import scales_of
from proxy.query.ir.query_aggregates import AggregateKind
from proxy.release.drawn_values import (
    Drawn,
    DrawnNothing,
    DrawnNumber,
    DrawnQuantile,
    round_half_up,
)
from proxy.release.noisy_relation import CertainEnds, NoisyValue, NullReason, missing

# --- Answers made of noisy results: post-processing, in which nothing exact takes part.


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


# ---

_ONE = Fraction(1)
_CACHED_WIDTHS = 1_024  # each takes up to 2 ms, and is the same in each group


def noisy_value(drawn: Drawn, release: Release, rows: NoisyRows | None = None) -> NoisyValue:
    """Write what was drawn as an answer.

    Args:
        drawn: What was drawn.
        release: That it was drawn for, of the very plan.
        rows: Of a mean of deviations: a better number of its rows than its own.
    """
    kind = release.aggregate.type
    if isinstance(drawn, DrawnNothing):
        grid = release.output_grid if isinstance(release, SampleAggregate) else _ONE
        return missing(grid, kind)
    match release:
        case NoisyStatistic():
            fine = _additive(_number(drawn), release.noise, release.grid, kind)
            return _in_steps(fine, release.parts)
        case DistinctCount():
            return _additive(_number(drawn), release.noise, _ONE, kind)
        case RecentredMean():
            return _mean(drawn, release)
        case DeviationMean():
            return _mean_of_deviations(drawn, release, rows)
        case OrderStatistic() | UnitExtreme():
            return _quantile(drawn, release)
        case KeptUnits():
            return _additive(_number(drawn), release.noise, _ONE, SqlType.INT8)
        case SampleAggregate():
            # No interval: the scale is private, and the sampling error of the partitions would be left out.
            return NoisyValue(_number(drawn), release.output_grid, kind, None)
        case _:
            assert_never(release)


def _number(drawn: Drawn) -> int:
    assert isinstance(drawn, DrawnNumber), "of another release"
    return drawn.index


def _additive(index: int, noise: Noise, grid: Fraction, kind: SqlType) -> NoisyValue:
    return NoisyValue(
        index=index,
        grid=grid,
        type=kind,
        half_width=noise_half_width(noise),
        at=lambda level: noise_half_width(noise, level),
    )


@lru_cache(maxsize=_CACHED_WIDTHS)
def noise_half_width(noise: Noise, level: Fraction | float = 0.95) -> int:
    """Half width of the interval, of 95 % where nothing else is wanted."""
    match noise:
        case LaplaceNoise():
            return discrete_laplace.half_width(noise.scale, level)
        case GaussianNoise():
            return discrete_gaussian.half_width(noise.sigma2, level)
        case ContinualNoise():
            return noise_half_width(noise_of_a_step(noise), level)
        case _:
            assert_never(noise)


def _in_steps(fine: NoisyValue, parts: int) -> NoisyValue:
    """Of a number in parts of a grid step: rounded to whole ones, its interval half a step wider."""
    at, half_width = fine.at, fine.half_width
    if parts == 1:
        return fine
    assert at is not None and half_width is not None
    return NoisyValue(
        index=round_half_up(fine.index, parts),
        grid=fine.grid,
        type=fine.type,
        half_width=_widened(half_width, parts),
        at=lambda level: _widened(at(level), parts),
    )


def _widened(half_width: int, parts: int) -> int:
    """In whole steps, rounded up, with half a step more."""
    return -(-(2 * half_width + parts) // (2 * parts))


def _mean(drawn: Drawn, release: RecentredMean) -> NoisyValue:
    """Steps of the operand's grid to the finer ones of the answer."""
    measured, kind = release.measured, release.aggregate.type
    if isinstance(drawn, DrawnNumber):  # bounds that meet: the mean is public
        return on_grid(known(drawn.index * measured.grid), release.output_grid, kind)
    assert isinstance(drawn, NoisyMeanSums), "of another release"
    low, high, epsilon = measured.low, measured.high, release.loss.epsilon
    found = recentred_mean_estimate.estimate(drawn, low, high, epsilon, measured.rows)
    return on_grid(found.times(measured.grid), release.output_grid, kind)


def _mean_of_deviations(drawn: Drawn, release: DeviationMean, rows: NoisyRows | None) -> NoisyValue:
    """NULL if the noisy numbers show no rows; without an error if nothing bounds it."""
    measured, grid, kind = release.measured, release.output_grid, release.aggregate.type
    if isinstance(drawn, DrawnNumber):  # bounds that meet: the mean is public
        return on_grid(known(drawn.index * measured.grid), grid, kind)
    if isinstance(drawn, NoisySquares):
        drawn = drawn.mean
    assert isinstance(drawn, NoisyDeviations), "of another release"
    drawn_with = (measured.low, measured.high, release.epsilon_of_mean, release.declared)
    if not deviation_mean_estimate.exists(drawn, release.epsilon_of_mean, release.declared, rows):
        is_rough = drawn.bound is None
        reason = NullReason.TOO_FEW if is_rough else NullReason.EMPTY_GROUP
        return replace(missing(grid, kind), null_reason=reason)
    value = deviation_mean_estimate.mean(drawn, *drawn_with, rows) * measured.grid
    if drawn.bound is None:
        return NoisyValue(round(value / grid), grid, kind, None)

    def at(level: Fraction | float) -> Estimate:
        half = Fraction(deviation_mean_estimate.half_width(drawn, *drawn_with, float(level), rows))
        half *= measured.grid
        return Estimate(value=value, least=value - half, most=value + half, at=at)

    return on_grid(at(LEVEL), grid, kind)


def known(value: Fraction) -> Estimate:
    """A public number."""
    return Estimate(value=value, least=value, most=value, at=lambda _: known(value))


def _quantile(drawn: Drawn, release: OrderStatistic | UnitExtreme) -> NoisyValue:
    assert isinstance(drawn, DrawnQuantile), "of another release"
    return NoisyValue(
        drawn.index,
        release.measured.grid,
        release.aggregate.type,
        None,
        certain=_certain(drawn.index, release),
    )


def _certain(index: int, release: OrderStatistic | UnitExtreme) -> CertainEnds | None:
    """The ends of a minimum or maximum. On the side where values are it aims so far inside that it is beyond
    all of them in at most 1 of 200 draws (PROOFS.md 9); values off the grid were rounded to it. On the other
    side it is the bound, unless that is one of as many rows as a unit may have."""
    one = release.measured
    is_whole = release.aggregate.type.is_integer and one.grid == 1
    off = 0 if one.on_grid or is_whole else 1
    is_bounded = not (isinstance(release, UnitExtreme) and release.is_open)
    match release.aggregate.kind:
        case AggregateKind.MAX:
            return CertainEnds(max(one.low, index - off), one.high if is_bounded else None)
        case AggregateKind.MIN:
            return CertainEnds(one.low if is_bounded else None, min(one.high, index + off))
        case _:
            return None
