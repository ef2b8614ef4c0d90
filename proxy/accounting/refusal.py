"""What an analyst is told when the budget does not suffice."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from proxy.accounting.amounts import Amount, text
from proxy.base.errors import Code, Refusal


@dataclass(frozen=True, slots=True)
class Refused:
    """What is left, unchanged: of the analyst's budget, of everybody's; when the former renews."""

    own_left: Amount
    total_left: Amount
    renews_at: datetime | None


def over_budget(analyst: str, cost: Amount, refused: Refused) -> Refusal:
    """Names the budget that falls short, what is left of it, and when it renews.

    It depends on charges only, never on data.
    """
    own_falls_short = not cost.fits(refused.own_left)
    left = refused.own_left if own_falls_short else refused.total_left
    whose = f'the privacy budget of "{analyst}"' if own_falls_short else "the shared privacy budget"
    message = f"{whose} does not cover this statement: it costs {_pair(cost)}, but only {_pair(left)} remains"
    if own_falls_short and refused.renews_at is not None:
        hint = f"The budget renews at {_moment(refused.renews_at)}."
    else:
        hint = "This budget does not renew. The data owner can raise it in the policy."
    return Refusal(Code.OVER_BUDGET, message, hint + _cheaper(cost, left))


def over_token(left: str) -> Refusal:
    """left: of the token's epsilon, as the ledger prints it."""
    return Refusal(
        Code.OVER_BUDGET,
        f"the token does not cover this statement: only epsilon {left} of it remains",
        "A smaller dp.epsilon costs less; or ask for a token with a larger one.",
    )


def token_is_over() -> Refusal:
    """Meanwhile it was revoked, or has expired, or its analyst was removed."""
    return Refusal(
        Code.PROTECTED,
        "the token is not valid any more",
        "It was revoked or has expired: ask for another one.",
    )


def _cheaper(cost: Amount, left: Amount) -> str:
    """What a smaller choice changes: of that which falls short, and nothing where no epsilon is left."""
    if left.epsilon == 0:
        return ""
    smaller = []
    if cost.epsilon > left.epsilon:
        smaller.append("A smaller dp.epsilon costs less.")
    if cost.delta > left.delta:
        delta = "dp.delta = 0" if left.delta == 0 else "A smaller dp.delta"
        smaller.append(f"{delta} costs {'no delta' if left.delta == 0 else 'less'}.")
    return "".join(f" {sentence}" for sentence in smaller)


def _pair(amount: Amount) -> str:
    return f"epsilon {text(amount.epsilon)}, delta {text(amount.delta)}"


def _moment(moment: datetime) -> str:
    return f"{moment:%Y-%m-%d %H:%M} UTC"
