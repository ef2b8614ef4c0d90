"""In place of the queue of charges, which needs a loop: a machine's steps come one after another."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class SingleCharges:
    together: Callable[[Sequence[Any]], Awaitable[Sequence[Any]]]

    async def charged(self, one: Any) -> Any:
        return (await self.together([one]))[0]
