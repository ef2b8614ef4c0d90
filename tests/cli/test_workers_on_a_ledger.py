"""Two workers on an external ledger, and another process on the same one, as replicas have it. The leading
worker dies: another one releases what is due and looks at the catalogue."""

from __future__ import annotations

import contextlib
import json
import os
import signal
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psycopg
import pytest
from psycopg.conninfo import make_conninfo

from tests.chosen_slots import with_chosen_slots
from tests.cli.commands import dpproxy
from tests.cli.operator_at_work import PASSWORD, QUESTION, Listening, Operator, query_over_the_wire
from tests.databases.ledger_database import rows
from tests.live.served_database import READER, made_database
from tests.servers_fixture import servers
from tests.waiting import until

pytestmark = pytest.mark.long
_NAME = "beside_workers"
_SHOP = """\
CREATE SCHEMA shop;
CREATE TABLE shop.customers (id int PRIMARY KEY, state text NOT NULL);
INSERT INTO shop.customers SELECT n, 'CA' FROM generate_series(1, 1000) n;
"""
_PUBLISH = with_chosen_slots("""\
publish:
  - {name: of_tx, sql: SELECT count(*) AS n FROM shop.customers WHERE state = 'TX', every: 24h, epsilon: 1}
""")
_ANOTHER = _PUBLISH.splitlines(keepends=True)[1].replace("of_tx", "of_ca").replace("TX", "CA")


@dataclass(frozen=True, slots=True)
class Deployment:
    operator: Operator
    listening: Listening

    def events(self, name: str) -> list[dict[str, Any]]:
        lines = (self.operator.folder / "err.txt").read_text().splitlines()
        found = [json.loads(line) for line in lines if line.startswith("{")]
        return [one for one in found if one["event"] == name]

    def workers(self) -> list[dict[str, Any]]:
        told = dpproxy("status", "--json", "--state", self.operator.state)
        assert told.out, told.err
        return list(json.loads(told.out)["workers"])

    def publish_another(self) -> None:
        policy = self.operator.policy
        policy.write_text(policy.read_text() + _ANOTHER)

    def kill_leader(self) -> int:
        """The worker that has released the first one. Gives the number of the other one."""
        until(lambda: self.events("published") != [])
        leader = self.events("published")[0]["worker"]
        (pid,) = (one["pid"] for one in self.workers() if one["worker"] == leader)
        os.kill(pid, signal.SIGKILL)
        return int(3 - leader)


@contextlib.contextmanager
def _databases() -> Iterator[tuple[str, str]]:
    """A ledger's and a protected one."""
    ledger, protected = servers().ledger_dsn, servers().protected
    with (
        psycopg.connect(ledger, autocommit=True) as of_ledger,
        psycopg.connect(protected.dsn(), autocommit=True) as of_source,
    ):
        of_ledger.execute(f"CREATE DATABASE {_NAME}".encode())
        try:
            source = made_database(protected, _NAME, _SHOP)
            limited = f"ALTER ROLE {READER} IN DATABASE {_NAME} SET temp_file_limit = '10GB'"
            of_source.execute(limited.encode())
            yield make_conninfo(ledger, dbname=_NAME), source
        finally:
            of_ledger.execute(f"DROP DATABASE {_NAME} WITH (FORCE)".encode())
            of_source.execute(f"DROP DATABASE IF EXISTS {_NAME} WITH (FORCE)".encode())


@contextlib.contextmanager
def _served(operator: Operator, *more: str) -> Iterator[Deployment]:
    with operator.serving(more=more) as listening:
        yield Deployment(operator, listening)


def test_workers_and_replicas_share_a_ledger(tmp_path: Path) -> None:
    with _databases() as (ledger, source):
        pair, single = (
            Operator(tmp_path / name, ("--ledger", ledger), more=_PUBLISH, source=source)
            for name in ("pair", "single")
        )
        pair.adopt("ann")
        pair.give_key_to((single,))
        with _served(pair, "--workers", "2") as both:
            other = both.kill_leader()
            both.publish_another()
            until(lambda: len(both.events("published")) == 2)
            assert both.events("published")[1]["worker"] == other
            until(lambda: all(one["is_serving"] for one in both.workers()))
            assert [one["restarts"] for one in both.workers()] == [int(other == 2), int(other == 1)]

            single.policy.write_text(pair.policy.read_text())
            with _served(single) as alone, contextlib.ExitStack() as open_ones:
                single.run("user", "add", "bob", "--password-stdin", typed=PASSWORD)
                until(lambda: _lets_in(both, "bob") and _lets_in(alone, "bob"))
                connections = [
                    open_ones.enter_context(one.listening.connect("bob"))
                    for one in (both, both, both, both, alone)
                ]
                receipts = [query_over_the_wire(one) for one in connections]
                receipts += [one.listening.query_over_http("bob") for one in (both, alone)]
                assert len(set(receipts)) == len(receipts)
                for one in connections:
                    shown = one.execute("SELECT receipt FROM dp.history").fetchall()
                    assert sorted(receipts) == [receipt for (receipt,) in shown]
                assert alone.events("published") == [], "they stand already"
            released = rows(ledger, "SELECT count(*) FROM ledger.receipt WHERE analyst LIKE '(%'")
            assert released == [(2,)], "each once for all processes"


def test_another_worker_looks_at_the_catalogue(tmp_path: Path) -> None:
    """Once a minute."""
    with _databases() as (ledger, source):
        operator = Operator(tmp_path, ("--ledger", ledger), more=_PUBLISH, source=source)
        operator.adopt("ann")
        operator.run("ledger", "key", "--new")
        with _served(operator, "--workers", "2") as both:
            other = both.kill_leader()
            until(lambda: [one["restarts"] for one in both.workers()].count(1) == 1)
            until(lambda: all(one["is_serving"] for one in both.workers()))
            with psycopg.connect(servers().protected.dsn(_NAME), autocommit=True) as owner:
                owner.execute("ALTER TABLE shop.customers DROP COLUMN state")
            until(lambda: len(both.events("policy_not_taken")) == 2, seconds=90)
            assert both.events("policy_not_taken")[0]["worker"] == other, "it told the other one"
            for _ in range(6):
                with (
                    both.listening.connect("ann") as connection,
                    pytest.raises(psycopg.Error, match="not what the policy was checked against"),
                ):
                    connection.execute(QUESTION)


def _lets_in(one: Deployment, name: str) -> bool:
    try:
        one.listening.connect(name).close()
    except psycopg.OperationalError:
        return False
    return True
