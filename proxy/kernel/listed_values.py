"""Listed keys of a column are values of its type: the server reads them when the first row comes. So are
constants of times (`column_types.check_expressions`).

A list is sent as texts and cast to the column's type (compiler.select_list). Such a cast is not made before a
row asks for it, so a text that is no value of the type raises on the first row that meets other conditions.

Whole numbers, numerics, truth values, dates and uuids are judged as PostgreSQL prints them. A numeric may have
another scale than its column, and of floats and timestamps it is shown that PostgreSQL reads the text, not that
it prints the same. Release looks groups up by their texts, so a text that is never printed is an empty group
(PROOFS.md 27 K4a).
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from proxy.base.sql_types import SqlType
from proxy.base.written_times import is_instant
from proxy.kernel.known_values import refused

_WHOLE = re.compile(r"0|-?[1-9][0-9]{0,18}")
_NUMERIC = re.compile(r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?")
_LONGEST_NUMERIC = 2_003  # a declared precision and scale are 1,000 at most in size, either way
_FLOAT = re.compile(r"-?[0-9]{1,400}(?:\.[0-9]{1,400})?(?:e[+-][0-9]{2,3})?")
_NO_NUMBERS = frozenset(["NaN", "Infinity", "-Infinity"])
_TRUTHS = frozenset(["true", "false"])
_UUID = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")
_DATE = re.compile(r"([0-9]{4}|[1-9][0-9]{4,5})(-[0-9]{2}-[0-9]{2})( BC)?")
_TIME = re.compile(
    r"([0-9]{4}|[1-9][0-9]{4,5})(-[0-9]{2}-[0-9]{2}(?:[ T][0-9:.+-]{1,32}Z?)?)( BC)?"
)
_ENDLESS = frozenset(["infinity", "-infinity"])
_BITS = {SqlType.INT2: 15, SqlType.INT4: 31, SqlType.INT8: 63}
_LAST_YEAR, _LAST_YEAR_BC = 294_275, 4_712
_CYCLE = 400  # years after which the calendar is the same


def check_listed(kind: SqlType, values: Iterable[str | None]) -> None:
    """Let a list pass of which each text is a value of the type.

    Totality: PostgreSQL reads each text as a value of the type, so the cast of the list raises on no row.

    Raises:
        NotPrivate: A text is no value of the type; or PostgreSQL prints none such, of whole numbers, numerics,
            truth values, dates and uuids.

    >>> check_listed(SqlType.INT2, ["1", None, "-32768"])
    >>> check_listed(SqlType.INT2, ["+1"])
    Traceback (most recent call last):
    proxy.kernel.refusals.NotPrivate: the statement could not be run
    >>> check_listed(SqlType.DATE, ["2024-02-29", "0044-03-15 BC", "infinity"])
    >>> check_listed(SqlType.DATE, ["2023-02-29"])
    Traceback (most recent call last):
    proxy.kernel.refusals.NotPrivate: the statement could not be run
    """
    if kind.is_text:
        return
    if not all(value is None or is_value(value, kind) for value in values):
        raise refused("a listed key that is no value of its column")


def is_value(text: str, kind: SqlType) -> bool:
    """Say whether PostgreSQL reads a text as a value of the type, the same at each run, in a session of UTC.

    >>> [is_value(one, SqlType.TIMESTAMP) for one in ("2024-02-29T10:00:00", "infinity", "now")]
    [True, True, False]
    """
    if kind.is_integer:
        end = 2 ** _BITS[kind]
        return _WHOLE.fullmatch(text) is not None and -end <= int(text) < end
    if kind.is_number:
        is_number = _is_float(text, kind) if kind.is_float else _is_numeric(text)
        return text in _NO_NUMBERS or is_number
    if kind.is_time:
        return text in _ENDLESS or _is_time(text, _DATE if kind is SqlType.DATE else _TIME)
    match kind:
        case SqlType.BOOL:
            return text in _TRUTHS
        case SqlType.UUID:
            return _UUID.fullmatch(text) is not None
        case _:
            return False


def _is_numeric(text: str) -> bool:
    """A numeric has no exponent, and 0 has no sign."""
    if len(text) > _LONGEST_NUMERIC or _NUMERIC.fullmatch(text) is None:
        return False
    return not text.startswith("-") or text.strip("-0.") != ""


def _is_float(text: str, kind: SqlType) -> bool:
    """A float is refused that is too large for its type, or so small that it would be 0."""
    if _FLOAT.fullmatch(text) is None:
        return False
    size = abs(float(text))
    least, most = (1e-37, 3e38) if kind is SqlType.FLOAT4 else (1e-307, 1e308)
    if size == 0:
        return text.strip("-0.") == ""
    return least <= size <= most


def _is_time(text: str, printed: re.Pattern[str]) -> bool:
    """The calendar repeats every 400 years; there is no year 0."""
    found = printed.fullmatch(text)
    if found is None:
        return False
    year, rest, era = int(found[1]), found[2], found[3]
    if not 1 <= year <= (_LAST_YEAR if era is None else _LAST_YEAR_BC):
        return False
    counted = year if era is None else 1 - year
    return is_instant(f"{2000 + counted % _CYCLE}{rest}")
