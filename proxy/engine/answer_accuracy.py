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
    shared_moments,
    smoothed_median,
)
from proxy.mechanisms.loss import Loss
from proxy.planner.plan import (
    BlockPlan,
    ClippedMean,
    FromMoments,
    GaussianNoise,
    LaplaceNoise,
    Measured,
    Moment,
    Noise,
    NoisyCount,
    NoisyDistinct,
    NoisyMean,
    NoisyMoment,
    NoisySum,
    NoisyVariance,
    OrderStatistic,
    PrivatePlan,
    Release,
    Same,
    SmoothedMedian,
    scale_of,
)
from proxy.policy.accuracy import UNITS_PER_PARTITION
from proxy.query.ir.query_aggregates import AggregateKind


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
        for place in range(block.answers())
    )


def _accuracy(number: int, block: BlockPlan, place: int, whole: Loss) -> Accuracy:
    release = block.releases[place]
    described = _described(block, release)
    loss = _borne(block, place)
    return Accuracy(
        number,
        release.aggregate.kind.value,
        described.mechanism,
        described.sensitivity,
        loss.epsilon,
        loss.delta,
        described.error_95,
        described.note,
        loss.epsilon / whole.epsilon if whole.epsilon else Fraction(0),
    )


def _borne(block: BlockPlan, place: int) -> Loss:
    """What an answer costs, with the noisy sums that no earlier one is made of."""
    total = block.releases[place].loss
    for number, release in enumerate(block.releases):
        users = (n for n, other in enumerate(block.releases) if number in _made_of(other))
        if isinstance(release, NoisyMoment) and next(users, None) == place:
            total = total + release.loss
    return total


def _made_of(release: Release) -> tuple[int, ...]:
    match release:
        case FromMoments():
            found = (release.rows, release.total)
            return found if release.squares is None else (*found, release.squares)
        case Same():
            return (release.other,)
        case _:
            return ()


@dataclass(frozen=True, slots=True)
class _Described:
    mechanism: str
    sensitivity: str
    error_95: Fraction | None
    note: str


def _described(block: BlockPlan, release: Release) -> _Described:
    match release:
        case NoisyCount() | NoisyDistinct():
            noise, reach = _noise(release.noise)
            return _Described(
                noise,
                f"{release.sensitivity} row(s)",
                Fraction(reach),
                _proposal(release.noise, Fraction(1)),
            )
        case NoisySum():
            noise, reach = _noise(release.noise)
            grid = release.measured.grid
            proposal = _proposal(release.noise, grid)
            note = "; ".join(filter(None, (_clamped(release.measured), proposal)))
            return _Described(noise, decimal_text(release.sensitivity * grid), reach * grid, note)
        case NoisyMean():
            note = f"{_clamped(release.measured)}; the error shrinks with the number of rows"
            return _Described("noisy sum about a noisy centre", "", None, note)
        case NoisyVariance():
            note = f"{_clamped(release.measured)}; the error shrinks with the number of rows"
            return _Described("three noisy sums", "", None, note)
        case FromMoments():
            return _of_moments(block, release)
        case Same():
            other = block.releases[release.other]
            described = _described(block, other)
            note = f"the same as {other.aggregate.kind.value}"
            if other.aggregate.operand != release.aggregate.operand:
                note = f"{note}: no such value is NULL"
            return replace(described, note=note)
        case NoisyMoment():
            raise AssertionError("no answer of its own")
        case OrderStatistic():
            note = f"{_clamped(release.measured)}; the error is a rank, not a distance"
            return _Described(
                "exponential mechanism", f"{release.measured.rows} row(s)", None, note
            )
        case SmoothedMedian():
            noise = "PolyPlace" if release.polyplace else "Laplace"
            note = (
                f"{_partitions(release.partitions)}; "
                f"the noise is +-{text_of(_floor(release))} at least, its scale is private"
            )
            return _Described(f"smoothed median, {noise} noise", "smooth", None, note)
        case ClippedMean():
            low, high, moved = release.low, release.high, release.moved
            reach = clipped_mean.half_width(
                release.partitions, low, high, release.loss.epsilon, moved
            )
            moves = decimal_text(moved * (high - low) * release.output_grid)
            note = f"{_partitions(release.partitions)}, whose sampling error comes on top"
            error = reach * release.output_grid
            return _Described(f"mean of {release.partitions} clipped means", moves, error, note)
        case _:
            assert_never(release)


def _of_moments(block: BlockPlan, release: FromMoments) -> _Described:
    names = {
        Moment.ROWS: "count",
        Moment.STEPS: "sum",
        Moment.CENTRED: "sum",
        Moment.SQUARES: "sum of squares",
    }
    made_of = []
    for number in _made_of(release):
        other = block.releases[number]
        kind = other.moment if isinstance(other, NoisyMoment) else None
        made_of.append(other.aggregate.kind.value if kind is None else f"noisy {names[kind]}")
    sharing = [
        other.aggregate.kind.value
        for other in block.releases[: block.answers()]
        if other is not release and set(_made_of(other)) & set(_made_of(release))
    ]
    note = _clamped(release.measured)
    if sharing:
        note += f"; shared with {', '.join(dict.fromkeys(sharing))}"
    error = None
    if release.aggregate.kind is AggregateKind.SUM:
        low, high = release.measured.low, release.measured.high
        of_total, of_count = scale_of(block, release.total), scale_of(block, release.rows)
        reach = shared_moments.total_half_width(of_total, of_count, low, high)
        error = reach * release.measured.grid
    else:
        note += "; the error shrinks with the number of rows"
    return _Described(f"made of {', '.join(made_of)}", "", error, note)


def _floor(release: SmoothedMedian) -> Fraction:
    """The least half width of a median's noise, whatever the data: public."""
    steps, loss = max(1, release.high - release.low), release.mechanism_loss
    if release.polyplace:
        reach = polyplace.expected_floor(steps, release.partitions, loss.epsilon)
    else:
        reach = smoothed_median.expected_floor(steps, release.partitions, loss.epsilon, loss.delta)
    return reach * release.output_grid


def _proposal(noise: Noise, grid: Fraction) -> str:
    """What the other noise would give where it is smaller."""
    if not isinstance(noise, LaplaceNoise) or noise.gaussian is None:
        return ""
    reach = discrete_gaussian.half_width(noise.gaussian)
    return f"noise: gaussian in the policy would give +-{text_of(reach * grid)}"


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
