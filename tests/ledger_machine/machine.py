"""Histories: what people, operators, clocks and crashes do to a ledger, beside the simple model."""

from __future__ import annotations

from datetime import timedelta

from hypothesis import strategies as st
from hypothesis.stateful import rule

from tests.ledger_machine.asking_steps import AskingSteps
from tests.ledger_machine.operator_steps import OperatorSteps
from tests.ledger_machine.publishing_steps import PublishingSteps
from tests.ledger_machine.steps import JUMPS


class LedgerMachine(AskingSteps, PublishingSteps, OperatorSteps):
    @rule(jump=st.sampled_from(JUMPS), is_back=st.sampled_from([False, False, True]))
    def clock_jumps(self, jump: timedelta, is_back: bool) -> None:
        self.now += -jump if is_back else jump
        self.compare()
