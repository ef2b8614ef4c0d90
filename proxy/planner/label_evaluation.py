"""What an expression is where its parts have given values, by the rules of PostgreSQL's numeric and text."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from datetime import date
from decimal import Context, Decimal, Inexact, InvalidOperation
from fractions import Fraction

from proxy.base import limits
from proxy.base.decimals import decimal_text
from proxy.base.sql_types import SqlType
from proxy.query.ir.expression_walk import children
from proxy.query.ir.expressions import (
    Arithmetic,
    Bucket,
    Case,
    Cast,
    Choice,
    Choose,
    Comparator,
    Comparison,
    Concat,
    Connective,
    Constant,
    Expression,
    In,
    Is,
    Like,
    Not,
    NullIf,
    NumericCall,
    NumericFunction,
    Operator,
    Quotient,
    TextCall,
    TextFunction,
)

LabelValue = Decimal | str | bool | None
Held = Mapping[Expression, LabelValue]

_EXACT = Context(prec=limits.BOUND_DIGITS, traps=[Inexact, InvalidOperation])
_OPERATIONS = {
    Operator.ADD: _EXACT.add,
    Operator.SUBTRACT: _EXACT.subtract,
    Operator.MULTIPLY: _EXACT.multiply,
}
_SMALL = 10**6
_WHOLE = re.compile(r"[+-]?[0-9]{1,18}")
_DAY = re.compile(r"([0-9]{4})-?([0-9]{2})-?([0-9]{2})")
_WORD = re.compile(r"[A-Za-z]+")
# By the rules of every locale each of these words is one; a digit or an underscore is part of one in some.
_PLAIN_WORDS = re.compile(r"[A-Za-z -]*")


class NotEvaluated(Exception):
    """What PostgreSQL makes of it is not known here."""


def evaluated(expression: Expression, held: Held) -> LabelValue:
    """
    Given    held: what parts of the expression are: texts, numbers with the digits that they are printed with,
             times as texts
    Raises   NotEvaluated
    """
    if expression in held:
        return held[expression]
    if not _meet_as_held(expression):
        raise NotEvaluated

    def of(part: Expression) -> LabelValue:
        return evaluated(part, held)

    match expression:
        case Constant(value=value):
            return _constant(value)
        case Arithmetic(operator=operator):
            left, right = _number(of(expression.left)), _number(of(expression.right))
            return None if left is None or right is None else _exactly(operator, left, right)
        case Quotient():
            left, right = _number(of(expression.operand)), _number(of(expression.divisor))
            return None if left is None or right is None else _divided(expression, left, right)
        case NumericCall(operand=Quotient() as ratio) if _is_of_whole(expression, ratio):
            left, right = _number(of(ratio.operand)), _number(of(ratio.divisor))
            return None if left is None or right is None else _whole(expression, left, right)
        case NumericCall():
            number = _number(of(expression.operand))
            return None if number is None else _rounded(expression, number)
        case Bucket():
            number = _number(of(expression.operand))
            return None if number is None else Decimal(bucket_place(expression, Fraction(number)))
        case TextCall():
            return text_called(expression, of(expression.operand))
        case Concat():
            parts = [of(part) for part in expression.operands]
            if not all(part is None or isinstance(part, str) for part in parts):
                raise NotEvaluated
            return None if None in parts else "".join(str(part) for part in parts)
        case Cast():
            return _cast(expression, of(expression.operand))
        case Case():
            for test, result in expression.whens:
                if of(test) is True:
                    return of(result)
            return of(expression.otherwise)
        case Choose(choice=Choice.COALESCE):
            found = (of(part) for part in expression.operands)
            return next((value for value in found if value is not None), None)
        case NullIf():
            first, other = of(expression.operand), of(expression.other)
            return None if first is None or _compared(Comparator.EQ, first, other) else first
        case Comparison():
            return _compared(expression.comparator, of(expression.left), of(expression.right))
        case In():
            return _among(of(expression.operand), [of(item) for item in expression.items])
        case Connective():
            return _connected(expression.word == "OR", [of(part) for part in expression.operands])
        case Not():
            truth = of(expression.operand)
            return None if truth is None else not truth
        case Is(truth=wanted):
            return of(expression.operand) is wanted
        case Like(pattern=Constant(value=str() as pattern)):
            return _is_like(of(expression.operand), pattern, expression.ignore_case)
        case _:
            raise NotEvaluated


def _meet_as_held(expression: Expression) -> bool:
    """Whether what is compared or chosen from is of types whose values are equal where they are held as equal:
    one time has several texts, and character(n) is compared without its blanks."""
    match expression:
        case Comparison() | NullIf() | Choose() | In() | Like():
            return all(map(_is_plain, children(expression)))
        case Case():
            return all(map(_is_plain, (*(b for _, b in expression.whens), expression.otherwise)))
        case _:
            return True


def _is_plain(part: Expression) -> bool:
    kind = part.type
    texts = (SqlType.TEXT, SqlType.VARCHAR, SqlType.ENUM, SqlType.BOOL)
    return kind is None or kind.is_number or kind in texts


def printed_value(value: LabelValue) -> str | None:
    """As a key is printed."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, Decimal):
        return f"{value if value else abs(value):f}"  # numeric has no -0
    return value


def _constant(value: object) -> LabelValue:
    if isinstance(value, Fraction):
        return Decimal(decimal_text(value))
    if value is None or isinstance(value, bool | str):
        return value
    raise NotEvaluated


def _number(value: LabelValue) -> Decimal | None:
    if value is None or isinstance(value, Decimal):
        return value
    raise NotEvaluated


def _exactly(operator: Operator, left: Decimal, right: Decimal) -> Decimal:
    try:
        return _OPERATIONS[operator](left, right)
    except (Inexact, InvalidOperation):
        raise NotEvaluated from None


def _divided(quotient: Quotient, operand: Decimal, divisor: Decimal) -> Decimal:
    """The rest, or whole numbers: how many digits a numeric has that was divided depends on both."""
    if not divisor:
        raise NotEvaluated
    try:
        if quotient.remainder:  # of the sign of the operand, as in PostgreSQL
            return _EXACT.remainder(operand, divisor)
        if quotient.type.is_integer:
            return _EXACT.divide_int(operand, divisor)
    except (Inexact, InvalidOperation):
        pass
    raise NotEvaluated


def _is_of_whole(rounded: NumericCall, ratio: Quotient) -> bool:
    stepwise = (NumericFunction.FLOOR, NumericFunction.CEIL, NumericFunction.TRUNC)
    is_step = rounded.function in (*stepwise, NumericFunction.ROUND) and not rounded.digits
    return is_step and not ratio.remainder and ratio.type is SqlType.NUMERIC


def _whole(rounded: NumericCall, operand: Decimal, divisor: Decimal) -> Decimal:
    """floor(year / 10): of small whole numbers the quotient has more digits than decide which whole number it
    becomes."""
    if not divisor or max(abs(operand), abs(divisor)) >= _SMALL:
        raise NotEvaluated
    if operand != int(operand) or divisor != int(divisor):
        raise NotEvaluated
    ratio = Fraction(int(operand), int(divisor))
    match rounded.function:
        case NumericFunction.FLOOR:
            return Decimal(math.floor(ratio))
        case NumericFunction.CEIL:
            return Decimal(math.ceil(ratio))
        case NumericFunction.TRUNC:
            return Decimal(math.trunc(ratio))
        case _:
            half = math.floor(abs(ratio) + Fraction(1, 2))
            return Decimal(half if ratio >= 0 else -half)


def _rounded(rounded: NumericCall, number: Decimal) -> Decimal:
    """As PostgreSQL rounds."""
    match rounded.function:
        case NumericFunction.NEGATE:
            return _EXACT.minus(number)
        case NumericFunction.ABS:
            return abs(number)
        case NumericFunction.SIGN:
            return Decimal((number > 0) - (number < 0))
        case NumericFunction.FLOOR:
            return number.to_integral_value("ROUND_FLOOR")
        case NumericFunction.CEIL:
            return number.to_integral_value("ROUND_CEILING")
        case _:
            is_trunc = rounded.function is NumericFunction.TRUNC
            nearest = "ROUND_HALF_EVEN" if rounded.halves_are_even else "ROUND_HALF_UP"
            how = "ROUND_DOWN" if is_trunc else nearest
            try:
                found = number.quantize(Decimal(1).scaleb(-rounded.digits), how)
            except InvalidOperation:
                raise NotEvaluated from None
            return Decimal(f"{found:f}")


def _cast(cast: Cast, value: LabelValue) -> LabelValue:
    if value is None:
        return None
    kind = cast.type
    if kind.is_text:
        return printed_value(value)
    if isinstance(value, bool) and kind is SqlType.INT4:
        return Decimal(int(value))
    if isinstance(value, Decimal) and kind.is_number:
        return value
    if isinstance(value, str) and cast.operand.type is not None and cast.operand.type.is_text:
        text = value.strip(" ")
        if kind.is_integer and _WHOLE.fullmatch(text) and abs(int(text)) < 2**31:
            return Decimal(int(text))
        if kind is SqlType.DATE and (found := _DAY.fullmatch(text)) is not None:
            try:
                return date(*map(int, found.groups())).isoformat()
            except ValueError:
                raise NotEvaluated from None
    raise NotEvaluated


def _compared(how: Comparator, left: LabelValue, right: LabelValue) -> bool | None:
    """Of texts only whether they are equal: their order is that of a collation."""
    if how in (Comparator.DISTINCT, Comparator.NOT_DISTINCT):
        is_same = (
            left is right
            if left is None or right is None
            else _compared(Comparator.EQ, left, right) is True
        )
        return is_same is (how is Comparator.NOT_DISTINCT)
    if left is None or right is None:
        return None
    if type(left) is not type(right):
        raise NotEvaluated
    match how, left, right:
        case Comparator.EQ, _, _:
            return left == right
        case Comparator.NE, _, _:
            return left != right
        case Comparator.LT, Decimal(), Decimal():
            return left < right
        case Comparator.LE, Decimal(), Decimal():
            return left <= right
        case Comparator.GT, Decimal(), Decimal():
            return left > right
        case Comparator.GE, Decimal(), Decimal():
            return left >= right
        case _:
            raise NotEvaluated


def _among(value: LabelValue, items: list[LabelValue]) -> bool | None:
    return _connected(True, [_compared(Comparator.EQ, value, item) for item in items])


def _is_like(value: LabelValue, pattern: str, ignore_case: bool) -> bool | None:
    r"""Letters are of ASCII where case is ignored: others are the locale's matter.

    >>> _is_like("a_b", r"_\_%", False), _is_like("Man", "%AN", True), _is_like(None, "%", False)
    (True, True, None)
    """
    if value is None:
        return None
    if not isinstance(value, str) or (ignore_case and not (value + pattern).isascii()):
        raise NotEvaluated
    marks = re.findall(r"\\.|[^\\]", pattern, re.DOTALL)
    parts = [{"%": ".*", "_": "."}.get(mark, re.escape(mark[-1])) for mark in marks]
    how = re.DOTALL | (re.IGNORECASE if ignore_case else re.DOTALL)
    return re.fullmatch("".join(parts), value, how) is not None


def _connected(decides: bool, parts: list[LabelValue]) -> bool | None:
    """OR is true where one part is, AND false: `decides`."""
    if any(part is decides for part in parts):
        return decides
    return None if None in parts else not decides


def text_called(call: TextCall, text: LabelValue) -> LabelValue:
    """
    Raises   NotEvaluated: of a text that is not ASCII it is the locale's matter
    """
    if text is None:
        return None
    given = [_argument(argument) for argument in call.arguments]
    if not isinstance(text, str):
        raise NotEvaluated
    match call.function, given:
        case (TextFunction.LOWER, []) if text.isascii():
            return text.lower()
        case (TextFunction.UPPER, []) if text.isascii():
            return text.upper()
        case (TextFunction.INITCAP, []) if _PLAIN_WORDS.fullmatch(text):
            return _WORD.sub(lambda word: word[0].capitalize(), text)
        case TextFunction.REVERSE, []:
            return text[::-1]
        case TextFunction.LENGTH, []:
            return Decimal(len(text))
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
            return Decimal(text.find(part) + 1)
        case TextFunction.REPLACE, [str() as part, str() as put]:
            return text.replace(part, put) if part else text
        case TextFunction.SPLIT_PART, [str() as part, int() as number] if number:
            parts = text.split(part) if part else [text]
            place = number - 1 if number > 0 else number
            return parts[place] if -len(parts) <= place < len(parts) else ""
        case ((TextFunction.LPAD | TextFunction.RPAD), [int() as most, *fill]):
            return _padded(call.function, text, max(most, 0), str(fill[0]) if fill else " ")
        case _:
            raise NotEvaluated


def _padded(function: TextFunction, text: str, most: int, fill: str) -> str:
    missing = most - len(text)
    if missing <= 0 or not fill:
        return text[:most]
    padding = (fill * missing)[:missing]
    return padding + text if function is TextFunction.LPAD else text + padding


def _argument(argument: Expression) -> int | str:
    value = argument.value if isinstance(argument, Constant) else None
    if isinstance(value, Fraction) and value.denominator == 1:
        return int(value)
    if isinstance(value, str):
        return value
    raise NotEvaluated


def _trimmed(given: list[int | str]) -> str:
    return str(given[0]) if given else " "


def bucket_place(bucket: Bucket, value: Fraction) -> int:
    """width_bucket: 0 before the first end, count + 1 from the second one on."""
    share = (value - bucket.low) / (bucket.high - bucket.low)
    return 0 if share < 0 else min(math.floor(share * bucket.count) + 1, bucket.count + 1)
