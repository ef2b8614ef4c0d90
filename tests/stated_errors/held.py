"""A share of intervals that hold, and whether it is too low."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import sqrt

HOLDS = Fraction(94, 100)
ENOUGH = 2000  # numbers, of which a share below 94 % is no chance
_SEVERAL = 5.5  # deviations: once in 50 million shapes


@dataclass(slots=True)
class Held:
    """Of numbers that are stated, how many hold."""

    numbers: int = 0
    held: int = 0

    def add(self, holds: bool) -> None:
        self.numbers += 1
        self.held += holds

    def __iadd__(self, other: Held) -> Held:
        self.numbers += other.numbers
        self.held += other.held
        return self

    @property
    def share(self) -> Fraction:
        return Fraction(self.held, max(1, self.numbers))

    @property
    def is_low(self) -> bool:
        """Of few numbers by more than chance."""
        if self.numbers >= ENOUGH:
            return self.share < HOLDS
        missed = 0.05 * self.numbers + _SEVERAL * sqrt(0.05 * 0.95 * self.numbers) + 1
        return self.numbers - self.held > missed

    def __str__(self) -> str:
        return f"{float(self.share):.4f} of {self.numbers:,}"
