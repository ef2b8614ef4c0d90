"""How an aggregate by itself becomes private: mechanism, sensitivity, noise, by the policy's choice."""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction
from functools import lru_cache
from typing import TypeVar

from typing_extensions import assert_never

from proxy.kernel.bound_choices import UnitTotal
from proxy.kernel.neighbour_kinds import RowNeighbours, UnitNeighbours
from proxy.kernel.plan import (
    DeviationMean,
    DistinctCount,
    Noise,
    NoisyStatistic,
    RecentredMean,
    Release,
)
from proxy.kernel.sensitivities import Sensitivity, gaussian, laplace, of_distinct, of_sum, of_total
from proxy.kernel.statistics import Counted, Measured, Statistic, of_row
from proxy.mechanisms import zcdp
from proxy.mechanisms.loss import NOTHING, Loss
from proxy.planner import grids
from proxy.planner.bounds import condition
from proxy.planner.measuring import (
    GivenTotal,
    MeasureContext,
    Priced,
    column_facts,
    condition_of,
    given_total,
    is_of_deviations,
    measured_of,
    mechanism_of,
    never_null,
    operands_of,
)
from proxy.planner.neighbours import PARTS, chosen_total, noise_loss
from proxy.planner.order_statistics import order_release, unit_extreme
from proxy.planner.sample_aggregate import clipped_mean_of, needs_delta, smoothed
from proxy.planner.series import noise_of_series, of_no_series, without_row_bound
from proxy.planner.text_lengths import is_long
from proxy.policy import policy_model
from proxy.policy.policy_model import Mechanism
from proxy.query.ir.expressions import ColumnRef
from proxy.query.ir.query_aggregates import Aggregate, AggregateKind

_SERIES = (
    AggregateKind.COUNT_ROWS,
    AggregateKind.COUNT,
    AggregateKind.SUM,
    AggregateKind.COUNT_DISTINCT,
)
_SHARED = "made of shared sums (planner/budget_allocation.py)"


def plan_release(aggregate: Aggregate, priced: Priced) -> Release:
    """A release of its own: what shares sums with nobody, or is not made of sums.

    Given    aggregate: with its columns in the types that they have in the backend
    Refuses  NO_BOUNDS, UNSUPPORTED, INFEASIBLE
    """
    context = priced.context
    if context.series is not None and aggregate.kind not in _SERIES:
        raise of_no_series()
    match aggregate.kind:
        case AggregateKind.COUNT_ROWS | AggregateKind.COUNT:
            return _statistic(aggregate, Statistic.ROWS, _counted(aggregate, context), priced)
        case AggregateKind.SUM:
            measured = operands_of(aggregate, context)
            return _statistic(aggregate, Statistic.STEPS, measured, priced)
        case AggregateKind.COUNT_DISTINCT:
            return _distinct(aggregate, priced)
        case AggregateKind.AVG:
            return _average(aggregate, priced)
        case AggregateKind.MIN | AggregateKind.MAX:
            if mechanism_of(aggregate, context).of_extremes is not Mechanism.BEST:
                return smoothed(aggregate, priced)
            if context.has_units:
                return unit_extreme(aggregate, priced)
            return order_release(aggregate, priced)
        case AggregateKind.QUANTILE_CONT | AggregateKind.QUANTILE_DISC:
            return order_release(aggregate, priced)
        case (
            AggregateKind.VAR_POP
            | AggregateKind.VAR_SAMP
            | AggregateKind.STDDEV_POP
            | AggregateKind.STDDEV_SAMP
        ):
            assert is_of_deviations(aggregate, context), _SHARED
            return _mean_of_deviations(aggregate, priced)
        case (
            AggregateKind.COVAR_POP
            | AggregateKind.COVAR_SAMP
            | AggregateKind.CORR
            | AggregateKind.REGR_SLOPE
            | AggregateKind.REGR_INTERCEPT
            | AggregateKind.REGR_R2
        ):
            raise AssertionError(_SHARED)
        case _:
            assert_never(aggregate.kind)


def shared_statistic(
    aggregate: Aggregate,
    statistic: Statistic,
    measured: tuple[Measured, ...],
    context: MeasureContext,
    loss: Loss,
) -> NoisyStatistic:
    """A sum that formulas take: with Laplace noise always, of which their intervals are."""
    if context.series is not None:
        raise of_no_series()
    moved = of_sum(context.shape, statistic, measured)
    return NoisyStatistic(
        aggregate=aggregate,
        statistic=statistic,
        of=measured,
        noise=laplace(moved, loss.epsilon),
        loss=Loss(loss.epsilon, Fraction(0)),
    )


def _statistic(
    aggregate: Aggregate, statistic: Statistic, of: Counted | tuple[Measured, ...], priced: Priced
) -> NoisyStatistic:
    """With the noise that the policy chooses."""
    context = priced.context
    if context.series is not None and (context.most_rows is not None or context.is_unbounded):
        raise without_row_bound()
    total = None if context.series is not None else _total(aggregate, statistic, of, priced)
    if total is not None:
        return _of_total(aggregate, statistic, of, total, priced)
    moved = of_sum(context.shape, statistic, of)
    noise, loss = _noise(priced, moved)
    return _stepwise(
        NoisyStatistic(aggregate=aggregate, statistic=statistic, of=of, noise=noise, loss=loss),
        priced,
    )


def _total(
    aggregate: Aggregate, statistic: Statistic, of: Counted | tuple[Measured, ...], priced: Priced
) -> UnitTotal | None:
    """The bound on what a unit adds, where that is not as many rows as count of the largest values."""
    context = priced.context
    if priced.is_shared or not isinstance(context.neighbours, UnitNeighbours):
        return None
    each = of_row(statistic, () if isinstance(of, Counted) else of)
    parts = PARTS if context.shape.is_spread else 1
    column = column_facts(aggregate, context)
    route, largest = None, None
    if column is not None and column.per_unit is not None and not isinstance(of, Counted):
        given, grid = column.per_unit, of[0].grid
        low, high = math.ceil(given.low / grid), math.floor(given.high / grid)
        route, largest = given_total(aggregate, context), max(-low, high, 1)
        if route is GivenTotal.ROWS:
            return None
    if route is GivenTotal.KEPT:
        return UnitTotal(low=min(0, low), high=max(0, high), parts=parts, choice=None)
    most_rows = context.most_rows
    is_chosen = column is not None and (column.chooses_per_unit or route is GivenTotal.CHOSEN)
    if is_chosen and most_rows is None:
        most_rows = context.shape.rows
    if most_rows is None:
        return None
    bound = context.chosen.get(priced.number)
    return chosen_total(priced.loss, each, most_rows, parts, bound, largest)


def _of_total(
    aggregate: Aggregate,
    statistic: Statistic,
    of: Counted | tuple[Measured, ...],
    total: UnitTotal,
    priced: Priced,
) -> NoisyStatistic:
    """A sum of which what a unit adds is cut."""
    moved = of_total(total)
    choosing = NOTHING if total.choice is None else total.choice.loss
    left = priced.loss if total.choice is None else noise_loss(priced.loss)
    noise, loss = _noise(replace(priced, loss=left), moved)
    return NoisyStatistic(
        aggregate=aggregate,
        statistic=statistic,
        of=of,
        noise=noise,
        loss=loss + choosing,
        total=total,
    )


def _counted(aggregate: Aggregate, context: MeasureContext) -> Counted:
    operand = aggregate.operand
    if operand is not None:
        operand = condition(operand, context.facts)
    only = condition_of(aggregate, context)
    filled = operand is not None and never_null(operand, context)
    return Counted(operand=operand, condition=only, never_null=filled)


def _noise(priced: Priced, moved: Sensitivity) -> tuple[Noise, Loss]:
    """Noise for integer results, and what it costs.

    Source   docs/design/mechanisms.md 2.4, 3.2; the policy chooses
    """
    share, privacy = priced.loss, priced.context.privacy
    match privacy.noise:
        case policy_model.Noise.LAPLACE:
            noise = laplace(moved, share.epsilon)
            better = _gaussian_instead(share, moved)
            return replace(noise, gaussian=better), Loss(share.epsilon, Fraction(0))
        case policy_model.Noise.GAUSSIAN:
            if share.delta <= 0:
                raise needs_delta(
                    "Gaussian noise needs a delta above 0",
                    privacy,
                    "ask the data owner for noise that needs none",
                )
            return gaussian(moved, share), share
        case _:
            assert_never(privacy.noise)


@lru_cache(maxsize=256)  # the search for zCDP's rho takes a millisecond, and policies ask for few
def _gaussian_instead(share: Loss, moved: Sensitivity) -> Fraction | None:
    """Sigma squared of Gaussian noise, where it would be smaller than the Laplace noise of the same share.

    L1 = G d and squared L2 = G d^2 of G groups that are moved by d each.
    """
    groups = int(moved.l1**2 / moved.squared)
    if groups < 2 or share.delta <= 0:
        return None
    if not zcdp.gaussian_pays(groups, share.epsilon, share.delta, moved.squared / moved.l1):
        return None
    return gaussian(moved, share).sigma2


def _average(aggregate: Aggregate, priced: Priced) -> Release:
    match mechanism_of(aggregate, priced.context):
        case Mechanism.SMOOTH_MEDIAN:
            return smoothed(aggregate, priced)
        case Mechanism.BEST:
            if is_of_deviations(aggregate, priced.context):
                return _mean_of_deviations(aggregate, priced)
            return _mean(aggregate, priced)
        case Mechanism.CLIPPED_MEAN:
            return clipped_mean_of(aggregate, priced)
        case Mechanism.SUM_OVER_COUNT:
            raise AssertionError(_SHARED)
        case Mechanism.AUTO:
            raise AssertionError("resolved (planner/measuring.py)")
        case never:
            assert_never(never)


def _distinct(aggregate: Aggregate, priced: Priced) -> DistinctCount:
    context = priced.context
    assert aggregate.operand is not None
    operand = condition(aggregate.operand, context.facts)
    of_unit = isinstance(operand, ColumnRef) and _is_unit(operand, context)
    moved = of_distinct(context.shape, of_unit=of_unit)
    noise, loss = _noise(priced, moved)
    return _stepwise(
        DistinctCount(
            aggregate=aggregate,
            operand=operand,
            condition=condition_of(aggregate, context),
            of_unit=of_unit,
            noise=noise,
            loss=loss,
            is_long=not of_unit and is_long(operand, context.facts),
        ),
        priced,
    )


_Counted = TypeVar("_Counted", NoisyStatistic, DistinctCount)


def _stepwise(release: _Counted, priced: Priced) -> _Counted:
    """With the noise of a series, for all that it may spend, where the statement is one."""
    terms, shape = priced.context.series, priced.context.shape
    if terms is None:
        return release
    noise = noise_of_series(release, shape, terms, priced.loss)
    return replace(release, noise=noise, loss=priced.loss)


def _is_unit(column: ColumnRef, context: MeasureContext) -> bool:
    """Whether a column holds the very unit that is protected."""
    neighbours = context.neighbours
    if isinstance(neighbours, RowNeighbours) and neighbours.not_null is None:
        is_together = neighbours.partitions == 1 and neighbours.hashed_by == (column,)
        if not is_together:
            return False
    return context.facts[column.relation, column.column].is_unit


def _mean_of_deviations(aggregate: Aggregate, priced: Priced) -> DeviationMean:
    context = priced.context
    measured = measured_of(aggregate, context)
    is_square = aggregate.kind in (AggregateKind.VAR_POP, AggregateKind.VAR_SAMP)
    grid = (grids.of_squares if is_square else grids.of_average)(measured.grid, measured.clamp)
    return DeviationMean(
        aggregate=aggregate,
        measured=measured,
        output_grid=grid / 1000,
        # With the policy's bound the number of rows would be cut where deviations are not.
        declared=None,
        loss=Loss(priced.loss.epsilon, Fraction(0)),
        never_null=aggregate.operand is not None and never_null(aggregate.operand, context),
        square_share=priced.square_share,
    )


def _mean(aggregate: Aggregate, priced: Priced) -> RecentredMean:
    measured = measured_of(aggregate, priced.context)
    return RecentredMean(
        aggregate=aggregate,
        measured=measured,
        output_grid=grids.of_average(measured.grid, measured.clamp) / 1000,
        loss=Loss(priced.loss.epsilon, Fraction(0)),
    )
