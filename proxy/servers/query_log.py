"""The query log: one line for each statement on protected tables, and one for each of its charges.

For the operator: it names analysts, as the ledger does. It never has a text, a literal, a value or a size.
"""

from __future__ import annotations

import asyncio
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from datetime import datetime, timezone
from typing import Any, NamedTuple

import structlog

from proxy.servers.statement_reports import QueryReport

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
