"""The blocks of a statement: those that cost nothing, and those that are to be paid."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from proxy.drawing.answer_slots import Claimed
from proxy.engine.cached_answers import CachedAnswers
from proxy.engine.derived_answers import DerivedBlock, derived_blocks, not_derived
from proxy.engine.explain_text import FreeBlock
from proxy.engine.published_answers import PublishedSources, best_of, free_blocks
from proxy.engine.questions_of_answers import with_given_answers, without_paid_answers
from proxy.engine.remembered_plans import PreparedQuery
from proxy.kernel.checked_plan import CheckedPlan, together
from proxy.mechanisms.loss import NOTHING, Loss
from proxy.planner.lifting import Lift


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
    analyst: str,
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
    found = await questions.parts(prepared.drawn)
    derived: Mapping[int, DerivedBlock] = {}
    if cached is not None:
        derived = await derived_blocks(cached.ledger, analyst, blocks, found, accepted)
    lifts = prepared.lifts
    if uses_published:
        derived = best_of(await published.answers(blocks, found, accepted), derived)
    if uses_published and any(lifts):
        unlifted = await _unlifted(prepared, questions, published)
        derived = best_of(unlifted, derived)
        lifts = tuple(
            None if number in unlifted and derived[number] is unlifted[number] else lift
            for number, lift in enumerate(lifts)
        )
    if cached is not None:
        derived = await without_paid_answers(prepared, analyst, cached, found, derived)
    claimed = not_derived(found, derived)
    if cached is not None:
        lifted = frozenset(number for number, lift in enumerate(lifts) if lift is not None)
        claimed = await with_given_answers(prepared, cached, claimed, derived, lifted)
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
) -> Mapping[int, DerivedBlock]:
    """Of blocks for which another is drawn: what is published has the groups that its owner asked for."""
    parts = await questions.parts(prepared.plan)
    accepted, blocks = prepared.settings.accepted_error, prepared.private.blocks
    made = await published.answers(blocks, parts, accepted)
    return {number: one for number, one in made.items() if prepared.lifts[number] is not None}
