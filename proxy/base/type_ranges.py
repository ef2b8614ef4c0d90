"""What a type of PostgreSQL can hold of a number: whole numbers end, and floats end on both sides."""

from __future__ import annotations

from fractions import Fraction

from proxy.base.sql_types import SqlType

_WHOLE = {SqlType.INT2: 2**15, SqlType.INT4: 2**31, SqlType.INT8: 2**63}
# IEEE 754: the largest value, and what rounds to 0 (half of the smallest), which PostgreSQL refuses to read.
_LARGEST = {SqlType.FLOAT4: (2**24 - 1) * 2**104, SqlType.FLOAT8: (2**53 - 1) * 2**971}
_SMALLEST = {SqlType.FLOAT4: Fraction(1, 2**150), SqlType.FLOAT8: Fraction(1, 2**1075)}
_WITHIN = 120  # powers of two, about: every float holds these, and to say so is quick


def clamped_whole(value: int, kind: SqlType) -> int:
    """
    >>> clamped_whole(40_000, SqlType.INT2), clamped_whole(-40_000, SqlType.INT2)
    (32767, -32768)
    """
    end = _WHOLE[kind]
    return value if -end <= value < end else end - 1 if value > 0 else -end


def clamped_number(value: Fraction, kind: SqlType) -> Fraction:
    """The nearest number that the type holds, where it is too large or too small for it; of the largest ones
    numeric has 131,072 digits, which nothing here reaches.

    >>> float(clamped_number(Fraction(10) ** 400, SqlType.FLOAT8))
    1.7976931348623157e+308
    >>> clamped_number(Fraction(-1, 10**50), SqlType.FLOAT4)
    Fraction(0, 1)
    """
    if kind.is_integer:
        return Fraction(clamped_whole(round(value), kind))
    if not kind.is_float:
        return value
    if abs(value.numerator.bit_length() - value.denominator.bit_length()) < _WITHIN:
        return value
    largest = _LARGEST[kind]
    if abs(value) <= _SMALLEST[kind]:
        return Fraction(0)
    return min(max(value, Fraction(-largest)), Fraction(largest))


_BITS, _LEAST_POWER = 24, -149


def nearest_real(value: Fraction) -> Fraction:
    """What a real holds of a number that is within its range: the nearest, of two the even one (IEEE 754).

    >>> float(nearest_real(Fraction("1.1"))), nearest_real(Fraction(5, 2))
    (1.100000023841858, Fraction(5, 2))
    """
    size = abs(value)
    if not size:
        return value
    power = size.numerator.bit_length() - size.denominator.bit_length() - _BITS
    while size >= Fraction(2) ** (power + _BITS):
        power += 1
    step = Fraction(2) ** max(power, _LEAST_POWER)
    return round(value / step) * step
