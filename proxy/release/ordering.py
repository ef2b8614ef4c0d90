"""MIN, MAX and quantiles by the exponential mechanism, from the values of one group."""

from __future__ import annotations

from proxy.exact.table import Partial
from proxy.mechanisms import order_statistic
from proxy.mechanisms.bits import RandomBits
from proxy.planner.plan import OrderStatistic
from proxy.query.query_aggregates import AggregateKind
from proxy.release.noised import NoisyValue


def order_statistic_of(
    release: OrderStatistic, partials: list[Partial], bits: RandomBits
) -> NoisyValue:
    measured, values = release.measured, _value_counts(partials)
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


def order_law(release: OrderStatistic, partials: list[Partial]) -> order_statistic.Law:
    """The law that an order statistic of one group is drawn from: secret."""
    measured, values = release.measured, _value_counts(partials)
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


def _value_counts(partials: list[Partial]) -> list[order_statistic.ValueCount]:
    found = ((p.extreme, p.count) for p in partials if p.extreme is not None and p.count)
    return [order_statistic.ValueCount(index, count) for index, count in sorted(found)]
