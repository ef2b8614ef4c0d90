"""Answers that are cached: which blocks of a plan are one question, and which of them this process has claimed.

Who is shown what of them: `drawing/kept_answers.py`.

Source  docs/design/reuse.md 2
"""

from __future__ import annotations

import hmac
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from fractions import Fraction
from functools import cached_property, lru_cache
from threading import Lock
from typing import Protocol

from proxy.drawing.answer_slots import (
    AnswersShown,
    CachedQuestion,
    Claimed,
    PaidAnswer,
    Unfinished,
    cached_question,
    never_cached,
)
from proxy.drawing.charges import Charge
from proxy.drawing.statement_run import StatementRun
from proxy.engine.answer_origin import AnswerSource
from proxy.engine.explain_text import beyond_bound
from proxy.kernel.checked_plan import CheckedBlock, CheckedPlan
from proxy.kernel.plan import BlockPlan, DistinctCount, NoisyStatistic
from proxy.planner.facts import PlanningContext, Values
from proxy.release.cached_block import CachedBlock, Order, cached_numbers
from proxy.release.drawn_values import DrawnBlock, DrawnGroup, DrawnNumber, ordered_groups
from proxy.reuse.block_question import BlockQuestion, ReliedOn, question_of
from proxy.reuse.canonical_form import NotCanonical
from proxy.reuse.derivable import Derivable, derivable, source_from
from proxy.reuse.derivation import (
    NOTHING_MORE,
    Derivation,
    Slices,
    UsableAnswer,
    derivation,
    promising,
    variance,
)
from proxy.turns.threads import Turn

SEMANTICS = (
    1  # of releases and of the SQL that they run: raised when either changes what an answer means
)
_CACHED_PLANS = 128
_CACHED_QUESTIONS = 256 * 1024  # characters of all questions of a plan that is remembered
_KNOWN = 10_000
# Characters: what is larger is not cached.
_QUESTION = 256 * 1024


class CachedLedger(AnswersShown, Protocol):
    async def claim(
        self,
        run: StatementRun,
        parts: Sequence[CachedQuestion],
        fingerprint: str,
        digest: str,
        *,
        may_draw: bool,
        text: str | None = None,
    ) -> Charge | None:
        """Charges, durably, before it returns. None: something is to be drawn and may not be; nothing is
        charged.

        Given    text: of the statement, where receipts keep it
        Refuses  OVER_BUDGET, with what is left
        """
        ...

    async def paid_about(self, analyst: str, wanted: Sequence[bytes]) -> Sequence[PaidAnswer]:
        """The latest first."""
        ...

    async def paid_of(self, analyst: str, digests: Sequence[bytes]) -> frozenset[bytes]:
        """Those that would cost the analyst nothing now: shown, or paid and not drawn yet."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class NamedQuestion:
    """question, terms: as of BlockQuestion, with all that both rely on; asked: without it."""

    question: str
    terms: str
    order: Order
    asked: BlockQuestion
    relied_on: str


class CachedAnswers:
    """Which parts of plans are cached, under one policy and catalogue; and the ledger that keeps them."""

    def __init__(self, ledger: CachedLedger, known: PlanningContext) -> None:
        self.ledger = ledger
        self.known = known
        self._of_plan: OrderedDict[CheckedPlan, tuple[CachedQuestion, ...]] = OrderedDict()
        self._lock = Lock()
        self._known: OrderedDict[bytes, None] = OrderedDict()  # claimed by this process

    @cached_property
    def _relied_on(self) -> ReliedOn:
        return ReliedOn(self.known)

    async def parts(self, plan: CheckedPlan, turn: Turn) -> tuple[CachedQuestion, ...]:
        """In a thread: conditions and keys of a plan may be thousands."""
        found = self._remembered(plan)
        return await turn.in_thread(self._parts_of, plan) if found is None else found

    async def named(self, block: CheckedBlock, turn: Turn) -> NamedQuestion | None:
        """What a block asks. None: it is never cached."""
        return await turn.in_thread(self._named, block)

    def are_known(self, parts: Sequence[CachedQuestion]) -> bool:
        """Whether all may have been drawn already: then it is worth asking before a session is taken."""
        return all(part.digest is not None and part.digest in self._known for part in parts)

    async def claim(
        self,
        run: StatementRun,
        parts: Sequence[CachedQuestion],
        fingerprint: str,
        digest: str,
        *,
        may_draw: bool,
        text: str | None = None,
    ) -> Charge | None:
        charge = await self.ledger.claim(
            run, parts, fingerprint, digest, may_draw=may_draw, text=text
        )
        for part in parts if charge is not None else ():
            if part.digest is not None:
                self._known[part.digest] = None
                self._known.move_to_end(part.digest)
        while len(self._known) > _KNOWN:
            self._known.popitem(last=False)
        return charge

    def _remembered(self, plan: CheckedPlan) -> tuple[CachedQuestion, ...] | None:
        """Of the very plan: plans that are asked again are remembered themselves."""
        with self._lock:
            found = self._of_plan.get(plan)
            if found is not None:
                self._of_plan.move_to_end(plan)
            return found

    def _parts_of(self, plan: CheckedPlan) -> tuple[CachedQuestion, ...]:
        """Remembered, but of large plans: of one there may be many megabytes, and it costs nothing to have it
        explained."""
        parts = tuple(map(self._part, plan.blocks))
        if sum(len(part.question) + len(part.terms) for part in parts) > _CACHED_QUESTIONS:
            return parts
        with self._lock:
            self._of_plan[plan] = parts
            while len(self._of_plan) > _CACHED_PLANS:
                self._of_plan.popitem(last=False)
        return parts

    def _part(self, checked: CheckedBlock) -> CachedQuestion:
        named = None if checked.block.uses_answers else self._named(checked)
        if named is None:
            return never_cached(checked, _order_of(checked.block))
        made = derivable(checked.block, named.asked, self.known, named.relied_on)
        return cached_question(checked, named.question, named.terms, named.order, made)

    def _named(self, checked: CheckedBlock) -> NamedQuestion | None:
        block = checked.block
        try:
            asked = question_of(block)
        except NotCanonical:
            return None
        if len(asked.question) + len(asked.terms) > _QUESTION or not block.releases:
            return None
        relied_on = f"{SEMANTICS} {self._relied_on.text(block)}"
        return NamedQuestion(
            question=f"{relied_on} {asked.question}",
            terms=asked.terms,
            order=Order(keys=asked.keys, releases=asked.releases),
            asked=asked,
            relied_on=relied_on,
        )


def _order_of(block: BlockPlan) -> Order:
    return Order(keys=tuple(range(len(block.keys))), releases=tuple(range(len(block.releases))))


# What names a statement in the ledger: a digest under a key that is beside it.


_REMEMBERED = 64
_REMEMBERED_CHARACTERS = 8_192


def fingerprint(text: str, key: bytes) -> str:
    """Name a statement, in hexadecimal. Without the key nobody can test a guess of its literals."""
    return _remembered(text, key) if len(text) <= _REMEMBERED_CHARACTERS else _digest(text, key)


def _digest(text: str, key: bytes) -> str:
    return hmac.digest(key, text.encode("utf-8", "surrogatepass"), "sha256").hex()[:32]


_remembered = lru_cache(maxsize=_REMEMBERED)(_digest)


# Blocks that are answered from what their analyst has been shown in the same slot, at no cost.
#
# Nothing is read but the ledger. Of several sources the one of the least noise serves.
#
# Source  docs/design/reuse.md 4

TRIED = 8  # sources of one block: each is a relation to be read
PER_NUMBER = 8  # characters of a stored relation, at least


@dataclass(frozen=True, slots=True, kw_only=True)
class DerivedBlock:
    """
    Attributes:
        made_of: For EXPLAIN.
        variance: Of its noise. None: it is not known beforehand.
        as_of: When what it is made of was first shown to the analyst, or published.
        is_as_shown: Whether its numbers are those of one answer, with all of its groups.
        published: The table that it is from. None: it is of what the analyst has been shown.
    """

    block: CachedBlock
    made_of: str
    variance: Fraction | None
    as_of: datetime
    is_as_shown: bool
    published: str | None = None

    @property
    def source(self) -> AnswerSource:
        if self.published is not None:
            return AnswerSource.PUBLISHED
        return AnswerSource.CACHED if self.is_as_shown else AnswerSource.DERIVED

    def is_as_exact_as(self, other: DerivedBlock) -> bool:
        """As far as it is known."""
        if self.variance is None or other.variance is None:
            return True
        return self.variance <= other.variance


async def derived_blocks(
    ledger: CachedLedger,
    run: StatementRun,
    blocks: Sequence[BlockPlan],
    parts: Sequence[CachedQuestion],
    accepted: Fraction,
) -> Mapping[int, DerivedBlock]:
    """By the number of their block, those that cost nothing.

    Given    accepted: standard errors may be so many times those of a fresh answer
    """
    wanted = [part.derivable for part in parts if part.derivable is not None]
    abouts = dict.fromkeys(about for one in wanted for about, _ in one.wanted)
    displayed = await ledger.paid_about(run.analyst, tuple(abouts)) if abouts else ()
    shown_at = {one.cached: one.shown_at for one in displayed}
    found: dict[int, DerivedBlock] = {}
    for number, (block, part) in enumerate(zip(blocks, parts, strict=True)):
        if part.derivable is None:
            continue
        best: DerivedBlock | None = None  # of equally noisy ones that which was shown last
        for cached, answer, more in _promising(block, part.derivable, displayed, accepted):
            try:
                shown = await ledger.shown(run, cached)
            except Unfinished:
                continue
            if shown is None:
                continue
            work = len(shown.text) // PER_NUMBER
            given = shown.text, block, part.derivable, answer, more, accepted, shown_at[cached]
            made = await run.turn.in_thread_if_long(work, derived_block, *given)
            if made is not None and (best is None or not best.is_as_exact_as(made)):
                best = made
        if best is not None:
            found[number] = best
    return found


def _promising(
    block: BlockPlan, wanted: Derivable, displayed: Sequence[PaidAnswer], accepted: Fraction
) -> list[tuple[int, UsableAnswer, Slices]]:
    """Of what was shown, what promises most for a block: few of it are read."""
    candidates = [
        (one.cached, source_from(one.made), more)
        for about, more in wanted.wanted
        for one in displayed
        if one.about == about
    ]
    return promising(block, wanted.question, candidates, accepted)[:TRIED]


def derived_block(
    text: str,
    block: BlockPlan,
    wanted: Derivable,
    source: UsableAnswer,
    more: Slices,
    accepted: Fraction,
    as_of: datetime,
    published: str | None = None,
) -> DerivedBlock | None:
    """
    Given    text: the answer that `source` is of; wanted: of the block; more: the conditions that are left;
             as_of: as of DerivedBlock; published: the table that it is from, if it is
    Gives    None: the block cannot be made of it, or less exactly than accepted
    """
    numbers = cached_numbers(text)
    groups = tuple(numbers)
    made = derivation(block, wanted.question, more, source, groups, accepted)
    if made is None:
        return None
    is_same = more == NOTHING_MORE and {k.name for k in source.keys} == {*wanted.question.key_names}
    others = "" if is_same else beyond_bound(block, "in a fresh answer")
    drawn = DrawnBlock(
        tuple(
            DrawnGroup(keys, _added_up(made, keys, numbers)) for keys in ordered_groups(block, ())
        )
    )
    return DerivedBlock(
        block=CachedBlock(chosen={}, drawn=drawn, noises=made.noises),
        made_of=_words(made, groups, published) + others,
        variance=made.variance(),
        as_of=as_of,
        is_as_shown=not _adds_up(made) and len(made.sources) >= len(groups),
        published=published,
    )


def total_variance(block: BlockPlan) -> Fraction | None:
    """Of the noise of its releases; None where it is not known beforehand."""
    if block.choices:
        return None
    found = Fraction(0)
    for release in block.releases:
        if not isinstance(release, NoisyStatistic | DistinctCount):
            return None
        found += variance(release.noise)
    return found


def _added_up(
    made: Derivation, keys: Values, numbers: Mapping[Values, tuple[int, ...]]
) -> tuple[DrawnNumber, ...]:
    return tuple(
        DrawnNumber(sum(numbers[one][place] for one in made.sources[keys]))
        for place in made.releases
    )


def _adds_up(made: Derivation) -> bool:
    return any(len(sources) > 1 for sources in made.sources.values())


def _words(made: Derivation, groups: Sequence[Values], published: str | None) -> str:
    of = published or f"an answer of {len(groups)} groups that you have been shown"
    if _adds_up(made):
        most = max(len(sources) for sources in made.sources.values())
        return f"made of {of}, up to {most} added up"
    if len(made.sources) < len(groups):
        return f"part of {of}"
    return published or "an answer that you have been shown"


def not_derived(parts: Sequence[CachedQuestion], derived: Mapping[int, DerivedBlock]) -> Claimed:
    """The blocks that are to be claimed."""
    return {number: part for number, part in enumerate(parts) if number not in derived}
