"""What one statement has been charged, for the report of its end.

A variable of the context, as in `charged_token.py`: the ledger notes a charge where it is durable, and whoever
reports the statement reads it. A client may leave while its charge is on the way. Then the statement has ended,
and its charge is known later: `awaited` says until when.
"""

from __future__ import annotations

import asyncio
from contextlib import AbstractContextManager
from contextvars import ContextVar
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

from proxy.base.context_value import ContextValue


@dataclass(frozen=True, slots=True, kw_only=True)
class NotedCharge:
    """As the ledger has it. rho: None where the ledger prices the receipt by itself."""

    receipt: int
    epsilon: Fraction
    delta: Fraction
    rho: Fraction | None


@dataclass(slots=True)
class NotedCharges:
    """Of one statement. awaited: the charge that was on its way when its client left."""

    made: list[NotedCharge] = field(default_factory=list)
    awaited: asyncio.Task[Any] | None = None


_NOTED: ContextVar[NotedCharges | None] = ContextVar("noted charges", default=None)


def noting(charges: NotedCharges) -> AbstractContextManager[None]:
    """Charges that are made inside are noted there, also by tasks that outlive it."""
    return ContextValue(_NOTED, charges)


def note_charge(charge: NotedCharge) -> None:
    noted = _NOTED.get()
    if noted is not None:
        noted.made.append(charge)


def note_awaited(charging: asyncio.Task[Any]) -> None:
    noted = _NOTED.get()
    if noted is not None:
        noted.awaited = charging
