"""What takes long runs in a thread, so that other sessions go on meanwhile.

What an analyst causes takes a turn: one job of an analyst at a time (AnalystTurns). The analyst is a variable
of the context, as each job of an answer would need it as a parameter otherwise. Tasks inherit it.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import AbstractContextManager
from contextvars import ContextVar
from typing import TypeVar

from typing_extensions import ParamSpec

from proxy.base.context_value import ContextValue
from proxy.turns.fair_share import AnalystTurns

AT_ONCE = 5_000  # numbers, some 5 to 12 ms in which no other session moves

P = ParamSpec("P")
T = TypeVar("T")

_TURN: ContextVar[tuple[str, AnalystTurns] | None] = ContextVar("turn", default=None)


async def beside(work: int, function: Callable[P, T], *given: P.args, **named: P.kwargs) -> T:
    """
    Given    work: in numbers handled
    """
    if work <= AT_ONCE:
        return function(*given, **named)
    return await in_thread(function, *given, **named)


async def in_thread(function: Callable[P, T], *given: P.args, **named: P.kwargs) -> T:
    """Run a function in a thread, in the analyst's turn if `turns_of` names an analyst."""
    turn = _TURN.get()
    if turn is None:
        return await asyncio.to_thread(function, *given, **named)
    analyst, turns = turn
    return await turns.run(analyst, function, *given, **named)


def turns_of(analyst: str, turns: AnalystTurns) -> AbstractContextManager[None]:
    """Jobs that are started inside take turns of this analyst."""
    return ContextValue(_TURN, (analyst, turns))
