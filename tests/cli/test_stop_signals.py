"""A signal that comes as soon as something is said to run stops it in good order."""

from __future__ import annotations

import asyncio
import os
import signal

from proxy.cli.listeners import stop_signals


def test_a_signal_before_anybody_waits_is_not_lost() -> None:
    async def run() -> bool:
        with stop_signals() as stop:
            os.kill(os.getpid(), signal.SIGTERM)  # by default it ends the process
            await asyncio.wait_for(stop.wait(), 5)
            return stop.is_set()

    before = signal.getsignal(signal.SIGTERM)
    assert asyncio.run(run())
    assert signal.getsignal(signal.SIGTERM) == before
