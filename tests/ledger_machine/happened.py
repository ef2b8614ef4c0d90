"""What can happen to a ledger, in a history."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

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
    question: str
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


Happened = Opened | PaidFor | Begun | Held | LetGo | Drawn | SeenBy | Gone | Settled
