"""Results as an Arrow IPC stream of one batch, by nanoarrow, which few need and who wants it installs.

A column has the Arrow type of its PostgreSQL type, if all of its values have a place in that. Else it is text,
as a numeric with NaN is.
"""

from __future__ import annotations

import io
import re
from collections.abc import Sequence
from datetime import date, datetime, timezone
from decimal import Decimal, InvalidOperation
from typing import Any

import nanoarrow as na
from nanoarrow.ipc import StreamWriter

from proxy.base.sql_types import SqlType, by_oid
from proxy.engine.sessions import ResultColumn, ResultRows

_DIGITS = 38  # of decimal128
_BYTES = 16
_EPOCH = date(1970, 1, 1)
_FIRST = datetime(1970, 1, 1, tzinfo=timezone.utc)
_TIMESTAMP = re.compile(
    r"([0-9]{4}-[0-9]{2}-[0-9]{2}) ([0-9:]{8})(?:[.]([0-9]{1,6}))?([+-][0-9:]{2,8})?"
)
_INTEGERS = {SqlType.INT2: na.int16, SqlType.INT4: na.int32, SqlType.INT8: na.int64}
_FLOATS = {SqlType.FLOAT4: na.float32, SqlType.FLOAT8: na.float64}

Values = Sequence[bytes | None]


class _NoPlace(Exception):
    """The type has no place for a value."""


def arrow_stream(names: Sequence[str], rows: ResultRows) -> bytes:
    """
    Args:
        names: Of the columns, each another.
        rows: What is written.
    """
    columns = [
        _column(column, [values[place] for values in rows.values])
        for place, column in enumerate(rows.columns)
    ]
    fields = dict(zip(names, (schema for schema, _ in columns), strict=True))
    arrays = [array for _, array in columns]
    batch = na.c_array_from_buffers(na.struct(fields), len(rows.values), [None], children=arrays)
    out = io.BytesIO()
    with StreamWriter.from_writable(out) as writer:
        writer.write_stream(na.c_array_stream(batch))
    return out.getvalue()


def _column(column: ResultColumn, values: Values) -> tuple[Any, Any]:
    """The Arrow type of a column, and its values."""
    kind = by_oid(column.type_oid)
    try:
        if kind in _INTEGERS:
            return _made(_INTEGERS[kind](), [None if v is None else int(v) for v in values])
        if kind in _FLOATS:
            return _made(_FLOATS[kind](), [None if v is None else float(v) for v in values])
        if kind is SqlType.BOOL:
            return _made(na.bool_(), [None if v is None else v == b"t" for v in values])
        if kind is SqlType.NUMERIC:
            return _decimals(values)
        if kind is SqlType.DATE:
            return _made(na.date32(), [None if v is None else _day(v) for v in values])
        if kind is SqlType.TIMESTAMP:
            return _made(na.timestamp("us"), [_instant(v) for v in values])
        if kind is SqlType.TIMESTAMPTZ:
            return _made(na.timestamp("us", "UTC"), [_instant(v) for v in values])
    except _NoPlace:
        pass
    return _made(na.string(), [None if v is None else v.decode() for v in values])


def _made(schema: Any, values: Sequence[object]) -> tuple[Any, Any]:
    return schema, na.c_array(list(values), schema)


def _day(value: bytes) -> int:
    try:
        return (date.fromisoformat(value.decode()) - _EPOCH).days
    except ValueError:
        raise _NoPlace from None


def _instant(value: bytes | None) -> int | None:
    """Microseconds since 1970, in UTC or as the clock says."""
    if value is None:
        return None
    found = _TIMESTAMP.fullmatch(value.decode())
    if found is None:  # infinity, or a year that is not in Python's calendar
        raise _NoPlace
    fraction, zone = (found[3] or "").ljust(6, "0"), found[4] or "+00"
    zone += ":00" if len(zone) == 3 else ""  # which Python 3.10 does not read
    try:
        at = datetime.fromisoformat(f"{found[1]}T{found[2]}.{fraction}{zone}")
    except ValueError:
        raise _NoPlace from None
    since = at - _FIRST
    return (since.days * 86_400 + since.seconds) * 1_000_000 + since.microseconds


def _decimals(values: Values) -> tuple[Any, Any]:
    """In the least scale that has all of their digits."""
    read = [None if value is None else _decimal(value) for value in values]
    scale = max((_scale(one) for one in read if one is not None), default=0)
    whole = max((one.adjusted() + 1 for one in read if one), default=1)
    if scale > _DIGITS or max(whole, 1) + scale > _DIGITS:
        raise _NoPlace
    schema = na.decimal128(_DIGITS, scale)
    bits = bytearray((len(read) + 7) // 8)
    data = bytearray()
    for number, one in enumerate(read):
        unscaled = 0
        if one is not None:
            bits[number // 8] |= 1 << number % 8
            sign, digits, exponent = one.as_tuple()
            assert isinstance(exponent, int), "it is finite"
            unscaled = int("".join(map(str, digits)) or "0") * 10 ** (scale + exponent)
            unscaled = -unscaled if sign else unscaled
        data += unscaled.to_bytes(_BYTES, "little", signed=True)
    buffers = [bytes(bits), bytes(data)]
    return schema, na.c_array_from_buffers(schema, len(read), buffers)


def _decimal(value: bytes) -> Decimal:
    try:
        found = Decimal(value.decode())
    except InvalidOperation:
        raise _NoPlace from None
    if not found.is_finite():
        raise _NoPlace
    return found


def _scale(value: Decimal) -> int:
    exponent = value.as_tuple().exponent
    return max(0, -exponent) if isinstance(exponent, int) else 0
