"""What a charge is composed of: one versioned event for each mechanism, as plain JSON.

    dlaplace   discrete Laplace noise of `scale` on whole numbers that move by at most `l1` in all
    gaussian   discrete Gaussian noise of variance `sigma2` on whole numbers that move by a vector of the
               squared length `l2squared`
    pure       any mechanism that is epsilon-DP, and Laplace noise whose `l1` is chosen after the charge
    approx     any mechanism that is (epsilon, delta)-DP
    adjust     what an operator charged by hand, with the `reason`

Each has `epsilon`, `delta` and `rho`, as decimals rounded up. rho follows from the event alone: from the noise
where that is told, else from epsilon; of an approximate mechanism beside its delta. So an accountant can price
a receipt anew. Where bounds of what was asked end with the present, `now` is the day that stood for it.
Version 1 had no rho, and told no length: what it told is read, and never written.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from fractions import Fraction

from proxy.accounting.amounts import charge, decimal, rho_charge
from proxy.mechanisms.loss import Loss
from proxy.mechanisms.rho_of_noise import rho_of_gaussian, rho_of_laplace, rho_of_pure

VERSION = 2
_FIELDS: Mapping[tuple[int, str], frozenset[str]] = {
    (1, "dlaplace"): frozenset({"l1", "scale"}),
    (1, "gaussian"): frozenset({"sigma2"}),
    (1, "pure"): frozenset(),
    (1, "approx"): frozenset(),
    (2, "dlaplace"): frozenset({"rho", "l1", "scale"}),
    (2, "gaussian"): frozenset({"rho", "l2squared", "sigma2"}),
    (2, "pure"): frozenset({"rho"}),
    (2, "approx"): frozenset({"rho"}),
    (2, "adjust"): frozenset({"rho", "reason"}),
}
_ALWAYS = frozenset({"v", "kind", "epsilon", "delta"})
_NOW = "now"  # of version 2, and not always

Event = Mapping[str, object]


class UnknownEvent(ValueError):
    """An event of a kind or a version that this program cannot price, or one that is priced wrongly."""


def dlaplace(loss: Loss, l1: int, scale: Fraction) -> Event:
    """
    >>> dlaplace(Loss(Fraction(1), Fraction(0)), 1, Fraction(1))["rho"]
    '0.462117157260009758502318483644'
    """
    rho = rho_of_laplace(l1, scale)
    return {**_event("dlaplace", loss, rho), "l1": l1, "scale": str(scale)}


def gaussian(loss: Loss, l2squared: Fraction, sigma2: Fraction) -> Event:
    rho = rho_of_gaussian(l2squared, sigma2)
    return {
        **_event("gaussian", loss, rho),
        "l2squared": str(l2squared),
        "sigma2": str(sigma2),
    }


def mechanism(loss: Loss) -> Event:
    """
    >>> mechanism(Loss(Fraction(1, 2), Fraction(0)))["kind"]
    'pure'
    """
    return _event("approx" if loss.delta else "pure", loss, _of_epsilon(loss))


def with_present(event: Event, day: str) -> Event:
    """The event of an answer whose bounds end with the present.

    Args:
        event: Of this version.
        day: That stood for the present, as a date.

    >>> with_present(mechanism(Loss(Fraction(1), Fraction(0))), "2026-11-26")["now"]
    '2026-11-26'
    """
    return {**event, _NOW: day}


def check(events: Iterable[object]) -> None:
    """Refuses  UnknownEvent"""
    for event in events:
        if not isinstance(event, Mapping):
            raise UnknownEvent("an event is an object")
        version, kind = event.get("v"), event.get("kind")
        if not (isinstance(version, int) and isinstance(kind, str)):
            raise UnknownEvent("an event has a version and a kind")
        fields = _FIELDS.get((version, kind))
        if fields is None:
            raise UnknownEvent(f"an event of version {version!r} and kind {kind!r}")
        told = event.keys() - ({_NOW} if version == VERSION else set())
        if told != _ALWAYS | fields:
            raise UnknownEvent(f"an event of kind {kind!r} with other fields")
        if "rho" in fields and _number(event, "rho") < rho_of(event):
            raise UnknownEvent(f"an event of kind {kind!r} with less rho than it has")


def rho_of(event: Event) -> Fraction:
    """What an event of this version costs under zCDP: by what it tells of its noise, whatever its rho says.

    Refuses  UnknownEvent where the noise is none

    >>> float(rho_of(mechanism(Loss(Fraction(1), Fraction(0)))))
    0.46211715726000974
    """
    try:
        match event["kind"]:
            case "dlaplace":
                return rho_of_laplace(int(str(event["l1"])), _number(event, "scale"))
            case "gaussian":
                return rho_of_gaussian(_number(event, "l2squared"), _number(event, "sigma2"))
            case _:
                return rho_of_pure(_number(event, "epsilon"))
    except (ValueError, ZeroDivisionError) as error:
        raise UnknownEvent(f"an event of kind {event['kind']!r} that cannot be: {error}") from None


def _of_epsilon(loss: Loss) -> Fraction:
    """Of the epsilon that the event tells, which is rounded up."""
    return rho_of_pure(charge(loss).epsilon)


def _number(event: Event, field: str) -> Fraction:
    return Fraction(str(event[field]))


def _event(kind: str, loss: Loss, rho: Fraction) -> dict[str, object]:
    amount = charge(loss)
    return {
        "v": VERSION,
        "kind": kind,
        "epsilon": f"{decimal(amount.epsilon):f}",
        "delta": f"{decimal(amount.delta):f}",
        "rho": f"{decimal(rho_charge(rho)):f}",
    }
