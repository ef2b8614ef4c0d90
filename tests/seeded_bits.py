"""Repeatable random bits for tests; the product draws from proxy.engine.os_random, unseeded."""

from __future__ import annotations

import random  # noqa: TID251  the ban is for the product; a test must fail the same way twice


class SeededBits:
    """`RandomBits` from a Mersenne twister: uniform, repeatable, not secret."""

    def __init__(self, seed: int) -> None:
        self._generator = random.Random(seed)

    def below(self, n: int) -> int:
        """A uniform integer of 0 .. n-1."""
        if n < 1:
            raise ValueError("below(n) needs n >= 1")
        return self._generator.randrange(n)
