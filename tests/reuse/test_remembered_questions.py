"""Questions of a plan are remembered, but for large ones: who asks for EXPLAIN pays nothing for them."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from fractions import Fraction
from typing import Any, cast

import pytest

from proxy.accounting.events import Event
from proxy.engine import cached_answers
from proxy.engine.cached_answers import CachedAnswers
from proxy.kernel.plan import BlockPlan
from proxy.planner import loss_events
from proxy.planner.facts import PlanningContext
from tests.pipeline_world import CATALOG, POLICIES, walk


def _asked(statement: str) -> tuple[bool, int]:
    """Whether its questions are remembered, and of how many bytes what is made of answers is named."""
    pipeline = walk(statement)
    assert pipeline is not None
    cached = CachedAnswers(cast(Any, None), PlanningContext(POLICIES["world"], CATALOG, {}))
    once, twice = (asyncio.run(cached.parts(pipeline.plan)) for _ in range(2))
    assert once is not None and once == twice
    found = once[0].derivable
    assert found is not None
    texts = (found.question.question, found.question.terms, found.question.about)
    assert texts == ("", "", ""), "what is remembered beside the question is short"
    return once is twice, max(len(about) for about, _ in found.wanted)


def test_large_questions_are_not_remembered() -> None:
    assert _asked("SELECT count(*) FROM people WHERE i4 > 5") == (True, 32)
    items = ", ".join(map(str, range(1_000)))
    blocks = ", ".join(f"(SELECT count(*) FROM q WHERE i8 > {n})" for n in range(10))
    large = f"WITH q AS (SELECT i8 FROM people WHERE i4 NOT IN ({items})) SELECT {blocks}"
    assert _asked(large) == (False, 32)


def test_a_block_of_another_price_has_another_slot(monkeypatch: pytest.MonkeyPatch) -> None:
    """A slot that was charged and not drawn is drawn under its charge by whoever names it."""
    pipeline = walk("SELECT count(*) FROM people")
    assert pipeline is not None

    def digest() -> bytes | None:
        known = PlanningContext(POLICIES["world"], CATALOG, {})
        found = asyncio.run(CachedAnswers(cast(Any, None), known).parts(pipeline.plan))
        assert found is not None
        return found[0].digest

    before, real = digest(), loss_events.block_events
    assert before is not None and digest() == before
    for field in ("rho", "delta"):

        def dearer(block: BlockPlan, field: str = field) -> Iterator[Event]:
            for event in real(block):
                yield {**event, field: str(Fraction(str(event[field])) + 1)}

        monkeypatch.setattr(cached_answers, "block_events", dearer)
        assert digest() not in (None, before)
