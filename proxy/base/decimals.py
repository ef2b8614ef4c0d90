"""Exact decimal text of fractions."""

from __future__ import annotations

from fractions import Fraction

_PLACES = 40  # of a fraction that has no finite decimal form


def decimal_text(value: Fraction, at_least: int = 0) -> str:
    """
    Given  at_least: digits after the point, zeros where there are fewer
    >>> decimal_text(Fraction(-1, 8))
    '-0.125'
    >>> decimal_text(Fraction(7))
    '7'
    >>> decimal_text(Fraction(7, 2), at_least=2)
    '3.50'
    """
    if value.denominator == 1 and not at_least:
        return str(value.numerator)
    places = max(decimal_places(value), at_least)
    scaled = round(abs(value) * 10**places)
    digits = str(scaled).rjust(places + 1, "0")
    text = digits if places == 0 else f"{digits[:-places]}.{digits[-places:]}"
    return f"-{text}" if value < 0 and scaled else text


def decimal_places(value: Fraction) -> int:
    """Digits after the point that its text needs.

    >>> decimal_places(Fraction(1, 20))
    2
    """
    places = finite_places(value)
    return _PLACES if places is None else places


def finite_places(value: Fraction) -> int | None:
    """Digits after the point of which its text is the number itself. None: there is no such text.

    >>> finite_places(Fraction(1, 20)), finite_places(Fraction(1, 3))
    (2, None)
    """
    rest, places = value.denominator, 0
    for prime in (2, 5):
        count = 0
        while rest % prime == 0:
            rest //= prime
            count += 1
        places = max(places, count)
    return places if rest == 1 else None


def real_as_numeric(value: Fraction) -> Fraction:
    """A real as PostgreSQL makes a numeric of it: with six digits (numeric.c, float4_numeric).

    >>> real_as_numeric(Fraction(1.1))
    Fraction(11, 10)
    """
    return Fraction(f"{float(value):.6g}")
