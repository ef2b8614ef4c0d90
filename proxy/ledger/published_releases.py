"""Releases of published statements in the ledger: reserved and charged in one round trip, stored in another;
and the steps of a series.

Source  ledger_schema/published.sql
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import datetime
from fractions import Fraction
from uuid import uuid4

from proxy.accounting.amounts import Amount, charge, decimal
from proxy.accounting.budget_lines import lines_of_json
from proxy.base.errors import Fault
from proxy.drawing.charges import Charge, StepNumbers, StepsSoFar, charge_in_ledger
from proxy.engine.published_ports import (
    DrawnRelease,
    PublishedState,
    ReleaseClaim,
    ReleaseState,
    Series,
    StoredBlock,
    StoredRelease,
)
from proxy.kernel.checked_plan import CheckedPlan
from proxy.ledger.bounds_account import PUBLISHED
from proxy.ledger.budget_warnings import BudgetWarnings
from proxy.ledger.charge_statements import Row
from proxy.ledger.ledger_tables import LedgerTables, as_json
from proxy.ledger.text_cipher import is_sealed
from proxy.mechanisms.loss import Loss
from proxy.policy.publication import Publication

# The steps of a series in the ledger: what is drawn for each, once, under the receipt that paid for all.
#
# Noise is written, durably and encrypted, before its step is read. So a process that is killed at any point is
# followed by one that draws the same numbers.
#
# Source  ledger_schema/published.sql, PROOFS.md 33

_NOISE, _DRAWN = "noise of a step", "drawn step"
_STEPS = """\
SELECT s.number, s.noise, s.drawn FROM ledger.series_step s WHERE s.receipt = %s AND s.number < %s
ORDER BY s.number"""
# All of them or none: of two who read the same steps one stores, so that all are of one snapshot. The first
# step is locked, so that whoever comes second sees that it has been drawn.
_STORE = """\
UPDATE ledger.series_step s SET drawn = g.drawn
FROM (SELECT f.receipt, f.number FROM ledger.series_step f
      WHERE f.receipt = %s AND f.number = %s AND f.drawn IS NULL FOR UPDATE) first,
     jsonb_array_elements_text(%s::jsonb) WITH ORDINALITY AS g(drawn, place)
WHERE s.receipt = first.receipt AND s.number = first.number + g.place - 1 RETURNING s.number"""


class LedgerSteps:
    """Of one receipt. due: so many steps have ended; steps: so many there will be."""

    def __init__(self, tables: LedgerTables, receipt: int, due: int, steps: int) -> None:
        self._tables = tables
        self._receipt = receipt
        self._steps = steps
        self.due = due

    async def begun(self) -> StepsSoFar:
        """
        Refuses  Fault: what stands there cannot be read
        """
        rows = await self._tables.rows(_STEPS, (self._receipt, self.due))
        if [row["number"] for row in rows] != list(range(len(rows))):
            raise Fault("a series lacks a step")
        drawn = [row["drawn"] for row in rows if row["drawn"] is not None]
        if any(row["drawn"] is None for row in rows[: len(drawn)]):
            raise Fault("a series lacks a step")
        has_noise = all(row["noise"] is not None for row in rows)
        return StepsSoFar(
            noise=[self._opened(row["noise"], _NOISE, at) for at, row in enumerate(rows)]
            if has_noise
            else [],
            drawn=[self._opened(one, _DRAWN, at) for at, one in enumerate(drawn)],
        )

    async def begin(self, first: int, noise: StepNumbers) -> StepsSoFar:
        await self._tables.first(
            "SELECT ledger.begin_steps(%s, %s, %s::jsonb)",
            (self._receipt, first, self._sealed(first, noise, _NOISE)),
        )
        return await self.begun()

    async def store(self, first: int, drawn: StepNumbers) -> StepsSoFar:
        sealed = self._sealed(first, drawn, _DRAWN)
        await self._tables.rows(_STORE, (self._receipt, first, sealed))
        found = await self.begun()
        if len(found.drawn) < first + len(drawn):
            raise Fault("another has drawn a part of the steps of a series")
        if len(found.drawn) >= self._steps:
            await self._tables.first(
                "SELECT ledger.end_steps(%s, %s)", (self._receipt, self._steps)
            )
        return found

    def _sealed(self, first: int, numbers: StepNumbers, what: str) -> str:
        texts = self._tables.texts
        return json.dumps(
            [
                texts.sealed(json.dumps(list(row)), (what, str(self._receipt), str(first + place)))
                for place, row in enumerate(numbers)
            ]
        )

    def _opened(self, sealed: str, what: str, number: int) -> list[int]:
        text = self._tables.texts.opened(sealed, (what, str(self._receipt), str(number)))
        if text is None:
            raise Fault("the key that a step of a series was encrypted with is not here")
        return [int(one) for one in json.loads(text)]


# What a sealed text is; its numbers are of the release, and of the block.
_TABLE, _CONSTANTS, _BLOCK, _FAILURE = (
    *("published table", "published constants", "published block"),
    "published failure",
)
# A draw renews its lease; a process that is gone does not.
LEASE_SECONDS = 60
_AT = "coalesce(%s::timestamptz, transaction_timestamp())"
_CLAIM = f"""\
SELECT r.* FROM ledger.publish_at(
    %s, %s, %s, %s, %s, %s::jsonb, %s::uuid, %s, %s, %s, %s, %s, {_AT}, %s::jsonb, %s) r"""  # noqa: S608
_TIMES = ("due", "released_at", "next_due", "stale_since")
_UTC = ", ".join(
    f"""'{name}', to_char(s.{name} AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"+00:00"')"""
    for name in _TIMES
)
# Amounts as texts: a number in JSON is read as a float.
_STATES = f"""\
SELECT jsonb_agg(to_jsonb(s) || jsonb_build_object(
    'epsilon', s.epsilon::text, 'delta', s.delta::text, {_UTC})) AS found
FROM ledger.published_standing_at(%s, %s::jsonb, {_AT}) s"""  # noqa: S608
# As ledger.publish_at decides it.
_DUE_DAY = f"""\
SELECT floor(extract(epoch FROM CASE
    WHEN p.id IS NOT NULL AND p.released_at IS NULL THEN greatest(s.start, p.due)
    WHEN %s THEN s.at ELSE s.start END) / 86400)::bigint AS day
FROM (SELECT a.at, ledger.slot_start(%s, %s, a.at) AS start FROM (SELECT {_AT} AS at) a) s
LEFT JOIN LATERAL (
    SELECT p.id, p.released_at, p.due FROM ledger.published p
    WHERE p.source = %s AND p.name = %s AND p.version = %s ORDER BY p.due DESC LIMIT 1) p ON true"""  # noqa: S608
_STORED = """\
SELECT p.shown, p.constants,
       ARRAY(SELECT b.sealed FROM ledger.published_block b WHERE b.published = p.id ORDER BY b.number) AS blocks
FROM ledger.published p WHERE p.id = %s AND p.shown IS NOT NULL"""


class PublishedReleases:
    """Of one source. at: the time, where a test says it; else the clock of the ledger's server."""

    def __init__(self, tables: LedgerTables) -> None:
        self._tables = tables
        self._warnings = BudgetWarnings(tables.source)
        self.at: datetime | None = None

    async def states(self, wanted: Sequence[Publication]) -> tuple[PublishedState, ...]:
        """
        Refuses  Fault
        """
        row = await self._tables.first(_STATES, (self._tables.source, _wanted(wanted), self.at))
        found = [] if row is None or row["found"] is None else row["found"]
        return tuple(self._state(one) for one in found)

    async def due_day(self, wanted: Publication, *, is_now: bool) -> int:
        of_slot = wanted.seconds, wanted.offset, self.at
        of_name = self._tables.source, wanted.name, wanted.version
        row = await self._tables.first(_DUE_DAY, (is_now, *of_slot, *of_name))
        assert row is not None, "a time is always due"
        return int(row["day"])

    async def claim(
        self,
        wanted: Publication,
        plan: CheckedPlan,
        policy_digest: str,
        *,
        is_now: bool,
        series: Series | None = None,
    ) -> ReleaseClaim:
        """
        Given    plan: all that the statement draws; is_now: whatever the schedule says; series: if it is one
        Refuses  Fault: the charge may then stand, and is found by whoever looks next
        """
        cost, holder = charge(plan.loss), str(uuid4())
        row = await self._tables.first(
            _CLAIM,
            (
                self._tables.source,
                wanted.name,
                wanted.version,
                decimal(cost.epsilon),
                decimal(cost.delta),
                json.dumps(list(plan.price.events)),
                holder,
                LEASE_SECONDS,
                wanted.seconds,
                wanted.offset,
                is_now,
                policy_digest,
                self.at,
                json.dumps({name: as_json(of) for name, of in plan.tables.items()}),
                None if series is None else series.plan,
            ),
        )
        assert row is not None
        state = ReleaseState(row["state"])
        lines = lines_of_json(row["lines"] or [])
        if state is ReleaseState.DRAW:
            self._warnings.of(PUBLISHED, lines)  # for the log: no analyst is there to be told
        if row["receipt"] is not None:
            self._tables.saw(row["receipt"])
        left = None
        if row["total_epsilon"] is not None:
            left = Amount(Fraction(row["total_epsilon"]), Fraction(row["total_delta"]))
        return ReleaseClaim(
            state=state,
            id=row["published"],
            due=row["due"],
            receipt=row["receipt"],
            holder=holder,
            total_epsilon=None if left is None else left.epsilon,
            charge=self._charge_of(plan, row, series) if state is ReleaseState.DRAW else None,
            is_free=row["paid_by"] not in (None, row["receipt"]),
            short=tuple(
                line.whose for line in lines if line.falls_short and line.name != PUBLISHED
            ),
        )

    def _charge_of(self, plan: CheckedPlan, row: Row, series: Series | None) -> Charge:
        """Of a release that is drawn: charged now, or before and never shown (`ledger.publish_at`)."""
        steps = None
        if series is not None:
            due = sum(end <= row["due"] for end in series.ends)
            steps = LedgerSteps(self._tables, row["paid_by"], due, len(series.ends))
        return charge_in_ledger(
            plan,
            plan.price,
            receipt=str(row["receipt"]),
            paid=plan.loss,
            remaining=None,
            steps=steps,
        )

    async def hold(self, claim: ReleaseClaim) -> bool:
        """While it is drawn. False: it is no longer this holder's."""
        row = await self._tables.first(
            f"SELECT ledger.hold_published_at(%s, %s::uuid, %s, {_AT}) AS held",
            (claim.id, claim.holder, LEASE_SECONDS, self.at),
        )
        return row is not None and bool(row["held"])

    async def let_go(self, claim: ReleaseClaim, pause_seconds: int) -> None:
        await self._tables.first(
            f"SELECT ledger.let_go_published_at(%s, %s::uuid, %s, {_AT})",
            (claim.id, claim.holder, pause_seconds, self.at),
        )

    async def store(self, claim: ReleaseClaim, drawn: DrawnRelease) -> bool:
        """Durable before it returns. False: another was first, and that one is shown.

        Refuses  Fault
        """
        blocks = [
            self._sealed(
                json.dumps([one.question, one.terms, one.relation]), _BLOCK, claim.id, number
            )
            for number, one in enumerate(drawn.blocks)
        ]
        row = await self._tables.first(
            f"SELECT ledger.store_published_at(%s, %s, %s, %s, %s::jsonb, {_AT}) AS stored",
            (
                claim.id,
                self._sealed(json.dumps(drawn.constants), _CONSTANTS, claim.id),
                None if drawn.table is None else self._sealed(drawn.table, _TABLE, claim.id),
                None if drawn.failure is None else self._sealed(drawn.failure, _FAILURE),
                json.dumps(blocks),
                self.at,
            ),
        )
        return row is not None and bool(row["stored"])

    async def stored(self, release: int) -> StoredRelease | None:
        """None: a later one stands by now."""
        row = await self._tables.first(_STORED, (release,))
        if row is None:
            return None
        constants = self._opened(row["constants"] or "", _CONSTANTS, release)
        blocks = [
            self._opened(sealed, _BLOCK, release, number)
            for number, sealed in enumerate(row["blocks"])
        ]
        return StoredRelease(
            table=self._table(row["shown"], release),
            constants=() if constants is None else tuple(json.loads(constants)),
            blocks=tuple(
                _block(one) for one in blocks if constants is not None and one is not None
            ),
        )

    def _table(self, stored: str, release: int) -> str | None:
        # Of before 0012, which is not replaced yet.
        return self._opened(stored, _TABLE, release) if is_sealed(stored) else stored

    def _sealed(self, text: str, what: str, *numbers: int | None) -> str:
        return self._tables.texts.sealed(text, (what, *map(str, numbers)))

    def _opened(self, sealed: str, what: str, *numbers: int) -> str | None:
        return self._tables.texts.opened(sealed, (what, *map(str, numbers)))

    def _state(self, row: dict[str, str | int | bool | None]) -> PublishedState:
        failure = row["failure"]
        if failure is not None:
            failure = self._opened(str(failure), _FAILURE) or "the reason cannot be read here"
        return _state({**row, "failure": failure})


def _block(text: str) -> StoredBlock:
    question, terms, relation = json.loads(text)
    return StoredBlock(question=question, terms=terms, relation=relation)


def _wanted(publications: Sequence[Publication]) -> str:
    return json.dumps(
        [
            {"name": one.name, "version": one.version, "seconds": one.seconds, "offset": one.offset}
            for one in publications
        ]
    )


def _state(row: dict[str, str | int | bool | None]) -> PublishedState:
    def time(name: str) -> datetime | None:
        value = row[name]
        return None if value is None else datetime.fromisoformat(str(value))

    release = row["id"]
    assert release is None or isinstance(release, int)
    digest, stale, failure = row["policy_digest"], row["stale"], row["failure"]
    loss = None
    if release is not None:
        loss = Loss(Fraction(str(row["epsilon"])), Fraction(str(row["delta"])))
    next_due = time("next_due")
    assert next_due is not None
    return PublishedState(
        name=str(row["name"]),
        id=release,
        due=time("due"),
        released_at=time("released_at"),
        policy_digest=None if digest is None else str(digest),
        loss=loss,
        next_due=next_due,
        is_due=bool(row["is_due"]),
        stale_since=time("stale_since"),
        stale=None if stale is None else str(stale),
        failure=None if failure is None else str(failure),
    )
