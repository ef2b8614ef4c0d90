"""Where the conditions of a statement leave a column of numbers or times, as ranges."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction

from proxy.base import limits
from proxy.base.sql_types import SqlType
from proxy.planner.facts import ColumnFacts, Range
from proxy.planner.label_work import allowed
from proxy.planner.possible_truth import Between, Value, constant_value, truths
from proxy.query.ir.expression_walk import children
from proxy.query.ir.expressions import ColumnRef, Comparison, Constant, Expression, In

# Between numbers without a least step: no constant has so many digits.
_TINY = Fraction(1, 10 ** (limits.NUMBER_DIGITS + 50))
_DAY = 86_400


@dataclass(frozen=True, slots=True)
class ConditionPart:
    """One of the conditions that AND connects."""

    whole: Expression
    columns: frozenset[tuple[str, str]]
    size: int


def ranges_of(
    column: ColumnRef, known: ColumnFacts, about: Sequence[ConditionPart]
) -> tuple[Range, ...] | None:
    """Where numbers and times can lie, in the unit of bounds."""
    if not allowed(sum(part.size for part in about)):
        return known.ranges
    steps = list(pieces(column, [part.whole for part in about]))
    if len(steps) == 1:
        return known.ranges
    tests = [truths(part.whole, {column: 0}) for part in about if allowed(len(steps) * part.size)]
    there = [all(True in test((piece,)) for test in tests) for piece in steps]
    if all(there):
        return known.ranges
    scale = Fraction(1, _DAY) if known.type is SqlType.DATE else Fraction(1)
    step = known.step
    found: list[Range] = []
    is_open = False  # the range before goes on
    for piece, is_there in zip(steps, there, strict=True):
        if is_there:
            low, high = piece_ends(piece, scale, step)
            if low is not None and high is not None and low > high:
                continue
            found, low = (found[:-1], found[-1].low) if is_open else (found, low)
            found.append(Range(low, high))
        is_open = is_there
    return tuple(meeting(known.ranges, found))


def pieces(column: ColumnRef, parts: Iterable[Expression]) -> Iterator[Value]:
    """Constants that a column is compared with, and what lies between them, in order."""
    points = sorted(_points(column, parts))
    before: Fraction | None = None
    for point in points:
        yield Between(before, point)
        yield point
        before = point
    yield Between(before, None)


def _points(column: ColumnRef, parts: Iterable[Expression]) -> set[Fraction]:
    return {value for value in constants_beside(column, parts) if isinstance(value, Fraction)}


def constants_beside(column: ColumnRef, parts: Iterable[Expression]) -> Iterator[Value]:
    """Constants that a column is compared with."""
    waiting = list(parts)
    while waiting:
        part = waiting.pop()
        beside: tuple[Expression, ...] = ()
        match part:
            case Comparison(left=left, right=right) if column in (left, right):
                beside = (left, right)
            case In(operand=operand, items=items) if operand == column:
                beside = items
        for one in beside:
            if isinstance(one, Constant):
                yield constant_value(one, column.type)
        waiting += children(part)


def piece_ends(
    piece: Value, scale: Fraction, step: Fraction | None
) -> tuple[Fraction | None, Fraction | None]:
    """The least and the largest value of a piece."""
    if not isinstance(piece, Between):
        assert isinstance(piece, Fraction)
        return piece * scale, piece * scale
    low = None if piece.low is None else piece.low * scale
    high = None if piece.high is None else piece.high * scale
    if step is None:
        return (None if low is None else low + _TINY), (None if high is None else high - _TINY)
    return (
        None if low is None else (math.floor(low / step) + 1) * step,
        None if high is None else (math.ceil(high / step) - 1) * step,
    )


def meeting(before: tuple[Range, ...] | None, now: list[Range]) -> Iterator[Range]:
    for one in now:
        for other in before if before is not None else (Range(None, None),):
            lows = [end for end in (one.low, other.low) if end is not None]
            highs = [end for end in (one.high, other.high) if end is not None]
            low, high = max(lows, default=None), min(highs, default=None)
            if low is None or high is None or low <= high:
                yield Range(low, high)
