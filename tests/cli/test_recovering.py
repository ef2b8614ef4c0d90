"""A proxy outlives what it stands on: its ledger's server, embedded or the operator's own, and its shadow."""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest
from psycopg.conninfo import make_conninfo

from proxy.ledger.ledger_reports import ledger_problems
from proxy.postgres.embedded import EmbeddedPostgres
from tests.chosen_slots import with_chosen_slots
from tests.cli.operator_at_work import PASSWORD, QUESTION, Listening, Operator, query_over_the_wire
from tests.cli.recovery import (
    kill_server,
    kill_with_children,
    logging_in,
    login_over_http,
    login_over_the_wire,
    postmaster,
    readiness,
    recovers,
    start_server,
)
from tests.databases.ledger_database import rows
from tests.live.served_database import made_database, policy_head
from tests.servers_fixture import servers
from tests.waiting import until

_PUBLISH = """\
publish:
  - {name: everybody, sql: SELECT count(*) AS n FROM shop.customers, every: 24h, epsilon: 1}
"""


def _published(listening: Listening) -> object:
    with listening.connect("ann") as connection, contextlib.suppress(psycopg.Error):
        return connection.execute("SELECT n FROM published.everybody").fetchone()
    return None


@pytest.fixture
def embedded(tmp_path: Path) -> Iterator[tuple[Operator, Listening]]:
    operator = Operator(tmp_path, more=with_chosen_slots(_PUBLISH))
    operator.adopt("ann")
    with operator.serving() as listening:
        yield operator, listening


@pytest.mark.long
def test_a_killed_shadow_is_rebuilt(embedded: tuple[Operator, Listening]) -> None:
    operator, listening = embedded
    with listening.connect("ann") as connection:
        query_over_the_wire(connection)
        until(lambda: _published(listening) is not None)
        published = _published(listening)
        before = postmaster(operator, "shadow")
        kill_with_children(before)
        took = recovers(listening, "ann")
        with pytest.raises(psycopg.errors.CrashShutdown, match="is being started again"):
            connection.execute("SELECT 1")
    assert postmaster(operator, "shadow") != before
    assert _published(listening) == published, "it is shown as soon as anybody can log in"
    print(f"the shadow was back after {took:.1f} s")


@pytest.mark.long
def test_no_right_password_is_refused_while_a_shadow_is_rebuilt(
    embedded: tuple[Operator, Listening],
) -> None:
    """A new server has no roles at first, and refuses every password as it refuses a wrong one."""
    operator, listening = embedded
    for _ in range(2):
        with logging_in(listening, "ann") as answers:
            until(lambda: answers.right["200"] > 5 and answers.right["in"] > 5)
            kill_with_children(postmaster(operator, "shadow"))
            until(lambda: answers.right["503"] > 0 and answers.right["57P03"] > 0)
            recovers(listening, "ann")
        print(answers.right)
        told = {one.splitlines()[-1][:60] for one in answers.right}
        assert told <= {"200", "in", "503", "57P03"}
    assert "login_failed" not in (operator.folder / "err.txt").read_text(), "none is a guess"
    assert login_over_http(listening, "ann", "wrong") == "401"
    assert login_over_the_wire(listening, "ann", "wrong") == "28P01"
    assert login_over_http(listening, "eve", PASSWORD) == "401"
    assert login_over_the_wire(listening, "eve", PASSWORD) == "28P01"


@pytest.mark.long
def test_a_killed_embedded_ledger_is_served_again(embedded: tuple[Operator, Listening]) -> None:
    operator, listening = embedded
    with listening.connect("ann") as connection:
        before = query_over_the_wire(connection)
        os.kill(postmaster(operator, "ledger"), signal.SIGKILL)
        took = recovers(listening, "ann")
        assert query_over_the_wire(connection) > before, "its session goes on"
    print(f"the ledger was back after {took:.1f} s")


class OwnLedger:
    """A ledger on a server that the operator runs."""

    def __init__(self, folder: Path) -> None:
        self.server = EmbeddedPostgres(folder, "own")
        self.server.start()
        with psycopg.connect(self.server.dsn(), autocommit=True) as connection:
            connection.execute("CREATE DATABASE ledger")
        host, port = self.server.address
        with psycopg.connect(self.server.dsn(), autocommit=True) as connection:
            connection.execute("CREATE ROLE keeper LOGIN PASSWORD 'kept'")
            connection.execute("ALTER DATABASE ledger OWNER TO keeper")
        self.dsn = make_conninfo(
            host=host, port=port, user="keeper", password="kept", dbname="ledger"
        )

    @property
    def data(self) -> Path:
        return self.server.home / "data"


@pytest.fixture
def own(tmp_path: Path) -> Iterator[OwnLedger]:
    ledger = OwnLedger(tmp_path)
    try:
        yield ledger
    finally:
        ledger.server.stop()


@pytest.fixture
def beside(tmp_path: Path, own: OwnLedger) -> Iterator[tuple[Operator, Listening]]:
    operator = Operator(tmp_path / "proxy", ("--ledger", own.dsn))
    operator.adopt("ann")
    with operator.serving() as listening:
        yield operator, listening


@pytest.mark.long
def test_the_operators_own_ledger_may_be_away(
    beside: tuple[Operator, Listening], own: OwnLedger
) -> None:
    _, listening = beside
    with listening.connect("ann") as connection:
        first = query_over_the_wire(connection)
        kill_server(own.server)

        def told() -> str:
            with pytest.raises(psycopg.Error) as refused:
                connection.execute(QUESTION)
            assert refused.value.sqlstate == "58000"
            return refused.value.diag.message_primary or ""

        until(lambda: "is away: statements are refused until it is back" in told())
        status, checks = readiness(listening)
        assert status == 503 and checks["checks"]["ledger"] is False
        start_server(own.server)
        took = recovers(listening, "ann")
        assert query_over_the_wire(connection) > first
    print(f"the ledger was back after {took:.1f} s")
    assert ledger_problems(own.dsn) == ()


@pytest.mark.long
def test_a_ledger_that_was_put_back_meanwhile_ends_the_process(
    beside: tuple[Operator, Listening], own: OwnLedger, tmp_path: Path
) -> None:
    operator, listening = beside
    listening.query_over_http("ann")
    kill_server(own.server)
    shutil.copytree(own.data, tmp_path / "copy")
    start_server(own.server)
    recovers(listening, "ann")
    spent = len(rows(own.dsn, "SELECT id FROM ledger.receipt"))
    kill_server(own.server)
    shutil.rmtree(own.data)
    shutil.copytree(tmp_path / "copy", own.data)
    start_server(own.server)
    assert listening.running.process.wait(60) == 1
    told = (operator.folder / "err.txt").read_text()
    assert "the ledger has gone back" in told and "dpproxy ledger accept" in told
    now = rows(own.dsn, "SELECT id FROM ledger.receipt")
    assert len(now) < spent, "nothing was charged in it"


@pytest.mark.long
def test_another_that_took_the_lease_with_other_budgets_ends_the_process(
    beside: tuple[Operator, Listening], own: OwnLedger
) -> None:
    operator, listening = beside
    spent = listening.query_over_http("ann")
    os.kill(listening.running.process.pid, signal.SIGSTOP)
    kill_server(own.server)
    start_server(own.server)
    richer = Operator(operator.folder.parent / "other", operator.options)
    richer.policy.write_text(
        richer.policy.read_text().replace("epsilon: 1000000,", "epsilon: 2e6,")
    )
    operator.copy_key_to(richer)
    with richer.serving():
        os.kill(listening.running.process.pid, signal.SIGCONT)
        assert listening.running.process.wait(60) == 1
    assert "with other budgets" in (operator.folder / "err.txt").read_text()
    assert rows(own.dsn, "SELECT max(id) FROM ledger.receipt") == [(spent,)]


@pytest.mark.long
def test_an_embedded_ledger_that_does_not_start_ends_the_process(
    embedded: tuple[Operator, Listening],
) -> None:
    operator, listening = embedded
    process = postmaster(operator, "ledger")
    control = operator.state / "ledger" / "data" / "global" / "pg_control"
    control.write_bytes(bytes(control.stat().st_size))
    kill_with_children(process)
    assert listening.running.process.wait(90) == 1
    assert "did not start again: see its server.log" in (operator.folder / "err.txt").read_text()


_CLUB = """\
CREATE SCHEMA club;
CREATE TABLE club.members (id int PRIMARY KEY, email text);
CREATE TABLE club.sports (code text PRIMARY KEY, title text);
CREATE VIEW club.sport_list AS SELECT code, title FROM club.sports;
INSERT INTO club.sports VALUES ('run', 'Running');
INSERT INTO club.members VALUES (1, 'p1@x.org');
"""
_CLUB_TABLES = """\
tables:
  club.members: {unit: {member: id}}
  club.sports: public
  club.sport_list: public
"""


@pytest.mark.long
def test_a_rebuilt_shadow_shows_no_view_that_was_defined_over_people(tmp_path: Path) -> None:
    protected = servers().protected
    source = made_database(protected, "club", _CLUB)
    operator = Operator(tmp_path, source=source)
    text = policy_head("club", "best").replace("${DSN}", "${SHOP_DSN}") + _CLUB_TABLES
    operator.policy.write_text(
        f"{text}accept: {{TEMP_FILES_UNLIMITED: of a test, TOTAL_IS_LARGE: of a test}}\n"
    )
    show = "SELECT title FROM club.sport_list"
    try:
        operator.adopt("ann")
        with operator.serving() as listening:
            host, port = listening.wire
            dsn = make_conninfo(host=host, port=port, user="ann", password=PASSWORD, dbname="club")
            with psycopg.connect(dsn) as connection:
                assert connection.execute(show.encode()).fetchall() == [("Running",)]
            with psycopg.connect(protected.dsn("club"), autocommit=True) as owner:
                owner.execute(
                    "CREATE OR REPLACE VIEW club.sport_list AS"
                    " SELECT id::text AS code, email AS title FROM club.members"
                )
            kill_with_children(postmaster(operator, "shadow"))

            def refused() -> bool:
                try:
                    with psycopg.connect(dsn) as connection:
                        shown = connection.execute(show.encode()).fetchall()
                except psycopg.Error as error:
                    return "not what the policy was checked against" in str(error)
                assert shown == [("Running",)]
                return False

            until(refused)
        told = (operator.folder / "err.txt").read_text()
        assert "public_tables_not_copied" in told and "PUBLIC_SHOWS_PEOPLE" in told
        assert "@x.org" not in told
    finally:
        with psycopg.connect(protected.dsn(), autocommit=True) as connection:
            connection.execute("DROP DATABASE club WITH (FORCE)")
