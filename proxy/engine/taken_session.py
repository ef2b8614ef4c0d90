"""The session of one statement, from when it is taken to when it ends."""

from __future__ import annotations

from contextlib import AbstractAsyncContextManager
from types import TracebackType

from proxy.drawing.protected_reads import ProtectedSession


class TakenSession:
    """A session that ends with its block, also where what took it was cancelled or took too long."""

    __slots__ = ("_is_taken", "_session")

    def __init__(self, session: AbstractAsyncContextManager[ProtectedSession]) -> None:
        self._session = session
        self._is_taken = False

    async def take(self) -> ProtectedSession:
        session = await self._session.__aenter__()
        self._is_taken = True
        return session

    async def __aenter__(self) -> TakenSession:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._is_taken:
            await self._session.__aexit__(kind, error, trace)
