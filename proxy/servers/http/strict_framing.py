"""Refuse requests that another HTTP server could divide differently (request smuggling).

h11 accepts a bare LF at the end of a line, folded headers, repeated lengths, extensions of chunks and trailers.
A proxy in front of it may read each of them in another way. Clients do not send them.
"""

from __future__ import annotations

import re

import h11
from h11._receivebuffer import ReceiveBuffer

_END_OF_HEAD = b"\r\n\r\n"
_WRONG_LINE_END = re.compile(rb"(?<!\r)\n|\r(?!\n|\Z)")
_FOLDED_LINE = re.compile(rb"\n[ \t]")
# The name takes all blanks that follow it and the value the rest of its line: a line of blanks has one reading.
_LENGTH = re.compile(rb"(?im)^content-length[ \t]*:([^\r\n]*)")
_CHUNK_SIZE = re.compile(rb"[0-9A-Fa-f]{1,16}\r\n")
_CHUNK_SIZE_BYTES = 18


class StrictBuffer(ReceiveBuffer):
    """The bytes of one connection, in place of h11's own buffer.

    h11 asks for a block of lines (a request's head, trailers), for one line (a chunk's size), and for bytes.
    """

    def __init__(self) -> None:
        super().__init__()
        self._awaits_trailers = False
        self._checked = 0  # bytes of the head, so that one that comes byte by byte is checked once

    def maybe_extract_lines(self) -> list[bytearray] | None:
        """Extract the head of a request, or the end of a body in chunks.

        Raises:
            h11.LocalProtocolError: It can be read in more than one way. h11 makes it an error of the client.
        """
        if self._awaits_trailers:
            return self._no_trailers()
        since = max(0, self._checked - len(_END_OF_HEAD))
        end = self._data.find(_END_OF_HEAD, since)
        until = len(self) if end < 0 else end + 2
        if _WRONG_LINE_END.search(self._data, since, until):
            raise h11.LocalProtocolError("a line does not end in CR LF")
        if _FOLDED_LINE.search(self._data, since, until):
            raise h11.LocalProtocolError("a header is folded")
        self._checked = until
        if end < 0:
            return None
        lengths = [bytes(one).strip(b" \t") for one in _LENGTH.findall(self._data, 0, until)]
        if len(lengths) > 1 or not all(map(bytes.isdigit, lengths)):
            raise h11.LocalProtocolError("Content-Length is not one number")
        return super().maybe_extract_lines()

    def maybe_extract_next_line(self) -> bytearray | None:
        """Extract a chunk's size. Raises h11.LocalProtocolError as above."""
        line = super().maybe_extract_next_line()
        if line is None:
            if len(self) >= _CHUNK_SIZE_BYTES:
                raise h11.LocalProtocolError("the size of a chunk is too long")
            return None
        if not _CHUNK_SIZE.fullmatch(line):
            raise h11.LocalProtocolError("the size of a chunk is not a number alone")
        self._awaits_trailers = int(line, 16) == 0
        return line

    def _extract(self, count: int) -> bytearray:
        self._checked = 0
        return super()._extract(count)

    def _no_trailers(self) -> list[bytearray] | None:
        if len(self) < 2 and bytes(self) in (b"", b"\r"):
            return None
        if not self._data.startswith(b"\r\n"):
            raise h11.LocalProtocolError("trailers are not accepted")
        self._awaits_trailers = False
        return super().maybe_extract_lines()
