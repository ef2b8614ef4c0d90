"""The time that a statement may take, and what is said where it takes longer."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Coroutine
from typing import Any, TypeVar

from proxy.base.errors import Code, Refusal

T = TypeVar("T")


async def within(seconds: float | None, work: Coroutine[Any, Any, T], hint: str) -> T:
    """
    Refuses  CANCELLED: a matter of the clock and of what the analyst chose, whatever the server was doing
    """
    if seconds is None:
        return await work
    try:
        if sys.version_info >= (3, 11):  # no task of its own, as wait_for by 3.12
            async with asyncio.timeout(seconds):
                return await work
        return await asyncio.wait_for(work, seconds)
    except asyncio.TimeoutError:
        raise Refusal(
            Code.CANCELLED, "canceling statement due to statement timeout", hint
        ) from None


NOT_CHARGED = "Nothing was charged. Raise statement_timeout or try again later."


def stays_charged(floor: float) -> str:
    return (
        "What it cost stays charged. Raise statement_timeout or query less data; less than"
        f" {floor:g} s is treated as {floor:g} s where protected tables are read."
    )
