"""The ledger's decision: may this analyst spend this much now?

The rule that runs is SQL (proxy/ledger/ledger_schema/charges.sql), inside the transaction that holds the
locks. This is its model: tests compare the two over random histories.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import datetime
from fractions import Fraction

from proxy.accounting.amounts import Amount
from proxy.policy.policy_model import Period
from tests.ledger_model.windows import window_end, window_start

NONE = Amount(Fraction(0), Fraction(0))


@dataclass(frozen=True, slots=True)
class Balance:
    """What was spent in the current window. period None: no window has been opened yet."""

    period: Period | None = None
    window_start: datetime | None = None
    spent: Amount = NONE

    @property
    def renews_at(self) -> datetime | None:
        return window_end(self.period, self.window_start) if self.period else None


@dataclass(frozen=True, slots=True)
class Refused:
    """What is left, unchanged: of the analyst's budget, of everybody's; when the former renews."""

    own_left: Amount
    total_left: Amount
    renews_at: datetime | None


@dataclass(frozen=True, slots=True)
class Granted:
    """Both balances after the charge."""

    own: Balance
    total: Balance


def plus(one: Amount, other: Amount) -> Amount:
    return Amount(one.epsilon + other.epsilon, one.delta + other.delta)


def left_of(spent: Amount, limit: Amount) -> Amount:
    """What remains of a limit; never negative, even where a new policy lowered the limit."""
    return Amount(
        max(limit.epsilon - spent.epsilon, Fraction(0)),
        max(limit.delta - spent.delta, Fraction(0)),
    )


def in_window(
    known: Balance, period: Period, now: datetime, spent_since: Callable[[datetime | None], Amount]
) -> Balance:
    """The balance as it is at `now`.

    A window never begins earlier than the last one did, so a clock that goes back does not open one
    twice. A new window, or a policy with another period, adds the receipts up anew.
    """
    start = window_start(period, now)
    if known.period is period:
        unchanged = start is None or (
            known.window_start is not None and start <= known.window_start
        )
        if unchanged:
            return known
    return Balance(period, start, spent_since(start))


def decide(
    own: Balance, own_limit: Amount, total: Balance, total_limit: Amount, cost: Amount
) -> Granted | Refused:
    """
    Given    balances in their windows, the limits, the cost of one statement
    Gives    `Granted` with both charged, if the cost fits both in epsilon and in delta
    Source   basic composition: losses add up (Dwork, Roth 2014, theorem 3.16)
    """
    own_after, total_after = plus(own.spent, cost), plus(total.spent, cost)
    if own_after.fits(own_limit) and total_after.fits(total_limit):
        return Granted(replace(own, spent=own_after), replace(total, spent=total_after))
    return Refused(left_of(own.spent, own_limit), left_of(total.spent, total_limit), own.renews_at)
