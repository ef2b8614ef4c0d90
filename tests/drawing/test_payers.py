"""Who pays for a statement is said by whoever has checked the credentials, and by nobody else."""

from __future__ import annotations

import asyncio
import re
from pathlib import Path

import pytest

import proxy
from proxy.engine.query_pipeline import EngineInForce
from proxy.pgwire.calls import QueryAnswer, Refuse, RunQuery
from proxy.servers.engine_adapter import EngineAdapter
from tests.engine.test_order import Recorder, asked

_COUNT = "SELECT count(*) FROM people"
_ROOT = Path(proxy.__file__).parent


def test_no_value_is_handed_on_by_the_context() -> None:
    """Else what a statement costs, and whom, hangs on which task runs it."""
    found = [
        path.relative_to(_ROOT).as_posix()
        for path in _ROOT.rglob("*.py")
        if re.search(r"\bContextVar\b", path.read_text(encoding="utf-8"))
    ]
    assert not found


@pytest.mark.parametrize(("analyst", "is_run"), [("bob", True), ("alice", False), ("", False)])
def test_nobody_is_charged_in_the_name_of_another(analyst: str, is_run: bool) -> None:
    """Whoever the listener names: the session is bob's."""
    recorder = Recorder()
    engine, question = asked(recorder, _COUNT)
    adapter = EngineAdapter(EngineInForce(engine)).of("bob")
    found = asyncio.run(adapter.run(analyst, RunQuery(question, (), {})))
    assert isinstance(found, QueryAnswer if is_run else Refuse)
    assert ("reserve" in recorder.calls) == is_run


def test_a_session_that_nobody_pays_for_is_charged_to_nobody() -> None:
    recorder = Recorder()
    engine, question = asked(recorder, _COUNT)
    adapter = EngineAdapter(EngineInForce(engine))
    assert isinstance(asyncio.run(adapter.run("bob", RunQuery(question, (), {}))), Refuse)
    assert "reserve" not in recorder.calls
