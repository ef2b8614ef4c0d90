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
        # Whole numbers: comparing fractions takes ten times as long, and each charge makes some losses.
        delta = self.delta.numerator
        if self.epsilon.numerator < 0 or not 0 <= delta < self.delta.denominator:
            raise ValueError("a loss has epsilon >= 0 and 0 <= delta < 1")

    def covers(self, other: Loss) -> bool:
        """
        >>> Loss(Fraction(1, 2), Fraction(0)).covers(Loss(Fraction(1, 3), Fraction(0)))
        True
        >>> Loss(Fraction(1, 2), Fraction(0)).covers(Loss(Fraction(1, 3), Fraction(1, 10)))
        False
        """
        return _is_at_most(other.epsilon, self.epsilon) and _is_at_most(other.delta, self.delta)

    def __add__(self, other: Loss) -> Loss:
        """Basic sequential composition (Dwork, Roth 2014, theorem 3.16).

        >>> Loss(Fraction(1, 2), Fraction(0)) + Loss(Fraction(1, 2), Fraction(1, 10))
        Loss(epsilon=Fraction(1, 1), delta=Fraction(1, 10))
        """
        if not self.epsilon.numerator and not self.delta.numerator:
            return other  # sums begin with nothing
        return Loss(self.epsilon + other.epsilon, self.delta + other.delta)


def _is_at_most(one: Fraction, other: Fraction) -> bool:
    return one.numerator * other.denominator <= other.numerator * one.denominator


NOTHING = Loss(Fraction(0), Fraction(0))
