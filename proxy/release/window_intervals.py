"""Intervals of window functions over the answers of all groups: sums, averages, the answer of another row.

Groups have independent noise. So the half width of a sum is the root of the summed squares of its parts. This
is exact for Gaussian noise. For Laplace noise it is at most 8 % too wide: a sum of Laplace noise has lighter
tails than one part, relative to its standard deviation. Post-processing: it costs nothing.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import accumulate

from proxy.base.sql_types import SqlType
from proxy.query.ir.noisy_expressions import NoisyWindow, WindowOrder, WindowSum
from proxy.release.noisy_relation import NoInterval

_SORTED_AS_TEXT = re.compile(r"\d{4}-\d\d-\d\d")  # times of four-digit years sort as their texts do
_SortKey = Fraction | str | bool


@dataclass(frozen=True, slots=True)
class Ends:
    """A number with the ends of its interval.

    is_least: The exact number may be above `high`, as a chosen bound cuts it. is_most: It may be below `low`.
    """

    value: Fraction
    low: Fraction
    high: Fraction
    is_least: bool = False
    is_most: bool = False


# None: the answer is NULL. NoInterval: it has no interval.
PartEnds = Ends | NoInterval | None


@dataclass(frozen=True, slots=True)
class WindowGroups:
    """The keys of the groups of a block, in the order of its rows. types: of the keys."""

    keys: Sequence[tuple[str | None, ...]]
    types: Sequence[SqlType]


def window_ends(
    window: NoisyWindow, parts: Sequence[PartEnds], groups: WindowGroups
) -> list[PartEnds]:
    """Compute the interval of a window function for each group.

    Args:
        window: The function.
        parts: Its operand in each group, in the order of `groups`.
        groups: The groups.

    Source: Wainwright 2019, High-Dimensional Statistics, section 2.1 (sums of independent noise).
    """
    found: list[PartEnds] = [NoInterval.OF_AN_ANSWER] * len(parts)
    partitions: dict[tuple[str | None, ...], list[int]] = {}
    for row, keys in enumerate(groups.keys):
        partitions.setdefault(tuple(keys[n] for n in window.partition), []).append(row)
    for rows in partitions.values():
        ordered = _ordered(rows, window.order, groups)
        if ordered is None:
            return [NoInterval.UNKNOWN_ORDER] * len(parts)
        sums = _WindowSums.of([parts[row] for row in ordered])
        for place, row in enumerate(ordered):
            found[row] = sums.within(window, place)
    return found


@dataclass(frozen=True, slots=True, kw_only=True)
class _WindowTotal:
    """Of the first rows of a partition. below, above: squared distances to the ends, added up; numbers: rows
    with a value; unknown: rows without an interval; least, most: rows that may be above or below their ends."""

    value: Fraction = Fraction(0)
    below: Fraction = Fraction(0)
    above: Fraction = Fraction(0)
    numbers: int = 0
    unknown: int = 0
    least: int = 0
    most: int = 0

    def plus(self, part: PartEnds) -> _WindowTotal:
        if part is None:
            return self
        if isinstance(part, NoInterval):
            return replace(self, unknown=self.unknown + 1)
        return _WindowTotal(
            value=self.value + part.value,
            below=self.below + (part.value - part.low) ** 2,
            above=self.above + (part.high - part.value) ** 2,
            numbers=self.numbers + 1,
            unknown=self.unknown,
            least=self.least + part.is_least,
            most=self.most + part.is_most,
        )

    def minus(self, other: _WindowTotal) -> _WindowTotal:
        return _WindowTotal(
            value=self.value - other.value,
            below=self.below - other.below,
            above=self.above - other.above,
            numbers=self.numbers - other.numbers,
            unknown=self.unknown - other.unknown,
            least=self.least - other.least,
            most=self.most - other.most,
        )


@dataclass(frozen=True, slots=True)
class _WindowSums:
    """One partition in its order. totals: of its first 0, 1, 2, ... rows."""

    parts: Sequence[PartEnds]
    totals: Sequence[_WindowTotal]

    @classmethod
    def of(cls, parts: Sequence[PartEnds]) -> _WindowSums:
        return cls(parts, list(accumulate(parts, _WindowTotal.plus, initial=_WindowTotal())))

    def within(self, window: NoisyWindow, place: int) -> PartEnds:
        """Of the frame of the row at this place."""
        first = 0 if window.start is None else max(0, place + window.start)
        last = (
            len(self.parts) if window.end is None else min(len(self.parts), place + window.end + 1)
        )
        if first >= last:
            return None
        if window.function is WindowSum.SHIFT:
            return self.parts[first]
        total = self.totals[last].minus(self.totals[first])
        if total.unknown:
            return NoInterval.OF_AN_ANSWER
        if not total.numbers:
            return None
        by = 1 if window.function is WindowSum.SUM else total.numbers
        value = total.value / by
        return Ends(
            value,
            value - _root(total.below) / by,
            value + _root(total.above) / by,
            is_least=total.least > 0,
            is_most=total.most > 0,
        )


def _root(square: Fraction) -> Fraction:
    """The square root, rounded up by less than one part of the denominator.

    >>> _root(Fraction(9, 4)), _root(Fraction(0)), _root(Fraction(2)) ** 2 >= 2
    (Fraction(3, 2), Fraction(0, 1), True)
    """
    product = square.numerator * square.denominator
    root = math.isqrt(product)
    return Fraction(root + (root * root < product), square.denominator)


def _ordered(
    rows: Sequence[int], order: Sequence[WindowOrder], groups: WindowGroups
) -> list[int] | None:
    """The rows of a partition in the order of its window; None where PostgreSQL's order is not known here."""
    ordered = list(rows)
    for term in reversed(order):
        keyed: list[tuple[_SortKey, int]] = []
        nulls: list[int] = []
        for row in ordered:
            text = groups.keys[row][term.key]
            if text is None:
                nulls.append(row)
                continue
            sort_key = _sort_key(text, groups.types[term.key])
            if sort_key is None:
                return None
            keyed.append((sort_key, row))
        keyed.sort(key=lambda pair: pair[0], reverse=term.is_descending)
        known = [row for _, row in keyed]
        ordered = [*nulls, *known] if term.nulls_first else [*known, *nulls]
    return ordered


def _sort_key(text: str, kind: SqlType) -> _SortKey | None:
    if kind.is_time and _SORTED_AS_TEXT.match(text) and not text.endswith("BC"):
        return text
    if kind.is_number:
        try:
            return Fraction(text)
        except ValueError:  # NaN, Infinity
            return None
    if kind is SqlType.BOOL and text in ("true", "false"):
        return text == "true"
    return None
