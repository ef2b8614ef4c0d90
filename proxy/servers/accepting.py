"""Take connections of a listening socket, one in each turn of the event loop.

An event loop's own server takes all that wait at once. Among 150 at once, a client is closed for the others
before anybody has read what it says.
"""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Callable

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
