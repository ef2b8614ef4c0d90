"""kill -9 of each part under load, the process, its shadow, its ledger and the protected server: never an
answer without its receipt, and no statement is charged twice.
Where answers are cached and tables published: test_kill_rounds_reusing.py."""

from __future__ import annotations

import contextlib
import http.client
import itertools
import os
import random  # noqa: TID251 - when to kill, not noise
import signal
import threading
import time
from pathlib import Path

import psycopg
import pytest

from proxy.ledger.ledger_home import embedded_ledger
from proxy.ledger.ledger_reports import ledger_problems
from proxy.postgres.embedded import EmbeddedPostgres
from tests.cli.operator_at_work import Listening, Operator, query_over_the_wire
from tests.cli.recovery import kill_server, postmaster, recovers, start_server, was_started_again
from tests.databases.ledger_database import rows
from tests.live.served_database import READER, made_database
from tests.waiting import until

ANALYSTS = ("ann", "bob", "cid", "dee")
PROBER = "eve"  # asks whether it serves again
SEED = 20261122
VICTIMS = ("process", "shadow", "ledger", "all")
_PARTS = (*VICTIMS, "protected")
_BROKEN = (psycopg.Error, OSError, http.client.HTTPException, KeyError, ValueError)
_SHOP = """\
CREATE SCHEMA shop;
CREATE TABLE shop.customers (id int PRIMARY KEY, state text NOT NULL);
INSERT INTO shop.customers SELECT n, 'CA' FROM generate_series(1, 500) n;
"""


class _Load:
    """Clients of both listeners. They go on when something breaks under them.

    receipts: of answers; tries: statements sent, of which each may be charged once
    """

    def __init__(self, listening: Listening) -> None:
        self.receipts: list[int] = []
        self.tries = itertools.count()
        self._stop = threading.Event()
        self._threads = [
            threading.Thread(target=self._client, args=(listening, name, number % 2 == 0))
            for number, name in enumerate(ANALYSTS * 2)
        ]
        for thread in self._threads:
            thread.start()

    def _client(self, listening: Listening, name: str, is_wire: bool) -> None:
        while not self._stop.wait(0.05):
            with contextlib.suppress(*_BROKEN):
                if is_wire:
                    self._ask_over_the_wire(listening, name)
                while not self._stop.is_set() and not is_wire:
                    next(self.tries)
                    self.receipts.append(listening.query_over_http(name))

    def _ask_over_the_wire(self, listening: Listening, name: str) -> None:
        with listening.connect(name) as connection:
            while not self._stop.is_set():
                next(self.tries)
                self.receipts.append(query_over_the_wire(connection))

    def end(self) -> list[int]:
        self._stop.set()
        for thread in self._threads:
            thread.join(60)
            assert not thread.is_alive(), "a client hangs"
        return self.receipts


def kill(operator: Operator, listening: Listening, victim: str) -> None:
    """The process ends only where it is killed itself; else it serves again."""
    process = listening.running.process
    pids = {
        "process": [process.pid],
        "shadow": [postmaster(operator, "shadow")],
        "ledger": [postmaster(operator, "ledger")],
        "all": [process.pid, postmaster(operator, "ledger"), postmaster(operator, "shadow")],
    }[victim]
    for pid in pids:
        os.kill(pid, signal.SIGKILL)
    if process.pid in pids:
        assert process.wait(60) != 0
    else:
        until(lambda: was_started_again(operator, victim, pids[0]), seconds=60)
        recovers(listening, PROBER)


def _rounds(folder: Path, count: int, is_cold: bool) -> None:
    protected = EmbeddedPostgres(folder / "beside", "protected")
    protected.start()
    try:
        operator = Operator(folder / "operator", source=made_database(protected, "shop", _SHOP))
        with psycopg.connect(protected.dsn("shop"), autocommit=True) as owner:
            owner.execute(f"ALTER ROLE {READER} SET temp_file_limit = '1GB'".encode())
        operator.adopt(*ANALYSTS, PROBER)
        seen, tries = _killed(operator, protected, count, is_cold)
    finally:
        protected.stop()
    ledger = EmbeddedPostgres(operator.state, "ledger", tcp=False)
    ledger.start()
    try:
        dsn = embedded_ledger(ledger)
        charged = f"SELECT id FROM ledger.receipt WHERE analyst <> '{PROBER}'"
        known = {receipt for (receipt,) in rows(dsn, charged)}
        assert ledger_problems(dsn) == ()
    finally:
        ledger.stop()
    assert len(seen) > 2 * count, "there was load"
    assert len(set(seen)) == len(seen), "two answers under one charge"
    assert set(seen) <= known, "an answer without its receipt"
    assert len(known) <= tries, "a statement is charged twice"
    print(f"{count} rounds, {tries} statements, {len(seen)} answers, {len(known)} receipts")


def _killed(
    operator: Operator, protected: EmbeddedPostgres, count: int, is_cold: bool
) -> tuple[list[int], int]:
    """Receipts that clients were given, and how many statements were sent."""
    chance = random.Random(SEED)
    seen: list[int] = []
    tries = 0
    for number in range(count):
        victim = _PARTS[number % len(_PARTS)]
        with operator.serving(is_cold) as listening:
            load = _Load(listening)
            time.sleep(chance.uniform(0.1, 0.8))
            began = time.monotonic()
            if victim == "protected":
                kill_server(protected)
                start_server(protected)
                recovers(listening, PROBER)
            else:
                kill(operator, listening, victim)
            print(f"{victim}: {time.monotonic() - began:.1f} s")
            seen += load.end()
            tries += next(load.tries)
    return seen, tries


@pytest.mark.long
def test_some_rounds(tmp_path: Path) -> None:
    _rounds(tmp_path, len(_PARTS), is_cold=False)


@pytest.mark.long
def test_two_hundred_rounds(tmp_path: Path) -> None:
    _rounds(tmp_path, 200, is_cold=True)
