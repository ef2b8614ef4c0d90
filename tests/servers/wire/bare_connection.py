"""A connection before there is a session, byte by byte."""

from __future__ import annotations

import contextlib
import socket

from proxy.pgwire.frames import U32
from tests.servers.wire.conftest import Running

SSL_REQUEST = U32.pack(8) + U32.pack(80877103)
GSSENC_REQUEST = U32.pack(8) + U32.pack(80877104)


def startup(version: int = 196608, **parameters: str) -> bytes:
    pairs = b"".join(f"{name}\0{value}\0".encode() for name, value in parameters.items())
    body = U32.pack(version) + pairs + b"\0"
    return U32.pack(len(body) + 4) + body


def dial(relay: Running) -> socket.socket:
    return socket.create_connection((relay.shadow.host, relay.port), 60)


def answer(connection: socket.socket) -> bytes:
    """All until the server closes."""
    heard = b""
    with contextlib.suppress(ConnectionResetError):
        while chunk := connection.recv(1 << 16):
            heard += chunk
    return heard
