"""`dpproxy serve` and its ledger, as an operator meets them: processes of their own."""

from __future__ import annotations

import json
import re
import shutil
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import psycopg
import pytest
from psycopg.conninfo import make_conninfo

from proxy.ledger.text_keys import KEY_FILE
from tests.chosen_slots import far_period
from tests.cli.commands import Done, Serving, dpproxy, serving
from tests.servers_fixture import servers

_PASSWORD = "a long password"
_PERIOD = far_period()
_POLICY = """\
dpproxy: 1
database: shop
source: ${SHOP_DSN}
privacy: {epsilon: 1, delta: 1e-6, max_epsilon: 2}
reuse: none
tables:
  shop.customers:
    unit: {customer: id}
    max_rows_per_unit: 1
    columns: {state: {values: [CA, TX]}}
budgets:
  total: {epsilon: %s, delta: 1e-3}
  default: {epsilon: 5, delta: 1e-4, per: %s}
"""


class Operator:
    """Runs commands on one state folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.state = folder / "state"
        self.policy = folder / "shop.yaml"
        self.policy.write_text(_POLICY % (50, _PERIOD))
        self.environment = {"SHOP_DSN": servers().source_dsns["shop"]}

    def run(self, *arguments: str | Path, typed: str = "") -> Done:
        return dpproxy(*arguments, "--state", self.state, typed=typed, environment=self.environment)

    def arguments(self, *more: str | Path) -> list[str | Path]:
        listening = ("--listen", "127.0.0.1:0", "--http", "127.0.0.1:0")
        return ["serve", "--policy", self.policy, *listening, "--state", self.state, *more]

    def serve(self, *more: str | Path) -> Done:
        """That must not come to serve."""
        return dpproxy(*self.arguments(*more), environment=self.environment)

    def adopt(self) -> None:
        done = self.run("ledger", "adopt", "--policy", self.policy, "--new")
        assert done.code == 0, done.err
        assert self.run("user", "add", "ann", "--password-stdin", typed=_PASSWORD).code == 0


@pytest.fixture
def operator(tmp_path: Path) -> Operator:
    return Operator(tmp_path)


def address(running: Serving) -> tuple[str, int]:
    (line,) = [x for x in running.printed.splitlines() if x.startswith("PostgreSQL clients: ")]
    host, _, port = line.removeprefix("PostgreSQL clients: ").partition(":")
    return host, int(port)


def connect(running: Serving, user: str = "ann", password: str = _PASSWORD) -> psycopg.Connection:
    host, port = address(running)
    return psycopg.connect(
        make_conninfo(host=host, port=port, user=user, password=password, dbname="shop"),
        autocommit=True,
    )


def count(connection: psycopg.Connection) -> int:
    row = connection.execute("SELECT count(*) FROM shop.customers").fetchone()
    assert row is not None
    return int(row[0])


def within(seconds: float, holds: Callable[[], bool]) -> bool:
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        if holds():
            return True
        time.sleep(0.05)
    return False


def refused(running: Serving, user: str, password: str) -> bool:
    try:
        connect(running, user, password).close()
    except psycopg.OperationalError:
        return True
    return False


@pytest.mark.long
def test_data_that_the_ledger_does_not_know_is_refused_with_the_command(operator: Operator) -> None:
    done = operator.serve()
    assert done.code == 1
    told = f"dpproxy ledger adopt --policy {operator.policy} --state {operator.state} --new"
    assert told in done.err
    assert f"there is no ledger in {operator.state}: wrong --state?" in done.err
    assert not operator.state.exists(), "only the command makes one"
    unknown = operator.run("ledger", "adopt", "--policy", operator.policy, "--as", "shop")
    assert unknown.code == 1 and not operator.state.exists()
    assert dpproxy(*told.split()[1:], environment=operator.environment).code == 0
    again = operator.run("ledger", "adopt", "--policy", operator.policy, "--new")
    assert again.code == 1 and "already" in again.err
    neither = operator.run("ledger", "adopt", "--policy", operator.policy)
    assert neither.code == 1 and "either --new or --as" in neither.err
    with serving(operator.folder, operator.arguments(), "HTTP:", operator.environment):
        pass


def _changes_own_password(running: Serving, password: str) -> bool:
    """Whether a session of bob got so far: it may be among those that are ended."""
    words = f"'ALTER ' || 'ROLE CURRENT_USER PASSWORD ''{password}'''"
    try:
        with connect(running, "bob", "the second one") as bob:
            bob.execute(f"DO $$ BEGIN EXECUTE {words}; END $$".encode())
    except psycopg.OperationalError:
        return False
    return True


@pytest.mark.long
def test_users_come_and_go_while_it_serves(operator: Operator) -> None:
    operator.adopt()
    with serving(operator.folder, operator.arguments(), "HTTP:", operator.environment) as running:
        with connect(running) as ann:
            count(ann)
            assert ann.execute("SELECT epsilon_spent FROM dp.budget").fetchall()[0] == (1,)
        assert (
            operator.run("user", "add", "bob", "--password-stdin", typed="the first one").code == 0
        )
        assert within(60, lambda: not refused(running, "bob", "the first one"))
        bob = connect(running, "bob", "the first one")
        assert (
            operator.run("user", "password", "bob", "--password-stdin", typed="the second one").code
            == 0
        )
        assert within(60, lambda: refused(running, "bob", "the first one"))
        # Sessions that began under the old one are ended a moment later, and with them who is quick.
        assert within(60, lambda: not refused(running, "bob", "the second one"))
        with pytest.raises(psycopg.OperationalError):
            bob.execute("SELECT 1")
        # A password that an analyst gives their own role would hold on this shadow alone.
        assert within(60, lambda: _changes_own_password(running, "mine alone"))
        assert within(60, lambda: refused(running, "bob", "mine alone"))
        assert within(60, lambda: not refused(running, "bob", "the second one"))
        assert operator.run("user", "remove", "bob").out == "removed bob\n"
        assert within(60, lambda: refused(running, "bob", "the second one"))
        assert operator.run("user", "list").out == "ann\n"
        shown = operator.run("ledger", "show").out
        assert [line.split()[:5] for line in shown.splitlines() if " ann " in line] == [
            ["shop", "ann", _PERIOD, "1", "5"]
        ]
        lines = operator.run("ledger", "export").out.splitlines()
        assert len(lines) == 2 and '""dlaplace""' in lines[1]
        assert operator.run("ledger", "verify").out == "all checks passed\n"
        assert running.stop() == 0


@pytest.mark.long
def test_a_ledger_that_was_put_back_is_refused_until_it_is_accepted(operator: Operator) -> None:
    operator.adopt()
    copy = operator.folder / "copy"

    def ask(times: int) -> None:
        with (
            serving(
                operator.folder, operator.arguments(), "HTTP:", operator.environment
            ) as running,
            connect(running) as ann,
        ):
            for _ in range(times):
                count(ann)
            assert within(60, lambda: _mark(operator) >= times)
            assert running.stop() == 0

    ask(1)
    shutil.copytree(operator.state / "ledger", copy)
    ask(2)
    shutil.rmtree(operator.state / "ledger")
    copy.rename(operator.state / "ledger")
    done = operator.serve()
    assert done.code == 1
    assert "the ledger has gone back" in done.err
    assert "dpproxy ledger accept" in done.err
    assert "gone back" in operator.run("ledger", "verify").out
    assert operator.run("ledger", "accept").code == 0
    ask(1)
    shutil.rmtree(operator.state / "ledger")
    assert "there is no ledger in" in operator.serve().err
    assert operator.run("ledger", "adopt", "--policy", operator.policy, "--new").code == 0
    assert "another one" in operator.serve().err, "an empty ledger in the place of the old one"


@pytest.mark.long
def test_a_restored_ledger_is_refused_until_it_is_accepted(operator: Operator) -> None:
    """An older backup in an empty folder: what was spent later was forgotten without a word."""
    operator.adopt()
    copy = operator.folder / "backup"
    assert operator.run("ledger", "backup", copy).code == 0
    operator.state = operator.folder / "new state"
    done = operator.run("ledger", "restore", copy)
    assert done.code == 0, done.err
    assert re.search(r"as of 20\d\d-.* UTC: what was spent later is forgotten", done.out)
    accept = f"dpproxy ledger accept --state '{operator.state}'"
    assert accept in done.out
    refused = operator.serve()
    assert refused.code == 1
    assert "what was spent later is forgotten" in refused.err and accept in refused.err
    verified = operator.run("ledger", "verify")
    assert verified.code == 1 and "was restored as of" in verified.out
    assert operator.run("ledger", "accept").code == 0
    assert operator.run("ledger", "verify").out == "all checks passed\n"
    with serving(operator.folder, operator.arguments(), "HTTP:", operator.environment) as running:
        assert f"starting the servers in {operator.state} ..." in running.printed.splitlines()[0]


def _mark(operator: Operator) -> int:
    return int(json.loads((operator.state / "ledger.mark").read_text())["receipt"])


@pytest.mark.long
def test_two_processes_share_a_given_ledger(operator: Operator, ledger_dsn: str) -> None:
    (operator.folder / "other").mkdir()
    other = Operator(operator.folder / "other")
    shared = ("--ledger", ledger_dsn)
    empty = operator.serve(*shared).err
    assert "there is no ledger in that database: wrong --ledger?" in empty
    with psycopg.connect(ledger_dsn) as connection:
        made = connection.execute("SELECT to_regnamespace('ledger')").fetchone()
    assert made == (None,)
    done = operator.run("ledger", "adopt", "--policy", operator.policy, "--new", *shared)
    assert done.code == 0, done.err
    operator.run("user", "add", "ann", "--password-stdin", *shared, typed=_PASSWORD)
    assert operator.run("ledger", "key", "--new", *shared).code == 0
    assert f"copy {KEY_FILE} from the state folder" in other.serve(*shared).err
    shutil.copy(operator.state / KEY_FILE, other.state / KEY_FILE)
    with (
        serving(operator.folder, operator.arguments(*shared), "HTTP:", operator.environment) as one,
        serving(other.folder, other.arguments(*shared), "HTTP:", other.environment) as two,
    ):
        for running in (one, two, one, two, one):
            with connect(running) as ann:
                count(ann)
        with connect(two) as ann, pytest.raises(psycopg.errors.ConfigurationLimitExceeded):
            count(ann)
        # A policy with other budgets for the same data is refused while they serve.
        third = operator.folder / "third"
        third.mkdir()
        richer = Operator(third)
        richer.policy.write_text(_POLICY % (5000, _PERIOD))
        assert "with other budgets" in richer.serve(*shared).err
        assert not (operator.state / "ledger").exists()


@pytest.mark.long
def test_one_policy_twice_under_two_names_shares_the_budgets_or_is_refused(
    operator: Operator,
) -> None:
    operator.adopt()
    second = operator.folder / "second.yaml"
    second.write_text((_POLICY % (50, _PERIOD)).replace("database: shop", "database: store"))
    both = ("--policy", second)
    with serving(
        operator.folder, operator.arguments(*both), "HTTP:", operator.environment
    ) as running:
        host, port = address(running)
        for name in ("shop", "store"):
            dsn = make_conninfo(host=host, port=port, user="ann", password=_PASSWORD, dbname=name)
            with psycopg.connect(dsn, autocommit=True) as ann:
                count(ann)
                spent = ann.execute("SELECT epsilon_spent FROM dp.budget").fetchall()
        assert spent[0] == (2,)
    second.write_text(second.read_text().replace("epsilon: 50", "epsilon: 51"))
    assert "with other budgets" in operator.serve(*both).err


@pytest.fixture
def ledger_dsn() -> Iterator[str]:
    """An empty database on a server that several processes reach."""
    with psycopg.connect(servers().ledger_dsn, autocommit=True) as server:
        server.execute("CREATE DATABASE shared")
        yield make_conninfo(servers().ledger_dsn, dbname="shared")
        server.execute("DROP DATABASE shared WITH (FORCE)")
