"""kill -9 of the process, of its shadow and of its ledger under load, with answers cached and tables published:
one answer of each charge, one release of each version, and nobody is shown what is not paid."""

from __future__ import annotations

import json
import random  # noqa: TID251 - when to kill, not noise
import threading
import time
from collections import Counter
from fractions import Fraction
from pathlib import Path

import psycopg
import pytest

from proxy.ledger.ledger_home import embedded_ledger
from proxy.ledger.ledger_reports import ledger_problems
from proxy.ledger.text_cipher import TextCipher
from proxy.ledger.text_keys import reading_cipher
from proxy.postgres.embedded import EmbeddedPostgres
from tests.cli.operator_at_work import QUESTION, Listening, Operator
from tests.cli.test_kill_rounds import ANALYSTS, PROBER, SEED, VICTIMS, kill
from tests.databases.ledger_database import rows
from tests.waiting import until

# A policy that says nothing of reuse has it, of a day.
_REUSE = ("# reuse: of 24h where nothing is said\n", "reuse: 1h\n")
_PUBLISHED = "SELECT state, customers FROM published.by_state ORDER BY 1"
_AS_PUBLISHED = "SELECT state, count(*) FROM shop.customers GROUP BY state ORDER BY 1"
_CHEAPER = Fraction(1, 2)  # than what is published


def _publish(version: int) -> str:
    """Another one at each start: its statement is released at once."""
    return f"""\
publish:
  - name: by_state
    sql: SELECT state, count(*) AS customers FROM shop.customers GROUP BY state
    every: 24h
    epsilon: {float(1 + Fraction(version, 10_000))}
"""


Table = tuple[tuple[str, int], ...]


class _Load:
    """Clients that ask what others ask: counts of more and more epsilon, as a better answer that was shown
    would serve for nothing; and what is published, by its name and as a question.

    shown: the analyst, the question by its epsilon, the answer; read: tables; made: as questions, by whom
    """

    def __init__(self, listening: Listening, asked: Counter[str]) -> None:
        self.shown: list[tuple[str, Fraction, int]] = []
        self.read: list[Table] = []
        self.made: list[tuple[str, Table]] = []
        self._threads = [
            threading.Thread(target=self._client, args=(listening, name, asked))
            for name in ANALYSTS
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
                    self._read(connection, name)
        except (psycopg.Error, OSError):
            return

    def _read(self, connection: psycopg.Connection, name: str) -> None:
        try:
            self.read.append(tuple(connection.execute(_PUBLISHED).fetchall()))
        except psycopg.errors.UndefinedTable:  # it is not released yet
            return
        connection.execute(f"SET dp.epsilon = {float(_CHEAPER)}")
        self.made.append((name, tuple(connection.execute(_AS_PUBLISHED).fetchall())))

    def end(self) -> None:
        for thread in self._threads:
            thread.join(60)
            assert not thread.is_alive(), "a client hangs"


@pytest.mark.long
@pytest.mark.parametrize(("reuse", "rounds"), [(_REUSE[0], 8), (_REUSE[1], 8), (_REUSE[0], 60)])
def test_what_is_shown_is_paid(tmp_path: Path, reuse: str, rounds: int) -> None:
    operator = Operator(tmp_path, more=reuse)
    policy = operator.policy.read_text()
    operator.adopt(*ANALYSTS, PROBER)
    chance = random.Random(SEED)
    shown: list[tuple[str, Fraction, int]] = []
    read: list[Table] = []
    made: list[tuple[str, Table]] = []
    asked: Counter[str] = Counter()
    for number in range(rounds):
        operator.policy.write_text(policy + _publish(number))
        with operator.serving() as listening:
            load = _Load(listening, asked)
            time.sleep(chance.uniform(0.3, 3))  # a release is there after a second or two
            kill(operator, listening, VICTIMS[number % len(VICTIMS)])
            load.end()
        shown, read, made = shown + load.shown, read + load.read, made + load.made
    with operator.serving() as listening, listening.connect("ann") as connection:
        until(
            lambda: _is_there(connection), 90
        )  # finished under its charge, once the lease has ended
    ledger = EmbeddedPostgres(operator.state, "ledger", tcp=False)
    ledger.start()
    try:
        dsn = embedded_ledger(ledger)
        assert ledger_problems(dsn) == ()
        _check_answers(dsn, shown)
        _check_published(dsn, reading_cipher(operator.state), read, made, rounds)
    finally:
        ledger.stop()


def _is_there(connection: psycopg.Connection) -> bool:
    return connection.execute("SELECT to_regclass('published.by_state')").fetchone() != (None,)


def _check_answers(dsn: str, shown: list[tuple[str, Fraction, int]]) -> None:
    found = rows(
        dsn,
        "SELECT analyst, epsilon, drawn_epsilon FROM ledger.receipt WHERE analyst <> '(published)'",
    )
    draws = Counter(Fraction(drawn) for _, _, drawn in found if drawn)
    answers = Counter(epsilon for epsilon, _ in {(one[1], one[2]) for one in shown})
    paid = Counter((who, Fraction(epsilon)) for who, epsilon, _ in found)
    assert {(who, epsilon) for who, epsilon, _ in shown} <= {*paid}, "shown and not paid"
    assert answers <= draws, "two answers under one charge"
    assert max(paid.values()) == 1, "one question is charged twice to one analyst"
    assert len(shown) > len(found) / 2 > 20, "there was load"
    print(
        f"{len(shown)} answers, {answers.total()} draws shown of {draws.total()}, {len(found)} receipts"
    )


def _check_published(
    dsn: str,
    cipher: TextCipher,
    read: list[Table],
    made: list[tuple[str, Table]],
    rounds: int,
) -> None:
    found = rows(
        dsn, "SELECT id, version, due, receipt, shown FROM ledger.published ORDER BY receipt"
    )
    releases = [
        (*one, None if text is None else cipher.opened(text, ("published table", str(number))))
        for number, *one, text in found
    ]
    charges = rows(dsn, "SELECT id FROM ledger.receipt WHERE analyst = '(published)' ORDER BY id")
    assert [receipt for _, _, receipt, _ in releases] == [number for (number,) in charges]
    assert len({(version, due) for version, due, _, _ in releases}) == len(releases) > rounds / 2
    days = len({due for _, due, _, _ in releases})
    assert len({version for version, *_ in releases}) * days >= len(releases), "released twice"
    stored = {_table(text) for *_, text in releases if text is not None}
    assert {*read} <= stored, "a table that does not stand"
    by_drawing = [(who, table) for who, table in made if table not in stored]
    paid = rows(dsn, f"SELECT analyst FROM ledger.receipt WHERE epsilon = {float(_CHEAPER)}")
    assert {who for who, _ in by_drawing} <= {who for (who,) in paid}
    assert len({table for _, table in by_drawing}) <= len(paid)
    assert len({*read}) > rounds / 8 and len(made) > len(by_drawing), "there was load"
    print(f"{len(read)} reads of {len(stored)} tables, {len(releases)} releases charged")


def _table(text: str) -> Table:
    return tuple((state, int(customers)) for state, customers, _ in json.loads(text)["rows"])
