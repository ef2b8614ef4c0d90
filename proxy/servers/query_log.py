"""The query log: one line for each statement on protected tables, and one for each of its charges.

For the operator: it names analysts, as the ledger does. It never has a text, a literal, a value or a size.
"""

from __future__ import annotations

import asyncio
import threading
from collections import deque
from collections.abc import Callable, Iterator
from datetime import datetime, timezone
from typing import Any

import structlog

from proxy.servers.statement_reports import StatementReport

_LOG = structlog.get_logger("dpproxy.query")
_WRITING_SECONDS = 0.2
_MOST_WAITING = 10_000  # lines of some 500 bytes, while a disk does not get on
_SECONDS_STEP = 0.05


class QueryLog:
    """Takes reports at once, and writes their lines in a thread, after the answers have been handed over.

    Args:
        number_of: Gives an analyst's number in the ledger, for readers who are not to see names. None: names.
    """

    def __init__(self, number_of: Callable[[str], int | None] | None = None) -> None:
        self._number_of = number_of
        self._waiting: deque[dict[str, Any]] = deque()
        self._lost = 0
        self._writing = threading.Lock()

    def ended(self, report: StatementReport) -> None:
        analyst = report.analyst if self._number_of is None else self._number_of(report.analyst)
        context = structlog.contextvars.get_contextvars()
        for line in _lines(report, analyst):
            if len(self._waiting) >= _MOST_WAITING:
                self._lost += 1
            else:
                self._waiting.append({**line, **context})

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
                _LOG.info("query", **self._waiting.popleft())
            if self._lost:
                lost, self._lost = self._lost, 0
                _LOG.error("query_lines_lost", number=lost)


def _lines(report: StatementReport, analyst: str | int | None) -> Iterator[dict[str, Any]]:
    """One for each charge. One without a receipt where nothing was charged."""
    line = {
        "at": _instant(),
        "database": report.database,
        "listener": report.listener.value,
        "analyst": analyst,
        "outcome": report.outcome.value,
        "source": None if report.source is None else report.source.value,
        "code": report.code,
        "kinds": list(report.asked.kinds),
        "tables": list(report.asked.tables),
        "seconds": round(round(report.seconds / _SECONDS_STEP) * _SECONDS_STEP, 2),
        "fingerprint": report.asked.fingerprint,
    }
    for charge in report.charges:
        paid = {"epsilon": charge.epsilon, "delta": charge.delta, "rho": charge.rho}
        yield {**line, "receipt": charge.receipt, **paid}
    if not report.charges:
        yield {**line, "receipt": None, "epsilon": "0", "delta": "0", "rho": "0"}


def _instant() -> str:
    """In milliseconds, UTC."""
    now = datetime.now(timezone.utc).isoformat(timespec="milliseconds")
    return now.replace("+00:00", "Z")
