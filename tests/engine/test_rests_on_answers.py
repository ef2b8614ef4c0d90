"""An outer block that names an inner answer by its digest is never shown, or stored, beside another one."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import Any, cast

import pytest

from proxy.base.errors import Fault
from proxy.engine.cached_answers import CachedQuestion, CacheState, Claim, ClaimedBlocks
from proxy.mechanisms.loss import NOTHING
from proxy.release.cached_block import CachedBlock, Order
from proxy.release.drawn_values import DrawnBlock
from tests.pipeline_world import walk
from tests.unchecked_blocks import priced

_PART = CachedQuestion(
    block=priced(NOTHING),
    digest=b"d",
    question="q",
    terms="t",
    order=Order(keys=(), releases=(0,)),
)
_PARTS = {0: _PART, 1: replace(_PART, rests_on=frozenset({0}))}


class Ledger:
    def __init__(self) -> None:
        self.forgotten: list[int] = []
        self.stored: list[int] = []

    async def store(self, cached: int, relation: str) -> str | None:
        self.stored.append(cached)
        return relation

    async def forget(self, cached: int, holder: str) -> bool:
        self.forgotten.append(cached)
        return True


def _blocks(
    states: tuple[CacheState, CacheState],
    cached: tuple[int | None, int | None],
    relations: tuple[str | None, str | None] = (None, None),
) -> tuple[Ledger, ClaimedBlocks]:
    ledger = Ledger()
    claim = Claim(
        receipt=None,
        paid=NOTHING,
        remaining=NOTHING,
        holder="h",
        states=states,
        cached=cached,
        relations=relations,
    )
    return ledger, ClaimedBlocks(cast(Any, ledger), _PARTS, claim)


def _block() -> Any:
    found = walk("SELECT count(*) FROM people")
    assert found is not None
    return found.plan.blocks[0]


_DRAWN = CachedBlock(chosen={}, drawn=DrawnBlock(()))


def test_it_is_stored_beside_what_is_stored() -> None:
    ledger, blocks = _blocks((CacheState.DRAW, CacheState.DRAW), (7, 8))
    asyncio.run(blocks.stored(1, _block(), _DRAWN))
    assert (ledger.stored, ledger.forgotten) == ([8], [])


def test_it_is_forgotten_beside_an_answer_that_is_not_kept() -> None:
    """E.g. the same inner question twice in a statement: the second has an answer of its own."""
    ledger, blocks = _blocks((CacheState.APART, CacheState.DRAW), (None, 8))
    assert asyncio.run(blocks.stored(1, _block(), _DRAWN)) is _DRAWN
    assert (ledger.stored, ledger.forgotten) == ([], [8])


def test_it_is_not_shown_beside_an_answer_that_is_not_kept() -> None:
    _, blocks = _blocks((CacheState.APART, CacheState.READY), (None, 8), (None, "{}"))
    with pytest.raises(Fault):
        asyncio.run(blocks.ready(1, _block()))
