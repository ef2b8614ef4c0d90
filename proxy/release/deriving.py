"""Answers made of noisy results: post-processing, in which nothing exact takes part."""

from __future__ import annotations

import math
from collections.abc import Mapping
from fractions import Fraction

from proxy.base.sql_types import SqlType
from proxy.mechanisms import ratio_mean, shared_moments, sum_over_count, variance
from proxy.planner.plan import (
    BlockPlan,
    FromMoments,
    NoisyVariance,
    Same,
    scale_of,
)
from proxy.query.ir.query_aggregates import AggregateKind
from proxy.release.noised import NoisyValue

_DEVIATIONS = (AggregateKind.STDDEV_POP, AggregateKind.STDDEV_SAMP)
_POPULATIONS = (AggregateKind.VAR_POP, AggregateKind.STDDEV_POP)


def derived(
    release: FromMoments | Same, plan: BlockPlan, drawn: Mapping[int, NoisyValue]
) -> NoisyValue:
    """
    Given    drawn: the noisy results of this group, by the number of their release
    """
    if isinstance(release, Same):
        return drawn[release.other]
    if release.squares is not None:
        return _spread(release, release.squares, plan, drawn)
    if release.aggregate.kind is AggregateKind.SUM:
        return _sum(release, plan, drawn)
    return _mean(release, plan, drawn)


def on_grid(
    steps: Fraction, grid: Fraction, output_grid: Fraction, kind: SqlType, reach: Fraction | None
) -> NoisyValue:
    """A number in steps of one grid, rounded to another; its reach rounded up."""
    ratio = grid / output_grid
    width = None if reach is None else math.ceil(reach * ratio)
    return NoisyValue(round(steps * ratio), output_grid, kind, width)


def spread_value(
    moments: variance.NoisyMoments, noise: variance.Scales, release: FromMoments | NoisyVariance
) -> NoisyValue:
    """Variance or deviation with its interval."""
    measured, aggregate = release.measured, release.aggregate
    low, high, grid = measured.low, measured.high, measured.grid
    if aggregate.kind in _POPULATIONS:
        found = variance.population(moments, low, high)
    else:
        found = variance.sample_variance(moments, low, high)
    least, most = variance.population_interval(moments, noise, low, high)
    if aggregate.kind in _DEVIATIONS:
        least, found, most = map(variance.deviation, (least, found, most))
    else:
        grid *= grid
    reach = max(found - least, most - found)
    return on_grid(found, grid, release.output_grid, aggregate.type, reach)


def _mean(release: FromMoments, plan: BlockPlan, drawn: Mapping[int, NoisyValue]) -> NoisyValue:
    measured = release.measured
    total, count = drawn[release.total].index, drawn[release.rows].index
    scales = scale_of(plan, release.total), scale_of(plan, release.rows)
    if release.centred:
        moments = ratio_mean.NoisyMoments(total, count)
        found = ratio_mean.mean(moments, measured.low, measured.high)
        noise = ratio_mean.Scales(*scales)
        least, most = ratio_mean.interval(moments, noise, measured.low, measured.high)
    else:
        sums = sum_over_count.NoisySums(total, count)
        found = sum_over_count.mean(sums, measured.low, measured.high)
        of_sums = sum_over_count.Scales(*scales)
        least, most = sum_over_count.interval(sums, of_sums, measured.low, measured.high)
    reach = max(found - least, most - found)
    return on_grid(found, measured.grid, release.output_grid, release.aggregate.type, reach)


def _sum(release: FromMoments, plan: BlockPlan, drawn: Mapping[int, NoisyValue]) -> NoisyValue:
    measured = release.measured
    index = shared_moments.total_of(
        drawn[release.total].index, drawn[release.rows].index, measured.low, measured.high
    )
    reach = shared_moments.total_half_width(
        scale_of(plan, release.total), scale_of(plan, release.rows), measured.low, measured.high
    )
    return NoisyValue(index, measured.grid, release.aggregate.type, reach)


def _spread(
    release: FromMoments, squares: int, plan: BlockPlan, drawn: Mapping[int, NoisyValue]
) -> NoisyValue:
    moments = variance.NoisyMoments(
        squares=drawn[squares].index,
        total=drawn[release.total].index,
        count=drawn[release.rows].index,
    )
    noise = variance.Scales(
        squares=scale_of(plan, squares),
        total=scale_of(plan, release.total),
        count=scale_of(plan, release.rows),
    )
    return spread_value(moments, noise, release)
