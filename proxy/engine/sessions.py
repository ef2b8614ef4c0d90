"""An analyst's session on the shadow, for a listener that speaks no wire protocol of its own."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from typing import Protocol

from proxy.pgwire.calls import DescribedColumn, Rehearsal, Trial

Values = Sequence[str | None]


@dataclass(frozen=True, slots=True)
class ResultColumn:
    name: str
    type_oid: int
    type_name: str  # as format_type prints it


@dataclass(frozen=True, slots=True)
class ResultRows:
    """values: in PostgreSQL's text format. No columns: the statement returns none."""

    columns: tuple[ResultColumn, ...]
    values: Sequence[tuple[bytes | None, ...]]


@dataclass(frozen=True, slots=True)
class Analysed:
    parameter_oids: tuple[int, ...]
    columns: tuple[DescribedColumn, ...]


@dataclass(frozen=True, slots=True)
class Resolved:
    """What names mean in the session, and those of base.session_settings that are not empty."""

    relation_oids: tuple[int | None, ...]
    settings: Mapping[str, str]


class PostgresError(Exception):
    """PostgreSQL's own error (PostgreSQL 17 documentation, section 55.8). Its text may quote the analyst's
    statement: never log it."""

    def __init__(
        self,
        sqlstate: str,
        message: str,
        detail: str | None = None,
        hint: str | None = None,
        position: int | None = None,
    ) -> None:
        super().__init__(sqlstate)
        self.sqlstate = sqlstate
        self.message = message
        self.detail = detail
        self.hint = hint
        self.position = position


class WrongCredentials(Exception):
    """No such analyst, or not this password: nobody learns which."""


class AnalystSession(Protocol):
    """One transaction, undone at its end. Everything but `Fault` that a statement can meet is PostgresError."""

    @property
    def analyst(self) -> str:
        """The role that PostgreSQL says has logged in: whose budget it is."""
        ...

    async def analyse(self, text: str, *, names_hint: bool) -> Analysed:
        """What types PostgreSQL gives the statement's parameters and columns. It stays prepared for
        `run_prepared`.

        names_hint: an error of PostgreSQL's without a hint gets ours, if there is one.
        """
        ...

    async def resolve(self, relations: Sequence[str]) -> Resolved: ...

    async def arguments(self, values: Values, oids: Sequence[int]) -> tuple[str | None, ...]:
        """Each value, read as its parameter's type, in JSON."""
        ...

    async def types_of(self, expressions: Sequence[str], oids: Sequence[int]) -> tuple[int, ...]:
        """The OID of each constant expression's type. oids: of the statement's parameters, which may stand in
        them."""
        ...

    async def constants(
        self, expressions: Sequence[str], values: Values, oids: Sequence[int]
    ) -> tuple[str | None, ...]:
        """The value of each constant expression of type text. values, oids: of the statement's parameters

        Refuses  TOO_COMPLEX: they are too long
        """
        ...

    async def rehearse(self, rehearsal: Rehearsal, values: Values, oids: Sequence[int]) -> bool:
        """Whether the statement needs its relation, once PostgreSQL has no objection to it.

        Given    values, oids: of its parameters without the relation
        """
        ...

    async def run_trial(self, trial: Trial, values: Values, oids: Sequence[int]) -> bool:
        """Whether the statement may succeed with made-up answers.

        Given    values, oids: of its parameters without the relation
        """
        ...

    async def hold(self) -> bool:
        """Timeouts are off for the rest of the request.

        Gives    whether its transaction is too old for a charge
        """
        ...

    async def prepare(self, text: str, oids: Sequence[int]) -> None:
        """Text that is ours: positions in its errors would mean nothing to the analyst."""
        ...

    async def run_prepared(self, values: Values) -> ResultRows:
        """Runs what was prepared last.

        Refuses  TOO_COMPLEX: more rows than a response may hold; UNSUPPORTED: COPY
        """
        ...

    async def run(self, text: str, values: Values) -> ResultRows:
        """A statement as it is. Refuses  as run_prepared"""
        ...

    async def schema(self) -> str:
        """What can be asked, as JSON."""
        ...


class AnalystSessions(Protocol):
    def refuse_unless_ready(self) -> None:
        """Refuses  Fault: the shadow cannot tell a right password from a wrong one now"""
        ...

    def knows(self, user: str, password: str) -> bool:
        """Whether this password was right a moment ago. Costs nothing, and counts as a guess."""
        ...

    async def log_in(self, user: str, password: str) -> None:
        """Refuses  WrongCredentials, also for a role that is no analyst's; Fault: the shadow is away"""
        ...

    def place(self, user: str) -> AbstractAsyncContextManager[None]:
        """One of the analyst's places, for a request. Refuses  Busy, after some seconds"""
        ...

    def session(
        self, database: str, user: str, password: str, settings: Mapping[str, str]
    ) -> AbstractAsyncContextManager[AnalystSession]:
        """A session of this analyst's, with these dp.* settings; only in a place.

        Refuses  WrongCredentials; Fault where the shadow cannot be reached
        """
        ...

    def inner_session(
        self, database: str, user: str, settings: Mapping[str, str]
    ) -> AbstractAsyncContextManager[AnalystSession]:
        """As `session`, of an analyst whom the listener has let in by itself.

        Refuses  WrongCredentials where nobody is let in so; Fault where the shadow cannot be reached
        """
        ...
