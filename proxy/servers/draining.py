"""The end of a serving process, told to all its listeners at once."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from dataclasses import dataclass, field

INTERRUPTED_GRACE = 5.0


@dataclass(slots=True, kw_only=True)
class Draining:
    """When a process that serves ends, and how long clients have.

    From `begun` on readiness is refused and HTTP clients are asked to connect anew. After `delay` the listeners
    close. What runs then may end within `grace`. `hurried` ends both waits.

    Attributes:
        delay: In seconds, in which a balancer learns that it is to send nobody any more.
        grace: In seconds, for statements and transactions that run when the listeners close.
    """

    delay: float = 0.0
    grace: float = INTERRUPTED_GRACE
    begun: asyncio.Event = field(default_factory=asyncio.Event)
    hurried: asyncio.Event = field(default_factory=asyncio.Event)

    @property
    def is_begun(self) -> bool:
        return self.begun.is_set()

    def terminate(self) -> None:
        """Begin. A second call ends the waiting."""
        (self.hurried if self.is_begun else self.begun).set()

    def interrupt(self) -> None:
        """Begin as for somebody who watches: without a delay, and with a short grace."""
        if not self.is_begun:
            self.delay, self.grace = 0.0, min(self.grace, INTERRUPTED_GRACE)
        self.terminate()

    async def wait(self, seconds: float) -> None:
        """Wait so long, or until it is hurried."""
        with suppress(asyncio.TimeoutError):
            await asyncio.wait_for(self.hurried.wait(), seconds)
