"""A planned query, in order: look at the budget, take a session, reserve, run, release, settle.

What fails before the charge costs nothing: by then the budget was looked at and a session on the protected
server is open, its BEGIN answered. Nothing is read from the protected database before the charge is durable,
nothing of the charge is given back after, and what leaves is the noisy relation alone. Where answers are cached
the charge is what the ledger says of each part, and what was drawn already needs no session.
"""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Mapping
from contextlib import AsyncExitStack
from dataclasses import dataclass

from proxy.accounting.statement_record import StatementRecord
from proxy.engine.cached_answers import (
    CachedAnswers,
    CachedQuestion,
    Claim,
    Claimed,
    ClaimedBlocks,
    Unfinished,
)
from proxy.engine.derived_answers import (
    DerivedBlock,
    WithDerived,
    derived_blocks,
    not_derived,
)
from proxy.engine.noisy_answers import (
    BlockStore,
    NoCache,
    NoisyAnswer,
    NoisyRelation,
    noisy_relation,
)
from proxy.engine.policy_statements import ProtectedQuery
from proxy.engine.ports import Ledger, ProtectedData, ProtectedSession
from proxy.engine.public_lists import Lists, read_lists
from proxy.engine.remembered_plans import PreparedQuery
from proxy.engine.session_zone import ZoneRules
from proxy.engine.statement_time import NOT_CHARGED, stays_charged, within
from proxy.engine.table_losses import protected_names, table_losses
from proxy.mechanisms.bits import RandomBits
from proxy.mechanisms.loss import NOTHING, Loss
from proxy.planner.loss_events import loss_events
from proxy.policy.policy_model import Policy, PublicTable, StatementTexts


@dataclass(frozen=True, slots=True, kw_only=True)
class PlannedQuery:
    question: ProtectedQuery
    prepared: PreparedQuery
    analyst: str

    @property
    def loss(self) -> Loss:
        return self.prepared.private.loss


@dataclass(frozen=True, slots=True, kw_only=True)
class Paid:
    """A durable charge, and what it bought. receipt: None where nothing was to pay; claim: of the parts that
    are cached, where any are; warnings: of budgets that are nearly spent."""

    receipt: str | None
    remaining: Loss | None
    loss: Loss
    claim: Claim | None = None
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class _Parts:
    """Of a statement whose answers are cached. derived: blocks that cost nothing; claimed: the others."""

    derived: Mapping[int, DerivedBlock]
    claimed: Claimed


class ChargedQueries:
    """cached: None, where the policy keeps no answers."""

    def __init__(
        self,
        policy: Policy,
        data: ProtectedData,
        ledger: Ledger,
        bits: RandomBits,
        cached: CachedAnswers | None,
    ) -> None:
        self.cached = cached
        self._policy = policy
        tables = policy.tables.items()
        self._public = {str(name) for name, table in tables if isinstance(table, PublicTable)}
        self._data = data
        self._ledger = ledger
        self._bits = bits
        self._zones = ZoneRules()
        self._protected = protected_names(policy)
        self._left: dict[str, Loss] = {}  # by analyst, after the last charge

    async def run(self, query: PlannedQuery) -> NoisyAnswer:
        """
        Refuses  as Engine.run
        """
        seconds = query.prepared.settings.seconds
        begun = _clock()
        parts = await self._parts(query)
        if parts is not None and not parts.claimed:
            remaining = await self._ledger.remaining(query.analyst)
            free = Paid(receipt=None, remaining=remaining, loss=NOTHING)
            return await self._answered(query, free, parts, None, {}, begun)
        if parts is not None and self._may_be_ready(query, parts):
            paid = await self._claimed(query, parts, may_draw=False)
            if paid is not None:
                try:
                    return await self._answered(query, paid, parts, None, {}, begun)
                except Unfinished:
                    pass  # who was drawing it is gone: it is drawn here, under the same charge
        while True:
            async with AsyncExitStack() as stack:
                ready = self._ready(stack, query)
                session = await within(seconds, ready, NOT_CHARGED)
                if query.prepared.zones.have_rules:
                    zones = self._zones.check(session, query.prepared.zones)
                    await within(seconds, zones, NOT_CHARGED)
                # Always, whatever rows there are; and a list that is too long costs nothing.
                queries = [one for block in query.prepared.compiled for one in block.all]
                if self._joins_public(query):
                    await within(seconds, session.understand(queries), NOT_CHARGED)
                lists: Lists = {}
                if any(one.lists for one in queries):
                    lists = await within(seconds, read_lists(session, queries), NOT_CHARGED)
                paid = await self._paid(query, parts)
                try:
                    return await self._answered(query, paid, parts, session, lists, begun)
                except Unfinished:
                    pass

    def _joins_public(self, query: PlannedQuery) -> bool:
        """Public tables are changed by people who do not think of this: what is compared each minute is looked
        at again, since a statement that fails after the charge has cost what it asked for."""
        blocks = query.prepared.private.blocks
        return any(name in self._public for block in blocks for name in block.tables())

    async def _parts(self, query: PlannedQuery) -> _Parts | None:
        if self.cached is None or query.prepared.settings.is_fresh:
            return None
        found = await self.cached.parts(query.prepared.drawn)
        if found is None:
            return None
        derived = await self._derived(query, found)
        return _Parts(derived=derived, claimed=not_derived(found, derived))

    async def _derived(
        self, query: PlannedQuery, parts: tuple[CachedQuestion, ...]
    ) -> Mapping[int, DerivedBlock]:
        assert self.cached is not None
        prepared = query.prepared
        accepted = prepared.settings.accepted_error
        blocks, ledger = prepared.drawn.blocks, self.cached.ledger
        return await derived_blocks(ledger, query.analyst, blocks, parts, accepted)

    async def explained(self, query: PlannedQuery) -> Mapping[int, str]:
        """What of the plan would cost nothing, and why, by the number of the block."""
        parts = await self._parts(query)
        derived = {} if parts is None else parts.derived
        return {number: block.made_of for number, block in derived.items()}

    def _may_be_ready(self, query: PlannedQuery, parts: _Parts) -> bool:
        """Whether to ask the ledger before a session is taken: this process has claimed the same before, or the
        budget may not cover a draw, and needs not."""
        if self.cached is None:
            return False
        known = self.cached.are_known(tuple(parts.claimed.values()))
        return known or not self._is_covered(query)

    def _is_covered(self, query: PlannedQuery) -> bool:
        """By what was left after the analyst's last charge."""
        left, loss = self._left.get(query.analyst), query.loss
        return left is not None and left.epsilon >= loss.epsilon and left.delta >= loss.delta

    async def _ready(self, stack: AsyncExitStack, query: PlannedQuery) -> ProtectedSession:
        """All that an answer needs but its charge."""
        is_covered = self._is_covered(query)
        self._left.pop(query.analyst, None)
        if not is_covered:  # else there is no need to ask: reserve decides
            events = loss_events(query.prepared.private)
            await self._ledger.look(query.analyst, query.loss, events, self._record(query))
        return await stack.enter_async_context(self._data.session(query.analyst))

    async def _paid(self, query: PlannedQuery, parts: _Parts | None) -> Paid:
        if parts is not None:
            paid = await self._claimed(query, parts, may_draw=True)
            assert paid is not None, "what may be drawn is"
            return paid
        charged = await self._ledger.reserve(
            query.analyst,
            query.loss,
            _fingerprint(query),
            self._policy.digest,
            loss_events(query.prepared.private),
            self._record(query),
        )
        self._left[query.analyst] = charged.remaining
        return Paid(
            receipt=charged.receipt,
            remaining=charged.remaining,
            loss=query.loss,
            warnings=charged.warnings,
        )

    async def _claimed(self, query: PlannedQuery, parts: _Parts, *, may_draw: bool) -> Paid | None:
        assert self.cached is not None
        claimed = tuple(parts.claimed.values())
        claim = await self.cached.claim(
            query.analyst,
            claimed,
            _fingerprint(query),
            self._policy.digest,
            may_draw=may_draw,
            text=self._text(query),
        )
        if claim is None:
            return None
        self._left[query.analyst] = claim.remaining
        return Paid(
            receipt=claim.receipt,
            remaining=claim.remaining,
            loss=claim.paid,
            claim=claim,
            warnings=claim.warnings,
        )

    def _record(self, query: PlannedQuery) -> StatementRecord:
        tables = table_losses(query.prepared.private, self._protected)
        return StatementRecord(text=self._text(query), tables=tables)

    def _text(self, query: PlannedQuery) -> str | None:
        """What the receipt keeps of the statement beside its fingerprint."""
        if self._policy.statements is StatementTexts.HASHED:
            return None
        return query.question.statement.text

    async def _answered(
        self,
        query: PlannedQuery,
        paid: Paid,
        parts: _Parts | None,
        session: ProtectedSession | None,
        lists: Lists,
        begun: float,
    ) -> NoisyAnswer:
        settings = query.prepared.settings
        floor = float(self._policy.privacy.timeout_floor)
        answered = False
        try:
            answering = self._relation(query, paid, parts, session, lists)
            seconds = settings.seconds and max(settings.seconds - (_clock() - begun), floor)
            relation = await within(seconds, answering, stays_charged(floor))
            answer = answer_of(relation, query, paid)
            answered = True
            return answer
        finally:
            if paid.receipt is not None:
                await self._ledger.settle(paid.receipt, answered)

    async def _relation(
        self,
        query: PlannedQuery,
        paid: Paid,
        parts: _Parts | None,
        session: ProtectedSession | None,
        lists: Lists,
    ) -> NoisyRelation:
        if parts is None or self.cached is None:
            return await self._drawn(query, session, lists, NoCache())
        if paid.claim is None:
            return await self._drawn(query, session, lists, WithDerived(parts.derived, NoCache()))
        blocks = ClaimedBlocks(self.cached.ledger, parts.claimed, paid.claim)
        try:
            await blocks.wait()
            store = WithDerived(parts.derived, blocks)
            return await self._drawn(query, session, lists, store)
        finally:
            await blocks.close()

    async def _drawn(
        self,
        query: PlannedQuery,
        session: ProtectedSession | None,
        lists: Lists,
        store: BlockStore,
    ) -> NoisyRelation:
        prepared = query.prepared
        return await noisy_relation(
            query.question,
            prepared.private,
            prepared.lifts,
            prepared.bounded,
            prepared.compiled,
            session,
            lists,
            self._bits,
            store,
        )

    async def unread(self, query: PlannedQuery) -> NoisyAnswer:
        """Of public keys alone: nothing is read, nothing to pay."""
        relation = await self._drawn(query, None, {}, NoCache())
        return answer_of(relation, query, Paid(receipt=None, remaining=None, loss=query.loss))


def answer_of(relation: NoisyRelation, query: PlannedQuery, paid: Paid) -> NoisyAnswer:
    return NoisyAnswer(
        relation.json,
        paid.loss,
        paid.remaining,
        paid.receipt,
        relation.plan,
        query.prepared.settings.notice,
        (*relation.withheld, *paid.warnings),
        relation.columns,
        relation.clipped,
    )


def _clock() -> float:
    return asyncio.get_running_loop().time()


def _fingerprint(query: PlannedQuery) -> str:
    """Names a statement in the ledger without its literals being readable there."""
    text = query.question.statement.text
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:32]
