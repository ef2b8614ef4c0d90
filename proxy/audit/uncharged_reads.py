"""Compiled statements on synthetic databases, whose rows are nobody's: nothing is charged for them."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from contextlib import AbstractAsyncContextManager
from typing import Protocol

from proxy.compiler.compiling import CompiledQuery
from proxy.drawing.charges import uncharged
from proxy.drawing.protected_reads import ProtectedSession
from proxy.exact.table import ExactTable
from proxy.turns.threads import Turn


class EndingSession(ProtectedSession, Protocol):
    def end(self) -> asyncio.Task[None]: ...


class SyntheticSessions(Protocol):
    def session(self, turn: Turn) -> AbstractAsyncContextManager[EndingSession]: ...


class UnchargedReads:
    """Runs compiled statements without a charge.

    Args:
        data: A synthetic database.
    """

    def __init__(self, data: SyntheticSessions) -> None:
        self._data = data

    async def run(
        self,
        query: CompiledQuery,
        values: Mapping[str, int | str | None],
        is_selected: Callable[[int], bool] | None = None,
    ) -> ExactTable:
        """Run a statement in a session of its own, which has ended when this returns.

        Raises:
            Fault: As `ProtectedSession.run`.
        """
        async with self._data.session(Turn("")) as session:
            try:
                return await session.run(uncharged(query), values, is_selected)
            finally:
                await asyncio.wait({session.end()})
