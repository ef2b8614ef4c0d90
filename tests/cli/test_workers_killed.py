"""Workers are killed at random under load: what clients were told is what the ledger has, and nobody is refused
a connection. At the end the supervisor is killed, and nothing of it is left."""

from __future__ import annotations

import contextlib
import http.client
import json
import os
import random  # noqa: TID251 - when to kill, not noise
import re
import signal
import threading
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import psycopg
import pytest

from proxy.ledger.ledger_home import embedded_ledger
from proxy.ledger.ledger_reports import ledger_problems
from proxy.postgres.embedded import EmbeddedPostgres
from tests.cli.commands import dpproxy
from tests.cli.operator_at_work import QUESTION, Listening, Operator
from tests.cli.recovery import postmaster
from tests.databases.ledger_database import rows
from tests.waiting import until

_ANALYSTS = ("ann", "bob", "cid", "dee")
_SEED = 20261127
_BROKEN = (psycopg.Error, OSError, http.client.HTTPException, KeyError, ValueError)


@dataclass(slots=True)
class _Log:
    """What one client has sent and was told. unanswered: receipts of statements whose charge was confirmed, and
    whose answer did not come; sent: statements, each of which may be charged once."""

    analyst: str
    sent: int = 0
    receipts: list[int] = field(default_factory=list)
    unanswered: list[int] = field(default_factory=list)
    failures: Counter[str] = field(default_factory=Counter)


class _Load:
    """A client of each listener for each analyst. They go on when something breaks under them."""

    def __init__(self, listening: Listening) -> None:
        self._listening = listening
        self._stop = threading.Event()
        self.logs = [_Log(name) for name in _ANALYSTS for _ in range(2)]
        self._threads = [
            threading.Thread(target=self._client, args=(log, number % 2 == 0), daemon=True)
            for number, log in enumerate(self.logs)
        ]
        for thread in self._threads:
            thread.start()

    def _client(self, log: _Log, is_wire: bool) -> None:
        ask = self._over_the_wire if is_wire else self._over_http
        while not self._stop.is_set():
            try:
                ask(log)
            except _BROKEN as error:
                log.failures[f"{type(error).__name__}: {str(error).strip()[:160]}"] += 1
                time.sleep(0.02)

    def _over_the_wire(self, log: _Log) -> None:
        with self._listening.connect(log.analyst) as connection:
            said: list[str] = []
            connection.add_notice_handler(lambda told: said.append(told.message_primary or ""))
            while not self._stop.is_set():
                said.clear()
                log.sent += 1
                row = None
                try:
                    # Prepared: receipt, row and the end of the statement go out in one piece.
                    row = connection.execute(QUESTION, prepare=True).fetchone()
                finally:
                    found = [int(one) for one in re.findall(r"receipt (\d+)", " ".join(said))]
                    (log.unanswered if row is None else log.receipts).extend(found)

    def _over_http(self, log: _Log) -> None:
        log.sent += 1
        log.receipts.append(self._listening.query_over_http(log.analyst))

    def end(self) -> list[_Log]:
        self._stop.set()
        for thread in self._threads:
            thread.join(60)
            assert not thread.is_alive(), "a client hangs"
        return self.logs


def _workers(operator: Operator) -> list[dict[str, Any]]:
    """Also while none of them serves."""
    told = dpproxy("status", "--json", "--state", operator.state)
    assert told.out, told.err
    return list(json.loads(told.out)["workers"])


def _killed(operator: Operator, listening: Listening, seconds: float, pause: float) -> int:
    """How many workers were killed within the seconds, each as soon as it served again."""
    chance = random.Random(_SEED)
    end, killed = time.monotonic() + seconds, 0
    while time.monotonic() < end:
        time.sleep(chance.uniform(0.1, 2 * pause))
        serving = [one for one in _workers(operator) if one["is_serving"]]
        if len(serving) == 2 or (serving and chance.random() < 0.2):  # at times both at once
            with contextlib.suppress(ProcessLookupError):
                os.kill(chance.choice(serving)["pid"], signal.SIGKILL)
                killed += 1
    until(lambda: all(one["is_serving"] for one in _workers(operator)), seconds=60)
    assert sum(one["restarts"] for one in _workers(operator)) == killed
    return killed


def _check(folder: Path, seconds: float, pause: float) -> None:
    operator = Operator(folder)
    operator.adopt(*_ANALYSTS)
    with operator.serving(more=("--workers", "2")) as listening:
        load = _Load(listening)
        killed = _killed(operator, listening, seconds, pause)
        left = [one["pid"] for one in _workers(operator)]
        left += [postmaster(operator, name) for name in ("shadow", "ledger", "workers/2/shadow")]
        logs = load.end()
        listening.running.process.send_signal(signal.SIGKILL)
        until(lambda: not any(Path(f"/proc/{pid}").exists() for pid in left), seconds=60)
    ledger = EmbeddedPostgres(operator.state, "ledger", tcp=False)
    ledger.start()
    try:
        dsn = embedded_ledger(ledger)
        charged = rows(dsn, "SELECT analyst, id FROM ledger.receipt")
        assert ledger_problems(dsn) == ()
    finally:
        ledger.stop()
    answered = [receipt for log in logs for receipt in log.receipts]
    sent = sum(log.sent for log in logs)
    failures = sum((log.failures for log in logs), Counter())
    print(f"{killed} killed, {sent} statements, {len(answered)} answers, {len(charged)} receipts")
    print(failures.most_common(12))
    assert killed > 0 and len(answered) > 20 * killed, "there was load"
    assert len(set(answered)) == len(answered), "two answers under one charge"
    assert [one for log in logs for one in log.unanswered] == [], "confirmed, and no answer"
    assert not [one for one in failures if "refused" in one.lower()], failures
    for name in _ANALYSTS:
        own = [log for log in logs if log.analyst == name]
        known = {receipt for analyst, receipt in charged if analyst == name}
        assert {one for log in own for one in log.receipts} <= known, "an answer without its charge"
        assert len(known) <= sum(log.sent for log in own), "a statement was charged twice"


@pytest.mark.long
def test_some_are_killed(tmp_path: Path) -> None:
    _check(tmp_path, seconds=3, pause=0.5)


@pytest.mark.long
def test_five_minutes(tmp_path: Path) -> None:
    _check(tmp_path, seconds=300, pause=2.5)
