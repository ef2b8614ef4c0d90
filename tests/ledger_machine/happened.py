"""What can happen to a ledger, in a history."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from fractions import Fraction

from proxy.policy.policy_model import Period
from tests.ledger_machine.asked import Line
from tests.ledger_model.two_ways import Cost


@dataclass(frozen=True, slots=True, eq=False)
class Opened:
    line: Line
    period: Period
    start: datetime


@dataclass(frozen=True, slots=True, eq=False)
class PaidFor:
    """who None: an adjustment."""

    at: datetime
    who: str | None
    costs: Mapping[Line, Cost]
    receipt: int | None


@dataclass(frozen=True, slots=True)
class Begun:
    """A charged draw. boot: how often the ledger's server had been started."""

    row: int
    slot: datetime
    name: int
    boot: int


@dataclass(frozen=True, slots=True)
class Held:
    row: int
    holder: str
    until: datetime


@dataclass(frozen=True, slots=True)
class LetGo:
    row: int


@dataclass(frozen=True, slots=True)
class Drawn:
    row: int
    text: str


@dataclass(frozen=True, slots=True)
class SeenBy:
    row: int
    viewer: str


@dataclass(frozen=True, slots=True)
class Gone:
    row: int


@dataclass(frozen=True, slots=True)
class Settled:
    receipt: int
    outcome: str


@dataclass(frozen=True, slots=True)
class ReleaseCharged:
    """cost: of all, and of each of the tables."""

    row: int
    name: str
    version: str
    receipt: int
    cost: Cost
    tables: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ReleaseHeld:
    """is_draw: begun, rather than gone on with, or let go."""

    row: int
    holder: str
    due: datetime
    until: datetime
    is_draw: bool


@dataclass(frozen=True, slots=True)
class ReleaseStored:
    """table None: what was drawn is none."""

    row: int
    at: datetime
    table: str | None
    block: str


@dataclass(frozen=True, slots=True)
class ReleaseGone:
    row: int


@dataclass(frozen=True, slots=True)
class Stale:
    """reason None: not any more."""

    name: str
    version: str
    at: datetime
    reason: str | None


@dataclass(frozen=True, slots=True)
class TokenMade:
    """who, number: of its analyst, as Person has it; most: epsilon in each window; None: no limit."""

    token: int
    who: str
    number: int
    most: Fraction | None
    until: datetime
    per: str | None = None


@dataclass(frozen=True, slots=True)
class TokenRevoked:
    token: int


@dataclass(frozen=True, slots=True)
class TokenSpent:
    token: int
    epsilon: Fraction
    at: datetime


OfRelease = ReleaseCharged | ReleaseHeld | ReleaseStored | ReleaseGone | Stale
OfToken = TokenMade | TokenRevoked | TokenSpent
Happened = (
    OfRelease | OfToken | Opened | PaidFor | Begun | Held | LetGo | Drawn | SeenBy | Gone | Settled
)
