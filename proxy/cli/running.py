"""The event loop of a command, and how it ends: uvloop where there is one, SIGTERM as an orderly end."""

from __future__ import annotations

import asyncio
import signal
import sys
from collections.abc import Coroutine
from types import FrameType
from typing import Any, TypeVar

T = TypeVar("T")


def run(work: Coroutine[Any, Any, T]) -> T:
    try:
        import uvloop
    except ImportError:  # Windows
        return asyncio.run(work)
    return uvloop.run(work)


def outlive_hang_ups() -> None:
    """Before the loop runs: SIGHUP asks for policies to be read, which they are at the start anyway. A handler,
    since servers that are started would inherit that it is ignored."""
    if hasattr(signal, "SIGHUP"):  # not on Windows
        signal.signal(signal.SIGHUP, lambda number, frame: None)


def end_on_sigterm() -> None:
    """Before the loop runs: unwind like Ctrl-C, so that servers that were started are stopped."""

    def end(number: int, _: FrameType | None) -> None:
        sys.exit(128 + number)

    signal.signal(signal.SIGTERM, end)
