"""CancelRequest: from the key that a client was given to its session."""

from __future__ import annotations

import asyncio
import contextlib
from collections import Counter
from collections.abc import Awaitable, Callable

from proxy.pgwire.frames import U32
from proxy.servers.wire.served_database import ShadowAddress
from proxy.turns.fair_share import Busy, FairShare

_CANCEL_REQUEST = 80877102
FORWARDED_AT_ONCE = 16  # a flood of requests must not become a flood of forks on the shadow
_FORWARDED_EACH = 4  # of one address
_TIMEOUT_SECONDS = 5.0

# Key, packet and requester of a request that other workers may know. Gives whether one did.
Elsewhere = Callable[[bytes, bytes, str], Awaitable[bool]]


async def _nobody_else(key: bytes, packet: bytes, requester: str) -> bool:
    return False


class CancelRegistry:
    """Keys are the shadow's own (BackendKeyData is relayed), 32 random bits beside a process number."""

    def __init__(self) -> None:
        self._sessions: dict[bytes, tuple[ShadowAddress, Callable[[], None]]] = {}
        self._slots = FairShare(FORWARDED_AT_ONCE, _FORWARDED_EACH)
        self._leaving: set[asyncio.Task[None]] = set()
        self.requests = Counter(known=0, unknown=0)
        self.elsewhere: Elsewhere = _nobody_else

    def add(self, key: bytes, address: ShadowAddress, cancel: Callable[[], None]) -> None:
        self._sessions[key] = (address, cancel)

    def remove(self, key: bytes, cancel: Callable[[], None]) -> None:
        held = self._sessions.get(key)
        # The shadow may have given the same key to a later session.
        if held is not None and held[1] == cancel:
            del self._sessions[key]

    @property
    def processes(self) -> frozenset[int]:
        """Of the sessions. A key begins with it (BackendKeyData)."""
        return frozenset(U32.unpack_from(key)[0] for key in self._sessions)

    def leave_running(self, key: bytes, requester: str) -> None:
        """The client of a session is gone in the middle of a statement, which nobody needs any more."""
        held = self._sessions.get(key)
        if held is None:
            return
        packet = U32.pack(8 + len(key)) + U32.pack(_CANCEL_REQUEST) + key
        leaving = asyncio.ensure_future(self._forward(held[0], packet, requester))
        self._leaving.add(leaving)
        leaving.add_done_callback(self._leaving.discard)

    async def close(self) -> None:
        for leaving in list(self._leaving):
            leaving.cancel()
        await asyncio.gather(*self._leaving, return_exceptions=True)

    async def request(self, key: bytes, packet: bytes, requester: str) -> None:
        """
        Given    requester: the address it comes from

        Never answered, whether it was known or not (PostgreSQL 17 documentation, section 55.2.8). An unknown
        key is nobody's, or another worker's: the shadow serves this process alone, and is not bothered with
        guesses.
        """
        is_known = await self.request_here(key, packet, requester)
        if not is_known:
            with contextlib.suppress(Busy):
                async with self._slots.place(requester, _TIMEOUT_SECONDS):
                    is_known = await self.elsewhere(key, packet, requester)
        self.requests["known" if is_known else "unknown"] += 1

    async def request_here(self, key: bytes, packet: bytes, requester: str) -> bool:
        """As `request`, of the sessions of this process alone. Gives whether it knows the key."""
        held = self._sessions.get(key)
        if held is None:
            return False
        address, cancel = held
        cancel()
        await self._forward(address, packet, requester)
        return True

    async def _forward(self, address: ShadowAddress, packet: bytes, requester: str) -> None:
        with contextlib.suppress(Busy):
            async with self._slots.place(requester, _TIMEOUT_SECONDS):
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
