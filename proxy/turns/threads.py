"""Runs long jobs in threads, so that other sessions go on meanwhile."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar

from typing_extensions import ParamSpec

from proxy.turns.fair_share import AnalystTurns

AT_ONCE = 5_000  # numbers, some 5 to 12 ms in which no other session moves

P = ParamSpec("P")
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Turn:
    """Runs the long jobs of one analyst, one at a time.

    Attributes:
        analyst: Whose jobs they are.
        turns: Shared by all analysts. None: a job of the data owner's, which waits for nobody.
    """

    analyst: str
    turns: AnalystTurns | None = None

    async def in_thread(self, function: Callable[P, T], *given: P.args, **named: P.kwargs) -> T:
        """Run a function in a thread when the analyst's turn comes."""
        if self.turns is None:
            return await asyncio.to_thread(function, *given, **named)
        return await self.turns.run(self.analyst, function, *given, **named)

    async def in_thread_if_long(
        self, work: int, function: Callable[P, T], *given: P.args, **named: P.kwargs
    ) -> T:
        """Run a function at once if it handles few numbers, else as `in_thread`.

        Args:
            work: How many numbers it handles.
            function: What is run.
            given: Its arguments.
            named: More of them.
        """
        if work <= AT_ONCE:
            return function(*given, **named)
        return await self.in_thread(function, *given, **named)
