"""Exact fractions as decimal text."""

from __future__ import annotations

from fractions import Fraction

_LONGEST = 20


def decimal(value: Fraction) -> str:
    """A fraction as an owner of a policy would write it; rounded only where it has no short text.

    >>> [decimal(Fraction(text)) for text in ("500", "2.5", "-0.01", "1e-6", "1/3")]
    ['500', '2.5', '-0.01', '1e-6', '0.333333']
    """
    if value.denominator == 1 and abs(value) < 10**_LONGEST:
        return str(value.numerator)
    if abs(value) >= Fraction(1, 10_000):
        for places in range(1, _LONGEST):
            scaled = value * 10**places
            if scaled.denominator == 1 and abs(scaled) < 10**_LONGEST:
                digits = str(abs(scaled.numerator)).rjust(places + 1, "0")
                return f"{'-' if value < 0 else ''}{digits[:-places]}.{digits[-places:]}"
    return f"{float(value):.6g}".replace("e-0", "e-")
