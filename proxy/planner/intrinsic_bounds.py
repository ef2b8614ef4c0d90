"""Bounds that a value has by its type, of what is looked for in arrays and intervals: far too wide for noise,
so that least() and greatest() with constants have to make them narrow. Those of times of day are narrow."""

from __future__ import annotations

from fractions import Fraction

from proxy.base.errors import Code, Refusal
from proxy.base.sql_types import SqlType
from proxy.kernel.constant_checks import check_inside
from proxy.policy.policy_model import Bounds
from proxy.query.ir import expressions as ir

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
