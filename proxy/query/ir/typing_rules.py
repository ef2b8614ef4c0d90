"""PostgreSQL's type resolution for the few types that questions use (PostgreSQL 17 documentation, section
10.2, 10.3, 10.5)."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction

from proxy.base.errors import Code, Refusal
from proxy.base.sql_types import SqlType
from proxy.base.time_templates import template
from proxy.base.times_of_day import seconds_since_midnight
from proxy.base.type_ranges import nearest_real
from proxy.base.written_spans import span_of
from proxy.base.written_times import is_instant
from proxy.query.ir.expressions import Constant, Expression, Parameter
from proxy.query.ir.written_numbers import NOT_FINITE, number
from proxy.query.syntax.placeholders import WrittenText

_NUMBERS = (
    SqlType.INT2,
    SqlType.INT4,
    SqlType.INT8,
    SqlType.NUMERIC,
    SqlType.FLOAT4,
    SqlType.FLOAT8,
)
# The least and the largest positive number.
_FLOATS = {
    SqlType.FLOAT4: (Fraction(1, 2**149), (2 - Fraction(1, 2**23)) * 2**127),
    SqlType.FLOAT8: (Fraction(1, 2**1074), (2 - Fraction(1, 2**52)) * 2**1023),
}
# Digits and white space are those of ASCII everywhere: PostgreSQL knows no others.
_ISO_DATE = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")
# What has no second number: nothing is computed with such a constant here, rows are compared with it.
ENDLESS = frozenset({"infinity", "-infinity"})
_ORDINAL = re.compile(r"[0-9]{1,9}")
_SPACE = " \t\n\r\f\v"


def ordinal(text: str) -> int | None:
    """A small whole number in plain digits, such as the place of a column or a parameter's number.

    >>> ordinal("12"), ordinal("1.5"), ordinal("9" * 5000)
    (12, None, None)
    """
    return int(text) if _ORDINAL.fullmatch(text) else None


def is_value_of(value: Fraction, kind: SqlType) -> bool:
    """Whether PostgreSQL reads a number in this type without raising 22003 (PostgreSQL 17 documentation,
    section 8.1).

    >>> is_value_of(Fraction(40000), SqlType.INT2), is_value_of(Fraction(1, 10**400), SqlType.FLOAT8)
    (False, False)
    """
    if kind.is_integer:
        bits = {SqlType.INT2: 15, SqlType.INT4: 31, SqlType.INT8: 63}[kind]
        return value.denominator == 1 and -(2**bits) <= value < 2**bits
    if kind.is_float and value:
        least, most = _FLOATS[kind]
        return least <= abs(value) <= most
    return True


def held(value: Fraction, kind: SqlType) -> Fraction:
    """A number as a constant of the type stands for it: of a real what that holds, which a comparison with
    other types tells from the decimal that was written. A double is sent as it was written."""
    return nearest_real(value) if kind is SqlType.FLOAT4 else value


def literal_type(text: str) -> SqlType:
    """Type of an unquoted number (PostgreSQL 17 documentation, section 4.1.2.6).

    >>> literal_type("3000000000").sql
    'bigint'
    """
    value = number(text)
    if value is None or not (text.isascii() and text.isdigit()):
        return SqlType.NUMERIC
    if value < 2**31:
        return SqlType.INT4
    return SqlType.INT8 if value < 2**63 else SqlType.NUMERIC


def common(types: Sequence[SqlType], position: int | None) -> SqlType:
    """The type in which operands of several types meet.

    Refuses  UNSUPPORTED: types that PostgreSQL would have to convert in a way that may raise, and those that we
             do not know, even of the same kind: equality of texts of nondeterministic collations raises
    """
    distinct = set(types)
    if any(kind.is_compound for kind in distinct):
        raise Refusal(
            Code.UNSUPPORTED,
            "values of jsonb, arrays, intervals and times of day cannot be compared in this way on a protected"
            " table",
            "Ask for what is in them: column ->> 'key' = 'a', column @> '{\"key\": 1}', 'a' = ANY(column),"
            " cardinality(column) > 1, column IS NULL;"
            " an interval column > interval '1 day', a time column < '12:00'.",
            position,
        )
    if distinct & {SqlType.OTHER, SqlType.INTERVAL}:
        raise Refusal(
            Code.UNSUPPORTED,
            "values of this type cannot be compared in a query on a protected table",
            "Use IS NULL, or a column of another type.",
            position,
        )
    if len(distinct) == 1:
        return types[0]
    if all(kind.is_number for kind in distinct):
        if SqlType.FLOAT8 in distinct or (
            SqlType.FLOAT4 in distinct and distinct != {SqlType.FLOAT4}
        ):
            return SqlType.FLOAT8
        return max(distinct, key=_NUMBERS.index)
    if all(kind.is_text for kind in distinct):
        return SqlType.TEXT
    if all(kind.is_time for kind in distinct):
        return SqlType.TIMESTAMPTZ if SqlType.TIMESTAMPTZ in distinct else SqlType.TIMESTAMP
    raise Refusal(
        Code.UNSUPPORTED,
        "operands of different types cannot be compared in a query on a protected table: "
        + ", ".join(sorted(kind.sql or "another type" for kind in distinct)),
        "Write constants in the type of the column they meet.",
        position,
    )


def common_result(types: Sequence[SqlType], position: int | None) -> SqlType:
    """The type of CASE, COALESCE, GREATEST and LEAST (PostgreSQL 17 documentation, section 10.5): unlike an
    operator's operands, a real and
    an exact number give real.

    Refuses  as `common`
    """
    if all(kind.is_number for kind in types):
        return max(types, key=_NUMBERS.index)
    return common(types, position)


def settle(expression: Expression, wanted: SqlType) -> Expression:
    """An untyped literal takes the type of its surroundings; anything else is left as it is.

    Refuses  SYNTAX: text that is no value of that type in ISO form
    """
    if not isinstance(expression, Constant) or expression.type is not None:
        return expression
    if expression.value is None:
        return replace(expression, type=wanted)
    return constant(str(expression.value), wanted, expression.position)


# Of which the shadow reads texts in forms that are not read here.
_READ_BY_POSTGRESQL = frozenset(
    {
        *(kind for kind in SqlType if kind.is_number or kind.is_time),
        *(SqlType.BOOL, SqlType.INTERVAL, SqlType.TIME_OF_DAY),
    }
)


def settle_literal(expression: Expression, wanted: SqlType) -> Expression:
    """As `settle`, of what a statement has written: a text in another form is left to PostgreSQL.

    >>> settle_literal(Constant("June 1, 2023", None), SqlType.DATE).source
    WrittenText(text='June 1, 2023', type=<SqlType.DATE: ('date', 1082)>)
    """
    try:
        return settle(expression, wanted)
    except Refusal as refusal:
        if refusal.code is not Code.SYNTAX or wanted not in _READ_BY_POSTGRESQL:
            raise
        assert isinstance(expression, Constant)
        source = WrittenText(str(expression.value), wanted)
        return Parameter(source, wanted, expression.position)


def constant(text: str, wanted: SqlType, position: int | None) -> Constant:
    """The constant of a type that a text denotes.

    Refuses  SYNTAX: text that is no value of that type in ISO form
    """
    stripped = text.strip(_SPACE)
    value: Fraction | str | bool | None = None
    if wanted.is_text or wanted is SqlType.UUID:
        value = text
    elif wanted.is_number:
        value = number(stripped)
        if value is not None:
            value = held(value, wanted) if is_value_of(value, wanted) else None
    elif wanted is SqlType.BOOL:
        value = {"t": True, "true": True, "f": False, "false": False}.get(stripped.lower())
    elif wanted.is_time and stripped in ENDLESS:
        value = stripped
    elif wanted is SqlType.DATE:
        value = stripped if _ISO_DATE.fullmatch(stripped) and is_instant(stripped) else None
    elif wanted is SqlType.INTERVAL:
        span = span_of(stripped)
        value = None if span is None else span.text
    elif wanted is SqlType.TIME_OF_DAY:
        value = None if seconds_since_midnight(stripped) is None else stripped
    elif wanted.is_time:
        value = stripped if is_instant(stripped) else None
    if value is None:
        raise Refusal(
            Code.SYNTAX,
            f"a constant of type {wanted.sql or 'this kind'} cannot be read",
            "Write numbers in digits, dates as '2026-01-31', times as '2026-01-31 12:00:00+00'.",
            position,
        )
    return Constant(value, wanted, position)


def check_template(text: str, position: int | None) -> None:
    """
    Refuses  UNSUPPORTED: a template of to_char() of which it is not known what it prints
    """
    if template(text) is None:
        raise Refusal(
            Code.UNSUPPORTED,
            "this template of to_char() is not available on a protected table",
            "Use YYYY, YY, IYYY, Q, MM, Mon, Month, WW, IW, DDD, DD, D, ID, Dy, Day, HH24, HH12, MI, SS, AM,"
            ' FM before one of them, other characters than letters and digits, and texts in "quotes".',
            position,
        )


def is_not_finite(constant: Constant) -> bool:
    """Whether this is NaN or infinity as a number."""
    kind = constant.type
    return kind is not None and kind.is_number and constant.value in NOT_FINITE


def sum_type(operand: SqlType) -> SqlType:
    """Type of sum(operand) (PostgreSQL 17 documentation, section 9.21)."""
    if operand in (SqlType.INT2, SqlType.INT4):
        return SqlType.INT8
    return SqlType.NUMERIC if operand is SqlType.INT8 else operand


def avg_type(operand: SqlType) -> SqlType:
    """Type of avg(operand) (PostgreSQL 17 documentation, section 9.21)."""
    return SqlType.FLOAT8 if operand.is_float else SqlType.NUMERIC
