"""The administrators' API: who comes in, what it does, and that the ledger's log has it."""

from __future__ import annotations

import json
import os
import stat
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import psycopg
import pytest
from structlog.testing import capture_logs

from proxy.ledger.admin_log import admin_events
from proxy.ledger.bearer_tokens import create_token
from proxy.ledger.users import verifiers
from proxy.servers.http.admin_credentials import (
    AdminCredentials,
    CredentialsError,
    CredentialsFile,
    read_admin_credentials,
)
from proxy.servers.http.admin_routes import AdminRoutes
from proxy.servers.http.http_server import HttpListener
from proxy.servers.login_gate import GateLimits, LoginGate
from proxy.shadow.ending_sessions import StuckSession
from tests.servers.http.both_listeners import BothListeners
from tests.servers_fixture import PASSWORD
from tests.waiting import until

_SECRET = "0123456789abcdef" * 4
_OTHER = "fedcba9876543210" * 4
_THIRD = "0f1e2d3c4b5a6978" * 4


@dataclass(slots=True)
class AdminClient:
    listeners: BothListeners
    client: httpx.Client

    @property
    def dsn(self) -> str:
        return self.listeners.proxy.servers.ledger_dsn

    def call(
        self, method: str, path: str, body: Any = None, secret: str = _SECRET
    ) -> httpx.Response:
        headers = {"Authorization": f"Bearer {secret}", "Content-Type": "application/json"}
        content = None if body is None else json.dumps(body)
        return self.client.request(method, f"/admin/v1{path}", content=content, headers=headers)

    def done(self, method: str, path: str, body: Any = None) -> Any:
        told = self.call(method, path, body)
        assert told.status_code in (200, 201), told.text
        return told.json()

    def events(self) -> list[tuple[str, str, Mapping[str, Any]]]:
        return [(one.who, one.what, one.detail) for one in admin_events(self.dsn)]


def credentials(folder: Path, text: str, mode: int = 0o600) -> AdminCredentials:
    file = folder / "secrets"
    file.unlink(missing_ok=True)
    file.write_text(text)
    file.chmod(mode)
    return read_admin_credentials(file)


class _NoMetrics:
    async def exposition(self) -> bytes:
        return b""


@pytest.fixture(scope="module")
def admin(
    listeners: BothListeners, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[AdminClient]:
    folder = tmp_path_factory.mktemp("admin")
    known = credentials(
        folder, f"# of the tests\nconsole {_SECRET}\n\nnight-job {_OTHER}\nscraper {_THIRD}\n"
    )
    proxy = listeners.proxy
    gate = LoginGate(GateLimits(longest_delay_seconds=0.02))

    async def reload() -> Mapping[str, Any]:
        return {"shop": "as it was"}

    stuck = StuckSession(analyst="mallory", process=7, seconds=5.5)
    routes = AdminRoutes(
        proxy.servers.ledger_dsn, known, proxy.server, gate, reload, lambda: (stuck,), _NoMetrics()
    )
    server = HttpListener(routes.app)
    proxy.do(server.start("127.0.0.1", 0))
    host, port = server.address
    with httpx.Client(base_url=f"http://{host}:{port}", timeout=60) as client:
        yield AdminClient(listeners, client)
    proxy.do(server.stop(1))


def test_only_who_has_a_secret_comes_in(admin: AdminClient) -> None:
    name = admin.listeners.proxy.servers.new_analyst()
    token = create_token(admin.dsn, name, days=1).text
    told = set()
    wrong: list[dict[str, str]] = [
        {},
        {"Authorization": f"Bearer {_SECRET[:-1]}"},
        {"Authorization": f"Bearer {_SECRET}x"},
        {"Authorization": f"Bearer console {_SECRET}"},
        {"Authorization": f"Bearer {token}"},
        {"Authorization": f"Basic {_SECRET}"},
        {"Authorization": "Bearer"},
    ]
    before = admin.events()
    with capture_logs() as logs:
        for headers in wrong:
            for method, path in (
                ("GET", "/users"),
                ("POST", "/users"),
                ("DELETE", f"/users/{name}"),
            ):
                refused = admin.client.request(
                    method, f"/admin/v1{path}", headers=headers, json={"name": "eve"}
                )
                told.add((refused.status_code, refused.text))
        basic = admin.client.get("/admin/v1/users", auth=(name, PASSWORD))
        told.add((basic.status_code, basic.text))
    assert len(told) == 1 and told.pop()[0] == 401
    assert admin.events() == before
    assert name in verifiers(admin.dsn) and "eve" not in verifiers(admin.dsn)
    assert "login_failed" in [one["event"] for one in logs]
    assert _SECRET[:-1] not in str(logs) and name not in str(logs)
    # An analyst's listener knows no administrator.
    headers = {"Authorization": f"Bearer {_SECRET}"}
    assert admin.listeners.client.get("/v1/databases", headers=headers).status_code == 401
    assert admin.listeners.client.get("/admin/v1/users", headers=headers).status_code == 404


def test_a_login_is_logged_once_and_a_route_as_it_is_declared(admin: AdminClient) -> None:
    """A scraper of metrics logs in every few seconds."""
    headers = {"Authorization": f"Bearer {_THIRD}"}
    with capture_logs() as logs:
        for path in (
            "/metrics",
            "/metrics",
            "/admin/v1/users",
            "/admin/v1/users/nobody-of-this-name",
        ):
            admin.client.get(path, headers=headers)
        admin.client.get("/nobody-of-this-name", headers=headers)
    assert [one["analyst"] for one in logs if one["event"] == "login"] == ["scraper"]
    routes = [one["route"] for one in logs if one["event"] == "request"]
    declared = ["/metrics", "/metrics", "/admin/v1/users", "/admin/v1/users/{name}", "(other)"]
    assert routes == declared
    assert "nobody-of-this-name" not in str(logs)


def test_a_changed_file_of_secrets_counts_at_once(tmp_path: Path) -> None:
    file = tmp_path / "secrets"
    credentials(tmp_path, f"console {_SECRET}\n")
    known = CredentialsFile(file)
    assert (known.name_of(_SECRET), known.name_of(_OTHER)) == ("console", None)
    credentials(tmp_path, f"night-job {_OTHER}\n")
    assert (known.name_of(_SECRET), known.name_of(_OTHER)) == (None, "night-job")
    file.chmod(0o644)
    with capture_logs() as logs:
        assert known.name_of(_OTHER) is None
    assert logs[0]["event"] == "administrators_not_read" and _OTHER not in str(logs)
    file.unlink()
    assert known.name_of(_OTHER) is None
    credentials(tmp_path, f"console {_OTHER}\n")
    assert known.name_of(_OTHER) == "console"


@pytest.mark.parametrize(
    ("group", "status"),
    [
        *(("%ff", 400), ("%EF%BF%BD", 409), ("%20a", 409), ("a%E2%80%AE", 409), ("a%CC%88", 409)),
        *(("%22", 409), ("a,", 409), ("PUBLIC", 409), ("dp_analyst", 409), ("pg_monitor", 409)),
    ],
)
def test_names_of_groups_are_text(group: str, status: int, admin: AdminClient) -> None:
    name = admin.listeners.proxy.servers.new_analyst()
    assert admin.call("PUT", f"/groups/{group}/{name}").status_code == status
    assert all(name not in names for names in admin.done("GET", "/groups")["groups"].values())


@pytest.mark.parametrize("epsilon", [1e-300, 1e-7, 0, -1, 1e7, 1e300])
def test_a_token_has_an_epsilon_that_buys_something(epsilon: float, admin: AdminClient) -> None:
    name = admin.listeners.proxy.servers.new_analyst()
    body = {"name": name, "days": 1, "epsilon": epsilon}
    assert admin.call("POST", "/tokens", body).status_code in (400, 409)
    assert all(one["analyst"] != name for one in admin.done("GET", "/tokens")["tokens"])


def test_users_and_groups(admin: AdminClient) -> None:
    name = "Ö'Hara; drop"
    before = len(admin.events())
    admin.done("POST", "/users", {"name": name, "password": "a long password"})
    assert admin.call("POST", "/users", {"name": name}).status_code == 409
    admin.done("PUT", f"/groups/research/{name}")
    assert {"name": name, "groups": ["research"]} in admin.done("GET", "/users")["users"]
    assert admin.done("GET", "/groups")["groups"]["research"] == [name]
    verifier = verifiers(admin.dsn)[name]
    admin.done("PUT", f"/users/{name}/password", {"password": "another password"})
    assert verifiers(admin.dsn)[name] != verifier
    admin.done("DELETE", f"/groups/research/{name}")
    assert admin.call("DELETE", f"/groups/research/{name}").status_code == 409
    admin.done("DELETE", f"/users/{name}")
    assert name not in verifiers(admin.dsn)
    noted = admin.events()[before:]
    assert [what for _, what, _ in noted] == [
        *("user add", "group add", "user password", "group remove", "user remove")
    ]
    assert {who for who, _, _ in noted} == {"admin API: console from 127.0.0.1"}
    assert "password" not in str([d for _, what, d in noted if what != "user add"])
    assert "long password" not in str(noted)
    assert admin.done("GET", "/log")["events"][-1]["what"] == "user remove"


def test_tokens(admin: AdminClient) -> None:
    name = admin.listeners.proxy.servers.new_analyst()
    body = {"name": name, "days": 0.5, "epsilon": 2.5, "note": "a dashboard"}
    made = admin.call("POST", "/tokens", body, _OTHER).json()
    assert made["token"].startswith("dpp_")
    (found,) = [one for one in admin.done("GET", "/tokens")["tokens"] if one["analyst"] == name]
    assert (found["epsilon"], found["spent"], found["state"]) == ("2.5", "0", "valid")
    assert made["token"] not in str(found)
    admin.done("DELETE", f"/tokens/{made['number']}")
    assert admin.call("DELETE", f"/tokens/{made['number']}").status_code == 409
    noted = admin.events()[-2:]
    assert [(who, what) for who, what, _ in noted] == [
        ("admin API: night-job from 127.0.0.1", "token create"),
        ("admin API: console from 127.0.0.1", "token revoke"),
    ]
    assert made["token"] not in str(noted)


def test_access(admin: AdminClient) -> None:
    with psycopg.connect(admin.dsn) as connection:
        connection.execute("INSERT INTO ledger.source (name, is_bound) VALUES ('closed', true)")
    name = admin.listeners.proxy.servers.new_analyst()

    def now() -> Any:
        (found,) = [
            one for one in admin.done("GET", "/access")["databases"] if one["source"] == "closed"
        ]
        return found["is_restricted"], found["analysts"], found["groups"]

    assert now() == (False, [], [])
    admin.done("PUT", "/access/closed")
    assert now() == (True, [], [])
    admin.done("PUT", f"/access/closed/users/{name}")
    admin.done("PUT", "/access/closed/groups/research")
    assert now() == (True, [name], ["research"])
    admin.done("DELETE", f"/access/closed/users/{name}")
    admin.done("DELETE", "/access/closed/groups/research")
    assert now() == (True, [], [])
    admin.done("DELETE", "/access/closed")
    assert now() == (False, [], [])
    assert admin.call("PUT", "/access/nothing").status_code == 409


def test_budgets(admin: AdminClient) -> None:
    name = admin.listeners.proxy.servers.new_analyst()
    answer = admin.listeners.query("SELECT count(*) FROM shop.orders", analyst=name, epsilon=0.5)
    assert answer.status_code == 200
    lines = [one for one in admin.done("GET", "/budgets")["budgets"] if one["budget"] == name]
    assert [(one["epsilon"], one["receipts"]) for one in lines] == [("0.5", "1")]


def test_sessions_that_do_not_end_are_listed(admin: AdminClient) -> None:
    stuck = admin.done("GET", "/sessions")["stuck"]
    assert stuck == [{"analyst": "mallory", "process": 7, "seconds": 5.5}]


def test_sessions_are_listed_and_ended(admin: AdminClient) -> None:
    name = admin.listeners.proxy.servers.new_analyst()
    with admin.listeners.proxy.connect(analyst=name) as connection:
        (found,) = [
            one for one in admin.done("GET", "/sessions")["sessions"] if one["analyst"] == name
        ]
        assert (found["database"], found["address"]) == ("shop", "127.0.0.1")
        connection.execute("SELECT 1")
        admin.done("DELETE", f"/sessions/{found['number']}")
        with pytest.raises(psycopg.errors.AdminShutdown):
            while True:
                connection.execute("SELECT 1")
    until(lambda: name not in str(admin.done("GET", "/sessions")))
    assert admin.call("DELETE", f"/sessions/{found['number']}").status_code == 409
    assert admin.events()[-1][1:] == (
        "session end",
        {"session": found["number"], "name": name, "database": "shop"},
    )


def test_policies_are_read_again_where_that_is_possible(admin: AdminClient) -> None:
    assert admin.done("POST", "/policies/reload") == {"shop": "as it was"}
    assert admin.events()[-1][1] == "policy reload"


@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("/users", [1]),
        ("/users", {}),
        ("/users", {"name": 7}),
        ("/users", {"name": "eve", "password": "short"}),
        ("/users", {"name": "eve", "admin": True}),
        ("/users", {"name": "eve\0"}),
        ("/users", {"name": "\ud800"}),
        ("/tokens", {"name": "eve"}),
        ("/tokens", {"name": "eve", "days": "1"}),
        ("/tokens", {"name": "eve", "days": 1, "epsilon": True}),
    ],
)
def test_bodies_that_are_refused(admin: AdminClient, path: str, body: Any) -> None:
    before = admin.events()
    assert admin.call("POST", path, body).status_code == 400
    assert admin.events() == before


def test_what_is_not_there(admin: AdminClient) -> None:
    for method, path, status in (
        ("GET", "/nothing", 404),
        ("PATCH", "/users", 405),
        ("DELETE", "/tokens/x", 404),
        ("DELETE", "/users/nobody", 409),
        ("DELETE", "/users/no%00body", 400),
        ("PUT", "/access/closed/users/no%00body", 400),
        ("DELETE", f"/tokens/{2**70}", 409),
        ("DELETE", f"/sessions/{2**70}", 409),
        ("POST", f"/adjustments/{2**70}/confirm", 409),
        ("DELETE", "/tokens/" + "9" * 5000, 404),
        ("DELETE", "/sessions/" + "9" * 5000, 404),
        ("POST", "/users", 415),
    ):
        content = b"{}" if status == 415 else None
        headers = {"Authorization": f"Bearer {_SECRET}"}
        told = admin.client.request(method, f"/admin/v1{path}", headers=headers, content=content)
        assert told.status_code == status, path
    assert admin.client.get("/healthz").status_code == 200


@pytest.mark.parametrize("mode", [0o644, 0o640, 0o604, 0o620])
def test_a_file_that_others_can_open(tmp_path: Path, mode: int) -> None:
    with pytest.raises(CredentialsError, match="others than its owner"):
        credentials(tmp_path, f"console {_SECRET}", mode)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "no line NAME SECRET"),
        ("# nothing", "no line"),
        (_SECRET, "line 1: a line is NAME SECRET"),
        (f"a {_SECRET}\nb {_SECRET} c", "line 2: a line is"),
        (f"a {_SECRET}\na {_OTHER}", "line 2: the name is there twice"),
        (f"a {'x' * 31}", "at least 32 characters"),
    ],
)
def test_a_file_of_secrets_that_is_none(tmp_path: Path, text: str, why: str) -> None:
    with pytest.raises(CredentialsError, match=why) as raised:
        credentials(tmp_path, text)
    assert _SECRET not in str(raised.value) and "xxxx" not in str(raised.value)


def test_what_is_no_file(tmp_path: Path) -> None:
    for name in ("missing", "."):
        with pytest.raises(CredentialsError):
            read_admin_credentials(tmp_path / name)
    if os.getuid() == 0:
        file = tmp_path / "of another"
        file.write_text(f"console {_SECRET}")
        file.chmod(0o600)
        os.chown(file, 12345, -1)
        with pytest.raises(CredentialsError, match="another user owns it"):
            read_admin_credentials(file)
    known = credentials(tmp_path, f"console {_SECRET}")
    assert _SECRET not in repr(known)
    assert stat.S_IMODE((tmp_path / "secrets").stat().st_mode) == 0o600
