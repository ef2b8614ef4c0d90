"""Statements are planned in threads, and no analyst's statements keep another's waiting."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import TypeVar

from typing_extensions import ParamSpec

from proxy.engine.fair_share import FairShare

_AT_ONCE = 3  # asyncio has five threads on one core: some are left for the ledger's lease and for rendering

P = ParamSpec("P")
T = TypeVar("T")


class PlanningTurns:
    """One statement of an analyst at a time: planning can take seconds, costs nothing, and threads share one
    interpreter, so that two at once end no sooner."""

    def __init__(self) -> None:
        self._places = FairShare(at_once=_AT_ONCE, each=1)

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
