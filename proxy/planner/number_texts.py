"""Numbers as texts: with how many digits after the point PostgreSQL prints them, where that is one number. And
casts of computed texts to numbers and dates, written without the text.

Arithmetic of the compiled statement is in numeric, whatever the type in the question; what is printed is
rounded to the digits that the question's own type would show, so that both are one text.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from fractions import Fraction

from proxy.base.errors import Code, Refusal
from proxy.base.sql_types import SqlType
from proxy.planner.facts import Facts
from proxy.planner.intervals import whole_parts_of_day
from proxy.query.ir import expressions as ir
from proxy.query.ir.expression_walk import position_in

_PRINTS_AS_STORED = (ir.ColumnRef, ir.Extract, ir.TextCall, ir.Bucket)
_MOST_DIGITS = 40


def printed(cast: ir.Cast, facts: Facts) -> ir.Cast:
    """A number that is cast to text: rounded to the digits that are printed of it.

    Refuses  UNSUPPORTED: it is not known how many these are
    """
    if cast.operand.type is SqlType.BOOL:
        return cast
    digits = digits_of(cast.operand, facts)
    if digits is None or (digits > _MOST_DIGITS and not isinstance(cast.operand, ir.ColumnRef)):
        raise Refusal(
            Code.UNSUPPORTED,
            "it is not known with how many digits this number is printed",
            "Round it first: round((...)::numeric, 2)::text, or floor(...)::text.",
            position_in(cast),
        )
    operand = cast.operand
    if isinstance(operand, _PRINTS_AS_STORED) and not _is_computed(operand, facts):
        return cast
    if (
        operand.type is not None and operand.type.is_float
    ):  # what has no more digits is a numeric as it is
        operand = ir.Cast(operand, SqlType.NUMERIC)
    rounded = ir.NumericCall(ir.NumericFunction.ROUND, operand, digits, SqlType.NUMERIC)
    return replace(cast, operand=rounded)


def _is_computed(operand: ir.Expression, facts: Facts) -> bool:
    """Whether a subquery computes it, so that its digits are those of its arithmetic."""
    if not isinstance(operand, ir.ColumnRef):
        return False
    known = facts.get((operand.relation, operand.column))
    return known is not None and known.computed_of is not None


def cast_of_text(cast: ir.Cast) -> Refusal:
    return Refusal(
        Code.UNSUPPORTED,
        f"a cast from text to {cast.type.sql} may fail on some rows: it is allowed in GROUP BY, of a text whose"
        " values are public",
        "Compare the column as a text: column = '7'.",
        position_in(cast),
    )


def digits_of(expression: ir.Expression, facts: Facts) -> int | None:
    """After the point; None: not known, or not the same on all rows."""
    match expression:
        case ir.Constant(value=None):
            return 0
        case ir.Constant(value=Fraction() as value, type=kind):
            return 0 if kind is not None and kind.is_integer and value.denominator == 1 else None
        case ir.ColumnRef():
            return _of_column(expression, facts)
        case ir.Cast(operand=operand, type=kind):
            is_text = operand.type is not None and operand.type.is_text
            if operand.type is SqlType.BOOL or (is_text and kind.is_integer):
                return 0
            return digits_of(operand, facts)
        case ir.NumericCall(function=ir.NumericFunction.ABS | ir.NumericFunction.NEGATE):
            return digits_of(expression.operand, facts)
        case ir.NumericCall(type=kind, digits=digits):
            return None if kind.is_float and digits > 0 else max(digits, 0)
        case ir.Arithmetic(operator=operator):
            left, right = digits_of(expression.left, facts), digits_of(expression.right, facts)
            if left is None or right is None:
                return None
            return left + right if operator is ir.Operator.MULTIPLY else max(left, right)
        case ir.Quotient(type=kind) if kind.is_integer:
            return 0
        case ir.Quotient(remainder=True):
            return _equal([expression.operand, expression.divisor], facts)
        case ir.Extract(field=field):
            return None if field in ("epoch", "second") else 0
        case ir.Bucket() | ir.TextCall(type=SqlType.INT4):
            return 0
        case ir.Inside() if whole_parts_of_day(expression) is not None:
            return 0
        case ir.Case():
            return _equal([*(b for _, b in expression.whens), expression.otherwise], facts)
        case ir.Choose():
            return _equal(list(expression.operands), facts)
        case ir.NullIf() | ir.Clamped():
            return digits_of(expression.operand, facts)
        case _:
            return None


def _equal(parts: list[ir.Expression], facts: Facts) -> int | None:
    there = [part for part in parts if not (isinstance(part, ir.Constant) and part.value is None)]
    found = {digits_of(part, facts) for part in there}
    return found.pop() if len(found) == 1 else None


def _of_column(column: ir.ColumnRef, facts: Facts) -> int | None:
    kind = column.type
    if kind.is_integer:
        return 0
    known = facts.get((column.relation, column.column))
    if known is not None and known.computed_of is not None:
        return digits_of(known.computed_of.expression, facts | known.computed_of.facts)
    step = None if known is None else known.step
    if kind is not SqlType.NUMERIC or step is None or step > 1:
        return None
    return len(str(step.denominator)) - 1  # a power of ten


# --- without a text

# Fields of templates that are numbers, with as many digits.
_FIELDS: Mapping[str, tuple[str, int]] = {
    "YYYY": ("year", 4),
    "IYYY": ("isoyear", 4),
    "MM": ("month", 2),
    "DDD": ("doy", 3),
    "DD": ("day", 2),
    "HH24": ("hour", 2),
    "MI": ("minute", 2),
    "IW": ("week", 2),
    "ID": ("isodow", 1),
    "Q": ("quarter", 1),
}
_FIELD = re.compile("IYYY|YYYY|MM|DDD|DD|HH24|MI|IW|ID|Q")
_MOST_PLACES: Mapping[SqlType, int] = {SqlType.INT2: 4, SqlType.INT4: 9, SqlType.INT8: 18}
_DATES: Mapping[str, str | None] = {"YYYY-MM-DD": None, "YYYY-MM-01": "month", "YYYY-01-01": "year"}


def without_text(cast: ir.Cast) -> ir.Expression | None:
    """Write a cast so that no row can make it fail: to_char(at, 'YYYYMM')::int is 100 * year + month.

    Args:
        cast: Of a text to a number or a date.

    Returns:
        An expression of the same values that makes no text. None: there is none.
    """
    match cast.operand:
        case ir.Cast(operand=number) if _holds(number, cast.type):
            return number if number.type is cast.type else ir.Cast(number, cast.type)
        case ir.Case(whens=whens, otherwise=otherwise):
            return _of_case([(test, result) for test, result in whens], otherwise, cast)
        case ir.FormattedTime(operand=time, template=text) if cast.type.is_integer:
            return _number(time, text, cast.type)
        case ir.FormattedTime() | ir.Concat() if cast.type is SqlType.DATE:
            return _date(cast.operand)
        case _:
            return None


def _holds(number: ir.Expression, kind: SqlType) -> bool:
    order = list(_MOST_PLACES)
    return number.type in order and kind in order and order.index(number.type) <= order.index(kind)


def _of_case(
    whens: list[tuple[ir.Expression, ir.Expression]], otherwise: ir.Expression, cast: ir.Cast
) -> ir.Expression | None:
    results = [
        _whole_constant(one, cast.type) for one in (*(result for _, result in whens), otherwise)
    ]
    found = [one for one in results if one is not None]
    if len(found) < len(results):
        return None
    tests = (test for test, _ in whens)
    return ir.Case(tuple(zip(tests, found[:-1], strict=True)), found[-1], cast.type)


def _whole_constant(result: ir.Expression, kind: SqlType) -> ir.Constant | None:
    if not isinstance(result, ir.Constant) or not kind.is_integer:
        return None
    if result.value is None:
        return ir.Constant(None, kind)
    text = result.value if isinstance(result.value, str) else ""
    is_number = re.fullmatch("-?[0-9]+", text, re.ASCII) and len(text) <= _MOST_PLACES[kind]
    return ir.Constant(Fraction(text), kind) if is_number else None


def _number(time: ir.Expression, text: str, kind: SqlType) -> ir.Expression | None:
    """The fields of a template, each times ten as often as there are digits behind it."""
    template = text.removeprefix("FM")
    names = _FIELD.findall(template)
    if not names or "".join(names) != template:
        return None
    fields = [_FIELDS[one] for one in names]
    if template != text and len(fields) > 1:
        return None  # without zeros the fields have no places
    digits = sum(width for _, width in fields)
    if digits > _MOST_PLACES[kind]:
        return None
    total: ir.Expression | None = None
    for field, width in fields:
        digits -= width
        part: ir.Expression = ir.Extract(field, time)
        if digits:
            times = ir.Constant(Fraction(10**digits), SqlType.NUMERIC)
            part = ir.Arithmetic(ir.Operator.MULTIPLY, part, times, SqlType.NUMERIC)
        if total is not None:
            part = ir.Arithmetic(ir.Operator.ADD, total, part, SqlType.NUMERIC)
        total = part
    return total


def _date(text: ir.Expression) -> ir.Expression | None:
    """Of a text that writes a date, or the first one of its month or year."""
    parts = text.operands if isinstance(text, ir.Concat) else (text,)
    times = [part for part in parts if isinstance(part, ir.FormattedTime)]
    written = ""
    for part in parts:
        match part:
            case ir.FormattedTime(template=template):
                written += template.replace('"', "")
            case ir.Constant(value=str() as value):
                written += value
            case _:
                return None
    if written not in _DATES or len({one.operand for one in times}) != 1:
        return None
    unit, time = _DATES[written], times[0].operand
    return ir.Cast(
        time if unit is None else ir.DateTrunc(unit, time, SqlType.TIMESTAMP), SqlType.DATE
    )
