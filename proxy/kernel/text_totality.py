"""Rules of texts, and of what is looked for in jsonb and arrays: their constants are such that no row raises.

Operands are cut where a function allocates a multiple of them (compiler.text_sql, compiler.inside_sql). What is
left are constants: patterns that do not end with an escape, lengths that are not negative, sizes. The planner
refuses the same ones with words for the analyst (`constant_checks`).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from fractions import Fraction

from proxy.base.errors import Code, Refusal
from proxy.base.sql_types import SqlType
from proxy.kernel.constant_checks import check_inside, check_size, check_text_call
from proxy.kernel.known_values import NULL, Value, refused
from proxy.kernel.number_totality import check_number
from proxy.query.ir.expressions import (
    Bucket,
    Cast,
    ColumnRef,
    Concat,
    Constant,
    Expression,
    Extract,
    Inside,
    InsideLook,
    Like,
    NumericCall,
    NumericFunction,
    TextCall,
    TextFunction,
)
from proxy.query.ir.json_constants import json_constant

_COUNTS = (TextFunction.LENGTH, TextFunction.STRPOS)
_NO_LONGER = (
    *(TextFunction.SPLIT_PART, TextFunction.REVERSE),
    *(TextFunction.BTRIM, TextFunction.LTRIM, TextFunction.RTRIM),
    *(TextFunction.LEFT, TextFunction.RIGHT, TextFunction.SUBSTR),
)
_SHORT = 40  # characters of an integer, a truth value, a time
_OF_DURATION = 80  # a stored interval has 66 in IntervalStyle postgres, 77 in postgres_verbose
_OF_NUMERIC = 1_010  # of a numeric(p, s), which has 1,000 digits at most
# Numbers, and seconds that are computed.
_OF_DIGITS = (SqlType.NUMERIC, SqlType.INTERVAL, SqlType.CLOCK_TIME)
_PRINTED_SHORT = (Extract, TextCall, Bucket, Inside)
_MEMBERS = {
    InsideLook.MEMBER: SqlType.JSONB,
    InsideLook.TEXT: SqlType.TEXT,
    InsideLook.KIND: SqlType.TEXT,
}


@contextmanager
def _refusals_as_faults() -> Iterator[None]:
    """Turn a refusal that the planner should have raised into a fault."""
    try:
        yield
    except Refusal:
        raise refused("a constant with which a function raises on some row") from None


def text_call_rule(call: TextCall, operand: Value) -> Value:
    """Let a function of texts pass.

    Totality: arguments are constants. No length is negative (22011), no part is the 0th (22023), nothing is
    larger than an int4, and what is trimmed, looked for, put in or padded has a limit. It is a function of a
    text, and of the type that the function gives.

    >>> from tests.kernel.examples import column
    >>> two = Constant(Fraction(2), SqlType.INT4)
    >>> left = TextCall(TextFunction.LEFT, column("r1", "t", SqlType.TEXT), (two,), SqlType.TEXT)
    >>> text_call_rule(left, Value()).characters
    2
    >>> part = TextCall(TextFunction.SPLIT_PART, left, (two, Constant(Fraction(0), None)), SqlType.TEXT)
    >>> text_call_rule(part, Value())
    Traceback (most recent call last):
    proxy.kernel.refusals.NotPrivate: the statement could not be run
    """
    _check_text(call.operand)
    with _refusals_as_faults():
        check_text_call(call)
        for part in (call, *call.arguments):
            check_size(part)
    if call.function in _COUNTS:
        is_right = call.type is SqlType.INT4
    elif call.function is TextFunction.STARTS_WITH:
        is_right = call.type is SqlType.BOOL
    else:
        is_right = call.type.is_text
    if not is_right:
        raise refused("a function of texts of another type")
    return Value(characters=_characters(call, operand.characters))


def _check_text(operand: Expression) -> None:
    """Refuse what is cast to a text where it is printed: of a jsonb it may have gigabytes."""
    if operand.type is not None and not operand.type.is_text:
        raise refused("a function of texts of what is none")


def _characters(call: TextCall, most: int | None) -> int | None:
    """The most characters that a function leaves. None: not known, as case mapping can lengthen a text."""
    first = call.arguments[0] if call.arguments else None
    given = first.value if isinstance(first, Constant) else None
    if isinstance(given, Fraction) and call.function in (TextFunction.LPAD, TextFunction.RPAD):
        return max(0, int(given))
    if isinstance(given, Fraction) and call.function is TextFunction.LEFT and given >= 0:
        return int(given) if most is None else min(most, int(given))
    return most if call.function in _NO_LONGER else None


def concatenation_rule(concat: Concat, operands: Sequence[Value]) -> Value:
    """Add up the characters of texts.

    Totality: each operand is cut, and few are joined at a time (compiler.text_sql). How many there are, and
    so what is copied, is in the price of the node (`work_prices`).

    >>> from tests.kernel.examples import column
    >>> texts = [column("r1", name, SqlType.TEXT) for name in ("t", "u")]
    >>> concatenation_rule(Concat((*texts,)), [Value(characters=3), Value(characters=4)]).characters
    7
    >>> concatenation_rule(Concat((column("r1", "j", SqlType.JSONB), *texts)), [Value()] * 3)
    Traceback (most recent call last):
    proxy.kernel.refusals.NotPrivate: the statement could not be run
    """
    for part in concat.operands:
        _check_text(part)
    if not concat.type.is_text:
        raise refused("a text of another type")
    lengths = [one.characters for one in operands if one.characters is not None]
    return Value(characters=sum(lengths) if len(lengths) == len(operands) else None)


def check_pattern(like: Like) -> None:
    """LIKE raises 22025 on a row that matches up to a trailing escape (docs/design/sql.md 2.1)."""
    if not isinstance(like.pattern, Constant):  # the answer of another block
        raise Refusal(
            Code.UNSUPPORTED,
            "a LIKE pattern on a protected table is a constant",
            "Write the pattern itself, not a subquery.",
            like.position,
        )
    value = like.pattern.value
    text = "" if value is None else str(value)
    if (len(text) - len(text.rstrip("\\"))) % 2:
        raise Refusal(
            Code.UNSUPPORTED,
            "a LIKE pattern cannot end with an escape character",
            "Remove the last backslash, or double it.",
            like.position,
        )


def like_rule(like: Like) -> Value:
    """Let a pattern pass.

    Totality: it is a constant that does not end with an escape (22025). Each wildcard is a level of the stack,
    and there are 100 at most.

    >>> from tests.kernel.examples import column
    >>> def like(pattern: str) -> Like:
    ...     return Like(column("r1", "t", SqlType.TEXT), Constant(pattern, SqlType.TEXT), False)
    >>> like_rule(like("a%")) == Value()
    True
    >>> like_rule(like("a" + chr(92)))
    Traceback (most recent call last):
    proxy.kernel.refusals.NotPrivate: the statement could not be run
    """
    _check_text(like.operand)
    with _refusals_as_faults():
        check_pattern(like)
        check_size(like)
    return Value()


def inside_rule(inside: Inside) -> Value:
    """Let a look into a jsonb, an array, an interval or a time of day pass.

    Totality: it is into a column, by constants; places are int4, a jsonb that is looked for is one, and no
    deeper than the stack (`json_constants`). Too large values count as NULL, and long objects are not printed
    (compiler.inside_sql).

    >>> from tests.kernel.examples import column
    >>> there = column("r1", "j", SqlType.JSONB)
    >>> inside_rule(Inside(InsideLook.TEXT, there, (Constant("a", SqlType.TEXT),), (), SqlType.TEXT)) == Value()
    True
    >>> inside_rule(Inside(InsideLook.TEXT, there, (Constant("a", SqlType.TEXT),), (), SqlType.INT4))
    Traceback (most recent call last):
    proxy.kernel.refusals.NotPrivate: the statement could not be run
    """
    if not isinstance(inside.operand, ColumnRef):
        raise refused("a look into what is no column")
    if inside.type is not _type_of_look(inside, inside.operand.type):
        raise refused("a look of another type")
    with _refusals_as_faults():
        check_inside(inside)
        for one in (*inside.path, *inside.arguments):
            check_size(one)
            match one:
                case Constant(value=str() as text, type=SqlType.JSONB):
                    json_constant(text, None)
    return Value()


def _type_of_look(inside: Inside, of: SqlType) -> SqlType | None:
    """The type of what a look finds; None: there is no such look into this type."""
    match inside.look:
        case InsideLook.MEMBER | InsideLook.TEXT | InsideLook.KIND:
            return _MEMBERS[inside.look] if of is SqlType.JSONB else None
        case InsideLook.HAS_KEY | InsideLook.HOLDS:
            return SqlType.BOOL if of is SqlType.JSONB else None
        case InsideLook.ANY | InsideLook.ALL_OF | InsideLook.SOME_OF:
            return None if of.element is None else SqlType.BOOL
        case InsideLook.CARDINALITY | InsideLook.LENGTH:
            return None if of.element is None else SqlType.INT4
        case InsideLook.ELEMENT:
            return of.element
        case InsideLook.COMPARED:
            return inside.type if of is SqlType.DURATION and inside.type.is_number else None
        case _:
            is_time = of is SqlType.DURATION or of.is_time_of_day
            return inside.type if is_time and inside.type.is_number else None


def printed_rule(cast: Cast, operand: Value) -> Value:
    """Let a value be printed as a text, and count its characters.

    Totality: the output functions of the types that are read raise for no value. But a jsonb or an array may
    have a text of gigabytes, and nothing is known of a type that is not read. What is computed is printed as a
    number, or as a truth value.

    >>> from tests.kernel.examples import column
    >>> number = column("r1", "n", SqlType.INT8)
    >>> printed_rule(Cast(number, SqlType.TEXT), Value()).characters
    40
    >>> printed_rule(Cast(column("r1", "n", SqlType.OTHER), SqlType.TEXT), Value())
    Traceback (most recent call last):
    proxy.kernel.refusals.NotPrivate: the statement could not be run
    """
    below = cast.operand
    if operand.is_null:
        return NULL
    check_printed(below)
    if isinstance(below, ColumnRef):
        if below.type.is_text:
            return Value(characters=operand.characters)
    elif below.type is not SqlType.BOOL:
        check_number(below)
    return Value(characters=printed_characters(below, operand))


def check_printed(expression: Expression) -> None:
    """Refuse a value that has no text, or too long a one.

    >>> from tests.kernel.examples import column
    >>> check_printed(column("r1", "t", SqlType.TEXT))
    >>> check_printed(column("r1", "j", SqlType.JSONB))
    Traceback (most recent call last):
    proxy.kernel.refusals.NotPrivate: the statement could not be run
    """
    kind = expression.type
    if kind is SqlType.OTHER or (kind is not None and kind.is_container):
        raise refused("a text of a value of an unknown type, or of any length")


def printed_characters(operand: Expression, value: Value) -> int | None:
    """The most characters that a value is printed with; None: not known."""
    if isinstance(operand, ColumnRef) and operand.type not in _OF_DIGITS:
        return _OF_DURATION if operand.type is SqlType.DURATION else _SHORT
    if isinstance(operand, _PRINTED_SHORT) or operand.type is SqlType.BOOL:
        return _SHORT
    if isinstance(operand, ColumnRef):
        return _OF_NUMERIC if value.step is not None and value.step <= 1 else None
    if not isinstance(operand, NumericCall) or operand.function is not NumericFunction.ROUND:
        return None
    return None if value.bits is None else max(0, value.bits) // 3 + max(0, operand.digits) + 3
