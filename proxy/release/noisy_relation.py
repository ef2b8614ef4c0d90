"""What may leave: noisy values, grid-rounded, in groups that are public. Plain data."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import Enum
from fractions import Fraction

from typing_extensions import assert_never

from proxy.base.decimals import decimal_places, decimal_text
from proxy.base.instants import iso_text
from proxy.base.result_columns import (
    IntervalColumn,
    IntervalEnd,
    aggregate_column,
    error_column,
    key_column,
)
from proxy.base.sql_types import SqlType
from proxy.base.type_ranges import clamped_number, clamped_whole
from proxy.release.value_ranges import ANY_NUMBER, ValueRange

# --- The interval of an expression over noisy answers, or why it has none. Plain data.


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


# ---


@dataclass(frozen=True, slots=True)
class CertainEnds:
    """Grid indices between which the exact answer is in 199 of 200 draws. None: nothing bounds that side."""

    low: int | None
    high: int | None


@dataclass(frozen=True, slots=True)
class NoisyValue:
    """index * grid, in the type of the aggregate, clamped to what that holds; half_width of its 95 % interval,
    None where the scale is private (smoothed median); at: the half width at another probability; is_missing:
    NULL in its place; clipped: the share of units whose part in it was clamped, about, where that is known;
    null_reason: why it is NULL, where a rule
    about released numbers says so; is_adjusted: whether it was moved, to agree with another answer of its
    group; most: the largest possible number, if public, to which it was cut if is_capped; is_open: whether
    the error of its rank reaches the first or last row; is_least: whether a bound that was chosen may cut more
    than its error says, which would only make it larger; certain: of a minimum or maximum; among: of how
    many units, or of a quantile rows, it is, by a noisy number."""

    index: int
    grid: Fraction
    type: SqlType
    half_width: int | None
    at: Callable[[Fraction], int] | None = field(default=None, compare=False, repr=False)
    is_missing: bool = False
    clipped: Fraction | None = None
    null_reason: NullReason | None = None
    is_adjusted: bool = False
    most: int | None = None
    is_capped: bool = False
    is_open: bool = False
    is_least: bool = False
    certain: CertainEnds | None = None
    among: int | None = None

    def json(self, index: int | None = None) -> str:
        """The value (or another grid index) as a JSON value that PostgreSQL reads in the column's type."""
        text = self.text(index)
        if text is None:
            return "null"
        return json.dumps(text) if self.type.is_time else text

    def text(self, index: int | None = None) -> str | None:
        if self.is_missing:
            return None
        index = self.index if index is None else index
        if self.type.is_integer and self.grid.denominator == 1:  # of counts there may be 100,000
            return str(clamped_whole(index * self.grid.numerator, self.type))
        if self.type.is_time:
            return iso_text(index * self.grid, self.type)
        value = clamped_number(index * self.grid, self.type)
        # As PostgreSQL prints the sum of a numeric(10,2): with the zeros of its last places.
        is_numeric = self.type is SqlType.NUMERIC
        return decimal_text(value, decimal_places(self.grid) if is_numeric else 0)

    def interval(self, end: IntervalEnd, valid: ValueRange = ANY_NUMBER) -> str:
        """JSON of the interval's low end, high end or half width, or of the share that was clamped. valid: what
        the answer can be."""
        if end is IntervalEnd.CLIPPED:
            return "null" if self.clipped is None else f"{float(self.clipped):.6g}"
        if self.certain is not None:
            return self._certain_end(end, self.certain)
        if self.half_width is None:
            return "null"
        match end:
            case IntervalEnd.LOW:
                return self.json(self._interval(self.half_width, valid)[0])
            case IntervalEnd.HIGH:
                if self.is_least:
                    return "null" if self.most is None else self.json(self.most)
                return self.json(self._interval(self.half_width, valid)[1])
            case IntervalEnd.ERROR:
                return decimal_text(clamped_number(self.half_width * self.grid, SqlType.FLOAT8))
            case _:
                assert_never(end)

    def _certain_end(self, end: IntervalEnd, ends: CertainEnds) -> str:
        """The error reaches to the farther end."""
        if end is not IntervalEnd.ERROR:
            index = ends.low if end is IntervalEnd.LOW else ends.high
            return "null" if index is None else self.json(index)
        if ends.low is None or ends.high is None:
            return "null"
        farthest = max(ends.high - self.index, self.index - ends.low)
        return decimal_text(clamped_number(farthest * self.grid, SqlType.FLOAT8))

    def _interval(self, half_width: int, valid: ValueRange) -> tuple[int, int]:
        """In grid steps."""
        ends = self.index - half_width, self.index + half_width
        if valid is ANY_NUMBER:
            return ends
        value, low, high = (index * self.grid for index in (self.index, *ends))
        low, high = valid.cut(value, low, high)
        return math.floor(low / self.grid), math.ceil(high / self.grid)


def missing(grid: Fraction, kind: SqlType) -> NoisyValue:
    return NoisyValue(index=0, grid=grid, type=kind, half_width=None, is_missing=True)


def capped(value: NoisyValue, most: int) -> NoisyValue:
    """Cut a count to the largest possible number. Its error reaches no farther than from 0 to that.

    Privacy: post-processing. Of a true count within 0..most, the cut number is never farther off.

    >>> count = NoisyValue(450, Fraction(1), SqlType.INT8, 90, at=lambda level: 90)
    >>> found = capped(count, 200)
    >>> found.index, found.half_width, found.is_capped
    (200, 90, True)
    """
    index, at = min(value.index, most), value.at
    farthest = max(index, most - index, 0)
    return replace(
        value,
        index=index,
        half_width=None if value.half_width is None else min(value.half_width, farthest),
        at=None if at is None else lambda level: min(at(level), farthest),
        most=most,
        is_capped=index != value.index,
    )


@dataclass(frozen=True, slots=True)
class NoisyRow:
    """intervals: of the plan's expressions; errors: those of its output columns, None where nothing noisy is in
    one."""

    keys: tuple[str | None, ...]
    values: tuple[NoisyValue, ...]
    intervals: tuple[NoisyInterval | NoInterval, ...] = ()
    errors: tuple[NoisyInterval | NoInterval | None, ...] = ()


@dataclass(frozen=True, slots=True)
class NoisyTable:
    """The noisy relation of one block; rows in the order of the policy's values, never of the data. ranges: of
    the answers and expressions of which ends of intervals are shown, by number; none where none are."""

    rows: tuple[NoisyRow, ...]
    ranges: tuple[ValueRange, ...] = ()

    def json(self, intervals: frozenset[IntervalColumn], *, with_errors: bool) -> str:
        """An array of objects with the columns that the rewritten statement declares. with_errors: errors of
        output columns are among them."""
        of_each = _by_number(intervals) if intervals else {}
        ranges = self.ranges or (ANY_NUMBER,) * max(of_each, default=0)
        rows = (_row_json(row, of_each, ranges, with_errors=with_errors) for row in self.rows)
        return "[" + ",".join(rows) + "]"


def _by_number(intervals: frozenset[IntervalColumn]) -> dict[int, list[IntervalColumn]]:
    of_each: dict[int, list[IntervalColumn]] = {}
    for end in IntervalEnd:
        for column in intervals:
            if column.end is end:
                of_each.setdefault(column.number, []).append(column)
    return of_each


def relation_json(
    tables: Mapping[str, tuple[NoisyTable, frozenset[IntervalColumn]]], *, with_errors: bool
) -> str:
    """The relation parameter of a rewritten statement: {"b1": [...], ...}."""
    blocks = (
        f'"{name}":{table.json(intervals, with_errors=with_errors)}'
        for name, (table, intervals) in tables.items()
    )
    return "{" + ",".join(blocks) + "}"


def _row_json(
    row: NoisyRow,
    intervals: Mapping[int, Sequence[IntervalColumn]],
    ranges: Sequence[ValueRange],
    *,
    with_errors: bool,
) -> str:
    parts = [f'"{key_column(i)}":{json.dumps(key)}' for i, key in enumerate(row.keys, start=1)]
    for number, value in enumerate(row.values, start=1):
        parts.append(f'"{aggregate_column(number)}":{value.json()}')
        parts += [
            f'"{column.name}":{value.interval(column.end, ranges[number - 1])}'
            for column in intervals.get(number, ())
        ]
    for number, found in enumerate(row.intervals, start=len(row.values) + 1):
        parts += [
            f'"{column.name}":{_of_expression(found, column.end, ranges[number - 1])}'
            for column in intervals.get(number, ())
        ]
    if with_errors:
        parts += [
            f'"{error_column(number)}":{found.json(IntervalEnd.ERROR)}'
            for number, found in enumerate(row.errors, start=1)
            if isinstance(found, NoisyInterval)
        ]
    return "{" + ",".join(parts) + "}"


def _of_expression(found: NoisyInterval | NoInterval, end: IntervalEnd, valid: ValueRange) -> str:
    return found.json(end, valid) if isinstance(found, NoisyInterval) else "null"


# Why an answer is NULL. Plain data.


class NullReason(Enum):
    """The values are the words of the NOTICE."""

    EMPTY_GROUP = (
        "the noisy number of rows beside it, less exact than a count alone, is not clearly above 0"
    )
    UNCLEAR_ROWS = "the noisy number of rows that it is made of is not clearly above 0"
    TOO_FEW = "the noisy number of rows is too small"
    TOO_WIDE = "its error is at least half of the range that it can have"
    TOO_INEXACT = "the error is more than half of the column's bounds"
    TOO_FEW_UNITS = "too few people: the policy shows no group so small"
    ALL_NOISE = "all that its values differ is noise, as of few people"
