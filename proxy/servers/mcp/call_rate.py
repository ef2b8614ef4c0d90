"""How often one token calls tools, so that a model in a loop keeps no others waiting."""

from __future__ import annotations

import math
import time
from collections import OrderedDict, deque
from collections.abc import Callable

CALLS_A_MINUTE = 60
_SECONDS = 60.0
_REMEMBERED = (
    4096  # tokens: each has called within the last minute, or is the first to be forgotten
)


class CallRate:
    """Of this process: with several workers a token has so many calls at each.

    >>> now = [0.0]
    >>> rate = CallRate(2, clock=lambda: now[0])
    >>> rate.wait("a"), rate.wait("a"), rate.wait("a"), rate.wait("b")
    (None, None, 60, None)
    >>> now[0] = 60.5
    >>> rate.wait("a")
    """

    def __init__(
        self, most: int = CALLS_A_MINUTE, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._most = most
        self._clock = clock
        self._calls: OrderedDict[object, deque[float]] = OrderedDict()

    def wait(self, who: object) -> int | None:
        """Count a call. Gives the seconds to wait where there were too many; those are not counted."""
        now = self._clock()
        calls = self._calls.setdefault(who, deque())
        self._calls.move_to_end(who)
        if len(self._calls) > _REMEMBERED:
            self._calls.popitem(last=False)
        while calls and calls[0] <= now - _SECONDS:
            calls.popleft()
        if len(calls) >= self._most:
            return math.ceil(calls[0] + _SECONDS - now)
        calls.append(now)
        return None
