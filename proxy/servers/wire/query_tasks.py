"""What the relay of one connection waits for: the engine's steps, as tasks beside the loop's callbacks."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import TypeVar

from typing_extensions import ParamSpec, assert_never

from proxy.base.errors import Code
from proxy.pgwire.calls import Correct, Look, LookPrepared, PlanTrial, Read, Refuse, RunQuery
from proxy.pgwire.relay import Result, Wanted
from proxy.pgwire.statement_look import pieces_of, prepared_of
from proxy.servers.wire.served_database import EnginePort

P = ParamSpec("P")
T = TypeVar("T")

_CANCELLED = Refuse(Code.CANCELLED.sqlstate, "canceling statement due to user request", "", None)


class QueryTasks:
    """
    Given    deliver: takes the result, once the loop is at it

    One at a time: the relay waits. What is long runs in a thread, so that other sessions go on meanwhile.
    """

    def __init__(self, engine: EnginePort, analyst: str, deliver: Callable[[Result], None]) -> None:
        self._engine = engine
        self._analyst = analyst
        self._deliver = deliver
        self._loop = asyncio.get_running_loop()
        self._task: asyncio.Task[None] | None = None
        self._can_be_cancelled = False
        self._is_closed = False

    def start(self, wanted: Wanted) -> None:
        self._can_be_cancelled = isinstance(
            wanted, RunQuery | PlanTrial | Read | Correct
        )  # others are too short
        self._task = self._loop.create_task(self._finished(wanted))
        self._task.add_done_callback(self._ended)

    def cancel(self) -> None:
        """By a CancelRequest: the result is then a refusal."""
        if self._task is not None and self._can_be_cancelled:
            self._task.cancel()

    def close(self) -> None:
        """Nobody waits for a result any more."""
        self._is_closed = True
        if self._task is not None:
            self._task.cancel()

    async def _in_turn(self, function: Callable[P, T], *given: P.args, **named: P.kwargs) -> T:
        return await self._engine.in_turn(self._analyst, function, *given, **named)

    async def _finished(self, wanted: Wanted) -> None:
        result: Result
        match wanted:
            case RunQuery():
                result = await self._engine.run(self._analyst, wanted)
            case PlanTrial():
                result = await self._engine.trial(self._analyst, wanted)
            case Read():
                result = await self._in_turn(self._engine.read, wanted)
            case Look():
                result = await self._in_turn(pieces_of, self._engine, wanted)
            case LookPrepared():
                result = await self._in_turn(prepared_of, self._engine, wanted)
            case Correct():
                result = await self._engine.correct(self._analyst, wanted)
            case _:
                assert_never(wanted)
        self._task = None
        self._deliver(result)

    def _ended(self, task: asyncio.Task[None]) -> None:
        """A task that is cancelled before its first step runs none of its code, `except` neither."""
        if task.cancelled() and not self._is_closed:
            self._task = None
            self._deliver(_CANCELLED)
