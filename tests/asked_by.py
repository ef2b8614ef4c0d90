"""Statements that a test hands to an engine, as the adapter of the listeners does: in the name of who asks."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from proxy.drawing.charged_token import asking
from proxy.engine.noisy_answers import NoisyAnswer
from proxy.engine.policy_statements import ProtectedQuery
from proxy.engine.query_pipeline import Engine


async def run_by(
    engine: Engine,
    question: ProtectedQuery,
    arguments: tuple[Any, ...],
    settings: Mapping[str, str],
    analyst: str,
) -> NoisyAnswer:
    """Run a statement for an analyst."""
    with asking(analyst):
        return await engine.run(question, arguments, settings, analyst)
