"""What takes long runs in a thread, so that other sessions go on meanwhile."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import TypeVar

from typing_extensions import ParamSpec

_AT_ONCE = 5_000  # numbers, some 5 to 12 ms in which no other session moves

P = ParamSpec("P")
T = TypeVar("T")


async def beside(work: int, function: Callable[P, T], *given: P.args, **named: P.kwargs) -> T:
    """
    Given    work: in numbers handled
    """
    if work <= _AT_ONCE:
        return function(*given, **named)
    return await asyncio.to_thread(function, *given, **named)
