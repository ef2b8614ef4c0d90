"""How each aggregate of a block becomes private: mechanism, sensitivity, noise, by the policy's choice."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from fractions import Fraction

from typing_extensions import assert_never

from proxy.base.errors import Code, Refusal
from proxy.mechanisms import (
    discrete_gaussian,
    discrete_laplace,
    order_statistic,
    polyplace,
    smoothed_median,
    split,
    zcdp,
)
from proxy.mechanisms.loss import Loss
from proxy.planner import grids
from proxy.planner.bounds import bounded, condition
from proxy.planner.facts import Facts
from proxy.planner.plan import (
    GaussianNoise,
    LaplaceNoise,
    Measured,
    Neighbours,
    Noise,
    NoisyCount,
    NoisyDistinct,
    NoisyMean,
    NoisySum,
    NoisyVariance,
    OrderStatistic,
    Release,
    RowNeighbours,
    SmoothedMedian,
    UnitNeighbours,
)
from proxy.policy import model
from proxy.policy.model import Bounds, Mechanism, MedianNoise, Privacy
from proxy.query.expressions import ColumnRef, Expression
from proxy.query.query_aggregates import Aggregate, AggregateKind

# Grid indices stay exact in the floats of smooth sensitivity (mechanisms/PROOFS.md).
_LARGEST_INDEX = 2**52
_LARGEST_DELTA = Fraction(7, 10)  # the smoothed median is proven for delta <= 2/e
_ORDER_STEPS = 2**16  # grid points of an order statistic: so many values may be fetched at most


@dataclass(frozen=True, slots=True)
class Context:
    """What planning one block's releases needs to know."""

    facts: Facts
    neighbours: Neighbours
    groups: int  # at most so many groups hold rows of one unit
    loss: Loss  # of one release
    privacy: Privacy

    @property
    def rows(self) -> int:
        """At most so many rows of one unit count, over all groups."""
        match self.neighbours:
            case RowNeighbours():
                return self.neighbours.rows
            case UnitNeighbours():
                per_group = self.neighbours.rows_per_group
                if per_group is None:
                    return self.neighbours.rows
                return self.groups * min(self.neighbours.rows, per_group)
            case _:
                assert_never(self.neighbours)

    @property
    def cells_moved(self) -> Fraction:
        """Squared L2 sensitivity of a count over all groups, in rows."""
        match self.neighbours:
            case UnitNeighbours(rows_per_group=int() as per_group):
                return Fraction(self.groups * min(self.neighbours.rows, per_group) ** 2)
            case _:
                return Fraction(self.rows**2)  # all rows of the unit may be in one group


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
            only = _condition(aggregate, context)
            filled = operand is not None and _never_null(operand, context)
            return NoisyCount(aggregate, operand, only, context.rows, noise, loss, filled)
        case AggregateKind.COUNT_DISTINCT:
            return _distinct(aggregate, context)
        case AggregateKind.SUM:
            return _sum(aggregate, context)
        case AggregateKind.AVG:
            best = _mechanism(aggregate, context) is Mechanism.BEST
            return _mean(aggregate, context) if best else _median(aggregate, context)
        case AggregateKind.MIN | AggregateKind.MAX:
            best = _mechanism(aggregate, context) is Mechanism.BEST
            return _order(aggregate, context) if best else _median(aggregate, context)
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


def _condition(aggregate: Aggregate, context: Context) -> Expression | None:
    if aggregate.condition is None:
        return None
    return condition(aggregate.condition, context.facts)


def _mechanism(aggregate: Aggregate, context: Context) -> Mechanism:
    """The column's, else the policy's."""
    operand = aggregate.operand
    if isinstance(operand, ColumnRef):
        own = context.facts[operand.relation, operand.column].mechanism
        if own is not None:
            return own
    return context.privacy.mechanism


def _noise(context: Context, sensitivity: int, squared: Fraction) -> tuple[Noise, Loss]:
    """Noise for integer results, and what it costs.

    Given    L1 and squared L2 sensitivity over all groups
    Source   MECHANISMS 4.1, 4.5; the policy chooses
    """
    share = context.loss
    match context.privacy.noise:
        case model.Noise.LAPLACE:
            scale = discrete_laplace.scale_for(sensitivity, share.epsilon)
            return LaplaceNoise(scale), Loss(share.epsilon, Fraction(0))
        case model.Noise.GAUSSIAN:
            if share.delta <= 0:
                raise _needs_delta("Gaussian noise")
            rho = zcdp.rho_of_loss(share.epsilon, share.delta)
            return GaussianNoise(discrete_gaussian.sigma2_for(squared, rho)), share
        case _:
            assert_never(context.privacy.noise)


def _needs_delta(what: str) -> Refusal:
    return Refusal(
        Code.INFEASIBLE,
        f"{what} needs a delta above 0 and below {float(_LARGEST_DELTA)}",
        "SET dp.delta to a small positive number, or use count and sum.",
    )


def _distinct(aggregate: Aggregate, context: Context) -> NoisyDistinct:
    """
    Source   MECHANISMS 4.12: one unit adds at most `rows` values; counted units move by one per group
    """
    assert aggregate.operand is not None
    operand = condition(aggregate.operand, context.facts)
    of_unit = isinstance(operand, ColumnRef) and _is_unit(operand, context)
    # Values of one unit are cut to `rows` of them over all groups, whatever a group may hold.
    sensitivity = context.groups if of_unit else context.neighbours.rows
    squared = Fraction(sensitivity if of_unit else sensitivity**2)
    noise, loss = _noise(context, sensitivity, squared)
    only = _condition(aggregate, context)
    return NoisyDistinct(aggregate, operand, only, of_unit, sensitivity, noise, loss)


def _is_unit(column: ColumnRef, context: Context) -> bool:
    """Whether a column holds the very unit that is protected."""
    neighbours = context.neighbours
    if isinstance(neighbours, RowNeighbours) and neighbours.not_null is None:
        return False
    return context.facts[column.relation, column.column].is_unit


def _sum(aggregate: Aggregate, context: Context) -> NoisySum:
    measured = _measured(aggregate, context)
    largest = max(1, abs(measured.low), abs(measured.high))
    sensitivity = context.rows * largest
    noise, loss = _noise(context, sensitivity, context.cells_moved * largest**2)
    return NoisySum(aggregate, measured, sensitivity, noise, loss)


def _measured(aggregate: Aggregate, context: Context, steps: int | None = None) -> Measured:
    """The operand, its clamp at the aggregate (whole grid steps inside its bounds) and its grid.

    steps: no more of them; None: as many as the grid gives.
    """
    assert aggregate.operand is not None
    kind = aggregate.operand.type
    if kind is not None and kind.is_time and not isinstance(aggregate.operand, ColumnRef):
        raise Refusal(
            Code.UNSUPPORTED,
            f"{aggregate.kind.value} of an expression of {kind.sql} is not available",
            "Take the plain column, with the condition in FILTER (WHERE ...).",
        )
    found = bounded(aggregate.operand, context.facts)
    interval = found.interval or Bounds(Fraction(0), Fraction(0))
    grid = grids.of_expression(found.expression, interval, context.facts)
    while steps is not None and (interval.high - interval.low) / grid > steps:
        grid *= 10
    low, high = math.ceil(interval.low / grid), math.floor(interval.high / grid)
    if low > high:  # bounds within one step: the nearest step, so that something can be said
        low = high = round(interval.low / grid)
    _check_size(low, high)
    only = _condition(aggregate, context)
    return Measured(
        found.expression,
        only,
        Bounds(low * grid, high * grid),
        grid,
        context.rows,
        never_null=_never_null(aggregate.operand, context),
        on_grid=_on_grid(aggregate.operand, grid, context),
    )


def _on_grid(operand: Expression, grid: Fraction, context: Context) -> bool:
    if not isinstance(operand, ColumnRef):
        return False
    step = context.facts[operand.relation, operand.column].step
    return step is not None and (step / grid).denominator == 1


def _never_null(operand: Expression, context: Context) -> bool:
    if not isinstance(operand, ColumnRef):
        return False
    return not context.facts[operand.relation, operand.column].nullable


def _check_size(low: int, high: int) -> None:
    if max(abs(low), abs(high)) > _LARGEST_INDEX:
        raise Refusal(
            Code.UNSUPPORTED,
            "the values of this expression are too large for its grid",
            "Scale the expression down, or ask the data owner for a coarser grid.",
        )


def _mean(aggregate: Aggregate, context: Context) -> NoisyMean:
    measured = _measured(aggregate, context)
    fine = grids.of_average(measured.grid, measured.clamp)
    loss = Loss(context.loss.epsilon, Fraction(0))
    return NoisyMean(aggregate, measured, fine / 1000, loss)


def _variance(aggregate: Aggregate, context: Context) -> NoisyVariance:
    measured = _measured(aggregate, context)
    fine = grids.of_average(measured.grid, measured.clamp)
    loss = Loss(context.loss.epsilon, Fraction(0))
    return NoisyVariance(aggregate, measured, fine / 1000, loss)


def _order(aggregate: Aggregate, context: Context) -> OrderStatistic:
    measured = _measured(aggregate, context, _ORDER_STEPS)
    # Rows of one unit are cut to `rows` of them over all groups, whatever a group may hold.
    measured = replace(measured, rows=context.neighbours.rows)
    loss = Loss(context.loss.epsilon, Fraction(0))
    steps, rows = measured.high - measured.low, measured.rows
    if aggregate.fraction is None:
        needed = order_statistic.values_needed(steps, loss.epsilon, rows)
    else:
        needed = order_statistic.quantile_reach(steps, loss.epsilon, aggregate.fraction, rows)
    return OrderStatistic(aggregate, measured, needed, loss)


def _median(aggregate: Aggregate, context: Context) -> SmoothedMedian:
    measured = _measured(aggregate, context)
    output_grid = measured.grid
    if aggregate.kind is AggregateKind.AVG:
        output_grid = grids.of_average(measured.grid, measured.clamp)
    low = math.ceil(measured.clamp.low / output_grid)
    high = math.floor(measured.clamp.high / output_grid)
    _check_size(low, high)
    fill = {
        AggregateKind.AVG: (low + high) // 2,
        AggregateKind.MIN: high,
        AggregateKind.MAX: low,
    }[aggregate.kind]
    is_polyplace = context.privacy.median_noise is MedianNoise.POLYPLACE
    loss = context.loss
    if is_polyplace:  # no delta is needed
        loss = Loss(loss.epsilon, Fraction(0))
    match context.neighbours:
        case RowNeighbours():
            each = split.per_unit(loss, context.neighbours.partitions_of(context.groups))
        case UnitNeighbours():
            each = split.per_group(loss, context.groups)
        case _:
            assert_never(context.neighbours)
    m = _partitions(aggregate, context, high - low, each, is_polyplace)
    return SmoothedMedian(
        aggregate, measured, output_grid, low, high, fill, m, is_polyplace, loss, each
    )


def _partitions(
    aggregate: Aggregate, context: Context, steps: int, each: Loss, is_polyplace: bool
) -> int:
    """The policy's number for a plain column, else the adopted rule (MECHANISMS 3)."""
    if not is_polyplace and not 0 < each.delta <= _LARGEST_DELTA:
        raise _needs_delta(aggregate.kind.value)
    m = None
    if isinstance(aggregate.operand, ColumnRef):
        m = context.facts[aggregate.operand.relation, aggregate.operand.column].partitions
    if m is None and is_polyplace:
        kappa = 2 if aggregate.kind is AggregateKind.AVG else 1
        m = polyplace.partitions(each.epsilon, max(1, steps), kappa)
    elif m is None:
        m = smoothed_median.partitions(each.epsilon, each.delta, max(1, steps))
    # With one possible answer there is nothing to hide: the release is that constant.
    if steps > 0 and not _is_feasible(steps, m, each, is_polyplace):
        raise Refusal(
            Code.INFEASIBLE,
            f"{aggregate.kind.value} cannot be answered at this epsilon: the noise would cover the whole range",
            "Ask for fewer aggregates or groups at once, or SET dp.epsilon higher if the policy allows it.",
        )
    return m


def _is_feasible(steps: int, m: int, each: Loss, is_polyplace: bool) -> bool:
    if is_polyplace:
        return polyplace.feasible(steps, m, each.epsilon)
    return smoothed_median.feasible(steps, m, each.epsilon, each.delta)
