"""A signal that comes as soon as something is said to run stops it in good order."""

from __future__ import annotations

import asyncio
import os
import signal

from proxy.cli.running import drain_on_signals
from proxy.servers.draining import Draining


def test_a_signal_before_anybody_waits_is_not_lost() -> None:
    async def run() -> Draining:
        draining = Draining(delay=3, grace=9)
        drain_on_signals(draining)
        os.kill(os.getpid(), signal.SIGTERM)  # by default it ends the process
        await asyncio.wait_for(draining.begun.wait(), 60)
        assert not draining.hurried.is_set()
        os.kill(os.getpid(), signal.SIGTERM)
        await asyncio.wait_for(draining.hurried.wait(), 60)
        return draining

    before = signal.getsignal(signal.SIGTERM)
    assert asyncio.run(run()).grace == 9
    assert signal.getsignal(signal.SIGTERM) == before, "a third one is the system's"


def test_who_watches_waits_shortly() -> None:
    async def run() -> Draining:
        draining = Draining(delay=3, grace=60)
        drain_on_signals(draining)
        os.kill(os.getpid(), signal.SIGINT)
        await asyncio.wait_for(draining.begun.wait(), 60)
        for number in (signal.SIGINT, signal.SIGTERM):
            asyncio.get_running_loop().remove_signal_handler(number)
        return draining

    found = asyncio.run(run())
    assert (found.delay, found.grace, found.hurried.is_set()) == (0, 5, False)
