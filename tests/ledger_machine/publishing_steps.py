"""Steps of a history: what a policy publishes, by any process, to its end or not."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import Any

from hypothesis import strategies as st
from hypothesis.stateful import precondition, rule

from tests.ledger_machine.asked import GAUSSIAN, LAPLACE, THIRD, AskedClaim, AskedRelease
from tests.ledger_machine.machine_state import MachineState, Step
from tests.ledger_machine.published import Releasing
from tests.ledger_machine.steps import CLAIMS, PAUSES, PROCESS, RELEASES


class PublishingSteps(MachineState):
    """Who is killed in the middle of a release does nothing more, as whoever goes on with one later lives."""

    @rule(asked=RELEASES, process=PROCESS)
    def publish(self, asked: AskedRelease, process: int) -> None:
        self.release(asked, process)

    @rule(asked=RELEASES, times=st.integers(1, 3), pause=st.sampled_from(PAUSES))
    def publish_late(self, asked: AskedRelease, times: int, pause: timedelta) -> None:
        """Each time by the other process, when what was begun may be taken over."""
        for time in range(times):
            self.now += pause
            self.release(asked, time % 2)

    @rule(asked=RELEASES, prices=st.permutations((THIRD, GAUSSIAN, LAPLACE)))
    def change_the_noise(self, asked: AskedRelease, prices: list[int]) -> None:
        """The policy has other noise, of the same epsilon, when what was begun is taken over."""
        before, after, _ = prices
        self.release(replace(asked, price=before), 0)
        self.now += timedelta(seconds=61)
        self.release(replace(asked, price=after), 1)
        self.compare()

    @rule(asked=RELEASES, does=st.sampled_from(["hold", "let go", "store"]))
    def lose_a_release(self, asked: AskedRelease, does: str) -> None:
        """To the other process, and come back."""
        before = len(self.releasing)
        self.release(asked, 0)
        mine = self.releasing[before:]
        self.now += timedelta(seconds=61)
        self.release(asked, 1)
        for one in mine:
            match does:
                case "hold":
                    self._hold(one)
                case "let go":
                    self._let_go_of(one, 5)
                case _:
                    self.store(one, is_table=True)
        self.compare()
        self.release(asked, 0)

    @rule(asked=RELEASES, is_table=st.booleans(), process=PROCESS)
    def publish_whole(self, asked: AskedRelease, is_table: bool, process: int) -> None:
        """And once more, for nothing."""
        before = len(self.releasing)
        self.release(asked, process)
        for one in self.releasing[before:]:
            self.store(one, is_table=is_table)
        self.release(asked, 1 - process)
        self.compare()

    @precondition(lambda self: self.ledger.is_concurrent)
    @rule(first=RELEASES, second=RELEASES)
    def publish_at_once(self, first: AskedRelease, second: AskedRelease) -> None:
        with Step(self):
            both = self.ledger.at_once(
                lambda: self.ledger.publish(0, first), lambda: self.ledger.publish(1, second)
            )
            for asked, given in zip((first, second), both, strict=True):
                self.released(asked, given)
        self.compare_releases()

    @precondition(lambda self: self.ledger.is_concurrent)
    @rule(first=RELEASES, second=CLAIMS)
    def publish_beside_claims(self, first: AskedRelease, second: list[AskedClaim]) -> None:
        with Step(self):
            given, claimed = self.ledger.at_once(
                lambda: self.ledger.publish(0, first), lambda: self.ledger.claim_each(1, second)
            )
            self.released(first, given)
            self.claimed(second, claimed)

    @precondition(lambda self: self.releasing)
    @rule(data=st.data(), is_table=st.sampled_from([True, True, False]), again=st.booleans())
    def store_release(self, data: Any, is_table: bool, again: bool) -> None:
        """Whoever began it, however long ago. again: they come back."""
        one = data.draw(st.sampled_from(self.releasing))
        self.store(one, is_table=is_table)
        if not again:
            self.releasing.remove(one)
        self.compare_releases()

    def store(self, one: Releasing, *, is_table: bool) -> None:
        self.texts += 1
        block = f"block {self.texts}"
        table = f"table {self.texts}" if is_table else None
        with Step(self):
            expected = self.model.store_release(one.row, self.now, table, block)
            is_stored = self.ledger.store_release(one, table, block)
            assert is_stored == expected, f"stored: {is_stored}"
            if is_stored:
                known = self.displayed.setdefault(one.receipt, block)
                assert known == block, "two releases stand of one charge"
        displayed = self.model.released().get(one.row)
        assert self.ledger.table_of(one.row) == (None if displayed is None else displayed[8])

    @precondition(lambda self: self.releasing)
    @rule(data=st.data())
    def hold_release(self, data: Any) -> None:
        self._hold(data.draw(st.sampled_from(self.releasing)))

    def _hold(self, one: Releasing) -> None:
        with Step(self):
            expected = self.model.hold_release(one.row, one.claim.holder, self.now)
            assert self.ledger.hold_release(one) == expected

    @precondition(lambda self: self.releasing)
    @rule(data=st.data(), pause=st.sampled_from([5, 10, 3600]))
    def let_go_release(self, data: Any, pause: int) -> None:
        self._let_go_of(data.draw(st.sampled_from(self.releasing)), pause)

    def _let_go_of(self, one: Releasing, pause: int) -> None:
        with Step(self):
            self.model.let_go_release(one.row, one.claim.holder, self.now, pause)
            self.ledger.let_go_release(one, pause)
