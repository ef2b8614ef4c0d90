"""Answers that are cached: which blocks of a plan are one question, and which of them this process has claimed.

Who is shown what of them: `drawing/kept_answers.py`.

Source  docs/design/reuse.md 2
"""

from __future__ import annotations

import hmac
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from threading import Lock
from typing import Protocol

from proxy.drawing.answer_slots import (
    AnswersShown,
    CachedQuestion,
    PaidAnswer,
    cached_question,
    never_cached,
)
from proxy.drawing.charges import Charge
from proxy.kernel.checked_plan import CheckedBlock, CheckedPlan
from proxy.kernel.plan import BlockPlan
from proxy.planner.facts import PlanningContext
from proxy.release.cached_block import Order
from proxy.reuse.block_question import BlockQuestion, ReliedOn, question_of
from proxy.reuse.canonical_form import NotCanonical
from proxy.reuse.derivable import derivable
from proxy.turns.threads import in_thread

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
        analyst: str,
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

    async def parts(self, plan: CheckedPlan) -> tuple[CachedQuestion, ...]:
        """In a thread: conditions and keys of a plan may be thousands."""
        found = self._remembered(plan)
        return await in_thread(self._parts_of, plan) if found is None else found

    async def named(self, block: CheckedBlock) -> NamedQuestion | None:
        """What a block asks. None: it is never cached."""
        return await in_thread(self._named, block)

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
    ) -> Charge | None:
        charge = await self.ledger.claim(
            analyst, parts, fingerprint, digest, may_draw=may_draw, text=text
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
