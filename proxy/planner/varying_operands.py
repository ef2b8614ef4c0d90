"""Where arithmetic, a quotient, greatest() or least() of constants and one other part lies when that part lies
between two values, and where it turns: rows of the table of time_intervals.py."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from fractions import Fraction

from proxy.base.sql_types import SqlType
from proxy.planner.possible_truth import Within, fixed_value
from proxy.query.ir import expressions as ir
from proxy.query.ir.expression_walk import children, columns

_DIGITS = 16  # that a quotient of numeric has at the least


def varying(node: ir.Expression) -> ir.Expression | None:
    """The one operand that reads columns; None: there are several, or none."""
    parts = [part for part in children(node) if columns(part)]
    return parts[0] if len(parts) == 1 else None


def ends_of(of: Within, change: Callable[[Fraction], Fraction], is_falling: bool = False) -> Within:
    """Of a function that never falls, or never rises."""
    low = None if of.low is None else change(of.low)
    high = None if of.high is None else change(of.high)
    return Within(high, low) if is_falling else Within(low, high)


def _number(node: ir.Expression, kind: SqlType | None) -> Fraction | None:
    value = fixed_value(node, kind)
    return value if isinstance(value, Fraction) else None


# --- arithmetic


def _other(node: ir.Arithmetic) -> tuple[Fraction | None, bool]:
    """The constant, and whether it stands on the left. None: there is none, or floats round what comes out."""
    is_left = varying(node) is node.right
    side = node.left if is_left else node.right
    return (None if node.type.is_float else _number(side, node.type)), is_left


def arithmetic_within(node: ir.Arithmetic, of: Within) -> Within | None:
    other, is_left = _other(node)
    if other is None:
        return None
    match node.operator:
        case ir.Operator.ADD:
            return ends_of(of, lambda at: at + other)
        case ir.Operator.SUBTRACT if is_left:
            return ends_of(of, lambda at: other - at, is_falling=True)
        case ir.Operator.SUBTRACT:
            return ends_of(of, lambda at: at - other)
        case ir.Operator.MULTIPLY:
            return None if not other else ends_of(of, lambda at: at * other, other < 0)


def arithmetic_turns(node: ir.Arithmetic, at: Fraction) -> Iterator[Fraction]:
    other, is_left = _other(node)
    if other is None:
        return
    match node.operator:
        case ir.Operator.ADD:
            yield at - other
        case ir.Operator.SUBTRACT:
            yield other - at if is_left else at + other
        case ir.Operator.MULTIPLY:
            if other:
                yield at / other


# --- quotients


def _divisor(node: ir.Quotient) -> Fraction | None:
    is_exact = not node.remainder and not node.type.is_float
    return _number(node.divisor, node.type) if is_exact else None


def quotient_within(node: ir.Quotient, of: Within) -> Within | None:
    divisor = _divisor(node)
    if not divisor:
        return None
    if node.type.is_integer:
        return ends_of(of, lambda at: Fraction(math.trunc(at / divisor)), divisor < 0)
    found = ends_of(of, lambda at: at / divisor, divisor < 0)
    return Within(
        None if found.low is None else found.low - _rounded_by(found.low),
        None if found.high is None else found.high + _rounded_by(found.high),
    )


def _rounded_by(number: Fraction) -> Fraction:
    """How far a quotient of numeric may be from what it stands for: it has digits by fours."""
    if _is_short(number):
        return Fraction(0)
    fours = (len(str(math.trunc(abs(number)))) - 1) // 4
    return Fraction(1, 10 ** max(_DIGITS - 4 * fours, 0))


def _is_short(number: Fraction) -> bool:
    """Whether a quotient has digits enough for it.

    >>> _is_short(Fraction(61, 4)), _is_short(Fraction(1, 3))
    (True, False)
    """
    scaled = number * 10**_DIGITS
    return scaled.denominator == 1 and len(str(abs(scaled.numerator)).rstrip("0")) <= _DIGITS


def quotient_turns(node: ir.Quotient, at: Fraction) -> Iterator[Fraction]:
    divisor = _divisor(node)
    if not divisor:
        return
    if not node.type.is_integer:
        yield at * divisor
        return
    for number in (math.floor(at) - 1, math.floor(at), math.floor(at) + 1):
        yield number * divisor


# --- greatest, least, abs, -


def chosen_within(node: ir.Choose, of: Within) -> Within | None:
    if node.choice is ir.Choice.COALESCE:
        return None
    others = [fixed_value(part, node.type) for part in node.operands if not columns(part)]
    numbers = [one for one in others if isinstance(one, Fraction)]
    if len(numbers) + others.count(None) < len(others):
        return None
    if node.choice is ir.Choice.GREATEST:
        least = max(numbers, default=None)
        if least is None:
            return of
        found = ends_of(of, lambda at: max(at, least))
        return Within(least if found.low is None else found.low, found.high)
    most = min(numbers, default=None)
    if most is None:
        return of
    found = ends_of(of, lambda at: min(at, most))
    return Within(found.low, most if found.high is None else found.high)


def signed_within(node: ir.NumericCall, of: Within) -> Within:
    """Of - and abs()."""
    if node.function is ir.NumericFunction.NEGATE or (of.high is not None and of.high <= 0):
        return ends_of(of, lambda at: -at, is_falling=True)
    if of.low is not None and of.low >= 0:
        return of
    if of.low is None or of.high is None:
        return Within(Fraction(0), None)
    return Within(Fraction(0), max(-of.low, of.high))


def signed_turns(at: Fraction) -> Iterator[Fraction]:
    yield from (at, -at, Fraction(0))
