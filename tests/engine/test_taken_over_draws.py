"""Of draws under one charge no two are shown, also where none of them is stored."""

from __future__ import annotations

import asyncio
from types import SimpleNamespace
from typing import Any, cast

import pytest

from proxy.engine import cached_answers
from proxy.engine.cached_answers import (
    CachedLedger,
    CachedQuestion,
    CacheState,
    Claim,
    ClaimedBlocks,
    Unfinished,
)
from proxy.mechanisms.loss import NOTHING
from proxy.release.cached_block import CachedBlock, Order
from proxy.release.drawn_values import DrawnBlock
from tests.unchecked_blocks import priced

_BLOCK = cast(Any, SimpleNamespace(keys=(), releases=()))
_DRAWN = CachedBlock(chosen={}, drawn=DrawnBlock(()))


class _Ledger:
    """forgets: whether the draw is still the holder's; stores: what stands after storing."""

    def __init__(self, *, forgets: bool = True, stores: str | None = None) -> None:
        self._forgets, self._stores = forgets, stores

    async def forget(self, cached: int, holder: str) -> bool:
        assert (cached, holder) == (7, "me")
        return self._forgets

    async def store(self, cached: int, relation: str) -> str | None:
        return self._stores


def _stored(ledger: _Ledger) -> CachedBlock:
    order = Order(keys=(), releases=())
    part = CachedQuestion(
        block=priced(NOTHING), digest=b"d" * 32, question="q", terms="t", order=order
    )
    claim = Claim(
        receipt="1",
        paid=NOTHING,
        remaining=NOTHING,
        holder="me",
        states=(CacheState.DRAW,),
        cached=(7,),
        relations=(None,),
    )
    blocks = ClaimedBlocks(cast(CachedLedger, ledger), {0: part}, claim)
    return asyncio.run(blocks.stored(0, _BLOCK, _DRAWN))


def test_what_was_forgotten_meanwhile_is_not_shown() -> None:
    with pytest.raises(Unfinished):
        _stored(_Ledger(stores=None))


def test_what_is_too_large_is_shown_by_its_holder_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cached_answers, "_RELATION", 1)
    assert _stored(_Ledger(forgets=True)) is _DRAWN
    with pytest.raises(Unfinished):
        _stored(_Ledger(forgets=False))
