"""A session of the wire, as an administrator sees it and as the ledger's people are compared with it."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class WireSession:
    """number: of this process; person: the analyst's number in the ledger, which a name that is given again has
    not; address: the client's network."""

    number: int
    analyst: str
    person: int | None
    database: str
    address: str
    since: datetime
