"""A fixed number of places that analysts share: nobody takes them all, and who waits is served in turn."""

from __future__ import annotations

import asyncio
from collections import Counter, deque


class FairPlaces:
    """
    Given    total: of all; each: the most that one analyst holds
    Gives    `take` and `give_back`; the next place goes to who holds fewest, among these to who waits longest.
             The last free place is for those who hold none.
    """

    def __init__(self, total: int, each: int) -> None:
        self._free = total
        self._each = each
        self._held: Counter[str] = Counter()
        self._waiting: deque[tuple[str, asyncio.Future[None]]] = deque()

    async def take(self, analyst: str, seconds: float) -> None:
        """Refuses  asyncio.TimeoutError where no place came free in time"""
        future = asyncio.get_running_loop().create_future()
        self._waiting.append((analyst, future))
        self._grant()
        try:
            if not future.done():
                await asyncio.wait({future}, timeout=seconds)
        except asyncio.CancelledError:
            self._leave(analyst, future)
            raise
        if not future.done():
            self._leave(analyst, future)
            raise asyncio.TimeoutError

    def give_back(self, analyst: str) -> None:
        self._free += 1
        self._held[analyst] -= 1
        if self._held[analyst] == 0:
            del self._held[analyst]
        self._grant()

    def _leave(self, analyst: str, future: asyncio.Future[None]) -> None:
        if future.done():  # granted at the same moment
            self.give_back(analyst)
        else:
            self._waiting.remove((analyst, future))

    def _grant(self) -> None:
        while (chosen := self._next()) is not None:
            analyst, future = chosen
            self._waiting.remove(chosen)
            self._free -= 1
            self._held[analyst] += 1
            future.set_result(None)

    def _next(self) -> tuple[str, asyncio.Future[None]] | None:
        if self._free == 0:
            return None
        may = [entry for entry in self._waiting if self._may_take(entry[0])]
        return min(may, key=lambda entry: self._held[entry[0]], default=None)

    def _may_take(self, analyst: str) -> bool:
        held = self._held.get(analyst, 0)
        return held == 0 or (held < self._each and self._free > 1)
