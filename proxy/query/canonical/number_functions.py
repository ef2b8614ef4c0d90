"""Arithmetic and functions of numbers, by the types of their arguments."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from proxy.base.sql_types import SqlType
from proxy.query.canonical.canonical_tokens import unread
from proxy.query.canonical.comparisons import FLOATS, INTEGERS
from proxy.query.canonical.signatures import Builder, Signatures, overloads
from proxy.query.canonical.values import TypedValue, value_of
from proxy.query.ir import expressions as ir
from proxy.query.ir.given_fields import MOST_BUCKETS, MOST_DIGITS
from proxy.query.ir.typing_rules import common
from proxy.query.syntax.placeholders import ClientParameter

_NUMBERS = (*INTEGERS, "numeric", *FLOATS)
_ONE = tuple((kind,) for kind in _NUMBERS)
_EXACT = (
    *((left, right) for left in INTEGERS for right in INTEGERS),
    ("numeric", "numeric"),
)
_PAIRS = (*_EXACT, *((left, right) for left in FLOATS for right in FLOATS))
_REAL = (("numeric",), ("double precision",))
_REALS = (("numeric", "numeric"), ("double precision", "double precision"))


def _meeting(arguments: Sequence[TypedValue]) -> SqlType:
    return common([one.type for one in arguments], None)


def _arithmetic(operator: ir.Operator) -> Builder:
    def made(arguments: Sequence[TypedValue]) -> TypedValue:
        left, right = arguments
        kind = _meeting(arguments)
        return value_of(ir.Arithmetic(operator, left.expression, right.expression, kind), kind)

    return made


def _quotient(*, remainder: bool) -> Builder:
    """Whether a row's divisor can be 0 is the planner's question, which knows its bounds."""

    def made(arguments: Sequence[TypedValue]) -> TypedValue:
        operand, divisor = arguments
        kind = _meeting(arguments)
        by = _signed(divisor.expression)
        return value_of(ir.Quotient(operand.expression, by, remainder, kind), kind)

    return made


def _signed(part: ir.Expression) -> ir.Expression:
    """-2, which may be written as a minus sign and 2."""
    if isinstance(part, ir.NumericCall) and part.function is ir.NumericFunction.NEGATE:
        inner = part.operand
        if isinstance(inner, ir.Constant) and isinstance(inner.value, Fraction):
            return ir.Constant(-inner.value, inner.type)
    return part


def _rounding(function: ir.NumericFunction) -> Builder:
    def made(arguments: Sequence[TypedValue]) -> TypedValue:
        operand = arguments[0]
        call = ir.NumericCall(function, operand.expression, 0, operand.type)
        if len(arguments) == 1:
            return value_of(call, operand.type)
        digits = _number_or_given(arguments[1])
        if isinstance(digits, ClientParameter):
            call = ir.NumericCall(
                function, operand.expression, 0, operand.type, given=(("digits", digits),)
            )
            return value_of(call, operand.type)
        if digits.denominator != 1 or abs(digits) > MOST_DIGITS:
            raise unread("rounding to so many digits")
        return value_of(ir.NumericCall(function, operand.expression, int(digits), operand.type))

    return made


def _number_or_given(value: TypedValue) -> Fraction | ClientParameter:
    part = value.constant()
    if isinstance(part, ir.Parameter) and isinstance(part.source, ClientParameter):
        return part.source
    number = part.value if isinstance(part, ir.Constant) else None
    if not isinstance(number, Fraction):
        raise unread("an expression where a constant number is needed")
    return number


def _real(function: ir.RealFunction, constant: Fraction | None = None) -> Builder:
    def made(arguments: Sequence[TypedValue]) -> TypedValue:
        operand = arguments[0]
        call = ir.RealCall(function, operand.expression, constant, operand.type)
        return value_of(call, operand.type)

    return made


def _power(arguments: Sequence[TypedValue]) -> TypedValue:
    """x ^ 2, power(2, x): one of both is a constant."""
    left, right = arguments
    kind = left.type
    base, exponent = _signed(left.expression), _signed(right.expression)
    for function, operand, held in (
        (ir.RealFunction.POWER, left, exponent),
        (ir.RealFunction.RAISED, right, base),
    ):
        if isinstance(held, ir.Parameter) and isinstance(held.source, ClientParameter):
            given: ir.Given = (("constant", held.source),)
            return value_of(ir.RealCall(function, operand.expression, None, kind, given=given))
        value = held.value if isinstance(held, ir.Constant) else None
        if isinstance(value, Fraction) and (function is ir.RealFunction.POWER or value > 0):
            return value_of(ir.RealCall(function, operand.expression, value, kind))
    raise unread("a power of two expressions")


def _logarithm(arguments: Sequence[TypedValue]) -> TypedValue:
    """log(base, x)"""
    base, operand = _number_or_given(arguments[0]), arguments[1]
    if isinstance(base, ClientParameter):
        given: ir.Given = (("constant", base),)
        call = ir.RealCall(
            ir.RealFunction.LOG, operand.expression, None, SqlType.NUMERIC, given=given
        )
        return value_of(call)
    if base <= 0 or base == 1:
        raise unread("a logarithm of this base")
    return value_of(ir.RealCall(ir.RealFunction.LOG, operand.expression, base, SqlType.NUMERIC))


def _bucket(arguments: Sequence[TypedValue]) -> TypedValue:
    operand, *ends = arguments
    names = ("low", "high", "count")
    found = {name: _number_or_given(end) for name, end in zip(names, ends, strict=True)}
    given = tuple((name, end) for name, end in found.items() if isinstance(end, ClientParameter))
    low, high, count = (
        end if isinstance(end, Fraction) else Fraction(place)
        for place, end in enumerate(found.values())
    )
    if not given and (low >= high or count.denominator != 1 or not 1 <= count <= MOST_BUCKETS):
        raise unread("width_bucket() of these constants")
    return value_of(ir.Bucket(operand.expression, low, high, int(count), given=given))


_BUCKETS = (
    ("numeric", "numeric", "numeric", "integer"),
    ("double precision", "double precision", "double precision", "integer"),
)
NUMBERS: Signatures = {
    **overloads("+", _PAIRS, _arithmetic(ir.Operator.ADD)),
    **overloads("-", _PAIRS, _arithmetic(ir.Operator.SUBTRACT)),
    **overloads("*", _PAIRS, _arithmetic(ir.Operator.MULTIPLY)),
    **overloads("/", _PAIRS, _quotient(remainder=False)),
    **overloads("%", _EXACT, _quotient(remainder=True)),
    **overloads("mod", _EXACT, _quotient(remainder=True)),
    **overloads("-", _ONE, _rounding(ir.NumericFunction.NEGATE)),
    **overloads("abs", _ONE, _rounding(ir.NumericFunction.ABS)),
    **overloads("@", _ONE, _rounding(ir.NumericFunction.ABS)),
    **overloads("floor", _REAL, _rounding(ir.NumericFunction.FLOOR)),
    **overloads("ceil", _REAL, _rounding(ir.NumericFunction.CEIL)),
    **overloads("ceiling", _REAL, _rounding(ir.NumericFunction.CEIL)),
    **overloads("sign", _REAL, _rounding(ir.NumericFunction.SIGN)),
    **overloads("trunc", (*_REAL, ("numeric", "integer")), _rounding(ir.NumericFunction.TRUNC)),
    **overloads("round", (*_REAL, ("numeric", "integer")), _rounding(ir.NumericFunction.ROUND)),
    **overloads("ln", _REAL, _real(ir.RealFunction.LN)),
    **overloads("exp", _REAL, _real(ir.RealFunction.EXP)),
    **overloads("sqrt", _REAL, _real(ir.RealFunction.SQRT)),
    "|/(double precision)": _real(ir.RealFunction.SQRT),
    **overloads("log", _REAL, _real(ir.RealFunction.LOG, Fraction(10))),
    **overloads("log10", _REAL, _real(ir.RealFunction.LOG, Fraction(10))),
    "log(numeric,numeric)": _logarithm,
    **overloads("^", _REALS, _power),
    **overloads("power", _REALS, _power),
    **overloads("pow", _REALS, _power),
    **overloads("width_bucket", _BUCKETS, _bucket),
}
