"""A bound on what one unit adds to a total, chosen privately: AboveThreshold over a public grid of bounds.

The walk goes upwards and ends at the first bound with few units above it. Where few units have a total at all
it ends before the first bound: then nothing can be said. Proof: PROOFS.md, "Private bounds".
"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import accumulate
from math import isqrt

from proxy.mechanisms import discrete_laplace
from proxy.mechanisms.bits import RandomBits

# Measured over many shapes of totals (docs/reference/accuracy.md). Beyond the largest total each octave has
# four places at which the walk may end; only a low threshold lets it go on through many, to a bound at which
# noise is worse than all else together. So the threshold is far more exact than the counts.
_OF_THRESHOLD = Fraction(17, 20)
_STOP, _NEEDED = Fraction(6, 10), Fraction(36, 10)  # in scales of the counts


def bounds_up_to(cap: int) -> tuple[int, ...]:
    """Whole numbers from 1 to cap, four in each doubling: floor(2^(j/4)).

    Refuses  cap < 1, with ValueError
    Source   four steps an octave: the bound below the best one loses a sixth of it at most

    >>> bounds_up_to(20)
    (1, 2, 3, 4, 5, 6, 8, 9, 11, 13, 16, 19, 20)
    """
    if cap < 1:
        raise ValueError("a bound is at least 1")
    found = {1}
    power = 1
    while (bound := isqrt(isqrt(power))) < cap:
        found.add(bound)
        power *= 2
    return (*sorted(found - {cap}), cap)


@dataclass(frozen=True, slots=True, kw_only=True)
class Walk:
    """The noise of a walk over the bounds, for what it may spend.

    of_threshold, of_counts: scales of discrete Laplace noise; 1/of_threshold + 1/of_counts is the loss. stop:
    with about so many units above a bound the walk ends there; needed: with fewer units it does not begin.
    """

    of_threshold: Fraction
    of_counts: Fraction
    stop: int
    needed: int


def walk(epsilon: Fraction) -> Walk:
    """
    Given    epsilon > 0
    Source   PROOFS.md, "Private bounds"; the numbers: measured, tests/mechanisms/bound_accuracy.py

    >>> walk(Fraction(4)).of_threshold, walk(Fraction(4)).of_counts
    (Fraction(5, 17), Fraction(5, 3))
    """
    of_counts = discrete_laplace.scale_for(1, epsilon * (1 - _OF_THRESHOLD))
    return Walk(
        of_threshold=discrete_laplace.scale_for(1, epsilon * _OF_THRESHOLD),
        of_counts=of_counts,
        stop=math.ceil(_STOP * of_counts),
        needed=math.ceil(_NEEDED * of_counts),
    )


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class UnitTotals:
    """How many units have a total in each band, and the sum of their totals: exact, secret.

    Band 0: a total of 0; band i: above the bound i - 1 and at most the bound i, counted from 1; the band after
    the last bound: above all. A negative total is in the band of its size, negated.
    """

    units: Mapping[int, int]
    sums: Mapping[int, int]

    def __repr__(self) -> str:
        return "UnitTotals(hidden)"

    def above(self, place: int) -> int:
        """How many units are above the bound of this place, from 0; of place -1: that have a total."""
        return sum(number for band, number in self.units.items() if abs(band) > place + 1)

    def above_each(self, bounds: int) -> list[int]:
        """As `above`, of each place from -1 to the last bound but one, in one pass over the bands."""
        at = [0] * (bounds + 2)
        for band, number in self.units.items():
            at[abs(band)] += number
        return list(accumulate(reversed(at)))[::-1][1 : bounds + 1]

    def clamped(self, place: int, bound: int) -> int:
        """The sum of all totals, each cut to bound, the one of this place."""
        within = sum(total for band, total in self.sums.items() if abs(band) <= place + 1)
        ends = sum(
            number if band > 0 else -number
            for band, number in self.units.items()
            if abs(band) > place + 1
        )
        return within + bound * ends


def choose(totals: UnitTotals, bounds: Sequence[int], walk: Walk, bits: RandomBits) -> int | None:
    """The place of the bound that is chosen.

    Given    bounds: public, upwards
    Gives    the place a little beyond the first one with few units above it, the last one at most; None: so few
             units have a total that there is nothing to choose by
    Source   AboveThreshold: Dwork, Naor, Reingold, Rothblum, Vadhan 2009; Lyu, Su, Li 2017, algorithm 1, with
             counts that all move the same way
    """
    shift = discrete_laplace.sample(bits, walk.of_threshold)
    for place, above in enumerate(totals.above_each(len(bounds)), start=-1):
        few = walk.needed if place < 0 else walk.stop
        if above + discrete_laplace.sample(bits, walk.of_counts) <= few + shift:
            return None if place < 0 else little_beyond(place, bounds)
    return len(bounds) - 1


def little_beyond(place: int, bounds: Sequence[int]) -> int:
    """The place of the largest bound that is at most 10/7 of this one: what few units have above a bound still
    weighs. Half an octave, but not from 1 row to 2.

    >>> [little_beyond(place, (1, 2, 3, 4, 5, 6, 8, 9, 11)) for place in range(9)]
    [0, 1, 3, 4, 5, 6, 8, 8, 8]
    """
    return bisect_right(bounds, bounds[place] * 10 // 7) - 1
