"""Who pays for a statement is said by whoever has checked the credentials, and by nobody else."""

from __future__ import annotations

import asyncio
import re
from fractions import Fraction
from pathlib import Path

import pytest

import proxy
from proxy.base.errors import Code, Fault, Refusal
from proxy.drawing.statement_run import Payer, StatementRun, run_of_owner
from proxy.engine.query_pipeline import EngineInForce
from proxy.mechanisms.loss import Loss
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


_HALF, _LESS = Fraction(1, 2), Fraction(499, 1000)


@pytest.mark.parametrize(
    ("most", "approved", "refusal"),
    [
        (None, None, None),
        (_HALF, _HALF, None),
        (_LESS, None, "it costs epsilon 0.5, above max_epsilon 0.499"),
        (None, _LESS, "it costs epsilon 0.5: a person has to approve what costs more than 0.499"),
        (_LESS, _LESS, "it costs epsilon 0.5, above max_epsilon 0.499"),
        (_HALF, _LESS, "it costs epsilon 0.5: a person has to approve what costs more than 0.499"),
    ],
)
def test_what_is_dearer_than_a_request_allows_is_refused(
    most: Fraction | None, approved: Fraction | None, refusal: str | None
) -> None:
    """Before anything is charged or read. A charge of just as much is made."""
    payer = Payer(analyst="alice", token=None, most_epsilon=most, approved_epsilon=approved)
    recorder = Recorder()
    engine, question = asked(recorder, _COUNT)
    ran = engine.run(question, (), {"dp.epsilon": "0.5"}, StatementRun(payer=payer))
    if refusal is None:
        asyncio.run(ran)
        assert recorder.charged == [Loss(_HALF, Fraction(0))]
        return
    with pytest.raises(Refusal) as refused:
        asyncio.run(ran)
    assert (refused.value.code, refused.value.message) == (Code.TOO_DEAR, refusal)
    assert recorder.calls == []


def test_a_statement_ends_in_time_before_its_charge_alone() -> None:
    async def too_long() -> None:
        await asyncio.sleep(60)

    async def refused_inside(run: StatementRun) -> None:
        with pytest.raises(Fault):
            run.refuse_limited()

    async def allowed_inside(run: StatementRun) -> None:
        run.refuse_limited()

    run = run_of_owner("the owner")
    assert run.payer == Payer(analyst="the owner", token=None) and run.turn.turns is None
    with pytest.raises(Refusal) as refused:
        asyncio.run(run.before_charge(0.01, too_long()))
    assert refused.value.code is Code.CANCELLED and "Nothing was charged" in refused.value.hint
    run.refuse_limited()
    asyncio.run(run.before_charge(60.0, run.before_charge(60.0, refused_inside(run))))
    asyncio.run(run.before_charge(60.0, run.before_charge(None, refused_inside(run))))
    asyncio.run(run.before_charge(None, allowed_inside(run)))
    run.refuse_limited()
