"""What events cost together, in each currency that a budget has."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction

from proxy.accounting.events import Event


@dataclass(frozen=True, slots=True, kw_only=True)
class EventPrice:
    """approx_delta: of mechanisms that may fail; gaussian_delta: of Gaussian noise, which rho covers, too."""

    epsilon: Fraction
    rho: Fraction
    approx_delta: Fraction
    gaussian_delta: Fraction

    def covers(self, other: EventPrice) -> bool:
        """Whether a charge of this price pays for the other one.

        The two deltas are not exchanged: a budget counts each of them by a rule of its own (PROOFS.md 25).
        """
        return (
            self.epsilon >= other.epsilon
            and self.rho >= other.rho
            and self.approx_delta >= other.approx_delta
            and self.gaussian_delta >= other.gaussian_delta
        )


def price_of(events: Iterable[Event]) -> EventPrice:
    """Add up events of the newest version."""
    found = list(events)
    return EventPrice(
        epsilon=_sum(found, "epsilon"),
        rho=_sum(found, "rho"),
        approx_delta=_sum([one for one in found if one["kind"] != "gaussian"], "delta"),
        gaussian_delta=_sum([one for one in found if one["kind"] == "gaussian"], "delta"),
    )


def _sum(events: Iterable[Event], field: str) -> Fraction:
    return sum((Fraction(str(event[field])) for event in events), Fraction(0))
