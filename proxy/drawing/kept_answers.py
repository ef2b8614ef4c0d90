"""Answers that are kept, and the decision to show them: to whoever has paid for them, and nobody else.

There are two kinds. The ledger keeps answers in slots (`ClaimedAnswers`): a claim charges an analyst for each
that they have not been shown, and what it shows is what stands in the ledger, never an own draw. So a draw that
was interrupted is drawn again under its charge. An engine keeps answers in memory that were charged and not
delivered (`OwnedAnswer`). Released tables are everybody's.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from proxy.base.errors import Fault
from proxy.drawing.answer_slots import (
    AnswersInLedger,
    CacheState,
    ClaimedSlot,
    Unfinished,
)
from proxy.drawing.statement_run import Payer, StatementRun
from proxy.kernel.checked_plan import CheckedBlock
from proxy.release.cached_block import CachedBlock, cached_block, cached_text
from proxy.turns.threads import Turn

_POLL_SECONDS = 0.02
# Characters: what is larger is not cached. A relation of 10,000 groups has about 500,000.
_RELATION = 4 * 1024 * 1024
_PER_NUMBER = 8
WAIT_SECONDS = 61.0  # a lease (ledger.cached_claims), and a second


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerOwner:
    """Who was charged for an answer. person: the analyst's number in the ledger; token: the number of the token
    that the statement came through, None: of none."""

    analyst: str
    person: int | None
    token: int | None


class NumberedPeople(Protocol):
    async def person(self, analyst: str) -> int | None:
        """The analyst's number now. A name that was removed and added again is of another person, with another
        number. None: the ledger knows no such analyst."""
        ...


class OwnedAnswer:
    """The blocks of an answer that was charged and not delivered. It is shown to its owner alone."""

    __slots__ = ("_drawn", "owner")

    def __init__(self, owner: AnswerOwner, drawn: tuple[CachedBlock, ...]) -> None:
        self.owner = owner
        self._drawn = drawn

    def __repr__(self) -> str:
        return "OwnedAnswer(hidden)"

    async def shown(self, payer: Payer, people: NumberedPeople) -> tuple[CachedBlock, ...] | None:
        """Show it to the one who was charged. None: another asks, or comes through another token.

        Privacy: it is the released value itself, so showing it again is post-processing.
        """
        person = await people.person(payer.analyst)
        asking = AnswerOwner(analyst=payer.analyst, person=person, token=payer.token)
        return self._drawn if asking == self.owner else None


class ClaimedAnswers:
    """The blocks of one claim, which was charged, as the ledger keeps them."""

    def __init__(
        self, ledger: AnswersInLedger, run: StatementRun, holder: str, slots: Sequence[ClaimedSlot]
    ) -> None:
        self._ledger = ledger
        self._run = run
        self._holder = holder
        self._slots = {one.part.block: one for one in slots}
        self._ready = {one.part.block: one.text for one in slots if one.text is not None}
        self._open = {one.part.block for one in slots if one.state is CacheState.DRAW}
        self._forgotten: set[CheckedBlock] = set()

    async def wait(self) -> None:
        """Wait for what others are drawing.

        Raises:
            Unfinished: Whoever draws it is gone, or takes too long.
        """
        clock = asyncio.get_running_loop().time
        until = clock() + WAIT_SECONDS
        for block, slot in self._slots.items():
            while slot.state is CacheState.WAIT and block not in self._ready:
                if slot.cached is None:
                    raise Unfinished
                found = await self._ledger.shown(self._run, slot.cached)
                if found is not None:
                    self._ready[block] = found.text
                elif clock() > until:
                    raise Unfinished
                else:
                    await asyncio.sleep(_POLL_SECONDS)

    async def ready(self, block: CheckedBlock) -> CachedBlock | None:
        """Read what stands already. None: it is to be drawn.

        Raises:
            Fault: It was drawn for an answer that stands in the ledger, and the statement has another.
        """
        text = self._ready.get(block)
        if text is None:
            return None
        slot = self._slots[block]
        if self._rests_on_others(slot):
            raise Fault("an answer that hangs on another answer")
        return await _read(slot, text, self._run.turn)

    async def stored(self, block: CheckedBlock, drawn: CachedBlock) -> CachedBlock:
        """Store a draw, and give what is to be shown.

        A draw that took longer than its lease may have been taken over, under the same charge. Of two that are
        not stored only one may be shown.

        Raises:
            Unfinished: Another has taken it over.
        """
        slot = self._slots[block]
        plan = block.block
        work = len(drawn.drawn.groups) * (len(plan.releases) + len(plan.keys))
        cached = slot.cached
        if block not in self._open or cached is None:
            return drawn
        text = await self._run.turn.in_thread_if_long(work, cached_text, drawn, slot.part.order)
        if len(text) > _RELATION or self._rests_on_others(slot):
            self._forgotten.add(block)
            is_ours = await self._ledger.forget(cached, self._holder)
            self._open.discard(block)
            if not is_ours:
                raise Unfinished
            return drawn
        stored = await self._ledger.store(self._run, cached, text)
        self._open.discard(block)
        if stored is None:
            raise Unfinished
        return drawn if stored == text else await _read(slot, stored, self._run.turn)

    async def close(self) -> None:
        """What is not drawn by now may be by another."""
        for block in self._open:
            cached = self._slots[block].cached
            if cached is not None:
                await self._ledger.let_go(cached, self._holder)

    def _rests_on_others(self, slot: ClaimedSlot) -> bool:
        """Whether an answer that its question names stands nowhere in the ledger."""
        if not self._forgotten.isdisjoint(slot.part.rests_on):
            return True
        before = (self._slots.get(block) for block in slot.part.rests_on)
        return any(one is None or one.cached is None for one in before)


async def _read(slot: ClaimedSlot, text: str, turn: Turn) -> CachedBlock:
    work = len(text) // _PER_NUMBER
    order, block = slot.part.order, slot.part.block.block
    return await turn.in_thread_if_long(work, cached_block, text, order, block)
