"""MIN and MAX of rows and quantiles as releases."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from fractions import Fraction

from proxy.kernel.bound_choices import WeightChoice
from proxy.kernel.plan import GroupSize, OrderStatistic, Release
from proxy.kernel.sensitivities import OF_CELLS, laplace
from proxy.kernel.sensitivities import of_size as size_sensitivity
from proxy.mechanisms import order_statistic, private_bound
from proxy.mechanisms.loss import Loss
from proxy.mechanisms.row_weights import WeightedRows
from proxy.planner.measuring import MeasureContext, Priced, is_weighted, measured_of
from proxy.query.ir.query_aggregates import Aggregate

_STEPS = 2**16  # grid points of an order statistic: so many values may be fetched at most
_OF_SIZE = Fraction(6, 100)  # of a release: for the number of its rows
# Scales of the noise of a size: so many rows more are fetched, that many rows are not taken for too few.
_SIZE_SEEN = 12
_OF_WEIGHTS = Fraction(
    1, 10
)  # of what quantiles may spend together: for the bound of their weights


def order_release(aggregate: Aggregate, priced: Priced) -> OrderStatistic:
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


def _needed(release: OrderStatistic) -> int:
    """Rows that the answer and its size look at."""
    steps, rows = release.measured.width, release.moved
    epsilon, fraction = release.own_loss.epsilon, release.aggregate.fraction
    if fraction is not None:
        return order_statistic.quantile_half_width(steps, epsilon, fraction, rows)
    needed = order_statistic.values_needed(steps, epsilon, rows)
    return needed + math.ceil(_SIZE_SEEN * release.size.noise.scale)
