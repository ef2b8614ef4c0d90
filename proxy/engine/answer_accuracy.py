"""How exact each answer of a plan will be, and what it costs, from public numbers only."""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction

from typing_extensions import assert_never

from proxy.base.decimals import decimal_text
from proxy.mechanisms import (
    clipped_mean,
    discrete_gaussian,
    discrete_laplace,
    polyplace,
    smoothed_median,
)
from proxy.mechanisms.loss import NOTHING, Loss
from proxy.planner.formulas import NoisySums
from proxy.planner.plan import (
    Answer,
    BlockPlan,
    Calculated,
    ClippedMean,
    DistinctCount,
    GaussianNoise,
    LaplaceNoise,
    Noise,
    NoisyStatistic,
    OrderStatistic,
    PrivatePlan,
    RecentredMean,
    Release,
    SampleAggregate,
    SmoothedMedian,
    scales_of,
)
from proxy.planner.statistics import Counted, Measured
from proxy.policy.accuracy import UNITS_PER_PARTITION
from proxy.policy.policy_model import MedianNoise


@dataclass(frozen=True, slots=True)
class Accuracy:
    """How one aggregate of a statement becomes private. error_95: half width of the 95 % interval, None
    where the scale of the noise is private."""

    block: int
    aggregate: str
    mechanism: str
    sensitivity: str
    epsilon: Fraction
    delta: Fraction
    error_95: Fraction | None
    note: str
    share: Fraction  # of the statement's epsilon

    def as_json(self) -> dict[str, object]:
        return {
            "block": self.block,
            "aggregate": self.aggregate,
            "mechanism": self.mechanism,
            "sensitivity": self.sensitivity,
            "epsilon": float(self.epsilon),
            "delta": float(self.delta),
            "error_95": None if self.error_95 is None else float(self.error_95),
            "note": self.note,
            "share": float(self.share),
        }


def accuracies(plan: PrivatePlan) -> tuple[Accuracy, ...]:
    """One entry per answer, in the order of the statement. Of a noisy sum that several answers are made of, the
    first of them bears the cost: the entries add up to what the statement costs, but for private groups."""
    return tuple(
        _accuracy(number, block, place, plan.loss)
        for number, block in enumerate(plan.blocks, start=1)
        for place in range(len(block.answers))
    )


def _accuracy(number: int, block: BlockPlan, place: int, whole: Loss) -> Accuracy:
    described = _described(block, place)
    loss = _borne(block, place)
    return Accuracy(
        block=number,
        aggregate=block.answers[place].aggregate.kind.value,
        mechanism=described.mechanism,
        sensitivity=described.sensitivity,
        epsilon=loss.epsilon,
        delta=loss.delta,
        error_95=described.error_95,
        note=described.note,
        share=loss.epsilon / whole.epsilon if whole.epsilon else Fraction(0),
    )


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


@dataclass(frozen=True, slots=True)
class _Described:
    mechanism: str
    sensitivity: str
    error_95: Fraction | None
    note: str


def _described(block: BlockPlan, place: int) -> _Described:
    answer = block.answers[place]
    if answer.calculated is not None:
        return _calculated(block, answer, answer.calculated)
    (number,) = answer.releases
    first = _payer(block, number)
    described = _released(block.releases[number])
    if first == place:
        return described
    payer = block.answers[first].aggregate
    note = f"the same as {payer.kind.value}"
    if payer.operand != answer.aggregate.operand:
        note = f"{note}: no such value is NULL"
    return replace(described, note=note)


def _released(release: Release) -> _Described:
    match release:
        case NoisyStatistic():
            return _statistic(release)
        case DistinctCount():
            noise, half_width = _noise(release.noise)
            note = _proposal(release.noise, Fraction(1))
            return _Described(noise, f"{release.sensitivity} row(s)", Fraction(half_width), note)
        case RecentredMean():
            note = f"{_clamped(release.measured)}; {_SHRINKS}"
            return _Described("noisy sum about a noisy centre", "", None, note)
        case OrderStatistic():
            note = f"{_clamped(release.measured)}; the error is a rank, not a distance"
            return _Described(
                "exponential mechanism", f"{release.measured.rows} row(s)", None, note
            )
        case SampleAggregate():
            return _aggregated(release)
        case _:
            assert_never(release)


def _statistic(release: NoisyStatistic) -> _Described:
    noise, half_width = _noise(release.noise)
    grid, note = release.grid, _proposal(release.noise, release.grid)
    change = f"{release.sensitivity} row(s)"
    if not isinstance(release.of, Counted):
        change = decimal_text(release.sensitivity * grid)
        note = "; ".join(filter(None, (*map(_clamped, release.of), note)))
    return _Described(noise, change, half_width * grid, note)


def _aggregated(release: SampleAggregate) -> _Described:
    m = release.partitions
    match release.mechanism:
        case SmoothedMedian():
            polyplaced = release.mechanism.noise is MedianNoise.POLYPLACE
            noise = "PolyPlace" if polyplaced else "Laplace"
            floor = _floor(release, release.mechanism)
            note = (
                f"{_partitions(m)}; the noise is +-{text_of(floor)} at least, its scale is private"
            )
            return _Described(f"smoothed median, {noise} noise", "smooth", None, note)
        case ClippedMean(changed=changed):
            low, high = release.low, release.high
            half_width = clipped_mean.half_width(m, low, high, release.loss.epsilon, changed)
            change = decimal_text(changed * (high - low) * release.output_grid)
            note = f"{_partitions(m)}, plus their sampling error"
            error = half_width * release.output_grid
            return _Described(f"mean of {m} clipped means", change, error, note)
        case _:
            assert_never(release.mechanism)


_SHRINKS = "the error shrinks with the number of rows"
_NUMBERS = ("no", "one", "two", "three", "four", "five", "six")


def _calculated(block: BlockPlan, answer: Answer, calculated: Calculated) -> _Described:
    """From noisy sums. An answer that shares them with no other says how many they are."""
    sharing = [
        other.aggregate.kind.value
        for other in block.answers
        if other is not answer and set(other.releases) & set(answer.releases)
    ]
    note = "; ".join(dict.fromkeys(map(_clamped, calculated.measured)))
    if sharing:
        note += f"; shared with {', '.join(dict.fromkeys(sharing))}"
    error = None
    if calculated.formula.error is None:
        note += f"; {_SHRINKS}"
    else:
        scales = scales_of(block, answer)
        nothing = (0,) * len(scales)
        sums = NoisySums(sums=nothing, scales=scales, measured=calculated.measured)
        error = calculated.formula.error(sums)
    made_of = f"made of {', '.join(_name(block, number) for number in answer.releases)}"
    if not sharing and len(answer.releases) > 2:
        made_of = f"{_NUMBERS[len(answer.releases)]} noisy sums"
    return _Described(made_of, "", error, note)


def _name(block: BlockPlan, number: int) -> str:
    """An answer's own name, or what the sum is."""
    for answer in block.answers:
        if answer.calculated is None and answer.releases == (number,):
            return answer.aggregate.kind.value
    release = block.releases[number]
    assert isinstance(release, NoisyStatistic)
    return f"noisy {release.statistic.label}"


def _floor(release: SampleAggregate, median: SmoothedMedian) -> Fraction:
    """The least half width of a median's noise, whatever the data: public."""
    steps, loss = max(1, release.high - release.low), median.each
    if median.noise is MedianNoise.POLYPLACE:
        half_width = polyplace.expected_floor(steps, release.partitions, loss.epsilon)
    else:
        half_width = smoothed_median.expected_floor(
            steps, release.partitions, loss.epsilon, loss.delta
        )
    return half_width * release.output_grid


def _proposal(noise: Noise, grid: Fraction) -> str:
    """What the other noise would give where it is smaller."""
    if not isinstance(noise, LaplaceNoise) or noise.gaussian is None:
        return ""
    half_width = discrete_gaussian.half_width(noise.gaussian)
    return f"noise: gaussian in the policy would give +-{text_of(half_width * grid)}"


def _noise(noise: Noise) -> tuple[str, int]:
    match noise:
        case LaplaceNoise():
            return "discrete Laplace", discrete_laplace.half_width(noise.scale)
        case GaussianNoise():
            return "discrete Gaussian", discrete_gaussian.half_width(noise.sigma2)
        case _:
            assert_never(noise)


def _clamped(measured: Measured) -> str:
    low, high = decimal_text(measured.clamp.low), decimal_text(measured.clamp.high)
    return f"values clamped to {low} .. {high}, grid {decimal_text(measured.grid)}"


def _partitions(m: int) -> str:
    return f"{m} partitions, for {m * UNITS_PER_PARTITION} units or more"


def text_of(value: Fraction) -> str:
    return f"{float(value):.6g}"
