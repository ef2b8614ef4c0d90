"""MIN and MAX of rows and quantiles as releases."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import TypeAlias

from proxy.kernel.bound_choices import WeightChoice
from proxy.kernel.neighbour_kinds import UnitNeighbours
from proxy.kernel.plan import GroupSize, KeptUnits, OrderStatistic, Release, UnitExtreme
from proxy.kernel.sensitivities import OF_CELLS, laplace, of_kept_units
from proxy.kernel.sensitivities import of_size as size_sensitivity
from proxy.kernel.statistics import Measured
from proxy.mechanisms import order_statistic, private_bound
from proxy.mechanisms.loss import Loss
from proxy.mechanisms.row_weights import WeightedRows
from proxy.planner.measuring import (
    MeasureContext,
    Priced,
    is_unit_extreme,
    is_weighted,
    measured_of,
    never_null,
)
from proxy.planner.open_values import RangeEnd, is_open_end, kept_facts
from proxy.query.ir.expressions import Expression
from proxy.query.ir.query_aggregates import Aggregate, AggregateKind

_ROW_STEPS = 2**16  # grid points of an order statistic: so many values may be fetched at most
_OF_SIZE = Fraction(6, 100)  # of a release: for the number of its rows
# Scales of the noise of a size: so many rows more are fetched, that many rows are not taken for too few.
_SIZE_SEEN = 12
_OF_WEIGHTS = Fraction(
    1, 10
)  # of what quantiles may spend together: for the bound of their weights


def order_release(aggregate: Aggregate, priced: Priced) -> OrderStatistic:
    context = priced.context
    measured = measured_of(aggregate, context, _ROW_STEPS)
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


# MIN and MAX of identified units as releases, and the number of units that they are of.


# Of what MIN and MAX of one operand may spend together: for the number of units that have a value.
_OF_UNITS = Fraction(6, 100)
_UNIT_STEPS = 2**40  # of the grid: more than places tell apart, and fewer than indices may be
# Which units have a value: those with a row in which no operand is NULL that could be, by FILTER.
ValuedRows: TypeAlias = "tuple[frozenset[Expression], Expression | None]"


def valued_rows(aggregate: Aggregate, context: MeasureContext) -> ValuedRows:
    """Say which rows give a unit a value. Minima and maxima of equal rows share the number of units."""
    operands = (one for one in aggregate.operands if not never_null(one, context))
    return frozenset(operands), aggregate.condition


def unit_weights(
    aggregates: Sequence[Aggregate], independent: Mapping[int, Fraction], context: MeasureContext
) -> tuple[dict[int, Fraction], dict[ValuedRows, Fraction]]:
    """Take the part of the numbers of units out of the weights of minima and maxima.

    Args:
        aggregates: Of one block.
        independent: Weights of those that are releases of their own, by number.
        context: Of the block.

    Returns:
        The weights with what is left, and those of the numbers of units. Together they are what was given.
    """
    left, of_units = dict(independent), dict[ValuedRows, Fraction]()
    for number, weight in independent.items():
        if is_unit_extreme(aggregates[number], context):
            rows = valued_rows(aggregates[number], context)
            of_units[rows] = of_units.get(rows, Fraction(0)) + weight * _OF_UNITS
            left[number] = weight * (1 - _OF_UNITS)
    return left, of_units


def unit_extreme(aggregate: Aggregate, priced: Priced) -> UnitExtreme:
    """Plan MIN or MAX of one value for each unit and group.

    Raises:
        Refusal: As measuring the operand does.
    """
    return UnitExtreme(
        aggregate=aggregate,
        measured=_of_one_value(aggregate, priced.context),
        keeps_one_group=_keeps_one_group(priced.context),
        loss=Loss(priced.loss.epsilon, Fraction(0)),
        is_open=_is_open(aggregate, priced.context),
    )


def _is_open(aggregate: Aggregate, context: MeasureContext) -> bool:
    """Whether its end is that of a total of as many rows as a unit may have. An interval that ends with it
    would say nothing."""
    (operand,) = aggregate.operands
    side = RangeEnd.HIGH if aggregate.kind is AggregateKind.MAX else RangeEnd.LOW
    return is_open_end(operand, context.facts_of(aggregate), kept_facts(context.facts), side)


def kept_units(first: Aggregate, context: MeasureContext, loss: Loss) -> KeptUnits:
    """Plan the number of units that have a value in a group.

    Args:
        first: Of the minima and maxima that it is for.
        context: Of the block.
        loss: What it may spend.
    """
    keeps_one_group = _keeps_one_group(context)
    moved = of_kept_units(context.shape, keeps_one_group=keeps_one_group)
    return KeptUnits(
        aggregate=first,
        measured=_of_one_value(first, context),
        keeps_one_group=keeps_one_group,
        noise=laplace(moved, loss.epsilon),
        loss=Loss(loss.epsilon, Fraction(0)),
    )


def _of_one_value(aggregate: Aggregate, context: MeasureContext) -> Measured:
    return replace(measured_of(aggregate, context, _UNIT_STEPS), rows=1)


def _keeps_one_group(context: MeasureContext) -> bool:
    """A unit that may have rows in several groups keeps one of them. With more of them each group would lose as
    many ranks as it gains units."""
    is_of_units = isinstance(context.neighbours, UnitNeighbours)
    return is_of_units and context.shape.is_spread and context.shape.reach != 1
