"""MIN and MAX of rows and quantiles as releases, and the further quantiles that their intervals take."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from fractions import Fraction

from proxy.kernel.bound_choices import WeightChoice
from proxy.kernel.plan import GroupSize, OrderStatistic, RankInterval, Release
from proxy.kernel.sensitivities import OF_CELLS, laplace
from proxy.kernel.sensitivities import of_size as size_sensitivity
from proxy.mechanisms import order_statistic, private_bound, rank_interval
from proxy.mechanisms.loss import Loss
from proxy.mechanisms.row_weights import WeightedRows
from proxy.planner.measuring import MeasureContext, Priced, is_weighted, measured_of
from proxy.query.ir.query_aggregates import Aggregate

_STEPS = 2**16  # grid points of an order statistic: so many values may be fetched at most
# Of a release whose interval is asked for: one end of MIN and MAX, and two ends, which aim far outside.
_OF_END, _OF_ENDS = Fraction(3, 10), Fraction(1, 2)
_OF_SIZE = Fraction(6, 100)  # of a release: for the number of its rows
# Scales of the noise of a size: so many rows more are fetched, that many rows are not taken for too few.
_SIZE_SEEN = 12
_OF_WEIGHTS = Fraction(
    1, 10
)  # of what quantiles may spend together: for the bound of their weights


def order_release(aggregate: Aggregate, priced: Priced) -> OrderStatistic:
    """
    Gives    with an interval where the statement asks for it: then 30 % of the loss are for one end of
             it, half for two ends
    Source   basic composition of the answer and the ends of its interval, over the same rows
    """
    context = priced.context
    measured = measured_of(aggregate, context, _STEPS)
    # Rows of one unit are cut to `rows` of them over all groups, whatever a group may hold.
    rows, weights = context.neighbours.rows, None
    if is_weighted(aggregate, context):
        rows = context.weight_bound or rows
        weights = WeightedRows(bound=rows, units=0, rows=0, lost=0)
    loss = Loss(priced.loss.epsilon, Fraction(0))
    of_size = Loss(loss.epsilon * _OF_SIZE, Fraction(0))
    moved = size_sensitivity(rows, is_weighted=weights is not None)
    release = OrderStatistic(
        aggregate=aggregate,
        measured=replace(measured, rows=rows),
        needed=None,
        loss=loss,
        size=GroupSize(noise=laplace(moved, of_size.epsilon), loss=of_size),
        interval=rank_interval_of(aggregate, loss, priced.level),
        weights=weights,
    )
    return replace(release, needed=_needed(release))


def weight_choice(releases: Sequence[Release], context: MeasureContext, loss: Loss) -> WeightChoice:
    """Plan the histogram by which the bound of weights is chosen.

    Args:
        releases: Of the block, some of which are quantiles with weights.
        context: Of the block.
        loss: What it may spend.
    """
    found = [
        number
        for number, release in enumerate(releases)
        if isinstance(release, OrderStatistic) and release.weights is not None
    ]
    assert context.most_rows is not None, "a bound is chosen"
    return WeightChoice(
        number=found[0],
        releases=frozenset(found),
        bounds=private_bound.bounds_up_to(context.most_rows),
        cells=Loss(loss.epsilon, Fraction(0)),
        scale=laplace(OF_CELLS, loss.epsilon).scale,
    )


def weights_of_choice(
    aggregates: Sequence[Aggregate], independent: Mapping[int, Fraction], context: MeasureContext
) -> tuple[dict[int, Fraction], Fraction]:
    """Take the part of the histogram out of the weights of quantiles.

    Args:
        aggregates: Of one block.
        independent: Weights of those that are releases of their own, by number.
        context: Of the block.

    Returns:
        The weights with what is left, and that of the histogram: 0 without one. Together they are what was
        given.
    """
    left, of_choice = dict(independent), Fraction(0)
    for number, weight in independent.items():
        if is_weighted(aggregates[number], context):
            of_choice += weight * _OF_WEIGHTS
            left[number] = weight * (1 - _OF_WEIGHTS)
    return left, of_choice


def rank_interval_of(
    aggregate: Aggregate, loss: Loss, level: Fraction | None
) -> RankInterval | None:
    """Plan the interval that a statement asks for; None where it asks for none."""
    if level is None:
        return None
    ends = 1 if aggregate.rank in (0, 1) else 2  # beyond the ends of the values there is no rank
    each = loss.epsilon * (_OF_END if ends == 1 else _OF_ENDS / ends)
    return RankInterval(level=level, ends=ends, each=Loss(each, Fraction(0)))


def _needed(release: OrderStatistic) -> int:
    """Rows that the answer, its interval and its size look at."""
    steps, rows = release.measured.width, release.moved
    epsilon, fraction = release.own_loss.epsilon, release.aggregate.fraction
    if fraction is None:
        needed = order_statistic.values_needed(steps, epsilon, rows)
        needed += math.ceil(_SIZE_SEEN * release.size.noise.scale)
    else:
        needed = order_statistic.quantile_half_width(steps, epsilon, fraction, rows)
    found = release.interval
    if found is None:
        return needed
    epsilon, rank = found.each.epsilon, release.aggregate.rank
    end = (steps, epsilon, rank, found.missed, rows, release.parts)
    return max(needed, rank_interval.rows_needed(*end))
