"""What the engine needs from outside, as Protocols; `cli` puts the real ones in."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from typing import Protocol

from proxy.compiler.backend_query import BackendQuery, PublicList
from proxy.exact.table import ExactTable
from proxy.kernel.checked_plan import CheckedPlan
from proxy.kernel.proposal_check import CheckedProposals
from proxy.mechanisms.loss import Loss

# What is charged: by its own price.
Payable = CheckedPlan | CheckedProposals


@dataclass(frozen=True, slots=True)
class ListValues:
    """What a list of a public table holds. text: of the array; None: it is larger than limits allow."""

    number: int
    octets: int
    text: str | None


class ProtectedSession(Protocol):
    """A read-only transaction: all its statements see the same rows."""

    async def public_list(self, wanted: PublicList) -> ListValues:
        """The values of a column of a public table, for the conditions that look them up.

        Refuses  UNAVAILABLE, whatever went wrong
        """
        ...

    async def understand(self, queries: Sequence[BackendQuery]) -> None:
        """Has the server analyse statements; none is run, and what their tables are stays so to the end.

        Refuses  UNAVAILABLE, whatever went wrong: a table is not what they were made for
        """
        ...

    async def zone_offsets(self, zone: str, instants: Sequence[int]) -> tuple[int, ...] | None:
        """How far the clock of a time zone is ahead of UTC then, in seconds; None: no such zone is known.

        Refuses  UNAVAILABLE, whatever went wrong
        """
        ...

    async def run(
        self,
        query: BackendQuery,
        values: Mapping[str, int | str | None],
        is_selected: Callable[[int], bool] | None = None,
    ) -> ExactTable:
        """The exact results of one compiled statement.

        Given    values: of its parameters that are chosen at each run; lists of public tables that are not
                 among them are read first; is_selected: whether a group of so many
                 units is shown, where each row is a private group
        Gives    with is_selected a table that is `selected`: the other rows are dropped as they come, so that
                 memory grows with what is shown, whatever the number of groups

        Refuses  Fault, with a text that says nothing about the data, whatever went wrong
        """
        ...

    async def run_in_two_parts(
        self,
        query: BackendQuery,
        values: Mapping[str, int | str | None],
        between: Callable[[ExactTable], Awaitable[str]],
    ) -> ExactTable:
        """The exact results of one compiled statement of two parts.

        Given    values: as of run; between: what the second part is told, made of the results of the first
        Gives    the results of both parts

        Refuses  as run, and what between refuses
        """
        ...


class ProtectedData(Protocol):
    def session(self, analyst: str) -> AbstractAsyncContextManager[ProtectedSession]:
        """A session that is known to be alive, its transaction begun, before anything is charged.

        Refuses  UNAVAILABLE where none can be had within some seconds; nothing was read then
        """
        ...


@dataclass(frozen=True, slots=True)
class Charged:
    """A durable charge. remaining: what the analyst can still spend in this window; warnings: of budgets that
    are nearly spent; person: the analyst's number in the ledger when it was charged."""

    receipt: str
    remaining: Loss
    warnings: tuple[str, ...] = ()
    person: int | None = None


class Ledger(Protocol):
    async def look(self, analyst: str, plan: Payable) -> None:
        """Whether a charge would be granted now. It locks nothing and promises nothing.

        Given    as reserve

        Refuses  OVER_BUDGET, as reserve would
        """
        ...

    async def reserve(
        self, analyst: str, plan: Payable, fingerprint: str, digest: str, text: str | None = None
    ) -> Charged:
        """Charges the price of a plan, durably, before it returns.

        Given    text: of the statement, where receipts keep it; digest: of the policy

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

    async def history(self, analyst: str, *, newest_first: bool = False) -> str:
        """The analyst's latest receipts, as JSON: the rows of dp.history."""
        ...
