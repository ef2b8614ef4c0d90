"""Waiting for what happens in another thread or process."""

from __future__ import annotations

import time
from collections.abc import Callable


def until(condition: Callable[[], bool], seconds: float = 60) -> None:
    """Wait for a condition. Who has waited long looks less often: looks take processor time of other tests."""
    begun = time.monotonic()
    while not condition():
        assert time.monotonic() < begun + seconds, "it did not happen in time"
        time.sleep(min(0.01 + (time.monotonic() - begun) / 10, 0.1))
