"""Arithmetic that cannot raise, rounding and buckets."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction

from sqlglot import exp

from proxy.base.sql_types import SqlType
from proxy.query.bind.nodes.operands import number_operands, number_or_given, numbers_together
from proxy.query.bind.scope import Readers, Scope, only, position_of, unknown
from proxy.query.ir import expressions as ir
from proxy.query.ir.expressions import Expression
from proxy.query.ir.given_fields import MOST_BUCKETS, MOST_DIGITS
from proxy.query.syntax.placeholders import ClientParameter

_OPERATORS: Mapping[type[exp.Expr], ir.Operator] = {
    exp.Add: ir.Operator.ADD,
    exp.Sub: ir.Operator.SUBTRACT,
    exp.Mul: ir.Operator.MULTIPLY,
}


def _product(node: exp.Expr, scope: Scope) -> Expression:
    only(node, "this", "expression")
    return arithmetic(node, scope.read(node.this), scope.read(node.expression))


def arithmetic(node: exp.Expr, left: Expression, right: Expression) -> Expression:
    """+ - * of numbers."""
    (left, right), meeting = numbers_together(node, left, right)
    return ir.Arithmetic(_OPERATORS[type(node)], left, right, meeting)


def _quotient(node: exp.Expr, scope: Scope) -> Expression:
    """Whether a row's divisor can be 0 is the planner's question, which knows its bounds."""
    only(node, "this", "expression", "typed", "safe")
    remainder = isinstance(node, exp.Mod)
    (operand, divisor), meeting = number_operands(node, node.this, node.expression, scope=scope)
    if remainder and meeting.is_float:
        raise unknown(node)
    divisor = _signed(divisor)
    return ir.Quotient(operand, divisor, remainder, meeting, position_of(node))


def _signed(divisor: Expression) -> Expression:
    """-2, which is read as a minus sign and 2."""
    is_minus = isinstance(divisor, ir.NumericCall) and divisor.function is ir.NumericFunction.NEGATE
    inner = divisor.operand if is_minus and isinstance(divisor, ir.NumericCall) else None
    if isinstance(inner, ir.Constant) and isinstance(inner.value, Fraction):
        return ir.Constant(-inner.value, inner.type, inner.position)
    return divisor


_REAL_FUNCTIONS: Mapping[type[exp.Expr], ir.RealFunction] = {
    exp.Ln: ir.RealFunction.LN,
    exp.Exp: ir.RealFunction.EXP,
    exp.Sqrt: ir.RealFunction.SQRT,
}


def _real(node: exp.Expr, scope: Scope) -> Expression:
    only(node, "this")
    (operand,), meeting = number_operands(node, node.this, scope=scope)
    return _real_call(_REAL_FUNCTIONS[type(node)], operand, None, meeting, node)


def _logarithm(node: exp.Expr, scope: Scope) -> Expression:
    """log(x), of base 10, or log(base, x), which PostgreSQL has of numeric alone."""
    only(node, "this", "expression")
    if node.args.get("expression") is None:
        (operand,), meeting = number_operands(node, node.this, scope=scope)
        return _real_call(ir.RealFunction.LOG, operand, Fraction(10), meeting, node)
    read = scope.read(node.this)
    (operand,), meeting = number_operands(node, node.expression, scope=scope)
    if isinstance(read, ir.Parameter) and isinstance(read.source, ClientParameter):
        numeric = SqlType.NUMERIC
        return _real_call(ir.RealFunction.LOG, operand, None, numeric, node, read.source)
    base = _constant_number(read)
    if base is None or base <= 0 or base == 1:
        raise unknown(node)
    # log10(x) is to the parser log(10, x), and of an integer double precision.
    kind = meeting if base == 10 else SqlType.NUMERIC
    return _real_call(ir.RealFunction.LOG, operand, base, kind, node)


def _power(node: exp.Expr, scope: Scope) -> Expression:
    """x ^ 2, power(x, 0.5), power(2, x): one of both is a constant."""
    only(node, "this", "expression")
    (left, right), meeting = number_operands(node, node.this, node.expression, scope=scope)
    exponent, base = _constant_number(right), _constant_number(left)
    for function, operand, held in (
        (ir.RealFunction.POWER, left, right),
        (ir.RealFunction.RAISED, right, left),
    ):
        if isinstance(held, ir.Parameter) and isinstance(held.source, ClientParameter):
            return _real_call(function, operand, None, meeting, node, held.source)
    if exponent is not None:
        return _real_call(ir.RealFunction.POWER, left, exponent, meeting, node)
    if base is None or base <= 0:
        raise unknown(node)
    return _real_call(ir.RealFunction.RAISED, right, base, meeting, node)


def _real_call(
    function: ir.RealFunction,
    operand: Expression,
    constant: Fraction | None,
    kind: SqlType,
    node: exp.Expr,
    given: ClientParameter | None = None,
) -> Expression:
    # Of integers PostgreSQL takes the functions of double precision (17 documentation, section 10.3).
    result = SqlType.NUMERIC if kind is SqlType.NUMERIC else SqlType.FLOAT8
    fields: ir.Given = () if given is None else (("constant", given),)
    return ir.RealCall(function, operand, constant, result, position_of(node), fields)


def _constant_number(operand: Expression) -> Fraction | None:
    signed = _signed(operand)
    value = signed.value if isinstance(signed, ir.Constant) else None
    return value if isinstance(value, Fraction) else None


_ROUNDINGS: Mapping[type[exp.Expr], ir.NumericFunction] = {
    exp.Abs: ir.NumericFunction.ABS,
    exp.Neg: ir.NumericFunction.NEGATE,
    exp.Floor: ir.NumericFunction.FLOOR,
    exp.Ceil: ir.NumericFunction.CEIL,
    exp.Sign: ir.NumericFunction.SIGN,
    exp.Trunc: ir.NumericFunction.TRUNC,
    exp.Round: ir.NumericFunction.ROUND,
}


def _rounded(node: exp.Expr, scope: Scope) -> Expression:
    only(node, "this", "decimals")
    (operand,), meeting = numbers_together(node, scope.read(node.this))
    function = _ROUNDINGS[type(node)]
    has_digits = node.args.get("decimals") is not None
    result = rounding_type(function, meeting, has_digits=has_digits)
    if not has_digits:
        return ir.NumericCall(function, operand, 0, result)
    digits = number_or_given(node.args["decimals"], scope)
    if not isinstance(digits, Fraction):
        return ir.NumericCall(function, operand, 0, result, given=(("digits", digits),))
    if digits.denominator != 1 or abs(digits) > MOST_DIGITS:
        raise unknown(node)
    return ir.NumericCall(function, operand, int(digits), result)


def rounding_type(function: ir.NumericFunction, operand: SqlType, *, has_digits: bool) -> SqlType:
    """Of the result: floor(int) and friends resolve to the float8 functions, round(x, n) to numeric's
    (PostgreSQL 17 documentation, section 9.3)."""
    if function in (ir.NumericFunction.ABS, ir.NumericFunction.NEGATE):
        return operand
    if operand is SqlType.FLOAT4:
        return SqlType.FLOAT8
    if has_digits:
        return SqlType.NUMERIC
    return SqlType.FLOAT8 if operand.is_integer else operand


def _bucket(node: exp.Expr, scope: Scope) -> Expression:
    only(node, "this", "min_value", "max_value", "num_buckets")
    operand = scope.read(node.this)
    if operand.type is None or not operand.type.is_number:
        raise unknown(node)
    fields = (("low", "min_value"), ("high", "max_value"), ("count", "num_buckets"))
    if any(node.args.get(name) is None for _, name in fields):
        raise unknown(node)
    ends = {field: number_or_given(node.args[name], scope) for field, name in fields}
    given = tuple((name, end) for name, end in ends.items() if not isinstance(end, Fraction))
    low, high, count = (
        end if isinstance(end, Fraction) else Fraction(place)
        for place, end in enumerate(ends.values())
    )
    found = ir.Bucket(operand, low, high, int(count), given=given)
    if not given and (low >= high or count.denominator != 1 or not 1 <= count <= MOST_BUCKETS):
        raise unknown(node)
    return found


READERS: Readers = {
    exp.Mul: _product,
    exp.Div: _quotient,
    exp.Mod: _quotient,
    **dict.fromkeys(_ROUNDINGS, _rounded),
    exp.WidthBucket: _bucket,
    **dict.fromkeys(_REAL_FUNCTIONS, _real),
    exp.Log: _logarithm,
    exp.Pow: _power,
}
