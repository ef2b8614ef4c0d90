"""64 clients of four processes on one ledger spend a budget for exactly k answers: k are answered, never more,
and never fewer."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest
from psycopg.conninfo import make_conninfo

from tests.cli.operator_at_work import Listening, Operator, query_over_the_wire
from tests.servers_fixture import servers

_PROCESSES = 4
_CLIENTS = 64


def _names(runs: int, budgets: tuple[int, ...]) -> dict[str, int]:
    return {f"run_{k}_{run}": k for k in budgets for run in range(runs)}


@contextlib.contextmanager
def _processes(folder: Path, analysts: dict[str, int]) -> Iterator[list[Listening]]:
    with psycopg.connect(servers().ledger_dsn, autocommit=True) as server:
        server.execute("CREATE DATABASE shared_by_four")
        dsn = make_conninfo(servers().ledger_dsn, dbname="shared_by_four")
        try:
            with contextlib.ExitStack() as running:
                operators = [
                    Operator(folder / str(n), ("--ledger", dsn), analysts)
                    for n in range(_PROCESSES)
                ]
                operators[0].adopt(*analysts)
                yield [running.enter_context(one.serving()) for one in operators]
        finally:
            server.execute("DROP DATABASE shared_by_four WITH (FORCE)")


def _spend(processes: list[Listening], name: str, attempts: int) -> list[int]:
    """Receipts of all that was answered, by all clients together."""
    receipts: list[int] = []
    problems: list[BaseException] = []
    together = threading.Barrier(_CLIENTS)

    def client(number: int) -> None:
        try:
            with processes[number % len(processes)].connect(name) as connection:
                together.wait(60)
                for _ in range(attempts):
                    try:
                        receipts.append(query_over_the_wire(connection))
                    except psycopg.errors.ConfigurationLimitExceeded:
                        return
        except BaseException as problem:
            problems.append(problem)
            together.abort()

    threads = [threading.Thread(target=client, args=(number,)) for number in range(_CLIENTS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(120)
    assert not problems, problems[0]
    return receipts


def _check(folder: Path, runs: int, budgets: tuple[int, ...]) -> None:
    analysts = _names(runs, budgets)
    with _processes(folder, analysts) as processes:
        for name, budget in analysts.items():
            receipts = _spend(processes, name, budget + 1)
            assert len(receipts) == len(set(receipts)) == budget, name
            with processes[0].connect(name) as connection:
                shown = connection.execute("SELECT receipt FROM dp.history").fetchall()
            assert sorted(receipts) == [receipt for (receipt,) in shown], name


@pytest.mark.long
def test_exactly_so_many(tmp_path: Path) -> None:
    _check(tmp_path, 1, (10,))


@pytest.mark.long
def test_exactly_so_many_again_and_again(tmp_path: Path) -> None:
    _check(tmp_path, 20, (1, 10, 500))
