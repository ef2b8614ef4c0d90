"""VARIANCE and STDDEV about noisy centres, of what was drawn for the mean that they share: post-processing."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

from proxy.base.errors import Fault
from proxy.estimates import deviation_mean_estimate, deviation_variance_estimate
from proxy.estimates.deviation_mean_estimate import NoisyRows
from proxy.estimates.deviation_variance_estimate import SpreadRange
from proxy.kernel.plan import Answer, BlockPlan, DeviationMean
from proxy.mechanisms.deviation_variance import NoisySquares
from proxy.mechanisms.estimate import LEVEL, Estimate
from proxy.query.ir.query_aggregates import Aggregate, AggregateKind
from proxy.release.drawn_values import Drawn, DrawnNothing, DrawnNumber
from proxy.release.noisy_relation import NoisyValue, NullReason, missing
from proxy.release.noisy_values import known, on_grid


def spread_release(answer: Answer, plan: BlockPlan) -> DeviationMean | None:
    """Give the release about centres of which a variance or a deviation is made. None of other answers."""
    release = plan.releases[answer.releases[0]]
    is_mean = answer.aggregate.kind is AggregateKind.AVG
    return release if isinstance(release, DeviationMean) and not is_mean else None


def units_needed(release: DeviationMean, aggregate: Aggregate) -> int:
    """Give how many units an answer takes, over all groups, about."""
    is_mean = aggregate.kind is AggregateKind.AVG
    of = (
        deviation_mean_estimate.units_needed
        if is_mean
        else deviation_variance_estimate.units_needed
    )
    return of(release.epsilon_of_mean)


def spread_value(
    drawn: Drawn, release: DeviationMean, aggregate: Aggregate, rows: NoisyRows | None = None
) -> NoisyValue:
    """VARIANCE or STDDEV, of the release that they share with the mean.

    NULL if the noisy numbers show no rows, if no bound could be chosen, or if the deviation may be anything.
    A least number where the bound on squares may cut: how much, no histogram tells
    (docs/reference/accuracy.md 8).
    rows: as of `noisy_values.noisy_value`.
    """
    measured, grid, kind = release.measured, release.output_grid, aggregate.type
    if isinstance(drawn, DrawnNothing):
        return missing(grid, kind)
    if isinstance(drawn, DrawnNumber):  # bounds that meet: all values are equal
        return on_grid(known(Fraction(0)), grid, kind)
    assert isinstance(drawn, NoisySquares), "of another release"
    of = SpreadRange(
        low=measured.low,
        high=measured.high,
        epsilons=(release.epsilon_of_mean, release.epsilon_of_squares),
        declared=release.declared,
        rows=rows,
    )
    reason = _no_spread(drawn, of)
    if reason is not None:
        return replace(missing(grid, kind), null_reason=reason)
    is_least = drawn.may_be_cut

    def at(level: Fraction | float) -> Estimate:
        found = _spread(drawn, of, aggregate.kind, level, measured.grid)
        # Above there is no end, so the half width is that to the other side.
        return replace(found, most=found.value if is_least else found.most, at=at)

    return replace(on_grid(at(LEVEL), grid, kind), is_least=is_least)


def _no_spread(drawn: NoisySquares, of: SpreadRange) -> NullReason | None:
    if drawn.bound is None or drawn.mean.bound is None:
        return NullReason.TOO_FEW
    if not deviation_variance_estimate.exists(drawn, of):
        return NullReason.EMPTY_GROUP
    return NullReason.TOO_INEXACT if deviation_variance_estimate.is_too_inexact(drawn, of) else None


def _spread(
    drawn: NoisySquares,
    of: SpreadRange,
    kind: AggregateKind,
    level: Fraction | float,
    grid: Fraction,
) -> Estimate:
    match kind:
        case AggregateKind.VAR_POP:
            return deviation_variance_estimate.population(drawn, of, level).times(grid**2)
        case AggregateKind.VAR_SAMP:
            return deviation_variance_estimate.sample_variance(drawn, of, level).times(grid**2)
        case AggregateKind.STDDEV_POP:
            return deviation_variance_estimate.deviation(drawn, of, level).times(grid)
        case AggregateKind.STDDEV_SAMP:
            return deviation_variance_estimate.deviation(drawn, of, level, of_sample=True).times(
                grid
            )
        case _:
            raise Fault("an aggregate that is not made of squares")
