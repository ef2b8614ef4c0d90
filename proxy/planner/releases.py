"""How each aggregate of a block becomes private: mechanism, sensitivity, noise, by the policy's choice."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from functools import lru_cache

from typing_extensions import assert_never

from proxy.mechanisms import discrete_gaussian, discrete_laplace, order_statistic, zcdp
from proxy.mechanisms.loss import Loss
from proxy.planner import grids
from proxy.planner.bounds import condition
from proxy.planner.measuring import Context, condition_of, measured_of, mechanism_of, never_null
from proxy.planner.partitioned import clipped_mean_of, needs_delta, smoothed
from proxy.planner.plan import (
    GaussianNoise,
    LaplaceNoise,
    Noise,
    NoisyCount,
    NoisyDistinct,
    NoisyMean,
    NoisySum,
    NoisyVariance,
    OrderStatistic,
    Release,
    RowNeighbours,
)
from proxy.planner.text_lengths import is_long
from proxy.policy import model
from proxy.policy.model import Mechanism
from proxy.query.ir.expressions import ColumnRef
from proxy.query.ir.query_aggregates import Aggregate, AggregateKind

_ORDER_STEPS = 2**16  # grid points of an order statistic: so many values may be fetched at most


def plan_release(aggregate: Aggregate, context: Context) -> Release:
    """
    Given    aggregate: with its columns in the types that they have in the backend
    Refuses  NO_BOUNDS, UNSUPPORTED, INFEASIBLE
    """
    match aggregate.kind:
        case AggregateKind.COUNT_ROWS | AggregateKind.COUNT:
            operand = aggregate.operand
            if operand is not None:
                operand = condition(operand, context.facts)
            noise, loss = _noise(context, context.rows, context.cells_moved)
            only = condition_of(aggregate, context)
            filled = operand is not None and never_null(operand, context)
            return NoisyCount(aggregate, operand, only, context.rows, noise, loss, filled)
        case AggregateKind.COUNT_DISTINCT:
            return _distinct(aggregate, context)
        case AggregateKind.SUM:
            return _sum(aggregate, context)
        case AggregateKind.AVG:
            return _average(aggregate, context)
        case AggregateKind.MIN | AggregateKind.MAX:
            best = mechanism_of(aggregate, context).of_extremes is Mechanism.BEST
            return _order(aggregate, context) if best else smoothed(aggregate, context)
        case AggregateKind.QUANTILE_CONT | AggregateKind.QUANTILE_DISC:
            return _order(aggregate, context)
        case (
            AggregateKind.VAR_POP
            | AggregateKind.VAR_SAMP
            | AggregateKind.STDDEV_POP
            | AggregateKind.STDDEV_SAMP
        ):
            return _variance(aggregate, context)
        case _:
            assert_never(aggregate.kind)


def _noise(context: Context, sensitivity: int, squared: Fraction) -> tuple[Noise, Loss]:
    """Noise for integer results, and what it costs.

    Given    L1 and squared L2 sensitivity over all groups
    Source   docs/design/mechanisms.md 2.4, 3.2; the policy chooses
    """
    share = context.loss
    match context.privacy.noise:
        case model.Noise.LAPLACE:
            scale = discrete_laplace.scale_for(sensitivity, share.epsilon)
            better = _gaussian_instead(share, sensitivity, squared)
            return LaplaceNoise(scale, better), Loss(share.epsilon, Fraction(0))
        case model.Noise.GAUSSIAN:
            if share.delta <= 0:
                raise needs_delta("Gaussian noise")
            rho = zcdp.rho_of_loss(share.epsilon, share.delta)
            return GaussianNoise(discrete_gaussian.sigma2_for(squared, rho)), share
        case _:
            assert_never(context.privacy.noise)


@lru_cache(maxsize=256)  # the search for zCDP's rho takes a millisecond, and policies ask for few
def _gaussian_instead(share: Loss, sensitivity: int, squared: Fraction) -> Fraction | None:
    """Sigma squared of Gaussian noise, where it would be smaller than the Laplace noise of the same share.

    L1 = G d and squared L2 = G d^2 of G groups that are moved by d each.
    """
    groups = int(sensitivity**2 / squared)
    if groups < 2 or share.delta <= 0:
        return None
    if not zcdp.gaussian_pays(groups, share.epsilon, share.delta, squared / sensitivity):
        return None
    return discrete_gaussian.sigma2_for(squared, zcdp.rho_of_loss(share.epsilon, share.delta))


def _average(aggregate: Aggregate, context: Context) -> Release:
    match mechanism_of(aggregate, context):
        case Mechanism.SMOOTH_MEDIAN:
            return smoothed(aggregate, context)
        case Mechanism.BEST:
            return _mean(aggregate, context)
        case Mechanism.CLIPPED_MEAN:
            return clipped_mean_of(aggregate, context)
        case Mechanism.SUM_OVER_COUNT:
            raise AssertionError("made of shared sums (planner.sharing)")
        case never:
            assert_never(never)


def _distinct(aggregate: Aggregate, context: Context) -> NoisyDistinct:
    """
    Source   docs/design/mechanisms.md 2.3: one unit adds at most `rows` values; counted units move by one
             per group
    """
    assert aggregate.operand is not None
    operand = condition(aggregate.operand, context.facts)
    of_unit = isinstance(operand, ColumnRef) and _is_unit(operand, context)
    # Values of one unit are cut to `rows` of them over all groups, whatever a group may hold.
    sensitivity = context.groups if of_unit else context.neighbours.rows
    squared = Fraction(sensitivity if of_unit else sensitivity**2)
    noise, loss = _noise(context, sensitivity, squared)
    only = condition_of(aggregate, context)
    long = not of_unit and is_long(operand, context.facts)
    return NoisyDistinct(aggregate, operand, only, of_unit, sensitivity, noise, loss, long)


def _is_unit(column: ColumnRef, context: Context) -> bool:
    """Whether a column holds the very unit that is protected."""
    neighbours = context.neighbours
    if isinstance(neighbours, RowNeighbours) and neighbours.not_null is None:
        return False
    return context.facts[column.relation, column.column].is_unit


def _sum(aggregate: Aggregate, context: Context) -> NoisySum:
    measured = measured_of(aggregate, context)
    largest = max(1, abs(measured.low), abs(measured.high))
    sensitivity = context.rows * largest
    noise, loss = _noise(context, sensitivity, context.cells_moved * largest**2)
    return NoisySum(aggregate, measured, sensitivity, noise, loss)


def _mean(aggregate: Aggregate, context: Context) -> NoisyMean:
    measured = measured_of(aggregate, context)
    fine = grids.of_average(measured.grid, measured.clamp)
    loss = Loss(context.loss.epsilon, Fraction(0))
    return NoisyMean(aggregate, measured, fine / 1000, loss)


def _variance(aggregate: Aggregate, context: Context) -> NoisyVariance:
    measured = measured_of(aggregate, context)
    fine = grids.of_average(measured.grid, measured.clamp)
    loss = Loss(context.loss.epsilon, Fraction(0))
    return NoisyVariance(aggregate, measured, fine / 1000, loss)


def _order(aggregate: Aggregate, context: Context) -> OrderStatistic:
    measured = measured_of(aggregate, context, _ORDER_STEPS)
    # Rows of one unit are cut to `rows` of them over all groups, whatever a group may hold.
    measured = replace(measured, rows=context.neighbours.rows)
    loss = Loss(context.loss.epsilon, Fraction(0))
    steps, rows = measured.high - measured.low, measured.rows
    if aggregate.fraction is None:
        needed = order_statistic.values_needed(steps, loss.epsilon, rows)
    else:
        needed = order_statistic.quantile_reach(steps, loss.epsilon, aggregate.fraction, rows)
    return OrderStatistic(aggregate, measured, needed, loss)
