"""Arithmetic that cannot raise, rounding and buckets."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction

from sqlglot import exp

from proxy.base.sql_types import SqlType
from proxy.query.bind.nodes.operands import numbers_together, read_constant, together
from proxy.query.bind.scope import Readers, Scope, only, position_of, unknown
from proxy.query.ir import expressions as ir
from proxy.query.ir.expressions import Expression

_OPERATORS: Mapping[type[exp.Expr], ir.Operator] = {
    exp.Add: ir.Operator.ADD,
    exp.Sub: ir.Operator.SUBTRACT,
    exp.Mul: ir.Operator.MULTIPLY,
}

# A row with zero would raise, and so reveal itself.
_DIVISION = (
    "Rows cannot be divided by a column. Divide by a constant, e.g. sum(a / 10), or aggregates by"
    " each other, e.g. sum(a) / nullif(sum(b), 0)."
)
_REMAINDER = (
    "Rows cannot be divided by a column. Divide by a constant, e.g. count(DISTINCT mod(a, 10))."
)


def _product(node: exp.Expr, scope: Scope) -> Expression:
    only(node, "this", "expression")
    return arithmetic(node, scope.read(node.this), scope.read(node.expression))


def arithmetic(node: exp.Expr, left: Expression, right: Expression) -> Expression:
    """+ - * of numbers."""
    (left, right), meeting = numbers_together(node, left, right)
    return ir.Arithmetic(_OPERATORS[type(node)], left, right, meeting)


def _quotient(node: exp.Expr, scope: Scope) -> Expression:
    only(node, "this", "expression", "typed", "safe")
    remainder = isinstance(node, exp.Mod)
    divisor = read_constant(node.expression, scope, _REMAINDER if remainder else _DIVISION)
    operand = scope.read(node.this)
    (operand, settled), meeting = together([operand, divisor], node)
    if not meeting.is_number or not isinstance(settled, ir.Constant | ir.Parameter):
        raise unknown(node)
    if remainder and not meeting.is_integer:
        raise unknown(node)
    return ir.Quotient(operand, settled, remainder, meeting, position_of(node))


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
    digits = 0
    if node.args.get("decimals") is not None:
        given = read_constant(node.args["decimals"], scope)
        if (
            not isinstance(given, ir.Constant)
            or not isinstance(given.value, Fraction)
            or given.value.denominator != 1
            or not 0 <= given.value <= 20
        ):
            raise unknown(node)
        digits = int(given.value)
    has_digits = node.args.get("decimals") is not None
    result = rounding_type(function, meeting, has_digits=has_digits)
    return ir.NumericCall(function, operand, digits, result)


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
    ends = [node.args.get(name) for name in ("min_value", "max_value", "num_buckets")]
    values = [
        getattr(read_constant(end, scope), "value", None) if end is not None else None
        for end in ends
    ]
    low, high, count = values
    if operand.type is None or not operand.type.is_number:
        raise unknown(node)
    if not (
        isinstance(low, Fraction) and isinstance(high, Fraction) and isinstance(count, Fraction)
    ):
        raise unknown(node)
    if low >= high or count.denominator != 1 or not 1 <= count <= 10_000:
        raise unknown(node)
    return ir.Bucket(operand, low, high, int(count))


READERS: Readers = {
    exp.Mul: _product,
    exp.Div: _quotient,
    exp.Mod: _quotient,
    **dict.fromkeys(_ROUNDINGS, _rounded),
    exp.WidthBucket: _bucket,
}
