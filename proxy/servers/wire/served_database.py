"""What the wire server needs of the layers below it, per database."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol, TypeVar

from typing_extensions import ParamSpec

from proxy.pgwire.calls import (
    Correct,
    PlanTrial,
    QueryAnswer,
    Refuse,
    RunQuery,
    StatementReader,
    Trial,
)

P = ParamSpec("P")
T = TypeVar("T")


class EnginePort(StatementReader, Protocol):
    """`split`, `look`, `prepared` and `read`, and what takes time. Nothing of it raises."""

    def of(self, analyst: str) -> EnginePort:
        """The same for the session of an analyst."""
        ...

    async def in_turn(
        self, analyst: str, function: Callable[P, T], *given: P.args, **named: P.kwargs
    ) -> T:
        """Read in a thread, one statement of an analyst at a time."""
        ...

    async def trial(self, analyst: str, query: PlanTrial) -> Trial | Refuse | None:
        """Reads and charges nothing. May be cancelled at any time."""
        ...

    async def correct(self, analyst: str, wanted: Correct) -> str | None:
        """Reads and charges nothing. May be cancelled at any time."""
        ...

    async def run(self, analyst: str, query: RunQuery) -> QueryAnswer | Refuse:
        """Charges. May be cancelled at any time: the client went away, or asked to cancel."""
        ...


@dataclass(frozen=True, slots=True)
class ShadowAddress:
    """host: a name or address, or the directory of a Unix socket, as libpq takes it."""

    host: str
    port: int

    @property
    def socket_path(self) -> str | None:
        return f"{self.host}/.s.PGSQL.{self.port}" if self.host.startswith("/") else None


@dataclass(frozen=True, slots=True)
class ServedDatabase:
    """A database that clients may connect to."""

    shadow: ShadowAddress
    engine: EnginePort
