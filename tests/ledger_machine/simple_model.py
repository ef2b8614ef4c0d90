"""What a ledger must answer, from the list of what has happened and nothing else: no rows are kept. Each
question reads the whole list anew. Charges that are sent together are answered one after the other.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import datetime, timedelta, timezone
from fractions import Fraction

from proxy.ledger.cached_claims import LEASE_SECONDS
from tests.ledger_machine.asked import (
    NOT_AN_ANALYST,
    NOT_CHARGED,
    TOTAL,
    WITHDRAWN,
    Answer,
    AskedCharge,
    AskedClaim,
    AskedPart,
    Line,
    Terms,
)
from tests.ledger_machine.happened import Begun, Drawn, Gone, Held, LetGo, SeenBy, Settled
from tests.ledger_machine.spent_lines import SpentLines
from tests.ledger_machine.tokens_spent import Tokens
from tests.ledger_model.two_ways import Cost, drawn, priced

_MOST_DRAWS = 3


def slot_of(at: datetime, seconds: int, offset: int) -> datetime:
    origin = datetime(2000, 1, 1, tzinfo=timezone.utc) + timedelta(seconds=offset)
    return origin + (at - origin) // timedelta(seconds=seconds) * timedelta(seconds=seconds)


class SimpleModel(Tokens):
    def __init__(self, terms: Terms) -> None:
        super().__init__(terms)
        self.boot = 0
        self.commits = 0
        self._together: list[bool] | None = None
        # Of the last claims: whether each had to wait for the disk; None: it did nothing.
        self.transactions: list[bool | None] = []
        self._unsure: list[
            int
        ] = []  # how long the list was after each commit that nobody waited for
        self._sure = 0

    # Answers

    def is_there(self, row: int) -> bool:
        return Gone(row) not in self.happened[self._begun_at(row) :]

    def _begun_at(self, row: int) -> int:
        """A number that was lost in a crash may be given again."""
        places = [
            n for n, one in enumerate(self.happened) if isinstance(one, Begun) and one.row == row
        ]
        return places[-1] if places else 0

    def text_of(self, row: int) -> str | None:
        texts = [one.text for one in self.happened if isinstance(one, Drawn) and one.row == row]
        return texts[0] if texts else None

    def holder_of(self, row: int) -> str:
        return [one for one in self.happened if isinstance(one, Held) and one.row == row][-1].holder

    def begun(self) -> list[Begun]:
        return [one for one in self.happened if isinstance(one, Begun)]

    def rows(self) -> list[Begun]:
        return [one for one in self.begun() if self.is_there(one.row)]

    def _row_of(self, name: int, slot: datetime) -> Begun | None:
        return next((one for one in self.rows() if (one.name, one.slot) == (name, slot)), None)

    def _state(self, part: AskedPart, slot: datetime, at: datetime) -> tuple[str, int | None]:
        if part.name is None:
            return "apart", None
        begun = self._row_of(part.name, slot)
        if begun is None:
            return "draw", None
        if self.text_of(begun.row) is not None:
            return "ready", begun.row
        if begun.boot != self.boot:  # it may have been shown and lost
            return "again", begun.row
        holds = [
            one for one in self.happened if isinstance(one, Held | LetGo) and one.row == begun.row
        ]
        if isinstance(holds[-1], Held) and holds[-1].until > at:
            return "wait", begun.row
        draws = sum(isinstance(one, Held) for one in holds)
        return "take" if draws < _MOST_DRAWS else "again", begun.row

    def claim_each(
        self, asked: Sequence[AskedClaim], at: datetime, given: Sequence[Answer]
    ) -> list[Answer]:
        """As claim. The first goes alone, the others together."""
        self.transactions = []
        found = [WITHDRAWN] * len(asked)
        for places in ([0], range(1, len(asked))):
            sent = [n for n in places if not asked[n].is_withdrawn]
            if sent:
                with self._one_commit():
                    for n in sent:
                        found[n] = self.claim(asked[n], at, given[n])
        return found

    def claim(self, asked: AskedClaim, at: datetime, given: Answer) -> Answer:
        """
        Given    what the ledger answered: only the numbers of new rows and of the receipt are taken from it
        Gives    what it must have answered
        """
        who, parts = asked.who, asked.parts
        if not self.may_ask(who):
            return NOT_AN_ANALYST
        viewer, groups = self.viewer_of(who), self.groups_of(who)
        slot = slot_of(at, *self.terms.slot)
        found = [self._state(part, slot, at) for part in parts]
        if not asked.may_draw and any(state not in ("ready", "wait") for state, _ in found):
            return Answer(states=None)
        pays: dict[Line, list[AskedPart]] = {("analyst", who): [], TOTAL: []}
        anew: dict[Line, list[AskedPart]] = {}  # as if nobody had asked
        newly = []
        for part, (state, row) in zip(parts, found, strict=True):
            known = None if state == "again" else row
            newly.append(known is None or SeenBy(known, viewer) not in self.happened)
            if newly[-1]:
                pays["analyst", who].append(part)
                for line in (
                    *(("analyst", who), TOTAL),
                    *(("group", group) for group in groups),
                    *(("table", table) for table in part.tables),
                ):
                    anew.setdefault(line, []).append(part)
                for group in groups:
                    if known is None or SeenBy(known, f"group {group}") not in self.happened:
                        pays.setdefault(("group", group), []).append(part)
            if state in ("draw", "again", "apart"):
                pays[TOTAL].append(part)
                for table in part.tables:
                    pays.setdefault(("table", table), []).append(part)
        own = _sum(pays["analyst", who])
        lines: SpentLines = ()
        if own.epsilon > 0:
            costs = self._costs(own, pays)
            if not self.fit(at, self._costs(own, anew)) or not self.fit(at, costs):
                return Answer(states=())
            refused = self.refused_by_token(asked.token, who, own.epsilon, at)
            if refused is not None:
                return refused
            self.pay(at, who, costs, given.receipt)
            self.spend_token(asked.token, own.epsilon, at)
            lines = self.lines_of(costs, at)
        states, rows, texts = [], [], []
        for place, (part, (state, row)) in enumerate(zip(parts, found, strict=True)):
            if state in ("draw", "again"):
                assert part.name is not None
                if row is not None and self.is_there(row):
                    self.happened.append(Gone(row))
                if self._row_of(part.name, slot) is not None:  # twice in one statement
                    state, row = "apart", None
                else:
                    row = self._new_row(given, place)
                    self.happened.append(Begun(row, slot, part.name, self.boot))
            if row is not None and state in ("draw", "again", "take"):
                until = at + timedelta(seconds=LEASE_SECONDS)
                self.happened.append(Held(row, given.holder, until))
                state = "draw"
            if row is not None:
                self.happened.append(SeenBy(row, viewer))
                if newly[place]:
                    self.happened += [SeenBy(row, f"group {one}") for one in groups]
            states.append(state)
            rows.append(row)
            texts.append(self.text_of(row) if state == "ready" and row is not None else None)
        self.committed(is_sure=own.epsilon > 0)
        return Answer(
            states=tuple(states),
            rows=tuple(rows),
            texts=tuple(texts),
            paid=own.epsilon,
            lines=lines,
        )

    @staticmethod
    def _costs(own: Cost, pays: Mapping[Line, Sequence[AskedPart]]) -> Mapping[Line, Cost]:
        return {
            line: own if line[0] == "analyst" else drawn(own, *_amount(of))
            for line, of in pays.items()
        }

    def _new_row(self, given: Answer, place: int) -> int:
        row = given.rows[place] if given.rows and place < len(given.rows) else None
        known = {one.row for one in self.happened if isinstance(one, Begun)}
        assert row is not None and row not in known, "a draw has a number of its own"
        return row

    def reserve_each(
        self, asked: Sequence[AskedCharge], at: datetime, given: Sequence[Answer]
    ) -> list[Answer]:
        """The first goes alone, as those through a token do; the others together."""
        found = [WITHDRAWN] * len(asked)
        through = [n for n, one in enumerate(asked) if one.token is not None]
        others = [n for n, one in enumerate(asked) if one.token is None]
        with self._one_commit():
            for n in (*sorted((*through, *others[:1])), *others[1:]):
                found[n] = self.reserve(asked[n], at, given[n])
        return found

    def reserve(self, asked: AskedCharge, at: datetime, given: Answer) -> Answer:
        who, part = asked.who, asked.part
        if asked.is_withdrawn:
            return WITHDRAWN
        if not self.may_ask(who):
            return NOT_AN_ANALYST
        if asked.is_unreadable:
            return NOT_CHARGED
        lines: list[Line] = [("analyst", who), TOTAL]
        lines += [("group", one) for one in self.groups_of(who)]
        lines += [("table", one) for one in part.tables]
        costs = dict.fromkeys(lines, part.of.cost)
        if not self.fit(at, costs):
            return Answer(states=())
        refused = self.refused_by_token(asked.token, who, part.of.cost.epsilon, at)
        if refused is not None:
            return refused
        self.pay(at, who, costs, given.receipt)
        self.spend_token(asked.token, part.of.cost.epsilon, at)
        self.committed(is_sure=True)
        return Answer(states=("apart",), paid=part.of.cost.epsilon, lines=self.lines_of(costs, at))

    def finish(self, row: int, holder: str, text: str, *, is_too_large: bool) -> str | None:
        """Of a draw. Gives  what may be shown of it; None: nothing"""
        is_there = self.is_there(row)
        if is_too_large:
            if not is_there or self.text_of(row) is not None or self.holder_of(row) != holder:
                return None
            self.happened.append(Gone(row))
            self.committed(is_sure=True)
            return text
        if not is_there:
            return None
        self.happened.append(Drawn(row, text))
        slots = {one.row: one.slot for one in self.rows()}
        self.happened += [
            Gone(other) for other, slot in slots.items() if slot < slots[row] - timedelta(days=62)
        ]
        self.committed(is_sure=True)
        return self.text_of(row)

    def let_go(self, row: int, holder: str) -> None:
        if self.is_there(row) and self.text_of(row) is None and self.holder_of(row) == holder:
            self.happened.append(LetGo(row))
            self.committed(is_sure=True)

    def settle(self, receipt: int, outcome: str) -> None:
        if receipt not in self.settled():
            self.happened.append(Settled(receipt, outcome))
        self.committed(is_sure=False)

    def settled(self) -> dict[int, str]:
        return {one.receipt: one.outcome for one in self.happened if isinstance(one, Settled)}

    # What breaks

    @contextmanager
    def _one_commit(self) -> Iterator[None]:
        """Which waits for the disk where any of what it is of does."""
        self._together = []
        yield
        each, self._together = self._together, None
        self.transactions.append(any(each) if each else None)
        if each:
            self.committed(is_sure=any(each))

    def committed(self, *, is_sure: bool) -> None:
        """Who waits for the disk waits for all that was committed before."""
        if self._together is not None:
            self._together.append(is_sure)
            return
        self.commits += 1
        if is_sure:
            self._unsure.clear()
            self._sure = len(self.happened)
        else:
            self._unsure.append(len(self.happened))

    def standing(self) -> dict[int, tuple[object, ...]]:
        """Of each row: its question, its text, who holds it, how often it was begun, who has seen it."""
        found: dict[int, tuple[object, ...]] = {}
        for one in self.rows():
            held = [h for h in self.happened if isinstance(h, Held) and h.row == one.row]
            seen = {s.viewer for s in self.happened if isinstance(s, SeenBy) and s.row == one.row}
            text = self.text_of(one.row)
            found[one.row] = (one.name, text, held[-1].holder, len(held), seen)
        return found

    @property
    def unsure(self) -> int:
        return len(self._unsure)

    def crash(self, kept: int) -> None:
        """kept: how many of the commits that nobody waited for survive."""
        del self.happened[[self._sure, *self._unsure][kept] :]
        self._answered = None
        self.committed(is_sure=True)
        self.boot += 1

    def restored(self) -> None:
        """From a backup: what was being drawn may have been shown since."""
        for one in self.rows():
            if self.text_of(one.row) is None:
                self.happened.append(Gone(one.row))
        self.revoke_all()
        self.committed(is_sure=True)


def _amount(parts: Sequence[AskedPart]) -> tuple[Fraction, Fraction]:
    costs = [part.of.cost for part in parts]
    zero = Fraction(0)
    return sum((one.epsilon for one in costs), zero), sum((one.delta for one in costs), zero)


def _sum(parts: Sequence[AskedPart]) -> Cost:
    events = [event for part in parts for event in part.of.events]
    return priced(events, *_amount(parts))
