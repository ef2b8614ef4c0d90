"""Budgets of groups and tables, kept statements, adjustments: as an operator and analysts meet them."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest
from psycopg.conninfo import make_conninfo

from proxy.ledger.adjustments import confirm
from proxy.ledger.ledger_mark import MARK_FILE
from proxy.ledger.text_keys import KEY_FILE
from tests.chosen_slots import far_period
from tests.cli.commands import dpproxy
from tests.cli.operator_at_work import QUESTION, Operator
from tests.servers_fixture import servers
from tests.waiting import until

_PERIOD = far_period()
_MORE = f"""\
  groups: {{press: {{epsilon: 2.5, delta: 1e-4, per: {_PERIOD}}}}}
  tables: {{shop.customers: {{epsilon: 20, delta: 1e-4}}}}
statements: encrypted
"""


@contextlib.contextmanager
def _operator(folder: Path) -> Iterator[tuple[Operator, str]]:
    """On a ledger in a database of its own, whose DSN is given; ann is in the group press."""
    with psycopg.connect(servers().ledger_dsn, autocommit=True) as server:
        server.execute("CREATE DATABASE for_operators")
        dsn = make_conninfo(servers().ledger_dsn, dbname="for_operators")
        try:
            operator = Operator(folder, ("--ledger", dsn))
            text = operator.policy.read_text()
            operator.policy.write_text(text.replace("\naccept:", f"\n{_MORE}accept:"))
            operator.adopt("ann", "bob")
            with psycopg.connect(dsn) as ledger:
                ledger.execute(
                    "INSERT INTO ledger.membership"
                    " SELECT id, 'press' FROM ledger.analyst WHERE name = 'ann'"
                )
            yield operator, dsn
        finally:
            server.execute("DROP DATABASE for_operators WITH (FORCE)")


def _refused(operator: Operator, *arguments: str) -> str:
    """What is said where nothing is done."""
    more: tuple[str | Path, ...] = ("--state", operator.state, *operator.options)
    done = dpproxy("ledger", *arguments, *more, environment=operator.environment)
    assert done.code != 0, done.out
    return done.err


@pytest.mark.long
def test_a_day_of_an_operator(tmp_path: Path) -> None:
    with _operator(tmp_path) as (operator, dsn), operator.serving() as listening:
        for _ in range(2):
            listening.query_over_http("ann")
        with pytest.raises(KeyError, match='budget of the group "press" does not cover'):
            listening.query_over_http("ann")
        warned = listening.over_http("bob", QUESTION)["notices"]
        assert warned == [], "who is in no group hears nothing of it"
        shown = operator.run("ledger", "show").out
        assert "(group press)" in shown and "80 % !" in shown
        assert "! is where 80 % or more is spent" in shown
        assert "(table shop.customers)" in shown
        adjusting = ("ledger", "adjust", "--group", "press", "--epsilon", "-1")
        why = ("--reason", "asked twice by mistake")
        assert "nothing is given back yet" in operator.run(*adjusting, *why).out
        with pytest.raises(KeyError, match='budget of the group "press" does not cover'):
            listening.query_over_http("ann")
        assert confirm(dsn, 1, "admin API: otto from ::1").spent.epsilon == 1
        listening.query_over_http("ann")
        with listening.connect("ann") as ann, listening.connect("bob") as bob:
            texts = "SELECT text FROM dp.history WHERE text LIKE '%customers%'"
            assert ann.execute(texts).fetchall() == [(QUESTION,)] * 3
            assert len(bob.execute("SELECT receipt FROM dp.history").fetchall()) == 1
            budgets = "SELECT analyst, epsilon_spent::float8, period FROM dp.budget"
            assert ann.execute(budgets).fetchall() == [
                ("ann", 3.0, "none"),
                ("(group press)", 2.0, _PERIOD),
                ("(table shop.customers)", 4.0, "none"),
                ("(everybody together)", 4.0, "none"),
            ]
        assert operator.run("ledger", "verify").out == "all checks passed\n"
        assert "budget_nearly_spent" in (tmp_path / "err.txt").read_text()


@pytest.mark.long
def test_what_an_operator_may_not_adjust_and_what_is_written_out(tmp_path: Path) -> None:
    with _operator(tmp_path) as (operator, dsn), operator.serving() as listening:
        for _ in range(2):
            listening.query_over_http("ann")
        adjusting = ("ledger", "adjust", "--group", "press", "--epsilon", "-1")
        why = ("--reason", "asked twice by mistake")
        operator.run(*adjusting, *why)
        told = _refused(operator, "confirm", "1")
        assert "another administrator has to confirm it" in told and "Nothing was adjusted" in told
        confirm(dsn, 1, "admin API: otto from ::1")
        assert "--reason" in _refused(operator, *adjusting[1:])
        assert "give one of" in _refused(operator, "adjust", "--total", *adjusting[2:], *why)
        assert "no such source" in _refused(operator, *adjusting[1:], *why, "--source", "other")
        assert 'no group "sales"' in _refused(
            operator, "adjust", "--group", "sales", "--epsilon", "1", *why
        )
        assert "must be a number" in _refused(
            operator, "adjust", "--total", "--epsilon", "1e999", *why
        )
        exported = operator.run("ledger", "export").out.splitlines()
        assert len(exported) == 4 and "asked twice by mistake" in exported[3]
        assert QUESTION not in "".join(exported)
        key = operator.run("ledger", "key").out.split()[0]
        wrote = operator.run("ledger", "backup", tmp_path / "copy").out
        assert f"encrypted with the keys {key}, which are not in it" in wrote


@pytest.mark.long
def test_a_ledger_that_was_written_anew_and_a_key_that_is_missing(tmp_path: Path) -> None:
    with _operator(tmp_path) as (operator, dsn):
        with operator.serving() as listening:
            listening.query_over_http("ann")
            until(lambda: (operator.state / MARK_FILE).exists())
            assert listening.running.stop() == 0
        (operator.state / KEY_FILE).rename(tmp_path / "apart")
        serve = ("serve", "--policy", operator.policy, "--state", operator.state)
        places = ("--listen", "127.0.0.1:0", "--http", "127.0.0.1:0", *operator.options)
        done = dpproxy(*serve, *places, environment=operator.environment)
        assert done.code == 1 and f"is not in {operator.state / KEY_FILE}" in done.err
        assert "not here" in operator.run("ledger", "key").out
        (tmp_path / "apart").rename(operator.state / KEY_FILE)
        with operator.serving() as listening:
            with listening.connect("ann") as ann:
                found = ann.execute("SELECT text FROM dp.history").fetchall()
            assert found == [(QUESTION,)]
            assert listening.running.stop() == 0
        with psycopg.connect(dsn) as ledger:
            ledger.execute("ALTER TABLE ledger.receipt DISABLE TRIGGER append_only")
            ledger.execute("UPDATE ledger.receipt SET fingerprint = 'x', digest = sha256('x')")
            ledger.execute("UPDATE ledger.chain SET digest = sha256('x')")
            ledger.execute("ALTER TABLE ledger.receipt ENABLE TRIGGER append_only")
        done = dpproxy(*serve, *places, environment=operator.environment)
        assert done.code == 1 and "the ledger is not what it was: receipt 1" in done.err
        told = dpproxy("ledger", "verify", *serve[3:], *operator.options)
        assert told.code == 1
        assert "receipt 1, or what stands before it, is not what was written" in told.out
