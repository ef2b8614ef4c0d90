"""An analyst's RAISE over HTTP: of any length, it takes little of the proxy's memory."""

from __future__ import annotations

import re
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

import pytest

from proxy.pgwire.answers import REPORT_BYTES
from tests.servers.http.both_listeners import BothListeners

_MB = 1_000_000
_LONG = 17 * _MB  # above what is held (16 MiB)
# Too long to be held, or more than a session of the shadow has memory for: five copies of an error's text.
_REFUSED = ("54001", "53200")


def _raised(size: int, text: str = "x") -> str:
    return f"DO $$BEGIN RAISE EXCEPTION '%', repeat('{text}', {size}); END$$"


def _resident() -> int:
    (kilobytes,) = re.findall(r"VmRSS:\s+([0-9]+)", Path("/proc/self/status").read_text())
    return int(kilobytes) * 1024


@contextmanager
def _grows_less_than(limit: int) -> Iterator[None]:
    """This process, in which the proxy runs; looked at all the time, and libpq's reading holds the lock only
    between the looks."""
    before, most, over = _resident(), [0], threading.Event()

    def look() -> None:
        while not over.wait(0.002):
            most[0] = max(most[0], _resident() - before)

    looking = threading.Thread(target=look)
    looking.start()
    try:
        yield
    finally:
        over.set()
        looking.join()
    assert most[0] < limit, f"{most[0] // _MB} MB"


@pytest.mark.parametrize("text", ["x", "ä"])
def test_an_error_is_truncated_as_over_the_wire(listeners: BothListeners, text: str) -> None:
    told = listeners.query(_raised(100_001, text)).json()
    assert told["sqlstate"] == "P0001"
    assert REPORT_BYTES - 4 < len(told["detail"].encode()) <= REPORT_BYTES
    assert set(told["detail"]) == {text}


def test_a_short_error_is_whole(listeners: BothListeners) -> None:
    assert listeners.query(_raised(60_000)).json()["detail"] == "x" * 60_000


def test_what_is_longer_than_a_result_may_be_is_not_held(listeners: BothListeners) -> None:
    listeners.query("SELECT 1")
    with _grows_less_than(50 * _MB):
        told = listeners.query(_raised(_LONG)).json()
    assert told["sqlstate"] in _REFUSED
    assert listeners.query("SELECT 1").json()["rows"] == [[1]]


@pytest.mark.long
def test_several_at_once(listeners: BothListeners) -> None:
    def ask(_: int) -> str:
        return str(listeners.query(_raised(_LONG)).json()["sqlstate"])

    with _grows_less_than(150 * _MB), ThreadPoolExecutor(4) as pool:
        assert set(pool.map(ask, range(4))) <= set(_REFUSED)


def test_a_value_and_notices_are_bounded_too(listeners: BothListeners) -> None:
    notices = (
        "DO $$BEGIN FOR i IN 1..100 LOOP RAISE NOTICE '%', repeat('x', 1000000); END LOOP; END$$"
    )
    with _grows_less_than(80 * _MB):
        assert listeners.query(f"SELECT repeat('x', {_LONG})").json()["sqlstate"] in _REFUSED
        assert listeners.query(notices).json()["sqlstate"] == "54001"
