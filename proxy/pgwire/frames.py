"""The frames of PostgreSQL's protocol 3.0, to bytes and back (PostgreSQL 17 documentation, section 55.7,
"Message Formats").

A frame is one tag byte, a length that counts itself but not the tag, and a payload. Names are the
manual's. Only frames that the relay must understand are here; all others pass by their header
alone. Names and texts are bytes: their encoding is the session's business.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from dataclasses import dataclass

from proxy.base.errors import Code

HEAD = struct.Struct("!BI")  # a frame's tag and length
U32 = struct.Struct("!I")
I32 = struct.Struct("!i")
U16 = struct.Struct("!H")

NULL_LENGTH = -1
SMALLEST_LENGTH = 4
FRAME_BYTES = 16 * 1024 * 1024  # of a client; PostgreSQL allows 1 GiB
_KNOWN_TAGS = frozenset(b"QPBDECSHFXdcf")  # of a client, and p, which only comes before
TEXT_FORMAT = 0
BINARY_FORMAT = 1
_NONE = U16.pack(0)  # how many
_NULL = I32.pack(NULL_LENGTH)


class ProtocolError(Exception):
    """The peer's bytes are no frame, or not of the shape that the manual gives."""


def frame(tag: bytes, payload: bytes = b"") -> bytes:
    """
    >>> frame(b"S")
    b'S\\x00\\x00\\x00\\x04'
    """
    return tag + U32.pack(len(payload) + 4) + payload


SYNC = frame(b"S")
FLUSH = frame(b"H")
TERMINATE = frame(b"X")


def piece_of(buffer: bytearray, start: int, end: int) -> bytes:
    """Copied once: a slice of a bytearray would be a copy of its own."""
    with memoryview(buffer) as view:
        return bytes(view[start:end])


def query(text: bytes) -> bytes:
    return frame(b"Q", text + b"\0")


def parse(name: bytes, text: bytes, parameter_oids: Sequence[int] = ()) -> bytes:
    return frame(b"P", name + b"\0" + text + b"\0" + _oids(parameter_oids))


def _oids(oids: Sequence[int]) -> bytes:
    return struct.pack(f"!H{len(oids)}I", len(oids), *oids) if oids else _NONE


def bind(
    portal: bytes,
    statement: bytes,
    values: Sequence[bytes | None] = (),
    formats: Sequence[int] = (),
    result_formats: Sequence[int] = (),
) -> bytes:
    parts = [portal, b"\0", statement, b"\0", _codes(formats) if formats else _NONE]
    parts.append(U16.pack(len(values)))
    for value in values:
        parts += (_NULL,) if value is None else (I32.pack(len(value)), value)
    parts.append(_codes(result_formats) if result_formats else _NONE)
    return frame(b"B", b"".join(parts))


def _codes(formats: Sequence[int]) -> bytes:
    return struct.pack(f"!H{len(formats)}h", len(formats), *formats)


def describe_statement(name: bytes) -> bytes:
    return frame(b"D", b"S" + name + b"\0")


def describe_portal(name: bytes) -> bytes:
    return frame(b"D", b"P" + name + b"\0")


def execute(portal: bytes, row_limit: int = 0) -> bytes:
    return frame(b"E", portal + b"\0" + U32.pack(row_limit))


def close_statement(name: bytes) -> bytes:
    return frame(b"C", b"S" + name + b"\0")


def close_portal(name: bytes) -> bytes:
    return frame(b"C", b"P" + name + b"\0")


_TOO_SHORT = "insufficient data left in message"


class Cursor:
    """Reads a payload from left to right; running past its end is a ProtocolError."""

    __slots__ = ("_payload", "_position")

    def __init__(self, payload: bytes) -> None:
        self._payload = payload
        self._position = 0

    def _unpack(self, shape: struct.Struct) -> int:
        try:
            (value,) = shape.unpack_from(self._payload, self._position)
        except struct.error:
            raise ProtocolError(_TOO_SHORT) from None
        self._position += shape.size
        return int(value)

    def u16(self) -> int:
        return self._unpack(U16)

    def u32(self) -> int:
        return self._unpack(U32)

    def i32(self) -> int:
        return self._unpack(I32)

    def take(self, count: int) -> bytes:
        end = self._position + count
        if count < 0 or end > len(self._payload):
            raise ProtocolError(_TOO_SHORT)
        piece = self._payload[self._position : end]
        self._position = end
        return piece

    def codes(self) -> tuple[int, ...]:
        """A count, and so many format codes."""
        count = self.u16()
        if not count:
            return ()
        return struct.unpack(f"!{count}h", self.take(2 * count))

    def values(self) -> tuple[bytes | None, ...]:
        """A count, and so many values, each with its length: each statement about protected data is read by
        this, so it takes few steps."""
        count = self.u16()
        payload, position, length_at = self._payload, self._position, I32.unpack_from
        values: list[bytes | None] = []
        try:
            for _ in range(count):
                (length,) = length_at(payload, position)
                position += 4
                if length == NULL_LENGTH:
                    values.append(None)
                    continue
                end = position + length
                if length < 0 or end > len(payload):
                    raise ProtocolError(_TOO_SHORT)
                values.append(payload[position:end])
                position = end
        except struct.error:
            raise ProtocolError(_TOO_SHORT) from None
        self._position = position
        return tuple(values)

    def string(self) -> bytes:
        end = self._payload.find(b"\0", self._position)
        if end < 0:
            raise ProtocolError("invalid string in message")
        piece = self._payload[self._position : end]
        self._position = end + 1
        return piece

    def end(self) -> None:
        if self._position < len(self._payload):
            raise ProtocolError("invalid message format")


@dataclass(frozen=True, slots=True)
class Parse:
    name: bytes
    text: bytes
    parameter_oids: tuple[int, ...]

    @staticmethod
    def decode(payload: bytes) -> Parse:
        at = Cursor(payload)
        name, text = at.string(), at.string()
        oids = tuple(at.u32() for _ in range(at.u16()))
        at.end()
        return Parse(name, text, oids)


@dataclass(frozen=True, slots=True)
class Bind:
    portal: bytes
    statement: bytes
    formats: tuple[int, ...]
    values: tuple[bytes | None, ...]
    result_formats: tuple[int, ...]

    @staticmethod
    def decode(payload: bytes) -> Bind:
        at = Cursor(payload)
        portal, statement = at.string(), at.string()
        formats, values, result_formats = at.codes(), at.values(), at.codes()
        at.end()
        return Bind(portal, statement, formats, values, result_formats)

    @property
    def size(self) -> int:
        """Bytes of its values."""
        return sum(map(len, filter(None, self.values))) if self.values else 0

    def with_appended(self, value: bytes | None) -> bytes:
        """The frame with one more parameter, in text format.

        No format codes: all are text. One: it is everybody's, so it is spelled out. (Manual 55.7,
        Bind.)
        """
        formats = self.formats
        if len(formats) == 1:
            formats = formats * len(self.values)
        if formats:
            formats = (*formats, TEXT_FORMAT)
        return bind(
            self.portal, self.statement, (*self.values, value), formats, self.result_formats
        )


def decode_target(payload: bytes) -> tuple[bytes, bytes]:
    """Describe and Close: (b"S" or b"P", name)."""
    kind, name = payload[:1], payload[1:-1]
    if len(payload) < 2 or payload[-1] or b"\0" in name:
        raise ProtocolError("invalid string in message")
    return kind, name


def decode_execute(payload: bytes) -> bytes:
    """Execute: the portal's name."""
    portal, ends, _ = payload.partition(b"\0")
    if not ends:
        raise ProtocolError("invalid string in message")
    return portal


def decode_parameter_description(payload: bytes) -> tuple[int, ...]:
    at = Cursor(payload)
    return tuple(at.u32() for _ in range(at.u16()))


def parameter_description(oids: Sequence[int]) -> bytes:
    return frame(b"t", described_parameters(oids))


def described_parameters(oids: Sequence[int]) -> bytes:
    """The payload of a ParameterDescription."""
    return _oids(oids)


@dataclass(frozen=True, slots=True)
class Field:
    """One column of a RowDescription, as far as it is read here."""

    name: bytes
    type_oid: int
    type_modifier: int


def decode_row_description(payload: bytes) -> tuple[Field, ...]:
    at = Cursor(payload)
    fields = []
    for _ in range(at.u16()):
        name = at.string()
        at.take(6)  # table and attribute number
        type_oid = at.u32()
        at.take(2)  # size of the type
        modifier = at.i32()
        at.take(2)  # format code
        fields.append(Field(name, type_oid, modifier))
    return tuple(fields)


def decode_data_row(payload: bytes) -> tuple[bytes | None, ...]:
    return Cursor(payload).values()


def decode_report(payload: bytes) -> list[tuple[bytes, bytes]]:
    """ErrorResponse and NoticeResponse: fields in order, each a one-letter code and its value."""
    at = Cursor(payload)
    fields = []
    while (code := at.take(1)) != b"\0":
        fields.append((code, at.string()))
    return fields


def encode_report(fields: Sequence[tuple[bytes, bytes]]) -> bytes:
    return b"".join(code + value + b"\0" for code, value in fields) + b"\0"


def report(tag: bytes, severity: bytes, sqlstate: str, message: bytes, hint: bytes = b"") -> bytes:
    """An ErrorResponse (tag E) or NoticeResponse (tag N) of our own."""
    fields = [(b"S", severity), (b"V", severity), (b"C", sqlstate.encode()), (b"M", message)]
    if hint:
        fields.append((b"H", hint))
    return frame(tag, encode_report(fields))


def fatal(sqlstate: str, message: str, hint: str = "") -> bytes:
    return report(b"E", b"FATAL", sqlstate, message.encode(), hint.encode())


def trouble_of(tag: int, length: int) -> bytes | None:
    """Why the stream cannot be read on, as PostgreSQL would say it before it closes."""
    if tag not in _KNOWN_TAGS:
        return fatal("08P01", f"invalid frontend message type {tag}")
    if length < SMALLEST_LENGTH:
        return fatal("08P01", "invalid message length")
    if length > FRAME_BYTES:
        return fatal(Code.TOO_COMPLEX.sqlstate, f"message of {length} bytes is too long")
    return None
