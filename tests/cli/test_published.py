"""`publish:` through the program: checked with its place in the file, released by `serve`, by hand, by two
processes."""

from __future__ import annotations

import json
import signal
from pathlib import Path

import psycopg
import pytest
from psycopg.conninfo import make_conninfo

from tests.cli.commands import dpproxy
from tests.cli.operator_at_work import Listening, Operator
from tests.servers_fixture import servers
from tests.waiting import until

_PUBLISH = """\
publish:
  - name: by_state
    sql: |
      SELECT state, count(*) AS customers
      FROM shop.customers GROUP BY state
    every: 24h
    epsilon: 2
"""
# What is wrong is told at its statement.
_BAD = """\
publish:
  - {name: a, sql: SELECT 1 AS one, every: 24h, epsilon: 1}
  - {name: b, sql: SELECT count(*) FROM shop.nothing, every: 24h, epsilon: 1}
  - {name: c, sql: "SELECT count(*), count(*) FROM shop.customers", every: 24h, epsilon: 1}
  - {name: d, sql: SELECT count(*) + 1 FROM shop.customers, every: 24h, epsilon: 1}
  - {name: e, sql: "SELECT * FROM shop.customers", every: 24h, epsilon: 1}
  - {name: f, sql: "SELECT count(*) AS n FROM shop.customers GROUP BY states", every: 24h, epsilon: 1}
  - {name: g, sql: "SELECT count(*) AS n FROM shop.customers; SELECT 1", every: 24h, epsilon: 1}
  - {name: h, sql: "EXPLAIN SELECT count(*) AS n FROM shop.customers", every: 24h, epsilon: 1}
  - {name: i, sql: "SELECT ROW(1, count(*)) AS n FROM shop.customers", every: 24h, epsilon: 1}
  - {name: j, sql: "SELECT count(*) AS n FROM shop.customers WHERE state = $1", every: 24h, epsilon: 1}
  - name: k
    sql: SELECT upper(state, 1) AS n, count(*) AS c FROM shop.customers GROUP BY 1
    every: 24h
    epsilon: 1
  - {name: l, sql: "SELECT count(*) AS n, epsilon_spent FROM shop.customers, dp.budget", every: 24h, epsilon: 1}
  - {name: m, sql: "SELECT count(*) AS n, 1 AS n_error FROM shop.customers", every: 24h, epsilon: 1}
  - {name: n, sql: "INSERT INTO x SELECT count(*) AS n FROM shop.customers", every: 24h, epsilon: 1}
  - {name: o, sql: SELECT count(*) AS n FROM shop.customers, every: 24h, epsilon: 100}
  - name: p
    sql: SELECT state, count(*) AS n FROM shop.customers GROUP BY 1
    every: 24h
    epsilon: 1
    ranges: day
    max_days_per_unit: 1
"""
_DAYS = """\
  - name: days
    sql: |
      SELECT birth_date AS day, count(*) AS born FROM shop.customers
      WHERE birth_date >= '1990-01-01' AND birth_date < '1991-01-01' GROUP BY 1
    every: 7d
    epsilon: 2
    ranges: day
    max_days_per_unit: 1
"""
_EXPECTED = Path(__file__).parent / "golden_publish.json"


def _operator(folder: Path, publish: str = _PUBLISH, total: str = "10") -> Operator:
    found = Operator(folder, analysts={"ann": 5})
    text = found.policy.read_text().replace(
        "total: {epsilon: 1000000,", f"total: {{epsilon: {total},"
    )
    found.policy.write_text(text + publish)
    return found


@pytest.mark.long
def test_what_cannot_be_published_is_told_with_its_place(tmp_path: Path, bless: bool) -> None:
    here = _operator(tmp_path, _BAD)
    done = dpproxy("policy", "check", here.policy, "--json", environment=here.environment)
    assert done.code == 1, done.out + done.err
    found = json.dumps(json.loads(done.out)["problems"], indent=1) + "\n"
    if bless:
        _EXPECTED.write_text(found)
    assert found == _EXPECTED.read_text()
    good = _operator(tmp_path / "good", _PUBLISH + _DAYS)
    columns = "columns: {birth_date: {bounds: [1920-01-01, 2020-01-01]}, "
    good.policy.write_text(good.policy.read_text().replace("columns: {", columns))
    done = dpproxy("policy", "check", good.policy, environment=good.environment)
    assert done.code == 0, done.out + done.err
    assert "published.days: 95 % errors, in brackets without ranges: count(*) a day +-" in done.out


def _rows(listening: Listening) -> list[tuple[object, ...]] | None:
    with listening.connect("ann") as connection:
        try:
            return connection.execute("SELECT * FROM published.by_state ORDER BY 1").fetchall()
        except psycopg.errors.UndefinedTable:
            return None


def _comment(listening: Listening) -> object:
    with listening.connect("ann") as connection:
        return connection.execute(
            "SELECT obj_description('published.by_state'::regclass)"
        ).fetchone()


@pytest.mark.long  # it starts ten processes
def test_served_killed_and_released_by_hand(tmp_path: Path) -> None:
    here = _operator(tmp_path)
    here.adopt("ann")
    listed = here.run("publish", "list", "--policy", here.policy).out
    assert "published.by_state" in listed and "never" in listed and "due" in listed
    with here.serving() as running:
        until(lambda: _rows(running) is not None)
        first = _rows(running)
        body = running.over_http(
            "ann", "SELECT state, customers FROM published.by_state ORDER BY 1"
        )
        assert len(body["rows"]) == 2 and body["privacy"]["epsilon"] == 0
        body = running.over_http(
            "ann", "SELECT state, count(*) AS c FROM shop.customers GROUP BY 1 ORDER BY 1"
        )
        assert body["privacy"]["source"] == "published", body
        assert body["privacy"]["epsilon"] == 0
        assert [row[1] for row in body["rows"]] == [row[1] for row in first or ()]
        with running.connect("ann") as connection:
            budget = connection.execute(
                "SELECT analyst, epsilon_limit, epsilon_spent FROM dp.budget"
            ).fetchall()
        assert budget == [("ann", 5, 0), ("(everybody together)", 10, 2), ("(published)", None, 2)]
        running.running.stop(signal.SIGKILL)
    with here.serving() as running:
        assert _rows(running) == first, "there before anybody logs in"
        comment = _comment(running)  # of the time: two draws may be equal
        done = here.run("publish", "--policy", here.policy, "--now", "by_state").out
        assert "released published.by_state: epsilon 2 charged to the shared budget" in done
        assert "epsilon 6 of it is left" in done
        until(lambda: _comment(running) != comment)
    for _ in range(3):
        here.run("publish", "--policy", here.policy, "--now", "by_state")
    refused = dpproxy(
        *("publish", "--policy", here.policy, "--now", "by_state", "--state", here.state),
        environment=here.environment,
    )
    assert refused.code == 1 and "does not cover epsilon 2" in refused.err
    assert "stale since" in here.run("publish", "list", "--policy", here.policy).out
    shown = here.run("ledger", "show").out
    assert "published.by_state: released 20" in shown and "STALE since" in shown
    assert here.run("ledger", "verify").out.strip() == "all checks passed"


@pytest.mark.long
def test_two_processes_release_once(tmp_path: Path) -> None:
    with psycopg.connect(servers().ledger_dsn, autocommit=True) as server:
        server.execute("CREATE DATABASE published_by_two")
        dsn = make_conninfo(servers().ledger_dsn, dbname="published_by_two")
        try:
            both = []
            for number in ("1", "2"):
                operator = _operator(tmp_path / number)
                operator.options = ("--ledger", dsn)
                both.append(operator)
            both[0].adopt("ann")
            both[0].give_key_to(both[1:])
            with both[0].serving() as one, both[1].serving() as two:
                until(lambda: _rows(one) is not None and _rows(two) is not None)
                assert _rows(one) == _rows(two)
            with psycopg.connect(dsn) as connection:
                found = connection.execute(
                    "SELECT analyst, epsilon::float8 FROM ledger.receipt"
                ).fetchall()
            assert found == [("(published)", 2.0)]
        finally:
            server.execute("DROP DATABASE published_by_two WITH (FORCE)")
