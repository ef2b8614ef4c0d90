"""Sample-and-aggregate: how many partitions, what one unit changes, whether an answer can say anything, and
at which epsilon it could.

All of it is known before anything is read: the number of partitions and the least noise depend on epsilon,
delta, the bounds and the grid. Where even that noise covers the whole range the question is refused, with
what would make it answerable.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from fractions import Fraction

from proxy.base.decimals import decimal_text
from proxy.base.errors import Code, Refusal
from proxy.base.session_settings import how_to_reset, how_to_set
from proxy.estimates import sampling_accuracy
from proxy.kernel.plan import ClippedMean, Gate, SampleAggregate, SmoothedMedian
from proxy.kernel.sensitivities import each_median, laplace, of_gate, outputs_changed
from proxy.kernel.statistics import Measured
from proxy.mechanisms import discrete_laplace, polyplace
from proxy.mechanisms.loss import Loss
from proxy.planner import grids
from proxy.planner.measuring import (
    MeasureContext,
    Priced,
    check_size,
    is_best_by_policy,
    may_be_best,
    measured_of,
)
from proxy.policy.policy_model import MedianNoise, Privacy
from proxy.query.ir.expressions import ColumnRef
from proxy.query.ir.query_aggregates import Aggregate, AggregateKind

UNITS_PER_PARTITION = 8  # below, the median of partition results is off by more than its noise
_OF_GATE = Fraction(1, 20)  # of a release's epsilon
_LARGEST_FACTOR = 2**20  # by how much epsilon is raised in search of a feasible one


@dataclass(frozen=True, slots=True, kw_only=True)
class _PartitionAnswers:
    """The answers that partitions give: from low to high in steps of the grid, fill for an empty one."""

    measured: Measured
    grid: Fraction
    low: int
    high: int
    fill: int


def smoothed(aggregate: Aggregate, priced: Priced) -> SampleAggregate:
    """
    Refuses  INFEASIBLE without delta, and where the noise covers the whole range whatever the data
    Source   docs/design/mechanisms.md 5
    """
    context, loss = priced.context, priced.loss
    answers = _partition_answers(aggregate, context)
    noise = context.privacy.median_noise
    if noise is MedianNoise.POLYPLACE:  # no delta is needed
        loss = Loss(loss.epsilon, Fraction(0))
    each = each_median(context.shape, _after_gate(loss))
    if noise is MedianNoise.LAPLACE and not 0 < each.delta <= LARGEST_DELTA:
        raise needs_delta(
            f"{aggregate.kind.value} needs a delta above 0 and below {float(LARGEST_DELTA)}",
            context.privacy,
            "use count and sum",
        )
    m = _partitions(aggregate, context, answers.high - answers.low, each)
    # With one possible answer there is nothing to hide: the release is that constant.
    if answers.high > answers.low and not _is_feasible(answers.high - answers.low, m, each, noise):
        raise _infeasible(aggregate, priced, answers.high - answers.low, loss)
    median = SmoothedMedian(noise=noise, each=each)
    found = _aggregated(aggregate, answers, m, median, _gate(context, m, loss), loss)
    return replace(found, may_be_best=may_be_best(aggregate, context))


def clipped_mean_of(aggregate: Aggregate, priced: Priced) -> SampleAggregate:
    """
    Refuses  INFEASIBLE where the noise covers the whole range
    Source   PROOFS.md, "Clipped mean"
    """
    context = priced.context
    answers = _partition_answers(aggregate, context)
    changed = outputs_changed(context.shape)
    loss = Loss(priced.loss.epsilon, Fraction(0))
    own = _after_gate(loss)
    m = _of_policy(aggregate, context) or sampling_accuracy.clipped_partitions(own.epsilon, changed)
    half_width = sampling_accuracy.clipped_half_width(
        m, answers.low, answers.high, own.epsilon, changed
    )
    if answers.high > answers.low and half_width >= answers.high - answers.low:
        needed = sampling_accuracy.clipped_half_width(
            m, answers.low, answers.high, Fraction(1), changed
        )
        share = Fraction(needed, answers.high - answers.low) / (1 - _OF_GATE)
        raise _refused(aggregate, priced, _rounded_up(max(share, loss.epsilon * 2)))
    mean = ClippedMean(changed=changed, loss=own)
    found = _aggregated(aggregate, answers, m, mean, _gate(context, m, loss), loss)
    return replace(found, may_be_best=may_be_best(aggregate, context))


def _after_gate(loss: Loss) -> Loss:
    return Loss(loss.epsilon * (1 - _OF_GATE), loss.delta)


def _gate(context: MeasureContext, partitions: int, loss: Loss) -> Gate:
    """
    Given    loss: of the release as a whole
    Source   docs/design/mechanisms.md 5.7; PROOFS.md 4, "Gate"
    """
    own, counted = Loss(loss.epsilon * _OF_GATE, Fraction(0)), of_gate(context.shape)
    noise = laplace(counted, own.epsilon)
    # With the margin fewer units than needed come through once in forty.
    least = UNITS_PER_PARTITION * partitions + discrete_laplace.half_width(noise.scale)
    return Gate(noise=noise, least=least, loss=own)


def _aggregated(
    aggregate: Aggregate,
    answers: _PartitionAnswers,
    partitions: int,
    mechanism: SmoothedMedian | ClippedMean,
    gate: Gate,
    loss: Loss,
) -> SampleAggregate:
    return SampleAggregate(
        aggregate=aggregate,
        measured=answers.measured,
        output_grid=answers.grid,
        low=answers.low,
        high=answers.high,
        fill=answers.fill,
        partitions=partitions,
        mechanism=mechanism,
        gate=gate,
        loss=loss,
    )


def _partition_answers(aggregate: Aggregate, context: MeasureContext) -> _PartitionAnswers:
    measured = measured_of(aggregate, context)
    grid = measured.grid
    if aggregate.kind is AggregateKind.AVG:
        grid = grids.of_average(measured.grid, measured.clamp)
    low = math.ceil(measured.clamp.low / grid)
    high = math.floor(measured.clamp.high / grid)
    check_size(low, high)
    fill = {AggregateKind.AVG: (low + high) // 2, AggregateKind.MIN: high, AggregateKind.MAX: low}[
        aggregate.kind
    ]
    return _PartitionAnswers(measured=measured, grid=grid, low=low, high=high, fill=fill)


def _of_policy(aggregate: Aggregate, context: MeasureContext) -> int | None:
    """The policy's number of partitions, for a plain column."""
    if not isinstance(aggregate.operand, ColumnRef):
        return None
    return context.facts[aggregate.operand.relation, aggregate.operand.column].partitions


def _partitions(aggregate: Aggregate, context: MeasureContext, steps: int, each: Loss) -> int:
    """The policy's number, else the adopted rule (docs/design/mechanisms.md 5.2)."""
    own = _of_policy(aggregate, context)
    if own is not None:
        return own
    if context.privacy.median_noise is MedianNoise.POLYPLACE:
        of_mean = aggregate.kind is AggregateKind.AVG
        kappa = polyplace.KAPPA_OF_MEANS if of_mean else polyplace.KAPPA_OF_EXTREMES
        return sampling_accuracy.polyplace_partitions(each.epsilon, max(1, steps), kappa)
    return sampling_accuracy.laplace_partitions(each.epsilon, each.delta, max(1, steps))


def _is_feasible(steps: int, m: int, each: Loss, noise: MedianNoise) -> bool:
    if noise is MedianNoise.POLYPLACE:
        return sampling_accuracy.polyplace_feasible(steps, m, each.epsilon)
    return sampling_accuracy.laplace_feasible(steps, m, each.epsilon, each.delta)


def _infeasible(aggregate: Aggregate, priced: Priced, steps: int, loss: Loss) -> Refusal:
    """With the least epsilon that would do, at the same delta."""
    context = priced.context
    noise = context.privacy.median_noise

    def is_enough(epsilon: Fraction) -> bool:
        each = each_median(context.shape, _after_gate(Loss(epsilon, loss.delta)))
        m = _partitions(aggregate, context, steps, each)
        return _is_feasible(steps, m, each, noise)

    factor = 2
    try:
        while not is_enough(loss.epsilon * factor):
            factor *= 2
            if factor > _LARGEST_FACTOR:
                return _refused(aggregate, priced, None)
    except ValueError:  # beyond what the theorems reach
        return _refused(aggregate, priced, None)
    low, high = loss.epsilon * factor / 2, loss.epsilon * factor
    for _ in range(12):
        middle = (low + high) / 2
        low, high = (low, middle) if is_enough(middle) else (middle, high)
    return _refused(aggregate, priced, _rounded_up(high))


def _refused(aggregate: Aggregate, priced: Priced, share: Fraction | None) -> Refusal:
    """share: the epsilon that this one aggregate would need; None: none would do."""
    context = priced.context
    name, most = aggregate.kind.value, context.privacy.max_epsilon
    if isinstance(aggregate.operand, ColumnRef):
        name = f"{name}({aggregate.operand.column})"
    best = "with `mechanism: best`, which the data owner can set, it is answered at any epsilon"
    alone = None  # what the session can do, beside which more epsilon is no good advice
    if context.mechanism is not None:
        best = f"{how_to_reset('dp.mechanism')} for the mechanism of the policy"
    if context.mechanism is not None and is_best_by_policy(aggregate, context):
        alone = f"{best}."
    elif may_be_best(aggregate, context):
        alone = f"{how_to_set('dp.mechanism', 'best')} answers it at any epsilon."
    if share is None:
        return Refusal(
            Code.INFEASIBLE,
            f"{name} cannot be answered with so few partitions: the noise would cover the whole range",
            alone or f"Ask the data owner for more partitions of this column; {best}.",
        )
    message = (
        f"{name} cannot be answered at epsilon {float(priced.loss.epsilon):.3g}, its share: the noise would "
        f"cover the whole range; it needs {float(share):.3g}"
    )
    whole = _rounded_up(share * context.wanted.epsilon / priced.loss.epsilon)
    if whole <= most:  # of two digits
        hint = how_to_set("dp.epsilon", decimal_text(whole))
        return NeedsEpsilon(message, alone or f"{hint}; {best}.", whole)
    if share <= most and whole > share:
        setting = how_to_set("dp.epsilon", f"{float(share):.3g}")
        hint = f"{setting}, and run it in a statement of its own"
    else:
        hint = f"The policy allows epsilon {float(most):.3g} at most: query fewer groups at once"
    return Refusal(Code.INFEASIBLE, message, alone or f"{hint}; {best}.")


def _rounded_up(value: Fraction) -> Fraction:
    """To two digits.

    >>> _rounded_up(Fraction(1234, 1000)), _rounded_up(Fraction(90))
    (Fraction(13, 10), Fraction(90, 1))
    """
    unit = Fraction(10) ** (math.floor(math.log10(value)) - 1)
    return math.ceil(value / unit) * unit


# --- What cannot be answered at an epsilon or without delta, and at which the policy allows it would be.


LARGEST_DELTA = Fraction(7, 10)  # the smoothed median is proven for delta <= 2/e
_MODERATE = Fraction(1, 10**6)


class NeedsEpsilon(Refusal):
    """INFEASIBLE, but not at `epsilon` of the whole statement, which the policy allows and the hint names."""

    def __init__(
        self, message: str, hint: str, epsilon: Fraction, position: int | None = None
    ) -> None:
        super().__init__(Code.INFEASIBLE, message, hint, position)
        self.epsilon = epsilon

    def at(self, position: int | None) -> NeedsEpsilon:
        return NeedsEpsilon(self.message, self.hint, self.epsilon, position)


def needs_delta(
    message: str, privacy: Privacy, otherwise: str, position: int | None = None
) -> Refusal:
    """
    Given    otherwise: what to do instead, which needs no delta
    """
    most = privacy.max_delta
    if most == 0:
        hint = f"The policy allows no delta: {otherwise}."
    else:
        wanted = most if most <= LARGEST_DELTA else _MODERATE
        hint = f"{how_to_set('dp.delta', decimal_text(wanted))}, or {otherwise}."
    return Refusal(Code.INFEASIBLE, message, hint, position)
