"""The decision over several budgets: a charge is made to all of its lines or to none.

The rule that runs is SQL (proxy/ledger/ledger_schema/lines.sql); this is its model.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from fractions import Fraction

from proxy.accounting.amounts import Amount
from proxy.policy.policy_model import Period
from tests.ledger_model.balance import NONE, Balance, in_window, plus

Line = tuple[str, str]  # kind, name


@dataclass(slots=True)
class Lines:
    """limits: of each line that has one; payments: of each line, in order, adjustments among them."""

    limits: dict[Line, tuple[Amount, Period]] = field(default_factory=dict)
    balances: dict[Line, Balance] = field(default_factory=dict)
    payments: dict[Line, list[tuple[datetime, Amount]]] = field(default_factory=dict)

    def current(self, line: Line, now: datetime) -> Balance:
        _, period = self.limits.get(line, (None, Period.NONE))
        known = self.balances.get(line, Balance())

        def spent(since: datetime | None) -> Amount:
            result = NONE
            for at, amount in self.payments.get(line, ()):
                if since is None or at >= since:
                    more = plus(result, amount)
                    result = Amount(*(max(number, Fraction(0)) for number in more))
            return result

        return in_window(known, period, now, spent)

    def charge(self, costs: Mapping[Line, Amount], now: datetime) -> bool:
        """Whether it is granted, and then made."""
        after = {line: self._after(line, cost, now) for line, cost in costs.items()}
        for line, balance in after.items():
            if line in self.limits and not balance.spent.fits(self.limits[line][0]):
                return False
        self.balances.update(after)
        # Of no earlier time than the windows that it is charged in.
        at = max((now, *(one.window_start for one in after.values() if one.window_start)))
        for line, cost in costs.items():
            self.payments.setdefault(line, []).append((at, cost))
        return True

    def adjust(self, line: Line, by: Amount, now: datetime) -> bool:
        after = self._after(line, by, now)
        if min(after.spent) < 0:
            return False
        self.balances[line] = after
        begun = after.window_start
        at = now if begun is None else max(now, begun)
        self.payments.setdefault(line, []).append((at, by))
        return True

    def _after(self, line: Line, by: Amount, now: datetime) -> Balance:
        balance = self.current(line, now)
        return replace(balance, spent=plus(balance.spent, by))
