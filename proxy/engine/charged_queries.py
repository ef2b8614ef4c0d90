"""A planned query, in order: look at the budget, take a session, reserve, run, release, settle.

What fails before the charge costs nothing: by then the budget was looked at and a session on the protected
server is open, its BEGIN answered. Nothing is read from the protected database before the charge is durable,
nothing of the charge is given back after, and what leaves is the noisy relation alone. Where answers are cached
the charge is what the ledger says of each part, and what was drawn already needs no session.
"""

from __future__ import annotations

from collections.abc import Coroutine, Mapping
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, replace
from functools import partial
from types import MappingProxyType, TracebackType
from typing import Any

from proxy.base.limits import PROTECTED_SECONDS
from proxy.base.stages import Stage
from proxy.drawing.answer_slots import Claimed, Unfinished
from proxy.drawing.charges import Charge
from proxy.drawing.drawer import Drawer, Lists
from proxy.drawing.kept_answers import ClaimedAnswers
from proxy.drawing.protected_reads import ProtectedSession
from proxy.drawing.statement_run import StatementRun
from proxy.engine.answer_origin import FRESH, AnswerOrigin, of_parts
from proxy.engine.cached_answers import (
    CachedAnswers,
    DerivedBlock,
    derived_blocks,
    fingerprint,
    not_derived,
)
from proxy.engine.copies_in_use import CopiesInUse
from proxy.engine.explain_text import SHOWN, FreeBlock
from proxy.engine.noisy_answers import (
    ChargedDrawing,
    NoisyAnswer,
    NoisyRelation,
    UndeliveredAnswer,
    UndeliveredAnswers,
    may_be_kept,
    noisy_relation,
    undelivered_answer,
)
from proxy.engine.policy_limits import policy_rules
from proxy.engine.policy_statements import ProtectedQuery
from proxy.engine.ports import Ledger
from proxy.engine.public_lists import confirmed, read_lists
from proxy.engine.published_answers import PublishedSources, best_of, free_blocks, published_names
from proxy.engine.questions_of_answers import with_given_answers, without_paid_answers
from proxy.engine.remembered_plans import PreparedQuery
from proxy.engine.session_zone import ZoneRules
from proxy.kernel.checked_plan import CheckedBlock, CheckedPlan, together
from proxy.kernel.plan import PrivatePlan
from proxy.mechanisms.loss import NOTHING, Loss
from proxy.planner.lifting import Lift
from proxy.policy.policy_model import PublicTable, StatementTexts
from proxy.release.cached_block import CachedBlock
from proxy.release.drawn_values import DrawnBlock
from proxy.turns.threads import Turn

# The blocks of a statement: those that cost nothing, and those that are to be paid.


@dataclass(frozen=True, slots=True, kw_only=True)
class StatementParts:
    """Of a statement whose answers are cached or published. derived: blocks that cost nothing; claimed: the
    others; lifts: what stands for a block in these, if of any
    (PreparedQuery.lifts); is_cached: whether the claimed are cached."""

    derived: Mapping[int, DerivedBlock]
    claimed: Claimed
    lifts: tuple[Lift | None, ...]
    is_cached: bool

    def explained(self) -> Mapping[int, FreeBlock]:
        """What costs less than the plan says, and why."""
        return free_blocks(self.derived)

    @property
    def loss(self) -> Loss:
        """Of what is not free, where each block is drawn."""
        return sum((part.block.loss for part in self.claimed.values()), NOTHING)

    def charged(self) -> CheckedPlan:
        """What is not free, under one charge."""
        return together([part.block for part in self.claimed.values()])


async def statement_parts(
    prepared: PreparedQuery,
    run: StatementRun,
    cached: CachedAnswers | None,
    questions: CachedAnswers | None,
    published: PublishedSources,
) -> StatementParts | None:
    """
    Given    cached, questions: as of ChargedQueries
    Gives    None: neither what is cached nor what is published is looked at
    """
    settings = prepared.settings
    uses_published = settings.uses_published and bool(published.sources)
    if questions is None or settings.is_fresh or (cached is None and not uses_published):
        return None
    blocks, accepted = prepared.drawn.private.blocks, settings.accepted_error
    turn = run.turn
    found = await questions.parts(prepared.drawn, turn)
    derived: Mapping[int, DerivedBlock] = {}
    if cached is not None:
        derived = await derived_blocks(cached.ledger, run, blocks, found, accepted)
    lifts = prepared.lifts
    if uses_published:
        derived = best_of(await published.answers(blocks, found, accepted, turn), derived)
    if uses_published and any(lifts):
        unlifted = await _unlifted(prepared, questions, published, turn)
        derived = best_of(unlifted, derived)
        lifts = tuple(
            None if number in unlifted and derived[number] is unlifted[number] else lift
            for number, lift in enumerate(lifts)
        )
    if cached is not None:
        derived = await without_paid_answers(prepared, run.analyst, cached, found, derived)
    claimed = not_derived(found, derived)
    if cached is not None:
        lifted = frozenset(number for number, lift in enumerate(lifts) if lift is not None)
        claimed = await with_given_answers(prepared, cached, claimed, derived, lifted, turn)
    return StatementParts(
        derived=derived,
        claimed=claimed,
        lifts=lifts,
        is_cached=cached is not None,
    )


async def _unlifted(
    prepared: PreparedQuery,
    questions: CachedAnswers,
    published: PublishedSources,
    turn: Turn,
) -> Mapping[int, DerivedBlock]:
    """Of blocks for which another is drawn: what is published has the groups that its owner asked for."""
    parts = await questions.parts(prepared.plan, turn)
    accepted, blocks = prepared.settings.accepted_error, prepared.private.blocks
    made = await published.answers(blocks, parts, accepted, turn)
    return {number: one for number, one in made.items() if prepared.lifts[number] is not None}


_NOTHING: Mapping[int, CheckedBlock] = {}
_NO_GROUP = CachedBlock(chosen={}, drawn=DrawnBlock(()))
_NOTHING_DERIVED: Mapping[int, DerivedBlock] = MappingProxyType({})
_EMPTY = FreeBlock(made_of="the conditions leave no public group, so the answer has no rows")


def has_no_group(plan: PrivatePlan) -> bool:
    """Say whether all groups are public, and the statement's conditions leave none of them."""
    return all(block.groups() == 0 for block in plan.blocks)


@dataclass(frozen=True, slots=True, kw_only=True)
class PlannedQuery:
    question: ProtectedQuery
    prepared: PreparedQuery
    run: StatementRun

    @property
    def analyst(self) -> str:
        return self.run.analyst

    @property
    def loss(self) -> Loss:
        return self.prepared.private.loss


@dataclass(frozen=True, slots=True, kw_only=True)
class Paid:
    """What an answer cost. charge: None where nothing was to pay."""

    remaining: Loss | None
    loss: Loss
    charge: Charge | None = None

    @property
    def receipt(self) -> str | None:
        return None if self.charge is None else self.charge.receipt

    @property
    def claimed(self) -> ClaimedAnswers | None:
        return None if self.charge is None else self.charge.claimed

    @property
    def warnings(self) -> tuple[str, ...]:
        return () if self.charge is None else self.charge.warnings


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Ready:
    """What a charge is made with. lists: values of public tables; parts: as they are to be charged."""

    session: ProtectedSession
    lists: Lists
    parts: StatementParts | None


class ChargedQueries:
    """cached: None, where the policy keeps no answers; questions: as the one that keeps them, None where
    nothing is published either."""

    def __init__(
        self,
        drawer: Drawer,
        ledger: Ledger,
        cached: CachedAnswers | None,
        questions: CachedAnswers | None,
        published: PublishedSources,
        naming_key: bytes,
    ) -> None:
        self._naming_key = naming_key
        self.cached = cached
        self.questions = questions
        self._published = published
        self._policy = drawer.policy
        tables = drawer.policy.tables.items()
        self._public = {str(name) for name, table in tables if isinstance(table, PublicTable)}
        self._drawer = drawer
        self._ledger = ledger
        self._zones = ZoneRules()
        self.copies = CopiesInUse(drawer.policy, drawer.catalog)
        self.undelivered = UndeliveredAnswers()
        self._left: dict[str, Loss] = {}  # by analyst, after the last charge

    async def run(self, query: PlannedQuery) -> NoisyAnswer:
        """
        Refuses  as Engine.run
        """
        if has_no_group(query.prepared.private):
            return await self._empty(query)
        kept = self.undelivered.take(query.run.payer, query.prepared.private)
        if kept is None:
            return await self._run(query)
        try:
            answer = await query.run.before_charge(
                query.prepared.settings.seconds, self._delivered(query, kept)
            )
        except BaseException:
            self.undelivered.keep(kept)
            raise
        return await self._run(query) if answer is None else answer

    async def _delivered(self, query: PlannedQuery, kept: UndeliveredAnswer) -> NoisyAnswer | None:
        """An answer that was charged before. Its statement failed. None: it is of another person, who had the
        name before."""
        remaining = await self._ledger.admitted(query.analyst)
        drawn = await kept.answer.shown(query.run.payer, self._ledger)
        if drawn is None:
            return None
        free = Paid(remaining=remaining, loss=NOTHING)
        relation = await self._drawn(query, free, (), None, {}, dict(enumerate(drawn)))
        return replace(answer_of(relation, query, free), keep=lambda: kept)

    async def _empty(self, query: PlannedQuery) -> NoisyAnswer:
        """An answer without rows, whatever is stored: nothing is read, nothing to pay."""
        remaining = await self._ledger.admitted(query.analyst)
        free = Paid(remaining=remaining, loss=NOTHING)
        known = dict.fromkeys(range(len(query.prepared.private.blocks)), _NO_GROUP)
        return answer_of(await self._drawn(query, free, (), None, {}, known), query, free)

    async def _run(self, query: PlannedQuery) -> NoisyAnswer:
        seconds = query.prepared.settings.seconds
        parts = await self._parts(query)
        if parts is not None and not parts.claimed:
            return await query.run.before_charge(seconds, self._free(query, parts))
        query.run.payer.refuse_dearer(_most(query, parts))
        if parts is not None and self._may_be_ready(query, parts):
            with query.run.in_stage(Stage.CHARGE):
                paid = await self._claimed(query, parts, may_draw=False)
            if paid is not None:
                seconds = None
                try:
                    return await self._answered(query, paid, parts, None, {})
                except Unfinished:
                    pass  # who was drawing it is gone: it is drawn here, under the same charge
        while True:
            async with TakenSession(self._drawer.session(query.run.turn)) as taken:
                ready = await query.run.before_charge(seconds, self._ready(taken, query, parts))
                parts = ready.parts
                with query.run.in_stage(Stage.CHARGE):
                    paid = await self._paid(query, parts)
                seconds = None
                try:
                    return await self._answered(query, paid, parts, ready.session, ready.lists)
                except Unfinished:
                    pass

    async def _free(self, query: PlannedQuery, parts: StatementParts) -> NoisyAnswer:
        """Of what is shown already, or published."""
        remaining = await self._ledger.admitted(query.analyst)
        free = Paid(remaining=remaining, loss=NOTHING)
        return await self._answered(query, free, parts, None, {})

    async def _parts(self, query: PlannedQuery) -> StatementParts | None:
        return await statement_parts(
            query.prepared, query.run, self.cached, self.questions, self._published
        )

    async def is_free(self, query: PlannedQuery) -> bool:
        """Whether all of it is published, or shown already."""
        parts = await self._parts(query)
        return parts is not None and not parts.claimed

    async def look_at_copies(self, query: PlannedQuery) -> None:
        """See of when the copies of a statement are that is not to be run. No row is read.

        Raises:
            CopiesChanged: As of CopiesInUse.confirm.
        """

        async def looked() -> None:
            async with self._drawer.session(query.run.turn) as session:
                await self.copies.confirm(session, query.prepared.copied, query.prepared.offered)

        await query.run.before_charge(query.prepared.settings.seconds, looked())

    async def explained(self, query: PlannedQuery) -> Mapping[int, FreeBlock]:
        """What of the plan would cost less, and why, by the number of the block."""
        if has_no_group(query.prepared.private):
            return dict.fromkeys(range(len(query.prepared.private.blocks)), _EMPTY)
        parts = await self._parts(query)
        if parts is None:
            return {}
        digests = {number: part.digest for number, part in parts.claimed.items()}
        named = [digest for digest in digests.values() if digest is not None]
        if self.cached is None or not named:
            return parts.explained()
        paid = await self.cached.ledger.paid_of(query.analyst, named)
        shown = {number: SHOWN for number, digest in digests.items() if digest in paid}
        return {**parts.explained(), **shown}

    def _may_be_ready(self, query: PlannedQuery, parts: StatementParts) -> bool:
        """Whether to ask the ledger before a session is taken: this process has claimed the same before, or the
        budget may not cover a draw, and needs not."""
        if self.cached is None:
            return False
        known = self.cached.are_known(tuple(parts.claimed.values()))
        return known or not self._is_covered(query, parts)

    def _is_covered(self, query: PlannedQuery, parts: StatementParts | None) -> bool:
        """By what was left after the analyst's last charge."""
        left = self._left.get(query.analyst)
        return left is not None and left.covers(_most(query, parts))

    async def _ready(
        self, taken: TakenSession, query: PlannedQuery, parts: StatementParts | None
    ) -> Ready:
        """All that an answer needs but its charge. No protected row is read for it.

        Public tables are changed by people who do not think of this: what is compared each minute is looked at
        again, since a statement that fails after the charge has cost what it asked for.
        """
        is_covered = self._is_covered(query, parts)
        self._left.pop(query.analyst, None)
        if not is_covered:  # else there is no need to ask: reserve decides
            with query.run.in_stage(Stage.CHARGE):
                await self._ledger.look(query.analyst, _charged(query, parts))
        with query.run.in_stage(Stage.WAIT):
            session = await taken.take()
        prepared = query.prepared
        await self.copies.confirm(session, prepared.copied, prepared.offered)
        if query.prepared.zones.have_rules:
            await self._zones.check(session, query.prepared.zones)
        queries = query.prepared.queries
        if not self._public.isdisjoint(query.prepared.tables):
            await session.understand(queries)
        # Always, whatever rows there are; and a list that is too long costs nothing.
        lists = await read_lists(session, queries) if query.prepared.has_lists else {}
        await session.refuse_impossible(queries)
        if parts is not None and parts.is_cached:
            parts = replace(parts, claimed=await confirmed(session, parts.claimed))
        return Ready(session=session, lists=lists, parts=parts)

    async def _paid(self, query: PlannedQuery, parts: StatementParts | None) -> Paid:
        query.run.payer.refuse_dearer(_most(query, parts))
        if parts is not None and parts.is_cached:
            paid = await self._claimed(query, parts, may_draw=True)
            assert paid is not None, "what may be drawn is"
            return paid
        plan = _charged(query, parts)
        charge = await self._ledger.reserve(
            query.run,
            plan,
            fingerprint(query.question.statement.text, self._naming_key),
            self._policy.digest,
            self._text(query),
        )
        return self._paid_with(query, charge)

    async def _claimed(
        self, query: PlannedQuery, parts: StatementParts, *, may_draw: bool
    ) -> Paid | None:
        assert self.cached is not None
        claimed = tuple(parts.claimed.values())
        charge = await self.cached.claim(
            query.run,
            claimed,
            fingerprint(query.question.statement.text, self._naming_key),
            self._policy.digest,
            may_draw=may_draw,
            text=self._text(query),
        )
        if charge is None:
            return None
        return self._paid_with(query, charge)

    def _paid_with(self, query: PlannedQuery, charge: Charge) -> Paid:
        if charge.remaining is not None:
            self._left[query.analyst] = charge.remaining
        return Paid(remaining=charge.remaining, loss=charge.paid, charge=charge)

    def _text(self, query: PlannedQuery) -> str | None:
        """What the receipt keeps of the statement beside its fingerprint."""
        if self._policy.statements is StatementTexts.HASHED:
            return None
        return query.question.statement.text

    async def _answered(
        self,
        query: PlannedQuery,
        paid: Paid,
        parts: StatementParts | None,
        session: ProtectedSession | None,
        lists: Lists,
    ) -> NoisyAnswer:
        answered = False
        try:
            if parts is None:
                lifts = query.prepared.lifts
                answering = self._drawn(query, paid, lifts, session, lists, {})
            else:
                answering = self._relation(query, paid, parts, session, lists)
            relation = await answering
            derived = {} if parts is None else parts.derived
            answer = answer_of(relation, query, paid, derived)
            answered = True
            return answer
        finally:
            if paid.receipt is not None:
                await self._ledger.settle(paid.receipt, answered)

    async def _relation(
        self,
        query: PlannedQuery,
        paid: Paid,
        parts: StatementParts,
        session: ProtectedSession | None,
        lists: Lists,
    ) -> NoisyRelation:
        known = {number: one.block for number, one in parts.derived.items()}
        instead = {number: part.block for number, part in parts.claimed.items()}
        drawing = self._drawn(query, paid, parts.lifts, session, lists, known, instead)
        if paid.claimed is None:
            return await drawing
        try:
            await paid.claimed.wait()
            return await drawing
        finally:
            drawing.close()
            await paid.claimed.close()

    def _drawn(
        self,
        query: PlannedQuery,
        paid: Paid,
        lifts: tuple[Lift | None, ...],
        session: ProtectedSession | None,
        lists: Lists,
        known: Mapping[int, CachedBlock],
        instead: Mapping[int, CheckedBlock] = _NOTHING,
    ) -> Coroutine[Any, Any, NoisyRelation]:
        prepared = query.prepared
        drawing = ChargedDrawing(
            drawer=self._drawer,
            run=query.run,
            charge=paid.charge,
            session=session,
            lists=lists,
            known=known,
            instead=instead,
        )
        return noisy_relation(
            query.question,
            prepared.plan,
            lifts,
            prepared.bounded,
            prepared.compiled,
            drawing,
            prepared.advice,
        )

    async def unread(self, query: PlannedQuery) -> NoisyAnswer:
        """Of public keys alone: nothing is read, nothing to pay."""
        free = Paid(remaining=None, loss=query.loss)
        relation = await self._drawn(query, free, query.prepared.lifts, None, {}, {})
        return answer_of(relation, query, free)


def _charged(query: PlannedQuery, parts: StatementParts | None) -> CheckedPlan:
    """The most that a statement may be charged for: what of it is not free."""
    return query.prepared.drawn if parts is None else parts.charged()


def _most(query: PlannedQuery, parts: StatementParts | None) -> Loss:
    """That a statement may be charged."""
    return query.loss if parts is None else parts.loss


def _origin(paid: Paid, derived: Mapping[int, DerivedBlock]) -> AnswerOrigin | None:
    """None: nothing protected was read for it."""
    if paid.charge is None and not derived:
        return None
    shown_at = None if paid.charge is None else paid.charge.shown_at
    if paid.charge is not None and shown_at is None:
        return FRESH
    own = [one for one in derived.values() if one.published is None]
    shown = [one.as_of for one in own if one.is_as_shown]
    return of_parts(
        cached=shown if shown_at is None else [*shown, shown_at],
        derived=[one.as_of for one in own if not one.is_as_shown],
        published=[one.as_of for one in derived.values() if one.published is not None],
    )


def answer_of(
    relation: NoisyRelation,
    query: PlannedQuery,
    paid: Paid,
    derived: Mapping[int, DerivedBlock] = _NOTHING_DERIVED,
) -> NoisyAnswer:
    is_charged = paid.receipt is not None or paid.claimed is not None
    keep = None
    private, drawn = query.prepared.private, relation.drawn
    owner = None if paid.charge is None else paid.charge.owner
    if paid.receipt is not None and owner is not None and may_be_kept(private, drawn):
        keep = partial(undelivered_answer, owner, private, paid.receipt, drawn)
    rules = query.prepared.rules
    if relation.plan is not private:  # other bounds, or what is drawn instead
        rules = policy_rules(relation.plan)
    return NoisyAnswer(
        relation.json,
        paid.loss,
        paid.remaining,
        paid.receipt,
        relation.plan,
        query.prepared.settings.notice,
        (*rules.groups, *paid.warnings),
        relation.told,
        relation.clipped,
        published_names(derived),
        outlasts_timeout=is_charged and _outlasts(query.prepared.settings.seconds),
        is_reused=paid.claimed is not None,
        origin=_origin(paid, derived),
        keep=keep,
        times=query.prepared.times,
        limits=rules.limits,
        reasons=query.prepared.unlisted,
    )


def _outlasts(seconds: float | None) -> bool:
    """Whether a statement may take longer than its statement_timeout, once it is charged."""
    return seconds is not None and seconds < PROTECTED_SECONDS


class TakenSession:
    """A session that ends with its block, also where what took it was cancelled or took too long."""

    __slots__ = ("_is_taken", "_session")

    def __init__(self, session: AbstractAsyncContextManager[ProtectedSession]) -> None:
        self._session = session
        self._is_taken = False

    async def take(self) -> ProtectedSession:
        session = await self._session.__aenter__()
        self._is_taken = True
        return session

    async def __aenter__(self) -> TakenSession:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._is_taken:
            await self._session.__aexit__(kind, error, trace)
