"""`dpproxy demo`, from a bare state directory, and the lines that it prints."""

from __future__ import annotations

import contextlib
import json
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from decimal import Decimal
from functools import partial
from pathlib import Path

import psycopg
import pytest
from psycopg.rows import dict_row

from proxy.postgres.embedded import EmbeddedPostgres
from tests.cli.commands import Serving, dpproxy, serving
from tests.cli.demo_statements import Row, contradictions, demo_statements
from tests.machine_speed import allowed_wait
from tests.waiting import until

_READY = "Ctrl-C stops everything."
_START = allowed_wait(15)
_SEED = 27


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("demo")


@pytest.fixture(scope="module")
def demo(folder: Path) -> Iterator[Serving]:
    """With the default ports taken, unless they are somebody else's already."""
    taken = []
    for port in (6432, 8432):
        holder = socket.socket()
        try:
            holder.bind(("127.0.0.1", port))
            holder.listen()
        except OSError:
            pass
        taken.append(holder)
    arguments: list[str | Path] = ["demo", "--state", folder / "state"]
    with serving(folder, arguments, _READY) as running:
        yield running
        assert running.stop(signal.SIGINT) == 0
        assert "stopping the PostgreSQL servers" in running.printed
        logged = (folder / "err.txt").read_text().splitlines()
        events = {json.loads(line)["event"] for line in logged}
        assert events <= {"budget_nearly_spent"}, "a test below spends all of one"
    for holder in taken:
        holder.close()


def _line(demo: Serving, start: str) -> str:
    (line,) = re.findall(rf"^    (.*{start}.*)$", demo.printed, re.MULTILINE)
    return str(line)


def _ran(line: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        ["/bin/sh", "-c", line],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
        env={**os.environ, "PAGER": "cat"},
    )


def _run(line: str) -> str:
    done = _ran(line)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.long
@pytest.mark.timed
def test_it_starts_in_time(tmp_path: Path) -> None:
    """Within 15 s from nothing. The disk may still be busy with what the tests before this one wrote: so the
    fastest of three starts counts."""
    seconds: list[float] = []
    for start in ("first", "second", "third"):
        there = tmp_path / start
        there.mkdir()
        arguments: list[str | Path] = ["demo", "--state", there / "state"]
        with serving(there, arguments, _READY, is_cold=True) as other:
            seconds.append(other.ready_seconds)
            other.stop(signal.SIGINT)
        if min(seconds) < _START:
            return
    assert min(seconds) < _START, seconds


def test_taken_ports_are_reported(demo: Serving) -> None:
    assert "port 6432 is taken: PostgreSQL clients on " in demo.printed
    assert "port 8432 is taken: HTTP on " in demo.printed


def test_the_psql_line(demo: Serving) -> None:
    if shutil.which("psql") is None:
        pytest.skip("there is no psql")
    printed = _run(_line(demo, 'psql -h.*"SELECT p.category'))
    lines = [line.split("|") for line in printed.splitlines() if line.count("|") == 2][1:]
    assert len(lines) == 7
    for _, revenue, error in lines:  # about 500,000 each: a few percent
        assert 0 < float(error) < float(revenue) / 10
        assert float(revenue) % 100 == 0, "rounded"


def test_the_line_that_explains(demo: Serving) -> None:
    if shutil.which("psql") is None:
        pytest.skip("there is no psql")
    printed = _run(_line(demo, 'psql -h.*"EXPLAIN'))
    assert "Differentially private answer" in printed and "sum(total): +-" in printed
    assert "Nothing was read or charged." in printed


def test_the_line_that_is_refused(demo: Serving) -> None:
    if shutil.which("psql") is None:
        pytest.skip("there is no psql")
    done = _ran(_line(demo, r'psql -h.*"SELECT \*'))
    assert done.returncode != 0
    assert "rows of the protected table shop.orders cannot be returned" in done.stderr
    assert "HINT:  Use aggregates" in done.stderr


def test_the_curl_line(demo: Serving) -> None:
    if shutil.which("curl") is None:
        pytest.skip("there is no curl")
    body = json.loads(_run(_line(demo, "curl")))
    assert [column["name"] for column in body["columns"]] == ["state", "count", "error_95"]
    assert len(body["rows"]) == 10
    assert body["privacy"]["epsilon"] == 0.5


def test_the_budget_is_enough_for_a_newcomer(demo: Serving) -> None:
    """The rest of the budget is as many answers as it says; one statement more is refused."""
    counts = re.search(r"in statements a month: (\d+) of census and (\d+) of shop", demo.printed)
    assert counts is not None
    assert min(map(int, counts.groups())) >= 20
    dsn = _analyst_dsn(demo, "shop")
    with psycopg.connect(dsn, autocommit=True) as connection:
        left = connection.execute("SELECT min(epsilon_remaining) FROM dp.budget").fetchone()
        assert left is not None
        for number in range(int(left[0] / Decimal("0.5"))):
            connection.execute(f"SELECT count(*) FROM shop.orders WHERE total > {number}")
        with pytest.raises(psycopg.errors.ConfigurationLimitExceeded):
            connection.execute("SELECT count(*) FROM shop.orders WHERE total > 400")


def _without_limit(folder: Path) -> None:
    """Budgets alone are other than in the delivered demo: they end after some fifty statements."""
    ledger = EmbeddedPostgres(folder / "state", "ledger")
    assert ledger.attach()
    with psycopg.connect(ledger.dsn("dpproxy_ledger")) as connection:
        connection.execute("UPDATE ledger.allowance SET epsilon = 100000, delta = 1")


def _analyst_dsn(demo: Serving, database: str) -> str:
    address = re.search(r"-h (\S+) -p (\d+) -U analyst shop", demo.printed)
    password = re.search(r"password (\S+)\. Copy", demo.printed)
    assert address is not None and password is not None
    host, port = address.groups()
    return f"host={host} port={port} user=analyst password={password[1]} dbname={database}"


@pytest.mark.parametrize("count", [12, pytest.param(200, marks=pytest.mark.long)])
def test_no_answer_contradicts_another(demo: Serving, folder: Path, count: int) -> None:
    """Of statements as an analyst writes them. What is refused says what to run instead."""
    _without_limit(folder)
    protected = EmbeddedPostgres(folder / "state", "protected")
    assert protected.attach()
    wrong: list[str] = []
    refused = 0
    heard: list[str] = []
    with contextlib.ExitStack() as stack:
        asked, exact = {}, {}
        for database in ("census", "shop"):
            dsn = _analyst_dsn(demo, database)
            asked[database] = stack.enter_context(
                psycopg.connect(dsn, autocommit=True, row_factory=dict_row)
            )
            asked[database].add_notice_handler(
                lambda said: heard.append(f"{said.message_primary} {said.message_detail}")
            )
            exact[database] = stack.enter_context(
                psycopg.connect(protected.dsn(database), options="-c TimeZone=UTC")
            )
        for statement in demo_statements(_SEED, count):
            heard.clear()
            try:
                cursor = asked[statement.database].execute(statement.sql.encode())
            except psycopg.Error as error:
                assert error.diag.message_hint and error.sqlstate != "58000", statement.sql
                refused += 1
                continue
            rows: list[Row] = list(cursor.fetchall())
            text = (statement.groups or "SELECT WHERE false").encode()
            groups = set(exact[statement.database].execute(text).fetchall())
            found = [*contradictions(statement, rows, groups, heard)]
            wrong += [f"{statement.sql}: {one}" for one in found]
    assert wrong == []
    assert refused <= max(1, count // 20)


def test_the_python_line(demo: Serving) -> None:
    assert re.fullmatch(r"\(Decimal\('[\d.]+'\), \d+\)\n", _run(_line(demo, "import psycopg")))


@pytest.mark.long
def test_another_one_in_the_same_folder_gives_way(demo: Serving, folder: Path) -> None:
    done = dpproxy("demo", "--state", folder / "state")
    assert done.code == 1
    assert "another dpproxy runs in" in done.err


def _has_role(state: Path, name: str) -> bool:
    """In the running shadow, which follows the ledger within a second or two."""
    shadow = EmbeddedPostgres(state, "shadow")
    assert shadow.attach()
    with psycopg.connect(shadow.dsn()) as connection:
        found = connection.execute("SELECT FROM pg_roles WHERE rolname = %s", (name,))
        return found.fetchone() is not None


@pytest.mark.long
def test_users_of_a_running_demo(demo: Serving, folder: Path) -> None:
    state = ("--state", folder / "state")
    assert dpproxy("user", "list", *state).out == "analyst\n"
    added = dpproxy("user", "add", "carol", "--password-stdin", *state, typed="pass word\n")
    assert (added.code, added.out) == (0, "added carol\n")
    again = dpproxy("user", "add", "carol", "--password-stdin", *state, typed="another one\n")
    assert (again.code, again.err) == (1, 'dpproxy: there is already an analyst "carol"\n')
    assert dpproxy("user", "list", *state).out == "analyst\ncarol\n"
    address = re.search(r"(http://127.0.0.1:\d+)/docs", demo.printed)
    assert address is not None
    until(partial(_has_role, folder / "state", "carol"))
    if shutil.which("curl") is not None:
        url = f"{address.group(1)}/v1/databases"
        assert _run(f"curl -s -u 'carol:pass word' {url}") == '{"databases":["census","shop"]}'
    assert dpproxy("user", "remove", "carol", *state).out == "removed carol\n"
    gone = dpproxy("user", "remove", "carol", *state)
    assert (gone.code, gone.err) == (1, 'dpproxy: there is no analyst "carol"\n')
    for command, name in (("add", "dave"), ("password", "analyst")):
        for typed in ("\n", "seven 7\n"):
            short = dpproxy("user", command, name, "--password-stdin", *state, typed=typed)
            told = "dpproxy: the password is shorter than 8 characters\n"
            assert (short.code, short.err) == (1, told)
    assert dpproxy("user", "list", *state).out == "analyst\n"


@pytest.mark.long
def test_check() -> None:
    done = dpproxy("demo", "--check")
    assert done.code == 0, done.out + done.err
    assert "all checks passed" in done.out
    lines = [line for line in done.out.splitlines() if re.match(r"\d  (wire|http)", line)]
    assert len(lines) == 8
    assert sum("refused (42501)" in line for line in lines) == 2
    assert "stopping the PostgreSQL servers" in done.out


def test_a_state_without_servers(tmp_path: Path) -> None:
    done = dpproxy("user", "list", "--state", tmp_path / "nothing")
    assert done.code == 1
    assert "there is no ledger in" in done.err
    assert not (tmp_path / "nothing").exists()


@pytest.mark.long
def test_not_without_assertions(tmp_path: Path) -> None:
    command = ["-O", "-c", "from proxy.cli.main import main; main()", "demo"]
    done = subprocess.run(
        [sys.executable, *command],
        capture_output=True,
        text=True,
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])},
        check=False,
    )
    assert done.returncode == 1
    assert "without -O" in done.stderr
