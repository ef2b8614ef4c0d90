"""Take connections of a listening socket, one in each turn of the event loop, and so many that have
not logged in.

An event loop's own server takes all that wait at once. Among 150 at once, a client is closed for the others
before anybody has read what it says.
"""

from __future__ import annotations

import asyncio
import socket
from collections import Counter
from collections.abc import Callable
from typing import Generic, TypeVar

_PAUSE_SECONDS = 0.1  # where the system has no file descriptor left
BACKLOG = 512


def listening_socket(host: str, port: int) -> socket.socket:
    """Refuses  OSError where the port is taken"""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    return socket.create_server((host, port), family=family, backlog=BACKLOG)


async def accept_in_turns(
    listening: socket.socket, begin: Callable[[socket.socket, object], None]
) -> None:
    """Take connections until cancelled, or until the socket is closed.

    Args:
        listening: The socket.
        begin: Called with each connection and its address, before anything is awaited: none is lost.
    """
    loop = asyncio.get_running_loop()
    listening.setblocking(False)
    number = listening.fileno()
    come = asyncio.Event()
    loop.add_reader(number, come.set)
    try:
        while True:
            await come.wait()
            try:
                client, peer = listening.accept()
            except BlockingIOError:
                come.clear()
            except ConnectionError:  # it has gone already
                continue
            except OSError:
                if listening.fileno() < 0:
                    return
                loop.remove_reader(number)
                await asyncio.sleep(_PAUSE_SECONDS)
                loop.add_reader(number, come.set)
            else:
                client.setblocking(False)
                client.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                begin(client, peer)
                await asyncio.sleep(0)
    finally:
        loop.remove_reader(number)


def close_if_cancelled(client: socket.socket, opening: asyncio.Task[None]) -> None:
    """Close a connection whose task was cancelled before its first step, where it closes nothing by itself."""
    if opening.cancelled():
        client.close()


# The connections that have not logged in: how many there may be, in all and of one address.

T = TypeVar("T")


class Strangers(Generic[T]):
    """Where there are too many, one makes room: a client that means it is gone from here in a moment.

    It is the oldest of those that have named nobody yet, if they are more than half, or of the name with most
    connections. So neither silent clients nor one name keep anybody else out.

    Args:
        name_of: Who logs in on a connection; None if its client has not said it.
    """

    def __init__(
        self, at_once: int, each: int, name_of: Callable[[T], str | None] = lambda one: None
    ) -> None:
        self._name_of = name_of
        self._at_once = at_once
        self._each = each
        self._count = 0
        self._of_addresses: dict[str, dict[T, None]] = {}  # the oldest first

    def __len__(self) -> int:
        return self._count

    def add(self, one: T, address: str) -> T | None:
        """Who has to go for it; it is removed already."""
        held = self._of_addresses.get(address, {})
        crowded: str | None = None
        if len(held) >= self._each:
            crowded = address
        elif self._count >= self._at_once:
            crowded = max(self._of_addresses, key=lambda name: len(self._of_addresses[name]))
        oldest = None
        if crowded is not None:
            oldest = self._one_of_most(self._of_addresses[crowded])
            self.remove(oldest, crowded)
        self._of_addresses.setdefault(address, {})[one] = None
        self._count += 1
        return oldest

    def _one_of_most(self, held: dict[T, None]) -> T:
        names = [self._name_of(one) for one in held]
        if 2 * names.count(None) > len(names):
            most = None
        else:
            most = Counter(name for name in names if name is not None).most_common(1)[0][0]
        return next(one for one, name in zip(held, names, strict=True) if name == most)

    def remove(self, one: T, address: str) -> None:
        held = self._of_addresses.get(address, {})
        if one in held:
            del held[one]
            self._count -= 1
            if not held:
                del self._of_addresses[address]
