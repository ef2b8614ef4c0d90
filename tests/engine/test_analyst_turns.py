"""What one analyst has planned keeps no other waiting, also where the client goes away at once."""

from __future__ import annotations

import asyncio
import re
from pathlib import Path
from threading import Event
from time import sleep
from typing import Any

import pytest

import proxy
from proxy.turns.fair_share import AnalystTurns
from proxy.turns.threads import Turn
from tests.asked_by import run_of
from tests.engine.test_order import Recorder, asked


def test_one_analyst_plans_one_statement_at_a_time() -> None:
    async def run() -> None:
        turns, go_on, began = AnalystTurns(at_once=3), Event(), []

        def plan(name: str) -> str:
            began.append(name)
            assert go_on.wait(120)
            return name

        async def started(count: int) -> None:
            while len(began) < count:
                await asyncio.sleep(0.001)

        many = [asyncio.create_task(turns.run("mallory", plan, f"m{n}")) for n in range(40)]
        await started(1)
        for task in many[:20]:
            task.cancel()  # whose thread goes on: its place is not free
        await asyncio.sleep(0)
        assert await asyncio.wait_for(turns.run("bob", str.upper, "b"), 60) == "B"
        assert began == ["m0"]
        go_on.set()
        assert await asyncio.gather(*many[20:]) == [f"m{n}" for n in range(20, 40)]
        assert all(task.cancelled() for task in many[:20])
        assert began == ["m0", *(f"m{n}" for n in range(20, 40))]

    asyncio.run(run())


def test_a_refusal_gives_the_place_back() -> None:
    async def run() -> None:
        turns = AnalystTurns(at_once=3)
        for _ in range(3):
            with pytest.raises(ValueError, match="invalid literal"):
                await turns.run("mallory", int, "x")
        assert await asyncio.wait_for(turns.run("mallory", int, "7"), 60) == 7

    asyncio.run(run())


@pytest.mark.parametrize("as_json", [True, False])
def test_the_pipeline_plans_in_turns(monkeypatch: pytest.MonkeyPatch, as_json: bool) -> None:
    engine, question = asked(Recorder(), "EXPLAIN SELECT count(*) FROM people")
    real, planning, most = engine._planned, [0], [0]

    def counted(*given: Any, **named: Any) -> Any:
        planning[0] += 1
        most[0] = max(most[0], planning[0])
        sleep(0.01)
        planning[0] -= 1
        return real(*given, **named)

    monkeypatch.setattr(engine, "_planned", counted)

    async def run() -> None:
        start = engine.explain if as_json else engine.run
        await asyncio.gather(*(start(question, (), {}, run_of("mallory")) for _ in range(4)))

    asyncio.run(run())
    assert most == [1]


# Threads outside an analyst's turns: work of the data owner or operator, waiting for a server, and bodies of at
# most 256 KiB.
_WITHOUT_TURNS = {
    "cli/admission_assembly.py",
    "cli/audit_runs.py",
    "cli/following_marks.py",
    "cli/keeping_servers.py",
    "cli/status_report.py",
    "cli/policy_reports.py",
    "cli/serving_worker.py",
    "cli/supervisor.py",
    "cli/recovering.py",
    "cli/refreshing.py",
    "cli/reloading.py",
    "cli/serving_commands.py",
    "cli/watching.py",
    "engine/publishing.py",
    "engine/releasing.py",
    "servers/console/admin_frame.py",
    "servers/console/admin_pages.py",
    "servers/console/admin_policies.py",
    "servers/http/admin_access.py",
    "servers/http/documented_app.py",
    "servers/http/oidc.py",
    "servers/http/request_reading.py",
    "servers/statement_reports.py",
    "shadow/analyst_sessions.py",
}
_TURNS = {"turns/fair_share.py", "turns/threads.py"}


def test_long_jobs_of_analysts_take_turns() -> None:
    """A thread that is started elsewhere is one that an analyst may fill."""
    root = Path(proxy.__file__).parent
    found = {
        path.relative_to(root).as_posix()
        for path in root.rglob("*.py")
        if re.search(r"\b(to_thread|run_in_executor)\(", path.read_text(encoding="utf-8"))
    }
    assert found == _WITHOUT_TURNS | _TURNS


def test_jobs_inside_turns_of_an_analyst_wait_for_each_other() -> None:
    async def act() -> list[str]:
        turns, began, go_on = AnalystTurns(at_once=3), list[str](), Event()

        def job(name: str) -> None:
            began.append(name)
            go_on.wait(60)

        async def start(analyst: str, name: str) -> None:
            await Turn(analyst, turns).in_thread_if_long(10**6, job, name)

        jobs = [asyncio.create_task(start(*one)) for one in (("a", "1"), ("a", "2"), ("b", "3"))]
        while len(began) < 2:
            await asyncio.sleep(0.01)
        await asyncio.sleep(0.1)
        seen = list(began)
        go_on.set()
        await asyncio.gather(*jobs)
        return seen

    assert sorted(asyncio.run(act())) == ["1", "3"]
