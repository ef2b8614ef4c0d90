"""A history as far as it has come: the ledger beside the simple model."""

from __future__ import annotations

from fractions import Fraction
from types import TracebackType
from typing import Any, ClassVar

from hypothesis.stateful import RuleBasedStateMachine, initialize

from tests.ledger_machine.asked import (
    PUBLISHED,
    TOTAL,
    Answer,
    AskedCharge,
    AskedClaim,
    AskedPart,
    AskedRelease,
    Limit,
    ReleaseAnswer,
    Terms,
)
from tests.ledger_machine.compared import LINES
from tests.ledger_machine.driven_ledger import Drawing
from tests.ledger_machine.happened import PaidFor
from tests.ledger_machine.published import Releasing, publication
from tests.ledger_machine.published_model import PublishingModel
from tests.ledger_machine.steps import NOON, SLOTS, STATEMENTS, TERMS


class MachineState(RuleBasedStateMachine):
    """ledger: what is tested; set by a test. It is the model that says whether a step has changed anything."""

    ledger: ClassVar[Any]

    def __init__(self) -> None:
        super().__init__()
        self.now = NOON
        self.model = PublishingModel(
            Terms(default=Limit(epsilon=0, delta=0), total=Limit(epsilon=0, delta=0))
        )
        self.drawings: list[Drawing] = []
        self.releasing: list[Releasing] = []
        self.receipts: list[int] = []
        self.backup: PublishingModel | None = None
        self.marked: PaidFor | None = None
        self.shown: dict[int, str] = {}  # by the draw's place in what was begun
        self.displayed: dict[int, str] = {}  # by the receipt of a release
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

    # What is asked

    def claims(self, asked: list[AskedClaim], process: int) -> None:
        may_fail = any(one.token is not None for one in asked)
        with Step(self, claims=len(asked), may_fail=may_fail):
            given = self.ledger.claim_each(process, asked)
            self.claimed(asked, given)

    def claimed(self, asked: list[AskedClaim], given: list[tuple[Answer, list[Drawing]]]) -> None:
        answers = [answer for answer, _ in given]
        expected = self.model.claim_each(asked, self.now, answers)
        for (answer, drawings), of in zip(given, expected, strict=True):
            _same(answer, of)
            self.drawings += drawings
            self._charged(answer)

    def charges(self, asked: list[AskedCharge], process: int) -> None:
        is_safe = all(one.token is None and not one.is_unreadable for one in asked)
        with Step(self, may_fail=not is_safe):
            given = self.ledger.reserve_each(process, asked)
            expected = self.model.reserve_each(asked, self.now, given)
            for answer, of in zip(given, expected, strict=True):
                _same(answer, of)
                self._charged(answer)

    def one_claim(self, who: str, part: AskedPart, process: int = 0) -> None:
        self.claims([AskedClaim(who=who, parts=(part,))], process)

    def one_charge(self, who: str, part: AskedPart, process: int = 0) -> None:
        self.charges([AskedCharge(who=who, part=part)], process)

    def release(self, asked: AskedRelease, process: int) -> None:
        with Step(self):
            self.released(asked, self.ledger.publish(process, asked))
        self.compare_releases()

    def released(self, asked: AskedRelease, given: tuple[ReleaseAnswer, list[Releasing]]) -> None:
        answer, begun = given
        expected = self.model.publish(asked, self.now, answer)
        assert answer == expected, f"{answer} is not {expected}"
        self.releasing += begun

    def _charged(self, answer: Answer) -> None:
        if answer.receipt is not None:
            self.receipts.append(answer.receipt)

    # What was forgotten

    def marked_as_it_is(self) -> None:
        receipts = self.model.receipts()
        self.marked = receipts[-1] if receipts else None

    def lost(self) -> None:
        self.drawings.clear()
        self.releasing.clear()
        self.receipts = [one.receipt for one in self.model.receipts() if one.receipt is not None]
        self.shown.clear()
        self.displayed.clear()

    # Beside the model

    def compare(self) -> None:
        self.ledger.at(self.now)
        found = self.ledger.found()
        for line in LINES:
            one = self.model.spent(line, self.now)[0]
            expected = one.epsilon, one.delta, one.rho
            assert found.spent[line] == expected, f"{line}: {found.spent[line]} is not {expected}"
            if line[1] != PUBLISHED:  # whose window is not told
                assert found.renews[line] == self.model.renews(line, self.now), line
        standing = self.model.standing()
        assert found.standing == standing, f"{found.standing} is not {standing}"
        assert found.settled == self.model.settled()
        released = self.model.released()
        assert found.released == released, f"{found.released} is not {released}"
        spent = {one.token: self.model.spent_in_all(one.token) for one in self.model.tokens()}
        assert found.tokens == spent, f"{found.tokens} is not {spent}"

    def compare_releases(self) -> None:
        """As `dpproxy publish list` and the shadow have them."""
        wanted = [publication(name, sql, slot) for name, sql in STATEMENTS for slot in SLOTS]
        found = self.ledger.release_standings(wanted)
        expected = self.model.release_standings(wanted, self.now)
        assert found == expected, f"{found} is not {expected}"

    def teardown(self) -> None:
        try:
            if not self.is_broken:
                self._compare_all()
        finally:
            self.ledger.end()
            self._connected.__exit__(None, None, None)

    def _compare_all(self) -> None:
        self.compare()
        self.compare_releases()
        for row in (one.row for one in self.model.rows()):
            assert self.ledger.text_of(row) == self.model.text_of(row)
        assert self.ledger.receipts() == [
            (one.receipt, one.who, _epsilon(one, ("analyst", one.who)), _epsilon(one, TOTAL))
            for one in self.model.receipts()
            if one.who is not None
        ]
        problems = self.ledger.problems()
        assert problems == (), problems


class Step:
    """At the time of the clock; that it was waited for, where it had to be.

    claims: how many, in transactions each of which waits or not; may_fail: one of them
    """

    def __init__(self, machine: MachineState, *, claims: int = 0, may_fail: bool = False) -> None:
        self._machine = machine
        self._claims = claims
        self._may_fail = may_fail

    def __enter__(self) -> None:
        self._commits = self._machine.model.commits
        self._machine.ledger.at(self._machine.now)
        self._failing = self._machine.ledger.may_fail() if self._may_fail else None
        if self._failing is not None:
            self._failing.__enter__()

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._failing is not None:
            self._failing.__exit__(kind, error, trace)
        model = self._machine.model
        self._machine.is_broken |= error is not None
        if error is not None:
            return
        ledger = self._machine.ledger
        if self._claims:
            if ledger.committed_each(model.transactions):
                assert self._claims > 1, "it was waited for"
                model.committed(is_sure=True)
        elif model.commits != self._commits:
            waited = ledger.committed()
            assert waited in (None, model.unsure == 0), "it was not waited for"
        else:
            ledger.nothing_happened()


def _same(given: Answer, expected: Answer) -> None:
    assert given == expected, f"{given} is not {expected}"


def _epsilon(of: PaidFor, line: tuple[str, str | None]) -> Fraction:
    kind, name = line
    assert name is not None
    return of.costs[kind, name].epsilon
