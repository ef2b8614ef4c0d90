"""What a statement has spent on the difference between two neighbouring databases."""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import accumulate
from typing import Any

from typing_extensions import assert_never

from proxy.base.slots import Slots
from proxy.exact.table import ExactRow
from proxy.kernel.plan import (
    ClippedMean,
    DeviationMean,
    DistinctCount,
    GaussianNoise,
    KeptUnits,
    LaplaceNoise,
    NoisyStatistic,
    OrderStatistic,
    RecentredMean,
    Release,
    SampleAggregate,
    SmoothedMedian,
    UnitExtreme,
)
from proxy.mechanisms.zcdp import rho_of_loss
from proxy.query.ir.query_aggregates import AggregateKind
from proxy.release.adding_noise import partition_outputs
from tests.recorded.recorder import Draw, Exact

_Held = tuple[Slots, Sequence[ExactRow]]


@dataclass(slots=True)
class Observed:
    """Of one statement. epsilon: of all but Gaussian noise; rho: of Gaussian noise, by its release."""

    epsilon: Fraction = Fraction(0)
    rho: dict[NoisyStatistic | DistinctCount | KeptUnits, Fraction] = field(
        default_factory=lambda: defaultdict(Fraction)
    )

    def total(self) -> Fraction:
        """The epsilon, at the delta that each release with Gaussian noise says it spends."""
        found = self.epsilon
        for release, rho in self.rho.items():
            allowed = rho_of_loss(release.loss.epsilon, release.loss.delta)
            found += release.loss.epsilon * max(Fraction(1 if rho else 0), rho / allowed)
        return found


def observed(pairs: Iterable[tuple[Draw, Draw]]) -> dict[int, Observed]:
    """The loss of each statement that read something else."""
    found: dict[int, Observed] = defaultdict(Observed)
    for one, other in pairs:
        if one.exact != other.exact:
            name, law = one.mechanism
            _add(found[one.statement], name, law, one.exact, other.exact)
    return found


def _add(to: Observed, name: str, law: Any, one: Exact, other: Exact) -> None:
    match name:
        case "release":
            release, cells = law
            _add_release(to, release, cells, one, other)
        case "sum":
            release, noise = law
            match noise:
                case LaplaceNoise(scale=scale):
                    to.epsilon += abs(one - other) / scale
                case GaussianNoise(sigma2=sigma2):
                    to.rho[release] += Fraction((one - other) ** 2) / (2 * sigma2)
                case _:
                    raise AssertionError(f"{noise} is no noise")
        case "groups":
            moved = sum(abs(one.get(key, 0) - other.get(key, 0)) for key in {*one, *other})
            to.epsilon += moved * law.each.epsilon
        case "means":  # what centres have spent is a part of it
            to.epsilon += sum((release.loss.epsilon for _, release in law), Fraction(0))
        case "centres":
            return
        case "bounds":
            choices = dict(law)
            to.epsilon += sum(
                (choices[number].loss.epsilon for number in one if one[number] != other[number]),
                Fraction(0),
            )
        case _:
            raise AssertionError(f"{name} is given something of the data")


def _add_release(to: Observed, release: Release, cells: int, one: Exact, other: Exact) -> None:
    match release:
        case NoisyStatistic() | DistinctCount() | KeptUnits():
            raise AssertionError("a sum, of which the noise is known")
        case RecentredMean():
            rows = max(1, abs(_sum(one, "count") - _sum(other, "count")))
            to.epsilon += release.loss.epsilon * rows / release.measured.rows
        case OrderStatistic():
            size = "units" if release.weights is not None else "count"
            to.epsilon += abs(_sum(one, size) - _sum(other, size)) / release.size.noise.scale
            is_max = release.aggregate.kind is AggregateKind.MAX
            moved = _moved(one, other, from_above=is_max)
            to.epsilon += release.own_loss.epsilon * moved / release.moved
        case UnitExtreme():
            is_max = release.aggregate.kind is AggregateKind.MAX
            moved = _moved(one, other, from_above=is_max)
            to.epsilon += release.loss.epsilon * moved / release.measured.rows
        case SampleAggregate():
            _add_sampled(to, release, cells, one, other)
        case DeviationMean():
            raise AssertionError("drawn for all groups together")
        case _:
            assert_never(release)


def _add_sampled(
    to: Observed, release: SampleAggregate, cells: int, one: _Held, other: _Held
) -> None:
    to.epsilon += abs(_sum(one, "units") - _sum(other, "units")) / release.gate.noise.scale
    mine, theirs = (partition_outputs(release, slots, rows, cells) for slots, rows in (one, other))
    changed = sum(a != b for a, b in zip(mine, theirs, strict=True))
    match release.mechanism:
        case SmoothedMedian(each=each):
            assert changed <= 1, "a unit is in one partition"
            to.epsilon += each.epsilon * changed
        case ClippedMean(changed=most, loss=loss):
            to.epsilon += loss.epsilon * changed / most
        case _:
            assert_never(release.mechanism)


def _sum(held: _Held, slot: str) -> int:
    slots, rows = held
    place = getattr(slots, slot)
    return sum(row.values[place] or 0 for row in rows)


def _moved(one: _Held, other: _Held, *, from_above: bool) -> int:
    """By so many rows, or parts of them, the rank of a value differs at most.

    Values of one end alone may be there, and of a quantile those around it, the first with all rows before it.
    """
    sign = -1 if from_above else 1
    ranks = []
    for slots, rows in (one, other):
        assert slots.extreme is not None and slots.count is not None
        counted: Counter[int] = Counter()
        for row in rows:
            value, count = row.values[slots.extreme], row.values[slots.count]
            if value is not None and count:
                counted[sign * value] += count
        values = sorted(counted)
        ranks.append((values, list(accumulate(counted[value] for value in values))))
    (mine, _), (theirs, _) = ranks
    if not mine or not theirs:
        return max((rank[-1] for _, rank in ranks if rank), default=0)
    first, last = max(mine[0], theirs[0]), min(mine[-1], theirs[-1])
    seen = [value for value in {*mine, *theirs} if first <= value <= last]
    return max(
        (abs(_rank(*ranks[0], value) - _rank(*ranks[1], value)) for value in seen), default=0
    )


def _rank(values: Sequence[int], ranks: Sequence[int], value: int) -> int:
    place = bisect_right(values, value)
    return ranks[place - 1] if place else 0
