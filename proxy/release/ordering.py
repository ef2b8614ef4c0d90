"""MIN, MAX and quantiles by the exponential mechanism, from the values of one group."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace

from proxy.base.slots import Slots
from proxy.exact.table import ExactRow, added_up
from proxy.kernel.plan import OrderStatistic, RankInterval, UnitExtreme
from proxy.mechanisms import discrete_laplace, order_statistic, rank_interval
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
    drawn = DrawnQuantile(found, size=size, lost=_lost(release, size))
    if release.interval is None:
        return drawn
    return _between(drawn, release, values, bits)


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


def _between(
    drawn: DrawnQuantile, release: OrderStatistic, values: Sequence[ValueCount], bits: RandomBits
) -> DrawnQuantile:
    """With its interval: between further quantiles, as wide as the noisy value needs, within the bounds.

    Values off the grid were rounded to it, by less than a step. If weights may take away more rows than the
    ends look at, the interval is all of the bounds.
    """
    assert release.interval is not None
    measured, rank, missed = release.measured, release.aggregate.rank, release.interval.missed
    off, index = 0 if measured.on_grid else 1, drawn.index
    law = (rank, measured.low, measured.high, release.interval.each.epsilon, missed)
    least, most = measured.low, measured.high
    outside = rank_interval.ranks_outside(
        measured.width, release.interval.each.epsilon, rank, missed, release.moved, release.parts
    )
    lost = lost_ranks(release, drawn.lost)
    if lost > rank_interval.most_lost(outside):
        return replace(drawn, low=least, high=most)
    of_rows = (release.moved, release.parts, lost)
    if rank > 0:
        least = rank_interval.lower(values, *law, bits, *of_rows) - off
    if rank < 1:
        most = rank_interval.upper(values, *law, bits, *of_rows) + off
    return replace(
        drawn,
        low=min(index, max(least, measured.low)),
        high=max(index, min(most, measured.high)),
    )


def unit_extreme_of(
    release: UnitExtreme, slots: Slots, group: Sequence[ExactRow], bits: RandomBits
) -> DrawnQuantile:
    """Draw MIN or MAX of the units of one group, from how many of them have their value at which place."""
    one, places, values = release.measured, release.places, _value_counts(slots, group)
    found = places.drawn(values, release.own_loss.epsilon, bits, one.rows)
    interval = release.interval
    if interval is None:
        return DrawnQuantile(found)
    end = places.end_drawn(values, interval.each.epsilon, interval.missed, bits, one.rows)
    off = 0 if one.on_grid else 1  # values off the grid were rounded to it, by less than a step
    if places.is_least:
        return DrawnQuantile(found, low=one.low, high=max(found, min(end + off, one.high)))
    return DrawnQuantile(found, low=min(found, max(end - off, one.low)), high=one.high)


def kept_units(slots: Slots, group: Sequence[ExactRow]) -> int:
    """Count the units of one group that have a value: secret."""
    return sum(value.count for value in _value_counts(slots, group))


def order_laws(
    release: OrderStatistic | UnitExtreme, slots: Slots, group: Sequence[ExactRow]
) -> Iterator[order_statistic.Law]:
    """The laws of all that is drawn by rank for one group, its answer first: secret."""
    values = _value_counts(slots, group)
    if isinstance(release, UnitExtreme):
        yield from _laws_of_units(release, values)
    else:
        yield from _laws(release, values)


def _laws_of_units(
    release: UnitExtreme, values: Sequence[ValueCount]
) -> Iterator[order_statistic.Law]:
    yield release.places.law(values, release.own_loss.epsilon, release.measured.rows)
    if release.interval is not None:
        yield from _laws_of_ends(release, release.interval, values, 0, release.places.last)


def _laws(release: OrderStatistic, values: Sequence[ValueCount]) -> Iterator[order_statistic.Law]:
    measured = release.measured
    low, high, rows = measured.low, measured.high, release.moved
    epsilon, rank = release.own_loss.epsilon, release.aggregate.rank
    match release.aggregate.kind:
        case AggregateKind.MIN:
            yield order_statistic.minimum_law(values, low, high, epsilon, rows)
        case AggregateKind.MAX:
            yield order_statistic.maximum_law(values, low, high, epsilon, rows)
        case _:
            yield order_statistic.quantile_law(values, rank, low, high, epsilon, rows)
    if release.interval is not None:
        yield from _laws_of_ends(release, release.interval, values, low, high)


def _laws_of_ends(
    release: OrderStatistic | UnitExtreme,
    interval: RankInterval,
    values: Sequence[ValueCount],
    low: int,
    high: int,
) -> Iterator[order_statistic.Law]:
    """Of the ends of an interval, on the grid low..high."""
    rank, rows, parts = release.aggregate.rank, release.measured.rows, 1
    if isinstance(release, OrderStatistic):
        rows, parts = release.moved, release.parts
    end = (rank, low, high, interval.each.epsilon, interval.missed, rows, parts)
    if rank > 0:
        yield rank_interval.lower_law(values, *end)
    if rank < 1:
        yield rank_interval.upper_law(values, *end)


def _value_counts(slots: Slots, group: Sequence[ExactRow]) -> list[ValueCount]:
    assert slots.extreme is not None and slots.count is not None
    found = ((row.values[slots.extreme], row.values[slots.count]) for row in group)
    known = [(index, count) for index, count in found if index is not None and count]
    return [ValueCount(index, count) for index, count in sorted(known)]
