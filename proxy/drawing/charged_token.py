"""Who asks, through which token, and at which price at most: what a statement is charged to.

Variables of the context and not parameters: between the listener that has seen the analyst and the token and
the ledger that charges them stand planning, turns, caching and takeover, which have no business with it. Tasks
inherit them: a charge that is carried to its end although its client is gone is still the token's.
"""

from __future__ import annotations

from contextlib import AbstractContextManager
from contextvars import ContextVar
from fractions import Fraction

from proxy.base.context_value import ContextValue
from proxy.base.decimals import decimal_text
from proxy.base.errors import Code, Fault, Refusal
from proxy.mechanisms.loss import Loss

_ANALYST: ContextVar[str | None] = ContextVar("analyst", default=None)
_MOST: ContextVar[Fraction | None] = ContextVar("most epsilon", default=None)
_APPROVED: ContextVar[Fraction | None] = ContextVar("approved epsilon", default=None)
_TOKEN: ContextVar[int | None] = ContextVar("token", default=None)


def charging(token: int | None) -> AbstractContextManager[None]:
    """What is charged inside is charged to this token of the ledger, too; None: to none."""
    return ContextValue(_TOKEN, token)


def charged_at_most(epsilon: Fraction | None) -> AbstractContextManager[None]:
    """What may cost more is refused inside. None: whatever it costs."""
    return ContextValue(_MOST, epsilon)


def approved_up_to(epsilon: Fraction | None) -> AbstractContextManager[None]:
    """What may cost more is refused inside until a person has approved it. None: whatever it costs."""
    return ContextValue(_APPROVED, epsilon)


def refuse_dearer(loss: Loss) -> None:
    """Refuse a charge that is larger than its request allows, before it is made.

    Args:
        loss: The most that will be charged.

    Raises:
        Refusal: TOO_DEAR.
    """
    most = _MOST.get()
    if most is not None and loss.epsilon > most:
        cost = decimal_text(loss.epsilon)
        raise Refusal(
            Code.TOO_DEAR,
            f"it costs epsilon {cost}, above max_epsilon {decimal_text(most)}",
            f"Send it again with max_epsilon {cost}, or with a smaller epsilon, whose error is larger.",
        )
    approved = _APPROVED.get()
    if approved is not None and loss.epsilon > approved:
        raise Refusal(
            Code.TOO_DEAR,
            f"it costs epsilon {decimal_text(loss.epsilon)}: a person has to approve what costs more than"
            f" {decimal_text(approved)}",
            "Send it again with a smaller epsilon, whose error is larger; or ask with a client that can ask its"
            " user (elicitation).",
        )


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
