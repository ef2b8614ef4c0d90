"""What a supervisor and its workers say to each other: JSON with its length before it, over a socket pair.

A worker inherits its end. Nobody else has one: a message is as good as one of this process.
"""

from __future__ import annotations

import asyncio
import json
import socket
import struct
from typing import Any

Message = dict[str, Any]
MOST_WAITING = 32 << 20  # bytes for somebody who does not read: it hangs

_LENGTH = struct.Struct("!I")


def packed(message: Message) -> bytes:
    """
    >>> packed({"do": "lead"})
    b'\\x00\\x00\\x00\\x0e{"do": "lead"}'
    """
    text = json.dumps(message).encode()
    return _LENGTH.pack(len(text)) + text


async def read_message(reader: asyncio.StreamReader) -> Message | None:
    """None: the other end is closed."""
    try:
        (length,) = _LENGTH.unpack(await reader.readexactly(_LENGTH.size))
        return dict(json.loads(await reader.readexactly(length)))
    except (asyncio.IncompleteReadError, ConnectionError):
        return None


def read_first(connection: socket.socket) -> Message | None:
    """As `read_message`, before there is a loop, and not a byte more."""
    head = _exactly(connection, _LENGTH.size)
    text = None if head is None else _exactly(connection, *_LENGTH.unpack(head))
    return None if text is None else dict(json.loads(text))


def _exactly(connection: socket.socket, count: int) -> bytes | None:
    found = b""
    while len(found) < count:
        piece = connection.recv(count - len(found))
        if not piece:
            return None
        found += piece
    return found
