"""Weights of rows for quantiles: a unit with more than R rows counts as R rows, each with the same weight.

No row is left out, so quantiles keep the shape of what a unit has. R is chosen from a noisy histogram of
octaves of the rows of units. It balances the noise of a rank against the rows that the weights take away.
Proof: PROOFS.md, "Weights of rows".
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache

from proxy.mechanisms.octave_bound import OctaveRule, last_seen, mass_unseen

# Weights are taken in so many parts of a row, rounded toward 0.
PARTS = 2**20

# As of means of deviations: fitted on sixteen data sets and judged on others (docs/reference/accuracy.md).
_RULE = OctaveRule(least=2.5, gap=1.6)
_SPREAD = 1.5  # of what is taken away so much more than its share may be in one group
_LISTED = 8  # octaves of which each number of rows is looked at


@dataclass(frozen=True, slots=True, kw_only=True)
class WeightedRows:
    """A bound on the rows of a unit, with estimates from the noisy histogram.

    Attributes:
        bound: R. A unit with more rows counts as R of them.
        units, rows: Number of units, and of rows in all groups. 0 if the histogram shows no units.
        lost: Number of rows in all groups by which the weights fall short of that.
    """

    bound: int
    units: int
    rows: int
    lost: int

    @property
    def is_poor(self) -> bool:
        """Whether nothing is known of what the weights take away."""
        return self.units == 0

    @property
    def rows_of_unit(self) -> Fraction:
        """What the rows of a unit weigh together, on average: 1 to the bound."""
        if self.is_poor:
            return Fraction(1)
        return Fraction(
            max(self.units, min(self.rows - self.lost, self.bound * self.units)), self.units
        )


def octaves(bounds: Sequence[int]) -> int:
    """Give the number of octaves up to what is above all bounds.

    >>> octaves((1, 2, 3, 4)), octaves((1, 2, 3, 4, 5))
    (4, 4)
    """
    return bounds[-1].bit_length() + 1


def counts_by_octave(units: Mapping[int, int], bounds: Sequence[int]) -> list[int]:
    """Count units by octave of their rows: 1, 2, 3 to 4, 5 to 8, ...

    Args:
        units: Number of units by band. Band i is above bound i - 1 and at most bound i, counted from 1. The
            band after the last bound is above all.
        bounds: Whole numbers floor(2^(j/4)), upwards from 1, and the largest one.

    >>> counts_by_octave({1: 5, 2: 2, 3: 1, 4: 3, 5: 4}, (1, 2, 3, 4))
    [5, 2, 4, 4]
    """
    counts = [0] * octaves(bounds)
    for band, number in units.items():
        most = bounds[band - 1] if band <= len(bounds) else bounds[-1] + 1
        counts[(most - 1).bit_length()] += number
    return counts


def weighed(
    counts: Sequence[int], bounds: Sequence[int], scale: float, noise: float, groups: int
) -> WeightedRows:
    """Choose R so that the error in rank is least. Post-processing.

    Args:
        counts: Noisy number of units in each octave.
        bounds: As of `counts_by_octave`.
        scale: Of the noise in `counts`.
        noise: By how many rows a rank is off, for R = 1.
        groups: How many are answered.
    """
    last = last_seen(counts, scale, _RULE)
    if last is None:
        return WeightedRows(bound=bounds[0], units=0, rows=0, lost=0)
    seen = [max(0.0, float(count)) for count in counts[: last + 1]]
    rows = _above(seen, 0)
    best, least, missing = bounds[0], math.inf, 0.0
    for bound in bounds:
        lost = _above(seen, bound)
        error = noise * bound * groups / max(1.0, rows - lost) + lost / max(1.0, rows)
        if error < least:
            best, least, missing = bound, error, lost
        if bound >= 2**last:
            break
    unseen = mass_unseen(seen, scale, 1.0, best) + _deviation(last, scale, best)
    return WeightedRows(
        bound=best,
        units=max(1, math.ceil(sum(seen))),
        rows=max(1, math.ceil(rows)),
        lost=math.ceil(missing + unseen),
    )


def _above(seen: Sequence[float], bound: int) -> float:
    """Estimate by how many rows units exceed a bound."""
    return sum(number * _excess(octave, bound) for octave, number in enumerate(seen) if number)


def _deviation(last: int, scale: float, bound: int) -> float:
    """Give the standard deviation that the noise of the octaves leaves in `_above`."""
    squares = sum(_excess(octave, bound) ** 2 for octave in range(last + 1))
    return scale * math.sqrt(2 * squares)


@lru_cache(maxsize=4096)
def _excess(octave: int, bound: int) -> float:
    """By how many rows a unit of an octave exceeds a bound, on average: 1/n of its units have n rows each.

    >>> _excess(0, 0), _excess(1, 1), _excess(2, 4)
    (1.0, 1.0, 0.0)
    """
    high = 1 << octave
    if bound >= high:
        return 0.0
    if octave <= _LISTED:
        numbers = range(high // 2 + 1, high + 1)
        shares = sum(1 / number for number in numbers)
        excess = sum(max(0, number - bound) / number for number in numbers)
        return excess / shares
    low = max(high / 2, bound)
    return ((high - low) - bound * math.log(high / low)) / math.log(2)


def lost_in_group(weighted: WeightedRows, units: int) -> int:
    """Estimate the rows that the weights take away in one group. Post-processing.

    Args:
        weighted: Of all groups.
        units: At most about so many the group has, each divided over the groups of its rows.

    >>> lost_in_group(WeightedRows(bound=4, units=500, rows=1000, lost=100), 100)
    30
    >>> lost_in_group(WeightedRows(bound=4, units=500, rows=1000, lost=100), 5000)
    100
    """
    share = _SPREAD * max(0, units) / max(1, weighted.units)
    return math.ceil(weighted.lost * min(1.0, share))
