"""The time that a statement may take before it is charged, by the analyst's statement_timeout.

After the charge nothing that an analyst can set ends it: whether it ends in time may depend on one person's
rows, and an error says that without noise, whatever epsilon is.
"""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Coroutine
from contextvars import ContextVar
from typing import Any, TypeVar

from proxy.base.errors import Code, Fault, Refusal

T = TypeVar("T")

_IS_LIMITED: ContextVar[bool] = ContextVar("is_limited", default=False)
_NOT_CHARGED = "Nothing was charged. Raise statement_timeout or try again later."


async def before_charge(seconds: float | None, work: Coroutine[Any, Any, T]) -> T:
    """
    Given    seconds: None where there is no statement_timeout, or the statement is charged already
    Refuses  CANCELLED: a matter of the clock and of what the analyst chose; nothing was charged
    """
    if seconds is None:
        return await work
    before = _IS_LIMITED.set(True)
    try:
        if sys.version_info >= (3, 11):  # no task of its own, as wait_for by 3.12
            async with asyncio.timeout(seconds):
                return await work
        return await asyncio.wait_for(work, seconds)
    except asyncio.TimeoutError:
        raise Refusal(
            Code.CANCELLED, "canceling statement due to statement timeout", _NOT_CHARGED
        ) from None
    finally:
        _IS_LIMITED.reset(before)


def refuse_limited() -> None:
    """Refuse to read protected rows while a client's timeout could end that.

    Raises:
        Fault: A timeout of the client runs.
    """
    if _IS_LIMITED.get():
        raise Fault("a charged statement under a timeout of its client")
