"""Steps of a history: what people ask, and what becomes of what is drawn for them."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from hypothesis import strategies as st
from hypothesis.stateful import precondition, rule

from tests.ledger_machine.asked import (
    AskedCharge,
    AskedClaim,
    AskedPart,
)
from tests.ledger_machine.driven_ledger import TOO_LARGE, Drawing
from tests.ledger_machine.machine_state import MachineState, Step
from tests.ledger_machine.steps import (
    APART,
    CHARGES,
    CLAIMS,
    JUMPS,
    OTHER,
    PARTS,
    POPULAR,
    PROCESS,
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
        self._let_go(data.draw(st.sampled_from(self.drawings)))

    def _let_go(self, drawing: Drawing) -> None:
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
            self.finish_drawing(drawing) if is_finished else self._let_go(drawing)
        self.ask(first, 0)
        self.compare()

    @precondition(lambda self: self.receipts)
    @rule(data=st.data(), answered=st.booleans())
    def settle(self, data: Any, answered: bool) -> None:
        receipt = data.draw(st.sampled_from(self.receipts))
        with Step(self):
            self.model.settle(receipt, "answered" if answered else "failed")
            self.ledger.settle(receipt, answered=answered)
