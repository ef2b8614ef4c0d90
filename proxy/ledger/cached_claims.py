"""Cached answers in the ledger: a claim is one round trip, durable before it returns.

Source  ledger_schema/cached_answers.sql
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timezone
from fractions import Fraction
from uuid import uuid4

from proxy.accounting.amounts import Amount
from proxy.accounting.budget_lines import lines_of_json
from proxy.accounting.refusal import ShownAnswers, over_budget
from proxy.base.errors import Fault
from proxy.drawing.answer_slots import (
    CachedQuestion,
    CacheState,
    PaidAnswer,
    ShownAnswer,
    Unfinished,
    shown_answer,
)
from proxy.drawing.statement_run import StatementRun
from proxy.ledger.charge_queue import ChargeQueue
from proxy.ledger.charge_statements import (
    ClaimRequest,
    ClaimTerms,
    Row,
    claiming,
    claiming_each,
    in_their_order,
)
from proxy.ledger.ledger_tables import LedgerTables, Receipt, as_json, not_an_analyst
from proxy.policy.policy_model import Reuse
from proxy.reuse.derivable import source_document

_RELATION, _MADE = "cached relation", "cached source"  # what a sealed text is
_SOURCES = 1_000  # that are remembered, some hundred bytes each
# A draw that takes longer is taken over by the next to ask, who does no harm: the first to store it wins.
LEASE_SECONDS = 60
# Of all that is cached in a ledger: beyond, what is drawn is not kept. At the least epsilon an analyst may ask
# millions of questions.
MOST_BYTES = 8 * 1024**3
# Durable before it is shown. ledger.store itself does not wait for the disk; `started` tells of a server that
# was started again, not of one that goes on after one of its processes was killed, and loses as much.
_STORE = """\
SELECT s.relation, set_config('synchronous_commit', 'on', true)
FROM (SELECT ledger.store(%s, %s) AS relation OFFSET 0) s"""
# Those that ledger.claim_at would not have paid again: drawn, or with a draw left under their charge.
_PAID_OF = """\
SELECT jsonb_agg(encode(k.digest, 'hex')) AS found
FROM ledger.cached k JOIN ledger.seen s ON s.cached = k.id
WHERE k.source = %s AND k.slot = ledger.slot_start(%s, %s, transaction_timestamp()) AND k.digest = ANY (%s)
  AND s.viewer = ledger.viewer_of(%s)
  AND (k.relation IS NOT NULL OR k.started = pg_postmaster_start_time()
       AND (k.draws < 3 OR k.lease_until > transaction_timestamp()))"""
_PAID_ABOUT = """\
SELECT jsonb_agg(jsonb_build_array(p.id, encode(p.about, 'hex'), p.made, extract(epoch FROM s.at))
                 ORDER BY p.id DESC) AS found
FROM (SELECT ledger.viewer_of(%s) AS name) viewer
CROSS JOIN LATERAL ledger.paid_about(%s, %s, %s, %s, %s) p
JOIN ledger.seen s ON s.cached = p.id AND s.viewer = viewer.name WHERE ledger.may_charge(%s, %s)"""
# Who has paid for it is seen, whether it stands already or not.
_SHOWN = """\
SELECT k.relation FROM ledger.cached k JOIN ledger.seen s ON s.cached = k.id
WHERE s.viewer = ledger.viewer_of(%s) AND k.id = %s"""
# Only of what this analyst was shown: how many answers others have is nobody's business.
_COUNT_SHOWN = """\
SELECT count(k.id) AS found, w.slot + make_interval(secs => %s) AS ends_at
FROM (SELECT ledger.slot_start(%s, %s, transaction_timestamp()) AS slot) w
LEFT JOIN (ledger.cached k JOIN ledger.seen s ON s.cached = k.id AND s.viewer = ledger.viewer_of(%s))
    ON k.source = %s AND k.slot = w.slot AND k.relation IS NOT NULL
GROUP BY w.slot"""
_FORGET = """\
DELETE FROM ledger.cached WHERE id = %s AND holder = %s::uuid AND relation IS NULL RETURNING id"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Claimed:
    """As ledger.claim_at gives it. receipt: None where nothing is paid; shown_at: when this analyst was first
    shown the oldest of what is claimed, None where anything of it is new to them, or drawn now."""

    receipt: Receipt | None
    remaining: Amount
    holder: str
    states: tuple[CacheState, ...]
    cached: tuple[int | None, ...]
    relations: tuple[str | None, ...]
    shown_at: datetime | None


class CachedClaims:
    """Of one source, in the slots of its policy."""

    def __init__(self, tables: LedgerTables, reuse: Reuse, most_bytes: int = MOST_BYTES) -> None:
        self._tables = tables
        self._reuse = reuse
        self._terms = ClaimTerms(
            lease_seconds=LEASE_SECONDS,
            slot_seconds=reuse.seconds,
            slot_offset=reuse.offset,
            most_bytes=most_bytes,
        )
        self._claiming = ChargeQueue(self._claim_each, times=tables.charge_times)
        self._sources: dict[tuple[str, str], object] = {}

    async def claim(
        self,
        run: StatementRun,
        parts: Sequence[CachedQuestion],
        fingerprint: str,
        policy_digest: str,
        *,
        may_draw: bool,
        text: str | None = None,
    ) -> Claimed | None:
        """
        Given    run: names who is charged; text: of the statement, where receipts keep it
        Refuses  OVER_BUDGET, PROTECTED, Fault: as LedgerTables.reserve
        """
        holder, analyst, token = str(uuid4()), run.analyst, run.payer.token
        one = ClaimRequest(
            analyst=analyst,
            parts=[self._as_json(one) for one in parts],
            holder=holder,
            may_draw=may_draw,
            fingerprint=fingerprint,
            policy_digest=policy_digest,
            statement=self._tables.encrypted(text, analyst, fingerprint),
        )
        if token is None:
            row = await self._claiming.charged(one)
        else:  # as in LedgerTables.reserve
            row = await self._tables.first(*claiming(self._tables.source, one, self._terms, token))
        if row is None:
            raise not_an_analyst(analyst)
        if row["states"] is None:
            return None
        lines = lines_of_json(row["lines"])
        if not row["states"]:
            raise over_budget(lines, is_cached=True)
        receipt, remaining = None, self._tables.usable(lines)
        if row["receipt"] is not None:
            self._tables.saw(row["receipt"])
            cost = Amount(Fraction(row["paid_epsilon"]), Fraction(row["paid_delta"]))
            receipt = Receipt(row["receipt"], cost, remaining, lines, row["person"])
        stored = zip(row["cached"], row["relations"], strict=True)
        relations = [await self._opened(run, number, sealed) for number, sealed in stored]
        return Claimed(
            receipt=receipt,
            remaining=remaining,
            holder=holder,
            states=tuple(map(CacheState, row["states"])),
            cached=tuple(row["cached"]),
            relations=tuple(relations),
            shown_at=row["shown_at"],
        )

    async def close(self) -> None:
        await self._claiming.close()

    async def _claim_each(self, these: Sequence[ClaimRequest]) -> Sequence[Row | None]:
        tables, terms = self._tables, self._terms
        if len(these) == 1:
            return [await tables.first(*claiming(tables.source, these[0], terms, None))]
        rows = await tables.rows(*claiming_each(tables.source, these, terms))
        return in_their_order(rows, [one.analyst for one in these])

    async def store(self, run: StatementRun, cached: int, relation: str) -> str | None:
        work, seal = _work(relation), self._tables.texts.sealed
        sealed = await run.turn.in_thread_if_long(work, seal, relation, _bound(cached))
        row = await self._tables.first(_STORE, (cached, sealed))
        if row is None or row["relation"] is None:
            return None
        if row["relation"] == sealed:
            return relation
        return await self._opened(run, cached, row["relation"])

    async def shown(self, run: StatementRun, cached: int) -> ShownAnswer | None:
        """
        Refuses  Unfinished: it is not there any more, or this analyst has not paid for it
        """
        row = await self._tables.first(_SHOWN, (run.analyst, cached))
        if row is None:
            raise Unfinished
        text = await self._opened(run, cached, row["relation"])
        return None if text is None else shown_answer(run.analyst, cached, text)

    async def _opened(
        self, run: StatementRun, cached: int | None, sealed: str | None
    ) -> str | None:
        """Refuses  Fault: it is not what was stored"""
        if sealed is None:
            return None
        assert cached is not None, "what is stored has a number"
        work, opened = _work(sealed), self._tables.texts.opened
        found = await run.turn.in_thread_if_long(work, opened, sealed, _bound(cached))
        if found is None:
            raise Fault("an answer that was cached cannot be read")
        return found

    async def paid_about(self, analyst: str, wanted: Sequence[bytes]) -> Sequence[PaidAnswer]:
        texts = self._tables.texts
        names = {texts.keyed(about): about for about in wanted}
        row = await self._tables.first(
            _PAID_ABOUT,
            (
                analyst,
                self._tables.source,
                analyst,
                self._reuse.seconds,
                self._reuse.offset,
                list(names),
                self._tables.source,
                analyst,
            ),
        )
        opened = []
        for cached, keyed, sealed, at in [] if row is None else row["found"] or []:
            made = self._made(sealed, keyed)
            if made is not None:
                about = names[bytes.fromhex(keyed)]
                shown_at = datetime.fromtimestamp(at, timezone.utc)
                opened.append(PaidAnswer(cached=cached, about=about, made=made, shown_at=shown_at))
        return opened

    def _made(self, sealed: str, keyed: str) -> object:
        """Remembered: who looks at a dashboard again is found the same sources."""
        found = self._sources.get((sealed, keyed))
        if found is None:
            text = self._tables.texts.opened(sealed, (_MADE, keyed))
            found = None if text is None else json.loads(text)
            self._sources[sealed, keyed] = found
            if len(self._sources) > _SOURCES:
                self._sources.pop(next(iter(self._sources)))
        return found

    async def paid_of(self, analyst: str, digests: Sequence[bytes]) -> frozenset[bytes]:
        of_slot = self._tables.source, self._reuse.seconds, self._reuse.offset
        names = {self._tables.texts.keyed(digest): digest for digest in digests}
        row = await self._tables.first(_PAID_OF, (*of_slot, list(names), analyst))
        found = [] if row is None else row["found"] or []
        return frozenset(names[bytes.fromhex(keyed)] for keyed in found)

    async def count_shown(self, analyst: str) -> ShownAnswers:
        """Count the answers that an analyst can see again at no cost."""
        of_slot = self._reuse.seconds, self._reuse.seconds, self._reuse.offset
        row = await self._tables.first(_COUNT_SHOWN, (*of_slot, analyst, self._tables.source))
        assert row is not None, "a slot is always there"
        return ShownAnswers(count=row["found"], until=row["ends_at"])

    async def forget(self, cached: int, holder: str) -> bool:
        return await self._tables.first(_FORGET, (cached, holder)) is not None

    async def let_go(self, cached: int, holder: str) -> None:
        await self._tables.first("SELECT ledger.let_go(%s, %s::uuid)", (cached, holder))

    def _as_json(self, part: CachedQuestion) -> dict[str, object]:
        """Nothing of it tells what is asked, but to who has the key."""
        texts, derivable = self._tables.texts, part.derivable
        about = made = None
        if derivable is not None:
            about = texts.keyed(derivable.about).hex()
            made = texts.sealed(json.dumps(source_document(derivable.source)), (_MADE, about))
        return {
            "digest": None if part.digest is None else texts.keyed(part.digest).hex(),
            **as_json(part.block.loss),
            "events": list(part.block.price.events),
            "tables": list(part.block.tables),
            "about": about,
            "made": made,
        }


def _bound(cached: int) -> tuple[str, ...]:
    return _RELATION, str(cached)


def _work(text: str) -> int:
    """As `beside` counts it: a megabyte takes some 3 ms."""
    return len(text) // 512
