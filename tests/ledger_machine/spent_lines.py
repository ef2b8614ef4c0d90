"""Who has paid what, and who may pay more, from the list of what has happened and nothing else: no balances and
no windows are kept. Each question reads the whole list anew.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime, timezone
from fractions import Fraction

from proxy.policy.policy_model import Period
from tests.ledger_machine.asked import Line, Terms
from tests.ledger_machine.happened import Happened, Opened, PaidFor
from tests.ledger_model.two_ways import Cost, fits
from tests.ledger_model.windows import window_end, window_start

SpentLines = tuple[tuple[str, str, Fraction, Fraction, Fraction], ...]
_KINDS = ("analyst", "group", "table", "total")
_FIRST = datetime(1, 1, 1, tzinfo=timezone.utc)


class Budgets:
    """Who has paid what, and who may pay more."""

    def __init__(self, terms: Terms) -> None:
        self.terms = terms
        self.happened: list[Happened] = []
        self._answered: tuple[int, Terms, datetime] | None = None
        self._answers: dict[Line, tuple[Cost, Opened | None]] = {}

    def spent(self, line: Line, at: datetime) -> tuple[Cost, Opened | None]:
        """In the window of that time; and the window, where none is open yet.

        A window that is open stays so while the clock goes back: what is paid meanwhile is paid in it. What was
        taken back before it opened is no credit in it.
        """
        state = len(self.happened), self.terms, at
        if self._answered != state:  # the same is asked several times in one step
            self._answered = state
            self._answers.clear()
        known = self._answers.get(line)
        if known is None:
            known = self._answers[line] = self._spent(line, at)
        return known

    def _spent(self, line: Line, at: datetime) -> tuple[Cost, Opened | None]:
        most = self.terms.of(line)
        period = Period.NONE if most is None else most.period
        start = window_start(period, at) or _FIRST
        opened = [
            (place, one)
            for place, one in enumerate(self.happened)
            if isinstance(one, Opened) and one.line == line
        ]
        new: Opened | None = Opened(line, period, start)
        since = len(self.happened)
        if opened and opened[-1][1].period is period and start <= opened[-1][1].start:
            since, start, new = opened[-1][0], opened[-1][1].start, None
        spent = Cost()
        for place, one in enumerate(self.happened):
            if (
                isinstance(one, PaidFor)
                and line in one.costs
                and (place > since or one.at >= start)
            ):
                spent += one.costs[line]
                if one.who is None:  # of what was taken back
                    spent = replace(
                        spent,
                        epsilon=max(spent.epsilon, Fraction(0)),
                        delta=max(spent.delta, Fraction(0)),
                        rho=max(spent.rho, Fraction(0)),
                    )
        return spent, new

    def renews(self, line: Line, at: datetime) -> datetime | None:
        """When the window ends that is open at that time; None: never."""
        window = self.spent(line, at)[1] or self._opened(line)[-1]
        return window_end(window.period, window.start)

    def pay(
        self, at: datetime, who: str, costs: Mapping[Line, Cost], receipt: int | None
    ) -> PaidFor | None:
        if not self.fit(at, costs):
            return None
        windows = (self.spent(line, at)[1] or self._opened(line)[-1] for line in costs)
        moment = max((at, *(one.start for one in windows)))
        return self._paid(PaidFor(moment, who, costs, receipt), now=at)

    def fit(self, at: datetime, costs: Mapping[Line, Cost]) -> bool:
        for line, cost in costs.items():
            most = self.terms.most(line)
            if most is not None and not fits(self.spent(line, at)[0] + cost, most):
                return False
        return True

    def lines_of(self, costs: Mapping[Line, Cost], at: datetime) -> SpentLines:
        """What is spent of those of them that have a limit, in the order in which they are told."""
        found = []
        for kind, name in sorted(costs, key=lambda line: (_KINDS.index(line[0]), line[1])):
            if self.terms.of((kind, name)) is not None:
                spent = self.spent((kind, name), at)[0]
                found.append((kind, name, spent.epsilon, spent.delta, spent.rho))
        return tuple(found)

    def _opened(self, line: Line) -> list[Opened]:
        return [one for one in self.happened if isinstance(one, Opened) and one.line == line]

    def adjust(self, at: datetime, line: Line, by: Cost) -> bool:
        spent, new = self.spent(line, at)
        after = spent + by
        if min(after.epsilon, after.delta, after.rho) < 0:
            return False
        window = new or self._opened(line)[-1]
        self._paid(PaidFor(max(at, window.start), None, {line: by}, None), now=at)
        return True

    def _paid(self, paid: PaidFor, now: datetime) -> PaidFor:
        for line in paid.costs:
            new = self.spent(line, now)[1]
            if new is not None:
                self.happened.append(new)
        self.happened.append(paid)
        return paid

    def receipts(self) -> list[PaidFor]:
        return [one for one in self.happened if isinstance(one, PaidFor) and one.who is not None]
