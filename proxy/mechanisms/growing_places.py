"""MIN and MAX of units: the exponential mechanism over public places that lie close together where it matters.

A unit has one value in a group at most: its own minimum or maximum. A value counts at the next place away from
the end that is looked for, and a place is drawn as `order_statistic` draws a grid point. With n places the
answer is at about the (2 s / epsilon) ln(200 n)-th value: few places need few units. See PROOFS.md 9 "Places".
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from math import isqrt

from proxy.mechanisms import order_statistic
from proxy.mechanisms.bits import RandomBits
from proxy.mechanisms.order_statistic import Law, ValueCount

NEAR, FAR = (
    8,
    4,
)  # places in an octave of the distance: from the end that is looked for, from all others
CELLS = 64  # no gap between two places is wider than this part of the bounds
WHOLE = 128  # a grid of so many steps at most stays as it is
# So many times the target rank: with fewer units the answer would be nearer to the other end.
_TIMES_TARGET = 2


@dataclass(frozen=True, slots=True)
class Places:
    """Where MIN (is_least) or MAX of values in low..high may be answered. Public."""

    low: int
    high: int
    is_least: bool

    @property
    def indices(self) -> tuple[int, ...]:
        """List the grid indices, ascending, both bounds among them.

        From the end that is looked for, each step up to NEAR, then NEAR in each octave of the distance; from
        the other bound, and from zero if it is between them, FAR in an octave; and CELLS even parts of the
        whole.

        >>> Places(0, 5, True).indices
        (0, 1, 2, 3, 4, 5)
        >>> found = Places(0, 50_000, True).indices
        >>> len(found), found[7:16], found[-4:]
        (229, (7, 8, 9, 10, 11, 12, 13, 14, 16), (49997, 49998, 49999, 50000))
        """
        return _indices(self.low, self.high, self.is_least)

    @property
    def last(self) -> int:
        """The number of the last place; the first one is 0."""
        return len(self.indices) - 1

    def place_of(self, index: int) -> int:
        """Find the number of the place at which a value counts: the next one away from the end.

        >>> Places(0, 50_000, True).place_of(15), Places(0, 50_000, False).place_of(49_985)
        (15, 213)
        """
        if self.is_least:
            return bisect_left(self.indices, index)
        return bisect_right(self.indices, index) - 1

    def units_needed(self, epsilon: Fraction, values_per_unit: int = 1) -> int:
        """How many units a group must have, by a noisy number, for its answer to be shown.

        >>> Places(0, 50_000, True).units_needed(Fraction(47, 100))
        92
        """
        return _TIMES_TARGET * order_statistic.target_rank(self.last, epsilon, values_per_unit)

    def law(self, values: Sequence[ValueCount], epsilon: Fraction, values_per_unit: int = 1) -> Law:
        """Build the law of the answer, over the numbers of the places, reflected for MAX: secret.

        Args:
            values: How many units have their value at which place, by its number, ascending: all of them.
            epsilon: What the draw may spend.
            values_per_unit: So many values of all groups change with one unit.
        """
        law = order_statistic.minimum_law if self.is_least else order_statistic.maximum_law
        return law(values, 0, self.last, epsilon, values_per_unit)

    def drawn(
        self,
        values: Sequence[ValueCount],
        epsilon: Fraction,
        bits: RandomBits,
        values_per_unit: int = 1,
    ) -> int:
        """Draw an epsilon-DP answer, as a grid index."""
        draw = order_statistic.minimum if self.is_least else order_statistic.maximum
        return self.indices[draw(values, 0, self.last, epsilon, bits, values_per_unit)]


@lru_cache(maxsize=1024)
def _indices(low: int, high: int, is_least: bool) -> tuple[int, ...]:
    if low > high:
        raise ValueError("the lower bound is above the upper bound")
    width = high - low
    if width <= WHOLE:
        return tuple(range(low, high + 1))
    of_low, of_high = (NEAR, FAR) if is_least else (FAR, NEAR)
    found = {low + width * part // CELLS for part in range(CELLS + 1)}
    found.update(low + step for step in _steps(width, of_low))
    found.update(high - step for step in _steps(width, of_high))
    if low < 0 < high:
        found.update(_steps(high, FAR))
        found.update(-step for step in _steps(-low, FAR))
    return tuple(sorted(found))


def _steps(width: int, per_octave: int) -> Iterator[int]:
    """Distances from an end: 0, and floor(2^(j / per_octave)).

    >>> list(_steps(19, 4))
    [0, 1, 1, 1, 1, 2, 2, 2, 3, 4, 4, 5, 6, 8, 9, 11, 13, 16, 19]
    """
    yield 0
    power, each = 0, NEAR // per_octave
    # The root of 2^(8 x) without floats, which are not alike on all machines.
    while (step := isqrt(isqrt(isqrt(2**power)))) <= width:
        yield step
        power += each
