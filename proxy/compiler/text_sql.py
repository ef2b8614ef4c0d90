"""Functions of text to SQL: their operands are shortened to what the functions can take."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from proxy.base import limits
from proxy.base.decimals import decimal_text
from proxy.base.sql_types import SqlType
from proxy.compiler.binds import Binds
from proxy.query.ir.expressions import (
    ColumnRef,
    Concat,
    Constant,
    Expression,
    TextCall,
    TextFunction,
)

# They allocate four to twelve bytes for each byte of the text, and raise above MaxAllocSize, 1 GB - 1.
_ALLOCATE_MORE = (
    *(TextFunction.LOWER, TextFunction.UPPER, TextFunction.INITCAP),
    *(TextFunction.BTRIM, TextFunction.LTRIM, TextFunction.RTRIM),
    TextFunction.REPLACE,
)
_UNPADDED = (SqlType.TEXT, SqlType.VARCHAR)


def text_call_sql(call: TextCall, operand: str, binds: Binds) -> str:
    """operand: as it is displayed."""
    if call.function is TextFunction.LEFT and isinstance(call.operand, ColumnRef):
        return _left_sql(call, operand, binds)
    if call.function in _ALLOCATE_MORE:
        operand = beginning(operand, call.operand)
    arguments = [operand + "::text"]
    for part in call.arguments:
        assert isinstance(part, Constant) and part.type is not None
        kind = "text" if part.type.is_text else "integer"
        given = decimal_text(part.value) if isinstance(part.value, Fraction) else part.value
        arguments.append(binds.add(given, kind))
    return f"pg_catalog.{call.function.value}({', '.join(arguments)})"


def _left_sql(call: TextCall, column: str, binds: Binds) -> str:
    """The beginning of a column: of a text that has no more octets, all of it, without going through it. How
    many there are is known without unpacking it."""
    (part,) = call.arguments
    assert isinstance(part, Constant)
    given = "NULL" if not isinstance(part.value, Fraction) else decimal_text(part.value)
    most = binds.add(None if part.value is None else given, "integer")
    cut = f"pg_catalog.left({column}::text, {most})"
    if not isinstance(part.value, Fraction) or part.value < limits.SHORT_TEXT_CHARACTERS:
        return cut
    if call.operand.type not in _UNPADDED:
        return cut
    return f"(CASE WHEN pg_catalog.octet_length({column}) <= {most} THEN {column} ELSE {cut} END)"


def concat_sql(concat: Concat, parts: Sequence[str]) -> str:
    """Each operand is cut, so that the result has CONCATENATED_TOGETHER times as many characters at most; more
    operands than these are made one, a few at a time."""
    displayed = [
        f"({part})::text"
        if isinstance(operand, Constant)
        else f"{first_characters(part, limits.CONCATENATED_CHARACTERS)}::text"
        for operand, part in zip(concat.operands, parts, strict=True)
    ]
    while len(displayed) > 1:
        most = limits.CONCATENATED_TOGETHER
        several = [displayed[n : n + most] for n in range(0, len(displayed), most)]
        is_last = len(several) == 1
        displayed = []
        for few in several:
            joined = f"({' || '.join(few)})"
            shortened = first_characters(joined, limits.CONCATENATED_CHARACTERS)
            displayed.append(joined if is_last else f"{shortened}::text")
    return displayed[0]


def key_characters(text: str, expression: Expression, most: int) -> str:
    """As `first_characters`, and of a stored text no more is unpacked: it may have a gigabyte."""
    if not isinstance(expression, ColumnRef) or expression.type not in _UNPADDED:
        return first_characters(text, most)
    cut = f"pg_catalog.left({text}, {most})"
    return f"(CASE WHEN pg_catalog.octet_length({text}) <= {most} THEN {text} ELSE {cut} END)"


def beginning(operand: str, expression: Expression) -> str:
    """At most base.limits.TEXT_CHARACTERS of a text. character(n) has 10,485,760 characters at most, constants
    are bounded."""
    if isinstance(expression, Constant) or expression.type in (SqlType.BPCHAR, SqlType.ENUM):
        return operand
    return first_characters(operand, limits.TEXT_CHARACTERS)


def first_characters(text: str, most: int) -> str:
    """An explicit cast cuts without a word, takes its operand once, and only compares a length where there is
    nothing to cut (varchar.c, varchar)."""
    return f"({text})::varchar({most})"
