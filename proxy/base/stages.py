"""The stages of a statement, named by the code that goes through them, for whoever measures or traces."""

from __future__ import annotations

from contextlib import AbstractContextManager
from enum import Enum
from typing import Protocol


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
    """It learns the name of a stage and nothing of what is in it."""

    def stage(self, stage: Stage) -> AbstractContextManager[None]: ...
