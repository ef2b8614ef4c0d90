"""Divisions and real functions of rows: their operands are clamped to their bounds, so that PostgreSQL
never raises, and what it computes is clamped to where it has to lie.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import replace
from decimal import Context, Decimal
from fractions import Fraction

from typing_extensions import assert_never

from proxy.base.decimals import finite_places
from proxy.base.errors import Code, Refusal
from proxy.base.sql_types import SqlType
from proxy.planner import intervals
from proxy.planner.facts import Facts
from proxy.planner.intervals import constant_number
from proxy.policy.policy_model import Bounds
from proxy.query.ir import expressions as ir
from proxy.query.ir.expressions import RealCall, RealFunction

_Bounded = tuple[ir.Expression, Bounds | None]


def checked_divisor(quotient: ir.Quotient) -> Fraction:
    divisor = quotient.divisor.value if isinstance(quotient.divisor, ir.Constant) else None
    if not isinstance(divisor, Fraction) or divisor == 0:
        raise Refusal(
            Code.UNSUPPORTED,
            "rows cannot be divided by 0, by NULL or by an answer",
            "Divide by another constant, or the results of aggregates by each other, e.g. sum(a) / sum(b).",
            quotient.position,
        )
    return divisor


def divided(quotient: ir.Quotient, operand: _Bounded, divisor: _Bounded, facts: Facts) -> _Bounded:
    """
    Given    operand, divisor: bounded, so that they raise nothing and are in their intervals
    Refuses  UNSUPPORTED: the divisor can be 0, or as good as 0
    """
    changed = replace(quotient, operand=operand[0], divisor=divisor[0])
    if operand[1] is None or divisor[1] is None:  # always NULL
        return changed, None
    parts = _parts(quotient.divisor, divisor[1], facts)
    if not parts or not all(map(is_apart_from_zero, parts)):
        raise _by_zero(quotient)
    if len(parts) == 1:
        changed = replace(changed, divisor=_clamped(divisor[0], parts[0]))
    if quotient.remainder:
        found = intervals.hull([of_remainder(operand[1], part) for part in parts])
    else:
        found = intervals.hull([of_division(operand[1], part) for part in parts])
    assert found is not None
    if quotient.type.is_integer:
        found = Bounds(Fraction(math.trunc(found.low)), Fraction(math.trunc(found.high)))
    return _clamped(changed, found), found


def real_call(call: ir.RealCall, operand: _Bounded) -> _Bounded:
    """
    Refuses  UNSUPPORTED: the function would raise on some value within the bounds
    """
    if operand[1] is None:
        return replace(call, operand=operand[0]), None
    inside = enclosed(operand[1])
    found = of_real_call(call, inside)
    return _clamped(replace(call, operand=_clamped(operand[0], inside)), found), found


def without_constant(nullif: ir.NullIf, operand: Bounds | None, facts: Facts) -> Bounds | None:
    """Where nullif(operand, constant) lies: its end is not the constant, where values have steps."""
    parts = None if operand is None else _parts(nullif, operand, facts)
    return intervals.hull(parts or [operand])


def chosen(
    interval: Bounds | None, ends: Iterable[ir.Expression], *, is_least: bool
) -> Bounds | None:
    """Where greatest(x, constant) lies, or least(): on one side of the constant, which is not NULL."""
    numbers = [value for value in map(constant_number, ends) if value is not None]
    if interval is None or not numbers:
        return interval
    if is_least:
        return Bounds(interval.low, min(interval.high, *numbers))
    return Bounds(max(interval.low, *numbers), interval.high)


def _clamped(operand: ir.Expression, interval: Bounds) -> ir.Clamped:
    ends = enclosed(interval)
    if isinstance(operand, ir.Clamped) and ends.low <= operand.low and operand.high <= ends.high:
        return operand
    return ir.Clamped(operand, ends.low, ends.high, SqlType.NUMERIC)


def _parts(divisor: ir.Expression, interval: Bounds, facts: Facts) -> list[Bounds]:
    """The interval, in two of which there is none in nullif(whole number, 0): below and above the constant."""
    if not isinstance(divisor, ir.NullIf):
        return [interval]
    step = _step(divisor.operand, facts)
    value = divisor.other.value if isinstance(divisor.other, ir.Constant) else None
    if step is None or not isinstance(value, Fraction):
        return [interval]
    if any((end / step).denominator != 1 for end in (value, interval.low, interval.high)):
        return [interval]
    ends = [(interval.low, min(interval.high, value - step))]
    ends.append((max(interval.low, value + step), interval.high))
    return [Bounds(low, high) for low, high in ends if low <= high]


def _step(operand: ir.Expression, facts: Facts) -> Fraction | None:
    """Of what all values of a column are multiples, by its type. What is computed of it may be none: bounds
    of an integer, to which it is cut, may be fractions."""
    while isinstance(operand, ir.Cast) and operand.type is SqlType.NUMERIC:
        operand = operand.operand
    if not isinstance(operand, ir.ColumnRef):
        return None
    known = facts.get((operand.relation, operand.column))
    if operand.type.is_integer:
        return Fraction(1)
    return None if known is None else known.step


def _by_zero(quotient: ir.Quotient) -> Refusal:
    return Refusal(
        Code.UNSUPPORTED,
        "rows cannot be divided by what may be 0",
        "Divide by a constant, e.g. count(DISTINCT mod(a, 10)), or by nullif(column, 0) of a whole number."
        if quotient.remainder
        else "Divide by a constant, e.g. sum(a / 10), by nullif(column, 0) of a whole number, or aggregates by"
        " each other, e.g. sum(a) / nullif(sum(b), 0).",
        quotient.position,
    )


# --- Where a quotient, a logarithm, a root, a power lies when its operands lie in their intervals, and where
# PostgreSQL would raise on some of them.
#
# Ends are enclosed: computed to more digits than are kept, and moved outwards by one of the last that is.
# What PostgreSQL computes is clamped to them (planner.bounds), so that its own rounding leaves them
# nowhere.


_CONTEXT = Context(prec=60, Emax=10**6, Emin=-(10**6))
_ENDS = Context(prec=40, Emax=10**6, Emin=-(10**6))
_LARGEST_EXPONENT = 690  # e^690 is below 10^300
_LARGEST_POWER = 1_000  # of a constant exponent
_NARROWEST = Fraction(1, 10**100)  # a divisor, an argument of a logarithm, is no closer to 0


def is_apart_from_zero(divisor: Bounds) -> bool:
    """
    >>> one = Fraction(1)
    >>> is_apart_from_zero(Bounds(one, 9 * one)), is_apart_from_zero(Bounds(0 * one, one))
    (True, False)
    """
    return divisor.low >= _NARROWEST or divisor.high <= -_NARROWEST


def of_division(operand: Bounds, divisor: Bounds) -> Bounds:
    """
    Given    a divisor that is apart from zero
    """
    ends = [a / b for a in (operand.low, operand.high) for b in (divisor.low, divisor.high)]
    return _enclosing(min(ends), max(ends))


def of_remainder(operand: Bounds, divisor: Bounds) -> Bounds:
    """Smaller than the divisor, of the sign of the operand."""
    most = max(abs(divisor.low), abs(divisor.high))
    low, high = max(operand.low, -most), min(operand.high, most)
    return _enclosing(min(low, Fraction(0)), max(high, Fraction(0)))


def written(interval: Bounds) -> Bounds:
    """The interval, if a statement can have both ends as they are; else one around it: a third has no text.

    >>> found = written(Bounds(Fraction(0), Fraction(1, 3)))
    >>> found.low == 0, found.high > Fraction(1, 3), written(found) == found
    (True, True, True)
    """
    is_exact = all(finite_places(end) is not None for end in (interval.low, interval.high))
    return interval if is_exact else enclosed(interval)


def enclosed(interval: Bounds) -> Bounds:
    """With ends of few digits, which can be written into a statement: nothing that lies in it is outside of
    them, and it is apart from zero where it was."""
    return _enclosing(interval.low, interval.high)


def of_real_call(call: RealCall, operand: Bounds) -> Bounds:
    """
    Refuses  UNSUPPORTED: on some value in the interval PostgreSQL would raise, or compute very long
    """
    match call.function:
        case RealFunction.LN:
            _within(call, operand.low >= _NARROWEST, "above 0")
            return _monotone(operand, lambda x: _decimal(x).ln(_CONTEXT))
        case RealFunction.LOG:
            _within(call, operand.low >= _NARROWEST, "above 0")
            base = _decimal(call.constant or Fraction(10)).ln(_CONTEXT)
            return _monotone(operand, lambda x: _CONTEXT.divide(_decimal(x).ln(_CONTEXT), base))
        case RealFunction.SQRT:
            _within(call, operand.low >= 0, "not below 0")
            return _monotone(operand, lambda x: _decimal(x).sqrt(_CONTEXT))
        case RealFunction.EXP:
            _within(call, _most(operand) <= _LARGEST_EXPONENT, f"within {_LARGEST_EXPONENT}")
            return _monotone(operand, lambda x: _decimal(x).exp(_CONTEXT))
        case RealFunction.RAISED:
            assert call.constant is not None
            scale = _decimal(call.constant).ln(_CONTEXT)
            most = _most(operand) * abs(Fraction(scale))
            _within(call, most <= _LARGEST_EXPONENT, "not so far from 0")
            return _monotone(operand, lambda x: _CONTEXT.multiply(_decimal(x), scale).exp(_CONTEXT))
        case RealFunction.POWER:
            return _power(call, operand)
        case _:
            assert_never(call.function)


def _power(call: RealCall, operand: Bounds) -> Bounds:
    exponent = call.constant
    assert exponent is not None
    _within(call, abs(exponent) <= _LARGEST_POWER, "not to a power above 1000")
    if exponent < 0:
        _within(call, is_apart_from_zero(operand), "apart from 0")
    if exponent.denominator != 1:
        _within(call, operand.low >= 0, "not below 0")
    largest = _most(operand)
    if exponent < 0:
        largest = 1 / min(abs(operand.low), abs(operand.high))
    size = Fraction(max(_decimal(largest).ln(_CONTEXT), Decimal(0))) if largest else Fraction(0)
    _within(call, size * abs(exponent) <= _LARGEST_EXPONENT, "not so far from 0")
    ends = [_raised(end, exponent) for end in (operand.low, operand.high)]
    if operand.low < 0 < operand.high:  # of an even power the least is between
        ends.append(Fraction(0))
    return _enclosing(min(ends), max(ends))


def _raised(value: Fraction, exponent: Fraction) -> Fraction:
    if value == 0:
        return Fraction(1 if exponent == 0 else 0)
    size = _CONTEXT.multiply(_decimal(abs(value)).ln(_CONTEXT), _decimal(exponent)).exp(_CONTEXT)
    is_odd = exponent.denominator == 1 and exponent.numerator % 2 == 1
    return -Fraction(size) if value < 0 and is_odd else Fraction(size)


def _most(operand: Bounds) -> Fraction:
    return max(abs(operand.low), abs(operand.high))


def _decimal(value: Fraction) -> Decimal:
    return _CONTEXT.divide(Decimal(value.numerator), Decimal(value.denominator))


def _monotone(operand: Bounds, function: Callable[[Fraction], Decimal]) -> Bounds:
    ends = sorted(Fraction(function(end)) for end in (operand.low, operand.high))
    return _enclosing(ends[0], ends[1])


def _enclosing(low: Fraction, high: Fraction) -> Bounds:
    return Bounds(_beside(low, -1), _beside(high, 1))


def _beside(end: Fraction, direction: int) -> Fraction:
    """The end itself where it is a short decimal, else one further out with 40 digits."""
    found = _ENDS.divide(Decimal(end.numerator), Decimal(end.denominator))
    if Fraction(found) == end:
        return end
    beside = found.next_plus(_ENDS) if direction > 0 else found.next_minus(_ENDS)
    return Fraction(beside)


def _within(call: RealCall, is_within: bool, where: str) -> None:
    if not is_within:
        raise Refusal(
            Code.UNSUPPORTED,
            f"{_NAMES[call.function]} could fail, or become too large, on some rows: its operand has to be"
            f" {where}",
            "Bound all of the operand: greatest(column, 1) or least(column, 100) in place of a column.",
            call.position,
        )


_NAMES = {function: f"{function.value}()" for function in RealFunction} | {
    RealFunction.RAISED: "power()"
}
