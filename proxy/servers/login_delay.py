"""How long the answer to a wrong password waits. Numbers only: who waits, waits elsewhere (login_gate.py).

Failures of one address count together, whatever names it tries; those of a name count together, whatever
address they come from. They delay failures only. A name that has logged in from an address before is known
there: its failures are counted by themselves, so that a neighbour behind the address cannot slow it down.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable

LONGEST_SECONDS = 8.0
_FIRST_SECONDS = 0.2
_FORGOTTEN_EVERY_SECONDS = 30.0  # one failure
_MOST_FAILURES = 12.0
_ENTRIES = 10_000
_KNOWN_NAMES_PER_ADDRESS = 1_000  # a proxy or a NAT is the address of everybody behind it


class LoginDelay:
    """
    Given    clock: seconds that only grow
    Gives    `failed` tells the delay of this answer. Memory is bounded: the oldest entries are forgotten
    """

    def __init__(
        self, clock: Callable[[], float], longest_seconds: float = LONGEST_SECONDS
    ) -> None:
        self._longest_seconds = longest_seconds
        self._of_addresses = _Failures(clock)
        self._of_names = _Failures(clock)
        self._of_known = _Failures(clock)
        self._known: OrderedDict[str, OrderedDict[str, None]] = OrderedDict()

    def is_known(self, address: str, name: str) -> bool:
        """Whether this name has logged in from this address."""
        return name in self._known.get(address, ())

    def failed(self, address: str, name: str, ago: float = 0.0) -> float:
        """ago: seconds since, where another process has seen it"""
        if self.is_known(address, name):
            failures = self._of_known.add((address, name), ago)
        else:
            failures = max(self._of_addresses.add(address, ago), self._of_names.add(name, ago))
        return float(min(self._longest_seconds, _FIRST_SECONDS * 2.0 ** (failures - 1)))

    def succeeded(self, address: str, name: str) -> None:
        self._of_known.forget((address, name))
        names = self._known.setdefault(address, OrderedDict())
        _remember(self._known, address, names, _ENTRIES)
        _remember(names, name, None, _KNOWN_NAMES_PER_ADDRESS)


class _Failures:
    """A number per key, which falls by one every half a minute."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._counted: OrderedDict[object, tuple[float, float]] = OrderedDict()

    def add(self, key: object, ago: float = 0.0) -> float:
        now = self._clock() - ago
        number, since = self._counted.get(key, (0.0, now))
        now = max(now, since)
        number = max(0.0, number - (now - since) / _FORGOTTEN_EVERY_SECONDS)
        number = min(_MOST_FAILURES, number + 1)
        _remember(self._counted, key, (number, now), _ENTRIES)
        return number

    def forget(self, key: object) -> None:
        self._counted.pop(key, None)


def _remember(entries: OrderedDict, key: object, value: object, most: int) -> None:  # type: ignore[type-arg]
    entries[key] = value
    entries.move_to_end(key)
    if len(entries) > most:
        entries.popitem(last=False)
