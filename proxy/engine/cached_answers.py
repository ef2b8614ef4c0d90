"""Answers that are cached: which blocks of a plan are one question, who has drawn it, who pays what.

A block is drawn once in a slot of public time, charged to the shared budget then, and to each analyst once,
whole, before anything of it is shown. What is stored is always what the ledger keeps, never an own draw: so a
draw that was interrupted is drawn again under its charge.

Source  docs/design/reuse.md 2
"""

from __future__ import annotations

import asyncio
import hashlib
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from functools import cached_property
from threading import Lock
from typing import Any, Protocol

from proxy.base.errors import Fault
from proxy.engine.threads import beside, in_thread
from proxy.kernel.checked_plan import CheckedBlock, CheckedPlan
from proxy.kernel.plan import BlockPlan
from proxy.kernel.price import Price
from proxy.mechanisms.loss import Loss
from proxy.planner.facts import PlanningContext
from proxy.release.cached_block import CachedBlock, Order, cached_block, cached_text
from proxy.reuse.block_question import BlockQuestion, question_of
from proxy.reuse.canonical_form import NotCanonical
from proxy.reuse.derivable import Derivable, derivable
from proxy.reuse.relied_on import ReliedOn

SEMANTICS = (
    1  # of releases and of the SQL that they run: raised when either changes what an answer means
)
_CACHED_PLANS = 128
_CACHED_QUESTIONS = 256 * 1024  # characters of all questions of a plan that is remembered
_KNOWN = 10_000
_POLL_SECONDS = 0.02
# Characters: what is larger is not cached. A relation of 10,000 groups has about 500,000.
_QUESTION = 256 * 1024
_RELATION = 4 * 1024 * 1024
_PER_NUMBER = 8
WAIT_SECONDS = 61.0  # a lease (ledger.cached_claims), and a second


def slot_digest(question: str, terms: str, price: Price) -> bytes:
    """Name a slot by what is drawn in it, and by its price.

    A draw that was begun and not finished is drawn under its first charge, by whoever claims the same slot.
    So a block of another price has another slot, and is charged itself.
    """
    each = (price.epsilon, price.rho, price.delta, price.gaussian_delta)
    named = f"{len(question)} {question} {terms} costs {' '.join(map(str, each))}"
    return hashlib.sha256(named.encode()).digest()


class CacheState(Enum):
    READY = "ready"
    DRAW = "draw"
    WAIT = "wait"
    APART = "apart"


@dataclass(frozen=True, slots=True, kw_only=True)
class CachedQuestion:
    """A block as the ledger sees it. block: what is drawn, and charged; digest None: it is never cached;
    derivable None: nothing is made of it, nor it of anything; rests_on: blocks of the statement, by number,
    whose answers in the ledger the question names by their digests."""

    block: CheckedBlock
    digest: bytes | None
    question: str
    terms: str
    order: Order
    derivable: Derivable | None = None
    rests_on: frozenset[int] = frozenset()


@dataclass(frozen=True, slots=True, kw_only=True)
class Claim:
    """A durable charge of `paid`, and what is to be done for each part. receipt: None where nothing is paid;
    cached: the number of each part in the ledger; warnings: of budgets that are nearly spent; person: as of
    Charged."""

    receipt: str | None
    paid: Loss
    remaining: Loss
    holder: str
    states: tuple[CacheState, ...]
    cached: tuple[int | None, ...]
    relations: tuple[str | None, ...]
    warnings: tuple[str, ...] = ()
    person: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class PaidAnswer:
    """What an analyst has been shown in this slot. made: what of it can be used (reuse.derivable)."""

    cached: int
    about: bytes
    made: Any


class CachedLedger(Protocol):
    async def claim(
        self,
        analyst: str,
        parts: Sequence[CachedQuestion],
        fingerprint: str,
        digest: str,
        *,
        may_draw: bool,
        text: str | None = None,
    ) -> Claim | None:
        """Charges, durably, before it returns. None: something is to be drawn and may not be; nothing is
        charged.

        Given    text: of the statement, where receipts keep it
        Refuses  OVER_BUDGET, with what is left
        """
        ...

    async def store(self, cached: int, relation: str) -> str | None:
        """Durably what all are shown: this, unless another came first. None: it was forgotten meanwhile."""
        ...

    async def relation_of(self, cached: int) -> str | None:
        """None: it is not drawn yet.

        Refuses  Unfinished: it was forgotten
        """
        ...

    async def paid_about(self, analyst: str, wanted: Sequence[bytes]) -> Sequence[PaidAnswer]:
        """The latest first."""
        ...

    async def paid_of(self, analyst: str, digests: Sequence[bytes]) -> frozenset[bytes]:
        """Those that would cost the analyst nothing now: shown, or paid and not drawn yet."""
        ...

    async def are_of_one_slot(self, cached: int, other: int) -> bool: ...

    async def forget(self, cached: int, holder: str) -> bool:
        """Of a draw that is too large to be stored. False: it is not the holder's any more, and may not be
        shown."""
        ...

    async def let_go(self, cached: int, holder: str) -> None:
        """Of a draw that is not finished. Never waits."""
        ...


class Unfinished(Exception):
    """A part can be claimed anew: whoever was drawing it is gone, or it was taken over."""


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

    async def parts(self, plan: CheckedPlan) -> tuple[CachedQuestion, ...]:
        """In a thread: conditions and keys of a plan may be thousands."""
        found = self._remembered(plan)
        return await in_thread(self._parts_of, plan) if found is None else found

    async def part(self, block: CheckedBlock, given: str) -> CachedQuestion:
        """A block that compares with answers of earlier ones.

        Given    given: names these answers, so that two of equal names have equal answers
        """
        return await in_thread(self._part, block, given)

    def are_known(self, parts: Sequence[CachedQuestion]) -> bool:
        """Whether all may have been drawn already: then it is worth asking before a session is taken."""
        return all(part.digest is not None and part.digest in self._known for part in parts)

    async def claim(
        self,
        analyst: str,
        parts: Sequence[CachedQuestion],
        fingerprint: str,
        digest: str,
        *,
        may_draw: bool,
        text: str | None = None,
    ) -> Claim | None:
        claim = await self.ledger.claim(
            analyst, parts, fingerprint, digest, may_draw=may_draw, text=text
        )
        for part in parts if claim is not None else ():
            if part.digest is not None:
                self._known[part.digest] = None
                self._known.move_to_end(part.digest)
        while len(self._known) > _KNOWN:
            self._known.popitem(last=False)
        return claim

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

    def _part(self, checked: CheckedBlock, given: str | None = None) -> CachedQuestion:
        block = checked.block
        order = Order(
            keys=tuple(range(len(block.keys))), releases=tuple(range(len(block.releases)))
        )
        wanted: BlockQuestion | None
        try:
            wanted = question_of(block)
        except NotCanonical:
            wanted = None
        if block.uses_answers and given is None:  # it hangs on answers that nothing names
            wanted = None
        too_large = wanted is not None and len(wanted.question) + len(wanted.terms) > _QUESTION
        if wanted is None or too_large or not block.releases:
            return CachedQuestion(block=checked, digest=None, question="", terms="", order=order)
        relied_on = f"{SEMANTICS} {self._relied_on.text(block)}"
        question = f"{relied_on} {wanted.question}"
        if given is not None:  # nothing is made of it: what it is about is not what its rows are
            question = f"{question} given {given}"
        return CachedQuestion(
            block=checked,
            digest=slot_digest(question, wanted.terms, checked.price),
            question=question,
            terms=wanted.terms,
            order=Order(keys=wanted.keys, releases=wanted.releases),
            derivable=None
            if given is not None
            else derivable(block, wanted, self.known, relied_on),
        )


# By the number of their block.
Claimed = Mapping[int, CachedQuestion]


class ClaimedBlocks:
    """The blocks of one statement as the ledger keeps them (engine.noisy_answers.BlockStore)."""

    def __init__(self, ledger: CachedLedger, parts: Claimed, claim: Claim) -> None:
        self._ledger = ledger
        self._parts = parts
        self._holder = claim.holder
        self._states = dict(zip(parts, claim.states, strict=True))
        self._cached = dict(zip(parts, claim.cached, strict=True))
        relations = zip(parts, claim.relations, strict=True)
        self._ready = {number: text for number, text in relations if text is not None}
        self._open = {n for n, state in self._states.items() if state is CacheState.DRAW}

    async def wait(self) -> None:
        """For what others are drawing.

        Refuses  Unfinished
        """
        clock = asyncio.get_running_loop().time
        until = clock() + WAIT_SECONDS
        for number, state in self._states.items():
            cached = self._cached[number]
            while state is CacheState.WAIT and number not in self._ready:
                text = None if cached is None else await self._ledger.relation_of(cached)
                if text is not None:
                    self._ready[number] = text
                elif cached is None or clock() > until:
                    raise Unfinished
                else:
                    await asyncio.sleep(_POLL_SECONDS)

    async def ready(self, number: int, block: BlockPlan) -> CachedBlock | None:
        text = self._ready.get(number)
        if text is None:
            return None
        if any(self._cached.get(other) is None for other in self._parts[number].rests_on):
            raise Fault  # it was drawn for an answer that stands in the ledger, and it is not that one
        return await self._read(number, block, text)

    async def _read(self, number: int, block: BlockPlan, text: str) -> CachedBlock:
        work = len(text) // _PER_NUMBER
        return await beside(work, cached_block, text, self._parts[number].order, block)

    async def to_draw(self, number: int, block: CheckedBlock) -> CheckedBlock:
        return block

    async def stored(self, number: int, block: BlockPlan, drawn: CachedBlock) -> CachedBlock:
        """What is to be shown. A draw that took longer than its lease may have been taken over, under the same
        charge: of two that are not stored only one may be shown.

        Refuses  Unfinished
        """
        cached = self._cached[number]
        if number not in self._open or cached is None:
            return drawn
        work = len(drawn.drawn.groups) * (len(block.releases) + len(block.keys))
        text = await beside(work, cached_text, drawn, self._parts[number].order)
        rests_on_others = any(self._cached.get(n) is None for n in self._parts[number].rests_on)
        if len(text) > _RELATION or rests_on_others:
            is_ours = await self._ledger.forget(cached, self._holder)
            self._open.discard(number)
            if not is_ours:
                raise Unfinished
            return drawn
        stored = await self._ledger.store(cached, text)
        self._open.discard(number)
        if stored is None:
            raise Unfinished
        if stored == text:
            return drawn
        return await self._read(number, block, stored)

    async def close(self) -> None:
        """What is not drawn by now may be by another."""
        for number in self._open:
            cached = self._cached[number]
            if cached is not None:
                await self._ledger.let_go(cached, self._holder)
