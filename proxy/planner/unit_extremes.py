"""MIN and MAX of identified units as releases, and the number of units that they are of."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import TypeAlias

from proxy.kernel.neighbour_kinds import UnitNeighbours
from proxy.kernel.plan import KeptUnits, UnitExtreme
from proxy.kernel.sensitivities import laplace, of_kept_units
from proxy.kernel.statistics import Measured
from proxy.mechanisms.loss import Loss
from proxy.planner.measuring import MeasureContext, Priced, is_unit_extreme, measured_of, never_null
from proxy.planner.open_values import RangeEnd, is_open_end, kept_facts
from proxy.query.ir.expressions import Expression
from proxy.query.ir.query_aggregates import Aggregate, AggregateKind

# Of what MIN and MAX of one operand may spend together: for the number of units that have a value.
_OF_UNITS = Fraction(6, 100)
_STEPS = 2**40  # of the grid: more than places tell apart, and fewer than indices may be
# Which units have a value: those with a row in which no operand is NULL that could be, by FILTER.
ValuedRows: TypeAlias = "tuple[frozenset[Expression], Expression | None]"


def valued_rows(aggregate: Aggregate, context: MeasureContext) -> ValuedRows:
    """Say which rows give a unit a value. Minima and maxima of equal rows share the number of units."""
    operands = (one for one in aggregate.operands if not never_null(one, context))
    return frozenset(operands), aggregate.condition


def unit_weights(
    aggregates: Sequence[Aggregate],
    independent: Mapping[int, Fraction],
    context: MeasureContext,
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
    return replace(measured_of(aggregate, context, _STEPS), rows=1)


def _keeps_one_group(context: MeasureContext) -> bool:
    """A unit that may have rows in several groups keeps one of them. With more of them each group would lose as
    many ranks as it gains units."""
    is_of_units = isinstance(context.neighbours, UnitNeighbours)
    return is_of_units and context.shape.is_spread and context.shape.reach != 1
