"""Casts that no row can fail."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction

from sqlglot import exp

from proxy.base import limits
from proxy.base.decimals import real_as_numeric
from proxy.base.errors import Code, Refusal
from proxy.base.sql_types import SqlType
from proxy.base.written_spans import is_simple
from proxy.query.bind.nodes.labels import as_label, as_label_text
from proxy.query.bind.nodes.operands import repeated
from proxy.query.bind.scope import Readers, Scope, only, position_of
from proxy.query.ir import expressions as ir
from proxy.query.ir import typing_rules
from proxy.query.ir.expressions import Expression
from proxy.query.ir.time_differences import CLOCKS, INSTEAD, clock_time, is_time_of_day
from proxy.query.syntax.placeholders import CastParameter, ClientParameter

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
    exp.DType.TIME: SqlType.TIME_OF_DAY,
    exp.DType.UUID: SqlType.UUID,
}


def _cast(node: exp.Expr, scope: Scope) -> Expression:
    only(node, "this", "to", "_type")
    wanted = node.args["to"]
    if wanted.this is exp.DType.INTERVAL and isinstance(node.this, exp.Literal):
        return _interval(node.this, node)
    target = CAST_TYPES.get(wanted.this)
    operand = scope.read(node.this)
    label = as_label(operand, wanted, scope)
    if label is not None:
        return label
    if target is not None and target.is_text:
        operand = as_label_text(operand, scope)
    modifier = written_modifier(wanted.expressions) if target in _MODIFIED else None
    if target is None or (wanted.expressions and modifier is None):
        raise Refusal(
            Code.UNSUPPORTED,
            "a cast to this type is not allowed on protected columns",
            "Cast to integer, bigint, numeric, numeric(10, 2), double precision, text, varchar(10) or date, or"
            " write date_trunc('second', column) for timestamp(0) and left(column, 10) for char(10).",
            position_of(node),
        )
    if modifier is None:
        return _cast_to(operand, target, node)
    if target is SqlType.NUMERIC:
        return _to_digits(_cast_to(operand, target, node), modifier, node)
    text = _cast_to(operand, SqlType.TEXT, node)  # an explicit cast cuts without a word
    most = ir.Constant(Fraction(modifier[0]), SqlType.INT4)
    return ir.TextCall(ir.TextFunction.LEFT, text, (most,), target, position_of(node))


def _cast_to(operand: Expression, target: SqlType, node: exp.Expr) -> Expression:
    source = operand.type
    if source is None or isinstance(operand, ir.Constant):
        value = operand.value if isinstance(operand, ir.Constant) else None
        if isinstance(value, Fraction) and target.is_text:
            return as_text(operand, node)
        if isinstance(value, Fraction):
            if source is SqlType.FLOAT4 and target is SqlType.NUMERIC:
                value = real_as_numeric(value)
            return _cast_number(value, target, node)
        if source is not None and source.is_time and source is not target:
            raise _evaluated_cast(node)
        return typing_rules.settle_literal(ir.Constant(value, None, position_of(node)), target)
    if source is SqlType.BPCHAR and target.is_text:  # it loses the blanks at its end
        return ir.TextCall(ir.TextFunction.RTRIM, operand, (), target, position_of(node))
    if source is target or (source.is_text and target.is_text):
        return operand
    of = operand.source if isinstance(operand, ir.Parameter) and source.is_text else None
    if isinstance(of, ClientParameter):
        return ir.Parameter(CastParameter(of.number, target), target)
    if source.is_number and target.is_number:
        if target.is_integer and not source.is_integer:
            return ir.NumericCall(ir.NumericFunction.ROUND, operand, 0, target)
        return ir.Cast(operand, target)
    if source is SqlType.BOOL and target is SqlType.INT4:
        return ir.Cast(operand, target)
    if source.is_time and target.is_time:
        return ir.Cast(operand, target)
    if source is SqlType.CLOCK_TIME and target is SqlType.TIME_OF_DAY:
        return operand
    if source in CLOCKS and target is SqlType.TIME_OF_DAY:
        return clock_time(repeated(operand))
    if target.is_text:
        return as_text(operand, node, target)
    if source.is_text and (target.is_integer or target is SqlType.DATE):
        return ir.Cast(operand, target)  # of what the planner knows every value of
    raise Refusal(
        Code.UNSUPPORTED,
        f"a cast from {source.sql} to {target.sql} may fail on some rows and is not allowed",
        "Compare the column in its own type.",
        position_of(node),
    )


def _interval(text: exp.Literal, node: exp.Expr) -> Expression:
    """'1 day'::interval"""
    if node.args["to"].expressions or not text.is_string or not is_simple(text.name):
        raise _evaluated_cast(node)
    return typing_rules.constant(text.name, SqlType.INTERVAL, position_of(node))


def _evaluated_cast(node: exp.Expr) -> Refusal:
    """Of a constant: what its parts are is PostgreSQL's to say (syntax.constant_spans)."""
    return Refusal(
        Code.UNSUPPORTED,
        "this cast of a constant is not read on a protected table",
        "Write the constant in the type of the column it meets.",
        position_of(node),
    )


_MODIFIED = (SqlType.NUMERIC, SqlType.VARCHAR)
_DIGITS = 20  # as of round()


def written_modifier(written: Sequence[exp.Expr]) -> tuple[int, ...] | None:
    """(10, 2) of numeric(10, 2), as far as numbers are rounded to."""
    found = []
    for part in written:
        inner = part.this if isinstance(part, exp.DataTypeParam) else part
        number = typing_rules.ordinal(str(inner.this)) if isinstance(inner, exp.Literal) else None
        if number is None:
            return None
        found.append(number)
    return tuple(found) if found and found[0] > 0 else None


def _to_digits(operand: Expression, modifier: tuple[int, ...], node: exp.Expr) -> Expression:
    """numeric(p, s): rounded to s digits, of a number that has not more than p - s before its point."""
    most, digits = modifier[0], modifier[1] if len(modifier) > 1 else 0
    if len(modifier) > 2 or digits > _DIGITS or not digits <= most <= limits.NUMBER_DIGITS:
        raise Refusal(
            Code.UNSUPPORTED,
            "a cast to a numeric of so many digits is not allowed on protected columns",
            f"Cast to numeric(p, s) with p below {limits.NUMBER_DIGITS}, s from 0 to {_DIGITS} and not above"
            " p.",
            position_of(node),
        )
    below = Fraction(10) ** (most - digits)
    return ir.NumericCall(ir.NumericFunction.ROUND, operand, digits, SqlType.NUMERIC, below)


def as_text(operand: Expression, node: exp.Expr, target: SqlType = SqlType.TEXT) -> Expression:
    """A value as PostgreSQL prints it, as far as that is one way.

    Refuses  UNSUPPORTED: times with a clock, whose digits after the point vary; types without a known text
    """
    kind = operand.type
    if isinstance(operand, ir.Constant) and isinstance(operand.value, Fraction):
        if kind is not None and kind.is_integer:
            return ir.Constant(str(operand.value), target, operand.position)
    elif kind is None:
        return typing_rules.settle(operand, target)
    elif kind.is_text:
        return operand
    elif kind is SqlType.DATE:
        local = ir.Cast(operand, SqlType.TIMESTAMP)
        return ir.FormattedTime(local, "YYYY-MM-DD", target)
    elif kind.is_number or kind is SqlType.BOOL:
        return ir.Cast(operand, target)
    hint = "Write to_char(column, 'YYYY-MM-DD HH24:MI:SS')."
    if is_time_of_day(operand):
        hint = INSTEAD
    elif kind is None or not kind.is_time:
        hint = (
            "Use numbers, dates and texts; of a number with digits after its point"
            " round(column::numeric, 2)."
        )
    raise Refusal(
        Code.UNSUPPORTED,
        f"a value of type {kind.sql if kind else 'unknown'} cannot become a text on a protected table",
        hint,
        position_of(node),
    )


def _cast_number(value: Fraction, target: SqlType, node: exp.Expr) -> Expression:
    if not target.is_number or not typing_rules.is_value_of(value, target):
        raise Refusal(
            Code.SYNTAX,
            f"a number as a constant of type {target.sql} cannot be read",
            "Write the constant in the type of the column it meets.",
            position_of(node),
        )
    return ir.Constant(typing_rules.held(value, target), target, position_of(node))


READERS: Readers = {exp.Cast: _cast}
