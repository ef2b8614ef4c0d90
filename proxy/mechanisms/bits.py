"""Where random bits come in: an interface, handed in from above; nothing here draws anything."""

from __future__ import annotations

from typing import Protocol


class RandomBits(Protocol):
    """A source of independent uniform integers."""

    def below(self, n: int) -> int:
        """A uniform integer of 0 .. n-1, independent of every other draw.

        Given    n >= 1
        Refuses  n < 1 with ValueError
        """
        ...
