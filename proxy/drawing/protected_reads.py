"""What can be asked of the protected database, as Protocols. `protected` has the real ones.

There are four kinds of requests, and a session takes nothing else:

- statements of a block that is charged (`PaidQuery`);
- values of a public table (`PublicList`), which the compiler writes;
- the analysis of compiled statements, which reads no row;
- the rules of a time zone, in a text of its own.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from typing import Protocol

from proxy.compiler.backend_query import PublicList
from proxy.compiler.compiling import CompiledQuery
from proxy.drawing.charges import PaidQuery
from proxy.exact.table import ExactTable


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

        Refuses  UNAVAILABLE, whatever went wrong; Fault: it was not compiled
        """
        ...

    async def understand(self, queries: Sequence[CompiledQuery]) -> None:
        """Has the server analyse statements; none is run, and what their tables are stays so to the end.

        Refuses  UNAVAILABLE, whatever went wrong: a table is not what they were made for; Fault: one was not
                 compiled
        """
        ...

    async def zone_offsets(self, zone: str, instants: Sequence[int]) -> tuple[int, ...] | None:
        """How far the clock of a time zone is ahead of UTC then, in seconds; None: no such zone is known.

        Refuses  UNAVAILABLE, whatever went wrong
        """
        ...

    async def run(
        self,
        paid: PaidQuery,
        values: Mapping[str, int | str | None],
        is_selected: Callable[[int], bool] | None = None,
    ) -> ExactTable:
        """The exact results of one statement that is charged.

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
        paid: PaidQuery,
        values: Mapping[str, int | str | None],
        between: Callable[[ExactTable], Awaitable[str]],
    ) -> ExactTable:
        """The exact results of one statement of two parts that is charged.

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
