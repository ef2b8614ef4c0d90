"""Counts and sums of which a mean is made, where the rows of a unit are limited to a bound known later."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

# A unit's mean is kept in so many parts of a step, cut towards 0.
PARTS = 2**20


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class UnitMeans:
    """By band of how many values a unit has (private_bound.UnitTotals): how many units there are, the number
    and the sum of their values, and the sum of their means, in PARTS of a step: exact, secret."""

    units: Mapping[int, int]
    counts: Mapping[int, int]
    sums: Mapping[int, int]
    means: Mapping[int, int]

    def __repr__(self) -> str:
        return "UnitMeans(hidden)"

    def limited(self, place: int, bound: int) -> tuple[int, int]:
        """The number of values and their sum, where a unit of more than bound adds its mean so many times.

        Given    bound: the one of this place
        Source   PROOFS.md, "Private bounds"

        >>> UnitMeans(units={1: 1, 3: 2}, counts={1: 1, 3: 9}, sums={1: 7, 3: 20}, means={1: 0, 3: 5 * PARTS}
        ...     ).limited(0, 1)
        (3, 12)
        """
        within = [band for band in self.units if band <= place + 1]
        beyond = [band for band in self.units if band > place + 1]
        count = sum(self.counts[band] for band in within)
        count += bound * sum(self.units[band] for band in beyond)
        means = sum(self.means[band] for band in beyond)
        return count, sum(self.sums[band] for band in within) + bound * means // PARTS
