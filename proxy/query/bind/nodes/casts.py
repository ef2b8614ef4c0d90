"""Casts that no row can fail."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from fractions import Fraction

from sqlglot import exp

from proxy.base.errors import Code, Refusal
from proxy.base.sql_types import SqlType
from proxy.base.time_spans import is_simple
from proxy.query.bind.scope import Readers, Scope, only, position_of
from proxy.query.ir import expressions as ir
from proxy.query.ir import typing_rules
from proxy.query.ir.expressions import Expression
from proxy.query.syntax.placeholders import ClientParameter

CAST_TYPES: Mapping[exp.DType, SqlType] = {
    exp.DType.BOOLEAN: SqlType.BOOL,
    exp.DType.SMALLINT: SqlType.INT2,
    exp.DType.INT: SqlType.INT4,
    exp.DType.BIGINT: SqlType.INT8,
    exp.DType.DECIMAL: SqlType.NUMERIC,
    exp.DType.FLOAT: SqlType.FLOAT4,
    exp.DType.DOUBLE: SqlType.FLOAT8,
    exp.DType.TEXT: SqlType.TEXT,
    exp.DType.VARCHAR: SqlType.VARCHAR,
    exp.DType.DATE: SqlType.DATE,
    exp.DType.TIMESTAMP: SqlType.TIMESTAMP,
    exp.DType.TIMESTAMPTZ: SqlType.TIMESTAMPTZ,
}


def _cast(node: exp.Expr, scope: Scope) -> Expression:
    only(node, "this", "to", "_type")
    wanted = node.args["to"]
    if wanted.this is exp.DType.INTERVAL and isinstance(node.this, exp.Literal):
        return _interval(node.this, node)
    target = CAST_TYPES.get(wanted.this)
    if target is None or wanted.expressions:
        raise Refusal(
            Code.UNSUPPORTED,
            "a cast to this type is not allowed on protected columns",
            "Cast to integer, bigint, numeric, double precision or date, without a precision.",
            position_of(node),
        )
    operand = scope.read(node.this)
    source = operand.type
    if source is None or isinstance(operand, ir.Constant):
        value = operand.value if isinstance(operand, ir.Constant) else None
        if isinstance(value, Fraction):
            return _cast_number(value, target, node)
        return typing_rules.settle(ir.Constant(value, None, position_of(node)), target)
    if source is target or (source.is_text and target.is_text):
        return operand
    is_client = isinstance(operand, ir.Parameter) and isinstance(operand.source, ClientParameter)
    if is_client and source.is_text:
        return replace(operand, type=target)  # its text is read as that type when it is bound
    if source.is_number and target.is_number:
        if target.is_integer and not source.is_integer:
            return ir.NumericCall(ir.NumericFunction.ROUND, operand, 0, target)
        return ir.Cast(operand, target)
    if source is SqlType.BOOL and target is SqlType.INT4:
        return ir.Cast(operand, target)
    if source.is_time and target.is_time:
        return ir.Cast(operand, target)
    raise Refusal(
        Code.UNSUPPORTED,
        f"a cast from {source.sql} to {target.sql} may fail on some rows and is not allowed",
        "Compare the column in its own type.",
        position_of(node),
    )


def _interval(text: exp.Literal, node: exp.Expr) -> Expression:
    """'1 day'::interval"""
    if node.args["to"].expressions or not text.is_string or not is_simple(text.name):
        raise Refusal(
            Code.UNSUPPORTED,
            "an interval on a protected table is one number of one unit",
            "Write interval '90 minutes'.",
            position_of(node),
        )
    return typing_rules.constant(text.name, SqlType.INTERVAL, position_of(node))


def _cast_number(value: Fraction, target: SqlType, node: exp.Expr) -> Expression:
    if not target.is_number or not typing_rules.is_value_of(value, target):
        raise Refusal(
            Code.SYNTAX,
            f"a number as a constant of type {target.sql} cannot be read",
            "Write the constant in the type of the column it meets.",
            position_of(node),
        )
    return ir.Constant(value, target, position_of(node))


READERS: Readers = {
    exp.Cast: _cast,
}
