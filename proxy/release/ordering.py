"""MIN, MAX and quantiles by the exponential mechanism, from the values of one group."""

from __future__ import annotations

from collections.abc import Sequence

from proxy.base.slots import Slots
from proxy.exact.table import ExactRow
from proxy.mechanisms import order_statistic
from proxy.mechanisms.bits import RandomBits
from proxy.planner.plan import OrderStatistic
from proxy.query.ir.query_aggregates import AggregateKind
from proxy.release.noisy_relation import NoisyValue


def order_statistic_of(
    release: OrderStatistic, slots: Slots, group: Sequence[ExactRow], bits: RandomBits
) -> NoisyValue:
    measured, values = release.measured, _value_counts(slots, group)
    low, high, epsilon, rows = measured.low, measured.high, release.loss.epsilon, measured.rows
    match release.aggregate.kind:
        case AggregateKind.MIN:
            found = order_statistic.minimum(values, low, high, epsilon, bits, rows)
        case AggregateKind.MAX:
            found = order_statistic.maximum(values, low, high, epsilon, bits, rows)
        case _:
            fraction = release.aggregate.fraction
            assert fraction is not None
            found = order_statistic.quantile(values, fraction, low, high, epsilon, bits, rows)
    return NoisyValue(found, measured.grid, release.aggregate.type, None)


def order_law(
    release: OrderStatistic, slots: Slots, group: Sequence[ExactRow]
) -> order_statistic.Law:
    """The law that an order statistic of one group is drawn from: secret."""
    measured, values = release.measured, _value_counts(slots, group)
    low, high, epsilon, rows = measured.low, measured.high, release.loss.epsilon, measured.rows
    match release.aggregate.kind:
        case AggregateKind.MIN:
            return order_statistic.minimum_law(values, low, high, epsilon, rows)
        case AggregateKind.MAX:
            return order_statistic.maximum_law(values, low, high, epsilon, rows)
        case _:
            fraction = release.aggregate.fraction
            assert fraction is not None
            return order_statistic.quantile_law(values, fraction, low, high, epsilon, rows)


def _value_counts(slots: Slots, group: Sequence[ExactRow]) -> list[order_statistic.ValueCount]:
    assert slots.extreme is not None and slots.count is not None
    found = ((row.values[slots.extreme], row.values[slots.count]) for row in group)
    known = [(index, count) for index, count in found if index is not None and count]
    return [order_statistic.ValueCount(index, count) for index, count in sorted(known)]
