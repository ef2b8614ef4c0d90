"""Histories: what people, operators, clocks and crashes do to a ledger, beside the simple model."""

from __future__ import annotations

from datetime import timedelta
from fractions import Fraction

from hypothesis import strategies as st
from hypothesis.stateful import precondition, rule

from tests.ledger_machine.asked import TOTAL, AskedCharge, AskedPart, AskedRelease
from tests.ledger_machine.asking_steps import AskingSteps
from tests.ledger_machine.operator_steps import OperatorSteps
from tests.ledger_machine.publishing_steps import PublishingSteps
from tests.ledger_machine.steps import JUMPS, OFTEN_NOT, RELEASES, WHO


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
