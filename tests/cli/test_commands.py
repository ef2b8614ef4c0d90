"""serve, policy check and explain, against the demo's databases."""

from __future__ import annotations

import io
import json
import re
import signal
import sys
from collections.abc import Iterator
from pathlib import Path

import httpx
import psycopg
import pytest
import structlog
from psycopg.conninfo import make_conninfo

from proxy.cli.main import main
from tests.cli.commands import Done, Serving, dpproxy, serving
from tests.samples import CENSUS_POLICY as _CENSUS
from tests.samples import SHOP_POLICY as _SHOP
from tests.servers_fixture import servers

_PASSWORD = "pass word"


def _sources() -> dict[str, str]:
    return {f"{name.upper()}_DSN": dsn for name, dsn in servers().source_dsns.items()}


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Serving, Path]]:
    folder = tmp_path_factory.mktemp("serve")
    arguments: list[str | Path] = [
        "serve",
        "--policy",
        _SHOP,
        "--policy",
        _CENSUS,
        "--state",
        folder / "state",
    ]
    free = ["--listen", "127.0.0.1:0", "--http", "127.0.0.1:0"]
    state = ("--state", folder / "state")
    adopt = ("ledger", "adopt", "--new", "--policy", _SHOP, "--policy", _CENSUS)
    both = dpproxy(*adopt, *state, environment=_sources())
    assert both.code == 0 and re.findall(r"is the source (\w+)", both.out) == ["shop", "census"]
    added = dpproxy("user", "add", "erin", "--password-stdin", *state, typed=_PASSWORD)
    assert added.code == 0, added.err
    with serving(folder, [*arguments, *free], "/docs\n", _sources()) as running:
        yield running, folder
        assert running.stop() == 0
        assert "closing the listeners" in running.printed


@pytest.mark.every(6)
@pytest.mark.parametrize(
    "command", ["audit", "doctor", "explain", "ledger adopt --new", "prepare", "serve"]
)
def test_a_wrong_policy_is_told_with_its_place(command: str, tmp_path: Path) -> None:
    file = tmp_path / "wrong.yaml"
    file.write_text(_SHOP.read_text(encoding="utf-8") + "more: 1\n", encoding="utf-8")
    statement = ["SELECT 1"] if command == "explain" else []
    words: list[str | Path] = [*command.split(), "--policy", file, *statement]
    done = dpproxy(*words, environment=_sources())
    assert done.code == 1 and "unknown key 'more'" in done.err
    assert "Traceback" not in done.err, done.err


@pytest.mark.long
def test_serve(served: tuple[Serving, Path]) -> None:
    running, folder = served
    wire = re.search(r"PostgreSQL clients: (\S+):(\d+)", running.printed)
    web = re.search(r"(http://\S+)/docs", running.printed)
    assert wire is not None
    assert web is not None
    dsn = make_conninfo(
        host=wire.group(1), port=wire.group(2), user="erin", password=_PASSWORD, dbname="shop"
    )
    with psycopg.connect(dsn) as connection:
        row = connection.execute("SELECT count(*) FROM shop.orders").fetchone()
    assert row is not None
    assert abs(row[0] - 60_000) < 5_000
    body = {"database": "census", "sql": "SELECT count(*) FROM census.adult"}
    answer = httpx.post(f"{web.group(1)}/v1/query", json=body, auth=("erin", _PASSWORD), timeout=60)
    assert abs(answer.json()["rows"][0][0] - 50_000) < 500
    assert httpx.get(f"{web.group(1)}/readyz", timeout=60).json() == {
        "status": "ready",
        "checks": {"protected": True, "ledger": True, "shadow": True},
        "away": {},
        "stuck_sessions": 0,
        "policies": "in force",
    }
    logged = (folder / "err.txt").read_text()
    events = [json.loads(line) for line in logged.splitlines()]
    assert {"request", "session_started"} <= {event["event"] for event in events}
    assert "SELECT" not in logged
    assert _PASSWORD not in logged


@pytest.mark.long
def test_serve_refuses_a_taken_port(served: tuple[Serving, Path], tmp_path: Path) -> None:
    wire = re.search(r"PostgreSQL clients: (\S+)", served[0].printed)
    assert wire is not None
    done = dpproxy(
        *("serve", "--policy", _CENSUS, "--state", tmp_path / "s", "--listen", wire.group(1)),
        *("--http", "127.0.0.1:0"),
        environment=_sources(),
    )
    assert done.code == 1
    assert f"cannot listen on {wire.group(1)}" in done.err


class Here:
    """The command in this process: quicker, and all that it needs where nothing is served."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
        self._monkeypatch = monkeypatch
        self._capsys = capsys

    def __call__(self, environment: dict[str, str], *arguments: str | Path) -> Done:
        for name, value in environment.items():
            self._monkeypatch.setenv(name, value)
        self._monkeypatch.setattr(sys, "argv", ["dpproxy", *map(str, arguments)])
        self._capsys.readouterr()
        before, logs = signal.getsignal(signal.SIGTERM), structlog.get_config()
        try:
            main()
            code: object = 0
        except SystemExit as end:
            code = end.code
        finally:
            signal.signal(signal.SIGTERM, before)
            structlog.configure(**logs)
        assert isinstance(code, int)
        return Done(code, *self._capsys.readouterr())


@pytest.fixture
def here(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Here:
    return Here(monkeypatch, capsys)


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (("--policy", "nothing.yaml"), "nothing.yaml: No such file or directory"),
        (("--policy", _SHOP, "--policy", _SHOP), "two policies are for the same database"),
        (("--policy", _SHOP, "--tls-cert", "x"), "go together"),
        (("--policy", _SHOP, "--tls", "required"), "needs --tls-cert and --tls-key"),
        (("--policy", _SHOP, "--tls-cert", "x", "--tls-key", "x", "--tls", "off"), "contradict"),
        (("--policy", _SHOP, "--listen", "0.0.0.0:0"), "there is no certificate"),
        (("--policy", _SHOP, "--http", "[::]:0"), "or --tls off"),
        # Said explicitly, it goes on to the next thing that is wrong.
        (
            ("--policy", "nothing.yaml", "--listen", "0.0.0.0:0", "--tls", "off"),
            "nothing.yaml: No such",
        ),
        (
            ("--policy", _SHOP, "--tls-cert", _SHOP, "--tls-key", "x"),
            "x: No such file or directory",
        ),
        (
            ("--policy", _SHOP, "--tls-cert", _SHOP, "--tls-key", _SHOP),
            "no certificate with its key",
        ),
        (("--policy", _SHOP, "--listen", "6432"), "not HOST:PORT: 6432"),
        (("--policy", _SHOP, "--ledger", "host=/nothing password=secret"), "cannot be reached"),
    ],
)
def test_what_cannot_be_served(here: Here, arguments: tuple[str, ...], told: str) -> None:
    for option in ("--listen", "--http"):
        if option not in arguments:
            arguments = (*arguments, option, "127.0.0.1:0")
    _assert_reported(here(_sources(), "serve", *arguments), told)


def test_a_name_is_of_one_policy(here: Here, tmp_path: Path) -> None:
    both = ("--policy", _SHOP, "--policy", _CENSUS, "--name", "a", "--state", tmp_path / "state")
    told = "--as and --name are for one policy: give the others by themselves"
    _assert_reported(here(_sources(), "ledger", "adopt", "--new", *both), told)


def test_analysts_that_cannot_be_listed(here: Here) -> None:
    arguments = ("user", "list", "--ledger", "host=/nothing password=secret")
    _assert_reported(here(_sources(), *arguments), "dpproxy: ")


def _assert_reported(done: Done, told: str) -> None:
    assert done.code == 1
    assert told in done.err
    assert "secret" not in done.err
    assert "Traceback" not in done.err


@pytest.mark.parametrize("file", [_SHOP, _CENSUS])
def test_policy_check(here: Here, file: Path) -> None:
    done = here(_sources(), "policy", "check", file)
    assert (done.code, done.err) == (0, "")
    for word in ("aggregate", "95 % error", "discrete Laplace", "smoothed median"):
        assert word in done.out
    told = json.loads(here(_sources(), "policy", "check", file, "--json").out)
    assert told["problems"] == []
    assert len(told["accuracy"]) == sum(
        line.startswith(f"{file.parent.name}.") for line in done.out.splitlines()
    )


def test_policy_check_of_a_bad_one(here: Here, tmp_path: Path) -> None:
    bad = tmp_path / "shop.yaml"
    text = _SHOP.read_text()
    bad.write_text(text.replace("shop.orders:", "shop.order:").replace("status:", "statuss:"))
    done = here(_sources(), "policy", "check", bad)
    assert done.code == 1
    assert done.out == ""
    line = text.splitlines().index("  shop.orders:") + 1
    assert f"{bad}:{line}:3: table 'shop.order' is not in the database" in done.err
    assert "^" in done.err
    assert "hint: did you mean 'shop.orders'?" in done.err
    told = here(_sources(), "policy", "check", bad, "--json")
    assert told.code == 1
    assert json.loads(told.out)["problems"][0]["line"] == line


def test_policy_check_without_its_database(here: Here) -> None:
    nowhere = "host=/nothing user=x password=secret"
    done = here({"SHOP_DSN": nowhere}, "policy", "check", _SHOP)
    assert done.code == 1
    assert "the protected database cannot be reached" in done.err
    assert "secret" not in done.err
    unset = here({"SHOP_DSN": ""}, "policy", "check", _SHOP)
    assert unset.code == 1
    assert "the environment variable 'SHOP_DSN' is not set" in unset.err


def test_version(here: Here) -> None:
    assert re.fullmatch(r"dpproxy \d+\.\d+\.\d+\n", here({}, "--version").out)


def test_explain(here: Here) -> None:
    sql = "SELECT status, count(*) FROM orders GROUP BY status"
    done = here(_sources(), "explain", "--policy", _SHOP, sql)
    assert done.code == 0, done.err
    assert "On shop.orders; protected: a customer with all rows" in done.out
    assert "Nothing was read or charged." in done.out
    assert "remain" not in done.out, "no ledger is known to the command"
    told = json.loads(here(_sources(), "explain", "--policy", _SHOP, "--json", sql).out)
    assert (told["privacy"]["epsilon"], told["remaining"]) == (0.5, None)
    refused = here(_sources(), "explain", "--policy", _SHOP, "SELECT\n  total FROM shop.orders")
    assert refused.code == 1
    assert "LINE 2:   total FROM shop.orders\n                     ^\n" in refused.err
    two = here(_sources(), "explain", "--policy", _SHOP, f"{sql}; SELECT 1")
    assert (two.code, two.out) == (1, "")
    assert f"LINE 1: {sql}; SELECT 1\n{' ' * len(f'LINE 1: {sql}; ')}^\n" in two.err


@pytest.mark.long
def test_explain_evaluates_constants(here: Here) -> None:
    """On a shadow of its own, public tables among them."""
    sql = (
        "SELECT count(*) FROM orders WHERE created_at > now() - interval '30 days' AND product_id ="
        " (SELECT id FROM products WHERE title = 'nothing')"
    )
    done = here(_sources(), "explain", "--policy", _SHOP, sql)
    assert done.code == 0, done.err
    assert "On shop.orders; protected: a customer with all rows" in done.out
    wrong = "SELECT count(*) FROM orders WHERE created_at > to_timestamp('x', 'YYYY')"
    refused = here(_sources(), "explain", "--policy", _SHOP, wrong)
    assert refused.code == 1 and "invalid value" in refused.err


@pytest.mark.parametrize(
    ("sql", "reason"),
    [
        ("SELECT 1", "not a query that names a protected table of the policy"),
        ("SELCT", "not a query that names a protected table of the policy"),
        ("SELCT count(*) FROM shop.orders", "not a query that names a protected table"),
        ("SELECT count(*) FROM nowhere.orders", "not a query that names a protected table"),
        ("COPY (SELECT count(*) FROM shop.orders) TO STDOUT", "explain the SELECT in this"),
        ("EXECUTE q", "explain the prepared statement itself"),
        ("TABLE shop.orders", "rows of the protected table shop.orders cannot be returned"),
        (
            "SELECT * FROM shop.orders LIMIT 0",
            "it needs no row of a protected table, and nothing is charged",
        ),
    ],
)
def test_explain_of_what_has_no_plan(here: Here, sql: str, reason: str) -> None:
    done = here(_sources(), "explain", "--policy", _SHOP, sql)
    assert (done.code, done.out) == (1, "")
    assert reason in done.err
    assert "costs nothing" not in done.err


def test_users_of_a_given_ledger(here: Here, monkeypatch: pytest.MonkeyPatch) -> None:
    pair = servers()
    monkeypatch.setattr(sys, "stdin", io.StringIO(_PASSWORD + "\n"))
    assert (
        here({}, "user", "add", "frank", "--password-stdin", "--ledger", pair.ledger_dsn).code == 0
    )
    pair.match_roles()
    as_frank = make_conninfo(pair.analyst_dsn("shop", "frank"), password=_PASSWORD)
    psycopg.connect(as_frank).close()
    # From the environment, so that the password is in no list of processes.
    environment = {"DPPROXY_LEDGER": pair.ledger_dsn}
    assert "frank" in here(environment, "user", "list").out.split()
    assert here(environment, "user", "remove", "frank").out == "removed frank\n"
    assert "frank" not in here(environment, "user", "list").out.split()
