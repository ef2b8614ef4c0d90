"""What an analyst is told when a budget does not suffice, or is nearly spent."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timezone

from typing_extensions import assert_never

from proxy.accounting.amounts import Amount, text
from proxy.accounting.budget_lines import STEPS, BudgetLine, LineKind, as_reported
from proxy.base.errors import Code, Refusal

_REPEATED = "A question that you were shown the answer of in this slot costs nothing."


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownAnswers:
    """Cached answers that an analyst was shown, and can see again.

    Attributes:
        until: When their slot ends, UTC.
    """

    count: int
    until: datetime

    def text(self) -> str:
        """
        >>> from datetime import timezone
        >>> ShownAnswers(count=2, until=datetime(2026, 11, 27, tzinfo=timezone.utc)).text()
        'You were shown 2 answers that cost nothing until 2026-11-27 00:00 UTC; dp.history lists what you ran.'
        """
        if self.count == 0:
            return "You were shown none yet."
        answers = "1 answer that costs" if self.count == 1 else f"{self.count} answers that cost"
        until = f"{self.until.astimezone(timezone.utc):%Y-%m-%d %H:%M} UTC"
        return f"You were shown {answers} nothing until {until}; dp.history lists what you ran."


def with_shown(refusal: Refusal, shown: ShownAnswers) -> Refusal:
    """Tell an analyst whose budget does not suffice what they can see again at no cost."""
    hint = f"{refusal.hint} {shown.text()}"
    return Refusal(
        *(refusal.code, refusal.message, hint, refusal.position), retry_after=refusal.retry_after
    )


def over_budget(lines: tuple[BudgetLine, ...], *, is_cached: bool = False) -> Refusal:
    """Names the budget that falls short, what is left of it, when it renews, and what costs it less or nothing.
    Of several that fall short the one that does so for longest.

    It depends on charges only, never on data.

    Given    is_cached: whether answers are cached for slots of time
    """
    short = [line for line in as_reported(lines, is_cached=is_cached) if line.falls_short]
    assert short, "something falls short of what is refused"
    waits = [line.wait for line in short]
    if None in waits:
        line, retry_after = short[waits.index(None)], None
    else:
        retry_after = max(wait for wait in waits if wait is not None)
        line = short[waits.index(retry_after)]
    message = (
        f"{line.whose} does not cover this statement: it costs {_pair(line.cost)}, but only {_pair(line.left)}"
        " remains"
    )
    hint = _renewal(line) + _cheaper(line.cost, line.left)
    if is_cached:
        hint = f"{hint} {_cached(line.kind)}"
    return Refusal(Code.OVER_BUDGET, message, hint, retry_after=retry_after)


def nearly_spent(line: BudgetLine) -> str:
    """A warning, of a budget of which much is spent."""
    renewal = "It does not renew." if line.renews_at is None else _renews(line.renews_at)
    return (
        f"differential privacy: {int(line.used * 100)} % of {line.whose} is spent:"
        f" epsilon {text(line.spent.epsilon)} of {text(line.limit.epsilon)},"
        f" delta {text(line.spent.delta)} of {text(line.limit.delta)}. {renewal}"
    )


def _renewal(line: BudgetLine) -> str:
    if line.renews_at is None:
        return "This budget does not renew. The data owner can raise it in the policy."
    if line.wait is None:
        whole = f"of {_pair(line.limit)}"
        return f"{_renews(line.renews_at)} Waiting does not help: it is more than the whole budget {whole}."
    return _renews(line.renews_at)


def _renews(moment: datetime) -> str:
    return f"The budget renews at {moment:%Y-%m-%d %H:%M} UTC."


def over_token(
    left: str, *, renews_at: datetime | None, renews_in: int | None, fits_fresh: bool
) -> Refusal:
    """left: of the token's epsilon in its window, as the ledger prints it; the others: as of BudgetLine."""
    hint = "A smaller dp.epsilon costs less; or ask for a token with a larger one."
    if renews_at is not None:
        hint = f"The token's epsilon renews at {renews_at:%Y-%m-%d %H:%M} UTC. {hint}"
    return Refusal(
        Code.OVER_BUDGET,
        f"the token does not cover this statement: only epsilon {left} of it remains",
        hint,
        retry_after=renews_in if fits_fresh else None,
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


def _cached(kind: LineKind) -> str:
    """Which cached answers cost this budget nothing. It says nothing about whether there are any."""
    match kind:
        case LineKind.ANALYST:
            return _REPEATED
        case LineKind.GROUP | LineKind.TABLE | LineKind.TOTAL:
            steps = f"in steps of {100 // STEPS} %"
            return f"{_REPEATED} What is left of a budget that others share is told {steps}."
        case _:
            assert_never(kind)


def _pair(amount: Amount) -> str:
    return f"epsilon {text(amount.epsilon)}, delta {text(amount.delta)}"
