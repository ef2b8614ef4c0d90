"""`dpproxy serve` shows metrics on a listener of their own and to administrators, and nowhere else; its status
to administrators and to its own user."""

from __future__ import annotations

import json
import re
import socket
import stat
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import httpx
import psycopg
import pytest
from psycopg.conninfo import make_conninfo

from proxy.servers.metrics import FAMILIES
from tests.cli.commands import COMMAND, Serving, dpproxy, serving
from tests.samples import SHOP_POLICY
from tests.servers_fixture import servers
from tests.waiting import until

_SECRET = "0123456789abcdef" * 4
_PASSWORD = "pass word"


@dataclass(slots=True)
class Served:
    running: Serving
    folder: Path

    def address(self, named: str) -> str:
        found = re.search(rf"{named}: (http://[0-9.]+:\d+)", self.running.printed)
        assert found is not None, self.running.printed
        return found[1]


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    folder = tmp_path_factory.mktemp("metrics")
    of = ("--state", folder / "state")
    sources = {"SHOP_DSN": servers().source_dsns["shop"]}
    adopted = dpproxy("ledger", "adopt", "--new", "--policy", SHOP_POLICY, *of, environment=sources)
    assert adopted.code == 0, adopted.err
    assert dpproxy("user", "add", "erin", "--password-stdin", *of, typed=_PASSWORD).code == 0
    secrets = folder / "secrets"
    secrets.write_text(f"prometheus {_SECRET}\n")
    secrets.chmod(0o600)
    arguments: list[str | Path] = ["serve", "--policy", SHOP_POLICY, *of]
    for option in ("--listen", "--http", "--admin", "--metrics"):
        arguments += [option, "127.0.0.1:0"]
    arguments += ["--admin-secrets", secrets]
    notified = folder / "notified"
    sources["NOTIFY_SOCKET"] = str(notified)
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as manager:
        manager.bind(str(notified))
        with serving(folder, arguments, "/metrics\n", sources) as running:
            manager.settimeout(60)
            assert manager.recv(99) == b"READY=1", "systemctl start waits for it"
            yield Served(running, folder)
            assert running.stop() == 0


def _text(address: str, headers: dict[str, str] | None = None) -> str:
    answer = httpx.get(f"{address}/metrics", headers=headers, timeout=60)
    assert answer.status_code == 200
    assert answer.headers["content-type"] == "text/plain; version=0.0.4; charset=utf-8"
    return answer.text


def test_a_listener_of_its_own_has_metrics_and_health_alone(served: Served) -> None:
    address = served.address("metrics")
    until(lambda: "dpproxy_queries_total" in _text(address))
    told = set(re.findall(r"^# TYPE (\S+)", _text(address), re.MULTILINE))
    assert told <= set(FAMILIES) and len(told) > 20
    assert 'dpproxy_ready{part="shadow"} 1.0' in _text(address)
    assert httpx.get(f"{address}/healthz").status_code == 200
    assert httpx.get(f"{address}/readyz").json()["status"] == "ready"
    for path in ("/docs", "/openapi.json", "/v1/databases", "/admin/v1/users", "/"):
        assert httpx.get(address + path, auth=("erin", _PASSWORD)).status_code == 404, path


def test_administrators_have_them_with_their_secret(served: Served) -> None:
    address = served.address("administrators")
    assert httpx.get(f"{address}/metrics", timeout=60).status_code == 401
    wrong = {"Authorization": f"Bearer {_SECRET[::-1]}"}
    assert httpx.get(f"{address}/metrics", headers=wrong, timeout=60).status_code == 401
    told = _text(address, headers={"Authorization": f"Bearer {_SECRET}"})
    assert "dpproxy_build_info" in told


def test_analysts_have_none(served: Served) -> None:
    address = served.address("HTTP")
    for more in ({}, {"Authorization": f"Bearer {_SECRET}"}):
        assert httpx.get(f"{address}/metrics", headers=more, timeout=60).status_code == 404
    answer = httpx.get(f"{address}/metrics", auth=("erin", _PASSWORD), timeout=60)
    assert answer.status_code == 404 and "dpproxy_" not in answer.text


def test_what_is_told_is_as_of_the_last_period(served: Served) -> None:
    """The listener's own period is 15 s: a statement is not told of in the next few."""
    address, web = served.address("metrics"), served.address("HTTP")
    counted = 'dpproxy_queries_total{database="shop",listener="http",outcome="answered"}'

    def count() -> float:
        (found,) = re.findall(rf"^{re.escape(counted)} (\S+)$", _text(address), re.MULTILINE)
        return float(found)

    before = count()
    changes: list[float] = []
    for _ in range(8):
        body = {"database": "shop", "sql": "SELECT count(*) FROM shop.orders"}
        told = httpx.post(f"{web}/v1/query", json=body, auth=("erin", _PASSWORD), timeout=60)
        assert told.status_code == 200
        if (now := count()) != before:
            changes.append(now)
            before = now
    assert len(changes) <= 1, "eight statements within a second or so are not told one by one"


@pytest.mark.parametrize("more", [(), ("--tls", "off")])
def test_a_network_needs_a_certificate(more: tuple[str, ...]) -> None:
    done = dpproxy("serve", "--policy", SHOP_POLICY, "--metrics", "0.0.0.0:0", *more)
    assert done.code == 1 and "0.0.0.0:0 can be reached from other machines" in done.err


def _status(served: Served, *more: str | Path, code: int = 0) -> str:
    done = dpproxy("status", *more)
    assert done.code == code, done.err
    return done.out if code == 0 else done.err


def _charge(served: Served) -> None:
    body = {"database": "shop", "sql": "SELECT count(*) FROM shop.orders WHERE quantity > 3"}
    url = f"{served.address('HTTP')}/v1/query"
    assert httpx.post(url, json=body, auth=("erin", _PASSWORD), timeout=60).status_code == 200


def test_who_waits_for_a_start_reads_what_there_is_not_yet(tmp_path: Path) -> None:
    command = [*COMMAND, "status", "--wait", "ready", "--state", str(tmp_path)]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as waiting:
        assert waiting.stderr is not None
        said = waiting.stderr.readline()
        waiting.kill()
    assert said.startswith(f"waiting: nothing serves in {tmp_path} ("), said


def test_status_by_the_state_folder_is_that_of_the_administrators(served: Served) -> None:
    _charge(served)
    by_folder = json.loads(_status(served, "--state", served.folder / "state", "--json"))
    admin, secret = served.address("administrators"), {"Authorization": f"Bearer {_SECRET}"}
    over_http = httpx.get(f"{admin}/admin/v1/status", headers=secret, timeout=60).json()
    moving = ("up_seconds", "databases")
    assert {k: v for k, v in by_folder.items() if k not in moving} == {
        k: v for k, v in over_http.items() if k not in moving
    }
    (shop,), (worker,) = by_folder["databases"], by_folder["workers"]
    assert by_folder["state"] == "ready" and shop["shadow"] and shop["protected"] and shop["ledger"]
    assert worker["statements"] >= 1 and worker["pid"] > 0 and worker["restarts"] == 0
    assert by_folder["ledger"]["last_receipt"] >= 1
    assert by_folder["ledger"]["charge_milliseconds"] > 0
    versions = (
        shop["postgresql"],
        by_folder["ledger"]["postgresql"],
        by_folder["shadow"]["postgresql"],
    )
    assert all(re.fullmatch(r"\d+\.\d+", one) for one in versions), versions
    assert shop["is_policy_taken"] and re.fullmatch("[0-9a-f]{64}", shop["policy"])
    assert shop["budgets_nearly_spent"] == [] and shop["analysts_nearly_spent"] == 0


def test_status_names_nothing_that_is_made_of_rows_or_of_a_person(served: Served) -> None:
    told = _status(served, "--state", served.folder / "state", "--json")
    assert "erin" not in told and "SELECT" not in told and "password" not in told


def test_status_as_text_over_the_network(served: Served, tmp_path: Path) -> None:
    file = tmp_path / "secret"
    file.write_text(f"{_SECRET}\n")
    _charge(served)
    admin = served.address("administrators")
    lines = _status(served, "--admin", admin, "--secret-file", file).splitlines()
    assert re.fullmatch(r"dpproxy \S+, up .+, ready", lines[0])
    assert any(
        re.match(r"shop +ok +\d+ of \d+ +ok +\d+ of \d+ +ok +[0-9a-f]{8} ", one) for one in lines
    )
    assert any(re.match(r"ledger ok, last receipt \d+, [\d.]+ ms a charge", one) for one in lines)
    assert _status(served, "--admin", admin, "--secret-file", file, "--wait", "ready")


def test_analysts_see_what_concerns_themselves(served: Served) -> None:
    found = re.search(r"PostgreSQL clients: (\S+):(\d+)", served.running.printed)
    assert found is not None, served.running.printed
    of = make_conninfo(host=found[1], port=found[2], user="erin", password=_PASSWORD, dbname="shop")
    asked = "SELECT database, version, policy, is_draining, own_sessions, own_session_limit FROM dp.status"
    with psycopg.connect(of, autocommit=True) as one, psycopg.connect(of, autocommit=True):
        (row,) = one.execute(asked).fetchall()
        told = json.loads(_status(served, "--state", served.folder / "state", "--json"))
        policy = told["databases"][0]["policy"]
        assert row == ("shop", told["version"], policy, False, 2, 24)
        beside = "SELECT s.statements_waiting, count(*) FROM shop.orders o, dp.status s GROUP BY 1"
        with pytest.raises(psycopg.Error):
            one.execute(beside)
        assert one.execute(
            "SELECT sum(own_sessions) FROM dp.status WHERE NOT is_draining"
        ).fetchone() == (2,)


def test_who_may_not_ask_is_told_why(served: Served, tmp_path: Path) -> None:
    file, other = tmp_path / "secret", tmp_path / "other"
    file.write_text(_SECRET[::-1])
    other.write_text("name and secret")
    admin = served.address("administrators")
    for more, said in (
        ((admin, file), "does not know that secret"),
        ((admin, other), "the secret alone"),
        ((admin, tmp_path / "none"), "No such file"),
        (("http://192.0.2.1:1", file), "in plain text"),
        (("ftp://here", file), "not a URL"),
        (("http://127.0.0.1:1", file), "does not answer"),
        ((served.address("metrics"), file), "answers 404"),
    ):
        url, secret = more
        assert said in _status(served, "--admin", url, "--secret-file", secret, code=1), said
    assert "--secret-file" in _status(served, "--admin", admin, code=1)
    assert "nothing serves" in _status(served, "--state", tmp_path / "empty", code=1)
    assert httpx.get(f"{admin}/admin/v1/status", timeout=60).status_code == 401


def test_the_control_socket_is_its_users_alone(served: Served) -> None:
    mode = (served.folder / "state" / "control").stat().st_mode
    assert stat.S_ISSOCK(mode) and stat.S_IMODE(mode) == 0o600
