"""Listed keys of a column are values of its type: the server reads them when the first row comes.

A list is sent as texts and cast to the column's type (compiler.select_list). Such a cast is not made before a
row asks for it, so a text that is no value of the type raises on the first row that meets other conditions.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from proxy.base.sql_types import SqlType
from proxy.kernel.known_values import refused
from proxy.query.ir.typing_rules import is_instant

_WHOLE = re.compile(r"[+-]?[0-9]{1,19}")
_NUMBER = re.compile(r"[+-]?[0-9]+(?:\.[0-9]+)?(?:[eE][+-]?[0-9]{1,3})?")
_NO_NUMBERS = frozenset(["NaN", "Infinity", "-Infinity"])
_TRUTHS = frozenset(["true", "false", "t", "f"])
_UUID = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")
_TIME = re.compile(r"([0-9]{4,6})(-[0-9]{2}-[0-9]{2}(?: [0-9:.+-]+)?)( BC)?")
_ENDLESS = frozenset(["infinity", "-infinity"])
_BITS = {SqlType.INT2: 15, SqlType.INT4: 31, SqlType.INT8: 63}
_LAST_YEAR, _LAST_YEAR_BC = 294_275, 4_712
_CYCLE = 400  # years after which the calendar is the same


def check_listed(kind: SqlType, values: Iterable[str | None]) -> None:
    """Let a list pass of which each text is a value of the type, as PostgreSQL prints it.

    >>> check_listed(SqlType.INT2, ["1", None, "-32768"])
    >>> check_listed(SqlType.DATE, ["2024-02-29", "0044-03-15 BC", "infinity"])
    >>> check_listed(SqlType.DATE, ["2023-02-29"])
    Traceback (most recent call last):
    proxy.kernel.refusals.NotPrivate: the statement could not be run
    """
    if kind.is_text:
        return
    if not all(value is None or _is_value(value, kind) for value in values):
        raise refused("a listed key that is no value of its column")


def _is_value(text: str, kind: SqlType) -> bool:
    if kind.is_integer:
        end = 2 ** _BITS[kind]
        return _WHOLE.fullmatch(text) is not None and -end <= int(text) < end
    if kind.is_number:
        return text in _NO_NUMBERS or _is_number(text, kind)
    if kind.is_time:
        return text in _ENDLESS or _is_time(text)
    match kind:
        case SqlType.BOOL:
            return text in _TRUTHS
        case SqlType.UUID:
            return _UUID.fullmatch(text) is not None
        case _:
            return False


def _is_number(text: str, kind: SqlType) -> bool:
    """A float is refused that is too large for its type, or so small that it would be 0."""
    if _NUMBER.fullmatch(text) is None:
        return False
    if not kind.is_float:
        return True
    size = abs(float(text))
    least, most = (1e-37, 3e38) if kind is SqlType.FLOAT4 else (1e-307, 1e308)
    return size == 0 or least <= size <= most


def _is_time(text: str) -> bool:
    """The calendar repeats every 400 years; there is no year 0."""
    found = _TIME.fullmatch(text)
    if found is None:
        return False
    year, rest, era = int(found[1]), found[2], found[3]
    if not 1 <= year <= (_LAST_YEAR if era is None else _LAST_YEAR_BC):
        return False
    counted = year if era is None else 1 - year
    return is_instant(f"{2000 + counted % _CYCLE}{rest}")
