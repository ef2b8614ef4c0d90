"""Statements that a test hands to an engine, as the adapter of the listeners does: in the name of who pays."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from proxy.drawing.statement_run import Payer, StatementRun
from proxy.engine.noisy_answers import NoisyAnswer
from proxy.engine.policy_statements import ProtectedQuery
from proxy.engine.query_pipeline import Engine


def run_of(analyst: str, token: int | None = None) -> StatementRun:
    """The run of a statement of an analyst, through a token or none."""
    return StatementRun(payer=Payer(analyst=analyst, token=token))


async def run_by(
    engine: Engine,
    question: ProtectedQuery,
    arguments: tuple[Any, ...],
    settings: Mapping[str, str],
    analyst: str,
) -> NoisyAnswer:
    """Run a statement for an analyst."""
    return await engine.run(question, arguments, settings, run_of(analyst))
