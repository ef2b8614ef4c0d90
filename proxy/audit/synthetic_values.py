"""Invented values for the columns of a synthetic table: within the policy's bounds, at their ends, far
beyond."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence
from datetime import date, datetime, timedelta
from enum import Enum
from fractions import Fraction
from typing import TypeVar

from proxy.base.decimals import decimal_text
from proxy.base.sql_types import SqlType
from proxy.catalog.catalog_model import Column
from proxy.engine.machine_clock import day_of_machine
from proxy.policy.moving_bounds import bounds_on
from proxy.policy.policy_model import Bounds, ColumnPolicy

Item = TypeVar("Item")

_EPOCH = date(1970, 1, 1)
_LEAST = {SqlType.INT2: -(2**15), SqlType.INT4: -(2**31), SqlType.INT8: -(2**63)}
_SPECIAL = {
    SqlType.FLOAT4: ("NaN", "Infinity", "-Infinity", "3.4e38", "-3.4e38", "1e-45", "-0"),
    SqlType.FLOAT8: ("NaN", "Infinity", "-Infinity", "1.7e308", "-1.7e308", "5e-324", "-0"),
    SqlType.DATE: ("infinity", "-infinity", "4713-01-01 BC", "5874897-12-31", "2010-07-08"),
    SqlType.TIMESTAMP: ("infinity", "-infinity", "4713-01-01 00:00:00 BC", "294276-12-31"),
    SqlType.TIMESTAMPTZ: ("infinity", "-infinity", "4713-01-02 00:00:00+00 BC", "294276-12-30+00"),
    SqlType.BOOL: ("true", "false"),
    SqlType.UUID: ("00000000-0000-0000-0000-000000000000", "ffffffff-ffff-ffff-ffff-ffffffffffff"),
    SqlType.TIME_OF_DAY: ("00:00:00", "24:00:00", "23:59:59.999999", "12:00:00"),
    SqlType.DURATION: ("0", "1 month", "30 days", "-178000000 years", "00:00:00.000001"),
    SqlType.JSONB: ("{}", "null", '{"a": "b", "n": 7}', '["a"]'),
    SqlType.TEXT_ARRAY: ("{}", "{a}", "{a,NULL,b}"),
    **dict.fromkeys(
        (SqlType.INT2_ARRAY, SqlType.INT4_ARRAY, SqlType.INT8_ARRAY), ("{}", "{1}", "{NULL,7}")
    ),
}
_TEXTS = ("a", "b", "unlisted", "", "ab%_", "é")


class Choices:
    """Repeatable choices for invented data; never for noise. SHA-256 in counter mode."""

    def __init__(self, seed: int) -> None:
        self._seed, self._count = seed, 0

    def below(self, n: int) -> int:
        """A whole number of 0..n-1, uniform up to 2^-192 (a digest has 256 bits, n at most 64).

        >>> Choices(1).below(1)
        0
        """
        self._count += 1
        digest = hashlib.sha256(f"{self._seed}:{self._count}".encode()).digest()
        return int.from_bytes(digest, "big") % n

    def of(self, items: Sequence[Item]) -> Item:
        return items[self.below(len(items))]


class Style(Enum):
    """How the rows of one unit look: everything at an end of its bounds, or anything."""

    HIGH = "high"
    LOW = "low"
    ANY = "any"


def sql_type(column: Column) -> str:
    """The type of the synthetic column; one that dpproxy does not read is synthetic as text."""
    if column.type is SqlType.OTHER:
        return "text"
    return column.type_name if column.type_name.startswith(column.type.sql) else column.type.sql


def synthetic_value(
    column: Column, policy: ColumnPolicy | None, style: Style, group: int | None, choices: Choices
) -> str | None:
    """
    Given    group: the number of the listed key to take; None: any listed or unlisted one
    Gives    the text of one value, None for NULL
    """
    keys = () if policy is None or policy.values is None else policy.values
    nullable = column.nullable
    if keys and (style is not Style.ANY or choices.below(5)):
        usable = [key for key in keys if key is not None or nullable]
        if usable:
            return choices.of(usable) if group is None else usable[group % len(usable)]
    bounds = None if policy is None else bounds_on(policy, day_of_machine())
    if bounds is not None and style is not Style.ANY:
        beyond = _beyond(column, style) if choices.below(2) else None
        return beyond or _at(column, bounds.high if style is Style.HIGH else bounds.low)
    if nullable and choices.below(6) == 0:
        return None
    return choices.of(_anything(column, bounds, choices))


def distinct_value(column: Column, number: int) -> str:
    """The text of the number-th key value: different for different numbers, the same in every table."""
    match column.type:
        case SqlType.UUID:
            return f"00000000-0000-4000-8000-{number:012d}"
        case SqlType.DATE | SqlType.TIMESTAMP | SqlType.TIMESTAMPTZ:
            return (_EPOCH + timedelta(days=number)).isoformat()
        case SqlType.BOOL:
            return "true" if number % 2 else "false"
        case _:
            return str(number)


def _beyond(column: Column, style: Style) -> str | None:
    """Something that the clamp must cut to the same end."""
    high = style is Style.HIGH
    kind = column.type
    if kind.is_integer:
        return str(-_LEAST[kind] - 1 if high else _LEAST[kind])
    if kind.is_float:
        return "Infinity" if high else "-Infinity"
    if kind.is_time:
        return "infinity" if high else "-infinity"
    if kind is SqlType.NUMERIC:
        return _widest(column, negative=not high)
    return None


def _widest(column: Column, *, negative: bool) -> str:
    """
    >>> _widest(Column("x", SqlType.NUMERIC, "numeric(5,2)", True, 5, 2), negative=True)
    '-999.99'
    """
    sign = "-" if negative else ""
    if column.precision is None or column.scale is None:
        return f"{sign}1e1000"
    return sign + decimal_text(Fraction(10**column.precision - 1) / Fraction(10) ** column.scale)


def _at(column: Column, value: Fraction) -> str:
    """A bound as text; one between two whole numbers is rounded by the server."""
    match column.type:
        case SqlType.DATE:
            return (_EPOCH + timedelta(days=int(value))).isoformat()
        case SqlType.TIMESTAMP:
            return _moment(value)
        case SqlType.TIMESTAMPTZ:
            return _moment(value) + "+00"
        case kind if kind.is_integer:
            return str(round(value))
        case kind if kind.is_float:
            return repr(float(value))
        case _:
            return decimal_text(value)


def _moment(seconds: Fraction) -> str:
    micros = int(seconds * 10**6)
    return (datetime(1970, 1, 1) + timedelta(microseconds=micros)).isoformat(" ")  # noqa: DTZ001


def _anything(column: Column, bounds: Bounds | None, choices: Choices) -> list[str]:
    kind = column.type
    found: list[str] = []
    if bounds is not None:
        width = bounds.high - bounds.low
        parts = (Fraction(choices.below(1001), 1000) for _ in range(3))
        found += [_at(column, bounds.low + width * part) for part in parts]
        found += [_at(column, bounds.low), _at(column, bounds.high)]
    if kind in _SPECIAL:
        return found + list(_SPECIAL[kind])
    if kind.is_integer:
        return [*found, str(_LEAST[kind]), str(-_LEAST[kind] - 1), "0", "1", "2", "7"]
    if kind is SqlType.NUMERIC:
        ends = [_widest(column, negative=negative) for negative in (True, False)]
        return [*found, *ends, "0", "NaN"]
    length = re.search(r"\((\d+)\)$", column.type_name)
    most = int(length[1]) if length and kind.is_text else 100
    return [text[:most] for text in _TEXTS]
