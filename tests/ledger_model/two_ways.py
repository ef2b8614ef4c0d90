"""The second way to fit a budget, and what a charge costs: in fractions, as a model of prices.sql.

Written from PROOFS.md 25, not from the SQL.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction

_STEP = Fraction(1, 10**30)
_NOTHING = Fraction(0)


@dataclass(frozen=True, slots=True, kw_only=True)
class Cost:
    """Of one charge, or of all in a window."""

    epsilon: Fraction = _NOTHING
    delta: Fraction = _NOTHING
    rho: Fraction = _NOTHING
    approx: Fraction = _NOTHING
    gaussian: Fraction = _NOTHING

    def __add__(self, other: Cost) -> Cost:
        return Cost(
            epsilon=self.epsilon + other.epsilon,
            delta=self.delta + other.delta,
            rho=self.rho + other.rho,
            approx=self.approx + other.approx,
            gaussian=self.gaussian + other.gaussian,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Most:
    """A budget. rho None: basic composition alone."""

    epsilon: Fraction
    delta: Fraction
    rho: Fraction | None


def priced(events: Iterable[Mapping[str, object]], epsilon: Fraction, delta: Fraction) -> Cost:
    """What events tell, where they tell all of the charge; else one approximate mechanism."""
    found = Cost()
    for event in events:
        if "rho" not in event:
            return unpriced(epsilon, delta)
        of_event = Fraction(str(event["delta"]))
        is_gaussian = event["kind"] == "gaussian"
        found += Cost(
            epsilon=Fraction(str(event["epsilon"])),
            delta=of_event,
            rho=Fraction(str(event["rho"])),
            approx=_NOTHING if is_gaussian else of_event,
            gaussian=of_event if is_gaussian else _NOTHING,
        )
    if found.epsilon < epsilon or found.delta < delta:
        return unpriced(epsilon, delta)
    return Cost(
        epsilon=epsilon,
        delta=delta,
        rho=found.rho,
        approx=min(found.approx, delta),
        gaussian=min(found.gaussian, delta),
    )


def unpriced(epsilon: Fraction, delta: Fraction) -> Cost:
    return Cost(epsilon=epsilon, delta=delta, rho=_bound(epsilon), approx=delta)


def drawn(whole: Cost, epsilon: Fraction, delta: Fraction) -> Cost:
    """What the shared budget pays of a charge."""
    if (epsilon, delta) == (whole.epsilon, whole.delta):
        return whole
    if epsilon == delta == 0:
        return Cost()
    is_all_pure = delta == 0 or whole.gaussian == 0
    return Cost(
        epsilon=epsilon,
        delta=delta,
        rho=min(whole.rho, _bound(epsilon)) if is_all_pure else whole.rho,
        approx=min(whole.approx, delta),
        gaussian=min(whole.gaussian, delta),
    )


def fits(spent: Cost, most: Most) -> bool:
    """With the charge."""
    if most.rho is None:
        return spent.epsilon <= most.epsilon and spent.delta <= most.delta
    failures = spent.approx + most.delta / 4
    if spent.gaussian <= most.delta / 4:  # both are rounded up, and together within delta
        failures = min(spent.approx + spent.gaussian, spent.delta)
    by_epsilon = spent.epsilon <= most.epsilon and spent.gaussian <= most.delta / 4
    return failures <= most.delta / 2 and (spent.rho <= most.rho or by_epsilon)


def _bound(epsilon: Fraction) -> Fraction:
    return -(-min(epsilon**2 / 2, epsilon) // _STEP) * _STEP
