"""A noisy number with its interval: private already, everything made from it is post-processing."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from fractions import Fraction

LEVEL = Fraction(95, 100)  # with which intervals hold the exact number


@dataclass(frozen=True, slots=True, kw_only=True)
class Estimate:
    """least..most: holds the exact number with at least the probability that was asked for. at: the same value
    with its interval at another probability; None where that is not known."""

    value: Fraction
    least: Fraction
    most: Fraction
    at: Callable[[Fraction | float], Estimate] | None = field(
        default=None, compare=False, repr=False
    )

    def times(self, unit: Fraction) -> Estimate:
        """In another unit.

        >>> one = Estimate(value=Fraction(2), least=Fraction(1), most=Fraction(3))
        >>> str(one.times(Fraction(1, 2)).most)
        '3/2'
        """
        at = self.at
        return Estimate(
            value=self.value * unit,
            least=self.least * unit,
            most=self.most * unit,
            at=None if at is None else lambda level: at(level).times(unit),
        )
