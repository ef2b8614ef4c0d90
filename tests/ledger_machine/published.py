"""The product's releases of published statements, driven as `Publishing` drives them, without data."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from types import SimpleNamespace
from typing import cast

from proxy.accounting.amounts import charge
from proxy.engine.published_ports import DrawnRelease, ReleaseClaim, ReleaseState, StoredBlock
from proxy.ledger.bounds_account import PUBLISHED
from proxy.ledger.budget_warnings import BudgetWarnings
from proxy.ledger.published_releases import PublishedReleases
from proxy.mechanisms.loss import Loss
from proxy.policy.publication import Publication
from tests.ledger_machine.asked import TABLES, AskedRelease, Line, ReleaseAnswer, ReleaseStanding
from tests.ledger_machine.tables_of_one import TablesOfOne, at_once
from tests.unchecked_blocks import charge_of

_MAY_SPEND = Loss(Fraction(10), Fraction(1, 10**5))


@dataclass(frozen=True, slots=True, kw_only=True)
class Releasing:
    """A draw that was begun."""

    process: int
    row: int
    receipt: int
    claim: ReleaseClaim


def publication(name: str, sql: str, slot: tuple[int, int]) -> Publication:
    return Publication(name=name, sql=sql, seconds=slot[0], offset=slot[1], loss=_MAY_SPEND)


class DrivenReleases:
    processes: list[TablesOfOne]

    def serve_releases(self) -> None:
        self._releases = [PublishedReleases(tables) for tables in self.processes]
        for one in self._releases:
            one._warnings = cast(BudgetWarnings, SimpleNamespace(of=lambda *_: ()))

    def publish(self, process: int, asked: AskedRelease) -> tuple[ReleaseAnswer, list[Releasing]]:
        claim = at_once(
            self._releases[process].claim(
                publication(asked.name, asked.sql, asked.slot),
                charge_of(
                    asked.of.loss, asked.of.events, dict.fromkeys(asked.tables, asked.of.loss)
                ),
                "p",
                is_now=asked.is_now,
            )
        )
        answer = ReleaseAnswer(
            state=claim.state.value,
            row=claim.id,
            due=claim.due,
            receipt=claim.receipt,
            short=frozenset(map(_line_of, claim.short)),
            holder=claim.holder,
        )
        if claim.state is not ReleaseState.DRAW:
            return answer, []
        assert claim.id is not None and claim.receipt is not None
        begun = Releasing(process=process, row=claim.id, receipt=claim.receipt, claim=claim)
        return answer, [begun]

    def hold_release(self, one: Releasing) -> bool:
        return at_once(self._releases[one.process].hold(one.claim))

    def let_go_release(self, one: Releasing, pause_seconds: int) -> None:
        at_once(self._releases[one.process].let_go(one.claim, pause_seconds))

    def store_release(self, one: Releasing, table: str | None, block: str) -> bool:
        drawn = DrawnRelease(
            constants=(),
            table=table,
            failure="no table" if table is None else None,
            blocks=(StoredBlock(question="q", terms="t", relation=block),),
        )
        return at_once(self._releases[one.process].store(one.claim, drawn))

    def table_of(self, row: int) -> str | None:
        stored = at_once(self._releases[0].stored(row))
        return None if stored is None else stored.table

    def release_standings(self, wanted: Sequence[Publication]) -> list[ReleaseStanding]:
        found = at_once(self._releases[0].states(wanted))
        assert [one.name for one in found] == [one.name for one in wanted]
        return [
            ReleaseStanding(
                row=one.id,
                due=one.due,
                released_at=one.released_at,
                cost=None if one.loss is None else charge(one.loss),
                next_due=one.next_due,
                is_due=one.is_due,
                stale_since=one.stale_since,
                stale=one.stale,
                failure=one.failure,
            )
            for one in found
        ]


def _line_of(whose: str) -> Line:
    """As BudgetLine.whose names it."""
    if whose == "the shared privacy budget":
        return ("total", "")
    known: dict[str, Line] = {
        f"the privacy budget of the table {name}": ("table", name) for name in TABLES
    }
    assert PUBLISHED not in whose, whose
    return known[whose]
