"""SIGTERM and Ctrl-C as the beginning of an orderly end."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import Callable

from proxy.servers.draining import Draining


def drain_on_signals(draining: Draining, say: Callable[[], None] = lambda: None) -> None:
    """From now on SIGTERM and Ctrl-C begin the end, and a second one ends the waiting. A third one ends the
    process as it would any program. To be called before anybody is told that there is something to stop.

    Args:
        draining: The end.
        say: Called when it begins.
    """
    loop = asyncio.get_running_loop()

    def on_signal(act: Callable[[], None]) -> None:
        is_second = draining.is_begun
        act()
        if not is_second:
            say()
        else:
            for number in (signal.SIGINT, signal.SIGTERM):
                loop.remove_signal_handler(number)

    loop.add_signal_handler(signal.SIGINT, on_signal, draining.interrupt)
    loop.add_signal_handler(signal.SIGTERM, on_signal, draining.terminate)
