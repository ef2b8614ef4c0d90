"""A noisy number with its interval: private already, everything made from it is post-processing."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction


@dataclass(frozen=True, slots=True, kw_only=True)
class Estimate:
    """least..most: holds the exact number with at least the probability that was asked for."""

    value: Fraction
    least: Fraction
    most: Fraction

    def times(self, unit: Fraction) -> Estimate:
        """In another unit.

        >>> one = Estimate(value=Fraction(2), least=Fraction(1), most=Fraction(3))
        >>> str(one.times(Fraction(1, 2)).most)
        '3/2'
        """
        return Estimate(value=self.value * unit, least=self.least * unit, most=self.most * unit)
