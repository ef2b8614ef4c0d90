"""An honest analyst at work over the wire and over HTTP: how long each answer takes, and its receipts."""

from __future__ import annotations

import http.client
import math
import threading
import time
from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TypeVar

import psycopg

from tests.cli.operator_at_work import Listening, query_over_the_wire

SELECT, COUNT, HTTP_SELECT, HTTP_COUNT, LOGIN = KINDS = (
    "select 1",
    "count",
    "select 1 over HTTP",
    "count over HTTP",
    "login",
)
_PAUSE = 0.02
_SESSION = 25  # rounds before a new login
_T = TypeVar("_T")
Failure = (psycopg.Error, OSError, http.client.HTTPException, KeyError, ValueError)


@dataclass(slots=True)
class Window:
    """Seconds of each kind of question; a failed one has taken for ever."""

    seconds: dict[str, list[float]] = field(default_factory=lambda: defaultdict(list))
    failures: list[str] = field(default_factory=list)

    def p95(self, kind: str) -> float:
        taken = sorted(self.seconds[kind])
        return taken[math.ceil(0.95 * len(taken)) - 1] if taken else math.inf


@dataclass(slots=True)
class HonestAnalyst:
    listening: Listening
    name: str
    receipts: list[int] = field(default_factory=list)

    def work(self, seconds: float) -> Window:
        window = Window()
        end = time.monotonic() + seconds
        threads = [
            threading.Thread(target=self._over_the_wire, args=(window, end)),
            threading.Thread(target=self._over_http, args=(window, end)),
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(seconds + 120)
            assert not thread.is_alive(), "the honest client hangs"
        return window

    def _over_the_wire(self, window: Window, end: float) -> None:
        while time.monotonic() < end:
            connection = self._timed(window, LOGIN, lambda: self.listening.connect(self.name))
            if connection is None:
                continue
            with connection:
                self._in_a_session(window, end, connection)

    def _in_a_session(self, window: Window, end: float, connection: psycopg.Connection) -> None:
        for _ in range(_SESSION):
            if time.monotonic() > end or connection.closed:
                return
            self._timed(window, SELECT, lambda: connection.execute("SELECT 1").fetchone())
            self._note(self._timed(window, COUNT, lambda: query_over_the_wire(connection)))

    def _over_http(self, window: Window, end: float) -> None:
        while time.monotonic() < end:
            self._timed(
                window, HTTP_SELECT, lambda: self.listening.over_http(self.name, "SELECT 1")
            )
            receipt = self._timed(
                window, HTTP_COUNT, lambda: self.listening.query_over_http(self.name)
            )
            self._note(receipt)

    def _note(self, receipt: int | None) -> None:
        if receipt is not None:
            self.receipts.append(receipt)

    def _timed(self, window: Window, kind: str, work: Callable[[], _T]) -> _T | None:
        began = time.monotonic()
        try:
            found = work()
        except Failure as error:
            window.seconds[kind].append(math.inf)
            window.failures.append(f"{kind}: {type(error).__name__} {str(error)[:120]}")
            time.sleep(_PAUSE)
            return None
        window.seconds[kind].append(time.monotonic() - began)
        time.sleep(_PAUSE)
        return found
