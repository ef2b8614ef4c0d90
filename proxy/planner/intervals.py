"""Interval arithmetic: where a result lies when its operands lie in their intervals (None: always NULL)."""

from __future__ import annotations

import math
from collections.abc import Iterable
from fractions import Fraction

from typing_extensions import assert_never

from proxy.base import limits
from proxy.base.errors import Code, Refusal
from proxy.base.sql_types import SqlType
from proxy.kernel.constant_checks import check_inside
from proxy.policy.policy_model import Bounds
from proxy.query.ir import expressions as ir
from proxy.query.ir.expression_walk import position_in
from proxy.query.ir.expressions import Arithmetic, NumericCall, NumericFunction, Operator, Quotient

STEPWISE = (
    NumericFunction.FLOOR,
    NumericFunction.CEIL,
    NumericFunction.TRUNC,
    NumericFunction.ROUND,
)

_FIELDS = {
    "month": (1, 12),
    "day": (1, 31),
    "quarter": (1, 4),
    "dow": (0, 6),
    "isodow": (1, 7),
    "doy": (1, 366),
    "week": (1, 53),
    "hour": (0, 23),
    "minute": (0, 59),
    "second": (0, 60),
}
_DAYS_PER_YEAR = Fraction(3652425, 10000)


_INTEGER_RANGES = {SqlType.INT2: 2**15, SqlType.INT4: 2**31, SqlType.INT8: 2**63}
_LARGEST: int = 10**limits.BOUND_DIGITS


def is_within_limits(value: Fraction) -> bool:
    """Whether numerator and denominator are short enough to go on with.

    >>> is_within_limits(Fraction(1, 3)), is_within_limits(Fraction(1, 7**2000))
    (True, False)
    """
    return abs(value.numerator) < _LARGEST and value.denominator < _LARGEST


def hull(intervals: Iterable[Bounds | None]) -> Bounds | None:
    """The smallest interval around all."""
    known = [interval for interval in intervals if interval is not None]
    if not known:
        return None
    return Bounds(min(i.low for i in known), max(i.high for i in known))


def of_arithmetic(operator: Operator, left: Bounds | None, right: Bounds | None) -> Bounds | None:
    if left is None or right is None:
        return None
    match operator:
        case Operator.ADD:
            return Bounds(left.low + right.low, left.high + right.high)
        case Operator.SUBTRACT:
            return Bounds(left.low - right.high, left.high - right.low)
        case Operator.MULTIPLY:
            corners = [a * b for a in (left.low, left.high) for b in (right.low, right.high)]
            return Bounds(min(corners), max(corners))
        case _:
            assert_never(operator)


def of_quotient(quotient: Quotient, divisor: Fraction, operand: Bounds | None) -> Bounds | None:
    if operand is None:
        return None
    if quotient.remainder:
        largest = abs(divisor) - (1 if quotient.type.is_integer else 0)
        return Bounds(-largest if operand.low < 0 else Fraction(0), largest)
    ends = sorted((operand.low / divisor, operand.high / divisor))
    if quotient.type.is_integer:
        return Bounds(Fraction(math.trunc(ends[0])), Fraction(math.trunc(ends[1])))
    return Bounds(ends[0], ends[1])


def of_rounding(rounded: NumericCall, operand: Bounds) -> Bounds:
    low, high = operand.low, operand.high
    match rounded.function:
        case NumericFunction.NEGATE:
            return Bounds(-high, -low)
        case NumericFunction.ABS:
            least = Fraction(0) if low <= 0 <= high else min(abs(low), abs(high))
            return Bounds(least, max(abs(low), abs(high)))
        case NumericFunction.SIGN:
            return Bounds(Fraction(-1), Fraction(1))
        case (
            NumericFunction.FLOOR
            | NumericFunction.CEIL
            | NumericFunction.TRUNC
            | NumericFunction.ROUND
        ):
            step = Fraction(10) ** -rounded.digits
            return Bounds(math.floor(low / step) * step, math.ceil(high / step) * step)
        case _:
            assert_never(rounded.function)


def of_fixed_field(field: str) -> Bounds | None:
    """Of a field of extract() that has the same ends in every year; None for the others."""
    ends = _FIELDS.get(field)
    return None if ends is None else Bounds(Fraction(ends[0]), Fraction(ends[1]))


def of_calendar_field(field: str, kind: SqlType, instants: Bounds) -> Bounds:
    """Of epoch, year and isoyear of days (a date) or seconds (a timestamp)."""
    if field == "epoch":
        scale = 86400 if kind is SqlType.DATE else 1
        return Bounds(instants.low * scale, instants.high * scale)
    # Whole years around the bounds, a year of slack for week rules and time zones.
    per_day = 1 if kind is SqlType.DATE else 86400
    years = [1970 + end / per_day / _DAYS_PER_YEAR for end in (instants.low, instants.high)]
    return Bounds(Fraction(math.floor(years[0]) - 1), Fraction(math.ceil(years[1]) + 1))


def check_range(arithmetic: Arithmetic, interval: Bounds | None) -> None:
    """What PostgreSQL would raise on, with values within the bounds, is no question."""
    if interval is not None and not fits(arithmetic.type, interval):
        raise Refusal(
            Code.UNSUPPORTED,
            f"the result of this arithmetic can be out of range for type {arithmetic.type.sql}",
            "Cast one operand to numeric first: column::numeric * ...",
            position_in(arithmetic),
        )


def fits(kind: SqlType, interval: Bounds) -> bool:
    limit = _INTEGER_RANGES.get(kind)
    return limit is None or (-limit <= interval.low and interval.high < limit)


# --- Bounds that a value has by its type, of what is looked for in arrays and intervals: far too wide for
# noise, so that least() and greatest() with constants have to make them narrow. Those of times of day are
# narrow.


# No array has more elements (src/include/utils/array.h, MaxArraySize); no interval more than 178 million years.
_ELEMENTS = Bounds(Fraction(0), Fraction(2**27))
_SECONDS = Bounds(Fraction(-(10**16)), Fraction(10**16))
_BY_TYPE = {
    ir.InsideLook.CARDINALITY: _ELEMENTS,
    ir.InsideLook.LENGTH: _ELEMENTS,
    ir.InsideLook.EPOCH: _SECONDS,
    ir.InsideLook.COMPARED: _SECONDS,
}
# '24:00:00' is a time of day (src/include/utils/date.h, TIME_VALID).
_OF_DAY = {
    ir.InsideLook.HOUR: Bounds(Fraction(0), Fraction(24)),
    ir.InsideLook.MINUTE: Bounds(Fraction(0), Fraction(59)),
    ir.InsideLook.SECOND: Bounds(Fraction(0), Fraction(60)),
    ir.InsideLook.EPOCH: Bounds(Fraction(0), Fraction(86_400)),
}


def clamped_by_type(part: ir.Expression) -> ir.Clamped | None:
    """None: it has no bounds by its type."""
    if not isinstance(part, ir.Inside):
        return None
    found = _OF_DAY if is_of_day(part) else _BY_TYPE
    if part.look not in found:
        return None
    check_inside(part)
    span = found[part.look]
    return ir.Clamped(part, span.low, span.high, part.type)


def is_of_day(inside: ir.Inside) -> bool:
    """Whether it has public bounds: part of a time of day."""
    return inside.operand.type is SqlType.TIME_OF_DAY


def whole_parts_of_day(inside: ir.Inside) -> range | None:
    """The hours or minutes that there are; None: something else."""
    if inside.look not in (ir.InsideLook.HOUR, ir.InsideLook.MINUTE):
        return None
    return range(int(_OF_DAY[inside.look].high) + 1)


def with_ends(choose: ir.Choose) -> ir.Choose:
    """least(cardinality(x), 10) and greatest(least(extract(epoch FROM x), 3600), 0), clamped by their types."""
    parts: list[ir.Expression] = []
    for part in choose.operands:
        if choose.choice is ir.Choice.LEAST and isinstance(part, ir.Inside) and _is_counted(part):
            parts.append(clamped_by_type(part) or part)
        elif isinstance(part, ir.Choose) and _is_other_end(part, choose):
            inner = tuple(clamped_by_type(one) or one for one in part.operands)
            parts.append(ir.Choose(part.choice, inner, part.type))
        else:
            parts.append(part)
    return ir.Choose(choose.choice, tuple(parts), choose.type)


def unlimited(inside: ir.Inside) -> Refusal:
    what, form = (
        "the seconds of an interval have",
        "greatest(least(extract(epoch FROM column), 3600), 0)",
    )
    if _is_counted(inside):
        what, form = (
            "the number of elements of an array has",
            f"least({inside.look.value}(...), 10)",
        )
    return Refusal(Code.NO_BOUNDS, f"{what} no public bounds", f"Write {form}.", inside.position)


def constant_number(part: ir.Expression) -> Fraction | None:
    """Of 3 and -3."""
    is_negated = isinstance(part, ir.NumericCall) and part.function is ir.NumericFunction.NEGATE
    constant = part.operand if isinstance(part, ir.NumericCall) and is_negated else part
    value = constant.value if isinstance(constant, ir.Constant) else None
    if not isinstance(value, Fraction):
        return None
    return -value if is_negated else value


def _is_counted(inside: ir.Inside) -> bool:
    return inside.look in (ir.InsideLook.CARDINALITY, ir.InsideLook.LENGTH)


def _is_other_end(inner: ir.Choose, outer: ir.Choose) -> bool:
    return {inner.choice, outer.choice} == {ir.Choice.LEAST, ir.Choice.GREATEST} and all(
        any(constant_number(part) is not None for part in choose.operands)
        for choose in (inner, outer)
    )
