"""Waiting for what happens in another thread or process."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import psycopg


def until(condition: Callable[[], bool], seconds: float = 60) -> None:
    """Wait for a condition. Who has waited long looks less often: looks take processor time of other tests."""
    begun = time.monotonic()
    while not condition():
        assert time.monotonic() < begun + seconds, "it did not happen in time"
        time.sleep(min(0.01 + (time.monotonic() - begun) / 10, 0.1))


@contextmanager
def cancelled_each_second(
    connection: psycopg.Connection, is_time: Callable[[], bool] = lambda: True
) -> Iterator[None]:
    """What runs in it: a request to cancel that comes before a statement, or between two, ends none."""
    over = threading.Event()

    def work() -> None:
        until(lambda: over.is_set() or is_time())
        while not over.wait(1):
            connection.cancel_safe(timeout=60)

    cancelling = threading.Thread(target=work)
    cancelling.start()
    try:
        yield
    finally:
        over.set()
        cancelling.join(60)
