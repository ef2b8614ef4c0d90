"""Questions under names that a test gives: for tests of what the ledger does with them."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from proxy.drawing import answer_slots
from proxy.drawing.answer_slots import CachedQuestion
from proxy.kernel.checked_plan import CheckedBlock
from proxy.release.cached_block import Order


def named_slot(
    block: CheckedBlock,
    digest: bytes | None,
    question: str = "q",
    terms: str = "t",
    order: Order | None = None,
) -> CachedQuestion:
    return CachedQuestion(
        block=block,
        digest=digest,
        question=question,
        terms=terms,
        order=Order(keys=(), releases=()) if order is None else order,
        derivable=None,
        rests_on=frozenset(),
        made=answer_slots._HERE,
    )


def renamed(part: CachedQuestion, **changes: Any) -> CachedQuestion:
    return replace(part, **changes, made=answer_slots._HERE)
