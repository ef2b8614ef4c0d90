"""A CancelRequest gives the waiting session a result, whenever it comes."""

from __future__ import annotations

import asyncio
from typing import Any, cast

import pytest

from proxy.pgwire.calls import Refuse, RunQuery
from proxy.pgwire.relay import Result
from proxy.servers.wire.connection import QueryTasks

_WANTED = RunQuery(None, (), {})


class _Endless:
    async def run(self, *_: object) -> Any:
        await asyncio.Event().wait()


async def _turns_of_the_loop(count: int) -> None:
    for _ in range(count):
        await asyncio.sleep(0)


@pytest.mark.parametrize("steps", [0, 1, 3])
def test_a_cancelled_query_has_a_result(steps: int) -> None:
    """steps: of the loop, from the start of the task to its end."""

    async def delivered() -> list[Result]:
        found: list[Result] = []
        tasks = QueryTasks(cast(Any, _Endless()), "ann", found.append)
        tasks.start(_WANTED)
        await _turns_of_the_loop(steps)
        tasks.cancel()
        await _turns_of_the_loop(20)
        return found

    (result,) = asyncio.run(delivered())
    assert isinstance(result, Refuse) and result.sqlstate == "57014"


def test_a_session_that_is_closed_hears_nothing() -> None:
    async def delivered() -> list[Result]:
        found: list[Result] = []
        tasks = QueryTasks(cast(Any, _Endless()), "ann", found.append)
        tasks.start(_WANTED)
        tasks.close()
        await _turns_of_the_loop(20)
        return found

    assert asyncio.run(delivered()) == []
