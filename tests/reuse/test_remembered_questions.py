"""Questions of a plan are remembered, but for large ones: who asks for EXPLAIN pays nothing for them."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from fractions import Fraction
from typing import Any, cast

from proxy.engine.cached_answers import CachedAnswers
from proxy.kernel.checked_plan import together
from proxy.kernel.price import Price
from proxy.planner.facts import PlanningContext
from proxy.turns.threads import Turn
from tests.pipeline_world import CATALOG, POLICIES, walk
from tests.unchecked_blocks import unchecked


def _asked(statement: str) -> tuple[bool, int]:
    """Whether its questions are remembered, and of how many bytes what is made of answers is named."""
    pipeline = walk(statement)
    assert pipeline is not None
    cached = CachedAnswers(cast(Any, None), PlanningContext(POLICIES["world"], CATALOG, {}))
    once, twice = (asyncio.run(cached.parts(pipeline.checked, Turn("alice"))) for _ in range(2))
    assert once == twice
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


def test_a_block_of_another_price_has_another_slot() -> None:
    """A slot that was charged and not drawn is drawn under its charge by whoever names it."""
    pipeline = walk("SELECT count(*) FROM people")
    assert pipeline is not None
    (one,) = pipeline.checked.blocks

    def digest(price: Price) -> bytes | None:
        known = PlanningContext(POLICIES["world"], CATALOG, {})
        plan = together([unchecked(one.block, price)])
        (part,) = asyncio.run(CachedAnswers(cast(Any, None), known).parts(plan, Turn("alice")))
        return part.digest

    before = digest(one.price)
    assert before is not None and digest(one.price) == before
    for currency in ("rho", "delta", "epsilon", "gaussian_delta"):
        more = {currency: getattr(one.price, currency) + Fraction(1, 2)}
        assert digest(replace(one.price, **more)) not in (None, before)


def test_a_block_that_hangs_on_an_answer_has_a_slot_where_the_answer_is_named() -> None:
    """Who has paid for it under one earlier answer is not shown it under another."""
    pipeline = walk("SELECT count(*) FROM people WHERE i4 > (SELECT avg(i4) FROM people)")
    assert pipeline is not None
    cached = CachedAnswers(cast(Any, None), PlanningContext(POLICIES["world"], CATALOG, {}))
    hanging = [one for one in pipeline.checked.blocks if one.block.uses_answers]
    assert len(hanging) == 1
    parts = asyncio.run(cached.parts(pipeline.checked, Turn("alice")))
    digests = [one.digest for one in parts if one.block is hanging[0]]
    assert digests == [None]
