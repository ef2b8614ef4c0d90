"""What is drawn for a release: all of its groups, and kept as it is."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from proxy.base.errors import Code, Refusal
from proxy.engine.cached_answers import CachedQuestion
from proxy.engine.listed_keys import confirmed
from proxy.engine.ports import ProtectedSession
from proxy.engine.published_ports import StoredBlock
from proxy.kernel.checked_plan import CheckedBlock
from proxy.kernel.plan import BlockPlan
from proxy.release.cached_block import CachedBlock, cached_text


class DrawnBlocks:
    """A BlockStore that keeps what is drawn."""

    def __init__(self, parts: Sequence[CachedQuestion] | None) -> None:
        self.blocks: list[StoredBlock] = []
        self._parts = parts

    async def ready(self, number: int, block: BlockPlan) -> CachedBlock | None:
        return None

    async def to_draw(self, number: int, block: CheckedBlock) -> CheckedBlock:
        return block

    async def stored(self, number: int, block: BlockPlan, drawn: CachedBlock) -> CachedBlock:
        part = None if self._parts is None else self._parts[number]
        if part is not None and part.digest is not None:
            text = await asyncio.to_thread(cached_text, drawn, part.order)
            self.blocks.append(StoredBlock(question=part.question, terms=part.terms, relation=text))
        return drawn


async def refuse_lacking(session: ProtectedSession, parts: Sequence[CachedQuestion]) -> None:
    """A release would lack groups of what a public table has held since it was copied: sums of its groups would
    not be of all rows."""
    for number, part in (await confirmed(session, dict(enumerate(parts)))).items():
        if part.derivable != parts[number].derivable:
            raise Refusal(
                Code.UNAVAILABLE,
                "a public table holds values that have not been copied yet",
                "It is released when they have been.",
            )
