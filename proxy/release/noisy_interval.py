"""The interval of an expression over noisy answers, or why it has none. Plain data."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum
from fractions import Fraction

from typing_extensions import assert_never

from proxy.base.decimals import decimal_text
from proxy.base.result_columns import IntervalEnd
from proxy.base.sql_types import SqlType
from proxy.base.type_ranges import clamped_number, clamped_whole
from proxy.release.value_ranges import ANY_NUMBER, ValueRange

_DIGITS = 20  # of what is printed: more than a double has
_SHOWN = 10**12  # a double and a quotient of numerics have more digits
_PLACES = 400  # after the point at most; what is smaller is rounded outwards to that


class NoInterval(Enum):
    OF_AN_ANSWER = "an answer in it has no interval"
    DIVIDED_BY_0 = "NULL, because it divides by a noisy 0"
    MAY_BE_DIVIDED_BY_0 = "the interval of what it is divided by holds 0"
    MAY_BE_NULL = "no interval: without its noise nullif() may make it NULL"
    UNKNOWN_ORDER = "the order of its window is not known"
    TOO_MANY = "there are too many groups and columns for the error of each"
    TOO_LARGE = "its ends have more than 400 digits"


@dataclass(frozen=True, slots=True)
class NoisyInterval:
    """value: of the expression at the noisy answers, low <= value <= high; is_least: the exact number may be
    above high, as a chosen bound cuts it; is_most: it may be below low."""

    value: Fraction
    low: Fraction
    high: Fraction
    type: SqlType
    is_least: bool = False
    is_most: bool = False

    @property
    def half_width(self) -> Fraction:
        """Of the noise; to the side to which the number is bounded, if it is one alone."""
        if self.is_least is self.is_most:
            return max(self.high - self.value, self.value - self.low)
        return self.value - self.low if self.is_least else self.high - self.value

    @property
    def is_open(self) -> bool:
        """Whether the exact number may be beyond both ends."""
        return self.is_least and self.is_most

    def json(self, end: IntervalEnd, valid: ValueRange = ANY_NUMBER) -> str:
        """Rounded outwards. valid: what the expression can be."""
        if self.is_open or (end is IntervalEnd.LOW and self.is_most):
            return "null"
        if end is IntervalEnd.HIGH and self.is_least:
            return "null"
        low, high = valid.cut(self.value, self.low, self.high)
        if not self.type.is_integer:  # an end that is the value: PostgreSQL rounds what it divides
            shown = abs(self.value) / _SHOWN
            low -= shown if valid.low is not None and self.value < valid.low else 0
            high += shown if valid.high is not None and self.value > valid.high else 0
        match end:
            case IntervalEnd.LOW:
                return self._text(-_rounded_up(-low), math.floor)
            case IntervalEnd.HIGH:
                return self._text(_rounded_up(high), math.ceil)
            case IntervalEnd.ERROR:
                return decimal_text(clamped_number(_rounded_up(self.half_width), SqlType.FLOAT8))
            case IntervalEnd.CLIPPED:
                raise AssertionError("dp.clipped is of an aggregate (query/bind/span_reading.py)")
            case _:
                assert_never(end)

    def _text(self, number: Fraction, whole: Callable[[Fraction], int]) -> str:
        if self.type.is_integer:
            return str(clamped_whole(whole(number), self.type))
        return decimal_text(clamped_number(number, self.type))


def _rounded_up(value: Fraction) -> Fraction:
    """To so many digits that its text is short.

    >>> _rounded_up(Fraction(2, 3)) - Fraction(2, 3) < Fraction(1, 10**19)
    True
    >>> _rounded_up(Fraction(-5)), _rounded_up(Fraction(10) ** 40)
    (Fraction(-5, 1), Fraction(10000000000000000000000000000000000000000, 1))
    """
    if value.denominator == 1:
        return value
    size = math.log10(abs(value.numerator)) - math.log10(value.denominator)
    places = min(max(0, _DIGITS - math.floor(size)), _PLACES)
    unit = 10**places
    return Fraction(math.ceil(value * unit), unit)
