"""What is drawn for a release: all of its groups, and kept as it is."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from proxy.base.errors import Code, Refusal
from proxy.drawing.answer_slots import CachedQuestion
from proxy.drawing.protected_reads import ProtectedSession
from proxy.engine.public_lists import confirmed
from proxy.engine.published_ports import StoredBlock
from proxy.release.cached_block import CachedBlock, cached_text


def stored_blocks(
    drawn: Sequence[CachedBlock], parts: Sequence[CachedQuestion]
) -> Iterator[StoredBlock]:
    """What is drawn of the blocks that have a question."""
    for block, part in zip(drawn, parts, strict=False):
        if part.digest is not None:
            text = cached_text(block, part.order)
            yield StoredBlock(question=part.question, terms=part.terms, relation=text)


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
