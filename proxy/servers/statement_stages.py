"""When the stages of one statement began and ended, for its report."""

from __future__ import annotations

import time
from contextlib import AbstractContextManager
from dataclasses import dataclass
from types import TracebackType

from proxy.base.stages import Stage


@dataclass(frozen=True, slots=True, kw_only=True)
class StageTime:
    """One pass through a stage, in nanoseconds of time.monotonic_ns().

    Attributes:
        inside: How much of it is of stages inside, as of centres that are drawn between two parts of data.
    """

    stage: Stage
    begun: int
    ended: int
    inside: int = 0

    @property
    def own_seconds(self) -> float:
        return (self.ended - self.begun - self.inside) / 10**9


class StatementStages:
    """Of one statement, in the order in which they ended. It is a StageWatch."""

    __slots__ = ("_open", "times")

    def __init__(self) -> None:
        self.times: list[StageTime] = []
        self._open: _OpenStage | None = None

    def stage(self, stage: Stage) -> AbstractContextManager[None]:
        return _OpenStage(self, stage)


class _OpenStage(AbstractContextManager[None]):
    """A class: a generator takes three times as long to come and go."""

    __slots__ = ("_around", "_begun", "_inside", "_of", "_stage")

    def __init__(self, of: StatementStages, stage: Stage) -> None:
        self._of, self._stage = of, stage
        self._begun = self._inside = 0
        self._around: _OpenStage | None = None

    def __enter__(self) -> None:
        self._around, self._of._open = self._of._open, self
        self._begun = time.monotonic_ns()

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        ended = time.monotonic_ns()
        self._of._open = self._around
        if self._around is not None:
            self._around._inside += ended - self._begun
        self._of.times.append(
            StageTime(stage=self._stage, begun=self._begun, ended=ended, inside=self._inside)
        )
