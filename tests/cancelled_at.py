"""Cancelling a coroutine at each of the places where it waits."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine, Generator
from typing import Any


class CancelledAt:
    """
    Given    the number of the wait (from 0); is_late: when what is waited for has come, and is then lost,
             else as soon as it waits
    Gives    the result of the work; `has_cancelled`: whether it waits so often
    """

    def __init__(self, work: Coroutine[Any, Any, Any], wait: int, *, is_late: bool) -> None:
        self._work = work
        self._wait = wait
        self._is_late = is_late
        self.has_cancelled = False

    def __await__(self) -> Generator[Any, Any, Any]:
        task = asyncio.current_task()
        assert task is not None
        number, raised = 0, None
        while True:
            try:
                waited = self._work.throw(raised) if raised else self._work.send(None)
            except StopIteration as ended:
                return ended.value
            if number == self._wait:
                self.has_cancelled = True
                if self._is_late and waited is not None:
                    # Before the task's own callback: what has come is not given to it any more.
                    waited.add_done_callback(lambda _: task.cancel())
                else:
                    task.cancel()
            number, raised = number + 1, None
            try:
                yield waited
            except BaseException as error:
                raised = error
