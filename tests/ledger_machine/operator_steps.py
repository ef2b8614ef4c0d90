"""Steps of a history: what operators do, on purpose or not."""

from __future__ import annotations

import copy
from dataclasses import replace
from datetime import timedelta
from fractions import Fraction
from typing import Any

from hypothesis import strategies as st
from hypothesis.stateful import precondition, rule

from proxy.accounting.amounts import Amount
from proxy.policy.policy_model import Period
from tests.ledger_machine.asked import (
    GAUSSIAN,
    PURE,
    AskedCharge,
    AskedClaim,
    AskedPart,
    Limit,
    Terms,
)
from tests.ledger_machine.happened import TokenMade, TokenRevoked
from tests.ledger_machine.machine_state import MachineState, Step
from tests.ledger_machine.steps import ADJUSTED, BY, PERIODS, POPULAR, TERMS, WHO
from tests.ledger_machine.tokens_spent import Person
from tests.ledger_model.two_ways import Cost, unpriced

_GROUPS = st.sampled_from([(), ("g",), ("h",), ("g", "h")])
_OF_BOTH = Limit(
    epsilon=2, delta=3, period=Period.DAY
)  # one pure charge and one with Gaussian noise


class OperatorSteps(MachineState):
    @rule(terms=TERMS)
    def change_policy(self, terms: Terms) -> None:
        self.write_terms(terms)

    @rule(period=PERIODS)
    def change_window(self, period: Period) -> None:
        known = self.model.terms
        self.write_terms(replace(known, default=replace(known.default, period=period)))

    def write_terms(self, terms: Terms) -> None:
        with Step(self):
            self.model.terms = terms
            self.model.committed(is_sure=True)
            self.ledger.write_terms(terms)
        self.compare()

    @rule(line=st.sampled_from(ADJUSTED), by=BY)
    def adjust(self, line: tuple[str, str], by: tuple[Fraction, Fraction, Fraction | None]) -> None:
        if line[0] == "table" and line[1] not in self.model.terms.tables:
            return  # which an operator cannot name
        epsilon, delta, rho = by
        zero = Fraction(0)
        cost = Cost(
            epsilon=epsilon,
            delta=delta,
            rho=unpriced(max(epsilon, zero), zero).rho if rho is None else rho,
            approx=max(delta, zero),
        )
        with Step(self):
            is_made = self.ledger.adjust(line, Amount(epsilon, delta), rho)
            expected = self.model.adjust(self.now, line, cost)
            assert is_made == expected, f"adjusted: {is_made}"
            if is_made:
                self.model.committed(is_sure=True)

    @rule(who=WHO, is_zcdp=st.booleans())
    def take_back_late(self, who: str, is_zcdp: bool) -> None:
        """What was spent on another day, of a budget that never renewed, and renews from then on."""
        known = replace(self.model.terms, is_zcdp=is_zcdp, analysts={})
        for period in (Period.NONE, Period.DAY):
            limit = replace(known.default, epsilon=20, delta=20, period=period)
            self.write_terms(replace(known, default=limit))
            if period is Period.NONE:
                self.one_charge(who, AskedPart(name=None))
                self.now += timedelta(days=1)
                if who in self.model.people:  # the line of who was never there may not be known
                    self.adjust(("analyst", who), (Fraction(-1, 2), Fraction(0), None))

    @rule(who=WHO)
    def both_noises(self, who: str) -> None:
        """Of a budget that is fresh: what epsilon admits, rho does not."""
        self.now += timedelta(days=1)
        known = self.model.terms
        self.write_terms(replace(known, is_zcdp=True, default=_OF_BOTH, analysts={}, groups={}))
        for price in (PURE, GAUSSIAN):
            self.one_charge(who, AskedPart(name=None, price=price))

    # People

    @rule(who=st.sampled_from(["a", "b"]), groups=_GROUPS)
    def remove_or_add(self, who: str, groups: tuple[str, ...]) -> None:
        with Step(self):
            person = self.model.people[who]
            if person.is_there:
                self.ledger.remove(who)
                self.model.people[who] = Person(person.number, False)
            else:
                self.model.people[who] = self.ledger.add(who, frozenset(groups))
            self.model.committed(is_sure=True)

    @rule(who=st.sampled_from(["a", "b"]), groups=_GROUPS)
    def leave_and_come(self, who: str, groups: tuple[str, ...]) -> None:
        """Asking when they are not there; the name is given to another."""
        self.ask_all(who)
        for _ in range(2):
            self.remove_or_add(who, groups)
            self.ask_all(who)

    def ask_all(self, who: str) -> None:
        """Alone and with others."""
        part = AskedPart(name=None)
        self.one_charge(who, part)
        self.one_claim(who, POPULAR)
        names = ("c", who, "c")
        self.charges([AskedCharge(who=one, part=part) for one in names], 0)
        self.claims([AskedClaim(who=one, parts=(POPULAR,)) for one in names], 0)

    @precondition(lambda self: len(self.model.tokens()) < 4)
    @rule(
        who=st.sampled_from(["a", "b"]),
        days=st.sampled_from([1, 30, 300]),
        limit=st.sampled_from(
            [
                *((None, None), (Fraction(1, 2), None), (Fraction(1), None), (Fraction(2), None)),
                *((Fraction(1), "hour"), (Fraction(1), "day"), (Fraction(2), "day")),
            ]
        ),
    )
    def make_token(self, who: str, days: int, limit: tuple[Fraction | None, str | None]) -> None:
        person = self.model.people[who]
        if not person.is_there:
            return
        with Step(self):
            most, per = limit
            token = self.ledger.make_token(who, days, most, per)
            until = self.now + timedelta(days=days)
            self.model.happened.append(TokenMade(token, who, person.number, most, until, per))
            self.model.committed(is_sure=True)

    @rule(
        who=st.sampled_from(["a", "b"]),
        prices=st.lists(st.sampled_from([0, 2, 3]), min_size=1, max_size=4),
        days=st.sampled_from([1, 2]),
        per=st.sampled_from([None, "hour", "day"]),
    )
    def spend_token(self, who: str, prices: list[int], days: int, per: str | None) -> None:
        """To its end, and once more when a window has ended or the token has expired."""
        self.make_token(who, days, (Fraction(1), per))
        if self.model.people[who].is_there:
            token = self.model.tokens()[-1].token
            for place, price in enumerate(prices):
                if place == 2:
                    self.now += timedelta(days=1)
                part = AskedPart(name=None, price=price)
                self.charges([AskedCharge(who=who, part=part, token=token)], 0)

    @precondition(lambda self: self.model.tokens())
    @rule(data=st.data())
    def revoke_token(self, data: Any) -> None:
        token = data.draw(st.sampled_from([one.token for one in self.model.tokens()]))
        if self.model.is_revoked(token):
            return
        with Step(self):
            self.ledger.revoke_token(token)
            self.model.happened.append(TokenRevoked(token))
            self.model.committed(is_sure=True)

    # Backups, and what is put back

    @precondition(lambda self: self.backup is None or self.model.commits > 20)
    @rule()
    def back_up(self) -> None:
        with Step(self):
            self.model.committed(is_sure=True)
            self.backup = copy.deepcopy(self.model, {id(one): one for one in self.model.happened})
        self.ledger.back_up()

    @precondition(lambda self: self.backup is not None)
    @rule(is_raw=st.booleans())
    def restore(self, is_raw: bool) -> None:
        """is_raw: the files of the server in place of a backup, which are refused where what was seen since is
        missing. Whoever served what was there is stopped."""
        assert self.backup is not None
        is_raw = is_raw and self.ledger.has_raw
        self.ledger.restore(is_raw=is_raw)
        boot = self.model.boot + 1
        self.model = copy.deepcopy(self.backup, {id(one): one for one in self.backup.happened})
        if is_raw:
            self.model.boot = boot
        else:
            self.model.restored()
        self.lost()
        self.ledger.at(self.now)
        self.ledger.write_terms(self.model.terms)
        self.ledger.begun()
        is_missing = self.marked is not None and self.marked not in self.model.happened
        assert self.ledger.is_refused() is (is_missing or not is_raw)
        self.ledger.accept()
        self.ledger.begun()
        self.marked_as_it_is()
        self.compare()

    @precondition(lambda self: self.model.receipts()[-1:] != [self.marked])
    @rule()
    def mark(self) -> None:
        self.ledger.follow_mark()
        self.marked_as_it_is()

    @precondition(lambda self: self.backup is not None and self.ledger.has_raw)
    @rule(who=WHO)
    def put_files_back(self, who: str) -> None:
        """When more has been charged since, and was seen."""
        self.one_charge(who, AskedPart(name=None))
        if self.model.receipts()[-1:] != [self.marked]:
            self.mark()
        self.restore(is_raw=True)

    # What nobody does

    @precondition(lambda self: self.crashes < self.ledger.most_crashes)
    @rule(data=st.data())
    def crash(self, data: Any) -> None:
        """Of the ledger's server. Processes that were drawing live on."""
        self.crash_with(data.draw(st.integers(0, self.model.unsure)))

    def crash_with(self, lasting: int) -> None:
        """lasting: how many of the commits that nobody waited for."""
        self.crashes += 1
        kept = self.ledger.crash(lasting)
        self.ledger.at(self.now)
        if kept is None:
            kept = self._kept()
        self.model.crash(kept)
        self.compare()

    def _kept(self) -> int:
        found = self.ledger.found()
        for kept in range(self.model.unsure + 1):
            model = copy.deepcopy(self.model)
            model.crash(kept)
            if model.standing() == found.standing and model.settled() == found.settled:
                return kept
        raise AssertionError("what is there after a crash was never there before")
