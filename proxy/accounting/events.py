"""What a charge is composed of: one versioned event for each mechanism, as plain JSON.

An accountant can price a receipt anew from its events. Fractions are texts, `numerator/denominator`.

    dlaplace   discrete Laplace noise of `scale` on whole numbers that move by at most `l1`
    gaussian   discrete Gaussian noise of variance `sigma2`
    pure       any mechanism that is epsilon-DP
    approx     any mechanism that is (epsilon, delta)-DP

Each has also its `epsilon` and `delta` as the plan composed them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from fractions import Fraction

from proxy.mechanisms.loss import Loss

VERSION = 1
_FIELDS: Mapping[str, frozenset[str]] = {
    "dlaplace": frozenset({"l1", "scale"}),
    "gaussian": frozenset({"sigma2"}),
    "pure": frozenset(),
    "approx": frozenset(),
}
_ALWAYS = frozenset({"v", "kind", "epsilon", "delta"})

Event = Mapping[str, object]


class UnknownEvent(ValueError):
    """An event of a kind or a version that this program cannot price."""


def dlaplace(loss: Loss, l1: int, scale: Fraction) -> Event:
    return {**_event("dlaplace", loss), "l1": l1, "scale": str(scale)}


def gaussian(loss: Loss, sigma2: Fraction) -> Event:
    return {**_event("gaussian", loss), "sigma2": str(sigma2)}


def mechanism(loss: Loss) -> Event:
    """
    >>> mechanism(Loss(Fraction(1, 2), Fraction(0)))["kind"]
    'pure'
    """
    return _event("approx" if loss.delta else "pure", loss)


def check(events: Iterable[object]) -> None:
    """Refuses  UnknownEvent"""
    for event in events:
        if not isinstance(event, Mapping):
            raise UnknownEvent("an event is an object")
        kind = event.get("kind")
        if event.get("v") != VERSION or not isinstance(kind, str) or kind not in _FIELDS:
            raise UnknownEvent(f"an event of version {event.get('v')!r} and kind {kind!r}")
        if event.keys() != _ALWAYS | _FIELDS[kind]:
            raise UnknownEvent(f"an event of kind {kind!r} with other fields")


def _event(kind: str, loss: Loss) -> dict[str, object]:
    return {
        "v": VERSION,
        "kind": kind,
        "epsilon": str(loss.epsilon),
        "delta": str(loss.delta),
    }
