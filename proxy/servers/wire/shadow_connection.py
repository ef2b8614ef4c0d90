"""The socket to the shadow, as its client's connection sees it."""

from __future__ import annotations

import asyncio
from typing import Protocol, cast

from proxy.servers.wire.served_database import ShadowAddress

_PIECE_BYTES = 64 * 1024


class ShadowListener(Protocol):
    def from_shadow(self, data: bytes) -> None: ...
    def shadow_lost(self) -> None: ...
    def shadow_is_full(self, is_full: bool) -> None: ...


class ShadowConnection(asyncio.BufferedProtocol):
    """Takes in less at once than a loop would: 256 KiB of small rows are looked through in 60 ms."""

    def __init__(self, listener: ShadowListener) -> None:
        self._listener = listener
        self._buffer = memoryview(bytearray(_PIECE_BYTES))
        self._transport: asyncio.Transport | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        transport = cast("asyncio.Transport", transport)  # uvloop's is none by class
        self._transport = transport

    def get_buffer(self, sizehint: int) -> memoryview:
        return self._buffer

    def buffer_updated(self, nbytes: int) -> None:
        self._listener.from_shadow(bytes(self._buffer[:nbytes]))

    def connection_lost(self, exc: Exception | None) -> None:
        self._transport = None
        self._listener.shadow_lost()

    def pause_writing(self) -> None:
        self._listener.shadow_is_full(True)

    def resume_writing(self) -> None:
        self._listener.shadow_is_full(False)

    def write(self, data: bytes) -> None:
        if self._transport is not None:
            self._transport.write(data)

    def pause_reading(self, paused: bool) -> None:
        if self._transport is not None and not self._transport.is_closing():
            if paused:
                self._transport.pause_reading()
            else:
                self._transport.resume_reading()

    def close(self) -> None:
        if self._transport is not None:
            self._transport.close()


async def connect_to_shadow(address: ShadowAddress, listener: ShadowListener) -> ShadowConnection:
    """Refuses with OSError."""
    loop = asyncio.get_running_loop()
    if address.socket_path is not None:
        _, connection = await loop.create_unix_connection(
            lambda: ShadowConnection(listener), address.socket_path
        )
    else:
        _, connection = await loop.create_connection(
            lambda: ShadowConnection(listener), address.host, address.port
        )
    return connection
