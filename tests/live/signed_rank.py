"""An exact permutation test of pairs: Wilcoxon's signed ranks.

Two runs of a pair follow one another in random order, so if the two sides are alike each pair may be swapped
without changing the law of what was measured, whatever else the machine does meanwhile.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from functools import lru_cache


def p_value(here: Sequence[int], there: Sequence[int]) -> float:
    """
    Given    times of pairs, in whole nanoseconds
    Gives    the share of all 2^n swaps of pairs that move the sum of ranks as far from its middle, or farther

    >>> p_value([5, 5, 5], [5, 5, 5])
    1.0
    >>> p_value(range(1, 11), range(11, 31, 2)) == 2 / 2**10
    True
    """
    differences = sorted((a - b for a, b in zip(here, there, strict=True) if a != b), key=abs)
    ranks = _doubled_ranks([abs(difference) for difference in differences])
    positive = sum(r for r, difference in zip(ranks, differences, strict=True) if difference > 0)
    total = sum(ranks)
    far = abs(2 * positive - total)
    sums = _sums(tuple(ranks))
    extreme = sum(count for value, count in enumerate(sums) if abs(2 * value - total) >= far)
    return float(Fraction(extreme, 2 ** len(ranks)))


def _doubled_ranks(values: Sequence[int]) -> list[int]:
    """Twice the rank of each of ascending values, which is whole; equal ones share the middle of theirs."""
    found: list[int] = []
    while len(found) < len(values):
        first = len(found)
        equal = sum(value == values[first] for value in values[first:])
        found += [2 * first + 1 + equal] * equal
    return found


@lru_cache
def _sums(ranks: tuple[int, ...]) -> tuple[int, ...]:
    """How many choices of a subset have each sum."""
    counts = [1] + [0] * sum(ranks)
    for rank in ranks:
        for value in range(len(counts) - 1, rank - 1, -1):
            counts[value] += counts[value - rank]
    return tuple(counts)
