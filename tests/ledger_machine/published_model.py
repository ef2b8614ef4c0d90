"""What a ledger must answer of published statements, from the list of what has happened."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from proxy.ledger.published_releases import LEASE_SECONDS
from proxy.policy.publication import Publication
from tests.ledger_machine.asked import (
    PUBLISHED,
    TOTAL,
    AskedRelease,
    Line,
    ReleaseAnswer,
    ReleaseStanding,
)
from tests.ledger_machine.happened import (
    ReleaseCharged,
    ReleaseGone,
    ReleaseHeld,
    ReleaseStored,
    Settled,
    Stale,
)
from tests.ledger_machine.published import publication
from tests.ledger_machine.simple_model import SimpleModel, slot_of

_LEASE = timedelta(seconds=LEASE_SECONDS)
_KEPT = timedelta(days=62)
_NEXT = timedelta(microseconds=1)


@dataclass(frozen=True, slots=True, kw_only=True)
class KnownRelease:
    charged: ReleaseCharged
    held: ReleaseHeld
    draws: int
    released: ReleaseStored | None


class PublishingModel(SimpleModel):
    def releases(self) -> list[KnownRelease]:
        """That are there."""
        found = []
        for one in self.happened:
            if not isinstance(one, ReleaseCharged) or ReleaseGone(one.row) in self.happened:
                continue
            held = [h for h in self.happened if isinstance(h, ReleaseHeld) and h.row == one.row]
            released = [
                r for r in self.happened if isinstance(r, ReleaseStored) and r.row == one.row
            ]
            found.append(
                KnownRelease(
                    charged=one,
                    held=held[-1],
                    draws=sum(h.is_draw for h in held),
                    released=released[0] if released else None,
                )
            )
        return found

    def _of(self, name: str, version: str) -> list[KnownRelease]:
        """The latest last."""
        found = [
            one
            for one in self.releases()
            if (one.charged.name, one.charged.version) == (name, version)
        ]
        return sorted(found, key=lambda one: one.held.due)

    def _release(self, row: int) -> KnownRelease | None:
        return next((one for one in self.releases() if one.charged.row == row), None)

    def is_displayed(self, one: KnownRelease) -> bool:
        """A table, and not of before one that came after it."""
        return self._stands(one) and one.released is not None and one.released.table is not None

    def _stands(self, one: KnownRelease) -> bool:
        if one.released is None:
            return False
        since = self.happened[self.happened.index(one.released) + 1 :]
        for later in since:
            if not isinstance(later, ReleaseStored) or later.table is None:
                continue
            of = self._release(later.row)
            if of is None or of.charged.name != one.charged.name or of.held.due <= one.held.due:
                continue
            is_same = of.charged.version == one.charged.version
            if is_same or one.held.due < of.held.due - _KEPT:
                return False
        return True

    def publish(self, asked: AskedRelease, at: datetime, given: ReleaseAnswer) -> ReleaseAnswer:
        """
        Given    what the ledger answered: only the number of a new release and of its receipt are taken from it
        Gives    what it must have answered
        """
        version = publication(asked.name, asked.sql, asked.slot).version
        cost = asked.of.cost
        due = slot_of(at, *asked.slot)
        known = self._of(asked.name, version)
        last = known[-1] if known else None
        if last is not None:
            row, receipt = last.charged.row, last.charged.receipt
            if last.released is None:
                if last.held.until > at:
                    return ReleaseAnswer(state="wait", row=row, due=last.held.due, receipt=receipt)
                if self._is_paid(last.charged, asked):
                    due = max(due, last.held.due)
                    self.happened.append(ReleaseHeld(row, given.holder, due, at + _LEASE, True))
                    self.committed(is_sure=True)
                    return ReleaseAnswer(state="draw", row=row, due=due, receipt=receipt)
                due = max(due, last.held.due + _NEXT)
            elif last.held.due >= due and not asked.is_now:
                return ReleaseAnswer(state="done", row=row, due=last.held.due, receipt=receipt)
            if asked.is_now:
                due = max(at, last.held.due + _NEXT)
        elif asked.is_now:
            due = at
        tables: list[Line] = [("table", one) for one in asked.tables]
        costs = dict.fromkeys([("analyst", PUBLISHED), *tables, TOTAL], cost)
        if self.pay(at, PUBLISHED, costs, given.receipt) is None:
            short = frozenset(line for line in costs if not self.fit(at, {line: cost}))
            self.happened.append(Stale(asked.name, version, at, _reason(short)))
            self.committed(is_sure=True)
            return ReleaseAnswer(state="unfunded", short=short - {("analyst", PUBLISHED)})
        assert given.row is not None and given.receipt is not None
        assert self._release(given.row) is None, "a release has a number of its own"
        self.happened += [
            ReleaseCharged(given.row, asked.name, version, given.receipt, cost, asked.tables),
            ReleaseHeld(given.row, given.holder, due, at + _LEASE, True),
            Stale(asked.name, version, at, None),
        ]
        self.committed(is_sure=True)
        return ReleaseAnswer(state="draw", row=given.row, due=due, receipt=given.receipt)

    @staticmethod
    def _is_paid(charged: ReleaseCharged, asked: AskedRelease) -> bool:
        """In every currency: other noise of the same epsilon and delta is another price."""
        cost, paid = asked.of.cost, charged.cost
        is_enough = (
            paid.epsilon >= cost.epsilon
            and paid.delta >= cost.delta
            and paid.rho >= cost.rho
            and paid.approx >= cost.approx
            and paid.gaussian >= cost.gaussian
        )
        return is_enough and set(asked.tables) <= set(charged.tables)

    def hold_release(self, row: int, holder: str, at: datetime) -> bool:
        return self._hold(row, holder, at + _LEASE)

    def let_go_release(self, row: int, holder: str, at: datetime, pause_seconds: int) -> None:
        self._hold(row, holder, at + timedelta(seconds=pause_seconds))

    def _hold(self, row: int, holder: str, until: datetime) -> bool:
        one = self._release(row)
        if one is None or one.released is not None or one.held.holder != holder:
            return False
        self.happened.append(ReleaseHeld(row, holder, one.held.due, until, False))
        self.committed(is_sure=True)
        return True

    def store_release(self, row: int, at: datetime, table: str | None, block: str) -> bool:
        """Whoever holds it."""
        one = self._release(row)
        if one is None or one.released is not None:
            return False
        self.happened.append(ReleaseStored(row, at, table, block))
        if one.charged.receipt not in self.settled():
            self.happened.append(Settled(one.charged.receipt, "answered"))
        self.committed(is_sure=True)
        return True

    def released(self) -> dict[int, tuple[object, ...]]:
        found: dict[int, tuple[object, ...]] = {}
        for one in self.releases():
            charged, held, released = one.charged, one.held, one.released
            found[charged.row] = (
                *(charged.name, charged.version, held.due, held.until, held.holder),
                *(one.draws, charged.receipt),
                None if released is None else released.at,
                released.table if released is not None and self.is_displayed(one) else None,
                "no table" if released is not None and released.table is None else None,
                (released.block,) if released is not None and self._stands(one) else (),
            )
        return found

    def release_standings(
        self, wanted: Sequence[Publication], at: datetime
    ) -> list[ReleaseStanding]:
        return [self._standing(one, at) for one in wanted]

    def _standing(self, wanted: Publication, at: datetime) -> ReleaseStanding:
        slot = slot_of(at, wanted.seconds, wanted.offset)
        known = self._of(wanted.name, wanted.version)
        last = known[-1] if known else None
        tables = [one for one in known if self.is_displayed(one)]
        table = tables[-1] if tables else None
        stale = self._stale(wanted)
        failure = None
        if last is not None and last is not table and last.released is not None:
            failure = "no table" if last.released.table is None else None
        return ReleaseStanding(
            row=None if table is None else table.charged.row,
            due=None if table is None else table.held.due,
            released_at=None if table is None or table.released is None else table.released.at,
            cost=None if table is None else (table.charged.cost.epsilon, table.charged.cost.delta),
            next_due=slot + timedelta(seconds=wanted.seconds),
            is_due=last is None or last.released is None or last.held.due < slot,
            stale_since=stale[0].at if stale else None,
            stale=stale[-1].reason if stale else None,
            failure=failure,
        )

    def _stale(self, of: Publication) -> list[Stale]:
        """Since it was none."""
        each = [
            one
            for one in self.happened
            if isinstance(one, Stale) and (one.name, one.version) == (of.name, of.version)
        ]
        while any(one.reason is None for one in each):
            each = each[1:]
        return each

    def restored(self) -> None:
        for one in self.releases():
            if one.released is None:
                self.happened.append(ReleaseGone(one.charged.row))
        super().restored()


def _reason(short: frozenset[Line]) -> str:
    tables = sorted(name for kind, name in short if kind == "table")
    each = [f"budget of the table {name}" for name in tables] or ["shared budget (total)"]
    return f"the {' and the '.join(each)} does not cover its next release"
