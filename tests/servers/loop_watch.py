"""How much processor time the callbacks of asyncio's loops take, one by one.

uvloop has no such place to look at: a server that is watched runs on asyncio's own loop.
"""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pytest


@dataclass(slots=True)
class Watch:
    """longest: seconds of processor time of a callback, and which it was."""

    longest: tuple[float, str] = (0.0, "")

    def reset(self) -> None:
        self.longest = (0.0, "")


@contextlib.contextmanager
def watched(monkeypatch: pytest.MonkeyPatch) -> Iterator[Watch]:
    watch = Watch()
    run = asyncio.events.Handle._run

    def measured(handle: Any) -> None:
        began = time.thread_time()
        try:
            run(handle)
        finally:
            took = time.thread_time() - began
            if took > watch.longest[0]:
                watch.longest = took, repr(handle)[:300]

    with monkeypatch.context() as patch:
        patch.setattr(asyncio.events.Handle, "_run", measured)
        yield watch
