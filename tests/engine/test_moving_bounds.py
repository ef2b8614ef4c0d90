"""The present of bounds that end with it: read once for a statement from the ledger's clock.

The ledger is a recorder with a clock that each test chooses.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Generator, Mapping
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import Any, cast

import pytest

from proxy.base.errors import Fault
from proxy.compiler.backend_query import BackendQuery
from proxy.drawing.charges import PaidQuery
from proxy.drawing.drawer import Drawer
from proxy.engine.cached_answers import CachedAnswers
from proxy.engine.noisy_answers import NoisyAnswer
from proxy.engine.policy_statements import ProtectedQuery
from proxy.engine.query_pipeline import Engine, EngineInForce
from proxy.exact.table import ExactRow, ExactTable
from proxy.pgwire.calls import (
    Arguments,
    Inspect,
    PlanTrial,
    QueryAnswer,
    ReadArguments,
    Rehearsal,
    RunQuery,
    RunTrial,
    Substitute,
    Trial,
    TrialResult,
)
from proxy.pgwire.query_sequence import Rewritten, answer
from proxy.policy.policy_model import Reuse
from proxy.query.syntax.statements import Statement
from proxy.servers.engine_adapter import EngineAdapter
from proxy.turns.threads import Turn
from tests.asked_by import run_of
from tests.engine.test_order import _OIDS, Recorder
from tests.moving_world import day_number, moving_policy
from tests.pipeline_world import CATALOG, POLICIES

_TODAY, _TOMORROW = day_number("2026-11-26"), day_number("2026-11-27")
_BY_DAY = "SELECT date_trunc('day', d), count(*) FROM people WHERE d >= '2026-11-24' GROUP BY 1"


class Clocked(Recorder):
    """A recorder whose clock can go on while a session is taken."""

    def __init__(self, today: int = _TODAY) -> None:
        super().__init__(rows=(ExactRow((), 0, (41,)),))
        self.today = today
        self.at_session: int | None = None
        self.queries: list[BackendQuery] = []

    async def run(
        self,
        paid: PaidQuery,
        values: Mapping[str, int | str | None],
        is_selected: object = None,
    ) -> ExactTable:
        self.queries.append(paid.query)
        return await super().run(paid, values, is_selected)

    @asynccontextmanager
    async def session(self, turn: Turn) -> AsyncIterator[Recorder]:
        if self.at_session is not None:
            self.today = self.at_session
        async with super().session(turn):
            yield self


def _engine(recorder: Recorder, *, moves: bool = True) -> Engine:
    policy = replace(moving_policy(), reuse=Reuse(86_400)) if moves else POLICIES["world"]
    relations = {oid: name for name, oid in _OIDS.items()}
    return Engine(Drawer(policy, CATALOG, recorder, recorder.bits), relations, recorder)


def _read(engine: Engine, text: str) -> ProtectedQuery:
    statement = engine.statements.look(text)
    assert isinstance(statement, Statement)
    by_name = {name.name: oid for name, oid in _OIDS.items()}
    question = engine.statements.read(statement, tuple(map(by_name.get, statement.relations)), ())
    assert question is not None
    return question


def _ask(engine: Engine, text: str) -> NoisyAnswer:
    return asyncio.run(engine.run(_read(engine, text), (), {}, run_of("alice")))


def _days(answer: NoisyAnswer) -> list[str]:
    """The groups that are answered."""
    (block,) = answer.plan.blocks if answer.plan is not None else ()
    (key,) = block.keys
    return [str(value)[:10] for value in key.values or ()]


def test_the_ledgers_clock_is_read_once_for_a_statement() -> None:
    recorder = Clocked()
    assert _days(_ask(_engine(recorder), _BY_DAY)) == ["2026-11-24", "2026-11-25", "2026-11-26"]
    assert recorder.calls.count("day") == 1 and recorder.calls[0] == "day"


def test_a_policy_without_such_bounds_asks_for_no_clock() -> None:
    recorder = Clocked()
    _ask(_engine(recorder, moves=False), "SELECT count(*) FROM people")
    assert "day" not in recorder.calls


def test_a_plan_of_before_midnight_ends_as_it_was_planned() -> None:
    recorder = Clocked()
    recorder.at_session = _TOMORROW  # midnight falls between the plan and the charge
    engine = _engine(recorder)
    before = _ask(engine, _BY_DAY)
    assert _days(before)[-1] == "2026-11-26"
    (run,) = recorder.queries
    assert "2026-11-26" in run.parameters.values() and "2026-11-27" not in run.parameters.values()
    after = _ask(engine, _BY_DAY)
    assert _days(after)[-1] == "2026-11-27"
    assert recorder.calls.count("day") == 2


def test_a_plan_that_is_remembered_is_of_its_day() -> None:
    recorder = Clocked()
    engine = _engine(recorder)
    question = _read(engine, _BY_DAY)
    found = []
    for day in (_TODAY, _TODAY, _TOMORROW, _TODAY):
        recorder.today = day
        found.append(_days(asyncio.run(engine.run(question, (), {}, run_of("alice"))))[-1])
    assert found == ["2026-11-26", "2026-11-26", "2026-11-27", "2026-11-26"]


def test_the_constant_stands_in_explain_and_in_the_notice() -> None:
    recorder = Clocked()
    engine = _engine(recorder)
    line = '"d" ends with 2026-11-26, which is now: later rows are in no group'
    assert line in _ask(engine, _BY_DAY).times
    explained = json.loads(_ask(engine, f"EXPLAIN {_BY_DAY}").relation)["explain"]
    assert any(line in one for one in explained), explained
    question = _read(engine, _BY_DAY)
    document = asyncio.run(engine.explain(question, (), {}, run_of("alice")))
    assert line in json.dumps(document).replace('\\"', '"')


def test_two_statements_of_a_day_are_one_question() -> None:
    recorder = Clocked()
    engine = _engine(recorder)
    cached = CachedAnswers(cast(Any, None), engine.known)

    def digest(text: str, day: int) -> bytes | None:
        (part,) = asyncio.run(
            cached.parts(engine.checked(_read(engine, text), {}, day=day), Turn("alice"))
        )
        return part.digest

    assert digest(_BY_DAY, _TODAY) == digest(_BY_DAY, _TODAY) is not None
    assert digest(_BY_DAY, _TODAY) != digest(_BY_DAY, _TOMORROW)
    # What no bound of it moves is asked again for nothing, whatever day it is.
    assert digest("SELECT avg(i4) FROM people", _TODAY) == digest(
        "SELECT avg(i4) FROM people", _TOMORROW
    )


def test_a_ledger_that_is_away_refuses() -> None:
    class Away(Clocked):
        async def day(self) -> int:
            raise Fault("the ledger is away")

    recorder = Away()
    with pytest.raises(Fault):
        _ask(_engine(recorder), _BY_DAY)
    assert "reserve" not in recorder.calls and "run" not in recorder.calls


def test_a_trial_run_and_the_run_have_one_present() -> None:
    """Midnight falls between them."""
    recorder = Clocked()
    engine = _engine(recorder)
    adapter = EngineAdapter(EngineInForce(engine)).of("alice")
    question = _read(engine, _BY_DAY)
    trial = asyncio.run(adapter.trial("alice", PlanTrial(question, (), {}, is_first=True)))
    assert isinstance(trial, Trial) and trial.day == _TODAY
    recorder.today = _TOMORROW
    more = PlanTrial(question, (), {}, is_first=False, day=trial.day)
    again = asyncio.run(adapter.trial("alice", more))
    assert isinstance(again, Trial) and again.day == _TODAY
    run = asyncio.run(adapter.run("alice", RunQuery(question, (), {}, again.day)))
    assert isinstance(run, QueryAnswer)
    assert _days(run.handle)[-1] == "2026-11-26"
    assert recorder.calls.count("day") == 1


def _steps(substitute: Substitute, trials: list[Trial | None]) -> tuple[list[PlanTrial], RunQuery]:
    """What the sequence asks of the engine, whose trials never succeed."""
    inspect = Inspect((), "", None)
    rewritten = Rewritten(substitute, (), {}, inspect, (), "")
    sequence: Generator[Any, Any, Any] = answer(rewritten, ReadArguments((), {}))
    planned: list[PlanTrial] = []
    step = next(sequence)
    while not isinstance(step, RunQuery):
        reply: object
        match step:
            case ReadArguments():
                reply = Arguments((), {}, needs_relation=True)
            case PlanTrial():
                reply = trials[len(planned)]
                planned.append(step)
            case RunTrial():
                reply = False
            case _:
                raise AssertionError(step)
        step = sequence.send(reply)
    return planned, step


def test_the_sequence_hands_the_day_on() -> None:
    rehearsal = Rehearsal("", is_computed=True)
    substitute = Substitute("", 1, False, None, rehearsal=rehearsal)
    trial = Trial((), (), (), (), (), TrialResult.TEXT, "", "", day=_TODAY)
    planned, run = _steps(substitute, [trial, trial])
    assert [one.day for one in planned] == [None, _TODAY] and run.day == _TODAY
    _, run = _steps(substitute, [None])
    assert run.day is None
