"""Where an expression over several noisy answers lies: interval arithmetic on their intervals.

Of k answers each has its interval at 1 - 0.05 / k, so that all hold together, and with them the corners of the
box that they span, in 95 of 100 cases (union bound). Post-processing of noisy values: it costs nothing.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import lru_cache
from itertools import product

from typing_extensions import assert_never

from proxy.base.sql_types import SqlType
from proxy.mechanisms.estimate import LEVEL
from proxy.query.ir.expressions import NumericFunction
from proxy.query.ir.noisy_expressions import (
    AnswerOf,
    NoisyArithmetic,
    NoisyCall,
    NoisyCast,
    NoisyChoice,
    NoisyExpression,
    NoisyNullIf,
    NoisyOperator,
    NoisyWindow,
    PublicNumber,
    answers_in,
    noisy_leaves,
)
from proxy.release.noisy_relation import NoInterval, NoisyInterval, NoisyValue
from proxy.release.window_intervals import Ends, PartEnds, WindowGroups, window_ends

_HALF = Fraction(1, 2)
_TOO_LARGE = 10**400


@dataclass(frozen=True, slots=True)
class BlockIntervals:
    """Computes intervals over the answers of a block.

    values: The noisy answers of each group, in the order of their numbers.
    groups: The keys of these groups.
    windows: Window functions that are computed already, by level.
    """

    values: Sequence[Sequence[NoisyValue]]
    groups: WindowGroups
    windows: dict[tuple[NoisyWindow, Fraction], list[PartEnds]] = field(default_factory=dict)

    def interval(self, expression: NoisyExpression, row: int) -> NoisyInterval | NoInterval:
        """Compute the interval of an expression in one group, as `interval_of` does."""
        return interval_of(expression, self.values[row], self, row)

    def window(self, window: NoisyWindow, level: Fraction, row: int) -> PartEnds:
        """The ends of a window function in one group."""
        found = self.windows.get((window, level))
        if found is None:
            parts = [_part(window.operand, values, level) for values in self.values]
            found = self.windows[window, level] = window_ends(window, parts, self.groups)
        return found[row]


def _part(expression: NoisyExpression, values: Sequence[NoisyValue], level: Fraction) -> PartEnds:
    """The operand of a window in one group. It is NULL where one of its answers is."""
    if any(values[number - 1].is_missing for number in answers_in(expression)):
        return None
    try:
        return _Box(values=values, level=level).of(expression)
    except _NoneFound as none:
        return none.reason


def interval_of(
    expression: NoisyExpression,
    values: Sequence[NoisyValue],
    block: BlockIntervals | None = None,
    row: int = 0,
) -> NoisyInterval | NoInterval:
    """
    Given    values: the noisy answers of one group, in the order of their numbers; block, row: all groups, and
             which of them it is, where the expression has window functions
    Gives    the interval that holds the expression of the exact answers with 95 %
    Source   docs/design/mechanisms.md 9.1
    """
    try:
        if isinstance(expression, AnswerOf):  # by far the most
            box = _answer(values[expression.number - 1], LEVEL)
        else:
            level = level_of(expression)
            box = _Box(values=values, level=level, block=block, row=row).of(expression)
    except _NoneFound as none:
        return none.reason
    if box.low <= -_TOO_LARGE or box.high >= _TOO_LARGE:
        return NoInterval.TOO_LARGE  # Python prints no number of any length
    return NoisyInterval(
        box.value, box.low, box.high, expression.type, is_least=box.is_least, is_most=box.is_most
    )


class _NoneFound(Exception):
    def __init__(self, reason: NoInterval) -> None:
        super().__init__(reason.value)
        self.reason = reason


@dataclass(frozen=True, slots=True, kw_only=True)
class _Box:
    values: Sequence[NoisyValue]
    level: Fraction
    block: BlockIntervals | None = None
    row: int = 0

    def of(self, expression: NoisyExpression) -> Ends:
        match expression:
            case AnswerOf():
                return _answer(self.values[expression.number - 1], self.level)
            case PublicNumber():
                return Ends(expression.value, expression.value, expression.value)
            case NoisyArithmetic():
                left, right = self.of(expression.left), self.of(expression.right)
                return _arithmetic(expression, left, right)
            case NoisyCall():
                return _called(expression, self.of(expression.operand))
            case NoisyCast():
                return _cast(expression, self.of(expression.operand))
            case NoisyNullIf():
                found = self.of(expression.operand)
                if _may_be(found, expression.equal.value):
                    raise _NoneFound(NoInterval.MAY_BE_NULL)
                return found
            case NoisyChoice():
                chosen = max if expression.is_greatest else min
                several = [self.of(operand) for operand in expression.operands]
                return Ends(
                    chosen(one.value for one in several),
                    chosen(one.low for one in several),
                    chosen(one.high for one in several),
                    is_least=any(one.is_least for one in several),
                    is_most=any(one.is_most for one in several),
                )
            case NoisyWindow():
                return self._window(expression)
            case _:
                assert_never(expression)

    def _window(self, expression: NoisyWindow) -> Ends:
        if self.block is None:
            raise _NoneFound(NoInterval.OF_AN_ANSWER)
        found = self.block.window(expression, self.level, self.row)
        if isinstance(found, Ends):
            return found
        raise _NoneFound(NoInterval.OF_AN_ANSWER if found is None else found)


@lru_cache(maxsize=256)
def level_of(expression: NoisyExpression) -> Fraction:
    """With which each of the answers in it has to be in its interval, so that all hold together with 95 %."""
    return 1 - (1 - LEVEL) / max(1, len(noisy_leaves(expression)))


def _answer(noisy: NoisyValue, level: Fraction) -> Ends:
    index, grid = noisy.index, noisy.grid
    half_width = noisy.half_width
    if half_width is not None and level != LEVEL:
        half_width = None if noisy.at is None else noisy.at(level)
    if half_width is None:
        raise _NoneFound(NoInterval.OF_AN_ANSWER)
    low, high = index - half_width, index + half_width
    if grid == 1:  # of counts there may be 100,000
        return Ends(Fraction(index), Fraction(low), Fraction(high), is_least=noisy.is_least)
    return Ends(index * grid, low * grid, high * grid, is_least=noisy.is_least)


def _may_be(found: Ends, number: Fraction) -> bool:
    """Whether the exact number may be this one."""
    is_below = number < found.low and not found.is_most
    return not is_below and not (number > found.high and not found.is_least)


def _arithmetic(expression: NoisyArithmetic, left: Ends, right: Ends) -> Ends:
    match expression.operator:
        case NoisyOperator.ADD:
            return Ends(
                left.value + right.value,
                left.low + right.low,
                left.high + right.high,
                is_least=left.is_least or right.is_least,
                is_most=left.is_most or right.is_most,
            )
        case NoisyOperator.SUBTRACT:
            return Ends(
                left.value - right.value,
                left.low - right.high,
                left.high - right.low,
                is_least=left.is_least or right.is_most,
                is_most=left.is_most or right.is_least,
            )
        case NoisyOperator.MULTIPLY:
            corners = [a * b for a, b in product((left.low, left.high), (right.low, right.high))]
            is_least, is_most = _beyond(left, _sign(right))
            is_least_too, is_most_too = _beyond(right, _sign(left))
            return Ends(
                left.value * right.value,
                min(corners),
                max(corners),
                is_least=is_least or is_least_too,
                is_most=is_most or is_most_too,
            )
        case NoisyOperator.DIVIDE:
            if not right.value:
                raise _NoneFound(NoInterval.DIVIDED_BY_0)
            if _may_be(right, Fraction(0)):
                raise _NoneFound(NoInterval.MAY_BE_DIVIDED_BY_0)
            corners = [a / b for a, b in product((left.low, left.high), (right.low, right.high))]
            is_least, is_most = _beyond(left, _sign(right))
            is_most_too, is_least_too = _beyond(
                right, _sign(left)
            )  # what it is divided by makes it smaller
            found = Ends(
                left.value / right.value,
                min(corners),
                max(corners),
                is_least=is_least or is_least_too,
                is_most=is_most or is_most_too,
            )
            return _each(found, math.trunc, 0) if expression.type.is_integer else found
        case _:
            assert_never(expression.operator)


def _sign(found: Ends) -> int:
    """1 if the exact number is not below 0, -1 if it is not above; 0: not known."""
    if found.low >= 0 and not found.is_most:
        return 1
    return -1 if found.high <= 0 and not found.is_least else 0


def _beyond(found: Ends, sign: int) -> tuple[bool, bool]:
    """Whether a product may be above its interval, and below, for what one factor may be beyond its own.

    Args:
        found: The factor.
        sign: Of the other one.
    """
    if not sign:
        return (found.is_least or found.is_most,) * 2
    ends = found.is_least, found.is_most
    return ends if sign > 0 else ends[::-1]


def _called(expression: NoisyCall, found: Ends) -> Ends:
    match expression.function:
        case NumericFunction.NEGATE:
            return Ends(
                -found.value,
                -found.high,
                -found.low,
                is_least=found.is_most,
                is_most=found.is_least,
            )
        case NumericFunction.ABS:
            ends = abs(found.low), abs(found.high)
            least = Fraction(0) if found.low <= 0 <= found.high else min(ends)
            is_least, is_most = _beyond(found, _sign(found))
            return Ends(abs(found.value), least, max(ends), is_least=is_least, is_most=is_most)
        case NumericFunction.ROUND:
            is_even = expression.operand.type.is_float
            return _rounded(found, expression.digits, is_even=is_even)
        case NumericFunction.FLOOR:
            return _each(found, math.floor, 0)
        case NumericFunction.CEIL:
            return _each(found, math.ceil, 0)
        case NumericFunction.TRUNC:
            return _each(found, math.trunc, expression.digits)
        case _:
            raise AssertionError("the reader knows no other function")


def _cast(expression: NoisyCast, found: Ends) -> Ends:
    """To an integer rounded, from a float half to even (PostgreSQL 17 documentation, section 8.1.2)."""
    source = expression.operand.type
    if expression.type.is_integer and not source.is_integer:
        return _rounded(found, 0, is_even=source.is_float)
    if expression.type is SqlType.NUMERIC and expression.digits is not None:
        return _rounded(found, expression.digits, is_even=False)
    return found


def _rounded(found: Ends, digits: int, *, is_even: bool) -> Ends:
    """The ends as if a half were always rounded away from the interval."""
    unit = 10**digits
    value, low, high = found.value * unit, found.low * unit, found.high * unit
    away = math.floor(value + _HALF) if value > 0 else math.ceil(value - _HALF)
    nearest = round(value) if is_even else away
    return Ends(
        Fraction(nearest, unit),
        Fraction(math.ceil(low - _HALF), unit),
        Fraction(math.floor(high + _HALF), unit),
        is_least=found.is_least,
        is_most=found.is_most,
    )


def _each(found: Ends, function: Callable[[Fraction], int], digits: int) -> Ends:
    unit = 10**digits
    value, low, high = (
        Fraction(function(x * unit), unit) for x in (found.value, found.low, found.high)
    )
    return Ends(value, low, high, is_least=found.is_least, is_most=found.is_most)
