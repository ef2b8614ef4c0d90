"""Times moved by constant intervals, differences of times, and bins of a constant width."""

from __future__ import annotations

from fractions import Fraction

from sqlglot import exp

from proxy.base.errors import Code, Refusal
from proxy.base.sql_types import SqlType
from proxy.base.time_spans import TimeSpan
from proxy.base.written_spans import is_simple, span_of
from proxy.base.zones import UTC
from proxy.query.bind.nodes.numbers import arithmetic
from proxy.query.bind.nodes.operands import constant_or_given
from proxy.query.bind.nodes.written_bins import bin_in, week_of_day
from proxy.query.bind.scope import Readers, Scope, only, position_of, unknown
from proxy.query.ir import expressions as ir
from proxy.query.ir import typing_rules
from proxy.query.ir.expression_walk import columns
from proxy.query.ir.expressions import Expression
from proxy.query.ir.given_fields import MOST_BIN_WIDTH, bin_origin, bin_width
from proxy.query.ir.time_differences import (
    checked_span,
    difference,
    difference_of_day,
    is_time_of_day,
)
from proxy.query.syntax.placeholders import ClientParameter, WrittenText

_SECOND = 10**6


def _interval(node: exp.Expr, scope: Scope) -> Expression:
    """One number of one unit: the parser drops what follows (query.syntax.slices refuses that)."""
    only(node, "this", "unit")
    number, unit = node.this, node.args.get("unit")
    is_text = isinstance(number, exp.Literal) and number.is_string
    text = f"{number.name} {unit.name}" if is_text and isinstance(unit, exp.Var) else ""
    if not is_simple(text):
        raise unknown(node)
    return typing_rules.constant(text, SqlType.INTERVAL, position_of(node))


def _sum(node: exp.Expr, scope: Scope) -> Expression:
    only(node, "this", "expression")
    if isinstance(node, exp.Add) and (found := bin_in(node, scope)) is not None:
        return found
    left, right = scope.read(node.this), scope.read(node.expression)
    is_back = isinstance(node, exp.Sub)
    kinds = (left.type, right.type)
    times = [kind for kind in kinds if kind is not None and kind.is_time]
    of_row = columns(left) or columns(right)
    if is_time_of_day(left) and is_time_of_day(right) and is_back and of_row:
        return difference_of_day(left, right)
    if not times and SqlType.INTERVAL not in kinds:
        return arithmetic(node, left, right)
    if not of_row:
        raise unknown(node)  # the shadow evaluates it
    if left.type is None or not left.type.is_time:
        if is_back:
            raise _not_these(node)
        left, right = right, left
    if left.type is None or not left.type.is_time:
        raise _not_these(node)
    if is_back and (week := week_of_day(left, right)) is not None:
        return week
    if (right.type is not None and right.type.is_time) or (is_back and _is_time_text(right)):
        if not is_back:
            raise _not_these(node)
        meeting = typing_rules.common([k for k in kinds if k is not None], position_of(node))
        left, right = (typing_rules.settle_literal(side, meeting) for side in (left, right))
        return difference(left, right, meeting)
    return _shift(left, right, node, is_back=is_back)


def _is_time_text(part: Expression) -> bool:
    """An untyped text beside a time that something is taken from: a time, as PostgreSQL reads it."""
    return isinstance(part, ir.Constant) and part.type is None and isinstance(part.value, str)


def _shift(operand: Expression, by: Expression, node: exp.Expr, *, is_back: bool) -> Expression:
    assert operand.type is not None
    is_days = operand.type is SqlType.DATE and by.type is not None and by.type.is_integer
    if by.type is None and operand.type is not SqlType.DATE:
        by = typing_rules.settle_literal(by, SqlType.INTERVAL)
    if not is_days and by.type is not SqlType.INTERVAL:
        raise _not_these(node)
    kind = operand.type
    if kind is SqlType.DATE and not is_days:
        kind = SqlType.TIMESTAMP
    if isinstance(by, ir.Parameter) and isinstance(by.source, ClientParameter | WrittenText):
        return ir.Shift(operand, 0, 0, 0, kind, (("by", by.source),), is_back)
    span = _constant_span(by)
    if span is None:
        raise _not_these(node)
    span = checked_span(-span if is_back else span, position_of(node))
    return ir.Shift(operand, span.months, span.days, span.microseconds, kind)


def _constant_span(by: Expression) -> TimeSpan | None:
    value = by.value if isinstance(by, ir.Constant) else None
    if isinstance(value, Fraction) and abs(value) < 10**9 and value.denominator == 1:
        return TimeSpan(days=int(value))
    return span_of(value) if isinstance(value, str) else None


def _not_these(node: exp.Expr) -> Refusal:
    return Refusal(
        Code.UNSUPPORTED,
        "arithmetic of these operands is not available on a protected table",
        "To a column of a date or timestamp add a constant, column + interval '1 day'; from one take another,"
        " extract(epoch FROM ended - started), of dates ended - started.",
        position_of(node),
    )


def _bin(node: exp.Expr, scope: Scope) -> Expression:
    """date_bin('15 minutes', column, timestamp '2001-01-01')."""
    only(node, "this", "expression", "unit")
    if node.args.get("unit") is None:
        raise unknown(node)
    start_at = _origin(node.args["unit"], scope)
    operand, written = scope.read(node.expression), scope.read(start_at)
    if operand.type is SqlType.DATE:
        # PostgreSQL prefers timestamp with time zone where the origin does not say.
        kind = SqlType.TIMESTAMP if written.type is SqlType.TIMESTAMP else SqlType.TIMESTAMPTZ
        operand = ir.Cast(operand, kind)
    if operand.type not in (SqlType.TIMESTAMP, SqlType.TIMESTAMPTZ):
        raise unknown(node)
    stride = constant_or_given(node.this, scope, SqlType.INTERVAL)
    origin = constant_or_given(start_at, scope, operand.type)
    given: ir.Given = ()
    width = start = 0
    if isinstance(stride, ir.Constant):
        if stride.type is not SqlType.INTERVAL:
            raise unknown(node)
        width = bin_width(_constant_span(stride), position_of(node))
    else:
        given = (("width", stride),)
    if isinstance(origin, ir.Constant):
        is_alike = origin.type is operand.type
        start = bin_origin(origin.value if is_alike else None, operand.type, position_of(node))
    else:
        given = (*given, ("origin", origin))
    return ir.TimeBin(operand, width, start, operand.type, given)


def _origin(node: exp.Expr, scope: Scope) -> exp.Expr:
    """The parser takes a text for the name of a unit, as it does with a column's."""
    names = {name.upper() for relation in scope.relations for name in relation.columns}
    is_text = isinstance(node, exp.Var) and node.name[:1].isdigit() and node.name not in names
    return exp.Literal.string(node.name) if is_text else node


def _epoch_bin(node: exp.Expr, scope: Scope) -> Expression:
    """to_timestamp(floor(extract(epoch FROM column) / 300) * 300): the instant that begins a bin of seconds
    since 1970. A local time is counted as if it were one of UTC."""
    only(node, "this")
    found = _epoch_width(scope.read(node.this))
    if found is None:
        raise unknown(node)
    operand, width = found
    if operand.type is not SqlType.TIMESTAMPTZ:
        operand = ir.Cast(operand, SqlType.TIMESTAMPTZ, UTC)
    return ir.TimeBin(operand, int(width * _SECOND), 0, SqlType.TIMESTAMPTZ)


def _epoch_width(part: Expression) -> tuple[Expression, Fraction] | None:
    match part:
        case ir.Arithmetic(
            operator=ir.Operator.MULTIPLY,
            left=ir.NumericCall(
                function=ir.NumericFunction.FLOOR,
                digits=0,
                operand=ir.Quotient(
                    operand=ir.Extract(field="epoch", operand=operand),
                    divisor=ir.Constant(value=Fraction() as divisor),
                    remainder=False,
                ),
            ),
            right=ir.Constant(value=Fraction() as factor),
        ) if divisor == factor and divisor.denominator == 1 and 0 < divisor <= MOST_BIN_WIDTH:
            return operand, divisor
        case _:
            return None


READERS: Readers = {
    exp.Interval: _interval,
    exp.Add: _sum,
    exp.Sub: _sum,
    exp.DateBin: _bin,
    exp.UnixToTime: _epoch_bin,
}
