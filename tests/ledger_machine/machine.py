"""Histories: what people, operators, clocks and crashes do to a ledger, beside the simple model."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from fractions import Fraction
from typing import Any

from hypothesis import strategies as st
from hypothesis.stateful import precondition, rule

from tests.ledger_machine.asked import (
    GAUSSIAN,
    LAPLACE,
    THIRD,
    TOTAL,
    AskedCharge,
    AskedClaim,
    AskedPart,
    AskedRelease,
)
from tests.ledger_machine.driven_ledger import TOO_LARGE, Drawing
from tests.ledger_machine.machine_state import MachineState, Step
from tests.ledger_machine.operator_steps import OperatorSteps
from tests.ledger_machine.published import Releasing
from tests.ledger_machine.steps import (
    APART,
    CHARGES,
    CLAIMS,
    JUMPS,
    OFTEN_NOT,
    OTHER,
    PARTS,
    PAUSES,
    POPULAR,
    PROCESS,
    RELEASES,
    WHO,
)


class AskingSteps(MachineState):
    @rule(who=WHO, parts=PARTS, process=PROCESS, may_draw=st.sampled_from([True, True, False]))
    def claim(self, who: str, parts: tuple[AskedPart, ...], process: int, may_draw: bool) -> None:
        self.claims([AskedClaim(who=who, parts=parts, may_draw=may_draw)], process)

    @rule(who=WHO, process=PROCESS)
    def ask(self, who: str, process: int) -> None:
        """What all ask."""
        self.one_claim(who, POPULAR, process)

    @rule(who=WHO, process=PROCESS, times=st.integers(1, 5))
    def ask_late(self, who: str, process: int, times: int) -> None:
        """Each time when the lease of whoever was drawing has ended."""
        for _ in range(times):
            self.now += timedelta(seconds=61)
            self.ask(who, process)

    @rule(who=WHO, jump=st.sampled_from(JUMPS))
    def there_and_back(self, who: str, jump: timedelta) -> None:
        for step in (timedelta(0), jump, -jump):
            self.now += step
            self.one_charge(who, AskedPart(name=None))
        self.compare()

    @rule(who=WHO, part=APART, process=PROCESS)
    def reserve(self, who: str, part: AskedPart, process: int) -> None:
        self.one_charge(who, part, process)

    # Several at once

    @rule(asked=CLAIMS, process=PROCESS)
    def claim_several(self, asked: list[AskedClaim], process: int) -> None:
        self.claims(asked, process)

    @rule(asked=CHARGES, process=PROCESS)
    def reserve_several(self, asked: list[AskedCharge], process: int) -> None:
        self.charges(asked, process)

    @precondition(lambda self: self.ledger.is_concurrent)
    @rule(first=CLAIMS, second=CLAIMS)
    def claims_at_once(self, first: list[AskedClaim], second: list[AskedClaim]) -> None:
        """By two processes: the second begins while the first is at its end, not committed."""
        with Step(self):
            both = self.ledger.at_once(
                lambda: self.ledger.claim_each(0, first), lambda: self.ledger.claim_each(1, second)
            )
            for asked, given in zip((first, second), both, strict=True):
                self.claimed(asked, given)

    # Through tokens

    @precondition(lambda self: self.model.tokens())
    @rule(data=st.data(), other=OTHER, part=APART, process=PROCESS)
    def reserve_through_token(
        self, data: Any, other: str | None, part: AskedPart, process: int
    ) -> None:
        who, token = self._through(data, other)
        self.charges([AskedCharge(who=who, part=part, token=token)], process)

    @precondition(lambda self: self.model.tokens())
    @rule(data=st.data(), other=OTHER, part=APART, others=CHARGES, process=PROCESS)
    def reserve_several_through_token(
        self,
        data: Any,
        other: str | None,
        part: AskedPart,
        others: list[AskedCharge],
        process: int,
    ) -> None:
        who, token = self._through(data, other)
        place = data.draw(st.integers(0, len(others)))
        through = AskedCharge(who=who, part=part, token=token)
        self.charges([*others[:place], through, *others[place:]], process)

    @precondition(lambda self: self.model.tokens())
    @rule(data=st.data(), other=OTHER, parts=PARTS, process=PROCESS)
    def claim_through_token(
        self, data: Any, other: str | None, parts: tuple[AskedPart, ...], process: int
    ) -> None:
        who, token = self._through(data, other)
        self.claims([AskedClaim(who=who, parts=parts, token=token)], process)

    def _through(self, data: Any, other: str | None) -> tuple[str, int]:
        """Whose name it is now, or another's."""
        made = data.draw(st.sampled_from(self.model.tokens()))
        return other or made.who, made.token

    # Draws

    @precondition(lambda self: self.drawings)
    @rule(data=st.data(), is_too_large=st.sampled_from([False, False, False, True]))
    def finish(self, data: Any, is_too_large: bool) -> None:
        """Whoever began a draw, however long ago: what has taken long may be finished by several."""
        self.finish_drawing(data.draw(st.sampled_from(self.drawings)), is_too_large=is_too_large)

    def finish_drawing(self, drawing: Drawing, *, is_too_large: bool = False) -> None:
        self.texts += 1
        text = f"text {self.texts}" + "." * (TOO_LARGE if is_too_large else 0)
        with Step(self):
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
        self.let_go_of(data.draw(st.sampled_from(self.drawings)))

    def let_go_of(self, drawing: Drawing) -> None:
        with Step(self):
            self.model.let_go(drawing.row, drawing.holder)
            self.ledger.let_go(drawing)
            self.drawings.remove(drawing)

    @rule(first=WHO, second=WHO, is_finished=st.booleans())
    def lose_a_lease(self, first: str, second: str, is_finished: bool) -> None:
        """And let it go, or finish, when another has it; a third asks."""
        before = len(self.drawings)
        self.ask(first, 0)
        mine = self.drawings[before:]
        self.ask_late(second, 1, 1)
        for drawing in self.drawings[before:][::-1] if is_finished else mine:
            self.finish_drawing(drawing) if is_finished else self.let_go_of(drawing)
        self.ask(first, 0)
        self.compare()

    @precondition(lambda self: self.receipts)
    @rule(data=st.data(), answered=st.booleans())
    def settle(self, data: Any, answered: bool) -> None:
        receipt = data.draw(st.sampled_from(self.receipts))
        with Step(self):
            self.model.settle(receipt, "answered" if answered else "failed")
            self.ledger.settle(receipt, answered=answered)


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


class LedgerMachine(AskingSteps, PublishingSteps, OperatorSteps):
    @precondition(lambda self: self.backup is None or self.model.commits > 20)
    @rule(who=WHO, asked=RELEASES, is_raw=OFTEN_NOT)
    def back_up_in_the_midst(self, who: str, asked: AskedRelease, is_raw: bool) -> None:
        """Of draws, which are finished and shown before it is put in place; with all else that it has."""
        drawings, releasing = len(self.drawings), len(self.releasing)
        self.ask(who, 0)
        self.release(asked, 0)
        self.adjust(TOTAL, (Fraction(1, 2), Fraction(0), None))
        if not self.model.tokens():
            self.make_token("a", 30, (None, None))
        self.back_up()
        for drawing in self.drawings[drawings:]:
            self.finish_drawing(drawing)
        for one in self.releasing[releasing:]:
            self.store(one, is_table=True)
        self.restore(is_raw)
        for token in self.model.tokens():
            part = AskedPart(name=None)
            self.charges([AskedCharge(who=token.who, part=part, token=token.token)], 0)
        self.ask(who, 0)
        self.release(asked, 0)

    @rule(jump=st.sampled_from(JUMPS), is_back=st.sampled_from([False, False, True]))
    def clock_jumps(self, jump: timedelta, is_back: bool) -> None:
        self.now += -jump if is_back else jump
        self.compare()
