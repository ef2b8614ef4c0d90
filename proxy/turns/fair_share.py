"""Places that several share: at most so many at once, at most so many each, and who waits is served in turn."""

from __future__ import annotations

import asyncio
from collections import Counter, deque
from collections.abc import AsyncIterator, Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager
from contextvars import copy_context
from functools import partial
from typing import TypeVar

from typing_extensions import ParamSpec

_Waiting = deque["asyncio.Future[None]"]


class Busy(Exception):
    """No place became free in time. Try again in a second."""


class FairShare:
    """
    Given    at_once: places in all; each: places of one holder; neither is ever exceeded; last_for_new: the
             last free place is for those who hold none
    Gives    `place`, or `take` and `give_back`. A place that becomes free goes to the waiting holder who
             holds the fewest, and among one holder's lines (e.g. names) to each in turn
    """

    def __init__(self, at_once: int, each: int, *, last_for_new: bool = False) -> None:
        self._at_once = at_once
        self._last_for_new = last_for_new
        self._each = each
        self._held: Counter[str] = Counter()
        self._used = 0
        self.waits = 0  # so many have waited, since the start
        self._waiting: dict[str, dict[str, _Waiting]] = {}

    @property
    def used(self) -> int:
        return self._used

    def held(self, holder: str) -> int:
        return self._held[holder]

    def waiting(self, holder: str) -> int:
        """How many of a holder wait for a place."""
        return sum(map(len, self._waiting.get(holder, {}).values()))

    def is_awaited(self, holder: str) -> bool:
        """Whether somebody would be served at once if this holder gave a place back."""
        if holder in self._waiting:
            return True
        return self._used >= self._at_once and bool(self._waiting)

    @asynccontextmanager
    async def place(self, holder: str, seconds: float) -> AsyncIterator[None]:
        """Refuses  Busy, after `seconds`"""
        await self.take(holder, seconds)
        try:
            yield
        finally:
            self.give_back(holder)

    def take_now(self, holder: str) -> bool:
        """Take a place if one is free and nobody waits for it. Returns whether it was taken."""
        if holder in self._waiting or not self._is_free_for(holder):
            return False
        self._grant(holder)
        return True

    def hold(self, holder: str) -> None:
        """Take a place whether one is free or not. Others wait until there are fewer again."""
        self._grant(holder)

    async def take(self, holder: str, seconds: float | None = None, line: str = "") -> None:
        """Refuses  Busy, after `seconds`; None waits for ever"""
        if self.take_now(holder):
            return
        self.waits += 1
        granted: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        lines = self._waiting.setdefault(holder, {})
        lines.setdefault(line, deque()).append(granted)
        try:
            await asyncio.wait({granted}, timeout=seconds)
        except asyncio.CancelledError:
            if granted.done():
                self.give_back(holder)
            raise
        finally:
            if not granted.done():
                self._leave(holder, line, granted)
        if not granted.done():
            raise Busy

    def give_back(self, holder: str) -> None:
        self._used -= 1
        self._held[holder] -= 1
        if not self._held[holder]:
            del self._held[holder]
        self._serve()

    def _is_free_for(self, holder: str) -> bool:
        if self._used >= self._at_once or self._held[holder] >= self._each:
            return False
        is_last = self._used == self._at_once - 1
        return not (self._last_for_new and is_last and self._held[holder])

    def _grant(self, holder: str) -> None:
        self._used += 1
        self._held[holder] += 1

    def _serve(self) -> None:
        while True:
            served = [holder for holder in self._waiting if self._is_free_for(holder)]
            if not served:
                return
            holder = min(served, key=self._held.__getitem__)
            lines = self._waiting.pop(holder)
            name = next(iter(lines))
            line = lines.pop(name)
            granted = line.popleft()
            if line:
                lines[name] = line  # behind the holder's other lines
            if lines:
                self._waiting[holder] = lines  # behind the other holders
            self._grant(holder)
            granted.set_result(None)

    def _leave(self, holder: str, name: str, granted: asyncio.Future[None]) -> None:
        lines = self._waiting[holder]
        lines[name].remove(granted)
        if not lines[name]:
            del lines[name]
        if not lines:
            del self._waiting[holder]


# Long jobs of analysts run in threads, in turns by analyst: no analyst's statements delay another's.


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
