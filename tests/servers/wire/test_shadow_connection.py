"""What comes from the shadow at once is looked through in more than one turn, in its order."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import asynccontextmanager
from typing import Any

import pytest
import uvloop

from proxy.servers.wire.shadow_connection import ShadowConnection

_PIECE = 64 * 1024
_SENT = bytes(range(256)) * 600  # 150 KiB


class _Listener:
    def __init__(self) -> None:
        self.heard: list[bytes] = []
        self.turns: list[int] = []
        self.turn = 0
        self.is_lost = False

    def from_shadow(self, data: bytes) -> None:
        self.heard.append(data)
        self.turns.append(self.turn)

    def shadow_lost(self) -> None:
        self.is_lost = True

    def shadow_is_full(self, is_full: bool) -> None:
        raise AssertionError


async def _until(is_so: Callable[[], bool], listener: _Listener) -> None:
    loop = asyncio.get_running_loop()
    deadline = loop.time() + 10
    while not is_so():
        assert loop.time() < deadline
        listener.turn += 1
        await asyncio.sleep(0)


@asynccontextmanager
async def _amid_sent() -> AsyncIterator[tuple[_Listener, ShadowConnection, socket.socket]]:
    """All of _SENT is on its way, and some of it heard; with the shadow's end."""
    ours, theirs = socket.socketpair()
    ours.setblocking(False)
    with theirs:
        theirs.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 4 * len(_SENT))
        listener = _Listener()
        loop = asyncio.get_running_loop()
        _, connection = await loop.create_connection(lambda: ShadowConnection(listener), sock=ours)
        theirs.sendall(_SENT)
        await _until(lambda: bool(listener.heard), listener)
        yield listener, connection, theirs


@pytest.fixture(params=[asyncio.run, uvloop.run], ids=["asyncio", "uvloop"])
def run(request: pytest.FixtureRequest) -> Callable[[Coroutine[Any, Any, None]], None]:
    found: Callable[[Coroutine[Any, Any, None]], None] = request.param
    return found


def test_in_pieces_and_turns(run: Callable[[Coroutine[Any, Any, None]], None]) -> None:
    async def talk() -> None:
        async with _amid_sent() as (listener, _, theirs):
            await _until(lambda: sum(map(len, listener.heard)) == len(_SENT), listener)
            theirs.sendall(b"more")
            await _until(lambda: listener.heard[-1] == b"more", listener)
        assert b"".join(listener.heard) == _SENT + b"more"
        assert max(map(len, listener.heard)) <= _PIECE
        assert len(set(listener.turns)) == len(listener.turns)
        await _until(lambda: listener.is_lost, listener)

    run(talk())


def test_nothing_is_read_while_the_client_is_full(
    run: Callable[[Coroutine[Any, Any, None]], None],
) -> None:
    async def talk() -> None:
        async with _amid_sent() as (listener, connection, theirs):
            connection.pause_reading(True)
            connection.pause_reading(True)
            await _until(lambda: sum(map(len, listener.heard)) == len(_SENT), listener)
            theirs.sendall(b"more")
            await asyncio.sleep(0.05)
            assert b"".join(listener.heard) == _SENT
            connection.pause_reading(False)
            await _until(lambda: listener.heard[-1] == b"more", listener)

    run(talk())


def test_nothing_is_handed_on_once_it_is_lost(
    run: Callable[[Coroutine[Any, Any, None]], None],
) -> None:
    async def talk() -> None:
        async with _amid_sent() as (listener, connection, _):
            connection.close()
            await _until(lambda: listener.is_lost, listener)
            heard = len(listener.heard)
            await asyncio.sleep(0.05)
            assert len(listener.heard) == heard
            connection.write(b"nobody is there")

    run(talk())
