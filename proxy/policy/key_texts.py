"""Public keys of a column (`values`) as PostgreSQL prints them, so that texts can be compared.

A spelling that PostgreSQL would not print is refused, not fixed, where two readers could take it
for two things (010, 1e3, yes); it is fixed where there is only one reading (5 for numeric(8,2)).
"""

from __future__ import annotations

import re
import uuid
from datetime import date
from fractions import Fraction

from proxy.base.sql_types import SqlType
from proxy.catalog.catalog_model import Column

TRUE_AND_FALSE = ("true", "false")

_INTEGER = re.compile(r"0|-?[1-9][0-9]{0,18}")
_DECIMAL = re.compile(r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?")
_DECIMAL_CHARACTERS = 1_000
_DATE = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")
_LENGTH = re.compile(r"\(([0-9]+)\)")
_BITS = {SqlType.INT2: 16, SqlType.INT4: 32, SqlType.INT8: 64}


def integer_range(sql_type: SqlType) -> tuple[int, int]:
    """
    >>> integer_range(SqlType.INT2)
    (-32768, 32767)
    """
    half = 1 << (_BITS[sql_type] - 1)
    return -half, half - 1


def printed(key: str, column: Column) -> str:
    """The key as PostgreSQL prints it for the column's type.

    Refuses  a key that is no value of the type, with ValueError whose text is for the owner

    >>> printed("5", Column("total", SqlType.NUMERIC, "numeric(8,2)", False, 8, 2))
    '5.00'
    """
    match column.type:
        case SqlType.BOOL:
            if key not in TRUE_AND_FALSE:
                raise ValueError("must be true or false")
            return key
        case SqlType.INT2 | SqlType.INT4 | SqlType.INT8:
            low, high = integer_range(column.type)
            if _INTEGER.fullmatch(key) is None or not low <= int(key) <= high:
                raise ValueError(f"must be a whole number from {low} to {high}, such as 12 or -3")
            return key
        case SqlType.NUMERIC:
            return _printed_numeric(key, column)
        case SqlType.TEXT | SqlType.VARCHAR | SqlType.BPCHAR | SqlType.ENUM | SqlType.COLLATED:
            return _printed_text(key, column)
        case SqlType.DATE:
            try:
                if _DATE.fullmatch(key) is None:
                    raise ValueError
                return date.fromisoformat(key).isoformat()
            except ValueError:
                raise ValueError("must be a date, such as 2026-12-31") from None
        case SqlType.UUID:
            try:
                return str(uuid.UUID(key))
            except ValueError:
                raise ValueError("must be a uuid") from None
        case (
            SqlType.FLOAT4
            | SqlType.FLOAT8
            | SqlType.TIMESTAMP
            | SqlType.TIMESTAMPTZ
            | SqlType.TID
            | SqlType.INTERVAL
            | SqlType.DURATION
            | SqlType.TIME_OF_DAY
            | SqlType.CLOCK_TIME
            | SqlType.JSONB
            | SqlType.TEXT_ARRAY
            | SqlType.INT2_ARRAY
            | SqlType.INT4_ARRAY
            | SqlType.INT8_ARRAY
            | SqlType.OTHER
        ):
            raise ValueError(f"is of type {column.type_name}, which has no list of values")


def _printed_numeric(key: str, column: Column) -> str:
    if column.precision is None or column.scale is None:
        raise ValueError(f"is of type {column.type_name}, which has no list of values")
    if _DECIMAL.fullmatch(key) is None or len(key) > _DECIMAL_CHARACTERS:
        raise ValueError("must be a decimal number, such as 12.50")
    value = Fraction(key)
    scaled = value * Fraction(10) ** column.scale
    if scaled.denominator != 1 or abs(scaled) >= 10**column.precision:
        raise ValueError(f"is no value of {column.type_name}")
    sign = "-" if value < 0 else ""
    if column.scale <= 0:
        return str(int(value))
    digits = str(abs(int(scaled))).rjust(column.scale + 1, "0")
    return f"{sign}{digits[: -column.scale]}.{digits[-column.scale :]}"


def _printed_text(key: str, column: Column) -> str:
    if "\0" in key or any("\ud800" <= mark <= "\udfff" for mark in key):
        raise ValueError("holds a character that PostgreSQL's text cannot hold")
    if column.type is SqlType.BPCHAR:
        # Blanks at the end mean nothing in character(n); its cast to text drops them (PostgreSQL 17
        # documentation, section 8.3).
        key = key.rstrip(" ")
    length = _LENGTH.search(column.type_name)
    has_length = column.type in (SqlType.VARCHAR, SqlType.BPCHAR)
    if has_length and length is not None and len(key) > int(length.group(1)):
        raise ValueError(f"is longer than {column.type_name}")
    return key
