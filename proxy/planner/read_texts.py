"""Casts of computed texts to numbers and dates, written without the text, so that no row can make them fail:
to_char(at, 'YYYYMM')::int is 100 * year + month."""

from __future__ import annotations

import re
from collections.abc import Mapping
from fractions import Fraction

from proxy.base.sql_types import SqlType
from proxy.query.ir.expressions import (
    Arithmetic,
    Case,
    Cast,
    Concat,
    Constant,
    DateTrunc,
    Expression,
    Extract,
    FormattedTime,
    Operator,
)

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
_TEMPLATE = re.compile("(?:IYYY|YYYY|MM|DDD|DD|HH24|MI|IW|ID|Q)+")
_FIELD = re.compile("IYYY|YYYY|MM|DDD|DD|HH24|MI|IW|ID|Q")
_MOST_DIGITS: Mapping[SqlType, int] = {SqlType.INT2: 4, SqlType.INT4: 9, SqlType.INT8: 18}
_DATES: Mapping[str, str | None] = {"YYYY-MM-DD": None, "YYYY-MM-01": "month", "YYYY-01-01": "year"}


def without_text(cast: Cast) -> Expression | None:
    """
    Args:
        cast: Of a text to a number or a date.

    Returns:
        An expression of the same values that makes no text. None: there is none.
    """
    match cast.operand:
        case Cast(operand=number) if _holds(number, cast.type):
            return number if number.type is cast.type else Cast(number, cast.type)
        case Case(whens=whens, otherwise=otherwise):
            return _of_case([(test, result) for test, result in whens], otherwise, cast)
        case FormattedTime(operand=time, template=text) if cast.type.is_integer:
            return _number(time, text, cast.type)
        case FormattedTime() | Concat() if cast.type is SqlType.DATE:
            return _date(cast.operand)
        case _:
            return None


def _holds(number: Expression, kind: SqlType) -> bool:
    order = list(_MOST_DIGITS)
    return number.type in order and kind in order and order.index(number.type) <= order.index(kind)


def _of_case(
    whens: list[tuple[Expression, Expression]], otherwise: Expression, cast: Cast
) -> Expression | None:
    results = [_constant(one, cast.type) for one in (*(result for _, result in whens), otherwise)]
    found = [one for one in results if one is not None]
    if len(found) < len(results):
        return None
    tests = (test for test, _ in whens)
    return Case(tuple(zip(tests, found[:-1], strict=True)), found[-1], cast.type)


def _constant(result: Expression, kind: SqlType) -> Constant | None:
    if not isinstance(result, Constant) or not kind.is_integer:
        return None
    if result.value is None:
        return Constant(None, kind)
    text = result.value if isinstance(result.value, str) else ""
    is_number = re.fullmatch("-?[0-9]+", text, re.ASCII) and len(text) <= _MOST_DIGITS[kind]
    return Constant(Fraction(text), kind) if is_number else None


def _number(time: Expression, text: str, kind: SqlType) -> Expression | None:
    """The fields of a template, each times ten as often as there are digits behind it."""
    template = text.removeprefix("FM")
    if not _TEMPLATE.fullmatch(template):
        return None
    fields = [_FIELDS[one] for one in _FIELD.findall(template)]
    if template != text and len(fields) > 1:
        return None  # without zeros the fields have no places
    digits = sum(width for _, width in fields)
    if digits > _MOST_DIGITS[kind]:
        return None
    total: Expression | None = None
    for field, width in fields:
        digits -= width
        part: Expression = Extract(field, time)
        if digits:
            times = Constant(Fraction(10**digits), SqlType.NUMERIC)
            part = Arithmetic(Operator.MULTIPLY, part, times, SqlType.NUMERIC)
        if total is not None:
            part = Arithmetic(Operator.ADD, total, part, SqlType.NUMERIC)
        total = part
    return total


def _date(text: Expression) -> Expression | None:
    """Of a text that writes a date, or the first one of its month or year."""
    parts = text.operands if isinstance(text, Concat) else (text,)
    times = [part for part in parts if isinstance(part, FormattedTime)]
    written = ""
    for part in parts:
        match part:
            case FormattedTime(template=template):
                written += template.replace('"', "")
            case Constant(value=str() as value):
                written += value
            case _:
                return None
    if written not in _DATES or len({one.operand for one in times}) != 1:
        return None
    unit, time = _DATES[written], times[0].operand
    return Cast(time if unit is None else DateTrunc(unit, time, SqlType.TIMESTAMP), SqlType.DATE)
