"""A wire server in a thread of its own, in front of a real PostgreSQL."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Coroutine, Iterator
from dataclasses import dataclass
from typing import Any, TypeVar

import psycopg
import pytest

from proxy.servers.wire.shared_server_state import Limits, ServedDatabase, ShadowAddress
from proxy.servers.wire.wire_server import WireServer
from tests.scripted_engine import ScriptedEngine
from tests.wire_shadow import WireShadow, wire_shadow

T = TypeVar("T")


@dataclass(slots=True)
class Running:
    shadow: WireShadow
    engine: ScriptedEngine
    server: WireServer
    loop: asyncio.AbstractEventLoop

    @property
    def port(self) -> int:
        return self.server.address[1]

    def conninfo(self, **more: str) -> str:
        return self.shadow.conninfo(self.port, **more)

    def connect(self, **more: Any) -> psycopg.Connection:
        return psycopg.connect(self.conninfo(), autocommit=True, **more)

    def do(self, work: Coroutine[Any, Any, T]) -> T:
        """Run it on the server's loop."""
        return asyncio.run_coroutine_threadsafe(work, self.loop).result(60)


def serve(
    limits: Limits | None = None, shadow_port: int | None = None, **more: Any
) -> Iterator[Running]:
    """shadow_port: of who stands before the shadow."""
    shadow = wire_shadow()
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever, daemon=True)
    thread.start()
    engine = ScriptedEngine(shadow.orders_oid)
    served = ServedDatabase(ShadowAddress(shadow.host, shadow_port or shadow.port), engine)
    server = WireServer({"shop": served}, limits=limits, **more)
    running = Running(shadow, engine, server, loop)
    running.do(server.start("127.0.0.1", 0))
    try:
        yield running
    finally:
        running.do(server.stop(grace_seconds=0.5))
        loop.call_soon_threadsafe(loop.stop)
        thread.join(60)
        loop.close()


@pytest.fixture
def relay() -> Iterator[Running]:
    yield from serve()


@pytest.fixture(scope="session")
def shadow() -> WireShadow:
    return wire_shadow()
