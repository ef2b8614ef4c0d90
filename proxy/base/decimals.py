"""Exact decimal text of fractions."""

from __future__ import annotations

from fractions import Fraction

_PLACES = 40  # of a fraction that has no finite decimal form


def decimal_text(value: Fraction) -> str:
    """
    >>> decimal_text(Fraction(-1, 8))
    '-0.125'
    >>> decimal_text(Fraction(7))
    '7'
    """
    rest, places = value.denominator, 0
    for prime in (2, 5):
        count = 0
        while rest % prime == 0:
            rest //= prime
            count += 1
        places = max(places, count)
    if rest != 1:
        places = _PLACES
    scaled = round(abs(value) * 10**places)
    digits = str(scaled).rjust(places + 1, "0")
    text = digits if places == 0 else f"{digits[:-places]}.{digits[-places:]}"
    return f"-{text}" if value < 0 and scaled else text
