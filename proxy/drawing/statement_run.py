"""One run of a statement, handed down from the listener to the ledger: who pays, and what is noted of it.

Each step that charges, shows or draws takes it as an argument. There is no other way to say who pays.
"""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Coroutine
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, TypeVar

from proxy.base.decimals import decimal_text
from proxy.base.errors import Code, Fault, Refusal
from proxy.base.stages import Stage, StageWatch
from proxy.mechanisms.loss import Loss
from proxy.turns.fair_share import AnalystTurns
from proxy.turns.threads import Turn

T = TypeVar("T")

_NOT_CHARGED = "Nothing was charged. Raise statement_timeout or try again later."
_UNWATCHED: AbstractContextManager[None] = nullcontext()


@dataclass(frozen=True, slots=True, kw_only=True)
class Payer:
    """Who is charged for a statement, and how much at most.

    Only a listener that has checked the credentials makes one, or a command of the data owner's
    (tests/test_trusted_base.py lists these modules).

    Attributes:
        analyst: The name in the ledger.
        token: Number of the token through which the statement comes. It is charged, too. None: of no token.
        most_epsilon: What may cost more is refused. None: whatever it costs.
        approved_epsilon: What may cost more is refused until a person has approved it. None: whatever it costs.
    """

    analyst: str
    token: int | None
    most_epsilon: Fraction | None = None
    approved_epsilon: Fraction | None = None

    def refuse_dearer(self, loss: Loss) -> None:
        """Refuse a charge that is larger than its request allows, before it is made.

        Args:
            loss: The most that will be charged.

        Raises:
            Refusal: TOO_DEAR.
        """
        most, approved = self.most_epsilon, self.approved_epsilon
        if most is not None and loss.epsilon > most:
            cost = decimal_text(loss.epsilon)
            raise Refusal(
                Code.TOO_DEAR,
                f"it costs epsilon {cost}, above max_epsilon {decimal_text(most)}",
                f"Send it again with max_epsilon {cost}, or with a smaller epsilon, whose error is larger.",
            )
        if approved is not None and loss.epsilon > approved:
            raise Refusal(
                Code.TOO_DEAR,
                f"it costs epsilon {decimal_text(loss.epsilon)}: a person has to approve what costs more than"
                f" {decimal_text(approved)}",
                "Send it again with a smaller epsilon, whose error is larger; or ask with a client that can ask"
                " its user (elicitation).",
            )


@dataclass(frozen=True, slots=True, kw_only=True)
class NotedCharge:
    """A charge as the ledger has it. rho: None where the ledger prices the receipt by itself."""

    receipt: int
    epsilon: Fraction
    delta: Fraction
    rho: Fraction | None


@dataclass(slots=True)
class NotedCharges:
    """The charges of one statement, noted where they are durable.

    Attributes:
        made: In their order.
        awaited: The charge that was on its way when its client left. The statement has ended then, and its
            charge is known later.
    """

    made: list[NotedCharge] = field(default_factory=list)
    awaited: asyncio.Task[Any] | None = None


@dataclass(slots=True, kw_only=True, eq=False)
class StatementRun:
    """One run of one statement. Charges and stages are told to those who report it.

    Attributes:
        payer: Who is charged.
        turns: In which its long jobs take turns. None: they wait for nobody.
        charges: What it was charged.
        stages: Who is told when a stage begins and ends. None: nobody.
    """

    payer: Payer
    turns: AnalystTurns | None = None
    charges: NotedCharges = field(default_factory=NotedCharges)
    stages: StageWatch | None = None
    _is_limited: bool = False

    @property
    def analyst(self) -> str:
        return self.payer.analyst

    @property
    def turn(self) -> Turn:
        return Turn(self.payer.analyst, self.turns)

    def in_stage(self, stage: Stage) -> AbstractContextManager[None]:
        """Tell that a stage lasts as long as the block."""
        return _UNWATCHED if self.stages is None else self.stages.stage(stage)

    async def before_charge(self, seconds: float | None, work: Coroutine[Any, Any, T]) -> T:
        """Do what comes before the charge within the time that the analyst allows.

        After the charge nothing that an analyst can set ends a statement: whether it ends in time may depend on
        one person's rows, and an error says that without noise, whatever epsilon is.

        Args:
            seconds: The analyst's statement_timeout. None: there is none, or the statement is charged already.
            work: What is done.

        Raises:
            Refusal: CANCELLED. Nothing was charged.
        """
        if seconds is None:
            return await work
        before, self._is_limited = self._is_limited, True
        try:
            if sys.version_info >= (3, 11):  # no task of its own, as wait_for by 3.12
                async with asyncio.timeout(seconds):
                    return await work
            return await asyncio.wait_for(work, seconds)
        except asyncio.TimeoutError:
            raise Refusal(
                Code.CANCELLED, "canceling statement due to statement timeout", _NOT_CHARGED
            ) from None
        finally:
            self._is_limited = before

    def refuse_limited(self) -> None:
        """Refuse to read protected rows while a client's timeout could end that.

        Raises:
            Fault: A timeout of the client runs.
        """
        if self._is_limited:
            raise Fault("a charged statement under a timeout of its client")


def run_of_owner(account: str) -> StatementRun:
    """The run of a statement of the data owner's, charged to an account that no analyst has."""
    return StatementRun(payer=Payer(analyst=account, token=None))
