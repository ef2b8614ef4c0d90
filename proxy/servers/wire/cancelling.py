"""CancelRequest: from the key that a client was given to its session."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable

from proxy.servers.wire.brain import ShadowAddress

_FORWARDED_AT_ONCE = 16  # a flood of guesses must not become a flood of forks on the shadow
_TIMEOUT_SECONDS = 5.0


class CancelRegistry:
    """Keys are the shadow's own (BackendKeyData is relayed), 32 random bits beside a process number."""

    def __init__(self) -> None:
        self._sessions: dict[bytes, tuple[ShadowAddress, Callable[[], None]]] = {}
        self._slots = asyncio.Semaphore(_FORWARDED_AT_ONCE)

    def add(self, key: bytes, address: ShadowAddress, cancel: Callable[[], None]) -> None:
        self._sessions[key] = (address, cancel)

    def remove(self, key: bytes, cancel: Callable[[], None]) -> None:
        held = self._sessions.get(key)
        # The shadow may have given the same key to a later session.
        if held is not None and held[1] == cancel:
            del self._sessions[key]

    async def request(self, key: bytes, packet: bytes, addresses: Iterable[ShadowAddress]) -> None:
        """Never answered, whether it was known or not (manual 55.2.8). An unknown key may belong to
        another process of ours: the shadow knows."""
        held = self._sessions.get(key)
        if held is not None:
            address, cancel = held
            addresses = [address]
            cancel()
        for address in addresses:
            async with self._slots:
                await _forward(address, packet)


async def _forward(address: ShadowAddress, packet: bytes) -> None:
    try:
        await asyncio.wait_for(_deliver(address, packet), _TIMEOUT_SECONDS)
    except (OSError, asyncio.TimeoutError):
        return  # constant silence


async def _deliver(address: ShadowAddress, packet: bytes) -> None:
    if address.socket_path is not None:
        reader, writer = await asyncio.open_unix_connection(address.socket_path)
    else:
        reader, writer = await asyncio.open_connection(address.host, address.port)
    try:
        writer.write(packet)
        await writer.drain()
        # The server closes when the signal was sent; libpq waits for that, too.
        await reader.read(1)
    finally:
        writer.close()
