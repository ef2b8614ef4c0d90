"""Week starts and bins as tools write them by arithmetic, read as the forms that say the same.

`day - extract(dow FROM day)::int` is the Sunday of its week; `origin + interval '2 weeks' * floor(extract(epoch
FROM t - origin) / extract(epoch FROM interval '2 weeks'))` is date_bin('2 weeks', t, origin). Both multiply or
take off something that is computed of a row, which nothing else may: here it is one of seven days, or a whole
number of widths, so that the result is no further from the column than a week or a width.
"""

from __future__ import annotations

from fractions import Fraction

from sqlglot import exp

from proxy.base.instants import seconds_of
from proxy.base.sql_types import SqlType
from proxy.base.time_spans import TimeSpan
from proxy.base.written_spans import span_of
from proxy.query.bind.scope import Scope
from proxy.query.ir import expressions as ir
from proxy.query.ir.expressions import Expression
from proxy.query.ir.given_fields import MOST_BIN_WIDTH

_WEEK = 7
_SECOND = 10**6


def week_of_day(day: Expression, less: Expression) -> Expression | None:
    """
    Given    a date, and the number of days that is taken from it
    Gives    the first day of its week, where the number is that of the days since one; None: of anything else
    """
    if day.type is not SqlType.DATE:
        return None
    first = first_weekday(day, less)
    if first is None:
        return None
    return ir.Cast(week_from(ir.Cast(day, SqlType.TIMESTAMP), first), SqlType.DATE)


def week_in(truncated: exp.Expr, scope: Scope) -> Expression | None:
    """Of date_trunc('day', t - interval '1 day' * (number of days since a week began)), the week's first day.

    Given    what is truncated; of a local time, as a day of an instant depends on where it is
    """
    node = truncated.unnest()
    found = _multiplied(node.expression) if isinstance(node, exp.Sub) else None
    if found is None or _span(found[0], scope) != TimeSpan(days=1):
        return None
    time, less = scope.read(node.this), scope.read(found[1])
    first = first_weekday(time, less) if time.type is SqlType.TIMESTAMP else None
    return None if first is None else week_from(time, first)


def bin_in(node: exp.Expr, scope: Scope) -> Expression | None:
    """Of a sum of a constant local time and whole numbers of widths since it, the bin."""
    for start, steps in ((node.this, node.expression), (node.expression, node.this)):
        found = _multiplied(steps)
        if found is None:
            continue
        origin, width = scope.read(start), _span(found[0], scope)
        is_local = isinstance(origin, ir.Constant) and origin.type is SqlType.TIMESTAMP
        if not is_local or width is None or width.months:
            return None
        time = counted_widths(scope.read(found[1]), origin, width.compared)
        at = seconds_of(str(getattr(origin, "value", None)), is_local=True)
        if time is None or at is None:
            return None
        return ir.TimeBin(time, int(width.compared * _SECOND), int(at * _SECOND), SqlType.TIMESTAMP)
    return None


def _multiplied(node: exp.Expr) -> tuple[exp.Interval, exp.Expr] | None:
    """An interval, and what it is multiplied by."""
    product = node.unnest()
    if not isinstance(product, exp.Mul):
        return None
    for one, other in ((product.this, product.expression), (product.expression, product.this)):
        if isinstance(one, exp.Interval):
            return one, other
    return None


def _span(node: exp.Interval, scope: Scope) -> TimeSpan | None:
    read = scope.read(node)
    value = read.value if isinstance(read, ir.Constant) else None
    return span_of(value) if isinstance(value, str) else None


def week_from(time: Expression, first: int) -> Expression:
    """date_trunc('week') begins on Mondays; first: so many days later the week begins, -3 to 3."""
    if first == 0:
        return ir.DateTrunc("week", time, SqlType.TIMESTAMP)
    shifted = ir.Shift(time, 0, -first, 0, SqlType.TIMESTAMP)
    start = ir.DateTrunc("week", shifted, SqlType.TIMESTAMP)
    return ir.Shift(start, 0, first, 0, SqlType.TIMESTAMP)


def first_weekday(time: Expression, less: Expression) -> int | None:
    """Of which day of the week (after Monday) a number is always the number of days since it."""
    counted = [_of_weekday(less, time, dow) for dow in range(_WEEK)]  # 0 is Sunday
    firsts = set()
    for dow, number in enumerate(counted):
        if number is None or not 0 <= number < _WEEK or number.denominator != 1:
            return None
        firsts.add((dow - 1 - int(number)) % _WEEK)
    if len(firsts) != 1:
        return None
    first = firsts.pop()
    return first if first <= _WEEK // 2 else first - _WEEK


def _of_weekday(part: Expression, time: Expression, dow: int) -> Fraction | None:
    """A whole number computed of the weekday of a time alone; None: of anything else."""
    match part:
        case ir.Constant(value=Fraction() as value) if value.denominator == 1:
            return value
        case ir.Extract(field="dow", operand=operand) if operand == time:
            return Fraction(dow)
        case ir.Extract(field="isodow", operand=operand) if operand == time:
            return Fraction(dow or _WEEK)
        case ir.Cast(operand=inner, type=kind) if kind.is_number:
            return _of_weekday(inner, time, dow)
        case ir.NumericCall(operand=inner, digits=0, below=None) if part.type.is_integer:
            return _of_weekday(inner, time, dow) if _rounds_whole(part) else None
        case ir.Arithmetic():
            left, right = (_of_weekday(side, time, dow) for side in (part.left, part.right))
            if left is None or right is None:
                return None
            return _computed(part.operator, left, right)
        case ir.Quotient(operand=inner, divisor=ir.Constant(value=Fraction() as by)) if (
            part.remainder and by == _WEEK
        ):
            number = _of_weekday(inner, time, dow)
            return None if number is None or number < 0 else number % by
        case _:
            return None


def _rounds_whole(call: ir.NumericCall) -> bool:
    return call.function in (
        ir.NumericFunction.ROUND,
        ir.NumericFunction.FLOOR,
        ir.NumericFunction.CEIL,
        ir.NumericFunction.TRUNC,
    )


def _computed(operator: ir.Operator, left: Fraction, right: Fraction) -> Fraction | None:
    match operator:
        case ir.Operator.ADD:
            return left + right
        case ir.Operator.SUBTRACT:
            return left - right
        case _:
            return None


def counted_widths(part: Expression, origin: Expression, width: Fraction) -> Expression | None:
    """The time of which a number is that of whole widths since the origin."""
    match part:
        case ir.NumericCall(
            function=ir.NumericFunction.FLOOR,
            digits=0,
            operand=ir.Quotient(
                operand=ir.Arithmetic(
                    operator=ir.Operator.SUBTRACT,
                    left=ir.Extract(field="epoch", operand=time),
                    right=ir.Extract(field="epoch", operand=ir.Constant() as since),
                ),
                divisor=ir.Constant(value=Fraction() as divisor),
                remainder=False,
            ),
        ) if divisor == width and 0 < width <= MOST_BIN_WIDTH:
            is_since = isinstance(origin, ir.Constant) and since.value == origin.value
            return time if is_since and time.type is SqlType.TIMESTAMP else None
        case _:
            return None
