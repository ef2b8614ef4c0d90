"""How exact each answer of a plan will be, and what it costs, from public numbers only."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction

from typing_extensions import assert_never

from proxy.base.decimals import decimal_text
from proxy.base.session_settings import how_to_set
from proxy.engine.accuracy import (
    Accuracy,
    AnswerError,
    ErrorKind,
    ReleaseAccuracy,
    text_of,
)
from proxy.engine.answer_conditions import COMPARED, conditions
from proxy.engine.unit_words import units_word
from proxy.estimates import (
    recentred_mean_estimate,
    sampling_accuracy,
)
from proxy.kernel.formula_model import NoisySums
from proxy.kernel.neighbour_kinds import UnitNeighbours
from proxy.kernel.plan import (
    Answer,
    BlockPlan,
    Calculated,
    ClippedMean,
    ContinualNoise,
    DeviationMean,
    DistinctCount,
    GaussianNoise,
    KeptUnits,
    LaplaceNoise,
    Noise,
    NoisyStatistic,
    OrderStatistic,
    PrivatePlan,
    RecentredMean,
    Release,
    SampleAggregate,
    SmoothedMedian,
    UnitExtreme,
)
from proxy.kernel.sensitivities import sensitivity_of
from proxy.kernel.shape import shape_of
from proxy.kernel.statistics import Counted, Measured
from proxy.mechanisms import (
    clipped_mean,
    discrete_gaussian,
    discrete_laplace,
    order_statistic,
)
from proxy.mechanisms.loss import NOTHING, Loss
from proxy.planner.series import noise_of_a_step
from proxy.planner.shared_releases import scales_of
from proxy.policy.policy_model import Mechanism, MedianNoise
from proxy.query.ir.query_aggregates import AggregateKind
from proxy.release.ordering import lost_ranks
from proxy.release.spread_values import units_needed


def accuracies(plan: PrivatePlan) -> tuple[Accuracy, ...]:
    """One entry per answer, in the order of the statement. Of a noisy sum that several answers are made of, the
    first of them bears the cost: the entries add up to what the statement costs, but for private groups."""
    return tuple(
        _accuracy(number, block, place, plan.loss)
        for number, block in enumerate(plan.blocks, start=1)
        for place in range(len(block.answers))
    )


def _accuracy(number: int, block: BlockPlan, place: int, whole: Loss) -> Accuracy:
    loss = _borne(block, place)
    described = _by_few(block, place, _until_chosen(block, place, _described(block, place)))
    return Accuracy(
        block=number,
        aggregate=block.answers[place].aggregate.kind.value,
        described=_by_steps(block, place, described),
        epsilon=loss.epsilon,
        delta=loss.delta,
        share=loss.epsilon / whole.epsilon if whole.epsilon else Fraction(0),
        condition="; ".join(conditions(block)),
    )


def _by_few(block: BlockPlan, place: int, described: ReleaseAccuracy) -> ReleaseAccuracy:
    """Once its bound is chosen: from few units it is often far too low. Or nobody knows which rows count."""
    if place + 1 in block.uncertain_answers:
        return replace(described, error=None, no_interval=COMPARED)
    is_least = place + 1 in block.least_answers
    if is_least or block.unstated.isdisjoint(block.answers[place].releases):
        return described
    return replace(described, error=None, no_interval=described.no_interval or _FEW_UNITS)


def _by_steps(block: BlockPlan, place: int, described: ReleaseAccuracy) -> ReleaseAccuracy:
    """Without its error in ranks, where all that is known of the answer is that it is below a step."""
    number, *_ = block.answers[place].releases
    release = block.releases[number]
    if number not in block.coarse or not isinstance(release, OrderStatistic):
        return described
    steps = f"it is rounded to steps of {decimal_text(release.measured.grid)}"
    return replace(described, error=None, no_interval=described.no_interval and steps)


def _until_chosen(block: BlockPlan, place: int, described: ReleaseAccuracy) -> ReleaseAccuracy:
    """Before a bound is chosen, the plan has the largest one: the error is so much for each unit of the bound.
    What depends on a bound grows with it in proportion."""
    used = set(block.answers[place].releases)
    for choice, found in block.choices.items():
        largest = found.bounds[-1]
        if found.is_given:
            continue
        if used.isdisjoint(block.bounded_by(choice)) or _bound(block, choice) < largest:
            continue
        of_what, most = _bounded(block, choice), largest * _grid(block, choice)
        note = f"R: a bound on {of_what} that is chosen privately when it runs, {text_of(most)} at most"
        if choice is not None:
            note = f"{note}; choosing it takes {text_of(found.loss.epsilon)} of epsilon"
        error = described.error
        is_of_ranks = error is not None and error.kind is ErrorKind.IN_RANK
        if error is not None and not (is_of_ranks and block.value_choice(choice)):
            kind, value = ErrorKind.TIMES_BOUND, error.value / most
            error = AnswerError(kind=kind, value=value, of=error.kind)
        return replace(
            described,
            note="; ".join(filter(None, (described.note, note))),
            sensitivity=f"R, {text_of(most)} at most",
            change=None,
            scale=None,
            error=error,
        )
    return described


def _bound(block: BlockPlan, choice: int | None) -> int:
    """That the plan has by now."""
    of_values = block.value_choice(choice)
    if of_values is not None:
        return of_values.choice.bounds[-1] if of_values.bound is None else of_values.bound
    if choice is None:
        assert isinstance(block.neighbours, UnitNeighbours)
        return block.neighbours.rows
    release = block.releases[choice]
    if isinstance(release, OrderStatistic):
        return release.measured.rows
    assert isinstance(release, NoisyStatistic) and release.total is not None
    return release.total.most


def _grid(block: BlockPlan, choice: int | None) -> Fraction:
    """Of the numbers that are bounded."""
    of_values = block.value_choice(choice)
    if of_values is not None:
        return of_values.measured.grid
    release = None if choice is None else block.releases[choice]
    return release.grid if isinstance(release, NoisyStatistic) else Fraction(1)


def _bounded(block: BlockPlan, choice: int | None) -> str:
    if block.value_choice(choice) is not None:
        return "the size of a unit's value"
    is_of_rows = choice is None or block.is_of_weights(choice)
    return "the rows of a unit" if is_of_rows else "what a unit adds"


def _borne(block: BlockPlan, place: int) -> Loss:
    """What an answer costs: the releases that no answer of its own is, nor an earlier one is made of."""
    total = NOTHING
    for number in dict.fromkeys(block.answers[place].releases):
        if _payer(block, number) == place:
            total = total + block.releases[number].loss
    return total


def _payer(block: BlockPlan, number: int) -> int:
    users = [place for place, answer in enumerate(block.answers) if number in answer.releases]
    itself = (place for place in users if block.answers[place].calculated is None)
    return next(itself, users[0])


def _described(block: BlockPlan, place: int) -> ReleaseAccuracy:
    answer = block.answers[place]
    if answer.calculated is not None:
        return _calculated(block, answer, answer.calculated)
    number, *_ = answer.releases
    release = block.releases[number]
    if isinstance(release, DeviationMean):
        return _about_centres(block, answer, release)
    first = _payer(block, number)
    described = _released(block, block.releases[number], units_word(block))
    if first == place:
        return described
    payer = block.answers[first].aggregate
    note = f"the same as {payer.kind.value}"
    if payer.operand != answer.aggregate.operand:
        note = f"{note}: no such value is NULL"
    return replace(described, note=note)


def _released(block: BlockPlan, release: Release, units: str) -> ReleaseAccuracy:
    """units: How several privacy units are called."""
    match release:
        case NoisyStatistic():
            return _statistic(block, release)
        case DistinctCount():
            moved = sensitivity_of(release, shape_of(block)).l1
            return _noisy(release.noise, Fraction(1), moved, in_rows=True)
        case RecentredMean():
            one = release.measured
            times_rows = recentred_mean_estimate.error_times_rows(
                one.low, max(one.low + 1, one.high), release.loss.epsilon, one.rows
            )
            return ReleaseAccuracy(
                mechanism="noisy sum about a noisy centre",
                note=f"{_clamped(one)}; {_OVER_ROWS}",
                error=AnswerError(kind=ErrorKind.TIMES_ROWS, value=times_rows * one.grid),
            )
        case DeviationMean():
            raise AssertionError("several answers may be made of it")
        case OrderStatistic():
            return _ordered(release, is_grouped=bool(block.keys))
        case UnitExtreme():
            return _of_units(release, units)
        case KeptUnits():
            raise AssertionError("no answer is a number of units that minima and maxima are of")
        case SampleAggregate():
            return _aggregated(release)
        case _:
            assert_never(release)


def _about_centres(block: BlockPlan, answer: Answer, release: DeviationMean) -> ReleaseAccuracy:
    """Of a mean, or of a variance or deviation, which may share one release."""
    is_mean = answer.aggregate.kind is AggregateKind.AVG
    notes = [_clamped(release.measured), *_shared_with(block, answer), _DEVIATIONS]
    return ReleaseAccuracy(
        mechanism=f"noisy {'deviations' if is_mean else 'squares'} of units about noisy centres",
        note="; ".join(notes),
        units_needed=units_needed(release, answer.aggregate),
    )


def _shared_with(block: BlockPlan, answer: Answer) -> Iterator[str]:
    """The other answers that are made of the same releases."""
    names = [
        other.aggregate.kind.value
        for other in block.answers
        if other is not answer and set(other.releases) & set(answer.releases)
    ]
    if names:
        yield f"shared with {', '.join(dict.fromkeys(names))}"


def _ordered(release: OrderStatistic, *, is_grouped: bool) -> ReleaseAccuracy:
    one, ranks = release.measured, ranks_off(release)
    note = f"{_clamped(one)}; the error is a rank, not a distance"
    least = None
    if release.weights is not None:
        own = ranks_off(replace(release, weights=None))
        least = Fraction(own) if is_grouped and release.weights.lost else None
        note = f"{note}; of a unit with more rows each counts less"
    spent = text_of(release.size.loss.epsilon)
    note = f"{note}; NULL for too few rows, whose number takes {spent} of epsilon"
    return ReleaseAccuracy(
        mechanism="exponential mechanism",
        sensitivity=f"{one.rows} row(s)",
        note=note,
        error=AnswerError(kind=ErrorKind.IN_RANK, value=Fraction(ranks), least=least),
        no_interval=_no_interval(release, "rows"),
    )


def ranks_off(release: OrderStatistic, level: Fraction = Fraction(19, 20)) -> int:
    """Compute how far off the rank of an answer is at most, with this probability."""
    one, q = release.measured, release.aggregate.rank
    ranks = sampling_accuracy.error_in_rank(
        one.width, release.own_loss.epsilon, one.rows, level=level, q=q
    )
    if release.weights is None:
        return ranks
    return ranks - -lost_ranks(release, release.weights.lost) // release.parts


def _of_units(release: UnitExtreme, units: str) -> ReleaseAccuracy:
    """An error in rank is stated where each grid step is a place: else many values may share one."""
    one, needed = release.measured, release.least
    steps, epsilon = release.places.last, release.own_loss.epsilon
    target = order_statistic.target_rank(steps, epsilon, one.rows)
    notes = [
        _clamped(one),
        f"one value per unit; about {target:,} of them lie beyond it; one of {steps + 1:,} places",
        f"NULL for fewer than about {needed} units",
    ]
    if release.keeps_one_group:
        notes.append("a unit counts in one of its groups, chosen at random")
    error = None
    if steps == one.width:
        ranks = sampling_accuracy.error_in_rank(steps, epsilon, one.rows)
        error = AnswerError(kind=ErrorKind.IN_RANK, value=Fraction(ranks))
        notes.append("the error is a rank among units, not a distance")
    return ReleaseAccuracy(
        mechanism="exponential mechanism",
        sensitivity=f"{one.rows} unit(s)",
        note="; ".join(notes),
        error=error,
        units_needed=needed,
        no_interval=_no_interval(release, units),
    )


def _no_interval(release: OrderStatistic | UnitExtreme, of: str) -> str:
    """MIN and MAX aim some rows inside, so they are no ends of the data."""
    if release.aggregate.kind not in (AggregateKind.MIN, AggregateKind.MAX):
        return "its error is in ranks"
    one = release.measured
    steps = one.width if isinstance(release, OrderStatistic) else release.places.last
    beyond = order_statistic.target_rank(steps, release.own_loss.epsilon, one.rows)
    off = sampling_accuracy.error_in_rank(steps, release.own_loss.epsilon, one.rows)
    is_max = release.aggregate.kind is AggregateKind.MAX
    side = AT_LEAST if is_max else AT_MOST
    found = f"{side}; about {beyond:,} +-{off:,} {of} {BEYOND}"
    if isinstance(release, UnitExtreme) and release.is_open:
        return f"{found}; nothing bounds what they add up to"
    return found


def _statistic(block: BlockPlan, release: NoisyStatistic) -> ReleaseAccuracy:
    step, moved = release.grid / release.parts, sensitivity_of(release, shape_of(block)).l1
    if isinstance(release.of, Counted):
        return _noisy(release.noise, step, moved, in_rows=True)
    described = _noisy(release.noise, step, moved, in_rows=False)
    return replace(described, note="; ".join(map(_clamped, release.of)))


def _noisy(noise: Noise, grid: Fraction, sensitivity: int, *, in_rows: bool) -> ReleaseAccuracy:
    """Of a count or a sum."""
    if isinstance(noise, ContinualNoise):
        of_a_step = _noisy(noise_of_a_step(noise), grid, sensitivity, in_rows=in_rows)
        return replace(of_a_step, mechanism="discrete Gaussian of a series")
    match noise:
        case LaplaceNoise():
            mechanism, scale = "discrete Laplace", noise.scale
            half_width = discrete_laplace.half_width(scale)
        case GaussianNoise():
            mechanism, scale = "discrete Gaussian", Fraction(math.sqrt(noise.sigma2))
            half_width = discrete_gaussian.half_width(noise.sigma2)
        case _:
            assert_never(noise)
    change = sensitivity * grid
    return ReleaseAccuracy(
        mechanism=mechanism,
        note="",
        sensitivity=f"{change} row(s)" if in_rows else decimal_text(change),
        change=change,
        scale=scale * grid,
        error=AnswerError(kind=ErrorKind.HALF_WIDTH, value=half_width * grid),
    )


def _aggregated(release: SampleAggregate) -> ReleaseAccuracy:
    m, grid, needed = release.partitions, release.output_grid, release.gate.least
    enough = f"{m} partitions; NULL for fewer than about {needed} units"
    match release.mechanism:
        case SmoothedMedian():
            polyplaced = release.mechanism.noise is MedianNoise.POLYPLACE
            return ReleaseAccuracy(
                mechanism=f"smoothed median, {'PolyPlace' if polyplaced else 'Laplace'} noise",
                note=f"{enough}, plus their sampling error; the scale of the noise is private",
                sensitivity="smooth",
                error=AnswerError(
                    kind=ErrorKind.FLOOR, value=_floor(release, release.mechanism) * grid
                ),
                partitions=m,
                units_needed=needed,
                no_interval=_unknown_error(release),
            )
        case ClippedMean(changed=changed, loss=loss):
            low, high, epsilon = release.low, release.high, loss.epsilon
            half_width = sampling_accuracy.clipped_half_width(m, low, high, epsilon, changed)
            change = Fraction(changed * (high - low), m) * grid
            return ReleaseAccuracy(
                mechanism=f"mean of {m} clipped means",
                note=f"{enough}, plus their sampling error",
                sensitivity=text_of(change),
                change=change,
                scale=clipped_mean.scale(low, high, epsilon, changed) / m * grid,
                error=AnswerError(kind=ErrorKind.HALF_WIDTH, value=half_width * grid),
                partitions=m,
                units_needed=needed,
                no_interval=_SAMPLED,
            )
        case _:
            assert_never(release.mechanism)


def _unknown_error(release: SampleAggregate) -> str:
    """Of a smoothed median: its least error, which is public, says nothing of how far it may be off."""
    if not release.may_be_best:
        return _PRIVATE_SCALE
    return f"{_PRIVATE_SCALE}. {how_to_set('dp.mechanism', Mechanism.BEST.value)} is more exact"


# What is known of a maximum and a minimum without an interval.
AT_LEAST, AT_MOST = "at least this number", "at most this number"
BEYOND = "lie beyond it"

# Why an answer has no interval (dp.low, dp.high, dp.error).
_PRIVATE_SCALE = "its error is not known and may be large, as the scale of its noise is private"
_FEW_UNITS = "its bound was chosen from few units, and may cut far more than the noise"
_SAMPLED = "the error of the noise is known, that of answering from partitions depends on the data"

_DEVIATIONS = "the error follows from how far units deviate, and is stated with the answer"
_OVER_ROWS = "n: the rows that count, where they are many"
_NUMBERS = ("no", "one", "two", "three", "four", "five", "six")


def _calculated(block: BlockPlan, answer: Answer, calculated: Calculated) -> ReleaseAccuracy:
    """From noisy sums. An answer that shares them with no other says how many they are."""
    sharing = list(_shared_with(block, answer))
    notes = [*dict.fromkeys(map(_clamped, calculated.measured)), *sharing]
    scales, formula = scales_of(block, answer), calculated.formula
    sums = NoisySums(sums=(0,) * len(scales), scales=scales, measured=calculated.measured)
    error = None
    if formula.error is not None:
        error = AnswerError(kind=ErrorKind.HALF_WIDTH, value=formula.error(sums))
    elif formula.error_times_rows is not None:
        error = AnswerError(kind=ErrorKind.TIMES_ROWS, value=formula.error_times_rows(sums))
        notes.append(_OVER_ROWS)
    else:
        notes.append("the error shrinks with the number of rows; its size depends on the data")
    made_of = f"made of {', '.join(_name(block, number) for number in answer.releases)}"
    if not sharing and len(answer.releases) > 2:
        made_of = f"{_NUMBERS[len(answer.releases)]} noisy sums"
    return ReleaseAccuracy(mechanism=made_of, note="; ".join(notes), error=error)


def _name(block: BlockPlan, number: int) -> str:
    """An answer's own name, or what the sum is."""
    for answer in block.answers:
        if answer.calculated is None and answer.releases == (number,):
            return answer.aggregate.kind.value
    release = block.releases[number]
    assert isinstance(release, NoisyStatistic)
    return f"noisy {release.statistic.label}"


def _floor(release: SampleAggregate, median: SmoothedMedian) -> int:
    """The least half width of a median's noise in grid steps, whatever the data: public."""
    steps, m, loss = max(1, release.high - release.low), release.partitions, median.each
    if median.noise is MedianNoise.POLYPLACE:
        return sampling_accuracy.polyplace_expected_floor(steps, m, loss.epsilon)
    return sampling_accuracy.laplace_expected_floor(steps, m, loss.epsilon, loss.delta)


def _clamped(measured: Measured) -> str:
    low, high = decimal_text(measured.clamp.low), decimal_text(measured.clamp.high)
    return f"values clamped to {low} .. {high}, grid {decimal_text(measured.grid)}"
