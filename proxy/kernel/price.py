"""What a plan costs, in the four currencies in which budgets are kept (PROOFS.md 25)."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction

from proxy.accounting.events import Event
from proxy.mechanisms.loss import Loss
from proxy.mechanisms.rho_of_noise import rho_of_pure

_NONE = Fraction(0)


@dataclass(frozen=True, slots=True, kw_only=True)
class Price:
    """epsilon, delta: by basic composition, without the delta of Gaussian noise; rho: of all mechanisms;
    gaussian_delta: of Gaussian noise by itself."""

    epsilon: Fraction = _NONE
    delta: Fraction = _NONE
    rho: Fraction = _NONE
    gaussian_delta: Fraction = _NONE

    def __add__(self, other: Price) -> Price:
        """Compose: each currency adds up, however later mechanisms are chosen (PROOFS.md 5, 16).

        >>> (Price(epsilon=Fraction(1)) + Price(epsilon=Fraction(1, 2), rho=Fraction(1))).epsilon
        Fraction(3, 2)
        """
        return Price(
            epsilon=self.epsilon + other.epsilon,
            delta=self.delta + other.delta,
            rho=self.rho + other.rho,
            gaussian_delta=self.gaussian_delta + other.gaussian_delta,
        )

    def covers(self, other: Price) -> bool:
        """Say whether a charge of this pays for another price in every currency.

        The two deltas are not exchanged: a budget counts each by a rule of its own (PROOFS.md 25).

        >>> paid = Price(epsilon=Fraction(1), rho=Fraction(1, 2))
        >>> paid.covers(Price(epsilon=Fraction(1), rho=Fraction(1, 3))), paid.covers(Price(rho=Fraction(1)))
        (True, False)
        """
        return (
            self.epsilon >= other.epsilon
            and self.rho >= other.rho
            and self.delta >= other.delta
            and self.gaussian_delta >= other.gaussian_delta
        )

    @property
    def loss(self) -> Loss:
        """As one (epsilon, delta)."""
        return Loss(self.epsilon, self.delta + self.gaussian_delta)


NOTHING_PAID = Price()


def pure_price(loss: Loss) -> Price:
    """Price a mechanism of which no more is known than its loss (PROOFS.md 24 Z2, Z4).

    >>> float(pure_price(Loss(Fraction(1), Fraction(0))).rho)
    0.46211715726000974
    """
    return Price(epsilon=loss.epsilon, delta=loss.delta, rho=rho_of_pure(loss.epsilon))


def price_of_events(events: Iterable[Event]) -> Price:
    """Read what a charge pays for of its receipt."""
    epsilon, delta, rho, gaussian = _NONE, _NONE, _NONE, _NONE
    for event in events:
        epsilon += Fraction(str(event["epsilon"]))
        rho += Fraction(str(event["rho"]))
        if event["kind"] == "gaussian":
            gaussian += Fraction(str(event["delta"]))
        else:
            delta += Fraction(str(event["delta"]))
    return Price(epsilon=epsilon, delta=delta, rho=rho, gaussian_delta=gaussian)
