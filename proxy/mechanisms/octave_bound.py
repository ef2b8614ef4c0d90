"""Choose a contribution bound from a noisy histogram of octaves.

Each unit counts once, in the octave of its total. Bounds stand four to an octave. The chosen bound balances
the noise of a sum against the mass that the bound cuts off. One histogram costs as much as one count, since a
unit changes one cell by 1. Proof: PROOFS.md, "Means of deviations".
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from math import isqrt

from proxy.mechanisms import discrete_laplace
from proxy.mechanisms.bits import RandomBits

PLACES = 4  # bounds in an octave
# All in scales of the noise. Fitted on sixteen data sets and judged on others (docs/reference/accuracy.md).
_FIRST = 5.0  # the fullest octave holds more units than this, else the histogram shows nothing
_CAP = 9.0  # an octave with more units than this counts, however far it is from the others
_UNSEEN = 1.5  # so many units may be in an octave without being seen
_BEYOND = 0.8  # so many units may exceed the bound within the last octave that is seen
_FALL = 0.6  # at most this ratio from the last octave to the first one that is not seen
_OCTAVES_BEYOND = 10
_MEAN = 1.3  # of an octave, in its lower ends


@dataclass(frozen=True, slots=True, kw_only=True)
class OctaveRule:
    """When an octave above the fullest one counts: at more than `least` scales of noise, and `gap` more for
    each empty octave between."""

    least: float
    gap: float


@dataclass(frozen=True, slots=True, kw_only=True)
class OctaveBound:
    """A bound, with estimates of the mass above it.

    Attributes:
        place: Of the bound, among all bounds.
        bound: In steps of a unit's total.
        cut: Mass above the bound, by the histogram.
        unseen: Mass above the bound that the histogram cannot show.
    """

    place: int
    bound: int
    cut: float
    unseen: float

    @property
    def above(self) -> float:
        """All mass above the bound."""
        return self.cut + self.unseen


@lru_cache(maxsize=1024)
def quarter_bounds(lowest: Fraction, octaves: int) -> tuple[int, ...]:
    """Give the bounds from `lowest` upwards, four in each octave, rounded down and at least 1.

    The last octave has no bound above it.

    >>> quarter_bounds(Fraction(4), 3)
    (4, 4, 5, 6, 8, 9, 11, 13, 16)
    """
    power = lowest**4
    return tuple(
        max(1, isqrt(isqrt(math.floor(power * 2**step))))
        for step in range(PLACES * (octaves - 1) + 1)
    )


def octaves_of(units: Mapping[int, int], octaves: int) -> list[int]:
    """Count units by octave.

    Args:
        units: Number of units by band. Band j is above bound j - 1 and at most bound j, counted from 0.
        octaves: How many there are. The last one is open.

    >>> octaves_of({0: 5, 1: 2, 4: 1, 5: 3, 99: 4}, 3)
    [5, 3, 7]
    """
    counts = [0] * octaves
    for band, number in units.items():
        counts[min(-(-band // PLACES), octaves - 1)] += number
    return counts


def noisy(counts: Sequence[int], scale: Fraction, bits: RandomBits) -> tuple[int, ...]:
    """Release a histogram of units, with noise of this scale in each cell.

    Privacy: epsilon-DP for epsilon = 1 / scale. One unit changes one cell by 1 (PROOFS.md 1).
    """
    return tuple(count + discrete_laplace.sample(bits, scale) for count in counts)


def chosen(
    counts: Sequence[int],
    bounds: Sequence[int],
    scale: float,
    noise: float,
    concentration: float,
    rule: OctaveRule,
) -> OctaveBound | None:
    """Choose the bound that makes noise and cut mass together least. Post-processing.

    Args:
        counts: Noisy number of units in each octave.
        bounds: As `quarter_bounds` gives them for so many octaves.
        scale: Of the noise in `counts`.
        noise: Scale of the noise of the bounded sum, for a bound of 1.
        concentration: Sum of squares of the groups' shares of all rows: 1 for one group.
        rule: When an octave counts.

    Returns:
        The bound. None if the histogram shows no units.
    """
    last = last_seen(counts, scale, rule)
    if last is None:
        return None
    seen = [max(0.0, float(count)) for count in counts[: last + 1]]
    lowest = bounds[-1] / 2.0 ** (len(counts) - 1)  # the least bound, not rounded
    best: OctaveBound | None = None
    least = math.inf
    for place in range(PLACES * last + 1):
        bound = bounds[place]
        cut = _mass_above(seen, lowest, bound)
        loss = 2 * (noise * bound) ** 2 + (concentration * cut) ** 2
        if loss < least:
            unseen = mass_unseen(seen, scale, lowest, bound)
            best, least = OctaveBound(place=place, bound=bound, cut=cut, unseen=unseen), loss
    return best


def last_seen(counts: Sequence[int], scale: float, rule: OctaveRule) -> int | None:
    """Find the last octave that counts; None if the histogram shows no units. Post-processing."""
    fullest = max(range(len(counts)), key=lambda octave: counts[octave])
    if counts[fullest] <= _FIRST * scale:
        return None
    last = fullest
    for octave in range(fullest + 1, len(counts)):
        if counts[octave] > scale * min(_CAP, rule.least + rule.gap * (octave - last - 1)):
            last = octave
    return last


def _mass_above(seen: Sequence[float], lowest: float, bound: float) -> float:
    """Estimate by how much totals exceed a bound, if they are log-uniform within each octave."""
    mass = 0.0
    for octave, number in enumerate(seen):
        high = lowest * 2.0**octave
        if number <= 0 or bound >= high:
            continue
        low = max(high / 2, bound)
        mass += number * ((high - low) - bound * math.log(high / low)) / math.log(2)
    return mass


def mass_unseen(seen: Sequence[float], scale: float, lowest: float, bound: float) -> float:
    """Estimate the mass above a bound that the histogram cannot show."""
    return _BEYOND * scale * bound + _mass_beyond(seen, scale, lowest, bound)


def _mass_beyond(seen: Sequence[float], scale: float, lowest: float, bound: float) -> float:
    """Estimate by how much totals in octaves that are not seen exceed a bound.

    Numbers go on falling as the last three octaves do, and as much faster with each octave.
    """
    last = len(seen) - 1
    third, second, first = (
        max(seen[octave], scale) if octave >= 0 else scale for octave in (last - 2, last - 1, last)
    )
    ratio = min(_FALL, first / second)
    turn = min(1.0, ratio / min(1.0, second / third))
    number = min(first if ratio >= _FALL else first * ratio, _UNSEEN * scale)
    mass = 0.0
    for octave in range(_OCTAVES_BEYOND - 1):
        if number < 1:
            break
        mass += number * max(0.0, _MEAN * lowest * 2.0 ** (last + octave) - bound)
        ratio *= turn
        number *= ratio
    return mass
