"""kill -9 of the process, of its shadow and of its ledger under load: never an answer without its receipt.
Where answers are cached and tables published: test_kill_rounds_reusing.py."""

from __future__ import annotations

import http.client
import os
import random  # noqa: TID251 - when to kill, not noise
import signal
import statistics
import threading
import time
from pathlib import Path

import psycopg
import pytest

from proxy.ledger.ledger_check import ledger_problems
from proxy.ledger.ledger_home import embedded_ledger
from proxy.postgres.embedded import EmbeddedPostgres
from tests.cli.operator_at_work import Listening, Operator, query_over_the_wire
from tests.databases.ledger_database import rows

ANALYSTS = ("ann", "bob", "cid", "dee")
SEED = 20261122
VICTIMS = ("process", "shadow", "ledger", "all")


class _Load:
    """Clients of both listeners, until everything breaks under them."""

    def __init__(self, listening: Listening) -> None:
        self.receipts: list[int] = []
        self._threads = [
            threading.Thread(target=self._client, args=(listening, name, number % 2 == 0))
            for number, name in enumerate(ANALYSTS * 2)
        ]
        for thread in self._threads:
            thread.start()

    def _client(self, listening: Listening, name: str, is_wire: bool) -> None:
        try:
            if not is_wire:
                while True:
                    self.receipts.append(listening.query_over_http(name))
            with listening.connect(name) as connection:
                while True:
                    self.receipts.append(query_over_the_wire(connection))
        except (psycopg.Error, OSError, http.client.HTTPException, KeyError, ValueError):
            return

    def end(self) -> list[int]:
        for thread in self._threads:
            thread.join(60)
            assert not thread.is_alive(), "a client hangs"
        return self.receipts


def _postmaster(operator: Operator, server: str) -> int:
    return int((operator.state / server / "data" / "postmaster.pid").read_text().split()[0])


def kill(operator: Operator, listening: Listening, victim: str) -> None:
    process = listening.running.process
    pids = {
        "process": [process.pid],
        "shadow": [_postmaster(operator, "shadow")],
        "ledger": [_postmaster(operator, "ledger")],
        "all": [process.pid, _postmaster(operator, "ledger"), _postmaster(operator, "shadow")],
    }[victim]
    for pid in pids:
        os.kill(pid, signal.SIGKILL)
    code = process.wait(30)
    assert code != 0, f"a process without its {victim} ends with a status that says so"


def _rounds(folder: Path, count: int, is_cold: bool) -> None:
    operator = Operator(folder)
    operator.adopt(*ANALYSTS)
    chance = random.Random(SEED)
    seen: list[int] = []
    starts: list[float] = []
    for number in range(count):
        victim = VICTIMS[number % len(VICTIMS)]
        with operator.serving(is_cold) as listening:
            starts.append(listening.running.ready_seconds)
            load = _Load(listening)
            time.sleep(chance.uniform(0.1, 0.8))
            kill(operator, listening, victim)
            seen += load.end()
    ledger = EmbeddedPostgres(operator.state, "ledger", tcp=False)
    ledger.start()
    try:
        dsn = embedded_ledger(ledger)
        known = {receipt for (receipt,) in rows(dsn, "SELECT id FROM ledger.receipt")}
        assert ledger_problems(dsn) == ()
    finally:
        ledger.stop()
    assert len(seen) > 2 * count, "there was load"
    assert len(set(seen)) == len(seen)
    assert set(seen) <= known, "an answer without its receipt"
    restarts = starts[1:]
    print(
        f"{count} rounds, {len(seen)} answers, {len(known)} receipts;"
        f" restart: median {statistics.median(restarts):.2f} s, worst {max(restarts):.2f} s"
    )


@pytest.mark.long
def test_some_rounds(tmp_path: Path) -> None:
    _rounds(tmp_path, len(VICTIMS), is_cold=False)


@pytest.mark.long
def test_two_hundred_rounds(tmp_path: Path) -> None:
    _rounds(tmp_path, 200, is_cold=True)
