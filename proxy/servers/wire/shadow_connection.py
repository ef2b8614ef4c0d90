"""The socket to the shadow, as its client's connection sees it."""

from __future__ import annotations

import asyncio
import select
from collections.abc import Callable
from typing import Protocol, cast

from proxy.servers.wire.shared_server_state import ShadowAddress

_PIECE_BYTES = 64 * 1024
# Linux alone has to be asked whether the other side has closed a socket.
_CLOSED = getattr(select, "POLLRDHUP", 0)


class ShadowListener(Protocol):
    def from_shadow(self, data: bytes) -> None: ...
    def shadow_lost(self) -> None: ...
    def shadow_is_full(self, is_full: bool) -> None: ...


class ShadowConnection(asyncio.Protocol):
    """Hands on less at once than a loop takes in: 256 KiB of small rows are looked through in 60 ms.

    write: to the shadow, while there is a connection
    """

    def __init__(self, listener: ShadowListener) -> None:
        self._listener = listener
        self._loop = asyncio.get_running_loop()
        self._transport: asyncio.Transport | None = None
        self.write: Callable[[bytes], object] = _drop
        self._left = (
            b""  # taken in, and to be handed on in the next turns; until then nothing more is read
        )
        self._is_full = False
        self._is_reading = True

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        transport = cast("asyncio.Transport", transport)  # uvloop's is none by class
        self._transport = transport
        self.write = transport.write

    def data_received(self, data: bytes) -> None:
        if len(data) <= _PIECE_BYTES and not self._left:
            self._listener.from_shadow(data)
            return
        is_handed_on_later = bool(self._left)
        self._left += data
        if not is_handed_on_later:
            self._hand_on()

    def connection_lost(self, exc: Exception | None) -> None:
        self._transport = None
        self.write = _drop
        self._left = b""
        self._listener.shadow_lost()

    def pause_writing(self) -> None:
        self._listener.shadow_is_full(True)

    def resume_writing(self) -> None:
        self._listener.shadow_is_full(False)

    def pause_reading(self, paused: bool) -> None:
        """What has been taken in is handed on all the same: less than a loop takes in at once."""
        self._is_full = paused
        self._update_reading()

    @property
    def is_ended(self) -> bool:
        """Whether the shadow has closed it while nothing is read of it, when nobody is told."""
        if self._is_reading or self._transport is None or not hasattr(select, "poll"):
            return False
        poll = select.poll()
        poll.register(self._transport.get_extra_info("socket"), _CLOSED)
        return bool(poll.poll(0))

    def close(self) -> None:
        if self._transport is not None:
            self._transport.close()

    def _hand_on(self) -> None:
        if not self._left:
            return
        piece, self._left = self._left[:_PIECE_BYTES], self._left[_PIECE_BYTES:]
        self._listener.from_shadow(piece)
        if self._left:
            self._loop.call_soon(self._hand_on)
        self._update_reading()

    def _update_reading(self) -> None:
        reads = not (self._is_full or self._left)
        if reads == self._is_reading or self._transport is None or self._transport.is_closing():
            return
        self._is_reading = reads
        if reads:
            self._transport.resume_reading()
        else:
            self._transport.pause_reading()


def _drop(data: bytes) -> None:
    """There is no connection."""


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
