"""Rational numbers just below and just above e^x and ln x, and short ones beside long ones.

Where a formula of privacy meets an irrational number, the code takes the rational neighbour on the
side of more privacy. The standard library's decimal arithmetic rounds e^x and ln x correctly (half
even, whatever the context: its manual, `Context.exp` and `Context.ln`), so one step of the last
digit to either side is a proven bound.
"""

from __future__ import annotations

import math
from decimal import (
    ROUND_CEILING,
    ROUND_FLOOR,
    Context,
    Decimal,
    DivisionByZero,
    InvalidOperation,
    Overflow,
)
from fractions import Fraction
from functools import lru_cache

DIGITS = 60
_SHORT = 15
_EXPONENTS = 500_000  # e^(10^6) has 434,295 digits; a wider range could fill the memory


def exp_bounds(x: Fraction, digits: int = DIGITS) -> tuple[Fraction, Fraction]:
    """Rationals with low <= e^x <= high, about 10^-digits apart relative to their size.

    Refuses  x beyond a million, with ValueError: no loss is that large

    >>> low, high = exp_bounds(Fraction(1))
    >>> float(low), 0 < high - low < Fraction(1, 10**57)
    (2.718281828459045, True)
    """
    if abs(x) > 10**6:
        raise ValueError("an exponent of a privacy loss is within a million")
    if x == 0:
        return Fraction(1), Fraction(1)
    down, up = _contexts(digits)
    below, above = _enclosed(x, down, up)
    low, high = below.exp(down).next_minus(down), above.exp(up).next_plus(up)
    return Fraction(low), Fraction(high)


def log_bounds(x: Fraction, digits: int = DIGITS) -> tuple[Fraction, Fraction]:
    """Rationals with low <= ln x <= high, about 10^-digits apart relative to their size.

    Given    x > 0; close to 1 the bounds are only as close as x itself is known, 10^-digits
    Refuses  x <= 0 with ValueError
    """
    if x <= 0:
        raise ValueError("a logarithm needs x > 0")
    if x == 1:
        return Fraction(0), Fraction(0)
    down, up = _contexts(digits)
    below, above = _enclosed(x, down, up)
    low, high = below.ln(down).next_minus(down), above.ln(up).next_plus(up)
    return Fraction(low), Fraction(high)


def root_bounds(x: Fraction, digits: int = DIGITS) -> tuple[Fraction, Fraction]:
    """Rationals with low <= sqrt(x) <= high, at most 10^-digits apart.

    >>> root_bounds(Fraction(9, 4))[0]
    Fraction(3, 2)
    """
    if x < 0:
        raise ValueError("a root needs x >= 0")
    unit = 10**digits
    whole = math.isqrt(x.numerator * unit * unit // x.denominator)
    exact = whole * whole * x.denominator == x.numerator * unit * unit
    return Fraction(whole, unit), Fraction(whole if exact else whole + 1, unit)


def short_below(value: Fraction) -> Fraction:
    """A nearby decimal fraction of 15 digits, not above a positive value: short in ledgers."""
    places = _places(value)
    return Fraction(math.floor(value * Fraction(10) ** places)) / Fraction(10) ** places


def _places(value: Fraction) -> int:
    if value <= 0:
        raise ValueError("only a positive value is shortened")
    return _SHORT - math.floor(math.log10(value.numerator) - math.log10(value.denominator))


@lru_cache(maxsize=32)
def _contexts(digits: int) -> tuple[Context, Context]:
    traps = [InvalidOperation, DivisionByZero, Overflow]
    down = Context(digits, rounding=ROUND_FLOOR, Emin=-_EXPONENTS, Emax=_EXPONENTS, traps=traps)
    up = Context(digits, rounding=ROUND_CEILING, Emin=-_EXPONENTS, Emax=_EXPONENTS, traps=traps)
    return down, up


def _enclosed(x: Fraction, down: Context, up: Context) -> tuple[Decimal, Decimal]:
    # The numerator and denominator are exact as Decimals: only the division rounds, and outwards.
    numerator, denominator = Decimal(x.numerator), Decimal(x.denominator)
    return down.divide(numerator, denominator), up.divide(numerator, denominator)
