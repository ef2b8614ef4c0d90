"""What a history asks of a ledger, and what comes back: the same in process and on PostgreSQL."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from proxy.policy.policy_model import Period


@dataclass(frozen=True, slots=True, kw_only=True)
class AskedPart:
    """A block of a statement. name None: it is never cached."""

    name: int | None
    question: str
    terms: str
    cost: int


@dataclass(frozen=True, slots=True, kw_only=True)
class AskedClaim:
    process: int
    who: str
    parts: tuple[AskedPart, ...]
    holder: str
    may_draw: bool
    at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class LedgerTerms:
    """What a policy says. slot: how long, and from when, in seconds."""

    own: int
    total: int
    period: Period
    slot: tuple[int, int]


@dataclass(frozen=True, slots=True, kw_only=True)
class ClaimAnswer:
    """states None: nothing was done, as something were to be drawn; empty: refused. left: of the analyst and of
    everybody; is_durable: it reached the disk before it was told."""

    states: tuple[str, ...] | None
    rows: tuple[int | None, ...] = ()
    texts: tuple[str | None, ...] = ()
    paid: int = 0
    receipt: int | None = None
    left: tuple[int, int] | None = None
    is_durable: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class ReceiptRow:
    who: str
    own: int
    drawn: int


class NotACharge(Exception):
    """A part that costs less than nothing."""


class LedgerUnderTest(Protocol):
    def claim(self, asked: AskedClaim) -> ClaimAnswer:
        """Refuses  NotACharge"""
        ...

    def together(self, first: AskedClaim, second: AskedClaim) -> tuple[ClaimAnswer, ClaimAnswer]:
        """By two processes: the second begins while the first is at its end, not committed."""
        ...

    def reserve(self, asked: AskedClaim) -> ClaimAnswer:
        """Of a statement that is not to be cached; its cost is that of all parts."""
        ...

    def store(self, row: int, text: str) -> str | None: ...

    def text_of(self, row: int) -> str | None:
        """Refuses  KeyError: it is not there any more"""
        ...

    def forget(self, row: int, holder: str) -> bool: ...

    def let_go(self, row: int, holder: str) -> None: ...

    def write_terms(self, terms: LedgerTerms) -> None: ...

    def make_again(self, who: str) -> None:
        """An analyst is removed, and another is added by the same name."""
        ...

    def spent(self, who: str, at: datetime) -> tuple[int, int]: ...

    def receipts(self) -> Sequence[ReceiptRow]: ...

    def crash(self, kept: int) -> int:
        """Of the server. kept: how many of the commits that nobody waited for survive.

        Gives    how many did
        """
        ...

    def back_up(self) -> None: ...

    def restore(self, *, is_raw: bool) -> None:
        """The latest backup in place of what is there; is_raw: the files of the server instead."""
        ...

    def is_refused(self) -> bool:
        """Whether a process would refuse to serve it."""
        ...

    def accept(self) -> None: ...

    def problems(self) -> Sequence[str]:
        """As `dpproxy ledger verify` finds them."""
        ...

    def close(self) -> None: ...


MakeLedger = Callable[[], LedgerUnderTest]
