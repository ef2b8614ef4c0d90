"""MIN, MAX and quantiles by the exponential mechanism, from the values of one group."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence

from proxy.base.slots import Slots
from proxy.exact.table import ExactRow, added_up
from proxy.kernel.plan import OrderStatistic, UnitExtreme
from proxy.mechanisms import discrete_laplace, order_statistic
from proxy.mechanisms.bits import RandomBits
from proxy.mechanisms.order_statistic import ValueCount
from proxy.mechanisms.row_weights import lost_in_group
from proxy.query.ir.query_aggregates import AggregateKind
from proxy.release.drawn_values import DrawnQuantile


def order_statistic_of(
    release: OrderStatistic, slots: Slots, group: Sequence[ExactRow], bits: RandomBits
) -> DrawnQuantile:
    measured, values = release.measured, _value_counts(slots, group)
    low, high, rows = measured.low, measured.high, release.moved
    size = size_of(release, slots, group) + discrete_laplace.sample(bits, release.size.noise.scale)
    epsilon = release.own_loss.epsilon
    match release.aggregate.kind:
        case AggregateKind.MIN:
            found = order_statistic.minimum(values, low, high, epsilon, bits, rows)
        case AggregateKind.MAX:
            found = order_statistic.maximum(values, low, high, epsilon, bits, rows)
        case _:
            fraction = release.aggregate.rank
            found = order_statistic.quantile(values, fraction, low, high, epsilon, bits, rows)
    return DrawnQuantile(found, size=size, lost=_lost(release, size))


def size_of(release: OrderStatistic, slots: Slots, group: Sequence[ExactRow]) -> int:
    """Count the rows of a group, or with weights its units in parts of one: secret.

    Of MIN and MAX values are fetched from one end: as many rows are counted as `needed` says, at most.
    """
    if release.weights is not None:
        return added_up(group, slots.units)
    found = added_up(group, slots.count)
    if release.aggregate.fraction is None and release.needed is not None:
        return min(found, release.needed)
    return found


def _lost(release: OrderStatistic, size: int) -> int:
    """Estimate the rows of a group that weights take away, by its noisy number of units."""
    if release.weights is None:
        return 0
    most = size + discrete_laplace.half_width(release.size.noise.scale)
    return lost_in_group(release.weights, -(-most // release.parts))


def lost_ranks(release: OrderStatistic, lost: int) -> int:
    """By how many rows, in parts, the rank of a quantile is off where weights take away so many rows."""
    rank = release.aggregate.rank
    return math.ceil(max(rank, 1 - rank) * lost * release.parts)


def unit_extreme_of(
    release: UnitExtreme, slots: Slots, group: Sequence[ExactRow], bits: RandomBits
) -> DrawnQuantile:
    """Draw MIN or MAX of the units of one group, from how many of them have their value at which place."""
    one, places, values = release.measured, release.places, _value_counts(slots, group)
    return DrawnQuantile(places.drawn(values, release.loss.epsilon, bits, one.rows))


def kept_units(slots: Slots, group: Sequence[ExactRow]) -> int:
    """Count the units of one group that have a value: secret."""
    return sum(value.count for value in _value_counts(slots, group))


def order_law(
    release: OrderStatistic | UnitExtreme, slots: Slots, group: Sequence[ExactRow]
) -> order_statistic.Law:
    """The law of an answer that is drawn by rank for one group: secret."""
    values = _value_counts(slots, group)
    if isinstance(release, UnitExtreme):
        return release.places.law(values, release.loss.epsilon, release.measured.rows)
    measured = release.measured
    low, high, rows = measured.low, measured.high, release.moved
    epsilon, rank = release.own_loss.epsilon, release.aggregate.rank
    match release.aggregate.kind:
        case AggregateKind.MIN:
            return order_statistic.minimum_law(values, low, high, epsilon, rows)
        case AggregateKind.MAX:
            return order_statistic.maximum_law(values, low, high, epsilon, rows)
        case _:
            return order_statistic.quantile_law(values, rank, low, high, epsilon, rows)


def _value_counts(slots: Slots, group: Sequence[ExactRow]) -> list[ValueCount]:
    """Two sessions that read half of the units each have a row of the same value each."""
    assert slots.extreme is not None and slots.count is not None
    found: Counter[int] = Counter()
    for row in group:
        index, count = row.values[slots.extreme], row.values[slots.count]
        if index is not None and count:
            found[index] += count
    return [ValueCount(index, count) for index, count in sorted(found.items())]
