"""64 clients of four processes on one ledger spend a budget for exactly k answers: k are answered, never more,
and never fewer; of k questions, where answers are cached, however often each is asked."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import psycopg
import pytest
from psycopg.conninfo import make_conninfo

from tests.chosen_slots import with_chosen_slots
from tests.cli.operator_at_work import Listening, Operator, query_over_the_wire
from tests.servers_fixture import servers

_PROCESSES = 4
_CLIENTS = 64


def _names(runs: int, budgets: tuple[int, ...]) -> dict[str, int]:
    return {f"run_{k}_{run}": k for k in budgets for run in range(runs)}


@contextlib.contextmanager
def _processes(folder: Path, analysts: dict[str, int], more: str = "") -> Iterator[list[Listening]]:
    with psycopg.connect(servers().ledger_dsn, autocommit=True) as server:
        server.execute("CREATE DATABASE shared_by_four")
        dsn = make_conninfo(servers().ledger_dsn, dbname="shared_by_four")
        try:
            with contextlib.ExitStack() as running:
                operators = [
                    Operator(folder / str(n), ("--ledger", dsn), analysts, more)
                    for n in range(_PROCESSES)
                ]
                operators[0].adopt(*analysts)
                operators[0].give_key_to(operators[1:])
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


def _ask_all(
    processes: list[Listening], names: list[str], questions: int
) -> list[dict[int, set[int]]]:
    """Each client all questions, in an order of its own. Gives by analyst what was shown of each."""
    shown: list[dict[int, set[int]]] = [{} for _ in names]
    together, taking = threading.Barrier(_CLIENTS), threading.Lock()

    def client(number: int) -> None:
        of = number % len(names)
        with processes[number // len(names) % len(processes)].connect(names[of]) as connection:
            together.wait(60)
            for place in range(questions):
                asked = (place * 7 + number) % questions
                text = f"SELECT count(*) FROM shop.customers WHERE state <> 'x{asked}'"
                try:
                    row = connection.execute(text.encode()).fetchone()
                except psycopg.errors.ConfigurationLimitExceeded:
                    continue
                assert row is not None
                with taking:
                    shown[of].setdefault(asked, set()).add(row[0])

    with ThreadPoolExecutor(_CLIENTS) as pool:
        for done in [pool.submit(client, number) for number in range(_CLIENTS)]:
            done.result(120)
    return shown


_PUBLISH = """\
publish:
  - {name: all_of_them, sql: SELECT count(*) AS n FROM shop.customers, every: 24h, epsilon: 1}
"""


@pytest.mark.long
def test_exactly_so_many_questions(tmp_path: Path) -> None:
    """With reuse and publish: each is charged once to who is shown it, and drawn once for all."""
    budget, analysts = 10, {"ann": 10, "bob": 10}
    with _processes(tmp_path, analysts, with_chosen_slots(f"reuse: 24h\n{_PUBLISH}")) as processes:
        shown = _ask_all(processes, list(analysts), 21)
        for name, questions in zip(analysts, shown, strict=True):
            with processes[0].connect(name) as connection:
                charged = connection.execute("SELECT epsilon FROM dp.history").fetchall()
            assert [float(epsilon) for (epsilon,) in charged] == [1.0] * budget
            assert len(questions) == budget
        drawn = {asked for questions in shown for asked in questions}
        for asked in drawn:
            answers = set().union(*(questions.get(asked, set()) for questions in shown))
            assert len(answers) == 1, "two draws under one charge"
        with psycopg.connect(
            make_conninfo(servers().ledger_dsn, dbname="shared_by_four")
        ) as ledger:
            total = ledger.execute(
                "SELECT epsilon::float8 FROM ledger.balance WHERE kind = 'total'"
            ).fetchone()
        assert total == (len(drawn) + 1,)  # and the release, once for four processes


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
