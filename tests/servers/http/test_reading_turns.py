"""Long statements are read in turns by analyst, over both listeners: one analyst delays no other."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest

from proxy.pgwire.calls import ExecutePrepared, Inspect, Refuse, Verbatim
from proxy.servers.engine_adapter import EngineAdapter
from tests.servers.http.both_listeners import BothListeners
from tests.waiting import until

_LONG = f"SELECT 1 /* {'x' * 600} */"
_SLOW = _LONG.replace("x", "y")
_SESSIONS = 8  # more than asyncio has threads on two cores
_Looked = Verbatim | Inspect | ExecutePrepared | Refuse


class _SlowReading:
    """Reading _SLOW takes until `end` is set."""

    def __init__(self) -> None:
        self.end = threading.Event()
        self.begun = 0
        self.real = EngineAdapter.look

    def look(self, adapter: EngineAdapter, text: str) -> _Looked:
        if text == _SLOW:
            self.begun += 1
            assert self.end.wait(60)
        return self.real(adapter, text)


@pytest.fixture
def slow(monkeypatch: pytest.MonkeyPatch) -> Iterator[_SlowReading]:
    reading = _SlowReading()
    monkeypatch.setattr(EngineAdapter, "look", lambda adapter, text: reading.look(adapter, text))
    yield reading
    reading.end.set()


@pytest.mark.parametrize("way", ["wire", "http"])
def test_one_analyst_delays_no_other(
    listeners: BothListeners, slow: _SlowReading, way: str
) -> None:
    mallory = listeners.proxy.servers.new_analyst()
    bob = listeners.proxy.servers.new_analyst()

    def ask(analyst: str, sql: str) -> bool:
        if way == "http":
            return listeners.query(sql, analyst=analyst).status_code == 200
        with listeners.proxy.connect("shop", analyst=analyst) as connection:
            return connection.execute(sql.encode()).fetchone() == (1,)

    with ThreadPoolExecutor(_SESSIONS + 1) as pool:
        asking = [pool.submit(ask, mallory, _SLOW) for _ in range(_SESSIONS)]
        until(lambda: slow.begun > 0)
        assert pool.submit(ask, bob, _LONG).result(60)
        assert slow.begun == 1
        slow.end.set()
        assert all(one.result(60) for one in asking)
    assert slow.begun == _SESSIONS
