"""Where a statement is: the code that goes through stages names them, for whoever measures or traces.

A variable of the context: whoever runs a statement sets it, and may set none. It learns the name of a stage and
nothing of what is in it.
"""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from contextvars import ContextVar
from enum import Enum
from typing import Protocol

from proxy.base.context_value import ContextValue


class Stage(Enum):
    """Waiting is for a session on the protected server."""

    READ = "read"
    PLAN = "plan"
    CHARGE = "charge"
    WAIT = "wait"
    DATA = "data"
    DRAW = "draw"
    PRESENT = "present"


class StageWatch(Protocol):
    def stage(self, stage: Stage) -> AbstractContextManager[None]: ...


_WATCH: ContextVar[StageWatch | None] = ContextVar("stages", default=None)
_PARENT: ContextVar[str | None] = ContextVar("parent of statements", default=None)
_UNWATCHED = nullcontext()


def watching(watch: StageWatch) -> AbstractContextManager[None]:
    """Stages that begin inside are told to it, also those of tasks that outlive it."""
    return ContextValue(_WATCH, watch)


def take_parent(traceparent: str | None) -> None:
    """Name the span (W3C Trace Context) that statements of this task are part of, for the rest of the task."""
    _PARENT.set(traceparent)


def parent_of_statement() -> str | None:
    return _PARENT.get()


def in_stage(stage: Stage) -> AbstractContextManager[None]:
    watch = _WATCH.get()
    return _UNWATCHED if watch is None else watch.stage(stage)
