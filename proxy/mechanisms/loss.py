"""Privacy loss as plain data: (epsilon, delta) of one release, exact.

Loss is never computed in floats: epsilon and delta are Fractions from the policy's text to the
ledger.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction


@dataclass(frozen=True, slots=True)
class Loss:
    """(epsilon, delta) of an approximate-DP release under add/remove of one privacy unit.

    Given    epsilon >= 0, 0 <= delta < 1
    Source   Dwork, Roth 2014, definition 2.4
    """

    epsilon: Fraction
    delta: Fraction

    def __post_init__(self) -> None:
        if self.epsilon < 0 or not 0 <= self.delta < 1:
            raise ValueError("a loss has epsilon >= 0 and 0 <= delta < 1")

    def __add__(self, other: Loss) -> Loss:
        """Basic sequential composition (Dwork, Roth 2014, theorem 3.16).

        >>> Loss(Fraction(1, 2), Fraction(0)) + Loss(Fraction(1, 2), Fraction(1, 10))
        Loss(epsilon=Fraction(1, 1), delta=Fraction(1, 10))
        """
        return Loss(self.epsilon + other.epsilon, self.delta + other.delta)


NOTHING = Loss(Fraction(0), Fraction(0))
