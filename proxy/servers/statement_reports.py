"""Reports of how statements on protected tables end, for counters and the query log, which is written here.

A report holds what the ledger and the policy know of a statement, and nothing of a row, a literal, a label,
a group or the size of a result.
"""

from __future__ import annotations

import asyncio
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from datetime import datetime, timezone
from enum import Enum
from functools import lru_cache
from types import TracebackType
from typing import Any, NamedTuple, Protocol

import structlog
from typing_extensions import assert_never

from proxy.accounting.amounts import rho_charge, text
from proxy.base.errors import Code
from proxy.base.stages import Stage
from proxy.drawing.statement_run import NotedCharge, StatementRun
from proxy.engine.answer_origin import AnswerSource
from proxy.engine.noisy_answers import NoisyAnswer
from proxy.pgwire.calls import QueryAnswer, Refuse

# When the stages of one statement began and ended, for its report.


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


FINGERPRINT_DIGITS = 12
_amount = lru_cache(maxsize=256)(text)


class Listener(Enum):
    WIRE = "wire"
    HTTP = "http"
    MCP = "mcp"


class Outcome(Enum):
    ANSWERED = "answered"
    REFUSED = "refused"
    OVER_BUDGET = "over_budget"
    CANCELLED = "cancelled"
    FAILED = "failed"


@dataclass(frozen=True, slots=True, kw_only=True)
class ReportedCharge:
    """A receipt of the ledger, with amounts as decimals. rho: None where the ledger alone knows it."""

    receipt: int
    epsilon: str
    delta: str
    rho: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class AskedStatement:
    """What a statement asks: kinds of aggregates, tables of the policy, and a keyed digest of its text."""

    kinds: tuple[str, ...]
    tables: tuple[str, ...]
    fingerprint: str


@dataclass(frozen=True, slots=True, kw_only=True)
class QueryReport:
    """How one statement has ended, as far as the engine is concerned.

    Attributes:
        analyst: Who asked.
        source: Of an answer. None: nothing protected was read for it.
        code: Name of the rule or fault that ended it.
        charges: Of this statement. More than one if an answer had to be drawn again under another charge.
        seconds: That the engine took.
        begun: When it began, as time.monotonic_ns().
        stages: That it went through.
        parent: `traceparent` of the authenticated request that it is part of.
    """

    database: str
    listener: Listener
    analyst: str
    outcome: Outcome
    source: AnswerSource | None
    code: str | None
    charges: tuple[ReportedCharge, ...]
    asked: AskedStatement
    seconds: float
    begun: int = 0
    stages: tuple[StageTime, ...] = ()
    parent: str | None = None


class StatementObserver(Protocol):
    def ended(self, report: QueryReport) -> None:
        """Take a report. It must be quick and raise nothing: an answer waits for it."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class StatementReporter:
    """Makes the reports of one database and listener."""

    database: str
    listener: Listener
    observers: Sequence[StatementObserver]

    def refused(
        self,
        analyst: str,
        asked: AskedStatement,
        refuse: Refuse,
        begun: int,
        parent: str | None,
    ) -> None:
        """Report a statement that was refused before it ran, being read or tried since `begun`."""
        read = StageTime(stage=Stage.READ, begun=begun, ended=time.monotonic_ns())
        self.report(analyst, asked, refuse, (), begun, (read,), parent)

    def report(
        self,
        analyst: str,
        asked: AskedStatement,
        result: QueryAnswer | Refuse | None,
        charges: Sequence[NotedCharge],
        begun: int,
        stages: Sequence[StageTime],
        parent: str | None,
        ended: int | None = None,
    ) -> None:
        """Report a statement. begun, ended: of the engine's work, as time.monotonic_ns(); None: now."""
        outcome, code = _outcome_of(result)
        ended = time.monotonic_ns() if ended is None else ended
        report = QueryReport(
            database=self.database,
            listener=self.listener,
            analyst=analyst,
            outcome=outcome,
            source=_source_of(result),
            code=code,
            charges=tuple(map(_reported, charges)),
            asked=asked,
            seconds=(ended - begun) / 10**9,
            begun=begun,
            stages=tuple(stages),
            parent=parent,
        )
        for observer in self.observers:
            observer.ended(report)


def reporter_of(
    database: str, listener: Listener, observers: Sequence[StatementObserver]
) -> StatementReporter | None:
    """None where nobody takes reports."""
    if not observers:
        return None
    return StatementReporter(database=database, listener=listener, observers=tuple(observers))


@dataclass(slots=True, kw_only=True)
class RunningStatement:
    """A statement from its start to its report. Call `end` once, whatever happens.

    Attributes:
        run: Who asked, and what was charged.
        parent: As of QueryReport.
        result: What became of it. None: its client has left, or asked to cancel it.
    """

    reporter: StatementReporter
    run: StatementRun
    asked: AskedStatement
    parent: str | None
    result: QueryAnswer | Refuse | None = None
    begun: int = field(default_factory=time.monotonic_ns)
    stages: StatementStages = field(default_factory=StatementStages)

    def end(self) -> None:
        """Report it: now, or when the charge is known that was on its way."""
        ended, charging = time.monotonic_ns(), self.run.charges.awaited
        if charging is None or charging.done():
            self._report(ended)
        else:
            charging.add_done_callback(lambda _: self._report(ended))

    def _report(self, ended: int) -> None:
        self.reporter.report(
            self.run.analyst,
            self.asked,
            self.result,
            self.run.charges.made,
            self.begun,
            self.stages.times,
            self.parent,
            ended,
        )


def _outcome_of(result: QueryAnswer | Refuse | None) -> tuple[Outcome, str | None]:
    match result:
        case None:
            return Outcome.CANCELLED, None
        case QueryAnswer():
            return Outcome.ANSWERED, None
        case Refuse(code=code):
            return _ENDED_BY.get(code, Outcome.REFUSED), None if code is None else code.name
        case _:
            assert_never(result)


# UNAVAILABLE is nobody's doing but ours. All other codes are refusals.
_ENDED_BY: dict[Any, Outcome] = {
    Code.OVER_BUDGET: Outcome.OVER_BUDGET,
    Code.CANCELLED: Outcome.CANCELLED,
    Code.UNAVAILABLE: Outcome.FAILED,
    None: Outcome.FAILED,
}


def _source_of(result: QueryAnswer | Refuse | None) -> AnswerSource | None:
    answer = result.handle if isinstance(result, QueryAnswer) else None
    if not isinstance(answer, NoisyAnswer):
        return None
    if answer.origin is None:  # of what was charged before, and not delivered
        return AnswerSource.CACHED if answer.keep is not None else None
    return answer.origin.source


def _reported(charge: NotedCharge) -> ReportedCharge:
    rho = charge.rho
    return ReportedCharge(
        receipt=charge.receipt,
        epsilon=_amount(charge.epsilon),
        delta=_amount(charge.delta),
        rho=None if rho is None else _amount(rho_charge(rho)),
    )


# The query log: one line for each statement on protected tables, and one for each of its charges.
#
# For the operator: it names analysts, as the ledger does. It never has a text, a literal, a value or a size.

_LOG = structlog.get_logger("dpproxy.query")
_WRITING_SECONDS = 0.5
_MOST_WAITING = 10_000  # reports of about a kilobyte, while a disk does not get on
_SECONDS_STEP = 0.05


class _WaitingReport(NamedTuple):
    """analyst: a name or a number; at: Unix time; context: of the request, for its id."""

    report: QueryReport
    analyst: str | int | None
    at: float
    context: Mapping[str, Any]


class QueryLog:
    """Takes reports at once, and writes their lines in a thread, after the answers have been handed over.

    Args:
        number_of: Gives an analyst's number in the ledger, for readers who are not to see names. None: names.
    """

    def __init__(self, number_of: Callable[[str], int | None] | None = None) -> None:
        self._number_of = number_of
        self._waiting: deque[_WaitingReport] = deque()
        self._lost = 0
        self._writing = threading.Lock()

    def ended(self, report: QueryReport) -> None:
        if len(self._waiting) >= _MOST_WAITING:
            self._lost += 1
            return
        analyst = report.analyst if self._number_of is None else self._number_of(report.analyst)
        context = structlog.contextvars.get_contextvars()
        self._waiting.append(_WaitingReport(report, analyst, time.time(), context))

    async def follow(self, every_seconds: float = _WRITING_SECONDS) -> None:
        """Write what waits, again and again, until it is cancelled."""
        while True:
            await asyncio.sleep(every_seconds)
            await self.flush()

    async def flush(self) -> None:
        if self._waiting:
            await asyncio.to_thread(self._write)

    def _write(self) -> None:
        with self._writing:
            while self._waiting:
                for line in _lines(self._waiting.popleft()):
                    _LOG.info("query", **line)
            if self._lost:
                lost, self._lost = self._lost, 0
                _LOG.error("query_lines_lost", number=lost)


def _lines(ended: _WaitingReport) -> Iterator[dict[str, Any]]:
    """One for each charge. One without a receipt where nothing was charged."""
    report = ended.report
    line = {
        "at": _instant(ended.at),
        "database": report.database,
        "listener": report.listener.value,
        "analyst": ended.analyst,
        "outcome": report.outcome.value,
        "source": None if report.source is None else report.source.value,
        "code": report.code,
        "kinds": list(report.asked.kinds),
        "tables": list(report.asked.tables),
        "seconds": round(round(report.seconds / _SECONDS_STEP) * _SECONDS_STEP, 2),
        "fingerprint": report.asked.fingerprint,
        **ended.context,
    }
    for charge in report.charges:
        paid = {"epsilon": charge.epsilon, "delta": charge.delta, "rho": charge.rho}
        yield {**line, "receipt": charge.receipt, **paid}
    if not report.charges:
        yield {**line, "receipt": None, "epsilon": "0", "delta": "0", "rho": "0"}


def _instant(seconds: float) -> str:
    """
    >>> _instant(0.25)
    '1970-01-01T00:00:00.250Z'
    """
    at = datetime.fromtimestamp(seconds, timezone.utc).isoformat(timespec="milliseconds")
    return at.replace("+00:00", "Z")
