"""What publishing needs from outside: the ledger that keeps releases, the shadow that shows them. Plain
data."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import Enum
from fractions import Fraction
from typing import Protocol

from proxy.drawing.charges import Charge
from proxy.engine.policy_statements import ProtectedQuery
from proxy.kernel.checked_plan import CheckedPlan
from proxy.mechanisms.loss import Loss
from proxy.policy.publication import Publication


class ReleaseState(Enum):
    DRAW = "draw"
    WAIT = "wait"
    DONE = "done"
    UNFUNDED = "unfunded"
    CHANGED = "changed"


@dataclass(frozen=True, slots=True, kw_only=True)
class Series:
    """A statement that is released step by step, under one charge. plan: its digest; ends: of each step, after
    which nothing more comes into it."""

    plan: str
    ends: tuple[datetime, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ReleaseClaim:
    """As ledger.publish_at gives it. charge: with DRAW, of what is to be drawn; id: of the release;
    total_epsilon: what is left of the shared budget, where it was asked; short: the budgets that do not cover
    it; is_free: an earlier release of the series has paid for it."""

    state: ReleaseState
    id: int | None
    due: datetime | None
    receipt: int | None
    holder: str
    total_epsilon: Fraction | None
    short: tuple[str, ...]
    charge: Charge | None
    is_free: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredBlock:
    """question, terms: as of CachedQuestion; relation: as of release.cached_block."""

    question: str
    terms: str
    relation: str


@dataclass(frozen=True, slots=True, kw_only=True)
class DrawnRelease:
    """What was drawn of one statement. table: as a text, or failure: why it is none."""

    constants: tuple[str | None, ...]
    table: str | None
    failure: str | None
    blocks: tuple[StoredBlock, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredRelease:
    """What stands in the ledger, and nothing else is shown. table: None where its key is not here."""

    table: str | None
    constants: tuple[str | None, ...]
    blocks: tuple[StoredBlock, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class PublishedState:
    """Of one statement. id to policy_digest: of the latest release that is a table, None before the first;
    loss: what it was charged;
    failure: of a later one that is none; is_due: one is to be released, or finished."""

    name: str
    id: int | None
    due: datetime | None
    released_at: datetime | None
    policy_digest: str | None
    loss: Loss | None
    next_due: datetime
    is_due: bool
    stale_since: datetime | None
    stale: str | None
    failure: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class PublishedTable:
    """A table of the shadow, to be shown. text: as stored; comment: of the table."""

    name: str
    text: str
    comment: str


class PublishedLedger(Protocol):
    """How releases come into the ledger: by `releasing` alone."""

    async def claim(
        self,
        wanted: Publication,
        plan: CheckedPlan,
        policy_digest: str,
        *,
        is_now: bool,
        series: Series | None = None,
    ) -> ReleaseClaim:
        """Charges the plan, durably, before it returns DRAW; or finds the charge of who did not finish, or that
        of the series."""
        ...

    async def hold(self, claim: ReleaseClaim) -> bool:
        """While it is drawn."""
        ...

    async def let_go(self, claim: ReleaseClaim, pause_seconds: int) -> None:
        """Of a draw that is not finished."""
        ...

    async def store(self, claim: ReleaseClaim, drawn: DrawnRelease) -> bool:
        """Durably, unless another was first."""
        ...


class NoTable(Exception):
    """What was drawn cannot be shown as a table; the text says why, and is of noisy numbers at most."""


class PublishedShadow(Protocol):
    """All of it waits for the shadow, so it is called in a thread."""

    def read(self, publication: Publication) -> tuple[ProtectedQuery, tuple[str | None, ...]]:
        """The statement, and its constants as they are now.

        Refuses  Refusal: it cannot be published
        """
        ...

    def presented(self, question: ProtectedQuery, relation: str) -> str:
        """The table that the statement makes of its noisy relation, as a text.

        Refuses  NoTable
        """
        ...

    def show(self, tables: Sequence[PublishedTable]) -> None:
        """All tables of `published`, at once."""
        ...
