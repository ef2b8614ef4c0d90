"""Long jobs of analysts run in threads, in turns by analyst: no analyst's statements delay another's."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from functools import partial
from typing import TypeVar

from typing_extensions import ParamSpec

from proxy.turns.fair_share import FairShare

# Each kind of job has threads of its own, so that none waits for another kind, nor the ledger's lease for any.
_PLANNED_AT_ONCE, _READ_AT_ONCE, _ANSWERED_AT_ONCE = 2, 2, 2

P = ParamSpec("P")
T = TypeVar("T")


class AnalystTurns:
    """One job of an analyst at a time: reading, planning and a cached answer can take seconds and cost nothing.
    Threads share one interpreter, so that two at once end no sooner."""

    def __init__(self, at_once: int) -> None:
        """
        Args:
            at_once: Jobs of all analysts together.
        """
        self._threads = ThreadPoolExecutor(at_once, "turn")
        self._places = FairShare(at_once=at_once, each=1)

    @classmethod
    def of_planning(cls) -> AnalystTurns:
        return cls(_PLANNED_AT_ONCE)

    @classmethod
    def of_reading(cls) -> AnalystTurns:
        return cls(_READ_AT_ONCE)

    @classmethod
    def of_answering(cls) -> AnalystTurns:
        """Turns of drawing, showing and rendering answers."""
        return cls(_ANSWERED_AT_ONCE)

    def waiting(self, analyst: str) -> int:
        """How many jobs of an analyst wait for their turn."""
        return self._places.waiting(analyst)

    async def run(
        self, analyst: str, function: Callable[P, T], *given: P.args, **named: P.kwargs
    ) -> T:
        """A thread cannot be ended: its place comes back when it ends, even where nobody waits for it."""
        await self._places.take(analyst)
        job = partial(copy_context().run, function, *given, **named)
        running = asyncio.get_running_loop().run_in_executor(self._threads, job)

        def done(ended: asyncio.Future[T]) -> None:
            self._places.give_back(analyst)
            if not ended.cancelled():
                ended.exception()  # was seen, also where the client is gone

        running.add_done_callback(done)
        return await asyncio.shield(running)
