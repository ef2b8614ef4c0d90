"""`dpproxy serve --workers 2`: clients see one server, whichever worker they reach."""

from __future__ import annotations

import contextlib
import json
import os
import re
import signal
import socket
import time
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import httpx
import psycopg
import pytest

from proxy.servers.login_gate import LoginDelay
from tests.cli.commands import dpproxy
from tests.cli.operator_at_work import PASSWORD, QUESTION, Listening, Operator, query_over_the_wire
from tests.cli.recovery import kill_with_children, postmaster, sleeping, was_started_again
from tests.waiting import until

_SECRET = "0123456789abcdef" * 4
_ANALYSTS = ("ann", "bob", "cid")


@dataclass(slots=True)
class Office:
    """Two workers, and clients of them."""

    operator: Operator
    listening: Listening

    def address(self, line: str) -> str:
        found = re.search(rf"^{line}: (http://[0-9.:]+)", self.listening.running.printed, re.M)
        assert found is not None, self.listening.running.printed
        return found[1]

    def events(self, name: str) -> list[dict[str, Any]]:
        lines = (self.operator.folder / "err.txt").read_text().splitlines()
        found = [json.loads(line) for line in lines if line.startswith("{")]
        return [one for one in found if one["event"] == name]

    def status(self) -> dict[str, Any]:
        return dict(json.loads(self.operator.run("status", "--json").out))

    def administer(self, method: str, path: str, body: Any = None) -> Any:
        answer = httpx.request(
            method,
            f"{self.address('administrators')}/admin/v1{path}",
            json=body,
            headers={"Authorization": f"Bearer {_SECRET}"},
            timeout=60,
        )
        assert answer.is_success, answer.text
        return answer.json()

    def metrics(self) -> dict[str, float]:
        text = httpx.get(f"{self.address('metrics')}/metrics", timeout=60).text
        lines = [line.rpartition(" ") for line in text.splitlines() if not line.startswith("#")]
        return {name: float(value) for name, _, value in lines}

    def sleeping(self) -> int:
        return sleeping(self.operator.state, "shadow", "workers/2/shadow")

    def worker_pids(self) -> dict[int, int]:
        return {one["worker"]: one["pid"] for one in self.status()["workers"]}

    @contextlib.contextmanager
    def at_both(self, name: str = "ann", each: int = 1) -> Iterator[list[psycopg.Connection]]:
        """Connections of which so many, at least, are at each worker."""
        with contextlib.ExitStack() as open_ones:
            found: list[psycopg.Connection] = []
            while min(Counter(self.workers_of(name)).get(one, 0) for one in (1, 2)) < each:
                assert len(found) < 30, "they all come to one worker"
                found.append(open_ones.enter_context(self.listening.connect(name)))
            yield found

    def lets_in(self, name: str) -> bool:
        """Whether both workers know the person, and the password."""
        with contextlib.suppress(psycopg.OperationalError), self.at_both(name):
            return True
        return False

    def workers_of(self, name: str) -> list[int]:
        """Of the sessions of an analyst. A session's number tells its worker."""
        listed = self.administer("GET", "/sessions")["sessions"]
        return [2 - one["number"] % 2 for one in listed if one["analyst"] == name]


@contextlib.contextmanager
def served(folder: Path, *more: str) -> Iterator[Office]:
    operator = Operator(folder)
    operator.adopt(*_ANALYSTS)
    secrets = folder / "secrets"
    secrets.touch(mode=0o600)
    secrets.write_text(f"console {_SECRET}\n")
    options = (
        "--workers",
        "2",
        "--sessions",
        "40",
        "--mcp",
        "--admin",
        "127.0.0.1:0",
        "--admin-secrets",
        secrets,
    )
    with operator.serving(more=(*options, "--metrics", "127.0.0.1:0", *more)) as listening:
        until(lambda: "metrics:" in listening.running.printed)
        yield Office(operator, listening)


@pytest.fixture(scope="module")
def office(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Office]:
    with served(tmp_path_factory.mktemp("workers"), "--drain-delay", "30") as found:
        yield found


def test_both_answer_and_every_number_is_of_both(office: Office) -> None:
    with office.at_both(each=2) as connections:
        receipts = [query_over_the_wire(one) for one in connections]
        receipts += [office.listening.query_over_http("bob") for _ in range(4)]
        assert sorted(receipts) == list(range(1, len(receipts) + 1))
        told = office.status()
        assert told["state"] == "ready" and told["ledger"]["last_receipt"] == len(receipts)
        workers = told["workers"]
        assert [one["worker"] for one in workers] == [1, 2]
        assert sum(one["sessions"] for one in workers) == len(connections)
        assert sum(one["statements"] for one in workers) == len(receipts)
        assert all(one["sessions"] > 0 and one["restarts"] == 0 for one in workers)
        assert len({one["pid"] for one in workers} | {office.listening.running.process.pid}) == 3
        assert told["databases"][0]["protected_pool"]["limit"] == 8, "of both together"
        assert office.administer("GET", "/status")["workers"] == workers
        lines = office.operator.run("status").out.splitlines()
        assert [line.split()[1] for line in lines if re.match(r"[12] ", line)] == [
            str(one["pid"]) for one in workers
        ]
        numbers = [one["number"] for one in office.administer("GET", "/sessions")["sessions"]]
        assert len(set(numbers)) == len(connections)
        own = connections[0].execute("SELECT own_sessions FROM dp.status").fetchone()
        assert own == (len(connections),)
        told_by_shadow = connections[0].execute("SHOW max_connections").fetchone()
        assert told_by_shadow == ("160",), "for 40 sessions, and what is beside them"


def test_metrics_are_sums(office: Office) -> None:
    told = office.metrics()
    for worker in (1, 2):
        assert told[f'dpproxy_up_since_seconds{{worker="{worker}"}}'] > 0
        assert told[f'dpproxy_worker_restarts_total{{worker="{worker}"}}'] == 0
    assert told['dpproxy_pool_limit{database="shop",pool="protected"}'] == 8
    assert told['dpproxy_ready{part="shadow"}'] == told['dpproxy_ready{part="accepting"}'] == 1


def test_a_cancel_request_reaches_its_session(office: Office) -> None:
    """Each request is a connection of its own, half of which come to the other worker."""
    with office.at_both(each=3) as connections, ThreadPoolExecutor(len(connections)) as pool:

        def sleep(connection: psycopg.Connection) -> None:
            with pytest.raises(psycopg.errors.QueryCanceled, match="user request"):
                connection.execute("SELECT pg_sleep(250)")

        running = [pool.submit(sleep, one) for one in connections]
        until(lambda: office.sleeping() == len(connections))
        for one in connections:
            one.cancel()
        for asked in running:
            asked.result(60)


def test_wrong_passwords_are_counted_together(office: Office) -> None:
    """As by one process: each delay is twice the one before."""
    host, port = office.listening.wire
    for _ in range(3):
        with pytest.raises(psycopg.OperationalError, match="password"):
            psycopg.connect(host=host, port=port, user="cid", password="wrong", dbname="shop")
    told = office.events("login_failed")
    alone = LoginDelay(time.monotonic)
    expected = [round(alone.failed("a", "cid"), 1) for _ in range(3)]
    assert [one["delay"] for one in told] == pytest.approx(expected, rel=0.2)


def test_the_sessions_of_an_analyst_are_counted_together(office: Office) -> None:
    with contextlib.ExitStack() as open_ones:
        for _ in range(24):
            open_ones.enter_context(office.listening.connect("bob"))
        assert set(office.workers_of("bob")) == {1, 2}
        for _ in range(3):
            with pytest.raises(psycopg.OperationalError, match="too many connections for role"):
                office.listening.connect("bob")
    until(lambda: not office.workers_of("bob"))


@pytest.mark.long
def test_who_is_signed_in_to_the_console_is_so_everywhere(office: Office) -> None:
    address = office.address("HTTP")
    own = {"Origin": address}

    def get(cookies: httpx.Cookies) -> httpx.Response:
        return httpx.get(f"{address}/db/shop/query", cookies=cookies)

    def post(path: str, cookies: httpx.Cookies, **form: str) -> httpx.Response:
        return httpx.post(f"{address}{path}", data=form, cookies=cookies, headers=own, timeout=60)

    signed = post("/sign-in", httpx.Cookies(), name="bob", password=PASSWORD)
    assert signed.status_code == 303, signed.text
    pages = [get(signed.cookies) for _ in range(8)]
    assert {page.status_code for page in pages} == {200}
    token, form = (
        re.search(rf'name="{name}" value="([0-9a-f]+)"', pages[0].text)
        for name in ("token", "form")
    )
    assert token is not None and form is not None
    before = office.status()["ledger"]["last_receipt"]
    for _ in range(6):  # a browser that sends a form again
        sent = post(
            "/db/shop/query",
            signed.cookies,
            **{"sql": QUESTION, "act": "run", "token": token[1], "form": form[1], "epsilon": ""},
        )
        assert sent.status_code == 200, sent.text
    assert office.status()["ledger"]["last_receipt"] == before + 1
    out = post("/sign-out", signed.cookies, token=token[1])
    assert out.status_code == 303
    assert {get(signed.cookies).headers["location"] for _ in range(8)} == {
        "/sign-in?to=/db/shop/query"
    }
    asked = [one for one in office.events("request") if one["route"].startswith("/db/")]
    assert {one["worker"] for one in asked} == {1, 2}


@pytest.mark.long
def test_agents_are_answered_by_both(office: Office) -> None:
    made = office.operator.run("token", "create", "ann", "--days", "1").out.strip()
    headers = {
        "Authorization": f"Bearer {made}",
        "Accept": "application/json, text/event-stream",
    }
    arguments = {"database": "shop", "sql": QUESTION, "max_epsilon": 2}
    params = {"name": "query", "arguments": arguments}
    call = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}
    before = office.status()["ledger"]["last_receipt"]
    for _ in range(8):  # each over a connection of its own
        answer = httpx.post(f"{office.address('HTTP')}/mcp", json=call, headers=headers, timeout=60)
        assert answer.status_code == 200, answer.text
        assert "error" not in answer.json() and not answer.json()["result"].get("isError")
    assert office.status()["ledger"]["last_receipt"] == before + 8


def test_users_policies_and_ends_of_sessions_reach_both(office: Office) -> None:
    office.administer("POST", "/users", {"name": "dora", "password": PASSWORD})
    until(lambda: office.lets_in("dora"))  # people are read each second
    with office.at_both("dora") as connections:
        number = office.administer("GET", "/sessions")["sessions"]
        for one in number:
            if one["analyst"] == "dora":
                office.administer("DELETE", f"/sessions/{one['number']}")
        for connection in connections:
            with pytest.raises(psycopg.OperationalError):
                connection.execute("SELECT 1")
    with office.at_both() as connections:
        before = _digests(connections)
        assert len(before) == 1
        _change_policy(office, "1.25")
        told = office.administer("POST", "/policies/reload")["policies"]
        assert [one["not_taken"] for one in told] == [None]
        assert _is_another(connections, before), "at both, when it is answered"


@pytest.mark.long
def test_a_signal_for_policies_reaches_both(office: Office) -> None:
    with office.at_both() as connections:
        before = _digests(connections)
        _change_policy(office, "1.5")
        office.listening.running.process.send_signal(signal.SIGHUP)
        until(partial(_is_another, connections, before))


def _change_policy(office: Office, most: str) -> None:
    policy = office.operator.policy
    policy.write_text(re.sub("max_epsilon: [0-9.]+", f"max_epsilon: {most}", policy.read_text()))


def _digests(connections: list[psycopg.Connection]) -> set[Any]:
    """Of the policy in force, at each worker."""
    return {one.execute("SELECT digest FROM dp.policy").fetchone() for one in connections}


def _is_another(connections: list[psycopg.Connection], before: set[Any]) -> bool:
    found = _digests(connections)
    return len(found) == 1 and not found & before


def test_a_worker_that_dies_costs_its_own_sessions_only(office: Office) -> None:
    """New connections wait for its successor: none is refused."""
    before = office.worker_pids()
    with office.at_both(each=2) as connections:
        at = dict(zip(connections, office.workers_of("ann"), strict=True))
        os.kill(before[1], signal.SIGKILL)
        with ThreadPoolExecutor(8) as pool:

            def comes_in(_: int) -> int:
                with office.listening.connect("ann") as connection:
                    return query_over_the_wire(connection)

            receipts = list(pool.map(comes_in, range(8)))
        assert len(set(receipts)) == 8
        alive = []
        for connection in connections:
            with contextlib.suppress(psycopg.OperationalError):
                connection.execute("SELECT 1")
                alive.append(connection)
        assert len(alive) == list(at.values()).count(2)
    until(lambda: all(one["is_serving"] for one in office.status()["workers"]))
    workers = office.status()["workers"]
    assert [one["restarts"] for one in workers] == [1, 0]
    assert workers[0]["pid"] != before[1] and workers[1]["pid"] == before[2]
    assert office.metrics()['dpproxy_worker_restarts_total{worker="1"}'] == 1
    with office.at_both():
        pass


def test_a_worker_that_is_not_ready_says_so_itself(office: Office) -> None:
    """Its shadow is built anew. Who reaches it is told so, and the status of all says which one it is."""
    told: set[tuple[str, ...]] = set()
    asked: set[int] = set()

    def is_ready_again() -> bool:
        for _ in range(4):
            asked.add(httpx.get(f"{office.address('HTTP')}/readyz", timeout=60).status_code)
        status = office.administer("GET", "/status")
        if status["state"] != "ready":
            told.add((status["state"], *(one["state"] for one in status["workers"])))
            return False
        return was_started_again(office.operator, "workers/2/shadow", before)

    for _ in range(
        20
    ):  # the other may have answered whoever asked, or it was ready before they did
        with office.at_both() as connections:
            at = dict(zip(office.workers_of("ann"), connections, strict=True))
            before = postmaster(office.operator, "workers/2/shadow")
            kill_with_children(before)
            until(is_ready_again, 120)
            with pytest.raises(psycopg.errors.CrashShutdown, match="is being started again"):
                at[2].execute("SELECT 1")
        if told and 503 in asked:
            break
    assert told == {("not ready", "ready", "not ready")}
    assert asked == {200, 503}


def test_sigterm_drains_both(office: Office) -> None:
    """The last test of these servers."""
    address = office.address("HTTP")
    pids = office.worker_pids()
    with (
        office.at_both() as connections,
        office.at_both("bob") as endless,
        ThreadPoolExecutor(len(connections) + len(endless)) as pool,
    ):
        for_ever = [pool.submit(one.execute, "SELECT pg_sleep(100)") for one in endless]
        sleep = "SELECT pg_sleep(3)::text"
        running = [pool.submit(one.execute, sleep) for one in connections]
        until(lambda: office.sleeping() == len(connections) + len(endless))
        office.listening.running.process.send_signal(signal.SIGTERM)
        until(lambda: httpx.get(f"{address}/readyz", timeout=60).status_code == 503)
        time.sleep(1)  # the other worker, too
        told, began = set(), time.monotonic()
        while time.monotonic() < began + 1:
            told.add(httpx.get(f"{address}/readyz", timeout=60).status_code)
            with office.listening.connect("bob") as connection:
                assert connection.execute("SELECT 1").fetchone() == (1,)
        assert told == {503}, "of both, at once"
        assert [len(one.result(60).fetchall()) for one in running] == [1] * len(connections)
        assert not any(one.done() for one in for_ever), "within the grace"
        office.listening.running.process.send_signal(signal.SIGTERM)
        ends = [one.exception(60) for one in for_ever]
        assert all(isinstance(one, psycopg.errors.AdminShutdown) for one in ends), "at once"
    assert office.listening.running.process.wait(60) == 0
    assert not any(Path(f"/proc/{pid}").exists() for pid in pids.values())
    with pytest.raises(psycopg.OperationalError):
        office.listening.connect("bob")


@pytest.mark.long
def test_a_start_that_fails_says_why_once(tmp_path: Path) -> None:
    operator = Operator(tmp_path)
    arguments = ("serve", "--policy", operator.policy, "--workers", "2", "--state", operator.state)
    where = ("--listen", "127.0.0.1:0", "--http", "127.0.0.1:0")
    operator.adopt()
    operator.policy.write_text(operator.policy.read_text().replace("state:", "status:"))
    wrong = dpproxy(*arguments, *where, environment=operator.environment)
    assert wrong.code == 1 and wrong.err.count("has no column 'status'") == 1, wrong.err
    assert "Traceback" not in wrong.err


def test_a_start_without_a_ledger_or_a_port_says_why_once(tmp_path: Path) -> None:
    operator = Operator(tmp_path)
    arguments = ("serve", "--policy", operator.policy, "--workers", "2", "--state", operator.state)
    where = ("--listen", "127.0.0.1:0", "--http", "127.0.0.1:0")
    none = dpproxy(*arguments, *where, environment=operator.environment)
    assert none.code == 1 and none.err.count("there is no ledger in") == 1
    operator.adopt()
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        where = ("--listen", f"127.0.0.1:{port}", "--http", "127.0.0.1:0")
        refused = dpproxy(*arguments, *where, environment=operator.environment)
        assert refused.code == 1 and "cannot listen on" in refused.err
