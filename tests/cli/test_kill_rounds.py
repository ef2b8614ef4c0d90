"""kill -9 of the process, of its shadow and of its ledger under load: never an answer without its receipt."""

from __future__ import annotations

import http.client
import os
import random  # noqa: TID251 - when to kill, not noise
import signal
import statistics
import threading
import time
from collections import Counter
from fractions import Fraction
from pathlib import Path

import psycopg
import pytest

from proxy.ledger.ledger_check import ledger_problems
from proxy.ledger.ledger_home import embedded_ledger
from proxy.postgres.embedded import EmbeddedPostgres
from tests.cli.operator_at_work import QUESTION, Listening, Operator, query_over_the_wire
from tests.databases.ledger_database import rows

_ANALYSTS = ("ann", "bob", "cid", "dee")
_SEED = 20261122
_VICTIMS = ("process", "shadow", "ledger", "all")


class _ReusingLoad:
    """Clients that ask what others ask: counts of more and more epsilon, as a better answer that was shown
    would serve for nothing. shown: the analyst, the question by its epsilon, the answer; asked: how many.
    """

    def __init__(self, listening: Listening, asked: Counter[str]) -> None:
        self.shown: list[tuple[str, Fraction, int]] = []
        self._threads = [
            threading.Thread(target=self._client, args=(listening, name, asked))
            for name in _ANALYSTS
        ]
        for thread in self._threads:
            thread.start()

    def _client(self, listening: Listening, name: str, asked: Counter[str]) -> None:
        try:
            with listening.connect(name) as connection:
                while True:
                    asked[name] += 1
                    epsilon = 1 + Fraction(asked[name], 10_000)
                    connection.execute(f"SET dp.epsilon = {float(epsilon)}")
                    row = connection.execute(QUESTION).fetchone()
                    assert row is not None
                    self.shown.append((name, epsilon, row[0]))
        except (psycopg.Error, OSError):
            return

    def end(self) -> list[tuple[str, Fraction, int]]:
        for thread in self._threads:
            thread.join(60)
            assert not thread.is_alive(), "a client hangs"
        return self.shown


class _Load:
    """Clients of both listeners, until everything breaks under them."""

    def __init__(self, listening: Listening) -> None:
        self.receipts: list[int] = []
        self._threads = [
            threading.Thread(target=self._client, args=(listening, name, number % 2 == 0))
            for number, name in enumerate(_ANALYSTS * 2)
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


def _kill(operator: Operator, listening: Listening, victim: str) -> None:
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
    operator.adopt(*_ANALYSTS)
    chance = random.Random(_SEED)
    seen: list[int] = []
    starts: list[float] = []
    for number in range(count):
        victim = _VICTIMS[number % len(_VICTIMS)]
        with operator.serving(is_cold) as listening:
            starts.append(listening.running.ready_seconds)
            load = _Load(listening)
            time.sleep(chance.uniform(0.1, 0.8))
            _kill(operator, listening, victim)
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
def test_what_is_reused_costs_no_less_than_was_shown(tmp_path: Path) -> None:
    """Whatever is killed: one answer of each charge, and nobody is shown what they have not paid."""
    operator = Operator(tmp_path, more="reuse: 24h\n")
    operator.adopt(*_ANALYSTS)
    chance = random.Random(_SEED)
    shown: list[tuple[str, Fraction, int]] = []
    asked: Counter[str] = Counter()
    for victim in _VICTIMS * 2:
        with operator.serving() as listening:
            load = _ReusingLoad(listening, asked)
            time.sleep(chance.uniform(0.5, 1.5))
            _kill(operator, listening, victim)
            shown += load.end()
    ledger = EmbeddedPostgres(operator.state, "ledger", tcp=False)
    ledger.start()
    try:
        dsn = embedded_ledger(ledger)
        found = rows(dsn, "SELECT analyst, epsilon, drawn_epsilon FROM ledger.receipt")
        assert ledger_problems(dsn) == ()
    finally:
        ledger.stop()
    draws = Counter(Fraction(drawn) for _, _, drawn in found if drawn)
    answers = Counter(epsilon for epsilon, _ in {(one[1], one[2]) for one in shown})
    assert {(who, epsilon) for who, epsilon, _ in shown} <= {
        (who, Fraction(epsilon)) for who, epsilon, _ in found
    }, "nobody is shown what they have not paid"
    assert answers <= draws, "two answers under one charge"
    assert len(shown) > len(found) / 2 > 20, "there was load"
    print(
        f"{len(shown)} answers, {answers.total()} draws shown of {draws.total()}, {len(found)} receipts"
    )


@pytest.mark.long
def test_some_rounds(tmp_path: Path) -> None:
    _rounds(tmp_path, len(_VICTIMS), is_cold=False)


@pytest.mark.long
def test_two_hundred_rounds(tmp_path: Path) -> None:
    _rounds(tmp_path, 200, is_cold=True)
