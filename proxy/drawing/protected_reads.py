"""What can be asked of the protected database, as Protocols. `protected` has the real ones.

There are five kinds of requests, and a session takes nothing else:

- statements of a block that is charged (`PaidQuery`);
- values of a public table (`PublicList`), which the compiler writes;
- the analysis of compiled statements and their plan, which read no row;
- the rules of a time zone, in a text of its own;
- which prepared copies there are, from the catalogue and the times that their owner states.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from typing import Protocol

from proxy.catalog.catalog_model import TableName
from proxy.compiler.backend_query import PublicList
from proxy.compiler.compiling import CompiledQuery
from proxy.compiler.copy_view import FoundCopy, WantedCopy
from proxy.drawing.charges import PaidQuery
from proxy.exact.table import ExactTable
from proxy.turns.threads import Turn


@dataclass(frozen=True, slots=True)
class ListValues:
    """What a list of a public table holds. text: of the array; None: it is larger than limits allow."""

    number: int
    octets: int
    text: str | None


class ProtectedSession(Protocol):
    """A read-only transaction: all its statements see the same rows, on a server that is one."""

    async def renew(self) -> None:
        """Begin anew: what is read next is as of later than now, whatever was asked before.

        Raises:
            Fault: Whatever went wrong.
        """
        ...

    async def public_list(self, wanted: PublicList) -> ListValues:
        """Read the values of a column of a public table, for the conditions that look them up.

        Raises:
            Refusal: UNAVAILABLE, whatever went wrong.
            Fault: The list was not compiled.
        """
        ...

    async def understand(self, queries: Sequence[CompiledQuery]) -> None:
        """Have the server analyse statements. None is run, and their tables stay as they are to the end.

        Raises:
            Refusal: UNAVAILABLE, whatever went wrong: a table is not what they were made for.
            Fault: A statement was not compiled.
        """
        ...

    async def refuse_impossible(self, queries: Sequence[CompiledQuery]) -> None:
        """Have a server that computes on several nodes say whether it can run statements. None is run.

        A single server is not asked: it can.

        Raises:
            Refusal: UNSUPPORTED: it cannot; UNAVAILABLE.
            Fault: A statement was not compiled.
        """
        ...

    async def zone_offsets(self, zone: str, instants: Sequence[int]) -> tuple[int, ...] | None:
        """Look up how many seconds a time zone is ahead of UTC at some instants. None: the zone is not known.

        Raises:
            Refusal: UNAVAILABLE, whatever went wrong.
        """
        ...

    async def copies(self, wanted: Mapping[TableName, WantedCopy]) -> Mapping[TableName, FoundCopy]:
        """Look for prepared copies, and keep them as they are to the end of the transaction. Comes first in it.

        Args:
            wanted: By the tables of which they are copies.

        Returns:
            Those that can be read; none on a server that is several, or where one is being replaced.

        Raises:
            Refusal: UNAVAILABLE.
        """
        ...

    async def run(
        self,
        paid: PaidQuery,
        values: Mapping[str, int | str | None],
        is_selected: Callable[[int], bool] | None = None,
    ) -> ExactTable:
        """Run one statement that is charged.

        Args:
            paid: The statement.
            values: Of its parameters that are chosen at each run. Lists of public tables that are not among
                them are read first.
            is_selected: Whether a group of so many units is shown, where each row is a private group. Other
                rows are dropped as they come, so that memory grows with what is shown.

        Returns:
            The exact results; with `is_selected` a table that is `selected`.

        Raises:
            Fault: Whatever went wrong, with a text that says nothing about the data.
        """
        ...

    async def run_in_two_parts(
        self,
        paid: PaidQuery,
        values: Mapping[str, int | str | None],
        between: Callable[[ExactTable], Awaitable[str]],
    ) -> ExactTable:
        """Run one statement of two parts that is charged.

        It may be run twice at the same time, each time with half of the units (`compiler.unit_halves`).

        Args:
            paid: The statement.
            values: As of `run`.
            between: Makes what the second part is told of the results of the first.

        Returns:
            The exact results of both parts. Rows of the same group and band add up.

        Raises:
            Fault: As `run`. What `between` raises is raised as well.
        """
        ...


class ProtectedData(Protocol):
    def session(self, turn: Turn) -> AbstractAsyncContextManager[ProtectedSession]:
        """Open a session that is known to be alive, its transaction begun, before anything is charged.

        Args:
            turn: Of the analyst who waits for it, in which its long jobs run.

        Raises:
            Refusal: UNAVAILABLE, where none can be had within some seconds. Nothing was read then.
        """
        ...
