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
        """A uniform integer of 0 .. n-1: as many random bits as n-1 has, until they are below n.

        (secrets.randbelow takes one bit more where n is a power of two, and then rejects half of its
        draws; most draws of the samplers are of that kind, and each asks the kernel.)
        """
        if n < 1:
            raise ValueError("below(n) needs n >= 1")
        count = (n - 1).bit_length()
        drawn = secrets.randbits(count)
        while drawn >= n:
            drawn = secrets.randbits(count)
        return drawn
