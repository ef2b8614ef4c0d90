"""The releases of a block: one for each aggregate, then the noisy sums that several of them are made of."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from fractions import Fraction

from typing_extensions import assert_never

from proxy.base.errors import Refusal
from proxy.mechanisms import discrete_laplace, ratio_mean, sum_over_count
from proxy.mechanisms.loss import Loss
from proxy.planner import grids
from proxy.planner.measuring import Context, measured_of
from proxy.planner.plan import (
    FromMoments,
    LaplaceNoise,
    Measured,
    Moment,
    NoisyMoment,
    Release,
    Same,
)
from proxy.planner.releases import plan_release
from proxy.planner.sharing import Part, Shares
from proxy.query.ir.query_aggregates import Aggregate, AggregateKind

_COUNTS = (AggregateKind.COUNT_ROWS, AggregateKind.COUNT)


def block_releases(
    aggregates: Sequence[Aggregate],
    context: Context,
    shares: Shares,
    alone: Mapping[int, Loss],
    parts: Mapping[Part, Loss],
) -> tuple[Release, ...]:
    """
    Given    shares: of these aggregates; alone, parts: what each of them may spend
    Refuses  as planner.releases.plan_release, at the aggregate's position
    """
    places = _places(aggregates, shares)
    answers = [
        _answer(number, aggregate, context, shares, alone, parts, places)
        for number, aggregate in enumerate(aggregates)
    ]
    moments: list[Release] = []
    for part, place in sorted(places.items(), key=lambda item: item[1]):
        if place >= len(aggregates):
            users = (n for n, made_of in sorted(shares.made_of.items()) if part in made_of)
            first = aggregates[next(users)]
            measured = part.measured or measured_of(first, context)
            moments.append(_moment(first, measured, part.moment, parts[part]))
    return (*answers, *moments)


def _places(aggregates: Sequence[Aggregate], shares: Shares) -> dict[Part, int]:
    """Which release each part is: a COUNT or a SUM of the question itself, or one after the answers."""
    found: dict[Part, int] = {}
    for number, made_of in sorted(shares.made_of.items()):
        if len(made_of) == 1:
            found.setdefault(made_of[0], number)
    end = len(aggregates)
    for part in shares.parts:
        if part not in found:
            found[part] = end
            end += 1
    return found


def _answer(
    number: int,
    aggregate: Aggregate,
    context: Context,
    shares: Shares,
    alone: Mapping[int, Loss],
    parts: Mapping[Part, Loss],
    places: Mapping[Part, int],
) -> Release:
    made_of = shares.made_of.get(number)
    if number in shares.same:
        return Same(aggregate, shares.same[number])
    if made_of is None:
        return _placed(aggregate, replace(context, loss=alone[number]))
    if len(made_of) == 1:
        place = places[made_of[0]]
        if place != number:  # two questions that became one when their parameters were known
            return Same(aggregate, place)
        return _placed(aggregate, replace(context, loss=parts[made_of[0]]))
    by_moment = {part.moment: places[part] for part in made_of}
    measured = measured_of(aggregate, context)
    fine = measured.grid
    if aggregate.kind is not AggregateKind.SUM:
        fine = grids.of_average(measured.grid, measured.clamp) / 1000
    is_centred = Moment.CENTRED in by_moment
    return FromMoments(
        aggregate,
        measured,
        fine,
        rows=by_moment[Moment.ROWS],
        total=by_moment[Moment.CENTRED if is_centred else Moment.STEPS],
        squares=by_moment.get(Moment.SQUARES),
        centred=is_centred,
    )


def _placed(aggregate: Aggregate, context: Context) -> Release:
    try:
        return plan_release(aggregate, context)
    except Refusal as refusal:
        raise refusal if refusal.position is not None else refusal.at(aggregate.position) from None


def _moment(aggregate: Aggregate, measured: Measured, moment: Moment, loss: Loss) -> NoisyMoment:
    """
    Source   docs/design/mechanisms.md 2.2, 7.1, 7.2
    """
    low, high, rows = measured.low, measured.high, measured.rows
    width = max(1, high - low)
    match moment:
        case Moment.ROWS:
            sensitivity = rows
        case Moment.STEPS:
            sensitivity = sum_over_count.total_sensitivity(low, high, rows)
        case Moment.CENTRED:
            sensitivity = max(rows, ratio_mean.total_sensitivity(low, high, rows))
        case Moment.SQUARES:
            sensitivity = max(rows, ratio_mean.total_sensitivity(low, high, rows) * width)
        case _:
            assert_never(moment)
    noise = LaplaceNoise(discrete_laplace.scale_for(sensitivity, loss.epsilon))
    return NoisyMoment(
        aggregate, measured, moment, sensitivity, noise, Loss(loss.epsilon, Fraction(0))
    )
