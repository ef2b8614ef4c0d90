"""The operating system's random bits: the only source of noise in the product.

There is no seed and no off switch here; tests hand in tests/seeded_bits.py instead.
"""

from __future__ import annotations

import secrets


class OsRandom:
    """`RandomBits` (proxy/mechanisms/bits.py) from the kernel's cryptographic generator.

    >>> OsRandom().below(1)
    0
    """

    __slots__ = ()

    def below(self, n: int) -> int:
        """A uniform integer of 0 .. n-1. Source: Python manual, secrets.randbelow."""
        if n < 1:
            raise ValueError("below(n) needs n >= 1")
        return secrets.randbelow(n)
