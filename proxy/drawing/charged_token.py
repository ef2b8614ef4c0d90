"""Who asks, and through which token: what a statement is charged to.

Variables of the context and not parameters: between the listener that has seen the analyst and the token and
the ledger that charges them stand planning, turns, caching and takeover, which have no business with it. Tasks
inherit them: a charge that is carried to its end although its client is gone is still the token's.
"""

from __future__ import annotations

from contextlib import AbstractContextManager
from contextvars import ContextVar

from proxy.base.context_value import ContextValue
from proxy.base.errors import Fault

_ANALYST: ContextVar[str | None] = ContextVar("analyst", default=None)
_TOKEN: ContextVar[int | None] = ContextVar("token", default=None)


def charging(token: int | None) -> AbstractContextManager[None]:
    """What is charged inside is charged to this token of the ledger, too; None: to none."""
    return ContextValue(_TOKEN, token)


def asking(analyst: str) -> AbstractContextManager[None]:
    """Whoever is charged inside, or shown what they have paid for, is this analyst."""
    return ContextValue(_ANALYST, analyst)


def refuse_another(analyst: str) -> None:
    """Refuse a charge in the name of another analyst than the one who asks.

    Raises:
        Fault: Somebody else asks, or nobody has said who does.
    """
    if _ANALYST.get() != analyst:
        raise Fault("a statement in the name of another analyst")


def charged_token() -> int | None:
    return _TOKEN.get()
