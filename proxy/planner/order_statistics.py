"""MIN and MAX of rows and quantiles as releases, and the further quantiles that their intervals take."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

from proxy.kernel.plan import OrderStatistic, RankInterval
from proxy.mechanisms import order_statistic, rank_interval
from proxy.mechanisms.loss import Loss
from proxy.planner.measuring import Priced, measured_of
from proxy.query.ir.query_aggregates import Aggregate

_STEPS = 2**16  # grid points of an order statistic: so many values may be fetched at most
_OF_INTERVAL = Fraction(3, 10)  # of a release whose interval is asked for


def order_release(aggregate: Aggregate, priced: Priced) -> OrderStatistic:
    """
    Gives    with an interval where the statement asks for it: then 30 % of the loss are for that
    Source   basic composition of the answer and the ends of its interval, over the same rows
    """
    context = priced.context
    measured = measured_of(aggregate, context, _STEPS)
    # Rows of one unit are cut to `rows` of them over all groups, whatever a group may hold.
    measured = replace(measured, rows=context.neighbours.rows)
    loss = Loss(priced.loss.epsilon, Fraction(0))
    release = OrderStatistic(
        aggregate=aggregate,
        measured=measured,
        needed=None,
        loss=loss,
        interval=rank_interval_of(aggregate, loss, priced.level),
    )
    return replace(release, needed=_needed(release))


def rank_interval_of(
    aggregate: Aggregate, loss: Loss, level: Fraction | None
) -> RankInterval | None:
    """Plan the interval that a statement asks for; None where it asks for none."""
    if level is None:
        return None
    ends = 1 if aggregate.rank in (0, 1) else 2  # beyond the ends of the values there is no rank
    each = loss.epsilon * _OF_INTERVAL / ends
    return RankInterval(level=level, ends=ends, each=Loss(each, Fraction(0)))


def _needed(release: OrderStatistic) -> int:
    """Rows that the answer and its interval look at."""
    steps, rows = release.measured.width, release.measured.rows
    epsilon, fraction = release.own_loss.epsilon, release.aggregate.fraction
    if fraction is None:
        needed = order_statistic.values_needed(steps, epsilon, rows)
    else:
        needed = order_statistic.quantile_half_width(steps, epsilon, fraction, rows)
    found = release.interval
    if found is None:
        return needed
    epsilon, rank = found.each.epsilon, release.aggregate.rank
    return max(needed, rank_interval.rows_needed(steps, epsilon, rank, found.missed, rows))
