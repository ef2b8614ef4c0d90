"""What a plan costs, in the four currencies in which budgets are kept (PROOFS.md 25), and the events that a
receipt has of it. A `Price` holds both, so a check, an admission and a receipt count the same."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from fractions import Fraction

from proxy.accounting.events import Event, dlaplace, gaussian, mechanism, with_present
from proxy.mechanisms.loss import Loss
from proxy.mechanisms.rho_of_noise import rho_of_gaussian, rho_of_laplace, rho_of_pure

_NONE = Fraction(0)


@dataclass(frozen=True, slots=True, kw_only=True)
class Price:
    """epsilon, delta: by basic composition, without the delta of Gaussian noise; rho: of all mechanisms;
    gaussian_delta: of Gaussian noise by itself; events: the mechanisms, one for each, as a receipt has them."""

    epsilon: Fraction = _NONE
    delta: Fraction = _NONE
    rho: Fraction = _NONE
    gaussian_delta: Fraction = _NONE
    events: tuple[Event, ...] = field(default=(), compare=False)

    def __add__(self, other: Price) -> Price:
        """Compose: each currency adds up, however later mechanisms are chosen (PROOFS.md 5, 16).

        >>> (Price(epsilon=Fraction(1)) + Price(epsilon=Fraction(1, 2), rho=Fraction(1))).epsilon
        Fraction(3, 2)
        """
        if self is NOTHING_PAID:
            return other  # sums begin with nothing
        return Price(
            epsilon=self.epsilon + other.epsilon,
            delta=self.delta + other.delta,
            rho=self.rho + other.rho,
            gaussian_delta=self.gaussian_delta + other.gaussian_delta,
            events=self.events + other.events,
        )

    def covers(self, other: Price) -> bool:
        """Say whether a charge of this pays for another price in every currency.

        The two deltas are not exchanged: a budget counts each by a rule of its own (PROOFS.md 25).

        >>> paid = Price(epsilon=Fraction(1), rho=Fraction(1, 2))
        >>> paid.covers(Price(epsilon=Fraction(1), rho=Fraction(1, 3))), paid.covers(Price(rho=Fraction(1)))
        (True, False)
        """
        return self is other or (
            self.epsilon >= other.epsilon
            and self.rho >= other.rho
            and self.delta >= other.delta
            and self.gaussian_delta >= other.gaussian_delta
        )

    def on(self, day: str | None) -> Price:
        """The price of a block whose bounds end with the present, if a day stands for it."""
        if day is None:
            return self
        return replace(self, events=tuple(with_present(event, day) for event in self.events))

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
    return Price(
        epsilon=loss.epsilon,
        delta=loss.delta,
        rho=rho_of_pure(loss.epsilon),
        events=(mechanism(loss),),
    )


def laplace_price(loss: Loss, l1: int, scale: Fraction) -> Price:
    """Price discrete Laplace noise of this scale on whole numbers that move by so much in all.

    That the scale is enough for the loss is judged before (`measurements.price_of_noise`); rho is of the scale
    itself (PROOFS.md 24 Z3).

    >>> one = Loss(Fraction(1), Fraction(0))
    >>> laplace_price(one, 2, Fraction(4)).rho < laplace_price(one, 2, Fraction(2)).rho < pure_price(one).rho
    True
    """
    return Price(
        epsilon=loss.epsilon,
        delta=loss.delta,
        rho=rho_of_laplace(l1, scale),
        events=(dlaplace(loss, l1, scale),),
    )


def gaussian_price(loss: Loss, squared: Fraction, sigma2: Fraction) -> Price:
    """Price discrete Gaussian noise on numbers that move by a vector of this squared length (PROOFS.md 5).

    >>> gaussian_price(Loss(Fraction(1), Fraction(1, 10**6)), Fraction(9), Fraction(18)).rho
    Fraction(1, 4)
    """
    return Price(
        epsilon=loss.epsilon,
        rho=rho_of_gaussian(squared, sigma2),
        gaussian_delta=loss.delta,
        events=(gaussian(loss, squared, sigma2),),
    )
