"""Histories: what people, operators, clocks and crashes do to a ledger, beside the simple model."""

from __future__ import annotations

import copy
from dataclasses import replace
from datetime import timedelta
from fractions import Fraction
from typing import Any, ClassVar

from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, precondition, rule

from proxy.accounting.amounts import Amount
from proxy.policy.policy_model import Period
from tests.ledger_machine.asked import (
    TOTAL,
    Answer,
    AskedPart,
    Limit,
    Terms,
)
from tests.ledger_machine.driven_ledger import LINES, TOO_LARGE, Drawing
from tests.ledger_machine.happened import PaidFor
from tests.ledger_machine.simple_model import Person, SimpleModel
from tests.ledger_machine.steps import (
    ADJUSTED,
    APART,
    BY,
    JUMPS,
    NOON,
    PARTS,
    PERIODS,
    POPULAR,
    TERMS,
    WHO,
)
from tests.ledger_model.two_ways import Cost, unpriced


class LedgerMachine(RuleBasedStateMachine):
    """ledger: what is tested; set by a test. It is the model that says whether a step has changed anything."""

    ledger: ClassVar[Any]

    def __init__(self) -> None:
        super().__init__()
        self.now = NOON
        self.model = SimpleModel(
            Terms(default=Limit(epsilon=0, delta=0), total=Limit(epsilon=0, delta=0))
        )
        self.drawings: list[Drawing] = []
        self.receipts: list[int] = []
        self.backup: SimpleModel | None = None
        self.marked: PaidFor | None = None
        self.shown: dict[int, str] = {}  # by the draw's place in what was begun
        self.texts = 0
        self.crashes = 0
        self.is_broken = False
        self._connected = self.ledger.connected()
        self._connected.__enter__()
        self.ledger.begin()

    @initialize(terms=TERMS)
    def begin(self, terms: Terms) -> None:
        self.ledger.at(self.now)
        self.model.terms = terms
        self.ledger.write_terms(terms)
        for who, groups in (("a", frozenset("g")), ("b", frozenset("gh"))):
            self.model.people[who] = self.ledger.add(who, groups)
        self.model.committed(is_sure=True)
        self.ledger.begun()

    # People

    @rule(
        who=WHO,
        parts=PARTS,
        process=st.integers(0, 1),
        may_draw=st.sampled_from([True, True, False]),
    )
    def claim(self, who: str, parts: tuple[AskedPart, ...], process: int, may_draw: bool) -> None:
        with _Step(self):
            given, drawings = self.ledger.claim(process, who, parts, may_draw=may_draw)
            self._same(given, self.model.claim(who, parts, self.now, may_draw, given))
            self._began(given, drawings)

    @rule(who=WHO, process=st.integers(0, 1))
    def ask(self, who: str, process: int) -> None:
        """What all ask."""
        self.claim(who, (POPULAR,), process, True)

    @rule(who=WHO, process=st.integers(0, 1), times=st.integers(1, 5))
    def ask_late(self, who: str, process: int, times: int) -> None:
        """Each time when the lease of whoever was drawing has ended."""
        for _ in range(times):
            self.now += timedelta(seconds=61)
            self.ask(who, process)

    @rule(who=WHO, jump=st.sampled_from(JUMPS))
    def there_and_back(self, who: str, jump: timedelta) -> None:
        for step in (timedelta(0), jump, -jump):
            self.now += step
            self.reserve(who, AskedPart(name=None), 0)
        self._compare()

    @precondition(lambda self: self.ledger.is_concurrent)
    @rule(first=st.tuples(WHO, PARTS), second=st.tuples(WHO, PARTS))
    def claims_at_once(
        self, first: tuple[str, tuple[AskedPart, ...]], second: tuple[str, tuple[AskedPart, ...]]
    ) -> None:
        """By two processes: the second begins while the first is at its end, not committed."""
        with _Step(self):
            both = self.ledger.at_once(first, second)
            for (who, parts), (given, drawings) in zip((first, second), both, strict=True):
                self._same(given, self.model.claim(who, parts, self.now, True, given))
                self._began(given, drawings)

    @rule(who=WHO, part=APART, process=st.integers(0, 1))
    def reserve(self, who: str, part: AskedPart, process: int) -> None:
        with _Step(self):
            given = self.ledger.reserve(process, who, part)
            self._same(given, self.model.reserve(who, part, self.now, given))
            self._began(given, [])

    @precondition(lambda self: self.drawings)
    @rule(
        data=st.data(),
        is_too_large=st.sampled_from([False, False, False, True]),
        again=st.booleans(),
    )
    def finish(self, data: Any, is_too_large: bool, again: bool) -> None:
        """Whoever began a draw, however long ago: what has taken long may be finished by several. again: one of
        them comes back."""
        drawing = data.draw(st.sampled_from(self.drawings))
        self.texts += 1
        text = f"text {self.texts}" + "." * (TOO_LARGE if is_too_large else 0)
        with _Step(self):
            begun = [n for n, one in enumerate(self.model.begun()) if one.row == drawing.row]
            expected = self.model.finish(
                drawing.row, drawing.holder, text, is_too_large=is_too_large
            )
            shown = self.ledger.finish(drawing, text)
            assert shown == expected, (shown, expected)
            if shown is not None:
                known = self.shown.setdefault(begun[-1], shown)
                assert shown == known, "two draws were shown of one charge"
            self.drawings.remove(drawing)

    @precondition(lambda self: self.drawings)
    @rule(data=st.data())
    def let_go(self, data: Any) -> None:
        drawing = data.draw(st.sampled_from(self.drawings))
        with _Step(self):
            self.model.let_go(drawing.row, drawing.holder)
            self.ledger.let_go(drawing)
            self.drawings.remove(drawing)

    @precondition(lambda self: self.receipts)
    @rule(data=st.data(), answered=st.booleans())
    def settle(self, data: Any, answered: bool) -> None:
        receipt = data.draw(st.sampled_from(self.receipts))
        with _Step(self):
            self.model.settle(receipt, "answered" if answered else "failed")
            self.ledger.settle(receipt, answered=answered)

    # Operators

    @rule(terms=TERMS)
    def change_policy(self, terms: Terms) -> None:
        with _Step(self):
            self._write(terms)
        self._compare()

    @rule(period=PERIODS)
    def change_window(self, period: Period) -> None:
        known = self.model.terms
        with _Step(self):
            self._write(replace(known, default=replace(known.default, period=period)))
        self._compare()

    def _write(self, terms: Terms) -> None:
        self.model.terms = terms
        self.model.committed(is_sure=True)
        self.ledger.write_terms(terms)

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
        with _Step(self):
            is_made = self.ledger.adjust(line, Amount(epsilon, delta), rho)
            expected = self.model.adjust(self.now, line, cost)
            assert is_made == expected, f"adjusted: {is_made}"
            if is_made:
                self.model.committed(is_sure=True)

    @rule(who=st.sampled_from(["a", "b"]), groups=st.sampled_from([(), ("g",), ("h",), ("g", "h")]))
    def remove_or_add(self, who: str, groups: tuple[str, ...]) -> None:
        with _Step(self):
            person = self.model.people[who]
            if person.is_there:
                self.ledger.remove(who)
                self.model.people[who] = Person(person.number, False)
            else:
                self.model.people[who] = self.ledger.add(who, frozenset(groups))
            self.model.committed(is_sure=True)

    @precondition(lambda self: self.backup is None or self.model.commits > 20)
    @rule()
    def back_up(self) -> None:
        with _Step(self):
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
        self._lost()
        self.ledger.at(self.now)
        self.ledger.write_terms(self.model.terms)
        self.ledger.begun()
        is_missing = self.marked is not None and self.marked not in self.model.happened
        assert self.ledger.is_refused() is (is_missing or not is_raw)
        self.ledger.accept()
        self.ledger.begun()
        self._marked()
        self._compare()

    @precondition(lambda self: self.model.receipts()[-1:] != [self.marked])
    @rule()
    def mark(self) -> None:
        self.ledger.follow_mark()
        self._marked()

    # What nobody does

    @rule(jump=st.sampled_from(JUMPS), is_back=st.sampled_from([False, False, True]))
    def clock_jumps(self, jump: timedelta, is_back: bool) -> None:
        self.now += -jump if is_back else jump
        self._compare()

    @precondition(lambda self: self.crashes < self.ledger.most_crashes)
    @rule(data=st.data())
    def crash(self, data: Any) -> None:
        """Of the ledger's server. Processes that were drawing live on."""
        self.crashes += 1
        kept = self.ledger.crash(data.draw(st.integers(0, self.model.unsure)))
        self.ledger.at(self.now)
        if kept is None:
            kept = self._kept()
        self.model.crash(kept)
        self._compare()

    def _kept(self) -> int:
        standing, settled = self.ledger.standing(), self.ledger.settled()
        for kept in range(self.model.unsure + 1):
            model = copy.deepcopy(self.model)
            model.crash(kept)
            if model.standing() == standing and model.settled() == settled:
                return kept
        raise AssertionError("what is there after a crash was never there before")

    # Beside the model

    def _same(self, given: Answer, expected: Answer) -> None:
        assert given == expected, f"{given} is not {expected}"

    def _began(self, given: Answer, drawings: list[Drawing]) -> None:
        self.drawings += drawings
        if given.receipt is not None:
            self.receipts.append(given.receipt)

    def _marked(self) -> None:
        receipts = self.model.receipts()
        self.marked = receipts[-1] if receipts else None

    def _lost(self) -> None:
        self.drawings.clear()
        self.receipts = [one.receipt for one in self.model.receipts() if one.receipt is not None]
        self.shown.clear()

    def _compare(self) -> None:
        self.ledger.at(self.now)
        spent = self.ledger.spent()
        for line in LINES:
            one = self.model.spent(line, self.now)[0]
            expected = one.epsilon, one.delta, one.rho
            assert spent[line] == expected, f"{line}: {spent[line]} is not {expected}"
        standing, modelled = self.ledger.standing(), self.model.standing()
        assert standing == modelled, f"{standing} is not {modelled}"
        assert self.ledger.settled() == self.model.settled()
        for row in (one.row for one in self.model.rows()):
            assert self.ledger.text_of(row) == self.model.text_of(row)

    def teardown(self) -> None:
        try:
            if self.is_broken:
                return
            self._compare()
            assert self.ledger.receipts() == [
                (one.who, one.costs["analyst", one.who].epsilon, one.costs[TOTAL].epsilon)
                for one in self.model.receipts()
                if one.who is not None
            ]
            problems = self.ledger.problems()
            assert problems == (), problems
        finally:
            self.ledger.end()
            self._connected.__exit__(None, None, None)


class _Step:
    """One transaction, at the time of the clock; that it was waited for, where it had to be."""

    def __init__(self, machine: LedgerMachine) -> None:
        self._machine = machine

    def __enter__(self) -> None:
        self._commits = self._machine.model.commits
        self._machine.ledger.at(self._machine.now)

    def __exit__(self, *error: Any) -> None:
        model = self._machine.model
        self._machine.is_broken |= error[0] is not None
        if error[0] is None and model.commits != self._commits:
            waited = self._machine.ledger.committed()
            assert waited in (None, model.unsure == 0), "it was not waited for"
