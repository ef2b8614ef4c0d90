"""Divisions and real functions of rows: their operands are clamped to their bounds, so that PostgreSQL
never raises, and what it computes is clamped to where it has to lie.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import replace
from fractions import Fraction

from proxy.base.errors import Code, Refusal
from proxy.base.sql_types import SqlType
from proxy.planner import intervals
from proxy.planner.facts import Facts
from proxy.planner.intrinsic_bounds import constant_number
from proxy.planner.real_intervals import (
    enclosed,
    is_apart_from_zero,
    of_division,
    of_real_call,
    of_remainder,
)
from proxy.policy.policy_model import Bounds
from proxy.query.ir import expressions as ir

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
