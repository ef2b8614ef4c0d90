"""What libpq reads, at our pace.

Where a message is longer than what has come of it, libpq makes room for all of it and reads as long as the
server goes on to write, in one call: an error of 250 MB is in memory before anybody is asked. So between the
two stands a pair of sockets that the event loop fills. While libpq reads, nobody writes: it gets what the pair
holds, some hundred kilobytes, and what FIONREAD said before is what it has read.
"""

from __future__ import annotations

import asyncio
import os
import socket
from contextlib import suppress

_PIECE_BYTES = 64 * 1024


class PacedSocket:
    """
    Given    the descriptor of a connection on which nobody waits now; it becomes one end of a pair
    Gives    everything goes on as before, in both directions, until one side ends; then all is closed
    """

    def __init__(self, descriptor: int) -> None:
        loop = asyncio.get_running_loop()
        self._server = socket.socket(fileno=os.dup(descriptor))
        self._ours, theirs = socket.socketpair()
        for one in (self._server, self._ours, theirs):
            one.setblocking(False)
        with theirs:
            os.dup2(theirs.fileno(), descriptor, inheritable=False)
        self._pumps = {
            loop.create_task(_pump(self._server, self._ours)),
            loop.create_task(_pump(self._ours, self._server)),
        }
        for pump in self._pumps:
            pump.add_done_callback(self._ended)

    def _ended(self, pump: asyncio.Task[None]) -> None:
        self._pumps.discard(pump)
        if not pump.cancelled():
            pump.exception()
        for other in self._pumps:
            other.cancel()
        if not self._pumps:  # not before: the loop still watches what the other one waits for
            self._ours.close()
            self._server.close()


async def _pump(source: socket.socket, sink: socket.socket) -> None:
    loop = asyncio.get_running_loop()
    with suppress(OSError):
        while piece := await loop.sock_recv(source, _PIECE_BYTES):
            await loop.sock_sendall(sink, piece)
