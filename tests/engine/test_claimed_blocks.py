"""Under one charge one draw is shown."""

from __future__ import annotations

import asyncio
from types import SimpleNamespace
from typing import Any, cast

import pytest

from proxy.engine import cached_answers
from proxy.engine.cached_answers import CacheState, ClaimedBlocks, Unfinished


class _Ledger:
    """Where another has taken a draw over, and what came of it is gone."""

    async def store(self, cached: int, relation: str) -> str | None:
        return None

    async def forget(self, cached: int, holder: str) -> bool:
        return False


@pytest.mark.parametrize("length", [1, 100])
def test_who_was_taken_over_shows_nothing(monkeypatch: pytest.MonkeyPatch, length: int) -> None:
    """Whether what was drawn is stored or too large for that."""
    monkeypatch.setattr(cached_answers, "cached_text", lambda drawn, order: "x" * length)
    monkeypatch.setattr(cached_answers, "_RELATION", 10)
    claim = SimpleNamespace(holder="h", states=(CacheState.DRAW,), cached=(1,), relations=(None,))
    parts = {0: SimpleNamespace(order=None, rests_on=frozenset())}
    blocks = ClaimedBlocks(cast(Any, _Ledger()), cast(Any, parts), cast(Any, claim))
    block = SimpleNamespace(releases=(), keys=())
    drawn = SimpleNamespace(drawn=SimpleNamespace(groups=()))
    with pytest.raises(Unfinished):
        asyncio.run(blocks.stored(0, cast(Any, block), cast(Any, drawn)))
