"""What the engine needs of the ledger, as a Protocol; `cli` puts the real one in."""

from __future__ import annotations

from typing import Protocol

from proxy.drawing.charges import Charge, Payable
from proxy.drawing.statement_run import StatementRun
from proxy.mechanisms.loss import Loss
from proxy.turns.threads import Turn

MOST_RECEIPTS = 10_000  # of a history that is read at once


class Ledger(Protocol):
    async def look(self, analyst: str, plan: Payable) -> None:
        """Whether a charge would be granted now. It locks nothing and promises nothing.

        Given    as reserve

        Refuses  OVER_BUDGET, as reserve would
        """
        ...

    async def reserve(
        self,
        run: StatementRun,
        plan: Payable,
        fingerprint: str,
        digest: str,
        text: str | None = None,
    ) -> Charge:
        """Charges the price of a plan, durably, before it returns.

        Given    run: names who is charged, and is told the charge; text: of the statement, where receipts
                 keep it; digest: of the policy

        Refuses  OVER_BUDGET, with what is left
        """
        ...

    async def settle(self, receipt: str, answered: bool) -> None:
        """Marks the outcome; never gives back."""
        ...

    async def remaining(self, analyst: str) -> Loss | None:
        """What the analyst can still spend, as reserve would see it. None where no ledger is known."""
        ...

    async def admitted(self, analyst: str) -> Loss | None:
        """As `remaining`, before an answer that is charged nothing: reserve would see who it is.

        Refuses  PROTECTED of who was removed, or may not query this data
        """
        ...

    async def person(self, analyst: str) -> int | None:
        """The analyst's number now. A name that was removed and added again is of another person, with another
        number. None: the ledger knows no such analyst."""
        ...

    async def day(self) -> int:
        """The day of the ledger's clock, in days since 1970-01-01, UTC: the present of a statement."""
        ...

    async def budget(self, analyst: str) -> str:
        """The analyst's lines and everybody's, as JSON: the rows of dp.budget."""
        ...

    async def history(
        self,
        turn: Turn,
        *,
        newest_first: bool = False,
        before: int | None = None,
        limit: int = MOST_RECEIPTS,
    ) -> str:
        """The analyst's latest receipts, as JSON: the rows of dp.history.

        Given    before: the number of a receipt; limit: of receipts before that, the latest
        """
        ...
