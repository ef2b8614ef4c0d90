"""Keys that are functions of one column of listed texts: what each text becomes is computed here, and the
database only compares the column with the listed texts. Neither its locale nor a row makes another key of them.
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction

from proxy.base.sql_types import SqlType
from proxy.planner.facts import Facts
from proxy.query.ir.expression_walk import children, columns
from proxy.query.ir.expressions import (
    Case,
    Choice,
    Choose,
    ColumnRef,
    Comparator,
    Comparison,
    Constant,
    Expression,
    Is,
    NullIf,
    TextCall,
    TextFunction,
)

_Text = str | int | None
_BY_LOCALE = (TextFunction.LOWER, TextFunction.UPPER)
_MOST = 500  # comparisons for a row
_LISTED = (SqlType.TEXT, SqlType.VARCHAR, SqlType.ENUM)


class _NotKnown(Exception):
    """What PostgreSQL makes of it is not computed here."""


def mapped_texts(expression: Expression, facts: Facts) -> Mapping[str | None, str | None] | None:
    """What each listed text of the one column becomes, in the order of the list; None: it is no such function.

    A null that is not listed is among them where it becomes a text: coalesce(x, 'unknown').
    """
    if not isinstance(expression, TextCall | Choose | NullIf):
        return None
    names = columns(expression)
    known = facts.get(next(iter(names))) if len(names) == 1 else None
    if known is None or known.values is None or known.type not in _LISTED:
        return None
    listed = dict.fromkeys(value for value in known.values if value is not None or known.nullable)
    if len(listed) > _MOST:
        return None
    values = (*listed, None) if known.nullable and None not in listed else tuple(listed)
    try:
        found = {value: _value(expression, value) for value in values}
    except _NotKnown:
        return None
    if None not in listed and found.get(None) is None:
        found.pop(None, None)
    return {value: None if text is None else str(text) for value, text in found.items()}


def key_by_text(expression: Expression, facts: Facts) -> Case | None:
    """The key as a comparison with each listed text; what is not listed becomes a text that is no key."""
    found = mapped_texts(expression, facts)
    column = _column(expression)
    if found is None or column is None or expression.type is None:
        return None
    kind, labels = expression.type, set(found.values())
    # Lengths and places are not negative.
    other: Fraction | str = Fraction(-1) if kind.is_number else "other"
    while isinstance(other, str) and other in labels:
        other += "."
    whens = tuple(
        (
            Is(column, None)
            if value is None
            else Comparison(Comparator.EQ, column, Constant(value, column.type)),
            Constant(Fraction(text) if text is not None and kind.is_number else text, kind),
        )
        for value, text in found.items()
    )
    return Case(whens, Constant(other, kind), kind)


def depends_on_locale(expression: Expression) -> bool:
    """Whether the database's locale has a part in what it is, if the database evaluates it."""
    if isinstance(expression, TextCall) and expression.function in _BY_LOCALE:
        return True
    return any(map(depends_on_locale, children(expression)))


def _column(expression: Expression) -> ColumnRef | None:
    if isinstance(expression, ColumnRef):
        return expression
    return next((column for part in children(expression) if (column := _column(part))), None)


def _value(expression: Expression, value: str | None) -> _Text:
    match expression:
        case ColumnRef():
            return value
        case Constant(value=str() | None as text):
            return text
        case Constant(value=Fraction() as number) if number.denominator == 1:
            return int(number)
        case TextCall():
            return _called(expression, _value(expression.operand, value))
        case Choose(choice=Choice.COALESCE, operands=operands):
            texts = (_value(part, value) for part in operands)
            return next((text for text in texts if text is not None), None)
        case NullIf(operand=operand, other=other):
            first = _value(operand, value)
            return None if first == _value(other, value) else first
        case _:
            raise _NotKnown


def _called(call: TextCall, text: _Text) -> _Text:
    if text is None:
        return None
    given = [_value(argument, None) for argument in call.arguments]
    if not isinstance(text, str) or None in given:
        raise _NotKnown
    match call.function, given:
        case (TextFunction.LOWER, []) if text.isascii():
            return text.lower()
        case (TextFunction.UPPER, []) if text.isascii():
            return text.upper()
        case TextFunction.LENGTH, []:
            return len(text)
        case TextFunction.LEFT, [int() as number]:
            return text[:number]
        case TextFunction.RIGHT, [int() as number]:
            return (text[-number:] if number else "") if number >= 0 else text[-number:]
        case TextFunction.SUBSTR, [int() as start]:
            return text[max(start, 1) - 1 :]
        case TextFunction.SUBSTR, [int() as start, int() as length] if length >= 0:
            return text[max(start, 1) - 1 : max(start + length - 1, 0)]
        case TextFunction.BTRIM, [str()] | []:
            return text.strip(_trimmed(given))
        case TextFunction.LTRIM, [str()] | []:
            return text.lstrip(_trimmed(given))
        case TextFunction.RTRIM, [str()] | []:
            return text.rstrip(_trimmed(given))
        case TextFunction.STRPOS, [str() as part]:
            return text.find(part) + 1
        case _:
            raise _NotKnown


def _trimmed(given: list[_Text]) -> str:
    return str(given[0]) if given else " "
