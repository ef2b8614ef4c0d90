"""Statements are read and planned in threads, in turns by analyst: no analyst's statements delay another's."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import TypeVar

from typing_extensions import ParamSpec

from proxy.engine.fair_share import FairShare

# asyncio has five threads on one core: one is left for the ledger's lease, for watching and for rendering.
_PLANNED_AT_ONCE, _READ_AT_ONCE = 2, 2

P = ParamSpec("P")
T = TypeVar("T")


class AnalystTurns:
    """One statement of an analyst at a time: reading and planning can take seconds, cost nothing, and threads
    share one interpreter, so that two at once end no sooner."""

    def __init__(self, at_once: int) -> None:
        """
        Args:
            at_once: Statements of all analysts together.
        """
        self._places = FairShare(at_once=at_once, each=1)

    @classmethod
    def of_planning(cls) -> AnalystTurns:
        return cls(_PLANNED_AT_ONCE)

    @classmethod
    def of_reading(cls) -> AnalystTurns:
        return cls(_READ_AT_ONCE)

    async def run(
        self, analyst: str, function: Callable[P, T], *given: P.args, **named: P.kwargs
    ) -> T:
        """A thread cannot be ended: its place comes back when it ends, even where nobody waits for it."""
        await self._places.take(analyst)
        running = asyncio.ensure_future(asyncio.to_thread(function, *given, **named))

        def done(ended: asyncio.Task[T]) -> None:
            self._places.give_back(analyst)
            if not ended.cancelled():
                ended.exception()  # was seen, also where the client is gone

        running.add_done_callback(done)
        return await asyncio.shield(running)
