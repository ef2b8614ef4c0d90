"""The connections that have not logged in: how many there may be, in all and of one address."""

from __future__ import annotations

from typing import Generic, TypeVar

T = TypeVar("T")


class Strangers(Generic[T]):
    """Where there are too many, the oldest makes room: a client that means it is gone from here in a moment."""

    def __init__(self, at_once: int, each: int) -> None:
        self._at_once = at_once
        self._each = each
        self._count = 0
        self._of_addresses: dict[str, dict[T, None]] = {}  # the oldest first

    def __len__(self) -> int:
        return self._count

    def add(self, one: T, address: str) -> T | None:
        """Who has to go for it; it is removed already."""
        held = self._of_addresses.get(address, {})
        crowded: str | None = None
        if len(held) >= self._each:
            crowded = address
        elif self._count >= self._at_once:
            crowded = max(self._of_addresses, key=lambda name: len(self._of_addresses[name]))
        oldest = None
        if crowded is not None:
            oldest = next(iter(self._of_addresses[crowded]))
            self.remove(oldest, crowded)
        self._of_addresses.setdefault(address, {})[one] = None
        self._count += 1
        return oldest

    def remove(self, one: T, address: str) -> None:
        held = self._of_addresses.get(address, {})
        if one in held:
            del held[one]
            self._count -= 1
            if not held:
                del self._of_addresses[address]
