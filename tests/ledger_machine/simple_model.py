"""What a ledger must answer, from the list of what has happened and nothing else: no balances, no rows, no windows
are kept. Each question reads the whole list anew.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta, timezone

from proxy.ledger.cached_claims import LEASE_SECONDS
from proxy.policy.policy_model import Period
from tests.ledger_machine.ledger_calls import AskedClaim, AskedPart, ClaimAnswer, LedgerTerms
from tests.ledger_model.windows import window_start

_FIRST = datetime(1, 1, 1, tzinfo=timezone.utc)
_MOST_DRAWS = 3
TOTAL = ""


@dataclass(frozen=True, slots=True)
class Opened:
    line: str
    period: Period
    start: datetime


@dataclass(frozen=True, slots=True)
class PaidFor:
    at: datetime
    who: str
    own: int
    drawn: int


@dataclass(frozen=True, slots=True)
class Begun:
    """A charged draw. boot: how often the ledger's server had been started."""

    row: int
    slot: datetime
    name: int
    asked: tuple[str, str]
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
    viewer: int


@dataclass(frozen=True, slots=True)
class Gone:
    row: int


Happened = Opened | PaidFor | Begun | Held | LetGo | Drawn | SeenBy | Gone


def slot_of(at: datetime, seconds: int, offset: int) -> datetime:
    origin = datetime(2000, 1, 1, tzinfo=timezone.utc) + timedelta(seconds=offset)
    return origin + (at - origin) // timedelta(seconds=seconds) * timedelta(seconds=seconds)


class SimpleModel:
    def __init__(self, terms: LedgerTerms, analysts: Sequence[str]) -> None:
        self.terms = terms
        self.boot = 0
        self.viewers = {name: number for number, name in enumerate(analysts)}
        self.happened: list[Happened] = []
        self._unsure: list[int] = []  # how long the list was after each commit that nobody waited for
        self._sure = 0
        self._backup: tuple[list[Happened], dict[str, int], LedgerTerms] | None = None

    # Budgets

    def spent(self, line: str, at: datetime) -> tuple[int, Opened | None]:
        """In the window of that time; and the window, where none is open yet.

        A window that is open stays so while the clock goes back: what is paid meanwhile is paid in it.
        """
        period = Period.NONE if line == TOTAL else self.terms.period
        start = window_start(period, at) or _FIRST
        opened = [
            (place, one)
            for place, one in enumerate(self.happened)
            if isinstance(one, Opened) and one.line == line
        ]
        new: Opened | None = Opened(line, period, start)
        since = len(self.happened)
        if opened and opened[-1][1].period is period and start <= opened[-1][1].start:
            since, start, new = opened[-1][0], opened[-1][1].start, None
        return sum(
            one.drawn if line == TOTAL else one.own
            for place, one in enumerate(self.happened)
            if isinstance(one, PaidFor)
            and line in (TOTAL, one.who)
            and (place > since or one.at >= start)
        ), new

    def _pay(self, who: str, own: int, drawn: int, at: datetime) -> bool:
        spent_own, new_own = self.spent(who, at)
        spent_total, new_total = self.spent(TOTAL, at)
        if spent_own + own > self.terms.own or spent_total + drawn > self.terms.total:
            return False
        self.happened += [one for one in (new_own, new_total) if one is not None]
        self.happened.append(PaidFor(at, who, own, drawn))
        return True

    def left(self, who: str, at: datetime) -> tuple[int, int]:
        own, total = self.spent(who, at)[0], self.spent(TOTAL, at)[0]
        return self.terms.own - own, self.terms.total - total

    def payments(self) -> list[PaidFor]:
        return [one for one in self.happened if isinstance(one, PaidFor)]

    # Answers

    def is_there(self, row: int) -> bool:
        return Gone(row) not in self.happened and any(
            isinstance(one, Begun) and one.row == row for one in self.happened
        )

    def text_of(self, row: int) -> str | None:
        texts = [one.text for one in self.happened if isinstance(one, Drawn) and one.row == row]
        return texts[0] if texts else None

    def holder_of(self, row: int) -> str:
        return [one for one in self.happened if isinstance(one, Held) and one.row == row][-1].holder

    def _row_of(self, name: int, slot: datetime) -> Begun | None:
        for one in reversed(self.happened):
            if isinstance(one, Begun) and (one.name, one.slot) == (name, slot):
                return one if self.is_there(one.row) else None
        return None

    def _state(self, part: AskedPart, slot: datetime, at: datetime) -> tuple[str, int | None]:
        if part.name is None:
            return "apart", None
        begun = self._row_of(part.name, slot)
        if begun is None:
            return "draw", None
        if begun.asked != (part.question, part.terms):
            return "apart", None
        if self.text_of(begun.row) is not None:
            return "ready", begun.row
        if begun.boot != self.boot:  # it may have been shown and lost
            return "again", begun.row
        holds = [
            one for one in self.happened if isinstance(one, Held | LetGo) and one.row == begun.row
        ]
        last = holds[-1]
        if isinstance(last, Held) and last.until > at:
            return "wait", begun.row
        draws = sum(isinstance(one, Held) for one in holds)
        return "take" if draws < _MOST_DRAWS else "again", begun.row

    def claim(self, asked: AskedClaim, given: ClaimAnswer) -> ClaimAnswer:
        """
        Given    what the ledger answered: only the numbers of new rows and of the receipt are taken from it
        Gives    what it must have answered
        """
        viewer = self.viewers[asked.who]
        slot = slot_of(asked.at, *self.terms.slot)
        found = [self._state(part, slot, asked.at) for part in asked.parts]
        if not asked.may_draw and any(state not in ("ready", "wait") for state, _ in found):
            return ClaimAnswer(states=None)
        own = drawn = 0
        for part, (state, row) in zip(asked.parts, found, strict=True):
            is_seen = row is not None and state != "again" and SeenBy(row, viewer) in self.happened
            own += 0 if is_seen else part.cost
            drawn += part.cost if state in ("draw", "again", "apart") else 0
        if own > 0 and not self._pay(asked.who, own, drawn, asked.at):
            return ClaimAnswer(states=(), paid=own, left=self.left(asked.who, asked.at))
        states, rows, texts = [], [], []
        for place, (part, (state, row)) in enumerate(zip(asked.parts, found, strict=True)):
            if state in ("draw", "again"):
                assert part.name is not None
                if row is not None and self.is_there(row):
                    self.happened.append(Gone(row))
                if self._row_of(part.name, slot) is not None:  # twice in one statement
                    state, row = "apart", None
                else:
                    row = self._new_row(given, place)
                    asked_for = (part.question, part.terms)
                    self.happened.append(Begun(row, slot, part.name, asked_for, self.boot))
            if row is not None and state in ("draw", "again", "take"):
                until = asked.at + timedelta(seconds=LEASE_SECONDS)
                self.happened.append(Held(row, asked.holder, until))
                state = "draw"
            if row is not None:
                self.happened.append(SeenBy(row, viewer))
            states.append(state)
            rows.append(row)
            texts.append(self.text_of(row) if state == "ready" and row is not None else None)
        self._committed(is_sure=own > 0)
        return ClaimAnswer(
            states=tuple(states),
            rows=tuple(rows),
            texts=tuple(texts),
            paid=own,
            receipt=given.receipt if own > 0 else None,
            left=self.left(asked.who, asked.at),
            is_durable=own > 0,
        )

    def _new_row(self, given: ClaimAnswer, place: int) -> int:
        row = given.rows[place] if place < len(given.rows) else None
        known = {one.row for one in self.happened if isinstance(one, Begun)}
        assert row is not None and row not in known, "a draw has a number of its own"
        return row

    def reserve(self, asked: AskedClaim, given: ClaimAnswer) -> ClaimAnswer:
        cost = sum(part.cost for part in asked.parts)
        if not self._pay(asked.who, cost, cost, asked.at):
            return ClaimAnswer(states=(), paid=cost, left=self.left(asked.who, asked.at))
        self._committed(is_sure=True)
        return ClaimAnswer(
            states=("apart",),
            paid=cost,
            receipt=given.receipt,
            left=self.left(asked.who, asked.at),
            is_durable=True,
        )

    def store(self, row: int, text: str) -> str | None:
        if not self.is_there(row):
            return None
        self.happened.append(Drawn(row, text))
        slots = {one.row: one.slot for one in self.happened if isinstance(one, Begun)}
        for other, slot in slots.items():
            if slot < slots[row] - timedelta(days=62) and self.is_there(other):
                self.happened.append(Gone(other))
        self._committed(is_sure=False)
        return self.text_of(row)

    def forget(self, row: int, holder: str) -> bool:
        if (
            not self.is_there(row)
            or self.text_of(row) is not None
            or self.holder_of(row) != holder
        ):
            return False
        self.happened.append(Gone(row))
        self._committed(is_sure=True)
        return True

    def let_go(self, row: int, holder: str) -> None:
        if self.is_there(row) and self.text_of(row) is None and self.holder_of(row) == holder:
            self.happened.append(LetGo(row))
            self._committed(is_sure=True)

    def make_again(self, who: str) -> None:
        self.viewers[who] = max(self.viewers.values()) + 1

    # What breaks

    def _committed(self, *, is_sure: bool) -> None:
        """Who waits for the disk waits for all that was committed before."""
        if is_sure:
            self._unsure.clear()
            self._sure = len(self.happened)
        else:
            self._unsure.append(len(self.happened))

    @property
    def unsure(self) -> int:
        return len(self._unsure)

    def crash(self, kept: int) -> None:
        del self.happened[[self._sure, *self._unsure][kept] :]
        self._committed(is_sure=True)
        self.boot += 1

    def back_up(self) -> None:
        self._committed(is_sure=True)
        self._backup = (list(self.happened), dict(self.viewers), self.terms)

    @property
    def has_backup(self) -> bool:
        return self._backup is not None

    def restore(self, *, is_raw: bool) -> bool:
        """Gives  whether it must be refused until it is accepted: always, or where payments are missing"""
        assert self._backup is not None
        before = len(self.payments())
        happened, viewers, self.terms = self._backup
        self.happened, self.viewers = list(happened), dict(viewers)
        if is_raw:
            self.boot += 1
        else:  # what was being drawn may have been shown since
            for one in happened:
                if isinstance(one, Begun) and self.text_of(one.row) is None:
                    self.happened.append(Gone(one.row))
        self._committed(is_sure=True)
        return not is_raw or len(self.payments()) < before
